/*
 * A batch of rows to predict: who has the neighbours of each, and who solves it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "search/nearest.h"
#include "shard/sharded_private.h"

/* A neighbour of a row of the batch, by its number among all rows. */
struct link {
  uint64_t of;
  struct gpnn_neighbour neighbour;
};

/* Local rows that a rank needs to solve its share, in the order in which they were found, and whose
 * neighbours they are; owned. */
struct needed {
  size_t n, capacity, links_capacity;
  uint64_t *rows;
  struct link *links; /* NULL: it searches itself */
};

struct work {
  const struct gpnn_shard_task *task;
  const struct gpnn_shard_batch *batch;
  struct gpnn_comm *comm;
  size_t *owner;         /* batch->n and up to comm->size more: of the member at hand */
  size_t *solver;        /* batch->n */
  double *distance;      /* batch->n: squared, of this rank's box */
  double *bound;         /* batch->n: squared, of the farthest neighbours */
  double *within;        /* batch->n: the bounds of those that are asked for */
  size_t *row;           /* batch->n: those that are asked for */
  double *x;             /* batch->n by d: them */
  struct needed *needed; /* comm->size */
  struct gpnn_message *send, *receive; /* comm->size of each */
  uint64_t asked, sent;                /* rows searched for; what was sent before */
  struct gpnn_arrays *arrays;          /* owned: those above */
};

static enum gpnn_status work_init(struct work *work, struct gpnn_error *err)
{
  size_t n = work->batch->n, size = work->comm->size, d = work->task->channel.dataset->d;
  work->arrays = GPNN_ARRAYS(GPNN_ARRAY(work->owner, n + size, 1), GPNN_ARRAY(work->solver, n, 1),
                             GPNN_ARRAY(work->distance, n, 1), GPNN_ARRAY(work->bound, n, 1),
                             GPNN_ARRAY(work->within, n, 1), GPNN_ARRAY(work->row, n, 1),
                             GPNN_ARRAY(work->x, n, d), GPNN_ARRAY(work->needed, size, 1),
                             GPNN_ARRAY(work->send, size, 1), GPNN_ARRAY(work->receive, size, 1));
  return work->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for a batch");
}

static void work_release(struct work *work)
{
  if (work->arrays == NULL) return;
  for (size_t r = 0; r < work->comm->size; r++) {
    free(work->needed[r].rows);
    free(work->needed[r].links);
  }
  gpnn_messages_release(work->comm->size, work->send);
  gpnn_messages_release(work->comm->size, work->receive);
  gpnn_arrays_free(work->arrays);
}

/* ---- owners and solvers --------------------------------------------------------------------- */

static double box_distance(size_t d, const double *z, const double *box)
{
  double sum = 0;
  for (size_t j = 0; j < d; j++) {
    double outside = fmax(fmax(box[j] - z[j], z[j] - box[d + j]), 0);
    sum += outside * outside;
  }
  return sum;
}

/* How far rounding may have moved the coordinates of a row and a box, squared. */
static double slack(size_t d, const double *z)
{
  const double rounding = 1e-12;
  double sum = 0;
  for (size_t j = 0; j < d; j++) sum += z[j] * z[j];
  return rounding * rounding * sum;
}

/* Finds whose box is the nearest to each row, the same on all ranks, of which each looks for the
 * owners of its part of the batch, and how far this rank's is. */
static void find_owners(struct work *work, const struct gpnn_shard_metric *metric, double *z)
{
  size_t n = work->batch->n, size = work->comm->size, rank = work->comm->rank;
  size_t d = work->task->channel.dataset->d, part = (n + size - 1) / size;
  for (size_t i = 0; i < n; i++) {
    gpnn_shard_place(metric->search, d, work->batch->x + i * d, z);
    double own = box_distance(d, z, metric->boxes + rank * 2 * d);
    work->distance[i] = fmax(own - slack(d, z), 0);
    if (i / part != rank) continue;
    size_t *owner = &work->row[i % part];
    double least = INFINITY;
    for (size_t r = 0; r < size; r++) {
      double distance = box_distance(d, z, metric->boxes + r * 2 * d);
      if (r == 0 || distance < least) *owner = r;
      least = fmin(least, distance);
    }
  }
  gpnn_comm_share(work->comm, work->row, part * sizeof *work->row, work->owner);
}

/* Lets owners solve their rows, and others those that are more than a rank's share. */
static void find_solvers(struct work *work)
{
  size_t size = work->comm->size, n = work->batch->n, most = (n + size - 1) / size, next = 0;
  size_t *count = work->row; /* scratch; size is at most n, or else rows go one by one */
  if (size > n) {
    for (size_t i = 0; i < n; i++) work->solver[i] = work->owner[i];
    return;
  }
  memset(count, 0, size * sizeof *count);
  for (size_t i = 0; i < n; i++) {
    work->solver[i] = count[work->owner[i]] < most ? work->owner[i] : SIZE_MAX;
    if (work->solver[i] != SIZE_MAX) count[work->solver[i]]++;
  }
  for (size_t i = 0; i < n; i++) {
    if (work->solver[i] != SIZE_MAX) continue;
    while (count[next] == most) next++;
    work->solver[i] = next;
    count[next]++;
  }
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* Notes local row 'row' as a neighbour of row 'of' of the batch. */
static enum gpnn_status need(struct work *work, size_t of, struct gpnn_neighbour found,
                             struct gpnn_error *err)
{
  struct needed *needed = &work->needed[work->solver[of]];
  bool is_linked = work->task->base != NULL;
  if (!gpnn_grow(&needed->rows, &needed->capacity, needed->n + 1, sizeof *needed->rows) ||
      (is_linked &&
       !gpnn_grow(&needed->links, &needed->links_capacity, needed->n + 1, sizeof *needed->links)))
    return gpnn_fail_memory(err, "for neighbours");
  needed->rows[needed->n] = (uint64_t)found.row;
  found.row = (int64_t)work->task->shard->number[found.row];
  if (is_linked) needed->links[needed->n] = (struct link){of, found};
  needed->n++;
  return GPNN_OK;
}

/* What a search has found. */
struct found {
  const size_t *asked; /* n: rows of the batch */
  size_t n, k;
  const int64_t *rows;     /* n by k */
  const double *distances; /* n by k */
};

/* Notes the neighbours of rows within the bounds; the owner sets these, and 'wanted' is then the
 * number of neighbours, else 0. */
static enum gpnn_status note(struct work *work, struct found found, size_t wanted,
                             struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t q = 0; q < found.n; q++) {
    size_t i = found.asked[q];
    const double *distances = found.distances + q * found.k;
    if (wanted > 0) work->bound[i] = found.k < wanted ? INFINITY : distances[found.k - 1];
    for (size_t a = 0; a < found.k && status == GPNN_OK; a++)
      if (distances[a] <= work->bound[i])
        status =
            need(work, i, (struct gpnn_neighbour){distances[a], found.rows[q * found.k + a]}, err);
  }
  return status;
}

/* Searches this rank's rows for the neighbours of 'n' rows, work->row. */
static enum gpnn_status search(struct work *work, const struct gpnn_shard_metric *metric, size_t n,
                               bool is_owner, struct gpnn_error *err)
{
  enum { TOGETHER = 1024 };
  const struct gpnn_dataset *data = work->task->channel.dataset;
  size_t d = data->d, k = metric->neighbours < data->n ? metric->neighbours : data->n;
  int64_t *rows = gpnn_alloc(TOGETHER, k, sizeof *rows);
  double *distances = gpnn_alloc(TOGETHER, k, sizeof *distances);
  enum gpnn_status status =
      rows == NULL || distances == NULL ? gpnn_fail_memory(err, "for neighbours") : GPNN_OK;
  work->asked += n;
  for (size_t q = 0; q < n; q++) {
    memcpy(work->x + q * d, work->batch->x + work->row[q] * d, d * sizeof *work->x);
    work->within[q] = is_owner ? INFINITY : work->bound[work->row[q]];
  }
  for (size_t from = 0; from < n && status == GPNN_OK; from += TOGETHER) {
    size_t part = n - from < TOGETHER ? n - from : TOGETHER;
    status = gpnn_search_query_within(metric->search, part, work->x + from * d, work->within + from,
                                      k, rows, distances, work->task->options.threads, err);
    if (status == GPNN_OK)
      status = note(work, (struct found){work->row + from, part, k, rows, distances},
                    is_owner ? metric->neighbours : 0, err);
  }
  free(rows);
  free(distances);
  return status;
}

/* Lists the rows that this rank owns, or those of others whose neighbours it may have. */
static size_t list_rows(const struct work *work, bool is_owner)
{
  const double rounding = 1e-9;
  size_t n = 0, rank = work->comm->rank;
  for (size_t i = 0; i < work->batch->n; i++) {
    bool is_near = work->distance[i] <= work->bound[i] * (1 + rounding);
    if ((work->owner[i] == rank) == is_owner && (is_owner || is_near)) work->row[n++] = i;
  }
  return n;
}

/* Finds the neighbours of all rows under the metric of one member. */
static enum gpnn_status find_neighbours(struct work *work, size_t k, struct gpnn_error *err)
{
  const struct gpnn_shard_metric *metric = &work->task->metrics[k];
  size_t n = work->batch->n;
  find_owners(work, metric, work->x);
  if (k == 0) find_solvers(work);
  enum gpnn_status status = search(work, metric, list_rows(work, true), true, err);
  status = gpnn_comm_agree(work->comm, status, err);
  if (status != GPNN_OK || work->comm->size == 1) return status;
  for (size_t i = 0; i < n; i++)
    if (work->owner[i] != work->comm->rank) work->bound[i] = INFINITY;
  gpnn_comm_least(work->comm, n, work->bound);
  status = search(work, metric, list_rows(work, false), false, err);
  return gpnn_comm_agree(work->comm, status, err);
}

/* ---- what is sent --------------------------------------------------------------------------- */

/* What a rank sends to one that solves: two numbers, then packed rows, then links. */
struct parcel {
  uint64_t n_rows, n_links;
};

/* The packed rows and the links of a message, which has none if it is empty. */
static struct parcel open_parcel(const struct gpnn_message *message, size_t width,
                                 const double **packed, const struct link **links)
{
  struct parcel parcel = {0, 0};
  if (message->length == 0) return parcel;
  memcpy(&parcel, message->bytes, sizeof parcel);
  *packed = (const double *)(const void *)(message->bytes + sizeof parcel);
  *links = (const struct link *)(const void *)(*packed + parcel.n_rows * width);
  return parcel;
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

/* Packs the rows that rank 'r' needs, each once, by their numbers, and their links. */
static enum gpnn_status pack(struct work *work, size_t r, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = work->task->channel.dataset;
  const struct needed *needed = &work->needed[r];
  const size_t width = gpnn_rows_width(data);
  struct parcel parcel = {.n_links = needed->links == NULL ? 0 : needed->n};
  struct gpnn_message *message = &work->send[r];
  struct gpnn_neighbour *order = gpnn_alloc(needed->n, 2, sizeof *order);
  if (order == NULL) return gpnn_fail_memory(err, "for neighbours");
  for (size_t i = 0; i < needed->n; i++)
    order[i] = (struct gpnn_neighbour){(double)needed->rows[i], (int64_t)needed->rows[i]};
  size_t n = parcel.n_rows = sort_numbers(needed->n, order, order + needed->n);
  size_t rows_bytes = n * width * sizeof(double),
         links_bytes = parcel.n_links * sizeof(struct link);
  *message = (struct gpnn_message){.length = sizeof parcel + rows_bytes + links_bytes};
  message->bytes = malloc(message->length);
  if (message->bytes != NULL) {
    memcpy(message->bytes, &parcel, sizeof parcel);
    double *packed = (double *)(void *)(message->bytes + sizeof parcel);
    for (size_t i = 0; i < n; i++)
      gpnn_rows_pack(data, (size_t)order[i].row, (double)work->task->shard->number[order[i].row],
                     packed + i * width);
    if (links_bytes > 0) memcpy(packed + n * width, needed->links, links_bytes);
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
  const double *packed = NULL, **list;
  const struct link *links;
  struct gpnn_neighbour *order, *spare;
  for (size_t r = 0; r < n_messages; r++)
    n += open_parcel(&messages[r], width, &packed, &links).n_rows;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(list, n, 1), GPNN_ARRAY(order, n, 1), GPNN_ARRAY(spare, n, 1));
  if (arrays == NULL) return gpnn_fail_memory(err, "for neighbours");
  at = list_packed(task->n_fixed, width, task->fixed, 0, list, order);
  for (size_t r = 0; r < n_messages; r++) {
    size_t n_rows = open_parcel(&messages[r], width, &packed, &links).n_rows;
    at += list_packed(n_rows, width, packed, at, list, order);
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

/* The links of 'n' rows to solve, row by row. */
struct links {
  size_t *end;                           /* n + 1: of those of the rows before */
  struct gpnn_neighbour *all, *spare;    /* end[n] of each */
  struct gpnn_arrays *ends, *neighbours; /* owned: those above */
};

/* Sorts the links that were received by rows, of which row i of the batch is the work->owner[i]-th
 * to be solved here. */
static enum gpnn_status collect_links(const struct work *work, size_t n, struct links *links,
                                      struct gpnn_error *err)
{
  size_t width = gpnn_rows_width(work->task->channel.dataset);
  const double *packed = NULL;
  const struct link *link = NULL;
  links->ends = GPNN_ARRAYS(GPNN_ARRAY(links->end, n + 1, 1));
  if (links->ends == NULL) return gpnn_fail_memory(err, "for neighbours");
  for (size_t r = 0; r < work->comm->size; r++) {
    const struct parcel parcel = open_parcel(&work->receive[r], width, &packed, &link);
    for (size_t i = 0; i < parcel.n_links; i++) links->end[work->owner[link[i].of] + 1]++;
  }
  for (size_t q = 0; q < n; q++) links->end[q + 1] += links->end[q];
  links->neighbours = GPNN_ARRAYS(GPNN_ARRAY(links->all, links->end[n], 1),
                                  GPNN_ARRAY(links->spare, links->end[n], 1));
  if (links->neighbours == NULL) return gpnn_fail_memory(err, "for neighbours");
  for (size_t r = 0; r < work->comm->size; r++) {
    const struct parcel parcel = open_parcel(&work->receive[r], width, &packed, &link);
    for (size_t i = 0; i < parcel.n_links; i++)
      links->all[links->end[work->owner[link[i].of]]++] = link[i].neighbour;
  }
  return GPNN_OK;
}

/* Finds the 'm' nearest of 'rows' to each of 'n' rows to solve, work->row, by their links. */
static enum gpnn_status find_candidates(struct work *work, size_t n, size_t m,
                                        const struct gpnn_rows *rows, int64_t *candidates,
                                        struct gpnn_error *err)
{
  struct links links = {.end = NULL};
  for (size_t q = 0; q < n; q++) work->owner[work->row[q]] = q;
  enum gpnn_status status = collect_links(work, n, &links, err);
  for (size_t q = 0, begin = 0; q < n && status == GPNN_OK; begin = links.end[q++]) {
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

/* What a rank tells rank 0: the counts, and then the arrays. */
struct answer {
  struct gpnn_counts counts;
  uint64_t asked, sent;
};

/* Predicts 'n' rows, work->row, into 'values', one array after the other. */
static enum gpnn_status solve(struct work *work, size_t n, double *regressors, double *values,
                              struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_shard_task *task = work->task;
  const struct gpnn_shard_batch *batch = work->batch;
  size_t d = task->channel.dataset->d, p = task->channel.dataset->n_regressors;
  struct gpnn_rows rows = {.numbers = NULL};
  struct gpnn_model *model = NULL;
  struct gpnn_latent latent = {.atom = &batch->atom};
  double **arrays[GPNN_SHARD_ARRAYS];
  gpnn_shard_latent_arrays(&latent, arrays);
  for (size_t a = 0; a < GPNN_SHARD_ARRAYS; a++)
    if (batch->wanted >> a & 1U) {
      *arrays[a] = values;
      values += n;
    }
  for (size_t q = 0; q < n; q++) {
    memcpy(work->x + q * d, batch->x + work->row[q] * d, d * sizeof *work->x);
    if (p > 0) memcpy(regressors + q * p, batch->regressors + work->row[q] * p, p * sizeof(double));
  }
  struct gpnn_query query = {.n = n, .x = work->x, .regressors = p > 0 ? regressors : NULL};
  size_t m = task->metrics[0].neighbours;
  int64_t *candidates = gpnn_alloc(task->base != NULL ? n : 0, m, sizeof *candidates);
  enum gpnn_status status =
      candidates == NULL ? gpnn_fail_memory(err, "for neighbours")
                         : gpnn_shard_unite(task, work->comm->size, work->receive, &rows, err);
  const struct gpnn_channel channel = {&rows.dataset, task->parameters};
  if (status == GPNN_OK && task->base != NULL) {
    query.candidates = candidates;
    query.n_candidates = m;
    status = find_candidates(work, n, m, &rows, candidates, err);
    if (status == GPNN_OK) status = gpnn_model_with(task->base, &channel, &model, err);
  } else if (status == GPNN_OK) {
    status = gpnn_model_new(&model, 1, &channel, &task->options, err);
  }
  if (status == GPNN_OK) status = gpnn_model_predict(model, &query, &latent, counts, err);
  gpnn_model_free(model);
  gpnn_rows_release(&rows);
  free(candidates);
  return status;
}

static size_t count_arrays(unsigned wanted)
{
  size_t n = 0;
  for (; wanted != 0; wanted >>= 1) n += wanted & 1U;
  return n;
}

/* Solves this rank's share, and makes the answer for rank 0. */
static enum gpnn_status solve_share(struct work *work, struct gpnn_message *message,
                                    struct gpnn_error *err)
{
  size_t n = 0, p = work->task->channel.dataset->n_regressors;
  for (size_t i = 0; i < work->batch->n; i++)
    if (work->solver[i] == work->comm->rank) work->row[n++] = i;
  struct answer answer = {.asked = work->asked, .sent = work->comm->sent - work->sent};
  message->length = sizeof answer + n * count_arrays(work->batch->wanted) * sizeof(double);
  message->bytes = calloc(1, message->length);
  double *regressors = gpnn_alloc(n, p, sizeof *regressors);
  enum gpnn_status status = message->bytes == NULL || regressors == NULL
                                ? gpnn_fail_memory(err, "for predictions")
                                : GPNN_OK;
  if (status == GPNN_OK && n > 0)
    status = solve(work, n, regressors, (double *)(void *)(message->bytes + sizeof answer),
                   &answer.counts, err);
  if (status == GPNN_OK) memcpy(message->bytes, &answer, sizeof answer);
  free(regressors);
  return status;
}

/* Puts what all ranks have solved where it belongs. */
static void scatter(struct work *work, struct gpnn_latent *latent, struct gpnn_counts *counts,
                    struct gpnn_sharded_counts *all)
{
  size_t size = work->comm->size, *at = work->owner; /* for each rank, its next number; scratch */
  double **arrays[GPNN_SHARD_ARRAYS];
  gpnn_shard_latent_arrays(latent, arrays);
  memset(at, 0, size * sizeof *at);
  for (size_t a = 0; a < GPNN_SHARD_ARRAYS; a++)
    for (size_t i = 0; i < work->batch->n && (work->batch->wanted >> a & 1U); i++) {
      size_t r = work->solver[i];
      const unsigned char *values = work->receive[r].bytes + sizeof(struct answer);
      (*arrays[a])[i] = ((const double *)(const void *)values)[at[r]++];
    }
  for (size_t r = 0; r < size; r++) {
    struct answer answer;
    memcpy(&answer, work->receive[r].bytes, sizeof answer);
    counts->n_clamped += answer.counts.n_clamped;
    gpnn_jitter_note(&counts->jitter, answer.counts.jitter.n, answer.counts.jitter.most);
    all->n_asked += answer.asked;
    all->n_sent += answer.sent;
  }
}

static enum gpnn_status predict(struct work *work, struct gpnn_latent *latent,
                                struct gpnn_counts *counts, struct gpnn_sharded_counts *all,
                                struct gpnn_error *err)
{
  struct gpnn_comm *comm = work->comm;
  enum gpnn_status status = gpnn_comm_agree(comm, work_init(work, err), err);
  for (size_t k = 0; k < work->task->n_metrics && status == GPNN_OK; k++)
    status = find_neighbours(work, k, err);
  if (status != GPNN_OK) return status;
  for (size_t r = 0; r < comm->size && status == GPNN_OK; r++) status = pack(work, r, err);
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) status = gpnn_comm_exchange(comm, work->send, work->receive, err);
  if (status == GPNN_OK) status = gpnn_comm_agree(comm, solve_share(work, work->send, err), err);
  gpnn_messages_release(comm->size, work->receive);
  if (status == GPNN_OK) status = gpnn_comm_exchange(comm, work->send, work->receive, err);
  if (status == GPNN_OK && comm->rank == 0) scatter(work, latent, counts, all);
  return status;
}

enum gpnn_status gpnn_shard_predict(const struct gpnn_shard_task *task,
                                    const struct gpnn_shard_batch *batch,
                                    struct gpnn_latent *latent, struct gpnn_counts *counts,
                                    struct gpnn_sharded_counts *all, struct gpnn_error *err)
{
  struct work work = {.task = task, .batch = batch, .comm = task->shard->comm};
  work.sent = work.comm->sent;
  enum gpnn_status status = predict(&work, latent, counts, all, err);
  work_release(&work);
  return status;
}
