/*
 * The Bayesian committee machine: what the other owner's rows say of the latent function at the
 * asked rows, exp(h'f - f'J f / 2), updates the asking model's posterior there (equation 18.8).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cotrain/fusion_private.h"
#include "linalg/blas.h"
#include "linalg/cholesky.h"
#include "linalg/triangular.h"

/* Arrays are owned. */
struct committee {
  const struct gpnn_fusion_system *s;
  size_t rank;          /* of the message: J = F F' */
  double *own;          /* n by n: factor L of the own rows' covariance, then the rows of L^-1 */
  double *basis;        /* q by q: eigenvectors of J; scaled, the last 'rank' are F */
  double *eigenvalue;   /* q */
  double *cross;        /* q by n, of each asked row n: X = L^-1 k */
  double *explained;    /* the same for F: X F */
  double *product;      /* q by q: K F */
  double *inner;        /* rank by rank: factor of I + F'P F, P the own posterior covariance */
  double *own_solution; /* n: L^-1 y */
  double *shift;        /* q: h */
  double *message;      /* q: F^+ h, and then the weights of F */
};

static void release(struct committee *c)
{
  double *const owned[] = {c->own,     c->basis, c->eigenvalue,   c->cross,   c->explained,
                           c->product, c->inner, c->own_solution, c->message, c->shift};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

static enum gpnn_status allocate(struct committee *c, struct gpnn_error *err)
{
  size_t n = c->s->n, q = c->s->q;
  const struct {
    double **at;
    size_t rows, columns;
  } arrays[] = {{&c->own, n, n},   {&c->basis, q, q},        {&c->eigenvalue, q, 1},
                {&c->cross, q, n}, {&c->explained, q, n},    {&c->product, q, q},
                {&c->inner, q, q}, {&c->own_solution, n, 1}, {&c->message, q, 1},
                {&c->shift, q, 1}};
  bool done = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    done =
        (*arrays[i].at = gpnn_alloc(arrays[i].rows, arrays[i].columns, sizeof(double))) != NULL &&
        done;
  return done ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR);
}

/* What BLAS takes as the leading dimension of a matrix of 'rank' rows, which may be none. */
static int leading(const struct committee *c)
{
  return c->rank > 0 ? (int)c->rank : 1;
}

/* The first of the q directions of J that matter. */
static const double *directions(const struct committee *c)
{
  return c->basis + (c->s->q - c->rank) * c->s->q;
}

/* ---- the message -------------------------------------------------------------------------- */

/* The covariance of h given f, J and the noise of privacy; its lower triangle. */
static void fill_released(void *context, double *matrix)
{
  const struct gpnn_fusion_answers *a = ((const struct committee *)context)->s->answers;
  for (size_t i = 0; i < a->n * a->n; i++) matrix[i] = a->precision[i] + a->privacy[i];
}

/* Of h with covariance J + M and mean J f: what it says of f has precision J (J + M)^-1 J. */
static enum gpnn_status discount(struct committee *c, struct gpnn_error *err)
{
  const struct gpnn_fusion_answers *a = c->s->answers;
  int q = (int)a->n;
  double *seen = c->product; /* q by q */
  enum gpnn_status status = gpnn_fusion_factor(c->s, a->n, c->inner, fill_released, c, err);
  if (status != GPNN_OK) return status;
  memcpy(seen, a->precision, a->n * a->n * sizeof *seen);
  memcpy(c->message, a->shift, a->n * sizeof *c->message);
  gpnn_cholesky_forward(a->n, c->inner, a->n, seen);
  gpnn_cholesky_forward(a->n, c->inner, 1, c->message);
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, q, q, q, 1, seen, q, seen, q, 0, c->basis,
              q);
  cblas_dgemv(CblasColMajor, CblasTrans, q, q, 1, seen, q, c->message, 1, 0, c->shift, 1);
  return GPNN_OK;
}

/* J = F F', and F^+ h, which is as exact as h itself even where J is nearly singular. */
static enum gpnn_status decompose(struct committee *c, struct gpnn_error *err)
{
  const struct gpnn_fusion_answers *a = c->s->answers;
  const double least = 1e-13, rounding = 1e-8;
  size_t q = c->s->q;
  memcpy(c->basis, a->precision, q * q * sizeof *c->basis);
  memcpy(c->shift, a->shift, q * sizeof *c->shift);
  enum gpnn_status status = a->privacy == NULL ? GPNN_OK : discount(c, err);
  if (status != GPNN_OK) return status;
  if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)q, c->basis, (lapack_int)q,
                     c->eigenvalue) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "the message's eigenvalues were not found");
  double largest = c->eigenvalue[q - 1];
  if (c->eigenvalue[0] < -rounding * fmax(largest, 0))
    return gpnn_fail(err, GPNN_EDATA, "the precision of the message is not positive semidefinite");
  while (c->rank < q && c->eigenvalue[q - 1 - c->rank] > least * largest) c->rank++;
  for (size_t j = q - c->rank; j < q; j++) {
    double *direction = c->basis + j * q, root = sqrt(c->eigenvalue[j]);
    c->message[j - (q - c->rank)] = cblas_ddot((int)q, direction, 1, c->shift, 1) / root;
    cblas_dscal((int)q, root, direction, 1);
  }
  return GPNN_OK;
}

/* ---- the own posterior -------------------------------------------------------------------- */

/* The covariance of the own rows, its lower triangle. */
static void fill_own(void *context, double *matrix)
{
  const struct gpnn_fusion_system *s = ((const struct committee *)context)->s;
  for (size_t j = 0; j < s->n; j++) {
    memcpy(matrix + j * s->n, s->k + j * s->m, s->n * sizeof *matrix);
    matrix[j * s->n + j] += s->noise[j];
  }
}

static enum gpnn_status solve_own(struct committee *c, struct gpnn_error *err)
{
  const struct gpnn_fusion_system *s = c->s;
  enum gpnn_status status = gpnn_fusion_factor(s, s->n, c->own, fill_own, c, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < s->q; j++)
    memcpy(c->cross + j * s->n, s->k + (s->n + j) * s->m, s->n * sizeof *c->cross);
  gpnn_cholesky_forward(s->n, c->own, s->q, c->cross);
  memcpy(c->own_solution, s->targets, s->n * sizeof *c->own_solution);
  gpnn_cholesky_forward(s->n, c->own, 1, c->own_solution);
  return GPNN_OK;
}

/* ---- both --------------------------------------------------------------------------------- */

static void fill_inner(void *context, double *matrix)
{
  const struct committee *c = context;
  int n = (int)c->s->n, q = (int)c->s->q, r = (int)c->rank;
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, r, r, q, 1, directions(c), q, c->product, q,
              0, matrix, leading(c));
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, r, n, -1, c->explained, n, 1, matrix,
              leading(c));
  for (int j = 0; j < r; j++) matrix[j * (r + 1)] += 1;
}

/* Factors I + F'P F, and solves it for F^+ h - F'mean, which weighs the directions. */
static enum gpnn_status update(struct committee *c, struct gpnn_error *err)
{
  const struct gpnn_fusion_system *s = c->s;
  int n = (int)s->n, m = (int)s->m, q = (int)s->q, r = (int)c->rank;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, r, q, 1, c->cross, n, directions(c), q,
              0, c->explained, n);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, q, r, q, 1, s->k + s->n * s->m + s->n, m,
              directions(c), q, 0, c->product, q);
  enum gpnn_status status = gpnn_fusion_factor(s, c->rank, c->inner, fill_inner, c, err);
  if (status != GPNN_OK) return status;
  cblas_dgemv(CblasColMajor, CblasTrans, n, r, -1, c->explained, n, c->own_solution, 1, 1,
              c->message, 1);
  gpnn_cholesky_solve(c->rank, c->inner, c->message);
  return GPNN_OK;
}

static void weigh(struct committee *c, double *weights)
{
  int n = (int)c->s->n, q = (int)c->s->q, r = (int)c->rank;
  memcpy(weights, c->own_solution, c->s->n * sizeof *weights);
  cblas_dgemv(CblasColMajor, CblasNoTrans, n, r, -1, c->explained, n, c->message, 1, 1, weights, 1);
  gpnn_cholesky_backward(c->s->n, c->own, 1, weights);
  cblas_dgemv(CblasColMajor, CblasNoTrans, q, r, 1, directions(c), q, c->message, 1, 0,
              weights + c->s->n, 1);
}

/* What the own rows take away, and then what the message takes away of the rest. */
static void make_root(struct committee *c, double *root)
{
  size_t n = c->s->n, m = c->s->m, q = c->s->q;
  double *rest = root + n * m;
  memset(root, 0, n * m * sizeof *root);
  gpnn_triangular_invert(n, c->own);
  for (size_t i = 0; i < n; i++) memcpy(root + i * m, c->own + i * n, (i + 1) * sizeof *root);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)c->rank, (int)n, (int)n, -1,
              c->explained, (int)n, c->own, (int)n, 0, rest, (int)m);
  for (size_t j = 0; j < c->rank; j++)
    memcpy(rest + j * m + n, directions(c) + j * q, q * sizeof *rest);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)c->rank, (int)m,
              1, c->inner, leading(c), rest, (int)m);
}

static enum gpnn_status predictor(struct committee *c, struct gpnn_fusion *f,
                                  struct gpnn_error *err)
{
  const struct gpnn_fusion_system *s = c->s;
  enum gpnn_status status = allocate(c, err);
  if (status == GPNN_OK) status = decompose(c, err);
  if (status == GPNN_OK) status = solve_own(c, err);
  if (status == GPNN_OK) status = update(c, err);
  if (status != GPNN_OK) return status;
  weigh(c, f->weights);
  make_root(c, f->root);
  f->rank = s->n + c->rank;
  f->score = gpnn_fusion_score(s, f->rank, f->root, f->weights);
  return GPNN_OK;
}

enum gpnn_status gpnn_fusion_committee(const struct gpnn_fusion_system *s, struct gpnn_fusion *f,
                                       struct gpnn_error *err)
{
  struct committee c = {.s = s};
  f->root = gpnn_alloc(s->m, s->m, sizeof *f->root);
  enum gpnn_status status =
      f->root == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : predictor(&c, f, err);
  release(&c);
  return status;
}
