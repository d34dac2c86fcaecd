/*
 * fixture: a small index in a temporary file, for tests of the layers above it.
 *
 * Rows are standard normal inputs times 'spread' and a smooth target with noise; nothing is
 * standardised, so that what the tests compute by hand needs no conversion.
 */
#ifndef GPNN_TESTS_FIXTURE_H
#define GPNN_TESTS_FIXTURE_H

#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/index/index.h"
#include "unit.h"

struct fixture {
  size_t n, d, c;
  double *x, *y, *cx, *cy;
  struct gpnn_dataset dataset;
  struct gpnn_index *index;
  const struct gpnn_dataset *data; /* what the index holds */
  char path[240];
};

static double fixture_target(size_t d, const double *x, double noise)
{
  double y = 0;
  for (size_t j = 0; j < d; j++) y += sin(2 * x[j] + (double)j);
  return y / (double)d + 0.1 * noise;
}

static void fixture_rows(struct gpnn_rng *rng, size_t n, size_t d, double spread, double *x,
                         double *y)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < d; j++) x[i * d + j] = spread * gpnn_rng_normal(rng);
    y[i] = fixture_target(d, x + i * d, gpnn_rng_normal(rng));
  }
}

static void fixture_schema(struct fixture *f)
{
  struct gpnn_schema *schema = &f->dataset.schema;
  schema->n_inputs = f->d;
  schema->n_columns = f->d + 1;
  schema->has_header = true;
  schema->inputs = calloc(f->d, sizeof *schema->inputs);
  assert_non_null(schema->inputs);
  for (size_t j = 0; j < f->d; j++) {
    char name[16];
    int length = snprintf(name, sizeof name, "x%zu", j + 1);
    schema->inputs[j].name = gpnn_copy_text(name, (size_t)length);
    schema->inputs[j].position = j;
  }
  schema->target.name = gpnn_copy_text("y", 1);
  schema->target.position = f->d;
}

/* Writes f's rows to an index file and opens it. */
static void fixture_write(struct fixture *f)
{
  f->dataset.n = f->n;
  f->dataset.d = f->d;
  f->dataset.x = f->x;
  f->dataset.y = f->y;
  f->dataset.n_calibration = f->c;
  f->dataset.calibration_x = f->cx;
  f->dataset.calibration_y = f->cy;
  f->dataset.seed = 1;
  f->dataset.provenance = "";
  f->dataset.scaling = (struct gpnn_scaling){
      .method = GPNN_SCALING_NONE, .n_in = f->d, .n_out = f->d, .y_mean = 3, .y_sd = 2};
  f->dataset.scaling.mean = gpnn_alloc(f->d, 1, sizeof(double));
  fixture_schema(f);
  struct gpnn_search *search = NULL;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  options.kind = GPNN_SEARCH_FLAT;
  snprintf(f->path, sizeof f->path, "%s/gpnn-fixture.%ld.gpi", unit_temporary(), (long)getpid());
  assert_ok(gpnn_search_build(&search, f->n, f->d, f->x, &options, &err));
  assert_ok(gpnn_index_write(f->path, &f->dataset, search, NULL, &err));
  gpnn_search_free(search);
  assert_ok(gpnn_index_open(&f->index, f->path, true, &err));
  f->data = gpnn_index_dataset(f->index);
}

static inline void fixture_new(struct fixture *f, size_t n, size_t d, size_t c, double spread)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 7, GPNN_RNG_TEST);
  *f = (struct fixture){.n = n, .d = d, .c = c};
  f->x = gpnn_alloc(n, d, sizeof(double));
  f->y = gpnn_alloc(n, 1, sizeof(double));
  f->cx = gpnn_alloc(c, d, sizeof(double));
  f->cy = gpnn_alloc(c, 1, sizeof(double));
  fixture_rows(&rng, n, d, spread, f->x, f->y);
  fixture_rows(&rng, c, d, spread, f->cx, f->cy);
  fixture_write(f);
}

static void fixture_free(struct fixture *f)
{
  gpnn_index_close(f->index);
  unlink(f->path);
  gpnn_schema_release(&f->dataset.schema);
  gpnn_scaling_release(&f->dataset.scaling);
  free(f->x);
  free(f->y);
  free(f->cx);
  free(f->cy);
}

#endif
