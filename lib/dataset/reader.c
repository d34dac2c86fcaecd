#include "dataset/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/missing.h"
#include "stats/transform.h"
#include "table/columns.h"

/* ---- row by row ---- */

enum gpnn_status gpnn_reader_open(struct gpnn_reader *reader, const struct gpnn_dataset *dataset,
                                  const struct gpnn_table *table, bool reads_regressors,
                                  struct gpnn_error *err)
{
  struct gpnn_reader opened = {.dataset = dataset, .table = table};
  opened.reads_regressors = reads_regressors && dataset->n_regressors > 0;
  enum gpnn_status status = gpnn_schema_match(&dataset->schema, table, &opened.map, err);
  opened.map.takes_levels = !dataset->drops_missing && dataset->x != NULL;
  if (status == GPNN_OK && opened.reads_regressors)
    status = gpnn_schema_require_regressors(&dataset->schema, &opened.map, table, err);
  if (status == GPNN_OK) {
    opened.features =
        gpnn_alloc(gpnn_schema_features(&dataset->schema), 1, sizeof *opened.features);
    opened.ignores_offset = gpnn_alloc(dataset->schema.n_offsets, 1, sizeof *opened.ignores_offset);
    if (opened.features == NULL || opened.ignores_offset == NULL)
      status = gpnn_fail_memory(err, "for a row");
  }
  if (status == GPNN_OK)
    *reader = opened;
  else
    gpnn_reader_release(&opened);
  return status;
}

static enum gpnn_status read_regressors(const struct gpnn_reader *reader,
                                        const struct gpnn_record *record, double *regressors,
                                        struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_schema_read_regressors(&reader->dataset->schema, &reader->map,
                                                        reader->table, record, regressors, err);
  if (status == GPNN_OK) gpnn_scaling_apply_regressors(&reader->dataset->scaling, regressors);
  return status;
}

enum gpnn_status gpnn_reader_read(const struct gpnn_reader *reader,
                                  const struct gpnn_record *record, double *x, double *regressors,
                                  double *noise, size_t *n_unseen, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = reader->dataset;
  double variance = 0;
  enum gpnn_status status = gpnn_schema_noise(&reader->map, reader->table, record, &variance, err);
  if (status == GPNN_OK && reader->reads_regressors)
    status = read_regressors(reader, record, regressors, err);
  if (status == GPNN_OK)
    status = gpnn_schema_encode(&dataset->schema, &reader->map, reader->table, record,
                                reader->features, n_unseen, err);
  if (status != GPNN_OK) return status;
  gpnn_scaling_apply(&dataset->scaling, reader->features, x);
  *noise = variance;
  return GPNN_OK;
}

void gpnn_reader_take_missing(struct gpnn_reader *reader)
{
  reader->map.takes_missing = gpnn_dataset_takes_missing(reader->dataset);
}

void gpnn_reader_ignore_offset(struct gpnn_reader *reader, size_t t)
{
  reader->ignores_offset[t] = true;
}

enum gpnn_status gpnn_reader_require_offsets(const struct gpnn_reader *reader,
                                             struct gpnn_error *err)
{
  struct gpnn_columns_map map = reader->map;
  size_t n = reader->dataset->schema.n_offsets;
  if (n == 0) return GPNN_OK;
  map.offsets = gpnn_alloc(n, 1, sizeof *map.offsets);
  if (map.offsets == NULL) return gpnn_fail_memory(err, "for the offsets");
  for (size_t t = 0; t < n; t++)
    map.offsets[t] = reader->ignores_offset[t] ? 0 : reader->map.offsets[t];
  enum gpnn_status status =
      gpnn_schema_require_offsets(&reader->dataset->schema, &map, reader->table, err);
  free(map.offsets);
  return status;
}

enum gpnn_status gpnn_reader_offsets(const struct gpnn_reader *reader,
                                     const struct gpnn_record *record, double *offsets,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < reader->dataset->schema.n_offsets && status == GPNN_OK; t++) {
    offsets[t] = 0;
    if (!reader->ignores_offset[t])
      status = gpnn_columns_number(reader->table, record, reader->map.offsets[t], &offsets[t], err);
  }
  return status;
}

enum gpnn_status gpnn_reader_require_exposure(const struct gpnn_reader *reader,
                                              struct gpnn_error *err)
{
  return gpnn_schema_require_exposure(&reader->dataset->schema, &reader->map, reader->table, err);
}

enum gpnn_status gpnn_reader_exposure(const struct gpnn_reader *reader,
                                      const struct gpnn_record *record, double *exposure,
                                      struct gpnn_error *err)
{
  *exposure = 1;
  if (!reader->dataset->schema.has_exposure) return GPNN_OK;
  return gpnn_schema_exposure(&reader->map, reader->table, record, exposure, err);
}

size_t gpnn_reader_target_column(const struct gpnn_reader *reader, size_t t)
{
  return t == 0 ? reader->map.target : reader->map.more[t - 1];
}

const struct gpnn_field *gpnn_reader_target_text(const struct gpnn_reader *reader,
                                                 const struct gpnn_record *record, size_t t)
{
  size_t column = gpnn_reader_target_column(reader, t);
  if (column == SIZE_MAX) return NULL;
  const struct gpnn_field *field = &record->fields[column];
  return gpnn_field_is_missing(reader->table, field) ? NULL : field;
}

/* Reads a target that is not missing. */
static enum gpnn_status read_present(const struct gpnn_reader *reader,
                                     const struct gpnn_record *record, size_t t, double *y,
                                     struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &reader->dataset->schema;
  if (!gpnn_schema_has_classes(schema, t))
    return gpnn_columns_number(reader->table, record, gpnn_reader_target_column(reader, t), y, err);
  *y = gpnn_schema_class(schema, &reader->map, reader->table, record, t);
  return GPNN_OK;
}

enum gpnn_status gpnn_reader_target(const struct gpnn_reader *reader,
                                    const struct gpnn_record *record, size_t t, double *y,
                                    struct gpnn_error *err)
{
  if (gpnn_reader_target_text(reader, record, t) != NULL)
    return read_present(reader, record, t, y, err);
  *y = nan("");
  return GPNN_OK;
}

void gpnn_reader_release(struct gpnn_reader *reader)
{
  gpnn_columns_map_release(&reader->map);
  free(reader->features);
  free(reader->ignores_offset);
  *reader = (struct gpnn_reader){0};
}

/* ---- a whole table ---- */

/* Allocates for one more row. */
static enum gpnn_status grow(struct gpnn_reader_rows *rows, const struct gpnn_reader *reader,
                             bool inputs_only, struct gpnn_error *err)
{
  size_t n = rows->n + 1, d = reader->dataset->d;
  bool enough = gpnn_grow(&rows->x, &rows->x_capacity, n * d, sizeof *rows->x);
  if (enough && !inputs_only) enough = gpnn_grow(&rows->y, &rows->y_capacity, n, sizeof *rows->y);
  if (enough && reader->reads_regressors)
    enough = gpnn_grow(&rows->regressors, &rows->regressors_capacity, n * rows->n_regressors,
                       sizeof *rows->regressors);
  if (enough && !inputs_only && reader->map.has_noise)
    enough = gpnn_grow(&rows->noise, &rows->noise_capacity, n, sizeof *rows->noise);
  if (enough && !inputs_only && reader->dataset->schema.has_exposure)
    enough = gpnn_grow(&rows->exposure, &rows->exposure_capacity, n, sizeof *rows->exposure);
  if (enough && rows->by != NULL)
    enough = gpnn_grow(&rows->group, &rows->group_capacity, n, sizeof *rows->group);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the rows");
}

/* Reads the target, standardised; a transform must take it. */
static enum gpnn_status read_target(const struct gpnn_reader *reader, struct gpnn_table *table,
                                    const struct gpnn_record *record, double *y,
                                    struct gpnn_error *err)
{
  const struct gpnn_transform *transform = reader->dataset->transform;
  size_t column = reader->map.target;
  double value = 0, offset;
  enum gpnn_status status = gpnn_columns_present(table, record, column, err);
  if (status == GPNN_OK) status = read_present(reader, record, 0, &value, err);
  if (status == GPNN_OK && reader->dataset->schema.n_offsets > 0)
    status = gpnn_schema_subtract_offset(&reader->map, table, record, 0, &value, &offset, err);
  if (status == GPNN_OK && transform != NULL && !gpnn_transform_takes(transform->kind, value))
    return gpnn_columns_fail_field(
        table, record, column, "not positive, as the transform of the parameters needs", true, err);
  *y = gpnn_dataset_standardise(reader->dataset, value);
  return status;
}

/* True if a record lacks the target, which it may if there are several. */
static bool lacks_target(const struct gpnn_reader *reader, const struct gpnn_record *record)
{
  return gpnn_dataset_n_targets(reader->dataset) > 1 &&
         gpnn_field_is_missing(reader->table, &record->fields[reader->map.target]);
}

static enum gpnn_status read_row(struct gpnn_reader_rows *rows, const struct gpnn_reader *reader,
                                 struct gpnn_table *table, bool inputs_only, size_t by,
                                 struct gpnn_record *record, struct gpnn_error *err)
{
  const struct gpnn_scaling *scaling = &reader->dataset->scaling;
  size_t n_unseen = 0, n = rows->n;
  enum gpnn_status status = gpnn_table_next(table, record, err);
  if (status == GPNN_OK) status = grow(rows, reader, inputs_only, err);
  if (status != GPNN_OK) return status;
  if (!inputs_only && lacks_target(reader, record)) {
    rows->n_lacking++;
    return GPNN_OK;
  }
  double y = 0, variance = 0;
  double *regressors = reader->reads_regressors ? rows->regressors + n * rows->n_regressors : NULL;
  if (!inputs_only) status = read_target(reader, table, record, &y, err);
  if (status == GPNN_OK && rows->exposure != NULL)
    status = gpnn_reader_exposure(reader, record, &rows->exposure[n], err);
  if (status == GPNN_OK)
    status = gpnn_reader_read(reader, record, rows->x + n * reader->dataset->d, regressors,
                              &variance, &n_unseen, err);
  if (status == GPNN_OK && rows->by != NULL)
    status = gpnn_groups_number(&rows->groups, record->fields[by].text, record->fields[by].length,
                                &rows->group[n], err);
  if (status != GPNN_OK) return status;
  if (rows->noise != NULL) rows->noise[n] = gpnn_scaling_noise(scaling, variance);
  if (!inputs_only) rows->y[n] = y;
  if (gpnn_schema_has_classes(&reader->dataset->schema, 0) && y == GPNN_CLASS_UNSEEN)
    rows->n_unseen++;
  else
    rows->n++;
  return GPNN_OK;
}

enum gpnn_status gpnn_reader_rows_read(struct gpnn_reader_rows *rows,
                                       const struct gpnn_dataset *dataset, struct gpnn_table *table,
                                       bool inputs_only, bool reads_regressors, bool skip_bad,
                                       struct gpnn_error *err)
{
  struct gpnn_reader reader = {0};
  enum gpnn_status status = gpnn_reader_open(&reader, dataset, table, reads_regressors, err);
  if (status == GPNN_OK && !inputs_only && !reader.map.has_target)
    status = gpnn_fail(err, GPNN_EMISMATCH, "%s: no column '%s', the target",
                       gpnn_table_name(table), dataset->schema.target.name);
  if (status == GPNN_OK && !inputs_only) status = gpnn_reader_require_offsets(&reader, err);
  if (status == GPNN_OK && !inputs_only) status = gpnn_reader_require_exposure(&reader, err);
  rows->n_regressors = reader.reads_regressors ? dataset->n_regressors : 0;
  size_t by = 0;
  if (status == GPNN_OK && rows->by != NULL) status = gpnn_columns_find(table, rows->by, &by, err);
  struct gpnn_error why = {0};
  struct gpnn_record record;
  while (status == GPNN_OK) {
    status = read_row(rows, &reader, table, inputs_only, by, &record, &why);
    if (status == GPNN_EDATA && skip_bad) {
      gpnn_skipped_add(&rows->skipped, &record, &why);
      status = GPNN_OK;
    } else if (status != GPNN_OK && err != NULL) {
      *err = why;
    }
  }
  gpnn_reader_release(&reader);
  return status == GPNN_END ? GPNN_OK : status;
}

/* Swaps rows 'i' and 'k' of 'width' values. */
static void swap(double *values, size_t width, size_t i, size_t k)
{
  for (size_t j = 0; j < width && values != NULL; j++) {
    double t = values[i * width + j];
    values[i * width + j] = values[k * width + j];
    values[k * width + j] = t;
  }
}

void gpnn_reader_rows_shuffle(struct gpnn_reader_rows *rows, size_t d, uint64_t seed)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_GIVEN_ROWS);
  for (size_t i = rows->n; i > 1; i--) {
    size_t k = (size_t)gpnn_rng_below(&rng, i);
    swap(rows->y, 1, i - 1, k);
    swap(rows->x, d, i - 1, k);
    swap(rows->regressors, rows->n_regressors, i - 1, k);
    swap(rows->noise, 1, i - 1, k);
    swap(rows->exposure, 1, i - 1, k);
    if (rows->group == NULL) continue;
    uint32_t group = rows->group[i - 1];
    rows->group[i - 1] = rows->group[k];
    rows->group[k] = group;
  }
}

void gpnn_reader_rows_release(struct gpnn_reader_rows *rows)
{
  free(rows->x);
  free(rows->y);
  free(rows->regressors);
  free(rows->noise);
  free(rows->exposure);
  free(rows->group);
  gpnn_groups_release(&rows->groups);
  memset(rows, 0, sizeof *rows);
}
