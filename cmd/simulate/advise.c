/* gpnn-simulate advise: what more rows, more neighbours or better parameters would gain. */
#include <math.h>
#include <stdio.h>

#include "assess/advise.h"
#include "cmd/common/cli.h"
#include "cmd/common/facts.h"
#include "cmd/common/open.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/simulate/simulate.h"
#include "models/predict.h"

enum tables { TABLE_NONE, TABLE_CURVE, TABLE_NEIGHBOURS, TABLE_PARAMETERS, TABLE_ALL };

/* Names of enum gpnn_advise_about. */
static const char *const about_names[] = {"rows", "neighbours", "parameters", "nothing"};

struct arguments {
  const char *params;
  enum gpnn_units units;
  size_t neighbours, test_rows;
  enum tables form;
  bool json;
};

struct run {
  const struct cli *cli;
  const struct arguments *a;
  struct facts facts;
  const char *target; /* NULL: the only one */
  double unit;        /* what standardised values are multiplied by */
};

/* ---- options ------------------------------------------------------------------------------ */

static bool resolve(const struct cli *cli, void *arguments)
{
  struct arguments *a = arguments;
  return open_default_params(cli, &a->params) &&
         cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, a->params);
}

/* ---- values ------------------------------------------------------------------------------- */

/* Converts a measure to the units asked for: shift + factor * value. */
struct measure {
  double shift, factor;
};

static struct measure measure_rmse(const struct run *r)
{
  return (struct measure){0, r->unit};
}

static struct measure measure_nll(const struct run *r)
{
  return (struct measure){log(r->unit), 1};
}

/* Gains, in NLL or as a fraction of the RMSE, have no units. */
static struct measure measure_gain(void)
{
  return (struct measure){0, 1};
}

/* Writes the value and the ends of its interval: a line or, in a table, three of its values. */
static void put_estimate(struct run *r, const char *name, const struct gpnn_advise_value *estimate,
                         struct measure measure)
{
  facts_open_row(&r->facts, name, '{');
  facts_number(&r->facts, "value", measure.shift + measure.factor * estimate->value);
  facts_number(&r->facts, "low", measure.shift + measure.factor * estimate->low);
  facts_number(&r->facts, "high", measure.shift + measure.factor * estimate->high);
  facts_close_row(&r->facts, '}');
}

/* ---- lines of names and values -------------------------------------------------------------- */

/* Writes RMSE and NLL of a line, under names that end in 'tail'. */
static void lines_of(struct run *r, const struct gpnn_advise_line *line, const char *tail)
{
  char name[32];
  snprintf(name, sizeof name, "rmse%s", tail);
  put_estimate(r, name, &line->rmse, measure_rmse(r));
  snprintf(name, sizeof name, "nll%s", tail);
  put_estimate(r, name, &line->nll, measure_nll(r));
}

static void lines_of_rows(struct run *r, const struct gpnn_advice *advice)
{
  const struct gpnn_advise_line *lines = advice->lines;
  lines_of(r, &lines[advice->now], "");
  lines_of(r, &lines[advice->doubled], "-2n");
  lines_of(r, &lines[advice->tenfold], "-10n");
  put_estimate(r, "rmse-floor", &advice->floor, measure_rmse(r));
  facts_number(&r->facts, "curve-exponent", advice->curve.exponent);
  facts_number(&r->facts, "rmse-limit", advice->limit_rmse * r->unit);
  facts_number(&r->facts, "nll-limit", advice->limit_nll + log(r->unit));
}

static void lines_of_gains(struct run *r, const struct gpnn_advice *advice)
{
  char name[32];
  for (size_t i = 0; i < GPNN_ADVISE_NOTHING; i++) {
    snprintf(name, sizeof name, "rmse-gain-%s", about_names[i]);
    put_estimate(r, name, &advice->helps[i].rmse_gain, measure_gain());
    snprintf(name, sizeof name, "nll-gain-%s", about_names[i]);
    put_estimate(r, name, &advice->helps[i].nll_gain, measure_gain());
  }
}

/* ---- the verdict ---------------------------------------------------------------------------- */

/* Ample: numbers in these texts have at most three digits and an exponent. */
enum { GAINS_BYTES = 128, HELP_BYTES = 256, VERDICT_BYTES = 1024 };

/* Significant digits of a percentage: two, but 100 rather than 1e+02. */
static int percent_digits(double percent)
{
  return fabs(percent) < 99.5 ? 2 : 3;
}

/* Writes gains as changes: "RMSE -12 % (-15 to -9), NLL -0.13 (-0.16 to -0.10)". */
static void write_gains(const struct gpnn_advise_help *help, char *text, size_t n_bytes)
{
  const struct gpnn_advise_value *rmse = &help->rmse_gain, *nll = &help->nll_gain;
  const double percent[] = {-100 * rmse->value, -100 * rmse->high, -100 * rmse->low};
  snprintf(text, n_bytes, "RMSE %+.*g %% (%+.*g to %+.*g), NLL %+.2g (%+.2g to %+.2g)",
           percent_digits(percent[0]), percent[0], percent_digits(percent[1]), percent[1],
           percent_digits(percent[2]), percent[2], -nll->value, -nll->high, -nll->low);
}

/* Writes "with twice as many, RMSE ..." or "with noise x 3, RMSE ...". */
static void write_help(const struct gpnn_advice *advice, enum gpnn_advise_about about, char *text,
                       size_t n_bytes)
{
  const struct gpnn_advise_help *help = &advice->helps[about];
  char gains[GAINS_BYTES];
  write_gains(help, gains, sizeof gains);
  snprintf(text, n_bytes, "with %s, %s",
           about == GPNN_ADVISE_PARAMETERS ? advice->lines[help->line].change : "twice as many",
           gains);
}

/* Writes what helps most, then what else helps.  If nothing does and the RMSE is about the target's
 * standard deviation, 1 in standardised units, the parameters may be too far off for a small change
 * to mend. */
static void write_verdict(const struct gpnn_advice *advice, char *text, size_t n_bytes)
{
  static const char *const what[] = {"more rows", "more neighbours", "better parameters"};
  char help[HELP_BYTES];
  if (advice->most == GPNN_ADVISE_NOTHING) {
    snprintf(text, n_bytes,
             "nothing tried helps: neither twice the rows, nor twice the neighbours, nor other "
             "parameters lower the NLL by 0.01 beyond the error of measurement%s",
             advice->lines[advice->now].rmse.high < 1
                 ? ""
                 : "; but predictions are hardly better than the mean of the target: either the "
                   "inputs say nothing about it, or the parameters are far off, and gpnn-fit may "
                   "find others");
    return;
  }
  write_help(advice, advice->most, help, sizeof help);
  int n = snprintf(text, n_bytes, "%s help most: %s", what[advice->most], help);
  for (enum gpnn_advise_about about = GPNN_ADVISE_ROWS; about < GPNN_ADVISE_NOTHING; about++) {
    if (about == advice->most || !advice->helps[about].helps || n < 0) continue;
    write_help(advice, about, help, sizeof help);
    n += snprintf(text + n, n_bytes - (size_t)n, "; %s help too: %s", what[about], help);
  }
}

static void write_lines(struct run *r, const struct gpnn_advice *advice)
{
  char verdict[VERDICT_BYTES];
  write_verdict(advice, verdict, sizeof verdict);
  facts_number(&r->facts, "rows", advice->lines[advice->now].rows);
  facts_count(&r->facts, "neighbours", advice->neighbours);
  facts_count(&r->facts, "test-rows", advice->n_test);
  lines_of_rows(r, advice);
  lines_of_gains(r, advice);
  facts_text(&r->facts, "best-parameters",
             advice->lines[advice->helps[GPNN_ADVISE_PARAMETERS].line].change);
  facts_text(&r->facts, "advice", about_names[advice->most]);
  facts_text(&r->facts, "verdict", verdict);
}

/* The lines of one target, after its name if there are several. */
static void write_block(struct run *r, const struct gpnn_advice *advice)
{
  if (r->target != NULL) facts_open_part(&r->facts, NULL, '{');
  if (r->target != NULL) facts_name(&r->facts, "target", r->target);
  write_lines(r, advice);
  if (r->target != NULL) facts_close_part(&r->facts, '}');
}

/* ---- tables --------------------------------------------------------------------------------- */

static const char *const measures[] = {"rmse", "nll", "rmse_gain", "nll_gain"};

static enum gpnn_status write_header(struct gpnn_output *output, bool several,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_printf(output, err, "%sabout\tchange\trows\tneighbours",
                                               several ? "target\t" : "");
  for (size_t i = 0; i < 4 && status == GPNN_OK; i++)
    status = gpnn_output_printf(output, err, "\t%s\t%s_low\t%s_high", measures[i], measures[i],
                                measures[i]);
  return status == GPNN_OK ? gpnn_output_text(output, "\tmeasured\n", err) : status;
}

static void write_row(struct run *r, const struct gpnn_advise_line *line)
{
  facts_open_row(&r->facts, NULL, '{');
  if (r->target != NULL) facts_name(&r->facts, "target", r->target);
  facts_text(&r->facts, "about", about_names[line->about]);
  facts_text(&r->facts, "change", line->change);
  facts_number(&r->facts, "rows", line->rows);
  facts_count(&r->facts, "neighbours", line->neighbours);
  put_estimate(r, measures[0], &line->rmse, measure_rmse(r));
  put_estimate(r, measures[1], &line->nll, measure_nll(r));
  put_estimate(r, measures[2], &line->rmse_gain, measure_gain());
  put_estimate(r, measures[3], &line->nll_gain, measure_gain());
  facts_text(&r->facts, "measured", line->measured ? "yes" : "no");
  facts_close_row(&r->facts, '}');
}

static void write_table(struct run *r, const struct gpnn_advice *advice)
{
  for (size_t i = 0; i < advice->n_lines; i++) {
    const struct gpnn_advise_line *line = &advice->lines[i];
    if (r->a->form == TABLE_ALL || r->a->form == TABLE_CURVE + (enum tables)line->about)
      write_row(r, line);
  }
}

/* ---- the tool -------------------------------------------------------------------------------- */

static void show_progress(size_t n_done, size_t n_all)
{
  progress_update("of all predictions done", n_done, n_all);
}

/* Errors measured by leaving rows out are too small if copies of those rows are left in. */
static void report_copies(const struct cli *cli, const struct gpnn_advice *advice)
{
  static const double tolerable = 0.01;
  double share = (double)advice->n_duplicates / (double)advice->n_test;
  if (share > tolerable)
    cli_warn(cli,
             "%.*g %% of the test rows have the inputs of another training row: if rows are copies "
             "of others, errors are larger than reported here, and the advice does not hold",
             percent_digits(100 * share), 100 * share);
}

/* Advises on one target. */
static enum gpnn_status run_target(struct run *r, struct opened *opened, size_t target,
                                   struct gpnn_error *err)
{
  const struct arguments *a = r->a;
  const struct gpnn_advise_options options = {
      .test_rows = a->test_rows, .seed = r->cli->seed, .progress = show_progress};
  /* Differences between predictions are to be seen, which mixed precision leaves alone. */
  const struct gpnn_model_options how = {
      .neighbours = a->neighbours, .precision = GPNN_PRECISION_MIXED, .threads = r->cli->threads};
  const struct gpnn_dataset *dataset = opened->channels[target].dataset;
  const char *name = dataset->schema.target.name;
  struct cli about = *r->cli;
  struct gpnn_model *model = NULL;
  struct gpnn_advice advice;
  if (gpnn_dataset_n_targets(opened->dataset) > 1) about.target = r->target = name;
  if (opened->parameters[target].n_members > 0) {
    cli_warn(&about, "the advice is about the first of the %zu members of these parameters",
             gpnn_parameters_n_members(&opened->parameters[target]));
    gpnn_parameters_drop_members(&opened->parameters[target]);
  }
  enum gpnn_status status = open_model(&about, opened, target, 1, &how, &model, err);
  if (status == GPNN_OK) status = gpnn_advise(model, &options, &advice, err);
  if (status == GPNN_OK) {
    bool original = a->units == GPNN_UNITS_ORIGINAL, transformed = dataset->transform != NULL;
    r->unit = original && !transformed ? dataset->scaling.y_sd : 1;
    if (original && transformed)
      cli_warn(&about, "errors are those of the transformed target, in units of its sd");
    report_counts(&about, &advice.counts);
    report_copies(&about, &advice);
    if (a->form == TABLE_NONE)
      write_block(r, &advice);
    else
      write_table(r, &advice);
  }
  gpnn_model_free(model);
  return status;
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct run r = {.cli = cli, .a = arguments};
  struct opened opened = {.without_model = "the advice is about an index"};
  struct gpnn_output *output = NULL;
  bool table = r.a->form != TABLE_NONE;
  enum gpnn_status status = open_files(cli, cli_operand(cli, 0), r.a->params, false, &opened, err);
  if (status == GPNN_OK)
    status = open_refuse_grid(opened.index, "the advice is about an index of rows", err);
  for (size_t t = 0; t < opened.n && status == GPNN_OK; t++)
    if (gpnn_likelihood_is_of_counts(opened.parameters[t].likelihood))
      status =
          gpnn_fail(err, GPNN_EMISMATCH, "%s: parameters of counts: the advice is about numbers",
                    r.a->params != NULL ? r.a->params : cli_operand(cli, 0));
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  bool several = status == GPNN_OK && gpnn_dataset_n_targets(opened.dataset) > 1;
  if (status == GPNN_OK && table && !r.a->json) status = write_header(output, several, err);
  facts_begin(&r.facts, output, r.a->json);
  if (table || several) facts_open_part(&r.facts, table ? "table" : "targets", '[');
  for (size_t t = 0; t < opened.n && status == GPNN_OK; t++)
    status = run_target(&r, &opened, t, err);
  if (table || several) facts_close_part(&r.facts, ']');
  status = facts_end(&r.facts, status, err);
  status = cli_close_output(output, status, err);
  open_release(&opened);
  return status;
}

#define ARGUMENTS struct arguments

static const struct cli_word tables[] = {{"curve", TABLE_CURVE},
                                         {"neighbours", TABLE_NEIGHBOURS},
                                         {"parameters", TABLE_PARAMETERS},
                                         {"all", TABLE_ALL},
                                         CLI_END_OF_WORDS};
static const struct cli_word units[] = {
    {"original", GPNN_UNITS_ORIGINAL}, {"standard", GPNN_UNITS_STANDARD}, CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_COUNT('m', "neighbours", neighbours, "M", "neighbours (as the parameters say)", 1, 1e6),
    CLI_COUNT(0, "test", test_rows, "N", "training rows to measure errors on (2000)", 20, 1e6),
    CLI_CHOICE(0, "table", form, "NAME", "instead", tables),
    CLI_CHOICE(0, "units", units, "UNITS", "of the target", units),
    CLI_FLAG(0, "json", json, "one JSON object"),
};

static const struct cli_tool tool = {
    .name = "gpnn-simulate advise",
    .synopsis = "[OPTION...] -p PARAMS INDEX",
    .purpose = "Measure on training rows what more rows, more neighbours or other parameters\n"
               "would do for predictions from an index, and say which helps most.",
    .groups = CLI_OUTPUT | CLI_SEEDED | CLI_THREADS | CLI_PROGRESS,
    .min_operands = 1,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = run};

int simulate_advise(int argc, char **argv)
{
  struct arguments arguments = {.test_rows = 2000};
  return cli_main(&tool, &arguments, argc, argv);
}
