#include "kernel/mean.h"

#include <string.h>

const char *const gpnn_mean_names[GPNN_MEANS] = {"zero", "constant", "linear", "regressors"};

size_t gpnn_mean_width(enum gpnn_mean mean, size_t d, size_t n_regressors)
{
  switch (mean) {
  case GPNN_MEAN_ZERO:
    return 0;
  case GPNN_MEAN_CONSTANT:
    return 1;
  case GPNN_MEAN_LINEAR:
    return 1 + d;
  case GPNN_MEAN_REGRESSORS:
    return 1 + n_regressors;
  }
  return 0;
}

void gpnn_mean_terms(enum gpnn_mean mean, size_t d, const double *x, size_t n_regressors,
                     const double *regressors, double *terms)
{
  if (mean == GPNN_MEAN_ZERO) return;
  *terms++ = 1;
  if (mean == GPNN_MEAN_LINEAR) memcpy(terms, x, d * sizeof *x);
  if (mean == GPNN_MEAN_REGRESSORS && n_regressors > 0)
    memcpy(terms, regressors, n_regressors * sizeof *regressors);
}

double gpnn_mean_value(enum gpnn_mean mean, const double *coefficients, size_t d, const double *x,
                       size_t n_regressors, const double *regressors)
{
  if (mean == GPNN_MEAN_ZERO) return 0;
  const double *terms = mean == GPNN_MEAN_LINEAR ? x : regressors;
  size_t n_terms = gpnn_mean_width(mean, d, n_regressors) - 1;
  double value = *coefficients++;
  for (size_t i = 0; i < n_terms; i++) value += coefficients[i] * terms[i];
  return value;
}
