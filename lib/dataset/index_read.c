/*
 * Reading the sections of gpnn-index(5), none of which is trusted.
 */
#include <stdlib.h>

#include "dataset/index_private.h"

enum gpnn_status gpnn_index_find_section(const struct gpnn_index *index, const char *tag,
                                         const struct gpnn_container_section **section,
                                         struct gpnn_error *err)
{
  *section = gpnn_container_find(index->container, tag);
  if (*section != NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s is missing",
                   gpnn_container_path(index->container), tag);
}

enum gpnn_status gpnn_index_find_items(const struct gpnn_index *index, const char *tag, size_t n,
                                       size_t d, size_t width, const void **items,
                                       struct gpnn_error *err)
{
  const struct gpnn_container_section *section;
  enum gpnn_status status = gpnn_index_find_section(index, tag, &section, err);
  if (status != GPNN_OK) return status;
  size_t count, bytes;
  if (!gpnn_multiply(n, d, &count) || !gpnn_multiply(count, width, &bytes) ||
      bytes != section->length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s does not hold %zu by %zu numbers",
                     gpnn_container_path(index->container), tag, n, d);
  /* Sections are 64-byte aligned. */
  *items = gpnn_container_bytes(index->container, section);
  return GPNN_OK;
}

/* Verifies a small section and decodes it, all of it. */
static enum gpnn_status decode(struct gpnn_index *index, const struct gpnn_index_section *about,
                               const struct gpnn_container_section *section, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_container_check(index->container, section, err);
  if (status != GPNN_OK) return status;
  struct cursor cursor = {.at = gpnn_container_bytes(index->container, section),
                          .left = (size_t)section->length};
  gpnn_index_decode(about, &cursor, index);
  if (cursor.out_of_memory) return gpnn_fail_memory(err, "for opening an index");
  if (cursor.failed || cursor.left > 0)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s has values that are not allowed",
                     gpnn_container_path(index->container), about->tag.tag);
  return GPNN_OK;
}

/* Points the dataset to an array of rows where it is mapped. */
static enum gpnn_status find_rows(struct gpnn_index *index, const struct gpnn_index_section *about,
                                  struct gpnn_error *err)
{
  size_t n, d;
  const void *rows = NULL;
  gpnn_index_shape(about, &index->dataset, &n, &d);
  enum gpnn_status status =
      gpnn_index_find_items(index, about->tag.tag, n, d, sizeof(double), &rows, err);
  if (status == GPNN_OK) memcpy((char *)&index->dataset + about->rows.at, &rows, sizeof rows);
  return status;
}

/* Reads a section if it is there; it must be if the sections before it say so. */
static enum gpnn_status read_section(struct gpnn_index *index,
                                     const struct gpnn_index_section *about, struct gpnn_error *err)
{
  const struct gpnn_index_contents contents = {&index->dataset, index->present, NULL};
  const struct gpnn_container_section *section =
      gpnn_container_find(index->container, about->tag.tag);
  bool is_due = gpnn_index_has(about, &contents);
  if (section == NULL && about->tag.is_critical && is_due)
    return gpnn_index_find_section(index, about->tag.tag, &section, err);
  if (section == NULL) return GPNN_OK;
  if (about->decode != NULL || about->is_step) return decode(index, about, section, err);
  bool is_array = about->write == NULL && about->compose == NULL;
  return is_array && is_due ? find_rows(index, about, err) : GPNN_OK;
}

enum gpnn_status gpnn_index_read(struct gpnn_index *index, enum gpnn_container_kind kind,
                                 struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  const struct gpnn_index_section *section;
  const void *groups = NULL;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; (section = gpnn_index_section_at(i)) != NULL && status == GPNN_OK; i++)
    if (gpnn_index_may_have(kind, section)) status = read_section(index, section, err);
  if (status != GPNN_OK) return status;
  dataset->n_more = dataset->schema.n_more;
  dataset->n_regressors = dataset->schema.n_regressors;
  dataset->fingerprint = gpnn_container_fingerprint(index->container);
  if (kind != GPNN_CONTAINER_MODEL) dataset->mapping = gpnn_container_mapping(index->container);
  if (dataset->n_row_groups > 0)
    status = gpnn_index_find_items(index, "GRPS", dataset->n, 1, sizeof *dataset->row_group,
                                   &groups, err);
  dataset->row_group = groups;
  return status;
}
