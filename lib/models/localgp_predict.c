/* Many rows' predictions: chunks of them, shared out between threads. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "models/localgp_parts.h"

/* Rows whose neighbours are held at a time: bounds memory, changes no result. */
enum { CHUNK = 1024 };

/* What a chunk's rows came to: of several failures that of the first row is kept, so that
 * the message does not depend on the threads. */
struct outcome {
  enum gpnn_status status;
  size_t row;
  struct gpnn_error error;
};

/* The rows of a chunk, begin to end, as they are and as the kernel sees them, and k candidates of
 * each. */
struct chunk {
  size_t begin, end, k;
  const double *x, *seen;
  int64_t *candidates;
};

static void add_counts(struct gpnn_localgp_counts *to, const struct gpnn_localgp_counts *from)
{
  to->n_jittered += from->n_jittered;
  to->max_jitter = fmax(to->max_jitter, from->max_jitter);
  to->n_clamped += from->n_clamped;
}

static void solve_chunk(const struct gpnn_localgp_task *task, struct gpnn_localgp_scratch *scratch,
                        const struct chunk *chunk, struct outcome *outcome)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
#pragma omp parallel for num_threads(gp->threads) schedule(dynamic, 8)
  for (size_t i = chunk->begin; i < chunk->end; i++) {
    struct gpnn_error error = {0};
    size_t at = i - chunk->begin;
    enum gpnn_status status = gpnn_localgp_solve_row(task, &scratch[omp_get_thread_num()], i,
                                                     chunk->seen + at * gp->data->d, chunk->k,
                                                     chunk->candidates + at * chunk->k, &error);
    if (status == GPNN_OK) continue;
#pragma omp critical(gpnn_localgp)
    if (outcome->status == GPNN_OK || i < outcome->row)
      *outcome = (struct outcome){status, i, error};
  }
}

/* Candidates for neighbours of a point, so that enough of them are allowed. */
static size_t n_candidates(const struct gpnn_localgp *gp, const struct gpnn_points *points)
{
  if (points->candidates != NULL) return points->n_candidates;
  size_t k = gp->neighbours + (points->self != NULL);
  return k < gp->data->n ? k : gp->data->n;
}

/* Fills the candidates of a chunk; 'distances' is scratch as large. */
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

/* Predicts all rows, chunk after chunk; 'rotated' and 'distances' are room for one. */
static void solve_chunks(const struct gpnn_localgp_task *task, struct gpnn_localgp_scratch *scratch,
                         size_t size, struct chunk chunk, double *rotated, double *distances,
                         struct outcome *outcome)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
  const struct gpnn_points *points = task->points;
  for (; chunk.begin < points->n && outcome->status == GPNN_OK; chunk.begin = chunk.end) {
    chunk.end = points->n - chunk.begin < size ? points->n : chunk.begin + size;
    chunk.x = points->x + chunk.begin * gp->data->d;
    chunk.seen = rotated == NULL ? chunk.x : rotated;
    for (size_t i = 0; i < chunk.end - chunk.begin && rotated != NULL; i++)
      gpnn_localgp_turn(gp, chunk.x + i * gp->data->d, rotated + i * gp->data->d);
    outcome->status = find_candidates(gp, points, &chunk, distances, &outcome->error);
    if (outcome->status == GPNN_OK) solve_chunk(task, scratch, &chunk, outcome);
  }
}

static enum gpnn_status predict_task(const struct gpnn_localgp_task *task, struct gpnn_error *err)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
  const struct gpnn_points *points = task->points;
  bool rotates = gp->metric->turn != NULL;
  size_t size = points->n < CHUNK ? points->n : CHUNK;
  struct chunk chunk = {.k = n_candidates(gp, points)};
  chunk.candidates = gpnn_alloc(size, chunk.k, sizeof *chunk.candidates);
  double *distances = gpnn_alloc(size, chunk.k, sizeof *distances);
  double *rotated = rotates ? gpnn_alloc(size, gp->data->d, sizeof *rotated) : NULL;
  struct gpnn_localgp_scratch *scratch = calloc((size_t)gp->threads, sizeof *scratch);
  struct outcome outcome = {.status = GPNN_OK};
  bool enough = chunk.candidates && distances && scratch && (!rotates || rotated);
  for (int t = 0; enough && t < gp->threads; t++)
    enough = gpnn_localgp_scratch_new(&scratch[t], task);
  if (enough)
    solve_chunks(task, scratch, size, chunk, rotated, distances, &outcome);
  else
    outcome.status = gpnn_fail_memory(&outcome.error, "for predictions");
  if (outcome.status != GPNN_OK && err != NULL) *err = outcome.error;
  for (int t = 0; scratch != NULL && t < gp->threads; t++) {
    for (size_t i = 0; enough && i < task->n_members; i++)
      add_counts(task->members[i].counts, &scratch[t].counts[i]);
    gpnn_localgp_scratch_release(&scratch[t]);
  }
  free(scratch);
  free(rotated);
  free(distances);
  free(chunk.candidates);
  return outcome.status;
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
  struct gpnn_localgp_task task = {points, 1, 1, &member, n_numbers, numbers};
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
