/*
 * Tables of predictions: the columns found are there, and numbers are read from them.
 * The first line names columns wanted, with commas between: truth, mean, sd, df, each of them or
 * nothing.  The rest is the table.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "table/predictions.h"

static void check_target(const struct gpnn_predictions_target *t, size_t n_columns)
{
  FUZZ_EXPECT(t->truth < n_columns && t->mean < n_columns);
  if (t->classes != NULL)
    FUZZ_EXPECT(gpnn_predictions_n_probabilities(t->classes) ==
                gpnn_predictions_n_classes(t->classes));
  FUZZ_EXPECT(!t->has_sd || t->sd < n_columns);
  FUZZ_EXPECT(!t->has_df || t->df < n_columns);
  FUZZ_EXPECT(t->n_intervals <= GPNN_PREDICTIONS_INTERVALS);
  for (size_t i = 0; i < t->n_intervals; i++) {
    double level = t->intervals[i].level;
    FUZZ_EXPECT(t->intervals[i].lower < n_columns && t->intervals[i].upper < n_columns);
    FUZZ_EXPECT(isnan(level) || (level > 0 && level < 1));
  }
}

static void read_target(const struct gpnn_predictions_target *t, const struct gpnn_table *table,
                        const struct gpnn_record *record)
{
  struct gpnn_error err = {0};
  struct gpnn_predictions_row row;
  enum gpnn_status status = gpnn_predictions_read(t, table, record, &row, &err);
  if (status == GPNN_OK)
    FUZZ_EXPECT(isfinite(row.truth) && isfinite(row.mean) && (t->has_sd || isnan(row.sd)));
  else if (status != GPNN_END)
    fuzz_expect_failure(status, &err);
}

static void read_class(struct gpnn_predictions_target *t, const struct gpnn_table *table,
                       const struct gpnn_record *record)
{
  struct gpnn_error err = {0};
  struct gpnn_predictions_class_row row;
  enum gpnn_status status = gpnn_predictions_read_class(t, table, record, &row, &err);
  size_t n = gpnn_predictions_n_classes(t->classes);
  size_t n_p = gpnn_predictions_n_probabilities(t->classes);
  if (status == GPNN_OK) {
    FUZZ_EXPECT(row.truth < n && row.label < n && (row.p != NULL) == (n_p > 0));
    FUZZ_EXPECT(isnan(row.top_probability) || row.top < n);
    for (size_t c = 0; c < n_p; c++) FUZZ_EXPECT(isfinite(row.p[c]));
  } else if (status != GPNN_END) {
    fuzz_expect_failure(status, &err);
  }
}

/* The classes in their order are all of them, each once. */
static void check_classes(const struct gpnn_predictions_classes *classes)
{
  size_t n = gpnn_predictions_n_classes(classes), sum = 0;
  for (size_t i = 0; i < n; i++) {
    size_t c = gpnn_predictions_class_at(classes, i);
    struct gpnn_field name = gpnn_predictions_class_name(classes, c);
    FUZZ_EXPECT(c < n && strlen(name.text) == name.length);
    sum += c;
  }
  FUZZ_EXPECT(sum == n * (n - (n > 0)) / 2);
}

static void read_rows(const struct gpnn_predictions *predictions, struct gpnn_table *table)
{
  for (;;) {
    struct gpnn_record record;
    struct gpnn_error err = {0};
    enum gpnn_status status = gpnn_table_next(table, &record, &err);
    if (status == GPNN_EDATA) continue;
    if (status != GPNN_OK) return;
    for (size_t t = 0; t < predictions->n_targets; t++) {
      struct gpnn_predictions_target *target = &predictions->targets[t];
      if (target->classes == NULL)
        read_target(target, table, &record);
      else
        read_class(target, table, &record);
    }
  }
}

static void find_and_read(struct gpnn_table *table, const struct gpnn_predictions_wanted *wanted)
{
  struct gpnn_error err = {0};
  struct gpnn_predictions predictions = {0};
  enum gpnn_status status = gpnn_predictions_find(&predictions, table, wanted, &err);
  if (status == GPNN_OK) {
    FUZZ_EXPECT(predictions.n_targets > 0);
    for (size_t t = 0; t < predictions.n_targets; t++)
      check_target(&predictions.targets[t], gpnn_table_columns(table));
    read_rows(&predictions, table);
    for (size_t t = 0; t < predictions.n_targets; t++)
      if (predictions.targets[t].classes != NULL) check_classes(predictions.targets[t].classes);
  } else {
    fuzz_expect_failure(status, &err);
  }
  gpnn_predictions_release(&predictions);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  char *fields[4];
  char *line = fuzz_line(&bytes, &length);
  fuzz_split(line, ',', 4, fields);
  struct gpnn_predictions_wanted wanted = {fields[0], fields[1], fields[2], fields[3]};
  struct gpnn_table *table = fuzz_table(bytes, length, line[0] != '!');
  if (table != NULL) find_and_read(table, &wanted);
  gpnn_table_close(table);
  free(line);
  return 0;
}
