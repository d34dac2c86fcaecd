/*
 * report: a screen that tells what was done, how good predictions are, and what can be done next.
 */
#ifndef GPNN_CMD_GPNN_REPORT_H
#define GPNN_CMD_GPNN_REPORT_H

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/places.h"

/* Writes it to standard error, unless --quiet; or adds it to the tool's report, if there is one. */
GPNN_MUST_CHECK enum gpnn_status report(const struct cli *cli, const struct places *places,
                                        const struct findings *findings, struct gpnn_error *err);

/* Adds it to an open object (cmd/common/json.h). */
void report_json(struct json *json, const struct places *places, const struct findings *findings);

#endif
