#include "profile/cell.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

struct span {
  const char *s;
  size_t n;
};

/* The length of the blank at the beginning of a text, or 0: no-break spaces count. */
static size_t blank_length(struct span text)
{
  static const char *const blanks[] = {" ", "\t", "\xc2\xa0", "\xe2\x80\xaf"};
  for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
    size_t length = strlen(blanks[i]);
    if (text.n >= length && memcmp(text.s, blanks[i], length) == 0) return length;
  }
  return 0;
}

static struct span skip(struct span text, size_t n)
{
  return (struct span){text.s + n, text.n - n};
}

static struct span trim(struct span text)
{
  for (size_t n; (n = blank_length(text)) > 0;) text = skip(text, n);
  for (bool again = true; again;) {
    again = false;
    for (size_t n = 1; n <= 3 && n <= text.n && !again; n++)
      again = blank_length((struct span){text.s + text.n - n, n}) == n && (text.n -= n, true);
  }
  return text;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* The mark between digits at the beginning of 'text': '.', ',' or 'o' for other separators of
 * thousands, and its length; 0 if there is none. */
static size_t find_mark(struct span text, char *mark)
{
  /* The last two are a no-break space and an apostrophe in Latin-1 and Windows-1252. */
  static const char *const others[] = {"'", "_", "\xe2\x80\x99", "\xa0", "\x92"};
  *mark = 'o';
  if (text.n == 0) return 0;
  if (*text.s == '.' || *text.s == ',') {
    *mark = *text.s;
    return 1;
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    size_t length = strlen(others[i]);
    if (text.n > length && memcmp(text.s, others[i], length) == 0) return length;
  }
  size_t blank = *text.s == '\t' ? 0 : blank_length(text);
  return blank < text.n ? blank : 0;
}

/* The digits of a number and the marks between them. */
struct digits {
  size_t n_marks;
  char first, last; /* marks */
  bool alike;       /* all marks but the last are as the first */
  bool threes;      /* every group between two marks has three digits, and the first at most */
  bool leading_zero;
  size_t n_first, n_last; /* digits before the first mark and after the last */
};

static size_t count_digits(struct span text)
{
  size_t n = 0;
  while (n < text.n && isdigit((unsigned char)text.s[n])) n++;
  return n;
}

/* Reads digits and marks; returns how many bytes they take, 0 if there is no digit. */
static size_t read_digits(struct span text, struct digits *d)
{
  *d = (struct digits){.alike = true, .threes = true};
  struct span rest = text;
  d->n_first = d->n_last = count_digits(rest);
  d->leading_zero = d->n_first > 0 && *text.s == '0';
  rest = skip(rest, d->n_first);
  char mark;
  for (size_t n; (n = find_mark(rest, &mark)) > 0;) {
    size_t after = count_digits(skip(rest, n));
    bool ends = after == 0;
    if (ends && (mark == 'o' || d->n_marks > 0 || d->n_first == 0)) break;
    if (d->n_marks > 0) {
      d->threes = d->threes && d->n_last == 3;
      d->alike = d->alike && d->last == d->first;
    } else {
      d->threes = d->n_first >= 1 && d->n_first <= 3;
      d->first = mark;
    }
    d->last = mark;
    d->n_last = after;
    d->n_marks++;
    rest = skip(rest, n + after);
    if (ends) break;
  }
  return d->n_first + d->n_last == 0 ? 0 : text.n - rest.n;
}

/* The length of an exponent. */
static size_t read_exponent(struct span text)
{
  if (text.n < 2 || (*text.s != 'e' && *text.s != 'E')) return 0;
  size_t sign = text.s[1] == '-' || text.s[1] == '+';
  size_t n = count_digits(skip(text, 1 + sign));
  return n == 0 ? 0 : 1 + sign + n;
}

static bool form_of_one_mark(const struct digits *d, bool has_exponent, enum gpnn_cell_form *form)
{
  bool either = d->threes && d->n_last == 3 && !d->leading_zero && !has_exponent;
  if (d->first == 'o') {
    *form = GPNN_FORM_OTHER_GROUPS;
    return d->threes && d->n_last == 3;
  }
  if (d->first == '.')
    *form = either ? GPNN_FORM_POINT_3 : GPNN_FORM_POINT;
  else
    *form = either ? GPNN_FORM_COMMA_3 : GPNN_FORM_COMMA;
  return true;
}

/* The form that digits and marks make; false: none. */
static bool find_form(const struct digits *d, bool has_exponent, enum gpnn_cell_form *form)
{
  *form = GPNN_FORM_INTEGER;
  if (d->n_marks == 0) return true;
  if (d->n_marks == 1) return form_of_one_mark(d, has_exponent, form);
  if (!d->alike || !d->threes) return false;
  if (d->last == d->first) {
    *form = d->first == '.'   ? GPNN_FORM_POINT_GROUPS
            : d->first == ',' ? GPNN_FORM_COMMA_GROUPS
                              : GPNN_FORM_OTHER_GROUPS;
    return d->n_last == 3;
  }
  if (d->first == 'o')
    *form = d->last == '.' ? GPNN_FORM_OTHER_POINT : GPNN_FORM_OTHER_COMMA;
  else
    *form = d->first == '.' ? GPNN_FORM_POINT_GROUPS : GPNN_FORM_COMMA_GROUPS;
  return d->last != 'o';
}

/* The length of the number without a sign that 'text' begins with, and its form; 0 if none. */
static size_t read_number(struct span text, enum gpnn_cell_form *form)
{
  struct digits d;
  size_t n = read_digits(text, &d);
  if (n == 0) return 0;
  size_t exponent = read_exponent(skip(text, n));
  return find_form(&d, exponent > 0, form) ? n + exponent : 0;
}

static bool is_sign(struct span text)
{
  return text.n > 0 && (*text.s == '-' || *text.s == '+');
}

bool gpnn_cell_number(const char *text, size_t length, enum gpnn_cell_form *form)
{
  struct span rest = trim((struct span){text, length});
  if (is_sign(rest)) rest = skip(rest, 1);
  return rest.n > 0 && read_number(rest, form) == rest.n;
}

/* ---- affixes ----------------------------------------------------------------------------- */

static bool is_equal(struct span text, const char *word)
{
  return text.n == strlen(word) && strncasecmp(text.s, word, text.n) == 0;
}

static bool is_currency(struct span text)
{
  static const char *const known[] = {
      "$",   "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", "\xe2\x82\xb9", "\xe2\x82\xa9", "US$", "A$",
      "C$",  "R$",           "USD",      "EUR",      "GBP",          "CHF",          "JPY", "CNY",
      "INR", "Rs",           "Rs.",      "kr"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (is_equal(text, known[i])) return true;
  return false;
}

/* A unit: letters, a percent or degree sign, and what stands between them as in km/h; no mark that
 * would mean something else, as in 5* or 5+. */
static bool is_unit(struct span text)
{
  for (size_t at = 0, n; at < text.n; at += n) {
    unsigned char c = (unsigned char)text.s[at];
    n = gpnn_utf8_length(text.s + at, text.n - at);
    bool is_inner = at > 0 && (c == '/' || c == '.' || c == '^');
    if (n == 0 || !(isalpha(c) || c == '%' || c >= 0x80 || is_inner)) return false;
  }
  return text.n > 0;
}

/* Notes 'text' as the affix of the cell, if it can be one. */
static bool take_affix(struct span text, bool is_before, struct gpnn_cell *cell)
{
  bool is_known = is_currency(text);
  if (text.n >= GPNN_AFFIX_BYTES || (!is_known && (is_before || !is_unit(text)))) return false;
  memcpy(cell->affix, text.s, text.n);
  cell->affix[text.n] = '\0';
  cell->is_currency = is_known;
  return true;
}

/* A number with an affix on one side; a sign may stand on either side of one before it. */
static bool look_for_affix(struct span text, struct gpnn_cell *cell)
{
  bool has_sign = is_sign(text);
  struct span rest = trim(skip(text, has_sign));
  size_t before = 0;
  while (before < rest.n && !isdigit((unsigned char)rest.s[before]) &&
         !is_sign(skip(rest, before)) &&
         !((rest.s[before] == '.' || rest.s[before] == ',') && before + 1 < rest.n &&
           isdigit((unsigned char)rest.s[before + 1])))
    before++;
  struct span prefix = trim((struct span){rest.s, before});
  rest = skip(rest, before);
  if (is_sign(rest) && !has_sign && before > 0) rest = trim(skip(rest, 1));
  size_t n = read_number(rest, &cell->form);
  struct span suffix = trim(skip(rest, n));
  if (n == 0 || (prefix.n > 0) == (suffix.n > 0)) return false;
  return take_affix(prefix.n > 0 ? prefix : suffix, prefix.n > 0, cell);
}

/* ---- the rest ---------------------------------------------------------------------------- */

/* Texts that often stand for a missing value, in either case. */
static const char *const like_missing[] = {"NA",
                                           "N/A",
                                           "N.A.",
                                           "n.a",
                                           "#N/A",
                                           "#NA",
                                           "<NA>",
                                           "NaN",
                                           "nan()",
                                           "-nan",
                                           "+nan",
                                           "NaT",
                                           "null",
                                           "(null)",
                                           "nil",
                                           "none",
                                           "-",
                                           "--",
                                           "---",
                                           ".",
                                           "..",
                                           "...",
                                           "?",
                                           "??",
                                           "*",
                                           "**",
                                           "***",
                                           "\\N",
                                           "\\\\N",
                                           "#VALUE!",
                                           "#DIV/0!",
                                           "#REF!",
                                           "#NUM!",
                                           "#NAME?",
                                           "#NULL!",
                                           "missing",
                                           "unknown",
                                           "undefined",
                                           "not available",
                                           "no data",
                                           "nodata",
                                           "n.d.",
                                           "nd",
                                           "(blank)",
                                           "\xe2\x80\x93",
                                           "\xe2\x80\x94",
                                           "1.#QNAN",
                                           "-1.#IND"};

static bool is_like_missing(struct span text)
{
  for (size_t i = 0; i < sizeof like_missing / sizeof like_missing[0]; i++)
    if (is_equal(text, like_missing[i])) return true;
  return false;
}

/* True if character 'i' may be the last of a month between numbers, as in 29MAY2020. */
static bool is_month(struct span text, size_t i)
{
  return isdigit((unsigned char)text.s[0]) && isalpha((unsigned char)text.s[i]) && i + 1 < text.n &&
         isdigit((unsigned char)text.s[i + 1]);
}

/* False if a look shows that a text is no date: these have digits and marks between them. */
static bool may_be_date(struct span text)
{
  enum { LONGEST = 40 };
  bool has_digit = false, has_mark = false;
  for (size_t i = 0; i < text.n && i < LONGEST; i++) {
    has_digit = has_digit || isdigit((unsigned char)text.s[i]);
    has_mark = has_mark || memchr("-/.: ", text.s[i], 5) != NULL || is_month(text, i);
  }
  return has_digit && has_mark && text.n < LONGEST;
}

void gpnn_cell_look(const struct gpnn_field *field, struct gpnn_date_guess *dates,
                    struct gpnn_cell *cell)
{
  struct span text = trim((struct span){field->text, field->length}), size = text;
  double value;
  (void)gpnn_notation_unsign(&size.s, &size.n);
  *cell = (struct gpnn_cell){.kind = GPNN_CELL_NUMBER};
  if (is_like_missing(text))
    cell->kind = GPNN_CELL_LIKE_MISSING;
  else if (gpnn_number_read(text.s, text.n, &value) == GPNN_NUMBER_NOT_FINITE)
    cell->kind = GPNN_CELL_NOT_FINITE;
  else if (gpnn_cell_number(size.s, size.n, &cell->form))
    return;
  else if (dates != NULL && may_be_date(text) && gpnn_date_guess_add(dates, text.s, text.n))
    cell->kind = GPNN_CELL_DATE;
  else if (look_for_affix(size, cell))
    cell->kind = GPNN_CELL_AFFIXED;
  else
    cell->kind = GPNN_CELL_TEXT;
}
