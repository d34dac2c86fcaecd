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

/* Keeps at least half of the slots empty; makes room for 'room' groups at first. */
static enum gpnn_status grow(struct gpnn_groups *groups, size_t room, struct gpnn_error *err)
{
  enum { LEAST = 64 };
  if (groups->n < groups->n_slots / 2) return GPNN_OK;
  size_t n_slots = groups->n_slots == 0 ? LEAST : 2 * groups->n_slots;
  while (groups->n_slots == 0 && n_slots / 2 <= room && n_slots <= SIZE_MAX / 4) n_slots *= 2;
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

static enum gpnn_status number_of(struct gpnn_groups *groups, uint64_t hash, uint32_t *number,
                                  struct gpnn_error *err)
{
  struct gpnn_groups_slot *slot = find(groups->slots, groups->n_slots, hash);
  if (slot->number == 0) {
    if (groups->n >= UINT32_MAX - 1) return gpnn_fail(err, GPNN_EDATA, "there are too many groups");
    *slot = (struct gpnn_groups_slot){hash, (uint32_t)++groups->n};
  }
  *number = slot->number - 1;
  return GPNN_OK;
}

enum gpnn_status gpnn_groups_number(struct gpnn_groups *groups, const char *name, size_t length,
                                    uint32_t *number, struct gpnn_error *err)
{
  enum gpnn_status status = grow(groups, 0, err);
  if (status != GPNN_OK) return status;
  return number_of(groups, gpnn_groups_key(name, length), number, err);
}

enum gpnn_status gpnn_groups_number_all(struct gpnn_groups *groups, size_t room, size_t n,
                                        const uint64_t *name, uint32_t *number,
                                        struct gpnn_error *err)
{
  enum { AHEAD = 16 };
  uint64_t key[AHEAD];
  enum gpnn_status status = GPNN_OK;
  for (size_t from = 0; from < n && status == GPNN_OK; from += AHEAD) {
    size_t count = n - from < AHEAD ? n - from : AHEAD;
    status = grow(groups, room, err);
    for (size_t i = 0; i < count && status == GPNN_OK; i++) {
      key[i] = gpnn_groups_key((const char *)&name[from + i], sizeof *name);
      __builtin_prefetch(&groups->slots[key[i] & (groups->n_slots - 1)], 1);
    }
    for (size_t i = 0; i < count && status == GPNN_OK; i++)
      status = number_of(groups, key[i], &number[from + i], err);
  }
  return status;
}

void gpnn_groups_release(struct gpnn_groups *groups)
{
  free(groups->slots);
  *groups = (struct gpnn_groups){0};
}
