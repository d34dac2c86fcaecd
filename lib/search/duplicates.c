/*
 * Identical rows: found once, by hashing, so that engines search distinct rows only.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/repeats.h"
#include "search/search_private.h"

/* Up to this many copies of a row cost hardly more than one: they fit a leaf of a tree. */
enum { FEW_COPIES = GPNN_TREE_LEAF };

/* A hash of the row's bits, each of which affects its upper half. */
static uint64_t hash_of(size_t d, const double *row)
{
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (size_t j = 0; j < d; j++) {
    uint64_t bits;
    memcpy(&bits, row + j, sizeof bits);
    hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash * 0xc4ceb9fe1a85ec53u;
}

/* Evicts the rows from '*evicted' to 'end', once they are many. */
static void evict_behind(const struct gpnn_search_points *points, size_t *evicted, size_t end)
{
  size_t d = points->d, bytes = (end - *evicted) * d * sizeof *points->x;
  if (bytes < GPNN_MAPPING_STRIDE) return;
  gpnn_mapping_evict(points->mapping, points->x + *evicted * d, bytes);
  *evicted = end;
}

/* ---- whether there are many copies ---- */

/* Whether a hash comes so often among 'n', which are sorted, that rows may have many copies. */
static bool is_frequent(size_t n, uint64_t *hash)
{
  qsort(hash, n, sizeof *hash, gpnn_compare_uint64s);
  for (size_t i = FEW_COPIES - 1; i < n; i++)
    if (hash[i] == hash[i + 1 - FEW_COPIES]) return true;
  return false;
}

/* Whether any row may have more than FEW_COPIES copies; '*enough' becomes false if memory has run
 * out.  Most tables have hardly any, which shows without a table of all rows. */
static bool may_have_many(const struct gpnn_search_points *points, bool *enough)
{
  enum { TOGETHER = 1024, FEW_IN = 16 };
  struct gpnn_repeats repeats = {0};
  size_t n = points->n, most = n / FEW_IN + TOGETHER, n_again = 0, evicted = 0, count;
  uint64_t hash[TOGETHER], *again = gpnn_alloc(most, 1, sizeof *again);
  *enough = again != NULL && gpnn_repeats_init(&repeats, n);
  for (size_t from = 0; *enough && from < n && n_again <= most - TOGETHER; from += count) {
    count = n - from < TOGETHER ? n - from : TOGETHER;
    for (size_t i = 0; i < count; i++)
      hash[i] = hash_of(points->d, points->x + (from + i) * points->d);
    n_again += gpnn_repeats_add(&repeats, count, hash, again + n_again);
    evict_behind(points, &evicted, from + count);
  }
  bool may = *enough && (n_again > most - TOGETHER || is_frequent(n_again, again));
  gpnn_repeats_release(&repeats);
  free(again);
  return may;
}

/* ---- which rows are copies ---- */

/* A hash table with the latest copy of each row.  The upper half of a slot is the upper half of the
 * hash, so that rows that differ are hardly ever compared. */
struct hash_table {
  size_t mask;
  uint64_t *slots;
};

static const uint64_t empty = UINT64_MAX; /* greater than any row number */

static bool hash_table_init(struct hash_table *table, size_t n)
{
  size_t size = 16;
  while (size < 2 * n) size *= 2;
  table->mask = size - 1;
  table->slots = gpnn_alloc(size, 1, sizeof *table->slots);
  if (table->slots == NULL) return false;
  for (size_t i = 0; i < size; i++) table->slots[i] = empty;
  return true;
}

/* The slot of rows identical to row 'i', or an empty one. */
static uint64_t *find_slot(const struct hash_table *table, const struct gpnn_search_points *points,
                           size_t i, uint64_t hash)
{
  size_t d = points->d, at = (size_t)hash & table->mask;
  const double *row = points->x + i * d;
  for (;; at = (at + 1) & table->mask) {
    uint64_t *slot = &table->slots[at];
    if (*slot == empty) return slot;
    if (*slot >> 32 == hash >> 32 &&
        memcmp(points->x + (*slot & UINT32_MAX) * d, row, d * sizeof *row) == 0)
      return slot;
  }
}

/* Sets next[i] of every row and the first row of each distinct one; returns how many are distinct.
 */
static size_t merge(const struct gpnn_search_points *points, const struct hash_table *table,
                    uint32_t *next, uint32_t *first)
{
  enum { AHEAD = 16 };
  size_t n = points->n, d = points->d, n_distinct = 0, evicted = 0;
  uint64_t hashes[AHEAD];
  for (size_t i = 0; i < n; i++) {
    for (size_t j = i; i % AHEAD == 0 && j < i + AHEAD && j < n; j++) {
      hashes[j - i] = hash_of(d, points->x + j * d);
      __builtin_prefetch(&table->slots[hashes[j - i] & table->mask], 1);
    }
    uint64_t hash = hashes[i % AHEAD];
    uint64_t *slot = find_slot(table, points, i, hash);
    next[i] = 0;
    if (*slot == empty)
      first[n_distinct++] = (uint32_t)i;
    else
      next[*slot & UINT32_MAX] = (uint32_t)i;
    *slot = (hash >> 32) << 32 | i;
    evict_behind(points, &evicted, i);
  }
  return n_distinct;
}

/* True if any row has enough copies to slow a search. */
static bool has_many_copies(size_t n_distinct, const uint32_t *first, const uint32_t *next)
{
  for (size_t i = 0; i < n_distinct; i++) {
    size_t count = 1;
    for (uint32_t row = next[first[i]]; row != 0 && count <= FEW_COPIES; row = next[row]) count++;
    if (count > FEW_COPIES) return true;
  }
  return false;
}

/* Gives back what 'array' has beyond 'n' numbers, if the system takes it. */
static uint32_t *shrink(uint32_t *array, size_t n)
{
  uint32_t *shrunk = realloc(array, n * sizeof *array);
  if (shrunk != NULL) return shrunk;
  return array;
}

bool gpnn_duplicates_find(struct gpnn_search_points *points, uint32_t **owned)
{
  size_t n = points->n;
  struct hash_table table = {0};
  *owned = NULL;
  points->n_distinct = n;
  bool enough = true;
  if (n <= FEW_COPIES || n >= UINT32_MAX || !may_have_many(points, &enough)) return enough;
  uint32_t *next = gpnn_alloc(n, 2, sizeof *next), *first = next == NULL ? NULL : next + n;
  enough = next != NULL && hash_table_init(&table, n);
  size_t n_distinct = enough ? merge(points, &table, next, first) : 0;
  free(table.slots);
  if (!enough || n_distinct == n || !has_many_copies(n_distinct, first, next)) {
    free(next);
    return enough;
  }
  *owned = shrink(next, n + n_distinct);
  gpnn_duplicates_set(points, n_distinct, *owned);
  return true;
}

void gpnn_duplicates_set(struct gpnn_search_points *points, size_t n_distinct,
                         const uint32_t *next_and_first)
{
  points->n_distinct = n_distinct;
  points->next = next_and_first;
  points->first = next_and_first + points->n;
}

void gpnn_search_points_evict(const struct gpnn_search_points *points, size_t begin, size_t end)
{
  size_t from = gpnn_duplicates_first(points, begin), last = gpnn_duplicates_first(points, end - 1);
  if (last < from) return;
  gpnn_mapping_evict(points->mapping, points->x + from * points->d,
                     (last + 1 - from) * points->d * sizeof *points->x);
}
