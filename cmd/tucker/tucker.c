#include "cmd/tucker/tucker.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/common/json.h"
#include "cmd/common/modelled.h"
#include "cmd/common/output.h"
#include "cmd/common/progress.h"
#include "cmd/common/signals.h"
#include "cmd/common/trace.h"
#include "dataset/dataset.h"
#include "dataset/index/index.h"
#include "linalg/blas_threads.h"
#include "models/model_file.h"

/* ---- reports --------------------------------------------------------------------------------- */

/* The largest grid whose bound is known to less than 1 nat. */
static const double most_exact = 1e15;

enum { SHAPE_BYTES = 80 };

/* "10 x 10 x 5"; returns 'text'. */
static const char *write_shape(size_t p, const size_t *counts, char text[SHAPE_BYTES])
{
  size_t length = 0;
  text[0] = '\0';
  for (size_t l = 0; l < p && length < SHAPE_BYTES; l++)
    length += (size_t)snprintf(text + length, SHAPE_BYTES - length, "%s%zu", l == 0 ? "" : " x ",
                               counts[l]);
  return text;
}

static const char *variance_name(enum gpnn_tucker_variance variance)
{
  return variance == GPNN_TUCKER_RESIDUAL ? "residual" : "variational";
}

static void note(const struct cli *cli, const struct tucker_arguments *a,
                 const struct gpnn_tucker_report *report)
{
  char points[SHAPE_BYTES], ranks[SHAPE_BYTES];
  const struct gpnn_tucker_shape *shape = &report->shape;
  write_shape(shape->p, shape->m, points);
  if (shape->is_diagonal)
    cli_note(cli, "a grid of %s points; the mean is a sum of %zu products", points, shape->q[0]);
  else
    cli_note(cli, "a grid of %s points; the mean is of rank %s", points,
             write_shape(shape->p, shape->q, ranks));
  if (a->fit.kernel != gpnn_kernel_by_name("rbf"))
    cli_note(cli,
             "kernel %s: a product of one for each input, which differs from that of distances",
             a->fit.kernel->name);
  cli_note(cli, "bound %.6g, RMSE %.4g (standardised) after %zu sweeps%s", report->bound,
           report->rmse, report->n_sweeps, report->converged ? ": converged" : "");
  cli_note(cli, "covariance shrinkage %.3g, variance of residuals %.4g: variances are %s",
           report->shrinkage, report->residual, variance_name(report->variance));
}

static void warn(const struct cli *cli, const struct tucker_arguments *a,
                 const struct gpnn_tucker_report *report)
{
  if (report->variance == GPNN_TUCKER_VARIATIONAL && report->shrinkage > 0.1 &&
      !a->fit.has_prior_covariance)
    cli_warn(cli,
             "the grid has so many points that its covariance is %.0f%% the prior's: variances "
             "say little (see --variance)",
             100 * report->shrinkage);
  if (report->jitter > a->fit.jitter * (1 + 1e-9))
    cli_warn(cli,
             "a jitter of %.3g was needed, as points of the grid are close to each other in "
             "lengthscales",
             report->jitter);
  if (report->n_points > most_exact)
    cli_warn(cli, "of a grid of %.2g points the bound is not known to less than 1",
             report->n_points);
}

static void put_counts(struct json *json, const char *name, size_t p, const size_t *counts)
{
  json_open(json, name, '[');
  for (size_t l = 0; l < p; l++) json_count(json, NULL, counts[l]);
  json_close(json, ']');
}

static void put(struct json *json, const struct gpnn_dataset *view,
                const struct gpnn_tucker_report *report)
{
  json_open(json, NULL, '{');
  json_text(json, "target", view->schema.target.name);
  json_count(json, "rows", view->n);
  put_counts(json, "grid-size", report->shape.p, report->shape.m);
  put_counts(json, "rank", report->shape.p, report->shape.q);
  json_count(json, "steps", report->n_sweeps);
  json_flag(json, "converged", report->converged);
  json_number(json, "bound", report->bound);
  json_number(json, "rmse", report->rmse);
  json_number(json, "covariance-shrinkage", report->shrinkage);
  json_number(json, "residual-variance", report->residual);
  json_text(json, "variance", variance_name(report->variance));
  json_number(json, "jitter", report->jitter);
  json_close(json, '}');
}

/* Notes and warnings about the model of a view's target, and its part of the report. */
static void tucker_report(const struct cli *cli, const struct tucker_arguments *a,
                          const struct gpnn_dataset *view, const struct gpnn_tucker_report *report)
{
  note(cli, a, report);
  warn(cli, a, report);
  put(cli->report, view, report);
}

/* The path of the model while it is not whole; NULL: there is none. */
static const char *volatile unfinished;

/* What is known of all targets; owned but for what is said. */
struct run {
  const struct cli *cli;
  struct tucker_arguments *a;
  const struct gpnn_dataset *dataset; /* borrowed */
  size_t n;                           /* targets that are modelled */
  const struct gpnn_dataset **views;  /* n */
  struct gpnn_parameters *params;     /* n */
  struct gpnn_state *arrays;
  struct trace trace;
};

/* ---- the work ----------------------------------------------------------------------------- */

/* Completes what the estimation has found of a target. */
static enum gpnn_status complete(struct run *r, size_t t, const struct gpnn_tucker_report *report,
                                 struct gpnn_error *err)
{
  struct gpnn_parameters *params = &r->params[t];
  const char *name = r->views[t]->schema.target.name;
  params->likelihood = r->a->likelihood;
  params->provenance.has_index = true;
  params->provenance.index = r->dataset->fingerprint;
  enum gpnn_status status = modelled_name_target(r->dataset, r->views[t], params, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(r->arrays, name, GPNN_TUCKER_BOUND, 1, &report->bound, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(r->arrays, name, GPNN_TUCKER_SHRINKAGE, 1, &report->shrinkage, err);
  return status;
}

static void put_numbers(struct trace *trace, size_t n, const double *values)
{
  for (size_t i = 0; i < n; i++) {
    trace_text(trace, "\t");
    if (trace->status == GPNN_OK)
      trace->status = gpnn_output_number(trace->output, values[i], &trace->err);
  }
}

/* A gpnn_tucker_options.progress: the progress line, and a row of the trace. */
static void show_sweep(void *context, const struct gpnn_tucker_progress *sweep)
{
  struct run *r = context;
  struct trace *trace = &r->trace;
  const double numbers[] = {sweep->kernelscale, sweep->noise, sweep->shrinkage};
  progress_update("sweeps", sweep->sweep, r->a->fit.n_sweeps);
  if (trace->output == NULL) return;
  if (trace_is_first(trace)) {
    trace_text(trace, trace->names_targets ? "target\tstep" : "step");
    trace_text(trace, "\tseconds\tbound\trmse");
    trace_lengthscale_names(trace, sweep->p);
    trace_text(trace, "\tkernelscale\tnoise\tshrinkage\n");
  }
  trace_target(trace);
  if (trace->status == GPNN_OK)
    trace->status = gpnn_output_printf(trace->output, &trace->err, "%zu\t%.3f", sweep->sweep,
                                       trace_seconds(trace));
  put_numbers(trace, 1, &sweep->bound);
  put_numbers(trace, 1, &sweep->rmse);
  put_numbers(trace, sweep->p, sweep->lengthscale);
  put_numbers(trace, 3, numbers);
  trace_text(trace, "\n");
  if (trace->status == GPNN_OK) trace->status = gpnn_output_flush(trace->output, &trace->err);
}

static enum gpnn_status fit_target(struct run *r, size_t t, struct gpnn_error *err)
{
  struct gpnn_tucker_options options = r->a->fit;
  struct gpnn_tucker_report report;
  struct cli about = *r->cli;
  if (r->n > 1) about.target = r->views[t]->schema.target.name;
  trace_begin(&r->trace, r->views[t]);
  options.progress = show_sweep;
  options.progress_context = r;
  enum gpnn_status status =
      gpnn_tucker_fit(r->views[t], &options, &r->params[t], r->arrays, &report, err);
  if (status != GPNN_OK) return status;
  tucker_report(&about, r->a, r->views[t], &report);
  return complete(r, t, &report, err);
}

static enum gpnn_status fit_all(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  json_open(r->cli->report, "targets", '[');
  for (size_t t = 0; t < r->n && status == GPNN_OK; t++) status = fit_target(r, t, err);
  json_close(r->cli->report, ']');
  return status;
}

/* Estimates everything, then writes the trace, and the model last. */
static enum gpnn_status fit_and_write(struct run *r, struct gpnn_error *err)
{
  r->trace.names_targets = r->n > 1;
  enum gpnn_status status = tucker_match(r->a, r->dataset->d, err);
  if (status == GPNN_OK) status = cli_try_output(r->a->output, &unfinished, err);
  if (status == GPNN_OK) status = gpnn_state_new(&r->arrays, r->dataset->fingerprint, err);
  if (status == GPNN_OK && r->a->trace != NULL) status = trace_open(&r->trace, r->a->trace, err);
  if (status == GPNN_OK) status = fit_all(r, err);
  progress_erase();
  status = trace_close(&r->trace, status, err);
  if (status == GPNN_OK)
    status = gpnn_model_file_write(r->a->output, r->dataset, r->n, r->params, r->arrays,
                                   r->a->fit.threads, &unfinished, err);
  return status;
}

enum gpnn_status tucker_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct run r = {.cli = cli, .a = arguments};
  struct gpnn_index *index = NULL;
  cli_guard(&unfinished);
  r.a->fit.threads = gpnn_blas_claim(cli->threads);
  if (r.a->fit.threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK)
    status = modelled_targets(index, r.a->targets,
                              "its sites and times are another kind of grid: use gpnn-grid fit",
                              &r.n, &r.views, err);
  if (status == GPNN_OK) {
    r.dataset = gpnn_index_dataset(index);
    r.params = gpnn_alloc(r.n, 1, sizeof *r.params);
    status = r.params != NULL ? fit_and_write(&r, err) : gpnn_fail_memory(err, "for the targets");
  }
  gpnn_state_free(r.arrays);
  gpnn_parameters_free(r.params, r.params != NULL ? r.n : 0);
  free(r.views);
  gpnn_index_close(index);
  return status;
}
