/*
 * combine: gpnn-combine, from its arguments to one table of predictions, or the scores of all
 * rules.
 */
#ifndef GPNN_CMD_COMBINE_COMBINE_H
#define GPNN_CMD_COMBINE_COMBINE_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "cmd/common/ids.h"
#include "combine/combine.h"

/* Numbers beyond this are refused: sums of their squares would not be finite. */
#define COMBINE_MOST 1e100

struct combine_arguments {
  const char *id, *truth, *prior, *weights, *learn, *check; /* NULL: not given */
  enum gpnn_combine_rule rule;
  double noise;
  struct cli_probabilities intervals;
  double prior_mean, prior_sd; /* as 'prior' says; sd 0: not given */
};

/* A table that is read, and where its columns are; SIZE_MAX: it has no such column. */
struct combine_reading {
  const struct cli *cli;
  const struct combine_arguments *a;
  struct gpnn_table *table; /* owned; NULL: not opened yet, or read to its end */
  size_t id, truth, mean, sd, df;
};

/* The predictions of one model, in the order of the first table: all, or those of one block of rows
 * after another. */
struct combine_table {
  const char *name;
  struct combine_reading reading;
  size_t before; /* rows of the blocks before */
  size_t n, capacity;
  bool has_ended;         /* there are no more rows */
  bool has_sd;            /* a row so far has one */
  double *mean, *sd, *df; /* owned; n each, NaN: missing; df may be INFINITY */
  double *truth;          /* owned; n, NaN: missing */
  char *target;           /* owned: what the truth is called; NULL: there is none */
  struct ids ids;         /* empty without --id */
};

/* Opens a table of predictions, which has to be released, also after a failure. */
GPNN_MUST_CHECK enum gpnn_status combine_open(const struct cli *cli,
                                              const struct combine_arguments *a, const char *path,
                                              struct combine_table *table, struct gpnn_error *err);

/* Reads its next rows, at most 'most' of them, in place of those before.  GPNN_EDATA: a number is
 * bad, an sd is negative, or an id is there twice. */
GPNN_MUST_CHECK enum gpnn_status combine_next(struct combine_table *table, size_t most,
                                              struct gpnn_error *err);

/* Puts the rows into the order of the 'first' table, of which as many have been asked for.
 * GPNN_EDATA: ids or rows are not those of the first, or truths differ. */
GPNN_MUST_CHECK enum gpnn_status
combine_follow(struct combine_table *first, struct combine_table *table, struct gpnn_error *err);

/* Reads the truths of the rows of 'first' from a table of their own: '*truth' (first->n, NaN: there
 * is none) is for the caller to free().  Without --id it has to have as many rows. */
GPNN_MUST_CHECK enum gpnn_status
combine_read_truth(const struct cli *cli, const struct combine_arguments *a, const char *path,
                   const struct combine_table *first, double **truth, struct gpnn_error *err);

void combine_table_release(struct combine_table *table);

/* A struct cli_tool's 'resolve' and 'run'. */
bool combine_resolve(const struct cli *cli, void *arguments);
GPNN_MUST_CHECK enum gpnn_status combine_run(const struct cli *cli, void *arguments,
                                             struct gpnn_error *err);

#endif
