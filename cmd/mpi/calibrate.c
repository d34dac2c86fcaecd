/* gpnn-mpi calibrate: gpnn-calibrate on rank 0, whose model asks all ranks. */
#include "cmd/calibrate/calibrate.h"

#include "cmd/mpi/mpi.h"

static bool resolve(const struct cli *cli, void *arguments)
{
  struct calibrate_arguments *a = arguments;
  const char *misplaced = cli_given_of(cli, "loo,blocked,like");
  if (misplaced != NULL)
    return cli_refuse(cli, "--%s is for gpnn-calibrate: shards cannot leave training rows out",
                      misplaced);
  if (cli_given(cli, "atom") && a->atom == 0)
    return cli_refuse(cli, "--atom auto is for gpnn-calibrate: it looks in all training rows");
  a->atom = 1; /* none */
  return calibrate_resolve(cli, arguments);
}

static enum gpnn_status run_on(const struct cli *cli, const struct mpi *mpi, void *arguments,
                               struct gpnn_error *err)
{
  struct calibrate_arguments *a = arguments;
  a->maker = mpi->maker;
  return calibrate_run(cli, a, err);
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  return mpi_serve(cli, run_on, false, arguments, err);
}

int mpi_calibrate(int argc, char **argv)
{
  struct calibrate_arguments arguments = {0};
  struct cli_tool tool = calibrate_tool;
  tool.name = "gpnn-mpi calibrate";
  tool.shares_page = true;
  tool.synopsis = "[OPTION...] DIR < PARAMS";
  tool.resolve = resolve;
  tool.run = run;
  return cli_main(&tool, &arguments, argc, argv);
}
