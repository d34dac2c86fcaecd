#include "cmd/fit/fit.h"

#include <math.h>

#include "container/state.h"
#include "estimate/count_sites.h"

/* ---- regression --------------------------------------------------------------------------- */

/* Options as they are for regression on pseudo-targets in standardised units. */
static struct gpnn_choose_options regression(const struct fit_arguments *a,
                                             const struct gpnn_count_sites *sites)
{
  struct gpnn_choose_options choose = a->choose;
  double square = sites->unit * sites->unit;
  choose.likelihood = GPNN_LIKELIHOOD_GAUSSIAN;
  choose.scores = false;
  choose.fit.fixed_kernelscale /= square;
  choose.fit.fixed_noise /= square;
  return choose;
}

/* Leaves nothing to choose: what 'params' have is estimated again, from where they are. */
static void continue_from(struct gpnn_choose_options *choose, const struct gpnn_parameters *params)
{
  choose->fit.kernel = params->covariance.kernel;
  choose->fit.smoothness = params->covariance.smoothness;
  choose->fit.ard = params->covariance.n_lengthscales > 1;
  choose->fit.rotation = params->covariance.rotation;
  choose->fit.neighbours = params->neighbours;
  choose->fit.start = params;
  choose->fit.n_starts = 0;
  choose->kernel = choose->ard = choose->neighbours = choose->k = choose->rotation = false;
  choose->rotate = GPNN_ROTATE_NONE;
}

/* The parameters to start from, in the units of the regression: those of --start, unless these are
 * of something else than counts, whose units are others. */
static enum gpnn_status bring_start(const struct gpnn_count_sites *sites,
                                    struct gpnn_parameters *start, struct gpnn_error *err)
{
  if (!gpnn_likelihood_is_of_counts(start->likelihood)) return GPNN_OK;
  return gpnn_parameters_change_units(start, -sites->centre / sites->unit, 1 / sites->unit, err);
}

/* Regression on the sites, by the first fit of counts. */
static enum gpnn_status fit_first(const struct cli *cli, const struct fit_arguments *a,
                                  struct gpnn_count_sites *sites, struct gpnn_parameters *params,
                                  struct gpnn_choose_report *report, struct gpnn_error *err)
{
  struct gpnn_dataset view;
  const struct gpnn_dataset *views[] = {&view};
  gpnn_count_sites_standardise(sites, true, &view);
  struct gpnn_choose_options choose = regression(a, sites);
  struct gpnn_parameters start = {0};
  enum gpnn_status status = GPNN_OK;
  if (a->start != NULL) {
    status = fit_read_start(a, &start, err);
    if (status == GPNN_OK) status = bring_start(sites, &start, err);
    choose.fit.start = &start;
  }
  struct fit_report_tries telling = {cli, 0, gpnn_choose_most(&view, &choose)};
  if (status == GPNN_OK)
    status = gpnn_choose(1, views, &choose, fit_report_try, &telling, params, report, err);
  gpnn_parameters_release(&start);
  return status == GPNN_OK ? gpnn_parameters_change_units(params, sites->centre, sites->unit, err)
                           : status;
}

/* The same again, once the sites are better: 'again', zeroed, gets the parameters of counts that
 * follow from those in 'params', which change units meanwhile. */
static enum gpnn_status fit_again(const struct fit_arguments *a, struct gpnn_count_sites *sites,
                                  struct gpnn_parameters *params, struct gpnn_parameters *again,
                                  struct gpnn_error *err)
{
  struct gpnn_dataset view;
  const struct gpnn_dataset *views[] = {&view};
  struct gpnn_choose_report report;
  gpnn_count_sites_standardise(sites, true, &view);
  struct gpnn_choose_options choose = regression(a, sites);
  continue_from(&choose, params);
  enum gpnn_status status =
      gpnn_parameters_change_units(params, -sites->centre / sites->unit, 1 / sites->unit, err);
  if (status != GPNN_OK) return status;
  status = gpnn_choose(1, views, &choose, NULL, NULL, again, &report, err);
  enum gpnn_status back = gpnn_parameters_change_units(params, sites->centre, sites->unit, err);
  if (status == GPNN_OK) status = back;
  return status == GPNN_OK ? gpnn_parameters_change_units(again, sites->centre, sites->unit, err)
                           : status;
}

/* ---- sweeps ------------------------------------------------------------------------------- */

/* Makes parameters of a regression those of counts.  What regression takes for noise besides that
 * of the sites is variation beyond Poisson's, for which the negative binomial has its dispersion.
 */
static void make_counts(const struct fit_arguments *a, double dispersion,
                        struct gpnn_parameters *params)
{
  const double least = 0.05, most = 1000;
  params->likelihood = (enum gpnn_likelihood)a->likelihood;
  if (params->likelihood != GPNN_LIKELIHOOD_NEGBIN) return;
  double beyond = expm1(params->covariance.noise);
  params->dispersion = dispersion > 0 ? dispersion : fmin(fmax(1 / beyond, least), most);
  if (a->choose.fit.fixed_noise == 0) params->covariance.noise = 0;
}

static enum gpnn_status sweep(const struct cli *cli, const struct fit_arguments *a, size_t n,
                              struct gpnn_count_sites *sites, struct gpnn_parameters *params,
                              struct gpnn_count_sites_report *report, struct gpnn_error *err)
{
  const struct gpnn_count_sites_options options = {.sweeps = n,
                                                   .fixed_dispersion = a->dispersion > 0,
                                                   .seed = cli->seed,
                                                   .threads = a->choose.fit.threads};
  enum gpnn_status status = gpnn_count_sites_sweep(sites, params, &options, report, err);
  if (status != GPNN_OK) return status;
  cli_note(cli, "%zu sweeps: NLL %.4f of %zu counts left out", report->sweeps, report->loss,
           report->n_rows);
  return GPNN_OK;
}

enum { SWEEPS = 8 };

/* Takes other sites and parameters, with the loss that they leave, in place of those there are. */
static void take(struct gpnn_count_sites *sites, struct gpnn_parameters *params,
                 struct gpnn_count_sites_report *swept, struct gpnn_count_sites *other,
                 struct gpnn_parameters *others, const struct gpnn_count_sites_report *left)
{
  const struct gpnn_count_sites old = *sites;
  const struct gpnn_parameters before = *params;
  *sites = *other;
  *other = old;
  *params = *others;
  *others = before;
  *swept = *left;
}

/* Estimates the parameters again from the sites, and keeps what comes of it if rows left out are
 * predicted better: regression takes sites for normal, which those of few events are not. */
static enum gpnn_status refine(const struct cli *cli, const struct fit_arguments *a,
                               struct gpnn_count_sites *sites, struct gpnn_parameters *params,
                               struct gpnn_count_sites_report *swept, struct gpnn_error *err)
{
  struct gpnn_count_sites other = {0};
  struct gpnn_parameters again = {0};
  struct gpnn_count_sites_report left = {.loss = INFINITY};
  enum gpnn_status status = fit_again(a, sites, params, &again, err);
  if (status == GPNN_OK) make_counts(a, params->dispersion, &again);
  if (status == GPNN_OK) status = gpnn_count_sites_copy(&other, sites, err);
  if (status == GPNN_OK) status = sweep(cli, a, SWEEPS, &other, &again, &left, err);
  if (status == GPNN_OK && left.loss < swept->loss)
    take(sites, params, swept, &other, &again, &left);
  gpnn_count_sites_release(&other);
  gpnn_parameters_release(&again);
  return status == GPNN_ENUMERIC ? GPNN_OK : status; /* they stay if others cannot be found */
}

/* Quarters the kernel scale while rows left out are predicted better with the smaller one. */
static enum gpnn_status shrink(const struct cli *cli, const struct fit_arguments *a,
                               struct gpnn_count_sites *sites, struct gpnn_parameters *params,
                               struct gpnn_count_sites_report *swept, struct gpnn_error *err)
{
  enum { MOST = 5 };
  enum gpnn_status status = GPNN_OK;
  bool helps = a->choose.fit.fixed_kernelscale == 0;
  for (int k = 0; k < MOST && helps && status == GPNN_OK; k++) {
    struct gpnn_count_sites other = {0};
    struct gpnn_count_sites_report left;
    const double scale = params->covariance.kernelscale, dispersion = params->dispersion;
    double *constant = params->mean.n_coefficients > 0 ? params->mean.coefficients : NULL;
    const double before = constant == NULL ? 0 : *constant;
    status = gpnn_count_sites_copy(&other, sites, err);
    params->covariance.kernelscale = 0.25 * scale;
    if (status == GPNN_OK) status = sweep(cli, a, SWEEPS, &other, params, &left, err);
    helps = status == GPNN_OK && left.loss < swept->loss;
    if (helps) {
      const struct gpnn_count_sites old = *sites;
      *sites = other;
      other = old;
      *swept = left;
    } else {
      params->covariance.kernelscale = scale;
      params->dispersion = dispersion;
      if (constant != NULL) *constant = before;
    }
    gpnn_count_sites_release(&other);
  }
  return status == GPNN_ENUMERIC ? GPNN_OK : status; /* as in refine() */
}

/* Finds sites and parameters in turn. */
static enum gpnn_status alternate(const struct cli *cli, const struct fit_arguments *a,
                                  struct gpnn_count_sites *sites, struct gpnn_parameters *params,
                                  struct gpnn_choose_report *report,
                                  struct gpnn_count_sites_report *swept, struct gpnn_error *err)
{
  enum gpnn_status status = fit_first(cli, a, sites, params, report, err);
  if (status != GPNN_OK) return status;
  make_counts(a, a->dispersion, params);
  status = sweep(cli, a, SWEEPS, sites, params, swept, err);
  if (status == GPNN_OK) status = refine(cli, a, sites, params, swept, err);
  return status == GPNN_OK ? shrink(cli, a, sites, params, swept, err) : status;
}

/* Adds comments for readers, and the sites to the state. */
static enum gpnn_status record(const struct gpnn_count_sites *sites,
                               const struct gpnn_choose_report *report,
                               const struct gpnn_count_sites_report *swept,
                               struct gpnn_parameters *params, struct gpnn_state *state,
                               struct gpnn_error *err)
{
  const char *target = sites->dataset->schema.target.name;
  size_t n = sites->dataset->n;
  enum gpnn_status status =
      fit_report_annotate(params, sites->dataset, sites->dataset->n, report, err);
  params->provenance.estimation = (struct gpnn_estimation){0}; /* it says nothing of counts */
  if (status == GPNN_OK)
    status = gpnn_parameters_comment(params, err, "counts: NLL %.4f (%zu rows left out)",
                                     swept->loss, swept->n_rows);
  if (status == GPNN_OK)
    status = gpnn_state_add(state, target, GPNN_STATE_TARGET, n, sites->target, err);
  return status == GPNN_OK ? gpnn_state_add(state, target, GPNN_STATE_NOISE, n, sites->noise, err)
                           : status;
}

enum gpnn_status fit_counts(const struct cli *cli, const struct fit_arguments *a,
                            const struct gpnn_dataset *dataset, size_t t, struct gpnn_state *state,
                            struct gpnn_parameters *params, bool *is_counts, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = gpnn_dataset_target(dataset, t);
  struct gpnn_count_sites sites = {0};
  struct gpnn_choose_report report = {0};
  struct gpnn_count_sites_report swept = {0};
  enum gpnn_status status = gpnn_count_sites_new(&sites, view, err);
  *is_counts = status != GPNN_EDATA;
  if (status != GPNN_OK) return status;
  fit_report_begin(cli, dataset, t, 1);
  status = alternate(cli, a, &sites, params, &report, &swept, err);
  fit_report_end_tried(cli);
  if (status == GPNN_OK) status = record(&sites, &report, &swept, params, state, err);
  if (status == GPNN_OK) {
    fit_report_found(cli, 0, params, a->choose.fit.thin, &report.fit);
    fit_report_result(cli, params, &report);
  }
  fit_report_end(cli);
  gpnn_count_sites_release(&sites);
  return status;
}
