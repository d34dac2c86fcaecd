#include "dataset/training/training.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dataset/dataset_private.h"
#include "dataset/training/training_private.h"
#include "stats/moments.h"

enum { CALIBRATION_ROWS = GPNN_TRAINING_HELD_OUT, LEAST_ROWS = 2 };

enum gpnn_status gpnn_training_begin(struct gpnn_training *training, const struct gpnn_table *table,
                                     const struct gpnn_roles *roles, const char *beside,
                                     struct gpnn_error *err)
{
  struct gpnn_schema *schema = &training->dataset.schema;
  enum gpnn_status status = gpnn_schema_choose(schema, table, roles, err);
  if (status == GPNN_OK) status = gpnn_schema_match(schema, table, &training->map, err);
  if (status == GPNN_OK) status = gpnn_spool_create(&training->read, beside, training->watch, err);
  if (status == GPNN_OK) status = gpnn_spool_create(&training->rows, beside, training->watch, err);
  training->dataset.drops_missing = roles->missing == GPNN_MISSING_DROP;
  if (schema->has_id) training->dataset.ids = &training->ids.ids;
  training->map.takes_levels = training->map.takes_missing = !training->dataset.drops_missing;
  training->n_others = schema->n_more + schema->n_regressors + schema->has_noise +
                       schema->n_offsets + schema->has_exposure + schema->has_by;
  training->width = schema->n_inputs + 1 + training->n_others;
  if (status != GPNN_OK) return status;
  training->n_undecided = 1 + schema->n_more;
  training->n_lacking = gpnn_alloc(1 + schema->n_more, 1, sizeof *training->n_lacking);
  training->targets = gpnn_alloc(1 + schema->n_more, 1, sizeof *training->targets);
  if (training->n_lacking == NULL || training->targets == NULL)
    return gpnn_fail_memory(err, "for the targets");
  for (size_t t = 0; t <= schema->n_more && status == GPNN_OK; t++) {
    training->targets[t].is_asked = gpnn_schema_has_classes(schema, t);
    status = gpnn_training_begin_target(training, t, err);
  }
  return status;
}

/* ---- finishing ---- */

static bool are_numbers(const struct gpnn_schema *schema)
{
  for (size_t j = 0; j < schema->n_inputs; j++)
    if (schema->inputs[j].kind != GPNN_COLUMN_NUMBER) return false;
  return true;
}

/* Prefixes a message about the data with its column; 'at' counts as struct gpnn_scaling_columns. */
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

/* Whitening mixes the features of categories with others, so that none is in a group. */
static void part_categories(const struct gpnn_schema *schema, size_t n,
                            struct gpnn_feature *features)
{
  struct gpnn_feature_cursor at = {0};
  uint32_t group = 0, before = 0;
  for (size_t j = 0; j < n; j++) {
    bool is_category = gpnn_schema_feature_input(schema, &at, j)->kind == GPNN_COLUMN_CATEGORY;
    bool goes_on = j > 0 && !is_category && features[j].group == before;
    before = features[j].group;
    group += j > 0 && !goes_on;
    features[j].group = group;
  }
}

static enum gpnn_status learn_scaling(struct gpnn_training *training,
                                      const struct gpnn_training_options *options,
                                      const struct gpnn_row_source *source, size_t n_features,
                                      struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  size_t at = SIZE_MAX, n_targets = 1 + schema->n_more;
  struct gpnn_feature *features = gpnn_alloc(n_features + n_targets, 1, sizeof *features);
  bool *are_classes = gpnn_alloc(n_targets, 1, sizeof *are_classes);
  enum gpnn_status status =
      features == NULL || are_classes == NULL ? gpnn_fail_memory(err, "for the features") : GPNN_OK;
  if (status == GPNN_OK) {
    gpnn_schema_groups(schema, features);
    if (options->standardise == GPNN_SCALING_WHITEN) part_categories(schema, n_features, features);
    bool compresses = options->tails == GPNN_TAILS_COMPRESS;
    for (size_t t = 0; t < n_targets; t++) {
      are_classes[t] = gpnn_schema_has_classes(schema, t);
      features[n_features + t] =
          (struct gpnn_feature){.group = (uint32_t)(n_features + t), .is_level = are_classes[t]};
      compresses = compresses || (are_classes[t] && options->tails == GPNN_TAILS_AUTO);
    }
    const struct gpnn_scaling_columns columns = {
        .n_in = n_features,
        .features = features,
        .n_more = schema->n_more,
        .n_regressors = schema->n_regressors,
        .are_classes = are_classes,
        .steps = {.outliers = options->limits ? &training->outlier_columns : NULL,
                  .n_described = n_targets,
                  .compresses = compresses},
        .n_given = options->n_given,
        .given = options->given};
    status = gpnn_scaling_learn_rows(&training->dataset.scaling, options->standardise,
                                     options->whiten_eps, &columns, source, &at, err);
  }
  free(features);
  free(are_classes);
  return name_column(schema, n_features, at, status, err);
}

/* Learns the scaling from the rows that are not held out, and standardises all. */
static enum gpnn_status standardise(struct gpnn_training *training,
                                    const struct gpnn_training_options *options,
                                    struct gpnn_training_rows *rows, const uint64_t *drawn,
                                    struct gpnn_error *err)
{
  const struct gpnn_row_source source = gpnn_training_source(
      rows, training->dataset.n, gpnn_training_parts(training), options->threads);
  enum gpnn_status status = learn_scaling(training, options, &source, rows->n_features, err);
  if (status == GPNN_OK)
    status = gpnn_dataset_list_coordinates(&training->dataset, &training->coordinates, err);
  if (status == GPNN_OK) status = gpnn_training_standardise(training, &source, rows, drawn, err);
  if (status == GPNN_OK) gpnn_training_set_lacks(training, rows, drawn);
  if (status == GPNN_OK)
    status = gpnn_scores_learn(&training->scores, &training->dataset, gpnn_training_parts(training),
                               options->seed, err);
  if (gpnn_scores_any(&training->scores)) training->dataset.scores = &training->scores;
  return status;
}

/* Draws the 'c' of 'n' rows to hold out, in random order, for the caller to free. */
static enum gpnn_status draw(size_t n, uint64_t seed, size_t c, uint64_t **drawn,
                             struct gpnn_error *err)
{
  struct gpnn_rng rng;
  *drawn = gpnn_alloc(c, 1, sizeof **drawn);
  if (*drawn == NULL) return gpnn_fail_memory(err, "for the calibration rows");
  gpnn_rng_init(&rng, seed, GPNN_RNG_HOLD_OUT);
  return gpnn_rng_sample(&rng, n, c, *drawn, err);
}

/* Copies the numbers of 'c' rows in ascending order, for the caller to free. */
static enum gpnn_status sort(size_t c, const uint64_t *drawn, uint64_t **ascending,
                             struct gpnn_error *err)
{
  *ascending = gpnn_alloc(c, 1, sizeof **ascending);
  if (*ascending == NULL) return gpnn_fail_memory(err, "for the calibration rows");
  memcpy(*ascending, drawn, c * sizeof **ascending);
  qsort(*ascending, c, sizeof **ascending, gpnn_compare_uint64s);
  return GPNN_OK;
}

/* True if some target is a number. */
static bool holds_numbers(const struct gpnn_schema *schema)
{
  bool some = false;
  for (size_t t = 0; t <= schema->n_more; t++) some = some || !gpnn_schema_has_classes(schema, t);
  return some;
}

/* The number of rows to hold out, or at least to hold out if they have groups. */
static enum gpnn_status choose_rows(const struct gpnn_training *training,
                                    const struct gpnn_training_options *options, size_t *c,
                                    struct gpnn_error *err)
{
  size_t n = training->n, tenth = n / 10;
  *c = options->calibration_rows;
  if (options->default_calibration) *c = tenth < CALIBRATION_ROWS ? tenth : CALIBRATION_ROWS;
  if (options->default_calibration && !holds_numbers(&training->dataset.schema)) *c = 0;
  if (n >= LEAST_ROWS && *c <= n - LEAST_ROWS) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%zu rows are too few to train on%s", n,
                   *c > 0 ? " and to hold out rows for calibration" : "");
}

/* Draws the rows to hold out, 'c' of them or, of rows in groups, about as many; 'rows' lacks them.
 */
static enum gpnn_status hold_out(struct gpnn_training *training, uint64_t seed, size_t c,
                                 struct gpnn_training_rows *rows, uint64_t **held_out,
                                 struct gpnn_error *err)
{
  enum gpnn_status status;
  bool is_special = rows->schema->has_by || training->set != NULL;
  uint64_t **drawn = &training->drawn;
  rows->n_held_out = c;
  if (is_special)
    status = gpnn_training_draw_groups(training, seed, c, &rows->n_held_out, drawn, held_out, err);
  else
    status = draw(training->n, seed, c, drawn, err);
  if (status == GPNN_OK && !is_special) status = sort(c, *drawn, held_out, err);
  if (status == GPNN_OK && !is_special && training->has_classes)
    status = gpnn_training_keep_classes(training, rows, c, *drawn, *held_out, &is_special, err);
  if (is_special && rows->n_held_out > 0) training->dataset.held_out = *drawn;
  return status;
}

/* Finds out whether targets may decide which rows are here or held out, where they are to be
 * hidden; by inputs alone, as the answer tells of targets otherwise. */
static enum gpnn_status find_following(struct gpnn_training *training, size_t n_given,
                                       size_t n_held_out, struct gpnn_error *err)
{
  bool *follow = &training->dataset.rows_follow_targets;
  *follow = n_given > 0 && training->is_unique;
  if (n_given == 0 || n_held_out == 0 || *follow) return GPNN_OK;
  return gpnn_training_may_have_copies(training, follow, err);
}

/* Codes and fills in cells, once it is known which rows are held out, and points 'rows' to them. */
static enum gpnn_status complete(struct gpnn_training *training,
                                 const struct gpnn_training_options *options,
                                 struct gpnn_training_rows *rows, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_training_code(training, rows, options, err);
  if (status == GPNN_OK) status = gpnn_training_fill_in(training, err);
  rows->read = training->read.numbers;
  rows->mapping = gpnn_spool_mapping(&training->read);
  if (training->parts != NULL) rows->begin = training->parts->begin;
  if (training->parts != NULL) rows->read_held_out = training->parts->held_out;
  return status;
}

static enum gpnn_status finish(struct gpnn_training *training,
                               const struct gpnn_training_options *options, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &training->dataset;
  uint64_t *held_out = NULL;
  size_t c;
  enum gpnn_status status = choose_rows(training, options, &c, err);
  if (status == GPNN_OK) status = gpnn_training_sort_classes(training, err);
  if (training->parts == NULL) {
    if (status == GPNN_OK) status = gpnn_spool_map(&training->read, err);
    if (status == GPNN_OK) status = gpnn_training_find_copies(training, err);
  }
  if (status == GPNN_OK) status = find_following(training, options->n_given, c, err);
  struct gpnn_training_rows rows = {.schema = &dataset->schema,
                                    .read = training->read.numbers,
                                    .width = training->width,
                                    .targets = training->targets,
                                    .n_features = gpnn_schema_features(&dataset->schema),
                                    .all_numbers = are_numbers(&dataset->schema),
                                    .has_classes = training->has_classes};
  if (status == GPNN_OK) status = hold_out(training, options->seed, c, &rows, &held_out, err);
  if (status == GPNN_OK) {
    rows.held_out = held_out;
    dataset->n = training->n - rows.n_held_out;
    dataset->n_calibration = rows.n_held_out;
    dataset->seed = options->seed;
    status =
        gpnn_training_settle(training, gpnn_row_source_block(gpnn_training_expanded_width(&rows)),
                             rows.n_held_out, held_out, err);
  }
  if (status == GPNN_OK) status = complete(training, options, &rows, err);
  if (status == GPNN_OK) status = standardise(training, options, &rows, training->drawn, err);
  free(held_out);
  return status;
}

enum gpnn_status gpnn_training_finish(struct gpnn_training *training,
                                      const struct gpnn_training_options *options,
                                      const char *table_name, struct gpnn_error *err)
{
  enum gpnn_status status = finish(training, options, err);
  gpnn_spool_release(&training->read);
  if (status == GPNN_EIO) return status; /* the files beside the index, not the table */
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "%s", table_name);
}

enum gpnn_status gpnn_training_drawn(const struct gpnn_dataset *dataset, uint64_t **drawn,
                                     struct gpnn_error *err)
{
  size_t c = dataset->n_calibration;
  enum gpnn_status status = draw(dataset->n + c, dataset->seed, c, drawn, err);
  if (status == GPNN_OK && dataset->held_out != NULL)
    memcpy(*drawn, dataset->held_out, c * sizeof **drawn);
  return status;
}

enum gpnn_status gpnn_training_held_out(const struct gpnn_dataset *dataset, uint64_t **held_out,
                                        struct gpnn_error *err)
{
  uint64_t *drawn = NULL;
  *held_out = NULL;
  enum gpnn_status status = gpnn_training_drawn(dataset, &drawn, err);
  if (status == GPNN_OK) status = sort(dataset->n_calibration, drawn, held_out, err);
  free(drawn);
  return status;
}

void gpnn_training_release(struct gpnn_training *training)
{
  for (size_t t = 0; training->targets != NULL && t <= training->dataset.schema.n_more; t++) {
    free(training->targets[t].n_rows);
    free(training->targets[t].number);
  }
  free(training->targets);
  free(training->drawn);
  gpnn_schema_release(&training->dataset.schema);
  gpnn_scaling_release(&training->dataset.scaling);
  free(training->coordinates);
  gpnn_scores_release(&training->scores);
  gpnn_outlier_columns_release(&training->outlier_columns);
  gpnn_columns_map_release(&training->map);
  gpnn_spool_release(&training->read);
  gpnn_spool_release(&training->rows);
  free(training->held_out);
  gpnn_groups_release(&training->groups);
  gpnn_ids_release(&training->ids);
  gpnn_groups_release(&training->seen);
  free(training->group_keys);
  free(training->row_group);
  free(training->set);
  gpnn_training_release_parts(training);
  free(training->n_lacking);
  free(training->lacks);
  *training = (struct gpnn_training)GPNN_TRAINING_INIT;
}
