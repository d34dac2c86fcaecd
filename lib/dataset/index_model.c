/*
 * Writing and reading the sections of gpnn-model(5), none of which is trusted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "container/state.h"
#include "dataset/index_reading_private.h"
#include "dataset/index_writing_private.h"

static const struct gpnn_container_tag tags[] = {
    {"INFO", true, 0},  {"COLS", true, 0}, {"ROLE", true, 0}, {"OCOL", true, 0},
    {"COLX", true, 0},  {"NOTA", true, 0}, {"STDZ", true, 0}, {"LIMS", true, 0},
    {"TAIL", true, 0},  {"MOMS", true, 0}, {"CLAS", true, 0}, {"ECOL", true, 0},
    {"OPTS", false, 0}, {"TEXT", true, 0}, {"LIST", true, 0}, {"DATA", true, 0},
};

const struct gpnn_container_format gpnn_index_model_format = {GPNN_CONTAINER_MODEL,
                                                              sizeof tags / sizeof *tags, tags};

/* ---- writing ------------------------------------------------------------------------------ */

static enum gpnn_status write_data(struct gpnn_index_writing *writing,
                                   const struct gpnn_state *arrays, struct gpnn_error *err)
{
  uint64_t length = 0;
  for (size_t i = 0; i < arrays->n; i++) length += arrays->arrays[i].n * sizeof(double);
  enum gpnn_status status = gpnn_container_begin(writing->writer, "DATA", err);
  gpnn_fingerprint_begin(&writing->fingerprint, "DATA", length);
  for (size_t i = 0; i < arrays->n && status == GPNN_OK; i++) {
    const struct gpnn_state_array *array = &arrays->arrays[i];
    gpnn_fingerprint_add(&writing->fingerprint, "DATA", array->values,
                         array->n * sizeof *array->values);
    status =
        gpnn_container_write(writing->writer, array->values, array->n * sizeof *array->values, err);
  }
  return status == GPNN_OK ? gpnn_container_end(writing->writer, err) : status;
}

static enum gpnn_status write_list(struct gpnn_index_writing *writing,
                                   const struct gpnn_state *arrays, struct gpnn_error *err)
{
  unsigned char *list = NULL;
  size_t length = 0;
  enum gpnn_status status = gpnn_state_list(arrays, &list, &length, err);
  if (status == GPNN_OK)
    status = gpnn_index_write_section(writing, "LIST", true, list, length, err);
  free(list);
  return status;
}

static enum gpnn_status write_sections(struct gpnn_index_writing *writing,
                                       const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  const struct gpnn_stored *stored = dataset->stored;
  const char *provenance = dataset->provenance == NULL ? "" : dataset->provenance;
  enum gpnn_status status = gpnn_index_write_metadata(writing, dataset, err);
  if (status == GPNN_OK)
    status = gpnn_index_write_section(writing, "OPTS", false, provenance, strlen(provenance), err);
  if (status == GPNN_OK)
    status = gpnn_index_write_section(writing, "TEXT", true, stored->text, stored->length, err);
  if (status == GPNN_OK) status = write_list(writing, stored->arrays, err);
  return status == GPNN_OK ? write_data(writing, stored->arrays, err) : status;
}

enum gpnn_status gpnn_index_write_stored(const char *path, const struct gpnn_dataset *dataset,
                                         const char *volatile *watch, struct gpnn_error *err)
{
  struct gpnn_index_writing writing = {.mapping = {0}};
  struct gpnn_dataset without_rows = *dataset; /* what describes rows that are not there */
  without_rows.schema.has_by = false;
  without_rows.n_row_groups = without_rows.n_exchanged = 0;
  enum gpnn_status status =
      gpnn_container_create(&writing.writer, path, &gpnn_index_model_format, watch, err);
  if (status != GPNN_OK) return status;
  status = write_sections(&writing, &without_rows, err);
  if (status == GPNN_OK)
    return gpnn_container_commit(writing.writer, gpnn_fingerprint_value(&writing.fingerprint), err);
  gpnn_container_abandon(writing.writer);
  return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum gpnn_status damaged(const struct gpnn_index *index, const char *target,
                                const char *name, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: target '%s' has no valid array '%s'",
                   gpnn_container_path(index->container), gpnn_mask(shown, target, strlen(target)),
                   name);
}

/* The text of parameters, which is checked when it is read, but for a NUL. */
static enum gpnn_status find_text(const struct gpnn_index *index, struct gpnn_stored *stored,
                                  struct gpnn_error *err)
{
  const struct gpnn_container_section *section;
  enum gpnn_status status = gpnn_index_find_section(index, "TEXT", &section, err);
  if (status == GPNN_OK) status = gpnn_container_check(index->container, section, err);
  if (status != GPNN_OK) return status;
  stored->text = (const char *)gpnn_container_bytes(index->container, section);
  stored->length = (size_t)section->length;
  return GPNN_OK;
}

static enum gpnn_status check_finite(const struct gpnn_index *index, struct gpnn_error *err)
{
  const struct gpnn_state *arrays = index->arrays;
  for (size_t i = 0; i < arrays->n; i++)
    for (size_t j = 0; j < arrays->arrays[i].n; j++)
      if (!isfinite(arrays->arrays[i].values[j]))
        return gpnn_fail(err, GPNN_EFORMAT,
                         "%s: damaged: section DATA has a number that is not finite",
                         gpnn_container_path(index->container));
  return GPNN_OK;
}

/* Points '*values' to an array of one number for each held-out row, none below 'least'. */
static enum gpnn_status find_held_out(const struct gpnn_index *index,
                                      const struct gpnn_dataset *view, const char *name,
                                      double least, const double **values, struct gpnn_error *err)
{
  const char *target = view->schema.target.name;
  const struct gpnn_state_array *array = gpnn_state_find(index->arrays, target, name);
  if (array == NULL || array->n != view->n_calibration) return damaged(index, target, name, err);
  for (size_t i = 0; i < array->n; i++)
    if (!(array->values[i] >= least)) return damaged(index, target, name, err);
  *values = array->values;
  return GPNN_OK;
}

/* The held-out rows of a target, if there are any. */
static enum gpnn_status set_held_out(const struct gpnn_index *index, struct gpnn_dataset *view,
                                     struct gpnn_stored *stored, struct gpnn_error *err)
{
  const char *target = view->schema.target.name;
  const struct gpnn_state_array *truth = gpnn_state_find(index->arrays, target, GPNN_STORED_TRUTH);
  struct gpnn_stored_latent *latent = &stored->held_out;
  view->n_calibration = truth == NULL ? 0 : truth->n;
  if (view->n_calibration == 0) return GPNN_OK;
  view->calibration_y = truth->values;
  enum gpnn_status status =
      find_held_out(index, view, GPNN_STORED_MEAN, -INFINITY, &latent->mean, err);
  if (status == GPNN_OK)
    status = find_held_out(index, view, GPNN_STORED_VARIANCE, 0, &latent->variance, err);
  if (status == GPNN_OK)
    status = find_held_out(index, view, GPNN_STORED_NEAREST, 0, &latent->nearest, err);
  if (status == GPNN_OK && view->schema.has_noise)
    status = find_held_out(index, view, GPNN_STORED_NOISE, 0, &view->calibration_noise, err);
  return status;
}

/* How many training rows the model of a target stands for: those of the file, unless some lacked
 * the target. */
static enum gpnn_status set_rows(const struct gpnn_index *index, struct gpnn_dataset *view,
                                 struct gpnn_error *err)
{
  const char *target = view->schema.target.name;
  const struct gpnn_state_array *rows = gpnn_state_find(index->arrays, target, GPNN_STORED_ROWS);
  if (rows == NULL) return GPNN_OK;
  double n = rows->n == 1 ? rows->values[0] : 0;
  if (!(n >= 1 && n <= (double)index->dataset.n) || n != floor(n))
    return damaged(index, target, GPNN_STORED_ROWS, err);
  view->n = (size_t)n;
  return GPNN_OK;
}

static enum gpnn_status set_view(struct gpnn_index *index, size_t t, struct gpnn_error *err)
{
  struct gpnn_dataset *view = &index->source.views[t];
  index->stored[t] = *index->dataset.stored;
  view->stored = &index->stored[t];
  enum gpnn_status status = set_rows(index, view, err);
  return status == GPNN_OK ? set_held_out(index, view, &index->stored[t], err) : status;
}

/* The only view is the dataset itself. */
static void merge_view(struct gpnn_dataset *dataset, const struct gpnn_dataset *view)
{
  dataset->n = view->n;
  dataset->calibration_y = view->calibration_y;
  dataset->calibration_noise = view->calibration_noise;
  dataset->stored = view->stored;
}

enum gpnn_status gpnn_index_set_model(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  size_t n_targets = 1 + dataset->n_more;
  index->stored = gpnn_alloc(n_targets + 1, 1, sizeof *index->stored);
  if (index->stored == NULL) return gpnn_fail_memory(err, "for opening a model file");
  index->stored[n_targets] = (struct gpnn_stored){.arrays = index->arrays};
  dataset->stored = &index->stored[n_targets];
  dataset->n_calibration = 0;
  enum gpnn_status status = find_text(index, &index->stored[n_targets], err);
  if (status == GPNN_OK) status = gpnn_dataset_set_views(&index->source, dataset, err);
  for (size_t t = 0; t < n_targets && status == GPNN_OK; t++) {
    status = set_view(index, t, err);
    size_t n = index->source.views[t].n_calibration;
    if (n > dataset->n_calibration) dataset->n_calibration = n;
  }
  if (status != GPNN_OK) return status;
  if (n_targets == 1)
    merge_view(dataset, &index->source.views[0]);
  else
    dataset->target = GPNN_DATASET_ALL_ROWS;
  return GPNN_OK;
}

enum gpnn_status gpnn_index_read_model(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  enum gpnn_status status = gpnn_index_read_metadata(index, true, err);
  if (status == GPNN_OK) status = gpnn_state_of_container(&index->arrays, index->container, err);
  if (status == GPNN_OK) status = check_finite(index, err);
  if (status == GPNN_OK &&
      (dataset->n_row_groups > 0 || dataset->n_exchanged > 0 || index->present != NULL))
    status = gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: it has sections of rows, but no rows",
                       gpnn_container_path(index->container));
  if (status != GPNN_OK) return status;
  dataset->n_more = dataset->schema.n_more;
  dataset->n_regressors = dataset->schema.n_regressors;
  dataset->fingerprint = gpnn_container_fingerprint(index->container);
  return GPNN_OK;
}
