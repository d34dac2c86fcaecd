/*
 * synthetic: tables of simulated rows, in pieces that may be made in any order, and apart.
 *
 * A row has inputs x, the value f of a function there, and y = f + noise.  What it is depends on
 * the seed and its number alone.  Inputs, function, noise and those of other numbers are drawn
 * apart from each other: another law of the noise leaves inputs and function as they were.
 * The function is
 *   FUNCTION   a known one (simulate/function.h)
 *   EXACT      a draw of a Gaussian process, of at most GPNN_PROCESS_MOST rows
 *   FEATURES   nearly one, of any number of rows (simulate/process.h)
 *   LOCAL      a draw for each of any number of points and its nearest rows (see
 *              gpnn-methods(7), section 11): an item is the point, rank 0, and its m nearest
 *              of n rows, nearest first; rows of different points have nothing to do with each
 *              other
 * Warps are applied to the inputs that are told, not to those that the function sees.
 *
 * Calling sequence: gpnn_synthetic_new(), gpnn_synthetic_make() or gpnn_synthetic_write() any
 * number of times, gpnn_synthetic_free().
 */
#ifndef GPNN_SIMULATE_SYNTHETIC_H
#define GPNN_SIMULATE_SYNTHETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "simulate/function.h"
#include "simulate/neighbours.h"
#include "simulate/noise.h"
#include "simulate/process.h"
#include "table/stream.h"

enum gpnn_synthetic_kind {
  GPNN_SYNTHETIC_FUNCTION,
  GPNN_SYNTHETIC_EXACT,
  GPNN_SYNTHETIC_FEATURES,
  GPNN_SYNTHETIC_LOCAL,
};

/* Warps of a coordinate, which make a stationary process another (gpnn-methods(7), equation 11.25).
 */
enum gpnn_warp_law {
  GPNN_WARP_NONE,
  GPNN_WARP_NEGATIVE, /* (1 + gamma) x where x < 0 */
  GPNN_WARP_POWER,    /* x^(1 + gamma) where x > 0 */
  GPNN_WARP_CUBIC,    /* x + gamma x^3 */
};

struct gpnn_warp {
  enum gpnn_warp_law law;
  double gamma; /* >= 0 */
};

/* "negative", "power" or "cubic"; false if it is none. */
bool gpnn_warp_by_name(const char *name, enum gpnn_warp_law *law);

double gpnn_warp_value(const struct gpnn_warp *warp, double x);

struct gpnn_synthetic_options {
  enum gpnn_synthetic_kind kind;
  struct gpnn_inputs inputs;
  const struct gpnn_function *function; /* FUNCTION: of inputs.d inputs */
  struct gpnn_covariance process;       /* the others: isotropic, its noise is not used */
  size_t n_features;                    /* FEATURES */
  uint64_t n;                           /* EXACT: rows there are; LOCAL: rows to be near to */
  size_t m;                             /* LOCAL: neighbours, at most n */
  struct gpnn_noise noise;
  struct gpnn_warp warp;
  uint64_t seed;
  int threads;
};

struct gpnn_synthetic;

/*
 * Prepares; an EXACT process is drawn here (time n^3 / 3, memory 4 n^2 bytes).  GPNN_EINVAL: an
 * EXACT process of too many rows, inputs that are not of this dimension, or whose neighbours cannot
 * be had.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_synthetic_new(struct gpnn_synthetic **synthetic,
                                                    const struct gpnn_synthetic_options *options,
                                                    struct gpnn_error *err);

/* What it was made from; function and kernel are borrowed. */
const struct gpnn_synthetic_options *gpnn_synthetic_given(const struct gpnn_synthetic *synthetic);

/* Rows of an item: 1, or m + 1. */
size_t gpnn_synthetic_rows_each(const struct gpnn_synthetic *synthetic);

/*
 * Makes the rows of 'n' items from number 'first' on: 'x' (rows by d), 'f' and 'y' (rows).  On the
 * calling thread.  GPNN_ENUMERIC: a value that is not finite.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_synthetic_make(const struct gpnn_synthetic *synthetic,
                                                     uint64_t first, size_t n, double *x, double *f,
                                                     double *y, struct gpnn_error *err);

/* How rows are told: columns x1 ... xd [f] y, of LOCAL with point and rank in front. */
struct gpnn_synthetic_format {
  char delimiter;
  bool truth; /* whether f is among them */
};

/* Writes the names of the columns. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_synthetic_write_header(const struct gpnn_synthetic *synthetic,
                            const struct gpnn_synthetic_format *format, struct gpnn_output *output,
                            struct gpnn_error *err);

/* Makes rows as gpnn_synthetic_make() does, on all threads, and writes them in order, numbers in
 * their shortest form.  Memory is bounded, whatever 'n' is. */
GPNN_MUST_CHECK enum gpnn_status gpnn_synthetic_write(const struct gpnn_synthetic *synthetic,
                                                      const struct gpnn_synthetic_format *format,
                                                      uint64_t first, uint64_t n,
                                                      struct gpnn_output *output,
                                                      struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_synthetic_free(struct gpnn_synthetic *synthetic);

#endif
