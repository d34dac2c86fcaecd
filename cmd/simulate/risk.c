/* gpnn-simulate risk: the error of the mean by rows; its slope, landscape and derivatives. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/simulate/options.h"
#include "cmd/simulate/simulate.h"
#include "simulate/theory.h"
#include "stats/scores/power_law.h"

/* The quantities that lines are about, in their order. */
enum quantity {
  RISK,
  DERIVATIVE, /* with respect to each parameter */
  NLL = DERIVATIVE + GPNN_RISK_N_PARAMETERS,
  CAL,
  NLL_AFTER,
  CAL_AFTER,
  FACTOR,
  N_QUANTITIES
};

static const char *const quantity_names[N_QUANTITIES] = {
    "risk", "d_lengthscale", "d_kernelscale", "d_noise",   "d_coefficient",
    "nll",  "cal",           "nll_after",     "cal_after", "factor"};

struct risk {
  struct simulate_options options;
  const struct cli *cli;
  const char *function;
  double schedule; /* 0: not given */
  double step;
  bool derivatives;
  size_t n_each;                      /* assumptions per choice: itself, then the stencils */
  struct gpnn_assumed_model *assumed; /* owned; n_choices by n_each */
  double *series; /* owned; n_choices by N_QUANTITIES by n_rows: values so far */
  double *rows;   /* owned; n_rows: numbers of rows */
  struct gpnn_output *output;
};

/* ---- options ------------------------------------------------------------------------------ */

static bool resolve(const struct cli *cli, void *arguments)
{
  struct risk *r = arguments;
  if (!simulate_find_function(cli, r->function, &r->options.function)) return false;
  if (cli_given(cli, "step") && !r->derivatives)
    return cli_refuse(cli, "option --step is for --derivatives");
  return simulate_options_resolve(&r->options, cli);
}

/* ---- assumptions -------------------------------------------------------------------------- */

/* The offset of a parameter's stencil from its choice.  Assumptions that share computations are
 * side by side: another coefficient leaves the weights as they are, another noise or scale the
 * correlations. */
static size_t stencil_at(size_t parameter)
{
  return 1 + GPNN_STENCIL * (GPNN_RISK_N_PARAMETERS - 1 - parameter);
}

static enum gpnn_status add_stencils(const struct risk *r, size_t c, struct gpnn_error *err)
{
  for (size_t p = 0; p < GPNN_RISK_N_PARAMETERS; p++)
    if (!gpnn_risk_stencil(&r->options.choices[c].assumed, (enum gpnn_risk_parameter)p, r->step,
                           r->assumed + c * r->n_each + stencil_at(p)))
      return gpnn_fail(err, GPNN_EINVAL,
                       "option --step: two steps of %g down from it, %s is not "
                       "positive",
                       r->step, gpnn_risk_parameter_name((enum gpnn_risk_parameter)p));
  return GPNN_OK;
}

static enum gpnn_status gather(struct risk *r, struct gpnn_error *err)
{
  struct simulate_options *o = &r->options;
  enum gpnn_status status = simulate_options_choose(o, err);
  if (status != GPNN_OK) return status;
  r->n_each = r->derivatives ? 1 + GPNN_STENCIL * GPNN_RISK_N_PARAMETERS : 1;
  r->assumed = gpnn_alloc(o->n_choices, r->n_each, sizeof *r->assumed);
  r->series = gpnn_alloc(o->n_choices * N_QUANTITIES, o->n_rows, sizeof *r->series);
  r->rows = gpnn_alloc(o->n_rows, 1, sizeof *r->rows);
  if (r->assumed == NULL || r->series == NULL || r->rows == NULL)
    return gpnn_fail_memory(err, "for the parameters");
  for (size_t i = 0; i < o->n_rows; i++) r->rows[i] = (double)o->row[i];
  for (size_t c = 0; c < o->n_choices && status == GPNN_OK; c++) {
    r->assumed[c * r->n_each] = o->choices[c].assumed;
    if (r->derivatives) status = add_stencils(r, c, err);
  }
  o->simulate.assumed = r->assumed;
  o->simulate.n_assumed = o->n_choices * r->n_each;
  return status;
}

/* ---- lines -------------------------------------------------------------------------------- */

static bool is_wanted(const struct risk *r, size_t quantity)
{
  if (quantity == RISK) return true;
  return quantity < NLL ? r->derivatives : r->options.simulate.n_heldout > 0;
}

static struct gpnn_estimate find(const struct risk *r, const struct gpnn_risk_result *simulated,
                                 size_t c, size_t quantity)
{
  size_t a = c * r->n_each;
  double factor = r->options.simulate.n_heldout > 0 ? gpnn_risk_factor(simulated, a).value : 1;
  switch (quantity) {
  case RISK:
    return gpnn_risk_of_mean(simulated, a);
  case NLL:
    return gpnn_risk_nll(simulated, a, 1);
  case CAL:
    return gpnn_risk_cal(simulated, a, 1);
  case NLL_AFTER:
    return gpnn_risk_nll(simulated, a, factor);
  case CAL_AFTER:
    return gpnn_risk_cal(simulated, a, factor);
  case FACTOR:
    return gpnn_risk_factor(simulated, a);
  default:
    return gpnn_risk_derivative(simulated, a + stencil_at(quantity - DERIVATIVE), r->step);
  }
}

/* Writes the line of one quantity of choice 'c' at row[i] rows. */
static enum gpnn_status write_line(const struct risk *r, const struct gpnn_risk_result *simulated,
                                   size_t i, size_t c, size_t quantity, struct gpnn_error *err)
{
  const struct simulate_options *o = &r->options;
  double *values = r->series + (c * N_QUANTITIES + quantity) * o->n_rows;
  struct gpnn_estimate found = find(r, simulated, c, quantity);
  struct gpnn_power_law slope;
  values[i] = found.value;
  gpnn_power_law_fit_last(&slope, i + 1, r->rows, values);
  double stone = r->schedule > 0 ? gpnn_theory_exponent(r->schedule, o->simulate.inputs.d) : NAN;
  const double numbers[] = {found.value, found.se, slope.slope, slope.r2, stone};
  enum gpnn_status status = simulate_write_size(o, r->output, i, simulated->m, err);
  if (status == GPNN_OK) status = simulate_write_text(o, r->output, quantity_names[quantity], err);
  if (status == GPNN_OK) status = simulate_write_choice(o, r->output, &o->choices[c], err);
  if (status == GPNN_OK)
    status = simulate_write_numbers(o, r->output, sizeof numbers / sizeof numbers[0], numbers, err);
  return status == GPNN_OK ? simulate_write_end(o, r->output, &o->choices[c], err) : status;
}

static size_t neighbours_of(const struct risk *r, size_t i)
{
  const struct simulate_options *o = &r->options;
  if (!(r->schedule > 0)) return o->neighbours;
  return gpnn_theory_schedule(r->schedule, o->simulate.inputs.d, o->neighbours,
                              o->row[o->n_rows - 1], o->row[i]);
}

static enum gpnn_status write_rows(struct risk *r, size_t i, struct gpnn_error *err)
{
  struct gpnn_risk_result simulated = {0};
  enum gpnn_status status =
      simulate_run(&r->options, r->cli, i, neighbours_of(r, i), &simulated, err);
  for (size_t c = 0; c < r->options.n_choices; c++)
    for (size_t q = 0; q < N_QUANTITIES && status == GPNN_OK; q++)
      if (is_wanted(r, q)) status = write_line(r, &simulated, i, c, q, err);
  gpnn_risk_release(&simulated);
  return status == GPNN_OK ? gpnn_output_flush(r->output, err) : status;
}

/* ---- the mode ----------------------------------------------------------------------------- */

static enum gpnn_status write_all(struct risk *r, struct gpnn_error *err)
{
  static const char *const columns[] = {"rows",  "neighbours", "quantity", "varied", "at",
                                        "value", "se",         "slope",    "r2",     "stone"};
  enum gpnn_status status = gather(r, err);
  if (status == GPNN_OK) status = cli_open_output(r->cli->output, &r->output, err);
  if (status == GPNN_OK)
    status = simulate_write_header(&r->options, r->output, sizeof columns / sizeof columns[0],
                                   columns, err);
  for (size_t i = 0; i < r->options.n_rows && status == GPNN_OK; i++)
    status = write_rows(r, i, err);
  return cli_close_output(r->output, status, err);
}

static void release(struct risk *r)
{
  free(r->assumed);
  free(r->series);
  free(r->rows);
  simulate_options_release(&r->options);
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct risk *r = arguments;
  r->cli = cli;
  enum gpnn_status status = write_all(r, err);
  release(r);
  return status;
}

#define ARGUMENTS struct risk

static const struct cli_option options[] = {
    CLI_TEXT_OF(0, "function", function, "NAME", "a known function: waves, oakley or zero",
                simulate_function_words),
    CLI_REAL(0, "schedule", schedule, "P", "M for the last N, fewer before, for smoothness P", 1e-3,
             1e3),
    CLI_FLAG(0, "derivatives", derivatives, "derivatives of the risk by each parameter"),
    CLI_REAL(0, "step", step, "H", "step of --derivatives (0.01)", 1e-9, 1e9),
    CLI_COUNT(0, "calibrate", options.simulate.n_heldout, "C",
              "nll, cal before and after calibration by C points", 1, GPNN_RISK_MOST_POINTS),
    SIMULATE_OPTIONS,
};

static const struct cli_tool tool = {
    .name = "gpnn-simulate risk",
    .synopsis = "[OPTION...]",
    .purpose = "How far predicted means are from a simulated truth as rows grow, and how fast\n"
               "that falls: risk curves with their slopes, landscapes, derivatives.",
    .groups = CLI_OUTPUT | CLI_SEEDED | CLI_THREADS | CLI_PROGRESS,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = run};

int simulate_risk(int argc, char **argv)
{
  struct risk arguments = {.options = SIMULATE_OPTIONS_INIT, .step = 0.01};
  arguments.options.has_coefficient = true;
  return cli_main(&tool, &arguments, argc, argv);
}
