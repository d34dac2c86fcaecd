#include "models/tucker/descend.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/optimize.h"

struct descending {
  struct gpnn_tucker_bound *bound;
  struct gpnn_tucker *t;
  const struct gpnn_tucker_groups *groups;
  const struct gpnn_tucker_descent *descent;
  size_t n;                     /* all rows */
  struct gpnn_tucker_data data; /* the batch */
  uint64_t *row;                /* owned; its rows */
  size_t step;
};

static void draw_batch(struct descending *d)
{
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, d->descent->seed, GPNN_RNG_TUCKER_BATCH, d->step);
  for (size_t i = 0; i < d->data.n; i++) d->row[i] = gpnn_rng_below(&rng, d->n);
}

/* Lengthscales of a group move together, and what is not free does not move. */
static void restrict_gradient(const struct descending *d, double *gradient)
{
  const struct gpnn_tucker *t = d->t;
  double *by_lengthscale = gradient + t->lengthscale, sum[GPNN_TUCKER_DIMENSIONS] = {0};
  for (size_t l = 0; l < t->shape.p; l++) sum[d->groups->group[l]] += by_lengthscale[l];
  for (size_t l = 0; l < t->shape.p; l++) by_lengthscale[l] = sum[d->groups->group[l]];
  if (!d->descent->frees_kernelscale) gradient[t->kernelscale] = 0;
  if (!d->descent->frees_noise) gradient[t->noise] = 0;
}

/* Minus the bound by a new batch. */
static enum gpnn_status objective(void *context, size_t n, const double *x, double *f,
                                  double *gradient, struct gpnn_error *err)
{
  struct descending *d = context;
  struct gpnn_tucker_value value;
  size_t every = (d->descent->n_steps + 99) / 100;
  memcpy(d->t->numbers, x, n * sizeof *x);
  draw_batch(d);
  enum gpnn_status status = gpnn_tucker_bound_at(d->bound, d->t, &d->data, &value, gradient, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "step %zu", d->step);
  *f = -value.bound;
  if (gradient == NULL) return GPNN_OK;
  restrict_gradient(d, gradient);
  for (size_t i = 0; i < n; i++) gradient[i] = -gradient[i];
  d->step++;
  if (d->descent->progress != NULL && d->step % every == 0)
    d->descent->progress(d->descent->progress_context, d->step, &value);
  return GPNN_OK;
}

static enum gpnn_status descend(struct descending *d, double *x, struct gpnn_error *err)
{
  const struct gpnn_tucker_descent *descent = d->descent;
  size_t n = d->t->n_numbers;
  double *lower = x + n, *upper = lower + n;
  struct gpnn_optimize_report report;
  const struct gpnn_adam adam = {.n_steps = descent->n_steps,
                                 .rate = descent->rate,
                                 .falling = true,
                                 .lower = lower,
                                 .upper = upper};
  const struct gpnn_adagrad adagrad = {descent->n_steps, descent->rate, lower, upper};
  memcpy(x, d->t->numbers, n * sizeof *x);
  gpnn_tucker_limits(d->t, lower, upper);
  enum gpnn_status status = descent->adam
                                ? gpnn_optimize_adam(objective, d, n, &adam, x, &report, err)
                                : gpnn_optimize_adagrad(objective, d, n, &adagrad, x, &report, err);
  if (status == GPNN_OK) memcpy(d->t->numbers, x, n * sizeof *x);
  return status;
}

enum gpnn_status gpnn_tucker_descend(struct gpnn_tucker_bound *bound, struct gpnn_tucker *tucker,
                                     const struct gpnn_tucker_data *data,
                                     const struct gpnn_tucker_groups *groups,
                                     const struct gpnn_tucker_descent *descent,
                                     struct gpnn_error *err)
{
  struct descending d = {.bound = bound,
                         .t = tucker,
                         .groups = groups,
                         .descent = descent,
                         .n = data->n,
                         .data = *data};
  double *x = gpnn_alloc(tucker->n_numbers, 3, sizeof *x);
  d.row = gpnn_alloc(descent->n_batch, 1, sizeof *d.row);
  d.data.row = d.row;
  d.data.n = descent->n_batch;
  d.data.weight = (double)data->n / (double)descent->n_batch;
  enum gpnn_status status = x == NULL || d.row == NULL
                                ? gpnn_fail_memory(err, "for steps of a grid")
                                : descend(&d, x, err);
  free(x);
  free(d.row);
  return status;
}
