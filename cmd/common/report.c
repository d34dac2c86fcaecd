#include "cmd/common/report.h"

#include "models/predict.h"

void report_jitter(const struct cli *cli, const char *what, const struct gpnn_jitter *jitter)
{
  if (jitter->n == 0) return;
  cli_warn(
      cli,
      "%zu of the %s had a covariance that is not positive definite; up to %.1e was added to its "
      "diagonal",
      jitter->n, what, jitter->most);
}

void report_no_signal(const struct cli *cli, const struct gpnn_covariance *covariance)
{
  if (covariance->kernelscale >= 1e-3 * covariance->noise) return;
  cli_warn(cli,
           "a kernel scale of %.3g beside a noise variance of %.3g: predictions are hardly more "
           "than the mean; if the inputs should tell more, start elsewhere (--start), or with more "
           "rows",
           covariance->kernelscale, covariance->noise);
}

void report_counts(const struct cli *cli, const struct gpnn_counts *counts)
{
  report_jitter(cli, "rows", &counts->jitter);
  if (counts->n_clamped > 0)
    cli_note(cli, "%zu rows had a variance that rounding made negative; set to zero",
             counts->n_clamped);
}

void report_distances(const struct cli *cli, const struct gpnn_counts *counts,
                      const struct gpnn_calibration *calibration)
{
  double share = counts->n_rows == 0 ? 0 : 100 * (double)counts->n_far / (double)counts->n_rows;
  if (counts->n_beyond > 0)
    cli_note(cli, "%zu of %zu rows lie beyond the largest distance", counts->n_beyond,
             counts->n_rows);
  if (gpnn_predict_warns_of_far(counts))
    cli_warn(cli,
             "%.3g %% of %zu rows lie " REPORT_FAR
             "; their uncertainty may be too small: see --like and --blocked in gpnn-calibrate(1)",
             share, counts->n_rows);
  else if (calibration->has_distance)
    cli_note(cli, "%.3g %% of the rows lie " REPORT_FAR, share);
}
