/* calibration and pit: whether the predicted distributions are right. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/plot/plot.h"
#include "stats/distributions/binomial.h"
#include "stats/scores/coverage.h"
#include "stats/scores/metrics.h"

enum { N_LEVELS = 20, BAND_STEPS = 200 };

/* What is counted. */
struct counted {
  const struct gpnn_predictions_target *target;
  struct gpnn_metrics metrics;
  struct gpnn_coverage given[GPNN_PREDICTIONS_INTERVALS]; /* intervals that the table has */
  struct gpnn_metrics_result result;
  /* Of rows with a PIT: how much of the step of each truth lies in the central interval of each
   * level, if all may be counts, as the middle of a large step says little of it. */
  bool has_pit, are_counts;
  size_t n_steps;
  double within[N_LEVELS];
};

static void take_step(struct counted *c, double truth, double pit, double logp)
{
  static const double slack = 1e-9;
  double half = fmax(exp(logp) / 2, slack), low = pit - half, high = pit + half;
  c->has_pit = true;
  c->are_counts = c->are_counts && truth >= 0 && truth == floor(truth) && low >= -2 * slack &&
                  high <= 1 + 2 * slack;
  if (!c->are_counts) return;
  c->n_steps++;
  for (size_t i = 0; i < N_LEVELS; i++) {
    double from = fmax(low, 0.5 - c->metrics.levels[i] / 2);
    double to = fmin(high, 0.5 + c->metrics.levels[i] / 2);
    c->within[i] += fmax(to - from, 0) / (high - low);
  }
}

static enum gpnn_status take(void *into, double x, const struct gpnn_predictions_row *row,
                             struct gpnn_error *err)
{
  (void)x;
  struct counted *c = into;
  const struct gpnn_metrics_given given = {.logp = row->score[GPNN_PREDICTIONS_LOGP],
                                           .crps = row->score[GPNN_PREDICTIONS_CRPS],
                                           .pit = row->score[GPNN_PREDICTIONS_PIT],
                                           .step = row->score[GPNN_PREDICTIONS_PITSTEP]};
  c->are_counts = c->are_counts && isnan(given.step); /* counts have no such column */
  if (!isnan(given.pit)) take_step(c, row->truth, given.pit, given.logp);
  enum gpnn_status status =
      gpnn_metrics_add_given(&c->metrics, row->truth, row->mean, row->sd, row->df, &given, err);
  for (size_t i = 0; i < c->target->n_intervals && status == GPNN_OK; i++)
    if (!isnan(row->lower[i]) && !isnan(row->upper[i]))
      status = gpnn_coverage_add(&c->given[i], row->truth, row->lower[i], row->upper[i], err);
  return status;
}

static enum gpnn_status count(struct plot *plot, struct counted *c, struct gpnn_predictions *found,
                              struct gpnn_error *err)
{
  double levels[N_LEVELS];
  for (size_t i = 0; i < N_LEVELS; i++) levels[i] = (double)(i + 1) / N_LEVELS;
  levels[N_LEVELS - 1] = 0.99;
  gpnn_metrics_levels(&c->metrics, N_LEVELS, levels);
  enum gpnn_status status = plot_find(plot, plot->o->y, true, found, err);
  if (status != GPNN_OK) return status;
  c->target = &found->targets[0];
  status = plot_predictions(plot, found, SIZE_MAX, take, c, err);
  if (status == GPNN_OK) status = gpnn_metrics_result(&c->metrics, &c->result, err);
  for (size_t i = 0; i < N_LEVELS && status == GPNN_OK && c->are_counts && c->n_steps > 0; i++)
    c->result.coverage[i] = c->within[i] / (double)c->n_steps;
  return status;
}

/* The range of shares expected by chance, with probability 0.95, of 'n' rows with probability 'p'
 * each. */
static void chance(size_t n, double p, double *low, double *high)
{
  size_t least = gpnn_binomial_quantile(n, p, 0.025), most = gpnn_binomial_quantile(n, p, 0.975);
  *low = (double)least / (double)n;
  *high = (double)most / (double)n;
}

/* ---- calibration -------------------------------------------------------------------------- */

static void write_coverages(struct plot *plot, const struct counted *c)
{
  struct script *s = &plot->body;
  size_t n = c->metrics.n_with_sd;
  script_add(s, "# nominal, 95 %% of observed if the predictions are right\n");
  script_data(s, "band");
  for (int i = 0; i <= BAND_STEPS; i++) {
    double row[3] = {(double)i / BAND_STEPS};
    chance(n, row[0], &row[1], &row[2]);
    script_row(s, 3, row);
  }
  script_data_end(s);
  script_add(s, "# nominal, observed\n");
  script_data(s, "observed");
  for (size_t i = 0; i < c->metrics.n_levels; i++) {
    const double row[] = {c->metrics.levels[i], c->result.coverage[i]};
    script_row(s, 2, row);
  }
  script_data_end(s);
}

/* True if any interval of the table has a known level, and rows. */
static bool write_given(struct plot *plot, const struct counted *c)
{
  bool any = false;
  for (size_t i = 0; i < c->target->n_intervals; i++) {
    double level = c->target->intervals[i].level;
    if (isnan(level) || c->given[i].n == 0) continue;
    if (!any) script_data(&plot->body, "given");
    any = true;
    const double row[] = {level, gpnn_coverage_result(&c->given[i], level).coverage};
    script_row(&plot->body, 2, row);
  }
  if (any) script_data_end(&plot->body);
  return any;
}

/* True if the curve runs where the key usually is, because intervals are much too wide. */
static bool is_wide(const struct counted *c)
{
  for (size_t i = 0; i < c->metrics.n_levels; i++)
    if (c->metrics.levels[i] < 0.5 && c->result.coverage[i] > 0.75) return true;
  return false;
}

static void draw_calibration(struct plot *plot, const struct counted *c)
{
  struct script *s = &plot->body;
  write_coverages(plot, c);
  bool given = write_given(plot, c);
  plot_title(plot);
  plot_x_label(plot, "nominal coverage of central intervals", "", NULL);
  plot_y_label(plot, "observed coverage", "", NULL);
  plot_caption(plot, "n = %zu, CAL = %.4g", c->metrics.n_with_sd, c->result.cal);
  script_add(s, "set size ratio 1\nset xrange [0:1]\nset yrange [0:1]\n"
                "set xtics 0.2\nset ytics 0.2\n");
  script_add(s, "set key %s Left reverse opaque\n", is_wide(c) ? "bottom right" : "top left");
  script_add(s,
             "plot $band using 1:2:3 with filledcurves fc rgb '#D0D0D0' title "
             "'chance, 95 %%', \\\n"
             "  [0:1] x with lines lw 1 dt 2 lc rgb '" PLOT_BLACK "' title 'calibrated', \\\n"
             "  $observed using 1:2 with linespoints lw 1.5 pt 7 ps 0.6 lc rgb '" PLOT_BLUE
             "' title '%s'",
             c->has_pit ? "predictions" : "mean and sd");
  if (given)
    script_add(s, ", \\\n  $given using 1:2 with points pt 9 ps 1.2 lc rgb '" PLOT_RED
                  "' title 'intervals of the table'");
  script_add(s, "\n");
}

/* ---- pit ---------------------------------------------------------------------------------- */

/* At most 20, and of few rows enough in each bin to be seen as a histogram. */
static size_t default_bins(size_t n)
{
  enum { MOST = 20, LEAST = 4, ROWS_A_BIN = 5 };
  size_t bins = n / ROWS_A_BIN;
  return bins > MOST ? MOST : bins < LEAST ? LEAST : bins;
}

static enum gpnn_status draw_pit(struct plot *plot, struct counted *c, struct gpnn_error *err)
{
  struct script *s = &plot->body;
  size_t n = c->metrics.n_with_sd, bins = plot->o->bins > 0 ? plot->o->bins : default_bins(n);
  double low, high, tallest = 0, *shares = gpnn_alloc(bins, 1, sizeof *shares);
  if (shares == NULL) return gpnn_fail_memory(err, "for the bins");
  gpnn_metrics_pit_histogram(&c->metrics, bins, shares);
  chance(n, 1 / (double)bins, &low, &high);
  script_add(s, "# middle of the bin, density\n");
  script_data(s, "pit");
  for (size_t i = 0; i < bins; i++) {
    const double row[] = {((double)i + 0.5) / (double)bins, shares[i] * (double)bins};
    tallest = fmax(tallest, row[1]);
    script_row(s, 2, row);
  }
  script_data_end(s);
  plot_title(plot);
  plot_x_label(plot, "PIT: probability predicted below the truth", "", NULL);
  plot_y_label(plot, "density", "", NULL);
  plot_caption(plot, "n = %zu, distance from uniform %.2g", n, c->result.pit_distance);
  script_add(s,
             "set xrange [0:1]\nset yrange [0:%.10g]\nset key outside below center horizontal "
             "height 1 Left reverse\n"
             "low = %.10g\nhigh = %.10g\n"
             "plot '+' using 1:(low):(high) with filledcurves fc rgb '#D0D0D0' title "
             "'chance, 95 %%', \\\n"
             "  $pit using 1:2:(%.10g) with boxes fs transparent solid 0.4 border rgb '" PLOT_BLUE
             "' fc rgb '" PLOT_BLUE "' lw 1.2 title 'predictions', \\\n"
             "  1 with lines lw 1 dt 2 lc rgb '" PLOT_BLACK "' title 'calibrated'\n",
             1.25 * fmax(tallest, high * (double)bins), low * (double)bins, high * (double)bins,
             1 / (double)bins);
  free(shares);
  return GPNN_OK;
}

/* ---- both --------------------------------------------------------------------------------- */

enum gpnn_status plot_calibration(struct plot *plot, struct gpnn_error *err)
{
  struct counted c = {.are_counts = true};
  struct gpnn_predictions found = {0};
  enum gpnn_status status = count(plot, &c, &found, err);
  if (status == GPNN_OK) draw_calibration(plot, &c);
  gpnn_metrics_release(&c.metrics);
  gpnn_predictions_release(&found);
  return status;
}

enum gpnn_status plot_pit(struct plot *plot, struct gpnn_error *err)
{
  struct counted c = {0};
  struct gpnn_predictions found = {0};
  enum gpnn_status status = count(plot, &c, &found, err);
  if (status == GPNN_OK) status = draw_pit(plot, &c, err);
  gpnn_metrics_release(&c.metrics);
  gpnn_predictions_release(&found);
  return status;
}
