/* Loops over panels for any processor, using vectors of 16 bytes (SSE2, NEON) where it has them. */
#define SET portable
#define DOUBLES 2
#define AVX 0
#define BLOCK 2
#define TALL 4
#define SHALLOW 128
#define DEPTH 64
#include "linalg/panels/panels_set_private.h"
