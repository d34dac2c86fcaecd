/*
 * Levels of categories: they are told apart as numbers if they are numbers, else by their bytes
 * without the blanks around them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/table_private.h"

/* What a text is compared by, which comes first in the order. */
struct gpnn_level_key {
  bool is_number;
  double value;
  const char *text; /* without blanks around it */
  size_t length;
  size_t level;
};

static struct gpnn_level_key trim(const char *text, size_t length)
{
  while (length > 0 && gpnn_is_blank(text[length - 1])) length--;
  for (; length > 0 && gpnn_is_blank(*text); text++) length--;
  return (struct gpnn_level_key){.text = text, .length = length};
}

/* The key of a level: a number if it is one in the usual notation. */
static struct gpnn_level_key key_of_level(const struct gpnn_column *column, size_t level)
{
  struct gpnn_level_key key = trim(column->levels[level], column->level_lengths[level]);
  key.is_number = gpnn_number_read(key.text, key.length, &key.value) == GPNN_NUMBER_OK;
  key.level = level;
  return key;
}

/* The key of a field: a number if it is one in the notation of the table, or else in the usual one.
 * '*is_usual' is true if a level of this text has the same key. */
static struct gpnn_level_key key_of_field(const struct gpnn_values *values,
                                          const struct gpnn_field *field, bool *is_usual)
{
  struct gpnn_level_key key = trim(field->text, field->length);
  double usual = 0;
  key.is_number = gpnn_values_number(values, key.text, key.length, &key.value) == GPNN_NUMBER_OK;
  *is_usual = values->is_plain;
  if (values->is_plain) return key;
  bool reads_usual = gpnn_number_read(key.text, key.length, &usual) == GPNN_NUMBER_OK;
  *is_usual = !key.is_number || (reads_usual && usual == key.value);
  if (key.is_number || !reads_usual) return key;
  key.is_number = true;
  key.value = usual;
  return key;
}

/* Orders numbers before other texts, and these by their bytes: a text comes before a longer one
 * that begins with it. */
static int compare(const struct gpnn_level_key *a, const struct gpnn_level_key *b)
{
  if (a->is_number != b->is_number) return a->is_number ? -1 : 1;
  if (a->is_number) return (a->value > b->value) - (a->value < b->value);
  size_t n = a->length < b->length ? a->length : b->length;
  int order = n == 0 ? 0 : memcmp(a->text, b->text, n);
  return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* How many levels in 'order' are below 'key'. */
static size_t count_below(const struct gpnn_level_order *order, const struct gpnn_level_key *key)
{
  size_t low = 0, high = order->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare(&order->keys[middle], key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool gpnn_schema_find_level(const struct gpnn_column *column, const struct gpnn_level_order *order,
                            const struct gpnn_values *values, const struct gpnn_field *field,
                            size_t *level)
{
  bool is_usual, found = false;
  assert(order->n == column->n_levels);
  struct gpnn_level_key key = key_of_field(values, field, &is_usual);
  size_t at = count_below(order, &key);
  /* Old indexes have levels of their own for 1 and 1.0. */
  for (; at < order->n && compare(&order->keys[at], &key) == 0; at++) {
    size_t same = order->keys[at].level;
    bool is_exact = column->level_lengths[same] == field->length &&
                    memcmp(column->levels[same], field->text, field->length) == 0;
    if (!found || is_exact) *level = same;
    found = true;
    if (is_exact) break;
  }
  return found;
}

/* Puts a level of 'column' into 'order', which is long enough for it, after those that equal it. */
static void insert_level(const struct gpnn_column *column, struct gpnn_level_order *order,
                         size_t level)
{
  struct gpnn_level_key key = key_of_level(column, level);
  size_t at = count_below(order, &key);
  while (at < order->n && compare(&order->keys[at], &key) == 0) at++;
  memmove(order->keys + at + 1, order->keys + at, (order->n - at) * sizeof *order->keys);
  order->keys[at] = key;
  order->n++;
}

void gpnn_schema_remove_last_level(struct gpnn_column *column, struct gpnn_level_order *order)
{
  size_t level = column->n_levels - 1, at = 0;
  while (order->keys[at].level != level) at++;
  order->n--;
  memmove(order->keys + at, order->keys + at + 1, (order->n - at) * sizeof *order->keys);
  free(column->levels[level]);
  column->n_levels--;
}

void gpnn_schema_keep_levels(struct gpnn_column *column, const bool *keep)
{
  size_t n = 0;
  for (size_t l = 0; l < column->n_levels; l++) {
    if (!keep[l]) {
      free(column->levels[l]);
      continue;
    }
    column->levels[n] = column->levels[l];
    column->level_lengths[n++] = column->level_lengths[l];
  }
  column->n_levels = n;
}

size_t gpnn_schema_level_at(const struct gpnn_level_order *order, size_t i)
{
  return order->keys[i].level;
}

/* Makes '*array' long enough for n + 1 items. */
static bool lengthen(void *array, size_t n, size_t item_bytes)
{
  size_t capacity = n; /* or more, which nobody needs to know: realloc() seldom has to move it */
  return gpnn_grow(array, &capacity, n + 1, item_bytes);
}

/* The text of a new level: that of the field or, since later tables may be in another notation, the
 * number that it is. */
static char *copy_level(const struct gpnn_level_key *key, bool is_usual)
{
  char number[GPNN_NUMBER_BYTES];
  if (is_usual) return gpnn_copy_text(key->text, key->length);
  return gpnn_copy_text(number, gpnn_number_write(number, key->value));
}

enum gpnn_status gpnn_schema_add_level(struct gpnn_column *column, struct gpnn_level_order *order,
                                       const struct gpnn_values *values,
                                       const struct gpnn_field *field, struct gpnn_error *err)
{
  size_t n = column->n_levels;
  bool is_usual;
  struct gpnn_level_key key = key_of_field(values, field, &is_usual);
  char *text = copy_level(&key, is_usual);
  if (text == NULL || !lengthen(&column->levels, n, sizeof *column->levels) ||
      !lengthen(&column->level_lengths, n, sizeof *column->level_lengths) ||
      !lengthen(&order->keys, n, sizeof *order->keys)) {
    free(text);
    return gpnn_fail_memory(err, "for the levels of a category");
  }
  column->levels[n] = text;
  column->level_lengths[n] = is_usual ? key.length : strlen(text);
  column->n_levels++;
  insert_level(column, order, n);
  return GPNN_OK;
}

/* The same order for qsort(), which keeps no order of its own: equal keys come by their levels. */
static int compare_for_sort(const void *a, const void *b)
{
  const struct gpnn_level_key *x = a, *y = b;
  int order = compare(x, y);
  return order != 0 ? order : (x->level > y->level) - (x->level < y->level);
}

enum gpnn_status gpnn_schema_order_column(const struct gpnn_column *column,
                                          struct gpnn_level_order *order, struct gpnn_error *err)
{
  order->keys = gpnn_alloc(column->n_levels, 1, sizeof *order->keys);
  if (order->keys == NULL) return gpnn_fail_memory(err, "for the levels of a category");
  for (size_t level = 0; level < column->n_levels; level++)
    order->keys[level] = key_of_level(column, level);
  order->n = column->n_levels;
  qsort(order->keys, order->n, sizeof *order->keys, compare_for_sort);
  return GPNN_OK;
}

enum gpnn_status gpnn_schema_order_levels(const struct gpnn_schema *schema,
                                          struct gpnn_columns_map *map, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < schema->n_inputs && status == GPNN_OK; i++)
    if (gpnn_schema_has_levels(&schema->inputs[i]))
      status = gpnn_schema_order_column(&schema->inputs[i], &map->orders[i], err);
  for (size_t t = 0; t <= schema->n_more && status == GPNN_OK; t++)
    if (gpnn_schema_has_classes(schema, t))
      status = gpnn_schema_order_column(gpnn_schema_target(schema, t), &map->classes[t], err);
  return status;
}

enum gpnn_status gpnn_schema_sort_levels(struct gpnn_column *column, struct gpnn_level_order *order,
                                         double *number, struct gpnn_error *err)
{
  size_t n = column->n_levels;
  char **levels = gpnn_alloc(n, 1, sizeof *levels);
  size_t *lengths = gpnn_alloc(n, 1, sizeof *lengths);
  if (levels == NULL || lengths == NULL) {
    free(levels);
    free(lengths);
    return gpnn_fail_memory(err, "for the levels of a category");
  }
  for (size_t i = 0; i < n; i++) {
    size_t old = order->keys[i].level;
    levels[i] = column->levels[old];
    lengths[i] = column->level_lengths[old];
    number[old] = (double)i;
    order->keys[i].level = i;
  }
  free(column->levels);
  free(column->level_lengths);
  column->levels = levels;
  column->level_lengths = lengths;
  return GPNN_OK;
}
