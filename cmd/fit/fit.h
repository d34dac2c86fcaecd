/*
 * fit: gpnn-fit, from its arguments to its output.
 */
#ifndef GPNN_CMD_FIT_FIT_H
#define GPNN_CMD_FIT_FIT_H

#include <stddef.h>

#include "cmd/common/cli.h"
#include "estimate/choose.h"
#include "models/conjugate/conjugate.h"

enum fit_preset { FIT_NO_PRESET, FIT_PAPER };
enum fit_method { FIT_LOCAL, FIT_CONJUGATE };
enum fit_ard { FIT_ARD_AUTO, FIT_ARD_YES, FIT_ARD_NO };
enum fit_omega { FIT_OMEGA_LEARNT, FIT_OMEGA_FIXED };
enum fit_row_weights { FIT_ROW_WEIGHTS_NO, FIT_ROW_WEIGHTS_AUTO, FIT_ROW_WEIGHTS_YES };
enum fit_lengthscales { FIT_SHARED, FIT_RATIO, FIT_OWN };
enum { FIT_ROTATE_AUTO = -1, FIT_LIKELIHOOD_AUTO = -1, FIT_TRANSFORM_AUTO = -1 };

/* Strings are those of the command line; NULL: not given. */
struct fit_arguments {
  enum fit_preset preset;
  enum fit_method method;
  const char *kernel, *like, *start;
  int likelihood; /* an enum gpnn_likelihood, or FIT_LIKELIHOOD_AUTO */
  enum fit_ard ard;
  int rotate; /* an enum gpnn_rotate, or FIT_ROTATE_AUTO */
  const char *transform_name;
  int transform; /* fit_resolve(): an enum gpnn_transform_kind, or FIT_TRANSFORM_AUTO */
  enum fit_lengthscales lengthscales;
  size_t neighbours, k;  /* 0: auto */
  size_t batch, refresh; /* as in struct gpnn_fit_options; 0: the method's own */
  struct cli_choices objectives;
  enum gpnn_inference inference;
  enum fit_omega omega; /* this and 'kl_weight' are for Polya-Gamma variables */
  const char *kl_weight_text;
  double kl_weight; /* fit_resolve(): as in struct gpnn_polya_gamma_options */
  size_t n_folds;   /* this and 'score' are for the conjugate model */
  enum gpnn_conjugate_score score;
  enum fit_row_weights row_weights;
  double dispersion;                 /* of negative binomial counts, fixed; 0: free */
  struct gpnn_choose_options choose; /* completed by fit_resolve(), except for the threads */
  bool is_shared;                    /* fit_resolve(): one set of lengthscales for all targets */
};

#define FIT_ARGUMENTS_INIT                                                               \
  {                                                                                      \
    .likelihood = FIT_LIKELIHOOD_AUTO, .rotate = FIT_ROTATE_AUTO, .k = 32, .n_folds = 5, \
    .choose = {                                                                          \
      .fit = GPNN_FIT_OPTIONS_INIT,                                                      \
      .sample_rows = GPNN_CHOOSE_SAMPLE,                                                 \
      .last_sample_rows = GPNN_CHOOSE_LAST_SAMPLE,                                       \
      .effort = GPNN_EFFORT_NORMAL,                                                      \
      .members = GPNN_CHOOSE_MEMBERS                                                     \
    }                                                                                    \
  }

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool fit_resolve(const struct cli *cli, void *arguments);

/* Reads the parameters of --start into a zeroed structure.  Outcomes of gpnn_parameters_read_one();
 * GPNN_EMISMATCH: they are of a grid. */
GPNN_MUST_CHECK enum gpnn_status fit_read_start(const struct fit_arguments *a,
                                                struct gpnn_parameters *start,
                                                struct gpnn_error *err);

/* Fits the model of 'start', unless another was asked for.  'start' is borrowed as long as
 * a->choose is in use. */
void fit_start(const struct cli *cli, struct fit_arguments *a, const struct gpnn_parameters *start);

/* Fits: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status fit_run(const struct cli *cli, void *arguments,
                                         struct gpnn_error *err);

#endif
