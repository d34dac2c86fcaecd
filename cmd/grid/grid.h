/*
 * grid: the modes of gpnn-grid, each a main() that reads what follows the mode on the command line.
 */
#ifndef GPNN_CMD_GRID_GRID_H
#define GPNN_CMD_GRID_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "container/state.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "models/grid/fit/choose.h"

/* argv[0] is the tool's name.  Each returns the exit status. */
int grid_index(int argc, char **argv);
int grid_fit(int argc, char **argv);
int grid_predict(int argc, char **argv);

/* ---- fit.c, fit_options.c: gpnn-grid fit ----------------------------------------------------- */

enum grid_fit_preset { GRID_FIT_OWN, GRID_FIT_PAPER };
enum grid_fit_nugget { GRID_FIT_NUGGET_AUTO, GRID_FIT_NUGGET_YES, GRID_FIT_NUGGET_NO };
enum grid_fit_estimator { GRID_FIT_ESTIMATOR_OPEN, GRID_FIT_PATHWISE, GRID_FIT_HUTCHINSON };
enum grid_fit_time { GRID_FIT_TIME_AUTO, GRID_FIT_TIME_LINEAR, GRID_FIT_TIME_LOG };

struct grid_fit_arguments {
  enum grid_fit_preset preset;
  enum gpnn_grid_effort effort;
  enum gpnn_grid_holdout holdout;
  enum grid_fit_nugget nugget;
  enum gpnn_grid_likelihood likelihood;
  enum grid_fit_time time_scale;
  enum grid_fit_estimator estimator;
  enum gpnn_grid_preconditioner precond;
  size_t steps, probes, rank, most_iterations;
  double rate, tolerance;
  const char *site_kernel, *time_kernel, *transform, *mean, *noise_per, *start;
  struct cli_list kernels, inputs, guesses, fixed;
  struct gpnn_grid_setting settings[2 * CLI_LIST_ITEMS];
  char names[2 * CLI_LIST_ITEMS][64]; /* of settings */
  struct gpnn_grid_choose_options choose;
  char kernel_text[GPNN_GRID_FACTORS][GPNN_GRID_KERNEL_BYTES];
};

/* Checks what can be known without the index; false after a refusal. */
bool grid_fit_resolve(const struct cli *cli, void *arguments);

/* Turns names of factors into their numbers.  GPNN_EINVAL: the grid has none of that name. */
GPNN_MUST_CHECK enum gpnn_status grid_fit_match(struct grid_fit_arguments *arguments,
                                                const struct gpnn_grid *grid,
                                                struct gpnn_error *err);

enum gpnn_status grid_fit_run(const struct cli *cli, void *arguments, struct gpnn_error *err);

#endif
