/*
 * The engines flat, ivf and hnsw: FAISS, by its C interface.
 *
 * FAISS works in single precision, in a coordinate frame that depends on rows and metric alone,
 * because stored structures are in it (gpnn-index(5)).
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "search/faiss_c_private.h"
#include "search/search_private.h"

/* Absent from the C interface of some versions. */
extern const char *faiss_get_version(void) __attribute__((weak));

enum {
  ADD_BLOCK = 1 << 16,    /* rows converted and added at a time */
  ASSIGN_BLOCK = 1 << 10, /* rows assigned to lists by one call */
  TRAIN_PER_LIST = 40,    /* training rows a list, just above what FAISS asks for */
  TRAIN_LEAST = 39,       /* FAISS complains on standard error below this many */
  GRAPH_LINKS = 32,
};

/* The flags by which the library maps inverted lists; FAISS_IO_FLAG_MMAP of the C header is another
 * number, which has no effect. */
enum { READ_MAPPED = 0x646f0000 | 8 };

struct gpnn_faiss {
  const struct gpnn_search_points *points;
  FaissIndex *index;
  FaissIndexIVF *ivf; /* the same if it has inverted lists, else NULL */
  size_t effort;
  struct gpnn_float_frame frame;
};

const char *gpnn_search_engine_version(void)
{
  return faiss_get_version != NULL ? faiss_get_version() : "unknown";
}

/* Reports the last failure of FAISS, which came while 'doing'. */
static enum gpnn_status faiss_failed(const char *doing, struct gpnn_error *err)
{
  const char *text = faiss_get_last_error();
  if (text == NULL) text = "unknown error";
  if (strstr(text, "bad_alloc") != NULL) return gpnn_fail_memory(err, "for a search");
  return gpnn_fail(err, GPNN_EEXTERNAL, "%s: faiss: %s", doing, text);
}

/*
 * FAISS takes its number of threads from OpenMP, whose threads spin while they wait: so each of our
 * threads limits it to one while calling it.  Returns the number to restore.
 */
static int work_alone(void)
{
  int before = omp_get_max_threads();
  omp_set_num_threads(1);
  return before;
}

/* ---- building ---- */

/* Creates an engine without index.  GPNN_EDATA: 'points' do not fit FAISS's integers. */
static enum gpnn_status create(struct gpnn_faiss **engine, const struct gpnn_search_points *points,
                               struct gpnn_error *err)
{
  if (points->d > INT_MAX / sizeof(float))
    return gpnn_fail(err, GPNN_EDATA, "%zu inputs are too many for a search", points->d);
  struct gpnn_faiss *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a search");
  made->points = points;
  made->effort = 1;
  if (!gpnn_float_frame_init(&made->frame, points)) {
    gpnn_faiss_free(made);
    return gpnn_fail_memory(err, "for a search");
  }
  *engine = made;
  return GPNN_OK;
}

static enum gpnn_status make_index(struct gpnn_faiss *engine, enum gpnn_search_kind kind,
                                   size_t n_lists, struct gpnn_error *err)
{
  char description[64] = "Flat";
  if (kind == GPNN_SEARCH_IVF) snprintf(description, sizeof description, "IVF%zu,Flat", n_lists);
  if (kind == GPNN_SEARCH_HNSW) snprintf(description, sizeof description, "HNSW%d", GRAPH_LINKS);
  if (faiss_index_factory(&engine->index, (int)engine->points->d, description, METRIC_L2) != 0)
    return faiss_failed("making a search", err);
  engine->ivf = faiss_IndexIVF_cast(engine->index);
  return GPNN_OK;
}

/* Finds the centroids of the lists from a random sample of rows. */
static enum gpnn_status train(struct gpnn_faiss *engine, size_t n_lists, uint64_t seed,
                              struct gpnn_error *err)
{
  size_t n = engine->points->n_distinct, d = engine->points->d;
  size_t n_rows = n < n_lists * TRAIN_PER_LIST ? n : n_lists * TRAIN_PER_LIST;
  /* Too few rows for the lists are used more than once. */
  size_t n_train = n_rows < n_lists * TRAIN_LEAST ? n_lists * TRAIN_LEAST : n_rows;
  uint64_t *rows = gpnn_alloc(n_rows, 1, sizeof *rows);
  float *sample = gpnn_alloc(n_train, d, sizeof *sample);
  enum gpnn_status status = GPNN_OK;
  if (rows == NULL || sample == NULL) {
    status = gpnn_fail_memory(err, "for training a search");
    goto out;
  }
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_SEARCH_TRAIN);
  status = gpnn_rng_sample(&rng, n, n_rows, rows, err);
  if (status != GPNN_OK) goto out;
  for (size_t i = 0; i < n_train; i++)
    gpnn_float_frame_apply(&engine->frame,
                           engine->points->x +
                               gpnn_duplicates_first(engine->points, (size_t)rows[i % n_rows]) * d,
                           sample + i * d);
  if (faiss_Index_train(engine->index, (idx_t)n_train, sample) != 0)
    status = faiss_failed("training a search", err);
out:
  free(rows);
  free(sample);
  return status;
}

/* A block of rows being added. */
struct adding {
  struct gpnn_faiss *engine;
  FaissIndex *quantizer; /* of the inverted lists, or NULL */
  size_t first, n;       /* distinct rows */
  float *block;          /* n by d */
  int64_t *lists;        /* n: the list of each */
};

static void frame_row(void *context, size_t thread, size_t i)
{
  const struct adding *a = context;
  const struct gpnn_search_points *points = a->engine->points;
  size_t d = points->d;
  (void)thread;
  gpnn_float_frame_apply(&a->engine->frame,
                         points->x + gpnn_duplicates_first(points, a->first + i) * d,
                         a->block + i * d);
}

/* Finds the lists of the next ASSIGN_BLOCK rows, or as many as are left. */
static enum gpnn_status assign_lists(void *context, size_t thread, size_t piece,
                                     struct gpnn_error *err)
{
  const struct adding *a = context;
  size_t from = piece * ASSIGN_BLOCK, left = a->n - from;
  size_t rows = left < ASSIGN_BLOCK ? left : ASSIGN_BLOCK;
  (void)thread;
  int before = work_alone();
  int failed = faiss_Index_assign(a->quantizer, (idx_t)rows, a->block + from * a->engine->points->d,
                                  a->lists + from, 1);
  omp_set_num_threads(before);
  return failed == 0 ? GPNN_OK : faiss_failed("filling a search", err);
}

/* Adds the rows of a block. */
static enum gpnn_status add_block(struct adding *a, int threads, struct gpnn_error *err)
{
  enum { FRAMED_TOGETHER = 4096 };
  struct gpnn_faiss *engine = a->engine;
  gpnn_threads_each(threads, a->n, FRAMED_TOGETHER, frame_row, a);
  int failed;
  if (engine->ivf == NULL) {
    failed = faiss_Index_add(engine->index, (idx_t)a->n, a->block);
  } else {
    size_t n_pieces = (a->n + ASSIGN_BLOCK - 1) / ASSIGN_BLOCK;
    enum gpnn_status status = gpnn_threads_try(threads, n_pieces, 1, assign_lists, a, err);
    if (status != GPNN_OK) return status;
    failed = faiss_IndexIVFFlat_add_core(faiss_IndexIVFFlat_cast(engine->index), (idx_t)a->n,
                                         a->block, NULL, a->lists);
  }
  return failed == 0 ? GPNN_OK : faiss_failed("filling a search", err);
}

/* Adds all rows, a block at a time. */
static enum gpnn_status add_rows(struct gpnn_faiss *engine, int threads, struct gpnn_error *err)
{
  const struct gpnn_search_points *points = engine->points;
  size_t n = points->n_distinct, d = points->d, most = n < ADD_BLOCK ? n : ADD_BLOCK;
  struct adding adding = {.engine = engine,
                          .block = gpnn_alloc(most, d, sizeof *adding.block),
                          .lists = gpnn_alloc(most, 1, sizeof *adding.lists)};
  enum gpnn_status status = GPNN_OK;
  if (engine->ivf != NULL) adding.quantizer = faiss_IndexIVF_quantizer(engine->ivf);
  if (adding.block == NULL || adding.lists == NULL)
    status = gpnn_fail_memory(err, "for filling a search");
  for (size_t from = 0; from < n && status == GPNN_OK; from += most) {
    adding.first = from;
    adding.n = n - from < most ? n - from : most;
    status = add_block(&adding, threads, err);
    gpnn_search_points_evict(points, from, from + adding.n);
  }
  free(adding.block);
  free(adding.lists);
  return status;
}

enum gpnn_status gpnn_faiss_build(struct gpnn_faiss **engine,
                                  const struct gpnn_search_points *points,
                                  enum gpnn_search_kind kind, size_t n_lists, uint64_t seed,
                                  int threads, struct gpnn_error *err)
{
  if (kind == GPNN_SEARCH_HNSW && points->n_distinct > INT_MAX)
    return gpnn_fail(err, GPNN_EDATA, "%zu rows are too many for a graph search",
                     points->n_distinct);
  struct gpnn_faiss *made = NULL;
  enum gpnn_status status = create(&made, points, err);
  if (status != GPNN_OK) return status;
  int before = work_alone();
  status = make_index(made, kind, n_lists, err);
  if (status == GPNN_OK && made->ivf != NULL) status = train(made, n_lists, seed, err);
  if (status == GPNN_OK) status = add_rows(made, threads, err);
  omp_set_num_threads(before);
  if (status == GPNN_OK && kind != GPNN_SEARCH_FLAT) status = gpnn_faiss_set_effort(made, 1, err);
  if (status == GPNN_OK)
    *engine = made;
  else
    gpnn_faiss_free(made);
  return status;
}

enum gpnn_status gpnn_faiss_set_effort(struct gpnn_faiss *engine, size_t effort,
                                       struct gpnn_error *err)
{
  FaissParameterSpace *space = NULL;
  const char *name = engine->ivf != NULL ? "nprobe" : "efSearch";
  int failed = faiss_ParameterSpace_new(&space);
  if (failed == 0)
    failed = faiss_ParameterSpace_set_index_parameter(space, engine->index, name, (double)effort);
  enum gpnn_status status = failed == 0 ? GPNN_OK : faiss_failed("tuning a search", err);
  if (space != NULL) faiss_ParameterSpace_free(space);
  if (status == GPNN_OK) engine->effort = effort;
  return status;
}

/* ---- queries ---- */

bool gpnn_faiss_scratch_init(const struct gpnn_faiss *engine, size_t capacity,
                             struct gpnn_faiss_scratch *scratch)
{
  size_t n_lists = engine->ivf == NULL ? 0 : engine->effort;
  scratch->arrays = GPNN_ARRAYS(GPNN_ARRAY(scratch->queries, GPNN_FAISS_BLOCK, engine->points->d),
                                GPNN_ARRAY(scratch->distances, capacity, 1),
                                GPNN_ARRAY(scratch->coarse, GPNN_FAISS_BLOCK, n_lists),
                                GPNN_ARRAY(scratch->lists, GPNN_FAISS_BLOCK, n_lists));
  if (scratch->arrays != NULL) return true;
  gpnn_faiss_scratch_release(scratch);
  return false;
}

void gpnn_faiss_scratch_release(struct gpnn_faiss_scratch *scratch)
{
  gpnn_arrays_free(scratch->arrays);
  *scratch = (struct gpnn_faiss_scratch){0};
}

/*
 * Finds the nearest centroids, then searches their lists, as FAISS's own search does; but that also
 * reads ahead, which for mapped lists would start dozens of threads in every call.
 */
static int search_lists(const struct gpnn_faiss *engine, size_t n_queries, size_t k,
                        struct gpnn_faiss_scratch *scratch, int64_t *rows, size_t *visited)
{
  size_t effort = engine->effort;
  int failed = faiss_Index_search(faiss_IndexIVF_quantizer(engine->ivf), (idx_t)n_queries,
                                  scratch->queries, (idx_t)effort, scratch->coarse, scratch->lists);
  if (failed != 0) return failed;
  if (visited != NULL)
    for (size_t i = 0; i < n_queries * effort; i++)
      if (scratch->lists[i] >= 0)
        *visited += faiss_IndexIVF_get_list_size(engine->ivf, (size_t)scratch->lists[i]);
  return faiss_IndexIVF_search_preassigned(engine->ivf, (idx_t)n_queries, scratch->queries,
                                           (idx_t)k, scratch->lists, scratch->coarse,
                                           scratch->distances, rows, 0);
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
  int before = work_alone();
  int failed = engine->ivf != NULL
                   ? search_lists(engine, n_queries, k, scratch, rows, visited)
                   : faiss_Index_search(engine->index, (idx_t)n_queries, scratch->queries, (idx_t)k,
                                        scratch->distances, rows);
  omp_set_num_threads(before);
  return failed == 0 ? GPNN_OK : faiss_failed("searching", err);
}

/* ---- saving and loading ---- */

enum gpnn_status gpnn_faiss_save(const struct gpnn_faiss *engine, FILE *file,
                                 struct gpnn_error *err)
{
  errno = 0;
  int failed = faiss_write_index(engine->index, file), errnum = errno;
  if (ferror(file))
    return gpnn_fail_errno(err, errnum == 0 ? EIO : errnum, "the search cannot be written");
  return failed == 0 ? GPNN_OK : faiss_failed("writing a search", err);
}

enum gpnn_status gpnn_faiss_load(struct gpnn_faiss **engine, struct gpnn_search_stored stored,
                                 const struct gpnn_search_points *points,
                                 const struct gpnn_search_report *report, struct gpnn_error *err)
{
  struct gpnn_faiss *made = NULL;
  enum gpnn_status status =
      gpnn_faiss_check(stored.bytes, stored.length, points->n_distinct, points->d, report, err);
  if (status == GPNN_OK) status = create(&made, points, err);
  if (status != GPNN_OK) return status;
  if (faiss_read_index(stored.file, READ_MAPPED, &made->index) != 0) {
    made->index = NULL;
    status = faiss_failed("reading a search", err);
  } else {
    made->ivf = faiss_IndexIVF_cast(made->index);
    status = gpnn_faiss_set_effort(made, report->effort, err);
  }
  if (status == GPNN_OK)
    *engine = made;
  else
    gpnn_faiss_free(made);
  return status;
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

void gpnn_faiss_free(struct gpnn_faiss *engine)
{
  if (engine == NULL) return;
  if (engine->index != NULL) faiss_Index_free(engine->index);
  gpnn_float_frame_release(&engine->frame);
  free(engine);
}
