/*
 * Reading the sections of gpnn-index(5), none of which is trusted, and checking those that are too
 * large to be checked whenever an index is opened.
 */
#include <math.h>
#include <stdlib.h>

#include "dataset/dataset_private.h"
#include "dataset/index/index_private.h"
#include "dataset/missing.h"

/* ---- reading ------------------------------------------------------------------------------- */

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
  const struct gpnn_index_contents contents = {
      .dataset = &index->dataset, .present = index->present, .over = &index->dataset};
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

/* Points the dataset to the ids of its rows where they are mapped; how they are divided is looked
 * at by those who need them. */
static enum gpnn_status find_ids(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  const struct gpnn_container_section *section;
  size_t n, bytes;
  if (!dataset->schema.has_id) return GPNN_OK;
  enum gpnn_status status = gpnn_index_find_section(index, "IDEN", &section, err);
  if (status != GPNN_OK) return status;
  if (__builtin_add_overflow(dataset->n, dataset->n_calibration, &n) ||
      !gpnn_multiply(n, sizeof *index->ids.ends, &bytes) || bytes > section->length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section IDEN is too short for the rows",
                     gpnn_container_path(index->container));
  const unsigned char *from = gpnn_container_bytes(index->container, section);
  index->ids = (struct gpnn_ids){.n = n,
                                 .n_bytes = (size_t)section->length - bytes,
                                 .ends = (const uint64_t *)(const void *)from,
                                 .text = (const char *)from + bytes};
  dataset->ids = &index->ids;
  return GPNN_OK;
}

enum gpnn_status gpnn_index_read(struct gpnn_index *index, enum gpnn_container_kind kind,
                                 struct gpnn_error *err)
{
  struct gpnn_dataset *dataset = &index->dataset;
  const struct gpnn_index_section *section;
  const void *groups = NULL, *keys = NULL, *lacks = NULL;
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
  if (status == GPNN_OK && gpnn_container_find(index->container, "GKEY") != NULL)
    status = gpnn_index_find_items(index, "GKEY", dataset->n_row_groups + dataset->n_calibration, 1,
                                   sizeof *dataset->group_keys, &keys, err);
  dataset->group_keys = keys;
  if (keys != NULL)
    dataset->n_calibration_groups = gpnn_dataset_count_groups(
        dataset->n_calibration, dataset->group_keys + dataset->n_row_groups,
        dataset->calibration_y);
  if (status == GPNN_OK && gpnn_container_find(index->container, "LACK") != NULL)
    status = gpnn_index_find_items(index, "LACK", dataset->n,
                                   gpnn_lacks_bytes(dataset->schema.n_inputs), 1, &lacks, err);
  dataset->lacks = lacks;
  return status == GPNN_OK ? find_ids(index, err) : status;
}

/* ---- verifying ----------------------------------------------------------------------------- */

/* What the numbers of a section may be besides finite and above 0. */
struct allowed {
  bool negative, zero, missing;
};

static struct allowed allowed_in(const struct gpnn_index *index,
                                 const struct gpnn_index_section *about)
{
  enum gpnn_index_numbers numbers = about->numbers;
  return (struct allowed){
      .negative = numbers == GPNN_INDEX_ANY || numbers == GPNN_INDEX_MISSING ||
                  numbers == GPNN_INDEX_TARGETS,
      .zero = numbers != GPNN_INDEX_EXPOSURES,
      .missing = (numbers == GPNN_INDEX_TARGETS && index->present != NULL) ||
                 (numbers == GPNN_INDEX_MISSING && index->dataset.lacks != NULL),
  };
}

static bool are_allowed(size_t n, const double *values, struct allowed allowed)
{
  for (size_t j = 0; j < n; j++) {
    bool is_number = isfinite(values[j]) || (allowed.missing && isnan(values[j]));
    if (!is_number || (!allowed.negative && values[j] < 0)) return false;
    if (!allowed.zero && values[j] == 0) return false;
  }
  return true;
}

/* Adds a section to the fingerprint and, if it holds rows, checks their numbers, evicting pages
 * behind it. */
static enum gpnn_status verify_section(const struct gpnn_index *index,
                                       const struct gpnn_index_section *about,
                                       struct gpnn_fingerprint *fingerprint, struct gpnn_error *err)
{
  const struct gpnn_container_section *section =
      gpnn_container_find(index->container, about->tag.tag);
  if (section == NULL) return GPNN_OK;
  const struct allowed allowed = allowed_in(index, about);
  bool good = true;
  const unsigned char *bytes = gpnn_container_bytes(index->container, section);
  size_t length = (size_t)section->length;
  gpnn_fingerprint_begin(fingerprint, about, length);
  for (size_t at = 0; at < length && good; at += GPNN_MAPPING_STRIDE) {
    size_t block = length - at < GPNN_MAPPING_STRIDE ? length - at : GPNN_MAPPING_STRIDE;
    gpnn_fingerprint_add(fingerprint, about, bytes + at, block);
    if (about->numbers != GPNN_INDEX_NO_NUMBERS)
      good =
          are_allowed(block / sizeof(double), (const double *)(const void *)(bytes + at), allowed);
    gpnn_mapping_evict(index->dataset.mapping, bytes + at, block);
  }
  if (!good)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s has a %s",
                     gpnn_container_path(index->container), about->tag.tag,
                     allowed.negative ? "number that is not finite"
                     : allowed.zero   ? "variance that is negative or not finite"
                                      : "exposure that is not above 0 or not finite");
  return GPNN_OK;
}

/* Checks that the groups of rows are among those there are. */
static enum gpnn_status verify_row_groups(const struct gpnn_index *index, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = &index->dataset;
  for (size_t i = 0; i < dataset->n && dataset->row_group != NULL; i++)
    if (dataset->row_group[i] >= dataset->n_row_groups)
      return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section GRPS has a group that is not there",
                       gpnn_container_path(index->container));
  return GPNN_OK;
}

static enum gpnn_status verify_ids(const struct gpnn_index *index, struct gpnn_error *err)
{
  if (index->dataset.ids == NULL || gpnn_ids_are_good(&index->ids)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT, "%s: " GPNN_IDS_DAMAGED,
                   gpnn_container_path(index->container));
}

/* Checks that targets are missing in as many rows as the index says, and that the rows of each are
 * those that have it. */
static enum gpnn_status verify_parts(const struct gpnn_index *index, struct gpnn_error *err)
{
  bool agree = true;
  if (index->present == NULL) return GPNN_OK;
  const struct gpnn_container_section *section = gpnn_container_find(index->container, "PART");
  enum gpnn_status status =
      gpnn_index_verify_parts(&index->dataset, index->present,
                              gpnn_container_bytes(index->container, section), &agree, err);
  if (status != GPNN_OK || agree) return status;
  return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section PART has other rows than the targets",
                   gpnn_container_path(index->container));
}

/* Compares the fingerprint, that of earlier files if 'is_earlier'. */
static enum gpnn_status verify_fingerprint(const struct gpnn_index *index,
                                           enum gpnn_container_kind kind, bool is_earlier,
                                           bool *agrees, struct gpnn_error *err)
{
  struct gpnn_fingerprint fingerprint = {.is_earlier = is_earlier};
  const struct gpnn_index_section *section;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; (section = gpnn_index_section_at(i)) != NULL && status == GPNN_OK; i++)
    if (gpnn_index_may_have(kind, section) && section->hash != GPNN_INDEX_UNHASHED)
      status = verify_section(index, section, &fingerprint, err);
  *agrees = gpnn_fingerprint_value(&fingerprint) == gpnn_container_fingerprint(index->container);
  return status;
}

enum gpnn_status gpnn_index_verify(const struct gpnn_index *index, enum gpnn_container_kind kind,
                                   struct gpnn_error *err)
{
  const struct gpnn_container *container = index->container;
  bool agrees = false;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < gpnn_container_count(container) && status == GPNN_OK; i++)
    status = gpnn_container_check(container, gpnn_container_get(container, i), err);
  if (status == GPNN_OK) status = verify_fingerprint(index, kind, false, &agrees, err);
  if (status == GPNN_OK && !agrees) status = verify_fingerprint(index, kind, true, &agrees, err);
  if (status != GPNN_OK) return status;
  if (!agrees)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the fingerprint is wrong",
                     gpnn_container_path(container));
  status = verify_row_groups(index, err);
  if (status == GPNN_OK) status = verify_ids(index, err);
  return status == GPNN_OK ? verify_parts(index, err) : status;
}
