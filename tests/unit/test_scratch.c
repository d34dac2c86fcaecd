/* Directories for a while. */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

/* Lets nothing have changed in 'path' since yesterday. */
static void make_old(const char *path)
{
  const time_t yesterday = time(NULL) - 24 * 60 * 60;
  const struct timespec times[] = {{.tv_sec = yesterday}, {.tv_sec = yesterday}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *path)
{
  struct stat st;
  return lstat(path, &st) == 0;
}

static void what_was_left_behind_is_swept_away(void **state)
{
  (void)state;
  struct gpnn_scratch used = {0}, left = {0}, recent = {0};
  char paths[7][4096], models[4096];
  const char *const files[] = {".m.gpm.gpnn-abcdef",
                               ".m.gpm.gpnn-ghijkl",
                               ".m.gpm.gpnn-abc",
                               ".n.gpm.gpnn-abcdef",
                               "m.gpm",
                               ".m.gpm.backup",
                               ".gpnn-"};
  assert_ok(gpnn_scratch_create(&used, scratch_folder, &err));
  assert_ok(gpnn_scratch_create(&left, scratch_folder, &err));
  assert_ok(gpnn_scratch_create(&recent, scratch_folder, &err));
  close(left.lock - 1);
  close(recent.lock - 1);
  left.lock = recent.lock = 0;
  for (size_t i = 0; i < 7; i++) {
    snprintf(paths[i], sizeof paths[i], "%s/%s", i < 6 ? scratch_folder : left.path, files[i]);
    fclose(fopen(paths[i], "w"));
    if (i != 1) make_old(paths[i]);
  }
  snprintf(models, sizeof models, "%s/.gpnn-models", scratch_folder); /* a user's own */
  assert_int_equal(mkdir(models, 0700), 0);
  make_old(models);
  make_old(used.path);
  make_old(left.path);
  gpnn_scratch_sweep(scratch_folder, "m.gpm");
  assert_true(is_there(used.path));
  assert_false(is_there(left.path));
  assert_true(is_there(recent.path));
  assert_true(is_there(models));
  for (size_t i = 0; i < 6; i++) assert_int_equal(is_there(paths[i]), i != 0);
  gpnn_scratch_sweep(scratch_folder, NULL);
  gpnn_scratch_sweep("/no/such/place", "m.gpm");
  for (size_t i = 1; i < 6; i++) unlink(paths[i]);
  rmdir(models);
  gpnn_scratch_remove(&used);
  gpnn_scratch_remove(&left);
  gpnn_scratch_remove(&recent);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_directory_is_ours_alone_and_goes_with_its_files),
      cmocka_unit_test(two_at_once_are_different),
      cmocka_unit_test(a_place_that_is_not_there_is_named),
      cmocka_unit_test(what_was_left_behind_is_swept_away),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
