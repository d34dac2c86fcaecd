/* The objective of rows and their neighbours, with its derivatives (gpnn-methods-classes(7),
 * equations 15.6 to 15.8, 15.14 and 15.15). */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/arrays.h"
#include "models/polya_gamma/polya_gamma_private.h"
#include "stats/distributions/polya_gamma.h"

/* ---- coordinates ------------------------------------------------------------------------ */

size_t gpnn_polya_gamma_channels(size_t n_classes)
{
  return n_classes == 2 ? 1 : n_classes;
}

/* The number of coordinates of the kernel, which come first. */
static size_t n_kernel(const struct gpnn_polya_gamma_objective *objective)
{
  return objective->covariance->n_lengthscales + 1;
}

size_t gpnn_polya_gamma_coordinates(const struct gpnn_polya_gamma_objective *objective)
{
  size_t n = n_kernel(objective);
  if (objective->learns_omega) n += 2 * objective->data->n * objective->n_channels;
  return n;
}

/* Where m of a training row and channel is among the coordinates; log s follows it. */
static size_t site(const struct gpnn_polya_gamma_objective *objective, size_t row, size_t c)
{
  return n_kernel(objective) + 2 * (row * objective->n_channels + c);
}

static void set_covariance(const struct gpnn_polya_gamma_objective *objective, const double *u)
{
  struct gpnn_covariance *covariance = objective->covariance;
  for (size_t j = 0; j < covariance->n_lengthscales; j++) covariance->lengthscale[j] = exp(u[j]);
  covariance->kernelscale = exp(u[covariance->n_lengthscales]);
}

/* The logarithm of omega of a training row in channel 'c': every row that has it as a neighbour
 * sees the same draw. */
static double log_omega(const struct gpnn_polya_gamma_objective *objective,
                        const struct gpnn_polya_gamma_batch *batch, const double *u, size_t row,
                        size_t c)
{
  struct gpnn_rng rng;
  if (!objective->learns_omega) return gpnn_polya_gamma_nearest().m;
  const double *q = u + site(objective, row, c);
  if (batch->at_medians) return q[0];
  uint64_t number = batch->draw * objective->data->n + row;
  gpnn_rng_init_at(&rng, objective->seed, GPNN_RNG_AUGMENT, number * objective->n_channels + c);
  return q[0] + exp(q[1]) * gpnn_rng_normal(&rng);
}

/* ---- rows ------------------------------------------------------------------------------- */

/* The evaluation of a batch.  'by_omega' and 'shift', log omega minus m, have n_channels by k
 * numbers for each row. */
struct evaluation {
  const struct gpnn_polya_gamma_objective *objective;
  const struct gpnn_polya_gamma_batch *batch;
  const double *u;
  struct gpnn_polya_gamma_row shared, *rows; /* rows: one per thread, each made when first needed */
  size_t n_threads;
  double *loss, *divergence;            /* of each row of the batch */
  double *by_kernel, *by_omega, *shift; /* NULL: no derivatives are wanted */
  double *by_site;                      /* 2 n_channels for each row: of its own divergence */
  struct gpnn_arrays *arrays;           /* owned; what frees the arrays */
};

static void evaluation_release(struct evaluation *e)
{
  for (size_t t = 0; e->rows != NULL && t < e->n_threads; t++)
    gpnn_polya_gamma_row_release(&e->rows[t]);
  gpnn_arrays_free(e->arrays);
}

static bool evaluation_alloc(struct evaluation *e, bool with_gradient)
{
  size_t n = e->batch->n, n_channels = e->objective->n_channels, k = e->batch->k;
  e->arrays = GPNN_ARRAYS(GPNN_ARRAY(e->rows, e->n_threads, 1), GPNN_ARRAY(e->loss, n, 1),
                          GPNN_ARRAY(e->divergence, n, 1),
                          GPNN_ARRAY_IF(with_gradient, e->by_kernel, n, n_kernel(e->objective)),
                          GPNN_ARRAY_IF(with_gradient, e->by_site, n, 2 * n_channels),
                          GPNN_ARRAY_IF(with_gradient, e->by_omega, n, n_channels * k),
                          GPNN_ARRAY_IF(with_gradient, e->shift, n, n_channels * k));
  return e->arrays != NULL;
}

/* Initialises a thread's scratch unless that has been done; false: not enough memory. */
static bool prepare(struct gpnn_polya_gamma_row *row, const struct gpnn_polya_gamma_row *shared)
{
  if (row->data != NULL) return true;
  *row = *shared;
  return gpnn_polya_gamma_row_init(row);
}

/* The divergence of the variables of a row of the batch, over all channels. */
static double diverge(const struct evaluation *e, size_t i)
{
  const struct gpnn_polya_gamma_objective *objective = e->objective;
  double sum = 0, slope[2];
  for (size_t c = 0; objective->learns_omega && c < objective->n_channels; c++) {
    const double *q = e->u + site(objective, (size_t)e->batch->row[i], c);
    sum += gpnn_polya_gamma_divergence((struct gpnn_log_normal){q[0], exp(q[1])},
                                       &objective->divergence, slope);
    if (e->by_site == NULL) continue;
    e->by_site[2 * (i * objective->n_channels + c)] = slope[0];
    e->by_site[2 * (i * objective->n_channels + c) + 1] = slope[1];
  }
  return sum;
}

static void set_omega(const struct evaluation *e, struct gpnn_polya_gamma_row *row, size_t i,
                      size_t k, const int64_t *neighbour)
{
  size_t n_channels = e->objective->n_channels;
  for (size_t c = 0; c < n_channels; c++)
    for (size_t a = 0; a < k; a++) {
      size_t from = (size_t)neighbour[a];
      double value = log_omega(e->objective, e->batch, e->u, from, c);
      row->omega[c * row->most + a] = exp(value);
      if (e->shift != NULL && e->objective->learns_omega)
        e->shift[(i * n_channels + c) * row->most + a] = value - e->u[site(e->objective, from, c)];
    }
}

static enum gpnn_status evaluate_row(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  struct evaluation *e = context;
  struct gpnn_polya_gamma_row *row = &e->rows[thread];
  const struct gpnn_dataset *data = e->objective->data;
  size_t centre = (size_t)e->batch->row[i], k = 0, width = n_kernel(e->objective);
  const int64_t *neighbour = e->batch->neighbour + i * e->batch->k;
  bool with_gradient = e->by_kernel != NULL;
  struct gpnn_error ignored;
  if (!prepare(row, &e->shared)) return gpnn_fail_memory(err, "for neighbourhoods");
  while (k < e->batch->k && neighbour[k] >= 0) k++;
  gpnn_polya_gamma_place(row, data->x + centre * data->d, k, neighbour, with_gradient);
  set_omega(e, row, i, k, neighbour);
  e->loss[i] = NAN;
  if (gpnn_polya_gamma_condition(row, &ignored) == GPNN_OK)
    e->loss[i] = gpnn_polya_gamma_loss(
        row, (size_t)data->y[centre], with_gradient ? e->by_kernel + i * width : NULL,
        with_gradient ? e->by_omega + i * row->n_channels * row->most : NULL);
  e->divergence[i] = diverge(e, i);
  return GPNN_OK;
}

/* ---- sums ------------------------------------------------------------------------------- */

/* Adds the derivatives of row 'i' of the batch by its neighbours' variables and by its own. */
static void add_sites(const struct evaluation *e, size_t i, double *gradient)
{
  const struct gpnn_polya_gamma_objective *objective = e->objective;
  size_t n_channels = objective->n_channels, k = e->batch->k;
  const int64_t *neighbour = e->batch->neighbour + i * k;
  for (size_t c = 0; c < n_channels; c++) {
    const double *by_omega = e->by_omega + (i * n_channels + c) * k,
                 *shift = e->shift + (i * n_channels + c) * k,
                 *own = e->by_site + 2 * (i * n_channels + c);
    for (size_t a = 0; a < k && neighbour[a] >= 0; a++) {
      double *to = gradient + site(objective, (size_t)neighbour[a], c);
      to[0] -= by_omega[a];
      to[1] -= by_omega[a] * shift[a];
    }
    double *to = gradient + site(objective, (size_t)e->batch->row[i], c);
    to[0] += objective->weight * own[0];
    to[1] += objective->weight * own[1];
  }
}

/* Sums over the rows in their order, so that rounding does not depend on the threads. */
static enum gpnn_status add_up(const struct evaluation *e, double *value, double *gradient,
                               struct gpnn_error *err)
{
  size_t used = 0, width = n_kernel(e->objective), n = gpnn_polya_gamma_coordinates(e->objective);
  double sum = 0;
  for (size_t j = 0; gradient != NULL && j < n; j++) gradient[j] = 0;
  for (size_t i = 0; i < e->batch->n; i++) {
    if (!isfinite(e->loss[i])) continue;
    used++;
    sum += e->loss[i] + e->objective->weight * e->divergence[i];
    if (gradient == NULL) continue;
    for (size_t j = 0; j < width; j++) gradient[j] -= e->by_kernel[i * width + j];
    if (e->objective->learns_omega) add_sites(e, i, gradient);
  }
  if (used == 0) return gpnn_fail(err, GPNN_ENUMERIC, "the likelihood is not finite");
  *value = sum / (double)used;
  for (size_t j = 0; gradient != NULL && j < n; j++) gradient[j] /= (double)used;
  return GPNN_OK;
}

enum gpnn_status gpnn_polya_gamma_evaluate(const struct gpnn_polya_gamma_objective *objective,
                                           const struct gpnn_polya_gamma_batch *batch,
                                           const double *u, double *value, double *gradient,
                                           struct gpnn_error *err)
{
  size_t d = objective->data->d;
  double *inverse = gpnn_alloc(d, 1, sizeof *inverse);
  struct evaluation e = {.objective = objective,
                         .batch = batch,
                         .u = u,
                         .n_threads = (size_t)gpnn_threads_for(objective->threads, batch->n)};
  enum gpnn_status status = GPNN_OK;
  set_covariance(objective, u);
  e.shared = (struct gpnn_polya_gamma_row){.data = objective->data,
                                           .covariance = objective->covariance,
                                           .logistic = &objective->logistic,
                                           .inverse = inverse,
                                           .most = batch->k,
                                           .n_channels = objective->n_channels,
                                           .is_common = !objective->learns_omega};
  if (inverse == NULL || !evaluation_alloc(&e, gradient != NULL)) {
    status = gpnn_fail_memory(err, "for neighbourhoods");
  } else {
    gpnn_covariance_expand(objective->covariance, d, objective->data->group, inverse);
    for (size_t j = 0; j < d; j++) inverse[j] = 1 / inverse[j];
    status = gpnn_team_try(objective->team, (int)e.n_threads, batch->n, 1, evaluate_row, &e, err);
    if (status == GPNN_OK) status = add_up(&e, value, gradient, err);
  }
  evaluation_release(&e);
  free(inverse);
  return status;
}
