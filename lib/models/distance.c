#include "models/distance.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

static const double levels[GPNN_N_DISTANCES] = {0.5, 0.9, 0.99, 0.999};

void gpnn_distance_record(struct gpnn_calibration *calibration, size_t n, double *distances)
{
  enum { LEAST_ROWS = 100 };
  calibration->has_distance = n >= LEAST_ROWS;
  if (!calibration->has_distance) return;
  qsort(distances, n, sizeof *distances, gpnn_compare_doubles);
  for (size_t i = 0; i < GPNN_N_DISTANCES; i++) {
    double rank = ceil(levels[i] * (double)n);
    calibration->distance[i] = distances[(size_t)rank - 1];
  }
}

size_t gpnn_distance_count_far(const struct gpnn_calibration *calibration, size_t n,
                               const double *distances)
{
  size_t count = 0;
  for (size_t i = 0; i < n && calibration->has_distance; i++)
    count += distances[i] > calibration->distance[GPNN_N_DISTANCES - 1];
  return count;
}
