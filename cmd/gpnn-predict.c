/* gpnn-predict: an index, parameters and a table in, the table's predictions out. */
#include "cmd/common/cli.h"
#include "cmd/predict/predict.h"

int main(int argc, char **argv)
{
  struct predict_arguments arguments = PREDICT_ARGUMENTS_INIT;
  return cli_main(&predict_tool, &arguments, argc, argv);
}
