#include "dataset/steps.h"

#include <stdlib.h>

#include "dataset/steps_private.h"

static enum gpnn_status learn_limits(struct gpnn_learnt *learnt,
                                     const struct gpnn_step_options *options, size_t n,
                                     const struct gpnn_feature *features,
                                     const struct gpnn_row_source *rows, struct gpnn_error *err)
{
  if (options->outliers == NULL) return GPNN_OK;
  return gpnn_limits_learn(learnt, options->outliers, rows, n, options->n_described, features, err);
}

static enum gpnn_status learn_tails(struct gpnn_learnt *learnt,
                                    const struct gpnn_step_options *options, size_t n,
                                    const struct gpnn_feature *features,
                                    const struct gpnn_row_source *rows, struct gpnn_error *err)
{
  if (!options->compresses) return GPNN_OK;
  return gpnn_tails_learn(learnt, rows, n, features, err);
}

/* Where there is one number for each feature, then another for each. */
static double show_number(const struct gpnn_learnt *learnt, size_t j, size_t k)
{
  return learnt->numbers[k * learnt->n_features + j];
}

static const struct gpnn_step steps[GPNN_STEPS] = {
    [GPNN_STEP_LIMITS] = {.name = "limits",
                          .shown = {"lower", "upper"},
                          .learn = learn_limits,
                          .is_valid = gpnn_limits_are_valid,
                          .has = gpnn_limits_has,
                          .apply = gpnn_limits_clip,
                          .stand_in = gpnn_limits_replace,
                          .show = show_number},
    [GPNN_STEP_TAILS] = {.name = "tails",
                         .shown = {"centre", "spread"},
                         .learn = learn_tails,
                         .is_valid = gpnn_tails_are_valid,
                         .has = gpnn_tails_has,
                         .apply = gpnn_tails_compress,
                         .stand_in = gpnn_tails_compress,
                         .undo = gpnn_tails_expand,
                         .show = show_number},
};

const struct gpnn_step *gpnn_step(enum gpnn_step_number number)
{
  return &steps[number];
}
