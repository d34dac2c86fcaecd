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
    sheet_text(sheet, name, gpnn_date_write(date, value));
  } else {
    sheet_number(sheet, name, gpnn_axis_shown(axis, value));
  }
}

static enum gpnn_status write_effect(const struct explaining *e, const struct gpnn_axis *axis,
                                     const struct gpnn_effect *effect, const uint64_t *number,
                                     struct gpnn_error *err)
{
  const char *column = e->view->schema.inputs[axis->column->input].name;
  struct sheet sheet;
  sheet_open(&sheet, e->cli, e->a->json);
  if (e->a->json) json_text(&sheet.json, "column", column);
  sheet_lines(&sheet, column,
              number != NULL ? "value,row,effect,lower,upper" : "value,rows,effect,lower,upper",
              "points");
  for (size_t k = 0; k < effect->n; k++) {
    const struct gpnn_effect_point *point = &effect->points[k];
    sheet_begin(&sheet);
    write_value(&sheet, axis, "value", point->value);
    if (number != NULL)
      sheet_number(&sheet, "row", (double)number[point->row]);
    else
      sheet_count(&sheet, "rows", point->row);
    sheet_number(&sheet, "effect", point->effect);
    sheet_number(&sheet, "lower", point->lower);
    sheet_number(&sheet, "upper", point->upper);
    sheet_end(&sheet);
  }
  return sheet_close(&sheet, GPNN_OK, err);
}

/* The one column that -x asks for. */
static enum gpnn_status find_column(const struct explaining *e, struct explain_items *items,
                                    const struct gpnn_explain_column **column,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = explain_find_items(e, items, err);
  if (status == GPNN_OK && (e->a->inputs == NULL || items->n != 1 || items->of[0].group.n != 1))
    status = gpnn_fail(err, GPNN_EINVAL, "an effect is that of one column: name it by -x COL");
  if (status == GPNN_OK) *column = items->members[0];
  return status;
}

enum gpnn_status explain_effect(struct explaining *e, struct gpnn_error *err)
{
  const struct explain_arguments *a = e->a;
  const struct gpnn_effect_options options = {.kind = a->effect,
                                              .n_values = a->points,
                                              .n_rows = a->rows,
                                              .n_draws = a->samples,
                                              .level = a->interval.p[0],
                                              .seed = e->cli->seed};
  struct explain_items items = {0};
  const struct gpnn_explain_column *column = NULL;
  struct gpnn_axis axis = {0};
  struct gpnn_effect effect = {0};
  uint64_t *number = NULL;
  enum gpnn_status status = find_column(e, &items, &column, err);
  if (status == GPNN_OK) status = gpnn_axis_init(&axis, e->channel->dataset, e->view, column, err);
  if (status == GPNN_OK) status = gpnn_effect_find(&effect, e->model, &axis, &options, err);
  if (status == GPNN_OK && a->effect == GPNN_EFFECT_ICE)
    status = explain_number_rows(e, &number, err);
  if (status == GPNN_OK) status = write_effect(e, &axis, &effect, number, err);
  free(effect.points);
  free(number);
  gpnn_axis_release(&axis);
  explain_items_release(&items);
  return status;
}
