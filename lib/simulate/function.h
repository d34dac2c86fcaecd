/*
 * function: known regression functions, whose predictions can be judged without noise.
 *
 *   oakley   the 15-dimensional function of Oakley and O'Hagan (2004), standardised: mean 0 and
 *            variance 1 over standard normal inputs
 *   waves    tanh( sum_j sin(sqrt(d) x_j) / sqrt(d)
 *                  + sum_{j odd} cos(sqrt(d) (x_j + x_{j+1})) / sqrt(d/2) ), of an even number d
 *            of inputs: bounded, Lipschitz, and truly d-dimensional where inputs have the variance
 *            1/d (gpnn-methods(7), equation 11.24)
 *   zero     0, of any number of inputs
 */
#ifndef GPNN_SIMULATE_FUNCTION_H
#define GPNN_SIMULATE_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

struct gpnn_function {
  const char *name;
  size_t d;        /* inputs it has; 0: any number */
  size_t multiple; /* of which that number has to be a multiple; 1: none */
  double (*value)(size_t d, const double *x);
};

/* The function called 'name', or NULL; function 'i' of the table, or NULL past the last. */
const struct gpnn_function *gpnn_function_by_name(const char *name);
const struct gpnn_function *gpnn_function_at(size_t i);

/* Whether it has 'd' inputs. */
bool gpnn_function_takes(const struct gpnn_function *function, size_t d);

#endif
