/*
 * latent: the time that products with the covariance of a grid take.
 *
 *   latent product P Q COLUMNS           on a complete grid of P by Q, and the two products of
 *                                        matrices that it consists of, by one dgemm each
 *   latent dense P Q COLUMNS MISSING     on a grid of which this share is missing, and with the
 *                                        covariance of the observed cells written out
 *
 * Prints the processor seconds of either, all on one thread, the better of three turns.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/system/system_private.h"

struct bench {
  size_t p, q, columns;
  double *k[2];  /* p by p, q by q */
  size_t n;      /* observed cells */
  int64_t *cell; /* n */
  double *noise; /* n */
  double *x, *y; /* p by columns by q */
};

static void *room(size_t n, size_t m, size_t bytes)
{
  void *block = gpnn_alloc(n, m, bytes);
  if (block == NULL) exit(1);
  return block;
}

static double spent(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The best of three turns. */
static double best(void (*turn)(struct bench *b, void *context), struct bench *b, void *context)
{
  double least = INFINITY;
  for (int i = 0; i < 3; i++) {
    double before = spent();
    turn(b, context);
    least = fmin(least, spent() - before);
  }
  return least;
}

static double *exponential(size_t n)
{
  double *k = room(n, n, sizeof *k);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) k[i * n + j] = exp(-fabs((double)i - (double)j) / 50);
  return k;
}

static struct bench prepare(size_t p, size_t q, size_t columns, double missing)
{
  struct bench b = {.p = p, .q = q, .columns = columns, .k = {exponential(p), exponential(q)}};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  b.cell = room(p, q, sizeof *b.cell);
  b.noise = room(p, q, sizeof *b.noise);
  b.x = room(p * q, columns, sizeof *b.x);
  b.y = room(p * q, columns, sizeof *b.y);
  for (size_t i = 0; i < p * q; i++) {
    if (gpnn_rng_uniform(&rng) < missing) continue;
    for (size_t c = 0; c < columns; c++)
      b.x[(i / q * columns + c) * q + i % q] = gpnn_rng_normal(&rng);
    b.noise[b.n] = 0.1;
    b.cell[b.n++] = (int64_t)i;
  }
  return b;
}

/* A system, and scratch for its products, as solving has them. */
struct ours {
  struct gpnn_grid_system *system;
  double *scratch;
};

static void multiply(struct bench *b, void *context)
{
  const struct ours *ours = context;
  if (gpnn_grid_cells_multiply(&ours->system->reduced, b->columns, b->x, b->y, ours->scratch, 1,
                               NULL) != GPNN_OK)
    exit(1);
}

/* The seconds of a product by the system, as an iteration makes it. */
static double by_system(struct bench *b)
{
  const struct gpnn_grid_system_options options = {.preconditioner = GPNN_GRID_PRECONDITION_NONE,
                                                   .threads = 1};
  struct ours ours = {.scratch = room(b->p * b->q, b->columns, sizeof *ours.scratch)};
  struct gpnn_error err = {0};
  if (gpnn_grid_system_from_matrices(&ours.system, 2, (size_t[]){b->p, b->q},
                                     (const double *const *)b->k, b->n, b->cell, b->noise, &options,
                                     &err) != GPNN_OK) {
    fprintf(stderr, "%s\n", err.text);
    exit(1);
  }
  double seconds = best(multiply, b, &ours);
  gpnn_grid_system_free(ours.system);
  free(ours.scratch);
  return seconds;
}

static void two_products(struct bench *b, void *scratch)
{
  int p = (int)b->p, q = (int)b->q, columns = (int)b->columns;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p, columns * q, p, 1, b->k[0], p, b->x,
              columns * q, 0, scratch, columns * q);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p * columns, q, q, 1, scratch, q, b->k[1],
              q, 0, b->y, q);
}

/* The product of the covariance of the observed cells with vectors of these alone. */
static void dense_product(struct bench *b, void *covariance)
{
  int n = (int)b->n, columns = (int)b->columns;
  if (columns == 1)
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, covariance, n, b->x, 1, 0, b->y, 1);
  else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, columns, n, 1, covariance, n, b->x,
                columns, 0, b->y, columns);
}

static double by_dense(struct bench *b)
{
  double *a = room(b->n, b->n, sizeof *a);
  for (size_t i = 0; i < b->n; i++) {
    size_t s = (size_t)b->cell[i] / b->q, t = (size_t)b->cell[i] % b->q;
    for (size_t j = 0; j < b->n; j++)
      a[i * b->n + j] = b->k[0][s * b->p + (size_t)b->cell[j] / b->q] *
                        b->k[1][t * b->q + (size_t)b->cell[j] % b->q];
  }
  double seconds = best(dense_product, b, a);
  free(a);
  return seconds;
}

static size_t number(const char *text)
{
  return (size_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
  bool dense = argc == 6 && strcmp(argv[1], "dense") == 0;
  if (!dense && (argc != 5 || strcmp(argv[1], "product") != 0)) {
    fprintf(stderr, "usage: latent product P Q COLUMNS | latent dense P Q COLUMNS MISSING\n");
    return 2;
  }
  gpnn_blas_single_thread();
  struct bench b =
      prepare(number(argv[2]), number(argv[3]), number(argv[4]), dense ? strtod(argv[5], NULL) : 0);
  double ours = by_system(&b), theirs;
  if (dense) {
    theirs = by_dense(&b);
  } else {
    double *scratch = room(b.p * b.q, b.columns, sizeof *scratch);
    theirs = best(two_products, &b, scratch);
    free(scratch);
  }
  printf("%.6g %.6g\n", ours, theirs);
  for (size_t a = 0; a < 2; a++) free(b.k[a]);
  free(b.cell);
  free(b.noise);
  free(b.x);
  free(b.y);
  return 0;
}
