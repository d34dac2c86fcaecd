#include "cmd/calibrate/uncertainty.h"

#include <math.h>
#include <stdio.h>

const char *uncertainty_describe(double standard_error, char text[UNCERTAINTY_BYTES])
{
  if (isfinite(standard_error))
    snprintf(text, UNCERTAINTY_BYTES, "%.2g", standard_error);
  else
    snprintf(text, UNCERTAINTY_BYTES, "not known");
  return text;
}
