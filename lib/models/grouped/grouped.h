/*
 * grouped: a process on rows whose groups have effects of their own (kernel/effects.h;
 * gpnn-methods(7), equations 6.13 and 6.14).
 *
 * The training rows are those of the dataset, whose targets are pseudo-targets: what is left of
 * them without fixed part and effects.  A row x with the numbers z of the design is predicted from
 * its neighbours N, with their weights w, by
 *   mean      that of the process + z'b,
 *   variance  that of the process + u'Vu,  u = z - Z_N'w,
 * where b is the mean of the effects and V their covariance: what is not known of the effects has a
 * part in the neighbours' pseudo-targets too.  A group that training has not seen adds the variance
 * of its effect.
 *
 * A training row that is left out of its own prediction is left out of the effects as well, by the
 * formula for one observation of z'b that is taken back.  Where training rows belong to groups that
 * are left out together, effects that only rows of its own group tell count as unseen.
 */
#ifndef GPNN_MODELS_GROUPED_GROUPED_H
#define GPNN_MODELS_GROUPED_GROUPED_H

#include "models/model.h"

extern const struct gpnn_model_ops gpnn_grouped_ops;

#endif
