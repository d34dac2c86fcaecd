/*
 * Writing and reading the sections of gpnn-model(5), none of which is trusted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "container/state.h"
#include "dataset/index/index_private.h"

/* ---- writing ------------------------------------------------------------------------------- */

enum gpnn_status gpnn_index_write_list(struct gpnn_index_writing *writing,
                                       const struct gpnn_index_section *section,
                                       struct gpnn_error *err)
{
  unsigned char *list = NULL;
  size_t length = 0;
  enum gpnn_status status =
      gpnn_state_list(writing->contents.dataset->stored->arrays, &list, &length, err);
  if (status == GPNN_OK) status = gpnn_index_write_bytes(writing, section, list, length, err);
  free(list);
  return status;
}

enum gpnn_status gpnn_index_write_data(struct gpnn_index_writing *writing,
                                       const struct gpnn_index_section *section,
                                       struct gpnn_error *err)
{
  const struct gpnn_state *arrays = writing->contents.dataset->stored->arrays;
  uint64_t length = 0;
  for (size_t i = 0; i < arrays->n; i++) length += arrays->arrays[i].n * sizeof(double);
  enum gpnn_status status = gpnn_container_begin(writing->writer, section->tag.tag, err);
  gpnn_fingerprint_begin(&writing->fingerprint, section, length);
  for (size_t i = 0; i < arrays->n && status == GPNN_OK; i++) {
    const struct gpnn_state_array *array = &arrays->arrays[i];
    size_t bytes = array->n * sizeof *array->values;
    gpnn_fingerprint_add(&writing->fingerprint, section, array->values, bytes);
    status = gpnn_container_write(writing->writer, array->values, bytes, err);
  }
  return status == GPNN_OK ? gpnn_container_end(writing->writer, err) : status;
}

/* ---- reading ------------------------------------------------------------------------------- */

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
  enum gpnn_status status = gpnn_state_of_container(&index->arrays, index->container, err);
  return status == GPNN_OK ? check_finite(index, err) : status;
}
