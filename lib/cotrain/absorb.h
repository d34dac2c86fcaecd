/*
 * absorb: what the asking owner makes of answers: rows with noise of their own, or a model of rows
 * and answers (gpnn-methods(7), equations 18.11 to 18.13).
 *
 * Threads: no shared state.
 *
 * Source: Thomas (2017), section 4.2; Tresp (2000).
 */
#ifndef GPNN_COTRAIN_ABSORB_H
#define GPNN_COTRAIN_ABSORB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cotrain/answers.h"
#include "cotrain/fusion.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/* How answers become rows. */
enum gpnn_absorb_rule {
  GPNN_ABSORB_DEFLATED, /* what the answering model's data say, without its prior, which is not data
                         */
  GPNN_ABSORB_MARGINAL, /* means, as uncertain as they are said to be */
  GPNN_ABSORB_NONE      /* means, as if they were observed */
};

/* A row made of an answer, in the units of the target. */
struct gpnn_absorbed {
  bool is_dropped;      /* the answer says next to nothing */
  double target, noise; /* 'noise': variance besides that of the asking model's own noise */
};

/*
 * Makes a row of each answer; with 'ignores_privacy' the noise of privacy is taken for none.
 * GPNN_EMISMATCH: the report lacks what the rule needs.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_absorb_rows(const struct gpnn_answers *answers,
                                                  enum gpnn_absorb_rule rule, bool ignores_privacy,
                                                  struct gpnn_absorbed *rows,
                                                  struct gpnn_error *err);

/* GPNN_EMISMATCH: the answers standardise the target otherwise than the view. */
GPNN_MUST_CHECK enum gpnn_status gpnn_absorb_check_units(const struct gpnn_answers *answers,
                                                         const struct gpnn_dataset *view,
                                                         struct gpnn_error *err);

/* How many answers are farther from the centre than GPNN_ABSORB_FAR scales, or standard deviations
 * that the answering model has before it sees any row if they are told and less, the noise of
 * privacy included: next to none, unless they are in other units than they say.  0 if the report
 * has no means. */
enum { GPNN_ABSORB_FAR = 10 };
size_t gpnn_absorb_n_far(const struct gpnn_answers *answers);

/* How a model is made of own rows and answers. */
struct gpnn_absorb_options {
  enum gpnn_fusion_rule rule;
  enum gpnn_fusion_uncertainty uncertainty;
  bool ignores_privacy;
  bool gate; /* keep answers only if the own rows, each predicted from all else, are not predicted
                worse for them */
};

/* What came of it. */
struct gpnn_absorb_outcome {
  bool is_kept;       /* false: the gate left the answers out */
  double alone, with; /* mean negative log density of the own rows without and with the answers */
  size_t n_negative;  /* as in struct gpnn_fusion */
};

/*
 * Makes the model of a view's rows, seen by 'params', and of answers about rows 'x' (answers->n by
 * d, standardised).  GPNN_EMISMATCH: the report lacks what the rule needs, or as
 * gpnn_absorb_check_units(); otherwise outcomes as for gpnn_fusion_new().
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_absorb_model(const struct gpnn_dataset *view, const struct gpnn_parameters *params,
                  const struct gpnn_answers *answers, const double *x,
                  const struct gpnn_absorb_options *options, struct gpnn_fusion *fusion,
                  struct gpnn_absorb_outcome *outcome, struct gpnn_error *err);

#endif
