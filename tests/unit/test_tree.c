/* Trees: their loops, their queries, and their bytes. */
#include "searches.h"

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

/* Queries that go through the leaves together find what each would by itself. */
static void queries_together_find_what_each_does(void **state)
{
  (void)state;
  enum { N = 6001, D = 70, Q = 203, K = 20 };
  double *x = normal_rows(N, D, 48), *queries = normal_rows(Q, D, 49);
  for (size_t i = 0; i < N * D; i++) x[i] = round(2 * x[i]);
  check_exact(GPNN_SEARCH_TREE, N, D, x, Q, queries, K, NULL);
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

/* Columns of very different ranges, and queries beyond them: what does not fit bytes well.  The
 * first queries come before there is a filter, the others after. */
static void rows_in_bytes_hide_no_neighbour(void **state)
{
  (void)state;
  enum { N = 6001, D = 45, Q = 203, K = 20 };
  double *x = normal_rows(N, D, 52), *queries = normal_rows(Q, D, 53);
  for (size_t i = 0; i < N * D; i++) x[i] *= exp((double)(i % D) / 5) * (i % 1009 == 0 ? 1000 : 1);
  for (size_t i = 0; i < Q * D; i++)
    queries[i] *= exp((double)(i % D) / 5) * (i % 307 == 0 ? 1000 : i / D % 9 == 0 ? 30 : 1);
  memcpy(queries, x, 10 * D * sizeof *x);
  check_exact(GPNN_SEARCH_TREE, N, D, x, Q, queries, K, NULL);
  free(x);
  free(queries);
}

/* Of any rows that are as near, the same are found; large and small units, and few and many
 * columns, of which many let queries go through the leaves together. */
static void a_bound_leaves_out_rows_beyond_it_alone(void **state)
{
  (void)state;
  enum { N = 6001, Q = 203, K = 20 };
  static const size_t widths[] = {2, 70};
  static const double units[] = {1e-9, 1, 3e7};
  for (size_t w = 0; w < 2; w++)
    for (size_t u = 0; u < 3; u++) {
      size_t d = widths[w], n_out = 0, n_in = 0;
      double *x = normal_rows(N, d, 50), *queries = normal_rows(Q, d, 51), within[Q];
      for (size_t i = 0; i < N * d; i++) x[i] = units[u] * round(20 * x[i]);
      for (size_t i = 0; i < Q * d; i++) queries[i] *= 20 * units[u];
      struct gpnn_search *tree = build(GPNN_SEARCH_TREE, N, d, x, K, 1, NULL);
      struct answers all = query(tree, Q, queries, K, 1), near = make_answers(Q, K);
      for (size_t q = 0; q < Q; q++)
        within[q] = q % 20 == 0 ? INFINITY : all.distances[q * K + q % 20];
      assert_ok(gpnn_search_query_within(tree, Q, queries, within, K, near.rows, near.distances, 2,
                                         &err));
      for (size_t i = 0; i < Q * K; i++) {
        bool is_in = all.distances[i] <= within[i / K];
        if (is_in || near.rows[i] >= 0) assert_int_equal(near.rows[i], all.rows[i]);
        n_out += near.rows[i] < 0;
        n_in += is_in;
      }
      assert_true(n_out > Q && n_in > Q * K / 4);
      release(all);
      release(near);
      gpnn_search_free(tree);
      free(x);
      free(queries);
    }
}

/* Queries together see what each does, unless all rows are too far away from all of them. */
static void check_together(size_t d, const float *block, const double *random)
{
  enum { LANES = GPNN_TREE_LANES, N = GPNN_TREE_TOGETHER, MOST = 70 };
  const struct gpnn_tree_loops *loops[] = {gpnn_tree_loops(), &gpnn_tree_loops_portable};
  const uint32_t first = 0;
  float queries[N][MOST], bounds[N], all[2][N * LANES], one[2 * LANES];
  const float *each[N];
  uint32_t positions[2 * LANES];
  for (size_t q = 0; q < N; q++) {
    each[q] = queries[q];
    bounds[q] = q == 2 ? 1e30F : 0;
    for (size_t j = 0; j < d; j++) queries[q][j] = (float)random[q * MOST + j];
  }
  for (size_t l = 0; l < 2; l++) {
    assert_true(loops[l]->measure(d, block, each, bounds, all[l]));
    for (size_t q = 0; q < N; q++) {
      assert_int_equal(loops[l]->scan(d, block, 1, &first, each[q], 1e30F, one, positions), LANES);
      for (size_t i = 0; i < LANES; i++) assert_close(all[l][q * LANES + i], one[i], 1e-5);
    }
    bounds[2] = -1;
    assert_false(loops[l]->measure(d, block, each, bounds, all[l]));
    bounds[2] = 1e30F;
  }
}

/* Lists are shortened and put in order alike, also if numbers are equal. */
static void check_lists(size_t n, const float *random)
{
  enum { LANES = GPNN_TREE_LANES, MOST = 70 };
  const struct gpnn_tree_loops *loops[] = {gpnn_tree_loops(), &gpnn_tree_loops_portable};
  float keys[2][MOST], others[2][MOST], distances[LANES];
  uint32_t positions[2][MOST];
  unsigned char order[2][LANES];
  size_t kept[2], ordered[2];
  for (size_t i = 0; i < LANES; i++) distances[i] = roundf(2 * random[n * LANES + i]);
  for (size_t l = 0; l < 2; l++) {
    for (size_t i = 0; i < n; i++) {
      keys[l][i] = random[i];
      others[l][i] = random[n + i];
      positions[l][i] = (uint32_t)i;
    }
    kept[l] = loops[l]->keep(n, 0.5F, keys[l], n % 2 == 0 ? others[l] : NULL, positions[l]);
    ordered[l] = loops[l]->order(distances, 1, order[l]);
  }
  assert_int_equal(kept[0], kept[1]);
  assert_memory_equal(keys[0], keys[1], kept[0] * sizeof **keys);
  assert_memory_equal(others[0], others[1], kept[0] * sizeof **others);
  assert_memory_equal(positions[0], positions[1], kept[0] * sizeof **positions);
  assert_int_equal(ordered[0], ordered[1]);
  assert_memory_equal(order[0], order[1], ordered[0]);
}

/* Whatever instructions the loops use, they see the same. */
static void the_loops_of_this_machine_equal_the_portable_ones(void **state)
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
    static const uint32_t blocks[] = {1, 0, 1};
    float a[4 * LANES], b[4 * LANES], all[4 * LANES], boxes[2][5][LANES];
    uint32_t at_a[4 * LANES], at_b[4 * LANES];
    assert_int_equal(plain->scan(d, block, 3, blocks, query, 1e30F, all, at_a), 3 * LANES);
    for (size_t cut = 0; cut < 3 * LANES; cut++) {
      float bound = all[cut] * 1.001F;
      size_t n = plain->scan(d, block, 3, blocks, query, bound, a, at_a);
      assert_int_equal(ours->scan(d, block, 3, blocks, query, bound, b, at_b), n);
      assert_memory_equal(at_a, at_b, n * sizeof *at_a);
      for (size_t i = 0; i < n; i++) assert_close(a[i], b[i], 1e-5);
    }
    check_together(d, block, random);
    const float *queries[] = {query, block, query, block + 1, block + 2};
    plain->boxes(d, block, 5, queries, boxes[0]);
    ours->boxes(d, block, 5, queries, boxes[1]);
    for (size_t i = 0; i < 5 * LANES; i++)
      assert_close(boxes[0][i / LANES][i % LANES], boxes[1][i / LANES][i % LANES], 1e-5);
    check_lists(d, block);
  }
  free(random);
}

static void a_tree_of_other_rows_is_refused(void **state)
{
  (void)state;
  enum { N = 1000, D = 2 };
  static const double rotation[] = {1, 0, 0, 1};
  const struct gpnn_search_metric none = searches_euclidean, rotated = {NULL, rotation};
  double *x = normal_rows(N, D, 39);
  struct gpnn_search *search = build(GPNN_SEARCH_TREE, N, D, x, 5, 0.9, NULL), *loaded = NULL;
  struct copy copy = copy_of(search);
  const struct gpnn_search_report report = *gpnn_search_describe(search);
  const struct {
    size_t length, n, d;
    struct gpnn_search_metric metric;
    size_t effort;
  } wrong[] = {
      {copy.stored.length - 64, N, D, none, report.effort},
      {0, N, D, none, report.effort},
      {copy.stored.length, N - 1, D, none, report.effort},
      {copy.stored.length, N / 2, 2 * D, none, report.effort},
      {copy.stored.length, N, D, rotated, report.effort},
      {copy.stored.length, N, D, none, 0},
      {copy.stored.length, N, D, none, 101},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct gpnn_search_stored stored = copy.stored;
    struct gpnn_search_report other = report;
    stored.length = wrong[i].length;
    other.effort = wrong[i].effort;
    assert_fails(
        gpnn_search_load(&loaded, stored, wrong[i].n, wrong[i].d, x, &other, wrong[i].metric, &err),
        GPNN_EFORMAT, "does not fit");
  }
  struct gpnn_search_stored nothing = {0};
  assert_fails(gpnn_search_load(&loaded, nothing, N, D, x, &report, none, &err), GPNN_EFORMAT,
               "missing");
  assert_null(loaded);
  gpnn_search_free(search);
  copy_release(&copy);
  free(x);
}

/* Whatever a tree's bytes are, its answers name rows that are there (and the sanitizers watch). */
static void a_tree_of_nonsense_stays_within_bounds(void **state)
{
  (void)state;
  enum { N = 3000, Q = 40, K = 40, HEADER = 64, TIMES = 30 };
  static const size_t widths[] = {3, 40};
  for (size_t times = 0; times < 2 * TIMES; times++) {
    size_t d = widths[times / TIMES];
    double *x = normal_rows(N, d, 40);
    struct gpnn_search *search = build(GPNN_SEARCH_TREE, N, d, x, K, 1, NULL), *loaded = NULL;
    struct copy copy = copy_of(search);
    struct gpnn_rng rng;
    gpnn_rng_init(&rng, 41 + times, GPNN_RNG_TEST);
    unsigned char *at = copy.bytes;
    for (size_t i = HEADER; i < copy.stored.length; i++)
      if (gpnn_rng_below(&rng, times % 3 == 0 ? 1 : 50) == 0)
        at[i] = times % 3 == 1 ? 0 : (unsigned char)gpnn_rng_below(&rng, 256);
    assert_ok(gpnn_search_load(&loaded, copy.stored, N, d, x, gpnn_search_describe(search),
                               searches_euclidean, &err));
    struct answers found = query(loaded, Q, x, K, 2);
    for (size_t i = 0; i < Q * K; i++) assert_in_range(found.rows[i], 0, N - 1);
    release(found);
    gpnn_search_free(loaded);
    gpnn_search_free(search);
    copy_release(&copy);
    free(x);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tree_of_any_size_equals_brute_force),
      cmocka_unit_test(a_bound_leaves_out_rows_beyond_it_alone),
      cmocka_unit_test(queries_together_find_what_each_does),
      cmocka_unit_test(rows_in_bytes_hide_no_neighbour),
      cmocka_unit_test(the_loops_of_this_machine_equal_the_portable_ones),
      cmocka_unit_test(a_tree_of_other_rows_is_refused),
      cmocka_unit_test(a_tree_of_nonsense_stays_within_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
