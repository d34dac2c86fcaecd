/* How much engines search to reach a recall. */
#include "searches.h"

#include "linalg/blas_threads.h"

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
  assert_true(recall_of(lists, exact, 300, queries, K) > 0.9);
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
  assert_true(recall_of(many, whole, Q, queries, K) > 0.85);
  gpnn_search_free(many);
  gpnn_search_free(whole);
  free(x);
  free(queries);
}

/* Half of the effort would find nine neighbours in ten here, looking at a tenth of the rows, but
 * predicting from so many takes far longer than finding them. */
static void a_tree_misses_none_where_predictions_take_far_longer_than_searches(void **state)
{
  (void)state;
  enum { N = 100000, D = 10, K = 600 };
  double *x = normal_rows(N, D, 9);
  struct gpnn_search *search = build(GPNN_SEARCH_TREE, N, D, x, K, 0.9, NULL);
  assert_int_equal(gpnn_search_describe(search)->effort, 100);
  assert_near(gpnn_search_describe(search)->recall, 1, 0);
  gpnn_search_free(search);
  free(x);
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

/* Looking at all rows for several queries together costs less than missing some for each. */
static void a_tree_that_looks_at_nearly_all_rows_is_exact(void **state)
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

static void wherever_it_is_sought_first_the_least_effort_is_found(void **state)
{
  (void)state;
  enum { N = 60000, D = 8 };
  double *x = normal_rows(N, D, 9);
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  options.kind = GPNN_SEARCH_TREE;
  options.neighbours = 10;
  options.recall = 0.9;
  options.threads = 2;
  size_t least = 0;
  for (int i = 0; i < 7; i++) {
    struct gpnn_search *search = NULL;
    options.effort = i == 0 ? 0 : least + (size_t)(const int[]){0, 0, 1, 9, 100, -1, -9}[i];
    assert_ok(gpnn_search_build(&search, N, D, x, &options, &err));
    const struct gpnn_search_report *report = gpnn_search_describe(search);
    if (i == 0) least = report->effort;
    assert_true(least > 9 && least < 90);
    assert_int_equal(report->effort, least);
    assert_true(report->recall >= 0.9);
    gpnn_search_free(search);
  }
  free(x);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_meet_the_recall_at_less_work),
      cmocka_unit_test(all_lists_are_exact),
      cmocka_unit_test(a_tree_misses_neighbours_only_where_that_pays),
      cmocka_unit_test(a_tree_misses_none_where_predictions_take_far_longer_than_searches),
      cmocka_unit_test(a_small_tree_is_not_tuned_nor_a_middling_one_for_few_queries),
      cmocka_unit_test(a_tree_that_looks_at_nearly_all_rows_is_exact),
      cmocka_unit_test(a_graph_reaches_its_recall),
      cmocka_unit_test(wherever_it_is_sought_first_the_least_effort_is_found),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
