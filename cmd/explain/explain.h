/*
 * explain: what the kinds of explanation that gpnn-explain gives have in common.
 *
 * A kind gets the index, its parameters and the model, which are open, and writes a table.
 */
#ifndef GPNN_CMD_EXPLAIN_EXPLAIN_H
#define GPNN_CMD_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/common/json.h"
#include "cmd/common/open.h"
#include "cmd/common/rows.h"
#include "explain/columns.h"
#include "explain/effect.h"
#include "explain/sobol.h"

/* What a kind may lack, for cli_misplaced(). */
enum {
  EXPLAIN_NEIGHBOURS = CLI_OF_OWN, /* rows of training that are listed */
  EXPLAIN_TABLE = 2 * EXPLAIN_NEIGHBOURS,
  EXPLAIN_COLUMNS = 2 * EXPLAIN_TABLE,  /* that are chosen */
  EXPLAIN_SAMPLE = 2 * EXPLAIN_COLUMNS, /* rows that stand for all */
  EXPLAIN_SCORED = 2 * EXPLAIN_SAMPLE,  /* rows whose targets are known */
  EXPLAIN_GRID = 2 * EXPLAIN_SCORED,    /* values of a column */
  EXPLAIN_DRAWS = 2 * EXPLAIN_GRID,     /* of the function */
  EXPLAIN_INPUTS = 2 * EXPLAIN_DRAWS,   /* that are independent */
  EXPLAIN_ALL = 2 * EXPLAIN_INPUTS - EXPLAIN_NEIGHBOURS,
};

struct explain_arguments {
  const char *params, *target, *inputs, *with, *keep, *by; /* NULL: not given */
  enum skip_bad skip_bad;
  size_t top, repeats, samples;
  size_t points, rows; /* 0: not given */
  enum gpnn_effect_kind effect;
  enum gpnn_sobol_inputs distribution;
  struct cli_probabilities interval; /* one; explain_resolve() completes it */
  bool json, loo, pairs;
  const struct explain_kind *kind; /* explain_resolve() finds it */
};

#define EXPLAIN_ARGUMENTS_INIT              \
  {                                         \
    .top = 10, .repeats = 1, .samples = 400 \
  }

struct explaining {
  const struct cli *cli; /* whose first operand is the index */
  const struct explain_arguments *a;
  struct opened opened; /* of one target */
  struct gpnn_model *model;
  const struct gpnn_channel *channel; /* the only one */
  const struct gpnn_dataset *view;    /* of its target in the index: not transformed */
  size_t n_classes;                   /* 0: the target is a number */
};

/* The names of the kinds: a struct cli_tool's 'first_operand'. */
const char *explain_kind_name(size_t i);

/* A struct cli_tool's 'resolve' and 'run'. */
bool explain_resolve(const struct cli *cli, void *arguments);
GPNN_MUST_CHECK enum gpnn_status explain_run(const struct cli *cli, void *arguments,
                                             struct gpnn_error *err);

/* One of each kind. */
enum gpnn_status explain_rows(struct explaining *e, struct gpnn_error *err);
enum gpnn_status explain_importance(struct explaining *e, struct gpnn_error *err);
enum gpnn_status explain_effect(struct explaining *e, struct gpnn_error *err);
enum gpnn_status explain_sobol(struct explaining *e, struct gpnn_error *err);

/* True if the mean of the target is not its latent function times a unit, as it is of a count or
 * seen through a transform. */
bool explain_is_warped(const struct explaining *e);

/* Finds the number of each training row of the target in the table that the index was made from:
 * '*number', which the caller frees. */
GPNN_MUST_CHECK enum gpnn_status explain_number_rows(const struct explaining *e, uint64_t **number,
                                                     struct gpnn_error *err);

/* What is explained one after the other: columns, or several that count together. */
struct explain_item {
  char name[GPNN_MASK_BYTES]; /* a column's, or as the command line has it */
  struct gpnn_explain_group group;
};

/* A zeroed object is empty and may be released. */
struct explain_items {
  struct gpnn_explain_columns columns; /* all of the model */
  size_t n;
  struct explain_item *of;                    /* owned; n */
  const struct gpnn_explain_column **members; /* owned; of all items */
};

/*
 * Finds the columns of the model, and what -x asks for, in its order: columns, A+B for two of them,
 * or A* for all whose names begin so; without -x, each column by itself.  'items' must be zeroed;
 * the caller releases it, also after a failure.  GPNN_EINVAL: there is no such column, or it is
 * named twice.  GPNN_EDATA: whitening has mixed them.
 */
GPNN_MUST_CHECK enum gpnn_status
explain_find_items(const struct explaining *e, struct explain_items *items, struct gpnn_error *err);

void explain_items_release(struct explain_items *items);

/* ---- tables (sheet.c) ------------------------------------------------------------------------ */

/*
 * Lines of named cells: a table, whose names are written first, or a JSON object that has them as
 * an array of objects.  The first failure is kept for sheet_close(); nothing else needs to be
 * checked.
 */
struct sheet {
  struct gpnn_output *output; /* owned; NULL: not open */
  const char *na;
  bool at_start;    /* of a line of the table */
  bool as_json;     /* there is no table */
  struct json json; /* owned; what of the object has not been written */
  enum gpnn_status status;
  struct gpnn_error err;
};

/* Opens the output of a tool. */
void sheet_open(struct sheet *sheet, const struct cli *cli, bool as_json);

/* Begins what the lines are: the names of the cells with commas between, which the table has above
 * them, after any cells that were filled in before, and the name of the array of the object.  What
 * else the object has comes before. */
void sheet_lines(struct sheet *sheet, const char *names, const char *array);

/* Begins a line, fills in its next cell, and ends it.  A number that is NaN, and a text that is
 * NULL, are missing. */
void sheet_begin(struct sheet *sheet);
void sheet_bytes(struct sheet *sheet, const char *name, const char *text, size_t length);
void sheet_text(struct sheet *sheet, const char *name, const char *text);
void sheet_number(struct sheet *sheet, const char *name, double value);
void sheet_count(struct sheet *sheet, const char *name, size_t value);
void sheet_end(struct sheet *sheet);

/* Closes it: whole if 'status' and all that was written are GPNN_OK, else nothing is left behind.
 */
GPNN_MUST_CHECK enum gpnn_status sheet_close(struct sheet *sheet, enum gpnn_status status,
                                             struct gpnn_error *err);

#endif
