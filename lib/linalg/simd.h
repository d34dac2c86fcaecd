/*
 * simd: one source for a loop, the processor's widest vectors at run time.
 *
 * A function marked GPNN_SIMD is compiled once for each instruction set below and the
 * dynamic linker picks the best one the processor has; its loops carry "#pragma omp simd".
 * Without GNU libc's support (or under the sanitizers, which run before its choice is made), and
 * where the compiler's flags ask for the widest vectors anyway, the mark is empty and the same
 * source is compiled once.
 *
 * exp(), log() and cos() are declared to have the vector forms of GNU libc's libmvec, which math.h
 * itself does only under -ffast-math.  They are within 4 units in the last place.  Vectorising them
 * takes -fno-math-errno.
 */
#ifndef GPNN_LINALG_SIMD_H
#define GPNN_LINALG_SIMD_H

#include <math.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(GPNN_SANITIZE)
#if defined(__AVX512F__)
#define GPNN_SIMD
#else
#define GPNN_SIMD __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#endif
#pragma omp declare simd notinbranch
extern double exp(double);
#pragma omp declare simd notinbranch
extern double log(double);
#pragma omp declare simd notinbranch
extern double cos(double);
#else
#define GPNN_SIMD
#endif

#endif
