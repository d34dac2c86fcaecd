/*
 * sparse_rows: matrices of few numbers a row for tests, and dense ones to compare with.
 */
#ifndef GPNN_TESTS_SPARSE_ROWS_H
#define GPNN_TESTS_SPARSE_ROWS_H

#include "linalg/blas.h"
#include "linalg/factors/sparse_factor.h"
#include "random.h"

/* Rows that grow: numbers are put into the last one, until it is ended. */
struct built_rows {
  size_t n, q, n_values;
  size_t *start;
  uint32_t *column;
  double *value;
};

/* For up to n rows of up to 'most' numbers each. */
static inline struct built_rows rows_begin(size_t n, size_t q, size_t most)
{
  struct built_rows r = {.q = q};
  r.start = gpnn_alloc(n + 1, 1, sizeof *r.start);
  r.column = gpnn_alloc(n, most, sizeof *r.column);
  r.value = gpnn_alloc(n, most, sizeof *r.value);
  assert_true(r.start != NULL && r.column != NULL && r.value != NULL);
  return r;
}

static inline void rows_put(struct built_rows *r, size_t column, double value)
{
  r->column[r->n_values] = (uint32_t)column;
  r->value[r->n_values++] = value;
}

static inline void rows_end_row(struct built_rows *r)
{
  r->start[++r->n] = r->n_values;
}

static inline struct gpnn_sparse_rows rows_view(const struct built_rows *r)
{
  return (struct gpnn_sparse_rows){r->n, r->q, r->start, r->column, r->value};
}

static inline void rows_release(struct built_rows *r)
{
  free(r->start);
  free(r->column);
  free(r->value);
}

/* The matrix itself, n by q, row-major. */
static inline double *rows_dense(const struct built_rows *r)
{
  double *dense = gpnn_alloc(r->n, r->q, sizeof *dense);
  assert_non_null(dense);
  for (size_t i = 0; i < r->n; i++)
    for (size_t p = r->start[i]; p < r->start[i + 1]; p++)
      dense[i * r->q + r->column[p]] += r->value[p];
  return dense;
}

/* Replaces a positive definite matrix (n by n, all of it) by its inverse; returns its log
 * determinant. */
static inline double dense_invert(size_t n, double *a)
{
  double sum = 0;
  assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)n), 0);
  for (size_t i = 0; i < n; i++) sum += 2 * log(a[i * n + i]);
  assert_int_equal(LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)n), 0);
  for (size_t j = 0; j < n; j++)
    for (size_t i = j + 1; i < n; i++) a[i * n + j] = a[j * n + i];
  return sum;
}

#endif
