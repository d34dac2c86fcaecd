/* Learning the weights of models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "combine/combine.h"
#include "linalg/arrays.h"
#include "stats/distributions/student.h"

/* Expectation and maximisation ends when no weight, or the spread of itself, moves by this, or
 * after so many rounds. */
static const double tolerance = 1e-8;
enum { MOST_ROUNDS = 2000 };

/* The rows that all models have a prediction of. */
struct lesson {
  size_t n, n_rows;
  double *means, *variances, *df, *truth; /* owned */
  struct gpnn_arrays *arrays;             /* owned; what frees the arrays */
};

static bool is_whole(size_t n, const double *means, double truth)
{
  for (size_t i = 0; i < n; i++)
    if (isnan(means[i])) return false;
  return !isnan(truth);
}

static enum gpnn_status lesson_make(struct lesson *l, size_t n, size_t n_rows, const double *means,
                                    const double *variances, const double *df, const double *truth,
                                    struct gpnn_error *err)
{
  *l = (struct lesson){.n = n};
  l->arrays = GPNN_ARRAYS(GPNN_ARRAY(l->means, n_rows, n), GPNN_ARRAY(l->variances, n_rows, n),
                          GPNN_ARRAY(l->df, n_rows, n), GPNN_ARRAY(l->truth, n_rows, 1));
  if (l->arrays == NULL) return gpnn_fail_memory(err, "to learn weights");
  for (size_t r = 0; r < n_rows; r++) {
    if (!is_whole(n, means + r * n, truth[r])) continue;
    memcpy(l->means + l->n_rows * n, means + r * n, n * sizeof *means);
    memcpy(l->variances + l->n_rows * n, variances + r * n, n * sizeof *variances);
    memcpy(l->df + l->n_rows * n, df + r * n, n * sizeof *df);
    l->truth[l->n_rows++] = truth[r];
  }
  if (l->n_rows > n) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA,
                   "weights of %zu models cannot be learnt from %zu rows that have a truth and a "
                   "prediction of each model",
                   n, l->n_rows);
}

/* ---- the mixture ---------------------------------------------------------------------------- */

/* Adds to 'next' (n) how far each model is responsible for a row. */
static void add_responsibility(const struct lesson *l, size_t r, const double *weights,
                               double *density, double *next)
{
  double best = INFINITY, sum = 0;
  for (size_t i = 0; i < l->n; i++) {
    const size_t at = r * l->n + i;
    density[i] =
        gpnn_student_nll(l->truth[r] - l->means[at],
                         sqrt(l->variances[at]) * gpnn_student_unit_scale(l->df[at]), l->df[at]);
    best = fmin(best, density[i]);
  }
  for (size_t i = 0; i < l->n; i++) sum += density[i] = weights[i] * exp(best - density[i]);
  for (size_t i = 0; i < l->n && sum > 0; i++) next[i] += density[i] / sum / (double)l->n_rows;
}

static enum gpnn_status learn_mixture(const struct lesson *l, double *weights,
                                      struct gpnn_error *err)
{
  double *scratch = gpnn_alloc(2, l->n, sizeof *scratch), moved = INFINITY;
  if (scratch == NULL) return gpnn_fail_memory(err, "to learn weights");
  for (size_t i = 0; i < l->n; i++) weights[i] = 1 / (double)l->n;
  for (size_t round = 0; round < MOST_ROUNDS && moved > tolerance; round++) {
    double *next = scratch + l->n, sum = 0;
    memset(next, 0, l->n * sizeof *next);
    for (size_t r = 0; r < l->n_rows; r++) add_responsibility(l, r, weights, scratch, next);
    for (size_t i = 0; i < l->n; i++) sum += next[i];
    moved = sum > 0 ? 0 : -1; /* no model gives any row a density that a double can hold */
    for (size_t i = 0; i < l->n && sum > 0; i++) {
      moved = fmax(moved, fabs(next[i] / sum - weights[i]));
      weights[i] = next[i] / sum;
    }
  }
  free(scratch);
  return GPNN_OK;
}

/* ---- the weighted mean ---------------------------------------------------------------------- */

/* The matrix of mean products of the models' errors, on whose quadratic form the squared error of a
 * weighted mean with weights of sum 1 depends. */
static void multiply_errors(const struct lesson *l, double *products)
{
  memset(products, 0, l->n * l->n * sizeof *products);
  for (size_t r = 0; r < l->n_rows; r++)
    for (size_t i = 0; i < l->n; i++)
      for (size_t j = 0; j < l->n; j++)
        products[i * l->n + j] += (l->means[r * l->n + i] - l->truth[r]) *
                                  (l->means[r * l->n + j] - l->truth[r]) / (double)l->n_rows;
}

/*
 * The weights, none negative and of sum 1, with the least w'Pw, by moving weight between two models
 * at a time, from the one whose derivative is largest among those with weight to the one whose is
 * least. Each step ends at the least of its line, and the problem is convex.
 */
static void minimise(size_t n, const double *products, double *gradient, double *weights)
{
  const size_t most = 1000 * n;
  for (size_t i = 0; i < n; i++) weights[i] = 1 / (double)n;
  for (size_t step = 0; step < most; step++) {
    size_t from = 0, to = 0;
    for (size_t i = 0; i < n; i++) {
      gradient[i] = 0;
      for (size_t j = 0; j < n; j++) gradient[i] += products[i * n + j] * weights[j];
    }
    for (size_t i = 0; i < n; i++) {
      if (gradient[i] < gradient[to]) to = i;
      if (weights[i] > 0 && (weights[from] == 0 || gradient[i] > gradient[from])) from = i;
    }
    const double slope = gradient[from] - gradient[to];
    const double curve =
        products[from * n + from] + products[to * n + to] - 2 * products[from * n + to];
    if (!(slope > tolerance * fabs(gradient[from]))) break;
    const double moved = curve > 0 ? fmin(slope / curve, weights[from]) : weights[from];
    weights[from] -= moved;
    weights[to] += moved;
  }
}

/* The spread with the largest likelihood of errors of the rows, 'squares' in units of their
 * variances: the mean square, of Student's t with less weight for what its tails make likely. */
static double likely_spread(const struct lesson *l, const double *squares, const double *degrees)
{
  double spread = 0;
  for (size_t r = 0; r < l->n_rows; r++) spread += squares[r] / (double)l->n_rows;
  for (size_t round = 0; round < MOST_ROUNDS && spread > 0; round++) {
    const double before = spread;
    spread = 0;
    for (size_t r = 0; r < l->n_rows; r++) {
      const double df = degrees[r],
                   weight = isinf(df) ? 1 : (df + 1) / (df - 2 + squares[r] / before);
      spread += weight * squares[r] / (double)l->n_rows;
    }
    if (fabs(spread - before) <= tolerance * before) break;
  }
  return spread > 0 ? spread : 1;
}

/* What stands in for a variance that is missing is the mean square of the mean's errors. */
static void learn_spread(const struct lesson *l, const double *weights, double *squares,
                         double *degrees, double *spread, double *spare_variance)
{
  struct gpnn_combine_settings s = {
      .rule = GPNN_COMBINE_STACK, .n = l->n, .weights = weights, .spread = 1};
  double square = 0;
  for (size_t r = 0; r < l->n_rows; r++) {
    const double *mean = l->means + r * l->n, *variance = l->variances + r * l->n;
    const double error = gpnn_combine(&s, mean, variance, NULL, NULL).mean - l->truth[r];
    square += error * error / (double)l->n_rows;
  }
  s.spare_variance = *spare_variance = square;
  for (size_t r = 0; r < l->n_rows; r++) {
    const struct gpnn_combined c =
        gpnn_combine(&s, l->means + r * l->n, l->variances + r * l->n, l->df + r * l->n, NULL);
    const double error = c.mean - l->truth[r];
    squares[r] = c.variance > 0 ? error * error / c.variance : 0;
    degrees[r] = c.df;
  }
  *spread = likely_spread(l, squares, degrees);
}

static enum gpnn_status learn_stack(const struct lesson *l, double *weights, double *spread,
                                    double *spare_variance, struct gpnn_error *err)
{
  double *products = gpnn_alloc(l->n, l->n + 1, sizeof *products);
  double *squares = gpnn_alloc(l->n_rows, 2, sizeof *squares);
  const bool done = products != NULL && squares != NULL;
  if (done) {
    multiply_errors(l, products);
    minimise(l->n, products, products + l->n * l->n, weights);
    learn_spread(l, weights, squares, squares + l->n_rows, spread, spare_variance);
  }
  free(products);
  free(squares);
  return done ? GPNN_OK : gpnn_fail_memory(err, "to learn weights");
}

void gpnn_combine_add_truths(struct gpnn_combine_truths *truths, size_t n_rows, const double *truth)
{
  for (size_t r = 0; r < n_rows; r++) {
    if (isnan(truth[r])) continue;
    const double before = truth[r] - truths->mean;
    truths->mean += before / (double)++truths->n;
    truths->squares += before * (truth[r] - truths->mean);
  }
}

bool gpnn_combine_prior(const struct gpnn_combine_truths *truths, double *mean, double *variance)
{
  *mean = truths->mean;
  *variance = truths->n > 0 ? truths->squares / (double)truths->n : 0;
  return *variance > 0;
}

enum gpnn_status gpnn_combine_learn(enum gpnn_combine_rule rule, size_t n, size_t n_rows,
                                    const double *means, const double *variances, const double *df,
                                    const double *truth, double *weights, double *spread,
                                    double *spare_variance, struct gpnn_error *err)
{
  struct lesson lesson;
  enum gpnn_status status = lesson_make(&lesson, n, n_rows, means, variances, df, truth, err);
  *spread = 1;
  *spare_variance = 0;
  if (status == GPNN_OK)
    status = rule == GPNN_COMBINE_STACK ? learn_stack(&lesson, weights, spread, spare_variance, err)
                                        : learn_mixture(&lesson, weights, err);
  gpnn_arrays_free(lesson.arrays);
  return status;
}
