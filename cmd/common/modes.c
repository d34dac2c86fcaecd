#include <stdio.h>
#include <string.h>

#include "cmd/common/cli_private.h"

struct modes {
  size_t n;
  const struct cli_mode *of;
};

/* Says that there is no such mode, and which modes there are. */
static bool refuse_mode(const struct cli *cli, void *arguments)
{
  const struct modes *modes = arguments;
  char shown[GPNN_MASK_BYTES], names[CLI_WORDS_BYTES] = "";
  size_t used = 0;
  for (size_t i = 0; i < modes->n && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                             i == 0              ? ""
                             : i + 1 == modes->n ? " or "
                                                 : ", ",
                             modes->of[i].name);
  return cli_refuse(cli, "no such mode: \"%s\"; MODE is %s",
                    gpnn_mask(shown, cli->operands[0], strlen(cli->operands[0])), names);
}

/* The purpose, then a line for each mode. */
static void describe(char *text, size_t n_bytes, const char *name, const char *purpose,
                     const struct modes *modes)
{
  size_t used = (size_t)snprintf(text, n_bytes, "%s  MODE is\n", purpose);
  for (size_t i = 0; i < modes->n && used < n_bytes; i++)
    used += (size_t)snprintf(text + used, n_bytes - used, "  %-8s %s\n", modes->of[i].name,
                             modes->of[i].summary);
  if (used < n_bytes)
    snprintf(text + used, n_bytes - used, "and has options of its own: %s MODE --help.", name);
}

int cli_main_modes(const char *name, const char *purpose, size_t n, const struct cli_mode modes[],
                   int argc, char **argv)
{
  for (size_t i = 0; argc > 1 && i < n; i++)
    if (strcmp(argv[1], modes[i].name) == 0) {
      argv[1] = argv[0];
      return modes[i].main(argc - 1, argv + 1);
    }
  char text[2048];
  struct modes all = {n, modes};
  describe(text, sizeof text, name, purpose, &all);
  const struct cli_tool tool = {.name = name,
                                .synopsis = "MODE [OPTION...]",
                                .purpose = text,
                                .min_operands = 1,
                                .max_operands = 1,
                                .resolve = refuse_mode};
  /* What follows an unknown mode could only be its options: the mode is what is wrong. */
  if (argc > 2 && argv[1][0] != '-') argc = 2;
  return cli_main(&tool, &all, argc, argv);
}
