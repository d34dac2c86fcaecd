/*
 * Nearby rows have many neighbours in common.  Orders rows so that nearby ones follow each other,
 * and decides which of them to predict together from the union of their neighbours, with a single
 * factorisation.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/local/local_private.h"
#include "search/proximity.h"

/* ---- order -------------------------------------------------------------------------------- */

enum gpnn_status gpnn_local_order(const struct gpnn_local_channel *channel,
                                  const struct gpnn_query *query, size_t *order,
                                  struct gpnn_error *err)
{
  size_t n = query->n, d = channel->data->d;
  double *z = gpnn_alloc(n, d, sizeof *z);
  if (z == NULL) return gpnn_fail_memory(err, "for the order of rows");
  for (size_t i = 0; i < n; i++) {
    const double *x = gpnn_local_rotate(channel, query->x + i * d, z + i * d);
    for (size_t j = 0; j < d; j++) z[i * d + j] = x[j] * channel->metric->inverse[j];
  }
  gpnn_proximity_order(n, d, z, order);
  free(z);
  return GPNN_OK;
}

/* ---- groups ------------------------------------------------------------------------------- */

/* The slot of 'row' in the hash table, or the empty slot where it belongs. */
static size_t slot_of(const struct gpnn_local_union *u, int64_t row)
{
  size_t at = (size_t)(((uint64_t)row * 0x9e3779b97f4a7c15u) >> 32) & u->mask;
  while (u->slot[at] != 0 && u->row[u->slot[at] - 1] != row) at = (at + 1) & u->mask;
  return at;
}

/* Counts the candidates, at most k, and in '*fresh' those that are not in the union yet. */
static size_t count(const struct gpnn_local_union *u, size_t k, const int64_t *candidates,
                    size_t *fresh)
{
  size_t m = 0;
  *fresh = 0;
  for (; m < k && candidates[m] >= 0; m++) *fresh += u->slot[slot_of(u, candidates[m])] == 0;
  return m;
}

/* Adds 'm' candidates to the union, which has space for them. */
static void add(struct gpnn_local_union *u, size_t m, const int64_t *candidates)
{
  for (size_t c = 0; c < m; c++) {
    size_t at = slot_of(u, candidates[c]);
    if (u->slot[at] != 0) continue;
    u->row[u->n] = candidates[c];
    u->slot[at] = (uint32_t)++u->n;
  }
}

/* Operations needed to predict n rows from m neighbours (gpnn-methods(7), equation 3.17): a
 * factorisation, n solves, and the covariances, whose exponentials cost as much as some solves. */
static double cost(size_t n, size_t m)
{
  const double covariances = 20;
  double rows = (double)m;
  return rows * rows * (rows / 3 + (double)n + covariances);
}

void gpnn_local_gather_group(const struct gpnn_local_task *task, struct gpnn_local_scratch *scratch,
                             size_t n, const size_t *row, const double *x, size_t k,
                             const int64_t *candidates, struct gpnn_local_group *group)
{
  struct gpnn_local_union *u = &scratch->joint;
  size_t n_grouped = 0, most = n < task->share ? n : task->share;
  memset(u->slot, 0, (u->mask + 1) * sizeof *u->slot);
  u->n = 0;
  for (; n_grouped < most; n_grouped++, candidates += k) {
    size_t fresh, own = count(u, k, candidates, &fresh), both = u->n + fresh;
    if (n_grouped > 0 && (both > task->most_neighbours ||
                          cost(n_grouped + 1, both) > cost(n_grouped, u->n) + cost(1, own)))
      break;
    add(u, own, candidates);
    u->nearest[n_grouped] = own == 0 ? 0 : u->slot[slot_of(u, candidates[0])] - 1;
  }
  *group = (struct gpnn_local_group){n_grouped, row, x, u->n, u->row, u->nearest};
}
