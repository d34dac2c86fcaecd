/*
 * Checking the sections of an index that are too large to be checked whenever it is opened.
 */
#include <math.h>

#include "dataset/index_private.h"

/* What the numbers of a section may be besides finite and above 0. */
struct allowed {
  bool negative, zero, missing;
};

static struct allowed allowed_in(const struct gpnn_index *index,
                                 const struct gpnn_index_section *about)
{
  enum gpnn_index_numbers numbers = about->numbers;
  return (struct allowed){
      .negative = numbers == GPNN_INDEX_ANY || numbers == GPNN_INDEX_TARGETS,
      .zero = numbers != GPNN_INDEX_EXPOSURES,
      .missing = numbers == GPNN_INDEX_TARGETS && index->present != NULL,
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

enum gpnn_status gpnn_index_verify(const struct gpnn_index *index, enum gpnn_container_kind kind,
                                   struct gpnn_error *err)
{
  struct gpnn_fingerprint fingerprint = {0};
  const struct gpnn_container *container = index->container;
  const struct gpnn_index_section *section;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < gpnn_container_count(container) && status == GPNN_OK; i++)
    status = gpnn_container_check(container, gpnn_container_get(container, i), err);
  for (size_t i = 0; (section = gpnn_index_section_at(i)) != NULL && status == GPNN_OK; i++)
    if (gpnn_index_may_have(kind, section) && section->hash != GPNN_INDEX_UNHASHED)
      status = verify_section(index, section, &fingerprint, err);
  if (status != GPNN_OK) return status;
  if (gpnn_fingerprint_value(&fingerprint) != gpnn_container_fingerprint(container))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the fingerprint is wrong",
                     gpnn_container_path(container));
  status = verify_row_groups(index, err);
  return status == GPNN_OK ? verify_parts(index, err) : status;
}
