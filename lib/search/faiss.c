/*
 * The engines flat, ivf and hnsw.
 *
 * They work in single precision, in a coordinate frame that depends on rows and metric alone,
 * because stored structures are in it (gpnn-index(5)).
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "search/search_private.h"

/* ---- building ---- */

/* Creates an engine without structure. */
static enum gpnn_status create(struct gpnn_faiss **engine, const struct gpnn_search_points *points,
                               enum gpnn_search_kind kind, struct gpnn_error *err)
{
  if (points->d > INT_MAX / sizeof(float))
    return gpnn_fail(err, GPNN_EDATA, "%zu inputs are too many for a search", points->d);
  if (kind != GPNN_SEARCH_FLAT && points->n_distinct > INT_MAX)
    return gpnn_fail(err, GPNN_EDATA, "%zu rows are too many for this search", points->n_distinct);
  struct gpnn_faiss *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a search");
  made->points = points;
  made->kind = kind;
  made->effort = 1;
  if (!gpnn_float_frame_init(&made->frame, points)) {
    gpnn_faiss_free(made);
    return gpnn_fail_memory(err, "for a search");
  }
  *engine = made;
  return GPNN_OK;
}

/* Rows that are brought into the frame. */
struct framing {
  const struct gpnn_faiss *engine;
  size_t first;
  float *rows;
};

static void frame_row(void *context, size_t thread, size_t i)
{
  const struct framing *f = context;
  const struct gpnn_search_points *points = f->engine->points;
  size_t d = points->d;
  (void)thread;
  gpnn_float_frame_apply(&f->engine->frame,
                         points->x + gpnn_duplicates_first(points, f->first + i) * d,
                         f->rows + i * d);
}

enum gpnn_status gpnn_faiss_each_row(const struct gpnn_faiss *engine, int threads,
                                     gpnn_faiss_take *take, void *context, struct gpnn_error *err)
{
  enum { FRAMED_TOGETHER = 4096 };
  const struct gpnn_search_points *points = engine->points;
  size_t n = points->n_distinct, most = n < GPNN_FAISS_ROWS ? n : GPNN_FAISS_ROWS;
  struct framing f = {.engine = engine, .rows = gpnn_alloc(most, points->d, sizeof *f.rows)};
  enum gpnn_status status = GPNN_OK;
  if (f.rows == NULL) return gpnn_fail_memory(err, "for filling a search");
  for (; f.first < n && status == GPNN_OK; f.first += most) {
    size_t count = n - f.first < most ? n - f.first : most;
    gpnn_threads_each(threads, count, FRAMED_TOGETHER, frame_row, &f);
    status = take(context, f.first, count, f.rows, err);
    gpnn_search_points_evict(points, f.first, f.first + count);
  }
  free(f.rows);
  return status;
}

/* Where rows go. */
struct placing {
  size_t d;
  const uint32_t *places;
  float *to;
};

static enum gpnn_status place(void *context, size_t first, size_t n, const float *rows,
                              struct gpnn_error *err)
{
  const struct placing *p = context;
  (void)err;
  for (size_t i = 0; i < n; i++)
    memcpy(p->to + p->places[first + i] * p->d, rows + i * p->d, p->d * sizeof *rows);
  return GPNN_OK;
}

enum gpnn_status gpnn_faiss_place_rows(const struct gpnn_faiss *engine, int threads,
                                       const uint32_t *places, float *to, struct gpnn_error *err)
{
  struct placing placing = {engine->points->d, places, to};
  return gpnn_faiss_each_row(engine, threads, place, &placing, err);
}

enum gpnn_status gpnn_faiss_reserve(struct gpnn_faiss *engine, size_t length,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_memory_check("the search", (double)length, err);
  if (status != GPNN_OK) return status;
  engine->bytes = engine->owned = gpnn_alloc(length, 1, 1);
  engine->length = length;
  return engine->owned != NULL ? GPNN_OK : gpnn_fail_memory(err, "for a search");
}

static enum gpnn_status add_flat(void *context, size_t first, size_t n, const float *rows,
                                 struct gpnn_error *err)
{
  (void)first;
  return gpnn_faiss_flat_add(context, n, rows, err);
}

static enum gpnn_status build_flat(struct gpnn_faiss *engine, int threads, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_faiss_flat_new(&engine->flat, engine->points->d, err);
  if (status != GPNN_OK) return status;
  return gpnn_faiss_each_row(engine, threads, add_flat, engine->flat, err);
}

enum gpnn_status gpnn_faiss_build(struct gpnn_faiss **engine,
                                  const struct gpnn_search_points *points,
                                  enum gpnn_search_kind kind, size_t n_lists, uint64_t seed,
                                  int threads, struct gpnn_error *err)
{
  struct gpnn_faiss *made = NULL;
  enum gpnn_status status = create(&made, points, kind, err);
  if (status != GPNN_OK) return status;
  if (kind == GPNN_SEARCH_IVF)
    status = gpnn_lists_build(made, n_lists, seed, threads, err);
  else if (kind == GPNN_SEARCH_HNSW)
    status = gpnn_graph_build(made, threads, err);
  else
    status = build_flat(made, threads, err);
  if (status == GPNN_OK)
    *engine = made;
  else
    gpnn_faiss_free(made);
  return status;
}

enum gpnn_status gpnn_faiss_map(struct gpnn_faiss **engine, const void *bytes, size_t length,
                                const struct gpnn_search_points *points,
                                const struct gpnn_search_report *report, struct gpnn_error *err)
{
  struct gpnn_faiss *made = NULL;
  bool has_lists = report->kind == GPNN_SEARCH_IVF;
  bool fits =
      report->effort >= 1 && report->effort <= (has_lists ? report->n_lists : GPNN_FAISS_BEAM_MOST);
  enum gpnn_status status = create(&made, points, report->kind, err);
  if (status != GPNN_OK) return status;
  made->bytes = bytes;
  made->length = length;
  made->effort = report->effort;
  if (fits && has_lists)
    status = gpnn_lists_map(made, report->n_lists, &fits, err);
  else if (fits)
    fits = gpnn_graph_map(made);
  if (status == GPNN_OK && !fits)
    status = gpnn_fail(err, GPNN_EFORMAT,
                       "the search structure is damaged, or of other rows; make the index again");
  if (status == GPNN_OK)
    *engine = made;
  else
    gpnn_faiss_free(made);
  return status;
}

void gpnn_faiss_free(struct gpnn_faiss *engine)
{
  if (engine == NULL) return;
  gpnn_faiss_flat_free(engine->flat);
  gpnn_faiss_flat_free(engine->lists.centroids);
  gpnn_float_frame_release(&engine->frame);
  free(engine->owned);
  free(engine);
}

/* ---- queries ---- */

bool gpnn_faiss_scratch_init(const struct gpnn_faiss *engine, size_t capacity,
                             struct gpnn_faiss_scratch *scratch)
{
  bool is_graph = engine->kind == GPNN_SEARCH_HNSW, has_lists = engine->kind == GPNN_SEARCH_IVF;
  size_t effort = engine->effort, n_found = capacity > effort ? capacity : effort;
  scratch->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(scratch->queries, GPNN_FAISS_BLOCK, engine->points->d),
                  GPNN_ARRAY_IF(engine->flat != NULL, scratch->distances, capacity, 1),
                  GPNN_ARRAY_IF(has_lists, scratch->coarse, GPNN_FAISS_BLOCK, effort),
                  GPNN_ARRAY_IF(has_lists, scratch->lists, GPNN_FAISS_BLOCK, effort),
                  GPNN_ARRAY_IF(has_lists, scratch->nearest, capacity, 1),
                  GPNN_ARRAY_IF(is_graph, scratch->found, n_found, 1),
                  GPNN_ARRAY_IF(is_graph, scratch->seen, engine->points->n_distinct, 1));
  if (scratch->arrays != NULL) return true;
  gpnn_faiss_scratch_release(scratch);
  return false;
}

void gpnn_faiss_scratch_release(struct gpnn_faiss_scratch *scratch)
{
  gpnn_arrays_free(scratch->arrays);
  *scratch = (struct gpnn_faiss_scratch){0};
}

enum gpnn_status gpnn_faiss_candidates(const struct gpnn_faiss *engine, size_t n_queries,
                                       const double *queries, size_t k,
                                       struct gpnn_faiss_scratch *scratch, int64_t *rows,
                                       size_t *visited, struct gpnn_error *err)
{
  size_t d = engine->points->d;
  for (size_t i = 0; i < n_queries; i++)
    scratch->norms[i] =
        gpnn_float_frame_apply(&engine->frame, queries + i * d, scratch->queries + i * d);
  if (engine->kind == GPNN_SEARCH_IVF)
    return gpnn_lists_candidates(engine, n_queries, k, scratch, rows, visited, err);
  if (engine->kind == GPNN_SEARCH_HNSW) {
    gpnn_graph_candidates(engine, n_queries, k, scratch, rows);
    return GPNN_OK;
  }
  return gpnn_faiss_flat_nearest(engine->flat, n_queries, scratch->queries, k, scratch->distances,
                                 rows, err);
}

/*
 * The squared distance |q|^2 + |x|^2 - 2 q'x of sums of d products is off by e <= (d + 8) 2^-24
 * (|q| + |x|)^2, |x| <= |q| + r.  A candidate may seem nearer, and a row that was left out
 * farther, than it is, so r^2 is uncertain by 2 e.
 */
static double product_error(const struct gpnn_float_frame *frame, double norm, double distance)
{
  double most = 2 * norm + distance, square = distance * distance;
  double uncertain = 0x1p-23 * (double)(frame->d + 8) * most * most;
  return uncertain < square ? distance - sqrt(square - uncertain) : distance;
}

double gpnn_faiss_error(const struct gpnn_faiss *engine, size_t n_queries, double norm,
                        double distance)
{
  const struct gpnn_float_frame *frame = &engine->frame;
  double framed = distance * frame->scale, error = gpnn_float_frame_error(frame, norm, framed);
  if (n_queries > GPNN_FAISS_FEW) error += product_error(frame, norm, framed);
  return error / frame->scale;
}
