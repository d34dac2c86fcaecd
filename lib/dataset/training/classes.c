/*
 * Targets that are classes, while a training table is read and once it has been.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "dataset/training/training_private.h"
#include "profile/cell.h"
#include "profile/profile.h"
#include "table/columns.h"

/* ---- numbers or classes ------------------------------------------------------------------- */

static size_t column_of(const struct gpnn_training *training, size_t t)
{
  return t == 0 ? training->map.target : training->map.more[t - 1];
}

enum gpnn_status gpnn_training_begin_target(struct gpnn_training *training, size_t t,
                                            struct gpnn_error *err)
{
  struct gpnn_training_target *target = &training->targets[t];
  if (!gpnn_schema_has_classes(&training->dataset.schema, t)) return GPNN_OK;
  target->n_rows = gpnn_alloc(GPNN_LEVELS_MAX, 1, sizeof *target->n_rows);
  target->is_decided = training->has_classes = true;
  return target->n_rows == NULL ? gpnn_fail_memory(err, "for the classes") : GPNN_OK;
}

/* Counts the values of column 'j' of some records, and those of them that are texts. */
static void count_texts(const struct gpnn_table *table, struct gpnn_records *records, size_t j,
                        size_t *n, size_t *n_texts)
{
  struct gpnn_date_guess dates = {.n = 0};
  *n = *n_texts = 0;
  for (size_t i = 0; i < records->n; i++) {
    const struct gpnn_record record = gpnn_records_get(records, i);
    struct gpnn_cell cell;
    double value;
    if (gpnn_field_is_missing(table, &record.fields[j])) continue;
    if (gpnn_columns_number(table, &record, j, &value, NULL) == GPNN_OK) {
      ++*n;
      continue;
    }
    gpnn_cell_look(&record.fields[j], &dates, &cell);
    *n += cell.kind != GPNN_CELL_LIKE_MISSING;
    *n_texts += cell.kind == GPNN_CELL_TEXT;
  }
}

enum gpnn_status gpnn_training_decide(struct gpnn_training *training,
                                      const struct gpnn_table *table, struct gpnn_records *records,
                                      struct gpnn_error *err)
{
  struct gpnn_schema *schema = &training->dataset.schema;
  enum gpnn_status status = GPNN_OK;
  training->n_undecided = 0;
  for (size_t t = 0; t <= schema->n_more && status == GPNN_OK; t++) {
    struct gpnn_training_target *target = &training->targets[t];
    size_t n, n_texts;
    if (target->is_decided) continue;
    count_texts(table, records, column_of(training, t), &n, &n_texts);
    target->is_decided = n > 0;
    training->n_undecided += n == 0;
    if (n_texts <= n / 2) continue;
    status = gpnn_schema_make_classes(schema, t, err);
    if (status != GPNN_OK) status = gpnn_prefix(err, status, "%s", gpnn_table_name(table));
    if (status == GPNN_OK) status = gpnn_training_begin_target(training, t, err);
  }
  return status;
}

enum gpnn_status gpnn_training_read_classes(struct gpnn_training *training,
                                            const struct gpnn_table *table,
                                            const struct gpnn_record *record, double *targets,
                                            struct gpnn_error *err)
{
  struct gpnn_schema *schema = &training->dataset.schema;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t <= schema->n_more && status == GPNN_OK; t++) {
    if (!gpnn_schema_has_classes(schema, t) || isnan(targets[t])) continue;
    status = gpnn_schema_learn_class(schema, &training->map, table, record, t, &targets[t], err);
    if (status == GPNN_OK) training->targets[t].n_rows[(size_t)targets[t]]++;
  }
  return status;
}

void gpnn_training_doubt_classes(const struct gpnn_training *training, struct gpnn_profile *profile)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  for (size_t t = 0; t <= schema->n_more; t++) {
    const struct gpnn_training_target *target = &training->targets[t];
    const struct gpnn_column *column = gpnn_schema_target(schema, t);
    bool is_repeated = target->is_asked;
    for (size_t c = 0; target->n_rows != NULL && c < column->n_levels; c++)
      is_repeated = is_repeated || target->n_rows[c] > 1;
    if (!is_repeated) profile->columns[column->position].role = GPNN_PROFILE_TARGET;
  }
}

/* ---- sorting ------------------------------------------------------------------------------- */

/* Some rows must differ, and some must not. */
static enum gpnn_status check_classes(const struct gpnn_column *column, const size_t *n_rows,
                                      struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES], shown[GPNN_MASK_BYTES];
  size_t k = column->n_levels, n_single = 0;
  gpnn_schema_column_name(column, name);
  if (k == 1)
    return gpnn_fail(err, GPNN_EDATA, "column '%s': all rows are of class '%s'", name,
                     gpnn_mask(shown, column->levels[0], column->level_lengths[0]));
  for (size_t c = 0; c < k; c++) n_single += n_rows[c] == 1;
  if (k > 0 && n_single == k)
    return gpnn_fail(err, GPNN_EDATA, "column '%s': all %zu labels are different: is it an id?",
                     name, k);
  return GPNN_OK;
}

static enum gpnn_status sort_classes(struct gpnn_training *training, size_t t,
                                     struct gpnn_error *err)
{
  struct gpnn_schema *schema = &training->dataset.schema;
  struct gpnn_training_target *target = &training->targets[t];
  const struct gpnn_column *column = gpnn_schema_target(schema, t);
  size_t *n_rows = gpnn_alloc(column->n_levels, 1, sizeof *n_rows);
  enum gpnn_status status =
      n_rows == NULL ? gpnn_fail_memory(err, "for the classes")
                     : gpnn_schema_sort_classes(schema, &training->map, t, &target->number, err);
  for (size_t c = 0; c < column->n_levels && status == GPNN_OK; c++)
    n_rows[(size_t)target->number[c]] = target->n_rows[c];
  if (status == GPNN_OK) {
    free(target->n_rows);
    target->n_rows = n_rows;
    status = check_classes(column, n_rows, err);
    training->has_bad_classes = status != GPNN_OK;
    return status;
  }
  free(n_rows);
  return status;
}

enum gpnn_status gpnn_training_sort_classes(struct gpnn_training *training, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t <= schema->n_more && status == GPNN_OK; t++)
    if (gpnn_schema_has_classes(schema, t)) status = sort_classes(training, t, err);
  return status;
}

/* ---- exchanging rows that are held out, so that each class keeps a training row ------------ */

/* The rows held out, and how many training rows each class has. */
struct exchange {
  const struct gpnn_training_rows *rows;
  size_t n; /* of them */
  size_t c; /* held out */
  uint64_t *drawn, *ascending;
  size_t *n_left; /* owned; for each target, GPNN_LEVELS_MAX classes */
};

static size_t n_targets(const struct exchange *exchange)
{
  return 1 + exchange->rows->schema->n_more;
}

/* The number of training rows of the same class in target 't' as a row; NULL: the row lacks the
 * target, or that is a number. */
static size_t *left_of(const struct exchange *exchange, size_t row, size_t t)
{
  const struct gpnn_training_rows *rows = exchange->rows;
  const double *number = rows->targets[t].number;
  double y = rows->read[row * rows->width + rows->schema->n_inputs + t];
  if (number == NULL || isnan(y)) return NULL;
  return &exchange->n_left[t * GPNN_LEVELS_MAX + (size_t)number[(size_t)y]];
}

/* Makes a row a training row, or takes it from them. */
static void count_row(struct exchange *exchange, size_t row, bool is_training)
{
  for (size_t t = 0; t < n_targets(exchange); t++) {
    size_t *n_left = left_of(exchange, row, t);
    if (n_left != NULL) *n_left += is_training ? 1 : SIZE_MAX;
  }
}

/* True if a class of a row has no more than 'most' training rows. */
static bool is_scarce(const struct exchange *exchange, size_t row, size_t most)
{
  for (size_t t = 0; t < n_targets(exchange); t++) {
    const size_t *n_left = left_of(exchange, row, t);
    if (n_left != NULL && *n_left <= most) return true;
  }
  return false;
}

static bool is_held_out(const struct exchange *exchange, uint64_t row)
{
  return bsearch(&row, exchange->ascending, exchange->c, sizeof row, gpnn_compare_uint64s) != NULL;
}

/* The next training row after 'row', from the first again after the last, that its classes can
 * spare; SIZE_MAX: there is none. */
static size_t find_spare(const struct exchange *exchange, size_t row)
{
  for (size_t step = 1; step < exchange->n; step++) {
    size_t other = (row + step) % exchange->n;
    if (!is_held_out(exchange, other) && !is_scarce(exchange, other, 1)) return other;
  }
  return SIZE_MAX;
}

/* Holds out 'other' in place of the row that was drawn as number 'i'. */
static void replace(struct exchange *exchange, size_t i, size_t other)
{
  size_t row = (size_t)exchange->drawn[i];
  exchange->drawn[i] = other;
  memcpy(exchange->ascending, exchange->drawn, exchange->c * sizeof *exchange->drawn);
  qsort(exchange->ascending, exchange->c, sizeof *exchange->ascending, gpnn_compare_uint64s);
  count_row(exchange, row, true);
  count_row(exchange, other, false);
}

/* Counts the training rows of each class. */
static void count_rows(struct exchange *exchange)
{
  const struct gpnn_training_rows *rows = exchange->rows;
  for (size_t t = 0; t < n_targets(exchange); t++)
    if (rows->targets[t].n_rows != NULL)
      memcpy(exchange->n_left + t * GPNN_LEVELS_MAX, rows->targets[t].n_rows,
             gpnn_schema_target(rows->schema, t)->n_levels * sizeof *exchange->n_left);
  for (size_t i = 0; i < exchange->c; i++) count_row(exchange, (size_t)exchange->drawn[i], false);
}

enum gpnn_status gpnn_training_keep_classes(struct gpnn_training *training,
                                            const struct gpnn_training_rows *rows, size_t c,
                                            uint64_t *drawn, uint64_t *ascending,
                                            bool *are_exchanged, struct gpnn_error *err)
{
  struct exchange exchange = {
      .rows = rows, .n = training->n, .c = c, .drawn = drawn, .ascending = ascending};
  exchange.n_left = gpnn_alloc(n_targets(&exchange), GPNN_LEVELS_MAX, sizeof *exchange.n_left);
  if (exchange.n_left == NULL) return gpnn_fail_memory(err, "for the classes");
  count_rows(&exchange);
  for (size_t i = 0; i < c; i++) {
    if (!is_scarce(&exchange, (size_t)drawn[i], 0)) continue;
    size_t other = find_spare(&exchange, (size_t)drawn[i]);
    if (other == SIZE_MAX) continue;
    replace(&exchange, i, other);
    *are_exchanged = true;
  }
  free(exchange.n_left);
  return GPNN_OK;
}
