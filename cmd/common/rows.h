/*
 * rows: whole tables, read for one target, for tools that score or study predictions of their rows.
 */
#ifndef GPNN_CMD_COMMON_ROWS_H
#define GPNN_CMD_COMMON_ROWS_H

#include <stdbool.h>

#include "cmd/common/cli.h"
#include "cmd/common/skip.h"
#include "dataset/reader.h"
#include "models/model.h"

/*
 * Reads the table 'path' as gpnn_reader_rows_read() does for 'channel', and shuffles the rows by
 * the seed unless only their inputs are wanted.  Says what was left out.  GPNN_EDATA, too: no row
 * is left 'to calibrate on', say; or as skip_check().  'rows' must be zeroed but for 'by'; the
 * caller releases it, also after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status rows_read(const struct cli *cli, const char *path,
                                           const struct gpnn_channel *channel, bool inputs_only,
                                           enum skip_bad skip_bad, const char *purpose,
                                           struct gpnn_reader_rows *rows, struct gpnn_error *err);

#endif
