/*
 * Coordinates as kernels see them: as they are, as ranks, as logarithms or as numbers of tasks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "kernel/factor.h"

/* The ranks of one column: distinct values in ascending order, each with the mean rank of those
 * that share it. */
struct ranks {
  size_t n;
  double *value, *rank; /* n of each, at most as many as there are levels */
  double mean, sd;      /* of the ranks of all levels */
};

static void collect(struct ranks *ranks, size_t n_levels, const double *sorted)
{
  double squares = 0;
  ranks->n = 0;
  ranks->mean = 0.5 * (double)(n_levels - 1);
  for (size_t i = 0, end; i < n_levels; i = end) {
    for (end = i + 1; end < n_levels && sorted[end] == sorted[i];) end++;
    double rank = 0.5 * (double)(i + end - 1), off = rank - ranks->mean;
    ranks->value[ranks->n] = sorted[i];
    ranks->rank[ranks->n++] = rank;
    squares += (double)(end - i) * off * off;
  }
  ranks->sd = ranks->n > 1 ? sqrt(squares / (double)n_levels) : 1;
}

/* Linear between known values; beyond them on along the last step, but no farther than one rank. */
static double find_rank(const struct ranks *ranks, double x)
{
  if (ranks->n == 1) return ranks->rank[0];
  size_t low = gpnn_find_segment(ranks->n, ranks->value, x), high = low + 1;
  double share = (x - ranks->value[low]) / (ranks->value[high] - ranks->value[low]);
  double rank = ranks->rank[low] + share * (ranks->rank[high] - ranks->rank[low]);
  return fmin(fmax(rank, ranks->rank[0] - 1), ranks->rank[ranks->n - 1] + 1);
}

static void rank_column(struct ranks *ranks, size_t d, size_t j, size_t n_levels,
                        const double *levels, double *sorted, size_t n, const double *x,
                        double *prepared)
{
  for (size_t i = 0; i < n_levels; i++) sorted[i] = levels[i * d + j];
  qsort(sorted, n_levels, sizeof *sorted, gpnn_compare_doubles);
  collect(ranks, n_levels, sorted);
  for (size_t i = 0; i < n; i++)
    prepared[i * d + j] = (find_rank(ranks, x[i * d + j]) - ranks->mean) / ranks->sd;
}

static enum gpnn_status prepare_ranks(size_t d, size_t n_levels, const double *levels, size_t n,
                                      const double *x, double *prepared, struct gpnn_error *err)
{
  double *scratch = gpnn_alloc(n_levels, 3, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, "for ranks");
  struct ranks ranks = {.value = scratch, .rank = scratch + n_levels};
  for (size_t j = 0; j < d; j++)
    rank_column(&ranks, d, j, n_levels, levels, scratch + 2 * n_levels, n, x, prepared);
  free(scratch);
  return GPNN_OK;
}

static enum gpnn_status prepare_logarithms(size_t n, const double *x, double *prepared,
                                           struct gpnn_error *err)
{
  for (size_t i = 0; i < n; i++) {
    if (!(x[i] > 0))
      return gpnn_fail(err, GPNN_EDATA,
                       "%g has no logarithm: the scale of this factor needs "
                       "numbers above 0",
                       x[i]);
    prepared[i] = log(x[i]);
  }
  return GPNN_OK;
}

/* Replaces tasks by their numbers.  There are few, so each is looked for from the first on. */
static enum gpnn_status prepare_tasks(size_t n_tasks, const double *tasks, size_t n,
                                      const double *x, double *prepared, struct gpnn_error *err)
{
  double *numbers = gpnn_alloc(n, 1, sizeof *numbers); /* as 'prepared' may be 'tasks' */
  if (numbers == NULL) return gpnn_fail_memory(err, "for tasks");
  for (size_t i = 0; i < n; i++) {
    size_t task = 0;
    while (task < n_tasks && tasks[task] != x[i]) task++;
    if (task == n_tasks) {
      free(numbers);
      return gpnn_fail(err, GPNN_EDATA, "%g is none of the %zu tasks", x[i], n_tasks);
    }
    numbers[i] = (double)task;
  }
  memcpy(prepared, numbers, n * sizeof *numbers);
  free(numbers);
  return GPNN_OK;
}

enum gpnn_status gpnn_factor_prepare(const struct gpnn_factor *factor, size_t d, size_t n_levels,
                                     const double *levels, size_t n, const double *x,
                                     double *prepared, struct gpnn_error *err)
{
  if (factor->n_terms == 0)
    return prepare_tasks(n_levels < factor->n_tasks ? n_levels : factor->n_tasks, levels, n, x,
                         prepared, err);
  if (factor->inputs == GPNN_FACTOR_RANKS && n_levels > 0)
    return prepare_ranks(d, n_levels, levels, n, x, prepared, err);
  if (factor->inputs == GPNN_FACTOR_LOG) return prepare_logarithms(n * d, x, prepared, err);
  if (prepared != x) memmove(prepared, x, n * d * sizeof *x);
  return GPNN_OK;
}
