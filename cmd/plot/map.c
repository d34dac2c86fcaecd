/* map: predictions of two inputs, mean and sd side by side. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/plot/plot.h"
#include "stats/scatter.h"
#include "table/columns.h"

enum { LATTICE_MAX = 400, CELLS_MAX = 40000, CELLS = 160, POINTS_MAX = 10000 };

struct map {
  size_t x, y, truth; /* columns; truth: with --truth only */
  struct gpnn_predictions found;
  struct plot_numbers xs, ys, means, sds;
  size_t n_left_out;
  struct plot_range x_range, y_range;
  struct plot_range colours[2]; /* of mean and sd, as drawn */
  bool in_cells, is_lattice;
  struct gpnn_scatter_grid grid; /* of the cells */
};

/* ---- rows --------------------------------------------------------------------------------- */

static enum gpnn_status find_columns(const struct plot *plot, struct map *m, struct gpnn_error *err)
{
  size_t *columns = NULL, n = 0;
  const char *list = plot->o->x != NULL ? plot->o->x : "1,2";
  enum gpnn_status status = gpnn_columns_find_list(plot->table, list, &columns, &n, err);
  if (status != GPNN_OK) return status;
  if (n == 2) {
    m->x = columns[0];
    m->y = columns[1];
  } else {
    status = gpnn_fail(err, GPNN_EINVAL, "--inputs: a map has two, as in -x lon,lat");
  }
  free(columns);
  /* The truth is not drawn; a column with a number in every row stands in for it. */
  if (status != GPNN_OK) return status;
  status = plot_find(plot, gpnn_table_column(plot->table, m->x), false, &m->found, err);
  if (status == GPNN_OK && plot->o->y != NULL)
    status = gpnn_columns_find(plot->table, plot->o->y, &m->truth, err);
  if (status != GPNN_OK || plot->o->x != NULL) return status;
  size_t mean = m->found.targets[0].mean;
  if (m->x == mean || m->y == mean)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: the first two columns are not both inputs: say --inputs",
                     gpnn_table_name(plot->table));
  return GPNN_OK;
}

static enum gpnn_status read_row(struct plot *plot, struct map *m, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct gpnn_predictions_row row;
  double y = NAN;
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status != GPNN_OK) return status;
  status = gpnn_predictions_read(&m->found.targets[0], plot->table, &record, &row, err);
  bool missing = status == GPNN_END;
  if (status == GPNN_OK) status = plot_number(plot, &record, m->y, &y, err);
  if (status != GPNN_OK && !missing) return status;
  if (missing || isnan(y)) {
    m->n_left_out++;
    return GPNN_OK;
  }
  plot_range_add(&m->x_range, row.truth);
  plot_range_add(&m->y_range, y);
  status = plot_push(&m->xs, row.truth, err);
  if (status == GPNN_OK) status = plot_push(&m->ys, y, err);
  if (status == GPNN_OK) status = plot_push(&m->means, row.mean, err);
  return status == GPNN_OK ? plot_push(&m->sds, row.sd, err) : status;
}

/* ---- places ------------------------------------------------------------------------------- */

struct place {
  double x, y, mean, sd;
};

static int compare_places(const void *a, const void *b)
{
  const struct place *p = a, *q = b;
  int order = gpnn_compare_doubles(&p->x, &q->x);
  return order != 0 ? order : gpnn_compare_doubles(&p->y, &q->y);
}

/* Averages the sorted rows of each place into one; returns the number of places. */
static size_t average_places(struct map *m, const struct place *places, size_t n)
{
  size_t n_places = 0;
  for (size_t i = 0, k; i < n; i += k) {
    double mean = 0, sd = 0;
    for (k = 1; i + k < n && compare_places(&places[i], &places[i + k]) == 0;) k++;
    for (size_t j = i; j < i + k; j++) {
      mean += places[j].mean / (double)k;
      sd += places[j].sd / (double)k;
    }
    m->xs.values[n_places] = places[i].x;
    m->ys.values[n_places] = places[i].y;
    m->means.values[n_places] = mean;
    m->sds.values[n_places++] = sd;
  }
  return n_places;
}

/* Rows of one place would hide each other: points are averages over them. */
static enum gpnn_status merge_places(struct map *m, struct gpnn_error *err)
{
  size_t n = m->xs.n;
  struct place *places = gpnn_alloc(n, 1, sizeof *places);
  if (places == NULL) return gpnn_fail_memory(err, "for the places of the picture");
  for (size_t i = 0; i < n; i++)
    places[i] =
        (struct place){m->xs.values[i], m->ys.values[i], m->means.values[i], m->sds.values[i]};
  qsort(places, n, sizeof *places, compare_places);
  m->xs.n = average_places(m, places, n);
  free(places);
  return GPNN_OK;
}

/* Cells around the points of a lattice, or coarser cells if there are many points. */
static enum gpnn_status choose_cells(struct map *m, struct gpnn_error *err)
{
  bool x_is_lattice, y_is_lattice;
  struct gpnn_scatter_grid *g = &m->grid;
  size_t n = m->xs.n;
  enum gpnn_status status =
      gpnn_scatter_lattice(n, m->xs.values, LATTICE_MAX, &x_is_lattice, &g->dx, &g->nx, err);
  if (status == GPNN_OK)
    status = gpnn_scatter_lattice(n, m->ys.values, LATTICE_MAX, &y_is_lattice, &g->dy, &g->ny, err);
  if (status != GPNN_OK) return status;
  m->is_lattice = x_is_lattice && y_is_lattice && g->nx > 1 && g->ny > 1 &&
                  g->nx * g->ny <= 2 * n && g->nx * g->ny <= CELLS_MAX;
  m->in_cells = m->is_lattice || n > POINTS_MAX;
  if (!m->in_cells) return merge_places(m, err);
  if (m->is_lattice) {
    g->x0 = m->x_range.low - g->dx / 2;
    g->y0 = m->y_range.low - g->dy / 2;
  } else {
    double width = m->x_range.high - m->x_range.low, height = m->y_range.high - m->y_range.low;
    double step = fmax(width, height) / CELLS;
    if (!(step > 0)) step = 1;
    if (isinf(step)) step = DBL_MAX / CELLS;
    double across = fmin(width / step, CELLS), down = fmin(height / step, CELLS);
    *g = (struct gpnn_scatter_grid){
        (size_t)across + 1, (size_t)down + 1, m->x_range.low, m->y_range.low, step, step};
  }
  return GPNN_OK;
}

static enum gpnn_status read_rows(struct plot *plot, struct map *m, struct gpnn_error *err)
{
  m->x_range = m->y_range = plot_range_none();
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) status = read_row(plot, m, err);
  if (status != GPNN_END) return status;
  table_warn_left_out(plot->cli, plot->table, m->n_left_out, "inputs or prediction");
  if (m->xs.n == 0)
    return gpnn_fail(err, GPNN_EDATA, "%s: no row with inputs and a prediction",
                     gpnn_table_name(plot->table));
  return choose_cells(m, err);
}

/* ---- data --------------------------------------------------------------------------------- */

static void write_place(struct script *s, struct map *m, double x, double y, double mean, double sd)
{
  const double row[] = {x, y, mean, sd};
  script_row(s, 4, row);
  plot_range_add(&m->colours[0], mean);
  plot_range_add(&m->colours[1], sd);
}

static void write_points(struct script *s, struct map *m)
{
  for (size_t i = 0; i < m->xs.n; i++)
    write_place(s, m, m->xs.values[i], m->ys.values[i], m->means.values[i], m->sds.values[i]);
}

static enum gpnn_status write_cells(struct script *s, struct map *m, struct gpnn_error *err)
{
  const struct gpnn_scatter_grid *g = &m->grid;
  size_t n = g->nx * g->ny;
  double *cells = gpnn_alloc(n, 3, sizeof *cells);
  if (cells == NULL) return gpnn_fail_memory(err, "for the cells of the picture");
  const double *x = m->xs.values, *y = m->ys.values;
  double *counts = cells, *means = cells + n, *sds = cells + 2 * n;
  gpnn_scatter_count(g, m->xs.n, x, y, counts);
  gpnn_scatter_average(g, m->xs.n, x, y, m->means.values, counts, means);
  gpnn_scatter_average(g, m->xs.n, x, y, m->sds.values, counts, sds);
  for (size_t c = 0; c < n; c++)
    if (counts[c] > 0)
      write_place(s, m, g->x0 + ((double)(c % g->nx) + 0.5) * g->dx,
                  g->y0 + ((double)(c / g->nx) + 0.5) * g->dy, means[c], sds[c]);
  free(cells);
  return GPNN_OK;
}

/* Half the side of a cell as drawn: a little more than half, to hide the seams between cells. */
static const double overlap = 0.6;

static enum gpnn_status write_data(struct plot *plot, struct map *m, struct gpnn_error *err)
{
  struct script *s = &plot->body;
  enum gpnn_status status = GPNN_OK;
  m->colours[0] = m->colours[1] = plot_range_none();
  script_add(s, "# inputs, mean, sd%s\n", m->in_cells ? ": averages over cells" : "");
  script_data(s, "map");
  if (m->in_cells)
    status = write_cells(s, m, err);
  else
    write_points(s, m);
  script_data_end(s);
  if (m->in_cells)
    script_add(s, "half_x = %.10g\nhalf_y = %.10g\n", overlap * m->grid.dx, overlap * m->grid.dy);
  return status;
}

/* ---- panels ------------------------------------------------------------------------------- */

/* The layout, in cm. */
struct layout {
  bool beside; /* panels are side by side, not stacked */
  double width, height, top_room, panel_width, panel_height;
};

static const double left_room = 1.7, right_room = 2.2, bar_room = 0.6, bottom_room = 1.4;

/* Panels as large as fit, with equal scales on both axes. */
static struct layout lay_out(const struct plot *plot, const struct map *m, size_t n_panels)
{
  double width = m->x_range.high - m->x_range.low, height = m->y_range.high - m->y_range.low;
  double shape = width > 0 && height > 0 ? height / width : 1;
  shape = fmin(fmax(shape, 0.2), 5);
  struct layout l = {
      .beside = shape > 0.8, .width = plot->width, .top_room = plot_top_room(plot) + bar_room};
  double across = l.beside ? (double)n_panels : 1, down = l.beside ? 1 : (double)n_panels;
  l.panel_width = fmax(l.width / across - left_room - right_room, 1);
  l.panel_height = l.panel_width * shape;
  double most = plot->o->height > 0 ? plot->o->height : 22;
  most = fmax((most - l.top_room - (down - 1) * bar_room) / down - bottom_room, 1);
  if (l.panel_height > most) {
    l.panel_height = most;
    l.panel_width = most / shape;
  }
  l.height = plot->o->height > 0
                 ? plot->o->height
                 : down * (l.panel_height + bottom_room) + l.top_room + (down - 1) * bar_room;
  return l;
}

/* The target's name: that of the column before the mean, unless it is an input; NULL: unknown. */
static const char *target_name(const struct plot *plot, const struct map *m)
{
  size_t mean = m->found.targets[0].mean;
  if (plot->o->y != NULL) return gpnn_table_column(plot->table, m->truth);
  if (mean == 0 || mean - 1 == m->x || mean - 1 == m->y) return NULL;
  return gpnn_table_column(plot->table, mean - 1);
}

static void place_panel(struct plot *plot, const struct map *m, const struct layout *l, size_t i)
{
  struct script *s = &plot->body;
  double left = left_room, top = l->height - l->top_room;
  if (l->beside)
    left += (double)i * (l->panel_width + left_room + right_room);
  else
    top -= (double)i * (l->panel_height + bar_room + bottom_room);
  double right = left + l->panel_width, bottom = top - l->panel_height;
  script_add(s,
             "\nset lmargin at screen %.5f\nset rmargin at screen %.5f\n"
             "set tmargin at screen %.5f\nset bmargin at screen %.5f\n"
             "set colorbox vertical user origin screen %.5f, screen %.5f size screen %.5f, screen "
             "%.5f\n",
             left / l->width, right / l->width, top / l->height, bottom / l->height,
             (right + 0.2) / l->width, bottom / l->height, 0.35 / l->width,
             l->panel_height / l->height);
  /* What the colours are, above the panel. */
  const char *what = i == 0 ? "mean" : "sd", *target = target_name(plot, m);
  if (target == NULL)
    script_label(s, "label 2", what, "", plot->o->unit);
  else
    script_label(s, "label 2", target, i == 0 ? ", mean" : ", sd", plot->o->unit);
  script_add(s, "set label 2 at screen %.5f, screen %.5f left\n", left / l->width,
             (top + 0.4) / l->height);
}

static void set_ranges(struct script *s, const struct map *m, const struct layout *l)
{
  const struct gpnn_scatter_grid *g = &m->grid;
  double share = m->is_lattice ? 0.5
                 : m->in_cells ? 1
                               : 0,
         x_room = share * g->dx, y_room = share * g->dy;
  struct plot_range x = {m->x_range.low - x_room, m->x_range.high + x_room};
  struct plot_range y = {m->y_range.low - y_room, m->y_range.high + y_room};
  x = plot_range_widen(x, m->in_cells ? 0 : 0.02);
  y = plot_range_widen(y, m->in_cells ? 0 : 0.02);
  script_tics_within(s, "x", x.low, x.high, l->panel_width);
  script_range(s, "x", x.low, x.high);
  script_range(s, "y", y.low, y.high);
}

static void draw_panel(struct plot *plot, const struct map *m, const struct layout *l, size_t i)
{
  struct script *s = &plot->body;
  place_panel(plot, m, l, i);
  plot_palette(plot, i == 0 ? PLOT_VIRIDIS : PLOT_CIVIDIS);
  struct plot_range colours = plot_range_widen(m->colours[i], 0);
  script_range(s, "cb", colours.low, colours.high);
  if (m->in_cells) {
    script_add(s,
               "plot $map using 1:2:(half_x):(half_y):%zu with boxxyerror fs solid noborder lc "
               "palette notitle\n",
               3 + i);
    return;
  }
  double size = fmin(fmax(sqrt(300.0 / (double)m->xs.n), 0.25), 1);
  script_add(s, "plot $map using 1:2:%zu with points pt 7 ps %.3g lc palette notitle\n", 3 + i,
             size);
}

static enum gpnn_status draw(struct plot *plot, struct map *m, struct gpnn_error *err)
{
  struct script *s = &plot->body;
  size_t n_panels = m->found.targets[0].has_sd ? 2 : 1;
  enum gpnn_status status = write_data(plot, m, err);
  if (status != GPNN_OK) return status;
  struct layout l = lay_out(plot, m, n_panels);
  plot->height = l.height;
  script_add(s, "set multiplot\nunset grid\nset border 15\n");
  set_ranges(s, m, &l);
  plot_x_label(plot, gpnn_table_column(plot->table, m->x), "", NULL);
  plot_y_label(plot, gpnn_table_column(plot->table, m->y), "", NULL);
  plot_title(plot);
  for (size_t i = 0; i < n_panels; i++) {
    draw_panel(plot, m, &l, i);
    script_add(s, "unset label\n");
  }
  script_add(s, "unset multiplot\n");
  return GPNN_OK;
}

enum gpnn_status plot_map(struct plot *plot, struct gpnn_error *err)
{
  struct map m = {0};
  enum gpnn_status status = find_columns(plot, &m, err);
  if (status == GPNN_OK) status = read_rows(plot, &m, err);
  if (status == GPNN_OK) status = draw(plot, &m, err);
  gpnn_predictions_release(&m.found);
  free(m.xs.values);
  free(m.ys.values);
  free(m.means.values);
  free(m.sds.values);
  return status;
}
