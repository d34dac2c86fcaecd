/* gpnn-answer: a model, ids and a pool of rows in, answers about these rows out. */
#include "cmd/answer/answer.h"
#include "cmd/common/cli.h"

#define ARGUMENTS struct answer_arguments

static const struct cli_word reports[] = {{"none", GPNN_REPORT_NONE},
                                          {"marginal", GPNN_REPORT_MARGINAL},
                                          {"full", GPNN_REPORT_FULL},
                                          CLI_END_OF_WORDS};

static const struct cli_word mechanisms[] = {{"shaped", GPNN_MECHANISM_SHAPED},
                                             {"isotropic", GPNN_MECHANISM_ISOTROPIC},
                                             {"path", GPNN_MECHANISM_PATH},
                                             CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_TEXT(0, "hyper-from", public_params, "FILE", "in place of -p: parameters of public rows"),
    CLI_TEXT(0, "targets", target, "NAME", "the target, if there are several"),
    CLI_TEXT(0, "id", id, "COL", "the column that both owners know rows by (id)"),
    CLI_TEXT(0, "ids", ids, "FILE", "what is asked: a table of ids (all rows of the pool)"),
    CLI_CHOICE(0, "report", report, "WHAT", "tell besides means", reports),
    CLI_REAL(0, "epsilon", epsilon, "E", "hide responses: add noise that promises E", 1e-6, 1e6),
    CLI_REAL(0, "delta", delta, "D", "but for a chance of D", GPNN_RELEASE_LEAST_DELTA, 0.999999),
    CLI_TEXT(0, "clip", clip, "LO,HI", "what responses can be, for all to know"),
    CLI_CHOICE(0, "mechanism", mechanism, "HOW", "(shaped, with --epsilon)", mechanisms),
    CLI_REAL(0, "noise-factor", noise_factor, "F", "noise of F scales; tells its epsilon", 1e-9,
             1e9),
    CLI_TEXT(0, "ledger", ledger, "FILE", "charge the release to this ledger"),
    CLI_TEXT(0, "new-ledger", new_ledger, "FILE", "make an empty ledger; no INDEX"),
    CLI_TEXT(0, "budget", budget, "EPS,DELTA", "refuse what brings the ledger above it"),
    CLI_FLAG(0, "status", status, "print what --ledger comes to at --delta; no INDEX"),
    CLI_FLAG(0, "force", force, "take a delta of 1 / rows or more"),
    CLI_SEED(0, "insecure-seed", insecure_seed, "N", "noise for tests, which protects nothing"),
};

static const struct cli_tool tool = {
    .name = "gpnn-answer",
    .synopsis = "[OPTION...] -p PARAMS INDEX [POOL]",
    .purpose = "Answer what another owner of data asks about rows of a pool: predictions, and\n"
               "how certain they are.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS,
    .min_operands = 0, /* of --status and --new-ledger; answer_resolve() looks for the index */
    .max_operands = 2,
    CLI_OPTIONS(options),
    .resolve = answer_resolve,
    .run = answer_run};

int main(int argc, char **argv)
{
  struct answer_arguments arguments = ANSWER_ARGUMENTS_INIT;
  return cli_main(&tool, &arguments, argc, argv);
}
