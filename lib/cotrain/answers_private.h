/*
 * answers_private: the columns of a table of answers, for those who read and write it.
 */
#ifndef GPNN_COTRAIN_ANSWERS_PRIVATE_H
#define GPNN_COTRAIN_ANSWERS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "cotrain/answers.h"

#define ANSWERS_MAGIC "# gpnn answers "
#define ANSWERS_VERSION "1.0"

enum answers_range { ANSWERS_ANY, ANSWERS_NOT_NEGATIVE, ANSWERS_POSITIVE };

/* An array of struct gpnn_answers and its columns. */
struct answers_field {
  const char *name; /* of the column; of a matrix, with the number of the column after it, from 1 */
  size_t offset;    /* of the pointer in struct gpnn_answers */
  unsigned reports; /* those that have it, a bit (1 << report) each */
  bool is_matrix, is_optional;
  enum answers_range range;
};

/* All of them, in the order of the columns. */
enum { ANSWERS_FIELDS = 9 };
extern const struct answers_field gpnn_answers_fields[ANSWERS_FIELDS];

/* True if a report tells a field. */
bool gpnn_answers_tells(enum gpnn_report report, const struct answers_field *field);

/* Where the object keeps the array of a field. */
double **gpnn_answers_array(struct gpnn_answers *answers, const struct answers_field *field);

#endif
