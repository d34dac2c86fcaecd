#include "cmd/predict/source.h"
#include "cmd/common/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/predict/together.h"
#include "dataset/grid/grid.h"

/* ---- batches ------------------------------------------------------------------------------ */

/* The classes of all targets that hold any. */
static size_t count_classes(const struct source *s)
{
  size_t n = 0;
  for (size_t t = 0; t < s->opened->n; t++)
    n += gpnn_dataset_n_classes(s->opened->channels[t].dataset);
  return n;
}

/* The most rows of a batch: as --batch says, unless rows are very wide; at least one. */
static size_t rows_of_batch(const struct source *s)
{
  if (s->a->needs_all) return SIZE_MAX;
  const struct gpnn_dataset *dataset = s->opened->dataset;
  /* Per target: truth, mean, sd, a distribution, and what a predictor keeps of it. */
  const size_t numbers = 12;
  size_t row = dataset->d + dataset->n_regressors + numbers * s->opened->n + s->carry.n_columns +
               count_classes(s);
  size_t most = s->a->batch_bytes / sizeof(double) / row;
  if (most == 0) return 1;
  return most < s->a->batch ? most : s->a->batch;
}

enum gpnn_status source_open(struct source *source, const struct cli *cli,
                             const struct predict_arguments *a, const struct opened *opened,
                             struct gpnn_error *err)
{
  bool is_apart = together_is_apart(a, opened);
  *source = (struct source){.cli = cli, .a = a, .opened = opened, .is_apart = is_apart};
  enum gpnn_status status = GPNN_OK;
  if (a->complete == PREDICT_TABLE)
    status = a->loo ? source_training_open(source, err) : source_table_open(source, err);
  source->shape = (struct batch_shape){.capacity = rows_of_batch(source),
                                       .d = opened->dataset->d,
                                       .n_regressors = opened->dataset->n_regressors,
                                       .n_targets = opened->n,
                                       .n_selves = is_apart ? opened->n : 1,
                                       .n_offsets = opened->dataset->schema.n_offsets,
                                       .n_classes = count_classes(source)};
  return status;
}

/* How many training rows or cells there are. */
static double count_all(const struct source *s)
{
  size_t n = s->a->loo ? s->opened->dataset->n : gpnn_grid_size(s->opened->dataset->grid);
  return (double)n;
}

enum gpnn_status source_read(struct source *source, struct batch *batch, struct gpnn_error *err)
{
  batch_begin(batch, &source->shape);
  enum gpnn_status status = source->a->loo          ? source_training_read(source, batch, err)
                            : source->table == NULL ? source_cells_read(source, batch, err)
                                                    : source_table_read(source, batch, err);
  batch->share = source->table == NULL ? (double)source->next / count_all(source)
                                       : gpnn_input_share(gpnn_table_input(source->table));
  return status;
}

void source_release(struct source *source)
{
  carry_release(&source->carry);
  gpnn_reader_release(&source->reader);
  gpnn_table_close(source->table);
  free(source->held_out);
  free(source->next_of);
}

/* ---- what there is ------------------------------------------------------------------------ */

bool source_has_truth(const struct source *s, size_t t)
{
  if (s->table == NULL) return s->a->loo || s->a->complete == PREDICT_ALL_CELLS;
  return gpnn_reader_target_column(&s->reader, s->opened->channels[t].dataset->target) != SIZE_MAX;
}

/* Without an sd, or with that of the function, noise is not needed. */
bool source_has_noise(const struct source *s)
{
  const struct gpnn_predict_options *options = &s->a->plan.options;
  if (options->latent || options->mean_only || s->a->complete != PREDICT_TABLE) return false;
  return s->a->loo ? gpnn_index_dataset(s->opened->index)->noise != NULL : s->reader.map.has_noise;
}

bool source_has_regressors(const struct source *s)
{
  for (size_t t = 0; t < s->opened->n; t++)
    if (gpnn_parameters_use_regressors(&s->opened->parameters[t])) return true;
  return false;
}

bool source_has_exposure(const struct source *s)
{
  if (!s->opened->dataset->schema.has_exposure) return false;
  for (size_t t = 0; t < s->opened->n; t++)
    if (gpnn_likelihood_is_of_counts(s->opened->parameters[t].likelihood)) return true;
  return false;
}

bool source_has_header(const struct source *s)
{
  if (s->a->names) return true;
  return s->table == NULL ? s->cli->table.has_header : gpnn_table_has_header(s->table);
}

char source_delimiter(const struct source *s)
{
  char delimiter = s->table == NULL ? s->cli->table.delimiter : gpnn_table_delimiter(s->table);
  return delimiter == 0 || delimiter == ' ' ? '\t' : delimiter;
}

struct gpnn_predict_rows source_rows(const struct source *s, const struct batch *batch)
{
  return (struct gpnn_predict_rows){.n = batch->n_good,
                                    .x = batch->x,
                                    .regressors =
                                        source_has_regressors(s) ? batch->regressors : NULL,
                                    .noise = source_has_noise(s) ? batch->noise : NULL,
                                    .offset = batch->shape.n_offsets > 0 ? batch->offset : NULL,
                                    .exposure = source_has_exposure(s) ? batch->exposure : NULL,
                                    .self = s->a->loo ? batch->self : NULL};
}

/* ---- output ------------------------------------------------------------------------------- */

/* Writes the name of a column that is kept, and warns if it is that of a prediction too. */
static enum gpnn_status write_kept_name(const struct source *s, const char *name, struct sink *sink,
                                        struct gpnn_error *err)
{
  bool is_number = gpnn_dataset_n_classes(s->opened->channels[0].dataset) == 0;
  bool is_taken =
      is_number ? strcmp(name, "mean") == 0 || strcmp(name, "sd") == 0 : strcmp(name, "label") == 0;
  if (s->opened->n == 1 && is_taken)
    cli_warn(s->cli, "%s: column '%s' is kept and has the same name as a column of predictions",
             gpnn_table_name(s->table), name);
  return sink_text(sink, name, err);
}

enum gpnn_status source_write_names(const struct source *s, struct sink *sink,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (s->a->loo) return sink_text(sink, "row", err);
  for (size_t i = 0; s->table == NULL && i < s->opened->dataset->schema.n_inputs; i++) {
    status = sink_text(sink, s->opened->dataset->schema.inputs[i].name, err);
    if (status != GPNN_OK) return status;
  }
  for (size_t i = 0; i < s->carry.n_columns && status == GPNN_OK; i++)
    status = write_kept_name(s, gpnn_table_column(s->table, s->carry.columns[i]), sink, err);
  return status == GPNN_OK && s->a->group != NULL ? sink_text(sink, "n", err) : status;
}

enum gpnn_status source_write_row(const struct source *s, const struct batch *batch, size_t i,
                                  struct carry_cursor *at, struct sink *sink,
                                  struct gpnn_error *err)
{
  char number[GPNN_NUMBER_BYTES];
  if (s->a->complete != PREDICT_TABLE) return source_cells_write(s, batch, i, sink, err);
  if (!s->a->loo) /* carried fields are followed by a delimiter already */
    return carry_write(&s->carry, &batch->carried, at, sink->output, sink->delimiter, err);
  snprintf(number, sizeof number, "%llu", (unsigned long long)batch->number[i]);
  return sink_text(sink, number, err);
}

/* ---- messages ----------------------------------------------------------------------------- */

const char *source_name(const struct source *s)
{
  return s->table == NULL ? cli_operand(s->cli, 0) : gpnn_table_name(s->table);
}

enum gpnn_status source_locate(const struct source *s, const struct batch *batch,
                               enum gpnn_status status, struct gpnn_error *err)
{
  const char *name = source_name(s);
  const char *row = s->table != NULL ? gpnn_table_before_line(s->table)
                    : s->a->loo      ? ": row "
                                     : ": cell ";
  if (batch->first == batch->last)
    return gpnn_prefix(err, status, "%s%s%zu", name, row, batch->first);
  return gpnn_prefix(err, status, "%s%s%zu-%zu", name, row, batch->first, batch->last);
}

void source_report(const struct source *s, size_t n_rows)
{
  char why[GPNN_SKIPPED_BYTES];
  if (s->table == NULL) return;
  const char *name = gpnn_table_name(s->table);
  table_warn_if_torn(s->cli, s->table);
  if (n_rows == 0) cli_warn(s->cli, "%s: has no rows", name);
  if (s->skipped.n > 0)
    cli_warn(s->cli, "%s: %zu of %zu rows have no prediction%s: %s", name, s->skipped.n, n_rows,
             s->a->group != NULL ? " and no part in their group" : "",
             gpnn_skipped_describe(&s->skipped, s->table, why));
  if (s->unread.n > 0)
    cli_warn(s->cli, "%s: %zu truth%s cannot be read and count%s as missing: %s", name, s->unread.n,
             s->unread.n == 1 ? "" : "s", s->unread.n == 1 ? "s" : "",
             gpnn_skipped_describe(&s->unread, s->table, why));
  if (s->n_unseen_classes > 0)
    cli_warn(s->cli, "%s: %zu truth%s of classes never seen in training", name, s->n_unseen_classes,
             s->n_unseen_classes == 1 ? " is" : "s are");
  if (s->n_unseen > 0)
    cli_warn(s->cli, "%s: %zu values of categories were never seen in training", name, s->n_unseen);
}
