#include "cmd/common/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/open.h"
#include "cmd/common/table.h"
#include "dataset/reader.h"
#include "table/columns.h"

/* A pool while it is read. */
struct reading {
  struct pool *pool;
  struct gpnn_table *table;
  struct gpnn_reader reader;
  const struct ids *wanted;
  const char *name; /* of the column of ids */
  size_t column;
  bool keeps_records;
};

static enum gpnn_status add_row(struct reading *r, const struct gpnn_record *record,
                                struct gpnn_error *err)
{
  struct pool *pool = r->pool;
  const size_t d = r->reader.dataset->d;
  double noise;
  size_t n_unseen = 0;
  if (!gpnn_grow(&pool->x, &pool->x_capacity, (pool->ids.n + 1) * d, sizeof *pool->x))
    return gpnn_fail_memory(err, "for the rows of a pool");
  enum gpnn_status status =
      gpnn_reader_read(&r->reader, record, pool->x + pool->ids.n * d, NULL, &noise, &n_unseen, err);
  if (status == GPNN_OK && r->keeps_records) status = gpnn_records_add(&pool->records, record, err);
  return status == GPNN_OK ? ids_add(&pool->ids, &record->fields[r->column], err) : status;
}

static enum gpnn_status read_rows(struct reading *r, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) {
    status = gpnn_table_next(r->table, &record, err);
    if (status == GPNN_OK) status = gpnn_columns_present(r->table, &record, r->column, err);
    if (status != GPNN_OK) break;
    const struct gpnn_field *id = &record.fields[r->column];
    if (r->wanted == NULL || ids_find(r->wanted, id->text, id->length) != SIZE_MAX)
      status = add_row(r, &record, err);
  }
  return status == GPNN_END ? ids_order(&r->pool->ids, gpnn_table_name(r->table), r->name, err)
                            : status;
}

/* Puts the rows that were found into the order of the list. */
static enum gpnn_status follow_list(struct reading *r, struct gpnn_error *err)
{
  const struct ids *wanted = r->wanted;
  struct pool *pool = r->pool, ordered = {.n_columns = pool->n_columns, .columns = pool->columns};
  const size_t d = r->reader.dataset->d;
  char shown[GPNN_MASK_BYTES];
  enum gpnn_status status = GPNN_OK;
  ordered.x = gpnn_alloc(wanted->n, d, sizeof *ordered.x);
  if (ordered.x == NULL) return gpnn_fail_memory(err, "for the rows of a pool");
  for (size_t i = 0; i < wanted->n && status == GPNN_OK; i++) {
    const struct gpnn_field id = {wanted->text[i], strlen(wanted->text[i])};
    const size_t row = ids_find(&pool->ids, id.text, id.length);
    if (row == SIZE_MAX) {
      status = gpnn_fail(err, GPNN_EDATA,
                         "%s: column '%s': no row has the id \"%s\", which is asked about",
                         gpnn_table_name(r->table), r->name, gpnn_mask(shown, id.text, id.length));
      break;
    }
    memcpy(ordered.x + i * d, pool->x + row * d, d * sizeof *ordered.x);
    status = ids_add(&ordered.ids, &id, err);
    if (status == GPNN_OK && r->keeps_records) {
      const struct gpnn_record record = gpnn_records_get(&pool->records, row);
      status = gpnn_records_add(&ordered.records, &record, err);
    }
  }
  if (status == GPNN_OK) status = ids_order(&ordered.ids, gpnn_table_name(r->table), r->name, err);
  pool->columns = NULL;
  pool_release(pool);
  *pool = ordered;
  return status;
}

static enum gpnn_status name_columns(struct reading *r, struct gpnn_error *err)
{
  struct pool *pool = r->pool;
  const size_t n = gpnn_table_columns(r->table);
  pool->columns = gpnn_alloc(n, 1, sizeof *pool->columns);
  if (pool->columns == NULL) return gpnn_fail_memory(err, "for the rows of a pool");
  for (; pool->n_columns < n; pool->n_columns++) {
    const char *name = gpnn_table_column(r->table, pool->n_columns);
    pool->columns[pool->n_columns] = gpnn_copy_text(name, strlen(name));
    if (pool->columns[pool->n_columns] == NULL)
      return gpnn_fail_memory(err, "for the rows of a pool");
  }
  return GPNN_OK;
}

static enum gpnn_status read_table(struct reading *r, const struct gpnn_dataset *dataset,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_columns_find(r->table, r->name, &r->column, err);
  if (status == GPNN_OK) status = gpnn_reader_open(&r->reader, dataset, r->table, false, err);
  if (status != GPNN_OK) return status;
  status = name_columns(r, err);
  if (status == GPNN_OK) status = read_rows(r, err);
  return status == GPNN_OK && r->wanted != NULL ? follow_list(r, err) : status;
}

enum gpnn_status pool_read(const struct cli *cli, const struct gpnn_dataset *dataset,
                           const char *path, const char *column, const struct ids *wanted,
                           bool keeps_records, struct pool *pool, struct gpnn_error *err)
{
  struct reading r = {
      .pool = pool, .wanted = wanted, .name = column, .keeps_records = keeps_records};
  enum gpnn_status status = open_table(cli, dataset, path, &r.table, err);
  if (status == GPNN_OK) status = read_table(&r, dataset, err);
  gpnn_reader_release(&r.reader);
  if (status == GPNN_OK) table_warn_if_torn(cli, r.table);
  gpnn_table_close(r.table);
  return status;
}

void pool_release(struct pool *pool)
{
  ids_release(&pool->ids);
  gpnn_records_release(&pool->records);
  for (size_t j = 0; pool->columns != NULL && j < pool->n_columns; j++) free(pool->columns[j]);
  free(pool->columns);
  free(pool->x);
  *pool = (struct pool){0};
}
