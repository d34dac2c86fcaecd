/*
 * What FAISS is given to read: whatever is done to the bytes it wrote, they are refused, or
 * searched without harm.
 */
#include "scratch.h"

#include <fcntl.h>

#include "base/rng.h"
#include "search/search.h"

enum { D = 2, K = 5, MOST_ROWS = 400 };

static const struct gpnn_search_metric euclidean = {NULL, NULL};

/* A search of 'n' rows, in memory and in a file. */
struct saved {
  size_t n, length;
  double *x;
  unsigned char *bytes;
  int fd; /* of the file */
  struct gpnn_search_report report;
};

/* 'n_distinct' different rows there are. */
static struct saved save(enum gpnn_search_kind kind, size_t n, size_t n_distinct)
{
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  struct saved s = {.n = n, .x = calloc(n * D, sizeof *s.x)};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  assert_non_null(s.x);
  for (size_t i = 0; i < n * D; i++)
    s.x[i] = i < n_distinct * D ? gpnn_rng_normal(&rng) : s.x[i - n_distinct * D];
  options.kind = kind;
  options.neighbours = K;
  assert_ok(gpnn_search_build(&search, n, D, s.x, &options, &err));
  s.report = *gpnn_search_describe(search);
  const char *path = scratch_path("search");
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_ok(gpnn_search_save(search, file, &err));
  assert_int_equal(fclose(file), 0);
  gpnn_search_free(search);
  s.bytes = (unsigned char *)scratch_read(path, &s.length);
  s.fd = open(path, O_RDWR);
  assert_true(s.fd >= 0);
  return s;
}

static void release(struct saved *s)
{
  close(s->fd);
  free(s->x);
  free(s->bytes);
}

/* Puts 'n' bytes at 'at' into memory and file. */
static void put(struct saved *s, size_t at, const void *bytes, size_t n)
{
  assert_int_equal(pwrite(s->fd, bytes, n, (off_t)at), n);
  memcpy(s->bytes + at, bytes, n);
}

static bool load(struct saved *s, struct gpnn_search **search)
{
  struct gpnn_error err = {0};
  FILE *file = fdopen(dup(s->fd), "rb");
  assert_non_null(file);
  rewind(file);
  struct gpnn_search_stored stored = {.bytes = s->bytes, .length = s->length, .file = file};
  enum gpnn_status status =
      gpnn_search_load(search, stored, s->n, D, s->x, &s->report, euclidean, &err);
  if (status != GPNN_OK && status != GPNN_EFORMAT) fail_msg("status %d: %s", status, err.text);
  if (status == GPNN_EFORMAT) assert_non_null(strstr(err.text, "make the index again"));
  /* What is accepted, FAISS reads to the last byte. */
  if (status == GPNN_OK) assert_int_equal(ftell(file), s->length);
  fclose(file);
  return status == GPNN_OK;
}

/* Loads what is there now, and searches it if that is accepted. */
static bool survives(struct saved *s)
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
static size_t sweep(struct saved *s, const uint64_t *words, size_t n_words, size_t width)
{
  size_t accepted = 0;
  for (size_t at = 0; at + width <= s->length; at++) {
    unsigned char before[sizeof *words];
    memcpy(before, s->bytes + at, width);
    for (size_t w = 0; w < n_words; w++) {
      put(s, at, &words[w], width);
      accepted += survives(s);
    }
    put(s, at, before, width);
  }
  assert_true(survives(s));
  return accepted;
}

static void sweep_all(struct saved *s)
{
  const uint64_t bytes[] = {0, 0x7f, 0xff}, narrow[] = {INT32_MAX, s->n}, wide = (uint64_t)1 << 61;
  assert_true(sweep(s, bytes, 3, 1) > 0);
  assert_true(sweep(s, narrow, 2, 4) > 0);
  sweep(s, &wide, 1, 8);
}

static void altered_lists_do_no_harm(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_IVF, 80, 80);
  assert_int_equal(s.report.n_lists, 2);
  sweep_all(&s);
  release(&s);
}

/* Where the four letters are. */
static size_t find(const struct saved *s, const char *letters)
{
  size_t at = 0;
  while (at + 4 <= s->length && memcmp(s->bytes + at, letters, 4) != 0) at++;
  assert_true(at + 4 <= s->length);
  return at;
}

/* FAISS gives the lengths of lists another way where most of them are empty: as pairs of a list's
 * number and its length.  Gives them so here. */
static void give_pairs(struct saved *s)
{
  uint64_t n, twice;
  size_t at = find(s, "full");
  memcpy(&n, s->bytes + at + 4, sizeof n);
  size_t lengths = at + 4 + sizeof n, more = n * sizeof n, left = s->length - lengths - more;
  unsigned char *bytes = malloc(s->length + more), *to = bytes + lengths;
  assert_non_null(bytes);
  twice = 2 * n;
  memcpy(bytes, s->bytes, at);
  memcpy(bytes + at, "sprs", 4);
  memcpy(bytes + at + 4, &twice, sizeof twice);
  for (uint64_t i = 0; i < n; i++, to += 2 * sizeof i) {
    memcpy(to, &i, sizeof i);
    memcpy(to + sizeof i, s->bytes + lengths + i * sizeof i, sizeof i);
  }
  memcpy(to, s->bytes + lengths + more, left);
  free(s->bytes);
  s->bytes = bytes;
  s->length += more;
  assert_int_equal(pwrite(s->fd, bytes, s->length, 0), s->length);
}

static void altered_lists_most_of_them_empty_do_no_harm(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_IVF, MOST_ROWS, MOST_ROWS);
  assert_int_equal(s.report.n_lists, 10);
  give_pairs(&s);
  assert_true(survives(&s));
  size_t lists = find(&s, "sprs");
  struct saved head = s;
  for (size_t at = 0; at < lists + 64; at++) {
    unsigned char before = s.bytes[at], after = (unsigned char)~before;
    put(&head, at, &after, 1);
    survives(&head);
    put(&head, at, &before, 1);
  }
  assert_true(survives(&head));
  release(&s);
}

static void an_altered_graph_does_no_harm(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_HNSW, 12, 12);
  sweep_all(&s);
  release(&s);
}

static void a_part_is_refused_and_so_is_more(void **state)
{
  (void)state;
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_IVF, GPNN_SEARCH_HNSW};
  for (size_t i = 0; i < 2; i++) {
    struct saved s = save(kinds[i], 50, 50);
    size_t whole = s.length;
    for (s.length = 0; s.length < whole; s.length++) assert_false(survives(&s));
    assert_true(survives(&s));
    s.length = whole + 1;
    s.bytes = realloc(s.bytes, s.length);
    put(&s, whole, "", 1);
    assert_false(survives(&s));
    release(&s);
  }
}

/* ---- what a link, an offset, a length may be ---- */

/* Where the tables of a graph of 'n' rows are: see faiss_check.c. */
struct places {
  size_t ends, levels, offsets, links, entry;
};

static uint64_t u64_at(const struct saved *s, size_t at)
{
  uint64_t value;
  memcpy(&value, s->bytes + at, sizeof value);
  return value;
}

static struct places graph_places(const struct saved *s)
{
  enum { HEAD = 37 };
  struct places p;
  p.ends = HEAD + 8 + u64_at(s, HEAD) * 8;
  p.levels = p.ends + 8 + u64_at(s, p.ends) * 4;
  p.offsets = p.levels + 8 + u64_at(s, p.levels) * 4;
  p.links = p.offsets + 8 + u64_at(s, p.offsets) * 8;
  p.entry = p.links + 8 + u64_at(s, p.links) * 4;
  assert_int_equal(u64_at(s, p.levels), s->n);
  return p;
}

static void assert_refused(struct saved *s, size_t at, int32_t value)
{
  int32_t before;
  memcpy(&before, s->bytes + at, sizeof before);
  assert_int_not_equal(before, value);
  put(s, at, &value, sizeof value);
  assert_false(survives(s));
  put(s, at, &before, sizeof before);
}

static void links_lead_to_rows_of_their_level(void **state)
{
  (void)state;
  struct saved s = save(GPNN_SEARCH_HNSW, MOST_ROWS, MOST_ROWS);
  struct places p = graph_places(&s);
  int32_t none = -1, link = 1, level, low = -1, high = -1;
  for (int32_t i = 0; i < MOST_ROWS; i++) {
    memcpy(&level, s.bytes + p.levels + 8 + 4 * i, sizeof level);
    *(level == 1 ? &low : &high) = i;
  }
  assert_true(low >= 0 && high >= 0);
  size_t own = p.links + 8 + 4 * u64_at(&s, p.offsets + 8 + 8 * (size_t)high);
  assert_refused(&s, own, (int32_t)s.n);  /* no such row */
  assert_refused(&s, own, -2);            /* no row at all */
  assert_refused(&s, own + 4 * 64, low);  /* on the second level, to a row of the first alone */
  assert_refused(&s, p.entry, low);       /* to begin at: one that is not on the top level */
  assert_refused(&s, p.entry, -1);        /* none */
  assert_refused(&s, p.entry + 4, 60);    /* a top level there is not */
  assert_refused(&s, p.entry + 4, -1);    /* below the lowest */
  assert_refused(&s, p.entry + 16, 2);    /* another way to search */
  assert_refused(&s, p.levels + 8, 0);    /* a row on no level */
  assert_refused(&s, p.levels + 8, 63);   /* a level there is not */
  assert_refused(&s, p.ends + 8, 1);      /* links before the first */
  assert_refused(&s, p.ends + 12, 4096);  /* links that end before they begin */
  assert_refused(&s, p.offsets + 16, 65); /* links of another row */
  put(&s, own, &none, sizeof none);
  assert_true(survives(&s)); /* fewer links, or others, are a worse graph, and no harm */
  put(&s, own, &link, sizeof link);
  assert_true(survives(&s));
  release(&s);
}

/* A point that is none would have no nearest neighbour in a graph, and FAISS go astray. */
static void coordinates_are_numbers(void **state)
{
  (void)state;
  static const float no_numbers[] = {NAN, INFINITY, -INFINITY, 1e30f};
  struct saved s = save(GPNN_SEARCH_HNSW, 12, 12);
  for (size_t i = 0; i < 4; i++) {
    float before;
    memcpy(&before, s.bytes + s.length - 4, sizeof before);
    put(&s, s.length - 4, &no_numbers[i], sizeof before);
    assert_false(survives(&s));
    put(&s, s.length - 4, &before, sizeof before);
  }
  assert_true(survives(&s));
  release(&s);
}

/* Whatever numbers lists give their rows, and however often: none is found that is not there. */
static void rows_of_lists_are_rows_there_are(void **state)
{
  (void)state;
  static const int64_t rows[] = {-1, 80, INT64_MIN, INT64_MAX, 7};
  struct saved s = save(GPNN_SEARCH_IVF, 80, 80);
  size_t lists = find(&s, "full") + 4 + 8;
  size_t n_first = (size_t)u64_at(&s, lists), first = lists + 2 * 8 + n_first * D * sizeof(float);
  for (size_t r = 0; r < 5; r++) {
    for (size_t i = 0; i < n_first; i++) put(&s, first + i * 8, &rows[r], 8);
    assert_true(survives(&s));
  }
  release(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(altered_lists_do_no_harm),
      cmocka_unit_test(altered_lists_most_of_them_empty_do_no_harm),
      cmocka_unit_test(an_altered_graph_does_no_harm),
      cmocka_unit_test(a_part_is_refused_and_so_is_more),
      cmocka_unit_test(links_lead_to_rows_of_their_level),
      cmocka_unit_test(coordinates_are_numbers),
      cmocka_unit_test(rows_of_lists_are_rows_there_are),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
