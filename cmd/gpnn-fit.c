/* gpnn-fit: an index in, estimated parameters out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/threads.h"
#include "cli.h"
#include "conjugate.h"
#include "data/index.h"
#include "data/rows.h"
#include "methods/choose.h"
#include "methods/regress.h"
#include "models/localgp.h"
#include "open.h"
#include "progress.h"

struct arguments {
  const char *preset, *kernel, *ard, *objective, *optimizer, *start, *mean, *effort, *rotate, *like;
  size_t neighbours, k; /* 0: auto */
  double thin;
  struct cli_list fix;
  struct gpnn_choose_options choose;
  bool is_conjugate;
  struct conjugate_arguments conjugate;
  const char *metric; /* NULL: shared, where the method can */
  bool is_shared;
};

static bool wrong(const struct cli *cli, const char *option, const char *allowed)
{
  cli_usage_error(cli, "option --%s: %s", option, allowed);
  return false;
}

/* --fix NAME=VALUE */
static bool fix_parameter(const struct cli *cli, const char *text, struct gpnn_fit_options *fit)
{
  const struct {
    const char *name;
    double *value;
  } names[] = {{"lengthscale", &fit->fixed_lengthscale},
               {"kernelscale", &fit->fixed_kernelscale},
               {"noise", &fit->fixed_noise}};
  const char *equals = strchr(text, '=');
  double value = 0;
  if (equals == NULL ||
      gpnn_number_read(equals + 1, strlen(equals + 1), &value) != GPNN_NUMBER_OK || !(value > 0))
    return wrong(cli, "fix", "NAME=VALUE with a positive VALUE, as in noise=0.1");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    size_t length = strlen(names[i].name);
    if (length != (size_t)(equals - text) || strncmp(text, names[i].name, length) != 0) continue;
    *names[i].value = value;
    return true;
  }
  return wrong(cli, "fix", "the parameters are lengthscale, kernelscale and noise");
}

/* The published method: one lengthscale, Adam, 10 blocks of 300, 400 neighbours. */
static bool apply_preset(const struct cli *cli, struct arguments *a)
{
  enum { PAPER_NEIGHBOURS = 400 };
  if (a->preset == NULL) return true;
  if (strcmp(a->preset, "paper") != 0) return wrong(cli, "preset", "the only preset is paper");
  if (a->ard != NULL || a->optimizer != NULL || a->objective != NULL || a->rotate != NULL)
    return wrong(cli, "preset", "paper already says --ard no, --optimizer adam, --objective block");
  a->ard = "no";
  a->optimizer = "adam";
  a->objective = "block";
  a->rotate = "none";
  if (a->kernel == NULL) a->kernel = "rbf";
  if (a->neighbours == 0) a->neighbours = PAPER_NEIGHBOURS;
  return true;
}

static bool resolve_model(const struct cli *cli, struct arguments *a)
{
  struct gpnn_choose_options *choose = &a->choose;
  choose->kernel = a->kernel == NULL || strcmp(a->kernel, "auto") == 0;
  choose->ard = a->ard == NULL || strcmp(a->ard, "auto") == 0;
  choose->neighbours = a->neighbours == 0;
  if (!choose->neighbours) choose->fit.neighbours = a->neighbours;
  if (!choose->kernel &&
      !gpnn_kernel_parse(a->kernel, &choose->fit.kernel, &choose->fit.smoothness))
    return wrong(cli, "kernel",
                 "auto, exp, matern32, matern52, rbf or matern:NU, as in matern:1.2, NU up to 100");
  choose->fit.ard = choose->ard || strcmp(a->ard, "yes") == 0;
  if (!choose->fit.ard && strcmp(a->ard, "no") != 0) return wrong(cli, "ard", "auto, yes or no");
  return true;
}

static bool resolve_rotation(const struct cli *cli, struct arguments *a)
{
  static const char *const names[] = {"none", "whiten", "learn"};
  a->choose.rotation = a->rotate == NULL || strcmp(a->rotate, "auto") == 0;
  if (a->choose.rotation) return true;
  for (int i = 0; i < 3; i++) {
    if (strcmp(a->rotate, names[i]) != 0) continue;
    a->choose.rotate = (enum gpnn_rotate)i;
    return true;
  }
  return wrong(cli, "rotate", "auto, none, whiten or learn");
}

/* --objective NAME[,NAME] */
static bool resolve_objective(const struct cli *cli, struct arguments *a)
{
  struct gpnn_fit_options *fit = &a->choose.fit;
  static const char allowed[] = "block, loo, mll-k or vecchia, or two of them, as in block,loo";
  char first[16];
  a->choose.objective = a->objective == NULL;
  if (a->objective == NULL) return true;
  const char *comma = strchr(a->objective, ',');
  size_t length = comma == NULL ? strlen(a->objective) : (size_t)(comma - a->objective);
  snprintf(first, sizeof first, "%.*s", (int)(length < 15 ? length : 15), a->objective);
  if (!gpnn_objective_by_name(first, &fit->first)) return wrong(cli, "objective", allowed);
  if (comma != NULL && !gpnn_objective_by_name(comma + 1, &fit->second))
    return wrong(cli, "objective", allowed);
  return true;
}

static bool resolve_effort(const struct cli *cli, struct arguments *a)
{
  static const char *const names[] = {"fast", "normal", "thorough"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(a->effort, names[i]) != 0) continue;
    a->choose.effort = (enum gpnn_effort)i;
    return true;
  }
  return wrong(cli, "effort", "fast, normal or thorough");
}

/* Adam over blocks is the published one, which has a start of its own. */
static bool resolve_optimizer(const struct cli *cli, struct arguments *a)
{
  struct gpnn_fit_options *fit = &a->choose.fit;
  if (a->optimizer == NULL) return true;
  bool adam = strcmp(a->optimizer, "adam") == 0;
  if (!adam && strcmp(a->optimizer, "lbfgs") != 0) return wrong(cli, "optimizer", "lbfgs or adam");
  fit->optimizer = adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS;
  bool by_block = a->choose.objective ? a->choose.effort == GPNN_EFFORT_FAST
                                      : fit->first == GPNN_OBJECTIVE_BLOCK;
  if (adam && a->start != NULL && by_block)
    return wrong(cli, "start", "adam over blocks always starts where the paper does");
  return true;
}

static bool resolve_method(const struct cli *cli, struct arguments *a)
{
  struct gpnn_fit_options *fit = &a->choose.fit;
  a->choose.k = a->k == 0;
  if (a->k > 0) fit->k = a->k;
  fit->thin = a->thin;
  if (!resolve_rotation(cli, a) || !resolve_objective(cli, a) || !resolve_effort(cli, a) ||
      !resolve_optimizer(cli, a))
    return false;
  if (!gpnn_mean_by_name(a->mean, &fit->mean))
    return wrong(cli, "mean", "zero, constant, linear or regressors");
  for (size_t i = 0; i < a->fix.n; i++)
    if (!fix_parameter(cli, a->fix.items[i], fit)) return false;
  fit->seed = cli->seed;
  return true;
}

/* --method conjugate has an estimation of its own. */
static bool resolve_conjugate(const struct cli *cli, struct arguments *a)
{
  const struct {
    const char *name;
    bool is_given;
  } others[] = {{"preset", a->preset != NULL},
                {"objective", a->objective != NULL},
                {"optimizer", a->optimizer != NULL},
                {"rotate", a->rotate != NULL},
                {"like", a->like != NULL},
                {"ard", a->ard != NULL && strcmp(a->ard, "yes") == 0},
                {"fix", a->fix.n > 0}};
  bool ok;
  a->is_conjugate = conjugate_is_asked(cli, &a->conjugate, &ok);
  for (size_t i = 0; ok && a->is_conjugate && i < sizeof others / sizeof others[0]; i++)
    if (others[i].is_given) return wrong(cli, others[i].name, "is of --method local");
  return ok;
}

/* --metric shared|ratio|own */
static bool resolve_metric(const struct cli *cli, struct arguments *a)
{
  bool own = a->metric != NULL && strcmp(a->metric, "own") == 0;
  a->choose.fit.same_ratio = a->metric != NULL && strcmp(a->metric, "ratio") == 0;
  if (a->metric != NULL && !own && !a->choose.fit.same_ratio && strcmp(a->metric, "shared") != 0)
    return wrong(cli, "metric", "shared, ratio or own");
  if (a->choose.fit.same_ratio && a->choose.fit.fixed_noise > 0)
    return wrong(cli, "metric", "ratio leaves no noise to --fix");
  if (a->is_conjugate && a->metric != NULL && !own)
    return wrong(cli, "metric", "shared and ratio are of --method local");
  a->is_shared = !own && !a->is_conjugate;
  return true;
}

struct telling {
  const struct cli *cli;
  size_t n; /* things tried */
};

/* A candidate in words: "exp ARD by loo of 32". */
static const char *describe(const struct gpnn_candidate *candidate, char text[96])
{
  char kernel[GPNN_KERNEL_BYTES], of[32] = "";
  gpnn_kernel_write(candidate->kernel, candidate->smoothness, kernel);
  if (candidate->k > 0) snprintf(of, sizeof of, " of %zu", candidate->k);
  static const char *const rotations[] = {"", " whitened", " rotated"};
  snprintf(text, 96, "%s %s%s by %s%s", kernel, candidate->ard ? "ARD" : "isotropic",
           rotations[candidate->rotate], gpnn_objective_name(candidate->objective), of);
  return text;
}

/* One line for each thing tried, with --verbose. */
static void tell(void *context, const struct gpnn_candidate *candidate)
{
  struct telling *telling = context;
  char text[96];
  progress_update("models tried", ++telling->n, 0);
  cli_note(telling->cli, "tried %-39s %3zu neighbours: NLL %.4f (%.4f), RMSE %.4f",
           describe(candidate, text), candidate->neighbours, candidate->nll,
           candidate->standard_error, candidate->rmse);
}

/* Says how the parameters were found, as a comment. */
static enum gpnn_status comment_fit(struct gpnn_params *params, size_t n,
                                    const struct gpnn_fit_report *fit, struct gpnn_error *err)
{
  if (fit->objective == GPNN_OBJECTIVE_BLOCK)
    return gpnn_params_comment(
        params, err,
        "fit: block objective %.6g a row, %zu blocks of %zu of %zu rows, %zu evaluations",
        fit->value, fit->n_blocks, fit->block_size, n, fit->optimize.n_evaluations);
  return gpnn_params_comment(
      params, err, "fit: %s objective %.6g a row, %zu of %zu rows, k %zu, %zu evaluations",
      gpnn_objective_name(fit->objective), fit->value, fit->n_rows, n, fit->k,
      fit->optimize.n_evaluations);
}

/* Adds what a reader of the parameters may want to know, as comments. */
static enum gpnn_status annotate(struct gpnn_params *params, const struct gpnn_index *index,
                                 const struct gpnn_choose_report *report, struct gpnn_error *err)
{
  const struct gpnn_candidate *chosen = &report->chosen, *next = &report->runner_up;
  char text[96];
  params->has_index = true;
  params->index = gpnn_index_fingerprint(index);
  enum gpnn_status status = comment_fit(params, gpnn_index_contents(index)->n, &report->fit, err);
  if (status == GPNN_OK && next->kernel != NULL)
    status = gpnn_params_comment(
        params, err, "chosen: %s, NLL %.4f with %zu neighbours (%zu rows left out)",
        describe(chosen, text), chosen->nll, chosen->neighbours, report->n_rows);
  if (status == GPNN_OK && next->kernel != NULL)
    status = gpnn_params_comment(params, err, "runner-up: %s, NLL %.4f with %zu neighbours",
                                 describe(next, text), next->nll, next->neighbours);
  if (status == GPNN_OK && report->fewest.kernel != NULL)
    status = gpnn_params_comment(params, err, "neighbours: %zu, NLL %.4f",
                                 report->fewest.neighbours, report->fewest.nll);
  return status;
}

/* Warns of what makes neighbourhoods lie about the noise. */
static void warn_of_duplicates(const struct cli *cli, const struct arguments *a,
                               const struct gpnn_fit_report *fit)
{
  if (fit->objective == GPNN_OBJECTIVE_BLOCK || fit->objective == GPNN_OBJECTIVE_VECCHIA) return;
  if (!(fit->spacing < GPNN_FIT_DUPLICATES) || a->thin >= 0) return;
  cli_warn(cli,
           "most rows have near duplicates (the nearest row is at %.2g of the distance of the "
           "farthest neighbour): if new rows will have none, fit with --thin",
           fit->spacing);
}

/* Warns of noise held so low that it does not tell rows apart. */
static void warn_of_lost_noise(const struct cli *cli, const struct gpnn_params *params)
{
  if (!gpnn_fit_loses_noise(params)) return;
  cli_warn(cli,
           "a noise of %.3g is lost in rounding beside a kernel scale of %.3g: rows that are alike "
           "are told apart by 1e-10 of it or more instead",
           params->noise, params->kernelscale);
}

/* Adds to one target's parameters what there is to say about them. */
static enum gpnn_status finish_target(const struct gpnn_index *index, size_t target,
                                      const struct gpnn_choose_report *report,
                                      struct gpnn_params *params, struct gpnn_error *err)
{
  enum gpnn_status status = annotate(params, index, report, err);
  /* With a standard error, coefficients are of interest in themselves. */
  if (status == GPNN_OK && params->covariance != NULL)
    status = gpnn_regress_describe(params, gpnn_index_target(index, target), err);
  return status;
}

/* Fits what was asked for, or chooses what was left open, for 'n' targets from 'first' on, which
 * share a metric. */
static enum gpnn_status fit_targets(const struct cli *cli, const struct arguments *a,
                                    const struct gpnn_index *index, size_t first, size_t n,
                                    struct gpnn_params *params, struct gpnn_error *err)
{
  struct telling telling = {cli, 0};
  struct gpnn_choose_report report = {0};
  const struct gpnn_index_contents **targets =
      gpnn_alloc(n, 1, sizeof(const struct gpnn_index_contents *));
  if (targets == NULL) return gpnn_fail_memory(err, "for the targets");
  for (size_t t = 0; t < n; t++) targets[t] = gpnn_index_target(index, first + t);
  enum gpnn_status status =
      gpnn_choose_all(index, n, targets, &a->choose, tell, &telling, params, &report, err);
  free(targets);
  for (size_t t = 0; t < n && status == GPNN_OK; t++)
    status = finish_target(index, first + t, &report, &params[t], err);
  if (status != GPNN_OK) return status;
  const struct gpnn_fit_report *fit = &report.fit;
  cli_note(cli, "objective %.6g from %.6g in %zu evaluations: %s", fit->optimize.end,
           fit->optimize.start, fit->optimize.n_evaluations, fit->optimize.outcome);
  warn_of_duplicates(cli, a, fit);
  report_jitter(cli, fit->objective == GPNN_OBJECTIVE_BLOCK ? "blocks" : "neighbourhoods",
                &fit->jitter);
  for (size_t t = 0; t < n && fit->jitter.n == 0; t++) warn_of_lost_noise(cli, &params[t]);
  return GPNN_OK;
}

/* The model that is started from is the one to fit, unless another was asked for. */
static void start_from(struct arguments *a, const struct gpnn_params *start)
{
  struct gpnn_choose_options *choose = &a->choose;
  choose->fit.start = start;
  if (a->kernel == NULL) {
    choose->fit.kernel = start->kernel;
    choose->fit.smoothness = start->smoothness;
  }
  if (a->ard == NULL) choose->fit.ard = start->n_lengthscales > 1;
  if (a->rotate == NULL && start->rotation != NULL) {
    choose->fit.rotation = start->rotation;
    choose->rotation = false;
  }
  if (a->neighbours == 0) choose->fit.neighbours = start->neighbours;
  choose->kernel = choose->kernel && a->kernel != NULL;
  choose->ard = choose->ard && a->ard != NULL;
  choose->neighbours = false;
}

/* Fits every target of the index: all at once, or one by one. */
static enum gpnn_status fit_all(const struct cli *cli, const struct arguments *a,
                                const struct gpnn_index *index, size_t n,
                                struct gpnn_params *params, struct gpnn_error *err)
{
  char text[CLI_ABOUT_BYTES];
  struct cli about = *cli;
  enum gpnn_status status = GPNN_OK;
  if (n > 1) about.about = "all targets";
  if (a->is_shared) return fit_targets(&about, a, index, 0, n, params, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    if (n > 1) about.about = cli_target(text, gpnn_index_target(index, t)->schema.target.name);
    status = a->is_conjugate
                 ? conjugate_fit(&about, &a->conjugate, &a->choose, index, t, &params[t], err)
                 : fit_targets(&about, a, index, t, 1, &params[t], err);
  }
  return status;
}

/* Whether parameters can name the targets of the index, where they have to. */
static enum gpnn_status check_targets(const struct gpnn_index *index, size_t n,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n && n > 1 && status == GPNN_OK; t++)
    status = gpnn_params_check_target(gpnn_index_target(index, t)->schema.target.name, err);
  return status;
}

/* Fits and writes the parameters. */
static enum gpnn_status fit_and_write(const struct cli *cli, const struct arguments *a,
                                      const struct gpnn_index *index, struct gpnn_error *err)
{
  size_t n = gpnn_index_n_targets(index);
  struct gpnn_output *output = NULL;
  struct gpnn_params *params = gpnn_alloc(n, 1, sizeof *params);
  if (params == NULL) return gpnn_fail_memory(err, "for parameters");
  enum gpnn_status status = check_targets(index, n, err);
  if (status == GPNN_OK) status = fit_all(cli, a, index, n, params, err);
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK) status = gpnn_params_write_all(params, n, output, err);
  status = cli_close_output(output, status, err);
  gpnn_params_release_all(params, n);
  return status;
}

/* Reads the inputs of rows like which candidates are to be scored. */
static enum gpnn_status read_like(const struct cli *cli, const char *path,
                                  const struct gpnn_index *index, struct gpnn_rows *rows,
                                  struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, path, &cli->table, err);
  if (status == GPNN_OK)
    status =
        gpnn_rows_read(rows, gpnn_index_contents(index), table, cli->na, true, false, true, err);
  if (status == GPNN_OK && rows->n_skipped > 0)
    cli_warn(cli, "%s: %zu bad rows left out", gpnn_table_name(table), rows->n_skipped);
  if (status == GPNN_OK && rows->n == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: no rows", gpnn_table_name(table));
  gpnn_table_close(table);
  return status;
}

static enum gpnn_status run(const struct cli *cli, struct arguments *a, struct gpnn_error *err)
{
  struct gpnn_rows like = {0};
  struct gpnn_points points = {0};
  struct gpnn_index *index = NULL;
  struct gpnn_params start = {0};
  a->choose.fit.threads = gpnn_threads_claim_blas(cli->threads);
  if (a->choose.fit.threads == 0) return gpnn_fail_memory(err, GPNN_THREADS_BLAS_ROOM);
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK && a->start != NULL) {
    status = gpnn_params_read(&start, a->start, err);
    if (status == GPNN_OK) start_from(a, &start);
  }
  if (status == GPNN_OK && a->like != NULL) {
    status = read_like(cli, a->like, index, &like, err);
    points = (struct gpnn_points){.n = like.n, .x = like.x};
    a->choose.like = &points;
  }
  if (status == GPNN_OK) status = fit_and_write(cli, a, index, err);
  gpnn_rows_release(&like);
  gpnn_params_release(&start);
  gpnn_index_close(index);
  return status;
}

int main(int argc, char **argv)
{
  enum { MOST = 1000000, MOST_NEIGHBOURS = 20000 };
  struct arguments a = {.mean = "zero",
                        .effort = "normal",
                        .k = 32,
                        .thin = -1,
                        .choose = {.fit = GPNN_FIT_OPTIONS_INIT,
                                   .field = GPNN_CHOOSE_FIELD,
                                   .last_field = GPNN_CHOOSE_LAST_FIELD},
                        .conjugate = CONJUGATE_ARGUMENTS_INIT};
  struct gpnn_fit_options *fit = &a.choose.fit;
  const struct cli_option options[] = {
      {"preset", 0, CLI_TEXT, &a.preset, "paper", "the published method: one lengthscale, adam", 0,
       0},
      {"method", 0, CLI_TEXT, &a.conjugate.method, "NAME", "local or conjugate (local)", 0, 0},
      {"effort", 0, CLI_TEXT, &a.effort, "E", "what to try: fast, normal or thorough (normal)", 0,
       0},
      {"kernel", 'k', CLI_TEXT, &a.kernel, "KERNEL",
       "auto, exp, matern32, matern52, rbf, matern:NU (auto)", 0, 0},
      {"ard", 0, CLI_TEXT, &a.ard, "A", "one lengthscale for each input: auto, yes, no (auto)", 0,
       0},
      {"rotate", 0, CLI_TEXT, &a.rotate, "R", "mix inputs: auto, none, whiten, learn (auto)", 0, 0},
      {"neighbours", 'm', CLI_AUTO, &a.neighbours, "M",
       "neighbours to predict from, or auto (auto)", 1, 1e6},
      {"metric", 0, CLI_TEXT, &a.metric, "M", "of several targets: shared, ratio or own (shared)",
       0, 0},
      {"mean", 0, CLI_TEXT, &a.mean, "MEAN", "zero, constant, linear or regressors (zero)", 0, 0},
      {"objective", 0, CLI_TEXT, &a.objective, "O[,O]", "block, loo, mll-k or vecchia (by effort)",
       0, 0},
      {"optimizer", 0, CLI_TEXT, &a.optimizer, "NAME", "lbfgs or adam (by objective)", 0, 0},
      {"blocks", 0, CLI_COUNT, &fit->n_blocks, "N", "block: blocks of training rows (10)", 1, MOST},
      {"block-size", 0, CLI_COUNT, &fit->block_size, "N", "block: rows a block (300)", 2,
       MOST_NEIGHBOURS},
      {"k", 0, CLI_AUTO, &a.k, "K", "others: neighbours a row, or auto (32)", 1, MOST_NEIGHBOURS},
      {"rows", 0, CLI_COUNT, &fit->rows, "N", "others: rows to learn from (8000)", 1, 1e9},
      {"steps", 0, CLI_COUNT, &fit->steps, "N", "others: steps of adam (1500)", 1, MOST},
      {"batch", 0, CLI_COUNT, &fit->batch, "N", "others: rows a step (64)", 1, MOST},
      {"refresh", 0, CLI_COUNT, &fit->refresh, "N",
       "others: steps between neighbour searches (250)", 1, MOST},
      {"thin", 0, CLI_REAL, &a.thin, "EPS", "others: pass over neighbours within EPS (off)", 0,
       1e6},
      {"like", 0, CLI_TEXT, &a.like, "TABLE", "choose for rows like those of TABLE", 0, 0},
      {"fix", 0, CLI_LIST, &a.fix, "NAME=V", "hold lengthscale, kernelscale or noise at V", 0, 0},
      {"folds", 0, CLI_COUNT, &a.conjugate.n_folds, "K",
       "conjugate: folds of the cross-validation (5)", 2, 1000},
      {"score", 0, CLI_TEXT, &a.conjugate.score, "S", "conjugate: choose by rmspe or crps (rmspe)",
       0, 0},
      {"start", 0, CLI_TEXT, &a.start, "PARAMS", "start from these parameters", 0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-fit",
      "[OPTION...] INDEX",
      "Estimate lengthscales, kernel scale and noise variance from rows of an index.",
      CLI_OUTPUT | CLI_SEEDED | CLI_THREADS | CLI_TABLE | CLI_PROGRESS,
      1,
      1};
  struct cli cli;
  struct gpnn_error err = {0};
  int status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv, &status))
    return status;
  if (!resolve_conjugate(&cli, &a) || !apply_preset(&cli, &a) || !resolve_model(&cli, &a) ||
      !resolve_method(&cli, &a) || !resolve_metric(&cli, &a) ||
      !cli_spares(&cli, cli.output, cli_operand(&cli, 0)) || !cli_spares(&cli, cli.output, a.like))
    return 2;
  return cli_end(&cli, run(&cli, &a, &err), &err);
}
