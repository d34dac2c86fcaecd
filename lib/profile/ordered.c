#include "profile/ordered.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

enum { FEWEST = 3 };

/* ---- words --------------------------------------------------------------------------------- */

/* Lists of degrees, in order; a degree has several words, with bars around them. */
static const char *const months[] = {"|january|jan|",
                                     "|february|feb|",
                                     "|march|mar|",
                                     "|april|apr|",
                                     "|may|",
                                     "|june|jun|",
                                     "|july|jul|",
                                     "|august|aug|",
                                     "|september|sep|sept|",
                                     "|october|oct|",
                                     "|november|nov|",
                                     "|december|dec|",
                                     NULL};
static const char *const days[] = {
    "|monday|mon|", "|tuesday|tue|tues|", "|wednesday|wed|", "|thursday|thu|thur|thurs|",
    "|friday|fri|", "|saturday|sat|",     "|sunday|sun|",    NULL};
static const char *const qualities[] = {"|terrible|awful|very poor|very bad|",
                                        "|poor|bad|",
                                        "|fair|",
                                        "|below average|",
                                        "|average|typical|normal|medium|moderate|ok|okay|",
                                        "|above average|",
                                        "|good|",
                                        "|very good|",
                                        "|premium|",
                                        "|excellent|outstanding|",
                                        "|ideal|perfect|",
                                        NULL};
static const char *const amounts[] = {"|none|nothing|zero|no|",
                                      "|very low|very little|minimal|minor|",
                                      "|low|little|few|slight|mild|",
                                      "|medium|moderate|average|normal|some|",
                                      "|high|much|many|large|severe|strong|major|",
                                      "|very high|very severe|very strong|extreme|critical|",
                                      NULL};
static const char *const sizes[] = {
    "|xxs|",         "|xs|tiny|extra small|very small|", "|s|small|", "|m|medium|mid|middle|",
    "|l|large|big|", "|xl|huge|extra large|very large|", "|xxl|",     NULL};
static const char *const frequencies[] = {"|never|",
                                          "|rarely|seldom|",
                                          "|occasionally|sometimes|",
                                          "|often|frequently|",
                                          "|usually|very often|mostly|",
                                          "|always|",
                                          NULL};
static const char *const answers[] = {
    "|strongly disagree|very dissatisfied|very unlikely|",
    "|disagree|dissatisfied|unlikely|",
    "|neutral|undecided|unsure|neither|neither agree nor disagree|",
    "|agree|satisfied|likely|",
    "|strongly agree|very satisfied|very likely|",
    NULL};
static const char *const ranks[] = {"|first|", "|second|",  "|third|",  "|fourth|", "|fifth|",
                                    "|sixth|", "|seventh|", "|eighth|", NULL};
static const char *const medals[] = {"|bronze|", "|silver|", "|gold|", "|platinum|", NULL};
static const char *const schools[] = {"|primary|elementary|", "|secondary|", "|tertiary|", NULL};

static const char *const *const lists[] = {months,      days,    qualities, amounts, sizes,
                                           frequencies, answers, ranks,     medals,  schools};

/* Where a word is in a list, from 0, or -1. */
static int place_in(const char *const *list, const char *text)
{
  char word[GPNN_ORDERED_BYTES + 2] = "|";
  size_t n = 1;
  for (; *text != '\0'; text++) {
    char c = *text == '_' || *text == '-' ? ' ' : (char)tolower((unsigned char)*text);
    if (c != ' ' || word[n - 1] != ' ') word[n++] = c;
  }
  memcpy(word + n, "|", 2);
  for (int k = 0; list[k] != NULL; k++)
    if (strstr(list[k], word) != NULL) return k;
  return -1;
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* A range of numbers, and what stands after it. */
struct range {
  double low, high;
  char unit[GPNN_ORDERED_BYTES];
};

static const char *skip_blanks(const char *s)
{
  while (*s == ' ' || *s == '_') s++;
  return s;
}

/* Skips one of the words, of which none begins with another that comes before it, and says which by
 * '*which'. */
static const char *skip_word(const char *s, const char *const *words, size_t n, size_t *which)
{
  for (*which = 0; *which < n; ++*which) {
    size_t length = strlen(words[*which]);
    if (strncasecmp(s, words[*which], length) == 0) return skip_blanks(s + length);
  }
  return s;
}

static const char *read_number(const char *s, double *value)
{
  size_t n = strspn(s, "0123456789.");
  if (n == 0 || gpnn_number_read(s, n, value) != GPNN_NUMBER_OK) return NULL;
  return skip_blanks(s + n);
}

static bool read_range(const char *s, struct range *range)
{
  static const char *const before[] = {"<=", "<", "under", "below", "less than", "up to",
                                       ">=", ">", "over",  "above", "more than", "at least"};
  static const char *const between[] = {"-", "\xe2\x80\x93", "to "};
  static const char *const after[] = {"+", "or more", "and over", "and more", "plus"};
  enum { BEFORE = sizeof before / sizeof *before, BELOW = BEFORE / 2 };
  enum { BETWEEN = sizeof between / sizeof *between, AFTER = sizeof after / sizeof *after };
  size_t bound, sign, end;
  double value, other;
  s = skip_word(skip_blanks(s), before, BEFORE, &bound);
  s = read_number(s, &value);
  if (s == NULL) return false;
  range->low = bound < BELOW ? -INFINITY : value;
  range->high = bound >= BELOW && bound < BEFORE ? INFINITY : value;
  s = skip_word(s, between, BETWEEN, &sign);
  if (sign < BETWEEN) {
    s = read_number(s, &other);
    if (s == NULL || bound < BEFORE || other <= value) return false;
    range->high = other;
  }
  s = skip_word(s, after, AFTER, &end);
  if (end < AFTER && (bound < BEFORE || sign < BETWEEN)) return false;
  if (end < AFTER) range->high = INFINITY;
  if (strpbrk(s, "0123456789") != NULL) return false;
  size_t length = strlen(s);
  if (length > 1 && s[length - 1] == 's') length--; /* years */
  memcpy(range->unit, s, length);
  range->unit[length] = '\0';
  return true;
}

/* True if 'b' lies above 'a', but for where they meet. */
static bool ascends(const struct range *a, const struct range *b)
{
  return a->low < b->low && a->high < b->high && a->high <= b->low;
}

/* ---- texts --------------------------------------------------------------------------------- */

struct placed {
  double place;
  char text[GPNN_ORDERED_BYTES];
};

static int compare(const void *a, const void *b)
{
  const struct placed *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

/* Sorts texts by their places; false: two have the same. */
static bool sort(size_t n, struct placed *placed, char texts[][GPNN_ORDERED_BYTES])
{
  qsort(placed, n, sizeof *placed, compare);
  for (size_t i = 1; i < n; i++)
    if (placed[i].place <= placed[i - 1].place) return false;
  for (size_t i = 0; i < n; i++) memcpy(texts[i], placed[i].text, GPNN_ORDERED_BYTES);
  return true;
}

static bool sort_words(size_t n, const char *const *list, char texts[][GPNN_ORDERED_BYTES])
{
  struct placed placed[GPNN_ORDERED_MOST] = {{0}};
  for (size_t i = 0; i < n; i++) {
    int place = place_in(list, texts[i]);
    if (place < 0) return false;
    placed[i].place = place;
    memcpy(placed[i].text, texts[i], GPNN_ORDERED_BYTES);
  }
  return sort(n, placed, texts);
}

static bool sort_ranges(size_t n, char texts[][GPNN_ORDERED_BYTES])
{
  struct placed placed[GPNN_ORDERED_MOST] = {{0}};
  struct range range = {0}, last;
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    last = range;
    if (!read_range(texts[i], &range)) return false;
    if (i > 0 && strcasecmp(range.unit, last.unit) != 0) return false;
    any = any || range.low < range.high;
    placed[i].place = isfinite(range.low) ? isfinite(range.high) ? (range.low + range.high) / 2
                                                                 : nextafter(INFINITY, range.low)
                                          : -nextafter(INFINITY, range.high);
    memcpy(placed[i].text, texts[i], GPNN_ORDERED_BYTES);
  }
  if (!any || !sort(n, placed, texts)) return false;
  for (size_t i = 0; i < n; i++, last = range)
    if (!read_range(texts[i], &range) || (i > 0 && !ascends(&last, &range))) return false;
  return true;
}

bool gpnn_ordered_find(size_t n, char texts[][GPNN_ORDERED_BYTES])
{
  if (n < FEWEST || n > GPNN_ORDERED_MOST) return false;
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
    if (sort_words(n, lists[k], texts)) return true;
  return sort_ranges(n, texts);
}
