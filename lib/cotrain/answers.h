/*
 * answers: the table in which one owner's model answers what another owner asks (gpnn-answers(5)).
 *
 * Answers are about rows of a pool that both owners know by an id.  Everything is in the units of
 * the target, which both standardise by the same public mean and sd, so that these can be compared.
 *
 * Calling sequence: gpnn_answers_read(), gpnn_answers_release(); or fill a zeroed object, whose
 * arrays gpnn_answers_allocate() makes, and call gpnn_answers_write().
 *
 * Threads: no shared state.
 */
#ifndef GPNN_COTRAIN_ANSWERS_H
#define GPNN_COTRAIN_ANSWERS_H

#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

/* What an answer tells. */
enum gpnn_report {
  GPNN_REPORT_NONE,     /* means alone */
  GPNN_REPORT_MARGINAL, /* and how sure the model is of each */
  GPNN_REPORT_FULL,     /* and how its errors go together */
  GPNN_REPORTS
};

/* The word for a report: "none", "marginal" or "full". */
const char *gpnn_report_name(enum gpnn_report report);

/*
 * n answers.  Arrays are owned; those that the report does not tell are NULL.  Matrices are n by n
 * and symmetric, with both triangles.
 */
struct gpnn_answers {
  char *id_name;        /* owned: what the column of ids is called */
  char *target;         /* owned: the target's name */
  double centre, scale; /* what the answering index standardises the target by */
  enum gpnn_report report;
  char *notes; /* owned: further comments, lines that begin with "# "; may be NULL */
  size_t n;
  char **ids;             /* owned, as are the texts: no two are the same */
  double *mean;           /* n: predictions, with the noise of privacy */
  double *variance;       /* n: of an observation, by the model, without the noise of privacy */
  double *prior_variance; /* n: the same before the model has seen any row */
  double *noise_variance; /* n: of the noise of privacy, 0 if there is none */
  double *covariance;     /* full: of observations, by the model; its diagonal is 'variance' */
  double *prior;          /* full: of the latent function before any row */
  double *privacy;        /* full: of the noise of privacy; NULL: there is none */
};

/* Makes the arrays of 'answers', whose n and report are set, zeroed; 'privacy' only if
 * 'has_privacy'.  GPNN_ENOMEM: the object may be released. */
GPNN_MUST_CHECK enum gpnn_status gpnn_answers_allocate(struct gpnn_answers *answers,
                                                       bool has_privacy, struct gpnn_error *err);

/*
 * Reads the table 'path' ("-": standard input).  '*answers' is written on success only, for
 * gpnn_answers_release().
 *
 *   GPNN_EDATA      a number is missing, not finite or, of a variance, negative; a prior variance
 *                   is not positive; a matrix is not symmetric; an id is empty or there twice
 *   GPNN_EMISMATCH  it is a table, but not of answers: comments or columns are missing
 *   GPNN_EVERSION   it is of a later version
 *   besides, as gpnn_table_open() and gpnn_table_next()
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_answers_read(const char *path, struct gpnn_answers *answers,
                                                   struct gpnn_error *err);

/* Writes the table, separated by tabs.  GPNN_EIO as gpnn_output_write(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_answers_write(const struct gpnn_answers *answers,
                                                    struct gpnn_output *output,
                                                    struct gpnn_error *err);

/* Frees everything and zeroes the object. */
void gpnn_answers_release(struct gpnn_answers *answers);

#endif
