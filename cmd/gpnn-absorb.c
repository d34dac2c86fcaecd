/* gpnn-absorb: an index, answers and a pool of rows in, rows or a model that know the answers out.
 */
#include "cmd/absorb/absorb.h"
#include "cmd/common/cli.h"

#define ARGUMENTS struct absorb_arguments

static const struct cli_word rules[] = {{"deflated", GPNN_ABSORB_DEFLATED},
                                        {"marginal", GPNN_ABSORB_MARGINAL},
                                        {"none", GPNN_ABSORB_NONE},
                                        {"full", GPNN_ABSORB_FULL},
                                        {"hybrid", GPNN_ABSORB_HYBRID},
                                        {"blocky", GPNN_ABSORB_BLOCKY},
                                        CLI_END_OF_WORDS};
static const struct cli_word uncertainties[] = {{"joint", GPNN_FUSION_JOINT},
                                                {"marginal", GPNN_FUSION_MARGINAL},
                                                {"none", GPNN_FUSION_NONE},
                                                CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT(0, "answers", answers, "FILE", "what gpnn-answer wrote; required"),
    CLI_TEXT(0, "id", id, "COL", "the column that both owners know rows by (id)"),
    CLI_CHOICE(0, "rule", how.rule, "RULE", "what becomes of answers", rules),
    CLI_TEXT(0, "own", own, "TABLE", "write these rows before those made of answers"),
    CLI_TEXT('p', "params", params, "FILE", "parameters of a model (standard input)"),
    CLI_TEXT(0, "targets", target, "NAME", "the target, if there are several"),
    CLI_CHOICE(0, "uncertainty", how.uncertainty, "WHAT", "of answers, in a model", uncertainties),
    CLI_FLAG(0, "gate", how.gate, "leave answers out that serve own rows ill"),
    CLI_FLAG(0, "ignore-noise", how.ignores_privacy, "as if answers had no noise of privacy"),
};

static const struct cli_tool tool = {
    .name = "gpnn-absorb",
    .synopsis = "[OPTION...] --answers FILE INDEX [POOL]",
    .purpose = "Learn from another owner\'s answers about rows of a pool: make training rows of\n"
               "them, with noise of their own, or a model of own rows and answers.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS,
    .min_operands = 1,
    .max_operands = 2,
    CLI_OPTIONS(options),
    .resolve = absorb_resolve,
    .run = absorb_run};

int main(int argc, char **argv)
{
  struct absorb_arguments arguments = {.how = {.rule = GPNN_ABSORB_DEFLATED}};
  return cli_main(&tool, &arguments, argc, argv);
}
