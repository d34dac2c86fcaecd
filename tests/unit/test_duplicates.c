/* Searches of rows many of which are identical. */
#include "searches.h"

static const enum gpnn_search_kind engines[] = {GPNN_SEARCH_TREE, GPNN_SEARCH_FLAT, GPNN_SEARCH_IVF,
                                                GPNN_SEARCH_HNSW};
enum { N_ENGINES = sizeof engines / sizeof *engines };

/* Normal rows, of which a 'fraction' are copies of 'n_distinct' rows in turn. */
static double *copied_rows(size_t n, size_t d, size_t n_distinct, double fraction, uint64_t seed)
{
  double *x = normal_rows(n, d, seed);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d && (double)(i * 7919 % n) < fraction * (double)n; j++)
      x[i * d + j] = (double)(i % n_distinct) + 0.25;
  return x;
}

static void copies_are_found_as_by_brute_force_in_row_order(void **state)
{
  (void)state;
  enum { N = 3000, D = 3, Q = 60 };
  static const size_t distinct[] = {1, 2, 40};
  static const double fractions[] = {0.9, 1};
  for (size_t p = 0; p < 3; p++)
    for (size_t s = 0; s < 2; s++) {
      double *x = copied_rows(N, D, distinct[p], fractions[s], 40 + p);
      check_flat_and_tree(N, D, x, Q, x, 50, NULL);
      check_flat_and_tree(N, D, x, 5, x + N / 2 * D, N, NULL);
      free(x);
    }
}

/* The corners of a cube are equally far from its middle. */
static void copies_of_equally_near_rows_mix_by_row_number(void **state)
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
  check_flat_and_tree(N, D, x, 20, x, K, NULL);
  free(x);
}

static void copies_are_looked_at_once(void **state)
{
  (void)state;
  enum { N = 50000, D = 3, Q = 50, K = 20 };
  double *x = copied_rows(N, D, 1, 0.9, 42), *distinct = normal_rows(N, D, 42);
  struct gpnn_search *tree = build(GPNN_SEARCH_TREE, N, D, x, K, 1, NULL);
  struct gpnn_search *plain = build(GPNN_SEARCH_TREE, N, D, distinct, K, 1, NULL);
  struct answers copied = query_counted(tree, Q, x, K, 2),
                 usual = query_counted(plain, Q, distinct, K, 2);
  assert_true(copied.visited <= 2 * usual.visited);
  release(copied);
  release(usual);
  gpnn_search_free(tree);
  gpnn_search_free(plain);
  free(x);
  free(distinct);
}

static void of_copies_of_two_rows_two_are_looked_at(void **state)
{
  (void)state;
  enum { N = 20000, D = 2, Q = 40, K = 64 };
  double *x = copied_rows(N, D, 2, 1, 43);
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

/* Nothing is stored beside the structure. */
static void a_few_copies_are_searched_as_they_are(void **state)
{
  (void)state;
  enum { N = 3000, D = 3, FEW = GPNN_TREE_LEAF };
  double *x = normal_rows(N, D, 44);
  size_t length;
  for (size_t n = FEW; n <= FEW + 1; n++) {
    for (size_t i = 0; i < n * D; i++) x[i] = 0.5;
    struct gpnn_search *tree = build(GPNN_SEARCH_TREE, N, D, x, 10, 1, NULL);
    assert_int_equal(gpnn_search_duplicates(tree, &length) != NULL, n > FEW);
    assert_int_equal(length, n > FEW ? (2 * N - FEW) * sizeof(uint32_t) : 0);
    gpnn_search_free(tree);
  }
  free(x);
}

static void a_loaded_search_knows_its_duplicates(void **state)
{
  (void)state;
  enum { N = 3000, D = 2, Q = 40, K = 30 };
  double *x = copied_rows(N, D, 3, 0.8, 45);
  for (size_t e = 0; e < N_ENGINES; e++) {
    struct gpnn_search *search = build(engines[e], N, D, x, K, 1, NULL), *loaded = NULL;
    struct copy copy = copy_of(search);
    const struct gpnn_search_report *report = gpnn_search_describe(search);
    const size_t wrong[] = {copy.stored.duplicates_length - 1, N * sizeof(uint32_t)};
    assert_ok(gpnn_search_load(&loaded, copy.stored, N, D, x, report, searches_euclidean, &err));
    assert_same_search(search, loaded, Q, x, K);
    gpnn_search_free(loaded);
    for (size_t i = 0; i < 2; i++) {
      struct gpnn_search_stored part = copy.stored;
      part.duplicates_length = wrong[i];
      assert_fails(gpnn_search_load(&loaded, part, N, D, x, report, searches_euclidean, &err),
                   GPNN_EFORMAT, "fit");
    }
    copy_release(&copy);
    gpnn_search_free(search);
  }
  free(x);
}

static void damaged_duplicates_lead_to_rows_in_range(void **state)
{
  (void)state;
  enum { N = 2000, D = 2, Q = 30, K = 25, ROUNDS = 20 };
  double *x = copied_rows(N, D, 3, 0.8, 46);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 47, GPNN_RNG_TEST);
  for (size_t e = 0; e < 2 * ROUNDS; e++) {
    struct gpnn_search *search = build(engines[e % 2], N, D, x, K, 1, NULL), *loaded = NULL;
    struct copy copy = copy_of(search);
    for (size_t i = 0; i < copy.stored.duplicates_length / sizeof(uint32_t); i++)
      if (gpnn_rng_uniform(&rng) < 0.3)
        copy.duplicates[i] = (uint32_t)(gpnn_rng_uniform(&rng) * (e % 4 < 2 ? 2 * N : 4e9));
    assert_ok(gpnn_search_load(&loaded, copy.stored, N, D, x, gpnn_search_describe(search),
                               searches_euclidean, &err));
    struct answers found = query(loaded, Q, x, K, 1);
    for (size_t i = 0; i < Q * K; i++) assert_true(found.rows[i] >= -1 && found.rows[i] < N);
    release(found);
    gpnn_search_free(loaded);
    copy_release(&copy);
    gpnn_search_free(search);
  }
  free(x);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_are_found_as_by_brute_force_in_row_order),
      cmocka_unit_test(copies_of_equally_near_rows_mix_by_row_number),
      cmocka_unit_test(copies_are_looked_at_once),
      cmocka_unit_test(of_copies_of_two_rows_two_are_looked_at),
      cmocka_unit_test(a_few_copies_are_searched_as_they_are),
      cmocka_unit_test(a_loaded_search_knows_its_duplicates),
      cmocka_unit_test(damaged_duplicates_lead_to_rows_in_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
