#include "simulate/separable.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "simulate/process.h"

/* 'to' (columns by rows) becomes the transpose of 'from' (rows by columns). */
static void transpose(size_t rows, size_t columns, const double *from, double *to)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) to[j * rows + i] = from[i * columns + j];
}

static void draw_sites(const struct gpnn_separable_options *o, double *x)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, o->seed, GPNN_RNG_POINT);
  for (size_t i = 0; i < o->sites * o->d; i++) x[i] = sqrt(3) * (2 * gpnn_rng_uniform(&rng) - 1);
}

/* f = L_S Z L_T': each time is a draw of the sites' process, and each site then one of the times'.
 * 'work' has room for the cells, 't' for the times. */
static enum gpnn_status draw_process(const struct gpnn_separable_options *o, const double *x,
                                     double *t, double *work, double *f, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, o->seed, GPNN_RNG_RESPONSE);
  gpnn_rng_normals(&rng, o->sites * o->times, work);
  enum gpnn_status status =
      gpnn_process_draw(&o->site, o->sites, o->d, x, o->threads, o->times, work, err);
  if (status != GPNN_OK) return status;
  transpose(o->times, o->sites, work, f);
  for (size_t j = 0; j < o->times; j++) t[j] = (double)j;
  return gpnn_process_draw(&o->time, o->times, 1, t, o->threads, o->sites, f, err);
}

static void observe(const struct gpnn_separable_options *o, const double *f, double *y)
{
  struct gpnn_rng noise, holes;
  gpnn_rng_init(&noise, o->seed, GPNN_RNG_NOISE);
  gpnn_rng_init(&holes, o->seed, GPNN_RNG_HOLES);
  double sd = sqrt(o->noise);
  for (size_t c = 0; c < o->sites * o->times; c++) {
    double observed = f[c] + sd * gpnn_rng_normal(&noise);
    y[c] = gpnn_rng_uniform(&holes) < o->missing ? NAN : observed;
  }
}

enum gpnn_status gpnn_separable_draw(struct gpnn_separable *separable,
                                     const struct gpnn_separable_options *o, struct gpnn_error *err)
{
  struct gpnn_separable made = {.x = gpnn_alloc(o->sites, o->d, sizeof(double)),
                                .f = gpnn_alloc(o->sites, o->times, sizeof(double)),
                                .y = gpnn_alloc(o->sites, o->times, sizeof(double))};
  double *t = gpnn_alloc(o->times, 1, sizeof *t);
  enum gpnn_status status = GPNN_OK;
  if (made.x == NULL || made.f == NULL || made.y == NULL || t == NULL)
    status = gpnn_fail_memory(err, "for a grid");
  if (status == GPNN_OK) {
    draw_sites(o, made.x);
    status = draw_process(o, made.x, t, made.y, made.f, err);
  }
  free(t);
  if (status != GPNN_OK) {
    gpnn_separable_release(&made);
    return status;
  }
  observe(o, made.f, made.y);
  *separable = made;
  return GPNN_OK;
}

void gpnn_separable_release(struct gpnn_separable *separable)
{
  free(separable->x);
  free(separable->f);
  free(separable->y);
  *separable = (struct gpnn_separable){0};
}
