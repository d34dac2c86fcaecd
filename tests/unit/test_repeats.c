/* Which hashes may have come before. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/repeats.h"
#include "base/rng.h"
#include "unit.h"

/* Fills 'hash' with 'n' numbers, all different: random bits, or multiples of 'step'. */
static void fill(size_t n, uint64_t step, uint64_t *hash)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++) hash[i] = step > 0 ? i * step : gpnn_rng_next(&rng);
}

static void hardly_any_new_hash_seems_to_repeat(void **state)
{
  (void)state;
  enum { N = 100000, ONE_IN = 200 };
  const uint64_t steps[] = {0, 1, UINT64_C(1) << 32, UINT64_C(1) << 44};
  uint64_t *hash = gpnn_alloc(N, 1, sizeof *hash);
  for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
    struct gpnn_repeats repeats = {0};
    fill(N, steps[s], hash);
    assert_true(gpnn_repeats_init(&repeats, N));
    assert_true(gpnn_repeats_add(&repeats, N, hash, NULL) < N / ONE_IN);
    gpnn_repeats_release(&repeats);
  }
  free(hash);
}

static void each_repeat_is_found(void **state)
{
  (void)state;
  enum { N = 10007, SOME = 13 };
  struct gpnn_repeats repeats = {0};
  uint64_t *hash = gpnn_alloc(N, 1, sizeof *hash), *again = gpnn_alloc(N, 1, sizeof *again);
  fill(N, 0, hash);
  assert_true(gpnn_repeats_init(&repeats, N));
  for (size_t i = 0; i < N; i += SOME) {
    size_t n = N - i < SOME ? N - i : SOME;
    gpnn_repeats_add(&repeats, n, hash + i, again);
  }
  assert_int_equal(gpnn_repeats_add(&repeats, N, hash, again), N);
  assert_memory_equal(again, hash, N * sizeof *hash);
  gpnn_repeats_release(&repeats);
  /* Next to each other, and more of them than there is room for. */
  assert_true(gpnn_repeats_init(&repeats, 1));
  for (size_t i = 0; i < N; i++) hash[i] /= 2;
  assert_true(gpnn_repeats_add(&repeats, N, hash, again) <= N);
  assert_int_equal(gpnn_repeats_add(&repeats, 2, (uint64_t[]){hash[N - 1], hash[0]}, again), 2);
  gpnn_repeats_release(&repeats);
  free(hash);
  free(again);
}

static void the_same_hash_repeats_at_once(void **state)
{
  (void)state;
  const uint64_t hash[] = {5, 5, 7, 5};
  uint64_t again[4];
  struct gpnn_repeats repeats = {0};
  assert_true(gpnn_repeats_init(&repeats, 4));
  assert_int_equal(gpnn_repeats_add(&repeats, 4, hash, again), 2);
  assert_int_equal(again[0], 5);
  assert_int_equal(again[1], 5);
  assert_int_equal(gpnn_repeats_add(&repeats, 0, hash, again), 0);
  gpnn_repeats_release(&repeats);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hardly_any_new_hash_seems_to_repeat),
      cmocka_unit_test(each_repeat_is_found),
      cmocka_unit_test(the_same_hash_repeats_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
