/*
 * diag: how long an estimate of the derivatives of a bound takes, and solutions by the block.
 *
 *   diag step M STEPS     processor seconds of an estimate with 8 probes and a batch of 256 rows,
 * at M inducing points, each solution taking STEPS steps diag block M STEPS    those of 16
 * solutions one by one, and together
 *
 * Rows are random, of 8 inputs; one thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/blas_threads.h"
#include "linalg/iterative/probes.h"
#include "models/inducing/diag/diag.h"

enum { ROWS = 256, INPUTS = 8, PROBES = 8 };

static double spent(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *normals(size_t n, size_t m, uint64_t item)
{
  struct gpnn_rng rng;
  double *x = gpnn_alloc(n, m, sizeof *x);
  gpnn_rng_init_at(&rng, 1, GPNN_RNG_POINT, item);
  if (x != NULL) gpnn_rng_normals(&rng, n * m, x);
  return x;
}

/* No solution reaches the tolerance, so that all take the same steps. */
static struct gpnn_diag_solver solver_of(size_t steps)
{
  return (struct gpnn_diag_solver){.head = 1e-2, .tolerance = 1e-300, .most_steps = steps};
}

static enum gpnn_status time_step(size_t m, size_t steps, struct gpnn_error *err)
{
  double *x = normals(ROWS, INPUTS, 0), *y = normals(ROWS, 1, 1), *z = normals(m, INPUTS, 2);
  struct gpnn_diag_problem p = {ROWS, INPUTS, x,    y, NULL, m, z, gpnn_kernel_by_name("rbf"),
                                0,    1,      NULL, 1};
  double *point = gpnn_alloc(gpnn_diag_size(&p), 2, sizeof *point);
  double *probe = gpnn_alloc(PROBES, m, sizeof *probe);
  struct gpnn_diag *diag = NULL;
  struct gpnn_diag_solver solver = solver_of(steps);
  struct gpnn_diag_solutions solutions = {0};
  struct gpnn_diag_batch all = gpnn_diag_all(&p);
  enum gpnn_status status = GPNN_OK;
  if (!x || !y || !z || !point || !probe) {
    status = gpnn_fail_memory(err, "for a bench");
    goto out;
  }
  point[gpnn_diag_noise(&p)] = log(0.1);
  point[gpnn_diag_lengthscale(&p)] = log(3);
  gpnn_probes_draw(GPNN_PROBES_SIGNS, 1, 0, 1, PROBES, m, NULL, 1, probe);
  status = gpnn_diag_new(&diag, &p, err);
  for (int turn = 0; turn < 2 && status == GPNN_OK; turn++) { /* the first touches memory */
    double start = spent();
    status = gpnn_diag_estimate(diag, point, &all, &(struct gpnn_diag_probes){PROBES, probe},
                                &solver, 0, point + gpnn_diag_size(&p), &solutions, err);
    if (turn == 1 && status == GPNN_OK) printf("%.6f\n", spent() - start);
  }
out:
  gpnn_diag_free(diag);
  free(x);
  free(y);
  free(z);
  free(point);
  free(probe);
  return status;
}

/* A diagonally dominant matrix. */
static void fill(size_t m, double *b)
{
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < m; j++)
      b[i * m + j] = exp(-fabs((double)i - (double)j)) + (i == j ? 0.1 : 0);
}

static enum gpnn_status time_block(size_t m, size_t steps, struct gpnn_error *err)
{
  enum { COLUMNS = 2 * PROBES };
  double *b = gpnn_alloc(m, m, sizeof *b), *right = normals(COLUMNS, m, 3);
  double *x = gpnn_alloc(COLUMNS, m, sizeof *x), took[2] = {0, 0};
  struct gpnn_diag_solver solver = solver_of(steps);
  struct gpnn_diag_solutions solutions = {0};
  enum gpnn_status status = GPNN_OK;
  if (!b || !right || !x) {
    status = gpnn_fail_memory(err, "for a bench");
    goto out;
  }
  fill(m, b);
  for (size_t width = 1, way = 0; way < 2; way++, width = COLUMNS) {
    double start = spent();
    for (size_t j = 0; j < COLUMNS && status == GPNN_OK; j += width)
      status =
          gpnn_diag_solve(m, b, width, right + j * m, x + j * m, &solver, 0, 1, &solutions, err);
    took[way] = spent() - start;
  }
  printf("%.6f %.6f\n", took[0], took[1]);
out:
  free(b);
  free(right);
  free(x);
  return status;
}

int main(int argc, char **argv)
{
  struct gpnn_error err = {0};
  gpnn_blas_single_thread();
  if (argc != 4) return 2;
  size_t m = strtoul(argv[2], NULL, 10), steps = strtoul(argv[3], NULL, 10);
  enum gpnn_status status =
      strcmp(argv[1], "step") == 0 ? time_step(m, steps, &err) : time_block(m, steps, &err);
  if (status == GPNN_OK) return 0;
  fprintf(stderr, "diag: %s\n", err.text);
  return 1;
}
