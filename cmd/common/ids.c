#include "cmd/common/ids.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/table.h"
#include "table/columns.h"

/* An id with its number. */
struct numbered {
  const char *text;
  size_t number;
};

static int compare_numbered(const void *a, const void *b)
{
  const struct numbered *p = a, *q = b;
  int order = strcmp(p->text, q->text);
  return order != 0 ? order : (p->number > q->number) - (p->number < q->number);
}

enum gpnn_status ids_add(struct ids *ids, const struct gpnn_field *field, struct gpnn_error *err)
{
  char *text = gpnn_copy_text(field->text, field->length);
  if (text == NULL || !gpnn_grow(&ids->text, &ids->capacity, ids->n + 1, sizeof *ids->text)) {
    free(text);
    return gpnn_fail_memory(err, "for ids");
  }
  ids->text[ids->n++] = text;
  return GPNN_OK;
}

enum gpnn_status ids_order(struct ids *ids, const char *name, const char *column,
                           struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  struct numbered *all = gpnn_alloc(ids->n, 1, sizeof *all);
  ids->ordered = gpnn_alloc(ids->n, 1, sizeof *ids->ordered);
  enum gpnn_status status = GPNN_OK;
  if (all == NULL || ids->ordered == NULL) status = gpnn_fail_memory(err, "for ids");
  for (size_t i = 0; i < ids->n && status == GPNN_OK; i++)
    all[i] = (struct numbered){ids->text[i], i};
  if (status == GPNN_OK) qsort(all, ids->n, sizeof *all, compare_numbered);
  for (size_t i = 0; i < ids->n && status == GPNN_OK; i++) {
    ids->ordered[i] = all[i].number;
    if (i > 0 && strcmp(all[i - 1].text, all[i].text) == 0)
      status = gpnn_fail(err, GPNN_EDATA, "%s: column '%s': two rows have the id \"%s\"", name,
                         column, gpnn_mask(shown, all[i].text, strlen(all[i].text)));
  }
  free(all);
  return status;
}

size_t ids_find(const struct ids *ids, const char *text, size_t length)
{
  size_t low = 0, high = ids->n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2, number = ids->ordered[middle];
    int order = strncmp(ids->text[number], text, length);
    if (order == 0 && ids->text[number][length] == '\0') return number;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return SIZE_MAX;
}

static enum gpnn_status read_ids(struct gpnn_table *table, const char *name, struct ids *ids,
                                 struct gpnn_error *err)
{
  struct gpnn_record record;
  size_t column = 0;
  enum gpnn_status status = gpnn_columns_find(table, name, &column, err);
  while (status == GPNN_OK) {
    status = gpnn_table_next(table, &record, err);
    if (status == GPNN_OK) status = gpnn_columns_present(table, &record, column, err);
    if (status == GPNN_OK) status = ids_add(ids, &record.fields[column], err);
  }
  return status == GPNN_END ? ids_order(ids, gpnn_table_name(table), name, err) : status;
}

enum gpnn_status ids_read(const struct cli *cli, const char *path, const char *column,
                          struct ids *ids, struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, path, &cli->table, err);
  if (status == GPNN_OK) status = read_ids(table, column, ids, err);
  if (status == GPNN_OK) table_warn_if_torn(cli, table);
  gpnn_table_close(table);
  return status;
}

void ids_release(struct ids *ids)
{
  for (size_t i = 0; i < ids->n; i++) free(ids->text[i]);
  free(ids->text);
  free(ids->ordered);
  *ids = (struct ids){0};
}
