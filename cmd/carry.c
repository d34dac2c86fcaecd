#include "carry.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void carry_clear(struct carry *carry)
{
  carry->n_rows = 0;
  carry->text_length = 0;
}

enum gpnn_status carry_add(struct carry *carry, const struct gpnn_record *record, const char *na,
                           struct gpnn_error *err)
{
  size_t first = carry->n_rows * carry->n_columns;
  if (!gpnn_grow(&carry->lengths, &carry->lengths_capacity, first + carry->n_columns,
                 sizeof *carry->lengths))
    return gpnn_fail_memory(err, "for the columns carried along");
  for (size_t i = 0; i < carry->n_columns; i++) {
    struct gpnn_field field = {na, strlen(na)};
    if (carry->columns[i] < record->n_fields) field = record->fields[carry->columns[i]];
    size_t end = carry->text_length + field.length;
    if (!gpnn_grow(&carry->text, &carry->text_capacity, end, 1))
      return gpnn_fail_memory(err, "for the columns carried along");
    if (field.length > 0) memcpy(carry->text + carry->text_length, field.text, field.length);
    carry->text_length = end;
    carry->lengths[first + i] = field.length;
  }
  carry->n_rows++;
  return GPNN_OK;
}

enum gpnn_status carry_write(const struct carry *carry, struct carry_cursor *at,
                             struct gpnn_output *output, char delimiter, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  const size_t *lengths = carry->lengths + at->row * carry->n_columns;
  for (size_t i = 0; i < carry->n_columns && status == GPNN_OK; i++) {
    status = gpnn_table_write_field(output, delimiter, carry->text + at->text, lengths[i], err);
    if (status == GPNN_OK) status = gpnn_output_write(output, &delimiter, 1, err);
    at->text += lengths[i];
  }
  at->row++;
  return status;
}

void carry_release(struct carry *carry)
{
  free(carry->columns);
  free(carry->text);
  free(carry->lengths);
  memset(carry, 0, sizeof *carry);
}
