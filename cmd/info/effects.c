#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/open.h"
#include "cmd/info/info.h"
#include "kernel/effects.h"

/* ---- what an index says of them -------------------------------------------------------------- */

void info_put_effects(struct facts *facts, const struct gpnn_dataset *dataset)
{
  struct gpnn_effect_design design = {0};
  char name[GPNN_MASK_BYTES];
  if (!gpnn_dataset_has_effects(dataset) || facts->status != GPNN_OK) return;
  facts->status = gpnn_effect_design_make(&design, dataset, false, NULL, NULL, &facts->error);
  facts_open_list(facts, "effect");
  for (size_t e = 0; e < design.n_effects; e++) {
    facts_open_row(facts, NULL, '{');
    facts_text(facts, "name", gpnn_schema_effect_name(&dataset->schema, e, name));
    facts_count(facts, "groups", design.groups[e].n);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
  gpnn_effect_design_release(&design);
}

/* ---- the table ------------------------------------------------------------------------------- */

struct table {
  struct gpnn_output *output;
  bool names_targets; /* there are several */
  char *group;        /* owned; the text of one */
  size_t capacity;
};

static enum gpnn_status write_field(struct table *table, const char *text, size_t length,
                                    const char *end, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_table_write_field(table->output, '\t', text, length, err);
  return status == GPNN_OK ? gpnn_output_text(table->output, end, err) : status;
}

/* Writes the levels that a group is of, joined by colons. */
static enum gpnn_status write_group(struct table *table, const struct gpnn_schema *schema,
                                    const struct gpnn_effect_entry *entry, struct gpnn_error *err)
{
  const struct gpnn_group_effect *effect = &schema->effects[entry->effect];
  size_t used = 0;
  for (size_t k = 0; k < effect->n_columns; k++) {
    const struct gpnn_column *column = &schema->inputs[effect->columns[k]];
    size_t level = entry->levels[k], length = column->level_lengths[level];
    if (!gpnn_grow(&table->group, &table->capacity, used + 1 + length, 1))
      return gpnn_fail_memory(err, "for the groups");
    if (k > 0) table->group[used++] = ':';
    memcpy(table->group + used, column->levels[level], length);
    used += length;
  }
  return write_field(table, table->group, used, "\t", err);
}

static enum gpnn_status write_entry(struct table *table, const struct gpnn_schema *schema,
                                    const struct gpnn_effect_entry *entry, struct gpnn_error *err)
{
  const struct gpnn_group_effect *effect = &schema->effects[entry->effect];
  const char *term = entry->is_slope ? schema->inputs[effect->slope].name : "intercept";
  char name[GPNN_MASK_BYTES];
  gpnn_schema_effect_name(schema, entry->effect, name);
  enum gpnn_status status = GPNN_OK;
  if (table->names_targets)
    status = write_field(table, schema->target.name, strlen(schema->target.name), "\t", err);
  if (status == GPNN_OK) status = write_field(table, name, strlen(name), "\t", err);
  if (status == GPNN_OK) status = write_group(table, schema, entry, err);
  if (status == GPNN_OK) status = write_field(table, term, strlen(term), "\t", err);
  if (status == GPNN_OK) status = gpnn_output_printf(table->output, err, "%zu\t", entry->n_rows);
  if (status == GPNN_OK) status = gpnn_output_number(table->output, entry->estimate, err);
  if (status == GPNN_OK) status = gpnn_output_text(table->output, "\t", err);
  if (status == GPNN_OK) status = gpnn_output_number(table->output, entry->sd, err);
  return status == GPNN_OK ? gpnn_output_text(table->output, "\n", err) : status;
}

static enum gpnn_status write_channel(struct table *table, const struct gpnn_channel *channel,
                                      struct gpnn_error *err)
{
  struct gpnn_effect_entry *entries = NULL;
  size_t n = 0;
  enum gpnn_status status =
      gpnn_effects_list(channel->dataset, &channel->parameters->effects, &entries, &n, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = write_entry(table, &channel->dataset->schema, &entries[i], err);
  free(entries);
  return status;
}

/* ---- entry point ----------------------------------------------------------------------------- */

/* Refuses an index or parameters that have no effects. */
static enum gpnn_status check(const struct opened *opened, struct gpnn_error *err)
{
  if (!gpnn_dataset_has_effects(opened->dataset))
    return gpnn_fail(err, GPNN_EMISMATCH, "%s has no group effects (gpnn-index --group-effect)",
                     gpnn_index_path(opened->index));
  for (size_t t = 0; t < opened->n; t++)
    if (opened->parameters[t].effects.n_variances == 0)
      return gpnn_fail(err, GPNN_EMISMATCH, "%s: the parameters have no group effects",
                       strcmp(opened->parameters_path, "-") == 0 ? "(stdin)"
                                                                 : opened->parameters_path);
  return GPNN_OK;
}

enum gpnn_status info_write_effects(const struct cli *cli, const struct info_arguments *a,
                                    struct gpnn_error *err)
{
  struct opened opened = {.without_model = "it has no group effects"};
  struct table table = {0};
  const char *index = cli->n_operands == 0 ? a->effects : cli_operand(cli, 0);
  enum gpnn_status status = open_files(cli, index, a->effects, a->verify, &opened, err);
  if (status == GPNN_OK) status = check(&opened, err);
  if (status == GPNN_OK) status = cli_open_output(cli->output, &table.output, err);
  table.names_targets = opened.n > 1;
  if (status == GPNN_OK)
    status = gpnn_output_printf(table.output, err, "%seffect\tgroup\tterm\trows\testimate\tsd\n",
                                table.names_targets ? "target\t" : "");
  for (size_t t = 0; t < opened.n && status == GPNN_OK; t++)
    status = write_channel(&table, &opened.channels[t], err);
  status = cli_close_output(table.output, status, err);
  free(table.group);
  open_release(&opened);
  return status;
}
