/*
 * status: the outcome of a call, and the message that says why it failed.
 *
 * Every function of the library that can fail returns an enum gpnn_status and takes a struct
 * gpnn_error as its last argument.  The layer that knows what went wrong writes the message with
 * gpnn_fail(); layers above may put context in front of it with gpnn_prefix(), but never replace
 * it.  The library itself prints nothing.
 *
 * Messages are lower-case fragments without a full stop, for instance
 *   train.csv:17: column 'lat': not a number: "abc"
 * Bytes from outside (file names, cells of tables) go through gpnn_mask() before they enter one.
 *
 * Threads: no shared state; a struct gpnn_error belongs to one caller.
 */
#ifndef GPNN_BASE_STATUS_H
#define GPNN_BASE_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPNN_MUST_CHECK __attribute__((warn_unused_result))
#define GPNN_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/* Named after what the caller can do about it.  Numbers are never reused. */
enum gpnn_status {
  GPNN_OK = 0,
  GPNN_END = 1,        /* the end of a stream; not a failure */
  GPNN_ENOMEM = 2,     /* not enough memory */
  GPNN_EIO = 3,        /* the system refused: open, read, write, rename ... */
  GPNN_EDATA = 4,      /* a bad row of a table, or a bad parameter; reading can go on */
  GPNN_EFORMAT = 5,    /* not one of our files, damaged or truncated; reading cannot go on */
  GPNN_EVERSION = 6,   /* one of our files, in a version that this library cannot read */
  GPNN_EMISMATCH = 7,  /* two things that do not belong together, as an index and parameters */
  GPNN_ENUMERIC = 8,   /* not positive definite, no convergence, not finite */
  GPNN_EINVAL = 9,     /* an argument that is not allowed, or names what is not there: the fault is
                          the caller's, of a tool the command line's, not that of a file */
  GPNN_EEXTERNAL = 10, /* a library we depend on failed */
  GPNN_ELIMIT = 11,    /* the work is done, but what came of it is beyond a limit that was set */
};

enum { GPNN_ERROR_BYTES = 600, GPNN_MASK_BYTES = 64 };

struct gpnn_error {
  enum gpnn_status status;
  char text[GPNN_ERROR_BYTES]; /* NUL-terminated; empty while status is GPNN_OK */
  /* If a cell of a table is bad: what is wrong with it (static text; NULL for any other failure),
   * and the column it is in, from 0. */
  const char *what;
  size_t column;
};

/*
 * Writes the message 'format' (as for printf) into 'err', which may be NULL, and returns 'status',
 * so that failing is one statement: return gpnn_fail(err, GPNN_EDATA, "...", ...).  A message that
 * is too long is cut.
 */
GPNN_PRINTF(3, 4)
enum gpnn_status gpnn_fail(struct gpnn_error *err, enum gpnn_status status, const char *format,
                           ...);

/* The same for a failed system call: appends ": " and the system's text for the error number
 * 'errnum', which is never cut.  Returns GPNN_ENOMEM if 'errnum' is ENOMEM, and else GPNN_EIO. */
GPNN_PRINTF(3, 4)
enum gpnn_status gpnn_fail_errno(struct gpnn_error *err, int errnum, const char *format, ...);

/* Returns GPNN_ENOMEM with "not enough memory" and 'what' it was needed for ("for a table"). */
enum gpnn_status gpnn_fail_memory(struct gpnn_error *err, const char *what);

/* Puts 'format' and ": " in front of the message in 'err' (which may be NULL), and returns
 * 'status', which should be that of the failure it is about. */
GPNN_PRINTF(3, 4)
enum gpnn_status gpnn_prefix(struct gpnn_error *err, enum gpnn_status status, const char *format,
                             ...);

/*
 * Copies 'n_bytes' bytes from outside into 'out' so that they are safe to show: control characters,
 * invisible ones and malformed UTF-8 become '?', and what does not fit is cut and marked with
 * "...".  'out' ends with a NUL.  Returns 'out'.
 */
const char *gpnn_mask(char out[GPNN_MASK_BYTES], const char *bytes, size_t n_bytes);

/* The length of the well-formed UTF-8 character at the beginning of the 'n' bytes, or 0. */
size_t gpnn_utf8_length(const char *bytes, size_t n);

/* Does the same as gpnn_mask() to all of 'text', in place and without cutting it, except that the
 * control characters in 'kept' (which may be "") stay. */
void gpnn_mask_all(char *text, const char *kept);

#ifdef __cplusplus
}
#endif

#endif
