#include "models/grid/fit/coordinates.h"

#include <math.h>

size_t gpnn_grid_n_noise(const struct gpnn_parameters *parameters)
{
  return parameters->grid.noise_factor > 0 ? parameters->grid.n_noise : 1;
}

size_t gpnn_grid_first_coordinate(const struct gpnn_parameters *parameters, size_t a)
{
  size_t n = 0;
  for (size_t i = 0; i < a; i++) n += gpnn_factor_n_coordinates(&parameters->grid.factor[i]);
  return n;
}

size_t gpnn_grid_n_coordinates(const struct gpnn_parameters *parameters)
{
  return gpnn_grid_first_coordinate(parameters, parameters->grid.n_factors) + 1 +
         gpnn_grid_n_noise(parameters);
}

void gpnn_grid_get_coordinates(const struct gpnn_parameters *parameters, double *coordinates)
{
  const struct gpnn_grid_process *grid = &parameters->grid;
  for (size_t a = 0; a < grid->n_factors; a++) {
    gpnn_factor_get_coordinates(&grid->factor[a], coordinates);
    coordinates += gpnn_factor_n_coordinates(&grid->factor[a]);
  }
  *coordinates++ = log(parameters->covariance.kernelscale);
  if (grid->noise_factor == 0) *coordinates = log(parameters->covariance.noise);
  for (size_t i = 0; grid->noise_factor > 0 && i < grid->n_noise; i++)
    coordinates[i] = log(grid->noise[i]);
}

void gpnn_grid_set_coordinates(struct gpnn_parameters *parameters, const double *coordinates)
{
  struct gpnn_grid_process *grid = &parameters->grid;
  for (size_t a = 0; a < grid->n_factors; a++) {
    gpnn_factor_set_coordinates(&grid->factor[a], coordinates);
    coordinates += gpnn_factor_n_coordinates(&grid->factor[a]);
  }
  parameters->covariance.kernelscale = exp(*coordinates++);
  if (grid->noise_factor == 0) parameters->covariance.noise = exp(*coordinates);
  for (size_t i = 0; grid->noise_factor > 0 && i < grid->n_noise; i++)
    grid->noise[i] = exp(coordinates[i]);
}
