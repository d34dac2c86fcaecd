/*
 * advice: what to make of the columns of a table, given its profile.
 *
 * Each column that has a role is judged by itself: as numbers, dates, categories, or as nothing
 * that a model can use.  What concerns the table as a whole is then decided once: the decimal mark
 * and separators of thousands that read most numbers, what is stripped, which texts stand for a
 * missing value, and which rows are left out.  The rules, with n the rows of the profile:
 *
 *   numbers     at least four fifths of the cells that have a value can be read as numbers
 *   dates       at least four fifths are dates in one format
 *   ordered     texts that show an order (profile/ordered.h), and on average five rows to each; the
 *               first 32 such columns
 *   category    other texts, at most 20 different ones, and on average five rows to each; at most
 *               50 where a target is of more than two classes, or the user made it classes
 *   coded       other texts of more kinds, at most 100 000, and on average two rows to each
 *   classes     in a target, texts that are more than half of the values, of 2 to 999 kinds, and on
 *               average two rows or more to each
 *   dropped     texts that are all different, more of them than in a coded column, or always the
 *               same; numbers that count the rows, in a column named like an id; numbers in several
 *               units, or with another decimal mark than other columns have; columns without any
 *               value, and, unless rows may lack inputs, those that lack it in more than half of
 *               the rows: keeping such a column would cost more rows than it describes
 *   missing     texts such as n/a in columns of numbers or dates, unless a category has them too;
 *               numbers such as -999 that occur at least twice and are farther from all other
 *               numbers of the column than these are from each other
 *   rows        those that still lack a value, and may not, are left out; if these are more than
 *               half, inputs are dropped, those that lack most values first, until they are not
 *
 * Nothing that the user asked for is changed, and no other target is ever chosen in place of one
 * that is neither numbers nor classes.
 *
 * Threads: a finished advice is read-only and may be shared.
 */
#ifndef GPNN_PROFILE_ADVICE_H
#define GPNN_PROFILE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "profile/profile.h"

enum gpnn_advice_kind {
  GPNN_ADVICE_NUMBERS,
  GPNN_ADVICE_DATES,
  GPNN_ADVICE_CATEGORY,
  GPNN_ADVICE_ORDERED, /* a category whose levels have an order */
  GPNN_ADVICE_CODED,   /* a category of many levels */
  GPNN_ADVICE_CLASSES,
  GPNN_ADVICE_AS_ASKED, /* a category, or what else takes any text */
  GPNN_ADVICE_DROP,
  GPNN_ADVICE_UNUSED, /* the column has no role */
};

/* Why a column is dropped. */
enum gpnn_advice_reason {
  GPNN_DROP_EMPTY,
  GPNN_DROP_MOSTLY_MISSING,
  GPNN_DROP_ALL_DIFFERENT,
  GPNN_DROP_MANY_TEXTS,
  GPNN_DROP_ONE_TEXT,
  GPNN_DROP_COUNTS_ROWS,
  GPNN_DROP_MIXED_UNITS,
  GPNN_DROP_OTHER_MARK, /* numbers whose decimal mark is not that of the table */
  GPNN_DROP_FOR_ROWS    /* it lacks too many values, together with other columns */
};

struct gpnn_column_advice {
  enum gpnn_advice_kind kind;
  enum gpnn_advice_reason reason;    /* of GPNN_ADVICE_DROP */
  const char *format, *other_format; /* of dates: static texts; the other one, or NULL, reads them
                                        all too */
  bool may_lack;                     /* an input, whose values may be missing */
  size_t n_bad;                      /* cells that cannot be used as they are */
  size_t n_levels;                   /* of texts; more than GPNN_CODED_MAX: at least */
  char (*order)[GPNN_ORDERED_BYTES]; /* owned; of an ordered category: its n_levels texts */
  bool needs_classes;                /* classes some of which are numbers, so that it has to be said
                                        that they are classes */
  size_t n_codes;                    /* cells that are numbers among the 'missing' of the advice */
  bool needs_na;                     /* has texts that are */
};

enum gpnn_advice_skip { GPNN_SKIP_NONE, GPNN_SKIP_SOME, GPNN_SKIP_ALL };

/* A zeroed advice may be released. */
struct gpnn_advice {
  size_t n_columns;
  struct gpnn_column_advice *columns; /* owned; of all columns of the table */
  char decimal;                       /* '.' or ',' */
  bool thousands;
  bool is_ambiguous; /* commas might as well be the other: 1,234 is all there is */
  size_t n_ordered;  /* columns that are ordered categories */
  char *strip;       /* owned; LISTs as in table/notation.h, NULL: nothing new */
  char *missing;
  /* A column that has to be numbers, or classes, and is none, or that would be dropped although the
   * user named it: nothing can be done without the user. */
  bool is_stuck;
  size_t stuck_column;
  size_t n_rows;              /* of the table, good and bad */
  size_t n_lost;              /* that lack a value after all this */
  enum gpnn_advice_skip skip; /* ALL: they are more than --skip-bad leaves out by itself */
};

/* Besides the rows in the profile there are 'n_rows_before', all good.  GPNN_ENOMEM: 'advice',
 * which must be zeroed, may be released. */
GPNN_MUST_CHECK enum gpnn_status gpnn_advice_make(struct gpnn_advice *advice,
                                                  const struct gpnn_profile *profile,
                                                  size_t n_rows_before, struct gpnn_error *err);

/* True if the table can be used as it is: there is nothing to say about any column or row. */
bool gpnn_advice_is_none(const struct gpnn_advice *advice);

void gpnn_advice_release(struct gpnn_advice *advice);

#endif
