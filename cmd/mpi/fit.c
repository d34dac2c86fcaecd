/* gpnn-mpi fit: gpnn-fit on rank 0, from rows that all ranks send it. */
#include "cmd/fit/fit.h"

#include "cmd/mpi/mpi.h"
#include "shard/gather.h"

static bool resolve(const struct cli *cli, void *arguments)
{
  const struct fit_arguments *a = arguments;
  if (cli_given(cli, "row-weights") && a->row_weights != FIT_ROW_WEIGHTS_NO)
    return cli_refuse(cli, "--row-weights is for gpnn-fit: shards cannot have weights of rows");
  if (fit_asks_for_counts(a))
    return cli_refuse(cli, "--likelihood of counts is for gpnn-fit: shards cannot have counts yet");
  return fit_resolve(cli, arguments);
}

/* Refuses what looks at all rows where there are more than 'most', of which rank 0 gets a sample.
 */
static enum gpnn_status check(const struct cli *cli, const struct fit_arguments *a,
                              const struct gpnn_shards *all, size_t most, struct gpnn_error *err)
{
  const char *transform =
      cli_given(cli, "transform") ? "--transform" : "--effort thorough without --transform none";
  const char *option = a->method == FIT_CONJUGATE            ? "--method conjugate"
                       : a->transform != GPNN_TRANSFORM_NONE ? transform
                       : gpnn_choose_rows(&a->choose) == 0
                           ? "a fit by blocks with nothing to choose"
                           : NULL;
  if (option == NULL || all->n_distinct <= most) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "%s looks at all rows, which are more than %zu: use gpnn-fit on DIR/sample.gpi",
                   option, most);
}

/* Brings the rows to rank 0, which fits. */
static enum gpnn_status fit(const struct cli *cli, struct fit_arguments *a,
                            const struct gpnn_shard *shard, struct gpnn_error *err)
{
  struct gpnn_gathered *gathered = NULL;
  size_t most = a->choose.last_sample_rows;
  enum gpnn_status status = check(cli, a, &shard->all, most, err);
  if (status == GPNN_OK) status = gpnn_gather(&gathered, shard, most, cli->seed, err);
  if (status != GPNN_OK) return status;
  if (shard->comm->rank == 0) {
    const struct fit_rows rows = {gpnn_gathered_dataset(gathered), (size_t)shard->all.n};
    a->rows = &rows;
    status = fit_run(cli, a, err);
    a->rows = NULL;
  }
  gpnn_gathered_free(gathered);
  enum gpnn_status rank_0_is_done = gpnn_comm_agree(shard->comm, GPNN_OK, NULL);
  return status == GPNN_OK ? rank_0_is_done : status;
}

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct gpnn_comm comm;
  struct gpnn_shard shard = {.comm = NULL};
  enum gpnn_status status = mpi_start(&comm, err);
  if (status != GPNN_OK) return mpi_end(&comm, status);
  status = gpnn_shard_open(&shard, &comm, cli_operand(cli, 0), err);
  if (status == GPNN_OK) status = fit(cli, arguments, &shard, err);
  gpnn_shard_close(&shard);
  return mpi_end(&comm, status);
}

int mpi_fit(int argc, char **argv)
{
  struct fit_arguments arguments = FIT_ARGUMENTS_INIT;
  struct cli_tool tool = fit_tool;
  tool.name = "gpnn-mpi fit";
  tool.shares_page = true;
  tool.synopsis = "[OPTION...] DIR";
  tool.resolve = resolve;
  tool.run = run;
  return cli_main(&tool, &arguments, argc, argv);
}
