/* Bytes in and out: gzip and plain, files and pipes, full disks and absent files. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/rng.h"
#include "scratch.h"
#include "table/stream.h"

/* Reads all of 'path' in pieces of at most 'room' bytes. */
static enum gpnn_status slurp(const char *path, size_t room, char **bytes, size_t *length,
                              struct gpnn_error *err)
{
  struct gpnn_input *input;
  enum gpnn_status status = gpnn_input_open(&input, path, err);
  if (status != GPNN_OK) return status;
  char *all = NULL;
  size_t n = 0, got = 0, capacity = 0;
  do {
    n += got;
    assert_true(gpnn_grow(&all, &capacity, n + room, 1));
    got = 0;
  } while ((status = gpnn_input_read(input, all + n, room, &got, err)) == GPNN_OK && got > 0);
  gpnn_input_close(input);
  *length = n;
  if (bytes != NULL)
    *bytes = all;
  else
    free(all);
  return status == GPNN_END ? GPNN_OK : status == GPNN_OK ? GPNN_EINVAL : status;
}

static void assert_reads(const char *path, size_t room, const char *expected, size_t length)
{
  char *bytes;
  size_t n;
  assert_ok(slurp(path, room, &bytes, &n, &err));
  assert_int_equal(n, length);
  assert_memory_equal(bytes, expected, length);
  free(bytes);
}

/* Bytes that compress, but not to nothing. */
static char *some_bytes(size_t length)
{
  char *bytes = malloc(length + 1);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (size_t i = 0; i < length; i++) bytes[i] = (char)('0' + gpnn_rng_below(&rng, 10));
  return bytes;
}

enum { MANY = 1000003 };

static void gzip_and_plain_read_the_same(void **state)
{
  (void)state;
  char *bytes = some_bytes(MANY);
  const char *plain = scratch_write("plain", bytes, MANY), *zip = scratch_gzip("zip", bytes, MANY);
  assert_reads(plain, 4096, bytes, MANY);
  assert_reads(plain, 2 * MANY, bytes, MANY);
  assert_reads(zip, 4096, bytes, MANY);
  assert_reads(zip, 2 * MANY, bytes, MANY);
  free(bytes);
}

static void pieces_of_one_byte_read_the_same(void **state)
{
  (void)state;
  assert_reads(scratch_text("few", "abcdef"), 1, "abcdef", 6);
  assert_reads(scratch_gzip("few.gz", "abcdef", 6), 1, "abcdef", 6);
}

static void gzip_members_in_a_row_are_one_stream(void **state)
{
  (void)state;
  scratch_gzip("members", "abc", 3);
  scratch_gzip("members", "", 0);
  assert_reads(scratch_gzip("members", "def", 3), 100, "abcdef", 6);
}

static void an_empty_file_is_at_its_end_at_once(void **state)
{
  (void)state;
  assert_reads(scratch_text("empty", ""), 10, "", 0);
  assert_reads("/dev/null", 10, "", 0);
  assert_reads(scratch_gzip("empty.gz", "", 0), 10, "", 0);
}

static void one_byte_of_gzip_magic_is_plain(void **state)
{
  (void)state;
  assert_reads(scratch_text("magic", "\x1f"), 10, "\x1f", 1);
  assert_reads(scratch_text("magic", "\x1fx"), 10, "\x1fx", 2);
}

static void gzip_cut_anywhere_is_called_truncated(void **state)
{
  (void)state;
  char *bytes = some_bytes(5000);
  size_t length, n;
  char *whole = scratch_read(scratch_gzip("tocut.gz", bytes, 5000), &length);
  for (size_t cut = 2; cut < length; cut += cut < 30 || cut + 12 > length ? 1 : 97) {
    const char *path = scratch_write("cut.gz", whole, cut);
    assert_fails(slurp(path, 700, NULL, &n, &err), GPNN_EFORMAT, "cut.gz: the gzip data are trunc");
  }
  free(whole);
  free(bytes);
}

static void altered_gzip_data_are_called_corrupt(void **state)
{
  (void)state;
  char *bytes = some_bytes(5000);
  size_t length, n;
  char *whole = scratch_read(scratch_gzip("alter.gz", bytes, 5000), &length);
  whole[length - 6] ^= 1; /* the checksum */
  const char *path = scratch_write("altered.gz", whole, length);
  assert_fails(slurp(path, 700, NULL, &n, &err), GPNN_EFORMAT, "incorrect data check");
  whole[length - 6] ^= 1;
  whole[2] = 7; /* the method */
  path = scratch_write("altered.gz", whole, length);
  assert_fails(slurp(path, 700, NULL, &n, &err), GPNN_EFORMAT, "the gzip data are corrupt");
  free(whole);
  free(bytes);
}

static void a_failed_read_fails_again(void **state)
{
  (void)state;
  scratch_gzip("again.gz", "abcdef", 6);
  size_t length, got;
  char *whole = scratch_read(scratch_path("again.gz"), &length), bytes[10];
  struct gpnn_input *input;
  whole[length - 6] ^= 1;
  assert_ok(gpnn_input_open(&input, scratch_write("again.gz", whole, length), &err));
  enum gpnn_status status;
  struct gpnn_error why;
  do status = gpnn_input_read(input, bytes, 2, &got, &why);
  while (status == GPNN_OK);
  assert_int_equal(status, GPNN_EFORMAT);
  assert_fails(gpnn_input_read(input, bytes, 2, &got, &err), GPNN_EFORMAT, "corrupt");
  gpnn_input_close(input);
  free(whole);
}

static void only_zeros_may_follow_gzip_data(void **state)
{
  (void)state;
  size_t length, n;
  char *whole = scratch_read(scratch_gzip("pad.gz", "abc", 3), &length);
  char padded[200] = {0};
  memcpy(padded, whole, length);
  assert_reads(scratch_write("pad.gz", padded, sizeof padded), 10, "abc", 3);
  memcpy(padded + length, "junk", 4);
  const char *path = scratch_write("pad.gz", padded, length + 4);
  assert_fails(slurp(path, 10, NULL, &n, &err), GPNN_EFORMAT, "corrupt");
  free(whole);
}

static void what_cannot_be_opened_is_named(void **state)
{
  (void)state;
  struct gpnn_input *input = NULL;
  assert_fails(gpnn_input_open(&input, scratch_path("absent"), &err), GPNN_EIO,
               "absent: cannot be opened: No such file");
  assert_fails(gpnn_input_open(&input, "/tmp", &err), GPNN_EIO, "/tmp: is a directory");
  assert_null(input);
  gpnn_input_close(NULL);
}

static void standard_input_in_tiny_pieces_is_whole(void **state)
{
  (void)state;
  char *bytes = some_bytes(1000);
  size_t length;
  char *zip = scratch_read(scratch_gzip("piped.gz", bytes, 1000), &length);
  int old = scratch_feed(bytes, 1000, 1);
  assert_reads("-", 300, bytes, 1000);
  scratch_unfeed(old);
  old = scratch_feed(zip, length, 1);
  assert_reads("-", 300, bytes, 1000);
  scratch_unfeed(old);
  free(zip);
  free(bytes);
}

/* Standard input as a pipe that holds some text, and whose other end stays open. */
struct held_pipe {
  int ends[2], old; /* the standard input before */
  struct gpnn_input *input;
};

static struct held_pipe hold_pipe(const char *text)
{
  struct held_pipe held = {.old = dup(STDIN_FILENO)};
  assert_int_equal(pipe(held.ends), 0);
  dup2(held.ends[0], STDIN_FILENO);
  assert_int_equal(write(held.ends[1], text, strlen(text)), strlen(text));
  assert_ok(gpnn_input_open(&held.input, "-", &err));
  return held;
}

static void release_pipe(struct held_pipe *held)
{
  gpnn_input_close(held->input);
  close(held->ends[0]);
  close(held->ends[1]);
  scratch_unfeed(held->old);
}

static void a_pipe_gives_what_it_has_without_waiting_for_more(void **state)
{
  (void)state;
  struct held_pipe held = hold_pipe("abc\n");
  char bytes[100];
  size_t got = 0;
  assert_string_equal(gpnn_input_name(held.input), "(stdin)");
  assert_ok(gpnn_input_read(held.input, bytes, sizeof bytes, &got, &err));
  assert_int_equal(got, 4);
  release_pipe(&held);
}

static void on_alarm(int number)
{
  (void)number;
}

static void a_signal_does_not_lose_bytes(void **state)
{
  (void)state;
  struct sigaction action = {.sa_handler = on_alarm}, before;
  sigaction(SIGUSR1, &action, &before); /* without SA_RESTART: reads are interrupted */
  int ends[2], old = dup(STDIN_FILENO);
  assert_int_equal(pipe(ends), 0);
  pid_t parent = getpid();
  if (fork() == 0) {
    for (int i = 0; i < 20; i++) {
      kill(parent, SIGUSR1);
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
      if (write(ends[1], "xyz", 3) != 3) _exit(1);
    }
    _exit(0);
  }
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  close(ends[1]);
  size_t n = 0;
  assert_ok(slurp("-", 100, NULL, &n, &err));
  assert_int_equal(n, 60);
  scratch_unfeed(old);
  sigaction(SIGUSR1, &before, NULL);
}

static void a_file_appears_only_when_it_is_closed(void **state)
{
  (void)state;
  const char *path = scratch_path("appears");
  const char *volatile watch = NULL;
  struct gpnn_output *output;
  assert_ok(gpnn_output_open_watched(&output, path, &watch, &err));
  assert_ok(gpnn_output_text(output, "text\t", &err));
  assert_ok(gpnn_output_number(output, 0.1, &err));
  assert_ok(gpnn_output_printf(output, &err, "\t%d-%s\n", 42, "x"));
  assert_ok(gpnn_output_flush(output, &err));
  assert_ok(gpnn_output_prepare(output, &err));
  assert_int_equal(access(watch, F_OK), 0);
  assert_int_not_equal(access(path, F_OK), 0);
  assert_ok(gpnn_output_close(output, &err));
  assert_null(watch);
  char *bytes = scratch_read(path, NULL);
  assert_string_equal(bytes, "text\t0.1\t42-x\n");
  free(bytes);
}

static void an_abandoned_file_leaves_nothing_and_keeps_the_old(void **state)
{
  (void)state;
  const char *path = scratch_text("kept", "old");
  int before = scratch_count(0);
  struct gpnn_output *output;
  assert_ok(gpnn_output_open(&output, path, &err));
  assert_ok(gpnn_output_text(output, "new", &err));
  gpnn_output_abandon(output);
  gpnn_output_abandon(NULL);
  assert_int_equal(scratch_count(0), before);
  char *bytes = scratch_read(path, NULL);
  assert_string_equal(bytes, "old");
  free(bytes);
}

static void writes_of_any_size_arrive_in_order(void **state)
{
  (void)state;
  char *bytes = some_bytes(MANY);
  const char *path = scratch_path("sizes");
  struct gpnn_output *output;
  assert_ok(gpnn_output_open(&output, path, &err));
  size_t written = 0;
  for (size_t size = 0; written < MANY; size = size * 3 + 1) {
    if (size > MANY - written) size = MANY - written;
    assert_ok(gpnn_output_write(output, bytes + written, size, &err));
    written += size;
    if (size > 100000) size = 0;
  }
  assert_ok(gpnn_output_close(output, &err));
  assert_reads(path, 65536, bytes, MANY);
  free(bytes);
}

/* Reads the whole of a stream and checks that the share of it rises to 1. */
static void assert_share_rises(const char *path)
{
  struct gpnn_input *input = NULL;
  char piece[1000];
  size_t got;
  double share, last = 0;
  assert_ok(gpnn_input_open(&input, path, &err));
  while (gpnn_input_read(input, piece, sizeof piece, &got, NULL) == GPNN_OK) {
    share = gpnn_input_share(input);
    assert_true(share >= last && share <= 1);
    last = share;
  }
  assert_true(gpnn_input_share(input) == 1);
  gpnn_input_close(input);
}

static void a_file_is_written_on_behind_what_is_kept(void **state)
{
  (void)state;
  const char *path = scratch_path("on");
  struct gpnn_output *output = NULL;
  uint64_t length = 0;
  size_t whole = 0;
  assert_ok(gpnn_output_open_at(&output, path, 0, &err));
  assert_ok(gpnn_output_text(output, "one two", &err));
  assert_ok(gpnn_output_sync(output, &length, &err));
  assert_int_equal(length, 7);
  gpnn_output_abandon(output);
  assert_ok(gpnn_output_open_at(&output, path, 4, &err));
  assert_ok(gpnn_output_text(output, "three", &err));
  struct gpnn_output *other = NULL;
  assert_fails(gpnn_output_open_at(&other, path, 0, &err), GPNN_EIO, "another run writes it");
  assert_ok(gpnn_output_close(output, &err));
  char *text = scratch_read(path, &whole);
  assert_int_equal(whole, 9);
  assert_memory_equal(text, "one three", 9);
  free(text);
  assert_fails(gpnn_output_open_at(&output, path, 10, &err), GPNN_EIO, "cannot be written on");
  assert_fails(gpnn_output_open_at(&output, "/dev/null", 0, &err), GPNN_EIO,
               "cannot be written on");
  unlink(path);
}

static void the_share_read_is_known_of_files(void **state)
{
  struct gpnn_input *input = NULL;
  const char *few = scratch_text("few", "0123456789");
  char *bytes = some_bytes(MANY), piece[4];
  size_t got;
  (void)state;
  assert_ok(gpnn_input_open(&input, few, &err));
  assert_true(gpnn_input_share(input) == 0);
  assert_ok(gpnn_input_read(input, piece, sizeof piece, &got, &err));
  assert_near(gpnn_input_share(input), 0.4, 1e-15);
  gpnn_input_close(input);
  assert_share_rises(scratch_write("plain", bytes, MANY));
  assert_share_rises(scratch_gzip("zip", bytes, MANY));
  assert_ok(gpnn_input_open(&input, "/dev/null", &err));
  assert_true(isnan(gpnn_input_share(input)));
  gpnn_input_close(input);
  free(bytes);
}

static void memory_keeps_what_is_written(void **state)
{
  struct gpnn_output *output = NULL;
  char piece[1000], *whole = calloc(200, sizeof piece);
  size_t length = 1;
  (void)state;
  assert_ok(gpnn_output_open_memory(&output, &err));
  assert_non_null(gpnn_output_memory(output, &length));
  assert_int_equal(length, 0);
  for (size_t i = 0; i < 200; i++) {
    memset(piece, (int)('a' + i % 26), sizeof piece);
    memcpy(whole + i * sizeof piece, piece, sizeof piece);
    assert_ok(gpnn_output_write(output, piece, sizeof piece, &err));
    if (i == 3) assert_non_null(gpnn_output_memory(output, &length));
  }
  const char *text = gpnn_output_memory(output, &length);
  assert_int_equal(length, 200 * sizeof piece);
  assert_memory_equal(text, whole, length);
  gpnn_output_abandon(output);
  free(whole);
}

static void a_full_device_is_reported_and_not_replaced(void **state)
{
  (void)state;
  struct gpnn_output *output;
  const char *volatile watch = NULL;
  assert_ok(gpnn_output_open_watched(&output, "/dev/full", &watch, &err));
  assert_null(watch);
  assert_ok(gpnn_output_text(output, "text", &err));
  assert_fails(gpnn_output_close(output, &err), GPNN_EIO,
               "/dev/full: cannot be written: No space left on device");
  assert_ok(gpnn_output_open(&output, "/dev/full", &err));
  char *bytes = some_bytes(MANY);
  assert_fails(gpnn_output_write(output, bytes, MANY, &err), GPNN_EIO, "No space left");
  gpnn_output_abandon(output);
  free(bytes);
  struct stat st;
  assert_true(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode));
}

static void a_folder_cannot_be_written(void **state)
{
  (void)state;
  struct gpnn_output *output;
  assert_fails(gpnn_output_open(&output, scratch_folder, &err), GPNN_EIO, "Is a directory");
  assert_fails(gpnn_output_open(&output, scratch_path("no/such"), &err), GPNN_EIO,
               "No such file or directory");
}

static void standard_output_is_flushed_on_demand_and_stays_open(void **state)
{
  (void)state;
  int ends[2], old = dup(STDOUT_FILENO);
  assert_int_equal(pipe(ends), 0);
  fflush(stdout);
  dup2(ends[1], STDOUT_FILENO);
  struct gpnn_output *output;
  char seen[10] = "";
  assert_ok(gpnn_output_open(&output, "-", &err));
  assert_ok(gpnn_output_text(output, "ab", &err));
  assert_ok(gpnn_output_flush(output, &err));
  ssize_t first = read(ends[0], seen, sizeof seen);
  assert_ok(gpnn_output_text(output, "c", &err));
  assert_ok(gpnn_output_close(output, &err));
  ssize_t second = read(ends[0], seen + 2, sizeof seen - 2);
  int still_open = fcntl(STDOUT_FILENO, F_GETFD);
  dup2(old, STDOUT_FILENO);
  close(old);
  close(ends[0]);
  close(ends[1]);
  assert_int_equal(first, 2);
  assert_int_equal(second, 1);
  assert_string_equal(seen, "abc");
  assert_int_not_equal(still_open, -1);
}

static void a_formatted_text_that_is_too_long_is_refused_whole(void **state)
{
  (void)state;
  const char *path = scratch_path("format");
  char *bytes = some_bytes(1024);
  bytes[1024] = '\0';
  struct gpnn_output *output;
  assert_ok(gpnn_output_open(&output, path, &err));
  assert_fails(gpnn_output_printf(output, &err, "%s", bytes), GPNN_EINVAL, "too long");
  bytes[1023] = '\0';
  assert_ok(gpnn_output_printf(output, &err, "%s", bytes));
  assert_ok(gpnn_output_close(output, &err));
  assert_reads(path, 4096, bytes, 1023);
  free(bytes);
}

static void *interrupt_later(void *input)
{
  for (int i = 0; i < 20; i++) scratch_pause();
  gpnn_input_interrupt(input);
  return NULL;
}

static void a_read_that_waits_can_be_interrupted_and_one_that_need_not_goes_on(void **state)
{
  (void)state;
  struct held_pipe held = hold_pipe("abc");
  char bytes[100];
  size_t got = 0;
  pthread_t other;
  assert_ok(gpnn_input_allow_interrupt(held.input, &err));
  assert_ok(gpnn_input_read(held.input, bytes, 2, &got, &err));
  assert_int_equal(pthread_create(&other, NULL, interrupt_later, held.input), 0);
  assert_ok(gpnn_input_read(held.input, bytes, sizeof bytes, &got, &err));
  assert_int_equal(got, 1);
  assert_fails(gpnn_input_read(held.input, bytes, sizeof bytes, &got, &err), GPNN_EIO,
               "(stdin): reading was interrupted");
  assert_fails(gpnn_input_read(held.input, bytes, sizeof bytes, &got, &err), GPNN_EIO,
               "interrupted");
  pthread_join(other, NULL);
  release_pipe(&held);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gzip_and_plain_read_the_same),
      cmocka_unit_test(pieces_of_one_byte_read_the_same),
      cmocka_unit_test(gzip_members_in_a_row_are_one_stream),
      cmocka_unit_test(an_empty_file_is_at_its_end_at_once),
      cmocka_unit_test(one_byte_of_gzip_magic_is_plain),
      cmocka_unit_test(gzip_cut_anywhere_is_called_truncated),
      cmocka_unit_test(altered_gzip_data_are_called_corrupt),
      cmocka_unit_test(a_failed_read_fails_again),
      cmocka_unit_test(only_zeros_may_follow_gzip_data),
      cmocka_unit_test(what_cannot_be_opened_is_named),
      cmocka_unit_test(standard_input_in_tiny_pieces_is_whole),
      cmocka_unit_test(a_pipe_gives_what_it_has_without_waiting_for_more),
      cmocka_unit_test(a_read_that_waits_can_be_interrupted_and_one_that_need_not_goes_on),
      cmocka_unit_test(a_signal_does_not_lose_bytes),
      cmocka_unit_test(a_file_appears_only_when_it_is_closed),
      cmocka_unit_test(an_abandoned_file_leaves_nothing_and_keeps_the_old),
      cmocka_unit_test(writes_of_any_size_arrive_in_order),
      cmocka_unit_test(a_file_is_written_on_behind_what_is_kept),
      cmocka_unit_test(the_share_read_is_known_of_files),
      cmocka_unit_test(memory_keeps_what_is_written),
      cmocka_unit_test(a_full_device_is_reported_and_not_replaced),
      cmocka_unit_test(a_folder_cannot_be_written),
      cmocka_unit_test(standard_output_is_flushed_on_demand_and_stays_open),
      cmocka_unit_test(a_formatted_text_that_is_too_long_is_refused_whole),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
