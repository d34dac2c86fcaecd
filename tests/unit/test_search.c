/* What every engine answers. */
#include "searches.h"

#include "linalg/blas_threads.h"

static const enum gpnn_search_kind engines[] = {GPNN_SEARCH_FLAT, GPNN_SEARCH_IVF, GPNN_SEARCH_HNSW,
                                                GPNN_SEARCH_TREE, GPNN_SEARCH_EXACT};
enum { N_ENGINES = sizeof engines / sizeof *engines };

/* Six rows on a line, distances by hand, a tie at rows 1 and 3. */
static void brute_force_orders_by_distance_then_row(void **state)
{
  (void)state;
  const double x[] = {5, 1, 0.25, -1, 9, -2}, at = 0;
  struct gpnn_search *exact = build(GPNN_SEARCH_EXACT, 6, 1, x, 4, 1, NULL);
  struct answers found = query(exact, 1, &at, 5, 1);
  const int64_t rows[] = {2, 1, 3, 5, 0};
  const double distances[] = {0.0625, 1, 1, 4, 25};
  assert_memory_equal(found.rows, rows, sizeof rows);
  assert_memory_equal(found.distances, distances, sizeof distances);
  release(found);
  gpnn_search_free(exact);
}

static void flat_and_tree_equal_brute_force(void **state)
{
  (void)state;
  enum { N = 3000, D = 7, Q = 50 };
  double *x = normal_rows(N, D, 1), *queries = normal_rows(Q, D, 2);
  check_flat_and_tree(N, D, x, Q, queries, 1, NULL);
  check_flat_and_tree(N, D, x, Q, queries, 150, NULL);
  check_flat_and_tree(N, D, x, Q, queries, N, NULL);
  free(x);
  free(queries);
}

/* A grid of few values has hundreds of rows at every distance. */
static void flat_and_tree_keep_ties_in_row_order(void **state)
{
  (void)state;
  enum { N = 20000, D = 2 };
  double *x = normal_rows(N, D, 3);
  for (size_t i = 0; i < N * D; i++) x[i] = round(2 * x[i]);
  check_flat_and_tree(N, D, x, 40, x, 100, NULL);
  for (size_t i = 0; i < N * D; i++) x[i] = 1;
  check_flat_and_tree(N, D, x, 2, x, 20, NULL);
  free(x);
}

static void single_precision_loses_no_neighbours(void **state)
{
  (void)state;
  enum { N = 2000, D = 3 };
  double *x = normal_rows(N, D, 4);
  double *moved = normal_rows(N, D, 4);
  static const double centres[] = {4e6, -1e9, 3e3}, units[] = {1, 1e-130, 1e140};
  for (size_t u = 0; u < 3; u++) {
    for (size_t i = 0; i < N * D; i++) moved[i] = (x[i] + centres[i % D]) * units[u];
    check_flat_and_tree(N, D, moved, 40, moved, 30, NULL);
  }
  /* one row far out must not cost the others precision */
  memcpy(moved, x, N * D * sizeof *x);
  moved[0] = 1e30;
  check_flat_and_tree(N, D, moved, 40, moved, 30, NULL);
  /* nor must all rows but a few */
  for (size_t i = 0; i < N - 5; i++) moved[i * D] = x[i * D] * 1e30;
  check_exact(GPNN_SEARCH_TREE, N, D, moved, 40, moved, 30, NULL);
  free(x);
  free(moved);
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
  check_flat_and_tree(N, D, x, Q, x, K, NULL);
  free(x);
}

static void lengthscales_are_the_metric(void **state)
{
  (void)state;
  enum { N = 1000, D = 3 };
  const double lengthscale[D] = {0.1, 2, 1e9};
  double *x = normal_rows(N, D, 5), *scaled = normal_rows(N, D, 5);
  for (size_t i = 0; i < N * D; i++) scaled[i] /= lengthscale[i % D];
  check_flat_and_tree(N, D, x, 50, x, 20, lengthscale);
  struct gpnn_search *ours = build(GPNN_SEARCH_FLAT, N, D, x, 20, 1, lengthscale);
  struct gpnn_search *plain = build(GPNN_SEARCH_EXACT, N, D, scaled, 20, 1, NULL);
  struct answers a = query(ours, 50, x, 20, 1), b = query(plain, 50, scaled, 20, 1);
  assert_memory_equal(a.rows, b.rows, 50 * 20 * sizeof *a.rows);
  for (size_t i = 0; i < 50 * 20; i++) assert_close(a.distances[i], b.distances[i], 1e-12);
  release(a);
  release(b);
  const double twice[D] = {0.2, 4, 2e9}, other[D] = {0.2, 4, 2.00001e9}, ones[D] = {3, 3, 3};
  const struct gpnn_search_metric metric = {lengthscale, NULL}, none = {NULL, NULL};
  assert_true(gpnn_search_same_metric(D, metric, metric));
  assert_true(gpnn_search_same_metric(D, metric, (struct gpnn_search_metric){twice, NULL}));
  assert_false(gpnn_search_same_metric(D, metric, (struct gpnn_search_metric){other, NULL}));
  assert_false(gpnn_search_same_metric(D, metric, none));
  assert_true(gpnn_search_same_metric(D, none, (struct gpnn_search_metric){ones, NULL}));
  assert_memory_equal(gpnn_search_metric(ours).lengthscale, lengthscale, sizeof lengthscale);
  assert_null(gpnn_search_metric(plain).lengthscale);
  gpnn_search_free(ours);
  gpnn_search_free(plain);
  free(x);
  free(scaled);
}

/* A rotation is a map of the rows before their lengthscales. */
static void a_rotation_is_part_of_the_metric(void **state)
{
  (void)state;
  enum { N = 1500, D = 4, Q = 30, K = 20 };
  const double lengthscale[D] = {0.5, 1, 2, 8};
  double *x = normal_rows(N, D, 31), *rotation = normal_rows(D, D, 32),
         *rotated = normal_rows(N, D, 31);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < D; j++) {
      rotated[i * D + j] = 0;
      for (size_t l = 0; l < D; l++) rotated[i * D + j] += rotation[j * D + l] * x[i * D + l];
    }
  struct gpnn_search *plain = build(GPNN_SEARCH_EXACT, N, D, rotated, K, 1, lengthscale);
  struct answers wanted = query(plain, Q, rotated, K, 1);
  for (size_t e = 0; e < N_ENGINES; e++) {
    struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
    struct gpnn_search *search = NULL;
    options.kind = engines[e];
    options.recall = 1;
    options.neighbours = K;
    options.lengthscale = lengthscale;
    options.rotation = rotation;
    assert_ok(gpnn_search_build(&search, N, D, x, &options, &err));
    struct answers got = query(search, Q, x, K, 2);
    assert_memory_equal(got.rows, wanted.rows, Q * K * sizeof *got.rows);
    for (size_t i = 0; i < Q * K; i++) assert_near(got.distances[i], wanted.distances[i], 1e-11);
    assert_memory_equal(gpnn_search_metric(search).rotation, rotation, D * D * sizeof *rotation);
    release(got);
    gpnn_search_free(search);
  }
  const struct gpnn_search_metric a = {lengthscale, rotation}, b = {lengthscale, NULL},
                                  c = {lengthscale, rotated};
  assert_true(gpnn_search_same_metric(D, a, a));
  assert_false(gpnn_search_same_metric(D, a, b));
  assert_false(gpnn_search_same_metric(D, b, a));
  assert_false(gpnn_search_same_metric(D, a, c));
  release(wanted);
  gpnn_search_free(plain);
  free(x);
  free(rotation);
  free(rotated);
}

static void more_neighbours_than_rows_are_marked_missing(void **state)
{
  (void)state;
  const double x[] = {1, 2, 3};
  for (size_t e = 0; e < N_ENGINES; e++) {
    struct gpnn_search *search = build(engines[e], 3, 1, x, 5, 1, NULL);
    struct answers found = query(search, 1, x, 5, 2);
    const int64_t rows[] = {0, 1, 2, -1, -1};
    assert_memory_equal(found.rows, rows, sizeof rows);
    assert_true(isinf(found.distances[3]) && isinf(found.distances[4]));
    release(found);
    gpnn_search_free(search);
  }
}

static void without_queries_or_neighbours_nothing_is_written(void **state)
{
  (void)state;
  const double x[] = {1, 2, 3};
  for (size_t e = 0; e < N_ENGINES; e++) {
    struct gpnn_search *search = build(engines[e], 3, 1, x, 2, 1, NULL);
    int64_t row = 7;
    double distance = 8;
    assert_ok(gpnn_search_query(search, 0, x, 2, &row, &distance, 2, &err));
    assert_ok(gpnn_search_query(search, 3, x, 0, &row, &distance, 2, &err));
    assert_int_equal(row, 7);
    assert_near(distance, 8, 0);
    gpnn_search_free(search);
  }
}

/* Which rows a NaN finds is not specified, but they exist. */
static void a_query_that_is_not_a_number_finds_rows_in_range(void **state)
{
  (void)state;
  enum { N = 500, D = 2, K = 3 };
  double *x = normal_rows(N, D, 52);
  const double query_nan[D] = {NAN, 0};
  for (size_t e = 0; e < N_ENGINES; e++) {
    struct gpnn_search *search = build(engines[e], N, D, x, K, 1, NULL);
    struct answers found = query(search, 1, query_nan, K, 1);
    for (size_t i = 0; i < K; i++) {
      assert_in_range(found.rows[i], 0, N - 1);
      assert_true(isinf(found.distances[i]));
    }
    release(found);
    gpnn_search_free(search);
  }
  free(x);
}

static void lists_that_run_dry_are_made_up_for(void **state)
{
  (void)state;
  enum { N = 2000, D = 2, K = 1500 };
  double *x = normal_rows(N, D, 8);
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *lists = NULL;
  options.kind = GPNN_SEARCH_IVF;
  options.neighbours = 5; /* few lists do for 5 and cannot hold 1500 */
  options.recall = 0.5;
  assert_ok(gpnn_search_build(&lists, N, D, x, &options, &err));
  assert_true(gpnn_search_describe(lists)->visited < 0.5);
  struct gpnn_search *plain = build(GPNN_SEARCH_EXACT, N, D, x, K, 1, NULL);
  assert_same_search(lists, plain, 20, x, K);
  gpnn_search_free(lists);
  gpnn_search_free(plain);
  free(x);
}

static void batches_and_threads_do_not_matter(void **state)
{
  (void)state;
  enum { N = 6000, D = 5, Q = 120, K = 40 };
  double *x = normal_rows(N, D, 11), *queries = normal_rows(Q, D, 12);
  for (size_t i = 0; i < N * D; i++) x[i] = round(20 * x[i]); /* with some ties */
  for (size_t e = 0; e < N_ENGINES; e++) {
    struct gpnn_search *search = build(engines[e], N, D, x, K, 0.9, NULL);
    struct answers whole = query(search, Q, queries, K, 1);
    for (int threads = 2; threads <= 3; threads++) {
      struct answers same = query(search, Q, queries, K, threads);
      assert_same(same, whole, Q * K);
      release(same);
    }
    static const size_t batches[] = {1, 7, 33};
    for (size_t b = 0; b < 3; b++) {
      for (size_t from = 0; from < Q; from += batches[b]) {
        size_t n = Q - from < batches[b] ? Q - from : batches[b];
        struct answers part = query(search, n, queries + from * D, K, 2);
        assert_same(part, (struct answers){whole.rows + from * K, whole.distances + from * K, 0},
                    n * K);
        release(part);
      }
    }
    release(whole);
    gpnn_search_free(search);
  }
  free(x);
  free(queries);
}

/* Queries of each of several places come one after another; a search that knows no order keeps it.
 */
static void queries_are_ordered_by_where_they_find_rows(void **state)
{
  (void)state;
  enum { N = 4000, D = 3, Q = 300, PLACES = 5 };
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_TREE, GPNN_SEARCH_EXACT};
  double *x = normal_rows(N, D, 54), *queries = normal_rows(Q, D, 55);
  for (size_t i = 0; i < N; i++) x[i * D] += 100 * (double)(i % PLACES);
  for (size_t q = 0; q < Q; q++) queries[q * D] += 100 * (double)(q % PLACES);
  for (size_t kind = 0; kind < 2; kind++) {
    struct gpnn_search *search = build(kinds[kind], N, D, x, 5, 1, NULL);
    size_t order[Q], n_moves = 0;
    bool is_there[Q] = {false};
    assert_ok(gpnn_search_order(search, Q, queries, 2, order, &err));
    for (size_t i = 0; i < Q; i++) {
      is_there[order[i]] = true;
      n_moves += i > 0 && order[i] % PLACES != order[i - 1] % PLACES;
    }
    for (size_t i = 0; i < Q; i++) assert_true(is_there[i]);
    assert_int_equal(n_moves, kind == 0 ? PLACES - 1 : Q - 1);
    gpnn_search_free(search);
  }
  free(x);
  free(queries);
}

static void bad_arguments_are_refused(void **state)
{
  (void)state;
  const double x[] = {1, 2}, negative[] = {-1};
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  options.recall = 1.5;
  assert_fails(gpnn_search_build(&search, 2, 1, x, &options, &err), GPNN_EINVAL, "recall");
  options.recall = 1;
  assert_fails(gpnn_search_build(&search, 0, 1, x, &options, &err), GPNN_EINVAL, "rows");
  options.lengthscale = negative;
  assert_fails(gpnn_search_build(&search, 2, 1, x, &options, &err), GPNN_ENUMERIC, "lengthscale 1");
  assert_null(search);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(brute_force_orders_by_distance_then_row),
      cmocka_unit_test(flat_and_tree_equal_brute_force),
      cmocka_unit_test(flat_and_tree_keep_ties_in_row_order),
      cmocka_unit_test(single_precision_loses_no_neighbours),
      cmocka_unit_test(flat_search_loses_nothing_to_products),
      cmocka_unit_test(lengthscales_are_the_metric),
      cmocka_unit_test(a_rotation_is_part_of_the_metric),
      cmocka_unit_test(more_neighbours_than_rows_are_marked_missing),
      cmocka_unit_test(without_queries_or_neighbours_nothing_is_written),
      cmocka_unit_test(a_query_that_is_not_a_number_finds_rows_in_range),
      cmocka_unit_test(lists_that_run_dry_are_made_up_for),
      cmocka_unit_test(batches_and_threads_do_not_matter),
      cmocka_unit_test(queries_are_ordered_by_where_they_find_rows),
      cmocka_unit_test(bad_arguments_are_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
