#include "linalg/dense.h"

#include "base/threads.h"
#include "linalg/blas.h"

/* Rows of the product that a thread computes at a time. */
enum { PANEL = 256 };

struct product {
  const struct gpnn_dense *dense;
  size_t columns;
  const double *x;
  double *y;
};

static void multiply_panel(void *context, size_t thread, size_t piece)
{
  (void)thread;
  const struct product *p = context;
  size_t first = piece * PANEL, n = p->dense->n, rows = n - first < PANEL ? n - first : PANEL;
  const double *a = p->dense->a + first * n;
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)p->columns, (int)n, 1, a,
              (int)n, p->x, (int)n, 0, p->y + first, (int)n);
}

enum gpnn_status gpnn_dense_multiply(void *dense, size_t columns, const double *x, double *y,
                                     struct gpnn_error *err)
{
  (void)err;
  struct product p = {dense, columns, x, y};
  gpnn_threads_each(p.dense->threads, (p.dense->n + PANEL - 1) / PANEL, 1, multiply_panel, &p);
  return GPNN_OK;
}

struct gpnn_cg_matrix gpnn_dense_matrix(struct gpnn_dense *dense)
{
  return (struct gpnn_cg_matrix){
      .outer = 1, .inner = dense->n, .multiply = gpnn_dense_multiply, .context = dense};
}
