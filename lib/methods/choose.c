#include "methods/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/normal.h"
#include "base/rng.h"
#include "methods/leftout.h"
#include "models/localgp.h"
#include "models/rotation.h"

/* What is tried for the number of neighbours.  Candidates are told apart by the first few, which
 * are cheap, on many rows; the best two by all, on some of these rows. */
static const size_t neighbour_counts[] = {16, 32, 64, 128, 256, 400};
enum { N_COUNTS = sizeof neighbour_counts / sizeof neighbour_counts[0], N_FIRST = 3 };

/* One candidate: its fit, and its losses for each number of neighbours. */
struct trial {
  size_t n_targets;
  struct gpnn_params *params; /* owned; n_targets */
  struct gpnn_fit_report fit;
  struct gpnn_candidate candidate; /* with the best number of neighbours */
  size_t best;                     /* place of that number among those tried */
  double nll[N_COUNTS];
  double *loss; /* owned; N_COUNTS by the validation rows: the mean over the targets */
};

/* A choice under way: the validation rows, and the best two trials. */
struct choice {
  const struct gpnn_index *index;
  size_t n_targets;
  const struct gpnn_index_contents *const *targets; /* n_targets: the view of each */
  const struct gpnn_index_contents *contents;       /* the first of them, for the rows */
  const struct gpnn_choose_options *options;
  gpnn_choose_listener *listener;
  void *context;
  struct gpnn_choose_report *report;
  struct trial best, second; /* candidate.kernel is NULL: none yet */
  size_t n_counts;           /* numbers of neighbours to try, and which */
  size_t counts[N_COUNTS];
  size_t n;              /* validation rows in use */
  double *x;             /* n by d */
  double *y, *noise;     /* n, of one target at a time; known noise variances */
  double *regressors;    /* n by n_regressors */
  int64_t *self;         /* n: which training rows they are */
  double *mean, *latent; /* N_COUNTS by n: scratch, of one target */
  double *whitening;     /* d by d, or NULL: whitening is not tried */
};

static void trial_release(struct trial *trial)
{
  gpnn_params_release_all(trial->params, trial->n_targets);
  free(trial->loss);
  *trial = (struct trial){0};
}

/* ---- validation rows ---------------------------------------------------------------------- */

static void choice_release(struct choice *c)
{
  trial_release(&c->best);
  trial_release(&c->second);
  free(c->x);
  free(c->y);
  free(c->noise);
  free(c->regressors);
  free(c->self);
  free(c->mean);
  free(c->latent);
  free(c->whitening);
}

static bool choice_alloc(struct choice *c, size_t n)
{
  c->n = n;
  c->x = gpnn_alloc(n, c->contents->d, sizeof *c->x);
  c->y = gpnn_alloc(n, 1, sizeof *c->y);
  c->noise = gpnn_alloc(n, 1, sizeof *c->noise);
  c->regressors = gpnn_alloc(n, c->contents->n_regressors, sizeof *c->regressors);
  c->self = gpnn_alloc(n, 1, sizeof *c->self);
  c->mean = gpnn_alloc(N_COUNTS, n, sizeof *c->mean);
  c->latent = gpnn_alloc(N_COUNTS, n, sizeof *c->latent);
  return c->x && c->y && c->noise && c->regressors && c->self && c->mean && c->latent;
}

static void copy_row(struct choice *c, size_t i, uint64_t row)
{
  const struct gpnn_index_contents *contents = c->contents;
  size_t d = contents->d, p = contents->n_regressors;
  memcpy(c->x + i * d, contents->x + row * d, d * sizeof *c->x);
  if (p > 0)
    memcpy(c->regressors + i * p, contents->regressors + row * p, p * sizeof *c->regressors);
  c->self[i] = (int64_t)row;
}

/* Rows for fits by neighbourhoods: as many as asked for, but none that scores. */
static size_t rows_left(const struct choice *c, size_t wanted)
{
  size_t left = c->contents->n - c->n;
  return wanted < left ? wanted : left;
}

/* Rows that a fit of 'options' takes from the front of the random order. */
static size_t rows_of_fit(const struct gpnn_choose_options *options)
{
  const struct gpnn_fit_options *fit = &options->fit;
  size_t blocks = 0, pool = fit->rows;
  if (!gpnn_multiply(fit->n_blocks, fit->block_size, &blocks)) return SIZE_MAX;
  if (options->effort == GPNN_EFFORT_THOROUGH && !gpnn_multiply(pool, 4, &pool)) return SIZE_MAX;
  return blocks > pool ? blocks : pool;
}

/*
 * A fit takes the first rows of a random order of all rows, so rows from its end are new to it; of
 * few rows, a third is kept from fits by neighbourhoods (rows_left).  Where blocks take more than
 * is left, rows of theirs serve: left out of their own prediction, they still say which candidate
 * predicts better.
 */
static enum gpnn_status draw_rows(struct choice *c, struct gpnn_error *err)
{
  const struct gpnn_index_contents *contents = c->contents;
  size_t n = (contents->n + 2) / 3 < GPNN_CHOOSE_ROWS ? (contents->n + 2) / 3 : GPNN_CHOOSE_ROWS;
  if (c->options->like != NULL && n > c->options->like->n) n = c->options->like->n;
  if (c->options->like != NULL && n > GPNN_CHOOSE_LAST_ROWS) n = GPNN_CHOOSE_LAST_ROWS;
  size_t fitted = rows_of_fit(c->options);
  if (fitted > contents->n - n) fitted = contents->n - n;
  uint64_t *drawn = gpnn_alloc(fitted + n, 1, sizeof *drawn);
  enum gpnn_status status = GPNN_OK;
  if (drawn == NULL || !choice_alloc(c, n)) status = gpnn_fail_memory(err, "for a choice");
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, c->options->fit.seed, GPNN_RNG_ESTIMATE);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, contents->n, fitted + n, drawn, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) copy_row(c, i, drawn[fitted + i]);
  free(drawn);
  return status;
}

/* The numbers of neighbours to try: all that are less than there are rows, and one more. */
static void set_counts(struct choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  if (!options->neighbours) {
    c->counts[c->n_counts++] = options->fit.neighbours;
    return;
  }
  while (c->n_counts < N_COUNTS) {
    c->counts[c->n_counts] = neighbour_counts[c->n_counts];
    if (c->counts[c->n_counts++] >= c->contents->n) break;
  }
}

/* ---- scores ------------------------------------------------------------------------------- */

/* Adds to 'loss' the negative log densities of a target under calibrated variances, from means and
 * latent variances, divided by the number of targets; false: one is not finite. */
static bool add_losses(const struct choice *c, double noise, const double *mean,
                       const double *latent, double *loss)
{
  double alpha = 0;
  for (size_t i = 0; i < c->n; i++) {
    double error = c->y[i] - mean[i], variance = latent[i] + noise + c->noise[i];
    alpha += error * error / variance / (double)c->n;
  }
  for (size_t i = 0; i < c->n; i++) {
    double sd = sqrt(alpha * (latent[i] + noise + c->noise[i]));
    loss[i] += gpnn_normal_loss(c->y[i] - mean[i], sd) / (double)c->n_targets;
    if (!isfinite(loss[i])) return false;
  }
  return true;
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

static double mean_square(const struct choice *c, const double *mean)
{
  double sum = 0;
  for (size_t i = 0; i < c->n; i++) sum += (c->y[i] - mean[i]) * (c->y[i] - mean[i]);
  return sum / (double)c->n;
}

/* What the targets' predictions with each number of neighbours come to. */
struct tally {
  double square[N_COUNTS]; /* mean over targets and rows of the squared error */
  bool failed[N_COUNTS];   /* a loss is not finite */
};

/* Takes the validation rows' values of a target. */
static void take_target(struct choice *c, const struct gpnn_index_contents *target)
{
  for (size_t i = 0; i < c->n; i++) c->y[i] = target->y[c->self[i]];
  for (size_t i = 0; i < c->n && target->noise != NULL; i++)
    c->noise[i] = target->noise[c->self[i]];
}

/* Puts rows that stand for those of options->like in the place of the validation rows; which ones
 * depends on the metric of 'gp'. */
static enum gpnn_status take_like(struct choice *c, const struct gpnn_localgp *gp,
                                  struct gpnn_leftout *leftout, struct gpnn_points *points,
                                  struct gpnn_error *err)
{
  enum gpnn_status status =
      gpnn_leftout_like(leftout, gp, c->options->like, c->n, c->options->fit.seed, err);
  if (status != GPNN_OK) return status;
  *points = leftout->rows.points;
  memcpy(c->y, leftout->rows.y, c->n * sizeof *c->y);
  if (leftout->rows.noise != NULL) memcpy(c->noise, leftout->rows.noise, c->n * sizeof *c->noise);
  return GPNN_OK;
}

/* Predicts the target of 'gp', with the noise variance 'noise', and adds to the tally and to
 * 'loss'. */
static enum gpnn_status add_target(struct choice *c, const struct gpnn_localgp *gp, double noise,
                                   size_t n_counts, struct tally *tally, double *loss,
                                   struct gpnn_error *err)
{
  struct gpnn_localgp_counts counts = {0};
  struct gpnn_leftout leftout = {0};
  struct gpnn_points points = {.n = c->n, .x = c->x, .regressors = c->regressors, .self = c->self};
  struct gpnn_prediction prediction = {.mean = c->mean, .latent = c->latent};
  enum gpnn_status status = GPNN_OK;
  take_target(c, gpnn_localgp_data(gp));
  if (c->options->like != NULL) status = take_like(c, gp, &leftout, &points, err);
  if (status == GPNN_OK)
    status = gpnn_localgp_predict_each(gp, &points, n_counts, c->counts, &prediction, &counts, err);
  gpnn_leftout_release(&leftout);
  for (size_t k = 0; k < n_counts && status == GPNN_OK; k++) {
    size_t at = k * c->n;
    if (!add_losses(c, noise, c->mean + at, c->latent + at, loss + at)) tally->failed[k] = true;
    tally->square[k] += mean_square(c, c->mean + at) / (double)c->n_targets;
  }
  return status;
}

static enum gpnn_status predict(struct choice *c, struct trial *trial, size_t n_counts,
                                struct tally *tally, struct gpnn_error *err)
{
  size_t n = c->n_targets;
  struct gpnn_localgp **gps = gpnn_alloc(n, 1, sizeof(struct gpnn_localgp *));
  if (gps == NULL) return gpnn_fail_memory(err, "for a choice");
  enum gpnn_status status = gpnn_localgp_new_all(
      gps, n, c->index, trial->params, c->counts[n_counts - 1], c->options->fit.threads, err);
  for (size_t i = 0; i < n_counts * c->n; i++) trial->loss[i] = 0;
  for (size_t t = 0; t < n && status == GPNN_OK; t++)
    status = add_target(c, gps[t], trial->params[t].noise, n_counts, tally, trial->loss, err);
  for (size_t t = 0; t < n; t++) gpnn_localgp_free(gps[t]);
  free(gps);
  return status;
}

/* Scores a trial with the first 'n_counts' numbers of neighbours and tells the listener. */
static enum gpnn_status score(struct choice *c, struct trial *trial, size_t n_counts,
                              struct gpnn_error *err)
{
  struct gpnn_candidate *candidate = &trial->candidate;
  struct tally tally = {{0}, {0}};
  candidate->nll = candidate->standard_error = NAN;
  candidate->neighbours = c->counts[0];
  enum gpnn_status status = predict(c, trial, n_counts, &tally, err);
  for (size_t k = 0; k < n_counts && status == GPNN_OK; k++) {
    double standard_error;
    trial->nll[k] = NAN;
    if (tally.failed[k]) continue;
    trial->nll[k] = mean_difference(c->n, trial->loss + k * c->n, NULL, &standard_error);
    if (k > 0 && !(isnan(candidate->nll) || trial->nll[k] < candidate->nll)) continue;
    trial->best = k;
    candidate->neighbours = c->counts[k];
    candidate->nll = trial->nll[k];
    candidate->standard_error = standard_error;
    candidate->rmse = sqrt(tally.square[k]);
  }
  if (status == GPNN_OK && isnan(candidate->nll))
    status = gpnn_fail(err, GPNN_ENUMERIC, "a score is not finite");
  if (c->listener != NULL) c->listener(c->context, candidate);
  return status;
}

/* By the NLL; where that hardly tells them apart, by the error of the means. */
static bool is_better(const struct trial *a, const struct trial *b)
{
  const double alike = 0.02;
  const struct gpnn_candidate *p = &a->candidate, *q = &b->candidate;
  if (q->kernel == NULL) return true;
  return fabs(p->nll - q->nll) > alike ? p->nll < q->nll : p->rmse < q->rmse;
}

/* Takes over 'trial' if it is among the best two, and empties it. */
static void keep(struct choice *c, struct trial *trial)
{
  struct trial *place = is_better(trial, &c->best)     ? &c->best
                        : is_better(trial, &c->second) ? &c->second
                                                       : NULL;
  if (place == &c->best) {
    trial_release(&c->second);
    c->second = c->best;
    c->best = (struct trial){0};
  }
  if (place != NULL) {
    trial_release(place);
    *place = *trial;
    *trial = (struct trial){0};
  }
  trial_release(trial);
}

/* ---- candidates --------------------------------------------------------------------------- */

/* Fits a trial.  Among several targets of the index the parameters say which they are of. */
static enum gpnn_status fit_trial(const struct choice *c, const struct gpnn_fit_options *options,
                                  struct trial *trial, struct gpnn_error *err)
{
  trial->params = gpnn_alloc(c->n_targets, 1, sizeof *trial->params);
  if (trial->params == NULL) return gpnn_fail_memory(err, "for the parameters");
  trial->n_targets = c->n_targets;
  enum gpnn_status status =
      gpnn_fit_all(c->n_targets, c->targets, options, trial->params, &trial->fit, err);
  if (status != GPNN_OK || gpnn_index_n_targets(c->index) == 1) return status;
  for (size_t t = 0; t < c->n_targets; t++) {
    const char *name = c->targets[t]->schema.target.name;
    trial->params[t].target = gpnn_copy_text(name, strlen(name));
    if (trial->params[t].target == NULL) return gpnn_fail_memory(err, "for the parameters");
  }
  return GPNN_OK;
}

static enum gpnn_rotate rotate_of(const struct choice *c, const struct gpnn_fit_options *options)
{
  if (options->learn_rotation) return GPNN_ROTATE_LEARN;
  return options->rotation != NULL && options->rotation == c->whitening ? GPNN_ROTATE_WHITEN
                                                                        : GPNN_ROTATE_NONE;
}

/* Numbers of neighbours that candidates are told apart by: few suffice among others like it, but
 * not for a row in a gap. */
static size_t first_counts(const struct choice *c)
{
  return c->options->like != NULL || c->n_counts < N_FIRST ? c->n_counts : N_FIRST;
}

/* Fits and scores one candidate, and keeps it if it is among the best; one that is not positive
 * definite is passed over. */
static enum gpnn_status try_candidate(struct choice *c, const struct gpnn_fit_options *options,
                                      struct gpnn_error *err)
{
  struct trial trial = {0};
  size_t first = first_counts(c);
  trial.loss = gpnn_alloc(N_COUNTS, c->n, sizeof *trial.loss);
  if (trial.loss == NULL) return gpnn_fail_memory(err, "for a choice");
  enum gpnn_status status = fit_trial(c, options, &trial, err);
  trial.candidate = (struct gpnn_candidate){.kernel = options->kernel,
                                            .smoothness = options->smoothness,
                                            .ard = options->ard,
                                            .rotate = rotate_of(c, options),
                                            .objective = trial.fit.objective,
                                            .k = trial.fit.k};
  if (status == GPNN_OK) status = score(c, &trial, first, err);
  if (status == GPNN_OK) keep(c, &trial);
  trial_release(&trial);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

/* Kernels from the middle of roughness outwards. */
static const char *const by_roughness[] = {"matern32", "exp", "matern52", "rbf"};
enum { N_KERNELS = sizeof by_roughness / sizeof by_roughness[0] };

/*
 * Every kernel, or the one that is given.  Scores have one peak along roughness, so that without
 * 'all' a smoother kernel is tried only while the smoothest tried so far is the best.
 */
static enum gpnn_status try_kernels(struct choice *c, struct gpnn_fit_options options, bool all,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (!c->options->kernel) return try_candidate(c, &options, err);
  for (size_t k = 0; k < N_KERNELS && status == GPNN_OK; k++) {
    const struct gpnn_kernel *smoother = k == 2   ? gpnn_kernel_by_name(by_roughness[0])
                                         : k == 3 ? gpnn_kernel_by_name(by_roughness[2])
                                                  : NULL;
    if (!all && smoother != NULL && c->best.candidate.kernel != smoother) break;
    options.kernel = gpnn_kernel_by_name(by_roughness[k]);
    status = try_candidate(c, &options, err);
  }
  return status;
}

/* The kernel of the best so far, with the other number of lengthscales. */
static enum gpnn_status try_isotropic(struct choice *c, struct gpnn_fit_options options,
                                      struct gpnn_error *err)
{
  if (c->best.candidate.kernel == NULL) return GPNN_OK;
  options.kernel = c->best.candidate.kernel;
  options.smoothness = c->best.candidate.smoothness;
  options.ard = false;
  return try_candidate(c, &options, err);
}

/* Options that go on from the best so far, by the last objective alone. */
static struct gpnn_fit_options from_best(const struct choice *c, struct gpnn_fit_options options)
{
  const struct trial *best = &c->best;
  options.kernel = best->candidate.kernel;
  options.smoothness = best->candidate.smoothness;
  options.ard = best->candidate.ard;
  options.rotation = best->params->rotation;
  options.start = best->params;
  options.n_starts = c->n_targets;
  if (options.second != GPNN_OBJECTIVE_NONE) options.first = options.second;
  options.second = GPNN_OBJECTIVE_NONE;
  return options;
}

/* Directions learnt make rows nearer to their neighbours, where a rougher kernel may do better: the
 * next one, from the best so far. */
static enum gpnn_status try_rougher(struct choice *c, struct gpnn_fit_options options,
                                    struct gpnn_error *err)
{
  static const char *const falling[] = {"rbf", "matern52", "matern32", "exp"};
  enum { N = sizeof falling / sizeof falling[0] };
  for (size_t k = 0; c->options->kernel && k + 1 < N; k++) {
    if (c->best.candidate.kernel != gpnn_kernel_by_name(falling[k])) continue;
    options = from_best(c, options);
    options.kernel = gpnn_kernel_by_name(falling[k + 1]);
    options.steps = (options.steps + 1) / 2;
    return try_candidate(c, &options, err);
  }
  return GPNN_OK;
}

/* The best so far with whitened inputs, and then with directions learnt. */
static enum gpnn_status try_rotations(struct choice *c, struct gpnn_fit_options options,
                                      struct gpnn_error *err)
{
  size_t all_steps = options.steps;
  if (c->best.candidate.kernel == NULL) return GPNN_OK;
  options.kernel = c->best.candidate.kernel;
  options.smoothness = c->best.candidate.smoothness;
  options.rotation = c->whitening;
  options.steps = (all_steps + 1) / 2;
  enum gpnn_status status = try_candidate(c, &options, err);
  if (status != GPNN_OK || !c->best.candidate.ard) return status;
  options = from_best(c, options);
  options.steps = all_steps;
  options.learn_rotation = true;
  status = try_candidate(c, &options, err);
  return status == GPNN_OK ? try_rougher(c, options, err) : status;
}

/* Computes the whitening if it will be needed; whether rotations are to be tried. */
static enum gpnn_status prepare_rotation(struct choice *c, bool *tried, struct gpnn_error *err)
{
  const struct gpnn_choose_options *options = c->options;
  const struct gpnn_index_contents *contents = c->contents;
  size_t d = contents->d;
  *tried = options->rotation && options->effort != GPNN_EFFORT_FAST && d > 1 &&
           d <= GPNN_CHOOSE_ROTATION && contents->n_groups == d &&
           options->fit.mean != GPNN_MEAN_LINEAR && options->fit.ard && options->objective;
  if (!*tried && (options->rotation || options->rotate != GPNN_ROTATE_WHITEN)) return GPNN_OK;
  c->whitening = gpnn_alloc(d, d, sizeof *c->whitening);
  if (c->whitening == NULL) return gpnn_fail_memory(err, "for a rotation");
  return gpnn_rotation_whiten(contents->n, d, contents->x, options->fit.seed, c->whitening, err);
}

/* The best two again, from where they are, at more expense. */
static enum gpnn_status try_harder(struct choice *c, struct gpnn_fit_options options,
                                   struct gpnn_error *err)
{
  struct trial from[] = {c->best, c->second};
  enum gpnn_status status = GPNN_OK;
  c->best = c->second = (struct trial){0};
  options.first = options.second != GPNN_OBJECTIVE_NONE ? options.second : options.first;
  options.second = GPNN_OBJECTIVE_NONE;
  options.rows = rows_left(c, 4 * options.rows);
  options.steps *= 3;
  options.k *= 2;
  for (size_t i = 0; i < 2 && status == GPNN_OK; i++) {
    if (from[i].candidate.kernel == NULL) continue;
    options.kernel = from[i].candidate.kernel;
    options.smoothness = from[i].candidate.smoothness;
    options.ard = from[i].candidate.ard;
    options.start = from[i].params;
    options.n_starts = c->n_targets;
    options.rotation = from[i].params->rotation;
    options.learn_rotation = from[i].candidate.rotate == GPNN_ROTATE_LEARN;
    status = try_candidate(c, &options, err);
  }
  /* They are compared with what they came from. */
  keep(c, &from[0]);
  keep(c, &from[1]);
  return status;
}

/* Several k for the objective, each from the best so far. */
static enum gpnn_status try_k(struct choice *c, struct gpnn_fit_options options,
                              struct gpnn_error *err)
{
  static const size_t grid[] = {32, 64, 128, 256};
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < sizeof grid / sizeof *grid && status == GPNN_OK; i++) {
    const struct gpnn_candidate *best = &c->best.candidate;
    struct gpnn_fit_options own = options;
    own.k = grid[i];
    if (i > 0 && (best->kernel == NULL || grid[i - 1] >= c->contents->n)) break;
    if (i > 0) {
      own = from_best(c, own);
      own.steps = (options.steps + 1) / 2;
    }
    status = i == 0 ? try_kernels(c, own, false, err) : try_candidate(c, &own, err);
  }
  return status;
}

/* By blocks alone: every kernel with many lengthscales and with one. */
static enum gpnn_status try_fast(struct choice *c, struct gpnn_fit_options fit, bool both,
                                 struct gpnn_error *err)
{
  enum gpnn_status status = try_kernels(c, fit, true, err);
  if (status != GPNN_OK || !both) return status;
  fit.ard = false;
  return try_kernels(c, fit, true, err);
}

/*
 * Kernels in half the steps, since what is learnt in the end starts from the best of them; then
 * one lengthscale, which takes fewer still; then rotations.
 */
static enum gpnn_status try_normal(struct choice *c, struct gpnn_fit_options fit, bool both,
                                   bool rotations, struct gpnn_error *err)
{
  struct gpnn_fit_options own = fit;
  if (rotations) own.steps = (fit.steps + 1) / 2;
  enum gpnn_status status =
      c->options->k ? try_k(c, own, err) : try_kernels(c, own, c->options->like != NULL, err);
  own.steps = (fit.steps + 3) / 4;
  if (status == GPNN_OK && both) status = try_isotropic(c, own, err);
  if (status == GPNN_OK && rotations) status = try_rotations(c, fit, err);
  if (status == GPNN_OK && c->options->effort == GPNN_EFFORT_THOROUGH)
    status = try_harder(c, fit, err);
  return status;
}

/* The options that every candidate begins with. */
static struct gpnn_fit_options common(const struct choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  struct gpnn_fit_options fit = options->fit;
  if (!options->rotation && options->rotate == GPNN_ROTATE_WHITEN) fit.rotation = c->whitening;
  if (!options->rotation) fit.learn_rotation = options->rotate == GPNN_ROTATE_LEARN;
  if (options->objective)
    fit.first = options->effort == GPNN_EFFORT_FAST ? GPNN_OBJECTIVE_BLOCK : GPNN_OBJECTIVE_LOO;
  return fit;
}

/* Every candidate that the options leave open. */
static enum gpnn_status try_all(struct choice *c, bool rotations, struct gpnn_error *err)
{
  const struct gpnn_choose_options *options = c->options;
  struct gpnn_fit_options fit = common(c);
  /* With one lengthscale in all, one for each is one for all. */
  size_t n_groups = c->contents->n_groups;
  bool both = options->ard && n_groups > 1 && n_groups <= GPNN_CHOOSE_ARD;
  fit.rows = rows_left(c, fit.rows);
  fit.ard = both || (!options->ard && fit.ard);
  enum gpnn_status status = options->effort == GPNN_EFFORT_FAST
                                ? try_fast(c, fit, both, err)
                                : try_normal(c, fit, both, rotations, err);
  if (status == GPNN_OK && c->best.candidate.kernel == NULL)
    return gpnn_fail(err, GPNN_ENUMERIC, "no candidate gives finite predictions");
  return status;
}

/* ---- the best two ------------------------------------------------------------------------- */

/* Scores a trial on the last rows with all numbers of neighbours.  What the further ones gain there
 * is added to its score on all rows, which is more certain. */
static enum gpnn_status score_all(struct choice *c, struct trial *trial, struct gpnn_error *err)
{
  struct gpnn_candidate first = trial->candidate, *candidate = &trial->candidate;
  double least = INFINITY;
  enum gpnn_status status = score(c, trial, c->n_counts, err);
  if (status != GPNN_OK) return status;
  for (size_t k = 0; k < N_FIRST; k++) least = fmin(least, trial->nll[k]);
  candidate->nll = first.nll + candidate->nll - least;
  candidate->standard_error = first.standard_error;
  candidate->rmse = first.rmse;
  return GPNN_OK;
}

/* Scores the best two with all numbers of neighbours, if candidates were told apart by fewer. */
static enum gpnn_status compare_best(struct choice *c, struct gpnn_error *err)
{
  if (c->n_counts == first_counts(c)) return GPNN_OK;
  if (c->n > GPNN_CHOOSE_LAST_ROWS) c->n = GPNN_CHOOSE_LAST_ROWS;
  enum gpnn_status status = score_all(c, &c->best, err);
  if (status != GPNN_OK || c->second.candidate.kernel == NULL) return status;
  status = score_all(c, &c->second, err);
  if (status == GPNN_OK && is_better(&c->second, &c->best)) {
    struct trial best = c->second;
    c->second = c->best;
    c->best = best;
  }
  return status;
}

/* The fewest neighbours that are as good as the best number of them. */
static void choose_neighbours(struct choice *c)
{
  struct trial *trial = &c->best;
  struct gpnn_candidate *fewest = &c->report->fewest;
  const double most = 0.01; /* what a user may lose for speed, however uncertain the scores */
  size_t best = trial->best, i = c->options->like == NULL ? 0 : best;
  for (; i < best; i++) {
    double standard_error, *loss = trial->loss;
    if (isnan(trial->nll[i])) continue;
    double worse = mean_difference(c->n, loss + i * c->n, loss + best * c->n, &standard_error);
    if (worse <= fmin(standard_error, most)) break;
  }
  *fewest = trial->candidate;
  fewest->neighbours = c->counts[i];
  fewest->nll += trial->nll[i] - trial->nll[best];
  for (size_t t = 0; t < c->n_targets; t++) trial->params[t].neighbours = fewest->neighbours;
}

/* Where nothing is left open: the one fit, without a score, from all rows. */
static enum gpnn_status fit_only(struct choice *c, struct gpnn_error *err)
{
  struct gpnn_fit_options fit = common(c);
  struct trial *trial = &c->best;
  enum gpnn_status status = fit_trial(c, &fit, trial, err);
  trial->candidate = (struct gpnn_candidate){.kernel = fit.kernel,
                                             .smoothness = fit.smoothness,
                                             .ard = fit.ard,
                                             .rotate = rotate_of(c, &fit),
                                             .objective = trial->fit.objective,
                                             .k = trial->fit.k,
                                             .neighbours = fit.neighbours,
                                             .nll = NAN,
                                             .standard_error = NAN,
                                             .rmse = NAN};
  return status;
}

/*
 * Where rows kept for the score would have made a difference to the fit, the chosen one goes on
 * from where it is with all rows.
 */
static enum gpnn_status refit(struct choice *c, struct gpnn_error *err)
{
  const struct gpnn_choose_options *given = c->options;
  struct trial *best = &c->best, trial = {0};
  struct gpnn_fit_options fit = from_best(c, common(c));
  if (best->candidate.objective == GPNN_OBJECTIVE_BLOCK || rows_left(c, fit.rows) == fit.rows)
    return GPNN_OK;
  fit.first = best->candidate.objective;
  fit.learn_rotation = best->candidate.rotate == GPNN_ROTATE_LEARN;
  fit.k = best->candidate.k + (fit.first == GPNN_OBJECTIVE_MLL_K); /* which counts the row itself */
  fit.steps = (fit.steps + 1) / 2;
  fit.neighbours = best->params->neighbours;
  if (given->effort == GPNN_EFFORT_THOROUGH) fit.rows = c->contents->n;
  enum gpnn_status status = fit_trial(c, &fit, &trial, err);
  if (status == GPNN_OK) {
    struct gpnn_params *params = best->params;
    best->params = trial.params;
    best->fit = trial.fit;
    trial.params = params;
  }
  trial_release(&trial);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

static enum gpnn_status try_and_compare(struct choice *c, bool rotations, struct gpnn_error *err)
{
  set_counts(c);
  enum gpnn_status status = draw_rows(c, err);
  if (status == GPNN_OK) status = try_all(c, rotations, err);
  if (status == GPNN_OK) status = compare_best(c, err);
  if (status == GPNN_OK && c->options->neighbours) choose_neighbours(c);
  return status == GPNN_OK ? refit(c, err) : status;
}

enum gpnn_status gpnn_choose_all(const struct gpnn_index *index, size_t n,
                                 const struct gpnn_index_contents *const targets[],
                                 const struct gpnn_choose_options *options,
                                 gpnn_choose_listener *listener, void *context,
                                 struct gpnn_params *params, struct gpnn_choose_report *report,
                                 struct gpnn_error *err)
{
  struct gpnn_choose_report own = {0};
  struct choice c = {.index = index,
                     .n_targets = n,
                     .targets = targets,
                     .contents = targets[0],
                     .options = options,
                     .listener = listener,
                     .context = context,
                     .report = &own};
  bool rotations, is_open = options->kernel || options->ard || options->neighbours || options->k;
  enum gpnn_status status = prepare_rotation(&c, &rotations, err);
  if (status == GPNN_OK)
    status = is_open || rotations ? try_and_compare(&c, rotations, err) : fit_only(&c, err);
  if (status == GPNN_OK) {
    own.n_rows = c.n;
    own.chosen = c.best.candidate;
    own.runner_up = c.second.candidate;
    own.fit = c.best.fit;
    *report = own;
    memcpy(params, c.best.params, n * sizeof *params);
    free(c.best.params);
    c.best.params = NULL;
    c.best.n_targets = 0;
  }
  choice_release(&c);
  return status;
}

enum gpnn_status gpnn_choose(const struct gpnn_index *index,
                             const struct gpnn_index_contents *contents,
                             const struct gpnn_choose_options *options,
                             gpnn_choose_listener *listener, void *context,
                             struct gpnn_params *params, struct gpnn_choose_report *report,
                             struct gpnn_error *err)
{
  return gpnn_choose_all(index, 1, &contents, options, listener, context, params, report, err);
}
