#include "estimate/group_effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/effects.h"
#include "kernel/rotation.h"
#include "kernel/sight.h"
#include "linalg/arrays.h"
#include "linalg/blas_threads.h"
#include "models/heldout.h"
#include "models/model.h"
#include "vecchia/mixed.h"
#include "vecchia/vecchia.h"
#include "vecchia/whiten.h"

/* ---- whitened rows --------------------------------------------------------------------------- */

/* Rows of the design and targets, each given its neighbours and divided by its sd. */
struct whitened {
  const struct gpnn_dataset *view;
  struct gpnn_effect_design design;
  struct gpnn_mixed_factor *factors; /* one for each effect */
  char (*names)[GPNN_MASK_BYTES];    /* theirs */
  size_t *start;                     /* n + 1 */
  uint32_t *column;
  double *value, *y;
  struct gpnn_arrays *arrays; /* owned; those above */
  double log_variance;        /* sum of the logarithms of the variances divided by */
};

static void whitened_release(struct whitened *w)
{
  gpnn_effect_design_release(&w->design);
  gpnn_arrays_free(w->arrays);
}

/* The fixed part is linear where the rows suffice for its coefficients. */
static bool may_be_linear(const struct gpnn_dataset *view)
{
  enum { ROWS = 20 };
  return view->d <= GPNN_EFFECTS_LINEAR && view->n >= ROWS * view->d;
}

static enum gpnn_status whitened_init(struct whitened *w, const struct gpnn_dataset *view,
                                      size_t neighbours, struct gpnn_error *err)
{
  *w = (struct whitened){.view = view};
  enum gpnn_status status =
      gpnn_effect_design_make(&w->design, view, may_be_linear(view), NULL, NULL, err);
  if (status != GPNN_OK) return status;
  size_t most = view->n * (1 + neighbours) * w->design.n_numbers;
  w->arrays = GPNN_ARRAYS(GPNN_ARRAY(w->factors, w->design.n_effects, 1),
                          GPNN_ARRAY(w->names, w->design.n_effects, 1),
                          GPNN_ARRAY(w->start, view->n + 1, 1), GPNN_ARRAY(w->column, most, 1),
                          GPNN_ARRAY(w->value, most, 1), GPNN_ARRAY(w->y, view->n, 1));
  if (w->arrays == NULL) return gpnn_fail_memory(err, "for the effects");
  for (size_t e = 0; e < w->design.n_effects; e++)
    w->factors[e] =
        (struct gpnn_mixed_factor){gpnn_schema_effect_name(&view->schema, e, w->names[e]),
                                   w->design.groups[e].n, w->design.groups[e].width};
  return GPNN_OK;
}

/* Adds 'weight' times the numbers of a training row to a row; 'place' (columns of the design) says
 * where in it a column is, plus 1, or 0. */
static size_t add_numbers(struct whitened *w, size_t row, double weight, size_t n, size_t begin,
                          uint32_t *place)
{
  const struct gpnn_dataset *view = w->view;
  size_t end = begin + n;
  size_t added =
      gpnn_effect_design_row(&w->design, view->x + row * view->d, w->column + end, w->value + end);
  for (size_t i = end; i < end + added; i++) {
    uint32_t column = w->column[i];
    double value = weight * w->value[i];
    if (place[column] == 0) {
      w->column[begin + n] = column;
      w->value[begin + n] = 0;
      place[column] = (uint32_t)++n;
    }
    w->value[begin + place[column] - 1] += value;
  }
  return n;
}

/* Rows that are independent of each other. */
static void fill_independent(struct whitened *w)
{
  const struct gpnn_dataset *view = w->view;
  w->start[0] = 0;
  for (size_t i = 0; i < view->n; i++) {
    size_t begin = w->start[i];
    w->start[i + 1] = begin + gpnn_effect_design_row(&w->design, view->x + i * view->d,
                                                     w->column + begin, w->value + begin);
    w->y[i] = view->y[i];
  }
}

/* Rows of which each has been whitened given its neighbours ('m' of each), with these residuals,
 * variances and weights. */
static enum gpnn_status fill_given(struct whitened *w, size_t m, const int64_t *neighbours,
                                   const double *weights, const double *residuals,
                                   const double *variances, struct gpnn_error *err)
{
  uint32_t *place = gpnn_alloc(w->design.n_columns, 1, sizeof *place);
  if (place == NULL) return gpnn_fail_memory(err, "for the effects");
  w->start[0] = 0;
  for (size_t i = 0; i < w->view->n; i++) {
    size_t begin = w->start[i], n = add_numbers(w, i, 1, 0, begin, place);
    double sd = sqrt(variances[i]);
    for (size_t k = 0; k < m && neighbours[i * m + k] >= 0; k++)
      n = add_numbers(w, (size_t)neighbours[i * m + k], -weights[i * m + k], n, begin, place);
    for (size_t k = begin; k < begin + n; k++) {
      place[w->column[k]] = 0;
      w->value[k] /= sd;
    }
    w->start[i + 1] = begin + n;
    w->y[i] = residuals[i] / sd;
    w->log_variance += log(variances[i]);
  }
  free(place);
  return GPNN_OK;
}

/* Arrays of whitening under the covariance of a process. */
struct whitening {
  double *rotated, *lengthscale, *residuals, *variances, *weights;
  int64_t *order, *neighbours;
  struct gpnn_arrays *arrays; /* owned; what frees them */
};

static enum gpnn_status find_neighbours(struct whitening *s, const struct gpnn_dataset *view,
                                        const double *x, size_t m,
                                        const struct gpnn_group_effects_options *options,
                                        struct gpnn_error *err)
{
  struct gpnn_vecchia_options search = GPNN_VECCHIA_OPTIONS_INIT;
  search.neighbours = m;
  search.lengthscale = s->lengthscale;
  search.kind = GPNN_SEARCH_AUTO;
  search.seed = options->seed;
  search.threads = options->threads;
  enum gpnn_status status =
      gpnn_vecchia_order(GPNN_ORDER_RANDOM, view->n, view->d, x, options->seed, s->order, err);
  return status == GPNN_OK ? gpnn_vecchia_neighbours(view->n, view->d, x, s->order, 0, NULL,
                                                     &search, s->neighbours, err)
                           : status;
}

/* Whitens all rows under the covariance of a process, given 'm' neighbours each. */
static enum gpnn_status fill_dependent(struct whitened *w, const struct gpnn_covariance *covariance,
                                       size_t m, const struct gpnn_group_effects_options *options,
                                       struct gpnn_error *err)
{
  const struct gpnn_dataset *view = w->view;
  size_t n = view->n, d = view->d;
  struct whitening s = {0};
  struct gpnn_jitter jitter = {0};
  bool rotates = covariance->n_rotation > 0;
  s.arrays = GPNN_ARRAYS(GPNN_ARRAY_IF(rotates, s.rotated, n, d), GPNN_ARRAY(s.lengthscale, d, 1),
                         GPNN_ARRAY(s.residuals, n, 1), GPNN_ARRAY(s.variances, n, 1),
                         GPNN_ARRAY(s.weights, n, m), GPNN_ARRAY(s.order, n, 1),
                         GPNN_ARRAY(s.neighbours, n, m));
  if (s.arrays == NULL) return gpnn_fail_memory(err, "for the effects");
  if (rotates) gpnn_rotation_apply(d, covariance->rotation, n, view->x, s.rotated);
  gpnn_covariance_expand(covariance, d, view->group, s.lengthscale);
  const struct gpnn_whiten_rows rows = {.n = n,
                                        .d = d,
                                        .n_values = 1,
                                        .m = m,
                                        .x = rotates ? s.rotated : view->x,
                                        .values = view->y,
                                        .neighbours = s.neighbours};
  enum gpnn_status status = find_neighbours(&s, view, rows.x, m, options, err);
  if (status == GPNN_OK)
    status = gpnn_whiten(&rows, covariance, s.lengthscale, 0, n, NULL, options->threads,
                         s.residuals, s.variances, s.weights, &jitter, err);
  if (status == GPNN_OK)
    status = fill_given(w, m, s.neighbours, s.weights, s.residuals, s.variances, err);
  gpnn_arrays_free(s.arrays);
  return status;
}

/* ---- effects --------------------------------------------------------------------------------- */

static struct gpnn_mixed_data data_of(const struct whitened *w)
{
  return (struct gpnn_mixed_data){.rows = {.n = w->view->n,
                                           .n_columns = w->design.n_columns,
                                           .start = w->start,
                                           .column = w->column,
                                           .value = w->value},
                                  .target = w->y,
                                  .n_fixed = w->design.n_fixed,
                                  .n_factors = w->design.n_effects,
                                  .factor = w->factors};
}

/* Copies the keys of all crossed effects. */
static bool copy_keys(struct gpnn_effect_posterior *p, const struct gpnn_effect_design *design)
{
  p->n_effects = design->n_effects;
  p->n_keys = gpnn_alloc(design->n_effects, 1, sizeof *p->n_keys);
  if (p->n_keys == NULL) return false;
  for (size_t e = 0; e < design->n_effects; e++)
    if (design->groups[e].keys != NULL) p->n_all_keys += p->n_keys[e] = design->groups[e].n;
  p->keys = gpnn_alloc(p->n_all_keys, 1, sizeof *p->keys);
  if (p->keys == NULL) return false;
  double *to = p->keys;
  for (size_t e = 0; e < design->n_effects; to += p->n_keys[e++])
    if (p->n_keys[e] > 0) memcpy(to, design->groups[e].keys, p->n_keys[e] * sizeof *to);
  return true;
}

/* Leaves of covariance matrices one half and the diagonal; returns how many numbers remain. */
static size_t list_variances(const struct whitened *w, double *covariance)
{
  const double *from = covariance;
  size_t n = 0;
  for (size_t e = 0; e < w->design.n_effects; e++) {
    size_t width = w->design.groups[e].width;
    covariance[n++] = from[0];
    if (width > 1) {
      covariance[n++] = from[1];
      covariance[n++] = from[3];
    }
    from += width * width;
  }
  return n;
}

/* Makes effects of what was fitted, which gives away its arrays. */
static enum gpnn_status take_effects(const struct whitened *w, struct gpnn_mixed *fitted,
                                     struct gpnn_effects *effects, struct gpnn_error *err)
{
  struct gpnn_effect_posterior *p = calloc(1, sizeof *p);
  gpnn_effects_release(effects);
  if (p == NULL || !copy_keys(p, &w->design)) {
    gpnn_effect_posterior_free(p);
    return gpnn_fail_memory(err, "for the effects");
  }
  p->is_linear = w->design.n_fixed > 1;
  p->n_columns = w->design.n_columns;
  p->mean = fitted->effects;
  p->factor = fitted->factor;
  *effects = (struct gpnn_effects){.unit = fitted->scale,
                                   .n_variances = list_variances(w, fitted->covariance),
                                   .variance = fitted->covariance,
                                   .posterior = p};
  fitted->effects = fitted->covariance = NULL;
  fitted->factor = (struct gpnn_sparse_factor){0};
  return GPNN_OK;
}

/* ---- without a process ----------------------------------------------------------------------- */

static enum gpnn_status check(const struct gpnn_dataset *view, struct gpnn_error *err)
{
  if (view->noise != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "rows with known noise variances have no group effects: leave out one of the "
                     "two");
  return GPNN_OK;
}

/* The group that a row has in effect 'e', from 0, by its numbers in the design; SIZE_MAX: none. */
static size_t group_in(const struct gpnn_effect_design *design, size_t e, size_t n,
                       const uint32_t *columns)
{
  const struct gpnn_effect_groups *groups = &design->groups[e];
  for (size_t k = design->n_fixed; k < n; k++)
    if (columns[k] >= groups->first && columns[k] < groups->first + groups->n * groups->width)
      return (columns[k] - groups->first) / groups->width;
  return SIZE_MAX;
}

/* Lists the group that each row has in each effect: n by n_effects, for the caller to free; NULL:
 * there is no memory. */
static size_t *list_groups(const struct gpnn_dataset *view, const struct gpnn_effect_design *design)
{
  size_t m = design->n_effects;
  size_t *groups = gpnn_alloc(view->n, m, sizeof *groups);
  uint32_t *columns = gpnn_alloc(design->n_numbers, 1, sizeof *columns);
  double *values = gpnn_alloc(design->n_numbers, 1, sizeof *values);
  for (size_t i = 0; i < view->n && groups != NULL && columns != NULL && values != NULL; i++) {
    size_t n = gpnn_effect_design_row(design, view->x + i * view->d, columns, values);
    for (size_t e = 0; e < m; e++) groups[i * m + e] = group_in(design, e, n, columns);
  }
  bool enough = columns != NULL && values != NULL;
  free(columns);
  free(values);
  if (enough) return groups;
  free(groups);
  return NULL;
}

/* True if rows of one group of effect 'e' are all of one group of 'f'; 'of' has room for the groups
 * of e. */
static bool tells(size_t n, size_t m, const size_t *groups, size_t e, size_t f, size_t n_groups,
                  size_t *of)
{
  for (size_t g = 0; g < n_groups; g++) of[g] = SIZE_MAX;
  for (size_t i = 0; i < n; i++) {
    size_t own = groups[i * m + e], other = groups[i * m + f];
    if (own == SIZE_MAX) continue;
    if (of[own] != SIZE_MAX && of[own] != other) return false;
    of[own] = other;
  }
  return true;
}

/* GPNN_EDATA: two effects have the same groups, under whatever names. */
static enum gpnn_status check_distinct(const struct gpnn_dataset *view, struct gpnn_error *err)
{
  struct gpnn_effect_design design = {0};
  char names[2][GPNN_MASK_BYTES];
  enum gpnn_status status = gpnn_effect_design_make(&design, view, false, NULL, NULL, err);
  if (status != GPNN_OK) return status;
  size_t n = view->n, m = design.n_effects;
  size_t *groups = list_groups(view, &design);
  size_t *of = gpnn_alloc(design.n_columns, 1, sizeof *of);
  if (groups == NULL || of == NULL) status = gpnn_fail_memory(err, "for the effects");
  for (size_t e = 0; e < m; e++)
    for (size_t f = e + 1; f < m && status == GPNN_OK; f++)
      if (tells(n, m, groups, e, f, design.groups[e].n, of) &&
          tells(n, m, groups, f, e, design.groups[f].n, of))
        status =
            gpnn_fail(err, GPNN_EDATA,
                      "group effects '%s' and '%s' are of the same groups of rows, under other "
                      "names, so that nothing tells them apart: leave out one of the two",
                      gpnn_schema_effect_name(&view->schema, e, names[0]),
                      gpnn_schema_effect_name(&view->schema, f, names[1]));
  free(groups);
  free(of);
  gpnn_effect_design_release(&design);
  return status;
}

/* Fits the effects of independent rows, given their covariances unless these are NULL. */
static enum gpnn_status fit_alone(struct whitened *w, const struct gpnn_dataset *view,
                                  const double *covariance, struct gpnn_mixed *fitted,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = whitened_init(w, view, 0, err);
  if (status != GPNN_OK) return status;
  fill_independent(w);
  const struct gpnn_mixed_data data = data_of(w);
  return covariance == NULL ? gpnn_mixed_estimate(&data, NULL, fitted, err)
                            : gpnn_mixed_solve(&data, covariance, 0, fitted, err);
}

enum gpnn_status gpnn_group_effects_begin(const struct gpnn_dataset *view, double *pseudo,
                                          double **covariance, struct gpnn_error *err)
{
  struct whitened w = {0};
  struct gpnn_mixed fitted = {0};
  double *leverage = gpnn_alloc(view->n, 1, sizeof *leverage);
  enum gpnn_status status =
      leverage == NULL ? gpnn_fail_memory(err, "for the effects") : check(view, err);
  *covariance = NULL;
  if (status == GPNN_OK) status = check_distinct(view, err);
  if (status == GPNN_OK) status = fit_alone(&w, view, NULL, &fitted, err);
  if (status == GPNN_OK) {
    *covariance = fitted.covariance;
    fitted.covariance = NULL;
    const struct gpnn_mixed_data data = data_of(&w);
    gpnn_mixed_left_out(&data, &fitted, leverage, pseudo);
  }
  for (size_t i = 0; i < view->n && status == GPNN_OK; i++) pseudo[i] = view->y[i] - pseudo[i];
  free(leverage);
  gpnn_mixed_release(&fitted);
  whitened_release(&w);
  return status;
}

/* ---- given a process ------------------------------------------------------------------------- */

/* Numbers of neighbours to condition on: fewer where more entangle too many effects. */
static const size_t fewer[] = {15, 5, 1};

/* Fits the effects under the covariance of a process, which 'params' have, beginning with these
 * covariances of effects. */
static enum gpnn_status fit_given(struct whitened *w, const struct gpnn_dataset *view,
                                  const struct gpnn_group_effects_options *options,
                                  const struct gpnn_parameters *params, const double *start,
                                  struct gpnn_mixed *fitted, size_t *neighbours,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_EDATA;
  for (size_t i = 0; i < sizeof fewer / sizeof *fewer && status == GPNN_EDATA; i++) {
    whitened_release(w);
    *neighbours = fewer[i] < view->n ? fewer[i] : view->n;
    status = whitened_init(w, view, *neighbours, err);
    if (status == GPNN_OK)
      status = fill_dependent(w, &params->covariance, *neighbours, options, err);
    const struct gpnn_mixed_data data = data_of(w);
    if (status == GPNN_OK) status = gpnn_mixed_estimate(&data, start, fitted, err);
  }
  return status;
}

/* Levels are too close to each other to have a lengthscale. */
static void hide_levels(struct gpnn_parameters *params, const struct gpnn_dataset *view)
{
  struct gpnn_covariance *covariance = &params->covariance;
  bool has_own = covariance->n_rotation == 0 && covariance->n_lengthscales == view->n_groups;
  for (size_t j = 0; j < view->d && has_own && view->n_groups > 1; j++)
    if (view->schema.inputs[view->coordinates[j].input].kind == GPNN_COLUMN_EFFECT)
      covariance->lengthscale[view->group[j]] = GPNN_SIGHT_UNSEEN;
}

static void drop_mean(struct gpnn_parameters *params)
{
  free(params->mean.coefficients);
  free(params->mean.covariance);
  params->mean = (struct gpnn_mean_function){.kind = GPNN_MEAN_ZERO};
}

/* The targets of all training rows without fixed part and effects. */
static enum gpnn_status subtract(const struct whitened *w, const struct gpnn_effects *effects,
                                 double *pseudo, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = w->view;
  uint32_t *columns = gpnn_alloc(w->design.n_numbers, 1, sizeof *columns);
  double *values = gpnn_alloc(w->design.n_numbers, 1, sizeof *values);
  bool enough = columns != NULL && values != NULL;
  for (size_t i = 0; i < view->n && enough; i++) {
    size_t n = gpnn_effect_design_row(&w->design, view->x + i * view->d, columns, values);
    pseudo[i] = view->y[i];
    for (size_t k = 0; k < n; k++) pseudo[i] -= values[k] * effects->posterior->mean[columns[k]];
  }
  free(columns);
  free(values);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the effects");
}

/* ---- with or without it ---------------------------------------------------------------------- */

/* Negative log densities of the rows held out, but for a constant, with the variance that suits
 * them all. */
static enum gpnn_status score(const struct gpnn_dataset *view, const struct gpnn_parameters *params,
                              const double *pseudo, int threads, double *scores,
                              struct gpnn_error *err)
{
  struct gpnn_dataset own = *view;
  const struct gpnn_channel channel = {&own, params};
  const struct gpnn_model_options options = {.threads = threads};
  const struct gpnn_heldout heldout = gpnn_heldout_of_dataset(view);
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  size_t n = heldout.query.n;
  double factor = 0;
  own.observed = view->y;
  own.y = pseudo;
  double *mean = gpnn_alloc(n, 1, sizeof *mean), *variance = gpnn_alloc(n, 1, sizeof *variance);
  const struct gpnn_latent latent = {.mean = mean, .variance = variance};
  enum gpnn_status status = mean == NULL || variance == NULL
                                ? gpnn_fail_memory(err, "for the effects")
                                : gpnn_model_new(&model, 1, &channel, &options, err);
  if (status == GPNN_OK) status = gpnn_model_predict(model, &heldout.query, &latent, &counts, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    variance[i] += params->covariance.noise;
    scores[i] = (heldout.y[i] - mean[i]) * (heldout.y[i] - mean[i]) / variance[i];
    factor += scores[i] / (double)n;
  }
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    scores[i] = (scores[i] / factor + log(factor * variance[i])) / 2;
  gpnn_model_free(model);
  free(mean);
  free(variance);
  return status;
}

/* Sets in the report how much the process lowers the scores of rows held out. */
static void compare(size_t n, const double *with, const double *without,
                    struct gpnn_group_effects_report *report)
{
  const double least = 0.005;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    double difference = without[i] - with[i], before = mean;
    mean += (difference - mean) / (double)(i + 1);
    squares += (difference - before) * (difference - mean);
  }
  report->n_rows = n;
  report->gain = mean;
  report->error = sqrt(squares / (double)(n - 1) / (double)n);
  report->has_process = mean > fmax(least, report->error);
}

/* Makes of parameters those of the same noise without a process: it is next to nothing. */
static void drop_process(struct gpnn_parameters *params, double noise)
{
  static const double nothing = 1e-9;
  params->covariance.kernelscale = nothing * noise;
  params->covariance.noise = noise;
  params->neighbours = 1;
}

/*
 * Finds out whether rows that are held out are predicted better with the process than without, both
 * with the effects that 'params' have, which were found without it; otherwise leaves it out.
 */
static enum gpnn_status decide(const struct gpnn_dataset *view,
                               const struct gpnn_group_effects_options *options,
                               struct gpnn_parameters *params, const double *pseudo,
                               struct gpnn_group_effects_report *report, struct gpnn_error *err)
{
  enum { FEWEST = 30 };
  size_t n = view->n_calibration;
  struct gpnn_parameters without = *params;
  drop_process(&without, params->effects.unit);
  if (n < FEWEST) return GPNN_OK;
  double *scores = gpnn_alloc(n, 2, sizeof *scores);
  if (scores == NULL) return gpnn_fail_memory(err, "for the effects");
  enum gpnn_status status = score(view, params, pseudo, options->threads, scores, err);
  if (status == GPNN_OK) status = score(view, &without, pseudo, options->threads, scores + n, err);
  if (status == GPNN_OK) compare(n, scores, scores + n, report);
  if (status == GPNN_OK && !report->has_process) *params = without;
  free(scores);
  return status;
}

/* Puts the effects that were fitted into 'params', and what they leave of the targets into
 * 'pseudo'. */
static enum gpnn_status set_effects(const struct whitened *w, struct gpnn_mixed *fitted,
                                    struct gpnn_parameters *params, double *pseudo,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = take_effects(w, fitted, &params->effects, err);
  return status == GPNN_OK ? subtract(w, &params->effects, pseudo, err) : status;
}

/* Fits the effects again, given the process too, from what was 'fitted' without it. */
static enum gpnn_status add_process(struct whitened *w, const struct gpnn_dataset *view,
                                    const struct gpnn_group_effects_options *options,
                                    const double *covariance, struct gpnn_parameters *params,
                                    double *pseudo, struct gpnn_mixed *fitted,
                                    struct gpnn_group_effects_report *report,
                                    struct gpnn_error *err)
{
  size_t n = fitted->n_covariances;
  double *start = gpnn_alloc(n, 1, sizeof *start);
  if (start == NULL) return gpnn_fail_memory(err, "for the effects");
  for (size_t k = 0; k < n; k++) start[k] = covariance[k] * fitted->scale;
  gpnn_mixed_release(fitted);
  enum gpnn_status status =
      fit_given(w, view, options, params, start, fitted, &report->neighbours, err);
  free(start);
  params->covariance.kernelscale *= fitted->scale;
  params->covariance.noise *= fitted->scale;
  return status == GPNN_OK ? set_effects(w, fitted, params, pseudo, err) : status;
}

enum gpnn_status gpnn_group_effects_end(const struct gpnn_dataset *view,
                                        const struct gpnn_group_effects_options *options,
                                        const double *covariance, struct gpnn_parameters *params,
                                        double *pseudo, struct gpnn_group_effects_report *report,
                                        struct gpnn_error *err)
{
  struct whitened w = {0};
  struct gpnn_mixed fitted = {0};
  *report = (struct gpnn_group_effects_report){.has_process = true};
  drop_mean(params);
  hide_levels(params, view);
  enum gpnn_status status = check(view, err);
  if (status == GPNN_OK) status = fit_alone(&w, view, covariance, &fitted, err);
  if (status == GPNN_OK) status = set_effects(&w, &fitted, params, pseudo, err);
  if (status == GPNN_OK) status = decide(view, options, params, pseudo, report, err);
  if (status == GPNN_OK && report->has_process)
    status = add_process(&w, view, options, covariance, params, pseudo, &fitted, report, err);
  gpnn_mixed_release(&fitted);
  whitened_release(&w);
  return status;
}
