/*
 * labels_choose: the choice of kernel, lengthscales, rotation and neighbours for a target that
 * holds classes.
 *
 * Each candidate is fitted by the objective of labels (estimate/fit.h), and scored on training
 * rows that no fit has seen: by the mean of minus the log probability of a row's class, given its
 * neighbours among all other training rows.  Candidates are
 *   kernels   matern32, exp and rbf, with a lengthscale for every input; in large tables each goes
 *             on from the best before it, so that they share the work;
 *   one       lengthscale instead of many, if the rows are few for so many;
 * and from the best kernel, and unless the table is large from the second as well,
 *   longer    descents, as long as the score falls;
 *   rotation  learnt (kernel/rotation.h), if there are rows enough to try;
 *   wider     the best of all with twice the neighbours in its objective, if it predicts better
 *             from more.
 * A descent that has fitted noise scores worse than the shorter one before it, which then wins.
 * Others become members of a stack with the best if their averaged probabilities lower the score by
 * 1 % or more for each.  Members get the fewest neighbours that score about as well as the best
 * number.  Finally, if the rows kept for scoring would have mattered to the fit, it is repeated
 * with all rows, or with more than a few thousand continued.  See gpnn-methods(7), section 13.
 *
 * A class without rows among the others of the training rows, such as one of a single row, has no
 * evidence that could be left out; it keeps its share and its bias.  With one class in all, every
 * candidate is certain, and the first is taken.
 */
#ifndef GPNN_ESTIMATE_LABELS_CHOOSE_H
#define GPNN_ESTIMATE_LABELS_CHOOSE_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "estimate/choose.h"
#include "kernel/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fits that suit labels, for the 'fit' of gpnn_choose_options. */
#define GPNN_CHOOSE_LABELS_FIT_INIT                                                          \
  {                                                                                          \
    .ard = true, .first = GPNN_OBJECTIVE_LABELS, .n_blocks = 1, .block_size = 2, .k = 32,    \
    .rows = 12800, .batch = 128, .steps = 300, .refresh = 100, .thin = -1, .neighbours = 32, \
    .prior_factor = 3, .seed = 1, .threads = 1                                               \
  }

/* ARD is not tried with more inputs, and candidates are scored on at most so many rows. */
enum { GPNN_CHOOSE_LABELS_ARD = 256, GPNN_CHOOSE_LABELS_ROWS = 4000 };

/* The most candidates that gpnn_labels_choose() passes to its listener. */
size_t gpnn_labels_choose_most(const struct gpnn_dataset *view,
                               const struct gpnn_choose_options *options);

/*
 * Chooses and fits for the target of 'view', which holds classes.  Of 'options' all is used but
 * what concerns targets that are numbers: 'likelihood', 'objective', 'like', 'last_sample_rows'.
 * If there is nothing to choose, all rows serve the fit.  Of the candidates in 'report', 'nll' is
 * the score and 'error' the share of rows whose class is not the most probable one.  'params' must
 * be zeroed; the caller releases it.
 *
 * GPNN_EDATA: fewer than 2 rows.  GPNN_EINVAL: the target holds no classes.  Others as gpnn_fit();
 * a candidate that cannot be fitted is skipped unless none can.  The result does not depend on the
 * number of threads.  Cost: about that of the fits; two searches over at most
 * options->sample_rows rows for each candidate.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_labels_choose(const struct gpnn_dataset *view, const struct gpnn_choose_options *options,
                   gpnn_choose_listener *listener, void *context, struct gpnn_parameters *params,
                   struct gpnn_choose_report *report, struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
