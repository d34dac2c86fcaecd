/*
 * Dates: whatever the format, a text that is read is a finite number of days, and written as ISO
 * 8601 it reads back; a guess reads what it was made from.  The first line is the format, the
 * others are texts.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "table/date.h"

static void write_and_read(double days)
{
  char text[GPNN_DATE_BYTES];
  double back = NAN, least = -719528, most = 2932896;
  gpnn_date_write(text, days);
  FUZZ_EXPECT(strlen(text) < sizeof text);
  if (days < least || days > most) return;
  FUZZ_EXPECT(gpnn_date_read(GPNN_DATE_ISO, text, strlen(text), &back) == GPNN_DATE_OK);
  FUZZ_EXPECT(fabs(back - days) * 86400 < 0.51);
}

static void read_as(const char *format, const char *text)
{
  const double untouched = 0.123;
  double days = untouched;
  if (gpnn_date_read(format, text, strlen(text), &days) != GPNN_DATE_OK) {
    FUZZ_EXPECT(days == untouched);
    return;
  }
  FUZZ_EXPECT(fabs(days) < 3e6);
  write_and_read(days);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  enum { TEXTS = 8 };
  struct gpnn_error err = {0};
  struct gpnn_date_guess guess = {0};
  char *format = fuzz_line(&bytes, &length), *all = fuzz_text(bytes, length), *texts[TEXTS];
  bool taken[TEXTS] = {false};
  fuzz_split(all, '\n', TEXTS, texts);
  enum gpnn_status status = gpnn_date_check(format, &err);
  if (status != GPNN_OK) fuzz_expect_failure(status, &err);
  for (size_t i = 0; i < TEXTS; i++) {
    if (texts[i] == NULL) continue;
    if (status == GPNN_OK) read_as(format, texts[i]);
    read_as(GPNN_DATE_ISO, texts[i]);
    taken[i] = gpnn_date_guess_add(&guess, texts[i], strlen(texts[i]));
  }
  const char *other, *guessed = gpnn_date_guess_format(&guess, &other);
  FUZZ_EXPECT((guessed != NULL) == (guess.n > 0) && (other == NULL || guessed != NULL));
  for (size_t i = 0; i < TEXTS; i++) {
    double days;
    if (!taken[i]) continue;
    FUZZ_EXPECT(gpnn_date_read(guessed, texts[i], strlen(texts[i]), &days) == GPNN_DATE_OK);
    if (other != NULL)
      FUZZ_EXPECT(gpnn_date_read(other, texts[i], strlen(texts[i]), &days) == GPNN_DATE_OK);
  }
  free(all);
  free(format);
  return 0;
}
