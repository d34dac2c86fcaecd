#include "table/skipped.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "table/columns.h"

/* The kind with 'what' wrong in 'column', which is new unless there is one; NULL: there are too
 * many kinds. */
static struct gpnn_skipped_kind *find_kind(struct gpnn_skipped *skipped, size_t column,
                                           const char *what, size_t line)
{
  for (size_t i = 0; i < skipped->n_kinds; i++)
    if (skipped->kinds[i].column == column && strcmp(skipped->kinds[i].what, what) == 0)
      return &skipped->kinds[i];
  if (skipped->n_kinds == GPNN_SKIPPED_KINDS) return NULL;
  struct gpnn_skipped_kind *kind = &skipped->kinds[skipped->n_kinds++];
  *kind = (struct gpnn_skipped_kind){.what = what, .column = column, .line = line};
  return kind;
}

void gpnn_skipped_add_malformed(struct gpnn_skipped *skipped, size_t n, size_t line)
{
  if (n == 0) return;
  struct gpnn_skipped_kind *kind = find_kind(skipped, SIZE_MAX, "malformed", line);
  skipped->n += n;
  if (kind != NULL) kind->n += n;
}

void gpnn_skipped_add(struct gpnn_skipped *skipped, const struct gpnn_record *record,
                      const struct gpnn_error *why)
{
  if (why->what == NULL) {
    gpnn_skipped_add_malformed(skipped, 1, record->line);
    return;
  }
  struct gpnn_skipped_kind *kind = find_kind(skipped, why->column, why->what, record->line);
  skipped->n++;
  if (kind == NULL) return;
  const struct gpnn_field *field = &record->fields[why->column];
  if (kind->n++ == 0) gpnn_mask(kind->text, field->text, field->length);
}

bool gpnn_skipped_join(struct gpnn_skipped *skipped, const struct gpnn_skipped *more)
{
  skipped->n += more->n;
  for (size_t i = 0; i < more->n_kinds; i++) {
    const struct gpnn_skipped_kind *from = &more->kinds[i];
    struct gpnn_skipped_kind *kind = find_kind(skipped, from->column, from->what, from->line);
    if (kind == NULL) return false;
    if (kind->n == 0) memcpy(kind->text, from->text, sizeof kind->text);
    kind->n += from->n;
  }
  return more->n_kinds < GPNN_SKIPPED_KINDS;
}

bool gpnn_skipped_too_many(const struct gpnn_skipped *skipped, size_t n_kept)
{
  return skipped->n > n_kept / 4; /* one for each four kept is a fifth of all */
}

static int compare_kinds(const void *a, const void *b)
{
  const struct gpnn_skipped_kind *left = a, *right = b;
  int order = gpnn_compare_sizes(&right->n, &left->n);
  return order != 0 ? order : gpnn_compare_sizes(&left->line, &right->line);
}

/* Writes one kind to 'text', cut to 'capacity' bytes with the NUL; returns the length. */
static size_t describe_kind(const struct gpnn_skipped_kind *kind, const struct gpnn_table *table,
                            char *text, size_t capacity)
{
  char name[GPNN_COLUMN_BYTES] = "";
  bool has_text = kind->text[0] != '\0', has_column = kind->column != SIZE_MAX;
  if (has_column) gpnn_columns_describe(table, kind->column, name);
  int length =
      snprintf(text, capacity, "%s%s%s in %zu row%s, %s%s%s%s %zu%s", name, has_column ? ": " : "",
               kind->what, kind->n, kind->n == 1 ? "" : "s", has_text ? "as \"" : "as in ",
               kind->text, has_text ? "\" (" : "", gpnn_table_is_text(table) ? "line" : "row",
               kind->line, has_text ? ")" : "");
  if (length < 0) return 0;
  return (size_t)length < capacity ? (size_t)length : capacity - 1;
}

const char *gpnn_skipped_describe(const struct gpnn_skipped *skipped,
                                  const struct gpnn_table *table, char text[GPNN_SKIPPED_BYTES])
{
  enum { MOST = 3, REST_BYTES = 64, KIND_BYTES = (GPNN_SKIPPED_BYTES - REST_BYTES) / MOST };
  struct gpnn_skipped sorted = *skipped;
  qsort(sorted.kinds, sorted.n_kinds, sizeof sorted.kinds[0], compare_kinds);
  size_t used = 0, n_described = 0, shown = sorted.n_kinds > MOST ? MOST - 1 : sorted.n_kinds;
  text[0] = '\0';
  for (size_t i = 0; i < shown; i++) {
    if (i > 0) used += (size_t)snprintf(text + used, GPNN_SKIPPED_BYTES - used, "; ");
    used += describe_kind(&sorted.kinds[i], table, text + used, KIND_BYTES);
    n_described += sorted.kinds[i].n;
  }
  if (n_described < sorted.n)
    snprintf(text + used, GPNN_SKIPPED_BYTES - used, "; %zu for other reasons",
             sorted.n - n_described);
  return text;
}
