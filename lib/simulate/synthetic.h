/*
 * synthetic: tables of simulated rows, which may be made in any order and in separate pieces.
 *
 * A row has inputs x, the value f of a function there, and a target y drawn given f: f + noise, a
 * class or a count (simulate/observation.h).  It depends on the seed and its number alone.  Inputs,
 * functions, exposures and targets have random numbers of their own: changing the distribution of
 * the target leaves the others as they were.  Where the target is a class, each class has a
 * function of its own; the first ones do not depend on how many there are.
 * The function is
 *   FUNCTION   a known one (simulate/function.h); not for classes
 *   EXACT      a draw of a Gaussian process, of at most GPNN_PROCESS_MOST rows
 *   FEATURES   an approximate draw, of any number of rows (simulate/process.h)
 *   LOCAL      a separate draw for each point and its nearest rows, for any number of points (see
 *              gpnn-methods-simulate(7), section 11): an item is the point, with rank 0, and its m
 *              nearest of n rows, nearest first; rows of different points are independent
 * Warps change the inputs that are written, not those that the function is evaluated at.
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
#include "simulate/observation.h"
#include "simulate/process.h"
#include "table/stream.h"

enum gpnn_synthetic_kind {
  GPNN_SYNTHETIC_FUNCTION,
  GPNN_SYNTHETIC_EXACT,
  GPNN_SYNTHETIC_FEATURES,
  GPNN_SYNTHETIC_LOCAL,
};

/* Warps of a coordinate, which make a stationary process non-stationary (gpnn-methods-simulate(7),
 * equation 11.25).  For gamma = 0 each is the identity. */
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

double gpnn_warp_value(const struct gpnn_warp *warp, double x);

struct gpnn_synthetic_options {
  enum gpnn_synthetic_kind kind;
  struct gpnn_inputs inputs;
  const struct gpnn_function *function; /* FUNCTION: takes inputs.d inputs */
  struct gpnn_covariance process;       /* the others; isotropic; its noise is not used */
  size_t n_features;                    /* FEATURES */
  uint64_t n;                           /* EXACT: rows in all; LOCAL: training rows */
  size_t m;                             /* LOCAL: neighbours, at most n */
  struct gpnn_observation observation;
  double exposure_range; /* > 1: counts have exposures, from its inverse to itself, whose logarithms
                            are uniform; otherwise exposures are 1 */
  struct gpnn_warp warp;
  uint64_t seed;
  int threads;
};

struct gpnn_synthetic;

/*
 * Prepares.  An EXACT process is drawn here (time n^3 / 3, memory 4 n^2 bytes, for any number of
 * classes).  GPNN_EINVAL: too many rows for an EXACT process, a disk with other than two inputs, or
 * neighbours that gpnn_neighbours_new() refuses.  GPNN_ENUMERIC: as gpnn_process_draw().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_synthetic_new(struct gpnn_synthetic **synthetic,
                                                    const struct gpnn_synthetic_options *options,
                                                    struct gpnn_error *err);

/* The options it was made with; their function and kernel must outlive it. */
const struct gpnn_synthetic_options *gpnn_synthetic_given(const struct gpnn_synthetic *synthetic);

/* True if rows have exposures other than 1. */
bool gpnn_synthetic_has_exposure(const struct gpnn_synthetic *synthetic);

/* Rows per item: 1, or m + 1 for LOCAL. */
size_t gpnn_synthetic_rows_each(const struct gpnn_synthetic *synthetic);

/* Where rows go; the arrays are the caller's. */
struct gpnn_synthetic_rows {
  double *x;        /* rows by d */
  double *truth;    /* rows by gpnn_observation_functions(): f, probabilities or expectation */
  double *y;        /* rows; classes by their numbers, from 0 on */
  double *exposure; /* rows */
};

/*
 * Makes the rows of 'n' items from number 'first' on.  Runs on the calling thread and may run on
 * several at once.  Of an EXACT process, first + n must not exceed its rows.  GPNN_ENUMERIC: a
 * value is not finite, or a count too large (simulate/observation.h).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_synthetic_make(const struct gpnn_synthetic *synthetic,
                                                     uint64_t first, size_t n,
                                                     const struct gpnn_synthetic_rows *rows,
                                                     struct gpnn_error *err);

/*
 * How rows are written: columns x1 ... xd [exposure] [truth] y; for LOCAL preceded by point and
 * rank.  The columns of the truth are f, of classes p_c1 ... p_cK, of counts mean; classes are
 * called c1 ... cK, with as many digits as K has, so that the order of numbers is that of names.
 */
struct gpnn_synthetic_format {
  char delimiter;
  bool truth; /* write it */
};

/* Writes the names of the columns. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_synthetic_write_header(const struct gpnn_synthetic *synthetic,
                            const struct gpnn_synthetic_format *format, struct gpnn_output *output,
                            struct gpnn_error *err);

/* Makes rows as gpnn_synthetic_make() does, on all threads, and writes them in order, with numbers
 * in their shortest form.  Memory does not grow with 'n', which may be 0. */
GPNN_MUST_CHECK enum gpnn_status gpnn_synthetic_write(const struct gpnn_synthetic *synthetic,
                                                      const struct gpnn_synthetic_format *format,
                                                      uint64_t first, uint64_t n,
                                                      struct gpnn_output *output,
                                                      struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_synthetic_free(struct gpnn_synthetic *synthetic);

#endif
