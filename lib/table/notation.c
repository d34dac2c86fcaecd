#include "table/notation.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/table_private.h"

static const char USUAL_MISSING[] = "NA";

void gpnn_notation_complete(struct gpnn_notation *notation, const struct gpnn_notation *usual)
{
  if (notation->missing == NULL) notation->missing = usual->missing;
  if (notation->strip == NULL) notation->strip = usual->strip;
  if (notation->comment == NULL) notation->comment = usual->comment;
  if (notation->decimal == 0) notation->decimal = usual->decimal;
  notation->thousands = notation->thousands || usual->thousands;
}

static bool copy_text(const char **copy, const char *text)
{
  *copy = text == NULL ? NULL : gpnn_copy_text(text, strlen(text));
  return text == NULL || *copy != NULL;
}

enum gpnn_status gpnn_notation_copy(struct gpnn_notation *copy,
                                    const struct gpnn_notation *notation, struct gpnn_error *err)
{
  *copy = (struct gpnn_notation){.decimal = notation->decimal, .thousands = notation->thousands};
  if (copy_text(&copy->missing, notation->missing) && copy_text(&copy->strip, notation->strip) &&
      copy_text(&copy->comment, notation->comment))
    return GPNN_OK;
  gpnn_notation_release(copy);
  return gpnn_fail_memory(err, "for how values are written");
}

/* For a text that is ours though it is const to others. */
static void free_text(const char **text)
{
  void *owned;
  memcpy(&owned, text, sizeof owned);
  free(owned);
}

void gpnn_notation_release(struct gpnn_notation *notation)
{
  free_text(&notation->missing);
  free_text(&notation->strip);
  free_text(&notation->comment);
  *notation = (struct gpnn_notation){.missing = NULL};
}

bool gpnn_notation_is_usual(const struct gpnn_notation *notation)
{
  return (notation->missing == NULL || strcmp(notation->missing, USUAL_MISSING) == 0) &&
         notation->strip == NULL && notation->comment == NULL && notation->decimal != ',' &&
         !notation->thousands;
}

/* ---- preparation ------------------------------------------------------------------------- */

static void trim(const char **text, size_t *length)
{
  while (*length > 0 && gpnn_is_blank((*text)[*length - 1])) --*length;
  for (; *length > 0 && gpnn_is_blank(**text); ++*text) --*length;
}

/* Cuts a LIST, which may be NULL, into its items; empty ones are left out. */
static bool cut_list(const char *list, char **copy, struct gpnn_notation_text **items, size_t *n)
{
  size_t most = 1;
  *n = 0;
  if (list == NULL) return true;
  for (const char *s = list; *s != '\0'; s++) most += *s == ',';
  *copy = gpnn_copy_text(list, strlen(list));
  *items = gpnn_alloc(most, 1, sizeof **items);
  if (*copy == NULL || *items == NULL) return false;
  for (const char *s = *copy; s != NULL;) {
    const char *comma = strchr(s, ','), *text = s;
    size_t length = comma == NULL ? strlen(s) : (size_t)(comma - s);
    trim(&text, &length);
    if (length > 0) (*items)[(*n)++] = (struct gpnn_notation_text){text, length, false, 0};
    s = comma == NULL ? NULL : comma + 1;
  }
  return true;
}

/* True of what says that a number is negative, or that it is not. */
static bool is_sign(const struct gpnn_notation_text *item)
{
  static const char *const signs[] = {"-", "+", "(", ")", "()", "\xe2\x88\x92"};
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
    if (item->length == strlen(signs[i]) && memcmp(item->text, signs[i], item->length) == 0)
      return true;
  return false;
}

/* Finds which bytes a missing value may begin with, so that most fields need no further look: a
 * number may be written in many ways. */
static void prepare_missing(struct gpnn_values *values)
{
  static const char numbers[] = "+-.,0123456789(\xe2"; /* the last begins a minus sign */
  values->may_be_missing[' '] = values->may_be_missing['\t'] = true;
  for (size_t i = 0; i < values->n_missing; i++) {
    struct gpnn_notation_text *item = &values->missing[i];
    item->is_number =
        gpnn_values_number(values, item->text, item->length, &item->value) == GPNN_NUMBER_OK;
    values->may_be_missing[(unsigned char)item->text[0]] = true;
    for (const char *s = numbers; *s != '\0' && item->is_number; s++)
      values->may_be_missing[(unsigned char)*s] = true;
    for (size_t j = 0; j < values->n_strip && item->is_number; j++)
      values->may_be_missing[(unsigned char)values->strip[j].text[0]] = true;
  }
}

enum gpnn_status gpnn_values_make(struct gpnn_values *values, const struct gpnn_notation *notation,
                                  struct gpnn_error *err)
{
  struct gpnn_notation asked = *notation;
  if (asked.decimal != 0 && asked.decimal != '.' && asked.decimal != ',')
    return gpnn_fail(err, GPNN_EINVAL, "the decimal mark must be a point or a comma");
  if (asked.comment != NULL && asked.comment[0] == '\0')
    return gpnn_fail(err, GPNN_EINVAL,
                     "every line begins with the empty text: which are comments?");
  if (asked.missing == NULL) asked.missing = USUAL_MISSING;
  if (asked.decimal == 0) asked.decimal = '.';
  struct gpnn_values new = {.is_plain = asked.decimal == '.' && !asked.thousands};
  enum gpnn_status status = gpnn_notation_copy(&new.notation, &asked, err);
  if (status != GPNN_OK) return status;
  bool done = cut_list(asked.missing, &new.texts[0], &new.missing, &new.n_missing) &&
              cut_list(asked.strip, &new.texts[1], &new.strip, &new.n_strip);
  if (!done) {
    gpnn_values_release(&new);
    return gpnn_fail_memory(err, "to read a table");
  }
  for (size_t i = 0; i < new.n_strip; i++) {
    if (!is_sign(&new.strip[i])) continue;
    gpnn_values_release(&new);
    return gpnn_fail(
        err, GPNN_EINVAL,
        "the texts to strip must not be signs: numbers such as (5), 5- and -5 are read "
        "as negative without that");
  }
  new.is_plain = new.is_plain &&new.n_strip == 0;
  prepare_missing(&new);
  *values = new;
  return GPNN_OK;
}

void gpnn_values_release(struct gpnn_values *values)
{
  gpnn_notation_release(&values->notation);
  free(values->missing);
  free(values->strip);
  free(values->texts[0]);
  free(values->texts[1]);
  *values = (struct gpnn_values){.n_missing = 0};
}

/* ---- missing values ---------------------------------------------------------------------- */

static bool is_equal(const struct gpnn_notation_text *item, const char *text, size_t length)
{
  return item->length == length && memcmp(item->text, text, length) == 0;
}

bool gpnn_values_missing(const struct gpnn_values *values, const char *text, size_t length)
{
  /* Most fields are numbers and go no further. */
  if (length > 0 && !values->may_be_missing[(unsigned char)text[0]]) return false;
  trim(&text, &length);
  if (length == 0) return true;
  double value = 0;
  bool is_number = false, is_read = false;
  for (size_t i = 0; i < values->n_missing; i++) {
    const struct gpnn_notation_text *item = &values->missing[i];
    if (is_equal(item, text, length)) return true;
    if (!item->is_number) continue;
    if (!is_read) is_number = gpnn_values_number(values, text, length, &value) == GPNN_NUMBER_OK;
    is_read = true;
    if (is_number && value == item->value) return true;
  }
  return false;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Longer texts than this, without what is stripped, are no numbers that need their notation. */
enum { LONGEST = 512 };

/* Cuts one text of the notation off the beginning or the end; false if there is none. */
static bool strip_one(const struct gpnn_values *values, const char **text, size_t *length)
{
  for (size_t i = 0; i < values->n_strip; i++) {
    const struct gpnn_notation_text *item = &values->strip[i];
    if (item->length > *length) continue;
    size_t rest = *length - item->length;
    if (memcmp(*text, item->text, item->length) == 0)
      *text += item->length;
    else if (memcmp(*text + rest, item->text, item->length) != 0)
      continue;
    *length = rest;
    return true;
  }
  return false;
}

/* Strips what the notation says; a sign may stand before it, and is set apart. */
static void strip(const struct gpnn_values *values, const char **text, size_t *length, char *sign)
{
  *sign = 0;
  trim(text, length);
  for (bool again = values->n_strip > 0; again;) {
    const char *s = *text;
    size_t n = *length;
    bool signed_here = *sign == 0 && n > 0 && (*s == '-' || *s == '+');
    if (signed_here) {
      s++;
      n--;
    }
    trim(&s, &n);
    again = strip_one(values, &s, &n);
    if (!again) break;
    if (signed_here) *sign = **text;
    trim(&s, &n);
    *text = s;
    *length = n;
  }
}

/* The length of the separator of thousands at the beginning of the 'n' bytes, or 0. */
static size_t separator_length(const struct gpnn_values *values, const char *s, size_t n)
{
  /* The last two are a no-break space and an apostrophe in Latin-1 and Windows-1252. */
  static const char *const others[] = {
      " ", "'", "_", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99", "\xa0", "\x92"};
  if (n > 0 && *s == (values->notation.decimal == '.' ? ',' : '.')) return 1;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    size_t length = strlen(others[i]);
    if (n > length && memcmp(s, others[i], length) == 0) return length;
  }
  return 0;
}

static size_t count_digits(const char *s, size_t n)
{
  size_t digits = 0;
  while (digits < n && isdigit((unsigned char)s[digits])) digits++;
  return digits;
}

/*
 * Copies the groups of digits at the beginning of the 'n' bytes without the separators between
 * them, and returns how many bytes that are; '*copied' is how many were written.  If these are not
 * groups of three, nothing is copied but the first digits.
 */
static size_t join_groups(const struct gpnn_values *values, const char *s, size_t n, char *to,
                          size_t *copied)
{
  size_t first = count_digits(s, n), at = first;
  memcpy(to, s, first);
  *copied = first;
  if (first == 0 || first > 3) return at;
  const char *separator = s + first;
  size_t width = separator_length(values, separator, n - first);
  while (width > 0 && n - at > width && memcmp(s + at, separator, width) == 0 &&
         count_digits(s + at + width, n - at - width) == 3) {
    memcpy(to + *copied, s + at + width, 3);
    *copied += 3;
    at += width + 3;
  }
  return at;
}

/* Reads a number with at most a sign before it. */
static enum gpnn_number read_signed(const struct gpnn_values *values, const char *text,
                                    size_t length, double *value)
{
  char plain[LONGEST + 1], sign;
  size_t n = 0, at = 0;
  if (values->is_plain) return gpnn_number_read(text, length, value);
  strip(values, &text, &length, &sign);
  if (length == 0 || length >= LONGEST) return GPNN_NUMBER_BAD;
  if (sign != 0)
    plain[n++] = sign;
  else if (*text == '-' || *text == '+')
    plain[n++] = text[at++];
  if (values->notation.thousands) {
    size_t copied;
    at += join_groups(values, text + at, length - at, plain + n, &copied);
    n += copied;
  }
  for (; at < length; at++) {
    if (values->notation.decimal == ',' && text[at] == '.') return GPNN_NUMBER_BAD;
    plain[n++] = values->notation.decimal == ',' && text[at] == ',' ? '.' : text[at];
  }
  return gpnn_number_read(plain, n, value);
}

/* The minus sign U+2212. */
static const char minus[] = "\xe2\x88\x92";

bool gpnn_notation_unsign(const char **text, size_t *length)
{
  const char *s = *text;
  size_t n = *length, width = sizeof minus - 1;
  if (n > 2 && *s == '(' && s[n - 1] == ')') {
    s++;
    n -= 2;
  } else if (n > 1 && s[n - 1] == '-') {
    n--;
  } else if (n > width && memcmp(s, minus, width) == 0) {
    s += width;
    n -= width;
  } else {
    return false;
  }
  trim(&s, &n);
  if (n == 0 || *s == '-' || *s == '+' || *s == '(') return false;
  *text = s;
  *length = n;
  return true;
}

enum gpnn_number gpnn_values_number(const struct gpnn_values *values, const char *text,
                                    size_t length, double *value)
{
  double size;
  enum gpnn_number found = read_signed(values, text, length, value);
  if (found != GPNN_NUMBER_BAD) return found;
  trim(&text, &length);
  while (!gpnn_notation_unsign(&text, &length)) {
    if (!strip_one(values, &text, &length)) return GPNN_NUMBER_BAD;
    trim(&text, &length);
  }
  found = read_signed(values, text, length, &size);
  if (found == GPNN_NUMBER_OK) *value = 0 - size; /* of 0, not -0 */
  return found;
}
