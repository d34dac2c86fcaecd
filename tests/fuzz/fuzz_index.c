/*
 * Indexes whose checksums are right and whose contents are hostile: what opens can be described,
 * searched and predicted from, and whatever is refused is refused in one sentence.
 * The first byte: bit 0, all is to be verified; bit 1, the fingerprint is left wrong; bit 2, the
 * file is of kind grid; bit 3, it is a model file.  Then sections: a tag of 4 bytes, a byte whose
 * bit 0 is "critical", a length of 2 bytes, the bytes. The file around them is composed here;
 * pack.c brings an index into this form.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "../unit/models.h"
#include "base/bytes.h"
#include "container/container.h"
#include "container/state.h"
#include "dataset/grid/reading.h"
#include "dataset/index/index_private.h"
#include "dataset/reader.h"
#include "dataset/stored.h"
#include "dataset/training/training.h"
#include "fuzz.h"
#include "models/heldout.h"

enum { FRONT = 64 + GPNN_CONTAINER_SECTIONS * 32, HEAD = 7, ROOM = 1 << 20, K = 5, POINTS = 9 };

/* ---- composing a file ---- */

struct piece {
  const uint8_t *tag, *bytes;
  bool critical;
  size_t offset, length;
};

/* Cuts the input into sections. */
static size_t cut(const uint8_t *bytes, size_t length, struct piece pieces[GPNN_CONTAINER_SECTIONS])
{
  size_t n = 0;
  while (length >= HEAD && n < GPNN_CONTAINER_SECTIONS) {
    struct piece *piece = &pieces[n++];
    size_t wanted = bytes[5] | (size_t)bytes[6] << 8;
    *piece = (struct piece){.tag = bytes, .bytes = bytes + HEAD, .critical = bytes[4] & 1};
    length -= HEAD;
    piece->length = wanted < length ? wanted : length;
    bytes += HEAD + piece->length;
    length -= piece->length;
  }
  return n;
}

/* What gpnn_index_write() would have it be. */
static uint64_t fingerprint(enum gpnn_container_kind kind, const struct piece *pieces, size_t n)
{
  const struct gpnn_index_section *section;
  struct gpnn_fingerprint print = {0};
  for (size_t i = 0; (section = gpnn_index_section_at(i)) != NULL; i++)
    for (size_t j = 0; j < n; j++) {
      bool is_hashed = section->hash != GPNN_INDEX_UNHASHED && gpnn_index_may_have(kind, section);
      if (!is_hashed || memcmp(pieces[j].tag, section->tag.tag, 4) != 0) continue;
      gpnn_fingerprint_begin(&print, section, pieces[j].length);
      gpnn_fingerprint_add(&print, section, pieces[j].bytes, pieces[j].length);
    }
  return gpnn_fingerprint_value(&print);
}

static uint32_t checksum(const void *bytes, size_t length)
{
  return (uint32_t)crc32_z(0, bytes, length);
}

/* Composes the file in 'file'; returns its length. */
static size_t compose(struct piece *pieces, size_t n, enum gpnn_container_kind kind, uint64_t print,
                      unsigned char file[ROOM])
{
  size_t at = FRONT;
  memset(file, 0, FRONT);
  for (size_t i = 0; i < n; i++) {
    unsigned char *entry = file + 64 + i * 32;
    size_t padded = (at + 63) / 64 * 64;
    memset(file + at, 0, padded - at);
    memcpy(entry, pieces[i].tag, 4);
    gpnn_store_u32(entry + 4, pieces[i].critical);
    gpnn_store_u64(entry + 8, padded);
    gpnn_store_u64(entry + 16, pieces[i].length);
    gpnn_store_u32(entry + 24, checksum(pieces[i].bytes, pieces[i].length));
    memcpy(file + padded, pieces[i].bytes, pieces[i].length);
    at = padded + pieces[i].length;
  }
  memcpy(file, GPNN_CONTAINER_MAGIC, GPNN_CONTAINER_MAGIC_BYTES);
  gpnn_store_u32(file + 8, 1);
  gpnn_store_u32(file + 16, 0x01020304);
  gpnn_store_u32(file + 20, kind);
  gpnn_store_u32(file + 24, (uint32_t)n);
  gpnn_store_u32(file + 28, checksum(file + 64, FRONT - 64));
  gpnn_store_u64(file + 32, at);
  gpnn_store_u64(file + 40, print);
  gpnn_store_u32(file + 60, checksum(file, 60));
  return at;
}

/* ---- using what opens ---- */

/* Classes have names, and each row is of one of them. */
static void describe_classes(const struct gpnn_dataset *view)
{
  size_t counts[GPNN_LEVELS_MAX], k = gpnn_dataset_n_classes(view), n = 0, length;
  if (k == 0) return;
  gpnn_dataset_count_classes(view, counts);
  for (size_t c = 0; c < k; c++) {
    FUZZ_EXPECT(strlen(gpnn_dataset_class(view, c, &length)) <= length);
    n += counts[c];
  }
  FUZZ_EXPECT(n == view->n);
}

/* Rows that were held out have numbers of their own. */
static void number_held_out(const struct gpnn_dataset *dataset)
{
  struct gpnn_error err = {0};
  uint64_t *rows;
  enum gpnn_status status = gpnn_training_held_out(dataset, &rows, &err);
  if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  for (size_t i = 0; rows != NULL && i < dataset->n_calibration; i++)
    FUZZ_EXPECT(rows[i] < dataset->n + dataset->n_calibration &&
                (i == 0 || rows[i] >= rows[i - 1]));
  free(rows);
}

/* Ids that are good lie within their bytes. */
static void read_ids(const struct gpnn_ids *ids)
{
  size_t length, total = 0;
  if (ids == NULL || !gpnn_ids_are_good(ids)) return;
  for (size_t row = 0; row < ids->n; row++) {
    const char *text = gpnn_ids_get(ids, row, &length);
    FUZZ_EXPECT(text == ids->text + total);
    total += length;
  }
  FUZZ_EXPECT(total == ids->n_bytes);
}

static void describe(const struct gpnn_index *index)
{
  char name[GPNN_MASK_BYTES];
  read_ids(gpnn_index_dataset(index)->ids);
  for (size_t t = 0; t < gpnn_dataset_n_targets(gpnn_index_dataset(index)); t++) {
    const struct gpnn_dataset *dataset = gpnn_dataset_target(gpnn_index_dataset(index), t);
    const struct gpnn_dataset *found =
        gpnn_dataset_find_target(dataset, dataset->schema.target.name);
    FUZZ_EXPECT(found != NULL && found->target <= t);
    FUZZ_EXPECT(dataset->n > 0 && dataset->d > 0 && dataset->n_groups > 0);
    if (dataset->stored == NULL) describe_classes(dataset);
    for (size_t g = 0; g < dataset->n_groups; g++) gpnn_dataset_group_name(dataset, NULL, g, name);
    for (size_t j = 0; j < gpnn_schema_features(&dataset->schema); j++) {
      gpnn_schema_feature_name(&dataset->schema, NULL, j, name);
      for (int s = 0; s < GPNN_STEPS; s++) {
        const struct gpnn_step *step = gpnn_step((enum gpnn_step_number)s);
        const struct gpnn_learnt *learnt = &dataset->scaling.steps[s];
        if (learnt->numbers == NULL) continue;
        FUZZ_EXPECT(isfinite(step->apply(learnt, j, 1e300)));
        FUZZ_EXPECT(step->has(learnt, j) || step->apply(learnt, j, -7) == -7);
      }
    }
  }
}

static void write_cell(struct gpnn_output *output, const char *text, size_t length)
{
  struct gpnn_error err = {0};
  FUZZ_EXPECT(gpnn_table_write_field(output, ',', text, length, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_output_text(output, ",", &err) == GPNN_OK);
}

/* A table of the index's own columns with one row of the same number, date or class in each. */
static char *write_table(const struct gpnn_schema *schema, size_t *length)
{
  struct gpnn_error err = {0};
  struct gpnn_output *output;
  FUZZ_EXPECT(gpnn_output_open(&output, fuzz_sink(), &err) == GPNN_OK);
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const char *name = schema->inputs[i].name;
    if (!gpnn_schema_is_repeat(schema, i)) write_cell(output, name, strlen(name));
  }
  if (schema->has_exposure)
    write_cell(output, schema->exposure.name, strlen(schema->exposure.name));
  write_cell(output, schema->target.name, strlen(schema->target.name));
  FUZZ_EXPECT(gpnn_output_text(output, "other\n", &err) == GPNN_OK);
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const char *cell = schema->inputs[i].date == NULL ? "1.5," : "2014-05-02,";
    if (gpnn_schema_is_repeat(schema, i)) continue;
    FUZZ_EXPECT(gpnn_output_text(output, cell, &err) == GPNN_OK);
  }
  if (schema->has_exposure) write_cell(output, "2", 1);
  if (schema->target.n_levels > 0)
    write_cell(output, schema->target.levels[0], schema->target.level_lengths[0]);
  else
    write_cell(output, "1.5", 3);
  FUZZ_EXPECT(gpnn_output_text(output, "0\n", &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_output_close(output, &err) == GPNN_OK);
  return fuzz_drain(length);
}

/* Reads that table for the index. */
static void read_rows(const struct gpnn_index *index, bool inputs_only)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  struct gpnn_error err = {0};
  struct gpnn_table *table;
  struct gpnn_reader_rows rows = {0};
  size_t length;
  char *text = write_table(&dataset->schema, &length);
  struct gpnn_table_options options = {.delimiter = ',', .has_header = true};
  if (gpnn_table_open(&table, fuzz_file(1, text, length), &options, &err) == GPNN_OK) {
    enum gpnn_status status =
        gpnn_reader_rows_read(&rows, dataset, table, inputs_only, false, false, &err);
    if (status != GPNN_OK) fuzz_expect_failure(status, &err);
    gpnn_table_close(table);
  }
  gpnn_reader_rows_release(&rows);
  free(text);
}

/* The first rows and one that is far away: 'width' numbers of each of 'rows', which are 'n'. */
static double *make_points(size_t n, size_t width, const double *rows, double far)
{
  size_t taken = n < POINTS - 1 ? n : POINTS - 1;
  double *points = calloc(POINTS * width + 1, sizeof *points);
  FUZZ_EXPECT(points != NULL);
  if (width > 0) memcpy(points, rows, taken * width * sizeof *points);
  for (size_t j = 0; j < width; j++) points[(POINTS - 1) * width + j] = far;
  return points;
}

/* All terms that there are, each with a coefficient of its own. */
static double *make_coefficients(const struct gpnn_dataset *dataset, struct gpnn_parameters *params)
{
  size_t p = dataset->n_regressors;
  params->mean.kind = p > 0 ? GPNN_MEAN_REGRESSORS : GPNN_MEAN_LINEAR;
  params->mean.n_coefficients = gpnn_mean_width(params->mean.kind, dataset->d, p);
  double *coefficients = calloc(params->mean.n_coefficients, sizeof *coefficients);
  FUZZ_EXPECT(coefficients != NULL);
  for (size_t i = 0; i < params->mean.n_coefficients; i++) coefficients[i] = 0.5 * (double)i - 1;
  params->mean.coefficients = coefficients;
  return coefficients;
}

static void search(const struct gpnn_index *index, const double *points, bool verified)
{
  struct gpnn_error err = {0};
  struct gpnn_search *found = NULL;
  int64_t n = (int64_t)gpnn_index_dataset(index)->n, rows[POINTS * K];
  double distances[POINTS * K];
  enum gpnn_status status = gpnn_dataset_search(gpnn_index_dataset(index), &found, &err);
  if (status == GPNN_OK)
    status = gpnn_search_query(found, POINTS, points, K, rows, distances, 1, &err);
  gpnn_search_free(found);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    return;
  }
  for (size_t i = 0; i < POINTS * K; i++) {
    FUZZ_EXPECT(rows[i] >= -1 && rows[i] < n);
    if (!verified) continue; /* rows may be no numbers */
    FUZZ_EXPECT(distances[i] >= 0);
    FUZZ_EXPECT(i % K == 0 || distances[i] >= distances[i - 1]);
  }
}

static void predict(const struct gpnn_index *index, const double *x)
{
  const struct gpnn_dataset *dataset = gpnn_dataset_target(gpnn_index_dataset(index), 0);
  struct gpnn_error err = {0};
  double lengthscale = 1, mean[POINTS] = {0}, latent[POINTS] = {0};
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("rbf"),
                                   .covariance.n_lengthscales = 1,
                                   .covariance.lengthscale = &lengthscale,
                                   .covariance.kernelscale = 1,
                                   .covariance.noise = 0.1,
                                   .neighbours = K};
  double *coefficients = make_coefficients(dataset, &params);
  double *regressors = make_points(dataset->n, dataset->n_regressors, dataset->regressors, 1);
  const struct gpnn_query points = {.n = POINTS, .x = x, .regressors = regressors};
  const struct gpnn_latent prediction = {.mean = mean, .variance = latent};
  struct gpnn_counts counts = {0};
  struct gpnn_model *gp = NULL;
  enum gpnn_status status = make_model(&gp, dataset, &params, 0, 1, &err);
  if (status == GPNN_OK) status = gpnn_model_predict(gp, &points, &prediction, &counts, &err);
  if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  for (size_t i = 0; i < POINTS && status == GPNN_OK; i++)
    FUZZ_EXPECT(isfinite(mean[i]) && latent[i] >= 0 && latent[i] <= 1);
  gpnn_model_free(gp);
  free(regressors);
  free(coefficients);
}

/* Levels and labels of all cells are there. */
static void use_grid(const struct gpnn_grid *grid)
{
  size_t level[GPNN_GRID_MOST_FACTORS];
  double sum = 0;
  for (size_t c = 0; c < grid->n_cells; c++) {
    gpnn_grid_levels(grid, grid->cell[c], level);
    for (size_t a = 0; a < grid->n_factors; a++) {
      const struct gpnn_grid_factor *factor = &grid->factor[a];
      FUZZ_EXPECT(level[a] < factor->n);
      for (size_t j = 0; j < factor->d; j++) sum += factor->x[level[a] * factor->d + j];
      FUZZ_EXPECT(factor->labels == NULL || strlen(factor->labels[level[a]]) <= ROOM);
    }
    FUZZ_EXPECT(grid->counts == NULL || grid->counts[c] > 0);
  }
  (void)sum;
}

/* Predicts one row, and what is known of the rows held out, by the model of one target. */
static void use_channel(const struct gpnn_channel *channel)
{
  const struct gpnn_model_options options = {.threads = 1};
  const struct gpnn_heldout heldout = gpnn_heldout_of_dataset(channel->dataset);
  struct gpnn_error err = {0};
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  size_t n = heldout.query.n;
  double *x = calloc(channel->dataset->d, sizeof *x), *known = calloc(n + 1, sizeof *known);
  double mean = 0, variance = 0;
  FUZZ_EXPECT(x != NULL && known != NULL);
  enum gpnn_status status = gpnn_model_new(&model, 1, channel, &options, &err);
  if (status == GPNN_OK)
    status = gpnn_model_predict(model, &(struct gpnn_query){.n = 1, .x = x},
                                &(struct gpnn_latent){.mean = &mean, .variance = &variance},
                                &counts, &err);
  if (status == GPNN_OK) FUZZ_EXPECT(!(variance < 0));
  if (status == GPNN_OK && n > 0)
    status = gpnn_model_predict(model, &heldout.query, &(struct gpnn_latent){.mean = known},
                                &counts, &err);
  if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) FUZZ_EXPECT(isfinite(known[i]));
  gpnn_model_free(model);
  free(known);
  free(x);
}

/* Reads the parameters of a model file and makes its models. */
static void use_model(const struct gpnn_dataset *dataset)
{
  const struct gpnn_stored *stored = dataset->stored;
  struct gpnn_error err = {0};
  struct gpnn_parameters *params = NULL;
  size_t n = 0;
  enum gpnn_status status =
      gpnn_parameters_read_text(&params, &n, "model", stored->text, stored->length, &err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    struct gpnn_channel channel;
    bool other_model;
    params[t].provenance.has_index = false;
    status = gpnn_channels_find(dataset, 1, &params[t], &channel, &other_model, &err);
    if (status == GPNN_OK) use_channel(&channel);
  }
  if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  gpnn_parameters_free(params, n);
}

/* Reads the parameters that were packed with an index, and finds what they are of. */
static void use_packed(const struct gpnn_dataset *dataset)
{
  const struct gpnn_packed *packed = &dataset->packed;
  struct gpnn_error err = {0};
  struct gpnn_parameters *params = NULL;
  struct gpnn_state *state = NULL;
  size_t n = 0;
  enum gpnn_status status = gpnn_parameters_read_bytes(
      &params, &n, &state, "model", packed->parameters, packed->parameters_length, &err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    struct gpnn_channel channel;
    bool other_model;
    status = gpnn_channels_find(dataset, 1, &params[t], &channel, &other_model, &err);
  }
  if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  gpnn_parameters_free(params, n);
  gpnn_state_free(state);
}

static void use(const struct gpnn_index *index, bool verified)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  describe(index);
  if (dataset->packed.parameters != NULL) use_packed(dataset);
  if (dataset->grid != NULL) {
    use_grid(dataset->grid);
    read_rows(index, true);
    return;
  }
  if (dataset->stored != NULL) {
    use_model(dataset);
    read_rows(index, true);
    read_rows(index, false);
    return;
  }
  number_held_out(dataset);
  read_rows(index, true);
  read_rows(index, false);
  double *points = make_points(dataset->n, dataset->d, dataset->x, 1e6);
  search(index, points, verified);
  predict(index, points);
  free(points);
}

/* ---- mutation ---- */

/* libFuzzer's own; other callers of a harness have none, and no use for the function below. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t room) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t room, unsigned seed);

/* Changes one section and keeps the others where its length says they are; now and then anything.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t room, unsigned seed)
{
  static uint8_t changed[UINT16_MAX];
  struct piece pieces[GPNN_CONTAINER_SECTIONS];
  size_t n = length == 0 ? 0 : cut(bytes + 1, length - 1, pieces);
  if (n == 0 || seed % 8 == 0) return LLVMFuzzerMutate(bytes, length, room);
  const struct piece *piece = &pieces[seed / 8 % n];
  size_t before = (size_t)(piece->bytes - bytes), after = before + piece->length;
  size_t most = room - (length - piece->length);
  if (most > sizeof changed) most = sizeof changed;
  memcpy(changed, piece->bytes, piece->length);
  if (most == 0) return LLVMFuzzerMutate(bytes, length, room);
  size_t now = LLVMFuzzerMutate(changed, piece->length, most);
  memmove(bytes + before + now, bytes + after, length - after);
  memcpy(bytes + before, changed, now);
  bytes[before - 2] = (uint8_t)(now & 0xff);
  bytes[before - 1] = (uint8_t)(now >> 8);
  return length - piece->length + now;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  static unsigned char file[ROOM];
  struct piece pieces[GPNN_CONTAINER_SECTIONS];
  struct gpnn_error err = {0};
  struct gpnn_index *index = NULL;
  uint8_t choice = fuzz_byte(&bytes, &length);
  if (length > ROOM / 2) return 0;
  bool verify = choice & 1;
  size_t n = cut(bytes, length, pieces);
  enum gpnn_container_kind kind = choice & 4   ? GPNN_CONTAINER_GRID
                                  : choice & 8 ? GPNN_CONTAINER_MODEL
                                               : GPNN_CONTAINER_INDEX;
  uint64_t print = (choice & 2) == 0 ? fingerprint(kind, pieces, n) : 42;
  size_t file_length = compose(pieces, n, kind, print, file);
  enum gpnn_status status = gpnn_index_open(&index, fuzz_file(0, file, file_length), verify, &err);
  if (status == GPNN_OK)
    use(index, verify);
  else
    fuzz_expect_failure(status, &err);
  gpnn_index_close(index);
  return 0;
}
