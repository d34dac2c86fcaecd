/*
 * coverage: how good predicted intervals are, wherever they come from.
 *
 * Of an interval [l, u] that ought to hold the truth y with probability p = 1 - alpha:
 *   coverage: the share of rows with l <= y <= u;   width: the mean of u - l;
 *   score: the mean of u - l + 2/alpha (l - y) [y < l] + 2/alpha (y - u) [y > u]
 * (gpnn-methods(7), equations 9.10 to 9.12).  The score is proper: it is least on
 * average for the true quantiles.
 */
#ifndef GPNN_STATS_COVERAGE_H
#define GPNN_STATS_COVERAGE_H

#include <stddef.h>

#include "base/status.h"
#include "stats/sum.h"

/* A zeroed object is empty.  No memory is owned. */
struct gpnn_coverage {
  size_t n, n_covered;
  struct gpnn_sum width, outside; /* outside: by how much truths miss their intervals */
};

struct gpnn_coverage_result {
  size_t n; /* rows added; with none the rest is NaN */
  double coverage, width, score;
};

/* Adds one row; the bounds may be infinite.  GPNN_EDATA: lower is above upper. */
GPNN_MUST_CHECK enum gpnn_status gpnn_coverage_add(struct gpnn_coverage *coverage, double truth,
                                                   double lower, double upper,
                                                   struct gpnn_error *err);

/* 'level' is p in (0, 1), or NaN where it is not known: then so is the score. */
struct gpnn_coverage_result gpnn_coverage_result(const struct gpnn_coverage *coverage,
                                                 double level);

/* The standard error of a coverage counted over 'n' rows if p = 'level' is the truth:
 * sqrt(p (1 - p) / n). */
double gpnn_coverage_se(double level, size_t n);

#endif
