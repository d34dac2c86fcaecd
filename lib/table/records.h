/*
 * records: copies of a table's records, which stay valid when the table reads on.
 *
 * A zeroed object is empty and may be released.  Add records of one table with gpnn_records_add(),
 * look at them with gpnn_records_get(), start again with gpnn_records_clear(), and end with
 * gpnn_records_release().
 *
 * Threads: the object belongs to one thread at a time, while another may already read on in the
 * table.
 */
#ifndef GPNN_TABLE_RECORDS_H
#define GPNN_TABLE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

struct gpnn_records {
  size_t n;        /* records */
  size_t n_fields; /* of each record */
  size_t *lines;   /* n; the line each record starts on; owned, as all arrays */
  size_t *begins;  /* n by n_fields: where each field begins in 'text' */
  size_t *lengths; /* n by n_fields: of each field */
  char *text;
  size_t text_length;
  bool has_numbers; /* the table is a .npy file */
  double *numbers;  /* if so: n by n_fields */
  size_t lines_capacity, begins_capacity, lengths_capacity, text_capacity, numbers_capacity;
  struct gpnn_field *fields; /* n_fields, of the record last looked at */
  size_t fields_capacity;
};

/* Removes all records but keeps the memory for the next ones. */
void gpnn_records_clear(struct gpnn_records *records);

/* Appends a copy of a well-formed record, which has as many fields as the others.  GPNN_ENOMEM:
 * nothing is added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_records_add(struct gpnn_records *records,
                                                  const struct gpnn_record *record,
                                                  struct gpnn_error *err);

/* Record 'i' < n, without its raw bytes.  Its fields are valid until the next call with this
 * object. */
struct gpnn_record gpnn_records_get(struct gpnn_records *records, size_t i);

/* Frees everything and zeroes the object. */
void gpnn_records_release(struct gpnn_records *records);

#endif
