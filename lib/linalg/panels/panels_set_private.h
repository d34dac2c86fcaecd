/*
 * panels_set: all loops over panels for one instruction set, made from the templates.
 *
 * Included by lib/linalg/panels/panels_SET.c, which defines
 *   SET              the set's name
 *   DOUBLES          doubles in a vector
 *   AVX              256 or 512 if intrinsics for vectors of so many bits may be used, else 0,
 *                    whatever else the compiler's flags allow
 *   BLOCK            columns in a block, a divisor of DOUBLES greater than 1
 *   TALL             panels in a tile, such that TALL * BLOCK vectors and a few more fit into the
 *                    registers
 *   SHALLOW, DEPTH   matrices of order up to SHALLOW are factored in one go, others DEPTH columns
 * at a time, as suits the cache; multiples of 16 and is compiled with the set's flags.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "linalg/panels/panels.h"

/* A loop over [begin, end), which are constants, that the compiler must unroll, as only then the
 * vectors of a tile stay in registers. */
#if defined(__clang__)
#define EACH(i, begin, end) \
  _Pragma("clang loop unroll(full)") for (size_t i = (begin); i < (end); i++)
#else
#define EACH(i, begin, end) _Pragma("GCC unroll 16") for (size_t i = (begin); i < (end); i++)
#endif
#define INLINE static inline __attribute__((always_inline))

#define REAL double
#define ROOT sqrt
#define LARGEST DBL_MAX
#define NAME(x) x##_double
#define LANES DOUBLES
#include "linalg/panels/panels_factor_private.h"
#include "linalg/panels/panels_invert_private.h"
#include "linalg/panels/panels_kernel_private.h"
#undef REAL
#undef ROOT
#undef LARGEST
#undef NAME
#undef LANES

#define REAL float
#define ROOT sqrtf
#define LARGEST FLT_MAX
#define NAME(x) x##_float
#define LANES (2 * DOUBLES)
#include "linalg/panels/panels_factor_private.h"
#include "linalg/panels/panels_mixed_private.h"

#define PASTE(a, b) a##b
#define SET_OF(name) PASTE(gpnn_panels_, name)
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

const struct gpnn_panel_set SET_OF(SET) = {.name = TEXT(SET),
                                           .lanes = DOUBLES,
                                           .factor = factor_double,
                                           .factor_float = factor_float,
                                           .pack = pack,
                                           .unpack = unpack,
                                           .solve = solve,
                                           .invert = invert,
                                           .fill = fill,
                                           .correlate = correlate,
                                           .distances = distances,
                                           .weigh = weigh,
                                           .least = least,
                                           .squares = squares_double,
                                           .squares_float = squares_float,
                                           .narrow = narrow,
                                           .forward = forward,
                                           .backward = backward,
                                           .subtract_product = subtract_product};
