#include "cotrain/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cotrain/answers_private.h"

enum {
  MEANS = 1 << GPNN_REPORT_NONE | 1 << GPNN_REPORT_MARGINAL | 1 << GPNN_REPORT_FULL,
  VARIANCES = 1 << GPNN_REPORT_MARGINAL | 1 << GPNN_REPORT_FULL,
  FULL = 1 << GPNN_REPORT_FULL,
  MESSAGE = 1 << GPNN_REPORT_MESSAGE,
};

#define FIELD(member) offsetof(struct gpnn_answers, member)

const struct answers_field gpnn_answers_fields[ANSWERS_FIELDS] = {
    {"mean", FIELD(mean), MEANS, false, false, ANSWERS_ANY},
    {"variance", FIELD(variance), VARIANCES, false, false, ANSWERS_NOT_NEGATIVE},
    {"prior_variance", FIELD(prior_variance), VARIANCES, false, false, ANSWERS_POSITIVE},
    {"shift", FIELD(shift), MESSAGE, false, false, ANSWERS_ANY},
    {"noise_variance", FIELD(noise_variance), MEANS | MESSAGE, false, false, ANSWERS_NOT_NEGATIVE},
    {"cov_", FIELD(covariance), FULL, true, false, ANSWERS_ANY},
    {"kq_", FIELD(prior), FULL, true, false, ANSWERS_ANY},
    {"precision_", FIELD(precision), MESSAGE, true, false, ANSWERS_ANY},
    {"noise_", FIELD(privacy), FULL | MESSAGE, true, true, ANSWERS_ANY},
};

bool gpnn_answers_tells(enum gpnn_report report, const struct answers_field *field)
{
  return (field->reports >> report & 1) != 0;
}

double **gpnn_answers_array(struct gpnn_answers *answers, const struct answers_field *field)
{
  return (double **)(void *)((char *)answers + field->offset);
}

const char *gpnn_report_name(enum gpnn_report report)
{
  static const char *const names[GPNN_REPORTS] = {"none", "marginal", "full", "message"};
  return names[report];
}

enum gpnn_status gpnn_answers_allocate(struct gpnn_answers *answers, bool has_privacy,
                                       struct gpnn_error *err)
{
  bool done = (answers->ids = gpnn_alloc(answers->n, 1, sizeof *answers->ids)) != NULL;
  for (size_t f = 0; f < ANSWERS_FIELDS && done; f++) {
    const struct answers_field *field = &gpnn_answers_fields[f];
    if (!gpnn_answers_tells(answers->report, field)) continue;
    if (field->is_optional && !has_privacy) continue;
    double **array = gpnn_answers_array(answers, field);
    *array = gpnn_alloc(answers->n, field->is_matrix ? answers->n : 1, sizeof **array);
    done = *array != NULL;
  }
  return done ? GPNN_OK : gpnn_fail_memory(err, "for answers");
}

void gpnn_answers_release(struct gpnn_answers *answers)
{
  for (size_t i = 0; answers->ids != NULL && i < answers->n; i++) free(answers->ids[i]);
  for (size_t f = 0; f < ANSWERS_FIELDS; f++)
    free(*gpnn_answers_array(answers, &gpnn_answers_fields[f]));
  free(answers->ids);
  free(answers->id_name);
  free(answers->target);
  free(answers->notes);
  *answers = (struct gpnn_answers){0};
}
