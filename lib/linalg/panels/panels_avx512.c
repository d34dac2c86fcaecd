/* Loops over panels for x86-64 with AVX-512 (F, DQ, VL); the compiler's flags are in the
 * Makefile. */
#if defined(__x86_64__)
#define SET avx512
#define DOUBLES 8
#define AVX 512
#define BLOCK 8
#define TALL 3
#define SHALLOW 512
#define DEPTH 128
#include "linalg/panels/panels_set_private.h"
#else
typedef int gpnn_panels_avx512_is_empty;
#endif
