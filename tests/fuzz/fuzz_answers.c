/* Answers: what is read holds what it promises, and is read again as it is written. */
#include <math.h>
#include <string.h>

#include "cotrain/answers.h"
#include "fuzz.h"

static void check_numbers(const double *a, size_t n, double least)
{
  for (size_t i = 0; a != NULL && i < n; i++) FUZZ_EXPECT(isfinite(a[i]) && a[i] >= least);
}

static void check_values(const struct gpnn_answers *a)
{
  const bool is_full = a->report == GPNN_REPORT_FULL;
  const bool has_variances = is_full || a->report == GPNN_REPORT_MARGINAL;
  const double *const variances[] = {a->variance, a->prior_variance, a->noise_variance};
  const double *const matrices[] = {a->covariance, a->prior, a->privacy};
  FUZZ_EXPECT(isfinite(a->centre) && isfinite(a->scale) && a->scale > 0);
  if (a->n > 0) {
    FUZZ_EXPECT(a->mean != NULL && (a->variance != NULL) == has_variances &&
                a->noise_variance != NULL);
    FUZZ_EXPECT((a->covariance != NULL) == is_full);
  }
  check_numbers(a->mean, a->n, -INFINITY);
  for (size_t i = 0; i < 3; i++) check_numbers(variances[i], a->n, 0);
  for (size_t i = 0; i < 3; i++) check_numbers(matrices[i], a->n * a->n, -INFINITY);
  for (size_t i = 0; i < a->n; i++) {
    FUZZ_EXPECT(a->ids[i][0] != '\0');
    for (size_t j = 0; j < i && j < 50; j++) FUZZ_EXPECT(strcmp(a->ids[i], a->ids[j]) != 0);
  }
}

/* The table of some answers, for gpnn_output_abandon() of '*output'. */
static const char *write_all(const struct gpnn_answers *answers, struct gpnn_output **output,
                             size_t *length)
{
  struct gpnn_error err = {0};
  FUZZ_EXPECT(gpnn_output_open_memory(output, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_answers_write(answers, *output, &err) == GPNN_OK);
  return gpnn_output_memory(*output, length);
}

static void write_and_read(const struct gpnn_answers *answers)
{
  struct gpnn_error err = {0};
  struct gpnn_answers again = {0};
  struct gpnn_output *first, *second;
  size_t length, same_length;
  const char *text = write_all(answers, &first, &length);
  FUZZ_EXPECT(gpnn_answers_read(fuzz_file(1, text, length), &again, &err) == GPNN_OK);
  FUZZ_EXPECT(again.n == answers->n && again.report == answers->report);
  FUZZ_EXPECT(again.centre == answers->centre && again.scale == answers->scale);
  FUZZ_EXPECT(strcmp(again.target, answers->target) == 0);
  for (size_t i = 0; i < again.n; i++) FUZZ_EXPECT(strcmp(again.ids[i], answers->ids[i]) == 0);
  const char *same = write_all(&again, &second, &same_length);
  FUZZ_EXPECT(length == same_length && memcmp(text, same, length) == 0);
  gpnn_output_abandon(first);
  gpnn_output_abandon(second);
  gpnn_answers_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  struct gpnn_error err = {0};
  struct gpnn_answers answers = {0};
  if (length > 1 << 16) return 0;
  enum gpnn_status status = gpnn_answers_read(fuzz_file(0, bytes, length), &answers, &err);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    FUZZ_EXPECT(answers.ids == NULL && answers.target == NULL);
    return 0;
  }
  check_values(&answers);
  write_and_read(&answers);
  gpnn_answers_release(&answers);
  return 0;
}
