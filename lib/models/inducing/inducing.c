#include "models/inducing/inducing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "dataset/stored.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/factors/triangular.h"
#include "linalg/panels/panels.h"
#include "models/inducing/cross.h"
#include "models/stored_model.h"

#define MEMORY_FOR "for inducing points"

/* Limits of rho, which is in range in any file that was written. */
static const double least_rho = -50, most_rho = 50;

struct inducing {
  struct gpnn_cross cross;
  size_t stride;             /* m, rounded up to whole vectors */
  double *points;            /* owned; d by 'stride': inducing points over lengthscales, one
                                input after another */
  const double *lengthscale; /* borrowed, as for gpnn_cross_set() */
  size_t rank;
  const double *weights;          /* borrowed; m */
  const double *rows;             /* rank by m: the root, borrowed or 'inverse' */
  double *inverse;                /* owned; diag: m by m: that of the factor of B */
  struct gpnn_inducing_root root; /* the same for correlations in place of covariances */
  int threads;
};

/* ---- tiles of rows ------------------------------------------------------------------------ */

enum { TILE = GPNN_INDUCING_TILE };

/* Scratch memory of a thread; all arrays are owned. */
struct tile {
  double *rows;   /* d by TILE: rows over lengthscales, one input after another */
  double *panels; /* correlations of the rows with the points */
  float *rounded;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* The tile may be released, also after a failure. */
static enum gpnn_status tile_new(const struct inducing *g, struct tile *tile,
                                 struct gpnn_error *err)
{
  size_t size = gpnn_inducing_tile_size(g->cross.problem.m);
  tile->arrays = GPNN_ARRAYS(GPNN_ARRAY(tile->rows, g->cross.problem.d, TILE),
                             GPNN_ARRAY(tile->panels, size, 1), GPNN_ARRAY(tile->rounded, size, 1));
  if (tile->arrays != NULL) return GPNN_OK;
  return gpnn_fail_memory(err, MEMORY_FOR);
}

/* Fills a panel with the correlations of the tile's rows from 'first' on; 'nearest' (of the tile)
 * gets their distances to the nearest point unless it is NULL. */
static void correlate_panel(const struct inducing *g, const struct tile *tile, size_t first,
                            double *panel, double *nearest)
{
  const struct gpnn_cross_problem *p = &g->cross.problem;
  const struct gpnn_panel_set *set = gpnn_panels_best();
  set->distances(p->m, p->d, g->stride, g->points, TILE, tile->rows + first, panel);
  if (nearest != NULL) {
    set->least(p->m, panel, nearest + first);
    for (size_t i = first; i < first + set->lanes; i++) nearest[i] = sqrt(nearest[i]);
  }
  gpnn_kernel_correlate(p->kernel, p->smoothness, p->m * set->lanes, panel);
}

/* Scales n <= TILE rows, and makes the rest of the tile zero. */
static void scale_rows(const struct inducing *g, size_t n, const double *x, double *rows)
{
  size_t d = g->cross.problem.d;
  for (size_t l = 0; l < d; l++)
    for (size_t i = 0; i < TILE; i++)
      rows[l * TILE + i] = i < n ? x[i * d + l] * g->cross.inverse[l] : 0;
}

/* Fills the tile with the correlations of n rows, and makes their means of them. */
static void correlate_tile(const struct inducing *g, size_t n, const double *x,
                           const struct tile *tile, double *mean, double *nearest)
{
  const struct gpnn_panel_set *set = gpnn_panels_best();
  size_t m = g->cross.problem.m, panel = gpnn_panel_size(m, set->lanes);
  scale_rows(g, n, x, tile->rows);
  for (size_t i = 0; i < TILE; i += set->lanes) {
    double *own = tile->panels + i / set->lanes * panel;
    correlate_panel(g, tile, i, own, nearest);
    if (mean != NULL) set->weigh(m, own, g->weights, mean + i);
  }
}

/* ---- making ------------------------------------------------------------------------------- */

static void free_channel(void *state)
{
  struct inducing *g = state;
  if (g == NULL) return;
  gpnn_cross_release(&g->cross);
  free(g->points);
  free(g->inverse);
  gpnn_inducing_root_release(&g->root);
  free(g);
}

/* An array of the channel's target that has a multiple of 'unit' numbers. */
static enum gpnn_status find(const struct gpnn_channel *channel, const char *name, size_t unit,
                             const struct gpnn_state_array **array, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const char *target = channel->dataset->schema.target.name;
  *array = gpnn_state_find(channel->dataset->stored->arrays, target, name);
  if (*array != NULL && unit > 0 && (*array)->n % unit == 0) return GPNN_OK;
  gpnn_schema_column_name(&channel->dataset->schema.target, shown);
  return gpnn_fail(err, GPNN_EFORMAT, "target '%s': the model has no valid array '%s'", shown,
                   name);
}

/* An array of exactly 'n' numbers. */
static enum gpnn_status find_all(const struct gpnn_channel *channel, const char *name, size_t n,
                                 const double **values, struct gpnn_error *err)
{
  const struct gpnn_state_array *array = NULL;
  enum gpnn_status status = find(channel, name, n, &array, err);
  if (status == GPNN_OK && array->n != n)
    status = gpnn_fail(err, GPNN_EFORMAT, "array '%s' of the model has %zu numbers, not %zu", name,
                       array->n, n);
  if (status == GPNN_OK) *values = array->values;
  return status;
}

/* Copies the points to where panels find them. */
static enum gpnn_status place_points(struct inducing *g, struct gpnn_error *err)
{
  size_t m = g->cross.problem.m, d = g->cross.problem.d;
  g->stride = gpnn_panel_size(m, 1);
  g->points = gpnn_alloc(d, g->stride, sizeof *g->points);
  if (g->points == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t l = 0; l < d; l++)
    memcpy(g->points + l * g->stride, g->cross.columns + l * m, m * sizeof *g->points);
  return GPNN_OK;
}

static enum gpnn_status make_cross(struct inducing *g, const struct gpnn_channel *channel,
                                   struct gpnn_error *err)
{
  const struct gpnn_covariance *covariance = &channel->parameters->covariance;
  const struct gpnn_dataset *dataset = channel->dataset;
  const struct gpnn_state_array *points = NULL;
  enum gpnn_status status = find(channel, GPNN_INDUCING_POINTS, dataset->d, &points, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_cross_problem problem = {.m = points->n / dataset->d,
                                             .d = dataset->d,
                                             .z = points->values,
                                             .kernel = covariance->kernel,
                                             .smoothness = covariance->smoothness,
                                             .n_lengthscales = covariance->n_lengthscales,
                                             .group = dataset->group};
  if (problem.m == 0) return gpnn_fail(err, GPNN_EFORMAT, "the model has no inducing points");
  status = gpnn_cross_new(&g->cross, &problem, err);
  if (status != GPNN_OK) return status;
  g->lengthscale = gpnn_covariance_lengthscales(covariance);
  gpnn_cross_set(&g->cross, g->lengthscale, covariance->kernelscale);
  return place_points(g, err);
}

/* Rows whose variances decide on the precision of the root: inducing points, and places halfway
 * between two of them. */
static void make_trial_rows(const struct inducing *g, double *x)
{
  const struct gpnn_cross_problem *p = &g->cross.problem;
  for (size_t i = 0; i < TILE; i++) {
    const double *a = p->z + i * p->m / TILE * p->d,
                 *b = p->z + (i * p->m / TILE + 1) % p->m * p->d;
    for (size_t l = 0; l < p->d; l++) {
      x[i * p->d + l] = a[l];
      x[(TILE + i) * p->d + l] = 0.5 * a[l] + 0.5 * b[l];
    }
  }
}

/* Makes the root of 'rows'. */
static enum gpnn_status make_root(struct inducing *g, struct gpnn_error *err)
{
  enum { TRIALS = 2 };
  size_t m = g->cross.problem.m, d = g->cross.problem.d, size = gpnn_inducing_tile_size(m);
  struct tile tile = {0};
  double *x = gpnn_alloc((size_t)TRIALS * TILE, d, sizeof *x);
  double *panels = gpnn_alloc(TRIALS, size, sizeof *panels);
  enum gpnn_status status =
      x == NULL || panels == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : tile_new(g, &tile, err);
  if (status == GPNN_OK) {
    make_trial_rows(g, x);
    for (size_t t = 0; t < TRIALS; t++) {
      correlate_tile(g, TILE, x + t * TILE * d, &tile, NULL, NULL);
      memcpy(panels + t * size, tile.panels, size * sizeof *panels);
    }
    const struct gpnn_inducing_trial trial = {TRIALS, panels, g->cross.kernelscale};
    status = gpnn_inducing_root_new(&g->root, g->rank, m, g->rows, &trial, err);
  }
  gpnn_arrays_free(tile.arrays);
  free(panels);
  free(x);
  return status;
}

static enum gpnn_status add_root(struct inducing *g, const struct gpnn_channel *channel,
                                 struct gpnn_error *err)
{
  const struct gpnn_state_array *root = NULL;
  size_t m = g->cross.problem.m;
  enum gpnn_status status = find(channel, GPNN_INDUCING_ROOT, m, &root, err);
  if (status != GPNN_OK) return status;
  if (root->n / m > m)
    return gpnn_fail(err, GPNN_EFORMAT, "array '" GPNN_INDUCING_ROOT "' has more than %zu rows", m);
  g->rows = root->values;
  g->rank = root->n / m;
  return GPNN_OK;
}

/* B = Kuu + diag(exp(rho)), its lower triangle. */
struct diagonal {
  const struct inducing *g;
  const struct gpnn_cross_tile *tile;
  const double *rho;
};

static void fill_diagonal(void *context, double *b)
{
  const struct diagonal *diagonal = context;
  const struct gpnn_cross *cross = &diagonal->g->cross;
  const struct gpnn_cross_points points = gpnn_cross_inducing(cross);
  size_t m = cross->problem.m;
  gpnn_cross_fill(cross, &points, diagonal->tile, b);
  for (size_t j = 0; j < m; j++) b[j * m + j] += exp(diagonal->rho[j]);
}

/* The rows of C^-1, B = C C'. */
static enum gpnn_status invert_diagonal(struct inducing *g, const double *rho,
                                        struct gpnn_error *err)
{
  size_t m = g->cross.problem.m;
  struct gpnn_cross_tile tile = {0};
  struct diagonal diagonal = {g, &tile, rho};
  g->inverse = gpnn_alloc(m, m, sizeof *g->inverse);
  if (g->inverse == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = gpnn_cross_tile_new(&tile, m, g->cross.problem.d, err);
  if (status == GPNN_OK) {
    fill_diagonal(&diagonal, g->inverse);
    status = gpnn_cholesky_factor(m, g->inverse, NULL, g->cross.kernelscale, fill_diagonal,
                                  &diagonal, NULL, err);
  }
  gpnn_cross_tile_release(&tile);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%zu inducing points", m);
  gpnn_triangular_invert(m, g->inverse);
  return GPNN_OK;
}

static enum gpnn_status add_inverse(struct inducing *g, const struct gpnn_channel *channel,
                                    struct gpnn_error *err)
{
  const double *rho = NULL;
  size_t m = g->cross.problem.m;
  enum gpnn_status status = find_all(channel, GPNN_INDUCING_RHO, m, &rho, err);
  for (size_t j = 0; j < m && status == GPNN_OK; j++)
    if (!(rho[j] >= least_rho && rho[j] <= most_rho))
      status =
          gpnn_fail(err, GPNN_EFORMAT, "array '" GPNN_INDUCING_RHO "' has a number out of range");
  if (status == GPNN_OK) status = invert_diagonal(g, rho, err);
  g->rows = g->inverse;
  g->rank = m;
  return status;
}

static enum gpnn_status add_rows(struct inducing *g, const struct gpnn_channel *channel,
                                 struct gpnn_error *err)
{
  switch (channel->parameters->family) {
  case GPNN_FAMILY_COLLAPSED:
  case GPNN_FAMILY_AUGMENTED:
  case GPNN_FAMILY_SVGP:
    return add_root(g, channel, err);
  case GPNN_FAMILY_DIAG:
    return add_inverse(g, channel, err);
  default:
    return gpnn_fail(err, GPNN_EMISMATCH, "not the parameters of a model of inducing points");
  }
}

static enum gpnn_status make_channel(void **state, const struct gpnn_channel *channel, int threads,
                                     struct gpnn_error *err)
{
  struct inducing *g = calloc(1, sizeof *g);
  if (g == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  g->threads = threads;
  enum gpnn_status status = make_cross(g, channel, err);
  if (status == GPNN_OK)
    status = find_all(channel, GPNN_INDUCING_WEIGHTS, g->cross.problem.m, &g->weights, err);
  if (status == GPNN_OK) status = add_rows(g, channel, err);
  if (status == GPNN_OK) status = make_root(g, err);
  if (status == GPNN_OK)
    *state = g;
  else
    free_channel(g);
  return status;
}

/* ---- predicting --------------------------------------------------------------------------- */

struct work {
  const struct inducing *g;
  size_t n;
  const double *x;
  const struct gpnn_latent *latent;
  struct tile *tiles; /* one for each thread */
};

static void predict_tile(void *context, size_t thread, size_t piece)
{
  const struct work *work = context;
  const struct inducing *g = work->g;
  const struct gpnn_latent *latent = work->latent;
  const struct tile *tile = &work->tiles[thread];
  size_t first = piece * TILE, n = work->n - first < TILE ? work->n - first : TILE;
  double scale = g->cross.kernelscale;
  _Alignas(64) double mean[TILE] = {0}, squares[TILE], nearest[TILE];
  correlate_tile(g, n, work->x + first * g->cross.problem.d, tile,
                 latent->mean == NULL ? NULL : mean, latent->nearest == NULL ? NULL : nearest);
  if (latent->variance != NULL)
    gpnn_inducing_squares(&g->root, tile->panels, tile->rounded, squares);
  for (size_t i = 0; i < n; i++) {
    if (latent->mean != NULL) latent->mean[first + i] = scale * mean[i];
    if (latent->variance != NULL)
      latent->variance[first + i] = fmax(scale - scale * scale * squares[i], 0);
    if (latent->nearest != NULL) latent->nearest[first + i] = nearest[i];
  }
}

static enum gpnn_status predict_channel(const void *state, size_t n, const double *x,
                                        const struct gpnn_latent *latent, struct gpnn_error *err)
{
  const struct inducing *g = state;
  size_t n_pieces = (n + TILE - 1) / TILE;
  size_t n_tiles = (size_t)gpnn_threads_for(g->threads, n_pieces);
  struct work work = {.g = g, .n = n, .x = x, .latent = latent};
  enum gpnn_status status = GPNN_OK;
  work.tiles = calloc(n_tiles, sizeof *work.tiles);
  if (work.tiles == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t t = 0; t < n_tiles && status == GPNN_OK; t++)
    status = tile_new(g, &work.tiles[t], err);
  if (status == GPNN_OK) gpnn_threads_each((int)n_tiles, n_pieces, 1, predict_tile, &work);
  for (size_t t = 0; t < n_tiles; t++) gpnn_arrays_free(work.tiles[t].arrays);
  free(work.tiles);
  return status;
}

/* ---- rows together ------------------------------------------------------------------------ */

/* Covariances of n points with those of 'cross', n by m. */
static enum gpnn_status fill_covariances(const struct gpnn_cross *cross, size_t n, const double *x,
                                         double *k, struct gpnn_error *err)
{
  const struct gpnn_cross_points points = {.n = n, .x = x};
  struct gpnn_cross_tile tile = {0};
  enum gpnn_status status = gpnn_cross_tile_new(&tile, cross->problem.m, cross->problem.d, err);
  if (status == GPNN_OK) gpnn_cross_fill(cross, &points, &tile, k);
  gpnn_cross_tile_release(&tile);
  return status;
}

/* Of the process among n points. */
static enum gpnn_status fill_process(const struct inducing *g, size_t n, const double *x,
                                     double *covariance, struct gpnn_error *err)
{
  struct gpnn_cross among = {0};
  struct gpnn_cross_problem problem = g->cross.problem;
  problem.m = n;
  problem.z = x;
  enum gpnn_status status = gpnn_cross_new(&among, &problem, err);
  if (status == GPNN_OK) {
    gpnn_cross_set(&among, g->lengthscale, g->cross.kernelscale);
    status = fill_covariances(&among, n, x, covariance, err);
  }
  gpnn_cross_release(&among);
  return status;
}

/* Subtracts what the root explains; 'k' has the covariances with the points, and 'explained' room
 * for n by rank.  The variances are not negative. */
static void subtract_explained(const struct inducing *g, size_t n, const double *k,
                               double *explained, double *covariance)
{
  int m = (int)g->cross.problem.m, rank = (int)g->rank, rows = (int)n;
  if (rank > 0) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, rank, m, 1, k, m, g->rows, m, 0,
                explained, rank);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, rows, rank, -1, explained, rank,
                explained, rank, 1, covariance, rows);
  }
  for (size_t i = 0; i < n; i++) covariance[i * n + i] = fmax(covariance[i * n + i], 0);
}

static enum gpnn_status join_channel(const void *state, size_t n, const double *x,
                                     double *covariance, struct gpnn_error *err)
{
  const struct inducing *g = state;
  double *k = gpnn_alloc(n, g->cross.problem.m, sizeof *k);
  double *explained = gpnn_alloc(n, g->rank, sizeof *explained);
  enum gpnn_status status = k == NULL || explained == NULL ? gpnn_fail_memory(err, MEMORY_FOR)
                                                           : fill_process(g, n, x, covariance, err);
  if (status == GPNN_OK) status = fill_covariances(&g->cross, n, x, k, err);
  if (status == GPNN_OK) subtract_explained(g, n, k, explained, covariance);
  free(k);
  free(explained);
  return status;
}

/* ---- the model ---------------------------------------------------------------------------- */

static enum gpnn_status inducing_make(void **state, size_t n, const struct gpnn_channel *channels,
                                      const struct gpnn_model_options *options,
                                      struct gpnn_error *err)
{
  return gpnn_stored_model_new(state, n, channels, options->threads, make_channel, free_channel,
                               err);
}

static enum gpnn_status inducing_predict(const void *state, const struct gpnn_query *query,
                                         const struct gpnn_latent *latent,
                                         struct gpnn_counts *counts, struct gpnn_error *err)
{
  (void)counts; /* whose events are those of single rows */
  return gpnn_stored_model_predict(state, query, latent, predict_channel, err);
}

static enum gpnn_status inducing_joint(const void *state, size_t channel,
                                       const struct gpnn_query *query,
                                       const struct gpnn_errors *errors, double *covariance,
                                       struct gpnn_error *err)
{
  return gpnn_stored_model_joint(state, channel, query, errors, covariance, join_channel, err);
}

const struct gpnn_model_ops gpnn_inducing_ops = {.make = inducing_make,
                                                 .with = gpnn_stored_model_with,
                                                 .predict = inducing_predict,
                                                 .joint = inducing_joint,
                                                 .free = gpnn_stored_model_free};

/* ---- keeping ------------------------------------------------------------------------------ */

enum gpnn_status gpnn_inducing_keep(const struct gpnn_inducing_arrays *model, const char *target,
                                    struct gpnn_state *arrays, struct gpnn_error *err)
{
  size_t m = model->m;
  enum gpnn_status status =
      gpnn_state_add(arrays, target, GPNN_INDUCING_POINTS, m * model->d, model->points, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(arrays, target, GPNN_INDUCING_WEIGHTS, m, model->weights, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(arrays, target, GPNN_INDUCING_ROOT, model->rank * m, model->root, err);
  return status;
}

/* ---- the matrix of the points ---------------------------------------------------------------- */

static const struct gpnn_state_array *array_of(const struct gpnn_channel *channel, const char *name)
{
  return gpnn_state_find(channel->dataset->stored->arrays, channel->dataset->schema.target.name,
                         name);
}

/* exp(rho), or the noise where there is no rho. */
static enum gpnn_status fill_added(const struct gpnn_channel *channel, size_t m, double *diagonal,
                                   struct gpnn_error *err)
{
  const struct gpnn_state_array *rho = array_of(channel, GPNN_INDUCING_RHO);
  if (channel->parameters->family != GPNN_FAMILY_DIAG) {
    for (size_t i = 0; i < m; i++) diagonal[i] = channel->parameters->covariance.noise;
    return GPNN_OK;
  }
  if (rho == NULL || rho->n != m)
    return gpnn_fail(err, GPNN_EFORMAT, "the model has no valid array '" GPNN_INDUCING_RHO "'");
  for (size_t i = 0; i < m; i++) {
    diagonal[i] = exp(rho->values[i]);
    if (!(diagonal[i] > 0 && isfinite(diagonal[i])))
      return gpnn_fail(err, GPNN_EFORMAT, "array '" GPNN_INDUCING_RHO "' of the model: %g",
                       rho->values[i]);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_inducing_system(const struct gpnn_channel *channel, size_t *m,
                                      const double **z, double **diagonal, struct gpnn_error *err)
{
  enum gpnn_family family = channel->parameters->family;
  size_t d = channel->dataset->d;
  if (family != GPNN_FAMILY_COLLAPSED && family != GPNN_FAMILY_DIAG && family != GPNN_FAMILY_SVGP)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the model is not one of inducing points that gpnn-sparse makes");
  const struct gpnn_state_array *points = array_of(channel, GPNN_INDUCING_POINTS);
  if (points == NULL || d == 0 || points->n == 0 || points->n % d != 0)
    return gpnn_fail(err, GPNN_EFORMAT, "the model has no valid array '" GPNN_INDUCING_POINTS "'");
  double *made = gpnn_alloc(points->n / d, 1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for inducing points");
  enum gpnn_status status = fill_added(channel, points->n / d, made, err);
  if (status != GPNN_OK) {
    free(made);
    return status;
  }
  *m = points->n / d;
  *z = points->values;
  *diagonal = made;
  return GPNN_OK;
}
