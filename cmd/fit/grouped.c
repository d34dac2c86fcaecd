#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/fit/fit.h"
#include "container/state.h"
#include "estimate/group_effects.h"
#include "kernel/effects.h"

/* What cannot be fitted with effects, or is not yet. */
static enum gpnn_status check(const struct cli *cli, const struct fit_arguments *a,
                              const struct gpnn_dataset *view, struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  gpnn_schema_column_name(&view->schema.target, name);
  if (gpnn_dataset_n_classes(view) > 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s' holds classes, and group effects are those of numbers", name);
  if (fit_asks_for_counts(a))
    return gpnn_fail(err, GPNN_EINVAL, "target '%s': group effects do not go together with counts",
                     name);
  if (a->transform != GPNN_TRANSFORM_NONE && a->transform != FIT_TRANSFORM_AUTO)
    return gpnn_fail(err, GPNN_EINVAL,
                     "target '%s': group effects do not go together with --transform", name);
  if (a->row_weights == FIT_ROW_WEIGHTS_YES)
    return gpnn_fail(err, GPNN_EINVAL,
                     "target '%s': group effects do not go together with --row-weights", name);
  const char *other = cli_given_of(cli, "preset,method,mean-function,members,start");
  if (other != NULL)
    return gpnn_fail(err, GPNN_EINVAL, "target '%s': group effects do not go together with --%s",
                     name, other);
  return GPNN_OK;
}

/* Fits the process to what the effects alone leave of the targets. */
static enum gpnn_status fit_process(const struct cli *cli, const struct fit_arguments *a,
                                    const struct gpnn_dataset *dataset, size_t t,
                                    const double *pseudo, struct gpnn_parameters *params,
                                    struct gpnn_error *err)
{
  struct fit_arguments own = *a;
  struct gpnn_transformed *rest = NULL;
  struct gpnn_pseudo_targets *targets =
      gpnn_alloc(gpnn_dataset_n_targets(dataset), 1, sizeof *targets);
  if (targets == NULL) return gpnn_fail_memory(err, "for the targets");
  targets[t].y = pseudo;
  own.transform = GPNN_TRANSFORM_NONE;
  own.choose.members = 0;
  enum gpnn_status status =
      gpnn_transformed_new(&rest, dataset, &(struct gpnn_changes){.pseudo = targets}, err);
  if (status == GPNN_OK)
    status = fit_numbers(cli, &own, gpnn_transformed_dataset(rest), t, params, err);
  gpnn_transformed_free(rest);
  free(targets);
  return status;
}

/* Tells the standard deviations of effect 'e', from its variances, to whoever asks and in the
 * parameters. */
static enum gpnn_status tell_sd(const struct cli *cli, const struct gpnn_dataset *view, size_t e,
                                const double *variance, struct gpnn_parameters *params,
                                struct gpnn_error *err)
{
  const struct gpnn_group_effect *effect = &view->schema.effects[e];
  const double unit = params->effects.unit;
  char name[GPNN_MASK_BYTES];
  gpnn_schema_effect_name(&view->schema, e, name);
  double sd = gpnn_effects_unit(view, e, false) * sqrt(unit * variance[0]);
  cli_note(cli, "group effect %s: sd %.4g", name, sd);
  enum gpnn_status status = gpnn_parameters_comment(
      params, err, "group effect %s: sd %.4g in units of the target", name, sd);
  double of_slopes = effect->has_slope ? gpnn_effects_unit(view, e, true) : 0;
  if (of_slopes == 0 || status != GPNN_OK) return status;
  of_slopes *= sqrt(unit * variance[2]);
  cli_note(cli, "group effect %s: sd %.4g of its slopes", name, of_slopes);
  return gpnn_parameters_comment(params, err,
                                 "group effect %s: sd %.4g of its slopes, per unit of the input",
                                 name, of_slopes);
}

/* Says what was found. */
static enum gpnn_status report(const struct cli *cli, const struct gpnn_dataset *view,
                               const struct gpnn_group_effects_report *found,
                               struct gpnn_parameters *params, struct gpnn_error *err)
{
  const double *variance = params->effects.variance;
  enum gpnn_status status = GPNN_OK;
  for (size_t e = 0; e < view->schema.n_effects && status == GPNN_OK; e++) {
    status = tell_sd(cli, view, e, variance, params, err);
    variance += view->schema.effects[e].has_slope ? 3 : 1;
  }
  if (found->n_rows > 0)
    cli_note(cli, "process: NLL lower by %.4f (%.4f), %zu rows held out: %s", found->gain,
             found->error, found->n_rows, found->has_process ? "used" : "not used");
  if (status == GPNN_OK && !found->has_process)
    status = gpnn_parameters_comment(
        params, err, "no process: it does not predict rows that were held out better");
  return status;
}

enum gpnn_status fit_grouped(const struct cli *cli, const struct fit_arguments *a,
                             const struct gpnn_dataset *dataset, size_t t, struct gpnn_state *state,
                             struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct gpnn_group_effects_options options = {cli->seed, a->choose.fit.threads};
  const struct gpnn_dataset *view = gpnn_dataset_target(dataset, t), *sees = dataset;
  struct gpnn_group_effects_report found;
  struct gpnn_transformed *seen = NULL;
  double *pseudo = gpnn_alloc(view->n, 1, sizeof *pseudo), *covariance = NULL;
  if (pseudo == NULL) return gpnn_fail_memory(err, "for the targets");
  enum gpnn_status status = check(cli, a, view, err);
  if (status == GPNN_OK) status = gpnn_group_effects_begin(view, pseudo, &covariance, err);
  if (status == GPNN_OK) status = fit_process(cli, a, dataset, t, pseudo, params, err);
  if (status == GPNN_OK) status = fit_see_as(1, params, &sees, &seen, err);
  if (status == GPNN_OK)
    status = gpnn_group_effects_end(gpnn_dataset_target(sees, t), &options, covariance, params,
                                    pseudo, &found, err);
  if (status == GPNN_OK) status = report(cli, view, &found, params, err);
  if (status == GPNN_OK)
    status =
        gpnn_state_add(state, view->schema.target.name, GPNN_STATE_TARGET, view->n, pseudo, err);
  if (status == GPNN_OK) status = gpnn_parameters_store_effects(params, state, err);
  gpnn_transformed_free(seen);
  free(pseudo);
  free(covariance);
  return status;
}
