/* Methods with an estimation of their own: the conjugate model, and Polya-Gamma variables. */

#include "cmd/common/json.h"
#include "cmd/common/modelled.h"
#include "cmd/common/progress.h"
#include "cmd/fit/fit.h"
#include "kernel/coefficients.h"
#include "kernel/sight.h"
#include "models/polya_gamma/polya_gamma.h"

/* ---- conjugate ----------------------------------------------------------------------------- */

struct telling {
  const struct cli *cli;
  size_t n, n_all; /* points tried, and in all */
};

/* A point in the report, if there is one. */
static void put_point(struct json *report, const char *name,
                      const struct gpnn_conjugate_point *point)
{
  json_open(report, name, '{');
  json_number(report, "range", point->range);
  json_number(report, "noise-ratio", point->noise);
  json_number(report, "rmspe", point->rmspe);
  json_number(report, "crps", point->crps);
  json_close(report, '}');
}

/* With --verbose, prints a line per point tried. */
static void tell_point(void *context, const struct gpnn_conjugate_point *point)
{
  struct telling *telling = context;
  put_point(telling->cli->report, NULL, point);
  progress_update("points tried", ++telling->n, telling->n_all);
  cli_note(telling->cli, "tried effective range %8.4g, noise ratio %6.4g: RMSPE %.4f, CRPS %.4f",
           point->range, point->noise, point->rmspe, point->crps);
}

/* The method's own defaults, unless something else was given. */
static enum gpnn_status set_options(const struct fit_arguments *a,
                                    const struct gpnn_dataset *dataset,
                                    struct gpnn_conjugate_options *options, struct gpnn_error *err)
{
  const struct gpnn_choose_options *choose = &a->choose;
  const struct gpnn_fit_options *fit = &choose->fit;
  gpnn_conjugate_defaults(options);
  if (!choose->kernel) {
    options->kernel = fit->kernel;
    options->smoothness = fit->smoothness;
  }
  if (!choose->neighbours) options->neighbours = fit->neighbours;
  options->mean = fit->mean;
  options->n_folds = a->n_folds;
  options->score = a->score;
  options->seed = fit->seed;
  options->threads = fit->threads;
  if (fit->start == NULL || fit->start->covariance.n_lengthscales == 1) return GPNN_OK;
  if (fit->start->covariance.n_lengthscales != dataset->n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH, "the start has %zu lengthscales, the index has %zu",
                     fit->start->covariance.n_lengthscales, dataset->n_groups);
  options->ratio = fit->start->covariance.lengthscale;
  return GPNN_OK;
}

static enum gpnn_status annotate_conjugate(const struct gpnn_conjugate_report *report,
                                           size_t n_folds, const struct gpnn_dataset *rows,
                                           const struct gpnn_dataset *dataset,
                                           struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct gpnn_conjugate_point *best = &report->best;
  params->provenance.has_index = true;
  params->provenance.index = rows->fingerprint;
  enum gpnn_status status = gpnn_parameters_comment(
      params, err, "fit: conjugate, %zu folds of %zu of %zu rows, %zu points tried", n_folds,
      report->n_scored, dataset->n, report->n_points);
  if (status == GPNN_OK)
    status = gpnn_parameters_comment(
        params, err, "chosen: effective range %.4g, noise ratio %.4g, RMSPE %.4f, CRPS %.4f",
        best->range, best->noise, best->rmspe, best->crps);
  if (status == GPNN_OK) status = gpnn_sight_record(params, dataset, err);
  if (status == GPNN_OK) status = gpnn_coefficients_describe(params, dataset, err);
  return status;
}

static void tell_best(const struct cli *cli, const struct gpnn_conjugate_report *report)
{
  put_point(cli->report, "chosen", &report->best);
  fit_report_end(cli);
  cli_note(cli, "chosen: effective range %.4g, noise ratio %.4g", report->best.range,
           report->best.noise);
  if (report->at_least_range || report->at_most_range)
    cli_note(cli, "the range chosen is at the edge of those tried");
  if (report->at_least_noise || report->at_most_noise)
    cli_note(cli, "the noise ratio chosen is at the edge of those tried");
}

enum gpnn_status fit_conjugate(const struct cli *cli, const struct fit_arguments *a,
                               const struct gpnn_dataset *rows, size_t target,
                               struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_dataset_target(rows, target);
  struct gpnn_conjugate_options options;
  struct gpnn_conjugate_report report;
  enum gpnn_status status = set_options(a, dataset, &options, err);
  if (status != GPNN_OK) return status;
  struct telling telling = {cli, 0, options.n_ranges * options.n_noises};
  fit_report_begin(cli, rows, target, 1);
  status = gpnn_conjugate(dataset, &options, tell_point, &telling, params, &report, err);
  fit_report_end_tried(cli);
  if (status == GPNN_OK) status = modelled_name_target(rows, dataset, params, err);
  if (status == GPNN_OK)
    status = annotate_conjugate(&report, options.n_folds, rows, dataset, params, err);
  if (status != GPNN_OK) return status;
  tell_best(cli, &report);
  return GPNN_OK;
}

/* ---- Polya-Gamma variables ----------------------------------------------------------------- */

/* The method's own defaults, unless something else was given. */
static struct gpnn_polya_gamma_options options_of(const struct fit_arguments *a)
{
  struct gpnn_polya_gamma_options options = GPNN_POLYA_GAMMA_OPTIONS_INIT;
  const struct gpnn_choose_options *choose = &a->choose;
  const struct gpnn_fit_options *fit = &choose->fit;
  options.kernel = choose->kernel ? gpnn_kernel_by_name("matern52") : fit->kernel;
  options.smoothness = choose->kernel ? 0 : fit->smoothness;
  options.ard = choose->ard || fit->ard;
  if (!choose->neighbours) options.neighbours = fit->neighbours;
  options.batch = a->batch;
  options.steps = fit->steps;
  if (a->refresh > 0) options.refresh = a->refresh;
  options.learns_omega = a->omega == FIT_OMEGA_LEARNT;
  options.divergence_weight = a->kl_weight;
  options.fixed_lengthscale = fit->fixed_lengthscale;
  options.fixed_kernelscale = fit->fixed_kernelscale;
  options.start = fit->start;
  options.seed = fit->seed;
  options.threads = fit->threads;
  return options;
}

static enum gpnn_status annotate_polya_gamma(const struct gpnn_polya_gamma_report *report,
                                             size_t steps, const struct gpnn_dataset *rows,
                                             const struct gpnn_dataset *dataset,
                                             struct gpnn_parameters *params, struct gpnn_error *err)
{
  params->provenance.has_index = true;
  params->provenance.index = rows->fingerprint;
  enum gpnn_status status = modelled_name_target(rows, dataset, params, err);
  if (status == GPNN_OK) status = gpnn_sight_record(params, dataset, err);
  if (status != GPNN_OK) return status;
  return gpnn_parameters_comment(
      params, err,
      "fit: polya-gamma, %zu steps of %zu of %zu rows, %zu neighbours; loss %.4f (%zu rows left "
      "out)",
      steps, report->batch, dataset->n, report->k, report->loss, report->n_rows);
}

static void tell_loss(const struct cli *cli, const struct gpnn_polya_gamma_report *report)
{
  json_open(cli->report, "chosen", '{');
  json_number(cli->report, "loss", report->loss);
  json_number(cli->report, "rows", (double)report->n_rows);
  json_close(cli->report, '}');
  cli_note(cli, "loss %.4f of %zu rows left out, %zu neighbours, %zu searches", report->loss,
           report->n_rows, report->k, report->n_searches);
}

enum gpnn_status fit_polya_gamma(const struct cli *cli, const struct fit_arguments *a,
                                 const struct gpnn_dataset *rows, size_t target,
                                 struct gpnn_state *state, struct gpnn_parameters *params,
                                 struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_dataset_target(rows, target);
  const struct gpnn_polya_gamma_options options = options_of(a);
  struct gpnn_polya_gamma_report report;
  fit_report_begin(cli, rows, target, 1);
  enum gpnn_status status = gpnn_polya_gamma_fit(dataset, &options, params, &report, err);
  fit_report_end_tried(cli);
  if (status == GPNN_OK) tell_loss(cli, &report);
  fit_report_end(cli);
  if (status == GPNN_OK)
    status = annotate_polya_gamma(&report, options.steps, rows, dataset, params, err);
  return status == GPNN_OK ? gpnn_parameters_store_omega(params, state, err) : status;
}
