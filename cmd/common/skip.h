/*
 * skip: what --skip-bad leaves out, told or refused.
 */
#ifndef GPNN_CMD_COMMON_SKIP_H
#define GPNN_CMD_COMMON_SKIP_H

#include "cmd/common/cli.h"
#include "table/skipped.h"

#define SKIP_OPTION(where, help)                         \
  {                                                      \
    "skip-bad", 0, CLI_FLAG_OR, where, "all", help, 0, 0 \
  }

/*
 * Warns of the rows of 'table' that were left out, if any were; 'n_kept' are the others.  Where
 * they are more than a fifth of all, which is seldom meant, GPNN_EDATA unless --skip-bad=all allows
 * it.
 */
GPNN_MUST_CHECK enum gpnn_status skip_check(const struct cli *cli, enum cli_given skip_bad,
                                            const struct gpnn_table *table,
                                            const struct gpnn_skipped *skipped, size_t n_kept,
                                            struct gpnn_error *err);

#endif
