#include "methods/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/normal.h"
#include "base/rng.h"
#include "models/localgp.h"

static const size_t neighbour_counts[] = {16, 32, 64, 128, 256, 400};
enum { N_COUNTS = sizeof neighbour_counts / sizeof neighbour_counts[0] };

/* A choice under way: the validation rows, and what scoring needs. */
struct choice {
  const struct gpnn_index *index;
  const struct gpnn_choose_options *options;
  gpnn_choose_listener *listener;
  void *context;
  struct gpnn_params *params; /* the best so far */
  struct gpnn_choose_report *report;
  size_t n;                     /* validation rows */
  double *x, *y;                /* n by d, n */
  int64_t *self;                /* n: which training rows they are */
  double *mean, *latent, *loss; /* n: scratch */
};

/* ---- validation rows ---------------------------------------------------------------------- */

static void choice_release(struct choice *c)
{
  free(c->x);
  free(c->y);
  free(c->self);
  free(c->mean);
  free(c->latent);
  free(c->loss);
}

static bool choice_alloc(struct choice *c, size_t n, size_t d)
{
  c->n = n;
  c->x = gpnn_alloc(n, d, sizeof *c->x);
  c->y = gpnn_alloc(n, 1, sizeof *c->y);
  c->self = gpnn_alloc(n, 1, sizeof *c->self);
  c->mean = gpnn_alloc(n, 1, sizeof *c->mean);
  c->latent = gpnn_alloc(n, 1, sizeof *c->latent);
  c->loss = gpnn_alloc(n, 1, sizeof *c->loss);
  return c->x && c->y && c->self && c->mean && c->latent && c->loss;
}

/*
 * The fit takes the first rows of a random order of all rows, so the rows after those are new
 * to it.  Where they are too few, rows of the fit serve: left out of their own prediction, they
 * still say which candidate predicts better.
 */
static enum gpnn_status draw_rows(struct choice *c, struct gpnn_error *err)
{
  const struct gpnn_index_contents *contents = gpnn_index_contents(c->index);
  const struct gpnn_fit_options *fit = &c->options->fit;
  size_t d = contents->d, n = contents->n < GPNN_CHOOSE_ROWS ? contents->n : GPNN_CHOOSE_ROWS;
  size_t fitted = 0;
  if (!gpnn_multiply(fit->n_blocks, fit->block_size, &fitted) || fitted > contents->n - n)
    fitted = contents->n - n;
  uint64_t *drawn = gpnn_alloc(fitted + n, 1, sizeof *drawn);
  enum gpnn_status status = GPNN_OK;
  if (drawn == NULL || !choice_alloc(c, n, d)) status = gpnn_fail_memory(err, "for a choice");
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, fit->seed, GPNN_RNG_ESTIMATE);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, contents->n, fitted + n, drawn, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    uint64_t row = drawn[fitted + i];
    memcpy(c->x + i * d, contents->x + row * d, d * sizeof *c->x);
    c->y[i] = contents->y[row];
    c->self[i] = (int64_t)row;
  }
  free(drawn);
  return status;
}

/* ---- scores ------------------------------------------------------------------------------- */

/* Negative log densities of the validation rows under calibrated variances, into 'loss'. */
static enum gpnn_status losses(struct choice *c, const struct gpnn_localgp *gp, double noise,
                               double *loss, struct gpnn_error *err)
{
  struct gpnn_localgp_counts counts = {0};
  struct gpnn_points points = {.n = c->n, .x = c->x, .self = c->self};
  struct gpnn_prediction prediction = {.mean = c->mean, .latent = c->latent};
  enum gpnn_status status = gpnn_localgp_predict(gp, &points, &prediction, &counts, err);
  if (status != GPNN_OK) return status;
  double alpha = 0;
  for (size_t i = 0; i < c->n; i++) {
    double error = c->y[i] - c->mean[i], variance = c->latent[i] + noise;
    alpha += error * error / variance / (double)c->n;
  }
  for (size_t i = 0; i < c->n; i++) {
    loss[i] = gpnn_normal_loss(c->y[i] - c->mean[i], sqrt(alpha * (c->latent[i] + noise)));
    if (!isfinite(loss[i])) return gpnn_fail(err, GPNN_ENUMERIC, "a score is not finite");
  }
  return GPNN_OK;
}

/* Mean of a[i] - b[i] (b may be NULL: zero) and its standard error. */
static double mean_difference(size_t n, const double *a, const double *b, double *standard_error)
{
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) mean += (a[i] - (b == NULL ? 0 : b[i])) / (double)n;
  for (size_t i = 0; i < n; i++) squares += pow(a[i] - (b == NULL ? 0 : b[i]) - mean, 2);
  *standard_error = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : 0;
  return mean;
}

/* Scores 'params' with 'neighbours' and tells the listener; what cannot be scored has NaN. */
static enum gpnn_status score(struct choice *c, struct gpnn_localgp *gp,
                              const struct gpnn_params *params, bool ard, size_t neighbours,
                              double *loss, struct gpnn_candidate *candidate,
                              struct gpnn_error *err)
{
  *candidate = (struct gpnn_candidate){params->kernel, ard, neighbours, NAN, NAN};
  gpnn_localgp_set_neighbours(gp, neighbours);
  enum gpnn_status status = losses(c, gp, params->noise, loss, err);
  if (status == GPNN_OK)
    candidate->nll = mean_difference(c->n, loss, NULL, &candidate->standard_error);
  if (c->listener != NULL) c->listener(c->context, candidate);
  return status;
}

/* ---- kernels ------------------------------------------------------------------------------ */

static bool is_better(const struct gpnn_candidate *a, const struct gpnn_candidate *b)
{
  return b->kernel == NULL || a->nll < b->nll;
}

/* Fits and scores one candidate; keeps it if it is the best so far. */
static enum gpnn_status try_kernel(struct choice *c, const struct gpnn_kernel *kernel, bool ard,
                                   struct gpnn_error *err)
{
  struct gpnn_choose_report *report = c->report;
  struct gpnn_fit_options options = c->options->fit;
  options.kernel = kernel;
  options.ard = ard;
  struct gpnn_params params = {0};
  struct gpnn_localgp *gp = NULL;
  struct gpnn_fit_report fit;
  struct gpnn_candidate candidate;
  size_t m = c->options->neighbours ? GPNN_CHOOSE_NEIGHBOURS : options.neighbours;
  enum gpnn_status status =
      gpnn_fit_block(gpnn_index_contents(c->index), &options, &params, &fit, err);
  if (status == GPNN_OK) status = gpnn_localgp_new(&gp, c->index, &params, m, options.threads, err);
  if (status == GPNN_OK) status = score(c, gp, &params, ard, m, c->loss, &candidate, err);
  gpnn_localgp_free(gp);
  if (status == GPNN_OK && is_better(&candidate, &report->chosen)) {
    gpnn_params_release(c->params);
    *c->params = params;
    params = (struct gpnn_params){0};
    report->runner_up = report->chosen;
    report->chosen = candidate;
    report->fit = fit;
  } else if (status == GPNN_OK && is_better(&candidate, &report->runner_up)) {
    report->runner_up = candidate;
  }
  gpnn_params_release(&params);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

static enum gpnn_status choose_kernel(struct choice *c, struct gpnn_error *err)
{
  const struct gpnn_choose_options *options = c->options;
  const struct gpnn_kernel *kernel;
  /* With one input, one lengthscale for each is one for all. */
  size_t d = gpnn_index_contents(c->index)->d;
  bool both = options->ard && d > 1 && d <= GPNN_CHOOSE_ARD;
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; (kernel = gpnn_kernel_at(k)) != NULL && status == GPNN_OK; k++) {
    bool candidate =
        options->kernel ? !gpnn_kernel_needs_smoothness(kernel) : kernel == options->fit.kernel;
    if (!candidate) continue;
    status = try_kernel(c, kernel, both || (!options->ard && options->fit.ard), err);
    if (status == GPNN_OK && both) status = try_kernel(c, kernel, false, err);
  }
  if (status == GPNN_OK && c->report->chosen.kernel == NULL)
    return gpnn_fail(err, GPNN_ENUMERIC, "no candidate gives finite predictions");
  return status;
}

/* ---- neighbours --------------------------------------------------------------------------- */

/* The fewest of the first 'n_tried' counts that are as good as the best of them. */
static size_t fewest_as_good(const struct choice *c, size_t n_tried,
                             const struct gpnn_candidate *tried, const double *loss)
{
  size_t best = 0, i = 0;
  for (size_t k = 1; k < n_tried; k++)
    if (tried[k].nll < tried[best].nll) best = k;
  for (; i < best; i++) {
    double standard_error;
    double worse = mean_difference(c->n, loss + i * c->n, loss + best * c->n, &standard_error);
    if (worse <= standard_error) break;
  }
  return i;
}

static enum gpnn_status choose_neighbours(struct choice *c, struct gpnn_error *err)
{
  struct gpnn_candidate tried[N_COUNTS];
  size_t n = gpnn_index_contents(c->index)->n, n_tried = 0;
  struct gpnn_localgp *gp = NULL;
  double *loss = gpnn_alloc(N_COUNTS, c->n, sizeof *loss);
  enum gpnn_status status = GPNN_OK;
  if (loss == NULL)
    status = gpnn_fail_memory(err, "for a choice");
  else
    status = gpnn_localgp_new(&gp, c->index, c->params, GPNN_CHOOSE_NEIGHBOURS,
                              c->options->fit.threads, err);
  while (n_tried < N_COUNTS && status == GPNN_OK) {
    status = score(c, gp, c->params, c->report->chosen.ard, neighbour_counts[n_tried],
                   loss + n_tried * c->n, &tried[n_tried], err);
    if (neighbour_counts[n_tried++] >= n) break; /* more would be the same rows */
  }
  if (status == GPNN_OK) {
    c->report->fewest = tried[fewest_as_good(c, n_tried, tried, loss)];
    c->params->neighbours = c->report->fewest.neighbours;
  }
  gpnn_localgp_free(gp);
  free(loss);
  return status;
}

enum gpnn_status gpnn_choose(const struct gpnn_index *index,
                             const struct gpnn_choose_options *options,
                             gpnn_choose_listener *listener, void *context,
                             struct gpnn_params *params, struct gpnn_choose_report *report,
                             struct gpnn_error *err)
{
  struct choice c = {.index = index,
                     .options = options,
                     .listener = listener,
                     .context = context,
                     .params = params,
                     .report = report};
  *report = (struct gpnn_choose_report){0};
  enum gpnn_status status = draw_rows(&c, err);
  report->n_rows = c.n;
  if (status == GPNN_OK) status = choose_kernel(&c, err);
  if (status == GPNN_OK && options->neighbours) status = choose_neighbours(&c, err);
  choice_release(&c);
  return status;
}
