#include "cmd/predict/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "models/joint.h"

/* ---- fields ------------------------------------------------------------------------------- */

static enum gpnn_status separate(struct sink *sink, struct gpnn_error *err)
{
  bool at_start = sink->at_start;
  sink->at_start = false;
  return at_start ? GPNN_OK : gpnn_output_write(sink->output, &sink->delimiter, 1, err);
}

enum gpnn_status sink_bytes(struct sink *sink, const char *text, size_t length,
                            struct gpnn_error *err)
{
  enum gpnn_status status = separate(sink, err);
  if (status != GPNN_OK) return status;
  return gpnn_table_write_field(sink->output, sink->delimiter, text, length, err);
}

enum gpnn_status sink_text(struct sink *sink, const char *text, struct gpnn_error *err)
{
  return sink_bytes(sink, text, strlen(text), err);
}

enum gpnn_status sink_value(struct sink *sink, double value, struct gpnn_error *err)
{
  if (isnan(value)) return sink_text(sink, sink->na, err);
  enum gpnn_status status = separate(sink, err);
  return status == GPNN_OK ? gpnn_output_number(sink->output, value, err) : status;
}

/* ---- names -------------------------------------------------------------------------------- */

enum gpnn_status columns_write_name(const struct columns *c, struct sink *sink, const char *name,
                                    struct gpnn_error *err)
{
  const char *target = c->channel->dataset->schema.target.name;
  if (!c->is_one_of_several) return sink_text(sink, name, err);
  size_t size = strlen(name) + strlen(target) + 2;
  char *whole = malloc(size);
  if (whole == NULL) return gpnn_fail_memory(err, "for the name of a column");
  snprintf(whole, size, "%s_%s", name, target);
  enum gpnn_status status = sink_text(sink, whole, err);
  free(whole);
  return status;
}

/* Writes "lower" and "upper"; with several intervals, "lower90" and so on. */
static enum gpnn_status write_interval_names(const struct columns *c, struct sink *sink, size_t i,
                                             struct gpnn_error *err)
{
  const struct cli_probabilities *intervals = &c->plan->intervals;
  char lower[48] = "lower", upper[48] = "upper", percent[GPNN_NUMBER_BYTES];
  if (intervals->n > 1) {
    snprintf(percent, sizeof percent, "%.10g", 100 * intervals->p[i]);
    snprintf(lower, sizeof lower, "lower%s", percent);
    snprintf(upper, sizeof upper, "upper%s", percent);
  }
  enum gpnn_status status = columns_write_name(c, sink, lower, err);
  return status == GPNN_OK ? columns_write_name(c, sink, upper, err) : status;
}

static size_t n_scores(const struct columns *c)
{
  return !c->has_scores ? 0 : c->has_step ? 4 : 3;
}

enum gpnn_status columns_write_names(const struct columns *c, struct sink *sink,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (c->has_truth) status = sink_text(sink, c->channel->dataset->schema.target.name, err);
  if (status == GPNN_OK) status = columns_write_name(c, sink, "mean", err);
  if (status == GPNN_OK && !c->plan->options.mean_only)
    status = columns_write_name(c, sink, "sd", err);
  if (status == GPNN_OK && c->degrees > 0) status = columns_write_name(c, sink, "df", err);
  for (size_t i = 0; i < c->plan->intervals.n && status == GPNN_OK; i++)
    status = write_interval_names(c, sink, i, err);
  static const char *const scores[] = {"logp", "crps", "pit", "pitstep"};
  for (size_t i = 0; i < n_scores(c) && status == GPNN_OK; i++)
    status = columns_write_name(c, sink, scores[i], err);
  if (status == GPNN_OK && c->flags_far) status = columns_write_name(c, sink, "far", err);
  if (status == GPNN_OK && c->flags_outside) status = columns_write_name(c, sink, "outside", err);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

void columns_complete(struct columns *c, const struct gpnn_predictor *predictor, size_t channel,
                      const struct cli *cli)
{
  const struct gpnn_predict_options *options = &c->plan->options;
  const struct cli_probabilities *intervals = &c->plan->intervals;
  bool says_all = c->is_of_sums || !gpnn_predictor_needs_scores(predictor, channel);
  /* Truths are observations: they say nothing about the function, nor about a mean alone. */
  c->has_scores = c->has_truth && !c->is_in_sample && (c->always_scored || !says_all) &&
                  !options->latent && !options->mean_only;
  c->has_step = gpnn_predictor_has_atom(predictor, channel);
  c->degrees = options->mean_only || !says_all ? 0 : gpnn_predictor_degrees(predictor, channel);
  for (size_t i = 0; i < intervals->n; i++) {
    const char *source;
    double level = intervals->p[i];
    c->half_widths[i] = c->is_of_sums
                            ? gpnn_joint_half_width(predictor, channel, level, &source)
                            : gpnn_predictor_half_width(predictor, channel, level, &source);
    cli_note(cli, "interval of %g: mean -+ %.4g sd, %s", intervals->p[i], c->half_widths[i],
             source);
  }
}

double columns_truth(const struct columns *c, double truth)
{
  return gpnn_predict_target(c->channel->dataset, c->plan->options.units, truth);
}

static enum gpnn_status write_interval(const struct columns *c, struct sink *sink, size_t i,
                                       const struct prediction *p, struct gpnn_error *err)
{
  double lower, upper;
  gpnn_distribution_interval(&p->distribution, c->half_widths[i], &lower, &upper);
  enum gpnn_status status = sink_value(sink, lower, err);
  return status == GPNN_OK ? sink_value(sink, upper, err) : status;
}

enum gpnn_status columns_write_row(const struct columns *c, struct sink *sink, double truth,
                                   const struct prediction *p, struct gpnn_error *err)
{
  const double scores[] = {p->score.logp, p->score.crps, p->score.pit, p->score.step};
  enum gpnn_status status = GPNN_OK;
  if (c->has_truth) status = sink_value(sink, truth, err);
  if (status == GPNN_OK) status = sink_value(sink, p->mean, err);
  if (status == GPNN_OK && !c->plan->options.mean_only) status = sink_value(sink, p->sd, err);
  if (status == GPNN_OK && c->degrees > 0)
    status = sink_value(sink, isnan(p->mean) ? p->mean : c->degrees, err);
  for (size_t i = 0; i < c->plan->intervals.n && status == GPNN_OK; i++)
    status = write_interval(c, sink, i, p, err);
  for (size_t i = 0; i < n_scores(c) && status == GPNN_OK; i++)
    status = sink_value(sink, scores[i], err);
  if (status == GPNN_OK && c->flags_far) status = sink_value(sink, p->far, err);
  if (status == GPNN_OK && c->flags_outside) status = sink_value(sink, p->outside, err);
  return status;
}
