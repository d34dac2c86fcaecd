/* gpnn-ask: a model and a pool of rows in, the ids of those to ask another owner about out. */
#include "cmd/ask/ask.h"
#include "cmd/common/cli.h"

#define ARGUMENTS struct ask_arguments

static const struct cli_word strategies[] = {{"variance", GPNN_ASK_VARIANCE},
                                             {"greedy", GPNN_ASK_GREEDY},
                                             {"random", GPNN_ASK_RANDOM},
                                             CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_TEXT(0, "targets", target, "NAME", "the target, if there are several"),
    CLI_TEXT(0, "id", id, "COL", "the column that both owners know rows by (id)"),
    CLI_COUNT(0, "count", count, "N", "rows to ask about (25)", 1, 1e6),
    CLI_CHOICE(0, "strategy", strategy, "HOW", "choose rows", strategies),
    CLI_TEXT(0, "not", asked, "FILE", "a table of ids that were asked before"),
};

static const struct cli_tool tool = {
    .name = "gpnn-ask",
    .synopsis = "[OPTION...] -p PARAMS INDEX [POOL]",
    .purpose = "Choose the rows of a pool to ask another owner of data about: those of which the\n"
               "model is least certain.  Prints their ids, for gpnn-answer.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS | CLI_SEEDED,
    .min_operands = 1,
    .max_operands = 2,
    CLI_OPTIONS(options),
    .resolve = ask_resolve,
    .run = ask_run};

int main(int argc, char **argv)
{
  struct ask_arguments arguments = ASK_ARGUMENTS_INIT;
  return cli_main(&tool, &arguments, argc, argv);
}
