#include "cmd/fit/polya_gamma.h"

#include <string.h>

#include "base/memory.h"
#include "cmd/common/json.h"
#include "cmd/common/modelled.h"
#include "cmd/fit/report.h"
#include "models/polya_gamma/polya_gamma.h"

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

static enum gpnn_status annotate(const struct gpnn_polya_gamma_report *report, size_t steps,
                                 const struct gpnn_index *index, const struct gpnn_dataset *dataset,
                                 struct gpnn_parameters *params, struct gpnn_error *err)
{
  params->provenance.has_index = true;
  params->provenance.index = gpnn_index_dataset(index)->fingerprint;
  enum gpnn_status status = modelled_name_target(gpnn_index_dataset(index), dataset, params, err);
  if (status != GPNN_OK) return status;
  return gpnn_parameters_comment(
      params, err,
      "fit: polya-gamma, %zu steps of %zu of %zu rows, %zu neighbours; loss %.4f (%zu rows left "
      "out)",
      steps, report->batch, dataset->n, report->k, report->loss, report->n_rows);
}

static void tell(const struct cli *cli, const struct gpnn_polya_gamma_report *report)
{
  if (cli->report != NULL) {
    json_open(cli->report, "chosen", '{');
    json_number(cli->report, "loss", report->loss);
    json_number(cli->report, "rows", (double)report->n_rows);
    json_close(cli->report, '}');
  }
  cli_note(cli, "loss %.4f of %zu rows left out, %zu neighbours, %zu searches", report->loss,
           report->n_rows, report->k, report->n_searches);
}

enum gpnn_status fit_polya_gamma(const struct cli *cli, const struct fit_arguments *a,
                                 const struct gpnn_index *index, size_t target,
                                 struct gpnn_state *state, struct gpnn_parameters *params,
                                 struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_dataset_target(gpnn_index_dataset(index), target);
  const struct gpnn_polya_gamma_options options = options_of(a);
  struct gpnn_polya_gamma_report report;
  fit_report_begin(cli, gpnn_index_dataset(index), target, 1);
  enum gpnn_status status = gpnn_polya_gamma_fit(dataset, &options, params, &report, err);
  fit_report_end_tried(cli);
  if (status == GPNN_OK) tell(cli, &report);
  fit_report_end(cli);
  if (status == GPNN_OK) status = annotate(&report, options.steps, index, dataset, params, err);
  return status == GPNN_OK ? gpnn_parameters_store_omega(params, state, err) : status;
}
