#include "methods/calibrate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/* Rows that AUTO begins with, and the relative standard error at which it stops. */
enum { AUTO_ROWS = 1000 };
static const double auto_precision = 0.02;

/* alpha and its standard error from the squared standardised errors. */
static enum gpnn_status summarise(size_t n, const double *z2, struct gpnn_calibration *result,
                                  struct gpnn_error *err)
{
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += z2[i];
  double alpha = sum / (double)n;
  if (!(alpha > 0) || !isfinite(alpha))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     alpha == 0 ? "every calibration row is predicted without error: there is no "
                                  "factor to find"
                                : "the calibration factor is not finite");
  for (size_t i = 0; i < n; i++) squares += (z2[i] - alpha) * (z2[i] - alpha);
  result->alpha = alpha;
  result->standard_error = n > 1 ? sqrt(squares) / (double)n : INFINITY;
  result->n_rows = n;
  return GPNN_OK;
}

/* Finds the factor on exactly 'n' rows; 'self' as in struct gpnn_points. */
static enum gpnn_status find_factor(const struct gpnn_localgp *gp, size_t n, const double *x,
                                    const double *y, const int64_t *self,
                                    struct gpnn_calibration *calibration, struct gpnn_error *err)
{
  struct gpnn_calibration result = {0};
  double noise = gpnn_localgp_params(gp)->noise;
  double *mean = gpnn_alloc(n, 1, sizeof *mean);
  double *latent = gpnn_alloc(n, 1, sizeof *latent);
  enum gpnn_status status;
  if (mean == NULL || latent == NULL)
    status = gpnn_fail_memory(err, "for calibration");
  else
    status = gpnn_localgp_predict(gp, &(struct gpnn_points){.n = n, .x = x, .self = self},
                                  &(struct gpnn_prediction){.mean = mean, .latent = latent},
                                  &result.counts, err);
  if (status == GPNN_OK) {
    double *z2 = mean;
    for (size_t i = 0; i < n; i++)
      z2[i] = (y[i] - mean[i]) * (y[i] - mean[i]) / (latent[i] + noise);
    status = summarise(n, z2, &result, err);
  }
  if (status == GPNN_OK) *calibration = result;
  free(mean);
  free(latent);
  return status;
}

/* Rows to begin with, and whether they were enough; if not, '*n' becomes how many to try next. */
static size_t first_rows(size_t wanted, size_t available)
{
  if (wanted == GPNN_CALIBRATE_AUTO) wanted = AUTO_ROWS;
  return wanted < available ? wanted : available;
}

static bool were_enough(const struct gpnn_calibration *calibration, size_t wanted, size_t available,
                        size_t *n)
{
  if (wanted != GPNN_CALIBRATE_AUTO || *n == available ||
      calibration->standard_error < auto_precision * calibration->alpha)
    return true;
  *n = *n > available / 2 ? available : 2 * *n;
  return false;
}

enum gpnn_status gpnn_calibrate_rows(const struct gpnn_localgp *gp, size_t n_rows, const double *x,
                                     const double *y, size_t wanted,
                                     struct gpnn_calibration *calibration, struct gpnn_error *err)
{
  if (n_rows == 0) return gpnn_fail(err, GPNN_EDATA, "no rows to calibrate on");
  size_t n = first_rows(wanted, n_rows);
  enum gpnn_status status;
  do status = find_factor(gp, n, x, y, NULL, calibration, err);
  while (status == GPNN_OK && !were_enough(calibration, wanted, n_rows, &n));
  return status;
}

/* Random training rows, to be left out one at a time. */
struct left_out {
  double *x, *y;
  int64_t *self;
};

static void left_out_release(struct left_out *rows)
{
  free(rows->x);
  free(rows->y);
  free(rows->self);
}

static enum gpnn_status left_out_draw(struct left_out *rows,
                                      const struct gpnn_index_contents *contents, size_t n_rows,
                                      uint64_t seed, struct gpnn_error *err)
{
  size_t d = contents->d;
  uint64_t *drawn = gpnn_alloc(n_rows, 1, sizeof *drawn);
  rows->x = gpnn_alloc(n_rows, d, sizeof *rows->x);
  rows->y = gpnn_alloc(n_rows, 1, sizeof *rows->y);
  rows->self = gpnn_alloc(n_rows, 1, sizeof *rows->self);
  enum gpnn_status status = GPNN_OK;
  if (drawn == NULL || rows->x == NULL || rows->y == NULL || rows->self == NULL)
    status = gpnn_fail_memory(err, "for calibration");
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_LEAVE_ONE_OUT);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, contents->n, n_rows, drawn, err);
  for (size_t i = 0; i < n_rows && status == GPNN_OK; i++) {
    memcpy(rows->x + i * d, contents->x + drawn[i] * d, d * sizeof *rows->x);
    rows->y[i] = contents->y[drawn[i]];
    rows->self[i] = (int64_t)drawn[i];
  }
  free(drawn);
  return status;
}

enum gpnn_status gpnn_calibrate_left_out(const struct gpnn_localgp *gp, size_t wanted,
                                         uint64_t seed, struct gpnn_calibration *calibration,
                                         struct gpnn_error *err)
{
  const struct gpnn_index_contents *contents = gpnn_localgp_data(gp);
  size_t n = first_rows(wanted, contents->n);
  enum gpnn_status status;
  do {
    /* A larger draw begins with the rows of a smaller one. */
    struct left_out rows = {0};
    status = left_out_draw(&rows, contents, n, seed, err);
    if (status == GPNN_OK) status = find_factor(gp, n, rows.x, rows.y, rows.self, calibration, err);
    left_out_release(&rows);
  } while (status == GPNN_OK && !were_enough(calibration, wanted, contents->n, &n));
  return status;
}

void gpnn_calibrate_apply(const struct gpnn_calibration *calibration, struct gpnn_params *params)
{
  params->kernelscale *= calibration->alpha;
  params->noise *= calibration->alpha;
  params->calibration =
      params->has_calibration ? params->calibration * calibration->alpha : calibration->alpha;
  params->has_calibration = true;
}
