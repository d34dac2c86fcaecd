/*
 * polya_gamma_private: shared by the files of polya_gamma.
 *
 * polya_gamma_row.c conditions the latent functions at one row on its neighbours;
 * polya_gamma_objective.c does so for many rows, with derivatives; polya_gamma_fit.c descends along
 * these.
 *
 * A channel is a latent function: with more than two classes there is one for each class against
 * all others, with two only one, of class 1 against class 0.
 */
#ifndef GPNN_MODELS_POLYA_GAMMA_POLYA_GAMMA_PRIVATE_H
#define GPNN_MODELS_POLYA_GAMMA_POLYA_GAMMA_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/threads.h"
#include "dataset/dataset.h"
#include "kernel/covariance.h"
#include "likelihood/logistic.h"
#include "models/polya_gamma/polya_gamma.h"

/* ---- one row: polya_gamma_row.c ------------------------------------------------------------- */

/* The evaluation of one row, for up to 'most' neighbours. */
struct gpnn_polya_gamma_row {
  const struct gpnn_dataset *data;
  const struct gpnn_covariance *covariance;
  const struct gpnn_logistic *logistic;
  const double *inverse; /* d: 1 / lengthscale */
  size_t most, n_channels;
  bool is_common; /* all channels have the same omega */
  size_t k;       /* neighbours of the row */

  /* Set by the caller for each row, between gpnn_polya_gamma_place() and
   * gpnn_polya_gamma_condition(): n_channels by most. */
  double *omega;

  /* What gpnn_polya_gamma_condition() finds. */
  double *mean, *variance; /* n_channels: of the latent functions */

  /* Scratch. */
  const int64_t *neighbour;             /* k */
  double *z;                            /* d by most: (x - x_i) / lengthscale, a column per input */
  double *r2, *pair, *slope;            /* pairs of neighbours, columns of the lower triangle */
  double *cross2, *cross, *cross_slope; /* most: r2, correlations, slopes with the row itself */
  double *b, *work;                     /* most by most, and for its factorisation */
  double *root;                         /* most: sqrt(omega) */
  double *w, *alpha;                    /* n_channels by most */
  double *log_p;                        /* n_channels: log p~ */
  double *weight;                       /* pairs: of squared differences in the gradient */
  struct gpnn_logistic_slopes *slopes;  /* n_channels: of the row's log probability */
  struct gpnn_arrays *arrays;           /* owned; what frees the arrays */
};

/* Sets up what the caller has filled in: data, covariance, logistic, inverse, most, n_channels,
 * is_common.  False: not enough memory; release it even then. */
bool gpnn_polya_gamma_row_init(struct gpnn_polya_gamma_row *row);
void gpnn_polya_gamma_row_release(struct gpnn_polya_gamma_row *row);

/* Moves to the row at 'centre' (d inputs), whose neighbours are the 'k' <= most training rows in
 * 'neighbour' (borrowed).  'with_slopes': for gpnn_polya_gamma_loss(). */
void gpnn_polya_gamma_place(struct gpnn_polya_gamma_row *row, const double *centre, size_t k,
                            const int64_t *neighbour, bool with_slopes);

/* Finds mean and variance of each channel at the row.  GPNN_ENUMERIC: they are not finite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_polya_gamma_condition(struct gpnn_polya_gamma_row *row,
                                                            struct gpnn_error *err);

/*
 * Minus the log probability of class 'label' at the row, after gpnn_polya_gamma_condition(). Unless
 * 'gradient' is NULL, it gets the derivatives of the log probability by the logarithms of the
 * lengthscales and of the kernel scale, and 'by_omega' (n_channels by most) those by the logarithms
 * of omega.
 */
double gpnn_polya_gamma_loss(struct gpnn_polya_gamma_row *row, size_t label, double *gradient,
                             double *by_omega);

/* Writes the probabilities of all classes at the row to 'p', after gpnn_polya_gamma_condition(). */
void gpnn_polya_gamma_classes(struct gpnn_polya_gamma_row *row, double *p);

/* ---- many rows: polya_gamma_objective.c ----------------------------------------------------- */

/* What is minimised, as a function of coordinates u: the logarithms of the lengthscales and of the
 * kernel scale, then if omega is learnt, for each training row and each channel, m and log s. */
struct gpnn_polya_gamma_objective {
  const struct gpnn_dataset *data;
  struct gpnn_covariance *covariance; /* is set from u */
  size_t n_channels;
  bool learns_omega;
  double weight; /* of the divergence */
  uint64_t seed;
  struct gpnn_team *team;
  int threads;
  struct gpnn_logistic logistic;
  struct gpnn_hermite divergence;
};

/* Rows and their neighbours, as training rows; all borrowed. */
struct gpnn_polya_gamma_batch {
  size_t n, k;
  const int64_t *row;       /* n */
  const int64_t *neighbour; /* n by k, each row padded with -1 */
  uint64_t draw;            /* number of the draw of omega */
  bool at_medians;          /* omega is at its medians instead */
};

/* How many coordinates there are. */
size_t gpnn_polya_gamma_coordinates(const struct gpnn_polya_gamma_objective *objective);

/*
 * The mean over the rows of a batch of their losses and weighted divergences
 * (gpnn-methods-classes(7), equation 15.7) at 'u'.  'gradient' may be NULL.  A row that cannot be
 * conditioned is left out; GPNN_ENUMERIC if none remains.  The result does not depend on the
 * threads.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_polya_gamma_evaluate(const struct gpnn_polya_gamma_objective *objective,
                          const struct gpnn_polya_gamma_batch *batch, const double *u,
                          double *value, double *gradient, struct gpnn_error *err);

#endif
