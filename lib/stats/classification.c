#include "stats/classification.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"

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

/* ---- counts of pairs ------------------------------------------------------------------------ */

/* The slot of a pair, or the empty one that it goes to; at least one slot is empty. */
static struct gpnn_confusion_pair *find(struct gpnn_confusion_pair *slots, size_t n_slots,
                                        uint32_t truth, uint32_t label)
{
  const uint64_t golden = 0x9e3779b97f4a7c15u;
  uint64_t hash = ((uint64_t)truth << 32 | label) * golden;
  size_t at = (size_t)(hash >> 32) & (n_slots - 1);
  while (slots[at].count != 0 && (slots[at].truth != truth || slots[at].label != label))
    at = (at + 1) & (n_slots - 1);
  return &slots[at];
}

/* Keeps at least half of the slots empty. */
static enum gpnn_status grow(struct gpnn_confusion *confusion, struct gpnn_error *err)
{
  enum { LEAST = 16 };
  if (confusion->n_pairs < confusion->n_slots / 2) return GPNN_OK;
  size_t n_slots = confusion->n_slots == 0 ? LEAST : 2 * confusion->n_slots;
  struct gpnn_confusion_pair *slots = gpnn_alloc(n_slots, 1, sizeof *slots);
  if (slots == NULL) return gpnn_fail_memory(err, "for the counts of labels");
  for (size_t i = 0; i < confusion->n_slots; i++) {
    const struct gpnn_confusion_pair *pair = &confusion->slots[i];
    if (pair->count > 0) *find(slots, n_slots, pair->truth, pair->label) = *pair;
  }
  free(confusion->slots);
  confusion->slots = slots;
  confusion->n_slots = n_slots;
  return GPNN_OK;
}

enum gpnn_status gpnn_confusion_add(struct gpnn_confusion *confusion, uint32_t truth,
                                    uint32_t label, struct gpnn_error *err)
{
  enum gpnn_status status = grow(confusion, err);
  if (status != GPNN_OK) return status;
  struct gpnn_confusion_pair *pair = find(confusion->slots, confusion->n_slots, truth, label);
  confusion->n_pairs += pair->count == 0;
  pair->truth = truth;
  pair->label = label;
  pair->count++;
  confusion->n++;
  confusion->n_right += truth == label;
  return GPNN_OK;
}

size_t gpnn_confusion_count(const struct gpnn_confusion *confusion, uint32_t truth, uint32_t label)
{
  if (confusion->n_slots == 0) return 0;
  return find(confusion->slots, confusion->n_slots, truth, label)->count;
}

void gpnn_confusion_classes(const struct gpnn_confusion *confusion, size_t n_classes,
                            struct gpnn_confusion_class *classes)
{
  for (size_t c = 0; c < n_classes; c++) classes[c] = (struct gpnn_confusion_class){0};
  for (size_t i = 0; i < confusion->n_slots; i++) {
    const struct gpnn_confusion_pair *pair = &confusion->slots[i];
    if (pair->truth < n_classes) classes[pair->truth].n_true += pair->count;
    if (pair->label < n_classes) classes[pair->label].n_labelled += pair->count;
  }
  for (size_t c = 0; c < n_classes; c++) {
    struct gpnn_confusion_class *class = &classes[c];
    size_t n_right = gpnn_confusion_count(confusion, (uint32_t)c, (uint32_t)c);
    class->precision = class->n_labelled > 0 ? (double)n_right / (double)class->n_labelled : NAN;
    class->recall = class->n_true > 0 ? (double)n_right / (double)class->n_true : NAN;
  }
}

void gpnn_confusion_release(struct gpnn_confusion *confusion)
{
  free(confusion->slots);
  *confusion = (struct gpnn_confusion){0};
}

/* ---- reliability ---------------------------------------------------------------------------- */

enum { BINS = GPNN_RELIABILITY_BINS };

/* The bin ((b-1)/B, b/B] of a probability; 0 belongs to the first. */
static size_t bin_of(double probability)
{
  double above = ceil(probability * BINS);
  return above <= 1 ? 0 : above >= BINS ? BINS - 1 : (size_t)above - 1;
}

enum gpnn_status gpnn_reliability_add(struct gpnn_reliability *reliability, double probability,
                                      bool is_right, struct gpnn_error *err)
{
  if (!gpnn_grow(&reliability->probabilities, &reliability->capacity, reliability->n + 1,
                 sizeof *reliability->probabilities))
    return gpnn_fail_memory(err, "for the calibration of predictions");
  reliability->probabilities[reliability->n++] = probability;
  struct gpnn_reliability_sums *sums = &reliability->sums[bin_of(probability)];
  sums->n++;
  sums->n_right += is_right;
  gpnn_sum_add(&sums->probability, probability);
  gpnn_sum_add(&sums->variance, probability * (1 - probability));
  return GPNN_OK;
}

struct gpnn_reliability_bin gpnn_reliability_bin(const struct gpnn_reliability *reliability,
                                                 size_t b)
{
  const struct gpnn_reliability_sums *sums = &reliability->sums[b];
  double n = (double)sums->n;
  return (struct gpnn_reliability_bin){
      .from = (double)b / BINS,
      .to = (double)(b + 1) / BINS,
      .n = sums->n,
      .predicted = gpnn_sum_mean(&sums->probability, sums->n),
      .observed = sums->n == 0 ? NAN : (double)sums->n_right / n,
      .se = sqrt(gpnn_sum_mean(&sums->variance, sums->n) / n),
  };
}

double gpnn_reliability_error(const struct gpnn_reliability *reliability)
{
  double error = 0;
  if (reliability->n == 0) return NAN;
  for (size_t b = 0; b < BINS; b++) {
    struct gpnn_reliability_bin bin = gpnn_reliability_bin(reliability, b);
    if (bin.n > 0) error += (double)bin.n * fabs(bin.observed - bin.predicted);
  }
  return error / (double)reliability->n;
}

/* The error, times n, if each row is right with its probability. */
static double draw_error(const struct gpnn_reliability *reliability, struct gpnn_rng *rng)
{
  size_t n_right[BINS] = {0};
  double error = 0;
  for (size_t i = 0; i < reliability->n; i++) {
    double p = reliability->probabilities[i];
    n_right[bin_of(p)] += gpnn_rng_uniform(rng) < p;
  }
  for (size_t b = 0; b < BINS; b++) {
    const struct gpnn_reliability_sums *sums = &reliability->sums[b];
    if (sums->n > 0)
      error +=
          fabs((double)n_right[b] - (double)sums->n * gpnn_sum_mean(&sums->probability, sums->n));
  }
  return error;
}

double gpnn_reliability_chance(struct gpnn_reliability *reliability)
{
  enum { SEED = 1, DRAWS = 100 };
  struct gpnn_sum errors = {0};
  size_t n = reliability->n;
  if (n == 0) return NAN;
  qsort(reliability->probabilities, n, sizeof *reliability->probabilities, gpnn_compare_doubles);
  for (size_t i = 0; i < DRAWS; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, SEED, GPNN_RNG_LABELS, i);
    gpnn_sum_add(&errors, draw_error(reliability, &rng) / (double)n);
  }
  return gpnn_sum_mean(&errors, DRAWS);
}

void gpnn_reliability_release(struct gpnn_reliability *reliability)
{
  free(reliability->probabilities);
  *reliability = (struct gpnn_reliability){0};
}

/* ---- the curve of true against false alarms ------------------------------------------------- */

static int compare_descending(const void *a, const void *b)
{
  return gpnn_compare_doubles(b, a);
}

/* Rows that have been passed, in descending order of their scores. */
struct passed {
  size_t n, n_positive, n_negative;
};

/* Passes all rows of the next score. */
static struct passed pass_score(size_t n, const struct gpnn_roc_row *rows, struct passed passed)
{
  double score = rows[passed.n].score;
  for (; passed.n < n && rows[passed.n].score == score; passed.n++) {
    passed.n_positive += rows[passed.n].is_positive;
    passed.n_negative += !rows[passed.n].is_positive;
  }
  return passed;
}

double gpnn_roc_area(size_t n, struct gpnn_roc_row *rows)
{
  double area = 0;
  struct passed last, passed = {0};
  if (n == 0) return NAN;
  qsort(rows, n, sizeof *rows, compare_descending);
  while (passed.n < n) {
    last = passed;
    passed = pass_score(n, rows, passed);
    double height = (double)(last.n_positive + passed.n_positive) / 2;
    area += height * (double)(passed.n_negative - last.n_negative);
  }
  if (passed.n_positive == 0 || passed.n_negative == 0) return NAN;
  return area / ((double)passed.n_positive * (double)passed.n_negative);
}

size_t gpnn_roc_curve(size_t n, const struct gpnn_roc_row *rows, size_t most,
                      struct gpnn_roc_point *points)
{
  size_t n_positive = 0, n_points = 0;
  for (size_t i = 0; i < n; i++) n_positive += rows[i].is_positive;
  if (n_positive == 0 || n_positive == n) return 0;
  /* Along the curve, which goes up and to the right, the sum of both rates goes from 0 to 2. */
  double step = n + 1 > most ? 2 / ((double)most - 2) : 0;
  points[n_points++] = (struct gpnn_roc_point){INFINITY, 0, 0};
  for (struct passed passed = {0}; passed.n < n;) {
    double threshold = rows[passed.n].score;
    passed = pass_score(n, rows, passed);
    struct gpnn_roc_point point = {threshold, (double)passed.n_negative / (double)(n - n_positive),
                                   (double)passed.n_positive / (double)n_positive};
    const struct gpnn_roc_point *before = &points[n_points - 1];
    double distance =
        point.false_positive - before->false_positive + point.true_positive - before->true_positive;
    if (distance >= step || passed.n == n) points[n_points++] = point;
  }
  return n_points;
}
