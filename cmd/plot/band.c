/* band: predictions of one input, with their intervals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/plot/plot.h"
#include "stats/distributions/student.h"
#include "stats/scatter.h"
#include "table/columns.h"

enum { LINE_MAX_POINTS = 2000 };

/* A row: with an sd, the intervals of 50 and 95 percent; else what the table has. */
struct place {
  double x, mean, low[2], high[2], truth; /* NaN: missing */
};

struct band {
  size_t x, truth; /* columns; truth SIZE_MAX: there is none */
  struct gpnn_predictions found;
  struct place *places; /* owned; in the end by x */
  size_t n, capacity, n_truths, n_left_out;
  bool is_function; /* of x: the means make a line */
};

/* ---- rows --------------------------------------------------------------------------------- */

/* The truth is what -y says, or the column before the mean unless that is the input. */
static enum gpnn_status find_columns(const struct plot *plot, struct band *b,
                                     struct gpnn_error *err)
{
  const char *x = plot->o->x;
  enum gpnn_status status = GPNN_OK;
  if (x == NULL) x = "1";
  status = gpnn_columns_find(plot->table, x, &b->x, err);
  /* Reading the input's column as the truth selects every row with an input and a mean. */
  if (status == GPNN_OK) status = plot_find(plot, x, false, &b->found, err);
  if (status != GPNN_OK) return status;
  size_t mean = b->found.targets[0].mean;
  b->truth = mean == 0 || mean - 1 == b->x ? SIZE_MAX : mean - 1;
  if (plot->o->y != NULL) status = gpnn_columns_find(plot->table, plot->o->y, &b->truth, err);
  return status;
}

static void set_intervals(struct place *place, const struct gpnn_predictions_row *row,
                          size_t n_intervals)
{
  static const double levels[2] = {0.5, 0.95};
  for (size_t k = 0; k < 2; k++) {
    double half = NAN;
    if (!isnan(row->sd))
      half =
          gpnn_student_half_width(levels[k], row->df) * row->sd * gpnn_student_unit_scale(row->df);
    place->low[k] = row->mean - half;
    place->high[k] = row->mean + half;
    if (!isnan(row->sd) || k >= n_intervals) continue;
    place->low[k] = row->lower[k];
    place->high[k] = row->upper[k];
  }
}

static enum gpnn_status read_row(struct plot *plot, struct band *b, struct gpnn_error *err)
{
  const struct gpnn_predictions_target *target = &b->found.targets[0];
  struct gpnn_record record;
  struct gpnn_predictions_row row;
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status != GPNN_OK) return status;
  status = gpnn_predictions_read(target, plot->table, &record, &row, err);
  if (status == GPNN_END) {
    b->n_left_out++;
    return GPNN_OK;
  }
  struct place place = {.x = row.truth, .mean = row.mean};
  if (status == GPNN_OK && (row.sd < 0 || row.df <= 2))
    status =
        gpnn_fail(err, GPNN_EDATA, "%s%s%zu: no standard deviation, or degrees of freedom",
                  gpnn_table_name(plot->table), gpnn_table_before_line(plot->table), record.line);
  if (status == GPNN_OK) status = plot_number(plot, &record, b->truth, &place.truth, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&b->places, &b->capacity, b->n + 1, sizeof *b->places))
    return gpnn_fail_memory(err, "for the points of the picture");
  set_intervals(&place, &row, target->n_intervals);
  if (!isnan(place.truth)) b->n_truths++;
  b->places[b->n++] = place;
  return GPNN_OK;
}

static int compare(const void *a, const void *b)
{
  const struct place *p = a, *q = b;
  int order = gpnn_compare_doubles(&p->x, &q->x);
  return order != 0 ? order : gpnn_compare_doubles(&p->mean, &q->mean);
}

static enum gpnn_status judge_means(struct band *b, struct gpnn_error *err)
{
  double *x = gpnn_alloc(b->n, 2, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, "for the points of the picture");
  double *y = x + b->n;
  for (size_t i = 0; i < b->n; i++) {
    x[i] = b->places[i].x;
    y[i] = b->places[i].mean;
  }
  b->is_function = gpnn_scatter_is_function(b->n, x, y);
  free(x);
  return GPNN_OK;
}

static enum gpnn_status read_rows(struct plot *plot, struct band *b, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) status = read_row(plot, b, err);
  if (status != GPNN_END) return status;
  table_warn_left_out(plot->cli, plot->table, b->n_left_out, "input or prediction");
  if (b->n == 0)
    return gpnn_fail(err, GPNN_EDATA, "%s: no row with an input and a prediction",
                     gpnn_table_name(plot->table));
  qsort(b->places, b->n, sizeof *b->places, compare);
  return judge_means(b, err);
}

/* ---- the picture -------------------------------------------------------------------------- */

static void write_band(struct plot *plot, const struct band *b, size_t every)
{
  struct script *s = &plot->body;
  script_add(s, "# input, mean, ends of the inner and of the outer interval\n");
  script_data(s, "band");
  for (size_t i = 0; i < b->n; i += every) {
    const struct place *p = &b->places[i];
    const double row[] = {p->x, p->mean, p->low[0], p->high[0], p->low[1], p->high[1]};
    script_row(s, 6, row);
  }
  script_data_end(s);
  if (b->n_truths == 0) return;
  script_add(s, "# input, truth\n");
  script_data(s, "truth");
  for (size_t i = 0; i < b->n; i += every) {
    const double row[] = {b->places[i].x, b->places[i].truth};
    script_row(s, 2, row);
  }
  script_data_end(s);
}

/* The name of interval 'k': its level, if that is known. */
static void name_interval(const struct band *b, size_t k, char name[32])
{
  const struct gpnn_predictions_target *target = &b->found.targets[0];
  double level = target->has_sd ? (k == 0 ? 0.5 : 0.95) : target->intervals[k].level;
  if (isnan(level))
    snprintf(name, 32, "interval");
  else
    snprintf(name, 32, "%.6g %% interval", 100 * level);
}

/* The wider interval first, so that it lies below; areas, or where there is no line bars. */
static void draw_intervals(struct script *s, const struct band *b)
{
  static const char *const shades[2] = {"#8FBFE0", "#CFE4F3"};
  const struct gpnn_predictions_target *target = &b->found.targets[0];
  size_t n = target->has_sd ? 2 : target->n_intervals < 2 ? target->n_intervals : 2;
  bool inverted =
      n == 2 && !target->has_sd && target->intervals[0].level > target->intervals[1].level;
  for (size_t i = n; i-- > 0;) {
    size_t k = inverted ? n - 1 - i : i;
    char name[32];
    name_interval(b, k, name);
    if (b->is_function)
      script_add(s, "$band using 1:%zu:%zu with filledcurves fc rgb '%s'", 3 + 2 * k, 4 + 2 * k,
                 shades[i]);
    else
      script_add(s, "$band using 1:%zu:(0):($%zu - $%zu) with vectors nohead lw %g lc rgb '%s'",
                 3 + 2 * k, 4 + 2 * k, 3 + 2 * k, i == 0 ? 4.0 : 2.0, shades[i]);
    script_add(s, " title '%s', \\\n  ", name);
  }
}

static void set_ranges(struct script *s, const struct band *b)
{
  struct plot_range x = {b->places[0].x, b->places[b->n - 1].x}, y = plot_range_none();
  for (size_t i = 0; i < b->n; i++) {
    const struct place *p = &b->places[i];
    const double values[] = {p->mean, p->truth, p->low[0], p->high[0], p->low[1], p->high[1]};
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
      if (isfinite(values[k])) plot_range_add(&y, values[k]);
  }
  x = plot_range_widen(x, b->is_function ? 0 : 0.02);
  y = plot_range_widen(y, 0.04);
  script_range(s, "x", x.low, x.high);
  script_range(s, "y", y.low, y.high);
}

/* Where there is no line, why, and how to have one. */
static void write_caption(struct plot *plot, const struct band *b)
{
  char x[GPNN_MASK_BYTES];
  const char *name = gpnn_table_column(plot->table, b->x);
  gpnn_mask(x, name, strlen(name));
  if (b->is_function) {
    plot_no_caption(plot);
    return;
  }
  plot_caption(plot, "n = %zu rows, which differ in more than %s", b->n, x);
  cli_warn(plot->cli,
           "%s: the means are no function of '%s', since the rows differ in other inputs, too, and "
           "are drawn as points: for a line, predict rows that differ in '%s' only",
           gpnn_table_name(plot->table), x, x);
}

static void draw_means(struct script *s, const struct band *b)
{
  double size = b->n > 300 ? 0.3 : 0.6;
  script_add(s, "$band using 1:2 with ");
  if (b->is_function)
    script_add(s, "lines lw 1.8 lc rgb '" PLOT_BLUE "' title 'mean'");
  else
    script_add(s, "points pt 7 ps %g lc rgb '" PLOT_BLUE "' title 'mean'", size);
  if (b->n_truths > 0)
    script_add(s,
               ", \\\n  $truth using 1:2 with points pt 6 ps %g lw 0.8 lc rgb '" PLOT_BLACK
               "' title 'observed'",
               size);
  script_add(s, "\n");
}

static void draw(struct plot *plot, const struct band *b)
{
  struct script *s = &plot->body;
  size_t every = (b->n - 1) / LINE_MAX_POINTS + 1;
  write_band(plot, b, every);
  if (every > 1)
    cli_note(plot->cli, "drawing 1 row in %zu of %zu, in the order of the input", every, b->n);
  plot_x_label(plot, gpnn_table_column(plot->table, b->x), "", NULL);
  write_caption(plot, b);
  plot_title(plot);
  set_ranges(s, b);
  bool named = b->truth != SIZE_MAX;
  plot_y_label(plot, named ? gpnn_table_column(plot->table, b->truth) : "mean", "", plot->o->unit);
  script_add(
      s, "set key outside below center horizontal height 1 Left reverse\nset style fill noborder\n"
         "plot ");
  draw_intervals(s, b);
  draw_means(s, b);
}

enum gpnn_status plot_band(struct plot *plot, struct gpnn_error *err)
{
  struct band b = {0};
  enum gpnn_status status = find_columns(plot, &b, err);
  if (status == GPNN_OK) status = read_rows(plot, &b, err);
  if (status == GPNN_OK) draw(plot, &b);
  gpnn_predictions_release(&b.found);
  free(b.places);
  return status;
}
