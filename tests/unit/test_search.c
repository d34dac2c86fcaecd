#include "unit.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/threads.h"
#include "data/search.h"

/* n rows by d columns of normal deviates in a block that the caller frees. */
static double *normal_rows(size_t n, size_t d, uint64_t seed)
{
  struct gpnn_rng rng;
  double *x = gpnn_alloc(n, d, sizeof *x);
  assert_non_null(x);
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  for (size_t i = 0; i < n * d; i++) x[i] = gpnn_rng_normal(&rng);
  return x;
}

static struct gpnn_search *build(enum gpnn_search_kind kind, size_t n, size_t d, const double *x,
                                 size_t neighbours, double recall, const double *lengthscale)
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
};

static struct answers query(const struct gpnn_search *search, size_t n, const double *queries,
                            size_t k, int threads)
{
  struct answers found = {gpnn_alloc(n, k, sizeof *found.rows),
                          gpnn_alloc(n, k, sizeof *found.distances)};
  assert_ok(gpnn_search_query(search, n, queries, k, found.rows, found.distances, threads, &err));
  return found;
}

static void release(struct answers found)
{
  free(found.rows);
  free(found.distances);
}

static void assert_same(struct answers a, struct answers b, size_t n)
{
  assert_memory_equal(a.rows, b.rows, n * sizeof *a.rows);
  assert_memory_equal(a.distances, b.distances, n * sizeof *a.distances);
}

/* A search of 'kind' answers as brute force does, for every query and place. */
static void check_exact(enum gpnn_search_kind kind, size_t n, size_t d, const double *x,
                        size_t n_queries, const double *queries, size_t k,
                        const double *lengthscale)
{
  struct gpnn_search *search = build(kind, n, d, x, k, 1, lengthscale);
  struct gpnn_search *exact = build(GPNN_SEARCH_EXACT, n, d, x, k, 1, lengthscale);
  struct answers got = query(search, n_queries, queries, k, 2);
  struct answers wanted = query(exact, n_queries, queries, k, 2);
  assert_same(got, wanted, n_queries * k);
  release(got);
  release(wanted);
  gpnn_search_free(search);
  gpnn_search_free(exact);
}

static void names_read_back(void **state)
{
  (void)state;
  enum gpnn_search_kind kind = GPNN_SEARCH_EXACT;
  assert_true(gpnn_search_by_name("ivf", &kind));
  assert_int_equal(kind, GPNN_SEARCH_IVF);
  assert_string_equal(gpnn_search_name(kind), "ivf");
  assert_true(gpnn_search_by_name("auto", &kind));
  assert_false(gpnn_search_by_name("exact", &kind)); /* for tests, not for users */
  assert_int_equal(kind, GPNN_SEARCH_AUTO);
}

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

static void flat_equals_brute_force(void **state)
{
  (void)state;
  enum { N = 3000, D = 7, Q = 50 };
  double *x = normal_rows(N, D, 1), *queries = normal_rows(Q, D, 2);
  check_exact(GPNN_SEARCH_FLAT, N, D, x, Q, queries, 1, NULL);
  check_exact(GPNN_SEARCH_FLAT, N, D, x, Q, queries, 150, NULL);
  check_exact(GPNN_SEARCH_FLAT, N, D, x, Q, queries, N, NULL);
  free(x);
  free(queries);
}

/* A grid of few values has hundreds of rows at every distance. */
static void flat_keeps_ties_in_row_order(void **state)
{
  (void)state;
  enum { N = 20000, D = 2 };
  double *x = normal_rows(N, D, 3);
  for (size_t i = 0; i < N * D; i++) x[i] = round(2 * x[i]);
  check_exact(GPNN_SEARCH_FLAT, N, D, x, 40, x, 100, NULL);
  for (size_t i = 0; i < N * D; i++) x[i] = 1;
  check_exact(GPNN_SEARCH_FLAT, N, D, x, 2, x, 20, NULL);
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
    check_exact(GPNN_SEARCH_FLAT, N, D, moved, 40, moved, 30, NULL);
  }
  /* one row far out must not blur the others */
  memcpy(moved, x, N * D * sizeof *x);
  moved[0] = 1e30;
  check_exact(GPNN_SEARCH_FLAT, N, D, moved, 40, moved, 30, NULL);
  free(x);
  free(moved);
}

static void lengthscales_are_the_metric(void **state)
{
  (void)state;
  enum { N = 1000, D = 3 };
  const double lengthscale[D] = {0.1, 2, 1e9};
  double *x = normal_rows(N, D, 5), *scaled = normal_rows(N, D, 5);
  for (size_t i = 0; i < N * D; i++) scaled[i] /= lengthscale[i % D];
  check_exact(GPNN_SEARCH_FLAT, N, D, x, 50, x, 20, lengthscale);
  struct gpnn_search *ours = build(GPNN_SEARCH_FLAT, N, D, x, 20, 1, lengthscale);
  struct gpnn_search *plain = build(GPNN_SEARCH_EXACT, N, D, scaled, 20, 1, NULL);
  struct answers a = query(ours, 50, x, 20, 1), b = query(plain, 50, scaled, 20, 1);
  assert_memory_equal(a.rows, b.rows, 50 * 20 * sizeof *a.rows);
  for (size_t i = 0; i < 50 * 20; i++) assert_close(a.distances[i], b.distances[i], 1e-12);
  release(a);
  release(b);
  const double twice[D] = {0.2, 4, 2e9}, other[D] = {0.2, 4, 2.00001e9}, ones[D] = {3, 3, 3};
  assert_true(gpnn_search_same_metric(D, lengthscale, lengthscale));
  assert_true(gpnn_search_same_metric(D, lengthscale, twice));
  assert_false(gpnn_search_same_metric(D, lengthscale, other));
  assert_false(gpnn_search_same_metric(D, lengthscale, NULL));
  assert_true(gpnn_search_same_metric(D, NULL, ones));
  assert_memory_equal(gpnn_search_lengthscale(ours), lengthscale, sizeof lengthscale);
  assert_null(gpnn_search_lengthscale(plain));
  gpnn_search_free(ours);
  gpnn_search_free(plain);
  free(x);
  free(scaled);
}

static void more_neighbours_than_rows_are_marked_missing(void **state)
{
  (void)state;
  const double x[] = {1, 2, 3};
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_FLAT, GPNN_SEARCH_EXACT,
                                                GPNN_SEARCH_IVF, GPNN_SEARCH_HNSW};
  for (size_t i = 0; i < 4; i++) {
    struct gpnn_search *search = build(kinds[i], 3, 1, x, 5, 1, NULL);
    struct answers found = query(search, 1, x, 5, 2);
    const int64_t rows[] = {0, 1, 2, -1, -1};
    assert_memory_equal(found.rows, rows, sizeof rows);
    assert_true(isinf(found.distances[3]) && isinf(found.distances[4]));
    release(found);
    gpnn_search_free(search);
  }
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
  struct answers a = query(lists, 20, x, K, 2), b = query(plain, 20, x, K, 1);
  assert_memory_equal(a.rows, b.rows, 20 * K * sizeof *a.rows);
  release(a);
  release(b);
  gpnn_search_free(lists);
  gpnn_search_free(plain);
  free(x);
}

static void lists_meet_the_recall_at_less_work(void **state)
{
  (void)state;
  enum { N = 20000, D = 4, K = 10 };
  double *x = normal_rows(N, D, 6), *queries = normal_rows(300, D, 7);
  struct gpnn_search *lists = build(GPNN_SEARCH_AUTO, N, D, x, K, 0.95, NULL);
  struct gpnn_search *exact = build(GPNN_SEARCH_EXACT, N, D, x, K, 1, NULL);
  const struct gpnn_search_report *report = gpnn_search_describe(lists);
  assert_int_equal(report->kind, GPNN_SEARCH_IVF);
  assert_true(report->recall >= 0.95 && report->recall <= 1);
  assert_true(report->visited > 0 && report->visited < 0.2);
  assert_int_equal(report->neighbours, K);
  assert_int_equal(report->n_queries, 256);
  struct answers a = query(lists, 300, queries, K, 2), b = query(exact, 300, queries, K, 2);
  size_t hits = 0;
  for (size_t i = 0; i < 300 * K; i++) hits += a.distances[i] <= b.distances[i / K * K + K - 1];
  assert_true((double)hits / (300 * K) > 0.9);
  for (size_t i = 0; i < 300 * K; i++) assert_true(a.distances[i] >= b.distances[i]);
  release(a);
  release(b);
  gpnn_search_free(lists);
  gpnn_search_free(exact);
  free(x);
  free(queries);
}

static void all_lists_are_exact(void **state)
{
  (void)state;
  enum { N = 4000, D = 3 };
  double *x = normal_rows(N, D, 8);
  struct gpnn_search *lists = build(GPNN_SEARCH_IVF, N, D, x, 3000, 1, NULL);
  assert_near(gpnn_search_describe(lists)->recall, 1, 0);
  gpnn_search_free(lists);
  check_exact(GPNN_SEARCH_IVF, N, D, x, 100, x, 3900, NULL);
  free(x);
}

static void auto_is_flat_where_lists_do_not_pay(void **state)
{
  (void)state;
  enum { N = 12000, D = 40 };
  double *x = normal_rows(N, D, 9);
  struct gpnn_search *few = build(GPNN_SEARCH_AUTO, 500, D, x, 10, 0.99, NULL);
  assert_int_equal(gpnn_search_describe(few)->kind, GPNN_SEARCH_FLAT);
  gpnn_search_free(few);
  struct gpnn_search *wide = build(GPNN_SEARCH_AUTO, N, D, x, 100, 0.999, NULL);
  assert_int_equal(gpnn_search_describe(wide)->kind, GPNN_SEARCH_FLAT);
  assert_near(gpnn_search_describe(wide)->recall, 1, 0);
  gpnn_search_free(wide);
  free(x);
}

static void a_graph_reaches_its_recall(void **state)
{
  (void)state;
  enum { N = 5000, D = 6 };
  double *x = normal_rows(N, D, 10);
  struct gpnn_search *graph = build(GPNN_SEARCH_HNSW, N, D, x, 20, 0.98, NULL);
  assert_int_equal(gpnn_search_describe(graph)->kind, GPNN_SEARCH_HNSW);
  assert_true(gpnn_search_describe(graph)->recall >= 0.98);
  gpnn_search_free(graph);
  free(x);
}

static const enum gpnn_search_kind engines[] = {GPNN_SEARCH_FLAT, GPNN_SEARCH_IVF, GPNN_SEARCH_HNSW,
                                                GPNN_SEARCH_EXACT};

static void batches_and_threads_do_not_matter(void **state)
{
  (void)state;
  enum { N = 6000, D = 5, Q = 120, K = 40 };
  double *x = normal_rows(N, D, 11), *queries = normal_rows(Q, D, 12);
  for (size_t i = 0; i < N * D; i++) x[i] = round(20 * x[i]); /* with some ties */
  for (size_t e = 0; e < 4; e++) {
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
        assert_same(part, (struct answers){whole.rows + from * K, whole.distances + from * K},
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

/* What 'search' saves, in a block the caller frees. */
static char *saved(const struct gpnn_search *search, size_t *length)
{
  char *bytes = NULL;
  FILE *file = open_memstream(&bytes, length);
  assert_non_null(file);
  assert_ok(gpnn_search_save(search, file, &err));
  assert_int_equal(fclose(file), 0);
  return bytes;
}

static void two_builds_are_the_same_bytes(void **state)
{
  (void)state;
  enum { N = 4000, D = 24 };
  double *x = normal_rows(N, D, 13);
  for (size_t e = 1; e <= 2; e++) {
    struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
    options.kind = engines[e];
    options.neighbours = 10;
    options.recall = 0.5;
    char *first = NULL;
    size_t first_length = 0;
    for (int threads = 1; threads <= 3; threads++) {
      struct gpnn_search *search = NULL;
      options.threads = threads;
      assert_ok(gpnn_search_build(&search, N, D, x, &options, &err));
      size_t length = 0;
      char *bytes = saved(search, &length);
      assert_true(length > N * D * sizeof(float));
      if (first != NULL) assert_int_equal(length, first_length);
      if (first != NULL) assert_memory_equal(bytes, first, length);
      free(first);
      first = bytes;
      first_length = length;
      gpnn_search_free(search);
    }
    free(first);
  }
  free(x);
}

static void a_loaded_search_answers_the_same(void **state)
{
  (void)state;
  enum { N = 3000, D = 4, Q = 60, K = 15 };
  const double lengthscale[D] = {1, 2, 0.5, 3};
  double *x = normal_rows(N, D, 14), *queries = normal_rows(Q, D, 15);
  for (size_t e = 0; e < 4; e++) {
    struct gpnn_search *search = build(engines[e], N, D, x, K, 0.9, lengthscale), *loaded = NULL;
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs("elsewhere", file); /* not at the start of the file */
    assert_ok(gpnn_search_save(search, file, &err));
    assert_int_equal(fseek(file, 9, SEEK_SET), 0);
    assert_ok(
        gpnn_search_load(&loaded, file, N, D, x, gpnn_search_describe(search), lengthscale, &err));
    fclose(file);
    assert_memory_equal(gpnn_search_describe(loaded), gpnn_search_describe(search),
                        sizeof(struct gpnn_search_report));
    struct answers a = query(search, Q, queries, K, 2), b = query(loaded, Q, queries, K, 2);
    assert_same(a, b, Q * K);
    release(a);
    release(b);
    gpnn_search_free(search);
    gpnn_search_free(loaded);
  }
  free(x);
  free(queries);
}

static void a_search_of_other_rows_is_refused(void **state)
{
  (void)state;
  enum { N = 1000, D = 2 };
  double *x = normal_rows(N, D, 16);
  for (size_t e = 1; e <= 2; e++) {
    struct gpnn_search *search = build(engines[e], N, D, x, 5, 0.9, NULL), *loaded = NULL;
    struct gpnn_search_report report = *gpnn_search_describe(search), other = report;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_ok(gpnn_search_save(search, file, &err));
    gpnn_search_free(search);
    rewind(file);
    assert_fails(gpnn_search_load(&loaded, file, N - 1, D, x, &report, NULL, &err), GPNN_EFORMAT,
                 "does not fit");
    rewind(file);
    assert_fails(gpnn_search_load(&loaded, file, N / 2, 2 * D, x, &report, NULL, &err),
                 GPNN_EFORMAT, "does not fit");
    other.effort = 0;
    rewind(file);
    assert_fails(gpnn_search_load(&loaded, file, N, D, x, &other, NULL, &err), GPNN_EFORMAT,
                 "does not fit");
    other = report;
    other.kind = engines[3 - e];
    rewind(file);
    assert_fails(gpnn_search_load(&loaded, file, N, D, x, &other, NULL, &err), GPNN_EFORMAT,
                 "does not fit");
    fseek(file, 0, SEEK_END);
    assert_fails(gpnn_search_load(&loaded, file, N, D, x, &report, NULL, &err), GPNN_EEXTERNAL,
                 "faiss");
    assert_null(loaded);
    fclose(file);
  }
  free(x);
}

static void a_full_disk_is_a_system_failure(void **state)
{
  (void)state;
  double *x = normal_rows(2000, 3, 17);
  struct gpnn_search *search = build(GPNN_SEARCH_IVF, 2000, 3, x, 5, 0.9, NULL);
  FILE *full = fopen("/dev/full", "w");
  if (full == NULL) skip();
  setvbuf(full, NULL, _IONBF, 0);
  assert_fails(gpnn_search_save(search, full, &err), GPNN_EIO, "No space");
  fclose(full);
  gpnn_search_free(search);
  free(x);
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
      cmocka_unit_test(names_read_back),
      cmocka_unit_test(brute_force_orders_by_distance_then_row),
      cmocka_unit_test(flat_equals_brute_force),
      cmocka_unit_test(flat_keeps_ties_in_row_order),
      cmocka_unit_test(single_precision_loses_no_neighbours),
      cmocka_unit_test(lengthscales_are_the_metric),
      cmocka_unit_test(more_neighbours_than_rows_are_marked_missing),
      cmocka_unit_test(lists_that_run_dry_are_made_up_for),
      cmocka_unit_test(lists_meet_the_recall_at_less_work),
      cmocka_unit_test(all_lists_are_exact),
      cmocka_unit_test(auto_is_flat_where_lists_do_not_pay),
      cmocka_unit_test(a_graph_reaches_its_recall),
      cmocka_unit_test(batches_and_threads_do_not_matter),
      cmocka_unit_test(two_builds_are_the_same_bytes),
      cmocka_unit_test(a_loaded_search_answers_the_same),
      cmocka_unit_test(a_search_of_other_rows_is_refused),
      cmocka_unit_test(a_full_disk_is_a_system_failure),
      cmocka_unit_test(bad_arguments_are_refused),
  };
  gpnn_threads_single_blas();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
