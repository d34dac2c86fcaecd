#include "vecchia/regress.h"

#include "kernel/coefficients.h"
#include "vecchia/gls.h"

enum gpnn_status gpnn_regress(const struct gpnn_dataset *dataset,
                              const struct gpnn_regress_options *options,
                              struct gpnn_parameters *params, struct gpnn_regress_report *report,
                              struct gpnn_error *err)
{
  size_t n = dataset->n < options->most_rows ? dataset->n : options->most_rows;
  struct gpnn_gls_sums sums = {0};
  struct gpnn_coefficient_units units = {0};
  struct gpnn_vecchia_options vecchia = GPNN_VECCHIA_OPTIONS_INIT;
  double residual;
  if (n == 0 || options->neighbours == 0)
    return gpnn_fail(err, GPNN_EINVAL, "a regression needs rows and neighbours");
  vecchia.neighbours = options->neighbours;
  vecchia.seed = options->seed;
  vecchia.threads = options->threads;
  if (params->covariance.n_lengthscales != 1 &&
      params->covariance.n_lengthscales != dataset->n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH, "%zu lengthscales do not fit %zu inputs",
                     params->covariance.n_lengthscales, dataset->n_groups);
  size_t n_terms = gpnn_mean_width(params->mean.kind, dataset->d, dataset->n_regressors);
  enum gpnn_status status = gpnn_gls_sums_init(&sums, n_terms, err);
  if (status == GPNN_OK)
    status = gpnn_gls_add_dataset(&sums, dataset, params->mean.kind, &params->covariance, n,
                                  GPNN_RNG_REGRESS, &vecchia, err);
  if (status == GPNN_OK)
    status = gpnn_coefficient_units_init(&units, dataset, params->mean.kind, err);
  if (status == GPNN_OK)
    status = gpnn_gls_set_coefficients(&sums, units.names, &params->mean, &residual, err);
  if (status == GPNN_OK) *report = (struct gpnn_regress_report){n, sums.jitter};
  gpnn_coefficient_units_release(&units);
  gpnn_gls_sums_release(&sums);
  return status;
}
