/*
 * calibrate_private: what calibrate.c has done by the files beside it.
 */
#ifndef GPNN_CMD_CALIBRATE_CALIBRATE_PRIVATE_H
#define GPNN_CMD_CALIBRATE_CALIBRATE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "assess/calibrate.h"
#include "assess/crossfit.h"
#include "cmd/calibrate/calibrate.h"
#include "cmd/common/json.h"
#include "cmd/common/open.h"

/* ---- errors of training rows, each by parameters that have not seen it (across.c) ------------ */

/* Zeroed: none yet. */
struct across {
  size_t first, n; /* the targets that it is of */
  struct gpnn_crossfit *crossfit;
};

/* True if the parameters of 'target' can be estimated again without some of the rows. */
bool across_is_possible(const struct opened *opened, size_t target);

/* Sets '*across' to a cross-fit that 'target' is part of, unless it is that already.  Requires
 * across_is_possible(); outcomes as for gpnn_crossfit_new(). */
GPNN_MUST_CHECK enum gpnn_status across_make(struct across *across, const struct cli *cli,
                                             const struct calibrate_arguments *a,
                                             const struct opened *opened, size_t target,
                                             struct gpnn_error *err);

void across_release(struct across *across);

/* ---- of targets that hold classes (temperature.c) -------------------------------------------- */

enum { UNCERTAINTY_BYTES = 32 };

/* Writes a standard error to 'text' and returns it: a number, or "not known" if it is infinite, as
 * that of a single row is. */
const char *uncertainty_describe(double standard_error, char text[UNCERTAINTY_BYTES]);

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
