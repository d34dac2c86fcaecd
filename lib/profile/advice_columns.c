/*
 * Judging columns one by one.
 */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "profile/advice_private.h"

enum { MOST_LEVELS = 50, ROWS_A_LEVEL = 5, ROWS_A_CLASS = 2, LEAST_COUNTED = 10 };

/* True if at least four fifths of 'n' are. */
static bool are_most(size_t these, size_t n)
{
  return these > 0 && these >= n - n / 5;
}

/* Cells with a value that are no number in any notation. */
static size_t count_others(const struct gpnn_column_profile *column)
{
  return column->odd == NULL ? 0 : column->odd->n_dates + column->odd->n_text;
}

static bool are_numbers(const struct gpnn_column_profile *column)
{
  size_t n = gpnn_profile_numbers(column);
  return are_most(n, n + count_others(column));
}

/* ---- marks ------------------------------------------------------------------------------- */

/* Forms that need the decimal mark to be a point, or to be a comma; and that need thousands, if it
 * is the one or the other. */
static const struct {
  bool needs[2], groups[2], is_unreadable[2];
} forms[GPNN_FORMS] = {
    [GPNN_FORM_INTEGER] = {{false, false}, {false, false}, {false, false}},
    [GPNN_FORM_POINT] = {{true, false}, {false, false}, {false, true}},
    [GPNN_FORM_POINT_3] = {{false, false}, {false, true}, {false, false}},
    [GPNN_FORM_COMMA] = {{false, true}, {false, false}, {true, false}},
    [GPNN_FORM_COMMA_3] = {{false, false}, {true, false}, {false, false}},
    [GPNN_FORM_COMMA_GROUPS] = {{true, false}, {true, false}, {false, true}},
    [GPNN_FORM_POINT_GROUPS] = {{false, true}, {false, true}, {true, false}},
    [GPNN_FORM_OTHER_GROUPS] = {{false, false}, {true, true}, {false, false}},
    [GPNN_FORM_OTHER_POINT] = {{true, false}, {true, true}, {false, true}},
    [GPNN_FORM_OTHER_COMMA] = {{false, true}, {true, true}, {true, false}},
};

void gpnn_advice_choose_marks(struct gpnn_advice *advice, const struct gpnn_profile *profile)
{
  size_t all[GPNN_FORMS] = {0}, for_mark[2] = {0, 0}; /* point, comma */
  for (size_t j = 0; j < profile->n_columns; j++)
    for (size_t f = 0; f < GPNN_FORMS && are_numbers(&profile->columns[j]); f++)
      all[f] += profile->columns[j].forms[f];
  for (size_t f = 0; f < GPNN_FORMS; f++)
    for (size_t mark = 0; mark < 2; mark++) for_mark[mark] += forms[f].needs[mark] ? all[f] : 0;
  bool is_comma = for_mark[1] > for_mark[0];
  if (for_mark[0] == 0 && for_mark[1] == 0 && all[GPNN_FORM_COMMA_3] > 0 &&
      all[GPNN_FORM_POINT_3] == 0) {
    advice->is_ambiguous = true;
    is_comma = gpnn_table_delimiter(profile->table) == ';';
  }
  advice->decimal = is_comma ? ',' : '.';
  for (size_t f = 0; f < GPNN_FORMS; f++)
    if (all[f] > 0 && forms[f].groups[is_comma]) advice->thousands = true;
}

static size_t count_readable(const struct gpnn_column_profile *column, char decimal)
{
  size_t n = 0;
  for (size_t f = 0; f < GPNN_FORMS; f++)
    if (!forms[f].is_unreadable[decimal == ',']) n += column->forms[f];
  return n;
}

/* ---- codes and affixes ------------------------------------------------------------------- */

bool gpnn_advice_is_far(const struct gpnn_column_profile *column, const struct gpnn_code *code)
{
  if (code->n < 2 || column->low > column->high) return false;
  double range = column->high - column->low;
  double gap = code->value < column->low ? column->low - code->value : code->value - column->high;
  return gap > 0 && gap >= range;
}

bool gpnn_advice_strips(const struct gpnn_column_profile *column)
{
  const struct gpnn_odd_cells *odd = column->odd;
  if (odd == NULL || odd->n_affixes != 1) return false;
  return odd->are_currencies || odd->n_affixed == gpnn_profile_numbers(column);
}

/* ---- columns ----------------------------------------------------------------------------- */

static bool is_equal(const char *name, const char *word)
{
  return strcasecmp(name, word) == 0;
}

static bool is_named_like_id(const char *name)
{
  static const char *const known[] = {"",     "id",  "idx",        "index",   "no",
                                      "nr",   "row", "rowid",      "obs",     "row number",
                                      "...1", "#",   "unnamed: 0", "rownames"};
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (is_equal(name, known[i])) return true;
  return n > 3 && (is_equal(name + n - 3, "_id") || is_equal(name + n - 3, " id"));
}

static void drop(struct gpnn_column_advice *column, enum gpnn_advice_reason reason)
{
  column->kind = GPNN_ADVICE_DROP;
  column->reason = reason;
}

/* Columns that are neither numbers nor dates. */
static void judge_texts(struct gpnn_column_advice *advice, const struct gpnn_odd_cells *odd)
{
  size_t n = odd->n_counted, levels = odd->levels.n;
  advice->kind = GPNN_ADVICE_CATEGORY;
  advice->n_levels = levels;
  if (levels == n && n > 1)
    drop(advice, GPNN_DROP_ALL_DIFFERENT);
  else if (levels == 0 || levels > MOST_LEVELS || levels > n / ROWS_A_LEVEL)
    drop(advice, GPNN_DROP_MANY_TEXTS);
  else if (levels == 1)
    drop(advice, GPNN_DROP_ONE_TEXT);
}

/* True if the values of a target are classes: mostly texts, some of which are the same. */
static bool are_classes(const struct gpnn_column_profile *column)
{
  const struct gpnn_odd_cells *odd = column->odd;
  if (column->role != GPNN_PROFILE_TARGET || odd == NULL) return false;
  size_t n = gpnn_profile_numbers(column) + count_others(column), levels = odd->levels.n;
  return odd->n_text > n / 2 && levels > 1 && levels < GPNN_LEVELS_MAX &&
         levels <= odd->n_counted / ROWS_A_CLASS;
}

static void judge_classes(struct gpnn_column_advice *advice,
                          const struct gpnn_column_profile *column)
{
  advice->kind = GPNN_ADVICE_CLASSES;
  advice->n_levels = column->odd->levels.n;
  advice->n_bad = column->n_missing;
  advice->needs_classes = gpnn_profile_numbers(column) > 0;
}

/* True if numbers that are most of a column can be read in the notation chosen; else drops it. */
static bool check_readable(struct gpnn_column_advice *advice, char decimal,
                           const struct gpnn_column_profile *column)
{
  size_t n = gpnn_profile_numbers(column);
  if (!are_most(count_readable(column, decimal), n))
    drop(advice, GPNN_DROP_OTHER_MARK);
  else if (column->odd != NULL && !gpnn_advice_strips(column) &&
           !are_most(n - column->odd->n_affixed, n))
    drop(advice, GPNN_DROP_MIXED_UNITS);
  return advice->kind == GPNN_ADVICE_NUMBERS;
}

/* True if the column is but the number of the row. */
static bool counts_rows(const struct gpnn_profile *profile, size_t j)
{
  const struct gpnn_column_profile *column = &profile->columns[j];
  return column->role == GPNN_PROFILE_INPUT && !column->is_named &&
         column->n_rows_counted >= LEAST_COUNTED && column->n_rows_counted == profile->n_rows &&
         is_named_like_id(gpnn_table_column(profile->table, j));
}

/* Judges what the values of a column are, whatever is missing. */
static void judge_values(struct gpnn_advice *advice, const struct gpnn_profile *profile, size_t j)
{
  const struct gpnn_column_profile *column = &profile->columns[j];
  struct gpnn_column_advice *this = &advice->columns[j];
  size_t n = gpnn_profile_numbers(column), others = count_others(column);
  this->kind = GPNN_ADVICE_NUMBERS;
  if (n + others == 0) {
    drop(this, GPNN_DROP_EMPTY);
  } else if (are_classes(column)) {
    judge_classes(this, column);
  } else if (are_numbers(column)) {
    if (check_readable(this, advice->decimal, column) && counts_rows(profile, j))
      drop(this, GPNN_DROP_COUNTS_ROWS);
  } else if (are_most(column->odd->n_dates, n + others)) {
    this->kind = GPNN_ADVICE_DATES;
    this->format = gpnn_date_guess_format(&column->odd->dates, &this->other_format);
  } else {
    judge_texts(this, column->odd);
  }
}

/* Cells that are not numbers as the table is read so far. */
static size_t count_bad(const struct gpnn_column_profile *column)
{
  const struct gpnn_odd_cells *odd = column->odd;
  if (odd == NULL) return column->n_missing;
  return column->n_missing + odd->n_written + odd->n_affixed + odd->n_not_finite + odd->n_dates +
         odd->n_text + odd->n_like_missing;
}

void gpnn_advice_judge(struct gpnn_advice *advice, const struct gpnn_profile *profile, size_t j)
{
  const struct gpnn_column_profile *column = &profile->columns[j];
  struct gpnn_column_advice *this = &advice->columns[j];
  this->n_bad = count_bad(column);
  if (column->role == GPNN_PROFILE_UNUSED) {
    this->kind = GPNN_ADVICE_UNUSED;
  } else if (column->role == GPNN_PROFILE_CODED || column->role == GPNN_PROFILE_LABELS) {
    this->kind = GPNN_ADVICE_AS_ASKED;
  } else {
    judge_values(advice, profile, j);
    size_t n_missing = column->n_missing;
    if (column->odd != NULL) n_missing += column->odd->n_like_missing;
    for (size_t i = 0; i < column->n_codes; i++)
      n_missing += gpnn_advice_is_far(column, &column->codes[i]) ? column->codes[i].n : 0;
    if (this->kind != GPNN_ADVICE_DROP && column->role == GPNN_PROFILE_INPUT && !column->is_named &&
        n_missing > profile->n_rows / 2)
      drop(this, GPNN_DROP_MOSTLY_MISSING);
  }
}
