/* gpnn-plot: a table in, a picture out, drawn by gnuplot. */
#include <math.h>

#include "cmd/common/cli.h"
#include "cmd/plot/plot.h"

#define ARGUMENTS struct plot_arguments

static const struct cli_word formats[] = {
    {"auto", PLOT_AUTO}, {"svg", PLOT_SVG}, {"png", PLOT_PNG}, {"pdf", PLOT_PDF}, CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('x', "inputs", x, "LIST", "the horizontal axis (rows, or the first columns)",
             .of = PLOT_INPUTS),
    CLI_TEXT('y', "truth", y, "LIST", "truths; elsewhere what to draw (column before mean)"),
    CLI_TEXT(0, "mean", mean, "COL", "predicted means (mean)", .of = PLOT_MEANS),
    CLI_TEXT(0, "sd", sd, "COL", "standard deviations (sd, if there is one)", .of = PLOT_MEANS),
    CLI_TEXT(0, "df", df, "COL", "degrees of freedom (df, if there is one)", .of = PLOT_DF),
    CLI_TEXT(0, "by", by, "COL", "curve: a line per value (quantity, if there is one)",
             .of = PLOT_LINES),
    CLI_TEXT(0, "se", se, "COL", "curve: standard errors (Y_se, or se)", .of = PLOT_LINES),
    CLI_REAL(0, "theory", theory, "SLOPE", "curve: slope of a dotted line (column stone)", -1e3,
             1e3, .of = PLOT_LINES),
    CLI_LIST(0, "mark", marks, "[NAME=]VALUE", "landscape: dashed line at a true value",
             .of = PLOT_MARKS),
    CLI_COUNT(0, "bins", bins, "N", "pit: bins (20, or fewer)", 1, 1000, .of = PLOT_BINS),
    CLI_TEXT(0, "title", title, "TEXT", "above the picture"),
    CLI_TEXT(0, "xlabel", xlabel, "TEXT", "below it (the column's name)", .of = PLOT_LABELS),
    CLI_TEXT(0, "ylabel", ylabel, "TEXT", "beside it (the column's name)", .of = PLOT_LABELS),
    CLI_TEXT(0, "unit", unit, "TEXT", "unit of the target, for labels", .of = PLOT_UNIT),
    CLI_REAL(0, "width", width, "CM", "width (17, or 12 if square)", 3, 100),
    CLI_REAL(0, "height", height, "CM", "height (depends on the kind)", 3, 100),
    CLI_CHOICE(0, "format", format, "FORMAT", "(by the name of FILE)", formats),
    CLI_FLAG(0, "script", script, "write the gnuplot script instead"),
};

static const struct cli_tool tool = {
    .name = "gpnn-plot",
    .synopsis = "KIND [OPTION...] [TABLE]",
    .purpose = "Draw a table, through gnuplot.  KIND is\n"
               "  calibration, pit, predicted, residuals   predictions with their truths\n"
               "  curve        values against rows, log-log, with slopes\n"
               "  landscape    values against parameters, of gpnn-simulate\n"
               "  band, map    predictions of one input, or of two\n"
               "  effect       what a column does, of gpnn-explain\n"
               "  monitor      scores night after night, of gpnn-eval --monitor\n"
               "  reliability, confusion, roc   predictions of classes with their truths",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_PROGRESS,
    .min_operands = 1,
    .max_operands = 2,
    .first_operand = plot_kind_name,
    CLI_OPTIONS(options),
    .resolve = plot_resolve,
    .run = plot_run};

int main(int argc, char **argv)
{
  struct plot_arguments arguments = {.theory = NAN};
  return cli_main(&tool, &arguments, argc, argv);
}
