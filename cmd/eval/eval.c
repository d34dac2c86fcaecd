#include "cmd/eval/eval.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/common/open.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/eval/monitor.h"
#include "dataset/index/index.h"
#include "table/columns.h"

struct run {
  const struct cli *cli;
  const struct eval_arguments *a;
  struct gpnn_table *table;
  struct gpnn_output *output;
  struct gpnn_predictions predictions;
  size_t by;
  struct scores_form form;
  struct scores scores;
  size_t n_read;
  size_t *n_left_out; /* owned: for each target */
  struct monitor monitor;
};

/* ---- options ------------------------------------------------------------------------------ */

/* What --table, --bins, --levels and --interval mean together. */
bool eval_resolve(const struct cli *cli, void *arguments)
{
  static const struct cli_probabilities usual = {5, {0.5, 0.8, 0.9, 0.95, 0.99}};
  static const struct cli_probabilities many = {20, {0.05, 0.1,  0.15, 0.2,  0.25, 0.3,  0.35,
                                                     0.4,  0.45, 0.5,  0.55, 0.6,  0.65, 0.7,
                                                     0.75, 0.8,  0.85, 0.9,  0.95, 0.99}};
  struct eval_arguments *a = arguments;
  struct scores_form *form = &a->form;
  if (!monitor_resolve(cli, a)) return false;
  if (a->bins > 0 && form->table != SCORES_PIT) return cli_refuse(cli, "--bins is for --table pit");
  if (a->interval.n > 1)
    return cli_refuse(cli, "option --interval: one probability, that of 'lower' and 'upper'");
  if (a->levels.n == 0) a->levels = form->table == SCORES_RELIABILITY ? many : usual;
  form->bins = a->bins > 0 ? a->bins : 20;
  form->interval_level = a->interval.n > 0 ? a->interval.p[0] : NAN;
  form->na = cli->na;
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, a->index);
}

/* ---- columns ------------------------------------------------------------------------------ */

static bool has_plain_interval(const struct gpnn_predictions_target *target)
{
  for (size_t i = 0; i < target->n_intervals; i++)
    if (isnan(target->intervals[i].level)) return true;
  return false;
}

/* The first target that is a number; NULL: there is none. */
static const struct gpnn_predictions_target *first_number(const struct gpnn_predictions *p)
{
  for (size_t t = 0; t < p->n_targets; t++)
    if (p->targets[t].classes == NULL) return &p->targets[t];
  return NULL;
}

/* The first target that is classes; NULL: there is none. */
static const struct gpnn_predictions_target *first_class(const struct gpnn_predictions *p)
{
  for (size_t t = 0; t < p->n_targets; t++)
    if (p->targets[t].classes != NULL) return &p->targets[t];
  return NULL;
}

static enum gpnn_status check_numbers(const struct run *r,
                                      const struct gpnn_predictions_target *target,
                                      const char *name, struct gpnn_error *err)
{
  enum scores_table table = r->form.table;
  if (table == SCORES_CONFUSION || table == SCORES_ROC || table == SCORES_CLASSES)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: this --table is for classes, but there are predictions of numbers", name);
  if (table != SCORES_METRICS && !target->has_sd)
    return gpnn_fail(err, GPNN_EINVAL, "%s: --table needs standard deviations, but there are none",
                     name);
  if (r->a->interval.n > 0 && !has_plain_interval(target))
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: no columns 'lower' and 'upper' after the mean for --interval", name);
  if (r->a->index != NULL && target->name != NULL)
    return gpnn_fail(err, GPNN_EINVAL, "%s: --index is for predictions of one target", name);
  return GPNN_OK;
}

/* 'classes' are those of the first target that has any. */
static enum gpnn_status check_classes(const struct run *r,
                                      const struct gpnn_predictions_classes *classes,
                                      const char *name, struct gpnn_error *err)
{
  const char *misplaced = cli_misplaced(r->cli, CLI_OF_NUMBERS);
  enum scores_table table = r->form.table;
  if (table == SCORES_PIT)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: --table pit is for numbers, but there are predictions of classes", name);
  if ((table == SCORES_ROC && gpnn_predictions_n_probabilities(classes) == 0) ||
      (table == SCORES_RELIABILITY && !gpnn_predictions_has_top(classes)))
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: this --table needs probabilities, but there are no columns p_NAME", name);
  if (misplaced == NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "%s: --%s is for numbers, but there are predictions of classes", name,
                   misplaced);
}

/* Whether the columns suit the options. */
static enum gpnn_status check_columns(const struct run *r, const char *name, struct gpnn_error *err)
{
  const struct gpnn_predictions_target *number = first_number(&r->predictions);
  const struct gpnn_predictions_target *class = first_class(&r->predictions);
  enum gpnn_status status = GPNN_OK;
  if (r->form.table != SCORES_METRICS && number != NULL && class != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: predictions of numbers and of classes: --table is for one kind", name);
  if (number != NULL) status = check_numbers(r, number, name, err);
  if (number == NULL) status = check_classes(r, class->classes, name, err);
  return status;
}

static enum gpnn_status find_columns(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_predictions_find(&r->predictions, r->table, &r->a->columns, err);
  if (status == GPNN_OK && r->a->by != NULL) {
    status = gpnn_columns_find(r->table, r->a->by, &r->by, err);
    if (status == GPNN_OK) r->form.by = gpnn_table_column(r->table, r->by);
  }
  if (status == GPNN_OK && r->a->monitor != NULL)
    status = monitor_find(&r->monitor, &r->predictions, r->table, err);
  if (status != GPNN_OK) return status;
  return check_columns(r, gpnn_table_name(r->table), err);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Counts the part of a record that is of target 't'.  GPNN_END: there is nothing to count. */
static enum gpnn_status count_target(struct run *r, size_t t, const struct gpnn_record *record,
                                     struct gpnn_error *err)
{
  struct gpnn_predictions_target *target = &r->predictions.targets[t];
  const struct gpnn_field *group = r->a->by == NULL ? NULL : &record->fields[r->by];
  struct gpnn_predictions_row number;
  struct gpnn_predictions_class_row class;
  bool is_class = target->classes != NULL;
  enum gpnn_status status = is_class
                                ? gpnn_predictions_read_class(target, r->table, record, &class, err)
                                : gpnn_predictions_read(target, r->table, record, &number, err);
  if (status != GPNN_OK) return status;
  status = is_class ? scores_add_class(&r->scores, t, group, &class, err)
                    : scores_add(&r->scores, t, group, &number, err);
  if (status != GPNN_EDATA) return status;
  return gpnn_prefix(err, status, "%s%s%zu", gpnn_table_name(r->table),
                     gpnn_table_before_line(r->table), record->line);
}

static enum gpnn_status read_row(struct run *r, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = gpnn_table_next(r->table, &record, err);
  if (status != GPNN_OK) return status;
  r->n_read++;
  if (r->a->monitor != NULL)
    status = monitor_count(&r->monitor, &r->predictions, r->table, &record, err);
  if (status != GPNN_OK) return status;
  for (size_t t = 0; t < r->predictions.n_targets; t++) {
    status = count_target(r, t, &record, err);
    if (status == GPNN_END)
      r->n_left_out[t]++;
    else if (status != GPNN_OK)
      return status;
  }
  return GPNN_OK;
}

/* Warns about classes and probabilities that are not as they should be. */
static void check_probabilities(const struct cli *about, const char *table,
                                const struct gpnn_classification *c)
{
  if (c->n_unseen > 0)
    cli_warn(about,
             "%s: %zu rows are of a class without a column p_NAME: they count in error alone",
             table, c->n_unseen);
  if (c->n_floored > 0)
    cli_warn(about, "%s: %zu rows give their class a probability of 0, in nll taken as %g", table,
             c->n_floored, GPNN_CLASSIFICATION_FLOOR);
  if (c->n_unequal > 0)
    cli_warn(about, "%s: the probabilities of %zu rows do not sum to 1", table, c->n_unequal);
}

/* Reports rows left out; an error if no row remains. */
static enum gpnn_status check_rows(struct run *r, struct gpnn_error *err)
{
  bool any = false;
  struct cli about = *r->cli;
  for (size_t t = 0; t < r->predictions.n_targets; t++) {
    const struct scores_cell *cell = &r->scores.all.cells[t];
    any = any || scores_count(cell) > 0;
    about.target = r->predictions.targets[t].name;
    table_warn_left_out(&about, r->table, r->n_left_out[t], "truth or prediction");
    if (cell->classes != NULL)
      check_probabilities(&about, gpnn_table_name(r->table), cell->classes);
  }
  if (any) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%s: no row with a truth and a prediction",
                   gpnn_table_name(r->table));
}

/* ---- the tool ----------------------------------------------------------------------------- */

static enum gpnn_status prepare(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (r->a->index != NULL) {
    struct gpnn_index *index = NULL;
    status = gpnn_index_open(&index, r->a->index, false, err);
    if (status == GPNN_OK) r->form.y_sd = gpnn_index_dataset(index)->scaling.y_sd;
    gpnn_index_close(index);
  }
  if (status == GPNN_OK)
    status = gpnn_table_open(&r->table, cli_operand(r->cli, 0), &r->cli->table, err);
  if (status == GPNN_OK) status = find_columns(r, err);
  if (status == GPNN_OK)
    status = scores_init(&r->scores, &r->predictions, &r->a->levels, r->form.table, err);
  if (status != GPNN_OK) return status;
  char delimiter = gpnn_table_delimiter(r->table);
  r->form.delimiter = delimiter == ' ' ? '\t' : delimiter;
  r->n_left_out = gpnn_alloc(r->predictions.n_targets, 1, sizeof *r->n_left_out);
  return r->n_left_out != NULL ? GPNN_OK : gpnn_fail_memory(err, "for the targets");
}

static enum gpnn_status evaluate(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = prepare(r, err);
  while (status == GPNN_OK) {
    progress_rows_read(r->n_read, gpnn_input_share(gpnn_table_input(r->table)));
    status = read_row(r, err);
  }
  if (status != GPNN_END) return status;
  table_warn_if_torn(r->cli, r->table);
  status = check_rows(r, err);
  if (status == GPNN_OK && r->a->monitor != NULL)
    return monitor_finish(&r->monitor, r->cli, r->a,
                          gpnn_table_column(r->table, r->predictions.targets[0].truth), r->n_read,
                          &r->scores.all.cells[0], err);
  if (status == GPNN_OK) status = cli_open_output(r->cli->output, &r->output, err);
  if (status == GPNN_OK) status = scores_write(&r->scores, &r->form, r->output, err);
  return cli_close_output(r->output, status, err);
}

static void release(struct run *r)
{
  free(r->n_left_out);
  scores_release(&r->scores);
  gpnn_predictions_release(&r->predictions);
  gpnn_table_close(r->table);
}

enum gpnn_status eval_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct eval_arguments *a = arguments;
  struct run r = {.cli = cli, .a = a, .form = a->form};
  enum gpnn_status status = evaluate(&r, err);
  release(&r);
  return status;
}
