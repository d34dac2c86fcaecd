#include "cmd/common/modelled.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "cmd/common/open.h"
#include "kernel/effects.h"

/* What such a model cannot be made of, and what can. */
static enum gpnn_status check(const struct gpnn_dataset *view, struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  gpnn_schema_column_name(&view->schema.target, name);
  if (gpnn_dataset_n_classes(view) > 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s' holds classes, which a model file cannot predict: use gpnn-fit",
                     name);
  if (view->exposure != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s' is a count with an exposure, which a model file cannot predict: "
                     "use gpnn-fit",
                     name);
  if (view->offset != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "rows have offsets, which a model file does not take: use gpnn-fit");
  if (gpnn_dataset_has_effects(view))
    return gpnn_fail(err, GPNN_EDATA,
                     "groups of rows have effects, which a model file does not take: use gpnn-fit");
  if (view->noise != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "rows have noise variances of their own, which a model file does not take: "
                     "use gpnn-fit");
  if (view->n_regressors > 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "there are regressors, which a model file does not take: use gpnn-fit, or "
                     "make the index without --regressors, where they are inputs");
  return GPNN_OK;
}

/* The parameters of one of several targets have its name. */
static enum gpnn_status check_all(const struct gpnn_index *index, size_t n,
                                  const struct gpnn_dataset *const *views, struct gpnn_error *err)
{
  bool is_named = gpnn_dataset_n_targets(gpnn_index_dataset(index)) > 1;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    status = check(views[t], err);
    if (status == GPNN_OK && is_named)
      status = gpnn_parameters_check_target(views[t]->schema.target.name, err);
    if (status != GPNN_OK) status = gpnn_prefix(err, status, "%s", gpnn_index_path(index));
  }
  return status;
}

/* Appends the view of the target whose name these bytes are. */
static enum gpnn_status find(const struct gpnn_dataset *dataset, const char *name, size_t length,
                             size_t *n, const struct gpnn_dataset **views, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  for (size_t t = 0; t < gpnn_dataset_n_targets(dataset); t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(dataset, t);
    const char *own = view->schema.target.name;
    if (strlen(own) != length || memcmp(own, name, length) != 0) continue;
    for (size_t i = 0; i < *n; i++)
      if (views[i] == view)
        return gpnn_fail(err, GPNN_EINVAL, "option --targets: '%s' is there twice",
                         gpnn_mask(shown, name, length));
    views[(*n)++] = view;
    return GPNN_OK;
  }
  return gpnn_fail(err, GPNN_EINVAL, "option --targets: '%s' is not one of the targets",
                   gpnn_mask(shown, name, length));
}

static enum gpnn_status find_all(const struct gpnn_dataset *dataset, const char *names, size_t *n,
                                 const struct gpnn_dataset **views, struct gpnn_error *err)
{
  const char *name, *rest = names;
  size_t length;
  *n = 0;
  if (names == NULL)
    for (; *n < gpnn_dataset_n_targets(dataset); (*n)++)
      views[*n] = gpnn_dataset_target(dataset, *n);
  while ((name = gpnn_list_next(&rest, &length)) != NULL) {
    enum gpnn_status status = find(dataset, name, length, n, views, err);
    if (status != GPNN_OK) return status;
  }
  return GPNN_OK;
}

enum gpnn_status modelled_targets(const struct gpnn_index *index, const char *names,
                                  const char *advice, size_t *n, const struct gpnn_dataset ***views,
                                  struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  enum gpnn_status status = open_refuse_grid(index, advice, err);
  if (status == GPNN_OK)
    status = open_refuse_model(index, "model the index that it was made from", err);
  if (status != GPNN_OK) return status;
  size_t found;
  const struct gpnn_dataset **all =
      gpnn_alloc(gpnn_dataset_n_targets(dataset), 1, sizeof(const struct gpnn_dataset *));
  if (all == NULL) return gpnn_fail_memory(err, "for the targets");
  status = find_all(dataset, names, &found, all, err);
  if (status == GPNN_OK) status = check_all(index, found, all, err);
  if (status != GPNN_OK) {
    free(all);
    return status;
  }
  *n = found;
  *views = all;
  return GPNN_OK;
}

enum gpnn_status modelled_name_target(const struct gpnn_dataset *dataset,
                                      const struct gpnn_dataset *view,
                                      struct gpnn_parameters *params, struct gpnn_error *err)
{
  const char *name = view->schema.target.name;
  if (gpnn_dataset_n_targets(dataset) == 1) return GPNN_OK;
  params->target = gpnn_copy_text(name, strlen(name));
  return params->target == NULL ? gpnn_fail_memory(err, "for the parameters") : GPNN_OK;
}
