#include "cmd/calibrate/calibrate.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "assess/calibrate.h"
#include "assess/crossfit.h"
#include "cmd/common/json.h"
#include "cmd/common/open.h"
#include "cmd/common/report.h"
#include "cmd/common/rows.h"
#include "likelihood/conformal.h"

/* Zeroed: none yet. */
struct across {
  size_t first, n; /* the targets that it is of */
  struct gpnn_crossfit *crossfit;
};

enum { UNCERTAINTY_BYTES = 32 };

/* ---- errors of training rows, each by parameters that have not seen it ----------------------- */

/* The targets that are estimated together with 'target', which have the same rows. */
static struct across group_of(const struct opened *opened, size_t target)
{
  bool shared = opened->parameters[target].provenance.estimation.shared_lengthscales;
  for (size_t t = 1; t < opened->n; t++)
    shared = shared && opened->channels[t].dataset->x == opened->channels[0].dataset->x;
  return (struct across){.first = shared ? 0 : target, .n = shared ? opened->n : 1};
}

/* True if the parameters of 'target' can be estimated again without some of the rows. */
static bool across_is_possible(const struct opened *opened, size_t target)
{
  enum { FEWEST = 3 }; /* of which each is left out in turn */
  const struct across group = group_of(opened, target);
  return opened->parameters[target].likelihood != GPNN_LIKELIHOOD_GAUSSIAN &&
         opened->channels[target].dataset->n >= FEWEST &&
         gpnn_channels_can_refit(group.n, opened->channels + group.first);
}

/* How many rows to divide into folds. */
static size_t wanted_rows(const struct cli *cli, const struct calibrate_arguments *a)
{
  enum { USUAL = 1000, AUTO = 4000 };
  if (!cli_given(cli, "rows")) return USUAL;
  return a->rows == GPNN_CALIBRATE_AUTO ? AUTO : a->rows;
}

static void across_release(struct across *across)
{
  gpnn_crossfit_free(across->crossfit);
  *across = (struct across){0};
}

/* Writes what a cross-fit of all targets has estimated, where that is wanted. */
static enum gpnn_status across_write(const struct across *across,
                                     const struct calibrate_arguments *a,
                                     const struct opened *opened, struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  if (a->folds == NULL || across->n < opened->n) return GPNN_OK;
  enum gpnn_status status = cli_open_output(a->folds, &output, err);
  if (status == GPNN_OK) status = gpnn_crossfit_write(across->crossfit, output, err);
  return cli_close_output(output, status, err);
}

/* Sets '*across' to a cross-fit that 'target' is part of, unless it is that already.  Requires
 * across_is_possible(); outcomes as for gpnn_crossfit_new(). */
static enum gpnn_status across_make(struct across *across, const struct cli *cli,
                                    const struct calibrate_arguments *a,
                                    const struct opened *opened, size_t target,
                                    struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.neighbours = a->neighbours, .threads = cli->threads};
  struct across made = group_of(opened, target);
  size_t n = opened->channels[target].dataset->n, wanted = wanted_rows(cli, a);
  if (across->crossfit != NULL && across->first == made.first && across->n == made.n)
    return GPNN_OK;
  enum gpnn_status status = gpnn_crossfit_new(&made.crossfit, made.n, opened->channels + made.first,
                                              &options, wanted < n ? wanted : n, cli->seed, err);
  if (status != GPNN_OK) return status;
  across_release(across);
  *across = made;
  return across_write(across, a, opened, err);
}

/* ---- targets that hold classes --------------------------------------------------------------- */

/* Writes a standard error to 'text' and returns it: a number, or "not known" if it is infinite, as
 * that of a single row is. */
static const char *uncertainty_describe(double standard_error, char text[UNCERTAINTY_BYTES])
{
  if (isfinite(standard_error))
    snprintf(text, UNCERTAINTY_BYTES, "%.2g", standard_error);
  else
    snprintf(text, UNCERTAINTY_BYTES, "not known");
  return text;
}

/* GPNN_EINVAL: an option is given that is about numbers, where target 'target' holds classes. */
static enum gpnn_status temperature_check(const struct cli *cli, const struct opened *opened,
                                          size_t target, struct gpnn_error *err)
{
  const char *misplaced = cli_misplaced(cli, CLI_OF_NUMBERS);
  const struct gpnn_dataset *dataset = opened->channels[target].dataset;
  char name[GPNN_MASK_BYTES];
  if (gpnn_dataset_n_classes(dataset) == 0 || misplaced == NULL) return GPNN_OK;
  gpnn_schema_column_name(&dataset->schema.target, name);
  return gpnn_fail(err, GPNN_EINVAL, "--%s is about numbers, and target '%s' holds classes",
                   misplaced, name);
}

enum { LOSS_BYTES = 64 };

/* A log loss and its standard error, if that is known: "0.4 -+ 0.02". */
static void describe_loss(double loss, double standard_error, char text[LOSS_BYTES])
{
  int used = snprintf(text, LOSS_BYTES, "%.4g", loss);
  if (isfinite(standard_error))
    snprintf(text + used, LOSS_BYTES - (size_t)used, " -+ %.2g", standard_error);
}

/* Reports the temperature on standard error and as a comment of the parameters; 'kind' says which
 * rows it is from. */
static enum gpnn_status temperature_report(const struct cli *cli, const char *kind,
                                           const struct gpnn_calibrate_report *calibration,
                                           struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct gpnn_calibrate_losses *losses = &calibration->losses;
  char text[256], error[UNCERTAINTY_BYTES], before[LOSS_BYTES], after[LOSS_BYTES];
  describe_loss(losses->before, losses->before_error, before);
  describe_loss(losses->after, losses->after_error, after);
  if (calibration->standard_error > 0)
    snprintf(text, sizeof text,
             "temperature %.4g, standard error %s, log loss %s before and %s after, from %zu",
             calibration->alpha, uncertainty_describe(calibration->standard_error, error), before,
             after, calibration->n_rows);
  else
    snprintf(text, sizeof text, "temperature 1, log loss %s, from %zu", after, calibration->n_rows);
  cli_note(cli, "%s rows", text);
  return gpnn_parameters_comment(params, err, "calibration: %s %s rows", text, kind);
}

/* Adds what a report has of it to its open object. */
static void temperature_to_json(struct json *report,
                                const struct gpnn_calibrate_report *calibration)
{
  const struct gpnn_calibrate_losses *losses = &calibration->losses;
  json_number(report, "log-loss-before", losses->before);
  json_number(report, "log-loss-before-standard-error", losses->before_error);
  json_number(report, "log-loss-after", losses->after);
  json_number(report, "log-loss-after-standard-error", losses->after_error);
}

/* ---- options ------------------------------------------------------------------------------ */

bool calibrate_resolve(const struct cli *cli, void *arguments)
{
  struct calibrate_arguments *a = arguments;
  int n_sources = a->leave_one_out + (a->with != NULL) + (a->blocked > 0) + (a->like != NULL);
  const char *table = a->with != NULL ? a->with : a->like;
  const char *misplaced = table == NULL ? cli_misplaced(cli, CLI_OF_TABLE | CLI_OF_TEXT) : NULL;
  if (!open_default_params(cli, &a->params)) return false;
  if (n_sources > 1)
    return cli_refuse(cli, "--loo, --blocked, --like and --with exclude each other");
  if (misplaced != NULL)
    return cli_refuse(cli, "--%s applies to the rows of a TABLE: give --with or --like", misplaced);
  if (table != NULL && strcmp(table, "-") == 0 && a->params != NULL && strcmp(a->params, "-") == 0)
    return cli_refuse(cli, "parameters and table cannot both be standard input");
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, a->with) &&
         cli_check_overwrite(cli, cli->output, a->like);
}

/* The kind of rows that the options ask for. */
static enum gpnn_calibrate_on source(const struct calibrate_arguments *a)
{
  if (a->leave_one_out) return GPNN_CALIBRATE_LEFT_OUT;
  if (a->blocked > 0) return GPNN_CALIBRATE_CLUSTERS;
  return a->like != NULL ? GPNN_CALIBRATE_LIKE : GPNN_CALIBRATE_GIVEN;
}

/* Uses all given rows, but only a limited number of training rows. */
static size_t default_rows(const struct calibrate_arguments *a, enum gpnn_calibrate_on on)
{
  enum { LEFT_OUT = 1000, CLUSTERS = 20 };
  if (on == GPNN_CALIBRATE_GIVEN) return SIZE_MAX;
  size_t rows = a->blocked * CLUSTERS;
  return rows > LEFT_OUT ? rows : LEFT_OUT;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* The rows to calibrate one target on, and whether they can be trusted. */
struct row_choice {
  enum gpnn_calibrate_on on;
  bool circular;           /* the rows were used for the fit */
  bool has_more;           /* training rows can be used as well */
  size_t n_fitted, n_rows; /* training rows used for the fit, and all of them */
};

/* Tells why training rows, which --loo asks for, are replaced by those that the index holds out. */
static void replace_by_held_out(const struct cli *cli, const struct gpnn_dataset *dataset,
                                struct row_choice *choice)
{
  choice->on = GPNN_CALIBRATE_GIVEN;
  cli_warn(cli,
           "the fit used %zu of the %zu training rows, which would make calibrating on them "
           "circular; calibrated on the %zu held-out rows instead",
           choice->n_fitted, dataset->n, dataset->n_calibration);
}

/* Nothing is calibrated on rows that were used for the fit, though errors larger than expected show
 * something even so. */
static enum gpnn_status give_up(const struct cli *cli, const struct calibrate_arguments *a,
                                struct row_choice *choice, struct gpnn_error *err)
{
  size_t n = choice->n_rows, fitted = choice->n_fitted;
  choice->circular = true;
  if (a->conformal.n > 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "conformal intervals need rows that were not used for the fit, which used %zu "
                     "of the %zu training rows: hold some out (gpnn-index --calibration-rows), or "
                     "use --with TABLE",
                     fitted, n);
  cli_warn(cli,
           "not calibrated: the fit used %zu of the %zu training rows, which makes calibrating on "
           "them circular; hold some out (gpnn-index --calibration-rows), or use --with TABLE",
           fitted, n);
  return GPNN_OK;
}

/* True if the index holds out too few rows, or groups, to calibrate a scale on, fewer rows than
 * there are training rows, and no others were asked for. */
static bool holds_out_too_few(const struct calibrate_arguments *a,
                              const struct gpnn_dataset *dataset)
{
  return source(a) == GPNN_CALIBRATE_GIVEN && a->with == NULL &&
         !gpnn_dataset_holds_out_enough(dataset) && dataset->n_calibration < dataset->n;
}

/*
 * Calibrating on rows that were used for the fit would be circular, so they are predicted by
 * parameters estimated without them.  If that is not possible, --loo uses the rows that the index
 * holds out instead, if there are any.  Parameters of another index were estimated from other rows.
 */
static enum gpnn_status choose_rows(const struct cli *cli, const struct calibrate_arguments *a,
                                    const struct opened *opened, size_t target,
                                    struct row_choice *choice, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = opened->channels[target].dataset;
  const struct gpnn_parameters *params = opened->channels[target].parameters;
  size_t n = dataset->n, fitted = params->provenance.fit_rows < n ? params->provenance.fit_rows : n;
  bool other = params->provenance.has_index && params->provenance.index != dataset->fingerprint;
  bool circular = gpnn_calibrate_is_circular(params, gpnn_dataset_n_distinct(dataset));
  bool possible = !other && a->maker == NULL && across_is_possible(opened, target);
  *choice = (struct row_choice){.on = source(a),
                                .has_more = dataset->stored == NULL && (possible || !circular),
                                .n_fitted = fitted,
                                .n_rows = n};
  if (a->maker != NULL && holds_out_too_few(a, dataset))
    return gpnn_fail(
        err, GPNN_EDATA,
        "%zu held-out rows are too few to calibrate on without training rows: hold more "
        "out (--calibration-rows), or use --with TABLE",
        dataset->n_calibration);
  if (possible && (a->leave_one_out || holds_out_too_few(a, dataset))) {
    choice->on = circular ? GPNN_CALIBRATE_CROSS_FITTED : GPNN_CALIBRATE_LEFT_OUT;
    return GPNN_OK;
  }
  if (source(a) == GPNN_CALIBRATE_GIVEN || other || !circular) return GPNN_OK;
  if (!a->leave_one_out || dataset->n_calibration == 0) return give_up(cli, a, choice, err);
  replace_by_held_out(cli, dataset, choice);
  return GPNN_OK;
}

/* Makes the cross-fit, if the rows are to be those of one.  Where rows are few, a fold may leave
 * too little to estimate from: then the rows held out have to do, if there are any. */
static enum gpnn_status cross_fit(const struct cli *cli, const struct calibrate_arguments *a,
                                  const struct opened *opened, size_t target,
                                  struct row_choice *choice, struct across *across,
                                  struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = opened->channels[target].dataset;
  struct gpnn_error why;
  if (choice->on != GPNN_CALIBRATE_CROSS_FITTED) return GPNN_OK;
  enum gpnn_status status = across_make(across, cli, a, opened, target, &why);
  if ((status != GPNN_EDATA && status != GPNN_ENUMERIC) || dataset->n_calibration == 0)
    return status == GPNN_OK ? GPNN_OK : gpnn_fail(err, status, "%s", why.text);
  choice->on = GPNN_CALIBRATE_GIVEN;
  cli_warn(cli, "%s; calibrated on the %zu held-out rows instead", why.text,
           dataset->n_calibration);
  return GPNN_OK;
}

/* Reads the table of --with or --like, if there is one, for the target of 'channel'. */
static enum gpnn_status read_table(const struct cli *cli, const struct calibrate_arguments *a,
                                   const struct gpnn_channel *channel,
                                   struct gpnn_reader_rows *rows, struct gpnn_error *err)
{
  const char *path = a->like != NULL ? a->like : a->with;
  if (path == NULL) return GPNN_OK;
  return rows_read(cli, path, channel, a->like != NULL, a->skip_bad, "to calibrate on", rows, err);
}

static enum gpnn_status calibrate(const struct cli *cli, const struct calibrate_arguments *a,
                                  enum gpnn_calibrate_on on, const struct gpnn_reader_rows *table,
                                  const struct gpnn_model *model, const struct across *across,
                                  size_t target, struct gpnn_calibrate_report *calibration,
                                  struct gpnn_error *err)
{
  struct gpnn_query query = {.n = table->n, .x = table->x, .regressors = table->regressors};
  struct gpnn_calibrate_options options = {.on = on,
                                           .by = a->by,
                                           .wanted = cli_given(cli, "rows") ? a->rows
                                                                            : default_rows(a, on),
                                           .seed = cli->seed,
                                           .without_atom = a->atom != 0,
                                           .cluster_rows = a->blocked,
                                           .like = query,
                                           .crossfit = across->crossfit,
                                           .channel = target - across->first,
                                           .given = {.query = query,
                                                     .y = table->y,
                                                     .noise = table->noise,
                                                     .exposure = table->exposure,
                                                     .cluster_rows = 1}};
  if (a->with == NULL)
    options.given = gpnn_heldout_of_dataset(gpnn_model_channel(model, 0)->dataset);
  return gpnn_calibrate(model, &options, calibration, err);
}

/* ---- reports ------------------------------------------------------------------------------ */

/* Warns if the factor is uncertain or comes from few rows. */
static void warn_if_uncertain(const struct cli *cli, const struct calibrate_arguments *a,
                              const struct row_choice *choice,
                              const struct gpnn_calibrate_report *calibration)
{
  enum { FEW_ROWS = 100 };
  static const double large = 0.25, large_for_scale = 0.5; /* which varies with the other numbers */
  double limit = calibration->by_scale ? large_for_scale : large;
  if (calibration->n_rows >= FEW_ROWS && calibration->standard_error <= limit * calibration->alpha)
    return;
  bool held_out = choice->on == GPNN_CALIBRATE_GIVEN && a->with == NULL;
  const char *advice = !held_out          ? ""
                       : choice->has_more ? "; --loo -c auto uses training rows too"
                                          : "; hold more out (gpnn-index --calibration-rows)";
  const char *what = calibration->by_scale ? "scale" : "factor";
  if (calibration->n_rows == 1)
    cli_warn(cli, "the %s %.3g is that of a single row%s", what, calibration->alpha, advice);
  else if (isinf(calibration->standard_error))
    cli_warn(cli, "the %s %.3g is that of %zu rows of one cluster%s", what, calibration->alpha,
             calibration->n_rows, advice);
  else
    cli_warn(cli, "the %s %.3g, from %zu rows, has a standard error of %.2g%s", what,
             calibration->alpha, calibration->n_rows, calibration->standard_error, advice);
}

static const char *kind_of_rows(const struct calibrate_arguments *a, enum gpnn_calibrate_on on)
{
  switch (on) {
  case GPNN_CALIBRATE_LEFT_OUT:
    return "left-out training";
  case GPNN_CALIBRATE_CLUSTERS:
    return "clustered training";
  case GPNN_CALIBRATE_LIKE:
    return "distant training";
  case GPNN_CALIBRATE_CROSS_FITTED:
    return "cross-fitted training";
  case GPNN_CALIBRATE_GIVEN:
    break;
  }
  return a->with != NULL ? "given" : "held-out";
}

/* The law that a scale was calibrated to, in words. */
static const char *describe_law(const struct gpnn_scale_law *law, char text[128])
{
  int used = snprintf(text, 128, "scale %.6g", law->scale.factor);
  if (law->degrees > 0)
    used += snprintf(text + used, 128 - (size_t)used, ", %.3g degrees of freedom", law->degrees);
  if (law->scale.term[GPNN_SCALE_MISFIT].coefficient != 0)
    snprintf(text + used, 128 - (size_t)used, ", misfit to the power %.3g",
             law->scale.term[GPNN_SCALE_MISFIT].coefficient);
  return text;
}

/* The atom that was found, in words to follow those of the law; nothing if there is none. */
static const char *describe_atom(const struct gpnn_atom *atom, char text[128])
{
  *text = '\0';
  if (atom->share > 0)
    snprintf(text, 128, "; an atom at %.6g, where %.3g %% of the targets are", atom->value,
             100 * atom->share);
  return text;
}

/* Reports the calibration of a scale. */
static enum gpnn_status report_scale(const struct cli *cli, const struct calibrate_arguments *a,
                                     const struct row_choice *choice,
                                     const struct gpnn_calibrate_report *calibration,
                                     struct gpnn_parameters *params, struct gpnn_error *err)
{
  char text[128], atom[128], error[UNCERTAINTY_BYTES];
  describe_law(&calibration->law, text);
  describe_atom(&calibration->atom, atom);
  uncertainty_describe(calibration->standard_error, error);
  cli_note(cli, "%s; standard error of the scale %s, from %zu rows%s", text, error,
           calibration->n_rows, atom);
  warn_if_uncertain(cli, a, choice, calibration);
  return gpnn_parameters_comment(
      params, err, "calibration: %s; standard error of the scale %s, from %zu %s rows%s", text,
      error, calibration->n_rows, kind_of_rows(a, choice->on), atom);
}

/* What alpha was multiplied into or stands for. */
static const char *describe_alpha(const struct gpnn_calibrate_report *calibration)
{
  if (calibration->by_scale) return "scale";
  if (calibration->by_temperature) return "temperature";
  return calibration->by_factor ? "factor" : "noise alone, instead of a factor";
}

static enum gpnn_status report(const struct cli *cli, const struct calibrate_arguments *a,
                               const struct row_choice *choice,
                               const struct gpnn_calibrate_report *calibration,
                               struct gpnn_parameters *params, struct gpnn_error *err)
{
  char error[UNCERTAINTY_BYTES];
  uncertainty_describe(calibration->standard_error, error);
  cli_note(cli, "alpha %.6g, standard error %s, from %zu rows", calibration->alpha, error,
           calibration->n_rows);
  if (calibration->by_factor && a->by == GPNN_CALIBRATE_NOISE)
    cli_warn(cli, "no noise variance calibrates the predictions: kernel scale and noise are both "
                  "multiplied by the factor instead");
  warn_if_uncertain(cli, a, choice, calibration);
  return gpnn_parameters_comment(params, err,
                                 "calibration: %s %.6g, standard error %s, from %zu %s rows",
                                 describe_alpha(calibration), calibration->alpha, error,
                                 calibration->n_rows, kind_of_rows(a, choice->on));
}

/* Reports a factor from rows used for the fit, which shows at most that variances were too small.
 */
static enum gpnn_status report_bound(const struct cli *cli, const struct calibrate_arguments *a,
                                     const struct row_choice *choice,
                                     const struct gpnn_calibrate_report *calibration, bool applied,
                                     struct gpnn_parameters *params, struct gpnn_error *err)
{
  cli_note(cli, "alpha %.6g%s, standard error not known, from %zu rows", calibration->alpha,
           applied ? "" : ", not applied", calibration->n_rows);
  return gpnn_parameters_comment(
      params, err,
      "not calibrated: %s %.6g%s, standard error not known, from %zu %s rows; the fit used %zu of "
      "%zu",
      describe_alpha(calibration), calibration->alpha,
      applied ? calibration->by_temperature ? ", or less" : ", or more" : ", which was not applied",
      calibration->n_rows, kind_of_rows(a, choice->on), choice->n_fitted, choice->n_rows);
}

/* What was found, as an object of the report, if there is one. */
static void report_json(const struct cli *cli, const struct calibrate_arguments *a,
                        const struct row_choice *choice,
                        const struct gpnn_calibrate_report *calibration, const char *target,
                        bool applied)
{
  struct json *report = cli->report;
  const struct gpnn_scale_law *law = &calibration->law;
  bool noise = !calibration->by_scale && !calibration->by_temperature && !calibration->by_factor;
  const char *adjusted = noise ? "noise" : describe_alpha(calibration);
  json_open(report, NULL, '{');
  json_text(report, "target", target);
  json_text(report, "on", kind_of_rows(a, choice->on));
  json_count(report, "rows", calibration->n_rows);
  json_text(report, "adjusted", adjusted);
  json_number(report, noise ? "factor" : adjusted, calibration->alpha);
  json_number(report, "standard-error", choice->circular ? NAN : calibration->standard_error);
  json_flag(report, "applied", applied);
  if (law->degrees > 0) json_number(report, "degrees", law->degrees);
  if (calibration->by_scale)
    json_number(report, "misfit-power", law->scale.term[GPNN_SCALE_MISFIT].coefficient);
  if (calibration->atom.share > 0) {
    json_number(report, "atom", calibration->atom.value);
    json_number(report, "atom-share", calibration->atom.share);
  }
  if (calibration->by_temperature) temperature_to_json(report, calibration);
  json_close(report, '}');
}

/* Applies the calibration to the parameters. */
static enum gpnn_status apply(const struct cli *cli, const struct calibrate_arguments *a,
                              const struct row_choice *choice,
                              const struct gpnn_calibrate_report *calibration, const char *target,
                              struct gpnn_parameters *params, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (a->neighbours > 0) gpnn_parameters_set_neighbours(params, a->neighbours);
  report_counts(cli, &calibration->counts);
  if (choice->circular) {
    bool applied = gpnn_calibrate_apply_bound(calibration, params);
    report_json(cli, a, choice, calibration, target, applied);
    return report_bound(cli, a, choice, calibration, applied, params, err);
  }
  gpnn_calibrate_apply(calibration, params);
  report_json(cli, a, choice, calibration, target, true);
  if (a->conformal.n > 0)
    status = gpnn_conformal_record(params, calibration->n_rows, calibration->z, a->conformal.n,
                                   a->conformal.p, err);
  if (status != GPNN_OK) return status;
  if (calibration->by_temperature)
    return temperature_report(cli, kind_of_rows(a, choice->on), calibration, params, err);
  return calibration->by_scale ? report_scale(cli, a, choice, calibration, params, err)
                               : report(cli, a, choice, calibration, params, err);
}

/* ---- the tool ----------------------------------------------------------------------------- */

/* Finds the calibration of one target. */
static enum gpnn_status find(const struct cli *cli, const struct calibrate_arguments *a,
                             const struct opened *opened, size_t target, struct across *across,
                             struct row_choice *choice, struct gpnn_calibrate_report *calibration,
                             struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.neighbours = a->neighbours, .threads = cli->threads};
  const struct gpnn_channel *channel = &opened->channels[target];
  struct gpnn_reader_rows rows = {0};
  struct gpnn_model *model = NULL;
  enum gpnn_status status = temperature_check(cli, opened, target, err);
  if (status != GPNN_OK) return status;
  if (a->by == GPNN_CALIBRATE_NOISE && channel->parameters->likelihood != GPNN_LIKELIHOOD_GAUSSIAN)
    return gpnn_fail(err, GPNN_EDATA,
                     "--adjust noise is for Gaussian parameters: these have a scale instead; fit "
                     "with --likelihood gaussian");
  status = open_model(cli, opened, target, 1, &options, &model, err);
  if (status == GPNN_OK) status = choose_rows(cli, a, opened, target, choice, err);
  if (status == GPNN_OK) status = cross_fit(cli, a, opened, target, choice, across, err);
  if (status == GPNN_OK) status = read_table(cli, a, channel, &rows, err);
  if (status == GPNN_OK)
    status = calibrate(cli, a, choice->on, &rows, model, across, target, calibration, err);
  gpnn_model_free(model);
  gpnn_reader_rows_release(&rows);
  return status;
}

/* Calibrates the parameters of one target. */
static enum gpnn_status run_target(const struct cli *cli, const struct calibrate_arguments *a,
                                   const struct opened *opened, size_t target,
                                   struct across *across, struct gpnn_error *err)
{
  struct gpnn_calibrate_report calibration = {0};
  struct row_choice choice = {0};
  enum gpnn_status status = find(cli, a, opened, target, across, &choice, &calibration, err);
  if (status == GPNN_OK)
    status =
        apply(cli, a, &choice, &calibration, opened->channels[target].dataset->schema.target.name,
              &opened->parameters[target], err);
  gpnn_calibrate_report_release(&calibration);
  return status;
}

/* GPNN_EMISMATCH: what is asked for needs training rows, which a model file does not have. */
static enum gpnn_status check_model(const struct calibrate_arguments *a,
                                    const struct opened *opened, struct gpnn_error *err)
{
  if (opened->dataset->stored == NULL) return GPNN_OK;
  if (source(a) != GPNN_CALIBRATE_GIVEN)
    return open_refuse_model(opened->index,
                             "--loo, --blocked and --like are for an index; calibrate on its "
                             "held-out rows, or on a table (--with)",
                             err);
  if (a->by == GPNN_CALIBRATE_NOISE)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s is a model file, whose noise variance belongs to its other numbers: "
                     "calibrate without --adjust noise",
                     gpnn_index_path(opened->index));
  return GPNN_OK;
}

/* GPNN_EDATA: there are no rows of the kind asked for of some target. */
static enum gpnn_status check_rows(const struct calibrate_arguments *a, const struct opened *opened,
                                   struct gpnn_error *err)
{
  const char *table = a->with != NULL ? a->with : a->like;
  bool needs_held_out = source(a) == GPNN_CALIBRATE_GIVEN && a->with == NULL;
  for (size_t t = 0; t < opened->n && needs_held_out; t++) {
    const struct gpnn_dataset *dataset = opened->channels[t].dataset;
    const char *name = dataset->schema.target.name;
    char shown[GPNN_MASK_BYTES];
    bool is_partial = opened->dataset->n_calibration > 0;
    bool is_circular = gpnn_calibrate_is_circular(opened->channels[t].parameters,
                                                  gpnn_dataset_n_distinct(dataset));
    if (dataset->n_calibration > 0 || across_is_possible(opened, t)) continue;
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: holds no calibration rows%s%s%s; hold some out (gpnn-index "
                     "--calibration-rows), or use --with TABLE%s",
                     gpnn_index_path(opened->index), is_partial ? " with target '" : "",
                     is_partial ? gpnn_mask(shown, name, strlen(name)) : "", is_partial ? "'" : "",
                     dataset->stored == NULL && !is_circular ? ", or --loo" : "");
  }
  if (opened->n > 1 && table != NULL && strcmp(table, "-") == 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "TABLE is read once for each target, so it cannot be standard input");
  return GPNN_OK;
}

static enum gpnn_status write(const struct opened *opened, struct gpnn_output *output,
                              struct gpnn_error *err)
{
  return opened->dataset->stored != NULL
             ? gpnn_parameters_write_calibration(opened->parameters, opened->n, output, err)
             : gpnn_parameters_write_with_state(opened->parameters, opened->n, opened->state,
                                                output, err);
}

enum gpnn_status calibrate_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct calibrate_arguments *a = arguments;
  struct opened opened = {.maker = a->maker};
  struct across across = {0};
  struct gpnn_output *output = NULL;
  enum gpnn_status status = open_files(cli, cli_operand(cli, 0), a->params, false, &opened, err);
  if (status == GPNN_OK)
    status = open_refuse_grid(opened.index, "gpnn-grid fit has calibrated its parameters", err);
  if (status == GPNN_OK) status = check_model(a, &opened, err);
  if (status == GPNN_OK) status = check_rows(a, &opened, err);
  json_open(cli->report, "targets", '[');
  for (size_t t = 0; t < opened.n && status == GPNN_OK; t++) {
    struct cli about = *cli;
    if (opened.n > 1) about.target = opened.parameters[t].target;
    status = run_target(&about, a, &opened, t, &across, err);
  }
  json_close(cli->report, ']');
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK) status = write(&opened, output, err);
  status = cli_close_output(output, status, err);
  across_release(&across);
  open_release(&opened);
  return status;
}
