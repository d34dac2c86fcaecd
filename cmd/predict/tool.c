/* The options of gpnn-predict, which is also a mode of gpnn-mpi. */
#include "cmd/common/cli.h"
#include "cmd/predict/predict.h"

#define ARGUMENTS struct predict_arguments

static const struct cli_word precisions[] = {
    {"double", GPNN_PRECISION_DOUBLE}, {"mixed", GPNN_PRECISION_MIXED}, CLI_END_OF_WORDS};
static const struct cli_word beyond[] = {
    {"na", GPNN_BEYOND_NA}, {"prior", GPNN_BEYOND_PRIOR}, CLI_END_OF_WORDS};
static const struct cli_word units[] = {
    {"original", GPNN_UNITS_ORIGINAL}, {"standard", GPNN_UNITS_STANDARD}, CLI_END_OF_WORDS};

static const struct cli_word aggregates[] = {
    {"sum", PREDICT_SUM}, {"average", PREDICT_AVERAGE}, CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_TEXT(0, "targets", targets, "LIST", "predict these of several targets (all)"),
    CLI_COUNT('m', "neighbours", neighbours, "M", "neighbours (as the parameters say)", 1, 1e6,
              .of = CLI_OF_INDEX),
    CLI_PROBABILITIES(0, "interval", plan.intervals, "P[,P...]",
                      "add central intervals, as in 0.95", .of = CLI_OF_NUMBERS),
    CLI_FLAG(0, "loo", loo, "predict each training row from the others", .of = CLI_OF_INDEX),
    CLI_FLAG(0, "cross-fit", cross_fit, "--loo by parameters that have not seen the row",
             .of = CLI_OF_INDEX),
    CLI_FLAG(0, "latent", plan.options.latent, "sd of the function, without noise",
             .of = CLI_OF_NUMBERS),
    CLI_FLAG(0, "debias", plan.options.debias, "mean unbiased for few neighbours",
             .of = CLI_OF_NUMBERS | CLI_OF_INDEX),
    CLI_FLAG(0, "mean-only", plan.options.mean_only, "no sd", .of = CLI_OF_NUMBERS),
    CLI_CHOICE(0, "precision", precision, "WHAT", "of the arithmetic", precisions,
               .of = CLI_OF_INDEX),
    CLI_COUNT(0, "share", share, "G", "rows that may share a factorisation; 1: none (1)", 1, 4096,
              .of = CLI_OF_TABLE | CLI_OF_INDEX),
    CLI_COUNT(0, "draws", draws, "K", "draws of what a row lacks of its inputs (10)", 1, 1000,
              .of = CLI_OF_INDEX),
    CLI_TEXT(0, "max-distance", max_distance, "R",
             "largest distance to training rows, as 2 or 5km"),
    CLI_CHOICE(0, "beyond", plan.options.beyond, "WHAT", "for rows farther than R", beyond),
    CLI_FLAG(0, "flag-far", flags_far, "say which rows are far from the training rows",
             .of = CLI_OF_NUMBERS | CLI_OF_INDEX),
    CLI_FLAG(0, "flag-outside", flags_outside, "say which rows lie outside the model's grid",
             .of = CLI_OF_MODEL),
    CLI_CHOICE(0, "units", plan.options.units, "UNITS", "of the target", units,
               .of = CLI_OF_NUMBERS),
    CLI_COUNT(0, "samples", samples, "N", "add N draws from the joint distribution", 1, 1e6,
              .of = CLI_OF_TABLE),
    CLI_TEXT(0, "group", group, "COL", "a line for all rows that are alike in COL",
             .of = CLI_OF_TABLE),
    CLI_CHOICE(0, "aggregate", aggregate, "WHAT", "of the rows of a group", aggregates),
    CLI_FLAG(0, "labels-only", labels_only, "of classes, the label without probabilities",
             .of = CLI_OF_CLASSES),
    CLI_COUNT(0, "top", top, "N", "of classes, only the N most probable", 1, 1e6,
              .of = CLI_OF_CLASSES),
    CLI_TEXT(0, "cost", cost, "NAME=C[,...]", "what a mistaken row of class NAME costs (1)",
             .of = CLI_OF_CLASSES),
    CLI_TEXT(0, "keep", keep, "LIST", "carry these columns along", .of = CLI_OF_TABLE),
    CLI_FLAG(0, "append", append, "carry all columns along", .of = CLI_OF_TABLE),
    CLI_FLAG(0, "skip-bad", skip_bad, "predict NA for bad rows", .of = CLI_OF_TABLE),
    CLI_REAL(0, "fail-on-na", most_na, "P", "fail if more than this share of rows is NA (1)", 0, 1),
    CLI_REAL(0, "fail-on-far", most_far, "P", "fail if more than this share of rows is far (1)", 0,
             1, .of = CLI_OF_INDEX),
    CLI_FLAG(0, "fail-on-moved", fails_on_moved, "fail if a column is unlike that in training",
             .of = CLI_OF_TABLE),
    CLI_FLAG(0, "resume", resumes, "go on where a run with -o FILE ended early",
             .of = CLI_OF_TABLE),
    CLI_COUNT(0, "batch", batch, "N", "rows read and predicted at a time (8192)", 1, 1e7),
    CLI_FLAG(0, "names", names, NULL), /* for tools that run this one */
    CLI_FLAG(0, "unbuffered", unbuffered, "answer each row before reading the next",
             .of = CLI_OF_TABLE),
};

const struct cli_tool predict_tool = {
    .name = "gpnn-predict",
    .synopsis = "[OPTION...] -p PARAMS INDEX [TABLE]",
    .purpose = "Predict each row of a table from its nearest training rows, in order: the mean\n"
               "and sd of the target, or the label and the probabilities of its classes.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS | CLI_SEEDED | CLI_PROGRESS | CLI_REPORT,
    .min_operands = 1,
    .max_operands = 2,
    CLI_OPTIONS(options),
    .resolve = predict_resolve,
    .run = predict_run};
