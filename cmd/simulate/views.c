/* gpnn-simulate views: objects that two parties see in different columns. */
#include "simulate/views.h"

#include <stdio.h>

#include "base/number.h"
#include "cmd/common/cli.h"
#include "cmd/common/progress.h"
#include "cmd/simulate/law.h"
#include "cmd/simulate/simulate.h"

/* Rows written between reports of progress. */
enum { ROUND = 1 << 12 };

struct arguments {
  size_t rows, first;
  double correlation;
  bool dependent;
  enum gpnn_views_mask mask;
  char delimiter;
};

static bool resolve(const struct cli *cli, void *arguments)
{
  const struct arguments *a = arguments;
  return simulate_check_delimiter(cli, a->delimiter);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* Appends 'value' and the character after it; returns where it ends. */
static char *put(char *at, double value, char end)
{
  at += gpnn_number_write(at, value);
  *at = end;
  return at + 1;
}

static enum gpnn_status write_object(const struct arguments *a, size_t number,
                                     const struct gpnn_views_object *object,
                                     struct gpnn_output *output, struct gpnn_error *err)
{
  char line[32 + 3 * (GPNN_NUMBER_BYTES + 1)];
  char *at = line + snprintf(line, 32, "%zu%c", number, a->delimiter);
  at = put(at, object->y, a->delimiter);
  at = put(at, object->x[0], a->delimiter);
  at = put(at, object->x[1], '\n');
  return gpnn_output_write(output, line, (size_t)(at - line), err);
}

static enum gpnn_status write_header(const struct arguments *a, struct gpnn_output *output,
                                     struct gpnn_error *err)
{
  const char c = a->delimiter;
  return gpnn_output_printf(output, err, "id%cy%cx1%cx2\n", c, c, c);
}

static enum gpnn_status write_table(const struct cli *cli, const struct arguments *a,
                                    struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_views_options options = {a->correlation, a->dependent, cli->seed};
  enum gpnn_status status = write_header(a, output, err);
  size_t number = a->first;
  for (size_t done = 0; done < a->rows && status == GPNN_OK; number++) {
    const struct gpnn_views_object object = gpnn_views_draw(&options, number);
    if (!gpnn_views_seen(a->mask, &object)) continue;
    status = write_object(a, number, &object, output, err);
    if (++done % ROUND == 0 || done == a->rows) progress_update("rows written", done, a->rows);
  }
  return status;
}

/* ---- the mode ----------------------------------------------------------------------------- */

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct arguments *a = arguments;
  struct gpnn_output *output = NULL;
  const struct gpnn_npy_text_format format = {
      .delimiter = a->delimiter, .has_header = true, .na = ""};
  enum gpnn_status status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK) status = cli_follow_name(output, cli->output, &format, err);
  if (status == GPNN_OK) status = write_table(cli, a, output, err);
  return cli_close_output(output, status, err);
}

#define ARGUMENTS struct arguments

static const struct cli_word masks[] = {{"none", GPNN_VIEWS_ALL},
                                        {"x1", GPNN_VIEWS_FIRST},
                                        {"x2", GPNN_VIEWS_SECOND},
                                        CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_COUNT('n', "size", rows, "N", "rows (1000)", 1, 1e15),
    CLI_COUNT(0, "first", first, "ID", "the id of the first row (0)", 0, 1e15),
    CLI_REAL(0, "correlation", correlation, "R", "of each view with y, -1 to 1 (0.9)", -1, 1),
    CLI_FLAG(0, "dependent", dependent, "x2 equals x1, instead of independence given y"),
    CLI_CHOICE(0, "mask", mask, "VIEW", "only rows with x1 > 0, or with x2 < 0", masks),
    CLI_DELIMITER('d', "delimiter", delimiter, "C", "field delimiter (tab)"),
};

static const struct cli_tool tool = {
    .name = "gpnn-simulate views",
    .synopsis = "[OPTION...]",
    .purpose = "Make a table that two parties see different columns of: id, y, x1, x2.",
    .groups = CLI_SEEDED | CLI_OUTPUT | CLI_PROGRESS,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = run};

int simulate_views(int argc, char **argv)
{
  struct arguments arguments = {.rows = 1000, .correlation = 0.9, .delimiter = '\t'};
  return cli_main(&tool, &arguments, argc, argv);
}
