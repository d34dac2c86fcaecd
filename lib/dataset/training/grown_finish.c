/*
 * Making one dataset of the rows of an index and those that are added to it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/missing.h"
#include "dataset/training/grown_private.h"
#include "dataset/training/layout_private.h"
#include "dataset/training/training_private.h"
#include "stats/incomplete.h"
#include "stats/row_source.h"

/* A calibration row of the index. */
struct held {
  uint64_t number; /* among all rows of the index */
  size_t row;      /* among those of calibration */
};

/* The normal distribution of those inputs that rows may lack, from which they are filled in. */
struct filling {
  size_t n, *columns; /* owned; n of the standardised inputs */
  double *cells, *scratch;
  struct gpnn_incomplete fitted;
  bool is_ready;
};

struct assembly {
  struct gpnn_grown *grown;
  struct gpnn_layout layout;
  size_t width, n_old, n_kept;     /* numbers of a row; rows of the index that stay, in all and of
                                      calibration */
  struct held *held;               /* owned; the calibration rows of the index by their numbers */
  struct gpnn_grown_groups groups; /* owned */
  uint32_t *number;    /* owned; of groups->n: 1 + what each is called from now on; 0: it has
                          no row so far */
  size_t *place;       /* owned; for each calibration row of the index, and then */
  uint32_t *new_place; /* owned; for each row added: 1 + its number among the calibration
                          rows from now on, or 0: it is a training row */
  double *row, *block; /* owned; a row, and those not yet written */
  size_t n_of_block, n_written, n_through; /* and rows that are through */
  struct filling filling;
};

static int compare_held(const void *a, const void *b)
{
  uint64_t left = ((const struct held *)a)->number, right = ((const struct held *)b)->number;
  return (left > right) - (left < right);
}

/* ---- which rows are held out --------------------------------------------------------------- */

/* As many as keep their share of all rows, up to the default, and never fewer for that. */
static size_t count_wanted(const struct assembly *a)
{
  const struct gpnn_dataset *old = a->grown->old;
  size_t total = a->n_old + a->grown->n_added, most = GPNN_TRAINING_HELD_OUT;
  double share = (double)old->n_calibration / (double)(old->n + old->n_calibration);
  size_t wanted = (size_t)(share * (double)total + 0.5);
  if (a->n_kept > most) most = a->n_kept;
  return wanted < most ? wanted : most;
}

/* Holds out 'n_new' random rows of those added, at random places among 'n', and at the others, in
 * their order, calibration rows of the index: these are a random sample of its rows in random
 * order, so the first of them are too, and so are all together. */
static enum gpnn_status place_rows(struct assembly *a, struct gpnn_rng *rng, size_t n, size_t n_new,
                                   struct gpnn_error *err)
{
  const struct gpnn_grown *grown = a->grown;
  uint64_t *row = gpnn_alloc(n_new, 1, sizeof *row), *place = gpnn_alloc(n_new, 1, sizeof *place);
  bool *is_taken = gpnn_alloc(n, 1, sizeof *is_taken);
  enum gpnn_status status = row == NULL || place == NULL || is_taken == NULL
                                ? gpnn_fail_memory(err, "for the calibration rows")
                                : gpnn_rng_sample(rng, grown->n_added, n_new, row, err);
  if (status == GPNN_OK) status = gpnn_rng_sample(rng, n, n_new, place, err);
  for (size_t i = 0; i < n_new && status == GPNN_OK; i++) {
    a->new_place[row[i]] = (uint32_t)place[i] + 1;
    is_taken[place[i]] = true;
  }
  for (size_t i = 0, next = 0; i < n && status == GPNN_OK; i++) {
    if (is_taken[i]) continue;
    while (grown->is_forgotten[grown->old->n + next]) next++;
    a->place[next++] = i + 1;
  }
  free(row);
  free(place);
  free(is_taken);
  return status;
}

/* Holds out the 'n' rows of the groups that are to be, in random order. */
static enum gpnn_status place_groups(struct assembly *a, struct gpnn_rng *rng, size_t n,
                                     struct gpnn_error *err)
{
  const struct gpnn_grown *grown = a->grown;
  size_t first = grown->old->n, c = grown->old->n_calibration, k = 0;
  uint64_t *place = gpnn_alloc(n, 1, sizeof *place);
  if (place == NULL) return gpnn_fail_memory(err, "for the calibration rows");
  enum gpnn_status status = gpnn_rng_sample(rng, n, n, place, err);
  for (size_t i = 0; i < c + grown->n_added && status == GPNN_OK; i++) {
    bool is_forgotten = i < c && grown->is_forgotten[first + i];
    if (is_forgotten || a->groups.place[a->groups.of_row[first + i]] != GPNN_GROWN_HELD) continue;
    size_t at = place[k++] + 1;
    if (i < c)
      a->place[i] = at;
    else
      a->new_place[i - c] = (uint32_t)at;
  }
  free(place);
  return status;
}

/* The rows added have their share of the calibration rows, to a whole number at random. */
static enum gpnn_status choose(struct assembly *a, struct gpnn_error *err)
{
  struct gpnn_grown *grown = a->grown;
  size_t n_added = grown->n_added, total = a->n_old + n_added;
  size_t wanted = n_added == 0 ? a->n_kept : count_wanted(a), n;
  bool has_groups = a->groups.n > 0;
  enum gpnn_status status = GPNN_OK;
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, grown->old->seed, GPNN_RNG_HOLD_OUT, grown->old->fingerprint);
  double expected = total == 0 ? 0 : (double)wanted * (double)n_added / (double)total;
  size_t n_new = (size_t)(expected + gpnn_rng_uniform(&rng));
  if (n_new > n_added) n_new = n_added;
  if (n_new > wanted) n_new = wanted;
  n = wanted - n_new < a->n_kept ? wanted : n_new + a->n_kept;
  if (has_groups)
    status = gpnn_grown_groups_choose(grown, &a->groups, &rng, expected, wanted, &n, err);
  if (status != GPNN_OK) return status;
  grown->dataset.n_calibration = n;
  grown->dataset.n = total - n;
  if (total < n + 2)
    return gpnn_fail(err, GPNN_EDATA, "%zu rows would be left, too few to train on", total);
  return has_groups ? place_groups(a, &rng, n, err) : place_rows(a, &rng, n, n_new, err);
}

/* ---- what rows lack ------------------------------------------------------------------------ */

/* Inputs that are no categories may be missing. */
static enum gpnn_status begin_filling(struct filling *f, const struct gpnn_dataset *old,
                                      struct gpnn_error *err)
{
  enum { MOST = 20000 };
  size_t d = old->d, n = old->n < MOST ? old->n : MOST;
  f->columns = gpnn_alloc(d, 1, sizeof *f->columns);
  for (size_t j = 0; j < d && f->columns != NULL; j++)
    if (old->schema.inputs[old->coordinates[j].input].kind != GPNN_COLUMN_CATEGORY)
      f->columns[f->n++] = j;
  f->cells = gpnn_alloc(d, 1, sizeof *f->cells);
  f->scratch = gpnn_alloc(gpnn_incomplete_scratch(f->n), 1, sizeof *f->scratch);
  double *sample = gpnn_alloc(n, f->n, sizeof *sample), *x = gpnn_alloc(d, 1, sizeof *x);
  enum gpnn_status status = GPNN_OK;
  if (f->columns == NULL || f->cells == NULL || f->scratch == NULL || sample == NULL || x == NULL)
    status = gpnn_fail_memory(err, "for what rows lack");
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    gpnn_missing_restore(old, (size_t)((double)i / (double)n * (double)old->n), x);
    for (size_t c = 0; c < f->n; c++) sample[i * f->n + c] = x[f->columns[c]];
  }
  if (status == GPNN_OK) status = gpnn_incomplete_fit(&f->fitted, n, f->n, sample, err);
  f->is_ready = status == GPNN_OK;
  free(sample);
  free(x);
  return status;
}

/* Notes what a row lacks, and fills it in. */
static enum gpnn_status fill_in(struct assembly *a, double *x, unsigned char *lacks,
                                struct gpnn_error *err)
{
  const struct gpnn_dataset *old = a->grown->old;
  struct filling *f = &a->filling;
  enum gpnn_status status = f->is_ready ? GPNN_OK : begin_filling(f, old, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < old->d; j++) {
    const struct gpnn_column *column = &old->schema.inputs[old->coordinates[j].input];
    if (!isnan(x[j])) continue;
    gpnn_lacks_note(lacks, old->coordinates[j].input);
    if (column->kind == GPNN_COLUMN_LATITUDE) gpnn_lacks_note(lacks, column->partner);
  }
  for (size_t c = 0; c < f->n; c++) f->cells[c] = x[f->columns[c]];
  status = gpnn_incomplete_complete(&f->fitted, f->cells, f->scratch, err);
  for (size_t c = 0; c < f->n; c++) x[f->columns[c]] = f->cells[c];
  return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Writes training rows once they are a block, or all. */
static enum gpnn_status write_block(struct assembly *a, size_t count, struct gpnn_error *err)
{
  struct gpnn_grown *grown = a->grown;
  size_t from = a->n_written;
  if (a->n_of_block < count) return GPNN_OK;
  a->n_of_block = 0;
  a->n_written += count;
  return gpnn_layout_write(&grown->rows, &a->layout, grown->dataset.n, from, count, a->block, err);
}

/* Notes the group of training row 'row', which was 'i' of all. */
static void note_group(struct assembly *a, size_t row, size_t i)
{
  struct gpnn_grown *grown = a->grown;
  uint32_t *number = &a->number[a->groups.of_row[i]];
  if (*number == 0) *number = (uint32_t)++grown->dataset.n_row_groups;
  grown->row_group[row] = *number - 1;
}

/* Adds the row in 'a->row', number 'i' of those of the index, by training and calibration, and then
 * those added.  It is to be calibration row 'place' - 1, or for 0 a training row that lacked
 * 'lacks', if that is known. */
static enum gpnn_status add_row(struct assembly *a, size_t i, size_t place,
                                const unsigned char *lacks, struct gpnn_error *err)
{
  struct gpnn_grown *grown = a->grown;
  size_t c = grown->dataset.n_calibration, block = gpnn_row_source_block(a->width);
  size_t left = grown->dataset.n - a->n_written, count = left < block ? left : block;
  size_t bytes = gpnn_lacks_bytes(grown->old->schema.n_inputs);
  enum gpnn_status status = GPNN_OK;
  uint64_t number = a->n_through++;
  if (place > 0) {
    gpnn_layout_put(&a->layout, a->row, c, place - 1, grown->held_out);
    grown->numbers[place - 1] = number;
    if (grown->group_keys != NULL)
      grown->group_keys[place - 1] = a->groups.key[a->groups.of_row[i]];
    return GPNN_OK;
  }
  if (grown->row_group != NULL) note_group(a, a->n_written + a->n_of_block, i);
  unsigned char *own =
      grown->lacks == NULL ? NULL : grown->lacks + (a->n_written + a->n_of_block) * bytes;
  if (own != NULL && lacks != NULL) memcpy(own, lacks, bytes);
  if (own != NULL && lacks == NULL && gpnn_row_is_incomplete(a->layout.d, a->row))
    status = fill_in(a, a->row, own, err);
  gpnn_layout_put(&a->layout, a->row, count, a->n_of_block++, a->block);
  return status == GPNN_OK ? write_block(a, count, err) : status;
}

/* Adds the id of row 'number' of 'ids', unless there are none. */
static enum gpnn_status add_id(struct assembly *a, const struct gpnn_ids *ids, size_t number,
                               struct gpnn_error *err)
{
  size_t length;
  if (a->grown->old->ids == NULL) return GPNN_OK;
  const char *text = gpnn_ids_get(ids, number, &length);
  return gpnn_ids_add(&a->grown->ids, text, length, err);
}

/* Adds the rows of the index that are not forgotten, in the order in which they came. */
static enum gpnn_status add_old(struct assembly *a, struct gpnn_error *err)
{
  const struct gpnn_grown *grown = a->grown;
  const struct gpnn_dataset *old = grown->old;
  size_t bytes = gpnn_lacks_bytes(old->schema.n_inputs), i = 0, h = 0;
  enum gpnn_status status = GPNN_OK;
  while (i + h < old->n + old->n_calibration && status == GPNN_OK) {
    size_t number = i + h;
    bool is_held = h < old->n_calibration && (i == old->n || a->held[h].number == number);
    size_t row = is_held ? a->held[h++].row : i++;
    size_t of_all = is_held ? old->n + row : row;
    if (grown->is_forgotten[of_all]) continue;
    gpnn_layout_take(&a->layout, old, is_held, row, a->row);
    status = add_row(a, of_all, is_held ? a->place[row] : 0,
                     is_held || old->lacks == NULL ? NULL : old->lacks + row * bytes, err);
    if (status == GPNN_OK) status = add_id(a, old->ids, number, err);
  }
  return status;
}

static enum gpnn_status add_new(struct assembly *a, struct gpnn_error *err)
{
  const struct gpnn_grown *grown = a->grown;
  size_t first = grown->old->n + grown->old->n_calibration;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < grown->n_added && status == GPNN_OK; i++) {
    memcpy(a->row, grown->added.numbers + i * a->width, a->width * sizeof *a->row);
    status = add_row(a, first + i, a->new_place[i], NULL, err);
    if (status == GPNN_OK) status = add_id(a, &grown->new_ids.ids, i, err);
  }
  return status;
}

/* ---- drift --------------------------------------------------------------------------------- */

/* How far the mean of number 'at' of the rows added is from that of the training rows, in their
 * standard deviations. */
static double find_shift(const struct assembly *a, size_t at)
{
  enum { MOST = 1 << 16 };
  const struct gpnn_grown *grown = a->grown;
  const struct gpnn_dataset *old = grown->old;
  const double *first = at < old->d ? old->x + at : old->y;
  size_t step = old->n / MOST + 1, stride = at < old->d ? old->d : 1;
  double n = 0, mean = 0, squares = 0, n_new = 0, sum = 0;
  for (size_t i = 0; i < old->n; i += step) {
    double y = first[i * stride], before = mean;
    if (isnan(y)) continue;
    mean += (y - before) / ++n;
    squares += (y - before) * (y - mean);
  }
  for (size_t i = 0; i < grown->n_added; i++) {
    double y = grown->added.numbers[i * a->width + at];
    if (isnan(y)) continue;
    n_new++;
    sum += y;
  }
  return squares > 0 && n_new > 0 ? (sum / n_new - mean) / sqrt(squares / n) : 0;
}

static void find_drift(const struct assembly *a)
{
  struct gpnn_grown_shift *drift = &a->grown->drift;
  const struct gpnn_dataset *old = a->grown->old;
  *drift = (struct gpnn_grown_shift){.coordinate = SIZE_MAX};
  if (a->grown->n_added == 0) return;
  for (size_t j = 0; j < old->d; j++) {
    double shift = find_shift(a, j);
    if (fabs(shift) <= fabs(drift->input)) continue;
    drift->coordinate = j;
    drift->input = shift;
  }
  if (!gpnn_schema_has_classes(&old->schema, 0)) drift->target = find_shift(a, old->d);
}

/* ---- the dataset --------------------------------------------------------------------------- */

static enum gpnn_status allocate(struct assembly *a, struct gpnn_error *err)
{
  struct gpnn_grown *grown = a->grown;
  const struct gpnn_dataset *old = grown->old;
  size_t c = old->n_calibration;
  a->held = gpnn_alloc(c, 1, sizeof *a->held);
  a->place = gpnn_alloc(c, 1, sizeof *a->place);
  a->new_place = gpnn_alloc(grown->n_added, 1, sizeof *a->new_place);
  a->row = gpnn_alloc(a->width, 1, sizeof *a->row);
  a->block = gpnn_alloc(gpnn_row_source_block(a->width), a->width, sizeof *a->block);
  if (a->held == NULL || a->place == NULL || a->new_place == NULL || a->row == NULL ||
      a->block == NULL)
    return gpnn_fail_memory(err, "for the rows");
  for (size_t j = 0; j < c; j++) {
    a->held[j] = (struct held){grown->drawn[j], j};
    a->n_kept += !grown->is_forgotten[old->n + j];
  }
  qsort(a->held, c, sizeof *a->held, compare_held);
  for (size_t i = 0; i < old->n; i++) a->n_old += !grown->is_forgotten[i];
  a->n_old += a->n_kept;
  grown->n_forgotten = old->n + c - a->n_old;
  return GPNN_OK;
}

/* Makes room for their groups, and keys of those of a column: of calibration rows, and then of
 * groups. */
static enum gpnn_status begin_groups(struct assembly *a, struct gpnn_error *err)
{
  struct gpnn_grown *grown = a->grown;
  size_t n = a->groups.n, c = grown->dataset.n_calibration;
  if (n == 0) return GPNN_OK;
  grown->row_group = gpnn_alloc(grown->dataset.n, 1, sizeof *grown->row_group);
  a->number = gpnn_alloc(n, 1, sizeof *a->number);
  grown->dataset.n_row_groups = 0;
  if (a->groups.key != NULL) grown->group_keys = gpnn_alloc(c + n, 1, sizeof *grown->group_keys);
  if (grown->row_group == NULL || a->number == NULL ||
      (a->groups.key != NULL && grown->group_keys == NULL))
    return gpnn_fail_memory(err, "for the groups of rows");
  return GPNN_OK;
}

/* Puts the keys of the groups that train before those of the calibration rows. */
static enum gpnn_status finish_groups(struct assembly *a, struct gpnn_error *err)
{
  struct gpnn_grown *grown = a->grown;
  struct gpnn_dataset *dataset = &grown->dataset;
  size_t n = dataset->n_row_groups, c = dataset->n_calibration;
  dataset->row_group = grown->row_group;
  dataset->group_keys = grown->group_keys;
  if (a->groups.n > 0 && n < 2)
    return gpnn_fail(err, GPNN_EDATA, "fewer than two groups of rows would be left to train on");
  if (grown->group_keys == NULL) return GPNN_OK;
  memmove(grown->group_keys + n, grown->group_keys, c * sizeof *grown->group_keys);
  for (size_t g = 0; g < a->groups.n; g++)
    if (a->number[g] > 0) grown->group_keys[a->number[g] - 1] = a->groups.key[g];
  return GPNN_OK;
}

/* Makes room for the rows; what they lack is noted if any may lack something. */
static enum gpnn_status begin_rows(struct assembly *a, struct gpnn_error *err)
{
  struct gpnn_grown *grown = a->grown;
  struct gpnn_dataset *dataset = &grown->dataset;
  size_t c = dataset->n_calibration, bytes = gpnn_lacks_bytes(grown->old->schema.n_inputs);
  grown->held_out = gpnn_alloc(c, a->width, sizeof *grown->held_out);
  grown->numbers = gpnn_alloc(c, 1, sizeof *grown->numbers);
  bool may_lack = grown->old->lacks != NULL || (grown->n_added > 0 && !grown->are_complete);
  if (may_lack) grown->lacks = gpnn_alloc(dataset->n, bytes, 1);
  if (grown->held_out == NULL || grown->numbers == NULL || (may_lack && grown->lacks == NULL))
    return gpnn_fail_memory(err, "for the rows");
  return gpnn_spool_create(&grown->rows, grown->beside, grown->watch, err);
}

/* True if some of the 'n' targets is there. */
static bool is_there(size_t n, const double *y)
{
  size_t i = 0;
  while (i < n && isnan(y[i])) i++;
  return i < n;
}

static enum gpnn_status check_targets(const struct gpnn_dataset *rows, struct gpnn_error *err)
{
  for (size_t t = 0; t <= rows->n_more; t++)
    if (!is_there(rows->n, t == 0 ? rows->y : rows->more + (t - 1) * rows->n))
      return gpnn_fail(err, GPNN_EDATA, "no training row would be left that has target '%s'",
                       gpnn_schema_target(&rows->schema, t)->name);
  return GPNN_OK;
}

/* All that is not about single rows stays as it is in the index, but for levels. */
static void begin_dataset(struct gpnn_grown *grown)
{
  struct gpnn_dataset *dataset = &grown->dataset;
  dataset->n_skipped += grown->skipped.n;
  dataset->source = NULL;
  dataset->target = 0;
  dataset->is_partial = false;
  dataset->fingerprint = 0;
}

enum gpnn_status gpnn_grown_finish(struct gpnn_grown *grown, struct gpnn_error *err)
{
  const struct gpnn_dataset *old = grown->old;
  struct assembly a = {.grown = grown, .layout = gpnn_layout_of(&old->scaling, &old->schema)};
  struct gpnn_dataset *dataset = &grown->dataset;
  a.width = gpnn_layout_width(&a.layout);
  begin_dataset(grown);
  enum gpnn_status status = allocate(&a, err);
  if (status == GPNN_OK) status = gpnn_grown_groups_find(grown, &a.groups, err);
  if (status == GPNN_OK) status = choose(&a, err);
  if (status == GPNN_OK) status = begin_groups(&a, err);
  if (status == GPNN_OK) status = begin_rows(&a, err);
  if (status == GPNN_OK) status = add_old(&a, err);
  if (status == GPNN_OK) status = add_new(&a, err);
  if (status == GPNN_OK) status = gpnn_spool_map(&grown->rows, err);
  if (status == GPNN_OK) {
    gpnn_layout_point(dataset, dataset->n, &a.layout, &grown->rows, grown->held_out);
    dataset->held_out = dataset->n_calibration > 0 ? grown->numbers : NULL;
    dataset->lacks = grown->lacks;
    if (old->ids != NULL) dataset->ids = &grown->ids.ids;
    find_drift(&a);
    status = check_targets(dataset, err);
  }
  if (status == GPNN_OK) status = finish_groups(&a, err);
  gpnn_incomplete_release(&a.filling.fitted);
  free(a.filling.columns);
  free(a.filling.cells);
  free(a.filling.scratch);
  gpnn_grown_groups_release(&a.groups);
  free(a.number);
  free(a.held);
  free(a.place);
  free(a.new_place);
  free(a.row);
  free(a.block);
  return status;
}
