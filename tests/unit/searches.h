/*
 * searches: searches of random rows, their answers and what they save, for tests of lib/search.
 */
#ifndef GPNN_TESTS_SEARCHES_H
#define GPNN_TESTS_SEARCHES_H

#include "random.h"
#include "unit.h"

#include "base/memory.h"
#include "search/search.h"
#include "search/search_private.h"

static const struct gpnn_search_metric searches_euclidean = {NULL, NULL};

static inline struct gpnn_search *build(enum gpnn_search_kind kind, size_t n, size_t d,
                                        const double *x, size_t neighbours, double recall,
                                        const double *lengthscale)
{
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  options.kind = kind;
  options.neighbours = neighbours;
  options.recall = recall;
  options.lengthscale = lengthscale;
  options.threads = 2;
  assert_ok(gpnn_search_build(&search, n, d, x, &options, &err));
  return search;
}

/* ---- answers ---- */

struct answers {
  int64_t *rows;
  double *distances;
  size_t visited; /* by query_counted() */
};

static inline struct answers make_answers(size_t n, size_t k)
{
  return (struct answers){.rows = gpnn_alloc(n, k, sizeof(int64_t)),
                          .distances = gpnn_alloc(n, k, sizeof(double))};
}

static inline struct answers query(const struct gpnn_search *search, size_t n,
                                   const double *queries, size_t k, int threads)
{
  struct answers found = make_answers(n, k);
  assert_ok(gpnn_search_query(search, n, queries, k, found.rows, found.distances, threads, &err));
  return found;
}

/* The same by the engine alone, with the number of rows it looked at. */
static inline struct answers query_counted(const struct gpnn_search *search, size_t n,
                                           const double *queries, size_t k, int threads)
{
  struct answers found = make_answers(n, k);
  assert_ok(gpnn_search_query_counted(search, n, queries, NULL, k, found.rows, found.distances,
                                      threads, &found.visited, &err));
  return found;
}

static inline void release(struct answers found)
{
  free(found.rows);
  free(found.distances);
}

static inline void assert_same(struct answers a, struct answers b, size_t n)
{
  assert_memory_equal(a.rows, b.rows, n * sizeof *a.rows);
  assert_memory_equal(a.distances, b.distances, n * sizeof *a.distances);
}

/* Two searches give the same answers. */
static inline void assert_same_search(const struct gpnn_search *a, const struct gpnn_search *b,
                                      size_t n, const double *queries, size_t k)
{
  struct answers from_a = query(a, n, queries, k, 2), from_b = query(b, n, queries, k, 1);
  assert_same(from_a, from_b, n * k);
  release(from_a);
  release(from_b);
}

/* A search of 'kind' that is to be exact answers as brute force does. */
static inline void check_exact(enum gpnn_search_kind kind, size_t n, size_t d, const double *x,
                               size_t n_queries, const double *queries, size_t k,
                               const double *lengthscale)
{
  struct gpnn_search *search = build(kind, n, d, x, k, 1, lengthscale);
  struct gpnn_search *exact = build(GPNN_SEARCH_EXACT, n, d, x, k, 1, lengthscale);
  assert_same_search(search, exact, n_queries, queries, k);
  gpnn_search_free(search);
  gpnn_search_free(exact);
}

/* So do the engines that promise to. */
static inline void check_flat_and_tree(size_t n, size_t d, const double *x, size_t n_queries,
                                       const double *queries, size_t k, const double *lengthscale)
{
  check_exact(GPNN_SEARCH_FLAT, n, d, x, n_queries, queries, k, lengthscale);
  check_exact(GPNN_SEARCH_TREE, n, d, x, n_queries, queries, k, lengthscale);
}

/* The recall of 'search' beside that of 'exact', which is no farther from any query. */
static inline double recall_of(const struct gpnn_search *search, const struct gpnn_search *exact,
                               size_t n, const double *queries, size_t k)
{
  struct answers found = query(search, n, queries, k, 2), nearest = query(exact, n, queries, k, 2);
  size_t hits = 0;
  for (size_t i = 0; i < n * k; i++) {
    assert_true(found.distances[i] >= nearest.distances[i]);
    hits += found.distances[i] <= nearest.distances[i / k * k + k - 1];
  }
  release(found);
  release(nearest);
  return (double)hits / (double)(n * k);
}

/* ---- saving and loading ---- */

/* What a search saves. */
struct copy {
  struct gpnn_search_stored stored;
  unsigned char *bytes; /* owned: those of 'stored', which tests may change */
  uint32_t *duplicates;
};

static inline void copy_release(struct copy *copy)
{
  free(copy->bytes);
  free(copy->duplicates);
}

static inline struct copy copy_of(const struct gpnn_search *search)
{
  struct copy copy = {0};
  struct gpnn_search_stored *stored = &copy.stored;
  FILE *file = tmpfile();
  assert_non_null(file);
  assert_ok(gpnn_search_save(search, file, &err));
  stored->length = (size_t)ftell(file);
  stored->bytes = copy.bytes = gpnn_alloc(stored->length, 1, 1);
  rewind(file);
  assert_int_equal(fread(copy.bytes, 1, stored->length, file), stored->length);
  fclose(file);
  const uint32_t *duplicates = gpnn_search_duplicates(search, &stored->duplicates_length);
  if (duplicates == NULL) return copy;
  stored->duplicates = copy.duplicates = gpnn_alloc(stored->duplicates_length, 1, 1);
  memcpy(copy.duplicates, duplicates, stored->duplicates_length);
  return copy;
}

#endif
