#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/json.h"
#include "cmd/eval/scores.h"
#include "stats/sum.h"
#include "table/stream.h"

/* Per level: coverage, width, score, and the last two in standardised units. */
enum {
  MAX_VALUES = 5 * (GPNN_METRICS_LEVELS + GPNN_PREDICTIONS_INTERVALS) + GPNN_METRICS_PIT_BINS + 20
};

/* Values with their names, ready to be written: one row of a table. */
struct row {
  size_t n;
  struct value {
    char name[64];
    double value;
  } values[MAX_VALUES];
};

struct writer {
  struct scores *scores;
  const struct scores_form *form;
  struct gpnn_output *output;
  struct row row;
  double *shares;   /* SCORES_PIT: form->bins */
  struct json json; /* owned */
  bool has_header;
};

/* ---- values ------------------------------------------------------------------------------- */

static void put(struct row *row, const char *name, double value)
{
  struct value *v = &row->values[row->n++];
  snprintf(v->name, sizeof v->name, "%s", name);
  v->value = value;
}

/* The same for one of a numbered series: "coverage95", "pit3", "width95_standard". */
static void put_numbered(struct row *row, const char *family, double number, const char *tail,
                         double value)
{
  struct value *v = &row->values[row->n++];
  snprintf(v->name, sizeof v->name, "%s%.10g%s", family, number, tail);
  v->value = value;
}

static void put_part(struct row *row, const char *whole, const char *part, double value)
{
  struct value *v = &row->values[row->n++];
  snprintf(v->name, sizeof v->name, "%s_%s", whole, part);
  v->value = value;
}

/* The intervals of the table: "interval90_coverage", or "interval_coverage". */
static void put_given(const struct writer *w, size_t t, const struct scores_cell *cell,
                      struct row *row)
{
  const struct gpnn_predictions_target *target = &w->scores->predictions->targets[t];
  for (size_t i = 0; i < target->n_intervals; i++) {
    double level = target->intervals[i].level;
    char name[40] = "interval";
    if (isnan(level))
      level = w->form->interval_level;
    else
      snprintf(name, sizeof name, "interval%.10g", 100 * level);
    struct gpnn_coverage_result r = gpnn_coverage_result(&cell->given[i], level);
    put_part(row, name, "coverage", r.coverage);
    put_part(row, name, "width", r.width);
    if (!isnan(level)) put_part(row, name, "score", r.score);
  }
}

/* One metric of each level. */
static void put_levels(const struct writer *w, struct row *row, const char *name, const char *tail,
                       const double values[])
{
  const struct cli_probabilities *levels = &w->scores->levels;
  for (size_t i = 0; i < levels->n; i++)
    put_numbered(row, name, 100 * levels->p[i], tail, values[i]);
}

/* The metrics with a unit, in units of the training standard deviation. */
static void put_standard(const struct writer *w, const struct gpnn_metrics_result *m,
                         struct row *row)
{
  put(row, "rmse_standard", m->rmse);
  put(row, "mse_standard", m->mse);
  put(row, "mae_standard", m->mae);
  if (!m->has_sd) return;
  put(row, "nll_standard", m->nll);
  put(row, "crps_standard", m->crps);
  put_levels(w, row, "width", "_standard", m->width);
  put_levels(w, row, "score", "_standard", m->score);
}

static void put_probabilistic(const struct writer *w, const struct gpnn_metrics_result *m,
                              struct row *row)
{
  put(row, "nll", m->nll);
  put(row, "cal", m->cal);
  put(row, "crps", m->crps);
  put_levels(w, row, "coverage", "", m->coverage);
  put_levels(w, row, "width", "", m->width);
  put_levels(w, row, "score", "", m->score);
  put(row, "pit_distance", m->pit_distance);
  for (size_t i = 0; i < GPNN_METRICS_PIT_BINS; i++)
    put_numbered(row, "pit", (double)(i + 1), "", m->pit[i]);
}

/* All metrics of target 't' in a group, in the order in which they are written. */
static enum gpnn_status list_metrics(struct writer *w, struct scores_group *group, size_t t,
                                     struct row *row, struct gpnn_error *err)
{
  struct gpnn_metrics_result m;
  enum gpnn_status status = gpnn_metrics_result(&group->cells[t].metrics, &m, err);
  if (status != GPNN_OK) return status;
  put(row, "n", (double)m.n);
  put(row, "rmse", m.rmse);
  put(row, "mse", m.mse);
  put(row, "mae", m.mae);
  put(row, "r2", m.r2);
  if (m.has_sd) put_probabilistic(w, &m, row);
  put_given(w, t, &group->cells[t], row);
  if (w->form->y_sd > 0) {
    m = gpnn_metrics_in_units(&m, w->form->y_sd);
    put_standard(w, &m, row);
  }
  return GPNN_OK;
}

static void list_level(const struct gpnn_metrics *metrics, size_t i, struct row *row)
{
  double level = metrics->levels[i];
  struct gpnn_coverage_result r = gpnn_coverage_result(&metrics->coverage[i], level);
  put(row, "nominal", level);
  put(row, "observed", r.coverage);
  put(row, "se", gpnn_coverage_se(level, r.n));
  put(row, "width", r.width);
}

static void list_bin(struct writer *w, struct gpnn_metrics *metrics, size_t i, struct row *row)
{
  size_t bins = w->form->bins;
  if (i == 0) gpnn_metrics_pit_histogram(metrics, bins, w->shares);
  put(row, "from", (double)i / (double)bins);
  put(row, "to", (double)(i + 1) / (double)bins);
  put(row, "share", w->shares[i]);
}

static size_t count_rows(const struct writer *w)
{
  return w->form->table == SCORES_METRICS ? 1
         : w->form->table == SCORES_PIT   ? w->form->bins
                                          : w->scores->levels.n;
}

/* Fills w->row with row 'i' of the table of target 't' in a group; rows are requested in order. */
static enum gpnn_status list_row(struct writer *w, struct scores_group *group, size_t t, size_t i,
                                 struct gpnn_error *err)
{
  w->row.n = 0;
  struct gpnn_metrics *metrics = &group->cells[t].metrics;
  if (w->form->table == SCORES_METRICS) return list_metrics(w, group, t, &w->row, err);
  if (w->form->table == SCORES_PIT)
    list_bin(w, metrics, i, &w->row);
  else
    list_level(metrics, i, &w->row);
  return GPNN_OK;
}

/* The mean of each metric over the targets that have rows, into w->row. */
static enum gpnn_status list_mean(struct writer *w, struct gpnn_error *err)
{
  struct gpnn_sum sums[MAX_VALUES] = {{0}};
  enum gpnn_status status = GPNN_OK;
  size_t n = 0;
  for (size_t t = 0; t < w->scores->predictions->n_targets && status == GPNN_OK; t++) {
    if (w->scores->all.cells[t].metrics.n == 0) continue;
    status = list_row(w, &w->scores->all, t, 0, err);
    for (size_t i = 0; i < w->row.n && status == GPNN_OK; i++)
      gpnn_sum_add(&sums[i], w->row.values[i].value);
    n++;
  }
  for (size_t i = 0; i < w->row.n; i++) w->row.values[i].value = gpnn_sum_mean(&sums[i], n);
  return status;
}

/* True if a mean over targets is meaningful: for metrics of several targets, over all rows. */
static bool has_mean(const struct writer *w)
{
  return w->scores->predictions->n_targets > 1 && w->form->table == SCORES_METRICS &&
         w->form->by == NULL;
}

/* ---- text --------------------------------------------------------------------------------- */

static enum gpnn_status write_value(struct writer *w, char delimiter, double value,
                                    struct gpnn_error *err)
{
  return gpnn_table_write_number(w->output, delimiter, value, w->form->na, err);
}

static enum gpnn_status write_lines(struct writer *w, struct gpnn_error *err)
{
  enum gpnn_status status = list_row(w, &w->scores->all, 0, 0, err);
  for (size_t i = 0; i < w->row.n && status == GPNN_OK; i++) {
    status = gpnn_output_printf(w->output, err, "%s\t", w->row.values[i].name);
    if (status == GPNN_OK) status = write_value(w, '\t', w->row.values[i].value, err);
    if (status == GPNN_OK) status = gpnn_output_text(w->output, "\n", err);
  }
  return status;
}

/* Writes the target or group that a row is about, and a delimiter. */
static enum gpnn_status write_key(struct writer *w, const char *text, size_t length,
                                  struct gpnn_error *err)
{
  enum gpnn_status status =
      gpnn_table_write_field(w->output, w->form->delimiter, text, length, err);
  return status == GPNN_OK ? gpnn_output_write(w->output, &w->form->delimiter, 1, err) : status;
}

/* Writes w->row, or its header, after the keys; a NULL key is left out. */
static enum gpnn_status write_record(struct writer *w, const char *target, const char *group,
                                     size_t group_length, bool header, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (target != NULL) status = write_key(w, target, strlen(target), err);
  if (status == GPNN_OK && group != NULL) status = write_key(w, group, group_length, err);
  for (size_t i = 0; i < w->row.n && status == GPNN_OK; i++) {
    if (i > 0) status = gpnn_output_write(w->output, &w->form->delimiter, 1, err);
    if (status != GPNN_OK) break;
    status = header ? gpnn_output_text(w->output, w->row.values[i].name, err)
                    : write_value(w, w->form->delimiter, w->row.values[i].value, err);
  }
  return status == GPNN_OK ? gpnn_output_text(w->output, "\n", err) : status;
}

static enum gpnn_status write_cell(struct writer *w, size_t t, struct scores_group *group,
                                   struct gpnn_error *err)
{
  const char *target = w->scores->predictions->targets[t].name, *by = w->form->by;
  enum gpnn_status status = GPNN_OK;
  if (group->cells[t].metrics.n == 0) return GPNN_OK;
  for (size_t i = 0; i < count_rows(w) && status == GPNN_OK; i++) {
    status = list_row(w, group, t, i, err);
    if (status == GPNN_OK && !w->has_header)
      status = write_record(w, target == NULL ? NULL : "target", by, by == NULL ? 0 : strlen(by),
                            true, err);
    w->has_header = true;
    if (status == GPNN_OK)
      status = write_record(w, target, group->name, group->name_length, false, err);
  }
  return status;
}

static enum gpnn_status write_table(struct writer *w, struct gpnn_error *err)
{
  struct scores *s = w->scores;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < s->predictions->n_targets && status == GPNN_OK; t++) {
    if (w->form->by == NULL) status = write_cell(w, t, &s->all, err);
    for (size_t i = 0; i < s->n_groups && status == GPNN_OK; i++)
      status = write_cell(w, t, &s->groups[i], err);
  }
  if (status != GPNN_OK || !has_mean(w)) return status;
  status = list_mean(w, err);
  return status == GPNN_OK ? write_record(w, "mean", NULL, 0, false, err) : status;
}

/* ---- JSON --------------------------------------------------------------------------------- */

/* The members of w->row; missing values are null. */
static void json_row(struct writer *w)
{
  for (size_t i = 0; i < w->row.n; i++)
    json_number(&w->json, w->row.values[i].name, w->row.values[i].value);
}

/* A cell: its metrics as members, or one member with the rows of the table. */
static enum gpnn_status json_cell(struct writer *w, size_t t, struct scores_group *group,
                                  struct gpnn_error *err)
{
  bool one = w->form->table == SCORES_METRICS;
  enum gpnn_status status = GPNN_OK;
  if (!one) json_open(&w->json, w->form->table == SCORES_PIT ? "pit" : "reliability", '[');
  for (size_t i = 0; i < count_rows(w) && status == GPNN_OK; i++) {
    status = list_row(w, group, t, i, err);
    if (!one) json_open(&w->json, NULL, '{');
    if (status == GPNN_OK) json_row(w);
    if (!one) json_close(&w->json, '}');
  }
  if (!one) json_close(&w->json, ']');
  /* There may be millions of groups: their text is not kept. */
  return status == GPNN_OK ? json_write(&w->json, w->output, err) : status;
}

/* The cell of all rows, followed by its groups. */
static enum gpnn_status json_target(struct writer *w, size_t t, struct gpnn_error *err)
{
  enum gpnn_status status = json_cell(w, t, &w->scores->all, err);
  bool any = false;
  for (size_t i = 0; i < w->scores->n_groups && status == GPNN_OK; i++) {
    struct scores_group *group = &w->scores->groups[i];
    if (group->cells[t].metrics.n == 0) continue;
    if (!any) json_open(&w->json, "groups", '[');
    any = true;
    json_open(&w->json, NULL, '{');
    json_bytes(&w->json, "by", group->name, group->name_length);
    status = json_cell(w, t, group, err);
    json_close(&w->json, '}');
  }
  if (any) json_close(&w->json, ']');
  return status;
}

/* Several targets: an array of objects, and the means over them. */
static enum gpnn_status json_targets(struct writer *w, struct gpnn_error *err)
{
  const struct gpnn_predictions *p = w->scores->predictions;
  enum gpnn_status status = GPNN_OK;
  json_open(&w->json, "targets", '[');
  for (size_t t = 0; t < p->n_targets && status == GPNN_OK; t++) {
    if (w->scores->all.cells[t].metrics.n == 0) continue;
    json_open(&w->json, NULL, '{');
    json_text(&w->json, "target", p->targets[t].name);
    status = json_target(w, t, err);
    json_close(&w->json, '}');
  }
  json_close(&w->json, ']');
  if (status != GPNN_OK || !has_mean(w)) return status;
  status = list_mean(w, err);
  json_open(&w->json, "mean", '{');
  json_row(w);
  json_close(&w->json, '}');
  return status;
}

static enum gpnn_status write_json(struct writer *w, struct gpnn_error *err)
{
  bool named = w->scores->predictions->targets[0].name != NULL;
  json_open(&w->json, NULL, '{');
  enum gpnn_status status = named ? json_targets(w, err) : json_target(w, 0, err);
  json_close(&w->json, '}');
  if (status == GPNN_OK) status = json_write(&w->json, w->output, err);
  return status == GPNN_OK ? gpnn_output_text(w->output, "\n", err) : status;
}

enum gpnn_status scores_write(struct scores *scores, const struct scores_form *form,
                              struct gpnn_output *output, struct gpnn_error *err)
{
  bool lines = form->table == SCORES_METRICS && form->by == NULL &&
               scores->predictions->targets[0].name == NULL;
  struct writer w = {.scores = scores, .form = form, .output = output};
  w.shares = gpnn_alloc(form->bins, 1, sizeof *w.shares);
  if (w.shares == NULL) return gpnn_fail_memory(err, "for the bins");
  enum gpnn_status status = form->json ? write_json(&w, err)
                            : lines    ? write_lines(&w, err)
                                       : write_table(&w, err);
  json_release(&w.json);
  free(w.shares);
  return status;
}
