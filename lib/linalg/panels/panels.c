/* Chooses the loops for the best instruction set that the processor has. */
#include "linalg/panels/panels.h"

static bool can_run(const struct gpnn_panel_set *set)
{
#if defined(__x86_64__)
  if (set == &gpnn_panels_avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (set == &gpnn_panels_avx2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return set == &gpnn_panels_portable;
}

const struct gpnn_panel_set *gpnn_panels_at(size_t i)
{
  static const struct gpnn_panel_set *const sets[] = {
#if defined(__x86_64__)
    &gpnn_panels_avx512,
    &gpnn_panels_avx2,
#endif
    &gpnn_panels_portable
  };
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
    if (can_run(sets[k]) && i-- == 0) return sets[k];
  return NULL;
}

const struct gpnn_panel_set *gpnn_panels_best(void)
{
  return gpnn_panels_at(0);
}
