/*
 * How well candidates predict cells held out, and the law that suits their errors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/threads.h"
#include "likelihood/scale.h"
#include "linalg/arrays.h"
#include "models/grid/fit/fit_private.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/fit/view.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"

/* ---- cells nearby ---------------------------------------------------------------------------- */

/* How many of the site's own cells, besides those to predict, other sites are to have cells near.
 */
enum { OWN_ANCHORS = 6, ANCHORS = GPNN_GRID_TASK_CELLS + OWN_ANCHORS };

/* A prediction in the making. */
struct search {
  const struct gpnn_grid_view *view;
  const struct gpnn_parameters *parameters;
  const struct gpnn_grid_task *task;
  double *near;    /* ANCHORS by inner: covariances of inner levels with those of anchors */
  double *of_site; /* of the first factor's levels with the task's site */
  bool *is_taken;  /* inner: of a site's cells */
  size_t n_anchors;
  struct gpnn_grid_nearby_size size;
  size_t *nearest;   /* size.sites: the sites most correlated with the task's */
  size_t n, *chosen; /* positions of cells */
};

/* Covariances of one level of factor 'a' with all. */
static void correlate(const struct search *s, size_t a, size_t level, double *k)
{
  const struct gpnn_grid_factor *factor = &s->view->grid->factor[a];
  const double *x = s->view->prepared[a];
  gpnn_factor_matrix(&s->parameters->grid.factor[a], factor->d, 1, x + level * factor->d, factor->n,
                     x, false, 1, k);
}

/* Covariances of the inner levels of a cell with all, to 'k' (inner): the product over the factors,
 * the last varying fastest.  'row' is scratch. */
static void correlate_inner(const struct search *s, size_t position, double *row, double *k)
{
  const struct gpnn_grid *grid = s->view->grid;
  size_t level[GPNN_GRID_FACTORS], after = s->view->inner;
  gpnn_grid_levels(grid, grid->cell[position], level);
  for (size_t j = 0; j < s->view->inner; j++) k[j] = 1;
  for (size_t a = 1; a < grid->n_factors; a++) {
    size_t n = grid->factor[a].n;
    correlate(s, a, level[a], row);
    after /= n;
    for (size_t j = 0; j < s->view->inner; j++) k[j] *= row[j / after % n];
  }
}

static size_t inner_of(const struct search *s, size_t position)
{
  return (size_t)s->view->grid->cell[position] % s->view->inner;
}

static bool may_use(const struct search *s, size_t site, size_t position)
{
  const struct gpnn_grid_task *task = s->task;
  size_t level[GPNN_GRID_FACTORS];
  if (site == task->site && task->is_hidden[position - s->view->first[site]]) return false;
  if (task->hidden_factor == 0) return true;
  gpnn_grid_levels(s->view->grid, s->view->grid->cell[position], level);
  size_t l = level[task->hidden_factor - 1];
  return l < task->hidden_first || l > task->hidden_last;
}

/* Takes up to 'most' cells of a site: in turn the one nearest to each of the first n_anchors. */
static void take_cells(struct search *s, size_t site, size_t n_anchors, size_t most)
{
  size_t first = s->view->first[site], end = s->view->first[site + 1], n = 0, missed = 0;
  for (size_t c = first; c < end; c++) s->is_taken[c - first] = !may_use(s, site, c);
  for (size_t turn = 0; n < most && missed < n_anchors; turn++) {
    const double *near = s->near + turn % n_anchors * s->view->inner;
    size_t best = SIZE_MAX;
    double highest = 0;
    for (size_t c = first; c < end; c++) {
      if (s->is_taken[c - first]) continue;
      double k = near[inner_of(s, c)];
      if (best != SIZE_MAX && k <= highest) continue;
      best = c;
      highest = k;
    }
    missed = best == SIZE_MAX ? missed + 1 : 0;
    if (best == SIZE_MAX) continue;
    s->is_taken[best - first] = true;
    s->chosen[s->n++] = best;
    n++;
  }
}

/* Adds anchors among the site's own cells, evenly from the nearest on. */
static void add_own_anchors(struct search *s, double *row)
{
  for (size_t i = 0, n = s->n; i < OWN_ANCHORS && i < n; i++) {
    size_t own = n <= OWN_ANCHORS ? i : i * (n - 1) / (OWN_ANCHORS - 1);
    correlate_inner(s, s->chosen[own], row, s->near + s->n_anchors++ * s->view->inner);
  }
}

/* Takes the cells of the sites most correlated with the task's. */
static void take_neighbours(struct search *s)
{
  size_t p = s->view->grid->factor[0].n, *near = s->nearest, n = 0, most = s->size.sites;
  correlate(s, 0, s->task->site, s->of_site);
  for (size_t i = 0; i < p; i++) {
    if (i == s->task->site || s->view->n_at[0][i] == 0) continue;
    if (n == most && s->of_site[i] <= s->of_site[near[n - 1]]) continue;
    size_t at = n < most ? n++ : most - 1;
    for (; at > 0 && s->of_site[near[at - 1]] < s->of_site[i]; at--) near[at] = near[at - 1];
    near[at] = i;
  }
  for (size_t i = 0; i < n; i++) take_cells(s, near[i], s->n_anchors, s->size.cells);
}

static void choose_cells(struct search *s, double *row)
{
  for (size_t t = 0; t < s->task->n; t++)
    correlate_inner(s, s->task->target[t], row, s->near + t * s->view->inner);
  s->n_anchors = s->task->n;
  take_cells(s, s->task->site, s->n_anchors, s->size.own_cells);
  add_own_anchors(s, row);
  take_neighbours(s);
  for (size_t t = 0; t < s->task->n; t++) s->chosen[s->n++] = s->task->target[t];
}

/* True if nothing may be known of the mean of the level that a task's cell is at. */
static bool loses_mean(const struct search *s)
{
  const struct gpnn_grid_task *task = s->task;
  size_t a = s->parameters->grid.mean_factor;
  if (a == 0) return false;
  if (a == task->hidden_factor) return true;
  size_t first = s->view->first[task->site], n = s->view->first[task->site + 1] - first;
  bool all = a == 1;
  for (size_t i = 0; i < n; i++) all = all && task->is_hidden[i];
  return all;
}

/* The cells that were chosen, those to predict last. */
static enum gpnn_status collect(const struct search *s, struct gpnn_grid_subset *cells,
                                struct gpnn_error *err)
{
  const double *prepared[GPNN_GRID_FACTORS];
  for (size_t a = 0; a < s->view->grid->n_factors; a++) prepared[a] = s->view->prepared[a];
  enum gpnn_status status =
      gpnn_grid_subset_collect(cells, s->view->grid, prepared, s->view->mean, s->n, s->chosen, err);
  if (status != GPNN_OK || !loses_mean(s)) return status;
  for (size_t t = 0; t < s->task->n; t++)
    cells->y[s->n - s->task->n + t] = s->view->grid->y[s->task->target[t]];
  return status;
}

enum gpnn_status gpnn_grid_nearby_collect(struct gpnn_grid_subset *cells,
                                          const struct gpnn_grid_view *view,
                                          const struct gpnn_parameters *parameters,
                                          const struct gpnn_grid_task *task,
                                          struct gpnn_grid_nearby_size size, struct gpnn_error *err)
{
  struct search s = {.view = view, .parameters = parameters, .task = task, .size = size};
  double *row;
  struct gpnn_arrays *arrays = GPNN_ARRAYS(
      GPNN_ARRAY(s.near, ANCHORS, view->inner), GPNN_ARRAY(s.of_site, view->grid->factor[0].n, 1),
      GPNN_ARRAY(s.is_taken, view->inner, 1), GPNN_ARRAY(s.nearest, size.sites, 1),
      GPNN_ARRAY(s.chosen, size.sites * size.cells + size.own_cells + task->n, 1),
      GPNN_ARRAY(row, view->inner, 1));
  if (arrays == NULL) return gpnn_fail_memory(err, "for cells held out");
  choose_cells(&s, row);
  enum gpnn_status status = collect(&s, cells, err);
  gpnn_arrays_free(arrays);
  return status;
}

enum gpnn_status gpnn_grid_nearby_predict(struct gpnn_grid_nearby *prediction,
                                          const struct gpnn_grid_view *view,
                                          const struct gpnn_parameters *parameters,
                                          const struct gpnn_grid_task *task,
                                          struct gpnn_grid_nearby_size size, struct gpnn_error *err)
{
  struct gpnn_grid_subset cells = {0};
  double value;
  enum gpnn_status status = gpnn_grid_nearby_collect(&cells, view, parameters, task, size, err);
  if (status == GPNN_OK)
    status = gpnn_grid_likelihood_conditional(&cells, task->n, parameters, prediction->mean,
                                              prediction->variance, &value, NULL, err);
  for (size_t t = 0; t < task->n && status == GPNN_OK; t++)
    prediction->y[t] = cells.y[cells.n - task->n + t];
  gpnn_grid_subset_release(&cells);
  return status;
}

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
  double loss = 0.5 * (GPNN_LOG_TWO_PI + log(variance) + error * error / variance);
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
  score->mean = gpnn_alloc(score->n_cells, 1, sizeof *score->mean);
  score->variance = gpnn_alloc(score->n_cells, 1, sizeof *score->variance);
  if (score->error == NULL || score->mean == NULL || score->variance == NULL)
    return gpnn_fail_memory(err, "for scores");
  for (size_t i = 0; i < p->tasks->n; i++)
    for (size_t t = 0; t < p->tasks->task[i].n; t++, k++) {
      score->error[k] = p->prediction[i].y[t] - p->prediction[i].mean[t];
      score->mean[k] = p->view->grid->y[p->tasks->task[i].target[t]] - score->error[k];
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

double gpnn_grid_score_variance(const struct gpnn_grid_score *score)
{
  double sum = 0;
  for (size_t i = 0; i < score->n_cells; i++) sum += log(score->variance[i]);
  return exp(sum / (double)score->n_cells);
}

void gpnn_grid_score_release(struct gpnn_grid_score *score)
{
  free(score->loss);
  free(score->error);
  free(score->mean);
  free(score->variance);
  memset(score, 0, sizeof *score);
}

/* ---- the law of errors ----------------------------------------------------------------------- */

/* The distribution of errors around predictions is Gaussian, or Student's t, whose scale may depend
 * on the mean. */

/* Fewer cells say nothing of the tails. */
enum { FEWEST_CELLS = 100, FOLDS = 5 };

/* Laws that compete: the cells, and the loss of each under the best law so far and another one. */
struct contest {
  const struct gpnn_grid_choice *choice;
  struct gpnn_scale_rows rows;
  double *loss, *other;
};

/* How much lower the mean loss per cell is under the other law, and the standard error of that over
 * tasks, whose cells' errors are correlated. */
static double gain_of(const struct contest *c, double *error)
{
  const struct gpnn_grid_tasks *tasks = &c->choice->tasks;
  double n = (double)tasks->n, sum = 0, squares = 0;
  for (size_t i = 0, k = 0; i < tasks->n; i++) {
    double gain = 0;
    for (size_t t = 0; t < tasks->task[i].n; t++, k++) gain += c->loss[k] - c->other[k];
    sum += gain;
    squares += gain * gain;
  }
  double variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0;
  *error = sqrt(fmax(variance, 0) * n) / (double)c->rows.n;
  return sum / (double)c->rows.n;
}

/* What no degrees of freedom are few enough for, as most errors of rain are next to nothing beside
 * the others, is given the factor by which intervals of 95 % cover as many of the cells. */
static void widen(const struct contest *c, struct gpnn_scale_law *law)
{
  const double level = 0.95, nearly = 1.001;
  size_t n = c->rows.n;
  double *z = c->other; /* which is free */
  if (law->degrees > nearly * GPNN_SCALE_FEWEST_DEGREES) return;
  for (size_t k = 0; k < n; k++) {
    const struct gpnn_latent_row row = {
        .mean = c->rows.mean[k], .variance = c->rows.variance[k], .misfit = 1, .nearest = 1};
    double square = gpnn_scale_factor(&law->scale, &row, 0) * row.variance;
    z[k] = fabs(c->rows.y[k] - row.mean) / sqrt(square);
  }
  qsort(z, n, sizeof *z, gpnn_compare_doubles);
  double wider = z[(size_t)(level * (double)n)] / gpnn_student_half_width(level, law->degrees);
  law->scale.factor *= fmax(1, wider * wider);
}

/* Estimates a law, and takes it if that is asked for or if it predicts errors better that it was
 * not estimated from. */
static enum gpnn_status try_law(struct contest *c, enum gpnn_likelihood likelihood,
                                bool is_asked_for, struct gpnn_grid_law *law,
                                struct gpnn_error *err)
{
  bool is_local = likelihood == GPNN_LIKELIHOOD_LOCAL;
  struct gpnn_scale_law found;
  double of_gain, of_log = 0, *loss = c->loss;
  enum gpnn_status status =
      gpnn_scale_cross_losses(&c->rows, likelihood, is_local, FOLDS, 0, c->other, NULL, err);
  if (status != GPNN_OK) return status;
  double gain = gain_of(c, &of_gain);
  if (!is_asked_for && !(gain > of_gain)) return GPNN_OK;
  c->loss = c->other;
  c->other = loss;
  status = gpnn_scale_fit(&c->rows, likelihood, is_local, &found, err);
  if (status == GPNN_OK) status = gpnn_scale_standard_error(&c->rows, &found, &of_log, err);
  if (status != GPNN_OK) return status;
  widen(c, &found);
  *law = (struct gpnn_grid_law){.likelihood = likelihood,
                                .factor = found.scale.factor,
                                .factor_error = isfinite(of_log) ? found.scale.factor * of_log : 0,
                                .scale = found.scale,
                                .degrees = found.degrees,
                                .gain = law->gain + gain};
  return GPNN_OK;
}

static enum gpnn_status compare_laws(struct contest *c, struct gpnn_grid_law *law,
                                     struct gpnn_error *err)
{
  const struct gpnn_grid_score *score = &c->choice->best.score;
  enum gpnn_grid_likelihood asked = c->choice->options->likelihood;
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < c->rows.n; k++)
    c->loss[k] = gpnn_normal_nll(score->error[k], sqrt(score->factor * score->variance[k]));
  if (asked != GPNN_GRID_LIKELIHOOD_LOCAL)
    status = try_law(c, GPNN_LIKELIHOOD_STUDENT, asked == GPNN_GRID_LIKELIHOOD_STUDENT, law, err);
  if (status == GPNN_OK && asked != GPNN_GRID_LIKELIHOOD_STUDENT)
    status = try_law(c, GPNN_LIKELIHOOD_LOCAL, asked == GPNN_GRID_LIKELIHOOD_LOCAL, law, err);
  return status;
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
  double *y, *misfit;
  struct contest c = {.choice = choice};
  struct gpnn_arrays *arrays = GPNN_ARRAYS(GPNN_ARRAY(y, n, 1), GPNN_ARRAY(misfit, n, 1),
                                           GPNN_ARRAY(c.loss, n, 1), GPNN_ARRAY(c.other, n, 1));
  if (arrays == NULL) return gpnn_fail_memory(err, "for the distribution of errors");
  for (size_t k = 0; k < n; k++) {
    y[k] = score->mean[k] + score->error[k];
    misfit[k] = 1;
  }
  c.rows = (struct gpnn_scale_rows){.n = n,
                                    .y = y,
                                    .mean = score->mean,
                                    .variance = score->variance,
                                    .misfit = misfit,
                                    .cluster_rows = GPNN_GRID_TASK_CELLS};
  enum gpnn_status status = compare_laws(&c, law, err);
  gpnn_arrays_free(arrays);
  return status;
}

double gpnn_grid_law_relative(const struct gpnn_grid_law *law, double mean)
{
  const struct gpnn_latent_row row = {.mean = mean, .variance = 1, .misfit = 1, .nearest = 1};
  return law->degrees > 0 ? gpnn_scale_factor(&law->scale, &row, 0) / law->scale.factor : 1;
}

double gpnn_grid_law_size(const struct gpnn_grid_law *law, size_t n, const double *square)
{
  enum { MOST_STEPS = 100 };
  static const double precise = 1e-6;
  double size = 0, nu = law->degrees, before = 0;
  for (size_t i = 0; i < n; i++) size += square[i] / (double)n;
  for (int step = 0; step < MOST_STEPS && nu > 0 && fabs(size - before) > precise * size; step++) {
    before = size;
    size = 0;
    for (size_t i = 0; i < n; i++)
      size += (nu + 1) * square[i] / (nu + square[i] / before) / (double)n;
  }
  return size;
}

enum gpnn_status gpnn_grid_score_size(const struct gpnn_grid_score *score,
                                      const struct gpnn_grid_law *law, double *size,
                                      struct gpnn_error *err)
{
  double *square = gpnn_alloc(score->n_cells, 1, sizeof *square);
  if (square == NULL) return gpnn_fail_memory(err, "for cells held out");
  for (size_t i = 0; i < score->n_cells; i++)
    square[i] = score->error[i] * score->error[i] / score->variance[i] /
                gpnn_grid_law_relative(law, score->mean[i]);
  *size = law->degrees > 0 ? gpnn_grid_law_size(law, score->n_cells, square) : score->factor;
  free(square);
  return GPNN_OK;
}

/* Multiplies the variances of the process and its noise. */
static void multiply_variances(struct gpnn_parameters *params, double factor)
{
  params->covariance.kernelscale *= factor;
  params->covariance.noise *= factor;
  for (size_t i = 0; i < params->grid.n_noise; i++) params->grid.noise[i] *= factor;
}

/* Sets what is held to its value again, from which rounding may have moved it; true if variances
 * are among it. */
static bool restore_held(struct gpnn_grid_choice *choice, enum gpnn_status *status,
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
  bool is_held = restore_held(choice, &status, err);
  if (status != GPNN_OK) return status;
  if (!is_held) multiply_variances(params, factor);
  params->calibration.has_factor = !is_held;
  params->calibration.factor = is_held ? 1 : factor;
  params->likelihood = law->likelihood;
  if (law->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) return GPNN_OK;
  params->scale = law->scale;
  params->scale.factor = is_held ? factor : 1;
  params->degrees = law->degrees;
  return GPNN_OK;
}
