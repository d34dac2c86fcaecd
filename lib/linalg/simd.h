/*
 * simd: functions compiled for several instruction sets, of which the best is chosen at run time.
 *
 * A function marked GPNN_SIMD is compiled once for each instruction set below, and the dynamic
 * linker picks the best one that the processor has; its loops carry "#pragma omp simd".  The mark
 * is empty, and the function compiled once, without GNU libc's support, under the sanitizers (which
 * run before the choice is made), and if the compiler's flags ask for the widest vectors anyway.
 * The loops of linalg/panels/panels.h are written for each instruction set instead, and
 * linalg/panels/panels.c chooses between them.
 *
 * exp(), log() and cos() are declared to have vector versions, those of GNU libc's libmvec, which
 * math.h itself declares only under -ffast-math.  They are accurate to 4 units in the last place.
 * Vectorising them needs -fno-math-errno.
 */
#ifndef GPNN_LINALG_SIMD_H
#define GPNN_LINALG_SIMD_H

#include <math.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(GPNN_SANITIZE)
#if defined(__AVX512F__)
#define GPNN_SIMD
#else
#define GPNN_SIMD __attribute__((target_clones("avx512f", "arch=x86-64-v3", "default")))
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
