/*
 * answer: gpnn-answer, from its arguments to the table of answers.
 */
#ifndef GPNN_CMD_ANSWER_ANSWER_H
#define GPNN_CMD_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/cli.h"
#include "cotrain/answers.h"
#include "cotrain/release.h"

struct answer_arguments {
  const char *params, *target, *id, *ids; /* NULL: not given */
  const char *public_params;              /* --hyper-from, also in 'params'; NULL: not given */
  enum gpnn_report report;
  /* Of privacy; 0 and NULL: not given. */
  enum gpnn_mechanism mechanism;
  const char *clip, *ledger, *new_ledger, *budget;
  double epsilon, delta, noise_factor;
  uint64_t insecure_seed;
  bool status, force;
  /* What private_resolve() makes of them. */
  bool hides, is_insecure; /* there is noise; from a seed */
  double range[2];         /* the clip */
  double allowed[2];       /* the budget: epsilon and delta */
};

#define ANSWER_ARGUMENTS_INIT                                          \
  {                                                                    \
    .report = GPNN_REPORT_MARGINAL, .mechanism = GPNN_MECHANISM_SHAPED \
  }

/* A struct cli_tool's 'resolve' and 'run'. */
bool answer_resolve(const struct cli *cli, void *arguments);
GPNN_MUST_CHECK enum gpnn_status answer_run(const struct cli *cli, void *arguments,
                                            struct gpnn_error *err);

#endif
