/*
 * arrays: several arrays that are made together and freed together.
 *
 *   w->arrays = GPNN_ARRAYS(GPNN_ARRAY(w->x, n, d), GPNN_ARRAY(w->row, n, 1));
 *   if (w->arrays == NULL) return gpnn_fail_memory(err, "for the rows");
 *   ...
 *   gpnn_arrays_free(w->arrays);
 *
 * Threads: no shared state.
 */
#ifndef GPNN_LINALG_ARRAYS_H
#define GPNN_LINALG_ARRAYS_H

#include <stddef.h>

/* A pointer of any type, as GPNN_ARRAY() describes it, and what it is to point to. */
struct gpnn_array {
  void *at;                /* the pointer's own address */
  size_t n, m, item_bytes; /* of 0 bytes: it stays as it is */
};

/* An array of n times m items for 'pointer', all bytes zero. */
#define GPNN_ARRAY(pointer, n, m)       \
  {                                     \
    &(pointer), n, m, sizeof *(pointer) \
  }

/* The same if 'is_wanted'; otherwise the pointer stays as it is. */
#define GPNN_ARRAY_IF(is_wanted, pointer, n, m)           \
  {                                                       \
    &(pointer), n, m, (is_wanted) ? sizeof *(pointer) : 0 \
  }

/* What owns them. */
struct gpnn_arrays;

/* Makes all arrays and sets their pointers; NULL: there is not enough memory, and the pointers are
 * as they were. */
struct gpnn_arrays *gpnn_arrays_new(size_t n, const struct gpnn_array *array);

#define GPNN_ARRAYS(...)                                                                        \
  gpnn_arrays_new(sizeof((const struct gpnn_array[]){__VA_ARGS__}) / sizeof(struct gpnn_array), \
                  (const struct gpnn_array[]){__VA_ARGS__})

/* Frees all of them.  NULL is allowed. */
void gpnn_arrays_free(struct gpnn_arrays *arrays);

#endif
