/* gpnn-eval: a table with truths and predictions in, metrics out. */
#include "cmd/common/cli.h"
#include "cmd/eval/eval.h"

#define ARGUMENTS struct eval_arguments

static const struct cli_word tables[] = {{"metrics", SCORES_METRICS},
                                         {"reliability", SCORES_RELIABILITY},
                                         {"pit", SCORES_PIT},
                                         {"confusion", SCORES_CONFUSION},
                                         {"roc", SCORES_ROC},
                                         {"classes", SCORES_CLASSES},
                                         CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('y', "truth", columns.truth, "COL",
             "the true values (the column before mean or label)"),
    CLI_TEXT(0, "mean", columns.mean, "COL", "the predicted means (mean)"),
    CLI_TEXT(0, "sd", columns.sd, "COL", "the standard deviations (sd, if there is one)"),
    CLI_TEXT(0, "df", columns.df, "COL", "degrees of freedom (df, if there is one)"),
    CLI_PROBABILITIES(0, "interval", interval, "P", "the level of lower and upper",
                      .of = CLI_OF_NUMBERS | EVAL_PRINTS),
    CLI_TEXT(0, "by", by, "COL", "a row of metrics for each value of COL", .of = EVAL_PRINTS),
    CLI_PROBABILITIES(0, "levels", levels, "P[,P...]", "coverages (0.5,0.8,0.9,0.95,0.99)",
                      .of = CLI_OF_NUMBERS | EVAL_PRINTS),
    CLI_CHOICE(0, "table", form.table, "NAME", "what to write", tables, .of = EVAL_PRINTS),
    CLI_COUNT(0, "bins", bins, "N", "bins of --table pit (20)", 1, 1e4, .of = EVAL_PRINTS),
    CLI_TEXT(0, "index", index, "INDEX", "metrics in its standardised units too",
             .of = CLI_OF_NUMBERS),
    CLI_TEXT(0, "monitor", monitor, "FILE",
             "add the scores to a history; status 3: outside chance"),
    CLI_TEXT(0, "night", night, "DATE", "the date of the row that --monitor adds (today)"),
    CLI_FLAG(0, "json", form.json, "one JSON object", .of = EVAL_PRINTS),
};

static const struct cli_tool tool = {
    .name = "gpnn-eval",
    .synopsis = "[OPTION...] [TABLE]",
    .purpose = "Score predictions against the truth: accuracy, log likelihood, calibration.\n"
               "They are of numbers (columns mean, sd ...) or of classes (label, p_NAME ...).",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_PROGRESS,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = eval_resolve,
    .run = eval_run};

int main(int argc, char **argv)
{
  struct eval_arguments arguments = {0};
  return cli_main(&tool, &arguments, argc, argv);
}
