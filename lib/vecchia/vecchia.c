#include "vecchia/vecchia.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "kernel/kernel.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"

/* Rows of a block that is searched by comparing all pairs. */
enum { LEAF = 4096 };

/* ---- orders ------------------------------------------------------------------------------- */

/* A row and its sort key. */
struct keyed {
  double key;
  int64_t row;
};

static int compare_keyed(const void *a, const void *b)
{
  const struct keyed *p = a, *q = b;
  int order = gpnn_compare_doubles(&p->key, &q->key);
  return order != 0 ? order : gpnn_compare_int64s(&p->row, &q->row);
}

/* Writes the covariance of the columns (lower triangle, d by d) about 'mean' (d). */
static void covariance_of(size_t n, size_t d, const double *x, double *mean, double *covariance)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++) mean[j] += x[i * d + j] / (double)n;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++)
      for (size_t k = j; k < d; k++)
        covariance[j * d + k] += (x[i * d + j] - mean[j]) * (x[i * d + k] - mean[k]) / (double)n;
}

/* Writes the first principal component of the rows to 'component' (d, zeroed). */
static enum gpnn_status principal_component(size_t n, size_t d, const double *x, double *component,
                                            struct gpnn_error *err)
{
  double *mean, *values, *vectors, *work;
  struct gpnn_arrays *arrays = GPNN_ARRAYS(GPNN_ARRAY(mean, d, 1), GPNN_ARRAY(values, d, 1),
                                           GPNN_ARRAY(vectors, d, d), GPNN_ARRAY(work, d, 3));
  enum gpnn_status status = GPNN_OK;
  lapack_int order = (lapack_int)d;
  if (arrays == NULL) return gpnn_fail_memory(err, "for an order of rows");
  covariance_of(n, d, x, mean, vectors);
  if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', order, vectors, order, values, work,
                         3 * order) != 0) {
    status = gpnn_fail(err, GPNN_ENUMERIC, "the inputs have no principal component");
    goto out;
  }
  const double *last = vectors + (d - 1) * d; /* eigenvalues rise */
  double largest = 0;
  for (size_t j = 0; j < d; j++)
    if (fabs(last[j]) > fabs(largest)) largest = last[j];
  for (size_t j = 0; j < d; j++) component[j] = largest < 0 ? -last[j] : last[j];
out:
  gpnn_arrays_free(arrays);
  return status;
}

static enum gpnn_status principal_order(size_t n, size_t d, const double *x, int64_t *order,
                                        struct gpnn_error *err)
{
  double *component = gpnn_alloc(d, 1, sizeof *component);
  struct keyed *rows = gpnn_alloc(n, 1, sizeof *rows);
  enum gpnn_status status = component == NULL || rows == NULL
                                ? gpnn_fail_memory(err, "for an order of rows")
                                : principal_component(n, d, x, component, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < n; i++) {
      rows[i].row = (int64_t)i;
      for (size_t j = 0; j < d; j++) rows[i].key += component[j] * x[i * d + j];
    }
    qsort(rows, n, sizeof *rows, compare_keyed);
    for (size_t i = 0; i < n; i++) order[i] = rows[i].row;
  }
  free(rows);
  free(component);
  return status;
}

static void random_order(size_t n, uint64_t seed, int64_t *order)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_ORDER);
  for (size_t i = 0; i < n; i++) order[i] = (int64_t)i;
  for (size_t i = n; i > 1; i--) {
    size_t other = (size_t)gpnn_rng_below(&rng, i);
    int64_t row = order[other];
    order[other] = order[i - 1];
    order[i - 1] = row;
  }
}

enum gpnn_status gpnn_vecchia_order(enum gpnn_order kind, size_t n, size_t d, const double *x,
                                    uint64_t seed, int64_t *order, struct gpnn_error *err)
{
  switch (kind) {
  case GPNN_ORDER_PRINCIPAL:
    return principal_order(n, d, x, order, err);
  case GPNN_ORDER_RANDOM:
    random_order(n, seed, order);
    return GPNN_OK;
  }
  return gpnn_fail(err, GPNN_EINVAL, "there is no order of rows number %d", (int)kind);
}

/* ---- neighbours --------------------------------------------------------------------------- */

/* The search under way.  Lists are sorted by (distance, row); a free slot has row -1. */
struct task {
  const struct gpnn_vecchia_options *options;
  size_t n, d, m;
  const double *x;
  const int64_t *order;
  double *inverse;   /* d: 1 / lengthscale */
  int64_t *list;     /* n: number of the list of the row at each position of the order; -1: none */
  int64_t *rows;     /* the lists, of m rows each */
  double *distances; /* their squared distances */
};

static bool is_nearer(double distance, int64_t row, double other_distance, int64_t other_row)
{
  if (other_row < 0) return true;
  return distance < other_distance || (distance == other_distance && row < other_row);
}

/* Inserts a row into a list if it is among the nearest so far. */
static void offer(const struct task *task, int64_t list, double distance, int64_t row)
{
  int64_t *rows = task->rows + (size_t)list * task->m;
  double *distances = task->distances + (size_t)list * task->m;
  size_t at = task->m;
  while (at > 0 && is_nearer(distance, row, distances[at - 1], rows[at - 1])) at--;
  if (at == task->m) return;
  memmove(rows + at + 1, rows + at, (task->m - 1 - at) * sizeof *rows);
  memmove(distances + at + 1, distances + at, (task->m - 1 - at) * sizeof *distances);
  rows[at] = row;
  distances[at] = distance;
}

/* Squared distance of two rows, summed in the order of gpnn_kernel_distances(), so that a pair has
 * the same distance wherever it is compared. */
static double distance_of(const struct task *task, size_t a, size_t b)
{
  double sum = 0;
  for (size_t j = 0; j < task->d; j++) {
    double inverse = task->inverse[j];
    double t = task->x[a * task->d + j] * inverse - task->x[b * task->d + j] * inverse;
    sum += t * t;
  }
  return sum;
}

/* What a thread needs to search a leaf. */
struct leaf_scratch {
  double *columns, *point, *r2; /* d columns of LEAF; d; LEAF */
  struct gpnn_arrays *arrays;   /* owned; what frees the arrays */
};

static bool leaf_scratch_init(struct leaf_scratch *scratch, size_t d)
{
  scratch->arrays = GPNN_ARRAYS(GPNN_ARRAY(scratch->columns, d, LEAF),
                                GPNN_ARRAY(scratch->point, d, 1), GPNN_ARRAY(scratch->r2, LEAF, 1));
  return scratch->arrays != NULL;
}

/* A pass over all leaves. */
struct pass {
  const struct task *task;
  struct leaf_scratch *scratch; /* owned; one per thread */
};

/* Compares each row of a leaf with those before it there. */
static void search_leaf(void *context, size_t thread, size_t leaf)
{
  const struct pass *pass = context;
  const struct task *task = pass->task;
  const struct leaf_scratch *scratch = &pass->scratch[thread];
  size_t d = task->d, begin = leaf * LEAF, end = task->n - begin < LEAF ? task->n : begin + LEAF;
  for (size_t i = begin; i < end; i++) {
    size_t before = i - begin;
    const double *x = task->x + (size_t)task->order[i] * d;
    int64_t list = task->list[i];
    for (size_t j = 0; j < d; j++) scratch->point[j] = x[j] * task->inverse[j];
    if (list >= 0 && before > 0) {
      double *last = task->distances + (size_t)list * task->m + task->m - 1;
      gpnn_kernel_distances(before, d, LEAF, scratch->columns, scratch->point, scratch->r2);
      for (size_t k = 0; k < before; k++)
        if (scratch->r2[k] <= *last) offer(task, list, scratch->r2[k], task->order[begin + k]);
    }
    for (size_t j = 0; j < d; j++) scratch->columns[j * LEAF + before] = scratch->point[j];
  }
}

static enum gpnn_status search_leaves(const struct task *task, struct gpnn_error *err)
{
  size_t n_leaves = (task->n + LEAF - 1) / LEAF;
  int threads = gpnn_threads_for(task->options->threads, n_leaves);
  struct pass pass = {task, gpnn_alloc((size_t)threads, 1, sizeof *pass.scratch)};
  bool enough = pass.scratch != NULL;
  for (int t = 0; enough && t < threads; t++) enough = leaf_scratch_init(&pass.scratch[t], task->d);
  if (enough) gpnn_threads_each(threads, n_leaves, 1, search_leaf, &pass);
  for (int t = 0; pass.scratch != NULL && t < threads; t++)
    gpnn_arrays_free(pass.scratch[t].arrays);
  free(pass.scratch);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for a search among earlier rows");
}

/* Rows collected for a search. */
struct gathered {
  size_t n;
  int64_t *rows; /* the number of each, or its position in the order */
  double *x;     /* n by d */
};

static void gathered_release(struct gathered *g)
{
  free(g->rows);
  free(g->x);
}

static bool gathered_alloc(struct gathered *g, size_t n, size_t d)
{
  g->rows = gpnn_alloc(n, 1, sizeof *g->rows);
  g->x = gpnn_alloc(n, d, sizeof *g->x);
  return g->rows != NULL && g->x != NULL;
}

/* The rows at positions [begin, end), sorted by number, as the search breaks ties by position. */
static bool gather_earlier(const struct task *task, size_t begin, size_t end, struct gathered *g)
{
  size_t d = task->d;
  if (!gathered_alloc(g, end - begin, d)) return false;
  g->n = end - begin;
  memcpy(g->rows, task->order + begin, g->n * sizeof *g->rows);
  qsort(g->rows, g->n, sizeof *g->rows, gpnn_compare_int64s);
  for (size_t i = 0; i < g->n; i++)
    memcpy(g->x + i * d, task->x + (size_t)g->rows[i] * d, d * sizeof *g->x);
  return true;
}

/* The wanted rows among positions [begin, end); 'rows' has their positions. */
static bool gather_wanted(const struct task *task, size_t begin, size_t end, struct gathered *g)
{
  size_t d = task->d, n = 0;
  for (size_t i = begin; i < end; i++) n += task->list[i] >= 0;
  if (!gathered_alloc(g, n, d)) return false;
  for (size_t i = begin; i < end; i++) {
    if (task->list[i] < 0) continue;
    g->rows[g->n] = (int64_t)i;
    memcpy(g->x + g->n++ * d, task->x + (size_t)task->order[i] * d, d * sizeof *g->x);
  }
  return true;
}

/* Finds the nearest of 'earlier' to each of 'wanted'. */
static enum gpnn_status search_earlier(const struct task *task, const struct gathered *earlier,
                                       const struct gathered *wanted, struct gpnn_error *err)
{
  const struct gpnn_vecchia_options *o = task->options;
  const struct gpnn_search_options options = {.kind = o->kind,
                                              .recall = o->recall,
                                              .neighbours = task->m,
                                              .lengthscale = o->lengthscale,
                                              .seed = o->seed,
                                              .threads = o->threads};
  size_t k = task->m < earlier->n ? task->m : earlier->n;
  struct gpnn_search *search = NULL;
  int64_t *found = gpnn_alloc(wanted->n, k, sizeof *found);
  double *distances = gpnn_alloc(wanted->n, k, sizeof *distances);
  enum gpnn_status status =
      found == NULL || distances == NULL
          ? gpnn_fail_memory(err, "for a search among earlier rows")
          : gpnn_search_build(&search, earlier->n, task->d, earlier->x, &options, err);
  if (status == GPNN_OK)
    status = gpnn_search_query(search, wanted->n, wanted->x, k, found, distances, o->threads, err);
  for (size_t i = 0; i < wanted->n && status == GPNN_OK; i++) {
    size_t position = (size_t)wanted->rows[i];
    for (size_t a = 0; a < k; a++) {
      if (found[i * k + a] < 0) continue;
      int64_t row = earlier->rows[found[i * k + a]];
      offer(task, task->list[position],
            distance_of(task, (size_t)task->order[position], (size_t)row), row);
    }
  }
  gpnn_search_free(search);
  free(found);
  free(distances);
  return status;
}

/* Searches the first half of the block [begin, end), split at 'middle', for neighbours of the
 * second. */
static enum gpnn_status search_half(const struct task *task, size_t begin, size_t middle,
                                    size_t end, struct gpnn_error *err)
{
  struct gathered earlier = {0}, wanted = {0};
  enum gpnn_status status = GPNN_OK;
  if (!gather_wanted(task, middle, end, &wanted) ||
      (wanted.n > 0 && !gather_earlier(task, begin, middle, &earlier)))
    status = gpnn_fail_memory(err, "for a search among earlier rows");
  else if (wanted.n > 0)
    status = search_earlier(task, &earlier, &wanted, err);
  gathered_release(&earlier);
  gathered_release(&wanted);
  return status;
}

static enum gpnn_status search_all(const struct task *task, struct gpnn_error *err)
{
  enum gpnn_status status = search_leaves(task, err);
  for (size_t half = LEAF; half < task->n && status == GPNN_OK; half *= 2)
    for (size_t begin = 0; task->n - begin > half && status == GPNN_OK; begin += 2 * half) {
      size_t middle = begin + half, rest = task->n - middle;
      status = search_half(task, begin, middle, rest < half ? task->n : middle + half, err);
      if (rest <= half) break;
    }
  return status;
}

/* Numbers the lists by position, and empties them. */
static enum gpnn_status number_lists(struct task *task, size_t n_wanted, const int64_t *wanted,
                                     struct gpnn_error *err)
{
  int64_t *list = gpnn_alloc(task->n, 1, sizeof *list); /* of each row */
  if (list == NULL) return gpnn_fail_memory(err, "for a search among earlier rows");
  for (size_t i = 0; i < task->n; i++) list[i] = wanted == NULL ? (int64_t)i : -1;
  for (size_t i = 0; wanted != NULL && i < n_wanted; i++) list[wanted[i]] = (int64_t)i;
  for (size_t i = 0; i < task->n; i++) task->list[i] = list[task->order[i]];
  free(list);
  for (size_t i = 0; i < n_wanted * task->m; i++) {
    task->rows[i] = -1;
    task->distances[i] = INFINITY;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_vecchia_neighbours(size_t n, size_t d, const double *x, const int64_t *order,
                                         size_t n_wanted, const int64_t *wanted,
                                         const struct gpnn_vecchia_options *options,
                                         int64_t *neighbours, struct gpnn_error *err)
{
  size_t m = options->neighbours;
  if (wanted == NULL) n_wanted = n;
  if (m == 0) return gpnn_fail(err, GPNN_EINVAL, "no neighbours are asked for");
  struct task task = {.options = options, .n = n, .d = d, .m = m, .x = x, .order = order};
  enum gpnn_status status = GPNN_OK;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(task.inverse, d, 1), GPNN_ARRAY(task.list, n, 1),
                  GPNN_ARRAY(task.rows, n_wanted, m), GPNN_ARRAY(task.distances, n_wanted, m));
  if (arrays == NULL) {
    status = gpnn_fail_memory(err, "for a search among earlier rows");
    goto out;
  }
  for (size_t j = 0; j < d; j++)
    task.inverse[j] = options->lengthscale == NULL ? 1 : 1 / options->lengthscale[j];
  status = number_lists(&task, n_wanted, wanted, err);
  if (status == GPNN_OK) status = search_all(&task, err);
  if (status == GPNN_OK) memcpy(neighbours, task.rows, n_wanted * m * sizeof *neighbours);
out:
  gpnn_arrays_free(arrays);
  return status;
}
