#include "models/grid/fit/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "models/grid/fit/nearby.h"

#define LOG_2PI 1.8378770664093454836

/* ---- predictions ----------------------------------------------------------------------------- */

struct predicting {
  const struct gpnn_grid_view *view;
  size_t n_parts;
  const struct gpnn_parameters *parameters; /* n_parts */
  const struct gpnn_grid_tasks *tasks;
  struct gpnn_grid_nearby *prediction; /* of each task */
};

static enum gpnn_status predict(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  struct predicting *p = context;
  (void)thread;
  return gpnn_grid_nearby_predict(&p->prediction[i], p->view, &p->parameters[i % p->n_parts],
                                  &p->tasks->task[i], gpnn_grid_nearby_usual, err);
}

/* The sum over a task's cells of squared errors, each divided by its variance. */
static double sum_ratios(const struct predicting *p, size_t i)
{
  const struct gpnn_grid_nearby *found = &p->prediction[i];
  double sum = 0;
  for (size_t t = 0; t < p->tasks->task[i].n; t++)
    sum += pow(found->y[t] - found->mean[t], 2) / found->variance[t];
  return sum;
}

static enum gpnn_status count_distinct(const struct predicting *p, struct gpnn_grid_score *score,
                                       struct gpnn_error *err)
{
  bool *seen = gpnn_alloc(p->view->grid->n_cells, 1, sizeof *seen);
  if (seen == NULL) return gpnn_fail_memory(err, "for scores");
  for (size_t i = 0; i < p->tasks->n; i++)
    for (size_t t = 0; t < p->tasks->task[i].n; t++) {
      size_t position = p->tasks->task[i].target[t];
      score->n_distinct += !seen[position];
      seen[position] = true;
    }
  free(seen);
  return GPNN_OK;
}

/* Trusts a factor from few cells in part only; errors of nothing at all not at all. */
static double temper(double factor, size_t n_distinct)
{
  static const double least = 1e-3;
  if (n_distinct >= GPNN_GRID_FEW_CELLS) return factor;
  return pow(fmax(factor, least), (double)n_distinct / GPNN_GRID_FEW_CELLS);
}

/* The mean of these ratios, and its standard error. */
static void find_factor(const struct predicting *p, struct gpnn_grid_score *score)
{
  double sum = 0, square = 0, n = (double)p->tasks->n;
  score->n_cells = 0;
  for (size_t i = 0; i < p->tasks->n; i++) {
    sum += sum_ratios(p, i);
    score->n_cells += p->tasks->task[i].n;
  }
  double cells = (double)score->n_cells;
  score->factor = score->n_cells > 0 ? sum / cells : 1;
  for (size_t i = 0; i < p->tasks->n; i++)
    square += pow(sum_ratios(p, i) - score->factor * (double)p->tasks->task[i].n, 2);
  score->factor_error = p->tasks->n > 1 ? sqrt(square * n / (n - 1)) / cells : 0;
  score->factor = temper(score->factor, score->n_distinct);
}

/* The target of an observed cell in its own units. */
static double target_of(const struct gpnn_dataset *dataset, size_t position)
{
  return dataset->scaling.y_mean + dataset->scaling.y_sd * dataset->y[position];
}

/* The negative log density of one cell, of the standardised target, and its squared error. */
static double lose(const struct predicting *p, const struct gpnn_dataset *dataset, size_t i,
                   size_t t, double factor, double *square)
{
  const struct gpnn_grid_nearby *found = &p->prediction[i];
  const struct gpnn_transform *transform = &p->parameters->transform;
  size_t position = p->tasks->task[i].target[t];
  double error = found->y[t] - found->mean[t], variance = factor * found->variance[t];
  double loss = 0.5 * (LOG_2PI + log(variance) + error * error / variance);
  if (transform->kind != GPNN_TRANSFORM_NONE) {
    double y = target_of(dataset, position), sd = dataset->scaling.y_sd;
    double z = gpnn_transform_apply(transform, y) - error;
    loss -= gpnn_transform_log_slope(transform, y) + log(sd);
    error = (y - gpnn_transform_invert(transform, z)) / sd;
  }
  *square += error * error;
  return loss;
}

/* Keeps what was predicted of each cell. */
static enum gpnn_status keep_errors(struct gpnn_grid_score *score, const struct predicting *p,
                                    struct gpnn_error *err)
{
  size_t k = 0;
  score->error = gpnn_alloc(score->n_cells, 1, sizeof *score->error);
  score->variance = gpnn_alloc(score->n_cells, 1, sizeof *score->variance);
  if (score->error == NULL || score->variance == NULL) return gpnn_fail_memory(err, "for scores");
  for (size_t i = 0; i < p->tasks->n; i++)
    for (size_t t = 0; t < p->tasks->task[i].n; t++, k++) {
      score->error[k] = p->prediction[i].y[t] - p->prediction[i].mean[t];
      score->variance[k] = p->prediction[i].variance[t];
    }
  return GPNN_OK;
}

static enum gpnn_status sum_up(struct gpnn_grid_score *score, const struct predicting *p,
                               const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  double sum = 0, square = 0;
  enum gpnn_status status = count_distinct(p, score, err);
  if (status != GPNN_OK) return status;
  find_factor(p, score);
  for (size_t i = 0; i < p->tasks->n; i++) {
    for (size_t t = 0; t < p->tasks->task[i].n; t++)
      score->loss[i] += lose(p, dataset, i, t, score->factor, &square);
    sum += score->loss[i];
  }
  if (score->n_cells == 0) return GPNN_OK;
  score->nll = sum / (double)score->n_cells;
  score->rmse = sqrt(square / (double)score->n_cells);
  if (isfinite(score->nll) && isfinite(score->rmse)) return keep_errors(score, p, err);
  return gpnn_fail(err, GPNN_ENUMERIC, "the density of a cell held out is not finite");
}

enum gpnn_status gpnn_grid_score(struct gpnn_grid_score *score, const struct gpnn_dataset *dataset,
                                 const struct gpnn_grid_view *view, size_t n_parts,
                                 const struct gpnn_parameters *parameters,
                                 const struct gpnn_grid_tasks *tasks, int threads,
                                 struct gpnn_error *err)
{
  struct predicting p = {view, n_parts, parameters, tasks, NULL};
  enum gpnn_status status = GPNN_OK;
  *score = (struct gpnn_grid_score){.n_tasks = tasks->n};
  p.prediction = gpnn_alloc(tasks->n, 1, sizeof *p.prediction);
  score->loss = gpnn_alloc(tasks->n, 1, sizeof *score->loss);
  if (p.prediction == NULL || score->loss == NULL) status = gpnn_fail_memory(err, "for scores");
  if (status == GPNN_OK)
    status = gpnn_threads_try(gpnn_threads_for(threads, tasks->n), tasks->n, 1, predict, &p, err);
  if (status == GPNN_OK) status = sum_up(score, &p, dataset, err);
  free(p.prediction);
  if (status != GPNN_OK) gpnn_grid_score_release(score);
  return status;
}

double gpnn_grid_score_gain(const struct gpnn_grid_score *a, const struct gpnn_grid_score *b,
                            double *standard_error)
{
  double n = (double)a->n_tasks, mean = 0, square = 0, cells = (double)a->n_cells;
  for (size_t i = 0; i < a->n_tasks; i++) mean += (b->loss[i] - a->loss[i]) / n;
  for (size_t i = 0; i < a->n_tasks; i++) square += pow(b->loss[i] - a->loss[i] - mean, 2);
  *standard_error = n > 1 ? sqrt(square / (n - 1) * n) / cells : 0;
  return mean * n / cells;
}

void gpnn_grid_score_release(struct gpnn_grid_score *score)
{
  free(score->loss);
  free(score->error);
  free(score->variance);
  memset(score, 0, sizeof *score);
}
