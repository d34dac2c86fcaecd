/*
 * What a factor is made of, as text and as coordinates of a search.
 */
#include "kernel/factor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* ---- life --------------------------------------------------------------------------------- */

static void drop_terms(struct gpnn_factor *factor)
{
  for (size_t t = 0; t < factor->n_terms; t++) free(factor->term[t].lengthscale);
  memset(factor->term, 0, sizeof factor->term);
  factor->n_terms = 0;
}

static void drop_tasks(struct gpnn_factor *factor)
{
  free(factor->loadings);
  free(factor->own);
  factor->loadings = factor->own = NULL;
  factor->n_tasks = factor->rank = 0;
}

void gpnn_factor_release(struct gpnn_factor *factor)
{
  drop_terms(factor);
  drop_tasks(factor);
  free(factor->name);
  *factor = (struct gpnn_factor){0};
}

/* Makes '*to' a copy of 'n' numbers, or of none if there is no array.  False: no memory. */
static bool copy_numbers(double **to, const double *from, size_t n)
{
  *to = NULL;
  if (from == NULL) return true;
  *to = gpnn_alloc(n, 1, sizeof **to);
  if (*to != NULL) memcpy(*to, from, n * sizeof **to);
  return *to != NULL;
}

enum gpnn_status gpnn_factor_copy(struct gpnn_factor *to, const struct gpnn_factor *from,
                                  struct gpnn_error *err)
{
  struct gpnn_factor copy = *from;
  bool good = true;
  copy.name = NULL;
  for (size_t t = 0; t < from->n_terms; t++)
    good = copy_numbers(&copy.term[t].lengthscale, from->term[t].lengthscale,
                        from->term[t].n_lengthscales) &&
           good;
  good = copy_numbers(&copy.loadings, from->loadings, from->n_tasks * from->rank) && good;
  good = copy_numbers(&copy.own, from->own, from->n_tasks) && good;
  if (from->name != NULL) copy.name = gpnn_copy_text(from->name, strlen(from->name));
  if (good && (from->name == NULL || copy.name != NULL)) {
    *to = copy;
    return GPNN_OK;
  }
  gpnn_factor_release(&copy);
  return gpnn_fail_memory(err, "for a factor");
}

/* ---- text --------------------------------------------------------------------------------- */

/* Makes a factor of tasks: all variances 1, loadings the first columns of the unit matrix. */
static enum gpnn_status become_tasks(struct gpnn_factor *factor, size_t n_tasks, size_t rank,
                                     struct gpnn_error *err)
{
  double *loadings = gpnn_alloc(n_tasks, rank, sizeof *loadings);
  double *own = gpnn_alloc(n_tasks, 1, sizeof *own);
  if (loadings == NULL || own == NULL) {
    free(loadings);
    free(own);
    return gpnn_fail_memory(err, "for a factor");
  }
  for (size_t i = 0; i < n_tasks; i++) own[i] = 1;
  for (size_t r = 0; r < rank; r++) loadings[r * rank + r] = 1;
  drop_terms(factor);
  drop_tasks(factor);
  factor->n_tasks = n_tasks;
  factor->rank = rank;
  factor->loadings = loadings;
  factor->own = own;
  return GPNN_OK;
}

/* "icm" or "icm:R". */
static enum gpnn_status parse_tasks(struct gpnn_factor *factor, const char *text, size_t d,
                                    size_t n_tasks, struct gpnn_error *err)
{
  uint64_t rank = n_tasks;
  const char *number = text + strlen("icm:");
  if (text[3] == ':' &&
      (!gpnn_number_read_u64(number, strlen(number), &rank) || rank < 1 || rank > n_tasks))
    return gpnn_fail(err, GPNN_EINVAL,
                     "icm: the rank is not a whole number from 1 to %zu, the "
                     "number of tasks",
                     n_tasks);
  if (n_tasks == 0) return gpnn_fail(err, GPNN_EINVAL, "icm: there are no tasks");
  if (d != 1) return gpnn_fail(err, GPNN_EINVAL, "icm: needs a factor with one column, not %zu", d);
  return become_tasks(factor, n_tasks, (size_t)rank, err);
}

/* Reads one word of a product, 'length' bytes, into '*term'. */
static enum gpnn_status parse_term(struct gpnn_factor_term *term, const char *word, size_t length,
                                   size_t d, bool ard, struct gpnn_error *err)
{
  char name[GPNN_KERNEL_BYTES], shown[GPNN_MASK_BYTES];
  *term = (struct gpnn_factor_term){.n_lengthscales = ard && d > 1 ? d : 1};
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word);
  if (strcmp(name, "periodic") == 0) {
    if (d != 1)
      return gpnn_fail(err, GPNN_EINVAL, "periodic: needs a factor with one column, not %zu", d);
    term->period = 1;
  } else if (length >= sizeof name || !gpnn_kernel_parse(name, &term->kernel, &term->smoothness)) {
    return gpnn_fail(err, GPNN_EINVAL,
                     "\"%s\" is not a kernel: one of rbf, exp, matern32, matern52, matern:NU, "
                     "periodic, their products as in rbf*periodic, or icm for tasks",
                     gpnn_mask(shown, word, length));
  }
  term->lengthscale = gpnn_alloc(term->n_lengthscales, 1, sizeof *term->lengthscale);
  if (term->lengthscale == NULL) return gpnn_fail_memory(err, "for a factor");
  for (size_t j = 0; j < term->n_lengthscales; j++) term->lengthscale[j] = 1;
  return GPNN_OK;
}

enum gpnn_status gpnn_factor_parse(struct gpnn_factor *factor, const char *text, size_t d,
                                   size_t n_tasks, bool ard, struct gpnn_error *err)
{
  struct gpnn_factor parsed = {0};
  enum gpnn_status status = GPNN_OK;
  if (strcmp(text, "icm") == 0 || strncmp(text, "icm:", 4) == 0)
    return parse_tasks(factor, text, d, n_tasks, err);
  for (const char *word = text; word != NULL && status == GPNN_OK;) {
    const char *star = strchr(word, '*');
    size_t length = star == NULL ? strlen(word) : (size_t)(star - word);
    status =
        parsed.n_terms == GPNN_FACTOR_TERMS
            ? gpnn_fail(err, GPNN_EINVAL, "a product of more than %d kernels", GPNN_FACTOR_TERMS)
            : parse_term(&parsed.term[parsed.n_terms], word, length, d, ard, err);
    if (status == GPNN_OK) parsed.n_terms++;
    word = star == NULL ? NULL : star + 1;
  }
  if (status != GPNN_OK) {
    drop_terms(&parsed);
    return status;
  }
  drop_terms(factor);
  drop_tasks(factor);
  memcpy(factor->term, parsed.term, sizeof factor->term);
  factor->n_terms = parsed.n_terms;
  return GPNN_OK;
}

char *gpnn_factor_write(const struct gpnn_factor *factor, char *text, size_t size)
{
  size_t used = 0;
  text[0] = '\0';
  if (factor->n_terms == 0 && factor->rank == factor->n_tasks) snprintf(text, size, "icm");
  if (factor->n_terms == 0 && factor->rank < factor->n_tasks)
    snprintf(text, size, "icm:%zu", factor->rank);
  for (size_t t = 0; t < factor->n_terms && used < size; t++) {
    char name[GPNN_KERNEL_BYTES] = "periodic";
    if (factor->term[t].kernel != NULL)
      gpnn_kernel_write(factor->term[t].kernel, factor->term[t].smoothness, name);
    used += (size_t)snprintf(text + used, size - used, "%s%s", t == 0 ? "" : "*", name);
  }
  return text;
}

/* ---- coordinates -------------------------------------------------------------------------- */

size_t gpnn_factor_n_coordinates(const struct gpnn_factor *factor)
{
  size_t n = 0;
  if (factor->n_terms == 0) return factor->n_tasks * (factor->rank + 1);
  for (size_t t = 0; t < factor->n_terms; t++)
    n += factor->term[t].n_lengthscales + (factor->term[t].kernel == NULL);
  return n + (factor->nugget > 0);
}

void gpnn_factor_get_coordinates(const struct gpnn_factor *factor, double *coordinates)
{
  double *c = coordinates;
  for (size_t t = 0; t < factor->n_terms; t++) {
    const struct gpnn_factor_term *term = &factor->term[t];
    for (size_t j = 0; j < term->n_lengthscales; j++) *c++ = log(term->lengthscale[j]);
    if (term->kernel == NULL) *c++ = log(term->period);
  }
  if (factor->n_terms > 0 && factor->nugget > 0) *c++ = log(factor->nugget);
  for (size_t i = 0; i < factor->n_tasks * factor->rank; i++) *c++ = factor->loadings[i];
  for (size_t i = 0; i < factor->n_tasks; i++) *c++ = log(factor->own[i]);
}

void gpnn_factor_set_coordinates(struct gpnn_factor *factor, const double *coordinates)
{
  const double *c = coordinates;
  for (size_t t = 0; t < factor->n_terms; t++) {
    struct gpnn_factor_term *term = &factor->term[t];
    for (size_t j = 0; j < term->n_lengthscales; j++) term->lengthscale[j] = exp(*c++);
    if (term->kernel == NULL) term->period = exp(*c++);
  }
  if (factor->n_terms > 0 && factor->nugget > 0) factor->nugget = exp(*c++);
  for (size_t i = 0; i < factor->n_tasks * factor->rank; i++) factor->loadings[i] = *c++;
  for (size_t i = 0; i < factor->n_tasks; i++) factor->own[i] = exp(*c++);
}

const char *gpnn_factor_coordinate_name(const struct gpnn_factor *factor, size_t i)
{
  for (size_t t = 0; t < factor->n_terms; t++) {
    size_t n = factor->term[t].n_lengthscales;
    if (i < n) return "lengthscale";
    if (factor->term[t].kernel == NULL && i == n) return "period";
    i -= n + (factor->term[t].kernel == NULL);
  }
  if (factor->n_terms > 0) return "nugget";
  return i < factor->n_tasks * factor->rank ? "loadings" : "own";
}
