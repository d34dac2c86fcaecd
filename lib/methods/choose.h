/*
 * choose: which kernel, one lengthscale or many, and how many neighbours.
 *
 * Every candidate kernel, with one lengthscale for all inputs and with one for each, is fitted
 * (methods/fit.h), and each fit is scored on training rows that no fit saw: the mean negative
 * log density of a row predicted from its neighbours, itself left out, after the variances have
 * been multiplied by the best factor for these rows (methods/calibrate.h), since that is what a
 * user will get.  The best candidate is kept.  Then the fewest neighbours are taken whose score
 * is not worse than that of the best number by more than one standard error of the difference.
 */
#ifndef GPNN_METHODS_CHOOSE_H
#define GPNN_METHODS_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "data/index.h"
#include "methods/fit.h"
#include "models/params.h"

/* Beyond GPNN_CHOOSE_ARD inputs, a few thousand rows cannot tell their lengthscales apart, and
 * ARD is not tried. */
enum { GPNN_CHOOSE_ROWS = 512, GPNN_CHOOSE_NEIGHBOURS = 400, GPNN_CHOOSE_ARD = 64 };

struct gpnn_choose_options {
  struct gpnn_fit_options fit;  /* kernel, ard and neighbours are used where not chosen */
  bool kernel, ard, neighbours; /* which of them to choose */
};

/* One thing tried. */
struct gpnn_candidate {
  const struct gpnn_kernel *kernel;
  bool ard;
  size_t neighbours;
  double nll;            /* mean over the validation rows, standardised units; NaN: failed */
  double standard_error; /* of nll */
};

/* Is told of each candidate once it is scored. */
typedef void gpnn_choose_listener(void *context, const struct gpnn_candidate *candidate);

struct gpnn_choose_report {
  struct gpnn_candidate chosen, runner_up; /* with equally many neighbours; runner_up.kernel is
                                              NULL if there was none */
  struct gpnn_candidate fewest; /* the chosen one with the neighbours chosen; kernel NULL: not
                                   chosen */
  size_t n_rows;                /* rows the candidates were scored on */
  struct gpnn_fit_report fit;   /* of the chosen one */
};

/*
 * Chooses and fits; 'params' must be zeroed and is released by the caller.  The rows of the
 * score are drawn after those of the fit; where too few are left, among all training rows.
 * 'listener' may be NULL.  Outcomes as gpnn_fit_block(); a candidate whose covariances are
 * not positive definite is passed over.  Cost: a fit a candidate, and GPNN_CHOOSE_ROWS
 * predictions from up to GPNN_CHOOSE_NEIGHBOURS rows for each thing tried; under another
 * metric than the index's, a search over all rows is built for each.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choose(const struct gpnn_index *index, const struct gpnn_choose_options *options,
            gpnn_choose_listener *listener, void *context, struct gpnn_params *params,
            struct gpnn_choose_report *report, struct gpnn_error *err);

#endif
