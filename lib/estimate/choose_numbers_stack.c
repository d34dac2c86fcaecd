/*
 * Whether several candidates together predict rows that no fit has seen better than the best of
 * them does alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/choose_private.h"
#include "likelihood/head.h"
#include "likelihood/scale.h"
#include "linalg/blas.h"
#include "models/heldout.h"
#include "models/mixture.h"
#include "stats/scores/difference.h"

enum { MOST = GPNN_WEIGHTS_CANDIDATES };

/* Candidates, and what they predict of the validation rows, one target after another. */
struct pool {
  struct gpnn_choice *choice;
  size_t n, n_targets; /* rows, of each target */
  size_t n_candidates;
  struct gpnn_choose_trial *trial[MOST]; /* the best first */
  struct gpnn_latent latent[MOST];       /* n_targets by n: mean, variance and misfit, owned */
  double *y, *known_noise;               /* n_targets by n, owned */
  double *importance;                    /* n_targets by n, owned: q of gpnn_weights_find() */
  struct gpnn_latent stacked;            /* n, owned: scratch for one target */
};

/* ---- weights ------------------------------------------------------------------------------- */

/* The prior's standard deviation of a weight. */
static const double prior_sd = 0.25;

/* The candidates in a set of bits, lowest first; returns their number. */
static size_t members_of(unsigned set, size_t n, size_t *member)
{
  size_t size = 0;
  for (size_t k = 0; k < n; k++)
    if (set >> k & 1) member[size++] = k;
  return size;
}

/* Writes the weights of a subset, and returns what they minimise; infinite if one is below the
 * bound, or the errors are no numbers. */
static double weigh(size_t n, const double *moments, size_t size, const size_t *member,
                    double *weight)
{
  double matrix[MOST * MOST], sum = 0, value = 0;
  for (size_t a = 0; a < size; a++) {
    weight[a] = 1;
    for (size_t b = 0; b < size; b++)
      matrix[a * size + b] =
          moments[member[a] * n + member[b]] + (a == b ? 1 / (prior_sd * prior_sd) : 0);
  }
  if (LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', (lapack_int)size, 1, matrix, (lapack_int)size,
                         weight, (lapack_int)size) != 0)
    return INFINITY;
  for (size_t a = 0; a < size; a++) sum += weight[a];
  for (size_t a = 0; a < size; a++) {
    weight[a] /= sum;
    if (!(weight[a] >= GPNN_WEIGHTS_LEAST)) return INFINITY;
  }
  for (size_t a = 0; a < size; a++) {
    double off = (weight[a] - 1 / (double)size) / prior_sd;
    value += 0.5 * off * off;
    for (size_t b = 0; b < size; b++)
      value += 0.5 * weight[a] * weight[b] * moments[member[a] * n + member[b]];
  }
  return isnan(value) ? INFINITY : value;
}

bool gpnn_weights_find(size_t n, const double *moments, size_t size, double *weight)
{
  double least = INFINITY;
  for (unsigned set = 1; set < 1U << n; set += 2) { /* those with the first candidate */
    size_t member[MOST];
    double own[MOST];
    if (members_of(set, n, member) != size) continue;
    double value = weigh(n, moments, size, member, own);
    if (!(value < least)) continue;
    least = value;
    memset(weight, 0, n * sizeof *weight);
    for (size_t a = 0; a < size; a++) weight[member[a]] = own[a];
  }
  return isfinite(least);
}

/* ---- candidates --------------------------------------------------------------------------- */

static void latent_release(struct gpnn_latent *latent)
{
  free(latent->mean);
  free(latent->variance);
  free(latent->misfit);
  free(latent->nearest);
}

static bool latent_alloc(struct gpnn_latent *latent, size_t n)
{
  latent->mean = gpnn_alloc(n, 1, sizeof *latent->mean);
  latent->variance = gpnn_alloc(n, 1, sizeof *latent->variance);
  latent->misfit = gpnn_alloc(n, 1, sizeof *latent->misfit);
  latent->nearest = gpnn_alloc(n, 1, sizeof *latent->nearest);
  return latent->mean && latent->variance && latent->misfit && latent->nearest;
}

static void pool_release(struct pool *p)
{
  for (size_t k = 0; k < MOST; k++) latent_release(&p->latent[k]);
  latent_release(&p->stacked);
  free(p->y);
  free(p->known_noise);
  free(p->importance);
}

/* The trial with the lowest score that is not in the pool yet; NULL: none. */
static struct gpnn_choose_trial *next_best(const struct pool *p)
{
  struct gpnn_choose_trial *next = NULL;
  for (size_t i = 0; i < p->choice->n_trials; i++) {
    struct gpnn_choose_trial *trial = p->choice->trials[i];
    bool taken = false;
    for (size_t k = 0; k < p->n_candidates; k++) taken = taken || p->trial[k] == trial;
    if (!taken && (next == NULL || trial->candidate.score < next->candidate.score)) next = trial;
  }
  return next;
}

/* Sets the candidates and the number of rows: few of either where predictions from the neighbours
 * of the best take long.  Those that score next to the best are often much like it, and errors that
 * differ may come from one far behind, so much effort considers all. */
static void take_candidates(struct pool *p, const struct gpnn_choice *c)
{
  enum { FEW = 3, USUAL = 6 };
  struct gpnn_choose_trial *next = gpnn_choice_best(c);
  bool is_dear = !next->candidate.exact && !is_thorough(c) &&
                 next->params->neighbours > c->counts[gpnn_choice_first_counts(c) - 1];
  p->n = is_dear ? c->n : c->n_drawn;
  size_t most = is_dear ? FEW : is_thorough(c) ? MOST : USUAL;
  for (; p->n_candidates < most && next != NULL; next = next_best(p))
    p->trial[p->n_candidates++] = next;
}

static enum gpnn_status pool_init(struct pool *p, struct gpnn_choice *c, struct gpnn_error *err)
{
  *p = (struct pool){.choice = c, .n_targets = c->n_targets};
  take_candidates(p, c);
  size_t size = p->n * p->n_targets;
  p->y = gpnn_alloc(size, 1, sizeof *p->y);
  p->known_noise = gpnn_alloc(size, 1, sizeof *p->known_noise);
  p->importance = gpnn_alloc(size, 1, sizeof *p->importance);
  bool enough = p->y && p->known_noise && p->importance && latent_alloc(&p->stacked, p->n);
  for (size_t k = 0; k < p->n_candidates && enough; k++) enough = latent_alloc(&p->latent[k], size);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for a choice");
}

/* Predicts the rows from candidate 'k', with the number of neighbours of the best. */
static enum gpnn_status predict(struct pool *p, size_t k, struct gpnn_error *err)
{
  struct gpnn_choice *c = p->choice;
  enum gpnn_status status = gpnn_choice_see(c, p->trial[k]->candidate.sight, err);
  if (status != GPNN_OK) return status;
  size_t m = p->trial[0]->params->neighbours;
  const struct gpnn_model_options options = {
      .neighbours = m,
      .threads = c->options->fit.threads,
      .brings = gpnn_choice_brings_near(c, &p->trial[k]->params[0], m)};
  struct gpnn_query query = {.n = p->n, .x = c->x, .regressors = c->regressors, .self = c->self};
  struct gpnn_channel *channels = gpnn_alloc(p->n_targets, 1, sizeof *channels);
  struct gpnn_counts *counts = calloc(p->n_targets, sizeof *counts);
  struct gpnn_model *model = NULL;
  if (channels == NULL || counts == NULL) status = gpnn_fail_memory(err, "for a choice");
  for (size_t t = 0; t < p->n_targets && status == GPNN_OK; t++)
    channels[t] = (struct gpnn_channel){c->targets[t], &p->trial[k]->params[t]};
  if (status == GPNN_OK)
    status = gpnn_choice_bring_near(c, &p->trial[k]->params[0], m, &query, err);
  if (status == GPNN_OK) status = gpnn_model_new(&model, p->n_targets, channels, &options, err);
  if (status == GPNN_OK) status = gpnn_model_predict(model, &query, &p->latent[k], counts, err);
  gpnn_model_free(model);
  free(channels);
  free(counts);
  return status;
}

static void load_truth(struct pool *p)
{
  for (size_t t = 0; t < p->n_targets; t++) {
    const struct gpnn_dataset *target = p->choice->targets[t];
    for (size_t i = 0; i < p->n; i++) {
      size_t row = (size_t)p->choice->self[i];
      p->y[t * p->n + i] = target->y[row];
      p->known_noise[t * p->n + i] = target->noise == NULL ? 0 : target->noise[row];
    }
  }
}

/* ---- what a stack predicts ---------------------------------------------------------------- */

/* Combines the candidates' predictions of target 't', and returns them for the law of its scale.
 * They are valid until the next call. */
static struct gpnn_scale_rows stack_rows(struct pool *p, size_t t, const double *weight)
{
  struct gpnn_latent member[MOST] = {{0}};
  double own[MOST] = {0}, noise = 0;
  size_t n = 0, at = t * p->n;
  for (size_t k = 0; k < p->n_candidates; k++) {
    if (weight[k] == 0) continue;
    noise += weight[k] * p->trial[k]->params[t].covariance.noise;
    own[n] = weight[k];
    member[n++] = (struct gpnn_latent){.mean = p->latent[k].mean + at,
                                       .variance = p->latent[k].variance + at,
                                       .misfit = p->latent[k].misfit + at,
                                       .nearest = p->latent[k].nearest + at};
  }
  gpnn_mixture_combine(n, own, member, p->n, &p->stacked);
  return (struct gpnn_scale_rows){.n = p->n,
                                  .y = p->y + at,
                                  .mean = p->stacked.mean,
                                  .variance = p->stacked.variance,
                                  .misfit = p->stacked.misfit,
                                  .nearest = p->stacked.nearest,
                                  .known_noise = p->known_noise + at,
                                  .noise = noise};
}

/* How much each row's error counts in the search for weights: the curvature of its negative log
 * density, which is small for outliers (gpnn-methods(7), equation 5.10), under the equally weighted
 * candidates. */
static enum gpnn_status set_importance(struct pool *p, struct gpnn_error *err)
{
  double equal[MOST];
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < p->n_candidates; k++) equal[k] = 1 / (double)p->n_candidates;
  for (size_t t = 0; t < p->n_targets && status == GPNN_OK; t++) {
    struct gpnn_scale_law law;
    const struct gpnn_scale_rows rows = stack_rows(p, t, equal);
    status = gpnn_scale_fit(&rows, p->choice->options->likelihood, false, &law, err);
    for (size_t i = 0; i < p->n && status == GPNN_OK; i++) {
      const struct gpnn_latent_row row = {.mean = rows.mean[i],
                                          .variance = rows.variance[i],
                                          .misfit = rows.misfit[i],
                                          .nearest = rows.nearest[i]};
      double square = gpnn_scale_factor(&law.scale, &row, rows.noise) *
                          (gpnn_scale_process(&row) + rows.noise) +
                      rows.known_noise[i];
      double error = rows.y[i] - rows.mean[i];
      p->importance[t * p->n + i] =
          (law.degrees + 1) / (law.degrees * square + error * error) / (double)p->n_targets;
    }
  }
  return status;
}

/* Adds to 'moments' those of the candidates' errors in rows [begin, end) of each target. */
static void add_moments(const struct pool *p, size_t begin, size_t end, double *moments)
{
  size_t n = p->n_candidates;
  for (size_t t = 0; t < p->n_targets; t++)
    for (size_t i = t * p->n + begin; i < t * p->n + end; i++)
      for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++)
          moments[k * n + l] += p->importance[i] * (p->y[i] - p->latent[k].mean[i]) *
                                (p->y[i] - p->latent[l].mean[i]);
}

/* ---- whether it pays ---------------------------------------------------------------------- */

/* The score of a number of members: each half of the rows with the weights that suit the other. */
struct score {
  double *loss;     /* owned; n: mean over the targets */
  double all;       /* the mean of these */
  double crps, nll; /* its parts */
  double square;    /* mean squared error, of all targets */
  bool possible;
};

/* Writes the losses of rows [begin, end) under 'weight', and adds their squared errors. */
static enum gpnn_status add_half(struct pool *p, const double *weight, bool all_features,
                                 size_t begin, size_t end, struct score *score,
                                 struct gpnn_error *err)
{
  double *loss = gpnn_alloc(p->n, 2, sizeof *loss), *crps = loss == NULL ? NULL : loss + p->n;
  enum gpnn_status status = loss == NULL ? gpnn_fail_memory(err, "for a choice") : GPNN_OK;
  for (size_t t = 0; t < p->n_targets && status == GPNN_OK; t++) {
    const struct gpnn_scale_rows rows = stack_rows(p, t, weight);
    status = gpnn_numbers_scaled_losses(&rows, p->choice->options->likelihood, all_features, loss,
                                        crps, err);
    for (size_t i = begin; i < end && status == GPNN_OK; i++) {
      double error = rows.y[i] - rows.mean[i];
      score->loss[i] += (loss[i] + crps[i] / p->choice->unit[t]) / (double)p->n_targets;
      score->all += (loss[i] + crps[i] / p->choice->unit[t]) / (double)(p->n * p->n_targets);
      score->crps += crps[i] / (double)(p->n * p->n_targets);
      score->nll += loss[i] / (double)(p->n * p->n_targets);
      score->square += error * error / (double)(p->n * p->n_targets);
    }
  }
  free(loss);
  return status;
}

/* Scores 'size' members under scales that depend on all features or not. */
static enum gpnn_status score_with(struct pool *p, size_t size, bool all_features,
                                   struct score *score, struct gpnn_error *err)
{
  size_t half[] = {0, p->n / 2, p->n};
  *score = (struct score){.loss = calloc(p->n, sizeof *score->loss), .possible = true};
  enum gpnn_status status = score->loss == NULL ? gpnn_fail_memory(err, "for a choice") : GPNN_OK;
  for (size_t h = 0; h < 2 && status == GPNN_OK && score->possible; h++) {
    double moments[MOST * MOST] = {0}, weight[MOST];
    add_moments(p, half[1 - h], half[2 - h], moments);
    score->possible = gpnn_weights_find(p->n_candidates, moments, size, weight);
    if (score->possible)
      status = add_half(p, weight, all_features, half[h], half[h + 1], score, err);
  }
  return status;
}

/* The same under the scales that suit them best. */
static enum gpnn_status score_size(struct pool *p, size_t size, struct score *score,
                                   struct gpnn_error *err)
{
  struct score all = {0};
  enum gpnn_status status = score_with(p, size, false, score, err);
  if (status != GPNN_OK || p->choice->options->likelihood != GPNN_LIKELIHOOD_LOCAL) return status;
  status = score_with(p, size, true, &all, err);
  if (status == GPNN_OK && all.possible && all.all < score->all) {
    free(score->loss);
    *score = all;
  } else {
    free(all.loss);
  }
  return status;
}

/* True if 'many' members predict better than 'few', by more than chance explains and by enough for
 * the time that each of the 'more' members takes. */
static bool pays(const struct pool *p, const struct score *many, const struct score *few,
                 size_t more)
{
  enum { FEW_ROWS = 500 };
  /* Much effort is willing to wait for predictions as well. */
  const double least = is_thorough(p->choice) ? 0.002 : 0.015;
  double standard_error;
  if (!many->possible || !(many->square <= few->square)) return false;
  double gain = gpnn_mean_difference(p->n, few->loss, many->loss, &standard_error);
  /* Few rows never make a gain certain, but then members cost little, and on average they help. */
  return gain > least * (double)more && (gain > standard_error || p->n < FEW_ROWS);
}

/* Finds how many members pay: '*size', at least 1; '*nll' and '*rmse' are their score. */
static enum gpnn_status choose_size(struct pool *p, size_t most, struct gpnn_choice_stack *stack,
                                    struct gpnn_error *err)
{
  struct score best = {0};
  enum gpnn_status status = score_size(p, 1, &best, err);
  stack->n = 1;
  if (most > p->n_candidates) most = p->n_candidates;
  while (most > 1 && !gpnn_choice_affords(p->choice, p->trial[0]->params->neighbours, most)) most--;
  if (!best.possible) most = 1;
  for (size_t size = 2; size <= most && status == GPNN_OK; size++) {
    struct score score = {0};
    status = score_size(p, size, &score, err);
    if (status == GPNN_OK && pays(p, &score, &best, size - stack->n)) {
      double *loss = best.loss;
      best = score;
      score.loss = loss;
      stack->n = size;
    }
    free(score.loss);
  }
  if (status == GPNN_OK) {
    stack->crps = best.crps;
    stack->nll = best.nll;
    stack->rmse = sqrt(best.square);
    stack->n_rows = p->n;
  }
  free(best.loss);
  return status;
}

/* Sets the members and their weights, from all rows. */
static void set_members(const struct pool *p, struct gpnn_choice_stack *stack)
{
  double moments[MOST * MOST] = {0}, weight[MOST];
  size_t n = 0;
  add_moments(p, 0, p->n, moments);
  if (!gpnn_weights_find(p->n_candidates, moments, stack->n, weight)) {
    stack->n = 1;
    return;
  }
  for (size_t k = 0; k < p->n_candidates; k++)
    if (weight[k] > 0) {
      stack->weight[n] = weight[k];
      stack->trial[n++] = p->trial[k];
    }
}

static enum gpnn_status stack_pool(struct pool *p, struct gpnn_choice_stack *stack,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < p->n_candidates && status == GPNN_OK; k++) status = predict(p, k, err);
  if (status != GPNN_OK) return status;
  load_truth(p);
  status = set_importance(p, err);
  if (status == GPNN_OK) status = choose_size(p, p->choice->options->members, stack, err);
  if (status == GPNN_OK) set_members(p, stack);
  return status;
}

/* True if a stack may be tried.  Rows that resemble others depend on the metric of each candidate,
 * so that candidates cannot be compared row by row. */
static bool is_open(const struct gpnn_choice *c)
{
  enum { FEWEST_ROWS = 50, MOST_TARGETS = 16 };
  const struct gpnn_choose_options *options = c->options;
  return options->members > 1 && options->effort != GPNN_EFFORT_FAST &&
         options->likelihood != GPNN_LIKELIHOOD_GAUSSIAN && options->like == NULL &&
         c->n_trials > 1 && c->n >= FEWEST_ROWS && c->n_targets <= MOST_TARGETS;
}

enum gpnn_status gpnn_numbers_stack(struct gpnn_choice *c, struct gpnn_error *err)
{
  struct pool pool = {0};
  struct gpnn_choice_stack stack = {0};
  c->stack = (struct gpnn_choice_stack){.n = 1};
  if (!is_open(c)) return GPNN_OK;
  enum gpnn_status status = pool_init(&pool, c, err);
  if (status == GPNN_OK) status = stack_pool(&pool, &stack, err);
  if (status == GPNN_OK) c->stack = stack;
  for (size_t k = 1; k < c->stack.n; k++)
    for (size_t t = 0; t < c->n_targets; t++)
      c->stack.trial[k]->params[t].neighbours = c->stack.trial[0]->params[t].neighbours;
  pool_release(&pool);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}
