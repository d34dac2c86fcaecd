#include "models/reach.h"

#include <stdlib.h>

#include "base/memory.h"
#include "models/distance.h"

enum gpnn_status gpnn_reach_init(struct gpnn_reach *reach, const struct gpnn_model *model,
                                 double max_distance, double max_km, struct gpnn_error *err)
{
  *reach = (struct gpnn_reach){.max_distance = max_distance, .max_km = max_km};
  if (!(max_km > 0)) return GPNN_OK;
  return gpnn_globe_new(&reach->globe, gpnn_model_channel(model, 0)->dataset,
                        gpnn_model_options(model)->threads, err);
}

enum gpnn_status gpnn_reach_measure(struct gpnn_reach *reach, const struct gpnn_query *rows,
                                    struct gpnn_error *err)
{
  if (reach->globe == NULL) return GPNN_OK;
  if (!gpnn_grow(&reach->km, &reach->km_capacity, rows->n, sizeof *reach->km))
    return gpnn_fail_memory(err, "for predictions");
  return gpnn_globe_distances(reach->globe, rows->n, rows->x, rows->self, reach->km, err);
}

bool gpnn_reach_is_beyond(const struct gpnn_reach *reach, size_t i, double nearest)
{
  return (reach->max_distance > 0 && nearest > reach->max_distance) ||
         (reach->max_km > 0 && reach->km[i] > reach->max_km);
}

void gpnn_reach_count(const struct gpnn_reach *reach, const struct gpnn_calibration *calibration,
                      size_t n, const double *nearest, struct gpnn_counts *counts)
{
  const double upon = 1e-6; /* lengthscales */
  for (size_t i = 0; i < n; i++) {
    counts->n_beyond += gpnn_reach_is_beyond(reach, i, nearest[i]);
    counts->n_upon += nearest[i] < upon;
  }
  counts->n_rows += n;
  counts->n_far += gpnn_distance_count_far(calibration, n, nearest);
}

void gpnn_reach_release(struct gpnn_reach *reach)
{
  gpnn_globe_free(reach->globe);
  free(reach->km);
  *reach = (struct gpnn_reach){0};
}
