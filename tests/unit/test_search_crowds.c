/* Searches where rows crowd at few places, and where boxes hardly tell them apart. */
#include "queries.h"

#include "base/memory.h"
#include "search/search.h"
#include "search/search_private.h"

static const enum gpnn_search_kind engines[] = {GPNN_SEARCH_TREE, GPNN_SEARCH_FLAT, GPNN_SEARCH_IVF,
                                                GPNN_SEARCH_HNSW};
enum { N_ENGINES = sizeof engines / sizeof *engines };

/* Normal rows, but for 'share' of them, which are at the first of 'n_distinct' equally spaced in
 * turn. */
static double *crowded_rows(size_t n, size_t d, size_t n_distinct, double share, uint64_t seed)
{
  double *x = normal_rows(n, d, seed);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d && (double)(i * 7919 % n) < share * (double)n; j++)
      x[i * d + j] = (double)(i % n_distinct) + 0.25;
  return x;
}

/* The engines that owe what brute force finds, the first two, find it. */
static void check_all(size_t n, size_t d, const double *x, size_t n_queries, const double *queries,
                      size_t k)
{
  struct gpnn_search *exact = build(GPNN_SEARCH_EXACT, n, d, x, k, 1, NULL);
  struct answers wanted = query(exact, n_queries, queries, k, 2);
  for (size_t e = 0; e < 2; e++) {
    struct gpnn_search *search = build(engines[e], n, d, x, k, 1, NULL);
    struct answers got = query(search, n_queries, queries, k, 2);
    assert_same(got, wanted, n_queries * k);
    release(got);
    gpnn_search_free(search);
  }
  release(wanted);
  gpnn_search_free(exact);
}

/* ---- crowds ---- */

static void crowds_are_found_as_by_brute_force_in_row_order(void **state)
{
  (void)state;
  enum { N = 3000, D = 3, Q = 60 };
  static const size_t places[] = {1, 2, 40};
  static const double shares[] = {0.9, 1};
  for (size_t p = 0; p < 3; p++)
    for (size_t s = 0; s < 2; s++) {
      double *x = crowded_rows(N, D, places[p], shares[s], 40 + p);
      check_all(N, D, x, Q, x, 50);
      check_all(N, D, x, 5, x + N / 2 * D, N);
      free(x);
    }
}

/* Places at the corners of a cube are equally far from its middle: rows mix by their numbers. */
static void crowds_at_one_distance_mix_by_row_number(void **state)
{
  (void)state;
  enum { N = 4096, D = 3, K = 300 };
  double *x = normal_rows(N, D, 41);
  const double middle[D] = {0};
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < D; j++) x[i * D + j] = i * 2654435761u >> (10 + j) & 1 ? 1 : -1;
  struct gpnn_search *tree = build(GPNN_SEARCH_TREE, N, D, x, K, 1, NULL);
  struct answers found = query(tree, 1, middle, K, 1);
  for (size_t i = 0; i < K; i++) assert_int_equal(found.rows[i], i);
  release(found);
  gpnn_search_free(tree);
  check_all(N, D, x, 20, x, K);
  free(x);
}

/* Those of a place cost what one of them costs. */
static void a_crowd_is_looked_at_once(void **state)
{
  (void)state;
  enum { N = 50000, D = 3, Q = 50, K = 20 };
  double *x = crowded_rows(N, D, 1, 0.9, 42), *distinct = normal_rows(N, D, 42);
  struct gpnn_search *tree = build(GPNN_SEARCH_TREE, N, D, x, K, 1, NULL);
  struct gpnn_search *plain = build(GPNN_SEARCH_TREE, N, D, distinct, K, 1, NULL);
  struct answers crowded = query_counted(tree, Q, x, K, 2),
                 usual = query_counted(plain, Q, distinct, K, 2);
  assert_true(crowded.visited <= 2 * usual.visited);
  release(crowded);
  release(usual);
  gpnn_search_free(tree);
  gpnn_search_free(plain);
  free(x);
  free(distinct);
}

static void two_places_have_two_rows_to_look_at(void **state)
{
  (void)state;
  enum { N = 20000, D = 2, Q = 40, K = 64 };
  double *x = crowded_rows(N, D, 2, 1, 43);
  for (size_t e = 0; e < N_ENGINES; e++) {
    struct gpnn_search *search = build(engines[e], N, D, x, K, 0.99, NULL);
    struct answers found = query_counted(search, Q, x, K, 2);
    assert_true(found.visited <= 2 * Q);
    for (size_t i = 0; i < Q * K; i++) assert_int_equal(found.rows[i], i / K % 2 + 2 * (i % K));
    release(found);
    gpnn_search_free(search);
  }
  free(x);
}

/* Few rows at a place are left as they are: nothing is kept beside the structure. */
static void a_few_alike_are_no_crowd(void **state)
{
  (void)state;
  enum { N = 3000, D = 3, CROWD = GPNN_TREE_LEAF };
  double *x = normal_rows(N, D, 44);
  size_t length;
  for (size_t n = CROWD; n <= CROWD + 1; n++) {
    for (size_t i = 0; i < n * D; i++) x[i] = 0.5;
    struct gpnn_search *tree = build(GPNN_SEARCH_TREE, N, D, x, 10, 1, NULL);
    assert_int_equal(gpnn_search_duplicates(tree, &length) != NULL, n > CROWD);
    assert_int_equal(length, n > CROWD ? (2 * N - CROWD) * sizeof(uint32_t) : 0);
    gpnn_search_free(tree);
  }
  free(x);
}

/* ---- stored ---- */

/* What 'search' saves, in aligned blocks that the caller frees. */
static struct gpnn_search_stored store(const struct gpnn_search *search, FILE **file, void **bytes,
                                       uint32_t **places)
{
  struct gpnn_search_stored stored = {0};
  *file = tmpfile();
  assert_non_null(*file);
  assert_ok(gpnn_search_save(search, *file, &err));
  stored.length = (size_t)ftell(*file);
  *bytes = gpnn_alloc(stored.length + 1, 1, 1);
  rewind(*file);
  assert_int_equal(fread(*bytes, 1, stored.length, *file), stored.length);
  rewind(*file);
  const uint32_t *kept = gpnn_search_duplicates(search, &stored.duplicates_length);
  *places = gpnn_alloc(stored.duplicates_length, 1, 1);
  memcpy(*places, kept, stored.duplicates_length);
  stored.duplicates = *places;
  stored.bytes = *bytes;
  stored.file = *file;
  return stored;
}

static void a_loaded_search_knows_its_crowds(void **state)
{
  (void)state;
  enum { N = 3000, D = 2, Q = 40, K = 30 };
  double *x = crowded_rows(N, D, 3, 0.8, 45);
  for (size_t e = 0; e < N_ENGINES; e++) {
    FILE *file;
    void *bytes;
    uint32_t *places;
    struct gpnn_search *search = build(engines[e], N, D, x, K, 1, NULL), *loaded = NULL;
    struct gpnn_search_stored stored = store(search, &file, &bytes, &places), part = stored;
    const struct gpnn_search_report *report = gpnn_search_describe(search);
    const struct gpnn_search_metric none = {NULL, NULL};
    assert_ok(gpnn_search_load(&loaded, stored, N, D, x, report, none, &err));
    struct answers a = query(search, Q, x, K, 1), b = query(loaded, Q, x, K, 2);
    assert_same(a, b, Q * K);
    release(a);
    release(b);
    gpnn_search_free(loaded);
    part.duplicates_length -= 1;
    assert_fails(gpnn_search_load(&loaded, part, N, D, x, report, none, &err), GPNN_EFORMAT, "fit");
    part.duplicates_length = N * sizeof *places;
    assert_fails(gpnn_search_load(&loaded, part, N, D, x, report, none, &err), GPNN_EFORMAT, "fit");
    fclose(file);
    free(bytes);
    free(places);
    gpnn_search_free(search);
  }
  free(x);
}

/* Whatever the numbers are, rows that are found are there. */
static void damaged_places_lead_nowhere(void **state)
{
  (void)state;
  enum { N = 2000, D = 2, Q = 30, K = 25, ROUNDS = 20 };
  double *x = crowded_rows(N, D, 3, 0.8, 46);
  const struct gpnn_search_metric none = {NULL, NULL};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 47, GPNN_RNG_TEST);
  for (size_t e = 0; e < 2 * ROUNDS; e++) {
    FILE *file;
    void *bytes;
    uint32_t *places;
    struct gpnn_search *search = build(engines[e % 2], N, D, x, K, 1, NULL), *loaded = NULL;
    struct gpnn_search_stored stored = store(search, &file, &bytes, &places);
    for (size_t i = 0; i < stored.duplicates_length / sizeof *places; i++)
      if (gpnn_rng_uniform(&rng) < 0.3)
        places[i] = (uint32_t)(gpnn_rng_uniform(&rng) * (e % 4 < 2 ? 2 * N : 4e9));
    assert_ok(gpnn_search_load(&loaded, stored, N, D, x, gpnn_search_describe(search), none, &err));
    struct answers found = query(loaded, Q, x, K, 1);
    for (size_t i = 0; i < Q * K; i++) assert_true(found.rows[i] >= -1 && found.rows[i] < N);
    release(found);
    gpnn_search_free(loaded);
    fclose(file);
    free(bytes);
    free(places);
    gpnn_search_free(search);
  }
  free(x);
}

/* ---- many inputs ---- */

/* Where queries go through leaves together, they find what each would by itself. */
static void queries_together_find_what_each_does(void **state)
{
  (void)state;
  enum { N = 6001, D = 70, Q = 203, K = 20 };
  double *x = normal_rows(N, D, 48), *queries = normal_rows(Q, D, 49);
  for (size_t i = 0; i < N * D; i++) x[i] = round(2 * x[i]);
  check_all(N, D, x, Q, queries, K);
  struct gpnn_search *tree = build(GPNN_SEARCH_TREE, N, D, x, K, 1, NULL);
  struct answers all = query_counted(tree, Q, queries, K, 3),
                 again = query_counted(tree, Q, queries, K, 1);
  assert_true(all.visited > Q * (size_t)N / 2);
  assert_int_equal(all.visited, again.visited);
  for (size_t q = 0; q < Q; q++) {
    struct answers one = query(tree, 1, queries + q * D, K, 1);
    assert_memory_equal(one.rows, all.rows + q * K, K * sizeof *one.rows);
    release(one);
  }
  release(all);
  release(again);
  gpnn_search_free(tree);
  free(x);
  free(queries);
}

/* To look at all rows together costs less than to miss some by oneself. */
static void a_tree_that_looks_at_nearly_all_is_whole(void **state)
{
  (void)state;
  enum { N = 12000, D = 40, K = 10 };
  double *x = normal_rows(N, D, 50);
  struct gpnn_search *tree = build(GPNN_SEARCH_AUTO, N, D, x, K, 0.9, NULL);
  const struct gpnn_search_report *report = gpnn_search_describe(tree);
  assert_int_equal(report->kind, GPNN_SEARCH_TREE);
  assert_int_equal(report->effort, 100);
  assert_near(report->recall, 1, 0);
  assert_true(report->visited > 0.8);
  gpnn_search_free(tree);
  free(x);
}

/* Products of large coordinates say nothing of small distances. */
static void flat_search_loses_nothing_to_products(void **state)
{
  (void)state;
  enum { N = 3000, D = 30, Q = 300, K = 15 };
  double *x = normal_rows(N, D, 51);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < D; j++)
      x[i * D + j] = (i % 3 == 0 ? 1000 : 0) + x[i * D + j] * (i % 2 == 0 ? 1e-3 : 1);
  check_all(N, D, x, Q, x, K);
  free(x);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crowds_are_found_as_by_brute_force_in_row_order),
      cmocka_unit_test(crowds_at_one_distance_mix_by_row_number),
      cmocka_unit_test(a_crowd_is_looked_at_once),
      cmocka_unit_test(two_places_have_two_rows_to_look_at),
      cmocka_unit_test(a_few_alike_are_no_crowd),
      cmocka_unit_test(a_loaded_search_knows_its_crowds),
      cmocka_unit_test(damaged_places_lead_nowhere),
      cmocka_unit_test(queries_together_find_what_each_does),
      cmocka_unit_test(a_tree_that_looks_at_nearly_all_is_whole),
      cmocka_unit_test(flat_search_loses_nothing_to_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
