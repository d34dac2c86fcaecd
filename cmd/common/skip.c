#include "cmd/common/skip.h"

const struct cli_word skip_words[] = {{"", SKIP_SOME}, {"all", SKIP_ALL}, CLI_END_OF_WORDS};

enum gpnn_status skip_check(const struct cli *cli, enum skip_bad skip_bad,
                            const struct gpnn_table *table, const struct gpnn_skipped *skipped,
                            size_t n_kept, struct gpnn_error *err)
{
  char why[GPNN_SKIPPED_BYTES];
  const char *name = gpnn_table_name(table);
  if (skipped->n == 0) return GPNN_OK;
  gpnn_skipped_describe(skipped, table, why);
  if (skip_bad != SKIP_ALL && gpnn_skipped_too_many(skipped, n_kept))
    return gpnn_fail(
        err, GPNN_EDATA,
        "%s: %zu of %zu rows are bad, too many to leave out without --skip-bad=all: %s", name,
        skipped->n, skipped->n + n_kept, why);
  cli_warn(cli, "%s: %zu of %zu rows left out: %s", name, skipped->n, skipped->n + n_kept, why);
  return GPNN_OK;
}
