/*
 * diagnosis: the report on a table that cannot be used as it is, and on what --auto made of it.
 */
#ifndef GPNN_CMD_INDEX_DIAGNOSIS_H
#define GPNN_CMD_INDEX_DIAGNOSIS_H

#include "cmd/common/cli.h"
#include "cmd/index/index.h"
#include "profile/advice.h"

/*
 * Tells why the table of 'profile' cannot be used: all columns that are no numbers, what they look
 * like, which options use them, and the command that does it all.  'n_before' rows came before
 * those of the profile; 'why' is what was wrong with the first bad row, and tells it alone where
 * that is all there is.  Always fails: with the status of 'why', and with its text unless the
 * report has told it.
 */
enum gpnn_status diagnosis_report(const struct cli *cli, const struct index_arguments *a,
                                  const struct gpnn_profile *profile, size_t n_before,
                                  const struct gpnn_error *why, struct gpnn_error *err);

#endif
