/* Estimation of processes on grids: what is held out, and what is found. */
#include "models/grid/fit/fit.h"

#include "base/rng.h"
#include "models/grid/fit/choose.h"
#include "models/grid/fit/fit_private.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/fit/view.h"
#include "models/grid/root.h"
#include "unit.h"

enum { P = 30, Q = 24 };

/* A grid of sites on a line by times, with a process that its targets can be drawn from. */
struct fixture {
  struct gpnn_grid grid;
  struct gpnn_grid_factor factor[2];
  double site[P], time[Q], y[P * Q];
  int64_t cell[P * Q];
  struct gpnn_factor process[2];
  struct gpnn_parameters parameters;
  struct gpnn_grid_view view;
};

/* Keeps the cells that 'observed' says. */
static void make(struct fixture *f, bool (*observed)(size_t i, size_t j))
{
  memset(f, 0, sizeof *f);
  f->factor[0] = (struct gpnn_grid_factor){.name = "site", .n = P, .d = 1, .x = f->site};
  f->factor[1] = (struct gpnn_grid_factor){.name = "time", .n = Q, .d = 1, .x = f->time};
  f->grid = (struct gpnn_grid){.n_factors = 2, .factor = f->factor, .cell = f->cell, .y = f->y};
  for (size_t i = 0; i < P; i++) f->site[i] = 0.1 * (double)i;
  for (size_t j = 0; j < Q; j++) f->time[j] = (double)j;
  for (size_t i = 0; i < P; i++)
    for (size_t j = 0; j < Q; j++)
      if (observed(i, j)) f->cell[f->grid.n_cells++] = (int64_t)(i * Q + j);
  f->grid.n_observations = f->grid.n_cells;
  f->parameters.grid.n_factors = 2;
  f->parameters.grid.factor = f->process;
  f->parameters.covariance.kernelscale = 1;
  f->parameters.covariance.noise = 0.05;
  for (size_t a = 0; a < 2; a++)
    assert_ok(gpnn_factor_parse(&f->process[a], "matern32", 1, 0, true, &err));
  f->process[1].term[0].lengthscale[0] = 6;
  assert_ok(gpnn_grid_view_make(&f->view, &f->grid, &f->parameters, &err));
}

/* Targets of the process. */
static void draw(struct fixture *f, uint64_t seed)
{
  double k[2][P * P], z[P * Q], half[P * Q] = {0};
  struct gpnn_grid_root root[2] = {{0}};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  gpnn_rng_normals(&rng, P * Q, z);
  for (size_t a = 0; a < 2; a++) {
    size_t n = f->factor[a].n;
    gpnn_factor_matrix(&f->process[a], 1, n, f->factor[a].x, n, f->factor[a].x, true, 1, k[a]);
    assert_ok(gpnn_grid_root_make(&root[a], n, k[a], &err));
  }
  for (size_t i = 0; i < P; i++)
    for (size_t l = 0; l < P; l++)
      for (size_t j = 0; j < Q; j++) half[i * Q + j] += root[0].f[i * P + l] * z[l * Q + j];
  for (size_t c = 0; c < f->grid.n_cells; c++) {
    size_t i = (size_t)f->cell[c] / Q, j = (size_t)f->cell[c] % Q;
    f->y[c] = sqrt(0.05) * gpnn_rng_normal(&rng);
    for (size_t l = 0; l < Q; l++) f->y[c] += half[i * Q + l] * root[1].f[j * Q + l];
  }
  gpnn_grid_root_release(&root[0]);
  gpnn_grid_root_release(&root[1]);
}

static void release(struct fixture *f)
{
  gpnn_grid_view_release(&f->view);
  gpnn_factor_release(&f->process[0]);
  gpnn_factor_release(&f->process[1]);
}

static bool all(size_t i, size_t j)
{
  (void)i;
  (void)j;
  return true;
}

/* Two thirds of the sites end early. */
static bool trailing(size_t i, size_t j)
{
  return i % 3 == 0 || j < 2 + i % 17;
}

/* Times 5 and 6 were observed nowhere. */
static bool without_times(size_t i, size_t j)
{
  (void)i;
  return j != 5 && j != 6;
}

/* Nothing was observed at the last three times. */
static bool without_an_end(size_t i, size_t j)
{
  (void)i;
  return j + 3 < Q;
}

static void held_out_ends_are_ends(void **state)
{
  (void)state;
  struct fixture f;
  make(&f, trailing);
  for (uint64_t number = 0; number < 200; number++) {
    struct gpnn_grid_task task = {0};
    assert_ok(gpnn_grid_task_draw(&task, &f.view, GPNN_GRID_HOLDOUT_AUTO, 1, number, &err));
    assert_true(task.n > 0);
    assert_int_equal(task.hidden_factor, 0);
    size_t first = f.view.first[task.site], n = f.view.first[task.site + 1] - first;
    for (size_t i = 1; i < n; i++) assert_true(task.is_hidden[i] >= task.is_hidden[i - 1]);
    for (size_t t = 0; t < task.n; t++) {
      assert_in_range(task.target[t], first, first + n - 1);
      assert_true(task.is_hidden[task.target[t] - first]);
    }
    gpnn_grid_task_release(&task);
  }
  release(&f);
}

static void missing_levels_are_held_out_whole(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_grid_subset subset = {0};
  make(&f, without_times);
  for (uint64_t number = 0; number < 50; number++) {
    struct gpnn_grid_task task = {0};
    assert_ok(gpnn_grid_task_draw(&task, &f.view, GPNN_GRID_HOLDOUT_AUTO, 1, number, &err));
    if (task.n == 0) continue; /* the place of the holes itself */
    assert_int_equal(task.hidden_factor, 2);
    assert_int_equal(task.hidden_last - task.hidden_first, 1);
    assert_ok(gpnn_grid_nearby_collect(&subset, &f.view, &f.parameters, &task,
                                       gpnn_grid_nearby_usual, &err));
    for (size_t i = 0; i + task.n < subset.n; i++) {
      size_t time = subset.factor[1].origin[subset.level[2 * i + 1]];
      assert_true(time < task.hidden_first || time > task.hidden_last);
    }
    gpnn_grid_subset_release(&subset);
    gpnn_grid_task_release(&task);
  }
  release(&f);
}

/* What is hidden does not reach a prediction. */
static void predictions_use_no_hidden_cell(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_grid_nearby before, after;
  make(&f, trailing);
  draw(&f, 3);
  struct gpnn_grid_task task = {0};
  assert_ok(gpnn_grid_task_draw(&task, &f.view, GPNN_GRID_HOLDOUT_TRAILING, 1, 4, &err));
  assert_ok(gpnn_grid_nearby_predict(&before, &f.view, &f.parameters, &task, gpnn_grid_nearby_usual,
                                     &err));
  for (size_t i = f.view.first[task.site]; i < f.view.first[task.site + 1]; i++)
    if (task.is_hidden[i - f.view.first[task.site]]) f.y[i] = 1e6;
  assert_ok(gpnn_grid_nearby_predict(&after, &f.view, &f.parameters, &task, gpnn_grid_nearby_usual,
                                     &err));
  for (size_t t = 0; t < task.n; t++) assert_near(after.mean[t], before.mean[t], 0);
  gpnn_grid_task_release(&task);
  release(&f);
}

/* Parameters that the data were drawn with are found again, within what so few data tell. */
static void parameters_are_recovered(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_grid_samples samples = {0};
  struct gpnn_grid_fit_report report;
  const struct gpnn_grid_sample_size size = {1000, 60};
  make(&f, all);
  draw(&f, 7);
  f.process[0].term[0].lengthscale[0] = 3;
  f.process[1].term[0].lengthscale[0] = 1;
  f.parameters.covariance.noise = 0.5;
  assert_ok(gpnn_grid_samples_draw(&samples, 4, &f.view, size, 1, 0, &err));
  assert_int_equal(samples.n, 1); /* which has all cells */
  assert_int_equal(samples.n_cells[0], P * Q);
  struct gpnn_grid_fit_options options = {.evaluations = 60, .scans = true, .threads = 2};
  assert_ok(gpnn_grid_fit(&f.parameters, &f.view, &samples, &options, &report, &err));
  assert_int_equal(report.n_cells, P * Q);
  assert_near(log(f.process[0].term[0].lengthscale[0]), 0, 0.5);
  assert_near(log(f.process[1].term[0].lengthscale[0] / 6), 0, 0.5);
  assert_near(log(f.parameters.covariance.noise / 0.05), 0, 0.3);
  gpnn_grid_samples_release(&samples);
  release(&f);
}

/* Samples have pairs of neighbours, no cell twice, and as many as they may. */
static void samples_are_of_pairs_of_sites(void **state)
{
  (void)state;
  struct fixture f;
  size_t *chosen = NULL, n = 0, sites = 0, pairs = 0, count[P] = {0};
  const struct gpnn_grid_sample_size size = {60, 6};
  make(&f, all);
  assert_ok(gpnn_grid_sample(&f.view, size, 1, 0, &chosen, &n, &err));
  assert_int_equal(n, 60);
  for (size_t i = 0; i < n; i++) {
    if (i > 0) assert_true(chosen[i] > chosen[i - 1]);
    count[f.cell[chosen[i]] / Q]++;
  }
  for (size_t i = 0; i < P; i++) {
    sites += count[i] > 0;
    pairs += count[i] > 0 && ((i > 0 && count[i - 1] > 0) || (i + 1 < P && count[i + 1] > 0));
    if (count[i] > 0) assert_int_equal(count[i], 10);
  }
  assert_int_equal(sites, 6);
  assert_int_equal(pairs, 6);
  free(chosen);
  release(&f);
}

/* The times before a missing end are held out, as many as the end has. */
static void a_missing_end_is_held_out_before_it(void **state)
{
  (void)state;
  struct fixture f;
  make(&f, without_an_end);
  for (uint64_t number = 0; number < 20; number++) {
    struct gpnn_grid_task task = {0};
    assert_ok(gpnn_grid_task_draw(&task, &f.view, GPNN_GRID_HOLDOUT_AUTO, 1, number, &err));
    assert_int_equal(task.hidden_factor, 2);
    assert_int_equal(task.hidden_first, Q - 6);
    assert_int_equal(task.hidden_last, Q - 4);
    gpnn_grid_task_release(&task);
  }
  release(&f);
}

/* The gain is that of a cell, its standard error that of the sum over tasks. */
static void gains_are_told_with_their_standard_error(void **state)
{
  (void)state;
  double here[] = {1, 2, 3}, there[] = {1, 3, 8}, error;
  const struct gpnn_grid_score a = {.n_cells = 6, .n_tasks = 3, .loss = here};
  const struct gpnn_grid_score b = {.n_cells = 6, .n_tasks = 3, .loss = there};
  assert_near(gpnn_grid_score_gain(&a, &b, &error), 1, 1e-15);
  assert_near(error, sqrt(3 * 7) / 6, 1e-15); /* losses differ by 0, 1 and 5: a variance of 7 */
}

/* Under the logarithm, with mean 'm' and sd 's', the density of a standardised target u is that of
 * z = (log(y) - m) / s, y = y_mean + y_sd u, times dz/du = y_sd / (s y). */
static void scores_are_of_the_standardised_target(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_grid_tasks tasks = {0};
  struct gpnn_grid_score score = {0};
  double loss = 0, u[P * Q];
  make(&f, trailing);
  draw(&f, 5);
  struct gpnn_dataset dataset = {.grid = &f.grid, .y = u};
  dataset.scaling.y_mean = 3;
  dataset.scaling.y_sd = 2;
  f.parameters.transform = (struct gpnn_transform){
      .kind = GPNN_TRANSFORM_LOG, .mean = 0.2, .sd = 0.5, .low = 1e-3, .high = 1e3, .scale = 1};
  for (size_t c = 0; c < f.grid.n_cells; c++) u[c] = (exp(0.2 + 0.5 * f.y[c]) - 3) / 2;
  assert_ok(gpnn_grid_tasks_draw(&tasks, 40, &f.view, GPNN_GRID_HOLDOUT_TRAILING, 1, 0, &err));
  assert_ok(gpnn_grid_score(&score, &dataset, &f.view, 1, &f.parameters, &tasks, 2, &err));
  for (size_t i = 0, k = 0; i < tasks.n; i++)
    for (size_t t = 0; t < tasks.task[i].n; t++, k++) {
      const double v = score.factor * score.variance[k], y = 3 + 2 * u[tasks.task[i].target[t]];
      loss += 0.5 * (log(2 * acos(-1) * v) + score.error[k] * score.error[k] / v);
      loss -= log(2 / (0.5 * y));
    }
  assert_near(score.nll, loss / (double)score.n_cells, 1e-9);
  gpnn_grid_score_release(&score);
  gpnn_grid_tasks_release(&tasks);
  release(&f);
}

static void logarithms_are_of_positive_levels_ten_times_apart(void **state)
{
  (void)state;
  double x[] = {1, 4, 10};
  struct gpnn_grid_factor factor = {.n = 3, .d = 1, .x = x};
  assert_true(gpnn_grid_choice_has_logarithms(&factor));
  x[2] = 9;
  assert_false(gpnn_grid_choice_has_logarithms(&factor));
  x[0] = 0;
  assert_false(gpnn_grid_choice_has_logarithms(&factor));
  factor.n = 2;
  x[0] = 0.1;
  assert_false(gpnn_grid_choice_has_logarithms(&factor));
}

/* Two steps of Adam written out: of x with kernelscale = log(1 + e^x), all else held. */
static void steps_under_softplus_follow_its_slope(void **state)
{
  enum { MOST = 16 };
  (void)state;
  struct fixture f;
  struct gpnn_grid_adam_report report;
  struct gpnn_cg_report solved;
  double gradient[MOST], m = 0, v = 0, x = 0, power1 = 1, power2 = 1;
  struct gpnn_grid_adam_options options = {.steps = 2, .rate = 0.5, .softplus = true};
  make(&f, trailing);
  draw(&f, 9);
  options.estimate.probes = 4;
  options.estimate.system.threads = 1;
  options.estimate.solve =
      (struct gpnn_cg_options){.tolerance = 1e-11, .most_iterations = 10000, .threads = 1};
  options.held.n = 3;
  options.held.of[0] = (struct gpnn_grid_numbers){0, "lengthscale", 0, 1};
  options.held.of[1] = (struct gpnn_grid_numbers){1, "lengthscale", 0, 1};
  options.held.of[2] = (struct gpnn_grid_numbers){GPNN_GRID_FACTORS, "noise", 0, 1};
  for (int t = 0; t < 2; t++) {
    const double value = f.parameters.covariance.kernelscale = log1p(exp(x));
    assert_ok(gpnn_grid_likelihood_estimate(&f.view, &f.parameters, &options.estimate, NULL,
                                            gradient, &solved, &err));
    const size_t at = gpnn_grid_first_coordinate(&f.parameters, 2);
    const double g = -gradient[at] / (1 + exp(-x)) / value / (double)f.grid.n_cells;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    power1 *= 0.9;
    power2 *= 0.999;
    x -= 0.5 * m / (1 - power1) / (sqrt(v / (1 - power2)) + 1e-8);
  }
  f.parameters.covariance.kernelscale = log(2);
  assert_ok(gpnn_grid_adam(&f.parameters, &f.view, &options, &report, &err));
  assert_int_equal(report.steps, 2);
  assert_near(f.parameters.covariance.kernelscale, log1p(exp(x)), 1e-6);
  release(&f);
}

/* Coordinates 1, 3 and 5 are drawn to their mean, the others each to their own centre or nowhere.
 */
static void the_prior_of_tasks_has_its_derivatives(void **state)
{
  enum { N = 6 };
  static const double step = 1e-5;
  double at[N] = {0.3, -1.2, 0.7, 0.4, 2, 1.1}, gradient[N] = {0};
  struct gpnn_grid_coordinate coordinate[N] = {{.centre = 0.1, .spread = 2}, [2] = {.spread = 0.5}};
  struct gpnn_grid_objective o = {.n_coordinates = N,
                                  .coordinate = coordinate,
                                  .at = at,
                                  .n_pools = 1,
                                  .pool = {{.first = 1, .step = 2, .n = 3, .spread = 0.25}}};
  (void)state;
  const double pooled = (1.3 * 1.3 + 0.3 * 0.3 + 1 * 1) / 0.0625; /* about a mean of 0.1 */
  assert_near(gpnn_grid_objective_prior(&o, gradient), 0.5 * (0.01 + 1.96 + pooled), 1e-12);
  for (size_t i = 0; i < N; i++) {
    const double here = at[i];
    at[i] = here + step;
    const double above = gpnn_grid_objective_prior(&o, NULL);
    at[i] = here - step;
    const double below = gpnn_grid_objective_prior(&o, NULL);
    at[i] = here;
    assert_near(gradient[i], (above - below) / (2 * step), 1e-7);
  }
}

/* Of tasks, the first loadings are drawn to each other, and three times as loosely the logarithms
 * of their own variances; the other loadings are drawn to 0. */
static void tasks_have_a_prior_in_common(void **state)
{
  enum { TASKS = 3, RANK = 2, N = TASKS * RANK + TASKS + 3 };
  (void)state;
  struct fixture f;
  struct gpnn_grid_coordinate coordinate[N];
  size_t move[N];
  double at[N] = {0};
  make(&f, all);
  struct gpnn_factor sites = f.process[0];
  f.process[0] = (struct gpnn_factor){.n_tasks = TASKS, .rank = RANK};
  struct gpnn_grid_objective o = {.parameters = &f.parameters,
                                  .n_coordinates = N,
                                  .coordinate = coordinate,
                                  .task_spread = 0.25,
                                  .at = at,
                                  .free = move};
  gpnn_grid_objective_describe(&o, &f.view, &(struct gpnn_grid_held){0});
  assert_int_equal(o.n_pools, 2);
  const struct gpnn_grid_pool *own = &o.pool[1];
  assert_int_equal(o.pool[0].first, 0);
  assert_int_equal(o.pool[0].step, RANK);
  assert_int_equal(o.pool[0].n, TASKS);
  assert_near(o.pool[0].spread, 0.25, 0);
  assert_int_equal(own->first, TASKS * RANK);
  assert_int_equal(own->step, 1);
  assert_int_equal(own->n, TASKS);
  assert_near(own->spread, 0.75, 0);
  for (size_t i = 0; i < TASKS * RANK + TASKS; i++)
    assert_near(coordinate[i].spread, i < TASKS * RANK && i % RANK == 1 ? 0.25 : 0, 0);
  assert_int_equal(o.n_free, N - 1); /* all but the kernel scale */
  f.process[0] = sites;
  release(&f);
}

/* Of a site, only cells in one piece with the first target stay hidden, to the site's last. */
static void tasks_of_few_cells_hide_one_piece(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_factor names = {.n_tasks = P, .rank = 1};
  struct gpnn_grid_task task = {.site = 1, .n = 3, .target = {2 * Q - 2, Q + 1, 2 * Q - 1}};
  make(&f, all);
  const struct gpnn_dataset dataset = {.grid = &f.grid, .y = f.y};
  struct gpnn_grid_choice choice = {.dataset = &dataset, .tasks = {1, &task}};
  choice.best.parameters.grid = (struct gpnn_grid_process){.n_factors = 1, .factor = &names};
  task.is_hidden = calloc(Q, 1);
  assert_non_null(task.is_hidden);
  task.is_hidden[1] = task.is_hidden[Q - 2] = task.is_hidden[Q - 1] = true;
  assert_ok(gpnn_grid_choice_part_tasks(&choice, &f.view, &err));
  assert_int_equal(choice.tasks.n, 1);
  assert_int_equal(task.n, 2);
  assert_int_equal(task.target[1], 2 * Q - 1);
  for (size_t j = 0; j < Q; j++) assert_int_equal(task.is_hidden[j], j >= Q - 2);
  gpnn_grid_task_release(&task);
  release(&f);
}

/* Crossfitting predicts a cell by estimates that do not know it. */
static void crossfitted_predictions_do_not_know_their_cells(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_grid_samples samples = {0};
  struct gpnn_grid_tasks tasks = {0};
  const struct gpnn_grid_sample_size size = {1000, 60};
  const struct gpnn_grid_choose_options options = {.threads = 2};
  double before[GPNN_GRID_TASK_CELLS];
  make(&f, trailing);
  draw(&f, 3);
  assert_ok(gpnn_grid_samples_draw(&samples, 1, &f.view, size, 1, 0, &err));
  assert_ok(gpnn_grid_tasks_draw(&tasks, 2, &f.view, GPNN_GRID_HOLDOUT_TRAILING, 1, 3, &err));
  assert_int_equal(tasks.n, 2);
  assert_true(tasks.task[0].site != tasks.task[1].site);
  const struct gpnn_dataset dataset = {.grid = &f.grid, .y = f.y};
  struct gpnn_grid_choice choice = {
      .dataset = &dataset, .options = &options, .blocks = samples, .tasks = tasks, .n_parts = 2};
  struct gpnn_grid_trial trial = {.parameters = f.parameters};
  for (int turn = 0; turn < 2; turn++) {
    assert_ok(gpnn_grid_choice_crossfit(&choice, &trial, 10, &err));
    for (size_t t = 0; t < tasks.task[0].n; t++) {
      double *y = &f.y[tasks.task[0].target[t]], mean = *y - trial.score.error[t];
      if (turn == 1) assert_near(mean, before[t], 1e-9);
      before[t] = mean;
      *y += 3;
    }
  }
  gpnn_grid_score_release(&trial.score);
  gpnn_grid_samples_release(&samples);
  gpnn_grid_tasks_release(&tasks);
  release(&f);
}

/* The diagonal of the inverse of 'a' (n by n, symmetric), and the solution of a z = y in place of
 * 'y', by elimination. */
static void invert(size_t n, double *a, double *y, double *diagonal)
{
  double *inverse = calloc(n * n, sizeof *inverse);
  assert_non_null(inverse);
  for (size_t i = 0; i < n; i++) inverse[i * n + i] = 1;
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < n; i++) {
      double share = a[i * n + k] / a[k * n + k];
      if (i == k || share == 0) continue;
      for (size_t j = k; j < n; j++) a[i * n + j] -= share * a[k * n + j];
      for (size_t j = 0; j <= k; j++) inverse[i * n + j] -= share * inverse[k * n + j];
      y[i] -= share * y[k];
    }
  for (size_t i = 0; i < n; i++) {
    y[i] /= a[i * n + i];
    diagonal[i] = inverse[i * n + i] / a[i * n + i];
  }
  free(inverse);
}

/* The sum over all cells of squared errors divided by their variances, each cell given the rest. */
static double sum_dense(const struct fixture *f)
{
  size_t n = f->grid.n_cells;
  double *a = calloc(n, n * sizeof *a), *y = calloc(n, 2 * sizeof *y), k[2][P * P], sum = 0;
  assert_non_null(a);
  assert_non_null(y);
  for (size_t b = 0; b < 2; b++)
    gpnn_factor_matrix(&f->process[b], 1, f->factor[b].n, f->factor[b].x, f->factor[b].n,
                       f->factor[b].x, true, 1, k[b]);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      size_t s = (size_t)f->cell[i], t = (size_t)f->cell[j];
      a[i * n + j] =
          f->parameters.covariance.kernelscale * k[0][s / Q * P + t / Q] * k[1][s % Q * Q + t % Q] +
          (i == j) * f->parameters.covariance.noise;
    }
  for (size_t i = 0; i < n; i++) y[i] = f->y[i];
  invert(n, a, y, y + n);
  for (size_t i = 0; i < n; i++) sum += y[i] * y[i] / y[n + i];
  free(a);
  free(y);
  return sum;
}

/* Under a process that is not the true one, errors are larger, beside their variances, where all
 * cells are predicted from. */
static void errors_are_compared_with_those_of_predictions_from_all_cells(void **state)
{
  (void)state;
  struct fixture f;
  const struct gpnn_grid_choose_options options = {.seed = 3, .threads = 2};
  const struct gpnn_grid_law law = {.factor = 1};
  struct gpnn_grid_comparison compared;
  double nearby = 0;
  make(&f, trailing);
  draw(&f, 3);
  f.parameters.covariance.noise = 0.2;
  f.process[0].term[0].kernel = gpnn_kernel_by_name("rbf");
  f.process[1].term[0].kernel = gpnn_kernel_by_name("exp");
  f.process[0].term[0].lengthscale[0] = 3;
  f.process[1].term[0].lengthscale[0] = 0.5;
  const struct gpnn_dataset dataset = {.grid = &f.grid, .y = f.y};
  struct gpnn_grid_choice choice = {.dataset = &dataset, .options = &options};
  choice.best.parameters = f.parameters;
  for (size_t c = 0; c < f.grid.n_cells; c++) {
    bool is_hidden[Q] = {false};
    struct gpnn_grid_nearby found;
    struct gpnn_grid_task task = {
        .site = (size_t)f.cell[c] / Q, .n = 1, .target = {c}, .is_hidden = is_hidden};
    is_hidden[c - f.view.first[task.site]] = true;
    assert_ok(gpnn_grid_nearby_predict(&found, &f.view, &f.parameters, &task,
                                       gpnn_grid_nearby_usual, &err));
    nearby += pow(found.y[0] - found.mean[0], 2) / found.variance[0];
  }
  assert_ok(gpnn_grid_choice_compare_all(&choice, &law, &compared, &err));
  double exact = sum_dense(&f);
  assert_true(exact / nearby > 1.1);
  assert_near(compared.ratio, exact / nearby, 0.07 * exact / nearby);
  const double n = (double)f.grid.n_cells;
  assert_near(compared.nearby, nearby / n, 1e-9);
  release(&f);
}

/* Of draws of Student's t a few are enormous, and their mean square says little of the scale. */
static void few_outliers_do_not_decide_how_large_errors_are(void **state)
{
  (void)state;
  enum { N = 2000 };
  const struct gpnn_grid_law normal = {.factor = 1},
                             student = {
                                 .likelihood = GPNN_LIKELIHOOD_LOCAL,
                                 .degrees = 3,
                                 .scale = {.factor = 0.4, .term[GPNN_SCALE_MEAN] = {0.5, -1, 1}}};
  struct gpnn_rng rng;
  double square[N], mean = 0;
  gpnn_rng_init(&rng, 2, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) {
    double chi2 = 0;
    for (int k = 0; k < 3; k++) chi2 += pow(gpnn_rng_normal(&rng), 2);
    square[i] = 1.7 * pow(gpnn_rng_normal(&rng), 2) / (chi2 / 3);
    mean += square[i] / N;
  }
  assert_near(gpnn_grid_law_size(&normal, N, square), mean, 1e-9);
  assert_near(gpnn_grid_law_size(&student, N, square), 1.7, 0.15);
  square[0] = 1e9;
  assert_near(gpnn_grid_law_size(&student, N, square), 1.7, 0.15);
  for (size_t i = 0; i < N; i++) square[i] = 0;
  assert_near(gpnn_grid_law_size(&student, N, square), 0, 0);
  /* Relative to what the scale makes of the mean, which is clipped, and not to its factor. */
  assert_near(gpnn_grid_law_relative(&student, 0.6), exp(0.3), 1e-12);
  assert_near(gpnn_grid_law_relative(&student, 7), exp(0.5), 1e-12);
  assert_near(gpnn_grid_law_relative(&normal, 7), 1, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(held_out_ends_are_ends),
      cmocka_unit_test(missing_levels_are_held_out_whole),
      cmocka_unit_test(predictions_use_no_hidden_cell),
      cmocka_unit_test(parameters_are_recovered),
      cmocka_unit_test(samples_are_of_pairs_of_sites),
      cmocka_unit_test(the_prior_of_tasks_has_its_derivatives),
      cmocka_unit_test(a_missing_end_is_held_out_before_it),
      cmocka_unit_test(gains_are_told_with_their_standard_error),
      cmocka_unit_test(scores_are_of_the_standardised_target),
      cmocka_unit_test(logarithms_are_of_positive_levels_ten_times_apart),
      cmocka_unit_test(steps_under_softplus_follow_its_slope),
      cmocka_unit_test(tasks_have_a_prior_in_common),
      cmocka_unit_test(tasks_of_few_cells_hide_one_piece),
      cmocka_unit_test(crossfitted_predictions_do_not_know_their_cells),
      cmocka_unit_test(errors_are_compared_with_those_of_predictions_from_all_cells),
      cmocka_unit_test(few_outliers_do_not_decide_how_large_errors_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
