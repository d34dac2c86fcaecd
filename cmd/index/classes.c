#include "cmd/index/classes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

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

/* Warns about classes without training rows, which only groups of rows leave; the first is named.
 */
static void warn_of_held_out(const struct cli *cli, const char *name,
                             const struct gpnn_dataset *dataset, size_t t)
{
  const struct gpnn_column *column = gpnn_schema_target(&dataset->schema, t);
  const double *y = t == 0 ? dataset->y : dataset->more + (t - 1) * dataset->n;
  char target[GPNN_MASK_BYTES], shown[GPNN_MASK_BYTES];
  bool is_there[GPNN_LEVELS_MAX] = {false};
  size_t n_held_out = 0, first = 0;
  for (size_t i = 0; i < dataset->n; i++)
    if (!isnan(y[i])) is_there[(size_t)y[i]] = true;
  for (size_t c = column->n_levels; c-- > 0;) {
    if (is_there[c]) continue;
    first = c;
    n_held_out++;
  }
  if (n_held_out == 0) return;
  cli_warn(
      cli,
      "%s: column '%s': %zu of %zu classes have no training row, as their groups are held out, "
      "'%s' for one",
      name, gpnn_schema_column_name(column, target), n_held_out, column->n_levels,
      gpnn_mask(shown, column->levels[first], column->level_lengths[first]));
}

/* True if two names differ but in blanks around them and in the case of letters. */
static bool are_alike(const struct gpnn_column *column, size_t a, size_t b)
{
  const char *s[] = {column->levels[a], column->levels[b]};
  size_t n[] = {column->level_lengths[a], column->level_lengths[b]};
  for (size_t k = 0; k < 2; k++) {
    while (n[k] > 0 && isspace((unsigned char)s[k][n[k] - 1])) n[k]--;
    for (; n[k] > 0 && isspace((unsigned char)*s[k]); s[k]++) n[k]--;
  }
  return n[0] == n[1] && strncasecmp(s[0], s[1], n[0]) == 0;
}

/* Warns about classes that are two for their spelling only; the first are named. */
static void warn_of_alike(const struct cli *cli, const char *name, const struct gpnn_column *column)
{
  char target[GPNN_MASK_BYTES], one[GPNN_MASK_BYTES], other[GPNN_MASK_BYTES];
  for (size_t a = 0; a < column->n_levels; a++)
    for (size_t b = a + 1; b < column->n_levels; b++) {
      if (!are_alike(column, a, b)) continue;
      cli_warn(cli, "%s: column '%s': '%s' and '%s' are two classes: one in two spellings?", name,
               gpnn_schema_column_name(column, target),
               gpnn_mask(one, column->levels[a], column->level_lengths[a]),
               gpnn_mask(other, column->levels[b], column->level_lengths[b]));
      return;
    }
}

/* True of whole numbers from 0 on. */
static bool are_counts(const struct gpnn_training_target *target)
{
  for (size_t i = 0; i < target->n_different; i++)
    if (target->different[i] < 0) return false;
  return true;
}

/* True if a target of numbers may be meant to be classes: few whole numbers, each of many rows. */
static bool looks_like_classes(const struct gpnn_training_target *target, size_t n_rows)
{
  enum { ROWS_A_CLASS = 10 };
  size_t n = target->n_different;
  for (size_t i = 0; i < n; i++)
    if (target->different[i] != floor(target->different[i])) return false;
  return n > 1 && n < GPNN_TRAINING_MANY && n <= n_rows / ROWS_A_CLASS;
}

void classes_describe(const struct cli *cli, const char *name, const struct gpnn_training *training)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  char shown[GPNN_MASK_BYTES];
  for (size_t t = 0; t <= schema->n_more; t++) {
    const struct gpnn_training_target *target = &training->targets[t];
    const struct gpnn_column *column = gpnn_schema_target(schema, t);
    if (gpnn_schema_has_classes(schema, t)) {
      warn_of_single(cli, name, column, target->n_rows);
      warn_of_alike(cli, name, column);
      if (training->row_group != NULL) warn_of_held_out(cli, name, &training->dataset, t);
    } else if (looks_like_classes(target, training->n - training->n_lacking[t])) {
      cli_warn(
          cli,
          "%s: target '%s' has only %zu different values: if they are classes, use --classes%s",
          name, gpnn_schema_column_name(column, shown), target->n_different,
          are_counts(target) ? "; if counts, --likelihood poisson or negbin when it is fitted"
                             : "");
    }
  }
}
