/*
 * Solutions for a matrix that is stored, by conjugate gradients (linalg/truncated_cg.h).
 */
#include <math.h>

#include "base/threads.h"
#include "linalg/blas.h"
#include "models/inducing/diag/gradient.h"

/* Rows of the matrix that a thread multiplies at a time. */
enum { PANEL = 256 };

struct stored {
  size_t m;
  const double *matrix; /* symmetric; m by m, all of it */
  int threads;
};

struct product {
  const struct stored *stored;
  size_t columns;
  const double *x;
  double *y;
};

static void multiply_panel(void *context, size_t thread, size_t piece)
{
  const struct product *p = context;
  size_t m = p->stored->m, at = piece * PANEL, rows = m - at < PANEL ? m - at : PANEL;
  (void)thread;
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)p->columns, (int)m, 1,
              p->stored->matrix + at * m, (int)m, p->x, (int)m, 0, p->y + at, (int)m);
}

static enum gpnn_status multiply(void *context, size_t columns, const double *x, double *y,
                                 struct gpnn_error *err)
{
  const struct stored *stored = context;
  struct product product = {stored, columns, x, y};
  (void)err;
  gpnn_threads_each(stored->threads, (stored->m + PANEL - 1) / PANEL, 1, multiply_panel, &product);
  return GPNN_OK;
}

/* Adds the numbers of a report. */
static void add(const struct gpnn_truncated_cg_report *report, bool is_random,
                struct gpnn_diag_solutions *to)
{
  to->n += report->n;
  to->steps += report->steps;
  to->most = report->most > to->most ? report->most : to->most;
  to->n_capped += report->n_capped;
  to->n_refused += report->n_refused;
  if (is_random) {
    to->extra += report->tail;
    to->most_weight = fmax(to->most_weight, report->most_weight);
  } else
    to->tail += (double)report->tail;
}

enum gpnn_status gpnn_diag_solve(size_t m, const double *b_matrix, size_t columns, const double *b,
                                 double *x, const struct gpnn_diag_solver *solver, uint64_t first,
                                 int threads, struct gpnn_diag_solutions *solutions,
                                 struct gpnn_error *err)
{
  struct stored stored = {m, b_matrix, threads};
  const struct gpnn_cg_matrix matrix = {
      .outer = 1, .inner = m, .multiply = multiply, .context = &stored};
  const struct gpnn_truncated_cg_options options = {.truncation = solver->truncation,
                                                    .head = solver->head,
                                                    .tolerance = solver->tolerance,
                                                    .rate = solver->rate,
                                                    .most_steps = solver->most_steps,
                                                    .seed = solver->seed,
                                                    .first = first,
                                                    .threads = threads};
  struct gpnn_truncated_cg_report report = {0};
  enum gpnn_status status =
      gpnn_truncated_cg_solve(&matrix, columns, b, x, &options, NULL, &report, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%zu inducing points", m);
  add(&report, solver->truncation != GPNN_TRUNCATION_NONE, solutions);
  return GPNN_OK;
}
