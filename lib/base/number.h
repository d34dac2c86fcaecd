/*
 * number: strict text to double, and double to the fewest digits that read back the same.
 *
 * Independent of the locale.  Implemented over std::from_chars and std::to_chars (C++17),
 * which round correctly.
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
  GPNN_NUMBER_BAD,        /* not a number, or something before or after it */
  GPNN_NUMBER_NOT_FINITE, /* nan, inf, or too large for a double */
};

/*
 * Reads all of text[0..length) as a decimal number: optional sign (+ or -), digits with
 * an optional point, optional exponent; blanks (space, tab) around it are allowed,
 * nothing else is.  Too small for a double reads as zero.  '*value' is set only on
 * GPNN_NUMBER_OK.
 */
enum gpnn_number gpnn_number_read(const char *text, size_t length, double *value);

/* The same for a whole number in [0, 2^64): digits only.  Returns false if it is none. */
bool gpnn_number_read_u64(const char *text, size_t length, uint64_t *value);

/*
 * Writes the shortest decimal form of 'value' that reads back to the same double, and a
 * NUL; returns its length.  Infinities and NaN are "inf", "-inf", "nan".
 */
size_t gpnn_number_write(char out[GPNN_NUMBER_BYTES], double value);

#ifdef __cplusplus
}
#endif

#endif
