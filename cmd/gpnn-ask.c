/* gpnn-ask: a model and a pool of rows in, the ids of those to ask another owner about out. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/common/pool.h"
#include "cotrain/ask.h"

struct arguments {
  const char *params, *target, *id, *asked; /* NULL: not given */
  size_t count;
  enum gpnn_ask_strategy strategy;
};

struct asking {
  const struct cli *cli;
  const struct arguments *a;
  struct opened opened;
  struct gpnn_model *model;
  struct pool pool;
  struct ids asked; /* those that were asked before */
  size_t n;         /* rows that may be asked about */
  size_t *rows;     /* owned; their numbers in the pool */
  double *x;        /* owned; n by d: their inputs */
  size_t *chosen;   /* owned; of these rows */
  size_t n_chosen;
};

static bool resolve(const struct cli *cli, void *arguments)
{
  struct arguments *a = arguments;
  if (a->id == NULL) a->id = "id";
  if (!open_default_params(cli, &a->params)) return false;
  const char *const paths[] = {a->params, a->asked, cli_operand(cli, 1)};
  size_t n = 0;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    n += paths[i] != NULL && strcmp(paths[i], "-") == 0;
  if (n > 1)
    return cli_refuse(cli, "only one of parameters, pool and --not can come from standard input");
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, cli_operand(cli, 1)) &&
         cli_check_overwrite(cli, cli->output, a->params);
}

static enum gpnn_status open_all(struct asking *r, struct gpnn_error *err)
{
  const struct cli *cli = r->cli;
  enum gpnn_status status =
      open_single(cli, r->a->params, r->a->target, "owners ask about rows, not about cells",
                  &r->opened, &r->model, err);
  if (status == GPNN_OK && r->a->asked != NULL)
    status = ids_read(cli, r->a->asked, r->a->id, &r->asked, err);
  if (status != GPNN_OK) return status;
  return pool_read(cli, r->opened.dataset, cli_operand(cli, 1), r->a->id, NULL, false, &r->pool,
                   err);
}

/* Lists the rows of the pool that were not asked about before. */
static enum gpnn_status list_rows(struct asking *r, struct gpnn_error *err)
{
  const struct ids *ids = &r->pool.ids;
  const size_t d = r->opened.dataset->d;
  r->rows = gpnn_alloc(ids->n, 1, sizeof *r->rows);
  r->chosen = gpnn_alloc(ids->n, 1, sizeof *r->chosen);
  r->x = gpnn_alloc(ids->n, d, sizeof *r->x);
  if (r->rows == NULL || r->chosen == NULL || r->x == NULL)
    return gpnn_fail_memory(err, "for the rows of a pool");
  for (size_t i = 0; i < ids->n; i++) {
    if (ids_find(&r->asked, ids->text[i], strlen(ids->text[i])) != SIZE_MAX) continue;
    memcpy(r->x + r->n * d, r->pool.x + i * d, d * sizeof *r->x);
    r->rows[r->n++] = i;
  }
  return GPNN_OK;
}

static enum gpnn_status write_ids(const struct asking *r, struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  enum gpnn_status status = cli_open_output(r->cli->output, &output, err);
  if (status == GPNN_OK)
    status = gpnn_table_write_field(output, '\t', r->a->id, strlen(r->a->id), err);
  if (status == GPNN_OK) status = gpnn_output_text(output, "\n", err);
  for (size_t t = 0; t < r->n_chosen && status == GPNN_OK; t++) {
    const char *id = r->pool.ids.text[r->rows[r->chosen[t]]];
    status = gpnn_table_write_field(output, '\t', id, strlen(id), err);
    if (status == GPNN_OK) status = gpnn_output_text(output, "\n", err);
  }
  return cli_close_output(output, status, err);
}

static void release(struct asking *r)
{
  free(r->rows);
  free(r->x);
  free(r->chosen);
  ids_release(&r->asked);
  pool_release(&r->pool);
  gpnn_model_free(r->model);
  open_release(&r->opened);
}

static enum gpnn_status work(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct asking r = {.cli = cli, .a = arguments};
  enum gpnn_status status = open_all(&r, err);
  if (status == GPNN_OK) status = list_rows(&r, err);
  if (status == GPNN_OK)
    status = gpnn_ask_choose(r.model, r.a->strategy, r.n, r.x, r.a->count, cli->seed, r.chosen,
                             &r.n_chosen, err);
  if (status == GPNN_OK) status = write_ids(&r, err);
  if (status == GPNN_OK && r.n_chosen < r.a->count)
    cli_warn(cli, "only %zu rows of the pool were left to ask about", r.n_chosen);
  release(&r);
  return status;
}

/* ---- options, main ------------------------------------------------------------------------- */

#define ARGUMENTS struct arguments

static const struct cli_word strategies[] = {{"variance", GPNN_ASK_VARIANCE},
                                             {"greedy", GPNN_ASK_GREEDY},
                                             {"random", GPNN_ASK_RANDOM},
                                             CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_TEXT(0, "targets", target, "NAME", "the target, if there are several"),
    CLI_TEXT(0, "id", id, "COL", "the column that both owners know rows by (id)"),
    CLI_COUNT(0, "count", count, "N", "rows to ask about (25)", 1, 1e6),
    CLI_CHOICE(0, "strategy", strategy, "HOW", "choose rows", strategies),
    CLI_TEXT(0, "not", asked, "FILE", "a table of ids that were asked before"),
};

static const struct cli_tool tool = {
    .name = "gpnn-ask",
    .synopsis = "[OPTION...] -p PARAMS INDEX [POOL]",
    .purpose = "Choose the rows of a pool to ask another owner of data about: those of which the\n"
               "model is least certain.  Prints their ids, for gpnn-answer.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS | CLI_SEEDED,
    .min_operands = 1,
    .max_operands = 2,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = work};

int main(int argc, char **argv)
{
  struct arguments arguments = {.count = 25};
  return cli_main(&tool, &arguments, argc, argv);
}
