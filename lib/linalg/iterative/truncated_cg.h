/*
 * truncated_cg: solving A X = B by conjugate gradients (linalg/iterative/cg.h) that end at random,
 * so that the mean over many solutions is the one that stops at a small residual, in fewer steps
 * (gpnn-methods-sparse(7), equations 17.28 to 17.31).
 *
 * Source: Filippone and Engler (2015), Enabling scalable stochastic gradient-based inference for
 * Gaussian processes by employing the Unbiased LInear System SolvEr; Thomas (2017), section 3.2.
 *
 * All steps down to the residual 'head' are taken.  After each further one a column ends with some
 * probability, and those that go on count their later steps as many times as makes up for that.
 * The solution is unbiased for that of the tolerance, not for A^-1 B.  Its variance is finite, but
 * grows fast with the rate, and then sits in events too rare to be ever seen: let
 * gpnn_truncated_cg_pilot() choose the rate.
 *
 * Where products of two solutions are averaged, they are unbiased only if the two have streams of
 * their own.
 */
#ifndef GPNN_LINALG_TRUNCATED_CG_H
#define GPNN_LINALG_TRUNCATED_CG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "linalg/iterative/cg.h"

/* When conjugate gradients stop. */
enum gpnn_truncation {
  GPNN_TRUNCATION_NONE = 0,      /* at the tolerance */
  GPNN_TRUNCATION_GEOMETRIC = 1, /* at random below 'head', after each step with the same
                                    probability */
  GPNN_TRUNCATION_QUADRATIC = 2, /* the same, with a probability that rises step by step */
};

struct gpnn_truncated_cg_options {
  enum gpnn_truncation truncation;
  double head; /* residual, relative as in linalg/iterative/cg.h, below which a column may end */
  double tolerance;  /* residual at which it does end; 0 < tolerance <= head */
  double rate;       /* >= 0; of geometric truncation the logarithm of c, of quadratic truncation b
                        (17.29); NONE ignores it */
  size_t most_steps; /* of a column, at least 1 */
  uint64_t seed;     /* of the truncation */
  uint64_t first;    /* column j draws from stream 'first' + j of the seed, whatever other columns
                        do */
  int threads;       /* of the vectors' sums; at least 1 */
};

/* How solutions went; the numbers of a call are added to those of earlier ones. */
struct gpnn_truncated_cg_report {
  size_t n;           /* columns solved */
  size_t steps, most; /* of all together; of the one that took most */
  size_t tail;        /* of the steps, those below 'head' */
  size_t n_capped;    /* columns that ended at most_steps above the tolerance: they are biased */
  size_t n_refused;   /* columns whose next step could have counted more than exp(50), so that they
                         ended: biased too */
  double most_weight; /* the largest weight of a step; 0: no step was taken */
};

/*
 * Solves for 'columns' right-hand sides 'b', a block as in linalg/iterative/cg.h, and so are the
 * solutions 'x', which start at 0.  'steps' (zeroed, or NULL if unwanted) gets those of all
 * columns, and is the caller's to release, after a failure too.  Memory: five more blocks, or four
 * without a preconditioner.  columns = 0 does nothing.
 *
 * Outcomes of gpnn_cg_solve(), after which 'x' is undefined; 'report' is then as it was.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_truncated_cg_solve(const struct gpnn_cg_matrix *matrix, size_t columns, const double *b,
                        double *x, const struct gpnn_truncated_cg_options *options,
                        struct gpnn_cg_steps *steps, struct gpnn_truncated_cg_report *report,
                        struct gpnn_error *err);

/* The inverse of a matrix, as linalg/iterative/cg.h multiplies by it: by solutions. */
struct gpnn_inverse {
  const struct gpnn_cg_matrix *matrix;
  struct gpnn_truncated_cg_options options; /* 'first' rises by the columns of each product; a rate
                                               of 0 is chosen by the columns of the first one */
  struct gpnn_truncated_cg_report report;
};

/* X = A^-1 B, a gpnn_cg_product of a struct gpnn_inverse; outcomes of gpnn_truncated_cg_solve(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_inverse_multiply(void *inverse, size_t columns,
                                                       const double *b, double *x,
                                                       struct gpnn_error *err);

/*
 * The rate that suits solutions with 'tail' steps between head and tolerance, a mean over some
 * (17.31): with it, geometric truncation has a finite variance, and the last quadratic weight is
 * head / tolerance.  0 for no random truncation, and where head and tolerance are the same.
 */
double gpnn_truncation_rate(enum gpnn_truncation truncation, double head, double tolerance,
                            double tail);

/* Solves without random truncation, forgets the solutions, and sets options->rate to what suits
 * their steps; adds to 'report' as gpnn_truncated_cg_solve(), whose outcomes it has, and
 * GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_truncated_cg_pilot(const struct gpnn_cg_matrix *matrix,
                                                         size_t columns, const double *b,
                                                         struct gpnn_truncated_cg_options *options,
                                                         struct gpnn_truncated_cg_report *report,
                                                         struct gpnn_error *err);

#endif
