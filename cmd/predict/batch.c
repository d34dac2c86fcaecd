#include "cmd/predict/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/columns.h"

/* ---- texts ----------------------------------------------------------------------------------- */

void texts_clear(struct texts *texts)
{
  texts->n = 0;
}

enum gpnn_status texts_add(struct texts *texts, const char *text, size_t length,
                           struct gpnn_error *err)
{
  size_t begin = texts->n == 0 ? 0 : texts->end[texts->n - 1];
  if (!gpnn_grow(&texts->bytes, &texts->bytes_capacity, begin + length, 1) ||
      !gpnn_grow(&texts->end, &texts->end_capacity, texts->n + 1, sizeof *texts->end))
    return gpnn_fail_memory(err, "for the classes of rows");
  if (length > 0) memcpy(texts->bytes + begin, text, length);
  texts->end[texts->n++] = begin + length;
  return GPNN_OK;
}

const char *texts_get(const struct texts *texts, size_t i, size_t *length)
{
  size_t begin = i == 0 ? 0 : texts->end[i - 1];
  *length = texts->end[i] - begin;
  return texts->bytes + begin;
}

void texts_release(struct texts *texts)
{
  free(texts->bytes);
  free(texts->end);
  *texts = (struct texts){0};
}

/* ---- carried fields -------------------------------------------------------------------------- */

void carried_clear(struct carried *carried)
{
  carried->n_rows = 0;
  carried->text_length = 0;
}

/* Replaces a field by the number that it is, in 'text', as all tools write numbers. */
static enum gpnn_status read_number(const struct gpnn_table *table,
                                    const struct gpnn_record *record, size_t column, const char *na,
                                    char text[GPNN_NUMBER_BYTES], struct gpnn_field *field,
                                    struct gpnn_error *err)
{
  double value = 0;
  enum gpnn_status status = gpnn_columns_copy(table, record, column, &value, err);
  if (status != GPNN_OK) return gpnn_prefix(err, GPNN_EFORMAT, "a .npy file holds only numbers");
  if (isnan(value))
    *field = (struct gpnn_field){na, strlen(na)};
  else
    *field = (struct gpnn_field){text, gpnn_number_write(text, value)};
  return GPNN_OK;
}

enum gpnn_status carry_add(const struct carry *carry, struct carried *carried,
                           const struct gpnn_record *record, const char *na, struct gpnn_error *err)
{
  size_t first = carried->n_rows * carry->n_columns;
  if (!gpnn_grow(&carried->lengths, &carried->lengths_capacity, first + carry->n_columns,
                 sizeof *carried->lengths))
    return gpnn_fail_memory(err, "for the columns carried along");
  for (size_t i = 0; i < carry->n_columns; i++) {
    struct gpnn_field field = {na, strlen(na)};
    char text[GPNN_NUMBER_BYTES];
    size_t column = carry->columns[i];
    enum gpnn_status status = GPNN_OK;
    if (column < record->n_fields) field = record->fields[column];
    if (column < record->n_fields && carry->numeric != NULL)
      status = read_number(carry->numeric, record, column, na, text, &field, err);
    if (status != GPNN_OK) return status;
    size_t end = carried->text_length + field.length;
    if (!gpnn_grow(&carried->text, &carried->text_capacity, end, 1))
      return gpnn_fail_memory(err, "for the columns carried along");
    if (field.length > 0) memcpy(carried->text + carried->text_length, field.text, field.length);
    carried->text_length = end;
    carried->lengths[first + i] = field.length;
  }
  carried->n_rows++;
  return GPNN_OK;
}

enum gpnn_status carry_write(const struct carry *carry, const struct carried *carried,
                             struct carry_cursor *at, struct gpnn_output *output, char delimiter,
                             struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  const size_t *lengths = carried->lengths + at->row * carry->n_columns;
  for (size_t i = 0; i < carry->n_columns && status == GPNN_OK; i++) {
    status = gpnn_table_write_field(output, delimiter, carried->text + at->text, lengths[i], err);
    if (status == GPNN_OK) status = gpnn_output_write(output, &delimiter, 1, err);
    at->text += lengths[i];
  }
  at->row++;
  return status;
}

void carry_release(struct carry *carry)
{
  free(carry->columns);
  memset(carry, 0, sizeof *carry);
}

void carried_release(struct carried *carried)
{
  free(carried->text);
  free(carried->lengths);
  memset(carried, 0, sizeof *carried);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Lengthens an array from batch->room rows, of 'width' items each, to 'rows'.  It exists even
 * without items. */
static bool lengthen(const struct batch *batch, void *array, size_t rows, size_t width,
                     size_t item_bytes)
{
  size_t capacity, needed;
  if (!gpnn_multiply(batch->room, width, &capacity) || !gpnn_multiply(rows, width, &needed))
    return false;
  return gpnn_grow(array, &capacity, needed > 0 ? needed : 1, item_bytes);
}

/* Makes room for rows as they are read. */
static bool lengthen_rows(struct batch *batch, size_t rows)
{
  const struct batch_shape *shape = &batch->shape;
  const size_t number = sizeof(double);
  return lengthen(batch, &batch->is_good, rows, 1, sizeof *batch->is_good) &&
         lengthen(batch, &batch->x, rows, shape->d, number) &&
         lengthen(batch, &batch->regressors, rows, shape->n_regressors, number) &&
         lengthen(batch, &batch->noise, rows, 1, number) &&
         lengthen(batch, &batch->exposure, rows, 1, number) &&
         lengthen(batch, &batch->offset, rows, shape->n_offsets, number) &&
         lengthen(batch, &batch->self, rows, shape->n_selves, sizeof *batch->self) &&
         lengthen(batch, &batch->number, rows, 1, sizeof *batch->number) &&
         lengthen(batch, &batch->truth, rows, shape->n_targets, number);
}

/* Makes room for their predictions. */
static bool lengthen_predictions(struct batch *batch, size_t rows)
{
  size_t n = batch->shape.n_targets, n_scored = batch->shape.has_scores ? n : 0;
  const size_t number = sizeof(double);
  return lengthen(batch, &batch->distributions, rows, n, sizeof *batch->distributions) &&
         lengthen(batch, &batch->mean, rows, n, number) &&
         lengthen(batch, &batch->sd, rows, n, number) &&
         lengthen(batch, &batch->classes, rows, batch->shape.n_classes, number) &&
         lengthen(batch, &batch->observed, rows, n_scored, number) &&
         lengthen(batch, &batch->scores, rows, n_scored, sizeof *batch->scores);
}

void batch_begin(struct batch *batch, const struct batch_shape *shape)
{
  batch->shape = *shape;
  batch->n_rows = batch->n_good = 0;
  carried_clear(&batch->carried);
  texts_clear(&batch->truths);
}

enum gpnn_status batch_make_room(struct batch *batch, struct gpnn_error *err)
{
  enum { FIRST = 1024 };
  bool is_all = batch->shape.capacity == SIZE_MAX;
  size_t rows = is_all ? batch->room + batch->room / 2 + FIRST : batch->shape.capacity;
  if (batch->n_rows < batch->room) return GPNN_OK;
  if (!lengthen_rows(batch, rows) || !lengthen_predictions(batch, rows))
    return gpnn_fail_memory(err, is_all ? BATCH_ALL_ROWS : "for a batch of rows");
  batch->room = rows;
  return GPNN_OK;
}

void batch_release(struct batch *batch)
{
  free(batch->is_good);
  free(batch->x);
  free(batch->regressors);
  free(batch->noise);
  free(batch->exposure);
  free(batch->offset);
  free(batch->self);
  free(batch->number);
  free(batch->truth);
  free(batch->classes);
  free(batch->distributions);
  free(batch->mean);
  free(batch->sd);
  free(batch->observed);
  free(batch->scores);
  free(batch->draws);
  carried_release(&batch->carried);
  texts_release(&batch->truths);
}
