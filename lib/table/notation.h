/*
 * notation: how the values of a table are written: which texts stand for a missing value, the
 * decimal mark, separators of thousands, and what may stand beside a number.
 *
 * struct gpnn_notation is what a user asks for; gpnn_values_make() prepares it for reading, and
 * gpnn_values_missing() and gpnn_values_number() read the text of a field.  An open table has both
 * (table/table.h), so callers seldom need more than table/columns.h.
 *
 * Threads: values are read-only once made, and may be shared freely.
 */
#ifndef GPNN_TABLE_NOTATION_H
#define GPNN_TABLE_NOTATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/number.h"
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed, all is as usual.  Texts are borrowed; a LIST has commas between its items. */
struct gpnn_notation {
  const char *missing; /* LIST of texts, besides the empty one, that stand for a missing value;
                          NULL: NA */
  const char *strip;   /* LIST of texts that are ignored before or after a number; NULL: none */
  const char *comment; /* lines that begin with it are skipped; NULL: none are */
  char decimal;        /* '.' or ','; 0: a point */
  bool thousands;      /* the digits before the decimal mark may be in groups of three, with the
                          other one of point and comma between them, or a space, an apostrophe or
                          an underscore */
};

/* Takes from 'usual' what 'notation' leaves open. */
void gpnn_notation_complete(struct gpnn_notation *notation, const struct gpnn_notation *usual);

/* Makes 'copy' a notation that owns its texts, for gpnn_notation_release().  GPNN_ENOMEM: it is
 * zeroed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_notation_copy(struct gpnn_notation *copy,
                                                    const struct gpnn_notation *notation,
                                                    struct gpnn_error *err);

/* Frees the texts, and zeroes the notation. */
void gpnn_notation_release(struct gpnn_notation *notation);

/* True if all is as usual. */
bool gpnn_notation_is_usual(const struct gpnn_notation *notation);

/* A text of the notation, and the number that it is, if it is one. */
struct gpnn_notation_text {
  const char *text;
  size_t length;
  bool is_number;
  double value;
};

/* A notation prepared for reading.  A zeroed object may be released. */
struct gpnn_values {
  struct gpnn_notation notation; /* its texts are owned */
  bool is_plain;                 /* numbers are as gpnn_number_read() takes them */
  bool may_be_missing[256];      /* the first bytes of missing values, and blanks */
  size_t n_missing, n_strip;
  struct gpnn_notation_text *missing, *strip; /* owned */
  char *texts[2];                             /* owned; what these point into */
};

/* Prepares a notation.  GPNN_EINVAL: the decimal mark is neither a point nor a comma, a comment is
 * the empty text.  GPNN_ENOMEM.  After a failure 'values' is empty. */
GPNN_MUST_CHECK enum gpnn_status gpnn_values_make(struct gpnn_values *values,
                                                  const struct gpnn_notation *notation,
                                                  struct gpnn_error *err);

/* True if text[0..length) stands for a missing value: it is empty, or one of the texts of the
 * notation, ignoring blanks around it.  If one of these is a number, so is any other way to write
 * that number. */
bool gpnn_values_missing(const struct gpnn_values *values, const char *text, size_t length);

/* Takes off what says that a number is negative, apart from a hyphen before it: "(5)", "5-", or the
 * minus sign U+2212.  False, with nothing changed: there is none of that, or another sign too. */
bool gpnn_notation_unsign(const char **text, size_t *length);

/*
 * Reads all of text[0..length) as a number, as gpnn_number_read(), but written as the notation
 * says, and with any sign that gpnn_notation_unsign() knows.  Digits in groups have one to three
 * digits in the first group, three in every other, and the same separator between all; blanks may
 * stand around a text that is stripped, and signs on either side of it.
 */
enum gpnn_number gpnn_values_number(const struct gpnn_values *values, const char *text,
                                    size_t length, double *value);

void gpnn_values_release(struct gpnn_values *values);

#ifdef __cplusplus
}
#endif

#endif
