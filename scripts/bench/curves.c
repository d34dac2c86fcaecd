/*
 * curves: what the covariance of the observed cells of a grid costs, as a product of two factors or
 * in full.
 *
 *   curves factors|dense P Q SHARE ROUNDS
 *
 * P sites and Q times have ten normal coordinates each and a Gaussian kernel; each cell is missing
 * with probability SHARE.  Prints the number n of observed cells, the MiB that matrices and vectors
 * take at their peak, and the least of ROUNDS processor seconds of evaluating the kernel and of one
 * product with a vector; and the norm of that product.  In full the matrix is that of n points with
 * twenty coordinates, which is the same; both sides use one thread.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "base/rng.h"
#include "kernel/parameters.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/system/system.h"

enum { D = 10 };

static const double noise = 0.1, lengthscale = 4;

/* A vector on the grid, 0 where nothing was observed. */
struct cells {
  size_t p, q, n;
  double *x;     /* p + q by D: sites, then times */
  int64_t *cell; /* n */
  double *v;     /* p by q */
};

struct cost {
  double kernel, product, norm;
};

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

static void check(enum gpnn_status status, const struct gpnn_error *err)
{
  if (status == GPNN_OK) return;
  fprintf(stderr, "curves: %s\n", err->text);
  exit(1);
}

static void *room(size_t n, size_t m, size_t bytes)
{
  void *block = gpnn_alloc(n, m, bytes);
  if (block != NULL) return block;
  fprintf(stderr, "curves: not enough memory\n");
  exit(1);
}

static struct cells observe(size_t p, size_t q, double missing)
{
  struct gpnn_rng rng;
  struct cells c = {.p = p,
                    .q = q,
                    .x = room(p + q, D, sizeof *c.x),
                    .cell = room(p, q, sizeof *c.cell),
                    .v = room(p, q, sizeof *c.v)};
  gpnn_rng_init(&rng, 1, GPNN_RNG_POINT);
  gpnn_rng_normals(&rng, (p + q) * D, c.x);
  for (size_t i = 0; i < p * q; i++) {
    if (gpnn_rng_uniform(&rng) < missing) continue;
    c.v[i] = gpnn_rng_normal(&rng);
    c.cell[c.n++] = (int64_t)i;
  }
  return c;
}

/* ---- factors ------------------------------------------------------------------------------ */

static void make_parameters(struct gpnn_parameters *parameters)
{
  struct gpnn_error err = {0};
  parameters->covariance.kernelscale = 1;
  parameters->covariance.noise = noise;
  parameters->grid.n_factors = 2;
  parameters->grid.factor = room(2, 1, sizeof *parameters->grid.factor);
  for (size_t a = 0; a < 2; a++) {
    struct gpnn_factor *factor = &parameters->grid.factor[a];
    check(gpnn_factor_parse(factor, "rbf", D, 0, false, &err), &err);
    factor->term[0].lengthscale[0] = lengthscale;
  }
}

/* The seconds that the matrix of a factor takes. */
static double evaluate(const struct gpnn_grid_factor *levels, const struct gpnn_factor *factor)
{
  double *k = room(levels->n, levels->n, sizeof *k), start = now();
  gpnn_factor_matrix(factor, D, levels->n, levels->x, levels->n, levels->x, true, 1, k);
  double seconds = now() - start;
  free(k);
  return seconds;
}

static void by_factors(const struct cells *c, const struct gpnn_parameters *parameters,
                       struct cost *least)
{
  const struct gpnn_grid_factor factors[] = {
      {.name = "site", .n = c->p, .d = D, .x = c->x},
      {.name = "time", .n = c->q, .d = D, .x = c->x + c->p * D}};
  const struct gpnn_grid grid = {.n_factors = 2,
                                 .factor = factors,
                                 .n_cells = c->n,
                                 .cell = c->cell,
                                 .y = c->v,
                                 .n_observations = c->n};
  const struct gpnn_grid_system_options options = {.preconditioner = GPNN_GRID_PRECONDITION_NONE,
                                                   .threads = 1};
  struct gpnn_grid_system *system = NULL;
  struct gpnn_error err = {0};
  least->kernel = fmin(least->kernel, evaluate(&factors[0], &parameters->grid.factor[0]) +
                                          evaluate(&factors[1], &parameters->grid.factor[1]));
  check(gpnn_grid_system_new(&system, &grid, parameters, &options, &err), &err);
  double *product = room(c->p, c->q, sizeof *product), start = now();
  check(gpnn_grid_system_multiply(system, 1, c->v, product, &err), &err);
  least->product = fmin(least->product, now() - start);
  least->norm = cblas_dnrm2((int)(c->p * c->q), product, 1);
  gpnn_grid_system_free(system);
  free(product);
}

/* ---- in full ------------------------------------------------------------------------------ */

/* The coordinates of site and time of each cell over the lengthscale, one column after another. */
static double *make_columns(const struct cells *c)
{
  double *columns = room(c->n, (size_t)2 * D, sizeof *columns);
  for (size_t a = 0; a < c->n; a++) {
    size_t site = (size_t)c->cell[a] / c->q, time = (size_t)c->cell[a] % c->q;
    for (size_t j = 0; j < D; j++) {
      columns[j * c->n + a] = c->x[site * D + j] / lengthscale;
      columns[(D + j) * c->n + a] = c->x[(c->p + time) * D + j] / lengthscale;
    }
  }
  return columns;
}

static void in_full(const struct cells *c, struct cost *least)
{
  size_t n = c->n;
  struct gpnn_covariance covariance =
      gpnn_covariance_isotropic(gpnn_kernel_by_name("rbf"), 0, lengthscale, 1, noise);
  double *columns = make_columns(c), *v = room(n, 2, sizeof *v), *k = room(n, n, sizeof *k);
  for (size_t a = 0; a < n; a++) v[a] = c->v[c->cell[a]];
  double point[2 * D], start = now();
  gpnn_covariance_matrix(&covariance, n, (size_t)2 * D, n, columns, NULL, point, k);
  double made = now();
  cblas_dsymv(CblasColMajor, CblasLower, (int)n, 1, k, (int)n, v, 1, 0, v + n, 1);
  least->kernel = fmin(least->kernel, made - start);
  least->product = fmin(least->product, now() - made);
  least->norm = cblas_dnrm2((int)n, v + n, 1);
  free(columns);
  free(v);
  free(k);
}

int main(int argc, char **argv)
{
  if (argc != 6) {
    fprintf(stderr, "usage: curves factors|dense P Q SHARE ROUNDS\n");
    return 2;
  }
  bool is_dense = strcmp(argv[1], "dense") == 0;
  size_t rounds = strtoul(argv[5], NULL, 10);
  struct cost least = {.kernel = INFINITY, .product = INFINITY};
  struct gpnn_parameters parameters = {0};
  gpnn_blas_single_thread();
  double before = peak();
  struct cells c =
      observe(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), strtod(argv[4], NULL));
  make_parameters(&parameters);
  for (size_t r = 0; r < rounds; r++)
    if (is_dense)
      in_full(&c, &least);
    else
      by_factors(&c, &parameters, &least);
  printf("%zu %.3f %.4g %.4g %.10g\n", c.n, peak() - before, least.kernel, least.product,
         least.norm);
  gpnn_parameters_release(&parameters);
  free(c.x);
  free(c.cell);
  free(c.v);
  return 0;
}
