/* How many candidates there can be: what choose.c and choose_exact.c may try. */
#include "estimate/choose.h"

size_t gpnn_choose_most(const struct gpnn_dataset *dataset,
                        const struct gpnn_choose_options *options)
{
  enum { KERNELS = 4, NUMBERS_K = 3, ROTATIONS = 3, HARDER = 2, WIDER = 3, COMPARED = 2 };
  size_t kernels = options->kernel ? KERNELS : 1, most = kernels;
  bool is_sampled = options->sample_rows > 0 && dataset->n > options->sample_rows;
  size_t n = is_sampled ? options->sample_rows : dataset->n;
  bool is_open = options->kernel || options->ard || options->neighbours || options->k;
  if (!is_open && !options->rotation) return 0;
  if (options->neighbours) most += COMPARED;
  if (n < dataset->n) most += WIDER;
  if (options->effort == GPNN_EFFORT_FAST) return most + (options->ard ? kernels : 0);
  if (n <= GPNN_CHOOSE_EXACT) most += kernels;
  if (options->k) most += NUMBERS_K;
  if (options->ard) most++;
  if (options->rotation) most += ROTATIONS;
  return options->effort == GPNN_EFFORT_THOROUGH ? most + HARDER : most;
}
