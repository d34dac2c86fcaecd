/*
 * factor: the time that LAPACK's Cholesky factorisation alone needs.
 *
 *   factor M COUNT THREADS
 *
 * Factorises COUNT covariance matrices of order M (exponential kernel of random points, as in a
 * prediction) with LAPACKE_dpotrf on THREADS threads, each factorisation on one of them, and prints
 * the seconds that the busiest thread was inside dpotrf, which no implementation over the same
 * LAPACK can go below, and the processor seconds of all threads there.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"

/* Processor seconds of this thread. */
static double spent(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A covariance matrix of m points in eight dimensions, column-major. */
static void fill(size_t m, double *k)
{
  enum { D = 8 };
  double *x = gpnn_alloc(m, D, sizeof *x);
  if (x == NULL) exit(1);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  for (size_t i = 0; i < m * D; i++) x[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < m; j++) {
      double r2 = 0;
      for (size_t c = 0; c < D; c++) r2 += pow(x[i * D + c] - x[j * D + c], 2);
      k[i * m + j] = exp(-sqrt(r2)) + (i == j ? 0.1 : 0);
    }
  }
  free(x);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What each thread factorises, and how long it took. */
struct own {
  double *k, inside, worked;
};

struct job {
  size_t m;
  double *k;
  struct own *owns; /* one per thread */
};

static void factor(void *context, size_t thread, size_t i)
{
  const struct job *job = context;
  struct own *own = &job->owns[thread];
  (void)i;
  memcpy(own->k, job->k, job->m * job->m * sizeof *own->k);
  double had_worked = spent(), before = now();
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)job->m, own->k, (int)job->m) != 0) exit(1);
  own->inside += now() - before;
  own->worked += spent() - had_worked;
}

int main(int argc, char **argv)
{
  if (argc != 4) {
    fprintf(stderr, "usage: factor M COUNT THREADS\n");
    return 2;
  }
  size_t m = strtoul(argv[1], NULL, 10), count = strtoul(argv[2], NULL, 10);
  int threads = atoi(argv[3]);
  struct job job = {m, gpnn_alloc(m, m, sizeof *job.k),
                    gpnn_alloc((size_t)threads, 1, sizeof *job.owns)};
  double busiest = 0, processor = 0;
  if (job.k == NULL || job.owns == NULL) return 1;
  gpnn_blas_single_thread();
  fill(m, job.k);
  for (int t = 0; t < threads; t++) {
    job.owns[t].k = gpnn_alloc(m, m, sizeof *job.k);
    if (job.owns[t].k == NULL) return 1;
  }
  gpnn_threads_each(threads, count, 8, factor, &job);
  for (int t = 0; t < threads; t++) {
    busiest = fmax(busiest, job.owns[t].inside);
    processor += job.owns[t].worked;
    free(job.owns[t].k);
  }
  free(job.owns);
  free(job.k);
  printf("%.4f %.4f\n", busiest, processor);
  return 0;
}
