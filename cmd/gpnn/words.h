/*
 * words: parameters and numbers as the report tells them.
 */
#ifndef GPNN_CMD_GPNN_WORDS_H
#define GPNN_CMD_GPNN_WORDS_H

#include <stdio.h>

#include "dataset/dataset.h"
#include "kernel/parameters.h"

enum { WORDS_NUMBER_BYTES = 32 };

/* A number with four digits or, if it is large, all those before the point.  Returns 'text'. */
const char *words_number(char text[WORDS_NUMBER_BYTES], double value);

/* "Matern 3/2 kernel, a lengthscale for each input, 64 neighbours; ..." */
void words_model(FILE *out, const struct gpnn_parameters *parameters);

/* Names the inputs along which the function changes fastest, those with the shortest lengthscales,
 * most important first; nothing if there is one for all, or the inputs are rotated or mixed. */
void words_leading_inputs(FILE *out, const struct gpnn_parameters *parameters,
                          const struct gpnn_dataset *dataset);

#endif
