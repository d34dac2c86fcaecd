/* gpnn-simulate: the theory at work: limits, risk curves, synthetic data, advice. */
#include <stdio.h>
#include <string.h>

#include "cmd/common/cli.h"
#include "cmd/simulate/simulate.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} modes[] = {
    {"limits", simulate_limits},
    {"risk", simulate_risk},
    {"data", simulate_data},
    {"advise", simulate_advise},
};

int main(int argc, char **argv)
{
  for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++)
    if (strcmp(argv[1], modes[i].name) == 0) {
      argv[1] = argv[0];
      return modes[i].run(argc - 1, argv + 1);
    }
  const struct cli_tool tool = {
      "gpnn-simulate",
      "MODE [OPTION...]",
      "Show what theory says of predictions from nearest neighbours.  MODE is\n"
      "  limits   MSE, NLL and CAL against rows and parameters, and their limits\n"
      "  risk     risk curves and their slopes, landscapes, derivatives\n"
      "  data     synthetic tables, of any number of rows\n"
      "  advise   what more rows, neighbours or better parameters would do for an index\n"
      "and has options of its own: gpnn-simulate MODE --help.",
      0,
      1,
      1};
  struct cli cli;
  int status;
  char shown[GPNN_MASK_BYTES];
  /* Options behind what is no mode are nobody's: the mode is what is wrong. */
  if (argc > 2 && argv[1][0] != '-') argc = 2;
  if (!cli_begin(&cli, &tool, NULL, 0, argc, argv, &status)) return status;
  return cli_usage_error(&cli, "no such mode: \"%s\": it is limits, risk, data or advise",
                         gpnn_mask(shown, cli.operands[0], strlen(cli.operands[0])));
}
