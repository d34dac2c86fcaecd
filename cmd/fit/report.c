#include "cmd/fit/fit.h"

#include <math.h>
#include <stdio.h>

#include "cmd/common/json.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "kernel/coefficients.h"

enum { NAME_BYTES = 96 };

/* A candidate in words: "exp ARD by loo of 32".  Returns 'text'. */
static const char *describe(const struct gpnn_candidate *candidate, char text[NAME_BYTES])
{
  char kernel[GPNN_KERNEL_BYTES], of[32] = "";
  gpnn_kernel_write(candidate->kernel, candidate->smoothness, kernel);
  if (candidate->k > 0) snprintf(of, sizeof of, " of %zu", candidate->k);
  static const char *const rotations[] = {"", " whitened", " rotated"};
  static const char *const sights[] = {"", "", " of scores", " with scores"};
  snprintf(text, NAME_BYTES, "%s %s%s%s by %s%s", kernel, candidate->ard ? "ARD" : "isotropic",
           sights[candidate->sight], rotations[candidate->rotate],
           gpnn_objective_name(candidate->objective), of);
  return text;
}

/* The score of a candidate in words.  Returns 'text'. */
static const char *describe_score(const struct gpnn_candidate *candidate, char text[NAME_BYTES])
{
  if (candidate->objective == GPNN_OBJECTIVE_LABELS)
    snprintf(text, NAME_BYTES, "log loss %.4f", candidate->score);
  else if (isnan(candidate->crps))
    snprintf(text, NAME_BYTES, "NLL %.4f", candidate->nll);
  else
    snprintf(text, NAME_BYTES, "NLL %.4f, CRPS %.4f", candidate->nll, candidate->crps);
  return text;
}

static void put_candidate(struct json *report, const char *key,
                          const struct gpnn_candidate *candidate)
{
  static const char *const rotations[] = {"none", "whiten", "learn"};
  char name[NAME_BYTES], kernel[GPNN_KERNEL_BYTES];
  gpnn_kernel_write(candidate->kernel, candidate->smoothness, kernel);
  json_open(report, key, '{');
  json_text(report, "name", describe(candidate, name));
  json_text(report, "kernel", kernel);
  json_flag(report, "ard", candidate->ard);
  json_text(report, "rotate", rotations[candidate->rotate]);
  json_text(report, "input-scores",
            gpnn_sight_name(candidate->sight == 0 ? GPNN_SIGHT_VALUE : candidate->sight));
  json_text(report, "objective", gpnn_objective_name(candidate->objective));
  json_count(report, "neighbours", candidate->neighbours);
  bool of_labels = candidate->objective == GPNN_OBJECTIVE_LABELS;
  if (!isnan(candidate->crps)) json_number(report, "crps", candidate->crps);
  json_number(report, of_labels ? "log-loss" : "nll", candidate->nll);
  json_number(report, "standard-error", candidate->standard_error);
  json_number(report, of_labels ? "error" : "rmse", of_labels ? candidate->error : candidate->rmse);
  json_close(report, '}');
}

void fit_report_try(void *context, const struct gpnn_candidate *candidate)
{
  struct fit_report_tries *telling = context;
  char text[NAME_BYTES], score[NAME_BYTES];
  progress_at_most("models tried", ++telling->n, telling->most);
  bool of_labels = candidate->objective == GPNN_OBJECTIVE_LABELS;
  cli_note(telling->cli, "tried %-43s %3zu neighbours: %s, %s %.4f; standard error %.4f",
           describe(candidate, text), candidate->neighbours, describe_score(candidate, score),
           of_labels ? "error" : "RMSE", of_labels ? candidate->error : candidate->rmse,
           candidate->standard_error);
  put_candidate(telling->cli->report, NULL, candidate);
}

/* Says how the parameters were found, as a comment. */
static enum gpnn_status comment_fit(struct gpnn_parameters *params, size_t n,
                                    const struct gpnn_fit_report *fit, struct gpnn_error *err)
{
  if (fit->objective == GPNN_OBJECTIVE_BLOCK)
    return gpnn_parameters_comment(
        params, err,
        "fit: block objective %.6g a row, %zu blocks of %zu of %zu rows, %zu evaluations",
        fit->value, fit->n_blocks, fit->block_size, n, fit->optimize.n_evaluations);
  return gpnn_parameters_comment(
      params, err, "fit: %s objective %.6g a row, %zu of %zu rows, k %zu, %zu evaluations",
      gpnn_objective_name(fit->objective), fit->value, fit->n_rows, n, fit->k,
      fit->optimize.n_evaluations);
}

/* What the members score together.  Returns 'text'. */
static const char *describe_scores(const struct gpnn_choose_stack *stack, char text[NAME_BYTES])
{
  if (stack->member->objective == GPNN_OBJECTIVE_LABELS)
    snprintf(text, NAME_BYTES, "log loss %.4f", stack->nll);
  else
    snprintf(text, NAME_BYTES, "NLL %.4f, CRPS %.4f, RMSE %.4f", stack->nll, stack->crps,
             stack->rmse);
  return text;
}

/* Says what the members are, and what they cost. */
static enum gpnn_status comment_stack(struct gpnn_parameters *params,
                                      const struct gpnn_choose_report *report,
                                      struct gpnn_error *err)
{
  const struct gpnn_choose_stack *stack = &report->stack;
  char text[NAME_BYTES], scores[NAME_BYTES];
  if (stack->n == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_parameters_comment(
      params, err, "%zu members: %s (%zu rows left out); prediction takes %zu times as long",
      stack->n, describe_scores(stack, scores), stack->n_rows, stack->n);
  for (size_t k = 0; k < stack->n && status == GPNN_OK; k++)
    status = gpnn_parameters_comment(params, err, "member %zu: %s, weight %.2f", k + 1,
                                     describe(&stack->member[k], text), stack->weight[k]);
  return status;
}

size_t fit_n_rows(const struct fit_arguments *a, const struct gpnn_dataset *dataset)
{
  return a->rows == NULL ? dataset->n : a->rows->n_all;
}

enum gpnn_status fit_report_annotate(struct gpnn_parameters *params,
                                     const struct gpnn_dataset *view, size_t n,
                                     const struct gpnn_choose_report *report,
                                     struct gpnn_error *err)
{
  const struct gpnn_candidate *chosen = &report->chosen, *next = &report->runner_up;
  char text[NAME_BYTES], score[NAME_BYTES];
  /* A Gaussian likelihood is calibrated as published, which no cross-fit is. */
  if (params->likelihood == GPNN_LIKELIHOOD_GAUSSIAN)
    params->provenance.estimation = (struct gpnn_estimation){0};
  params->provenance.has_index = true;
  params->provenance.index = view->fingerprint;
  for (size_t k = 0; k < params->n_members; k++) {
    params->members[k].provenance.has_index = true;
    params->members[k].provenance.index = params->provenance.index;
  }
  enum gpnn_status status = comment_fit(params, n, &report->fit, err);
  if (status == GPNN_OK && next->kernel != NULL)
    status = gpnn_parameters_comment(
        params, err, "chosen: %s, %s with %zu neighbours (%zu rows left out)",
        describe(chosen, text), describe_score(chosen, score), chosen->neighbours, report->n_rows);
  if (status == GPNN_OK && next->kernel != NULL)
    status = gpnn_parameters_comment(params, err, "runner-up: %s, %s with %zu neighbours",
                                     describe(next, text), describe_score(next, score),
                                     next->neighbours);
  if (status == GPNN_OK && report->fewest.kernel != NULL)
    status = gpnn_parameters_comment(params, err, "neighbours: %zu, %s", report->fewest.neighbours,
                                     describe_score(&report->fewest, score));
  if (status == GPNN_OK) status = comment_stack(params, report, err);
  /* Coefficients with standard errors are of interest in themselves. */
  if (status == GPNN_OK && params->mean.covariance != NULL)
    status = gpnn_coefficients_describe(params, view, err);
  return status;
}

/* Near duplicates make neighbourhoods underestimate the noise. */
static void warn_of_duplicates(const struct cli *cli, double thin,
                               const struct gpnn_fit_report *fit)
{
  if (!gpnn_fit_has_copies(fit) || thin >= 0) return;
  cli_warn(
      cli,
      "most rows have near duplicates (the nearest row is at %.2g of the distance of the "
      "farthest neighbour, where %.2g is usual), so that new rows without any are predicted worse "
      "than expected: remove them, name a column of what belongs together (gpnn-index --by), or "
      "fit with gpnn-fit --thin",
      fit->spacing, fit->usual_spacing);
}

/* Warns about noise fixed so low that it cannot separate similar rows. */
static void warn_of_lost_noise(const struct cli *cli, const struct gpnn_parameters *params)
{
  if (!gpnn_fit_loses_noise(params)) return;
  cli_warn(cli,
           "a noise of %.3g is lost in rounding next to a kernel scale of %.3g: jitter of at least "
           "1e-10 of that scale keeps similar rows apart instead",
           params->covariance.noise, params->covariance.kernelscale);
}

void fit_report_found(const struct cli *cli, size_t n, const struct gpnn_parameters *params,
                      double thin, const struct gpnn_fit_report *fit)
{
  cli_note(cli, "objective %.6g from %.6g in %zu evaluations: %s", fit->optimize.end,
           fit->optimize.start, fit->optimize.n_evaluations, fit->optimize.outcome);
  warn_of_duplicates(cli, thin, fit);
  report_jitter(cli, fit->objective == GPNN_OBJECTIVE_BLOCK ? "blocks" : "neighbourhoods",
                &fit->jitter);
  report_jitter(cli, "rows that the mean was estimated from", &fit->mean_jitter);
  for (size_t t = 0; t < n && fit->jitter.n == 0; t++) warn_of_lost_noise(cli, &params[t]);
  for (size_t t = 0; t < n; t++) report_no_signal(cli, &params[t].covariance);
}

void fit_report_stack(const struct cli *cli, const struct gpnn_choose_stack *stack)
{
  char scores[NAME_BYTES];
  if (stack->n == 0) return;
  cli_note(cli, "%zu members together: %s (%zu rows left out); prediction takes %zu times as long",
           stack->n, describe_scores(stack, scores), stack->n_rows, stack->n);
}

/* ---- as JSON ------------------------------------------------------------------------------- */

void fit_report_open(const struct cli *cli, const struct gpnn_dataset *dataset, size_t n)
{
  json_count(cli->report, "rows", n);
  json_count(cli->report, "inputs", dataset->d);
  json_open(cli->report, "fits", '[');
}

void fit_report_close(const struct cli *cli)
{
  json_close(cli->report, ']');
}

void fit_report_begin(const struct cli *cli, const struct gpnn_dataset *dataset, size_t first,
                      size_t n)
{
  struct json *report = cli->report;
  json_open(report, NULL, '{');
  json_open(report, "targets", '[');
  for (size_t t = first; t < first + n; t++)
    json_text(report, NULL, gpnn_dataset_target(dataset, t)->schema.target.name);
  json_close(report, ']');
  json_open(report, "tried", '[');
}

void fit_report_end_tried(const struct cli *cli)
{
  json_close(cli->report, ']');
}

void fit_report_end(const struct cli *cli)
{
  json_close(cli->report, '}');
}

void fit_report_tried_transform(const struct cli *cli,
                                const struct gpnn_transform_candidate *candidate)
{
  struct json *report = cli->report;
  json_open(report, NULL, '{');
  json_text(report, "transform", gpnn_transform_name(candidate->kind));
  json_number(report, "nll", candidate->nll);
  json_number(report, "gain", candidate->gain);
  json_number(report, "standard-error", candidate->standard_error);
  json_flag(report, "larger-errors", candidate->harms);
  json_close(report, '}');
}

static void put_fit(struct json *report, const struct gpnn_fit_report *fit)
{
  bool blocks = fit->objective == GPNN_OBJECTIVE_BLOCK;
  json_open(report, "fit", '{');
  json_text(report, "objective", gpnn_objective_name(fit->objective));
  json_number(report, "value", fit->value);
  json_count(report, "rows", blocks ? fit->n_blocks * fit->block_size : fit->n_rows);
  json_count(report, "evaluations", fit->optimize.n_evaluations);
  json_text(report, "outcome", fit->optimize.outcome);
  json_close(report, '}');
}

static void put_stack(struct json *report, const struct gpnn_choose_stack *stack)
{
  char name[NAME_BYTES];
  json_open(report, "members", '[');
  for (size_t k = 0; k < stack->n; k++) {
    json_open(report, NULL, '{');
    json_text(report, "name", describe(&stack->member[k], name));
    json_number(report, "weight", stack->weight[k]);
    json_close(report, '}');
  }
  json_close(report, ']');
  if (stack->n == 0) return;
  bool of_labels = stack->member->objective == GPNN_OBJECTIVE_LABELS;
  if (!of_labels) json_number(report, "members-crps", stack->crps);
  json_number(report, of_labels ? "members-log-loss" : "members-nll", stack->nll);
  if (!of_labels) json_number(report, "members-rmse", stack->rmse);
}

void fit_report_result(const struct cli *cli, const struct gpnn_parameters *params,
                       const struct gpnn_choose_report *result)
{
  struct json *report = cli->report;
  put_fit(report, &result->fit);
  if (result->runner_up.kernel != NULL) {
    json_count(report, "left-out-rows", result->n_rows);
    put_candidate(report, "chosen", &result->chosen);
    put_candidate(report, "runner-up", &result->runner_up);
  }
  json_count(report, "neighbours", params->neighbours);
  put_stack(report, &result->stack);
  json_text(report, "transform", gpnn_transform_name(params->transform.kind));
}
