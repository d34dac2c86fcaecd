/* gpnn-grid fit: the index of a grid in, estimated parameters out. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/json.h"
#include "cmd/common/open.h"
#include "cmd/common/output.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/grid/grid.h"
#include "dataset/grid/grid.h"
#include "dataset/index/index.h"
#include "dataset/transformed.h"
#include "linalg/blas_threads.h"
#include "models/grid/grid.h"
#include "models/grid/posterior.h"
#include "models/model.h"

/* ---- the state ------------------------------------------------------------------------------- */

/* True if a file of this name (NULL: standard output) is to hold a state: it ends in .gps. */
static bool grid_fit_keeps_state(const char *path)
{
  static const char suffix[] = ".gps";
  size_t length = path == NULL ? 0 : strlen(path);
  return length >= sizeof suffix - 1 && strcmp(path + length - (sizeof suffix - 1), suffix) == 0;
}

static void tell_progress(void *context, size_t solved, size_t columns, size_t iteration,
                          double residual)
{
  (void)context;
  (void)iteration;
  (void)residual;
  progress_update("solutions for the state", solved, columns);
}

/* Solves with what gpnn-grid predict uses unless it is told otherwise, so that this is what it
 * looks for. */
static enum gpnn_status solve(const struct cli *cli, const struct gpnn_channel *channel,
                              struct gpnn_state *state, struct gpnn_error *err)
{
  struct gpnn_grid_posterior_options options = gpnn_grid_default_options();
  struct gpnn_grid_posterior *posterior = NULL;
  options.system.threads = cli->threads;
  options.seed = cli->seed;
  options.progress = tell_progress;
  enum gpnn_status status = gpnn_grid_posterior_new(
      &posterior, channel->dataset->grid, channel->dataset->y, channel->parameters, &options, err);
  progress_erase();
  if (status == GPNN_OK)
    status = gpnn_grid_state_store(posterior, channel->dataset->schema.target.name, state, err);
  gpnn_grid_posterior_free(posterior);
  return status;
}

/* Solves the equations of the dataset's first target and makes a state of the solutions
 * (models/grid/posterior.h), which the caller frees whatever the outcome; '*state' must be NULL.
 * Failures are those of gpnn_grid_posterior_new(). */
static enum gpnn_status grid_fit_solve(const struct cli *cli, const struct gpnn_dataset *dataset,
                                       const struct gpnn_parameters *params,
                                       struct gpnn_state **state, struct gpnn_error *err)
{
  struct gpnn_transformed *transformed = NULL;
  struct gpnn_channel channel;
  bool other_model;
  enum gpnn_status status = gpnn_state_new(state, dataset->fingerprint, err);
  if (status == GPNN_OK)
    status = gpnn_channels_transform(dataset, 1, params, NULL, &transformed, err);
  if (status == GPNN_OK && transformed != NULL) dataset = gpnn_transformed_dataset(transformed);
  if (status == GPNN_OK)
    status = gpnn_channels_find(dataset, 1, params, &channel, &other_model, err);
  if (status == GPNN_OK) status = solve(cli, &channel, *state, err);
  gpnn_transformed_free(transformed);
  return status;
}

/* ---- reports --------------------------------------------------------------------------------- */

/* The context of grid_fit_try(). */
struct grid_fit_telling {
  const struct cli *cli;
  const struct gpnn_grid *grid;
  size_t n; /* candidates so far */
};

enum { NAME_BYTES = 600 };

static const char *const inputs_names[] = {"", " of ranks", " of logarithms"};

/* A candidate in words: "site matern32 of ranks, time rbf, nugget, mean per time, log". */
static const char *describe(const struct gpnn_grid *grid,
                            const struct gpnn_grid_candidate *candidate, char text[NAME_BYTES])
{
  size_t used = 0;
  for (size_t a = 0; a < candidate->n_factors; a++)
    used += (size_t)snprintf(text + used, NAME_BYTES - used, "%s%.32s %s%s", a == 0 ? "" : ", ",
                             grid->factor[a].name, candidate->kernel[a],
                             inputs_names[candidate->inputs[a]]);
  if (candidate->has_nugget) used += (size_t)snprintf(text + used, NAME_BYTES - used, ", nugget");
  if (candidate->mean_factor > 0)
    used += (size_t)snprintf(text + used, NAME_BYTES - used, ", mean per %.32s",
                             grid->factor[candidate->mean_factor - 1].name);
  if (candidate->transform != GPNN_TRANSFORM_NONE)
    used += (size_t)snprintf(text + used, NAME_BYTES - used, ", %s",
                             gpnn_transform_name(candidate->transform));
  if (candidate->degrees > 0) snprintf(text + used, NAME_BYTES - used, ", errors of Student's t");
  return text;
}

/* With --verbose, a line for each candidate: a gpnn_grid_choose_listener. */
static void grid_fit_try(void *context, const struct gpnn_grid_candidate *candidate)
{
  struct grid_fit_telling *telling = context;
  struct json *json = telling->cli->report;
  char text[NAME_BYTES];
  progress_update("candidates tried", ++telling->n, 0);
  describe(telling->grid, candidate, text);
  cli_note(telling->cli, "tried %s: NLL %.4f, RMSE %.4f, variances times %.3g", text,
           candidate->nll, candidate->rmse, candidate->factor);
  json_open(json, NULL, '{');
  json_text(json, "name", text);
  json_number(json, "nll", candidate->nll);
  json_number(json, "rmse", candidate->rmse);
  json_number(json, "factor", candidate->factor);
  json_close(json, '}');
}

/* Says which index parameters belong to, and how they were found, in comments. */
static enum gpnn_status grid_fit_annotate(struct gpnn_parameters *params,
                                          const struct gpnn_dataset *view,
                                          const struct gpnn_grid_choose_report *report,
                                          struct gpnn_error *err)
{
  char text[NAME_BYTES];
  params->provenance.has_index = true;
  params->provenance.index = view->fingerprint;
  enum gpnn_status status = GPNN_OK;
  if (report->adam.steps > 0)
    status = gpnn_parameters_comment(
        params, err, "fit: %zu steps of adam on all cells, %zu iterations, worst residual %.3g",
        report->adam.steps, report->adam.iterations, report->adam.residual);
  if (status == GPNN_OK && report->fit.n_cells > 0)
    status = gpnn_parameters_comment(
        params, err,
        "fit: log likelihood %.6g a cell, %zu of %zu cells in samples, %zu evaluations",
        report->fit.log_likelihood, report->fit.n_cells, view->grid->n_cells,
        report->fit.n_evaluations);
  if (status == GPNN_OK && report->n_held_out > 0)
    status = gpnn_parameters_comment(
        params, err, "chosen: %s, NLL %.4f, RMSE %.4f (%zu predictions of cells left out)",
        describe(view->grid, &report->chosen, text), report->chosen.nll, report->chosen.rmse,
        report->n_held_out);
  return status;
}

/* The result, in the JSON report if there is one. */
static void grid_fit_report(const struct cli *cli, const struct gpnn_parameters *params,
                            const struct gpnn_grid_choose_report *report)
{
  struct json *json = cli->report;
  cli_note(cli,
           "%zu candidates; variances multiplied by %.4g, from %zu predictions of cells left out",
           report->n_candidates, report->chosen.factor, report->n_held_out);
  if (params->grid.n_noise == 0) report_no_signal(cli, &params->covariance);
  json_number(json, "nll", report->chosen.nll);
  json_number(json, "rmse", report->chosen.rmse);
  json_count(json, "cells-left-out", report->n_held_out);
  json_number(json, "log-likelihood", report->fit.log_likelihood);
  json_number(json, "kernelscale", params->covariance.kernelscale);
  json_number(json, "noise", params->covariance.noise);
  json_number(json, "degrees", params->degrees);
}

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
                                              {"local", GPNN_GRID_LIKELIHOOD_LOCAL},
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
  json_open(cli->report, "tried", '[');
  enum gpnn_status status =
      gpnn_grid_choose(view, &a->choose, grid_fit_try, &telling, params, &report, err);
  json_close(cli->report, ']');
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
