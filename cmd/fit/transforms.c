#include "cmd/fit/fit.h"

#include <stdlib.h>

#include "base/memory.h"
#include "kernel/sight.h"

static enum gpnn_status transforms_init(struct fit_transforms *transforms,
                                        const struct gpnn_dataset *dataset, size_t first, size_t n,
                                        struct gpnn_error *err)
{
  transforms->dataset = dataset;
  transforms->first = first;
  transforms->n = n;
  transforms->of = calloc(gpnn_dataset_n_targets(dataset), sizeof *transforms->of);
  return transforms->of != NULL ? GPNN_OK : gpnn_fail_memory(err, "for the targets");
}

/* Applies the transforms, if there are any. */
static enum gpnn_status apply(struct fit_transforms *transforms, struct gpnn_error *err)
{
  bool any = false;
  size_t n = gpnn_dataset_n_targets(transforms->dataset);
  const struct gpnn_transform **of = gpnn_alloc(n, 1, sizeof(const struct gpnn_transform *));
  if (of == NULL) return gpnn_fail_memory(err, "for the targets");
  for (size_t t = 0; t < n; t++) {
    of[t] = &transforms->of[t];
    any = any || of[t]->kind != GPNN_TRANSFORM_NONE;
  }
  enum gpnn_status status =
      any ? gpnn_transformed_new(&transforms->transformed, transforms->dataset,
                                 &(struct gpnn_changes){.transforms = of}, err)
          : GPNN_OK;
  free(of);
  return status;
}

enum gpnn_status fit_transforms_set(struct fit_transforms *transforms,
                                    const struct fit_arguments *a,
                                    const struct gpnn_dataset *dataset, size_t first, size_t n,
                                    struct gpnn_error *err)
{
  enum gpnn_transform_kind kind = (enum gpnn_transform_kind)a->transform;
  enum gpnn_status status = transforms_init(transforms, dataset, first, n, err);
  for (size_t t = first; t < first + n && status == GPNN_OK && kind != GPNN_TRANSFORM_NONE; t++)
    status = gpnn_transformed_fit(&transforms->of[t], gpnn_dataset_target(dataset, t), kind,
                                  a->choose.fit.seed, err);
  return status == GPNN_OK ? apply(transforms, err) : status;
}

static void tell(void *context, const struct gpnn_transform_candidate *candidate)
{
  fit_report_tried_transform(context, candidate);
  cli_note(context, "transform %-11s NLL %.4f, %.4f (%.4f) below that of none%s",
           gpnn_transform_name(candidate->kind), candidate->nll, candidate->gain,
           candidate->standard_error, candidate->harms ? ", but larger errors" : "");
}

enum gpnn_status fit_transforms_choose(struct fit_transforms *transforms, const struct cli *cli,
                                       const struct fit_arguments *a,
                                       const struct gpnn_dataset *dataset, size_t first, size_t n,
                                       const struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct cli about = *cli;
  enum gpnn_status status = transforms_init(transforms, dataset, first, n, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(dataset, first + t);
    struct gpnn_transform_candidate chosen;
    status = gpnn_choose_transform(view, &params[t], &a->choose, tell, &about, &chosen, err);
    if (status == GPNN_OK && chosen.kind != GPNN_TRANSFORM_NONE)
      status = gpnn_transformed_fit(&transforms->of[first + t], view, chosen.kind,
                                    a->choose.fit.seed, err);
  }
  return status == GPNN_OK ? apply(transforms, err) : status;
}

enum gpnn_status fit_see_as(size_t n, struct gpnn_parameters *params,
                            const struct gpnn_dataset **dataset, struct gpnn_transformed **seen,
                            struct gpnn_error *err)
{
  if ((*dataset)->scaling.sight != NULL) return GPNN_OK; /* they were fitted to what it sees */
  enum gpnn_status status = gpnn_sight_agree(n, params, *dataset, err);
  if (status != GPNN_OK || params->sight == NULL) return status;
  status =
      gpnn_transformed_new(seen, *dataset, &(struct gpnn_changes){.sight = params->sight}, err);
  if (status == GPNN_OK) *dataset = gpnn_transformed_dataset(*seen);
  return status;
}

/* Adds the comparison of two fits of a target to the comments of both. */
static enum gpnn_status comment(struct gpnn_parameters *without, struct gpnn_parameters *with,
                                const struct gpnn_transform_candidate *score,
                                struct gpnn_error *err)
{
  static const char format[] = "transform: %s, NLL %.4f in units of the target; none, %.4f";
  const char *name = gpnn_transform_name(score->kind);
  double none = score->nll + score->gain;
  enum gpnn_status status = gpnn_parameters_comment(without, err, format, name, score->nll, none);
  return status == GPNN_OK ? gpnn_parameters_comment(with, err, format, name, score->nll, none)
                           : status;
}

enum gpnn_status fit_transforms_compare(const struct fit_transforms *transforms,
                                        const struct cli *cli, const struct fit_arguments *a,
                                        struct gpnn_parameters *without,
                                        struct gpnn_parameters *with, bool *pays,
                                        struct gpnn_error *err)
{
  const double enough = 2; /* standard errors: a fit has seen some of the rows */
  struct cli about = *cli;
  const struct gpnn_dataset *dataset = gpnn_transformed_dataset(transforms->transformed);
  struct gpnn_transformed *seen = NULL;
  double gain = 0;
  bool harms = false;
  enum gpnn_status status = fit_see_as(transforms->n, with, &dataset, &seen, err);
  for (size_t t = 0; t < transforms->n && status == GPNN_OK; t++) {
    size_t target = transforms->first + t;
    struct gpnn_transform_candidate score;
    const struct gpnn_channel plain = {gpnn_dataset_target(transforms->dataset, target),
                                       &without[t]};
    const struct gpnn_channel transformed = {gpnn_dataset_target(dataset, target), &with[t]};
    if (transformed.dataset->transform == NULL) continue;
    status = gpnn_choose_compare_transform(&plain, &transformed, &a->choose, &score, err);
    if (status != GPNN_OK) break;
    tell(&about, &score);
    gain += score.gain - enough * score.standard_error;
    harms = harms || score.harms;
    status = comment(&without[t], &with[t], &score, err);
  }
  gpnn_transformed_free(seen);
  *pays = status == GPNN_OK && gain > 0 && !harms;
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

void fit_transforms_record(const struct fit_transforms *transforms, struct gpnn_parameters *params)
{
  for (size_t t = 0; t < transforms->n; t++)
    params[t].transform = transforms->of[transforms->first + t];
}

void fit_transforms_release(struct fit_transforms *transforms)
{
  gpnn_transformed_free(transforms->transformed);
  free(transforms->of);
  *transforms = (struct fit_transforms){0};
}
