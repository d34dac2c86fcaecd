/* gpnn-grid predict: gpnn-predict for a grid, with what there is to say about its solution. */
#include "cmd/predict/predict.h"

#include "cmd/common/cli.h"
#include "cmd/grid/grid.h"

#define ARGUMENTS struct predict_arguments

static const struct cli_word cells[] = {
    {"", PREDICT_HOLES}, {"all", PREDICT_ALL_CELLS}, CLI_END_OF_WORDS};
static const struct cli_word units[] = {
    {"original", GPNN_UNITS_ORIGINAL}, {"standard", GPNN_UNITS_STANDARD}, CLI_END_OF_WORDS};
static const struct cli_word engines[] = {{"auto", GPNN_GRID_ENGINE_AUTO},
                                          {"latent", GPNN_GRID_ENGINE_LATENT},
                                          {"dense", GPNN_GRID_ENGINE_DENSE},
                                          {"complete", GPNN_GRID_ENGINE_COMPLETE},
                                          CLI_END_OF_WORDS};
static const struct cli_word variances[] = {{"auto", GPNN_GRID_VARIANCE_AUTO},
                                            {"samples", GPNN_GRID_VARIANCE_SAMPLES},
                                            {"exact", GPNN_GRID_VARIANCE_EXACT},
                                            {"none", GPNN_GRID_VARIANCE_NONE},
                                            CLI_END_OF_WORDS};
static const struct cli_word means[] = {
    {"exact", GPNN_GRID_MEAN_EXACT}, {"sample", GPNN_GRID_MEAN_SAMPLE}, CLI_END_OF_WORDS};
static const struct cli_word preconditioners[] = {
    {"auto", GPNN_GRID_PRECONDITION_AUTO},       {"eigen", GPNN_GRID_PRECONDITION_EIGEN},
    {"pivoted", GPNN_GRID_PRECONDITION_PIVOTED}, {"grid", GPNN_GRID_PRECONDITION_GRID},
    {"none", GPNN_GRID_PRECONDITION_NONE},       CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_FLAG_OR(0, "complete", complete, "all", "predict cells without observation; all: every one",
                cells),
    CLI_COUNT(0, "max-cells", most_cells, "N", "of --complete (1000000, or 100 for each observed)",
              1, 1e15),
    CLI_PROBABILITIES(0, "interval", plan.intervals, "P[,P...]",
                      "add central intervals, as in 0.95"),
    CLI_FLAG(0, "latent", plan.options.latent, "sd of the function, without noise"),
    CLI_CHOICE(0, "units", plan.options.units, "UNITS", "of the target", units),
    CLI_COUNT(0, "samples", samples, "N", "add N draws from the joint distribution", 1, 1e6),
    CLI_CHOICE(0, "variance", grid.variance, "HOW", "computed", variances),
    CLI_COUNT(0, "draws", grid.draws, "N", "draws that variances are computed from (64)", 2, 1e6),
    CLI_CHOICE(0, "mean", grid.mean, "HOW", "computed", means),
    CLI_CHOICE(0, "engine", grid.engine, "ENGINE", "that solves", engines),
    CLI_CHOICE(0, "precond", grid.system.preconditioner, "HOW", "of the engine latent",
               preconditioners),
    CLI_AUTO(0, "rank", grid.system.rank, "R", "of the preconditioner, or auto (auto)", 1, 1e6),
    CLI_REAL(0, "tol", grid.tolerance, "R", "relative residual of solutions (by the noise)", 1e-14,
             0.5),
    CLI_COUNT(0, "max-iter", grid.most_iterations, "N", "iterations at most (10000)", 1, 1e9),
    CLI_FLAG(0, "accept", grid.accept, "solutions that have not converged"),
    CLI_TEXT(0, "keep", keep, "LIST", "carry these columns along", .of = CLI_OF_TABLE),
    CLI_FLAG(0, "append", append, "carry all columns along", .of = CLI_OF_TABLE),
    CLI_FLAG(0, "skip-bad", skip_bad, "predict NA for bad rows", .of = CLI_OF_TABLE),
    CLI_COUNT(0, "batch", batch, "N", "rows read and predicted at a time (8192)", 1, 1e7),
};

static const struct cli_tool tool = {
    .name = "gpnn-grid predict",
    .synopsis = "[OPTION...] -p PARAMS --complete[=all] INDEX\n"
                "       gpnn-grid predict [OPTION...] -p PARAMS INDEX [TABLE]",
    .purpose = "Predict cells of a grid from those that were observed: its holes, or the rows\n"
               "of a table, also at sites and times that the grid does not have.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS | CLI_SEEDED | CLI_PROGRESS,
    .min_operands = 1,
    .max_operands = 2,
    CLI_OPTIONS(options),
    .resolve = predict_resolve,
    .run = predict_run};

int grid_predict(int argc, char **argv)
{
  struct predict_arguments arguments = PREDICT_ARGUMENTS_INIT;
  arguments.is_of_grids = true;
  return cli_main(&tool, &arguments, argc, argv);
}
