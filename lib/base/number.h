/*
 * number: text to double, strictly, and double to the shortest text that reads back the same.
 *
 * Independent of the locale, and correctly rounded: implemented with std::from_chars and
 * std::to_chars of C++17.  Threads: no shared state.
 */
#ifndef GPNN_BASE_NUMBER_H
#define GPNN_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GPNN_NUMBER_BYTES = 32 }; /* room for any formatted double and its NUL */

enum gpnn_number {
  GPNN_NUMBER_OK,
  GPNN_NUMBER_BAD,        /* not a number, or preceded or followed by something else */
  GPNN_NUMBER_NOT_FINITE, /* nan, inf, or too large for a double */
};

/*
 * Reads all of text[0..length) as a decimal number: an optional sign (+ or -), digits with an
 * optional point, an optional exponent; spaces and tabs around it, and nothing else.  No text, or
 * blanks alone, are GPNN_NUMBER_BAD.  A number too small for a double reads as zero of its sign.
 * '*value' is set only on GPNN_NUMBER_OK.
 */
enum gpnn_number gpnn_number_read(const char *text, size_t length, double *value);

/* Reads all of it as an integer in [0, 2^64): digits only, neither signs nor blanks.  False, and
 * '*value' untouched, if it is anything else. */
bool gpnn_number_read_u64(const char *text, size_t length, uint64_t *value);

/*
 * Writes the shortest decimal form of 'value' that reads back to the same double, and a NUL;
 * returns its length.  Infinities and NaN are "inf", "-inf" and "nan".
 */
size_t gpnn_number_write(char out[GPNN_NUMBER_BYTES], double value);

#ifdef __cplusplus
}
#endif

#endif
