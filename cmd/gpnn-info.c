/* gpnn-info: what is inside an index, a model or a file of parameters. */
#include "cmd/common/cli.h"
#include "cmd/info/info.h"

#define ARGUMENTS struct info_arguments

static const struct cli_option options[] = {
    CLI_FLAG(0, "verify", verify, "check every byte of an index"),
    CLI_TEXT(0, "effects", effects, "PARAMETERS", "a table of the effects of groups, of an index"),
    CLI_FLAG(0, "json", json, "one JSON object"),
    CLI_FLAG(0, "unpack", unpack, "the parameters of a model, to be used alone"),
};

static const struct cli_tool tool = {
    .name = "gpnn-info",
    .synopsis = "[OPTION...] [FILE]",
    .purpose = "Show what is inside an index, a model or a file of parameters.",
    .groups = CLI_OUTPUT,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = info_resolve,
    .run = info_run};

int main(int argc, char **argv)
{
  struct info_arguments arguments = {0};
  return cli_main(&tool, &arguments, argc, argv);
}
