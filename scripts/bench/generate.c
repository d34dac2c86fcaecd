/*
 * generate: a table of any number of rows to measure speed on.
 *
 *   generate ROWS D SEED
 *
 * Writes TSV with inputs x1 to xD, standard normals with five decimals, and the target y: an
 * approximate draw from a Gaussian process with the kernel matern32 of lengthscale 4 and variance 1
 * (64 random cosines, whose frequencies have the spectral distribution of the kernel), plus noise
 * of variance 0.1.  The function is the same for every SEED; the rows differ.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "table/stream.h"

enum { COSINES = 64 };

struct function {
  size_t d;
  double *frequency;     /* owned; COSINES by d */
  double phase[COSINES]; /* in radians */
};

/* Frequencies of matern32: a normal vector over the root of a chi-squared variable, which is
 * Student-t with three degrees of freedom. */
static void draw(struct function *f)
{
  const double lengthscale = 4;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  for (size_t i = 0; i < COSINES; i++) {
    double squares = 0;
    for (int j = 0; j < 3; j++) squares += pow(gpnn_rng_normal(&rng), 2);
    double factor = sqrt(3 / squares) / lengthscale;
    for (size_t j = 0; j < f->d; j++) f->frequency[i * f->d + j] = factor * gpnn_rng_normal(&rng);
    f->phase[i] = 6.283185307179586 * gpnn_rng_uniform(&rng);
  }
}

static double value(const struct function *f, const double *x)
{
  double sum = 0;
  for (size_t i = 0; i < COSINES; i++) {
    double angle = f->phase[i];
    for (size_t j = 0; j < f->d; j++) angle += f->frequency[i * f->d + j] * x[j];
    sum += cos(angle);
  }
  return sum * sqrt(2.0 / COSINES);
}

static double rounded(double v)
{
  return round(v * 1e5) / 1e5;
}

static enum gpnn_status write_header(struct gpnn_output *out, size_t d, struct gpnn_error *err)
{
  for (size_t j = 1; j <= d; j++) {
    enum gpnn_status status = gpnn_output_printf(out, err, "x%zu\t", j);
    if (status != GPNN_OK) return status;
  }
  return gpnn_output_text(out, "y\n", err);
}

static enum gpnn_status write_row(struct gpnn_output *out, const struct function *f,
                                  struct gpnn_rng *rng, double *x, struct gpnn_error *err)
{
  for (size_t j = 0; j < f->d; j++) {
    x[j] = rounded(gpnn_rng_normal(rng));
    enum gpnn_status status = gpnn_output_number(out, x[j], err);
    if (status == GPNN_OK) status = gpnn_output_text(out, "\t", err);
    if (status != GPNN_OK) return status;
  }
  double y = rounded(value(f, x) + sqrt(0.1) * gpnn_rng_normal(rng));
  enum gpnn_status status = gpnn_output_number(out, y, err);
  return status == GPNN_OK ? gpnn_output_text(out, "\n", err) : status;
}

static enum gpnn_status write_table(size_t rows, const struct function *f, uint64_t seed, double *x,
                                    struct gpnn_error *err)
{
  struct gpnn_rng rng;
  /* The function is drawn from the generator of seed 1. */
  gpnn_rng_init(&rng, seed + 1, GPNN_RNG_TEST);
  struct gpnn_output *out;
  enum gpnn_status status = gpnn_output_open(&out, "-", err);
  if (status != GPNN_OK) return status;
  status = write_header(out, f->d, err);
  for (size_t i = 0; i < rows && status == GPNN_OK; i++) status = write_row(out, f, &rng, x, err);
  if (status == GPNN_OK) return gpnn_output_close(out, err);
  gpnn_output_abandon(out);
  return status;
}

int main(int argc, char **argv)
{
  if (argc != 4) {
    fprintf(stderr, "usage: generate ROWS D SEED\n");
    return 2;
  }
  struct function f = {.d = strtoul(argv[2], NULL, 10)};
  f.frequency = gpnn_alloc(COSINES, f.d, sizeof *f.frequency);
  double *x = gpnn_alloc(f.d, 1, sizeof *x);
  struct gpnn_error err = {0};
  enum gpnn_status status;
  if (f.frequency == NULL || x == NULL)
    status = gpnn_fail_memory(&err, "a row");
  else {
    draw(&f);
    status = write_table(strtoul(argv[1], NULL, 10), &f, strtoul(argv[3], NULL, 10), x, &err);
  }
  if (status != GPNN_OK) fprintf(stderr, "generate: %s\n", err.text);
  free(x);
  free(f.frequency);
  return status != GPNN_OK;
}
