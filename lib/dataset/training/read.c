/*
 * Reading the training table: records are copied, read as numbers and written to a file in three
 * stages, which threads run at the same time.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/pipeline.h"
#include "dataset/missing.h"
#include "dataset/training/training_private.h"
#include "profile/profile.h"
#include "stats/row_source.h"
#include "table/columns.h"
#include "table/records.h"

/* Reads target 't', which is not missing; of classes only that there is one, until the rest of the
 * row is known to be good. */
static enum gpnn_status read_target(const struct gpnn_training *training,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, size_t t, size_t column,
                                    double *target, struct gpnn_error *err)
{
  *target = 0;
  return gpnn_schema_has_classes(&training->dataset.schema, t)
             ? gpnn_columns_present(table, record, column, err)
             : gpnn_columns_number(table, record, column, target, err);
}

/* Reads the targets of a row.  One of several may be missing, and is NaN then, but not all. */
static enum gpnn_status read_targets(const struct gpnn_training *training,
                                     const struct gpnn_table *table,
                                     const struct gpnn_record *record, double *targets,
                                     struct gpnn_error *err)
{
  const struct gpnn_columns_map *map = &training->map;
  size_t n_more = training->dataset.schema.n_more, n_missing = 0;
  enum gpnn_status status = GPNN_OK;
  if (n_more == 0) return read_target(training, table, record, 0, map->target, targets, err);
  for (size_t t = 0; t <= n_more && status == GPNN_OK; t++) {
    size_t column = t == 0 ? map->target : map->more[t - 1];
    bool is_missing = gpnn_field_is_missing(table, &record->fields[column]);
    targets[t] = NAN;
    n_missing += is_missing ? 1 : 0;
    if (!is_missing) status = read_target(training, table, record, t, column, &targets[t], err);
  }
  if (n_missing <= n_more) return status;
  return gpnn_columns_fail_field(table, record, map->target,
                                 "missing value, as in all other targets", false, err);
}

/* Reads the columns of a row that are neither inputs nor targets, but for the offsets. */
static enum gpnn_status read_others(const struct gpnn_training *training,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, double *others,
                                    struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  const struct gpnn_columns_map *map = &training->map;
  enum gpnn_status status = GPNN_OK;
  if (status == GPNN_OK)
    status = gpnn_schema_read_regressors(schema, map, table, record, others, err);
  others += schema->n_regressors;
  if (status == GPNN_OK && schema->has_noise)
    status = gpnn_schema_noise(map, table, record, others, err);
  return status;
}

/* Subtracts from each target its offset, which is not needed where the target is missing;
 * 'targets' has all of them, and then the other columns. */
static enum gpnn_status subtract_offsets(const struct gpnn_training *training,
                                         const struct gpnn_table *table,
                                         const struct gpnn_record *record, double *targets,
                                         struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  size_t n = schema->n_offsets;
  double *offsets = targets + 1 + schema->n_more + schema->n_regressors + schema->has_noise;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    offsets[t] = 0;
    if (!isnan(targets[t]))
      status = gpnn_schema_subtract_offset(&training->map, table, record, t, &targets[t],
                                           &offsets[t], err);
  }
  return status;
}

/* Reads the exposure; 'targets' has all of them, and then the other columns. */
static enum gpnn_status read_exposure(const struct gpnn_training *training,
                                      const struct gpnn_table *table,
                                      const struct gpnn_record *record, double *targets,
                                      struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  double *exposure =
      targets + 1 + schema->n_more + schema->n_regressors + schema->has_noise + schema->n_offsets;
  return schema->has_exposure ? gpnn_schema_exposure(&training->map, table, record, exposure, err)
                              : GPNN_OK;
}

/* Reads the number of the row's group. */
static enum gpnn_status read_group(struct gpnn_training *training, const struct gpnn_table *table,
                                   const struct gpnn_record *record, double *group,
                                   struct gpnn_error *err)
{
  uint32_t number;
  size_t column = training->dataset.schema.by.position;
  const struct gpnn_field *field = &record->fields[column];
  enum gpnn_status status = gpnn_columns_present(table, record, column, err);
  if (status == GPNN_OK)
    status = gpnn_groups_number(&training->groups, field->text, field->length, &number, err);
  if (status == GPNN_OK) *group = number;
  return status;
}

/* Records and the rows read from them.  A failure of the table counts only after the records before
 * it, since one of them may be bad. */
struct batch {
  struct gpnn_records records;
  size_t n_malformed;          /* malformed records that were left out */
  size_t first_malformed;      /* line of the first of them */
  struct gpnn_error malformed; /* and what is wrong with it */
  size_t n_comments;           /* of them that begin as comments do */
  enum gpnn_status status;     /* of the table after the last record: GPNN_END, or a failure */
  struct gpnn_error error;
  double share; /* of the table that was read by then */
  double *rows; /* owned; gpnn_row_source_block() rows by width */
  size_t n;     /* of them */
};

struct reading {
  struct gpnn_training *training;
  struct gpnn_table *table;
  const struct gpnn_training_reading *how;
  struct batch batches[GPNN_PIPELINE_SLOTS];
  size_t n_written;          /* rows written to the file */
  bool is_diagnosis;         /* a row was bad, and now rows only go to the profile */
  struct gpnn_error bad_row; /* what is wrong with the first */
};

/* True if reading goes on after a bad row. */
static bool goes_on(const struct reading *r)
{
  return r->how->skip_bad || r->how->profile != NULL;
}

/* The first stage: copies records. */
static enum gpnn_status copy_records(void *context, size_t slot, struct gpnn_error *err)
{
  enum { MOST_BYTES = 1 << 18 };
  struct reading *r = context;
  struct batch *batch = &r->batches[slot];
  (void)err;
  gpnn_records_clear(&batch->records);
  batch->n_malformed = batch->n_comments = 0;
  batch->status = GPNN_OK;
  size_t most = gpnn_row_source_block(r->training->width);
  while (batch->records.n < most && batch->records.text_length < MOST_BYTES) {
    struct gpnn_record record;
    batch->status = gpnn_table_next(r->table, &record, &batch->error);
    if (batch->status == GPNN_OK)
      batch->status = gpnn_records_add(&batch->records, &record, &batch->error);
    else if (batch->status == GPNN_EDATA && goes_on(r)) {
      if (batch->n_malformed == 0) batch->malformed = batch->error;
      if (batch->n_malformed++ == 0) batch->first_malformed = record.line;
      batch->n_comments += record.raw_length > 0 && *record.raw == '#';
      batch->status = GPNN_OK;
    }
    if (batch->status != GPNN_OK) break;
  }
  batch->share = gpnn_input_share(gpnn_table_input(r->table));
  return batch->status == GPNN_OK ? GPNN_OK : GPNN_END;
}

/* Reads one record into 'row', which holds anything if the record is bad. */
static enum gpnn_status read_row(struct reading *r, const struct gpnn_record *record, double *row,
                                 struct gpnn_error *err)
{
  struct gpnn_training *training = r->training;
  struct gpnn_schema *schema = &training->dataset.schema;
  double *target = row + schema->n_inputs;
  enum gpnn_status status = read_targets(training, r->table, record, target, err);
  if (status == GPNN_OK && training->n_others > 0)
    status = read_others(training, r->table, record, target + 1 + schema->n_more, err);
  if (status == GPNN_OK) status = subtract_offsets(training, r->table, record, target, err);
  if (status == GPNN_OK) status = read_exposure(training, r->table, record, target, err);
  if (status == GPNN_OK)
    status = gpnn_schema_learn(schema, &training->map, r->table, record, row, err);
  if (status == GPNN_OK && schema->has_by)
    status = read_group(training, r->table, record, &row[training->width - 1], err);
  if (status == GPNN_OK && schema->has_id)
    status = gpnn_columns_present(r->table, record, training->map.id, err);
  if (status != GPNN_OK || !training->has_classes) return status;
  status = gpnn_training_read_classes(training, r->table, record, target, err);
  training->has_bad_classes = status == GPNN_EDATA; /* no row can be read any more */
  return status;
}

/* Keeps the id of the row that was read last, unless the rows have none. */
static enum gpnn_status keep_id(struct reading *r, const struct gpnn_record *record,
                                struct gpnn_error *err)
{
  if (!r->training->dataset.schema.has_id) return GPNN_OK;
  const struct gpnn_field *id = &record->fields[r->training->map.id];
  return gpnn_ids_add(&r->training->ids, id->text, id->length, err);
}

/* Remembers a value of a target, unless it has had it or there are many. */
static void count_different(struct gpnn_training_target *target, double y)
{
  if (target->n_different == GPNN_TRAINING_MANY) return;
  for (size_t i = 0; i < target->n_different; i++)
    if (target->different[i] == y) return;
  target->different[target->n_different++] = y;
}

/* Counts the targets that a row as read lacks, and different values of those that it has. */
static void count_targets(struct gpnn_training *training, const double *row)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  for (size_t t = 0; t <= schema->n_more; t++) {
    double y = row[schema->n_inputs + t];
    training->n_lacking[t] += isnan(y) ? 1 : 0;
    if (!isnan(y)) count_different(&training->targets[t], y);
  }
}

/* True if only one of each set of copies is kept and this row is not the first of its set, which is
 * then counted. */
static enum gpnn_status check_copy(struct reading *r, const double *row, bool *is_copy,
                                   struct gpnn_error *err)
{
  struct gpnn_training *training = r->training;
  *is_copy = false;
  if (!training->is_unique) return GPNN_OK;
  uint32_t number;
  uint64_t hash = gpnn_training_hash(training, row);
  size_t before = training->seen.n;
  enum gpnn_status status =
      gpnn_groups_number(&training->seen, (const char *)&hash, sizeof hash, &number, err);
  *is_copy = status == GPNN_OK && training->seen.n == before;
  training->n_dropped += *is_copy;
  return status;
}

/* Reads all records of a batch.  GPNN_EDATA: one is bad, in 'why', and bad rows are not left out;
 * '*line' is its line, or SIZE_MAX if none is. */
static enum gpnn_status read_batch(struct reading *r, struct batch *batch, size_t *line,
                                   struct gpnn_error *why)
{
  struct gpnn_training *training = r->training;
  *line = SIZE_MAX;
  if (training->n_undecided > 0) {
    enum gpnn_status status = gpnn_training_decide(training, r->table, &batch->records, why);
    if (status != GPNN_OK) return status;
  }
  for (size_t i = 0; i < batch->records.n; i++) {
    const struct gpnn_record record = gpnn_records_get(&batch->records, i);
    double *row = batch->rows + batch->n * training->width;
    bool is_copy = false;
    enum gpnn_status status = read_row(r, &record, row, why);
    if (status == GPNN_OK) status = check_copy(r, row, &is_copy, why);
    if (status == GPNN_OK && is_copy) continue;
    if (status == GPNN_OK) status = keep_id(r, &record, why);
    if (status == GPNN_OK) {
      training->n_incomplete += gpnn_row_is_incomplete(training->dataset.schema.n_inputs, row);
      count_targets(training, row);
      batch->n++;
    } else if (status == GPNN_EDATA && r->how->skip_bad && !training->has_bad_classes) {
      gpnn_skipped_add(&training->skipped, &record, why);
    } else {
      *line = record.line;
      return status;
    }
  }
  return GPNN_OK;
}

/* Adds all records of a batch to the profile. */
static enum gpnn_status diagnose_batch(struct reading *r, struct batch *batch,
                                       struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  batch->n = 0;
  gpnn_profile_add_malformed(r->how->profile, batch->n_malformed, batch->n_comments,
                             batch->first_malformed);
  for (size_t i = 0; i < batch->records.n && status == GPNN_OK; i++) {
    const struct gpnn_record record = gpnn_records_get(&batch->records, i);
    status = gpnn_profile_add(r->how->profile, &record, err);
  }
  if (r->how->progress != NULL)
    r->how->progress(r->training->n + r->how->profile->n_rows, batch->share);
  return status;
}

/* From the batch with the first bad row on, rows go to the profile; the row is the one with the
 * error 'why' on 'line', or a malformed one that comes before it. */
static enum gpnn_status begin_diagnosis(struct reading *r, struct batch *batch, size_t line,
                                        const struct gpnn_error *why, struct gpnn_error *err)
{
  bool is_malformed = batch->n_malformed > 0 && batch->first_malformed < line;
  r->bad_row = is_malformed ? batch->malformed : *why;
  r->is_diagnosis = true;
  enum gpnn_status status =
      gpnn_profile_make(r->how->profile, r->table, &r->training->dataset.schema, err);
  if (status != GPNN_OK) return status;
  r->how->profile->takes_missing = r->training->map.takes_missing;
  gpnn_training_doubt_classes(r->training, r->how->profile);
  return diagnose_batch(r, batch, err);
}

/* Counts the rows of a batch that were read or left out. */
static void count_batch(struct reading *r, const struct batch *batch)
{
  struct gpnn_training *training = r->training;
  gpnn_skipped_add_malformed(&training->skipped, batch->n_malformed, batch->first_malformed);
  training->n += batch->n;
  training->dataset.n_skipped = training->skipped.n;
  if (r->how->progress != NULL) r->how->progress(training->n, batch->share);
}

/* The second stage: reads them as numbers. */
static enum gpnn_status read_rows(void *context, size_t slot, struct gpnn_error *err)
{
  struct reading *r = context;
  struct batch *batch = &r->batches[slot];
  struct gpnn_error why;
  size_t line;
  batch->n = 0;
  enum gpnn_status status =
      r->is_diagnosis ? diagnose_batch(r, batch, &why) : read_batch(r, batch, &line, &why);
  bool is_bad = status == GPNN_EDATA || (status == GPNN_OK && batch->n_malformed > 0);
  bool is_diagnosed = is_bad && !r->how->skip_bad && !r->training->has_bad_classes;
  if (!r->is_diagnosis && is_diagnosed && r->how->profile != NULL)
    status = begin_diagnosis(r, batch, line, &why, &why);
  else if (!r->is_diagnosis && status == GPNN_OK)
    count_batch(r, batch);
  if (status != GPNN_OK) {
    if (err != NULL) *err = why;
    return status;
  }
  if (batch->status == GPNN_OK || batch->status == GPNN_END) return GPNN_OK;
  if (err != NULL) *err = batch->error;
  return batch->status;
}

/* The third stage: writes them to the file. */
static enum gpnn_status write_rows(void *context, size_t slot, struct gpnn_error *err)
{
  struct reading *r = context;
  const struct batch *batch = &r->batches[slot];
  size_t width = r->training->width;
  enum gpnn_status status = gpnn_spool_write(&r->training->read, r->n_written * width,
                                             batch->n * width, batch->rows, err);
  r->n_written += batch->n;
  return status;
}

static void interrupt_reading(void *context)
{
  struct reading *r = context;
  gpnn_input_interrupt(gpnn_table_input(r->table));
}

static enum gpnn_status run_stages(struct reading *r, struct gpnn_error *err)
{
  const struct gpnn_pipeline pipeline = {
      {copy_records, read_rows, write_rows}, interrupt_reading, r};
  size_t width = r->training->width;
  bool overlap = r->how->threads > 1;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < GPNN_PIPELINE_SLOTS; i++) {
    r->batches[i].rows = gpnn_alloc(gpnn_row_source_block(width), width, sizeof(double));
    if (r->batches[i].rows == NULL) return gpnn_fail_memory(err, "for the training rows");
  }
  if (overlap) status = gpnn_input_allow_interrupt(gpnn_table_input(r->table), err);
  return status == GPNN_OK ? gpnn_pipeline_run(&pipeline, overlap, err) : status;
}

enum gpnn_status gpnn_training_read(struct gpnn_training *training, struct gpnn_table *table,
                                    const struct gpnn_training_reading *how, struct gpnn_error *err)
{
  struct reading reading = {.training = training, .table = table, .how = how};
  training->is_unique = how->unique;
  enum gpnn_status status = run_stages(&reading, err);
  if (reading.is_diagnosis && status != GPNN_OK) gpnn_profile_release(how->profile);
  if (reading.is_diagnosis && status != GPNN_ENOMEM) {
    status = reading.bad_row.status;
    if (err != NULL) *err = reading.bad_row;
  }
  for (size_t i = 0; i < GPNN_PIPELINE_SLOTS; i++) {
    gpnn_records_release(&reading.batches[i].records);
    free(reading.batches[i].rows);
  }
  return status;
}
