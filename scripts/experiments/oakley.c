/*
 * oakley: rows of the 15-dimensional function of Oakley and O'Hagan (2004), as many as wanted.
 *
 *   oakley COEFFICIENTS FIRST COUNT SEED VARIANCE normal|laplace
 *
 * Prints a table of rows FIRST to FIRST + COUNT - 1: inputs x1 to x15, standard normal, and
 *   y = (f(x) - E f) / sd f + noise,   f(x) = a1'x + a2' sin x + a3' cos x + x'M x,
 * with noise of the given VARIANCE, which is then what no prediction can get below.  The table
 * COEFFICIENTS has the columns i, a1, a2, a3, M1 to M15.  A row depends on SEED and its number
 * alone, so that parts may be made apart.  Works on as many threads as OMP_NUM_THREADS says.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

enum {
  D = 15,
  BLOCK = 4096,   /* rows that a thread makes at once */
  NUMBER = 24,    /* bytes that a number and what follows it take at most */
  DECIMALS = 6,   /* seven digits of most numbers */
  UNIT = 1000000, /* ten to that power */
};

struct function {
  double a1[D], a2[D], a3[D], m[D][D];
  double mean, sd; /* over standard normal inputs */
};

struct job {
  struct function f;
  uint64_t first, count, seed;
  double variance;
  bool is_laplace;
};

/* Products of different inputs are uncorrelated with one another and with all that depends on one
 * input; of these, the odd terms are uncorrelated with the even ones. */
static void standardise(struct function *f)
{
  double root = exp(-0.5), square = exp(-2), variance = 0;
  for (int i = 0; i < D; i++) {
    double a1 = f->a1[i], a2 = f->a2[i], a3 = f->a3[i], m = f->m[i][i];
    f->mean += a3 * root + m;
    variance += a1 * a1 + 2 * a1 * a2 * root + a2 * a2 * (1 - square) / 2;
    variance += a3 * a3 * ((1 + square) / 2 - root * root) - 2 * a3 * m * root + 2 * m * m;
    for (int j = 0; j < i; j++) variance += pow(f->m[i][j] + f->m[j][i], 2);
  }
  f->sd = sqrt(variance);
}

static bool read_function(struct function *f, const char *path)
{
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  bool good = fscanf(file, "%*[^\n]") == 0;
  for (int i = 0; i < D && good; i++) {
    good = fscanf(file, "%*s %lf %lf %lf", &f->a1[i], &f->a2[i], &f->a3[i]) == 3;
    for (int j = 0; j < D && good; j++) good = fscanf(file, "%lf", &f->m[i][j]) == 1;
  }
  fclose(file);
  standardise(f);
  return good;
}

static double evaluate(const struct function *f, const double *x)
{
  double sum = -f->mean, product[D] = {0};
  for (int i = 0; i < D; i++)
    for (int j = 0; j < D; j++) product[j] += x[i] * f->m[i][j];
  for (int i = 0; i < D; i++)
    sum += x[i] * (f->a1[i] + product[i]) + f->a2[i] * sin(x[i]) + f->a3[i] * cos(x[i]);
  return sum / f->sd;
}

static double noise(struct gpnn_rng *rng, double variance, bool is_laplace)
{
  if (!is_laplace) return sqrt(variance) * gpnn_rng_normal(rng);
  double u = gpnn_rng_uniform(rng) - 0.5;
  return -copysign(sqrt(variance / 2), u) * log1p(-2 * fabs(u));
}

/* Inputs and target of row number 'row': two normal deviates of two words (Box and Muller). */
static void make_row(const struct job *job, uint64_t row, double values[D + 1])
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, gpnn_rng_hash(job->seed, &row, sizeof row), GPNN_RNG_TEST);
  for (int j = 0; j < D + 1; j += 2) {
    double radius = sqrt(-2 * log(1 - gpnn_rng_uniform(&rng)));
    double angle = 6.283185307179586 * gpnn_rng_uniform(&rng);
    values[j] = radius * cos(angle);
    values[j + 1] = radius * sin(angle);
  }
  values[D] = evaluate(&job->f, values) + noise(&rng, job->variance, job->is_laplace);
}

/* Writes 'value' with DECIMALS decimals and 'end'; returns what follows. */
static char *put_number(char *to, double value, char end)
{
  char digits[NUMBER], *at = digits + sizeof digits;
  uint64_t scaled = (uint64_t)llrint(fabs(value) * UNIT);
  int n = 0;
  *--at = end;
  do {
    *--at = (char)('0' + scaled % 10);
    scaled /= 10;
    if (++n == DECIMALS) *--at = '.';
  } while (scaled > 0 || n <= DECIMALS);
  if (value < 0) *--at = '-';
  size_t length = (size_t)(digits + sizeof digits - at);
  memcpy(to, at, length);
  return to + length;
}

static char *put_rows(const struct job *job, uint64_t from, uint64_t to, char *text)
{
  double values[D + 1];
  for (uint64_t row = from; row < to; row++) {
    make_row(job, row, values);
    for (int j = 0; j <= D; j++) text = put_number(text, values[j], j < D ? '\t' : '\n');
  }
  return text;
}

static bool put_table(const struct job *job)
{
  int64_t n_blocks = (int64_t)((job->count + BLOCK - 1) / BLOCK);
  bool failed = false;
  for (int j = 1; j <= D; j++) printf("x%d\t", j);
  printf("y\n");
#pragma omp parallel
  {
    char *text = gpnn_alloc(BLOCK, (D + 1) * NUMBER, 1);
#pragma omp for ordered schedule(static, 1)
    for (int64_t b = 0; b < n_blocks; b++) {
      uint64_t from = (uint64_t)b * BLOCK, left = job->count - from;
      uint64_t first = job->first + from, end = first + (left < BLOCK ? left : BLOCK);
      size_t length = text == NULL ? 0 : (size_t)(put_rows(job, first, end, text) - text);
#pragma omp ordered
      failed = failed || length == 0 || fwrite(text, 1, length, stdout) != length;
    }
    free(text);
  }
  return fflush(stdout) == 0 && !failed;
}

int main(int argc, char **argv)
{
  struct job job = {0};
  if (argc != 7 || (strcmp(argv[6], "normal") != 0 && strcmp(argv[6], "laplace") != 0)) {
    fprintf(stderr, "usage: oakley COEFFICIENTS FIRST COUNT SEED VARIANCE normal|laplace\n");
    return 2;
  }
  job.first = strtoull(argv[2], NULL, 10);
  job.count = strtoull(argv[3], NULL, 10);
  job.seed = strtoull(argv[4], NULL, 10);
  job.variance = strtod(argv[5], NULL);
  job.is_laplace = strcmp(argv[6], "laplace") == 0;
  if (!read_function(&job.f, argv[1])) {
    fprintf(stderr, "oakley: %s: cannot be read\n", argv[1]);
    return 1;
  }
  if (!put_table(&job)) {
    fprintf(stderr, "oakley: the table cannot be written\n");
    return 1;
  }
  return 0;
}
