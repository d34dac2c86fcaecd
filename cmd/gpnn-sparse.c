/* gpnn-sparse: an index in, a model of inducing points out. */
#include "cmd/common/cli.h"
#include "cmd/sparse/sparse.h"

#define ARGUMENTS struct sparse_arguments

enum { MOST_INDUCING = 100000 };

/* What a parameter can be fixed at. */
#define LEAST 1e-300
#define GREATEST 1e300

static const struct cli_word kernels[] = {{"auto", 0},     {"exp", 0}, {"matern32", 0},
                                          {"matern52", 0}, {"rbf", 0}, CLI_END_OF_WORDS};
static const struct cli_word points[] = {
    {"kmeans", 0}, {"greedy", 0}, {"subset", 0}, CLI_END_OF_WORDS};
static const struct cli_word families[] = {{"collapsed", GPNN_FAMILY_COLLAPSED},
                                           {"diag", GPNN_FAMILY_DIAG},
                                           {"svgp", GPNN_FAMILY_SVGP},
                                           CLI_END_OF_WORDS};
static const struct cli_word solvers[] = {{"auto", GPNN_DIAG_SOLVER_AUTO},
                                          {"cg", GPNN_DIAG_SOLVER_CG},
                                          {"cholesky", GPNN_DIAG_SOLVER_CHOLESKY},
                                          CLI_END_OF_WORDS};
static const struct cli_word truncations[] = {{"none", GPNN_TRUNCATION_NONE},
                                              {"geometric", GPNN_TRUNCATION_GEOMETRIC},
                                              {"quadratic", GPNN_TRUNCATION_QUADRATIC},
                                              CLI_END_OF_WORDS};
static const struct cli_word optimizers[] = {
    {"adam", GPNN_DIAG_ADAM}, {"adagrad", GPNN_DIAG_ADAGRAD}, CLI_END_OF_WORDS};
static const struct cli_word ard[] = {
    {"yes", SPARSE_ARD_YES}, {"no", SPARSE_ARD_NO}, CLI_END_OF_WORDS};
static const struct cli_word likelihoods[] = {{"local", GPNN_LIKELIHOOD_LOCAL},
                                              {"gaussian", GPNN_LIKELIHOOD_GAUSSIAN},
                                              {"student", GPNN_LIKELIHOOD_STUDENT},
                                              CLI_END_OF_WORDS};

static const struct cli_option fixed[] = {
    CLI_REAL(0, "lengthscale", fixed_lengthscale, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "kernelscale", fixed_kernelscale, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "noise", fixed_noise, "V", "", LEAST, GREATEST),
    CLI_END_OF_SETTINGS,
};

static const struct cli_option tuning[] = {
    CLI_COUNT(0, "probes", probes, "N", "random vectors of a step (8)", 1, 1e5),
    CLI_REAL(0, "tol-head", head, "R", "residual where truncation begins (0.01)", 1e-15, 1),
    CLI_REAL(0, "tol", tolerance, "R", "residual where solutions end (1e-6)", 1e-15, 1),
    CLI_REAL(0, "beta", beta, "B", "rate of the truncation (from trial solutions)", 0, 100),
    CLI_COUNT(0, "polish", polish, "0|1", "the optimal mean at the end (1)", 0, 1),
    CLI_END_OF_SETTINGS,
};

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", output, "FILE", "the model to write, whole or not at all"),
    CLI_CHOICE(0, "family", family, "F", "of covariances", families),
    CLI_COUNT(0, "inducing", inducing, "M", "inducing points (1024)", 1, MOST_INDUCING),
    CLI_TEXT_OF(0, "inducing-points", points, "P", "kmeans, greedy, subset, or a FILE (kmeans)",
                points),
    CLI_TEXT_OF(0, "kernel", kernel, "KERNEL",
                "auto, exp, matern32, matern52, rbf, matern:NU (auto)", kernels),
    CLI_CHOICE(0, "ard", ard, "A", "a lengthscale for each input", ard),
    CLI_CHOICE(0, "likelihood", likelihood, "L", "", likelihoods),
    CLI_TEXT(0, "targets", targets, "LIST", "model these of several targets (all)"),
    CLI_SETTINGS(0, "fix", "NAME=V", "hold lengthscale, kernelscale or noise at V", fixed),
    CLI_TEXT(0, "start", start, "PARAMS", "start from these parameters, as of gpnn-fit"),
    CLI_COUNT(0, "sample", sample, "N", "rows that kernels are compared on (3000)", 2, 1e6),
    CLI_COUNT(0, "steps", steps, "N", "collapsed: evaluations on all rows at the end (0)", 0, 1e6),
    CLI_CHOICE(0, "optimizer", optimizer, "NAME", "diag", optimizers),
    CLI_COUNT(0, "iterations", iterations, "N", "steps (adam: 50; adagrad: 25000; svgp: 500)", 0,
              1e9),
    CLI_REAL(0, "rate", rate, "R", "of steps (adam: 0.005; adagrad: 0.3; svgp: 0.02)", 1e-9, 1e3),
    CLI_COUNT(0, "batch", batch, "N", "diag, svgp: rows of a step (diag: 256; svgp: 1024)", 1, 1e9),
    CLI_CHOICE(0, "solver", solver, "S", "diag", solvers),
    CLI_CHOICE(0, "truncation", truncation, "T", "diag: of conjugate gradients", truncations),
    CLI_SETTINGS(0, "tune", "NAME=VALUE", "diag: finer points; see the manual", tuning),
    CLI_TEXT(0, "trace", trace, "FILE", "diag: write a table of the steps"),
};

static const struct cli_tool tool = {
    .name = "gpnn-sparse",
    .synopsis = "[OPTION...] -o MODEL INDEX",
    .purpose = "Estimate a model of inducing points, which predicts without the training rows.",
    .groups = CLI_SEEDED | CLI_THREADS | CLI_PROGRESS | CLI_REPORT,
    .min_operands = 1,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = sparse_resolve,
    .run = sparse_run};

int main(int argc, char **argv)
{
  struct sparse_arguments arguments = {.family = GPNN_FAMILY_COLLAPSED,
                                       .inducing = 1024,
                                       .sample = 3000,
                                       .likelihood = GPNN_LIKELIHOOD_LOCAL,
                                       .probes = 8,
                                       .polish = 1,
                                       .head = 0.01,
                                       .tolerance = 1e-6};
  return cli_main(&tool, &arguments, argc, argv);
}
