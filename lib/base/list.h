/*
 * list: texts of several items with commas between them.
 *
 *   const char *item, *rest = "2,,x";
 *   size_t length;
 *   while ((item = gpnn_list_next(&rest, &length)) != NULL) ...  -- "2", "" and "x"
 *
 * Threads: no shared state.
 */
#ifndef GPNN_BASE_LIST_H
#define GPNN_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* The next item, of '*length' bytes, which may be 0; '*rest' becomes what follows its comma, or
 * NULL after the last item.  NULL if '*rest' is.  So the empty text is a list of one item. */
const char *gpnn_list_next(const char **rest, size_t *length);

/* True if item[length] is among the items of 'list', which may be NULL for none. */
bool gpnn_list_has(const char *list, const char *item, size_t length);

/* Reads a list of exactly two numbers; false if it is anything else. */
bool gpnn_list_read_pair(const char *list, double pair[2]);

#endif
