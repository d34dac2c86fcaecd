/*
 * mpi: the modes of gpnn-mpi, each a main() that reads what follows the mode on the command line.
 *
 * Rank 0 is the tool of the same name; the others serve it, and say nothing.
 */
#ifndef GPNN_CMD_MPI_MPI_H
#define GPNN_CMD_MPI_MPI_H

#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "shard/comm.h"
#include "shard/sharded.h"

/* Lets ranks other than 0 say nothing: rank 0 says what goes wrong on any of them. */
void mpi_silence(void);

/* For the end of a process that fails: at its exit mpirun drops what it has not forwarded yet. */
void mpi_linger(void);

/* Takes the slashes off the end of a folder's name, an argument of the command line. */
void mpi_trim_folder(const char *name);

/* argv[0] is the tool's name.  Each returns the exit status. */
int mpi_index(int argc, char **argv);
int mpi_fit(int argc, char **argv);
int mpi_calibrate(int argc, char **argv);
int mpi_predict(int argc, char **argv);

/* ---- serve.c: a tool on rank 0, or on all ranks, whose models ask all that have a shard ------ */

struct mpi {
  struct gpnn_comm *comm;
  struct gpnn_peers *peers; /* NULL: rank 0 leads */
  struct gpnn_server *server;
  const struct open_maker *maker; /* of models */
};

/* Runs a tool whose first operand is an index. */
typedef enum gpnn_status mpi_tool(const struct cli *cli, const struct mpi *mpi, void *arguments,
                                  struct gpnn_error *err);

/* Opens the shards of the folder that is the first operand, and runs the tool on rank 0, which the
 * others serve, or on all if these are peers.  Outcomes are those of the tool, and of
 * gpnn_shard_open(). */
GPNN_MUST_CHECK enum gpnn_status mpi_serve(const struct cli *cli, mpi_tool *tool, bool are_peers,
                                           void *arguments, struct gpnn_error *err);

/* gpnn_comm_start(), and GPNN_EMISMATCH: ranks have several versions.  mpi_end() is called after a
 * failure too. */
GPNN_MUST_CHECK enum gpnn_status mpi_start(struct gpnn_comm *comm, struct gpnn_error *err);

/* Ends the part of this rank.  Rank 0 knows of every failure and tells it; others end without one,
 * as mpirun would then end rank 0 first. */
GPNN_MUST_CHECK enum gpnn_status mpi_end(struct gpnn_comm *comm, enum gpnn_status status);

#endif
