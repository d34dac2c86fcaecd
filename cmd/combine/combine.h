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

/* The predictions of one model, in the order of the first table. */
struct combine_table {
  const char *name;
  size_t n, capacity;
  double *mean, *sd, *df; /* owned; n each, NaN: missing; df may be INFINITY */
  double *truth;          /* owned; n, NaN: missing; NULL: the table has none */
  char *target;           /* owned: what the truth is called; NULL: there is none */
  struct ids ids;         /* empty without --id */
};

/* Reads a table of predictions; of those after the 'first' (NULL: this is it) in its order.
 * GPNN_EDATA: a number is bad, an sd is negative, ids or rows are not those of the first, or truths
 * differ.  It has to be released, also after a failure. */
GPNN_MUST_CHECK enum gpnn_status combine_read(const struct cli *cli,
                                              const struct combine_arguments *a, const char *path,
                                              const struct combine_table *first,
                                              struct combine_table *table, struct gpnn_error *err);

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
