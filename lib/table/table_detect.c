/*
 * What can be guessed about a table from its first lines: the delimiter, and where the header is.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "table/table_private.h"

/* Blanks count as one delimiter however many there are, and come last: they occur in texts too. */
static const char candidates[] = {'\t', ',', ';', '|', ' '};

enum { N_CANDIDATES = sizeof candidates / sizeof candidates[0], LINES = 50 };

/* How a line falls into fields at a delimiter. */
struct cut {
  size_t n_fields, n_numbers;
};

static const char *skip_blanks(const char *s, const char *end)
{
  while (s < end && (*s == ' ' || *s == '\t')) s++;
  return s;
}

/* The end of the quoted text that begins at 's'. */
static const char *skip_quoted(const char *s, const char *end)
{
  for (s++; s < end && (*s != '"' || (s + 1 < end && s[1] == '"')); s++)
    if (*s == '"') s++;
  return s < end ? s + 1 : end;
}

/* True if it may be a number in some notation. */
static bool looks_like_number(const char *s, const char *end)
{
  static const char allowed[] = " +-.,0123456789eE";
  bool has_digit = false;
  for (; s < end; s++) {
    if (memchr(allowed, *s, sizeof allowed - 1) == NULL) return false;
    has_digit = has_digit || isdigit((unsigned char)*s);
  }
  return has_digit;
}

static struct cut cut_line(const char *s, const char *end, char delimiter)
{
  struct cut cut = {0, 0};
  while (end > s && (end[-1] == '\r' || (delimiter == ' ' && end[-1] == ' '))) end--;
  if (delimiter == ' ') s = skip_blanks(s, end);
  for (;; s++) {
    const char *begin = s;
    if (s < end && *s == '"') s = skip_quoted(s, end);
    while (s < end && *s != delimiter && !(delimiter == ' ' && *s == '\t')) s++;
    cut.n_fields++;
    cut.n_numbers += looks_like_number(begin, s);
    if (s == end) return cut;
    if (delimiter == ' ') s = skip_blanks(s, end) - 1;
  }
}

/* True if 'delimiter' is in a line outside quotes, which may begin after any candidate but blanks.
 */
static bool occurs(const char *s, const char *end, char delimiter)
{
  if (delimiter == ' ') return cut_line(s, end, ' ').n_fields > 1;
  for (; s < end; s++) {
    if (*s == '"') s = skip_quoted(s, end);
    while (s < end && (*s == ' ' || memchr(candidates, *s, N_CANDIDATES) == NULL)) s++;
    if (s < end && *s == delimiter) return true;
  }
  return false;
}

/* The next line in [s, end) that is neither blank nor a comment: sets its end and returns its
 * beginning, or NULL if no whole line is left; '*number' counts all lines. */
static const char *next_line(const struct gpnn_table *table, const char **s, const char *end,
                             const char **line_end, size_t *number)
{
  const char *comment = table->values.notation.comment;
  while (*s < end) {
    const char *begin = *s, *lf = memchr(begin, '\n', (size_t)(end - begin));
    if (lf == NULL && !table->at_end) return NULL;
    *line_end = lf == NULL ? end : lf;
    *s = lf == NULL ? end : lf + 1;
    ++*number;
    size_t length = (size_t)(*line_end - begin);
    bool is_comment = comment != NULL && length >= strlen(comment) &&
                      memcmp(begin, comment, strlen(comment)) == 0;
    if (!is_comment && length > (*line_end > begin && (*line_end)[-1] == '\r')) return begin;
  }
  return NULL;
}

/* How well the lines after the first agree with it at a delimiter. */
struct agreement {
  size_t n_fields;  /* of the first line */
  size_t n_lines;   /* others with as many, or all with one more */
  size_t n_numbers; /* among the fields of those */
};

static struct agreement find_agreement(const struct gpnn_table *table, size_t first_length,
                                       char delimiter)
{
  const char *first = table->buffer + table->start, *s = first + first_length, *line_end;
  const char *end = table->buffer + table->end;
  struct agreement agreement = {1, 0, 0};
  if (occurs(first, s, delimiter)) agreement.n_fields = cut_line(first, s, delimiter).n_fields;
  size_t number = 0;
  for (size_t i = 0; i < LINES && agreement.n_fields > 1; i++) {
    const char *line = next_line(table, &s, end, &line_end, &number);
    if (line == NULL) break;
    struct cut cut = cut_line(line, line_end, delimiter);
    /* R leaves out the name of the first column. */
    if (i == 0 && delimiter == ' ' && cut.n_fields == agreement.n_fields + 1) agreement.n_fields++;
    if (cut.n_fields != agreement.n_fields) continue;
    agreement.n_lines++;
    agreement.n_numbers += cut.n_numbers;
  }
  return agreement;
}

/* The share of numbers among the fields, in a form that compares without rounding. */
static bool has_more_numbers(const struct agreement *a, const struct agreement *b)
{
  return a->n_numbers * b->n_fields > b->n_numbers * a->n_fields;
}

/* True if the first line has fields at the usual delimiter, and as many as the next, if that is in
 * the buffer. */
static bool usual_delimiter_fits(const struct gpnn_table *table, size_t first_length)
{
  const char *first = table->buffer + table->start, *s = first + first_length, *line_end;
  size_t number = 0;
  if (table->usual_delimiter == 0) return false;
  size_t n_fields = cut_line(first, s, table->usual_delimiter).n_fields;
  const char *line = next_line(table, &s, table->buffer + table->end, &line_end, &number);
  return n_fields > 1 &&
         (line == NULL || cut_line(line, line_end, table->usual_delimiter).n_fields == n_fields);
}

char gpnn_table_detect_delimiter(const struct gpnn_table *table, size_t first_length)
{
  struct agreement best = {0, 0, 0};
  char delimiter = '\t';
  if (usual_delimiter_fits(table, first_length)) return table->usual_delimiter;
  for (size_t i = 0; i < N_CANDIDATES; i++) {
    struct agreement agreement = find_agreement(table, first_length, candidates[i]);
    if (agreement.n_fields < 2) continue;
    /* Without other lines, blanks say nothing: a single column may have a name of two words. */
    if (candidates[i] == ' ' && (best.n_fields > 0 || agreement.n_lines == 0)) continue;
    if (best.n_fields > 0 &&
        (agreement.n_lines < best.n_lines ||
         (agreement.n_lines == best.n_lines && !has_more_numbers(&agreement, &best))))
      continue;
    best = agreement;
    delimiter = candidates[i];
  }
  return delimiter;
}

/* Several kinds of candidates, or blanks alone, leave the delimiter open. */
bool gpnn_table_is_ambiguous(const char *line, size_t length)
{
  size_t n = 0;
  for (size_t i = 0; i < N_CANDIDATES; i++)
    n += candidates[i] != ' ' && occurs(line, line + length, candidates[i]);
  return n > 1 || (n == 0 && occurs(line, line + length, ' '));
}

/* ---- the header -------------------------------------------------------------------------- */

/* True if the line begins with the name of a row: text, in quotes or not, or 'row', counted from 1
 * or 0. */
static bool begins_with_row(const char *s, const char *end, char delimiter, size_t row)
{
  char number[24];
  if (delimiter == ' ') s = skip_blanks(s, end);
  const char *after = gpnn_table_find_delimiter(s, end, delimiter);
  if (after == NULL || after == s) return false;
  if (*s == '"' || !looks_like_number(s, after)) return true;
  size_t length = (size_t)(after - s);
  for (size_t from = 0; from < 2; from++) {
    snprintf(number, sizeof number, "%zu", row + from);
    if (strlen(number) == length && memcmp(s, number, length) == 0) return true;
  }
  return false;
}

enum gpnn_unnamed gpnn_table_find_unnamed(const struct gpnn_table *table, size_t first_length,
                                          size_t n_names)
{
  enum { FEWEST = 3 };
  const char *s = table->buffer + table->start + first_length, *line_end, *line;
  const char *end = table->buffer + table->end;
  bool may_be_first = true, may_be_last = table->delimiter != ' ';
  size_t n = 0, number = 0;
  while (n < LINES && (line = next_line(table, &s, end, &line_end, &number)) != NULL) {
    while (line_end > line && line_end[-1] == '\r') line_end--;
    if (cut_line(line, line_end, table->delimiter).n_fields != n_names + 1)
      return GPNN_UNNAMED_NONE;
    may_be_first = may_be_first && begins_with_row(line, line_end, table->delimiter, n);
    may_be_last = may_be_last && line_end[-1] == table->delimiter;
    n++;
  }
  if (n < FEWEST) return GPNN_UNNAMED_NONE;
  if (may_be_last) return GPNN_UNNAMED_LAST;
  return may_be_first ? GPNN_UNNAMED_FIRST : GPNN_UNNAMED_NONE;
}

/* ---- how much is needed ------------------------------------------------------------------ */

static size_t count_lines(const struct gpnn_table *table)
{
  const char *s = table->buffer + table->start, *end = table->buffer + table->end, *line_end;
  size_t n = 0, number = 0;
  while (n <= LINES && next_line(table, &s, end, &line_end, &number) != NULL) n++;
  return n;
}

bool gpnn_table_sees_enough(const struct gpnn_table *table)
{
  return table->at_end || count_lines(table) > LINES;
}

/* The last lines in the buffer that have one number of fields. */
struct regular {
  size_t first; /* number of the first of them, from 1 */
  size_t n_lines, n_fields;
  size_t n_named, n_numbers; /* numbers among the fields of the first, and of all others */
};

static struct regular find_regular(const struct gpnn_table *table, char delimiter)
{
  const char *s = table->buffer, *end = table->buffer + table->end, *line_end, *line;
  struct regular regular = {1, 0, 0, 0, 0};
  size_t number = 0;
  for (size_t i = 0; i < LINES; i++) {
    line = next_line(table, &s, end, &line_end, &number);
    if (line == NULL) break;
    struct cut cut = cut_line(line, line_end, delimiter);
    if (cut.n_fields != regular.n_fields)
      regular = (struct regular){number, 0, cut.n_fields, cut.n_numbers, 0};
    else
      regular.n_numbers += cut.n_numbers;
    regular.n_lines++;
  }
  return regular;
}

/* True if the first of the lines can be a header: the others have more numbers. */
static bool begins_with_names(const struct regular *regular)
{
  return regular->n_named * (regular->n_lines - 1) < regular->n_numbers;
}

/* What the line of a title is in a table that was a sheet: about half of its fields are filled at
 * most, and not the last. */
static bool is_title(const char *s, const char *end, char delimiter)
{
  size_t n_fields = cut_line(s, end, delimiter).n_fields, n_filled = 0;
  while (end > s && end[-1] == '\r') end--;
  bool is_last_empty = end > s && end[-1] == delimiter;
  for (; s < end; s++) {
    const char *begin = s;
    if (*s == '"') s = skip_quoted(s, end);
    while (s < end && *s != delimiter) s++;
    n_filled += s > begin;
  }
  return is_last_empty && delimiter != ' ' && n_filled <= (n_fields + 1) / 2;
}

/* True if each of the fields is a name. */
static bool is_header(const char *s, const char *end, char delimiter)
{
  for (; s <= end; s++) {
    const char *begin = s;
    if (s < end && *s == '"') s = skip_quoted(s, end);
    while (s < end && *s != delimiter && *s != '\r') s++;
    if (s == begin || looks_like_number(begin, s)) return false;
    if (s < end && *s == '\r') break;
  }
  return true;
}

/* The number of the line after those, from 'first' on, that are titles, if it has a name for each
 * column; otherwise 'first'. */
static size_t skip_titles(const struct gpnn_table *table, size_t first, char delimiter)
{
  const char *s = table->buffer, *end = table->buffer + table->end, *line_end, *line;
  size_t number = 0;
  while ((line = next_line(table, &s, end, &line_end, &number)) != NULL)
    if (number >= first && !is_title(line, line_end, delimiter))
      return is_header(line, line_end, delimiter) ? number : first;
  return first;
}

size_t gpnn_table_preamble(const struct gpnn_table *table)
{
  char delimiter = 0;
  enum { FEWEST = 3 };
  struct regular best = {1, FEWEST - 1, 0, 0, 0};
  if (table->bytes_dropped || gpnn_table_is_json(table)) return 0;
  for (size_t i = 0; i < N_CANDIDATES; i++) {
    struct regular regular = find_regular(table, candidates[i]);
    if (regular.n_fields < 2 || regular.n_lines <= best.n_lines || !begins_with_names(&regular))
      continue;
    best = regular;
    delimiter = candidates[i];
  }
  return delimiter == 0 ? 0 : skip_titles(table, best.first, delimiter) - 1;
}

/* True if the first 'n' lines all begin with 'c'. */
static bool begin_with(const struct gpnn_table *table, size_t n, char c)
{
  const char *s = table->buffer, *end = table->buffer + table->end;
  for (; n > 0 && s < end; n--) {
    if (*s != c) return false;
    const char *lf = memchr(s, '\n', (size_t)(end - s));
    s = lf == NULL ? end : lf + 1;
  }
  return true;
}

const char *gpnn_table_hint(const struct gpnn_table *table, char text[GPNN_TABLE_HINT_BYTES])
{
  size_t n = gpnn_table_preamble(table);
  text[0] = '\0';
  if (n > 0 && begin_with(table, n, '#'))
    snprintf(text, GPNN_TABLE_HINT_BYTES, "; are lines of '#' comments? --comment '#'");
  else if (n > 0)
    snprintf(text, GPNN_TABLE_HINT_BYTES, "; does the table begin on line %zu? --skip-lines %zu",
             n + 1, n);
  return text;
}
