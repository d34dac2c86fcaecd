/* Processes that hold parts of the same rows. */
#include "base/peers.h"
#include "ranks.h"
#include "stats/row_source.h"

enum { N = 5 * GPNN_ROW_SOURCE_BLOCK + 100, W = 2 };

/* How the rows are in parts: some ranks have none. */
static uint64_t bounds[RANKS_MOST + 1];

static void set_bounds(size_t size)
{
  for (size_t r = 1; r <= size; r++)
    bounds[r] = r == size ? N : (r + 1) / 2 * GPNN_ROW_SOURCE_BLOCK;
}

static double number_in(size_t row, size_t j)
{
  return 1 / (1.0 + (double)row * (j == 0 ? 1 : 7));
}

/* Rows of this rank alone. */
static enum gpnn_status read_here(void *context, size_t from, size_t count, double *rows,
                                  struct gpnn_error *err)
{
  const struct gpnn_parts *parts = context;
  if (from < gpnn_parts_first(parts) || from + count > gpnn_parts_end(parts, N))
    return gpnn_fail(err, GPNN_EIO, "row %zu is elsewhere", from);
  for (size_t i = 0; i < count * W; i++) rows[i] = number_in(from + i / W, i % W);
  return GPNN_OK;
}

static void add(const void *state, size_t count, const double *rows, double *mapped)
{
  (void)state;
  for (size_t i = 0; i < count * W; i++) mapped[i % W] += rows[i];
}

static void fold(void *state, const double *mapped)
{
  double *sum = state;
  for (size_t j = 0; j < W; j++) sum[j] = 0.3 * sum[j] + mapped[j]; /* depends on the order */
}

struct run {
  double sum[RANKS_MOST][W], picked[RANKS_MOST][3 * W];
  enum gpnn_status status[RANKS_MOST], later[RANKS_MOST];
  struct gpnn_error told[RANKS_MOST];
  size_t lost; /* the rank that fails by itself; SIZE_MAX: none */
};

static enum gpnn_status reduce(const struct gpnn_parts *parts, double *sum, struct gpnn_error *err)
{
  const struct gpnn_row_source source = {N, W, read_here, (void *)(uintptr_t)parts, 2, parts};
  const struct gpnn_row_reduction reduction = {add, fold, sum, W, sum, W};
  return gpnn_row_source_reduce(&source, &reduction, err);
}

static enum gpnn_status pick(const struct gpnn_parts *parts, double *picked, struct gpnn_error *err)
{
  static const uint64_t rows[] = {0, GPNN_ROW_SOURCE_BLOCK, N - 1};
  const struct gpnn_row_source source = {N, W, read_here, (void *)(uintptr_t)parts, 2, parts};
  return gpnn_row_source_pick(&source, 3, rows, picked, err);
}

static void run_rank(struct gpnn_comm *comm, void *context)
{
  struct run *run = context;
  struct gpnn_peers peers;
  const struct gpnn_parts parts = {&peers, bounds};
  size_t r = comm->rank;
  struct gpnn_error *told = &run->told[r];
  gpnn_comm_peers(comm, &peers);
  run->status[r] = r == run->lost ? gpnn_fail(told, GPNN_EIO, "out of paper")
                                  : reduce(&parts, run->sum[r], told);
  if (run->status[r] == GPNN_OK) run->status[r] = pick(&parts, run->picked[r], told);
  run->status[r] = gpnn_peers_agree(&peers, run->status[r], told);
  run->later[r] = gpnn_peers_agree(&peers, GPNN_OK, NULL);
}

static void parts_are_folded_in_the_order_of_rows_and_picked_wherever_they_are(void **state)
{
  (void)state;
  double sum[W] = {0}, picked[3 * W];
  assert_ok(reduce(NULL, sum, &err));
  assert_ok(pick(NULL, picked, &err));
  for (size_t size = 1; size <= RANKS_MOST; size++) {
    struct run run = {.lost = SIZE_MAX};
    set_bounds(size);
    ranks_run(size, run_rank, &run);
    for (size_t r = 0; r < size; r++) {
      assert_int_equal(run.status[r], GPNN_OK);
      assert_memory_equal(run.sum[r], sum, sizeof sum);
      assert_memory_equal(run.picked[r], picked, sizeof picked);
    }
  }
}

static void all_learn_that_one_has_failed_wherever_they_are(void **state)
{
  (void)state;
  enum { RANKS = 4 };
  set_bounds(RANKS);
  for (size_t lost = 0; lost < RANKS; lost++) {
    struct run run = {.lost = lost};
    ranks_run(RANKS, run_rank, &run);
    for (size_t r = 0; r < RANKS; r++) {
      const char *text = strstr(run.told[r].text, "out of paper");
      assert_int_equal(run.status[r], GPNN_EIO);
      assert_int_equal(run.later[r], GPNN_EIO);
      assert_non_null(text);
      assert_int_equal(text == run.told[r].text, r == lost); /* the others say who it was */
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_folded_in_the_order_of_rows_and_picked_wherever_they_are),
      cmocka_unit_test(all_learn_that_one_has_failed_wherever_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
