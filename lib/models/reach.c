#include "models/reach.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "search/search.h"
#include "table/schema.h"

/* ---- in lengthscales ----------------------------------------------------------------------- */

static const double levels[GPNN_N_DISTANCES] = {0.5, 0.9, 0.99, 0.999};

void gpnn_distance_record(struct gpnn_calibration *calibration, size_t n, double *distances)
{
  enum { LEAST_ROWS = 100 };
  qsort(distances, n, sizeof *distances, gpnn_compare_doubles);
  while (n > 0 && isinf(distances[n - 1])) n--;
  calibration->has_distance = n >= LEAST_ROWS;
  if (!calibration->has_distance) return;
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

/* ---- over the globe ------------------------------------------------------------------------ */

enum { AXES = 3 };

struct gpnn_globe {
  size_t d;            /* numbers of a row */
  size_t column[AXES]; /* of the coordinates, among them */
  double *x;           /* owned; training rows by AXES, in km */
  struct gpnn_search *search;
  int threads;
};

/* Finds the columns of the coordinates: features that have a unit. */
static enum gpnn_status find_columns(struct gpnn_globe *globe, const struct gpnn_dataset *dataset,
                                     struct gpnn_error *err)
{
  size_t found = 0;
  for (size_t j = 0; j < dataset->d && dataset->coordinates != NULL; j++)
    if (dataset->coordinates[j].has_unit && found++ < AXES) globe->column[found - 1] = j;
  if (found == AXES) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "a distance in km is one on the globe, but the index has %s positions among its "
                   "inputs (gpnn-index --geo)",
                   found == 0 ? "no" : "several");
}

/* Copies the coordinates of 'n' rows. */
static void gather(const struct gpnn_globe *globe, size_t n, const double *rows, double *x)
{
  for (size_t i = 0; i < n; i++)
    for (size_t a = 0; a < AXES; a++) x[i * AXES + a] = rows[i * globe->d + globe->column[a]];
}

enum gpnn_status gpnn_globe_new(struct gpnn_globe **globe, const struct gpnn_dataset *dataset,
                                int threads, struct gpnn_error *err)
{
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  if (dataset->stored != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "a distance in km is one to training rows, which a model file does not have");
  struct gpnn_globe *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for positions");
  new->d = dataset->d;
  new->threads = threads;
  options.kind = GPNN_SEARCH_TREE;
  options.recall = 1;
  options.neighbours = 1;
  options.threads = threads;
  enum gpnn_status status = find_columns(new, dataset, err);
  if (status == GPNN_OK) {
    new->x = gpnn_alloc(dataset->n, AXES, sizeof *new->x);
    if (new->x == NULL) status = gpnn_fail_memory(err, "for positions");
  }
  if (status == GPNN_OK) {
    gather(new, dataset->n, dataset->x, new->x);
    status = gpnn_search_build(&new->search, dataset->n, AXES, new->x, &options, err);
  }
  if (status == GPNN_OK)
    *globe = new;
  else
    gpnn_globe_free(new);
  return status;
}

/* The distance over the surface between points that are 'chord' km apart in a straight line. */
static double over_surface(double chord)
{
  return 2 * GPNN_EARTH_RADIUS * asin(fmin(1, chord / (2 * GPNN_EARTH_RADIUS)));
}

enum gpnn_status gpnn_globe_distances(const struct gpnn_globe *globe, size_t n, const double *x,
                                      const int64_t *self, double *km, struct gpnn_error *err)
{
  enum { NEAREST = 2 }; /* one may be the row itself */
  double *points = gpnn_alloc(n, AXES, sizeof *points);
  double *distances = gpnn_alloc(n, NEAREST, sizeof *distances);
  int64_t *rows = gpnn_alloc(n, NEAREST, sizeof *rows);
  enum gpnn_status status = GPNN_OK;
  if (points == NULL || distances == NULL || rows == NULL) {
    status = gpnn_fail_memory(err, "for positions");
  } else {
    gather(globe, n, x, points);
    status =
        gpnn_search_query(globe->search, n, points, NEAREST, rows, distances, globe->threads, err);
  }
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    bool is_self = self != NULL && self[i] >= 0 && rows[NEAREST * i] == self[i];
    double r2 = distances[NEAREST * i + is_self];
    km[i] = isinf(r2) ? r2 : over_surface(sqrt(r2));
  }
  free(rows);
  free(distances);
  free(points);
  return status;
}

void gpnn_globe_free(struct gpnn_globe *globe)
{
  if (globe == NULL) return;
  gpnn_search_free(globe->search);
  free(globe->x);
  free(globe);
}

/* ---- of batches of rows -------------------------------------------------------------------- */

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
