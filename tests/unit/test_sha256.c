#include "base/sha256.h"

#include "unit.h"

static void assert_value(const struct gpnn_sha256 *sha, const char *wanted)
{
  uint32_t value[8];
  char text[65];
  gpnn_sha256_value(sha, value);
  for (size_t i = 0; i < 8; i++) sprintf(text + 8 * i, "%08x", (unsigned)value[i]);
  assert_string_equal(text, wanted);
}

/* FIPS 180-2, appendix B. */
static void checksums_are_those_of_the_standard(void **state)
{
  struct gpnn_sha256 sha;
  (void)state;
  gpnn_sha256_begin(&sha);
  assert_value(&sha, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  gpnn_sha256_add(&sha, "abc", 3);
  assert_value(&sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  gpnn_sha256_begin(&sha);
  gpnn_sha256_add(&sha, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
  assert_value(&sha, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  gpnn_sha256_begin(&sha);
  for (size_t i = 0; i < 1000000; i++) gpnn_sha256_add(&sha, "a", 1);
  assert_value(&sha, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void what_is_added_after_a_value_counts(void **state)
{
  struct gpnn_sha256 sha;
  uint32_t value[8];
  (void)state;
  gpnn_sha256_begin(&sha);
  gpnn_sha256_add(&sha, "a", 1);
  gpnn_sha256_value(&sha, value);
  gpnn_sha256_add(&sha, "bc", 2);
  assert_value(&sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(checksums_are_those_of_the_standard),
      cmocka_unit_test(what_is_added_after_a_value_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
