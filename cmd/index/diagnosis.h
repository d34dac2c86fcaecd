/*
 * diagnosis: what is to be told about a table that cannot be used as it is.
 *
 * Calling sequence: diagnosis_make() with the profile of a table; diagnosis_tell(); then
 * diagnosis_release(), whatever happened.
 */
#ifndef GPNN_CMD_INDEX_DIAGNOSIS_H
#define GPNN_CMD_INDEX_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "cmd/index/changes.h"
#include "cmd/index/index.h"
#include "profile/advice.h"

/* A zeroed object may be released. */
struct diagnosis {
  const struct cli *cli; /* these three are borrowed */
  const struct index_arguments *arguments;
  const struct gpnn_profile *profile;
  struct gpnn_advice advice;
  struct column_names names;
  struct index_changes changes; /* those that follow the advice; callers may add some */
};

/* Asks for advice and finds the changes that follow it; 'n_before' good rows came before those of
 * the profile.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status diagnosis_make(struct diagnosis *diagnosis, const struct cli *cli,
                                                const struct index_arguments *arguments,
                                                const struct gpnn_profile *profile, size_t n_before,
                                                struct gpnn_error *err);

/* True if the changes leave a table to train on. */
bool diagnosis_is_possible(const struct diagnosis *diagnosis);

/* True if there is more to tell than what is wrong with the first bad row. */
bool diagnosis_is_worth_telling(const struct diagnosis *diagnosis);

/*
 * Tells all columns that are no numbers, what they look like, which options use them, and the
 * command that does it all.  'why' is what is wrong with the first bad row, and is told instead of
 * the columns where that is all; NULL: the changes are being made, and this is told.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status diagnosis_tell(const struct diagnosis *diagnosis, const char *why,
                                                struct gpnn_error *err);

void diagnosis_release(struct diagnosis *diagnosis);

#endif
