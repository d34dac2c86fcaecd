/* gpnn-mpi index: gpnn-index on rank 0, which others help to read the table; its rows are then
 * dealt to all. */
#include "cmd/index/index.h"

#include <stddef.h>

#include "cmd/common/progress.h"
#include "cmd/common/signals.h"
#include "cmd/mpi/mpi.h"
#include "shard/reading.h"
#include "shard/shard.h"

/* The unfinished file of a shard, for the signal handler. */
static const char *volatile unfinished;

struct arguments {
  struct index_arguments own; /* first, as its options are those of gpnn-index */
  struct index_writer writer;
  struct index_read read; /* what this rank has read of the table */
  struct gpnn_comm comm;
  struct gpnn_peers peers;
};

static bool resolve(const struct cli *cli, void *arguments)
{
  const char *misplaced = cli_given_of(cli, "metric,pack,add,forget,search,recall");
  if (misplaced != NULL)
    return cli_refuse(
        cli, "--%s is for gpnn-index: shards are made of a table, with exact searches", misplaced);
  if (!index_resolve(cli, arguments)) return false;
  mpi_trim_folder(((const struct arguments *)arguments)->own.output);
  return true;
}

/* Reads the table together with the other ranks, if it can be read so. */
static enum gpnn_status read(const struct cli *cli, struct arguments *a, struct gpnn_error *err)
{
  const struct gpnn_training_reading how = {a->own.skip_bad != SKIP_NONE, a->own.unique,
                                            cli->threads, progress_rows_read, NULL};
  const struct gpnn_shard_reading reading = {cli_operand(cli, 0), &cli->table, &a->own.roles,
                                             a->own.output, &how};
  const char *why = a->own.surveys ? "--auto looks at it first" : NULL;
  enum gpnn_status status = GPNN_OK;
  a->read.training.watch = &unfinished;
  if (a->peers.size == 1) return GPNN_OK;
  if (why == NULL)
    status = gpnn_shard_read(&a->peers, &reading, &a->read.table, &a->read.training, &why, err);
  if (status == GPNN_OK && why != NULL && a->peers.rank == 0)
    cli_note(cli, "rank 0 reads the table alone: %s", why);
  return status;
}

/* Deals the rows of a dataset, unless 'status', of what had to be done before, is a failure
 * somewhere. */
static enum gpnn_status deal(struct arguments *a, enum gpnn_status status,
                             const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  status = gpnn_peers_agree(&a->peers, status, err);
  if (status != GPNN_OK) return status;
  return gpnn_shard_deal(&a->comm, a->own.output, dataset, gpnn_training_parts(&a->read.training),
                         &a->own.search, &unfinished, err);
}

static enum gpnn_status write(const struct index_writer *writer, const struct index_arguments *own,
                              const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  struct arguments *a =
      (struct arguments *)((char *)(uintptr_t)writer - offsetof(struct arguments, writer));
  (void)own;
  a->own.writer = NULL; /* for those who ask whether it has been called */
  return deal(a, GPNN_OK, dataset, err);
}

/* What rank 0 does, and tells. */
static enum gpnn_status run_first(const struct cli *cli, struct arguments *a,
                                  struct gpnn_error *err)
{
  a->writer.write = write;
  a->own.writer = &a->writer;
  if (a->read.table != NULL) a->own.read = &a->read;
  enum gpnn_status status = index_run(cli, &a->own, err);
  return a->own.writer == NULL ? status : gpnn_peers_agree(&a->peers, status, err);
}

/* What the others do. */
static enum gpnn_status run_other(struct arguments *a, struct gpnn_error *err)
{
  struct gpnn_training *training = &a->read.training;
  if (a->read.table == NULL) return deal(a, GPNN_OK, NULL, err);
  enum gpnn_status status =
      gpnn_training_finish(training, &a->own.training, gpnn_table_name(a->read.table), err);
  return deal(a, status, &training->dataset, err);
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct arguments *a = arguments;
  enum gpnn_status status = mpi_start(&a->comm, err);
  if (status != GPNN_OK) return mpi_end(&a->comm, status);
  cli_guard(&unfinished);
  gpnn_comm_peers(&a->comm, &a->peers);
  status = read(cli, a, err);
  if (status == GPNN_OK) status = a->comm.rank == 0 ? run_first(cli, a, err) : run_other(a, err);
  gpnn_training_release(&a->read.training);
  gpnn_table_close(a->read.table);
  return mpi_end(&a->comm, status);
}

int mpi_index(int argc, char **argv)
{
  struct arguments arguments = {
      .own = {.training = GPNN_TRAINING_OPTIONS_INIT, .search = GPNN_SEARCH_OPTIONS_INIT},
      .read = {.training = GPNN_TRAINING_INIT}};
  struct cli_tool tool = index_tool;
  tool.name = "gpnn-mpi index";
  tool.shares_page = true;
  tool.synopsis = "[OPTION...] -o DIR [TABLE]";
  tool.purpose =
      "Standardise the rows of a table, hold some out, and deal the others to all ranks.";
  tool.resolve = resolve;
  tool.run = run;
  return cli_main(&tool, &arguments, argc, argv);
}
