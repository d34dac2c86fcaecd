#include "cotrain/fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cotrain/fusion_private.h"
#include "linalg/cholesky.h"

/* ---- what there has to be ----------------------------------------------------------------- */

struct gpnn_fusion_needs gpnn_fusion_needs(enum gpnn_fusion_rule rule,
                                           enum gpnn_fusion_uncertainty uncertainty)
{
  bool is_message = rule == GPNN_FUSION_BCM;
  bool has_prior = rule == GPNN_FUSION_HYBRID || rule == GPNN_FUSION_BLOCKY;
  bool has_errors = (has_prior || rule == GPNN_FUSION_FULL) && uncertainty != GPNN_FUSION_NONE;
  return (struct gpnn_fusion_needs){.mean = !is_message,
                                    .covariance = has_errors,
                                    .prior = has_prior || rule == GPNN_FUSION_YU,
                                    .noise = rule == GPNN_FUSION_YU,
                                    .message = is_message};
}

enum gpnn_status gpnn_fusion_check(const struct gpnn_dataset *view,
                                   const struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct {
    bool is_so;
    const char *what;
  } refused[] = {
      {view->grid != NULL || params->grid.n_factors > 0, "a grid"},
      {view->stored != NULL || params->family != GPNN_FAMILY_NONE, "a model without training rows"},
      {gpnn_dataset_n_classes(view) > 0, "a target of classes"},
      {gpnn_likelihood_is_of_counts(params->likelihood), "a target of counts"},
      {view->offset != NULL, "rows with offsets"},
      {params->mean.kind != GPNN_MEAN_ZERO, "a mean function"},
      {params->covariance.n_rotation > 0, "a rotation of inputs"},
      {params->transform.kind != GPNN_TRANSFORM_NONE, "a transform of the target"},
      {params->n_members > 0, "a stack of several members"},
      {params->degrees > 0 && params->likelihood == GPNN_LIKELIHOOD_GAUSSIAN,
       "the conjugate method"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (refused[i].is_so)
      return gpnn_fail(err, GPNN_EMISMATCH, "a model of rows and answers cannot have %s",
                       refused[i].what);
  return GPNN_OK;
}

enum gpnn_status gpnn_fusion_check_size(size_t n, size_t q, struct gpnn_error *err)
{
  if (n <= GPNN_FUSION_MOST && q <= GPNN_FUSION_MOST - n) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "%zu training rows and %zu asked ones: a dense model takes %d at most, together",
                   n, q, GPNN_FUSION_MOST);
}

/* ---- answers ------------------------------------------------------------------------------ */

static enum gpnn_status check_numbers(size_t n, const double *values, const char *what,
                                      struct gpnn_error *err)
{
  for (size_t i = 0; values != NULL && i < n; i++)
    if (!isfinite(values[i])) return gpnn_fail(err, GPNN_EDATA, "%s is not finite", what);
  return GPNN_OK;
}

struct answered {
  size_t n;
  const double *matrix;
};

static void copy_matrix(void *context, double *to)
{
  const struct answered *answered = context;
  memcpy(to, answered->matrix, answered->n * answered->n * sizeof *to);
}

/* A covariance matrix of the answers: finite, and positive definite but for rounding. */
static enum gpnn_status check_covariance(size_t n, const double *matrix, const char *what,
                                         double *scratch, struct gpnn_error *err)
{
  struct answered answered = {n, matrix};
  double largest = 0, jitter;
  if (matrix == NULL) return GPNN_OK;
  enum gpnn_status status = check_numbers(n * n, matrix, what, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < n; i++) largest = fmax(largest, matrix[i * n + i]);
  copy_matrix(&answered, scratch);
  status = gpnn_cholesky_factor(n, scratch, NULL, largest, copy_matrix, &answered, &jitter, NULL);
  if (status == GPNN_OK) return status;
  return gpnn_fail(err, GPNN_EDATA, "%s is not positive definite", what);
}

static enum gpnn_status check_answers(const struct gpnn_fusion_answers *a, struct gpnn_error *err)
{
  double *scratch = gpnn_alloc(a->n, a->n, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = check_numbers(a->n, a->mean, "an answer", err);
  if (status == GPNN_OK)
    status = check_numbers(a->n, a->noise, "the noise variance of an answer", err);
  for (size_t i = 0; i < a->n && a->noise != NULL && status == GPNN_OK; i++)
    if (a->noise[i] < 0)
      status = gpnn_fail(err, GPNN_EDATA, "the noise variance of an answer is negative");
  if (status == GPNN_OK) status = check_numbers(a->n, a->shift, "a number of the message", err);
  if (status == GPNN_OK)
    status = check_numbers(a->n * a->n, a->precision, "a number of the message", err);
  if (status == GPNN_OK)
    status = check_covariance(a->n, a->covariance, "the covariance of the answers", scratch, err);
  if (status == GPNN_OK)
    status = check_covariance(a->n, a->prior, "the prior covariance of the answers", scratch, err);
  if (status == GPNN_OK)
    status =
        check_covariance(a->n, a->privacy, "the covariance of the noise of privacy", scratch, err);
  free(scratch);
  return status;
}

/* ---- the system --------------------------------------------------------------------------- */

void gpnn_fusion_system_release(struct gpnn_fusion_system *s)
{
  free(s->points);
  free(s->k);
  free(s->targets);
  free(s->noise);
}

/* Covariances of all pairs of points. */
static enum gpnn_status fill_process(struct gpnn_fusion_system *s, size_t d, const uint32_t *group,
                                     struct gpnn_error *err)
{
  struct gpnn_covariance latent = *s->covariance;
  double *columns = gpnn_alloc(d, s->m, sizeof *columns);
  double *scale = gpnn_alloc(d, 2, sizeof *scale);
  enum gpnn_status status =
      columns != NULL && scale != NULL ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR);
  if (status == GPNN_OK) {
    latent.noise = 0;
    gpnn_covariance_expand(&latent, d, group, scale);
    for (size_t l = 0; l < d; l++)
      for (size_t i = 0; i < s->m; i++) columns[l * s->m + i] = s->points[i * d + l] / scale[l];
    gpnn_covariance_matrix(&latent, s->m, d, s->m, columns, NULL, scale + d, s->k);
    for (size_t j = 0; j < s->m; j++)
      for (size_t i = j + 1; i < s->m; i++) s->k[i * s->m + j] = s->k[j * s->m + i];
  }
  free(columns);
  free(scale);
  return status;
}

enum gpnn_status gpnn_fusion_system_make(struct gpnn_fusion_system *s,
                                         const struct gpnn_dataset *view, struct gpnn_error *err)
{
  const struct gpnn_fusion_answers *a = s->answers;
  size_t d = view->d;
  s->points = gpnn_alloc(s->m, d, sizeof *s->points);
  s->k = gpnn_alloc(s->m, s->m, sizeof *s->k);
  s->targets = gpnn_alloc(s->m, 1, sizeof *s->targets);
  s->noise = gpnn_alloc(s->m, 1, sizeof *s->noise);
  if (s->points == NULL || s->k == NULL || s->targets == NULL || s->noise == NULL)
    return gpnn_fail_memory(err, MEMORY_FOR);
  memcpy(s->points, view->x, s->n * d * sizeof *s->points);
  memcpy(s->targets, view->y, s->n * sizeof *s->targets);
  if (s->q > 0) memcpy(s->points + s->n * d, a->x, s->q * d * sizeof *s->points);
  for (size_t i = 0; i < s->m; i++) {
    bool is_own = i < s->n;
    s->noise[i] = s->covariance->noise + (is_own && view->noise != NULL ? view->noise[i] : 0);
    if (!is_own) s->targets[i] = a->mean == NULL ? 0 : a->mean[i - s->n];
  }
  return fill_process(s, d, view->group, err);
}

double gpnn_fusion_error(const struct gpnn_fusion_system *s, size_t i, size_t j)
{
  const struct gpnn_fusion_answers *a = s->answers;
  bool is_joint = s->uncertainty == GPNN_FUSION_JOINT, counts = i == j || is_joint;
  double error = 0;
  if (counts && s->uncertainty != GPNN_FUSION_NONE) error += a->covariance[i * a->n + j];
  if (counts && a->privacy != NULL) error += a->privacy[i * a->n + j];
  return error;
}

enum gpnn_status gpnn_fusion_factor(const struct gpnn_fusion_system *s, size_t n, double *matrix,
                                    void (*fill)(void *context, double *matrix), void *context,
                                    struct gpnn_error *err)
{
  double jitter;
  fill(context, matrix);
  enum gpnn_status status = gpnn_cholesky_factor(n, matrix, NULL, s->covariance->kernelscale, fill,
                                                 context, &jitter, err);
  if (status == GPNN_OK) return status;
  return gpnn_prefix(err, status, "%zu training rows and %zu answers", s->n, s->q);
}

/* ---- own rows, each predicted from all else ----------------------------------------------- */

double gpnn_fusion_cost(double error, double variance)
{
  const double log_2_pi = 1.8378770664093454836;
  return 0.5 * (log_2_pi + log(variance) + error * error / variance);
}

double gpnn_fusion_score(const struct gpnn_fusion_system *s, size_t rank, const double *root,
                         const double *weights)
{
  double sum = 0;
  for (size_t i = 0; i < s->n; i++) {
    double precision = 0;
    for (size_t j = 0; j < rank; j++) precision += root[j * s->m + i] * root[j * s->m + i];
    sum += gpnn_fusion_cost(weights[i] / precision, 1 / precision);
  }
  return sum / (double)s->n;
}

/* ---- rules -------------------------------------------------------------------------------- */

void gpnn_fusion_release(struct gpnn_fusion *fusion)
{
  free(fusion->points);
  free(fusion->weights);
  free(fusion->root);
  *fusion = (struct gpnn_fusion){0};
}

static enum gpnn_status combine(const struct gpnn_fusion_system *s, enum gpnn_fusion_rule rule,
                                struct gpnn_fusion *f, struct gpnn_error *err)
{
  if (s->q == 0) return gpnn_fusion_observations(s, false, f, err);
  switch (rule) {
  case GPNN_FUSION_HYBRID:
  case GPNN_FUSION_YU:
    return gpnn_fusion_consensus(s, rule == GPNN_FUSION_YU, f, err);
  case GPNN_FUSION_BCM:
    return gpnn_fusion_committee(s, f, err);
  default:
    return gpnn_fusion_observations(s, rule == GPNN_FUSION_BLOCKY, f, err);
  }
}

static enum gpnn_status make(struct gpnn_fusion_system *s, const struct gpnn_dataset *view,
                             enum gpnn_fusion_rule rule, struct gpnn_fusion *fusion,
                             struct gpnn_error *err)
{
  struct gpnn_fusion own = {.m = s->m};
  own.weights = gpnn_alloc(s->m, 1, sizeof *own.weights);
  if (own.weights == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = gpnn_fusion_system_make(s, view, err);
  if (status == GPNN_OK) status = combine(s, rule, &own, err);
  if (status == GPNN_OK) {
    own.points = s->points;
    s->points = NULL;
    *fusion = own;
  } else
    gpnn_fusion_release(&own);
  return status;
}

enum gpnn_status gpnn_fusion_new(struct gpnn_fusion *fusion, const struct gpnn_dataset *view,
                                 const struct gpnn_parameters *params,
                                 const struct gpnn_fusion_answers *answers,
                                 enum gpnn_fusion_rule rule,
                                 enum gpnn_fusion_uncertainty uncertainty, struct gpnn_error *err)
{
  bool is_literal = rule == GPNN_FUSION_HYBRID_LITERAL;
  struct gpnn_fusion_system system = {.covariance = &params->covariance,
                                      .answers = answers,
                                      .uncertainty = is_literal ? GPNN_FUSION_NONE : uncertainty,
                                      .n = view->n,
                                      .q = answers->n,
                                      .m = view->n + answers->n};
  enum gpnn_status status = gpnn_fusion_check_size(view->n, answers->n, err);
  if (status == GPNN_OK) status = gpnn_fusion_check(view, params, err);
  if (status == GPNN_OK) status = check_answers(answers, err);
  if (status == GPNN_OK) status = make(&system, view, rule, fusion, err);
  gpnn_fusion_system_release(&system);
  return status;
}
