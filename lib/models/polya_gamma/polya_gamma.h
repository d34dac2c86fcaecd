/*
 * polya_gamma: classes by the leave-one-out objective with Polya-Gamma variables, as published
 * (Jankowiak and Pleiss 2021, sections 3.2 and 3.3, appendices A.6 to A.8; gpnn-methods-classes(7),
 * section 15).
 *
 * A logistic likelihood of a class against the others becomes Gaussian in the latent function once
 * each training row has a Polya-Gamma variable omega: the row then counts as the pseudo-target
 * sign / (2 omega) with noise variance 1 / omega.  So a row's latent function, given its neighbours
 * and their omega, is normal in closed form, and its class has a probability by quadrature.  Of
 * several classes each has a latent function, against all others, and their probabilities are
 * normalised; two classes have only one.
 *
 * The logarithm of each omega is normal, with median and spread either learnt beside the kernel,
 * for every row and channel, or fixed for all at what is nearest to the Polya-Gamma distribution.
 * Predictions take omega at its median.
 */
#ifndef GPNN_MODELS_POLYA_GAMMA_POLYA_GAMMA_H
#define GPNN_MODELS_POLYA_GAMMA_POLYA_GAMMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/kernel.h"
#include "kernel/parameters.h"
#include "linalg/optimize.h"
#include "models/model.h"

/* Predicts classes from parameters of GPNN_INFERENCE_POLYA_GAMMA, and leaves every other channel to
 * the model that it would have without those. */
extern const struct gpnn_model_ops gpnn_polya_gamma_ops;

struct gpnn_polya_gamma_options {
  const struct gpnn_kernel *kernel;
  double smoothness;     /* of the kernel, where it needs one */
  bool ard;              /* a lengthscale for each group of inputs */
  size_t neighbours;     /* k, in the objective and in predictions */
  size_t batch;          /* rows per step; 0: 128 with two classes, else 64 */
  size_t steps, refresh; /* of adam, and between searches for neighbours */
  bool learns_omega;
  double divergence_weight; /* > 0, of a row's divergence beside its loss; 0: n, as published */
  double fixed_lengthscale, fixed_kernelscale; /* > 0: fixed at this value; 0: free */
  const struct gpnn_parameters *start; /* initial lengthscales and kernel scale; NULL: sqrt(d)
                                          and 1 */
  uint64_t seed;
  int threads;
};

#define GPNN_POLYA_GAMMA_OPTIONS_INIT                                                  \
  {                                                                                    \
    .ard = true, .neighbours = 64, .steps = 1500, .refresh = 50, .learns_omega = true, \
    .divergence_weight = 1, .seed = 1, .threads = 1                                    \
  }

struct gpnn_polya_gamma_report {
  size_t n_rows; /* of the probe that the loss was measured on */
  double loss;   /* mean over them, each predicted from its neighbours without itself */
  size_t k, batch, n_searches; /* as used */
  struct gpnn_optimize_report optimize;
};

/* How many latent functions so many classes have: one for two, else one for each. */
size_t gpnn_polya_gamma_channels(size_t n_classes);

/*
 * Estimates lengthscales and kernel scale for the classes of 'dataset', a view, and with
 * options->learns_omega the medians of omega.  'params' is zeroed; the caller releases it.
 *
 * GPNN_EDATA: fewer than two rows or classes.  GPNN_EMISMATCH: the start has another number of
 * lengthscales.  GPNN_ENUMERIC: the objective is not finite.  GPNN_ENOMEM, and the outcomes of a
 * search.  The result does not depend on the threads.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_polya_gamma_fit(const struct gpnn_dataset *dataset,
                     const struct gpnn_polya_gamma_options *options, struct gpnn_parameters *params,
                     struct gpnn_polya_gamma_report *report, struct gpnn_error *err);

#endif
