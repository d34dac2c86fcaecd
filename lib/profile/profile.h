/*
 * profile: what the cells of a table look like, column by column.
 *
 * Calling sequence: gpnn_profile_make() with an open table and the roles of its columns;
 * gpnn_profile_add() for each of its records (and gpnn_profile_add_malformed() for those that are
 * none); then profile/advice.h says what to make of it.  gpnn_profile_release() at the end.
 * Only columns that have a role are looked at.  That a row lacks one of several targets does not
 * count, unless it lacks all of them, nor that it lacks the offset of such a target.
 *
 * Memory: some 250 bytes a column, and up to 4 MB for one that has other cells than numbers, until
 * all of these have a million different texts together; it does not grow with the rows.
 * Threads: a profile belongs to one thread at a time; the same records give the same profile.
 */
#ifndef GPNN_PROFILE_PROFILE_H
#define GPNN_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "profile/cell.h"
#include "profile/ordered.h"
#include "table/date.h"
#include "table/groups.h"
#include "table/schema.h"
#include "table/table.h"

/*
 * Patterns: in how many rows which columns lack a usable value together.
 *
 * Add the columns of each row that lacks some, and count later the rows that would have to be left
 * out if some of these columns were not needed.  Rows that lack the same columns share a pattern.
 * A zeroed object is empty and may be released.
 *
 * Memory: at most 16 MiB; rows whose pattern finds no place any more are counted together, as if
 * they lacked a value that is always needed.  Threads: an object belongs to one thread at a time.
 */

/* A column, and one of up to eight reasons why its value cannot be used. */
struct gpnn_lack {
  uint32_t column;
  uint32_t why;
};

struct gpnn_patterns {
  size_t n_placeless; /* rows without a place */
  struct gpnn_groups groups;
  size_t n, capacity;
  struct gpnn_pattern {
    size_t begin, length; /* in 'lacks' */
    size_t n_rows;
  } * patterns; /* owned */
  size_t n_lacks, lacks_capacity;
  struct gpnn_lack *lacks; /* owned */
};

/* Adds a row that lacks 'n' > 0 values, by ascending columns.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_patterns_add(struct gpnn_patterns *patterns, size_t n,
                                                   const struct gpnn_lack *lacks,
                                                   struct gpnn_error *err);

/* How many rows lack a value that 'is_needed' by 'context'. */
size_t gpnn_patterns_count(const struct gpnn_patterns *patterns,
                           bool (*is_needed)(const void *context, const struct gpnn_lack *lack),
                           const void *context);

/* Frees what it owns and empties it. */
void gpnn_patterns_release(struct gpnn_patterns *patterns);

/* What a column's cells have to be. */
enum gpnn_profile_role {
  GPNN_PROFILE_UNUSED,
  GPNN_PROFILE_INPUT,  /* numbers */
  GPNN_PROFILE_CODED,  /* anything: an input that is a category or a date, or groups of rows */
  GPNN_PROFILE_TARGET, /* numbers or, if that is what they are, classes */
  GPNN_PROFILE_LABELS, /* anything: a target that is classes in any case */
  GPNN_PROFILE_OTHER   /* numbers: regressors, offsets, exposures, variances, coordinates, cycles */
};

/* Why a cell cannot be used: of struct gpnn_lack. */
enum gpnn_profile_why {
  GPNN_WHY_MISSING,      /* as the table's notation has it */
  GPNN_WHY_LIKE_MISSING, /* GPNN_CELL_LIKE_MISSING */
  GPNN_WHY_NOT_FINITE,
  GPNN_WHY_TEXT, /* neither a number in any notation nor a date */
  GPNN_WHY_CODE, /* a number that is known to stand for a missing value, such as -999 */
  GPNN_WHYS
};

/* Kinds of cells of which the first is kept. */
enum gpnn_profile_example {
  GPNN_EXAMPLE_LIKE_MISSING,
  GPNN_EXAMPLE_NOT_FINITE,
  GPNN_EXAMPLE_WRITTEN, /* a number in another notation */
  GPNN_EXAMPLE_AFFIXED,
  GPNN_EXAMPLE_DATE,
  GPNN_EXAMPLE_TEXT,
  GPNN_EXAMPLES
};

struct gpnn_example {
  size_t line; /* 0: there is none */
  char text[GPNN_MASK_BYTES];
};

/* How many different texts like a missing value, affixes and codes are told apart. */
enum { GPNN_PROFILE_DISTINCT = 4 };

/* The cells of a column that are not numbers as they are. */
struct gpnn_odd_cells {
  size_t n_written; /* numbers in another notation than the table's: counted in 'forms' too */
  size_t n_affixed; /* likewise */
  size_t n_not_finite, n_dates, n_text;
  size_t n_like_missing;
  struct gpnn_like_missing {
    char text[GPNN_AFFIX_BYTES];
    size_t n;
  } like_missing[GPNN_PROFILE_DISTINCT];
  size_t n_affixes; /* different ones; GPNN_PROFILE_DISTINCT: or more */
  char affixes[GPNN_PROFILE_DISTINCT][GPNN_AFFIX_BYTES];
  bool are_currencies; /* all affixes are */
  struct gpnn_date_guess dates;
  struct gpnn_groups levels; /* different texts, dates and numbers, at most GPNN_CODED_MAX + 1 */
  size_t n_counted;          /* cells that were looked up there */
  char texts[GPNN_ORDERED_MOST][GPNN_ORDERED_BYTES]; /* the first of them, as they came; empty:
                                                    there are no more, or it is too long */
  struct gpnn_example first[GPNN_EXAMPLES];
};

struct gpnn_column_profile {
  enum gpnn_profile_role role;
  bool is_input;         /* and nothing that a row must have, as regressors and offsets are */
  bool is_named;         /* an input that the user named, which is not to be dropped */
  size_t offset_of;      /* 1 + the column of the target that this is the offset of; 0: of none */
  size_t n_missing;      /* as the table's notation has it */
  size_t missing_line;   /* of the first; 0: none */
  size_t n_missing_text; /* those of them that are not empty */
  size_t forms[GPNN_FORMS];
  double low, high;      /* of the numbers but for codes; low > high: there are none */
  size_t n_rows_counted; /* cells so far that count from the first in steps of 1 */
  double last;           /* number */
  size_t n_codes;
  struct gpnn_code {
    double value; /* that may stand for a missing value */
    size_t n, line;
  } codes[2];
  struct gpnn_odd_cells *odd; /* owned; NULL: there are none */
};

/* A zeroed profile may be released. */
struct gpnn_profile {
  const struct gpnn_table *table; /* borrowed; outlives the profile */
  bool takes_missing;             /* set by the caller: inputs may be missing */
  size_t n_columns;
  struct gpnn_column_profile *columns; /* owned; of all columns of the table */
  size_t n_rows;                       /* records added */
  size_t n_malformed, malformed_line;  /* records that are none, and the line of the first */
  size_t n_comments;                   /* those of them that begin with #, and are no rows */
  size_t n_levels;                     /* in all columns */
  struct gpnn_patterns patterns;
  size_t lacks_capacity;
  struct gpnn_lack *lacks; /* owned; of the last record */
};

/* GPNN_ENOMEM: 'profile', which must be zeroed, stays so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_profile_make(struct gpnn_profile *profile,
                                                   const struct gpnn_table *table,
                                                   const struct gpnn_schema *schema,
                                                   struct gpnn_error *err);

/* Adds a well-formed record.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_profile_add(struct gpnn_profile *profile,
                                                  const struct gpnn_record *record,
                                                  struct gpnn_error *err);

/* Counts 'n' malformed records, which may be 0, of which 'n_comments' begin with #; the first is on
 * line 'line'. */
void gpnn_profile_add_malformed(struct gpnn_profile *profile, size_t n, size_t n_comments,
                                size_t line);

/* The cells of a column that are numbers in whatever notation. */
size_t gpnn_profile_numbers(const struct gpnn_column_profile *column);

void gpnn_profile_release(struct gpnn_profile *profile);

#endif
