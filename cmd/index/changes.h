/*
 * changes: advice (profile/advice.h) as values of gpnn-index's options, to be printed as a command
 * or to be used at once.
 */
#ifndef GPNN_CMD_INDEX_CHANGES_H
#define GPNN_CMD_INDEX_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cmd/common/cli.h"
#include "cmd/index/index.h"
#include "profile/advice.h"

/* Values that replace those on the command line, which they include; NULL, 0 and false: nothing
 * changes.  All texts are owned.  A zeroed object may be released. */
struct index_changes {
  char *drop, *one_hot, *strip, *missing;
  size_t n_dates;
  char *dates[CLI_LIST_ITEMS]; /* new ones only */
  char decimal;
  bool thousands, classes;
  enum skip_bad skip_bad;
  bool no_header;
  size_t skip_lines;
  const char *comment; /* static text */
};

/* How an option has to name a column: its name, or its number where the name will not do. */
struct column_names {
  const struct gpnn_table *table;
  bool *are_usable; /* owned; of each column: its name can be used */
};

GPNN_MUST_CHECK enum gpnn_status column_names_make(struct column_names *names,
                                                   const struct gpnn_table *table,
                                                   struct gpnn_error *err);
void column_names_print(const struct column_names *names, size_t column, FILE *to);
void column_names_release(struct column_names *names);

/* What the changes are to follow; all borrowed. */
struct changes_source {
  const struct cli *cli;
  const struct index_arguments *arguments;
  const struct gpnn_profile *profile;
  const struct gpnn_advice *advice;
  const struct column_names *names;
};

/* GPNN_ENOMEM: 'changes', which must be zeroed, may be released. */
GPNN_MUST_CHECK enum gpnn_status changes_make(struct index_changes *changes,
                                              const struct changes_source *from,
                                              struct gpnn_error *err);

/* True if nothing changes. */
bool changes_are_none(const struct index_changes *changes);

/* '*list' becomes a LIST with the items of both, of which 'before' may be NULL; NULL if 'more' is.
 */
GPNN_MUST_CHECK enum gpnn_status changes_join(char **list, const char *before, const char *more,
                                              struct gpnn_error *err);

/* Changes the arguments of a run, which then refer to 'changes'. */
void changes_apply(const struct index_changes *changes, struct cli *cli, struct index_arguments *a);

/* In the text of --shown-as: where the options of gpnn-index belong. */
#define INDEX_OPTIONS_HERE " {}"

/* Prints the command with the changes made, that of the tool that runs this one if --shown-as says
 * what it is.  It is ready to be typed, but for control characters in names of files. */
void changes_print_command(const struct cli *cli, const struct index_changes *changes, FILE *to);

/* Prints a text that may have line ends of its own, from names of files, as one line without end.
 */
void changes_print_line(const char *text, FILE *to);

/* Prints 'what' and the command with the changes made, ready to be typed, as two indented lines. */
void changes_print_indented(const struct cli *cli, const struct index_changes *changes,
                            const char *what, FILE *to);

void changes_release(struct index_changes *changes);

#endif
