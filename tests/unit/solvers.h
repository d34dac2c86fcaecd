/*
 * solvers: a dense positive definite matrix as iterative solvers see it, by products only.
 */
#ifndef GPNN_TESTS_SOLVERS_H
#define GPNN_TESTS_SOLVERS_H

#include "linalg/blas.h"
#include "linalg/iterative/cg.h"
#include "random.h"

/* An n by n matrix whose element e of vector j of a block is where linalg/iterative/cg.h says. */
struct dense_matrix {
  size_t outer, inner, n;
  double *a;         /* n by n, symmetric */
  double *inverse;   /* of the preconditioner, or NULL */
  size_t n_products; /* columns that it was multiplied by, in all */
  size_t n_most;     /* fails after so many calls, unless 0 */
};

static inline size_t block_at(size_t inner, size_t columns, size_t element, size_t j)
{
  return (element / inner * columns + j) * inner + element % inner;
}

static inline void dense_product(const struct dense_matrix *m, const double *a, size_t columns,
                                 const double *x, double *y)
{
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < m->n; i++) {
      double sum = 0;
      for (size_t k = 0; k < m->n; k++)
        sum += a[k * m->n + i] * x[block_at(m->inner, columns, k, j)];
      y[block_at(m->inner, columns, i, j)] = sum;
    }
}

static inline enum gpnn_status dense_multiply(void *context, size_t columns, const double *x,
                                              double *y, struct gpnn_error *err)
{
  struct dense_matrix *m = context;
  m->n_products += columns;
  if (m->n_most > 0 && m->n_products > m->n_most)
    return gpnn_fail(err, GPNN_EIO, "the product is out of order");
  dense_product(m, m->a, columns, x, y);
  return GPNN_OK;
}

static inline enum gpnn_status dense_precondition(void *context, size_t columns, const double *x,
                                                  double *y, struct gpnn_error *err)
{
  (void)err;
  const struct dense_matrix *m = context;
  dense_product(m, m->inverse, columns, x, y);
  return GPNN_OK;
}

/* exp(-distance^2 / 2) between points at random in the square of side 'side', plus 'noise'. */
static inline struct dense_matrix smooth_matrix(size_t outer, size_t inner, double side,
                                                double noise)
{
  struct dense_matrix m = {.outer = outer, .inner = inner, .n = outer * inner};
  struct gpnn_rng rng = seeded(m.n);
  double *at = gpnn_alloc(m.n, 2, sizeof *at);
  m.a = gpnn_alloc(m.n, m.n, sizeof *m.a);
  assert_true(at != NULL && m.a != NULL);
  for (size_t i = 0; i < 2 * m.n; i++) at[i] = side * gpnn_rng_uniform(&rng);
  for (size_t i = 0; i < m.n; i++)
    for (size_t k = 0; k < m.n; k++) {
      double x = at[2 * i] - at[2 * k], y = at[2 * i + 1] - at[2 * k + 1];
      m.a[k * m.n + i] = exp(-(x * x + y * y) / 2) + (i == k ? noise : 0);
    }
  free(at);
  return m;
}

static inline void dense_release(struct dense_matrix *m)
{
  free(m->a);
  free(m->inverse);
}

static inline struct gpnn_cg_matrix as_cg_matrix(struct dense_matrix *m)
{
  return (struct gpnn_cg_matrix){.outer = m->outer,
                                 .inner = m->inner,
                                 .multiply = dense_multiply,
                                 .precondition = m->inverse == NULL ? NULL : dense_precondition,
                                 .context = m};
}

/* The lower triangle of the Cholesky factor, by LAPACK, to be freed. */
static inline double *lapack_factor(size_t n, const double *a)
{
  double *factor = gpnn_alloc(n, n, sizeof *factor);
  assert_non_null(factor);
  memcpy(factor, a, n * n * sizeof *factor);
  assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)n, factor, (int)n), 0);
  return factor;
}

/* A^-1 b by LAPACK for a block of vectors, to be freed. */
static inline double *lapack_solve(const struct dense_matrix *m, size_t columns, const double *b)
{
  double *factor = lapack_factor(m->n, m->a), *x = gpnn_alloc(m->n, columns, sizeof *x),
         *one = gpnn_alloc(m->n, 1, sizeof *one);
  assert_true(x != NULL && one != NULL);
  for (size_t j = 0; j < columns; j++) {
    for (size_t i = 0; i < m->n; i++) one[i] = b[block_at(m->inner, columns, i, j)];
    assert_int_equal(
        LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', (int)m->n, 1, factor, (int)m->n, one, (int)m->n), 0);
    for (size_t i = 0; i < m->n; i++) x[block_at(m->inner, columns, i, j)] = one[i];
  }
  free(factor);
  free(one);
  return x;
}

/* log |A| by LAPACK. */
static inline double lapack_logdet(size_t n, const double *a)
{
  double *factor = lapack_factor(n, a), sum = 0;
  for (size_t i = 0; i < n; i++) sum += 2 * log(factor[i * n + i]);
  free(factor);
  return sum;
}

/* Jacobi's preconditioner, made to differ from a multiple of the unit matrix. */
static inline void give_preconditioner(struct dense_matrix *m)
{
  m->inverse = gpnn_alloc(m->n, m->n, sizeof *m->inverse);
  assert_non_null(m->inverse);
  for (size_t i = 0; i < m->n; i++) m->inverse[i * m->n + i] = 1 + (double)(i % 3);
}

static inline struct gpnn_cg_options within(double tolerance)
{
  return (struct gpnn_cg_options){.tolerance = tolerance, .most_iterations = 1000, .threads = 1};
}

#endif
