/* Rows read block by block, and reductions of them. */
#include "unit.h"

#include "stats/row_source.h"

enum { N = 3 * GPNN_ROW_SOURCE_BLOCK + 100, W = 2 };

/* Row i is (i, -i); 'context' is the number of rows from which on none can be read. */
static enum gpnn_status read_numbered(void *context, size_t from, size_t count, double *rows,
                                      struct gpnn_error *err)
{
  const size_t *limit = context;
  if (from + count > *limit) return gpnn_fail(err, GPNN_EIO, "row %zu cannot be read", *limit);
  for (size_t i = 0; i < count; i++) {
    rows[i * W] = (double)(from + i);
    rows[i * W + 1] = -(double)(from + i);
  }
  return GPNN_OK;
}

/* A block's first row, its number of rows, and the sum of all its numbers. */
static void map_block(const void *state, size_t count, const double *rows, double *mapped)
{
  (void)state;
  mapped[0] = rows[0];
  mapped[1] = (double)count;
  for (size_t i = 0; i < count * W; i++) mapped[2] += rows[i];
}

struct blocks {
  size_t n;
  double first[8], count[8], sum;
};

static void fold_block(void *state, const double *mapped)
{
  struct blocks *blocks = state;
  blocks->first[blocks->n] = mapped[0];
  blocks->count[blocks->n++] = mapped[1];
  blocks->sum += mapped[2];
}

static enum gpnn_status reduce(size_t n, size_t limit, int threads, struct blocks *blocks,
                               struct gpnn_error *err)
{
  const struct gpnn_row_source source = {n, W, read_numbered, &limit, threads, NULL};
  const struct gpnn_row_reduction reduction = {map_block, fold_block, blocks, 3, NULL, 0};
  return gpnn_row_source_reduce(&source, &reduction, err);
}

static void blocks_are_folded_in_order_by_any_number_of_threads(void **state)
{
  (void)state;
  for (int threads = 0; threads <= 5; threads++) {
    struct blocks blocks = {0};
    assert_ok(reduce(N, N, threads, &blocks, &err));
    assert_int_equal(blocks.n, 4);
    for (size_t b = 0; b < 4; b++) {
      assert_true(blocks.first[b] == (double)(b * GPNN_ROW_SOURCE_BLOCK));
      assert_true(blocks.count[b] == (b < 3 ? GPNN_ROW_SOURCE_BLOCK : 100));
    }
    assert_true(blocks.sum == 0); /* mapped numbers start from zero */
  }
}

static void without_rows_nothing_is_mapped(void **state)
{
  (void)state;
  struct blocks blocks = {0};
  assert_ok(reduce(0, 0, 2, &blocks, &err));
  assert_int_equal(blocks.n, 0);
}

static void the_first_block_that_cannot_be_read_ends_a_reduction(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 4; threads++) {
    struct blocks blocks = {0};
    assert_fails(reduce(N, 2 * GPNN_ROW_SOURCE_BLOCK, threads, &blocks, &err), GPNN_EIO,
                 "row 2048 cannot be read");
    assert_int_equal(blocks.n, 2);
  }
}

static void a_block_of_wide_rows_has_fewer_of_them(void **state)
{
  (void)state;
  assert_int_equal(gpnn_row_source_block(1), 1024);
  assert_int_equal(gpnn_row_source_block(1024), 1024);
  assert_int_equal(gpnn_row_source_block(1025), 1023);
  assert_int_equal(gpnn_row_source_block(300000), 3);
  assert_int_equal(gpnn_row_source_block(SIZE_MAX), 1);
}

static void rows_beyond_memory_are_refused(void **state)
{
  (void)state;
  struct blocks blocks = {0};
  const struct gpnn_row_source source = {3, SIZE_MAX / 8, read_numbered, NULL, 1, NULL};
  const struct gpnn_row_reduction reduction = {map_block, fold_block, &blocks, 3, NULL, 0};
  assert_fails(gpnn_row_source_reduce(&source, &reduction, &err), GPNN_ENOMEM, "memory");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_folded_in_order_by_any_number_of_threads),
      cmocka_unit_test(without_rows_nothing_is_mapped),
      cmocka_unit_test(the_first_block_that_cannot_be_read_ends_a_reduction),
      cmocka_unit_test(a_block_of_wide_rows_has_fewer_of_them),
      cmocka_unit_test(rows_beyond_memory_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
