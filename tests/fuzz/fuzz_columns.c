/*
 * Roles of columns: whatever lists are asked for of whatever table, the schema that comes of it
 * finds itself again in that table, and reads its rows the same in both passes.
 * The first line has the lists, with tabs between: target, inputs, dropped, categories, regressors,
 * noise, a period, a place, dates; the rest is the table.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "fuzz.h"
#include "table/columns.h"
#include "table/records.h"
#include "table/schema.h"

enum { LISTS = 9 };

static double *room(size_t n)
{
  double *numbers = gpnn_alloc(n, 1, sizeof *numbers);
  FUZZ_EXPECT(numbers != NULL);
  return numbers;
}

/* The training pass: the rows that it takes go to 'records'. */
static void learn(struct gpnn_schema *schema, struct gpnn_columns_map *map,
                  struct gpnn_table *table, struct gpnn_records *records)
{
  double *cells = room(schema->n_inputs);
  for (;;) {
    struct gpnn_record record;
    struct gpnn_error err = {0};
    enum gpnn_status status = gpnn_table_next(table, &record, &err);
    if (status == GPNN_END || status == GPNN_EFORMAT) break;
    if (status != GPNN_OK) continue;
    status = gpnn_schema_learn(schema, map, table, &record, cells, &err);
    if (status == GPNN_OK)
      FUZZ_EXPECT(gpnn_records_add(records, &record, &err) == GPNN_OK);
    else
      fuzz_expect_failure(status, &err);
  }
  free(cells);
}

/* The prediction pass sees in them what the training pass does. */
static void compare_passes(struct gpnn_schema *schema, struct gpnn_columns_map *map,
                           const struct gpnn_table *table, struct gpnn_records *records)
{
  size_t width = gpnn_schema_features(schema), n_unseen = 0;
  double *cells = room(schema->n_inputs), *learnt = room(width), *encoded = room(width);
  for (size_t i = 0; i < records->n; i++) {
    struct gpnn_error err = {0};
    double variance = 0;
    struct gpnn_record record = gpnn_records_get(records, i);
    FUZZ_EXPECT(gpnn_schema_learn(schema, map, table, &record, cells, &err) == GPNN_OK);
    gpnn_schema_expand(schema, cells, learnt);
    FUZZ_EXPECT(gpnn_schema_encode(schema, map, table, &record, encoded, &n_unseen, &err) ==
                GPNN_OK);
    FUZZ_EXPECT(memcmp(learnt, encoded, width * sizeof *learnt) == 0);
    for (size_t j = 0; j < width; j++) FUZZ_EXPECT(isfinite(learnt[j]));
    if (gpnn_schema_noise(map, table, &record, &variance, &err) == GPNN_OK)
      FUZZ_EXPECT(variance >= 0);
  }
  FUZZ_EXPECT(n_unseen == 0 && gpnn_schema_features(schema) == width);
  free(cells);
  free(learnt);
  free(encoded);
}

static void check_names(const struct gpnn_schema *schema)
{
  char name[GPNN_MASK_BYTES];
  size_t width = gpnn_schema_features(schema);
  struct gpnn_feature *features = gpnn_alloc(width, 1, sizeof *features);
  FUZZ_EXPECT(features != NULL);
  gpnn_schema_groups(schema, features);
  for (size_t j = 0; j < width; j++) {
    FUZZ_EXPECT(features[j].group <= j);
    FUZZ_EXPECT(strlen(gpnn_schema_feature_name(schema, NULL, j, name)) < sizeof name);
    FUZZ_EXPECT(strlen(gpnn_schema_group_name(schema, NULL, j, name)) < sizeof name);
  }
  free(features);
}

static void use(struct gpnn_schema *schema, struct gpnn_table *table)
{
  struct gpnn_error err = {0};
  struct gpnn_columns_map map = {0};
  struct gpnn_records records = {0};
  enum gpnn_status status = gpnn_schema_match(schema, table, &map, &err);
  FUZZ_EXPECT(status == GPNN_OK);
  learn(schema, &map, table, &records);
  compare_passes(schema, &map, table, &records);
  check_names(schema);
  gpnn_records_release(&records);
  gpnn_columns_map_release(&map);
}

static void find_list(const struct gpnn_table *table, const char *list)
{
  struct gpnn_error err = {0};
  size_t *columns = NULL, n = 0;
  if (list == NULL || gpnn_columns_find_list(table, list, &columns, &n, &err) != GPNN_OK) return;
  for (size_t i = 0; i < n; i++) FUZZ_EXPECT(columns[i] < gpnn_table_columns(table));
  free(columns);
}

static void choose_and_use(struct gpnn_table *table, char *lists[LISTS])
{
  struct gpnn_error err = {0};
  struct gpnn_schema schema = {0};
  const char *period = lists[6], *place = lists[7], *date = lists[8];
  const struct gpnn_roles roles = {.target = lists[0],
                                   .inputs = lists[1],
                                   .drop = lists[2],
                                   .one_hot = lists[3],
                                   .regressors = lists[4],
                                   .row_noise = lists[5],
                                   .n_dates = date != NULL,
                                   .dates = &date,
                                   .n_periods = period != NULL,
                                   .periods = &period,
                                   .n_locations = place != NULL,
                                   .locations = &place};
  find_list(table, lists[1]);
  enum gpnn_status status = gpnn_schema_choose(&schema, table, &roles, &err);
  if (status == GPNN_OK)
    use(&schema, table);
  else
    fuzz_expect_failure(status, &err);
  gpnn_schema_release(&schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  char *lists[LISTS];
  char *line = fuzz_line(&bytes, &length);
  fuzz_split(line, '\t', LISTS, lists);
  struct gpnn_table *table = fuzz_table(bytes, length, line[0] != '!');
  if (table != NULL) choose_and_use(table, lists);
  gpnn_table_close(table);
  free(line);
  return 0;
}
