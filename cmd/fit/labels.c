#include "cmd/fit/fit.h"

#include <stdlib.h>

#include "base/memory.h"

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
  if (!cli_given(cli, "members")) options.members = GPNN_CHOOSE_MEMBERS;
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
  if (status == GPNN_OK) status = fit_report_annotate(params, view, view->n, &report, err);
  if (status == GPNN_OK) {
    fit_report_found(cli, 1, params, options.fit.thin, &report.fit);
    fit_report_stack(cli, &report.stack);
    fit_report_result(cli, params, &report);
  }
  fit_report_end(cli);
  return status;
}
