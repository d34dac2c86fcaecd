#include "cmd/index/classes.h"

#include <stdio.h>

/* Warns about classes of one row, of which the first is named. */
static void warn_of_single(const struct cli *cli, const char *name,
                           const struct gpnn_column *column, const size_t *n_rows)
{
  char target[GPNN_MASK_BYTES], shown[GPNN_MASK_BYTES];
  size_t n_single = 0, first = 0;
  for (size_t c = column->n_levels; c-- > 0;) {
    if (n_rows[c] != 1) continue;
    first = c;
    n_single++;
  }
  if (n_single == 0) return;
  gpnn_schema_column_name(column, target);
  gpnn_mask(shown, column->levels[first], column->level_lengths[first]);
  if (n_single == 1)
    cli_warn(cli, "%s: column '%s': class '%s' has a single row", name, target, shown);
  else
    cli_warn(cli, "%s: column '%s': %zu of %zu classes have a single row, '%s' for one", name,
             target, n_single, column->n_levels, shown);
}

void classes_describe(const struct cli *cli, const char *name, const struct gpnn_training *training)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  for (size_t t = 0; t <= schema->n_more; t++)
    if (gpnn_schema_has_classes(schema, t))
      warn_of_single(cli, name, gpnn_schema_target(schema, t), training->targets[t].n_rows);
}
