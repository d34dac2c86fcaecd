/* A model of own rows and answers, in a file. */
#include "cmd/absorb/absorb.h"
#include "cmd/common/signals.h"
#include "models/inducing/inducing.h"
#include "models/model_file.h"

/* The file that a signal removes. */
static const char *volatile unfinished;

static void report(const struct absorbing *r, const struct gpnn_absorb_outcome *outcome,
                   size_t n_points)
{
  if (!outcome->is_kept)
    cli_warn(
        r->cli,
        "the answers are left out, as own rows are predicted worse with them (%.4g nats a row) "
        "than without (%.4g)",
        outcome->with, outcome->alone);
  if (outcome->n_negative > 0)
    cli_warn(r->cli, "variances are below 0 at %zu of %zu points, and are taken for 0 there",
             outcome->n_negative, n_points);
  if (r->a->how.rule == GPNN_ABSORB_BLOCKY)
    cli_warn(r->cli, "the rule blocky adds two predictions up, and so predicts about twice the "
                     "truth where both know it: it is for comparison only");
  cli_note(r->cli, "%zu points; own rows, each from all else: %.4g nats, without answers %.4g",
           n_points, outcome->with, outcome->alone);
}

static enum gpnn_status write(struct absorbing *r, const struct gpnn_fusion *fusion,
                              struct gpnn_error *err)
{
  const struct gpnn_inducing_arrays model = {.m = fusion->m,
                                             .d = r->view->d,
                                             .rank = fusion->rank,
                                             .points = fusion->points,
                                             .weights = fusion->weights,
                                             .root = fusion->root};
  struct gpnn_parameters *params = &r->opened.parameters[0];
  struct gpnn_state *arrays = NULL;
  enum gpnn_status status = gpnn_state_new(&arrays, r->opened.dataset->fingerprint, err);
  params->family = GPNN_FAMILY_AUGMENTED;
  params->neighbours = 0;
  gpnn_parameters_forget_calibration(params);
  if (status == GPNN_OK)
    status = gpnn_inducing_keep(&model, r->view->schema.target.name, arrays, err);
  if (status == GPNN_OK)
    status = gpnn_model_file_write(r->cli->output, r->opened.dataset, 1, params, arrays,
                                   r->cli->threads, &unfinished, err);
  gpnn_state_free(arrays);
  return status;
}

enum gpnn_status absorb_write_model(struct absorbing *r, struct gpnn_error *err)
{
  struct gpnn_absorb_outcome outcome;
  struct gpnn_fusion fusion = {0};
  cli_guard(&unfinished);
  if (r->opened.n > 1)
    return gpnn_fail(err, GPNN_EINVAL, "%s has %zu targets: choose one of them by --targets",
                     cli_operand(r->cli, 0), r->opened.n);
  enum gpnn_status status = gpnn_absorb_model(r->view, &r->opened.parameters[0], &r->answers,
                                              r->pool.x, &r->a->how, &fusion, &outcome, err);
  if (status != GPNN_OK) status = gpnn_prefix(err, status, "%s", r->a->answers);
  if (status == GPNN_OK) status = write(r, &fusion, err);
  if (status == GPNN_OK) report(r, &outcome, fusion.m);
  gpnn_fusion_release(&fusion);
  return status;
}
