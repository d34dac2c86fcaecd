/*
 * sparse: what gpnn-sparse does: its arguments, how they are completed, and the work.
 */
#ifndef GPNN_CMD_SPARSE_SPARSE_H
#define GPNN_CMD_SPARSE_SPARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "cmd/common/trace.h"
#include "kernel/parameters.h"
#include "models/inducing/collapsed/collapsed.h"
#include "models/inducing/collapsed/fit.h"
#include "models/inducing/diag/fit.h"

enum sparse_ard { SPARSE_ARD_YES, SPARSE_ARD_NO };

struct sparse_arguments {
  enum gpnn_family family;
  size_t inducing, sample, steps;
  enum sparse_ard ard;
  enum gpnn_likelihood likelihood;
  const char *output, *points, *kernel, *start, *targets;
  double fixed_lengthscale, fixed_kernelscale, fixed_noise; /* 0: not fixed */
  const char *points_file;                                  /* NULL: they are chosen */
  /* Of the diagonal family, and iterations, batch and rate (0: the usual) of svgp: */
  enum gpnn_diag_optimizer optimizer;
  enum gpnn_diag_solver_kind solver;
  enum gpnn_truncation truncation;
  size_t iterations, batch, probes, polish;
  double rate, head, tolerance, beta;
  const char *trace; /* NULL: none */
  struct gpnn_collapsed_options collapsed;
  struct gpnn_svgp_options svgp;
};

/* Checks what can be known without the index; false after a refusal. */
bool sparse_resolve(const struct cli *cli, void *arguments);

/* Refuses options of the diagonal family for another one; false after a refusal. */
bool sparse_resolve_diag(const struct cli *cli, const struct sparse_arguments *arguments);

/* Estimates the target of 'view' by the diagonal family, whose kernel and inducing points are asked
 * for as in 'options' of the collapsed one; its steps go into 'trace'.  Outcomes of
 * gpnn_diag_fit(). */
GPNN_MUST_CHECK enum gpnn_status
sparse_fit_diag(const struct cli *cli, const struct sparse_arguments *arguments,
                const struct gpnn_collapsed_options *options, const struct gpnn_dataset *view,
                struct trace *trace, struct gpnn_parameters *params, struct gpnn_state *arrays,
                struct gpnn_collapsed_report *report, struct gpnn_error *err);

enum gpnn_status sparse_run(const struct cli *cli, void *arguments, struct gpnn_error *err);

#endif
