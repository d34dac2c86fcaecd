/*
 * The groups of rows in an index that grows: those of a column, by the hashes of its texts, and
 * sets of copies, by what their numbers are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/missing.h"
#include "dataset/training/grown_private.h"
#include "dataset/training/layout_private.h"
#include "dataset/training/training_private.h"
#include "table/groups.h"

/* ---- which rows belong together ------------------------------------------------------------ */

/* Groups by the text that rows have in common. */
struct finding {
  const struct gpnn_grown *grown;
  struct gpnn_layout layout;
  double *grain, *row;      /* owned; of each input, and a row, in which they are whole grains */
  struct gpnn_groups texts; /* owned */
  uint32_t *of_text;        /* owned; the group of each text */
  size_t n_texts, capacity, n_groups;
  size_t n_compared; /* numbers of a row that copies have in common */
  bool contradicts;  /* rows of the index that have them in common are not in one group, or not
                        together held out */
};

/* Rounds the inputs of the row, which copies may have with different numbers of digits, and writes
 * what is equal alike. */
static void round_row(struct finding *f)
{
  size_t width = gpnn_layout_width(&f->layout);
  for (size_t j = 0; j < width; j++) {
    bool is_rounded = j < f->layout.d && f->grain[j] > 0;
    double number = is_rounded ? floor(f->row[j] / f->grain[j]) : f->row[j];
    f->row[j] = isnan(number) ? NAN : number == 0 ? 0 : number;
  }
}

/* Row 'i' of all, as a text. */
static void take_row(struct finding *f, size_t i)
{
  const struct gpnn_dataset *old = f->grown->old;
  size_t width = gpnn_layout_width(&f->layout), n = old->n, c = old->n_calibration;
  if (i < n + c)
    gpnn_layout_take(&f->layout, old, i >= n, i < n ? i : i - n, f->row);
  else
    memcpy(f->row, f->grown->added.numbers + (i - n - c) * width, width * sizeof *f->row);
  if (i < n && old->lacks != NULL) gpnn_missing_restore(old, i, f->row);
  round_row(f);
}

/* By what the group of row 'i' is known, where it is one of a column. */
static const uint64_t *key_of(const struct gpnn_grown *grown, size_t i)
{
  const struct gpnn_dataset *old = grown->old;
  size_t n = old->n, first = n + old->n_calibration;
  if (i < n) return &old->group_keys[old->row_group[i]];
  return i < first ? &old->group_keys[old->n_row_groups + i - n] : &grown->keys[i - first];
}

/* The group of row 'i': 'own', which the index says, or that of its text, or another. */
static enum gpnn_status find_group(struct finding *f, size_t i, const uint32_t *own,
                                   uint32_t *group, struct gpnn_error *err)
{
  const struct gpnn_dataset *old = f->grown->old;
  bool has_by = old->schema.has_by, is_held = i >= old->n && i < old->n + old->n_calibration;
  size_t length = has_by ? sizeof(uint64_t) : f->n_compared * sizeof *f->row;
  uint32_t text;
  if (!has_by) take_row(f, i);
  const void *own_text = has_by ? (const void *)key_of(f->grown, i) : f->row;
  enum gpnn_status status = gpnn_groups_number(&f->texts, own_text, length, &text, err);
  if (status != GPNN_OK) return status;
  if (f->texts.n > f->n_texts) {
    if (!gpnn_grow(&f->of_text, &f->capacity, f->texts.n, sizeof *f->of_text))
      return gpnn_fail_memory(err, "for the groups of rows");
    f->of_text[text] = own != NULL ? *own : (uint32_t)f->n_groups++;
    f->n_texts = f->texts.n;
  }
  /* Groups of training rows come first. */
  f->contradicts = f->contradicts || (own != NULL && f->of_text[text] != *own) ||
                   (is_held && f->of_text[text] < old->n_row_groups);
  *group = own != NULL ? *own : f->of_text[text];
  return GPNN_OK;
}

static void learn_grains(struct finding *f, size_t n_rows)
{
  enum { MOST = GPNN_TRAINING_GRAIN_ROWS };
  const struct gpnn_dataset *old = f->grown->old;
  double value[MOST];
  size_t n = old->n < MOST ? old->n : MOST;
  for (size_t j = 0; j < old->d; j++) {
    for (size_t i = 0; i < n; i++) value[i] = old->x[i * (old->n / n) * old->d + j];
    f->grain[j] = gpnn_training_grain(n_rows, n, value);
  }
}

static enum gpnn_status begin(struct finding *f, size_t n, struct gpnn_grown_groups *groups,
                              struct gpnn_error *err)
{
  const struct gpnn_dataset *old = f->grown->old;
  f->layout = gpnn_layout_of(&old->scaling, &old->schema);
  f->row = gpnn_alloc(gpnn_layout_width(&f->layout), 1, sizeof *f->row);
  f->grain = gpnn_alloc(old->d, 1, sizeof *f->grain);
  groups->of_row = gpnn_alloc(n, 1, sizeof *groups->of_row);
  if (f->row == NULL || f->grain == NULL || groups->of_row == NULL)
    return gpnn_fail_memory(err, "for the groups of rows");
  learn_grains(f, n);
  for (size_t i = 0; i < old->n; i++)
    if (old->row_group[i] >= old->n_row_groups)
      return gpnn_fail(err, GPNN_EFORMAT, "a row has a group that there is not");
  return GPNN_OK;
}

/* Finds the groups of all 'n' rows; those of copies are known by the first numbers of a row. */
static enum gpnn_status find_groups(struct finding *f, size_t n, size_t n_compared,
                                    uint32_t *of_row, struct gpnn_error *err)
{
  const struct gpnn_dataset *old = f->grown->old;
  enum gpnn_status status = GPNN_OK;
  gpnn_groups_release(&f->texts);
  f->n_texts = 0;
  f->n_groups = old->n_row_groups;
  f->n_compared = n_compared;
  f->contradicts = false;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = find_group(f, i, i < old->n ? &old->row_group[i] : NULL, &of_row[i], err);
  return status;
}

/* Notes which groups have rows of the index, and where these are; training has the last word. */
static enum gpnn_status place_groups(const struct gpnn_grown *grown,
                                     struct gpnn_grown_groups *groups, struct gpnn_error *err)
{
  const struct gpnn_dataset *old = grown->old;
  groups->place = gpnn_alloc(groups->n, 1, sizeof *groups->place);
  if (groups->place == NULL) return gpnn_fail_memory(err, "for the groups of rows");
  for (size_t i = old->n; i < old->n + old->n_calibration; i++)
    groups->place[groups->of_row[i]] = GPNN_GROWN_HELD;
  for (size_t i = 0; i < old->n; i++) groups->place[groups->of_row[i]] = GPNN_GROWN_TRAINS;
  return GPNN_OK;
}

static enum gpnn_status note_keys(const struct gpnn_grown *grown, size_t n,
                                  struct gpnn_grown_groups *groups, struct gpnn_error *err)
{
  groups->key = gpnn_alloc(groups->n, 1, sizeof *groups->key);
  if (groups->key == NULL) return gpnn_fail_memory(err, "for the groups of rows");
  for (size_t i = 0; i < n; i++) groups->key[groups->of_row[i]] = *key_of(grown, i);
  return GPNN_OK;
}

enum gpnn_status gpnn_grown_groups_find(const struct gpnn_grown *grown,
                                        struct gpnn_grown_groups *groups, struct gpnn_error *err)
{
  const struct gpnn_dataset *old = grown->old;
  struct finding f = {.grown = grown};
  size_t n = old->n + old->n_calibration + grown->n_added;
  if (old->row_group == NULL) return GPNN_OK;
  enum gpnn_status status = begin(&f, n, groups, err);
  /* Whether copies are equal in inputs, or in targets too, shows in the rows of the index. */
  if (status == GPNN_OK) status = find_groups(&f, n, old->d, groups->of_row, err);
  if (status == GPNN_OK && f.contradicts && !old->schema.has_by)
    status = find_groups(&f, n, gpnn_layout_width(&f.layout), groups->of_row, err);
  groups->n = f.n_groups;
  if (status == GPNN_OK) status = place_groups(grown, groups, err);
  if (status == GPNN_OK && old->schema.has_by) status = note_keys(grown, n, groups, err);
  gpnn_groups_release(&f.texts);
  free(f.of_text);
  free(f.row);
  free(f.grain);
  return status;
}

/* ---- which of them are held out ------------------------------------------------------------ */

/* How many rows of each group could be held out: those of calibration that stay, and those added.
 */
static void count_rows(const struct gpnn_grown *grown, const struct gpnn_grown_groups *groups,
                       size_t *n_rows)
{
  size_t n = grown->old->n, c = grown->old->n_calibration;
  for (size_t i = n; i < n + c; i++) n_rows[groups->of_row[i]] += !grown->is_forgotten[i];
  for (size_t i = n + c; i < n + c + grown->n_added; i++) n_rows[groups->of_row[i]]++;
}

/* Rows that are added to groups that are held out already. */
static size_t count_forced(const struct gpnn_grown *grown, const struct gpnn_grown_groups *groups)
{
  size_t first = grown->old->n + grown->old->n_calibration, n = 0;
  for (size_t i = first; i < first + grown->n_added; i++)
    n += groups->place[groups->of_row[i]] == GPNN_GROWN_HELD;
  return n;
}

enum gpnn_status gpnn_grown_groups_choose(const struct gpnn_grown *grown,
                                          struct gpnn_grown_groups *groups, struct gpnn_rng *rng,
                                          double expected, size_t wanted, size_t *n,
                                          struct gpnn_error *err)
{
  uint64_t *order = gpnn_alloc(groups->n, 1, sizeof *order);
  size_t *n_rows = gpnn_alloc(groups->n, 1, sizeof *n_rows), total = 0;
  size_t of_new = count_forced(grown, groups);
  enum gpnn_status status = order == NULL || n_rows == NULL
                                ? gpnn_fail_memory(err, "for the groups of rows")
                                : gpnn_rng_sample(rng, groups->n, groups->n, order, err);
  if (status == GPNN_OK) count_rows(grown, groups, n_rows);
  for (size_t k = 0; k < groups->n && status == GPNN_OK; k++) {
    size_t g = order[k];
    bool is_wanted = (double)of_new + (double)n_rows[g] * gpnn_rng_uniform(rng) < expected;
    if (groups->place[g] == GPNN_GROWN_NEW) {
      groups->place[g] = is_wanted ? GPNN_GROWN_HELD : GPNN_GROWN_TRAINS;
      of_new += is_wanted ? n_rows[g] : 0;
    }
    if (groups->place[g] == GPNN_GROWN_HELD) total += n_rows[g];
  }
  for (size_t k = groups->n; k-- > 0 && status == GPNN_OK;) {
    size_t g = order[k];
    if (groups->place[g] != GPNN_GROWN_HELD || total - n_rows[g] < wanted) continue;
    groups->place[g] = GPNN_GROWN_TRAINS;
    total -= n_rows[g];
  }
  *n = total;
  free(order);
  free(n_rows);
  return status;
}

void gpnn_grown_groups_release(struct gpnn_grown_groups *groups)
{
  free(groups->of_row);
  free(groups->key);
  free(groups->place);
  *groups = (struct gpnn_grown_groups){0};
}
