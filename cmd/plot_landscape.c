/* landscape: metrics against parameters, a panel each, a line for each number of rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "data/columns.h"
#include "plot.h"

enum { NAMES_MAX = 32, SYMBOLS = 6 };

struct names {
  size_t n;
  char *items[NAMES_MAX]; /* owned */
};

/* A value of a metric, for a value 'at' of a parameter. */
struct value {
  size_t parameter, metric; /* by number in the names */
  double rows, at, value, se, limit, matched;
};

/* The columns of one metric; SIZE_MAX: there is none. */
struct metric_columns {
  size_t value, se, limit, matched;
};

struct landscape {
  size_t rows, varied, at, quantity; /* columns; quantity SIZE_MAX: a metric is a column */
  size_t n_columns;
  struct metric_columns *columns; /* owned */
  struct names parameters, metrics;
  struct value *values; /* owned; in the end by panel, rows and at */
  size_t n, capacity, n_left_out;
};

/* ---- columns ------------------------------------------------------------------------------ */

/* The column called 'name' and 'suffix', if there is one. */
static enum gpnn_status find_companion(const struct plot *plot, const char *name,
                                       const char *suffix, size_t *column, struct gpnn_error *err)
{
  size_t bytes = strlen(name) + strlen(suffix) + 1;
  char *whole = malloc(bytes);
  if (whole == NULL) return gpnn_fail_memory(err, "for the name of a column");
  snprintf(whole, bytes, "%s%s", name, suffix);
  if (!plot_has_column(plot, whole, column)) *column = SIZE_MAX;
  free(whole);
  return GPNN_OK;
}

static enum gpnn_status find_metric(const struct plot *plot, size_t column,
                                    struct metric_columns *m, struct gpnn_error *err)
{
  const char *name = gpnn_table_column(plot->table, column);
  m->value = column;
  enum gpnn_status status = find_companion(plot, name, "_se", &m->se, err);
  if (status == GPNN_OK) status = find_companion(plot, name, "_limit", &m->limit, err);
  if (status == GPNN_OK) status = find_companion(plot, name, "_matched", &m->matched, err);
  return status;
}

/* A table of metrics in columns, of gpnn-simulate limits. */
static enum gpnn_status find_metrics(const struct plot *plot, struct landscape *l,
                                     struct gpnn_error *err)
{
  static const char usual[] = "mse,nll,cal";
  size_t *columns = NULL, n = 0;
  const char *list = plot->o->y != NULL ? plot->o->y : usual;
  enum gpnn_status status = gpnn_columns_find_list(plot->table, list, &columns, &n, err);
  if (status != GPNN_OK) return status;
  if (n > NAMES_MAX)
    status = gpnn_fail(err, GPNN_EINVAL, "more than %d metrics", NAMES_MAX);
  else if ((l->columns = gpnn_alloc(n, 1, sizeof *l->columns)) == NULL)
    status = gpnn_fail_memory(err, "for the columns");
  l->n_columns = status == GPNN_OK ? n : 0;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = find_metric(plot, columns[i], &l->columns[i], err);
  free(columns);
  return status;
}

/* A table of one quantity a row, of gpnn-simulate risk. */
static enum gpnn_status find_quantity(const struct plot *plot, struct landscape *l,
                                      struct gpnn_error *err)
{
  struct metric_columns m = {0, SIZE_MAX, SIZE_MAX, SIZE_MAX};
  enum gpnn_status status = gpnn_columns_find(plot->table, "value", &m.value, err);
  if (status != GPNN_OK) return status;
  plot_has_column(plot, "se", &m.se);
  l->columns = gpnn_alloc(1, 1, sizeof *l->columns);
  if (l->columns == NULL) return gpnn_fail_memory(err, "for the columns");
  l->columns[0] = m;
  l->n_columns = 1;
  return GPNN_OK;
}

static enum gpnn_status find_columns(const struct plot *plot, struct landscape *l,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_columns_find(plot->table, "rows", &l->rows, err);
  if (status == GPNN_OK) status = gpnn_columns_find(plot->table, "varied", &l->varied, err);
  if (status == GPNN_OK) status = gpnn_columns_find(plot->table, "at", &l->at, err);
  if (status != GPNN_OK) return status;
  l->quantity = SIZE_MAX;
  return plot_has_column(plot, "quantity", &l->quantity) ? find_quantity(plot, l, err)
                                                         : find_metrics(plot, l, err);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* The number of a name, which is added if it is new. */
static enum gpnn_status number_of(struct names *names, const char *text, size_t length, size_t *i,
                                  struct gpnn_error *err)
{
  for (*i = 0; *i < names->n; ++*i)
    if (strlen(names->items[*i]) == length && memcmp(names->items[*i], text, length) == 0)
      return GPNN_OK;
  if (names->n == NAMES_MAX)
    return gpnn_fail(err, GPNN_EDATA, "more than %d parameters or quantities", NAMES_MAX);
  names->items[names->n] = gpnn_copy_text(text, length);
  if (names->items[names->n] == NULL) return gpnn_fail_memory(err, "for names");
  names->n++;
  return GPNN_OK;
}

/* Whether -y asks for this quantity, by its name in a list. */
static bool is_wanted(const char *list, const struct gpnn_field *quantity)
{
  if (list == NULL) return true;
  for (;;) {
    size_t length = strcspn(list, ",");
    if (length == quantity->length && memcmp(list, quantity->text, length) == 0) return true;
    if (list[length] == '\0') return false;
    list += length + 1;
  }
}

static enum gpnn_status optional(const struct plot *plot, const struct gpnn_record *record,
                                 size_t column, double *value, struct gpnn_error *err)
{
  *value = NAN;
  return column == SIZE_MAX ? GPNN_OK : plot_number(plot, record, column, value, err);
}

static enum gpnn_status add_value(struct plot *plot, struct landscape *l,
                                  const struct gpnn_record *record, const struct metric_columns *m,
                                  struct value v, struct gpnn_error *err)
{
  const char *name = gpnn_table_column(plot->table, m->value);
  struct gpnn_field field = {name, strlen(name)};
  if (l->quantity != SIZE_MAX) field = record->fields[l->quantity];
  if (l->quantity != SIZE_MAX && !is_wanted(plot->o->y, &field)) return GPNN_OK;
  enum gpnn_status status = plot_number(plot, record, m->value, &v.value, err);
  if (status == GPNN_OK) status = optional(plot, record, m->se, &v.se, err);
  if (status == GPNN_OK) status = optional(plot, record, m->limit, &v.limit, err);
  if (status == GPNN_OK) status = optional(plot, record, m->matched, &v.matched, err);
  if (status != GPNN_OK) return status;
  if (isnan(v.value)) {
    l->n_left_out++;
    return GPNN_OK;
  }
  const struct gpnn_field *varied = &record->fields[l->varied];
  status = number_of(&l->parameters, varied->text, varied->length, &v.parameter, err);
  if (status == GPNN_OK) status = number_of(&l->metrics, field.text, field.length, &v.metric, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&l->values, &l->capacity, l->n + 1, sizeof *l->values))
    return gpnn_fail_memory(err, "for the points of the picture");
  l->values[l->n++] = v;
  return GPNN_OK;
}

static enum gpnn_status read_row(struct plot *plot, struct landscape *l, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct value v = {0};
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, l->rows, &v.rows, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, l->at, &v.at, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_field *varied = &record.fields[l->varied];
  bool nothing = varied->length == 1 && varied->text[0] == '-';
  if (isnan(v.rows) || isnan(v.at) || nothing) {
    l->n_left_out++;
    return GPNN_OK;
  }
  for (size_t i = 0; i < l->n_columns && status == GPNN_OK; i++)
    status = add_value(plot, l, &record, &l->columns[i], v, err);
  return status;
}

static int order(double a, double b)
{
  return (a > b) - (a < b);
}

static int compare_values(const void *a, const void *b)
{
  const struct value *v = a, *w = b;
  if (v->metric != w->metric) return v->metric < w->metric ? -1 : 1;
  if (v->parameter != w->parameter) return v->parameter < w->parameter ? -1 : 1;
  return v->rows != w->rows ? order(v->rows, w->rows) : order(v->at, w->at);
}

static enum gpnn_status read_rows(struct plot *plot, struct landscape *l, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) status = read_row(plot, l, err);
  if (status != GPNN_END) return status;
  plot_left_out(plot, l->n_left_out, "a parameter varied or a value");
  if (l->n == 0 && l->quantity != SIZE_MAX && plot->o->y != NULL)
    return gpnn_fail(err, GPNN_EDATA, "%s: no row with a value of a quantity in --truth",
                     gpnn_table_name(plot->table));
  if (l->n == 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: no row with a value to draw: is a parameter varied (--vary)?",
                     gpnn_table_name(plot->table));
  qsort(l->values, l->n, sizeof *l->values, compare_values);
  return GPNN_OK;
}

/* ---- panels ------------------------------------------------------------------------------- */

/* Values [begin, end) are those of one panel; lines within begin where the rows change. */
struct panel {
  const struct value *values;
  size_t n, row, column;
};

/* Values at the same place as the first, of the next line on: its length. */
static size_t line_length(const struct value *v, size_t n)
{
  size_t i = 1;
  while (i < n && v[i].rows == v[0].rows) i++;
  return i;
}

/* All numbers of rows, from few to many, at most 'most'. */
static size_t all_rows(const struct landscape *l, double *rows, size_t most)
{
  size_t n = 0;
  for (size_t i = 0; i < l->n; i++) {
    size_t k = 0;
    while (k < n && rows[k] < l->values[i].rows) k++;
    if ((k < n && rows[k] == l->values[i].rows) || n == most) continue;
    memmove(rows + k + 1, rows + k, (n - k) * sizeof *rows);
    rows[k] = l->values[i].rows;
    n++;
  }
  return n;
}

/* Of 'n' shades from light to dark, the i-th: blue, which is neither of the limits' colours. */
static void shade(size_t i, size_t n, char out[8])
{
  static const int light[3] = {140, 196, 234}, dark[3] = {8, 40, 96};
  double part = n < 2 ? 1 : (double)i / (double)(n - 1);
  int c[3];
  for (int k = 0; k < 3; k++) c[k] = (int)lrint(light[k] + part * (dark[k] - light[k]));
  snprintf(out, 8, "#%02X%02X%02X", (unsigned)c[0] & 255, (unsigned)c[1] & 255,
           (unsigned)c[2] & 255);
}

static void write_panel(struct script *s, const struct panel *p)
{
  char name[64];
  snprintf(name, sizeof name, "panel%zu_%zu", p->row, p->column);
  script_add(s, "# value of the parameter, metric, its se, limit, limit when matched\n");
  script_data(s, name);
  for (size_t i = 0; i < p->n; i++) {
    const struct value *v = &p->values[i];
    const double row[] = {v->at, v->value, isnan(v->se) ? 0 : v->se, v->limit, v->matched};
    if (i > 0 && v->rows != p->values[i - 1].rows) script_add(s, "\n\n");
    script_row(s, 5, row);
  }
  script_data_end(s);
}

static bool spans(struct plot_range r, double ratio)
{
  return r.low > 0 && r.high / r.low >= ratio;
}

static void set_axes(struct script *s, const struct panel *p, size_t n_columns)
{
  struct plot_range x = plot_range_none(), y = plot_range_none();
  for (size_t i = 0; i < p->n; i++) {
    const struct value *v = &p->values[i];
    plot_range_add(&x, v->at);
    plot_range_add(&y, v->value);
    if (isfinite(v->limit)) plot_range_add(&y, v->limit);
    if (isfinite(v->matched)) plot_range_add(&y, v->matched);
  }
  script_add(s, "unset logscale\n");
  if (spans(x, 10))
    script_log_axis(s, "x", x.low, x.high, true);
  else
    script_linear_axis(s, "x", x.low, x.high, n_columns > 3 ? 4 : 6);
  if (spans(y, 30))
    script_log_axis(s, "y", y.low, y.high, true);
  else
    script_linear_axis(s, "y", y.low, y.high, 7);
}

/* A dashed line at the true value: --mark VALUE, or NAME=VALUE for the parameter of that name. */
static void add_mark(const struct plot *plot, struct script *s, const char *parameter)
{
  const struct cli_list *marks = &plot->o->marks;
  size_t length = strlen(parameter);
  script_add(s, "unset arrow\n");
  for (size_t i = 0; i < marks->n; i++) {
    const char *text = marks->items[i], *equals = strrchr(text, '=');
    double at;
    if (equals != NULL && ((size_t)(equals - text) != length || memcmp(text, parameter, length)))
      continue;
    const char *number = equals == NULL ? text : equals + 1;
    if (gpnn_number_read(number, strlen(number), &at) == GPNN_NUMBER_OK)
      script_add(s,
                 "set arrow from first %.15g, graph 0 to first %.15g, graph 1 nohead lw 1 dt 2 lc "
                 "rgb '" PLOT_GREY "'\n",
                 at, at);
  }
}

static bool any_finite(const struct panel *p, bool matched)
{
  for (size_t i = 0; i < p->n; i++)
    if (isfinite(matched ? p->values[i].matched : p->values[i].limit)) return true;
  return false;
}

static void draw_lines(struct script *s, const struct panel *p, const double *rows, size_t n_rows)
{
  size_t block = 0, i = 0, length;
  script_add(s, "plot ");
  for (; i < p->n; i += length, block++) {
    char colour[8];
    size_t k = 0;
    length = line_length(p->values + i, p->n - i);
    while (k + 1 < n_rows && rows[k] < p->values[i].rows) k++;
    shade(k, n_rows, colour);
    script_add(s,
               "%s$panel%zu_%zu index %zu using 1:2:3 with yerrorlines lw 1.3 pt %zu ps 0.45 lc "
               "rgb '%s' notitle",
               block == 0 ? "" : ", \\\n  ", p->row, p->column, block, 4 + k % SYMBOLS, colour);
  }
  if (any_finite(p, false))
    script_add(s,
               ", \\\n  $panel%zu_%zu index %zu using 1:4 with lines lw 2 dt 2 lc rgb '" PLOT_RED
               "' notitle",
               p->row, p->column, block - 1);
  if (any_finite(p, true))
    script_add(s,
               ", \\\n  $panel%zu_%zu index %zu using 1:5 with lines lw 2 dt 4 lc rgb '" PLOT_GREEN
               "' notitle",
               p->row, p->column, block - 1);
  script_add(s, "\n");
}

/* ---- the picture -------------------------------------------------------------------------- */

/* What a metric is called on an axis. */
static const char *metric_label(const char *name)
{
  static const char *const known[][2] = {{"mse", "MSE"}, {"nll", "NLL"}, {"cal", "CAL"}};
  for (size_t i = 0; i < 3; i++)
    if (strcmp(name, known[i][0]) == 0) return known[i][1];
  return name;
}

/* Room for labels, and the size of a panel, in cm. */
enum { KEY_COLUMNS = 4 };
static const double label_room = 0.6, left_room = 1.5, gap_below = 0.75, key_line = 0.6,
                    bottom_room = 1.55, panel_height = 3.9;

/* The margins of a panel, as shares of the picture. */
static void place_panel(struct plot *plot, const struct landscape *l, const struct panel *p,
                        double below)
{
  double width = (plot->width - label_room) / (double)l->parameters.n;
  double height = (plot->height - plot_top_room(plot) - below) / (double)l->metrics.n;
  double left = label_room + width * (double)p->column + left_room;
  double right = label_room + width * (double)(p->column + 1);
  double top = plot->height - plot_top_room(plot) - height * (double)p->row;
  script_add(&plot->body,
             "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
             "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
             left / plot->width, (right - 0.35) / plot->width, top / plot->height,
             (top - height + gap_below) / plot->height);
  /* The metric once a row, where the widths of numbers do not matter. */
  if (p->column > 0) return;
  script_label(&plot->body, "label 2", metric_label(l->metrics.items[p->row]), "", NULL);
  script_add(&plot->body, "set label 2 at screen %.5f, screen %.5f center rotate by 90\n",
             0.4 / plot->width, (top - (height - gap_below) / 2) / plot->height);
}

static void draw_panel(struct plot *plot, const struct landscape *l, const struct panel *p,
                       const double *rows, size_t n_rows, double below)
{
  struct script *s = &plot->body;
  const char *parameter = l->parameters.items[p->column];
  script_add(s, "\n");
  place_panel(plot, l, p, below);
  set_axes(s, p, l->parameters.n);
  add_mark(plot, s, parameter);
  bool last = p->row + 1 == l->metrics.n;
  if (last)
    plot_x_label(plot, parameter, "", NULL);
  else
    script_add(s, "unset xlabel\n");
  draw_lines(s, p, rows, n_rows);
  script_add(s, "unset label\n"); /* the next panel would write it again, over this one */
}

/* One key for all panels, in a strip below them. */
static void draw_key(struct plot *plot, const struct landscape *l, const double *rows,
                     size_t n_rows, double height)
{
  struct script *s = &plot->body;
  bool limit = false, matched = false;
  for (size_t i = 0; i < l->n; i++) {
    limit = limit || isfinite(l->values[i].limit);
    matched = matched || isfinite(l->values[i].matched);
  }
  script_add(s,
             "\nset lmargin at screen 0\nset rmargin at screen 1\nset bmargin at screen 0\n"
             "set tmargin at screen %.5f\nunset logscale\nunset xtics\nunset ytics\nunset border\n"
             "unset grid\nunset xlabel\nunset ylabel\nunset arrow\n"
             "set xrange [0:1]\nset yrange [0:1]\n"
             "set key center center horizontal Left reverse maxcols %d\nplot NaN notitle",
             height / plot->height, KEY_COLUMNS);
  for (size_t k = 0; k < n_rows; k++) {
    char colour[8], number[SCRIPT_TENS_BYTES];
    shade(k, n_rows, colour);
    script_add(s,
               ", \\\n  keyentry with linespoints lw 1.3 pt %zu ps 0.6 lc rgb '%s' title 'n = %s'",
               4 + k % SYMBOLS, colour, script_tens(number, rows[k]));
  }
  if (limit)
    script_add(s, ", \\\n  keyentry with lines lw 2 dt 2 lc rgb '" PLOT_RED "' title 'limit'");
  if (matched)
    script_add(s, ", \\\n  keyentry with lines lw 2 dt 4 lc rgb '" PLOT_GREEN
                  "' title 'limit, matched'");
  script_add(s, "\n");
}

static void draw(struct plot *plot, const struct landscape *l)
{
  enum { ROWS_MAX = 64 };
  double rows[ROWS_MAX];
  size_t n_rows = all_rows(l, rows, ROWS_MAX);
  struct script *s = &plot->body;
  double key = key_line * (double)((n_rows + 2 + KEY_COLUMNS - 1) / KEY_COLUMNS) + 0.1;
  double below = key + bottom_room - gap_below;
  if (plot->o->height == 0)
    plot->height = plot_top_room(plot) + below + panel_height * (double)l->metrics.n;
  struct panel panels[NAMES_MAX * NAMES_MAX];
  size_t n_panels = 0;
  for (size_t i = 0, length; i < l->n; i += length) {
    const struct value *v = &l->values[i];
    for (length = 1; i + length < l->n; length++)
      if (v[length].metric != v->metric || v[length].parameter != v->parameter) break;
    panels[n_panels] = (struct panel){v, length, v->metric, v->parameter};
    write_panel(s, &panels[n_panels++]);
  }
  script_add(s, "set multiplot\n");
  plot_title(plot);
  for (size_t i = 0; i < n_panels; i++) draw_panel(plot, l, &panels[i], rows, n_rows, below);
  draw_key(plot, l, rows, n_rows, key);
  script_add(s, "unset multiplot\n");
}

static void release_names(struct names *names)
{
  for (size_t i = 0; i < names->n; i++) free(names->items[i]);
}

enum gpnn_status plot_landscape(struct plot *plot, struct gpnn_error *err)
{
  struct landscape l = {0};
  enum gpnn_status status = find_columns(plot, &l, err);
  if (status == GPNN_OK) status = read_rows(plot, &l, err);
  if (status == GPNN_OK) draw(plot, &l);
  release_names(&l.parameters);
  release_names(&l.metrics);
  free(l.columns);
  free(l.values);
  return status;
}
