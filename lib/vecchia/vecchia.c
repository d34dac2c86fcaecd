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
#include "linalg/blas.h"

/* Rows of a block in which every pair is looked at. */
enum { LEAF = 4096 };

/* ---- orders ------------------------------------------------------------------------------- */

/* A row and what it is sorted by. */
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
  double *mean = gpnn_alloc(d, 1, sizeof *mean), *values = gpnn_alloc(d, 1, sizeof *values);
  double *vectors = gpnn_alloc(d, d, sizeof *vectors), *work = gpnn_alloc(d, 3, sizeof *work);
  enum gpnn_status status = GPNN_OK;
  lapack_int order = (lapack_int)d;
  if (mean == NULL || values == NULL || vectors == NULL || work == NULL) {
    status = gpnn_fail_memory(err, "for an order of rows");
    goto out;
  }
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
  free(mean);
  free(values);
  free(vectors);
  free(work);
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

/* What is being found; lists are sorted by (distance, row); row -1 is a place still free. */
struct hunt {
  const struct gpnn_vecchia_options *options;
  size_t n, d, m;
  const double *x;
  const int64_t *order;
  double *inverse;   /* d: 1 / lengthscale */
  int64_t *place;    /* n: of the row at each position of the order, which list it has; -1: none */
  int64_t *rows;     /* a list of m for each wanted row */
  double *distances; /* likewise: squared */
};

static bool is_nearer(double distance, int64_t row, double other_distance, int64_t other_row)
{
  if (other_row < 0) return true;
  return distance < other_distance || (distance == other_distance && row < other_row);
}

/* Puts a row into the list at 'place' if it is among the nearest so far. */
static void offer(const struct hunt *hunt, int64_t place, double distance, int64_t row)
{
  int64_t *rows = hunt->rows + (size_t)place * hunt->m;
  double *distances = hunt->distances + (size_t)place * hunt->m;
  size_t at = hunt->m;
  while (at > 0 && is_nearer(distance, row, distances[at - 1], rows[at - 1])) at--;
  if (at == hunt->m) return;
  memmove(rows + at + 1, rows + at, (hunt->m - 1 - at) * sizeof *rows);
  memmove(distances + at + 1, distances + at, (hunt->m - 1 - at) * sizeof *distances);
  rows[at] = row;
  distances[at] = distance;
}

/* Squared distance of two rows, added up as gpnn_kernel_distances() does, so that equal pairs
 * have equal distances wherever they meet. */
static double distance_of(const struct hunt *hunt, size_t a, size_t b)
{
  double sum = 0;
  for (size_t j = 0; j < hunt->d; j++) {
    double inverse = hunt->inverse[j];
    double t = hunt->x[a * hunt->d + j] * inverse - hunt->x[b * hunt->d + j] * inverse;
    sum += t * t;
  }
  return sum;
}

/* What a thread needs to look through leaves. */
struct leaf_room {
  double *columns, *point, *r2; /* d columns of LEAF; d; LEAF */
};

static void leaf_room_release(struct leaf_room *room)
{
  free(room->columns);
  free(room->point);
  free(room->r2);
}

static bool leaf_room_init(struct leaf_room *room, size_t d)
{
  room->columns = gpnn_alloc(d, LEAF, sizeof *room->columns);
  room->point = gpnn_alloc(d, 1, sizeof *room->point);
  room->r2 = gpnn_alloc(LEAF, 1, sizeof *room->r2);
  return room->columns != NULL && room->point != NULL && room->r2 != NULL;
}

/* A look through all leaves. */
struct look {
  const struct hunt *hunt;
  struct leaf_room *rooms; /* owned; one a thread */
};

/* Offers the rows of a leaf those before them in it. */
static void look_through(void *context, size_t thread, size_t leaf)
{
  const struct look *look = context;
  const struct hunt *hunt = look->hunt;
  const struct leaf_room *room = &look->rooms[thread];
  size_t d = hunt->d, begin = leaf * LEAF, end = hunt->n - begin < LEAF ? hunt->n : begin + LEAF;
  for (size_t i = begin; i < end; i++) {
    size_t before = i - begin;
    const double *x = hunt->x + (size_t)hunt->order[i] * d;
    int64_t place = hunt->place[i];
    for (size_t j = 0; j < d; j++) room->point[j] = x[j] * hunt->inverse[j];
    if (place >= 0 && before > 0) {
      double *last = hunt->distances + (size_t)place * hunt->m + hunt->m - 1;
      gpnn_kernel_distances(before, d, LEAF, room->columns, room->point, room->r2);
      for (size_t k = 0; k < before; k++)
        if (room->r2[k] <= *last) offer(hunt, place, room->r2[k], hunt->order[begin + k]);
    }
    for (size_t j = 0; j < d; j++) room->columns[j * LEAF + before] = room->point[j];
  }
}

static enum gpnn_status look_through_leaves(const struct hunt *hunt, struct gpnn_error *err)
{
  size_t n_leaves = (hunt->n + LEAF - 1) / LEAF;
  int threads = gpnn_threads_for(hunt->options->threads, n_leaves);
  struct look look = {hunt, gpnn_alloc((size_t)threads, 1, sizeof *look.rooms)};
  bool enough = look.rooms != NULL;
  for (int t = 0; enough && t < threads; t++) enough = leaf_room_init(&look.rooms[t], hunt->d);
  if (enough) gpnn_threads_each(threads, n_leaves, 1, look_through, &look);
  for (int t = 0; look.rooms != NULL && t < threads; t++) leaf_room_release(&look.rooms[t]);
  free(look.rooms);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for a search among earlier rows");
}

/* Rows gathered for a search, and the search's answers. */
struct gathered {
  size_t n;
  int64_t *rows; /* of 'x', or lists, of each */
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

/* The rows at positions [begin, end), by their numbers, so that a search's ties are ties by
 * row number. */
static bool gather_earlier(const struct hunt *hunt, size_t begin, size_t end, struct gathered *g)
{
  size_t d = hunt->d;
  if (!gathered_alloc(g, end - begin, d)) return false;
  g->n = end - begin;
  memcpy(g->rows, hunt->order + begin, g->n * sizeof *g->rows);
  qsort(g->rows, g->n, sizeof *g->rows, gpnn_compare_int64s);
  for (size_t i = 0; i < g->n; i++)
    memcpy(g->x + i * d, hunt->x + (size_t)g->rows[i] * d, d * sizeof *g->x);
  return true;
}

/* The wanted rows at positions [begin, end): 'rows' are positions. */
static bool gather_wanted(const struct hunt *hunt, size_t begin, size_t end, struct gathered *g)
{
  size_t d = hunt->d, n = 0;
  for (size_t i = begin; i < end; i++) n += hunt->place[i] >= 0;
  if (!gathered_alloc(g, n, d)) return false;
  for (size_t i = begin; i < end; i++) {
    if (hunt->place[i] < 0) continue;
    g->rows[g->n] = (int64_t)i;
    memcpy(g->x + g->n++ * d, hunt->x + (size_t)hunt->order[i] * d, d * sizeof *g->x);
  }
  return true;
}

/* Offers each of 'wanted' its nearest among 'earlier'. */
static enum gpnn_status search_earlier(const struct hunt *hunt, const struct gathered *earlier,
                                       const struct gathered *wanted, struct gpnn_error *err)
{
  const struct gpnn_vecchia_options *o = hunt->options;
  const struct gpnn_search_options options = {.kind = o->kind,
                                              .recall = o->recall,
                                              .neighbours = hunt->m,
                                              .lengthscale = o->lengthscale,
                                              .seed = o->seed,
                                              .threads = o->threads};
  size_t k = hunt->m < earlier->n ? hunt->m : earlier->n;
  struct gpnn_search *search = NULL;
  int64_t *found = gpnn_alloc(wanted->n, k, sizeof *found);
  double *distances = gpnn_alloc(wanted->n, k, sizeof *distances);
  enum gpnn_status status =
      found == NULL || distances == NULL
          ? gpnn_fail_memory(err, "for a search among earlier rows")
          : gpnn_search_build(&search, earlier->n, hunt->d, earlier->x, &options, err);
  if (status == GPNN_OK)
    status = gpnn_search_query(search, wanted->n, wanted->x, k, found, distances, o->threads, err);
  for (size_t i = 0; i < wanted->n && status == GPNN_OK; i++) {
    size_t position = (size_t)wanted->rows[i];
    for (size_t a = 0; a < k; a++) {
      if (found[i * k + a] < 0) continue;
      int64_t row = earlier->rows[found[i * k + a]];
      offer(hunt, hunt->place[position],
            distance_of(hunt, (size_t)hunt->order[position], (size_t)row), row);
    }
  }
  gpnn_search_free(search);
  free(found);
  free(distances);
  return status;
}

/* The second half of the block [begin, end), cut at 'middle', among its first half. */
static enum gpnn_status search_half(const struct hunt *hunt, size_t begin, size_t middle,
                                    size_t end, struct gpnn_error *err)
{
  struct gathered earlier = {0}, wanted = {0};
  enum gpnn_status status = GPNN_OK;
  if (!gather_wanted(hunt, middle, end, &wanted) ||
      (wanted.n > 0 && !gather_earlier(hunt, begin, middle, &earlier)))
    status = gpnn_fail_memory(err, "for a search among earlier rows");
  else if (wanted.n > 0)
    status = search_earlier(hunt, &earlier, &wanted, err);
  gathered_release(&earlier);
  gathered_release(&wanted);
  return status;
}

static enum gpnn_status hunt_all(const struct hunt *hunt, struct gpnn_error *err)
{
  enum gpnn_status status = look_through_leaves(hunt, err);
  for (size_t half = LEAF; half < hunt->n && status == GPNN_OK; half *= 2)
    for (size_t begin = 0; hunt->n - begin > half && status == GPNN_OK; begin += 2 * half) {
      size_t middle = begin + half, rest = hunt->n - middle;
      status = search_half(hunt, begin, middle, rest < half ? hunt->n : middle + half, err);
      if (rest <= half) break;
    }
  return status;
}

/* Says which positions are wanted, and where their lists are. */
static enum gpnn_status place_lists(struct hunt *hunt, size_t n_wanted, const int64_t *wanted,
                                    struct gpnn_error *err)
{
  int64_t *list = gpnn_alloc(hunt->n, 1, sizeof *list); /* of each row */
  if (list == NULL) return gpnn_fail_memory(err, "for a search among earlier rows");
  for (size_t i = 0; i < hunt->n; i++) list[i] = wanted == NULL ? (int64_t)i : -1;
  for (size_t i = 0; wanted != NULL && i < n_wanted; i++) list[wanted[i]] = (int64_t)i;
  for (size_t i = 0; i < hunt->n; i++) hunt->place[i] = list[hunt->order[i]];
  free(list);
  for (size_t i = 0; i < n_wanted * hunt->m; i++) {
    hunt->rows[i] = -1;
    hunt->distances[i] = INFINITY;
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
  struct hunt hunt = {.options = options, .n = n, .d = d, .m = m, .x = x, .order = order};
  enum gpnn_status status = GPNN_OK;
  hunt.inverse = gpnn_alloc(d, 1, sizeof *hunt.inverse);
  hunt.place = gpnn_alloc(n, 1, sizeof *hunt.place);
  hunt.rows = gpnn_alloc(n_wanted, m, sizeof *hunt.rows);
  hunt.distances = gpnn_alloc(n_wanted, m, sizeof *hunt.distances);
  if (hunt.inverse == NULL || hunt.place == NULL || hunt.rows == NULL || hunt.distances == NULL) {
    status = gpnn_fail_memory(err, "for a search among earlier rows");
    goto out;
  }
  for (size_t j = 0; j < d; j++)
    hunt.inverse[j] = options->lengthscale == NULL ? 1 : 1 / options->lengthscale[j];
  status = place_lists(&hunt, n_wanted, wanted, err);
  if (status == GPNN_OK) status = hunt_all(&hunt, err);
  if (status == GPNN_OK) memcpy(neighbours, hunt.rows, n_wanted * m * sizeof *neighbours);
out:
  free(hunt.inverse);
  free(hunt.place);
  free(hunt.rows);
  free(hunt.distances);
  return status;
}
