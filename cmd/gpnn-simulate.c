/* gpnn-simulate: the theory at work: limits, risk curves, synthetic data, advice. */
#include "cmd/common/cli.h"
#include "cmd/simulate/simulate.h"

static const struct cli_mode modes[] = {
    {"limits", "MSE, NLL and CAL against rows and parameters, and their limits", simulate_limits},
    {"risk", "risk curves and their slopes, landscapes, derivatives", simulate_risk},
    {"data", "synthetic tables, of any number of rows", simulate_data},
    {"grid", "synthetic observations of sites at times, some of them missing", simulate_grid},
    {"views", "objects that two parties see in different columns", simulate_views},
    {"advise", "what more rows, neighbours or better parameters would do for an index",
     simulate_advise},
};

int main(int argc, char **argv)
{
  return cli_main_modes("gpnn-simulate",
                        "Show what theory says of predictions from nearest neighbours.",
                        sizeof modes / sizeof modes[0], modes, argc, argv);
}
