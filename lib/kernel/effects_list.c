/* The effects of groups one by one, for people who want to know them. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "kernel/effects.h"
#include "linalg/blas_threads.h"

/* Effects that are being listed. */
struct listing {
  const struct gpnn_dataset *dataset;
  const struct gpnn_effects *effects;
  struct gpnn_effect_design design; /* owned */
  struct gpnn_sparse_factor factor; /* that of the posterior, but for the inverse */
  size_t *rows;                     /* owned; n_columns of the design: training rows that have it */
  struct gpnn_effect_entry *entries;
  size_t n;
};

static enum gpnn_status count_rows(struct listing *list, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = list->dataset;
  uint32_t *columns = gpnn_alloc(list->design.n_numbers, 1, sizeof *columns);
  double *values = gpnn_alloc(list->design.n_numbers, 1, sizeof *values);
  bool enough = columns != NULL && values != NULL;
  for (size_t i = 0; i < data->n && enough; i++) {
    size_t n = gpnn_effect_design_row(&list->design, data->x + i * data->d, columns, values);
    for (size_t k = 0; k < n; k++) list->rows[columns[k]]++;
  }
  free(columns);
  free(values);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the effects");
}

/* Lists the groups of one effect. */
static enum gpnn_status add_groups(struct listing *list, size_t effect, struct gpnn_error *err)
{
  const struct gpnn_effect_groups *groups = &list->design.groups[effect];
  size_t n_terms = groups->slope == SIZE_MAX ? 1 : groups->width;
  for (size_t g = 0; g < groups->n; g++)
    for (size_t k = 0; k < n_terms; k++) {
      size_t column = groups->first + g * groups->width + k;
      double unit = gpnn_effects_unit(list->dataset, effect, k > 0);
      double variance =
          list->effects->unit * gpnn_sparse_factor_inverse_at(&list->factor, column, column);
      struct gpnn_effect_entry entry = {.effect = effect,
                                        .is_slope = k > 0,
                                        .n_rows = list->rows[column],
                                        .estimate = unit * list->effects->posterior->mean[column],
                                        .sd = unit * sqrt(variance)};
      if (!gpnn_effect_group_levels(&list->design, &list->dataset->schema, effect, g, entry.levels))
        return gpnn_fail(err, GPNN_EFORMAT, "there are effects of groups that there are not");
      list->entries[list->n++] = entry;
    }
  return GPNN_OK;
}

/* Makes what is looked at group by group.  The inverse takes less than solving for each. */
static enum gpnn_status prepare(struct listing *list, struct gpnn_error *err)
{
  size_t n_columns = list->design.n_columns;
  list->factor = list->effects->posterior->factor;
  list->factor.inverse = NULL;
  list->rows = gpnn_alloc(n_columns, 1, sizeof *list->rows);
  list->entries = gpnn_alloc(n_columns, 1, sizeof *list->entries);
  if (list->rows == NULL || list->entries == NULL) return gpnn_fail_memory(err, "for the effects");
  if (gpnn_blas_claim(1) < 1) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  return gpnn_sparse_factor_inverse(&list->factor, err);
}

enum gpnn_status gpnn_effects_list(const struct gpnn_dataset *dataset,
                                   const struct gpnn_effects *effects,
                                   struct gpnn_effect_entry **entries, size_t *n,
                                   struct gpnn_error *err)
{
  struct listing list = {.dataset = dataset, .effects = effects};
  enum gpnn_status status = gpnn_effect_design_of(&list.design, dataset, effects, err);
  if (status == GPNN_OK) status = prepare(&list, err);
  if (status == GPNN_OK) status = count_rows(&list, err);
  for (size_t e = 0; e < list.design.n_effects && status == GPNN_OK; e++)
    status = add_groups(&list, e, err);
  gpnn_effect_design_release(&list.design);
  free(list.factor.inverse);
  free(list.rows);
  if (status == GPNN_OK) {
    *entries = list.entries;
    *n = list.n;
  } else {
    free(list.entries);
  }
  return status;
}
