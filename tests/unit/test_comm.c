#include <stdbool.h>

#include "ranks.h"

static struct gpnn_message message(const char *text)
{
  return (struct gpnn_message){strlen(text), (unsigned char *)strdup(text)};
}

static void a_single_rank_talks_to_itself(void **state)
{
  (void)state;
  struct gpnn_comm comm;
  struct gpnn_message send = message("own"), receive;
  double value = 3, all = 0;
  gpnn_comm_serial(&comm);
  assert_true(comm.rank == 0 && comm.size == 1);
  gpnn_comm_broadcast(&comm, 0, &value, sizeof value);
  gpnn_comm_share(&comm, &value, sizeof value, &all);
  assert_near(all, 3, 0);
  assert_ok(gpnn_comm_exchange(&comm, &send, &receive, &err));
  assert_true(send.bytes == NULL && receive.length == 3 && comm.sent == 0);
  assert_memory_equal(receive.bytes, "own", 3);
  gpnn_messages_release(1, &receive);
  gpnn_comm_stop(&comm);
}

static void a_failure_of_one_rank_is_as_it_was(void **state)
{
  (void)state;
  struct gpnn_comm comm;
  gpnn_comm_serial(&comm);
  assert_ok(gpnn_comm_agree(&comm, GPNN_OK, &err));
  assert_fails(gpnn_comm_agree(&comm, gpnn_fail(&err, GPNN_EIO, "no disk"), &err), GPNN_EIO,
               "no disk");
  gpnn_comm_stop(&comm);
}

/* Rank r sends rank s the text "r>s", and nothing to the one after it. */
static void exchange(struct gpnn_comm *comm, void *context)
{
  size_t *wrong = context;
  struct gpnn_message send[RANKS_MOST] = {{0}}, receive[RANKS_MOST];
  struct gpnn_error err;
  char text[48];
  for (size_t s = 0; s < comm->size; s++) {
    snprintf(text, sizeof text, "%zu>%zu", comm->rank, s);
    if (s != comm->rank + 1) send[s] = message(text);
  }
  bool is_wrong = gpnn_comm_exchange(comm, send, receive, &err) != GPNN_OK;
  for (size_t r = 0; r < comm->size; r++) {
    int n = snprintf(text, sizeof text, "%zu>%zu", r, comm->rank);
    size_t length = comm->rank == r + 1 ? 0 : (size_t)n;
    is_wrong = is_wrong || receive[r].length != length ||
               (length > 0 && memcmp(receive[r].bytes, text, length) != 0);
  }
  if (is_wrong) wrong[comm->rank]++;
  gpnn_messages_release(comm->size, receive);
}

static void messages_reach_the_rank_that_they_are_for(void **state)
{
  (void)state;
  size_t wrong[RANKS_MOST] = {0};
  for (size_t n = 1; n <= 4; n++) ranks_run(n, exchange, wrong);
  for (size_t r = 0; r < RANKS_MOST; r++) assert_int_equal(wrong[r], 0);
}

static void agree(struct gpnn_comm *comm, void *context)
{
  struct gpnn_error err, *told = context;
  enum gpnn_status status = GPNN_OK;
  if (comm->rank > 0)
    status = gpnn_fail(&err, comm->rank == 1 ? GPNN_EIO : GPNN_EDATA, "of %zu", comm->rank);
  (void)!gpnn_comm_agree(comm, status, &err);
  told[comm->rank] = err;
}

static void all_ranks_learn_what_the_first_failure_is(void **state)
{
  (void)state;
  struct gpnn_error told[3] = {{0}};
  ranks_run(3, agree, told);
  for (size_t r = 0; r < 3; r++) {
    assert_int_equal(told[r].status, GPNN_EIO);
    assert_non_null(strstr(told[r].text, "rank 1 on "));
    assert_non_null(strstr(told[r].text, ": of 1"));
  }
}

static void check_version(struct gpnn_comm *comm, void *context)
{
  const char *const *versions = context;
  struct gpnn_error why;
  enum gpnn_status status = gpnn_comm_check_version(comm, versions[comm->rank], &why);
  if (comm->rank == 0 && versions[2] == versions[0]) assert_int_equal(status, GPNN_OK);
  if (comm->rank != 0 || versions[2] == versions[0]) return;
  assert_int_equal(status, GPNN_EMISMATCH);
  assert_non_null(strstr(why.text, "rank 2 on "));
  assert_non_null(strstr(why.text, "gpnn 0.2, but 0.1 on rank 0"));
}

static void versions_that_differ_are_told(void **state)
{
  (void)state;
  static const char one[] = "0.1";
  const char *versions[] = {one, one, one};
  ranks_run(3, check_version, versions);
  versions[2] = "0.2";
  ranks_run(3, check_version, versions);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_single_rank_talks_to_itself),
      cmocka_unit_test(a_failure_of_one_rank_is_as_it_was),
      cmocka_unit_test(messages_reach_the_rank_that_they_are_for),
      cmocka_unit_test(versions_that_differ_are_told),
      cmocka_unit_test(all_ranks_learn_what_the_first_failure_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
