/*
 * web: the report as one page for a browser: what the table was taken for, the model, how good it
 * is, what it has learnt, and the commands that come to the same.
 *
 * The page is made of what other tools write, which run on the working files.  What one of them
 * cannot do is a sentence on the page; without gnuplot the page has tables and no pictures.
 */
#ifndef GPNN_CMD_GPNN_WEB_H
#define GPNN_CMD_GPNN_WEB_H

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/places.h"

/* Composes the page in memory: '*page', for the caller to free, of '*length' bytes, under 2 MB.
 * GPNN_ENOMEM; GPNN_EIO: a working file cannot be written. */
GPNN_MUST_CHECK enum gpnn_status web_compose(char **page, size_t *length, const struct cli *cli,
                                             const struct places *places,
                                             const struct findings *findings,
                                             struct gpnn_error *err);

#endif
