/*
 * Guessing the format of dates.
 */
#include "table/date.h"

/* A date alone, and with the ways in which times are written. */
#define WITH_TIMES(date)                                                                        \
  date, date " %H:%M", date " %H:%M:%S", date " %I:%M %p", date " %I:%M:%S %p", date ", %H:%M", \
      date ", %H:%M:%S", date ", %I:%M %p", date ", %I:%M:%S %p"

/* Of two that read the same text, the first is preferred. */
static const char *const formats[] = {
    GPNN_DATE_ISO,
    WITH_TIMES("%d/%m/%Y"),
    WITH_TIMES("%m/%d/%Y"),
    WITH_TIMES("%Y/%m/%d"),
    WITH_TIMES("%d.%m.%Y"),
    WITH_TIMES("%d-%m-%Y"),
    WITH_TIMES("%m-%d-%Y"),
    WITH_TIMES("%Y.%m.%d"),
    WITH_TIMES("%d-%b-%Y"),
    WITH_TIMES("%d %b %Y"),
    "%d%b%Y:%H:%M",
    "%d%b%Y:%H:%M:%S",
    WITH_TIMES("%d/%b/%Y"),
    WITH_TIMES("%b %d %Y"),
    WITH_TIMES("%b %d, %Y"),
    WITH_TIMES("%Y-%b-%d"),
    WITH_TIMES("%d/%m/%y"),
    WITH_TIMES("%m/%d/%y"),
    WITH_TIMES("%d.%m.%y"),
    WITH_TIMES("%d-%b-%y"),
    "%b %Y",
    "%b-%Y",
    "%b-%y",
    "%Y-%m-%d %I:%M %p",
    "%Y-%m-%d %I:%M:%S %p",
    "%d/%b/%Y:%H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %z %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y",
    "%a, %b %d, %Y",
    "%H:%M",
    "%H:%M:%S",
    "%I:%M %p",
    "%I:%M:%S %p",
};

enum { N_FORMATS = sizeof formats / sizeof formats[0] };

_Static_assert(N_FORMATS <= 64 * GPNN_DATE_GUESS_WORDS, "a bit for each format");

static bool is_rejected(const struct gpnn_date_guess *guess, size_t i)
{
  return guess->rejected[i / 64] >> i % 64 & 1;
}

bool gpnn_date_guess_add(struct gpnn_date_guess *guess, const char *text, size_t length)
{
  struct gpnn_date_guess narrowed = *guess;
  bool any = false;
  double days;
  for (size_t i = 0; i < N_FORMATS; i++) {
    if (is_rejected(guess, i)) continue;
    if (gpnn_date_read(formats[i], text, length, &days) == GPNN_DATE_OK)
      any = true;
    else
      narrowed.rejected[i / 64] |= (uint64_t)1 << i % 64;
  }
  if (!any) return false;
  narrowed.n++;
  *guess = narrowed;
  return true;
}

const char *gpnn_date_guess_format(const struct gpnn_date_guess *guess, const char **other)
{
  const char *first = NULL;
  *other = NULL;
  for (size_t i = 0; i < N_FORMATS && guess->n > 0 && *other == NULL; i++) {
    if (is_rejected(guess, i)) continue;
    if (first == NULL)
      first = formats[i];
    else
      *other = formats[i];
  }
  return first;
}
