/* effect: what a column does, of gpnn-explain effect: a line with its band, or a bar for each
 * level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/report.h"
#include "cmd/plot/plot.h"
#include "table/columns.h"
#include "table/date.h"

enum { LEVELS_MAX = 100 };

/* What the values of the column are. */
enum scale { NUMBERS, DATES, LEVELS };

struct effect_row {
  char *text; /* owned; the value as the table has it */
  double x, effect, lower, upper, row;
};

struct effect {
  size_t x, effect, lower, upper, row; /* columns; SIZE_MAX: there is none */
  enum scale scale;
  struct effect_row *rows; /* owned */
  size_t n, capacity, n_left_out;
};

/* ---- rows --------------------------------------------------------------------------------- */

static enum gpnn_status find_columns(const struct plot *plot, struct effect *f,
                                     struct gpnn_error *err)
{
  const char *x = plot->o->x == NULL ? "1" : plot->o->x;
  enum gpnn_status status = gpnn_columns_find(plot->table, x, &f->x, err);
  if (status == GPNN_OK)
    status =
        gpnn_columns_find(plot->table, plot->o->y == NULL ? "effect" : plot->o->y, &f->effect, err);
  if (status != GPNN_OK) return status;
  f->lower = f->upper = f->row = SIZE_MAX;
  plot_has_column(plot, "lower", &f->lower);
  plot_has_column(plot, "upper", &f->upper);
  plot_has_column(plot, "row", &f->row);
  return GPNN_OK;
}

static enum gpnn_status read_number(const struct plot *plot, const struct gpnn_record *record,
                                    size_t column, double *value, struct gpnn_error *err)
{
  *value = NAN;
  return column == SIZE_MAX ? GPNN_OK : plot_number(plot, record, column, value, err);
}

static enum gpnn_status read_row(struct plot *plot, struct effect *f, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct effect_row row = {0};
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, f->effect, &row.effect, err);
  if (status == GPNN_OK) status = read_number(plot, &record, f->lower, &row.lower, err);
  if (status == GPNN_OK) status = read_number(plot, &record, f->upper, &row.upper, err);
  if (status == GPNN_OK) status = read_number(plot, &record, f->row, &row.row, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_field *value = &record.fields[f->x];
  if (isnan(row.effect)) {
    f->n_left_out++;
    return GPNN_OK;
  }
  row.text = gpnn_copy_text(value->text, value->length);
  if (row.text == NULL || !gpnn_grow(&f->rows, &f->capacity, f->n + 1, sizeof *f->rows)) {
    free(row.text);
    return gpnn_fail_memory(err, "for the points of the picture");
  }
  f->rows[f->n++] = row;
  return GPNN_OK;
}

/* Places all values as numbers, or as dates; false: they are not all of them. */
static bool place_all(struct effect *f, enum scale scale)
{
  for (size_t i = 0; i < f->n; i++) {
    const char *text = f->rows[i].text;
    double *x = &f->rows[i].x;
    bool is_read = scale == NUMBERS
                       ? gpnn_number_read(text, strlen(text), x) == GPNN_NUMBER_OK
                       : gpnn_date_read(GPNN_DATE_ISO, text, strlen(text), x) == GPNN_DATE_OK;
    if (!is_read) return false;
  }
  return true;
}

/* Places levels beside each other in the order in which they come. */
static size_t place_levels(struct effect *f)
{
  size_t n = 0;
  for (size_t i = 0; i < f->n; i++) {
    f->rows[i].x = (double)n;
    for (size_t k = 0; k < i; k++)
      if (strcmp(f->rows[k].text, f->rows[i].text) == 0) f->rows[i].x = f->rows[k].x;
    n += f->rows[i].x == (double)n;
  }
  return n;
}

static enum gpnn_status read_rows(struct plot *plot, struct effect *f, struct gpnn_error *err)
{
  const char *name = gpnn_table_name(plot->table);
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) status = read_row(plot, f, err);
  if (status != GPNN_END) return status;
  report_left_out(plot->cli, plot->table, f->n_left_out, "an effect");
  if (f->n == 0) return gpnn_fail(err, GPNN_EDATA, "%s: no row with an effect", name);
  f->scale = place_all(f, NUMBERS) ? NUMBERS : place_all(f, DATES) ? DATES : LEVELS;
  if (f->scale == LEVELS && place_levels(f) > LEVELS_MAX)
    return gpnn_fail(err, GPNN_EDATA, "%s: more than %d levels, which no reader could tell apart",
                     name, LEVELS_MAX);
  return GPNN_OK;
}

/* ---- the picture -------------------------------------------------------------------------- */

static void write_data(struct script *s, const struct effect *f)
{
  script_add(s, "# value, effect, ends of its interval\n");
  script_data(s, "effect");
  for (size_t i = 0; i < f->n; i++) {
    const struct effect_row *row = &f->rows[i];
    const double values[] = {row->x, row->effect, row->lower, row->upper};
    if (i > 0 && row->row != row[-1].row && !isnan(row->row)) script_add(s, "\n");
    script_row(s, 4, values);
  }
  script_data_end(s);
}

/* Labels the axis at some dates, or at all levels. */
static void label_values(struct script *s, const struct effect *f, struct plot_range range)
{
  enum { DATE_LABELS = 5 };
  char date[GPNN_DATE_BYTES];
  if (f->scale == NUMBERS) return;
  script_add(s, "set xtics (");
  for (size_t k = 0; k < DATE_LABELS && f->scale == DATES; k++) {
    double x = range.low + (range.high - range.low) * (double)k / (DATE_LABELS - 1);
    x = range.high - range.low > DATE_LABELS ? floor(x) : x;
    script_add(s, "%s", k == 0 ? "" : ", ");
    script_quote(s, gpnn_date_write(date, x));
    script_add(s, " %.15g", x);
  }
  double next = 0;
  for (size_t i = 0; i < f->n && f->scale == LEVELS; i++) {
    if (f->rows[i].x != next) continue;
    script_add(s, "%s", next == 0 ? "" : ", ");
    script_quote(s, f->rows[i].text);
    script_add(s, " %g", next++);
  }
  script_add(s, ")\n");
}

static void set_ranges(struct script *s, const struct effect *f)
{
  struct plot_range x = plot_range_none(), y = plot_range_none();
  for (size_t i = 0; i < f->n; i++) {
    const struct effect_row *row = &f->rows[i];
    plot_range_add(&x, row->x);
    plot_range_add(&y, row->effect);
    if (isfinite(row->lower)) plot_range_add(&y, row->lower);
    if (isfinite(row->upper)) plot_range_add(&y, row->upper);
  }
  label_values(s, f, x);
  x = f->scale == LEVELS ? (struct plot_range){x.low - 0.5, x.high + 0.5} : plot_range_widen(x, 0);
  y = plot_range_widen(y, 0.04);
  script_range(s, "x", x.low, x.high);
  if (f->scale != NUMBERS) script_add(s, "set format x '%%g'\n");
  script_range(s, "y", y.low, y.high);
}

static void draw(struct plot *plot, const struct effect *f)
{
  struct script *s = &plot->body;
  bool of_rows = f->row != SIZE_MAX, has_band = f->lower != SIZE_MAX && f->upper != SIZE_MAX;
  write_data(s, f);
  plot_x_label(plot, gpnn_table_column(plot->table, f->x), "", NULL);
  plot_y_label(plot, gpnn_table_column(plot->table, f->effect), "", plot->o->unit);
  plot_no_caption(plot);
  plot_title(plot);
  set_ranges(s, f);
  script_add(s, "unset key\nset style fill noborder\nplot ");
  if (f->scale == LEVELS && has_band && !of_rows)
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
  if (status == GPNN_OK) draw(plot, &f);
  for (size_t i = 0; i < f.n; i++) free(f.rows[i].text);
  free(f.rows);
  return status;
}
