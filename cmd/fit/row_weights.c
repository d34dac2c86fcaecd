#include "cmd/fit/row_weights.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/fit/counts.h"
#include "container/state.h"
#include "estimate/row_weights.h"

bool fit_row_weights_resolve(const struct cli *cli, const struct fit_arguments *a)
{
  static const char option[] = "option --row-weights:";
  if (a->row_weights == FIT_ROW_WEIGHTS_NO) return true;
  if (a->choose.likelihood != GPNN_LIKELIHOOD_LOCAL &&
      a->choose.likelihood != GPNN_LIKELIHOOD_STUDENT)
    return cli_refuse(cli, "%s only with --likelihood local or student", option);
  if (a->transform != GPNN_TRANSFORM_NONE || a->method != FIT_LOCAL)
    return cli_refuse(cli, "%s not with --transform, nor with --method conjugate", option);
  return fit_check_terminal(cli);
}

/* Whether the weights gain enough to be used, on rows kept out: two standard errors. */
static enum gpnn_status judge(const struct cli *cli, const struct fit_arguments *a,
                              const struct gpnn_dataset *view, struct gpnn_parameters *params,
                              bool *use, struct gpnn_error *err)
{
  enum { FEWEST = 50 };
  const double enough = 2, least = 0.002;
  struct gpnn_row_weights_gain gain;
  *use = false;
  if (view->n < FEWEST || view->noise != NULL) return GPNN_OK;
  enum gpnn_status status =
      gpnn_row_weights_gain(view, params, cli->seed, a->choose.fit.threads, &gain, err);
  if (status != GPNN_OK) return status;
  *use = gain.nll > fmax(enough * gain.standard_error, least);
  cli_note(cli, "weights of rows: NLL lower by %.4f (%.4f), %zu rows kept out: %s", gain.nll,
           gain.standard_error, gain.n_rows, *use ? "used" : "not used");
  return gpnn_parameters_comment(
      params, err, "row weights: NLL lower by %.4f (%.4f), %zu rows kept out: %s", gain.nll,
      gain.standard_error, gain.n_rows, *use ? "used" : "not used");
}

static enum gpnn_status find(const struct fit_arguments *a, const struct gpnn_dataset *view,
                             const struct gpnn_parameters *params, struct gpnn_state *state,
                             struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  if (view->noise != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s': the rows have known noise variances, which weights would change",
                     gpnn_schema_column_name(&view->schema.target, name));
  double *noise = gpnn_alloc(view->n, 1, sizeof *noise);
  if (noise == NULL) return gpnn_fail_memory(err, "for the weights of rows");
  enum gpnn_status status = gpnn_row_weights_find(view, params, a->choose.fit.threads, noise, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(state, view->schema.target.name, GPNN_STATE_NOISE, view->n, noise, err);
  free(noise);
  return status;
}

enum gpnn_status fit_row_weights(const struct cli *cli, const struct fit_arguments *a,
                                 const struct gpnn_dataset *view, struct gpnn_state *state,
                                 struct gpnn_parameters *params, struct gpnn_error *err)
{
  bool use = a->row_weights == FIT_ROW_WEIGHTS_YES;
  if (a->row_weights == FIT_ROW_WEIGHTS_NO || gpnn_dataset_n_classes(view) > 0) return GPNN_OK;
  enum gpnn_status status = GPNN_OK;
  if (a->row_weights == FIT_ROW_WEIGHTS_AUTO) status = judge(cli, a, view, params, &use, err);
  return status == GPNN_OK && use ? find(a, view, params, state, err) : status;
}
