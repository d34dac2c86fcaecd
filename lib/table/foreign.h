/*
 * foreign: files of other formats that people have tables in, recognised by how they begin, so that
 * a message can say what to do with them.
 */
#ifndef GPNN_TABLE_FOREIGN_H
#define GPNN_TABLE_FOREIGN_H

#include <stddef.h>

enum { GPNN_FOREIGN_FORMATS = 13, GPNN_FOREIGN_MAGIC_BYTES = 10 };

struct gpnn_foreign {
  char magic[GPNN_FOREIGN_MAGIC_BYTES]; /* how its files begin, which no text does */
  size_t magic_bytes;
  const char *advice; /* "is a ... file: ..."; FILE stands for its name */
};

/* Format 'i' < GPNN_FOREIGN_FORMATS; static. */
const struct gpnn_foreign *gpnn_foreign(size_t i);

#endif
