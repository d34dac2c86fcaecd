#include "cmd/common/carry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/columns.h"

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
