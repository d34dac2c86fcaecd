/*
 * Reading the training table: records are copied, read as numbers and written to a file in three
 * stages, which threads run at the same time.
 *
 * Where lines are records and reading one does not change how the next is read, as of a table of
 * numbers, the first stage copies lines, and in the second several threads read batches of them;
 * one that has anything else in it is read again, record by record, which also finds the words for
 * what is wrong.  Other batches of lines they cut into records.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "dataset/missing.h"
#include "dataset/training/training_private.h"
#include "profile/profile.h"
#include "stats/row_source.h"
#include "table/columns.h"
#include "table/lines.h"
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
  struct gpnn_lines lines; /* instead of records until these are cut; none: records were read */
  struct gpnn_records records;
  size_t n_malformed;          /* malformed records that were left out */
  size_t first_malformed;      /* line of the first of them */
  struct gpnn_error malformed; /* and what is wrong with it */
  size_t n_comments;           /* of them that begin as comments do */
  enum gpnn_status status;     /* of the table after the last record: GPNN_END, or a failure */
  struct gpnn_error error;
  double share; /* of the table that was read by then */
  double *rows; /* owned; as many as there are lines or records, by width */
  size_t rows_capacity;
  size_t n;      /* of them */
  bool are_read; /* there are no records, as 'n' rows have been read from the lines */
};

struct reading {
  struct gpnn_training *training;
  struct gpnn_table *table;
  const struct gpnn_training_reading *how;
  size_t n_together; /* most batches in a slot */
  size_t n_batches[GPNN_PIPELINE_SLOTS];
  struct batch *batches; /* owned; those of each slot */
  int n_threads;
  struct gpnn_table **of_lines; /* owned; for each thread, to read lines */
  struct gpnn_team *team;       /* owned; NULL: there is one thread */
  size_t n_written;             /* rows written to the file */
  bool is_diagnosis;            /* a row was bad, and now rows only go to the profile */
  struct gpnn_error bad_row;    /* what is wrong with the first */
};

/* True if reading goes on after a bad row. */
static bool goes_on(const struct reading *r)
{
  return r->how->skip_bad || r->how->profile != NULL;
}

enum { MOST_BYTES = 1 << 18, SLOT_BYTES = 4 * MOST_BYTES };

/* Copies the next records of 'table', which is that of the batch's lines if it has any. */
static void copy_records(const struct reading *r, struct gpnn_table *table, struct batch *batch)
{
  size_t most = gpnn_row_source_block(r->training->width);
  gpnn_records_clear(&batch->records);
  batch->n_malformed = batch->n_comments = 0;
  batch->status = GPNN_OK;
  while (batch->records.n < most && batch->records.text_length < MOST_BYTES) {
    struct gpnn_record record;
    batch->status = gpnn_table_next(table, &record, &batch->error);
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
}

static struct batch *batches_of(const struct reading *r, size_t slot)
{
  return r->batches + slot * r->n_together;
}

/* The first stage: copies lines or records. */
static enum gpnn_status copy_batches(void *context, size_t slot, struct gpnn_error *err)
{
  struct reading *r = context;
  struct batch *batch = batches_of(r, slot);
  enum gpnn_status status = GPNN_OK;
  size_t most = gpnn_row_source_block(r->training->width), n = 0, n_bytes = 0;
  (void)err;
  for (; n < r->n_together && n_bytes < SLOT_BYTES && status == GPNN_OK; n++, batch++) {
    batch->status = gpnn_lines_take(r->table, most, MOST_BYTES, &batch->lines, &batch->error);
    if (batch->status == GPNN_OK && batch->lines.n == 0) copy_records(r, r->table, batch);
    batch->share = gpnn_input_share(gpnn_table_input(r->table));
    n_bytes += batch->lines.n > 0 ? batch->lines.length : batch->records.text_length;
    status = batch->status;
  }
  r->n_batches[slot] = n;
  return status == GPNN_OK ? GPNN_OK : GPNN_END;
}

/* Reads one record into 'row', which holds anything if the record is bad. */
static enum gpnn_status read_row(const struct reading *r, const struct gpnn_table *table,
                                 const struct gpnn_record *record, double *row,
                                 struct gpnn_error *err)
{
  struct gpnn_training *training = r->training;
  struct gpnn_schema *schema = &training->dataset.schema;
  double *target = row + schema->n_inputs;
  enum gpnn_status status = read_targets(training, table, record, target, err);
  if (status == GPNN_OK && training->n_others > 0)
    status = read_others(training, table, record, target + 1 + schema->n_more, err);
  if (status == GPNN_OK) status = subtract_offsets(training, table, record, target, err);
  if (status == GPNN_OK) status = read_exposure(training, table, record, target, err);
  if (status == GPNN_OK)
    status = gpnn_schema_learn(schema, &training->map, table, record, row, err);
  if (status == GPNN_OK && schema->has_by)
    status = read_group(training, table, record, &row[training->width - 1], err);
  if (status == GPNN_OK && schema->has_id)
    status = gpnn_columns_present(table, record, training->map.id, err);
  if (status != GPNN_OK || !training->has_classes) return status;
  status = gpnn_training_read_classes(training, table, record, target, err);
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

/* Adds a row to those of the batch, unless it is a copy; 'record' is what it was read from, where
 * rows have ids. */
static enum gpnn_status keep_row(struct reading *r, struct batch *batch,
                                 const struct gpnn_record *record, const double *row,
                                 struct gpnn_error *err)
{
  struct gpnn_training *training = r->training;
  double *place = batch->rows + batch->n * training->width;
  bool is_copy = false;
  enum gpnn_status status = check_copy(r, row, &is_copy, err);
  if (status == GPNN_OK && is_copy) return GPNN_OK;
  if (status == GPNN_OK) status = keep_id(r, record, err);
  if (status != GPNN_OK) return status;
  if (place != row) memmove(place, row, training->width * sizeof *row);
  training->n_incomplete += gpnn_row_is_incomplete(training->dataset.schema.n_inputs, row);
  count_targets(training, row);
  batch->n++;
  return GPNN_OK;
}

/* Reads all records of a batch.  GPNN_EDATA: one is bad, in 'why', and bad rows are not left out;
 * '*line' is its line, or SIZE_MAX if none is. */
static enum gpnn_status read_records(struct reading *r, struct batch *batch, size_t *line,
                                     struct gpnn_error *why)
{
  struct gpnn_training *training = r->training;
  if (training->n_undecided > 0) {
    enum gpnn_status status = gpnn_training_decide(training, r->table, &batch->records, why);
    if (status != GPNN_OK) return status;
  }
  for (size_t i = 0; i < batch->records.n; i++) {
    const struct gpnn_record record = gpnn_records_get(&batch->records, i);
    double *row = batch->rows + batch->n * training->width;
    enum gpnn_status status = read_row(r, r->table, &record, row, why);
    if (status == GPNN_OK) status = keep_row(r, batch, &record, row, why);
    if (status == GPNN_OK) continue;
    if (status == GPNN_EDATA && r->how->skip_bad && !training->has_bad_classes) {
      gpnn_skipped_add(&training->skipped, &record, why);
    } else {
      *line = record.line;
      return status;
    }
  }
  return GPNN_OK;
}

/* The same for a batch whose rows may have been read already. */
static enum gpnn_status read_batch(struct reading *r, struct batch *batch, size_t *line,
                                   struct gpnn_error *why)
{
  size_t n = batch->are_read ? batch->n : 0;
  enum gpnn_status status = GPNN_OK;
  *line = SIZE_MAX;
  batch->n = 0;
  if (!batch->are_read) return read_records(r, batch, line, why);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = keep_row(r, batch, NULL, batch->rows + i * r->training->width, why);
  return status;
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

/* True if a row can be read whatever those before it are. */
static bool are_apart(const struct reading *r)
{
  const struct gpnn_training *training = r->training;
  const struct gpnn_schema *schema = &training->dataset.schema;
  return !r->is_diagnosis && training->n_undecided == 0 && !training->has_classes &&
         !schema->has_by && !schema->has_id && !gpnn_schema_learns_levels(schema);
}

/* Reads the lines of a batch as rows; false if one is not as simple as that. */
static bool read_lines(const struct reading *r, struct gpnn_table *of_lines, struct batch *batch)
{
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  gpnn_lines_set(of_lines, &batch->lines);
  batch->n = batch->n_malformed = batch->n_comments = 0;
  while (status == GPNN_OK) {
    double *row = batch->rows + batch->n * r->training->width;
    status = gpnn_table_next(of_lines, &record, NULL);
    if (status == GPNN_END) return true;
    if (status == GPNN_OK) status = read_row(r, of_lines, &record, row, NULL);
    batch->n += status == GPNN_OK;
  }
  return false;
}

/* Cuts the lines of a batch into records. */
static void cut_lines(const struct reading *r, struct gpnn_table *of_lines, struct batch *batch)
{
  gpnn_lines_set(of_lines, &batch->lines);
  copy_records(r, of_lines, batch);
  if (batch->status == GPNN_END) batch->status = GPNN_OK;
  batch->are_read = false;
}

/* What the threads of the second stage share. */
struct preparing {
  const struct reading *r;
  struct batch *batches;
  bool are_apart;
};

/* Makes of the lines of a batch what can be made without the batches before. */
static enum gpnn_status prepare(void *context, size_t thread, size_t b, struct gpnn_error *err)
{
  const struct preparing *preparing = context;
  const struct reading *r = preparing->r;
  struct batch *batch = &preparing->batches[b];
  size_t n = batch->lines.n > 0 ? batch->lines.n : batch->records.n, n_numbers;
  batch->are_read = false;
  if (!gpnn_multiply(n, r->training->width, &n_numbers) ||
      !gpnn_grow(&batch->rows, &batch->rows_capacity, n_numbers, sizeof *batch->rows))
    return gpnn_fail_memory(err, "for the training rows");
  if (batch->lines.n == 0) return GPNN_OK;
  batch->are_read = preparing->are_apart && read_lines(r, r->of_lines[thread], batch);
  if (!batch->are_read) cut_lines(r, r->of_lines[thread], batch);
  return GPNN_OK;
}

/* Takes the rows of a batch, after those before it. */
static enum gpnn_status take_batch(struct reading *r, struct batch *batch, struct gpnn_error *err)
{
  struct gpnn_error why;
  size_t line = SIZE_MAX;
  if (r->is_diagnosis && batch->are_read) cut_lines(r, r->of_lines[0], batch);
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

/* The second stage: reads them as numbers. */
static enum gpnn_status read_batches(void *context, size_t slot, struct gpnn_error *err)
{
  struct reading *r = context;
  size_t n = r->n_batches[slot];
  struct preparing preparing = {r, batches_of(r, slot), are_apart(r)};
  enum gpnn_status status = gpnn_team_try(r->team, r->n_threads, n, 1, prepare, &preparing, err);
  for (size_t b = 0; b < n && status == GPNN_OK; b++)
    status = take_batch(r, &preparing.batches[b], err);
  return status;
}

/* The third stage: writes them to the file. */
static enum gpnn_status write_batches(void *context, size_t slot, struct gpnn_error *err)
{
  struct reading *r = context;
  const struct batch *batch = batches_of(r, slot);
  size_t width = r->training->width;
  enum gpnn_status status = GPNN_OK;
  for (size_t n = r->n_batches[slot]; n > 0 && status == GPNN_OK; n--, batch++) {
    status = gpnn_spool_write(&r->training->read, r->n_written * width, batch->n * width,
                              batch->rows, err);
    r->n_written += batch->n;
  }
  return status;
}

static void interrupt_reading(void *context)
{
  struct reading *r = context;
  gpnn_input_interrupt(gpnn_table_input(r->table));
}

/* Makes room for the batches, and what it takes to read them. */
static enum gpnn_status begin(struct reading *r, struct gpnn_error *err)
{
  enum { MOST_TOGETHER = 32 };
  size_t n_threads = r->how->threads > 1 ? (size_t)r->how->threads : 1;
  size_t n_together = n_threads > 1 ? 2 * n_threads : 1;
  r->n_threads = (int)n_threads;
  r->n_together = n_together < MOST_TOGETHER ? n_together : MOST_TOGETHER;
  r->batches = gpnn_alloc(GPNN_PIPELINE_SLOTS, r->n_together, sizeof *r->batches);
  r->of_lines = gpnn_alloc(n_threads, 1, sizeof *r->of_lines);
  if (r->batches == NULL || r->of_lines == NULL)
    return gpnn_fail_memory(err, "for the training rows");
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n_threads && status == GPNN_OK; t++)
    status = gpnn_lines_open(&r->of_lines[t], r->table, err);
  if (n_threads == 1 || status != GPNN_OK) return status;
  status = gpnn_team_new(&r->team, r->n_threads, err);
  return status == GPNN_OK ? gpnn_input_allow_interrupt(gpnn_table_input(r->table), err) : status;
}

static void release(struct reading *r)
{
  for (size_t i = 0; r->batches != NULL && i < GPNN_PIPELINE_SLOTS * r->n_together; i++) {
    free(r->batches[i].lines.bytes);
    gpnn_records_release(&r->batches[i].records);
    free(r->batches[i].rows);
  }
  for (int t = 0; r->of_lines != NULL && t < r->n_threads; t++) gpnn_lines_close(r->of_lines[t]);
  free(r->batches);
  free(r->of_lines);
  gpnn_team_free(r->team);
}

enum gpnn_status gpnn_training_read(struct gpnn_training *training, struct gpnn_table *table,
                                    const struct gpnn_training_reading *how, struct gpnn_error *err)
{
  struct reading reading = {.training = training, .table = table, .how = how};
  const struct gpnn_pipeline pipeline = {
      {copy_batches, read_batches, write_batches}, interrupt_reading, &reading};
  training->is_unique = how->unique;
  enum gpnn_status status = begin(&reading, err);
  if (status == GPNN_OK) status = gpnn_pipeline_run(&pipeline, how->threads > 1, err);
  if (reading.is_diagnosis && status != GPNN_OK) gpnn_profile_release(how->profile);
  if (reading.is_diagnosis && status != GPNN_ENOMEM) {
    status = reading.bad_row.status;
    if (err != NULL) *err = reading.bad_row;
  }
  release(&reading);
  return status;
}
