/*
 * tucker: gpnn-tucker, from its arguments to its output.
 */
#ifndef GPNN_CMD_TUCKER_TUCKER_H
#define GPNN_CMD_TUCKER_TUCKER_H

#include "cmd/common/cli.h"
#include "kernel/parameters.h"
#include "models/tucker/fit.h"

enum tucker_placing { TUCKER_UNIFORM, TUCKER_QUANTILE };
enum tucker_mean { TUCKER_FULL, TUCKER_KRON_SUM };
enum tucker_covariance { TUCKER_KRON, TUCKER_PRIOR };
enum tucker_free { TUCKER_NOISE, TUCKER_KERNELSCALE };

/* Strings are those of the command line; NULL: not given. */
struct tucker_arguments {
  const char *output, *ranks, *sizes, *kernel, *targets, *trace;
  enum tucker_placing placing;
  enum tucker_mean mean;
  enum tucker_covariance covariance;
  struct cli_choices freed; /* of enum tucker_free */
  enum gpnn_likelihood likelihood;
  struct gpnn_tucker_options fit; /* completed by tucker_resolve(), except for the threads */
};

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool tucker_resolve(const struct cli *cli, void *arguments);

/* Checks them against the inputs that there are.  GPNN_EINVAL: too many inputs, a number of ranks
 * or sizes that is not theirs, or a core that is too large. */
GPNN_MUST_CHECK enum gpnn_status tucker_match(const struct tucker_arguments *a, size_t n_inputs,
                                              struct gpnn_error *err);

/* Estimates and writes the model: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status tucker_run(const struct cli *cli, void *arguments,
                                            struct gpnn_error *err);

#endif
