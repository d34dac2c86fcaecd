#include "cmd/gpnn/report.h"

#include <stdbool.h>
#include <string.h>

#include "kernel/sight.h"

const char *words_number(char text[WORDS_NUMBER_BYTES], double value)
{
  static const double largest = 1e15;
  snprintf(text, WORDS_NUMBER_BYTES, "%.4g", value);
  if (strchr(text, 'e') != NULL && (value >= 1 || value <= -1) && value < largest &&
      value > -largest)
    snprintf(text, WORDS_NUMBER_BYTES, "%.0f", value);
  return text;
}

/* ---- the model ---------------------------------------------------------------------------- */

/* "matern32" -> "Matern 3/2" */
static void put_kernel(FILE *out, const struct gpnn_covariance *covariance)
{
  static const struct {
    const char *name, *words;
  } kernels[] = {{"exp", "exponential (Matern 1/2)"},
                 {"matern32", "Matern 3/2"},
                 {"matern52", "Matern 5/2"},
                 {"rbf", "squared exponential (rbf)"}};
  char name[GPNN_KERNEL_BYTES];
  gpnn_kernel_write(covariance->kernel, covariance->smoothness, name);
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
    if (strcmp(kernels[i].name, name) == 0) {
      fputs(kernels[i].words, out);
      return;
    }
  fputs(name, out);
}

static void put_member(FILE *out, const struct gpnn_parameters *member)
{
  const struct gpnn_covariance *covariance = &member->covariance;
  put_kernel(out, covariance);
  fprintf(out, " kernel, %s%s, %zu neighbours",
          covariance->n_lengthscales > 1 ? "a lengthscale for each input"
                                         : "one lengthscale for all inputs",
          covariance->rotation != NULL ? " after a rotation" : "", member->neighbours);
}

static void put_likelihood(FILE *out, const struct gpnn_parameters *p)
{
  switch (p->likelihood) {
  case GPNN_LIKELIHOOD_GAUSSIAN:
    fputs(p->degrees > 0 ? "Student's t errors" : "Gaussian errors", out);
    break;
  case GPNN_LIKELIHOOD_STUDENT:
    fputs("Student's t errors", out);
    break;
  case GPNN_LIKELIHOOD_LOCAL:
    fputs("Student's t errors with a scale for each row", out);
    break;
  case GPNN_LIKELIHOOD_CATEGORICAL:
    fputs("probabilities of classes from the labels of neighbours", out);
    break;
  case GPNN_LIKELIHOOD_POISSON:
    fputs("Poisson counts", out);
    break;
  case GPNN_LIKELIHOOD_NEGBIN:
    fputs("negative binomial counts", out);
    break;
  }
}

void words_model(FILE *out, const struct gpnn_parameters *parameters)
{
  bool has_process = !gpnn_parameters_lack_process(parameters);
  size_t n = has_process ? gpnn_parameters_n_members(parameters) : 0;
  if (parameters->effects.n_variances > 0)
    fputs(has_process ? "effects of groups; " : "effects of groups, without a process", out);
  if (n > 1) fprintf(out, "the average of %zu: ", n);
  for (size_t k = 0; k < n; k++) {
    if (n > 1) fprintf(out, "%s(%zu) ", k > 0 ? "; " : "", k + 1);
    put_member(out, gpnn_parameters_member(parameters, k));
  }
  fputs("; ", out);
  put_likelihood(out, parameters);
  if (parameters->atom.share > 0) fprintf(out, ", beside an atom at %.6g", parameters->atom.value);
  if (parameters->transform.kind != GPNN_TRANSFORM_NONE)
    fprintf(out, "; %s of the target", gpnn_transform_name(parameters->transform.kind));
}

/* ---- inputs ------------------------------------------------------------------------------- */

void words_kind(FILE *out, const struct gpnn_column *column)
{
  char period[WORDS_NUMBER_BYTES];
  if (column->date != NULL) fputs(" (date)", out);
  switch (column->kind) {
  case GPNN_COLUMN_CATEGORY:
    fprintf(out, " (%zu levels)", column->n_levels);
    break;
  case GPNN_COLUMN_CODED:
    fprintf(out, " (%zu levels, %s)", column->n_levels,
            gpnn_schema_is_ordered(column) ? "in order" : "coded");
    break;
  case GPNN_COLUMN_EFFECT:
    fprintf(out, " (%zu levels with effects)", column->n_levels);
    break;
  case GPNN_COLUMN_PERIODIC:
    fprintf(out, " (period %s)", words_number(period, column->period));
    break;
  case GPNN_COLUMN_LATITUDE:
  case GPNN_COLUMN_LONGITUDE:
    fputs(" (degrees)", out);
    break;
  case GPNN_COLUMN_NUMBER:
  case GPNN_COLUMN_CLASSES:
  case GPNN_COLUMN_NAMES:
    break;
  }
}

/* The first member whose lengthscales are those of inputs, or NULL. */
static const struct gpnn_parameters *find_plain(const struct gpnn_parameters *parameters,
                                                const struct gpnn_dataset *dataset)
{
  size_t n = gpnn_parameters_n_members(parameters);
  if (dataset->scaling.method == GPNN_SCALING_WHITEN) return NULL;
  for (size_t k = 0; k < n; k++) {
    const struct gpnn_parameters *member = gpnn_parameters_member(parameters, k);
    if (member->covariance.rotation == NULL && member->covariance.n_lengthscales > 1 &&
        member->covariance.n_lengthscales == dataset->n_groups)
      return member;
  }
  return NULL;
}

void words_leading_inputs(FILE *out, const struct gpnn_parameters *parameters,
                          const struct gpnn_dataset *dataset)
{
  enum { MOST = 6 };
  const struct gpnn_parameters *member = find_plain(parameters, dataset);
  if (member == NULL || gpnn_parameters_lack_process(member)) return;
  const double *lengthscale = gpnn_covariance_lengthscales(&member->covariance);
  size_t n = dataset->n_groups, last = SIZE_MAX;
  for (size_t shown = 0; shown < MOST && shown < n; shown++) {
    char name[GPNN_MASK_BYTES];
    size_t best = SIZE_MAX; /* the next after 'last' by lengthscale, then by number */
    for (size_t g = 0; g < n; g++) {
      bool is_later = last == SIZE_MAX || lengthscale[g] > lengthscale[last] ||
                      (g > last && lengthscale[g] == lengthscale[last]);
      if (is_later && lengthscale[g] < GPNN_SIGHT_UNSEEN &&
          (best == SIZE_MAX || lengthscale[g] < lengthscale[best]))
        best = g;
    }
    if (best == SIZE_MAX) return;
    fprintf(out, "%s%s", shown > 0 ? ", " : "", gpnn_dataset_group_name(dataset, NULL, best, name));
    last = best;
  }
}
