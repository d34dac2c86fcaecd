#include "table/predictions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/columns.h"
#include "table/table_private.h"

/* ---- columns ------------------------------------------------------------------------------ */

bool gpnn_predictions_strip(const char *name, const char *prefix, const char *target,
                            const char **text, size_t *length)
{
  size_t n = strlen(name), n_prefix = strlen(prefix);
  size_t n_suffix = target == NULL ? 0 : strlen(target) + 1;
  if (n < n_prefix + n_suffix || memcmp(name, prefix, n_prefix) != 0) return false;
  const char *suffix = name + n - n_suffix;
  if (n_suffix > 0 && (suffix[0] != '_' || strcmp(suffix + 1, target) != 0)) return false;
  *text = name + n_prefix;
  *length = n - n_prefix - n_suffix;
  return true;
}

enum gpnn_status gpnn_predictions_find_affixed(const struct gpnn_table *table, size_t first,
                                               const char *prefix, const char *what,
                                               size_t what_length, const char *target,
                                               size_t *column, struct gpnn_error *err)
{
  bool found = false;
  for (size_t j = first; j < gpnn_table_columns(table); j++) {
    const char *name = gpnn_table_column(table, j), *text;
    size_t length;
    if (!gpnn_predictions_strip(name, prefix, target, &text, &length) || length != what_length ||
        memcmp(text, what, length) != 0)
      continue;
    if (found)
      return gpnn_columns_find(table, name, column, err); /* fails: the name is ambiguous */
    found = true;
    *column = j;
  }
  return found ? GPNN_OK : GPNN_END;
}

/* The first column called 'prefix' and 'name'; SIZE_MAX: there is none. */
static size_t find_joined(const struct gpnn_table *table, const char *prefix, const char *name)
{
  size_t n = strlen(prefix);
  for (size_t k = 0; k < gpnn_table_columns(table); k++) {
    const char *column = gpnn_table_column(table, k);
    if (strncmp(column, prefix, n) == 0 && strcmp(column + n, name) == 0) return k;
  }
  return SIZE_MAX;
}

/* Reads a level in percent; NaN if the text is empty.  False: it is not a level. */
static bool read_level(const char *text, size_t length, double *level)
{
  *level = NAN;
  if (length == 0) return true;
  if (text[0] < '0' || text[0] > '9') return false;
  if (gpnn_number_read(text, length, level) != GPNN_NUMBER_OK) return false;
  *level /= 100;
  return *level > 0 && *level < 1;
}

static enum gpnn_status find_intervals(struct gpnn_predictions_target *t,
                                       const struct gpnn_table *table, struct gpnn_error *err)
{
  for (size_t j = t->mean + 1; j < gpnn_table_columns(table); j++) {
    const char *text;
    size_t length;
    struct gpnn_predictions_interval interval = {.lower = j};
    if (!gpnn_predictions_strip(gpnn_table_column(table, j), "lower", t->name, &text, &length) ||
        !read_level(text, length, &interval.level))
      continue;
    enum gpnn_status status = gpnn_predictions_find_affixed(table, j + 1, "upper", text, length,
                                                            t->name, &interval.upper, err);
    if (status == GPNN_END) continue; /* without an upper end it is not an interval of ours */
    if (status != GPNN_OK) return status;
    if (t->n_intervals == GPNN_PREDICTIONS_INTERVALS)
      return gpnn_fail(err, GPNN_EDATA, "%s: more than %d intervals", gpnn_table_name(table),
                       GPNN_PREDICTIONS_INTERVALS);
    t->intervals[t->n_intervals++] = interval;
  }
  return GPNN_OK;
}

/* Finds the column called 'name'; it is no failure if there is none. */
static enum gpnn_status find_named(const struct gpnn_predictions_target *t,
                                   const struct gpnn_table *table, size_t first, const char *name,
                                   size_t *column, bool *found, struct gpnn_error *err)
{
  if (*found) return GPNN_OK;
  enum gpnn_status status =
      gpnn_predictions_find_affixed(table, first, name, "", 0, t->name, column, err);
  *found = status == GPNN_OK;
  return status == GPNN_END ? GPNN_OK : status;
}

/* Finds the columns that a table need not have: sd (which may come before the mean if there is only
 * one target), df, scores, intervals. */
static enum gpnn_status find_optional(struct gpnn_predictions_target *t,
                                      const struct gpnn_table *table, struct gpnn_error *err)
{
  static const char *const scores[GPNN_PREDICTIONS_SCORES] = {"logp", "crps", "pit", "pitstep"};
  size_t after = t->mean + 1;
  enum gpnn_status status = find_named(t, table, after, "sd", &t->sd, &t->has_sd, err);
  if (status == GPNN_OK && t->name == NULL)
    status = find_named(t, table, 0, "sd", &t->sd, &t->has_sd, err);
  if (status == GPNN_OK) status = find_named(t, table, after, "df", &t->df, &t->has_df, err);
  for (size_t i = 0; i < GPNN_PREDICTIONS_SCORES && status == GPNN_OK; i++)
    status = find_named(t, table, after, scores[i], &t->score[i], &t->has_score[i], err);
  return status == GPNN_OK ? find_intervals(t, table, err) : status;
}

static enum gpnn_status find_wanted(const struct gpnn_table *table, const char *wanted,
                                    size_t *column, bool *found, struct gpnn_error *err)
{
  if (wanted == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_columns_find(table, wanted, column, err);
  *found = status == GPNN_OK;
  return status;
}

/* Takes the column before a prediction's for the truth. */
static enum gpnn_status take_before(struct gpnn_predictions_target *t,
                                    const struct gpnn_table *table, size_t column, const char *name,
                                    struct gpnn_error *err)
{
  if (column == 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: no column before '%s' holds the truth: name it "
                     "with --truth",
                     gpnn_table_name(table), name);
  t->truth = column - 1;
  return GPNN_OK;
}

/* The only target, classes whose label is in column 'label'. */
static enum gpnn_status find_class(struct gpnn_predictions_target *t,
                                   const struct gpnn_table *table, const char *truth, size_t label,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = truth != NULL ? gpnn_columns_find(table, truth, &t->truth, err)
                                          : take_before(t, table, label, "label", err);
  return status == GPNN_OK ? gpnn_predictions_find_classes(t, table, label, err) : status;
}

/* True if the target itself is called "mean": it and, right after it, its prediction are the only
 * columns of this name. */
static bool is_called_mean(const struct gpnn_table *table, size_t *prediction)
{
  size_t n = 0, last = 0, first = 0;
  for (size_t j = 0; j < gpnn_table_columns(table); j++) {
    if (strcmp(gpnn_table_column(table, j), "mean") != 0) continue;
    if (n++ == 0) first = j;
    last = j;
  }
  *prediction = last;
  return n == 2 && last == first + 1;
}

/* To a table with no mean, whatever it is, the message names both columns that would do. */
static enum gpnn_status find_mean(struct gpnn_predictions_target *t, const struct gpnn_table *table,
                                  const char *wanted, struct gpnn_error *err)
{
  bool header = gpnn_table_has_header(table), has_mean = false;
  const char *mean = wanted != NULL ? wanted : header ? "mean" : "2";
  if (wanted == NULL && header && is_called_mean(table, &t->mean)) return GPNN_OK;
  enum gpnn_status status = find_wanted(table, mean, &t->mean, &has_mean, err);
  bool says_more = status == GPNN_EINVAL && header && wanted == NULL && err != NULL;
  if (!says_more || find_joined(table, "", mean) != SIZE_MAX) return status;
  const struct gpnn_error cause = *err;
  return gpnn_fail(err, status, "%s; predictions of classes have a column 'label'", cause.text);
}

static enum gpnn_status find_single(struct gpnn_predictions_target *t,
                                    const struct gpnn_table *table,
                                    const struct gpnn_predictions_wanted *wanted,
                                    struct gpnn_error *err)
{
  bool header = gpnn_table_has_header(table);
  const char *truth = wanted->truth != NULL ? wanted->truth : header ? NULL : "1";
  bool has_truth = false;
  enum gpnn_status status = find_mean(t, table, wanted->mean, err);
  if (status == GPNN_OK) status = find_wanted(table, truth, &t->truth, &has_truth, err);
  if (status == GPNN_OK) status = find_wanted(table, wanted->sd, &t->sd, &t->has_sd, err);
  if (status == GPNN_OK) status = find_wanted(table, wanted->df, &t->df, &t->has_df, err);
  if (status != GPNN_OK) return status;
  if (!has_truth) status = take_before(t, table, t->mean, "mean", err);
  if (status != GPNN_OK) return status;
  if (header) return find_optional(t, table, err);
  if (!t->has_sd && gpnn_table_columns(table) >= 3) {
    t->sd = 2;
    t->has_sd = true;
  }
  return GPNN_OK;
}

/* ---- several targets ---------------------------------------------------------------------- */

/* The name of the target that column 'j' is the mean or the label of, if the table has its truth
 * too, or NULL.  A target that has a mean has no label: that is a column of the predicted table. */
static const char *target_of(const struct gpnn_table *table, size_t j, size_t *truth)
{
  const char *name = gpnn_table_column(table, j), *target;
  bool is_mean = strncmp(name, "mean_", 5) == 0;
  if (!is_mean && strncmp(name, "label_", 6) != 0) return NULL;
  target = name + (is_mean ? 5 : 6);
  if (*target == '\0' || (!is_mean && find_joined(table, "mean_", target) != SIZE_MAX)) return NULL;
  *truth = find_joined(table, "", target);
  return *truth == SIZE_MAX ? NULL : target;
}

bool gpnn_predictions_is_target(const struct gpnn_table *table, size_t j)
{
  size_t truth;
  return target_of(table, j, &truth) != NULL;
}

/* True if what the table predicts is to be told from its columns. */
static bool asks_for_no_number(const struct gpnn_table *table,
                               const struct gpnn_predictions_wanted *wanted)
{
  return wanted->mean == NULL && wanted->sd == NULL && wanted->df == NULL &&
         gpnn_table_has_header(table);
}

static bool has_several_targets(const struct gpnn_table *table,
                                const struct gpnn_predictions_wanted *wanted)
{
  size_t truth, n = 0;
  if (wanted->truth != NULL || !asks_for_no_number(table, wanted)) return false;
  for (size_t j = 0; j < gpnn_table_columns(table); j++) {
    if (strcmp(gpnn_table_column(table, j), "mean") == 0) return false;
    n += target_of(table, j, &truth) != NULL;
  }
  return n > 0;
}

/* Degrees of freedom and scores may differ: a count beside a number has the latter. */
static bool have_same_columns(const struct gpnn_predictions_target *a,
                              const struct gpnn_predictions_target *b)
{
  bool same = a->has_sd == b->has_sd && a->n_intervals == b->n_intervals;
  for (size_t i = 0; i < a->n_intervals && same; i++) {
    double p = a->intervals[i].level, q = b->intervals[i].level;
    same = p == q || (isnan(p) && isnan(q));
  }
  return same;
}

/* The first target that is a number. */
static const struct gpnn_predictions_target *first_number(const struct gpnn_predictions *p)
{
  const struct gpnn_predictions_target *t = p->targets;
  while (t->classes != NULL) t++;
  return t;
}

/* Finds the other columns of the target that was added last, whose mean or label is column 'j'. */
static enum gpnn_status find_of_last(struct gpnn_predictions *p, const struct gpnn_table *table,
                                     size_t j, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  struct gpnn_predictions_target *t = &p->targets[p->n_targets - 1];
  if (strncmp(gpnn_table_column(table, j), "label", 5) == 0)
    return gpnn_predictions_find_classes(t, table, j, err);
  t->mean = j;
  enum gpnn_status status = find_optional(t, table, err);
  if (status != GPNN_OK || have_same_columns(t, first_number(p))) return status;
  return gpnn_fail(
      err, GPNN_EDATA,
      "%s: target '%s' has other intervals than the first target, or one of them no sd",
      gpnn_table_name(table), gpnn_mask(shown, t->name, strlen(t->name)));
}

/* Adds the target called 'name', whose mean or label is column 'j'. */
static enum gpnn_status add_target(struct gpnn_predictions *p, const struct gpnn_table *table,
                                   const char *name, size_t j, size_t truth, struct gpnn_error *err)
{
  size_t same;
  /* Fails if two columns share one of the names. */
  enum gpnn_status status = gpnn_columns_find(table, gpnn_table_column(table, j), &same, err);
  if (status == GPNN_OK) status = gpnn_columns_find(table, name, &same, err);
  if (status != GPNN_OK) return status;
  struct gpnn_predictions_target *t = &p->targets[p->n_targets];
  t->truth = truth;
  t->name = gpnn_copy_text(name, strlen(name));
  if (t->name == NULL) return gpnn_fail_memory(err, "for the names of the targets");
  p->n_targets++;
  return find_of_last(p, table, j, err);
}

static enum gpnn_status find_all_targets(struct gpnn_predictions *p, const struct gpnn_table *table,
                                         struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t truth = 0, n = 0;
  for (size_t j = 0; j < gpnn_table_columns(table); j++) n += target_of(table, j, &truth) != NULL;
  p->targets = gpnn_alloc(n, 1, sizeof *p->targets);
  if (p->targets == NULL) return gpnn_fail_memory(err, "for the columns of the targets");
  for (size_t j = 0; j < gpnn_table_columns(table) && status == GPNN_OK; j++) {
    const char *name = target_of(table, j, &truth);
    if (name != NULL) status = add_target(p, table, name, j, truth, err);
  }
  return status;
}

enum gpnn_status gpnn_predictions_find(struct gpnn_predictions *predictions,
                                       const struct gpnn_table *table,
                                       const struct gpnn_predictions_wanted *wanted,
                                       struct gpnn_error *err)
{
  struct gpnn_predictions p = {0};
  enum gpnn_status status;
  size_t label;
  bool is_class = asks_for_no_number(table, wanted) && gpnn_predictions_are_classes(table, &label);
  if (!is_class && has_several_targets(table, wanted)) {
    status = find_all_targets(&p, table, err);
  } else {
    p.targets = gpnn_alloc(1, 1, sizeof *p.targets);
    if (p.targets == NULL) return gpnn_fail_memory(err, "for the columns of the predictions");
    p.n_targets = 1;
    status = is_class ? find_class(&p.targets[0], table, wanted->truth, label, err)
                      : find_single(&p.targets[0], table, wanted, err);
  }
  if (status == GPNN_OK)
    *predictions = p;
  else
    gpnn_predictions_release(&p);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* 1 if a field reads inf, -1 if it reads -inf, in upper or lower case; 0 otherwise. */
static int infinite_sign(const struct gpnn_field *field)
{
  static const char *const spellings[] = {"inf", "+inf", "-inf", "infinity", "-infinity"};
  char text[16];
  if (field->length >= sizeof text) return 0;
  for (size_t i = 0; i < field->length; i++) {
    char c = field->text[i];
    text[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
  }
  text[field->length] = '\0';
  for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
    if (strcmp(text, spellings[i]) == 0) return text[0] == '-' ? -1 : 1;
  return 0;
}

enum gpnn_status gpnn_predictions_read_infinite(const struct gpnn_table *table,
                                                const struct gpnn_record *record, size_t column,
                                                double missing, double *value,
                                                struct gpnn_error *err)
{
  const struct gpnn_field *field = &record->fields[column];
  int sign = infinite_sign(field);
  if (sign == 0 && !gpnn_field_is_missing(table, field))
    return gpnn_columns_number(table, record, column, value, err);
  *value = sign == 0 ? missing : copysign(INFINITY, sign);
  return GPNN_OK;
}

enum gpnn_status gpnn_predictions_read(const struct gpnn_predictions_target *t,
                                       const struct gpnn_table *table,
                                       const struct gpnn_record *record,
                                       struct gpnn_predictions_row *prediction,
                                       struct gpnn_error *err)
{
  struct gpnn_predictions_row p = {.sd = NAN, .df = INFINITY, .score = {NAN, NAN, NAN, NAN}};
  if (gpnn_field_is_missing(table, &record->fields[t->truth]) ||
      gpnn_field_is_missing(table, &record->fields[t->mean]))
    return GPNN_END;
  enum gpnn_status status = gpnn_columns_number(table, record, t->truth, &p.truth, err);
  if (status == GPNN_OK) status = gpnn_columns_number(table, record, t->mean, &p.mean, err);
  if (status == GPNN_OK && t->has_sd)
    status = gpnn_columns_number(table, record, t->sd, &p.sd, err);
  if (status == GPNN_OK && t->has_df)
    status = gpnn_predictions_read_infinite(table, record, t->df, INFINITY, &p.df, err);
  for (size_t i = 0; i < GPNN_PREDICTIONS_SCORES && status == GPNN_OK; i++)
    if (t->has_score[i])
      status = gpnn_predictions_read_infinite(table, record, t->score[i], NAN, &p.score[i], err);
  for (size_t i = 0; i < t->n_intervals && status == GPNN_OK; i++) {
    status =
        gpnn_predictions_read_infinite(table, record, t->intervals[i].lower, NAN, &p.lower[i], err);
    if (status == GPNN_OK)
      status = gpnn_predictions_read_infinite(table, record, t->intervals[i].upper, NAN,
                                              &p.upper[i], err);
  }
  if (status == GPNN_OK) *prediction = p;
  return status;
}

void gpnn_predictions_release(struct gpnn_predictions *predictions)
{
  for (size_t i = 0; i < predictions->n_targets; i++) {
    free(predictions->targets[i].name);
    gpnn_predictions_free_classes(predictions->targets[i].classes);
  }
  free(predictions->targets);
  memset(predictions, 0, sizeof *predictions);
}
