#include "models/tucker/tucker_private.h"

#include <string.h>

#include "linalg/blas.h"

/* ---- Kronecker products -------------------------------------------------------------------- */

/* y = (A x)', x being 'columns' by 'rest' and y 'rest' by 'rows', all row-major. */
static void multiply_and_turn(size_t rows, size_t columns, size_t rest, const double *a,
                              const double *x, double *y)
{
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasTrans, (int)rest, (int)rows, (int)columns, 1, x,
              (int)rest, a, (int)columns, 0, y, (int)rows);
}

void gpnn_kronecker_multiply(size_t p, const size_t *rows, const size_t *columns,
                             const double *const *matrix, const double *x, double *y, double *work)
{
  size_t size = 1;
  for (size_t l = 0; l < p; l++) size *= columns[l];
  double *to = p % 2 == 1 ? y : work; /* the last product arrives in y */
  if (p == 0) *y = *x;
  for (size_t l = 0; l < p; l++) {
    size_t rest = size / columns[l];
    multiply_and_turn(rows[l], columns[l], rest, matrix[l], x, to);
    size = rest * rows[l];
    x = to;
    to = to == y ? work : y;
  }
}

/* ---- one vector for each mode -------------------------------------------------------------- */

/* How many numbers the modes after 'mode' span. */
static size_t rest_after(const struct gpnn_tucker_shape *shape, size_t mode)
{
  size_t rest = 1;
  for (size_t k = mode + 1; k < shape->p; k++) rest *= shape->q[k];
  return rest;
}

size_t gpnn_tucker_core_work(const struct gpnn_tucker_shape *shape)
{
  size_t size = 2 * gpnn_tucker_core_size(shape);
  for (size_t l = 0; l < shape->p && !shape->is_diagonal; l++) size += 2 * rest_after(shape, l);
  return size;
}

/* Contracts the first mode of 'tensor', q by rest, with v. */
static void contract_first(size_t q, size_t rest, const double *tensor, const double *v, double *to)
{
  for (size_t j = 0; j < rest; j++) to[j] = v[0] * tensor[j];
  for (size_t a = 1; a < q; a++)
    for (size_t j = 0; j < rest; j++) to[j] += v[a] * tensor[a * rest + j];
}

/* v kron tail. */
static void outer(size_t q, size_t rest, const double *v, const double *tail, double *to)
{
  for (size_t a = 0; a < q; a++)
    for (size_t j = 0; j < rest; j++) to[a * rest + j] = v[a] * tail[j];
}

double gpnn_tucker_core_value(const struct gpnn_tucker_shape *shape, const double *core,
                              const double *const *v, double *work)
{
  double sum = 0;
  if (shape->is_diagonal) {
    for (size_t k = 0; k < shape->q[0]; k++) {
      double product = core[k];
      for (size_t l = 0; l < shape->p; l++) product *= v[l][k];
      sum += product;
    }
    return sum;
  }
  const double *tensor = core;
  for (size_t l = 0; l < shape->p; l++) {
    size_t rest = rest_after(shape, l);
    contract_first(shape->q[l], rest, tensor, v[l], work);
    tensor = work;
    work += rest;
  }
  return *tensor;
}

static void diagonal_partials(const struct gpnn_tucker_shape *shape, const double *core,
                              const double *const *v, double *by_core, double *const *h)
{
  size_t p = shape->p;
  for (size_t k = 0; k < shape->q[0]; k++) {
    double after[GPNN_TUCKER_DIMENSIONS + 1], before = 1;
    after[p] = 1;
    for (size_t l = p; l-- > 0;) after[l] = after[l + 1] * v[l][k];
    if (by_core != NULL) by_core[k] = after[0];
    for (size_t l = 0; l < p && h != NULL; before *= v[l++][k])
      h[l][k] = core[k] * before * after[l + 1];
  }
}

/* tail[l]: v_l kron ... kron v_p, for l from 'first' on. */
static void find_tails(const struct gpnn_tucker_shape *shape, const double *const *v, size_t first,
                       double *tail[GPNN_TUCKER_DIMENSIONS + 1])
{
  *tail[shape->p] = 1;
  for (size_t l = shape->p; l-- > first;)
    outer(shape->q[l], rest_after(shape, l), v[l], tail[l + 1], tail[l]);
}

void gpnn_tucker_core_partials(const struct gpnn_tucker_shape *shape, const double *core,
                               const double *const *v, double *by_core, double *const *h,
                               double *work)
{
  if (shape->is_diagonal) {
    diagonal_partials(shape, core, v, by_core, h);
    return;
  }
  double *tail[GPNN_TUCKER_DIMENSIONS + 1] = {by_core};
  for (size_t l = 1; l <= shape->p; l++) {
    tail[l] = work;
    work += rest_after(shape, l - 1);
  }
  find_tails(shape, v, by_core == NULL ? 1 : 0, tail);
  const double *head = core; /* contracted in the modes before l */
  for (size_t l = 0; l < shape->p && h != NULL; l++) {
    size_t rest = rest_after(shape, l);
    for (size_t a = 0; a < shape->q[l]; a++) {
      h[l][a] = 0;
      for (size_t j = 0; j < rest; j++) h[l][a] += head[a * rest + j] * tail[l + 1][j];
    }
    contract_first(shape->q[l], rest, head, v[l], work);
    head = work;
    work += rest;
  }
}

/* ---- a matrix for each mode ---------------------------------------------------------------- */

/* The element-wise product of all G but that of 'mode', for a diagonal core. */
static double others_at(const struct gpnn_tucker_shape *shape, size_t mode, const double *const *g,
                        size_t at)
{
  double product = 1;
  for (size_t k = 0; k < shape->p; k++) product *= k == mode ? 1 : g[k][at];
  return product;
}

static void diagonal_multiply(const struct gpnn_tucker_shape *shape, const double *core,
                              const double *const *g, double *product)
{
  size_t q = shape->q[0];
  for (size_t k = 0; k < q; k++) {
    product[k] = 0;
    for (size_t j = 0; j < q; j++) product[k] += others_at(shape, shape->p, g, k * q + j) * core[j];
  }
}

double gpnn_tucker_core_quadratic(const struct gpnn_tucker_shape *shape, const double *core,
                                  const double *const *g, double *product, double *work)
{
  if (shape->is_diagonal)
    diagonal_multiply(shape, core, g, product);
  else
    gpnn_kronecker_multiply(shape->p, shape->q, shape->q, g, core, product, work);
  return cblas_ddot((int)gpnn_tucker_core_size(shape), core, 1, product, 1);
}

/* The numbers of one mode's index in a tensor: 'before' blocks, 'after' apart. */
struct stride {
  size_t before, after;
};

static struct stride stride_of(const struct gpnn_tucker_shape *shape, size_t mode)
{
  struct stride stride = {1, rest_after(shape, mode)};
  for (size_t k = 0; k < mode; k++) stride.before *= shape->q[k];
  return stride;
}

/* 'to' = W x_mode A, A of 'rows' by q. */
static void transform(const struct gpnn_tucker_shape *shape, size_t mode, size_t rows,
                      const double *a, const double *core, double *to)
{
  struct stride stride = stride_of(shape, mode);
  size_t q = shape->q[mode];
  for (size_t b = 0; b < stride.before; b++)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)stride.after, (int)q, 1,
                a, (int)q, core + b * q * stride.after, (int)stride.after, 0,
                to + b * rows * stride.after, (int)stride.after);
}

void gpnn_tucker_core_gram(const struct gpnn_tucker_shape *shape, size_t mode, const double *core,
                           const double *const *g, double *gram, double *work)
{
  size_t q = shape->q[mode], size = gpnn_tucker_core_size(shape);
  if (shape->is_diagonal) {
    for (size_t i = 0; i < q * q; i++)
      gram[i] = core[i / q] * core[i % q] * others_at(shape, mode, g, i);
    return;
  }
  const double *tensor = core;
  double *to = work, *next = work + size;
  for (size_t k = 0; k < shape->p; k++) {
    if (k == mode) continue;
    transform(shape, k, shape->q[k], g[k], tensor, to);
    double *done = to;
    tensor = done;
    to = next;
    next = done;
  }
  struct stride stride = stride_of(shape, mode);
  memset(gram, 0, q * q * sizeof *gram);
  for (size_t b = 0; b < stride.before; b++)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)q, (int)q, (int)stride.after, 1,
                core + b * q * stride.after, (int)stride.after, tensor + b * q * stride.after,
                (int)stride.after, 1, gram, (int)q);
}

void gpnn_tucker_core_transform(const struct gpnn_tucker_shape *shape, size_t mode, size_t rows,
                                const double *a, double *core, double *work)
{
  size_t size = gpnn_tucker_core_size(shape) / shape->q[mode] * rows;
  transform(shape, mode, rows, a, core, work);
  memcpy(core, work, size * sizeof *core);
}
