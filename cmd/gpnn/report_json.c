/* The report as members of the one JSON object of the tool. */
#include "cmd/common/json.h"
#include "cmd/gpnn/report.h"
#include "stats/transform.h"

static void put_columns(struct json *json, const struct findings *f)
{
  const struct gpnn_schema *schema = &f->opened.dataset->schema;
  json_open(json, "input", '[');
  for (size_t i = 0; i < schema->n_inputs; i++) json_text(json, NULL, schema->inputs[i].name);
  json_close(json, ']');
  json_open(json, "unused", '[');
  for (size_t i = 0; i < f->n_unused && f->unused != NULL; i++) json_text(json, NULL, f->unused[i]);
  json_close(json, ']');
}

/* In the units of the target, and in its standard deviations. */
static void put_scores(struct json *json, const struct gpnn_metrics_result *scores, double unit,
                       bool of_counts)
{
  const struct gpnn_metrics_result standard = gpnn_metrics_in_units(scores, unit, of_counts);
  json_number(json, "rmse", scores->rmse);
  json_number(json, "rmse_standard", standard.rmse);
  json_number(json, "r2", scores->r2);
  if (!scores->has_sd) return;
  json_number(json, "nll_standard", standard.nll);
  json_number(json, "coverage95", scores->coverage[0]);
}

static void put_class_scores(struct json *json, const struct gpnn_classification_result *scores)
{
  json_number(json, "error", scores->error);
  json_number(json, "nll", scores->nll);
  json_number(json, "brier", scores->brier);
  json_number(json, "ece", scores->ece);
  json_number(json, "auc", scores->auc);
  json_count(json, "unseen", scores->n_unseen);
}

static void put_classes(struct json *json, const struct gpnn_dataset *view)
{
  json_open(json, "class", '[');
  for (size_t c = 0; c < gpnn_dataset_n_classes(view); c++) {
    size_t length;
    json_text(json, NULL, gpnn_dataset_class(view, c, &length));
  }
  json_close(json, ']');
}

static void put_model(struct json *json, const struct gpnn_parameters *parameters)
{
  bool has_process = !gpnn_parameters_lack_process(parameters);
  json_open(json, "model", '[');
  for (size_t k = 0; has_process && k < gpnn_parameters_n_members(parameters); k++) {
    const struct gpnn_parameters *member = gpnn_parameters_member(parameters, k);
    char kernel[GPNN_KERNEL_BYTES];
    gpnn_kernel_write(member->covariance.kernel, member->covariance.smoothness, kernel);
    json_open(json, NULL, '{');
    json_text(json, "kernel", kernel);
    json_flag(json, "ard", member->covariance.n_lengthscales > 1);
    json_flag(json, "rotated", member->covariance.rotation != NULL);
    json_count(json, "neighbours", member->neighbours);
    json_number(json, "weight", gpnn_parameters_weight(parameters, k));
    json_close(json, '}');
  }
  json_close(json, ']');
  json_text(json, "transform", gpnn_transform_name(parameters->transform.kind));
}

static void put_with_copies(struct json *json, const struct gpnn_expected *expected)
{
  json_count(json, "copies", expected->n_copies);
  json_open(json, "with-copies", '{');
  if (expected->of_classes)
    put_class_scores(json, &expected->classes_with_copies);
  else
    put_scores(json, &expected->scores_with_copies, expected->unit, expected->of_counts);
  json_close(json, '}');
}

static void put_outlook(struct json *json, const struct outlook *outlook)
{
  static const char *const rows[] = {[GPNN_EXPECTED_HELD_OUT] = "held out",
                                     [GPNN_EXPECTED_LEFT_OUT] = "left out",
                                     [GPNN_EXPECTED_CROSS_FITTED] = "cross-fitted"};
  json_open(json, "expected", '{');
  if (outlook->is_known) {
    json_count(json, "rows", outlook->expected.scores.n);
    json_text(json, "on", rows[outlook->expected.on]);
    if (outlook->expected.of_classes)
      put_class_scores(json, &outlook->expected.classes);
    else
      put_scores(json, &outlook->expected.scores, outlook->expected.unit,
                 outlook->expected.of_counts);
    if (outlook->expected.n_copies > 0) put_with_copies(json, &outlook->expected);
  }
  json_close(json, '}');
}

static void put_scored(struct json *json, const struct findings *f, size_t t)
{
  const struct gpnn_scored_target *target = &f->scored.targets[t];
  json_open(json, "predicted", '{');
  json_count(json, "rows", f->scored.n_rows);
  if (target->has_mean) json_count(json, "missing", f->scored.n_rows - target->n_predicted);
  json_count(json, "scored", target->n_scored);
  if (target->n_scored > 0 && target->of_classes)
    put_class_scores(json, &target->classes);
  else if (target->n_scored > 0)
    put_scores(json, &target->scores, f->opened.channels[t].dataset->scaling.y_sd,
               gpnn_likelihood_is_of_counts(f->opened.channels[t].parameters->likelihood));
  json_close(json, '}');
}

static void put_target(struct json *json, const struct places *places, const struct findings *f,
                       size_t t)
{
  const struct gpnn_channel *channel = &f->opened.channels[t];
  json_open(json, NULL, '{');
  json_text(json, "target", channel->dataset->schema.target.name);
  if (gpnn_dataset_n_classes(channel->dataset) > 0) {
    put_classes(json, channel->dataset);
  } else {
    json_number(json, "mean", channel->dataset->scaling.y_mean);
    json_number(json, "sd", channel->dataset->scaling.y_sd);
  }
  put_model(json, channel->parameters);
  put_outlook(json, &f->outlooks[t]);
  if (places->test != NULL) put_scored(json, f, t);
  json_close(json, '}');
}

static void put_effects(struct json *json, const struct effects_trial *trial)
{
  if (trial->list == NULL) return;
  json_open(json, "group-effects", '{');
  json_text(json, "of", trial->list);
  json_flag(json, "used", trial->is_better);
  if (trial->is_possible) json_number(json, "nll_standard", trial->with);
  json_number(json, "nll_standard_without", trial->without);
  json_number(json, "seconds", trial->seconds);
  json_close(json, '}');
}

void report_json(struct json *json, const struct places *places, const struct findings *f)
{
  const struct gpnn_dataset *dataset = f->opened.dataset;
  json_text(json, "table", places->train);
  json_count(json, "rows", dataset->n);
  json_count(json, "calibration-rows", dataset->n_calibration);
  json_count(json, "skipped-rows", dataset->n_skipped);
  put_columns(json, f);
  json_flag(json, "gaps", places->lies_in_gaps);
  put_effects(json, &f->effects);
  json_open(json, "targets", '[');
  for (size_t t = 0; t < f->opened.n; t++) put_target(json, places, f, t);
  json_close(json, ']');
  if (places->test != NULL) json_text(json, "test", places->test);
  if (places->keeps) json_text(json, "kept", places->kept.model);
  json_open(json, "step-seconds", '{');
  for (enum step step = STEP_INDEX; step < STEPS; step++)
    if (f->ran[step]) json_number(json, steps_name(step), f->seconds[step]);
  json_close(json, '}');
}
