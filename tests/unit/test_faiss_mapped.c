/*
 * Lists and graphs that are used where they are mapped: whatever is done to their bytes, they are
 * refused, or searched without harm.
 */
#include "searches.h"

#include "base/bytes.h"
#include "linalg/blas_threads.h"

enum { D = 2, K = 5, MOST_ROWS = 2000 };

/* A search of 'n' rows, as it is stored. */
struct saved {
  size_t n, length;
  double *x;
  unsigned char *bytes;
  struct gpnn_search_report report;
};

static struct saved save(enum gpnn_search_kind kind, size_t n)
{
  struct saved s = {.n = n, .x = normal_rows(n, D, 1)};
  struct gpnn_search *search = build(kind, n, D, s.x, K, 0.99, NULL);
  s.report = *gpnn_search_describe(search);
  struct copy copy = copy_of(search);
  assert_null(copy.duplicates);
  s.bytes = copy.bytes;
  s.length = copy.stored.length;
  gpnn_search_free(search);
  return s;
}

static void drop(struct saved *s)
{
  free(s->x);
  free(s->bytes);
}

static bool load(const struct saved *s, struct gpnn_search **search)
{
  struct gpnn_search_stored stored = {.bytes = s->bytes, .length = s->length};
  struct gpnn_error failure = {0};
  enum gpnn_status status =
      gpnn_search_load(search, stored, s->n, D, s->x, &s->report, searches_euclidean, &failure);
  if (status != GPNN_OK && status != GPNN_EFORMAT) fail_msg("status %d: %s", status, failure.text);
  if (status == GPNN_EFORMAT) assert_non_null(strstr(failure.text, "make the index again"));
  return status == GPNN_OK;
}

/* Loads what is there now, and searches it if that is accepted. */
static bool survives(const struct saved *s)
{
  static int64_t rows[MOST_ROWS * K];
  static double distances[MOST_ROWS * K];
  struct gpnn_search *search = NULL;
  if (!load(s, &search)) return false;
  assert_ok(gpnn_search_query(search, s->n, s->x, K, rows, distances, 1, &err));
  for (size_t i = 0; i < s->n * K; i++)
    if (rows[i] < 0 || rows[i] >= (int64_t)s->n) fail_msg("row %lld", (long long)rows[i]);
  gpnn_search_free(search);
  return true;
}

/* Puts each of 'words' in the place of 'width' bytes, everywhere; returns how often that is
 * accepted. */
static size_t sweep(const struct saved *s, const uint64_t *words, size_t n_words, size_t width)
{
  size_t accepted = 0;
  for (size_t at = 0; at + width <= s->length; at++) {
    unsigned char before[sizeof *words];
    memcpy(before, s->bytes + at, width);
    for (size_t w = 0; w < n_words; w++) {
      gpnn_store_bytes(s->bytes + at, words[w], (unsigned)width);
      accepted += survives(s);
    }
    memcpy(s->bytes + at, before, width);
  }
  assert_true(survives(s));
  return accepted;
}

static void sweep_all(const struct saved *s)
{
  const uint64_t bytes[] = {0, 0x7f, 0xff}, narrow[] = {INT32_MAX, s->n, 0x7fc00000 /* NaN */},
                 wide = (uint64_t)1 << 61;
  assert_true(sweep(s, bytes, 3, 1) > 0);
  assert_true(sweep(s, narrow, 3, 4) > 0);
  sweep(s, &wide, 1, 8);
}

static void altered_lists_do_no_harm(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_IVF, 80);
  assert_int_equal(s.report.n_lists, 2);
  sweep_all(&s);
  drop(&s);
}

static void an_altered_graph_does_no_harm(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_HNSW, 12);
  sweep_all(&s);
  drop(&s);
}

static void a_part_is_refused_and_so_is_more(void **state)
{
  (void)state;
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_IVF, GPNN_SEARCH_HNSW};
  for (size_t i = 0; i < 2; i++) {
    struct saved s = save(kinds[i], 50);
    size_t whole = s.length;
    unsigned char *bytes = s.bytes;
    for (s.length = 0; s.length < whole; s.length++) {
      /* What is there ends where memory does. */
      s.bytes = gpnn_alloc(s.length, 1, 1);
      memcpy(s.bytes, bytes, s.length);
      assert_false(survives(&s));
      free(s.bytes);
    }
    s.bytes = gpnn_alloc(whole + 64, 1, 1);
    memcpy(s.bytes, bytes, whole);
    assert_true(survives(&s));
    for (s.length = whole + 1; s.length <= whole + 64; s.length++) assert_false(survives(&s));
    free(bytes);
    drop(&s);
  }
}

/* ---- what a number may be ---- */

static void refuses(const struct saved *s, size_t at, uint64_t value, unsigned width)
{
  uint64_t before = gpnn_load_bytes(s->bytes + at, width);
  assert_int_not_equal(before, value);
  gpnn_store_bytes(s->bytes + at, value, width);
  assert_false(survives(s));
  gpnn_store_bytes(s->bytes + at, before, width);
}

/* Where the parts are, in the layout of gpnn-index(5). */
enum { LISTS_AT = 64, COUNTS_AT = 64, GRAPH_AT = 128 };

static size_t after(size_t at, size_t bytes)
{
  return at + (bytes + 63) / 64 * 64;
}

static void ends_of_lists_ascend_to_the_number_of_rows(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_IVF, 400);
  size_t n_lists = s.report.n_lists, ends = after(LISTS_AT, n_lists * D * sizeof(float));
  size_t last = ends + (n_lists - 1) * sizeof(uint32_t);
  assert_int_equal(n_lists, 10);
  assert_int_equal(gpnn_load_u32(s.bytes + last), 400);
  refuses(&s, 0, 401, 8);
  refuses(&s, 8, D + 1, 8);
  refuses(&s, 16, n_lists + 1, 8);
  refuses(&s, last, 401, 4);
  refuses(&s, last, 399, 4);
  refuses(&s, ends, 401, 4);
  refuses(&s, ends, UINT32_MAX, 4);
  refuses(&s, ends + 4, 0, 4);
  static const float no_numbers[] = {NAN, INFINITY, -INFINITY, 1e30F};
  for (size_t i = 0; i < 4; i++) {
    uint32_t bits;
    memcpy(&bits, &no_numbers[i], sizeof bits);
    refuses(&s, LISTS_AT, bits, 4);
  }
  drop(&s);
}

/* Whatever numbers lists give their rows, and however often: none is found that is not there. */
static void rows_of_lists_are_rows_there_are(void **state)
{
  (void)state;
  static const uint32_t rows[] = {80, INT32_MAX, UINT32_MAX, 7};
  struct saved s = save(GPNN_SEARCH_IVF, 80);
  size_t ends = after(LISTS_AT, 2 * D * sizeof(float)), ids = after(ends, 2 * sizeof(uint32_t));
  for (size_t r = 0; r < 4; r++) {
    for (size_t i = 0; i < 80; i++) gpnn_store_u32(s.bytes + ids + 4 * i, rows[r]);
    assert_true(survives(&s));
  }
  drop(&s);
}

static void levels_of_a_graph_hold_fewer_rows_each(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_HNSW, MOST_ROWS);
  uint64_t n_levels = gpnn_load_u64(s.bytes + 16), second = gpnn_load_u64(s.bytes + COUNTS_AT + 8);
  assert_true(n_levels >= 2);
  assert_true(second >= 2 && second < MOST_ROWS);
  refuses(&s, 0, MOST_ROWS - 1, 8);
  refuses(&s, 8, D - 1, 8);
  refuses(&s, 16, 0, 8);
  refuses(&s, 16, n_levels - 1, 8);
  refuses(&s, 16, 9, 8);
  refuses(&s, 24, gpnn_load_u64(s.bytes + COUNTS_AT + 8 * (n_levels - 1)), 8);
  refuses(&s, COUNTS_AT, MOST_ROWS - 1, 8);
  refuses(&s, COUNTS_AT + 8, 0, 8);
  refuses(&s, COUNTS_AT + 8, MOST_ROWS + 1, 8);
  refuses(&s, COUNTS_AT + 8, second - 1, 8);
  drop(&s);
}

/* Links that lead nowhere, or all to one row, make a worse graph, and no harm. */
static void links_lead_to_rows_of_their_level(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_HNSW, MOST_ROWS);
  size_t rows = after(GRAPH_AT, MOST_ROWS * sizeof(uint32_t));
  size_t links = after(rows, MOST_ROWS * D * sizeof(float));
  const uint32_t values[] = {UINT32_MAX, MOST_ROWS, MOST_ROWS - 1, 0, INT32_MAX};
  for (size_t v = 0; v < 5; v++) {
    for (size_t at = links; at + 4 <= s.length; at += 4) gpnn_store_u32(s.bytes + at, values[v]);
    assert_true(survives(&s));
  }
  for (size_t at = GRAPH_AT; at < rows; at += 4) gpnn_store_u32(s.bytes + at, UINT32_MAX);
  assert_true(survives(&s));
  drop(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(altered_lists_do_no_harm),
      cmocka_unit_test(an_altered_graph_does_no_harm),
      cmocka_unit_test(a_part_is_refused_and_so_is_more),
      cmocka_unit_test(ends_of_lists_ascend_to_the_number_of_rows),
      cmocka_unit_test(rows_of_lists_are_rows_there_are),
      cmocka_unit_test(levels_of_a_graph_hold_fewer_rows_each),
      cmocka_unit_test(links_lead_to_rows_of_their_level),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
