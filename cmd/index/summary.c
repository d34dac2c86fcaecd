#include "cmd/index/summary.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_BYTES = 220, SHOWN = 5, LONGEST_TAIL = sizeof " (1000 classes), ..." };

/* Appends a name to a list that has room for it. */
static size_t add_name(char names[NAMES_BYTES], size_t used, const struct gpnn_column *column)
{
  char shown[GPNN_MASK_BYTES];
  bool has_classes = column->kind == GPNN_COLUMN_CLASSES;
  gpnn_mask(shown, column->name, strlen(column->name));
  int n = has_classes
              ? snprintf(names + used, NAMES_BYTES - used, "%s%s (%zu classes)",
                         used > 0 ? ", " : "", shown, column->n_levels)
              : snprintf(names + used, NAMES_BYTES - used, "%s%s", used > 0 ? ", " : "", shown);
  return n < 0 ? used : used + (size_t)n;
}

/* Lists the names of the first columns of 'n', with dots where there are more, and counts all;
 * inputs that share a column, as those of a date do, are one. */
static size_t list_names(char names[NAMES_BYTES], size_t n, const struct gpnn_column *columns)
{
  size_t used = 0, n_listed = 0, n_columns = 0;
  names[0] = '\0';
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && columns[i].position == columns[i - 1].position) continue;
    n_columns++;
    if (n_listed == SHOWN || used + GPNN_MASK_BYTES + LONGEST_TAIL > NAMES_BYTES) continue;
    used = add_name(names, used, &columns[i]);
    n_listed++;
  }
  if (n_listed < n_columns) snprintf(names + used, NAMES_BYTES - used, ", ...");
  return n_columns;
}

/* The delimiter in words, where it was detected and is none that goes without saying. */
static const char *assumed_delimiter(const struct cli *cli, const struct gpnn_table *table)
{
  if (cli->table.delimiter != 0) return "";
  switch (gpnn_table_delimiter(table)) {
  case ';':
    return ", fields separated by semicolons";
  case '|':
    return ", fields separated by vertical bars";
  case ' ':
    return ", fields separated by blanks";
  default:
    return "";
  }
}

void summary_say(const struct cli *cli, const struct gpnn_table *table,
                 const struct gpnn_dataset *dataset)
{
  const struct gpnn_schema *schema = &dataset->schema;
  char target[NAMES_BYTES], more[NAMES_BYTES], inputs[NAMES_BYTES];
  list_names(target, 1, &schema->target);
  list_names(more, schema->n_more, schema->more);
  size_t n_inputs = list_names(inputs, schema->n_inputs, schema->inputs);
  cli_say(cli, "%s%s: target%s %s%s%s, %zu input%s (%s), %zu row%s and %zu held out",
          gpnn_table_name(table), assumed_delimiter(cli, table), schema->n_more > 0 ? "s" : "",
          target, schema->n_more > 0 ? ", " : "", more, n_inputs, n_inputs == 1 ? "" : "s", inputs,
          dataset->n, dataset->n == 1 ? "" : "s", dataset->n_calibration);
}
