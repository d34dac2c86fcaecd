/* gpnn-mpi: an index in shards, one a rank of MPI. */
#include "cmd/common/cli.h"
#include "cmd/mpi/mpi.h"

static const struct cli_mode modes[] = {
    {"index", "a table in, a folder of shards out", mpi_index},
    {"fit", "shards in, estimated parameters out", mpi_fit},
    {"calibrate", "shards and parameters in, parameters with honest variances out", mpi_calibrate},
    {"predict", "shards, parameters and a table in, its predictions out", mpi_predict},
};

int main(int argc, char **argv)
{
  mpi_silence();
  int status = cli_main_modes("gpnn-mpi",
                              "Tables beyond one machine: an index in shards, one a rank of MPI.",
                              sizeof modes / sizeof modes[0], modes, argc, argv);
  if (status != 0) mpi_linger();
  return status;
}
