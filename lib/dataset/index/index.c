#include "dataset/index/index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "container/container.h"
#include "dataset/index/index_private.h"
#include "table/npy.h"

/* Lists the inputs and their groups; under whitening, every direction is a group. */
static enum gpnn_status set_coordinates(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  enum gpnn_status status = gpnn_dataset_list_coordinates(dataset, &index->coordinates, err);
  if (status != GPNN_OK) return status;
  if (dataset->lacks != NULL && dataset->coordinates == NULL)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section LACK is of inputs that are whitened",
                     gpnn_container_path(index->container));
  index->group = gpnn_alloc(dataset->d, 1, sizeof *index->group);
  if (index->group == NULL) return gpnn_fail_memory(err, "for opening an index");
  for (size_t j = 0; j < dataset->d; j++)
    index->group[j] = index->coordinates == NULL ? (uint32_t)j : index->coordinates[j].group;
  dataset->group = index->group;
  return GPNN_OK;
}

/* Reads the first bytes of a regular file.  From a pipe they would be lost to its reader. */
static size_t read_start(const char *path, void *bytes, size_t capacity)
{
  struct stat st;
  FILE *file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
  if (file == NULL) return 0;
  size_t got = fread(bytes, 1, capacity, file);
  fclose(file);
  return got;
}

/* What 'path' begins as: its kind, or GPNN_CONTAINER_UNKNOWN.  '*is_cut' becomes true of a
 * container that ends before its kind shows. */
static enum gpnn_container_kind kind_of(const char *path, bool *is_cut)
{
  char bytes[GPNN_CONTAINER_KIND_BYTES];
  enum gpnn_container_kind kind = GPNN_CONTAINER_UNKNOWN;
  size_t got = read_start(path, bytes, sizeof bytes);
  bool is_container = gpnn_container_recognise(bytes, got, &kind);
  *is_cut = is_container && got < sizeof bytes;
  return is_container ? kind : GPNN_CONTAINER_UNKNOWN;
}

bool gpnn_index_recognise(const char *path)
{
  bool is_cut;
  enum gpnn_container_kind kind = kind_of(path, &is_cut);
  return is_cut || kind == GPNN_CONTAINER_INDEX || kind == GPNN_CONTAINER_GRID ||
         kind == GPNN_CONTAINER_MODEL;
}

bool gpnn_index_is_model(const char *path)
{
  bool is_cut;
  return kind_of(path, &is_cut) == GPNN_CONTAINER_MODEL;
}

bool gpnn_index_has_parameters(const char *path)
{
  unsigned char bytes[GPNN_CONTAINER_FRONT_BYTES];
  enum gpnn_container_kind kind;
  size_t got = read_start(path, bytes, sizeof bytes);
  if (!gpnn_container_recognise(bytes, got, &kind)) return false;
  bool may_be_packed = kind == GPNN_CONTAINER_INDEX || kind == GPNN_CONTAINER_GRID;
  return kind == GPNN_CONTAINER_MODEL ||
         (may_be_packed && gpnn_container_lists(bytes, got, "PARA"));
}

const char *gpnn_index_look(const char *path)
{
  static const char params[] = "# gpnn parameters";
  unsigned char bytes[512];
  enum gpnn_container_kind kind;
  size_t got = read_start(path, bytes, sizeof bytes);
  if (gpnn_container_recognise(bytes, got, &kind)) return gpnn_container_kind_name(kind);
  if (got >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) return "a table";
  if (got >= GPNN_NPY_MAGIC_BYTES && memcmp(bytes, GPNN_NPY_MAGIC, GPNN_NPY_MAGIC_BYTES) == 0)
    return "a table";
  if (got >= strlen(params) && memcmp(bytes, params, strlen(params)) == 0)
    return "a parameters file";
  /* Text has no control bytes but tabs and line ends. */
  for (size_t i = 0; i < got; i++)
    if (bytes[i] < 0x20 && memchr("\t\r\n", bytes[i], 3) == NULL) return NULL;
  return got > 0 ? "a table" : NULL;
}

/* The section that stores a search of this kind; NULL: the kind needs none. */
static const char *stored_tag(enum gpnn_search_kind kind)
{
  if (kind == GPNN_SEARCH_TREE) return "TREE";
  return kind == GPNN_SEARCH_IVF || kind == GPNN_SEARCH_HNSW ? "FAIS" : NULL;
}

/* Sections up to this many bytes are verified in next to no time. */
static const uint64_t small = 64 << 20;

/* Finds the stored search, and verifies its checksum unless it is large: it is only mapped. */
static enum gpnn_status open_stored(const struct gpnn_index *index,
                                    struct gpnn_search_stored *stored, struct gpnn_error *err)
{
  const struct gpnn_container_section *section = NULL;
  enum gpnn_status status =
      gpnn_index_find_section(index, stored_tag(index->source.report.kind), &section, err);
  if (status != GPNN_OK) return status;
  stored->bytes = gpnn_container_bytes(index->container, section);
  stored->length = (size_t)section->length;
  return index->is_verified || section->length > small
             ? GPNN_OK
             : gpnn_container_check(index->container, section, err);
}

/* Finds the section that says which rows are identical; there is none if few are. */
static enum gpnn_status open_duplicates(const struct gpnn_index *index,
                                        struct gpnn_search_stored *stored, struct gpnn_error *err)
{
  const struct gpnn_container_section *section = gpnn_container_find(index->container, "SAME");
  if (section == NULL) return GPNN_OK;
  stored->duplicates =
      (const uint32_t *)(const void *)gpnn_container_bytes(index->container, section);
  stored->duplicates_length = (size_t)section->length;
  return index->is_verified || section->length > small
             ? GPNN_OK
             : gpnn_container_check(index->container, section, err);
}

static enum gpnn_status load_search(const struct gpnn_index *index,
                                    const struct gpnn_dataset *dataset, struct gpnn_search **search,
                                    struct gpnn_error *err)
{
  struct gpnn_search_stored stored = {0};
  struct gpnn_error reason = {0};
  enum gpnn_status status = GPNN_OK;
  if (stored_tag(index->source.report.kind) != NULL) status = open_stored(index, &stored, err);
  if (status == GPNN_OK) status = open_duplicates(index, &stored, err);
  if (status != GPNN_OK) return status;
  status = gpnn_search_load(search, stored, dataset->n, dataset->d, dataset->x,
                            &index->source.report, gpnn_dataset_search_metric(dataset), &reason);
  return status == GPNN_OK
             ? GPNN_OK
             : gpnn_fail(err, status, "%s: %s", gpnn_container_path(index->container), reason.text);
}

/* The load() of struct gpnn_dataset_source. */
static enum gpnn_status load_stored(const void *context, const struct gpnn_dataset *dataset,
                                    struct gpnn_search **search, struct gpnn_error *err)
{
  const struct gpnn_index *index = context;
  pthread_mutex_lock(index->loading);
  enum gpnn_status status = load_search(index, dataset, search, err);
  pthread_mutex_unlock(index->loading);
  return status;
}

/* Points the views of targets that some rows lack to their own rows. */
static enum gpnn_status set_parts(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  const struct gpnn_container_section *section;
  size_t length;
  if (index->present == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_index_find_section(index, "PART", &section, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_index_parts_bytes(dataset, index->present, &length) || length != section->length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section PART has another length",
                     gpnn_container_path(index->container));
  gpnn_index_set_parts(dataset, index->present, gpnn_container_bytes(index->container, section),
                       index->source.views);
  if (index->present->n < dataset->n || index->present->n_calibration < dataset->n_calibration)
    dataset->target = GPNN_DATASET_ALL_ROWS;
  return GPNN_OK;
}

/* Gives the dataset the views of its targets, and its search. */
static enum gpnn_status set_source(struct gpnn_index *index, struct gpnn_error *err)
{
  index->source.load = load_stored;
  index->source.context = index;
  index->source.metric = (struct gpnn_search_metric){index->lengthscale, index->rotation};
  index->source.sight = index->sight;
  enum gpnn_status status = gpnn_dataset_set_views(&index->source, &index->dataset, err);
  return status == GPNN_OK ? set_parts(index, err) : status;
}

/* The kind of file that 'path' is opened as: an index, unless it is a grid or a model. */
static enum gpnn_container_kind opened_kind(const char *path)
{
  bool is_cut;
  enum gpnn_container_kind kind = kind_of(path, &is_cut);
  return kind == GPNN_CONTAINER_GRID || kind == GPNN_CONTAINER_MODEL ? kind : GPNN_CONTAINER_INDEX;
}

static enum gpnn_status read_dataset(struct gpnn_index *index, enum gpnn_container_kind kind,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_index_read(index, kind, err);
  if (status == GPNN_OK && kind == GPNN_CONTAINER_GRID) status = gpnn_index_read_grid(index, err);
  if (status == GPNN_OK && kind == GPNN_CONTAINER_MODEL) status = gpnn_index_read_model(index, err);
  if (status == GPNN_OK) status = set_coordinates(index, err);
  if (status != GPNN_OK || kind == GPNN_CONTAINER_GRID) return status;
  return kind == GPNN_CONTAINER_MODEL ? gpnn_index_set_model(index, err) : set_source(index, err);
}

/* True if 'n' targets are classes or, where they may be, missing. */
static bool are_classes(size_t n, const double *y, size_t n_classes, bool missing)
{
  for (size_t i = 0; i < n; i++) {
    bool is_class = y[i] >= 0 && y[i] < (double)n_classes && y[i] == (double)(size_t)y[i];
    if (!is_class && !(missing && isnan(y[i]))) return false;
  }
  return true;
}

/* The same for target 't' of all training and calibration rows. */
static bool have_classes(const struct gpnn_dataset *rows, size_t t, size_t n_classes, bool missing)
{
  size_t n = rows->n, c = rows->n_calibration;
  const double *y = t == 0 ? rows->y : rows->more + (t - 1) * n;
  const double *held_out = t == 0 ? rows->calibration_y : rows->calibration_more + (t - 1) * c;
  return are_classes(n, y, n_classes, missing) && are_classes(c, held_out, n_classes, missing);
}

/* Checks that classes are among those there are, so that they can be used as numbers of elements
 * whatever the file holds. */
static enum gpnn_status check_classes(const struct gpnn_index *index, struct gpnn_error *err)
{
  const struct gpnn_dataset *rows = &index->dataset;
  bool good = true, is_partial = index->present != NULL;
  for (size_t t = 0; t <= rows->n_more && good; t++) {
    size_t k = gpnn_schema_target(&rows->schema, t)->n_levels;
    if (k == 0) continue;
    good = have_classes(rows, t, k, is_partial) &&
           (!is_partial || have_classes(&index->source.views[t], 0, k, false));
  }
  return good ? GPNN_OK
              : gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: a target has a class that is not there",
                          gpnn_container_path(index->container));
}

enum gpnn_status gpnn_index_open(struct gpnn_index **index, const char *path, bool verify,
                                 struct gpnn_error *err)
{
  struct gpnn_index *opened = calloc(1, sizeof *opened);
  pthread_mutex_t *loading = malloc(sizeof *loading);
  if (opened == NULL || loading == NULL) {
    free(opened);
    free(loading);
    return gpnn_fail_memory(err, "for opening an index");
  }
  pthread_mutex_init(loading, NULL);
  opened->loading = loading;
  enum gpnn_container_kind kind = opened_kind(path);
  enum gpnn_status status =
      gpnn_container_open(&opened->container, path, gpnn_index_format(kind, &opened->format), err);
  const char *look = status == GPNN_EMISMATCH ? gpnn_index_look(path) : NULL;
  if (look != NULL)
    status = gpnn_fail(err, GPNN_EMISMATCH, "%s is %s, not an index%s", path, look,
                       strcmp(look, "a table") == 0 ? ": make one with gpnn-index" : "");
  if (status == GPNN_OK) status = read_dataset(opened, kind, err);
  if (status == GPNN_OK && kind != GPNN_CONTAINER_MODEL &&
      gpnn_index_has_classes(&(struct gpnn_index_contents){.dataset = &opened->dataset}))
    status = check_classes(opened, err);
  if (status == GPNN_OK && verify) status = gpnn_index_verify(opened, kind, err);
  opened->is_verified = verify;
  if (status == GPNN_OK)
    *index = opened;
  else
    gpnn_index_close(opened);
  return status;
}

const struct gpnn_dataset *gpnn_index_dataset(const struct gpnn_index *index)
{
  return &index->dataset;
}

struct gpnn_index_search gpnn_index_search(const struct gpnn_index *index)
{
  const struct gpnn_dataset *dataset = &index->dataset;
  if (index->sight == NULL)
    return (struct gpnn_index_search){dataset->d, gpnn_dataset_search_report(dataset),
                                      gpnn_dataset_search_metric(dataset), NULL};
  return (struct gpnn_index_search){gpnn_scores_width(dataset->d, index->sight),
                                    index->source.report, index->source.metric, index->sight};
}

bool gpnn_index_section(const struct gpnn_index *index, size_t i, char tag[5], uint64_t *offset,
                        uint64_t *length)
{
  if (i >= gpnn_container_count(index->container)) return false;
  const struct gpnn_container_section *section = gpnn_container_get(index->container, i);
  memcpy(tag, section->tag, 5);
  *offset = section->offset;
  *length = section->length;
  return true;
}

const char *gpnn_index_path(const struct gpnn_index *index)
{
  return gpnn_container_path(index->container);
}

void gpnn_index_close(struct gpnn_index *index)
{
  if (index == NULL) return;
  free(index->source.views);
  gpnn_schema_release(&index->dataset.schema);
  gpnn_scaling_release(&index->dataset.scaling);
  free(index->sight);
  free(index->lengthscale);
  free(index->rotation);
  free(index->group);
  free(index->coordinates);
  gpnn_scores_release(&index->scores);
  free(index->provenance);
  free(index->held_out);
  free(index->present);
  for (size_t a = 0; a < index->n_factor_names; a++) free(index->factor_name[a]);
  free(index->factor_name);
  free(index->factor);
  free(index->stored);
  gpnn_state_free(index->arrays);
  gpnn_container_close(index->container);
  pthread_mutex_destroy(index->loading);
  free(index->loading);
  free(index);
}
