#include "linalg/optimize.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- lbfgs ---------------------------------------------------------------------------- */

/*
 * We use NLopt's L-BFGS (Luksan's) because it respects bounds, without which the logarithm of a
 * parameter would go to infinity when a column is irrelevant or free of noise; liblbfgs, otherwise
 * as fast, has none.  When its line search fails, as it does from rounding close to an optimum,
 * NLopt returns its last point rather than the best; so we keep the best point ourselves.
 */

/* The state of a search, for its objective. */
struct run {
  gpnn_objective *objective;
  void *context;
  nlopt_opt search;
  struct gpnn_optimize_report report;
  double *best;            /* n: the best point so far, report.end its value */
  double least, before;    /* what a few evaluations have to gain, and the value they started at */
  size_t n_since;          /* evaluations since then */
  enum gpnn_status status; /* of a failure that ended the search */
  struct gpnn_error *err;
};

/* Worse than any real value, yet finite, as the line search does arithmetic with it. */
static const double infinitely_bad = 1e30;

/* Ends the search with the failure in 'own'. */
static void give_up(struct run *run, const struct gpnn_error *own)
{
  run->status = own->status;
  if (run->err != NULL) *run->err = *own;
  nlopt_force_stop(run->search);
}

/* Ends the search if some evaluations in a row have gained too little.  A single step often does,
 * where a bound has just been met, before others gain much. */
static void judge_progress(struct run *run)
{
  enum { PATIENCE = 4 };
  if (run->n_since++ == 0 || run->report.end < run->before - run->least) {
    run->before = run->report.end;
    run->n_since = 1;
  }
  if (run->least > 0 && run->n_since > PATIENCE) nlopt_force_stop(run->search);
}

static double evaluate(unsigned n, const double *x, double *gradient, void *data)
{
  struct run *run = data;
  struct gpnn_error own = {0};
  double f = infinitely_bad;
  enum gpnn_status status = run->objective(run->context, n, x, &f, gradient, &own);
  bool first = run->report.n_evaluations++ == 0;
  if (status == GPNN_OK && !(f < infinitely_bad))
    status = gpnn_fail(&own, GPNN_ENUMERIC, "the objective is not finite");
  own.status = status;
  if (status != GPNN_OK) {
    /* From a bad first point, the search would have no gradient to follow. */
    if (first || status != GPNN_ENUMERIC) give_up(run, &own);
    for (unsigned i = 0; gradient != NULL && i < n; i++) gradient[i] = 0;
    return infinitely_bad;
  }
  if (first) run->report.start = f;
  if (first || f < run->report.end) {
    run->report.end = f;
    memcpy(run->best, x, n * sizeof *x);
  }
  judge_progress(run);
  return f;
}

static const char *outcome(nlopt_result result)
{
  switch (result) {
  case NLOPT_FTOL_REACHED:
  case NLOPT_FORCED_STOP:
    return "the objective no longer falls";
  case NLOPT_XTOL_REACHED:
    return "the point no longer moves";
  case NLOPT_MAXEVAL_REACHED:
    return "the evaluations are used up";
  case NLOPT_ROUNDOFF_LIMITED:
  case NLOPT_FAILURE:
    return "no further descent was found";
  default:
    return "converged";
  }
}

/* Smaller changes of the objective make no difference to predictions. */
static const double value_tolerance = 1e-8;

enum gpnn_status gpnn_optimize_lbfgs(gpnn_objective *objective, void *context, size_t n,
                                     size_t most, double least, const double *lower,
                                     const double *upper, double *x,
                                     struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  struct run run = {.objective = objective, .context = context, .err = err, .least = least};
  double value;
  double *point = gpnn_alloc(n, 2, sizeof *point);
  run.search = nlopt_create(NLOPT_LD_LBFGS, (unsigned)n);
  if (point == NULL || run.search == NULL ||
      nlopt_set_min_objective(run.search, evaluate, &run) < 0 ||
      nlopt_set_lower_bounds(run.search, lower) < 0 ||
      nlopt_set_upper_bounds(run.search, upper) < 0 ||
      nlopt_set_ftol_rel(run.search, value_tolerance) < 0 ||
      nlopt_set_maxeval(run.search, (int)most) < 0) {
    run.status = gpnn_fail_memory(err, "for the optimiser");
    goto out;
  }
  run.best = point + n;
  memcpy(point, x, n * sizeof *x);
  nlopt_result result = nlopt_optimize(run.search, point, &value);
  if (run.status != GPNN_OK) goto out;
  if (run.report.n_evaluations == 0) {
    run.status = gpnn_fail(err, GPNN_EEXTERNAL, "the optimiser did not start: %s",
                           nlopt_result_to_string(result));
    goto out;
  }
  run.report.outcome = outcome(result);
  *report = run.report;
  memcpy(x, run.best, n * sizeof *x);
out:
  nlopt_destroy(run.search);
  free(point);
  return run.status;
}

/* ---- adam ----------------------------------------------------------------------------- */

/* The rate of step 't', from 0. */
static double rate_of(const struct gpnn_adam *adam, size_t t)
{
  double done = (double)t / (double)adam->n_steps;
  double rate = adam->falling ? adam->rate * (1 - done) : adam->rate;
  if (adam->half_life > 0) rate /= sqrt(1 + (double)t / adam->half_life);
  for (size_t i = 0; i < adam->n_drops && done >= adam->drop[i]; i++) rate /= 5;
  return rate;
}

/* True if no number has moved far since 'before', where it was ten steps ago, which is renewed. */
static bool stands_still(const struct gpnn_adam *adam, size_t n_done, size_t n, const double *u,
                         double *before)
{
  enum { STEPS = 10 };
  double most = 0;
  if (adam->least_move == 0 || n_done % STEPS != 0) return false;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(u[i] - before[i]));
  memcpy(before, u, n * sizeof *u);
  return most < adam->least_move;
}

/* The value where steps have ended, 'u', which becomes the result. */
static enum gpnn_status finish(gpnn_objective *objective, void *context, size_t n, size_t n_steps,
                               const double *u, struct gpnn_optimize_report *own, double *x,
                               struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  enum gpnn_status status = objective(context, n, u, &own->end, NULL, err);
  if (status != GPNN_OK) return status;
  own->n_evaluations++;
  if (n_steps == 0) own->start = own->end;
  memcpy(x, u, n * sizeof *x);
  *report = *own;
  return GPNN_OK;
}

enum gpnn_status gpnn_optimize_adam(gpnn_objective *objective, void *context, size_t n,
                                    const struct gpnn_adam *adam, double *x,
                                    struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  struct gpnn_optimize_report own = {.outcome = "all steps are done"};
  double *gradient = gpnn_alloc(n, 5, sizeof *gradient);
  if (gradient == NULL) return gpnn_fail_memory(err, "for the optimiser");
  double *mean = gradient + n, *square = mean + n, *u = square + n, *before = u + n;
  double power1 = 1, power2 = 1, rate; /* beta1^t, beta2^t */
  enum gpnn_status status = GPNN_OK;
  memcpy(u, x, n * sizeof *x);
  memcpy(before, x, n * sizeof *x);
  for (size_t t = 0; t < adam->n_steps && status == GPNN_OK; t++) {
    status = objective(context, n, u, &own.end, gradient, err);
    if (status != GPNN_OK) break;
    if (t == 0) own.start = own.end;
    rate = rate_of(adam, t);
    power1 *= beta1;
    power2 *= beta2;
    for (size_t i = 0; i < n; i++) {
      mean[i] = beta1 * mean[i] + (1 - beta1) * gradient[i];
      square[i] = beta2 * square[i] + (1 - beta2) * gradient[i] * gradient[i];
      u[i] -= rate * (mean[i] / (1 - power1)) / (sqrt(square[i] / (1 - power2)) + epsilon);
      if (adam->lower != NULL) u[i] = fmin(fmax(u[i], adam->lower[i]), adam->upper[i]);
    }
    own.n_evaluations++;
    if (!stands_still(adam, t + 1, n, u, before)) continue;
    own.outcome = "nothing moves any more";
    break;
  }
  if (status == GPNN_OK)
    status = finish(objective, context, n, adam->n_steps, u, &own, x, report, err);
  free(gradient);
  return status;
}

/* ---- adagrad --------------------------------------------------------------------------- */

enum gpnn_status gpnn_optimize_adagrad(gpnn_objective *objective, void *context, size_t n,
                                       const struct gpnn_adagrad *adagrad, double *x,
                                       struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  const double epsilon = 1e-8;
  struct gpnn_optimize_report own = {.outcome = "all steps are done"};
  double *gradient = gpnn_alloc(n, 3, sizeof *gradient);
  if (gradient == NULL) return gpnn_fail_memory(err, "for the optimiser");
  double *squares = gradient + n, *u = squares + n;
  enum gpnn_status status = GPNN_OK;
  memcpy(u, x, n * sizeof *x);
  for (size_t t = 0; t < adagrad->n_steps && status == GPNN_OK; t++) {
    status = objective(context, n, u, &own.end, gradient, err);
    if (status != GPNN_OK) break;
    if (t == 0) own.start = own.end;
    for (size_t i = 0; i < n; i++) {
      squares[i] += gradient[i] * gradient[i];
      u[i] -= adagrad->rate * gradient[i] / (sqrt(squares[i]) + epsilon);
      if (adagrad->lower != NULL) u[i] = fmin(fmax(u[i], adagrad->lower[i]), adagrad->upper[i]);
    }
    own.n_evaluations++;
  }
  if (status == GPNN_OK)
    status = finish(objective, context, n, adagrad->n_steps, u, &own, x, report, err);
  free(gradient);
  return status;
}
