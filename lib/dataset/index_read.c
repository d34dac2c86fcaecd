/*
 * Reading the sections of gpnn-index(5), none of which is trusted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "container/container.h"
#include "dataset/index_columns_private.h"
#include "dataset/index_reading_private.h"
#include "stats/moments.h"

/* ---- decoding sections ---- */

static void decode_info(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_dataset *dataset = &index->dataset;
  dataset->n = take_size(cursor);
  dataset->d = take_size(cursor);
  dataset->n_calibration = take_size(cursor);
  dataset->n_skipped = take_size(cursor);
  dataset->seed = take_u64(cursor);
  require(cursor, dataset->n > 0 && dataset->d > 0);
}

static struct gpnn_moments *decode_moments(struct cursor *cursor, size_t n)
{
  struct gpnn_moments *moments = take_array(cursor, n, 16, sizeof *moments);
  for (size_t i = 0; i < n && moments != NULL; i++) {
    moments[i].mean = take_f64(cursor);
    moments[i].sd = take_f64(cursor);
    require(cursor, moments[i].sd > 0);
  }
  return moments;
}

/* Rows that were drawn to be held out, and those held out in their place. */
static void decode_exchanged(struct cursor *cursor, struct gpnn_index *index)
{
  enum { PAIR_BYTES = 16 };
  struct gpnn_dataset *dataset = &index->dataset;
  size_t n = cursor->left / PAIR_BYTES, n_rows = dataset->n + dataset->n_calibration;
  require(cursor, n > 0 && n <= dataset->n_calibration);
  index->exchanged = take_array(cursor, 2 * n, sizeof *index->exchanged, sizeof *index->exchanged);
  for (size_t i = 0; i < 2 * n && index->exchanged != NULL; i++) {
    index->exchanged[i] = take_u64(cursor);
    require(cursor, index->exchanged[i] < n_rows);
  }
  dataset->n_exchanged = n;
  dataset->exchanged = index->exchanged;
}

/* How many rows have each target, of which some lack one. */
static void decode_present(struct cursor *cursor, struct gpnn_index *index)
{
  const struct gpnn_dataset *dataset = &index->dataset;
  size_t n_targets = 1 + dataset->schema.n_more;
  bool is_any_missing = false;
  struct gpnn_index_present *present = take_array(cursor, n_targets, 16, sizeof *present);
  index->present = present;
  for (size_t t = 0; t < n_targets && present != NULL; t++) {
    present[t].n = take_size(cursor);
    present[t].n_calibration = take_size(cursor);
    require(cursor, present[t].n > 0 && present[t].n <= dataset->n);
    require(cursor, present[t].n_calibration <= dataset->n_calibration);
    is_any_missing = is_any_missing || present[t].n < dataset->n ||
                     present[t].n_calibration < dataset->n_calibration;
  }
  require(cursor, is_any_missing && n_targets > 1);
}

/* Means and standard deviations of further targets and of regressors. */
static void decode_all_moments(struct cursor *cursor, struct gpnn_index *index)
{
  const struct gpnn_schema *schema = &index->dataset.schema;
  struct gpnn_scaling *scaling = &index->dataset.scaling;
  scaling->n_more = schema->n_more;
  scaling->n_regressors = schema->n_regressors;
  scaling->more = decode_moments(cursor, schema->n_more);
  scaling->regressors = decode_moments(cursor, schema->n_regressors);
}

static void decode_scaling(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_scaling *scaling = &index->dataset.scaling;
  uint32_t method = take_u32(cursor);
  scaling->y_given = take_bool(cursor);
  require(cursor, method <= GPNN_SCALING_WHITEN);
  if (cursor->failed) return;
  scaling->method = (enum gpnn_scaling_method)method;
  scaling->n_in = take_size(cursor);
  scaling->n_out = take_size(cursor);
  scaling->eps = take_f64(cursor);
  scaling->y_mean = take_f64(cursor);
  scaling->y_sd = take_f64(cursor);
  require(cursor, scaling->y_sd > 0 && scaling->eps >= 0);
  require(cursor, scaling->n_in >= 1 && scaling->n_out <= scaling->n_in);
  scaling->mean = take_f64s(cursor, scaling->n_in, 1);
  size_t kept = scaling->n_in;
  if (method == GPNN_SCALING_WHITEN) {
    scaling->weight = take_f64s(cursor, scaling->n_out, scaling->n_in);
    kept = scaling->n_out;
  } else if (method == GPNN_SCALING_SCALE) {
    scaling->weight = take_f64s(cursor, scaling->n_in, 1);
    kept = 0;
    for (size_t j = 0; scaling->weight != NULL && j < scaling->n_in; j++)
      kept += scaling->weight[j] != 0;
  }
  require(cursor, kept == scaling->n_out && kept == index->dataset.d);
}

static void decode_limits(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_limits *limits = &index->dataset.scaling.limits;
  size_t n = index->dataset.scaling.n_in;
  limits->lower = take_f64s(cursor, 2, n);
  if (limits->lower == NULL) return;
  limits->n = n;
  limits->upper = limits->lower + n;
  for (size_t j = 0; j < n; j++) require(cursor, limits->lower[j] <= limits->upper[j]);
}

static void decode_tails(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_tails *tails = &index->dataset.scaling.tails;
  size_t n = index->dataset.scaling.n_in;
  tails->centre = take_f64s(cursor, 2, n);
  if (tails->centre == NULL) return;
  tails->n = n;
  tails->spread = tails->centre + n;
  for (size_t j = 0; j < n; j++) require(cursor, tails->spread[j] >= 0);
}

static void decode_search(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_search_report *report = &index->source.report;
  uint32_t kind = take_u32(cursor);
  bool has_lengthscale = take_bool(cursor);
  require(cursor, kind >= GPNN_SEARCH_FLAT && kind <= GPNN_SEARCH_TREE);
  if (cursor->failed) return;
  report->kind = (enum gpnn_search_kind)kind;
  report->n_lists = take_size(cursor);
  report->effort = take_size(cursor);
  report->asked = take_f64(cursor);
  report->recall = take_f64(cursor);
  require(cursor, report->asked > 0 && report->asked <= 1);
  report->n_queries = take_size(cursor);
  report->neighbours = take_size(cursor);
  report->visited = take_f64(cursor);
  if (has_lengthscale) index->lengthscale = take_f64s(cursor, index->dataset.d, 1);
  for (size_t j = 0; index->lengthscale != NULL && j < index->dataset.d; j++)
    require(cursor, index->lengthscale[j] > 0);
  take(cursor, take_u32(cursor)); /* skips the version of FAISS, which is there for people */
}

static void decode_rotation(struct cursor *cursor, struct gpnn_index *index)
{
  index->rotation = take_f64s(cursor, index->dataset.d, index->dataset.d);
}

static void decode_provenance(struct cursor *cursor, struct gpnn_index *index)
{
  size_t length = cursor->left;
  const unsigned char *from = take(cursor, length);
  index->provenance = from == NULL ? NULL : gpnn_copy_text((const char *)from, length);
  if (index->provenance == NULL) cursor->failed = cursor->out_of_memory = true;
  index->dataset.provenance = index->provenance;
}

/* ---- all sections ---- */

enum gpnn_status gpnn_index_find_section(const struct gpnn_index *index, const char *tag,
                                         const struct gpnn_container_section **section,
                                         struct gpnn_error *err)
{
  *section = gpnn_container_find(index->container, tag);
  if (*section != NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s is missing",
                   gpnn_container_path(index->container), tag);
}

enum gpnn_status gpnn_index_read_section(struct gpnn_index *index, const char *tag,
                                         void (*decode)(struct cursor *, struct gpnn_index *),
                                         struct gpnn_error *err)
{
  const struct gpnn_container_section *section;
  enum gpnn_status status = gpnn_index_find_section(index, tag, &section, err);
  if (status == GPNN_OK) status = gpnn_container_check(index->container, section, err);
  if (status != GPNN_OK) return status;
  struct cursor cursor = {.at = gpnn_container_bytes(index->container, section),
                          .left = (size_t)section->length};
  decode(&cursor, index);
  if (cursor.out_of_memory) return gpnn_fail_memory(err, "for opening an index");
  if (cursor.failed || cursor.left > 0)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s has values that are not allowed",
                     gpnn_container_path(index->container), tag);
  return GPNN_OK;
}

enum gpnn_status gpnn_index_read_optional(struct gpnn_index *index, const char *tag,
                                          void (*decode)(struct cursor *, struct gpnn_index *),
                                          struct gpnn_error *err)
{
  return gpnn_container_find(index->container, tag) == NULL
             ? GPNN_OK
             : gpnn_index_read_section(index, tag, decode, err);
}

enum gpnn_status gpnn_index_find_rows(const struct gpnn_index *index, const char *tag, size_t n,
                                      size_t d, const double **rows, struct gpnn_error *err)
{
  const struct gpnn_container_section *section;
  enum gpnn_status status = gpnn_index_find_section(index, tag, &section, err);
  if (status != GPNN_OK) return status;
  size_t count, bytes;
  if (!gpnn_multiply(n, d, &count) || !gpnn_multiply(count, sizeof **rows, &bytes) ||
      bytes != section->length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s does not hold %zu by %zu numbers",
                     gpnn_container_path(index->container), tag, n, d);
  /* Sections are 64-byte aligned. */
  *rows = (const double *)(const void *)gpnn_container_bytes(index->container, section);
  return GPNN_OK;
}

/* Its presence says all. */
static void decode_following(struct cursor *cursor, struct gpnn_index *index)
{
  (void)cursor;
  index->dataset.rows_follow_targets = true;
}

/* The number of sets of copies, which are groups of rows as those of a column are. */
static void decode_copies(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_dataset *dataset = &index->dataset;
  require(cursor, !dataset->schema.has_by);
  dataset->n_row_groups = take_size(cursor);
  require(cursor, dataset->n_row_groups > 0);
  require(cursor, dataset->n_row_groups <= dataset->n);
}

enum gpnn_status gpnn_index_read_metadata(struct gpnn_index *index, bool is_grid,
                                          struct gpnn_error *err)
{
  bool extended = gpnn_container_find(index->container, "ROLE") != NULL;
  enum gpnn_status status = gpnn_index_read_section(index, "INFO", decode_info, err);
  if (status == GPNN_OK)
    status = gpnn_index_read_section(index, "COLS", gpnn_index_decode_columns, err);
  if (status == GPNN_OK && extended)
    status = gpnn_index_read_section(index, "ROLE", gpnn_index_decode_roles, err);
  if (status == GPNN_OK)
    status = gpnn_index_read_optional(index, "OCOL", gpnn_index_decode_offsets, err);
  if (status == GPNN_OK)
    status = gpnn_index_read_optional(index, "GCOL", gpnn_index_decode_groups, err);
  if (status == GPNN_OK) status = gpnn_index_read_optional(index, "COPY", decode_copies, err);
  if (status == GPNN_OK) status = gpnn_index_read_optional(index, "FOLO", decode_following, err);
  if (status == GPNN_OK)
    status = gpnn_index_read_optional(index, "CLAS", gpnn_index_decode_classes, err);
  if (status == GPNN_OK)
    status = gpnn_index_read_optional(index, "ECOL", gpnn_index_decode_exposure, err);
  if (status == GPNN_OK)
    status = gpnn_index_read_optional(index, "COLX", gpnn_index_decode_names_and_dates, err);
  if (status == GPNN_OK)
    status = gpnn_index_read_optional(index, "NOTA", gpnn_index_decode_notation, err);
  if (status == GPNN_OK && is_grid)
    status = gpnn_index_read_optional(index, "NAME", gpnn_index_decode_names, err);
  if (status == GPNN_OK) status = gpnn_index_read_section(index, "STDZ", decode_scaling, err);
  if (status == GPNN_OK) status = gpnn_index_read_optional(index, "LIMS", decode_limits, err);
  if (status == GPNN_OK) status = gpnn_index_read_optional(index, "TAIL", decode_tails, err);
  if (status == GPNN_OK && extended)
    status = gpnn_index_read_section(index, "MOMS", decode_all_moments, err);
  if (status == GPNN_OK) status = gpnn_index_read_optional(index, "EXCH", decode_exchanged, err);
  if (status == GPNN_OK) status = gpnn_index_read_optional(index, "HAVE", decode_present, err);
  if (status == GPNN_OK && !is_grid)
    status = gpnn_index_read_section(index, "SRCH", decode_search, err);
  if (status == GPNN_OK) status = gpnn_index_read_optional(index, "ROTN", decode_rotation, err);
  if (status == GPNN_OK) status = gpnn_index_read_optional(index, "OPTS", decode_provenance, err);
  if (status == GPNN_OK &&
      gpnn_schema_features(&index->dataset.schema) != index->dataset.scaling.n_in)
    status = gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: columns and standardisation disagree",
                       gpnn_container_path(index->container));
  return status;
}

/* Finds the columns that are neither inputs nor the first target, where they are mapped. */
static enum gpnn_status find_other_columns(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  size_t n = dataset->n, c = dataset->n_calibration;
  size_t n_more = dataset->n_more = dataset->schema.n_more;
  size_t r = dataset->n_regressors = dataset->schema.n_regressors;
  enum gpnn_status status = GPNN_OK;
  if (n_more > 0) {
    status = gpnn_index_find_rows(index, "YMOR", n_more, n, &dataset->more, err);
    if (status == GPNN_OK)
      status = gpnn_index_find_rows(index, "CALM", n_more, c, &dataset->calibration_more, err);
  }
  if (r > 0 && status == GPNN_OK) {
    status = gpnn_index_find_rows(index, "REGR", n, r, &dataset->regressors, err);
    if (status == GPNN_OK)
      status = gpnn_index_find_rows(index, "CALR", c, r, &dataset->calibration_regressors, err);
  }
  if (dataset->schema.has_noise && status == GPNN_OK) {
    status = gpnn_index_find_rows(index, "NOIS", n_more + 1, n, &dataset->noise, err);
    if (status == GPNN_OK)
      status = gpnn_index_find_rows(index, "CALN", n_more + 1, c, &dataset->calibration_noise, err);
  }
  if (dataset->schema.n_offsets > 0 && status == GPNN_OK) {
    status = gpnn_index_find_rows(index, "OFFS", n_more + 1, n, &dataset->offset, err);
    if (status == GPNN_OK)
      status =
          gpnn_index_find_rows(index, "CALO", n_more + 1, c, &dataset->calibration_offset, err);
  }
  if (dataset->schema.has_exposure && status == GPNN_OK) {
    status = gpnn_index_find_rows(index, "EXPO", n, 1, &dataset->exposure, err);
    if (status == GPNN_OK)
      status = gpnn_index_find_rows(index, "CALE", c, 1, &dataset->calibration_exposure, err);
  }
  return status;
}

/* Finds the groups of the rows where they are mapped. */
static enum gpnn_status find_row_groups(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  const struct gpnn_container_section *section;
  size_t length;
  if (dataset->n_row_groups == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_index_find_section(index, "GRPS", &section, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_multiply(dataset->n, sizeof *dataset->row_group, &length) || section->length != length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section GRPS does not hold %zu numbers",
                     gpnn_container_path(index->container), dataset->n);
  dataset->row_group =
      (const uint32_t *)(const void *)gpnn_container_bytes(index->container, section);
  return GPNN_OK;
}

enum gpnn_status gpnn_index_read(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  enum gpnn_status status = gpnn_index_read_metadata(index, false, err);
  if (status != GPNN_OK) return status;
  size_t n = dataset->n, d = dataset->d, c = dataset->n_calibration;
  dataset->mapping = gpnn_container_mapping(index->container);
  status = gpnn_index_find_rows(index, "ROWS", n, d, &dataset->x, err);
  if (status == GPNN_OK) status = gpnn_index_find_rows(index, "YVAL", n, 1, &dataset->y, err);
  if (status == GPNN_OK)
    status = gpnn_index_find_rows(index, "CALX", c, d, &dataset->calibration_x, err);
  if (status == GPNN_OK)
    status = gpnn_index_find_rows(index, "CALY", c, 1, &dataset->calibration_y, err);
  if (status == GPNN_OK) status = find_other_columns(index, err);
  return status == GPNN_OK ? find_row_groups(index, err) : status;
}
