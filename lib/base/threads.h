/*
 * threads: how many, and the BLAS kept to one inside ours.
 *
 * Work is shared out over rows with OpenMP; the number of threads is an argument of every
 * function that uses them, and no result depends on it.
 */
#ifndef GPNN_BASE_THREADS_H
#define GPNN_BASE_THREADS_H

#include <stddef.h>

/* The number of processors this process may use, at least 1. */
int gpnn_threads_available(void);

/*
 * How many of 'threads' to share 'n' pieces of work between: no more than there are pieces, and at
 * least 1.  To wake a thread that finds nothing to do takes longer than to predict a row.
 */
int gpnn_threads_for(int threads, size_t n);

/*
 * Keeps the BLAS and its LAPACK to the calling thread.  A program calls it once before it
 * uses the library: many threads each factor their own small matrix, and sums must not
 * depend on how a BLAS would have shared them out.
 */
void gpnn_threads_single_blas(void);

/*
 * Takes the address space that OpenBLAS wants for each thread that is in it, and returns for how
 * many of 'threads' there was room: 'threads', unless the process has a limit (ulimit -v).  Where
 * there is no room OpenBLAS looks for it for ever, so whoever is to call it with matrices asks here
 * before, and gives up at 0.
 */
int gpnn_threads_claim_blas(int threads);

/* What is missing at 0, for gpnn_fail_memory(). */
#define GPNN_THREADS_BLAS_ROOM "for OpenBLAS: it takes 128 MiB of address space for each thread"

/* What the BLAS says of itself: name, version, kernels in use.  Static text. */
const char *gpnn_threads_blas(void);

#endif
