#include "cmd/sparse/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/json.h"
#include "cmd/common/modelled.h"
#include "cmd/common/open.h"
#include "cmd/common/output.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/common/signals.h"
#include "cmd/common/table.h"
#include "dataset/index/index.h"
#include "dataset/reader.h"
#include "linalg/blas_threads.h"
#include "models/model_file.h"

/* The path of the unfinished model, or NULL. */
static const char *volatile unfinished;

/* Steps of --family svgp in which its parameters move. */
enum { SVGP_STEPS = 500 };

/* ---- options ------------------------------------------------------------------------------ */

static bool resolve_kernel(const struct cli *cli, struct sparse_arguments *a)
{
  struct gpnn_collapsed_start_options *start = &a->collapsed.start;
  if (a->kernel == NULL || strcmp(a->kernel, "auto") == 0) return true;
  if (gpnn_kernel_parse(a->kernel, &start->kernel, &start->smoothness)) return true;
  return cli_refuse(cli, "option --kernel: auto, exp, matern32, matern52, rbf or matern:NU, as in "
                         "matern:1.2, NU up to 100");
}

static void resolve_points(struct sparse_arguments *a)
{
  static const char *const names[] = {[GPNN_INDUCING_KMEANS] = "kmeans",
                                      [GPNN_INDUCING_GREEDY] = "greedy",
                                      [GPNN_INDUCING_SUBSET] = "subset"};
  if (a->points == NULL) return;
  a->points_file = a->points;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(a->points, names[i]) == 0) {
      a->collapsed.how = (enum gpnn_inducing_how)i;
      a->points_file = NULL;
    }
}

/* Neither file exists as yet, so that names are all there is to compare. */
static bool check_trace(const struct cli *cli, const struct sparse_arguments *a)
{
  if (strcmp(a->trace, a->output) != 0) return cli_check_overwrite(cli, a->trace, a->output);
  return cli_refuse(cli, "options --trace and --output: \"%s\" cannot be both", a->output);
}

/* Batches are the business of two families, and what holds parameters is not that of batches. */
static bool resolve_svgp(const struct cli *cli, struct sparse_arguments *a)
{
  const char *of_batches = cli_given_of(cli, "iterations,rate,batch");
  const char *of_others = cli_given_of(cli, "fix,steps");
  if (a->family == GPNN_FAMILY_COLLAPSED && of_batches != NULL)
    return cli_refuse(cli, "--%s is for --family diag and svgp", of_batches);
  if (a->family != GPNN_FAMILY_SVGP) return true;
  if (of_others != NULL) return cli_refuse(cli, "--%s is not for --family svgp", of_others);
  a->svgp = (struct gpnn_svgp_options)GPNN_SVGP_OPTIONS_INIT;
  a->svgp.seed = cli->seed;
  a->svgp.n_parameter_steps = cli_given(cli, "iterations") ? a->iterations : SVGP_STEPS;
  if (a->batch > 0) a->svgp.batch = a->batch;
  if (a->rate > 0) a->svgp.rate = a->rate;
  a->collapsed.batches = &a->svgp;
  return true;
}

bool sparse_resolve(const struct cli *cli, void *arguments)
{
  struct sparse_arguments *a = arguments;
  a->collapsed = gpnn_collapsed_default_options();
  a->collapsed.inducing = a->inducing;
  a->collapsed.steps = a->steps;
  a->collapsed.start.rows = a->sample;
  a->collapsed.start.inducing = a->sample < 10 ? a->sample : a->sample / 10;
  a->collapsed.start.refined_rows = a->sample * 8 / 3;
  a->collapsed.start.refined_inducing = 1 + a->collapsed.start.refined_rows / 10;
  a->collapsed.start.ard = a->ard == SPARSE_ARD_YES;
  resolve_points(a);
  if (a->output == NULL || strcmp(a->output, "-") == 0)
    return cli_refuse(cli, "a model is a binary file: name it with -o FILE");
  if (a->points_file != NULL && cli_given(cli, "inducing"))
    return cli_refuse(cli, "--inducing-points FILE says how many there are; give it or --inducing");
  return resolve_kernel(cli, a) && sparse_resolve_diag(cli, a) && resolve_svgp(cli, a) &&
         cli_check_overwrite(cli, a->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, a->output, a->start) &&
         cli_check_overwrite(cli, a->output, a->points_file) &&
         (a->trace == NULL ||
          (cli_check_overwrite(cli, a->trace, cli_operand(cli, 0)) &&
           cli_check_overwrite(cli, a->trace, a->points_file) && check_trace(cli, a)));
}

/* ---- what the user gives ------------------------------------------------------------------ */

static enum gpnn_status check_inducing(const struct cli *cli, const struct gpnn_index *index,
                                       const struct sparse_arguments *a, struct gpnn_error *err)
{
  size_t n = gpnn_index_dataset(index)->n;
  if (!cli_given(cli, "inducing") || a->inducing <= n) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA,
                   "%s: %zu inducing points of %zu training rows: ask for at most as many",
                   gpnn_index_path(index), a->inducing, n);
}

/* Inducing points from a table. */
static enum gpnn_status read_points(const struct cli *cli, const struct gpnn_dataset *dataset,
                                    struct sparse_arguments *a, struct gpnn_reader_rows *rows,
                                    struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  if (a->points_file == NULL) return GPNN_OK;
  enum gpnn_status status = open_table(cli, dataset, a->points_file, &table, err);
  if (status == GPNN_OK)
    status = gpnn_reader_rows_read(rows, dataset, table, true, false, false, err);
  if (status == GPNN_OK && rows->n == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: no inducing points", gpnn_table_name(table));
  if (status == GPNN_OK) table_warn_if_torn(cli, table);
  gpnn_table_close(table);
  if (status == GPNN_OK && rows->n > dataset->n)
    status = gpnn_fail(err, GPNN_EDATA, "%s: %zu inducing points, but %zu training rows",
                       a->points_file, rows->n, dataset->n);
  a->collapsed.z = rows->x;
  if (status == GPNN_OK) a->collapsed.inducing = rows->n;
  return status;
}

/* The parameters to start from, those of target 't'. */
static enum gpnn_status read_start(const struct sparse_arguments *a, size_t width,
                                   const char *target, struct gpnn_parameters **start, size_t *n,
                                   const struct gpnn_covariance **guess, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  if (a->start == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_parameters_read(start, n, a->start, err);
  if (status != GPNN_OK) return status;
  /* Without the name of a target they are for any. */
  const struct gpnn_parameters *own = *n == 1 && (*start)->target == NULL ? *start : NULL;
  for (size_t t = 0; t < *n; t++)
    if ((*start)[t].target != NULL && strcmp((*start)[t].target, target) == 0) own = &(*start)[t];
  if (own == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: no parameters of target '%s'", a->start,
                     gpnn_mask(shown, target, strlen(target)));
  status = gpnn_parameters_check_rows(own, err);
  if (status == GPNN_OK && gpnn_sight_is_special(own->n_sight, own->sight))
    status = gpnn_fail(err, GPNN_EMISMATCH,
                       "they see inputs by their scores, which inducing points do not");
  if (status == GPNN_OK && own->covariance.n_lengthscales != 1 &&
      own->covariance.n_lengthscales != width)
    status = gpnn_fail(err, GPNN_EMISMATCH, "%zu lengthscales, where the model has %zu",
                       own->covariance.n_lengthscales, width);
  if (status == GPNN_OK && own->covariance.n_rotation > 0)
    status = gpnn_fail(err, GPNN_EMISMATCH,
                       "they have a rotation, which inducing points do not "
                       "take");
  *guess = &own->covariance;
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "%s", a->start);
}

/* What --start and --fix say goes into the guess, which borrows what is given. */
static void fix(const struct sparse_arguments *a, const struct gpnn_covariance *given,
                struct gpnn_covariance *guess)
{
  if (given != NULL) *guess = *given;
  if (a->fixed_lengthscale > 0) {
    guess->n_lengthscales = 1;
    guess->lengthscale = NULL;
    guess->isotropic = a->fixed_lengthscale;
  }
  if (a->fixed_kernelscale > 0) guess->kernelscale = a->fixed_kernelscale;
  if (a->fixed_noise > 0) guess->noise = a->fixed_noise;
}

/* ---- the work ----------------------------------------------------------------------------- */

static void report(const struct cli *cli, const struct gpnn_dataset *view,
                   const struct gpnn_parameters *params, const struct gpnn_collapsed_report *result)
{
  char kernel[GPNN_KERNEL_BYTES];
  const struct gpnn_covariance *covariance = &params->covariance;
  gpnn_kernel_write(covariance->kernel, covariance->smoothness, kernel);
  cli_note(cli,
           "%s, %zu inducing points of %zu rows, rank %zu; kernel scale %.4g, noise %.4g; bound "
           "%.6g a row; %zu evaluations",
           kernel, result->inducing, view->n, result->rank, covariance->kernelscale,
           covariance->noise, result->bound / (double)view->n, result->evaluations);
  json_open(cli->report, NULL, '{');
  json_text(cli->report, "target", view->schema.target.name);
  json_text(cli->report, "kernel", kernel);
  json_count(cli->report, "inducing", result->inducing);
  json_count(cli->report, "rank", result->rank);
  json_number(cli->report, "kernelscale", covariance->kernelscale);
  json_number(cli->report, "noise", covariance->noise);
  json_number(cli->report, "bound", result->bound);
  json_close(cli->report, '}');
}

static enum gpnn_status annotate(const struct cli *cli, const struct sparse_arguments *a,
                                 const struct gpnn_dataset *view, struct gpnn_parameters *params,
                                 const struct gpnn_collapsed_report *result, struct gpnn_error *err)
{
  params->likelihood = a->likelihood;
  params->provenance.has_index = true;
  params->provenance.index = view->fingerprint;
  params->provenance.estimation.seed = cli->seed;
  return gpnn_parameters_comment(params, err,
                                 "fit: bound %.6g a row, %zu inducing points of rank %zu",
                                 result->bound / (double)view->n, result->inducing, result->rank);
}

/* Estimates target 't'. */
static enum gpnn_status estimate(const struct cli *cli, const struct sparse_arguments *a,
                                 const struct gpnn_dataset *view, struct trace *trace,
                                 struct gpnn_parameters *params, struct gpnn_state *arrays,
                                 struct gpnn_error *err)
{
  struct gpnn_collapsed_options options = a->collapsed;
  struct gpnn_parameters *start = NULL;
  const struct gpnn_covariance *given = NULL;
  struct gpnn_covariance guess = {.kernelscale = 1, .noise = 0.1};
  struct gpnn_collapsed_report result;
  size_t n_start = 0, width = options.start.ard ? view->n_groups : 1;
  enum gpnn_status status =
      read_start(a, width, view->schema.target.name, &start, &n_start, &given, err);
  if (status == GPNN_OK) {
    fix(a, given, &guess);
    options.start.guess = &guess;
    if (given != NULL && options.start.kernel == NULL && cli_given(cli, "start")) {
      options.start.kernel = given->kernel;
      options.start.smoothness = given->smoothness;
    }
    if (options.inducing > view->n) options.inducing = view->n;
    status = a->family == GPNN_FAMILY_DIAG
                 ? sparse_fit_diag(cli, a, &options, view, trace, params, arrays, &result, err)
                 : gpnn_collapsed_fit(view, &options, params, arrays, &result, err);
  }
  if (status == GPNN_OK && result.inducing < options.inducing)
    cli_warn(cli, "%zu of the %zu inducing points were copies of others and left out",
             options.inducing - result.inducing, options.inducing);
  if (status == GPNN_OK) report_no_signal(cli, &params->covariance);
  if (status == GPNN_OK) status = annotate(cli, a, view, params, &result, err);
  if (status == GPNN_OK) report(cli, view, params, &result);
  gpnn_parameters_free(start, n_start);
  return status;
}

/* Estimates all targets, then completes the trace, and writes the model last. */
static enum gpnn_status estimate_all(const struct cli *cli, const struct sparse_arguments *a,
                                     const struct gpnn_dataset *dataset, size_t n,
                                     const struct gpnn_dataset *const *views,
                                     struct gpnn_error *err)
{
  struct gpnn_parameters *params = gpnn_alloc(n, 1, sizeof *params);
  struct gpnn_state *arrays = NULL;
  struct cli about = *cli;
  struct trace trace = {.names_targets = n > 1};
  if (params == NULL) return gpnn_fail_memory(err, "for the parameters");
  enum gpnn_status status = gpnn_state_new(&arrays, dataset->fingerprint, err);
  if (status == GPNN_OK) status = cli_try_output(a->output, &unfinished, err);
  if (status == GPNN_OK && a->trace != NULL) status = trace_open(&trace, a->trace, err);
  json_open(cli->report, "targets", '[');
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    if (n > 1) about.target = views[t]->schema.target.name;
    progress_update("targets", t, n);
    status = estimate(&about, a, views[t], &trace, &params[t], arrays, err);
    if (status == GPNN_OK) status = modelled_name_target(dataset, views[t], &params[t], err);
  }
  json_close(cli->report, ']');
  progress_erase();
  status = trace_close(&trace, status, err);
  if (status == GPNN_OK)
    status = gpnn_model_file_write(a->output, dataset, n, params, arrays,
                                   a->collapsed.start.threads, &unfinished, err);
  gpnn_state_free(arrays);
  gpnn_parameters_free(params, n);
  return status;
}

enum gpnn_status sparse_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct sparse_arguments *a = arguments;
  struct gpnn_collapsed_start_options *start = &a->collapsed.start;
  struct gpnn_index *index = NULL;
  struct gpnn_reader_rows points = {0};
  const struct gpnn_dataset **views = NULL;
  size_t n = 0;
  cli_guard(&unfinished);
  start->seed = cli->seed;
  start->threads = gpnn_blas_claim(cli->threads);
  start->fixes_lengthscales = a->fixed_lengthscale > 0;
  start->fixes_kernelscale = a->fixed_kernelscale > 0;
  start->fixes_noise = a->fixed_noise > 0;
  if (start->threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK)
    status = modelled_targets(index, a->targets, "gpnn-grid has models of grids", &n, &views, err);
  if (status == GPNN_OK) status = check_inducing(cli, index, a, err);
  if (status == GPNN_OK) status = read_points(cli, gpnn_index_dataset(index), a, &points, err);
  if (status == GPNN_OK) status = estimate_all(cli, a, gpnn_index_dataset(index), n, views, err);
  gpnn_reader_rows_release(&points);
  free(views);
  gpnn_index_close(index);
  return status;
}
