#include "cmd/predict/predicted.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/report.h"

/* ---- fields ------------------------------------------------------------------------------- */

static enum gpnn_status separate(struct sink *sink, struct gpnn_error *err)
{
  bool at_start = sink->at_start;
  sink->at_start = false;
  return at_start ? GPNN_OK : gpnn_output_write(sink->output, &sink->delimiter, 1, err);
}

enum gpnn_status sink_text(struct sink *sink, const char *text, struct gpnn_error *err)
{
  enum gpnn_status status = separate(sink, err);
  if (status != GPNN_OK) return status;
  return gpnn_table_write_field(sink->output, sink->delimiter, text, strlen(text), err);
}

/* Not a number is missing. */
static enum gpnn_status write_value(struct sink *sink, double value, struct gpnn_error *err)
{
  if (isnan(value)) return sink_text(sink, sink->na, err);
  enum gpnn_status status = separate(sink, err);
  return status == GPNN_OK ? gpnn_output_number(sink->output, value, err) : status;
}

/* ---- names -------------------------------------------------------------------------------- */

/* "mean", or of one target of several "mean_NAME". */
static enum gpnn_status write_name(const struct predicted *p, struct sink *sink, const char *name,
                                   struct gpnn_error *err)
{
  const char *target = p->dataset->schema.target.name;
  if (!p->is_one_of_several) return sink_text(sink, name, err);
  size_t size = strlen(name) + strlen(target) + 2;
  char *whole = malloc(size);
  if (whole == NULL) return gpnn_fail_memory(err, "for the name of a column");
  snprintf(whole, size, "%s_%s", name, target);
  enum gpnn_status status = sink_text(sink, whole, err);
  free(whole);
  return status;
}

/* "lower" and "upper"; with several intervals "lower90" and so on. */
static enum gpnn_status write_interval_names(const struct predicted *p, struct sink *sink, size_t i,
                                             struct gpnn_error *err)
{
  const struct cli_probabilities *intervals = &p->plan->intervals;
  char lower[48] = "lower", upper[48] = "upper", percent[GPNN_NUMBER_BYTES];
  if (intervals->n > 1) {
    snprintf(percent, sizeof percent, "%.10g", 100 * intervals->p[i]);
    snprintf(lower, sizeof lower, "lower%s", percent);
    snprintf(upper, sizeof upper, "upper%s", percent);
  }
  enum gpnn_status status = write_name(p, sink, lower, err);
  return status == GPNN_OK ? write_name(p, sink, upper, err) : status;
}

static bool has_degrees(const struct predicted *p)
{
  return p->params->degrees > 0 && !p->plan->options.mean_only;
}

enum gpnn_status predicted_write_names(const struct predicted *p, struct sink *sink,
                                       struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (p->has_target) status = sink_text(sink, p->dataset->schema.target.name, err);
  if (status == GPNN_OK) status = write_name(p, sink, "mean", err);
  if (status == GPNN_OK && !p->plan->options.mean_only) status = write_name(p, sink, "sd", err);
  if (status == GPNN_OK && has_degrees(p)) status = write_name(p, sink, "df", err);
  for (size_t i = 0; i < p->plan->intervals.n && status == GPNN_OK; i++)
    status = write_interval_names(p, sink, i, err);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

void predicted_begin(struct predicted *p, const struct cli *cli)
{
  static const char *const sources[] = {"Gaussian", "Student's t", "conformal"};
  const struct cli_probabilities *intervals = &p->plan->intervals;
  for (size_t i = 0; i < intervals->n; i++) {
    enum gpnn_interval_source source;
    p->half_widths[i] =
        gpnn_predict_half_width(p->params, &p->plan->options, intervals->p[i], &source);
    cli_note(cli, "interval of %g: mean -+ %.4g sd, %s", intervals->p[i], p->half_widths[i],
             sources[source]);
  }
}

enum gpnn_status predicted_batch_new(struct predicted_batch *batch, size_t n,
                                     struct gpnn_error *err)
{
  batch->target = gpnn_alloc(n, 1, sizeof *batch->target);
  batch->mean = gpnn_alloc(n, 1, sizeof *batch->mean);
  batch->sd = gpnn_alloc(n, 1, sizeof *batch->sd);
  batch->nearest = gpnn_alloc(n, 1, sizeof *batch->nearest);
  bool enough = batch->target && batch->mean && batch->sd && batch->nearest;
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for a batch of rows");
}

enum gpnn_status predicted_fill_all(struct predicted *all, struct predicted_batch *batches,
                                    size_t n, size_t n_rows, const double *x,
                                    const double *regressors, const double *noise,
                                    struct gpnn_error *err)
{
  const struct gpnn_localgp **gps = gpnn_alloc(n, 1, sizeof(const struct gpnn_localgp *));
  struct gpnn_predict_rows *rows = gpnn_alloc(n, 1, sizeof *rows);
  struct gpnn_predict_counts *counts = gpnn_alloc(n, 1, sizeof *counts);
  enum gpnn_status status = GPNN_OK;
  if (gps == NULL || rows == NULL || counts == NULL) status = gpnn_fail_memory(err, "for targets");
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    gps[t] = all[t].gp;
    counts[t] = all[t].counts;
    rows[t] = (struct gpnn_predict_rows){.n = n_rows,
                                         .x = x,
                                         .regressors = regressors,
                                         .noise = noise,
                                         .mean = batches[t].mean,
                                         .sd = batches[t].sd,
                                         .nearest = batches[t].nearest};
  }
  if (status == GPNN_OK) status = gpnn_predict_all(n, gps, &all->plan->options, rows, counts, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++) all[t].counts = counts[t];
  free(gps);
  free(rows);
  free(counts);
  return status;
}

enum gpnn_status predicted_write_row(const struct predicted *p, const struct predicted_batch *batch,
                                     struct sink *sink, size_t row, size_t good,
                                     struct gpnn_error *err)
{
  const struct gpnn_predict_options *options = &p->plan->options;
  bool known = good != SIZE_MAX;
  double mean = known ? batch->mean[good] : nan(""), sd = known ? batch->sd[good] : nan("");
  enum gpnn_status status = GPNN_OK;
  if (p->has_target)
    status =
        write_value(sink, gpnn_predict_target(p->dataset, options->units, batch->target[row]), err);
  if (status == GPNN_OK) status = write_value(sink, mean, err);
  if (status == GPNN_OK && !options->mean_only) status = write_value(sink, sd, err);
  if (status == GPNN_OK && has_degrees(p))
    status = write_value(sink, isnan(mean) ? mean : p->params->degrees, err);
  for (size_t i = 0; i < p->plan->intervals.n && status == GPNN_OK; i++) {
    status = write_value(sink, mean - p->half_widths[i] * sd, err);
    if (status == GPNN_OK) status = write_value(sink, mean + p->half_widths[i] * sd, err);
  }
  return status;
}

/* ---- life --------------------------------------------------------------------------------- */

static void report(const struct predicted *p, const struct cli *cli)
{
  const struct gpnn_predict_counts *counts = &p->counts;
  double share = counts->n_rows == 0 ? 0 : 100 * (double)counts->n_far / (double)counts->n_rows;
  report_counts(cli, &counts->model);
  if (counts->n_beyond > 0)
    cli_note(cli, "%zu of %zu rows lie beyond the largest distance", counts->n_beyond,
             counts->n_rows);
  if (gpnn_predict_warns_of_far(counts))
    cli_warn(cli,
             "%.3g %% of %zu rows lie farther from the training rows than 99.9 %% of the rows seen "
             "in calibration did; their uncertainty may be too small: see --like and --blocked in "
             "gpnn-calibrate(1)",
             share, counts->n_rows);
  else if (p->params->calibration.has_distance)
    cli_note(cli,
             "%.3g %% of the rows lie farther from the training rows than 99.9 %% of the rows seen "
             "in calibration did",
             share);
}

void predicted_report(const struct predicted *p, const struct cli *cli)
{
  char text[CLI_ABOUT_BYTES];
  struct cli about = *cli;
  if (p->is_one_of_several) about.about = cli_target(text, p->params->target);
  report(p, &about);
}

void predicted_release(struct predicted *p)
{
  gpnn_localgp_free(p->gp);
  *p = (struct predicted){0};
}

void predicted_batch_release(struct predicted_batch *batch)
{
  free(batch->target);
  free(batch->mean);
  free(batch->sd);
  free(batch->nearest);
  *batch = (struct predicted_batch){0};
}
