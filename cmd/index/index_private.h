/*
 * index_private: what the parts of gpnn-index share: the run itself (index.c), what is told of a
 * table that was read (describe.c), and what becomes of one that cannot be used as it is: a survey
 * of all rows (survey.c), the advice about it (diagnosis.c), and the changes of options that follow
 * (changes.c).
 */
#ifndef CMD_INDEX_INDEX_PRIVATE_H
#define CMD_INDEX_INDEX_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/index/index.h"
#include "dataset/dataset.h"
#include "dataset/training/training.h"
#include "profile/advice.h"
#include "profile/profile.h"
#include "search/search.h"
#include "table/table.h"

/* ---- writing (index.c) --------------------------------------------------------------------- */

/* Writes a dataset and a search over its rows, or over what 'over' sees of them (NULL: the rows
 * themselves), and says how good that is. */
GPNN_MUST_CHECK enum gpnn_status index_write(const struct cli *cli, const char *output,
                                             const struct gpnn_dataset *dataset,
                                             const struct gpnn_dataset *over,
                                             const struct gpnn_search_options *options,
                                             struct gpnn_error *err);

/* The unfinished index file, for the signal handler. */
extern const char *volatile index_unfinished;

/* ---- an index with more or fewer rows (grow.c) --------------------------------------------- */

/* Checks the arguments of --add and --forget, of which there is one, as index_resolve() does. */
bool grow_resolve(const struct cli *cli, const struct index_arguments *a);

GPNN_MUST_CHECK enum gpnn_status grow(const struct cli *cli, const struct index_arguments *a,
                                      struct gpnn_error *err);

/* ---- what is told of a table that was read (describe.c) ------------------------------------ */

/* Warns of what is odd about the rows and columns, says what was dropped and, unless --shown-as
 * says that another tool does, what is predicted from what. */
void describe_training(const struct cli *cli, const struct gpnn_table *table,
                       const struct gpnn_training *training);

/* The same as JSON, if it is asked for (gpnn-info has the same names): the rows of 'table', those
 * left out and why, and the columns; and the search. */
void report_training(const struct cli *cli, const struct gpnn_table *table,
                     const struct gpnn_training *training);
void report_search(const struct cli *cli, const struct gpnn_search_report *search);

/* ---- changes: advice (profile/advice.h) as values of gpnn-index's options ------------------ */

/* To be printed as a command or to be used at once. */

/* Values that replace those on the command line, which they include; NULL, 0 and false: nothing
 * changes.  All texts are owned.  A zeroed object may be released. */
struct index_changes {
  char *drop, *one_hot, *coded, *strip, *missing;
  size_t n_ordered, n_dates;
  char *ordered[CLI_LIST_ITEMS], *dates[CLI_LIST_ITEMS]; /* new ones only */
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
/* The value of --ordered for column 'j', whose advice has the levels. */
void changes_print_order(const struct column_names *names, const struct gpnn_advice *advice,
                         size_t j, FILE *to);
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

/* ---- diagnosis: what is to be told about a table that cannot be used as it is -------------- */

/* diagnosis_make() with the profile of a table; diagnosis_tell(); then diagnosis_release(),
 * whatever happened.  A zeroed object may be released. */
struct diagnosis {
  const struct cli *cli; /* these three are borrowed */
  const struct index_arguments *arguments;
  const struct gpnn_profile *profile;
  struct gpnn_advice advice;
  struct column_names names;
  struct index_changes changes; /* those that follow the advice; callers may add some */
};

/* Asks for advice and finds the changes that follow it; 'n_before' good rows came before those of
 * the profile.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status diagnosis_make(struct diagnosis *diagnosis, const struct cli *cli,
                                                const struct index_arguments *arguments,
                                                const struct gpnn_profile *profile, size_t n_before,
                                                struct gpnn_error *err);

/* True if the changes leave a table to train on. */
bool diagnosis_is_possible(const struct diagnosis *diagnosis);

/* True if there is more to tell than what is wrong with the first bad row. */
bool diagnosis_is_worth_telling(const struct diagnosis *diagnosis);

/*
 * Tells all columns that are no numbers, what they look like, which options use them, and the
 * command that does it all.  'why' is what is wrong with the first bad row, and is told instead of
 * the columns where that is all; NULL: the changes are being made, and this is told.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status diagnosis_tell(const struct diagnosis *diagnosis, const char *why,
                                                struct gpnn_error *err);

void diagnosis_release(struct diagnosis *diagnosis);

/* ---- reread: a table that is read twice, wherever it comes from ---------------------------- */

/* reread_begin(); read 'path'; reread_again(); read 'path'.  What cannot be read twice, such as a
 * pipe, is copied first, to an unnamed file that takes the place of standard input. */
struct reread {
  const char *path; /* to be read: the one asked for, or "-" */
  off_t start;      /* of standard input */
};

/*
 * Prepares to read 'asked' (borrowed; "-": standard input) twice.  A copy is made in the directory
 * of the file 'beside', as base/spool.h does, with 'watch' as there.  GPNN_EIO: the table cannot be
 * read, or the disk is full.
 */
GPNN_MUST_CHECK enum gpnn_status reread_begin(struct reread *reread, const char *asked,
                                              const char *beside, const char *volatile *watch,
                                              struct gpnn_error *err);

/* Goes back to the beginning. */
GPNN_MUST_CHECK enum gpnn_status reread_again(const struct reread *reread, struct gpnn_error *err);

/* ---- survey: a pass over all rows of a table, which says how it can be used ---------------- */

/* gpnn-index --auto makes a survey first and follows its advice.  Without --auto, what is found
 * after the first bad row is reported. */

/* True if the names of all columns are numbers, and not whole ones: the header is a row. */
bool survey_sees_row(const struct gpnn_table *table);

/*
 * Looks at all rows of a table and finds what to change so that it can be used; tells so, unless
 * there is nothing to tell or --quiet is given, and goes back to the beginning.  'changes' must be
 * zeroed, and stays so if nothing has to be changed or no change is enough.
 *
 * GPNN_EDATA: the table cannot be used without a decision that is the user's, which has been told.
 * Otherwise as gpnn_table_open(), gpnn_schema_choose() and gpnn_table_next().
 */
GPNN_MUST_CHECK enum gpnn_status survey_make(struct index_changes *changes, const struct cli *cli,
                                             const struct index_arguments *a,
                                             const struct reread *reread, struct gpnn_error *err);

/*
 * Reports on a table that failed with 'err'.  'profile' has the rows from about the first bad one
 * on, 'n_before' good ones came before; it is empty if the failure came earlier.  Always fails:
 * with an empty message if it has told more than that of 'err', which stays otherwise.
 */
enum gpnn_status survey_report(const struct cli *cli, const struct index_arguments *a,
                               const struct gpnn_profile *profile, size_t n_before,
                               struct gpnn_error *err);

/* The same for a table that failed because a target holds classes that cannot be used, such as too
 * many: if the user did not choose the target, it may have to be another. */
enum gpnn_status survey_report_classes(const struct cli *cli, const struct index_arguments *a,
                                       struct gpnn_error *err);

/* After warnings about a table that could be used: says the command that takes the first line for a
 * row, or codes far outside the rest for missing values, if that was what a warning was about. */
void survey_suggest(const struct cli *cli, const struct index_arguments *a,
                    const struct gpnn_table *table, const struct gpnn_training *training);

#endif
