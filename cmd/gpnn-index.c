/* gpnn-index: a table in, an index file out; or an index searched under another metric, with
 * parameters inside, or with more or fewer rows. */
#include "cmd/common/cli.h"
#include "cmd/index/index.h"

int main(int argc, char **argv)
{
  struct index_arguments arguments = {.training = GPNN_TRAINING_OPTIONS_INIT,
                                      .search = GPNN_SEARCH_OPTIONS_INIT};
  return cli_main(&index_tool, &arguments, argc, argv);
}
