/*
 * compare: comparison functions for qsort(), bsearch() and tsearch(), and sorting and searching
 * numbers.
 *
 * Each takes pointers to two elements and returns a negative number if the first comes before the
 * second, a positive one if it comes after, and 0 if they are equal.  An element may also be a
 * structure whose first member is the value to sort by.  An order by several members is composed of
 * these functions, one member after another:
 *
 *   int order = gpnn_compare_doubles(&p->key, &q->key);
 *   return order != 0 ? order : gpnn_compare_int64s(&p->row, &q->row);
 *
 * qsort() leaves equal elements in any order, so an order that results depend on needs a member
 * that settles every tie.
 */
#ifndef GPNN_BASE_COMPARE_H
#define GPNN_BASE_COMPARE_H

#include <stddef.h>

/* Ascending; -0 equals 0, and a NaN comes after every number and equals any other NaN, so that the
 * order is a total one whatever the values are. */
int gpnn_compare_doubles(const void *a, const void *b);

/* int64_t, uint64_t and size_t, ascending. */
int gpnn_compare_int64s(const void *a, const void *b);
int gpnn_compare_uint64s(const void *a, const void *b);
int gpnn_compare_sizes(const void *a, const void *b);

/* Elements are pointers to NUL-terminated strings (const char *), which are compared byte by byte,
 * as strcmp() does.  None is NULL. */
int gpnn_compare_strings(const void *a, const void *b);

/* What qsort() makes of 'n' numbers by gpnn_compare_doubles(), in a fraction of its time if they
 * are hundreds or more and there is memory for two copies of them. */
void gpnn_sort_doubles(size_t n, double *values);

/* The number i <= n - 2 of the segment from rising[i] to rising[i + 1] that 'x' is in; outside all
 * of them, of the first or the last.  n >= 2. */
size_t gpnn_find_segment(size_t n, const double *rising, double x);

#endif
