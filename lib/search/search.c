#include "search/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/search_private.h"

static const char *const names[] = {
    [GPNN_SEARCH_AUTO] = "auto", [GPNN_SEARCH_FLAT] = "flat",   [GPNN_SEARCH_IVF] = "ivf",
    [GPNN_SEARCH_HNSW] = "hnsw", [GPNN_SEARCH_EXACT] = "exact", [GPNN_SEARCH_TREE] = "tree",
};

const char *gpnn_search_name(enum gpnn_search_kind kind)
{
  return names[kind];
}

/* ---- the metric ---- */

/* The linear map that rotates, then divides by lengthscales. */
static void set_map(struct gpnn_search *search)
{
  size_t d = search->points.d;
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < d; i++)
      search->map[j * d + i] =
          search->rotation[j * d + i] * (search->inverse == NULL ? 1 : search->inverse[j]);
  search->points.map = search->map;
}

static enum gpnn_status set_metric(struct gpnn_search *search, struct gpnn_search_metric metric,
                                   struct gpnn_error *err)
{
  size_t d = search->points.d;
  if (metric.lengthscale != NULL) {
    search->lengthscale = gpnn_alloc(d, 1, sizeof *search->lengthscale);
    search->inverse = gpnn_alloc(d, 1, sizeof *search->inverse);
    if (search->lengthscale == NULL || search->inverse == NULL)
      return gpnn_fail_memory(err, "for a search");
  }
  for (size_t j = 0; j < d && metric.lengthscale != NULL; j++) {
    search->lengthscale[j] = metric.lengthscale[j];
    search->inverse[j] = 1 / metric.lengthscale[j];
    if (!(metric.lengthscale[j] > 0) || !isfinite(search->inverse[j]))
      return gpnn_fail(err, GPNN_ENUMERIC, "lengthscale %zu is not a positive number", j + 1);
  }
  search->points.inverse = search->inverse;
  if (metric.rotation == NULL) return GPNN_OK;
  search->rotation = gpnn_alloc(d, d, sizeof *search->rotation);
  search->map = gpnn_alloc(d, d, sizeof *search->map);
  if (search->rotation == NULL || search->map == NULL) return gpnn_fail_memory(err, "for a search");
  memcpy(search->rotation, metric.rotation, d * d * sizeof *search->rotation);
  set_map(search);
  return GPNN_OK;
}

struct gpnn_search_metric gpnn_search_metric(const struct gpnn_search *search)
{
  return (struct gpnn_search_metric){search->lengthscale, search->rotation};
}

/* True if 'a' is 'ratio' times 'b', up to what writing numbers as text may lose. */
static bool is_multiple(double a, double ratio, double b)
{
  return fabs(a - ratio * b) <= 1e-9 * fabs(ratio * b);
}

bool gpnn_search_same_metric(size_t d, struct gpnn_search_metric a, struct gpnn_search_metric b)
{
  double first = 0;
  for (size_t j = 0; j < d; j++) {
    double left = a.lengthscale == NULL ? 1 : a.lengthscale[j];
    double right = b.lengthscale == NULL ? 1 : b.lengthscale[j];
    if (j == 0) first = left / right;
    if (!is_multiple(left, first, right)) return false;
  }
  if (a.rotation == NULL || b.rotation == NULL) return a.rotation == b.rotation;
  for (size_t j = 0; j < d * d; j++)
    if (!is_multiple(a.rotation[j], 1, b.rotation[j])) return false;
  return true;
}

/* ---- building ---- */

/* Creates a search without an engine. */
static enum gpnn_status create(struct gpnn_search **search, size_t n, size_t d, const double *x,
                               struct gpnn_search_metric metric, struct gpnn_error *err)
{
  if (n == 0 || d == 0) return gpnn_fail(err, GPNN_EINVAL, "a search needs rows and inputs");
  struct gpnn_search *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a search");
  made->points = (struct gpnn_search_points){.n = n, .d = d, .x = x, .n_distinct = n};
  enum gpnn_status status = set_metric(made, metric, err);
  if (status == GPNN_OK)
    *search = made;
  else
    gpnn_search_free(made);
  return status;
}

enum gpnn_status gpnn_search_build(struct gpnn_search **search, size_t n, size_t d, const double *x,
                                   const struct gpnn_search_options *options,
                                   struct gpnn_error *err)
{
  if (!(options->recall > 0 && options->recall <= 1))
    return gpnn_fail(err, GPNN_EINVAL, "a recall of %g is not in (0, 1]", options->recall);
  const struct gpnn_search_metric metric = {options->lengthscale, options->rotation};
  struct gpnn_search *made = NULL;
  enum gpnn_status status = create(&made, n, d, x, metric, err);
  if (status == GPNN_OK) {
    made->points.mapping = options->mapping;
    if (options->kind != GPNN_SEARCH_EXACT &&
        !gpnn_duplicates_find(&made->points, &made->duplicates))
      status = gpnn_fail_memory(err, "for a search");
  }
  if (status == GPNN_OK) status = gpnn_search_tune(made, options, err);
  if (status == GPNN_OK)
    *search = made;
  else
    gpnn_search_free(made);
  return status;
}

const struct gpnn_search_report *gpnn_search_describe(const struct gpnn_search *search)
{
  return &search->report;
}

double gpnn_search_recall_again(const struct gpnn_search_report *report)
{
  return report->kind == GPNN_SEARCH_FLAT ? 1 : report->asked;
}

/* ---- saving and loading ---- */

enum gpnn_status gpnn_search_save(const struct gpnn_search *search, FILE *file,
                                  struct gpnn_error *err)
{
  const void *bytes = NULL;
  size_t length = 0;
  if (search->tree != NULL) {
    bytes = search->tree->bytes;
    length = search->tree->length;
  } else if (search->faiss != NULL) {
    bytes = search->faiss->bytes;
    length = search->faiss->length;
  }
  errno = 0;
  if (length == 0 || fwrite(bytes, 1, length, file) == length) return GPNN_OK;
  return gpnn_fail_errno(err, errno == 0 ? EIO : errno, "the search cannot be written");
}

const uint32_t *gpnn_search_duplicates(const struct gpnn_search *search, size_t *length)
{
  const struct gpnn_search_points *points = &search->points;
  *length = points->next == NULL ? 0 : (points->n + points->n_distinct) * sizeof *points->next;
  return points->next;
}

static enum gpnn_status load_duplicates(struct gpnn_search *search,
                                        struct gpnn_search_stored stored, struct gpnn_error *err)
{
  struct gpnn_search_points *points = &search->points;
  size_t n = stored.duplicates_length / sizeof *stored.duplicates;
  if (stored.duplicates == NULL) return GPNN_OK;
  if (stored.duplicates_length % sizeof *stored.duplicates != 0 || n <= points->n ||
      n > 2 * points->n)
    return gpnn_fail(err, GPNN_EFORMAT, "the stored duplicates do not fit the rows");
  gpnn_duplicates_set(points, n - points->n, stored.duplicates);
  return GPNN_OK;
}

static enum gpnn_status load_engine(struct gpnn_search *search, struct gpnn_search_stored stored,
                                    struct gpnn_error *err)
{
  enum gpnn_search_kind kind = search->report.kind;
  enum gpnn_status status;
  if (kind == GPNN_SEARCH_EXACT) return GPNN_OK;
  if (kind == GPNN_SEARCH_FLAT)
    return gpnn_faiss_build(&search->faiss, &search->points, kind, 0, 0, 1, err);
  if (stored.bytes == NULL) return gpnn_fail(err, GPNN_EFORMAT, "the stored search is missing");
  if (kind == GPNN_SEARCH_TREE) {
    if (search->report.effort < 1 || search->report.effort > 100)
      return gpnn_fail(err, GPNN_EFORMAT, "the stored search does not fit its settings");
    status = gpnn_tree_map(&search->tree, stored.bytes, stored.length, &search->points, err);
    if (status == GPNN_OK) gpnn_search_set_effort(search, search->report.effort);
    return status;
  }
  return gpnn_faiss_map(&search->faiss, stored.bytes, stored.length, &search->points,
                        &search->report, err);
}

enum gpnn_status gpnn_search_load(struct gpnn_search **search, struct gpnn_search_stored stored,
                                  size_t n, size_t d, const double *x,
                                  const struct gpnn_search_report *report,
                                  struct gpnn_search_metric metric, struct gpnn_error *err)
{
  struct gpnn_search *made = NULL;
  enum gpnn_status status = create(&made, n, d, x, metric, err);
  if (status != GPNN_OK) return status;
  made->report = *report;
  status = load_duplicates(made, stored, err);
  if (status == GPNN_OK) status = load_engine(made, stored, err);
  if (status == GPNN_OK)
    *search = made;
  else
    gpnn_search_free(made);
  return status;
}

void gpnn_search_free(struct gpnn_search *search)
{
  if (search == NULL) return;
  gpnn_faiss_free(search->faiss);
  gpnn_tree_free(search->tree);
  free(search->lengthscale);
  free(search->rotation);
  free(search->inverse);
  free(search->map);
  free(search->duplicates);
  free(search);
}
