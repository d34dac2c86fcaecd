/* Directories for a while. */
#include <sys/stat.h>

#include "base/scratch.h"
#include "scratch.h"

static void a_directory_is_ours_alone_and_goes_with_its_files(void **state)
{
  (void)state;
  const char *volatile watch = NULL;
  struct gpnn_scratch scratch = {.watch = &watch};
  struct stat st;
  assert_ok(gpnn_scratch_create(&scratch, scratch_folder, &err));
  assert_string_equal(watch, scratch.path);
  assert_int_equal(stat(scratch.path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
  for (int i = 0; i < 3; i++) {
    char path[4096];
    snprintf(path, sizeof path, i == 0 ? "%s/.x" : "%s/f%d", scratch.path, i);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
  }
  gpnn_scratch_remove(&scratch);
  assert_null(watch);
  assert_null(scratch.path);
  assert_int_equal(scratch_count(0), 0);
  gpnn_scratch_remove(&scratch); /* an empty one may be removed */
}

static void two_at_once_are_different(void **state)
{
  (void)state;
  struct gpnn_scratch a = {0}, b = {0};
  assert_ok(gpnn_scratch_create(&a, scratch_folder, &err));
  assert_ok(gpnn_scratch_create(&b, scratch_folder, &err));
  assert_string_not_equal(a.path, b.path);
  gpnn_scratch_remove(&a);
  assert_int_equal(scratch_count(0), 1);
  gpnn_scratch_remove(&b);
}

static void a_place_that_is_not_there_is_named(void **state)
{
  (void)state;
  const char *volatile watch = NULL;
  struct gpnn_scratch scratch = {.watch = &watch};
  assert_fails(gpnn_scratch_create(&scratch, "/no/such/place", &err), GPNN_EIO,
               "/no/such/place: no directory can be made in it");
  assert_null(watch);
  assert_null(scratch.path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_directory_is_ours_alone_and_goes_with_its_files),
      cmocka_unit_test(two_at_once_are_different),
      cmocka_unit_test(a_place_that_is_not_there_is_named),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
