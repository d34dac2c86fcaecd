/*
 * The nearest of those training rows that remain when others are left out, by looking at all of
 * them: a search can leave out neither balls nor clusters.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "kernel/rotation.h"
#include "models/local/holdout_private.h"

enum gpnn_status gpnn_scan_init(struct gpnn_scan *scan, const struct gpnn_local_channel *channel,
                                size_t k, int threads, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = channel->data;
  const double *rotation = channel->params->covariance.rotation;
  *scan = (struct gpnn_scan){
      .data = data, .x = data->x, .inverse = channel->metric->inverse, .k = k, .threads = threads};
  scan->heap = gpnn_alloc((size_t)threads, k, sizeof *scan->heap);
  if (scan->heap == NULL) return gpnn_fail_memory(err, "for calibration");
  if (rotation == NULL) return GPNN_OK;
  scan->rotated = gpnn_alloc(data->n, data->d, sizeof *scan->rotated);
  if (scan->rotated == NULL) return gpnn_fail_memory(err, "for rotated training rows");
  gpnn_rotation_apply(data->d, rotation, data->n, data->x, scan->rotated);
  scan->x = scan->rotated;
  return GPNN_OK;
}

void gpnn_scan_release(struct gpnn_scan *scan)
{
  free(scan->rotated);
  free(scan->heap);
}

static bool is_nearer(struct gpnn_ranked_row a, struct gpnn_ranked_row b)
{
  return a.r2 < b.r2 || (a.r2 == b.r2 && a.row < b.row);
}

int gpnn_ranked_row_compare(const void *a, const void *b)
{
  const struct gpnn_ranked_row *left = a, *right = b;
  return is_nearer(*left, *right) ? -1 : is_nearer(*right, *left);
}

/* Replaces the top of a heap of 'n' with the farthest on top. */
static void replace_top(struct gpnn_ranked_row *heap, size_t n, struct gpnn_ranked_row item)
{
  size_t at = 0;
  for (size_t child = 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && is_nearer(heap[child], heap[child + 1])) child++;
    if (!is_nearer(item, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}

double gpnn_scan_distance(const struct gpnn_scan *scan, const double *x, size_t row)
{
  size_t d = scan->data->d;
  const double *y = scan->x + row * d;
  double r2 = 0;
  for (size_t j = 0; j < d; j++) {
    double scaled = (x[j] - y[j]) * scan->inverse[j];
    r2 += scaled * scaled;
  }
  return r2;
}

static bool remains(const struct gpnn_scan *scan, const struct gpnn_left_out *left_out, size_t row)
{
  int64_t key = (int64_t)row;
  if (left_out->centre != NULL &&
      gpnn_scan_distance(scan, left_out->centre, row) < left_out->ball_r2)
    return false;
  return left_out->n == 0 ||
         bsearch(&key, left_out->row, left_out->n, sizeof key, gpnn_compare_int64s) == NULL;
}

void gpnn_scan_find(const struct gpnn_scan *scan, size_t thread, const double *x,
                    const struct gpnn_left_out *left_out, int64_t *found)
{
  struct gpnn_ranked_row *heap = scan->heap + thread * scan->k;
  for (size_t a = 0; a < scan->k; a++) heap[a] = (struct gpnn_ranked_row){INFINITY, INT64_MAX};
  for (size_t i = 0; i < scan->data->n; i++) {
    struct gpnn_ranked_row item = {gpnn_scan_distance(scan, x, i), (int64_t)i};
    if (is_nearer(item, heap[0]) && remains(scan, left_out, i)) replace_top(heap, scan->k, item);
  }
  qsort(heap, scan->k, sizeof *heap, gpnn_ranked_row_compare);
  for (size_t a = 0; a < scan->k; a++) found[a] = heap[a].row == INT64_MAX ? -1 : heap[a].row;
}
