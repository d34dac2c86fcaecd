/* gpnn-linear: a matrix of covariances in, solutions with it or estimates about it out. */
#include "cmd/common/cli.h"
#include "cmd/linear/linear.h"

#define ARGUMENTS struct linear_arguments

static const struct cli_word truncations[] = {{"none", GPNN_TRUNCATION_NONE},
                                              {"geometric", GPNN_TRUNCATION_GEOMETRIC},
                                              {"quadratic", GPNN_TRUNCATION_QUADRATIC},
                                              CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters, if it is an index (standard input)"),
    CLI_TEXT(0, "targets", target, "NAME", "the target, if there are several"),
    CLI_COUNT(0, "rows", rows, "N", "the first N rows of an index (all)", 1, 1e6),
    CLI_REAL(0, "tol", solver.tolerance, "R", "relative residual of solutions (1e-6)", 1e-14, 0.5),
    CLI_COUNT(0, "max-iter", solver.most_steps, "N", "iterations at most (1000)", 1, 1e9),
    CLI_CHOICE(0, "truncation", solver.truncation, "HOW", "end solutions at random", truncations),
    CLI_REAL(0, "tol-head", solver.head, "R", "not before this residual (0.01)", 1e-14, 1),
    CLI_REAL(0, "beta", solver.rate, "B", "rate of its weights (by pilot solutions)", 1e-6, 100),
    CLI_COUNT(0, "repeat", repeat, "N", "solve: solutions of each right-hand side (1)", 1, 1e9),
    CLI_COUNT(0, "probes", probes, "N", "random vectors of an estimate (8)", 1, 1e9),
    CLI_FLAG(0, "exact", exact, "by a Cholesky factorisation, in time n^3"),
};

static const struct cli_tool tool = {
    .name = "gpnn-linear",
    .synopsis = "KIND [OPTION...] MODEL [TABLE]",
    .purpose = "Solve with a matrix of covariances, or estimate what there is to know of it.  It\n"
               "is that of the inducing points of a model, or of the rows of an index.  KIND is\n"
               "  solve       solutions for the rows of TABLE\n"
               "  trace       the trace of its inverse\n"
               "  diagonal    the diagonal of its inverse\n"
               "  logdet      its log determinant",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS | CLI_SEEDED | CLI_PROGRESS,
    .min_operands = 2,
    .max_operands = 3,
    .first_operand = linear_kind_name,
    CLI_OPTIONS(options),
    .resolve = linear_resolve,
    .run = linear_run};

int main(int argc, char **argv)
{
  struct linear_arguments arguments = LINEAR_ARGUMENTS_INIT;
  return cli_main(&tool, &arguments, argc, argv);
}
