#include "models/inducing/collapsed/collapsed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/factors/eigen.h"
#include "linalg/factors/triangular.h"
#include "linalg/optimize.h"
#include "stats/distributions/normal.h"

/* Rows that are whitened at a time, and columns of a sum of products that a thread takes. */
enum { BLOCK = 1024, TILES = BLOCK / GPNN_CROSS_TILE, PANEL = 128 };

struct gpnn_collapsed {
  struct gpnn_collapsed_data data;
  struct gpnn_cross cross;
  struct gpnn_collapsed_parameters parameters; /* of the last bound */
  size_t n_tiles;
  struct gpnn_cross_tile *tile; /* owned; n_tiles, one for each thread */
  double *factor;               /* owned; m by m: L, Kuu = L L' */
  double *products;             /* owned; m by m: S = sum of a a', then of use to the gradient */
  double *inverse;              /* owned; m by m: B = I + S / noise, its factor, its inverse */
  double *adjoint;              /* owned; m by m, of use to the gradient */
  double *block;                /* owned; m by BLOCK: whitened covariances a = L^-1 k */
  double *partial; /* owned; TILES by n_lengthscales + 1: what each tile adds to the gradient */
  double *moment;  /* owned; m: b = sum of a y */
  double *mean;    /* owned; m: w = B^-1 b / noise */
  double *weights; /* owned; m: L^-T w */
  double squares;  /* of y */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* ---- memory ------------------------------------------------------------------------------- */

void gpnn_collapsed_free(struct gpnn_collapsed *c)
{
  if (c == NULL) return;
  for (size_t t = 0; c->tile != NULL && t < c->n_tiles; t++) gpnn_cross_tile_release(&c->tile[t]);
  gpnn_arrays_free(c->arrays);
  free(c->tile);
  gpnn_cross_release(&c->cross);
  free(c);
}

static enum gpnn_status allocate(struct gpnn_collapsed *c, struct gpnn_error *err)
{
  size_t m = c->cross.problem.m, width = c->cross.problem.n_lengthscales + 1;
  c->arrays = GPNN_ARRAYS(GPNN_ARRAY(c->factor, m, m), GPNN_ARRAY(c->products, m, m),
                          GPNN_ARRAY(c->inverse, m, m), GPNN_ARRAY(c->adjoint, m, m),
                          GPNN_ARRAY(c->block, m, BLOCK), GPNN_ARRAY(c->partial, TILES, width),
                          GPNN_ARRAY(c->moment, m, 1), GPNN_ARRAY(c->mean, m, 1),
                          GPNN_ARRAY(c->weights, m, 1));
  c->tile = gpnn_alloc(c->n_tiles, 1, sizeof *c->tile);
  if (c->tile != NULL) memset(c->tile, 0, c->n_tiles * sizeof *c->tile);
  return c->arrays != NULL && c->tile != NULL ? GPNN_OK
                                              : gpnn_fail_memory(err, "for inducing points");
}

enum gpnn_status gpnn_collapsed_new(struct gpnn_collapsed **collapsed,
                                    const struct gpnn_cross_problem *problem,
                                    const struct gpnn_collapsed_data *data, struct gpnn_error *err)
{
  struct gpnn_collapsed *c = calloc(1, sizeof *c);
  if (c == NULL) return gpnn_fail_memory(err, "for inducing points");
  c->data = *data;
  c->n_tiles = (size_t)gpnn_threads_for(data->threads, TILES);
  c->squares = cblas_ddot((int)data->n, data->y, 1, data->y, 1);
  enum gpnn_status status = gpnn_cross_new(&c->cross, problem, err);
  if (status == GPNN_OK) status = allocate(c, err);
  for (size_t t = 0; t < c->n_tiles && status == GPNN_OK; t++)
    status = gpnn_cross_tile_new(&c->tile[t], problem->m, problem->d, err);
  if (status == GPNN_OK)
    *collapsed = c;
  else
    gpnn_collapsed_free(c);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* A block of rows. */
struct rows {
  struct gpnn_collapsed *c;
  size_t first, n;
};

/* The covariances of a tile, and in its columns of the block what L^-1 makes of them. */
static void whiten(const struct rows *rows, size_t thread, size_t tile, bool with_slope)
{
  struct gpnn_collapsed *c = rows->c;
  const struct gpnn_cross_points points = {.n = c->data.n, .x = c->data.x};
  size_t m = c->cross.problem.m, at = tile * GPNN_CROSS_TILE,
         n = gpnn_cross_tile_rows(rows->n, tile);
  gpnn_cross_covariances(&c->cross, &points, rows->first + at, n, with_slope, &c->tile[thread]);
  memcpy(c->block + at * m, c->tile[thread].k, n * m * sizeof *c->block);
  gpnn_cholesky_forward(m, c->factor, n, c->block + at * m);
}

static void whiten_tile(void *context, size_t thread, size_t tile)
{
  whiten(context, thread, tile, false);
}

/* Adds the products of the block's rows to PANEL columns of S, from the diagonal on. */
static void add_products(void *context, size_t thread, size_t panel)
{
  const struct rows *rows = context;
  struct gpnn_collapsed *c = rows->c;
  size_t m = c->cross.problem.m, first = panel * PANEL;
  size_t width = m - first < PANEL ? m - first : PANEL;
  (void)thread;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)(m - first), (int)width, (int)rows->n,
              1, c->block + first, (int)m, c->block + first, (int)m, 1,
              c->products + first * m + first, (int)m);
}

/* S and b of all rows. */
static void sum_rows(struct gpnn_collapsed *c)
{
  size_t m = c->cross.problem.m;
  memset(c->products, 0, m * m * sizeof *c->products);
  memset(c->moment, 0, m * sizeof *c->moment);
  for (size_t first = 0; first < c->data.n; first += BLOCK) {
    struct rows rows = {c, first, c->data.n - first < BLOCK ? c->data.n - first : BLOCK};
    size_t n_tiles = gpnn_cross_n_tiles(rows.n);
    gpnn_threads_each((int)c->n_tiles, n_tiles, 1, whiten_tile, &rows);
    gpnn_threads_each(c->data.threads, (m + PANEL - 1) / PANEL, 1, add_products, &rows);
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)m, (int)rows.n, 1, c->block, (int)m,
                c->data.y + first, 1, 1, c->moment, 1);
  }
}

/* ---- the bound ---------------------------------------------------------------------------- */

/* B = I + S / noise, its lower triangle. */
static void fill_whitened(void *collapsed, double *b)
{
  const struct gpnn_collapsed *c = collapsed;
  size_t m = c->cross.problem.m;
  for (size_t i = 0; i < m * m; i++) b[i] = c->products[i] / c->parameters.noise;
  for (size_t j = 0; j < m; j++) b[j * m + j] += 1;
}

static double trace(size_t m, const double *matrix)
{
  double sum = 0;
  for (size_t j = 0; j < m; j++) sum += matrix[j * m + j];
  return sum;
}

/* Factors B and finds the mean; '*bound' is that of equation 17.2. */
static enum gpnn_status solve(struct gpnn_collapsed *c, double *bound, struct gpnn_error *err)
{
  size_t m = c->cross.problem.m;
  double noise = c->parameters.noise, n = (double)c->data.n;
  fill_whitened(c, c->inverse);
  enum gpnn_status status =
      gpnn_cholesky_factor(m, c->inverse, NULL, 1, fill_whitened, c, NULL, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%zu inducing points", m);
  for (size_t j = 0; j < m; j++) c->mean[j] = c->moment[j] / noise;
  gpnn_cholesky_solve(m, c->inverse, c->mean);
  memcpy(c->weights, c->mean, m * sizeof *c->weights);
  gpnn_cholesky_backward(m, c->factor, 1, c->weights);
  double fit = c->squares - cblas_ddot((int)m, c->moment, 1, c->mean, 1);
  double left = n * c->parameters.kernelscale - trace(m, c->products);
  *bound = -0.5 * (n * (GPNN_LOG_TWO_PI + log(noise)) + gpnn_cholesky_logdet(m, c->inverse) +
                   (fit + left) / noise);
  if (isfinite(*bound)) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC, "the bound of %zu inducing points is not finite", m);
}

/* ---- its gradient ------------------------------------------------------------------------- */

/* The adjoint of Kuu, -1/2 (L^-T (B - 2 I + B^-1) L^-1 + weights weights'), in 'adjoint'; and
 * L^-T (I - B^-1) / noise in 'products', which the rows need.  'inverse' becomes B^-1. */
static void prepare_adjoints(struct gpnn_collapsed *c)
{
  size_t m = c->cross.problem.m;
  double noise = c->parameters.noise;
  gpnn_triangular_mirror(m, c->products);
  gpnn_cholesky_invert(m, c->inverse, NULL);
  gpnn_triangular_mirror(m, c->inverse);
  for (size_t i = 0; i < m * m; i++) {
    double b = c->products[i] / noise, identity = i % (m + 1) == 0;
    c->adjoint[i] = b + c->inverse[i] - identity;
    c->products[i] = (identity - c->inverse[i]) / noise;
  }
  gpnn_cholesky_backward(m, c->factor, m, c->products);
  gpnn_cholesky_backward(m, c->factor, m, c->adjoint);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)m, (int)m,
              -0.5, c->factor, (int)m, c->adjoint, (int)m);
  cblas_dger(CblasColMajor, (int)m, (int)m, -0.5, c->weights, 1, c->weights, 1, c->adjoint, (int)m);
}

/* The adjoint of the tile's covariances, L^-T (I - B^-1) a / noise + alpha weights', and its
 * contraction. */
static void differentiate_tile(void *context, size_t thread, size_t tile)
{
  const struct rows *rows = context;
  struct gpnn_collapsed *c = rows->c;
  const struct gpnn_cross_tile *own = &c->tile[thread];
  size_t m = c->cross.problem.m, at = tile * GPNN_CROSS_TILE,
         n = gpnn_cross_tile_rows(rows->n, tile);
  size_t width = c->cross.problem.n_lengthscales;
  const double *a = c->block + at * m;
  double *partial = c->partial + tile * (width + 1);
  whiten(rows, thread, tile, true);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)m, 1, c->products,
              (int)m, a, (int)m, 0, own->adjoint, (int)m);
  for (size_t i = 0; i < n; i++) {
    double residual =
        c->data.y[rows->first + at + i] - cblas_ddot((int)m, a + i * m, 1, c->mean, 1);
    cblas_daxpy((int)m, residual / c->parameters.noise, c->weights, 1, own->adjoint + i * m, 1);
  }
  memset(partial, 0, (width + 1) * sizeof *partial);
  partial[width] = gpnn_cross_contract(&c->cross, own, n, partial);
}

/* Adds what the rows say of lengthscales and kernel scale. */
static void differentiate_rows(struct gpnn_collapsed *c, double *gradient)
{
  size_t width = c->cross.problem.n_lengthscales + 1;
  for (size_t first = 0; first < c->data.n; first += BLOCK) {
    struct rows rows = {c, first, c->data.n - first < BLOCK ? c->data.n - first : BLOCK};
    size_t n_tiles = gpnn_cross_n_tiles(rows.n);
    gpnn_threads_each((int)c->n_tiles, n_tiles, 1, differentiate_tile, &rows);
    for (size_t t = 0; t < n_tiles; t++)
      for (size_t j = 0; j < width; j++) gradient[j] += c->partial[t * width + j];
  }
}

/* The same of the inducing inputs. */
static void differentiate_inducing(struct gpnn_collapsed *c, double *gradient)
{
  size_t m = c->cross.problem.m, width = c->cross.problem.n_lengthscales;
  gpnn_cross_contract_inducing(&c->cross, &c->tile[0], c->adjoint, gradient);
  gradient[width] += c->data.jitter * c->cross.kernelscale * trace(m, c->adjoint);
}

/* After solve(). */
static void differentiate(struct gpnn_collapsed *c, double *gradient)
{
  size_t m = c->cross.problem.m, width = c->cross.problem.n_lengthscales;
  double noise = c->parameters.noise, n = (double)c->data.n;
  double total = n * c->parameters.kernelscale, left = total - trace(m, c->products);
  cblas_dsymv(CblasColMajor, CblasLower, (int)m, 1, c->products, (int)m, c->mean, 1, 0,
              c->tile[0].product, 1);
  double squares = c->squares - 2 * cblas_ddot((int)m, c->moment, 1, c->mean, 1) +
                   cblas_ddot((int)m, c->mean, 1, c->tile[0].product, 1);
  prepare_adjoints(c);
  memset(gradient, 0, (width + 2) * sizeof *gradient);
  differentiate_rows(c, gradient);
  differentiate_inducing(c, gradient);
  gradient[width] -= total / (2 * noise);
  gradient[width + 1] = 0.5 * ((squares + left) / noise - (n - (double)m + trace(m, c->inverse)));
}

enum gpnn_status gpnn_collapsed_bound(struct gpnn_collapsed *collapsed,
                                      const struct gpnn_collapsed_parameters *parameters,
                                      double *bound, double *gradient, struct gpnn_error *err)
{
  struct gpnn_collapsed *c = collapsed;
  double value = 0;
  c->parameters = *parameters;
  gpnn_cross_set(&c->cross, parameters->lengthscale, parameters->kernelscale);
  enum gpnn_status status =
      gpnn_cross_factor(&c->cross, &c->tile[0], c->data.jitter, c->factor, err);
  if (status != GPNN_OK) return status;
  sum_rows(c);
  status = solve(c, &value, err);
  if (status != GPNN_OK) return status;
  *bound = value;
  if (gradient != NULL) differentiate(c, gradient);
  return GPNN_OK;
}

/* ---- the posterior ------------------------------------------------------------------------ */

/* The bound as a function of the noise variance v and of a factor r of the kernel scale, in the
 * basis of the eigenvectors of S. */
struct spectrum {
  size_t n, m;
  const double *eigenvalue, *moment; /* m: of S; of b along each eigenvector */
  double squares, kernelscale;       /* of y; the given one */
};

/* Equation 17.7, its sign changed, at log r and log v. */
static enum gpnn_status rescaled(void *context, size_t n_coordinates, const double *u, double *f,
                                 double *gradient, struct gpnn_error *err)
{
  const struct spectrum *s = context;
  double r = exp(u[0]), v = exp(u[1]), n = (double)s->n, left = n * s->kernelscale;
  double fit = s->squares, logs = n * u[1], by_r = 0, by_v = n;
  (void)n_coordinates;
  (void)err;
  for (size_t j = 0; j < s->m; j++) {
    double mu = r * s->eigenvalue[j], share = mu / (v + mu);
    double square = r * s->moment[j] * s->moment[j] / (v + mu);
    logs += log1p(mu / v);
    fit -= square;
    left -= s->eigenvalue[j];
    by_r += share - square * (1 - share) / v;
    by_v += square / v * (2 - share) - share;
  }
  *f = 0.5 * (logs + (fit + r * left) / v);
  if (gradient == NULL) return GPNN_OK;
  gradient[0] = 0.5 * (by_r + r * left / v);
  gradient[1] = 0.5 * (by_v - (s->squares + r * left) / v);
  return GPNN_OK;
}

/* Sets '*factor' of the kernel scale and the noise variance to where the bound is largest. */
static enum gpnn_status rescale(const struct spectrum *spectrum, double *factor, double *noise,
                                struct gpnn_error *err)
{
  const double least_noise = 1e-6, far = 1e3;
  double u[2] = {0, log(*noise)};
  const double lower[2] = {-log(far), log(fmin(least_noise, *noise))};
  const double upper[2] = {log(far), log(fmax(*noise, 1) * far)};
  struct spectrum copy = *spectrum;
  struct gpnn_optimize_report report;
  enum gpnn_status status =
      gpnn_optimize_lbfgs(rescaled, &copy, 2, 200, 0, lower, upper, u, &report, err);
  if (status != GPNN_OK) return status;
  *factor = exp(u[0]);
  *noise = exp(u[1]);
  return GPNN_OK;
}

/* The mean in the whitened basis, and what share of the variance along each eigenvector the rows
 * take away, which replaces its eigenvalue. */
static void find_shares(const struct spectrum *s, double factor, double noise,
                        const double *vectors, double *mean, double *share)
{
  memset(mean, 0, s->m * sizeof *mean);
  for (size_t j = s->m; j-- > 0;) {
    double mu = factor * s->eigenvalue[j];
    cblas_daxpy((int)s->m, s->moment[j] / (noise + mu), vectors + j * s->m, 1, mean, 1);
    share[j] = mu / (noise + mu);
  }
}

/* Eigenvalues of S, which is positive, to 'eigenvalue'; its eigenvectors replace the products. */
static enum gpnn_status decompose(struct gpnn_collapsed *c, double *eigenvalue,
                                  struct gpnn_error *err)
{
  size_t m = c->cross.problem.m;
  enum gpnn_status status =
      gpnn_eigen(m, c->products, eigenvalue, "the covariance of the inducing points", err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < m; j++) eigenvalue[j] = fmax(eigenvalue[j], 0);
  return GPNN_OK;
}

enum gpnn_status gpnn_collapsed_posterior(struct gpnn_collapsed *collapsed,
                                          struct gpnn_collapsed_parameters *parameters,
                                          bool rescales, double *bound, double *weights,
                                          double *root, size_t *rank, struct gpnn_error *err)
{
  struct gpnn_collapsed *c = collapsed;
  size_t m = c->cross.problem.m;
  double *eigenvalue = c->tile[0].product, *moment = c->tile[0].adjoint, factor = 1, value;
  struct spectrum spectrum = {.n = c->data.n,
                              .m = m,
                              .eigenvalue = eigenvalue,
                              .moment = moment,
                              .squares = c->squares,
                              .kernelscale = parameters->kernelscale};
  enum gpnn_status status = gpnn_collapsed_bound(c, parameters, bound, NULL, err);
  if (status == GPNN_OK) status = decompose(c, eigenvalue, err);
  if (status != GPNN_OK) return status;
  cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)m, 1, c->products, (int)m, c->moment, 1, 0,
              moment, 1);
  if (rescales) status = rescale(&spectrum, &factor, &parameters->noise, err);
  if (status != GPNN_OK) return status;
  const double at[2] = {log(factor), log(parameters->noise)};
  status = rescaled(&spectrum, 2, at, &value, NULL, err);
  *bound = -value - 0.5 * (double)c->data.n * GPNN_LOG_TWO_PI;
  parameters->kernelscale *= factor;
  find_shares(&spectrum, factor, parameters->noise, c->products, weights, eigenvalue);
  *rank = gpnn_whitened_directions(m, eigenvalue, factor, c->products, root);
  gpnn_cholesky_backward(m, c->factor, *rank, root);
  gpnn_cholesky_backward(m, c->factor, 1, weights);
  if (status != GPNN_OK) return status;
  return gpnn_triangular_rotate(m, rank, root, c->tile[0].product, err);
}

/* ---- whitened values ------------------------------------------------------------------------- */

size_t gpnn_whitened_directions(size_t m, const double *share, double factor, const double *vectors,
                                double *root)
{
  const double least = 1e-9;
  size_t rank = 0;
  for (size_t j = m; j-- > 0;) {
    if (!(share[j] > least)) continue;
    memcpy(root + rank * m, vectors + j * m, m * sizeof *root);
    cblas_dscal((int)m, sqrt(share[j] / factor), root + rank * m, 1);
    rank++;
  }
  return rank;
}

enum gpnn_status gpnn_whitened_root(size_t m, double *precision, const double *factor,
                                    double *scratch, double *root, size_t *rank,
                                    struct gpnn_error *err)
{
  enum gpnn_status status =
      gpnn_eigen(m, precision, scratch, "the precision of the inducing points", err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < m; j++) scratch[j] = 1 - 1 / scratch[j];
  *rank = gpnn_whitened_directions(m, scratch, 1, precision, root);
  gpnn_cholesky_backward(m, factor, *rank, root);
  return gpnn_triangular_rotate(m, rank, root, scratch, err);
}
