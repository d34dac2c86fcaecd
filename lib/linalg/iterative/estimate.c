#include "linalg/iterative/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/iterative/lanczos.h"

#define MEMORY_FOR "for estimates from random vectors"

/* Vectors that are multiplied together. */
enum { BLOCK = 16 };

struct estimation {
  const struct gpnn_cg_matrix *matrix;
  const struct gpnn_estimate_probes *probes;
  size_t n, items;            /* elements of a vector; estimates */
  struct gpnn_estimate *item; /* until the end the error is the sum of squared deviations */
  size_t seen;                /* vectors */
  /* Counts what 'columns' vectors and their products say. */
  enum gpnn_status (*count)(struct estimation *e, size_t columns, const double *vectors,
                            const double *products, struct gpnn_error *err);
  const struct gpnn_truncated_cg_options *options; /* of a log determinant */
  struct gpnn_cg_steps steps;
  struct gpnn_truncated_cg_report report;
};

/* Welford's moments; 'seen' of them came before. */
static void add(struct gpnn_estimate *e, size_t seen, double value)
{
  double off = value - e->value;
  e->value += off / (double)(seen + 1);
  e->error += off * (value - e->value);
}

/* Element 'e' of column 'j' in a block. */
static size_t at(const struct gpnn_cg_matrix *matrix, size_t columns, size_t e, size_t j)
{
  return (e / matrix->inner * columns + j) * matrix->inner + e % matrix->inner;
}

static enum gpnn_status count_trace(struct estimation *e, size_t columns, const double *vectors,
                                    const double *products, struct gpnn_error *err)
{
  (void)err;
  for (size_t j = 0; j < columns; j++) {
    double sum = 0;
    for (size_t i = 0; i < e->n; i++) {
      size_t k = at(e->matrix, columns, i, j);
      sum += vectors[k] * products[k];
    }
    add(e->item, e->seen + j, sum);
  }
  return GPNN_OK;
}

static enum gpnn_status count_diagonal(struct estimation *e, size_t columns, const double *vectors,
                                       const double *products, struct gpnn_error *err)
{
  (void)err;
  for (size_t i = 0; i < e->n; i++)
    for (size_t j = 0; j < columns; j++) {
      size_t k = at(e->matrix, columns, i, j);
      add(&e->item[i], e->seen + j, vectors[k] * products[k]);
    }
  return GPNN_OK;
}

static enum gpnn_status count_logdet(struct estimation *e, size_t columns, const double *vectors,
                                     const double *products, struct gpnn_error *err)
{
  (void)vectors;
  (void)products;
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < columns && status == GPNN_OK; j++) {
    struct gpnn_lanczos_estimate one = {0};
    status = gpnn_lanczos_logdet(&e->steps, j, 1, e->n, &one, err);
    add(e->item, e->seen + j, one.value);
  }
  gpnn_cg_steps_release(&e->steps);
  return status;
}

/* Solutions, whose steps are all that matters. */
static enum gpnn_status solve(struct estimation *e, size_t columns, const double *b, double *x,
                              struct gpnn_error *err)
{
  struct gpnn_truncated_cg_options options = *e->options;
  struct gpnn_cg_matrix matrix = *e->matrix;
  options.truncation = GPNN_TRUNCATION_NONE;
  matrix.precondition = NULL;
  enum gpnn_status status =
      gpnn_truncated_cg_solve(&matrix, columns, b, x, &options, &e->steps, &e->report, err);
  if (status != GPNN_OK) gpnn_cg_steps_release(&e->steps);
  return status;
}

static enum gpnn_status count_all(struct estimation *e, double *vectors, double *products,
                                  struct gpnn_error *err)
{
  const struct gpnn_estimate_probes *p = e->probes;
  const struct gpnn_cg_matrix *m = e->matrix;
  enum gpnn_status status = GPNN_OK;
  for (e->seen = 0; e->seen < p->n && status == GPNN_OK; e->seen += BLOCK) {
    size_t columns = p->n - e->seen < BLOCK ? p->n - e->seen : BLOCK;
    gpnn_probes_draw(p->kind, p->seed, p->first + e->seen, m->outer, columns, m->inner, NULL,
                     p->threads, vectors);
    status = e->options == NULL ? m->multiply(m->context, columns, vectors, products, err)
                                : solve(e, columns, vectors, products, err);
    if (status == GPNN_OK) status = e->count(e, columns, vectors, products, err);
  }
  return status;
}

/* Turns sums of squared deviations into standard errors, and hands the estimates over. */
static enum gpnn_status finish(struct estimation *e, struct gpnn_estimate *estimates,
                               struct gpnn_error *err)
{
  double n = (double)e->probes->n;
  for (size_t i = 0; i < e->items; i++) {
    if (!isfinite(e->item[i].value))
      return gpnn_fail(err, GPNN_ENUMERIC, "an estimate from random vectors is not finite");
    e->item[i].error = n > 1 ? sqrt(e->item[i].error / (n * (n - 1))) : INFINITY;
  }
  memcpy(estimates, e->item, e->items * sizeof *estimates);
  return GPNN_OK;
}

static enum gpnn_status estimate(struct estimation *e, struct gpnn_estimate *estimates,
                                 struct gpnn_error *err)
{
  size_t columns = e->probes->n < BLOCK ? e->probes->n : BLOCK;
  double *vectors = gpnn_alloc(e->n, columns, sizeof *vectors);
  double *products = gpnn_alloc(e->n, columns, sizeof *products);
  e->item = gpnn_alloc(e->items, 1, sizeof *e->item);
  enum gpnn_status status = vectors != NULL && products != NULL && e->item != NULL
                                ? count_all(e, vectors, products, err)
                                : gpnn_fail_memory(err, MEMORY_FOR);
  if (status == GPNN_OK) status = finish(e, estimates, err);
  free(vectors);
  free(products);
  free(e->item);
  return status;
}

enum gpnn_status gpnn_estimate_trace(const struct gpnn_cg_matrix *matrix,
                                     const struct gpnn_estimate_probes *probes,
                                     struct gpnn_estimate *trace, struct gpnn_error *err)
{
  struct estimation e = {
      .matrix = matrix, .probes = probes, .n = matrix->outer * matrix->inner, .items = 1};
  e.count = count_trace;
  return estimate(&e, trace, err);
}

enum gpnn_status gpnn_estimate_diagonal(const struct gpnn_cg_matrix *matrix,
                                        const struct gpnn_estimate_probes *probes,
                                        struct gpnn_estimate *diagonal, struct gpnn_error *err)
{
  size_t n = matrix->outer * matrix->inner;
  struct estimation e = {.matrix = matrix, .probes = probes, .n = n, .items = n};
  e.count = count_diagonal;
  return estimate(&e, diagonal, err);
}

enum gpnn_status
gpnn_estimate_logdet(const struct gpnn_cg_matrix *matrix, const struct gpnn_estimate_probes *probes,
                     const struct gpnn_truncated_cg_options *options, struct gpnn_estimate *logdet,
                     struct gpnn_truncated_cg_report *report, struct gpnn_error *err)
{
  struct estimation e = {
      .matrix = matrix, .probes = probes, .n = matrix->outer * matrix->inner, .items = 1};
  e.count = count_logdet;
  e.options = options;
  e.report = *report;
  enum gpnn_status status = estimate(&e, logdet, err);
  if (status == GPNN_OK) *report = e.report;
  return status;
}
