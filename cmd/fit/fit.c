#include "cmd/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/open.h"
#include "cmd/common/skip.h"
#include "cmd/common/table.h"
#include "container/state.h"
#include "dataset/reader.h"
#include "dataset/sample.h"
#include "estimate/row_weights.h"
#include "kernel/effects.h"
#include "kernel/sight.h"
#include "linalg/blas_threads.h"

/* The targets that are fitted together: 'n' from 'first' on. */
struct targets {
  const struct gpnn_dataset *dataset;
  size_t first, n;
};

/* Fits the targets of a dataset, choosing whatever was left open but the transform. */
static enum gpnn_status fit_views(const struct cli *cli, const struct fit_arguments *a,
                                  const struct targets *targets, struct gpnn_parameters *params,
                                  struct gpnn_choose_report *report, struct gpnn_error *err)
{
  struct gpnn_choose_options choose = a->choose;
  choose.n_rows = fit_n_rows(a, targets->dataset);
  if (!cli_given(cli, "rows") && targets->dataset->d > GPNN_CHOOSE_MANY_INPUTS)
    choose.fit.rows /= 2;
  struct fit_report_tries telling = {cli, 0, gpnn_choose_most(targets->dataset, &choose)};
  size_t n = targets->n;
  const struct gpnn_dataset **views = gpnn_alloc(n, 1, sizeof(const struct gpnn_dataset *));
  if (views == NULL) return gpnn_fail_memory(err, "for the targets");
  for (size_t t = 0; t < n; t++)
    views[t] = gpnn_dataset_target(targets->dataset, targets->first + t);
  enum gpnn_status status =
      gpnn_choose(n, views, &choose, fit_report_try, &telling, params, report, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++)
    status = fit_report_annotate(&params[t], views[t], fit_n_rows(a, views[t]), report, err);
  free(views);
  return status;
}

/* Fits transformed targets. */
static enum gpnn_status fit_transformed(const struct cli *cli, const struct fit_arguments *a,
                                        const struct fit_transforms *transforms,
                                        struct gpnn_parameters *params,
                                        struct gpnn_choose_report *report, struct gpnn_error *err)
{
  const struct targets targets = {gpnn_transformed_target(transforms->transformed, 0),
                                  transforms->first, transforms->n};
  enum gpnn_status status = fit_views(cli, a, &targets, params, report, err);
  if (status == GPNN_OK) fit_transforms_record(transforms, params);
  return status;
}

/* Replaces the parameters of the targets as they are by those of the transformed targets, if these
 * predict better. */
static enum gpnn_status improve(const struct cli *cli, const struct fit_arguments *a,
                                const struct fit_transforms *transforms,
                                struct gpnn_parameters *params, struct gpnn_choose_report *report,
                                struct gpnn_error *err)
{
  struct gpnn_choose_report other_report = {0};
  bool pays = false;
  size_t n = transforms->n;
  struct gpnn_parameters *other = gpnn_alloc(n, 1, sizeof *other);
  if (other == NULL) return gpnn_fail_memory(err, "for parameters");
  enum gpnn_status status = fit_transformed(cli, a, transforms, other, &other_report, err);
  if (status == GPNN_OK)
    status = fit_transforms_compare(transforms, cli, a, params, other, &pays, err);
  for (size_t t = 0; t < n && pays; t++) {
    struct gpnn_parameters kept = params[t];
    params[t] = other[t];
    other[t] = kept;
  }
  if (pays) *report = other_report;
  gpnn_parameters_free(other, n);
  return status;
}

/* Fits targets that share their lengthscales, choosing whatever was left open. */
static enum gpnn_status fit_targets(const struct cli *cli, const struct fit_arguments *a,
                                    const struct targets *targets, struct gpnn_parameters *params,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = targets->dataset;
  size_t first = targets->first, n = targets->n;
  struct gpnn_choose_report report = {0};
  struct fit_transforms transforms = {0};
  struct gpnn_transformed *seen = NULL;
  bool chooses = a->transform == FIT_TRANSFORM_AUTO;
  enum gpnn_status status = GPNN_OK;
  fit_report_begin(cli, dataset, first, n);
  if (!chooses) status = fit_transforms_set(&transforms, a, dataset, first, n, err);
  if (status == GPNN_OK && transforms.transformed != NULL)
    status = fit_transformed(cli, a, &transforms, params, &report, err);
  else if (status == GPNN_OK)
    status = fit_views(cli, a, targets, params, &report, err);
  if (status == GPNN_OK && chooses) status = fit_see_as(n, params, &dataset, &seen, err);
  if (status == GPNN_OK && chooses)
    status = fit_transforms_choose(&transforms, cli, a, dataset, first, n, params, err);
  if (status == GPNN_OK && chooses && transforms.transformed != NULL)
    status = improve(cli, a, &transforms, params, &report, err);
  fit_report_end_tried(cli);
  if (status == GPNN_OK) {
    /* Rows of different groups are no duplicates, however near their levels are to each other. */
    double thin = gpnn_dataset_has_effects(dataset) ? 0 : a->choose.fit.thin;
    fit_report_found(cli, n, params, thin, &report.fit);
    fit_report_stack(cli, &report.stack);
    fit_report_result(cli, params, &report);
  }
  fit_report_end(cli);
  fit_transforms_release(&transforms);
  gpnn_transformed_free(seen);
  return status;
}

static bool share_rows(const struct gpnn_dataset *dataset)
{
  bool share = true;
  for (size_t t = 1; t < gpnn_dataset_n_targets(dataset); t++)
    share = share && gpnn_dataset_share_rows(dataset, 0, t);
  return share;
}

/* Fits all targets at once, on the rows that have all of them. */
static enum gpnn_status fit_together(const struct cli *cli, const struct fit_arguments *a,
                                     const struct gpnn_dataset *dataset, size_t n,
                                     struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct targets targets = {dataset, 0, n};
  struct cli about = *cli;
  if (n > 1) about.about = "all targets";
  if (share_rows(dataset)) return fit_targets(&about, a, &targets, params, err);
  struct gpnn_sample *common = NULL;
  enum gpnn_status status = gpnn_sample_common(&common, dataset, err);
  if (status != GPNN_OK) return status;
  targets.dataset = gpnn_sample_target(common, 0);
  cli_note(&about, "fitted to the %zu of %zu training rows that have all of them",
           targets.dataset->n, dataset->n);
  status = fit_targets(&about, a, &targets, params, err);
  gpnn_sample_free(common);
  return status;
}

enum gpnn_status fit_numbers(const struct cli *cli, const struct fit_arguments *a,
                             const struct gpnn_dataset *dataset, size_t t,
                             struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct targets targets = {dataset, t, 1};
  return fit_targets(cli, a, &targets, params, err);
}

/* Fits one of 'n' targets that are to be counts.  If it is not, but one of several, it gets the
 * usual likelihood. */
static enum gpnn_status fit_as_counts(const struct cli *cli, const struct fit_arguments *a,
                                      const struct targets *targets, size_t n,
                                      struct gpnn_state *state, struct gpnn_parameters *params,
                                      struct gpnn_error *err)
{
  struct fit_arguments numbers = *a;
  struct gpnn_error why;
  bool is_counts;
  enum gpnn_status status =
      fit_counts(cli, a, targets->dataset, targets->first, state, params, &is_counts, &why);
  if (status != GPNN_OK && (is_counts || n == 1)) return gpnn_fail(err, status, "%s", why.text);
  if (status == GPNN_OK) return status;
  cli_warn(cli, "%s; fitted with --likelihood local", why.text);
  numbers.likelihood = GPNN_LIKELIHOOD_LOCAL;
  numbers.choose.likelihood = GPNN_LIKELIHOOD_LOCAL;
  return fit_targets(cli, &numbers, targets, params, err);
}

/* Fits target 't', one of 'n'. */
static enum gpnn_status fit_one(const struct cli *cli, const struct fit_arguments *a,
                                const struct gpnn_dataset *dataset, size_t n, size_t t,
                                struct gpnn_state *state, struct gpnn_parameters *params,
                                struct gpnn_error *err)
{
  const struct targets targets = {dataset, t, 1};
  if (gpnn_dataset_has_effects(dataset)) return fit_grouped(cli, a, dataset, t, state, params, err);
  if (gpnn_dataset_n_classes(gpnn_dataset_target(dataset, t)) > 0)
    return a->inference == GPNN_INFERENCE_POLYA_GAMMA
               ? fit_polya_gamma(cli, a, dataset, t, state, params, err)
               : fit_labels(cli, a, dataset, t, params, err);
  if (a->method == FIT_CONJUGATE) return fit_conjugate(cli, a, dataset, t, params, err);
  if (fit_asks_for_counts(a)) return fit_as_counts(cli, a, &targets, n, state, params, err);
  return fit_targets(cli, a, &targets, params, err);
}

/* Fits every target of the index: all at once, or one by one.  Targets of different rows gain
 * nothing from sharing lengthscales, as they share no neighbours; they do so only if asked to.
 * Where some target holds classes, which are fitted in their own way, none are shared. */
static enum gpnn_status fit_all(const struct cli *cli, const struct fit_arguments *a,
                                const struct gpnn_dataset *dataset, size_t n,
                                struct gpnn_state *state, struct gpnn_parameters *params,
                                struct gpnn_error *err)
{
  struct cli about = *cli;
  enum gpnn_status status = GPNN_OK;
  if (a->is_shared && !fit_labels_any(dataset) && !gpnn_dataset_has_effects(dataset) &&
      (cli_given(cli, "lengthscales") || share_rows(dataset)))
    return fit_together(cli, a, dataset, n, params, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    if (n > 1) about.target = gpnn_dataset_target(dataset, t)->schema.target.name;
    status = fit_one(&about, a, dataset, n, t, state, &params[t], err);
  }
  return status;
}

/* ---- weights of rows ----------------------------------------------------------------------- */

/* Whether the weights gain enough to be used, on rows kept out: two standard errors. */
static enum gpnn_status judge_weights(const struct cli *cli, const struct fit_arguments *a,
                                      const struct gpnn_dataset *view,
                                      struct gpnn_parameters *params, bool *use,
                                      struct gpnn_error *err)
{
  enum { FEWEST = 50 };
  const double enough = 2, least = 0.002;
  struct gpnn_row_weights_gain gain;
  *use = false;
  if (view->n < FEWEST || view->noise != NULL) return GPNN_OK;
  enum gpnn_status status =
      gpnn_row_weights_gain(view, params, cli->seed, a->choose.fit.threads, &gain, err);
  if (status != GPNN_OK) return status;
  *use = gain.nll > fmax(enough * gain.standard_error, least);
  cli_note(cli, "weights of rows: NLL lower by %.4f (%.4f), %zu rows kept out: %s", gain.nll,
           gain.standard_error, gain.n_rows, *use ? "used" : "not used");
  return gpnn_parameters_comment(
      params, err, "row weights: NLL lower by %.4f (%.4f), %zu rows kept out: %s", gain.nll,
      gain.standard_error, gain.n_rows, *use ? "used" : "not used");
}

static enum gpnn_status find_weights(const struct fit_arguments *a, const struct gpnn_dataset *view,
                                     const struct gpnn_parameters *params, struct gpnn_state *state,
                                     struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  if (view->noise != NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "target '%s': the rows have known noise variances, which weights would change",
                     gpnn_schema_column_name(&view->schema.target, name));
  double *noise = gpnn_alloc(view->n, 1, sizeof *noise);
  if (noise == NULL) return gpnn_fail_memory(err, "for the weights of rows");
  enum gpnn_status status = gpnn_row_weights_find(view, params, a->choose.fit.threads, noise, err);
  if (status == GPNN_OK)
    status = gpnn_state_add(state, view->schema.target.name, GPNN_STATE_NOISE, view->n, noise, err);
  free(noise);
  return status;
}

/* Adds the weights of the rows of 'view' under the parameters found to 'state', if they are asked
 * for or gain enough: less for training rows that the others contradict (estimate/row_weights.h).
 */
static enum gpnn_status weigh_rows(const struct cli *cli, const struct fit_arguments *a,
                                   const struct gpnn_dataset *view, struct gpnn_state *state,
                                   struct gpnn_parameters *params, struct gpnn_error *err)
{
  bool use = a->row_weights == FIT_ROW_WEIGHTS_YES;
  if (a->row_weights == FIT_ROW_WEIGHTS_NO || gpnn_dataset_n_classes(view) > 0 ||
      gpnn_dataset_has_effects(view))
    return GPNN_OK;
  enum gpnn_status status = GPNN_OK;
  if (a->row_weights == FIT_ROW_WEIGHTS_AUTO)
    status = judge_weights(cli, a, view, params, &use, err);
  return status == GPNN_OK && use ? find_weights(a, view, params, state, err) : status;
}

/* The same of rows whose inputs are as the parameters see them. */
static enum gpnn_status weigh_seen(const struct cli *cli, const struct fit_arguments *a,
                                   const struct gpnn_dataset *view, struct gpnn_state *state,
                                   struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct gpnn_transformed *seen = NULL;
  enum gpnn_status status = GPNN_OK;
  if (a->row_weights != FIT_ROW_WEIGHTS_NO) status = fit_see_as(1, params, &view, &seen, err);
  if (status == GPNN_OK) status = weigh_rows(cli, a, view, state, params, err);
  gpnn_transformed_free(seen);
  return status;
}

/* ---- the whole fit ------------------------------------------------------------------------- */

/* Checks that parameters can name the targets of the index, if there are several. */
static enum gpnn_status check_targets(const struct gpnn_dataset *dataset, size_t n,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n && n > 1 && status == GPNN_OK; t++)
    status = gpnn_parameters_check_target(gpnn_dataset_target(dataset, t)->schema.target.name, err);
  return status;
}

/* Fits and writes the parameters. */
static enum gpnn_status fit_and_write(const struct cli *cli, const struct fit_arguments *a,
                                      const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  size_t n = gpnn_dataset_n_targets(dataset);
  struct gpnn_output *output = NULL;
  struct gpnn_state *state = NULL;
  struct gpnn_parameters *params = gpnn_alloc(n, 1, sizeof *params);
  if (params == NULL) return gpnn_fail_memory(err, "for parameters");
  enum gpnn_status status = check_targets(dataset, n, err);
  if (status == GPNN_OK) status = fit_labels_check(cli, a, dataset, err);
  if (status == GPNN_OK) status = gpnn_state_new(&state, dataset->fingerprint, err);
  if (status == GPNN_OK) {
    fit_report_open(cli, dataset, fit_n_rows(a, dataset));
    status = fit_all(cli, a, dataset, n, state, params, err);
    fit_report_close(cli);
  }
  for (size_t t = 0; t < n && status == GPNN_OK; t++)
    status = weigh_seen(cli, a, gpnn_dataset_target(dataset, t), state, &params[t], err);
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK)
    status = gpnn_parameters_write_with_state(params, n, state->n > 0 ? state : NULL, output, err);
  status = cli_close_output(output, status, err);
  gpnn_state_free(state);
  gpnn_parameters_free(params, n);
  return status;
}

/* Reads the inputs of rows that candidates are to be scored for. */
static enum gpnn_status read_like(const struct cli *cli, const char *path,
                                  const struct gpnn_dataset *dataset, struct gpnn_reader_rows *rows,
                                  struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  enum gpnn_status status = open_table(cli, dataset, path, &table, err);
  if (status == GPNN_OK)
    status = gpnn_reader_rows_read(rows, dataset, table, true, false, true, err);
  if (status == GPNN_OK) status = skip_check(cli, SKIP_ALL, table, &rows->skipped, rows->n, err);
  if (status == GPNN_OK && rows->n == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: no rows", gpnn_table_name(table));
  if (status == GPNN_OK) table_warn_if_torn(cli, table);
  gpnn_table_close(table);
  return status;
}

/* Checks that lengthscales to start from, if there are several, are as many as --input-scores asks
 * for. */
static enum gpnn_status check_start(const struct fit_arguments *a,
                                    const struct gpnn_parameters *start, size_t d, size_t wanted,
                                    struct gpnn_error *err)
{
  size_t own = start->sight == NULL ? d : gpnn_scores_width(d, start->sight);
  if (a->start == NULL || start->covariance.n_lengthscales <= 1 || own == wanted) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "%s: the parameters to start from do not see inputs as --input-scores %s does: "
                   "leave out one of the two",
                   a->start, gpnn_sight_name((enum gpnn_sight)a->input_scores));
}

/* How inputs are to be seen: as is asked for, or by the parameters to start from; d of them, for
 * the caller to free.  NULL: by value, all of them, unless candidates see them otherwise. */
static enum gpnn_status find_sight(const struct fit_arguments *a, struct gpnn_parameters *start,
                                   const struct gpnn_dataset *dataset, unsigned char **sight,
                                   struct gpnn_error *err)
{
  const bool is_asked = a->input_scores != FIT_SCORES_AUTO;
  size_t d = dataset->d;
  enum gpnn_status status = gpnn_sight_agree(1, start, dataset, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%s", a->start);
  if (!is_asked && start->sight == NULL) return GPNN_OK;
  enum gpnn_sight asked = is_asked ? (enum gpnn_sight)a->input_scores : GPNN_SIGHT_VALUE;
  unsigned char *list = gpnn_scores_list_sight(dataset, asked);
  if (list == NULL) return gpnn_fail_memory(err, "for the scores of the inputs");
  if (!is_asked) memcpy(list, start->sight, d);
  if (asked != GPNN_SIGHT_VALUE && !gpnn_sight_is_special(d, list))
    status = gpnn_fail(err, GPNN_EDATA,
                       "no input has scores: they are whitened, periodic, places or "
                       "categories, have slopes of groups or fewer than 3 values");
  if (status == GPNN_OK) status = check_start(a, start, d, gpnn_scores_width(d, list), err);
  if (status == GPNN_OK && gpnn_sight_is_special(d, list))
    *sight = list;
  else
    free(list);
  return status;
}

/* Lets inputs be seen by their scores, if that is asked for, or done by the parameters to start
 * from. */
static enum gpnn_status see_inputs(const struct fit_arguments *a, struct gpnn_parameters *start,
                                   const struct gpnn_dataset **dataset,
                                   struct gpnn_transformed **seen, struct gpnn_error *err)
{
  unsigned char *sight = NULL;
  enum gpnn_status status = find_sight(a, start, *dataset, &sight, err);
  if (status != GPNN_OK || sight == NULL) return status;
  status = gpnn_transformed_new(seen, *dataset, &(struct gpnn_changes){.sight = sight}, err);
  if (status == GPNN_OK) *dataset = gpnn_transformed_dataset(*seen);
  free(sight);
  return status;
}

/* Opens the index, unless its rows are given. */
static enum gpnn_status open_rows(const struct cli *cli, const struct fit_arguments *a,
                                  struct gpnn_index **index, const struct gpnn_dataset **dataset,
                                  struct gpnn_error *err)
{
  if (a->rows != NULL) {
    *dataset = a->rows->dataset;
    return GPNN_OK;
  }
  enum gpnn_status status = gpnn_index_open(index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK) status = open_refuse_grid(*index, "use gpnn-grid fit", err);
  if (status == GPNN_OK)
    status = open_refuse_model(*index, "fit the index that it was made from", err);
  if (status == GPNN_OK) *dataset = gpnn_index_dataset(*index);
  return status;
}

enum gpnn_status fit_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct fit_arguments *a = arguments;
  struct gpnn_reader_rows like = {0};
  struct gpnn_query query = {0};
  struct gpnn_index *index = NULL;
  const struct gpnn_dataset *dataset = NULL;
  struct gpnn_transformed *seen = NULL;
  struct gpnn_parameters start = {0};
  a->choose.fit.threads = gpnn_blas_claim(cli->threads);
  if (a->choose.fit.threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = open_rows(cli, a, &index, &dataset, err);
  if (status == GPNN_OK && a->start != NULL) {
    status = fit_read_start(a, &start, err);
    if (status == GPNN_OK) fit_start(cli, a, &start);
  }
  if (status == GPNN_OK) status = see_inputs(a, &start, &dataset, &seen, err);
  if (status == GPNN_OK && a->like != NULL) {
    status = read_like(cli, a->like, dataset, &like, err);
    query = (struct gpnn_query){.n = like.n, .x = like.x};
    a->choose.like = &query;
  }
  if (status == GPNN_OK) status = fit_and_write(cli, a, dataset, err);
  gpnn_reader_rows_release(&like);
  gpnn_parameters_release(&start);
  gpnn_transformed_free(seen);
  gpnn_index_close(index);
  return status;
}
