/*
 * Models of rows and answers (gpnn-methods-share(7), equations 18.1 to 18.7): what there has to be,
 * the system of own rows and answers, and each rule.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cotrain/absorb.h"
#include "kernel/effects.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/factors/triangular.h"
#include "stats/distributions/normal.h"

#define MEMORY_FOR "for a model of rows and answers"

/* The points of a target and what is observed there.  A zeroed object may be released. */
struct system {
  const struct gpnn_covariance *covariance;
  const struct gpnn_fusion_answers *answers;
  enum gpnn_fusion_uncertainty uncertainty;
  size_t n, q, m;  /* own rows, answers, both */
  double *points;  /* owned; m by d */
  double *k;       /* owned; m by m, both triangles: covariances of the asking model's function */
  double *targets; /* owned; m: of the own rows, and the answers */
  double *noise; /* owned; m: that of the parameters, and of own rows with a noise of their own that
                    as well */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* ---- what there has to be ----------------------------------------------------------------- */

static enum gpnn_status check_model(const struct gpnn_dataset *view,
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
      {gpnn_dataset_has_effects(view), "rows whose groups have effects"},
      {params->mean.kind != GPNN_MEAN_ZERO, "a mean function"},
      {params->covariance.n_rotation > 0, "a rotation of inputs"},
      {params->sight != NULL, "inputs that are seen by their scores"},
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

static enum gpnn_status check_size(size_t n, size_t q, struct gpnn_error *err)
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
  double largest = 0;
  if (matrix == NULL) return GPNN_OK;
  enum gpnn_status status = check_numbers(n * n, matrix, what, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < n; i++) largest = fmax(largest, matrix[i * n + i]);
  copy_matrix(&answered, scratch);
  status = gpnn_cholesky_factor(n, scratch, NULL, largest, copy_matrix, &answered, NULL, NULL);
  if (status == GPNN_OK) return status;
  return gpnn_fail(err, GPNN_EDATA, "%s is not positive definite", what);
}

static enum gpnn_status check_answers(const struct gpnn_fusion_answers *a, struct gpnn_error *err)
{
  double *scratch = gpnn_alloc(a->n, a->n, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = check_numbers(a->n, a->mean, "an answer", err);
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

/* Covariances of all pairs of points. */
static enum gpnn_status fill_process(struct system *s, size_t d, const uint32_t *group,
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

static enum gpnn_status system_make(struct system *s, const struct gpnn_dataset *view,
                                    struct gpnn_error *err)
{
  const struct gpnn_fusion_answers *a = s->answers;
  size_t d = view->d;
  s->arrays = GPNN_ARRAYS(GPNN_ARRAY(s->k, s->m, s->m), GPNN_ARRAY(s->targets, s->m, 1),
                          GPNN_ARRAY(s->noise, s->m, 1));
  s->points = gpnn_alloc(s->m, d, sizeof *s->points);
  if (s->arrays == NULL || s->points == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  memcpy(s->points, view->x, s->n * d * sizeof *s->points);
  memcpy(s->targets, view->y, s->n * sizeof *s->targets);
  if (s->q > 0) memcpy(s->points + s->n * d, a->x, s->q * d * sizeof *s->points);
  for (size_t i = 0; i < s->m; i++) {
    bool is_own = i < s->n;
    s->noise[i] = s->covariance->noise + (is_own && view->noise != NULL ? view->noise[i] : 0);
    if (!is_own) s->targets[i] = a->mean[i - s->n];
  }
  return fill_process(s, d, view->group, err);
}

/* The covariance of the errors of answers i and j, as far as it counts, with the noise of privacy.
 */
static double error_of(const struct system *s, size_t i, size_t j)
{
  const struct gpnn_fusion_answers *a = s->answers;
  bool is_joint = s->uncertainty == GPNN_FUSION_JOINT, counts = i == j || is_joint;
  double error = 0;
  if (counts && s->uncertainty != GPNN_FUSION_NONE) error += a->covariance[i * a->n + j];
  if (counts && a->privacy != NULL) error += a->privacy[i * a->n + j];
  return error;
}

/* Factors the matrix of order n that 'fill' writes.  GPNN_ENUMERIC: it is not positive definite. */
static enum gpnn_status factor(const struct system *s, size_t n, double *matrix,
                               void (*fill)(void *context, double *matrix), void *context,
                               struct gpnn_error *err)
{
  fill(context, matrix);
  enum gpnn_status status =
      gpnn_cholesky_factor(n, matrix, NULL, s->covariance->kernelscale, fill, context, NULL, err);
  if (status == GPNN_OK) return status;
  return gpnn_prefix(err, status, "%zu training rows and %zu answers", s->n, s->q);
}

/* ---- own rows, each predicted from all else ----------------------------------------------- */

/* What the error of an own row, predicted without itself, costs, given its variance. */
static double cost_of(double error, double variance)
{
  return 0.5 * (GPNN_LOG_TWO_PI + log(variance) + error * error / variance);
}

/* The mean cost of the own rows, from a root of S, rank by m, and what S makes of the targets
 * (equation 18.6). */
static double score_of(const struct system *s, size_t rank, const double *root,
                       const double *weights)
{
  double sum = 0;
  for (size_t i = 0; i < s->n; i++) {
    double precision = 0;
    for (size_t j = 0; j < rank; j++) precision += root[j * s->m + i] * root[j * s->m + i];
    sum += cost_of(weights[i] / precision, 1 / precision);
  }
  return sum / (double)s->n;
}

/* ---- answers as observations ---------------------------------------------------------------- */

/* Whose errors go together or not (equations 18.1 to 18.3): one matrix is factored, from which
 * weights and root follow. */
struct observations {
  const struct system *s;
  bool blocky;
};

/* Of observations i and j, which are not before own rows. */
static double covariance_of(const struct observations *o, size_t i, size_t j)
{
  const struct system *s = o->s;
  double k = s->k[j * s->m + i] + (i == j ? s->noise[j] : 0);
  if (i < s->n) return k;
  if (j < s->n) return o->blocky ? 0 : k;
  if (o->blocky) k = s->answers->prior[(j - s->n) * s->q + i - s->n];
  return k + error_of(s, i - s->n, j - s->n);
}

static void fill_observations(void *context, double *matrix)
{
  const struct observations *o = context;
  size_t m = o->s->m;
  for (size_t j = 0; j < m; j++)
    for (size_t i = j; i < m; i++) matrix[j * m + i] = covariance_of(o, i, j);
}

/* Under the rule blocky, answers are added to predictions from own rows, as if they were about
 * something else: so an own row left out is predicted from the others of its block, and shifted by
 * the answers. */
static double blocky_cost(const struct system *s, const struct gpnn_fusion *f,
                          const double *explained, size_t row)
{
  size_t n = s->n, m = s->m;
  double precision = 0, shift = 0, less = 0;
  for (size_t j = row; j < n; j++) precision += f->root[j * m + row] * f->root[j * m + row];
  for (size_t j = n; j < m; j++) {
    shift += s->k[row * m + j] * f->weights[j];
    less += explained[j * m + row] * explained[j * m + row];
  }
  double latent = 1 / precision - s->noise[row] - less;
  return cost_of(f->weights[row] / precision - shift,
                 fmax(latent, 1e-10 * s->covariance->kernelscale) + s->noise[row]);
}

/* Scores the own rows, and counts the points whose variance comes out negative. */
static enum gpnn_status blocky_report(const struct system *s, struct gpnn_fusion *f,
                                      struct gpnn_error *err)
{
  size_t m = s->m;
  int order = (int)m;
  double *explained = gpnn_alloc(m, m, sizeof *explained), sum = 0;
  if (explained == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, order, order, order, 1, f->root, order,
              s->k, order, 0, explained, order);
  for (size_t i = 0; i < m; i++) {
    double less = cblas_ddot(order, explained + i, order, explained + i, order);
    f->n_negative += less > s->covariance->kernelscale;
    if (i < s->n) sum += blocky_cost(s, f, explained, i);
  }
  f->score = sum / (double)s->n;
  free(explained);
  return GPNN_OK;
}

static enum gpnn_status observe_answers(const struct system *s, bool blocky, struct gpnn_fusion *f,
                                        struct gpnn_error *err)
{
  struct observations observations = {s, blocky};
  f->root = gpnn_alloc(s->m, s->m, sizeof *f->root);
  if (f->root == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = factor(s, s->m, f->root, fill_observations, &observations, err);
  if (status != GPNN_OK) return status;
  memcpy(f->weights, s->targets, s->m * sizeof *f->weights);
  gpnn_cholesky_solve(s->m, f->root, f->weights);
  gpnn_triangular_invert(s->m, f->root);
  f->rank = s->m;
  if (blocky) return blocky_report(s, f, err);
  f->score = score_of(s, f->rank, f->root, f->weights);
  return GPNN_OK;
}

/* ---- a function that both views agree on ---------------------------------------------------- */

/* Its precision is the sum of theirs (equations 18.4 and 18.5): the other view is known at the
 * asked rows alone, so that its part is one matrix of their number.  Arrays are owned. */
struct consensus {
  const struct system *s;
  double *agreement; /* q by q: factor of what both views say there, then the rows of its inverse */
  double *cross;     /* q by m: that solved for covariances of the asked rows with all points */
  double *product;   /* m by q */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static bool consensus_allocate(struct consensus *c)
{
  size_t m = c->s->m, q = c->s->q;
  c->arrays = GPNN_ARRAYS(GPNN_ARRAY(c->agreement, q, q), GPNN_ARRAY(c->cross, q, m),
                          GPNN_ARRAY(c->product, m, q));
  return c->arrays != NULL;
}

/* What both views say of the answers together. */
static void fill_agreement(void *context, double *matrix)
{
  const struct system *s = ((const struct consensus *)context)->s;
  const struct gpnn_fusion_answers *a = s->answers;
  size_t n = s->n, m = s->m, q = s->q;
  for (size_t j = 0; j < q; j++)
    for (size_t i = j; i < q; i++)
      matrix[j * q + i] = s->k[(n + j) * m + n + i] + (a->prior[j * q + i] + error_of(s, i, j));
}

/* The covariance of all observations, its lower triangle. */
static void fill_agreed(void *context, double *matrix)
{
  const struct consensus *c = context;
  size_t m = c->s->m, q = c->s->q;
  memcpy(matrix, c->s->k, m * m * sizeof *matrix);
  for (size_t i = 0; i < m; i++) matrix[i * m + i] += c->s->noise[i];
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)m, (int)q, -1, c->cross, (int)q, 1,
              matrix, (int)m);
}

static enum gpnn_status agree(struct consensus *c, struct gpnn_error *err)
{
  size_t n = c->s->n, m = c->s->m, q = c->s->q;
  enum gpnn_status status = factor(c->s, q, c->agreement, fill_agreement, c, err);
  if (status != GPNN_OK) return status;
  for (size_t a = 0; a < m; a++)
    for (size_t i = 0; i < q; i++) c->cross[a * q + i] = c->s->k[a * m + n + i];
  gpnn_cholesky_forward(q, c->agreement, m, c->cross);
  return GPNN_OK;
}

/* Makes of weights for covariances of the consensus those for covariances of the asking model. */
static void translate_weights(const struct consensus *c, double *weights)
{
  int m = (int)c->s->m, q = (int)c->s->q;
  double *shift = c->product;
  cblas_dgemv(CblasColMajor, CblasNoTrans, q, m, 1, c->cross, q, weights, 1, 0, shift, 1);
  gpnn_cholesky_backward(c->s->q, c->agreement, 1, shift);
  for (size_t i = 0; i < c->s->q; i++) weights[c->s->n + i] -= shift[i];
}

/* Does the same for the first m rows of a root, and adds what the consensus itself takes away. */
static void translate_root(const struct consensus *c, double *root)
{
  size_t n = c->s->n;
  int m = (int)c->s->m, q = (int)c->s->q;
  gpnn_triangular_invert(c->s->q, c->agreement);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, m, 1, root, m, c->cross, q, 0,
              c->product, q);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, q, q, -1, c->product, q, c->agreement,
              q, 1, root + n, m);
  for (size_t i = 0; i < c->s->q; i++) {
    double *row = root + (c->s->m + i) * c->s->m;
    memset(row, 0, n * sizeof *row);
    memcpy(row + n, c->agreement + i * c->s->q, c->s->q * sizeof *row);
  }
}

static enum gpnn_status predictor(struct consensus *c, struct gpnn_fusion *f,
                                  struct gpnn_error *err)
{
  const struct system *s = c->s;
  enum gpnn_status status = agree(c, err);
  if (status == GPNN_OK) status = factor(s, s->m, f->root, fill_agreed, c, err);
  if (status != GPNN_OK) return status;
  memcpy(f->weights, s->targets, s->m * sizeof *f->weights);
  gpnn_cholesky_solve(s->m, f->root, f->weights);
  gpnn_triangular_invert(s->m, f->root);
  f->score = score_of(s, s->m, f->root, f->weights);
  translate_weights(c, f->weights);
  translate_root(c, f->root);
  f->rank = s->m + s->q;
  return gpnn_triangular_rotate(s->m, &f->rank, f->root, c->cross, err);
}

static enum gpnn_status agree_on_answers(const struct system *s, struct gpnn_fusion *f,
                                         struct gpnn_error *err)
{
  struct consensus c = {.s = s};
  f->root = gpnn_alloc(s->m + s->q, s->m, sizeof *f->root);
  enum gpnn_status status = f->root != NULL && consensus_allocate(&c)
                                ? predictor(&c, f, err)
                                : gpnn_fail_memory(err, MEMORY_FOR);
  gpnn_arrays_free(c.arrays);
  return status;
}

/* ---- rules -------------------------------------------------------------------------------- */

void gpnn_fusion_release(struct gpnn_fusion *fusion)
{
  free(fusion->points);
  free(fusion->weights);
  free(fusion->root);
  *fusion = (struct gpnn_fusion){0};
}

static enum gpnn_status combine(const struct system *s, enum gpnn_absorb_rule rule,
                                struct gpnn_fusion *f, struct gpnn_error *err)
{
  if (s->q > 0 && rule == GPNN_ABSORB_HYBRID) return agree_on_answers(s, f, err);
  return observe_answers(s, s->q > 0 && rule == GPNN_ABSORB_BLOCKY, f, err);
}

static enum gpnn_status make(struct system *s, const struct gpnn_dataset *view,
                             enum gpnn_absorb_rule rule, struct gpnn_fusion *fusion,
                             struct gpnn_error *err)
{
  struct gpnn_fusion own = {.m = s->m};
  own.weights = gpnn_alloc(s->m, 1, sizeof *own.weights);
  if (own.weights == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = system_make(s, view, err);
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
                                 enum gpnn_absorb_rule rule,
                                 enum gpnn_fusion_uncertainty uncertainty, struct gpnn_error *err)
{
  struct system system = {.covariance = &params->covariance,
                          .answers = answers,
                          .uncertainty = uncertainty,
                          .n = view->n,
                          .q = answers->n,
                          .m = view->n + answers->n};
  enum gpnn_status status = check_size(view->n, answers->n, err);
  if (status == GPNN_OK) status = check_model(view, params, err);
  if (status == GPNN_OK) status = check_answers(answers, err);
  if (status == GPNN_OK) status = make(&system, view, rule, fusion, err);
  free(system.points);
  gpnn_arrays_free(system.arrays);
  return status;
}
