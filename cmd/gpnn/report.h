/*
 * report: a screen that tells what was done, how good predictions are, and what can be done next.
 */
#ifndef GPNN_CMD_GPNN_REPORT_H
#define GPNN_CMD_GPNN_REPORT_H

#include <stdio.h>

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/places.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/* What it says of the model, whatever is predicted and how long it took: lines of text, the same
 * for the same model, for the caller to free.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status report_model(char **told, const struct places *places,
                                              const struct findings *findings,
                                              struct gpnn_error *err);

/* Writes all of it, of which 'told' is what it says of the model, to standard error, unless
 * --quiet; or adds it to the tool's report, if there is one. */
GPNN_MUST_CHECK enum gpnn_status report(const struct cli *cli, const struct places *places,
                                        const struct findings *findings, const char *told,
                                        struct gpnn_error *err);

/* Parts of it, those of a target for target 't'. */
enum report_part { REPORT_TABLE, REPORT_MODEL, REPORT_SCORES, REPORT_STEPS };

/* Writes a part for a page (cmd/gpnn/html.h): definitions, or lines of commands.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status report_html(FILE *to, enum report_part part, const struct cli *cli,
                                             const struct places *places,
                                             const struct findings *findings, size_t t,
                                             struct gpnn_error *err);

/* Adds it to an open object (cmd/common/json.h). */
void report_json(struct json *json, const struct places *places, const struct findings *findings);

/* ---- parameters and numbers in words (words.c) ----------------------------------------------- */

enum { WORDS_NUMBER_BYTES = 32 };

/* A number with four digits or, if it is large, all those before the point.  Returns 'text'. */
const char *words_number(char text[WORDS_NUMBER_BYTES], double value);

/* "Matern 3/2 kernel, a lengthscale for each input, 64 neighbours; ..." */
void words_model(FILE *out, const struct gpnn_parameters *parameters);

/* How an input is used, unless it is a number: " (5 levels)". */
void words_kind(FILE *out, const struct gpnn_column *column);

/* Names the inputs along which the function changes fastest, those with the shortest lengthscales,
 * most important first; nothing if there is one for all, or the inputs are rotated or mixed. */
void words_leading_inputs(FILE *out, const struct gpnn_parameters *parameters,
                          const struct gpnn_dataset *dataset);

#endif
