/*
 * params: the parameters of a local Gaussian process, and the text they travel as
 * (the format of gpnn-parameters(5)).
 *
 * All values are in standardised units: lengthscales in units of the standardised inputs,
 * kernel scale and noise variance in units of the standardised target squared.
 */
#ifndef GPNN_KERNEL_PARAMETERS_H
#define GPNN_KERNEL_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/covariance.h"
#include "kernel/mean.h"
#include "table/stream.h"

/* Levels of gpnn_calibration.distance. */
enum { GPNN_N_DISTANCES = 4 };

/* What calibration found; zeroed: nothing. */
struct gpnn_calibration {
  bool has_factor;
  double factor; /* > 0: kernelscale and noise were multiplied by it, and contain it */
  size_t n_conformal;
  double *conformal_level; /* owned; n_conformal of them, in (0, 1), rising */
  double *conformal_width; /* owned; half the width of an interval of that level, in sd */
  bool has_distance;
  double distance[GPNN_N_DISTANCES]; /* from a calibration row to its nearest training row, in the
                                        kernel's metric: quantiles .5 .9 .99 .999 */
};

/* Where parameters come from; zeroed: not known. */
struct gpnn_provenance {
  size_t fit_rows; /* training rows that they were estimated from; 0: not known */
  bool has_index;
  uint64_t index; /* fingerprint of the index they were made from */
  char *comments; /* owned; "# ..." lines to write below the first, or NULL */
};

/* A model's parameters: the model itself, its calibration, its provenance.  A zeroed object is
 * empty and may be released. */
struct gpnn_parameters {
  char *target; /* owned; name of the target they are of; NULL: the only one */
  struct gpnn_covariance covariance;
  struct gpnn_mean_function mean;
  double degrees;    /* > 2: of freedom of a Student-t predictive distribution with the variance
                        predicted; 0: it is Gaussian */
  size_t neighbours; /* m >= 1 */
  struct gpnn_calibration calibration;
  struct gpnn_provenance provenance;
};

/*
 * Reads parameters from 'path' ("-": standard input): those of one target, or of several one
 * after another, each beginning with a line that names its target.  '*params' gets an array of
 * '*n' >= 1 in the order of the text, for gpnn_parameters_release_all().
 *
 * Names may come in any order; kernel, lengthscale, kernelscale and noise are required, of the
 * others neighbours is 400 where it is missing.  Blank lines are passed over; of a target's lines
 * from # the first 100 are kept as comments, cut to 500 bytes and without blanks at their ends,
 * except that a first line naming a later format version is refused (GPNN_EVERSION).  GPNN_EDATA,
 * with "path:line: ..." or, where it is of no one line, "path: ...": a NUL byte, unknown or
 * repeated name, missing name, a target twice, value out of range, values that do not go together,
 * empty input.  A table in place of parameters is told as such (GPNN_EDATA), and so is an index
 * file (GPNN_EMISMATCH).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_all(struct gpnn_parameters **params,
                                                          size_t *n, const char *path,
                                                          struct gpnn_error *err);

/* The same where one target is expected; several are GPNN_EMISMATCH.  'params' must be zeroed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read(struct gpnn_parameters *params,
                                                      const char *path, struct gpnn_error *err);

/* GPNN_EDATA: a target of this name would not read back: it is empty, has a line end, or a blank at
 * either end. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_check_target(const char *name,
                                                              struct gpnn_error *err);

/*
 * Writes the parameters of 'n' targets so that reading them gives the same values exactly.
 * GPNN_EINVAL, with nothing written: of several one has no target's name, or the same as another.
 * GPNN_EDATA as gpnn_parameters_check_target(), likewise.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write_all(const struct gpnn_parameters *params,
                                                           size_t n, struct gpnn_output *output,
                                                           struct gpnn_error *err);

/* The same for one. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write(const struct gpnn_parameters *params,
                                                       struct gpnn_output *output,
                                                       struct gpnn_error *err);

/* Adds one comment line (without "# " and line end), of which 508 bytes are kept. */
GPNN_PRINTF(3, 4)
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_comment(struct gpnn_parameters *params,
                                                         struct gpnn_error *err, const char *format,
                                                         ...);

/*
 * Checks that parameters fit an index of 'dataset' and 'fingerprint': another number of
 * lengthscales or of coefficients, or an index of other columns, is GPNN_EMISMATCH.
 * '*other_index' tells whether they name another index of the same columns, which is worth a
 * warning.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_check(const struct gpnn_parameters *params,
                                                       const struct gpnn_dataset *dataset,
                                                       uint64_t fingerprint, bool *other_index,
                                                       struct gpnn_error *err);

/* Whether parameters may have these: they read back only if the kernel scale is positive, the noise
 * not negative, and their sum finite. */
bool gpnn_parameters_can_have(double kernelscale, double noise);

void gpnn_parameters_release(struct gpnn_parameters *params);

/* Releases each of an array of 'n' and frees it; NULL is allowed. */
void gpnn_parameters_release_all(struct gpnn_parameters *params, size_t n);

#endif
