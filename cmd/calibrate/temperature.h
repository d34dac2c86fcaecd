/*
 * temperature: what gpnn-calibrate tells of the temperature of a target that holds classes.
 */
#ifndef GPNN_CMD_CALIBRATE_TEMPERATURE_H
#define GPNN_CMD_CALIBRATE_TEMPERATURE_H

#include "assess/calibrate.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/common/json.h"
#include "cmd/common/open.h"

/* GPNN_EINVAL: an option is given that is about numbers, where target 'target' holds classes. */
GPNN_MUST_CHECK enum gpnn_status temperature_check(const struct cli *cli,
                                                   const struct opened *opened, size_t target,
                                                   struct gpnn_error *err);

/* Reports the temperature on standard error and as a comment of the parameters; 'kind' says which
 * rows it is from. */
GPNN_MUST_CHECK enum gpnn_status temperature_report(const struct cli *cli, const char *kind,
                                                    const struct gpnn_calibrate_report *calibration,
                                                    struct gpnn_parameters *params,
                                                    struct gpnn_error *err);

/* Adds what a report has of it to its open object. */
void temperature_to_json(struct json *report, const struct gpnn_calibrate_report *calibration);

#endif
