/*
 * row_weights: a Student-t likelihood for the mean, by a scale mixture: a training row that the
 * others contradict counts for less when neighbours are predicted from it (gpnn-methods(7),
 * equations 4.30 and 4.31).
 *
 * An error that is Student's t is normal with a variance that is divided by a gamma variable
 * lambda. Given the error e of a row, predicted from its neighbours without itself, E lambda = (nu
 * + 1) / (nu + e^2 / s^2), with s the scale and nu the degrees of freedom of the errors of all
 * rows.  Where that is below 1, the row's noise variance becomes that of the parameters divided by
 * it: what is added to the noise of the parameters is what gpnn_row_weights_find() gives.  Then all
 * rows are predicted again.
 *
 * Threads: no shared state; results do not depend on their number.
 */
#ifndef GPNN_ESTIMATE_ROW_WEIGHTS_H
#define GPNN_ESTIMATE_ROW_WEIGHTS_H

#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/* Sweeps over the rows, and neighbours that they predict from at most: more change little. */
enum { GPNN_ROW_WEIGHTS_SWEEPS = 2, GPNN_ROW_WEIGHTS_NEIGHBOURS = 64 };

/*
 * Writes to 'noise' (n) what is added to the noise of each training row of a view that has no known
 * noise.  Each sweep costs the predictions of all rows.  Outcomes as for gpnn_model_predict(), and
 * GPNN_ENUMERIC: every row is predicted without error.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_row_weights_find(const struct gpnn_dataset *dataset,
                                                       const struct gpnn_parameters *params,
                                                       int threads, double *noise,
                                                       struct gpnn_error *err);

/* What the weights gain. */
struct gpnn_row_weights_gain {
  double nll;            /* mean decrease of the negative log density of rows kept out */
  double standard_error; /* of that */
  size_t n_rows;         /* that were kept out */
};

/*
 * Measures the gain on random rows, a fifth up to 2000, of which neither weights nor predictions
 * know anything; the scale of the likelihood is estimated from others of them (likelihood/scale.h).
 * The likelihood of the parameters is student or local, and there are at least 10 rows.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_row_weights_gain(const struct gpnn_dataset *dataset,
                                                       const struct gpnn_parameters *params,
                                                       uint64_t seed, int threads,
                                                       struct gpnn_row_weights_gain *gain,
                                                       struct gpnn_error *err);

#endif
