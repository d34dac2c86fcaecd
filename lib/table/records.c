#include "table/records.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void gpnn_records_clear(struct gpnn_records *records)
{
  records->n = 0;
  records->text_length = 0;
}

/* True if a field's text is part of the raw record; it is not if doubled quotes were made single.
 */
static bool is_within(const struct gpnn_record *record, const struct gpnn_field *field)
{
  uintptr_t begin = (uintptr_t)record->raw, at = (uintptr_t)field->text;
  return at >= begin && at - begin <= record->raw_length &&
         field->length <= record->raw_length - (at - begin);
}

/* Bytes of the raw record and of the fields that are not part of it. */
static size_t text_bytes(const struct gpnn_record *record)
{
  size_t length = record->raw_length;
  for (size_t j = 0; j < record->n_fields; j++)
    if (!is_within(record, &record->fields[j])) length += record->fields[j].length;
  return length;
}

static bool reserve(struct gpnn_records *records, const struct gpnn_record *record)
{
  size_t n_fields = record->n_fields, n_all;
  return gpnn_multiply(records->n + 1, n_fields, &n_all) &&
         gpnn_grow(&records->lines, &records->lines_capacity, records->n + 1, sizeof(size_t)) &&
         gpnn_grow(&records->begins, &records->begins_capacity, n_all, sizeof(size_t)) &&
         gpnn_grow(&records->lengths, &records->lengths_capacity, n_all, sizeof(size_t)) &&
         (record->numbers == NULL ||
          gpnn_grow(&records->numbers, &records->numbers_capacity, n_all, sizeof(double))) &&
         gpnn_grow(&records->fields, &records->fields_capacity, n_fields,
                   sizeof *records->fields) &&
         gpnn_grow(&records->text, &records->text_capacity,
                   records->text_length + text_bytes(record), 1);
}

/* The raw record is copied in one piece, which takes less time than field by field. */
enum gpnn_status gpnn_records_add(struct gpnn_records *records, const struct gpnn_record *record,
                                  struct gpnn_error *err)
{
  if (!reserve(records, record)) return gpnn_fail_memory(err, "for a batch of rows");
  size_t from = records->text_length, first = records->n * record->n_fields;
  if (record->raw_length > 0) memcpy(records->text + from, record->raw, record->raw_length);
  records->text_length += record->raw_length;
  for (size_t j = 0; j < record->n_fields; j++) {
    const struct gpnn_field *field = &record->fields[j];
    size_t begin = from;
    if (is_within(record, field)) {
      begin += (size_t)(field->text - record->raw);
    } else {
      begin = records->text_length;
      memcpy(records->text + begin, field->text, field->length);
      records->text_length += field->length;
    }
    records->begins[first + j] = begin;
    records->lengths[first + j] = field->length;
  }
  records->has_numbers = record->numbers != NULL;
  if (records->has_numbers)
    memcpy(records->numbers + first, record->numbers, record->n_fields * sizeof(double));
  records->lines[records->n++] = record->line;
  records->n_fields = record->n_fields;
  return GPNN_OK;
}

struct gpnn_record gpnn_records_get(struct gpnn_records *records, size_t i)
{
  size_t n_fields = records->n_fields;
  const size_t *begins = records->begins + i * n_fields, *lengths = records->lengths + i * n_fields;
  for (size_t j = 0; j < n_fields; j++)
    records->fields[j] = (struct gpnn_field){records->text + begins[j], lengths[j]};
  return (struct gpnn_record){.line = records->lines[i],
                              .n_fields = n_fields,
                              .fields = records->fields,
                              .numbers =
                                  records->has_numbers ? records->numbers + i * n_fields : NULL};
}

void gpnn_records_release(struct gpnn_records *records)
{
  free(records->lines);
  free(records->begins);
  free(records->lengths);
  free(records->text);
  free(records->numbers);
  free(records->fields);
  *records = (struct gpnn_records){0};
}
