/*
 * function: known regression functions, so that predictions can be scored without noise.
 *
 *   oakley   the 15-dimensional function of Oakley and O'Hagan (2004), standardised to mean 0
 *            and variance 1 over standard normal inputs
 *   waves    tanh( sum_j sin(sqrt(d) x_j) / sqrt(d)
 *                  + sum_{j odd} cos(sqrt(d) (x_j + x_{j+1})) / sqrt(d/2) ), for an even number
 *            d of inputs: bounded, Lipschitz, and truly d-dimensional for inputs with variance 1/d
 *            (gpnn-methods-simulate(7), equation 11.24)
 *   zero     0, for any number of inputs
 */
#ifndef GPNN_SIMULATE_FUNCTION_H
#define GPNN_SIMULATE_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

struct gpnn_function {
  const char *name;
  size_t d; /* inputs; 0: any multiple of 'multiple' >= 1 */
  size_t multiple;
  double (*value)(size_t d, const double *x);
};

/* The function called 'name', or NULL if there is none. */
const struct gpnn_function *gpnn_function_by_name(const char *name);

/* Function 'i' of the table, or NULL past the last. */
const struct gpnn_function *gpnn_function_at(size_t i);

/* True if the function can take 'd' inputs; never for d = 0. */
bool gpnn_function_takes(const struct gpnn_function *function, size_t d);

#endif
