/* gpnn: a table in, and another one's predictions out, by way of the other tools. */
#include "cmd/common/cli.h"
#include "cmd/gpnn/workflow.h"

#define ARGUMENTS struct workflow_arguments

/* What belongs to another tool is only handed on (cmd/gpnn/steps.c says to which), and checked by
 * that tool.  Some of it is not listed in help, as one screen is enough. */
#define HANDED_ON(letter, name, argument, help) CLI_TEXT(letter, name, handed_on, argument, help)

static const struct cli_option options[] = {
    HANDED_ON('y', "target", "LIST", "columns to predict (the last)"),
    CLI_FLAG(0, "classes", classes, "targets are classes, numbers too"),
    HANDED_ON('x', "inputs", "LIST", "input columns (all the others)"),
    HANDED_ON(0, "drop", "LIST", "columns to ignore"),
    HANDED_ON(0, "one-hot", "LIST", "inputs that are categories"),
    HANDED_ON(0, "coded", "LIST", "categories of many levels, each coded as a number"),
    HANDED_ON(0, "ordered", "COL=A < B", "a category whose levels have an order"),
    HANDED_ON(0, "group-effect", "LIST", "columns whose levels have effects"),
    HANDED_ON(0, "date", "LIST[=FORMAT]", "inputs that are dates, as in sold=%d/%m/%Y"),
    HANDED_ON(0, "period", "COL=P", "periodic inputs, as in hour=24,sold=year"),
    HANDED_ON(0, "geo", "LAT,LON", "inputs in degrees: positions on the globe"),
    HANDED_ON(0, "offset", "LIST", "known part of each target, to be added back"),
    HANDED_ON(0, "by", "COL", "rows with the same value are left out together"),
    CLI_FLAG(0, "unique", unique, "learn from one of each set of equal rows"),
    HANDED_ON(0, "effort", "E", "how much to try: fast, normal, thorough (normal)"),
    HANDED_ON('m', "neighbours", "M", "neighbours to predict from, or auto (auto)"),
    HANDED_ON(0, "budget", "T", "microseconds that predicting a row may take, about"),
    HANDED_ON(0, "interval", "P[,P...]", "add central intervals, as in 0.95"),
    HANDED_ON(0, "keep", "LIST", "carry these columns of TEST along"),
    CLI_FLAG(0, "append", append, "carry all columns of TEST along"),
    HANDED_ON(0, "fail-on-na", "P", "fail if more than this share of TEST is NA (0.5)"),
    HANDED_ON(0, "fail-on-far", "P", "fail if more than this share of TEST is far (1)"),
    CLI_TEXT(0, "save", save, "FILE", "keep the model, show the commands"),
    CLI_TEXT(0, "update", update, "MODEL", "add the rows of TRAIN to a model"),
    CLI_TEXT(0, "forget", forget, "WHAT", "with --update: N old rows, COL<VALUE, or auto"),
    CLI_TEXT(0, "report", page, "FILE", "write a page on all of it for a browser"),
    CLI_FLAG(0, "force", force, "replace a model of another target or other inputs"),
    HANDED_ON(0, "id", "COL", NULL),
    HANDED_ON(0, "regressors", "LIST", NULL),
    HANDED_ON(0, "row-noise", "COL", NULL),
    HANDED_ON(0, "exposure", "COL", NULL),
    HANDED_ON(0, "calibration-rows", "N", NULL),
    HANDED_ON(0, "missing", "HOW", NULL),
    SKIP_OPTION(skip_bad, NULL),
    HANDED_ON(0, "kernel", "KERNEL", NULL),
    HANDED_ON(0, "ard", "A", NULL),
    HANDED_ON(0, "likelihood", "L", NULL),
    HANDED_ON(0, "transform", "T", NULL),
    HANDED_ON(0, "like", "TABLE", NULL),
    HANDED_ON(0, "atom", "WHAT", NULL),
    HANDED_ON(0, "max-distance", "R", NULL),
    HANDED_ON(0, "beyond", "WHAT", NULL),
};

static const struct cli_tool tool = {
    .name = "gpnn",
    .synopsis = "[OPTION...] TRAIN [TEST]\n"
                "       gpnn --update MODEL TRAIN",
    .purpose = "Learn to predict a column of the table TRAIN from the others, and predict it for\n"
               "every row of TEST.  Without TEST, keep what was learnt.  A report tells what was\n"
               "done, and how good predictions are.",
    .related = "Step by step: gpnn-split, gpnn-index, gpnn-fit, gpnn-calibrate, gpnn-predict,\n"
               "gpnn-eval, gpnn-explain; all tools: man 7 gpnn.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_SEEDED | CLI_THREADS | CLI_PROGRESS | CLI_REPORT,
    .min_operands = 1,
    .max_operands = 2,
    CLI_OPTIONS(options),
    .resolve = workflow_resolve,
    .run = workflow_run};

int main(int argc, char **argv)
{
  struct workflow_arguments arguments = {0};
  return cli_main(&tool, &arguments, argc, argv);
}
