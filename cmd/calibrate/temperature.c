#include "cmd/calibrate/calibrate_private.h"

#include <math.h>
#include <stdio.h>

const char *uncertainty_describe(double standard_error, char text[UNCERTAINTY_BYTES])
{
  if (isfinite(standard_error))
    snprintf(text, UNCERTAINTY_BYTES, "%.2g", standard_error);
  else
    snprintf(text, UNCERTAINTY_BYTES, "not known");
  return text;
}

enum gpnn_status temperature_check(const struct cli *cli, const struct opened *opened,
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

enum gpnn_status temperature_report(const struct cli *cli, const char *kind,
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

void temperature_to_json(struct json *report, const struct gpnn_calibrate_report *calibration)
{
  const struct gpnn_calibrate_losses *losses = &calibration->losses;
  json_number(report, "log-loss-before", losses->before);
  json_number(report, "log-loss-before-standard-error", losses->before_error);
  json_number(report, "log-loss-after", losses->after);
  json_number(report, "log-loss-after-standard-error", losses->after_error);
}
