/*
 * monitor: how good predictions were night after night, and whether a night lies outside chance
 * (gpnn-methods(7), section 9).
 *
 * A night is a set of predictions whose truth has come since, and has a few figures: of numbers
 * RMSE, NLL, CRPS, the coverage of 95 % intervals and the distance of the PIT from uniform; of
 * classes error, NLL and Brier score; of both the shares of rows without prediction and far from
 * the training rows.  A history is a table of nights in the order of their dates:
 *
 *   date rows n FIGURE... FIGURE_low or FIGURE_high for each limit, alarm
 *
 * Limits come from the latest GPNN_MONITOR_MOST nights before that raised no alarm, once there are
 * GPNN_MONITOR_FEWEST.  Over the figures of k nights, or the logarithms of those that have a unit,
 * with mean m and standard deviation s, the limit is m + t s sqrt(1 + 1/k), t the quantile of
 * Student's t with GPNN_MONITOR_FEWEST - 1 degrees of freedom, also where k is larger: errors have
 * heavy tails and nights differ, so that figures are less normal than averages of many rows could
 * be.  Shares are compared as arcsin(sqrt()), and are not outside, either, unless their counts
 * would be under the beta-binomial distribution that the rows of all these nights together predict.
 * A night of fewer rows than those before has limits wider by the root of the ratio.  Chance
 * exceeds any of the limits in at most about one night of a thousand (scripts/experiments/alarms):
 * each has an equal share of that.
 *
 * Calling sequence: gpnn_monitor_read() on a zeroed object; gpnn_night_of_numbers() or
 * gpnn_night_of_classes() and gpnn_night_set(), gpnn_monitor_add(), gpnn_monitor_write();
 * gpnn_monitor_release().  Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_ASSESS_MONITOR_H
#define GPNN_ASSESS_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "stats/scores/classification.h"
#include "stats/scores/metrics.h"
#include "table/date.h"
#include "table/stream.h"

/* The level of the interval whose coverage is a figure, the first of the metrics. */
#define GPNN_MONITOR_LEVEL 0.95

enum { GPNN_MONITOR_FIGURES = 7, GPNN_MONITOR_FEWEST = 7, GPNN_MONITOR_MOST = 60 };

struct gpnn_night {
  char date[GPNN_DATE_BYTES]; /* ISO 8601 */
  size_t rows, n;             /* all, and those with prediction and truth */
  double value[GPNN_MONITOR_FIGURES];
  double low[GPNN_MONITOR_FIGURES], high[GPNN_MONITOR_FIGURES]; /* NaN: there is no such limit */
  bool is_outside[GPNN_MONITOR_FIGURES];
};

/* A zeroed object is a history of numbers without nights, and may be released. */
struct gpnn_monitor {
  bool of_classes;
  size_t n, capacity;
  struct gpnn_night *nights; /* owned; by date */
};

/* The name of figure 'i'; NULL: there are no more. */
const char *gpnn_monitor_figure(bool of_classes, size_t i);

/* A night without date and limits, of 'rows' rows; shares of rows are NaN. */
struct gpnn_night gpnn_night_of_numbers(size_t rows, const struct gpnn_metrics_result *scores);
struct gpnn_night gpnn_night_of_classes(size_t rows,
                                        const struct gpnn_classification_result *scores);

/* Sets a figure by its name. */
void gpnn_night_set(struct gpnn_night *night, bool of_classes, const char *figure, double value);

/* True if any figure of the night is outside its limits. */
bool gpnn_night_is_outside(const struct gpnn_night *night);

/* Reads the history at 'path', which need not exist, into a monitor that has of_classes set.
 * GPNN_EDATA: it is not a history, or of the other kind; otherwise as gpnn_table_open() and
 * gpnn_table_next(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_monitor_read(struct gpnn_monitor *monitor, const char *path,
                                                   struct gpnn_error *err);

/* True if the history has too few nights before 'date' to set limits for it. */
bool gpnn_monitor_needs_expected(const struct gpnn_monitor *monitor, const char *date);

/*
 * Puts a night in its place, where it replaces one of the same date, with limits from the nights
 * before it or, if these are too few, from 'n_expected' nights that the model expects (NULL: 0).
 * '*at' is its number.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_monitor_add(struct gpnn_monitor *monitor,
                                                  const struct gpnn_night *night, size_t n_expected,
                                                  const struct gpnn_night *expected, size_t *at,
                                                  struct gpnn_error *err);

GPNN_MUST_CHECK enum gpnn_status gpnn_monitor_write(const struct gpnn_monitor *monitor,
                                                    struct gpnn_output *output,
                                                    struct gpnn_error *err);

void gpnn_monitor_release(struct gpnn_monitor *monitor);

#endif
