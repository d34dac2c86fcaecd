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
  char *target, *drop, *one_hot, *strip, *missing;
  size_t n_dates;
  char *dates[CLI_LIST_ITEMS]; /* new ones only */
  char decimal;
  bool thousands;
  enum skip_bad skip_bad;
};

/* GPNN_ENOMEM: 'changes', which must be zeroed, may be released. */
GPNN_MUST_CHECK enum gpnn_status changes_make(struct index_changes *changes, const struct cli *cli,
                                              const struct index_arguments *a,
                                              const struct gpnn_profile *profile,
                                              const struct gpnn_advice *advice,
                                              struct gpnn_error *err);

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

/* Prints 'text' as one word of a shell. */
void changes_print_quoted(const char *text, FILE *to);

/* In the text of --shown-as: where the options of gpnn-index belong. */
#define INDEX_OPTIONS_HERE " {}"

/* Prints the command with the changes made, ready to be typed: that of the tool that runs this one,
 * if --shown-as says what it is. */
void changes_print_command(const struct cli *cli, const struct index_changes *changes, FILE *to);

void changes_release(struct index_changes *changes);

#endif
