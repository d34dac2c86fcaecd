/* predicted and residuals: every row a point, or where there are many a count in a cell. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/plot/plot.h"
#include "stats/scatter.h"
#include "stats/sum.h"
#include "table/columns.h"

enum { POINTS_MAX = 5000, CELLS = 100, BAND_ROWS = 80, BANDS_MAX = 20, MOST_SDS = 8 };

/* The points, and what their captions say. */
struct points {
  bool standardised; /* y is (truth - mean) / sd, else the truth */
  size_t column;     /* that x is; SIZE_MAX: it is the mean */
  struct plot_numbers x, y;
  struct gpnn_squares errors;
};

static enum gpnn_status take(void *into, double x, const struct gpnn_predictions_row *row,
                             struct gpnn_error *err)
{
  struct points *p = into;
  double error = row->truth - row->mean;
  if (p->standardised && (!(row->sd > 0) || isinf(row->sd)))
    return gpnn_fail(err, GPNN_EDATA, "a standard deviation is not a positive number");
  gpnn_squares_add(&p->errors, error);
  enum gpnn_status status = plot_push(&p->x, p->column == SIZE_MAX ? row->mean : x, err);
  if (status != GPNN_OK) return status;
  return plot_push(&p->y, p->standardised ? error / row->sd : row->truth, err);
}

static struct plot_range range_of(const struct plot_numbers *numbers)
{
  struct plot_range range = plot_range_none();
  for (size_t i = 0; i < numbers->n; i++) plot_range_add(&range, numbers->values[i]);
  return range;
}

static const double room = 0.03; /* at both ends */

static void set_ranges(struct plot *plot, struct plot_range x, struct plot_range y)
{
  script_range(&plot->body, "x", x.low, x.high);
  script_range(&plot->body, "y", y.low, y.high);
}

/* ---- points or cells ---------------------------------------------------------------------- */

/* The cells that are not empty, with their counts. */
static enum gpnn_status write_cells(struct plot *plot, const struct points *p, struct plot_range x,
                                    struct plot_range y, struct gpnn_error *err)
{
  struct script *s = &plot->body;
  const struct gpnn_scatter_grid grid = {
      CELLS, CELLS, x.low, y.low, (x.high - x.low) / CELLS, (y.high - y.low) / CELLS};
  double most = 1, *counts = gpnn_alloc(CELLS, CELLS, sizeof *counts);
  if (counts == NULL) return gpnn_fail_memory(err, "for the cells of the picture");
  gpnn_scatter_count(&grid, p->x.n, p->x.values, p->y.values, counts);
  script_add(s, "# middle of a cell, rows in it\n");
  script_data(s, "points");
  for (size_t c = 0; c < grid.nx * grid.ny; c++) {
    const double row[] = {x.low + ((double)(c % CELLS) + 0.5) * grid.dx,
                          y.low + ((double)(c / CELLS) + 0.5) * grid.dy, counts[c]};
    if (counts[c] > 0) script_row(s, 3, row);
    most = fmax(most, counts[c]);
  }
  script_data_end(s);
  free(counts);
  plot_palette(plot, PLOT_BLUES);
  script_log_axis(s, "cb", 1, most, false);
  script_add(s, "set cblabel 'rows'\n");
  script_add(s, "half_x = %.10g\nhalf_y = %.10g\n", grid.dx * 0.55, grid.dy * 0.55);
  return GPNN_OK;
}

static void write_points(struct plot *plot, const struct points *p)
{
  script_data(&plot->body, "points");
  for (size_t i = 0; i < p->x.n; i++) {
    const double row[] = {p->x.values[i], p->y.values[i]};
    script_row(&plot->body, 2, row);
  }
  script_data_end(&plot->body);
}

static enum gpnn_status write_rows(struct plot *plot, const struct points *p, struct plot_range x,
                                   struct plot_range y, struct gpnn_error *err)
{
  if (p->x.n > POINTS_MAX) return write_cells(plot, p, x, y, err);
  write_points(plot, p);
  return GPNN_OK;
}

static void draw_rows(struct plot *plot, const struct points *p)
{
  if (p->x.n > POINTS_MAX)
    script_add(&plot->body, "plot $points using 1:2:(half_x):(half_y):3 with boxxyerror fs solid "
                            "noborder lc palette notitle");
  else
    script_add(&plot->body,
               "plot $points using 1:2 with points pt 7 ps %g lc rgb '#900072B2' notitle",
               p->x.n > 500   ? 0.35
               : p->x.n > 100 ? 0.55
                              : 0.8);
}

/* ---- predicted ---------------------------------------------------------------------------- */

static enum gpnn_status draw_predicted(struct plot *plot, struct points *p, const char *target,
                                       struct gpnn_error *err)
{
  struct plot_range range = range_of(&p->x), y = range_of(&p->y);
  plot_range_add(&range, y.low);
  plot_range_add(&range, y.high);
  range = plot_range_widen(range, room);
  enum gpnn_status status = write_rows(plot, p, range, range, err);
  if (status != GPNN_OK) return status;
  plot_title(plot);
  plot_x_label(plot, target, ", predicted", plot->o->unit);
  plot_y_label(plot, target, ", observed", plot->o->unit);
  set_ranges(plot, range, range);
  plot_caption(plot, "n = %zu, RMSE = %.4g", p->x.n, gpnn_squares_root_mean(&p->errors, p->x.n));
  script_add(&plot->body, "set size ratio 1\n");
  draw_rows(plot, p);
  script_add(&plot->body, ", \\\n  x with lines lw 1.2 dt 2 lc rgb '" PLOT_BLACK "' notitle\n");
  return GPNN_OK;
}

/* Reads the points and draws them. */
static enum gpnn_status plot_points(struct plot *plot, struct points *p,
                                    enum gpnn_status (*draw)(struct plot *plot, struct points *p,
                                                             const char *target,
                                                             struct gpnn_error *err),
                                    struct gpnn_error *err)
{
  struct gpnn_predictions found = {0};
  enum gpnn_status status = GPNN_OK;
  p->column = SIZE_MAX;
  if (plot->o->x != NULL) status = gpnn_columns_find(plot->table, plot->o->x, &p->column, err);
  if (status == GPNN_OK) status = plot_find(plot, plot->o->y, p->standardised, &found, err);
  if (status == GPNN_OK) status = plot_predictions(plot, &found, p->column, take, p, err);
  if (status == GPNN_OK)
    status = draw(plot, p, gpnn_table_column(plot->table, found.targets[0].truth), err);
  free(p->x.values);
  free(p->y.values);
  gpnn_predictions_release(&found);
  return status;
}

enum gpnn_status plot_predicted(struct plot *plot, struct gpnn_error *err)
{
  struct points p = {0};
  return plot_points(plot, &p, draw_predicted, err);
}

/* ---- residuals ---------------------------------------------------------------------------- */

/* Quantiles along x, of groups with enough rows for the 2.5 % ones; false if there are
 * too few rows. */
static enum gpnn_status write_quantiles(struct plot *plot, const struct points *p, bool *any,
                                        struct gpnn_error *err)
{
  static const double probabilities[] = {0.025, 0.5, 0.975};
  size_t n = p->x.n, groups = n / BAND_ROWS < BANDS_MAX ? n / BAND_ROWS : BANDS_MAX;
  *any = groups >= 3;
  if (!*any) return GPNN_OK;
  double rows[BANDS_MAX * 4];
  enum gpnn_status status =
      gpnn_scatter_quantiles(n, p->x.values, p->y.values, groups, 3, probabilities, rows, err);
  if (status != GPNN_OK) return status;
  script_add(&plot->body, "# median of x, 2.5 %%, 50 %% and 97.5 %% of the residuals\n");
  script_data(&plot->body, "quantiles");
  for (size_t g = 0; g < groups; g++) script_row(&plot->body, 4, rows + 4 * g);
  script_data_end(&plot->body);
  return GPNN_OK;
}

/* Keeps a few gross errors from flattening everything else: clips values to -+'limit' and returns
 * how many it clipped. */
static size_t clip(struct points *p, double limit)
{
  size_t n = 0;
  for (size_t i = 0; i < p->y.n; i++) {
    double *y = &p->y.values[i];
    if (fabs(*y) <= limit) continue;
    *y = copysign(limit, *y);
    n++;
  }
  return n;
}

static void draw_residual_lines(struct plot *plot, bool has_quantiles)
{
  struct script *s = &plot->body;
  script_add(s, ", \\\n  0 with lines lw 1.2 lc rgb '" PLOT_BLACK "' notitle, \\\n"
                "  -1.96 with lines lw 1.2 dt 2 lc rgb '" PLOT_BLACK "' notitle, \\\n"
                "  1.96 with lines lw 1.2 dt 2 lc rgb '" PLOT_BLACK "' title '0, ±1.96'");
  if (has_quantiles)
    script_add(s,
               ", \\\n  $quantiles using 1:3 with linespoints lw 1.6 pt 7 ps 0.4 lc rgb '" PLOT_RED
               "' title 'median', \\\n"
               "  $quantiles using 1:2 with linespoints lw 1.6 dt 4 pt 11 ps 0.4 lc rgb '" PLOT_RED
               "' notitle, \\\n"
               "  $quantiles using 1:4 with linespoints lw 1.6 dt 4 pt 9 ps 0.4 lc rgb '" PLOT_RED
               "' title '2.5 and 97.5 %%'");
  script_add(s, "\n");
}

static enum gpnn_status draw_residuals(struct plot *plot, struct points *p, const char *target,
                                       struct gpnn_error *err)
{
  bool has_quantiles;
  enum gpnn_status status = write_quantiles(plot, p, &has_quantiles, err);
  if (status != GPNN_OK) return status;
  struct plot_range x = plot_range_widen(range_of(&p->x), room), y = range_of(&p->y);
  double limit = fmin(fmax(fmax(-y.low, y.high), 3), MOST_SDS);
  size_t n_beyond = clip(p, limit);
  y = plot_range_widen((struct plot_range){-limit, limit}, room);
  status = write_rows(plot, p, x, y, err);
  if (status != GPNN_OK) return status;
  plot_title(plot);
  if (p->column == SIZE_MAX)
    plot_x_label(plot, target, ", predicted", plot->o->unit);
  else
    plot_x_label(plot, gpnn_table_column(plot->table, p->column), "", NULL);
  plot_y_label(plot, "(observed − predicted) / sd", "", NULL);
  set_ranges(plot, x, y);
  if (n_beyond > 0)
    plot_caption(plot, "n = %zu, of which %zu beyond ±%d, drawn there", p->x.n, n_beyond, MOST_SDS);
  else
    plot_caption(plot, "n = %zu", p->x.n);
  script_add(&plot->body, "set key outside below center horizontal height 1 Left reverse\n");
  draw_rows(plot, p);
  draw_residual_lines(plot, has_quantiles);
  return GPNN_OK;
}

enum gpnn_status plot_residuals(struct plot *plot, struct gpnn_error *err)
{
  struct points p = {.standardised = true};
  return plot_points(plot, &p, draw_residuals, err);
}
