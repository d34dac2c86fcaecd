#include "kernel/effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"

/* ---- the groups of an effect ----------------------------------------------------------------- */

bool gpnn_dataset_has_effects(const struct gpnn_dataset *dataset)
{
  return dataset->schema.n_effects > 0;
}

/* The standardised input that is the value of an input of the schema, or SIZE_MAX. */
static size_t find_coordinate(const struct gpnn_dataset *dataset, size_t input)
{
  for (size_t j = 0; j < dataset->d && dataset->coordinates != NULL; j++)
    if (dataset->coordinates[j].input == input && !dataset->coordinates[j].is_score) return j;
  return SIZE_MAX;
}

/* The number of the level that a standardised input says, from 1; 0: training has not seen it. */
static double level_of(double value)
{
  return nearbyint(value / GPNN_EFFECT_UNIT);
}

/* Keys are numbers with the levels as digits: more than GPNN_CODED_MAX, so that three fit a double.
 */
static const double base = 0x1p17;

/* What says which group a row is in: the number of its level, or of a combination of levels; 0:
 * training has not seen one of the levels. */
static double key_of(const struct gpnn_effect_groups *groups, const double *x)
{
  double key = 0;
  for (size_t k = 0; k < groups->n_coordinates; k++) {
    double level = level_of(x[groups->coordinates[k]]);
    if (!(level > 0)) return 0;
    key = key * base + level;
  }
  return key;
}

/* The number of the group with a key, or SIZE_MAX. */
static size_t find_group(const struct gpnn_effect_groups *groups, double key)
{
  if (groups->keys == NULL) return key > 0 && key <= (double)groups->n ? (size_t)key - 1 : SIZE_MAX;
  const double *found =
      bsearch(&key, groups->keys, groups->n, sizeof *groups->keys, gpnn_compare_doubles);
  return found == NULL ? SIZE_MAX : (size_t)(found - groups->keys);
}

/* Finds the combinations of levels that training rows have. */
static enum gpnn_status list_keys(struct gpnn_effect_groups *groups,
                                  const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  size_t n = 0;
  groups->keys = gpnn_alloc(dataset->n, 1, sizeof *groups->keys);
  if (groups->keys == NULL) return gpnn_fail_memory(err, "for the groups");
  for (size_t i = 0; i < dataset->n; i++) {
    groups->keys[n] = key_of(groups, dataset->x + i * dataset->d);
    n += groups->keys[n] > 0;
  }
  qsort(groups->keys, n, sizeof *groups->keys, gpnn_compare_doubles);
  for (size_t i = 0; i < n; i++)
    if (groups->n == 0 || groups->keys[i] != groups->keys[groups->n - 1])
      groups->keys[groups->n++] = groups->keys[i];
  return GPNN_OK;
}

static enum gpnn_status copy_keys(struct gpnn_effect_groups *groups, const double *keys, uint64_t n,
                                  struct gpnn_error *err)
{
  groups->keys = gpnn_alloc(n, 1, sizeof *groups->keys);
  if (groups->keys == NULL) return gpnn_fail_memory(err, "for the groups");
  memcpy(groups->keys, keys, n * sizeof *keys);
  groups->n = n;
  return GPNN_OK;
}

/* Sets where the groups of an effect are in rows. */
static enum gpnn_status place(struct gpnn_effect_groups *groups, const struct gpnn_dataset *dataset,
                              const struct gpnn_group_effect *effect, struct gpnn_error *err)
{
  *groups = (struct gpnn_effect_groups){.width = effect->has_slope ? 2 : 1,
                                        .n_coordinates = effect->n_columns,
                                        .has_slope = effect->has_slope,
                                        .slope = SIZE_MAX};
  for (size_t k = 0; k < effect->n_columns; k++) {
    groups->coordinates[k] = find_coordinate(dataset, effect->columns[k]);
    if (groups->coordinates[k] == SIZE_MAX)
      return gpnn_fail(err, GPNN_EMISMATCH, "the rows do not say which groups they are in");
  }
  if (effect->has_slope) groups->slope = find_coordinate(dataset, effect->slope);
  if (effect->n_columns == 1) groups->n = dataset->schema.inputs[effect->columns[0]].n_levels;
  return GPNN_OK;
}

/* ---- the design ------------------------------------------------------------------------------ */

/* Lists the inputs that the fixed part may be linear in. */
static void list_linear(struct gpnn_effect_design *design, const struct gpnn_dataset *dataset)
{
  for (size_t j = 0; j < dataset->d; j++) {
    size_t input = dataset->coordinates[j].input;
    if (dataset->schema.inputs[input].kind != GPNN_COLUMN_EFFECT)
      design->linear[design->n_linear++] = j;
  }
}

static enum gpnn_status place_all(struct gpnn_effect_design *design,
                                  const struct gpnn_dataset *dataset, const double *keys,
                                  const uint64_t *n_keys, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  design->n_columns = design->n_numbers = design->n_fixed;
  for (size_t e = 0; e < design->n_effects && status == GPNN_OK; e++) {
    struct gpnn_effect_groups *groups = &design->groups[e];
    status = place(groups, dataset, &dataset->schema.effects[e], err);
    if (status == GPNN_OK && groups->n_coordinates > 1)
      status =
          keys == NULL ? list_keys(groups, dataset, err) : copy_keys(groups, keys, n_keys[e], err);
    if (keys != NULL) keys += n_keys[e];
    groups->first = design->n_columns;
    design->n_columns += groups->n * groups->width;
    design->n_numbers += groups->width;
  }
  return status;
}

enum gpnn_status gpnn_effect_design_make(struct gpnn_effect_design *design,
                                         const struct gpnn_dataset *dataset, bool is_linear,
                                         const double *keys, const uint64_t *n_keys,
                                         struct gpnn_error *err)
{
  design->linear = gpnn_alloc(dataset->d, 1, sizeof *design->linear);
  design->groups = gpnn_alloc(dataset->schema.n_effects, 1, sizeof *design->groups);
  if (design->linear == NULL || design->groups == NULL || dataset->coordinates == NULL) {
    gpnn_effect_design_release(design);
    return gpnn_fail_memory(err, "for the groups");
  }
  list_linear(design, dataset);
  design->n_effects = dataset->schema.n_effects;
  design->n_fixed = is_linear ? 1 + design->n_linear : 1;
  enum gpnn_status status = place_all(design, dataset, keys, n_keys, err);
  if (status == GPNN_OK && design->n_columns > UINT32_MAX)
    status = gpnn_fail(err, GPNN_EDATA, "there are too many groups");
  if (status != GPNN_OK) gpnn_effect_design_release(design);
  return status;
}

void gpnn_effect_design_release(struct gpnn_effect_design *design)
{
  for (size_t e = 0; e < design->n_effects; e++) free(design->groups[e].keys);
  free(design->groups);
  free(design->linear);
  *design = (struct gpnn_effect_design){0};
}

static double slope_of(const struct gpnn_effect_groups *groups, const double *x)
{
  return groups->slope == SIZE_MAX ? 0 : x[groups->slope];
}

size_t gpnn_effect_design_row(const struct gpnn_effect_design *design, const double *x,
                              uint32_t *columns, double *values)
{
  size_t n = 0;
  for (size_t j = 0; j < design->n_fixed; j++) {
    columns[n] = (uint32_t)j;
    values[n++] = j == 0 ? 1 : x[design->linear[j - 1]];
  }
  for (size_t e = 0; e < design->n_effects; e++) {
    const struct gpnn_effect_groups *groups = &design->groups[e];
    size_t group = find_group(groups, key_of(groups, x));
    if (group == SIZE_MAX) continue;
    for (size_t k = 0; k < groups->width; k++) {
      columns[n] = (uint32_t)(groups->first + group * groups->width + k);
      values[n++] = k == 0 ? 1 : slope_of(groups, x);
    }
  }
  return n;
}

bool gpnn_effect_group_levels(const struct gpnn_effect_design *design,
                              const struct gpnn_schema *schema, size_t effect, size_t group,
                              size_t levels[GPNN_EFFECT_CROSSED])
{
  const struct gpnn_effect_groups *groups = &design->groups[effect];
  const size_t *columns = schema->effects[effect].columns;
  double key = groups->keys == NULL ? (double)(group + 1) : groups->keys[group];
  for (size_t k = groups->n_coordinates; k-- > 0;) {
    double level = fmod(key, base);
    if (!(level >= 1 && level <= (double)schema->inputs[columns[k]].n_levels)) return false;
    levels[k] = (size_t)level - 1;
    key = floor(key / base);
  }
  return true;
}

/* ---- what is estimated ----------------------------------------------------------------------- */

size_t gpnn_effects_n_variances(const struct gpnn_schema *schema)
{
  size_t n = 0;
  for (size_t e = 0; e < schema->n_effects; e++) n += schema->effects[e].has_slope ? 3 : 1;
  return n;
}

double gpnn_effects_unit(const struct gpnn_dataset *dataset, size_t effect, bool is_slope)
{
  const double *weight = dataset->scaling.weight;
  double unit = dataset->scaling.y_sd;
  if (!is_slope) return unit;
  size_t slope = find_coordinate(dataset, dataset->schema.effects[effect].slope);
  if (slope == SIZE_MAX) return 0;
  return weight == NULL ? unit : unit * weight[dataset->coordinates[slope].feature];
}

enum gpnn_status gpnn_effect_design_of(struct gpnn_effect_design *design,
                                       const struct gpnn_dataset *dataset,
                                       const struct gpnn_effects *effects, struct gpnn_error *err)
{
  const struct gpnn_effect_posterior *posterior = effects->posterior;
  if (posterior == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "parameters with group effects need these, which this text lacks: use the "
                     "file that gpnn-fit wrote");
  if (posterior->n_effects != dataset->schema.n_effects)
    return gpnn_fail(err, GPNN_EMISMATCH, "the index has other group effects");
  enum gpnn_status status = gpnn_effect_design_make(design, dataset, posterior->is_linear,
                                                    posterior->keys, posterior->n_keys, err);
  if (status != GPNN_OK || design->n_columns == posterior->n_columns) return status;
  gpnn_effect_design_release(design);
  return gpnn_fail(err, GPNN_EMISMATCH, "the group effects are those of another index");
}

/* True if any of 'n' columns of a row is one of an effect. */
static bool has_any(const struct gpnn_effect_groups *groups, size_t n, const uint32_t *columns)
{
  size_t end = groups->first + groups->n * groups->width;
  for (size_t i = 0; i < n; i++)
    if (columns[i] >= groups->first && columns[i] < end) return true;
  return false;
}

/* By how much the variance of a new group exceeds that among 'n' groups, from which it was
 * estimated: it is that of Student's t with n - 1 degrees of freedom, which is infinite for 3
 * groups or fewer. */
static double widening(size_t n)
{
  enum { FEWEST = 4 };
  double degrees = (double)(n < FEWEST ? FEWEST : n) - 1;
  return degrees / (degrees - 2);
}

double gpnn_effects_unseen(const struct gpnn_effect_design *design,
                           const struct gpnn_effects *effects, const double *x, size_t n,
                           const uint32_t *columns)
{
  double total = 0;
  const double *variance = effects->variance;
  for (size_t e = 0; e < design->n_effects; e++) {
    const struct gpnn_effect_groups *groups = &design->groups[e];
    double slope = slope_of(groups, x), own = variance[0];
    if (groups->has_slope) own += 2 * slope * variance[1] + slope * slope * variance[2];
    if (!has_any(groups, n, columns)) total += widening(groups->n) * own;
    variance += groups->has_slope ? 3 : 1;
  }
  return total;
}

/* A copy of 'n' items; NULL: there is no memory. */
static void *copy_items(const void *from, size_t n, size_t item_bytes)
{
  void *to = gpnn_alloc(n, 1, item_bytes);
  if (to != NULL && n > 0) memcpy(to, from, n * item_bytes);
  return to;
}

static bool copy_factor(struct gpnn_sparse_factor *to, const struct gpnn_sparse_factor *from)
{
  size_t total = from->start[from->n];
  to->n = from->n;
  to->order = copy_items(from->order, from->n, sizeof *to->order);
  to->start = copy_items(from->start, from->n + 1, sizeof *to->start);
  to->row = copy_items(from->row, total, sizeof *to->row);
  to->value = copy_items(from->value, total, sizeof *to->value);
  return to->order != NULL && to->start != NULL && to->row != NULL && to->value != NULL;
}

static bool copy_posterior(struct gpnn_effect_posterior *to,
                           const struct gpnn_effect_posterior *from)
{
  to->is_linear = from->is_linear;
  to->n_columns = from->n_columns;
  to->n_effects = from->n_effects;
  to->n_all_keys = from->n_all_keys;
  to->mean = copy_items(from->mean, from->n_columns, sizeof *to->mean);
  to->n_keys = copy_items(from->n_keys, from->n_effects, sizeof *to->n_keys);
  to->keys = copy_items(from->keys, from->n_all_keys, sizeof *to->keys);
  return copy_factor(&to->factor, &from->factor) && to->mean != NULL && to->n_keys != NULL &&
         to->keys != NULL;
}

enum gpnn_status gpnn_effects_copy(struct gpnn_effects *to, const struct gpnn_effects *from,
                                   struct gpnn_error *err)
{
  to->unit = from->unit;
  to->n_variances = from->n_variances;
  to->variance = copy_items(from->variance, from->n_variances, sizeof *to->variance);
  bool enough = to->variance != NULL;
  if (from->posterior != NULL && enough) {
    to->posterior = calloc(1, sizeof *to->posterior);
    enough = to->posterior != NULL && copy_posterior(to->posterior, from->posterior);
  }
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the effects");
}

void gpnn_effect_posterior_free(struct gpnn_effect_posterior *posterior)
{
  if (posterior == NULL) return;
  free(posterior->mean);
  gpnn_sparse_factor_release(&posterior->factor);
  free(posterior->n_keys);
  free(posterior->keys);
  free(posterior);
}

void gpnn_effects_release(struct gpnn_effects *effects)
{
  free(effects->variance);
  gpnn_effect_posterior_free(effects->posterior);
  *effects = (struct gpnn_effects){0};
}
