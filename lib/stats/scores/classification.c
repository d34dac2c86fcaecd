#include "stats/scores/classification.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

void gpnn_classification_init(struct gpnn_classification *classification, size_t n_classes,
                              bool ranks)
{
  *classification = (struct gpnn_classification){.n_classes = n_classes, .ranks = ranks};
}

void gpnn_classification_release(struct gpnn_classification *classification)
{
  gpnn_confusion_release(&classification->confusion);
  gpnn_reliability_release(&classification->reliability);
  free(classification->scores);
  free(classification->truths);
  *classification = (struct gpnn_classification){0};
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Of two classes, the scores of one are those of the other reversed. */
static size_t scores_per_row(const struct gpnn_classification *c)
{
  return c->n_classes == 2 ? 1 : c->n_classes;
}

static enum gpnn_status keep_scores(struct gpnn_classification *c, uint32_t truth, const double *p,
                                    struct gpnn_error *err)
{
  size_t n = c->n_ranked, width = scores_per_row(c), wanted;
  if (!c->ranks) return GPNN_OK;
  if (!gpnn_multiply(n + 1, width, &wanted) ||
      !gpnn_grow(&c->scores, &c->scores_capacity, wanted, sizeof *c->scores) ||
      !gpnn_grow(&c->truths, &c->truths_capacity, n + 1, sizeof *c->truths))
    return gpnn_fail_memory(err, "for the probabilities that rows are ranked by");
  for (size_t i = 0; i < width; i++) c->scores[n * width + i] = p[c->n_classes - width + i];
  c->truths[n] = truth;
  c->n_ranked++;
  return GPNN_OK;
}

static enum gpnn_status check(const struct gpnn_classification *c,
                              const struct gpnn_classification_row *row, struct gpnn_error *err)
{
  const double low = -GPNN_CLASSIFICATION_EXCESS, high = 1 + GPNN_CLASSIFICATION_EXCESS;
  for (size_t i = 0; i < c->n_classes; i++)
    if (!(row->p[i] >= low && row->p[i] <= high))
      return gpnn_fail(err, GPNN_EDATA, "a probability is not between 0 and 1 but %g", row->p[i]);
  if (row->p != NULL) return GPNN_OK;
  if (row->top_probability < low || row->top_probability > high)
    return gpnn_fail(err, GPNN_EDATA, "a probability is not between 0 and 1 but %g",
                     row->top_probability);
  if (row->logp > GPNN_CLASSIFICATION_EXCESS)
    return gpnn_fail(err, GPNN_EDATA, "logp is above 0, that of a probability of 1: %g", row->logp);
  return GPNN_OK;
}

/* The most probable class: the label, if no other is more probable. */
static uint32_t most_probable(const struct gpnn_classification *c,
                              const struct gpnn_classification_row *row)
{
  uint32_t top = row->label < c->n_classes ? row->label : 0;
  for (uint32_t i = 0; i < c->n_classes; i++)
    if (row->p[i] > row->p[top]) top = i;
  return top;
}

static double clamp(double probability)
{
  return fmin(fmax(probability, 0), 1);
}

static void add_logp(struct gpnn_classification *c, double logp)
{
  const double least = log(GPNN_CLASSIFICATION_FLOOR);
  if (isnan(logp)) return;
  c->n_scored++;
  c->n_floored += logp < least;
  gpnn_sum_add(&c->nll, -fmin(fmax(logp, least), 0));
}

/* The squared distance of the probabilities from those of certainty; counts those that do not sum
 * to 1. */
static double squared_distance(struct gpnn_classification *c,
                               const struct gpnn_classification_row *row)
{
  struct gpnn_sum sum = {0}, squares = {0};
  for (size_t i = 0; i < c->n_classes; i++) {
    double distance = row->p[i] - (i == row->truth ? 1 : 0);
    gpnn_sum_add(&sum, row->p[i]);
    gpnn_sum_add(&squares, distance * distance);
  }
  c->n_unequal += fabs(gpnn_sum_mean(&sum, 1) - 1) > GPNN_CLASSIFICATION_SUM_TOLERANCE;
  return gpnn_sum_mean(&squares, 1);
}

static enum gpnn_status add_probabilities(struct gpnn_classification *c,
                                          const struct gpnn_classification_row *row,
                                          struct gpnn_error *err)
{
  double distance = squared_distance(c, row);
  if (row->truth >= c->n_classes) {
    c->n_unseen++;
    return GPNN_OK;
  }
  gpnn_sum_add(&c->brier, distance);
  add_logp(c, log(clamp(row->p[row->truth])));
  uint32_t top = most_probable(c, row);
  enum gpnn_status status =
      gpnn_reliability_add(&c->reliability, clamp(row->p[top]), top == row->truth, err);
  return status == GPNN_OK ? keep_scores(c, row->truth, row->p, err) : status;
}

enum gpnn_status gpnn_classification_add(struct gpnn_classification *classification,
                                         const struct gpnn_classification_row *row,
                                         struct gpnn_error *err)
{
  struct gpnn_classification *c = classification;
  enum gpnn_status status = check(c, row, err);
  if (status == GPNN_OK) status = gpnn_confusion_add(&c->confusion, row->truth, row->label, err);
  if (status != GPNN_OK) return status;
  c->n++;
  if (c->n_classes > 0) return add_probabilities(c, row, err);
  add_logp(c, row->logp);
  if (isnan(row->top_probability)) return GPNN_OK;
  return gpnn_reliability_add(&c->reliability, clamp(row->top_probability), row->top == row->truth,
                              err);
}

/* ---- ranks -------------------------------------------------------------------------------- */

/* The rows by their probability of class 'c' < n_classes; to be freed.  GPNN_END: nothing is
 * ranked. */
static enum gpnn_status rank(const struct gpnn_classification *classification, size_t c,
                             struct gpnn_roc_row **rows, struct gpnn_error *err)
{
  size_t n = classification->n_ranked, width = scores_per_row(classification);
  if (n == 0) return GPNN_END;
  *rows = gpnn_alloc(n, 1, sizeof **rows);
  if (*rows == NULL) return gpnn_fail_memory(err, "to sort rows by their probabilities");
  for (size_t i = 0; i < n; i++) {
    const double *scores = classification->scores + i * width;
    double score = width == classification->n_classes ? scores[c] : c == 1 ? scores[0] : -scores[0];
    (*rows)[i] = (struct gpnn_roc_row){score, classification->truths[i] == c};
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_classification_area(const struct gpnn_classification *classification,
                                          size_t c, double *area, struct gpnn_error *err)
{
  struct gpnn_roc_row *rows = NULL;
  enum gpnn_status status = rank(classification, c, &rows, err);
  if (status == GPNN_OK) *area = gpnn_roc_area(classification->n_ranked, rows);
  if (status == GPNN_END) *area = NAN;
  free(rows);
  return status == GPNN_END ? GPNN_OK : status;
}

enum gpnn_status gpnn_classification_curve(const struct gpnn_classification *classification,
                                           size_t c, size_t most, struct gpnn_roc_point *points,
                                           size_t *n_points, struct gpnn_error *err)
{
  struct gpnn_roc_row *rows = NULL;
  enum gpnn_status status = rank(classification, c, &rows, err);
  if (status == GPNN_OK) {
    gpnn_roc_area(classification->n_ranked, rows); /* sorts them */
    *n_points = gpnn_roc_curve(classification->n_ranked, rows, most, points);
  }
  if (status == GPNN_END) *n_points = 0;
  free(rows);
  return status == GPNN_END ? GPNN_OK : status;
}

/* ---- results ------------------------------------------------------------------------------ */

static enum gpnn_status mean_area(const struct gpnn_classification *c, double *area,
                                  struct gpnn_error *err)
{
  struct gpnn_sum areas = {0};
  size_t n = 0;
  if (c->n_classes == 2) return gpnn_classification_area(c, 1, area, err);
  for (size_t i = 0; i < c->n_classes; i++) {
    double of_class;
    enum gpnn_status status = gpnn_classification_area(c, i, &of_class, err);
    if (status != GPNN_OK) return status;
    if (isnan(of_class)) continue;
    gpnn_sum_add(&areas, of_class);
    n++;
  }
  *area = gpnn_sum_mean(&areas, n);
  return GPNN_OK;
}

enum gpnn_status gpnn_classification_result(struct gpnn_classification *classification,
                                            struct gpnn_classification_result *result,
                                            struct gpnn_error *err)
{
  struct gpnn_classification *c = classification;
  struct gpnn_classification_result r = {.n = c->n, .n_unseen = c->n_unseen};
  if (c->n == 0) return gpnn_fail(err, GPNN_EDATA, "no row with a truth and a prediction");
  enum gpnn_status status = mean_area(c, &r.auc, err);
  if (status != GPNN_OK) return status;
  r.error = (double)(c->n - c->confusion.n_right) / (double)c->n;
  r.nll = gpnn_sum_mean(&c->nll, c->n_scored);
  r.brier = c->n_classes == 0 ? NAN : gpnn_sum_mean(&c->brier, c->n - c->n_unseen);
  r.ece = gpnn_reliability_error(&c->reliability);
  r.ece_chance = gpnn_reliability_chance(&c->reliability);
  *result = r;
  return GPNN_OK;
}
