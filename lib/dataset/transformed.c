#include "dataset/transformed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/dataset_private.h"
#include "stats/moments.h"

struct gpnn_transformed {
  struct gpnn_dataset dataset;
  struct gpnn_dataset_source source; /* dataset.source, unless the original has none */
  size_t n_targets;
  struct target {
    struct gpnn_transform transform;
    double *y; /* owned: of training rows, then of calibration rows; NULL: not transformed */
    double *x; /* owned: of the same rows, as they are seen; NULL: as they are, or as those of an
                  earlier target */
  } * targets; /* owned */
  struct seen {
    unsigned char *sight;                /* owned; NULL: inputs are as they are */
    struct gpnn_coordinate *coordinates; /* owned */
    uint32_t *group;                     /* owned */
    double *x; /* owned: those of the dataset, if it is no target's view */
  } seen;
};

/* ---- which targets a transform takes ------------------------------------------------------- */

static enum gpnn_status refuse(const struct gpnn_dataset *dataset, enum gpnn_transform_kind kind,
                               const char *rows, size_t row, double y, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const char *name = dataset->schema.target.name;
  return gpnn_fail(err, GPNN_EDATA,
                   "target '%s': %s row %zu of the index has %g, but a %s transform needs positive "
                   "targets",
                   gpnn_mask(shown, name, strlen(name)), rows, row + 1, y,
                   gpnn_transform_name(kind));
}

/* Checks that a kind takes 'n' standardised targets. */
static enum gpnn_status check_targets(const struct gpnn_dataset *dataset,
                                      enum gpnn_transform_kind kind, const char *rows, size_t n,
                                      const double *z, struct gpnn_error *err)
{
  if (gpnn_transform_takes(kind, -1)) return GPNN_OK; /* it takes any */
  for (size_t i = 0; i < n; i++) {
    double y = gpnn_scaling_restore(&dataset->scaling, z[i], 0);
    if (!gpnn_transform_takes(kind, y)) return refuse(dataset, kind, rows, i, y, err);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_transformed_check(const struct gpnn_dataset *dataset,
                                        enum gpnn_transform_kind kind, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const char *name = dataset->schema.target.name;
  if (gpnn_dataset_n_classes(dataset) > 0)
    return gpnn_fail(err, GPNN_EDATA, "target '%s': classes are not transformed",
                     gpnn_mask(shown, name, strlen(name)));
  if (dataset->noise != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s': the rows have known noise variances, which say nothing of a "
                     "transformed target",
                     gpnn_mask(shown, name, strlen(name)));
  if (dataset->offset != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s': an offset adds to the target, and not to a function of it",
                     gpnn_mask(shown, name, strlen(name)));
  enum gpnn_status status = check_targets(dataset, kind, "training", dataset->n, dataset->y, err);
  if (status != GPNN_OK) return status;
  return check_targets(dataset, kind, "calibration", dataset->n_calibration, dataset->calibration_y,
                       err);
}

/* ---- fit ----------------------------------------------------------------------------------- */

/* The rows with the least and the greatest target. */
static void find_extremes(const struct gpnn_dataset *dataset, size_t extremes[2])
{
  extremes[0] = extremes[1] = 0;
  for (size_t i = 1; i < dataset->n; i++) {
    if (dataset->y[i] < dataset->y[extremes[0]]) extremes[0] = i;
    if (dataset->y[i] > dataset->y[extremes[1]]) extremes[1] = i;
  }
}

/* Fills 'y' with the extreme targets and 'n' - 2 random ones. */
static enum gpnn_status draw_targets(const struct gpnn_dataset *dataset, uint64_t seed, size_t n,
                                     double *y, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  size_t extremes[2];
  uint64_t *rows = gpnn_alloc(n, 1, sizeof *rows);
  if (rows == NULL) return gpnn_fail_memory(err, "for a transform");
  gpnn_rng_init(&rng, seed, GPNN_RNG_TRANSFORM);
  enum gpnn_status status = gpnn_rng_sample(&rng, dataset->n, n, rows, err);
  find_extremes(dataset, extremes);
  if (n < dataset->n) rows[0] = extremes[0], rows[1] = extremes[1];
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    y[i] = gpnn_scaling_restore(&dataset->scaling, dataset->y[rows[i]], 0);
  free(rows);
  return status;
}

struct raw_targets {
  const struct gpnn_dataset *dataset;
  const struct gpnn_transform *transform; /* with mean 0 and sd 1 */
};

/* A row source of T of the targets. */
static enum gpnn_status read_raw(void *context, size_t from, size_t count, double *rows,
                                 struct gpnn_error *err)
{
  const struct raw_targets *raw = context;
  (void)err;
  for (size_t i = 0; i < count; i++)
    rows[i] = gpnn_transform_apply(
        raw->transform, gpnn_scaling_restore(&raw->dataset->scaling, raw->dataset->y[from + i], 0));
  return GPNN_OK;
}

/* Replaces mean and sd by those of all training targets. */
static enum gpnn_status standardise(struct gpnn_transform *transform,
                                    const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  struct gpnn_moments moments;
  transform->mean = 0;
  transform->sd = 1;
  struct raw_targets raw = {dataset, transform};
  const struct gpnn_row_source source = {
      .n = dataset->n, .width = 1, .read = read_raw, .context = &raw};
  enum gpnn_status status = gpnn_moments_learn(&source, 1, &moments, err);
  if (status != GPNN_OK) return status;
  if (!(moments.sd > 0)) return gpnn_fail(err, GPNN_EDATA, "the transformed targets are all equal");
  transform->mean = moments.mean;
  transform->sd = moments.sd;
  return GPNN_OK;
}

enum gpnn_status gpnn_transformed_fit(struct gpnn_transform *transform,
                                      const struct gpnn_dataset *dataset,
                                      enum gpnn_transform_kind kind, uint64_t seed,
                                      struct gpnn_error *err)
{
  size_t n = dataset->n < GPNN_TRANSFORMED_SAMPLE ? dataset->n : GPNN_TRANSFORMED_SAMPLE;
  struct gpnn_transform fitted = {0};
  double *y = gpnn_alloc(n, 1, sizeof *y);
  if (y == NULL) return gpnn_fail_memory(err, "for a transform");
  enum gpnn_status status = gpnn_transformed_check(dataset, kind, err);
  if (status == GPNN_OK) status = draw_targets(dataset, seed, n, y, err);
  if (status == GPNN_OK) status = gpnn_transform_fit(&fitted, kind, n, y, err);
  if (status == GPNN_OK) status = standardise(&fitted, dataset, err);
  free(y);
  if (status == GPNN_OK) *transform = fitted;
  return status;
}

/* ---- views --------------------------------------------------------------------------------- */

static enum gpnn_status transform_view(struct target *target, struct gpnn_dataset *view,
                                       const struct gpnn_transform *transform,
                                       struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_transformed_check(view, transform->kind, err);
  if (status != GPNN_OK) return status;
  size_t n = view->n, c = view->n_calibration;
  target->transform = *transform;
  target->y = gpnn_alloc(n + c, 1, sizeof *target->y);
  if (target->y == NULL) return gpnn_fail_memory(err, "for transformed targets");
  for (size_t i = 0; i < n; i++)
    target->y[i] =
        gpnn_transform_apply(transform, gpnn_scaling_restore(&view->scaling, view->y[i], 0));
  for (size_t i = 0; i < c; i++)
    target->y[n + i] = gpnn_transform_apply(
        transform, gpnn_scaling_restore(&view->scaling, view->calibration_y[i], 0));
  view->y = target->y;
  if (c > 0) view->calibration_y = target->y + n;
  view->transform = &target->transform;
  return GPNN_OK;
}

/* Copies the views of all targets, which share the search of 'dataset'. */
static enum gpnn_status copy_views(struct gpnn_transformed *transformed,
                                   const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  transformed->dataset = *dataset;
  if (dataset->source == NULL) return GPNN_OK;
  transformed->source = *dataset->source;
  enum gpnn_status status = gpnn_dataset_new_views(&transformed->source, err);
  if (status != GPNN_OK) return status;
  for (size_t t = 0; t < transformed->n_targets; t++) {
    transformed->source.views[t] = *gpnn_dataset_target(dataset, t);
    transformed->source.views[t].source = &transformed->source;
  }
  transformed->dataset.source = &transformed->source;
  return GPNN_OK;
}

/* The view of target 't', which may also be the dataset itself. */
static struct gpnn_dataset *view_of(struct gpnn_transformed *transformed, size_t t)
{
  return transformed->dataset.source == NULL ? &transformed->dataset
                                             : &transformed->source.views[t];
}

/* Gives the dataset what has become of target 't', if it is the view of that. */
static void follow_view(struct gpnn_transformed *transformed, size_t t)
{
  struct gpnn_dataset *dataset = &transformed->dataset;
  const struct gpnn_dataset *view = view_of(transformed, t);
  if (dataset->target != t) return;
  dataset->y = view->y;
  dataset->noise = view->noise;
  dataset->calibration_y = view->calibration_y;
  dataset->transform = view->transform;
  dataset->observed = view->observed;
}

static enum gpnn_status transform_target(struct gpnn_transformed *transformed, size_t t,
                                         const struct gpnn_transform *transform,
                                         struct gpnn_error *err)
{
  enum gpnn_status status =
      transform_view(&transformed->targets[t], view_of(transformed, t), transform, err);
  if (status == GPNN_OK) follow_view(transformed, t);
  return status;
}

static void replace_target(struct gpnn_transformed *transformed, size_t t,
                           const struct gpnn_pseudo_targets *pseudo)
{
  struct gpnn_dataset *view = view_of(transformed, t);
  view->observed = view->y;
  view->y = pseudo->y;
  view->noise = pseudo->noise;
  follow_view(transformed, t);
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* What is seen of 'n' rows of 'd' inputs, written to 'seen'. */
static void see_rows(const struct gpnn_scaling *scaling, size_t n, size_t d, const double *x,
                     double *seen)
{
  size_t width = gpnn_scaling_width(scaling);
  for (size_t i = 0; i < n; i++) {
    memcpy(seen + i * width, x + i * d, d * sizeof *x);
    gpnn_scores_see(scaling->scores, scaling->sight, seen + i * width);
  }
}

/* Gives a view what is seen of its rows; '*x' owns it. */
static enum gpnn_status see_view(const struct seen *seen, struct gpnn_dataset *view, double **x,
                                 struct gpnn_error *err)
{
  struct gpnn_scaling *scaling = &view->scaling;
  size_t d = view->d, n = view->x == NULL ? 0 : view->n,
         c = view->calibration_x == NULL ? 0 : view->n_calibration;
  scaling->sight = seen->sight;
  scaling->scores = view->scores;
  size_t width = gpnn_scaling_width(scaling);
  *x = gpnn_alloc(n + c, width, sizeof **x);
  if (*x == NULL) return gpnn_fail_memory(err, "for the scores of the inputs");
  see_rows(scaling, n, d, view->x, *x);
  see_rows(scaling, c, d, view->calibration_x, *x + n * width);
  view->x = *x;
  if (c > 0) view->calibration_x = *x + n * width;
  view->mapping = (struct gpnn_mapping){0};
  view->d = width;
  return GPNN_OK;
}

/* Lists what the inputs are that a dataset sees now. */
static enum gpnn_status list_seen(struct seen *seen, struct gpnn_dataset *dataset,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_dataset_list_coordinates(dataset, &seen->coordinates, err);
  if (status != GPNN_OK) return status;
  seen->group = gpnn_alloc(dataset->d, 1, sizeof *seen->group);
  if (seen->group == NULL) return gpnn_fail_memory(err, "for the scores of the inputs");
  for (size_t j = 0; j < dataset->d; j++) seen->group[j] = seen->coordinates[j].group;
  dataset->group = seen->group;
  return GPNN_OK;
}

/* Gives the view of target 't' what is seen of its rows, which may be those of 'dataset' or of an
 * earlier target. */
static enum gpnn_status see_target(struct gpnn_transformed *transformed,
                                   const struct gpnn_dataset *dataset, size_t t,
                                   struct gpnn_error *err)
{
  struct gpnn_dataset *view = &transformed->source.views[t];
  const struct gpnn_dataset *was = gpnn_dataset_target(dataset, t), *as = NULL;
  if (was->x == dataset->x && was->calibration_x == dataset->calibration_x)
    as = &transformed->dataset;
  if (as == NULL) {
    enum gpnn_status status = see_view(&transformed->seen, view, &transformed->targets[t].x, err);
    if (status != GPNN_OK) return status;
  } else {
    view->x = as->x;
    view->calibration_x = as->calibration_x;
    view->mapping = as->mapping;
    view->d = as->d;
    view->scaling.sight = as->scaling.sight;
    view->scaling.scores = as->scaling.scores;
  }
  view->n_groups = transformed->dataset.n_groups;
  view->group = transformed->dataset.group;
  view->coordinates = transformed->dataset.coordinates;
  return GPNN_OK;
}

/* Lets all views see their inputs as 'sight' says. */
static enum gpnn_status see(struct gpnn_transformed *transformed,
                            const struct gpnn_dataset *dataset, const unsigned char *sight,
                            struct gpnn_error *err)
{
  struct gpnn_dataset *seeing = &transformed->dataset;
  struct seen *seen = &transformed->seen;
  seen->sight = gpnn_alloc(dataset->d, 1, sizeof *seen->sight);
  if (seen->sight == NULL) return gpnn_fail_memory(err, "for the scores of the inputs");
  memcpy(seen->sight, sight, dataset->d);
  enum gpnn_status status = see_view(seen, seeing, &seen->x, err);
  if (status == GPNN_OK) status = list_seen(seen, seeing, err);
  if (status != GPNN_OK || seeing->source == NULL) return status;
  for (size_t t = 0; t < transformed->n_targets && status == GPNN_OK; t++)
    status = see_target(transformed, dataset, t, err);
  return status;
}

enum gpnn_status gpnn_transformed_new(struct gpnn_transformed **transformed,
                                      const struct gpnn_dataset *dataset,
                                      const struct gpnn_changes *changes, struct gpnn_error *err)
{
  const struct gpnn_transform *const *transforms = changes->transforms;
  const struct gpnn_pseudo_targets *pseudo = changes->pseudo;
  struct gpnn_transformed *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for transformed targets");
  new->n_targets = gpnn_dataset_n_targets(dataset);
  new->targets = calloc(new->n_targets, sizeof *new->targets);
  enum gpnn_status status =
      new->targets == NULL ? gpnn_fail_memory(err, "for transformed targets") : GPNN_OK;
  if (status == GPNN_OK) status = copy_views(new, dataset, err);
  if (status == GPNN_OK && changes->sight != NULL) status = see(new, dataset, changes->sight, err);
  for (size_t t = 0; t < new->n_targets &&status == GPNN_OK &&transforms != NULL; t++)
    if (transforms[t] != NULL && transforms[t]->kind != GPNN_TRANSFORM_NONE)
      status = transform_target(new, t, transforms[t], err);
  for (size_t t = 0; t < new->n_targets &&status == GPNN_OK &&pseudo != NULL; t++)
    if (pseudo[t].y != NULL) replace_target(new, t, &pseudo[t]);
  if (status == GPNN_OK)
    *transformed = new;
  else
    gpnn_transformed_free(new);
  return status;
}

const struct gpnn_dataset *gpnn_transformed_dataset(const struct gpnn_transformed *transformed)
{
  return &transformed->dataset;
}

const struct gpnn_dataset *gpnn_transformed_target(const struct gpnn_transformed *transformed,
                                                   size_t t)
{
  return gpnn_dataset_target(&transformed->dataset, t);
}

void gpnn_transformed_free(struct gpnn_transformed *transformed)
{
  if (transformed == NULL) return;
  for (size_t t = 0; t < transformed->n_targets && transformed->targets != NULL; t++) {
    free(transformed->targets[t].y);
    free(transformed->targets[t].x);
  }
  free(transformed->seen.sight);
  free(transformed->seen.coordinates);
  free(transformed->seen.group);
  free(transformed->seen.x);
  free(transformed->targets);
  free(transformed->source.views);
  free(transformed);
}
