/* Searches that are saved and loaded. */
#include "searches.h"

#include "linalg/blas_threads.h"

static void builds_by_any_number_of_threads_are_the_same_bytes(void **state)
{
  (void)state;
  enum { N = 40000, D = 6 };
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_IVF, GPNN_SEARCH_TREE};
  double *x = normal_rows(N, D, 13);
  for (size_t e = 0; e < 2; e++) {
    struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
    struct copy copies[3];
    options.kind = kinds[e];
    options.neighbours = 10;
    options.recall = 0.5;
    for (int threads = 1; threads <= 3; threads++) {
      struct gpnn_search *search = NULL;
      options.threads = threads;
      assert_ok(gpnn_search_build(&search, N, D, x, &options, &err));
      copies[threads - 1] = copy_of(search);
      gpnn_search_free(search);
    }
    size_t length = copies[0].stored.length;
    assert_true(length > N * D * sizeof(float));
    for (size_t c = 1; c < 3; c++) {
      assert_int_equal(copies[c].stored.length, length);
      assert_memory_equal(copies[c].bytes, copies[0].bytes, length);
    }
    for (size_t c = 0; c < 3; c++) copy_release(&copies[c]);
  }
  free(x);
}

static void a_loaded_search_answers_the_same(void **state)
{
  (void)state;
  enum { N = 3000, D = 4, Q = 60, K = 15 };
  static const enum gpnn_search_kind engines[] = {
      GPNN_SEARCH_FLAT, GPNN_SEARCH_IVF, GPNN_SEARCH_HNSW, GPNN_SEARCH_TREE, GPNN_SEARCH_EXACT};
  const double lengthscale[D] = {1, 2, 0.5, 3};
  double *x = normal_rows(N, D, 14), *queries = normal_rows(Q, D, 15),
         *rotation = normal_rows(D, D, 38);
  for (size_t e = 0; e < 10; e++) {
    struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
    struct gpnn_search *search = NULL, *loaded = NULL;
    options.kind = engines[e / 2];
    options.neighbours = K;
    options.recall = 0.9;
    options.lengthscale = lengthscale;
    if (e % 2 == 1) options.rotation = rotation;
    assert_ok(gpnn_search_build(&search, N, D, x, &options, &err));
    struct copy copy = copy_of(search);
    assert_ok(gpnn_search_load(&loaded, copy.stored, N, D, x, gpnn_search_describe(search),
                               gpnn_search_metric(search), &err));
    assert_memory_equal(gpnn_search_describe(loaded), gpnn_search_describe(search),
                        sizeof(struct gpnn_search_report));
    assert_same_search(search, loaded, Q, queries, K);
    gpnn_search_free(search);
    gpnn_search_free(loaded);
    copy_release(&copy);
  }
  free(x);
  free(queries);
  free(rotation);
}

/* Lists and graphs. */
static void a_search_of_other_rows_is_refused(void **state)
{
  (void)state;
  enum { N = 1000, D = 2, TOO_MUCH = (1 << 16) + 1 /* for lists and for a graph */ };
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_IVF, GPNN_SEARCH_HNSW};
  const struct gpnn_search_metric none = searches_euclidean;
  double *x = normal_rows(N, D, 16);
  for (size_t e = 0; e < 2; e++) {
    struct gpnn_search *search = build(kinds[e], N, D, x, 5, 0.9, NULL), *loaded = NULL;
    const struct gpnn_search_report report = *gpnn_search_describe(search);
    struct copy copy = copy_of(search);
    gpnn_search_free(search);
    const struct {
      size_t n, d, effort;
      enum gpnn_search_kind kind;
    } wrong[] = {{N - 1, D, report.effort, kinds[e]},
                 {N / 2, 2 * D, report.effort, kinds[e]},
                 {N, D, 0, kinds[e]},
                 {N, D, TOO_MUCH, kinds[e]},
                 {N, D, report.effort, kinds[1 - e]}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      struct gpnn_search_report other = report;
      other.effort = wrong[i].effort;
      other.kind = wrong[i].kind;
      assert_fails(
          gpnn_search_load(&loaded, copy.stored, wrong[i].n, wrong[i].d, x, &other, none, &err),
          GPNN_EFORMAT, "the search structure is damaged, or of other rows; make the index again");
    }
    struct gpnn_search_stored part = copy.stored;
    part.bytes = NULL;
    assert_fails(gpnn_search_load(&loaded, part, N, D, x, &report, none, &err), GPNN_EFORMAT,
                 "missing");
    assert_null(loaded);
    copy_release(&copy);
  }
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(builds_by_any_number_of_threads_are_the_same_bytes),
      cmocka_unit_test(a_loaded_search_answers_the_same),
      cmocka_unit_test(a_search_of_other_rows_is_refused),
      cmocka_unit_test(a_full_disk_is_a_system_failure),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
