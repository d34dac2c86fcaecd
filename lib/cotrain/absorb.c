#include "cotrain/absorb.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* An answer whose variance is below its prior's by no more than this share says nothing that
 * rounding does not. */
static const double least_gain = 1e-3;

/* Numbers that two owners typed alike are the same but for this share. */
static const double same_units = 1e-9;

static enum gpnn_status fail_report(const struct gpnn_answers *answers, const char *needed,
                                    struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "the answers have the report \"%s\", but the rule needs \"%s\": ask for it by "
                   "gpnn-answer --report %s",
                   gpnn_report_name(answers->report), needed, needed);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The observation that leads from the prior to the answer. */
static struct gpnn_absorbed deflate(const struct gpnn_answers *answers, size_t i, double privacy)
{
  const double prior = answers->prior_variance[i], gain = prior - answers->variance[i];
  if (!(gain > least_gain * prior)) return (struct gpnn_absorbed){.is_dropped = true};
  const double factor = prior / gain;
  return (struct gpnn_absorbed){.target =
                                    answers->centre + factor * (answers->mean[i] - answers->centre),
                                .noise = factor * answers->variance[i] + factor * factor * privacy};
}

enum gpnn_status gpnn_absorb_rows(const struct gpnn_answers *answers, enum gpnn_absorb_rule rule,
                                  bool ignores_privacy, struct gpnn_absorbed *rows,
                                  struct gpnn_error *err)
{
  if (answers->variance == NULL && rule != GPNN_ABSORB_NONE)
    return fail_report(answers, "marginal", err);
  for (size_t i = 0; i < answers->n; i++) {
    const double privacy = ignores_privacy ? 0 : answers->noise_variance[i];
    if (rule == GPNN_ABSORB_DEFLATED)
      rows[i] = deflate(answers, i, privacy);
    else
      rows[i] = (struct gpnn_absorbed){
          .target = answers->mean[i],
          .noise = privacy + (rule == GPNN_ABSORB_MARGINAL ? answers->variance[i] : 0)};
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_absorb_check_units(const struct gpnn_answers *answers,
                                         const struct gpnn_dataset *view, struct gpnn_error *err)
{
  const double mean = view->scaling.y_mean, sd = view->scaling.y_sd;
  if (fabs(answers->centre - mean) <= same_units * sd &&
      fabs(answers->scale - sd) <= same_units * sd)
    return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "the answers are of a target that is standardised by the mean %.10g and the sd "
                   "%.10g, here by %.10g and %.10g: both owners have to agree on these (gpnn-index "
                   "--target-scale MEAN,SD)",
                   answers->centre, answers->scale, mean, sd);
}

size_t gpnn_absorb_n_far(const struct gpnn_answers *answers)
{
  size_t n = 0;
  if (answers->mean == NULL) return 0;
  for (size_t i = 0; i < answers->n; i++) {
    double variance = answers->scale * answers->scale;
    if (answers->prior_variance != NULL) variance = fmin(variance, answers->prior_variance[i]);
    variance += answers->noise_variance[i];
    n += fabs(answers->mean[i] - answers->centre) > GPNN_ABSORB_FAR * sqrt(variance);
  }
  return n;
}

/* ---- models --------------------------------------------------------------------------------- */

/* Answers in standardised units; all arrays are owned, and the unused ones NULL. */
struct standard {
  size_t n;
  double *mean, *covariance, *prior, *privacy;
};

static void standard_release(struct standard *s)
{
  double *const arrays[] = {s->mean, s->covariance, s->prior, s->privacy};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

/* A copy of n numbers, less 'centre' and times 'factor'; NULL: there was no memory. */
static double *copy_scaled(size_t n, const double *from, double centre, double factor)
{
  double *copy = gpnn_alloc(n, 1, sizeof *copy);
  for (size_t i = 0; copy != NULL && i < n; i++) copy[i] = factor * (from[i] - centre);
  return copy;
}

/* The matrix with these variances on its diagonal. */
static double *copy_diagonal(size_t n, const double *from, double factor)
{
  double *copy = gpnn_alloc(n, n, sizeof *copy);
  for (size_t i = 0; copy != NULL && i < n; i++) copy[i * (n + 1)] = factor * from[i];
  return copy;
}

static bool needs_covariance(const struct gpnn_absorb_options *options)
{
  return options->uncertainty != GPNN_FUSION_NONE;
}

static bool needs_prior(const struct gpnn_absorb_options *options)
{
  return options->rule != GPNN_ABSORB_FULL;
}

static enum gpnn_status check_report(const struct gpnn_answers *answers,
                                     const struct gpnn_absorb_options *options,
                                     struct gpnn_error *err)
{
  const bool joint = options->uncertainty == GPNN_FUSION_JOINT;
  if ((needs_prior(options) && answers->prior == NULL) || (joint && answers->covariance == NULL))
    return fail_report(answers, "full", err);
  if (needs_covariance(options) && answers->variance == NULL)
    return fail_report(answers, "marginal", err);
  return GPNN_OK;
}

/* The noise of privacy; NULL where there is none. */
static bool copy_privacy(struct standard *s, const struct gpnn_answers *answers, double square)
{
  const size_t n = answers->n;
  bool is_private = answers->privacy != NULL;
  for (size_t i = 0; i < n; i++) is_private = is_private || answers->noise_variance[i] > 0;
  if (!is_private) return true;
  s->privacy = answers->privacy != NULL ? copy_scaled(n * n, answers->privacy, 0, square)
                                        : copy_diagonal(n, answers->noise_variance, square);
  return s->privacy != NULL;
}

/* Copies what the rule needs; false: there was no memory. */
static bool copy_needed(struct standard *s, const struct gpnn_answers *answers,
                        const struct gpnn_absorb_options *options)
{
  const size_t n = answers->n;
  const double unit = 1 / answers->scale, square = unit * unit;
  bool done = (s->mean = copy_scaled(n, answers->mean, answers->centre, unit)) != NULL;
  if (done && needs_covariance(options))
    done = (s->covariance = answers->covariance != NULL
                                ? copy_scaled(n * n, answers->covariance, 0, square)
                                : copy_diagonal(n, answers->variance, square)) != NULL;
  if (done && needs_prior(options))
    done = (s->prior = copy_scaled(n * n, answers->prior, 0, square)) != NULL;
  if (!done || options->ignores_privacy) return done;
  return copy_privacy(s, answers, 1 / (answers->scale * answers->scale));
}

static enum gpnn_status fuse(const struct gpnn_dataset *view, const struct gpnn_parameters *params,
                             const struct standard *s, const double *x,
                             const struct gpnn_absorb_options *options, struct gpnn_fusion *fusion,
                             struct gpnn_absorb_outcome *outcome, struct gpnn_error *err)
{
  const struct gpnn_fusion_answers nothing = {.n = 0};
  const struct gpnn_fusion_answers fused = {.n = s->n,
                                            .x = x,
                                            .mean = s->mean,
                                            .covariance = s->covariance,
                                            .prior = s->prior,
                                            .privacy = s->privacy};
  struct gpnn_fusion alone = {0}, with = {0};
  enum gpnn_status status =
      gpnn_fusion_new(&alone, view, params, &nothing, options->rule, options->uncertainty, err);
  if (status == GPNN_OK)
    status = gpnn_fusion_new(&with, view, params, &fused, options->rule, options->uncertainty, err);
  if (status != GPNN_OK) {
    gpnn_fusion_release(&alone);
    return status;
  }
  *outcome = (struct gpnn_absorb_outcome){.is_kept = !(options->gate && with.score > alone.score),
                                          .alone = alone.score,
                                          .with = with.score};
  *fusion = outcome->is_kept ? with : alone;
  outcome->n_negative = fusion->n_negative;
  gpnn_fusion_release(outcome->is_kept ? &alone : &with);
  return GPNN_OK;
}

enum gpnn_status gpnn_absorb_model(const struct gpnn_dataset *view,
                                   const struct gpnn_parameters *params,
                                   const struct gpnn_answers *answers, const double *x,
                                   const struct gpnn_absorb_options *options,
                                   struct gpnn_fusion *fusion, struct gpnn_absorb_outcome *outcome,
                                   struct gpnn_error *err)
{
  struct standard s = {.n = answers->n};
  enum gpnn_status status = gpnn_absorb_check_units(answers, view, err);
  if (status == GPNN_OK) status = check_report(answers, options, err);
  if (status == GPNN_OK && !copy_needed(&s, answers, options))
    status = gpnn_fail_memory(err, "for answers");
  if (status == GPNN_OK) status = fuse(view, params, &s, x, options, fusion, outcome, err);
  standard_release(&s);
  return status;
}
