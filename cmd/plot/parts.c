#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/plot/plot.h"
#include "table/columns.h"

/* ---- rows --------------------------------------------------------------------------------- */

enum gpnn_status plot_number(const struct plot *plot, const struct gpnn_record *record,
                             size_t column, double *value, struct gpnn_error *err)
{
  return gpnn_columns_optional(plot->table, record, column, value, err);
}

bool plot_has_column(const struct plot *plot, const char *name, size_t *column)
{
  for (size_t j = 0; j < gpnn_table_columns(plot->table); j++)
    if (strcmp(gpnn_table_column(plot->table, j), name) == 0) {
      *column = j;
      return true;
    }
  return false;
}

enum gpnn_status plot_find(const struct plot *plot, const char *truth, bool needs_sd,
                           struct gpnn_predictions *found, struct gpnn_error *err)
{
  const struct plot_arguments *o = plot->o;
  const struct gpnn_predictions_wanted wanted = {truth, o->mean, o->sd, o->df};
  const char *name = gpnn_table_name(plot->table);
  enum gpnn_status status = gpnn_predictions_find(found, plot->table, &wanted, err);
  if (status != GPNN_OK) return status;
  if (found->n_targets > 1 || found->targets[0].name != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: predictions of several targets: name the columns of one with --truth, "
                     "--mean and --sd",
                     name);
  if (found->targets[0].classes != NULL)
    return gpnn_fail(
        err, GPNN_EINVAL,
        "%s: predictions of classes, whose pictures are reliability, confusion and roc", name);
  if (needs_sd && !found->targets[0].has_sd)
    return gpnn_fail(err, GPNN_EINVAL, "%s: no column 'sd': this picture needs standard deviations",
                     name);
  return GPNN_OK;
}

enum gpnn_status plot_predictions(struct plot *plot, const struct gpnn_predictions *found, size_t x,
                                  enum gpnn_status (*take)(void *into, double x,
                                                           const struct gpnn_predictions_row *row,
                                                           struct gpnn_error *err),
                                  void *into, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct gpnn_predictions_row row;
  size_t n = 0, n_left_out = 0;
  enum gpnn_status status;
  while ((status = gpnn_table_next(plot->table, &record, err)) == GPNN_OK) {
    status = gpnn_predictions_read(&found->targets[0], plot->table, &record, &row, err);
    progress_rows_read(n + n_left_out, gpnn_input_share(gpnn_table_input(plot->table)));
    double value = NAN;
    if (status == GPNN_OK) status = plot_number(plot, &record, x, &value, err);
    if (status == GPNN_END || (status == GPNN_OK && x != SIZE_MAX && isnan(value))) {
      n_left_out++;
      continue;
    }
    if (status != GPNN_OK) return status;
    n++;
    status = take(into, value, &row, err);
    if (status == GPNN_EDATA)
      return gpnn_prefix(err, status, "%s%s%zu", gpnn_table_name(plot->table),
                         gpnn_table_before_line(plot->table), record.line);
    if (status != GPNN_OK) return status;
  }
  if (status != GPNN_END) return status;
  table_warn_left_out(plot->cli, plot->table, n_left_out, "truth or prediction");
  if (n > 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%s: no row with a truth and a prediction",
                   gpnn_table_name(plot->table));
}

enum gpnn_status plot_push(struct plot_numbers *numbers, double value, struct gpnn_error *err)
{
  if (!gpnn_grow(&numbers->values, &numbers->capacity, numbers->n + 1, sizeof *numbers->values))
    return gpnn_fail_memory(err, "for the points of the picture");
  numbers->values[numbers->n++] = value;
  return GPNN_OK;
}

struct plot_range plot_range_none(void)
{
  return (struct plot_range){INFINITY, -INFINITY};
}

void plot_range_add(struct plot_range *range, double value)
{
  range->low = fmin(range->low, value);
  range->high = fmax(range->high, value);
}

struct plot_range plot_range_widen(struct plot_range range, double share)
{
  const double most = 1e307; /* that gnuplot takes */
  double size = fmax(fabs(range.low), fabs(range.high));
  double room = share * range.high - share * range.low;
  if (!(range.high - range.low > 1e-13 * size)) room = size > 0 ? fmax(0.1 * size, 1e-300) : 1;
  return (struct plot_range){fmin(fmax(range.low - room, -most), 0.9 * most),
                             fmax(fmin(range.high + room, most), -0.9 * most)};
}

/* ---- parts of scripts --------------------------------------------------------------------- */

static void label(struct plot *plot, const char *what, const char *own, const char *text,
                  const char *more, const char *unit)
{
  if (own != NULL)
    script_label(&plot->body, what, own, "", NULL);
  else
    script_label(&plot->body, what, text, more, unit);
}

void plot_x_label(struct plot *plot, const char *text, const char *more, const char *unit)
{
  label(plot, "xlabel", plot->o->xlabel, text, more, unit);
}

void plot_y_label(struct plot *plot, const char *text, const char *more, const char *unit)
{
  label(plot, "ylabel", plot->o->ylabel, text, more, unit);
}

enum { TITLE_LABEL = 1 };
static const double title_room = 0.7, caption_room = 0.6, least_room = 0.35;

double plot_top_room(const struct plot *plot)
{
  return least_room + (plot->o->title != NULL ? title_room : 0);
}

static void leave_room(struct plot *plot, double room)
{
  script_add(&plot->body, "set tmargin at screen %.5f\n",
             1 - (room + plot_top_room(plot)) / plot->height);
}

void plot_no_caption(struct plot *plot)
{
  leave_room(plot, 0);
}

void plot_caption(struct plot *plot, const char *format, ...)
{
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  leave_room(plot, caption_room);
  script_add(&plot->body, "set label ");
  script_quote(&plot->body, text);
  script_add(&plot->body, " at graph 0, graph 1 left offset 0, 0.8 noenhanced\n");
}

void plot_title(struct plot *plot)
{
  if (plot->o->title == NULL) return;
  script_add(&plot->body, "set label %d ", TITLE_LABEL);
  script_quote(&plot->body, plot->o->title);
  script_add(&plot->body, " at screen 0.5, screen %.5f center noenhanced\n",
             1 - 0.65 / plot->height);
}

void plot_palette(struct plot *plot, enum plot_palette palette)
{
  enum { SHADES = 9 };
  static const char *const shades[][SHADES] = {
      {"#440154", "#472D7B", "#3B528B", "#2C728E", "#21918C", "#28AE80", "#5EC962", "#ADDC30",
       "#FDE725"},
      {"#00224E", "#123570", "#3B496C", "#575D6D", "#707173", "#8A8678", "#A59C74", "#C3B369",
       "#FEE838"},
      {"#FFFFFF", "#E1EDF7", "#BBD6EB", "#8DBADF", "#5D9ACD", "#3A7BB8", "#1F5E9E", "#0B407E",
       "#05204A"},
      {"#C3DBEE", "#A3C8E6", "#80B2DA", "#5D9ACD", "#3E81BC", "#2668A6", "#13508C", "#08386E",
       "#05204A"}};
  script_add(&plot->body, "set palette defined (");
  for (int i = 0; i < SHADES; i++)
    script_add(&plot->body, "%s%d '%s'", i == 0 ? "" : ", ", i, shades[palette][i]);
  script_add(&plot->body, ")\n");
}
