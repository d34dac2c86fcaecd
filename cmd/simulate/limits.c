/* gpnn-simulate limits: MSE, NLL and CAL by rows and assumed parameters, beside their limits. */
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/simulate/options.h"
#include "cmd/simulate/simulate.h"
#include "simulate/theory.h"

struct limits {
  struct simulate_options options;
  const struct cli *cli;
  struct gpnn_assumed_model *assumed; /* owned; one per choice */
  struct gpnn_output *output;
};

/* Collects the assumptions of all choices. */
static enum gpnn_status gather(struct limits *r, struct gpnn_error *err)
{
  struct simulate_options *o = &r->options;
  enum gpnn_status status = simulate_options_choose(o, err);
  if (status != GPNN_OK) return status;
  r->assumed = gpnn_alloc(o->n_choices, 1, sizeof *r->assumed);
  if (r->assumed == NULL) return gpnn_fail_memory(err, "for the parameters");
  for (size_t i = 0; i < o->n_choices; i++) r->assumed[i] = o->choices[i].assumed;
  o->simulate.assumed = r->assumed;
  o->simulate.n_assumed = o->n_choices;
  return GPNN_OK;
}

/* Writes the line of choice 'c' at row[i] rows. */
static enum gpnn_status write_line(const struct limits *r, const struct gpnn_risk_result *simulated,
                                   size_t i, size_t c, struct gpnn_error *err)
{
  const struct simulate_options *o = &r->options;
  size_t m = o->neighbours;
  double noise = o->simulate.actual.covariance.noise;
  struct gpnn_estimate mse = gpnn_risk_mse(simulated, c);
  struct gpnn_estimate nll = gpnn_risk_nll(simulated, c, 1);
  struct gpnn_estimate cal = gpnn_risk_cal(simulated, c, 1);
  struct gpnn_theory_limits limits =
      gpnn_theory_limits(noise, o->choices[c].assumed.covariance.noise, m);
  struct gpnn_theory_limits matched = gpnn_theory_limits(noise, noise, m);
  const double numbers[] = {mse.value,  mse.se,      nll.value,   nll.se,
                            cal.value,  cal.se,      limits.mse,  limits.nll,
                            limits.cal, matched.mse, matched.nll, matched.cal};
  enum gpnn_status status = simulate_write_size(o, r->output, i, m, err);
  if (status == GPNN_OK) status = simulate_write_choice(o, r->output, &o->choices[c], err);
  if (status == GPNN_OK)
    status = simulate_write_numbers(o, r->output, sizeof numbers / sizeof numbers[0], numbers, err);
  return status == GPNN_OK ? simulate_write_end(o, r->output, &o->choices[c], err) : status;
}

static enum gpnn_status write_rows(struct limits *r, size_t i, struct gpnn_error *err)
{
  struct gpnn_risk_result simulated = {0};
  enum gpnn_status status =
      simulate_run(&r->options, r->cli, i, r->options.neighbours, &simulated, err);
  for (size_t c = 0; c < r->options.n_choices && status == GPNN_OK; c++)
    status = write_line(r, &simulated, i, c, err);
  gpnn_risk_release(&simulated);
  return status == GPNN_OK ? gpnn_output_flush(r->output, err) : status;
}

static enum gpnn_status write_all(struct limits *r, struct gpnn_error *err)
{
  static const char *const columns[] = {"rows",      "neighbours",  "varied",      "at",
                                        "mse",       "mse_se",      "nll",         "nll_se",
                                        "cal",       "cal_se",      "mse_limit",   "nll_limit",
                                        "cal_limit", "mse_matched", "nll_matched", "cal_matched"};
  enum gpnn_status status = gather(r, err);
  if (status == GPNN_OK) status = cli_open_output(r->cli->output, &r->output, err);
  if (status == GPNN_OK)
    status = simulate_write_header(&r->options, r->output, sizeof columns / sizeof columns[0],
                                   columns, err);
  for (size_t i = 0; i < r->options.n_rows && status == GPNN_OK; i++)
    status = write_rows(r, i, err);
  return cli_close_output(r->output, status, err);
}

/* ---- the mode ----------------------------------------------------------------------------- */

static bool resolve(const struct cli *cli, void *arguments)
{
  struct limits *r = arguments;
  return simulate_options_resolve(&r->options, cli);
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct limits *r = arguments;
  r->cli = cli;
  enum gpnn_status status = write_all(r, err);
  free(r->assumed);
  simulate_options_release(&r->options);
  return status;
}

#define ARGUMENTS struct limits

static const struct cli_option options[] = {SIMULATE_OPTIONS};

static const struct cli_tool tool = {
    .name = "gpnn-simulate limits",
    .synopsis = "[OPTION...]",
    .purpose = "How good predictions of a simulated process become as rows grow, with right\n"
               "parameters or wrong ones: MSE, NLL and CAL, and where theory says they end.",
    .groups = CLI_OUTPUT | CLI_SEEDED | CLI_THREADS | CLI_PROGRESS,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = run};

int simulate_limits(int argc, char **argv)
{
  struct limits arguments = {.options = SIMULATE_OPTIONS_INIT};
  return cli_main(&tool, &arguments, argc, argv);
}
