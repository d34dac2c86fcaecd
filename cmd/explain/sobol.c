/* sobol: shares of the variance that columns cause. */
#include "explain/sobol.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/explain/explain.h"

/* A column or a group, or two of these, and their indices. */
struct shared {
  const struct explain_item *item, *other; /* NULL: it is no pair */
  struct gpnn_sobol_index index;
};

/* The most important first, pairs after the others by their interaction; those that are alike in
 * the order of the table. */
static int compare(const void *a, const void *b)
{
  const struct shared *p = a, *q = b;
  bool is_pair = p->other != NULL;
  if (is_pair != (q->other != NULL)) return is_pair ? 1 : -1;
  double left = is_pair ? p->index.first.mean : p->index.total.mean;
  double right = is_pair ? q->index.first.mean : q->index.total.mean;
  if (left != right) return left > right ? -1 : 1;
  if (p->item != q->item) return p->item < q->item ? -1 : 1;
  return p->other < q->other ? -1 : p->other > q->other;
}

static void write_index(struct sheet *sheet, const struct shared *shared)
{
  const struct gpnn_sobol_index *index = &shared->index;
  char name[2 * GPNN_MASK_BYTES];
  snprintf(name, sizeof name, "%s%s%s", shared->item->name, shared->other != NULL ? ":" : "",
           shared->other != NULL ? shared->other->name : "");
  sheet_begin(sheet);
  sheet_text(sheet, "column", name);
  sheet_number(sheet, "first", index->first.mean);
  sheet_number(sheet, "first_lower", index->first.lower);
  sheet_number(sheet, "first_upper", index->first.upper);
  sheet_number(sheet, "total", index->total.mean);
  sheet_number(sheet, "total_lower", index->total.lower);
  sheet_number(sheet, "total_upper", index->total.upper);
  sheet_end(sheet);
}

static enum gpnn_status write_all(const struct explaining *e, size_t n, struct shared *shared,
                                  double variance, struct gpnn_error *err)
{
  struct sheet sheet;
  cli_say(e->cli, "variance of the function %.4g if the columns were independent", variance);
  qsort(shared, n, sizeof *shared, compare);
  sheet_open(&sheet, e->cli, e->a->json);
  if (e->a->json) json_number(&sheet.json, "variance", variance);
  sheet_lines(&sheet, "column,first,first_lower,first_upper,total,total_lower,total_upper",
              "columns");
  for (size_t k = 0; k < n; k++) write_index(&sheet, &shared[k]);
  return sheet_close(&sheet, GPNN_OK, err);
}

enum gpnn_status explain_sobol(struct explaining *e, struct gpnn_error *err)
{
  enum { USUAL = 512 };
  const struct explain_arguments *a = e->a;
  const struct gpnn_sobol_options options = {.inputs = a->distribution,
                                             .n_rows = a->rows > 0 ? a->rows : USUAL,
                                             .n_draws = a->samples,
                                             .level = a->interval.p[0],
                                             .pairs = a->pairs,
                                             .seed = e->cli->seed};
  struct explain_items items = {0};
  double variance = 0;
  if (options.n_rows < 2) return gpnn_fail(err, GPNN_EINVAL, "sobol needs more rows than one (-c)");
  enum gpnn_status status = explain_find_items(e, &items, err);
  size_t n = items.n, n_all = n + (a->pairs && n > 0 ? n * (n - 1) / 2 : 0);
  struct gpnn_sobol_index *indices = gpnn_alloc(n_all, 1, sizeof *indices);
  struct shared *shared = gpnn_alloc(n_all, 1, sizeof *shared);
  const struct gpnn_explain_group **chosen = gpnn_alloc(n, 1, sizeof(void *));
  if (status == GPNN_OK && (indices == NULL || shared == NULL || chosen == NULL))
    status = gpnn_fail_memory(err, "for the columns");
  for (size_t k = 0; k < n && status == GPNN_OK; k++) chosen[k] = &items.of[k].group;
  if (status == GPNN_OK)
    status = gpnn_sobol_find(e->model, e->view, &items.columns, n, chosen, &options, indices,
                             &variance, err);
  for (size_t k = 0; k < n_all && status == GPNN_OK; k++) {
    size_t left = k, right = n;
    if (k >= n) gpnn_sobol_pair(n, k - n, &left, &right);
    shared[k] = (struct shared){&items.of[left], right < n ? &items.of[right] : NULL, indices[k]};
  }
  if (status == GPNN_OK) status = write_all(e, n_all, shared, variance, err);
  free(indices);
  free(shared);
  free(chosen);
  explain_items_release(&items);
  return status;
}
