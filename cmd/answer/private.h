/*
 * private: the options of gpnn-answer about privacy, and what they come to.
 */
#ifndef GPNN_CMD_ANSWER_PRIVATE_H
#define GPNN_CMD_ANSWER_PRIVATE_H

#include "cmd/answer/answer.h"
#include "cmd/common/cli.h"
#include "cotrain/conceal.h"

/* Answers that are to be hidden.  A zeroed object may be released. */
struct private_answers {
  struct gpnn_clipped clipped;
  struct gpnn_concealment concealment;
};

/* Checks the options, as a resolve() does. */
bool private_resolve(const struct cli *cli, struct answer_arguments *a);

/* Clips the responses of the model that answers about the rows 'x', and finds the noise: answers
 * are to come from '->clipped.model' then.  Says in the notes of 'answers' what is promised. */
GPNN_MUST_CHECK enum gpnn_status private_prepare(const struct cli *cli,
                                                 const struct answer_arguments *a,
                                                 const struct gpnn_model *model, const double *x,
                                                 struct gpnn_answers *answers,
                                                 struct private_answers *p, struct gpnn_error *err);

/* Charges the ledger, says in the notes which line did it, and adds the noise: afterwards the
 * answers may be told. */
GPNN_MUST_CHECK enum gpnn_status
private_hide(const struct cli *cli, const struct answer_arguments *a, struct gpnn_answers *answers,
             const struct private_answers *p, struct gpnn_error *err);

void private_release(struct private_answers *p);

/* Makes an empty ledger. */
GPNN_MUST_CHECK enum gpnn_status private_new_ledger(const struct answer_arguments *a,
                                                    struct gpnn_error *err);

/* Prints what a ledger comes to. */
GPNN_MUST_CHECK enum gpnn_status
private_status(const struct cli *cli, const struct answer_arguments *a, struct gpnn_error *err);

#endif
