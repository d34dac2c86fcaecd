/* gpnn-fit: an index in, estimated parameters out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli.h"
#include "data/index.h"
#include "methods/choose.h"
#include "progress.h"

struct arguments {
  const char *preset, *kernel, *ard, *objective, *optimizer, *start;
  size_t neighbours; /* 0: auto */
  struct cli_list fix;
  struct gpnn_choose_options choose;
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
  if (a->ard != NULL || a->optimizer != NULL)
    return wrong(cli, "preset", "paper already says --ard no and --optimizer adam");
  a->ard = "no";
  a->optimizer = "adam";
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
                 "auto, exp, matern32, matern52, rbf or matern:NU, as in matern:1.2");
  choose->fit.ard = choose->ard || strcmp(a->ard, "yes") == 0;
  if (!choose->fit.ard && strcmp(a->ard, "no") != 0) return wrong(cli, "ard", "auto, yes or no");
  return true;
}

static bool resolve_method(const struct cli *cli, struct arguments *a)
{
  struct gpnn_fit_options *fit = &a->choose.fit;
  if (strcmp(a->objective, "block") != 0) return wrong(cli, "objective", "block");
  bool adam = a->optimizer != NULL && strcmp(a->optimizer, "adam") == 0;
  if (!adam && a->optimizer != NULL && strcmp(a->optimizer, "lbfgs") != 0)
    return wrong(cli, "optimizer", "lbfgs or adam");
  if (adam && a->start != NULL)
    return wrong(cli, "start", "adam always starts where the paper does");
  fit->optimizer = adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS;
  for (size_t i = 0; i < a->fix.n; i++)
    if (!fix_parameter(cli, a->fix.items[i], fit)) return false;
  fit->seed = cli->seed;
  fit->threads = cli->threads;
  return true;
}

struct telling {
  const struct cli *cli;
  size_t n; /* things tried */
};

/* One line for each thing tried, with --verbose. */
static void tell(void *context, const struct gpnn_candidate *candidate)
{
  struct telling *telling = context;
  progress_update("models tried", ++telling->n, 0);
  cli_note(telling->cli, "tried %-8s %s %3zu neighbours: NLL %.4f, standard error %.4f",
           candidate->kernel->name, candidate->ard ? "ARD,       " : "isotropic, ",
           candidate->neighbours, candidate->nll, candidate->standard_error);
}

/* Adds what a reader of the parameters may want to know, as comments. */
static enum gpnn_status annotate(struct gpnn_params *params, const struct gpnn_index *index,
                                 const struct gpnn_choose_report *report, struct gpnn_error *err)
{
  const struct gpnn_fit_report *fit = &report->fit;
  const struct gpnn_candidate *chosen = &report->chosen, *next = &report->runner_up;
  params->has_index = true;
  params->index = gpnn_index_fingerprint(index);
  enum gpnn_status status = gpnn_params_comment(
      params, err,
      "fit: block objective %.6g a row, %zu blocks of %zu of %zu rows, %zu evaluations",
      fit->objective, fit->n_blocks, fit->block_size, gpnn_index_contents(index)->n,
      fit->optimize.n_evaluations);
  if (status == GPNN_OK && next->kernel != NULL)
    status = gpnn_params_comment(params, err,
                                 "chosen: %s%s, NLL %.4f with %zu neighbours (%zu rows left out)",
                                 chosen->kernel->name, chosen->ard ? " ARD" : "", chosen->nll,
                                 chosen->neighbours, report->n_rows);
  if (status == GPNN_OK && next->kernel != NULL)
    status = gpnn_params_comment(params, err, "runner-up: %s%s, NLL %.4f with %zu neighbours",
                                 next->kernel->name, next->ard ? " ARD" : "", next->nll,
                                 next->neighbours);
  if (status == GPNN_OK && report->fewest.kernel != NULL)
    status = gpnn_params_comment(params, err, "neighbours: %zu, NLL %.4f",
                                 report->fewest.neighbours, report->fewest.nll);
  return status;
}

/* Fits what was asked for, or chooses what was left open. */
static enum gpnn_status fit(const struct cli *cli, const struct arguments *a,
                            const struct gpnn_index *index, struct gpnn_params *params,
                            struct gpnn_choose_report *report, struct gpnn_error *err)
{
  const struct gpnn_choose_options *choose = &a->choose;
  if (choose->kernel || choose->ard || choose->neighbours) {
    struct telling telling = {cli, 0};
    return gpnn_choose(index, choose, tell, &telling, params, report, err);
  }
  return gpnn_fit_block(gpnn_index_contents(index), &choose->fit, params, &report->fit, err);
}

/* The model that is started from is the one to fit, unless another was asked for. */
static void start_from(struct arguments *a, const struct gpnn_params *start)
{
  struct gpnn_choose_options *choose = &a->choose;
  choose->fit.start = start;
  if (a->kernel == NULL) choose->fit.kernel = start->kernel;
  if (a->kernel == NULL) choose->fit.smoothness = start->smoothness;
  if (a->ard == NULL) choose->fit.ard = start->n_lengthscales > 1;
  if (a->neighbours == 0) choose->fit.neighbours = start->neighbours;
  choose->kernel = choose->kernel && a->kernel != NULL;
  choose->ard = choose->ard && a->ard != NULL;
  choose->neighbours = false;
}

static enum gpnn_status run(const struct cli *cli, struct arguments *a, struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  struct gpnn_output *output = NULL;
  struct gpnn_params params = {0}, start = {0};
  struct gpnn_choose_report report = {0};
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK && a->start != NULL) {
    status = gpnn_params_read(&start, a->start, err);
    if (status == GPNN_OK) start_from(a, &start);
  }
  if (status == GPNN_OK) status = fit(cli, a, index, &params, &report, err);
  if (status == GPNN_OK) status = annotate(&params, index, &report, err);
  if (status == GPNN_OK) {
    cli_note(cli, "objective %.6g from %.6g in %zu evaluations: %s", report.fit.optimize.end,
             report.fit.optimize.start, report.fit.optimize.n_evaluations,
             report.fit.optimize.outcome);
    status = cli_open_output(cli->output, &output, err);
  }
  if (status == GPNN_OK) status = gpnn_params_write(&params, output, err);
  status = cli_close_output(output, status, err);
  gpnn_params_release(&start);
  gpnn_params_release(&params);
  gpnn_index_close(index);
  return status;
}

int main(int argc, char **argv)
{
  struct arguments a = {.objective = "block", .choose = {.fit = GPNN_FIT_OPTIONS_INIT}};
  const struct cli_option options[] = {
      {"preset", 0, CLI_TEXT, &a.preset, "paper", "the published method: one lengthscale, adam", 0,
       0},
      {"kernel", 'k', CLI_TEXT, &a.kernel, "KERNEL",
       "exp, matern32, matern52, rbf, matern:NU, auto (auto)", 0, 0},
      {"ard", 0, CLI_TEXT, &a.ard, "A", "one lengthscale for each input: auto, yes, no (auto)", 0,
       0},
      {"objective", 0, CLI_TEXT, &a.objective, "NAME", "what to minimise: block (block)", 0, 0},
      {"optimizer", 0, CLI_TEXT, &a.optimizer, "NAME", "lbfgs or adam (lbfgs)", 0, 0},
      {"blocks", 0, CLI_COUNT, &a.choose.fit.n_blocks, "N", "blocks of training rows (10)", 1, 1e6},
      {"block-size", 0, CLI_COUNT, &a.choose.fit.block_size, "N", "rows a block (300)", 2, 2e4},
      {"neighbours", 'm', CLI_AUTO, &a.neighbours, "M",
       "neighbours to predict from, or auto (auto)", 1, 1e6},
      {"fix", 0, CLI_LIST, &a.fix, "NAME=V", "hold lengthscale, kernelscale or noise at V", 0, 0},
      {"start", 0, CLI_TEXT, &a.start, "PARAMS", "start from these parameters", 0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-fit",
      "[OPTION...] INDEX",
      "Estimate lengthscales, kernel scale and noise variance from a few thousand\n"
      "random rows of an index, and print them as parameters.",
      CLI_OUTPUT | CLI_SEEDED | CLI_THREADS | CLI_PROGRESS,
      1,
      1};
  struct cli cli;
  struct gpnn_error err = {0};
  int status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv, &status))
    return status;
  if (!apply_preset(&cli, &a) || !resolve_model(&cli, &a) || !resolve_method(&cli, &a)) return 2;
  return cli_end(&cli, run(&cli, &a, &err), &err);
}
