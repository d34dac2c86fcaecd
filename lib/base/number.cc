#include "base/number.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace
{

bool blank(char c)
{
  return c == ' ' || c == '\t';
}

// A number too far from zero or too close to it has the same error code; the sign of the
// decimal exponent tells which: the position of the first significant digit is enough.
bool tiny(const char *begin, const char *end)
{
  long scale = 0, exponent = 0;
  bool point = false, significant = false;
  const char *c = begin;
  for (; c != end && *c != 'e' && *c != 'E'; c++) {
    if (*c == '.') {
      point = true;
    } else if (*c >= '0' && *c <= '9') {
      significant = significant || *c != '0';
      if (point && !significant) scale--;
      if (!point && significant) scale++;
    }
  }
  if (c != end) {
    const char *digits = c + 1;
    bool negative = digits != end && *digits == '-';
    if (digits != end && (*digits == '-' || *digits == '+')) digits++;
    for (; digits != end && exponent < 100000000; digits++)
      exponent = exponent * 10 + (*digits - '0');
    if (negative) exponent = -exponent;
  }
  return scale + exponent < 0;
}

} // namespace

extern "C" enum gpnn_number gpnn_number_read(const char *text, size_t length, double *value)
{
  const char *begin = text, *end = text + length;
  while (begin != end && blank(*begin)) begin++;
  while (begin != end && blank(end[-1])) end--;
  if (begin != end && *begin == '+') {
    begin++;
    if (begin != end && *begin == '-') return GPNN_NUMBER_BAD;
  }
  double parsed = 0;
  auto [stop, code] = std::from_chars(begin, end, parsed);
  if (code == std::errc::invalid_argument || stop != end) return GPNN_NUMBER_BAD;
  if (code == std::errc::result_out_of_range) {
    if (!tiny(begin, end)) return GPNN_NUMBER_NOT_FINITE;
    parsed = *begin == '-' ? -0.0 : 0.0;
  }
  if (!std::isfinite(parsed)) return GPNN_NUMBER_NOT_FINITE;
  *value = parsed;
  return GPNN_NUMBER_OK;
}

extern "C" bool gpnn_number_read_u64(const char *text, size_t length, uint64_t *value)
{
  uint64_t parsed = 0;
  auto [stop, code] = std::from_chars(text, text + length, parsed);
  if (code != std::errc() || stop != text + length) return false;
  *value = parsed;
  return true;
}

extern "C" size_t gpnn_number_write(char out[GPNN_NUMBER_BYTES], double value)
{
  if (std::isnan(value)) value = std::fabs(value); // one spelling, whatever the sign bit
  auto [stop, code] = std::to_chars(out, out + GPNN_NUMBER_BYTES - 1, value);
  size_t length = code == std::errc() ? static_cast<size_t>(stop - out) : 0;
  out[length] = '\0';
  return length;
}
