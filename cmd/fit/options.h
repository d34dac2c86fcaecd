/*
 * fit_options: the command line of gpnn-fit, and what it comes to.
 */
#ifndef GPNN_CMD_FIT_OPTIONS_H
#define GPNN_CMD_FIT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "cmd/fit/conjugate.h"
#include "models/local/choose.h"

/* What was written, and what is to be fitted and chosen.  Strings are those of the command line; a
 * NULL one was not given. */
struct fit_arguments {
  const char *preset, *kernel, *ard, *objective, *optimizer, *start, *mean, *effort, *rotate, *like;
  size_t neighbours, k; /* 0: auto */
  double thin;          /* a distance, as in struct gpnn_fit_options; -1: off */
  struct cli_list fix;
  struct gpnn_choose_options choose;
  bool is_conjugate;
  struct conjugate_arguments conjugate;
  const char *metric; /* NULL: shared, where the method can */
  bool is_shared;
};

#define FIT_ARGUMENTS_INIT                                   \
  {                                                          \
    .mean = "zero", .effort = "normal", .k = 32, .thin = -1, \
    .choose = {.fit = GPNN_FIT_OPTIONS_INIT,                 \
               .sample_rows = GPNN_CHOOSE_SAMPLE,            \
               .last_sample_rows = GPNN_CHOOSE_LAST_SAMPLE}, \
    .conjugate = CONJUGATE_ARGUMENTS_INIT                    \
  }

/*
 * Sets 'choose' and what follows from it, but for the threads; --preset also sets the options that
 * it stands for.  False if something does not make sense, or if the output would take the place of
 * an input, which the user has been told.
 */
bool fit_options_resolve(const struct cli *cli, struct fit_arguments *a);

/* The model that is started from is the one to fit, unless another was asked for.  'start' is
 * borrowed for as long as 'choose' is in use. */
void fit_options_start(struct fit_arguments *a, const struct gpnn_parameters *start);

#endif
