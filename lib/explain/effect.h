/*
 * effect: what a column does to the function that a model has learnt.
 *
 *   ale   accumulated local effects (Apley and Zhu 2020): how much the function changes, on average
 *         over the rows that are near each value, as the column goes from one value of a grid to
 *         the next, added up from the first; the average over all rows is 0.  Rows are changed only
 *         as far as to the next value, so that columns that depend on each other do no harm.  From
 *         one level of a category to the next, rows of both count.
 *   pdp   partial dependence (Friedman 2001): the average of the function over rows that all have
 *         been given the value or, of two columns, two values: a surface.
 *   ice   the same of single rows: individual conditional expectations (Goldstein et al. 2015).
 *
 * Source: gpnn-methods-explain(7), equations 22.5 to 22.7.
 *
 * Intervals come from joint draws of the function (explain/surrogate.h); those of averages are also
 * about which rows there are, as each draw resamples them.
 * Threads: those of the model; no result depends on their number.
 */
#ifndef GPNN_EXPLAIN_EFFECT_H
#define GPNN_EXPLAIN_EFFECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "explain/axis.h"
#include "models/model.h"

enum gpnn_effect_kind { GPNN_EFFECT_ALE, GPNN_EFFECT_PDP, GPNN_EFFECT_ICE };

struct gpnn_effect_options {
  enum gpnn_effect_kind kind;
  size_t n_values; /* > 1: of the grid, at most, unless of a category: all, or quantiles */
  size_t n_rows;   /* training rows, at most; 0: as many as make the draws exact */
  size_t n_draws;  /* > 0 */
  double level;    /* of intervals, in (0, 1) */
  uint64_t seed;
};

/* The effect at a value. */
struct gpnn_effect_point {
  double value;  /* on the axis */
  double second; /* on that of the second column, if there is one */
  double effect, lower, upper;
  size_t row; /* of ice: which training row it is of; of the others how many count: of ale those
                 that came here from the value before, of a category those of the level */
};

struct gpnn_effect {
  size_t n;
  struct gpnn_effect_point *points; /* owned; by value, and of a surface then by the second; of ice
                                       those of one row after another's */
};

/*
 * Finds the effect of the column of 'axis', which is of the dataset of 'model', a model with one
 * channel, or with 'second' (NULL: none) the partial dependence on two.  GPNN_EDATA: the target
 * holds classes, the column has one value, or no row has a value. GPNN_EINVAL: the model knows no
 * draws.  Otherwise outcomes as for gpnn_surrogate_evaluate(). 'effect' must be zeroed; the caller
 * frees its points.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_effect_find(struct gpnn_effect *effect,
                                                  const struct gpnn_model *model,
                                                  struct gpnn_axis *axis, struct gpnn_axis *second,
                                                  const struct gpnn_effect_options *options,
                                                  struct gpnn_error *err);

#endif
