/*
 * choose_transform: the choice of a transform of the target (stats/transform.h).
 *
 * Candidates are no transform, asinh, yeo-johnson, rank and, if all targets are positive, log and
 * boxcox.  The fit to the target as it is (estimate/choose.h) continues for each on the target
 * transformed, cheaply, with its kernel and rotation.  Rows whose density that fit has not seen are
 * then predicted from their neighbours.  The score is the mean negative log density of the target
 * in its own units, that is, less the log slope of the transform, under the likelihood asked for,
 * whose scale comes from other rows (gpnn-methods(7), equation 5.12).  So all candidates are scored
 * on the same rows in the same units.  The candidate of the lowest score is chosen among those that
 * are no worse than no transform by more than one standard error of the difference, and whose means
 * and CRPS are not much worse.
 *
 * A cheap fit says little about small gains.  So once everything has been chosen and fitted for the
 * transformed target as well, gpnn_choose_compare_transform() says by how much it is better.
 */
#ifndef GPNN_ESTIMATE_CHOOSE_TRANSFORM_H
#define GPNN_ESTIMATE_CHOOSE_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "estimate/choose.h"
#include "models/model.h"
#include "stats/transform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most rows of the first sample, of a fit, and that candidates are scored on. */
enum {
  GPNN_CHOOSE_TRANSFORM_SAMPLE = 1 << 16,
  GPNN_CHOOSE_TRANSFORM_FIT = 4000,
  GPNN_CHOOSE_TRANSFORM_ROWS = 2048
};

/* A candidate and its score. */
struct gpnn_transform_candidate {
  enum gpnn_transform_kind kind;
  double nll;            /* mean over the rows, in the target's own units; NaN: not scored */
  double gain;           /* by how much it is below that of no transform */
  double standard_error; /* of the gain */
  bool harms; /* its CRPS, or the squared error of its means, is higher than that of no transform by
                 a fifth (with thorough effort the CRPS by anything) and by more than one standard
                 error: it pays for density elsewhere; not with fewer than 400 rows, among which a
                 single one may decide */
};

/* Called for each candidate once it is scored. */
typedef void gpnn_choose_transform_listener(void *context,
                                            const struct gpnn_transform_candidate *candidate);

/*
 * Chooses the kind of transform for a target, given by a view that is not transformed, and the
 * parameters fitted to that, and writes its score to '*chosen'.  Of 'options', which are those of
 * gpnn_choose(), the likelihood, the fit's mean function, thinning, seed and threads are used, and
 * what it fixes.  The result is no transform, not scored, if rows have known noise variances or
 * offsets, or there are fewer than 20 rows.  'listener' may be NULL.  Outcomes as for gpnn_fit(),
 * but a candidate that cannot be fitted is skipped.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choose_transform(const struct gpnn_dataset *dataset, const struct gpnn_parameters *parameters,
                      const struct gpnn_choose_options *options,
                      gpnn_choose_transform_listener *listener, void *context,
                      struct gpnn_transform_candidate *chosen, struct gpnn_error *err);

/*
 * Scores the view of a transformed target and the parameters fitted to that ('with') against the
 * same target as it is ('without'), in a sample as large as that of the fits (last_sample_rows):
 * how much a transform gains may depend on how near the neighbours are.  Outcomes as for
 * gpnn_model_predict() and GPNN_ENUMERIC: a score is not finite.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choose_compare_transform(const struct gpnn_channel *without, const struct gpnn_channel *with,
                              const struct gpnn_choose_options *options,
                              struct gpnn_transform_candidate *score, struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
