/*
 * ids: texts by which users know the rows of their table, from a column that is no input.
 *
 * They are of all rows of an index, training and calibration rows in the order of the table, and
 * say nothing of the process: predictions and fingerprints are the same without them.
 */
#ifndef GPNN_DATASET_IDS_H
#define GPNN_DATASET_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ids where they lie, one behind the other. */
struct gpnn_ids {
  size_t n, n_bytes;    /* rows; bytes of their texts */
  const uint64_t *ends; /* n: the byte behind the text of each row */
  const char *text;     /* n_bytes */
};

/* Ids that become more.  A zeroed object is empty and may be released. */
struct gpnn_ids_list {
  struct gpnn_ids ids; /* those that there are; it points to what follows */
  uint64_t *ends;      /* owned */
  char *text;          /* owned */
  size_t ends_capacity, text_capacity;
};

/* Adds the text of the next row.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_ids_add(struct gpnn_ids_list *list, const char *text,
                                              size_t length, struct gpnn_error *err);

/* The text of row 'row', from 0: '*length' bytes, which may be any.  The ids must be good. */
const char *gpnn_ids_get(const struct gpnn_ids *ids, size_t row, size_t *length);

/* What is wrong with ids of a file that are not good. */
#define GPNN_IDS_DAMAGED "damaged: section IDEN has ids that overlap or end elsewhere"

/* True if each text begins where the one before it ends, and the last ends with the bytes: those of
 * a file may be damaged, and are looked at by whoever needs them.  O(n). */
bool gpnn_ids_are_good(const struct gpnn_ids *ids);

void gpnn_ids_release(struct gpnn_ids_list *list);

#ifdef __cplusplus
}
#endif

#endif
