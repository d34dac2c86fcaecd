/*
 * check: what would keep a step from its work, found out before the steps that come first have done
 * theirs, which may take long.
 */
#ifndef GPNN_CMD_GPNN_CHECK_H
#define GPNN_CMD_GPNN_CHECK_H

#include <stdbool.h>

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/gpnn/places.h"
#include "dataset/dataset.h"

/* Looks at the first line of the table to predict, and whether it alone has a target or an input
 * that is asked for; and, if there is a working index already, whether it has its inputs and the
 * columns to be carried along, and where it begins: sets places->test_begins.  A table that can be
 * read but once is left alone, and begins like the one learnt from.  Outcomes as gpnn_table_open(),
 * gpnn_index_open(), gpnn_schema_match() and gpnn_columns_find_list(). */
GPNN_MUST_CHECK enum gpnn_status check_test(const struct cli *cli, struct places *places,
                                            bool has_index, struct gpnn_error *err);

/* Opens a table that is written as the training table of 'dataset' is, and begins as 'begins' says.
 * Outcomes as open_table(). */
GPNN_MUST_CHECK enum gpnn_status check_open(const struct cli *cli,
                                            const struct gpnn_dataset *dataset, const char *path,
                                            const struct beginning *begins,
                                            struct gpnn_table **table, struct gpnn_error *err);

/* Looks whether the working index has the targets and inputs of the one that it will replace, if
 * there is any.  GPNN_EMISMATCH: it has not.  Outcomes of the working index as gpnn_index_open();
 * one to be replaced that cannot be opened is no loss. */
GPNN_MUST_CHECK enum gpnn_status check_replaced(const struct places *places,
                                                struct gpnn_error *err);

/* Sets '*can': whether a model can be chosen for rows like those of the table to predict, which lie
 * in gaps.  It cannot if the targets are classes or counts, if there are few such rows, or if more
 * than a fifth lies outside the range of the training rows.  Outcomes as open_files() and
 * gpnn_reader_rows_read(). */
GPNN_MUST_CHECK enum gpnn_status check_can_imitate(const struct cli *cli,
                                                   const struct places *places, bool *can,
                                                   struct gpnn_error *err);

/* True if 'path' names a file that can be read more than once. */
bool check_can_reread(const char *path);

#endif
