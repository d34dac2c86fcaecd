/*
 * pages: letting parts of a mapped file go.
 *
 * What a process has touched of a mapped file counts as memory it uses until the system takes it
 * away.  Who goes through a large file once can give it back on the way.
 */
#ifndef GPNN_BASE_PAGES_H
#define GPNN_BASE_PAGES_H

#include <stddef.h>

/* A read-only shared mapping of a file; a zeroed object is none. */
struct gpnn_pages {
  const void *start;
  size_t length; /* bytes */
};

/*
 * Lets the whole pages within 'length' bytes from 'bytes' go: touched again, they are as they were.
 * Does nothing unless 'pages' has all these bytes, so that memory of another kind is safe.
 */
void gpnn_pages_release(struct gpnn_pages pages, const void *bytes, size_t length);

/* Bytes after which one who goes through a mapping may let them go: calls cost little then. */
enum { GPNN_PAGES_STRIDE = 1 << 24 };

#endif
