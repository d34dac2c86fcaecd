#include "linalg/arrays.h"
#include "models/inducing/inducing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/factors/pivoted_cholesky.h"

#define MEMORY_FOR "to choose inducing points"

/* Rows of the sample for each point, and at least; rows that a thread takes at a time, and steps of
 * k-means. */
enum { PER_POINT = 20, LEAST_ROWS = 10000, GREEDY_PER_POINT = 8, LEAST_GREEDY = 2000 };
enum { PIECE = 256, STEPS = 5 };

/* ---- equal points ------------------------------------------------------------------------- */

/* A point and its number. */
struct numbered {
  const double *x;
  size_t d, number;
};

/* By coordinates, then by number. */
static int compare_points(const void *a, const void *b)
{
  const struct numbered *p = a, *q = b;
  for (size_t l = 0; l < p->d; l++)
    if (p->x[l] != q->x[l]) return p->x[l] < q->x[l] ? -1 : 1;
  return p->number < q->number ? -1 : p->number > q->number;
}

static bool are_equal(size_t d, const double *a, const double *b)
{
  for (size_t l = 0; l < d; l++)
    if (a[l] != b[l]) return false;
  return true;
}

/* Marks each of n points of 'x' that is the first of those equal to it. */
static enum gpnn_status mark_first(size_t n, size_t d, const double *x, bool *is_first,
                                   struct gpnn_error *err)
{
  struct numbered *points = gpnn_alloc(n, 1, sizeof *points);
  if (points == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < n; i++) points[i] = (struct numbered){x + i * d, d, i};
  if (n > 0) qsort(points, n, sizeof *points, compare_points);
  for (size_t i = 0; i < n; i++)
    is_first[points[i].number] = i == 0 || !are_equal(d, points[i].x, points[i - 1].x);
  free(points);
  return GPNN_OK;
}

enum gpnn_status gpnn_inducing_distinct(size_t m, size_t d, double *z, size_t *n_distinct,
                                        struct gpnn_error *err)
{
  bool *is_first = gpnn_alloc(m, 1, sizeof *is_first);
  if (is_first == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = mark_first(m, d, z, is_first, err);
  size_t kept = 0;
  for (size_t j = 0; j < m && status == GPNN_OK; j++)
    if (is_first[j]) memmove(z + kept++ * d, z + j * d, d * sizeof *z);
  if (status == GPNN_OK) *n_distinct = kept;
  free(is_first);
  return status;
}

/* ---- rows to choose from ------------------------------------------------------------------ */

/* Different rows of the sample; all arrays are owned. */
struct rows {
  size_t n, d;
  double *x;                  /* n by d, standardised */
  double *columns;            /* d by n: over lengthscales, one input after another */
  double *scaled;             /* n by d: the same, row-major */
  double *inverse;            /* d: one over the lengthscales */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static void scale_rows(struct rows *rows, const struct gpnn_dataset *view,
                       const struct gpnn_covariance *covariance)
{
  gpnn_covariance_expand(covariance, rows->d, view->group, rows->inverse);
  for (size_t l = 0; l < rows->d; l++) rows->inverse[l] = 1 / rows->inverse[l];
  for (size_t i = 0; i < rows->n; i++)
    for (size_t l = 0; l < rows->d; l++)
      rows->columns[l * rows->n + i] = rows->scaled[i * rows->d + l] =
          rows->x[i * rows->d + l] * rows->inverse[l];
}

/* Copies 'n' random rows of the view, or all of them in their order. */
static enum gpnn_status copy_rows(const struct gpnn_dataset *view, size_t n, struct gpnn_rng *rng,
                                  double *x, struct gpnn_error *err)
{
  uint64_t *number = gpnn_alloc(n, 1, sizeof *number);
  if (number == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = n < view->n ? gpnn_rng_sample(rng, view->n, n, number, err) : GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    size_t row = n < view->n ? (size_t)number[i] : i;
    memcpy(x + i * view->d, view->x + row * view->d, view->d * sizeof *x);
  }
  free(number);
  return status;
}

/* Draws at most 'most' rows, of which equal ones are taken once.  'rows' is released by the caller,
 * also after a failure. */
static enum gpnn_status rows_draw(struct rows *rows, const struct gpnn_dataset *view,
                                  const struct gpnn_covariance *covariance, size_t most,
                                  struct gpnn_rng *rng, struct gpnn_error *err)
{
  size_t n = view->n < most ? view->n : most, d = view->d;
  *rows = (struct rows){.n = n, .d = d};
  if (n == 0) return gpnn_fail(err, GPNN_EDATA, "no rows to choose inducing points from");
  rows->arrays = GPNN_ARRAYS(GPNN_ARRAY(rows->x, n, d), GPNN_ARRAY(rows->columns, n, d),
                             GPNN_ARRAY(rows->scaled, n, d), GPNN_ARRAY(rows->inverse, d, 1));
  if (rows->arrays == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = copy_rows(view, n, rng, rows->x, err);
  if (status == GPNN_OK) status = gpnn_inducing_distinct(n, d, rows->x, &rows->n, err);
  if (status == GPNN_OK) scale_rows(rows, view, covariance);
  return status;
}

/* Writes the points at the m rows with these numbers. */
static void take_rows(const struct rows *rows, size_t m, const uint64_t *number, double *z)
{
  for (size_t j = 0; j < m; j++)
    memcpy(z + j * rows->d, rows->x + number[j] * rows->d, rows->d * sizeof *z);
}

/* ---- at random ---------------------------------------------------------------------------- */

static enum gpnn_status choose_subset(const struct rows *rows, size_t m, struct gpnn_rng *rng,
                                      double *z, struct gpnn_error *err)
{
  uint64_t *number = gpnn_alloc(m, 1, sizeof *number);
  if (number == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = gpnn_rng_sample(rng, rows->n, m, number, err);
  if (status == GPNN_OK) take_rows(rows, m, number, z);
  free(number);
  return status;
}

/* ---- by conditional variance -------------------------------------------------------------- */

struct correlations {
  const struct rows *rows;
  const struct gpnn_covariance *covariance;
};

static enum gpnn_status correlation_row(void *context, size_t i, double *row,
                                        struct gpnn_error *err)
{
  const struct correlations *c = context;
  const struct rows *rows = c->rows;
  (void)err;
  gpnn_kernel_distances(rows->n, rows->d, rows->n, rows->columns, rows->scaled + i * rows->d, row);
  gpnn_kernel_correlate(c->covariance->kernel, c->covariance->smoothness, rows->n, row);
  return GPNN_OK;
}

/* Appends rows in random order to the first n_taken of 'number', until there are m. */
static enum gpnn_status fill_up(const struct rows *rows, size_t m, size_t n_taken,
                                struct gpnn_rng *rng, uint64_t *number, struct gpnn_error *err)
{
  uint64_t *order = gpnn_alloc(rows->n, 1, sizeof *order);
  bool *is_taken = gpnn_alloc(rows->n, 1, sizeof *is_taken);
  enum gpnn_status status = order == NULL || is_taken == NULL
                                ? gpnn_fail_memory(err, MEMORY_FOR)
                                : gpnn_rng_sample(rng, rows->n, rows->n, order, err);
  for (size_t j = 0; j < n_taken && status == GPNN_OK; j++) is_taken[number[j]] = true;
  for (size_t i = 0; i < rows->n && n_taken < m && status == GPNN_OK; i++)
    if (!is_taken[order[i]]) number[n_taken++] = order[i];
  free(order);
  free(is_taken);
  return status;
}

static enum gpnn_status choose_greedy(const struct rows *rows,
                                      const struct gpnn_covariance *covariance, size_t m,
                                      struct gpnn_rng *rng, int threads, double *z,
                                      struct gpnn_error *err)
{
  struct correlations correlations = {rows, covariance};
  struct gpnn_pivoted_cholesky factor = {0};
  double *diagonal = gpnn_alloc(rows->n, 1, sizeof *diagonal);
  uint64_t *number = gpnn_alloc(m, 1, sizeof *number);
  enum gpnn_status status = GPNN_OK;
  if (diagonal == NULL || number == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < rows->n && status == GPNN_OK; i++) diagonal[i] = 1;
  const struct gpnn_pivoted_matrix matrix = {rows->n, diagonal, correlation_row, &correlations};
  if (status == GPNN_OK) status = gpnn_pivoted_cholesky(&matrix, m, 0, threads, &factor, err);
  for (size_t j = 0; j < factor.rank && status == GPNN_OK; j++) number[j] = factor.pivot[j];
  if (status == GPNN_OK) status = fill_up(rows, m, factor.rank, rng, number, err);
  if (status == GPNN_OK) take_rows(rows, m, number, z);
  gpnn_pivoted_cholesky_release(&factor);
  free(diagonal);
  free(number);
  return status;
}

/* ---- k-means++ ---------------------------------------------------------------------------- */

/* Clusters; all arrays are owned. */
struct clusters {
  const struct rows *rows;
  size_t m;
  double *least;              /* n: squared distance to the nearest centre; then scratch memory */
  double *centres;            /* d by m: over lengthscales, one input after another */
  double *sums;               /* m by d: of the rows of each cluster, standardised */
  double *distances;          /* threads by m */
  size_t *of, *count;         /* n: the cluster of each row; m: their sizes */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status clusters_new(struct clusters *c, const struct rows *rows, size_t m,
                                     size_t threads, struct gpnn_error *err)
{
  *c = (struct clusters){.rows = rows, .m = m};
  c->arrays = GPNN_ARRAYS(GPNN_ARRAY(c->least, rows->n, 2), GPNN_ARRAY(c->centres, rows->d, m),
                          GPNN_ARRAY(c->sums, m, rows->d), GPNN_ARRAY(c->distances, threads, m),
                          GPNN_ARRAY(c->of, rows->n, 1), GPNN_ARRAY(c->count, m, 1));
  if (c->arrays != NULL) return GPNN_OK;
  gpnn_arrays_free(c->arrays);
  return gpnn_fail_memory(err, MEMORY_FOR);
}

/* The sum of the squared distances, each limited so that it is finite, after a further centre. */
static double approach(struct clusters *c, size_t centre)
{
  const struct rows *rows = c->rows;
  double *own = c->least + rows->n, sum = 0;
  const double most = DBL_MAX / 2 / (double)rows->n;
  gpnn_kernel_distances(rows->n, rows->d, rows->n, rows->columns, rows->scaled + centre * rows->d,
                        own);
  for (size_t i = 0; i < rows->n; i++) {
    c->least[i] = fmin(fmin(c->least[i], own[i]), most);
    sum += c->least[i];
  }
  return sum;
}

/* Draws a row in proportion to its squared distance; where none is left, SIZE_MAX. */
static size_t draw_row(const struct clusters *c, double sum, struct gpnn_rng *rng)
{
  double at = gpnn_rng_uniform(rng) * sum;
  size_t last = SIZE_MAX;
  for (size_t i = 0; i < c->rows->n; i++) {
    if (!(c->least[i] > 0)) continue;
    last = i;
    at -= c->least[i];
    if (at < 0) break;
  }
  return last;
}

/* Writes the rows at which clusters begin to 'z', and how many there are to c->m. */
static void seed_clusters(struct clusters *c, struct gpnn_rng *rng, double *z)
{
  const struct rows *rows = c->rows;
  size_t wanted = c->m, row = (size_t)gpnn_rng_below(rng, rows->n);
  for (size_t i = 0; i < rows->n; i++) c->least[i] = INFINITY;
  for (c->m = 0; c->m < wanted && row != SIZE_MAX; c->m++) {
    memcpy(z + c->m * rows->d, rows->x + row * rows->d, rows->d * sizeof *z);
    row = draw_row(c, approach(c, row), rng);
  }
}

static void assign_piece(void *context, size_t thread, size_t piece)
{
  const struct clusters *c = context;
  const struct rows *rows = c->rows;
  double *distances = c->distances + thread * c->m;
  size_t end = (piece + 1) * PIECE < rows->n ? (piece + 1) * PIECE : rows->n;
  for (size_t i = piece * PIECE; i < end; i++) {
    gpnn_kernel_distances(c->m, rows->d, c->m, c->centres, rows->scaled + i * rows->d, distances);
    size_t nearest = 0;
    for (size_t j = 1; j < c->m; j++)
      if (distances[j] < distances[nearest]) nearest = j;
    c->of[i] = nearest;
  }
}

/* The means of the clusters become the points; a point stays where it is if its cluster is empty,
 * or its mean not finite. */
static void move_points(struct clusters *c, double *z)
{
  const struct rows *rows = c->rows;
  size_t d = rows->d;
  memset(c->sums, 0, c->m * d * sizeof *c->sums);
  memset(c->count, 0, c->m * sizeof *c->count);
  for (size_t i = 0; i < rows->n; i++) {
    c->count[c->of[i]]++;
    for (size_t l = 0; l < d; l++) c->sums[c->of[i] * d + l] += rows->x[i * d + l];
  }
  for (size_t j = 0; j < c->m; j++)
    for (size_t l = 0; l < d; l++) {
      double mean = c->sums[j * d + l] / (double)c->count[j];
      if (isfinite(mean)) z[j * d + l] = mean;
    }
}

static void move_clusters(struct clusters *c, int threads, double *z)
{
  const struct rows *rows = c->rows;
  for (size_t j = 0; j < c->m; j++)
    for (size_t l = 0; l < rows->d; l++)
      c->centres[l * c->m + j] = z[j * rows->d + l] * rows->inverse[l];
  gpnn_threads_each(threads, (rows->n + PIECE - 1) / PIECE, 1, assign_piece, c);
  move_points(c, z);
}

static enum gpnn_status choose_kmeans(const struct rows *rows, size_t m, struct gpnn_rng *rng,
                                      int threads, double *z, size_t *n_distinct,
                                      struct gpnn_error *err)
{
  struct clusters c;
  int shared = gpnn_threads_for(threads, (rows->n + PIECE - 1) / PIECE);
  enum gpnn_status status = clusters_new(&c, rows, m, (size_t)shared, err);
  if (status != GPNN_OK) return status;
  seed_clusters(&c, rng, z);
  for (int step = 0; step < STEPS && c.m < rows->n; step++) move_clusters(&c, shared, z);
  status = gpnn_inducing_distinct(c.m, rows->d, z, n_distinct, err);
  gpnn_arrays_free(c.arrays);
  return status;
}

/* ---- the choice --------------------------------------------------------------------------- */

static size_t rows_wanted(enum gpnn_inducing_how how, size_t m)
{
  size_t each = how == GPNN_INDUCING_GREEDY ? GREEDY_PER_POINT : PER_POINT;
  size_t least = how == GPNN_INDUCING_GREEDY ? LEAST_GREEDY : LEAST_ROWS, most = 0;
  if (!gpnn_multiply(each, m, &most)) most = SIZE_MAX;
  return most > least ? most : least;
}

enum gpnn_status gpnn_inducing_choose(enum gpnn_inducing_how how, const struct gpnn_dataset *view,
                                      const struct gpnn_covariance *covariance, size_t m,
                                      uint64_t seed, int threads, double *z, size_t *n_distinct,
                                      struct gpnn_error *err)
{
  struct rows rows = {0};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_INDUCING);
  enum gpnn_status status = rows_draw(&rows, view, covariance, rows_wanted(how, m), &rng, err);
  size_t chosen = m < rows.n ? m : rows.n;
  if (status == GPNN_OK) switch (how) {
    case GPNN_INDUCING_KMEANS:
      status = choose_kmeans(&rows, chosen, &rng, threads, z, &chosen, err);
      break;
    case GPNN_INDUCING_GREEDY:
      status = choose_greedy(&rows, covariance, chosen, &rng, threads, z, err);
      break;
    case GPNN_INDUCING_SUBSET:
      status = choose_subset(&rows, chosen, &rng, z, err);
      break;
    }
  if (status == GPNN_OK) *n_distinct = chosen;
  gpnn_arrays_free(rows.arrays);
  return status;
}
