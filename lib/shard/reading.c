#include "shard/reading.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

/* What a rank knows of its part. */
struct told {
  bool has_part;
  struct gpnn_table_part part;
};

/* Opens the table and finds the part of this rank.  That it cannot be read is nobody's failure. */
static enum gpnn_status open_part(const struct gpnn_peers *peers,
                                  const struct gpnn_shard_reading *reading,
                                  struct gpnn_table **table, struct gpnn_training *training,
                                  struct told *told, struct gpnn_error *err)
{
  struct stat st;
  /* A pipe must not be opened: whoever opens it takes something from it. */
  bool is_file = stat(reading->path, &st) == 0 && S_ISREG(st.st_mode);
  if (!is_file || strcmp(reading->path, "-") == 0 || reading->how->unique) return GPNN_OK;
  enum gpnn_status status = gpnn_table_open(table, reading->path, reading->options, err);
  if (status == GPNN_OK)
    status = gpnn_training_begin(training, *table, reading->roles, reading->beside, err);
  if (status == GPNN_OK && gpnn_table_has_parts(*table)) {
    status = gpnn_table_find_part(*table, peers->rank, peers->size, &told->part, err);
    told->has_part = status == GPNN_OK;
  }
  return status == GPNN_ENOMEM ? status : GPNN_OK;
}

/* Completes the part of rank 'rank' by what others know; returns why that cannot be, or NULL. */
static const char *place_part(size_t rank, size_t size, const struct told *told,
                              struct gpnn_table_part *part, uint64_t *n_before)
{
  bool are_records = true;
  *part = told[rank].part;
  *n_before = 0;
  for (size_t r = 0; r < size; r++) {
    if (!told[r].has_part || (r > 0 && told[r].part.begin != told[r - 1].part.end))
      return "not all ranks can read it from any byte on";
    are_records = are_records && !told[r].part.ends_in_quotes;
    part->is_torn = part->is_torn || told[r].part.is_torn;
    if (r < rank) *n_before += told[r].part.n_lines;
  }
  return are_records ? NULL : "lines end inside quotes";
}

/* Reads the part of this rank. */
static enum gpnn_status read_part(struct gpnn_peers *peers,
                                  const struct gpnn_shard_reading *reading,
                                  struct gpnn_table *table, struct gpnn_training *training,
                                  const struct told *told, const char **why, struct gpnn_error *err)
{
  struct gpnn_table_part part;
  struct gpnn_training_reading how = *reading->how;
  uint64_t n_before;
  how.profile = NULL;
  *why = place_part(peers->rank, peers->size, told, &part, &n_before);
  if (*why != NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_table_take_part(table, &part, n_before, err);
  if (status == GPNN_OK) status = gpnn_training_read(training, table, &how, err);
  return gpnn_training_join(training, peers, status, why, err);
}

enum gpnn_status gpnn_shard_read(struct gpnn_peers *peers, const struct gpnn_shard_reading *reading,
                                 struct gpnn_table **table, struct gpnn_training *training,
                                 const char **why, struct gpnn_error *err)
{
  const char *volatile *watch = training->watch;
  struct gpnn_table *opened = NULL;
  struct told *told = gpnn_alloc(peers->size, 1, sizeof *told);
  *why = NULL;
  enum gpnn_status status =
      told == NULL ? gpnn_fail_memory(err, "for the parts of a table")
                   : open_part(peers, reading, &opened, training, &told[peers->rank], err);
  status = gpnn_peers_share(peers, sizeof *told, told, status, err);
  if (status == GPNN_OK) status = read_part(peers, reading, opened, training, told, why, err);
  free(told);
  if (status == GPNN_OK && *why == NULL) {
    *table = opened;
    return GPNN_OK;
  }
  gpnn_table_close(opened);
  gpnn_training_release(training);
  training->watch = watch;
  return status;
}
