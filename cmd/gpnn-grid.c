/* gpnn-grid: observations of many sites at many times, most but not all of them made. */
#include "cmd/common/cli.h"
#include "cmd/grid/grid.h"

static const struct cli_mode modes[] = {
    {"index", "a table in, an index of a grid out", grid_index},
    {"fit", "an index of a grid in, estimated parameters out", grid_fit},
    {"predict", "an index and parameters in, the predictions of cells out", grid_predict},
};

int main(int argc, char **argv)
{
  return cli_main_modes("gpnn-grid",
                        "Gaussian processes for data on a grid with holes: sites and times, say.",
                        sizeof modes / sizeof modes[0], modes, argc, argv);
}
