#include "base/number.h"

#include <cctype>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

namespace
{

bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

// std::from_chars() has one error code for numbers too large and too small for a double.  They are
// so far from 1 that the decimal exponent of the first significant digit tells them apart.
bool is_tiny(const char *begin, const char *end)
{
  long scale = 0, exponent = 0;
  bool point = false, significant = false;
  const char *c = begin;
  for (; c != end && *c != 'e' && *c != 'E'; c++) {
    if (*c == '.') {
      point = true;
    } else if (std::isdigit(static_cast<unsigned char>(*c))) {
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

// ---- a fast path for short numbers, as most numbers in tables are ----
// Up to 16 characters are converted at once, as digits 0 to 9 in the bytes of two words; the
// leftmost digits are in the lowest bytes of 'left', and leading zeros fill up.  An integer up to
// 2^53 and a power of ten up to 10^22 are exact doubles, so that their quotient is rounded only
// once, and therefore correctly (Clinger 1990, How to read floating point numbers accurately).

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && FLT_EVAL_METHOD == 0
constexpr bool has_words = true;
#else
constexpr bool has_words = false;
#endif

constexpr size_t most = 16;

constexpr uint64_t every_byte(uint64_t byte)
{
  return byte * 0x0101010101010101;
}

struct words {
  uint64_t left, right;
};

template <class Word> uint64_t load(const char *s)
{
  Word word;
  std::memcpy(&word, s, sizeof word);
  return word;
}

constexpr uint64_t zeros = every_byte('0');

// The 'length' (1 to 8) characters from 's' on: digits as 0 to 9, anything else as more than 9.
uint64_t load_eight(const char *s, size_t length)
{
  const char *end = s + length;
  if (length == 8) return load<uint64_t>(s) ^ zeros;
  uint64_t bytes;
  if (length >= 4)
    bytes = load<uint32_t>(s) | load<uint32_t>(end - 4) << (8 * (length - 4));
  else
    bytes = load<uint8_t>(s) | load<uint8_t>(s + length / 2) << (8 * (length / 2)) |
            load<uint8_t>(end - 1) << (8 * (length - 1));
  return (bytes ^ zeros) << (8 * (8 - length));
}

// The same of 9 to 16 characters.
words load_digits(const char *s, size_t length)
{
  return {(load<uint64_t>(s) ^ zeros) << (8 * (16 - length)),
          load<uint64_t>(s + length - 8) ^ zeros};
}

// The highest bit of the first byte that holds a point, or 0 if none does.
uint64_t find_point(uint64_t word)
{
  uint64_t other = word ^ every_byte('.' ^ '0');
  uint64_t points = (other - every_byte(1)) & ~other & every_byte(0x80);
  return points & -points;
}

// 'word' without the byte whose highest bit is 'point': the bytes before it move up by one, and
// 'in' becomes the first.
uint64_t take_out(uint64_t word, uint64_t point, uint64_t in)
{
  uint64_t before = (point >> 7) - 1, behind = ~((point << 1) - 1);
  return (word & behind) | (word & before) << 8 | in;
}

// Removes the point, if there is one, and returns the number of digits after it.
size_t take_point(words &digits, bool &has_point)
{
  uint64_t left = find_point(digits.left), right = find_point(digits.right);
  has_point = (left | right) != 0;
  if (left != 0) {
    digits.left = take_out(digits.left, left, 0);
    return 15 - static_cast<size_t>(__builtin_ctzll(left)) / 8;
  }
  if (right == 0) return 0;
  digits.right = take_out(digits.right, right, digits.left >> 56);
  digits.left <<= 8;
  return 7 - static_cast<size_t>(__builtin_ctzll(right)) / 8;
}

bool are_digits(uint64_t word)
{
  return ((word | (word + every_byte(6))) & every_byte(0xf0)) == 0;
}

// The value of eight digits: first of pairs, then of the two groups of four.
uint64_t join(uint64_t word)
{
  constexpr uint64_t pairs = 0x000000ff000000ff;
  constexpr uint64_t first = 100 + (UINT64_C(1000000) << 32), second = 1 + (UINT64_C(10000) << 32);
  word = word * 10 + (word >> 8);
  return ((word & pairs) * first + ((word >> 16) & pairs) * second) >> 32;
}

constexpr double powers[most] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// 'size' or '-size', without a branch, which could not be foreseen.
double with_sign(double size, bool negative)
{
  uint64_t bits;
  std::memcpy(&bits, &size, sizeof bits);
  bits |= static_cast<uint64_t>(negative) << 63;
  std::memcpy(&size, &bits, sizeof bits);
  return size;
}

// read_short() of 'length' (1 to 8) characters without a sign.
bool read_eight(const char *text, size_t length, double &size)
{
  uint64_t digits = load_eight(text, length), point = find_point(digits);
  size_t decimals = 0;
  if (point != 0) {
    decimals = 7 - static_cast<size_t>(__builtin_ctzll(point)) / 8;
    digits = take_out(digits, point, 0);
  }
  if (!are_digits(digits) || length == (point != 0)) return false;
  size = static_cast<double>(static_cast<int64_t>(join(digits))) / powers[decimals];
  return true;
}

// Reads digits with an optional point and minus; false if the text is anything else, or if the
// result might not be correctly rounded.
bool read_short(const char *text, size_t length, double &value)
{
  constexpr uint64_t largest = UINT64_C(1) << 53;
  bool negative = length > 0 && *text == '-';
  text += negative;
  length -= negative;
  if (length == 0 || length > most) return false;
  double size;
  if (length <= 8) {
    if (!read_eight(text, length, size)) return false;
    value = with_sign(size, negative);
    return true;
  }
  words digits = load_digits(text, length);
  bool has_point;
  size_t decimals = take_point(digits, has_point);
  if (!are_digits(digits.left) || !are_digits(digits.right) || length == has_point) return false;
  uint64_t whole = join(digits.left) * 100000000 + join(digits.right);
  if (whole > largest) return false;
  size = static_cast<double>(whole) / powers[decimals];
  value = with_sign(size, negative);
  return true;
}

} // namespace

extern "C" enum gpnn_number gpnn_number_read(const char *text, size_t length, double *value)
{
  if (has_words && read_short(text, length, *value)) return GPNN_NUMBER_OK;
  const char *begin = text, *end = text + length;
  while (begin != end && is_blank(*begin)) begin++;
  while (begin != end && is_blank(end[-1])) end--;
  if (begin != end && *begin == '+') {
    begin++;
    if (begin != end && *begin == '-') return GPNN_NUMBER_BAD;
  }
  double parsed = 0;
  auto [stop, code] = std::from_chars(begin, end, parsed);
  if (code == std::errc::invalid_argument || stop != end) return GPNN_NUMBER_BAD;
  if (code == std::errc::result_out_of_range) {
    if (!is_tiny(begin, end)) return GPNN_NUMBER_NOT_FINITE;
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
