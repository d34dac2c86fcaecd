/*
 * fusion_private: what the rules share.
 */
#ifndef GPNN_COTRAIN_FUSION_PRIVATE_H
#define GPNN_COTRAIN_FUSION_PRIVATE_H

#include "cotrain/fusion.h"

#define MEMORY_FOR "for a model of rows and answers"

/* The points of a target and what is observed there.  A zeroed object may be released. */
struct gpnn_fusion_system {
  const struct gpnn_covariance *covariance;
  const struct gpnn_fusion_answers *answers;
  enum gpnn_fusion_uncertainty uncertainty;
  size_t n, q, m;  /* own rows, answers, both */
  double *points;  /* owned; m by d */
  double *k;       /* owned; m by m, both triangles: covariances of the asking model's function */
  double *targets; /* owned; m: of the own rows, and the answers, or 0 if there are none */
  double *noise; /* owned; m: that of the parameters, and of own rows with a noise of their own that
                    as well */
};

/* Fills in the arrays of a system whose other members are set.  GPNN_ENOMEM: it may be released. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fusion_system_make(struct gpnn_fusion_system *s,
                                                         const struct gpnn_dataset *view,
                                                         struct gpnn_error *err);
void gpnn_fusion_system_release(struct gpnn_fusion_system *s);

/* GPNN_EINVAL: there are more than GPNN_FUSION_MOST points. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fusion_check_size(size_t n, size_t q, struct gpnn_error *err);

/* The covariance of the errors of answers i and j, as far as it counts, with the noise of privacy.
 */
double gpnn_fusion_error(const struct gpnn_fusion_system *s, size_t i, size_t j);

/* Factors the matrix of order n that 'fill' writes.  GPNN_ENUMERIC: it is not positive definite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fusion_factor(const struct gpnn_fusion_system *s, size_t n,
                                                    double *matrix,
                                                    void (*fill)(void *context, double *matrix),
                                                    void *context, struct gpnn_error *err);

/* What the error of an own row, predicted without itself, costs, given its variance. */
double gpnn_fusion_cost(double error, double variance);

/* The mean cost of the own rows, from a root of S, rank by m, and what S makes of the targets
 * (equation 18.9). */
double gpnn_fusion_score(const struct gpnn_fusion_system *s, size_t rank, const double *root,
                         const double *weights);

/* Each group of rules allocates and writes the root, writes the weights (m, zeroed), and scores. */
GPNN_MUST_CHECK enum gpnn_status gpnn_fusion_observations(const struct gpnn_fusion_system *s,
                                                          bool blocky, struct gpnn_fusion *f,
                                                          struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_fusion_consensus(const struct gpnn_fusion_system *s, bool yu,
                                                       struct gpnn_fusion *f,
                                                       struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_fusion_committee(const struct gpnn_fusion_system *s,
                                                       struct gpnn_fusion *f,
                                                       struct gpnn_error *err);

#endif
