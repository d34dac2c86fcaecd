#include "dataset/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/dataset_private.h"
#include "stats/moments.h"
#include "stats/transform.h"

/* ---- targets ------------------------------------------------------------------------------- */

enum gpnn_status gpnn_dataset_new_views(struct gpnn_dataset_source *source, struct gpnn_error *err)
{
  source->views = gpnn_alloc(source->n_targets, 1, sizeof *source->views);
  if (source->views == NULL) return gpnn_fail_memory(err, "for the targets of an index");
  for (size_t t = 0; t < source->n_targets; t++)
    source->views[t] = (struct gpnn_dataset){.target = t, .source = source};
  return GPNN_OK;
}

/* Element 'i' of an array that may be missing. */
static const double *from(const double *array, size_t i)
{
  return array == NULL ? NULL : array + i;
}

/* Makes a view of target 't' of all rows, with which it shares whatever does not depend on the
 * target. */
static void set_view(struct gpnn_dataset *view, const struct gpnn_dataset *rows, size_t t)
{
  size_t n = rows->n, c = rows->n_calibration;
  *view = *rows;
  view->target = t;
  if (t > 0) {
    view->y = from(rows->more, (t - 1) * n);
    view->calibration_y = from(rows->calibration_more, (t - 1) * c);
    view->schema.target = rows->schema.more[t - 1];
    view->scaling.y_mean = rows->scaling.more[t - 1].mean;
    view->scaling.y_sd = rows->scaling.more[t - 1].sd;
  }
  if (rows->noise != NULL) {
    view->noise = rows->noise + t * n;
    view->calibration_noise = rows->calibration_noise + t * c;
  }
  if (rows->offset != NULL) {
    view->offset = rows->offset + t * n;
    view->calibration_offset = rows->calibration_offset + t * c;
  }
  if (rows->schema.n_offsets > 0) {
    view->schema.offsets = rows->schema.offsets + t;
    view->schema.n_offsets = 1;
  }
  view->n_more = view->schema.n_more = view->scaling.n_more = 0;
  view->more = view->calibration_more = NULL;
  view->schema.more = NULL;
  view->scaling.more = NULL;
}

enum gpnn_status gpnn_dataset_set_views(struct gpnn_dataset_source *source,
                                        struct gpnn_dataset *rows, struct gpnn_error *err)
{
  source->n_targets = 1 + rows->n_more;
  enum gpnn_status status = gpnn_dataset_new_views(source, err);
  if (status != GPNN_OK) return status;
  rows->source = source;
  for (size_t t = 0; t < source->n_targets; t++) set_view(&source->views[t], rows, t);
  return GPNN_OK;
}

size_t gpnn_dataset_n_targets(const struct gpnn_dataset *dataset)
{
  return dataset->source == NULL ? 1 : dataset->source->n_targets;
}

const struct gpnn_dataset *gpnn_dataset_target(const struct gpnn_dataset *dataset, size_t t)
{
  return t == dataset->target ? dataset : &dataset->source->views[t];
}

/* True if input 'j' is a linear function of the target in 'n' rows, neither of them constant. */
static bool copies_target(const struct gpnn_dataset *view, size_t j, size_t n)
{
  const double almost_all = 1 - 1e-9; /* but for rounding */
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < n; i++) {
    mx += view->x[i * view->d + j] / (double)n;
    my += view->y[i] / (double)n;
  }
  for (size_t i = 0; i < n; i++) {
    double x = view->x[i * view->d + j] - mx, y = view->y[i] - my;
    xx += x * x;
    yy += y * y;
    xy += x * y;
  }
  return xy * xy > almost_all * xx * yy;
}

size_t gpnn_dataset_find_copy_of_target(const struct gpnn_dataset *view)
{
  enum { LEAST_ROWS = 5, MOST_ROWS = 1000 };
  size_t n = view->n < MOST_ROWS ? view->n : MOST_ROWS;
  for (size_t j = 0; j < view->d && n >= LEAST_ROWS && gpnn_dataset_n_classes(view) == 0; j++)
    if (copies_target(view, j, n)) return j;
  return SIZE_MAX;
}

bool gpnn_dataset_share_rows(const struct gpnn_dataset *dataset, size_t a, size_t b)
{
  return gpnn_dataset_target(dataset, a)->x == gpnn_dataset_target(dataset, b)->x;
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

size_t gpnn_dataset_n_classes(const struct gpnn_dataset *view)
{
  const struct gpnn_column *target = &view->schema.target;
  return target->kind == GPNN_COLUMN_CLASSES ? target->n_levels : 0;
}

const char *gpnn_dataset_class(const struct gpnn_dataset *view, size_t c, size_t *length)
{
  *length = view->schema.target.level_lengths[c];
  return view->schema.target.levels[c];
}

void gpnn_dataset_count_classes(const struct gpnn_dataset *view, size_t *counts)
{
  memset(counts, 0, gpnn_dataset_n_classes(view) * sizeof *counts);
  for (size_t i = 0; i < view->n; i++) counts[(size_t)view->y[i]]++;
}

double gpnn_dataset_standardise(const struct gpnn_dataset *dataset, double y)
{
  if (dataset->transform != NULL) return gpnn_transform_apply(dataset->transform, y);
  return (y - dataset->scaling.y_mean) / dataset->scaling.y_sd;
}

/* ---- inputs -------------------------------------------------------------------------------- */

enum gpnn_status gpnn_dataset_list_coordinates(struct gpnn_dataset *dataset,
                                               struct gpnn_coordinate **list,
                                               struct gpnn_error *err)
{
  const struct gpnn_scaling *scaling = &dataset->scaling;
  size_t kept = 0, n = 0, n_groups = 0, last = SIZE_MAX;
  struct gpnn_feature_cursor at = {0};
  *list = NULL;
  dataset->n_groups = scaling->n_out;
  if (scaling->method == GPNN_SCALING_WHITEN) return GPNN_OK;
  struct gpnn_feature *features = gpnn_alloc(scaling->n_in, 1, sizeof *features);
  struct gpnn_coordinate *coordinates =
      gpnn_alloc(gpnn_scaling_width(scaling), 1, sizeof *coordinates);
  if (features == NULL || coordinates == NULL) {
    free(features);
    free(coordinates);
    return gpnn_fail_memory(err, "for the inputs");
  }
  gpnn_schema_groups(&dataset->schema, features);
  for (size_t j = 0; j < scaling->n_in; j++) {
    if (!gpnn_scaling_keeps(scaling, j)) continue;
    unsigned sight = scaling->sight == NULL ? GPNN_SIGHT_VALUE : scaling->sight[kept];
    bool has_unit = features[j].has_unit;
    uint32_t input =
        (uint32_t)(gpnn_schema_feature_input(&dataset->schema, &at, j) - dataset->schema.inputs);
    kept++;
    n_groups += features[j].group != last;
    last = features[j].group;
    if (sight & GPNN_SIGHT_VALUE)
      coordinates[n++] =
          (struct gpnn_coordinate){input, j, (uint32_t)n_groups - 1, has_unit, false};
    if (sight == GPNN_SIGHT_BOTH) n_groups++;
    if (sight & GPNN_SIGHT_SCORE)
      coordinates[n++] = (struct gpnn_coordinate){input, j, (uint32_t)n_groups - 1, false, true};
  }
  free(features);
  dataset->n_groups = n_groups;
  dataset->coordinates = *list = coordinates;
  return GPNN_OK;
}

/* The first coordinate of a group: groups follow each other. */
static size_t first_of_group(const struct gpnn_dataset *dataset, size_t group)
{
  size_t low = 0, high = dataset->d;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (dataset->coordinates[middle].group < group)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Makes the name of an input that of its score, cut to the same room. */
static const char *name_score(char name[GPNN_MASK_BYTES])
{
  static const char what[] = "score of ";
  enum { BYTES = sizeof what - 1 };
  memmove(name + BYTES, name, GPNN_MASK_BYTES - BYTES);
  memcpy(name, what, BYTES);
  name[GPNN_MASK_BYTES - 1] = '\0';
  return name;
}

const char *gpnn_dataset_group_name(const struct gpnn_dataset *dataset,
                                    struct gpnn_feature_cursor *at, size_t group,
                                    char name[GPNN_MASK_BYTES])
{
  if (dataset->coordinates == NULL) {
    snprintf(name, GPNN_MASK_BYTES, "direction %zu", group + 1);
    return name;
  }
  const struct gpnn_coordinate *coordinate = &dataset->coordinates[first_of_group(dataset, group)];
  gpnn_schema_group_name(&dataset->schema, at, coordinate->feature, name);
  return coordinate->is_score ? name_score(name) : name;
}

/* ---- copies -------------------------------------------------------------------------------- */

bool gpnn_dataset_has_copies(const struct gpnn_dataset *dataset)
{
  return dataset->row_group != NULL && !dataset->schema.has_by;
}

/* Widens the range of each input, 'least' and 'greatest' (d), to that of 'n' rows. */
static void widen_ranges(size_t n, size_t d, const double *x, double *least, double *greatest)
{
  for (size_t i = 0; i < n; i++, x += d)
    for (size_t j = 0; j < d; j++) {
      if (x[j] < least[j]) least[j] = x[j];
      if (x[j] > greatest[j]) greatest[j] = x[j];
    }
}

static bool is_outside(size_t d, const double *x, const double *least, const double *greatest)
{
  for (size_t j = 0; j < d; j++)
    if (x[j] < least[j] || x[j] > greatest[j]) return true;
  return false;
}

size_t gpnn_dataset_count_outside(const struct gpnn_dataset *dataset, size_t n, const double *x)
{
  size_t n_outside = 0, d = dataset->d;
  double *least = dataset->n == 0 ? NULL : gpnn_alloc(2, d, sizeof *least);
  if (least == NULL) return n;
  double *greatest = least + d;
  memcpy(least, dataset->x, d * sizeof *least);
  memcpy(greatest, dataset->x, d * sizeof *least);
  widen_ranges(dataset->n, d, dataset->x, least, greatest);
  for (size_t i = 0; i < n; i++) n_outside += is_outside(d, x + i * d, least, greatest);
  free(least);
  return n_outside;
}

size_t gpnn_dataset_count_groups(size_t n, const uint64_t *key, const double *y)
{
  uint64_t found[GPNN_DATASET_GROUPS];
  size_t n_found = 0;
  for (size_t i = 0; i < n && n_found < GPNN_DATASET_GROUPS; i++) {
    size_t at = 0;
    if (isnan(y[i])) continue;
    while (at < n_found && found[at] != key[i]) at++;
    if (at == n_found) found[n_found++] = key[i];
  }
  return n_found;
}

bool gpnn_dataset_holds_out_enough(const struct gpnn_dataset *dataset)
{
  enum { ROWS = 200 };
  return dataset->n_calibration >= ROWS && (dataset->n_calibration_groups == 0 ||
                                            dataset->n_calibration_groups >= GPNN_DATASET_GROUPS);
}

size_t gpnn_dataset_n_distinct(const struct gpnn_dataset *dataset)
{
  bool fewer = gpnn_dataset_has_copies(dataset) && dataset->n_row_groups < dataset->n;
  return fewer ? dataset->n_row_groups : dataset->n;
}

size_t gpnn_dataset_distinct(const struct gpnn_dataset *dataset, bool *is_first)
{
  size_t n = 0;
  bool *has_been = gpnn_alloc(dataset->n_row_groups, 1, sizeof *has_been);
  if (has_been == NULL) return 0;
  for (size_t i = 0; i < dataset->n; i++) {
    size_t group = dataset->row_group[i];
    is_first[i] = group >= dataset->n_row_groups || !has_been[group];
    if (group < dataset->n_row_groups) has_been[group] = true;
    n += is_first[i];
  }
  free(has_been);
  return n;
}

/* ---- search -------------------------------------------------------------------------------- */

bool gpnn_dataset_sees_as_search(const struct gpnn_dataset *dataset)
{
  const unsigned char *own = dataset->scaling.sight, *its = dataset->source->sight;
  if (own == NULL || its == NULL) return own == its;
  return memcmp(own, its, dataset->scaling.n_out) == 0;
}

struct gpnn_search_report gpnn_dataset_search_report(const struct gpnn_dataset *dataset)
{
  const struct gpnn_search_options usual = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search_report report;
  if (dataset->source != NULL) {
    report = dataset->source->report;
    bool is_other = dataset->is_partial || !gpnn_dataset_sees_as_search(dataset);
    if (is_other) report.kind = GPNN_SEARCH_AUTO;
    return report;
  }
  return (struct gpnn_search_report){
      .kind = usual.kind, .asked = usual.recall, .neighbours = usual.neighbours};
}

struct gpnn_search_metric gpnn_dataset_search_metric(const struct gpnn_dataset *dataset)
{
  bool is_of_search = dataset->source != NULL && gpnn_dataset_sees_as_search(dataset);
  return is_of_search ? dataset->source->metric : (struct gpnn_search_metric){NULL, NULL};
}

enum gpnn_status gpnn_dataset_search(const struct gpnn_dataset *dataset,
                                     struct gpnn_search **search, struct gpnn_error *err)
{
  const struct gpnn_dataset_source *source = dataset->source;
  if (dataset->grid != NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "a grid has cells, not rows to search");
  if (dataset->stored != NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "a model file has no rows to search");
  bool is_stored = source != NULL && source->load != NULL && !dataset->is_partial &&
                   gpnn_dataset_sees_as_search(dataset);
  if (is_stored) return source->load(source->context, dataset, search, err);
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
