/* Scoring rules, each on rows that its weights were not learnt from. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "combine/combine.h"
#include "stats/scores/metrics.h"

struct checking {
  struct gpnn_combine_settings settings;
  size_t n_rows;
  const double *means, *variances, *df, *truth;
  double *hidden, *weights; /* owned: truths of the rows to learn from, and what is learnt */
  struct gpnn_metrics metrics;
};

/* Learns from the rows of one half. */
static enum gpnn_status learn(struct checking *c, size_t half, struct gpnn_error *err)
{
  for (size_t r = 0; r < c->n_rows; r++) c->hidden[r] = r % 2 == half ? c->truth[r] : NAN;
  c->settings.weights = c->weights;
  return gpnn_combine_learn(c->settings.rule, c->settings.n, c->n_rows, c->means, c->variances,
                            c->df, c->hidden, c->weights, &c->settings.spread,
                            &c->settings.spare_variance, err);
}

static enum gpnn_status add_row(struct checking *c, size_t r, struct gpnn_error *err)
{
  const size_t at = r * c->settings.n;
  const struct gpnn_combined p =
      gpnn_combine(&c->settings, c->means + at, c->variances + at, c->df + at, NULL);
  if (isnan(c->truth[r]) || !isfinite(p.mean) || !(p.variance > 0) || isinf(p.variance))
    return GPNN_OK;
  return gpnn_metrics_add(&c->metrics, c->truth[r], p.mean, sqrt(p.variance), p.df, err);
}

/* Scores the rows of one half, or all. */
static enum gpnn_status add_rows(struct checking *c, size_t half, size_t step,
                                 struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t r = half; r < c->n_rows && status == GPNN_OK; r += step) status = add_row(c, r, err);
  return status;
}

static enum gpnn_status add_all(struct checking *c, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (!gpnn_combine_needs_weights(c->settings.rule) || c->settings.weights != NULL)
    return add_rows(c, 0, 1, err);
  for (size_t half = 0; half < 2 && status == GPNN_OK; half++) {
    status = learn(c, 1 - half, err);
    if (status == GPNN_OK) status = add_rows(c, half, 2, err);
  }
  return status;
}

static enum gpnn_status summarise(struct checking *c, struct gpnn_combine_score *score,
                                  struct gpnn_error *err)
{
  struct gpnn_metrics_result result;
  *score = (struct gpnn_combine_score){.n = c->metrics.n};
  if (score->n == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_metrics_result(&c->metrics, &result, err);
  if (status != GPNN_OK) return status;
  score->rmse = result.rmse;
  score->nll = result.nll;
  score->cal = result.cal;
  score->crps = result.crps;
  return GPNN_OK;
}

enum gpnn_status gpnn_combine_check(const struct gpnn_combine_settings *settings, size_t n_rows,
                                    const double *means, const double *variances, const double *df,
                                    const double *truth, struct gpnn_combine_score *score,
                                    struct gpnn_error *err)
{
  struct checking c = {.settings = *settings,
                       .n_rows = n_rows,
                       .means = means,
                       .variances = variances,
                       .df = df,
                       .truth = truth,
                       .hidden = gpnn_alloc(n_rows, 1, sizeof *c.hidden),
                       .weights = gpnn_alloc(settings->n, 1, sizeof *c.weights)};
  gpnn_metrics_levels(&c.metrics, 0, NULL);
  enum gpnn_status status = c.hidden == NULL || c.weights == NULL
                                ? gpnn_fail_memory(err, "to score predictions")
                                : add_all(&c, err);
  if (status == GPNN_OK) status = summarise(&c, score, err);
  gpnn_metrics_release(&c.metrics);
  free(c.hidden);
  free(c.weights);
  return status;
}
