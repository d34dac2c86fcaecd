#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/json.h"
#include "cmd/eval/scores_private.h"
#include "stats/sum.h"
#include "table/stream.h"

struct writer {
  struct scores *scores;
  const struct scores_form *form;
  struct gpnn_output *output;
  struct scores_row row;
  struct scores_row header; /* the columns of the table of metrics */
  struct scores_parts parts;
  struct json json; /* owned */
  bool has_header;
};

/* ---- rows --------------------------------------------------------------------------------- */

static const struct gpnn_predictions_classes *classes_of(const struct writer *w, size_t t)
{
  return w->scores->predictions->targets[t].classes;
}

/* Prepares the table of target 't' in a group, of w->parts.n rows. */
static enum gpnn_status prepare(struct writer *w, struct scores_group *group, size_t t,
                                struct gpnn_error *err)
{
  struct scores_cell *cell = &group->cells[t];
  scores_parts_release(&w->parts);
  w->parts.n = 1;
  if (w->form->table == SCORES_METRICS) return GPNN_OK;
  w->parts.n = 0;
  return cell->classes == NULL
             ? scores_prepare_numbers(&w->parts, w->form, cell, err)
             : scores_prepare_classes(&w->parts, w->form, cell, classes_of(w, t), err);
}

/* Fills w->row with row 'i' of the table that was prepared. */
static enum gpnn_status list_row(struct writer *w, struct scores_group *group, size_t t, size_t i,
                                 struct gpnn_error *err)
{
  struct scores_cell *cell = &group->cells[t];
  bool is_class = cell->classes != NULL;
  w->row.n = 0;
  if (w->form->table == SCORES_METRICS)
    return is_class ? scores_list_classes(cell, classes_of(w, t), &w->row, err)
                    : scores_list_numbers(w->scores, w->form, group, t, &w->row, err);
  if (is_class)
    return scores_row_of_classes(&w->parts, w->form, cell, classes_of(w, t), i, &w->row, err);
  scores_row_of_numbers(&w->parts, w->form, cell, i, &w->row);
  return GPNN_OK;
}

/* The value called 'name' of a row, probably the one 'at' that place; NULL: it has none. */
static const struct scores_value *find_value(const struct scores_row *row, const char *name,
                                             size_t at)
{
  if (at < row->n && strcmp(row->values[at].name, name) == 0) return &row->values[at];
  for (size_t i = 0; i < row->n; i++)
    if (strcmp(row->values[i].name, name) == 0) return &row->values[i];
  return NULL;
}

/* Adds the names of the metrics of a cell to the header, which has those of all: numbers and
 * classes, of one table, have different ones. */
static enum gpnn_status add_names(struct writer *w, struct scores_group *group, size_t t,
                                  struct gpnn_error *err)
{
  if (scores_count(&group->cells[t]) == 0) return GPNN_OK;
  enum gpnn_status status = list_row(w, group, t, 0, err);
  for (size_t i = 0; i < w->row.n && status == GPNN_OK; i++)
    if (find_value(&w->header, w->row.values[i].name, i) == NULL)
      scores_put(&w->header, w->row.values[i].name, NAN);
  return status;
}

static enum gpnn_status find_names(struct writer *w, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  struct scores *s = w->scores;
  for (size_t t = 0; t < s->predictions->n_targets && status == GPNN_OK; t++) {
    if (w->form->by == NULL) status = add_names(w, &s->all, t, err);
    for (size_t i = 0; i < s->n_groups && status == GPNN_OK; i++)
      status = add_names(w, &s->groups[i], t, err);
  }
  return status;
}

/* The mean of each metric over the targets that have it, into w->row. */
static enum gpnn_status list_mean(struct writer *w, struct gpnn_error *err)
{
  struct gpnn_sum sums[SCORES_VALUES] = {{0}};
  size_t n[SCORES_VALUES] = {0};
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < w->scores->predictions->n_targets && status == GPNN_OK; t++) {
    if (scores_count(&w->scores->all.cells[t]) == 0) continue;
    status = list_row(w, &w->scores->all, t, 0, err);
    for (size_t i = 0; i < w->header.n && status == GPNN_OK; i++) {
      const struct scores_value *value = find_value(&w->row, w->header.values[i].name, i);
      if (value == NULL) continue;
      gpnn_sum_add(&sums[i], value->value);
      n[i]++;
    }
  }
  w->row.n = 0;
  for (size_t i = 0; i < w->header.n; i++)
    scores_put(&w->row, w->header.values[i].name, gpnn_sum_mean(&sums[i], n[i]));
  return status;
}

/* True if a mean over targets is meaningful: for metrics of several targets, over all rows. */
static bool has_mean(const struct writer *w)
{
  return w->scores->predictions->n_targets > 1 && w->form->table == SCORES_METRICS &&
         w->form->by == NULL;
}

/* ---- text --------------------------------------------------------------------------------- */

static enum gpnn_status write_value(struct writer *w, char delimiter,
                                    const struct scores_value *value, struct gpnn_error *err)
{
  if (value != NULL && value->text.text != NULL)
    return gpnn_table_write_field(w->output, delimiter, value->text.text, value->text.length, err);
  return gpnn_table_write_number(w->output, delimiter, value == NULL ? NAN : value->value,
                                 w->form->na, err);
}

/* Writes a line of a name, made of two parts, and a value. */
static enum gpnn_status write_line(struct writer *w, const char *what, struct gpnn_field of,
                                   double value, struct gpnn_error *err)
{
  size_t length = strlen(what);
  char *name = gpnn_alloc(length + of.length, 1, 1);
  if (name == NULL) return gpnn_fail_memory(err, "for the names of the classes");
  memcpy(name, what, length);
  if (of.length > 0) memcpy(name + length, of.text, of.length);
  enum gpnn_status status = gpnn_table_write_field(w->output, '\t', name, length + of.length, err);
  free(name);
  if (status == GPNN_OK) status = gpnn_output_text(w->output, "\t", err);
  if (status == GPNN_OK) status = gpnn_table_write_number(w->output, '\t', value, w->form->na, err);
  return status == GPNN_OK ? gpnn_output_text(w->output, "\n", err) : status;
}

/* What became of each class of the only target. */
static enum gpnn_status write_class_lines(struct writer *w,
                                          const struct gpnn_predictions_classes *names,
                                          struct gpnn_error *err)
{
  const struct scores_cell *cell = &w->scores->all.cells[0];
  size_t n = gpnn_predictions_n_classes(names);
  struct gpnn_confusion_class *classes = gpnn_alloc(n, 1, sizeof *classes);
  enum gpnn_status status = GPNN_OK;
  if (classes == NULL) return gpnn_fail_memory(err, "for the classes");
  gpnn_confusion_classes(&cell->classes->confusion, n, classes);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    size_t c = gpnn_predictions_class_at(names, i);
    struct gpnn_field name = gpnn_predictions_class_name(names, c);
    status = write_line(w, "n_", name, (double)classes[c].n_true, err);
    if (status == GPNN_OK) status = write_line(w, "precision_", name, classes[c].precision, err);
    if (status == GPNN_OK) status = write_line(w, "recall_", name, classes[c].recall, err);
  }
  free(classes);
  return status;
}

static enum gpnn_status write_lines(struct writer *w, struct gpnn_error *err)
{
  const struct gpnn_predictions_classes *names = classes_of(w, 0);
  enum gpnn_status status = list_row(w, &w->scores->all, 0, 0, err);
  for (size_t i = 0; i < w->row.n && status == GPNN_OK; i++)
    status = write_line(w, w->row.values[i].name, (struct gpnn_field){NULL, 0},
                        w->row.values[i].value, err);
  return status == GPNN_OK && names != NULL ? write_class_lines(w, names, err) : status;
}

/* Writes the target or group that a row is about, and a delimiter. */
static enum gpnn_status write_key(struct writer *w, const char *text, size_t length,
                                  struct gpnn_error *err)
{
  enum gpnn_status status =
      gpnn_table_write_field(w->output, w->form->delimiter, text, length, err);
  return status == GPNN_OK ? gpnn_output_write(w->output, &w->form->delimiter, 1, err) : status;
}

/* Writes the values of w->row that 'columns' names, or these names, after the keys; a NULL key is
 * left out. */
static enum gpnn_status write_record(struct writer *w, const struct scores_row *columns,
                                     const char *target, const char *group, size_t group_length,
                                     bool header, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (target != NULL) status = write_key(w, target, strlen(target), err);
  if (status == GPNN_OK && group != NULL) status = write_key(w, group, group_length, err);
  for (size_t i = 0; i < columns->n && status == GPNN_OK; i++) {
    const char *name = columns->values[i].name;
    if (i > 0) status = gpnn_output_write(w->output, &w->form->delimiter, 1, err);
    if (status != GPNN_OK) break;
    status = header ? gpnn_output_text(w->output, name, err)
                    : write_value(w, w->form->delimiter, find_value(&w->row, name, i), err);
  }
  return status == GPNN_OK ? gpnn_output_text(w->output, "\n", err) : status;
}

/* Writes the header that goes with w->row, unless it was written before. */
static enum gpnn_status write_header(struct writer *w, const struct scores_row *columns,
                                     const char *target, struct gpnn_error *err)
{
  const char *by = w->form->by;
  if (w->has_header) return GPNN_OK;
  w->has_header = true;
  return write_record(w, columns, target == NULL ? NULL : "target", by, by == NULL ? 0 : strlen(by),
                      true, err);
}

static enum gpnn_status write_cell(struct writer *w, size_t t, struct scores_group *group,
                                   struct gpnn_error *err)
{
  const char *target = w->scores->predictions->targets[t].name;
  const struct scores_row *columns = w->form->table == SCORES_METRICS ? &w->header : &w->row;
  if (scores_count(&group->cells[t]) == 0) return GPNN_OK;
  enum gpnn_status status = prepare(w, group, t, err);
  if (status == GPNN_OK) status = list_row(w, group, t, 0, err);
  if (status == GPNN_OK) status = write_header(w, columns, target, err);
  for (size_t i = 0; i < w->parts.n && status == GPNN_OK; i++) {
    if (i > 0) status = list_row(w, group, t, i, err);
    if (status == GPNN_OK)
      status = write_record(w, columns, target, group->name, group->name_length, false, err);
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
  return status == GPNN_OK ? write_record(w, &w->header, "mean", NULL, 0, false, err) : status;
}

/* ---- JSON --------------------------------------------------------------------------------- */

/* The members of w->row; missing values are null. */
static void json_row(struct writer *w)
{
  for (size_t i = 0; i < w->row.n; i++) {
    const struct scores_value *v = &w->row.values[i];
    if (v->text.text != NULL)
      json_bytes(&w->json, v->name, v->text.text, v->text.length);
    else
      json_number(&w->json, v->name, v->value);
  }
}

/* What became of each class, as an object. */
static enum gpnn_status json_classes(struct writer *w, const struct scores_cell *cell,
                                     const struct gpnn_predictions_classes *names,
                                     struct gpnn_error *err)
{
  size_t n = gpnn_predictions_n_classes(names);
  struct gpnn_confusion_class *classes = gpnn_alloc(n, 1, sizeof *classes);
  if (classes == NULL) return gpnn_fail_memory(err, "for the classes");
  gpnn_confusion_classes(&cell->classes->confusion, n, classes);
  json_open(&w->json, "classes", '{');
  for (size_t i = 0; i < n; i++) {
    size_t c = gpnn_predictions_class_at(names, i);
    json_open(&w->json, gpnn_predictions_class_name(names, c).text, '{');
    json_count(&w->json, "n", classes[c].n_true);
    json_number(&w->json, "precision", classes[c].precision);
    json_number(&w->json, "recall", classes[c].recall);
    json_close(&w->json, '}');
  }
  json_close(&w->json, '}');
  free(classes);
  return GPNN_OK;
}

/* A cell: its metrics as members, or one member with the rows of the table. */
static enum gpnn_status json_cell(struct writer *w, size_t t, struct scores_group *group,
                                  struct gpnn_error *err)
{
  static const char *const names[] = {[SCORES_RELIABILITY] = "reliability",
                                      [SCORES_PIT] = "pit",
                                      [SCORES_CONFUSION] = "confusion",
                                      [SCORES_CLASSES] = "classes",
                                      [SCORES_ROC] = "roc"};
  bool one = w->form->table == SCORES_METRICS;
  enum gpnn_status status = prepare(w, group, t, err);
  if (!one) json_open(&w->json, names[w->form->table], '[');
  for (size_t i = 0; i < w->parts.n && status == GPNN_OK; i++) {
    status = list_row(w, group, t, i, err);
    if (!one) json_open(&w->json, NULL, '{');
    if (status == GPNN_OK) json_row(w);
    if (!one) json_close(&w->json, '}');
  }
  if (!one) json_close(&w->json, ']');
  if (status == GPNN_OK && one && group->cells[t].classes != NULL)
    status = json_classes(w, &group->cells[t], classes_of(w, t), err);
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
    if (scores_count(&group->cells[t]) == 0) continue;
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
    if (scores_count(&w->scores->all.cells[t]) == 0) continue;
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
  struct writer *w = gpnn_alloc(1, 1, sizeof *w); /* large, and stacks may be small */
  if (w == NULL) return gpnn_fail_memory(err, "for a table of scores");
  *w = (struct writer){.scores = scores, .form = form, .output = output};
  enum gpnn_status status = GPNN_OK;
  if (form->table == SCORES_METRICS && !lines) status = find_names(w, err);
  if (status == GPNN_OK)
    status = form->json ? write_json(w, err) : lines ? write_lines(w, err) : write_table(w, err);
  json_release(&w->json);
  scores_parts_release(&w->parts);
  free(w);
  return status;
}
