/*
 * Holding out whole groups of rows for calibration.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/training/training_private.h"

/* Rows as read, and their groups. */
struct grouped {
  size_t n, n_groups, width;
  const double *read;  /* n by width; the number of the group comes last, unless there is a: */
  const uint32_t *set; /* n: the group of each row; NULL: there is none */
  struct gpnn_mapping mapping;
  size_t *n_rows;   /* owned; of each group */
  uint32_t *number; /* owned; of each group among those that stay, from 0; UINT32_MAX: held out */
};

static uint32_t group_of(const struct grouped *grouped, size_t row)
{
  if (grouped->set != NULL) return grouped->set[row];
  return (uint32_t)grouped->read[(row + 1) * grouped->width - 1];
}

/* Evicts the pages behind a pass that reaches 'row', stretch by stretch. */
static void evict_behind(const struct grouped *grouped, size_t row)
{
  size_t stretch = GPNN_MAPPING_STRIDE / (grouped->width * sizeof *grouped->read) + 1;
  if (row == 0 || row % stretch != 0 || grouped->set != NULL) return;
  gpnn_mapping_evict(grouped->mapping, grouped->read + (row - stretch) * grouped->width,
                     stretch * grouped->width * sizeof *grouped->read);
}

static enum gpnn_status count_rows(struct grouped *grouped, struct gpnn_error *err)
{
  grouped->n_rows = gpnn_alloc(grouped->n_groups, 1, sizeof *grouped->n_rows);
  grouped->number = gpnn_alloc(grouped->n_groups, 1, sizeof *grouped->number);
  if (grouped->n_rows == NULL || grouped->number == NULL)
    return gpnn_fail_memory(err, "for the groups of rows");
  for (size_t i = 0; i < grouped->n; i++) {
    grouped->n_rows[group_of(grouped, i)]++;
    evict_behind(grouped, i);
  }
  return GPNN_OK;
}

/* Holds out groups in random order until their rows are enough, passing over those that would make
 * them more than twice as many; of sets of copies, one of which may have nearly all rows, at most
 * half.  Returns how many rows they are. */
static size_t take_in_order(struct grouped *grouped, const uint64_t *order, size_t wanted)
{
  size_t total = 0, left = grouped->set == NULL ? grouped->n_groups : grouped->n_groups / 2;
  for (size_t i = 0; i < grouped->n_groups && total < wanted && left > 0; i++) {
    if (grouped->n_rows[order[i]] > 2 * wanted - total) continue;
    total += grouped->n_rows[order[i]];
    left--;
    grouped->number[order[i]] = UINT32_MAX;
  }
  return total;
}

/* Holds out the smallest of the groups passed over, which is more than enough, unless fewer than
 * half of the rows would remain.  Returns how many rows are held out now. */
static size_t take_smallest(struct grouped *grouped, size_t total)
{
  size_t smallest = SIZE_MAX, n_rows = SIZE_MAX;
  for (size_t g = 0; g < grouped->n_groups; g++)
    if (grouped->number[g] != UINT32_MAX && grouped->n_rows[g] < n_rows) {
      smallest = g;
      n_rows = grouped->n_rows[g];
    }
  if (smallest == SIZE_MAX || n_rows > grouped->n / 2 - total) return total;
  grouped->number[smallest] = UINT32_MAX;
  return total + n_rows;
}

/* Numbers the groups that stay; returns how many they are. */
static size_t number_groups(struct grouped *grouped)
{
  uint32_t n = 0;
  for (size_t g = 0; g < grouped->n_groups; g++)
    if (grouped->number[g] != UINT32_MAX) grouped->number[g] = n++;
  return n;
}

/* Chooses the groups to hold out, and numbers the others. */
static enum gpnn_status choose_groups(struct grouped *grouped, struct gpnn_rng *rng, size_t wanted,
                                      size_t *n_held_out, size_t *n_left, struct gpnn_error *err)
{
  uint64_t *order = gpnn_alloc(grouped->n_groups, 1, sizeof *order);
  if (order == NULL) return gpnn_fail_memory(err, "for the groups of rows");
  enum gpnn_status status = gpnn_rng_sample(rng, grouped->n_groups, grouped->n_groups, order, err);
  if (status == GPNN_OK) {
    size_t total = take_in_order(grouped, order, wanted);
    bool may_take_more = grouped->set == NULL || total == 0;
    if (may_take_more && total < wanted && total <= grouped->n / 2)
      total = take_smallest(grouped, total);
    if (total == 0 && wanted > 0)
      status = gpnn_fail(err, GPNN_EDATA,
                         "no group of rows is small enough to hold out for calibration: give "
                         "--calibration-rows 0");
    *n_held_out = total;
    *n_left = number_groups(grouped);
  }
  free(order);
  return status;
}

/* Lists the rows of the groups held out, and sets the groups of the others. */
static void divide(const struct grouped *grouped, uint64_t *ascending, uint32_t *row_group)
{
  for (size_t i = 0; i < grouped->n; i++) {
    uint32_t number = grouped->number[group_of(grouped, i)];
    if (number == UINT32_MAX)
      *ascending++ = i;
    else
      *row_group++ = number;
    evict_behind(grouped, i);
  }
}

/* Puts the 'n' rows in random order. */
static enum gpnn_status shuffle(struct gpnn_rng *rng, size_t n, const uint64_t *ascending,
                                uint64_t *drawn, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_rng_sample(rng, n, n, drawn, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) drawn[i] = ascending[drawn[i]];
  return status;
}

/* Notes by what the groups that stay and those of the rows 'drawn' are known. */
static enum gpnn_status note_keys(struct gpnn_training *training, const struct grouped *grouped,
                                  size_t c, const uint64_t *drawn, struct gpnn_error *err)
{
  const struct gpnn_groups *groups = &training->groups;
  size_t n = training->dataset.n_row_groups;
  if (grouped->set != NULL) return GPNN_OK;
  uint64_t *key = gpnn_alloc(grouped->n_groups, 1, sizeof *key);
  training->group_keys = gpnn_alloc(n + c, 1, sizeof *training->group_keys);
  bool enough = key != NULL && training->group_keys != NULL;
  for (size_t i = 0; i < groups->n_slots && enough; i++)
    if (groups->slots[i].number > 0) key[groups->slots[i].number - 1] = groups->slots[i].hash;
  for (size_t g = 0; g < grouped->n_groups && enough; g++)
    if (grouped->number[g] != UINT32_MAX) training->group_keys[grouped->number[g]] = key[g];
  for (size_t i = 0; i < c && enough; i++)
    training->group_keys[n + i] = key[group_of(grouped, drawn[i])];
  training->dataset.group_keys = training->group_keys;
  free(key);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the groups of rows");
}

static enum gpnn_status draw(struct gpnn_training *training, struct grouped *grouped,
                             struct gpnn_rng *rng, size_t wanted, size_t *c, uint64_t **drawn,
                             uint64_t **ascending, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &training->dataset;
  char name[GPNN_MASK_BYTES];
  enum { LEAST_GROUPS = 2 }; /* of one group, no row could be left out and predicted */
  if (grouped->n_groups < LEAST_GROUPS)
    return gpnn_fail(err, GPNN_EDATA, "column '%s' has the same value in all rows",
                     gpnn_mask(name, dataset->schema.by.name, strlen(dataset->schema.by.name)));
  enum gpnn_status status = count_rows(grouped, err);
  if (status == GPNN_OK)
    status = choose_groups(grouped, rng, wanted, c, &dataset->n_row_groups, err);
  if (status != GPNN_OK) return status;
  if (dataset->n_row_groups < LEAST_GROUPS)
    return gpnn_fail(err, GPNN_EDATA,
                     "%zu groups of rows are too few to hold one out for calibration: give "
                     "--calibration-rows 0",
                     grouped->n_groups);
  *drawn = gpnn_alloc(*c, 1, sizeof **drawn);
  *ascending = gpnn_alloc(*c, 1, sizeof **ascending);
  training->row_group = gpnn_alloc(grouped->n - *c, 1, sizeof *training->row_group);
  if (*drawn == NULL || *ascending == NULL || training->row_group == NULL)
    return gpnn_fail_memory(err, "for the groups of rows");
  divide(grouped, *ascending, training->row_group);
  dataset->row_group = training->row_group;
  status = shuffle(rng, *c, *ascending, *drawn, err);
  return status == GPNN_OK ? note_keys(training, grouped, *c, *drawn, err) : status;
}

enum gpnn_status gpnn_training_draw_groups(struct gpnn_training *training, uint64_t seed,
                                           size_t wanted, size_t *n_held_out, uint64_t **drawn,
                                           uint64_t **ascending, struct gpnn_error *err)
{
  struct grouped grouped = {.n = training->n,
                            .n_groups =
                                training->set == NULL ? training->groups.n : training->n_sets,
                            .width = training->width,
                            .read = training->read.numbers,
                            .set = training->set,
                            .mapping = gpnn_spool_mapping(&training->read)};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_HOLD_OUT);
  enum gpnn_status status =
      draw(training, &grouped, &rng, wanted, n_held_out, drawn, ascending, err);
  free(grouped.n_rows);
  free(grouped.number);
  return status;
}
