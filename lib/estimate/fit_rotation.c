/* A rotation being learnt along with the other parameters. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/fit_private.h"
#include "kernel/rotation.h"
#include "linalg/blas.h"

enum gpnn_status gpnn_fit_rotation_begin(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  size_t d = problem->dataset->d;
  if (!problem->options->learn_rotation) return GPNN_OK;
  learnt->n = d * d;
  learnt->base = gpnn_alloc(5 * d, d, sizeof *learnt->base);
  learnt->all = gpnn_alloc(problem->dataset->n, d, sizeof *learnt->all);
  if (learnt->base == NULL || learnt->all == NULL) return gpnn_fail_memory(err, "for a rotation");
  learnt->map = learnt->base + d * d;
  learnt->factor = learnt->map + d * d;
  learnt->by_map = learnt->factor + d * d;
  learnt->one = learnt->by_map + d * d;
  gpnn_covariance_expand(&problem->targets->params->covariance, d, problem->dataset->group,
                         problem->lengthscale);
  for (size_t j = 0; j < d; j++) learnt->base[j * d + j] = 1 / problem->lengthscale[j];
  return GPNN_OK;
}

void gpnn_fit_rotation_set(struct gpnn_fit_problem *problem, const double *u)
{
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  int d = (int)problem->dataset->d;
  if (learnt->n == 0) return;
  memcpy(learnt->factor, u + problem->coordinates.n, learnt->n * sizeof *u);
  for (int j = 0; j < d; j++) learnt->factor[j * d + j] += 1;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1, learnt->factor, d,
              learnt->base, d, 0, learnt->map, d);
}

/*
 * H is the derivative by E' where the map becomes (I + E') times itself; that by E is
 * H (I + E)^-T, and H itself is used if I + E cannot be inverted.  See gpnn-methods(7),
 * equation 4.29.
 */
void gpnn_fit_rotation_gradient(const struct gpnn_fit_problem *problem, double *gradient)
{
  const struct gpnn_fit_rotation *learnt = &problem->rotation;
  lapack_int d = (lapack_int)problem->dataset->d, *pivots = NULL;
  double *to = gradient + problem->coordinates.n;
  if (learnt->n == 0) return;
  memcpy(to, learnt->by_map, learnt->n * sizeof *to);
  pivots = gpnn_alloc((size_t)d, 1, sizeof *pivots);
  /* Row-major G = H T^-T is T^-1 H' in column-major order, where row-major T reads as T'. */
  if (pivots != NULL && LAPACKE_dgetrf(LAPACK_COL_MAJOR, d, d, learnt->factor, d, pivots) == 0)
    (void)LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'T', d, d, learnt->factor, d, pivots, to, d);
  free(pivots);
}

/* Writes to learnt->base the map from the original inputs: the learnt map after 'given', the
 * rotation that the parameters already have (or NULL). */
static void combine(struct gpnn_fit_problem *problem, const double *given)
{
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  int d = (int)problem->dataset->d;
  if (given == NULL)
    memcpy(learnt->base, learnt->map, learnt->n * sizeof *learnt->map);
  else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1, learnt->map, d, given, d, 0,
                learnt->base, d);
}

enum gpnn_status gpnn_fit_rotation_finish(struct gpnn_fit_problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_targets *targets = problem->targets;
  struct gpnn_fit_rotation *learnt = &problem->rotation;
  const double longest = 1e12;
  enum gpnn_status status = GPNN_OK;
  if (learnt->n == 0) return GPNN_OK;
  combine(problem, targets->params->covariance.rotation);
  for (size_t t = 0; t < targets->n && status == GPNN_OK; t++) {
    struct gpnn_parameters *params = &targets->params[t];
    if (params->covariance.rotation == NULL)
      params->covariance.rotation = gpnn_alloc(learnt->n, 1, sizeof *params->covariance.rotation);
    if (params->covariance.rotation == NULL) return gpnn_fail_memory(err, "for a rotation");
    params->covariance.n_rotation = learnt->n;
    status =
        gpnn_rotation_decompose(problem->dataset->d, learnt->base, longest,
                                params->covariance.rotation, params->covariance.lengthscale, err);
  }
  return status;
}

void gpnn_fit_rotation_release(struct gpnn_fit_problem *problem)
{
  free(problem->rotation.base);
  free(problem->rotation.all);
}
