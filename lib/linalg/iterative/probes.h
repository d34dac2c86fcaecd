/*
 * probes: random vectors with mean 0 and covariance I, by which traces are estimated.
 *
 * They are written as a block of linalg/iterative/cg.h.  Probe 'first' + j, which becomes column j,
 * depends on the seed and its number alone, and has its numbers in the order of its elements; so
 * neither the block that it is in nor the number of threads nor holes change it.
 */
#ifndef GPNN_LINALG_PROBES_H
#define GPNN_LINALG_PROBES_H

#include <stddef.h>
#include <stdint.h>

enum gpnn_probes_kind {
  GPNN_PROBES_SIGNS = 0,   /* -1 or 1 (Rademacher): the least variance where only the matrix matters
                            */
  GPNN_PROBES_NORMALS = 1, /* standard normal deviates */
};

/* Writes probes 'first' to first + columns - 1 to 'z', with 0 where 'present' (outer * inner
 * numbers; NULL: everything is) is 0. */
void gpnn_probes_draw(enum gpnn_probes_kind kind, uint64_t seed, uint64_t first, size_t outer,
                      size_t columns, size_t inner, const double *present, int threads, double *z);

#endif
