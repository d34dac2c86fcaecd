#include <signal.h>
#include <sys/resource.h>

#include "base/mapping.h"
#include "base/spool.h"
#include "scratch.h"

static void numbers_read_back_at_their_positions(void **state)
{
  (void)state;
  struct gpnn_spool spool = GPNN_SPOOL_INIT;
  static const double late[] = {5, 6}, early[] = {1, 2, 3};
  assert_ok(gpnn_spool_create(&spool, scratch_path("t.gpi"), NULL, &err));
  assert_ok(gpnn_spool_write(&spool, 4, 2, late, &err));
  assert_ok(gpnn_spool_write(&spool, 0, 3, early, &err));
  assert_ok(gpnn_spool_write(&spool, 0, 0, early, &err));
  assert_int_equal(spool.n, 6);
  assert_ok(gpnn_spool_map(&spool, &err));
  assert_memory_equal(spool.numbers, ((double[]){1, 2, 3, 0, 5, 6}), 6 * sizeof(double));
  gpnn_spool_release(&spool);
  assert_true(spool.fd == -1 && spool.numbers == NULL);
  gpnn_spool_release(&spool);
}

static void positions_beyond_4_gib_are_kept_apart(void **state)
{
  (void)state;
  struct gpnn_spool spool = GPNN_SPOOL_INIT;
  const size_t far = ((size_t)1 << 32) / sizeof(double); /* a hole, which takes no room on disk */
  static const double near_by[] = {1, 2}, beyond[] = {3, 4, 5};
  assert_ok(gpnn_spool_create(&spool, scratch_path("t.gpi"), NULL, &err));
  assert_ok(gpnn_spool_write(&spool, 0, 2, near_by, &err));
  assert_ok(gpnn_spool_write(&spool, far - 1, 3, beyond, &err));
  assert_true(spool.n == far + 2);
  assert_ok(gpnn_spool_map(&spool, &err));
  assert_memory_equal(spool.numbers, near_by, sizeof near_by);
  assert_memory_equal(spool.numbers + far - 1, beyond, sizeof beyond);
  gpnn_mapping_evict(gpnn_spool_mapping(&spool), spool.numbers + far - 1, sizeof beyond);
  assert_memory_equal(spool.numbers + far - 1, beyond, sizeof beyond);
  gpnn_spool_release(&spool);
}

static void no_file_is_ever_seen(void **state)
{
  (void)state;
  struct gpnn_spool spool = GPNN_SPOOL_INIT;
  static const double one = 1;
  assert_ok(gpnn_spool_create(&spool, scratch_path("t.gpi"), NULL, &err));
  assert_int_equal(scratch_count(0), 0);
  assert_ok(gpnn_spool_write(&spool, 0, 1, &one, &err));
  assert_int_equal(scratch_count(0), 0);
  gpnn_spool_release(&spool);
  assert_int_equal(scratch_count(0), 0);
}

/* A program that may be interrupted watches the file's name, for as long as it exists. */
static void its_name_is_watched_until_it_is_gone(void **state)
{
  (void)state;
  struct gpnn_spool spool = GPNN_SPOOL_INIT;
  const char *volatile watched = "a name from before";
  assert_ok(gpnn_spool_create(&spool, scratch_path("t.gpi"), &watched, &err));
  assert_null(watched);
  gpnn_spool_release(&spool);
}

static void what_is_written_after_mapping_is_mapped_again(void **state)
{
  (void)state;
  enum { MANY = 1000 };
  struct gpnn_spool spool = GPNN_SPOOL_INIT;
  const double number = 7;
  assert_ok(gpnn_spool_create(&spool, scratch_path("t.gpi"), NULL, &err));
  assert_ok(gpnn_spool_write(&spool, 0, 1, &number, &err));
  assert_ok(gpnn_spool_map(&spool, &err));
  assert_ok(gpnn_spool_write(&spool, MANY - 1, 1, &number, &err));
  assert_int_equal(gpnn_spool_mapping(&spool).length, sizeof number);
  assert_ok(gpnn_spool_map(&spool, &err));
  assert_int_equal(gpnn_spool_mapping(&spool).length, MANY * sizeof number);
  assert_true(spool.numbers[0] == 7 && spool.numbers[1] == 0 && spool.numbers[MANY - 1] == 7);
  gpnn_spool_release(&spool);
}

static void evicted_pages_read_back_unchanged(void **state)
{
  (void)state;
  enum { MANY = 1 << 16 };
  struct gpnn_spool spool = GPNN_SPOOL_INIT;
  double *numbers = malloc(MANY * sizeof *numbers);
  for (size_t i = 0; i < MANY; i++) numbers[i] = (double)i;
  assert_ok(gpnn_spool_create(&spool, scratch_path("t.gpi"), NULL, &err));
  assert_ok(gpnn_spool_write(&spool, 0, MANY, numbers, &err));
  assert_ok(gpnn_spool_map(&spool, &err));
  assert_memory_equal(spool.numbers, numbers, MANY * sizeof *numbers);
  struct gpnn_mapping mapping = gpnn_spool_mapping(&spool);
  gpnn_mapping_evict(mapping, spool.numbers + 3, (MANY - 5) * sizeof *numbers);
  gpnn_mapping_evict(mapping, spool.numbers + 3, 1);
  gpnn_mapping_evict(mapping, spool.numbers, 0);
  assert_memory_equal(spool.numbers, numbers, MANY * sizeof *numbers);
  gpnn_spool_release(&spool);
  free(numbers);
}

/* Writes 'n' numbers when files are limited to 256 bytes. */
static enum gpnn_status write_on_full_disk(struct gpnn_spool *spool, size_t n,
                                           const double *numbers, struct gpnn_error *error)
{
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 256;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  enum gpnn_status status = gpnn_spool_write(spool, 0, n, numbers, error);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  return status;
}

static void memory_that_is_not_mapped_is_left_alone(void **state)
{
  (void)state;
  enum { MANY = 1 << 14 };
  static double numbers[MANY];
  const struct gpnn_spool empty = GPNN_SPOOL_INIT;
  for (size_t i = 0; i < MANY; i++) numbers[i] = 1;
  gpnn_mapping_evict(gpnn_spool_mapping(&empty), numbers, sizeof numbers);
  gpnn_mapping_evict((struct gpnn_mapping){numbers, sizeof numbers / 2}, numbers, sizeof numbers);
  gpnn_mapping_evict((struct gpnn_mapping){numbers + MANY / 2, sizeof numbers / 2}, numbers,
                     sizeof numbers);
  for (size_t i = 0; i < MANY; i++) assert_true(numbers[i] == 1);
}

static void failures_name_the_file_beside_it(void **state)
{
  (void)state;
  struct gpnn_spool spool = GPNN_SPOOL_INIT;
  static const double numbers[100] = {0};
  assert_fails(gpnn_spool_create(&spool, "/nowhere/t.gpi", NULL, &err), GPNN_EIO,
               "/nowhere/t.gpi: cannot be created: No such file or directory");
  assert_int_equal(spool.fd, -1);
  assert_ok(gpnn_spool_create(&spool, scratch_path("t.gpi"), NULL, &err));
  assert_fails(gpnn_spool_write(&spool, SIZE_MAX, 1, numbers, &err), GPNN_EIO, "File too large");
  assert_fails(write_on_full_disk(&spool, 100, numbers, &err), GPNN_EIO,
               "t.gpi: cannot be written: File too large");
  gpnn_spool_release(&spool);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_read_back_at_their_positions),
      cmocka_unit_test(positions_beyond_4_gib_are_kept_apart),
      cmocka_unit_test(no_file_is_ever_seen),
      cmocka_unit_test(its_name_is_watched_until_it_is_gone),
      cmocka_unit_test(what_is_written_after_mapping_is_mapped_again),
      cmocka_unit_test(evicted_pages_read_back_unchanged),
      cmocka_unit_test(memory_that_is_not_mapped_is_left_alone),
      cmocka_unit_test(failures_name_the_file_beside_it),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
