/* Parameters: what is read, written and read again is the same. */
#include <string.h>

#include "fuzz.h"
#include "kernel/parameters.h"

static char *write_all(const struct gpnn_params *params, size_t n, size_t *length)
{
  struct gpnn_error err = {0};
  struct gpnn_output *output;
  FUZZ_EXPECT(gpnn_output_open(&output, fuzz_sink(), &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_params_write_all(params, n, output, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_output_close(output, &err) == GPNN_OK);
  return fuzz_drain(length);
}

static void check_values(const struct gpnn_params *params)
{
  FUZZ_EXPECT(params->kernel != NULL && params->n_lengthscales > 0);
  for (size_t j = 0; j < params->n_lengthscales; j++) FUZZ_EXPECT(params->lengthscale[j] > 0);
  FUZZ_EXPECT(params->kernelscale > 0 && params->noise >= 0 && params->neighbours > 0);
  FUZZ_EXPECT(params->degrees == 0 || params->degrees > 2);
  for (size_t i = 0; i < params->n_conformal; i++)
    FUZZ_EXPECT(params->conformal_level[i] > 0 && params->conformal_level[i] < 1);
}

static bool same_numbers(size_t n, const double *a, const double *b)
{
  if (a == NULL || b == NULL) return a == b;
  return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static void check_same(const struct gpnn_params *a, const struct gpnn_params *b)
{
  FUZZ_EXPECT((a->target == NULL) == (b->target == NULL));
  if (a->target != NULL) FUZZ_EXPECT(strcmp(a->target, b->target) == 0);
  FUZZ_EXPECT(a->kernel == b->kernel && a->smoothness == b->smoothness);
  FUZZ_EXPECT(a->n_rotation == b->n_rotation && a->n_lengthscales == b->n_lengthscales);
  FUZZ_EXPECT(same_numbers(a->n_rotation, a->rotation, b->rotation));
  FUZZ_EXPECT(same_numbers(a->n_lengthscales, a->lengthscale, b->lengthscale));
  FUZZ_EXPECT(a->kernelscale == b->kernelscale && a->noise == b->noise);
  FUZZ_EXPECT(a->mean == b->mean && a->n_coefficients == b->n_coefficients);
  FUZZ_EXPECT(same_numbers(a->n_coefficients, a->coefficients, b->coefficients));
  FUZZ_EXPECT(same_numbers(a->n_coefficients * a->n_coefficients, a->covariance, b->covariance));
  FUZZ_EXPECT(a->degrees == b->degrees && a->neighbours == b->neighbours);
  FUZZ_EXPECT(a->has_calibration == b->has_calibration && a->calibration == b->calibration);
  FUZZ_EXPECT(a->n_conformal == b->n_conformal);
  FUZZ_EXPECT(same_numbers(a->n_conformal, a->conformal_level, b->conformal_level));
  FUZZ_EXPECT(same_numbers(a->n_conformal, a->conformal_width, b->conformal_width));
  FUZZ_EXPECT(a->has_distance == b->has_distance);
  FUZZ_EXPECT(same_numbers(GPNN_N_DISTANCES, a->distance, b->distance));
  FUZZ_EXPECT(a->has_index == b->has_index && a->index == b->index);
}

static void write_and_read(const struct gpnn_params *params, size_t n)
{
  struct gpnn_error err = {0};
  struct gpnn_params *again = NULL;
  size_t n_again, length, same_length;
  char *text = write_all(params, n, &length);
  const char *path = fuzz_file(1, text, length);
  FUZZ_EXPECT(gpnn_params_read_all(&again, &n_again, path, &err) == GPNN_OK);
  FUZZ_EXPECT(n_again == n);
  for (size_t i = 0; i < n; i++) check_same(&params[i], &again[i]);
  char *same = write_all(again, n, &same_length);
  FUZZ_EXPECT(length == same_length && memcmp(text, same, length) == 0);
  gpnn_params_release_all(again, n);
  free(text);
  free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  struct gpnn_error err = {0};
  struct gpnn_params *params = NULL;
  size_t n = 0;
  if (length > 1 << 16) return 0;
  enum gpnn_status status = gpnn_params_read_all(&params, &n, fuzz_file(0, bytes, length), &err);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    FUZZ_EXPECT(params == NULL);
    return 0;
  }
  FUZZ_EXPECT(n > 0);
  for (size_t i = 0; i < n; i++) check_values(&params[i]);
  write_and_read(params, n);
  gpnn_params_release_all(params, n);
  return 0;
}
