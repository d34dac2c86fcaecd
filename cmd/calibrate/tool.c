/* The options of gpnn-calibrate, which is also a mode of gpnn-mpi. */
#include "cmd/calibrate/calibrate.h"
#include "cmd/common/cli.h"

#define ARGUMENTS struct calibrate_arguments

static const struct cli_word adjustments[] = {
    {"factor", GPNN_CALIBRATE_FACTOR}, {"noise", GPNN_CALIBRATE_NOISE}, CLI_END_OF_WORDS};

static const struct cli_word atoms[] = {{"auto", false}, {"none", true}, CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_FLAG(0, "loo", leave_one_out, "on training rows left out one at a time"),
    CLI_COUNT(0, "blocked", blocked, "N", "on clusters of N training rows left out together", 1,
              1e9),
    CLI_TEXT(0, "like", like, "TABLE", "on training rows made as distant as TABLE's"),
    CLI_TEXT(0, "with", with, "TABLE", "on the rows of TABLE"),
    CLI_AUTO('c', "rows", rows, "N|auto", "how many rows (all held out; 1000 with --loo)", 1, 1e12),
    CLI_CHOICE(0, "adjust", by, "WHAT", "", adjustments, .of = CLI_OF_NUMBERS),
    CLI_CHOICE(0, "atom", atom, "WHAT", "the probability of one number, if it pays", atoms,
               .of = CLI_OF_NUMBERS),
    CLI_PROBABILITIES(0, "conformal", conformal, "P[,P...]",
                      "store widths of intervals, as for 0.5,0.95", .of = CLI_OF_NUMBERS),
    CLI_TEXT(0, "folds", folds, "FILE", NULL), /* for tools that run this one */
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_COUNT('m', "neighbours", neighbours, "M", "neighbours (as the parameters say)", 1, 1e6),
    SKIP_OPTION(skip_bad, "leave bad rows of TABLE out; all: however many"),
};

const struct cli_tool calibrate_tool = {
    .name = "gpnn-calibrate",
    .synopsis = "[OPTION...] INDEX < PARAMS",
    .purpose = "Find the scale of errors, the factor of variances, or the temperature of\n"
               "classes, on rows that no prediction used, and print the parameters with it.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_SEEDED | CLI_THREADS | CLI_REPORT,
    .min_operands = 1,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = calibrate_resolve,
    .run = calibrate_run};
