#include "cmd/fit/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/fit/report.h"

static bool holds_classes(const struct gpnn_dataset *dataset, size_t target)
{
  return gpnn_dataset_n_classes(gpnn_dataset_target(dataset, target)) > 0;
}

bool fit_labels_any(const struct gpnn_dataset *dataset)
{
  size_t n = gpnn_dataset_n_targets(dataset);
  for (size_t t = 0; t < n; t++)
    if (holds_classes(dataset, t)) return true;
  return false;
}

/* ---- options that do not apply ------------------------------------------------------------ */

static const char *target_name(const struct gpnn_dataset *view, char shown[GPNN_MASK_BYTES])
{
  const char *name = view->schema.target.name;
  return gpnn_mask(shown, name, strlen(name));
}

/* Options that say how numbers are fitted. */
static enum gpnn_status check_classes(const struct cli *cli, const struct fit_arguments *a,
                                      const struct gpnn_dataset *view, struct gpnn_error *err)
{
  static const char *const others[] = {"preset",        "method",    "objective",
                                       "mean-function", "transform", "lengthscales"};
  char shown[GPNN_MASK_BYTES];
  const char *name = target_name(view, shown);
  bool by_labels =
      a->likelihood == FIT_LIKELIHOOD_AUTO || a->likelihood == (int)GPNN_LIKELIHOOD_CATEGORICAL;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (cli_given(cli, others[i]))
      return gpnn_fail(err, GPNN_EINVAL,
                       "option --%s: does not apply to target '%s', which holds classes", others[i],
                       name);
  if (!by_labels)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --likelihood: target '%s' holds classes, whose likelihood is "
                     "categorical, or auto",
                     name);
  if (a->choose.like != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --like: does not apply to target '%s', which holds classes", name);
  if (a->choose.fit.fixed_kernelscale > 0 && a->inference == GPNN_INFERENCE_LINK)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --fix: the kernel scale of target '%s', which holds classes, is 1",
                     name);
  return GPNN_OK;
}

static enum gpnn_status check_number(const struct fit_arguments *a, const struct gpnn_dataset *view,
                                     bool any_classes, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const struct gpnn_link *fixed = &a->choose.fit.fixed_link;
  bool fixes_link =
      fixed->slope > 0 || fixed->evidence > 0 || fixed->floor > 0 || fixed->spread > 0;
  if (a->likelihood == (int)GPNN_LIKELIHOOD_CATEGORICAL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --likelihood: target '%s' is a number: if it stands for classes, make "
                     "the index with gpnn-index --classes",
                     target_name(view, shown));
  if (a->inference == GPNN_INFERENCE_POLYA_GAMMA && !any_classes)
    return gpnn_fail(err, GPNN_EINVAL, "option --inference: target '%s' is a number, not a class",
                     target_name(view, shown));
  if (fixes_link && !any_classes)
    return gpnn_fail(err, GPNN_EINVAL, "option --fix: target '%s' is a number and has no link",
                     target_name(view, shown));
  return GPNN_OK;
}

enum gpnn_status fit_labels_check(const struct cli *cli, const struct fit_arguments *a,
                                  const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  size_t n = gpnn_dataset_n_targets(dataset);
  bool any_classes = fit_labels_any(dataset);
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(dataset, t);
    status = holds_classes(dataset, t) ? check_classes(cli, a, view, err)
                                       : check_number(a, view, any_classes, err);
  }
  return status;
}

/* ---- the fit ------------------------------------------------------------------------------ */

/* 'given' unless it is what a fit to numbers starts from, 'usual'. */
static size_t unless_usual(size_t given, size_t usual, size_t own)
{
  return given == usual ? own : given;
}

static struct gpnn_choose_options options_for(const struct cli *cli, const struct fit_arguments *a)
{
  static const struct gpnn_fit_options numbers = GPNN_FIT_OPTIONS_INIT,
                                       labels = GPNN_CHOOSE_LABELS_FIT_INIT;
  struct gpnn_choose_options options = a->choose;
  struct gpnn_fit_options *fit = &options.fit;
  options.k = options.k || !cli_given(cli, "objective-neighbours");
  fit->first = GPNN_OBJECTIVE_LABELS;
  fit->second = GPNN_OBJECTIVE_NONE;
  fit->rows = unless_usual(fit->rows, numbers.rows, labels.rows);
  fit->batch = unless_usual(fit->batch, numbers.batch, labels.batch);
  fit->steps = unless_usual(fit->steps, numbers.steps, labels.steps);
  fit->refresh = unless_usual(fit->refresh, numbers.refresh, labels.refresh);
  return options;
}

/* Tells of classes that cannot be predicted, or of nothing else that could be. */
static void warn_of_classes(const struct cli *cli, const struct gpnn_dataset *view, size_t *count)
{
  char shown[GPNN_MASK_BYTES];
  size_t n_classes = gpnn_dataset_n_classes(view), n_single = 0, n_present = 0, last = 0,
         single = 0;
  size_t length;
  for (size_t i = 0; i < view->n; i++) count[(size_t)view->y[i]]++;
  for (size_t c = 0; c < n_classes; c++) {
    if (count[c] > 0) n_present++, last = c;
    if (count[c] == 1 && n_single++ == 0) single = c;
  }
  if (n_present == 1) {
    const char *name = gpnn_dataset_class(view, last, &length);
    cli_warn(cli, "all rows are of class '%s', and so will be all predictions",
             gpnn_mask(shown, name, length));
  } else if (n_single > 0) {
    const char *name = gpnn_dataset_class(view, single, &length);
    cli_warn(cli, "%zu of the %zu classes ha%s a single row, so that no other tells of it: '%s'%s",
             n_single, n_classes, n_single == 1 ? "s" : "ve", gpnn_mask(shown, name, length),
             n_single == 1 ? "" : ", ...");
  }
}

enum gpnn_status fit_labels(const struct cli *cli, const struct fit_arguments *a,
                            const struct gpnn_dataset *dataset, size_t target,
                            struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = gpnn_dataset_target(dataset, target);
  const struct gpnn_choose_options options = options_for(cli, a);
  struct fit_report_tries telling = {cli, 0, gpnn_choose_most(view, &options)};
  struct gpnn_choose_report report = {0};
  size_t *count = gpnn_alloc(gpnn_dataset_n_classes(view), 1, sizeof *count);
  if (count == NULL) return gpnn_fail_memory(err, "for the classes");
  warn_of_classes(cli, view, count);
  free(count);
  fit_report_begin(cli, dataset, target, 1);
  enum gpnn_status status =
      gpnn_choose(1, &view, &options, fit_report_try, &telling, params, &report, err);
  fit_report_end_tried(cli);
  if (status == GPNN_OK) status = fit_report_annotate(params, view, &report, err);
  if (status == GPNN_OK) {
    fit_report_found(cli, 1, params, options.fit.thin, &report.fit);
    fit_report_stack(cli, &report.stack);
    fit_report_result(cli, params, &report);
  }
  fit_report_end(cli);
  return status;
}
