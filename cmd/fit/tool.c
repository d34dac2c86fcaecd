/* The options of gpnn-fit, which is also a mode of gpnn-mpi. */
#include "cmd/common/cli.h"
#include "cmd/fit/fit.h"

#define ARGUMENTS struct fit_arguments

enum { MOST = 1000000, MOST_NEIGHBOURS = 20000 };

/* What a parameter can be fixed at. */
#define LEAST 1e-300
#define GREATEST 1e300

static const struct cli_word presets[] = {{"paper", FIT_PAPER}, CLI_END_OF_WORDS};
static const struct cli_word methods[] = {
    {"local", FIT_LOCAL}, {"conjugate", FIT_CONJUGATE}, CLI_END_OF_WORDS};
static const struct cli_word kernels[] = {{"auto", 0},     {"exp", 0}, {"matern32", 0},
                                          {"matern52", 0}, {"rbf", 0}, CLI_END_OF_WORDS};
static const struct cli_word transforms[] = {{"none", 0},  {"auto", 0},     {"log", 0},
                                             {"asinh", 0}, {"boxcox", 0},   {"yeo-johnson", 0},
                                             {"rank", 0},  CLI_END_OF_WORDS};
static const struct cli_word efforts[] = {{"fast", GPNN_EFFORT_FAST},
                                          {"normal", GPNN_EFFORT_NORMAL},
                                          {"thorough", GPNN_EFFORT_THOROUGH},
                                          CLI_END_OF_WORDS};
static const struct cli_word ard[] = {
    {"auto", FIT_ARD_AUTO}, {"yes", FIT_ARD_YES}, {"no", FIT_ARD_NO}, CLI_END_OF_WORDS};
static const struct cli_word rotations[] = {{"auto", FIT_ROTATE_AUTO},
                                            {"none", GPNN_ROTATE_NONE},
                                            {"whiten", GPNN_ROTATE_WHITEN},
                                            {"learn", GPNN_ROTATE_LEARN},
                                            CLI_END_OF_WORDS};
static const struct cli_word input_scores[] = {{"auto", FIT_SCORES_AUTO},
                                               {"none", GPNN_SIGHT_VALUE},
                                               {"only", GPNN_SIGHT_SCORE},
                                               {"both", GPNN_SIGHT_BOTH},
                                               CLI_END_OF_WORDS};
static const struct cli_word sharing[] = {
    {"shared", FIT_SHARED}, {"ratio", FIT_RATIO}, {"own", FIT_OWN}, CLI_END_OF_WORDS};
static const struct cli_word means[] = {{"zero", GPNN_MEAN_ZERO},
                                        {"constant", GPNN_MEAN_CONSTANT},
                                        {"linear", GPNN_MEAN_LINEAR},
                                        {"regressors", GPNN_MEAN_REGRESSORS},
                                        CLI_END_OF_WORDS};
static const struct cli_word objectives[] = {{"block", GPNN_OBJECTIVE_BLOCK},
                                             {"loo", GPNN_OBJECTIVE_LOO},
                                             {"mll-k", GPNN_OBJECTIVE_MLL_K},
                                             {"vecchia", GPNN_OBJECTIVE_VECCHIA},
                                             CLI_END_OF_WORDS};
static const struct cli_word optimizers[] = {{"auto", GPNN_OPTIMIZER_USUAL},
                                             {"lbfgs", GPNN_OPTIMIZER_LBFGS},
                                             {"adam", GPNN_OPTIMIZER_ADAM},
                                             CLI_END_OF_WORDS};
static const struct cli_word likelihoods[] = {{"auto", FIT_LIKELIHOOD_AUTO},
                                              {"local", GPNN_LIKELIHOOD_LOCAL},
                                              {"gaussian", GPNN_LIKELIHOOD_GAUSSIAN},
                                              {"student", GPNN_LIKELIHOOD_STUDENT},
                                              {"categorical", GPNN_LIKELIHOOD_CATEGORICAL},
                                              {"poisson", GPNN_LIKELIHOOD_POISSON},
                                              {"negbin", GPNN_LIKELIHOOD_NEGBIN},
                                              CLI_END_OF_WORDS};
static const struct cli_word inferences[] = {
    {"link", GPNN_INFERENCE_LINK}, {"polya-gamma", GPNN_INFERENCE_POLYA_GAMMA}, CLI_END_OF_WORDS};
static const struct cli_word omegas[] = {
    {"learnt", FIT_OMEGA_LEARNT}, {"fixed", FIT_OMEGA_FIXED}, CLI_END_OF_WORDS};
static const struct cli_word kl_weights[] = {{"printed", 0}, CLI_END_OF_WORDS};
static const struct cli_word row_weights[] = {{"no", FIT_ROW_WEIGHTS_NO},
                                              {"auto", FIT_ROW_WEIGHTS_AUTO},
                                              {"yes", FIT_ROW_WEIGHTS_YES},
                                              CLI_END_OF_WORDS};
static const struct cli_word scores[] = {
    {"rmspe", GPNN_CONJUGATE_RMSPE}, {"crps", GPNN_CONJUGATE_CRPS}, CLI_END_OF_WORDS};

static const struct cli_option tuning[] = {
    CLI_COUNT(0, "blocks", choose.fit.n_blocks, "N", "block: blocks of training rows (10)", 1,
              MOST),
    CLI_COUNT(0, "block-size", choose.fit.block_size, "N", "block: rows per block (300)", 2,
              MOST_NEIGHBOURS),
    CLI_COUNT(0, "steps", choose.fit.steps, "N", "others: steps of adam (1500)", 1, MOST),
    CLI_COUNT(0, "batch", batch, "N", "others: rows per step (64)", 1, MOST),
    CLI_COUNT(0, "refresh", refresh, "N", "others: steps between neighbour searches (250)", 1,
              MOST),
    CLI_REAL(0, "prior", choose.fit.prior_factor, "F", "factor of the prior (3)", 1.01, 1e6),
    CLI_END_OF_SETTINGS,
};

static const struct cli_option fixed[] = {
    CLI_REAL(0, "lengthscale", choose.fit.fixed_lengthscale, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "kernelscale", choose.fit.fixed_kernelscale, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "noise", choose.fit.fixed_noise, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "link-slope", choose.fit.fixed_link.slope, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "link-evidence", choose.fit.fixed_link.evidence, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "link-floor", choose.fit.fixed_link.floor, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "link-spread", choose.fit.fixed_link.spread, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "dispersion", dispersion, "V", "", 1e-6, 1e9),
    CLI_END_OF_SETTINGS,
};

static const struct cli_option options[] = {
    CLI_CHOICE(0, "preset", preset, "paper", "the published method: one lengthscale, adam",
               presets),
    CLI_CHOICE(0, "method", method, "NAME", "", methods),
    CLI_CHOICE(0, "effort", choose.effort, "E", "how much to try", efforts),
    CLI_TEXT_OF(0, "kernel", kernel, "KERNEL",
                "auto, exp, matern32, matern52, rbf, matern:NU (auto)", kernels),
    CLI_CHOICE(0, "ard", ard, "A", "a lengthscale for each input", ard),
    CLI_CHOICE(0, "rotate", rotate, "R", "rotate the inputs", rotations),
    CLI_CHOICE(0, "input-scores", input_scores, "S", "scores of inputs", input_scores),
    CLI_AUTO('m', "neighbours", neighbours, "M", "neighbours to predict from, or auto (auto)", 1,
             1e6),
    CLI_REAL(0, "budget", choose.budget, "T", "microseconds that predicting a row may take", 1,
             1e9),
    CLI_COUNT(0, "members", choose.members, "N", "most models to average predictions over (4 or 8)",
              1, GPNN_CHOOSE_MOST_MEMBERS),
    CLI_CHOICE(0, "lengthscales", lengthscales, "L", "of several targets", sharing),
    CLI_CHOICE(0, "likelihood", likelihood, "L", "", likelihoods),
    CLI_CHOICE(0, "inference", inference, "NAME", "of classes", inferences),
    CLI_CHOICE(0, "omega", omega, "W", "polya-gamma: of rows", omegas),
    CLI_TEXT_OF(0, "kl-weight", kl_weight_text, "W", "polya-gamma: a number, or printed (1)",
                kl_weights),
    CLI_CHOICE(0, "row-weights", row_weights, "W", "less for rows that others contradict",
               row_weights),
    CLI_TEXT_OF(0, "transform", transform_name, "T",
                "log, asinh, boxcox, yeo-johnson, rank, auto (none)", transforms),
    CLI_CHOICE(0, "mean-function", choose.fit.mean, "MEAN", "", means),
    CLI_CHOICES(0, "objective", objectives, "O[,O]", "(by effort)", objectives, 2),
    CLI_CHOICE(0, "optimizer", choose.fit.optimizer, "NAME", "(by objective)", optimizers),
    CLI_AUTO(0, "objective-neighbours", k, "K", "loo, mll-k, vecchia: neighbours per row (32)", 1,
             MOST_NEIGHBOURS),
    CLI_COUNT(0, "rows", choose.fit.rows, "N", "loo, mll-k, vecchia: rows to use (8000)", 1, 1e9),
    CLI_REAL(0, "thin", choose.fit.thin, "EPS", "loo, mll-k: ignore neighbours within EPS (off)", 0,
             1e6),
    CLI_TEXT(0, "like", like, "TABLE", "choose for rows like those of TABLE"),
    CLI_SETTINGS(0, "fix", "NAME=V", "hold lengthscale, kernelscale, noise, ... at V", fixed),
    CLI_COUNT(0, "folds", n_folds, "K", "conjugate: folds of the cross-validation (5)", 2, 1000),
    CLI_CHOICE(0, "score", score, "S", "conjugate: criterion", scores),
    CLI_TEXT(0, "start", start, "PARAMS", "start from these parameters"),
    CLI_SETTINGS(0, "tune", "NAME=VALUE", "finer points of the estimation; see the manual", tuning),
};

const struct cli_tool fit_tool = {
    .name = "gpnn-fit",
    .synopsis = "[OPTION...] INDEX",
    .purpose = "Estimate lengthscales, kernel scale and noise variance from rows of an index.",
    .groups = CLI_OUTPUT | CLI_SEEDED | CLI_THREADS | CLI_TABLE | CLI_PROGRESS | CLI_REPORT,
    .min_operands = 1,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = fit_resolve,
    .run = fit_run};
