/* Numbers: what is read is what strtod() reads, and what is written reads back, bit for bit. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "fuzz.h"

static void write_and_read(double value)
{
  char text[GPNN_NUMBER_BYTES];
  size_t length = gpnn_number_write(text, value);
  FUZZ_EXPECT(length < sizeof text && strlen(text) == length);
  double back = NAN;
  enum gpnn_number result = gpnn_number_read(text, length, &back);
  FUZZ_EXPECT((result == GPNN_NUMBER_OK) == (isfinite(value) != 0));
  if (isfinite(value)) FUZZ_EXPECT(memcmp(&back, &value, sizeof value) == 0);
}

static void read_real(const char *text, size_t length)
{
  const double untouched = 123.5;
  double value = untouched;
  enum gpnn_number result = gpnn_number_read(text, length, &value);
  if (result != GPNN_NUMBER_OK) {
    FUZZ_EXPECT(value == untouched);
    return;
  }
  char *end;
  double expected = strtod(text, &end);
  FUZZ_EXPECT(strspn(end, " \t") == length - (size_t)(end - text));
  FUZZ_EXPECT(isfinite(value) && memcmp(&value, &expected, sizeof value) == 0);
  write_and_read(value);
}

static void read_whole(const char *text, size_t length)
{
  uint64_t value = 0;
  if (!gpnn_number_read_u64(text, length, &value)) return;
  FUZZ_EXPECT(length > 0 && strspn(text, "0123456789") == length);
  FUZZ_EXPECT(value == strtoull(text, NULL, 10));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  double value;
  if (length >= sizeof value) {
    memcpy(&value, bytes, sizeof value);
    write_and_read(value);
  }
  char *text = fuzz_text(bytes, length);
  read_real(text, length);
  read_whole(text, length);
  free(text);
  return 0;
}
