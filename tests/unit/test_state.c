/* States: what is poured is read again, and nothing else is read. */
#include "container/state.h"
#include "container_bytes.h"
#include "unit.h"

static enum gpnn_status collect(void *context, const void *bytes, size_t length,
                                struct gpnn_error *err)
{
  struct bytes *all = context;
  (void)err;
  all->at = realloc(all->at, all->length + length + 1);
  assert_non_null(all->at);
  memcpy(all->at + all->length, bytes, length);
  all->length += length;
  return GPNN_OK;
}

static const char text[] = "kernel\trbf\n";
static const double numbers[] = {1, -2.5, 1e300, 0, 3e-310};

/* A state of three arrays, one of them empty, as bytes. */
static struct bytes make(void)
{
  struct gpnn_state *state = NULL;
  struct bytes bytes = {NULL, 0};
  assert_ok(gpnn_state_new(&state, 0x1234567890abcdef, &err));
  assert_ok(gpnn_state_add(state, "count", "target", 5, numbers, &err));
  assert_ok(gpnn_state_add(state, "count", "noise", 0, NULL, &err));
  assert_ok(gpnn_state_add(state, "", "target", 2, numbers + 3, &err));
  assert_ok(gpnn_state_pour(state, text, sizeof text - 1, collect, &bytes, &err));
  gpnn_state_free(state);
  return bytes;
}

static enum gpnn_status read_again(const struct bytes *bytes, struct gpnn_state **state,
                                   struct gpnn_error *error)
{
  const char *found;
  size_t length;
  return gpnn_state_read(state, &found, &length, "s.par", bytes->at, bytes->length, error);
}

static void a_state_is_read_as_it_was_written(void **unused)
{
  (void)unused;
  struct gpnn_state *state = NULL;
  const char *found = NULL;
  size_t length = 0;
  struct bytes bytes = make();
  assert_ok(gpnn_state_read(&state, &found, &length, "s.par", bytes.at, bytes.length, &err));
  assert_true(length == sizeof text - 1 && memcmp(found, text, length) == 0);
  assert_true(state->fingerprint == 0x1234567890abcdef && state->n == 3);
  const struct gpnn_state_array *array = gpnn_state_find(state, "count", "target");
  assert_true(array != NULL && array->n == 5);
  assert_memory_equal(array->values, numbers, sizeof numbers);
  assert_true(gpnn_state_find(state, "count", "noise")->n == 0);
  assert_true(gpnn_state_find(state, "", "target")->values[0] == 0);
  assert_null(gpnn_state_find(state, "", "noise"));
  assert_null(gpnn_state_find(state, "cou", "ntarget"));
  gpnn_state_free(state);
  free(bytes.at);
}

static void no_truncated_or_altered_state_is_read(void **unused)
{
  (void)unused;
  struct gpnn_error error;
  struct gpnn_state *state = NULL;
  struct bytes bytes = make();
  for (size_t n = 0; n < bytes.length; n++) {
    struct bytes cut = {bytes.at, n};
    assert_true(read_again(&cut, &state, &error) != GPNN_OK);
    assert_non_null(strstr(error.text, "s.par"));
    bytes.at[n] ^= 0x10;
    assert_true(read_again(&bytes, &state, &error) != GPNN_OK);
    bytes.at[n] ^= 0x10;
  }
  assert_null(state);
  free(bytes.at);
}

/* Changes bytes of the list, and makes all checksums right. */
static void forge(struct bytes *bytes, size_t at, unsigned char byte)
{
  size_t length;
  unsigned char *entry = entry_of(*bytes, "LIST"), *list = section_of(*bytes, "LIST");
  list[at] = byte;
  seal_section(*bytes, entry, &length);
  seal_front(*bytes);
}

static void lists_that_contradict_the_data_are_refused(void **unused)
{
  (void)unused;
  const struct {
    size_t at;
    unsigned char byte;
  } forgeries[] = {{0, 6}, {0, 4}, {7, 0x80}, {8, 200}, {11, 255}, {15, 255}, {16, 0}};
  for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
    struct gpnn_state *state = NULL;
    struct bytes bytes = make();
    forge(&bytes, forgeries[i].at, forgeries[i].byte);
    assert_fails(read_again(&bytes, &state, &err), GPNN_EFORMAT, "its arrays are not as it lists");
    assert_null(state);
    free(bytes.at);
  }
}

static const struct gpnn_container_tag index_tags[] = {{"TEXT", true, 0}};

static void other_containers_are_refused(void **unused)
{
  (void)unused;
  const struct gpnn_container_part parts[] = {{"TEXT", text, sizeof text - 1}};
  struct gpnn_container_format format = {GPNN_CONTAINER_GRID, 1, index_tags};
  struct gpnn_state *state = NULL;
  struct bytes bytes = {NULL, 0};
  assert_ok(gpnn_container_pour(&format, 1, 1, parts, collect, &bytes, &err));
  assert_fails(read_again(&bytes, &state, &err), GPNN_EMISMATCH, "s.par is a grid index");
  free(bytes.at);
  bytes = (struct bytes){NULL, 0};
  format.kind = GPNN_CONTAINER_STATE;
  assert_ok(gpnn_container_pour(&format, 1, 1, parts, collect, &bytes, &err));
  assert_fails(read_again(&bytes, &state, &err), GPNN_EFORMAT, "section LIST is missing");
  free(bytes.at);
}

static enum gpnn_status refuse(void *context, const void *bytes, size_t length,
                               struct gpnn_error *err)
{
  (void)context;
  (void)bytes;
  (void)length;
  return gpnn_fail(err, GPNN_EIO, "the reader has gone");
}

static void failures_of_the_sink_are_passed_on(void **unused)
{
  (void)unused;
  struct gpnn_state *state = NULL;
  assert_ok(gpnn_state_new(&state, 1, &err));
  assert_fails(gpnn_state_pour(state, text, 3, refuse, NULL, &err), GPNN_EIO, "has gone");
  gpnn_state_free(state);
  gpnn_state_free(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_state_is_read_as_it_was_written),
      cmocka_unit_test(no_truncated_or_altered_state_is_read),
      cmocka_unit_test(lists_that_contradict_the_data_are_refused),
      cmocka_unit_test(other_containers_are_refused),
      cmocka_unit_test(failures_of_the_sink_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
