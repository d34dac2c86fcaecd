/*
 * pages: letting parts of a mapped file go.
 *
 * What a process has touched of a mapped file counts as memory it uses until the system takes it
 * away.  Who goes through a large file once can give it back on the way.
 */
#ifndef GPNN_BASE_PAGES_H
#define GPNN_BASE_PAGES_H

#include <stddef.h>

/*
 * Lets the whole pages within 'length' bytes from 'bytes' go, which must belong to a read-only
 * shared mapping of a file: touched again, they are as they were.
 */
void gpnn_pages_release(const void *bytes, size_t length);

/* Bytes after which one who goes through a mapping may let them go: calls cost little then. */
enum { GPNN_PAGES_STRIDE = 1 << 24 };

#endif
