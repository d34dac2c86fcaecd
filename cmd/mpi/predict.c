/* gpnn-mpi predict: gpnn-predict on rank 0, whose model asks all ranks. */
#include "cmd/predict/predict.h"

#include <stdlib.h>

#include "cmd/common/open.h"
#include "cmd/mpi/mpi.h"
#include "shard/sharded.h"

struct maker {
  struct open_maker of; /* first */
  struct gpnn_server *server;
};

static enum gpnn_status make(const struct open_maker *maker, struct gpnn_model **model, size_t n,
                             const struct gpnn_channel *channels,
                             const struct gpnn_model_options *options, struct gpnn_error *err)
{
  return gpnn_sharded_new(model, ((const struct maker *)maker)->server, n, channels, options, err);
}

static bool resolve(const struct cli *cli, void *arguments)
{
  const struct predict_arguments *a = arguments;
  static const char *const misplaced[] = {"loo", "cross-fit", "share", "samples", "group"};
  for (size_t i = 0; i < sizeof misplaced / sizeof misplaced[0]; i++)
    if (cli_given(cli, misplaced[i]))
      return cli_refuse(cli, "--%s is for gpnn-predict: shards cannot do that yet", misplaced[i]);
  if (!predict_resolve(cli, arguments)) return false;
  return a->plan.options.max_km == 0 ||
         cli_refuse(cli, "--max-distance in km is for gpnn-predict: shards cannot do that yet");
}

/* Runs gpnn-predict on the index of the first shard, which has all but the rows. */
static enum gpnn_status run_first(const struct cli *cli, struct predict_arguments *a,
                                  struct gpnn_server *server, struct gpnn_error *err)
{
  const struct maker maker = {{make}, server};
  char *operands[2] = {gpnn_shard_path(cli_operand(cli, 0), 0, "gpi"), NULL};
  struct cli first = *cli;
  if (operands[0] == NULL) return gpnn_fail_memory(err, "for a shard");
  if (cli->n_operands > 1) operands[1] = cli->operands[1];
  first.operands = operands;
  a->maker = &maker.of;
  enum gpnn_status status = predict_run(&first, a, err);
  const struct gpnn_sharded_counts counts = gpnn_sharded_counts(server);
  if (status == GPNN_OK && counts.n_rows > 0)
    cli_note(cli, "%.3f ranks asked a row", (double)counts.n_asked / (double)counts.n_rows);
  free(operands[0]);
  return status;
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct gpnn_comm comm;
  struct gpnn_shard shard = {.comm = NULL};
  struct gpnn_server *server = NULL;
  enum gpnn_status status = gpnn_comm_start(&comm, err);
  if (status != GPNN_OK) return status;
  status = gpnn_shard_open(&shard, &comm, cli_operand(cli, 0), err);
  if (status == GPNN_OK)
    status = gpnn_comm_agree(&comm, gpnn_server_new(&server, &shard, cli->threads, err), err);
  if (status == GPNN_OK && comm.rank > 0) gpnn_sharded_serve(server);
  if (status == GPNN_OK && comm.rank == 0) {
    status = run_first(cli, arguments, server, err);
    gpnn_server_dismiss(server);
  }
  gpnn_server_free(server);
  gpnn_shard_close(&shard);
  gpnn_comm_stop(&comm);
  return status;
}

int mpi_predict(int argc, char **argv)
{
  struct predict_arguments arguments = PREDICT_ARGUMENTS_INIT;
  struct cli_tool tool = predict_tool;
  tool.name = "gpnn-mpi predict";
  tool.synopsis = "[OPTION...] -p PARAMS DIR [TABLE]";
  tool.purpose = "Predict each row of a table from its nearest training rows, in order, by all\n"
                 "ranks that have a shard of these.";
  tool.resolve = resolve;
  tool.run = run;
  return cli_main(&tool, &arguments, argc, argv);
}
