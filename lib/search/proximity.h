/*
 * proximity: an order of rows in which rows that follow each other lie close together.
 *
 * The rows are halved at the median of their widest coordinate, and so are the halves, down to
 * single rows.  Ties are broken by row number, so the order depends on nothing else.
 */
#ifndef GPNN_SEARCH_PROXIMITY_H
#define GPNN_SEARCH_PROXIMITY_H

#include <stddef.h>

/* Writes the numbers of the 'n' rows of 'z' (n by d, row-major), 0 to n - 1, to 'order' (n).  Takes
 * O(n d log n) operations and no memory.  n may be 0. */
void gpnn_proximity_order(size_t n, size_t d, const double *z, size_t *order);

#endif
