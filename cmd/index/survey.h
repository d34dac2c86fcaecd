/*
 * survey: a pass over all rows of a table, which says how it can be used.
 *
 * gpnn-index --auto makes a survey first and follows its advice.  Without --auto, what is found
 * after the first bad row is reported.
 */
#ifndef GPNN_CMD_INDEX_SURVEY_H
#define GPNN_CMD_INDEX_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/index/changes.h"
#include "cmd/index/index.h"
#include "cmd/index/reread.h"
#include "profile/profile.h"

/* True if the names of all columns are numbers, and not whole ones: the header is a row. */
bool survey_sees_row(const struct gpnn_table *table);

/*
 * Looks at all rows of a table and finds what to change so that it can be used; tells so, unless
 * there is nothing to tell or --quiet is given, and goes back to the beginning.  'changes' must be
 * zeroed, and stays so if nothing has to be changed or no change is enough.
 *
 * GPNN_EDATA: the table cannot be used without a decision that is the user's, which has been told.
 * Otherwise as gpnn_table_open(), gpnn_schema_choose() and gpnn_table_next().
 */
GPNN_MUST_CHECK enum gpnn_status survey_make(struct index_changes *changes, const struct cli *cli,
                                             const struct index_arguments *a,
                                             const struct reread *reread, struct gpnn_error *err);

/*
 * Reports on a table that failed with 'err'.  'profile' has the rows from about the first bad one
 * on, 'n_before' good ones came before; it is empty if the failure came earlier.  Always fails:
 * with an empty message if it has told more than that of 'err', which stays otherwise.
 */
enum gpnn_status survey_report(const struct cli *cli, const struct index_arguments *a,
                               const struct gpnn_profile *profile, size_t n_before,
                               struct gpnn_error *err);

/* The same for a table that failed because a target holds classes that cannot be used, such as too
 * many: if the user did not choose the target, it may have to be another. */
enum gpnn_status survey_report_classes(const struct cli *cli, const struct index_arguments *a,
                                       struct gpnn_error *err);

/* After warnings about a table that could be used: says the command that takes the first line for a
 * row, or codes far outside the rest for missing values, if that was what a warning was about. */
void survey_suggest(const struct cli *cli, const struct index_arguments *a,
                    const struct gpnn_table *table, const struct gpnn_training *training);

#endif
