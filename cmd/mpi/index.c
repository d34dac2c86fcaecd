/* gpnn-mpi index: gpnn-index on rank 0, whose rows are then dealt to all. */
#include "cmd/index/index.h"

#include <stddef.h>

#include "cmd/common/signals.h"
#include "cmd/mpi/mpi.h"
#include "shard/shard.h"

/* The unfinished file of a shard, for the signal handler. */
static const char *volatile unfinished;

struct arguments {
  struct index_arguments own; /* first, as its options are those of gpnn-index */
  struct index_writer writer;
  struct gpnn_comm comm;
  bool is_dealt; /* the other ranks know how it went */
};

static bool resolve(const struct cli *cli, void *arguments)
{
  const char *misplaced = cli_given_of(cli, "metric,pack,add,forget,search,recall");
  if (misplaced != NULL)
    return cli_refuse(
        cli, "--%s is for gpnn-index: shards are made of a table, with exact searches", misplaced);
  return index_resolve(cli, arguments);
}

static enum gpnn_status write(const struct index_writer *writer, const struct index_arguments *a,
                              const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  struct arguments *all =
      (struct arguments *)((char *)(uintptr_t)writer - offsetof(struct arguments, writer));
  all->is_dealt = true;
  return gpnn_shard_deal(&all->comm, a->output, dataset, &a->search, &unfinished, err);
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct arguments *a = arguments;
  enum gpnn_status status = mpi_start(&a->comm, err);
  if (status != GPNN_OK) return mpi_end(&a->comm, status);
  cli_guard(&unfinished);
  if (a->comm.rank > 0) {
    status = gpnn_shard_deal(&a->comm, a->own.output, NULL, &a->own.search, &unfinished, err);
  } else {
    a->writer.write = write;
    a->own.writer = &a->writer;
    status = index_run(cli, &a->own, err);
    if (!a->is_dealt) gpnn_shard_cancel(&a->comm);
  }
  return mpi_end(&a->comm, status == GPNN_END ? GPNN_OK : status);
}

int mpi_index(int argc, char **argv)
{
  struct arguments arguments = {
      .own = {.training = GPNN_TRAINING_OPTIONS_INIT, .search = GPNN_SEARCH_OPTIONS_INIT}};
  struct cli_tool tool = index_tool;
  tool.name = "gpnn-mpi index";
  tool.synopsis = "[OPTION...] -o DIR [TABLE]";
  tool.purpose =
      "Standardise the rows of a table, hold some out, and deal the others to all ranks.";
  tool.resolve = resolve;
  tool.run = run;
  return cli_main(&tool, &arguments, argc, argv);
}
