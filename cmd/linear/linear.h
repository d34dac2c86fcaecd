/*
 * linear: what gpnn-linear does: solutions with a matrix of covariances, and estimates of its
 * trace, diagonal and determinant.
 */
#ifndef GPNN_CMD_LINEAR_LINEAR_H
#define GPNN_CMD_LINEAR_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "linalg/dense.h"
#include "linalg/truncated_cg.h"

enum linear_kind { LINEAR_SOLVE, LINEAR_TRACE, LINEAR_DIAGONAL, LINEAR_LOGDET, LINEAR_KINDS };

struct linear_arguments {
  const char *params, *target; /* NULL: not given */
  size_t rows;                 /* 0: not given */
  size_t repeat, probes;
  bool exact;
  struct gpnn_truncated_cg_options solver; /* rate 0: not given */
  enum linear_kind kind;                   /* linear_resolve() finds it */
};

/* The defaults. */
#define LINEAR_ARGUMENTS_INIT                                                                  \
  {                                                                                            \
    .repeat = 1, .probes = 8, .solver = {.head = 1e-2, .tolerance = 1e-6, .most_steps = 1000 } \
  }

/* The names of the kinds: a struct cli_tool's 'first_operand'. */
const char *linear_kind_name(size_t i);

/* A struct cli_tool's 'resolve' and 'run'. */
bool linear_resolve(const struct cli *cli, void *arguments);
GPNN_MUST_CHECK enum gpnn_status linear_run(const struct cli *cli, void *arguments,
                                            struct gpnn_error *err);

/* A run: the matrix, and how its solutions go. */
struct linear {
  const struct cli *cli;
  const struct linear_arguments *a;
  const char *name; /* of the file that the matrix comes from */
  size_t n;         /* order of the matrix */
  double *k;        /* owned: the matrix, n by n; below its diagonal the factor, if exact */
  double *diagonal; /* owned: n: its diagonal */
  double kernelscale;
  struct gpnn_dense dense; /* the same as a product */
  struct gpnn_cg_matrix matrix;
  struct gpnn_inverse inverse; /* of it */
  struct gpnn_output *output;
};

/* Makes the matrix of the model or index that is the second operand. */
GPNN_MUST_CHECK enum gpnn_status linear_make_matrix(struct linear *run, struct gpnn_error *err);

/* Replaces the matrix by its Cholesky factor. */
GPNN_MUST_CHECK enum gpnn_status linear_factor(struct linear *run, struct gpnn_error *err);

/* Chooses the rate of truncation by solutions for 'columns' right-hand sides, unless it is given or
 * not wanted. */
GPNN_MUST_CHECK enum gpnn_status linear_choose_rate(struct linear *run, size_t columns,
                                                    const double *b, struct gpnn_error *err);

/* Solves for the rows of a table, or estimates. */
GPNN_MUST_CHECK enum gpnn_status linear_solve(struct linear *run, struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status linear_estimate(struct linear *run, struct gpnn_error *err);

#endif
