/* gpnn-fit: an index in, estimated parameters out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli.h"
#include "data/index.h"
#include "methods/fit.h"

struct arguments {
  const char *preset, *kernel, *ard, *objective, *optimizer, *start;
  struct cli_list fix;
  struct gpnn_fit_options fit;
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

/* The published method: isotropic, Adam, 10 blocks of 300, 400 neighbours. */
static bool apply_preset(const struct cli *cli, struct arguments *a)
{
  if (a->preset == NULL) return true;
  if (strcmp(a->preset, "paper") != 0) return wrong(cli, "preset", "the only preset is paper");
  if (a->ard != NULL || a->optimizer != NULL)
    return wrong(cli, "preset", "paper already says --ard no and --optimizer adam");
  a->ard = "no";
  a->optimizer = "adam";
  return true;
}

static bool resolve(const struct cli *cli, struct arguments *a)
{
  if (!apply_preset(cli, a)) return false;
  a->fit.kernel = gpnn_kernel_by_name(a->kernel);
  if (a->fit.kernel == NULL) return wrong(cli, "kernel", "rbf, exp, matern32 or matern52");
  if (a->ard == NULL) a->ard = "yes";
  a->fit.ard = strcmp(a->ard, "yes") == 0;
  if (!a->fit.ard && strcmp(a->ard, "no") != 0) return wrong(cli, "ard", "yes or no");
  if (strcmp(a->objective, "block") != 0) return wrong(cli, "objective", "block");
  if (a->optimizer == NULL) a->optimizer = "lbfgs";
  a->fit.optimizer = strcmp(a->optimizer, "adam") == 0 ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS;
  if (a->fit.optimizer == GPNN_OPTIMIZER_LBFGS && strcmp(a->optimizer, "lbfgs") != 0)
    return wrong(cli, "optimizer", "lbfgs or adam");
  if (a->start != NULL && a->fit.optimizer == GPNN_OPTIMIZER_ADAM)
    return wrong(cli, "start", "adam always starts where the paper does");
  for (size_t i = 0; i < a->fix.n; i++)
    if (!fix_parameter(cli, a->fix.items[i], &a->fit)) return false;
  a->fit.seed = cli->seed;
  a->fit.threads = cli->threads;
  return true;
}

/* Adds what a reader of the parameters may want to know, as comments. */
static enum gpnn_status annotate(struct gpnn_params *params, const struct gpnn_index *index,
                                 const struct gpnn_fit_report *report, struct gpnn_error *err)
{
  const struct gpnn_index_contents *contents = gpnn_index_contents(index);
  params->has_index = true;
  params->index = gpnn_index_fingerprint(index);
  return gpnn_params_comment(
      params, err, "block objective %.6g a row over %zu blocks of %zu of %zu rows; %zu evaluations",
      report->objective, report->n_blocks, report->block_size, contents->n,
      report->optimize.n_evaluations);
}

static enum gpnn_status run(const struct cli *cli, struct arguments *a, struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  struct gpnn_output *output = NULL;
  struct gpnn_params params = {0}, start = {0};
  struct gpnn_fit_report report;
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK && a->start != NULL) {
    status = gpnn_params_read(&start, a->start, err);
    a->fit.start = &start;
  }
  if (status == GPNN_OK)
    status = gpnn_fit_block(gpnn_index_contents(index), &a->fit, &params, &report, err);
  if (status == GPNN_OK) status = annotate(&params, index, &report, err);
  if (status == GPNN_OK) {
    cli_note(cli, "objective %.6g from %.6g in %zu evaluations: %s", report.optimize.end,
             report.optimize.start, report.optimize.n_evaluations, report.optimize.outcome);
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
  struct arguments a = {.kernel = "exp", .objective = "block", .fit = GPNN_FIT_OPTIONS_INIT};
  const struct cli_option options[] = {
      {"preset", 0, CLI_TEXT, &a.preset, "paper", "the published method: isotropic, adam", 0, 0},
      {"kernel", 'k', CLI_TEXT, &a.kernel, "KERNEL", "exp, matern32, matern52 or rbf (exp)", 0, 0},
      {"ard", 0, CLI_TEXT, &a.ard, "yes|no", "one lengthscale for each input (yes)", 0, 0},
      {"objective", 0, CLI_TEXT, &a.objective, "NAME", "what to minimise: block (block)", 0, 0},
      {"optimizer", 0, CLI_TEXT, &a.optimizer, "NAME", "lbfgs or adam (lbfgs)", 0, 0},
      {"blocks", 0, CLI_COUNT, &a.fit.n_blocks, "N", "blocks of training rows (10)", 1, 1e6},
      {"block-size", 0, CLI_COUNT, &a.fit.block_size, "N", "rows a block (300)", 2, 2e4},
      {"neighbours", 'm', CLI_COUNT, &a.fit.neighbours, "M",
       "neighbours to predict from, recorded for later (400)", 1, 1e6},
      {"fix", 0, CLI_LIST, &a.fix, "NAME=V", "hold lengthscale, kernelscale or noise at V", 0, 0},
      {"start", 0, CLI_TEXT, &a.start, "PARAMS", "start from these parameters", 0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-fit",
      "[OPTION...] INDEX",
      "Estimate lengthscales, kernel scale and noise variance from a few thousand\n"
      "random rows of an index, and print them as parameters.",
      CLI_OUTPUT | CLI_SEEDED | CLI_THREADS,
      1,
      1};
  struct cli cli;
  struct gpnn_error err = {0};
  int status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv, &status))
    return status;
  if (!resolve(&cli, &a)) return 2;
  return cli_end(&cli, run(&cli, &a, &err), &err);
}
