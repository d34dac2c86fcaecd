/* scale_private: shared by the use of scales and their estimation. */
#ifndef GPNN_LIKELIHOOD_SCALE_PRIVATE_H
#define GPNN_LIKELIHOOD_SCALE_PRIVATE_H

#include "likelihood/scale.h"

/* A feature of a row, not clipped, always finite; 'noise' is that of the parameters. */
double gpnn_scale_feature(enum gpnn_scale_feature feature, const struct gpnn_latent_row *row,
                          double noise);

#endif
