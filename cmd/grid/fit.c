/* gpnn-grid fit: the index of a grid in, estimated parameters out. */
#include "cmd/grid/fit.h"

#include "cmd/common/json.h"
#include "cmd/common/open.h"
#include "cmd/common/output.h"
#include "cmd/common/progress.h"
#include "cmd/grid/grid.h"
#include "dataset/grid.h"
#include "dataset/index.h"
#include "linalg/blas_threads.h"

#define ARGUMENTS struct grid_fit_arguments

static const struct cli_word efforts[] = {{"fast", GPNN_GRID_EFFORT_FAST},
                                          {"normal", GPNN_GRID_EFFORT_NORMAL},
                                          {"thorough", GPNN_GRID_EFFORT_THOROUGH},
                                          CLI_END_OF_WORDS};
static const struct cli_word presets[] = {{"paper", GRID_FIT_PAPER}, CLI_END_OF_WORDS};
static const struct cli_word estimators[] = {
    {"pathwise", GRID_FIT_PATHWISE}, {"hutchinson", GRID_FIT_HUTCHINSON}, CLI_END_OF_WORDS};
static const struct cli_word preconditioners[] = {
    {"auto", GPNN_GRID_PRECONDITION_AUTO},       {"eigen", GPNN_GRID_PRECONDITION_EIGEN},
    {"pivoted", GPNN_GRID_PRECONDITION_PIVOTED}, {"grid", GPNN_GRID_PRECONDITION_GRID},
    {"none", GPNN_GRID_PRECONDITION_NONE},       CLI_END_OF_WORDS};
static const struct cli_word holdouts[] = {{"auto", GPNN_GRID_HOLDOUT_AUTO},
                                           {"uniform", GPNN_GRID_HOLDOUT_UNIFORM},
                                           {"trailing", GPNN_GRID_HOLDOUT_TRAILING},
                                           {"levels", GPNN_GRID_HOLDOUT_LEVELS},
                                           CLI_END_OF_WORDS};
static const struct cli_word likelihoods[] = {{"auto", GPNN_GRID_LIKELIHOOD_AUTO},
                                              {"gaussian", GPNN_GRID_LIKELIHOOD_GAUSSIAN},
                                              {"student", GPNN_GRID_LIKELIHOOD_STUDENT},
                                              CLI_END_OF_WORDS};
static const struct cli_word nuggets[] = {{"auto", GRID_FIT_NUGGET_AUTO},
                                          {"yes", GRID_FIT_NUGGET_YES},
                                          {"no", GRID_FIT_NUGGET_NO},
                                          CLI_END_OF_WORDS};
static const struct cli_word time_scales[] = {{"auto", GRID_FIT_TIME_AUTO},
                                              {"linear", GRID_FIT_TIME_LINEAR},
                                              {"log", GRID_FIT_TIME_LOG},
                                              CLI_END_OF_WORDS};
static const struct cli_word transforms[] = {{"auto", 0},  {"none", 0},     {"log", 0},
                                             {"asinh", 0}, {"boxcox", 0},   {"yeo-johnson", 0},
                                             {"rank", 0},  CLI_END_OF_WORDS};
static const struct cli_word means[] = {{"auto", 0}, {"none", 0}, CLI_END_OF_WORDS};

static const struct cli_option tuning[] = {
    CLI_CHOICE(0, "holdout", holdout, "H", "cells that candidates are judged by", holdouts),
    CLI_REAL(0, "rate", rate, "R", "of steps (0.1)", 1e-6, 10),
    CLI_CHOICE(0, "estimator", estimator, "E", "of traces", estimators),
    CLI_COUNT(0, "probes", probes, "N", "random vectors of it (16; paper: 10)", 1, 10000),
    CLI_CHOICE(0, "precond", precond, "HOW", "of the equations", preconditioners),
    CLI_AUTO(0, "rank", rank, "R", "of the preconditioner, or auto (auto)", 1, 1e6),
    CLI_REAL(0, "tol", tolerance, "R", "relative residual of solutions (0.01)", 1e-14, 0.5),
    CLI_COUNT(0, "max-iter", most_iterations, "N", "iterations at most (10000)", 1, 1e9),
    CLI_END_OF_SETTINGS,
};

static const struct cli_option options[] = {
    CLI_CHOICE(0, "preset", preset, "paper", "the published method: rbf, adam on all cells",
               presets),
    CLI_CHOICE(0, "effort", effort, "E", "how much to try", efforts),
    CLI_TEXT(0, "site-kernel", site_kernel, "K", "as in matern32, rbf*periodic, icm (chosen)"),
    CLI_TEXT(0, "time-kernel", time_kernel, "K", "the same for times (chosen)"),
    CLI_LIST(0, "kernel", kernels, "NAME=K", "the same for factor NAME"),
    CLI_LIST(0, "inputs", inputs, "NAME=HOW", "levels as raw, ranks or log (chosen)"),
    CLI_CHOICE(0, "time-scale", time_scale, "S", "of times", time_scales),
    CLI_CHOICE(0, "nugget", nugget, "N", "what each site has to itself", nuggets),
    CLI_TEXT_OF(0, "transform", transform, "T",
                "log, asinh, boxcox, yeo-johnson, rank or none (auto)", transforms),
    CLI_TEXT_OF(0, "mean", mean, "NAME", "a mean for each level of a factor, none, auto (auto)",
                means),
    CLI_TEXT(0, "noise-per", noise_per, "NAME", "a noise variance for each level of a factor"),
    CLI_CHOICE(0, "likelihood", likelihood, "L", "of errors", likelihoods),
    CLI_LIST(0, "guess", guesses, "NAME=VALUE", "begin there, as with time.period=365"),
    CLI_LIST(0, "fix", fixed, "NAME=VALUE", "keep a parameter at a value"),
    CLI_COUNT(0, "steps", steps, "N", "steps of adam on all cells (0; paper: 100)", 0, 1e6),
    CLI_TEXT(0, "start", start, "PARAMS", "begin with these parameters"),
    CLI_SETTINGS(0, "tune", "NAME=VALUE", "finer points of the estimation; see the manual", tuning),
};

/* Reads what --start names. */
static enum gpnn_status read_start(const struct grid_fit_arguments *a,
                                   struct gpnn_parameters *start, struct gpnn_error *err)
{
  if (a->start == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_parameters_read_one(start, a->start, err);
  if (status != GPNN_OK || start->grid.n_factors > 0) return status;
  return gpnn_fail(err, GPNN_EMISMATCH, "%s: these parameters are of rows, not of a grid",
                   a->start);
}

static void show_step(void *context, size_t step, size_t iterations, double residual)
{
  const struct grid_fit_arguments *a = context;
  (void)iterations;
  (void)residual;
  progress_update("steps", step, a->choose.adam.steps);
}

/* How the steps on all cells are taken. */
static void set_steps(struct grid_fit_arguments *a, int threads)
{
  bool paper = a->preset == GRID_FIT_PAPER;
  struct gpnn_grid_adam_options *adam = &a->choose.adam;
  adam->steps = a->steps > 0 || !paper ? a->steps : 100;
  adam->rate = a->rate;
  adam->softplus = paper;
  adam->progress = show_step;
  adam->progress_context = a;
  adam->estimate.estimator = a->estimator == GRID_FIT_HUTCHINSON ? GPNN_GRID_ESTIMATOR_HUTCHINSON
                                                                 : GPNN_GRID_ESTIMATOR_PATHWISE;
  adam->estimate.probes = a->probes > 0 ? a->probes : paper ? 10 : 16;
  adam->estimate.seed = a->choose.seed;
  adam->estimate.system.preconditioner = a->precond;
  adam->estimate.system.rank = a->rank;
  adam->estimate.system.threads = threads;
  adam->estimate.system.columns = 1 + adam->estimate.probes;
  adam->estimate.system.tolerance = a->tolerance;
  adam->estimate.solve = (struct gpnn_cg_options){.tolerance = a->tolerance,
                                                  .most_iterations = a->most_iterations,
                                                  .stops_at_mean = paper,
                                                  .threads = threads};
}

static enum gpnn_status fit(const struct cli *cli, struct grid_fit_arguments *a,
                            const struct gpnn_dataset *view, struct gpnn_parameters *params,
                            struct gpnn_error *err)
{
  struct gpnn_grid_choose_report report;
  struct grid_fit_telling telling = {cli, view->grid, 0};
  if (cli->report != NULL) json_open(cli->report, "tried", '[');
  enum gpnn_status status =
      gpnn_grid_choose(view, &a->choose, grid_fit_try, &telling, params, &report, err);
  if (cli->report != NULL) json_close(cli->report, ']');
  progress_erase();
  if (status == GPNN_OK) status = grid_fit_annotate(params, view, &report, err);
  if (status == GPNN_OK) grid_fit_report(cli, params, &report);
  return status;
}

/* Writes the parameters, with a state if the name of the file asks for one. */
static enum gpnn_status write_parameters(const struct cli *cli, const struct gpnn_dataset *dataset,
                                         const struct gpnn_parameters *params,
                                         struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  struct gpnn_state *state = NULL;
  enum gpnn_status status = GPNN_OK;
  if (grid_fit_keeps_state(cli->output)) status = grid_fit_solve(cli, dataset, params, &state, err);
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK) status = gpnn_parameters_write_with_state(params, 1, state, output, err);
  status = cli_close_output(output, status, err);
  gpnn_state_free(state);
  return status;
}

static enum gpnn_status fit_index(const struct cli *cli, struct grid_fit_arguments *a,
                                  const struct gpnn_index *index, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = gpnn_dataset_target(gpnn_index_dataset(index), 0);
  struct gpnn_parameters params = {.target = NULL}, start = {.target = NULL};
  enum gpnn_status status = GPNN_OK;
  if (view->grid == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s: an index of rows, not of a grid: make one with gpnn-grid index",
                     cli_operand(cli, 0));
  status = grid_fit_match(a, view->grid, err);
  if (status == GPNN_OK) status = read_start(a, &start, err);
  if (a->start != NULL) a->choose.start = &start;
  if (status == GPNN_OK) status = fit(cli, a, view, &params, err);
  if (status == GPNN_OK) status = write_parameters(cli, gpnn_index_dataset(index), &params, err);
  gpnn_parameters_release(&start);
  gpnn_parameters_release(&params);
  return status;
}

enum gpnn_status grid_fit_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct grid_fit_arguments *a = arguments;
  struct gpnn_index *index = NULL;
  a->choose.seed = cli->seed;
  a->choose.threads = gpnn_blas_claim(cli->threads);
  if (a->choose.threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  set_steps(a, a->choose.threads);
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK)
    status = open_refuse_model(index, "fit the index that it was made from", err);
  if (status == GPNN_OK) status = fit_index(cli, a, index, err);
  gpnn_index_close(index);
  return status;
}

static const struct cli_tool tool = {
    .name = "gpnn-grid fit",
    .synopsis = "[OPTION...] INDEX",
    .purpose = "Estimate the process of data on a grid: kernels, scales and noise.",
    .groups = CLI_OUTPUT | CLI_SEEDED | CLI_THREADS | CLI_PROGRESS | CLI_REPORT,
    .min_operands = 1,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = grid_fit_resolve,
    .run = grid_fit_run};

int grid_fit(int argc, char **argv)
{
  struct grid_fit_arguments arguments = {
      .effort = GPNN_GRID_EFFORT_NORMAL, .most_iterations = 10000, .rate = 0.1, .tolerance = 0.01};
  return cli_main(&tool, &arguments, argc, argv);
}
