/*
 * Candidates for small datasets: fitted by the exact marginal likelihood of all rows together, one
 * block, and predicting from all rows.
 */
#include "estimate/choose_private.h"

/* In the order of trial. */
static const char *const kernels[] = {"matern32", "exp", "matern52", "rbf"};
enum { LAST = sizeof kernels / sizeof *kernels - 1 };

bool gpnn_choice_is_exact(const struct gpnn_choice *c, const struct gpnn_fit_options *options)
{
  return c->options->neighbours && options->neighbours == c->dataset->n &&
         options->first == GPNN_OBJECTIVE_BLOCK && options->n_blocks == 1;
}

/* True if exact candidates are affordable, and the options leave their objective, their number of
 * neighbours and the inputs as they are open. */
static bool is_open(const struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  return options->likelihood != GPNN_LIKELIHOOD_GAUSSIAN && options->effort != GPNN_EFFORT_FAST &&
         options->objective && options->neighbours && options->like == NULL &&
         (options->rotation || options->rotate == GPNN_ROTATE_NONE) &&
         options->fit.optimizer != GPNN_OPTIMIZER_ADAM && options->fit.thin < 0 &&
         c->dataset->n <= GPNN_CHOOSE_EXACT;
}

/* The last trial, if it is exact, or NULL. */
static const struct gpnn_choose_trial *last_exact(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *last = c->n_trials == 0 ? NULL : &c->trials[c->n_trials - 1];
  return last != NULL && last->candidate.exact ? last : NULL;
}

/* True if kernel 'k' of the list is worth trying: the last only if the one before it is the best.
 */
static bool is_worthwhile(const struct gpnn_choice *c, size_t k)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  return k < LAST || (best != NULL && best->candidate.exact &&
                      best->candidate.kernel == gpnn_kernel_by_name(kernels[LAST - 1]));
}

enum gpnn_status gpnn_choice_try_exact(struct gpnn_choice *c, struct gpnn_fit_options fit,
                                       struct gpnn_error *err)
{
  size_t n_kernels = c->options->kernel ? LAST + 1 : 1;
  enum gpnn_status status = GPNN_OK;
  size_t n_rows = gpnn_choice_rows_left(c, c->dataset->n);
  if (!is_open(c) || n_rows < 2) return GPNN_OK; /* one row alone has no likelihood to maximise */
  fit.first = GPNN_OBJECTIVE_BLOCK;
  fit.second = GPNN_OBJECTIVE_NONE;
  fit.n_blocks = 1;
  fit.block_size = n_rows;
  fit.neighbours = c->dataset->n;
  for (size_t k = 0; k < n_kernels && is_worthwhile(c, k) && status == GPNN_OK; k++) {
    const struct gpnn_choose_trial *last = last_exact(c);
    if (c->options->kernel) fit.kernel = gpnn_kernel_by_name(kernels[k]);
    fit.start = last == NULL ? c->options->fit.start : last->params;
    fit.n_starts = last == NULL ? c->options->fit.n_starts : last->n_targets;
    status = gpnn_choice_try(c, &fit, err);
  }
  return status;
}
