/*
 * plot_script: a gnuplot script under construction.
 *
 * Whatever comes from outside enters as numbers, or as text in single quotes, in which gnuplot
 * neither runs nor replaces anything.  Running out of memory is reported once, by script_status(),
 * at the end.
 */
#ifndef GPNN_CMD_PLOT_SCRIPT_H
#define GPNN_CMD_PLOT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* A zeroed object is empty and may be released. */
struct script {
  char *text; /* owned; not NUL-terminated */
  size_t length, capacity;
  bool out_of_memory;
};

/* Appends what printf would print, of the tool's own words and numbers only; at most 1023 bytes. */
GPNN_PRINTF(2, 3) void script_add(struct script *script, const char *format, ...);

/* Appends another script. */
void script_append(struct script *script, const struct script *other);

/* Appends text from outside as a quoted string: control characters and malformed UTF-8 become
 * '?'; a straight quote becomes a curved one, since gnuplot takes a doubled one at the beginning
 * for the end of the string; so does the end of ]]>, which gnuplot leaves as it is where XML must
 * not have it. */
void script_quote(struct script *script, const char *text);

/* Appends "set WHAT 'TEXTMORE (UNIT)' noenhanced" and a line end; 'unit' may be NULL. */
void script_label(struct script *script, const char *what, const char *text, const char *more,
                  const char *unit);

/* A block of data: script_data(), rows of 'n' numbers each (infinite ones and NaN are missing),
 * script_data_end().  A blank row separates lines. */
void script_data(struct script *script, const char *name);
void script_row(struct script *script, size_t n, const double *values);
void script_data_end(struct script *script);

enum { SCRIPT_TENS_BYTES = 48 };

/* Writes 'value' as people do: 10⁶, 2×10⁷ or 0.05; returns 'out'. */
const char *script_tens(char out[SCRIPT_TENS_BYTES], double value);

/* Lets 'axis' ("x", "y", "cb") go from 'low' to 'high' > 'low', to the last digit, and gives its
 * labels enough digits to differ. */
void script_range(struct script *script, const char *axis, double low, double high);

/* Makes 'axis' logarithmic from 'low' to 'high' > 0, with some room at either end
 * where 'room' is true, and labels it. */
void script_log_axis(struct script *script, const char *axis, double low, double high, bool room);

/* Labels 'axis', over a range, at as many round numbers, two to eight, as 'width' cm have room for.
 */
void script_tics_within(struct script *script, const char *axis, double low, double high,
                        double width);

/* Labels 'axis', over a range, at no more than 'labels' round numbers. */
void script_tics(struct script *script, const char *axis, double range, int labels);

/* Makes 'axis' linear from 'low' to 'high' with a little room at either end and no more than about
 * 'labels' labels, at round numbers. */
void script_linear_axis(struct script *script, const char *axis, double low, double high,
                        int labels);

GPNN_MUST_CHECK enum gpnn_status script_status(const struct script *script, struct gpnn_error *err);

void script_release(struct script *script);

#endif
