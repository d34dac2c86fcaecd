/*
 * class_rows: training rows of classes, and their probabilities by elimination in long double,
 * which shares no code with the library.
 */
#ifndef GPNN_TESTS_CLASS_ROWS_H
#define GPNN_TESTS_CLASS_ROWS_H

#include "base/compare.h"
#include "base/rng.h"
#include "dataset/dataset.h"
#include "dense.h"
#include "kernel/parameters.h"
#include "unit.h"

enum { CLASS_ROWS = 90, CLASS_INPUTS = 3, CLASS_POINTS = 40, CLASSES_MOST = 6 };

struct class_rows {
  double x[CLASS_ROWS * CLASS_INPUTS], y[CLASS_ROWS], points[CLASS_POINTS * CLASS_INPUTS];
  uint32_t group[CLASS_INPUTS];
  char names[CLASSES_MOST][2], *levels[CLASSES_MOST];
  size_t lengths[CLASSES_MOST];
  double bias[CLASSES_MOST], lengthscale[CLASS_INPUTS];
  struct gpnn_dataset dataset;
  struct gpnn_parameters params;
};

static inline void class_rows_init(struct class_rows *r, size_t n_classes, size_t neighbours)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  *r = (struct class_rows){0};
  for (size_t i = 0; i < CLASS_ROWS * CLASS_INPUTS; i++) r->x[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < CLASS_POINTS * CLASS_INPUTS; i++) r->points[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < CLASS_ROWS; i++) {
    double at = r->x[i * CLASS_INPUTS] + 0.3 * gpnn_rng_normal(&rng);
    double c = floor((double)n_classes * (0.5 + at / 4));
    r->y[i] = fmax(0, fmin((double)n_classes - 1, c));
  }
  for (size_t j = 0; j < CLASS_INPUTS; j++) {
    r->group[j] = (uint32_t)j;
    r->lengthscale[j] = 0.9 + 0.4 * (double)j;
  }
  for (size_t c = 0; c < n_classes; c++) {
    r->names[c][0] = (char)('a' + c);
    r->levels[c] = r->names[c];
    r->lengths[c] = 1;
    r->bias[c] = 0.2 * (double)c - 0.3;
  }
  r->dataset = (struct gpnn_dataset){.n = CLASS_ROWS,
                                     .d = CLASS_INPUTS,
                                     .n_groups = CLASS_INPUTS,
                                     .group = r->group,
                                     .x = r->x,
                                     .y = r->y,
                                     .schema.target = {.name = r->names[0],
                                                       .kind = GPNN_COLUMN_CLASSES,
                                                       .n_levels = n_classes,
                                                       .levels = r->levels,
                                                       .level_lengths = r->lengths},
                                     .scaling.y_sd = 1};
  r->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = CLASS_INPUTS,
                                       .covariance.lengthscale = r->lengthscale,
                                       .covariance.kernelscale = 1,
                                       .covariance.noise = 0.2,
                                       .likelihood = GPNN_LIKELIHOOD_CATEGORICAL,
                                       .link = {.slope = 4,
                                                .evidence = 0.3,
                                                .floor = 0.02,
                                                .spread = 0.4,
                                                .n_bias = n_classes,
                                                .bias = r->bias},
                                       .neighbours = neighbours};
}

/* A training row and its distance. */
struct class_near {
  double distance;
  size_t row;
};

/* Lists the 'm' training rows nearest to 'x' in the metric of the parameters, without row 'self'
 * (-1: all of them); returns how many there are. */
static inline size_t class_rows_near(const struct class_rows *r, const double *x, int64_t self,
                                     size_t m, size_t *near)
{
  struct class_near all[CLASS_ROWS] = {{0, 0}};
  size_t n = 0;
  for (size_t i = 0; i < CLASS_ROWS; i++) {
    double r2 = 0;
    for (size_t j = 0; j < CLASS_INPUTS; j++)
      r2 += pow((r->x[i * CLASS_INPUTS + j] - x[j]) / r->lengthscale[j], 2);
    if ((int64_t)i != self) all[n++] = (struct class_near){r2, i};
  }
  qsort(all, n, sizeof *all, gpnn_compare_doubles);
  for (size_t a = 0; a < m && a < n; a++) near[a] = all[a].row;
  return m < n ? m : n;
}

/* The weights of these rows and the share of the variance at 'x' that they leave, by elimination.
 */
static inline double class_rows_weigh(const struct class_rows *r, const double *x, size_t m,
                                      const size_t *near, double *weight)
{
  const struct gpnn_covariance *c = &r->params.covariance;
  long double *a = malloc(m * m * sizeof *a), *w = calloc(m, sizeof *w), *k = calloc(m, sizeof *k);
  long double v = 1;
  for (size_t i = 0; i < m; i++) {
    const double *row = r->x + near[i] * CLASS_INPUTS;
    for (size_t j = 0; j < m; j++)
      a[i * m + j] = dense_kernel(c->kernel->name, CLASS_INPUTS, row, r->x + near[j] * CLASS_INPUTS,
                                  CLASS_INPUTS, r->lengthscale) +
                     (i == j ? (long double)c->noise / c->kernelscale : 0);
    w[i] = k[i] = dense_kernel(c->kernel->name, CLASS_INPUTS, row, x, CLASS_INPUTS, r->lengthscale);
  }
  long double *kappa = malloc(m * sizeof *kappa);
  memcpy(kappa, k, m * sizeof *k);
  dense_solve(m, a, w, k);
  for (size_t i = 0; i < m; i++) {
    weight[i] = (double)w[i];
    v -= kappa[i] * w[i];
  }
  free(a);
  free(w);
  free(k);
  free(kappa);
  return (double)v;
}

/* The probabilities of the classes at 'x', as gpnn-methods-classes(7) has them. */
static inline void class_rows_classify(const struct class_rows *r, const double *x, int64_t self,
                                       size_t m, double *p)
{
  const struct gpnn_link *link = &r->params.link;
  size_t near[CLASS_ROWS] = {0}, n = link->n_bias;
  double weight[CLASS_ROWS], sum = 0, total = 0;
  m = class_rows_near(r, x, self, m, near);
  double v = class_rows_weigh(r, x, m, near, weight);
  for (size_t a = 0; a < m; a++) sum += weight[a];
  for (size_t c = 0; c < n; c++) {
    double of_class = 0, h = 0;
    for (size_t i = 0; i < CLASS_ROWS; i++) of_class += r->y[i] == (double)c;
    double share = (of_class + 0.5) / (CLASS_ROWS + 0.5 * (double)n);
    for (size_t a = 0; a < m; a++) h += r->y[near[a]] == (double)c ? weight[a] : 0;
    h -= share * sum;
    double q = log(1 + exp(20 * (h + share))) / 20 + link->floor;
    double q0 = log(1 + exp(20 * share)) / 20 + link->floor;
    double z = link->slope * h + link->evidence * log(q / q0);
    p[c] = exp(link->bias[c] + z / sqrt(1 + link->spread * v));
    total += p[c];
  }
  for (size_t c = 0; c < n; c++) p[c] /= total;
}

#endif
