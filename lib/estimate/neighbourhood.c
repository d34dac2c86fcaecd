#include "estimate/neighbourhood.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "estimate/neighbourhood_private.h"
#include "linalg/arrays.h"
#include "linalg/factors/cholesky.h"
#include "linalg/simd.h"

/* ---- room for one thread ------------------------------------------------------------------- */

/* ---- one row -------------------------------------------------------------------------- */

/* False: not enough memory.  The object may be released even then, and also if it is zeroed. */
static bool scratch_init(struct gpnn_term_scratch *scratch, size_t k, size_t d)
{
  size_t s = k + 1, pairs = s * k / 2;
  scratch->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(scratch->z, d, s), GPNN_ARRAY(scratch->t, d, s),
                  GPNN_ARRAY(scratch->difference, d, 1), GPNN_ARRAY(scratch->r2, 3, pairs),
                  GPNN_ARRAY(scratch->cross2, 3, k), GPNN_ARRAY(scratch->a, s, s),
                  GPNN_ARRAY(scratch->work, gpnn_cholesky_work(s), 1),
                  GPNN_ARRAY(scratch->diagonal, 4, s), GPNN_ARRAY(scratch->row, s, 1));
  if (scratch->arrays == NULL) return false;
  scratch->slope = scratch->r2 + pairs;
  scratch->pair = scratch->slope + pairs;
  scratch->cross = scratch->cross2 + k;
  scratch->cross_slope = scratch->cross + k;
  scratch->r = scratch->diagonal + s;
  scratch->alpha = scratch->r + s;
  scratch->w = scratch->alpha + s;
  return true;
}

/* ---- several rows --------------------------------------------------------------------- */

/* 'data', 'params', 'inverse' and 'map' are borrowed; the caller sets 'labels'.  False: not enough
 * memory.  The object may be released even then, and also if it is zeroed. */
static bool lanes_init(struct gpnn_lanes *lanes, const struct gpnn_dataset *data,
                       const struct gpnn_parameters *params, const double *inverse,
                       const double *map, size_t k, bool with_map)
{
  size_t d = data->d, pairs = k * (k - (k > 0)) / 2, width = params->covariance.n_lengthscales + 3;
  size_t padded = (d + GPNN_LANES_COLUMNS - 1) / GPNN_LANES_COLUMNS * GPNN_LANES_COLUMNS;
  *lanes = (struct gpnn_lanes){.data = data,
                               .params = params,
                               .inverse = inverse,
                               .map = map,
                               .k = k,
                               .padded = padded,
                               .with_map = with_map};
  lanes->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(lanes->difference, d, 1), GPNN_ARRAY(lanes->z, 2 * k, padded),
      GPNN_ARRAY(lanes->r2, pairs, 3), GPNN_ARRAY(lanes->cross2, k, 6),
      GPNN_ARRAY(lanes->factor, pairs + 3 * k, 1), GPNN_ARRAY(lanes->gradient, width, 1),
      GPNN_ARRAY(lanes->by_map, d, with_map ? d : 1));
  if (lanes->arrays == NULL) return false;
  lanes->t = lanes->z + k * padded;
  lanes->slope = lanes->r2 + pairs;
  lanes->pair = lanes->slope + pairs;
  lanes->cross = lanes->cross2 + k;
  lanes->cross_slope = lanes->cross + k;
  lanes->diagonal = lanes->cross_slope + k;
  lanes->inverse_diagonal = lanes->diagonal + k;
  lanes->sum = lanes->inverse_diagonal + k;
  return true;
}

/* ---- classes -------------------------------------------------------------------------- */

/* 'link' and 'share' are borrowed.  False: not enough memory.  The object may be released even
 * then, and also if it is zeroed. */
static bool labels_init(struct gpnn_labels *labels, size_t n_classes, const struct gpnn_link *link,
                        const double *share, size_t k)
{
  *labels = (struct gpnn_labels){
      .classes = {.n = n_classes, .link = link, .share = share, .temperature = 1}};
  labels->arrays = GPNN_ARRAYS(GPNN_ARRAY(labels->latent, n_classes, 4),
                               GPNN_ARRAY(labels->w, k, 2), GPNN_ARRAY(labels->label, k, 1));
  if (labels->arrays == NULL) return false;
  labels->probability = labels->latent + n_classes;
  labels->slopes.bias = labels->probability + n_classes;
  labels->slopes.latent = labels->slopes.bias + n_classes;
  labels->by_w = labels->w + k;
  return true;
}

size_t gpnn_labels_width(const struct gpnn_labels *labels)
{
  return GPNN_LINK_NUMBERS + labels->classes.n;
}

/* Writes the latent function of each class. */
static void find_latent(struct gpnn_labels *labels, size_t k)
{
  const struct gpnn_categorical *classes = &labels->classes;
  double sum = 0;
  for (size_t a = 0; a < k; a++) sum += labels->w[a];
  for (size_t c = 0; c < classes->n; c++) labels->latent[c] = -classes->share[c] * sum;
  for (size_t a = 0; a < k; a++) labels->latent[labels->label[a]] += labels->w[a];
}

/* Writes the derivatives of the log probability by the weights. */
static void differentiate(struct gpnn_labels *labels, size_t k)
{
  const struct gpnn_categorical *classes = &labels->classes;
  const double *by_latent = labels->slopes.latent;
  double usual = 0;
  for (size_t c = 0; c < classes->n; c++) usual += classes->share[c] * by_latent[c];
  for (size_t a = 0; a < k; a++) labels->by_w[a] = usual - by_latent[labels->label[a]];
}

double gpnn_labels_error(const struct gpnn_labels *labels, size_t label)
{
  for (size_t c = 0; c < labels->classes.n; c++)
    if (labels->probability[c] > labels->probability[label]) return 1;
  return 0;
}

double gpnn_labels_loss(struct gpnn_labels *labels, size_t label, size_t k, double v,
                        double *by_link, double *by_variance)
{
  struct gpnn_categorical_slopes *slopes = by_link == NULL ? NULL : &labels->slopes;
  find_latent(labels, k);
  double loss = gpnn_categorical_loss(&labels->classes, labels->latent, v, label,
                                      labels->probability, slopes);
  if (slopes == NULL) return loss;
  for (size_t j = 0; j < GPNN_LINK_NUMBERS; j++) by_link[j] = -slopes->link[j];
  for (size_t c = 0; c < labels->classes.n; c++) by_link[GPNN_LINK_NUMBERS + c] = -slopes->bias[c];
  *by_variance = -slopes->variance;
  differentiate(labels, k);
  return loss;
}

/* ---- the objective ------------------------------------------------------------------------- */

/* Adds the neighbours of row 'i' to the term; for the joint density, the row itself comes first. */
static void gather(struct gpnn_term *term, const struct gpnn_neighbourhoods *hoods,
                   enum gpnn_density density, size_t i)
{
  size_t centre = (size_t)hoods->row[i];
  term->k = 0;
  if (density == GPNN_DENSITY_JOINT) gpnn_term_add(term, term->k++, centre, centre);
  for (size_t a = 0; a < hoods->k; a++) {
    int64_t row = hoods->neighbour[i * hoods->k + a];
    if (row >= 0) gpnn_term_add(term, term->k++, (size_t)row, centre);
  }
}

/* The evaluation of all rows.  For each row 'gradients' has 'width' derivatives by the parameters,
 * followed by n_map derivatives by the map. */
struct evaluation {
  struct gpnn_term shared;
  const struct gpnn_neighbourhoods *hoods;
  enum gpnn_density density;
  size_t n_threads, width, n_map;
  struct gpnn_term_scratch *scratch; /* n_threads, each initialised when first needed */
  struct gpnn_lanes *lanes;          /* likewise; NULL: evaluate rows one by one */
  struct gpnn_labels *labels;        /* likewise; NULL: the target is a number */
  struct gpnn_term_outcome *outcomes;
  double *gradients; /* NULL: none are wanted */
};

static void evaluation_release(struct evaluation *e)
{
  for (size_t t = 0; e->scratch != NULL && t < e->n_threads; t++)
    gpnn_arrays_free(e->scratch[t].arrays);
  for (size_t t = 0; e->lanes != NULL && t < e->n_threads; t++)
    gpnn_arrays_free(e->lanes[t].arrays);
  for (size_t t = 0; e->labels != NULL && t < e->n_threads; t++)
    gpnn_arrays_free(e->labels[t].arrays);
  free(e->scratch);
  free(e->lanes);
  free(e->labels);
  free(e->outcomes);
  free(e->gradients);
}

/* With many neighbours a single row fills vectors, and several rows' matrices would not fit into
 * the cache. */
static bool uses_lanes(const struct evaluation *e)
{
  enum { MOST = 128 };
  return e->density != GPNN_DENSITY_JOINT && e->hoods->k > 0 && e->hoods->k <= MOST;
}

static bool evaluation_alloc(struct evaluation *e, bool with_gradient)
{
  size_t n = e->hoods->n;
  bool by_lanes = uses_lanes(e), of_labels = e->density == GPNN_DENSITY_LABELS;
  e->scratch = gpnn_alloc(e->n_threads, 1, sizeof *e->scratch);
  if (by_lanes) e->lanes = gpnn_alloc(e->n_threads, 1, sizeof *e->lanes);
  if (of_labels) e->labels = gpnn_alloc(e->n_threads, 1, sizeof *e->labels);
  e->outcomes = gpnn_alloc(n, 1, sizeof *e->outcomes);
  if (with_gradient) e->gradients = gpnn_alloc(n, e->width + e->n_map, sizeof *e->gradients);
  return e->scratch && e->outcomes && !(by_lanes && !e->lanes) && !(of_labels && !e->labels) &&
         !(with_gradient && !e->gradients);
}

/* Initialises a thread's scratch unless that has been done; false: not enough memory. */
static bool prepare(const struct evaluation *e, size_t thread)
{
  const struct gpnn_term *term = &e->shared;
  const struct gpnn_neighbourhoods *hoods = e->hoods;
  struct gpnn_lanes *lanes = e->lanes == NULL ? NULL : &e->lanes[thread];
  struct gpnn_labels *labels = e->labels == NULL ? NULL : &e->labels[thread];
  if (e->scratch[thread].z != NULL) return true;
  if (!scratch_init(&e->scratch[thread], hoods->k, term->data->d)) return false;
  if (labels != NULL && !labels_init(labels, gpnn_dataset_n_classes(term->data),
                                     &term->params->link, hoods->share, hoods->k))
    return false;
  if (lanes == NULL) return true;
  bool done = lanes_init(lanes, term->data, term->params, term->inverse, term->map, hoods->k,
                         e->gradients != NULL && e->n_map > 0);
  lanes->labels = labels;
  return done;
}

/* Evaluates the density of the rows added, given the row in their centre or together with it. */
static enum gpnn_status evaluate_term(enum gpnn_density density, struct gpnn_term *term,
                                      size_t centre, struct gpnn_term_outcome *outcome,
                                      double *gradient, double *by_map)
{
  struct gpnn_error ignored;
  switch (density) {
  case GPNN_DENSITY_JOINT:
    return gpnn_term_joint(term, outcome, gradient, by_map, &ignored);
  case GPNN_DENSITY_LABELS:
    return gpnn_term_labels(term, centre, outcome, gradient, by_map, &ignored);
  case GPNN_DENSITY_CONDITIONAL:
    break;
  }
  return gpnn_term_conditional(term, centre, outcome, gradient, by_map, &ignored);
}

static void evaluate_row(const struct evaluation *e, size_t thread, size_t i)
{
  struct gpnn_term term = e->shared;
  struct gpnn_term_outcome *outcome = &e->outcomes[i];
  double *gradient = e->gradients == NULL ? NULL : e->gradients + i * (e->width + e->n_map);
  double *by_map = gradient == NULL || e->n_map == 0 ? NULL : gradient + e->width;
  for (size_t j = 0; gradient != NULL && j < e->width + e->n_map; j++) gradient[j] = 0;
  term.scratch = &e->scratch[thread];
  term.labels = e->labels == NULL ? NULL : &e->labels[thread];
  gather(&term, e->hoods, e->density, i);
  enum gpnn_status status =
      evaluate_term(e->density, &term, (size_t)e->hoods->row[i], outcome, gradient, by_map);
  if (status != GPNN_OK || !isfinite(outcome->loss)) outcome->loss = NAN;
}

/* Evaluates GPNN_LANES rows from 'first' on together; does nothing and returns false if that is not
 * possible, for instance because one lacks neighbours. */
static bool evaluate_lanes(const struct evaluation *e, size_t thread, size_t first)
{
  const struct gpnn_neighbourhoods *hoods = e->hoods;
  const int64_t *neighbour = hoods->neighbour + first * hoods->k;
  size_t all = e->width + e->n_map;
  double loss[GPNN_LANES], z2[GPNN_LANES] = {0};
  if (e->lanes == NULL || hoods->n - first < GPNN_LANES) return false;
  for (size_t a = 0; a < GPNN_LANES * hoods->k; a++)
    if (neighbour[a] < 0) return false;
  const double *squares =
      hoods->squares == NULL ? NULL : hoods->squares + first * GPNN_HOOD_SQUARES(hoods->k);
  double *gradients = e->gradients == NULL ? NULL : e->gradients + first * all;
  if (e->labels != NULL)
    gpnn_lanes_labels(&e->lanes[thread], hoods->row + first, neighbour, squares, loss, z2,
                      gradients, all);
  else
    gpnn_lanes_conditional(&e->lanes[thread], hoods->row + first, neighbour, squares, loss, z2,
                           gradients, all);
  for (size_t l = 0; l < GPNN_LANES; l++)
    e->outcomes[first + l] = (struct gpnn_term_outcome){loss[l], z2[l], 0};
  return true;
}

/* Evaluates a piece: up to GPNN_LANES rows, together if possible; rows that need jitter one by one.
 */
static enum gpnn_status evaluate_rows(void *context, size_t thread, size_t piece,
                                      struct gpnn_error *err)
{
  const struct evaluation *e = context;
  if (!prepare(e, thread)) return gpnn_fail_memory(err, "for neighbourhoods");
  size_t first = piece * GPNN_LANES, left = e->hoods->n - first;
  size_t end = first + (left < GPNN_LANES ? left : GPNN_LANES);
  bool done = evaluate_lanes(e, thread, first);
  for (size_t i = first; i < end; i++)
    if (!done || isnan(e->outcomes[i].loss)) evaluate_row(e, thread, i);
  return GPNN_OK;
}

GPNN_SIMD static double square_distance(size_t d, const double *x, const double *z)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t j = 0; j < d; j++) sum += (x[j] - z[j]) * (x[j] - z[j]);
  return sum;
}

/* Arguments of square_row(). */
struct squaring {
  const struct gpnn_neighbourhoods *hoods;
  const double *x;
  size_t d;
  double *squares;
};

static void square_row(void *context, size_t thread, size_t i)
{
  const struct squaring *all = context;
  const double *x = all->x;
  size_t k = all->hoods->k, d = all->d;
  double *to = all->squares + i * GPNN_HOOD_SQUARES(k);
  const int64_t *neighbour = all->hoods->neighbour + i * k;
  (void)thread;
  if (k == 0 || neighbour[k - 1] < 0) return;
  for (size_t a = 0; a < k; a++)
    for (size_t b = 0; b < a; b++)
      *to++ = square_distance(d, x + (size_t)neighbour[a] * d, x + (size_t)neighbour[b] * d);
  for (size_t a = 0; a < k; a++)
    *to++ = square_distance(d, x + (size_t)neighbour[a] * d, x + (size_t)all->hoods->row[i] * d);
}

void gpnn_neighbourhood_squares(const struct gpnn_dataset *dataset,
                                const struct gpnn_neighbourhoods *hoods, int threads,
                                double *squares)
{
  enum { TOGETHER = 32 };
  struct squaring all = {hoods, dataset->x, dataset->d, squares};
  gpnn_threads_each(threads, hoods->n, TOGETHER, square_row, &all);
}

/* Sums over the rows in their order, so that rounding does not depend on the threads. */
static enum gpnn_status add_up(const struct evaluation *e, struct gpnn_neighbourhood_result *result,
                               struct gpnn_error *err)
{
  size_t used = 0, all = e->width + e->n_map;
  double sum = 0;
  result->jitter = (struct gpnn_jitter){0, 0};
  for (size_t j = 0; e->gradients != NULL && j < e->width; j++) result->gradient[j] = 0;
  for (size_t j = 0; e->gradients != NULL && j < e->n_map; j++) result->by_map[j] = 0;
  for (size_t i = 0; i < e->hoods->n; i++) {
    if (isnan(e->outcomes[i].loss)) continue;
    used++;
    sum += e->outcomes[i].loss;
    gpnn_jitter_note(&result->jitter, e->outcomes[i].jitter > 0, e->outcomes[i].jitter);
    if (e->gradients == NULL) continue;
    const double *own = e->gradients + i * all;
    for (size_t j = 0; j < e->width; j++) result->gradient[j] -= own[j];
    /* Increasing a lengthscale has the opposite effect to increasing its row of the map. */
    for (size_t j = 0; j < e->n_map; j++) result->by_map[j] += own[e->width + j];
  }
  if (used == 0) return gpnn_fail(err, GPNN_ENUMERIC, "the likelihood is not finite");
  result->value = sum / (double)used;
  for (size_t j = 0; e->gradients != NULL && j < e->width; j++) result->gradient[j] /= (double)used;
  for (size_t j = 0; e->gradients != NULL && j < e->n_map; j++) result->by_map[j] /= (double)used;
  return GPNN_OK;
}

enum gpnn_status gpnn_neighbourhood_objective(
    const struct gpnn_dataset *dataset, const struct gpnn_parameters *params, const double *map,
    enum gpnn_density density, const struct gpnn_neighbourhoods *hoods, struct gpnn_team *team,
    int threads, struct gpnn_neighbourhood_result *result, struct gpnn_error *err)
{
  size_t d = dataset->d, n_pieces = (hoods->n + GPNN_LANES - 1) / GPNN_LANES;
  double *inverse = gpnn_alloc(d, 1, sizeof *inverse);
  struct evaluation e = {
      .shared = {.data = dataset, .params = params, .map = map, .stride = hoods->k + 1},
      .hoods = hoods,
      .density = density,
      .n_threads = (size_t)gpnn_threads_for(threads, n_pieces),
      .width = params->covariance.n_lengthscales + 3,
      .n_map = result->by_map == NULL ? 0 : d * d};
  if (density == GPNN_DENSITY_LABELS)
    e.width += GPNN_LINK_NUMBERS + gpnn_dataset_n_classes(dataset);
  enum gpnn_status status = GPNN_OK;
  e.shared.inverse = inverse;
  if (inverse == NULL || !evaluation_alloc(&e, result->gradient != NULL)) {
    status = gpnn_fail_memory(err, "for neighbourhoods");
  } else {
    gpnn_covariance_expand(&params->covariance, d, dataset->group, inverse);
    for (size_t j = 0; j < d; j++) inverse[j] = 1 / inverse[j];
    status = gpnn_team_try(team, (int)e.n_threads, n_pieces, 1, evaluate_rows, &e, err);
    if (status == GPNN_OK) status = add_up(&e, result, err);
  }
  for (size_t i = 0; i < hoods->n && status == GPNN_OK; i++) {
    if (result->loss != NULL) result->loss[i] = e.outcomes[i].loss;
    if (result->z2 != NULL) result->z2[i] = e.outcomes[i].z2;
  }
  evaluation_release(&e);
  free(inverse);
  return status;
}
