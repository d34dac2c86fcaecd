/* gpnn-sparse --family diag. */
#include <math.h>
#include <time.h>

#include "cmd/common/output.h"
#include "cmd/common/progress.h"
#include "cmd/sparse/sparse.h"

bool sparse_resolve_diag(const struct cli *cli, const struct sparse_arguments *a)
{
  static const char *const own[] = {"optimizer",  "iterations", "rate",      "batch",
                                    "probes",     "solver",     "eps-head",  "eps",
                                    "truncation", "beta",       "no-polish", "trace"};
  static const char *const fixes[] = {"fix", "start", "steps"};
  for (size_t i = 0; i < sizeof own / sizeof *own && a->family != GPNN_FAMILY_DIAG; i++)
    if (cli_given(cli, own[i])) return cli_refuse(cli, "--%s is for --family diag", own[i]);
  for (size_t i = 0; i < sizeof fixes / sizeof *fixes && a->family == GPNN_FAMILY_DIAG; i++)
    if (cli_given(cli, fixes[i])) return cli_refuse(cli, "--%s is not for --family diag", fixes[i]);
  if (a->family == GPNN_FAMILY_DIAG && !(a->tolerance < a->head))
    return cli_refuse(cli, "--eps must be below --eps-head");
  return true;
}

/* ---- the trace ---------------------------------------------------------------------------- */

struct trace {
  struct gpnn_output *output; /* NULL: none */
  struct timespec start;
  enum gpnn_status status; /* of the first failure to write */
  struct gpnn_error *err;
};

static double seconds_since(const struct timespec *start)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static enum gpnn_status write_names(struct trace *trace, size_t n_lengthscales)
{
  enum gpnn_status status =
      gpnn_output_text(trace->output,
                       "iteration\tseconds\tcg_steps_mean\tcg_steps_max\textra_steps\tmax_weight\t"
                       "rmse_batch\tbound",
                       trace->err);
  for (size_t l = 0; l < n_lengthscales && status == GPNN_OK; l++)
    status = gpnn_output_printf(trace->output, trace->err, "\tlengthscale_%zu", l + 1);
  return status == GPNN_OK
             ? gpnn_output_text(trace->output, "\tkernelscale\tnoise\tmin_s\n", trace->err)
             : status;
}

static enum gpnn_status write_record(struct trace *trace, const struct gpnn_diag_record *r)
{
  enum gpnn_status status =
      gpnn_output_printf(trace->output, trace->err, "%zu\t%.3f\t%g\t%zu\t%zu\t%g\t%.6g\t%.8g",
                         r->iteration, seconds_since(&trace->start), r->steps_mean, r->steps_most,
                         r->extra, r->most_weight, r->rmse_batch, r->bound);
  for (size_t l = 0; l < r->n_lengthscales && status == GPNN_OK; l++)
    status = gpnn_output_printf(trace->output, trace->err, "\t%.6g", r->lengthscale[l]);
  return status == GPNN_OK ? gpnn_output_printf(trace->output, trace->err, "\t%.6g\t%.6g\t%.6g\n",
                                                r->kernelscale, r->noise, r->least_s)
                           : status;
}

static void record(void *context, const struct gpnn_diag_record *r)
{
  struct trace *trace = context;
  if (trace->output == NULL || trace->status != GPNN_OK) return;
  if (r->iteration <= 1 || trace->start.tv_sec == 0) {
    clock_gettime(CLOCK_MONOTONIC, &trace->start);
    trace->status = write_names(trace, r->n_lengthscales);
  }
  if (trace->status == GPNN_OK) trace->status = write_record(trace, r);
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
  o.batch = a->batch;
  o.probes = a->probes;
  o.head = a->head;
  o.tolerance = a->tolerance;
  o.beta = a->beta;
  if (a->rate > 0) o.rate = a->rate;
  if (cli_given(cli, "solver")) o.solver = a->solver;
  if (cli_given(cli, "truncation")) o.truncation = a->truncation;
  if (cli_given(cli, "iterations")) o.iterations = a->iterations;
  if (a->no_polish) o.polish = false;
  if (a->trace != NULL) o.record_every = o.iterations > 1000 ? o.iterations / 500 : 1;
  return o;
}

enum gpnn_status sparse_fit_diag(const struct cli *cli, const struct sparse_arguments *a,
                                 const struct gpnn_collapsed_options *options,
                                 const struct gpnn_dataset *view, struct gpnn_parameters *params,
                                 struct gpnn_state *arrays, struct gpnn_collapsed_report *report,
                                 struct gpnn_error *err)
{
  struct gpnn_diag_options o = options_of(cli, a, options);
  struct gpnn_diag_report result;
  struct trace trace = {.err = err};
  enum gpnn_status status = GPNN_OK;
  if (a->trace != NULL) status = cli_open_output(a->trace, &trace.output, err);
  o.record = record;
  o.record_context = &trace;
  if (status == GPNN_OK) status = gpnn_diag_fit(view, &o, params, arrays, &result, err);
  if (status == GPNN_OK) status = trace.status;
  if (a->trace != NULL) status = cli_close_output(trace.output, status, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_diag_solutions *s = &result.solutions;
  if ((double)s->n_capped > GPNN_DIAG_MANY_CAPPED * (double)s->n)
    cli_warn(cli,
             "%zu of %zu solutions by conjugate gradients ended before their residual was small: "
             "estimates are biased",
             s->n_capped, s->n);
  *report = (struct gpnn_collapsed_report){.evaluations = result.start_evaluations,
                                           .inducing = result.m,
                                           .rank = result.m,
                                           .bound = result.bound};
  return GPNN_OK;
}
