/* The posterior of effects as arrays of a state. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "container/state.h"
#include "kernel/effects.h"

static const char SHAPE[] = "effects-shape", MEAN[] = "effects-mean", KEYS[] = "effects-keys",
                  ORDER[] = "effects-order", START[] = "effects-start", ROW[] = "effects-row",
                  VALUE[] = "effects-value";

/* ---- storing --------------------------------------------------------------------------------- */

static enum gpnn_status add_sizes(struct gpnn_state *state, const char *target, const char *name,
                                  size_t n, const uint64_t *sizes, struct gpnn_error *err)
{
  double *values = gpnn_alloc(n, 1, sizeof *values);
  if (values == NULL) return gpnn_fail_memory(err, "for the effects");
  for (size_t i = 0; i < n; i++) values[i] = (double)sizes[i];
  enum gpnn_status status = gpnn_state_add(state, target, name, n, values, err);
  free(values);
  return status;
}

static enum gpnn_status add_columns(struct gpnn_state *state, const char *target, const char *name,
                                    size_t n, const uint32_t *columns, struct gpnn_error *err)
{
  double *values = gpnn_alloc(n, 1, sizeof *values);
  if (values == NULL) return gpnn_fail_memory(err, "for the effects");
  for (size_t i = 0; i < n; i++) values[i] = columns[i];
  enum gpnn_status status = gpnn_state_add(state, target, name, n, values, err);
  free(values);
  return status;
}

/* Whether the fixed part is linear, then how many keys each effect has. */
static enum gpnn_status add_shape(const struct gpnn_effect_posterior *p, const char *target,
                                  struct gpnn_state *state, struct gpnn_error *err)
{
  double *values = gpnn_alloc(1 + p->n_effects, 1, sizeof *values);
  if (values == NULL) return gpnn_fail_memory(err, "for the effects");
  values[0] = p->is_linear;
  for (size_t e = 0; e < p->n_effects; e++) values[1 + e] = (double)p->n_keys[e];
  enum gpnn_status status = gpnn_state_add(state, target, SHAPE, 1 + p->n_effects, values, err);
  free(values);
  return status;
}

enum gpnn_status gpnn_effects_store(const struct gpnn_effects *effects, const char *target,
                                    struct gpnn_state *state, struct gpnn_error *err)
{
  const struct gpnn_effect_posterior *p = effects->posterior;
  if (p == NULL) return GPNN_OK;
  const struct gpnn_sparse_factor *f = &p->factor;
  enum gpnn_status status = add_shape(p, target, state, err);
  if (status == GPNN_OK) status = gpnn_state_add(state, target, MEAN, p->n_columns, p->mean, err);
  if (status == GPNN_OK && p->n_all_keys > 0)
    status = gpnn_state_add(state, target, KEYS, p->n_all_keys, p->keys, err);
  if (status == GPNN_OK) status = add_columns(state, target, ORDER, f->n, f->order, err);
  if (status == GPNN_OK) status = add_sizes(state, target, START, f->n + 1, f->start, err);
  if (status == GPNN_OK) status = add_columns(state, target, ROW, f->start[f->n], f->row, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(state, target, VALUE, f->start[f->n], f->value, err);
  return status;
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* Arrays of one target. */
struct source {
  const struct gpnn_state *state;
  const char *target;
  bool is_good; /* so far */
};

/* An array of 'n' numbers, or of any number of them if that is SIZE_MAX. */
static const struct gpnn_state_array *find(struct source *source, const char *name, size_t n)
{
  const struct gpnn_state_array *array = gpnn_state_find(source->state, source->target, name);
  source->is_good = source->is_good && array != NULL && (n == SIZE_MAX || array->n == n);
  return source->is_good ? array : NULL;
}

/* Whole numbers of an array, each below 'end'; NULL: they are not, or there is no memory. */
static uint32_t *take_columns(struct source *source, const char *name, size_t n, double end)
{
  const struct gpnn_state_array *array = find(source, name, n);
  uint32_t *columns = array == NULL ? NULL : gpnn_alloc(n, 1, sizeof *columns);
  for (size_t i = 0; i < n && columns != NULL; i++) {
    double value = array->values[i];
    source->is_good = source->is_good && value >= 0 && value < end && value == floor(value);
    if (source->is_good) columns[i] = (uint32_t)value;
  }
  return columns;
}

static uint64_t *take_sizes(struct source *source, const double *values, size_t n)
{
  const double most = 0x1p40;
  uint64_t *sizes = gpnn_alloc(n, 1, sizeof *sizes);
  for (size_t i = 0; i < n && sizes != NULL; i++) {
    source->is_good =
        source->is_good && values[i] >= 0 && values[i] <= most && values[i] == floor(values[i]);
    if (source->is_good) sizes[i] = (uint64_t)values[i];
  }
  return sizes;
}

static double *take_numbers(struct source *source, const char *name, size_t n)
{
  const struct gpnn_state_array *array = find(source, name, n);
  double *numbers = array == NULL ? NULL : gpnn_alloc(n, 1, sizeof *numbers);
  for (size_t i = 0; i < n && numbers != NULL; i++) {
    numbers[i] = array->values[i];
    source->is_good = source->is_good && isfinite(numbers[i]);
  }
  return numbers;
}

static void take_factor(struct source *source, struct gpnn_sparse_factor *f, size_t n)
{
  const struct gpnn_state_array *start = find(source, START, n + 1), *value = NULL;
  if (source->is_good) value = find(source, VALUE, SIZE_MAX);
  if (!source->is_good) return;
  size_t total = value->n;
  f->n = n;
  f->start = take_sizes(source, start->values, n + 1);
  f->order = take_columns(source, ORDER, n, (double)n);
  f->row = take_columns(source, ROW, total, (double)n);
  f->value = take_numbers(source, VALUE, total);
  struct gpnn_error why;
  source->is_good = source->is_good && f->start != NULL && f->order != NULL && f->row != NULL &&
                    f->value != NULL && f->start[n] == total &&
                    gpnn_sparse_factor_check(f, &why) == GPNN_OK;
}

static void take_all(struct source *source, struct gpnn_effect_posterior *p)
{
  const struct gpnn_state_array *shape = find(source, SHAPE, SIZE_MAX);
  const struct gpnn_state_array *mean = find(source, MEAN, SIZE_MAX);
  if (!source->is_good || shape->n == 0 || mean->n == 0) {
    source->is_good = false;
    return;
  }
  p->is_linear = shape->values[0] != 0;
  p->n_effects = shape->n - 1;
  p->n_keys = take_sizes(source, shape->values + 1, p->n_effects);
  for (size_t e = 0; e < p->n_effects && p->n_keys != NULL; e++) p->n_all_keys += p->n_keys[e];
  p->n_columns = mean->n;
  p->mean = take_numbers(source, MEAN, mean->n);
  if (p->n_all_keys > 0) p->keys = take_numbers(source, KEYS, p->n_all_keys);
  source->is_good = source->is_good && p->n_keys != NULL && p->mean != NULL;
  take_factor(source, &p->factor, p->n_columns);
}

enum gpnn_status gpnn_effects_take(struct gpnn_effects *effects, const char *target,
                                   const struct gpnn_state *state, const char *name,
                                   struct gpnn_error *err)
{
  if (effects->n_variances == 0 || state == NULL) return GPNN_OK;
  struct source source = {state, target, true};
  effects->posterior = calloc(1, sizeof *effects->posterior);
  if (effects->posterior == NULL) return gpnn_fail_memory(err, "for the effects");
  take_all(&source, effects->posterior);
  if (source.is_good) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT,
                   "%s: groups have effects, but the file has no valid values of them", name);
}
