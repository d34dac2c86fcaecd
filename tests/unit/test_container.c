#include "container_bytes.h"

#include <unistd.h>

#include "container/container.h"

/* A directory for each test, and the file in it that the tests write. */
struct place {
  char directory[200], path[240];
};

static int enter(void **state)
{
  struct place *place = calloc(1, sizeof *place);
  if (unit_make_folder(place->directory, sizeof place->directory) != 0) return -1;
  snprintf(place->path, sizeof place->path, "%s/file", place->directory);
  *state = place;
  return 0;
}

static int leave(void **state)
{
  struct place *place = *state;
  unlink(place->path);
  int failed = rmdir(place->directory); /* fails if a test left anything */
  free(place);
  return failed;
}

/* What the tests write: an index that has had a new critical section since its version 1.2. */
static const struct gpnn_container_tag tags[] = {
    {"ABCD", true, 0}, {"EFGH", false, 9}, {"IJKL", false, 0}, {"MNOP", true, 2}};
static const struct gpnn_container_format format = {GPNN_CONTAINER_INDEX, 4, tags};

/* The same before that section. */
static const struct gpnn_container_format older = {GPNN_CONTAINER_INDEX, 3, tags};

/* Sections ABCD (5 bytes), EFGH (empty), IJKL (written by others, 100000 bytes). */
static void write_three(const char *path)
{
  struct gpnn_container_writer *writer = NULL;
  assert_ok(gpnn_container_create(&writer, path, &format, NULL, &err));
  assert_ok(gpnn_container_begin(writer, "ABCD", &err));
  assert_ok(gpnn_container_write(writer, "hel", 3, &err));
  assert_ok(gpnn_container_write(writer, "lo", 2, &err));
  assert_ok(gpnn_container_end(writer, &err));
  assert_ok(gpnn_container_begin(writer, "EFGH", &err));
  assert_ok(gpnn_container_end(writer, &err));
  assert_ok(gpnn_container_begin(writer, "IJKL", &err));
  for (int i = 0; i < 100000; i++) fputc(i % 251, gpnn_container_file(writer));
  assert_ok(gpnn_container_end(writer, &err));
  assert_ok(gpnn_container_commit(writer, 0x0123456789abcdefu, &err));
}

static void assert_refused(const char *path, enum gpnn_status status, const char *text)
{
  struct gpnn_container *container = NULL;
  assert_fails(gpnn_container_open(&container, path, &format, &err), status, text);
  assert_null(container);
}

static void assert_opens(const char *path, const struct gpnn_container_format *known)
{
  struct gpnn_container *container = NULL;
  assert_ok(gpnn_container_open(&container, path, known, &err));
  gpnn_container_close(container);
}

static void sections_read_back(void **state)
{
  const struct place *place = *state;
  struct gpnn_container *container = NULL;
  write_three(place->path);
  assert_ok(gpnn_container_open(&container, place->path, &format, &err));
  assert_int_equal(gpnn_container_count(container), 3);
  assert_true(gpnn_container_fingerprint(container) == 0x0123456789abcdefu);
  assert_string_equal(gpnn_container_path(container), place->path);
  const struct gpnn_container_section *first = gpnn_container_find(container, "ABCD");
  assert_non_null(first);
  assert_int_equal(first->offset, 2048);
  assert_int_equal(first->length, 5);
  assert_true(first->is_critical);
  assert_int_equal(first->crc, crc32(0, (const unsigned char *)"hello", 5));
  assert_memory_equal(gpnn_container_bytes(container, first), "hello", 5);
  const struct gpnn_container_section *last = gpnn_container_get(container, 2);
  assert_string_equal(last->tag, "IJKL");
  assert_int_equal(last->length, 100000);
  assert_int_equal(last->offset % 64, 0);
  assert_false(last->is_critical);
  for (int i = 0; i < 100000; i++)
    assert_int_equal(gpnn_container_bytes(container, last)[i], i % 251);
  for (size_t i = 0; i < 3; i++)
    assert_ok(gpnn_container_check(container, gpnn_container_get(container, i), &err));
  assert_null(gpnn_container_find(container, "NONE"));
  gpnn_container_close(container);
}

static void the_same_sections_are_the_same_bytes(void **state)
{
  const struct place *place = *state;
  write_three(place->path);
  struct bytes first = read_bytes(place->path);
  write_three(place->path);
  struct bytes second = read_bytes(place->path);
  assert_int_equal(first.length, second.length);
  assert_memory_equal(first.at, second.at, first.length);
  free(first.at);
  free(second.at);
}

/* The file of write_three() and, in another one, its first 'n' sections and a section MNOP. */
static struct gpnn_container *copy_some(const struct place *place, size_t n, char path[260])
{
  struct gpnn_container *from = NULL, *copy = NULL;
  struct gpnn_container_writer *writer = NULL;
  snprintf(path, 260, "%s.copy", place->path);
  write_three(place->path);
  assert_ok(gpnn_container_open(&from, place->path, &format, &err));
  assert_ok(gpnn_container_create(&writer, path, &format, NULL, &err));
  assert_ok(gpnn_container_copy(writer, from, n, &err));
  gpnn_container_close(from);
  assert_ok(gpnn_container_begin(writer, "MNOP", &err));
  assert_ok(gpnn_container_write(writer, "more", 4, &err));
  assert_ok(gpnn_container_end(writer, &err));
  assert_ok(gpnn_container_commit(writer, 7, &err));
  assert_ok(gpnn_container_open(&copy, path, &format, &err));
  return copy;
}

static void sections_of_another_file_are_copied_as_they_are(void **state)
{
  const struct place *place = *state;
  for (size_t n = 0; n <= 3; n++) {
    char path[260];
    struct gpnn_container *copy = copy_some(place, n, path), *from = NULL;
    assert_ok(gpnn_container_open(&from, place->path, &format, &err));
    assert_int_equal(gpnn_container_count(copy), n + 1);
    assert_true(gpnn_container_fingerprint(copy) == 7);
    for (size_t i = 0; i < n; i++) {
      const struct gpnn_container_section *own = gpnn_container_get(copy, i);
      const struct gpnn_container_section *their = gpnn_container_get(from, i);
      assert_memory_equal(own, their, sizeof *own);
      assert_memory_equal(gpnn_container_bytes(copy, own), gpnn_container_bytes(from, their),
                          own->length);
      assert_ok(gpnn_container_check(copy, own, &err));
    }
    const struct gpnn_container_section *last = gpnn_container_find(copy, "MNOP");
    assert_int_equal(last->offset % 64, 0);
    assert_memory_equal(gpnn_container_bytes(copy, last), "more", 4);
    gpnn_container_close(from);
    gpnn_container_close(copy);
    assert_int_equal(remove(path), 0);
  }
}

static void the_front_lists_the_sections(void **state)
{
  const struct place *place = *state;
  write_three(place->path);
  struct bytes bytes = read_bytes(place->path);
  assert_true(gpnn_container_lists(bytes.at, GPNN_CONTAINER_FRONT_BYTES, "ABCD"));
  assert_true(gpnn_container_lists(bytes.at, GPNN_CONTAINER_FRONT_BYTES, "IJKL"));
  assert_false(gpnn_container_lists(bytes.at, GPNN_CONTAINER_FRONT_BYTES, "MNOP"));
  for (size_t length = 0; length < 160; length++) /* cut short */
    assert_true(gpnn_container_lists(bytes.at, length, "EFGH") == (length >= 128));
  gpnn_store_u32(bytes.at + 24, UINT32_MAX); /* more than there is room for */
  assert_false(gpnn_container_lists(bytes.at, GPNN_CONTAINER_FRONT_BYTES, "MNOP"));
  free(bytes.at);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
  const struct place *place = *state;
  struct gpnn_container_writer *writer = NULL;
  const char *volatile watch = NULL;
  assert_ok(gpnn_container_create(&writer, place->path, &format, &watch, &err));
  assert_int_equal(access(watch, F_OK), 0);
  assert_ok(gpnn_container_begin(writer, "ABCD", &err));
  gpnn_container_abandon(writer);
  gpnn_container_abandon(NULL);
  assert_null(watch);
  assert_int_equal(access(place->path, F_OK), -1);
}

static void more_sections_than_a_file_has_room_for_are_refused(void **state)
{
  const struct place *place = *state;
  struct gpnn_container_writer *writer = NULL;
  assert_ok(gpnn_container_create(&writer, place->path, &format, NULL, &err));
  for (int i = 0; i < GPNN_CONTAINER_SECTIONS; i++) {
    assert_ok(gpnn_container_begin(writer, "IJKL", &err));
    assert_ok(gpnn_container_end(writer, &err));
  }
  assert_fails(gpnn_container_begin(writer, "IJKL", &err), GPNN_EDATA, "at most 62");
  gpnn_container_abandon(writer);
}

static void foreign_files_are_told_apart(void **state)
{
  const struct place *place = *state;
  assert_refused(place->directory, GPNN_EIO, "is a directory");
  assert_refused(place->path, GPNN_EIO, "No such file");
  assert_refused("/dev/null", GPNN_EIO, "not a regular file");
  write_bytes(place->path, "", 0);
  assert_refused(place->path, GPNN_EMISMATCH, "is empty");
  write_bytes(place->path, "a,b\n", 4);
  assert_refused(place->path, GPNN_EMISMATCH, "is not an index");
  write_bytes(place->path, "\x89GPI\n\x1a", 7);
  assert_refused(place->path, GPNN_EFORMAT, "transferred as text");
  write_bytes(place->path, GPNN_CONTAINER_MAGIC, 8);
  assert_refused(place->path, GPNN_EFORMAT, "truncated");
}

static void every_truncation_is_refused(void **state)
{
  const struct place *place = *state;
  write_three(place->path);
  struct bytes whole = read_bytes(place->path);
  for (size_t length = 1; length < whole.length; length += length < 1300 ? 1 : 977) {
    struct gpnn_container *container = NULL;
    write_bytes(place->path, whole.at, length);
    assert_int_not_equal(gpnn_container_open(&container, place->path, &format, NULL), GPNN_OK);
  }
  write_bytes(place->path, whole.at, whole.length - 1);
  assert_refused(place->path, GPNN_EFORMAT, "truncated");
  whole.at[whole.length] = 0;
  write_bytes(place->path, whole.at, whole.length + 1);
  assert_refused(place->path, GPNN_EFORMAT, "damaged");
  free(whole.at);
}

static void every_bit_of_the_front_counts(void **state)
{
  const struct place *place = *state;
  write_three(place->path);
  struct bytes whole = read_bytes(place->path);
  for (size_t bit = 0; bit < 2048 * 8; bit += 3) {
    struct gpnn_container *container = NULL;
    whole.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    write_bytes(place->path, whole.at, whole.length);
    assert_int_not_equal(gpnn_container_open(&container, place->path, &format, NULL), GPNN_OK);
    whole.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  whole.at[20] ^= 1;
  write_bytes(place->path, whole.at, whole.length);
  assert_refused(place->path, GPNN_EFORMAT, "header's checksum");
  whole.at[20] ^= 1;
  whole.at[70] ^= 1;
  write_bytes(place->path, whole.at, whole.length);
  assert_refused(place->path, GPNN_EFORMAT, "table is wrong");
  free(whole.at);
}

static void a_damaged_section_is_named(void **state)
{
  const struct place *place = *state;
  struct gpnn_container *container = NULL;
  write_three(place->path);
  struct bytes whole = read_bytes(place->path);
  whole.at[2050] ^= 0x10;
  write_bytes(place->path, whole.at, whole.length);
  assert_ok(gpnn_container_open(&container, place->path, &format, &err));
  assert_fails(gpnn_container_check(container, gpnn_container_get(container, 0), &err),
               GPNN_EFORMAT, "section ABCD");
  assert_ok(gpnn_container_check(container, gpnn_container_get(container, 2), &err));
  gpnn_container_close(container);
  whole.at[2050] ^= 0x10;
  whole.at[2048 + 10] = 1; /* padding */
  write_bytes(place->path, whole.at, whole.length);
  assert_refused(place->path, GPNN_EFORMAT, "not in order");
  free(whole.at);
}

/* Files whose checksums are right and whose meaning is not. */
static void well_sealed_nonsense_is_refused(void **state)
{
  const struct place *place = *state;
  enum { ENTRY = 64 };
  static const struct {
    size_t at;
    uint64_t value;
    size_t width;
    enum gpnn_status status;
    const char *text;
  } cases[] = {
      {8, 2, 4, GPNN_EVERSION, "format 2.0"},
      {16, 0x04030201, 4, GPNN_EFORMAT, "byte order"},
      {12, 3, 4, GPNN_EVERSION, "format 1.3, this program reads up to 1.2"},
      {20, 1, 4, GPNN_EMISMATCH, "file is a grid index, not an index"},
      {20, 2, 4, GPNN_EMISMATCH, "file is a model file, not an index"},
      {20, 3, 4, GPNN_EMISMATCH, "file is a state file, not an index"},
      {20, 4, 4, GPNN_EMISMATCH, "file is a gpnn file of an unknown kind, not an index"},
      {20, UINT32_MAX, 4, GPNN_EMISMATCH, "file is a gpnn file of an unknown kind"},
      {ENTRY + 64 + 4, 1, 4, GPNN_OK, ""},      /* critical, but known */
      {ENTRY + 64, 0x514b4a49, 4, GPNN_OK, ""}, /* unknown, but not critical */
      {24, 31, 4, GPNN_EFORMAT, "not in order"},
      {24, UINT32_MAX, 4, GPNN_EFORMAT, "not in order"},
      {24, 2, 4, GPNN_EFORMAT, "not in order"},
      {32, 64, 8, GPNN_EFORMAT, "damaged"},
      {32, UINT64_MAX, 8, GPNN_EFORMAT, "truncated"},
      {ENTRY, 0x44434261, 4, GPNN_EFORMAT, "not in order"},      /* a small letter */
      {ENTRY + 32, 0x44434241, 4, GPNN_EFORMAT, "not in order"}, /* ABCD twice */
      {ENTRY + 4, 2, 4, GPNN_EFORMAT, "not in order"},           /* unknown flag */
      {ENTRY + 8, 1088, 8, GPNN_EFORMAT, "not in order"},        /* a gap */
      {ENTRY + 8, UINT64_MAX - 63, 8, GPNN_EFORMAT, "not in order"},
      {ENTRY + 16, UINT64_MAX, 8, GPNN_EFORMAT, "not in order"},  /* overflow */
      {ENTRY + 16, 65, 8, GPNN_EFORMAT, "not in order"},          /* overlap */
      {ENTRY + 64 + 16, 100001, 8, GPNN_EFORMAT, "not in order"}, /* past the end */
      {ENTRY + 64 + 16, 99999, 8, GPNN_EFORMAT, "not in order"},  /* bytes left over */
      {ENTRY + 28, 1, 4, GPNN_EFORMAT, "not in order"},           /* reserved */
  };
  write_three(place->path);
  struct bytes whole = read_bytes(place->path);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char kept[8];
    memcpy(kept, whole.at + cases[i].at, 8);
    if (cases[i].width == 4)
      gpnn_store_u32(whole.at + cases[i].at, (uint32_t)cases[i].value);
    else
      gpnn_store_u64(whole.at + cases[i].at, cases[i].value);
    seal_front(whole);
    write_bytes(place->path, whole.at, whole.length);
    if (cases[i].status == GPNN_OK)
      assert_opens(place->path, &format);
    else
      assert_refused(place->path, cases[i].status, cases[i].text);
    memcpy(whole.at + cases[i].at, kept, 8);
  }
  free(whole.at);
}

/* Writes a file of one kind with one section. */
static void write_one(const char *path, const struct gpnn_container_format *known, const char *tag)
{
  struct gpnn_container_writer *writer = NULL;
  assert_ok(gpnn_container_create(&writer, path, known, NULL, &err));
  assert_ok(gpnn_container_begin(writer, tag, &err));
  assert_ok(gpnn_container_end(writer, &err));
  assert_ok(gpnn_container_commit(writer, 0, &err));
}

static void a_file_has_the_lowest_version_that_knows_its_critical_sections(void **state)
{
  const struct place *place = *state;
  static const struct {
    const char *tag;
    unsigned minor;
  } cases[] = {{"ABCD", 0}, {"EFGH", 0}, {"MNOP", 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_one(place->path, &format, cases[i].tag);
    struct bytes whole = read_bytes(place->path);
    assert_int_equal(gpnn_load_u32(whole.at + 8), 1);
    assert_int_equal(gpnn_load_u32(whole.at + 12), cases[i].minor);
    free(whole.at);
    assert_opens(place->path, &format);
  }
}

static void an_older_reader_refuses_what_it_does_not_know(void **state)
{
  const struct place *place = *state;
  struct gpnn_container *container = NULL;
  write_one(place->path, &format, "MNOP");
  assert_fails(gpnn_container_open(&container, place->path, &older, &err), GPNN_EVERSION,
               "file: has format 1.2, this program reads up to 1.0");
  /* The number tells it at once; a file that has it wrong is refused all the same. */
  struct bytes whole = read_bytes(place->path);
  gpnn_store_u32(whole.at + 12, 0);
  seal_front(whole);
  write_bytes(place->path, whole.at, whole.length);
  free(whole.at);
  assert_fails(gpnn_container_open(&container, place->path, &older, &err), GPNN_EVERSION,
               "file: needs a newer program: section MNOP is not known");
  assert_null(container);
  assert_opens(place->path, &format);
  write_one(place->path, &format, "ABCD");
  assert_opens(place->path, &older);
}

static void each_kind_is_read_as_that_kind_only(void **state)
{
  const struct place *place = *state;
  for (int kind = GPNN_CONTAINER_INDEX; kind < GPNN_CONTAINER_UNKNOWN; kind++) {
    struct gpnn_container_format written = format;
    written.kind = (enum gpnn_container_kind)kind;
    write_one(place->path, &written, "ABCD");
    for (int other = GPNN_CONTAINER_INDEX; other < GPNN_CONTAINER_UNKNOWN; other++) {
      struct gpnn_container_format wanted = format;
      struct gpnn_container *container = NULL;
      char text[80];
      wanted.kind = (enum gpnn_container_kind)other;
      if (other == kind) {
        assert_opens(place->path, &wanted);
        continue;
      }
      snprintf(text, sizeof text, "file is %s, not %s", gpnn_container_kind_name(written.kind),
               gpnn_container_kind_name(wanted.kind));
      assert_fails(gpnn_container_open(&container, place->path, &wanted, &err), GPNN_EMISMATCH,
                   text);
    }
  }
}

static void a_kind_is_recognised_from_the_first_bytes(void **state)
{
  (void)state;
  unsigned char start[GPNN_CONTAINER_KIND_BYTES + 1] = GPNN_CONTAINER_MAGIC;
  enum gpnn_container_kind kind = GPNN_CONTAINER_GRID;
  assert_false(gpnn_container_recognise(start, 0, &kind));
  assert_false(gpnn_container_recognise(start, GPNN_CONTAINER_MAGIC_BYTES - 1, &kind));
  assert_false(gpnn_container_recognise("# gpnn parameters 1\nkernel rbf", 30, &kind));
  assert_int_equal(kind, GPNN_CONTAINER_GRID);
  assert_true(gpnn_container_recognise(start, GPNN_CONTAINER_MAGIC_BYTES, &kind));
  assert_int_equal(kind, GPNN_CONTAINER_UNKNOWN);
  assert_true(gpnn_container_recognise(start, GPNN_CONTAINER_KIND_BYTES - 1, &kind));
  assert_int_equal(kind, GPNN_CONTAINER_UNKNOWN);
  for (uint32_t i = 0; i <= 5; i++) {
    gpnn_store_u32(start + 20, i);
    assert_true(gpnn_container_recognise(start, GPNN_CONTAINER_KIND_BYTES, &kind));
    assert_int_equal(kind, i < 4 ? i : GPNN_CONTAINER_UNKNOWN);
  }
  gpnn_store_u32(start + 20, 0x100); /* all four bytes count */
  assert_true(gpnn_container_recognise(start, GPNN_CONTAINER_KIND_BYTES, &kind));
  assert_int_equal(kind, GPNN_CONTAINER_UNKNOWN);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sections_read_back, enter, leave),
      cmocka_unit_test_setup_teardown(the_same_sections_are_the_same_bytes, enter, leave),
      cmocka_unit_test_setup_teardown(sections_of_another_file_are_copied_as_they_are, enter,
                                      leave),
      cmocka_unit_test_setup_teardown(the_front_lists_the_sections, enter, leave),
      cmocka_unit_test_setup_teardown(an_abandoned_file_leaves_nothing, enter, leave),
      cmocka_unit_test_setup_teardown(more_sections_than_a_file_has_room_for_are_refused, enter,
                                      leave),
      cmocka_unit_test_setup_teardown(foreign_files_are_told_apart, enter, leave),
      cmocka_unit_test_setup_teardown(every_truncation_is_refused, enter, leave),
      cmocka_unit_test_setup_teardown(every_bit_of_the_front_counts, enter, leave),
      cmocka_unit_test_setup_teardown(a_damaged_section_is_named, enter, leave),
      cmocka_unit_test_setup_teardown(well_sealed_nonsense_is_refused, enter, leave),
      cmocka_unit_test_setup_teardown(
          a_file_has_the_lowest_version_that_knows_its_critical_sections, enter, leave),
      cmocka_unit_test_setup_teardown(an_older_reader_refuses_what_it_does_not_know, enter, leave),
      cmocka_unit_test_setup_teardown(each_kind_is_read_as_that_kind_only, enter, leave),
      cmocka_unit_test(a_kind_is_recognised_from_the_first_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
