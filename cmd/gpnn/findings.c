#include "cmd/gpnn/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/gpnn/check.h"

/* ---- columns without a role --------------------------------------------------------------- */

static bool is_at(const struct gpnn_column *columns, size_t n, size_t position)
{
  for (size_t i = 0; i < n; i++)
    if (columns[i].position == position) return true;
  return false;
}

static bool has_role(const struct gpnn_schema *schema, size_t position)
{
  return is_at(schema->inputs, schema->n_inputs, position) || is_at(&schema->target, 1, position) ||
         is_at(schema->more, schema->n_more, position) ||
         is_at(schema->regressors, schema->n_regressors, position) ||
         is_at(schema->offsets, schema->n_offsets, position) ||
         is_at(&schema->noise, schema->has_noise, position) ||
         is_at(&schema->by, schema->has_by, position) ||
         is_at(&schema->id, schema->has_id, position);
}

/* Names the columns of the open training table that have no role. */
static enum gpnn_status name_unused(struct findings *f, const struct gpnn_table *table,
                                    struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &f->opened.dataset->schema;
  f->unused = calloc(f->n_unused, sizeof *f->unused);
  if (f->unused == NULL) return gpnn_fail_memory(err, "for the report");
  for (size_t j = 0, n = 0; j < gpnn_table_columns(table) && n < f->n_unused; j++) {
    const char *name = gpnn_table_column(table, j);
    char number[32];
    if (has_role(schema, j)) continue;
    snprintf(number, sizeof number, "column %zu", j + 1);
    if (name[0] == '\0') name = number;
    f->unused[n] = gpnn_copy_text(name, strlen(name));
    if (f->unused[n++] == NULL) return gpnn_fail_memory(err, "for the report");
  }
  return GPNN_OK;
}

/* Finds the columns without a role: how many the index says; what they are called, the table, if it
 * can be read once more. */
static enum gpnn_status find_unused(struct findings *f, const struct cli *cli, const char *train,
                                    struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &f->opened.dataset->schema;
  struct gpnn_table *table = NULL;
  for (size_t j = 0; j < schema->n_columns; j++) f->n_unused += !has_role(schema, j);
  if (f->n_unused == 0 || !check_can_reread(train)) return GPNN_OK;
  struct cli as_learnt = *cli;
  as_learnt.table.has_header = schema->has_header;
  enum gpnn_status status = open_table(&as_learnt, f->opened.dataset, train, &table, err);
  if (status == GPNN_OK && gpnn_table_columns(table) == schema->n_columns)
    status = name_unused(f, table, err);
  gpnn_table_close(table);
  return status;
}

/* ---- scores ------------------------------------------------------------------------------- */

/* Reads what calibration has estimated without each fold of rows like those scored, if it has. */
static void read_folds(const struct places *places, struct gpnn_expected_options *options)
{
  const char *path = places->working.folds;
  if (places->lies_in_gaps || path == NULL || access(path, F_OK) != 0) return;
  if (gpnn_parameters_read(&options->known, &options->n_known, path, NULL) != GPNN_OK)
    options->n_known = 0;
}

/* That nothing can be expected is no failure: the report says why. */
static void look_out(struct findings *f, const struct cli *cli, const struct places *places,
                     size_t t)
{
  struct gpnn_expected_options options = {.seed = cli->seed, .threads = cli->threads};
  const struct gpnn_dataset *truths = gpnn_dataset_target(gpnn_index_dataset(f->opened.index),
                                                          f->opened.channels[t].dataset->target);
  struct outlook *outlook = &f->outlooks[t];
  struct gpnn_error err;
  read_folds(places, &options);
  outlook->is_known = gpnn_expected_scores(f->opened.n, f->opened.channels, t, truths, &options,
                                           &outlook->expected, &err) == GPNN_OK;
  if (options.n_known > 0) gpnn_parameters_free(options.known, options.n_known);
  if (!outlook->is_known) snprintf(outlook->why_not, sizeof outlook->why_not, "%s", err.text);
}

static enum gpnn_status score(struct findings *f, const struct cli *cli,
                              const struct places *places, struct gpnn_error *err)
{
  size_t n = f->opened.n;
  if (places->test == NULL) return GPNN_OK;
  const struct gpnn_table_options options = steps_predictions_table(cli);
  const char **names = calloc(n, sizeof *names);
  if (names == NULL) return gpnn_fail_memory(err, "for the report");
  for (size_t t = 0; t < n; t++) names[t] = f->opened.channels[t].dataset->schema.target.name;
  enum gpnn_status status =
      gpnn_scored_read(&f->scored, n, names, places->working.predictions, &options, err);
  free(names);
  return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

enum gpnn_status findings_gather(struct findings *f, const struct cli *cli,
                                 const struct places *places, struct gpnn_error *err)
{
  enum gpnn_status status =
      open_files(cli, places->working.index, places->working.params, false, &f->opened, err);
  if (status == GPNN_OK) status = find_unused(f, cli, places->train, err);
  if (status == GPNN_OK) status = score(f, cli, places, err);
  if (status != GPNN_OK) return status;
  f->outlooks = calloc(f->opened.n, sizeof *f->outlooks);
  if (f->outlooks == NULL) return gpnn_fail_memory(err, "for the report");
  for (size_t t = 0; t < f->opened.n; t++) look_out(f, cli, places, t);
  return GPNN_OK;
}

void findings_release(struct findings *findings)
{
  gpnn_scored_release(&findings->scored);
  for (size_t i = 0; i < findings->n_unused && findings->unused != NULL; i++)
    free(findings->unused[i]);
  free(findings->unused);
  free(findings->outlooks);
  free(findings->effects.list);
  open_release(&findings->opened);
}
