#include "cmd/explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "dataset/training/training.h"

static const struct explain_kind {
  const char *name;
  unsigned has;
  size_t share; /* rows that are predicted from the same neighbours; 0: each from its own */
  size_t draws; /* of what is missing; 0: as usual */
  enum gpnn_status (*run)(struct explaining *e, struct gpnn_error *err);
} kinds[] = {
    {"rows", EXPLAIN_NEIGHBOURS | EXPLAIN_TABLE, 0, 0, explain_rows},
    {"importance", EXPLAIN_COLUMNS | EXPLAIN_SAMPLE | EXPLAIN_SCORED, 10, 3, explain_importance},
    {"effect", EXPLAIN_COLUMNS | EXPLAIN_SAMPLE | EXPLAIN_GRID | EXPLAIN_DRAWS, 0, 0,
     explain_effect},
    {"sobol", EXPLAIN_COLUMNS | EXPLAIN_SAMPLE | EXPLAIN_DRAWS | EXPLAIN_INPUTS, 0, 0,
     explain_sobol},
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
  return (a->kind->has & EXPLAIN_TABLE) == 0 ? a->with : a->loo ? NULL : cli_operand(rest, 1);
}

/* What is given in vain is a mistake. */
static bool check_meaning(const struct cli *rest, const struct explain_arguments *a)
{
  const char *misplaced = cli_misplaced(rest, EXPLAIN_ALL & ~a->kind->has);
  if (misplaced != NULL)
    return cli_refuse(rest, "--%s does not apply to %s", misplaced, a->kind->name);
  if (rest->n_operands > 1 && a->loo)
    return cli_refuse(rest, "--loo explains the rows of the index, and no table");
  if (a->keep != NULL && a->loo)
    return cli_refuse(rest, "--keep carries columns of a table along, which --loo does not read");
  if (rest->n_operands > 1 && (a->kind->has & EXPLAIN_TABLE) == 0)
    return cli_refuse(rest, "%s reads an index and no table%s", a->kind->name,
                      (a->kind->has & EXPLAIN_SCORED) != 0 ? " but that of --with" : "");
  if (a->by != NULL && a->with == NULL)
    return cli_refuse(rest, "--by groups the rows of --with TABLE, which is not given");
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
  if (a->interval.n > 1) return cli_refuse(cli, "option --interval: one probability, as 0.95");
  if (a->interval.n == 0) a->interval = (struct cli_probabilities){1, {0.95}};
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

enum gpnn_status explain_number_rows(const struct explaining *e, uint64_t **number,
                                     struct gpnn_error *err)
{
  const struct gpnn_dataset *all = gpnn_index_dataset(e->opened.index);
  size_t t = e->view->target, n_before = 0, n = 0;
  const double *y = t == 0 ? all->y : all->more + (t - 1) * all->n;
  uint64_t *held_out = NULL;
  enum gpnn_status status = gpnn_training_held_out(all, &held_out, err);
  if (status != GPNN_OK) return status;
  uint64_t *found = gpnn_alloc(e->view->n, 1, sizeof *found);
  for (size_t row = 0; row < all->n && found != NULL; row++) {
    while (n_before < all->n_calibration && held_out[n_before] == row + n_before) n_before++;
    if (!isnan(y[row]) && n < e->view->n) found[n++] = row + n_before + 1;
  }
  free(held_out);
  *number = found;
  return found == NULL ? gpnn_fail_memory(err, "for the numbers of rows") : GPNN_OK;
}

/* ---- columns ------------------------------------------------------------------------------ */

/* Adds a column to the item that is being made, the last. */
static enum gpnn_status add_member(struct explain_items *items, size_t k, struct gpnn_error *err)
{
  struct explain_item *item = &items->of[items->n];
  const struct gpnn_explain_column **end = items->members;
  for (size_t i = 0; i <= items->n; i++) end += items->of[i].group.n;
  for (const struct gpnn_explain_column **own = items->members; own < end; own++)
    if (*own == &items->columns.of[k])
      return gpnn_fail(err, GPNN_EINVAL, "option -x: column '%s' is there twice",
                       items->columns.of[k].name);
  *end = &items->columns.of[k];
  item->group.of = end - item->group.n++;
  return GPNN_OK;
}

/* Adds the column called name[length], or all whose names begin so if it ends with '*'. */
static enum gpnn_status add_named(const struct explaining *e, struct explain_items *items,
                                  const char *name, size_t length, struct gpnn_error *err)
{
  size_t k = gpnn_explain_columns_named(&items->columns, e->channel->dataset, name, length);
  size_t n = items->of[items->n].group.n;
  enum gpnn_status status = GPNN_OK;
  char shown[GPNN_MASK_BYTES];
  if (k != SIZE_MAX) return add_member(items, k, err);
  if (length == 0) return gpnn_fail(err, GPNN_EINVAL, "option -x: a name is empty");
  bool is_start = length > 1 && name[length - 1] == '*';
  for (k = 0; k < items->columns.n && is_start && status == GPNN_OK; k++)
    if (strncmp(items->columns.of[k].name, name, length - 1) == 0)
      status = add_member(items, k, err);
  if (status != GPNN_OK || items->of[items->n].group.n > n) return status;
  return gpnn_fail(err, GPNN_EINVAL, "option -x: the model has no column '%s'",
                   gpnn_mask(shown, name, length));
}

/* Adds an item of -x: a column, or several with '+' between. */
static enum gpnn_status add_item(const struct explaining *e, struct explain_items *items,
                                 const char *name, size_t length, struct gpnn_error *err)
{
  struct explain_item *item = &items->of[items->n];
  size_t whole = gpnn_explain_columns_named(&items->columns, e->channel->dataset, name, length);
  enum gpnn_status status = GPNN_OK;
  gpnn_mask(item->name, name, length);
  for (size_t at = 0; at <= length && status == GPNN_OK;) {
    const char *plus = whole != SIZE_MAX ? NULL : memchr(name + at, '+', length - at);
    size_t part = plus == NULL ? length - at : (size_t)(plus - name) - at;
    status = add_named(e, items, name + at, part, err);
    at += part + 1;
  }
  if (status == GPNN_OK && item->group.n == 1)
    memcpy(item->name, item->group.of[0]->name, sizeof item->name);
  items->n++;
  return status;
}

enum gpnn_status explain_find_items(const struct explaining *e, struct explain_items *items,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = e->channel->dataset;
  const char *name, *rest = e->a->inputs;
  size_t length, n = 1;
  enum gpnn_status status = gpnn_explain_columns_find(
      &items->columns, dataset, gpnn_parameters_use_regressors(e->channel->parameters), err);
  if (status != GPNN_OK) return status;
  for (const char *at = rest; at != NULL && *at != '\0'; at++) n += *at == ',';
  if (rest == NULL) n = items->columns.n;
  items->of = gpnn_alloc(n, 1, sizeof *items->of);
  items->members = gpnn_alloc(items->columns.n + 1, 1, sizeof(const struct gpnn_explain_column *));
  if (items->of == NULL || items->members == NULL) return gpnn_fail_memory(err, "for the columns");
  memset(items->of, 0, n * sizeof *items->of);
  for (size_t k = 0; k < items->columns.n && e->a->inputs == NULL; k++) {
    memcpy(items->of[k].name, items->columns.of[k].name, sizeof items->of[k].name);
    items->members[k] = &items->columns.of[k];
    items->of[items->n++].group = (struct gpnn_explain_group){1, &items->members[k]};
  }
  while (status == GPNN_OK && (name = gpnn_list_next(&rest, &length)) != NULL)
    status = add_item(e, items, name, length, err);
  return status;
}

void explain_items_release(struct explain_items *items)
{
  gpnn_explain_columns_release(&items->columns);
  free(items->of);
  free(items->members);
  *items = (struct explain_items){0};
}

/* ---- the kinds ---------------------------------------------------------------------------- */

enum gpnn_status explain_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct explain_arguments *a = arguments;
  const struct cli rest = without_kind(cli);
  struct explaining e = {.cli = &rest, .a = a};
  e.opened.share = a->kind->share;
  e.opened.draws = a->kind->draws;
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
