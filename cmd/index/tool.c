/* The options of gpnn-index, which is also a mode of gpnn-mpi. */
#include "cmd/common/cli.h"
#include "cmd/index/index.h"

#define ARGUMENTS struct index_arguments

/* Options that say how an index is made of a table, not how more rows are read. */
#define OF_FRESH (CLI_OF_TABLE | INDEX_OF_FRESH)

static const struct cli_word presets[] = {{"paper", INDEX_PAPER}, CLI_END_OF_WORDS};
static const struct cli_word scalings[] = {{"scale", GPNN_SCALING_SCALE},
                                           {"whiten", GPNN_SCALING_WHITEN},
                                           {"none", GPNN_SCALING_NONE},
                                           CLI_END_OF_WORDS};
static const struct cli_word tails[] = {{"auto", GPNN_TAILS_AUTO},
                                        {"compress", GPNN_TAILS_COMPRESS},
                                        {"keep", GPNN_TAILS_KEEP},
                                        CLI_END_OF_WORDS};
static const struct cli_word missing[] = {
    {"auto", GPNN_MISSING_AUTO}, {"drop", GPNN_MISSING_DROP}, CLI_END_OF_WORDS};
static const struct cli_word searches[] = {{"auto", GPNN_SEARCH_AUTO}, {"tree", GPNN_SEARCH_TREE},
                                           {"flat", GPNN_SEARCH_FLAT}, {"ivf", GPNN_SEARCH_IVF},
                                           {"hnsw", GPNN_SEARCH_HNSW}, CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", output, "FILE", "the index to write, whole or not at all"),
    CLI_FLAG(0, "auto", surveys, "use each column as what it looks like, and say so",
             .of = OF_FRESH),
    CLI_TEXT('y', "target", roles.target, "LIST", "columns to predict (the last)", .of = OF_FRESH),
    CLI_FLAG(0, "classes", roles.classes, "targets are classes, numbers too", .of = OF_FRESH),
    CLI_TEXT('x', "inputs", roles.inputs, "LIST", "input columns (all the others)", .of = OF_FRESH),
    CLI_TEXT(0, "drop", roles.drop, "LIST", "columns to ignore", .of = OF_FRESH),
    CLI_TEXT(0, "one-hot", roles.one_hot, "LIST", "inputs that are categories", .of = OF_FRESH),
    CLI_TEXT(0, "coded", roles.coded, "LIST", "categories of many levels, each coded as a number",
             .of = OF_FRESH),
    CLI_LIST(0, "ordered", ordered, "COL=A < B", "a category whose levels have an order",
             .of = OF_FRESH),
    CLI_LIST(0, "date", dates, "LIST[=FORMAT]", "inputs that are dates, as in sold=%d/%m/%Y",
             .of = OF_FRESH),
    CLI_LIST(0, "period", periods, "COL=P", "periodic inputs, as in hour=24,sold=year",
             .of = OF_FRESH),
    CLI_LIST(0, "geo", places, "LAT,LON", "inputs in degrees: positions on the globe",
             .of = OF_FRESH),
    CLI_TEXT(0, "regressors", roles.regressors, "LIST", "columns that the mean function depends on",
             .of = OF_FRESH),
    CLI_TEXT(0, "row-noise", roles.row_noise, "COL", "known variance of each row's noise",
             .of = OF_FRESH),
    CLI_TEXT(0, "offset", roles.offsets, "LIST", "known part of each target, to be added back",
             .of = OF_FRESH),
    CLI_TEXT(0, "exposure", roles.exposure, "COL", "what counts are proportional to",
             .of = OF_FRESH),
    CLI_TEXT(0, "by", roles.by, "COL", "rows with the same value are left out together",
             .of = OF_FRESH),
    CLI_TEXT(0, "id", roles.id, "COL", "what rows are known by, kept but no input", .of = OF_FRESH),
    CLI_TEXT(0, "group-effect", roles.group_effects, "LIST", "columns whose levels have effects",
             .of = OF_FRESH),
    CLI_CHOICE(0, "missing", roles.missing, "HOW", "rows that lack inputs", missing,
               .of = OF_FRESH),
    CLI_FLAG_OR(0, "skip-bad", skip_bad, "all", "leave bad rows out; all: however many",
                skip_words),
    CLI_FLAG(0, "unique", unique, "keep one of each set of equal rows", .of = OF_FRESH),
    CLI_CHOICE(0, "preset", preset, "paper", "whiten, exactly 1000 calibration rows", presets,
               .of = OF_FRESH),
    CLI_CHOICE(0, "standardise", training.standardise, "HOW", "inputs", scalings, .of = OF_FRESH),
    CLI_LIST(0, "target-scale", target_scales, "MEAN,SD", "of a target (those of its rows)",
             .of = OF_FRESH),
    CLI_CHOICE(0, "tails", training.tails, "HOW", "of inputs, where long", tails, .of = OF_FRESH),
    CLI_REAL(0, "whiten-eps", training.whiten_eps, "E", NULL, 0, 1e300, .of = OF_FRESH),
    CLI_COUNT(0, "calibration-rows", training.calibration_rows, "N",
              "rows held out (1000, at most a tenth; 0: none)", 0, 1e15, .of = OF_FRESH),
    CLI_CHOICE(0, "search", search.kind, "KIND", "nearest rows", searches, .of = CLI_OF_OWN),
    CLI_REAL(0, "recall", search.recall, "R", "share of true neighbours to find (0.99)", 1e-3, 1,
             .of = CLI_OF_OWN),
    CLI_COUNT('m', "neighbours", search.neighbours, "M",
              "neighbours to tune for (400; those of PARAMS)", 1, 1e6, .of = CLI_OF_OWN),
    CLI_TEXT(0, "shown-as", shown_as, "COMMAND", NULL), /* for tools that run this one */
    CLI_TEXT(0, "metric", metric, "PARAMS", "search by the metric of PARAMS; reads an INDEX"),
    CLI_TEXT(0, "pack", pack, "PARAMS", "one file of PARAMS and an INDEX, which is read"),
    CLI_TEXT(0, "add", add, "TABLE", "an INDEX, which is read, with rows of TABLE"),
    CLI_TEXT(0, "forget", forget, "WHAT", "an INDEX without N old rows, or COL<VALUE"),
};

const struct cli_tool index_tool = {
    .name = "gpnn-index",
    .synopsis = "[OPTION...] -o INDEX [TABLE|OLD-INDEX]",
    .purpose = "Standardise the rows of a table, hold some out, and build the neighbour search.",
    .groups = CLI_TABLE | CLI_SEEDED | CLI_THREADS | CLI_PROGRESS | CLI_REPORT,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = index_resolve,
    .run = index_run};
