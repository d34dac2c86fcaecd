/*
 * Dealing rows to ranks, each of which writes its shard.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "dataset/sample.h"
#include "shard/shard_private.h"
#include "table/stream.h"

enum { BLOCK = 1 << 15 }; /* rows sent at a time */

struct dealing {
  struct gpnn_comm *comm;
  const char *directory;                     /* where shards are written */
  const char *target;                        /* what it is called when it is whole */
  const struct gpnn_dataset *dataset;        /* of rank 0 */
  const struct gpnn_search_options *options; /* of the sample's search */
  const char *volatile *watch;
  struct gpnn_cut *cuts; /* owned; of rank 0 */
  uint64_t *n_rows;      /* owned; comm->size */
  struct gpnn_shards all;
  struct gpnn_index *common; /* owned: what all shards have in common, with a single row */
  struct gpnn_rows rows;     /* owned; of this rank's shard */
  struct gpnn_shard_entry entry;
};

/* ---- rank 0 begins -------------------------------------------------------------------------- */

static enum gpnn_status check(const struct dealing *dealing, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  const struct gpnn_schema *schema = &dataset->schema;
  const char *what = dataset->n_more > 0                   ? "several targets"
                     : gpnn_dataset_n_classes(dataset) > 0 ? "classes"
                     : dataset->lacks != NULL              ? "rows that lack inputs"
                     : schema->n_effects > 0               ? "effects of groups"
                     : schema->has_by                      ? "groups of rows (--by)"
                     : schema->has_id                      ? "ids of rows (--id)"
                                                           : NULL;
  const char *instead =
      dataset->lacks != NULL ? "leave them out by --missing drop --skip-bad, or " : "";
  if (what != NULL)
    return gpnn_fail(err, GPNN_EINVAL, "shards cannot have %s yet: %suse gpnn-index", what,
                     instead);
  if (dataset->n / 2 >= dealing->comm->size) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%zu rows are too few for %zu ranks", dataset->n,
                   dealing->comm->size);
}

/* Finds the cuts from the rows 'row' of 'sample', and counts the rows of each rank. */
static enum gpnn_status find_cuts(struct dealing *dealing, const struct gpnn_dataset *sample,
                                  const uint64_t *row, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  size_t size = dealing->comm->size;
  double *number = gpnn_alloc(sample->n, 1, sizeof *number);
  if (number == NULL) return gpnn_fail_memory(err, "for dealing rows");
  for (size_t i = 0; i < sample->n; i++) number[i] = (double)row[i];
  enum gpnn_status status =
      gpnn_deal_cuts(sample->n, sample->d, sample->x, number, size, dealing->cuts, err);
  free(number);
  for (size_t i = 0; i < dataset->n && status == GPNN_OK; i++)
    dealing->n_rows[gpnn_deal_rank(size, dealing->cuts, dataset->x + i * dataset->d, (double)i)]++;
  for (size_t r = 0; r < size && status == GPNN_OK; r++)
    if (dealing->n_rows[r] == 0)
      status = gpnn_fail(err, GPNN_EDATA, "there are too few rows for %zu ranks", size);
  return status;
}

/* Writes the sample as an index, which has what all shards have in common: the index of all rows if
 * they are few. */
static enum gpnn_status write_sample(const struct dealing *dealing,
                                     const struct gpnn_dataset *sample, const char *path,
                                     struct gpnn_error *err)
{
  struct gpnn_dataset rows = *sample;
  struct gpnn_search *search = NULL;
  if (rows.n < dealing->dataset->n) {
    rows.n_row_groups = 0;
    rows.row_group = NULL;
    rows.held_out = NULL;
  }
  if (access(dealing->target, F_OK) == 0)
    return gpnn_fail(err, GPNN_EIO, "%s: exists already", dealing->target);
  if (mkdir(dealing->directory, 0777) != 0)
    return errno != EEXIST
               ? gpnn_fail_errno(err, errno, "%s", dealing->directory)
               : gpnn_fail(err, GPNN_EIO, "%s: of a run that was killed, or goes on: remove it",
                           dealing->directory);
  enum gpnn_status status =
      gpnn_index_make(path, &rows, NULL, dealing->options, dealing->watch, &search, err);
  if (status == GPNN_OK)
    gpnn_search_free(search);
  else
    (void)rmdir(dealing->directory);
  return status;
}

/* Finds out what the manifest says of all rows. */
static enum gpnn_status describe_all(struct dealing *dealing, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  struct gpnn_shards *all = &dealing->all;
  *all = (struct gpnn_shards){dataset->n, dataset->n_row_groups, dataset->n, 0};
  if (dataset->row_group != NULL) {
    bool *is_first = gpnn_alloc(dataset->n, 1, sizeof *is_first);
    all->n_distinct = is_first == NULL ? 0 : gpnn_dataset_distinct(dataset, is_first);
    free(is_first);
    if (all->n_distinct == 0) return gpnn_fail_memory(err, "for the distinct rows");
  }
  return gpnn_index_fingerprint(dataset, &all->fingerprint, err);
}

static enum gpnn_status begin(struct dealing *dealing, const char *path, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  size_t n = dataset->n < GPNN_SHARD_SAMPLE ? dataset->n : GPNN_SHARD_SAMPLE;
  struct gpnn_sample *sample = NULL;
  enum gpnn_status status = check(dealing, err);
  if (status != GPNN_OK) return status;
  uint64_t *row = gpnn_alloc(n, 1, sizeof *row);
  if (row == NULL) return gpnn_fail_memory(err, "for dealing rows");
  status = describe_all(dealing, err);
  if (status == GPNN_OK) status = gpnn_sample_numbers(dataset->n, n, dataset->seed, row, err);
  if (status == GPNN_OK) status = gpnn_sample_take(&sample, dataset, n, row, err);
  if (status == GPNN_OK) status = find_cuts(dealing, gpnn_sample_target(sample, 0), row, err);
  if (status == GPNN_OK) status = write_sample(dealing, gpnn_sample_target(sample, 0), path, err);
  gpnn_sample_free(sample);
  free(row);
  return status;
}

/* ---- the rows ------------------------------------------------------------------------------- */

/* Packs rows [first, end) for the ranks they go to. */
static enum gpnn_status pack_block(const struct dealing *dealing, size_t first, size_t end,
                                   struct gpnn_message *send, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  size_t bytes = gpnn_rows_width(dataset) * sizeof(double), size = dealing->comm->size;
  for (size_t r = 0; r < size; r++) {
    send[r].bytes = malloc((end - first) * bytes);
    if (send[r].bytes == NULL) return gpnn_fail_memory(err, "for dealing rows");
  }
  for (size_t i = first; i < end; i++) {
    size_t r = gpnn_deal_rank(size, dealing->cuts, dataset->x + i * dataset->d, (double)i);
    double *to = (double *)(void *)(send[r].bytes + send[r].length);
    gpnn_rows_pack(dataset, i, (double)i, to);
    send[r].length += bytes;
  }
  return GPNN_OK;
}

/* Sends all rows, block by block, and keeps those that come here. */
static enum gpnn_status deal_rows(struct dealing *dealing, struct gpnn_error *err)
{
  struct gpnn_comm *comm = dealing->comm;
  size_t width = gpnn_rows_width(&dealing->rows.dataset), kept = 0;
  uint64_t n = dealing->all.n;
  struct gpnn_message *messages = calloc(2 * comm->size, sizeof *messages);
  enum gpnn_status status = messages == NULL ? gpnn_fail_memory(err, "for dealing rows") : GPNN_OK;
  status = gpnn_comm_agree(comm, status, err);
  for (uint64_t first = 0; first < n && status == GPNN_OK; first += BLOCK) {
    uint64_t end = n - first < BLOCK ? n : first + BLOCK;
    struct gpnn_message *send = messages, *receive = messages + comm->size;
    if (dealing->dataset != NULL) status = pack_block(dealing, first, end, send, err);
    status = gpnn_comm_agree(comm, status, err);
    if (status == GPNN_OK) status = gpnn_comm_exchange(comm, send, receive, err);
    if (status != GPNN_OK) break;
    const double *packed = (const double *)(const void *)receive[0].bytes;
    size_t n_received = receive[0].length / sizeof *packed / width;
    for (size_t i = 0; i < n_received; i++)
      gpnn_rows_set(&dealing->rows, kept++, packed + i * width);
    gpnn_messages_release(comm->size, receive);
  }
  if (messages != NULL) gpnn_messages_release(2 * comm->size, messages);
  free(messages);
  return status;
}

/* ---- the files ------------------------------------------------------------------------------ */

/* Closes an output, or abandons it after a failure; NULL: it could not be opened. */
static enum gpnn_status close_output(struct gpnn_output *output, enum gpnn_status status,
                                     struct gpnn_error *err)
{
  if (status == GPNN_OK) return gpnn_output_close(output, err);
  gpnn_output_abandon(output);
  return status;
}

/* Writes the numbers of this rank's rows, and the sets of copies that they are of. */
static enum gpnn_status write_numbers(struct dealing *dealing, const char *path,
                                      struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  size_t n = dealing->rows.dataset.n;
  const uint32_t *set = dealing->all.n_sets == 0 ? NULL : dealing->rows.sets;
  uint64_t *number = gpnn_alloc(n, 1, sizeof *number);
  if (number == NULL) return gpnn_fail_memory(err, "for the numbers of rows");
  for (size_t i = 0; i < n; i++) number[i] = (uint64_t)dealing->rows.numbers[i];
  dealing->entry.numbers = gpnn_shard_checksum(n, number, set);
  enum gpnn_status status = gpnn_output_open_watched(&output, path, dealing->watch, err);
  if (status == GPNN_OK) status = gpnn_output_write(output, number, n * sizeof *number, err);
  if (status == GPNN_OK && set != NULL)
    status = gpnn_output_write(output, set, n * sizeof *set, err);
  free(number);
  return close_output(output, status, err);
}

/* Writes the index of this rank's rows, and notes its fingerprint. */
static enum gpnn_status write_index(struct dealing *dealing, const char *path,
                                    struct gpnn_error *err)
{
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  struct gpnn_index *index = NULL;
  options.recall = 1;
  options.threads = dealing->options->threads;
  options.seed = dealing->rows.dataset.seed;
  struct gpnn_dataset rows = dealing->rows.dataset;
  rows.row_group = NULL;
  rows.n_row_groups = 0;
  enum gpnn_status status =
      gpnn_index_make(path, &rows, NULL, &options, dealing->watch, &search, err);
  if (status != GPNN_OK) return status;
  gpnn_search_free(search);
  status = gpnn_index_open(&index, path, false, err);
  if (status != GPNN_OK) return status;
  dealing->entry.n = gpnn_index_dataset(index)->n;
  dealing->entry.fingerprint = gpnn_index_dataset(index)->fingerprint;
  gpnn_index_close(index);
  return GPNN_OK;
}

static enum gpnn_status write_shard(struct dealing *dealing, struct gpnn_error *err)
{
  char *index = gpnn_shard_path(dealing->directory, dealing->comm->rank, "gpi");
  char *rows = gpnn_shard_path(dealing->directory, dealing->comm->rank, "rows");
  enum gpnn_status status =
      index == NULL || rows == NULL ? gpnn_fail_memory(err, "for a shard") : GPNN_OK;
  if (status == GPNN_OK) status = write_index(dealing, index, err);
  if (status == GPNN_OK) status = write_numbers(dealing, rows, err);
  free(index);
  free(rows);
  return status;
}

/* Writes the manifest from the entries of all ranks. */
static enum gpnn_status write_manifest(const struct dealing *dealing,
                                       const struct gpnn_shard_entry *entries,
                                       struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  char *path = gpnn_shard_path(dealing->directory, GPNN_SHARD_COMMON, "manifest");
  if (path == NULL) return gpnn_fail_memory(err, "for a manifest");
  enum gpnn_status status = gpnn_output_open_watched(&output, path, dealing->watch, err);
  free(path);
  if (status != GPNN_OK) return status;
  status = gpnn_output_printf(output, err,
                              GPNN_SHARD_FIRST_LINE "ranks %zu\nrows %" PRIu64 " distinct %" PRIu64
                                                    " sets %" PRIu64 " index %016" PRIx64 "\n",
                              dealing->comm->size, dealing->all.n, dealing->all.n_distinct,
                              dealing->all.n_sets, dealing->all.fingerprint);
  for (size_t r = 0; r < dealing->comm->size && status == GPNN_OK; r++)
    status = gpnn_output_printf(
        output, err, "shard rows %" PRIu64 " index %016" PRIx64 " numbers %016" PRIx64 "\n",
        entries[r].n, entries[r].fingerprint, entries[r].numbers);
  return close_output(output, status, err);
}

/* Shares the entries of all ranks; rank 0 writes the manifest. */
static enum gpnn_status finish(struct dealing *dealing, struct gpnn_error *err)
{
  struct gpnn_comm *comm = dealing->comm;
  struct gpnn_shard_entry *entries = gpnn_alloc(comm->size, 1, sizeof *entries);
  enum gpnn_status status = entries == NULL ? gpnn_fail_memory(err, "for a manifest") : GPNN_OK;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) {
    gpnn_comm_share(comm, &dealing->entry, sizeof dealing->entry, entries);
    if (comm->rank == 0) status = write_manifest(dealing, entries, err);
    if (comm->rank == 0 && status == GPNN_OK && rename(dealing->directory, dealing->target) != 0)
      status = gpnn_fail_errno(err, errno, "%s", dealing->target);
    status = gpnn_comm_agree(comm, status, err);
  }
  free(entries);
  return status;
}

/* Removes what this rank has written; rank 0, which comes last, the folder too. */
static void remove_all(const struct dealing *dealing, const char *sample)
{
  static const char *const kinds[] = {"gpi", "rows"};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    char *path = gpnn_shard_path(dealing->directory, dealing->comm->rank, kinds[k]);
    if (path != NULL) (void)unlink(path);
    free(path);
  }
  enum gpnn_status all_are_done = gpnn_comm_agree(dealing->comm, GPNN_OK, NULL);
  if (dealing->comm->rank != 0 || all_are_done != GPNN_OK) return;
  char *manifest = gpnn_shard_path(dealing->directory, GPNN_SHARD_COMMON, "manifest");
  if (manifest != NULL) (void)unlink(manifest);
  free(manifest);
  (void)unlink(sample);
  (void)rmdir(dealing->directory);
}

static enum gpnn_status deal(struct dealing *dealing, const char *sample, struct gpnn_error *err)
{
  struct gpnn_comm *comm = dealing->comm;
  enum gpnn_status status = gpnn_index_open(&dealing->common, sample, false, err);
  gpnn_comm_broadcast(comm, 0, dealing->n_rows, comm->size * sizeof *dealing->n_rows);
  gpnn_comm_broadcast(comm, 0, &dealing->all, sizeof dealing->all);
  if (status == GPNN_OK) {
    static const uint32_t some = 0;
    struct gpnn_dataset like = *gpnn_index_dataset(dealing->common);
    like.row_group = dealing->all.n_sets > 0 ? &some : NULL;
    status = gpnn_rows_new(&dealing->rows, &like, dealing->n_rows[comm->rank], err);
  }
  /* Draws of what a row to predict lacks would be those of one shard. */
  dealing->rows.dataset.drops_missing = true;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) status = deal_rows(dealing, err);
  if (status == GPNN_OK) status = gpnn_comm_agree(comm, write_shard(dealing, err), err);
  if (status == GPNN_OK) status = finish(dealing, err);
  return status;
}

enum gpnn_status gpnn_shard_deal(struct gpnn_comm *comm, const char *directory,
                                 const struct gpnn_dataset *dataset,
                                 const struct gpnn_search_options *options,
                                 const char *volatile *watch, struct gpnn_error *err)
{
  static const char suffix[] = ".part";
  unsigned char goes_on = dataset != NULL;
  gpnn_comm_broadcast(comm, 0, &goes_on, sizeof goes_on);
  if (!goes_on) return GPNN_END;
  size_t length = strlen(directory);
  char *part = malloc(length + sizeof suffix), *sample = NULL;
  if (part != NULL) {
    memcpy(part, directory, length);
    memcpy(part + length, suffix, sizeof suffix);
    sample = gpnn_shard_path(part, GPNN_SHARD_COMMON, "sample.gpi");
  }
  struct dealing dealing = {comm, part, directory, dataset, options, watch, .cuts = NULL};
  dealing.cuts = gpnn_alloc(comm->size, 1, sizeof *dealing.cuts);
  dealing.n_rows = calloc(comm->size, sizeof *dealing.n_rows);
  enum gpnn_status status = sample == NULL || dealing.cuts == NULL || dealing.n_rows == NULL
                                ? gpnn_fail_memory(err, "for dealing rows")
                                : GPNN_OK;
  if (status == GPNN_OK && comm->rank == 0) status = begin(&dealing, sample, err);
  status = gpnn_comm_agree(comm, status, err);
  bool exists = status == GPNN_OK;
  if (exists) status = deal(&dealing, sample, err);
  gpnn_index_close(dealing.common);
  if (status != GPNN_OK && exists) remove_all(&dealing, sample);
  gpnn_rows_release(&dealing.rows);
  free(dealing.cuts);
  free(dealing.n_rows);
  free(sample);
  free(part);
  return status;
}

void gpnn_shard_cancel(struct gpnn_comm *comm)
{
  unsigned char goes_on = false;
  gpnn_comm_broadcast(comm, 0, &goes_on, sizeof goes_on);
}
