/*
 * index: gpnn-index, from its arguments to its output.
 */
#ifndef GPNN_CMD_INDEX_INDEX_H
#define GPNN_CMD_INDEX_INDEX_H

#include "cmd/common/cli.h"
#include "cmd/common/skip.h"
#include "dataset/training/training.h"
#include "search/search.h"
#include "stats/moments.h"

enum { INDEX_OF_FRESH = CLI_OF_OWN << 1 }; /* options of an index that is made of a table */

enum index_preset { INDEX_NO_PRESET, INDEX_PAPER };

struct index_arguments;

/* Writes a dataset that was made of a table, in place of gpnn-index itself. */
struct index_writer {
  enum gpnn_status (*write)(const struct index_writer *writer, const struct index_arguments *a,
                            const struct gpnn_dataset *dataset, struct gpnn_error *err);
};

/* A table that has been read, but for gpnn_training_finish(). */
struct index_read {
  struct gpnn_table *table;      /* owned; NULL: none has */
  struct gpnn_training training; /* owned */
};

struct index_arguments {
  struct gpnn_roles
      roles; /* without ordered, dates, periods and places, which index_resolve() adds */
  struct cli_list ordered, dates, periods, places, target_scales;
  struct gpnn_moments given[CLI_LIST_ITEMS];                    /* what the last of these say */
  const char *output, *metric, *pack, *add, *forget, *shown_as; /* NULL: not given */
  enum index_preset preset;
  enum skip_bad skip_bad;
  bool unique;
  bool surveys; /* --auto */
  struct gpnn_training_options training;
  struct gpnn_search_options search;
  struct index_read *read;           /* NULL: the table is opened and read */
  const struct index_writer *writer; /* NULL: an index is written */
};

/* The options of gpnn-index, for arguments that begin with struct index_arguments. */
extern const struct cli_tool index_tool;

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool index_resolve(const struct cli *cli, void *arguments);

/* Makes the index: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status index_run(const struct cli *cli, void *arguments,
                                           struct gpnn_error *err);

#endif
