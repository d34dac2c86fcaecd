#include "cmd/mpi/mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shard/sharded.h"
#include "version.h"

/* ---- the process ------------------------------------------------------------------------------
 */

/* The rank of this process, as mpirun and srun --mpi=pmix tell it; NULL: there are no others. */
static const char *told_rank(void)
{
  return getenv("PMIX_RANK");
}

void mpi_silence(void)
{
  const char *rank = told_rank();
  if (rank == NULL || strcmp(rank, "0") == 0) return;
  if (freopen("/dev/null", "w", stderr) == NULL || freopen("/dev/null", "w", stdout) == NULL)
    exit(EXIT_FAILURE);
}

void mpi_linger(void)
{
  const struct timespec while_it_is_forwarded = {.tv_nsec = 300000000};
  if (told_rank() != NULL) nanosleep(&while_it_is_forwarded, NULL);
}

void mpi_trim_folder(const char *name)
{
  char *text = (char *)(uintptr_t)name; /* arguments may be changed */
  for (size_t n = strlen(text); n > 1 && text[n - 1] == '/'; n--) text[n - 1] = '\0';
}

/* ---- serving ----------------------------------------------------------------------------------
 */

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

/* Runs the tool on the index of this rank's shard, which has all but the rows of others. */
static enum gpnn_status run_tool(const struct cli *cli, struct gpnn_comm *comm,
                                 struct gpnn_peers *peers, struct gpnn_server *server,
                                 mpi_tool *tool, void *arguments, struct gpnn_error *err)
{
  const struct maker maker = {{make}, server};
  const struct mpi mpi = {comm, peers, server, &maker.of};
  char *operands[2] = {gpnn_shard_path(cli_operand(cli, 0), comm->rank, "gpi"), NULL};
  struct cli own = *cli;
  if (cli->n_operands > 1) operands[1] = cli->operands[1];
  own.operands = operands;
  enum gpnn_status status =
      operands[0] == NULL ? gpnn_fail_memory(err, "for a shard") : tool(&own, &mpi, arguments, err);
  if (peers != NULL) status = gpnn_server_leave(server, status, err);
  const struct gpnn_sharded_counts counts = gpnn_sharded_counts(server);
  if (status == GPNN_OK && counts.n_rows > 0)
    cli_note(cli, "%.3f ranks asked a row, and %.0f bytes sent",
             (double)counts.n_asked / (double)counts.n_rows,
             (double)counts.n_sent / (double)counts.n_rows);
  free(operands[0]);
  return status;
}

enum gpnn_status mpi_serve(const struct cli *cli, mpi_tool *tool, bool are_peers, void *arguments,
                           struct gpnn_error *err)
{
  struct gpnn_comm comm;
  struct gpnn_shard shard = {.comm = NULL};
  struct gpnn_server *server = NULL;
  struct gpnn_peers all = {.size = 0}, *peers = are_peers ? &all : NULL;
  enum gpnn_status status = mpi_start(&comm, err);
  if (status != GPNN_OK) return mpi_end(&comm, status);
  gpnn_comm_peers(&comm, &all);
  status = gpnn_shard_open(&shard, &comm, cli_operand(cli, 0), err);
  if (status == GPNN_OK)
    status =
        gpnn_comm_agree(&comm, gpnn_server_new(&server, &shard, cli->threads, peers, err), err);
  if (status == GPNN_OK && (are_peers || comm.rank == 0)) {
    status = run_tool(cli, &comm, peers, server, tool, arguments, err);
    if (!are_peers) gpnn_server_dismiss(server);
  } else if (status == GPNN_OK) {
    gpnn_sharded_serve(server);
  }
  gpnn_server_free(server);
  gpnn_shard_close(&shard);
  return mpi_end(&comm, status);
}

enum gpnn_status mpi_start(struct gpnn_comm *comm, struct gpnn_error *err)
{
  gpnn_comm_serial(comm);
  enum gpnn_status status = gpnn_comm_start(comm, err);
  return status == GPNN_OK ? gpnn_comm_check_version(comm, GPNN_VERSION, err) : status;
}

enum gpnn_status mpi_end(struct gpnn_comm *comm, enum gpnn_status status)
{
  bool tells = comm->rank == 0;
  gpnn_comm_stop(comm);
  return tells ? status : GPNN_OK;
}
