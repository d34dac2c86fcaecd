/*
 * sobol: which share of the variance of a model's function each column causes, if the columns were
 * independent (Sobol' 1993; Homma and Saltelli 1996).
 *
 *   first   the share that the column explains by itself
 *   total   the share that is left if all other columns are known: its own, and that of all
 *           interactions that it takes part in
 *
 * Both are estimated as Jansen (1999) does, from f at quasi-random points (stats/halton.h) a and b,
 * and at c, which is a with the column of b:
 *
 *   total = mean (fa - fc)^2 / (2 V)
 *   first = 1 - mean (fb - fc)^2 / (2 V) - (1 - total) r,   r = 1 - mean (fa - fb)^2 / (2 V)
 *
 * where V is the variance of f at a and b or, in the second term of 'first', at b and c.  r is 0
 * but for chance, which it has in common with that term as far as a and c agree.
 *
 * Source: gpnn-methods-explain(7), equations 22.8 to 22.11.
 *
 * Indices are computed of each joint draw of the function (explain/surrogate.h), and averaged over
 * draws; intervals, of draws that also resample stretches of points, hold both what the model does
 * not know and what the points leave open (Le Gratiet, Cannamela and Iooss 2014).
 * Threads: those of the model; no result depends on their number.
 */
#ifndef GPNN_EXPLAIN_SOBOL_H
#define GPNN_EXPLAIN_SOBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "explain/columns.h"
#include "models/model.h"

enum gpnn_sobol_inputs {
  GPNN_SOBOL_OWN,     /* each column is distributed as in the training rows */
  GPNN_SOBOL_UNIFORM, /* uniformly between its ends there, over its levels or its period; what has
                         no single axis (explain/axis.h) as in the training rows */
};

struct gpnn_sobol_options {
  enum gpnn_sobol_inputs inputs;
  size_t n_rows;  /* > 1: pairs of points */
  size_t n_draws; /* > 0 */
  double level;   /* of intervals, in (0, 1) */
  bool pairs;     /* also of any two of the sets */
  uint64_t seed;
};

struct gpnn_sobol_estimate {
  double mean, lower, upper;
};

struct gpnn_sobol_index {
  struct gpnn_sobol_estimate first, total;
};

/* The most points: (2 + indices) times n_rows. */
enum { GPNN_SOBOL_MOST = 65536 };

/* Which two of 'n' sets pair 'k' is of: (0, 1), (0, 2) ... (1, 2) ... */
void gpnn_sobol_pair(size_t n, size_t k, size_t *left, size_t *right);

/*
 * Finds the indices of 'n' columns, or sets of them, which are of the dataset of 'model', a model
 * with one channel; all 'columns' vary.  'view' as for gpnn_axis_init().  'variance' becomes that
 * of the function, in the units of the target squared.  What the model does not see has indices of
 * 0.  Those of all pairs follow: 'first' is the share of their interaction alone, and 'total' what
 * is left if all others are known.  GPNN_EDATA: the target holds classes, or the points are too
 * many.  Otherwise outcomes as for gpnn_surrogate_evaluate().
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_sobol_find(const struct gpnn_model *model, const struct gpnn_dataset *view,
                const struct gpnn_explain_columns *columns, size_t n,
                const struct gpnn_explain_group *const *chosen,
                const struct gpnn_sobol_options *options, struct gpnn_sobol_index *indices,
                double *variance, struct gpnn_error *err);

#endif
