/*
 * categorical: probabilities of classes, from the share that each class has among a row's
 * neighbours (gpnn-methods-classes(7), equations 13.1 to 13.6).
 *
 * A class is predicted by regression on labels.  With correlations C among the neighbours of a row
 * and kappa with it, A = C + noise I, w = A^-1 kappa and v = 1 - kappa'w, the latent functions are
 *
 *   h_c = sum of w_a over neighbours a of class c  -  pi_c sum of all w_a
 *
 * that is, the predictions of the indicator of class c, whose mean function is the share pi_c of
 * the class in the training rows.  The link is
 *
 *   q_c(h)  = log(1 + exp(20 (h + pi_c))) / 20 + floor            (a share, kept above the floor)
 *   z_c     = slope h_c + evidence log(q_c(h_c) / q_c(0))
 *   logit_c = temperature (bias_c + z_c / sqrt(1 + spread v)),  p = softmax(logit)
 *
 * so that far from all rows the probabilities are those of the biases, and where no neighbour is of
 * a class the floor decides how sure the prediction may be.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_LIKELIHOOD_CATEGORICAL_H
#define GPNN_LIKELIHOOD_CATEGORICAL_H

#include <stddef.h>

#include "kernel/parameters.h"

/* A link and what it is applied to. */
struct gpnn_categorical {
  size_t n;                     /* classes, >= 1 */
  const struct gpnn_link *link; /* borrowed; its values may change, but not the number of classes */
  const double *share;          /* borrowed; n: pi, each > 0, of sum 1 */
  double temperature;           /* > 0 */
};

/* The numbers that a link has besides its biases. */
enum { GPNN_LINK_SLOPE, GPNN_LINK_EVIDENCE, GPNN_LINK_FLOOR, GPNN_LINK_SPREAD, GPNN_LINK_NUMBERS };

/* Derivatives of a row's loss. */
struct gpnn_categorical_slopes {
  double link[GPNN_LINK_NUMBERS]; /* by the logarithms of these numbers */
  double variance;                /* by v */
  double *bias;                   /* n: by the biases */
  double *latent;                 /* n: by h */
};

/* The share of each of 'n_classes' among 'n' rows with class numbers 'y', (n_c + 1/2) / (n + K/2),
 * which is never 0. */
void gpnn_categorical_shares(size_t n_classes, size_t n, const double *y, double *share);

/* That of a class of which there are 'count' among 'n' rows. */
static inline double gpnn_categorical_share(size_t n_classes, double n, double count)
{
  return (count + 0.5) / (n + 0.5 * (double)n_classes);
}

/* Writes the n probabilities of a row to 'p', which may be 'h' itself; their sum is 1 but for
 * rounding.  'v' >= 0. */
void gpnn_categorical_probabilities(const struct gpnn_categorical *categorical, const double *h,
                                    double v, double *p);

/*
 * The loss of a row of class 'label' < n: minus the log of its probability, computed without loss
 * of digits where that is tiny.  'p' (n) gets the probabilities.  Unless 'slopes' is NULL, it gets
 * the derivatives of the loss, at temperature 1 only; its arrays are the caller's.
 */
double gpnn_categorical_loss(const struct gpnn_categorical *categorical, const double *h, double v,
                             size_t label, double *p, struct gpnn_categorical_slopes *slopes);

#endif
