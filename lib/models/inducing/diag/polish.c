#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/iterative/probes.h"
#include "models/inducing/diag/diag_private.h"

enum { MOST_STEPS = 50, PROBES = 32 };

/* A step is this times the derivative, which counts up to MOST; once none is larger than ENOUGH,
 * rho is good enough. */
static const double step = 0.5, most = 2, enough = 0.01;

size_t gpnn_diag_affordable_rows(const struct gpnn_diag_problem *problem)
{
  double m = (double)problem->m, rows = fmax(GPNN_DIAG_MOST_OPERATIONS / (m * m), 2 * m);
  return rows < (double)problem->n ? (size_t)rows : problem->n;
}

/* ---- the matrix N, which rho does not change ---------------------------------------------- */

/* Rows of Kfu, times the root of their weights. */
static void weigh_tile(void *context, size_t thread, size_t piece)
{
  const struct gpnn_diag_pass *pass = context;
  struct gpnn_diag_piece b = gpnn_diag_begin(pass, thread, piece, false);
  size_t m = pass->diag->problem.m;
  double *kept = pass->diag->rows + piece * GPNN_CROSS_TILE * m;
  for (size_t i = 0; i < b.n; i++) {
    double root = sqrt(gpnn_diag_weight(pass, gpnn_diag_row(pass, b.first + i)));
    for (size_t j = 0; j < m; j++) kept[i * m + j] = root * b.tile->k[i * m + j];
  }
}

/* N = Kuu + Kuf W Kfu, to diag->middle, from 'n' rows evenly spaced. */
static void fill_middle(struct gpnn_diag *diag, const double *point, size_t n, uint64_t *row)
{
  const struct gpnn_diag_problem *p = &diag->problem;
  struct gpnn_diag_batch batch = {n, row, n == 0 ? 1 : (double)p->n / (double)n};
  struct gpnn_diag_pass pass = {.diag = diag,
                                .batch = &batch,
                                .points = {n, p->x, row},
                                .point = point,
                                .partial = diag->partial,
                                .keeps_rows = true};
  for (size_t i = 0; i < n; i++) row[i] = (uint64_t)((double)i * batch.scale);
  gpnn_diag_fill(diag, NULL, diag->middle);
  gpnn_diag_pass_over(&pass, n, weigh_tile, NULL);
  gpnn_diag_symmetrise(diag);
}

/* ---- derivatives by rho ------------------------------------------------------------------- */

struct polish {
  struct gpnn_diag *diag;
  const struct gpnn_diag_options *options;
  double *point;
  struct gpnn_diag_batch batch;
  struct gpnn_diag_probes probes;
  double *gradient; /* of all numbers of the point */
  struct gpnn_diag_solutions *solutions;
};

/* From B^-1, and N in diag->middle. */
static enum gpnn_status derive_exactly(struct polish *p, struct gpnn_error *err)
{
  struct gpnn_diag *diag = p->diag;
  size_t m = diag->problem.m;
  double logdet, *derivative = p->gradient + gpnn_diag_rho(&diag->problem);
  const double *rho = p->point + gpnn_diag_rho(&diag->problem);
  enum gpnn_status status = gpnn_diag_invert(diag, p->point, &logdet, err);
  for (size_t first = 0; first < m && status == GPNN_OK; first += GPNN_DIAG_BLOCK) {
    size_t n = m - first < GPNN_DIAG_BLOCK ? m - first : GPNN_DIAG_BLOCK;
    gpnn_diag_multiply(diag, n, diag->inverse + first * m, diag->middle, diag->rows);
    for (size_t i = 0; i < n; i++) {
      size_t j = first + i;
      double middle = cblas_ddot((int)m, diag->rows + i * m, 1, diag->inverse + j * m, 1);
      derivative[j] = (1 - exp(rho[j]) * (diag->inverse[j * m + j] + middle)) / 2;
    }
  }
  return status;
}

static enum gpnn_status derive_by_probes(struct polish *p, struct gpnn_error *err)
{
  const struct gpnn_diag_problem *problem = &p->diag->problem;
  const struct gpnn_diag_solver solver = {.truncation = GPNN_TRUNCATION_NONE,
                                          .head = p->options->head,
                                          .tolerance = fmin(p->options->tolerance, 1e-6),
                                          .most_steps = gpnn_diag_most_steps(problem)};
  return gpnn_diag_estimate(p->diag, p->point, &p->batch, &p->probes, &solver, 0, p->gradient,
                            p->solutions, err);
}

/* Moves rho; true once no derivative is large, or it would leave the bounds. */
static bool move(struct polish *p, const double *lower, const double *upper)
{
  const struct gpnn_diag_problem *problem = &p->diag->problem;
  size_t first = gpnn_diag_rho(problem);
  bool done = true;
  for (size_t j = first; j < first + problem->m; j++) {
    double by = step * fmin(fmax(p->gradient[j], -most), most), before = p->point[j];
    p->point[j] = fmin(fmax(before + by, lower[j]), upper[j]);
    if (fabs(p->point[j] - before) > step * enough) done = false;
  }
  return done;
}

static enum gpnn_status polish(struct polish *p, bool exactly, const double *lower,
                               const double *upper, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  bool done = false;
  for (size_t t = 0; t < MOST_STEPS && !done && status == GPNN_OK; t++) {
    status = exactly ? derive_exactly(p, err) : derive_by_probes(p, err);
    if (status == GPNN_OK) done = move(p, lower, upper);
  }
  return status;
}

enum gpnn_status gpnn_diag_polish_covariance(struct gpnn_diag *diag,
                                             const struct gpnn_diag_options *options, double *point,
                                             struct gpnn_diag_report *report,
                                             struct gpnn_error *err)
{
  const struct gpnn_diag_problem *problem = &diag->problem;
  size_t size = gpnn_diag_size(problem), n = gpnn_diag_affordable_rows(problem);
  double *gradient = gpnn_alloc(size, 3, sizeof *gradient);
  double *probes = gpnn_alloc(PROBES, problem->m, sizeof *probes);
  uint64_t *row = gpnn_alloc(n, 1, sizeof *row);
  struct polish p = {diag,     options,           point, {problem->n, NULL, 1}, {PROBES, probes},
                     gradient, &report->solutions};
  enum gpnn_status status = GPNN_OK;
  if (gradient == NULL || probes == NULL || row == NULL) {
    status = gpnn_fail_memory(err, "for a covariance");
    goto out;
  }
  gpnn_diag_bounds(problem, exp(point[gpnn_diag_kernelscale(problem)]), gradient + size,
                   gradient + 2 * size);
  gpnn_diag_set(diag, point);
  if (report->cholesky) {
    status = gpnn_diag_reserve(diag, err);
    if (status == GPNN_OK) fill_middle(diag, point, n, row);
  } else {
    gpnn_probes_draw(GPNN_PROBES_SIGNS, options->seed, UINT64_MAX - PROBES, 1, PROBES, problem->m,
                     NULL, problem->threads, probes);
  }
  if (status == GPNN_OK)
    status = polish(&p, report->cholesky, gradient + size, gradient + 2 * size, err);
out:
  free(gradient);
  free(probes);
  free(row);
  return status;
}
