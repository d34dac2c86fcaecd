/* landscape: metrics against parameters, a panel each, a line for each number of rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/plot/plot.h"
#include "table/columns.h"

enum { LANDSCAPE_NAMES_MAX = 32 };

struct landscape_names {
  size_t n;
  char *items[LANDSCAPE_NAMES_MAX]; /* owned */
};

/* A value of a metric, for a value 'at' of a parameter. */
struct landscape_value {
  size_t parameter, metric;                   /* by number in the names */
  double rows, at, value, se, limit, matched; /* NaN: missing; not the first three */
};

/* A zeroed object is empty and may be released. */
struct landscape {
  struct landscape_names parameters, metrics;
  struct landscape_value *values; /* owned; by metric, parameter, rows and at */
  size_t n, capacity;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* The columns of one metric; SIZE_MAX: there is none. */
struct metric_columns {
  size_t value, se, limit, matched;
};

struct reader {
  size_t rows, varied, at, quantity; /* columns; quantity SIZE_MAX: a metric is a column */
  size_t n_columns;
  struct metric_columns *columns; /* owned */
  struct landscape *l;
  size_t n_left_out;
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

/* A table with a column per metric, as written by gpnn-simulate limits. */
static enum gpnn_status find_metrics(const struct plot *plot, struct reader *r,
                                     struct gpnn_error *err)
{
  static const char usual[] = "mse,nll,cal";
  size_t *columns = NULL, n = 0;
  const char *list = plot->o->y != NULL ? plot->o->y : usual;
  enum gpnn_status status = gpnn_columns_find_list(plot->table, list, &columns, &n, err);
  if (status != GPNN_OK) return status;
  if (n > LANDSCAPE_NAMES_MAX)
    status = gpnn_fail(err, GPNN_EINVAL, "more than %d metrics", LANDSCAPE_NAMES_MAX);
  else if ((r->columns = gpnn_alloc(n, 1, sizeof *r->columns)) == NULL)
    status = gpnn_fail_memory(err, "for the columns");
  r->n_columns = status == GPNN_OK ? n : 0;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = find_metric(plot, columns[i], &r->columns[i], err);
  free(columns);
  return status;
}

/* Finds a column that no option can name: without it the table is not one that this kind draws, and
 * another command line would not help. */
static enum gpnn_status find_required(const struct plot *plot, const char *name, size_t *column,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_columns_find(plot->table, name, column, err);
  if (status != GPNN_EINVAL) return status;
  const struct gpnn_error cause = *err;
  return gpnn_fail(err, GPNN_EMISMATCH, "%s", cause.text);
}

/* A table with one quantity per row, as written by gpnn-simulate risk. */
static enum gpnn_status find_quantity(const struct plot *plot, struct reader *r,
                                      struct gpnn_error *err)
{
  struct metric_columns m = {0, SIZE_MAX, SIZE_MAX, SIZE_MAX};
  enum gpnn_status status = find_required(plot, "value", &m.value, err);
  if (status != GPNN_OK) return status;
  plot_has_column(plot, "se", &m.se);
  r->columns = gpnn_alloc(1, 1, sizeof *r->columns);
  if (r->columns == NULL) return gpnn_fail_memory(err, "for the columns");
  r->columns[0] = m;
  r->n_columns = 1;
  return GPNN_OK;
}

static enum gpnn_status find_columns(const struct plot *plot, struct reader *r,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = find_required(plot, "rows", &r->rows, err);
  if (status == GPNN_OK) status = find_required(plot, "varied", &r->varied, err);
  if (status == GPNN_OK) status = find_required(plot, "at", &r->at, err);
  if (status != GPNN_OK) return status;
  r->quantity = SIZE_MAX;
  return plot_has_column(plot, "quantity", &r->quantity) ? find_quantity(plot, r, err)
                                                         : find_metrics(plot, r, err);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* The index of a name, which is added if it is new. */
static enum gpnn_status number_of(struct landscape_names *names, const char *text, size_t length,
                                  size_t *i, struct gpnn_error *err)
{
  for (*i = 0; *i < names->n; ++*i)
    if (strlen(names->items[*i]) == length && memcmp(names->items[*i], text, length) == 0)
      return GPNN_OK;
  if (names->n == LANDSCAPE_NAMES_MAX)
    return gpnn_fail(err, GPNN_EDATA, "more than %d parameters or quantities", LANDSCAPE_NAMES_MAX);
  names->items[names->n] = gpnn_copy_text(text, length);
  if (names->items[names->n] == NULL) return gpnn_fail_memory(err, "for names");
  names->n++;
  return GPNN_OK;
}

/* True if the list of -y names this quantity. */
static bool is_wanted(const char *list, const struct gpnn_field *quantity)
{
  return list == NULL || gpnn_list_has(list, quantity->text, quantity->length);
}

static enum gpnn_status add_value(struct plot *plot, struct reader *r,
                                  const struct gpnn_record *record, const struct metric_columns *m,
                                  struct landscape_value v, struct gpnn_error *err)
{
  const char *name = gpnn_table_column(plot->table, m->value);
  struct gpnn_field field = {name, strlen(name)};
  if (r->quantity != SIZE_MAX) field = record->fields[r->quantity];
  if (r->quantity != SIZE_MAX && !is_wanted(plot->o->y, &field)) return GPNN_OK;
  enum gpnn_status status = plot_number(plot, record, m->value, &v.value, err);
  if (status == GPNN_OK) status = plot_number(plot, record, m->se, &v.se, err);
  if (status == GPNN_OK) status = plot_number(plot, record, m->limit, &v.limit, err);
  if (status == GPNN_OK) status = plot_number(plot, record, m->matched, &v.matched, err);
  if (status != GPNN_OK) return status;
  if (isnan(v.value)) {
    r->n_left_out++;
    return GPNN_OK;
  }
  const struct gpnn_field *varied = &record->fields[r->varied];
  status = number_of(&r->l->parameters, varied->text, varied->length, &v.parameter, err);
  if (status == GPNN_OK)
    status = number_of(&r->l->metrics, field.text, field.length, &v.metric, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&r->l->values, &r->l->capacity, r->l->n + 1, sizeof *r->l->values))
    return gpnn_fail_memory(err, "for the points of the picture");
  r->l->values[r->l->n++] = v;
  return GPNN_OK;
}

static enum gpnn_status read_row(struct plot *plot, struct reader *r, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct landscape_value v = {0};
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, r->rows, &v.rows, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, r->at, &v.at, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_field *varied = &record.fields[r->varied];
  bool nothing = varied->length == 1 && varied->text[0] == '-';
  if (isnan(v.rows) || isnan(v.at) || nothing) {
    r->n_left_out++;
    return GPNN_OK;
  }
  for (size_t i = 0; i < r->n_columns && status == GPNN_OK; i++)
    status = add_value(plot, r, &record, &r->columns[i], v, err);
  return status;
}

static int compare_values(const void *a, const void *b)
{
  const struct landscape_value *v = a, *w = b;
  int order = gpnn_compare_sizes(&v->metric, &w->metric);
  if (order == 0) order = gpnn_compare_sizes(&v->parameter, &w->parameter);
  if (order == 0) order = gpnn_compare_doubles(&v->rows, &w->rows);
  return order != 0 ? order : gpnn_compare_doubles(&v->at, &w->at);
}

static enum gpnn_status read_rows(struct plot *plot, struct reader *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) status = read_row(plot, r, err);
  if (status != GPNN_END) return status;
  table_warn_left_out(plot->cli, plot->table, r->n_left_out, "a parameter varied or a value");
  if (r->l->n == 0 && r->quantity != SIZE_MAX && plot->o->y != NULL)
    return gpnn_fail(err, GPNN_EDATA, "%s: no row with a value of a quantity in --truth",
                     gpnn_table_name(plot->table));
  if (r->l->n == 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: no row with a value to draw: is a parameter varied (--vary)?",
                     gpnn_table_name(plot->table));
  qsort(r->l->values, r->l->n, sizeof *r->l->values, compare_values);
  return GPNN_OK;
}

/* ---- life --------------------------------------------------------------------------------- */

/* Reads the whole table.  GPNN_EINVAL: a column is missing; GPNN_EDATA: there is nothing to draw,
 * or a value is bad. */
static enum gpnn_status landscape_read(struct landscape *l, struct plot *plot,
                                       struct gpnn_error *err)
{
  struct reader r = {.l = l};
  enum gpnn_status status = find_columns(plot, &r, err);
  if (status == GPNN_OK) status = read_rows(plot, &r, err);
  free(r.columns);
  return status;
}

static void release_names(struct landscape_names *names)
{
  for (size_t i = 0; i < names->n; i++) free(names->items[i]);
}

static void landscape_release(struct landscape *l)
{
  release_names(&l->parameters);
  release_names(&l->metrics);
  free(l->values);
  *l = (struct landscape){0};
}

enum { SYMBOLS = 6 };

/* ---- panels ------------------------------------------------------------------------------- */

/* Values [begin, end) are those of one panel; lines within begin where the rows change. */
struct panel {
  const struct landscape_value *values;
  size_t n, row, column;
};

/* Values at the same place as the first, of the next line on: its length. */
static size_t line_length(const struct landscape_value *v, size_t n)
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

/* The i-th of 'n' shades of blue from light to dark; the limits have other colours. */
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
    const struct landscape_value *v = &p->values[i];
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
    const struct landscape_value *v = &p->values[i];
    plot_range_add(&x, v->at);
    plot_range_add(&y, v->value);
    if (isfinite(v->se)) plot_range_add(&y, v->value + fabs(v->se));
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

/* True if 'mark', VALUE or NAME=VALUE, is about a parameter. */
static bool is_about(const char *mark, const char *parameter)
{
  const char *equals = strrchr(mark, '=');
  size_t length = strlen(parameter);
  return equals == NULL ||
         ((size_t)(equals - mark) == length && memcmp(mark, parameter, length) == 0);
}

/* A mark for a parameter without a panel is misspelt, or left over from another table. */
static enum gpnn_status check_marks(const struct plot *plot, const struct landscape *l,
                                    struct gpnn_error *err)
{
  const struct cli_list *marks = &plot->o->marks;
  for (size_t i = 0; i < marks->n; i++) {
    bool found = false;
    for (size_t p = 0; p < l->parameters.n; p++)
      found = found || is_about(marks->items[i], l->parameters.items[p]);
    char shown[GPNN_MASK_BYTES];
    if (!found)
      return gpnn_fail(err, GPNN_EINVAL, "%s: --mark names no parameter that is varied: \"%s\"",
                       gpnn_table_name(plot->table),
                       gpnn_mask(shown, marks->items[i], strlen(marks->items[i])));
  }
  return GPNN_OK;
}

/* A dashed line at the true value: --mark VALUE, or NAME=VALUE for the parameter of that name. */
static void add_mark(const struct plot *plot, struct script *s, const char *parameter)
{
  const struct cli_list *marks = &plot->o->marks;
  script_add(s, "unset arrow\n");
  for (size_t i = 0; i < marks->n; i++) {
    const char *text = marks->items[i], *equals = strrchr(text, '=');
    double at;
    if (!is_about(text, parameter)) continue;
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

/* The name of a metric on an axis. */
static const char *metric_label(const char *name)
{
  static const char *const known[][2] = {{"mse", "MSE"}, {"nll", "NLL"}, {"cal", "CAL"}};
  for (size_t i = 0; i < 3; i++)
    if (strcmp(name, known[i][0]) == 0) return known[i][1];
  return name;
}

/* Space for labels, and the size of a panel, in cm. */
enum { KEY_COLUMNS = 4 };
static const double label_room = 0.6, left_room = 1.5, gap_below = 0.75, key_line = 0.6,
                    bottom_room = 1.55, panel_height = 3.9, least_height = 7;

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
  /* The metric once per row, placed so that the widths of numbers do not matter. */
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
  script_add(s, "unset label\n"); /* or the next panel would draw it again */
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
    plot->height =
        plot_top_room(plot) + below + fmax(panel_height * (double)l->metrics.n, least_height);
  struct panel panels[LANDSCAPE_NAMES_MAX * LANDSCAPE_NAMES_MAX];
  size_t n_panels = 0;
  for (size_t i = 0, length; i < l->n; i += length) {
    const struct landscape_value *v = &l->values[i];
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

enum gpnn_status plot_landscape(struct plot *plot, struct gpnn_error *err)
{
  struct landscape l = {0};
  enum gpnn_status status = landscape_read(&l, plot, err);
  if (status == GPNN_OK) status = check_marks(plot, &l, err);
  if (status == GPNN_OK) draw(plot, &l);
  landscape_release(&l);
  return status;
}
