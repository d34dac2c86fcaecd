#include "queries.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/blas_threads.h"
#include "search/search.h"
#include "search/search_private.h"

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
  assert_true(gpnn_search_by_name("tree", &kind));
  assert_int_equal(kind, GPNN_SEARCH_TREE);
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

/* Those that owe what brute force finds. */
static const enum gpnn_search_kind faithful[] = {GPNN_SEARCH_FLAT, GPNN_SEARCH_TREE};

static void flat_and_tree_equal_brute_force(void **state)
{
  (void)state;
  enum { N = 3000, D = 7, Q = 50 };
  double *x = normal_rows(N, D, 1), *queries = normal_rows(Q, D, 2);
  for (size_t i = 0; i < 2; i++) {
    check_exact(faithful[i], N, D, x, Q, queries, 1, NULL);
    check_exact(faithful[i], N, D, x, Q, queries, 150, NULL);
    check_exact(faithful[i], N, D, x, Q, queries, N, NULL);
  }
  free(x);
  free(queries);
}

/* Sizes around those of blocks, leaves and groups; few and many columns. */
static void a_tree_of_any_size_equals_brute_force(void **state)
{
  (void)state;
  static const size_t sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 500, 511, 512, 513, 8191, 8193};
  static const size_t widths[] = {1, 2, 16, 17, 40};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      size_t n = sizes[i], d = widths[w];
      double *x = normal_rows(n, d, 20 + i);
      check_exact(GPNN_SEARCH_TREE, n, d, x, n < 20 ? n : 20, x, 10, NULL);
      free(x);
    }
}

/* A grid of few values has hundreds of rows at every distance. */
static void flat_and_tree_keep_ties_in_row_order(void **state)
{
  (void)state;
  enum { N = 20000, D = 2 };
  double *x = normal_rows(N, D, 3);
  for (size_t i = 0; i < N * D; i++) x[i] = round(2 * x[i]);
  for (size_t i = 0; i < 2; i++) check_exact(faithful[i], N, D, x, 40, x, 100, NULL);
  for (size_t i = 0; i < N * D; i++) x[i] = 1;
  for (size_t i = 0; i < 2; i++) check_exact(faithful[i], N, D, x, 2, x, 20, NULL);
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
    for (size_t i = 0; i < 2; i++) check_exact(faithful[i], N, D, moved, 40, moved, 30, NULL);
  }
  /* one row far out must not blur the others */
  memcpy(moved, x, N * D * sizeof *x);
  moved[0] = 1e30;
  for (size_t i = 0; i < 2; i++) check_exact(faithful[i], N, D, moved, 40, moved, 30, NULL);
  /* nor must all but a few that are */
  for (size_t i = 0; i < N - 5; i++) moved[i * D] = x[i * D] * 1e30;
  check_exact(GPNN_SEARCH_TREE, N, D, moved, 40, moved, 30, NULL);
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
  for (size_t i = 0; i < 2; i++) check_exact(faithful[i], N, D, x, 50, x, 20, lengthscale);
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
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_TREE, GPNN_SEARCH_FLAT, GPNN_SEARCH_IVF,
                                                GPNN_SEARCH_HNSW, GPNN_SEARCH_EXACT};
  const double lengthscale[D] = {0.5, 1, 2, 8};
  double *x = normal_rows(N, D, 31), *rotation = normal_rows(D, D, 32),
         *turned = normal_rows(N, D, 31);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < D; j++) {
      turned[i * D + j] = 0;
      for (size_t l = 0; l < D; l++) turned[i * D + j] += rotation[j * D + l] * x[i * D + l];
    }
  struct gpnn_search *plain = build(GPNN_SEARCH_EXACT, N, D, turned, K, 1, lengthscale);
  struct answers wanted = query(plain, Q, turned, K, 1);
  for (size_t e = 0; e < 5; e++) {
    struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
    struct gpnn_search *search = NULL;
    options.kind = kinds[e];
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
                                  c = {lengthscale, turned};
  assert_true(gpnn_search_same_metric(D, a, a));
  assert_false(gpnn_search_same_metric(D, a, b));
  assert_false(gpnn_search_same_metric(D, b, a));
  assert_false(gpnn_search_same_metric(D, a, c));
  release(wanted);
  gpnn_search_free(plain);
  free(x);
  free(rotation);
  free(turned);
}

static void more_neighbours_than_rows_are_marked_missing(void **state)
{
  (void)state;
  const double x[] = {1, 2, 3};
  static const enum gpnn_search_kind kinds[] = {
      GPNN_SEARCH_FLAT, GPNN_SEARCH_EXACT, GPNN_SEARCH_IVF, GPNN_SEARCH_HNSW, GPNN_SEARCH_TREE};
  for (size_t i = 0; i < 5; i++) {
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
  struct gpnn_search *lists = build(GPNN_SEARCH_IVF, N, D, x, K, 0.95, NULL);
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

/* Few rows beside many neighbours, or more work than they are worth to miss some. */
static void a_tree_misses_neighbours_only_where_that_pays(void **state)
{
  (void)state;
  enum { N = 60000, D = 8, Q = 200, K = 10 };
  double *x = normal_rows(N, D, 9), *queries = normal_rows(Q, D, 33);
  struct gpnn_search *few = build(GPNN_SEARCH_AUTO, 500, D, x, 100, 0.9, NULL);
  assert_int_equal(gpnn_search_describe(few)->kind, GPNN_SEARCH_TREE);
  assert_int_equal(gpnn_search_describe(few)->effort, 100);
  assert_near(gpnn_search_describe(few)->recall, 1, 0);
  assert_near(gpnn_search_describe(few)->asked, 0.9, 0);
  gpnn_search_free(few);
  struct gpnn_search *many = build(GPNN_SEARCH_AUTO, N, D, x, K, 0.9, NULL);
  const struct gpnn_search_report *report = gpnn_search_describe(many);
  assert_true(report->effort < 100 && report->recall >= 0.9 && report->recall < 1);
  assert_int_equal(report->n_queries, 256);
  struct gpnn_search *whole = build(GPNN_SEARCH_TREE, N, D, x, K, 1, NULL);
  assert_int_equal(gpnn_search_describe(whole)->effort, 100);
  assert_true(report->visited < gpnn_search_describe(whole)->visited);
  struct answers a = query(many, Q, queries, K, 2), b = query(whole, Q, queries, K, 2);
  size_t hits = 0;
  for (size_t i = 0; i < Q * K; i++) hits += a.distances[i] <= b.distances[i / K * K + K - 1];
  assert_true((double)hits / (Q * K) > 0.85);
  release(a);
  release(b);
  gpnn_search_free(many);
  gpnn_search_free(whole);
  free(x);
  free(queries);
}

static void a_small_tree_is_not_tuned_nor_a_middling_one_for_few_queries(void **state)
{
  (void)state;
  enum { D = 3, K = 5 };
  static const struct {
    size_t n, n_queries;
    bool brief;
  } cases[] = {{2000, 0, false}, {12000, 256, false}, {12000, 0, true}, {360000, 32, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double *x = normal_rows(cases[i].n, D, 34);
    struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
    struct gpnn_search *search = NULL;
    options.brief = cases[i].brief;
    options.neighbours = K;
    assert_ok(gpnn_search_build(&search, cases[i].n, D, x, &options, &err));
    assert_int_equal(gpnn_search_describe(search)->kind, GPNN_SEARCH_TREE);
    assert_int_equal(gpnn_search_describe(search)->n_queries, cases[i].n_queries);
    if (cases[i].n_queries == 0) assert_int_equal(gpnn_search_describe(search)->effort, 100);
    gpnn_search_free(search);
    free(x);
  }
}

/* Queries abreast see what each does, unless all rows are too far for all of them. */
static void check_abreast(size_t d, const float *block, const double *random)
{
  enum { LANES = GPNN_TREE_LANES, N = GPNN_TREE_TOGETHER, MOST = 70 };
  const struct gpnn_tree_loops *loops[] = {gpnn_tree_loops(), &gpnn_tree_loops_portable};
  float queries[N][MOST], bounds[N], all[2][N * LANES], one[LANES];
  const float *each[N];
  uint32_t positions[LANES];
  for (size_t q = 0; q < N; q++) {
    each[q] = queries[q];
    bounds[q] = q == 2 ? 1e30F : 0;
    for (size_t j = 0; j < d; j++) queries[q][j] = (float)random[q * MOST + j];
  }
  for (size_t l = 0; l < 2; l++) {
    assert_true(loops[l]->measure(d, block, each, bounds, all[l]));
    for (size_t q = 0; q < N; q++) {
      assert_int_equal(loops[l]->scan(d, block, each[q], 1e30F, 0, one, positions), LANES);
      for (size_t i = 0; i < LANES; i++) assert_close(all[l][q * LANES + i], one[i], 1e-5);
    }
    bounds[2] = -1;
    assert_false(loops[l]->measure(d, block, each, bounds, all[l]));
    bounds[2] = 1e30F;
  }
}

/* Every machine has loops of its own, and all of them see the same. */
static void the_loops_of_this_machine_are_the_portable_ones(void **state)
{
  (void)state;
  enum { MOST = 70, LANES = GPNN_TREE_LANES };
  const struct gpnn_tree_loops *ours = gpnn_tree_loops(), *plain = &gpnn_tree_loops_portable;
  double *random = normal_rows(2 * MOST * LANES + MOST, 1, 35);
  float block[2 * MOST * LANES], query[MOST];
  for (size_t i = 0; i < 2 * MOST * LANES; i++)
    block[i] = (float)(random[i] + (i / LANES % 2 == 0 ? -1 : 1));
  for (size_t j = 0; j < MOST; j++) query[j] = (float)random[2 * MOST * LANES + j];
  for (size_t d = 1; d <= MOST; d++) {
    float a[LANES], b[LANES], all[LANES];
    uint32_t at_a[LANES], at_b[LANES];
    assert_int_equal(plain->scan(d, block, query, 1e30F, 7, all, at_a), LANES);
    for (size_t cut = 0; cut < LANES; cut++) {
      float bound = all[cut] * 1.001F;
      size_t n = plain->scan(d, block, query, bound, 7, a, at_a);
      assert_int_equal(ours->scan(d, block, query, bound, 7, b, at_b), n);
      assert_memory_equal(at_a, at_b, n * sizeof *at_a);
      for (size_t i = 0; i < n; i++) assert_close(a[i], b[i], 1e-5);
    }
    check_abreast(d, block, random);
    plain->boxes(d, block, query, a);
    ours->boxes(d, block, query, b);
    for (size_t i = 0; i < LANES; i++) assert_close(a[i], b[i], 1e-5);
  }
  free(random);
}

static int compare_floats(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void selection_finds_what_sorting_puts_there(void **state)
{
  (void)state;
  enum { MOST = 300 };
  float values[MOST], sorted[MOST];
  double *random = normal_rows(MOST, 1, 36);
  for (size_t n = 1; n <= MOST; n += n < 30 ? 1 : 45)
    for (size_t k = 0; k < n; k += n < 30 ? 1 : 13)
      for (int grain = 0; grain < 3; grain++) { /* many ties, few, none */
        for (size_t i = 0; i < n; i++)
          values[i] = (float)(grain == 2 ? random[i] : round(random[i] * (1 + 20 * grain)));
        memcpy(sorted, values, sizeof sorted);
        qsort(sorted, n, sizeof *sorted, compare_floats);
        assert_true(gpnn_nearest_select_float(n, values, k) == sorted[k]);
      }
  free(random);
}

static void neighbours_are_sorted_by_distance_then_row(void **state)
{
  (void)state;
  enum { MOST = 5000 };
  static const size_t sizes[] = {0, 1, 7, 8, 9, 100, 127, 128, 129, 1000, MOST};
  struct gpnn_neighbour *items = gpnn_alloc(MOST, 2, sizeof *items);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 37, GPNN_RNG_TEST);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int grain = 0; grain < 3; grain++) {
      size_t n = sizes[s];
      int64_t sum = 0;
      for (size_t i = 0; i < n; i++) {
        uint64_t value = gpnn_rng_below(&rng, grain == 0 ? 3 : 1000000000);
        items[i].distance = grain == 2 ? 1 + (double)value * 1e-15 : (double)value;
        items[i].row = (int64_t)(n - i);
        sum += items[i].row;
      }
      gpnn_nearest_sort(n, items, items + MOST);
      for (size_t i = 0; i < n; i++) sum -= items[i].row;
      assert_int_equal(sum, 0);
      for (size_t i = 1; i < n; i++)
        assert_true(
            items[i - 1].distance < items[i].distance ||
            (items[i - 1].distance == items[i].distance && items[i - 1].row < items[i].row));
    }
  free(items);
}

static void selected_neighbours_are_those_that_sorting_puts_first(void **state)
{
  (void)state;
  enum { MOST = 700 };
  static struct gpnn_neighbour items[MOST], sorted[MOST], spare[MOST];
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 39, GPNN_RNG_TEST);
  for (size_t n = 1; n <= MOST; n += n < 20 ? 1 : 97)
    for (size_t k = 0; k <= n; k += n < 20 ? 1 : 23)
      for (int grain = 0; grain < 2; grain++) {
        for (size_t i = 0; i < n; i++) {
          uint64_t value = gpnn_rng_below(&rng, grain == 0 ? 3 : 1000000);
          items[i].distance = (double)value;
          items[i].row = (int64_t)(n - i);
        }
        memcpy(sorted, items, n * sizeof *items);
        gpnn_nearest_sort(n, sorted, spare);
        gpnn_nearest_select(n, items, k);
        gpnn_nearest_sort(k, items, spare);
        assert_memory_equal(items, sorted, k * sizeof *items);
      }
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
                                                GPNN_SEARCH_TREE, GPNN_SEARCH_EXACT};
enum { N_ENGINES = sizeof engines / sizeof *engines };

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
  enum { N = 40000, D = 6 };
  double *x = normal_rows(N, D, 13);
  for (size_t e = 1; e <= 3; e += 2) {
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

/* Where what 'search' saved is to be found: in 'file' and in 'bytes', which the caller frees. */
static struct gpnn_search_stored store(const struct gpnn_search *search, FILE *file, void **bytes)
{
  struct gpnn_search_stored stored = {.file = file};
  char *copy = saved(search, &stored.length);
  *bytes = gpnn_alloc(stored.length, 1, 1);
  assert_non_null(*bytes);
  memcpy(*bytes, copy, stored.length);
  free(copy);
  stored.bytes = *bytes;
  return stored;
}

static void a_loaded_search_answers_the_same(void **state)
{
  (void)state;
  enum { N = 3000, D = 4, Q = 60, K = 15 };
  const double lengthscale[D] = {1, 2, 0.5, 3};
  double *x = normal_rows(N, D, 14), *queries = normal_rows(Q, D, 15),
         *turn = normal_rows(D, D, 38);
  for (size_t e = 0; e < 2 * N_ENGINES; e++) {
    struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
    struct gpnn_search *search = NULL, *loaded = NULL;
    options.kind = engines[e / 2];
    options.neighbours = K;
    options.recall = 0.9;
    options.lengthscale = lengthscale;
    if (e % 2 == 1) options.rotation = turn;
    assert_ok(gpnn_search_build(&search, N, D, x, &options, &err));
    FILE *file = tmpfile();
    void *bytes;
    assert_non_null(file);
    fputs("elsewhere", file); /* not at the start of the file */
    assert_ok(gpnn_search_save(search, file, &err));
    assert_int_equal(fseek(file, 9, SEEK_SET), 0);
    assert_ok(gpnn_search_load(&loaded, store(search, file, &bytes), N, D, x,
                               gpnn_search_describe(search), gpnn_search_metric(search), &err));
    fclose(file);
    assert_memory_equal(gpnn_search_describe(loaded), gpnn_search_describe(search),
                        sizeof(struct gpnn_search_report));
    struct answers a = query(search, Q, queries, K, 2), b = query(loaded, Q, queries, K, 2);
    assert_same(a, b, Q * K);
    release(a);
    release(b);
    gpnn_search_free(search);
    gpnn_search_free(loaded);
    free(bytes);
  }
  free(x);
  free(queries);
  free(turn);
}

static void a_tree_of_other_rows_is_refused(void **state)
{
  (void)state;
  enum { N = 1000, D = 2 };
  static const double turn[] = {1, 0, 0, 1};
  const struct gpnn_search_metric none = {NULL, NULL}, turned = {NULL, turn};
  double *x = normal_rows(N, D, 39);
  void *bytes;
  struct gpnn_search *search = build(GPNN_SEARCH_TREE, N, D, x, 5, 0.9, NULL), *loaded = NULL;
  struct gpnn_search_stored stored = store(search, NULL, &bytes), shorter = stored;
  struct gpnn_search_report report = *gpnn_search_describe(search), other = report;
  const char *fit = "does not fit";
  shorter.length -= 64;
  assert_fails(gpnn_search_load(&loaded, shorter, N, D, x, &report, none, &err), GPNN_EFORMAT, fit);
  shorter.length = 0;
  assert_fails(gpnn_search_load(&loaded, shorter, N, D, x, &report, none, &err), GPNN_EFORMAT, fit);
  assert_fails(gpnn_search_load(&loaded, stored, N - 1, D, x, &report, none, &err), GPNN_EFORMAT,
               fit);
  assert_fails(gpnn_search_load(&loaded, stored, N / 2, 2 * D, x, &report, none, &err),
               GPNN_EFORMAT, fit);
  assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &report, turned, &err), GPNN_EFORMAT,
               fit);
  other.effort = 0;
  assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &other, none, &err), GPNN_EFORMAT, fit);
  other.effort = 101;
  assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &other, none, &err), GPNN_EFORMAT, fit);
  stored.bytes = NULL;
  assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &report, none, &err), GPNN_EFORMAT,
               "missing");
  assert_null(loaded);
  gpnn_search_free(search);
  free(bytes);
  free(x);
}

/* Whatever a tree's bytes are, its answers name rows that are there (and the sanitizers watch). */
static void a_tree_of_nonsense_stays_within_bounds(void **state)
{
  (void)state;
  enum { N = 3000, D = 3, Q = 20, K = 40, HEADER = 64, TIMES = 30 };
  const struct gpnn_search_metric none = {NULL, NULL};
  double *x = normal_rows(N, D, 40);
  void *bytes;
  struct gpnn_search *search = build(GPNN_SEARCH_TREE, N, D, x, K, 1, NULL);
  struct gpnn_search_stored stored = store(search, NULL, &bytes);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 41, GPNN_RNG_TEST);
  for (size_t times = 0; times < TIMES; times++) {
    struct gpnn_search *loaded = NULL;
    unsigned char *at = bytes;
    for (size_t i = HEADER; i < stored.length; i++)
      if (gpnn_rng_below(&rng, times % 3 == 0 ? 1 : 50) == 0)
        at[i] = times % 3 == 1 ? 0 : (unsigned char)gpnn_rng_below(&rng, 256);
    assert_ok(gpnn_search_load(&loaded, stored, N, D, x, gpnn_search_describe(search), none, &err));
    struct answers found = query(loaded, Q, x, K, 2);
    for (size_t i = 0; i < Q * K; i++) assert_in_range(found.rows[i], 0, N - 1);
    release(found);
    gpnn_search_free(loaded);
  }
  gpnn_search_free(search);
  free(bytes);
  free(x);
}

static void a_search_of_other_rows_is_refused(void **state)
{
  (void)state;
  enum { N = 1000, D = 2 };
  const struct gpnn_search_metric none = {NULL, NULL};
  const char *damaged = "the search structure is damaged, or of other rows; make the index again";
  double *x = normal_rows(N, D, 16);
  for (size_t e = 1; e <= 2; e++) {
    struct gpnn_search *search = build(engines[e], N, D, x, 5, 0.9, NULL), *loaded = NULL;
    struct gpnn_search_report report = *gpnn_search_describe(search), other = report;
    FILE *file = tmpfile();
    void *bytes;
    struct gpnn_search_stored stored = store(search, file, &bytes), part = stored;
    gpnn_search_free(search);
    assert_non_null(file);
    assert_fails(gpnn_search_load(&loaded, stored, N - 1, D, x, &report, none, &err), GPNN_EFORMAT,
                 damaged);
    assert_fails(gpnn_search_load(&loaded, stored, N / 2, 2 * D, x, &report, none, &err),
                 GPNN_EFORMAT, damaged);
    other.effort = 0;
    assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &other, none, &err), GPNN_EFORMAT,
                 damaged);
    other.effort = (1 << 16) + 1; /* more than any list or beam */
    assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &other, none, &err), GPNN_EFORMAT,
                 damaged);
    other = report;
    other.kind = engines[3 - e];
    assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &other, none, &err), GPNN_EFORMAT,
                 damaged);
    part.bytes = NULL;
    assert_fails(gpnn_search_load(&loaded, part, N, D, x, &report, none, &err), GPNN_EFORMAT,
                 "missing");
    /* The file has nothing of what memory has. */
    assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &report, none, &err), GPNN_EEXTERNAL,
                 "faiss");
    assert_null(loaded);
    fclose(file);
    free(bytes);
  }
  free(x);
}

/* As many numbers as FAISS expects, but as one centre of many coordinates. */
static void lists_below_another_quantizer_are_refused(void **state)
{
  (void)state;
  enum { N = 1000, D = 2, BYTES = 1 << 16 };
  const struct gpnn_search_metric none = {NULL, NULL};
  double *x = normal_rows(N, D, 16);
  struct gpnn_search *search = build(GPNN_SEARCH_IVF, N, D, x, 5, 0.9, NULL), *loaded = NULL;
  struct gpnn_search_report report = *gpnn_search_describe(search);
  FILE *file = tmpfile();
  char *bytes = malloc(BYTES), *quantizer;
  assert_true(file != NULL && bytes != NULL);
  assert_ok(gpnn_search_save(search, file, &err));
  gpnn_search_free(search);
  rewind(file);
  size_t length = fread(bytes, 1, BYTES, file);
  for (quantizer = bytes; memcmp(quantizer, "IxF2", 4) != 0; quantizer++)
    assert_true(quantizer < bytes + length - 16);
  const int32_t d = (int32_t)(D * report.n_lists);
  const int64_t one = 1;
  memcpy(quantizer + 4, &d, sizeof d);
  memcpy(quantizer + 4 + sizeof d, &one, sizeof one);
  rewind(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  rewind(file);
  const struct gpnn_search_stored stored = {.bytes = bytes, .length = length, .file = file};
  assert_fails(gpnn_search_load(&loaded, stored, N, D, x, &report, none, &err), GPNN_EFORMAT,
               "make the index again");
  assert_null(loaded);
  fclose(file);
  free(bytes);
  free(x);
}

static void a_full_disk_is_a_system_failure(void **state)
{
  (void)state;
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_IVF, GPNN_SEARCH_TREE};
  double *x = normal_rows(2000, 3, 17);
  for (size_t i = 0; i < 2; i++) {
    struct gpnn_search *search = build(kinds[i], 2000, 3, x, 5, 0.9, NULL);
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) skip();
    setvbuf(full, NULL, _IONBF, 0);
    assert_fails(gpnn_search_save(search, full, &err), GPNN_EIO, "No space");
    fclose(full);
    gpnn_search_free(search);
  }
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
      cmocka_unit_test(flat_and_tree_equal_brute_force),
      cmocka_unit_test(a_tree_of_any_size_equals_brute_force),
      cmocka_unit_test(flat_and_tree_keep_ties_in_row_order),
      cmocka_unit_test(single_precision_loses_no_neighbours),
      cmocka_unit_test(lengthscales_are_the_metric),
      cmocka_unit_test(a_rotation_is_part_of_the_metric),
      cmocka_unit_test(more_neighbours_than_rows_are_marked_missing),
      cmocka_unit_test(lists_that_run_dry_are_made_up_for),
      cmocka_unit_test(lists_meet_the_recall_at_less_work),
      cmocka_unit_test(all_lists_are_exact),
      cmocka_unit_test(a_tree_misses_neighbours_only_where_that_pays),
      cmocka_unit_test(a_small_tree_is_not_tuned_nor_a_middling_one_for_few_queries),
      cmocka_unit_test(the_loops_of_this_machine_are_the_portable_ones),
      cmocka_unit_test(selection_finds_what_sorting_puts_there),
      cmocka_unit_test(neighbours_are_sorted_by_distance_then_row),
      cmocka_unit_test(selected_neighbours_are_those_that_sorting_puts_first),
      cmocka_unit_test(a_graph_reaches_its_recall),
      cmocka_unit_test(batches_and_threads_do_not_matter),
      cmocka_unit_test(two_builds_are_the_same_bytes),
      cmocka_unit_test(a_loaded_search_answers_the_same),
      cmocka_unit_test(a_tree_of_other_rows_is_refused),
      cmocka_unit_test(a_tree_of_nonsense_stays_within_bounds),
      cmocka_unit_test(a_search_of_other_rows_is_refused),
      cmocka_unit_test(lists_below_another_quantizer_are_refused),
      cmocka_unit_test(a_full_disk_is_a_system_failure),
      cmocka_unit_test(bad_arguments_are_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
