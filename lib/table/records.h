/*
 * records: copies of a table's records, which last while the table goes on.
 *
 * A zeroed object is empty and may be released.  Adding to it and looking into it are no business
 * of two threads at a time, but one may look into it while another reads on in the table.
 */
#ifndef GPNN_TABLE_RECORDS_H
#define GPNN_TABLE_RECORDS_H

#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

struct gpnn_records {
  size_t n;        /* records */
  size_t n_fields; /* of each of them */
  size_t *lines;   /* owned, as all arrays: n, where each record starts */
  size_t *begins;  /* n by n_fields: where a field's text starts in 'text' */
  size_t *lengths; /* likewise: how long it is */
  char *text;
  size_t text_length;
  size_t lines_room, begins_room, lengths_room, text_room;
  struct gpnn_field *fields; /* n_fields, of the record looked at */
  size_t fields_room;
};

/* Forgets all records and keeps the room. */
void gpnn_records_clear(struct gpnn_records *records);

/* Adds a copy of a good record, with as many fields as those before it.  GPNN_ENOMEM: nothing is
 * added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_records_add(struct gpnn_records *records,
                                                  const struct gpnn_record *record,
                                                  struct gpnn_error *err);

/* Record number 'i', without its raw bytes; what it points to lasts until the next call. */
struct gpnn_record gpnn_records_get(struct gpnn_records *records, size_t i);

void gpnn_records_release(struct gpnn_records *records);

#endif
