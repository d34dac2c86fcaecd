/*
 * Reading the rows that are added to an index.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/missing.h"
#include "dataset/reader.h"
#include "dataset/training/grown.h"
#include "dataset/training/layout_private.h"
#include "stats/moments.h"
#include "stats/row_source.h"
#include "table/columns.h"

struct reading {
  struct gpnn_grown *grown;
  struct gpnn_reader reader;
  struct gpnn_layout layout;
  size_t width, n_of_block; /* numbers of a row; rows in the block */
  double *block;            /* owned; gpnn_row_source_block(width) rows */
  size_t by;                /* the column of groups, if there is one */
  bool has_ids;
  double centre; /* what codes have as the mean of the standardised target */
  struct gpnn_copies copies;
};

/* ---- the columns of a row ------------------------------------------------------------------ */

/* Training rows need all columns that the index has. */
static enum gpnn_status require_columns(const struct gpnn_reader *reader, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &reader->dataset->schema;
  for (size_t t = 0; t <= schema->n_more; t++)
    if (gpnn_reader_target_column(reader, t) == SIZE_MAX)
      return gpnn_fail(err, GPNN_EMISMATCH, "%s: no column '%s', a target",
                       gpnn_table_name(reader->table), gpnn_schema_target(schema, t)->name);
  if (schema->has_noise && !reader->map.has_noise)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: no column '%s', the variance of each row's noise",
                     gpnn_table_name(reader->table), schema->noise.name);
  if (schema->has_id && reader->map.id == SIZE_MAX)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: no column '%s', the ids of rows",
                     gpnn_table_name(reader->table), schema->id.name);
  enum gpnn_status status = gpnn_reader_require_offsets(reader, err);
  return status == GPNN_OK ? gpnn_reader_require_exposure(reader, err) : status;
}

static const struct gpnn_moments *moments_of(const struct gpnn_scaling *scaling, size_t t,
                                             struct gpnn_moments *first)
{
  *first = (struct gpnn_moments){scaling->y_mean, scaling->y_sd};
  return t == 0 ? first : &scaling->more[t - 1];
}

/* Reads target 't', standardised, and its offset. */
static enum gpnn_status read_target(const struct reading *r, const struct gpnn_record *record,
                                    size_t t, double *y, double *offset, struct gpnn_error *err)
{
  const struct gpnn_dataset *old = r->grown->old;
  const struct gpnn_reader *reader = &r->reader;
  struct gpnn_moments first;
  const struct gpnn_moments *moments = moments_of(&old->scaling, t, &first);
  enum gpnn_status status = gpnn_reader_target(reader, record, t, y, err);
  *offset = 0;
  if (status != GPNN_OK || isnan(*y)) return status;
  if (gpnn_schema_has_classes(&old->schema, t) && *y == GPNN_CLASS_UNSEEN)
    return gpnn_columns_fail_field(reader->table, record, gpnn_reader_target_column(reader, t),
                                   "a class that the index does not have", true, err);
  if (old->schema.n_offsets > 0)
    status = gpnn_schema_subtract_offset(&reader->map, reader->table, record, t, y, offset, err);
  *y = (*y - moments->mean) / moments->sd;
  return status;
}

/* Reads all targets and offsets; a row must have a target. */
static enum gpnn_status read_targets(const struct reading *r, const struct gpnn_record *record,
                                     double *targets, double *offsets, struct gpnn_error *err)
{
  size_t n_more = r->layout.n_more, n_missing = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t <= n_more && status == GPNN_OK; t++) {
    double offset;
    status = read_target(r, record, t, &targets[t], &offset, err);
    if (r->layout.n_offsets > 0) offsets[t] = offset;
    n_missing += isnan(targets[t]) ? 1 : 0;
  }
  if (status != GPNN_OK || n_missing <= n_more) return status;
  return gpnn_columns_fail_field(
      r->reader.table, record, r->reader.map.target,
      n_more == 0 ? "missing value" : "missing value, as in all other targets", false, err);
}

/* Reads inputs, once more if the row has levels that the index then gets: only rows that are good
 * bring some. */
static enum gpnn_status read_inputs(struct reading *r, const struct gpnn_record *record, double y,
                                    double *x, double *regressors, double *variance,
                                    size_t *n_unseen, struct gpnn_error *err)
{
  struct gpnn_schema *schema = &r->grown->dataset.schema;
  const struct gpnn_reader *reader = &r->reader;
  size_t unseen = 0, n_new = 0;
  enum gpnn_status status = gpnn_reader_read(reader, record, x, regressors, variance, &unseen, err);
  if (status == GPNN_OK && unseen > 0) {
    status = gpnn_schema_learn_later(schema, &reader->map, reader->table, record, &n_new, err);
    r->grown->n_new_levels += n_new;
    *n_unseen += unseen - n_new;
  }
  if (status == GPNN_OK && n_new > 0)
    status = gpnn_reader_read(reader, record, x, regressors, variance, &unseen, err);
  if (status == GPNN_OK && !isnan(y))
    gpnn_schema_learn_codes(schema, &reader->map, reader->table, record, y - r->centre);
  return status;
}

/* Codes of an index of numbers are about their mean, which is 0, and those of classes about the
 * share of the second. */
static double find_centre(const struct gpnn_dataset *old)
{
  double n = 0, sum = 0;
  if (!gpnn_schema_has_codes(&old->schema) || !gpnn_schema_has_classes(&old->schema, 0)) return 0;
  for (size_t i = 0; i < old->n; i++) {
    if (isnan(old->y[i])) continue;
    n++;
    sum += old->y[i];
  }
  return n > 0 ? sum / n : 0;
}

/* Reads a row, standardised and laid out by itself. */
static enum gpnn_status read_row(struct reading *r, const struct gpnn_record *record, double *row,
                                 size_t *n_unseen, struct gpnn_error *err)
{
  const struct gpnn_layout *layout = &r->layout;
  const struct gpnn_scaling *scaling = &r->grown->old->scaling;
  double *targets = row + layout->d, *regressors = targets + 1 + layout->n_more;
  double *noises = regressors + layout->n_regressors, *offsets = noises + layout->n_noises;
  double variance;
  enum gpnn_status status = read_targets(r, record, targets, offsets, err);
  if (status == GPNN_OK && layout->n_exposures > 0)
    status = gpnn_reader_exposure(&r->reader, record, offsets + layout->n_offsets, err);
  if (status == GPNN_OK)
    status = read_inputs(r, record, targets[0], row, regressors, &variance, n_unseen, err);
  for (size_t t = 0; t < layout->n_noises && status == GPNN_OK; t++) {
    struct gpnn_moments first;
    noises[t] = gpnn_scaling_variance(variance, moments_of(scaling, t, &first)->sd);
  }
  return status;
}

/* Keeps by what the group of the row is known that is to be added next. */
static enum gpnn_status read_group(struct reading *r, const struct gpnn_record *record,
                                   struct gpnn_error *err)
{
  struct gpnn_grown *grown = r->grown;
  if (!grown->old->schema.has_by) return GPNN_OK;
  enum gpnn_status status = gpnn_columns_present(r->reader.table, record, r->by, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&grown->keys, &grown->n_keys, grown->n_added + 1, sizeof *grown->keys))
    return gpnn_fail_memory(err, "for the groups of rows");
  const struct gpnn_field *field = &record->fields[r->by];
  grown->keys[grown->n_added] = gpnn_groups_key(field->text, field->length);
  return GPNN_OK;
}

/* ---- all rows ------------------------------------------------------------------------------ */

static enum gpnn_status write_block(struct reading *r, struct gpnn_error *err)
{
  struct gpnn_grown *grown = r->grown;
  size_t first = grown->n_added - r->n_of_block, n = r->n_of_block;
  r->n_of_block = 0;
  return gpnn_spool_write(&grown->added, first * r->width, n * r->width, r->block, err);
}

/* Keeps the row that was read last. */
static enum gpnn_status keep_row(struct reading *r, const struct gpnn_record *record,
                                 size_t n_unseen, struct gpnn_error *err)
{
  struct gpnn_grown *grown = r->grown;
  const double *row = r->block + r->n_of_block * r->width;
  const struct gpnn_field *id = r->has_ids ? &record->fields[r->reader.map.id] : NULL;
  grown->n_unseen += n_unseen > 0;
  grown->n_added++;
  grown->are_complete = grown->are_complete && !gpnn_row_is_incomplete(r->layout.d, row);
  enum gpnn_status status = gpnn_copies_add(&r->copies, grown->old, row, row[r->layout.d], err);
  if (status == GPNN_OK && id != NULL)
    status = gpnn_ids_add(&grown->new_ids, id->text, id->length, err);
  if (status != GPNN_OK || ++r->n_of_block < gpnn_row_source_block(r->width)) return status;
  return write_block(r, err);
}

static enum gpnn_status read_rows(struct reading *r, struct gpnn_table *table, bool skip_bad,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  struct gpnn_error why = {0};
  struct gpnn_record record;
  while (status == GPNN_OK) {
    size_t n_unseen = 0;
    status = gpnn_table_next(table, &record, &why);
    if (status == GPNN_OK) status = read_group(r, &record, &why);
    if (status == GPNN_OK && r->has_ids)
      status = gpnn_columns_present(table, &record, r->reader.map.id, &why);
    if (status == GPNN_OK)
      status = read_row(r, &record, r->block + r->n_of_block * r->width, &n_unseen, &why);
    if (status == GPNN_OK) {
      status = keep_row(r, &record, n_unseen, &why);
    } else if (status == GPNN_EDATA && skip_bad) {
      gpnn_skipped_add(&r->grown->skipped, &record, &why);
      status = GPNN_OK;
    }
  }
  if (status != GPNN_END && err != NULL) *err = why;
  return status == GPNN_END ? write_block(r, err) : status;
}

/* Refuses rows that are there already. */
static enum gpnn_status check_copies(struct reading *r, struct gpnn_error *err)
{
  struct gpnn_grown *grown = r->grown;
  struct gpnn_copies_report *report = &grown->copies;
  enum gpnn_status status = gpnn_copies_count(&r->copies, grown->old, true, report, err);
  if (status != GPNN_OK || !gpnn_copies_exceed_chance(report) || 2 * report->n_copies <= report->n)
    return status;
  return gpnn_fail(err, GPNN_EDATA,
                   "%s: %zu of the first %zu rows are training rows of the index already: was it "
                   "added before?",
                   gpnn_table_name(r->reader.table), report->n_copies, report->n);
}

enum gpnn_status gpnn_grown_read(struct gpnn_grown *grown, struct gpnn_table *table, bool skip_bad,
                                 struct gpnn_error *err)
{
  const struct gpnn_dataset *old = grown->old;
  struct reading r = {.grown = grown,
                      .layout = gpnn_layout_of(&old->scaling, &old->schema),
                      .has_ids = old->ids != NULL};
  r.width = gpnn_layout_width(&r.layout);
  r.centre = find_centre(old);
  r.block = gpnn_alloc(gpnn_row_source_block(r.width), r.width, sizeof *r.block);
  grown->are_complete = true;
  enum gpnn_status status = r.block == NULL
                                ? gpnn_fail_memory(err, "for the rows")
                                : gpnn_reader_open(&r.reader, &grown->dataset, table, true, err);
  if (status == GPNN_OK) status = require_columns(&r.reader, err);
  if (status == GPNN_OK && old->schema.has_by)
    status = gpnn_schema_find_by(&old->schema, table, &r.by, err);
  if (status == GPNN_OK)
    status = gpnn_spool_create(&grown->added, grown->beside, grown->watch, err);
  if (status == GPNN_OK) {
    gpnn_reader_take_missing(&r.reader);
    status = read_rows(&r, table, skip_bad, err);
  }
  if (status == GPNN_OK && grown->n_added == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: no rows to add", gpnn_table_name(table));
  if (status == GPNN_OK) status = check_copies(&r, err);
  if (status == GPNN_OK) status = gpnn_spool_map(&grown->added, err);
  gpnn_copies_release(&r.copies);
  gpnn_reader_release(&r.reader);
  free(r.block);
  return status;
}
