/*
 * scale_private: features, shared by the use of a scale and its estimation.
 */
#ifndef GPNN_LIKELIHOOD_SCALE_PRIVATE_H
#define GPNN_LIKELIHOOD_SCALE_PRIVATE_H

#include "likelihood/scale.h"

/* A feature of a row, not clipped, always finite; 'noise' is that of the parameters. */
double gpnn_scale_feature_of(enum gpnn_scale_feature feature, const struct gpnn_latent_row *row,
                             double noise);

#endif
