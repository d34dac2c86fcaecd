/*
 * index_columns_private: the sections that describe columns, which index_write.c composes and
 * index_read.c decodes.  What is decoded is not trusted: a value that is not allowed sets 'failed'
 * of the cursor.
 */
#ifndef GPNN_DATASET_INDEX_COLUMNS_PRIVATE_H
#define GPNN_DATASET_INDEX_COLUMNS_PRIVATE_H

#include <stdbool.h>

#include "dataset/index_bytes_private.h"
#include "dataset/index_private.h"

/* COLS: the inputs and the first target. */
void gpnn_index_compose_columns(struct blob *blob, const struct gpnn_schema *schema);
void gpnn_index_decode_columns(struct cursor *cursor, struct gpnn_index *index);

/* ROLE: further targets, regressors, known noise and kinds of inputs; true if a schema has more
 * than numbers and categories as inputs and one target. */
bool gpnn_index_has_roles(const struct gpnn_schema *schema);
void gpnn_index_compose_roles(struct blob *blob, const struct gpnn_schema *schema);
void gpnn_index_decode_roles(struct cursor *cursor, struct gpnn_index *index);

/* OCOL: offsets. */
void gpnn_index_compose_offsets(struct blob *blob, const struct gpnn_schema *schema);
void gpnn_index_decode_offsets(struct cursor *cursor, struct gpnn_index *index);

/* CLAS: the names of the classes of each target; true if any has some. */
bool gpnn_index_has_classes(const struct gpnn_schema *schema);
void gpnn_index_compose_classes(struct blob *blob, const struct gpnn_schema *schema);
void gpnn_index_decode_classes(struct cursor *cursor, struct gpnn_index *index);

/* NAME: the levels of inputs that are names; true if any is. */
bool gpnn_index_has_names(const struct gpnn_schema *schema);
void gpnn_index_compose_names(struct blob *blob, const struct gpnn_schema *schema);
void gpnn_index_decode_names(struct cursor *cursor, struct gpnn_index *index);

/* ECOL: the column of the exposure. */
void gpnn_index_compose_exposure(struct blob *blob, const struct gpnn_schema *schema);
void gpnn_index_decode_exposure(struct cursor *cursor, struct gpnn_index *index);

/* GCOL: the column of groups of rows. */
void gpnn_index_compose_groups(struct blob *blob, const struct gpnn_dataset *dataset);
void gpnn_index_decode_groups(struct cursor *cursor, struct gpnn_index *index);

/* NOTA: how values are written in the training table. */
void gpnn_index_compose_notation(struct blob *blob, const struct gpnn_notation *notation);
void gpnn_index_decode_notation(struct cursor *cursor, struct gpnn_index *index);

/* COLX: which of the columns of the same name they are, and which are dates; true if there is any
 * such column. */
bool gpnn_index_has_names_or_dates(const struct gpnn_schema *schema);
void gpnn_index_compose_names_and_dates(struct blob *blob, const struct gpnn_schema *schema);
void gpnn_index_decode_names_and_dates(struct cursor *cursor, struct gpnn_index *index);

#endif
