/*
 * A round: rows to predict, each at home on the rank that reads it, go to the rank whose box is
 * nearest, which owns them; from there to ranks that may have neighbours as near as its own; these
 * send what they find to the rank that solves the row, which answers the home.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "search/nearest.h"
#include "shard/sharded_private.h"

/* A row that this rank owns. */
struct query {
  size_t solver, home;
  uint64_t of;          /* as in struct gpnn_shard_link */
  const double *packed; /* its number at home, its inputs and its regressors; in a message */
};

/* Rows whose neighbours are looked for. */
struct list {
  size_t n;
  uint64_t *of;               /* n, as in struct gpnn_shard_link */
  size_t *solver;             /* n */
  double *within;             /* n: squared; of the farthest neighbours */
  double *x;                  /* n by d */
  struct gpnn_arrays *arrays; /* owned: those above */
};

struct work {
  const struct gpnn_shard_task *task;
  const struct gpnn_shard_batch *batch;
  struct gpnn_comm *comm;
  struct gpnn_message *send, *receive; /* comm->size of each */
  size_t *capacity;                    /* comm->size: of those to send */
  struct gpnn_message *homes;          /* comm->size: the rows that this rank owns */
  struct gpnn_shard_needed *needed;    /* comm->size */
  uint64_t *owned;                     /* comm->size: how many rows each rank owns */
  size_t *count, *ranks;               /* comm->size of each; scratch */
  double *z;                           /* d; scratch */
  size_t n;                            /* rows that this rank owns */
  struct query *queries;               /* n */
  uint64_t asked, sent;                /* rows searched for; what was sent before */
  struct gpnn_arrays *arrays, *own;    /* owned: those above */
};

static enum gpnn_status work_init(struct work *work, struct gpnn_error *err)
{
  size_t size = work->comm->size, d = work->task->channel.dataset->d;
  work->arrays = GPNN_ARRAYS(GPNN_ARRAY(work->send, size, 1), GPNN_ARRAY(work->receive, size, 1),
                             GPNN_ARRAY(work->capacity, size, 1), GPNN_ARRAY(work->homes, size, 1),
                             GPNN_ARRAY(work->needed, size, 1), GPNN_ARRAY(work->owned, size, 1),
                             GPNN_ARRAY(work->count, size, 1), GPNN_ARRAY(work->ranks, size, 1),
                             GPNN_ARRAY(work->z, d, 1));
  return work->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for a batch");
}

static void work_release(struct work *work)
{
  if (work->arrays == NULL) return;
  for (size_t r = 0; r < work->comm->size; r++) {
    free(work->needed[r].rows);
    free(work->needed[r].links);
    free(work->needed[r].queries);
  }
  gpnn_messages_release(work->comm->size, work->send);
  gpnn_messages_release(work->comm->size, work->receive);
  gpnn_messages_release(work->comm->size, work->homes);
  gpnn_arrays_free(work->arrays);
  gpnn_arrays_free(work->own);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Room for 'n' more numbers at the end of the message to rank 'r'; NULL: there is no memory. */
static double *append(struct work *work, size_t r, size_t n)
{
  struct gpnn_message *message = &work->send[r];
  size_t before = message->length, length = before + n * sizeof(double);
  if (!gpnn_grow(&message->bytes, &work->capacity[r], length, 1)) return NULL;
  message->length = length;
  return (double *)(void *)(message->bytes + before);
}

/* Delivers what all ranks have to send, unless one of them has failed. */
static enum gpnn_status deliver(struct work *work, enum gpnn_status status,
                                struct gpnn_message *receive, struct gpnn_error *err)
{
  status = gpnn_comm_agree(work->comm, status, err);
  if (status != GPNN_OK) return status;
  status = gpnn_comm_exchange(work->comm, work->send, receive, err);
  memset(work->capacity, 0, work->comm->size * sizeof *work->capacity);
  return status;
}

/* How many items of 'width' numbers were received. */
static size_t count_received(const struct work *work, const struct gpnn_message *receive,
                             size_t width)
{
  size_t n = 0;
  for (size_t r = 0; r < work->comm->size; r++) n += receive[r].length / sizeof(double) / width;
  return n;
}

static const double *numbers(const struct gpnn_message *message)
{
  return (const double *)(const void *)message->bytes;
}

/* ---- owners and solvers --------------------------------------------------------------------- */

/* The rank whose box is nearest to a row. */
static size_t find_owner(const struct work *work, size_t k, const double *x)
{
  const struct gpnn_shard_metric *metric = &work->task->metrics[k];
  size_t d = work->task->channel.dataset->d;
  gpnn_shard_place(metric->search, d, x, work->z);
  return gpnn_shard_boxes_nearest(work->comm->size, d, metric->boxes, work->z);
}

/* Sends the rows that are at home here to their owners. */
static enum gpnn_status send_homes(struct work *work, struct gpnn_error *err)
{
  const struct gpnn_shard_batch *batch = work->batch;
  size_t d = work->task->channel.dataset->d, p = batch->n_regressors;
  for (size_t i = 0; i < batch->n; i++) {
    double *to = append(work, find_owner(work, 0, batch->x + i * d), 1 + d + p);
    if (to == NULL) return gpnn_fail_memory(err, "for rows to predict");
    to[0] = (double)i;
    memcpy(to + 1, batch->x + i * d, d * sizeof *to);
    if (p > 0) memcpy(to + 1 + d, batch->regressors + i * p, p * sizeof *to);
  }
  return GPNN_OK;
}

/* Lists the rows that this rank owns. */
static enum gpnn_status list_owned(struct work *work, struct gpnn_error *err)
{
  size_t width = 1 + work->task->channel.dataset->d + work->batch->n_regressors;
  size_t n = count_received(work, work->homes, width);
  work->own = GPNN_ARRAYS(GPNN_ARRAY(work->queries, n, 1));
  if (work->own == NULL) return gpnn_fail_memory(err, "for rows to predict");
  for (size_t r = 0; r < work->comm->size; r++) {
    size_t n_bytes = width * sizeof(double);
    for (size_t at = 0; at < work->homes[r].length; at += n_bytes)
      work->queries[work->n++] =
          (struct query){.home = r, .packed = numbers(&work->homes[r]) + at / sizeof(double)};
  }
  return GPNN_OK;
}

/* Lets owners solve their rows, and others those that are more than a rank's share: they go to the
 * ranks that have fewer, in turn. */
static void find_solvers(struct work *work)
{
  size_t size = work->comm->size, rank = work->comm->rank, all = 0, place = 0;
  uint64_t own = work->n;
  gpnn_comm_share(work->comm, &own, sizeof own, work->owned);
  for (size_t r = 0; r < size; r++) all += work->owned[r];
  size_t most = (all + size - 1) / size, next = 0, end = 0;
  for (size_t r = 0; r < rank; r++) place += work->owned[r] > most ? work->owned[r] - most : 0;
  memset(work->count, 0, size * sizeof *work->count);
  for (size_t i = 0; i < work->n; i++) {
    struct query *query = &work->queries[i];
    query->solver = rank;
    if (i >= most) { /* place and end count what ranks lack */
      for (; end <= place; next++) end += work->owned[next] < most ? most - work->owned[next] : 0;
      query->solver = next - 1;
      place++;
    }
    query->of = (uint64_t)rank << 32 | work->count[query->solver]++;
  }
}

/* Notes the rows that this rank owns for those that solve them. */
static enum gpnn_status note_queries(struct work *work, struct gpnn_error *err)
{
  size_t width = work->task->channel.dataset->d + work->batch->n_regressors;
  for (size_t i = 0; i < work->n; i++) {
    const struct query *query = &work->queries[i];
    struct gpnn_shard_needed *needed = &work->needed[query->solver];
    if (!gpnn_grow(&needed->queries, &needed->queries_capacity, needed->queries_length + 2 + width,
                   sizeof *needed->queries))
      return gpnn_fail_memory(err, "for rows to predict");
    double *to = needed->queries + needed->queries_length;
    to[0] = (double)query->home;
    memcpy(to + 1, query->packed, (1 + width) * sizeof *to);
    needed->queries_length += 2 + width;
    needed->n_queries++;
  }
  return GPNN_OK;
}

/* ---- rows whose neighbours are looked for --------------------------------------------------- */

static enum gpnn_status list_init(struct list *list, size_t n, size_t d, struct gpnn_error *err)
{
  list->arrays = GPNN_ARRAYS(GPNN_ARRAY(list->of, n, 1), GPNN_ARRAY(list->solver, n, 1),
                             GPNN_ARRAY(list->within, n, 1), GPNN_ARRAY(list->x, n, d));
  if (list->arrays == NULL) return gpnn_fail_memory(err, "for rows to predict");
  list->n = n;
  return GPNN_OK;
}

/* Lists the rows that this rank owns under the first metric. */
static enum gpnn_status list_queries(const struct work *work, struct list *list,
                                     struct gpnn_error *err)
{
  size_t d = work->task->channel.dataset->d;
  enum gpnn_status status = list_init(list, work->n, d, err);
  for (size_t i = 0; i < work->n && status == GPNN_OK; i++) {
    list->of[i] = work->queries[i].of;
    list->solver[i] = work->queries[i].solver;
    list->within[i] = INFINITY;
    memcpy(list->x + i * d, work->queries[i].packed + 1, d * sizeof *list->x);
  }
  return status;
}

/* Appends a row to the message to rank 'r': what it is of, which is below 2^53, solver, bound and
 * inputs. */
static enum gpnn_status ask(struct work *work, size_t r, uint64_t of, size_t solver, double within,
                            const double *x, struct gpnn_error *err)
{
  size_t d = work->task->channel.dataset->d;
  double *to = append(work, r, 3 + d);
  if (to == NULL) return gpnn_fail_memory(err, "for rows to predict");
  to[0] = (double)of;
  to[1] = (double)solver;
  to[2] = within;
  memcpy(to + 3, x, d * sizeof *to);
  return GPNN_OK;
}

/* Lists what other ranks ask. */
static enum gpnn_status list_asked(const struct work *work, struct list *list,
                                   struct gpnn_error *err)
{
  size_t d = work->task->channel.dataset->d, at = 0;
  enum gpnn_status status = list_init(list, count_received(work, work->receive, 3 + d), d, err);
  for (size_t r = 0; r < work->comm->size && status == GPNN_OK; r++) {
    const double *from = numbers(&work->receive[r]);
    size_t n = work->receive[r].length / sizeof *from / (3 + d);
    for (size_t i = 0; i < n; i++, at++, from += 3 + d) {
      list->of[at] = (uint64_t)from[0];
      list->solver[at] = (size_t)from[1];
      list->within[at] = from[2];
      memcpy(list->x + at * d, from + 3, d * sizeof *from);
    }
  }
  return status;
}

/* Exchanges what ranks ask each other for, and lists it. */
static enum gpnn_status trade_asked(struct work *work, enum gpnn_status status, struct list *list,
                                    struct gpnn_error *err)
{
  status = deliver(work, status, work->receive, err);
  if (status == GPNN_OK) status = list_asked(work, list, err);
  gpnn_messages_release(work->comm->size, work->receive);
  return status;
}

/* Lists the rows that this rank owns under the metric of a further member, which come from their
 * owners under the first. */
static enum gpnn_status list_further(struct work *work, size_t k, struct list *list,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < work->n && status == GPNN_OK; i++) {
    const struct query *query = &work->queries[i];
    status = ask(work, find_owner(work, k, query->packed + 1), query->of, query->solver, INFINITY,
                 query->packed + 1, err);
  }
  return trade_asked(work, status, list, err);
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* Notes local row 'row' as a neighbour of row 'i' of a list. */
static enum gpnn_status need(struct work *work, const struct list *list, size_t i,
                             struct gpnn_neighbour found, struct gpnn_error *err)
{
  struct gpnn_shard_needed *needed = &work->needed[list->solver[i]];
  bool is_linked = work->task->base != NULL;
  if (!gpnn_grow(&needed->rows, &needed->capacity, needed->n + 1, sizeof *needed->rows) ||
      (is_linked &&
       !gpnn_grow(&needed->links, &needed->links_capacity, needed->n + 1, sizeof *needed->links)))
    return gpnn_fail_memory(err, "for neighbours");
  needed->rows[needed->n] = (uint64_t)found.row;
  found.row = (int64_t)work->task->shard->number[found.row];
  if (is_linked) needed->links[needed->n] = (struct gpnn_shard_link){list->of[i], found};
  needed->n++;
  return GPNN_OK;
}

/* Searches this rank's rows for the neighbours of a list within its bounds; the owner, whose list
 * has none, sets them. */
static enum gpnn_status search(struct work *work, const struct gpnn_shard_metric *metric,
                               struct list *list, bool is_owner, struct gpnn_error *err)
{
  enum { TOGETHER = 1024 };
  const struct gpnn_dataset *data = work->task->channel.dataset;
  size_t d = data->d, k = metric->neighbours < data->n ? metric->neighbours : data->n;
  int64_t *rows = gpnn_alloc(TOGETHER, k, sizeof *rows);
  double *distances = gpnn_alloc(TOGETHER, k, sizeof *distances);
  enum gpnn_status status =
      rows == NULL || distances == NULL ? gpnn_fail_memory(err, "for neighbours") : GPNN_OK;
  work->asked += list->n;
  for (size_t from = 0; from < list->n && status == GPNN_OK; from += TOGETHER) {
    size_t n = list->n - from < TOGETHER ? list->n - from : TOGETHER;
    status = gpnn_search_query_within(metric->search, n, list->x + from * d, list->within + from, k,
                                      rows, distances, work->task->options.threads, err);
    for (size_t q = 0; q < n && status == GPNN_OK; q++) {
      const double *own = distances + q * k;
      if (is_owner && k == metric->neighbours) list->within[from + q] = own[k - 1];
      for (size_t a = 0; a < k && own[a] <= list->within[from + q] && status == GPNN_OK; a++)
        status = need(work, list, from + q, (struct gpnn_neighbour){own[a], rows[q * k + a]}, err);
    }
  }
  free(rows);
  free(distances);
  return status;
}

/* Asks the other ranks that may have rows within the bounds of a list. */
static enum gpnn_status ask_others(struct work *work, const struct gpnn_shard_metric *metric,
                                   const struct list *list, struct gpnn_error *err)
{
  size_t d = work->task->channel.dataset->d, size = work->comm->size;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < list->n && status == GPNN_OK; i++) {
    const double *x = list->x + i * d;
    gpnn_shard_place(metric->search, d, x, work->z);
    size_t n =
        gpnn_shard_boxes_within(size, d, metric->boxes, work->z, list->within[i], work->ranks);
    for (size_t a = 0; a < n && status == GPNN_OK; a++)
      if (work->ranks[a] != work->comm->rank)
        status = ask(work, work->ranks[a], list->of[i], list->solver[i], list->within[i], x, err);
  }
  return status;
}

/* Finds the neighbours of all rows under the metric of one member. */
static enum gpnn_status find_neighbours(struct work *work, size_t k, struct gpnn_error *err)
{
  const struct gpnn_shard_metric *metric = &work->task->metrics[k];
  struct list own = {.n = 0}, others = {.n = 0};
  enum gpnn_status status =
      k == 0 ? list_queries(work, &own, err) : list_further(work, k, &own, err);
  if (status == GPNN_OK) status = search(work, metric, &own, true, err);
  if (status == GPNN_OK) status = ask_others(work, metric, &own, err);
  status = trade_asked(work, status, &others, err);
  if (status == GPNN_OK) status = search(work, metric, &others, false, err);
  gpnn_arrays_free(own.arrays);
  gpnn_arrays_free(others.arrays);
  return gpnn_comm_agree(work->comm, status, err);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* What all ranks learn of a rank's part in a round. */
struct told {
  struct gpnn_counts counts;
  uint64_t rows, asked, sent;
};

/* Solves this rank's share, and sends what comes of it home. */
static enum gpnn_status answer(struct work *work, struct gpnn_counts *counts,
                               struct gpnn_error *err)
{
  size_t n_arrays = gpnn_shard_n_arrays(work->batch->wanted);
  size_t n_classes = gpnn_shard_n_classes(work->task, work->batch->wanted);
  struct gpnn_shard_solved solved = {.n = 0};
  enum gpnn_status status = gpnn_shard_solve(work->task, work->batch, work->comm->size,
                                             work->receive, &solved, counts, err);
  for (size_t q = 0; q < solved.n && status == GPNN_OK; q++) {
    double *to = append(work, solved.home[q], 1 + n_arrays + n_classes);
    if (to == NULL) {
      status = gpnn_fail_memory(err, "for predictions");
      break;
    }
    *to++ = (double)solved.index[q];
    for (size_t a = 0; a < n_arrays; a++) *to++ = solved.values[a * solved.n + q];
    for (size_t c = 0; c < n_classes; c++)
      to[c] = solved.values[n_arrays * solved.n + q * n_classes + c];
  }
  gpnn_arrays_free(solved.arrays);
  gpnn_messages_release(work->comm->size, work->receive);
  return status;
}

/* Puts what all ranks have solved where it belongs. */
static void scatter(struct work *work, struct gpnn_latent *latent)
{
  size_t n_classes = gpnn_shard_n_classes(work->task, work->batch->wanted);
  size_t width = 1 + gpnn_shard_n_arrays(work->batch->wanted) + n_classes;
  double **arrays[GPNN_SHARD_ARRAYS];
  gpnn_shard_latent_arrays(latent, arrays);
  for (size_t r = 0; r < work->comm->size; r++) {
    const double *from = numbers(&work->receive[r]);
    size_t n = work->receive[r].length / sizeof *from / width;
    for (size_t q = 0; q < n; q++) {
      size_t i = (size_t)*from++;
      for (size_t a = 0; a < GPNN_SHARD_ARRAYS; a++)
        if (work->batch->wanted >> a & 1U) (*arrays[a])[i] = *from++;
      for (size_t c = 0; c < n_classes; c++) work->batch->p[i * n_classes + c] = *from++;
    }
  }
}

/* Lets rank 0 know what all ranks have done. */
static enum gpnn_status tell(struct work *work, const struct gpnn_counts *own,
                             struct gpnn_counts *counts, struct gpnn_sharded_counts *all,
                             struct gpnn_error *err)
{
  struct gpnn_comm *comm = work->comm;
  const struct told told = {*own, work->batch->n, work->asked, comm->sent - work->sent};
  struct told *board = gpnn_alloc(comm->size, 1, sizeof *board);
  enum gpnn_status status =
      gpnn_comm_agree(comm, board == NULL ? gpnn_fail_memory(err, "for a batch") : GPNN_OK, err);
  if (status == GPNN_OK) gpnn_comm_share(comm, &told, sizeof told, board);
  for (size_t r = 0; r < comm->size && comm->rank == 0 && status == GPNN_OK; r++) {
    counts->n_clamped += board[r].counts.n_clamped;
    gpnn_jitter_note(&counts->jitter, board[r].counts.jitter.n, board[r].counts.jitter.most);
    all->n_rows += board[r].rows;
    all->n_asked += board[r].asked;
    all->n_sent += board[r].sent;
  }
  free(board);
  return status;
}

static enum gpnn_status predict(struct work *work, struct gpnn_latent *latent,
                                struct gpnn_counts *counts, struct gpnn_sharded_counts *all,
                                struct gpnn_error *err)
{
  struct gpnn_comm *comm = work->comm;
  struct gpnn_counts own = {.n_rows = 0};
  enum gpnn_status status = work_init(work, err);
  if (status == GPNN_OK) status = send_homes(work, err);
  status = deliver(work, status, work->homes, err);
  if (status == GPNN_OK) status = gpnn_comm_agree(comm, list_owned(work, err), err);
  if (status == GPNN_OK) {
    find_solvers(work);
    status = gpnn_comm_agree(comm, note_queries(work, err), err);
  }
  for (size_t k = 0; k < work->task->n_metrics && status == GPNN_OK; k++)
    status = find_neighbours(work, k, err);
  if (status != GPNN_OK) return status;
  for (size_t r = 0; r < comm->size && status == GPNN_OK; r++)
    status = gpnn_shard_pack(work->task, &work->needed[r], &work->send[r], err);
  status = deliver(work, status, work->receive, err);
  if (status != GPNN_OK) return status;
  status = deliver(work, answer(work, &own, err), work->receive, err);
  if (status != GPNN_OK) return status;
  scatter(work, latent);
  return tell(work, &own, counts, all, err);
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
