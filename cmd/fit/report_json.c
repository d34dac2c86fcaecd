/* The report as JSON. */
#include "cmd/common/json.h"
#include "cmd/fit/report.h"

void fit_report_open(const struct cli *cli, const struct gpnn_dataset *dataset)
{
  if (cli->report == NULL) return;
  json_count(cli->report, "rows", dataset->n);
  json_count(cli->report, "inputs", dataset->d);
  json_open(cli->report, "fits", '[');
}

void fit_report_close(const struct cli *cli)
{
  if (cli->report != NULL) json_close(cli->report, ']');
}

void fit_report_begin(const struct cli *cli, const struct gpnn_dataset *dataset, size_t first,
                      size_t n)
{
  struct json *report = cli->report;
  if (report == NULL) return;
  json_open(report, NULL, '{');
  json_open(report, "targets", '[');
  for (size_t t = first; t < first + n; t++)
    json_text(report, NULL, gpnn_dataset_target(dataset, t)->schema.target.name);
  json_close(report, ']');
  json_open(report, "tried", '[');
}

void fit_report_end_tried(const struct cli *cli)
{
  if (cli->report != NULL) json_close(cli->report, ']');
}

void fit_report_end(const struct cli *cli)
{
  if (cli->report != NULL) json_close(cli->report, '}');
}

static void put_candidate(struct json *report, const char *key,
                          const struct gpnn_candidate *candidate)
{
  static const char *const rotations[] = {"none", "whiten", "learn"};
  char name[FIT_REPORT_NAME_BYTES], kernel[GPNN_KERNEL_BYTES];
  gpnn_kernel_write(candidate->kernel, candidate->smoothness, kernel);
  json_open(report, key, '{');
  json_text(report, "name", fit_report_describe(candidate, name));
  json_text(report, "kernel", kernel);
  json_flag(report, "ard", candidate->ard);
  json_text(report, "rotate", rotations[candidate->rotate]);
  json_text(report, "objective", gpnn_objective_name(candidate->objective));
  json_count(report, "neighbours", candidate->neighbours);
  bool of_labels = candidate->objective == GPNN_OBJECTIVE_LABELS;
  json_number(report, of_labels ? "log-loss" : "nll", candidate->nll);
  json_number(report, "standard-error", candidate->standard_error);
  json_number(report, of_labels ? "error" : "rmse", of_labels ? candidate->error : candidate->rmse);
  json_close(report, '}');
}

void fit_report_tried(const struct cli *cli, const struct gpnn_candidate *candidate)
{
  if (cli->report != NULL) put_candidate(cli->report, NULL, candidate);
}

void fit_report_tried_transform(const struct cli *cli,
                                const struct gpnn_transform_candidate *candidate)
{
  struct json *report = cli->report;
  if (report == NULL) return;
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
  char name[FIT_REPORT_NAME_BYTES];
  json_open(report, "members", '[');
  for (size_t k = 0; k < stack->n; k++) {
    json_open(report, NULL, '{');
    json_text(report, "name", fit_report_describe(&stack->member[k], name));
    json_number(report, "weight", stack->weight[k]);
    json_close(report, '}');
  }
  json_close(report, ']');
  if (stack->n == 0) return;
  bool of_labels = stack->member->objective == GPNN_OBJECTIVE_LABELS;
  json_number(report, of_labels ? "members-log-loss" : "members-nll", stack->nll);
  if (!of_labels) json_number(report, "members-rmse", stack->rmse);
}

void fit_report_result(const struct cli *cli, const struct gpnn_parameters *params,
                       const struct gpnn_choose_report *result)
{
  struct json *report = cli->report;
  if (report == NULL) return;
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
