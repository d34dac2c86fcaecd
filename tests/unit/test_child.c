/* Programs run to their end: input, output, messages, and how they end. */
#include <fcntl.h>
#include <unistd.h>

#include "base/child.h"
#include "unit.h"

extern char **environ;

/* Runs 'script' in a shell, with 'n' bytes of input. */
static enum gpnn_status run(struct gpnn_child *child, const char *script, const char *input,
                            size_t n, struct gpnn_error *err)
{
  char shell[] = "sh", option[] = "-c", text[256];
  snprintf(text, sizeof text, "%s", script);
  char *arguments[] = {shell, option, text, NULL};
  return gpnn_child_run(child, arguments, environ, input, n, NULL, err);
}

static void output_messages_and_exit_status_are_kept(void **state)
{
  (void)state;
  struct gpnn_child child = {0};
  assert_ok(run(&child, "tr a-z A-Z; echo said >&2; exit 3", "abc", 3, &err));
  assert_int_equal(child.exit_status, 3);
  assert_int_equal(child.n_output, 3);
  assert_memory_equal(child.output, "ABC", 3);
  assert_int_equal(child.n_message, 5);
  assert_memory_equal(child.message, "said\n", 5);
  gpnn_child_release(&child);
}

static void megabytes_pass_both_ways_at_once(void **state)
{
  (void)state;
  enum { BYTES = 3000000 };
  char *input = malloc(BYTES);
  assert_non_null(input);
  for (size_t i = 0; i < BYTES; i++) input[i] = (char)(i * i % 251);
  struct gpnn_child child = {0};
  assert_ok(run(&child, "cat", input, BYTES, &err));
  assert_int_equal(child.n_output, BYTES);
  assert_memory_equal(child.output, input, BYTES);
  gpnn_child_release(&child);
  free(input);
}

static void a_flood_of_messages_is_read_and_its_beginning_kept(void **state)
{
  (void)state;
  struct gpnn_child child = {0};
  assert_ok(run(&child, "yes message | head -c 1000000 >&2; echo done", NULL, 0, &err));
  assert_int_equal(child.n_message, GPNN_CHILD_MESSAGE_BYTES);
  assert_memory_equal(child.message, "message\nmessage\n", 16);
  assert_int_equal(child.n_output, 5);
  gpnn_child_release(&child);
}

static void messages_after_the_output_is_closed_are_read_to_the_end(void **state)
{
  (void)state;
  struct gpnn_child child = {0};
  assert_ok(run(&child, "exec 1>&-; head -c 1000000 /dev/zero >&2", NULL, 0, &err));
  assert_int_equal(child.exit_status, 0);
  assert_int_equal(child.n_message, GPNN_CHILD_MESSAGE_BYTES);
  assert_int_equal(child.n_output, 0);
  gpnn_child_release(&child);
}

static void a_program_that_does_not_read_its_input_ends_well(void **state)
{
  (void)state;
  enum { BYTES = 3000000 };
  char *input = calloc(BYTES, 1);
  struct gpnn_child child = {0};
  assert_ok(run(&child, "exec 0<&-; echo done", input, BYTES, &err));
  assert_int_equal(child.exit_status, 0);
  assert_int_equal(child.n_output, 5);
  gpnn_child_release(&child);
  free(input);
}

static void an_end_by_a_signal_is_reported(void **state)
{
  (void)state;
  struct gpnn_child child = {0};
  assert_ok(run(&child, "kill -9 $$", NULL, 0, &err));
  assert_int_equal(child.exit_status, -1);
  gpnn_child_release(&child);
}

static void a_missing_program_differs_from_one_that_fails(void **state)
{
  (void)state;
  char name[] = "no-such-program-anywhere";
  char *arguments[] = {name, NULL};
  struct gpnn_child child = {0};
  assert_fails(gpnn_child_run(&child, arguments, environ, NULL, 0, NULL, &err), GPNN_EEXTERNAL,
               "no such program");
  assert_null(child.output);
  assert_ok(run(&child, "exit 127", NULL, 0, &err));
  assert_int_equal(child.exit_status, 127);
  gpnn_child_release(&child);
}

static void the_environment_is_the_one_given_and_nothing_is_interpreted(void **state)
{
  (void)state;
  char printenv[] = "printenv", variable[] = "NAME", setting[] = "NAME=$(echo x) `y` *";
  char *arguments[] = {printenv, variable, NULL}, *environment[] = {setting, NULL};
  struct gpnn_child child = {0};
  assert_ok(gpnn_child_run(&child, arguments, environment, NULL, 0, NULL, &err));
  assert_int_equal(child.n_output, 16);
  assert_memory_equal(child.output, "$(echo x) `y` *\n", 16);
  gpnn_child_release(&child);
}

static void a_program_is_watched_only_while_it_runs(void **state)
{
  (void)state;
  char shell[] = "sh", option[] = "-c", script[] = "exit 3", missing[] = "no-such-program-anywhere";
  char *arguments[] = {shell, option, script, NULL}, *nothing[] = {missing, NULL};
  struct gpnn_child child = {0};
  volatile pid_t watch = 0;
  assert_int_equal(gpnn_child_run(&child, arguments, environ, NULL, 0, &watch, NULL), GPNN_OK);
  assert_int_equal(child.exit_status, 3);
  assert_int_equal(watch, 0);
  gpnn_child_release(&child);
  assert_int_equal(gpnn_child_run(&child, nothing, environ, NULL, 0, &watch, NULL), GPNN_EEXTERNAL);
  assert_int_equal(watch, 0);
}

/* If one more descriptor were open, the lowest free one would have changed. */
static int lowest_free(void)
{
  int fd = open("/dev/null", O_RDONLY);
  close(fd);
  return fd;
}

static void no_descriptor_is_left_open(void **state)
{
  (void)state;
  int before = lowest_free();
  struct gpnn_child child = {0};
  assert_ok(run(&child, "cat", "x", 1, &err));
  gpnn_child_release(&child);
  char name[] = "no-such-program-anywhere";
  char *arguments[] = {name, NULL};
  struct gpnn_error err;
  assert_int_equal(gpnn_child_run(&child, arguments, environ, "x", 1, NULL, &err), GPNN_EEXTERNAL);
  assert_int_equal(lowest_free(), before);
}

/* Runs 'script' in a shell with streams of ours: standard output is 'fd' (-1: our own). */
static enum gpnn_status run_attached(const char *script, int fd, struct gpnn_child_end *end,
                                     struct gpnn_error *err)
{
  char shell[] = "sh", option[] = "-c", text[256];
  const int streams[] = {-1, fd, -1};
  snprintf(text, sizeof text, "%s", script);
  char *arguments[] = {shell, option, text, NULL};
  return gpnn_child_run_attached(arguments, environ, streams, NULL, end, err);
}

static void an_attached_program_writes_where_it_is_told(void **state)
{
  (void)state;
  int ends[2];
  char got[16] = "";
  struct gpnn_child_end end = {0};
  assert_int_equal(pipe(ends), 0);
  assert_ok(run_attached("echo here; exit 3", ends[1], &end, &err));
  close(ends[1]);
  assert_int_equal(read(ends[0], got, sizeof got), 5);
  assert_memory_equal(got, "here\n", 5);
  close(ends[0]);
  assert_int_equal(end.exit_status, 3);
  assert_int_equal(end.signal_number, 0);
}

static void an_attached_program_shares_our_streams(void **state)
{
  (void)state;
  struct gpnn_child_end end = {0};
  char script[64];
  snprintf(script, sizeof script, "[ /proc/self/fd/1 -ef /proc/%ld/fd/1 ]", (long)getpid());
  if (access("/proc/self/fd/1", F_OK) != 0) skip();
  assert_ok(run_attached(script, -1, &end, &err));
  assert_int_equal(end.exit_status, 0);
}

static void an_attached_program_tells_how_it_ended(void **state)
{
  (void)state;
  char missing[] = "no-such-program-anywhere";
  char *nothing[] = {missing, NULL};
  const int streams[] = {-1, -1, -1};
  volatile pid_t watch = 0;
  struct gpnn_child_end end = {0};
  assert_ok(run_attached("kill -9 $$", -1, &end, &err));
  assert_int_equal(end.exit_status, -1);
  assert_int_equal(end.signal_number, 9);
  assert_fails(gpnn_child_run_attached(nothing, environ, streams, &watch, &end, &err),
               GPNN_EEXTERNAL, "no such program");
  assert_int_equal(watch, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_messages_and_exit_status_are_kept),
      cmocka_unit_test(megabytes_pass_both_ways_at_once),
      cmocka_unit_test(a_flood_of_messages_is_read_and_its_beginning_kept),
      cmocka_unit_test(messages_after_the_output_is_closed_are_read_to_the_end),
      cmocka_unit_test(a_program_that_does_not_read_its_input_ends_well),
      cmocka_unit_test(an_end_by_a_signal_is_reported),
      cmocka_unit_test(a_missing_program_differs_from_one_that_fails),
      cmocka_unit_test(the_environment_is_the_one_given_and_nothing_is_interpreted),
      cmocka_unit_test(a_program_is_watched_only_while_it_runs),
      cmocka_unit_test(no_descriptor_is_left_open),
      cmocka_unit_test(an_attached_program_writes_where_it_is_told),
      cmocka_unit_test(an_attached_program_shares_our_streams),
      cmocka_unit_test(an_attached_program_tells_how_it_ended),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
