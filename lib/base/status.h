/*
 * status: what a call came to, and the sentence that says why.
 *
 * Every function of the library that can fail returns an enum gpnn_status and takes a
 * struct gpnn_error as its last argument.  The layer that knows the fact writes the
 * sentence with gpnn_fail(); layers above may put context before it with gpnn_prefix()
 * but never replace it.  The library itself prints nothing.
 *
 * Sentences are lower-case fragments without a full stop, for instance
 *   train.csv:17: column 'lat': not a number: "abc"
 * Bytes that came from outside go through gpnn_mask() before they enter a sentence.
 *
 * Threads: no shared state; a gpnn_error belongs to one caller.
 */
#ifndef GPNN_BASE_STATUS_H
#define GPNN_BASE_STATUS_H

#include <stddef.h>

#define GPNN_MUST_CHECK __attribute__((warn_unused_result))
#define GPNN_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/* Named by what the caller could do about it.  Numbers are never reused. */
enum gpnn_status {
  GPNN_OK = 0,
  GPNN_END = 1,        /* the stream is exhausted: not a failure */
  GPNN_ENOMEM = 2,     /* not enough memory */
  GPNN_EIO = 3,        /* the system refused: open, read, write, rename ... */
  GPNN_EDATA = 4,      /* a malformed table row or parameter; the stream can go on */
  GPNN_EFORMAT = 5,    /* not our file, damaged or truncated; the stream cannot go on */
  GPNN_EVERSION = 6,   /* our file, of a version this library does not read */
  GPNN_EMISMATCH = 7,  /* two things that do not belong together */
  GPNN_ENUMERIC = 8,   /* not positive definite, no convergence, not finite */
  GPNN_EINVAL = 9,     /* what the caller asked for is not allowed or not there: the fault is in the
                          arguments, a tool's command line, not in what files contain */
  GPNN_EEXTERNAL = 10, /* a library we depend on failed */
};

enum { GPNN_ERROR_BYTES = 600, GPNN_MASK_BYTES = 64 };

struct gpnn_error {
  enum gpnn_status status;
  char text[GPNN_ERROR_BYTES]; /* NUL-terminated; empty while status is GPNN_OK */
  /* About a bad field in a row of a table: what is wrong with it (static text, else NULL), and the
   * column that it is in. */
  const char *what;
  size_t column;
};

/*
 * Writes the sentence 'format' into 'err' (which may be NULL) and returns 'status', so
 * that a failure is one statement: return gpnn_fail(err, GPNN_EDATA, "...", ...).
 */
GPNN_PRINTF(3, 4)
enum gpnn_status gpnn_fail(struct gpnn_error *err, enum gpnn_status status, const char *format,
                           ...);

/* The same for a failed system call: appends ": " and the text of 'errnum'; status GPNN_EIO,
 * or GPNN_ENOMEM when 'errnum' is ENOMEM. */
GPNN_PRINTF(3, 4)
enum gpnn_status gpnn_fail_errno(struct gpnn_error *err, int errnum, const char *format, ...);

/* Out of memory while doing 'what' (a short noun phrase: "reading the table"). */
enum gpnn_status gpnn_fail_memory(struct gpnn_error *err, const char *what);

/* Puts "context: " before the sentence in 'err' (which may be NULL) and returns 'status', that
 * of the failure the sentence is about. */
GPNN_PRINTF(3, 4)
enum gpnn_status gpnn_prefix(struct gpnn_error *err, enum gpnn_status status, const char *format,
                             ...);

/*
 * Copies 'n_bytes' bytes from outside into 'out' so that they can be shown: control bytes
 * and malformed UTF-8 become '?', and what does not fit is cut and marked with "...".
 * 'out' has GPNN_MASK_BYTES bytes and ends NUL-terminated.  Returns 'out'.
 */
const char *gpnn_mask(char out[GPNN_MASK_BYTES], const char *bytes, size_t n_bytes);

/* Length of the well-formed UTF-8 character that the 'n' bytes begin with, or 0. */
size_t gpnn_utf8_length(const char *bytes, size_t n);

/* The same as gpnn_mask() for the whole of 'text', in place, but for the control bytes of 'kept',
 * which may be
 * "". */
void gpnn_mask_all(char *text, const char *kept);

#endif
