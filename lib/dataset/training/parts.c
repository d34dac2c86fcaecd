/*
 * Rows of a training table of which several processes have read a part each.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/training/training_private.h"

const struct gpnn_parts *gpnn_training_parts(const struct gpnn_training *training)
{
  return training->parts == NULL ? NULL : &training->parts->rows;
}

void gpnn_training_release_parts(struct gpnn_training *training)
{
  if (training->parts == NULL) return;
  free(training->parts->read.first);
  free(training->parts->rows.first);
  free(training->parts->held_out);
  free(training->parts->reasons);
  free(training->parts);
}

/* ---- joining ------------------------------------------------------------------------------- */

enum { REASON_BYTES = 128 };

/* What one of the peers tells the others of its rows. */
struct told {
  bool is_simple; /* all could be read, and need not be in one place */
  uint64_t n;
  struct gpnn_training_target target;
  struct gpnn_skipped skipped; /* whose reasons, addresses of its own, are: */
  char reasons[GPNN_SKIPPED_KINDS][REASON_BYTES];
};

static bool is_simple(const struct gpnn_training *training)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  bool is_simple = schema->n_more == 0 && !schema->has_by && !schema->has_id &&
                   schema->n_effects == 0 && !training->has_classes && !training->is_unique &&
                   training->n_incomplete == 0;
  for (size_t i = 0; i < schema->n_inputs && is_simple; i++) {
    enum gpnn_column_kind kind = schema->inputs[i].kind;
    is_simple = kind == GPNN_COLUMN_NUMBER || kind == GPNN_COLUMN_PERIODIC ||
                kind == GPNN_COLUMN_LATITUDE || kind == GPNN_COLUMN_LONGITUDE;
  }
  return is_simple;
}

static void tell(const struct gpnn_training *training, enum gpnn_status status, struct told *told)
{
  const struct gpnn_skipped *skipped = &training->skipped;
  *told = (struct told){.is_simple = false};
  if (status != GPNN_OK || !is_simple(training)) return;
  *told = (struct told){.is_simple = skipped->n_kinds < GPNN_SKIPPED_KINDS,
                        .n = training->n,
                        .target = training->targets[0],
                        .skipped = *skipped};
  for (size_t k = 0; k < skipped->n_kinds; k++) {
    size_t length = strlen(skipped->kinds[k].what);
    if (length >= REASON_BYTES)
      told->is_simple = false;
    else
      memcpy(told->reasons[k], skipped->kinds[k].what, length);
  }
}

/* Adds the values of a target that are new. */
static void join_target(struct gpnn_training_target *target,
                        const struct gpnn_training_target *more)
{
  for (size_t i = 0; i < more->n_different && target->n_different < GPNN_TRAINING_MANY; i++) {
    size_t at = 0;
    while (at < target->n_different && target->different[at] != more->different[i]) at++;
    if (at == target->n_different) target->different[target->n_different++] = more->different[i];
  }
}

/* Makes of the training that of all rows; false: it cannot be. */
static bool join(struct gpnn_training *training, size_t size, const struct told *told)
{
  struct gpnn_training_parts *parts = training->parts;
  char *reason = parts->reasons;
  training->n = 0;
  training->skipped = (struct gpnn_skipped){0};
  training->targets[0].n_different = 0;
  for (size_t r = 0; r < size; r++) {
    struct gpnn_skipped skipped = told[r].skipped;
    if (!told[r].is_simple) return false;
    memcpy(reason, told[r].reasons, sizeof told[r].reasons);
    for (size_t k = 0; k < skipped.n_kinds; k++, reason += REASON_BYTES)
      skipped.kinds[k].what = reason;
    if (!gpnn_skipped_join(&training->skipped, &skipped)) return false;
    join_target(&training->targets[0], &told[r].target);
    parts->read.first[r] = training->n;
    training->n += told[r].n;
  }
  parts->read.first[size] = training->n;
  training->dataset.n_skipped = training->skipped.n;
  return true;
}

static enum gpnn_status begin(struct gpnn_training *training, struct gpnn_peers *peers,
                              struct gpnn_error *err)
{
  struct gpnn_training_parts *parts = training->parts = calloc(1, sizeof *parts);
  if (parts == NULL) return gpnn_fail_memory(err, "for the parts of a table");
  parts->read.peers = parts->rows.peers = peers;
  parts->read.first = gpnn_alloc(peers->size + 1, 1, sizeof *parts->read.first);
  parts->rows.first = gpnn_alloc(peers->size + 1, 1, sizeof *parts->rows.first);
  parts->reasons = gpnn_alloc(peers->size, (size_t)GPNN_SKIPPED_KINDS * REASON_BYTES, 1);
  return parts->read.first == NULL || parts->rows.first == NULL || parts->reasons == NULL
             ? gpnn_fail_memory(err, "for the parts of a table")
             : GPNN_OK;
}

/* Finds out whether there are copies, which have to be in one place. */
static enum gpnn_status find_copies(struct gpnn_training *training, struct gpnn_error *err)
{
  static const double nothing = 0; /* as a file without numbers could not be mapped */
  enum gpnn_status status = GPNN_OK;
  if (training->read.n == 0) status = gpnn_spool_write(&training->read, 0, 1, &nothing, err);
  if (status == GPNN_OK) status = gpnn_spool_map(&training->read, err);
  return status == GPNN_OK ? gpnn_training_find_copies(training, err) : status;
}

enum gpnn_status gpnn_training_join(struct gpnn_training *training, struct gpnn_peers *peers,
                                    enum gpnn_status status, const char **why,
                                    struct gpnn_error *err)
{
  struct told *told = gpnn_alloc(peers->size, 1, sizeof *told);
  if (told != NULL) tell(training, status, &told[peers->rank]);
  status = told == NULL ? gpnn_fail_memory(err, "for the parts of a table")
                        : begin(training, peers, err);
  status = gpnn_peers_share(peers, sizeof *told, told, status, err);
  bool is_simple = status == GPNN_OK && join(training, peers->size, told);
  free(told);
  if (is_simple) {
    training->parts->begin = (size_t)gpnn_parts_first(&training->parts->read);
    status = find_copies(training, err);
  }
  status = gpnn_peers_agree(peers, status, err);
  *why = !is_simple               ? "rows are bad, or have what takes all of them in one place"
         : training->n_copied > 0 ? "rows are copies of others"
                                  : NULL;
  return status;
}

/* ---- settling ------------------------------------------------------------------------------ */

/* Rows as read, 'n' of them from number 'first' on, wherever they are, for the caller to free. */
static enum gpnn_status fetch(const struct gpnn_training *training, size_t n,
                              const uint64_t *number, double **rows, struct gpnn_error *err)
{
  const struct gpnn_parts *parts = &training->parts->read;
  size_t width = training->width, bytes = width * sizeof **rows;
  uint64_t first = gpnn_parts_first(parts), end = gpnn_parts_end(parts, training->n);
  enum gpnn_status status = GPNN_OK;
  *rows = gpnn_alloc(n, width, sizeof **rows);
  if (*rows == NULL) status = gpnn_fail_memory(err, "for rows of other ranks");
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    if (number[i] >= first && number[i] < end)
      memcpy(*rows + i * width, training->read.numbers + (number[i] - first) * width, bytes);
  return gpnn_parts_gather(parts, n, number, bytes, *rows, status, err);
}

/* Sets which training rows are where: whole blocks from the first that begins in a part on.  The
 * first rows of all, which tools look at, are together. */
static void find_rows(const struct gpnn_training *training, size_t block, size_t c,
                      const uint64_t *held_out)
{
  enum { TOGETHER = 1000 };
  const struct gpnn_parts *read = &training->parts->read;
  uint64_t *first = training->parts->rows.first, n = training->n - c;
  for (size_t r = 1; r <= read->peers->size; r++) {
    size_t before = 0;
    while (before < c && held_out[before] < read->first[r]) before++;
    uint64_t row = read->first[r] - before;
    if (row < TOGETHER) row = TOGETHER;
    row = (row + block - 1) / block * block;
    first[r] = row < n && r < read->peers->size ? row : n;
  }
}

/* Fetches rows as read from number 'from' up to 'end', and writes them behind those here if they
 * are wanted here. */
static enum gpnn_status move(struct gpnn_training *training, uint64_t from, uint64_t end,
                             bool is_wanted, struct gpnn_error *err)
{
  size_t n = (size_t)(end - from), width = training->width;
  double *rows = NULL;
  uint64_t *number = gpnn_alloc(n, 1, sizeof *number);
  for (size_t i = 0; number != NULL && i < n; i++) number[i] = from + i;
  enum gpnn_status status = number == NULL ? gpnn_fail_memory(err, "for rows of other ranks")
                                           : fetch(training, n, number, &rows, err);
  if (status == GPNN_OK && is_wanted)
    status = gpnn_spool_write(&training->read, (size_t)(from - training->parts->begin) * width,
                              n * width, rows, err);
  free(rows);
  free(number);
  return status;
}

/* Moves rows as read to where the blocks are that they are in. */
static enum gpnn_status move_all(struct gpnn_training *training, size_t c, const uint64_t *held_out,
                                 struct gpnn_error *err)
{
  struct gpnn_training_parts *parts = training->parts;
  const uint64_t *read = parts->read.first, *rows = parts->rows.first;
  size_t rank = parts->read.peers->rank, size = parts->read.peers->size;
  uint64_t begin = 0, n = training->n - c;
  enum gpnn_status status = GPNN_OK;
  for (size_t r = 0; r < size && status == GPNN_OK; r++) {
    size_t next = (size_t)rows[r + 1]; /* of training rows, then of rows as read */
    uint64_t end = next < n ? next + gpnn_training_held_out_before(c, held_out, next) : training->n;
    uint64_t from = begin > read[r + 1] ? begin : read[r + 1];
    /* Where all rows that were read here go to others, what comes from these is behind them. */
    if (r == rank) parts->begin = (size_t)(from - (read[r + 1] - read[r]));
    if (from < end) status = move(training, from, end, r == rank, err);
    begin = end;
  }
  return status;
}

enum gpnn_status gpnn_training_settle(struct gpnn_training *training, size_t block,
                                      size_t n_held_out, const uint64_t *held_out,
                                      struct gpnn_error *err)
{
  if (training->parts == NULL) return GPNN_OK;
  find_rows(training, block, n_held_out, held_out);
  enum gpnn_status status = fetch(training, n_held_out, held_out, &training->parts->held_out, err);
  if (status == GPNN_OK) status = move_all(training, n_held_out, held_out, err);
  return status == GPNN_OK ? gpnn_spool_map(&training->read, err) : status;
}
