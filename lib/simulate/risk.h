/*
 * risk: how good predictions from nearest neighbours are with any number of training rows, without
 * a data set of that size (Allison et al. 2023, algorithm 1; gpnn-methods-simulate(7), section 11).
 *
 * Test points are drawn, their m nearest of n training rows are found (simulate/neighbours.h), and
 * predictions with assumed parameters are scored against what the responses actually are,
 *   y = coefficient |x|^2 + function(x) + process(x) + noise,
 * for several assumptions at once on the same points and responses.
 *
 * Responses are either drawn at each point and its m neighbours, as published; or the scores are
 * their expectations given the points, in closed form: the same in the mean and with far less
 * error, as only the points are left to chance.
 *
 * Calling sequence: gpnn_risk_simulate(); any of the estimates below; gpnn_risk_release().
 */
#ifndef GPNN_SIMULATE_RISK_H
#define GPNN_SIMULATE_RISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/covariance.h"
#include "linalg/factors/jitter.h"
#include "simulate/function.h"
#include "simulate/neighbours.h"

/* The most test points, and the most held-out points. */
#define GPNN_RISK_MOST_POINTS 1000000000u

/* Where responses come from. */
struct gpnn_actual_model {
  const struct gpnn_function *function; /* NULL: zero */
  struct gpnn_covariance covariance;    /* isotropic; kernelscale may be 0: no process */
  double coefficient;                   /* of |x|^2 */
};

/* What predictions take them for: a process with mean coefficient |x|^2. */
struct gpnn_assumed_model {
  struct gpnn_covariance covariance; /* isotropic; kernelscale > 0 */
  double coefficient;
};

enum gpnn_risk_parameter {
  GPNN_RISK_LENGTHSCALE,
  GPNN_RISK_KERNELSCALE,
  GPNN_RISK_NOISE,
  GPNN_RISK_COEFFICIENT,
  GPNN_RISK_N_PARAMETERS
};

struct gpnn_risk_options {
  struct gpnn_inputs inputs;
  struct gpnn_actual_model actual;
  uint64_t n;       /* training rows */
  size_t m;         /* neighbours; 1 to n */
  size_t n_points;  /* test points; 1 to GPNN_RISK_MOST_POINTS */
  size_t n_heldout; /* further points to calibrate on; 0 to GPNN_RISK_MOST_POINTS */
  size_t n_draws;   /* training sets, > 0: each point is scored with each */
  bool by_search;   /* as in struct gpnn_neighbours_options */
  bool drawn;       /* draw responses instead of averaging over them */
  bool debias;      /* multiply means by 1 + noise / (m kernelscale) (gpnn-methods(7), eq. 3.11) */
  size_t n_assumed;
  const struct gpnn_assumed_model *assumed; /* n_assumed; put similar ones side by side: they share
                                               computations */
  uint64_t seed;
  int threads; /* > 0 */
  /* Called after 'n' more points, n_draws (n_points + n_heldout) in all; or NULL. */
  void (*progress)(void *context, size_t n);
  void *context;
};

/* For each assumption and each point, the means over the draws.  A zeroed object is empty and may
 * be released. */
struct gpnn_risk_result {
  size_t n_assumed, n_points, n_heldout, m;
  double *risk;               /* owned; n_assumed by n_points: E (mean - f)^2, f without noise */
  double *mse;                /* owned; n_assumed by n_points: E (mean - y)^2 */
  double *log_variance;       /* owned; n_assumed by n_points: log of the predictive variance */
  double *z2;                 /* owned; n_assumed by n_points: E (mean - y)^2 / variance */
  double *heldout_z2;         /* owned; n_assumed by n_heldout */
  struct gpnn_jitter jitter;  /* in units of y squared */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/*
 * Simulates into 'result', which must be zeroed; after a failure it still is.  Test point i is the
 * same for every n, m, draw and assumption, and so is held-out point i.  The result does not depend
 * on the number of threads.  GPNN_EINVAL: as gpnn_neighbours_new(), or a function that does not
 * take inputs.d inputs.  GPNN_ENUMERIC: a covariance matrix is not positive definite, or a
 * prediction not finite.  Memory: 32 bytes per point and assumption, besides what
 * gpnn_neighbours_new() takes.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_risk_simulate(struct gpnn_risk_result *result,
                                                    const struct gpnn_risk_options *options,
                                                    struct gpnn_error *err);

void gpnn_risk_release(struct gpnn_risk_result *result);

/* ---- estimates ---------------------------------------------------------------------------- */

/* A mean over the test points and its standard error, which is infinite for one point.  With
 * several draws a point counts once, with its mean over them: the points share each training set,
 * and the training sets share the points, so neither are independent. */
struct gpnn_estimate {
  double value, se;
};

/* Those of assumption 'a'; NLL and CAL with its variances multiplied by 'factor' (gpnn-methods(7),
 * section 9). */
struct gpnn_estimate gpnn_risk_of_mean(const struct gpnn_risk_result *result, size_t a);
struct gpnn_estimate gpnn_risk_mse(const struct gpnn_risk_result *result, size_t a);
struct gpnn_estimate gpnn_risk_nll(const struct gpnn_risk_result *result, size_t a, double factor);
struct gpnn_estimate gpnn_risk_cal(const struct gpnn_risk_result *result, size_t a, double factor);

/* The calibration factor: the mean of z^2 over the held-out points (gpnn-methods(7), equation 8.2);
 * NaN without any. */
struct gpnn_estimate gpnn_risk_factor(const struct gpnn_risk_result *result, size_t a);

/* ---- parameters --------------------------------------------------------------------------- */

/* Points of a five-point stencil: all but the middle one, whose coefficient is zero. */
enum { GPNN_STENCIL = 4 };

/* Writes 'centre' with 'parameter' changed by -2, -1, 1 and 2 times 'step' to 'stencil'.  False,
 * with nothing written, if a parameter that must be positive would not be. */
bool gpnn_risk_stencil(const struct gpnn_assumed_model *centre, enum gpnn_risk_parameter parameter,
                       double step, struct gpnn_assumed_model stencil[GPNN_STENCIL]);

/* The derivative of the risk, to O(step^4), from the assumptions that gpnn_risk_stencil() wrote,
 * of which 'first' is the first. */
struct gpnn_estimate gpnn_risk_derivative(const struct gpnn_risk_result *result, size_t first,
                                          double step);

/* Where a parameter's value is kept, to read or change it. */
double *gpnn_risk_parameter_value(struct gpnn_assumed_model *assumed,
                                  enum gpnn_risk_parameter parameter);

/* "lengthscale", "kernelscale", "noise" or "coefficient". */
const char *gpnn_risk_parameter_name(enum gpnn_risk_parameter parameter);

/* True if 'value' is finite and, except for the coefficient, positive. */
bool gpnn_risk_parameter_allows(enum gpnn_risk_parameter parameter, double value);

#endif
