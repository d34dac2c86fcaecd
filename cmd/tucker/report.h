/*
 * report: what gpnn-tucker says about a model.
 */
#ifndef GPNN_CMD_TUCKER_REPORT_H
#define GPNN_CMD_TUCKER_REPORT_H

#include "cmd/tucker/tucker.h"
#include "dataset/dataset.h"

/* Notes and warnings about the model of a view's target, and its part of the report. */
void tucker_report(const struct cli *cli, const struct tucker_arguments *a,
                   const struct gpnn_dataset *view, const struct gpnn_tucker_report *report);

#endif
