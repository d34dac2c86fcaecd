#include "table/split.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/number.h"
#include "table/columns.h"

/* Rounds the shares of 'n_rows' down; the rows left over go to the largest remainders. */
static void apportion(struct gpnn_split *split, uint64_t n_rows)
{
  double remainder[GPNN_SPLIT_PARTS];
  uint64_t given = 0;
  for (size_t k = 0; k < split->n_parts; k++) {
    double exact = split->share[k] * (double)n_rows;
    split->remaining[k] = (uint64_t)exact;
    remainder[k] = exact - floor(exact);
    given += split->remaining[k];
  }
  for (; given < n_rows; given++) {
    size_t largest = 0;
    for (size_t k = 1; k < split->n_parts; k++)
      if (remainder[k] > remainder[largest]) largest = k;
    split->remaining[largest]++;
    remainder[largest] = -1;
  }
  split->n_remaining = n_rows;
}

enum gpnn_status gpnn_split_init(struct gpnn_split *split, size_t n_parts, const double *weights,
                                 uint64_t n_rows, uint64_t seed, struct gpnn_error *err)
{
  assert(n_parts >= 2 && n_parts <= GPNN_SPLIT_PARTS);
  double sum = 0;
  split->n_parts = n_parts;
  split->seed = seed;
  for (size_t k = 0; k < n_parts; k++) sum += weights[k];
  for (size_t k = 0; k < n_parts; k++) split->share[k] = weights[k] / sum;
  apportion(split, n_rows);
  gpnn_rng_init(&split->rng, seed, GPNN_RNG_SPLIT);
  for (size_t k = 0; k < n_parts; k++)
    if (split->remaining[k] == 0)
      return gpnn_fail(err, GPNN_EDATA, "%llu rows are too few: part %zu would have none",
                       (unsigned long long)n_rows, k + 1);
  return GPNN_OK;
}

enum gpnn_status gpnn_split_next(struct gpnn_split *split, size_t *part, struct gpnn_error *err)
{
  if (split->n_remaining == 0)
    return gpnn_fail(err, GPNN_EDATA, "there are more rows than were counted");
  uint64_t drawn = gpnn_rng_below(&split->rng, split->n_remaining--);
  size_t k = 0;
  for (; drawn >= split->remaining[k]; k++) drawn -= split->remaining[k];
  split->remaining[k]--;
  *part = k;
  return GPNN_OK;
}

size_t gpnn_split_group(const struct gpnn_split *split, const char *name, size_t length)
{
  double u = (double)(gpnn_rng_hash(split->seed, name, length) >> 11) * 0x1p-53;
  size_t k = 0;
  for (; k + 1 < split->n_parts && u >= split->share[k]; k++) u -= split->share[k];
  return k;
}

/* ---- rows that come last ------------------------------------------------------------------ */

/* A text and its row. */
struct text {
  const char *value;
  size_t row;
};

/* True if the text begins like 2024-03 or 2024-03-01; any of "-/." separates. */
static bool is_year_first(const struct gpnn_field *field)
{
  static const char pattern[] = "0000-00-00";
  for (size_t i = 0; i < sizeof pattern - 1; i++) {
    char c = i < field->length ? field->text[i] : '\0';
    bool is_digit = isdigit((unsigned char)c), is_mark = c == '-' || c == '/' || c == '.';
    if (pattern[i] == '0' ? is_digit : is_mark) continue;
    return i == strlen("0000-00") && !is_digit;
  }
  return true;
}

static enum gpnn_status add_text(struct gpnn_order *order, const struct gpnn_table *table,
                                 const struct gpnn_record *record, struct gpnn_error *err)
{
  const struct gpnn_field *field = &record->fields[order->column];
  enum gpnn_status status = gpnn_columns_present(table, record, order->column, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&order->text, &order->text_capacity, order->text_length + field->length + 1, 1))
    return gpnn_fail_memory(err, "for the order of the rows");
  memcpy(order->text + order->text_length, field->text, field->length);
  order->text_length += field->length;
  order->text[order->text_length++] = '\0';
  if (order->doubtful_line == 0 && !is_year_first(field)) {
    order->doubtful_line = record->line;
    gpnn_mask(order->doubtful, field->text, field->length);
  }
  order->n++;
  return GPNN_OK;
}

static enum gpnn_status add_number(struct gpnn_order *order, const struct gpnn_table *table,
                                   const struct gpnn_record *record, struct gpnn_error *err)
{
  double value = 0;
  enum gpnn_status status = gpnn_columns_number(table, record, order->column, &value, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&order->numbers, &order->numbers_capacity, order->n + 1, sizeof *order->numbers))
    return gpnn_fail_memory(err, "for the order of the rows");
  order->numbers[order->n] = (struct gpnn_order_number){value, order->n};
  order->n++;
  return GPNN_OK;
}

enum gpnn_status gpnn_order_add(struct gpnn_order *order, const struct gpnn_table *table,
                                const struct gpnn_record *record, struct gpnn_error *err)
{
  const struct gpnn_field *field = &record->fields[order->column];
  double value;
  if (order->n == 0)
    order->is_text = gpnn_number_read(field->text, field->length, &value) == GPNN_NUMBER_BAD;
  return order->is_text ? add_text(order, table, record, err)
                        : add_number(order, table, record, err);
}

static int compare_numbers(const void *a, const void *b)
{
  const struct gpnn_order_number *p = a, *q = b;
  int order = gpnn_compare_doubles(&p->value, &q->value);
  return order != 0 ? order : gpnn_compare_sizes(&p->row, &q->row);
}

static int compare_texts(const void *a, const void *b)
{
  const struct text *p = a, *q = b;
  int order = gpnn_compare_strings(&p->value, &q->value);
  return order != 0 ? order : gpnn_compare_sizes(&p->row, &q->row);
}

static void last_numbers(struct gpnn_order *order, size_t n_last, bool *is_last)
{
  qsort(order->numbers, order->n, sizeof *order->numbers, compare_numbers);
  for (size_t i = order->n - n_last; i < order->n; i++) is_last[order->numbers[i].row] = true;
}

static enum gpnn_status last_texts(const struct gpnn_order *order, size_t n_last, bool *is_last,
                                   struct gpnn_error *err)
{
  struct text *texts = gpnn_alloc(order->n, 1, sizeof *texts);
  if (texts == NULL) return gpnn_fail_memory(err, "for the order of the rows");
  const char *next = order->text;
  for (size_t i = 0; i < order->n; i++, next += strlen(next) + 1) texts[i] = (struct text){next, i};
  qsort(texts, order->n, sizeof *texts, compare_texts);
  for (size_t i = order->n - n_last; i < order->n; i++) is_last[texts[i].row] = true;
  free(texts);
  return GPNN_OK;
}

enum gpnn_status gpnn_order_last(struct gpnn_order *order, size_t n_last, bool **is_last,
                                 struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  bool *marks = gpnn_alloc(order->n, 1, sizeof *marks);
  if (marks == NULL) return gpnn_fail_memory(err, "for the order of the rows");
  if (order->n > 0 && order->is_text)
    status = last_texts(order, n_last, marks, err);
  else if (order->n > 0)
    last_numbers(order, n_last, marks);
  if (status == GPNN_OK)
    *is_last = marks;
  else
    free(marks);
  return status;
}

void gpnn_order_release(struct gpnn_order *order)
{
  free(order->numbers);
  free(order->text);
  *order = (struct gpnn_order){0};
}
