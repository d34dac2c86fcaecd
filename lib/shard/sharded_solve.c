/*
 * The rows that a rank solves: what others send it of their neighbours, and what comes of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "search/nearest.h"
#include "shard/sharded_private.h"

/* ---- what is sent --------------------------------------------------------------------------- */

/* What a message begins with: packed rows, links and queries follow. */
struct parcel {
  uint64_t n_rows, n_links, n_queries;
};

/* The parts of a message; of an empty one there are none. */
struct parts {
  struct parcel n;
  const double *rows, *queries;
  const struct gpnn_shard_link *links;
};

static struct parts open_parcel(const struct gpnn_message *message, size_t width)
{
  struct parts parts = {.n = {0, 0, 0}};
  if (message->length == 0) return parts;
  memcpy(&parts.n, message->bytes, sizeof parts.n);
  parts.rows = (const double *)(const void *)(message->bytes + sizeof parts.n);
  parts.links = (const struct gpnn_shard_link *)(const void *)(parts.rows + parts.n.n_rows * width);
  parts.queries = (const double *)(const void *)(parts.links + parts.n.n_links);
  return parts;
}

/* Sorts 'n' of the 'order', whose distances are numbers of rows, which are whole, and drops those
 * that are there already; returns how many are left.  'spare' has room for n. */
static size_t sort_numbers(size_t n, struct gpnn_neighbour *order, struct gpnn_neighbour *spare)
{
  size_t kept = 0;
  gpnn_nearest_sort(n, order, spare);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || order[i].distance > order[kept - 1].distance) order[kept++] = order[i];
  return kept;
}

enum gpnn_status gpnn_shard_pack(const struct gpnn_shard_task *task,
                                 const struct gpnn_shard_needed *needed,
                                 struct gpnn_message *message, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = task->channel.dataset;
  const size_t width = gpnn_rows_width(data);
  struct parcel parcel = {.n_links = needed->links == NULL ? 0 : needed->n,
                          .n_queries = needed->n_queries};
  if (needed->n == 0 && needed->n_queries == 0) return GPNN_OK;
  struct gpnn_neighbour *order = gpnn_alloc(needed->n, 2, sizeof *order);
  if (order == NULL) return gpnn_fail_memory(err, "for neighbours");
  for (size_t i = 0; i < needed->n; i++)
    order[i] = (struct gpnn_neighbour){(double)needed->rows[i], (int64_t)needed->rows[i]};
  size_t n = parcel.n_rows = sort_numbers(needed->n, order, order + needed->n);
  size_t rows_bytes = n * width * sizeof(double),
         links_bytes = parcel.n_links * sizeof *needed->links,
         queries_bytes = needed->queries_length * sizeof(double);
  message->length = sizeof parcel + rows_bytes + links_bytes + queries_bytes;
  message->bytes = malloc(message->length);
  if (message->bytes != NULL) {
    memcpy(message->bytes, &parcel, sizeof parcel);
    double *packed = (double *)(void *)(message->bytes + sizeof parcel);
    for (size_t i = 0; i < n; i++)
      gpnn_rows_pack(data, (size_t)order[i].row, (double)task->shard->number[order[i].row],
                     packed + i * width);
    unsigned char *behind = (unsigned char *)(packed + n * width);
    if (links_bytes > 0) memcpy(behind, needed->links, links_bytes);
    if (queries_bytes > 0) memcpy(behind + links_bytes, needed->queries, queries_bytes);
  } else {
    message->length = 0;
  }
  free(order);
  return message->bytes != NULL ? GPNN_OK : gpnn_fail_memory(err, "for neighbours");
}

/* Lists packed rows by their numbers, and returns how many they are; 'first' is the number of the
 * first of them in 'list'. */
static size_t list_packed(size_t n, size_t width, const double *packed, size_t first,
                          const double **list, struct gpnn_neighbour *order)
{
  for (size_t i = 0; i < n; i++) {
    list[first + i] = packed + i * width;
    order[first + i] = (struct gpnn_neighbour){packed[i * width], (int64_t)(first + i)};
  }
  return n;
}

enum gpnn_status gpnn_shard_unite(const struct gpnn_shard_task *task, size_t n_messages,
                                  const struct gpnn_message *messages, struct gpnn_rows *rows,
                                  struct gpnn_error *err)
{
  size_t width = gpnn_rows_width(task->channel.dataset), n = task->n_fixed, at;
  const double **list;
  struct gpnn_neighbour *order, *spare;
  for (size_t r = 0; r < n_messages; r++) n += open_parcel(&messages[r], width).n.n_rows;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(list, n, 1), GPNN_ARRAY(order, n, 1), GPNN_ARRAY(spare, n, 1));
  if (arrays == NULL) return gpnn_fail_memory(err, "for neighbours");
  at = list_packed(task->n_fixed, width, task->fixed, 0, list, order);
  for (size_t r = 0; r < n_messages; r++) {
    struct parts parts = open_parcel(&messages[r], width);
    at += list_packed(parts.n.n_rows, width, parts.rows, at, list, order);
  }
  n = sort_numbers(n, order, spare);
  enum gpnn_status status = gpnn_rows_new(rows, task->channel.dataset, n, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) gpnn_rows_set(rows, i, list[order[i].row]);
  if (status == GPNN_OK) rows->dataset.is_partial = true; /* the search is that of all rows */
  gpnn_arrays_free(arrays);
  return status;
}

/* ---- candidates ----------------------------------------------------------------------------- */

/* Which of 'n' ascending numbers is 'number', which is among them. */
static int64_t place_of(size_t n, const double *numbers, double number)
{
  size_t first = 0;
  while (n > 1) {
    size_t half = n / 2;
    first += numbers[first + half] <= number ? half : 0;
    n -= half;
  }
  return (int64_t)first;
}

/* What this rank solves, and whence. */
struct work {
  const struct gpnn_shard_task *task;
  const struct gpnn_shard_batch *batch;
  size_t n_messages;
  const struct gpnn_message *messages;
  struct gpnn_shard_solved *solved;
  size_t *base;           /* n_messages: the rows of the ranks before each */
  double *x, *regressors; /* of the rows to solve */
};

/* The links of 'n' rows to solve, row by row. */
struct links {
  size_t *end;                           /* n + 1: of those of the rows before */
  struct gpnn_neighbour *all, *spare;    /* end[n] of each */
  struct gpnn_arrays *ends, *neighbours; /* owned: those above */
};

/* Which row to solve a link is of. */
static size_t row_of(const struct work *work, const struct gpnn_shard_link *link)
{
  return work->base[link->of >> 32] + (uint32_t)link->of;
}

/* Sorts the links that were received by rows. */
static enum gpnn_status collect_links(const struct work *work, struct links *links,
                                      struct gpnn_error *err)
{
  size_t width = gpnn_rows_width(work->task->channel.dataset), n = work->solved->n;
  links->ends = GPNN_ARRAYS(GPNN_ARRAY(links->end, n + 1, 1));
  if (links->ends == NULL) return gpnn_fail_memory(err, "for neighbours");
  for (size_t r = 0; r < work->n_messages; r++) {
    const struct parts parts = open_parcel(&work->messages[r], width);
    for (size_t i = 0; i < parts.n.n_links; i++) links->end[row_of(work, &parts.links[i]) + 1]++;
  }
  for (size_t q = 0; q < n; q++) links->end[q + 1] += links->end[q];
  links->neighbours = GPNN_ARRAYS(GPNN_ARRAY(links->all, links->end[n], 1),
                                  GPNN_ARRAY(links->spare, links->end[n], 1));
  if (links->neighbours == NULL) return gpnn_fail_memory(err, "for neighbours");
  for (size_t r = 0; r < work->n_messages; r++) {
    const struct parts parts = open_parcel(&work->messages[r], width);
    for (size_t i = 0; i < parts.n.n_links; i++)
      links->all[links->end[row_of(work, &parts.links[i])]++] = parts.links[i].neighbour;
  }
  return GPNN_OK;
}

/* Finds the 'm' nearest of 'rows' to each of the rows to solve by their links. */
static enum gpnn_status find_candidates(const struct work *work, size_t m,
                                        const struct gpnn_rows *rows, int64_t *candidates,
                                        struct gpnn_error *err)
{
  struct links links = {.end = NULL};
  enum gpnn_status status = collect_links(work, &links, err);
  for (size_t q = 0, begin = 0; q < work->solved->n && status == GPNN_OK; begin = links.end[q++]) {
    struct gpnn_neighbour *own = links.all + begin;
    gpnn_nearest_sort(links.end[q] - begin, own, links.spare);
    for (size_t a = 0; a < m; a++)
      candidates[q * m + a] = place_of(rows->dataset.n, rows->numbers, (double)own[a].row);
  }
  gpnn_arrays_free(links.ends);
  gpnn_arrays_free(links.neighbours);
  return status;
}

/* ---- solving -------------------------------------------------------------------------------- */

void gpnn_shard_latent_arrays(struct gpnn_latent *latent, double **arrays[GPNN_SHARD_ARRAYS])
{
  arrays[0] = &latent->mean;
  arrays[1] = &latent->variance;
  arrays[2] = &latent->mean_variance;
  arrays[3] = &latent->misfit;
  arrays[4] = &latent->nearest;
  arrays[5] = &latent->share;
}

size_t gpnn_shard_n_arrays(unsigned wanted)
{
  size_t n = 0;
  for (unsigned a = 0; a < GPNN_SHARD_ARRAYS; a++) n += wanted >> a & 1U;
  return n;
}

size_t gpnn_shard_n_classes(const struct gpnn_shard_task *task, unsigned wanted)
{
  return (wanted & GPNN_SHARD_CLASSES) != 0 ? gpnn_dataset_n_classes(&task->seen) : 0;
}

/* Takes the rows to solve out of the messages, in the order of ranks. */
static enum gpnn_status take_queries(struct work *work, struct gpnn_error *err)
{
  struct gpnn_shard_solved *solved = work->solved;
  size_t d = work->task->channel.dataset->d, p = work->batch->n_regressors, at = 0;
  size_t width = gpnn_rows_width(work->task->channel.dataset), n = 0;
  size_t n_values = gpnn_shard_n_arrays(work->batch->wanted) +
                    gpnn_shard_n_classes(work->task, work->batch->wanted);
  for (size_t r = 0; r < work->n_messages; r++)
    n += open_parcel(&work->messages[r], width).n.n_queries;
  solved->arrays = GPNN_ARRAYS(GPNN_ARRAY(solved->home, n, 1), GPNN_ARRAY(solved->index, n, 1),
                               GPNN_ARRAY(solved->values, n, n_values),
                               GPNN_ARRAY(work->base, work->n_messages, 1),
                               GPNN_ARRAY(work->x, n, d), GPNN_ARRAY(work->regressors, n, p));
  if (solved->arrays == NULL) return gpnn_fail_memory(err, "for rows to predict");
  solved->n = n;
  for (size_t r = 0; r < work->n_messages; r++) {
    const struct parts parts = open_parcel(&work->messages[r], width);
    const double *query = parts.queries;
    work->base[r] = at;
    for (size_t i = 0; i < parts.n.n_queries; i++, at++, query += 2 + d + p) {
      solved->home[at] = (size_t)query[0];
      solved->index[at] = (size_t)query[1];
      memcpy(work->x + at * d, query + 2, d * sizeof *query);
      if (p > 0) memcpy(work->regressors + at * p, query + 2 + d, p * sizeof *query);
    }
  }
  return GPNN_OK;
}

static enum gpnn_status solve(struct work *work, struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_shard_task *task = work->task;
  size_t n = work->solved->n, m = task->metrics[0].neighbours;
  double **arrays[GPNN_SHARD_ARRAYS], *values = work->solved->values;
  struct gpnn_rows rows = {.numbers = NULL};
  struct gpnn_model *model = NULL;
  struct gpnn_latent latent = {.atom = &work->batch->atom};
  struct gpnn_query query = {
      .n = n, .x = work->x, .regressors = work->batch->n_regressors > 0 ? work->regressors : NULL};
  gpnn_shard_latent_arrays(&latent, arrays);
  for (size_t a = 0; a < GPNN_SHARD_ARRAYS; a++)
    if (work->batch->wanted >> a & 1U) {
      *arrays[a] = values;
      values += n;
    }
  int64_t *candidates = gpnn_alloc(task->base != NULL ? n : 0, m, sizeof *candidates);
  enum gpnn_status status =
      candidates == NULL ? gpnn_fail_memory(err, "for neighbours")
                         : gpnn_shard_unite(task, work->n_messages, work->messages, &rows, err);
  const struct gpnn_channel channel = {&rows.dataset, task->parameters};
  if (status == GPNN_OK && task->base != NULL) {
    query.candidates = candidates;
    query.n_candidates = m;
    status = find_candidates(work, m, &rows, candidates, err);
    if (status == GPNN_OK) status = gpnn_model_with(task->base, &channel, &model, err);
  } else if (status == GPNN_OK) {
    status = gpnn_model_new(&model, 1, &channel, &task->options, err);
  }
  if (status == GPNN_OK)
    status = gpnn_shard_n_classes(task, work->batch->wanted) > 0
                 ? gpnn_model_classify(model, 0, &query, values, latent.nearest, counts, err)
                 : gpnn_model_predict(model, &query, &latent, counts, err);
  gpnn_model_free(model);
  gpnn_rows_release(&rows);
  free(candidates);
  return status;
}

enum gpnn_status gpnn_shard_solve(const struct gpnn_shard_task *task,
                                  const struct gpnn_shard_batch *batch, size_t n_messages,
                                  const struct gpnn_message *messages,
                                  struct gpnn_shard_solved *solved, struct gpnn_counts *counts,
                                  struct gpnn_error *err)
{
  struct work work = {task, batch, n_messages, messages, solved, .base = NULL};
  enum gpnn_status status = take_queries(&work, err);
  return status == GPNN_OK && solved->n > 0 ? solve(&work, counts, err) : status;
}

enum gpnn_status gpnn_shard_classify_none(const struct gpnn_shard_task *task,
                                          const struct gpnn_query *query, double *p,
                                          double *nearest, struct gpnn_counts *counts,
                                          struct gpnn_error *err)
{
  struct gpnn_rows rows = {.numbers = NULL};
  struct gpnn_model *model = NULL;
  if (task->base != NULL) return gpnn_model_classify(task->base, 0, query, p, nearest, counts, err);
  enum gpnn_status status = gpnn_shard_unite(task, 0, NULL, &rows, err);
  const struct gpnn_channel channel = {&rows.dataset, task->parameters};
  if (status == GPNN_OK) status = gpnn_model_new(&model, 1, &channel, &task->options, err);
  if (status == GPNN_OK) status = gpnn_model_classify(model, 0, query, p, nearest, counts, err);
  gpnn_model_free(model);
  gpnn_rows_release(&rows);
  return status;
}
