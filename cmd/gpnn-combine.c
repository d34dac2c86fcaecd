/* gpnn-combine: predictions of several models in, one prediction of each row out. */
#include "cmd/combine/combine.h"
#include "cmd/common/cli.h"

#define ARGUMENTS struct combine_arguments

static const struct cli_word rules[] = {
    {"fuse", GPNN_COMBINE_FUSE},       {"poe", GPNN_COMBINE_POE},     {"gpoe", GPNN_COMBINE_GPOE},
    {"bcm", GPNN_COMBINE_FUSE},        {"rbcm", GPNN_COMBINE_RBCM},   {"grbcm", GPNN_COMBINE_GRBCM},
    {"weights", GPNN_COMBINE_WEIGHTS}, {"stack", GPNN_COMBINE_STACK}, CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT(0, "id", id, "COL", "the column to find rows by (rows have one order)"),
    CLI_CHOICE(0, "rule", rule, "RULE", "how to combine", rules),
    CLI_TEXT(0, "prior", prior, "MEAN,SD", "of the target without data (of the truths)"),
    CLI_REAL(0, "noise", noise, "VAR", "combine without this variance of noise (0)", 0, 1e300),
    CLI_TEXT(0, "weights", weights, "W", "equal, or a weight for each table"),
    CLI_TEXT(0, "learn", learn, "FILE", "learn weights from these truths"),
    CLI_TEXT(0, "check", check, "FILE", "score every rule by these truths instead"),
    CLI_TEXT('y', "truth", truth, "COL", "the truth (the column before mean, if any)"),
    CLI_PROBABILITIES(0, "interval", intervals, "P[,P...]", "add central intervals, as in 0.95"),
};

static const struct cli_tool tool = {
    .name = "gpnn-combine",
    .synopsis = "[OPTION...] PREDICTIONS...",
    .purpose = "Combine the predictions that several models make of the same rows into one: by\n"
               "default as is exact if the models see independent views of the target.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS,
    .min_operands = 1,
    .max_operands = 1000,
    CLI_OPTIONS(options),
    .resolve = combine_resolve,
    .run = combine_run};

int main(int argc, char **argv)
{
  struct combine_arguments arguments = {.rule = GPNN_COMBINE_FUSE};
  return cli_main(&tool, &arguments, argc, argv);
}
