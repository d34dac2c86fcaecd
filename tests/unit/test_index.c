#include "source.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "container/container.h"
#include "container_bytes.h"
#include "dataset/index/index.h"
#include "dataset/index/index_private.h"
#include "dataset/missing.h"
#include "dataset/sample.h"
#include "linalg/blas_threads.h"

enum { N = 400, D = 4, C = 7 };

/* Everything an index is made of, owned, and a directory for it. */
struct place {
  char directory[200], path[240];
  struct gpnn_dataset dataset;
  double *x, *y, *calibration_x, *calibration_y;
};

static double *normal_rows(struct gpnn_rng *rng, size_t n)
{
  double *x = gpnn_alloc(n, 1, sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < n; i++) x[i] = gpnn_rng_normal(rng);
  return x;
}

static struct gpnn_column column(const char *name, size_t position)
{
  return (struct gpnn_column){.name = gpnn_copy_text(name, strlen(name)), .position = position};
}

/* Inputs: two numbers and a category of two levels (one with a NUL): four features. */
static void make_schema(struct gpnn_schema *schema)
{
  static const char *const levels[] = {"red", "bl\0ue"};
  static const size_t lengths[] = {3, 5};
  schema->n_columns = 5;
  schema->has_header = true;
  schema->target = column("price", 4);
  schema->n_inputs = 3;
  schema->inputs = calloc(3, sizeof *schema->inputs);
  schema->inputs[0] = column("lat", 0);
  schema->inputs[1] = column("l\xc3\xa4nge", 2);
  schema->inputs[2] = column("colour", 3);
  struct gpnn_column *category = &schema->inputs[2];
  category->kind = GPNN_COLUMN_CATEGORY;
  category->n_levels = 2;
  category->levels = calloc(2, sizeof *category->levels);
  category->level_lengths = calloc(2, sizeof *category->level_lengths);
  for (size_t i = 0; i < 2; i++) {
    category->levels[i] = gpnn_copy_text(levels[i], lengths[i]);
    category->level_lengths[i] = lengths[i];
  }
}

static int enter(void **state)
{
  struct place *place = calloc(1, sizeof *place);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  if (unit_make_folder(place->directory, sizeof place->directory) != 0) return -1;
  snprintf(place->path, sizeof place->path, "%s/test.gpi", place->directory);
  place->x = normal_rows(&rng, N * D);
  place->y = normal_rows(&rng, N);
  place->calibration_x = normal_rows(&rng, C * D);
  place->calibration_y = normal_rows(&rng, C);
  struct gpnn_dataset *dataset = &place->dataset;
  *dataset = (struct gpnn_dataset){.n = N,
                                   .d = D,
                                   .x = place->x,
                                   .y = place->y,
                                   .n_calibration = C,
                                   .calibration_x = place->calibration_x,
                                   .calibration_y = place->calibration_y,
                                   .n_skipped = 3,
                                   .seed = 42,
                                   .provenance = "target\tprice\nsearch\tauto\n"};
  make_schema(&dataset->schema);
  assert_ok(gpnn_scaling_learn(&dataset->scaling, GPNN_SCALING_WHITEN, 1e-5, N, D, NULL, place->x,
                               place->y, &err));
  *state = place;
  return 0;
}

static int leave(void **state)
{
  struct place *place = *state;
  gpnn_schema_release(&place->dataset.schema);
  gpnn_scaling_release(&place->dataset.scaling);
  free(place->x);
  free(place->y);
  free(place->calibration_x);
  free(place->calibration_y);
  unlink(place->path);
  int failed = rmdir(place->directory); /* fails if a test left anything */
  free(place);
  return failed;
}

static struct gpnn_search *build(const struct place *place, enum gpnn_search_kind kind,
                                 const double *lengthscale)
{
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  options.kind = kind;
  options.neighbours = 5;
  options.recall = 0.8;
  options.lengthscale = lengthscale;
  assert_ok(gpnn_search_build(&search, N, D, place->x, &options, &err));
  return search;
}

static void write_index(const struct place *place, enum gpnn_search_kind kind,
                        const double *lengthscale)
{
  struct gpnn_search *search = build(place, kind, lengthscale);
  const char *volatile temporary = NULL;
  assert_ok(gpnn_index_write(place->path, &place->dataset, search, &temporary, &err));
  assert_null(temporary);
  gpnn_search_free(search);
}

/* The index of 'place' as it reads back. */
static struct gpnn_index *open_written(const struct place *place, enum gpnn_search_kind kind,
                                       const double *lengthscale, bool verify)
{
  struct gpnn_index *index = NULL;
  write_index(place, kind, lengthscale);
  assert_ok(gpnn_index_open(&index, place->path, verify, &err));
  return index;
}

static void assert_refused(const char *path, bool verify, enum gpnn_status status, const char *text)
{
  struct gpnn_index *index = NULL;
  assert_fails(gpnn_index_open(&index, path, verify, &err), status, text);
  assert_null(index);
}

/* A change of one number of an index: 'width' is 4 or 8 bytes, and 'text' is part of the message.
 */
struct change {
  const char *tag;
  size_t at, width;
  uint64_t value;
  const char *text;
};

/* Makes each change in turn, with checksums that are right: the index is refused. */
static void assert_changes_refused(const struct place *place, size_t n,
                                   const struct change *changes)
{
  struct bytes whole = read_bytes(place->path);
  for (size_t i = 0; i < n; i++) {
    unsigned char *at = section_of(whole, changes[i].tag) + changes[i].at, kept[8];
    memcpy(kept, at, 8);
    if (changes[i].width == 4)
      gpnn_store_u32(at, (uint32_t)changes[i].value);
    else
      gpnn_store_u64(at, changes[i].value);
    write_sealed(place->path, whole);
    assert_refused(place->path, false, GPNN_EFORMAT, changes[i].text);
    memcpy(at, kept, 8);
  }
  free(whole.at);
}

static void assert_columns_equal(const struct gpnn_column *a, const struct gpnn_column *b)
{
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->position, b->position);
  assert_int_equal(a->occurrence, b->occurrence);
  assert_int_equal(a->n_namesakes, b->n_namesakes);
  assert_int_equal(a->kind, b->kind);
  assert_true((a->date == NULL) == (b->date == NULL));
  if (a->date != NULL) assert_string_equal(a->date, b->date);
  assert_int_equal(a->n_levels, b->n_levels);
  for (size_t i = 0; i < a->n_levels; i++) {
    assert_int_equal(a->level_lengths[i], b->level_lengths[i]);
    assert_memory_equal(a->levels[i], b->levels[i], a->level_lengths[i]);
  }
}

static void contents_read_back(void **state)
{
  const struct place *place = *state;
  const struct gpnn_dataset *wrote = &place->dataset;
  const double lengthscale[D] = {1, 2, 3, 0.5};
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, lengthscale, true);
  const struct gpnn_dataset *read = gpnn_index_dataset(index);
  assert_int_equal(read->n, N);
  assert_int_equal(read->d, D);
  assert_int_equal(read->n_calibration, C);
  assert_int_equal(read->n_skipped, 3);
  assert_int_equal(read->seed, 42);
  assert_string_equal(read->provenance, wrote->provenance);
  assert_memory_equal(read->x, wrote->x, N * D * sizeof(double));
  assert_memory_equal(read->y, wrote->y, N * sizeof(double));
  assert_memory_equal(read->calibration_x, wrote->calibration_x, C * D * sizeof(double));
  assert_memory_equal(read->calibration_y, wrote->calibration_y, C * sizeof(double));
  assert_int_equal((uintptr_t)read->x % 64, 0);
  assert_int_equal(read->schema.n_columns, 5);
  assert_true(read->schema.has_header);
  assert_columns_equal(&read->schema.target, &wrote->schema.target);
  assert_int_equal(read->schema.n_inputs, 3);
  for (size_t i = 0; i < 3; i++)
    assert_columns_equal(&read->schema.inputs[i], &wrote->schema.inputs[i]);
  assert_int_equal(read->scaling.method, GPNN_SCALING_WHITEN);
  assert_int_equal(read->scaling.n_in, D);
  assert_int_equal(read->scaling.n_out, D);
  assert_near(read->scaling.eps, 1e-5, 0);
  assert_near(read->scaling.y_mean, wrote->scaling.y_mean, 0);
  assert_near(read->scaling.y_sd, wrote->scaling.y_sd, 0);
  assert_memory_equal(read->scaling.mean, wrote->scaling.mean, D * sizeof(double));
  assert_memory_equal(read->scaling.weight, wrote->scaling.weight, D * D * sizeof(double));
  assert_int_equal(gpnn_dataset_search_report(gpnn_index_dataset(index)).kind, GPNN_SEARCH_FLAT);
  assert_memory_equal(gpnn_dataset_search_metric(gpnn_index_dataset(index)).lengthscale,
                      lengthscale, sizeof lengthscale);
  assert_string_equal(gpnn_index_path(index), place->path);
  char tag[5];
  uint64_t offset, length;
  assert_true(gpnn_index_section(index, 4, tag, &offset, &length));
  assert_string_equal(tag, "ROWS");
  assert_int_equal(length, N * D * sizeof(double));
  assert_true(gpnn_index_section(index, 9, tag, &offset, &length));
  assert_false(gpnn_index_section(index, 10, tag, &offset, &length));
  gpnn_index_close(index);
  gpnn_index_close(NULL);
}

static void a_stored_search_answers_the_same(void **state)
{
  const struct place *place = *state;
  static const enum gpnn_search_kind kinds[] = {GPNN_SEARCH_FLAT, GPNN_SEARCH_IVF,
                                                GPNN_SEARCH_HNSW};
  enum { K = 9 };
  int64_t *wanted = calloc(N * K, sizeof *wanted), *got = calloc(N * K, sizeof *got);
  double *distances = calloc(N * K, sizeof *distances);
  for (size_t i = 0; i < 3; i++) {
    struct gpnn_search *built = build(place, kinds[i], NULL), *loaded = NULL;
    struct gpnn_index *index = NULL;
    write_index(place, kinds[i], NULL);
    assert_ok(gpnn_index_open(&index, place->path, false, &err));
    assert_null(gpnn_dataset_search_metric(gpnn_index_dataset(index)).lengthscale);
    assert_ok(gpnn_dataset_search(gpnn_index_dataset(index), &loaded, &err));
    assert_ok(gpnn_search_query(built, N, place->x, K, wanted, distances, 2, &err));
    assert_ok(gpnn_search_query(loaded, N, place->x, K, got, distances, 2, &err));
    assert_memory_equal(got, wanted, N * K * sizeof *got);
    gpnn_search_free(built);
    gpnn_search_free(loaded);
    gpnn_index_close(index);
  }
  free(wanted);
  free(got);
  free(distances);
}

static enum gpnn_status load_search(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  struct gpnn_search *search = NULL;
  enum gpnn_status status = gpnn_dataset_search(gpnn_index_dataset(context), &search, err);
  (void)thread;
  (void)i;
  gpnn_search_free(search);
  return status;
}

static void threads_load_the_search_of_one_index_at_once(void **state)
{
  const struct place *place = *state;
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_HNSW, NULL, false);
  assert_ok(gpnn_threads_try(8, 200, 1, load_search, index, &err));
  gpnn_index_close(index);
}

static void the_same_index_is_the_same_bytes(void **state)
{
  const struct place *place = *state;
  write_index(place, GPNN_SEARCH_IVF, NULL);
  struct bytes first = read_bytes(place->path);
  write_index(place, GPNN_SEARCH_IVF, NULL);
  struct bytes second = read_bytes(place->path);
  assert_int_equal(first.length, second.length);
  assert_memory_equal(first.at, second.at, first.length);
  free(first.at);
  free(second.at);
}

static uint64_t fingerprint_now(const struct place *place, enum gpnn_search_kind kind)
{
  struct gpnn_index *index = open_written(place, kind, NULL, true);
  uint64_t fingerprint = gpnn_index_dataset(index)->fingerprint;
  gpnn_index_close(index);
  return fingerprint;
}

static void the_fingerprint_is_of_data_not_of_search(void **state)
{
  struct place *place = *state;
  uint64_t flat = fingerprint_now(place, GPNN_SEARCH_FLAT);
  place->dataset.provenance = "other\n";
  assert_true(fingerprint_now(place, GPNN_SEARCH_IVF) == flat);
  place->y[5] = nextafter(place->y[5], 9);
  uint64_t other = fingerprint_now(place, GPNN_SEARCH_FLAT);
  assert_true(other != flat);
  place->dataset.schema.inputs[0].name[0] = 'L';
  assert_true(fingerprint_now(place, GPNN_SEARCH_FLAT) != other);
}

static void no_calibration_rows_is_allowed(void **state)
{
  struct place *place = *state;
  place->dataset.n_calibration = 0;
  place->dataset.calibration_x = place->dataset.calibration_y = NULL;
  place->dataset.provenance = NULL;
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, true);
  assert_int_equal(gpnn_index_dataset(index)->n_calibration, 0);
  assert_string_equal(gpnn_index_dataset(index)->provenance, "");
  gpnn_index_close(index);
}

static void tables_and_others_are_no_indexes(void **state)
{
  const struct place *place = *state;
  assert_false(gpnn_index_recognise(place->path));
  assert_refused(place->path, false, GPNN_EIO, "No such file");
  assert_refused(place->directory, false, GPNN_EIO, "is a directory");
  write_bytes(place->path, "a\tb\n1\t2\n", 8);
  assert_refused(place->path, false, GPNN_EMISMATCH,
                 "is a table, not an index: make one with gpnn-index");
  assert_string_equal(gpnn_index_look(place->path), "a table");
  write_bytes(place->path, "\x1f\x8b\x08\0", 4);
  assert_refused(place->path, false, GPNN_EMISMATCH, "is a table");
  write_bytes(place->path, "\x7f\x45LF\0\0", 6);
  assert_refused(place->path, false, GPNN_EMISMATCH, "is not an index");
  write_bytes(place->path, "", 0);
  assert_refused(place->path, false, GPNN_EMISMATCH, "is empty");
  assert_false(gpnn_index_recognise(place->path));
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  assert_true(gpnn_index_recognise(place->path));
  assert_string_equal(gpnn_index_look(place->path), "an index");
  struct bytes whole = read_bytes(place->path);
  write_bytes(place->path, whole.at, GPNN_CONTAINER_KIND_BYTES - 1);
  assert_true(gpnn_index_recognise(place->path));
  assert_refused(place->path, false, GPNN_EFORMAT, "truncated: 23 bytes");
  gpnn_store_u32(whole.at + 20, GPNN_CONTAINER_STATE);
  write_sealed(place->path, whole);
  assert_refused(place->path, false, GPNN_EMISMATCH, "is a state file, not an index");
  assert_false(gpnn_index_recognise(place->path));
  assert_string_equal(gpnn_index_look(place->path), "a state file");
  free(whole.at);
}

static void every_truncation_is_refused(void **state)
{
  const struct place *place = *state;
  write_index(place, GPNN_SEARCH_IVF, NULL);
  struct bytes whole = read_bytes(place->path);
  for (size_t i = 0; i < gpnn_load_u32(whole.at + 24); i++) {
    size_t at = (size_t)gpnn_load_u64(whole.at + 64 + 32 * i + 8);
    for (size_t length = at - 1; length <= at + 1 && length < whole.length; length++) {
      write_bytes(place->path, whole.at, length);
      assert_refused(place->path, false, GPNN_EFORMAT, "truncated");
    }
  }
  for (size_t length = 8; length < whole.length; length += 499) {
    write_bytes(place->path, whole.at, length);
    assert_refused(place->path, false, GPNN_EFORMAT, "truncated");
  }
  free(whole.at);
}

static void a_flipped_bit_is_noticed(void **state)
{
  const struct place *place = *state;
  static const char *const small[] = {"INFO", "COLS", "STDZ", "SRCH", "OPTS"};
  static const char *const large[] = {"ROWS", "YVAL", "CALX", "CALY", "FAIS"};
  write_index(place, GPNN_SEARCH_IVF, NULL);
  struct bytes whole = read_bytes(place->path);
  for (size_t i = 0; i < 5; i++) {
    section_of(whole, small[i])[3] ^= 4;
    write_bytes(place->path, whole.at, whole.length);
    assert_refused(place->path, false, GPNN_EFORMAT, small[i]);
    section_of(whole, small[i])[3] ^= 4;
    section_of(whole, large[i])[3] ^= 4;
    write_bytes(place->path, whole.at, whole.length);
    assert_refused(place->path, true, GPNN_EFORMAT, large[i]);
    section_of(whole, large[i])[3] ^= 4;
  }
  free(whole.at);
}

static void a_damaged_search_is_refused_when_loaded(void **state)
{
  const struct place *place = *state;
  struct gpnn_index *index = NULL;
  struct gpnn_search *search = NULL;
  write_index(place, GPNN_SEARCH_IVF, NULL);
  struct bytes whole = read_bytes(place->path);
  section_of(whole, "FAIS")[200] ^= 1;
  write_bytes(place->path, whole.at, whole.length);
  assert_ok(gpnn_index_open(&index, place->path, false, &err));
  assert_fails(gpnn_dataset_search(gpnn_index_dataset(index), &search, &err), GPNN_EFORMAT,
               "section FAIS");
  assert_null(search);
  gpnn_index_close(index);
  free(whole.at);
}

static void values_that_are_not_allowed_are_refused(void **state)
{
  const struct place *place = *state;
  static const struct change cases[] = {
      {"INFO", 0, 8, 0, "INFO"},
      {"INFO", 0, 8, N + 1, "ROWS"},
      {"INFO", 0, 8, UINT64_MAX, "ROWS"},
      {"INFO", 8, 8, D + 1, "STDZ"},
      {"INFO", 16, 8, C - 1, "CALX"},
      {"INFO", 16, 8, UINT64_MAX / 16, "CALX"},
      {"COLS", 8, 4, 2, "COLS"},           /* neither with nor without header */
      {"COLS", 12, 4, 2, "COLS"},          /* bytes left over */
      {"COLS", 12, 4, UINT32_MAX, "COLS"}, /* more inputs than bytes */
      {"COLS", 16, 8, 5, "COLS"},          /* target outside the table */
      {"COLS", 24, 4, 1, "COLS"},          /* target a category */
      {"COLS", 28, 4, UINT32_MAX, "COLS"}, /* levels of a number */
      {"COLS", 32, 4, UINT32_MAX, "COLS"}, /* a name longer than the section */
      {"COLS", 36, 4, 0x63690070, "COLS"}, /* a name with a NUL */
      {"STDZ", 0, 4, 3, "STDZ"},           /* no such method */
      {"STDZ", 0, 4, 1, "STDZ"},           /* scale has other weights */
      {"STDZ", 8, 8, UINT64_MAX / 4, "STDZ"},
      {"STDZ", 16, 8, D - 1, "STDZ"},
      {"STDZ", 40, 8, 0, "STDZ"},                   /* sd 0 */
      {"STDZ", 40, 8, 0x7ff8000000000000u, "STDZ"}, /* sd NaN */
      {"STDZ", 48, 8, 0x7ff0000000000000u, "STDZ"}, /* mean infinite */
      {"SRCH", 0, 4, 0, "SRCH"},                    /* auto is no search */
      {"SRCH", 0, 4, 77, "SRCH"},
      {"SRCH", 4, 4, 1, "SRCH"}, /* lengthscales that are not there */
  };
  write_index(place, GPNN_SEARCH_IVF, NULL);
  assert_changes_refused(place, sizeof cases / sizeof *cases, cases);
}

static void rows_and_fingerprint_are_checked_on_request(void **state)
{
  const struct place *place = *state;
  struct gpnn_index *index = NULL;
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  struct bytes whole = read_bytes(place->path);
  gpnn_store_u64(whole.at + 40, 1);
  write_sealed(place->path, whole);
  assert_ok(gpnn_index_open(&index, place->path, false, &err));
  assert_true(gpnn_index_dataset(index)->fingerprint == 1);
  gpnn_index_close(index);
  assert_refused(place->path, true, GPNN_EFORMAT, "fingerprint");
  gpnn_store_u64(section_of(whole, "YVAL") + 8, 0x7ff0000000000000u);
  write_sealed(place->path, whole);
  assert_refused(place->path, true, GPNN_EFORMAT, "YVAL");
  free(whole.at);
}

static void unknown_sections_count_only_if_critical(void **state)
{
  const struct place *place = *state;
  struct gpnn_index *index = NULL;
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  struct bytes whole = read_bytes(place->path);
  unsigned char *entry = entry_of(whole, "OPTS");
  memcpy(entry, "NEWS", 4);
  write_sealed(place->path, whole);
  assert_ok(gpnn_index_open(&index, place->path, false, &err));
  assert_null(gpnn_index_dataset(index)->provenance);
  gpnn_index_close(index);
  gpnn_store_u32(entry + 4, 1);
  write_sealed(place->path, whole);
  assert_refused(place->path, false, GPNN_EVERSION, "section NEWS is not known");
  memcpy(entry, "OPTS", 4);
  memcpy(entry_of(whole, "STDZ"), "STDX", 4);
  gpnn_store_u32(entry_of(whole, "STDX") + 4, 0);
  write_sealed(place->path, whole);
  assert_refused(place->path, false, GPNN_EFORMAT, "section STDZ is missing");
  free(whole.at);
}

static void a_failed_write_leaves_nothing(void **state)
{
  const struct place *place = *state;
  struct gpnn_search *search = build(place, GPNN_SEARCH_FLAT, NULL);
  assert_fails(gpnn_index_write("/dev/null", &place->dataset, search, NULL, &err), GPNN_EIO,
               "not a regular file");
  assert_fails(gpnn_index_write("/nowhere/at/all.gpi", &place->dataset, search, NULL, &err),
               GPNN_EIO, "cannot be created");
  gpnn_search_free(search);
}

static void an_index_made_at_once_is_the_one_written_after_its_search(void **state)
{
  const struct place *place = *state;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  options.kind = GPNN_SEARCH_TREE;
  options.neighbours = 5;
  options.recall = 0.8;
  write_index(place, GPNN_SEARCH_TREE, NULL);
  struct bytes after = read_bytes(place->path);
  for (options.threads = 1; options.threads <= 3; options.threads++) {
    struct gpnn_search *search = NULL;
    const char *volatile temporary = NULL;
    assert_ok(
        gpnn_index_make(place->path, &place->dataset, NULL, &options, &temporary, &search, &err));
    assert_null(temporary);
    assert_int_equal(gpnn_search_describe(search)->kind, GPNN_SEARCH_TREE);
    gpnn_search_free(search);
    struct bytes made = read_bytes(place->path);
    assert_int_equal(made.length, after.length);
    assert_memory_equal(made.at, after.at, after.length);
    free(made.at);
  }
  free(after.at);
}

static void an_index_whose_search_cannot_be_built_leaves_nothing(void **state)
{
  const struct place *place = *state;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  options.recall = 2;
  for (options.threads = 1; options.threads <= 2; options.threads++) {
    struct gpnn_search *search = NULL;
    const char *volatile temporary = NULL;
    assert_fails(
        gpnn_index_make(place->path, &place->dataset, NULL, &options, &temporary, &search, &err),
        GPNN_EINVAL, "a recall of 2");
    assert_null(search);
    assert_null(temporary);
  }
}

/* ---- points, further targets, regressors, noise, offsets, groups ---- */

enum { MORE = 2, REGRESSORS = 3 };

/* What an index may have besides, in memory of its own. */
struct besides {
  double *more, *regressors, *noise, *calibration_more, *calibration_regressors, *calibration_noise;
  double *offset, *calibration_offset;
  uint32_t *row_group;
};

static struct gpnn_column *columns(size_t n, const char *const *names)
{
  struct gpnn_column *made = calloc(n, sizeof *made);
  assert_non_null(made);
  for (size_t i = 0; i < n; i++) made[i] = column(names[i], i);
  return made;
}

/* Inputs become a place and a number: the four features there are. */
static void extend_schema(struct gpnn_schema *schema)
{
  gpnn_schema_release(schema);
  schema->n_columns = 13;
  schema->has_header = true;
  schema->target = column("price", 4);
  schema->n_inputs = 3;
  schema->inputs = columns(3, (const char *const[]){"lon", "day", "lat"});
  schema->inputs[0].kind = GPNN_COLUMN_LONGITUDE;
  schema->inputs[0].partner = 2;
  schema->inputs[2].kind = GPNN_COLUMN_LATITUDE;
  schema->inputs[1].date = gpnn_copy_text("%d/%m/%Y", 8);
  schema->n_more = MORE;
  schema->more = columns(MORE, (const char *const[]){"rent", "tax"});
  schema->n_regressors = REGRESSORS;
  schema->regressors = columns(REGRESSORS, (const char *const[]){"r", "s", "t"});
  schema->regressors[1].date = gpnn_copy_text("iso", 3);
  schema->has_noise = true;
  schema->noise = column("variance", 8);
  schema->noise.occurrence = 1;
  schema->noise.n_namesakes = 2;
  schema->has_by = true;
  schema->by = column("street", 12);
  schema->n_offsets = 1 + MORE;
  schema->offsets = columns(1 + MORE, (const char *const[]){"o", "p", "q"});
}

static void learn(struct gpnn_scaling *scaling, const struct place *place,
                  const struct besides *besides)
{
  enum { W = D + 1 + MORE + REGRESSORS };
  static double rows[N * W];
  for (size_t i = 0; i < N; i++) {
    double *row = rows + i * W;
    memcpy(row, place->x + i * D, D * sizeof *row);
    row[D] = place->y[i];
    for (size_t t = 0; t < MORE; t++) row[D + 1 + t] = besides->more[t * N + i];
    memcpy(row + D + 1 + MORE, besides->regressors + i * REGRESSORS, REGRESSORS * sizeof *row);
  }
  struct source_rows given = {N, W, 0, rows};
  const struct gpnn_row_source source = source_of(&given);
  const struct gpnn_scaling_columns columns = {
      .n_in = D, .n_more = MORE, .n_regressors = REGRESSORS};
  assert_ok(gpnn_scaling_learn_rows(scaling, GPNN_SCALING_SCALE, 0, &columns, &source, NULL, &err));
}

static void extend(struct place *place, struct besides *besides)
{
  struct gpnn_rng rng;
  struct gpnn_dataset *dataset = &place->dataset;
  struct gpnn_scaling *scaling = &dataset->scaling;
  gpnn_rng_init(&rng, 2, GPNN_RNG_TEST);
  extend_schema(&dataset->schema);
  besides->more = normal_rows(&rng, MORE * N);
  besides->regressors = normal_rows(&rng, N * REGRESSORS);
  besides->noise = normal_rows(&rng, (1 + MORE) * N);
  besides->calibration_more = normal_rows(&rng, MORE * C);
  besides->calibration_regressors = normal_rows(&rng, C * REGRESSORS);
  besides->calibration_noise = normal_rows(&rng, (1 + MORE) * C);
  besides->offset = normal_rows(&rng, (1 + MORE) * N);
  besides->calibration_offset = normal_rows(&rng, (1 + MORE) * C);
  for (size_t i = 0; i < (1 + MORE) * N; i++) besides->noise[i] = fabs(besides->noise[i]);
  for (size_t i = 0; i < (1 + MORE) * C; i++)
    besides->calibration_noise[i] = fabs(besides->calibration_noise[i]);
  gpnn_scaling_release(scaling);
  learn(scaling, place, besides);
  dataset->n_more = MORE;
  dataset->more = besides->more;
  dataset->calibration_more = besides->calibration_more;
  dataset->n_regressors = REGRESSORS;
  dataset->regressors = besides->regressors;
  dataset->calibration_regressors = besides->calibration_regressors;
  dataset->noise = besides->noise;
  dataset->calibration_noise = besides->calibration_noise;
  besides->row_group = calloc(N, sizeof *besides->row_group);
  for (uint32_t i = 0; i < N; i++) besides->row_group[i] = i % 7;
  dataset->row_group = besides->row_group;
  dataset->n_row_groups = 7;
  dataset->offset = besides->offset;
  dataset->calibration_offset = besides->calibration_offset;
}

static void besides_release(struct besides *besides)
{
  free(besides->more);
  free(besides->regressors);
  free(besides->noise);
  free(besides->calibration_more);
  free(besides->calibration_regressors);
  free(besides->calibration_noise);
  free(besides->offset);
  free(besides->row_group);
  free(besides->calibration_offset);
}

static void assert_same(const double *a, const double *b, size_t n)
{
  assert_memory_equal(a, b, n * sizeof *a);
}

static void extended_contents_read_back(void **state)
{
  struct place *place = *state;
  struct besides besides;
  char name[GPNN_MASK_BYTES];
  extend(place, &besides);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, true);
  const struct gpnn_dataset *read = gpnn_index_dataset(index), *wrote = &place->dataset;
  for (size_t i = 0; i < 3; i++) {
    assert_columns_equal(&read->schema.inputs[i], &wrote->schema.inputs[i]);
    assert_int_equal(read->schema.inputs[i].partner, wrote->schema.inputs[i].partner);
  }
  assert_int_equal(read->schema.n_regressors, REGRESSORS);
  for (size_t j = 0; j < REGRESSORS; j++)
    assert_columns_equal(&read->schema.regressors[j], &wrote->schema.regressors[j]);
  assert_columns_equal(&read->schema.noise, &wrote->schema.noise);
  assert_memory_equal(read->scaling.regressors, wrote->scaling.regressors,
                      REGRESSORS * sizeof(struct gpnn_moments));
  assert_same(read->more, besides.more, MORE * N);
  assert_same(read->calibration_more, besides.calibration_more, MORE * C);
  assert_same(read->regressors, besides.regressors, REGRESSORS * N);
  assert_same(read->calibration_regressors, besides.calibration_regressors, REGRESSORS * C);
  assert_same(read->noise, besides.noise, (1 + MORE) * N);
  assert_same(read->calibration_noise, besides.calibration_noise, (1 + MORE) * C);
  assert_int_equal(read->schema.n_offsets, 1 + MORE);
  for (size_t t = 0; t <= MORE; t++)
    assert_columns_equal(&read->schema.offsets[t], &wrote->schema.offsets[t]);
  assert_same(read->offset, besides.offset, (1 + MORE) * N);
  assert_same(read->calibration_offset, besides.calibration_offset, (1 + MORE) * C);
  assert_columns_equal(&read->schema.by, &wrote->schema.by);
  assert_int_equal(read->n_row_groups, 7);
  assert_memory_equal(read->row_group, besides.row_group, N * sizeof *read->row_group);
  assert_int_equal(read->n_groups, 2);
  assert_memory_equal(read->group, ((uint32_t[]){0, 1, 1, 1}), D * sizeof(uint32_t));
  assert_string_equal(gpnn_dataset_group_name(read, NULL, 0, name), "day");
  assert_string_equal(gpnn_dataset_group_name(read, NULL, 1, name), "lat,lon");
  gpnn_index_close(index);
  besides_release(&besides);
}

/* Gives a step of the fixture numbers, two of each input: 'first', 'first' + 1 and so on. */
static struct gpnn_learnt *set_step(struct place *place, enum gpnn_step_number step, double first)
{
  struct gpnn_learnt *learnt = &place->dataset.scaling.steps[step];
  size_t n_in = place->dataset.scaling.n_in;
  *learnt = (struct gpnn_learnt){
      .n_features = n_in, .n = 2 * n_in, .numbers = malloc(2 * n_in * sizeof(double))};
  assert_non_null(learnt->numbers);
  for (size_t i = 0; i < learnt->n; i++) learnt->numbers[i] = first + (double)i;
  return learnt;
}

static void steps_of_inputs_read_back(void **state)
{
  struct place *place = *state;
  static const struct {
    enum gpnn_step_number step;
    const char *tag;
    double first, wrong; /* number of the second input that contradicts its first one */
  } cases[] = {{GPNN_STEP_LIMITS, "LIMS", -2, -1.5}, {GPNN_STEP_TAILS, "TAIL", 0, -1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t n_in = place->dataset.scaling.n_in;
    struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, true);
    assert_null(gpnn_index_dataset(index)->scaling.steps[cases[i].step].numbers);
    gpnn_index_close(index);
    struct gpnn_learnt *learnt = set_step(place, cases[i].step, cases[i].first);
    index = open_written(place, GPNN_SEARCH_FLAT, NULL, true);
    const struct gpnn_learnt *read = &gpnn_index_dataset(index)->scaling.steps[cases[i].step];
    assert_int_equal(read->n_features, n_in);
    assert_int_equal(read->n, learnt->n);
    assert_same(read->numbers, learnt->numbers, learnt->n);
    gpnn_index_close(index);
    learnt->numbers[n_in + 1] = cases[i].wrong;
    write_index(place, GPNN_SEARCH_FLAT, NULL);
    assert_refused(place->path, false, GPNN_EFORMAT, cases[i].tag);
    learnt->numbers[n_in + 1] = cases[i].first + (double)n_in + 1;
  }
}

static void assert_packed(const struct gpnn_dataset *dataset, const struct gpnn_packed *packed)
{
  const struct gpnn_packed *read = &dataset->packed;
  assert_int_equal(read->parameters_length, packed->parameters_length);
  assert_memory_equal(read->parameters, packed->parameters, packed->parameters_length);
  assert_int_equal(read->report_length, packed->report_length);
  if (packed->report == NULL)
    assert_null(read->report);
  else
    assert_memory_equal(read->report, packed->report, packed->report_length);
}

static void what_is_packed_replaces_what_was_and_nothing_else(void **state)
{
  struct place *place = *state;
  const struct gpnn_reading comma = {',', false, 3}, none = {0, true, 0};
  const struct gpnn_packed first = {"parameters", 10, "told", 4}, second = {"others", 6, NULL, 0};
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_TREE, NULL, true), *packed = NULL;
  const struct bytes plain = read_bytes(place->path);
  const uint64_t print = gpnn_index_dataset(index)->fingerprint;
  assert_false(gpnn_index_has_parameters(place->path));
  assert_ok(gpnn_index_pack(place->path, index, &comma, &first, NULL, &err));
  assert_true(gpnn_index_has_parameters(place->path));
  assert_memory_equal(gpnn_index_dataset(index)->x, place->x, N * D * sizeof *place->x);
  gpnn_index_close(index); /* which was that of before */
  assert_ok(gpnn_index_open(&index, place->path, true, &err));
  assert_packed(gpnn_index_dataset(index), &first);
  assert_int_equal(gpnn_index_dataset(index)->reading.delimiter, ',');
  assert_true(gpnn_index_dataset(index)->fingerprint == print);
  assert_ok(gpnn_index_pack(place->path, index, &none, &second, NULL, &err));
  assert_ok(gpnn_index_open(&packed, place->path, true, &err));
  assert_packed(gpnn_index_dataset(packed), &second);
  assert_int_equal(gpnn_index_dataset(packed)->reading.delimiter, 0);
  assert_true(gpnn_index_dataset(packed)->reading.skips_bad);
  struct bytes bytes = read_bytes(place->path);
  assert_memory_equal(bytes.at + 2048, plain.at + 2048, plain.length - 2048);
  gpnn_index_close(packed);
  gpnn_index_close(index);
  free(bytes.at);
  free(plain.at);
}

static void nothing_is_lost_that_is_behind_what_was_packed(void **state)
{
  const struct place *place = *state;
  const struct gpnn_reading reading = {0, false, 0};
  const struct gpnn_packed packed = {"parameters", 10, NULL, 0};
  struct gpnn_index *index = NULL;
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  struct bytes whole = read_bytes(place->path);
  memcpy(entry_of(whole, "OPTS"), "RPRT", 4);
  write_sealed(place->path, whole);
  assert_ok(gpnn_index_open(&index, place->path, true, &err));
  assert_fails(gpnn_index_pack(place->path, index, &reading, &packed, NULL, &err), GPNN_EFORMAT,
               "section ROWS is behind what was packed");
  gpnn_index_close(index);
  struct bytes now = read_bytes(place->path);
  assert_memory_equal(now.at, whole.at, whole.length);
  free(now.at);
  free(whole.at);
}

static void a_delimiter_that_cannot_be_is_refused(void **state)
{
  struct place *place = *state;
  static const unsigned char bad[] = {'"', '\n', 0x7f, 1};
  for (size_t i = 0; i < sizeof bad; i++) {
    place->dataset.reading.delimiter = (char)bad[i];
    write_index(place, GPNN_SEARCH_FLAT, NULL);
    assert_refused(place->path, false, GPNN_EFORMAT, "READ");
  }
}

static void every_target_has_a_view_of_its_own(void **state)
{
  struct place *place = *state;
  struct besides besides;
  static const char *const names[] = {"price", "rent", "tax"};
  extend(place, &besides);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, false);
  assert_int_equal(gpnn_dataset_n_targets(gpnn_index_dataset(index)), 1 + MORE);
  assert_ptr_equal(gpnn_dataset_target(gpnn_index_dataset(index), 0), gpnn_index_dataset(index));
  for (size_t t = 0; t <= MORE; t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(gpnn_index_dataset(index), t);
    assert_string_equal(view->schema.target.name, names[t]);
    assert_ptr_equal(gpnn_dataset_find_target(gpnn_index_dataset(index), names[t]), view);
    assert_int_equal(view->target, t);
    assert_ptr_equal(view->x, gpnn_index_dataset(index)->x);
    assert_same(view->noise, besides.noise + t * N, N);
    assert_same(view->calibration_noise, besides.calibration_noise + t * C, C);
    assert_same(view->offset, besides.offset + t * N, N);
    assert_same(view->calibration_offset, besides.calibration_offset + t * C, C);
    assert_int_equal(view->schema.n_offsets, t == 0 ? 1 + MORE : 1);
    assert_columns_equal(&view->schema.offsets[0], &place->dataset.schema.offsets[t]);
    if (t == 0) continue;
    assert_same(view->y, besides.more + (t - 1) * N, N);
    assert_same(view->calibration_y, besides.calibration_more + (t - 1) * C, C);
    assert_true(view->scaling.y_sd == place->dataset.scaling.more[t - 1].sd);
    assert_true(view->scaling.y_mean == place->dataset.scaling.more[t - 1].mean);
    assert_true(view->n_more == 0 && view->schema.n_more == 0 && view->scaling.n_more == 0);
  }
  assert_null(gpnn_dataset_find_target(gpnn_index_dataset(index), "day"));
  gpnn_index_close(index);
  besides_release(&besides);
}

/* The row of the fixture that has the inputs of row 'i' of a sample. */
static size_t row_of(const struct place *place, const struct gpnn_dataset *sample, size_t i)
{
  for (size_t row = 0; row < N; row++)
    if (memcmp(place->x + row * D, sample->x + i * D, D * sizeof *sample->x) == 0) return row;
  fail_msg("a sampled row is none of the index");
  return N;
}

static void a_sample_has_whole_rows_and_is_else_the_index(void **state)
{
  struct place *place = *state;
  struct besides besides;
  struct gpnn_sample *sample = NULL, *again = NULL;
  size_t n = N / 3;
  extend(place, &besides);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, false);
  assert_ok(gpnn_sample_draw(&sample, gpnn_index_dataset(index), n, 5, &err));
  assert_ok(gpnn_sample_draw(&again, gpnn_sample_target(sample, 1), n, 6,
                             &err)); /* all of a sample: itself */
  assert_true(gpnn_sample_target(sample, 0)->fingerprint == gpnn_index_dataset(index)->fingerprint);
  assert_int_equal(gpnn_dataset_n_targets(gpnn_sample_target(sample, 0)), 1 + MORE);
  size_t before = 0;
  for (size_t i = 0; i < n; i++) {
    const struct gpnn_dataset *c = gpnn_sample_target(sample, 0);
    size_t row = row_of(place, c, i);
    assert_true(i == 0 || row > before);
    before = row;
    assert_int_equal(c->n, n);
    assert_same(c->regressors + i * REGRESSORS, besides.regressors + row * REGRESSORS, REGRESSORS);
    for (size_t t = 0; t <= MORE; t++) {
      const struct gpnn_dataset *view = gpnn_sample_target(sample, t);
      assert_true(view->y[i] == (t == 0 ? place->y[row] : besides.more[(t - 1) * N + row]));
      assert_true(view->noise[i] == besides.noise[t * N + row]);
      assert_true(view->offset[i] == besides.offset[t * N + row]);
      assert_int_equal(view->row_group[i], besides.row_group[row]);
      assert_same(view->y, gpnn_sample_target(again, t)->y, n);
    }
  }
  gpnn_sample_free(again);
  gpnn_sample_free(sample);
  gpnn_index_close(index);
  besides_release(&besides);
}

static void rows_are_taken_in_the_order_given(void **state)
{
  struct place *place = *state;
  const uint64_t wanted[] = {N - 1, 3, 200, 0};
  struct besides besides;
  struct gpnn_sample *sample = NULL;
  extend(place, &besides);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, false);
  assert_ok(gpnn_sample_take(&sample, gpnn_index_dataset(index), 4, wanted, &err));
  for (size_t i = 0; i < 4; i++) {
    const struct gpnn_dataset *c = gpnn_sample_target(sample, MORE);
    assert_int_equal(c->n, 4);
    assert_int_equal(row_of(place, c, i), wanted[i]);
    assert_true(c->y[i] == besides.more[(MORE - 1) * N + wanted[i]]);
    assert_true(c->noise[i] == besides.noise[MORE * N + wanted[i]]);
  }
  gpnn_sample_free(sample);
  gpnn_index_close(index);
  besides_release(&besides);
}

static void the_search_of_a_sample_is_over_its_rows(void **state)
{
  struct place *place = *state;
  struct gpnn_sample *sample = NULL;
  struct gpnn_search *search = NULL;
  int64_t row;
  double distance;
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_IVF, NULL, false);
  assert_ok(gpnn_sample_draw(&sample, gpnn_index_dataset(index), N / 2, 5, &err));
  assert_ok(gpnn_dataset_search(gpnn_sample_target(sample, 0), &search, &err));
  for (size_t i = 0; i < N / 2; i++) {
    assert_ok(gpnn_search_query(search, 1, gpnn_sample_target(sample, 0)->x + i * D, 1, &row,
                                &distance, 1, &err));
    assert_int_equal(row, i);
    assert_true(distance == 0);
  }
  gpnn_search_free(search);
  gpnn_sample_free(sample);
  gpnn_index_close(index);
}

static void features_that_were_dropped_leave_no_gap_among_groups(void **state)
{
  struct place *place = *state;
  struct besides besides;
  struct gpnn_index *index = NULL;
  char name[GPNN_MASK_BYTES];
  extend(place, &besides);
  place->dataset.scaling.weight[0] = 0; /* the day */
  place->dataset.scaling.n_out = place->dataset.d = D - 1;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  assert_ok(gpnn_search_build(&search, N, D - 1, place->x, &options, &err));
  assert_ok(gpnn_index_write(place->path, &place->dataset, search, NULL, &err));
  gpnn_search_free(search);
  assert_ok(gpnn_index_open(&index, place->path, false, &err));
  const struct gpnn_dataset *read = gpnn_index_dataset(index);
  assert_int_equal(read->n_groups, 1);
  assert_memory_equal(read->group, ((uint32_t[]){0, 0, 0}), 3 * sizeof(uint32_t));
  assert_string_equal(gpnn_dataset_group_name(read, NULL, 0, name), "lat,lon");
  gpnn_index_close(index);
  besides_release(&besides);
}

static void under_whitening_every_direction_is_a_group(void **state)
{
  struct place *place = *state;
  char name[GPNN_MASK_BYTES];
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, false);
  const struct gpnn_dataset *read = gpnn_index_dataset(index);
  assert_int_equal(read->n_groups, D);
  for (uint32_t j = 0; j < D; j++) assert_int_equal(read->group[j], j);
  assert_string_equal(gpnn_dataset_group_name(read, NULL, 3, name), "direction 4");
  assert_int_equal(gpnn_dataset_n_targets(gpnn_index_dataset(index)), 1);
  assert_null(read->more);
  assert_null(read->regressors);
  assert_null(read->noise);
  assert_null(read->offset);
  assert_null(read->row_group);
  gpnn_index_close(index);
}

static void all_that_is_there_enters_the_fingerprint(void **state)
{
  struct place *place = *state;
  struct besides besides;
  extend(place, &besides);
  uint64_t last = fingerprint_now(place, GPNN_SEARCH_FLAT), now;
  double *const rows[] = {besides.more,
                          besides.regressors,
                          besides.noise,
                          besides.calibration_more,
                          besides.calibration_regressors,
                          besides.calibration_noise,
                          besides.offset,
                          besides.calibration_offset};
  double *const scaling[] = {&place->dataset.scaling.regressors[2].mean,
                             &place->dataset.scaling.more[1].sd, &place->dataset.scaling.mean[0],
                             &place->dataset.scaling.y_sd};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++, last = now) {
    *rows[i] += 1;
    now = fingerprint_now(place, GPNN_SEARCH_FLAT);
    assert_true(now != last && now >> 32 == last >> 32);
  }
  for (size_t i = 0; i < sizeof scaling / sizeof *scaling; i++, last = now) {
    *scaling[i] += 1;
    now = fingerprint_now(place, GPNN_SEARCH_FLAT);
    assert_true(now >> 32 != last >> 32 && (uint32_t)now == (uint32_t)last);
  }
  besides.row_group[3] = 1;
  now = fingerprint_now(place, GPNN_SEARCH_FLAT);
  assert_true(now != last && now >> 32 == last >> 32);
  last = now;
  place->dataset.schema.by.name[0] = 'V'; /* which rows belong together is about rows */
  now = fingerprint_now(place, GPNN_SEARCH_FLAT);
  assert_true(now != last && now >> 32 == last >> 32);
  last = now;
  char *const names[] = {place->dataset.schema.noise.name, place->dataset.schema.offsets[2].name};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++, last = now) {
    names[i][0] = 'V';
    now = fingerprint_now(place, GPNN_SEARCH_FLAT);
    assert_true(now >> 32 != last >> 32); /* other columns */
  }
  place->dataset.schema.inputs[1].date[1] = 'e';
  now = fingerprint_now(place, GPNN_SEARCH_FLAT);
  assert_true(now >> 32 != last >> 32);
  besides_release(&besides);
}

static void roles_that_are_not_allowed_are_refused(void **state)
{
  struct place *place = *state;
  struct besides besides;
  static const struct change cases[] = {
      {"ROLE", 0, 4, UINT32_MAX, "ROLE"}, /* more targets than bytes */
      {"ROLE", 0, 4, MORE + 1, "ROLE"},   /* a regressor too few */
      {"ROLE", 4, 4, REGRESSORS - 1, "ROLE"},
      {"ROLE", 4, 4, UINT32_MAX, "ROLE"},
      {"ROLE", 8, 4, 0, "ROLE"}, /* bytes left over */
      {"ROLE", 8, 4, 2, "ROLE"},
      {"ROLE", 12, 4, 1, "ROLE"}, /* reserved */
      {"ROLE", 16, 4, 5, "ROLE"}, /* no such kind */
      {"ROLE", 16, 4, 3, "ROLE"}, /* two latitudes */
      {"ROLE", 16, 4, 0, "ROLE"}, /* a latitude alone */
      {"ROLE", 20, 4, 3, "ROLE"}, /* a partner that is not there */
      {"ROLE", 20, 4, UINT32_MAX, "ROLE"},
      {"ROLE", 20, 4, 1, "ROLE"},                   /* a partner that is a number */
      {"ROLE", 20, 4, 0, "ROLE"},                   /* a partner that is itself */
      {"ROLE", 24, 8, 0x3ff0000000000000u, "ROLE"}, /* a longitude with a period */
      {"ROLE", 32, 4, 1, "ROLE"},                   /* a category without levels */
      {"ROLE", 32, 4, 2, "ROLE"},                   /* a period of 0 */
      {"ROLE", 36, 4, 1, "ROLE"},                   /* a number with a partner */
      {"ROLE", 64, 8, 13, "ROLE"},                  /* a target outside the table */
      {"ROLE", 72, 4, 1, "ROLE"},                   /* a target that is a category */
      {"OCOL", 0, 8, 13, "OCOL"},                   /* an offset outside the table */
      {"OCOL", 8, 4, 1, "OCOL"},                    /* an offset that is a category */
      {"GCOL", 0, 8, 0, "GCOL"},
      {"GCOL", 0, 8, N + 1, "GCOL"}, /* more groups than rows */
      {"GCOL", 8, 8, 13, "GCOL"},    /* groups by a column outside the table */
      {"GCOL", 16, 4, 1, "GCOL"},    /* by one that is a category */
      {"COLX", 0, 4, 1, "COLX"},     /* the second of a name that is there once */
      {"COLX", 4, 4, 13, "COLX"},    /* more of a name than columns */
      {"COLX", 8, 4, 1, "COLX"},     /* a target that is a date, and bytes that are out of step */
      {"COLX", 20, 4, 8, "COLX"},    /* a longitude that is a date */
      {"COLX", 32, 4, 0, "COLX"},
      {"COLX", 32, 4, UINT32_MAX, "COLX"},
      {"COLX", 36, 8, 0x2525252525252525u, "COLX"}, /* %%%%%%%%: no format */
      {"COLX", 36, 1, 0, "COLX"},                   /* a format with a NUL */
      {"MOMS", 0, 8, 0x7ff8000000000000u, "MOMS"},
      {"MOMS", 8, 8, 0, "MOMS"},                    /* sd 0 */
      {"MOMS", 40, 8, 0xbff0000000000000u, "MOMS"}, /* sd below 0 */
      {"STDZ", 8, 8, D - 1, "STDZ"},
      {"INFO", 16, 8, C - 1, "CALX"},
  };
  extend(place, &besides);
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  assert_changes_refused(place, sizeof cases / sizeof *cases, cases);
  besides_release(&besides);
}

static void what_roles_promise_must_be_there(void **state)
{
  struct place *place = *state;
  struct besides besides;
  static const char *const tags[] = {"MOMS", "YMOR", "CALM", "REGR", "CALR",
                                     "NOIS", "CALN", "OFFS", "CALO"};
  static const size_t lengths[] = {0,
                                   MORE * N,
                                   MORE * C,
                                   N * REGRESSORS,
                                   C * REGRESSORS,
                                   (1 + MORE) * N,
                                   (1 + MORE) * C,
                                   (1 + MORE) * N,
                                   (1 + MORE) * C};
  extend(place, &besides);
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  struct bytes whole = read_bytes(place->path);
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    unsigned char *entry = entry_of(whole, tags[i]);
    assert_true(gpnn_load_u32(entry + 4) == 1); /* an older program must not pass over it */
    if (i > 0) {
      assert_int_equal(gpnn_load_u64(entry + 16), lengths[i] * sizeof(double));
      gpnn_store_u64(section_of(whole, tags[i]), 0x7ff0000000000000u);
      write_sealed(place->path, whole);
      assert_refused(place->path, true, GPNN_EFORMAT, tags[i]);
      gpnn_store_u64(section_of(whole, tags[i]), 0);
    }
    memcpy(entry, "GONE", 4);
    gpnn_store_u32(entry + 4, 0);
    write_sealed(place->path, whole);
    char sentence[40];
    snprintf(sentence, sizeof sentence, "section %s is missing", tags[i]);
    assert_refused(place->path, false, GPNN_EFORMAT, sentence);
    memcpy(entry, tags[i], 4);
    gpnn_store_u32(entry + 4, 1);
  }
  gpnn_store_u64(section_of(whole, "CALN"), 0xbff0000000000000u);
  write_sealed(place->path, whole);
  assert_refused(place->path, true, GPNN_EFORMAT,
                 "section CALN has a variance that is negative or not finite");
  free(whole.at);
  besides_release(&besides);
}

/* ---- ids of rows ---- */

/* Gives the rows ids that have the digits of their numbers. */
static void name_rows(struct place *place, struct gpnn_ids_list *ids)
{
  char text[16];
  for (int i = 0; i < N + C; i++)
    assert_ok(gpnn_ids_add(ids, text, (size_t)snprintf(text, sizeof text, "%d", i), &err));
  place->dataset.ids = &ids->ids;
  place->dataset.schema.has_id = true;
  place->dataset.schema.id = column("who", 1);
  place->dataset.schema.id.n_namesakes = 1;
}

static void ids_read_back_and_change_nothing_else(void **state)
{
  struct place *place = *state;
  struct gpnn_ids_list ids = {0};
  uint64_t print = fingerprint_now(place, GPNN_SEARCH_FLAT);
  name_rows(place, &ids);
  assert_true(fingerprint_now(place, GPNN_SEARCH_FLAT) == print);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, true);
  const struct gpnn_dataset *read = gpnn_index_dataset(index);
  assert_columns_equal(&read->schema.id, &place->dataset.schema.id);
  assert_int_equal(read->ids->n, N + C);
  assert_int_equal(read->ids->n_bytes, ids.ids.n_bytes);
  assert_memory_equal(read->ids->ends, ids.ends, (N + C) * sizeof *ids.ends);
  assert_memory_equal(read->ids->text, ids.text, ids.ids.n_bytes);
  gpnn_index_close(index);
  ids.ids.n--; /* those of other rows are not written */
  index = open_written(place, GPNN_SEARCH_FLAT, NULL, true);
  assert_null(gpnn_index_dataset(index)->ids);
  gpnn_index_close(index);
  gpnn_ids_release(&ids);
}

static void damaged_ids_are_refused(void **state)
{
  struct place *place = *state;
  struct gpnn_ids_list ids = {0};
  static const struct change cases[] = {
      {"ICOL", 0, 4, 2, "ICOL"},  /* the third of two of a name */
      {"ICOL", 4, 4, 99, "ICOL"}, /* more of a name than columns */
      {"ICOL", 8, 8, 99, "ICOL"}, /* a column outside the table */
      {"ICOL", 16, 4, 1, "ICOL"}, /* a category */
  };
  name_rows(place, &ids);
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  assert_changes_refused(place, sizeof cases / sizeof *cases, cases);
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  struct bytes whole = read_bytes(place->path);
  gpnn_store_u64(section_of(whole, "IDEN") + 8, UINT64_MAX); /* it ends far behind the others */
  write_sealed(place->path, whole);
  assert_refused(place->path, true, GPNN_EFORMAT, GPNN_IDS_DAMAGED);
  gpnn_store_u64(section_of(whole, "IDEN") + 8, 2);
  unsigned char *entry = entry_of(whole, "IDEN");
  memcpy(entry, "GONE", 4);
  write_sealed(place->path, whole);
  assert_refused(place->path, false, GPNN_EFORMAT, "section IDEN is missing");
  free(whole.at);
  gpnn_ids_release(&ids);
}

/* ---- targets that some rows lack ---- */

/* Row 'i' has the first target; the second; and all have the third, but for one of those held out.
 */
static bool has_target(size_t t, size_t i)
{
  return t == 0 ? i % 4 != 1 : t == 1 ? i % 3 != 0 : true;
}

/* Takes targets from rows. */
static void lack(struct place *place, struct besides *besides)
{
  for (size_t i = 0; i < N; i++) {
    if (!has_target(0, i)) place->y[i] = NAN;
    if (!has_target(1, i)) besides->more[i] = NAN;
  }
  place->calibration_y[3] = NAN;
  besides->calibration_more[C + 2] = NAN;
  gpnn_scaling_release(&place->dataset.scaling);
  learn(&place->dataset.scaling, place, besides);
}

static void a_view_has_only_the_rows_that_have_its_target(void **state)
{
  struct place *place = *state;
  struct besides besides;
  extend(place, &besides);
  lack(place, &besides);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_TREE, NULL, true);
  const struct gpnn_dataset *all = gpnn_index_dataset(index);
  assert_true(all->target == GPNN_DATASET_ALL_ROWS && all->n == N && all->n_calibration == C);
  for (size_t t = 0; t <= MORE; t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(all, t);
    const double *y = t == 0 ? place->y : besides.more + (t - 1) * N;
    size_t row = 0;
    assert_int_equal(view->is_partial, t < 2);
    for (size_t i = 0; i < N; i++) {
      if (!has_target(t, i)) continue;
      assert_same(view->x + row * D, place->x + i * D, D);
      assert_same(view->y + row, y + i, 1);
      assert_same(view->regressors + row * REGRESSORS, besides.regressors + i * REGRESSORS,
                  REGRESSORS);
      assert_same(view->noise + row, besides.noise + t * N + i, 1);
      assert_same(view->offset + row, besides.offset + t * N + i, 1);
      assert_int_equal(view->row_group[row++], besides.row_group[i]);
    }
    assert_int_equal(view->n, row);
  }
  assert_int_equal(gpnn_dataset_target(all, 0)->n_calibration, C - 1);
  assert_int_equal(gpnn_dataset_target(all, 1)->n_calibration, C);
  const struct gpnn_dataset *tax = gpnn_dataset_target(all, 2);
  assert_ptr_equal(tax->x, all->x);
  assert_int_equal(tax->n_calibration, C - 1);
  assert_same(tax->calibration_x + 2 * D, place->calibration_x + 3 * D, D);
  assert_same(tax->calibration_y + 2, besides.calibration_more + C + 3, 1);
  assert_true(gpnn_dataset_share_rows(all, 2, 2) && !gpnn_dataset_share_rows(all, 0, 1));
  gpnn_index_close(index);
  besides_release(&besides);
}

static void a_search_of_a_view_is_over_its_rows(void **state)
{
  struct place *place = *state;
  struct besides besides;
  extend(place, &besides);
  lack(place, &besides);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_TREE, NULL, false);
  const struct gpnn_dataset *view = gpnn_dataset_target(gpnn_index_dataset(index), 1);
  struct gpnn_search *search = NULL;
  assert_ok(gpnn_dataset_search(view, &search, &err));
  for (size_t i = 0; i < view->n; i++) {
    int64_t row;
    double distance;
    assert_ok(gpnn_search_query(search, 1, view->x + i * D, 1, &row, &distance, 1, &err));
    assert_int_equal(row, i);
  }
  gpnn_search_free(search);
  gpnn_index_close(index);
  besides_release(&besides);
}

static void samples_are_of_the_rows_of_a_view_or_of_those_in_common(void **state)
{
  struct place *place = *state;
  struct besides besides;
  struct gpnn_sample *own = NULL, *common = NULL;
  extend(place, &besides);
  lack(place, &besides);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, false);
  const struct gpnn_dataset *all = gpnn_index_dataset(index), *view = gpnn_dataset_target(all, 1);
  assert_ok(gpnn_sample_draw(&own, view, view->n, 3, &err));
  assert_same(gpnn_sample_target(own, 1)->y, view->y, view->n);
  assert_int_equal(gpnn_sample_target(own, 0)->n, 0);
  assert_int_equal(gpnn_dataset_n_targets(gpnn_sample_target(own, 1)), 1 + MORE);
  assert_ok(gpnn_sample_common(&common, all, &err));
  size_t row = 0;
  for (size_t i = 0; i < N; i++) {
    if (!has_target(0, i) || !has_target(1, i)) continue;
    assert_same(gpnn_sample_target(common, 0)->x + row * D, place->x + i * D, D);
    assert_same(gpnn_sample_target(common, 0)->y + row, place->y + i, 1);
    assert_same(gpnn_sample_target(common, 2)->y + row, besides.more + N + i, 1);
    assert_same(gpnn_sample_target(common, 2)->noise + row, besides.noise + 2 * N + i, 1);
    row++;
  }
  for (size_t t = 0; t <= MORE; t++) {
    const struct gpnn_dataset *sampled = gpnn_sample_target(common, t);
    assert_true(sampled->n == row && !sampled->is_partial);
    assert_ptr_equal(sampled->calibration_y, gpnn_dataset_target(all, t)->calibration_y);
    assert_int_equal(sampled->n_calibration, gpnn_dataset_target(all, t)->n_calibration);
  }
  gpnn_sample_free(common);
  gpnn_sample_free(own);
  gpnn_index_close(index);
  besides_release(&besides);
}

static void only_an_index_with_gaps_has_what_older_programs_do_not_know(void **state)
{
  struct place *place = *state;
  struct besides besides;
  char tag[5];
  uint64_t offset, length;
  extend(place, &besides);
  struct gpnn_index *index = open_written(place, GPNN_SEARCH_FLAT, NULL, false);
  for (size_t i = 0; gpnn_index_section(index, i, tag, &offset, &length); i++)
    assert_true(strcmp(tag, "HAVE") != 0 && strcmp(tag, "PART") != 0);
  gpnn_index_close(index);
  uint64_t full = fingerprint_now(place, GPNN_SEARCH_FLAT);
  besides.more[7] = NAN;
  assert_true(fingerprint_now(place, GPNN_SEARCH_FLAT) != full);
  struct bytes whole = read_bytes(place->path);
  assert_true(gpnn_load_u32(entry_of(whole, "HAVE") + 4) == 1);
  assert_true(gpnn_load_u32(entry_of(whole, "PART") + 4) == 1);
  free(whole.at);
  besides_release(&besides);
}

static void gaps_that_are_not_allowed_are_refused(void **state)
{
  struct place *place = *state;
  struct besides besides;
  static const struct change cases[] = {
      {"HAVE", 0, 8, 0, "HAVE"},     {"HAVE", 0, 8, N + 1, "HAVE"},
      {"HAVE", 8, 8, C + 1, "HAVE"}, {"HAVE", 16, 8, UINT64_MAX, "HAVE"},
      {"HAVE", 0, 8, 7, "PART"},     {"HAVE", 24, 8, C - 1, "PART"},
      {"ROLE", 0, 4, 0, "ROLE"},     {"INFO", 0, 8, N + 1, "ROWS"},
  };
  extend(place, &besides);
  lack(place, &besides);
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  assert_changes_refused(place, sizeof cases / sizeof *cases, cases);
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  struct bytes whole = read_bytes(place->path);
  unsigned char *part = section_of(whole, "PART");
  gpnn_store_f64(part + 8, gpnn_load_f64(part + 8) + 1);
  write_sealed(place->path, whole);
  assert_refused(place->path, true, GPNN_EFORMAT, "the fingerprint is wrong");
  free(whole.at);
  /* NaN where nothing may be missing. */
  static const char *const tags[] = {"ROWS", "CALX", "REGR", "NOIS", "OFFS"};
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    write_index(place, GPNN_SEARCH_FLAT, NULL);
    whole = read_bytes(place->path);
    gpnn_store_u64(section_of(whole, tags[i]), 0x7ff8000000000000u);
    write_sealed(place->path, whole);
    assert_refused(place->path, true, GPNN_EFORMAT, tags[i]);
    free(whole.at);
  }
  besides_release(&besides);
}

static enum gpnn_status append(void *context, const unsigned char *bytes, size_t length,
                               struct gpnn_error *error)
{
  struct bytes *to = context;
  (void)error;
  memcpy(to->at + to->length, bytes, length);
  to->length += length;
  return GPNN_OK;
}

/* Counts, rows and copies are all made to look right, but for one of them. */
static void gaps_are_where_the_index_says(void **state)
{
  struct place *place = *state;
  struct besides besides;
  bool agree = true;
  extend(place, &besides);
  struct gpnn_index_present present[1 + MORE] = {{N, C}, {N - 1, C}, {N, C}};
  besides.more[5] = NAN;
  size_t length;
  assert_true(gpnn_index_parts_bytes(&place->dataset, present, &length));
  struct bytes part = {calloc(length, 1), 0};
  assert_ok(gpnn_index_gather_parts(&place->dataset, present, append, &part, &err));
  assert_int_equal(part.length, length);
  assert_ok(gpnn_index_verify_parts(&place->dataset, present, part.at, &agree, &err));
  assert_true(agree);
  part.at[length - 9] ^= 1;
  assert_ok(gpnn_index_verify_parts(&place->dataset, present, part.at, &agree, &err));
  assert_false(agree);
  part.at[length - 9] ^= 1;
  besides.more[6] = NAN; /* one more than counted */
  assert_ok(gpnn_index_verify_parts(&place->dataset, present, part.at, &agree, &err));
  assert_false(agree);
  free(part.at);
  besides_release(&besides);
}

/* ---- files made to do harm ---- */

/* Corrects the checksum of a section, unless 'tag' is NULL, and those of the front, in the file
 * too. */
static void write_sealed_part(struct bytes whole, const char *tag, int fd)
{
  if (tag != NULL) {
    size_t length;
    const unsigned char *section = seal_section(whole, entry_of(whole, tag), &length);
    assert_int_equal(pwrite(fd, section, length, section - whole.at), length);
  }
  seal_front(whole);
  assert_int_equal(pwrite(fd, whole.at, CONTAINER_FRONT, 0), CONTAINER_FRONT);
}

/* Names all there is a name of, and looks at the numbers of each view. */
static void look_at(const struct gpnn_index *index)
{
  char name[GPNN_MASK_BYTES];
  for (size_t t = 0; t < gpnn_dataset_n_targets(gpnn_index_dataset(index)); t++) {
    const struct gpnn_dataset *c = gpnn_dataset_target(gpnn_index_dataset(index), t);
    double sum = c->y[c->n - 1] + c->x[c->n * c->d - 1];
    if (c->n_calibration > 0) sum += c->calibration_y[c->n_calibration - 1];
    if (c->noise != NULL) sum += c->noise[c->n - 1];
    if (c->n_regressors > 0) sum += c->regressors[c->n * c->n_regressors - 1];
    assert_int_equal(isnan(sum), 0); /* the rows are as they were */
    for (size_t j = 0; j < c->scaling.n_in; j++)
      assert_non_null(gpnn_schema_feature_name(&c->schema, NULL, j, name));
    for (size_t g = 0; g < c->n_groups; g++)
      assert_non_null(gpnn_dataset_group_name(c, NULL, g, name));
    for (size_t j = 0; j < c->d; j++) assert_true(c->group[j] < c->n_groups);
  }
}

/* Searches what an index holds, and a sample of it; what is refused is refused as damaged. */
static void search_in(const struct gpnn_index *index)
{
  enum { K = 3 };
  struct gpnn_error reason = {0};
  struct gpnn_search *search = NULL;
  const struct gpnn_dataset *c = gpnn_index_dataset(index);
  int64_t rows[K];
  double distances[K];
  enum gpnn_status status = gpnn_dataset_search(gpnn_index_dataset(index), &search, &reason);
  if (status == GPNN_OK) assert_ok(gpnn_search_query(search, 1, c->x, K, rows, distances, 1, &err));
  if (status != GPNN_OK && status != GPNN_EFORMAT && status != GPNN_ENUMERIC)
    fail_msg("status %d: %s", (int)status, reason.text);
  for (size_t i = 0; i < K && status == GPNN_OK; i++) assert_in_range(rows[i], 0, c->n - 1);
  gpnn_search_free(search);
}

/* Opens what is there: it is refused as damaged, or can be used. */
static bool use(const char *path)
{
  struct gpnn_error reason = {0};
  struct gpnn_index *index = NULL;
  struct gpnn_sample *sample = NULL;
  struct gpnn_search *search = NULL;
  enum gpnn_status status = gpnn_index_open(&index, path, false, &reason);
  if (status != GPNN_OK && status != GPNN_EFORMAT && status != GPNN_EVERSION &&
      status != GPNN_EMISMATCH)
    fail_msg("status %d: %s", (int)status, reason.text);
  if (status != GPNN_OK) return false;
  look_at(index);
  search_in(index);
  assert_ok(gpnn_sample_draw(&sample, gpnn_index_dataset(index), 5, 1, &err));
  if (gpnn_dataset_search(gpnn_sample_target(sample, 0), &search, &reason) == GPNN_OK)
    gpnn_search_free(search);
  gpnn_sample_free(sample);
  gpnn_index_close(index);
  return true;
}

/* Puts words of all widths in all places of a section, or of the front where 'tag' is NULL. */
static void sweep(const struct place *place, struct bytes whole, const char *tag)
{
  static const struct {
    size_t width;
    uint64_t value;
  } words[] = {{1, 0}, {1, 1}, {1, 0xff}, {4, INT32_MAX}, {8, (uint64_t)1 << 61}};
  unsigned char *section = tag == NULL ? whole.at : section_of(whole, tag), kept[8];
  size_t length = tag == NULL ? CONTAINER_FRONT : gpnn_load_u64(entry_of(whole, tag) + 16);
  int fd = open(place->path, O_RDWR);
  assert_true(fd >= 0);
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    for (size_t at = 0; at + words[w].width <= length; at++) {
      memcpy(kept, section + at, words[w].width);
      memcpy(section + at, &words[w].value, words[w].width);
      write_sealed_part(whole, tag, fd);
      use(place->path);
      memcpy(section + at, kept, words[w].width);
      write_sealed_part(whole, tag, fd);
    }
  assert_true(use(place->path));
  close(fd);
}

static void no_sealed_nonsense_does_harm(void **state)
{
  struct place *place = *state;
  struct besides besides;
  static const double lengthscale[D] = {1, 2, 3, 4};
  static const char *const plain[] = {"INFO", "COLS", "STDZ", "SRCH", "OPTS"};
  static const char *const extended[] = {"COLS", "ROLE", "COLX", "MOMS", "STDZ"};
  write_index(place, GPNN_SEARCH_TREE, lengthscale);
  struct bytes whole = read_bytes(place->path);
  sweep(place, whole, NULL);
  for (size_t i = 0; i < 5; i++) sweep(place, whole, plain[i]);
  free(whole.at);
  extend(place, &besides);
  write_index(place, GPNN_SEARCH_TREE, NULL);
  whole = read_bytes(place->path);
  for (size_t i = 0; i < 5; i++) sweep(place, whole, extended[i]);
  free(whole.at);
  besides.more[5] = NAN;
  write_index(place, GPNN_SEARCH_TREE, NULL);
  whole = read_bytes(place->path);
  sweep(place, whole, "HAVE");
  free(whole.at);
  besides_release(&besides);
}

/* A category of as many levels as there are bytes would take for ever to put in order. */
static void levels_are_no_more_than_are_written(void **state)
{
  const struct place *place = *state;
  struct gpnn_schema *schema = &((struct place *)*state)->dataset.schema;
  struct gpnn_column *category = &schema->inputs[2];
  size_t n = GPNN_LEVELS_MAX + 1;
  for (size_t i = 0; i < category->n_levels; i++) free(category->levels[i]);
  category->levels = realloc(category->levels, n * sizeof *category->levels);
  category->level_lengths = realloc(category->level_lengths, n * sizeof *category->level_lengths);
  for (size_t i = 0; i < n; i++) {
    category->levels[i] = gpnn_copy_text("", 0);
    category->level_lengths[i] = 0;
  }
  category->n_levels = n;
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  assert_refused(place->path, false, GPNN_EFORMAT, "section COLS has values that are not allowed");
}

/* Which inputs a row lacked is of no use where whitening has mixed them. */
static void whitened_inputs_are_not_missing(void **state)
{
  struct place *place = *state;
  const unsigned char lacks[N] = {1};
  struct gpnn_index *index = NULL;
  place->dataset.lacks = lacks;
  assert_int_equal(gpnn_lacks_bytes(place->dataset.schema.n_inputs), 1);
  write_index(place, GPNN_SEARCH_FLAT, NULL);
  assert_fails(gpnn_index_open(&index, place->path, false, &err), GPNN_EFORMAT, "section LACK");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(contents_read_back, enter, leave),
      cmocka_unit_test_setup_teardown(a_stored_search_answers_the_same, enter, leave),
      cmocka_unit_test_setup_teardown(threads_load_the_search_of_one_index_at_once, enter, leave),
      cmocka_unit_test_setup_teardown(the_same_index_is_the_same_bytes, enter, leave),
      cmocka_unit_test_setup_teardown(the_fingerprint_is_of_data_not_of_search, enter, leave),
      cmocka_unit_test_setup_teardown(no_calibration_rows_is_allowed, enter, leave),
      cmocka_unit_test_setup_teardown(tables_and_others_are_no_indexes, enter, leave),
      cmocka_unit_test_setup_teardown(every_truncation_is_refused, enter, leave),
      cmocka_unit_test_setup_teardown(a_flipped_bit_is_noticed, enter, leave),
      cmocka_unit_test_setup_teardown(a_damaged_search_is_refused_when_loaded, enter, leave),
      cmocka_unit_test_setup_teardown(values_that_are_not_allowed_are_refused, enter, leave),
      cmocka_unit_test_setup_teardown(rows_and_fingerprint_are_checked_on_request, enter, leave),
      cmocka_unit_test_setup_teardown(unknown_sections_count_only_if_critical, enter, leave),
      cmocka_unit_test_setup_teardown(a_failed_write_leaves_nothing, enter, leave),
      cmocka_unit_test_setup_teardown(an_index_made_at_once_is_the_one_written_after_its_search,
                                      enter, leave),
      cmocka_unit_test_setup_teardown(an_index_whose_search_cannot_be_built_leaves_nothing, enter,
                                      leave),
      cmocka_unit_test_setup_teardown(extended_contents_read_back, enter, leave),
      cmocka_unit_test_setup_teardown(steps_of_inputs_read_back, enter, leave),
      cmocka_unit_test_setup_teardown(what_is_packed_replaces_what_was_and_nothing_else, enter,
                                      leave),
      cmocka_unit_test_setup_teardown(nothing_is_lost_that_is_behind_what_was_packed, enter, leave),
      cmocka_unit_test_setup_teardown(a_delimiter_that_cannot_be_is_refused, enter, leave),
      cmocka_unit_test_setup_teardown(every_target_has_a_view_of_its_own, enter, leave),
      cmocka_unit_test_setup_teardown(a_sample_has_whole_rows_and_is_else_the_index, enter, leave),
      cmocka_unit_test_setup_teardown(rows_are_taken_in_the_order_given, enter, leave),
      cmocka_unit_test_setup_teardown(the_search_of_a_sample_is_over_its_rows, enter, leave),
      cmocka_unit_test_setup_teardown(features_that_were_dropped_leave_no_gap_among_groups, enter,
                                      leave),
      cmocka_unit_test_setup_teardown(under_whitening_every_direction_is_a_group, enter, leave),
      cmocka_unit_test_setup_teardown(all_that_is_there_enters_the_fingerprint, enter, leave),
      cmocka_unit_test_setup_teardown(roles_that_are_not_allowed_are_refused, enter, leave),
      cmocka_unit_test_setup_teardown(what_roles_promise_must_be_there, enter, leave),
      cmocka_unit_test_setup_teardown(ids_read_back_and_change_nothing_else, enter, leave),
      cmocka_unit_test_setup_teardown(damaged_ids_are_refused, enter, leave),
      cmocka_unit_test_setup_teardown(a_view_has_only_the_rows_that_have_its_target, enter, leave),
      cmocka_unit_test_setup_teardown(a_search_of_a_view_is_over_its_rows, enter, leave),
      cmocka_unit_test_setup_teardown(samples_are_of_the_rows_of_a_view_or_of_those_in_common,
                                      enter, leave),
      cmocka_unit_test_setup_teardown(only_an_index_with_gaps_has_what_older_programs_do_not_know,
                                      enter, leave),
      cmocka_unit_test_setup_teardown(gaps_that_are_not_allowed_are_refused, enter, leave),
      cmocka_unit_test_setup_teardown(gaps_are_where_the_index_says, enter, leave),
      cmocka_unit_test_setup_teardown(no_sealed_nonsense_does_harm, enter, leave),
      cmocka_unit_test_setup_teardown(whitened_inputs_are_not_missing, enter, leave),
      cmocka_unit_test_setup_teardown(levels_are_no_more_than_are_written, enter, leave),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
