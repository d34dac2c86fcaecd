/* Kernels: what is parsed and written is parsed the same, and is a correlation. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "kernel/kernel.h"

enum { POINTS = 12 };

static void check_correlation(const struct gpnn_kernel *kernel, double smoothness)
{
  static const double r2[POINTS] = {0,   1e-300, 1e-20, 1e-6, 0.01, 0.5,
                                    1.1, 4,      100,   1e4,  1e20, 1e300};
  double alone[POINTS], c[POINTS], slope[POINTS];
  memcpy(alone, r2, sizeof r2);
  gpnn_kernel_correlate(kernel, smoothness, POINTS, alone);
  kernel->with_slope(smoothness, POINTS, r2, c, slope);
  for (size_t i = 0; i < POINTS; i++) {
    FUZZ_EXPECT(c[i] >= 0 && c[i] <= 1 && fabs(c[i] - alone[i]) <= 1e-9);
    FUZZ_EXPECT(i == 0 || c[i] <= c[i - 1] + 1e-12);
    FUZZ_EXPECT(isfinite(slope[i]) && slope[i] >= 0);
  }
  FUZZ_EXPECT(c[0] == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  const struct gpnn_kernel *kernel = NULL, *again = NULL;
  double smoothness = 0, same = 0;
  char *text = fuzz_text(bytes, length);
  gpnn_kernel_by_name(text);
  if (gpnn_kernel_parse(text, &kernel, &smoothness)) {
    char written[GPNN_KERNEL_BYTES];
    gpnn_kernel_write(kernel, smoothness, written);
    FUZZ_EXPECT(gpnn_kernel_parse(written, &again, &same));
    FUZZ_EXPECT(again == kernel && same == smoothness);
    check_correlation(kernel, smoothness);
    gpnn_kernel_least_noise(kernel, smoothness);
  }
  free(text);
  return 0;
}
