#include "data/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/columns.h"

/* What reading needs besides the rows. */
struct reading {
  const struct gpnn_index_contents *contents;
  struct gpnn_columns_map map;
  struct gpnn_table *table;
  const char *na;
  bool inputs_only;
  double *features; /* one row as the table has it */
};

static enum gpnn_status read_row(struct gpnn_rows *rows, struct reading *r, struct gpnn_error *err)
{
  const struct gpnn_standard *standard = &r->contents->standard;
  struct gpnn_record record;
  size_t n_unseen = 0, at = rows->n * standard->n_out;
  enum gpnn_status status = gpnn_table_next(r->table, &record, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&rows->x, &rows->x_capacity, at + standard->n_out, sizeof *rows->x) ||
      (!r->inputs_only && !gpnn_grow(&rows->y, &rows->y_capacity, rows->n + 1, sizeof *rows->y)))
    return gpnn_fail_memory(err, "for the rows");
  double y = 0;
  if (!r->inputs_only)
    status = gpnn_columns_number(r->table, &record, r->map.target, r->na, &y, err);
  if (status == GPNN_OK)
    status = gpnn_schema_encode(&r->contents->schema, &r->map, r->table, &record, r->na,
                                r->features, &n_unseen, err);
  if (status != GPNN_OK) return status;
  gpnn_standard_apply(standard, r->features, rows->x + at);
  if (!r->inputs_only) rows->y[rows->n] = (y - standard->y_mean) / standard->y_sd;
  rows->n++;
  return GPNN_OK;
}

enum gpnn_status gpnn_rows_read(struct gpnn_rows *rows, const struct gpnn_index_contents *contents,
                                struct gpnn_table *table, const char *na, bool inputs_only,
                                bool skip_bad, struct gpnn_error *err)
{
  struct reading r = {.contents = contents, .table = table, .na = na, .inputs_only = inputs_only};
  enum gpnn_status status = gpnn_schema_match(&contents->schema, table, &r.map, err);
  if (status == GPNN_OK && !inputs_only && !r.map.has_target)
    status = gpnn_fail(err, GPNN_EMISMATCH, "%s: no column '%s', the target",
                       gpnn_table_name(table), contents->schema.target.name);
  if (status == GPNN_OK) {
    r.features = gpnn_alloc(contents->standard.n_in, 1, sizeof *r.features);
    if (r.features == NULL) status = gpnn_fail_memory(err, "for the rows");
  }
  while (status == GPNN_OK) {
    status = read_row(rows, &r, err);
    if (status == GPNN_EDATA && skip_bad) {
      rows->n_skipped++;
      status = GPNN_OK;
    }
  }
  free(r.features);
  gpnn_columns_map_release(&r.map);
  return status == GPNN_END ? GPNN_OK : status;
}

static void swap(double *a, double *b)
{
  double t = *a;
  *a = *b;
  *b = t;
}

void gpnn_rows_shuffle(struct gpnn_rows *rows, size_t d, uint64_t seed)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_GIVEN_ROWS);
  for (size_t i = rows->n; i > 1; i--) {
    size_t k = (size_t)gpnn_rng_below(&rng, i);
    swap(&rows->y[k], &rows->y[i - 1]);
    for (size_t j = 0; j < d; j++) swap(&rows->x[k * d + j], &rows->x[(i - 1) * d + j]);
  }
}

void gpnn_rows_release(struct gpnn_rows *rows)
{
  free(rows->x);
  free(rows->y);
  memset(rows, 0, sizeof *rows);
}
