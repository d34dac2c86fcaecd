/*
 * The temperature of classes: with l_ic the logarithm of the probability that row i gives class c
 * at temperature 1, the mean log loss
 *
 *   loss(t) = mean of  log sum_c exp(t l_ic) - t l_iy
 *
 * is convex in t, and has the slope mean of sum_c p_ic(t) l_ic - l_iy (gpnn-methods-classes(7),
 * equations 13.18 to 13.20).
 *
 * Rows of a cross-fit are predicted by other parameters, from fewer rows, which are less certain
 * than those to be calibrated.  Their losses are worth knowing, but the temperature stays at 1.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "assess/calibrate_private.h"
#include "base/memory.h"

/* The standard deviation of the logarithm of the temperature that is expected before any row is
 * seen.  On data sets of several kinds the best temperatures differ from 1 by that much; without it
 * a few rows, all of them right, would make all others certain. */
static const double prior_sd = 0.1;

/* Rows and what they gave their classes. */
struct rows {
  size_t n, n_classes;
  const double *y, *l; /* n; n by n_classes */
};

/* What a temperature makes of a row. */
struct at {
  double loss, slope, bend; /* and its derivatives by the temperature */
};

static struct at row_at(const struct rows *rows, size_t i, double temperature)
{
  size_t n = rows->n_classes;
  const double *l = rows->l + i * n;
  double most = l[0], sum = 0, mean = 0, square = 0, own = l[(size_t)rows->y[i]];
  for (size_t c = 1; c < n; c++) most = fmax(most, l[c]);
  for (size_t c = 0; c < n; c++) {
    double weight = exp(temperature * (l[c] - most)), off = l[c] - most;
    sum += weight;
    mean += weight * off;
    square += weight * off * off;
  }
  sum = fmax(sum, 1); /* as the most probable class has weight 1 */
  mean /= sum;
  return (struct at){log(sum) + temperature * (most - own), mean + most - own,
                     fmax(0, square / sum - mean * mean)};
}

/* The sums over all rows, less the logarithm of the prior. */
static struct at all_at(const struct rows *rows, double temperature)
{
  double of_log = log(temperature) / (prior_sd * prior_sd);
  struct at all = {0, of_log / temperature, 0};
  for (size_t i = 0; i < rows->n; i++) {
    struct at row = row_at(rows, i, temperature);
    all.loss += row.loss;
    all.slope += row.slope;
    all.bend += row.bend;
  }
  return all;
}

/* Finds the temperature, between the bounds that the prior leaves, by bisection of its logarithm:
 * where the slope is positive, the temperature is too high. */
static double find_temperature(const struct rows *rows)
{
  enum { STEPS = 40 };
  double low = -4, high = 4;
  for (int step = 0; step < STEPS; step++) {
    double at = (low + high) / 2;
    if (all_at(rows, exp(at)).slope > 0)
      high = at;
    else
      low = at;
  }
  return exp((low + high) / 2);
}

/* The standard error of the temperature: rows of a run of 'cluster_rows' may be alike. */
static double find_error(const struct rows *rows, double temperature, size_t cluster_rows)
{
  double squares = 0, bend = all_at(rows, temperature).bend;
  bend += 1 / (prior_sd * prior_sd * temperature * temperature);
  for (size_t first = 0; first + cluster_rows <= rows->n; first += cluster_rows) {
    double sum = 0;
    for (size_t i = first; i < first + cluster_rows; i++) sum += row_at(rows, i, temperature).slope;
    squares += sum * sum;
  }
  return sqrt(squares) / bend;
}

/* The mean of the rows' log losses at a temperature and its standard error; 'loss' (n) gets them.
 */
static void find_losses(const struct rows *rows, double temperature, size_t cluster_rows,
                        double *loss, double *mean, double *error)
{
  double sum = 0, squares = 0;
  size_t n_means = rows->n / cluster_rows;
  for (size_t i = 0; i < rows->n; i++) sum += loss[i] = row_at(rows, i, temperature).loss;
  *mean = sum / (double)rows->n;
  for (size_t k = 0; k < n_means; k++) {
    double off = 0;
    for (size_t i = k * cluster_rows; i < (k + 1) * cluster_rows; i++) off += loss[i] - *mean;
    off /= (double)cluster_rows;
    squares += off * off;
  }
  *error = n_means > 1 ? sqrt(squares / (double)n_means / ((double)n_means - 1)) : INFINITY;
}

static enum gpnn_status classify(const struct gpnn_model *model,
                                 const struct gpnn_calibrate_options *options,
                                 const struct gpnn_query *query, double *p,
                                 struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  if (options->on == GPNN_CALIBRATE_CROSS_FITTED)
    return gpnn_crossfit_classify(options->crossfit, options->channel, query->n, query->self, p,
                                  result->nearest, &result->counts, err);
  return gpnn_model_classify(model, 0, query, p, result->nearest, &result->counts, err);
}

enum gpnn_status gpnn_calibrate_temperature(const struct gpnn_model *model,
                                            const struct gpnn_calibrate_options *options,
                                            const struct gpnn_heldout *heldout,
                                            struct gpnn_calibrate_report *result,
                                            struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  double given = channel->parameters->calibration.temperature;
  struct gpnn_calibrate_losses *losses = &result->losses;
  size_t n = heldout->query.n, n_classes = gpnn_dataset_n_classes(channel->dataset);
  double *l = gpnn_alloc(n, n_classes, sizeof *l);
  if (l == NULL) return gpnn_fail_memory(err, "for calibration");
  enum gpnn_status status = classify(model, options, &heldout->query, l, result, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < n * n_classes; i++) l[i] = log(fmax(l[i], DBL_TRUE_MIN));
    const struct rows rows = {n, n_classes, heldout->y, l};
    bool is_of_others = options->on == GPNN_CALIBRATE_CROSS_FITTED;
    result->by_temperature = true;
    result->alpha = is_of_others ? 1 : find_temperature(&rows);
    result->standard_error =
        is_of_others ? 0 : find_error(&rows, result->alpha, heldout->cluster_rows);
    find_losses(&rows, given > 0 ? given : 1, heldout->cluster_rows, result->z, &losses->before,
                &losses->before_error);
    find_losses(&rows, result->alpha, heldout->cluster_rows, result->z, &losses->after,
                &losses->after_error);
  }
  free(l);
  return status;
}
