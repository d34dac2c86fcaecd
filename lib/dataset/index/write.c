/*
 * Writing the sections of gpnn-index(5).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "dataset/index/index_private.h"

/* ---- one section ---- */

enum gpnn_status gpnn_index_write_bytes(struct gpnn_index_writing *writing,
                                        const struct gpnn_index_section *section, const void *bytes,
                                        size_t length, struct gpnn_error *err)
{
  enum { BLOCK = 1 << 18 };
  struct gpnn_mapping mapping = writing->contents.dataset->mapping;
  const unsigned char *from = bytes;
  bool is_written = writing->writer != NULL;
  enum gpnn_status status =
      is_written ? gpnn_container_begin(writing->writer, section->tag.tag, err) : GPNN_OK;
  gpnn_fingerprint_begin(&writing->fingerprint, section, length);
  for (size_t at = 0, released = 0; at < length && status == GPNN_OK; at += BLOCK) {
    size_t block = length - at < BLOCK ? length - at : BLOCK;
    if (is_written) status = gpnn_container_write(writing->writer, from + at, block, err);
    gpnn_fingerprint_add(&writing->fingerprint, section, from + at, block);
    if (at - released < GPNN_MAPPING_STRIDE) continue;
    gpnn_mapping_evict(mapping, from + released, at - released);
    released = at;
  }
  return status == GPNN_OK && is_written ? gpnn_container_end(writing->writer, err) : status;
}

/* Hashes an array of training rows, each of which has 'width' numbers: who has the first of them
 * begins, and hands over what comes of it. */
static enum gpnn_status hash_in_turn(struct gpnn_index_writing *writing,
                                     const struct gpnn_index_section *section, const double *rows,
                                     size_t width, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = writing->contents.dataset;
  const struct gpnn_parts *parts = writing->parts;
  struct gpnn_peers *peers = parts->peers;
  struct gpnn_fingerprint *print = &writing->fingerprint;
  size_t stretch = GPNN_MAPPING_STRIDE / (width * sizeof *rows) + 1, n_here, n;
  enum gpnn_status status = gpnn_peers_agree(peers, GPNN_OK, err);
  gpnn_fingerprint_begin(print, section, (uint64_t)dataset->n * width * sizeof *rows);
  for (size_t r = 0; r < peers->size && status == GPNN_OK; r++) {
    if (parts->first[r] == parts->first[r + 1]) continue;
    n_here = r == peers->rank ? (size_t)(parts->first[r + 1] - parts->first[r]) : 0;
    for (size_t i = 0; i < n_here; i += n) {
      n = n_here - i < stretch ? n_here - i : stretch;
      gpnn_fingerprint_add(print, section, rows + i * width, n * width * sizeof *rows);
      gpnn_mapping_evict(dataset->mapping, rows + i * width, n * width * sizeof *rows);
    }
    peers->broadcast(peers->context, r, print, sizeof *print);
  }
  return status;
}

static enum gpnn_status write_array(struct gpnn_index_writing *writing,
                                    const struct gpnn_index_section *section,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = writing->contents.dataset;
  const double *rows;
  size_t n, d, count, length;
  memcpy(&rows, (const char *)dataset + section->rows.at, sizeof rows);
  gpnn_index_shape(section, dataset, &n, &d);
  if (writing->parts != NULL && !section->rows.is_calibration)
    return hash_in_turn(writing, section, rows, n == dataset->n ? d : n, err);
  if (!gpnn_multiply(n, d, &count) || !gpnn_multiply(count, sizeof *rows, &length))
    return gpnn_fail_memory(err, "for writing an index");
  return gpnn_index_write_bytes(writing, section, rows, length, err);
}

static enum gpnn_status write_section(struct gpnn_index_writing *writing,
                                      const struct gpnn_index_section *section,
                                      struct gpnn_error *err)
{
  struct blob blob = {0};
  if (section->write != NULL) return section->write(writing, section, err);
  if (!gpnn_index_compose(section, &blob, &writing->contents))
    return write_array(writing, section, err);
  enum gpnn_status status =
      blob.failed ? gpnn_fail_memory(err, "for writing an index")
                  : gpnn_index_write_bytes(writing, section, blob.bytes, blob.length, err);
  free(blob.bytes);
  return status;
}

/* ---- all sections ---- */

/* Writes the sections of the dataset, or those of the search, which come after them. */
static enum gpnn_status write_sections(struct gpnn_index_writing *writing, bool of_search,
                                       struct gpnn_error *err)
{
  const struct gpnn_index_section *section;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; (section = gpnn_index_section_at(i)) != NULL && status == GPNN_OK; i++) {
    if (!gpnn_index_may_have(writing->kind, section) || section->is_search != of_search) continue;
    if (writing->writer == NULL && section->hash == GPNN_INDEX_UNHASHED) continue;
    if (gpnn_index_has(section, &writing->contents)) status = write_section(writing, section, err);
  }
  return status;
}

/* Creates the file; after a failure there is nothing to finish. */
static enum gpnn_status begin(struct gpnn_index_writing *writing, const char *path,
                              enum gpnn_container_kind kind, const struct gpnn_dataset *dataset,
                              const char *volatile *watch, struct gpnn_error *err)
{
  *writing = (struct gpnn_index_writing){
      .kind = kind, .path = path, .contents = {.dataset = dataset, .over = dataset}};
  if (kind == GPNN_CONTAINER_INDEX) {
    enum gpnn_status status = gpnn_index_count_present(dataset, &writing->present, err);
    if (status != GPNN_OK) return status;
  }
  writing->contents.present = writing->present;
  enum gpnn_status status = gpnn_container_create(
      &writing->writer, path, gpnn_index_format(kind, &writing->format), watch, err);
  if (status != GPNN_OK) free(writing->present);
  return status;
}

/* Unless 'status' is a failure, writes the search and commits the file; otherwise removes it. */
static enum gpnn_status finish(struct gpnn_index_writing *writing, enum gpnn_status status,
                               struct gpnn_error *err)
{
  if (status == GPNN_OK) status = write_sections(writing, true, err);
  if (status == GPNN_OK)
    status =
        gpnn_container_commit(writing->writer, gpnn_fingerprint_value(&writing->fingerprint), err);
  else
    gpnn_container_abandon(writing->writer);
  free(writing->present);
  return status;
}

/* Writes a file of some kind with the search that it has, if it has one. */
static enum gpnn_status write_file(const char *path, enum gpnn_container_kind kind,
                                   const struct gpnn_dataset *dataset,
                                   const struct gpnn_search *search, const char *volatile *watch,
                                   struct gpnn_error *err)
{
  struct gpnn_index_writing writing;
  enum gpnn_status status = begin(&writing, path, kind, dataset, watch, err);
  if (status != GPNN_OK) return status;
  writing.contents.search = search;
  status = write_sections(&writing, false, err);
  return finish(&writing, status, err);
}

enum gpnn_status gpnn_index_write(const char *path, const struct gpnn_dataset *dataset,
                                  const struct gpnn_search *search, const char *volatile *watch,
                                  struct gpnn_error *err)
{
  return write_file(path, GPNN_CONTAINER_INDEX, dataset, search, watch, err);
}

enum gpnn_status gpnn_index_fingerprint(const struct gpnn_dataset *dataset,
                                        const struct gpnn_parts *parts, uint64_t *fingerprint,
                                        struct gpnn_error *err)
{
  struct gpnn_index_writing writing = {.kind = GPNN_CONTAINER_INDEX,
                                       .parts = parts,
                                       .contents = {.dataset = dataset, .over = dataset}};
  enum gpnn_status status = gpnn_index_count_present(dataset, &writing.present, err);
  if (status != GPNN_OK) return status;
  writing.contents.present = writing.present;
  status = write_sections(&writing, false, err);
  *fingerprint = gpnn_fingerprint_value(&writing.fingerprint);
  free(writing.present);
  return status;
}

enum gpnn_status gpnn_index_write_grid(const char *path, const struct gpnn_dataset *dataset,
                                       const char *volatile *watch, struct gpnn_error *err)
{
  return write_file(path, GPNN_CONTAINER_GRID, dataset, NULL, watch, err);
}

enum gpnn_status gpnn_index_write_stored(const char *path, const struct gpnn_dataset *dataset,
                                         const char *volatile *watch, struct gpnn_error *err)
{
  struct gpnn_dataset without_rows = *dataset;
  without_rows.schema.has_by = false; /* its groups are those of rows, which are not there */
  return write_file(path, GPNN_CONTAINER_MODEL, &without_rows, NULL, watch, err);
}

/* ---- a model as one file ---- */

static bool is_packed(const char *tag)
{
  const struct gpnn_index_section *section;
  for (size_t i = 0; (section = gpnn_index_section_at(i)) != NULL; i++)
    if (strcmp(section->tag.tag, tag) == 0) return section->is_packed;
  return false;
}

/* Begins the file with all sections of the index that come before what is packed, behind which
 * there are no others. */
static enum gpnn_status copy_unpacked(struct gpnn_container_writer *writer,
                                      const struct gpnn_container *container,
                                      struct gpnn_error *err)
{
  size_t n = 0, n_all = gpnn_container_count(container);
  while (n < n_all && !is_packed(gpnn_container_get(container, n)->tag)) n++;
  for (size_t i = n; i < n_all; i++)
    if (!is_packed(gpnn_container_get(container, i)->tag))
      return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s is behind what was packed",
                       gpnn_container_path(container), gpnn_container_get(container, i)->tag);
  return gpnn_container_copy(writer, container, n, err);
}

static enum gpnn_status write_packed(struct gpnn_index_writing *writing, struct gpnn_error *err)
{
  const struct gpnn_index_section *section;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; (section = gpnn_index_section_at(i)) != NULL && status == GPNN_OK; i++)
    if (section->is_packed && gpnn_index_has(section, &writing->contents))
      status = write_section(writing, section, err);
  return status;
}

enum gpnn_status gpnn_index_pack(const char *path, const struct gpnn_index *index,
                                 const struct gpnn_reading *reading,
                                 const struct gpnn_packed *packed, const char *volatile *watch,
                                 struct gpnn_error *err)
{
  struct gpnn_dataset dataset = index->dataset;
  struct gpnn_index_writing writing = {.path = path, .contents.dataset = &dataset};
  dataset.reading = *reading;
  dataset.packed = *packed;
  enum gpnn_status status =
      gpnn_container_create(&writing.writer, path, &index->format.container, watch, err);
  if (status != GPNN_OK) return status;
  status = copy_unpacked(writing.writer, index->container, err);
  if (status == GPNN_OK) status = write_packed(&writing, err);
  if (status == GPNN_OK)
    return gpnn_container_commit(writing.writer, gpnn_container_fingerprint(index->container), err);
  gpnn_container_abandon(writing.writer);
  return status;
}

/* ---- writing while a search is built ---- */

/* Arguments and result of the thread that writes the dataset. */
struct background {
  struct gpnn_index_writing *writing;
  enum gpnn_status status;
  struct gpnn_error error;
};

/* Brings the rows to disk too, which has time for it while the search is built. */
static void *write_in_background(void *context)
{
  struct background *background = context;
  background->status = write_sections(background->writing, false, &background->error);
  if (background->status == GPNN_OK)
    background->status = gpnn_container_sync(background->writing->writer, &background->error);
  return NULL;
}

static enum gpnn_status write_and_build(struct gpnn_index_writing *writing,
                                        const struct gpnn_search_options *options,
                                        struct gpnn_search **search, struct gpnn_error *err)
{
  const struct gpnn_dataset *over = writing->contents.over;
  struct background background = {writing, GPNN_OK, {0}};
  pthread_t thread;
  bool in_background =
      options->threads > 1 && gpnn_threads_start(&thread, write_in_background, &background);
  enum gpnn_status status = gpnn_search_build(search, over->n, over->d, over->x, options, err);
  if (in_background)
    pthread_join(thread, NULL);
  else if (status == GPNN_OK)
    background.status = write_sections(writing, false, &background.error);
  if (status != GPNN_OK || background.status == GPNN_OK) return status;
  if (err != NULL) *err = background.error;
  return background.status;
}

enum gpnn_status gpnn_index_make(const char *path, const struct gpnn_dataset *dataset,
                                 const struct gpnn_dataset *over,
                                 const struct gpnn_search_options *options,
                                 const char *volatile *watch, struct gpnn_search **search,
                                 struct gpnn_error *err)
{
  struct gpnn_index_writing writing;
  struct gpnn_search_options over_pages = *options;
  struct gpnn_search *built = NULL;
  if (over == NULL) over = dataset;
  over_pages.mapping = over->mapping;
  over_pages.to_save = true;
  enum gpnn_status status = begin(&writing, path, GPNN_CONTAINER_INDEX, dataset, watch, err);
  if (status != GPNN_OK) return status;
  writing.contents.over = over;
  status = write_and_build(&writing, &over_pages, &built, err);
  writing.contents.search = built;
  status = finish(&writing, status, err);
  if (status == GPNN_OK)
    *search = built;
  else
    gpnn_search_free(built);
  return status;
}
