#include "estimate/near.h"

#include <stdlib.h>

#include "base/memory.h"

static void release(struct gpnn_near_lists *lists)
{
  free(lists->row);
  free(lists->distance);
  *lists = (struct gpnn_near_lists){0};
}

void gpnn_near_release(struct gpnn_near *near)
{
  release(&near->kept[0]);
  release(&near->kept[1]);
  release(&near->once);
}

static bool has(const struct gpnn_near_lists *lists, const struct gpnn_near_query *query)
{
  return lists->n >= query->n && lists->k >= query->k;
}

static enum gpnn_status search(const struct gpnn_near_query *query,
                               const struct gpnn_search_options *how, struct gpnn_near_lists *lists,
                               struct gpnn_error *err)
{
  struct gpnn_search *search = NULL;
  release(lists);
  lists->row = gpnn_alloc(query->n, query->k, sizeof *lists->row);
  lists->distance = gpnn_alloc(query->n, query->k, sizeof *lists->distance);
  enum gpnn_status status =
      lists->row == NULL || lists->distance == NULL
          ? gpnn_fail_memory(err, "for neighbours")
          : gpnn_search_build(&search, query->n_rows, query->d, query->rows, how, err);
  if (status == GPNN_OK)
    status = gpnn_search_query(search, query->n, query->x, query->k, lists->row, lists->distance,
                               how->threads, err);
  gpnn_search_free(search);
  if (status == GPNN_OK) {
    lists->n = query->n;
    lists->k = query->k;
  }
  return status;
}

enum gpnn_status gpnn_near_find(struct gpnn_near *near, const struct gpnn_near_query *query,
                                const struct gpnn_near_lists **lists, struct gpnn_error *err)
{
  const struct gpnn_search_metric plain = {NULL, NULL};
  struct gpnn_search_options how = *query->how;
  struct gpnn_near_lists *to = &near->once, *first = &near->kept[0];
  if (gpnn_search_same_metric(query->d, plain,
                              (struct gpnn_search_metric){how.lengthscale, how.rotation})) {
    how.lengthscale = NULL;
    to = first->n <= query->n && first->k <= query->k ? first : &near->kept[1];
    for (size_t i = 0; i < 2; i++)
      if (has(&near->kept[i], query)) to = &near->kept[i];
  }
  *lists = to;
  return to != &near->once && has(to, query) ? GPNN_OK : search(query, &how, to, err);
}
