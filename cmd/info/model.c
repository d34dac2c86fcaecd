#include "cmd/info/info.h"

#include <string.h>

#include "dataset/stored.h"
#include "kernel/parameters.h"
#include "models/inducing/diag/fit.h"
#include "models/inducing/inducing.h"
#include "models/model.h"
#include "models/tucker/fit.h"
#include "models/tucker/tucker.h"
#include "table/columns.h"

/* ---- Tucker models --------------------------------------------------------------------------- */

static const struct gpnn_state_array *find(const struct gpnn_dataset *view, const char *name)
{
  return gpnn_state_find(view->stored->arrays, view->schema.target.name, name);
}

/* A line of all numbers of an array. */
static void put_numbers(struct facts *facts, const struct gpnn_dataset *view, const char *name)
{
  const struct gpnn_state_array *array = find(view, name);
  if (array == NULL) return;
  facts_open_row(facts, name, '[');
  for (size_t i = 0; i < array->n; i++) facts_number(facts, NULL, array->values[i]);
  facts_close_row(facts, ']');
}

static void put_number(struct facts *facts, const struct gpnn_dataset *view, const char *name)
{
  const struct gpnn_state_array *array = find(view, name);
  if (array != NULL && array->n == 1) facts_number(facts, name, array->values[0]);
}

static double product(const struct gpnn_state_array *array)
{
  double points = 1;
  for (size_t i = 0; i < array->n; i++) points *= array->values[i];
  return points;
}

/* Sizes and ranks, bound, shrinkage, and which variances it has.  Nothing of what the file lacks.
 */
static void put_tucker(struct facts *facts, const struct gpnn_dataset *view)
{
  const struct gpnn_state_array *sizes = find(view, GPNN_TUCKER_GRID_SIZE);
  if (sizes == NULL) return;
  put_numbers(facts, view, GPNN_TUCKER_GRID_SIZE);
  facts_number(facts, "grid-points", product(sizes));
  put_numbers(facts, view, GPNN_TUCKER_RANK);
  put_number(facts, view, GPNN_TUCKER_BOUND);
  put_number(facts, view, GPNN_TUCKER_SHRINKAGE);
  facts_text(facts, "variance",
             find(view, GPNN_TUCKER_RESIDUAL_VARIANCE) == NULL ? "variational" : "residual");
  put_number(facts, view, GPNN_TUCKER_RESIDUAL_VARIANCE);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* How many numbers an array of a target has; 0: there is none. */
static size_t count(const struct gpnn_dataset *view, const char *name)
{
  const struct gpnn_state_array *array =
      gpnn_state_find(view->stored->arrays, view->schema.target.name, name);
  return array == NULL ? 0 : array->n;
}

/* How many inducing points there are and, where not all of them count, the rank of what they
 * explain. */
static void put_inducing(struct facts *facts, const struct gpnn_dataset *view)
{
  size_t m = count(view, GPNN_INDUCING_POINTS) / view->d, root = count(view, GPNN_INDUCING_ROOT);
  if (m == 0) return;
  facts_count(facts, "inducing-points", m);
  if (root > 0) facts_count(facts, "rank", root / m);
}

/* A line per lengthscale: the inputs that it is of, unless it is of all, and its value. */
static void put_lengthscales(struct facts *facts, const struct gpnn_dataset *view,
                             const struct gpnn_covariance *covariance)
{
  char name[GPNN_MASK_BYTES];
  size_t n = covariance->n_lengthscales;
  facts_open_list(facts, "lengthscale");
  for (size_t j = 0; j < n; j++) {
    bool is_of_all = n == 1 && view->n_groups > 1;
    facts_open_row(facts, NULL, '{');
    facts_text(facts, "name", is_of_all ? "all" : gpnn_dataset_group_name(view, NULL, j, name));
    facts_number(facts, "value", covariance->lengthscale[j]);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

/* Of conjugate gradients: how many solutions there were, and how many ended too early. */
static void put_solutions(struct facts *facts, const struct gpnn_dataset *view)
{
  static const char *const names[] = {GPNN_DIAG_SOLUTIONS, GPNN_DIAG_SOLUTIONS_CAPPED};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const struct gpnn_state_array *array =
        gpnn_state_find(view->stored->arrays, view->schema.target.name, names[i]);
    if (array != NULL && array->n == 1) facts_number(facts, names[i], array->values[0]);
  }
}

/* A line per array: name, numbers. */
static void put_arrays(struct facts *facts, const struct gpnn_dataset *view)
{
  const struct gpnn_state *arrays = view->stored->arrays;
  facts_open_list(facts, "array");
  for (size_t i = 0; i < arrays->n; i++) {
    if (strcmp(arrays->arrays[i].target, view->schema.target.name) != 0) continue;
    facts_open_row(facts, NULL, '{');
    facts_name(facts, "name", arrays->arrays[i].name);
    facts_count(facts, "numbers", arrays->arrays[i].n);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

static void put_target(struct facts *facts, const struct gpnn_dataset *view,
                       const struct gpnn_parameters *parameters)
{
  char text[GPNN_COLUMN_BYTES], kernel[GPNN_KERNEL_BYTES];
  const struct gpnn_covariance *covariance = &parameters->covariance;
  facts_open_part(facts, NULL, '{');
  facts_text(facts, "model-of", gpnn_schema_column_name(&view->schema.target, text));
  facts_text(facts, "family", gpnn_parameters_family_name(parameters->family));
  put_inducing(facts, view);
  put_tucker(facts, view);
  gpnn_kernel_write(covariance->kernel, covariance->smoothness, kernel);
  facts_text(facts, "kernel", kernel);
  put_lengthscales(facts, view, covariance);
  facts_number(facts, "kernelscale", covariance->kernelscale);
  facts_number(facts, "noise", covariance->noise);
  if (parameters->provenance.fit_rows > 0)
    facts_count(facts, "fit-rows", parameters->provenance.fit_rows);
  put_solutions(facts, view);
  facts_count(facts, "model-rows", view->n);
  facts_count(facts, "held-out-rows", view->n_calibration);
  put_arrays(facts, view);
  facts_close_part(facts, '}');
}

static enum gpnn_status put_targets(struct facts *facts, const struct gpnn_dataset *dataset,
                                    size_t n, struct gpnn_parameters *parameters,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  facts_open_part(facts, "models", '[');
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    struct gpnn_channel channel;
    bool other_model;
    parameters[t].provenance.has_index = false; /* which the model came from, but does not need */
    status = gpnn_channels_find(dataset, 1, &parameters[t], &channel, &other_model, err);
    if (status == GPNN_OK) put_target(facts, channel.dataset, &parameters[t]);
  }
  facts_close_part(facts, ']');
  return status;
}

enum gpnn_status info_put_model(struct facts *facts, const char *path,
                                const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  const struct gpnn_stored *stored = dataset->stored;
  struct gpnn_parameters *parameters = NULL;
  size_t n = 0;
  enum gpnn_status status =
      gpnn_parameters_read_text(&parameters, &n, path, stored->text, stored->length, err);
  if (status != GPNN_OK) return status;
  status = put_targets(facts, dataset, n, parameters, err);
  gpnn_parameters_free(parameters, n);
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "%s", path);
}
