#include "cmd/explain/explain.h"

#include <string.h>

static const struct explain_kind {
  const char *name;
  unsigned has;
  enum gpnn_status (*run)(struct explaining *e, struct gpnn_error *err);
} kinds[] = {
    {"rows", EXPLAIN_NEIGHBOURS | EXPLAIN_TABLE, explain_rows},
    {"importance", EXPLAIN_COLUMNS | EXPLAIN_SAMPLE | EXPLAIN_PERMUTED, explain_importance},
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- options ------------------------------------------------------------------------------ */

const char *explain_kind_name(size_t i)
{
  return i < N_KINDS ? kinds[i].name : NULL;
}

static const struct explain_kind *find_kind(const struct cli *cli)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (strcmp(cli->operands[0], kinds[i].name) == 0) return &kinds[i];
  char shown[GPNN_MASK_BYTES];
  cli_refuse(cli, "no such kind: \"%s\"; KIND is rows, importance, effect or sobol",
             gpnn_mask(shown, cli->operands[0], strlen(cli->operands[0])));
  return NULL;
}

/* The command line without the kind, which comes first. */
static struct cli without_kind(const struct cli *cli)
{
  struct cli rest = *cli;
  rest.operands++;
  rest.n_operands--;
  return rest;
}

/* The table that a kind reads; NULL: none. */
static const char *table_of(const struct cli *rest, const struct explain_arguments *a)
{
  return (a->kind->has & EXPLAIN_TABLE) != 0 ? cli_operand(rest, 1) : a->with;
}

/* What is given in vain is a mistake. */
static bool check_meaning(const struct cli *rest, const struct explain_arguments *a)
{
  const char *misplaced = cli_misplaced(rest, EXPLAIN_ALL & ~a->kind->has);
  if (misplaced != NULL)
    return cli_refuse(rest, "--%s does not apply to %s", misplaced, a->kind->name);
  if (rest->n_operands > 1 && (a->kind->has & EXPLAIN_TABLE) == 0)
    return cli_refuse(rest, "%s reads an index and no table%s", a->kind->name,
                      (a->kind->has & EXPLAIN_SAMPLE) != 0 ? " but that of --with" : "");
  misplaced = table_of(rest, a) == NULL ? cli_misplaced(rest, CLI_OF_TABLE) : NULL;
  return misplaced == NULL ||
         cli_refuse(rest, "--%s applies to the rows of a TABLE, which is not given", misplaced);
}

bool explain_resolve(const struct cli *cli, void *arguments)
{
  struct explain_arguments *a = arguments;
  const struct cli rest = without_kind(cli);
  a->kind = find_kind(cli);
  if (a->kind == NULL || !check_meaning(&rest, a) || !open_default_params(&rest, &a->params))
    return false;
  const char *table = table_of(&rest, a);
  if (table != NULL && a->params != NULL && strcmp(a->params, "-") == 0 && strcmp(table, "-") == 0)
    return cli_refuse(cli,
                      "parameters and table cannot both be standard input: name the parameters "
                      "with -p");
  return cli_check_overwrite(cli, cli->output, cli_operand(&rest, 0)) &&
         cli_check_overwrite(cli, cli->output, a->params) &&
         cli_check_overwrite(cli, cli->output, table);
}

/* ---- the tool ----------------------------------------------------------------------------- */

bool explain_is_warped(const struct explaining *e)
{
  const struct gpnn_parameters *parameters = e->channel->parameters;
  return parameters->transform.kind != GPNN_TRANSFORM_NONE ||
         gpnn_likelihood_is_of_counts(parameters->likelihood);
}

enum gpnn_status explain_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct explain_arguments *a = arguments;
  const struct cli rest = without_kind(cli);
  struct explaining e = {.cli = &rest, .a = a};
  e.opened.without_model = "explain the index that it was made from";
  enum gpnn_status status = open_single(&rest, a->params, a->target,
                                        "its cells have levels, not columns; gpnn-explain is for "
                                        "an index of rows",
                                        &e.opened, &e.model, err);
  if (status == GPNN_OK) {
    e.channel = &e.opened.channels[0];
    e.view = gpnn_dataset_target(gpnn_index_dataset(e.opened.index), e.channel->dataset->target);
    e.n_classes = gpnn_dataset_n_classes(e.view);
    status = a->kind->run(&e, err);
  }
  gpnn_model_free(e.model);
  open_release(&e.opened);
  return status;
}
