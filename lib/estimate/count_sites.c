#include "estimate/count_sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "likelihood/count.h"
#include "linalg/arrays.h"
#include "models/model.h"

/* ---- counts ------------------------------------------------------------------------------- */

double gpnn_count_sites_restore(const struct gpnn_dataset *dataset, double standardised)
{
  double y = gpnn_scaling_restore(&dataset->scaling, standardised, 0), whole = round(y);
  double allowed = GPNN_COUNT_SITES_ROUNDING * (fabs(y) + dataset->scaling.y_sd);
  bool is_whole = fabs(y - whole) <= fmin(allowed, 0.25);
  return is_whole && gpnn_count_is_count(fabs(whole)) && whole >= 0 ? fabs(whole) : nan("");
}

static enum gpnn_status refuse(const struct gpnn_dataset *dataset, const char *rows, size_t row,
                               double standardised, struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  return gpnn_fail(err, GPNN_EDATA,
                   "target '%s': %s row %zu of the index has %.10g, but counts are whole numbers "
                   "from 0 on",
                   gpnn_schema_column_name(&dataset->schema.target, name), rows, row + 1,
                   gpnn_scaling_restore(&dataset->scaling, standardised, 0));
}

/* A wild cell would leave the others no digits to tell whether they are whole, so it is looked for
 * first; beyond 2^53 a double is not exact. */
static enum gpnn_status check_size(const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  const double most = 9007199254740992;
  char name[GPNN_MASK_BYTES];
  for (size_t i = 0; i < dataset->n; i++) {
    double y = gpnn_scaling_restore(&dataset->scaling, dataset->y[i], 0);
    if (fabs(y) < most) continue;
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s': training row %zu of the index has %.10g, too large for a count: "
                     "if it stands for a missing value, name it with gpnn-index --na",
                     gpnn_schema_column_name(&dataset->schema.target, name), i + 1, y);
  }
  return GPNN_OK;
}

static enum gpnn_status read_counts(const struct gpnn_dataset *dataset, double *count,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = check_size(dataset, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < dataset->n; i++) {
    count[i] = gpnn_count_sites_restore(dataset, dataset->y[i]);
    if (isnan(count[i])) return refuse(dataset, "training", i, dataset->y[i], err);
  }
  for (size_t i = 0; i < dataset->n_calibration; i++)
    if (isnan(gpnn_count_sites_restore(dataset, dataset->calibration_y[i])))
      return refuse(dataset, "calibration", i, dataset->calibration_y[i], err);
  return GPNN_OK;
}

/* Known noise and offsets are those of numbers. */
static enum gpnn_status check_columns(const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  gpnn_schema_column_name(&dataset->schema.target, name);
  if (dataset->noise != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s': the rows have known noise variances, which counts have not",
                     name);
  if (dataset->offset != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s': an offset adds to the target, and not to the logarithm of the "
                     "mean of counts: use gpnn-index --exposure",
                     name);
  return GPNN_OK;
}

/* The logarithm of the exposure of training row 'i'. */
static double log_exposure(const struct gpnn_dataset *dataset, size_t i)
{
  return dataset->exposure == NULL ? 0 : log(dataset->exposure[i]);
}

/* Where nothing was counted, the rate that half an event would have. */
static double events(double counted)
{
  return fmax(counted, 0.5);
}

/* The variance of f that makes counts vary as much as they do about the means of a constant rate
 * e^f, by moments; not below 'least', as a table without any may be one of few events. */
static double spread_of(const struct gpnn_count_sites *sites, double f, double least)
{
  double beyond = 0, squares = 0;
  for (size_t i = 0; i < sites->dataset->n; i++) {
    double mean = exp(f + log_exposure(sites->dataset, i)), error = sites->count[i] - mean;
    beyond += error * error - mean;
    squares += mean * mean;
  }
  return fmax(log1p(fmax(beyond / squares, 0)), least);
}

/* The sites under the constant rate of all rows and the variance of f that its failure shows. */
static void begin(struct gpnn_count_sites *sites)
{
  const struct gpnn_count_law poisson = {INFINITY};
  const double least = 0.05;
  double counted = 0, exposed = 0;
  for (size_t i = 0; i < sites->dataset->n; i++) {
    counted += sites->count[i];
    exposed += exp(log_exposure(sites->dataset, i));
  }
  const double f = log(events(counted) / exposed);
  sites->spread = spread_of(sites, f, least);
  for (size_t i = 0; i < sites->dataset->n; i++) {
    const double log_e = log_exposure(sites->dataset, i);
    const struct gpnn_count_latent latent = {f + log_e, sqrt(sites->spread)};
    const struct gpnn_count_site site = gpnn_count_site(&poisson, sites->count[i], &latent);
    sites->target[i] = site.target - log_e;
    sites->noise[i] = site.noise;
  }
}

static enum gpnn_status allocate_sites(struct gpnn_count_sites *sites, size_t n,
                                       struct gpnn_error *err)
{
  double **const arrays[] = {&sites->count, &sites->target, &sites->noise, &sites->z,
                             &sites->z_noise};
  bool done = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    done = (*arrays[i] = gpnn_alloc(n, 1, sizeof **arrays)) != NULL && done;
  if (done) return GPNN_OK;
  gpnn_count_sites_release(sites);
  return gpnn_fail_memory(err, "for counts");
}

enum gpnn_status gpnn_count_sites_new(struct gpnn_count_sites *sites,
                                      const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  struct gpnn_count_sites new = {.dataset = dataset};
  enum gpnn_status status = check_columns(dataset, err);
  if (status == GPNN_OK) status = allocate_sites(&new, dataset->n, err);
  if (status == GPNN_OK) status = read_counts(dataset, new.count, err);
  if (status != GPNN_OK) {
    gpnn_count_sites_release(&new);
    return status;
  }
  begin(&new);
  *sites = new;
  return GPNN_OK;
}

enum gpnn_status gpnn_count_sites_copy(struct gpnn_count_sites *to,
                                       const struct gpnn_count_sites *from, struct gpnn_error *err)
{
  const size_t n = from->dataset->n;
  struct gpnn_count_sites new = {
      .dataset = from->dataset, .spread = from->spread, .centre = from->centre, .unit = from->unit};
  enum gpnn_status status = allocate_sites(&new, n, err);
  if (status != GPNN_OK) return status;
  memcpy(new.count, from->count, n * sizeof *new.count);
  memcpy(new.target, from->target, n * sizeof *new.target);
  memcpy(new.noise, from->noise, n * sizeof *new.noise);
  *to = new;
  return GPNN_OK;
}

void gpnn_count_sites_release(struct gpnn_count_sites *sites)
{
  free(sites->count);
  free(sites->target);
  free(sites->noise);
  free(sites->z);
  free(sites->z_noise);
  *sites = (struct gpnn_count_sites){0};
}

void gpnn_count_sites_standardise(struct gpnn_count_sites *sites, bool has_mean,
                                  struct gpnn_dataset *view)
{
  size_t n = sites->dataset->n;
  double sum = 0, weights = 0;
  for (size_t i = 0; i < n; i++) {
    double weight = 1 / (sites->noise[i] + sites->spread);
    sum += weight * sites->target[i];
    weights += weight;
  }
  sites->centre = has_mean ? sum / weights : 0;
  sites->unit = sqrt(sites->spread);
  for (size_t i = 0; i < n; i++) {
    sites->z[i] = (sites->target[i] - sites->centre) / sites->unit;
    sites->z_noise[i] = sites->noise[i] / (sites->unit * sites->unit);
  }
  *view = *sites->dataset;
  view->y = sites->z;
  view->noise = sites->z_noise;
  view->n_calibration = 0;
}

/* ---- a sweep ------------------------------------------------------------------------------ */

enum { MOST_SCORED = 4096, TOGETHER = 16 };

/* The state of sweeps; arrays are owned. */
struct sweeps {
  struct gpnn_count_sites *sites;
  struct gpnn_parameters *params;
  const struct gpnn_count_sites_options *options;
  struct gpnn_dataset view; /* with the sites as targets */
  int64_t *self;
  double *mean, *variance; /* of f at all rows, each left out; with the noise of the parameters */
  size_t n_scored;
  uint64_t *scored; /* rows that the dispersion is estimated from */
  double *loss;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status sweeps_init(struct sweeps *s, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  size_t n = s->sites->dataset->n;
  s->n_scored = n < MOST_SCORED ? n : MOST_SCORED;
  s->view = *s->sites->dataset;
  s->view.observed = s->view.y;
  s->view.y = s->sites->target;
  s->view.noise = s->sites->noise;
  s->arrays = GPNN_ARRAYS(GPNN_ARRAY(s->self, n, 1), GPNN_ARRAY(s->mean, n, 1),
                          GPNN_ARRAY(s->variance, n, 1), GPNN_ARRAY(s->scored, s->n_scored, 1),
                          GPNN_ARRAY(s->loss, s->n_scored, 1));
  if (s->arrays == NULL) return gpnn_fail_memory(err, "for counts");
  for (size_t i = 0; i < n; i++) s->self[i] = (int64_t)i;
  gpnn_rng_init(&rng, s->options->seed, GPNN_RNG_COUNTS);
  return gpnn_rng_sample(&rng, n, s->n_scored, s->scored, err);
}

/* Predicts f at all rows; 'first' has the search. */
static enum gpnn_status predict(struct sweeps *s, const struct gpnn_model *first,
                                struct gpnn_error *err)
{
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  const struct gpnn_channel channel = {&s->view, s->params};
  const struct gpnn_query query = {
      .n = s->view.n, .x = s->view.x, .regressors = s->view.regressors, .self = s->self};
  const struct gpnn_latent latent = {.mean = s->mean, .variance = s->variance};
  enum gpnn_status status = gpnn_model_with(first, &channel, &model, err);
  if (status == GPNN_OK) status = gpnn_model_predict(model, &query, &latent, &counts, err);
  gpnn_model_free(model);
  for (size_t i = 0; i < s->view.n && status == GPNN_OK; i++)
    s->variance[i] += s->params->covariance.noise;
  return status;
}

static struct gpnn_count_law law_of(const struct gpnn_parameters *params)
{
  bool is_poisson = params->likelihood == GPNN_LIKELIHOOD_POISSON;
  return (struct gpnn_count_law){is_poisson ? INFINITY : params->dispersion};
}

/* What is known of the logarithm of the mean of row 'i'. */
static struct gpnn_count_latent latent_of(const struct sweeps *s, size_t i)
{
  return (struct gpnn_count_latent){s->mean[i] + log_exposure(s->sites->dataset, i),
                                    sqrt(s->variance[i])};
}

struct scoring {
  const struct sweeps *sweeps;
  struct gpnn_count_law law;
};

static void find_loss(void *context, size_t thread, size_t k)
{
  const struct scoring *scoring = context;
  const struct sweeps *s = scoring->sweeps;
  size_t i = (size_t)s->scored[k];
  const struct gpnn_count_latent latent = latent_of(s, i);
  (void)thread;
  s->loss[k] = -gpnn_count_marginal(&scoring->law, &latent, s->sites->count[i]);
}

static double loss_under(const struct sweeps *s, struct gpnn_count_law law)
{
  struct scoring scoring = {s, law};
  double sum = 0;
  gpnn_threads_each(s->options->threads, s->n_scored, TOGETHER, find_loss, &scoring);
  for (size_t k = 0; k < s->n_scored; k++) sum += s->loss[k];
  return sum / (double)s->n_scored;
}

static double dispersion_at(int k)
{
  return pow(10, k / 10.0);
}

/* Moves the dispersion to the best of the grid, in steps that become shorter; returns its loss. */
static double find_dispersion(const struct sweeps *s)
{
  enum { LONGEST = 8 };
  int best = (int)lround(10 * log10(s->params->dispersion));
  best = best < GPNN_COUNT_SITES_LEAST  ? GPNN_COUNT_SITES_LEAST
         : best > GPNN_COUNT_SITES_MOST ? GPNN_COUNT_SITES_MOST
                                        : best;
  double least = loss_under(s, (struct gpnn_count_law){dispersion_at(best)});
  for (int step = LONGEST; step > 0; step /= 2)
    for (int sign = -1; sign <= 1; sign += 2)
      for (int k = best + sign * step; k >= GPNN_COUNT_SITES_LEAST && k <= GPNN_COUNT_SITES_MOST;
           k += sign * step) {
        double loss = loss_under(s, (struct gpnn_count_law){dispersion_at(k)});
        if (!(loss < least)) break;
        best = k;
        least = loss;
      }
  s->params->dispersion = dispersion_at(best);
  return least;
}

static void find_site(void *context, size_t thread, size_t i)
{
  const struct scoring *scoring = context;
  const struct sweeps *s = scoring->sweeps;
  const double least = 1e-12; /* of the variance of f, which rounding may leave at 0 */
  const struct gpnn_count_latent latent = {latent_of(s, i).mean, sqrt(fmax(s->variance[i], least))};
  struct gpnn_count_site site = gpnn_count_site(&scoring->law, s->sites->count[i], &latent);
  (void)thread;
  s->sites->target[i] = site.target - log_exposure(s->sites->dataset, i);
  s->sites->noise[i] = site.noise;
}

/* What has to be added to f so that predictions of all rows, each left out, add up to what was
 * counted. */
static double find_shift(const struct sweeps *s)
{
  double counted = 0, expected = 0;
  for (size_t i = 0; i < s->view.n; i++) {
    counted += s->sites->count[i];
    expected += exp(latent_of(s, i).mean + 0.5 * s->variance[i]);
  }
  double shift = log(events(counted) / expected);
  return isfinite(shift) && s->params->mean.n_coefficients > 0 ? shift : 0;
}

/* Moves the constant, and with it what is known of f at all rows. */
static void shift_constant(struct sweeps *s, double shift)
{
  if (s->params->mean.n_coefficients > 0) s->params->mean.coefficients[0] += shift;
  for (size_t i = 0; i < s->view.n; i++) s->mean[i] += shift;
}

/* One sweep; returns its loss. */
static enum gpnn_status sweep(struct sweeps *s, const struct gpnn_model *first, double *loss,
                              struct gpnn_error *err)
{
  enum gpnn_status status = predict(s, first, err);
  if (status != GPNN_OK) return status;
  shift_constant(s, find_shift(s));
  bool finds = s->params->likelihood == GPNN_LIKELIHOOD_NEGBIN && !s->options->fixed_dispersion;
  *loss = finds ? find_dispersion(s) : loss_under(s, law_of(s->params));
  struct scoring scoring = {s, law_of(s->params)};
  gpnn_threads_each(s->options->threads, s->view.n, TOGETHER, find_site, &scoring);
  return GPNN_OK;
}

/* GPNN_ENUMERIC: sweeps have led to rates that no numbers stand for. */
static enum gpnn_status check_sites(const struct gpnn_count_sites *sites, struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  for (size_t i = 0; i < sites->dataset->n; i++) {
    if (isfinite(sites->target[i]) && isfinite(sites->noise[i]) && sites->noise[i] > 0) continue;
    return gpnn_fail(err, GPNN_ENUMERIC,
                     "target '%s': the rate of training row %zu of the index, whose count is %g, "
                     "leaves the range of numbers: its counts vary too much for this likelihood",
                     gpnn_schema_column_name(&sites->dataset->schema.target, name), i + 1,
                     sites->count[i]);
  }
  return GPNN_OK;
}

/* Ends sweeps with sites and constant moved alike, so that all predictions move by as much and add
 * up to what was counted. */
static enum gpnn_status conclude(struct sweeps *s, const struct gpnn_model *first,
                                 struct gpnn_error *err)
{
  enum gpnn_status status = predict(s, first, err);
  if (status != GPNN_OK) return status;
  const double shift = find_shift(s);
  shift_constant(s, shift);
  for (size_t i = 0; i < s->view.n; i++) s->sites->target[i] += shift;
  return GPNN_OK;
}

enum gpnn_status gpnn_count_sites_sweep(struct gpnn_count_sites *sites,
                                        struct gpnn_parameters *params,
                                        const struct gpnn_count_sites_options *options,
                                        struct gpnn_count_sites_report *report,
                                        struct gpnn_error *err)
{
  const double enough = 1e-4;
  struct sweeps s = {.sites = sites, .params = params, .options = options};
  const size_t most = GPNN_COUNT_SITES_NEIGHBOURS;
  const struct gpnn_model_options model_options = {
      .neighbours = params->neighbours < most ? params->neighbours : most,
      .threads = options->threads};
  const struct gpnn_channel channel = {&s.view, params};
  struct gpnn_count_sites_report result = {.loss = INFINITY};
  struct gpnn_model *first = NULL;
  enum gpnn_status status = sweeps_init(&s, err);
  if (status == GPNN_OK) status = gpnn_model_new(&first, 1, &channel, &model_options, err);
  for (bool changes = true; changes && result.sweeps < options->sweeps && status == GPNN_OK;) {
    double loss = INFINITY;
    status = sweep(&s, first, &loss, err);
    changes = !(fabs(loss - result.loss) < enough);
    result.loss = loss;
    result.n_rows = s.n_scored;
    result.sweeps++;
  }
  if (status == GPNN_OK) status = conclude(&s, first, err);
  if (status == GPNN_OK) status = check_sites(sites, err);
  gpnn_model_free(first);
  gpnn_arrays_free(s.arrays);
  if (status == GPNN_OK) *report = result;
  return status;
}
