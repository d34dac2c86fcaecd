/* What gpnn-grid fit reports. */
#include <stdio.h>

#include "cmd/common/json.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/grid/fit.h"
#include "dataset/grid.h"

enum { NAME_BYTES = 600 };

static const char *const inputs_names[] = {"", " of ranks", " of logarithms"};

/* A candidate in words: "site matern32 of ranks, time rbf, nugget, mean per time, log". */
static const char *describe(const struct gpnn_grid *grid,
                            const struct gpnn_grid_candidate *candidate, char text[NAME_BYTES])
{
  size_t used = 0;
  for (size_t a = 0; a < candidate->n_factors; a++)
    used += (size_t)snprintf(text + used, NAME_BYTES - used, "%s%.32s %s%s", a == 0 ? "" : ", ",
                             grid->factor[a].name, candidate->kernel[a],
                             inputs_names[candidate->inputs[a]]);
  if (candidate->has_nugget) used += (size_t)snprintf(text + used, NAME_BYTES - used, ", nugget");
  if (candidate->mean_factor > 0)
    used += (size_t)snprintf(text + used, NAME_BYTES - used, ", mean per %.32s",
                             grid->factor[candidate->mean_factor - 1].name);
  if (candidate->transform != GPNN_TRANSFORM_NONE)
    used += (size_t)snprintf(text + used, NAME_BYTES - used, ", %s",
                             gpnn_transform_name(candidate->transform));
  if (candidate->degrees > 0) snprintf(text + used, NAME_BYTES - used, ", errors of Student's t");
  return text;
}

void grid_fit_try(void *context, const struct gpnn_grid_candidate *candidate)
{
  struct grid_fit_telling *telling = context;
  struct json *json = telling->cli->report;
  char text[NAME_BYTES];
  progress_update("candidates tried", ++telling->n, 0);
  describe(telling->grid, candidate, text);
  cli_note(telling->cli, "tried %s: NLL %.4f, RMSE %.4f, variances times %.3g", text,
           candidate->nll, candidate->rmse, candidate->factor);
  if (json == NULL) return;
  json_open(json, NULL, '{');
  json_text(json, "name", text);
  json_number(json, "nll", candidate->nll);
  json_number(json, "rmse", candidate->rmse);
  json_number(json, "factor", candidate->factor);
  json_close(json, '}');
}

enum gpnn_status grid_fit_annotate(struct gpnn_parameters *params, const struct gpnn_dataset *view,
                                   const struct gpnn_grid_choose_report *report,
                                   struct gpnn_error *err)
{
  char text[NAME_BYTES];
  params->provenance.has_index = true;
  params->provenance.index = view->fingerprint;
  enum gpnn_status status = GPNN_OK;
  if (report->adam.steps > 0)
    status = gpnn_parameters_comment(
        params, err, "fit: %zu steps of adam on all cells, %zu iterations, worst residual %.3g",
        report->adam.steps, report->adam.iterations, report->adam.residual);
  if (status == GPNN_OK && report->fit.n_cells > 0)
    status = gpnn_parameters_comment(
        params, err,
        "fit: log likelihood %.6g a cell, %zu of %zu cells in samples, %zu evaluations",
        report->fit.log_likelihood, report->fit.n_cells, view->grid->n_cells,
        report->fit.n_evaluations);
  if (status == GPNN_OK && report->n_held_out > 0)
    status = gpnn_parameters_comment(
        params, err, "chosen: %s, NLL %.4f, RMSE %.4f (%zu predictions of cells left out)",
        describe(view->grid, &report->chosen, text), report->chosen.nll, report->chosen.rmse,
        report->n_held_out);
  return status;
}

void grid_fit_report(const struct cli *cli, const struct gpnn_parameters *params,
                     const struct gpnn_grid_choose_report *report)
{
  struct json *json = cli->report;
  cli_note(cli,
           "%zu candidates; variances multiplied by %.4g, from %zu predictions of cells left out",
           report->n_candidates, report->chosen.factor, report->n_held_out);
  if (params->grid.n_noise == 0) report_no_signal(cli, &params->covariance);
  if (json == NULL) return;
  json_number(json, "nll", report->chosen.nll);
  json_number(json, "rmse", report->chosen.rmse);
  json_count(json, "cells-left-out", report->n_held_out);
  json_number(json, "log-likelihood", report->fit.log_likelihood);
  json_number(json, "kernelscale", params->covariance.kernelscale);
  json_number(json, "noise", params->covariance.noise);
  json_number(json, "degrees", params->degrees);
}
