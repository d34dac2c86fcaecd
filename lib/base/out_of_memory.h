/*
 * out_of_memory: a last message when a C++ library runs out of memory and cannot return an error.
 *
 * C++ code that cannot allocate throws std::bad_alloc.  Where no caller can catch it, in one of the
 * library's own threads or before main(), the process ends with SIGABRT and without a message.
 */
#ifndef GPNN_BASE_OUT_OF_MEMORY_H
#define GPNN_BASE_OUT_OF_MEMORY_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Has 'handler' called when an uncaught std::bad_alloc is about to end the process.  It may be
 * called in any thread, and should write its message and end the process itself; if it returns, and
 * for any other uncaught exception, the process ends as it would have done.
 *
 * A program calls this once, before the constructors of such libraries run if it can.
 */
void gpnn_out_of_memory_call(void (*handler)(void));

#ifdef __cplusplus
}
#endif

#endif
