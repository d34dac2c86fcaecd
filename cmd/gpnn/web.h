/*
 * web: the report as one page for a browser: what the table was taken for, the model, how good it
 * is, what it has learnt, and the commands that come to the same.
 *
 * The page is made of what other tools write, which run on the working files.  What one of them
 * cannot do is a sentence on the page; without gnuplot the page has tables and no pictures.
 */
#ifndef GPNN_CMD_GPNN_WEB_H
#define GPNN_CMD_GPNN_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/places.h"
#include "cmd/gpnn/steps.h"
#include "table/table.h"

/* Composes the page in memory: '*page', for the caller to free, of '*length' bytes, under 2 MB.
 * GPNN_ENOMEM; GPNN_EIO: a working file cannot be written. */
GPNN_MUST_CHECK enum gpnn_status web_compose(char **page, size_t *length, const struct cli *cli,
                                             const struct places *places,
                                             const struct findings *findings,
                                             struct gpnn_error *err);

/* ---- the page under construction ------------------------------------------------------------- */

enum { WEB_LEADING = 6 }; /* columns that are looked at more closely */

struct web {
  FILE *to; /* the page, in memory */
  const struct cli *cli;
  const struct places *places;
  const struct findings *f;
  FILE *commands; /* what was run, lines in memory */
  bool draws;     /* gnuplot is there */
  size_t n_pictures, n_tools;
  /* Of the target that is written about: */
  size_t t;
  const char *target; /* its name */
  bool of_classes;
  size_t n_leading; /* its most important columns, known once importance has been found */
  char leading[WEB_LEADING][GPNN_MASK_BYTES];
};

/* Rows whose truth is known, with their predictions.  A zeroed object may be released. */
struct web_rows {
  const char *scored; /* borrowed; the table of predictions that is scored; NULL: there is none */
  const char *points; /* borrowed; the same or, where these are many, some of them */
  bool are_some;      /* 'points' are fewer than 'scored' */
  bool are_training;  /* they are training rows, each predicted from the others */
  bool of_test;       /* they are of the table to predict */
  bool has_cells;     /* 'points' has the cells of the rows, too */
  bool has_header;    /* the table that they are from names its columns */
  char of[GPNN_MASK_BYTES + 80]; /* which rows they are */
  size_t n;                      /* of has_cells: */
  uint64_t *number;              /* owned; of each row in the table that it is from, from 1 */
};

/* ---- web.c: what the parts have in common ---------------------------------------------------- */

/* Runs a tool on behalf of the page, and notes the command for readers.  False after telling them
 * that it failed and why.  Releases the command. */
bool web_run(struct web *web, struct command *command, struct gpnn_child *child);

/* Begins the command of a tool; ends it with the index, its parameters, and the target. */
struct command web_command(const char *tool, const char *kind);
void web_add_model(struct web *web, struct command *command);

/* Opens a table of predictions. */
GPNN_MUST_CHECK enum gpnn_status web_open_predictions(const struct web *web, const char *path,
                                                      struct gpnn_table **table,
                                                      struct gpnn_error *err);

/* ---- web_rows.c ------------------------------------------------------------------------------ */

/* Chooses rows whose truth is known and predicts them; that there are none is told on the page.
 * GPNN_ENOMEM, or GPNN_EIO. */
GPNN_MUST_CHECK enum gpnn_status web_rows_find(struct web_rows *rows, struct web *web,
                                               struct gpnn_error *err);

/* Writes about the rows that were predicted worst, and those that are farthest from the training
 * rows, with what they are predicted from. */
GPNN_MUST_CHECK enum gpnn_status web_rows_tell(const struct web_rows *rows, struct web *web,
                                               struct gpnn_error *err);

void web_rows_release(struct web_rows *rows);

#endif
