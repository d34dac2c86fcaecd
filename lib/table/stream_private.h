/*
 * stream_private: what stream.c, which reads, and stream_output.c, which writes, share.
 */
#ifndef GPNN_TABLE_STREAM_PRIVATE_H
#define GPNN_TABLE_STREAM_PRIVATE_H

/* A copy of what messages call 'path', for the caller to free(): 'standard' if it is "-".  NULL:
 * there is no memory. */
char *gpnn_stream_name(const char *path, const char *standard);

/* open(), started again when a signal interrupts it; the descriptor is closed by exec(), and a
 * terminal does not become ours. */
int gpnn_stream_open(const char *path, int flags);

#endif
