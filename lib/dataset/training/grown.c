#include "dataset/training/grown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "container/container.h"
#include "dataset/missing.h"
#include "dataset/training/training_private.h"
#include "table/date.h"

/* ---- beginning ----------------------------------------------------------------------------- */

/* What of an index cannot grow; NULL: it can. */
static const char *obstacle(const struct gpnn_dataset *old)
{
  if (old->grid != NULL) return "a grid index cannot grow: make it anew";
  if (old->stored != NULL) return "a model file has no training rows: let its index grow";
  if (gpnn_dataset_has_copies(old) && gpnn_schema_has_codes(&old->schema))
    return "its rows have copies, which are not known by coded columns: make it anew";
  if (old->row_group != NULL && old->schema.has_by && old->group_keys == NULL)
    return "it does not say which groups its rows are of (--by): make it anew";
  return NULL;
}

enum gpnn_status gpnn_grown_check(const struct gpnn_dataset *old, struct gpnn_error *err)
{
  const char *why = obstacle(old);
  return why == NULL ? GPNN_OK : gpnn_fail(err, GPNN_EMISMATCH, "%s", why);
}

/* True of parameters with a state, whose numbers would be those of other rows. */
static bool belong_to_rows(const struct gpnn_packed *packed)
{
  enum gpnn_container_kind kind;
  return packed->parameters != NULL &&
         gpnn_container_recognise(packed->parameters, packed->parameters_length, &kind);
}

static bool may_get_levels(const struct gpnn_column *column)
{
  return column->kind == GPNN_COLUMN_CODED || column->kind == GPNN_COLUMN_EFFECT;
}

/* Copies 'n' items of an array that may be NULL. */
static bool copy_items(void *to, const void *from, size_t n, size_t item_bytes)
{
  if (from == NULL) return true;
  void *copy = gpnn_alloc(n, 1, item_bytes);
  if (copy == NULL) return false;
  memcpy(copy, from, n * item_bytes);
  memcpy(to, &copy, sizeof copy);
  return true;
}

/* Makes inputs of 'grown' that may get levels; those of 'old' stay borrowed. */
static bool copy_inputs(struct gpnn_grown *grown)
{
  const struct gpnn_schema *old = &grown->old->schema;
  if (!copy_items(&grown->inputs, old->inputs, old->n_inputs, sizeof *old->inputs)) return false;
  grown->dataset.schema.inputs = grown->inputs;
  for (size_t i = 0; i < old->n_inputs; i++) {
    struct gpnn_column *to = &grown->inputs[i];
    if (!may_get_levels(to)) continue;
    to->levels = NULL;
    to->level_lengths = NULL;
    to->codes = to->later = NULL;
  }
  bool enough = true;
  for (size_t i = 0; i < old->n_inputs && enough; i++) {
    const struct gpnn_column *from = &old->inputs[i];
    struct gpnn_column *to = &grown->inputs[i];
    size_t n = from->n_levels;
    if (may_get_levels(from))
      enough =
          copy_items(&to->levels, from->levels, n, sizeof *from->levels) &&
          copy_items(&to->level_lengths, from->level_lengths, n, sizeof *from->level_lengths) &&
          copy_items(&to->codes, from->codes, n, sizeof *from->codes) &&
          copy_items(&to->later, from->later, from->n_later, sizeof *from->later);
  }
  return enough;
}

static void release_inputs(struct gpnn_grown *grown)
{
  for (size_t i = 0; grown->inputs != NULL && i < grown->old->schema.n_inputs; i++) {
    struct gpnn_column *column = &grown->inputs[i];
    if (!may_get_levels(column)) continue;
    for (size_t l = grown->old->schema.inputs[i].n_levels; l < column->n_levels; l++)
      free(column->levels[l]);
    free(column->levels);
    free(column->level_lengths);
    free(column->codes);
    free(column->later);
  }
  free(grown->inputs);
}

enum gpnn_status gpnn_grown_begin(struct gpnn_grown *grown, const struct gpnn_dataset *old,
                                  const char *beside, const char *volatile *watch,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_grown_check(old, err);
  grown->old = old;
  grown->beside = beside;
  grown->watch = watch;
  if (status != GPNN_OK) return status;
  if (old->ids != NULL && !gpnn_ids_are_good(old->ids))
    return gpnn_fail(err, GPNN_EFORMAT, GPNN_IDS_DAMAGED);
  grown->dataset = *old;
  grown->has_dropped = belong_to_rows(&old->packed);
  if (grown->has_dropped) grown->dataset.packed = (struct gpnn_packed){0};
  if (!copy_inputs(grown)) return gpnn_fail_memory(err, "for the levels of categories");
  grown->is_forgotten = gpnn_alloc(old->n + old->n_calibration, 1, sizeof *grown->is_forgotten);
  if (grown->is_forgotten == NULL) return gpnn_fail_memory(err, "for the rows");
  return gpnn_training_drawn(old, &grown->drawn, err);
}

/* ---- forgetting ---------------------------------------------------------------------------- */

void gpnn_grown_forget_oldest(struct gpnn_grown *grown, uint64_t n)
{
  const struct gpnn_dataset *old = grown->old;
  size_t n_all = old->n + old->n_calibration, first = n < n_all ? (size_t)n : n_all;
  size_t of_training = first;
  for (size_t j = 0; j < old->n_calibration; j++) {
    if (grown->drawn[j] >= first) continue;
    grown->is_forgotten[old->n + j] = true;
    of_training--;
  }
  for (size_t i = 0; i < of_training; i++) grown->is_forgotten[i] = true;
}

/* The standardised input that is the number or date called 'name', and its column; SIZE_MAX: there
 * is none. */
static size_t find_input(const struct gpnn_dataset *old, const char *name, size_t length,
                         const struct gpnn_column **column)
{
  for (size_t j = 0; j < old->d && old->coordinates != NULL; j++) {
    const struct gpnn_column *input = &old->schema.inputs[old->coordinates[j].input];
    if (input->kind != GPNN_COLUMN_NUMBER || strlen(input->name) != length ||
        memcmp(input->name, name, length) != 0)
      continue;
    *column = input;
    return j;
  }
  return SIZE_MAX;
}

static bool read_value(const struct gpnn_column *column, const char *text, double *value)
{
  if (column->date == NULL) return gpnn_number_read(text, strlen(text), value) == GPNN_NUMBER_OK;
  return gpnn_date_read(column->date, text, strlen(text), value) == GPNN_DATE_OK ||
         gpnn_date_read(GPNN_DATE_ISO, text, strlen(text), value) == GPNN_DATE_OK;
}

/* 'value' of input 'j' as the rows have it. */
static enum gpnn_status standardise(const struct gpnn_dataset *old, size_t j, double *value,
                                    struct gpnn_error *err)
{
  size_t n = gpnn_schema_features(&old->schema);
  double *features = gpnn_alloc(n, 1, sizeof *features), *z = gpnn_alloc(n, 1, sizeof *z);
  if (features != NULL && z != NULL) {
    features[old->coordinates[j].feature] = *value;
    gpnn_scaling_apply(&old->scaling, features, z);
    *value = z[j];
  }
  bool enough = features != NULL && z != NULL;
  free(features);
  free(z);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for a row");
}

enum gpnn_status gpnn_grown_forget_below(struct gpnn_grown *grown, const char *name, size_t length,
                                         const char *value, struct gpnn_error *err)
{
  const struct gpnn_dataset *old = grown->old;
  const struct gpnn_column *column;
  char shown[GPNN_MASK_BYTES], of[GPNN_MASK_BYTES];
  size_t d = old->d, j = find_input(old, name, length, &column);
  double limit;
  if (j == SIZE_MAX)
    return gpnn_fail(err, GPNN_EINVAL, "no input '%s' that is a number or a date by itself",
                     gpnn_mask(shown, name, length));
  if (!read_value(column, value, &limit))
    return gpnn_fail(err, GPNN_EINVAL, "\"%s\" is not a %s, as input '%s' is",
                     gpnn_mask(shown, value, strlen(value)),
                     column->date == NULL ? "number" : "date", gpnn_schema_column_name(column, of));
  enum gpnn_status status = standardise(old, j, &limit, err);
  for (size_t i = 0; i < old->n && status == GPNN_OK; i++)
    if (old->x[i * d + j] < limit &&
        (old->lacks == NULL || !gpnn_lacks(old->lacks + i * gpnn_lacks_bytes(old->schema.n_inputs),
                                           old->coordinates[j].input)))
      grown->is_forgotten[i] = true;
  for (size_t i = 0; i < old->n_calibration && status == GPNN_OK; i++)
    if (old->calibration_x[i * d + j] < limit) grown->is_forgotten[old->n + i] = true;
  return status;
}

/* ---- the end ------------------------------------------------------------------------------- */

void gpnn_grown_release(struct gpnn_grown *grown)
{
  release_inputs(grown);
  free(grown->is_forgotten);
  free(grown->drawn);
  gpnn_spool_release(&grown->added);
  gpnn_spool_release(&grown->rows);
  free(grown->held_out);
  free(grown->numbers);
  free(grown->lacks);
  free(grown->row_group);
  free(grown->keys);
  free(grown->group_keys);
  gpnn_ids_release(&grown->new_ids);
  gpnn_ids_release(&grown->ids);
  *grown = (struct gpnn_grown)GPNN_GROWN_INIT;
}
