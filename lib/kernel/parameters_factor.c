/*
 * The numbers of a grid's factors by the names that the text and the command line have for them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "kernel/parameters_private.h"

/* ---- names -------------------------------------------------------------------------------- */

/* Bounds within which covariances and their derivatives are finite. */
static const double most = 1e100, most_loading = 1e50;

static const char *const names[GPNN_FACTOR_FIELDS] = {"kernel", "inputs",   "lengthscale", "period",
                                                      "nugget", "loadings", "own",         "noise"};

const char *gpnn_factor_field_name(enum gpnn_factor_field field)
{
  return names[field];
}

enum gpnn_factor_field gpnn_factor_field_by_name(struct gpnn_span name)
{
  int field = 0;
  while (field < GPNN_FACTOR_FIELDS && !gpnn_parameters_is_word(name, names[field])) field++;
  return (enum gpnn_factor_field)field;
}

bool gpnn_parameters_can_name_factor(const char *name)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const struct gpnn_parameters_line *line;
  size_t length = strlen(name);
  if (length == 0 || length > GPNN_FACTOR_NAME_BYTES || strspn(name, allowed) != length)
    return false;
  for (size_t i = 0; (line = gpnn_parameters_line_at(i)) != NULL; i++)
    if (strcmp(name, line->name) == 0) return false;
  return strcmp(name, "target") != 0 && strcmp(name, "member") != 0;
}

/* ---- numbers ------------------------------------------------------------------------------ */

const char *gpnn_factor_field_read(enum gpnn_factor_field field, struct gpnn_span word,
                                   double *value)
{
  double v = 0;
  bool good = gpnn_number_read(word.at, word.length, &v) == GPNN_NUMBER_OK;
  if (field == GPNN_FACTOR_LOADINGS) {
    if (!good) return "not a number";
    if (fabs(v) > most_loading) return "not between -1e50 and 1e50";
  } else if (field == GPNN_FACTOR_NUGGET) {
    if (!good || v < 0) return "not a non-negative number";
    if (v > most) return "not up to 1e100";
  } else {
    if (!good || v <= 0) return "not a positive number";
    if (v > most || v < 1 / most) return "not between 1e-100 and 1e100";
  }
  *value = v;
  return NULL;
}

static double *find_lengthscale(const struct gpnn_factor *factor, size_t i)
{
  for (size_t t = 0; t < factor->n_terms; t++) {
    if (i < factor->term[t].n_lengthscales) return &factor->term[t].lengthscale[i];
    i -= factor->term[t].n_lengthscales;
  }
  return NULL;
}

static double *find_period(struct gpnn_factor *factor, size_t i)
{
  for (size_t t = 0; t < factor->n_terms; t++)
    if (factor->term[t].kernel == NULL && i-- == 0) return &factor->term[t].period;
  return NULL;
}

double *gpnn_factor_field_number(const struct gpnn_grid_process *grid, size_t a,
                                 enum gpnn_factor_field field, size_t i)
{
  struct gpnn_factor *factor = &grid->factor[a];
  switch (field) {
  case GPNN_FACTOR_LENGTHSCALE:
    return find_lengthscale(factor, i);
  case GPNN_FACTOR_PERIOD:
    return find_period(factor, i);
  case GPNN_FACTOR_NUGGET:
    return factor->n_terms > 0 && i == 0 ? &factor->nugget : NULL;
  case GPNN_FACTOR_LOADINGS:
    return i < factor->n_tasks * factor->rank ? &factor->loadings[i] : NULL;
  case GPNN_FACTOR_OWN:
    return i < factor->n_tasks ? &factor->own[i] : NULL;
  case GPNN_FACTOR_NOISE:
    return grid->noise_factor == a + 1 && i < grid->n_noise ? &grid->noise[i] : NULL;
  default:
    return NULL;
  }
}

size_t gpnn_factor_field_count(const struct gpnn_grid_process *grid, size_t a,
                               enum gpnn_factor_field field)
{
  size_t n = 0;
  while (gpnn_factor_field_number(grid, a, field, n) != NULL) n++;
  return n;
}

/* ---- life --------------------------------------------------------------------------------- */

void gpnn_parameters_grid_release(struct gpnn_grid_process *grid)
{
  for (size_t a = 0; a < grid->n_factors; a++) gpnn_factor_release(&grid->factor[a]);
  free(grid->factor);
  free(grid->noise);
  *grid = (struct gpnn_grid_process){0};
}

enum gpnn_status gpnn_parameters_grid_copy(struct gpnn_grid_process *to,
                                           const struct gpnn_grid_process *from,
                                           struct gpnn_error *err)
{
  struct gpnn_grid_process copy = *from;
  copy.factor = gpnn_alloc(from->n_factors, 1, sizeof *copy.factor);
  copy.noise = from->noise == NULL ? NULL : gpnn_alloc(from->n_noise, 1, sizeof *copy.noise);
  copy.n_factors = copy.factor == NULL ? 0 : from->n_factors;
  enum gpnn_status status = copy.factor == NULL || (from->noise != NULL && copy.noise == NULL)
                                ? gpnn_fail_memory(err, "for the parameters")
                                : GPNN_OK;
  if (status == GPNN_OK && from->noise != NULL)
    memcpy(copy.noise, from->noise, from->n_noise * sizeof *copy.noise);
  for (size_t a = 0; a < from->n_factors && status == GPNN_OK; a++)
    status = gpnn_factor_copy(&copy.factor[a], &from->factor[a], err);
  if (status == GPNN_OK)
    *to = copy;
  else
    gpnn_parameters_grid_release(&copy);
  return status;
}

/* ---- one number or all, by name ------------------------------------------------------------ */

/* What a name on the command line means. */
struct place {
  struct gpnn_grid_numbers numbers;
  enum gpnn_factor_field field; /* unless it is of all factors */
  double *common;               /* then the number itself */
};

static size_t find_factor(const struct gpnn_grid_process *grid, struct gpnn_span name)
{
  size_t a = 0;
  while (a < grid->n_factors && !gpnn_parameters_is_word(name, grid->factor[a].name)) a++;
  return a;
}

static enum gpnn_status find_common(struct gpnn_parameters *params, const char *name,
                                    struct place *place, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  bool is_scale = strcmp(name, "kernelscale") == 0;
  if (!is_scale && strcmp(name, "noise") != 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "\"%s\" is not a parameter: expected kernelscale, noise, or a factor and what "
                     "of it, as in %s.lengthscale",
                     gpnn_mask(shown, name, strlen(name)),
                     params->grid.n_factors > 0 ? params->grid.factor[0].name : "site");
  place->numbers =
      (struct gpnn_grid_numbers){GPNN_GRID_FACTORS, is_scale ? "kernelscale" : "noise", 0, 1};
  place->common = is_scale ? &params->covariance.kernelscale : &params->covariance.noise;
  return GPNN_OK;
}

/* Takes ":K" off a field's name. */
static enum gpnn_status take_number(struct gpnn_span *field, const char *name, uint64_t *k,
                                    struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const char *colon = memchr(field->at, ':', field->length);
  *k = 0;
  if (colon == NULL) return GPNN_OK;
  size_t before = (size_t)(colon - field->at);
  if (!gpnn_number_read_u64(colon + 1, field->length - before - 1, k) || *k == 0)
    return gpnn_fail(err, GPNN_EINVAL, "\"%s\": behind the colon stands which number, from 1",
                     gpnn_mask(shown, name, strlen(name)));
  field->length = before;
  return GPNN_OK;
}

static enum gpnn_status find_place(struct gpnn_parameters *params, const char *name,
                                   struct place *place, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES], kernel[GPNN_ERROR_BYTES / 2];
  const struct gpnn_grid_process *grid = &params->grid;
  const char *dot = strchr(name, '.');
  uint64_t k;
  gpnn_mask(shown, name, strlen(name));
  if (dot == NULL) return find_common(params, name, place, err);
  size_t a = find_factor(grid, (struct gpnn_span){name, (size_t)(dot - name)});
  if (a == grid->n_factors)
    return gpnn_fail(err, GPNN_EINVAL, "\"%s\": the grid has no such factor", shown);
  struct gpnn_span field = {dot + 1, strlen(dot + 1)};
  enum gpnn_status status = take_number(&field, name, &k, err);
  if (status != GPNN_OK) return status;
  place->field = gpnn_factor_field_by_name(field);
  size_t n = gpnn_factor_field_count(grid, a, place->field);
  if (n == 0)
    return gpnn_fail(err, GPNN_EINVAL, "\"%s\": factor %s with kernel %s has no such number", shown,
                     grid->factor[a].name,
                     gpnn_factor_write(&grid->factor[a], kernel, sizeof kernel));
  if (k > n)
    return gpnn_fail(err, GPNN_EINVAL, "\"%s\": there are only %zu of these numbers", shown, n);
  place->numbers = (struct gpnn_grid_numbers){a, names[place->field], k == 0 ? 0 : (size_t)k - 1,
                                              k == 0 ? n : 1};
  return GPNN_OK;
}

/* Takes the next of several values that are separated by commas. */
static struct gpnn_span next_value(const char **rest)
{
  const char *comma = strchr(*rest, ',');
  struct gpnn_span word = {*rest, comma == NULL ? strlen(*rest) : (size_t)(comma - *rest)};
  *rest = comma == NULL ? NULL : comma + 1;
  return word;
}

/* Reads all values, of which there is one or as many as are meant. */
static enum gpnn_status read_values(const struct place *place, const char *name, const char *text,
                                    double *value, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES], shown_word[GPNN_MASK_BYTES];
  bool is_noise = place->common != NULL && strcmp(place->numbers.name, "noise") == 0;
  enum gpnn_factor_field field = is_noise                ? GPNN_FACTOR_NUGGET /* which may be 0 */
                                 : place->common != NULL ? GPNN_FACTOR_OWN
                                                         : place->field;
  size_t n = place->numbers.n, i = 0;
  gpnn_mask(shown, name, strlen(name));
  for (const char *rest = text; rest != NULL; i++) {
    struct gpnn_span word = next_value(&rest);
    double v;
    const char *wrong = gpnn_factor_field_read(field, word, &v);
    if (wrong != NULL)
      return gpnn_fail(err, GPNN_EINVAL, "%s: %s: \"%s\"", shown, wrong,
                       gpnn_mask(shown_word, word.at, word.length));
    if (i < n) value[i] = v;
  }
  if (i != n && i != 1)
    return gpnn_fail(err, GPNN_EINVAL, "%s: %zu values, expected %s%zu", shown, i,
                     n == 1 ? "" : "1 or ", n);
  for (size_t k = 1; i == 1 && k < n; k++) value[k] = value[0];
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_grid_set(struct gpnn_parameters *params, const char *name,
                                          const char *value, struct gpnn_grid_numbers *set,
                                          struct gpnn_error *err)
{
  struct place place = {0};
  enum gpnn_status status = find_place(params, name, &place, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_grid_numbers *numbers = &place.numbers;
  double *values = gpnn_alloc(numbers->n, 1, sizeof *values);
  status = values == NULL ? gpnn_fail_memory(err, "for the parameters")
                          : read_values(&place, name, value, values, err);
  for (size_t i = 0; i < numbers->n && status == GPNN_OK; i++) {
    double *number = place.common != NULL
                         ? place.common
                         : gpnn_factor_field_number(&params->grid, numbers->factor, place.field,
                                                    numbers->first + i);
    *number = values[i];
  }
  free(values);
  if (status == GPNN_OK && set != NULL) *set = *numbers;
  return status;
}
