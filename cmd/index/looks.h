/*
 * looks: a few words on what the cells of a column look like, and the options that use it.
 */
#ifndef GPNN_CMD_INDEX_LOOKS_H
#define GPNN_CMD_INDEX_LOOKS_H

#include <stdio.h>

#include "cmd/index/changes.h"
#include "profile/advice.h"

enum { LOOKS_BYTES = 256 };

/* Says what column 'j' looks like, with an example and its line. */
const char *looks_describe(char text[LOOKS_BYTES], const struct gpnn_profile *profile,
                           const struct gpnn_advice *advice, size_t j);

/* Prints the options that use column 'j', or that leave out what cannot be used of it. */
void looks_print_options(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                         const struct column_names *names, size_t j, FILE *to);

/* How many places 'text' takes in a terminal, if each character takes one. */
int looks_width(const char *text);

#endif
