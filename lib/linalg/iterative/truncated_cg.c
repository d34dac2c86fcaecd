#include "linalg/iterative/truncated_cg.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"

/* The logarithm of the largest weight: a step that counts more would drown all others. */
static const double most_log_weight = 50;

struct column {
  size_t steps, tail; /* taken; of these below the head */
  double log_weight;  /* of the last step */
  double most_log_weight;
  bool is_past_head, is_capped, is_refused;
  struct gpnn_rng rng;
};

struct run {
  const struct gpnn_truncated_cg_options *options;
  struct column *column;
};

/* ---- weights -------------------------------------------------------------------------------- */

/* The logarithm of how much more a column's next step counts than its last (17.29). */
static double log_factor(const struct gpnn_truncated_cg_options *options, size_t tail)
{
  switch (options->truncation) {
  case GPNN_TRUNCATION_GEOMETRIC:
    return tail == 0 ? 0 : options->rate;
  case GPNN_TRUNCATION_QUADRATIC:
    return options->rate * (double)tail;
  case GPNN_TRUNCATION_NONE:
    break;
  }
  return 0;
}

/* What the next step of a column below the head counts; 0: there is none. */
static double draw_weight(const struct gpnn_truncated_cg_options *options, struct column *c)
{
  double more = log_factor(options, c->tail);
  c->is_refused = c->log_weight + more > most_log_weight;
  if (c->is_refused || (more > 0 && gpnn_rng_uniform(&c->rng) >= exp(-more))) return 0;
  c->log_weight += more;
  return exp(c->log_weight);
}

static double weigh(void *context, size_t column, size_t step, double residual)
{
  const struct run *run = context;
  struct column *c = &run->column[column];
  c->steps = step;
  c->tail += c->is_past_head;
  c->most_log_weight = c->log_weight;
  if (residual <= run->options->head) c->is_past_head = true;
  if (residual <= run->options->tolerance) return 0;
  c->is_capped = step >= run->options->most_steps;
  if (c->is_capped) return 0;
  return c->is_past_head ? draw_weight(run->options, c) : 1;
}

/* ---- solutions ------------------------------------------------------------------------------ */

static void add(struct gpnn_truncated_cg_report *report, size_t n, const struct column *columns)
{
  report->n += n;
  for (size_t j = 0; j < n; j++) {
    const struct column *c = &columns[j];
    report->steps += c->steps;
    report->tail += c->tail;
    report->n_capped += c->is_capped;
    report->n_refused += c->is_refused;
    if (c->steps > report->most) report->most = c->steps;
    if (c->steps > 0) report->most_weight = fmax(report->most_weight, exp(c->most_log_weight));
  }
}

enum gpnn_status gpnn_truncated_cg_solve(const struct gpnn_cg_matrix *matrix, size_t columns,
                                         const double *b, double *x,
                                         const struct gpnn_truncated_cg_options *options,
                                         struct gpnn_cg_steps *steps,
                                         struct gpnn_truncated_cg_report *report,
                                         struct gpnn_error *err)
{
  struct run run = {.options = options, .column = gpnn_alloc(columns, 1, sizeof *run.column)};
  const struct gpnn_cg_options cg = {.tolerance = options->tolerance,
                                     .most_iterations = options->most_steps,
                                     .threads = options->threads,
                                     .weigh = weigh,
                                     .weigh_context = &run};
  struct gpnn_cg_report ignored;
  if (run.column == NULL) return gpnn_fail_memory(err, "for conjugate gradients");
  for (size_t j = 0; j < columns; j++)
    gpnn_rng_init_at(&run.column[j].rng, options->seed, GPNN_RNG_TRUNCATION, options->first + j);
  enum gpnn_status status = gpnn_cg_solve(matrix, columns, b, x, &cg, steps, &ignored, err);
  if (status == GPNN_OK) add(report, columns, run.column);
  free(run.column);
  return status;
}

/* ---- the rate ------------------------------------------------------------------------------- */

double gpnn_truncation_rate(enum gpnn_truncation truncation, double head, double tolerance,
                            double tail)
{
  double fall = log(head / tolerance), steps = fmax(tail, 1);
  switch (truncation) {
  case GPNN_TRUNCATION_GEOMETRIC:
    return log((1 + exp(2 * fall / steps)) / 2);
  case GPNN_TRUNCATION_QUADRATIC:
    return 2 * fall / (steps * (steps + 1));
  case GPNN_TRUNCATION_NONE:
    break;
  }
  return 0;
}

enum gpnn_status gpnn_truncated_cg_pilot(const struct gpnn_cg_matrix *matrix, size_t columns,
                                         const double *b, struct gpnn_truncated_cg_options *options,
                                         struct gpnn_truncated_cg_report *report,
                                         struct gpnn_error *err)
{
  struct gpnn_truncated_cg_options pilot = *options;
  size_t n = report->n, tail = report->tail;
  double *x = gpnn_alloc(matrix->outer * matrix->inner, columns, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, "for conjugate gradients");
  pilot.truncation = GPNN_TRUNCATION_NONE;
  enum gpnn_status status =
      gpnn_truncated_cg_solve(matrix, columns, b, x, &pilot, NULL, report, err);
  free(x);
  if (status != GPNN_OK) return status;
  n = report->n - n;
  tail = report->tail - tail;
  options->rate = gpnn_truncation_rate(options->truncation, options->head, options->tolerance,
                                       n == 0 ? 0 : (double)tail / (double)n);
  return GPNN_OK;
}

/* ---- products with the inverse --------------------------------------------------------------- */

enum gpnn_status gpnn_inverse_multiply(void *inverse, size_t columns, const double *b, double *x,
                                       struct gpnn_error *err)
{
  struct gpnn_inverse *v = inverse;
  struct gpnn_truncated_cg_report pilot = {0};
  enum gpnn_status status = GPNN_OK;
  if (v->options.truncation != GPNN_TRUNCATION_NONE && v->options.rate == 0)
    status = gpnn_truncated_cg_pilot(v->matrix, columns, b, &v->options, &pilot, err);
  if (status != GPNN_OK) return status;
  status = gpnn_truncated_cg_solve(v->matrix, columns, b, x, &v->options, NULL, &v->report, err);
  v->options.first += columns;
  return status;
}
