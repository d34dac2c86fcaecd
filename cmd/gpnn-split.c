/* gpnn-split: a table in, its rows over two or more tables out. */
#include "cmd/common/cli.h"
#include "cmd/split/split.h"

#define ARGUMENTS struct split_arguments

static const struct cli_option options[] = {
    CLI_TEXT('f', "fractions", fractions, "A:B[:...]", "parts in these proportions"),
    CLI_COUNT('k', "folds", folds, "K", "K equal parts", 2, GPNN_SPLIT_PARTS),
    CLI_REAL(0, "last", last, "F", "two parts: the first rows, and the last fraction F", 0, 1),
    CLI_TEXT(0, "order", order, "COL", "the last by COL: numbers, or dates, year first"),
    CLI_LIST('o', "output", outputs, "FILE", "one for each part; for folds one with %d"),
    CLI_TEXT(0, "by", by, "COL", "keep rows with the same value of COL together"),
};

static const struct cli_tool tool = {
    .name = "gpnn-split",
    .synopsis = "-f A:B -o FILE -o FILE [OPTION...] [TABLE]\n"
                "       gpnn-split -k K -o 'fold%d.tsv' [OPTION...] [TABLE]\n"
                "       gpnn-split --last F [--order COL] -o FILE -o FILE [OPTION...] [TABLE]",
    .purpose = "Distribute the rows of a table over two or more tables, at random or by time;\n"
               "rows keep their order and their text.",
    .groups = CLI_TABLE | CLI_SEEDED | CLI_PROGRESS,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = split_resolve,
    .run = split_run};

int main(int argc, char **argv)
{
  struct split_arguments arguments = {0};
  return cli_main(&tool, &arguments, argc, argv);
}
