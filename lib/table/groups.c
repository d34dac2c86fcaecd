#include "table/groups.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"

/* The slot of a hash, or the empty one that it goes to; at least one slot is empty. */
static struct gpnn_groups_slot *find(struct gpnn_groups_slot *slots, size_t n_slots, uint64_t hash)
{
  size_t at = (size_t)hash & (n_slots - 1);
  while (slots[at].number != 0 && slots[at].hash != hash) at = (at + 1) & (n_slots - 1);
  return &slots[at];
}

/* Keeps at least half of the slots empty. */
static enum gpnn_status grow(struct gpnn_groups *groups, struct gpnn_error *err)
{
  enum { LEAST = 64 };
  if (groups->n < groups->n_slots / 2) return GPNN_OK;
  size_t n_slots = groups->n_slots == 0 ? LEAST : 2 * groups->n_slots;
  struct gpnn_groups_slot *slots = gpnn_alloc(n_slots, 1, sizeof *slots);
  if (slots == NULL) return gpnn_fail_memory(err, "for the groups of rows");
  for (size_t i = 0; i < groups->n_slots; i++)
    if (groups->slots[i].number != 0)
      *find(slots, n_slots, groups->slots[i].hash) = groups->slots[i];
  free(groups->slots);
  groups->slots = slots;
  groups->n_slots = n_slots;
  return GPNN_OK;
}

uint64_t gpnn_groups_key(const char *name, size_t length)
{
  return gpnn_rng_hash(0, name, length);
}

enum gpnn_status gpnn_groups_number(struct gpnn_groups *groups, const char *name, size_t length,
                                    uint32_t *number, struct gpnn_error *err)
{
  enum gpnn_status status = grow(groups, err);
  if (status != GPNN_OK) return status;
  uint64_t hash = gpnn_groups_key(name, length);
  struct gpnn_groups_slot *slot = find(groups->slots, groups->n_slots, hash);
  if (slot->number == 0) {
    if (groups->n >= UINT32_MAX - 1) return gpnn_fail(err, GPNN_EDATA, "there are too many groups");
    *slot = (struct gpnn_groups_slot){hash, (uint32_t)++groups->n};
  }
  *number = slot->number - 1;
  return GPNN_OK;
}

void gpnn_groups_release(struct gpnn_groups *groups)
{
  free(groups->slots);
  *groups = (struct gpnn_groups){0};
}
