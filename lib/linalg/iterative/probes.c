#include "linalg/iterative/probes.h"

#include "base/rng.h"
#include "base/threads.h"

/* Deviates that are drawn together; a multiple of the bits of a word, and even. */
enum { CHUNK = 64 };

struct draw {
  enum gpnn_probes_kind kind;
  uint64_t seed, first;
  size_t outer, columns, inner;
  const double *present;
  double *z;
};

static void draw_some(enum gpnn_probes_kind kind, struct gpnn_rng *rng, double some[CHUNK])
{
  if (kind == GPNN_PROBES_NORMALS) {
    gpnn_rng_normals(rng, CHUNK, some);
    return;
  }
  uint64_t word = gpnn_rng_next(rng);
  for (size_t i = 0; i < CHUNK; i++) some[i] = word >> i & 1 ? 1 : -1;
}

static void draw_probe(void *context, size_t thread, size_t column)
{
  (void)thread;
  const struct draw *d = context;
  struct gpnn_rng rng;
  double some[CHUNK];
  gpnn_rng_init_at(&rng, d->seed, GPNN_RNG_PROBES, d->first + column);
  for (size_t o = 0, e = 0; o < d->outer; o++) {
    double *z = d->z + (o * d->columns + column) * d->inner;
    for (size_t i = 0; i < d->inner; i++, e++) {
      if (e % CHUNK == 0) draw_some(d->kind, &rng, some);
      z[i] = d->present == NULL || d->present[e] != 0 ? some[e % CHUNK] : 0;
    }
  }
}

void gpnn_probes_draw(enum gpnn_probes_kind kind, uint64_t seed, uint64_t first, size_t outer,
                      size_t columns, size_t inner, const double *present, int threads, double *z)
{
  struct draw d = {kind, seed, first, outer, columns, inner, present, z};
  gpnn_threads_each(threads, columns, 1, draw_probe, &d);
}
