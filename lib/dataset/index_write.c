/*
 * Writing the sections of gpnn-index(5).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "container/container.h"
#include "dataset/index.h"
#include "dataset/index_columns_private.h"
#include "dataset/index_fingerprint_private.h"
#include "dataset/index_parts_private.h"
#include "dataset/index_writing_private.h"
#include "stats/moments.h"

/* A file has at most GPNN_CONTAINER_SECTIONS of them: neither classes nor an exposure go together
 * with offsets or noise variances.
 *
 * Programs that know only an older minor version must refuse what they cannot read: a change of the
 * format takes a new tag with a new version here, and a line in gpnn-index(5). */
static const struct gpnn_container_tag tags[] = {
    {"INFO", true, 0}, {"COLS", true, 0},  {"ROLE", true, 0},  {"STDZ", true, 0}, {"LIMS", true, 0},
    {"MOMS", true, 0}, {"OPTS", false, 0}, {"ROWS", true, 0},  {"YVAL", true, 0}, {"CALX", true, 0},
    {"CALY", true, 0}, {"YMOR", true, 0},  {"CALM", true, 0},  {"REGR", true, 0}, {"CALR", true, 0},
    {"NOIS", true, 0}, {"CALN", true, 0},  {"OCOL", true, 0},  {"OFFS", true, 0}, {"CALO", true, 0},
    {"GCOL", true, 0}, {"GRPS", true, 0},  {"NOTA", true, 0},  {"COLX", true, 0}, {"HAVE", true, 0},
    {"PART", true, 0}, {"CLAS", true, 0},  {"TAIL", true, 0},  {"EXCH", true, 0}, {"ECOL", true, 0},
    {"EXPO", true, 0}, {"CALE", true, 0},  {"COPY", true, 0},  {"FOLO", true, 0}, {"SRCH", true, 0},
    {"ROTN", true, 0}, {"SAME", true, 0},  {"FAIS", false, 0}, {"TREE", true, 0},
};

const struct gpnn_container_format gpnn_index_format = {GPNN_CONTAINER_INDEX,
                                                        sizeof tags / sizeof *tags, tags};

/* ---- composing sections ---- */

static void compose_info(struct blob *blob, const struct gpnn_dataset *dataset)
{
  put_u64(blob, dataset->n);
  put_u64(blob, dataset->d);
  put_u64(blob, dataset->n_calibration);
  put_u64(blob, dataset->n_skipped);
  put_u64(blob, dataset->seed);
}

static void compose_moments(struct blob *blob, const struct gpnn_scaling *scaling)
{
  for (size_t t = 0; t < scaling->n_more; t++) {
    put_f64(blob, scaling->more[t].mean);
    put_f64(blob, scaling->more[t].sd);
  }
  for (size_t j = 0; j < scaling->n_regressors; j++) {
    put_f64(blob, scaling->regressors[j].mean);
    put_f64(blob, scaling->regressors[j].sd);
  }
}

static void compose_exchanged(struct blob *blob, const struct gpnn_dataset *dataset)
{
  for (size_t i = 0; i < 2 * dataset->n_exchanged; i++) put_u64(blob, dataset->exchanged[i]);
}

static size_t n_weights(const struct gpnn_scaling *scaling)
{
  switch (scaling->method) {
  case GPNN_SCALING_SCALE:
    return scaling->n_in;
  case GPNN_SCALING_WHITEN:
    return scaling->n_in * scaling->n_out;
  case GPNN_SCALING_NONE:
    break;
  }
  return 0;
}

static void compose_scaling(struct blob *blob, const struct gpnn_scaling *scaling)
{
  put_u32(blob, scaling->method);
  put_u32(blob, scaling->y_given);
  put_u64(blob, scaling->n_in);
  put_u64(blob, scaling->n_out);
  put_f64(blob, scaling->eps);
  put_f64(blob, scaling->y_mean);
  put_f64(blob, scaling->y_sd);
  put_f64s(blob, scaling->n_in, scaling->mean);
  put_f64s(blob, n_weights(scaling), scaling->weight);
}

static void compose_limits(struct blob *blob, const struct gpnn_limits *limits)
{
  put_f64s(blob, limits->n, limits->lower);
  put_f64s(blob, limits->n, limits->upper);
}

static void compose_tails(struct blob *blob, const struct gpnn_tails *tails)
{
  put_f64s(blob, tails->n, tails->centre);
  put_f64s(blob, tails->n, tails->spread);
}

static void compose_search(struct blob *blob, size_t d, const struct gpnn_search *search)
{
  const struct gpnn_search_report *report = gpnn_search_describe(search);
  const double *lengthscale = gpnn_search_metric(search).lengthscale;
  const char *version = gpnn_search_engine_version();
  put_u32(blob, report->kind);
  put_u32(blob, lengthscale != NULL);
  put_u64(blob, report->n_lists);
  put_u64(blob, report->effort);
  put_f64(blob, report->asked);
  put_f64(blob, report->recall);
  put_u64(blob, report->n_queries);
  put_u64(blob, report->neighbours);
  put_f64(blob, report->visited);
  if (lengthscale != NULL) put_f64s(blob, d, lengthscale);
  put_text(blob, version, strlen(version));
}

/* ---- writing ---- */

enum gpnn_status gpnn_index_write_section(struct gpnn_index_writing *writing, const char *tag,
                                          bool is_hashed, const void *bytes, size_t length,
                                          struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_container_begin(writing->writer, tag, err);
  if (status == GPNN_OK) status = gpnn_container_write(writing->writer, bytes, length, err);
  if (status == GPNN_OK) status = gpnn_container_end(writing->writer, err);
  if (is_hashed) {
    gpnn_fingerprint_begin(&writing->fingerprint, tag, length);
    gpnn_fingerprint_add(&writing->fingerprint, tag, bytes, length);
  }
  return status;
}

enum gpnn_status gpnn_index_write_blob(struct gpnn_index_writing *writing, const char *tag,
                                       bool is_hashed, struct blob *blob, struct gpnn_error *err)
{
  enum gpnn_status status = blob->failed ? gpnn_fail_memory(err, "for writing an index")
                                         : gpnn_index_write_section(writing, tag, is_hashed,
                                                                    blob->bytes, blob->length, err);
  free(blob->bytes);
  *blob = (struct blob){0};
  return status;
}

enum gpnn_status gpnn_index_write_rows(struct gpnn_index_writing *writing, const char *tag,
                                       size_t n, size_t d, const double *rows,
                                       struct gpnn_error *err)
{
  enum { BLOCK = 1 << 18 };
  size_t count, length;
  if (!gpnn_multiply(n, d, &count) || !gpnn_multiply(count, sizeof *rows, &length))
    return gpnn_fail_memory(err, "for writing an index");
  const unsigned char *bytes = (const unsigned char *)rows;
  enum gpnn_status status = gpnn_container_begin(writing->writer, tag, err);
  gpnn_fingerprint_begin(&writing->fingerprint, tag, length);
  for (size_t at = 0, released = 0; at < length && status == GPNN_OK; at += BLOCK) {
    size_t block = length - at < BLOCK ? length - at : BLOCK;
    status = gpnn_container_write(writing->writer, bytes + at, block, err);
    gpnn_fingerprint_add(&writing->fingerprint, tag, bytes + at, block);
    if (at - released < GPNN_MAPPING_STRIDE) continue;
    gpnn_mapping_evict(writing->mapping, bytes + released, at - released);
    released = at;
  }
  return status == GPNN_OK ? gpnn_container_end(writing->writer, err) : status;
}

/* The search writes its structure straight into the file; it does not know the path. */
static enum gpnn_status write_search_structure(struct gpnn_index_writing *writing, const char *path,
                                               const struct gpnn_search *search,
                                               struct gpnn_error *err)
{
  struct gpnn_error reason = {0};
  bool is_tree = gpnn_search_describe(search)->kind == GPNN_SEARCH_TREE;
  enum gpnn_status status = gpnn_container_begin(writing->writer, is_tree ? "TREE" : "FAIS", err);
  if (status != GPNN_OK) return status;
  status = gpnn_search_save(search, gpnn_container_file(writing->writer), &reason);
  if (status != GPNN_OK) return gpnn_fail(err, status, "%s: %s", path, reason.text);
  return gpnn_container_end(writing->writer, err);
}

static enum gpnn_status write_search(struct gpnn_index_writing *writing, size_t d,
                                     const struct gpnn_search *search, struct gpnn_error *err)
{
  const double *rotation = gpnn_search_metric(search).rotation;
  struct blob blob = {0};
  compose_search(&blob, d, search);
  enum gpnn_status status = gpnn_index_write_blob(writing, "SRCH", false, &blob, err);
  if (status == GPNN_OK && rotation != NULL) {
    put_f64s(&blob, d * d, rotation);
    status = gpnn_index_write_blob(writing, "ROTN", false, &blob, err);
  }
  size_t length;
  const uint32_t *duplicates = gpnn_search_duplicates(search, &length);
  if (status != GPNN_OK || duplicates == NULL) return status;
  return gpnn_index_write_section(writing, "SAME", false, duplicates, length, err);
}

/* Writes the sections that describe the rows. */
static enum gpnn_status write_columns(struct gpnn_index_writing *writing,
                                      const struct gpnn_dataset *dataset, struct blob *blob,
                                      struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &dataset->schema;
  gpnn_index_compose_columns(blob, schema);
  enum gpnn_status status = gpnn_index_write_blob(writing, "COLS", true, blob, err);
  if (status == GPNN_OK && gpnn_index_has_roles(schema)) {
    gpnn_index_compose_roles(blob, schema);
    status = gpnn_index_write_blob(writing, "ROLE", true, blob, err);
  }
  if (status == GPNN_OK && schema->n_offsets > 0) {
    gpnn_index_compose_offsets(blob, schema);
    status = gpnn_index_write_blob(writing, "OCOL", true, blob, err);
  }
  bool has_rows = dataset->stored == NULL; /* a model file has no rows that could be in groups */
  if (status == GPNN_OK && schema->has_by && has_rows) {
    gpnn_index_compose_groups(blob, dataset);
    status = gpnn_index_write_blob(writing, "GCOL", true, blob, err);
  }
  if (status == GPNN_OK && gpnn_dataset_has_copies(dataset) && has_rows) {
    put_u64(blob, dataset->n_row_groups);
    status = gpnn_index_write_blob(writing, "COPY", true, blob, err);
  }
  if (status == GPNN_OK && dataset->rows_follow_targets && has_rows)
    status = gpnn_index_write_blob(writing, "FOLO", true, blob, err);
  if (status == GPNN_OK && gpnn_index_has_classes(schema)) {
    gpnn_index_compose_classes(blob, schema);
    status = gpnn_index_write_blob(writing, "CLAS", true, blob, err);
  }
  if (status == GPNN_OK && schema->has_exposure) {
    gpnn_index_compose_exposure(blob, schema);
    status = gpnn_index_write_blob(writing, "ECOL", true, blob, err);
  }
  if (status == GPNN_OK && gpnn_index_has_names_or_dates(schema)) {
    gpnn_index_compose_names_and_dates(blob, schema);
    status = gpnn_index_write_blob(writing, "COLX", true, blob, err);
  }
  if (status == GPNN_OK && gpnn_index_has_names(schema)) {
    gpnn_index_compose_names(blob, schema);
    status = gpnn_index_write_blob(writing, "NAME", true, blob, err);
  }
  if (status == GPNN_OK && !gpnn_notation_is_usual(&schema->notation)) {
    gpnn_index_compose_notation(blob, &schema->notation);
    status = gpnn_index_write_blob(writing, "NOTA", false, blob, err);
  }
  return status;
}

enum gpnn_status gpnn_index_write_metadata(struct gpnn_index_writing *writing,
                                           const struct gpnn_dataset *dataset,
                                           struct gpnn_error *err)
{
  struct blob blob = {0};
  compose_info(&blob, dataset);
  enum gpnn_status status = gpnn_index_write_blob(writing, "INFO", true, &blob, err);
  if (status == GPNN_OK) status = write_columns(writing, dataset, &blob, err);
  if (status != GPNN_OK) return status;
  compose_scaling(&blob, &dataset->scaling);
  status = gpnn_index_write_blob(writing, "STDZ", true, &blob, err);
  if (status == GPNN_OK && dataset->scaling.limits.n > 0) {
    compose_limits(&blob, &dataset->scaling.limits);
    status = gpnn_index_write_blob(writing, "LIMS", true, &blob, err);
  }
  if (status == GPNN_OK && dataset->scaling.tails.n > 0) {
    compose_tails(&blob, &dataset->scaling.tails);
    status = gpnn_index_write_blob(writing, "TAIL", true, &blob, err);
  }
  if (status == GPNN_OK && gpnn_index_has_roles(&dataset->schema)) {
    compose_moments(&blob, &dataset->scaling);
    status = gpnn_index_write_blob(writing, "MOMS", true, &blob, err);
  }
  if (status == GPNN_OK && dataset->n_exchanged > 0) {
    compose_exchanged(&blob, dataset);
    status = gpnn_index_write_blob(writing, "EXCH", true, &blob, err);
  }
  return status;
}

/* Writes the columns that are neither inputs nor the first target, if there are any. */
static enum gpnn_status write_other_columns(struct gpnn_index_writing *writing,
                                            const struct gpnn_dataset *dataset,
                                            struct gpnn_error *err)
{
  size_t n = dataset->n, c = dataset->n_calibration;
  size_t n_more = dataset->n_more, r = dataset->n_regressors;
  enum gpnn_status status = GPNN_OK;
  if (n_more > 0) {
    status = gpnn_index_write_rows(writing, "YMOR", n_more, n, dataset->more, err);
    if (status == GPNN_OK)
      status = gpnn_index_write_rows(writing, "CALM", n_more, c, dataset->calibration_more, err);
  }
  if (r > 0 && status == GPNN_OK) {
    status = gpnn_index_write_rows(writing, "REGR", n, r, dataset->regressors, err);
    if (status == GPNN_OK)
      status = gpnn_index_write_rows(writing, "CALR", c, r, dataset->calibration_regressors, err);
  }
  if (dataset->schema.has_noise && status == GPNN_OK) {
    status = gpnn_index_write_rows(writing, "NOIS", n_more + 1, n, dataset->noise, err);
    if (status == GPNN_OK)
      status =
          gpnn_index_write_rows(writing, "CALN", n_more + 1, c, dataset->calibration_noise, err);
  }
  if (dataset->schema.n_offsets > 0 && status == GPNN_OK) {
    status = gpnn_index_write_rows(writing, "OFFS", n_more + 1, n, dataset->offset, err);
    if (status == GPNN_OK)
      status =
          gpnn_index_write_rows(writing, "CALO", n_more + 1, c, dataset->calibration_offset, err);
  }
  if (dataset->schema.has_exposure && status == GPNN_OK) {
    status = gpnn_index_write_rows(writing, "EXPO", n, 1, dataset->exposure, err);
    if (status == GPNN_OK)
      status = gpnn_index_write_rows(writing, "CALE", c, 1, dataset->calibration_exposure, err);
  }
  if (dataset->row_group != NULL && status == GPNN_OK)
    status = gpnn_index_write_section(writing, "GRPS", true, dataset->row_group,
                                      n * sizeof *dataset->row_group, err);
  return status;
}

/* Counts the rows that have each target, and writes the counts if some lack one. */
static enum gpnn_status write_present(struct gpnn_index_writing *writing,
                                      const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  struct blob blob = {0};
  enum gpnn_status status = gpnn_index_count_present(dataset, &writing->present, err);
  if (status != GPNN_OK || writing->present == NULL) return status;
  for (size_t t = 0; t <= dataset->n_more; t++) {
    put_u64(&blob, writing->present[t].n);
    put_u64(&blob, writing->present[t].n_calibration);
  }
  return gpnn_index_write_blob(writing, "HAVE", true, &blob, err);
}

static enum gpnn_status take_part(void *context, const unsigned char *bytes, size_t length,
                                  struct gpnn_error *err)
{
  struct gpnn_index_writing *writing = context;
  gpnn_fingerprint_add(&writing->fingerprint, "PART", bytes, length);
  return gpnn_container_write(writing->writer, bytes, length, err);
}

/* Writes the rows of targets that some rows lack once more. */
static enum gpnn_status write_parts(struct gpnn_index_writing *writing,
                                    const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  size_t length;
  if (writing->present == NULL) return GPNN_OK;
  if (!gpnn_index_parts_bytes(dataset, writing->present, &length))
    return gpnn_fail_memory(err, "for writing an index");
  enum gpnn_status status = gpnn_container_begin(writing->writer, "PART", err);
  gpnn_fingerprint_begin(&writing->fingerprint, "PART", length);
  if (status == GPNN_OK)
    status = gpnn_index_gather_parts(dataset, writing->present, take_part, writing, err);
  return status == GPNN_OK ? gpnn_container_end(writing->writer, err) : status;
}

/* Writes everything but the search. */
static enum gpnn_status write_dataset(struct gpnn_index_writing *writing,
                                      const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  size_t n = dataset->n, d = dataset->d, c = dataset->n_calibration;
  const char *provenance = dataset->provenance == NULL ? "" : dataset->provenance;
  enum gpnn_status status = gpnn_index_write_metadata(writing, dataset, err);
  if (status == GPNN_OK) status = write_present(writing, dataset, err);
  if (status == GPNN_OK)
    status = gpnn_index_write_section(writing, "OPTS", false, provenance, strlen(provenance), err);
  if (status == GPNN_OK) status = gpnn_index_write_rows(writing, "ROWS", n, d, dataset->x, err);
  if (status == GPNN_OK) status = gpnn_index_write_rows(writing, "YVAL", n, 1, dataset->y, err);
  if (status == GPNN_OK)
    status = gpnn_index_write_rows(writing, "CALX", c, d, dataset->calibration_x, err);
  if (status == GPNN_OK)
    status = gpnn_index_write_rows(writing, "CALY", c, 1, dataset->calibration_y, err);
  if (status == GPNN_OK) status = write_other_columns(writing, dataset, err);
  return status == GPNN_OK ? write_parts(writing, dataset, err) : status;
}

/* Unless 'status' is a failure, writes the search and commits the file; otherwise removes it. */
static enum gpnn_status finish(struct gpnn_index_writing *writing, enum gpnn_status status,
                               const char *path, size_t d, const struct gpnn_search *search,
                               struct gpnn_error *err)
{
  if (status == GPNN_OK) status = write_search(writing, d, search, err);
  if (status == GPNN_OK) status = write_search_structure(writing, path, search, err);
  if (status == GPNN_OK)
    status =
        gpnn_container_commit(writing->writer, gpnn_fingerprint_value(&writing->fingerprint), err);
  else
    gpnn_container_abandon(writing->writer);
  free(writing->present);
  return status;
}

enum gpnn_status gpnn_index_write(const char *path, const struct gpnn_dataset *dataset,
                                  const struct gpnn_search *search, const char *volatile *watch,
                                  struct gpnn_error *err)
{
  struct gpnn_index_writing writing = {.mapping = dataset->mapping};
  enum gpnn_status status =
      gpnn_container_create(&writing.writer, path, &gpnn_index_format, watch, err);
  if (status != GPNN_OK) return status;
  status = write_dataset(&writing, dataset, err);
  return finish(&writing, status, path, dataset->d, search, err);
}

/* ---- writing while a search is built ---- */

/* Arguments and result of the thread that writes the dataset. */
struct background {
  struct gpnn_index_writing *writing;
  const struct gpnn_dataset *dataset;
  enum gpnn_status status;
  struct gpnn_error error;
};

/* Brings the rows to disk too, which has time for it while the search is built. */
static void *write_in_background(void *context)
{
  struct background *background = context;
  background->status = write_dataset(background->writing, background->dataset, &background->error);
  if (background->status == GPNN_OK)
    background->status = gpnn_container_sync(background->writing->writer, &background->error);
  return NULL;
}

static enum gpnn_status write_and_build(struct gpnn_index_writing *writing,
                                        const struct gpnn_dataset *dataset,
                                        const struct gpnn_search_options *options,
                                        struct gpnn_search **search, struct gpnn_error *err)
{
  struct background background = {writing, dataset, GPNN_OK, {0}};
  pthread_t thread;
  bool in_background =
      options->threads > 1 && gpnn_threads_start(&thread, write_in_background, &background);
  enum gpnn_status status =
      gpnn_search_build(search, dataset->n, dataset->d, dataset->x, options, err);
  if (in_background)
    pthread_join(thread, NULL);
  else if (status == GPNN_OK)
    background.status = write_dataset(writing, dataset, &background.error);
  if (status != GPNN_OK || background.status == GPNN_OK) return status;
  if (err != NULL) *err = background.error;
  return background.status;
}

enum gpnn_status gpnn_index_make(const char *path, const struct gpnn_dataset *dataset,
                                 const struct gpnn_search_options *options,
                                 const char *volatile *watch, struct gpnn_search **search,
                                 struct gpnn_error *err)
{
  struct gpnn_index_writing writing = {.mapping = dataset->mapping};
  struct gpnn_search_options over_pages = *options;
  struct gpnn_search *built = NULL;
  over_pages.mapping = dataset->mapping;
  enum gpnn_status status =
      gpnn_container_create(&writing.writer, path, &gpnn_index_format, watch, err);
  if (status != GPNN_OK) return status;
  status = write_and_build(&writing, dataset, &over_pages, &built, err);
  status = finish(&writing, status, path, dataset->d, built, err);
  if (status == GPNN_OK)
    *search = built;
  else
    gpnn_search_free(built);
  return status;
}
