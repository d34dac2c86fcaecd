/*
 * blas_threads: keeps the BLAS to the thread that calls it, and within the memory that there is.
 */
#ifndef GPNN_LINALG_BLAS_THREADS_H
#define GPNN_LINALG_BLAS_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Restricts the BLAS and its LAPACK to the calling thread.  A program calls it once, before
 * anything else of the library: our threads each factor their own small matrices, and sums must not
 * depend on how a BLAS would have divided them.
 */
void gpnn_blas_single_thread(void);

/*
 * Reserves the address space that OpenBLAS needs for each thread that is inside it at the same
 * time, and returns for how many of 'threads' there was room: all of them, unless the process has a
 * limit (ulimit -v), and never more than 'threads'.  If there is no room, OpenBLAS tries for ever.
 * So whoever is about to pass it matrices asks here first, uses no more threads than this returns,
 * and fails at 0: gpnn_fail_memory(err, GPNN_BLAS_ROOM).
 */
int gpnn_blas_claim(int threads);

#define GPNN_BLAS_ROOM "for OpenBLAS: it takes 128 MiB of address space for each thread"

/* What the BLAS says about itself: name, version, kernels in use.  Static text. */
const char *gpnn_blas_version(void);

#ifdef __cplusplus
}
#endif

#endif
