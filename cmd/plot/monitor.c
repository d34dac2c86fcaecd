/* monitor: scores night after night with their limits, of gpnn-eval --monitor; a panel for each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/plot/plot.h"
#include "table/columns.h"
#include "table/date.h"

enum { FIGURES_MAX = 16 };

struct figure {
  size_t value, low, high; /* columns; SIZE_MAX: there is none */
  struct plot_range range;
};

struct monitor {
  size_t date, alarm, n_figures;
  struct figure figures[FIGURES_MAX];
  struct plot_range days;
  struct plot_numbers numbers; /* a day, then value, low, high and alarm (1) of each figure */
};

/* ---- rows --------------------------------------------------------------------------------- */

/* The column called as 'column' is with 'ending' after it, which need not be there. */
static size_t beside(const struct plot *plot, size_t column, const char *ending)
{
  const char *name = gpnn_table_column(plot->table, column);
  size_t length = strlen(name), found = SIZE_MAX;
  for (size_t j = 0; j < gpnn_table_columns(plot->table); j++) {
    const char *other = gpnn_table_column(plot->table, j);
    if (strncmp(other, name, length) == 0 && strcmp(other + length, ending) == 0) found = j;
  }
  return found;
}

/* The figures are the columns that have a limit. */
static enum gpnn_status find_figures(const struct plot *plot, struct monitor *m,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_columns_find(plot->table, "date", &m->date, err);
  if (status == GPNN_OK) status = gpnn_columns_find(plot->table, "alarm", &m->alarm, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < gpnn_table_columns(plot->table) && m->n_figures < FIGURES_MAX; j++) {
    size_t high = beside(plot, j, "_high");
    if (high != SIZE_MAX)
      m->figures[m->n_figures++] =
          (struct figure){j, beside(plot, j, "_low"), high, plot_range_none()};
  }
  return GPNN_OK;
}

static enum gpnn_status read_figure(const struct plot *plot, struct monitor *m, struct figure *f,
                                    const struct gpnn_record *record, struct gpnn_error *err)
{
  const size_t columns[] = {f->value, f->low, f->high};
  double value;
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < 3 && status == GPNN_OK; k++) {
    status = plot_number(plot, record, columns[k], &value, err);
    if (status == GPNN_OK) status = plot_push(&m->numbers, value, err);
    if (status == GPNN_OK && isfinite(value)) plot_range_add(&f->range, value);
  }
  if (status != GPNN_OK) return status;
  const char *name = gpnn_table_column(plot->table, f->value);
  return plot_push(&m->numbers, gpnn_field_has_word(&record->fields[m->alarm], name), err);
}

static enum gpnn_status read_night(const struct plot *plot, struct monitor *m,
                                   struct gpnn_error *err)
{
  struct gpnn_record record;
  double day;
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status == GPNN_OK)
    status = gpnn_columns_date(plot->table, &record, m->date, GPNN_DATE_ISO, &day, err);
  if (status == GPNN_OK) status = plot_push(&m->numbers, day, err);
  if (status != GPNN_OK) return status;
  plot_range_add(&m->days, day);
  for (size_t i = 0; i < m->n_figures && status == GPNN_OK; i++)
    status = read_figure(plot, m, &m->figures[i], &record, err);
  return status;
}

static enum gpnn_status read_nights(const struct plot *plot, struct monitor *m,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  m->days = plot_range_none();
  while (status == GPNN_OK) status = read_night(plot, m, err);
  if (status != GPNN_END) return status;
  if (m->numbers.n > 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%s: no nights", gpnn_table_name(plot->table));
}

/* ---- the picture -------------------------------------------------------------------------- */

static const double panel_height = 2.2, below_panel = 0.35, bottom_room = 0.75, left_room = 2.4,
                    right_room = 0.6;

/* The nights of a figure: day, value, limits, and the value once more if it raised an alarm. */
static void write_figure(struct script *s, const struct monitor *m, size_t i)
{
  size_t width = 1 + 4 * m->n_figures;
  script_add(s, "# day, value, lower and upper limit, value with an alarm\n");
  char name[32];
  snprintf(name, sizeof name, "figure%zu", i + 1);
  script_data(s, name);
  for (const double *night = m->numbers.values; night < m->numbers.values + m->numbers.n;
       night += width) {
    const double *of = night + 1 + 4 * i;
    const double row[] = {night[0], of[0], of[1], of[2], of[3] > 0 ? of[0] : NAN};
    script_row(s, 5, row);
  }
  script_data_end(s);
}

static void label_days(struct script *s, const struct monitor *m, bool shown)
{
  enum { LABELS = 5 };
  char date[GPNN_DATE_BYTES];
  double last = NAN;
  script_add(s, "set xtics (");
  for (size_t k = 0; k < LABELS; k++) {
    double day = floor(m->days.low + (m->days.high - m->days.low) * (double)k / (LABELS - 1));
    if (day == last) continue;
    script_add(s, "%s", isnan(last) ? "" : ", ");
    script_quote(s, shown ? gpnn_date_write(date, day) : "");
    script_add(s, " %.15g", day);
    last = day;
  }
  script_add(s, ")\n");
}

/* Draws figure 'i' as panel 'at' of 'n', from the top. */
static void draw_figure(struct plot *plot, const struct monitor *m, size_t i, size_t at, size_t n)
{
  struct script *s = &plot->body;
  const struct figure *f = &m->figures[i];
  double height = (plot->height - plot_top_room(plot) - bottom_room) / (double)n;
  double top = plot->height - plot_top_room(plot) - height * (double)at;
  struct plot_range y = plot_range_widen(f->range, 0.08), x = plot_range_widen(m->days, 0.01);
  script_add(s,
             "\nset lmargin at screen %.5f\nset rmargin at screen %.5f\n"
             "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
             left_room / plot->width, 1 - right_room / plot->width, top / plot->height,
             (top - height + below_panel) / plot->height);
  script_range(s, "x", x.low, x.high);
  script_add(s, "set format x '%%g'\n");
  label_days(s, m, at + 1 == n);
  script_linear_axis(s, "y", y.low, y.high, 4);
  script_label(s, "ylabel", gpnn_table_column(plot->table, f->value), "", NULL);
  script_add(s,
             "plot $figure%zu using 1:4 with lines lw 1 dt 2 lc rgb '" PLOT_GREY "', \\\n"
             "  $figure%zu using 1:3 with lines lw 1 dt 2 lc rgb '" PLOT_GREY "', \\\n"
             "  $figure%zu using 1:2 with linespoints lw 1.2 pt 7 ps 0.35 lc rgb '" PLOT_BLUE
             "', \\\n"
             "  $figure%zu using 1:5 with points pt 7 ps 0.9 lc rgb '" PLOT_RED "'\n",
             i + 1, i + 1, i + 1, i + 1);
  script_add(s, "unset label\n"); /* or the next panel would draw the title again */
}

static bool is_drawn(const struct figure *f)
{
  return f->range.low <= f->range.high;
}

static void draw(struct plot *plot, const struct monitor *m)
{
  size_t n = 0, at = 0;
  for (size_t i = 0; i < m->n_figures; i++) {
    if (!is_drawn(&m->figures[i])) continue;
    write_figure(&plot->body, m, i);
    n++;
  }
  if (plot->o->height == 0)
    plot->height = plot_top_room(plot) + bottom_room + panel_height * (double)n;
  script_add(&plot->body, "unset key\nset multiplot\n");
  plot_title(plot);
  for (size_t i = 0; i < m->n_figures; i++)
    if (is_drawn(&m->figures[i])) draw_figure(plot, m, i, at++, n);
  script_add(&plot->body, "unset multiplot\n");
}

enum gpnn_status plot_monitor(struct plot *plot, struct gpnn_error *err)
{
  struct monitor m = {0};
  enum gpnn_status status = find_figures(plot, &m, err);
  if (status == GPNN_OK) status = read_nights(plot, &m, err);
  if (status == GPNN_OK) draw(plot, &m);
  free(m.numbers.values);
  return status;
}
