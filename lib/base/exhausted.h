/*
 * exhausted: the last word where a foreign library runs out of memory and cannot say so.
 *
 * C++ code that gets no memory throws an exception, which ends the process with SIGABRT where
 * nobody can catch it: in a thread of the library's own, or before main().
 */
#ifndef GPNN_BASE_EXHAUSTED_H
#define GPNN_BASE_EXHAUSTED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Has 'tell' called in that case; it may be by any thread, and should end the process.  Whatever
 * else is not caught ends as it did. */
void gpnn_exhausted_watch(void (*tell)(void));

#ifdef __cplusplus
}
#endif

#endif
