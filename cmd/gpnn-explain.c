/* gpnn-explain: an index and parameters in, what has been learnt out. */
#include "cmd/common/cli.h"
#include "cmd/explain/explain.h"

#define ARGUMENTS struct explain_arguments

static const struct cli_word effects[] = {
    {"ale", GPNN_EFFECT_ALE}, {"pdp", GPNN_EFFECT_PDP}, {"ice", GPNN_EFFECT_ICE}, CLI_END_OF_WORDS};

static const struct cli_word distributions[] = {
    {"own", GPNN_SOBOL_OWN}, {"uniform", GPNN_SOBOL_UNIFORM}, CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_TEXT(0, "targets", target, "NAME", "the target, if there are several"),
    CLI_COUNT(0, "top", top, "N", "rows: training rows to list (10)", 1, 1e6,
              .of = EXPLAIN_NEIGHBOURS),
    CLI_FLAG(0, "loo", loo, "rows: each training row, from the others", .of = EXPLAIN_NEIGHBOURS),
    CLI_TEXT(0, "keep", keep, "LIST", "rows: carry these columns of TABLE along",
             .of = EXPLAIN_NEIGHBOURS),
    CLI_TEXT('x', "inputs", inputs, "LIST", "these columns (all)", .of = EXPLAIN_COLUMNS),
    CLI_TEXT(0, "with", with, "TABLE", "importance: on the rows of TABLE", .of = EXPLAIN_SCORED),
    CLI_TEXT(0, "by", by, "COL", "importance: groups of rows of TABLE, for errors",
             .of = EXPLAIN_SCORED),
    CLI_COUNT('c', "rows", rows, "N", "how many rows (depends on KIND)", 1, 1e7,
              .of = EXPLAIN_SAMPLE),
    CLI_COUNT(0, "repeats", repeats, "N", "importance: permutations of a column (1)", 1, 1000,
              .of = EXPLAIN_SCORED),
    CLI_CHOICE(0, "kind", effect, "EFFECT", "effect", effects, .of = EXPLAIN_GRID),
    CLI_COUNT(0, "points", points, "N", "effect: values of the column, at most (30 or 10)", 2, 1000,
              .of = EXPLAIN_GRID),
    CLI_CHOICE(0, "distribution", distribution, "HOW", "sobol: of columns", distributions,
               .of = EXPLAIN_INPUTS),
    CLI_FLAG(0, "pairs", pairs, "sobol: also interactions of two columns", .of = EXPLAIN_INPUTS),
    CLI_COUNT(0, "samples", samples, "N", "draws from the joint distribution (400)", 20, 1e5,
              .of = EXPLAIN_DRAWS),
    CLI_PROBABILITIES(0, "interval", interval, "P", "the level of intervals (0.95)",
                      .of = EXPLAIN_DRAWS),
    SKIP_OPTION(skip_bad, "leave bad rows of TABLE out; all: however many"),
    CLI_FLAG(0, "json", json, "one JSON object"),
};

static const struct cli_tool tool = {
    .name = "gpnn-explain",
    .synopsis = "KIND [OPTION...] -p PARAMS INDEX [TABLE]",
    .purpose = "Explain what a model has learnt.  KIND is\n"
               "  rows         the training rows that each row of TABLE is predicted from\n"
               "  importance   what is lost without a column\n"
               "  effect       what a column does to the predicted function\n"
               "  sobol        shares of the variance that columns cause",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS | CLI_SEEDED | CLI_PROGRESS,
    .min_operands = 2,
    .max_operands = 3,
    .first_operand = explain_kind_name,
    CLI_OPTIONS(options),
    .resolve = explain_resolve,
    .run = explain_run};

int main(int argc, char **argv)
{
  struct explain_arguments arguments = EXPLAIN_ARGUMENTS_INIT;
  return cli_main(&tool, &arguments, argc, argv);
}
