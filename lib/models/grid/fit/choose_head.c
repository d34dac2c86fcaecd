/* The distribution of errors around predictions: Gaussian, or Student's t. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "likelihood/scale.h"
#include "models/grid/fit/choose_private.h"

/* Fewer cells say nothing of the tails. */
enum { FEWEST_CELLS = 100, FOLDS = 5 };

static double gaussian_loss(double error, double variance)
{
  return 0.5 * (log(2 * M_PI * variance) + error * error / variance);
}

/* How much lower the mean loss per cell is than under the Gaussian, and the standard error of that
 * over tasks, whose cells' errors are correlated. */
static double gain_of(const struct gpnn_grid_choice *choice, const double *loss, double *error)
{
  const struct gpnn_grid_score *score = &choice->best.score;
  double n = (double)choice->tasks.n, sum = 0, squares = 0;
  for (size_t i = 0, k = 0; i < choice->tasks.n; i++) {
    double gain = 0;
    for (size_t t = 0; t < choice->tasks.task[i].n; t++, k++)
      gain += gaussian_loss(score->error[k], score->factor * score->variance[k]) - loss[k];
    sum += gain;
    squares += gain * gain;
  }
  double variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0;
  *error = sqrt(fmax(variance, 0) * n) / (double)score->n_cells;
  return sum / (double)score->n_cells;
}

/* Estimates Student's t, and takes it if that is asked for or if it predicts errors better that it
 * was not estimated from. */
static enum gpnn_status compare(struct gpnn_grid_choice *choice, const struct gpnn_scale_rows *rows,
                                double *loss, struct gpnn_grid_law *law, struct gpnn_error *err)
{
  const enum gpnn_likelihood student = GPNN_LIKELIHOOD_STUDENT;
  bool is_asked_for = choice->options->likelihood == GPNN_GRID_LIKELIHOOD_STUDENT;
  struct gpnn_scale_law found;
  double of_gain, of_log = 0;
  enum gpnn_status status = gpnn_scale_cross_losses(rows, student, false, FOLDS, 0, loss, err);
  if (status != GPNN_OK) return status;
  double gain = gain_of(choice, loss, &of_gain);
  if (!is_asked_for && !(gain > of_gain)) return GPNN_OK;
  status = gpnn_scale_fit(rows, student, false, &found, err);
  if (status == GPNN_OK) status = gpnn_scale_standard_error(rows, &found, &of_log, err);
  if (status != GPNN_OK) return status;
  *law = (struct gpnn_grid_law){.factor = found.scale.factor,
                                .factor_error = isfinite(of_log) ? found.scale.factor * of_log : 0,
                                .degrees = found.degrees,
                                .gain = gain};
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_choice_law(struct gpnn_grid_choice *choice, struct gpnn_grid_law *law,
                                      struct gpnn_error *err)
{
  const struct gpnn_grid_score *score = &choice->best.score;
  enum gpnn_grid_likelihood likelihood = choice->options->likelihood;
  size_t n = score->n_cells;
  *law = (struct gpnn_grid_law){.factor = score->factor, .factor_error = score->factor_error};
  if (likelihood == GPNN_GRID_LIKELIHOOD_GAUSSIAN || n == 0) return GPNN_OK;
  if (likelihood == GPNN_GRID_LIKELIHOOD_AUTO && score->n_distinct < FEWEST_CELLS) return GPNN_OK;
  double *scratch = gpnn_alloc(n, 3, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, "for the distribution of errors");
  for (size_t i = 0; i < n; i++) scratch[i] = 0;
  for (size_t i = n; i < 2 * n; i++) scratch[i] = 1;
  const struct gpnn_scale_rows rows = {.n = n,
                                       .y = score->error,
                                       .mean = scratch,
                                       .variance = score->variance,
                                       .misfit = scratch + n,
                                       .cluster_rows = GPNN_GRID_TASK_CELLS};
  enum gpnn_status status = compare(choice, &rows, scratch + 2 * n, law, err);
  free(scratch);
  return status;
}

/* Multiplies the variances of the process and its noise. */
static void multiply(struct gpnn_parameters *params, double factor)
{
  params->covariance.kernelscale *= factor;
  params->covariance.noise *= factor;
  for (size_t i = 0; i < params->grid.n_noise; i++) params->grid.noise[i] *= factor;
}

/* Sets what is held to its value again, from which rounding may have moved it; true if variances
 * are among it. */
static bool restore(struct gpnn_grid_choice *choice, enum gpnn_status *status,
                    struct gpnn_error *err)
{
  const struct gpnn_grid_choose_options *o = choice->options;
  struct gpnn_grid_numbers set;
  bool has_variances = false;
  *status = GPNN_OK;
  for (size_t i = 0; i < o->n_settings && *status == GPNN_OK; i++) {
    if (!o->settings[i].is_held) continue;
    *status = gpnn_parameters_grid_set(&choice->best.parameters, o->settings[i].name,
                                       o->settings[i].value, &set, err);
    has_variances = has_variances || set.factor == GPNN_GRID_FACTORS;
  }
  return has_variances;
}

enum gpnn_status gpnn_grid_choice_calibrate(struct gpnn_grid_choice *choice,
                                            const struct gpnn_grid_law *law, struct gpnn_error *err)
{
  struct gpnn_parameters *params = &choice->best.parameters;
  double factor = law->factor + law->factor_error;
  enum gpnn_status status;
  bool is_held = restore(choice, &status, err);
  if (status != GPNN_OK) return status;
  if (!is_held) multiply(params, factor);
  params->calibration.has_factor = !is_held;
  params->calibration.factor = is_held ? 1 : factor;
  if (law->degrees == 0) return GPNN_OK;
  params->likelihood = GPNN_LIKELIHOOD_STUDENT;
  params->scale = (struct gpnn_scale){.factor = is_held ? factor : 1};
  params->degrees = law->degrees;
  return GPNN_OK;
}
