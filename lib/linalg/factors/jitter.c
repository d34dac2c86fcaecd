#include "linalg/factors/jitter.h"

#include <math.h>

void gpnn_jitter_note(struct gpnn_jitter *to, size_t n, double jitter)
{
  to->n += n;
  to->most = fmax(to->most, jitter);
}
