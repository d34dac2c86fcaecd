#include "vecchia/whiten.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"

enum { CHUNK = 16 }; /* rows that a thread takes at a time */

/* The least variance as a fraction of the kernel scale: that of the least jitter. */
static const double least_variance = 1e-10;

/* What a thread needs to whiten one row after another. */
struct solve {
  const struct gpnn_whiten_rows *rows;
  const struct gpnn_covariance *covariance;
  const double *lengthscale;
  size_t m;        /* neighbours of this row */
  double *columns; /* d by rows->m: scaled neighbours, one column after another */
  double *point;   /* d: one scaled row */
  double *noise;   /* m: known noise variances of the neighbours; NULL: none */
  double *k;       /* m by m: covariance, then its factor */
  double *work;    /* gpnn_cholesky_work(m) */
  double *rhs;     /* 1 + n_values by m: covariances with the row, then the neighbours' values */
  struct gpnn_jitter jitter;  /* of this thread's rows */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static bool solve_init(struct solve *s, const struct gpnn_whiten_rows *rows,
                       const struct gpnn_covariance *covariance, const double *lengthscale)
{
  *s = (struct solve){.rows = rows, .covariance = covariance, .lengthscale = lengthscale};
  s->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(s->columns, rows->d, rows->m), GPNN_ARRAY(s->point, rows->d, 1),
      GPNN_ARRAY_IF(rows->noise != NULL, s->noise, rows->m, 1), GPNN_ARRAY(s->k, rows->m, rows->m),
      GPNN_ARRAY(s->work, gpnn_cholesky_work(rows->m), 1),
      GPNN_ARRAY(s->rhs, 1 + rows->n_values, rows->m));
  return s->arrays != NULL;
}

/* Writes the lower triangle of K. */
static void fill_covariance(void *context, double *k)
{
  const struct solve *s = context;
  gpnn_covariance_matrix(s->covariance, s->m, s->rows->d, s->rows->m, s->columns, s->noise,
                         s->point, k);
}

/* Collects the neighbours of 'row': their scaled inputs, known noise and values. */
static void gather(struct solve *s, size_t row)
{
  const struct gpnn_whiten_rows *rows = s->rows;
  const int64_t *neighbours = rows->neighbours + row * rows->m;
  size_t d = rows->d, w = rows->n_values;
  for (s->m = 0; s->m < rows->m && neighbours[s->m] >= 0;) s->m++;
  for (size_t a = 0; a < s->m; a++) {
    size_t from = (size_t)neighbours[a];
    for (size_t j = 0; j < d; j++)
      s->columns[j * rows->m + a] = rows->x[from * d + j] / s->lengthscale[j];
    for (size_t v = 0; v < w; v++) s->rhs[(1 + v) * s->m + a] = rows->values[from * w + v];
    if (s->noise != NULL) s->noise[a] = rows->noise[from];
  }
}

static enum gpnn_status whiten_one(struct solve *s, size_t row, double *residuals, double *variance,
                                   double *weights, struct gpnn_error *err)
{
  const struct gpnn_whiten_rows *rows = s->rows;
  size_t d = rows->d, w = rows->n_values;
  double jitter = 0, scale = s->covariance->kernelscale;
  double noise = s->covariance->noise + (rows->noise == NULL ? 0 : rows->noise[row]);
  gather(s, row);
  fill_covariance(s, s->k);
  enum gpnn_status status =
      gpnn_cholesky_factor(s->m, s->k, s->work, scale, fill_covariance, s, &jitter, err);
  if (status != GPNN_OK) return status;
  gpnn_jitter_note(&s->jitter, jitter > 0, jitter);
  for (size_t j = 0; j < d; j++) s->point[j] = rows->x[row * d + j] / s->lengthscale[j];
  gpnn_covariance_vector(s->covariance, s->m, d, rows->m, s->columns, s->point, s->rhs);
  gpnn_cholesky_forward(s->m, s->k, 1 + w, s->rhs);
  int m = (int)s->m;
  *variance =
      fmax(scale + noise + jitter - cblas_ddot(m, s->rhs, 1, s->rhs, 1), least_variance * scale);
  for (size_t v = 0; v < w; v++)
    residuals[v] = rows->values[row * w + v] - cblas_ddot(m, s->rhs, 1, s->rhs + (1 + v) * s->m, 1);
  if (weights == NULL) return GPNN_OK;
  gpnn_cholesky_backward(s->m, s->k, 1, s->rhs);
  for (size_t a = 0; a < rows->m; a++) weights[a] = a < s->m ? s->rhs[a] : 0;
  return GPNN_OK;
}

/* What all threads share. */
struct whitening {
  const struct gpnn_whiten_rows *rows;
  const struct gpnn_covariance *covariance;
  const double *lengthscale;
  size_t begin;                            /* the first row */
  double *residuals, *variances, *weights; /* the last may be NULL */
  struct solve *solves;                    /* owned; one per thread, made when first needed */
};

/* Whitens row begin + i. */
static enum gpnn_status whiten_row(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  const struct whitening *w = context;
  struct solve *solve = &w->solves[thread];
  if (solve->rows == NULL && !solve_init(solve, w->rows, w->covariance, w->lengthscale))
    return gpnn_fail_memory(err, "for whitening");
  return whiten_one(solve, w->begin + i, w->residuals + i * w->rows->n_values, w->variances + i,
                    w->weights == NULL ? NULL : w->weights + i * w->rows->m, err);
}

enum gpnn_status gpnn_whiten(const struct gpnn_whiten_rows *rows,
                             const struct gpnn_covariance *covariance, const double *lengthscale,
                             size_t begin, size_t end, struct gpnn_team *team, int threads,
                             double *residuals, double *variances, double *weights,
                             struct gpnn_jitter *jitter, struct gpnn_error *err)
{
  struct whitening w = {rows, covariance, lengthscale, begin, residuals, variances, weights, NULL};
  threads = gpnn_threads_for(threads, end - begin);
  w.solves = gpnn_alloc((size_t)threads, 1, sizeof *w.solves);
  if (w.solves == NULL) return gpnn_fail_memory(err, "for whitening");
  enum gpnn_status status = gpnn_team_try(team, threads, end - begin, CHUNK, whiten_row, &w, err);
  for (int t = 0; t < threads; t++) {
    gpnn_jitter_note(jitter, w.solves[t].jitter.n, w.solves[t].jitter.most);
    gpnn_arrays_free(w.solves[t].arrays);
  }
  free(w.solves);
  return status;
}
