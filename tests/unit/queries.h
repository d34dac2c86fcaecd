/*
 * queries: searches of random rows, and what they answer, for tests of the search for neighbours.
 */
#ifndef GPNN_TESTS_QUERIES_H
#define GPNN_TESTS_QUERIES_H

#include "unit.h"

#include "base/memory.h"
#include "base/rng.h"
#include "search/search.h"
#include "search/search_private.h"

/* n rows by d columns of normal deviates in a block that the caller frees. */
static inline double *normal_rows(size_t n, size_t d, uint64_t seed)
{
  struct gpnn_rng rng;
  double *x = gpnn_alloc(n, d, sizeof *x);
  assert_non_null(x);
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  for (size_t i = 0; i < n * d; i++) x[i] = gpnn_rng_normal(&rng);
  return x;
}

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

struct answers {
  int64_t *rows;
  double *distances;
  size_t visited; /* of query_counted() */
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

/* The same as the engine finds it, with how many rows it looked at. */
static inline struct answers query_counted(const struct gpnn_search *search, size_t n,
                                           const double *queries, size_t k, int threads)
{
  struct answers found = make_answers(n, k);
  assert_ok(gpnn_search_query_counted(search, n, queries, k, found.rows, found.distances, threads,
                                      &found.visited, &err));
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

#endif
