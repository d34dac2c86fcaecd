#include "assess/monitor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"
#include "stats/distributions/binomial.h"
#include "stats/distributions/student.h"
#include "table/columns.h"

/* How a figure varies from night to night, and on which sides it has limits. */
enum kind {
  PLAIN,       /* about normally */
  SCALE,       /* as a logarithm */
  DISTANCE,    /* likewise, and it falls with the root of the rows */
  SHARE,       /* of rows, to be small */
  SHARE_RIGHT, /* of rows, to be neither small nor large */
};

static const struct figure {
  const char *name;
  enum kind kind;
  bool of_all; /* of all rows, not only of those with prediction and truth */
} figures[2][GPNN_MONITOR_FIGURES + 1] = {{{"rmse", SCALE, false},
                                           {"nll", PLAIN, false},
                                           {"crps", SCALE, false},
                                           {"coverage95", SHARE_RIGHT, false},
                                           {"pit_distance", DISTANCE, false},
                                           {"na", SHARE, true},
                                           {"far", SHARE, true},
                                           {NULL, PLAIN, false}},
                                          {{"error", SHARE, false},
                                           {"nll", SCALE, false},
                                           {"brier", SCALE, false},
                                           {"na", SHARE, true},
                                           {"far", SHARE, true},
                                           {NULL, PLAIN, false}}};

static bool has_low(const struct figure *figure)
{
  return figure->kind == SHARE_RIGHT;
}

const char *gpnn_monitor_figure(bool of_classes, size_t i)
{
  return figures[of_classes][i].name;
}

/* ---- nights ------------------------------------------------------------------------------- */

void gpnn_night_set(struct gpnn_night *night, bool of_classes, const char *figure, double value)
{
  for (size_t i = 0; figures[of_classes][i].name != NULL; i++)
    if (strcmp(figures[of_classes][i].name, figure) == 0) night->value[i] = value;
}

static struct gpnn_night no_figures(size_t rows, size_t n)
{
  struct gpnn_night night = {.rows = rows, .n = n};
  for (size_t i = 0; i < GPNN_MONITOR_FIGURES; i++)
    night.value[i] = night.low[i] = night.high[i] = NAN;
  return night;
}

struct gpnn_night gpnn_night_of_numbers(size_t rows, const struct gpnn_metrics_result *scores)
{
  struct gpnn_night night = no_figures(rows, scores->n);
  gpnn_night_set(&night, false, "rmse", scores->rmse);
  if (!scores->has_sd) return night;
  gpnn_night_set(&night, false, "nll", scores->nll);
  gpnn_night_set(&night, false, "crps", scores->crps);
  gpnn_night_set(&night, false, "coverage95", scores->coverage[0]);
  gpnn_night_set(&night, false, "pit_distance", scores->pit_distance);
  return night;
}

struct gpnn_night gpnn_night_of_classes(size_t rows,
                                        const struct gpnn_classification_result *scores)
{
  struct gpnn_night night = no_figures(rows, scores->n);
  gpnn_night_set(&night, true, "error", scores->error);
  gpnn_night_set(&night, true, "nll", scores->nll);
  gpnn_night_set(&night, true, "brier", scores->brier);
  return night;
}

bool gpnn_night_is_outside(const struct gpnn_night *night)
{
  for (size_t i = 0; i < GPNN_MONITOR_FIGURES; i++)
    if (night->is_outside[i]) return true;
  return false;
}

/* ---- limits ------------------------------------------------------------------------------- */

/* The probability with which chance exceeds one limit. */
static double chance_of_one(bool of_classes)
{
  static const double chance_of_any = 1e-3;
  double n = 0;
  for (const struct figure *f = figures[of_classes]; f->name != NULL; f++) n += 1 + has_low(f);
  return chance_of_any / n;
}

/* What a figure is compared as, and back. */
static double compared(enum kind kind, double value)
{
  const double tiny = 1e-300;
  if (kind == PLAIN) return value;
  if (kind == SHARE || kind == SHARE_RIGHT) return asin(sqrt(fmin(fmax(value, 0), 1)));
  return log(fmax(value, tiny));
}

static double restored(enum kind kind, double value)
{
  const double right_angle = asin(1);
  if (kind == PLAIN) return value;
  if (kind != SHARE && kind != SHARE_RIGHT) return exp(value);
  double sine = sin(fmin(fmax(value, 0), right_angle));
  return sine * sine;
}

/* The nights that a figure is held against. */
struct reference {
  double k;          /* how many have the figure */
  double mean, sd;   /* of it, as it is compared */
  double rows, hits; /* rows of all of them, and those that a share counts */
};

static double rows_of(const struct figure *figure, const struct gpnn_night *night)
{
  return (double)(figure->of_all ? night->rows : night->n);
}

static struct reference refer(const struct figure *figure, size_t i, size_t n,
                              const struct gpnn_night *const *nights)
{
  struct reference r = {0};
  double squares = 0;
  for (size_t k = 0; k < n; k++) {
    if (!isfinite(nights[k]->value[i])) continue;
    double rows = rows_of(figure, nights[k]);
    double value = compared(figure->kind, nights[k]->value[i]), before = r.mean;
    r.mean += (value - before) / ++r.k;
    squares += (value - before) * (value - r.mean);
    r.rows += rows;
    r.hits += rows * nights[k]->value[i];
  }
  if (r.k > 1) r.sd = sqrt(squares / (r.k - 1));
  return r;
}

/* Sets the limits of figure 'i' of a night, and says whether it is outside. */
static void judge(struct gpnn_night *night, bool of_classes, size_t i, const struct reference *r)
{
  const struct figure *figure = &figures[of_classes][i];
  double rows = rows_of(figure, night), chance = chance_of_one(of_classes);
  double fewer = fmax(1, sqrt(r->rows / r->k / rows));
  double t = -gpnn_student_quantile(chance, GPNN_MONITOR_FEWEST - 1);
  double reach = t * r->sd * sqrt(1 + 1 / r->k) * fewer;
  if (figure->kind == DISTANCE) reach += log(fewer);
  double high = restored(figure->kind, r->mean + reach);
  double low = has_low(figure) ? restored(figure->kind, r->mean - reach) : NAN;
  if (figure->kind == SHARE || figure->kind == SHARE_RIGHT) {
    double a = r->hits + 0.5, b = fmax(r->rows - r->hits, 0) + 0.5;
    size_t most = gpnn_beta_binomial_quantile((size_t)rows, a, b, 1 - chance);
    size_t least = gpnn_beta_binomial_quantile((size_t)rows, a, b, chance);
    high = fmax(high, (double)most / rows);
    low = fmin(low, (double)least / rows);
  }
  const double rounding = 1e-9;
  double slack = rounding * fmax(fabs(high), fabs(night->value[i]));
  night->high[i] = high;
  if (has_low(figure)) night->low[i] = low;
  night->is_outside[i] = night->value[i] > high + slack || night->value[i] < night->low[i] - slack;
}

static void judge_all(struct gpnn_night *night, bool of_classes, size_t n,
                      const struct gpnn_night *const *nights)
{
  for (size_t i = 0; figures[of_classes][i].name != NULL; i++) {
    struct reference r = refer(&figures[of_classes][i], i, n, nights);
    if (r.k >= GPNN_MONITOR_FEWEST && !isnan(night->value[i])) judge(night, of_classes, i, &r);
  }
}

/* The latest nights before 'place' that raised no alarm; returns how many. */
static size_t list_before(const struct gpnn_monitor *monitor, size_t place,
                          const struct gpnn_night *before[GPNN_MONITOR_MOST])
{
  size_t n = 0;
  for (size_t i = place; i-- > 0 && n < GPNN_MONITOR_MOST;)
    if (!gpnn_night_is_outside(&monitor->nights[i])) before[n++] = &monitor->nights[i];
  return n;
}

/* The number of the first night that is not before 'date'. */
static size_t find_place(const struct gpnn_monitor *monitor, const char *date)
{
  size_t place = 0;
  while (place < monitor->n && strcmp(monitor->nights[place].date, date) < 0) place++;
  return place;
}

bool gpnn_monitor_needs_expected(const struct gpnn_monitor *monitor, const char *date)
{
  const struct gpnn_night *before[GPNN_MONITOR_MOST];
  return list_before(monitor, find_place(monitor, date), before) < GPNN_MONITOR_FEWEST;
}

enum gpnn_status gpnn_monitor_add(struct gpnn_monitor *monitor, const struct gpnn_night *night,
                                  size_t n_expected, const struct gpnn_night *expected, size_t *at,
                                  struct gpnn_error *err)
{
  const struct gpnn_night *before[GPNN_MONITOR_MOST];
  size_t place = find_place(monitor, night->date), n;
  if (!gpnn_grow(&monitor->nights, &monitor->capacity, monitor->n + 1, sizeof *monitor->nights))
    return gpnn_fail_memory(err, "for the history");
  struct gpnn_night *new = &monitor->nights[place];
  if (place == monitor->n || strcmp(new->date, night->date) != 0)
    memmove(new + 1, new, (monitor->n++ - place) * sizeof *new);
  *new = *night;
  n = list_before(monitor, place, before);
  for (size_t i = 0; n < GPNN_MONITOR_FEWEST && i < n_expected; i++) before[i] = &expected[i];
  if (n < GPNN_MONITOR_FEWEST && n_expected > 0) n = n_expected;
  judge_all(new, monitor->of_classes, n, before);
  *at = place;
  return GPNN_OK;
}

/* ---- the table ---------------------------------------------------------------------------- */

enum { NAME_BYTES = 32 };

/* The columns of the table, in their order: calls 'each' with the name of each and where its number
 * is kept in a night. */
static enum gpnn_status each_number(bool of_classes, struct gpnn_night *night,
                                    enum gpnn_status (*each)(void *context, const char *name,
                                                             double *number,
                                                             struct gpnn_error *err),
                                    void *context, struct gpnn_error *err)
{
  const struct figure *all = figures[of_classes];
  char name[NAME_BYTES];
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; all[i].name != NULL && status == GPNN_OK; i++)
    status = each(context, all[i].name, &night->value[i], err);
  for (size_t i = 0; all[i].name != NULL && status == GPNN_OK; i++) {
    snprintf(name, sizeof name, "%s_low", all[i].name);
    if (has_low(&all[i])) status = each(context, name, &night->low[i], err);
    snprintf(name, sizeof name, "%s_high", all[i].name);
    if (status == GPNN_OK) status = each(context, name, &night->high[i], err);
  }
  return status;
}

struct reading {
  struct gpnn_table *table;
  struct gpnn_record record;
};

static enum gpnn_status read_number(void *context, const char *name, double *number,
                                    struct gpnn_error *err)
{
  struct reading *r = context;
  size_t column;
  enum gpnn_status status = gpnn_columns_find(r->table, name, &column, err);
  if (status != GPNN_OK)
    return gpnn_prefix(err, GPNN_EDATA, "not such a history as is to be continued");
  return gpnn_columns_optional(r->table, &r->record, column, number, err);
}

static enum gpnn_status read_count(struct reading *r, const char *name, size_t *count,
                                   struct gpnn_error *err)
{
  double number;
  enum gpnn_status status = read_number(r, name, &number, err);
  if (status == GPNN_OK && !(number >= 0 && number < 1e15))
    status = gpnn_fail(err, GPNN_EDATA, "%s:%zu: column '%s': not a number of rows",
                       gpnn_table_name(r->table), r->record.line, name);
  if (status == GPNN_OK) *count = (size_t)number;
  return status;
}

/* The date, and which figures raised an alarm: their names, with blanks between. */
static enum gpnn_status read_texts(struct reading *r, bool of_classes, struct gpnn_night *night,
                                   struct gpnn_error *err)
{
  size_t date, alarm;
  double days;
  enum gpnn_status status = gpnn_columns_find(r->table, "date", &date, err);
  if (status == GPNN_OK) status = gpnn_columns_find(r->table, "alarm", &alarm, err);
  if (status != GPNN_OK) return gpnn_prefix(err, GPNN_EDATA, "not such a history");
  status = gpnn_columns_date(r->table, &r->record, date, GPNN_DATE_ISO, &days, err);
  if (status != GPNN_OK) return status;
  gpnn_date_write(night->date, days);
  for (size_t i = 0; figures[of_classes][i].name != NULL; i++)
    night->is_outside[i] =
        gpnn_field_has_word(&r->record.fields[alarm], figures[of_classes][i].name);
  return GPNN_OK;
}

static enum gpnn_status read_night(struct gpnn_monitor *monitor, struct reading *r,
                                   struct gpnn_error *err)
{
  struct gpnn_night night = no_figures(0, 0);
  size_t at = monitor->n;
  enum gpnn_status status = gpnn_table_next(r->table, &r->record, err);
  if (status == GPNN_OK) status = read_texts(r, monitor->of_classes, &night, err);
  if (status == GPNN_OK) status = read_count(r, "rows", &night.rows, err);
  if (status == GPNN_OK) status = read_count(r, "n", &night.n, err);
  if (status == GPNN_OK) status = each_number(monitor->of_classes, &night, read_number, r, err);
  if (status != GPNN_OK) return status;
  if (at > 0 && strcmp(monitor->nights[at - 1].date, night.date) >= 0)
    return gpnn_fail(err, GPNN_EDATA, "%s:%zu: the date is not after that of the night before",
                     gpnn_table_name(r->table), r->record.line);
  if (!gpnn_grow(&monitor->nights, &monitor->capacity, at + 1, sizeof night))
    return gpnn_fail_memory(err, "for the history");
  monitor->nights[monitor->n++] = night;
  return GPNN_OK;
}

enum gpnn_status gpnn_monitor_read(struct gpnn_monitor *monitor, const char *path,
                                   struct gpnn_error *err)
{
  const struct gpnn_table_options options = {.delimiter = '\t', .has_header = true};
  struct reading r = {0};
  if (access(path, F_OK) != 0 && errno == ENOENT) return GPNN_OK;
  enum gpnn_status status = gpnn_table_open(&r.table, path, &options, err);
  /* What is no history is not to be replaced by one. */
  if (status == GPNN_OK && strcmp(gpnn_table_column(r.table, 0), "date") != 0)
    status = gpnn_fail(err, GPNN_EDATA, "not such a history: %s: no column 'date'",
                       gpnn_table_name(r.table));
  while (status == GPNN_OK) status = read_night(monitor, &r, err);
  gpnn_table_close(r.table);
  return status == GPNN_END ? GPNN_OK : status;
}

static enum gpnn_status write_name(void *output, const char *name, double *number,
                                   struct gpnn_error *err)
{
  (void)number;
  return gpnn_output_printf(output, err, "\t%s", name);
}

static enum gpnn_status write_number(void *output, const char *name, double *number,
                                     struct gpnn_error *err)
{
  char text[GPNN_NUMBER_BYTES] = "NA";
  (void)name;
  if (isfinite(*number)) gpnn_number_write(text, *number);
  return gpnn_output_printf(output, err, "\t%s", text);
}

static enum gpnn_status write_night(const struct gpnn_night *night, bool of_classes,
                                    struct gpnn_output *output, struct gpnn_error *err)
{
  struct gpnn_night copy = *night;
  const char *before = "\t";
  enum gpnn_status status =
      gpnn_output_printf(output, err, "%s\t%zu\t%zu", night->date, night->rows, night->n);
  if (status == GPNN_OK) status = each_number(of_classes, &copy, write_number, output, err);
  for (size_t i = 0; figures[of_classes][i].name != NULL && status == GPNN_OK; i++) {
    if (!night->is_outside[i]) continue;
    status = gpnn_output_printf(output, err, "%s%s", before, figures[of_classes][i].name);
    before = " ";
  }
  if (status != GPNN_OK) return status;
  return gpnn_output_text(output, gpnn_night_is_outside(night) ? "\n" : "\tnone\n", err);
}

enum gpnn_status gpnn_monitor_write(const struct gpnn_monitor *monitor, struct gpnn_output *output,
                                    struct gpnn_error *err)
{
  struct gpnn_night none = {0};
  enum gpnn_status status = gpnn_output_text(output, "date\trows\tn", err);
  if (status == GPNN_OK) status = each_number(monitor->of_classes, &none, write_name, output, err);
  if (status == GPNN_OK) status = gpnn_output_text(output, "\talarm\n", err);
  for (size_t i = 0; i < monitor->n && status == GPNN_OK; i++)
    status = write_night(&monitor->nights[i], monitor->of_classes, output, err);
  return status;
}

void gpnn_monitor_release(struct gpnn_monitor *monitor)
{
  free(monitor->nights);
  *monitor = (struct gpnn_monitor){0};
}
