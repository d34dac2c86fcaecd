/*
 * findings: what a run came to, for its report.
 */
#ifndef GPNN_CMD_GPNN_FINDINGS_H
#define GPNN_CMD_GPNN_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "assess/expected.h"
#include "assess/scored.h"
#include "base/status.h"
#include "cmd/common/open.h"
#include "cmd/gpnn/places.h"
#include "cmd/gpnn/steps.h"

/* What is expected of the predictions of one target. */
struct outlook {
  bool is_known;
  struct gpnn_expected expected;
  char why_not[GPNN_ERROR_BYTES]; /* if it is not known */
};

/* A model with effects of groups beside one without (cmd/gpnn/effects.c). */
struct effects_trial {
  char *list;                  /* owned; the groups, as --group-effect has them; NULL: none */
  bool is_possible, is_better; /* the one with effects */
  double with, without;        /* NLL in units of the sd of the target, rows held out */
  double seconds;
};

/* A zeroed object may be released. */
struct findings {
  struct opened opened;
  struct outlook *outlooks;  /* owned; one for each target */
  struct gpnn_scored scored; /* of the rows of TEST, if there is one */
  size_t n_unused;           /* columns of the training table without a role */
  char **unused;             /* owned: their n_unused names; NULL: not known */
  struct effects_trial effects;
  bool ran[STEPS];
  double seconds[STEPS], scoring, page, total;
};

/* Looks at the working files, and at the training table once more, for its header.  'findings' must
 * be zeroed but for the times.  Outcomes as open_files() and gpnn_scored_read(). */
GPNN_MUST_CHECK enum gpnn_status findings_gather(struct findings *findings, const struct cli *cli,
                                                 const struct places *places,
                                                 struct gpnn_error *err);

void findings_release(struct findings *findings);

#endif
