/* effect: what a column does, of gpnn-explain effect: a line with its band, or a bar for each
 * level; of two columns, a surface in colours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/plot/plot.h"
#include "table/columns.h"
#include "table/date.h"

enum { LEVELS_MAX = 100 };

static const char *const axis_names[] = {"x", "y"};

/* What the values of the column are. */
enum scale { NUMBERS, DATES, LEVELS };

struct effect_row {
  char *text[2]; /* owned; the values as the table has them, of one column or two */
  double at[2], effect, lower, upper, row;
};

struct effect {
  size_t n_axes, x[2], effect, lower, upper, row; /* columns; SIZE_MAX: there is none */
  enum scale scale[2];
  struct effect_row *rows; /* owned */
  size_t n, capacity, n_left_out;
};

/* ---- rows --------------------------------------------------------------------------------- */

static enum gpnn_status find_columns(const struct plot *plot, struct effect *f,
                                     struct gpnn_error *err)
{
  const char *x = plot->o->x == NULL ? "1" : plot->o->x;
  size_t rows = SIZE_MAX;
  enum gpnn_status status = gpnn_columns_find(plot->table, x, &f->x[0], err);
  if (status == GPNN_OK)
    status =
        gpnn_columns_find(plot->table, plot->o->y == NULL ? "effect" : plot->o->y, &f->effect, err);
  if (status != GPNN_OK) return status;
  f->lower = f->upper = f->row = SIZE_MAX;
  plot_has_column(plot, "lower", &f->lower);
  plot_has_column(plot, "upper", &f->upper);
  plot_has_column(plot, "row", &f->row);
  f->n_axes = plot->o->x == NULL && plot_has_column(plot, "rows", &rows) && rows == 2 ? 2 : 1;
  f->x[1] = 1;
  return GPNN_OK;
}

static void free_texts(struct effect_row *row)
{
  for (size_t a = 0; a < 2; a++) free(row->text[a]);
}

static enum gpnn_status read_row(struct plot *plot, struct effect *f, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct effect_row row = {0};
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, f->effect, &row.effect, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, f->lower, &row.lower, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, f->upper, &row.upper, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, f->row, &row.row, err);
  if (status != GPNN_OK) return status;
  if (isnan(row.effect)) {
    f->n_left_out++;
    return GPNN_OK;
  }
  bool enough = gpnn_grow(&f->rows, &f->capacity, f->n + 1, sizeof *f->rows);
  for (size_t a = 0; a < f->n_axes && enough; a++) {
    const struct gpnn_field *value = &record.fields[f->x[a]];
    row.text[a] = gpnn_copy_text(value->text, value->length);
    enough = row.text[a] != NULL;
  }
  if (!enough) {
    free_texts(&row);
    return gpnn_fail_memory(err, "for the points of the picture");
  }
  f->rows[f->n++] = row;
  return GPNN_OK;
}

/* Places all values of column 'a' as numbers, or as dates; false: they are not all of them. */
static bool place_all(struct effect *f, size_t a, enum scale scale)
{
  for (size_t i = 0; i < f->n; i++) {
    const char *text = f->rows[i].text[a];
    double *x = &f->rows[i].at[a];
    bool is_read = scale == NUMBERS
                       ? gpnn_number_read(text, strlen(text), x) == GPNN_NUMBER_OK
                       : gpnn_date_read(GPNN_DATE_ISO, text, strlen(text), x) == GPNN_DATE_OK;
    if (!is_read) return false;
  }
  return true;
}

/* Places levels beside each other in the order in which they come. */
static size_t place_levels(struct effect *f, size_t a)
{
  size_t n = 0;
  for (size_t i = 0; i < f->n; i++) {
    f->rows[i].at[a] = (double)n;
    for (size_t k = 0; k < i; k++)
      if (strcmp(f->rows[k].text[a], f->rows[i].text[a]) == 0) f->rows[i].at[a] = f->rows[k].at[a];
    n += f->rows[i].at[a] == (double)n;
  }
  return n;
}

static enum gpnn_status read_rows(struct plot *plot, struct effect *f, struct gpnn_error *err)
{
  const char *name = gpnn_table_name(plot->table);
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) status = read_row(plot, f, err);
  if (status != GPNN_END) return status;
  table_warn_left_out(plot->cli, plot->table, f->n_left_out, "an effect");
  if (f->n == 0) return gpnn_fail(err, GPNN_EDATA, "%s: no row with an effect", name);
  for (size_t a = 0; a < f->n_axes; a++) {
    f->scale[a] = place_all(f, a, NUMBERS) ? NUMBERS : place_all(f, a, DATES) ? DATES : LEVELS;
    if (f->scale[a] == LEVELS && place_levels(f, a) > LEVELS_MAX)
      return gpnn_fail(err, GPNN_EDATA, "%s: more than %d levels, which no reader could tell apart",
                       name, LEVELS_MAX);
  }
  return GPNN_OK;
}

/* ---- the picture -------------------------------------------------------------------------- */

static void write_data(struct script *s, const struct effect *f)
{
  script_add(s, "# value, effect, ends of its interval\n");
  script_data(s, "effect");
  for (size_t i = 0; i < f->n; i++) {
    const struct effect_row *row = &f->rows[i];
    const double values[] = {row->at[0], row->effect, row->lower, row->upper};
    if (i > 0 && row->row != row[-1].row && !isnan(row->row)) script_add(s, "\n");
    script_row(s, 4, values);
  }
  script_data_end(s);
}

/* Labels an axis at some dates, or at all levels. */
static void label_values(struct script *s, const struct effect *f, size_t a,
                         struct plot_range range)
{
  enum { DATE_LABELS = 5 };
  char date[GPNN_DATE_BYTES];
  if (f->scale[a] == NUMBERS) return;
  script_add(s, "set %stics (", axis_names[a]);
  for (size_t k = 0; k < DATE_LABELS && f->scale[a] == DATES; k++) {
    double x = range.low + (range.high - range.low) * (double)k / (DATE_LABELS - 1);
    x = range.high - range.low > DATE_LABELS ? floor(x) : x;
    script_add(s, "%s", k == 0 ? "" : ", ");
    script_quote(s, gpnn_date_write(date, x));
    script_add(s, " %.15g", x);
  }
  double next = 0;
  for (size_t i = 0; i < f->n && f->scale[a] == LEVELS; i++) {
    if (f->rows[i].at[a] != next) continue;
    script_add(s, "%s", next == 0 ? "" : ", ");
    script_quote(s, f->rows[i].text[a]);
    script_add(s, " %g", next++);
  }
  script_add(s, ")\nset format %s '%%g'\n", axis_names[a]);
}

/* Makes an axis as long as the values of column 'a', and labels it. */
static void set_axis(struct script *s, const struct effect *f, size_t a)
{
  struct plot_range x = plot_range_none();
  for (size_t i = 0; i < f->n; i++) plot_range_add(&x, f->rows[i].at[a]);
  label_values(s, f, a, x);
  x = f->scale[a] == LEVELS ? (struct plot_range){x.low - 0.5, x.high + 0.5}
                            : plot_range_widen(x, 0);
  script_range(s, axis_names[a], x.low, x.high);
}

static void set_ranges(struct script *s, const struct effect *f)
{
  struct plot_range y = plot_range_none();
  for (size_t i = 0; i < f->n; i++) {
    const struct effect_row *row = &f->rows[i];
    plot_range_add(&y, row->effect);
    if (isfinite(row->lower)) plot_range_add(&y, row->lower);
    if (isfinite(row->upper)) plot_range_add(&y, row->upper);
  }
  set_axis(s, f, 0);
  y = plot_range_widen(y, 0.04);
  script_range(s, "y", y.low, y.high);
}

/* Where the cell of a value ends on one side: half way to the next. */
static double end_of_cell(const struct effect *f, size_t a, size_t i, bool above)
{
  double at = f->rows[i].at[a], next = above ? INFINITY : -INFINITY;
  for (size_t k = 0; k < f->n; k++) {
    double other = f->rows[k].at[a];
    if (above ? other > at && other < next : other < at && other > next) next = other;
  }
  if (f->scale[a] == LEVELS) return above ? at + 0.5 : at - 0.5;
  return isinf(next) ? at : (at + next) / 2;
}

static void draw_surface(struct plot *plot, const struct effect *f)
{
  struct script *s = &plot->body;
  script_add(s, "# values, ends of their cell, effect\n");
  script_data(s, "effect");
  for (size_t i = 0; i < f->n; i++) {
    const double *at = f->rows[i].at;
    const double values[] = {at[0],
                             at[1],
                             end_of_cell(f, 0, i, false),
                             end_of_cell(f, 0, i, true),
                             end_of_cell(f, 1, i, false),
                             end_of_cell(f, 1, i, true),
                             f->rows[i].effect};
    script_row(s, 7, values);
  }
  script_data_end(s);
  plot_x_label(plot, gpnn_table_column(plot->table, f->x[0]), "", NULL);
  plot_y_label(plot, gpnn_table_column(plot->table, f->x[1]), "", NULL);
  plot_caption(plot, "colours: %s", gpnn_table_column(plot->table, f->effect));
  plot_title(plot);
  set_axis(s, f, 0);
  set_axis(s, f, 1);
  plot_palette(plot, PLOT_VIRIDIS);
  script_add(s, "unset key\nset style fill solid noborder\n"
                "plot $effect using 1:2:3:4:5:6:7 with boxxyerror lc palette\n");
}

static void draw(struct plot *plot, const struct effect *f)
{
  struct script *s = &plot->body;
  bool of_rows = f->row != SIZE_MAX, has_band = f->lower != SIZE_MAX && f->upper != SIZE_MAX;
  write_data(s, f);
  plot_x_label(plot, gpnn_table_column(plot->table, f->x[0]), "", NULL);
  plot_y_label(plot, gpnn_table_column(plot->table, f->effect), "", plot->o->unit);
  plot_no_caption(plot);
  plot_title(plot);
  set_ranges(s, f);
  script_add(s, "unset key\nset style fill noborder\nplot ");
  if (f->scale[0] == LEVELS && has_band && !of_rows)
    script_add(s,
               "$effect using 1:2:3:4 with yerrorbars pt 7 ps 0.8 lw 1.6 lc rgb '" PLOT_BLUE "'\n");
  else if (has_band && !of_rows)
    script_add(s, "$effect using 1:3:4 with filledcurves fc rgb '#CFE4F3', \\\n"
                  "  $effect using 1:2 with lines lw 1.8 lc rgb '" PLOT_BLUE "'\n");
  else
    script_add(s, "$effect using 1:2 with linespoints pt 7 ps 0.3 lw 0.8 lc rgb '" PLOT_BLUE "'\n");
}

enum gpnn_status plot_effect(struct plot *plot, struct gpnn_error *err)
{
  struct effect f = {0};
  enum gpnn_status status = find_columns(plot, &f, err);
  if (status == GPNN_OK) status = read_rows(plot, &f, err);
  if (status == GPNN_OK) (f.n_axes > 1 ? draw_surface : draw)(plot, &f);
  for (size_t i = 0; i < f.n; i++) free_texts(&f.rows[i]);
  free(f.rows);
  return status;
}
