#include "base/repeats.h"

#include <stdlib.h>

#include "base/memory.h"

bool gpnn_repeats_init(struct gpnn_repeats *repeats, size_t n)
{
  size_t n_words = 16;
  while (n_words < n / 4) n_words *= 2;
  uint64_t *words = gpnn_alloc(n_words, 1, sizeof *words);
  if (words == NULL) return false;
  *repeats = (struct gpnn_repeats){words, n_words - 1};
  return true;
}

/* A hash whose bits all depend on all of the given one (the finaliser of MurmurHash3). */
static uint64_t mix(uint64_t hash)
{
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
  return hash ^ hash >> 33;
}

/* The bits of a mixed hash: three of its word, which the other half chooses. */
static uint64_t bits_of(uint64_t mixed)
{
  enum { FIRST = 46, SECOND = 52, THIRD = 58, LAST = 63 };
  return UINT64_C(1) << (mixed >> FIRST & LAST) | UINT64_C(1) << (mixed >> SECOND & LAST) |
         UINT64_C(1) << (mixed >> THIRD);
}

size_t gpnn_repeats_add(struct gpnn_repeats *repeats, size_t n, const uint64_t *hash,
                        uint64_t *again)
{
  enum { AHEAD = 16 };
  uint64_t mixed[AHEAD];
  size_t n_again = 0;
  for (size_t from = 0; from < n; from += AHEAD) {
    size_t count = n - from < AHEAD ? n - from : AHEAD;
    for (size_t i = 0; i < count; i++) {
      mixed[i] = mix(hash[from + i]);
      __builtin_prefetch(&repeats->words[mixed[i] & repeats->mask], 1);
    }
    for (size_t i = 0; i < count; i++) {
      uint64_t *word = &repeats->words[mixed[i] & repeats->mask], bits = bits_of(mixed[i]);
      bool may_repeat = (*word & bits) == bits;
      *word |= bits;
      if (may_repeat && again != NULL) again[n_again] = hash[from + i];
      n_again += may_repeat;
    }
  }
  return n_again;
}

void gpnn_repeats_release(struct gpnn_repeats *repeats)
{
  free(repeats->words);
  *repeats = (struct gpnn_repeats){0};
}
