/* gpnn-mpi predict: gpnn-predict on rank 0, whose model asks all ranks. */
#include "cmd/predict/predict.h"

#include "cmd/mpi/mpi.h"

static bool resolve(const struct cli *cli, void *arguments)
{
  const struct predict_arguments *a = arguments;
  const char *misplaced = cli_given_of(cli, "loo,cross-fit,share,samples,group");
  if (misplaced != NULL)
    return cli_refuse(cli, "--%s is for gpnn-predict: shards cannot do that yet", misplaced);
  if (!predict_resolve(cli, arguments)) return false;
  return a->plan.options.max_km == 0 ||
         cli_refuse(cli, "--max-distance in km is for gpnn-predict: shards cannot do that yet");
}

/* Each rank gets some rows of a batch, so that it does more than wait for others. */
static enum gpnn_status run_on(const struct cli *cli, const struct open_maker *maker,
                               size_t n_ranks, void *arguments, struct gpnn_error *err)
{
  enum { FEWEST = 100 };
  struct predict_arguments *a = arguments;
  if (!cli_given(cli, "batch") && !a->unbuffered && a->batch < FEWEST * n_ranks)
    a->batch = FEWEST * n_ranks;
  a->maker = maker;
  return predict_run(cli, a, err);
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  return mpi_serve(cli, run_on, arguments, err);
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
