/*
 * conjugate: gpnn-fit --method conjugate: its options, and what it says.
 */
#ifndef CMD_CONJUGATE_H
#define CMD_CONJUGATE_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "dataset/index.h"
#include "models/local/choose.h"

struct conjugate_arguments {
  const char *method, *score;
  size_t n_folds;
};

#define CONJUGATE_ARGUMENTS_INIT \
  {                              \
    "local", "rmspe", 5          \
  }

/* Whether the method asked for is this one; '*ok' is false, and the user told, if there is no such
 * method or score. */
bool conjugate_is_asked(const struct cli *cli, const struct conjugate_arguments *a, bool *ok);

/* Fits target 'target' of 'index'; of 'choose' the kernel, the neighbours, the mean and the start
 * are used where they were given. */
enum gpnn_status conjugate_fit(const struct cli *cli, const struct conjugate_arguments *a,
                               const struct gpnn_choose_options *choose,
                               const struct gpnn_index *index, size_t target,
                               struct gpnn_parameters *params, struct gpnn_error *err);

#endif
