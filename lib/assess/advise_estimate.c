/*
 * Estimates from the measured errors: values are those of all test rows, intervals those of
 * RESAMPLES bootstrap samples, drawn from each half of the test rows separately.
 */
#include <math.h>
#include <stdlib.h>

#include "assess/advise_private.h"
#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "stats/scores/power_law.h"

enum { RESAMPLES = 500 };

/* What there are figures for: the lines, the limit of the curve, and the best parameters on the
 * half they were not chosen on. */
enum { LIMIT = GPNN_ADVISE_LINES, BEST, N_SUBJECTS };
enum { RMSE, NLL, RMSE_GAIN, NLL_GAIN, N_MEASURES };

struct figures {
  double of[N_SUBJECTS][N_MEASURES];
};

/* Means of a set over each half of the test rows. */
struct means {
  double square[2], nll[2];
};

/* What figures are computed from, besides means. */
struct basis {
  const struct gpnn_advise_sets *sets;
  const struct gpnn_advice *advice;
  size_t best; /* set of the best parameters */
  size_t n_points;
  size_t set[GPNN_ADVISE_SIZES + 1]; /* of the curve's points */
  double rows[GPNN_ADVISE_SIZES + 1];
  double square_weight[GPNN_ADVISE_SIZES + 1], nll_weight[GPNN_ADVISE_SIZES + 1];
};

/* ---- means of resamples --------------------------------------------------------------------- */

/* Counts how often each test row is in resample 'r'; resample 0 is the test rows themselves. */
static void draw_counts(size_t q, uint64_t seed, size_t r, double *count)
{
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, seed, GPNN_RNG_ADVISE, r);
  for (size_t i = 0; i < q; i++) count[i] = r == 0;
  for (size_t i = 0; i < q && r > 0; i++) {
    size_t half = i % 2, n_half = (q + 1 - half) / 2;
    count[2 * gpnn_rng_below(&rng, n_half) + half]++;
  }
}

static void average(const struct gpnn_advise_sets *sets, const double *count, struct means *means)
{
  size_t q = sets->q;
  for (size_t s = 0; s < sets->n; s++) {
    const double *square = sets->square + s * q, *nll = sets->nll + s * q;
    means[s] = (struct means){{0}, {0}};
    for (size_t i = 0; i < q; i++) {
      means[s].square[i % 2] += count[i] * square[i];
      means[s].nll[i % 2] += count[i] * nll[i];
    }
    for (size_t half = 0; half < 2; half++) {
      double n_half = (double)((q + 1 - half) / 2);
      means[s].square[half] /= n_half;
      means[s].nll[half] /= n_half;
    }
  }
}

/* The mean over both halves of 'q' rows. */
static double whole(const double half[2], size_t q)
{
  size_t odd = q / 2;
  return (half[0] * (double)(q - odd) + half[1] * (double)odd) / (double)q;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void set_figures(double square, double nll, double square_now, double nll_now,
                        double figures[N_MEASURES])
{
  figures[RMSE] = sqrt(square);
  figures[NLL] = nll;
  figures[RMSE_GAIN] = 1 - sqrt(square / square_now);
  figures[NLL_GAIN] = nll_now - nll;
}

/* How a measure, the logarithm of the squared error or the NLL, changes with the rows. */
struct trend {
  bool is_log;                      /* the measure is the logarithm of the curve */
  struct gpnn_learning_curve curve; /* through all sizes */
  double slope;       /* by the logarithm of the rows, over the last sizes; at most 0 */
  double curve_slope; /* the same of the curve */
};

/* The slope of 'value' over the last points, at most 0. */
static double slope(const struct basis *b, const double *value)
{
  enum { LAST = 3 };
  size_t first = b->n_points - LAST;
  double log_rows[LAST];
  struct gpnn_power_law fit;
  for (size_t i = 0; i < LAST; i++) log_rows[i] = log(b->rows[first + i]);
  gpnn_power_law_fit(&fit, LAST, log_rows, value + first);
  return fmin(0, fit.slope);
}

static double curve_value(const struct trend *trend, double rows)
{
  double value = gpnn_learning_curve_at(&trend->curve, rows);
  return trend->is_log ? log(value) : value;
}

/* Finds the trend of the curve's points, whose values are overwritten. */
static struct trend find_trend(const struct basis *b, bool is_log, double *value,
                               const double *weight)
{
  struct trend trend = {.is_log = is_log};
  gpnn_learning_curve_fit(b->n_points, b->rows, value, weight, is_log ? 0 : -INFINITY,
                          &trend.curve);
  for (size_t i = 0; i < b->n_points && is_log; i++) value[i] = log(value[i]);
  trend.slope = slope(b, value);
  for (size_t i = 0; i < b->n_points; i++) value[i] = curve_value(&trend, b->rows[i]);
  trend.curve_slope = slope(b, value);
  return trend;
}

struct trends {
  struct trend square, nll;
};

static void find_trends(const struct basis *b, const struct means *means, struct trends *trends)
{
  double squares[GPNN_ADVISE_SIZES + 1], nlls[GPNN_ADVISE_SIZES + 1];
  for (size_t i = 0; i < b->n_points; i++) {
    squares[i] = whole(means[b->set[i]].square, b->sets->q);
    nlls[i] = whole(means[b->set[i]].nll, b->sets->q);
  }
  trends->square = find_trend(b, true, squares, b->square_weight);
  trends->nll = find_trend(b, false, nlls, b->nll_weight);
}

/*
 * The change from n to 'rows' along the slope, which a fraction 'flat' of the way flattens as that
 * of the curve does.  The curve itself is not followed: it cannot bend downwards, and falls behind
 * where errors fall ever faster.
 * See gpnn-methods-simulate(7), equations 12.3 and 12.4.
 */
static double change_to(const struct trend *trend, double flat, double n, double rows)
{
  double steady = log(rows / n), flattening = 1;
  if (trend->curve_slope < 0) {
    double change = curve_value(trend, rows) - curve_value(trend, n);
    flattening = fmin(fmax(change / (trend->curve_slope * steady), 0), 1);
  }
  return trend->slope * steady * (1 - flat + flat * flattening);
}

/* How resample 'r' continues trends: the fraction in which they flatten, and how they change for
 * reasons that no measured size shows, as a normal deviate.  The test rows themselves take the
 * middle of both. */
struct course {
  double flat, deviate;
};

static struct course draw_course(uint64_t seed, size_t r)
{
  struct gpnn_rng rng;
  if (r == 0) return (struct course){0.5, 0};
  gpnn_rng_init_at(&rng, seed, GPNN_RNG_ADVISE, RESAMPLES + r);
  return (struct course){(double)(r % 2), gpnn_rng_normal(&rng)};
}

/* The factor by which a slope has drifted, with each doubling of the rows.  How much is experience,
 * from tables of which a tenth was known (gpnn-simulate-advise(1)). */
static double drift(const struct course *course, double times)
{
  static const double each_doubling = 0.2;
  return exp(course->deviate * each_doubling * sqrt(log2(times)));
}

/* Computes the figures of a resample from its means. */
static void compute_figures(const struct basis *b, const struct course *course,
                            const struct means *means, struct figures *figures,
                            struct trends *trends)
{
  const struct gpnn_advice *advice = b->advice;
  const struct means *now = &means[b->sets->now], *best = &means[b->best];
  size_t q = b->sets->q;
  double n = advice->lines[advice->now].rows;
  double square_now = whole(now->square, q), nll_now = whole(now->nll, q);
  find_trends(b, means, trends);
  for (size_t i = 0; i < advice->n_lines; i++) {
    const struct gpnn_advise_line *line = &advice->lines[i];
    const struct means *of = &means[b->sets->line_set[i]];
    double square = whole(of->square, q), nll = whole(of->nll, q);
    if (!line->measured) {
      double factor = drift(course, line->rows / n);
      square = square_now * exp(factor * change_to(&trends->square, course->flat, n, line->rows));
      nll = nll_now + factor * change_to(&trends->nll, course->flat, n, line->rows);
    }
    set_figures(square, nll, square_now, nll_now, figures->of[i]);
  }
  const struct gpnn_learning_curve *curve = &trends->square.curve;
  set_figures(square_now * curve->floor / gpnn_learning_curve_at(curve, n), nll_now, square_now,
              nll_now, figures->of[LIMIT]);
  set_figures(best->square[1], best->nll[1], now->square[1], now->nll[1], figures->of[BEST]);
}

/* ---- basis ---------------------------------------------------------------------------------- */

/* One over the squared standard error of the mean difference between two sets' values. */
static double weight_of(size_t q, const double *a, const double *b)
{
  double mean = 0, squares = 0;
  for (size_t i = 0; i < q; i++) mean += (a[i] - b[i]) / (double)q;
  for (size_t i = 0; i < q; i++) squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
  return squares > 0 ? (double)q * (double)q / squares : 1;
}

/*
 * The curve's points: subsamples and all rows.  What the errors of the same test rows have in
 * common shifts the whole curve and goes into the floor.  So each size is weighted by how precisely
 * it differs from that of all rows, and those take the weight of the size before.
 */
static void find_points(struct basis *b)
{
  const struct gpnn_advise_sets *sets = b->sets;
  const double *square_now = sets->square + sets->now * sets->q;
  const double *nll_now = sets->nll + sets->now * sets->q;
  for (size_t i = 0; i <= b->advice->now; i++) {
    size_t set = sets->line_set[i], p = b->n_points++,
           like = i < b->advice->now ? set : b->set[p - 1];
    b->set[p] = set;
    b->rows[p] = b->advice->lines[i].rows;
    b->square_weight[p] = weight_of(sets->q, sets->square + like * sets->q, square_now);
    b->nll_weight[p] = weight_of(sets->q, sets->nll + like * sets->q, nll_now);
  }
}

/* Finds the change of parameters with the lowest NLL on the even rows. */
static void find_best(struct basis *b, const struct means *means, struct gpnn_advice *advice)
{
  struct gpnn_advise_help *help = &advice->helps[GPNN_ADVISE_PARAMETERS];
  double least = INFINITY;
  for (size_t i = 0; i < advice->n_lines; i++) {
    size_t set = b->sets->line_set[i];
    if (advice->lines[i].about != GPNN_ADVISE_PARAMETERS || set == b->sets->now ||
        !(means[set].nll[0] < least))
      continue;
    least = means[set].nll[0];
    help->line = i;
    b->best = set;
  }
}

/* ---- estimates ------------------------------------------------------------------------------ */

/* The value of the test rows, and quantiles of the resamples. */
static struct gpnn_advise_value estimate(const struct figures *figures, size_t subject,
                                         size_t measure)
{
  static const double tail = 0.05;
  enum { LAST = RESAMPLES - 1 };
  double values[RESAMPLES];
  for (size_t r = 0; r < RESAMPLES; r++) values[r] = figures[r + 1].of[subject][measure];
  qsort(values, RESAMPLES, sizeof *values, gpnn_compare_doubles);
  size_t low = (size_t)(tail * LAST);
  return (struct gpnn_advise_value){figures[0].of[subject][measure], values[low],
                                    values[LAST - low]};
}

static struct gpnn_advise_help help_of(const struct figures *figures, size_t subject, size_t line)
{
  static const double worthwhile = 0.01;
  struct gpnn_advise_help help = {.line = line,
                                  .rmse_gain = estimate(figures, subject, RMSE_GAIN),
                                  .nll_gain = estimate(figures, subject, NLL_GAIN)};
  help.helps = help.nll_gain.value >= worthwhile && help.nll_gain.low > 0;
  return help;
}

static void set_estimates(const struct figures *figures, struct gpnn_advice *advice)
{
  for (size_t i = 0; i < advice->n_lines; i++) {
    advice->lines[i].rmse = estimate(figures, i, RMSE);
    advice->lines[i].nll = estimate(figures, i, NLL);
    advice->lines[i].rmse_gain = estimate(figures, i, RMSE_GAIN);
    advice->lines[i].nll_gain = estimate(figures, i, NLL_GAIN);
  }
  advice->floor = estimate(figures, LIMIT, RMSE);
}

static void set_verdict(const struct figures *figures, struct gpnn_advice *advice)
{
  struct gpnn_advise_help *helps = advice->helps;
  size_t more = helps[GPNN_ADVISE_NEIGHBOURS].line, best = helps[GPNN_ADVISE_PARAMETERS].line;
  helps[GPNN_ADVISE_ROWS] = help_of(figures, advice->doubled, advice->doubled);
  helps[GPNN_ADVISE_NEIGHBOURS] = help_of(figures, more, more);
  helps[GPNN_ADVISE_PARAMETERS] = help_of(figures, BEST, best);
  advice->most = GPNN_ADVISE_NOTHING;
  double most = 0;
  for (enum gpnn_advise_about about = GPNN_ADVISE_ROWS; about < GPNN_ADVISE_NOTHING; about++) {
    if (!helps[about].helps || helps[about].nll_gain.value <= most) continue;
    most = helps[about].nll_gain.value;
    advice->most = about;
  }
}

enum gpnn_status gpnn_advise_estimate(const struct gpnn_advise_sets *sets, uint64_t seed,
                                      struct gpnn_advice *advice, struct gpnn_error *err)
{
  struct figures *figures = gpnn_alloc(RESAMPLES + 1, 1, sizeof *figures);
  double *count = gpnn_alloc(sets->q, 1, sizeof *count);
  struct means means[GPNN_ADVISE_SETS];
  struct basis basis = {.sets = sets, .advice = advice, .best = sets->now};
  enum gpnn_status status = GPNN_OK;
  if (figures == NULL || count == NULL) status = gpnn_fail_memory(err, "for a bootstrap");
  if (status == GPNN_OK) find_points(&basis);
  for (size_t r = 0; r <= RESAMPLES && status == GPNN_OK; r++) {
    const struct course course = draw_course(seed, r);
    struct trends trends;
    draw_counts(sets->q, seed, r, count);
    average(sets, count, means);
    if (r == 0) find_best(&basis, means, advice);
    compute_figures(&basis, &course, means, &figures[r], &trends);
    if (r == 0) advice->curve = trends.square.curve;
  }
  if (status == GPNN_OK) {
    set_estimates(figures, advice);
    set_verdict(figures, advice);
  }
  free(figures);
  free(count);
  return status;
}
