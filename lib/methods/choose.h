/*
 * choose: which kernel, one lengthscale or many, how many neighbours.
 *
 * Candidates are fitted (methods/fit.h) and scored on training rows whose density no fit saw: the
 * mean negative log density of a row predicted from its neighbours, itself left out, after the
 * variances have been multiplied by the best factor for these rows (methods/calibrate.h), since
 * that is what a user will get.  The best candidate is kept.  Then the fewest neighbours are taken
 * whose score is not worse than that of the best number by more than one standard error of the
 * difference.
 *
 * How much is tried:
 *   fast      every kernel, isotropic and ARD, by the objective of blocks alone;
 *   normal    every kernel under ARD by leave-one-out, the first from blocks, the others from it;
 *             then the best of them with one lengthscale;
 *   thorough  then the best two again, from where they are, with four times the rows, three times
 *             the steps and twice the neighbours.
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
enum { GPNN_CHOOSE_ROWS = 1024, GPNN_CHOOSE_NEIGHBOURS = 400, GPNN_CHOOSE_ARD = 64 };

enum gpnn_effort { GPNN_EFFORT_FAST = 0, GPNN_EFFORT_NORMAL = 1, GPNN_EFFORT_THOROUGH = 2 };

struct gpnn_choose_options {
  struct gpnn_fit_options fit;     /* what is not chosen is used as it is here */
  bool kernel, ard, neighbours, k; /* which of them to choose */
  bool objective;                  /* whether the objective goes by the effort */
  enum gpnn_effort effort;
};

/* One thing tried. */
struct gpnn_candidate {
  const struct gpnn_kernel *kernel; /* NULL: none */
  double smoothness;
  bool ard;
  enum gpnn_objective_kind objective;
  size_t k; /* neighbours in the objective; 0 under blocks */
  size_t neighbours;
  double nll;            /* mean over the validation rows, standardised units; NaN: failed */
  double standard_error; /* of nll */
};

/* Is told of each candidate once it is scored. */
typedef void gpnn_choose_listener(void *context, const struct gpnn_candidate *candidate);

struct gpnn_choose_report {
  struct gpnn_candidate chosen, runner_up; /* each with its best number of neighbours */
  struct gpnn_candidate fewest; /* the chosen one with the neighbours chosen; kernel NULL: not
                                   chosen */
  size_t n_rows;                /* rows the candidates were scored on */
  struct gpnn_fit_report fit;   /* of the chosen one */
};

/*
 * Chooses and fits for the target of 'contents', which is of 'index'; 'params' must be zeroed and
 * is released by the caller.  The rows of the score are drawn after those of the fit; where too
 * few are left, among all training rows.  'listener' may be NULL.  Outcomes as gpnn_fit(); a
 * candidate whose covariances are not positive definite is passed over.  Cost: a fit a candidate,
 * GPNN_CHOOSE_ROWS predictions from up to 128 neighbours each and, of the best two, from up to
 * GPNN_CHOOSE_NEIGHBOURS; under another metric than the index's, a search over all rows is built
 * for each.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choose(const struct gpnn_index *index, const struct gpnn_index_contents *contents,
            const struct gpnn_choose_options *options, gpnn_choose_listener *listener,
            void *context, struct gpnn_params *params, struct gpnn_choose_report *report,
            struct gpnn_error *err);

#endif
