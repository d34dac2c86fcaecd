/*
 * skip: what --skip-bad leaves out, reported or refused.
 */
#ifndef GPNN_CMD_COMMON_SKIP_H
#define GPNN_CMD_COMMON_SKIP_H

#include "cmd/common/cli.h"
#include "table/skipped.h"

/* How many bad rows may be left out: none (the first is an error), up to a fifth, or any number. */
enum skip_bad { SKIP_NONE, SKIP_SOME, SKIP_ALL };

extern const struct cli_word skip_words[];

/* The row of --skip-bad. */
#define SKIP_OPTION(member, help) \
  CLI_FLAG_OR(0, "skip-bad", member, "all", help, skip_words, .of = CLI_OF_TABLE)

/*
 * Warns if rows of 'table' were left out; 'n_kept' were not.  GPNN_EDATA if they are more than a
 * fifth of all, which is seldom intended, unless --skip-bad=all allows it.
 */
GPNN_MUST_CHECK enum gpnn_status skip_check(const struct cli *cli, enum skip_bad skip_bad,
                                            const struct gpnn_table *table,
                                            const struct gpnn_skipped *skipped, size_t n_kept,
                                            struct gpnn_error *err);

#endif
