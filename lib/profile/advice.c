#include "profile/advice.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "table/skipped.h"

/* ---- single columns ----------------------------------------------------------------------- */

enum {
  MOST_ONE_HOT = 20,
  MOST_UNCODED = 50, /* where levels cannot be coded */
  ROWS_A_LEVEL = 5,
  ROWS_A_CODE = 2,
  ROWS_A_CLASS = 2,
  MOST_ORDERED = 32,
  LEAST_COUNTED = 10
};

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

/* Decides decimal mark and thousands by the numbers of all columns. */
static void choose_marks(struct gpnn_advice *advice, const struct gpnn_profile *profile)
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

/* True if 'code' of a column stands for a missing value, by its distance from the other numbers. */
static bool is_far(const struct gpnn_column_profile *column, const struct gpnn_code *code)
{
  if (code->n < 2 || column->low > column->high) return false;
  double range = column->high - column->low;
  double gap = code->value < column->low ? column->low - code->value : code->value - column->high;
  return gap > 0 && gap >= range;
}

/* True if the numbers' affixes can be stripped without loss. */
static bool strips(const struct gpnn_column_profile *column)
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
static void judge_texts(struct gpnn_column_advice *advice, const struct gpnn_odd_cells *odd,
                        bool may_code)
{
  size_t n = odd->n_counted, levels = odd->levels.n;
  bool is_coded = may_code && levels > MOST_ONE_HOT;
  size_t most = is_coded ? GPNN_CODED_MAX : MOST_UNCODED;
  advice->kind = is_coded ? GPNN_ADVICE_CODED : GPNN_ADVICE_CATEGORY;
  advice->n_levels = levels;
  if (levels == n && n > 1)
    drop(advice, GPNN_DROP_ALL_DIFFERENT);
  else if (levels == 0 || levels > most || levels > n / (is_coded ? ROWS_A_CODE : ROWS_A_LEVEL))
    drop(advice, GPNN_DROP_MANY_TEXTS);
  else if (levels == 1)
    drop(advice, GPNN_DROP_ONE_TEXT);
}

/* True if an input's texts show an order, which its advice then has; '*status' is GPNN_ENOMEM if
 * there is no memory for it. */
static bool takes_order(struct gpnn_column_advice *advice, const struct gpnn_column_profile *column,
                        enum gpnn_status *status)
{
  const struct gpnn_odd_cells *odd = column->odd;
  if (odd == NULL || column->role != GPNN_PROFILE_INPUT) return false;
  size_t n = odd->levels.n, n_cells = gpnn_profile_numbers(column) + count_others(column);
  char texts[GPNN_ORDERED_MOST][GPNN_ORDERED_BYTES];
  /* Cells that were not looked up may have other texts. */
  if (odd->n_counted != n_cells + odd->n_like_missing || n > odd->n_counted / ROWS_A_LEVEL)
    return false;
  memcpy(texts, odd->texts, sizeof texts);
  if (!gpnn_ordered_find(n, texts)) return false;
  advice->order = gpnn_alloc(n, 1, sizeof *advice->order);
  if (advice->order == NULL) {
    *status = GPNN_ENOMEM;
    return false;
  }
  memcpy(advice->order, texts, n * sizeof *advice->order);
  advice->kind = GPNN_ADVICE_ORDERED;
  advice->n_levels = n;
  return true;
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

/* True if the levels of an input can be coded by the targets: these are numbers or two classes. */
static bool may_code(const struct gpnn_profile *profile, size_t j)
{
  bool may = profile->columns[j].role == GPNN_PROFILE_INPUT;
  for (size_t k = 0; k < profile->n_columns && may; k++) {
    const struct gpnn_column_profile *column = &profile->columns[k];
    may =
        column->role != GPNN_PROFILE_LABELS &&
        (!are_classes(column) || (column->odd->levels.n == 2 && gpnn_profile_numbers(column) == 0));
  }
  return may;
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
  else if (column->odd != NULL && !strips(column) && !are_most(n - column->odd->n_affixed, n))
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
static enum gpnn_status judge_values(struct gpnn_advice *advice, const struct gpnn_profile *profile,
                                     size_t j)
{
  enum gpnn_status status = GPNN_OK;
  const struct gpnn_column_profile *column = &profile->columns[j];
  struct gpnn_column_advice *this = &advice->columns[j];
  size_t n = gpnn_profile_numbers(column), others = count_others(column);
  this->kind = GPNN_ADVICE_NUMBERS;
  if (n + others == 0) {
    if (!this->may_lack) drop(this, GPNN_DROP_EMPTY);
  } else if (are_classes(column)) {
    judge_classes(this, column);
  } else if (advice->n_ordered < MOST_ORDERED && takes_order(this, column, &status)) {
    advice->n_ordered++;
  } else if (are_numbers(column)) {
    if (check_readable(this, advice->decimal, column) && counts_rows(profile, j))
      drop(this, GPNN_DROP_COUNTS_ROWS);
  } else if (are_most(column->odd->n_dates, n + others)) {
    this->kind = GPNN_ADVICE_DATES;
    this->format = gpnn_date_guess_format(&column->odd->dates, &this->other_format);
  } else {
    judge_texts(this, column->odd, may_code(profile, j));
  }
  return status;
}

/* Cells that cannot be used as the table is read so far. */
static size_t count_bad(const struct gpnn_column_profile *column, bool may_lack)
{
  const struct gpnn_odd_cells *odd = column->odd;
  size_t n_missing = may_lack ? 0 : column->n_missing;
  if (odd == NULL) return n_missing;
  return n_missing + odd->n_written + odd->n_affixed + odd->n_not_finite + odd->n_dates +
         odd->n_text + odd->n_like_missing;
}

/* Judges column 'j', once the marks are chosen. */
static enum gpnn_status judge_column(struct gpnn_advice *advice, const struct gpnn_profile *profile,
                                     size_t j)
{
  enum gpnn_status status = GPNN_OK;
  const struct gpnn_column_profile *column = &profile->columns[j];
  struct gpnn_column_advice *this = &advice->columns[j];
  this->may_lack = profile->takes_missing && column->is_input;
  this->n_bad = count_bad(column, this->may_lack);
  if (column->role == GPNN_PROFILE_UNUSED) {
    this->kind = GPNN_ADVICE_UNUSED;
  } else if (column->role == GPNN_PROFILE_CODED || column->role == GPNN_PROFILE_LABELS) {
    this->kind = GPNN_ADVICE_AS_ASKED;
  } else {
    status = judge_values(advice, profile, j);
    size_t n_missing = column->n_missing;
    if (column->odd != NULL) n_missing += column->odd->n_like_missing;
    for (size_t i = 0; i < column->n_codes; i++)
      n_missing += is_far(column, &column->codes[i]) ? column->codes[i].n : 0;
    if (this->kind != GPNN_ADVICE_DROP && column->role == GPNN_PROFILE_INPUT && !column->is_named &&
        !this->may_lack && n_missing > profile->n_rows / 2)
      drop(this, GPNN_DROP_MOSTLY_MISSING);
  }
  return status;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* ---- the target -------------------------------------------------------------------------- */

static bool is_kept(const struct gpnn_advice *advice, size_t j)
{
  return advice->columns[j].kind != GPNN_ADVICE_DROP &&
         advice->columns[j].kind != GPNN_ADVICE_UNUSED;
}

/* Targets may be classes, too. */
static bool must_be_numbers(enum gpnn_profile_role role)
{
  return role == GPNN_PROFILE_TARGET || role == GPNN_PROFILE_OTHER;
}

/* Finds a column that is not what it has to be.  No other target is ever chosen in place of one
 * that cannot be used, and no input dropped that the user named. */
static void find_stuck(struct gpnn_advice *advice, const struct gpnn_profile *profile)
{
  for (size_t j = 0; j < profile->n_columns && !advice->is_stuck; j++) {
    enum gpnn_advice_kind kind = advice->columns[j].kind;
    bool is_dropped = kind == GPNN_ADVICE_DROP && profile->columns[j].is_named;
    advice->is_stuck = is_dropped || (must_be_numbers(profile->columns[j].role) &&
                                      kind != GPNN_ADVICE_NUMBERS && kind != GPNN_ADVICE_CLASSES);
    if (advice->is_stuck) advice->stuck_column = j;
  }
}

/* ---- lists ------------------------------------------------------------------------------- */

/* Adds 'text' to a LIST unless it is there. */
static enum gpnn_status add_item(char **list, const char *text, struct gpnn_error *err)
{
  size_t used = *list == NULL ? 0 : strlen(*list), n = strlen(text);
  if (gpnn_list_has(*list, text, n)) return GPNN_OK;
  char *longer = gpnn_alloc(used + n + 2, 1, 1);
  if (longer == NULL) return gpnn_fail_memory(err, "for the advice");
  if (used > 0) memcpy(longer, *list, used);
  if (used > 0) longer[used++] = ',';
  memcpy(longer + used, text, n + 1);
  free(*list);
  *list = longer;
  return GPNN_OK;
}

static enum gpnn_status list_affixes(struct gpnn_advice *advice, const struct gpnn_profile *profile,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < profile->n_columns && status == GPNN_OK; j++)
    if (advice->columns[j].kind == GPNN_ADVICE_NUMBERS && strips(&profile->columns[j]))
      status = add_item(&advice->strip, profile->columns[j].odd->affixes[0], err);
  return status;
}

/* True if the cells of a category include this text. */
static bool is_level(const struct gpnn_advice *advice, const struct gpnn_profile *profile,
                     const char *text)
{
  for (size_t j = 0; j < profile->n_columns; j++) {
    const struct gpnn_odd_cells *odd = profile->columns[j].odd;
    bool is_category = advice->columns[j].kind == GPNN_ADVICE_CATEGORY ||
                       advice->columns[j].kind == GPNN_ADVICE_ORDERED ||
                       advice->columns[j].kind == GPNN_ADVICE_CODED;
    if (odd == NULL || !is_category) continue;
    for (size_t i = 0; i < GPNN_PROFILE_DISTINCT; i++)
      if (odd->like_missing[i].n > 0 && strcmp(odd->like_missing[i].text, text) == 0) return true;
  }
  return false;
}

static bool takes_missing(const struct gpnn_column_advice *column)
{
  return column->kind == GPNN_ADVICE_NUMBERS || column->kind == GPNN_ADVICE_DATES;
}

/* Items of a LIST cannot have commas, and cannot be read back where they are not text. */
static bool can_be_item(const char *text)
{
  char shown[GPNN_MASK_BYTES];
  return text[0] != '\0' && strchr(text, ',') == NULL &&
         strcmp(gpnn_mask(shown, text, strlen(text)), text) == 0;
}

static enum gpnn_status list_like_missing(struct gpnn_advice *advice,
                                          const struct gpnn_profile *profile,
                                          struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < profile->n_columns; j++) {
    const struct gpnn_odd_cells *odd = profile->columns[j].odd;
    if (odd == NULL || !takes_missing(&advice->columns[j])) continue;
    for (size_t i = 0; i < GPNN_PROFILE_DISTINCT && status == GPNN_OK; i++) {
      const struct gpnn_like_missing *like = &odd->like_missing[i];
      if (like->n == 0 || !can_be_item(like->text) || is_level(advice, profile, like->text))
        continue;
      status = add_item(&advice->missing, like->text, err);
      advice->columns[j].needs_na = true;
    }
  }
  return status;
}

/* True if every column of numbers that has the code has it for a missing value. */
static bool is_missing_everywhere(const struct gpnn_advice *advice,
                                  const struct gpnn_profile *profile, double value)
{
  for (size_t j = 0; j < profile->n_columns; j++) {
    const struct gpnn_column_profile *column = &profile->columns[j];
    for (size_t i = 0; i < column->n_codes && is_kept(advice, j); i++)
      if (column->codes[i].value == value && !is_far(column, &column->codes[i])) return false;
  }
  return true;
}

/* True if code 'i' of column 'j' is to be among the missing values. */
static bool takes_code(const struct gpnn_advice *advice, const struct gpnn_profile *profile,
                       size_t j, size_t i)
{
  const struct gpnn_column_profile *column = &profile->columns[j];
  return advice->columns[j].kind == GPNN_ADVICE_NUMBERS && is_far(column, &column->codes[i]) &&
         is_missing_everywhere(advice, profile, column->codes[i].value);
}

static enum gpnn_status list_codes(struct gpnn_advice *advice, const struct gpnn_profile *profile,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < profile->n_columns; j++)
    for (size_t i = 0; i < profile->columns[j].n_codes && status == GPNN_OK; i++) {
      char text[GPNN_NUMBER_BYTES];
      if (!takes_code(advice, profile, j, i)) continue;
      gpnn_number_write(text, profile->columns[j].codes[i].value);
      status = add_item(&advice->missing, text, err);
      advice->columns[j].n_codes += profile->columns[j].codes[i].n;
    }
  return status;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Records that are malformed and no comments. */
static size_t count_malformed(const struct gpnn_profile *profile)
{
  return profile->n_malformed - profile->n_comments;
}

/* True if a row that has this lack is left out. */
static bool is_needed(const void *context, const struct gpnn_lack *lack)
{
  const struct gpnn_advice *advice = context;
  const struct gpnn_column_advice *column = &advice->columns[lack->column];
  bool is_missing = lack->why == GPNN_WHY_MISSING || lack->why == GPNN_WHY_LIKE_MISSING ||
                    lack->why == GPNN_WHY_CODE;
  if (column->may_lack && is_missing) return false;
  switch (column->kind) {
  case GPNN_ADVICE_DROP:
  case GPNN_ADVICE_UNUSED:
    return false;
  case GPNN_ADVICE_AS_ASKED:
  case GPNN_ADVICE_CATEGORY:
  case GPNN_ADVICE_ORDERED:
  case GPNN_ADVICE_CODED:
  case GPNN_ADVICE_CLASSES:
    return lack->why == GPNN_WHY_MISSING;
  default:
    return lack->why != GPNN_WHY_CODE || column->n_codes > 0;
  }
}

static size_t count_lost(const struct gpnn_advice *advice, const struct gpnn_profile *profile)
{
  return count_malformed(profile) + gpnn_patterns_count(&profile->patterns, is_needed, advice);
}

/* Rows in which the column lacks a value. */
static size_t count_lacks(const struct gpnn_column_profile *column)
{
  const struct gpnn_odd_cells *odd = column->odd;
  return column->n_missing +
         (odd == NULL ? 0 : odd->n_like_missing + odd->n_not_finite + odd->n_text);
}

static bool may_be_dropped(const struct gpnn_advice *advice, const struct gpnn_profile *profile,
                           size_t j)
{
  return profile->columns[j].role == GPNN_PROFILE_INPUT && !profile->columns[j].is_named &&
         takes_missing(&advice->columns[j]);
}

/* Drops the inputs that lack at least 'least' values, or takes that back. */
static void drop_lacking(struct gpnn_advice *advice, const struct gpnn_profile *profile,
                         const enum gpnn_advice_kind *kinds, size_t least)
{
  for (size_t j = 0; j < profile->n_columns; j++) {
    struct gpnn_column_advice *column = &advice->columns[j];
    column->kind = kinds[j];
    if (!may_be_dropped(advice, profile, j) || count_lacks(&profile->columns[j]) < least) continue;
    column->kind = GPNN_ADVICE_DROP;
    column->reason = GPNN_DROP_FOR_ROWS;
  }
}

/* If more than half of the rows lack a value, drops as few inputs as it takes, those first that
 * lack most; none if that does not help. */
static enum gpnn_status save_rows(struct gpnn_advice *advice, const struct gpnn_profile *profile,
                                  struct gpnn_error *err)
{
  size_t n_rows = profile->n_rows + count_malformed(profile), low = 1, high = n_rows + 1;
  if (count_lost(advice, profile) <= n_rows / 2) return GPNN_OK;
  enum gpnn_advice_kind *kinds = gpnn_alloc(profile->n_columns, 1, sizeof *kinds);
  if (kinds == NULL) return gpnn_fail_memory(err, "for the advice");
  for (size_t j = 0; j < profile->n_columns; j++) kinds[j] = advice->columns[j].kind;
  /* Dropping from 'low' on is enough, from 'high' on is not, if it ever is. */
  drop_lacking(advice, profile, kinds, low);
  bool helps = count_lost(advice, profile) <= n_rows / 2;
  while (helps && high - low > 1) {
    size_t middle = low + (high - low) / 2;
    drop_lacking(advice, profile, kinds, middle);
    if (count_lost(advice, profile) <= n_rows / 2)
      low = middle;
    else
      high = middle;
  }
  drop_lacking(advice, profile, kinds, helps ? low : SIZE_MAX);
  free(kinds);
  return GPNN_OK;
}

/* ---- all of it --------------------------------------------------------------------------- */

static void count_rows(struct gpnn_advice *advice, const struct gpnn_profile *profile,
                       size_t n_before)
{
  struct gpnn_skipped lost = {.n = count_lost(advice, profile)};
  advice->n_rows = n_before + profile->n_rows + count_malformed(profile);
  advice->n_lost = lost.n;
  advice->skip = lost.n == 0                                             ? GPNN_SKIP_NONE
                 : gpnn_skipped_too_many(&lost, advice->n_rows - lost.n) ? GPNN_SKIP_ALL
                                                                         : GPNN_SKIP_SOME;
}

enum gpnn_status gpnn_advice_make(struct gpnn_advice *advice, const struct gpnn_profile *profile,
                                  size_t n_rows_before, struct gpnn_error *err)
{
  advice->columns = gpnn_alloc(profile->n_columns, 1, sizeof *advice->columns);
  if (advice->columns == NULL) return gpnn_fail_memory(err, "for the advice");
  advice->n_columns = profile->n_columns;
  choose_marks(advice, profile);
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < profile->n_columns && status == GPNN_OK; j++)
    status = judge_column(advice, profile, j);
  if (status != GPNN_OK) return gpnn_fail_memory(err, "for the advice");
  find_stuck(advice, profile);
  status = list_affixes(advice, profile, err);
  if (status == GPNN_OK) status = list_like_missing(advice, profile, err);
  if (status == GPNN_OK) status = list_codes(advice, profile, err);
  if (status == GPNN_OK) status = save_rows(advice, profile, err);
  if (status == GPNN_OK) count_rows(advice, profile, n_rows_before);
  return status;
}

bool gpnn_advice_is_none(const struct gpnn_advice *advice)
{
  bool any = advice->n_lost > 0 || advice->is_stuck;
  for (size_t j = 0; j < advice->n_columns && !any; j++)
    any = advice->columns[j].n_bad + advice->columns[j].n_codes > 0 ||
          advice->columns[j].needs_classes || advice->columns[j].kind == GPNN_ADVICE_DROP;
  return !any;
}

void gpnn_advice_release(struct gpnn_advice *advice)
{
  for (size_t j = 0; j < advice->n_columns && advice->columns != NULL; j++)
    free(advice->columns[j].order);
  free(advice->columns);
  free(advice->strip);
  free(advice->missing);
  *advice = (struct gpnn_advice){.columns = NULL};
}
