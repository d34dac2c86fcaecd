#include "shard/shard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "shard/shard_private.h"

char *gpnn_shard_path(const char *directory, size_t rank, const char *what)
{
  size_t n = strlen(directory) + strlen(what) + 32;
  char *path = malloc(n);
  if (path == NULL) return NULL;
  if (rank == GPNN_SHARD_COMMON)
    snprintf(path, n, "%s/%s", directory, what);
  else
    snprintf(path, n, "%s/%zu.%s", directory, rank, what);
  return path;
}

enum gpnn_status gpnn_shard_folder(const char *directory, const char *target,
                                   struct gpnn_error *err)
{
  if (access(target, F_OK) == 0) return gpnn_fail(err, GPNN_EIO, "%s: exists already", target);
  if (mkdir(directory, 0777) == 0) return GPNN_OK;
  if (errno != EEXIST) return gpnn_fail_errno(err, errno, "%s", directory);
  return gpnn_fail(err, GPNN_EIO, "%s: of a run that was killed, or goes on: remove it", directory);
}

uint64_t gpnn_shard_checksum(uint64_t n, const uint64_t *number, const uint32_t *set)
{
  struct gpnn_sha256 sha;
  uint32_t value[8];
  gpnn_sha256_begin(&sha);
  gpnn_sha256_add(&sha, number, n * sizeof *number);
  if (set != NULL) gpnn_sha256_add(&sha, set, n * sizeof *set);
  gpnn_sha256_value(&sha, value);
  return (uint64_t)value[0] << 32 | value[1];
}

/* ---- the manifest --------------------------------------------------------------------------- */

enum { LINE = 160 }; /* bytes of a line, at most */

/* Takes 'words' and, behind them, a number of digits alone from a line; NULL: they are not there.
 */
static const char *take(const char *line, const char *words, int base, uint64_t *number)
{
  size_t length = strlen(words);
  if (line == NULL || strncmp(line, words, length) != 0) return NULL;
  line += length;
  length = strspn(line, base == 16 ? "0123456789abcdef" : "0123456789");
  errno = 0;
  *number = strtoull(line, NULL, base);
  return length > 0 && errno == 0 ? line + length : NULL;
}

static bool is_end(const char *line)
{
  return line != NULL && strcmp(line, "\n") == 0;
}

/* Reads the line about all shards. */
static bool read_all(FILE *file, struct gpnn_shards *all)
{
  char line[LINE];
  const char *at = take(fgets(line, LINE, file), "rows ", 10, &all->n);
  at = take(at, " distinct ", 10, &all->n_distinct);
  at = take(at, " sets ", 10, &all->n_sets);
  uint64_t n_most = all->n_sets == 0 ? all->n : all->n_sets;
  return is_end(take(at, " index ", 16, &all->fingerprint)) && all->n_sets <= all->n &&
         all->n_distinct > 0 && all->n_distinct <= n_most &&
         (all->n_sets > 0 || all->n_distinct == all->n);
}

/* Reads the lines about each shard, of which 'own' is that of this rank. */
static bool read_shards(FILE *file, const struct gpnn_shard *shard, struct gpnn_shard_entry *own)
{
  char line[LINE];
  uint64_t n = 0;
  for (size_t r = 0; r < shard->comm->size; r++) {
    struct gpnn_shard_entry entry;
    const char *at = take(fgets(line, LINE, file), "shard rows ", 10, &entry.n);
    at = take(at, " index ", 16, &entry.fingerprint);
    if (!is_end(take(at, " numbers ", 16, &entry.numbers))) return false;
    n += entry.n;
    if (r == shard->comm->rank) *own = entry;
  }
  return n == shard->all.n;
}

/* Reads what is said of all shards, and the entry of this rank. */
static enum gpnn_status read_entries(FILE *file, const char *path, struct gpnn_shard *shard,
                                     struct gpnn_shard_entry *own, struct gpnn_error *err)
{
  char line[LINE] = "";
  uint64_t n_ranks = 0;
  if (fgets(line, LINE, file) == NULL || strcmp(line, GPNN_SHARD_FIRST_LINE) != 0)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: not a manifest of shards that this program knows",
                     path);
  bool is_sound = is_end(take(fgets(line, LINE, file), "ranks ", 10, &n_ranks)) && n_ranks > 0;
  if (is_sound && n_ranks != shard->comm->size)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s: the shards of %" PRIu64
                     " ranks, but %zu are running: use mpirun -n %" PRIu64,
                     path, n_ranks, shard->comm->size, n_ranks);
  if (is_sound && read_all(file, &shard->all) && read_shards(file, shard, own)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged", path);
}

static enum gpnn_status read_manifest(const char *directory, struct gpnn_shard *shard,
                                      struct gpnn_shard_entry *own, struct gpnn_error *err)
{
  char *path = gpnn_shard_path(directory, GPNN_SHARD_COMMON, "manifest");
  if (path == NULL) return gpnn_fail_memory(err, "for a manifest");
  FILE *file = fopen(path, "r");
  enum gpnn_status status =
      file == NULL
          ? gpnn_fail_errno(err, errno,
                            "%s: no shards of gpnn-mpi index, or none that this rank can see", path)
          : read_entries(file, path, shard, own, err);
  if (file != NULL) fclose(file);
  free(path);
  return status;
}

/* ---- the shard ------------------------------------------------------------------------------ */

/* Whether all is as it was written. */
static bool is_sound(const struct gpnn_shard *shard, uint64_t checksum)
{
  bool is_sound = gpnn_shard_checksum(shard->dataset->n, shard->number, shard->set) == checksum;
  for (size_t i = 0; i < shard->dataset->n && is_sound; i++)
    is_sound = shard->number[i] < shard->all.n &&
               (i == 0 || shard->number[i - 1] < shard->number[i]) &&
               (shard->set == NULL || shard->set[i] < shard->all.n_sets);
  return is_sound;
}

static enum gpnn_status read_numbers(const char *path, struct gpnn_shard *shard, uint64_t checksum,
                                     struct gpnn_error *err)
{
  uint64_t n = shard->dataset->n;
  size_t n_sets = shard->all.n_sets == 0 ? 0 : n;
  shard->number = gpnn_alloc(n, 1, sizeof *shard->number);
  if (n_sets > 0) shard->set = gpnn_alloc(n_sets, 1, sizeof *shard->set);
  if (shard->number == NULL || (n_sets > 0 && shard->set == NULL))
    return gpnn_fail_memory(err, "for the numbers of rows");
  FILE *file = fopen(path, "rb");
  if (file == NULL) return gpnn_fail_errno(err, errno, "%s", path);
  bool is_whole = fread(shard->number, sizeof *shard->number, n, file) == n &&
                  (n_sets == 0 || fread(shard->set, sizeof *shard->set, n_sets, file) == n_sets);
  fclose(file);
  if (is_whole && is_sound(shard, checksum)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT, "%s: truncated, damaged, or of another run", path);
}

static enum gpnn_status open_own(const char *directory, struct gpnn_shard *shard,
                                 struct gpnn_error *err)
{
  struct gpnn_shard_entry own = {0};
  char *index = gpnn_shard_path(directory, shard->comm->rank, "gpi");
  char *rows = gpnn_shard_path(directory, shard->comm->rank, "rows");
  enum gpnn_status status =
      index == NULL || rows == NULL ? gpnn_fail_memory(err, "for a shard") : GPNN_OK;
  if (status == GPNN_OK) status = read_manifest(directory, shard, &own, err);
  if (status == GPNN_OK) status = gpnn_index_open(&shard->index, index, false, err);
  if (status == GPNN_OK) {
    shard->dataset = gpnn_index_dataset(shard->index);
    if (shard->dataset->fingerprint != own.fingerprint || shard->dataset->n != own.n)
      status = gpnn_fail(err, GPNN_EMISMATCH,
                         "%s: not the shard that the manifest names: shards of two runs are mixed",
                         index);
  }
  if (status == GPNN_OK) status = read_numbers(rows, shard, own.numbers, err);
  free(index);
  free(rows);
  return status;
}

enum gpnn_status gpnn_shard_open(struct gpnn_shard *shard, struct gpnn_comm *comm,
                                 const char *directory, struct gpnn_error *err)
{
  *shard = (struct gpnn_shard){.comm = comm};
  enum gpnn_status status = gpnn_comm_agree(comm, open_own(directory, shard, err), err);
  if (status != GPNN_OK) gpnn_shard_close(shard);
  return status;
}

void gpnn_shard_close(struct gpnn_shard *shard)
{
  gpnn_index_close(shard->index);
  free(shard->number);
  free(shard->set);
  *shard = (struct gpnn_shard){0};
}
