#include "linalg/arrays.h"
#include "models/tucker/tucker_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/optimize.h"

/* ---- limits -------------------------------------------------------------------------------- */

void gpnn_tucker_limit_lengthscale(const struct gpnn_tucker *tucker, size_t l, double *lower,
                                   double *upper)
{
  size_t m = tucker->shape.m[l];
  double range = m < 2 ? 1 : tucker->points[l][m - 1] - tucker->points[l][0];
  double spacing = m < 2 ? 1 : range / (double)(m - 1);
  *lower = log(GPNN_TUCKER_SHORTEST * spacing);
  *upper = log(GPNN_TUCKER_LONGEST * range);
}

void gpnn_tucker_limits(const struct gpnn_tucker *tucker, double *lower, double *upper)
{
  for (size_t i = 0; i < tucker->n_numbers; i++) {
    lower[i] = -INFINITY;
    upper[i] = INFINITY;
  }
  for (size_t i = tucker->rho[0]; i < tucker->lengthscale; i++) {
    lower[i] = -14;
    upper[i] = 30;
  }
  for (size_t l = 0; l < tucker->shape.p; l++)
    gpnn_tucker_limit_lengthscale(tucker, l, &lower[tucker->lengthscale + l],
                                  &upper[tucker->lengthscale + l]);
  lower[tucker->noise] = log(1e-6);
}

/* ---- the objective ------------------------------------------------------------------------- */

struct tuning {
  struct gpnn_tucker_bound *bound;
  struct gpnn_tucker *t;
  const struct gpnn_tucker_data *data;
  const struct gpnn_tucker_groups *groups;
  struct gpnn_tucker_matrices matrices;
  double *white;              /* owned; the factors U_l, each multiplied by the triangle of R_l */
  double *gradient;           /* owned; n_numbers */
  double *work;               /* owned; twice the most m by m, and m by q */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* How U_l = L^-T white changes with the lengthscale: -L^-T D' white, where D is the lower triangle
 * of L^-1 dR L^-T with half its diagonal.  Returns the product of that with the derivatives 'by_u'
 * of the bound. */
static double follow(const struct tuning *tuning, size_t l, const double *by_u)
{
  const struct gpnn_tucker_matrix *matrix = &tuning->matrices.dimension[l];
  int m = (int)tuning->t->shape.m[l], q = (int)tuning->t->shape.q[l];
  size_t offset = tuning->t->factor[l] - tuning->t->n_core;
  double *d = tuning->work, *change = d + m * m;
  memcpy(d, matrix->slope, (size_t)m * (size_t)m * sizeof *d);
  gpnn_cholesky_forward((size_t)m, matrix->root_r, (size_t)m, d);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, m, 1,
              matrix->root_r, m, d, m);
  for (int j = 0; j < m; j++) d[j * (m + 1)] *= 0.5;
  memcpy(change, tuning->white + offset, (size_t)m * (size_t)q * sizeof *change);
  cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, q, m, -1, d, m,
              change, q);
  gpnn_tucker_whiten(&tuning->matrices, tuning->t, l, true, change);
  return cblas_ddot(m * q, change, 1, by_u, 1);
}

/* The model at x: its numbers, and the factors that belong to them. */
static enum gpnn_status go_to(struct tuning *tuning, const double *x, struct gpnn_error *err)
{
  struct gpnn_tucker *t = tuning->t;
  if (t->has_covariance) {
    memcpy(t->numbers + t->rho[0], x, t->n_grid * sizeof *t->numbers);
    return GPNN_OK;
  }
  for (size_t l = 0; l < t->shape.p; l++)
    t->numbers[t->lengthscale + l] = x[tuning->groups->group[l]];
  enum gpnn_status status = gpnn_tucker_matrices_set(&tuning->matrices, t, err);
  if (status != GPNN_OK) return status;
  memcpy(t->numbers + t->factor[0], tuning->white, (t->rho[0] - t->factor[0]) * sizeof(double));
  for (size_t l = 0; l < t->shape.p; l++)
    gpnn_tucker_whiten(&tuning->matrices, t, l, true, t->numbers + t->factor[l]);
  return GPNN_OK;
}

/* Minus the bound, as an average over rows. */
static enum gpnn_status objective(void *context, size_t n, const double *x, double *f,
                                  double *gradient, struct gpnn_error *err)
{
  struct tuning *tuning = context;
  const struct gpnn_tucker *t = tuning->t;
  struct gpnn_tucker_value value;
  double scale = -1 / (tuning->data->weight * (double)tuning->data->n);
  enum gpnn_status status = go_to(tuning, x, err);
  if (status == GPNN_OK)
    status = gpnn_tucker_bound_at(tuning->bound, t, tuning->data, &value,
                                  gradient == NULL ? NULL : tuning->gradient, err);
  if (status != GPNN_OK) return status;
  *f = scale * value.bound;
  if (gradient == NULL) return GPNN_OK;
  for (size_t i = 0; i < n; i++)
    gradient[i] = t->has_covariance ? scale * tuning->gradient[t->rho[0] + i] : 0;
  for (size_t l = 0; l < t->shape.p && !t->has_covariance; l++)
    gradient[tuning->groups->group[l]] +=
        scale *
        (tuning->gradient[t->lengthscale + l] + follow(tuning, l, tuning->gradient + t->factor[l]));
  return GPNN_OK;
}

/* ---- the search ---------------------------------------------------------------------------- */

static enum gpnn_status prepare(struct tuning *tuning, struct gpnn_error *err)
{
  const struct gpnn_tucker *t = tuning->t;
  size_t n_factors = t->rho[0] - t->factor[0], most = 0;
  for (size_t l = 0; l < t->shape.p; l++) {
    size_t m = t->shape.m[l], size = m * (m + t->shape.q[l]);
    most = size > most ? size : most;
  }
  enum gpnn_status status = gpnn_tucker_matrices_new(&tuning->matrices, t, err);
  if (status == GPNN_OK) status = gpnn_tucker_matrices_set(&tuning->matrices, t, err);
  if (status != GPNN_OK) return status;
  tuning->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(tuning->white, n_factors, 1),
                  GPNN_ARRAY(tuning->gradient, t->n_numbers, 1), GPNN_ARRAY(tuning->work, most, 1));
  if (tuning->arrays == NULL) return gpnn_fail_memory(err, "for the lengthscales of a grid");
  memcpy(tuning->white, t->numbers + t->factor[0], n_factors * sizeof(double));
  for (size_t l = 0; l < t->shape.p; l++)
    gpnn_tucker_whiten(&tuning->matrices, t, l, false, tuning->white + t->factor[l] - t->n_core);
  return GPNN_OK;
}

/* Where the search starts and may go. */
static void bound_search(const struct tuning *tuning, size_t n, double *x, double *lower,
                         double *upper, const double *limits)
{
  const struct gpnn_tucker *t = tuning->t;
  const double *from[] = {t->numbers, limits, limits + t->n_numbers};
  double *const to[] = {x, lower, upper};
  for (size_t k = 0; k < 3; k++)
    if (t->has_covariance)
      memcpy(to[k], from[k] + t->rho[0], n * sizeof **to);
    else
      for (size_t l = 0; l < t->shape.p; l++)
        to[k][tuning->groups->group[l]] = from[k][t->lengthscale + l];
  for (size_t i = 0; i < n; i++) x[i] = fmin(fmax(x[i], lower[i]), upper[i]);
}

static enum gpnn_status search(struct tuning *tuning, size_t most, struct gpnn_error *err)
{
  const struct gpnn_tucker *t = tuning->t;
  size_t n = t->has_covariance ? t->n_grid : tuning->groups->n;
  struct gpnn_optimize_report report;
  double *x = gpnn_alloc(3 * n + 2 * t->n_numbers, 1, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, "for the lengthscales of a grid");
  double *lower = x + n, *upper = lower + n, *limits = upper + n;
  gpnn_tucker_limits(t, limits, limits + t->n_numbers);
  bound_search(tuning, n, x, lower, upper, limits);
  enum gpnn_status status =
      gpnn_optimize_lbfgs(objective, tuning, n, most, 0, lower, upper, x, &report, err);
  if (status == GPNN_OK) status = go_to(tuning, x, err);
  free(x);
  return status;
}

enum gpnn_status gpnn_tucker_tune(struct gpnn_tucker_bound *bound, struct gpnn_tucker *tucker,
                                  const struct gpnn_tucker_data *data,
                                  const struct gpnn_tucker_groups *groups,
                                  enum gpnn_tucker_tuned what, size_t most, struct gpnn_error *err)
{
  bool has_covariance = tucker->has_covariance;
  struct tuning tuning = {.bound = bound, .t = tucker, .data = data, .groups = groups};
  double *before = gpnn_alloc(tucker->n_numbers, 1, sizeof *before);
  if (before == NULL) return gpnn_fail_memory(err, "for the lengthscales of a grid");
  memcpy(before, tucker->numbers, tucker->n_numbers * sizeof *before);
  tucker->has_covariance = what == GPNN_TUCKER_TUNED_COVARIANCE;
  enum gpnn_status status = prepare(&tuning, err);
  if (status == GPNN_OK) status = search(&tuning, most, err);
  tucker->has_covariance = has_covariance;
  if (status != GPNN_OK) memcpy(tucker->numbers, before, tucker->n_numbers * sizeof *before);
  gpnn_tucker_matrices_release(&tuning.matrices);
  gpnn_arrays_free(tuning.arrays);
  free(before);
  return status;
}
