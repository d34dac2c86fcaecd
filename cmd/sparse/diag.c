/* gpnn-sparse --family diag. */
#include "cmd/sparse/sparse.h"

bool sparse_resolve_diag(const struct cli *cli, const struct sparse_arguments *a)
{
  bool is_diag = a->family == GPNN_FAMILY_DIAG;
  const char *misplaced =
      cli_given_of(cli, is_diag ? "fix,start,steps" : "optimizer,solver,truncation,tune,trace");
  if (misplaced != NULL)
    return cli_refuse(cli, "--%s is %sfor --family diag", misplaced, is_diag ? "not " : "");
  if (is_diag && !(a->tolerance < a->head))
    return cli_refuse(cli, "--tune: tol must be below tol-head");
  return true;
}

/* ---- the trace ---------------------------------------------------------------------------- */

/* Targets of an index share its inputs, so that the names of columns are those of all. */
static void write_names(struct trace *trace, size_t n_lengthscales)
{
  trace_text(trace, trace->names_targets ? "target\titeration" : "iteration");
  trace_text(trace, "\tseconds\tcg_steps_mean\tcg_steps_max\textra_steps\tmax_weight\trmse_batch"
                    "\tbound");
  trace_lengthscale_names(trace, n_lengthscales);
  trace_text(trace, "\tkernelscale\tnoise\tmin_s\n");
}

/* A gpnn_diag_options.record. */
static void write_step(void *context, const struct gpnn_diag_record *r)
{
  struct trace *trace = context;
  if (trace->output == NULL) return;
  if (trace_is_first(trace)) write_names(trace, r->n_lengthscales);
  trace_target(trace);
  if (trace->status == GPNN_OK)
    trace->status =
        gpnn_output_printf(trace->output, &trace->err, "%zu\t%.3f\t%g\t%zu\t%zu\t%g\t%.6g\t%.8g",
                           r->iteration, trace_seconds(trace), r->steps_mean, r->steps_most,
                           r->extra, r->most_weight, r->rmse_batch, r->bound);
  for (size_t l = 0; l < r->n_lengthscales && trace->status == GPNN_OK; l++)
    trace->status = gpnn_output_printf(trace->output, &trace->err, "\t%.6g", r->lengthscale[l]);
  if (trace->status == GPNN_OK)
    trace->status = gpnn_output_printf(trace->output, &trace->err, "\t%.6g\t%.6g\t%.6g\n",
                                       r->kernelscale, r->noise, r->least_s);
}

/* ---- the fit ------------------------------------------------------------------------------ */

static struct gpnn_diag_options options_of(const struct cli *cli, const struct sparse_arguments *a,
                                           const struct gpnn_collapsed_options *collapsed)
{
  const struct gpnn_collapsed_start_options *start = &collapsed->start;
  bool published = a->optimizer == GPNN_DIAG_ADAGRAD;
  struct gpnn_diag_options o =
      published ? gpnn_diag_published_options() : gpnn_diag_default_options();
  o.kernel = start->kernel;
  o.smoothness = start->smoothness;
  if (published && o.kernel == NULL) o.kernel = gpnn_kernel_by_name("rbf");
  o.start = *start;
  o.start.guess = NULL;
  o.ard = start->ard;
  o.m = collapsed->inducing;
  o.how = collapsed->how;
  o.z = collapsed->z;
  o.seed = start->seed;
  o.threads = start->threads;
  if (a->batch > 0) o.batch = a->batch;
  o.probes = a->probes;
  o.head = a->head;
  o.tolerance = a->tolerance;
  o.beta = a->beta;
  if (a->rate > 0) o.rate = a->rate;
  if (cli_given(cli, "solver")) o.solver = a->solver;
  if (cli_given(cli, "truncation")) o.truncation = a->truncation;
  if (cli_given(cli, "iterations")) o.iterations = a->iterations;
  if (a->polish == 0) o.polish = false;
  if (a->trace != NULL) o.record_every = o.iterations > 1000 ? o.iterations / 500 : 1;
  return o;
}

/* How many solutions there were, and how many of them ended early, for gpnn-info(1). */
static enum gpnn_status keep_solutions(const struct cli *cli, const struct gpnn_dataset *view,
                                       const struct gpnn_diag_solutions *s,
                                       struct gpnn_state *arrays, struct gpnn_error *err)
{
  const char *target = view->schema.target.name;
  double n = (double)s->n, capped = (double)s->n_capped;
  if (s->n == 0) return GPNN_OK; /* all were by factors */
  if (capped > GPNN_DIAG_MANY_CAPPED * n)
    cli_warn(cli,
             "%zu of %zu solutions by conjugate gradients (%.3g %%) ended before their residual "
             "was small: estimates are biased",
             s->n_capped, s->n, 100 * capped / n);
  enum gpnn_status status = gpnn_state_add(arrays, target, GPNN_DIAG_SOLUTIONS, 1, &n, err);
  if (status != GPNN_OK) return status;
  return gpnn_state_add(arrays, target, GPNN_DIAG_SOLUTIONS_CAPPED, 1, &capped, err);
}

enum gpnn_status sparse_fit_diag(const struct cli *cli, const struct sparse_arguments *a,
                                 const struct gpnn_collapsed_options *options,
                                 const struct gpnn_dataset *view, struct trace *trace,
                                 struct gpnn_parameters *params, struct gpnn_state *arrays,
                                 struct gpnn_collapsed_report *report, struct gpnn_error *err)
{
  struct gpnn_diag_options o = options_of(cli, a, options);
  struct gpnn_diag_report result;
  trace_begin(trace, view);
  o.record = write_step;
  o.record_context = trace;
  enum gpnn_status status = gpnn_diag_fit(view, &o, params, arrays, &result, err);
  if (status == GPNN_OK) status = keep_solutions(cli, view, &result.solutions, arrays, err);
  if (status != GPNN_OK) return status;
  *report = (struct gpnn_collapsed_report){.evaluations = result.start_evaluations,
                                           .inducing = result.m,
                                           .rank = result.m,
                                           .bound = result.bound};
  return GPNN_OK;
}
