#include "models/heldout.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/missing.h"
#include "linalg/arrays.h"

struct gpnn_heldout gpnn_heldout_of_dataset(const struct gpnn_dataset *dataset)
{
  return (struct gpnn_heldout){.query = {.n = dataset->n_calibration,
                                         .x = dataset->calibration_x,
                                         .regressors = dataset->calibration_regressors},
                               .y = dataset->calibration_y,
                               .noise = dataset->calibration_noise,
                               .exposure = dataset->calibration_exposure,
                               .cluster_rows = 1};
}

enum gpnn_status gpnn_heldout_new(struct gpnn_heldout *heldout, const struct gpnn_dataset *dataset,
                                  size_t n, size_t n_candidates, struct gpnn_error *err)
{
  size_t p = dataset->n_regressors;
  struct gpnn_heldout_rows *own = &heldout->own;
  own->arrays = GPNN_ARRAYS(GPNN_ARRAY(own->x, n, dataset->d), GPNN_ARRAY(own->y, n, 1),
                            GPNN_ARRAY(own->self, n, 1), GPNN_ARRAY(own->regressors, n, p),
                            GPNN_ARRAY(own->noise, n, 1), GPNN_ARRAY(own->exposure, n, 1),
                            GPNN_ARRAY_IF(n_candidates > 0, own->candidates, n, n_candidates));
  if (own->arrays == NULL) return gpnn_fail_memory(err, "for calibration");
  heldout->query = (struct gpnn_query){.n = n,
                                       .x = own->x,
                                       .regressors = p == 0 ? NULL : own->regressors,
                                       .self = own->self,
                                       .candidates = own->candidates,
                                       .n_candidates = n_candidates};
  heldout->y = own->y;
  /* The noise of a pseudo-target says nothing of the target. */
  heldout->noise = dataset->noise == NULL || dataset->observed != NULL ? NULL : own->noise;
  heldout->exposure = dataset->exposure == NULL ? NULL : own->exposure;
  heldout->cluster_rows = 1;
  return GPNN_OK;
}

void gpnn_heldout_set(struct gpnn_heldout *heldout, const struct gpnn_dataset *dataset, size_t i,
                      size_t row)
{
  size_t d = dataset->d, p = dataset->n_regressors;
  struct gpnn_heldout_rows *own = &heldout->own;
  gpnn_missing_restore(dataset, row, own->x + i * d);
  if (p > 0)
    memcpy(own->regressors + i * p, dataset->regressors + row * p, p * sizeof *own->regressors);
  own->y[i] = dataset->observed != NULL ? dataset->observed[row] : dataset->y[row];
  own->noise[i] = dataset->noise == NULL ? 0 : dataset->noise[row];
  own->exposure[i] = dataset->exposure == NULL ? 1 : dataset->exposure[row];
  own->self[i] = (int64_t)row;
}

enum gpnn_status gpnn_heldout_draw(size_t n_all, size_t n, uint64_t seed,
                                   enum gpnn_rng_purpose purpose, uint64_t **drawn,
                                   struct gpnn_error *err)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, purpose);
  *drawn = gpnn_alloc(n, 1, sizeof **drawn);
  if (*drawn == NULL) return gpnn_fail_memory(err, "for calibration");
  return gpnn_rng_sample(&rng, n_all, n, *drawn, err);
}

enum gpnn_status gpnn_heldout_alone(struct gpnn_heldout *heldout,
                                    const struct gpnn_dataset *dataset, size_t n, uint64_t seed,
                                    struct gpnn_error *err)
{
  uint64_t *drawn = NULL;
  enum gpnn_status status =
      gpnn_heldout_draw(dataset->n, n, seed, GPNN_RNG_LEAVE_ONE_OUT, &drawn, err);
  if (status == GPNN_OK) status = gpnn_heldout_new(heldout, dataset, n, 0, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    gpnn_heldout_set(heldout, dataset, i, (size_t)drawn[i]);
  free(drawn);
  return status;
}

void gpnn_heldout_release(struct gpnn_heldout *heldout)
{
  gpnn_arrays_free(heldout->own.arrays);
  *heldout = (struct gpnn_heldout){0};
}
