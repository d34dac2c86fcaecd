#include "cotrain/ledger.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/sha256.h"
#include "scratch.h"
#include "unit.h"

static const struct gpnn_ledger_line line = {.answers = 25,
                                             .mechanism = GPNN_MECHANISM_SHAPED,
                                             .sensitivity = 6,
                                             .tau = 20,
                                             .mu = 0.3,
                                             .epsilon = 1,
                                             .delta = 1e-5};

/* A ledger with 'n' releases. */
static const char *make_ledger(const char *name, size_t n)
{
  const char *path = scratch_path(name);
  struct gpnn_ledger_total total;
  unlink(path);
  assert_ok(gpnn_ledger_new(path, &err));
  for (size_t i = 0; i < n; i++) assert_ok(gpnn_ledger_charge(path, &line, INFINITY, &total, &err));
  return path;
}

static void totals_are_square_roots_of_sums_of_squares(void **state)
{
  (void)state;
  struct gpnn_ledger_total total;
  const char *path = make_ledger("totals", 16);
  assert_ok(gpnn_ledger_read(path, &total, &err));
  assert_int_equal(total.releases, 16);
  assert_int_equal(total.insecure, 0);
  assert_near(total.mu, 1.2, 1e-12);
  struct gpnn_ledger_line other = line;
  other.mu = 0.5;
  other.is_insecure = true;
  assert_ok(gpnn_ledger_charge(path, &other, INFINITY, &total, &err));
  assert_near(total.mu, 1.3, 1e-12);
  assert_ok(gpnn_ledger_read(path, &total, &err));
  assert_int_equal(total.releases, 17);
  assert_int_equal(total.insecure, 1);
}

static void noise_of_a_seed_keeps_no_budget(void **state)
{
  struct gpnn_ledger_line seeded = line;
  struct gpnn_ledger_total total;
  const char *path = make_ledger("seeded", 0);
  (void)state;
  seeded.is_insecure = true;
  assert_fails(gpnn_ledger_charge(path, &seeded, 9, &total, &err), GPNN_EDATA, "is not private");
  assert_ok(gpnn_ledger_charge(path, &seeded, INFINITY, &total, &err));
  assert_fails(gpnn_ledger_charge(path, &line, 9, &total, &err), GPNN_EDATA, "is not private");
}

/* As sha256sum(1) finds it. */
static void a_check_is_of_all_that_stands_before_it(void **state)
{
  struct gpnn_ledger_total total;
  struct gpnn_sha256 sha;
  uint32_t value[8];
  char wanted[17];
  size_t length;
  const char *path = make_ledger("checks", 2);
  char *text = scratch_read(path, &length);
  (void)state;
  assert_ok(gpnn_ledger_read(path, &total, &err));
  gpnn_sha256_begin(&sha);
  length -= strlen("# releases 2\n");
  gpnn_sha256_add(&sha, text, length - 17);
  gpnn_sha256_value(&sha, value);
  sprintf(wanted, "%08x%08x", (unsigned)value[0], (unsigned)value[1]);
  assert_string_equal(total.check, wanted);
  assert_memory_equal(text + length - 17, wanted, 16);
  assert_memory_equal(text + length, "# releases 2\n", 13);
  free(text);
}

static void a_ledger_is_made_once(void **state)
{
  struct gpnn_ledger_total total;
  const char *path = make_ledger("once", 1);
  (void)state;
  assert_fails(gpnn_ledger_new(path, &err), GPNN_EIO, "exists already");
  assert_ok(gpnn_ledger_read(path, &total, &err));
  assert_int_equal(total.releases, 1);
  assert_fails(gpnn_ledger_new(scratch_path("none/ledger"), &err), GPNN_EIO, "cannot make");
  assert_fails(gpnn_ledger_charge(scratch_path("mistyped"), &line, INFINITY, &total, &err),
               GPNN_EIO, "make one by --new-ledger");
  assert_int_equal(access(scratch_path("mistyped"), F_OK), -1);
}

static void a_budget_is_kept_and_the_ledger_left_alone(void **state)
{
  (void)state;
  struct gpnn_ledger_total total = {0};
  size_t before_length, after_length;
  const char *path = make_ledger("budget", 4);
  char *before = scratch_read(path, &before_length);
  assert_fails(gpnn_ledger_charge(path, &line, 0.67, &total, &err), GPNN_EDATA,
               "the budget is spent: 4 releases have mu = 0.6, this one has 0.3, together more "
               "than 0.67; nothing was released");
  assert_int_equal(total.releases, 0);
  char *after = scratch_read(path, &after_length);
  assert_int_equal(before_length, after_length);
  assert_memory_equal(before, after, before_length);
  free(before);
  free(after);
  assert_ok(gpnn_ledger_charge(path, &line, hypot(0.6, 0.3), &total, &err));
}

/* The ledger 'path' with the first 'from' in it replaced. */
static const char *edit(const char *path, const char *from, const char *to)
{
  size_t length;
  char *read = scratch_read(path, &length), *text = malloc(length + 1);
  char *edited = malloc(length + strlen(to) + 1);
  assert_true(text != NULL && edited != NULL);
  memcpy(text, read, length);
  text[length] = '\0';
  free(read);
  char *at = strstr(text, from);
  assert_non_null(at);
  *at = '\0';
  sprintf(edited, "%s%s%s", text, to, at + strlen(from));
  const char *written = scratch_text("edited", edited);
  free(text);
  free(edited);
  return written;
}

static void what_was_edited_is_refused(void **state)
{
  (void)state;
  struct gpnn_ledger_total total;
  const struct {
    const char *from, *to, *message;
  } cases[] = {
      {"\t0.3\t", "\t0.2\t", "mu_total does not follow from the lines before"},
      {"\t0.3\t", "\t-0.3\t", "mu is not a number from 0 on"},
      {"\t0.3\t", "\tx\t", "mu is not a number from 0 on"},
      {"\n1\t", "\n2\t", "releases are not numbered from 1 on"},
      {"\tshaped", "", "not the fields of a release"},
      {"\t25\t", "\t26\t", "check is not that of what stands before it"},
      {"\tsecret\t", "\tsecret\t0", "check is not that of what stands before it"},
      {"# releases 3\n", "", "the count of releases is missing"},
      {"# releases 3\n", "# releases 3", "the last line has no end"},
      {"# releases 3", "# releases 2", "does not count the releases before it"},
      {"# releases 3", "# releases x", "does not count the releases before it"},
      {"# releases 3", "#", "does not count the releases before it"},
      {"# releases 3\n", "# releases 3\n\n", "something follows the count of releases"},
      {"# gpnn ledger 1", "# gpnn ledger 2", "is not a ledger, or of another version"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = edit(make_ledger("whole", 3), cases[i].from, cases[i].to);
    assert_fails(gpnn_ledger_read(path, &total, &err), GPNN_EFORMAT, cases[i].message);
    assert_fails(gpnn_ledger_charge(path, &line, INFINITY, &total, &err), GPNN_EFORMAT,
                 cases[i].message);
  }
  assert_fails(gpnn_ledger_read(scratch_path("none"), &total, &err), GPNN_EIO, "no ledger");
  assert_fails(gpnn_ledger_charge("/dev/full", &line, INFINITY, &total, &err), GPNN_EIO,
               "not a regular file");
}

static void a_ledger_that_was_cut_is_refused_and_left_alone(void **state)
{
  (void)state;
  struct gpnn_ledger_total total;
  size_t whole, length;
  const char *path = make_ledger("torn", 2);
  char *text = scratch_read(path, &whole);
  free(text);
  for (size_t cut = 1; cut <= whole; cut++) {
    path = make_ledger("torn", 2);
    assert_int_equal(truncate(path, (off_t)(whole - cut)), 0);
    assert_fails(gpnn_ledger_read(path, &total, &err), GPNN_EFORMAT, "REPAIR in gpnn-ledger(5)");
    assert_fails(gpnn_ledger_charge(path, &line, INFINITY, &total, &err), GPNN_EFORMAT,
                 "REPAIR in gpnn-ledger(5)");
    text = scratch_read(path, &length);
    assert_int_equal(length, whole - cut);
    free(text);
  }
  scratch_text("empty", "");
  assert_fails(gpnn_ledger_read(scratch_path("empty"), &total, &err), GPNN_EFORMAT, "is empty");
}

/* Charges a ledger over and over, and tells of each charge when it is done. */
static void charge_and_tell(const char *path, int to, size_t times)
{
  struct gpnn_ledger_total total;
  struct gpnn_error err;
  for (size_t i = 0; i < times; i++) {
    if (gpnn_ledger_charge(path, &line, INFINITY, &total, &err) != GPNN_OK) _exit(1);
    if (write(to, "+", 1) != 1) _exit(1);
  }
  _exit(0);
}

static void who_is_killed_has_not_told_more_than_is_charged(void **state)
{
  (void)state;
  const char *path = make_ledger("killed", 1);
  size_t told = 0;
  for (int k = 0; k < 40; k++) {
    int ends[2];
    char byte;
    struct gpnn_ledger_total total;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) charge_and_tell(path, ends[1], 1000);
    close(ends[1]);
    nanosleep(&(struct timespec){.tv_nsec = 100000 * (k % 40)}, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    while (read(ends[0], &byte, 1) == 1) told++;
    close(ends[0]);
    assert_ok(gpnn_ledger_read(path, &total, &err));
    assert_true(total.releases >= 1 + told);
    assert_true(total.mu >= 0.3 * sqrt((double)(1 + told)) * (1 - 1e-12));
  }
}

static void two_who_charge_at_once_both_count(void **state)
{
  (void)state;
  enum { TIMES = 50 };
  const char *path = make_ledger("two", 0);
  struct gpnn_ledger_total total;
  pid_t child[2];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  for (int i = 0; i < 2; i++)
    if ((child[i] = fork()) == 0) charge_and_tell(path, ends[1], TIMES);
  for (int i = 0; i < 2; i++) {
    int status;
    assert_int_equal(waitpid(child[i], &status, 0), child[i]);
    assert_int_equal(status, 0);
  }
  close(ends[0]);
  close(ends[1]);
  assert_ok(gpnn_ledger_read(path, &total, &err));
  assert_int_equal(total.releases, 2 * TIMES);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(totals_are_square_roots_of_sums_of_squares),
      cmocka_unit_test(a_budget_is_kept_and_the_ledger_left_alone),
      cmocka_unit_test(what_was_edited_is_refused),
      cmocka_unit_test(a_ledger_that_was_cut_is_refused_and_left_alone),
      cmocka_unit_test(noise_of_a_seed_keeps_no_budget),
      cmocka_unit_test(a_check_is_of_all_that_stands_before_it),
      cmocka_unit_test(a_ledger_is_made_once),
      cmocka_unit_test(who_is_killed_has_not_told_more_than_is_charged),
      cmocka_unit_test(two_who_charge_at_once_both_count),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
