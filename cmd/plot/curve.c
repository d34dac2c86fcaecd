/* curve: learning and risk curves, log-log, with their slopes and those of theory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/plot/plot.h"
#include "stats/scores/power_law.h"
#include "table/columns.h"

enum {
  N_STYLES = 7,
  LINES_MAX = N_STYLES * N_STYLES, /* as many as colours and symbols distinguish */
  LINE_MAX_POINTS = 2000,
  KEY_COLUMNS = 2,
};

/* The height of a line of the key beyond the few that fit, in cm. */
static const double key_line = 0.45;
enum { KEY_LINES = 3 };

struct point {
  double x, y, se; /* y > 0: the magnitude */
};

struct line {
  char *name; /* owned; the value of the --by column; NULL: none */
  size_t name_length, y;
  double theory;        /* slope of the guide; NaN: none */
  struct point *points; /* owned; in the end by x */
  size_t n, capacity, first_fitted;
  struct gpnn_power_law slope;
};

struct curve {
  size_t x, by, stone, n_y, *y, *se; /* columns; y, se: owned; SIZE_MAX: there is none */
  struct line lines[LINES_MAX];
  size_t n_lines, n_missing, n_zero, n_negative;
  struct plot_range x_range, y_range;
};

/* ---- columns ------------------------------------------------------------------------------ */

/* -y, or 'value', or the metric that gpnn-eval names first. */
static const char *which_y(const struct plot *plot)
{
  size_t at;
  if (plot->o->y != NULL) return plot->o->y;
  return !plot_has_column(plot, "value", &at) && plot_has_column(plot, "rmse", &at) ? "rmse"
                                                                                    : "value";
}

/* The standard errors of the values in column 'y': --se, NAME_se, or, of a single column, 'se'. */
static enum gpnn_status find_se(const struct plot *plot, struct curve *c, size_t i,
                                struct gpnn_error *err)
{
  const char *name = gpnn_table_column(plot->table, c->y[i]);
  c->se[i] = SIZE_MAX;
  if (plot->o->se != NULL) return gpnn_columns_find(plot->table, plot->o->se, &c->se[i], err);
  char *own = malloc(strlen(name) + sizeof "_se");
  if (own == NULL) return gpnn_fail_memory(err, "for the name of a column");
  strcpy(own, name);
  strcat(own, "_se");
  if (!plot_has_column(plot, own, &c->se[i]) && c->n_y == 1) plot_has_column(plot, "se", &c->se[i]);
  free(own);
  return GPNN_OK;
}

static enum gpnn_status find_columns(const struct plot *plot, struct curve *c,
                                     struct gpnn_error *err)
{
  const struct plot_arguments *o = plot->o;
  enum gpnn_status status =
      gpnn_columns_find(plot->table, o->x != NULL ? o->x : "rows", &c->x, err);
  if (status == GPNN_OK)
    status = gpnn_columns_find_list(plot->table, which_y(plot), &c->y, &c->n_y, err);
  if (status != GPNN_OK) return status;
  c->by = c->stone = SIZE_MAX;
  if (o->by != NULL)
    status = gpnn_columns_find(plot->table, o->by, &c->by, err);
  else
    plot_has_column(plot, "quantity", &c->by);
  if (isnan(o->theory)) plot_has_column(plot, "stone", &c->stone);
  c->se = gpnn_alloc(c->n_y, 1, sizeof *c->se);
  if (c->se == NULL) return gpnn_fail_memory(err, "for the columns");
  for (size_t i = 0; i < c->n_y && status == GPNN_OK; i++) status = find_se(plot, c, i, err);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* The line of this name (NULL: it has none) and column; a new one if there is none. */
static enum gpnn_status find_line(struct curve *c, const struct gpnn_field *name, size_t y,
                                  struct line **found, struct gpnn_error *err)
{
  for (size_t i = 0; i < c->n_lines; i++) {
    struct line *line = &c->lines[i];
    *found = line;
    if (line->y == y && (name == NULL || (line->name_length == name->length &&
                                          memcmp(line->name, name->text, name->length) == 0)))
      return GPNN_OK;
  }
  if (c->n_lines == LINES_MAX)
    return gpnn_fail(err, GPNN_EDATA, "more than %d lines, which no reader could tell apart",
                     LINES_MAX);
  struct line new = {.y = y, .theory = NAN};
  if (name != NULL) {
    new.name = gpnn_copy_text(name->text, name->length);
    new.name_length = name->length;
    if (new.name == NULL) return gpnn_fail_memory(err, "for the name of a line");
  }
  *found = &c->lines[c->n_lines++];
  **found = new;
  return GPNN_OK;
}

/* Adds the value in column y[i] to its line. */
static enum gpnn_status add_value(struct plot *plot, struct curve *c,
                                  const struct gpnn_record *record, size_t i, double x,
                                  double theory, struct gpnn_error *err)
{
  double y, se;
  enum gpnn_status status = plot_number(plot, record, c->y[i], &y, err);
  if (status == GPNN_OK) status = plot_number(plot, record, c->se[i], &se, err);
  if (status != GPNN_OK) return status;
  if (isnan(y) || y == 0) {
    *(y == 0 ? &c->n_zero : &c->n_missing) += 1;
    return GPNN_OK;
  }
  if (y < 0) c->n_negative++;
  struct line *line = NULL;
  const struct gpnn_field *name = c->by == SIZE_MAX ? NULL : &record->fields[c->by];
  status = find_line(c, name, c->y[i], &line, err);
  if (status != GPNN_OK)
    return gpnn_prefix(err, status, "%s%s%zu", gpnn_table_name(plot->table),
                       gpnn_table_before_line(plot->table), record->line);
  if (!gpnn_grow(&line->points, &line->capacity, line->n + 1, sizeof *line->points))
    return gpnn_fail_memory(err, "for the points of the picture");
  line->points[line->n++] = (struct point){x, fabs(y), fabs(se)};
  line->theory = theory;
  plot_range_add(&c->x_range, x);
  plot_range_add(&c->y_range, fabs(y));
  if (isfinite(se)) plot_range_add(&c->y_range, fabs(y) + fabs(se));
  return GPNN_OK;
}

static enum gpnn_status read_row(struct plot *plot, struct curve *c, struct gpnn_error *err)
{
  struct gpnn_record record;
  double x = NAN, theory = plot->o->theory;
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, c->x, &x, err);
  if (status == GPNN_OK && c->stone != SIZE_MAX)
    status = plot_number(plot, &record, c->stone, &theory, err);
  if (status != GPNN_OK) return status;
  if (!(x > 0)) {
    *(isnan(x) ? &c->n_missing : &c->n_zero) += 1;
    return GPNN_OK;
  }
  for (size_t i = 0; i < c->n_y && status == GPNN_OK; i++)
    status = add_value(plot, c, &record, i, x, theory, err);
  return status;
}

static enum gpnn_status fit_line(struct line *line, struct gpnn_error *err)
{
  qsort(line->points, line->n, sizeof *line->points, gpnn_compare_doubles); /* by x */
  double *x = gpnn_alloc(line->n, 2, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, "for a slope");
  double *y = x + line->n;
  for (size_t i = 0; i < line->n; i++) {
    x[i] = line->points[i].x;
    y[i] = line->points[i].y;
  }
  line->first_fitted = gpnn_power_law_fit_last(&line->slope, line->n, x, y);
  free(x);
  return GPNN_OK;
}

static enum gpnn_status read_rows(struct plot *plot, struct curve *c, struct gpnn_error *err)
{
  const char *name = gpnn_table_name(plot->table);
  c->x_range = c->y_range = plot_range_none();
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) status = read_row(plot, c, err);
  if (status != GPNN_END) return status;
  table_warn_left_out(plot->cli, plot->table, c->n_missing, "a value");
  if (c->n_zero > 0)
    cli_warn(plot->cli, "%s: %zu values cannot be drawn on logarithmic axes and are left out", name,
             c->n_zero);
  if (c->n_negative > 0)
    cli_warn(plot->cli, "%s: %zu values are negative: their magnitude is drawn", name,
             c->n_negative);
  if (c->n_lines == 0) return gpnn_fail(err, GPNN_EDATA, "%s: no row with a value to draw", name);
  status = GPNN_OK;
  for (size_t i = 0; i < c->n_lines && status == GPNN_OK; i++) status = fit_line(&c->lines[i], err);
  return status;
}

/* ---- the picture -------------------------------------------------------------------------- */

/* Thins out very many points, which no table of a learning curve has. */
static size_t every_nth(const struct line *line)
{
  return (line->n - 1) / LINE_MAX_POINTS + 1;
}

static void write_line(struct script *s, const struct line *line, size_t i, double lowest)
{
  char name[32];
  snprintf(name, sizeof name, "line%zu", i + 1);
  script_add(s, "# x, y, y - se, y + se\n");
  script_data(s, name);
  for (size_t k = 0; k < line->n; k += every_nth(line)) {
    const struct point *p = &line->points[k];
    double se = isnan(p->se) ? 0 : p->se;
    const double row[] = {p->x, p->y, fmax(p->y - se, lowest), p->y + se};
    script_row(s, 4, row);
  }
  script_data_end(s);
}

/* The line's name in the key: the value of --by ("m = 50"), the column, or both. */
static void write_key(const struct plot *plot, const struct curve *c, const struct line *line,
                      struct script *s)
{
  char text[512], y[GPNN_MASK_BYTES], by[GPNN_MASK_BYTES], value[GPNN_MASK_BYTES];
  const char *column = gpnn_table_column(plot->table, line->y);
  gpnn_mask(y, column, strlen(column));
  size_t used = 0;
  text[0] = '\0';
  if (line->name == NULL || c->n_y > 1) used = (size_t)snprintf(text, sizeof text, "%s", y);
  if (line->name != NULL) {
    const char *name = gpnn_table_column(plot->table, c->by);
    double number;
    bool is_number = gpnn_number_read(line->name, line->name_length, &number) == GPNN_NUMBER_OK;
    gpnn_mask(value, line->name, line->name_length);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s", used > 0 ? ", " : "",
                             is_number ? gpnn_mask(by, name, strlen(name)) : "",
                             is_number ? " = " : "", value);
  }
  if (isfinite(line->slope.slope))
    used += (size_t)snprintf(text + used, sizeof text - used, ": slope %s%.3g",
                             line->slope.slope < 0 ? "−" : "", fabs(line->slope.slope));
  double unexplained = 1 - line->slope.r2; /* 1 is for exact fits, which rounding may hide */
  if (isfinite(line->slope.slope) && unexplained > 1e-10 && unexplained < 0.0001)
    snprintf(text + used, sizeof text - used, ", R² > 0.9999");
  else if (isfinite(line->slope.slope) && isfinite(line->slope.r2))
    snprintf(text + used, sizeof text - used, ", R² %.4g", line->slope.r2);
  script_quote(s, text);
}

/* A straight line on logarithmic axes, over the points fitted: exponent 'slope', through the
 * middle of them. */
static void write_power(struct script *s, const struct line *line, double slope)
{
  double x = 0, y = 0;
  size_t n = line->n - line->first_fitted;
  for (size_t i = line->first_fitted; i < line->n; i++) {
    x += log10(line->points[i].x) / (double)n;
    y += log10(line->points[i].y) / (double)n;
  }
  script_add(s, "[%.10g:%.10g] 10**(%.12g + %.12g * (log10(x) - %.12g))",
             line->points[line->first_fitted].x, line->points[line->n - 1].x, y, slope, x);
}

static void draw_line(const struct plot *plot, const struct curve *c, size_t i, struct script *s)
{
  static const char *const colours[N_STYLES] = {PLOT_BLUE, PLOT_RED,  PLOT_GREEN, "#CC79A7",
                                                "#E69F00", "#56B4E9", PLOT_BLACK};
  static const int symbols[N_STYLES] = {7, 5, 9, 13, 11, 6, 4};
  const struct line *line = &c->lines[i];
  const char *colour = colours[i % N_STYLES];
  bool fitted = isfinite(line->slope.slope);
  script_add(s, "%s$line%zu using 1:2:3:4 with %s lw 1.2 pt %d ps 0.8 lc rgb '%s' title ",
             i == 0 ? "" : ", \\\n  ", i + 1, fitted && line->n > 2 ? "yerrorbars" : "yerrorlines",
             symbols[(i + i / N_STYLES) % N_STYLES], colour);
  write_key(plot, c, line, s);
  if (fitted && line->n > 2) {
    script_add(s, ", \\\n  ");
    write_power(s, line, line->slope.slope);
    script_add(s, " with lines lw 1.5 dt 2 lc rgb '%s' notitle", colour);
  }
}

/* A line with the theoretical slope, listed in the key once per slope. */
static void draw_guide(const struct curve *c, size_t i, struct script *s)
{
  const struct line *line = &c->lines[i];
  if (isnan(line->theory) || !isfinite(line->slope.slope)) return;
  bool told = false;
  for (size_t k = 0; k < i; k++) told = told || c->lines[k].theory == line->theory;
  script_add(s, ", \\\n  ");
  write_power(s, line, line->theory);
  script_add(s, " with lines lw 2 dt 3 lc rgb '" PLOT_BLACK "' ");
  if (told)
    script_add(s, "notitle");
  else
    script_add(s, "title 'theory: slope %s%.3g'", line->theory < 0 ? "−" : "", fabs(line->theory));
}

static void draw(struct plot *plot, const struct curve *c)
{
  struct script *s = &plot->body;
  const char *y = gpnn_table_column(plot->table, c->y[0]);
  size_t key_lines = (c->n_lines + KEY_COLUMNS - 1) / KEY_COLUMNS;
  if (plot->o->height == 0 && key_lines > KEY_LINES)
    plot->height += key_line * (double)(key_lines - KEY_LINES);
  for (size_t i = 0; i < c->n_lines; i++) {
    write_line(s, &c->lines[i], i, c->y_range.low / 10);
    if (every_nth(&c->lines[i]) > 1)
      cli_note(plot->cli, "drawing 1 point in %zu of the %zu of line %zu, in their order",
               every_nth(&c->lines[i]), c->lines[i].n, i + 1);
  }
  plot_x_label(plot, gpnn_table_column(plot->table, c->x), "", NULL);
  plot_y_label(plot, c->n_y == 1 ? y : "value", c->n_negative > 0 ? ", magnitude" : "",
               plot->o->unit);
  plot_no_caption(plot);
  plot_title(plot);
  script_log_axis(s, "x", c->x_range.low, c->x_range.high, true);
  script_log_axis(s, "y", c->y_range.low, c->y_range.high, true);
  script_add(s, "set samples 2\nset key outside below left height 1 Left reverse maxcols %d\nplot ",
             KEY_COLUMNS);
  for (size_t i = 0; i < c->n_lines; i++) draw_line(plot, c, i, s);
  for (size_t i = 0; i < c->n_lines; i++) draw_guide(c, i, s);
  script_add(s, "\n");
}

enum gpnn_status plot_curve(struct plot *plot, struct gpnn_error *err)
{
  struct curve c = {0};
  enum gpnn_status status = find_columns(plot, &c, err);
  if (status == GPNN_OK) status = read_rows(plot, &c, err);
  if (status == GPNN_OK) draw(plot, &c);
  for (size_t i = 0; i < c.n_lines; i++) {
    free(c.lines[i].name);
    free(c.lines[i].points);
  }
  free(c.y);
  free(c.se);
  return status;
}
