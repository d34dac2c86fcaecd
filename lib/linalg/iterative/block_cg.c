#include "linalg/iterative/block_cg.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"

#define MEMORY_FOR "for conjugate gradients"

/* Into how many pieces of outer indices sums are cut, whatever the threads. */
enum { PIECES = 64 };

/* Residuals are as good as linearly dependent if so little of one's square is its own. */
static const double dependent = 1e-10;

/* ---- a solution ---------------------------------------------------------------------------- */

/*
 * Blocks as in linalg/iterative/cg.h, and small matrices, columns by columns, column-major.  With X
 * the block seen as a matrix of a column for each vector: residuals are Q C.
 */
struct solver {
  const struct gpnn_cg_matrix *matrix;
  const struct gpnn_cg_options *options;
  struct gpnn_error *err;
  size_t outer, inner, m; /* m: columns */
  size_t rows, pieces;    /* outer indices of a piece, and how many there are */
  int threads;
  double *x;         /* the solutions */
  double *q, *z;     /* residuals made orthonormal, and preconditioned; z is q without one */
  double *d, *w;     /* directions, and products with them */
  double *c, *s, *t; /* C; S of the last residuals; the inverse of d'w, or scratch */
  double *step;      /* what of the directions goes into the solutions */
  double *part;      /* a small matrix for each piece */
  double *norm;      /* columns: |B_j| */
  size_t iterations;
  bool is_within;             /* the tolerance, are all columns */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status allocate(struct solver *s)
{
  size_t n, m = s->m;
  if (!gpnn_multiply(s->outer, s->inner, &n)) return gpnn_fail_memory(s->err, MEMORY_FOR);
  bool has_own_z = s->matrix->precondition != NULL;
  s->arrays = GPNN_ARRAYS(GPNN_ARRAY(s->q, n, m), GPNN_ARRAY_IF(has_own_z, s->z, n, m),
                          GPNN_ARRAY(s->d, n, m), GPNN_ARRAY(s->w, n, m), GPNN_ARRAY(s->c, m, m),
                          GPNN_ARRAY(s->s, m, m), GPNN_ARRAY(s->t, m, m), GPNN_ARRAY(s->step, m, m),
                          GPNN_ARRAY(s->part, s->pieces * m, m), GPNN_ARRAY(s->norm, m, 1));
  if (s->arrays == NULL) return gpnn_fail_memory(s->err, MEMORY_FOR);
  if (!has_own_z) s->z = s->q;
  return GPNN_OK;
}

/* ---- passes over blocks -------------------------------------------------------------------- */

/* One pass: what is done with the numbers of each outer index, which start at 'at'. */
struct pass {
  const struct solver *solver;
  void (*work)(const struct pass *pass, size_t piece, size_t at);
  const double *x, *y;
  double *to;
  const double *mix;
  double factor;
};

static void pass_piece(void *context, size_t thread, size_t piece)
{
  const struct pass *pass = context;
  const struct solver *s = pass->solver;
  (void)thread;
  for (size_t o = piece * s->rows; o < (piece + 1) * s->rows && o < s->outer; o++)
    pass->work(pass, piece, o * s->m * s->inner);
}

static void run(struct pass pass)
{
  gpnn_threads_each(pass.solver->threads, pass.solver->pieces, 1, pass_piece, &pass);
}

static void multiply_here(const struct pass *pass, size_t piece, size_t at)
{
  const struct solver *s = pass->solver;
  int m = (int)s->m, inner = (int)s->inner;
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m, m, inner, 1, pass->x + at, inner,
              pass->y + at, inner, 1, s->part + piece * s->m * s->m, m);
}

/* to = x'y, a small matrix: symmetric in exact arithmetic wherever it is used. */
static void products(const struct solver *s, const double *x, const double *y, double *to)
{
  size_t n = s->m * s->m;
  memset(s->part, 0, s->pieces * n * sizeof *to);
  run((struct pass){.solver = s, .work = multiply_here, .x = x, .y = y});
  memset(to, 0, n * sizeof *to);
  for (size_t p = 0; p < s->pieces; p++)
    for (size_t i = 0; i < n; i++) to[i] += s->part[p * n + i];
}

static void add_here(const struct pass *pass, size_t piece, size_t at)
{
  int m = (int)pass->solver->m, inner = (int)pass->solver->inner;
  (void)piece;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, inner, m, m, pass->factor, pass->x + at,
              inner, pass->mix, m, 1, pass->to + at, inner);
}

/* to += factor x 'mix' */
static void add(const struct solver *s, double factor, const double *x, const double *mix,
                double *to)
{
  run((struct pass){.solver = s, .work = add_here, .x = x, .to = to, .mix = mix, .factor = factor});
}

static void divide_here(const struct pass *pass, size_t piece, size_t at)
{
  int m = (int)pass->solver->m, inner = (int)pass->solver->inner;
  (void)piece;
  cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, inner, m, 1,
              pass->mix, m, pass->to + at, inner);
}

/* x <- x 'mix'^-1, which is upper triangular */
static void divide(const struct solver *s, const double *mix, double *x)
{
  run((struct pass){.solver = s, .work = divide_here, .to = x, .mix = mix});
}

static void turn_here(const struct pass *pass, size_t piece, size_t at)
{
  size_t n = pass->solver->m * pass->solver->inner;
  int m = (int)pass->solver->m, inner = (int)pass->solver->inner;
  double *d = pass->to + at;
  (void)piece;
  cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, inner, m, 1,
              pass->mix, m, d, inner);
  for (size_t i = 0; i < n; i++) d[i] += pass->x[at + i];
}

/* d <- z + d S' */
static void turn(const struct solver *s)
{
  run((struct pass){.solver = s, .work = turn_here, .x = s->z, .to = s->d, .mix = s->s});
}

/* ---- residuals ----------------------------------------------------------------------------- */

static bool all_zero(size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0) return false;
  return true;
}

/* q = B - A X, and C = 1. */
static enum gpnn_status true_residuals(struct solver *s, const double *b)
{
  size_t n = s->outer * s->inner * s->m;
  if (all_zero(n, s->x)) {
    memcpy(s->q, b, n * sizeof *b);
  } else {
    enum gpnn_status status = s->matrix->multiply(s->matrix->context, s->m, s->x, s->q, s->err);
    if (status != GPNN_OK) return status;
    for (size_t i = 0; i < n; i++) s->q[i] = b[i] - s->q[i];
  }
  memset(s->c, 0, s->m * s->m * sizeof *s->c);
  for (size_t j = 0; j < s->m; j++) s->c[j * s->m + j] = 1;
  return GPNN_OK;
}

/* Whether there is something to solve in all columns. */
static bool measure_right_hand_sides(struct solver *s, const double *b)
{
  bool all = true;
  products(s, b, b, s->t);
  for (size_t j = 0; j < s->m; j++) {
    s->norm[j] = sqrt(s->t[j * s->m + j]);
    all = all && s->norm[j] > 0;
  }
  return all;
}

/* The largest of |Q c_j| / |B_j|; 't' and 'step' are scratch. */
static double worst_residual(struct solver *s)
{
  int m = (int)s->m;
  double worst = 0;
  products(s, s->q, s->q, s->t);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, s->t, m, s->c, m, 0, s->step,
              m);
  for (size_t j = 0; j < s->m; j++) {
    double square = cblas_ddot(m, s->c + j * s->m, 1, s->step + j * s->m, 1);
    if (!isfinite(square)) return NAN;
    worst = fmax(worst, sqrt(fmax(square, 0)) / s->norm[j]);
  }
  return worst;
}

/* ---- iterations ---------------------------------------------------------------------------- */

/* Replaces a small symmetric matrix by the factor U of U'U, where every pivot is more than a share
 * 'least' of its diagonal; false: it is not positive definite, or not as clearly. */
static bool factor(struct solver *s, double *a, double least)
{
  size_t m = s->m;
  bool is_good = true;
  for (size_t j = 0; j < m; j++) s->step[j] = a[j * m + j];
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)m, a, (int)m) != 0) return false;
  for (size_t j = 0; j < m; j++) is_good = is_good && pow(a[j * m + j], 2) > least * s->step[j];
  return is_good;
}

/* Z = M^-1 Q, and what makes both orthonormal: Q'Z = S'S, Q <- Q S^-1, Z <- Z S^-1, C <- S C and
 * the next directions D <- Z + D S'. */
static enum gpnn_status choose_directions(struct solver *s, bool *goes_on)
{
  int m = (int)s->m;
  if (s->z != s->q) {
    enum gpnn_status status = s->matrix->precondition(s->matrix->context, s->m, s->q, s->z, s->err);
    if (status != GPNN_OK) return status;
  }
  products(s, s->q, s->z, s->s);
  *goes_on = factor(s, s->s, dependent);
  if (!*goes_on) return GPNN_OK;
  divide(s, s->s, s->q);
  if (s->z != s->q) divide(s, s->s, s->z);
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, m, m, 1, s->s, m,
              s->c, m);
  turn(s);
  return GPNN_OK;
}

/* T = D'A D, of which 't' gets the inverse; false: it is not positive definite. */
static bool invert_curvature(struct solver *s)
{
  int m = (int)s->m;
  products(s, s->d, s->w, s->t);
  if (!factor(s, s->t, 0)) return false;
  if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', m, s->t, m) != 0) return false;
  for (size_t j = 0; j < s->m; j++)
    for (size_t i = j + 1; i < s->m; i++) s->t[j * s->m + i] = s->t[i * s->m + j];
  return true;
}

/* X <- X + D T^-1 C, Q <- Q - A D T^-1. */
static enum gpnn_status take_step(struct solver *s, bool *goes_on)
{
  int m = (int)s->m;
  enum gpnn_status status = s->matrix->multiply(s->matrix->context, s->m, s->d, s->w, s->err);
  if (status != GPNN_OK) return status;
  *goes_on = invert_curvature(s);
  if (!*goes_on) return GPNN_OK;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, s->t, m, s->c, m, 0, s->step,
              m);
  add(s, 1, s->d, s->step, s->x);
  add(s, -1, s->w, s->t, s->q);
  s->iterations++;
  return GPNN_OK;
}

/* Until all columns are within the tolerance, or their residuals are dependent. */
static enum gpnn_status iterate(struct solver *s)
{
  const struct gpnn_cg_options *o = s->options;
  bool goes_on = true;
  for (;;) {
    double worst = worst_residual(s);
    if (s->iterations > 0 && o->progress != NULL)
      o->progress(o->progress_context, s->iterations, worst);
    s->is_within = worst <= o->tolerance;
    if (!(worst > o->tolerance) || s->iterations == o->most_iterations) return GPNN_OK;
    enum gpnn_status status = choose_directions(s, &goes_on);
    if (status == GPNN_OK && goes_on) status = take_step(s, &goes_on);
    if (status != GPNN_OK || !goes_on) return status;
  }
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* Reports a solution whose true residuals are within twice the tolerance. */
static enum gpnn_status solve(struct solver *s, const double *b, struct gpnn_cg_report *report)
{
  s->rows = (s->outer + PIECES - 1) / PIECES;
  s->pieces = (s->outer + s->rows - 1) / s->rows;
  enum gpnn_status status = allocate(s);
  if (status == GPNN_OK) status = true_residuals(s, b);
  if (status == GPNN_OK && measure_right_hand_sides(s, b)) status = iterate(s);
  if (status == GPNN_OK && s->is_within) {
    status = true_residuals(s, b);
    if (status == GPNN_OK) report->residual = worst_residual(s);
    report->converged = report->residual <= 2 * s->options->tolerance;
  }
  gpnn_arrays_free(s->arrays);
  return status;
}

enum gpnn_status gpnn_block_cg_solve(const struct gpnn_cg_matrix *matrix, size_t columns,
                                     const double *b, double *x,
                                     const struct gpnn_cg_options *options,
                                     struct gpnn_cg_report *report, struct gpnn_error *err)
{
  struct solver s = {.matrix = matrix,
                     .options = options,
                     .err = err,
                     .outer = matrix->outer,
                     .inner = matrix->inner,
                     .m = columns,
                     .threads = gpnn_blas_claim(options->threads),
                     .x = x};
  struct gpnn_cg_options rest = *options;
  if (s.threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = GPNN_OK;
  *report = (struct gpnn_cg_report){.converged = false};
  if (columns > 1 && s.outer > 0 && s.inner > 0) status = solve(&s, b, report);
  rest.most_iterations -= s.iterations;
  if (status == GPNN_OK && !report->converged)
    status = gpnn_cg_solve(matrix, columns, b, x, &rest, NULL, report, err);
  if (status == GPNN_OK) report->iterations += s.iterations;
  return status;
}
