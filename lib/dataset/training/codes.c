/*
 * Codes of categories: means of the first target over the rows of a level (gpnn-methods(7),
 * equations 1.26 to 1.28).
 *
 * A training row must not see its own target, or models would trust codes more than rows to predict
 * deserve.  Its code is therefore made of rows in other folds than its own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/training/training_private.h"

enum { FOLDS = 10 };

/* The training rows of a level, by folds: how many have the target, and the sum of these targets
 * about their mean. */
struct level {
  double n[FOLDS], sum[FOLDS];
};

struct coding {
  struct gpnn_training *training;
  const struct gpnn_training_rows *rows;
  uint64_t seed;
  double mean, sd;       /* of the targets of training rows */
  struct level **levels; /* owned; of each input; NULL: it is not coded */
  double *squares;       /* owned; of each input: the sum of squared targets of all levels */
  double *block;         /* owned; rows */
};

/* ---- rows ---------------------------------------------------------------------------------- */

/* True if a row is held out; asked of all rows in their order, with '*next' 0 at first. */
static bool is_held_out(const struct gpnn_training_rows *rows, size_t row, size_t *next)
{
  bool is = *next < rows->n_held_out && rows->held_out[*next] == row;
  *next += is;
  return is;
}

static double target_of(const struct gpnn_training_rows *rows, size_t row)
{
  double y = rows->read[row * rows->width + rows->schema->n_inputs];
  return rows->targets[0].number == NULL || isnan(y) ? y : rows->targets[0].number[(size_t)y];
}

/* Rows that belong together are in the same fold. */
static size_t fold_of(const struct coding *coding, size_t row)
{
  const struct gpnn_training_rows *rows = coding->rows;
  const uint32_t *set = coding->training->set;
  uint64_t item = rows->schema->has_by ? (uint64_t)rows->read[(row + 1) * rows->width - 1]
                  : set != NULL        ? set[row]
                                       : row;
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, coding->seed, GPNN_RNG_CODES, item);
  return (size_t)gpnn_rng_below(&rng, FOLDS);
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* Classes keep the numbers 0 and 1, so that codes are shares. */
static void learn_target(struct coding *coding)
{
  const struct gpnn_training_rows *rows = coding->rows;
  double n = 0, mean = 0, squares = 0;
  for (size_t i = 0, next = 0; i < coding->training->n; i++) {
    double y = target_of(rows, i), before = mean;
    if (is_held_out(rows, i, &next) || isnan(y)) continue;
    mean += (y - mean) / ++n;
    squares += (y - before) * (y - mean);
  }
  coding->mean = mean;
  coding->sd = rows->targets[0].number == NULL && squares > 0 ? sqrt(squares / n) : 1;
}

/* Adds the targets of all training rows to their levels. */
static void add_rows(struct coding *coding)
{
  const struct gpnn_training_rows *rows = coding->rows;
  for (size_t i = 0, next = 0; i < coding->training->n; i++) {
    double y = (target_of(rows, i) - coding->mean) / coding->sd;
    if (is_held_out(rows, i, &next) || !isfinite(y)) continue;
    size_t fold = fold_of(coding, i);
    for (size_t j = 0; j < rows->schema->n_inputs; j++) {
      double cell = rows->read[i * rows->width + j];
      if (coding->levels[j] == NULL || isnan(cell)) continue;
      coding->levels[j][(size_t)cell].n[fold]++;
      coding->levels[j][(size_t)cell].sum[fold] += y;
      coding->squares[j] += y * y;
    }
  }
}

/* The rows of a level but for those of a fold, FOLDS for none, and the sum of their targets. */
static double count_without(const struct level *level, size_t fold, double *sum)
{
  double n = 0;
  *sum = 0;
  for (size_t f = 0; f < FOLDS; f++) {
    n += f == fold ? 0 : level->n[f];
    *sum += f == fold ? 0 : level->sum[f];
  }
  return n;
}

/* ---- codes --------------------------------------------------------------------------------- */

/* The variance within levels over that between them, by the moments of an analysis of variance. */
static double find_shrinkage(size_t n_levels, const struct level *levels, double squares)
{
  static const double least = 0.5, most = 1000;
  double n = 0, k = 0, n_squared = 0, total = 0, between = 0, sum;
  for (size_t l = 0; l < n_levels; l++) {
    double own = count_without(&levels[l], FOLDS, &sum);
    if (own == 0) continue;
    k++;
    n += own;
    n_squared += own * own;
    total += sum;
    between += sum * sum / own;
  }
  if (k < 2 || n <= k) return most;
  double within = (squares - between) / (n - k), evenly = (n - n_squared / n) / (k - 1);
  double spread = ((between - total * total / n) / (k - 1) - within) / evenly;
  return spread > 0 ? fmax(least, fmin(most, within / spread)) : most;
}

/* The code of a level to rows of a fold, or to rows that are no training rows, FOLDS; NaN, or where
 * inputs may not be missing 0, if training has not seen the level. */
static double code_of(const struct coding *coding, const struct level *level, size_t fold,
                      double shrinkage)
{
  double sum;
  if (count_without(level, FOLDS, &sum) == 0)
    return coding->training->dataset.drops_missing ? 0 : NAN;
  double n = count_without(level, fold, &sum);
  return sum / (n + shrinkage);
}

/* Codes the cells of a row. */
static void code_row(const struct coding *coding, size_t fold, double *row)
{
  struct gpnn_training *training = coding->training;
  const struct gpnn_schema *schema = coding->rows->schema;
  bool was_complete = true, is_complete = true;
  for (size_t j = 0; j < schema->n_inputs; j++) {
    was_complete = was_complete && !isnan(row[j]);
    if (coding->levels[j] != NULL && !isnan(row[j])) {
      const struct level *level = &coding->levels[j][(size_t)row[j]];
      row[j] = code_of(coding, level, fold, schema->inputs[j].shrinkage);
    }
    is_complete = is_complete && !isnan(row[j]);
  }
  training->n_incomplete += was_complete && !is_complete;
}

/* Codes all rows, which are then those of 'coded'. */
static enum gpnn_status code_rows(struct coding *coding, struct gpnn_spool *coded,
                                  struct gpnn_error *err)
{
  const struct gpnn_training_rows *rows = coding->rows;
  size_t width = rows->width, n = coding->training->n, most = gpnn_row_source_block(width);
  size_t next = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t from = 0; from < n && status == GPNN_OK; from += most) {
    size_t count = n - from < most ? n - from : most;
    memcpy(coding->block, rows->read + from * width, count * width * sizeof *coding->block);
    for (size_t i = 0; i < count; i++) {
      bool is_training = !is_held_out(rows, from + i, &next);
      code_row(coding, is_training ? fold_of(coding, from + i) : FOLDS, coding->block + i * width);
    }
    status = gpnn_spool_write(coded, from * width, count * width, coding->block, err);
  }
  return status;
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Gives a column the codes that later rows get, and only the levels that have one. */
static enum gpnn_status keep_codes(const struct coding *coding, size_t j, struct gpnn_error *err)
{
  struct gpnn_column *column = &coding->training->dataset.schema.inputs[j];
  bool *keep = gpnn_alloc(column->n_levels, 1, sizeof *keep);
  double *codes = gpnn_alloc(column->n_levels, 1, sizeof *codes), sum;
  size_t n = 0;
  if (keep == NULL || codes == NULL) {
    free(keep);
    free(codes);
    return gpnn_fail_memory(err, "for the codes of levels");
  }
  for (size_t l = 0; l < column->n_levels; l++) {
    const struct level *level = &coding->levels[j][l];
    keep[l] = count_without(level, FOLDS, &sum) > 0;
    if (keep[l]) codes[n++] = code_of(coding, level, FOLDS, column->shrinkage);
  }
  gpnn_schema_keep_levels(column, keep);
  free(keep);
  column->codes = codes;
  char name[GPNN_MASK_BYTES];
  if (n > 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "column '%s': cannot be coded, as no training row has a value",
                   gpnn_schema_column_name(column, name));
}

/* What is shared by all coded columns does not depend on them: a target must have a mean. */
static enum gpnn_status check_target(const struct gpnn_training *training, bool is_given,
                                     struct gpnn_error *err)
{
  const struct gpnn_column *target = &training->dataset.schema.target;
  char name[GPNN_MASK_BYTES];
  if (is_given)
    return gpnn_fail(err, GPNN_EINVAL,
                     "codes are means of the targets, which a given mean and sd are to hide: use "
                     "--one-hot or --drop for categories");
  if (target->kind != GPNN_COLUMN_CLASSES || target->n_levels == 2) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "target '%s' has %zu classes, and levels are coded by the mean of a number or "
                   "the share of one of two classes: use --one-hot for categories",
                   gpnn_schema_column_name(target, name), target->n_levels);
}

static enum gpnn_status allocate(struct coding *coding, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = coding->rows->schema;
  size_t width = coding->rows->width;
  coding->levels = gpnn_alloc(schema->n_inputs, 1, sizeof(struct level *));
  coding->squares = gpnn_alloc(schema->n_inputs, 1, sizeof *coding->squares);
  coding->block = gpnn_alloc(gpnn_row_source_block(width), width, sizeof *coding->block);
  bool enough = coding->levels != NULL && coding->squares != NULL && coding->block != NULL;
  for (size_t j = 0; j < schema->n_inputs && enough; j++) {
    const struct gpnn_column *input = &schema->inputs[j];
    if (input->kind != GPNN_COLUMN_CODED || gpnn_schema_is_ordered(input)) continue;
    coding->levels[j] = gpnn_alloc(schema->inputs[j].n_levels, 1, sizeof *coding->levels[j]);
    enough = coding->levels[j] != NULL;
  }
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the codes of levels");
}

static enum gpnn_status code_all(struct coding *coding, struct gpnn_spool *coded,
                                 struct gpnn_error *err)
{
  struct gpnn_training *training = coding->training;
  struct gpnn_schema *schema = &training->dataset.schema;
  enum gpnn_status status = allocate(coding, err);
  if (status != GPNN_OK) return status;
  learn_target(coding);
  add_rows(coding);
  for (size_t j = 0; j < schema->n_inputs; j++)
    if (coding->levels[j] != NULL)
      schema->inputs[j].shrinkage =
          find_shrinkage(schema->inputs[j].n_levels, coding->levels[j], coding->squares[j]);
  status = gpnn_spool_create(coded, training->read.beside, training->watch, err);
  if (status == GPNN_OK) status = code_rows(coding, coded, err);
  if (status == GPNN_OK) status = gpnn_spool_map(coded, err);
  for (size_t j = 0; j < schema->n_inputs && status == GPNN_OK; j++)
    if (coding->levels[j] != NULL) status = keep_codes(coding, j, err);
  return status;
}

enum gpnn_status gpnn_training_code(struct gpnn_training *training,
                                    const struct gpnn_training_rows *rows,
                                    const struct gpnn_training_options *options,
                                    struct gpnn_error *err)
{
  struct gpnn_spool coded = GPNN_SPOOL_INIT;
  struct coding coding = {.training = training, .rows = rows, .seed = options->seed};
  if (!gpnn_schema_has_codes(rows->schema)) return GPNN_OK;
  enum gpnn_status status = check_target(training, options->n_given > 0, err);
  if (status == GPNN_OK) status = code_all(&coding, &coded, err);
  if (status == GPNN_OK) {
    gpnn_spool_release(&training->read);
    training->read = coded;
  } else {
    gpnn_spool_release(&coded);
  }
  for (size_t j = 0; j < rows->schema->n_inputs && coding.levels != NULL; j++)
    free(coding.levels[j]);
  free(coding.levels);
  free(coding.squares);
  free(coding.block);
  return status;
}
