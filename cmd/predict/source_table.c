/* The rows of a table. */
#include <math.h>
#include <stdlib.h>

#include "cmd/predict/source.h"
#include "table/columns.h"

/* ---- columns ------------------------------------------------------------------------------ */

static bool is_target(const struct source *s, size_t column)
{
  for (size_t t = 0; t < s->opened->n; t++)
    if (column == gpnn_reader_target_column(&s->reader, s->opened->channels[t].dataset->target))
      return true;
  return false;
}

/* Drops the targets from the carried columns, because they are written anyway. */
static void drop_targets(struct source *s)
{
  size_t kept = 0;
  for (size_t i = 0; i < s->carry.n_columns; i++)
    if (!is_target(s, s->carry.columns[i])) s->carry.columns[kept++] = s->carry.columns[i];
  s->carry.n_columns = kept;
}

static enum gpnn_status choose_carried(struct source *s, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (s->a->keep != NULL)
    status =
        gpnn_columns_find_list(s->table, s->a->keep, &s->carry.columns, &s->carry.n_columns, err);
  if (s->a->append) {
    s->carry.n_columns = gpnn_table_columns(s->table);
    s->carry.columns = calloc(s->carry.n_columns, sizeof *s->carry.columns);
    if (s->carry.columns == NULL) return gpnn_fail_memory(err, "for the columns carried along");
    for (size_t i = 0; i < s->carry.n_columns; i++) s->carry.columns[i] = i;
  }
  if (status == GPNN_OK) drop_targets(s);
  return status;
}

/* Makes the column of groups the one that is carried. */
static enum gpnn_status choose_group(struct source *s, struct gpnn_error *err)
{
  s->carry.columns = calloc(1, sizeof *s->carry.columns);
  if (s->carry.columns == NULL) return gpnn_fail_memory(err, "for the column of groups");
  s->carry.n_columns = 1;
  return gpnn_columns_find(s->table, s->a->group, s->carry.columns, err);
}

/* Targets that are not predicted need no offset. */
static void ignore_offsets(struct source *s)
{
  for (size_t t = 0; t < s->opened->dataset->schema.n_offsets; t++) {
    bool is_predicted = false;
    for (size_t k = 0; k < s->opened->n; k++)
      is_predicted = is_predicted || s->opened->channels[k].dataset->target == t;
    if (!is_predicted) gpnn_reader_ignore_offset(&s->reader, t);
  }
}

enum gpnn_status source_table_open(struct source *s, struct gpnn_error *err)
{
  enum gpnn_status status =
      open_table(s->cli, s->opened->dataset, cli_operand(s->cli, 1), &s->table, err);
  if (status == GPNN_OK && s->a->part != NULL) status = s->a->part->take(s->a->part, s->table, err);
  s->skips_bad = s->a->skip_bad || gpnn_index_dataset(s->opened->index)->reading.skips_bad;
  if (status == GPNN_OK)
    status =
        gpnn_reader_open(&s->reader, s->opened->dataset, s->table, source_has_regressors(s), err);
  if (status == GPNN_OK && !s->a->needs_all) gpnn_reader_take_missing(&s->reader);
  if (status == GPNN_OK) ignore_offsets(s);
  if (status == GPNN_OK) status = gpnn_reader_require_offsets(&s->reader, err);
  if (status == GPNN_OK && source_has_exposure(s))
    status = gpnn_reader_require_exposure(&s->reader, err);
  s->reader.map.has_noise = source_has_noise(s);
  if (status != GPNN_OK) return status;
  if (gpnn_npy_text_is_wanted(s->cli->output)) s->carry.numeric = s->table;
  return s->a->group != NULL ? choose_group(s, err) : choose_carried(s, err);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Adds the text of target 't', which holds classes, or none if it is missing. */
static enum gpnn_status add_text(struct source *s, struct batch *batch,
                                 const struct gpnn_record *record, size_t t, double class,
                                 struct gpnn_error *err)
{
  struct gpnn_field field = {"", 0};
  if (!isnan(class)) field = *gpnn_reader_target_text(&s->reader, record, t);
  s->n_unseen_classes += class == GPNN_CLASS_UNSEEN;
  return texts_add(&batch->truths, field.text, field.length, err);
}

/* Reads the targets of a row.  Predictions do not need them, so one that cannot be read counts as
 * missing. */
static enum gpnn_status read_targets(struct source *s, struct batch *batch,
                                     const struct gpnn_record *record, struct gpnn_error *err)
{
  struct gpnn_error why;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < s->opened->n && status == GPNN_OK; t++) {
    const struct gpnn_dataset *dataset = s->opened->channels[t].dataset;
    double *y = &batch->truth[batch->n_rows * batch->shape.n_targets + t];
    *y = nan("");
    if (record->n_fields > 0 &&
        gpnn_reader_target(&s->reader, record, dataset->target, y, &why) != GPNN_OK)
      gpnn_skipped_add(&s->unread, record, &why);
    if (gpnn_dataset_n_classes(dataset) > 0)
      status = add_text(s, batch, record, dataset->target, *y, err);
  }
  return status;
}

/* Reads one row into the batch.  GPNN_EDATA: the row is bad; its fields are carried if possible. */
static enum gpnn_status read_row(struct source *s, struct batch *batch, struct gpnn_record *record,
                                 struct gpnn_error *err)
{
  const struct batch_shape *shape = &batch->shape;
  enum gpnn_status status = gpnn_table_next(s->table, record, err);
  if (status != GPNN_OK && status != GPNN_EDATA) return status;
  if (status == GPNN_EDATA) record->n_fields = 0;
  if (batch->n_rows == 0) batch->first = record->line;
  batch->last = record->line;
  enum gpnn_status carried = carry_add(&s->carry, &batch->carried, record, s->cli->na, err);
  if (carried != GPNN_OK) return carried;
  carried = read_targets(s, batch, record, err);
  if (carried != GPNN_OK) return carried;
  if (status == GPNN_OK)
    status = gpnn_reader_read(&s->reader, record, batch->x + batch->n_good * shape->d,
                              batch->regressors + batch->n_good * shape->n_regressors,
                              &batch->noise[batch->n_good], &s->n_unseen, err);
  if (status == GPNN_OK)
    status = gpnn_reader_offsets(&s->reader, record,
                                 batch->offset + batch->n_good * shape->n_offsets, err);
  if (status == GPNN_OK && source_has_exposure(s))
    status = gpnn_reader_exposure(&s->reader, record, &batch->exposure[batch->n_good], err);
  /* A row without a group is bad. */
  if (status == GPNN_OK && s->a->group != NULL)
    status = gpnn_columns_present(s->table, record, s->carry.columns[0], err);
  return status;
}

enum gpnn_status source_pass_over(struct source *s, uint64_t n, struct gpnn_error *err)
{
  struct gpnn_record record;
  for (uint64_t i = 0; i < n; i++) {
    enum gpnn_status status = gpnn_table_next(s->table, &record, err);
    if (status == GPNN_END)
      return gpnn_fail(err, GPNN_EDATA, "%s: has fewer rows than are predicted",
                       gpnn_table_name(s->table));
    if (status != GPNN_OK && status != GPNN_EDATA) return status;
  }
  return GPNN_OK;
}

static bool has_room(const struct source *s, const struct batch *batch)
{
  return batch->shape.capacity == SIZE_MAX ||
         (batch->n_rows < batch->shape.capacity && batch->carried.text_length < s->a->batch_bytes);
}

enum gpnn_status source_table_read(struct source *s, struct batch *batch, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct gpnn_error why = {0};
  while (has_room(s, batch)) {
    enum gpnn_status status = batch_make_room(batch, err);
    if (status != GPNN_OK) return status;
    status = read_row(s, batch, &record, &why);
    if (status == GPNN_EDATA && s->skips_bad) {
      gpnn_skipped_add(&s->skipped, &record, &why);
    } else if (status != GPNN_OK) {
      if (err != NULL) *err = why;
      return status;
    }
    batch->is_good[batch->n_rows++] = status == GPNN_OK;
    batch->n_good += status == GPNN_OK;
  }
  return GPNN_OK;
}
