/* gpnn-tucker: an index in, a model of inducing points on a grid out. */
#include "cmd/common/cli.h"
#include "cmd/tucker/tucker.h"

#define ARGUMENTS struct tucker_arguments

/* What a variance can be held at. */
#define LEAST 1e-300
#define GREATEST 1e300

static const struct cli_word kernels[] = {
    {"rbf", 0}, {"exp", 0}, {"matern32", 0}, {"matern52", 0}, CLI_END_OF_WORDS};
static const struct cli_word placings[] = {
    {"uniform", TUCKER_UNIFORM}, {"quantile", TUCKER_QUANTILE}, CLI_END_OF_WORDS};
static const struct cli_word means[] = {
    {"tucker", TUCKER_FULL}, {"kron-sum", TUCKER_KRON_SUM}, CLI_END_OF_WORDS};
static const struct cli_word covariances[] = {
    {"kron", TUCKER_KRON}, {"prior", TUCKER_PRIOR}, CLI_END_OF_WORDS};
static const struct cli_word variances[] = {{"auto", GPNN_TUCKER_VARIANCE_AUTO},
                                            {"variational", GPNN_TUCKER_VARIATIONAL},
                                            {"residual", GPNN_TUCKER_RESIDUAL},
                                            CLI_END_OF_WORDS};
static const struct cli_word freed[] = {
    {"noise", TUCKER_NOISE}, {"kernelscale", TUCKER_KERNELSCALE}, CLI_END_OF_WORDS};
static const struct cli_word likelihoods[] = {{"local", GPNN_LIKELIHOOD_LOCAL},
                                              {"gaussian", GPNN_LIKELIHOOD_GAUSSIAN},
                                              {"student", GPNN_LIKELIHOOD_STUDENT},
                                              CLI_END_OF_WORDS};

static const struct cli_option fixed[] = {
    CLI_REAL(0, "noise", fit.noise, "V", "", LEAST, GREATEST),
    CLI_REAL(0, "kernelscale", fit.kernelscale, "V", "", LEAST, GREATEST),
    CLI_END_OF_SETTINGS,
};

static const struct cli_option tuning[] = {
    CLI_REAL(0, "margin", fit.margin, "G", "reach of the grid beyond the rows (0.05)", 0, 10),
    CLI_CHOICE(0, "covariance", covariance, "COV", "of the points", covariances),
    CLI_END_OF_SETTINGS,
};

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", output, "FILE", "the model to write, whole or not at all"),
    CLI_TEXT(0, "rank", ranks, "Q[,Q]...", "of the mean: of all inputs, or of each (2, or less)"),
    CLI_TEXT(0, "grid-size", sizes, "M[,M]...", "points: for every input, or for each (10)"),
    CLI_CHOICE(0, "grid", placing, "HOW", "places of points", placings),
    CLI_CHOICE(0, "mean", mean, "MEAN", "", means),
    CLI_TEXT_OF(0, "kernel", kernel, "KERNEL", "rbf, or a product of exp, matern32, matern52 (rbf)",
                kernels),
    CLI_COUNT(0, "sweeps", fit.n_sweeps, "N", "of least squares, at most (30)", 1, 1e6),
    CLI_SETTINGS(0, "fix", "NAME=V", "hold noise (0.1), kernelscale (1) at V", fixed),
    CLI_CHOICES(0, "free", freed, "NAME[,NAME]", "estimate them instead, beginning there", freed,
                2),
    CLI_CHOICE(0, "variance", fit.variance, "V", "of predictions", variances),
    CLI_CHOICE(0, "likelihood", likelihood, "L", "", likelihoods),
    CLI_TEXT(0, "targets", targets, "LIST", "model these of several targets (all)"),
    CLI_SETTINGS(0, "tune", "NAME=VALUE", "finer points; see the manual", tuning),
    CLI_TEXT(0, "trace", trace, "FILE", "a table of what is known after every sweep"),
};

static const struct cli_tool tool = {
    .name = "gpnn-tucker",
    .synopsis = "[OPTION...] -o MODEL INDEX",
    .purpose = "Estimate a global model: inducing points on a grid, their mean of low rank.",
    .groups = CLI_SEEDED | CLI_THREADS | CLI_PROGRESS | CLI_REPORT,
    .min_operands = 1,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = tucker_resolve,
    .run = tucker_run};

int main(int argc, char **argv)
{
  struct tucker_arguments arguments = {.likelihood = GPNN_LIKELIHOOD_LOCAL,
                                       .fit = gpnn_tucker_usual_options()};
  return cli_main(&tool, &arguments, argc, argv);
}
