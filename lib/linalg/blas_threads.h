/*
 * blas_threads: the BLAS kept to the thread that calls it, and to the memory there is.
 */
#ifndef GPNN_LINALG_BLAS_THREADS_H
#define GPNN_LINALG_BLAS_THREADS_H

/*
 * Keeps the BLAS and its LAPACK to the calling thread.  A program calls it once before it
 * uses the library: many threads each factor their own small matrix, and sums must not
 * depend on how a BLAS would have shared them out.
 */
void gpnn_blas_single_thread(void);

/*
 * Takes the address space that OpenBLAS wants for each thread that is in it, and returns for how
 * many of 'threads' there was room: 'threads', unless the process has a limit (ulimit -v).  Where
 * there is no room OpenBLAS looks for it for ever, so whoever is to call it with matrices asks here
 * before, and gives up at 0.
 */
int gpnn_blas_claim(int threads);

/* What is missing at 0, for gpnn_fail_memory(). */
#define GPNN_BLAS_ROOM "for OpenBLAS: it takes 128 MiB of address space for each thread"

/* What the BLAS says of itself: name, version, kernels in use.  Static text. */
const char *gpnn_blas_version(void);

#endif
