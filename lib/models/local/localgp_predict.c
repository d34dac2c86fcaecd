/* Many rows' predictions: chunks of them, shared out between threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "models/local/localgp_private.h"

/* Rows whose neighbours are held at a time: bounds memory, changes no result. */
enum { CHUNK = 1024 };

/* Points of a chunk, begin to end in the order that they are predicted in: which they are, where
 * they are as given and as the kernel sees it, and k candidates of each. */
struct chunk {
  size_t begin, end, k;
  const size_t *point;
  const double *x, *seen;
  int64_t *candidates;
};

/* Room for a chunk, owned. */
struct room {
  size_t size;
  size_t *point; /* every point, in the order that they are predicted in */
  double *x, *seen, *distances;
  int64_t *candidates;
};

static void add_counts(struct gpnn_localgp_counts *to, const struct gpnn_localgp_counts *from)
{
  gpnn_jitter_note(&to->jitter, from->jitter.n, from->jitter.most);
  to->n_clamped += from->n_clamped;
}

/* Keeps up to m of a point's candidates, those that it may have as neighbours, and returns their
 * number. */
static size_t choose(const struct gpnn_points *points, size_t i, size_t m, size_t k,
                     int64_t *candidates)
{
  size_t chosen = 0;
  for (size_t c = 0; c < k && chosen < m; c++)
    if (candidates[c] >= 0 && (points->self == NULL || points->self[i] != candidates[c]))
      candidates[chosen++] = candidates[c];
  return chosen;
}

/* A chunk under way. */
struct solving {
  const struct gpnn_localgp_task *task;
  struct gpnn_localgp_scratch *scratch; /* one a thread */
  const struct chunk *chunk;
};

/* Predicts a point of a chunk from its own neighbours. */
static enum gpnn_status solve_alone(void *context, size_t thread, size_t at, struct gpnn_error *err)
{
  const struct solving *s = context;
  const struct chunk *chunk = s->chunk;
  const struct gpnn_localgp *gp = s->task->members[0].gp;
  static const size_t first = 0;
  const size_t *point = chunk->point + chunk->begin + at;
  int64_t *candidates = chunk->candidates + at * chunk->k;
  struct gpnn_localgp_group group = {.n = 1,
                                     .point = point,
                                     .x = chunk->seen + at * gp->data->d,
                                     .neighbour = candidates,
                                     .nearest = &first};
  group.m = choose(s->task->points, *point, gp->neighbours, chunk->k, candidates);
  return gpnn_localgp_solve(s->task, &s->scratch[thread], &group, err);
}

/* Points of a stretch, in which groups can begin: this does not depend on the threads. */
static size_t stretch_of(const struct gpnn_localgp_task *task)
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
  size_t d = s->task->members[0].gp->data->d, n = chunk->end - chunk->begin;
  size_t at = stretch * stretch_of(s->task), end = at + stretch_of(s->task);
  enum gpnn_status status = GPNN_OK;
  struct gpnn_localgp_group group;
  if (end > n) end = n;
  for (; at < end && status == GPNN_OK; at += group.n) {
    gpnn_localgp_gather_group(s->task, &s->scratch[thread], end - at,
                              chunk->point + chunk->begin + at, chunk->seen + at * d, chunk->k,
                              chunk->candidates + at * chunk->k, &group);
    status = gpnn_localgp_solve(s->task, &s->scratch[thread], &group, err);
  }
  return status;
}

static enum gpnn_status solve_chunk(const struct gpnn_localgp_task *task,
                                    struct gpnn_localgp_scratch *scratch, const struct chunk *chunk,
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

/* Candidates for neighbours of a point, so that enough of them are allowed. */
static size_t n_candidates(const struct gpnn_localgp *gp, const struct gpnn_points *points)
{
  if (points->candidates != NULL) return points->n_candidates;
  size_t k = gp->neighbours + (points->self != NULL);
  return k < gp->data->n ? k : gp->data->n;
}

/* Fills the candidates of a chunk. */
static enum gpnn_status find_candidates(const struct gpnn_localgp *gp,
                                        const struct gpnn_points *points, const struct chunk *chunk,
                                        double *distances, struct gpnn_error *err)
{
  size_t n = chunk->end - chunk->begin, k = chunk->k;
  if (points->candidates == NULL)
    return gpnn_search_query(gp->metric->search, n, chunk->x, k, chunk->candidates, distances,
                             gp->threads, err);
  memcpy(chunk->candidates, points->candidates + chunk->begin * k,
         n * k * sizeof *chunk->candidates);
  return GPNN_OK;
}

/* Copies the points of a chunk to the room, as they are and as the kernel sees them. */
static void gather_points(const struct gpnn_localgp *gp, const struct gpnn_points *points,
                          const struct chunk *chunk, struct room *room)
{
  size_t d = gp->data->d;
  for (size_t at = 0; at < chunk->end - chunk->begin; at++) {
    const double *x = points->x + chunk->point[chunk->begin + at] * d;
    memcpy(room->x + at * d, x, d * sizeof *x);
    memcpy(room->seen + at * d, gpnn_localgp_turn(gp, x, room->seen + at * d), d * sizeof *x);
  }
}

/* Predicts all points, chunk after chunk. */
static enum gpnn_status solve_chunks(const struct gpnn_localgp_task *task,
                                     struct gpnn_localgp_scratch *scratch, struct room *room,
                                     size_t k, struct gpnn_error *err)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
  const struct gpnn_points *points = task->points;
  struct chunk chunk = {.k = k,
                        .point = room->point,
                        .x = room->x,
                        .seen = room->seen,
                        .candidates = room->candidates};
  enum gpnn_status status = GPNN_OK;
  for (; chunk.begin < points->n && status == GPNN_OK; chunk.begin = chunk.end) {
    chunk.end = points->n - chunk.begin < room->size ? points->n : chunk.begin + room->size;
    gather_points(gp, points, &chunk, room);
    status = find_candidates(gp, points, &chunk, room->distances, err);
    if (status == GPNN_OK) status = solve_chunk(task, scratch, &chunk, err);
  }
  return status;
}

static void room_release(struct room *room)
{
  free(room->point);
  free(room->x);
  free(room->seen);
  free(room->distances);
  free(room->candidates);
}

static enum gpnn_status room_init(struct room *room, const struct gpnn_localgp_task *task, size_t k,
                                  struct gpnn_error *err)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
  size_t n = task->points->n, d = gp->data->d;
  room->size = n < CHUNK ? n : CHUNK;
  room->point = gpnn_alloc(n, 1, sizeof *room->point);
  room->x = gpnn_alloc(room->size, d, sizeof *room->x);
  room->seen = gpnn_alloc(room->size, d, sizeof *room->seen);
  room->distances = gpnn_alloc(room->size, k, sizeof *room->distances);
  room->candidates = gpnn_alloc(room->size, k, sizeof *room->candidates);
  if (!room->point || !room->x || !room->seen || !room->distances || !room->candidates)
    return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < n; i++) room->point[i] = i;
  return task->share > 1 ? gpnn_localgp_order(gp, task->points, room->point, err) : GPNN_OK;
}

/* Points share neighbours where those are what the search finds and nothing more is asked of
 * them. */
static void set_share(struct gpnn_localgp_task *task)
{
  enum { LARGER = 4 };
  const struct gpnn_localgp *gp = task->members[0].gp;
  const struct gpnn_points *points = task->points;
  bool shares =
      gp->share > 1 && points->self == NULL && points->candidates == NULL && task->n_numbers == 1;
  size_t n = gp->data->n, m = gp->neighbours;
  task->share = shares ? gp->share : 1;
  task->room = !shares ? m : n / LARGER < m ? n : LARGER * m;
}

static enum gpnn_status predict_task(struct gpnn_localgp_task *task, struct gpnn_error *err)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
  size_t k = n_candidates(gp, task->points);
  task->threads = gpnn_threads_for(gp->threads, task->points->n);
  struct gpnn_localgp_scratch *scratch = calloc((size_t)task->threads, sizeof *scratch);
  struct room room = {0};
  set_share(task);
  bool enough = scratch != NULL;
  for (int t = 0; enough && t < task->threads; t++)
    enough = gpnn_localgp_scratch_new(&scratch[t], task);
  enum gpnn_status status =
      enough ? room_init(&room, task, k, err) : gpnn_fail_memory(err, "for predictions");
  if (status == GPNN_OK) status = solve_chunks(task, scratch, &room, k, err);
  for (int t = 0; scratch != NULL && t < task->threads; t++) {
    for (size_t i = 0; enough && i < task->n_members; i++)
      add_counts(task->members[i].counts, &scratch[t].counts[i]);
    gpnn_localgp_scratch_release(&scratch[t]);
  }
  free(scratch);
  room_release(&room);
  return status;
}

/* ---- one target --------------------------------------------------------------------------- */

enum gpnn_status gpnn_localgp_predict_each(const struct gpnn_localgp *gp,
                                           const struct gpnn_points *points, size_t n_numbers,
                                           const size_t *numbers,
                                           const struct gpnn_prediction *prediction,
                                           struct gpnn_localgp_counts *counts,
                                           struct gpnn_error *err)
{
  struct gpnn_localgp_member member = {gp, prediction, counts};
  struct gpnn_localgp_task task = {.points = points,
                                   .n_members = 1,
                                   .n_families = 1,
                                   .members = &member,
                                   .n_numbers = n_numbers,
                                   .numbers = numbers};
  return predict_task(&task, err);
}

enum gpnn_status gpnn_localgp_predict(const struct gpnn_localgp *gp,
                                      const struct gpnn_points *points,
                                      const struct gpnn_prediction *prediction,
                                      struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  return gpnn_localgp_predict_each(gp, points, 1, &gp->neighbours, prediction, counts, err);
}

/* ---- several targets ---------------------------------------------------------------------- */

/* Moves those of 'n' members that are alike to the front, the first of them staying there, and
 * returns how many they are. */
static size_t collect(struct gpnn_localgp_member *members, size_t n,
                      bool (*alike)(const struct gpnn_localgp *, const struct gpnn_localgp *))
{
  size_t found = 1;
  for (size_t i = 1; i < n; i++) {
    struct gpnn_localgp_member member = members[i];
    if (!alike(members[0].gp, member.gp)) continue;
    members[i] = members[found];
    members[found++] = member;
  }
  return found;
}

enum gpnn_status gpnn_localgp_predict_all(size_t n, const struct gpnn_localgp *const gps[],
                                          const struct gpnn_points *points,
                                          const struct gpnn_prediction *predictions,
                                          struct gpnn_localgp_counts *counts,
                                          struct gpnn_error *err)
{
  struct gpnn_localgp_member *members = gpnn_alloc(n, 1, sizeof *members);
  enum gpnn_status status = members == NULL ? gpnn_fail_memory(err, "for predictions") : GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    members[i] = (struct gpnn_localgp_member){gps[i], &predictions[i], &counts[i]};
  struct gpnn_localgp_task task = {.points = points, .n_numbers = 1};
  for (size_t done = 0; done < n && status == GPNN_OK; done += task.n_members) {
    task.members = members + done;
    task.n_members = collect(members + done, n - done, gpnn_localgp_same_task);
    task.numbers = &task.members[0].gp->neighbours;
    task.n_families = 0;
    for (size_t i = 0; i < task.n_members; task.n_families++)
      i += collect(members + done + i, task.n_members - i, gpnn_localgp_same_family);
    status = predict_task(&task, err);
  }
  free(members);
  return status;
}
