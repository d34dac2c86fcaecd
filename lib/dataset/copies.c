#include "dataset/copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/missing.h"

/* ---- hashes -------------------------------------------------------------------------------- */

/* The finaliser of MurmurHash3, a bijection whose output bits depend on all input bits. */
static uint64_t mix(uint64_t h)
{
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

static uint64_t add_number(uint64_t h, double value)
{
  uint64_t bits;
  double positive = value == 0 ? 0 : isnan(value) ? (double)NAN : value; /* -0 is 0 */
  memcpy(&bits, &positive, sizeof bits);
  return mix((h + 0x9e3779b97f4a7c15u) ^ mix(bits));
}

/* Of d inputs and, unless it is NaN, a target. */
static uint64_t hash_row(size_t d, const double *x, double y)
{
  uint64_t h = 0;
  for (size_t j = 0; j < d; j++) h = add_number(h, x[j]);
  return isnan(y) ? h : add_number(h, y);
}

/* A hash of one number of a row alone, its target if it has one. */
static uint64_t hash_number(double first_input, double y)
{
  return add_number(0, isnan(y) ? first_input : y);
}

enum gpnn_status gpnn_copies_add(struct gpnn_copies *copies, const struct gpnn_dataset *dataset,
                                 const double *x, double y, struct gpnn_error *err)
{
  if (copies->n == GPNN_COPIES_ROWS) return GPNN_OK;
  if (!gpnn_grow(&copies->hash, &copies->capacity, copies->n + 1, sizeof *copies->hash) ||
      !gpnn_grow(&copies->key, &copies->key_capacity, copies->n + 1, sizeof *copies->key))
    return gpnn_fail_memory(err, "to find training rows among the rows");
  copies->key[copies->n] = hash_number(x[0], y);
  copies->hash[copies->n++] = hash_row(dataset->d, x, y);
  return GPNN_OK;
}

/* ---- counting ------------------------------------------------------------------------------ */

/* Rows of one hash: those to predict, those drawn from the training rows, all training rows. */
struct entry {
  uint64_t hash;
  size_t n, n_drawn, n_training;
};

static int compare_entries(const void *a, const void *b)
{
  uint64_t left = ((const struct entry *)a)->hash, right = ((const struct entry *)b)->hash;
  return (left > right) - (left < right);
}

/* Sorts entries and makes one of all that have the same hash; returns how many there are. */
static size_t merge_entries(size_t n, struct entry *entries)
{
  size_t kept = 0;
  qsort(entries, n, sizeof *entries, compare_entries);
  for (size_t i = 0; i < n; i++) {
    if (kept > 0 && entries[kept - 1].hash == entries[i].hash) {
      entries[kept - 1].n += entries[i].n;
      entries[kept - 1].n_drawn += entries[i].n_drawn;
    } else {
      entries[kept++] = entries[i];
    }
  }
  return kept;
}

/* As tables have it, without what was filled in; 'x' is scratch of d numbers. */
static uint64_t hash_training_row(const struct gpnn_dataset *dataset, size_t i, bool has_target,
                                  double *x)
{
  gpnn_missing_restore(dataset, i, x);
  return hash_row(dataset->d, x, has_target ? dataset->y[i] : NAN);
}

/* Which hashes of one number there are, so that most training rows need not be looked at whole: a
 * bit for each value of the lowest bits. */
struct sieve {
  uint64_t *words; /* owned */
};

enum { SIEVE_BITS = 1 << 22 };

static void sieve_add(struct sieve *sieve, uint64_t key)
{
  sieve->words[key % SIEVE_BITS / 64] |= (uint64_t)1 << key % 64;
}

/* The same of training row 'i'; true if what it lacked was filled in, so that this is not known. */
static bool find_key(const struct gpnn_dataset *dataset, size_t i, bool has_target, uint64_t *key)
{
  double y = has_target ? dataset->y[i] : NAN;
  *key = hash_number(dataset->x[i * dataset->d], y);
  return isnan(y) && dataset->lacks != NULL;
}

/* False: the training row is none of those sought. */
static bool may_be_among(const struct sieve *sieve, const struct gpnn_dataset *dataset, size_t i,
                         bool has_target)
{
  uint64_t key;
  return find_key(dataset, i, has_target, &key) ||
         (sieve->words[key % SIEVE_BITS / 64] >> key % 64 & 1) != 0;
}

/* Counts for each entry how many training rows have its hash. */
static void count_training(const struct gpnn_dataset *dataset, const struct sieve *sieve,
                           bool has_target, size_t n, struct entry *entries, double *x)
{
  for (size_t i = 0; i < dataset->n; i++) {
    if (!may_be_among(sieve, dataset, i, has_target)) continue;
    const struct entry key = {.hash = hash_training_row(dataset, i, has_target, x)};
    struct entry *found = bsearch(&key, entries, n, sizeof key, compare_entries);
    if (found != NULL) found->n_training++;
  }
}

/* Adds up the entries, into all but the numbers of rows. */
static void sum_up(size_t n, const struct entry *entries, struct gpnn_copies_report *report)
{
  for (size_t i = 0; i < n; i++) {
    if (entries[i].n_training > 0) report->n_copies += entries[i].n;
    if (entries[i].n_training > 1) report->n_twins += entries[i].n_drawn;
  }
}

enum gpnn_status gpnn_copies_count(const struct gpnn_copies *copies,
                                   const struct gpnn_dataset *dataset, bool has_target,
                                   struct gpnn_copies_report *report, struct gpnn_error *err)
{
  enum { DRAWN = 10000 };
  size_t n = copies->n, drawn = dataset->n < DRAWN ? dataset->n : DRAWN, step = dataset->n / drawn;
  *report = (struct gpnn_copies_report){.n = n, .n_training = drawn};
  if (n == 0) return GPNN_OK;
  struct entry *entries = gpnn_alloc(n + drawn, 1, sizeof *entries);
  double *x = gpnn_alloc(dataset->d, 1, sizeof *x);
  struct sieve sieve = {gpnn_alloc(SIEVE_BITS / 64, 1, sizeof *sieve.words)};
  bool enough = entries != NULL && x != NULL && sieve.words != NULL;
  for (size_t i = 0; i < n && enough; i++) {
    entries[i] = (struct entry){.hash = copies->hash[i], .n = 1};
    sieve_add(&sieve, copies->key[i]);
  }
  for (size_t i = 0; i < drawn && enough; i++) {
    uint64_t key;
    entries[n + i] =
        (struct entry){.hash = hash_training_row(dataset, i * step, has_target, x), .n_drawn = 1};
    (void)find_key(dataset, i * step, has_target, &key);
    sieve_add(&sieve, key);
  }
  if (enough) {
    size_t n_entries = merge_entries(n + drawn, entries);
    count_training(dataset, &sieve, has_target, n_entries, entries, x);
    sum_up(n_entries, entries, report);
  }
  free(entries);
  free(x);
  free(sieve.words);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "to find training rows among the rows");
}

bool gpnn_copies_exceed_chance(const struct gpnn_copies_report *report)
{
  enum { FEWEST = 5 };
  static const double least_share = 0.1, standard_errors = 3;
  if (report->n_copies < FEWEST) return false;
  double n = (double)report->n, share = (double)report->n_copies / n;
  double chance = (double)report->n_twins / (double)report->n_training;
  double error = sqrt(chance * (1 - chance) * (1 / n + 1 / (double)report->n_training));
  return share > least_share && share - chance > least_share * (1 - chance) &&
         share - chance > standard_errors * error;
}

void gpnn_copies_release(struct gpnn_copies *copies)
{
  free(copies->hash);
  free(copies->key);
  *copies = (struct gpnn_copies){0};
}
