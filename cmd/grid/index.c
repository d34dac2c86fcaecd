/* gpnn-grid index: a long or wide table in, an index of kind grid out. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/cli.h"
#include "cmd/common/json.h"
#include "cmd/common/open.h"
#include "cmd/common/output.h"
#include "cmd/common/progress.h"
#include "cmd/common/signals.h"
#include "cmd/common/skip.h"
#include "cmd/common/table.h"
#include "cmd/grid/grid.h"
#include "dataset/grid/reading.h"
#include "dataset/index/index.h"
#include "kernel/parameters.h"

struct index_arguments {
  const char *output, *target, *site, *time, *times, *drop, *names;
  struct cli_list factors, dates;
  bool is_wide;
  enum skip_bad skip_bad;
  struct gpnn_grid_roles roles;
  char factor_name[GPNN_GRID_MOST_FACTORS][GPNN_MASK_BYTES];
};

#define ARGUMENTS struct index_arguments

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", output, "FILE", "the index to write, whole or not at all"),
    CLI_TEXT('y', "target", target, "COL", "what was observed (the last column)"),
    CLI_TEXT(0, "site", site, "LIST", "columns that say where, as in lat,lon"),
    CLI_TEXT(0, "time", time, "LIST", "column that says when"),
    CLI_LIST(0, "factor", factors, "NAME=LIST", "columns of any factor, two to six of them"),
    CLI_FLAG(0, "wide", is_wide, "a row for each site, a column for each time"),
    CLI_TEXT(0, "times", times, "LIST", "of a wide table: columns that are times (all others)"),
    CLI_TEXT(0, "drop", drop, "LIST", "of a wide table: columns to ignore"),
    CLI_TEXT(0, "names", names, "LIST", "columns whose values are names, numbers too"),
    CLI_LIST(0, "date", dates, "LIST[=FORMAT]", "columns that are dates, as in day=%d/%m/%Y"),
    SKIP_OPTION(skip_bad, "leave bad rows out; all: however many"),
};

/* The unfinished index file, for the signal handler. */
static const char *volatile unfinished;

/* ---- options ------------------------------------------------------------------------------ */

/* Adds a factor; false after a refusal. */
static bool add_factor(const struct cli *cli, struct index_arguments *a, const char *name,
                       const char *columns)
{
  struct gpnn_grid_roles *roles = &a->roles;
  if (roles->n_factors == GPNN_GRID_MOST_FACTORS)
    return cli_refuse(cli, "a grid has at most %d factors", GPNN_GRID_MOST_FACTORS);
  roles->factor[roles->n_factors++] = (struct gpnn_grid_factor_roles){name, columns};
  return true;
}

/* Names of factors begin lines of parameters, as in site.kernel. */
static bool is_name(const char *name)
{
  return (isalpha((unsigned char)name[0]) || name[0] == '_') &&
         gpnn_parameters_can_name_factor(name);
}

/* Takes an item NAME=LIST of --factor. */
static bool split_factor(const struct cli *cli, struct index_arguments *a, const char *item)
{
  const char *sign = strchr(item, '=');
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, item, strlen(item));
  if (sign == NULL || sign[1] == '\0')
    return cli_refuse(cli, "--factor '%s': not of the form NAME=LIST, as in depth=level", shown);
  if (a->roles.n_factors == GPNN_GRID_MOST_FACTORS)
    return cli_refuse(cli, "a grid has at most %d factors", GPNN_GRID_MOST_FACTORS);
  char *name = a->factor_name[a->roles.n_factors];
  size_t length = (size_t)(sign - item) < GPNN_MASK_BYTES ? (size_t)(sign - item) : 0;
  memcpy(name, item, length);
  name[length] = '\0';
  if (!is_name(name))
    return cli_refuse(cli,
                      "--factor '%s': the name of a factor is a letter, followed by at most %d "
                      "letters, digits, '-' and '_', and not that of another parameter",
                      shown, GPNN_FACTOR_NAME_BYTES - 1);
  return add_factor(cli, a, name, sign + 1);
}

static bool resolve_wide(const struct cli *cli, struct index_arguments *a)
{
  if (a->site == NULL) return cli_refuse(cli, "--wide needs --site LIST: what says where a row is");
  if (a->factors.n > 0) return cli_refuse(cli, "--wide has two factors, which rules out --factor");
  if (a->dates.n > 0)
    return cli_refuse(cli, "--wide takes dates from the names of columns, written as 2010-03-01: "
                           "leave out --date");
  return add_factor(cli, a, "site", a->site) &&
         add_factor(cli, a, "time", a->time == NULL ? "time" : a->time);
}

static bool resolve_long(const struct cli *cli, struct index_arguments *a)
{
  if (a->times != NULL || a->drop != NULL)
    return cli_refuse(cli, "--%s is for wide tables: add --wide",
                      a->times != NULL ? "times" : "drop");
  if (a->site != NULL && !add_factor(cli, a, "site", a->site)) return false;
  if (a->time != NULL && !add_factor(cli, a, "time", a->time)) return false;
  for (size_t i = 0; i < a->factors.n; i++)
    if (!split_factor(cli, a, a->factors.items[i])) return false;
  if (a->roles.n_factors >= GPNN_GRID_LEAST_FACTORS) return true;
  return cli_refuse(cli, "say what the grid is made of: --site LIST --time COL, or --factor "
                         "NAME=LIST twice or more often");
}

static bool resolve(const struct cli *cli, void *arguments)
{
  struct index_arguments *a = arguments;
  if (a->output == NULL || strcmp(a->output, "-") == 0)
    return cli_refuse(cli, "an index is a binary file: name it with -o FILE");
  if (!(a->is_wide ? resolve_wide(cli, a) : resolve_long(cli, a))) return false;
  a->roles.target = a->target;
  a->roles.names = a->names;
  a->roles.n_dates = a->dates.n;
  a->roles.dates = a->dates.items;
  a->roles.is_wide = a->is_wide;
  a->roles.times = a->times;
  a->roles.drop = a->drop;
  return cli_check_overwrite(cli, a->output, cli_operand(cli, 0));
}

/* ---- the work ----------------------------------------------------------------------------- */

static void warn(const struct cli *cli, const char *name, const struct gpnn_grid_reading *r)
{
  static const double most = 0.5, alone = 0.9;
  enum { FEW_CELLS = 20 };
  const struct gpnn_grid *grid = &r->grid;
  if (grid->n_observations > 2 && r->outlier_fraction > most)
    cli_warn(cli, "%s: one observation, %.6g, has %.0f %% of the target's variance: a slip?", name,
             r->outlier, 100 * r->outlier_fraction);
  if (grid->n_observations > grid->n_cells)
    cli_warn(cli, "%s: %zu observations are of %zu cells: those of the same cell are averaged",
             name, grid->n_observations, grid->n_cells);
  for (size_t a = 0; a < r->n_axes; a++)
    if (r->axis[a].n_empty > 0)
      cli_warn(cli, "%s: %zu of %zu levels of %s have no observation at all", name,
               r->axis[a].n_empty, r->axis[a].n, r->axis[a].name);
  for (size_t a = 0; a < r->n_axes; a++)
    if (grid->n_cells >= FEW_CELLS && (double)r->axis[a].n > alone * (double)grid->n_cells)
      cli_warn(
          cli,
          "%s: %zu observations are of %zu levels of %s, so that nearly each has its own: "
          "round numbers that are meant to be the same, or use gpnn-index, which needs no grid",
          name, grid->n_observations, r->axis[a].n, r->axis[a].name);
}

/* "53 levels of site x 365 of time: 17630 of 19345 cells observed, 8.9 % missing". */
static void describe(const struct cli *cli, const char *name, const struct gpnn_grid_reading *r)
{
  char sizes[GPNN_GRID_MOST_FACTORS * (GPNN_MASK_BYTES + 48)] = "";
  size_t used = 0, size = gpnn_grid_size(&r->grid);
  for (size_t a = 0; a < r->n_axes; a++)
    used += (size_t)snprintf(sizes + used, sizeof sizes - used, "%s%zu%s of %s%s",
                             a == 0 ? "" : " x ", r->axis[a].n, a == 0 ? " levels" : "",
                             r->axis[a].name, r->axis[a].has_names ? " (names)" : "");
  cli_say(cli, "%s: %s: %zu of %zu cells observed, %.1f %% missing", name, sizes, r->grid.n_cells,
          size, 100 * (1 - (double)r->grid.n_cells / (double)size));
  warn(cli, name, r);
}

static void report(const struct cli *cli, const struct gpnn_grid_reading *r)
{
  struct json *json = cli->report;
  json_count(json, "cells", r->grid.n_cells);
  json_count(json, "observations", r->grid.n_observations);
  json_count(json, "skipped-rows", r->skipped.n);
  json_open(json, "factors", '[');
  for (size_t a = 0; a < r->n_axes; a++) {
    json_open(json, NULL, '{');
    json_text(json, "name", r->axis[a].name);
    json_count(json, "levels", r->axis[a].n);
    json_count(json, "empty", r->axis[a].n_empty);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static enum gpnn_status index_table(const struct cli *cli, const struct index_arguments *a,
                                    struct gpnn_table *table, struct gpnn_error *err)
{
  struct gpnn_grid_reading reading = {.n = 0};
  const char *name = gpnn_table_name(table);
  enum gpnn_status status = gpnn_grid_reading_begin(&reading, table, &a->roles, err);
  if (status == GPNN_OK)
    status =
        gpnn_grid_reading_read(&reading, table, a->skip_bad != SKIP_NONE, progress_rows_read, err);
  progress_erase();
  if (status == GPNN_OK)
    status = skip_check(cli, a->skip_bad, table, &reading.skipped, reading.n_rows, err);
  if (status == GPNN_OK) status = gpnn_grid_reading_finish(&reading, name, err);
  if (status == GPNN_OK) {
    describe(cli, name, &reading);
    report(cli, &reading);
    reading.dataset.reading = (struct gpnn_reading){cli->table.delimiter, a->skip_bad != SKIP_NONE,
                                                    (uint32_t)cli->table.skip_lines};
    status = gpnn_index_write_grid(a->output, &reading.dataset, &unfinished, err);
  }
  gpnn_grid_reading_release(&reading);
  return status;
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct index_arguments *a = arguments;
  struct gpnn_table *table = NULL;
  cli_guard(&unfinished);
  json_text(cli->report, "index", a->output);
  enum gpnn_status status = cli_try_output(a->output, &unfinished, err);
  if (status == GPNN_OK) status = gpnn_table_open(&table, cli_operand(cli, 0), &cli->table, err);
  if (status == GPNN_OK) status = index_table(cli, a, table, err);
  if (status == GPNN_OK) table_warn_if_torn(cli, table);
  gpnn_table_close(table);
  return status;
}

static const struct cli_tool tool = {
    .name = "gpnn-grid index",
    .synopsis = "[OPTION...] --site LIST --time COL -o INDEX [TABLE]\n"
                "       gpnn-grid index [OPTION...] --factor NAME=LIST... -o INDEX [TABLE]\n"
                "       gpnn-grid index [OPTION...] --wide --site LIST -o INDEX [TABLE]",
    .purpose = "Write the index of a grid: the observations of a table by their sites and times.\n"
               "A cell that was not observed has no row, or an empty value.",
    .groups = CLI_TABLE | CLI_PROGRESS | CLI_REPORT,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = run};

int grid_index(int argc, char **argv)
{
  struct index_arguments arguments = {.output = NULL};
  return cli_main(&tool, &arguments, argc, argv);
}
