/* Estimation by Adam over minibatches of rows, whose neighbours are found again as the lengthscales
 * change. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/arrays.h"
#include "models/polya_gamma/polya_gamma_private.h"
#include "search/search.h"
#include "stats/distributions/polya_gamma.h"

enum { MOST_PROBE = 2000 };

/* The state of an estimation. */
struct problem {
  struct gpnn_polya_gamma_objective objective;
  const struct gpnn_polya_gamma_options *options;
  size_t k, batch;    /* neighbours of a row, rows of a step */
  size_t n_rows;      /* of the steps between two searches */
  int64_t *row;       /* n_rows, or those of the probe */
  int64_t *neighbour; /* n_rows by k */
  struct gpnn_rng rng;
  uint64_t *order;     /* n: of the training rows in this epoch */
  size_t next;         /* in that order */
  double *lengthscale; /* d: of the search */
  double *x;           /* n_rows by d */
  struct gpnn_search *search;
  size_t n_searches, n_steps; /* so far */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* ---- set-up ----------------------------------------------------------------------------- */

static enum gpnn_status check(const struct gpnn_dataset *dataset,
                              const struct gpnn_polya_gamma_options *options,
                              struct gpnn_error *err)
{
  size_t n_classes = gpnn_dataset_n_classes(dataset);
  if (dataset->n < 2) return gpnn_fail(err, GPNN_EDATA, "fewer than two training rows");
  if (n_classes < 2) return gpnn_fail(err, GPNN_EDATA, "fewer than two classes");
  const struct gpnn_parameters *start = options->start;
  if (start != NULL && start->covariance.n_lengthscales != 1 &&
      (!options->ard || start->covariance.n_lengthscales != dataset->n_groups))
    return gpnn_fail(err, GPNN_EMISMATCH, "the start has %zu lengthscales, the index has %zu",
                     start->covariance.n_lengthscales, dataset->n_groups);
  return GPNN_OK;
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Makes room for the medians of omega, if they are learnt. */
static enum gpnn_status begin_omega(const struct gpnn_dataset *dataset,
                                    const struct gpnn_polya_gamma_options *options,
                                    struct gpnn_omega *omega, struct gpnn_error *err)
{
  size_t n_channels = gpnn_polya_gamma_channels(gpnn_dataset_n_classes(dataset));
  omega->is_learnt = options->learns_omega;
  if (!omega->is_learnt) return GPNN_OK;
  omega->log_median = gpnn_alloc(dataset->n, n_channels, sizeof *omega->log_median);
  if (omega->log_median == NULL) return gpnn_fail_memory(err, "for the parameters");
  omega->n = dataset->n * n_channels;
  return GPNN_OK;
}

/* Lengthscales so long that rows at a usual distance, sqrt(2d), are correlated. */
static enum gpnn_status begin_parameters(const struct gpnn_dataset *dataset,
                                         const struct gpnn_polya_gamma_options *options,
                                         struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct gpnn_covariance *covariance = &params->covariance;
  const struct gpnn_parameters *start = options->start;
  covariance->kernel = options->kernel;
  covariance->smoothness = options->smoothness;
  covariance->n_lengthscales = options->ard ? dataset->n_groups : 1;
  covariance->lengthscale = gpnn_alloc(covariance->n_lengthscales, 1, sizeof(double));
  if (covariance->lengthscale == NULL) return gpnn_fail_memory(err, "for the parameters");
  for (size_t j = 0; j < covariance->n_lengthscales; j++)
    covariance->lengthscale[j] =
        options->fixed_lengthscale > 0 ? options->fixed_lengthscale
        : start == NULL
            ? sqrt((double)dataset->d)
            : start->covariance.lengthscale[start->covariance.n_lengthscales == 1 ? 0 : j];
  covariance->kernelscale = options->fixed_kernelscale > 0 ? options->fixed_kernelscale
                            : start == NULL                ? 1
                                                           : start->covariance.kernelscale;
  params->likelihood = GPNN_LIKELIHOOD_CATEGORICAL;
  params->inference = GPNN_INFERENCE_POLYA_GAMMA;
  return begin_omega(dataset, options, &params->omega, err);
}

static void objective_init(struct gpnn_polya_gamma_objective *objective,
                           const struct gpnn_dataset *dataset,
                           const struct gpnn_polya_gamma_options *options,
                           struct gpnn_covariance *covariance)
{
  *objective = (struct gpnn_polya_gamma_objective){
      .data = dataset,
      .covariance = covariance,
      .n_channels = gpnn_polya_gamma_channels(gpnn_dataset_n_classes(dataset)),
      .learns_omega = options->learns_omega,
      .weight = options->divergence_weight > 0 ? options->divergence_weight : (double)dataset->n,
      .seed = options->seed};
  gpnn_logistic_init(&objective->logistic);
  gpnn_hermite_init(&objective->divergence, 20);
}

/* Makes room for the rows of the steps between two searches. */
static enum gpnn_status problem_alloc(struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_polya_gamma_options *options = problem->options;
  size_t n = problem->objective.data->n, d = problem->objective.data->d;
  size_t steps = smaller(options->refresh, options->steps);
  if (!gpnn_multiply(problem->batch, steps, &problem->n_rows))
    return gpnn_fail_memory(err, "for the rows of the steps");
  if (problem->n_rows < MOST_PROBE) problem->n_rows = MOST_PROBE;
  problem->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(problem->row, problem->n_rows, 1),
                  GPNN_ARRAY(problem->neighbour, problem->n_rows, problem->k),
                  GPNN_ARRAY(problem->x, problem->n_rows, d), GPNN_ARRAY(problem->order, n, 1),
                  GPNN_ARRAY(problem->lengthscale, d, 1));
  if (problem->arrays == NULL) return gpnn_fail_memory(err, "for the rows to estimate from");
  return GPNN_OK;
}

static enum gpnn_status problem_init(struct problem *problem, const struct gpnn_dataset *dataset,
                                     struct gpnn_parameters *params, struct gpnn_error *err)
{
  const double least = 4e6; /* enough work for a thread, in the units of 'work' */
  const struct gpnn_polya_gamma_options *options = problem->options;
  struct gpnn_polya_gamma_objective *objective = &problem->objective;
  objective_init(objective, dataset, options, &params->covariance);
  problem->k = smaller(options->neighbours, dataset->n - 1);
  problem->batch = options->batch > 0 ? options->batch : objective->n_channels == 1 ? 128 : 64;
  problem->batch = smaller(problem->batch, dataset->n);
  problem->next = dataset->n;
  gpnn_rng_init(&problem->rng, options->seed, GPNN_RNG_BATCH);
  double work = (double)(problem->batch * problem->k * problem->k) *
                (double)(objective->n_channels * problem->k + 10 * dataset->d);
  objective->threads = gpnn_threads_for(options->threads, (size_t)(work / least));
  enum gpnn_status status = problem_alloc(problem, err);
  if (status != GPNN_OK) return status;
  return gpnn_team_new(&objective->team, objective->threads, err);
}

static void problem_release(struct problem *problem)
{
  gpnn_team_free(problem->objective.team);
  gpnn_search_free(problem->search);
  gpnn_arrays_free(problem->arrays);
}

/* ---- rows and neighbours ---------------------------------------------------------------- */

/* Draws the next 'n' rows, without replacement until all have been drawn. */
static enum gpnn_status draw_rows(struct problem *problem, size_t n, struct gpnn_error *err)
{
  size_t n_all = problem->objective.data->n;
  for (size_t i = 0; i < n; i++) {
    if (problem->next == n_all) {
      enum gpnn_status status = gpnn_rng_sample(&problem->rng, n_all, n_all, problem->order, err);
      if (status != GPNN_OK) return status;
      problem->next = 0;
    }
    problem->row[i] = (int64_t)problem->order[problem->next++];
  }
  return GPNN_OK;
}

/* Builds the search for the lengthscales in 'u', unless only their common factor has changed. */
static enum gpnn_status build_search(struct problem *problem, const double *u,
                                     struct gpnn_error *err)
{
  const struct gpnn_dataset *data = problem->objective.data;
  struct gpnn_covariance *covariance = problem->objective.covariance;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  if (problem->search != NULL && covariance->n_lengthscales == 1) return GPNN_OK;
  for (size_t j = 0; j < covariance->n_lengthscales; j++) covariance->lengthscale[j] = exp(u[j]);
  gpnn_covariance_expand(covariance, data->d, data->group, problem->lengthscale);
  options.neighbours = problem->k + 1;
  options.lengthscale = problem->lengthscale;
  options.seed = problem->options->seed;
  options.threads = problem->options->threads;
  options.brief = true;
  gpnn_search_free(problem->search);
  problem->search = NULL;
  problem->n_searches++;
  return gpnn_search_build(&problem->search, data->n, data->d, data->x, &options, err);
}

/* Keeps k of the k + 1 rows found for a row, not the row itself. */
static void keep_others(size_t k, const int64_t *found, int64_t self, int64_t *neighbour)
{
  size_t kept = 0;
  for (size_t a = 0; a <= k && kept < k; a++)
    if (found[a] >= 0 && found[a] != self) neighbour[kept++] = found[a];
  while (kept < k) neighbour[kept++] = -1;
}

/* Finds the neighbours of the first 'n' of problem->row. */
static enum gpnn_status find_neighbours(struct problem *problem, size_t n, const double *u,
                                        struct gpnn_error *err)
{
  const struct gpnn_dataset *data = problem->objective.data;
  size_t d = data->d, wanted = problem->k + 1;
  int64_t *found = gpnn_alloc(n, wanted, sizeof *found);
  double *distance = gpnn_alloc(n, wanted, sizeof *distance);
  enum gpnn_status status = GPNN_OK;
  if (found == NULL || distance == NULL) status = gpnn_fail_memory(err, "for neighbours");
  for (size_t i = 0; i < n; i++)
    memcpy(problem->x + i * d, data->x + (size_t)problem->row[i] * d, d * sizeof *data->x);
  if (status == GPNN_OK) status = build_search(problem, u, err);
  if (status == GPNN_OK)
    status = gpnn_search_query(problem->search, n, problem->x, wanted, found, distance,
                               problem->options->threads, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    keep_others(problem->k, found + i * wanted, problem->row[i],
                problem->neighbour + i * problem->k);
  free(found);
  free(distance);
  return status;
}

/* ---- the descent ------------------------------------------------------------------------ */

/* The loss alone, on rows drawn once and for all. */
static enum gpnn_status evaluate_probe(struct problem *problem, const double *u, double *f,
                                       struct gpnn_error *err)
{
  struct gpnn_polya_gamma_objective objective = problem->objective;
  struct gpnn_polya_gamma_batch batch = {.n = smaller(MOST_PROBE, objective.data->n),
                                         .k = problem->k,
                                         .row = problem->row,
                                         .neighbour = problem->neighbour,
                                         .at_medians = true};
  objective.weight = 0;
  gpnn_rng_init(&problem->rng, problem->options->seed, GPNN_RNG_ESTIMATE);
  problem->next = objective.data->n;
  enum gpnn_status status = draw_rows(problem, batch.n, err);
  if (status == GPNN_OK) status = find_neighbours(problem, batch.n, u, err);
  return status == GPNN_OK ? gpnn_polya_gamma_evaluate(&objective, &batch, u, f, NULL, err)
                           : status;
}

/* The objective on the next minibatch or, without a gradient, the loss on the probe. */
static enum gpnn_status evaluate(void *context, size_t n, const double *u, double *f,
                                 double *gradient, struct gpnn_error *err)
{
  struct problem *problem = context;
  const struct gpnn_polya_gamma_options *options = problem->options;
  size_t step = problem->n_steps % options->refresh;
  enum gpnn_status status = GPNN_OK;
  (void)n;
  if (gradient == NULL) return evaluate_probe(problem, u, f, err);
  if (step == 0) {
    size_t coming = smaller(options->refresh, options->steps - problem->n_steps) * problem->batch;
    status = draw_rows(problem, coming, err);
    if (status == GPNN_OK) status = find_neighbours(problem, coming, u, err);
  }
  struct gpnn_polya_gamma_batch batch = {.n = problem->batch,
                                         .k = problem->k,
                                         .row = problem->row + step * problem->batch,
                                         .neighbour = problem->neighbour +
                                                      step * problem->batch * problem->k,
                                         .draw = problem->n_steps++};
  if (status != GPNN_OK) return status;
  return gpnn_polya_gamma_evaluate(&problem->objective, &batch, u, f, gradient, err);
}

/* Writes the start and the bounds of coordinate 'i'. */
static void begin_coordinate(const struct problem *problem, size_t i, double *u, double *lower,
                             double *upper)
{
  const double most_lengthscale = 12, most_scale = 14, most_m = 12, most_log_s = 4;
  const struct gpnn_covariance *covariance = problem->objective.covariance;
  size_t n_lengthscales = covariance->n_lengthscales;
  struct gpnn_log_normal q = gpnn_polya_gamma_nearest();
  double most = most_lengthscale, fixed = problem->options->fixed_lengthscale;
  if (i < n_lengthscales) {
    *u = log(covariance->lengthscale[i]);
  } else if (i == n_lengthscales) {
    *u = log(covariance->kernelscale);
    fixed = problem->options->fixed_kernelscale;
    most = most_scale;
  } else {
    bool is_median = (i - n_lengthscales) % 2 == 1;
    *u = is_median ? q.m : log(q.s);
    fixed = 0;
    most = is_median ? most_m : most_log_s;
  }
  *lower = fixed > 0 ? *u : -most;
  *upper = fixed > 0 ? *u : most;
}

static enum gpnn_status descend(struct problem *problem, struct gpnn_omega *omega,
                                struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  static const double drop[] = {0.25, 0.5, 0.75};
  struct gpnn_covariance *covariance = problem->objective.covariance;
  size_t n = gpnn_polya_gamma_coordinates(&problem->objective);
  double *u = gpnn_alloc(n, 3, sizeof *u);
  if (u == NULL) return gpnn_fail_memory(err, "for the search");
  double *lower = u + n, *upper = lower + n, *sites = u + covariance->n_lengthscales + 1;
  for (size_t i = 0; i < n; i++) begin_coordinate(problem, i, &u[i], &lower[i], &upper[i]);
  const struct gpnn_adam adam = {.n_steps = problem->options->steps,
                                 .rate = 0.03,
                                 .n_drops = sizeof drop / sizeof drop[0],
                                 .drop = drop,
                                 .lower = lower,
                                 .upper = upper};
  enum gpnn_status status = gpnn_optimize_adam(evaluate, problem, n, &adam, u, report, err);
  for (size_t i = 0; i < omega->n && status == GPNN_OK; i++) omega->log_median[i] = sites[2 * i];
  free(u);
  return status;
}

enum gpnn_status gpnn_polya_gamma_fit(const struct gpnn_dataset *dataset,
                                      const struct gpnn_polya_gamma_options *options,
                                      struct gpnn_parameters *params,
                                      struct gpnn_polya_gamma_report *report,
                                      struct gpnn_error *err)
{
  struct problem problem = {.options = options};
  struct gpnn_parameters own = {0};
  struct gpnn_optimize_report optimize;
  enum gpnn_status status = check(dataset, options, err);
  if (status == GPNN_OK) status = begin_parameters(dataset, options, &own, err);
  if (status == GPNN_OK) status = problem_init(&problem, dataset, &own, err);
  if (status == GPNN_OK) status = descend(&problem, &own.omega, &optimize, err);
  if (status == GPNN_OK) {
    own.neighbours = problem.k;
    own.provenance.fit_rows = smaller(problem.n_steps * problem.batch, dataset->n);
    *report = (struct gpnn_polya_gamma_report){.n_rows = smaller(MOST_PROBE, dataset->n),
                                               .loss = optimize.end,
                                               .k = problem.k,
                                               .batch = problem.batch,
                                               .n_searches = problem.n_searches,
                                               .optimize = optimize};
    *params = own;
  } else {
    gpnn_parameters_release(&own);
  }
  problem_release(&problem);
  return status;
}
