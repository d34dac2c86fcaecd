/* Predicts many rows, in chunks whose rows are divided between threads. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "models/local/local_private.h"

/* Rows whose neighbours are in memory at once; does not affect results. */
enum { CHUNK = 1024 };

/* A chunk of the query's rows, [begin, end) in the order of prediction. */
struct chunk {
  size_t size;     /* the most rows of a chunk; all arrays but 'row' are for one chunk */
  size_t *row;     /* owned; query->n: all rows in the order of prediction */
  double *x;       /* owned; size by d: the rows as given */
  double *rotated; /* owned; size by d: along the axes of the lengthscales */
  size_t k;
  int64_t *candidates; /* owned; size by k */
  double *distances;   /* owned; size by k */
  size_t begin, end;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* A chunk being solved. */
struct solving {
  const struct gpnn_local_task *task;
  struct gpnn_local_scratch *scratch; /* one per thread */
  const struct chunk *chunk;
};

/* ---- a chunk ------------------------------------------------------------------------------ */

/* Candidates per row, enough for the number of neighbours wanted. */
static size_t n_candidates(const struct gpnn_local_task *task)
{
  const struct gpnn_query *query = task->query;
  if (query->candidates != NULL) return query->n_candidates;
  size_t k = task->neighbours + (query->self != NULL), n = task->members[0].data->n;
  return k < n ? k : n;
}

static enum gpnn_status chunk_init(struct chunk *chunk, const struct gpnn_local_task *task,
                                   struct gpnn_error *err)
{
  const struct gpnn_query *query = task->query;
  size_t d = task->members[0].data->d;
  chunk->size = query->n < CHUNK ? query->n : CHUNK;
  chunk->k = n_candidates(task);
  chunk->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(chunk->row, query->n, 1), GPNN_ARRAY(chunk->x, chunk->size, d),
                  GPNN_ARRAY(chunk->rotated, chunk->size, d),
                  GPNN_ARRAY(chunk->candidates, chunk->size, chunk->k),
                  GPNN_ARRAY(chunk->distances, chunk->size, chunk->k));
  if (chunk->arrays == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < query->n; i++) chunk->row[i] = i;
  if (task->share > 1) return gpnn_local_order(&task->members[0], query, chunk->row, err);
  if (query->candidates != NULL) return GPNN_OK;
  return gpnn_search_order(task->members[0].metric->search, query->n, query->x,
                           task->options->threads, chunk->row, err);
}

/* Copies the rows of the chunk, as given and rotated. */
static void gather_rows(const struct gpnn_local_task *task, struct chunk *chunk)
{
  const struct gpnn_local_channel *channel = &task->members[0];
  size_t d = channel->data->d;
  for (size_t at = 0; at < chunk->end - chunk->begin; at++) {
    const double *x = task->query->x + chunk->row[chunk->begin + at] * d;
    double *rotated = chunk->rotated + at * d;
    memcpy(chunk->x + at * d, x, d * sizeof *x);
    memcpy(rotated, gpnn_local_rotate(channel, x, rotated), d * sizeof *x);
  }
}

static enum gpnn_status find_candidates(const struct gpnn_local_task *task, struct chunk *chunk,
                                        struct gpnn_error *err)
{
  size_t n = chunk->end - chunk->begin, k = chunk->k;
  if (task->query->candidates == NULL)
    return gpnn_search_query(task->members[0].metric->search, n, chunk->x, k, chunk->candidates,
                             chunk->distances, task->options->threads, err);
  memcpy(chunk->candidates, task->query->candidates + chunk->begin * k,
         n * k * sizeof *chunk->candidates);
  return GPNN_OK;
}

/* Keeps up to m of a row's k candidates, without excluded and missing ones, and returns their
 * number. */
static size_t choose(const struct gpnn_local_task *task, size_t i, size_t m, size_t k,
                     int64_t *candidates)
{
  const struct gpnn_dataset *data = task->members[0].data;
  size_t chosen = 0;
  for (size_t c = 0; c < k && chosen < m; c++)
    if (candidates[c] >= 0 && !gpnn_local_excludes(task->query, data, i, candidates[c]))
      candidates[chosen++] = candidates[c];
  return chosen;
}

/* Finds the neighbours of a row, up to m of them, some of whose k candidates are excluded as they
 * are of its group: asks for twice as many again and again. */
static enum gpnn_status look_further(const struct gpnn_local_task *task, size_t i, size_t k,
                                     int64_t *neighbours, size_t *m, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = task->members[0].data;
  size_t wanted = task->neighbours, found = 0;
  enum gpnn_status status = GPNN_OK;
  while (found < wanted && k < data->n && status == GPNN_OK) {
    k = k < data->n / 2 ? 2 * k : data->n;
    int64_t *rows = gpnn_alloc(k, 1, sizeof *rows);
    double *distances = gpnn_alloc(k, 1, sizeof *distances);
    status = rows == NULL || distances == NULL
                 ? gpnn_fail_memory(err, "for the neighbours of a row")
                 : gpnn_search_query(task->members[0].metric->search, 1,
                                     task->query->x + i * data->d, k, rows, distances, 1, err);
    if (status == GPNN_OK) {
      found = choose(task, i, wanted, k, rows);
      memcpy(neighbours, rows, found * sizeof *rows);
    }
    free(rows);
    free(distances);
  }
  *m = found;
  return status;
}

/* Predicts a row of a chunk from its own neighbours. */
static enum gpnn_status solve_alone(void *context, size_t thread, size_t at, struct gpnn_error *err)
{
  const struct solving *s = context;
  const struct chunk *chunk = s->chunk;
  static const size_t first = 0;
  const size_t *row = chunk->row + chunk->begin + at;
  int64_t *candidates = chunk->candidates + at * chunk->k;
  struct gpnn_local_group group = {.n = 1,
                                   .row = row,
                                   .x = chunk->rotated + at * s->task->members[0].data->d,
                                   .neighbour = candidates,
                                   .nearest = &first};
  size_t m = s->task->neighbours, k = chunk->k;
  enum gpnn_status status = GPNN_OK;
  group.m = choose(s->task, *row, m, k, candidates);
  if (group.m < m && k < s->task->members[0].data->n && s->task->query->candidates == NULL)
    status = look_further(s->task, *row, k, candidates, &group.m, err);
  if (status != GPNN_OK) return status;
  return gpnn_local_solve(s->task, &s->scratch[thread], &group, err);
}

/* Rows of a stretch, which is divided into groups on its own, so that groups do not depend on the
 * threads. */
static size_t stretch_of(const struct gpnn_local_task *task)
{
  enum { GROUPS = 4 };
  return GROUPS * task->share;
}

/* Predicts a stretch of a chunk in groups that share neighbours. */
static enum gpnn_status solve_shared(void *context, size_t thread, size_t stretch,
                                     struct gpnn_error *err)
{
  const struct solving *s = context;
  const struct chunk *chunk = s->chunk;
  size_t d = s->task->members[0].data->d, n = chunk->end - chunk->begin;
  size_t at = stretch * stretch_of(s->task), end = at + stretch_of(s->task);
  enum gpnn_status status = GPNN_OK;
  struct gpnn_local_group group;
  if (end > n) end = n;
  for (; at < end && status == GPNN_OK; at += group.n) {
    gpnn_local_gather_group(s->task, &s->scratch[thread], end - at, chunk->row + chunk->begin + at,
                            chunk->rotated + at * d, chunk->k, chunk->candidates + at * chunk->k,
                            &group);
    status = gpnn_local_solve(s->task, &s->scratch[thread], &group, err);
  }
  return status;
}

static enum gpnn_status solve_chunk(const struct gpnn_local_task *task,
                                    struct gpnn_local_scratch *scratch, const struct chunk *chunk,
                                    struct gpnn_error *err)
{
  enum { TOGETHER = 8 };
  struct solving solving = {task, scratch, chunk};
  size_t n = chunk->end - chunk->begin, stretch = stretch_of(task);
  if (task->share <= 1)
    return gpnn_threads_try(task->threads, n, TOGETHER, solve_alone, &solving, err);
  return gpnn_threads_try(task->threads, (n + stretch - 1) / stretch, 1, solve_shared, &solving,
                          err);
}

/* ---- a task ------------------------------------------------------------------------------- */

static enum gpnn_status solve_chunks(const struct gpnn_local_task *task,
                                     struct gpnn_local_scratch *scratch, struct chunk *chunk,
                                     struct gpnn_error *err)
{
  size_t n = task->query->n;
  enum gpnn_status status = GPNN_OK;
  for (; chunk->begin < n && status == GPNN_OK; chunk->begin = chunk->end) {
    chunk->end = n - chunk->begin < chunk->size ? n : chunk->begin + chunk->size;
    gather_rows(task, chunk);
    status = find_candidates(task, chunk, err);
    if (status == GPNN_OK) status = solve_chunk(task, scratch, chunk, err);
  }
  return status;
}

/* Rows share neighbours only if these come from the search, in a single number. */
static void set_share(struct gpnn_local_task *task)
{
  enum { LARGER = 4 };
  const struct gpnn_query *query = task->query;
  size_t share = task->options->share, n = task->members[0].data->n, m = task->neighbours;
  bool shares = share > 1 && !gpnn_local_wants_weights(task) && query->self == NULL &&
                query->group == NULL && query->candidates == NULL && task->n_numbers == 1 &&
                task->latent->share == NULL;
  task->share = shares ? share : 1;
  task->most_neighbours = !shares ? m : n / LARGER < m ? n : LARGER * m;
}

static void add_counts(struct gpnn_counts *to, const struct gpnn_counts *from)
{
  gpnn_jitter_note(&to->jitter, from->jitter.n, from->jitter.most);
  to->n_clamped += from->n_clamped;
}

/* Predicts the rows for the members of a task whose members and numbers are set. */
static enum gpnn_status predict_task(struct gpnn_local_task *task, struct gpnn_error *err)
{
  size_t most = task->numbers[task->n_numbers - 1], n = task->members[0].data->n;
  struct chunk chunk = {0};
  task->neighbours = most < n ? most : n;
  task->threads = gpnn_threads_for(task->options->threads, task->query->n);
  set_share(task);
  struct gpnn_local_scratch *scratch = calloc((size_t)task->threads, sizeof *scratch);
  bool enough = scratch != NULL;
  for (int t = 0; enough && t < task->threads; t++)
    enough = gpnn_local_scratch_new(&scratch[t], task);
  enum gpnn_status status =
      enough ? chunk_init(&chunk, task, err) : gpnn_fail_memory(err, "for predictions");
  if (status == GPNN_OK) status = solve_chunks(task, scratch, &chunk, err);
  for (int t = 0; scratch != NULL && t < task->threads; t++) {
    for (size_t i = 0; enough && i < task->n_members; i++)
      add_counts(&task->counts[task->members[i].number], &scratch[t].counts[i]);
    gpnn_local_scratch_release(&scratch[t]);
  }
  free(scratch);
  gpnn_arrays_free(chunk.arrays);
  return status;
}

/* ---- the model ---------------------------------------------------------------------------- */

/* Sets the members of a task: the first of 'n' channels, and the following ones of the same task.
 */
static void set_members(struct gpnn_local_task *task, size_t n,
                        const struct gpnn_local_channel *channels)
{
  const struct gpnn_local_channel *first = channels;
  task->members = channels;
  task->n_members = task->n_families = 1;
  for (; task->n_members < n && gpnn_local_same_task(channels, &channels[task->n_members]);
       task->n_members++) {
    const struct gpnn_local_channel *next = &channels[task->n_members];
    if (gpnn_local_same_family(first, next)) continue;
    first = next;
    task->n_families++;
  }
}

/* True if all members predict from a factor of all training rows, of which no more than the row
 * itself is left out. */
static bool is_dense(const struct gpnn_local_task *task)
{
  const struct gpnn_query *query = task->query;
  if (task->members[0].data->row_group != NULL && (query->self != NULL || query->group != NULL))
    return false;
  if (query->candidates != NULL || task->n_numbers > 1 ||
      task->numbers[0] < task->members[0].data->n)
    return false;
  for (size_t t = 0; t < task->n_members; t++)
    if (task->members[t].dense == NULL) return false;
  return true;
}

enum gpnn_status gpnn_local_run(struct gpnn_local_task *task, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (!is_dense(task)) return predict_task(task, err);
  for (size_t t = 0; t < task->n_members && status == GPNN_OK; t++)
    if (t == 0 || task->members[t].dense != task->members[t - 1].dense)
      status = gpnn_local_dense_predict(task->members[t].dense, task, err);
  return status;
}

enum gpnn_status gpnn_local_predict(const void *state, const struct gpnn_query *query,
                                    const struct gpnn_latent *latent, struct gpnn_counts *counts,
                                    struct gpnn_error *err)
{
  const struct gpnn_local *local = state;
  struct gpnn_local_task task = {.query = query,
                                 .latent = latent,
                                 .counts = counts,
                                 .options = local->options,
                                 .n_numbers = 1};
  enum gpnn_status status = GPNN_OK;
  for (size_t done = 0; done < local->n && status == GPNN_OK; done += task.n_members) {
    set_members(&task, local->n - done, local->channels + done);
    task.numbers = &task.members[0].neighbours;
    status = gpnn_local_run(&task, err);
  }
  return status;
}

enum gpnn_status gpnn_local_predict_each(const void *state, const struct gpnn_query *query,
                                         size_t n_numbers, const size_t *numbers,
                                         const struct gpnn_latent *latent,
                                         struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_local *local = state;
  struct gpnn_local_task task = {.query = query,
                                 .latent = latent,
                                 .counts = counts,
                                 .options = local->options,
                                 .n_members = 1,
                                 .n_families = 1,
                                 .members = local->channels,
                                 .n_numbers = n_numbers,
                                 .numbers = numbers};
  assert(local->n == 1);
  return gpnn_local_run(&task, err);
}
