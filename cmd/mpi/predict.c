/* gpnn-mpi predict: gpnn-predict on rank 0, whose model asks all ranks, or on each for a part of
 * the table. */
#include "cmd/predict/predict.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/common/signals.h"
#include "cmd/mpi/mpi.h"
#include "shard/shard.h"

struct arguments {
  struct predict_arguments own; /* first, as its options are those of gpnn-predict */
  bool shards;
  struct predict_part part;
  const struct mpi *mpi;
};

#define ARGUMENTS struct arguments

static const struct cli_option shards[] = {
    CLI_FLAG(0, "shards", shards, "each rank predicts a part, into folder -o")};

/* Of a pipe each rank would get some of what is in it, and wait for the rest. */
static bool is_pipe(const char *path)
{
  struct stat st;
  return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
}

static bool resolve(const struct cli *cli, void *arguments)
{
  const struct arguments *a = arguments;
  const char *misplaced = cli_given_of(cli, "loo,cross-fit,share,samples,group");
  if (misplaced != NULL)
    return cli_refuse(cli, "--%s is for gpnn-predict: shards cannot do that yet", misplaced);
  if (!predict_resolve(cli, arguments)) return false;
  if (a->own.plan.options.max_km > 0)
    return cli_refuse(cli, "--max-distance in km is for gpnn-predict: shards cannot do that yet");
  misplaced = a->shards ? cli_given_of(cli, "resume,unbuffered") : NULL;
  if (misplaced != NULL)
    return cli_refuse(cli, "--shards predicts parts of a table: give it or --%s", misplaced);
  if (a->shards && strcmp(cli->output, "-") == 0)
    return cli_refuse(cli, "--shards needs -o DIR, the folder of the parts");
  if (a->shards && is_pipe(cli_operand(cli, 1)))
    return cli_refuse(
        cli, "--shards needs the name of a file, no pipe, of which each rank reads a part");
  if (a->shards && is_pipe(a->own.params))
    return cli_refuse(cli, "--shards needs -p FILE, which every rank reads");
  if (a->shards) mpi_trim_folder(cli->output);
  return true;
}

/* ---- a part a rank --------------------------------------------------------------------------- */

static const struct arguments *arguments_of(const struct predict_part *part)
{
  return (const struct arguments *)((const char *)part - offsetof(struct arguments, part));
}

/* Finds this rank's part of a table. */
static enum gpnn_status find_part(const struct gpnn_comm *comm, struct gpnn_table *table,
                                  struct gpnn_table_part *part, struct gpnn_error *err)
{
  if (!gpnn_table_has_parts(table))
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: no plain file of text, of which --shards lets each rank read a part",
                     gpnn_table_name(table));
  return gpnn_table_find_part(table, comm->rank, comm->size, part, err);
}

static enum gpnn_status take(const struct predict_part *part, struct gpnn_table *table,
                             struct gpnn_error *err)
{
  const struct mpi *mpi = arguments_of(part)->mpi;
  struct gpnn_table_part own = {0};
  struct gpnn_table_part *all = gpnn_alloc(mpi->comm->size, 1, sizeof *all);
  enum gpnn_status status = all == NULL ? gpnn_fail_memory(err, "for the parts of a table")
                                        : find_part(mpi->comm, table, &own, err);
  uint64_t n_before = 0;
  bool are_records = true;
  status = gpnn_peers_agree(mpi->peers, status, err);
  if (status == GPNN_OK) gpnn_comm_share(mpi->comm, &own, sizeof own, all);
  for (size_t r = 0; r < mpi->comm->size && status == GPNN_OK; r++) {
    n_before += r < mpi->comm->rank ? all[r].n_lines : 0;
    are_records = are_records && !all[r].ends_in_quotes;
    if (all[r].begin < all[r].end) own.is_torn = all[r].is_torn; /* the last part's */
  }
  free(all);
  if (status == GPNN_OK && !are_records)
    return gpnn_fail(err, GPNN_EINVAL, "%s: lines end inside quotes: predict it without --shards",
                     gpnn_table_name(table));
  return status == GPNN_OK ? gpnn_table_take_part(table, &own, n_before, err) : status;
}

static enum gpnn_status gather(const struct predict_part *part, size_t n, const void *own,
                               unsigned char **all, size_t *n_parts, struct gpnn_error *err)
{
  const struct mpi *mpi = arguments_of(part)->mpi;
  size_t size = mpi->comm->size;
  enum gpnn_status status = gpnn_server_leave(mpi->server, GPNN_OK, err);
  if (status != GPNN_OK) return status;
  struct gpnn_message *messages = calloc(2 * size, sizeof *messages);
  unsigned char *joined = part->is_first ? gpnn_alloc(size, n, 1) : NULL;
  if (messages != NULL) messages[0] = (struct gpnn_message){n, malloc(n)};
  if (messages == NULL || messages[0].bytes == NULL || (part->is_first && joined == NULL))
    status = gpnn_fail_memory(err, "for what is told of parts");
  status = gpnn_peers_agree(mpi->peers, status, err);
  if (status == GPNN_OK) {
    memcpy(messages[0].bytes, own, n);
    status = gpnn_comm_exchange(mpi->comm, messages, messages + size, err);
  }
  for (size_t r = 0; r < size && status == GPNN_OK && part->is_first; r++)
    memcpy(joined + r * n, messages[size + r].bytes, n);
  *n_parts = part->is_first ? size : 0;
  *all = joined;
  gpnn_messages_release(2 * size, messages);
  free(messages);
  return status;
}

/* Predicts this rank's part into a file of 'folder', which becomes 'target' when all parts are
 * whole, and is removed otherwise. */
static enum gpnn_status predict_part(const struct cli *cli, struct arguments *a, const char *folder,
                                     const char *output, const char *target, struct gpnn_error *err)
{
  const struct mpi *mpi = a->mpi;
  struct cli own = *cli;
  bool is_first = mpi->comm->rank == 0;
  enum gpnn_status status = is_first ? gpnn_shard_folder(folder, target, err) : GPNN_OK;
  status = gpnn_peers_agree(mpi->peers, status, err);
  if (status != GPNN_OK) return status;
  own.output = output;
  a->part = (struct predict_part){take, gather, is_first};
  a->own.part = &a->part;
  status = gpnn_server_leave(mpi->server, predict_run(&own, a, err), err);
  if (is_first && status == GPNN_OK && rename(folder, target) != 0)
    status = gpnn_fail_errno(err, errno, "%s", target);
  status = gpnn_peers_agree(mpi->peers, status, err);
  if (status == GPNN_OK) return status;
  (void)unlink(output);
  enum gpnn_status all_are_done = gpnn_comm_agree(mpi->comm, GPNN_OK, NULL);
  if (is_first && all_are_done == GPNN_OK) (void)rmdir(folder);
  return status;
}

static enum gpnn_status run_shards(const struct cli *cli, struct arguments *a,
                                   struct gpnn_error *err)
{
  char number[64], *folder = NULL, *output = NULL;
  size_t length = strlen(cli->output);
  snprintf(number, sizeof number, "part-%05zu-of-%05zu", a->mpi->comm->rank, a->mpi->comm->size);
  folder = malloc(length + sizeof ".part");
  if (folder != NULL) {
    memcpy(folder, cli->output, length);
    memcpy(folder + length, ".part", sizeof ".part");
    output = gpnn_shard_path(folder, GPNN_SHARD_COMMON, number);
  }
  enum gpnn_status status =
      output == NULL ? gpnn_fail_memory(err, "for the names of parts") : GPNN_OK;
  status = gpnn_peers_agree(a->mpi->peers, status, err);
  if (status == GPNN_OK) status = predict_part(cli, a, folder, output, cli->output, err);
  free(folder);
  free(output);
  return status;
}

/* ---- the tool ------------------------------------------------------------------------------- */

/* Each rank gets some rows of a batch, so that it does more than wait for others; and there are no
 * more rows in all than one of them has memory for. */
static void choose_batch(struct arguments *a, size_t n_ranks)
{
  enum { FEWEST = 100, USUAL = 1024, MOST = 1 << 19 };
  if (!a->shards && a->own.batch < FEWEST * n_ranks) a->own.batch = FEWEST * n_ranks;
  if (a->shards) a->own.batch = n_ranks <= MOST / USUAL ? USUAL : MOST / n_ranks;
  if (a->own.batch < FEWEST) a->own.batch = FEWEST;
}

static enum gpnn_status run_on(const struct cli *cli, const struct mpi *mpi, void *arguments,
                               struct gpnn_error *err)
{
  struct arguments *a = arguments;
  if (!cli_given(cli, "batch") && !a->own.unbuffered) choose_batch(a, mpi->comm->size);
  a->own.maker = mpi->maker;
  a->mpi = mpi;
  return a->shards ? run_shards(cli, a, err) : predict_run(cli, a, err);
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct arguments *a = arguments;
  return mpi_serve(cli, run_on, a->shards, arguments, err);
}

int mpi_predict(int argc, char **argv)
{
  struct arguments arguments = {.own = PREDICT_ARGUMENTS_INIT};
  struct cli_tool tool = predict_tool;
  size_t n = predict_tool.n_options;
  struct cli_option *options = gpnn_alloc(n + 1, 1, sizeof *options);
  if (options == NULL) return EXIT_FAILURE;
  memcpy(options, predict_tool.options, n * sizeof *options);
  options[n] = shards[0];
  tool.options = options;
  tool.n_options = n + 1;
  tool.name = "gpnn-mpi predict";
  tool.shares_page = true;
  tool.synopsis = "[OPTION...] -p PARAMS DIR [TABLE]";
  tool.purpose = "Predict each row of a table from its nearest training rows, in order, by all\n"
                 "ranks that have a shard of these.";
  tool.resolve = resolve;
  tool.run = run;
  int status = cli_main(&tool, &arguments, argc, argv);
  free(options);
  return status;
}
