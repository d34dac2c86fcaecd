/* Loops over panels for x86-64 with AVX2 and FMA; the compiler's flags are in the Makefile. */
#if defined(__x86_64__)
#define SET avx2
#define DOUBLES 4
#define AVX 256
#define BLOCK 4
#define TALL 3
#define SHALLOW 128
#define DEPTH 64
#include "linalg/panels/panels_set_private.h"
#else
typedef int gpnn_panels_avx2_is_empty;
#endif
