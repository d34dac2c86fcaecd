/*
 * pack: an index with its parameters, written as a model that is one file.
 */
#ifndef GPNN_CMD_COMMON_PACK_H
#define GPNN_CMD_COMMON_PACK_H

#include "cmd/common/open.h"

/*
 * Writes the index of 'opened' with its parameters, their state if they have one, and 'report',
 * lines for people (NULL: none), to 'path', whole or not at all.  If 'skips_bad', bad rows of
 * tables to predict have no prediction, as they have if the index says so.  'watch' and outcomes as
 * for gpnn_index_pack() and gpnn_parameters_write_with_state().
 */
GPNN_MUST_CHECK enum gpnn_status pack_write(const struct opened *opened, bool skips_bad,
                                            const char *report, const char *path,
                                            const char *volatile *watch, struct gpnn_error *err);

#endif
