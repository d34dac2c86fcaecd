/*
 * Rows of all shards for rank 0, which estimates from them.
 */
#include "shard/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/sample.h"
#include "shard/shard_private.h"

enum { BLOCK = 1 << 15 }; /* rows sent at a time */

struct gpnn_gathered {
  struct gpnn_rows rows;
};

struct gathering {
  const struct gpnn_shard *shard;
  struct gpnn_comm *comm;
  uint64_t n;                /* rows wanted */
  uint64_t *drawn;           /* owned; n: their numbers, ascending; NULL: all */
  struct gpnn_dataset like;  /* what is packed: the rows of this rank, with their sets */
  struct gpnn_message *send; /* owned; comm->size, and then as many to receive */
};

/* ---- which rows ------------------------------------------------------------------------------ */

/* Of a row, by its distance from the first of a block. */
struct in_set {
  uint32_t ahead, set;
};

/* Lets rank 0 know the sets of copies of the rows from 'first' to before 'end', of which this rank
 * has those from 'at' on; 'sets' (BLOCK) is filled in there. */
static enum gpnn_status learn_sets(struct gathering *g, size_t at, uint64_t first, uint64_t end,
                                   uint32_t *sets, struct gpnn_error *err)
{
  const struct gpnn_shard *shard = g->shard;
  struct gpnn_message *receive = g->send + g->comm->size;
  struct in_set *own = malloc(BLOCK * sizeof *own);
  size_t n = 0;
  enum gpnn_status status = own == NULL ? gpnn_fail_memory(err, "for copies of rows") : GPNN_OK;
  for (size_t i = at; own != NULL && i < shard->dataset->n && shard->number[i] < end; i++)
    own[n++] = (struct in_set){(uint32_t)(shard->number[i] - first), shard->set[i]};
  g->send[0] = (struct gpnn_message){n * sizeof *own, (unsigned char *)own};
  status = gpnn_comm_agree(g->comm, status, err);
  if (status == GPNN_OK) status = gpnn_comm_exchange(g->comm, g->send, receive, err);
  for (size_t r = 0; r < g->comm->size && status == GPNN_OK; r++) {
    const struct in_set *theirs = (const struct in_set *)(const void *)receive[r].bytes;
    for (size_t i = 0; i < receive[r].length / sizeof *theirs; i++)
      sets[theirs[i].ahead] = theirs[i].set;
  }
  gpnn_messages_release(2 * g->comm->size, g->send);
  return status;
}

/* Replaces, on rank 0, the numbers drawn among rows that are the first of their set by those among
 * all rows. */
static enum gpnn_status pass_over_copies(struct gathering *g, struct gpnn_error *err)
{
  bool *has_been = calloc(g->shard->all.n_sets, sizeof *has_been);
  uint32_t *sets = malloc(BLOCK * sizeof *sets);
  enum gpnn_status status =
      has_been == NULL || sets == NULL ? gpnn_fail_memory(err, "for copies of rows") : GPNN_OK;
  uint64_t n_all = g->shard->all.n, n_firsts = 0, next = 0;
  size_t at = 0;
  status = gpnn_comm_agree(g->comm, status, err);
  for (uint64_t first = 0; first < n_all && status == GPNN_OK; first += BLOCK) {
    uint64_t end = n_all - first < BLOCK ? n_all : first + BLOCK;
    status = learn_sets(g, at, first, end, sets, err);
    while (at < g->shard->dataset->n && g->shard->number[at] < end) at++;
    for (uint64_t i = first; g->comm->rank == 0 && i < end && status == GPNN_OK; i++) {
      if (has_been[sets[i - first]]) continue;
      has_been[sets[i - first]] = true;
      if (next < g->n && g->drawn[next] == n_firsts) g->drawn[next++] = i;
      n_firsts++;
    }
  }
  free(has_been);
  free(sets);
  return status;
}

/* Draws the rows wanted, the same on all ranks. */
static enum gpnn_status draw(struct gathering *g, uint64_t seed, struct gpnn_error *err)
{
  const struct gpnn_shards *all = &g->shard->all;
  g->drawn = gpnn_alloc(g->n, 1, sizeof *g->drawn);
  enum gpnn_status status =
      g->drawn == NULL ? gpnn_fail_memory(err, "for the rows of an estimation") : GPNN_OK;
  if (status == GPNN_OK) status = gpnn_sample_numbers(all->n_distinct, g->n, seed, g->drawn, err);
  status = gpnn_comm_agree(g->comm, status, err);
  if (status == GPNN_OK && all->n_sets > 0) status = pass_over_copies(g, err);
  if (status == GPNN_OK) gpnn_comm_broadcast(g->comm, 0, g->drawn, g->n * sizeof *g->drawn);
  return status;
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* Packs those of the wanted rows 'first' to before 'end' that this rank has, from '*at' on, each
 * with its place among the rows wanted. */
static enum gpnn_status pack(struct gathering *g, uint64_t first, uint64_t end, size_t *at,
                             struct gpnn_error *err)
{
  const struct gpnn_shard *shard = g->shard;
  size_t width = gpnn_rows_width(&g->like), n = 0;
  double *packed = gpnn_alloc(end - first, width, sizeof *packed);
  if (packed == NULL) return gpnn_fail_memory(err, "for the rows of an estimation");
  for (uint64_t place = first; place < end; place++) {
    uint64_t wanted = g->drawn == NULL ? place : g->drawn[place];
    while (*at < shard->dataset->n && shard->number[*at] < wanted) ++*at;
    if (*at < shard->dataset->n && shard->number[*at] == wanted)
      gpnn_rows_pack(&g->like, *at, (double)place, packed + n++ * width);
  }
  g->send[0] = (struct gpnn_message){n * width * sizeof *packed, (unsigned char *)packed};
  return GPNN_OK;
}

/* Sends the rows wanted to rank 0, block by block, whose 'rows' they become. */
static enum gpnn_status send_rows(struct gathering *g, struct gpnn_rows *rows,
                                  struct gpnn_error *err)
{
  size_t width = gpnn_rows_width(&g->like), at = 0;
  struct gpnn_message *receive = g->send + g->comm->size;
  enum gpnn_status status = GPNN_OK;
  for (uint64_t first = 0; first < g->n && status == GPNN_OK; first += BLOCK) {
    uint64_t end = g->n - first < BLOCK ? g->n : first + BLOCK;
    status = gpnn_comm_agree(g->comm, pack(g, first, end, &at, err), err);
    if (status == GPNN_OK) status = gpnn_comm_exchange(g->comm, g->send, receive, err);
    for (size_t r = 0; r < g->comm->size && status == GPNN_OK; r++) {
      const double *packed = (const double *)(const void *)receive[r].bytes;
      for (size_t i = 0; i < receive[r].length / sizeof *packed / width; i++)
        gpnn_rows_set(rows, (size_t)packed[i * width], packed + i * width);
    }
    gpnn_messages_release(2 * g->comm->size, g->send);
  }
  return status;
}

static enum gpnn_status gather(struct gathering *g, uint64_t seed, bool is_drawn,
                               struct gpnn_gathered *gathered, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  g->send = calloc(2 * g->comm->size, sizeof *g->send);
  if (g->send == NULL) status = gpnn_fail_memory(err, "for the rows of an estimation");
  g->like = *g->shard->dataset;
  g->like.fingerprint = g->shard->all.fingerprint;
  g->like.row_group = is_drawn ? NULL : g->shard->set;
  g->like.n_row_groups = g->shard->all.n_sets;
  if (status == GPNN_OK && g->comm->rank == 0)
    status = gpnn_rows_new(&gathered->rows, &g->like, g->n, err);
  status = gpnn_comm_agree(g->comm, status, err);
  if (status == GPNN_OK && is_drawn) status = draw(g, seed, err);
  if (status == GPNN_OK) status = send_rows(g, &gathered->rows, err);
  gathered->rows.dataset.is_partial = true; /* the search is that of a shard */
  if (g->send != NULL) gpnn_messages_release(2 * g->comm->size, g->send);
  free(g->send);
  free(g->drawn);
  return status;
}

enum gpnn_status gpnn_gather(struct gpnn_gathered **gathered, const struct gpnn_shard *shard,
                             uint64_t most, uint64_t seed, struct gpnn_error *err)
{
  bool is_drawn = most > 0 && shard->all.n_distinct > most;
  struct gathering g = {
      .shard = shard, .comm = shard->comm, .n = is_drawn ? most : shard->all.n, .drawn = NULL};
  *gathered = calloc(1, sizeof **gathered);
  enum gpnn_status status =
      *gathered == NULL ? gpnn_fail_memory(err, "for the rows of an estimation") : GPNN_OK;
  status = gpnn_comm_agree(shard->comm, status, err);
  if (status == GPNN_OK) status = gather(&g, seed, is_drawn, *gathered, err);
  if (status == GPNN_OK) return GPNN_OK;
  gpnn_gathered_free(*gathered);
  *gathered = NULL;
  return status;
}

const struct gpnn_dataset *gpnn_gathered_dataset(const struct gpnn_gathered *gathered)
{
  return &gathered->rows.dataset;
}

void gpnn_gathered_free(struct gpnn_gathered *gathered)
{
  if (gathered == NULL) return;
  gpnn_rows_release(&gathered->rows);
  free(gathered);
}
