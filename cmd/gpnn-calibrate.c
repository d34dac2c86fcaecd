/* gpnn-calibrate: parameters in, parameters with honest variances out. */
#include "cmd/calibrate/calibrate.h"
#include "cmd/common/cli.h"

int main(int argc, char **argv)
{
  struct calibrate_arguments arguments = {0};
  return cli_main(&calibrate_tool, &arguments, argc, argv);
}
