#include "base/secret.h"

#include <math.h>

#include "unit.h"

/* RFC 8439, section 2.3.2. */
static void the_keystream_is_that_of_the_standard(void **state)
{
  static const uint32_t nonce[3] = {0x09000000, 0x4a000000, 0};
  static const uint32_t wanted[16] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3,
                                      0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
                                      0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                      0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
  struct gpnn_secret secret;
  uint32_t key[8];
  (void)state;
  for (uint32_t i = 0; i < 8; i++) key[i] = 0x03020100 + i * 0x04040404;
  gpnn_secret_keyed(&secret, key, 1, nonce);
  for (size_t i = 0; i < 16; i++) assert_int_equal(gpnn_secret_word(&secret), wanted[i]);
}

static void blocks_follow_one_another(void **state)
{
  static const uint32_t key[8] = {1, 2, 3}, nonce[3] = {0, 0, 0};
  struct gpnn_secret whole, second;
  (void)state;
  gpnn_secret_keyed(&whole, key, 0xffffffff, nonce);
  for (size_t i = 0; i < 16; i++) gpnn_secret_word(&whole);
  gpnn_secret_keyed(&second, key, 0, (const uint32_t[3]){1, 0, 0});
  for (size_t i = 0; i < 16; i++)
    assert_int_equal(gpnn_secret_word(&whole), gpnn_secret_word(&second));
}

static void secrets_differ_and_the_same_seed_agrees(void **state)
{
  struct gpnn_secret a, b;
  (void)state;
  assert_ok(gpnn_secret_start(&a, &err));
  assert_ok(gpnn_secret_start(&b, &err));
  assert_true(gpnn_secret_uniform(&a) != gpnn_secret_uniform(&b));
  gpnn_secret_insecure(&a, 7);
  gpnn_secret_insecure(&b, 7);
  assert_true(gpnn_secret_uniform(&a) == gpnn_secret_uniform(&b));
  gpnn_secret_insecure(&b, 7 + (1ULL << 40));
  assert_true(gpnn_secret_uniform(&a) != gpnn_secret_uniform(&b));
}

static void uniform_deviates_fill_their_interval(void **state)
{
  enum { N = 100000 };
  struct gpnn_secret secret;
  double sum = 0, squares = 0;
  (void)state;
  gpnn_secret_insecure(&secret, 1);
  for (size_t i = 0; i < N; i++) {
    const double u = gpnn_secret_uniform(&secret);
    assert_true(u > 0 && u < 1);
    sum += u;
    squares += u * u;
  }
  assert_near(sum / N, 0.5, 4.5 * 0.2887 / 316);
  assert_near(squares / N, 1.0 / 3, 4.5 * 0.2981 / 316);
}

/* A generator whose next words are all 'word'. */
static struct gpnn_secret stream_of(uint32_t word)
{
  struct gpnn_secret secret = {.used = 0};
  for (size_t i = 0; i < 16; i++) secret.block[i] = word;
  return secret;
}

static void no_stream_leads_to_an_end_of_the_interval(void **state)
{
  struct gpnn_secret secret = stream_of(0xffffffff);
  double u = gpnn_secret_uniform(&secret);
  (void)state;
  assert_true(u == 1 - 0x1p-53);
  secret = stream_of(0);
  secret.block[12] = 1; /* after 12 * 32 + 31 zeros */
  u = gpnn_secret_uniform(&secret);
  assert_true(u == 0x1p-416 * (1 + 0x1p-52));
  secret = stream_of(0);
  secret.block[15] = 0x80000000;
  u = gpnn_secret_uniform(&secret);
  assert_true(u > 0x1p-481 && u < 0x1p-480);
}

/* One deviate in 2^k is below 2^-k. */
static void small_deviates_are_as_frequent_as_they_should_be(void **state)
{
  enum { N = 1 << 20, LOGS = 15 };
  struct gpnn_secret secret;
  size_t below[LOGS] = {0};
  (void)state;
  gpnn_secret_insecure(&secret, 5);
  for (size_t i = 0; i < N; i++) {
    const double u = gpnn_secret_uniform(&secret);
    for (int k = 1; k < LOGS; k++) below[k] += u < ldexp(1, -k);
  }
  for (int k = 1; k < LOGS; k++) {
    const double expected = ldexp(N, -k);
    assert_near((double)below[k], expected, 4.5 * sqrt(expected));
  }
}

static void what_is_over_is_wiped(void **state)
{
  struct gpnn_secret secret;
  (void)state;
  assert_ok(gpnn_secret_start(&secret, &err));
  gpnn_secret_word(&secret);
  gpnn_secret_end(&secret);
  for (size_t i = 0; i < 16; i++) assert_true(secret.state[i] == 0 && secret.block[i] == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_keystream_is_that_of_the_standard),
      cmocka_unit_test(blocks_follow_one_another),
      cmocka_unit_test(secrets_differ_and_the_same_seed_agrees),
      cmocka_unit_test(uniform_deviates_fill_their_interval),
      cmocka_unit_test(no_stream_leads_to_an_end_of_the_interval),
      cmocka_unit_test(small_deviates_are_as_frequent_as_they_should_be),
      cmocka_unit_test(what_is_over_is_wiped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
