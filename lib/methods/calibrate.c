#include "methods/calibrate.h"

#include <math.h>
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
  result->standard_error = sqrt(squares) / (double)n;
  result->n_rows = n;
  return GPNN_OK;
}

enum gpnn_status gpnn_calibrate_rows(const struct gpnn_localgp *gp, double noise, size_t n_rows,
                                     const double *x, const double *y, const int64_t *self,
                                     struct gpnn_calibration *calibration, struct gpnn_error *err)
{
  if (n_rows == 0) return gpnn_fail(err, GPNN_EDATA, "no rows to calibrate on");
  struct gpnn_calibration result = {0};
  double *mean = gpnn_alloc(n_rows, 1, sizeof *mean);
  double *latent = gpnn_alloc(n_rows, 1, sizeof *latent);
  enum gpnn_status status;
  if (mean == NULL || latent == NULL)
    status = gpnn_fail_memory(err, "for calibration");
  else
    status = gpnn_localgp_predict(gp, n_rows, x, self, mean, latent, &result.counts, err);
  if (status == GPNN_OK) {
    double *z2 = mean;
    for (size_t i = 0; i < n_rows; i++)
      z2[i] = (y[i] - mean[i]) * (y[i] - mean[i]) / (latent[i] + noise);
    status = summarise(n_rows, z2, &result, err);
  }
  if (status == GPNN_OK) *calibration = result;
  free(mean);
  free(latent);
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

static enum gpnn_status calibrate_on(const struct gpnn_localgp *gp,
                                     const struct gpnn_index_contents *contents, double noise,
                                     bool leave_one_out, size_t n_rows, uint64_t seed,
                                     struct gpnn_calibration *calibration, struct gpnn_error *err)
{
  if (!leave_one_out)
    return gpnn_calibrate_rows(gp, noise, n_rows, contents->calibration_x, contents->calibration_y,
                               NULL, calibration, err);
  struct left_out rows = {0};
  enum gpnn_status status = left_out_draw(&rows, contents, n_rows, seed, err);
  if (status == GPNN_OK)
    status = gpnn_calibrate_rows(gp, noise, n_rows, rows.x, rows.y, rows.self, calibration, err);
  left_out_release(&rows);
  return status;
}

enum gpnn_status gpnn_calibrate_index(const struct gpnn_localgp *gp,
                                      const struct gpnn_index_contents *contents, double noise,
                                      bool leave_one_out, size_t n_rows, uint64_t seed,
                                      struct gpnn_calibration *calibration, struct gpnn_error *err)
{
  size_t available = leave_one_out ? contents->n : contents->n_calibration;
  bool grow = n_rows == GPNN_CALIBRATE_AUTO;
  if (grow) n_rows = AUTO_ROWS;
  for (;;) {
    if (n_rows > available) n_rows = available;
    enum gpnn_status status =
        calibrate_on(gp, contents, noise, leave_one_out, n_rows, seed, calibration, err);
    if (status != GPNN_OK || !grow || n_rows == available ||
        calibration->standard_error < auto_precision * calibration->alpha)
      return status;
    n_rows *= 2;
  }
}

void gpnn_calibrate_apply(const struct gpnn_calibration *calibration, struct gpnn_params *params)
{
  params->kernelscale *= calibration->alpha;
  params->noise *= calibration->alpha;
  params->calibration =
      params->has_calibration ? params->calibration * calibration->alpha : calibration->alpha;
  params->has_calibration = true;
}
