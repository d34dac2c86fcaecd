/*
 * date: texts that are dates or times, as days.
 *
 * A date becomes the number of days since 1970-01-01 00:00 UTC, negative before it, in the
 * Gregorian calendar also where that was not yet in use; the time of day is the fraction.  A time
 * with an offset from UTC is the instant it means, so that the same instant is the same double
 * however it is written; one without is taken as UTC.  From 1900 to 2100 numbers are right to a
 * microsecond. There are no leap seconds: a second 60 is the first of the next minute.
 *
 * A format is a text as for strptime(3), in English and strict.  Its conversions are
 *
 *   %Y %y        year of four digits; of two, 69 to 99 in 1900, 00 to 68 in 2000
 *   %m %d %e %j  month, day of the month, day of the year
 *   %b %B %h     name of the month, whole or at least its first three letters, in either case
 *   %a %A        name of the day of the week, likewise; it says nothing more
 *   %H %I %p     hour of 24; hour of 12, with AM or PM in either case
 *   %M %S        minute; second, with a fraction if there is one
 *   %f           fraction of a second, where the format itself has the mark before it
 *   %z           Z, UTC, GMT or an offset from UTC: +02, +0200, +02:00
 *   %F %D %T %R  %Y-%m-%d, %m/%d/%y, %H:%M:%S, %H:%M
 *   %%           the character %
 *
 * Numbers may lack leading zeros, but for years.  A blank stands for any number of blanks or none,
 * every other character for itself.  What a format leaves out is that of 1970-01-01 00:00.  Blanks
 * around a date do not matter.
 *
 * The format GPNN_DATE_ISO reads the forms of ISO 8601 that have a month: 2014-05-02, 20140502,
 * 2014-05 (its first day), the first two also with a time after a T or blanks: 13, 13:05, 13:05:00,
 * 13:05:00.25, 130500, with Z or an offset after it.  24:00 is the end of a day.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_TABLE_DATE_H
#define GPNN_TABLE_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GPNN_DATE_ISO "iso"

enum gpnn_date {
  GPNN_DATE_OK,
  GPNN_DATE_BAD,        /* not of the format */
  GPNN_DATE_IMPOSSIBLE, /* of the format, but there is no such day or time: 30 February, 25:00 */
};

/* GPNN_EINVAL: 'format' has no conversion or an unknown one, says something twice, or has an hour
 * of 12 without AM or PM, or the reverse. */
GPNN_MUST_CHECK enum gpnn_status gpnn_date_check(const char *format, struct gpnn_error *err);

/* Reads all of text[0..length) by 'format', which gpnn_date_check() accepts.  '*days' is set only
 * on GPNN_DATE_OK. */
enum gpnn_date gpnn_date_read(const char *format, const char *text, size_t length, double *days);

enum { GPNN_DATE_BYTES = 32 }; /* room for any date as it is written, and its NUL */

/* Writes 'days' as ISO 8601, to the second, without the time at midnight; years outside 0 to 9999
 * as the number of days.  Returns 'out'. */
const char *gpnn_date_write(char out[GPNN_DATE_BYTES], double days);

/*
 * Guessing a format: gpnn_date_guess_add() for each text of a column, then
 * gpnn_date_guess_format().  Begins zeroed.
 */
enum { GPNN_DATE_GUESS_WORDS = 4 };

struct gpnn_date_guess {
  size_t n;                                 /* texts that the formats left can read */
  uint64_t rejected[GPNN_DATE_GUESS_WORDS]; /* a bit for each format that cannot */
};

/* True if 'text' is a date in one of the formats left; the others are then rejected.  Otherwise
 * nothing changes.  Plain numbers count as dates only in the form 20140502. */
bool gpnn_date_guess_add(struct gpnn_date_guess *guess, const char *text, size_t length);

/* A format that reads all texts added, or NULL if there are none.  '*other' is another that reads
 * them all, or NULL: when no day is above 12, as in 05/02/2014, days cannot be told from months.
 * Both are static texts. */
const char *gpnn_date_guess_format(const struct gpnn_date_guess *guess, const char **other);

#endif
