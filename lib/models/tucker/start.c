#include "models/tucker/tucker_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "linalg/blas.h"

/* ---- points -------------------------------------------------------------------------------- */

/* Writes 'm' points from 'low' to 'high', if there is room between them. */
static size_t space_equally(double low, double high, size_t m, double *points)
{
  if (!(high > low) || m == 1) {
    *points = 0.5 * (low + high);
    return 1;
  }
  for (size_t j = 0; j < m; j++) points[j] = low + (high - low) * ((double)j / (double)(m - 1));
  return m;
}

/* Drops points that are not clearly above the one before. */
static size_t drop_equal(size_t m, double *points)
{
  size_t kept = 1;
  double least = 1e-6 * (points[m - 1] - points[0]);
  for (size_t j = 1; j < m; j++)
    if (points[j] > points[kept - 1] + least) points[kept++] = points[j];
  return kept;
}

size_t gpnn_tucker_place(size_t n, size_t p, size_t l, const double *x, bool at_quantiles,
                         double margin, size_t m, double *points)
{
  double *sorted = gpnn_alloc(n, 1, sizeof *sorted);
  if (sorted == NULL) return SIZE_MAX;
  for (size_t i = 0; i < n; i++) sorted[i] = x[i * p + l];
  qsort(sorted, n, sizeof *sorted, gpnn_compare_doubles);
  double beyond = margin * (sorted[n - 1] - sorted[0]);
  size_t placed = space_equally(sorted[0] - beyond, sorted[n - 1] + beyond, m, points);
  if (at_quantiles && placed > 1) {
    for (size_t j = 1; j + 1 < m; j++)
      points[j] = sorted[(size_t)((double)j / (double)(m - 1) * (double)(n - 1) + 0.5)];
    placed = drop_equal(m, points);
  }
  free(sorted);
  return placed;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static double log_lengthscale(const struct gpnn_tucker *t, size_t l, double factor)
{
  size_t m = t->shape.m[l];
  double spacing = m < 2 ? 0 : (t->points[l][m - 1] - t->points[l][0]) / (double)(m - 1);
  double lower, upper;
  gpnn_tucker_limit_lengthscale(t, l, &lower, &upper);
  return fmin(fmax(log(factor * fmax(1, spacing)), lower), upper);
}

/* U_l: the leading eigenvectors of R_l over the roots of their eigenvalues, and noise. */
static enum gpnn_status begin_factor(struct gpnn_tucker *t, const double *r, size_t l,
                                     struct gpnn_rng *rng, struct gpnn_error *err)
{
  size_t m = t->shape.m[l], q = t->shape.q[l];
  double *vectors = gpnn_alloc(m, m + 1, sizeof *vectors), *u = t->numbers + t->factor[l];
  if (vectors == NULL) return gpnn_fail_memory(err, "for a grid of inducing points");
  double *values = vectors + m * m;
  memcpy(vectors, r, m * m * sizeof *vectors);
  lapack_int info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', (int)m, vectors, (int)m, values);
  for (size_t j = 0; j < m && info == 0; j++)
    for (size_t a = 0; a < q; a++) {
      bool has_vector = a < m && !t->shape.is_diagonal;
      double noise = gpnn_rng_normal(rng);
      u[j * q + a] = has_vector
                         ? vectors[(m - 1 - a) * m + j] / sqrt(values[m - 1 - a]) + 0.01 * noise
                         : 0.3 * noise;
    }
  free(vectors);
  return info == 0 ? GPNN_OK
                   : gpnn_fail(err, GPNN_ENUMERIC, "a grid's eigenvectors cannot be found");
}

enum gpnn_status gpnn_tucker_begin(struct gpnn_tucker *tucker, uint64_t seed, double factor,
                                   double core_scale, struct gpnn_error *err)
{
  struct gpnn_tucker_matrices matrices;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_TUCKER_BEGIN);
  for (size_t l = 0; l < tucker->shape.p; l++)
    tucker->numbers[tucker->lengthscale + l] = log_lengthscale(tucker, l, factor);
  memset(tucker->numbers + tucker->rho[0], 0, tucker->n_grid * sizeof(double));
  enum gpnn_status status = gpnn_tucker_matrices_new(&matrices, tucker, err);
  if (status == GPNN_OK) status = gpnn_tucker_matrices_escalate(&matrices, tucker, err);
  for (size_t i = 0; i < tucker->n_core && status == GPNN_OK; i++)
    tucker->numbers[i] = core_scale * gpnn_rng_normal(&rng) / sqrt((double)tucker->n_core);
  for (size_t l = 0; l < tucker->shape.p && status == GPNN_OK; l++)
    status = begin_factor(tucker, matrices.dimension[l].r, l, &rng, err);
  gpnn_tucker_matrices_release(&matrices);
  return status;
}

/* ---- lengthscales, by rows left out -------------------------------------------------------- */

/* Rows that are compared on, at most and at least; sweeps of a start, and of a change of one
 * lengthscale; rounds of such changes. */
enum { MOST_ROWS = 20000, LEAST_ROWS = 50, START_SWEEPS = 8, CHANGE_SWEEPS = 4, ROUNDS = 2 };

/* A change has to be better by this share, and by the share that chance alone would give it about
 * every third time: 4 over the rows compared on. */
#define BETTER 0.002

struct choice {
  struct gpnn_tucker *t;
  const struct gpnn_tucker_groups *groups;
  struct gpnn_tucker_data rows, left_out;
  struct gpnn_tucker_als *als;     /* owned */
  struct gpnn_tucker_bound *bound; /* owned */
  double share;                    /* of the squares so far that better ones are at most */
  double squares;                  /* of the rows left out, at the best so far */
  double *best;                    /* owned; its numbers */
};

static void release(struct choice *c)
{
  gpnn_tucker_als_free(c->als);
  gpnn_tucker_bound_free(c->bound);
  free(c->best);
}

static enum gpnn_status prepare(struct choice *c, struct gpnn_error *err)
{
  c->best = gpnn_alloc(c->t->n_numbers, 1, sizeof *c->best);
  if (c->best == NULL) return gpnn_fail_memory(err, "for a grid of inducing points");
  int threads = c->rows.threads;
  enum gpnn_status status =
      gpnn_tucker_als_new(&c->als, c->t, GPNN_TUCKER_MOST_DENSE, threads, err);
  return status == GPNN_OK ? gpnn_tucker_bound_new(&c->bound, c->t, threads, err) : status;
}

/* Sweeps, and keeps the numbers if they predict the rows left out clearly better. */
static enum gpnn_status try(struct choice *c, size_t sweeps, bool *is_better,
                            struct gpnn_error *err)
{
  struct gpnn_tucker_value value;
  bool has_covariance = c->t->has_covariance;
  *is_better = false;
  c->t->has_covariance = false; /* which has nothing to do with the mean */
  enum gpnn_status status = gpnn_tucker_als_set(c->als, c->t, err);
  for (size_t s = 0; s < sweeps && status == GPNN_OK; s++)
    status = gpnn_tucker_als_sweep(c->als, c->t, &c->rows, err);
  if (status == GPNN_OK) status = gpnn_tucker_als_core(c->als, c->t, &c->rows, err);
  if (status == GPNN_OK)
    status = gpnn_tucker_bound_at(c->bound, c->t, &c->left_out, &value, NULL, err);
  c->t->has_covariance = has_covariance;
  if (status != GPNN_OK) return status == GPNN_ENUMERIC ? GPNN_OK : status; /* no candidate */
  if (!(value.squares < c->share * c->squares)) return GPNN_OK;
  *is_better = true;
  c->squares = value.squares;
  memcpy(c->best, c->t->numbers, c->t->n_numbers * sizeof *c->best);
  return GPNN_OK;
}

static enum gpnn_status try_starts(struct choice *c, uint64_t seed, struct gpnn_error *err)
{
  const double factor[] = {1, 0.5, 0.25, 2};
  enum gpnn_status status = GPNN_OK;
  bool is_better;
  c->squares = INFINITY;
  for (size_t f = 0; f < sizeof factor / sizeof *factor && status == GPNN_OK; f++) {
    status = gpnn_tucker_begin(c->t, seed, factor[f], 0, err);
    if (status == GPNN_OK) status = try(c, START_SWEEPS, &is_better, err);
  }
  return status;
}

/* Doubles or halves the lengthscale of one group. */
static enum gpnn_status try_change(struct choice *c, size_t group, double change, bool *is_better,
                                   struct gpnn_error *err)
{
  double lower[2], upper[2];
  memcpy(c->t->numbers, c->best, c->t->n_numbers * sizeof *c->best);
  *is_better = false;
  for (size_t l = 0; l < c->t->shape.p; l++) {
    double *log_lengthscale = &c->t->numbers[c->t->lengthscale + l];
    if (c->groups->group[l] != group) continue;
    gpnn_tucker_limit_lengthscale(c->t, l, lower, upper);
    *log_lengthscale = fmin(fmax(*log_lengthscale + change, *lower), *upper);
  }
  return try(c, CHANGE_SWEEPS, is_better, err);
}

static enum gpnn_status try_changes(struct choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t round = 0; round < ROUNDS; round++)
    for (size_t g = 0; g < c->groups->n && status == GPNN_OK; g++) {
      bool is_better;
      status = try_change(c, g, -log(2), &is_better, err);
      if (status == GPNN_OK && !is_better) status = try_change(c, g, log(2), &is_better, err);
    }
  return status;
}

enum gpnn_status gpnn_tucker_choose(struct gpnn_tucker *tucker, const struct gpnn_tucker_data *data,
                                    const struct gpnn_tucker_groups *groups, uint64_t seed,
                                    struct gpnn_error *err)
{
  size_t n = data->n < MOST_ROWS ? data->n : MOST_ROWS, n_left = n / 5;
  if (n < LEAST_ROWS) return gpnn_tucker_begin(tucker, seed, 1, 0, err);
  struct choice c = {.t = tucker, .groups = groups, .rows = *data};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_TUCKER_SAMPLE);
  uint64_t *row = gpnn_alloc(n, 1, sizeof *row);
  if (row == NULL) return gpnn_fail_memory(err, "for rows of a grid");
  enum gpnn_status status = gpnn_rng_sample(&rng, data->n, n, row, err);
  c.rows.row = row;
  c.rows.n = n - n_left;
  c.left_out = c.rows;
  c.left_out.row = row + c.rows.n;
  c.left_out.n = n_left;
  c.share = 1 - fmax(BETTER, 4 / (double)n_left);
  if (status == GPNN_OK) status = prepare(&c, err);
  if (status == GPNN_OK) status = try_starts(&c, seed, err);
  if (status == GPNN_OK && isfinite(c.squares)) {
    status = try_changes(&c, err);
    memcpy(tucker->numbers, c.best, tucker->n_numbers * sizeof *c.best);
  }
  release(&c);
  free(row);
  return status;
}
