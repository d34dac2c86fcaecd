/* What there is to write of predictions of numbers. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "cmd/eval/scores_private.h"

/* ---- values ------------------------------------------------------------------------------- */

void scores_put(struct scores_row *row, const char *name, double value)
{
  struct scores_value *v = &row->values[row->n++];
  *v = (struct scores_value){.value = value};
  snprintf(v->name, sizeof v->name, "%s", name);
}

void scores_put_text(struct scores_row *row, const char *name, struct gpnn_field text)
{
  scores_put(row, name, NAN);
  row->values[row->n - 1].text = text;
}

/* The same for one of a numbered series: "coverage95", "pit3", "width95_standard". */
static void put_numbered(struct scores_row *row, const char *family, double number,
                         const char *tail, double value)
{
  scores_put(row, "", value);
  snprintf(row->values[row->n - 1].name, sizeof row->values[0].name, "%s%.10g%s", family, number,
           tail);
}

static void put_part(struct scores_row *row, const char *whole, const char *part, double value)
{
  scores_put(row, "", value);
  snprintf(row->values[row->n - 1].name, sizeof row->values[0].name, "%s_%s", whole, part);
}

/* The intervals of the table: "interval90_coverage", or "interval_coverage". */
static void put_given(const struct gpnn_predictions_target *target, double plain_level,
                      const struct scores_cell *cell, struct scores_row *row)
{
  for (size_t i = 0; i < target->n_intervals; i++) {
    double level = target->intervals[i].level;
    char name[40] = "interval";
    if (isnan(level))
      level = plain_level;
    else
      snprintf(name, sizeof name, "interval%.10g", 100 * level);
    struct gpnn_coverage_result r = gpnn_coverage_result(&cell->given[i], level);
    put_part(row, name, "coverage", r.coverage);
    put_part(row, name, "width", r.width);
    if (!isnan(level)) put_part(row, name, "score", r.score);
  }
}

/* One metric of each level. */
static void put_levels(const struct cli_probabilities *levels, struct scores_row *row,
                       const char *name, const char *tail, const double values[])
{
  for (size_t i = 0; i < levels->n; i++)
    put_numbered(row, name, 100 * levels->p[i], tail, values[i]);
}

/* The metrics with a unit, in units of the training standard deviation. */
static void put_standard(const struct cli_probabilities *levels,
                         const struct gpnn_metrics_result *m, struct scores_row *row)
{
  scores_put(row, "rmse_standard", m->rmse);
  scores_put(row, "mse_standard", m->mse);
  scores_put(row, "mae_standard", m->mae);
  if (!m->has_sd) return;
  scores_put(row, "nll_standard", m->nll);
  scores_put(row, "crps_standard", m->crps);
  put_levels(levels, row, "width", "_standard", m->width);
  put_levels(levels, row, "score", "_standard", m->score);
}

static void put_probabilistic(const struct cli_probabilities *levels,
                              const struct gpnn_metrics_result *m, struct scores_row *row)
{
  scores_put(row, "nll", m->nll);
  scores_put(row, "cal", m->cal);
  scores_put(row, "crps", m->crps);
  put_levels(levels, row, "coverage", "", m->coverage);
  put_levels(levels, row, "width", "", m->width);
  put_levels(levels, row, "score", "", m->score);
  scores_put(row, "pit_distance", m->pit_distance);
  for (size_t i = 0; i < GPNN_METRICS_PIT_BINS; i++)
    put_numbered(row, "pit", (double)(i + 1), "", m->pit[i]);
}

enum gpnn_status scores_list_numbers(const struct scores *scores, const struct scores_form *form,
                                     struct scores_group *group, size_t t, struct scores_row *row,
                                     struct gpnn_error *err)
{
  struct gpnn_metrics_result m;
  struct scores_cell *cell = &group->cells[t];
  enum gpnn_status status = gpnn_metrics_result(&cell->metrics, &m, err);
  if (status != GPNN_OK) return status;
  scores_put(row, "n", (double)m.n);
  scores_put(row, "rmse", m.rmse);
  scores_put(row, "mse", m.mse);
  scores_put(row, "mae", m.mae);
  scores_put(row, "r2", m.r2);
  if (m.has_sd) put_probabilistic(&scores->levels, &m, row);
  put_given(&scores->predictions->targets[t], form->interval_level, cell, row);
  if (form->y_sd > 0) {
    m = gpnn_metrics_in_units(&m, form->y_sd, false);
    put_standard(&scores->levels, &m, row);
  }
  return GPNN_OK;
}

/* ---- tables ------------------------------------------------------------------------------- */

static void list_level(const struct gpnn_metrics *metrics, size_t i, struct scores_row *row)
{
  double level = metrics->levels[i];
  struct gpnn_coverage_result r = gpnn_coverage_result(&metrics->coverage[i], level);
  scores_put(row, "nominal", level);
  scores_put(row, "observed", r.coverage);
  scores_put(row, "se", gpnn_coverage_se(level, r.n));
  scores_put(row, "width", r.width);
}

static void list_bin(size_t bins, const double *shares, size_t i, struct scores_row *row)
{
  scores_put(row, "from", (double)i / (double)bins);
  scores_put(row, "to", (double)(i + 1) / (double)bins);
  scores_put(row, "share", shares[i]);
}

enum gpnn_status scores_prepare_numbers(struct scores_parts *parts, const struct scores_form *form,
                                        struct scores_cell *cell, struct gpnn_error *err)
{
  parts->n = cell->metrics.n_levels;
  if (form->table != SCORES_PIT) return GPNN_OK;
  parts->n = form->bins;
  parts->shares = gpnn_alloc(form->bins, 1, sizeof *parts->shares);
  if (parts->shares == NULL) return gpnn_fail_memory(err, "for the bins");
  gpnn_metrics_pit_histogram(&cell->metrics, form->bins, parts->shares);
  return GPNN_OK;
}

void scores_row_of_numbers(const struct scores_parts *parts, const struct scores_form *form,
                           const struct scores_cell *cell, size_t i, struct scores_row *row)
{
  if (form->table == SCORES_PIT)
    list_bin(form->bins, parts->shares, i, row);
  else
    list_level(&cell->metrics, i, row);
}
