/*
 * estimation: how parameters were estimated.  It is recorded with them, so that they can be
 * estimated again in the same way but from other rows (gpnn_channels_refit() of models/model.h).
 */
#ifndef GPNN_KERNEL_ESTIMATION_H
#define GPNN_KERNEL_ESTIMATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* estimate/fit.h has the formulas. */
enum gpnn_objective_kind {
  GPNN_OBJECTIVE_NONE = 0,
  GPNN_OBJECTIVE_BLOCK,
  GPNN_OBJECTIVE_LOO,
  GPNN_OBJECTIVE_MLL_K,
  GPNN_OBJECTIVE_VECCHIA,
  GPNN_OBJECTIVE_LABELS,
};

/* The options that parameters were estimated under; zeroed: not known. */
struct gpnn_estimation {
  enum gpnn_objective_kind objective; /* the last one minimised; NONE: not known */
  size_t n_blocks, block_size;        /* of the objective of blocks */
  size_t k, steps;                    /* of the others: neighbours of a row, steps of adam */
  uint64_t seed;
  bool has_thin;
  double thin;                            /* rows within this distance were no neighbours */
  bool learnt_rotation;                   /* false: there is none, or it was given */
  bool shared_lengthscales, shared_ratio; /* with the other targets */
  bool fixed_lengthscale, fixed_kernelscale, fixed_noise; /* given, not estimated */
};

/* "none", "block", "loo", "mll-k", "vecchia" or "labels". */
const char *gpnn_objective_name(enum gpnn_objective_kind kind);

#ifdef __cplusplus
}
#endif

#endif
