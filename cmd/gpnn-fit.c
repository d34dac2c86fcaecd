/* gpnn-fit: an index in, estimated parameters out. */
#include "cmd/common/cli.h"
#include "cmd/fit/fit.h"

int main(int argc, char **argv)
{
  struct fit_arguments arguments = FIT_ARGUMENTS_INIT;
  return cli_main(&fit_tool, &arguments, argc, argv);
}
