#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/inducing/diag/diag_private.h"

/* ---- memory ------------------------------------------------------------------------------- */

size_t gpnn_diag_partial_size(const struct gpnn_diag_problem *p)
{
  return p->m + p->n_lengthscales + 3;
}

static enum gpnn_status allocate(struct gpnn_diag *diag, struct gpnn_error *err)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  const struct gpnn_cross_problem inducing = {
      p->m, p->d, p->z, p->kernel, p->smoothness, p->n_lengthscales, p->group};
  size_t m = p->m;
  diag->n_tiles = (size_t)gpnn_threads_for(diag->problem.threads, GPNN_DIAG_TILES);
  diag->tile = gpnn_alloc(diag->n_tiles, 1, sizeof *diag->tile);
  diag->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(diag->partial, GPNN_DIAG_TILES, gpnn_diag_partial_size(&diag->problem)),
      GPNN_ARRAY(diag->inverse, m, m), GPNN_ARRAY(diag->lengthscale, p->n_lengthscales, 1),
      GPNN_ARRAY(diag->kuu_mu, m, 1));
  if (diag->tile == NULL || diag->arrays == NULL)
    return gpnn_fail_memory(err, "for the covariance of inducing points");
  enum gpnn_status status = gpnn_cross_new(&diag->kernel, &inducing, err);
  for (size_t t = 0; t < diag->n_tiles && status == GPNN_OK; t++)
    status = gpnn_cross_tile_new(&diag->tile[t], m, diag->problem.d, err);
  return status;
}

enum gpnn_status gpnn_diag_reserve(struct gpnn_diag *diag, struct gpnn_error *err)
{
  size_t m = diag->problem.m;
  if (diag->middle == NULL) diag->middle = gpnn_alloc(m, m, sizeof(double));
  if (diag->rows == NULL) diag->rows = gpnn_alloc(GPNN_DIAG_BLOCK, m, sizeof(double));
  return diag->middle && diag->rows
             ? GPNN_OK
             : gpnn_fail_memory(err, "for the covariance of inducing points");
}

enum gpnn_status gpnn_diag_new(struct gpnn_diag **diag, const struct gpnn_diag_problem *problem,
                               struct gpnn_error *err)
{
  struct gpnn_diag *new = gpnn_alloc(1, 1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for inducing points");
  new->problem = *problem;
  new->problem.threads = gpnn_blas_claim(problem->threads);
  enum gpnn_status status =
      new->problem.threads == 0 ? gpnn_fail_memory(err, GPNN_BLAS_ROOM) : allocate(new, err);
  if (status == GPNN_OK)
    *diag = new;
  else
    gpnn_diag_free(new);
  return status;
}

void gpnn_diag_free(struct gpnn_diag *diag)
{
  if (diag == NULL) return;
  for (size_t t = 0; t < diag->n_tiles && diag->tile != NULL; t++)
    gpnn_cross_tile_release(&diag->tile[t]);
  gpnn_cross_release(&diag->kernel);
  free(diag->tile);
  free(diag->middle);
  free(diag->rows);
  gpnn_arrays_free(diag->arrays);
  free(diag);
}

struct gpnn_diag_batch gpnn_diag_all(const struct gpnn_diag_problem *problem)
{
  return (struct gpnn_diag_batch){problem->n, NULL, 1};
}

/* ---- matrices of inducing inputs ---------------------------------------------------------- */

void gpnn_diag_set(struct gpnn_diag *diag, const double *point)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  for (size_t l = 0; l < p->n_lengthscales; l++)
    diag->lengthscale[l] = exp(point[gpnn_diag_lengthscale(p) + l]);
  gpnn_cross_set(&diag->kernel, diag->lengthscale, exp(point[gpnn_diag_kernelscale(p)]));
}

struct filling {
  const struct gpnn_diag *diag;
  struct gpnn_cross_points points;
  const double *point;
  double *k;
};

static void fill_tile(void *context, size_t thread, size_t piece)
{
  const struct filling *f = context;
  const struct gpnn_diag_problem *p = &f->diag->problem;
  const struct gpnn_cross_tile *tile = &f->diag->tile[thread];
  size_t first = piece * GPNN_CROSS_TILE, n = gpnn_cross_tile_rows(p->m, piece);
  gpnn_cross_covariances(&f->diag->kernel, &f->points, first, n, false, tile);
  memcpy(f->k + first * p->m, tile->k, n * p->m * sizeof *f->k);
  for (size_t i = first; i < first + n && f->point != NULL; i++)
    f->k[i * p->m + i] += exp(f->point[gpnn_diag_rho(p) + i]);
}

void gpnn_diag_fill(struct gpnn_diag *diag, const double *point, double *k)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  struct filling f = {diag, {p->m, p->z, NULL}, point, k};
  gpnn_threads_each((int)diag->n_tiles, gpnn_cross_n_tiles(p->m), 1, fill_tile, &f);
}

/* ---- rows --------------------------------------------------------------------------------- */

enum { PANEL = 128 };

struct product {
  struct gpnn_diag *diag;
  size_t n;
  double sign;
};

static void multiply_panel(void *context, size_t thread, size_t piece)
{
  (void)thread;
  const struct product *r = context;
  size_t m = r->diag->problem.m, at = piece * PANEL, width = m - at < PANEL ? m - at : PANEL;
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)width, (int)(at + width), (int)r->n,
              r->sign, r->diag->rows + at, (int)m, r->diag->rows, (int)m, 1,
              r->diag->middle + at * m, (int)m);
}

void gpnn_diag_add_product(struct gpnn_diag *diag, size_t n, double sign)
{
  struct product r = {diag, n, sign};
  gpnn_threads_each(diag->problem.threads, (diag->problem.m + PANEL - 1) / PANEL, 1, multiply_panel,
                    &r);
}

struct multiplication {
  size_t n, m;
  const double *a, *b;
  double *to;
};

static void multiply_tile(void *context, size_t thread, size_t piece)
{
  (void)thread;
  const struct multiplication *p = context;
  int m = (int)p->m;
  size_t at = piece * GPNN_CROSS_TILE * p->m;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)gpnn_cross_tile_rows(p->n, piece), m,
              m, 1, p->a + at, m, p->b, m, 0, p->to + at, m);
}

void gpnn_diag_multiply(const struct gpnn_diag *diag, size_t n, const double *a, const double *b,
                        double *to)
{
  struct multiplication p = {n, diag->problem.m, a, b, to};
  gpnn_threads_each(diag->problem.threads, gpnn_cross_n_tiles(n), 1, multiply_tile, &p);
}

void gpnn_diag_symmetrise(struct gpnn_diag *diag)
{
  size_t m = diag->problem.m;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < i; j++) diag->middle[j * m + i] = diag->middle[i * m + j];
}

size_t gpnn_diag_row(const struct gpnn_diag_pass *pass, size_t i)
{
  return pass->batch->row == NULL ? i : (size_t)pass->batch->row[i];
}

double gpnn_diag_weight(const struct gpnn_diag_pass *pass, size_t row)
{
  const struct gpnn_diag_problem *p = &pass->diag->problem;
  double own = p->noise == NULL ? 0 : p->noise[row];
  return pass->batch->scale / (exp(pass->point[gpnn_diag_noise(p)]) + own);
}

struct gpnn_diag_piece gpnn_diag_begin(const struct gpnn_diag_pass *pass, size_t thread,
                                       size_t piece, bool with_slope)
{
  struct gpnn_diag_piece begun = {.tile = &pass->diag->tile[thread],
                                  .first = pass->first + piece * GPNN_CROSS_TILE,
                                  .n = gpnn_cross_tile_rows(pass->n, piece),
                                  .partial = pass->partial + piece * pass->size};
  memset(begun.partial, 0, pass->size * sizeof *begun.partial);
  gpnn_cross_covariances(&pass->diag->kernel, &pass->points, begun.first, begun.n, with_slope,
                         begun.tile);
  return begun;
}

void gpnn_diag_pass_over(struct gpnn_diag_pass *pass, size_t total, gpnn_threads_step *step,
                         double *sum)
{
  struct gpnn_diag *diag = pass->diag;
  for (pass->first = 0; pass->first < total; pass->first += GPNN_DIAG_BLOCK) {
    size_t left = total - pass->first;
    pass->n = left < GPNN_DIAG_BLOCK ? left : GPNN_DIAG_BLOCK;
    gpnn_threads_each((int)diag->n_tiles, gpnn_cross_n_tiles(pass->n), 1, step, pass);
    for (size_t t = 0; t < gpnn_cross_n_tiles(pass->n); t++)
      for (size_t i = 0; i < pass->size; i++) sum[i] += pass->partial[t * pass->size + i];
    if (pass->keeps_rows) gpnn_diag_add_product(diag, pass->n, 1);
  }
}
