#include "base/secret.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>

enum { WORDS = 16, DOUBLE_ROUNDS = 10 };

/* Zeros before a uniform deviate, but for those of its last word. */
enum { MOST_ZEROS = 960 };

static uint32_t rotate(uint32_t x, int bits)
{
  return x << bits | x >> (32 - bits);
}

static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
  *a += *b;
  *d = rotate(*d ^ *a, 16);
  *c += *d;
  *b = rotate(*b ^ *c, 12);
  *a += *b;
  *d = rotate(*d ^ *a, 8);
  *c += *d;
  *b = rotate(*b ^ *c, 7);
}

/* RFC 8439, section 2.3.  The counter has 64 bits, so that it never returns. */
static void next_block(struct gpnn_secret *secret)
{
  uint32_t x[WORDS];
  memcpy(x, secret->state, sizeof x);
  for (int i = 0; i < DOUBLE_ROUNDS; i++) {
    for (int j = 0; j < 4; j++) quarter_round(x + j, x + 4 + j, x + 8 + j, x + 12 + j);
    for (int j = 0; j < 4; j++)
      quarter_round(x + j, x + 4 + (j + 1) % 4, x + 8 + (j + 2) % 4, x + 12 + (j + 3) % 4);
  }
  for (int i = 0; i < WORDS; i++) secret->block[i] = x[i] + secret->state[i];
  if (++secret->state[12] == 0) secret->state[13]++;
  secret->used = 0;
}

void gpnn_secret_keyed(struct gpnn_secret *secret, const uint32_t key[8], uint32_t counter,
                       const uint32_t nonce[3])
{
  static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  memcpy(secret->state, constants, sizeof constants);
  memcpy(secret->state + 4, key, 8 * sizeof *key);
  secret->state[12] = counter;
  memcpy(secret->state + 13, nonce, 3 * sizeof *nonce);
  secret->used = WORDS;
}

/* A compiler may leave out a memset() of what is not read again. */
static void wipe(void *bytes, size_t n)
{
  volatile unsigned char *at = bytes;
  while (n-- > 0) *at++ = 0;
}

enum gpnn_status gpnn_secret_start(struct gpnn_secret *secret, struct gpnn_error *err)
{
  static const uint32_t nonce[3] = {0, 0, 0};
  uint32_t key[8];
  size_t got = 0;
  while (got < sizeof key) {
    ssize_t n = getrandom((char *)key + got, sizeof key - got, 0);
    if (n < 0 && errno != EINTR) return gpnn_fail_errno(err, errno, "random numbers of the system");
    if (n > 0) got += (size_t)n;
  }
  gpnn_secret_keyed(secret, key, 0, nonce);
  wipe(key, sizeof key);
  return GPNN_OK;
}

void gpnn_secret_insecure(struct gpnn_secret *secret, uint64_t seed)
{
  static const uint32_t nonce[3] = {0, 0, 0};
  const uint32_t key[8] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  gpnn_secret_keyed(secret, key, 0, nonce);
}

uint32_t gpnn_secret_word(struct gpnn_secret *secret)
{
  if (secret->used == WORDS) next_block(secret);
  return secret->block[secret->used++];
}

/* How many zeros a word begins with. */
static int leading_zeros(uint32_t word)
{
  int n = 0;
  for (; n < 32 && (word >> 31) == 0; word <<= 1) n++;
  return n;
}

/* Each zero at the beginning of the stream halves the deviate, and further bits say where in its
 * binade it lies: so small ones are as exact as large ones. */
double gpnn_secret_uniform(struct gpnn_secret *secret)
{
  int exponent = -53;
  uint32_t word = gpnn_secret_word(secret);
  for (; word == 0 && exponent > -53 - MOST_ZEROS; word = gpnn_secret_word(secret)) exponent -= 32;
  exponent -= leading_zeros(word);
  const uint64_t high = gpnn_secret_word(secret), low = gpnn_secret_word(secret);
  const uint64_t part = (high << 32 | low) >> 13; /* of 2^51 */
  return ldexp((double)(1ULL << 52 | part << 1 | 1), exponent);
}

void gpnn_secret_end(struct gpnn_secret *secret)
{
  wipe(secret, sizeof *secret);
}
