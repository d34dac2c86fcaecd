#include "assess/scored.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "stats/distributions/student.h"
#include "stats/scores/difference.h"
#include "table/columns.h"
#include "table/predictions.h"

/* Reading, target by target: the column of means or labels, SIZE_MAX: none; the columns to score,
 * NULL: none; and what they have come to. */
struct reading {
  struct gpnn_table *table;
  struct gpnn_predictions predictions;
  struct part {
    size_t mean;
    bool of_classes;
    struct gpnn_predictions_target *columns;
    struct gpnn_metrics metrics;
    struct gpnn_classification classes;
  } * parts; /* owned */
};

static void reading_release(struct reading *r, size_t n_targets)
{
  for (size_t t = 0; t < n_targets && r->parts != NULL; t++) {
    gpnn_metrics_release(&r->parts[t].metrics);
    gpnn_classification_release(&r->parts[t].classes);
  }
  free(r->parts);
  gpnn_predictions_release(&r->predictions);
  gpnn_table_close(r->table);
}

/* ---- columns ------------------------------------------------------------------------------ */

/* The last column called 'what' or, of one of several targets, "mean_NAME", say. */
static size_t find_column(const struct gpnn_table *table, const char *what, const char *name,
                          bool is_one_of_several)
{
  size_t found = SIZE_MAX, length = strlen(what);
  for (size_t j = 0; j < gpnn_table_columns(table); j++) {
    const char *column = gpnn_table_column(table, j);
    if (strncmp(column, what, length) != 0) continue;
    if (is_one_of_several ? column[length] == '_' && strcmp(column + length + 1, name) == 0
                          : column[length] == '\0')
      found = j;
  }
  return found;
}

static void find_parts(struct reading *r, size_t n_targets, const char *const *names)
{
  for (size_t t = 0; t < n_targets; t++) {
    struct part *part = &r->parts[t];
    gpnn_metrics_levels(&part->metrics, 1, (const double[]){GPNN_SCORED_LEVEL});
    part->mean = SIZE_MAX;
    if (!gpnn_table_has_header(r->table)) continue;
    part->mean = find_column(r->table, "mean", names[t], n_targets > 1);
    part->of_classes = part->mean == SIZE_MAX;
    if (part->of_classes) part->mean = find_column(r->table, "label", names[t], n_targets > 1);
    for (size_t i = 0; i < r->predictions.n_targets; i++) {
      struct gpnn_predictions_target *columns = &r->predictions.targets[i];
      if ((columns->classes != NULL) == part->of_classes &&
          (part->of_classes || columns->mean == part->mean) &&
          strcmp(gpnn_table_column(r->table, columns->truth), names[t]) == 0)
        part->columns = columns;
    }
    if (part->of_classes && part->columns != NULL)
      gpnn_classification_init(&part->classes,
                               gpnn_predictions_n_probabilities(part->columns->classes), true);
  }
}

/* Opens the table and finds its columns; that there is no truth is no failure. */
static enum gpnn_status begin(struct reading *r, size_t n_targets, const char *const *names,
                              const char *path, const struct gpnn_table_options *options,
                              struct gpnn_error *err)
{
  const struct gpnn_predictions_wanted usual = {NULL, NULL, NULL, NULL};
  r->parts = calloc(n_targets, sizeof *r->parts);
  if (r->parts == NULL) return gpnn_fail_memory(err, "for the targets");
  enum gpnn_status status = gpnn_table_open(&r->table, path, options, err);
  if (status != GPNN_OK) return status;
  if (gpnn_table_has_header(r->table))
    status = gpnn_predictions_find(&r->predictions, r->table, &usual, err);
  if (status == GPNN_EINVAL) gpnn_predictions_release(&r->predictions);
  if (status != GPNN_OK && status != GPNN_EINVAL) return status;
  find_parts(r, n_targets, names);
  return GPNN_OK;
}

/* ---- rows --------------------------------------------------------------------------------- */

static enum gpnn_status score_class(struct reading *r, struct part *part,
                                    const struct gpnn_record *record, struct gpnn_error *err)
{
  struct gpnn_predictions_class_row row;
  enum gpnn_status status = gpnn_predictions_read_class(part->columns, r->table, record, &row, err);
  if (status != GPNN_OK) return status == GPNN_END ? GPNN_OK : status;
  const struct gpnn_classification_row added = {row.truth, row.label,           row.p,
                                                row.top,   row.top_probability, row.logp};
  return gpnn_classification_add(&part->classes, &added, err);
}

static enum gpnn_status score(struct reading *r, struct part *part,
                              const struct gpnn_record *record, struct gpnn_error *err)
{
  struct gpnn_predictions_row row;
  if (part->columns == NULL) return GPNN_OK;
  if (part->of_classes) return score_class(r, part, record, err);
  enum gpnn_status status = gpnn_predictions_read(part->columns, r->table, record, &row, err);
  if (status != GPNN_OK) return status == GPNN_END ? GPNN_OK : status;
  const struct gpnn_metrics_given given = {.logp = row.score[GPNN_PREDICTIONS_LOGP],
                                           .crps = row.score[GPNN_PREDICTIONS_CRPS],
                                           .pit = row.score[GPNN_PREDICTIONS_PIT],
                                           .step = row.score[GPNN_PREDICTIONS_PITSTEP]};
  status = gpnn_metrics_add_given(&part->metrics, row.truth, row.mean, row.sd, row.df, &given, err);
  return status == GPNN_OK
             ? status
             : gpnn_prefix(err, status, "%s:%zu", gpnn_table_name(r->table), record->line);
}

static enum gpnn_status read_rows(struct reading *r, struct gpnn_scored *scored,
                                  struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = gpnn_table_next(r->table, &record, err);
  while (status == GPNN_OK) {
    scored->n_rows++;
    for (size_t t = 0; t < scored->n_targets && status == GPNN_OK; t++) {
      struct part *part = &r->parts[t];
      if (part->mean == SIZE_MAX || gpnn_field_is_missing(r->table, &record.fields[part->mean]))
        continue;
      scored->targets[t].n_predicted++;
      status = score(r, part, &record, err);
    }
    if (status == GPNN_OK) status = gpnn_table_next(r->table, &record, err);
  }
  return status == GPNN_END ? GPNN_OK : status;
}

/* ---- row by row --------------------------------------------------------------------------- */

/* The losses of all rows, NaN of those that cannot be scored. */
struct losses {
  size_t n, nll_capacity, loss_capacity;
  double *nll, *loss; /* owned */
};

/* Sets the losses of a row, unless it cannot be scored. */
static enum gpnn_status find_losses(struct reading *r, struct part *part,
                                    const struct gpnn_record *record, double *nll, double *loss,
                                    struct gpnn_error *err)
{
  struct gpnn_predictions_row row;
  struct gpnn_predictions_class_row of_class;
  enum gpnn_status status =
      part->of_classes
          ? gpnn_predictions_read_class(part->columns, r->table, record, &of_class, err)
          : gpnn_predictions_read(part->columns, r->table, record, &row, err);
  if (status != GPNN_OK) return status == GPNN_END ? GPNN_OK : status;
  if (part->of_classes) {
    size_t n = gpnn_predictions_n_probabilities(part->columns->classes);
    bool is_known = of_class.p != NULL && of_class.truth < n;
    double logp = is_known ? log(of_class.p[of_class.truth]) : of_class.logp;
    if (isnan(logp)) return GPNN_OK; /* a class that the model does not know */
    *nll = -fmax(logp, log(GPNN_CLASSIFICATION_FLOOR));
    *loss = of_class.label != of_class.truth;
  } else {
    double error = row.truth - row.mean, logp = row.score[GPNN_PREDICTIONS_LOGP];
    double scale = row.sd * gpnn_student_unit_scale(row.df);
    *nll = isnan(logp) ? gpnn_student_nll(error, scale, row.df) : -logp;
    *loss = error * error;
  }
  return GPNN_OK;
}

static enum gpnn_status read_losses(struct losses *losses, size_t n_targets,
                                    const char *const *names, size_t t, const char *path,
                                    const struct gpnn_table_options *options,
                                    struct gpnn_error *err)
{
  struct reading r = {0};
  struct gpnn_record record;
  enum gpnn_status status = begin(&r, n_targets, names, path, options, err);
  while (status == GPNN_OK) {
    size_t i = losses->n;
    status = gpnn_table_next(r.table, &record, err);
    if (status != GPNN_OK) break;
    if (!gpnn_grow(&losses->nll, &losses->nll_capacity, i + 1, sizeof *losses->nll) ||
        !gpnn_grow(&losses->loss, &losses->loss_capacity, i + 1, sizeof *losses->loss))
      status = gpnn_fail_memory(err, "for the scores");
    if (status != GPNN_OK) break;
    losses->nll[i] = losses->loss[i] = NAN;
    losses->n++;
    if (r.parts[t].columns != NULL)
      status = find_losses(&r, &r.parts[t], &record, &losses->nll[i], &losses->loss[i], err);
  }
  reading_release(&r, n_targets);
  return status == GPNN_END ? GPNN_OK : status;
}

enum gpnn_status gpnn_scored_compare(struct gpnn_scored_gain *gain, size_t n_targets,
                                     const char *const *names, size_t t, const char *before,
                                     const char *path, const struct gpnn_table_options *options,
                                     struct gpnn_error *err)
{
  struct losses a = {0}, b = {0};
  size_t n = 0;
  *gain = (struct gpnn_scored_gain){0};
  enum gpnn_status status = read_losses(&a, n_targets, names, t, before, options, err);
  if (status == GPNN_OK) status = read_losses(&b, n_targets, names, t, path, options, err);
  if (status == GPNN_OK && a.n != b.n)
    status = gpnn_fail(err, GPNN_EDATA, "%s has %zu rows, %s has %zu", before, a.n, path, b.n);
  for (size_t i = 0; i < a.n && status == GPNN_OK; i++) {
    if (!isfinite(a.nll[i]) || !isfinite(b.nll[i])) continue;
    a.nll[n] = a.nll[i], a.loss[n] = a.loss[i];
    b.nll[n] = b.nll[i], b.loss[n++] = b.loss[i];
  }
  if (status == GPNN_OK && n > 0) {
    gain->n = n;
    gain->nll = gpnn_mean_difference(n, a.nll, b.nll, &gain->nll_error);
    gain->loss = gpnn_mean_difference(n, a.loss, b.loss, &gain->loss_error);
  }
  free(a.nll);
  free(a.loss);
  free(b.nll);
  free(b.loss);
  return status;
}

bool gpnn_scored_gain_is_certain(const struct gpnn_scored_gain *gain)
{
  static const double least = 0.01, chance = 3; /* standard errors */
  return gain->nll > least && gain->nll > chance * gain->nll_error &&
         gain->loss > chance * gain->loss_error;
}

/* ---- the result --------------------------------------------------------------------------- */

static enum gpnn_status finish(struct reading *r, struct gpnn_scored *scored,
                               struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < scored->n_targets && status == GPNN_OK; t++) {
    struct gpnn_scored_target *target = &scored->targets[t];
    struct part *part = &r->parts[t];
    target->has_mean = part->mean != SIZE_MAX;
    target->of_classes = target->has_mean && part->of_classes;
    target->n_scored = part->metrics.n + part->classes.n;
    if (part->metrics.n > 0) status = gpnn_metrics_result(&part->metrics, &target->scores, err);
    if (part->classes.n > 0)
      status = gpnn_classification_result(&part->classes, &target->classes, err);
  }
  return status;
}

enum gpnn_status gpnn_scored_read(struct gpnn_scored *scored, size_t n_targets,
                                  const char *const *names, const char *path,
                                  const struct gpnn_table_options *options, struct gpnn_error *err)
{
  struct reading r = {0};
  scored->targets = calloc(n_targets, sizeof *scored->targets);
  if (scored->targets == NULL) return gpnn_fail_memory(err, "for the targets");
  scored->n_targets = n_targets;
  enum gpnn_status status = begin(&r, n_targets, names, path, options, err);
  if (status == GPNN_OK) status = read_rows(&r, scored, err);
  if (status == GPNN_OK) status = finish(&r, scored, err);
  reading_release(&r, n_targets);
  return status;
}

void gpnn_scored_release(struct gpnn_scored *scored)
{
  free(scored->targets);
  *scored = (struct gpnn_scored){0};
}
