#include "dataset/dataset.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/dataset_private.h"
#include "stats/moments.h"
#include "stats/transform.h"

/* ---- targets ------------------------------------------------------------------------------ */

/* The views share everything that does not depend on the target. */
enum gpnn_status gpnn_dataset_set_views(struct gpnn_dataset_source *source,
                                        struct gpnn_dataset *first, struct gpnn_error *err)
{
  size_t n = first->n, c = first->n_calibration;
  source->first = first;
  source->views = gpnn_alloc(first->n_more, 1, sizeof *source->views);
  if (source->views == NULL) return gpnn_fail_memory(err, "for the targets of an index");
  first->target = 0;
  first->source = source;
  for (size_t t = 0; t < first->n_more; t++) {
    struct gpnn_dataset *view = &source->views[t];
    *view = *first;
    view->target = t + 1;
    view->y = first->more + t * n;
    view->calibration_y = first->calibration_more + t * c;
    if (first->noise != NULL) {
      view->noise = first->noise + (t + 1) * n;
      view->calibration_noise = first->calibration_noise + (t + 1) * c;
    }
    if (first->offset != NULL) {
      view->offset = first->offset + (t + 1) * n;
      view->calibration_offset = first->calibration_offset + (t + 1) * c;
      view->schema.offsets = first->schema.offsets + t + 1;
      view->schema.n_offsets = 1;
    }
    view->schema.target = first->schema.more[t];
    view->scaling.y_mean = first->scaling.more[t].mean;
    view->scaling.y_sd = first->scaling.more[t].sd;
    view->n_more = view->schema.n_more = view->scaling.n_more = 0;
    view->more = view->calibration_more = NULL;
    view->schema.more = NULL;
    view->scaling.more = NULL;
  }
  return GPNN_OK;
}

size_t gpnn_dataset_n_targets(const struct gpnn_dataset *dataset)
{
  return dataset->source == NULL ? 1 : 1 + dataset->source->first->n_more;
}

const struct gpnn_dataset *gpnn_dataset_target(const struct gpnn_dataset *dataset, size_t t)
{
  if (t == dataset->target) return dataset;
  return t == 0 ? dataset->source->first : &dataset->source->views[t - 1];
}

const struct gpnn_dataset *gpnn_dataset_find_target(const struct gpnn_dataset *dataset,
                                                    const char *name)
{
  for (size_t t = 0; t < gpnn_dataset_n_targets(dataset); t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(dataset, t);
    if (strcmp(view->schema.target.name, name) == 0) return view;
  }
  return NULL;
}

double gpnn_dataset_standardise(const struct gpnn_dataset *dataset, double y)
{
  if (dataset->transform != NULL) return gpnn_transform_apply(dataset->transform, y);
  return (y - dataset->scaling.y_mean) / dataset->scaling.y_sd;
}

/* ---- inputs ------------------------------------------------------------------------------- */

bool gpnn_dataset_keeps(const struct gpnn_dataset *dataset, size_t feature)
{
  const struct gpnn_scaling *scaling = &dataset->scaling;
  return scaling->method != GPNN_SCALING_SCALE || scaling->weight[feature] != 0;
}

const char *gpnn_dataset_group_name(const struct gpnn_dataset *dataset, size_t group,
                                    char name[GPNN_MASK_BYTES])
{
  if (dataset->scaling.method == GPNN_SCALING_WHITEN) {
    snprintf(name, GPNN_MASK_BYTES, "direction %zu", group + 1);
    return name;
  }
  size_t feature = 0, kept = 0;
  while (!gpnn_dataset_keeps(dataset, feature) || dataset->group[kept++] != group) feature++;
  return gpnn_schema_group_name(&dataset->schema, NULL, feature, name);
}

/* ---- search ------------------------------------------------------------------------------- */

struct gpnn_search_report gpnn_dataset_search_report(const struct gpnn_dataset *dataset)
{
  const struct gpnn_search_options usual = GPNN_SEARCH_OPTIONS_INIT;
  if (dataset->source != NULL) return dataset->source->report;
  return (struct gpnn_search_report){
      .kind = usual.kind, .asked = usual.recall, .neighbours = usual.neighbours};
}

struct gpnn_search_metric gpnn_dataset_search_metric(const struct gpnn_dataset *dataset)
{
  return dataset->source == NULL ? (struct gpnn_search_metric){NULL, NULL}
                                 : dataset->source->metric;
}

enum gpnn_status gpnn_dataset_search(const struct gpnn_dataset *dataset,
                                     struct gpnn_search **search, struct gpnn_error *err)
{
  const struct gpnn_dataset_source *source = dataset->source;
  if (source != NULL && source->load != NULL) return source->load(source->context, search, err);
  const struct gpnn_search_report report = gpnn_dataset_search_report(dataset);
  const struct gpnn_search_metric metric = gpnn_dataset_search_metric(dataset);
  const struct gpnn_search_options options = {.kind = report.kind,
                                              .recall = report.asked,
                                              .neighbours = report.neighbours,
                                              .lengthscale = metric.lengthscale,
                                              .rotation = metric.rotation,
                                              .seed = dataset->seed,
                                              .threads = 1,
                                              .brief = true};
  return gpnn_search_build(search, dataset->n, dataset->d, dataset->x, &options, err);
}
