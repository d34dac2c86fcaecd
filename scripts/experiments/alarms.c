/*
 * alarms: how often a monitor (assess/monitor.h) raises a false alarm, and how soon a true one.
 *
 *   alarms [NIGHTS]                    (100000)
 *
 * Nights of each kind of predictions are simulated row by row, scored and judged, in histories of
 * 100 nights; a night that raises an alarm stays in its history, as it does in use.  The rows of
 * the 10 nights that a model expects are as those of nights.
 *
 * Prints for each kind how many alarms there are in 1000 nights: of the first seven, which have
 * limits from the model, of nights 8 to 20, and of all later ones, with the standard error of the
 * last; then the share of histories that notice, in the first night of it, that errors have grown
 * by a fifth, by a half and to twice their size after 30 nights.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "assess/monitor.h"
#include "base/rng.h"

enum { LENGTH = 100, EXPECTED = 10, CHANGE = 30, FIRST = 8, EARLY = 20 };

/* What nights are like: errors are those of 'df' degrees of freedom (0: normal), larger than
 * predicted by 'factor', and shifted and scaled from night to night. */
static const struct kind {
  const char *name;
  size_t least, most; /* rows */
  double df, factor, shift, scale;
} kinds[] = {
    {"20 rows, right predictions", 20, 20, 0, 1, 0, 0},
    {"200 rows, right predictions", 200, 200, 0, 1, 0, 0},
    {"20 to 400 rows, right predictions", 20, 400, 0, 1, 0, 0},
    {"200 rows, Student's t with 4 degrees of freedom", 200, 200, 4, 1, 0, 0},
    {"200 rows, sd too small by a fifth", 200, 200, 0, 1.25, 0, 0},
    {"200 rows, nights differ in level and spread", 200, 200, 0, 1, 0.3, 0.15},
};

static void check(enum gpnn_status status, const struct gpnn_error *err)
{
  if (status == GPNN_OK) return;
  fprintf(stderr, "alarms: %s\n", err->text);
  exit(1);
}

static double draw_error(struct gpnn_rng *rng, double df)
{
  double z = gpnn_rng_normal(rng);
  /* With a standard deviation of 1. */
  return df == 0 ? z : z / sqrt(2 * gpnn_rng_gamma(rng, df / 2) / df) * sqrt((df - 2) / df);
}

/* The share of 'n' rows that happens to each with probability 'p'. */
static double draw_share(struct gpnn_rng *rng, size_t n, double p)
{
  double count = 0;
  for (size_t i = 0; i < n; i++) count += gpnn_rng_uniform(rng) < p;
  return count / (double)n;
}

/* A night whose errors are 'grown' times their usual size. */
static struct gpnn_night draw_night(struct gpnn_rng *rng, const struct kind *kind, double grown)
{
  const double level[] = {GPNN_MONITOR_LEVEL}, usual_far = 0.001, usual_na = 0.01;
  struct gpnn_metrics metrics = {0};
  struct gpnn_metrics_result scores;
  struct gpnn_error err = {0};
  size_t n = kind->least + (size_t)gpnn_rng_below(rng, kind->most - kind->least + 1);
  double shift = kind->shift * gpnn_rng_normal(rng);
  double scale = kind->factor * grown * exp(kind->scale * gpnn_rng_normal(rng));
  gpnn_metrics_levels(&metrics, 1, level);
  for (size_t i = 0; i < n; i++)
    check(gpnn_metrics_add(&metrics, shift + scale * draw_error(rng, kind->df), 0, 1,
                           kind->df == 0 ? INFINITY : kind->df, &err),
          &err);
  check(gpnn_metrics_result(&metrics, &scores, &err), &err);
  gpnn_metrics_release(&metrics);
  struct gpnn_night night = gpnn_night_of_numbers(n, &scores);
  gpnn_night_set(&night, false, "na", draw_share(rng, n, usual_na));
  gpnn_night_set(&night, false, "far", draw_share(rng, n, usual_far));
  return night;
}

/* Adds night number 'i', and says if it raises an alarm. */
static bool add_night(struct gpnn_monitor *monitor, struct gpnn_night night, size_t i,
                      const struct gpnn_night *expected)
{
  struct gpnn_error err = {0};
  size_t at;
  gpnn_date_write(night.date, (double)(20000 + i));
  check(gpnn_monitor_add(monitor, &night, EXPECTED, expected, &at, &err), &err);
  return gpnn_night_is_outside(&monitor->nights[at]);
}

int main(int argc, char **argv)
{
  static const double growths[] = {1.2, 1.5, 2};
  enum { GROWTHS = sizeof growths / sizeof growths[0] };
  size_t n_histories = (argc > 1 ? strtoul(argv[1], NULL, 10) : 100000) / LENGTH;
  printf("predictions\tfirst\tearly\tlater\tse\t1.2\t1.5\t2\n");
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    size_t alarms[3] = {0}, noticed[GROWTHS] = {0};
    struct gpnn_rng rng;
    gpnn_rng_init(&rng, 1 + k, GPNN_RNG_TEST);
    for (size_t h = 0; h < n_histories; h++) {
      struct gpnn_monitor monitor = {0};
      struct gpnn_night expected[EXPECTED];
      for (size_t i = 0; i < EXPECTED; i++) expected[i] = draw_night(&rng, &kinds[k], 1);
      for (size_t i = 1; i <= LENGTH; i++) {
        for (size_t g = 0; g < GROWTHS && i == CHANGE + 1; g++)
          noticed[g] += add_night(&monitor, draw_night(&rng, &kinds[k], growths[g]), i, expected);
        alarms[(i >= FIRST) + (i > EARLY)] +=
            add_night(&monitor, draw_night(&rng, &kinds[k], 1), i, expected);
      }
      gpnn_monitor_release(&monitor);
    }
    double later = (double)(LENGTH - EARLY) * (double)n_histories;
    printf("%s\t%.2f\t%.2f\t%.2f\t%.2f", kinds[k].name,
           1e3 * (double)alarms[0] / (double)((FIRST - 1) * n_histories),
           1e3 * (double)alarms[1] / (double)((EARLY - FIRST + 1) * n_histories),
           1e3 * (double)alarms[2] / later, 1e3 * sqrt((double)alarms[2]) / later);
    for (size_t g = 0; g < GROWTHS; g++) printf("\t%.2f", (double)noticed[g] / (double)n_histories);
    printf("\n");
    fflush(stdout);
  }
  return 0;
}
