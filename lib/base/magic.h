/*
 * magic: the bytes that every binary file of the toolkit begins with.
 */
#ifndef GPNN_BASE_MAGIC_H
#define GPNN_BASE_MAGIC_H

/* Outside ASCII, then CR LF, ctrl-Z and NUL, so that transfer as text is noticed. */
#define GPNN_MAGIC "\x89GPI\r\n\x1a"
enum { GPNN_MAGIC_BYTES = 8 };

#endif
