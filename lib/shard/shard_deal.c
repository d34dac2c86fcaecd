/*
 * Dealing rows to ranks, each of which writes its shard.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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
  const struct gpnn_dataset *dataset;        /* of all rows, with those here; NULL: none */
  const struct gpnn_parts *parts;            /* NULL: rank 0 has all rows */
  const struct gpnn_search_options *options; /* of the sample's search */
  const char *volatile *watch;
  uint64_t first, n_here;  /* rows of the dataset */
  struct gpnn_rows sample; /* owned; of rank 0 */
  struct gpnn_cut *cuts;   /* owned; comm->size */
  uint64_t *n_from;        /* owned; comm->size: rows of this rank's shard that each rank has */
  struct gpnn_shards all;
  struct gpnn_index *common; /* owned: what all shards have in common, with a single row */
  struct gpnn_rows rows;     /* owned; of this rank's shard */
  struct gpnn_shard_entry entry;
};

/* ---- ranks that have rows begin ------------------------------------------------------------- */

static enum gpnn_status check(const struct dealing *dealing, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  const struct gpnn_schema *schema = &dataset->schema;
  const char *what = dataset->n_more > 0      ? "several targets"
                     : dataset->lacks != NULL ? "rows that lack inputs"
                     : schema->n_effects > 0  ? "effects of groups"
                     : schema->has_by         ? "groups of rows (--by)"
                     : schema->has_id         ? "ids of rows (--id)"
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

/* gpnn_comm_agree(), where all ranks have rows. */
static enum gpnn_status agree(const struct dealing *dealing, enum gpnn_status status,
                              struct gpnn_error *err)
{
  return gpnn_peers_agree(dealing->parts == NULL ? NULL : dealing->parts->peers, status, err);
}

/* Packs the rows here that are in the sample of 'n' rows for rank 0. */
static enum gpnn_status pack_sample(const struct dealing *dealing, size_t n, const uint64_t *row,
                                    struct gpnn_message *send, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  size_t bytes = gpnn_rows_width(dataset) * sizeof(double), begin = 0, end;
  while (begin < n && row[begin] < dealing->first) begin++;
  for (end = begin; end < n && row[end] < dealing->first + dealing->n_here;) end++;
  send->bytes = gpnn_alloc(end - begin, 1, bytes);
  if (send->bytes == NULL) return gpnn_fail_memory(err, "for dealing rows");
  for (size_t i = begin; i < end; i++, send->length += bytes)
    gpnn_rows_pack(dataset, (size_t)(row[i] - dealing->first), (double)row[i],
                   (double *)(void *)(send->bytes + send->length));
  return GPNN_OK;
}

/* Keeps a message of packed rows behind the '*n' rows of the sample. */
static void keep_sample(struct dealing *dealing, const struct gpnn_message *received, size_t *n)
{
  const double *packed = (const double *)(const void *)received->bytes;
  size_t width = gpnn_rows_width(dealing->dataset);
  for (size_t at = 0; at < received->length / sizeof *packed; at += width)
    gpnn_rows_set(&dealing->sample, (*n)++, packed + at);
}

/* Draws the sample, which rank 0 gets from all that have some of it. */
static enum gpnn_status gather_sample(struct dealing *dealing, size_t n, uint64_t *row,
                                      struct gpnn_message *messages, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  struct gpnn_comm *comm = dealing->comm;
  struct gpnn_message *received = messages + comm->size;
  size_t kept = 0;
  enum gpnn_status status = gpnn_sample_numbers(dataset->n, n, dataset->seed, row, err);
  if (status == GPNN_OK) status = pack_sample(dealing, n, row, messages, err);
  if (status == GPNN_OK && comm->rank == 0)
    status = gpnn_rows_new(&dealing->sample, dataset, n, err);
  status = agree(dealing, status, err);
  if (status == GPNN_OK && dealing->parts == NULL) keep_sample(dealing, messages, &kept);
  if (status == GPNN_OK && dealing->parts != NULL)
    status = gpnn_comm_exchange(comm, messages, received, err);
  for (size_t r = 0; r < comm->size && status == GPNN_OK; r++)
    keep_sample(dealing, &received[r], &kept);
  return status;
}

static enum gpnn_status draw_sample(struct dealing *dealing, struct gpnn_error *err)
{
  size_t n = dealing->dataset->n, n_messages = 2 * dealing->comm->size;
  if (n > GPNN_SHARD_SAMPLE) n = GPNN_SHARD_SAMPLE;
  uint64_t *row = gpnn_alloc(n, 1, sizeof *row);
  struct gpnn_message *messages = gpnn_alloc(n_messages, 1, sizeof *messages);
  enum gpnn_status status = row == NULL || messages == NULL
                                ? gpnn_fail_memory(err, "for dealing rows")
                                : gather_sample(dealing, n, row, messages, err);
  gpnn_messages_release(n_messages, messages);
  free(messages);
  free(row);
  return status;
}

/* Writes the sample as an index, which has what all shards have in common: the index of all rows if
 * they are few. */
static enum gpnn_status write_sample(const struct dealing *dealing, const char *path,
                                     struct gpnn_error *err)
{
  struct gpnn_dataset rows = dealing->sample.dataset;
  struct gpnn_search *search = NULL;
  if (rows.n < dealing->dataset->n) {
    rows.n_row_groups = 0;
    rows.row_group = NULL;
  } else {
    rows.held_out = dealing->dataset->held_out;
  }
  enum gpnn_status status = gpnn_shard_folder(dealing->directory, dealing->target, err);
  if (status != GPNN_OK) return status;
  status = gpnn_index_make(path, &rows, NULL, dealing->options, dealing->watch, &search, err);
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
  return gpnn_index_fingerprint(dataset, dealing->parts, &all->fingerprint, err);
}

static enum gpnn_status begin(struct dealing *dealing, struct gpnn_error *err)
{
  const struct gpnn_rows *sample = &dealing->sample;
  enum gpnn_status status = check(dealing, err);
  if (status == GPNN_OK) status = describe_all(dealing, err);
  if (status == GPNN_OK) status = draw_sample(dealing, err);
  if (status == GPNN_OK && dealing->comm->rank == 0)
    status = gpnn_deal_cuts(sample->dataset.n, sample->dataset.d, sample->dataset.x,
                            sample->numbers, dealing->comm->size, dealing->cuts, err);
  return agree(dealing, status, err);
}

/* ---- the rows ------------------------------------------------------------------------------- */

/* The rank that row 'i' of those here goes to. */
static size_t rank_of(const struct dealing *dealing, size_t i)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  return gpnn_deal_rank(dealing->comm->size, dealing->cuts, dataset->x + i * dataset->d,
                        (double)(dealing->first + i));
}

/* Counts the rows that go from each rank to each, and tells those they go to. */
static enum gpnn_status count_rows(struct dealing *dealing, struct gpnn_message *messages,
                                   struct gpnn_error *err)
{
  struct gpnn_comm *comm = dealing->comm;
  struct gpnn_message *send = messages, *received = messages + comm->size;
  enum gpnn_status status = GPNN_OK;
  for (size_t r = 0; r < comm->size && status == GPNN_OK; r++) {
    send[r] = (struct gpnn_message){sizeof *dealing->n_from, calloc(1, sizeof *dealing->n_from)};
    if (send[r].bytes == NULL) status = gpnn_fail_memory(err, "for dealing rows");
  }
  for (size_t i = 0; i < dealing->n_here && status == GPNN_OK; i++)
    ++*(uint64_t *)(void *)send[rank_of(dealing, i)].bytes;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) status = gpnn_comm_exchange(comm, send, received, err);
  for (size_t r = 0; r < comm->size && status == GPNN_OK; r++)
    memcpy(&dealing->n_from[r], received[r].bytes, sizeof *dealing->n_from);
  return status;
}

/* Lets all ranks know the cuts, and how many rows each of them gets. */
static enum gpnn_status share_cuts(struct dealing *dealing, uint64_t *n_rows,
                                   struct gpnn_error *err)
{
  struct gpnn_comm *comm = dealing->comm;
  struct gpnn_message *messages = gpnn_alloc(2 * comm->size, 1, sizeof *messages);
  enum gpnn_status status = messages == NULL ? gpnn_fail_memory(err, "for dealing rows") : GPNN_OK;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) {
    gpnn_comm_broadcast(comm, 0, dealing->cuts, comm->size * sizeof *dealing->cuts);
    gpnn_comm_broadcast(comm, 0, &dealing->all, sizeof dealing->all);
    status = count_rows(dealing, messages, err);
  }
  gpnn_messages_release(2 * comm->size, messages);
  free(messages);
  if (status != GPNN_OK) return status;
  uint64_t n = 0;
  for (size_t r = 0; r < comm->size; r++) n += dealing->n_from[r];
  gpnn_comm_share(comm, &n, sizeof n, n_rows);
  return GPNN_OK;
}

/* Packs rows [first, end) of those here for the ranks they go to. */
static enum gpnn_status pack_block(const struct dealing *dealing, size_t first, size_t end,
                                   struct gpnn_message *send, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = dealing->dataset;
  size_t bytes = gpnn_rows_width(dataset) * sizeof(double), size = dealing->comm->size;
  for (size_t i = first; i < end; i++) send[rank_of(dealing, i)].length += bytes;
  for (size_t r = 0; r < size; r++) {
    if (send[r].length == 0) continue;
    send[r].bytes = malloc(send[r].length);
    if (send[r].bytes == NULL) return gpnn_fail_memory(err, "for dealing rows");
    send[r].length = 0;
  }
  for (size_t i = first; i < end; i++) {
    struct gpnn_message *to = &send[rank_of(dealing, i)];
    gpnn_rows_pack(dataset, i, (double)(dealing->first + i),
                   (double *)(void *)(to->bytes + to->length));
    to->length += bytes;
  }
  gpnn_mapping_evict(dataset->mapping, dataset->x + first * dataset->d,
                     (end - first) * dataset->d * sizeof *dataset->x);
  return GPNN_OK;
}

/* Keeps the rows that other ranks have sent, in the order of their numbers: place[r] is where the
 * next of rank r goes. */
static void keep_block(struct dealing *dealing, const struct gpnn_message *received,
                       uint64_t *place)
{
  size_t width = gpnn_rows_width(&dealing->rows.dataset);
  for (size_t r = 0; r < dealing->comm->size; r++) {
    const double *packed = (const double *)(const void *)received[r].bytes;
    for (size_t at = 0; at < received[r].length / sizeof *packed; at += width)
      gpnn_rows_set(&dealing->rows, (size_t)place[r]++, packed + at);
  }
}

/* Sends all rows, of which a rank has at most 'most', block by block, and keeps those that come
 * here. */
static enum gpnn_status deal_rows(struct dealing *dealing, uint64_t most, struct gpnn_error *err)
{
  struct gpnn_comm *comm = dealing->comm;
  uint64_t n = dealing->n_here, *place = gpnn_alloc(comm->size, 1, sizeof *place);
  struct gpnn_message *messages = calloc(2 * comm->size, sizeof *messages);
  enum gpnn_status status =
      messages == NULL || place == NULL ? gpnn_fail_memory(err, "for dealing rows") : GPNN_OK;
  for (size_t r = 1; r < comm->size && status == GPNN_OK; r++)
    place[r] = place[r - 1] + dealing->n_from[r - 1];
  status = gpnn_comm_agree(comm, status, err);
  for (uint64_t from = 0; from < most && status == GPNN_OK; from += BLOCK) {
    uint64_t first = from < n ? from : n, end = n - first < BLOCK ? n : first + BLOCK;
    struct gpnn_message *send = messages, *received = messages + comm->size;
    if (first < end) status = pack_block(dealing, (size_t)first, (size_t)end, send, err);
    status = gpnn_comm_agree(comm, status, err);
    if (status == GPNN_OK) status = gpnn_comm_exchange(comm, send, received, err);
    if (status == GPNN_OK) keep_block(dealing, received, place);
    if (status == GPNN_OK) gpnn_messages_release(comm->size, received);
  }
  gpnn_messages_release(2 * comm->size, messages);
  free(messages);
  free(place);
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

/* Deals the rows, of which 'n' come here and a rank has at most 'most'. */
static enum gpnn_status deal(struct dealing *dealing, const char *sample, uint64_t n, uint64_t most,
                             struct gpnn_error *err)
{
  struct gpnn_comm *comm = dealing->comm;
  enum gpnn_status status = gpnn_index_open(&dealing->common, sample, false, err);
  if (status == GPNN_OK) {
    static const uint32_t some = 0;
    struct gpnn_dataset like = *gpnn_index_dataset(dealing->common);
    like.row_group = dealing->all.n_sets > 0 ? &some : NULL;
    status = gpnn_rows_new(&dealing->rows, &like, (size_t)n, err);
  }
  /* Draws of what a row to predict lacks would be those of one shard. */
  dealing->rows.dataset.drops_missing = true;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) status = deal_rows(dealing, most, err);
  if (status == GPNN_OK) status = gpnn_comm_agree(comm, write_shard(dealing, err), err);
  if (status == GPNN_OK) status = finish(dealing, err);
  return status;
}

/* Does it all; 'n_rows' has room for a number of each rank. */
static enum gpnn_status deal_all(struct dealing *dealing, const char *sample, uint64_t *n_rows,
                                 struct gpnn_error *err)
{
  struct gpnn_comm *comm = dealing->comm;
  enum gpnn_status status = dealing->dataset == NULL ? GPNN_OK : begin(dealing, err);
  uint64_t most = 0;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) status = share_cuts(dealing, n_rows, err);
  if (status != GPNN_OK) return status;
  for (size_t r = 0; r < comm->size; r++)
    if (n_rows[r] == 0)
      status = gpnn_fail(err, GPNN_EDATA, "there are too few rows for %zu ranks", comm->size);
  if (status == GPNN_OK && comm->rank == 0) status = write_sample(dealing, sample, err);
  status = gpnn_comm_agree(comm, status, err);
  if (status != GPNN_OK) return status;
  uint64_t n = n_rows[comm->rank];
  gpnn_comm_share(comm, &dealing->n_here, sizeof dealing->n_here, n_rows);
  for (size_t r = 0; r < comm->size; r++) most = n_rows[r] > most ? n_rows[r] : most;
  gpnn_rows_release(&dealing->sample);
  status = deal(dealing, sample, n, most, err);
  gpnn_index_close(dealing->common);
  if (status != GPNN_OK) remove_all(dealing, sample);
  return status;
}

enum gpnn_status gpnn_shard_deal(struct gpnn_comm *comm, const char *directory,
                                 const struct gpnn_dataset *dataset, const struct gpnn_parts *parts,
                                 const struct gpnn_search_options *options,
                                 const char *volatile *watch, struct gpnn_error *err)
{
  static const char suffix[] = ".part";
  size_t length = strlen(directory);
  char *part = malloc(length + sizeof suffix), *sample = NULL;
  if (part != NULL) {
    memcpy(part, directory, length);
    memcpy(part + length, suffix, sizeof suffix);
    sample = gpnn_shard_path(part, GPNN_SHARD_COMMON, "sample.gpi");
  }
  struct dealing dealing = {comm, part, directory, dataset, parts, options, watch, .cuts = NULL};
  if (dataset != NULL) {
    dealing.first = gpnn_parts_first(parts);
    dealing.n_here = gpnn_parts_end(parts, dataset->n) - dealing.first;
  }
  uint64_t *n_rows = gpnn_alloc(comm->size, 1, sizeof *n_rows);
  dealing.cuts = gpnn_alloc(comm->size, 1, sizeof *dealing.cuts);
  dealing.n_from = gpnn_alloc(comm->size, 1, sizeof *dealing.n_from);
  enum gpnn_status status =
      sample == NULL || n_rows == NULL || dealing.cuts == NULL || dealing.n_from == NULL
          ? gpnn_fail_memory(err, "for dealing rows")
          : GPNN_OK;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) status = deal_all(&dealing, sample, n_rows, err);
  gpnn_rows_release(&dealing.sample);
  gpnn_rows_release(&dealing.rows);
  free(dealing.cuts);
  free(dealing.n_from);
  free(n_rows);
  free(sample);
  free(part);
  return status;
}
