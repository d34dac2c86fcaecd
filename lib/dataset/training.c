#include "dataset/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mapping.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/rng.h"
#include "base/threads.h"
#include "stats/moments.h"
#include "table/columns.h"
#include "table/records.h"

enum { CALIBRATION_ROWS = 1000, LEAST_ROWS = 2 };

/* ---- reading ---- */

enum gpnn_status gpnn_training_begin(struct gpnn_training *training, const struct gpnn_table *table,
                                     const struct gpnn_roles *roles, const char *beside,
                                     struct gpnn_error *err)
{
  struct gpnn_schema *schema = &training->dataset.schema;
  enum gpnn_status status = gpnn_schema_choose(schema, table, roles, err);
  if (status == GPNN_OK) status = gpnn_schema_match(schema, table, &training->map, err);
  if (status == GPNN_OK) status = gpnn_spool_create(&training->read, beside, training->watch, err);
  if (status == GPNN_OK) status = gpnn_spool_create(&training->rows, beside, training->watch, err);
  training->n_others = schema->n_more + schema->n_regressors + schema->has_noise;
  training->width = schema->n_inputs + 1 + training->n_others;
  return status;
}

/* Reads the columns of a row that are neither input nor the first target. */
static enum gpnn_status read_others(const struct gpnn_training *training,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, const char *na,
                                    double *others, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  const struct gpnn_columns_map *map = &training->map;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < schema->n_more && status == GPNN_OK; t++)
    status = gpnn_columns_number(table, record, map->more[t], na, others++, err);
  for (size_t j = 0; j < schema->n_regressors && status == GPNN_OK; j++)
    status = gpnn_columns_number(table, record, map->regressors[j], na, others++, err);
  if (status == GPNN_OK && schema->has_noise)
    status = gpnn_schema_noise(map, table, record, na, others, err);
  return status;
}

/* ---- reading: batch after batch ---- */

/* Records on their way to rows as read.  What ends the reading ends it behind the records before
 * it, one of which may be bad. */
struct batch {
  struct gpnn_records records;
  size_t n_malformed;      /* records that were left out before they got here */
  size_t first_malformed;  /* line of the first of them */
  enum gpnn_status status; /* of the record behind the last one: GPNN_END, or a failure */
  struct gpnn_error error;
  double *rows; /* owned; gpnn_row_source_block() of the width, by it */
  size_t n;     /* of them */
};

struct reading {
  struct gpnn_training *training;
  struct gpnn_table *table;
  const struct gpnn_training_reading *how;
  struct batch batches[GPNN_PIPELINE_SLOTS];
  size_t n_kept; /* rows that are in 'read' */
};

/* The first stage: copies of records. */
static enum gpnn_status take_records(void *context, size_t slot, struct gpnn_error *err)
{
  enum { MOST_BYTES = 1 << 18 };
  struct reading *r = context;
  struct batch *batch = &r->batches[slot];
  (void)err;
  gpnn_records_clear(&batch->records);
  batch->n_malformed = 0;
  batch->status = GPNN_OK;
  size_t most = gpnn_row_source_block(r->training->width);
  while (batch->records.n < most && batch->records.text_length < MOST_BYTES) {
    struct gpnn_record record;
    batch->status = gpnn_table_next(r->table, &record, &batch->error);
    if (batch->status == GPNN_OK)
      batch->status = gpnn_records_add(&batch->records, &record, &batch->error);
    else if (batch->status == GPNN_EDATA && r->how->skip_bad) {
      if (batch->n_malformed++ == 0) batch->first_malformed = record.line;
      batch->status = GPNN_OK;
    }
    if (batch->status != GPNN_OK) return GPNN_END;
  }
  return GPNN_OK;
}

/* Reads one record as 'row', which is its own only if all of it is good. */
static enum gpnn_status read_row(struct reading *r, const struct gpnn_record *record, double *row,
                                 struct gpnn_error *err)
{
  struct gpnn_training *training = r->training;
  struct gpnn_schema *schema = &training->dataset.schema;
  const char *na = r->how->na;
  double *target = row + schema->n_inputs;
  enum gpnn_status status =
      gpnn_columns_number(r->table, record, training->map.target, na, target, err);
  if (status == GPNN_OK && training->n_others > 0)
    status = read_others(training, r->table, record, na, target + 1, err);
  if (status == GPNN_OK)
    status = gpnn_schema_learn(schema, &training->map, r->table, record, na, row, err);
  return status;
}

/* The second stage: numbers. */
static enum gpnn_status read_rows(void *context, size_t slot, struct gpnn_error *err)
{
  struct reading *r = context;
  struct batch *batch = &r->batches[slot];
  struct gpnn_training *training = r->training;
  struct gpnn_error why;
  batch->n = 0;
  for (size_t i = 0; i < batch->records.n; i++) {
    const struct gpnn_record record = gpnn_records_get(&batch->records, i);
    enum gpnn_status status = read_row(r, &record, batch->rows + batch->n * training->width, &why);
    if (status == GPNN_OK) {
      batch->n++;
    } else if (status == GPNN_EDATA && r->how->skip_bad) {
      gpnn_skipped_add(&training->skipped, &record, &why);
    } else {
      if (err != NULL) *err = why;
      return status;
    }
  }
  gpnn_skipped_add_malformed(&training->skipped, batch->n_malformed, batch->first_malformed);
  training->n += batch->n;
  training->dataset.n_skipped = training->skipped.n;
  if (r->how->progress != NULL) r->how->progress(training->n);
  if (batch->status == GPNN_OK || batch->status == GPNN_END) return GPNN_OK;
  if (err != NULL) *err = batch->error;
  return batch->status;
}

/* The third stage: into the file. */
static enum gpnn_status keep_rows(void *context, size_t slot, struct gpnn_error *err)
{
  struct reading *r = context;
  const struct batch *batch = &r->batches[slot];
  size_t width = r->training->width;
  enum gpnn_status status =
      gpnn_spool_write(&r->training->read, r->n_kept * width, batch->n * width, batch->rows, err);
  r->n_kept += batch->n;
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
      {take_records, read_rows, keep_rows}, interrupt_reading, r};
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
  enum gpnn_status status = run_stages(&reading, err);
  for (size_t i = 0; i < GPNN_PIPELINE_SLOTS; i++) {
    gpnn_records_release(&reading.batches[i].records);
    free(reading.batches[i].rows);
  }
  return status;
}

/* ---- rows as read, as rows of features ---- */

/* All rows as read but those drawn for calibration. */
struct kept_rows {
  const struct gpnn_schema *schema;
  const double *read;
  struct gpnn_mapping mapping; /* that it is in */
  size_t width, n_drawn;       /* numbers of a row as read */
  uint64_t *drawn;             /* owned; ascending */
  size_t n_features;
  bool all_numbers; /* inputs are their own features */
};

/* Row number 'row' as read: its features, then its other numbers. */
static void expand(const struct kept_rows *kept, size_t row, double *expanded)
{
  const double *cells = kept->read + row * kept->width;
  size_t n_inputs = kept->schema->n_inputs;
  if (kept->all_numbers)
    memcpy(expanded, cells, n_inputs * sizeof *cells);
  else
    gpnn_schema_expand(kept->schema, cells, expanded);
  memcpy(expanded + kept->n_features, cells + n_inputs, (kept->width - n_inputs) * sizeof *cells);
}

/* How many drawn rows come before row number 'row' of those kept. */
static size_t drawn_before(const struct kept_rows *kept, size_t row)
{
  size_t low = 0, high = kept->n_drawn;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (kept->drawn[middle] - middle <= row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Lets pages go when the rows from 'first' up to 'end' are the first ones of a stretch: those of
 * the stretch before.  Others who are not quite through with it find them again. */
static void release_behind(const struct kept_rows *kept, size_t first, size_t end)
{
  size_t row_bytes = kept->width * sizeof *kept->read;
  size_t stretch = GPNN_MAPPING_STRIDE / row_bytes + 1, begin = end / stretch * stretch;
  if (begin < first || begin < stretch) return;
  gpnn_mapping_evict(kept->mapping, kept->read + (begin - stretch) * kept->width,
                     stretch * row_bytes);
}

/* struct gpnn_row_source's read. */
static enum gpnn_status read_kept(void *context, size_t from, size_t count, double *rows,
                                  struct gpnn_error *err)
{
  const struct kept_rows *kept = context;
  size_t numbers[GPNN_ROW_SOURCE_BLOCK], skipped = drawn_before(kept, from);
  size_t expanded = kept->n_features + kept->width - kept->schema->n_inputs;
  (void)err;
  for (size_t i = 0, row = from + skipped; i < count; row++) {
    if (skipped < kept->n_drawn && kept->drawn[skipped] == row)
      skipped++;
    else
      numbers[i++] = row;
  }
  for (size_t i = 0; i < count; i++) expand(kept, numbers[i], rows + i * expanded);
  release_behind(kept, numbers[0], numbers[count - 1] + 1);
  return GPNN_OK;
}

static bool are_numbers(const struct gpnn_schema *schema)
{
  for (size_t j = 0; j < schema->n_inputs; j++)
    if (schema->inputs[j].kind != GPNN_COLUMN_NUMBER) return false;
  return true;
}

/* ---- standardising ---- */

/* Standardised rows, part after part: inputs; the first target; further ones, one after another;
 * regressors, by rows; noise variances, once for every target. */
struct parts {
  size_t d, n_more, n_regressors, n_noises;
};

static struct parts parts_of(const struct gpnn_scaling *scaling, bool has_noise)
{
  return (struct parts){scaling->n_out, scaling->n_more, scaling->n_regressors,
                        has_noise ? scaling->n_more + 1 : 0};
}

/* Numbers of a row, and where the parts of 'n' rows begin. */
static size_t numbers_of(const struct parts *p)
{
  return p->d + 1 + p->n_more + p->n_regressors + p->n_noises;
}

static size_t more_at(const struct parts *p, size_t n)
{
  return n * (p->d + 1);
}

static size_t regressors_at(const struct parts *p, size_t n)
{
  return n * (p->d + 1 + p->n_more);
}

static size_t noise_at(const struct parts *p, size_t n)
{
  return n * (p->d + 1 + p->n_more + p->n_regressors);
}

/* Standardises one row of features and other numbers as number 'i' of 'n' in 'parts'. */
static void standardise_row(const struct gpnn_scaling *scaling, const struct parts *p,
                            const double *row, size_t n, size_t i, double *parts)
{
  const double *y = row + scaling->n_in, *regressors = y + 1 + p->n_more;
  double *own = parts + regressors_at(p, n) + i * p->n_regressors;
  gpnn_scaling_apply(scaling, row, parts + i * p->d);
  parts[n * p->d + i] = (y[0] - scaling->y_mean) / scaling->y_sd;
  for (size_t t = 0; t < p->n_more; t++)
    parts[more_at(p, n) + t * n + i] = (y[1 + t] - scaling->more[t].mean) / scaling->more[t].sd;
  memcpy(own, regressors, p->n_regressors * sizeof *own);
  gpnn_scaling_apply_regressors(scaling, own);
  for (size_t t = 0; t < p->n_noises; t++) {
    double sd = t == 0 ? scaling->y_sd : scaling->more[t - 1].sd;
    parts[noise_at(p, n) + t * n + i] = gpnn_scaling_variance(regressors[p->n_regressors], sd);
  }
}

/* Writes the parts of 'count' rows to where those of rows 'from' on are among 'n'. */
static enum gpnn_status put_parts(struct gpnn_spool *spool, const struct parts *p, size_t n,
                                  size_t from, size_t count, const double *parts,
                                  struct gpnn_error *err)
{
  size_t d = p->d, r = p->n_regressors, n_columns = 1 + p->n_more;
  enum gpnn_status status = gpnn_spool_write(spool, from * d, count * d, parts, err);
  for (size_t t = 0; t < n_columns && status == GPNN_OK; t++)
    status = gpnn_spool_write(spool, n * (d + t) + from, count, parts + count * (d + t), err);
  if (r > 0 && status == GPNN_OK)
    status = gpnn_spool_write(spool, regressors_at(p, n) + from * r, count * r,
                              parts + regressors_at(p, count), err);
  for (size_t t = 0; t < p->n_noises && status == GPNN_OK; t++)
    status = gpnn_spool_write(spool, noise_at(p, n) + t * n + from, count,
                              parts + noise_at(p, count) + t * count, err);
  return status;
}

/* Of each target, which come one after another, the largest magnitude yet. */
static void find_farthest(size_t n_targets, size_t count, const double *y, double *farthest)
{
  for (size_t t = 0; t < n_targets; t++)
    for (size_t i = 0; i < count; i++)
      if (fabs(y[t * count + i]) > fabs(farthest[t])) farthest[t] = y[t * count + i];
}

/* The row that contributes most to the variance of its standardised target. */
static void take_outlier(struct gpnn_training *training, const double *farthest)
{
  const struct gpnn_scaling *scaling = &training->dataset.scaling;
  for (size_t t = 0; t <= scaling->n_more; t++) {
    double share = farthest[t] * farthest[t] / (double)training->dataset.n;
    if (t > 0 && share <= training->largest_share) continue;
    double mean = t == 0 ? scaling->y_mean : scaling->more[t - 1].mean;
    double sd = t == 0 ? scaling->y_sd : scaling->more[t - 1].sd;
    training->largest_share = share;
    training->outlier = mean + sd * farthest[t];
    training->outlier_target = t;
  }
}

/* Room for a block of rows in each of its shapes. */
struct block {
  double *rows, *parts;
};

static bool block_alloc(struct block *block, size_t width, const struct parts *p)
{
  size_t most = gpnn_row_source_block(width);
  block->rows = gpnn_alloc(most, width, sizeof *block->rows);
  block->parts = gpnn_alloc(most, numbers_of(p), sizeof *block->parts);
  return block->rows != NULL && block->parts != NULL;
}

/* Rows being standardised, block after block. */
struct standardising {
  struct gpnn_training *training;
  const struct gpnn_row_source *source;
  const struct parts *p;
  struct block *blocks; /* owned; one a thread, made when it is first needed */
  double *farthest;     /* owned; of each target */
};

static size_t count_of(const struct gpnn_row_source *source, size_t from)
{
  size_t most = gpnn_row_source_block(source->width);
  return source->n - from < most ? source->n - from : most;
}

static enum gpnn_status standardise_block(void *context, size_t thread, size_t b,
                                          struct gpnn_error *err)
{
  const struct standardising *s = context;
  const struct gpnn_row_source *source = s->source;
  struct block *block = &s->blocks[thread];
  size_t from = b * gpnn_row_source_block(source->width), count = count_of(source, from);
  if (block->rows == NULL && !block_alloc(block, source->width, s->p))
    return gpnn_fail_memory(err, "for the training rows");
  enum gpnn_status status = source->read(source->context, from, count, block->rows, err);
  for (size_t i = 0; i < count && status == GPNN_OK; i++)
    standardise_row(&s->training->dataset.scaling, s->p, block->rows + i * source->width, count, i,
                    block->parts);
  if (status != GPNN_OK) return status;
  return put_parts(&s->training->rows, s->p, source->n, from, count, block->parts, err);
}

static enum gpnn_status look_for_farthest(void *context, size_t thread, size_t b,
                                          struct gpnn_error *err)
{
  const struct standardising *s = context;
  size_t count = count_of(s->source, b * gpnn_row_source_block(s->source->width));
  (void)err;
  find_farthest(1 + s->p->n_more, count, s->blocks[thread].parts + count * s->p->d, s->farthest);
  return GPNN_OK;
}

/* Blocks are shared out, and looked at for the farthest targets in their order. */
static enum gpnn_status standardise(struct gpnn_training *training,
                                    const struct gpnn_row_source *source, const struct parts *p,
                                    struct gpnn_error *err)
{
  size_t most = gpnn_row_source_block(source->width);
  size_t n_blocks = source->n / most + (source->n % most > 0);
  int threads = gpnn_threads_for(source->threads, n_blocks);
  struct standardising s = {training, source, p, gpnn_alloc((size_t)threads, 1, sizeof *s.blocks),
                            gpnn_alloc(1 + p->n_more, 1, sizeof *s.farthest)};
  enum gpnn_status status =
      s.blocks == NULL || s.farthest == NULL
          ? gpnn_fail_memory(err, "for the training rows")
          : gpnn_threads_in_order(threads, n_blocks, standardise_block, look_for_farthest, &s, err);
  if (status == GPNN_OK) take_outlier(training, s.farthest);
  for (int t = 0; s.blocks != NULL && t < threads; t++) {
    free(s.blocks[t].rows);
    free(s.blocks[t].parts);
  }
  free(s.blocks);
  free(s.farthest);
  return status;
}

/* The calibration rows in the order drawn, so that the first few of them are a random sample
 * too. */
static enum gpnn_status hold_out(struct gpnn_training *training, const struct kept_rows *kept,
                                 const struct parts *p, const uint64_t *drawn,
                                 struct gpnn_error *err)
{
  size_t c = kept->n_drawn, width = kept->n_features + kept->width - kept->schema->n_inputs;
  double *row = gpnn_alloc(width, 1, sizeof *row);
  training->held = gpnn_alloc(c, numbers_of(p), sizeof *training->held);
  enum gpnn_status status = row == NULL || training->held == NULL
                                ? gpnn_fail_memory(err, "for the calibration rows")
                                : GPNN_OK;
  for (size_t i = 0; i < c && status == GPNN_OK; i++) {
    expand(kept, (size_t)drawn[i], row);
    standardise_row(&training->dataset.scaling, p, row, c, i, training->held);
  }
  free(row);
  return status;
}

/* ---- finishing ---- */

/* Says which column a mistake in the data is about; 'at' counts as in struct
 * gpnn_scaling_columns. */
static enum gpnn_status name_column(const struct gpnn_schema *schema, size_t n_features, size_t at,
                                    enum gpnn_status status, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  if (status != GPNN_EDATA || at == SIZE_MAX) return status;
  if (at < n_features)
    return gpnn_prefix(err, status, "column '%s'",
                       gpnn_schema_feature_name(schema, NULL, at, shown));
  size_t more = n_features + 1, regressors = more + schema->n_more;
  const struct gpnn_column *column = at < more         ? &schema->target
                                     : at < regressors ? &schema->more[at - more]
                                                       : &schema->regressors[at - regressors];
  return gpnn_prefix(err, status, "column '%s'",
                     gpnn_mask(shown, column->name, strlen(column->name)));
}

static enum gpnn_status learn(struct gpnn_training *training,
                              const struct gpnn_training_options *options,
                              const struct gpnn_row_source *source, size_t n_features,
                              struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  struct gpnn_feature *features = gpnn_alloc(n_features, 1, sizeof *features);
  if (features == NULL) return gpnn_fail_memory(err, "for the features");
  gpnn_schema_groups(schema, features);
  const struct gpnn_scaling_columns columns = {n_features, features, schema->n_more,
                                               schema->n_regressors,
                                               options->limits ? &training->far : NULL};
  size_t at;
  enum gpnn_status status =
      gpnn_scaling_learn_rows(&training->dataset.scaling, options->standardise, options->whiten_eps,
                              &columns, source, &at, err);
  free(features);
  return name_column(schema, n_features, at, status, err);
}

/* Points the contents at the parts of 'n' training rows and 'c' calibration rows; columns that no
 * row has are NULL. */
static void take_parts(struct gpnn_training *training, const struct parts *p)
{
  struct gpnn_dataset *dataset = &training->dataset;
  const double *rows = training->rows.numbers, *held = training->held;
  size_t n = dataset->n, c = dataset->n_calibration;
  dataset->d = p->d;
  dataset->n_more = p->n_more;
  dataset->n_regressors = p->n_regressors;
  dataset->x = rows;
  dataset->y = rows + n * p->d;
  dataset->calibration_x = held;
  dataset->calibration_y = held + c * p->d;
  if (p->n_more > 0) {
    dataset->more = rows + more_at(p, n);
    dataset->calibration_more = held + more_at(p, c);
  }
  if (p->n_regressors > 0) {
    dataset->regressors = rows + regressors_at(p, n);
    dataset->calibration_regressors = held + regressors_at(p, c);
  }
  if (p->n_noises > 0) {
    dataset->noise = rows + noise_at(p, n);
    dataset->calibration_noise = held + noise_at(p, c);
  }
  dataset->mapping = gpnn_spool_mapping(&training->rows);
}

/* Learns from the rows that were not drawn, and standardises all. */
static enum gpnn_status prepare(struct gpnn_training *training,
                                const struct gpnn_training_options *options, struct kept_rows *kept,
                                const uint64_t *drawn, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &training->dataset;
  size_t width = kept->n_features + training->width - dataset->schema.n_inputs;
  const struct gpnn_row_source source = {dataset->n, width, read_kept, kept, options->threads};
  enum gpnn_status status = learn(training, options, &source, kept->n_features, err);
  if (status != GPNN_OK) return status;
  const struct parts parts = parts_of(&dataset->scaling, dataset->schema.has_noise);
  size_t total;
  if (!gpnn_multiply(dataset->n, numbers_of(&parts), &total))
    return gpnn_fail_memory(err, "for the training rows");
  status = standardise(training, &source, &parts, err);
  if (status == GPNN_OK) status = hold_out(training, kept, &parts, drawn, err);
  if (status == GPNN_OK) status = gpnn_spool_map(&training->rows, err);
  if (status == GPNN_OK) take_parts(training, &parts);
  return status;
}

static enum gpnn_status draw(const struct gpnn_training *training, uint64_t seed, size_t c,
                             uint64_t *drawn, uint64_t *ascending, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_HOLD_OUT);
  enum gpnn_status status = gpnn_rng_sample(&rng, training->n, c, drawn, err);
  if (status != GPNN_OK) return status;
  memcpy(ascending, drawn, c * sizeof *drawn);
  qsort(ascending, c, sizeof *ascending, gpnn_compare_uint64s);
  return GPNN_OK;
}

static enum gpnn_status finish(struct gpnn_training *training,
                               const struct gpnn_training_options *options, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &training->dataset;
  size_t n = training->n, tenth = n / 10, c = options->calibration_rows;
  if (options->default_calibration) c = tenth < CALIBRATION_ROWS ? tenth : CALIBRATION_ROWS;
  if (n < LEAST_ROWS || c > n - LEAST_ROWS)
    return gpnn_fail(err, GPNN_EDATA, "%zu rows are too few to train on%s", n,
                     c > 0 ? " and to hold out rows for calibration" : "");
  dataset->n = n - c;
  dataset->n_calibration = c;
  dataset->seed = options->seed;
  uint64_t *drawn = gpnn_alloc(c, 1, sizeof *drawn);
  struct kept_rows kept = {.schema = &dataset->schema,
                           .width = training->width,
                           .n_drawn = c,
                           .drawn = gpnn_alloc(c, 1, sizeof *kept.drawn),
                           .n_features = gpnn_schema_features(&dataset->schema),
                           .all_numbers = are_numbers(&dataset->schema)};
  enum gpnn_status status = drawn == NULL || kept.drawn == NULL
                                ? gpnn_fail_memory(err, "for the calibration rows")
                                : draw(training, options->seed, c, drawn, kept.drawn, err);
  if (status == GPNN_OK) status = gpnn_spool_map(&training->read, err);
  kept.read = training->read.numbers;
  kept.mapping = gpnn_spool_mapping(&training->read);
  if (status == GPNN_OK) status = prepare(training, options, &kept, drawn, err);
  free(drawn);
  free(kept.drawn);
  return status;
}

enum gpnn_status gpnn_training_finish(struct gpnn_training *training,
                                      const struct gpnn_training_options *options,
                                      const char *table_name, struct gpnn_error *err)
{
  enum gpnn_status status = finish(training, options, err);
  gpnn_spool_release(&training->read);
  if (status == GPNN_EIO) return status; /* about the index, not about the table */
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "%s", table_name);
}

void gpnn_training_release(struct gpnn_training *training)
{
  gpnn_schema_release(&training->dataset.schema);
  gpnn_scaling_release(&training->dataset.scaling);
  gpnn_far_columns_release(&training->far);
  gpnn_columns_map_release(&training->map);
  gpnn_spool_release(&training->read);
  gpnn_spool_release(&training->rows);
  free(training->held);
  *training = (struct gpnn_training)GPNN_TRAINING_INIT;
}
