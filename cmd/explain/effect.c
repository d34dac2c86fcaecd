/* effect: what a column does to the function that was learnt. */
#include "explain/effect.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/explain/explain.h"
#include "explain/axis.h"
#include "table/date.h"

/* The value of a column as the table has it. */
static void write_value(struct sheet *sheet, const struct gpnn_axis *axis, const char *name,
                        double value)
{
  char date[GPNN_DATE_BYTES];
  size_t length;
  if (axis->kind == GPNN_AXIS_LEVELS) {
    const char *level = gpnn_axis_level(axis, (size_t)value, &length);
    sheet_bytes(sheet, name, level, length);
  } else if (axis->kind == GPNN_AXIS_DATE) {
    sheet_text(sheet, name, gpnn_date_write(date, gpnn_axis_shown(axis, value)));
  } else {
    sheet_number(sheet, name, gpnn_axis_shown(axis, value));
  }
}

/* An effect, and whose it is: of one column, or of two. */
struct described {
  size_t n_axes;
  struct gpnn_axis axes[2];
  const char *names[2];
  struct gpnn_effect effect; /* owned */
  uint64_t *number;          /* owned; of training rows; NULL: it is not of single rows */
};

/* What is above the table: the names of columns, which may be anything, one by one. */
static void write_names(struct sheet *sheet, const struct described *d, const char *count)
{
  const char *const last[] = {count, "effect", "lower", "upper"};
  sheet_begin(sheet);
  for (size_t a = 0; a < d->n_axes; a++) sheet_text(sheet, NULL, d->names[a]);
  for (size_t k = 0; k < sizeof last / sizeof last[0]; k++) sheet_text(sheet, NULL, last[k]);
  sheet_end(sheet);
}

static enum gpnn_status write_effect(const struct explaining *e, const struct described *d,
                                     struct gpnn_error *err)
{
  const char *count = d->number != NULL ? "row" : "rows";
  struct sheet sheet;
  sheet_open(&sheet, e->cli, e->a->json);
  if (e->a->json) {
    json_text(&sheet.json, "column", d->names[0]);
    if (d->n_axes > 1) json_text(&sheet.json, "second_column", d->names[1]);
    sheet_lines(&sheet, "", "points");
  } else {
    write_names(&sheet, d, count);
  }
  for (size_t k = 0; k < d->effect.n; k++) {
    const struct gpnn_effect_point *point = &d->effect.points[k];
    sheet_begin(&sheet);
    write_value(&sheet, &d->axes[0], "value", point->value);
    if (d->n_axes > 1) write_value(&sheet, &d->axes[1], "second", point->second);
    sheet_number(&sheet, count, (double)(d->number != NULL ? d->number[point->row] : point->row));
    sheet_number(&sheet, "effect", point->effect);
    sheet_number(&sheet, "lower", point->lower);
    sheet_number(&sheet, "upper", point->upper);
    sheet_end(&sheet);
  }
  return sheet_close(&sheet, GPNN_OK, err);
}

/* Checks that -x asks for one column, or for two that have a surface. */
static enum gpnn_status check_columns(const struct explaining *e, const struct explain_items *items,
                                      struct gpnn_error *err)
{
  bool are_single = true;
  for (size_t k = 0; k < items->n; k++) are_single = are_single && items->of[k].group.n == 1;
  if (e->a->inputs == NULL || items->n > 2 || !are_single)
    return gpnn_fail(err, GPNN_EINVAL,
                     "an effect is that of one column: name it by -x COL, or two by -x COL,COL");
  if (items->n == 2 && cli_given(e->cli, "kind") && e->a->effect != GPNN_EFFECT_PDP)
    return gpnn_fail(err, GPNN_EINVAL, "the effect of two columns is of --kind pdp alone");
  return GPNN_OK;
}

static enum gpnn_status find_effect(const struct explaining *e, struct described *d,
                                    struct gpnn_error *err)
{
  enum { USUAL = 30, SURFACE = 10 };
  const struct explain_arguments *a = e->a;
  bool of_two = d->n_axes > 1;
  const struct gpnn_effect_options options = {.kind = of_two ? GPNN_EFFECT_PDP : a->effect,
                                              .n_values = a->points > 0 ? a->points
                                                          : of_two      ? SURFACE
                                                                        : USUAL,
                                              .n_rows = a->rows,
                                              .n_draws = a->samples,
                                              .level = a->interval.p[0],
                                              .seed = e->cli->seed};
  enum gpnn_status status = gpnn_effect_find(&d->effect, e->model, &d->axes[0],
                                             of_two ? &d->axes[1] : NULL, &options, err);
  if (status == GPNN_OK && options.kind == GPNN_EFFECT_ICE)
    status = explain_number_rows(e, &d->number, err);
  return status;
}

enum gpnn_status explain_effect(struct explaining *e, struct gpnn_error *err)
{
  struct explain_items items = {0};
  struct described d = {0};
  enum gpnn_status status = explain_find_items(e, &items, err);
  if (status == GPNN_OK) status = check_columns(e, &items, err);
  for (; d.n_axes < items.n && status == GPNN_OK; d.n_axes++) {
    const struct gpnn_explain_column *column = items.members[d.n_axes];
    status = gpnn_axis_init(&d.axes[d.n_axes], e->channel->dataset, e->view, column, err);
    if (status == GPNN_OK) d.names[d.n_axes] = e->view->schema.inputs[column->input].name;
  }
  if (status == GPNN_OK) status = find_effect(e, &d, err);
  if (status == GPNN_OK) status = write_effect(e, &d, err);
  free(d.effect.points);
  free(d.number);
  for (size_t a = 0; a < 2; a++) gpnn_axis_release(&d.axes[a]);
  explain_items_release(&items);
  return status;
}
