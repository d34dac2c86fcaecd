/*
 * secret: random numbers that nobody can guess, for noise that protects someone.
 *
 * The generator is ChaCha20 (RFC 8439) with a key from the system, so that whoever sees some
 * numbers learns nothing of the others, as he could from those of base/rng.h.
 *
 * Calling sequence: gpnn_secret_start(), or gpnn_secret_insecure() where a test must have the same
 * numbers again; gpnn_secret_word() or gpnn_secret_uniform() any number of times;
 * gpnn_secret_end(), which wipes the key. Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_BASE_SECRET_H
#define GPNN_BASE_SECRET_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct gpnn_secret {
  uint32_t state[16]; /* constants, key, counter and nonce */
  uint32_t block[16];
  unsigned used; /* words of the block that are spent */
};

/* GPNN_EIO: the system has no random numbers. */
GPNN_MUST_CHECK enum gpnn_status gpnn_secret_start(struct gpnn_secret *secret,
                                                   struct gpnn_error *err);

/* Numbers that 'seed' determines: of no use to protect anyone. */
void gpnn_secret_insecure(struct gpnn_secret *secret, uint64_t seed);

/* The keystream that begins with block 'counter' of a key of 8 words and a nonce of 3. */
void gpnn_secret_keyed(struct gpnn_secret *secret, const uint32_t key[8], uint32_t counter,
                       const uint32_t nonce[3]);

/* The next 32 bits. */
uint32_t gpnn_secret_word(struct gpnn_secret *secret);

/* A uniform deviate in (0, 1): the middle of one of 2^51 equal parts of an interval from 2^-(k+1)
 * to 2^-k, which is drawn first, for k up to 992.  Its relative error is that of a double, so that
 * quantiles of it have right tails. */
double gpnn_secret_uniform(struct gpnn_secret *secret);

/* Forgets key and numbers. */
void gpnn_secret_end(struct gpnn_secret *secret);

#endif
