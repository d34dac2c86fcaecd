#include "cmd/calibrate/temperature.h"

#include <stdio.h>

enum gpnn_status temperature_check(const struct cli *cli, const struct opened *opened,
                                   size_t target, struct gpnn_error *err)
{
  static const char *const of_numbers[] = {"adjust", "conformal"};
  const struct gpnn_dataset *dataset = opened->channels[target].dataset;
  char name[GPNN_MASK_BYTES];
  if (gpnn_dataset_n_classes(dataset) == 0) return GPNN_OK;
  gpnn_schema_column_name(&dataset->schema.target, name);
  for (size_t i = 0; i < sizeof of_numbers / sizeof *of_numbers; i++)
    if (cli_given(cli, of_numbers[i]))
      return gpnn_fail(err, GPNN_EINVAL, "--%s is about numbers, and target '%s' holds classes",
                       of_numbers[i], name);
  return GPNN_OK;
}

enum gpnn_status temperature_report(const struct cli *cli, const char *kind,
                                    const struct gpnn_calibrate_report *calibration,
                                    struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct gpnn_calibrate_losses *losses = &calibration->losses;
  char text[256];
  if (calibration->standard_error > 0)
    snprintf(text, sizeof text,
             "temperature %.4g, standard error %.2g, log loss %.4g -+ %.2g before and %.4g -+ %.2g "
             "after, from %zu",
             calibration->alpha, calibration->standard_error, losses->before, losses->before_error,
             losses->after, losses->after_error, calibration->n_rows);
  else
    snprintf(text, sizeof text, "temperature 1, log loss %.4g -+ %.2g, from %zu", losses->after,
             losses->after_error, calibration->n_rows);
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
