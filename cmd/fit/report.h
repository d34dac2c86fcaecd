/*
 * fit_report: what gpnn-fit reports about its search and its result.
 */
#ifndef GPNN_CMD_FIT_REPORT_H
#define GPNN_CMD_FIT_REPORT_H

#include <stddef.h>

#include "cmd/common/cli.h"
#include "dataset/dataset.h"
#include "estimate/choose.h"
#include "estimate/choose_transform.h"
#include "kernel/parameters.h"

enum { FIT_REPORT_NAME_BYTES = 96 };

/* A candidate in words: "exp ARD by loo of 32".  Returns 'text'. */
const char *fit_report_describe(const struct gpnn_candidate *candidate,
                                char text[FIT_REPORT_NAME_BYTES]);

/* The context of fit_report_try(); 'cli' is borrowed. */
struct fit_report_tries {
  const struct cli *cli;
  size_t n, most; /* candidates tried so far, and at most in all */
};

/* With --verbose, prints a line per candidate: a gpnn_choose_listener. */
void fit_report_try(void *context, const struct gpnn_candidate *candidate);

/*
 * Records in parameters which index they belong to, and adds comments for readers; 'view' is that
 * of the target that they were fitted to.  Errors: GPNN_ENOMEM, with some of this done.
 */
GPNN_MUST_CHECK enum gpnn_status fit_report_annotate(struct gpnn_parameters *params,
                                                     const struct gpnn_dataset *view,
                                                     const struct gpnn_choose_report *report,
                                                     struct gpnn_error *err);

/* Warns about what makes params[n], of 'n' targets, doubtful; with --verbose, also reports how they
 * were found.  'thin' is as in struct gpnn_fit_options. */
void fit_report_found(const struct cli *cli, size_t n, const struct gpnn_parameters *params,
                      double thin, const struct gpnn_fit_report *fit);

/* With --verbose, says what several members gain and cost, if there are several. */
void fit_report_stack(const struct cli *cli, const struct gpnn_choose_stack *stack);

/* ---- the report as JSON, if there is one ----------------------------------------------------- */

/* Around what is reported of all targets. */
void fit_report_open(const struct cli *cli, const struct gpnn_dataset *dataset);
void fit_report_close(const struct cli *cli);

/* Begins with the names of the 'n' targets from 'first' on and the list of what was tried, which
 * candidates and transforms are then added to; then comes the result; then the end. */
void fit_report_begin(const struct cli *cli, const struct gpnn_dataset *dataset, size_t first,
                      size_t n);
void fit_report_tried(const struct cli *cli, const struct gpnn_candidate *candidate);
void fit_report_tried_transform(const struct cli *cli,
                                const struct gpnn_transform_candidate *candidate);
void fit_report_end_tried(const struct cli *cli);
/* 'params' are those of the first target. */
void fit_report_result(const struct cli *cli, const struct gpnn_parameters *params,
                       const struct gpnn_choose_report *result);
void fit_report_end(const struct cli *cli);

#endif
