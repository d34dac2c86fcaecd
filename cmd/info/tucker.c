#include "cmd/info/tucker.h"

#include "dataset/stored.h"
#include "models/tucker/fit.h"
#include "models/tucker/tucker.h"

static const struct gpnn_state_array *find(const struct gpnn_dataset *view, const char *name)
{
  return gpnn_state_find(view->stored->arrays, view->schema.target.name, name);
}

/* A line of all numbers of an array. */
static void put_numbers(struct facts *facts, const struct gpnn_dataset *view, const char *name)
{
  const struct gpnn_state_array *array = find(view, name);
  if (array == NULL) return;
  facts_open_row(facts, name, '[');
  for (size_t i = 0; i < array->n; i++) facts_number(facts, NULL, array->values[i]);
  facts_close_row(facts, ']');
}

static void put_number(struct facts *facts, const struct gpnn_dataset *view, const char *name)
{
  const struct gpnn_state_array *array = find(view, name);
  if (array != NULL && array->n == 1) facts_number(facts, name, array->values[0]);
}

static double product(const struct gpnn_state_array *array)
{
  double points = 1;
  for (size_t i = 0; i < array->n; i++) points *= array->values[i];
  return points;
}

void info_put_tucker(struct facts *facts, const struct gpnn_dataset *view)
{
  const struct gpnn_state_array *sizes = find(view, GPNN_TUCKER_GRID_SIZE);
  if (sizes == NULL) return;
  put_numbers(facts, view, GPNN_TUCKER_GRID_SIZE);
  facts_number(facts, "grid-points", product(sizes));
  put_numbers(facts, view, GPNN_TUCKER_RANK);
  put_number(facts, view, GPNN_TUCKER_BOUND);
  put_number(facts, view, GPNN_TUCKER_SHRINKAGE);
  facts_text(facts, "variance",
             find(view, GPNN_TUCKER_RESIDUAL_VARIANCE) == NULL ? "variational" : "residual");
  put_number(facts, view, GPNN_TUCKER_RESIDUAL_VARIANCE);
}
