/*
 * stack: a model that averages the predictions of several others, its members, by weight
 * (models/mixture.h; gpnn-methods(7), equations 5.6 to 5.8).
 *
 * The parameters of a channel list its members (kernel/parameters.h).  Members predict from the
 * same training rows, each in its own metric and from its own number of neighbours; those with the
 * same metric share a search.  The first members of all channels make one model, so do the second,
 * and so on; within each of these, channels share what those of models/local/local.h share.
 *
 * Training rows are left out in the metric of the member with the most neighbours, from which all
 * members then predict the rows: those that each may be predicted from, and their order, are the
 * same for all.  Events are counted once for each member.
 *
 * Errors of several rows have the covariances of the mixture of the members' distributions
 * (equation 3.35).
 *
 * Cost of a prediction: that of all members together.
 */
#ifndef GPNN_MODELS_STACK_STACK_H
#define GPNN_MODELS_STACK_STACK_H

#include "models/model.h"

extern const struct gpnn_model_ops gpnn_stack_ops;

#endif
