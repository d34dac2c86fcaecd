/*
 * tucker: what gpnn-info says about a model on a grid of inducing points.
 */
#ifndef GPNN_CMD_INFO_TUCKER_H
#define GPNN_CMD_INFO_TUCKER_H

#include "cmd/common/facts.h"
#include "dataset/dataset.h"

/* Sizes and ranks, bound, shrinkage, and which variances it has.  Nothing of what the file lacks.
 */
void info_put_tucker(struct facts *facts, const struct gpnn_dataset *view);

#endif
