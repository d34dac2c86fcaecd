#include "cmd/plot/plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* ---- text --------------------------------------------------------------------------------- */

static void append(struct script *s, const char *bytes, size_t n)
{
  if (s->out_of_memory || !gpnn_grow(&s->text, &s->capacity, s->length + n + 1, 1)) {
    s->out_of_memory = true;
    return;
  }
  memcpy(s->text + s->length, bytes, n);
  s->length += n;
}

void script_add(struct script *script, const char *format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length > 0)
    append(script, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void script_append(struct script *script, const struct script *other)
{
  if (other->out_of_memory) script->out_of_memory = true;
  if (other->length > 0) append(script, other->text, other->length);
}

/* Bytes of the character that begins with 'first', if it is well-formed. */
static size_t character_length(unsigned char first)
{
  return first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

void script_quote(struct script *script, const char *text)
{
  const char *begin = text;
  append(script, "'", 1);
  for (size_t length; *text != '\0'; text += length) {
    char shown[GPNN_MASK_BYTES];
    length = strnlen(text, character_length((unsigned char)*text));
    gpnn_mask(shown, text, length);
    if (shown[0] == '?') { /* an incomplete character before another one */
      length = 1;
      shown[1] = '\0';
    } else if (strcmp(shown, "\xef\xbf\xbe") == 0 || strcmp(shown, "\xef\xbf\xbf") == 0) {
      strcpy(shown, "?"); /* two characters that XML does not allow */
    }
    bool ends_cdata = text - begin >= 2 && memcmp(text - 2, "]]>", 3) == 0;
    const char *safe = shown[0] == '\'' ? "’" : ends_cdata ? "›" : shown;
    append(script, safe, strlen(safe));
  }
  append(script, "'", 1);
}

void script_label(struct script *script, const char *what, const char *text, const char *more,
                  const char *unit)
{
  size_t bytes = strlen(text) + strlen(more) + (unit == NULL ? 0 : strlen(unit)) + 4;
  char *whole = malloc(bytes);
  if (whole == NULL) {
    script->out_of_memory = true;
    return;
  }
  const char *open = unit == NULL ? "" : " (", *close = unit == NULL ? "" : ")";
  snprintf(whole, bytes, "%s%s%s%s%s", text, more, open, unit == NULL ? "" : unit, close);
  script_add(script, "set %s ", what);
  script_quote(script, whole);
  script_add(script, " noenhanced\n");
  free(whole);
}

/* ---- data --------------------------------------------------------------------------------- */

void script_data(struct script *script, const char *name)
{
  script_add(script, "$%s << END\n", name);
}

void script_row(struct script *script, size_t n, const double *values)
{
  for (size_t i = 0; i < n; i++) {
    char number[GPNN_NUMBER_BYTES];
    size_t length = gpnn_number_write(number, values[i]);
    if (i > 0) append(script, " ", 1);
    append(script, isfinite(values[i]) ? number : "NaN", isfinite(values[i]) ? length : 3);
  }
  append(script, "\n", 1);
}

void script_data_end(struct script *script)
{
  script_add(script, "END\n");
}

/* ---- linear axes -------------------------------------------------------------------------- */

/* The smallest of 1, 2 and 5 times a power of ten that needs no more labels. */
static double round_step(double range, int labels)
{
  double least = range / labels, ten = pow(10, floor(log10(least)));
  return least <= ten ? ten : least <= 2 * ten ? 2 * ten : least <= 5 * ten ? 5 * ten : 10 * ten;
}

void script_range(struct script *script, const char *axis, double low, double high)
{
  enum { DIGITS = 6, DIGITS_MAX = 15, FEW = 4 };
  char from[GPNN_NUMBER_BYTES], to[GPNN_NUMBER_BYTES];
  gpnn_number_write(from, low);
  gpnn_number_write(to, high);
  script_add(script, "set %srange [%s:%s]\n", axis, from, to);
  /* Labels stand about a tenth of the range apart; long ones would run into each other. */
  double size = fmax(fabs(low), fabs(high)), digits = ceil(log10(size / (high - low))) + 2;
  if (digits <= DIGITS) {
    script_add(script, "set format %s '%%g'\n", axis);
    return;
  }
  digits = fmin(fmax(digits, floor(log10(size)) + 1), DIGITS_MAX);
  script_add(script, "set format %s '%%.%.0fg'\nset %stics %.10g\n", axis, digits, axis,
             round_step(high - low, FEW));
}

void script_tics(struct script *script, const char *axis, double range, int labels)
{
  script_add(script, "set %stics %.10g\n", axis, round_step(range, labels));
}

void script_tics_within(struct script *script, const char *axis, double low, double high,
                        double width)
{
  enum { MOST = 8, LEAST = 2 };
  static const double letter = 0.18, gap = 0.35; /* cm */
  int labels = MOST;
  for (; labels > LEAST; labels--) {
    double step = round_step(high - low, labels);
    double first = ceil(low / step), last = floor(high / step);
    int left = snprintf(NULL, 0, "%g", first * step), right = snprintf(NULL, 0, "%g", last * step);
    int length = left > right ? left : right;
    if ((last - first + 1) * (letter * length + gap) <= width) break;
  }
  script_tics(script, axis, high - low, labels);
}

void script_linear_axis(struct script *script, const char *axis, double low, double high,
                        int labels)
{
  double pad = 0.04 * (high - low);
  if (!(pad > 0)) pad = fmax(0.04 * fabs(high), 1e-300);
  script_range(script, axis, low - pad, high + pad);
  script_tics(script, axis, high - low + 2 * pad, labels);
}

/* ---- logarithmic axes --------------------------------------------------------------------- */

/* 10 to the 'power' with raised digits. */
static void raise(char *out, size_t bytes, int power)
{
  static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char plain[16];
  size_t used = (size_t)snprintf(out, bytes, "10%s", power < 0 ? "⁻" : "");
  snprintf(plain, sizeof plain, "%d", abs(power));
  for (const char *c = plain; *c != '\0' && used + 4 < bytes; c++)
    used += (size_t)snprintf(out + used, bytes - used, "%s", digits[*c - '0']);
}

const char *script_tens(char out[SCRIPT_TENS_BYTES], double value)
{
  double size = fabs(value);
  double exponent = size > 0 && isfinite(size) ? floor(log10(size) + 1e-9) : 0;
  int power = (int)exponent;
  double leading = value / pow(10, power);
  if (power > -4 && power < 4) {
    snprintf(out, SCRIPT_TENS_BYTES, "%.6g", value);
  } else if (fabs(leading - 1) < 1e-9) {
    raise(out, SCRIPT_TENS_BYTES, power);
  } else {
    char tens[32];
    raise(tens, sizeof tens, power);
    snprintf(out, SCRIPT_TENS_BYTES, "%.3g×%s", leading, tens);
  }
  return out;
}

static void add_tic(struct script *script, double at, bool labelled, bool *first)
{
  char text[SCRIPT_TENS_BYTES] = "";
  if (labelled) script_tens(text, at);
  script_add(script, "%s'%s' %.10g%s", *first ? "" : ", ", text, at, labelled ? "" : " 1");
  *first = false;
}

/* Tics at 1 to 9 times the powers of ten, with fewer labels the more powers there are. */
static void add_decade_tics(struct script *script, double low, double high, double decades)
{
  double first_power = floor(log10(low)), last_power = ceil(log10(high));
  int from = (int)first_power, to = (int)last_power;
  int step = (to - from + 7) / 8; /* at most eight labels */
  bool first = true;
  for (int power = from; power <= to; power++) {
    for (int k = 1; k <= 9; k++) {
      double at = k * pow(10, power);
      bool labelled = (k == 1 && (power - from) % step == 0) ||
                      (decades < 1.8 && (k == 2 || k == 5)) || (decades < 0.5 && k != 7 && k != 9);
      if (at < low * (1 - 1e-9) || at > high * (1 + 1e-9) || (step > 1 && k > 1)) continue;
      add_tic(script, at, labelled, &first);
    }
  }
}

/* Tics at round numbers, for an axis that spans hardly a power of ten. */
static void add_round_tics(struct script *script, double low, double high)
{
  double step = round_step(high - low, 6);
  bool first = true;
  for (double k = ceil(low / step); k * step <= high; k++) add_tic(script, k * step, true, &first);
}

void script_log_axis(struct script *script, const char *axis, double low, double high, bool room)
{
  double decades = log10(high / low);
  if (!(decades > 0)) decades = 0;
  double pad = !room && decades > 0 ? 0 : fmax(0.04 * decades, 0.05);
  low = fmin(fmax(low * pow(10, -pad), 1e-307), 1e306);
  high = fmin(fmax(high * pow(10, pad), 1e-306), 1e307);
  script_add(script, "set logscale %s\nset %srange [%.10g:%.10g]\nset %stics (", axis, axis, low,
             high, axis);
  if (high < 3 * low)
    add_round_tics(script, low, high);
  else
    add_decade_tics(script, low, high, decades);
  script_add(script, ")\n");
}

/* ---- life --------------------------------------------------------------------------------- */

enum gpnn_status script_status(const struct script *script, struct gpnn_error *err)
{
  return script->out_of_memory ? gpnn_fail_memory(err, "for the picture") : GPNN_OK;
}

void script_release(struct script *script)
{
  free(script->text);
  *script = (struct script){0};
}
