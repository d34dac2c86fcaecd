/*
 * Rows at one place (search_engine.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/search_private.h"

/* So many rows at one place cost hardly more than one: they fit a leaf. */
enum { CROWD = GPNN_TREE_LEAF };

/* A table of the last row met at each place, by a hash of the row: the upper half of a slot is the
 * upper half of the hash, so that hardly any row is compared with another that is not its like. */
struct meetings {
  size_t mask;
  uint64_t *slots;
};

static const uint64_t vacant = UINT64_MAX; /* no row has this number */

static bool meetings_init(struct meetings *meetings, size_t n)
{
  size_t size = 16;
  while (size < 2 * n) size *= 2;
  meetings->mask = size - 1;
  meetings->slots = gpnn_alloc(size, 1, sizeof *meetings->slots);
  if (meetings->slots == NULL) return false;
  for (size_t i = 0; i < size; i++) meetings->slots[i] = vacant;
  return true;
}

/* Of the numbers' bits, all of which reach the upper half. */
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

/* The slot of row 'i': that of its place, or a vacant one. */
static uint64_t *find_slot(const struct meetings *meetings, const struct gpnn_points *points,
                           size_t i, uint64_t hash)
{
  size_t d = points->d, at = (size_t)hash & meetings->mask;
  const double *row = points->x + i * d;
  for (;; at = (at + 1) & meetings->mask) {
    uint64_t *slot = &meetings->slots[at];
    if (*slot == vacant) return slot;
    if (*slot >> 32 == hash >> 32 &&
        memcmp(points->x + (*slot & UINT32_MAX) * d, row, d * sizeof *row) == 0)
      return slot;
  }
}

/* Sets next[i] for all rows, and writes the first of each place; returns how many there are. */
static size_t meet(const struct gpnn_points *points, const struct meetings *meetings,
                   uint32_t *next, uint32_t *first)
{
  size_t n = points->n, d = points->d, n_places = 0, released = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t hash = hash_of(d, points->x + i * d);
    uint64_t *slot = find_slot(meetings, points, i, hash);
    next[i] = 0;
    if (*slot == vacant)
      first[n_places++] = (uint32_t)i;
    else
      next[*slot & UINT32_MAX] = (uint32_t)i;
    *slot = (hash >> 32) << 32 | i;
    if ((i - released) * d * sizeof(double) < GPNN_MAPPING_STRIDE) continue;
    gpnn_mapping_evict(points->mapping, points->x + released * d,
                       (i - released) * d * sizeof(double));
    released = i;
  }
  return n_places;
}

/* Whether any place has more rows than one leaf. */
static bool is_crowded(size_t n_places, const uint32_t *first, const uint32_t *next)
{
  for (size_t p = 0; p < n_places; p++) {
    size_t count = 1;
    for (uint32_t row = next[first[p]]; row != 0 && count <= CROWD; row = next[row]) count++;
    if (count > CROWD) return true;
  }
  return false;
}

bool gpnn_points_meet(struct gpnn_points *points, uint32_t **owned)
{
  size_t n = points->n;
  struct meetings meetings = {0};
  *owned = NULL;
  points->n_places = n;
  if (n <= CROWD || n >= UINT32_MAX) return true;
  uint32_t *next = gpnn_alloc(n, 2, sizeof *next), *first = next == NULL ? NULL : next + n;
  bool enough = next != NULL && meetings_init(&meetings, n);
  size_t n_places = enough ? meet(points, &meetings, next, first) : 0;
  free(meetings.slots);
  if (!enough || n_places == n || !is_crowded(n_places, first, next)) {
    free(next);
    return enough;
  }
  *owned = realloc(next, (n + n_places) * sizeof *next);
  if (*owned == NULL) *owned = next;
  gpnn_points_share(points, n_places, *owned);
  return true;
}

void gpnn_points_share(struct gpnn_points *points, size_t n_places, const uint32_t *places)
{
  points->n_places = n_places;
  points->next = places;
  points->first = places + points->n;
}

void gpnn_points_let_go(const struct gpnn_points *points, size_t begin, size_t end)
{
  size_t from = gpnn_points_first(points, begin), last = gpnn_points_first(points, end - 1);
  if (last < from) return;
  gpnn_mapping_evict(points->mapping, points->x + from * points->d,
                     (last + 1 - from) * points->d * sizeof *points->x);
}
