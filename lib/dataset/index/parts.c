/*
 * Targets that some rows lack: how many rows have each, and copies of these rows, so that the rows
 * of every view are one array after another where they are mapped.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/dataset_private.h"
#include "dataset/index/index_private.h"

/* ---- presence ------------------------------------------------------------------------------ */

/* Target 't' of all training or calibration rows, NaN where it is missing. */
static const double *target_of(const struct gpnn_dataset *rows, size_t t, bool calibration)
{
  if (calibration)
    return t == 0 ? rows->calibration_y : rows->calibration_more + (t - 1) * rows->n_calibration;
  return t == 0 ? rows->y : rows->more + (t - 1) * rows->n;
}

static size_t count_present(size_t n, const double *y)
{
  size_t present = 0;
  for (size_t i = 0; i < n; i++) present += isnan(y[i]) ? 0 : 1;
  return present;
}

enum gpnn_status gpnn_index_count_present(const struct gpnn_dataset *rows,
                                          struct gpnn_index_present **present,
                                          struct gpnn_error *err)
{
  size_t n_targets = 1 + rows->n_more;
  bool is_any_missing = false;
  *present = NULL;
  if (rows->n_more == 0) return GPNN_OK; /* a row without its only target is bad */
  struct gpnn_index_present *counts = gpnn_alloc(n_targets, 1, sizeof *counts);
  if (counts == NULL) return gpnn_fail_memory(err, "for the targets of an index");
  for (size_t t = 0; t < n_targets; t++) {
    counts[t].n = count_present(rows->n, target_of(rows, t, false));
    counts[t].n_calibration = count_present(rows->n_calibration, target_of(rows, t, true));
    is_any_missing =
        is_any_missing || counts[t].n < rows->n || counts[t].n_calibration < rows->n_calibration;
  }
  if (is_any_missing)
    *present = counts;
  else
    free(counts);
  return GPNN_OK;
}

/* ---- arrays -------------------------------------------------------------------------------- */

/* What there is of each row, in the order of the section. */
enum { INPUTS, TARGET, REGRESSORS, NOISE, OFFSET, EXPOSURE, GROUP, ARRAYS };

struct array {
  const unsigned char *start; /* NULL: there is none */
  size_t width;               /* bytes of a row */
};

/* The arrays of all training or calibration rows with target 't'. */
static void list_arrays(const struct gpnn_dataset *rows, size_t t, bool calibration,
                        struct array arrays[ARRAYS])
{
  size_t n = calibration ? rows->n_calibration : rows->n;
  const double *noise = calibration ? rows->calibration_noise : rows->noise;
  const double *offset = calibration ? rows->calibration_offset : rows->offset;
  const void *starts[ARRAYS] = {
      [INPUTS] = calibration ? rows->calibration_x : rows->x,
      [TARGET] = target_of(rows, t, calibration),
      [REGRESSORS] = calibration ? rows->calibration_regressors : rows->regressors,
      [NOISE] = noise == NULL ? NULL : noise + t * n,
      [OFFSET] = offset == NULL ? NULL : offset + t * n,
      [EXPOSURE] = calibration ? rows->calibration_exposure : rows->exposure,
      [GROUP] = calibration ? NULL : rows->row_group};
  const size_t widths[ARRAYS] = {[INPUTS] = rows->d * sizeof(double),
                                 [TARGET] = sizeof(double),
                                 [REGRESSORS] = rows->n_regressors * sizeof(double),
                                 [NOISE] = sizeof(double),
                                 [OFFSET] = sizeof(double),
                                 [EXPOSURE] = sizeof(double),
                                 [GROUP] = sizeof(uint32_t)};
  for (size_t a = 0; a < ARRAYS; a++) arrays[a] = (struct array){starts[a], widths[a]};
}

/* Bytes of 'n' rows of an array with what fills it up to a multiple of 8; false: too many. */
static bool padded_bytes(size_t n, size_t width, size_t *bytes)
{
  if (!gpnn_multiply(n, width, bytes) || *bytes > SIZE_MAX - 8) return false;
  *bytes = (*bytes + 7) / 8 * 8;
  return true;
}

/* What is done with the part of a target: some of its training or calibration rows. */
struct part {
  size_t t;
  bool calibration;
  size_t n, n_all; /* rows that have the target, and all */
};

/* The next part after the 'at'-th of all possible ones, which are two for each target; false: there
 * is none. */
static bool next_part(const struct gpnn_dataset *rows, const struct gpnn_index_present *present,
                      size_t *at, struct part *part)
{
  for (; *at < 2 * (1 + rows->n_more); (*at)++) {
    const struct gpnn_index_present *counts = &present[*at / 2];
    *part = (struct part){*at / 2, *at % 2 == 1, counts->n, rows->n};
    if (part->calibration) {
      part->n = counts->n_calibration;
      part->n_all = rows->n_calibration;
    }
    if (part->n == part->n_all) continue;
    (*at)++;
    return true;
  }
  return false;
}

/* ---- writing ------------------------------------------------------------------------------- */

bool gpnn_index_parts_bytes(const struct gpnn_dataset *rows,
                            const struct gpnn_index_present *present, size_t *bytes)
{
  struct part part;
  size_t at = 0;
  *bytes = 0;
  while (next_part(rows, present, &at, &part)) {
    struct array arrays[ARRAYS];
    list_arrays(rows, part.t, part.calibration, arrays);
    for (size_t a = 0; a < ARRAYS; a++) {
      size_t own = 0;
      if (arrays[a].start != NULL && !padded_bytes(part.n, arrays[a].width, &own)) return false;
      if (own > SIZE_MAX - *bytes) return false;
      *bytes += own;
    }
  }
  return true;
}

/* Hands the rows of an array that have the target, block by block, to 'take', and zeros that fill
 * up the last 8 bytes. */
static enum gpnn_status gather(const struct array *array, const struct part *part, const double *y,
                               unsigned char *block, gpnn_index_taker *taker, void *context,
                               struct gpnn_error *err)
{
  size_t used = 0, padded = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < part->n_all && status == GPNN_OK; i++) {
    if (isnan(y[i])) continue;
    const unsigned char *row = array->start + i * array->width;
    for (size_t done = 0, piece; done < array->width && status == GPNN_OK; done += piece) {
      size_t left = array->width - done, room = GPNN_INDEX_PART_BLOCK - used;
      piece = left < room ? left : room;
      memcpy(block + used, row + done, piece);
      used += piece;
      if (used < GPNN_INDEX_PART_BLOCK) continue;
      status = taker(context, block, used, err);
      used = 0;
    }
  }
  if (status != GPNN_OK || used == 0) return status;
  padded = (used + 7) / 8 * 8;
  memset(block + used, 0, padded - used);
  return taker(context, block, padded, err);
}

enum gpnn_status gpnn_index_gather_parts(const struct gpnn_dataset *rows,
                                         const struct gpnn_index_present *present,
                                         gpnn_index_taker *taker, void *context,
                                         struct gpnn_error *err)
{
  struct part part;
  size_t at = 0;
  unsigned char *block = malloc(GPNN_INDEX_PART_BLOCK);
  if (block == NULL) return gpnn_fail_memory(err, "for the targets of an index");
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK && next_part(rows, present, &at, &part)) {
    const double *y = target_of(rows, part.t, part.calibration);
    struct array arrays[ARRAYS];
    list_arrays(rows, part.t, part.calibration, arrays);
    for (size_t a = 0; a < ARRAYS && status == GPNN_OK; a++)
      if (arrays[a].start != NULL)
        status = gather(&arrays[a], &part, y, block, taker, context, err);
  }
  free(block);
  return status;
}

/* What takes the bytes of the section into the file. */
struct destination {
  struct gpnn_index_writing *writing;
  const struct gpnn_index_section *section;
};

static enum gpnn_status take_part(void *context, const unsigned char *bytes, size_t length,
                                  struct gpnn_error *err)
{
  const struct destination *to = context;
  gpnn_fingerprint_add(&to->writing->fingerprint, to->section, bytes, length);
  return gpnn_container_write(to->writing->writer, bytes, length, err);
}

enum gpnn_status gpnn_index_write_parts(struct gpnn_index_writing *writing,
                                        const struct gpnn_index_section *section,
                                        struct gpnn_error *err)
{
  struct destination to = {writing, section};
  const struct gpnn_index_contents *contents = &writing->contents;
  size_t length;
  if (!gpnn_index_parts_bytes(contents->dataset, contents->present, &length))
    return gpnn_fail_memory(err, "for writing an index");
  enum gpnn_status status = gpnn_container_begin(writing->writer, section->tag.tag, err);
  gpnn_fingerprint_begin(&writing->fingerprint, section, length);
  if (status == GPNN_OK)
    status = gpnn_index_gather_parts(contents->dataset, contents->present, take_part, &to, err);
  return status == GPNN_OK ? gpnn_container_end(writing->writer, err) : status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Points a view of 'rows' to its own rows. */
static void set_rows(struct gpnn_dataset *view, const struct gpnn_dataset *rows,
                     const struct part *part, const double *const starts[ARRAYS])
{
  if (part->calibration) {
    view->n_calibration = part->n;
    view->calibration_x = starts[INPUTS];
    view->calibration_y = starts[TARGET];
    view->calibration_regressors = starts[REGRESSORS];
    view->calibration_noise = starts[NOISE];
    view->calibration_offset = starts[OFFSET];
    view->calibration_exposure = starts[EXPOSURE];
    if (rows->group_keys != NULL)
      view->n_calibration_groups =
          gpnn_dataset_count_groups(rows->n_calibration, rows->group_keys + rows->n_row_groups,
                                    target_of(rows, part->t, true));
    return;
  }
  view->is_partial = true;
  view->n = part->n;
  view->x = starts[INPUTS];
  view->y = starts[TARGET];
  view->regressors = starts[REGRESSORS];
  view->noise = starts[NOISE];
  view->offset = starts[OFFSET];
  view->exposure = starts[EXPOSURE];
  view->row_group = (const uint32_t *)(const void *)starts[GROUP];
  view->lacks = NULL; /* what they lacked is not stored again */
}

void gpnn_index_set_parts(const struct gpnn_dataset *rows, const struct gpnn_index_present *present,
                          const unsigned char *bytes, struct gpnn_dataset *views)
{
  struct part part;
  size_t at = 0;
  while (next_part(rows, present, &at, &part)) {
    const double *starts[ARRAYS] = {NULL};
    struct array arrays[ARRAYS];
    list_arrays(rows, part.t, part.calibration, arrays);
    for (size_t a = 0; a < ARRAYS; a++) {
      size_t own = 0;
      if (arrays[a].start == NULL || !padded_bytes(part.n, arrays[a].width, &own)) continue;
      starts[a] = (const double *)(const void *)bytes;
      bytes += own;
    }
    set_rows(&views[part.t], rows, &part, starts);
  }
}

/* Compares blocks that are gathered from all rows with the bytes of the section. */
struct comparison {
  const unsigned char *bytes;
  bool differs;
};

static enum gpnn_status compare(void *context, const unsigned char *block, size_t length,
                                struct gpnn_error *err)
{
  struct comparison *comparison = context;
  (void)err;
  comparison->differs = comparison->differs || memcmp(comparison->bytes, block, length) != 0;
  comparison->bytes += length;
  return GPNN_OK;
}

enum gpnn_status gpnn_index_verify_parts(const struct gpnn_dataset *rows,
                                         const struct gpnn_index_present *present,
                                         const unsigned char *bytes, bool *agree,
                                         struct gpnn_error *err)
{
  struct comparison comparison = {bytes, false};
  for (size_t t = 0; t <= rows->n_more; t++)
    if (count_present(rows->n, target_of(rows, t, false)) != present[t].n ||
        count_present(rows->n_calibration, target_of(rows, t, true)) != present[t].n_calibration) {
      *agree = false;
      return GPNN_OK;
    }
  enum gpnn_status status = gpnn_index_gather_parts(rows, present, compare, &comparison, err);
  *agree = !comparison.differs;
  return status;
}
