/*
 * variational: the model of all families of models/family.h, behind the interface of
 * models/model.h.  Its channels have datasets with 'stored'; their families may differ.
 *
 * Rows have no neighbours: their misfit is 1, and 'nearest' is what the family says.  Nothing can
 * be held out or estimated again, as the training rows are not there.
 */
#ifndef GPNN_MODELS_VARIATIONAL_H
#define GPNN_MODELS_VARIATIONAL_H

#include "models/model.h"

extern const struct gpnn_model_ops gpnn_variational_ops;

#endif
