#include "models/mixture.h"

/* Writes the weighted mean of the members' arrays, each of which is at 'offset' in its struct
 * gpnn_latent. */
static void average(size_t n_members, const double *weight, const struct gpnn_latent *members,
                    size_t offset, size_t n, const struct gpnn_latent *mixture)
{
  double *out = *(double *const *)((const char *)mixture + offset);
  for (size_t i = 0; i < n && out != NULL; i++) {
    double sum = 0;
    for (size_t k = 0; k < n_members; k++) {
      const double *in = *(double *const *)((const char *)&members[k] + offset);
      sum += weight[k] * in[i];
    }
    out[i] = sum;
  }
}

/* The variance of the members' means. */
static double disagreement(size_t n_members, const double *weight,
                           const struct gpnn_latent *members, size_t i)
{
  double mean = 0, sum = 0;
  for (size_t k = 0; k < n_members; k++) mean += weight[k] * members[k].mean[i];
  for (size_t k = 0; k < n_members; k++) {
    double off = members[k].mean[i] - mean;
    sum += weight[k] * off * off;
  }
  return sum;
}

void gpnn_mixture_combine(size_t n_members, const double *weight, const struct gpnn_latent *members,
                          size_t n, const struct gpnn_latent *mixture)
{
  static const size_t offsets[] = {
      offsetof(struct gpnn_latent, mean),          offsetof(struct gpnn_latent, variance),
      offsetof(struct gpnn_latent, mean_variance), offsetof(struct gpnn_latent, misfit),
      offsetof(struct gpnn_latent, nearest),       offsetof(struct gpnn_latent, share)};
  for (size_t a = 0; a < sizeof offsets / sizeof *offsets; a++)
    average(n_members, weight, members, offsets[a], n, mixture);
  for (size_t i = 0; i < n && mixture->variance != NULL; i++)
    mixture->variance[i] += disagreement(n_members, weight, members, i);
}
