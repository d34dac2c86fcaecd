/*
 * simulate: how good predictions from nearest neighbours are at any number of training rows,
 * without a data set of that size (Allison et al. 2023, algorithm 1; gpnn-methods(7), section 11).
 *
 * Test points are drawn, their m nearest of n training rows are found (simulate/neighbours.h), and
 * the errors of predictions with assumed parameters are judged against a truth, y = coefficient
 * |x|^2 + function(x) + process(x) + noise, for several assumptions at once: places and responses
 * are the same for all.
 *
 * Responses are drawn, at the m + 1 places of each point, as published; or their expectations are
 * taken, given the places: a closed form, of the same mean and with far less error, as only the
 * places are left to chance.
 *
 * Calling sequence: gpnn_simulate(); then gpnn_simulated_*(); gpnn_simulated_release().
 */
#ifndef GPNN_SIMULATE_RISK_H
#define GPNN_SIMULATE_RISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "linalg/cholesky.h"
#include "simulate/function.h"
#include "simulate/kriging.h"
#include "simulate/neighbours.h"

/* Most test points, and as many held out. */
#define GPNN_SIMULATE_MOST 1000000000u

/* Where responses come from. */
struct gpnn_truth {
  const struct gpnn_function *function; /* NULL: zero */
  struct gpnn_isotropic covariance;     /* its kernelscale may be 0: no process */
  double coefficient;                   /* of |x|^2 */
};

/* What predictions take it for: a process about coefficient |x|^2. */
struct gpnn_assumed {
  struct gpnn_isotropic covariance; /* kernelscale > 0 */
  double coefficient;
};

enum gpnn_simulate_parameter {
  GPNN_SIMULATE_LENGTHSCALE,
  GPNN_SIMULATE_KERNELSCALE,
  GPNN_SIMULATE_NOISE,
  GPNN_SIMULATE_COEFFICIENT,
  GPNN_SIMULATE_N_PARAMETERS
};

struct gpnn_simulate_options {
  struct gpnn_inputs inputs;
  struct gpnn_truth truth;
  uint64_t n;      /* training rows */
  size_t m;        /* neighbours; at most n */
  size_t n_points; /* test points, 1 to GPNN_SIMULATE_MOST */
  size_t n_held;   /* further points, to calibrate on; at most as many */
  size_t n_draws;  /* training sets, > 0: each point is judged with each */
  bool by_search;  /* as struct gpnn_neighbours_options says */
  bool drawn;      /* responses are drawn, not averaged over */
  bool debias;     /* means are multiplied by 1 + noise / (m kernelscale) (gpnn-methods(7),
                      equation 3.11) */
  size_t n_assumed;
  const struct gpnn_assumed *assumed; /* alike ones best stand together: they share work */
  uint64_t seed;
  int threads;
  void (*tell)(void *context, size_t n); /* n more points are done, of n_draws times n_points and
                                            n_held; NULL: nobody asks */
  void *context;
};

/* Of each assumption and each point, means over the draws.  A zeroed object is empty and may be
 * released. */
struct gpnn_simulated {
  size_t n_assumed, n_points, n_held, m;
  double *risk;              /* owned; n_assumed by n_points: E (mean - f)^2, f without its noise */
  double *mse;               /* owned; n_assumed by n_points: E (mean - y)^2 */
  double *log_variance;      /* owned; n_assumed by n_points: log of the predictive variance */
  double *z2;                /* owned; n_assumed by n_points: E (mean - y)^2 / variance */
  double *held_z2;           /* owned; n_assumed by n_held */
  struct gpnn_jitter jitter; /* by unit of y squared */
};

/*
 * Simulates into 'simulated', which must be zeroed.  Test point i is the same for every n, m, draw
 * and assumption, and so is held-out point i.  GPNN_EINVAL: as gpnn_neighbours_new(), or a function
 * that has no such inputs.  GPNN_ENUMERIC: a covariance is not positive definite.  Memory: 32 bytes
 * a point and assumption, besides what gpnn_neighbours_new() takes.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_simulate(struct gpnn_simulated *simulated,
                                               const struct gpnn_simulate_options *options,
                                               struct gpnn_error *err);

void gpnn_simulated_release(struct gpnn_simulated *simulated);

/* ---- simulate_score.c: what came out ----------------------------------------------------------
 */

/* A mean over test points and its standard error, infinite from one point.  Where there are several
 * draws a point counts once, with its mean over them: points share the training set of a draw, and
 * draws share the points, so that neither is as good as new. */
struct gpnn_estimate {
  double value, se;
};

/* Of assumption 'a', with its variances multiplied by 'factor' (gpnn-methods(7), section 9). */
struct gpnn_estimate gpnn_simulated_risk(const struct gpnn_simulated *simulated, size_t a);
struct gpnn_estimate gpnn_simulated_mse(const struct gpnn_simulated *simulated, size_t a);
struct gpnn_estimate gpnn_simulated_nll(const struct gpnn_simulated *simulated, size_t a,
                                        double factor);
struct gpnn_estimate gpnn_simulated_cal(const struct gpnn_simulated *simulated, size_t a,
                                        double factor);

/* The factor of calibration: the mean of z^2 over the points held out (gpnn-methods(7), equation
 * 8.2). */
struct gpnn_estimate gpnn_simulated_factor(const struct gpnn_simulated *simulated, size_t a);

/* Assumptions of a five-point stencil: all but the middle one, which has no part in it. */
enum { GPNN_STENCIL = 4 };

/* Writes 'at' with one parameter less and more 1 and 2 times 'step' to 'stencil'.  False, with
 * nothing written: a parameter that has to be positive would not be. */
bool gpnn_simulate_stencil(const struct gpnn_assumed *at, enum gpnn_simulate_parameter parameter,
                           double step, struct gpnn_assumed stencil[GPNN_STENCIL]);

/* The derivative of the risk, to O(step^4), from the assumptions that gpnn_simulate_stencil()
 * wrote, of which 'first' is the first. */
struct gpnn_estimate gpnn_simulated_derivative(const struct gpnn_simulated *simulated, size_t first,
                                               double step);

/* ---- simulate_score.c: what theory says -------------------------------------------------------
 */

/* The value of a parameter, to look at or change. */
double *gpnn_simulate_value(struct gpnn_assumed *assumed, enum gpnn_simulate_parameter parameter);

/* "lengthscale" and so on; whether 'value' is finite, and positive where that is asked. */
const char *gpnn_simulate_name(enum gpnn_simulate_parameter parameter);
bool gpnn_simulate_allows(enum gpnn_simulate_parameter parameter, double value);

/* MSE, NLL and CAL as n goes to infinity, each but for O(m^-2) (gpnn-methods(7), equations 11.14 to
 * 11.16), where the noise variance is 'noise' and is taken for 'assumed'. */
struct gpnn_simulate_limits {
  double mse, nll, cal;
};
struct gpnn_simulate_limits gpnn_simulate_limits(double noise, double assumed, size_t m);

/* Stone's exponent -2p / (2p + d): how fast the risk can fall with n, for functions of smoothness
 * p of d inputs. */
double gpnn_simulate_exponent(double p, size_t d);

/* m_n = ceil(C n^(2p / (2p + d))), C being such that it is 'most' at n = 'largest'; at least 1
 * and at most n (gpnn-methods(7), equation 11.18). */
size_t gpnn_simulate_schedule(double p, size_t d, size_t most, uint64_t largest, uint64_t n);

#endif
