/*
 * cell: what the text of one cell looks like, apart from how the table is said to be written.
 *
 * Of a number that could be read in one notation or another ("1,234") the form says so, and which
 * notation is right is left to those who see all cells (profile/advice.h).
 *
 * Nothing here can fail.  Threads: no shared state.
 */
#ifndef GPNN_PROFILE_CELL_H
#define GPNN_PROFILE_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "table/date.h"
#include "table/table.h"

enum gpnn_cell_kind {
  GPNN_CELL_NUMBER,       /* in some notation */
  GPNN_CELL_AFFIXED,      /* a number with a text before or after it, as in $5 or 5 km */
  GPNN_CELL_NOT_FINITE,   /* an infinity, or a number too large for a double */
  GPNN_CELL_LIKE_MISSING, /* a text that mostly stands for a missing value, such as n/a */
  GPNN_CELL_DATE,
  GPNN_CELL_TEXT,
  GPNN_CELL_KINDS
};

/* How a number is written.  A form with _3 has one mark with three digits after and one to three
 * before it, so that the mark may stand for decimals or separate thousands. */
enum gpnn_cell_form {
  GPNN_FORM_INTEGER,      /* 1234 */
  GPNN_FORM_POINT,        /* 1234.5 */
  GPNN_FORM_POINT_3,      /* 1.234 */
  GPNN_FORM_COMMA,        /* 1234,5 */
  GPNN_FORM_COMMA_3,      /* 1,234 */
  GPNN_FORM_COMMA_GROUPS, /* 1,234,567 or 1,234.5 */
  GPNN_FORM_POINT_GROUPS, /* 1.234.567 or 1.234,5 */
  GPNN_FORM_OTHER_GROUPS, /* 1 234 or 1'234 */
  GPNN_FORM_OTHER_POINT,  /* 1 234.5 */
  GPNN_FORM_OTHER_COMMA,  /* 1 234,5 */
  GPNN_FORMS
};

/* The longest text taken for an affix, with its NUL. */
enum { GPNN_AFFIX_BYTES = 16 };

struct gpnn_cell {
  enum gpnn_cell_kind kind;
  enum gpnn_cell_form form;     /* of a number, affixed or not */
  char affix[GPNN_AFFIX_BYTES]; /* NUL-terminated */
  bool is_currency;             /* the affix is one; otherwise it is a unit */
};

/* True, with the form, if all of text[0..length) but blanks around it is a number. */
bool gpnn_cell_number(const char *text, size_t length, enum gpnn_cell_form *form);

/* Looks at a cell that is not empty.  'dates' is of the cell's column, and learns of a date; NULL:
 * there are no dates. */
void gpnn_cell_look(const struct gpnn_field *field, struct gpnn_date_guess *dates,
                    struct gpnn_cell *cell);

#endif
