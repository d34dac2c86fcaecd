/*
 * advice_private: the judgement of single columns, which advice_columns.c makes and advice.c puts
 * together.
 */
#ifndef GPNN_PROFILE_ADVICE_PRIVATE_H
#define GPNN_PROFILE_ADVICE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/advice.h"

/* Decides decimal mark and thousands by the numbers of all columns. */
void gpnn_advice_choose_marks(struct gpnn_advice *advice, const struct gpnn_profile *profile);

/* Judges column 'j', once the marks are chosen. */
void gpnn_advice_judge(struct gpnn_advice *advice, const struct gpnn_profile *profile, size_t j);

/* True if 'code' of a column stands for a missing value, by its distance from the other numbers. */
bool gpnn_advice_is_far(const struct gpnn_column_profile *column, const struct gpnn_code *code);

/* True if the numbers' affixes can be stripped without loss. */
bool gpnn_advice_strips(const struct gpnn_column_profile *column);

#endif
