/*
 * What the terms of a mean are called, and how they were standardised.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "methods/regress.h"

/* Names and units of the terms but the constant; one a term. */
struct terms {
  size_t n;
  const char **names; /* n + 1, the constant's first */
  char (*text)[GPNN_MASK_BYTES];
  double *mean, *sd;
};

static bool terms_alloc(struct terms *terms, size_t n)
{
  terms->n = n;
  terms->names = gpnn_alloc(n + 1, 1, sizeof *terms->names);
  terms->text = gpnn_alloc(n + 1, 1, sizeof *terms->text);
  terms->mean = gpnn_alloc(n + 1, 1, sizeof *terms->mean);
  terms->sd = gpnn_alloc(n + 1, 1, sizeof *terms->sd);
  return terms->names && terms->text && terms->mean && terms->sd;
}

static void terms_release(struct terms *terms)
{
  free(terms->names);
  free(terms->text);
  free(terms->mean);
  free(terms->sd);
}

static void name_regressors(struct terms *terms, const struct gpnn_index_contents *contents)
{
  for (size_t j = 0; j < terms->n; j++) {
    const char *name = contents->schema.regressors[j].name;
    gpnn_mask(terms->text[j], name, strlen(name));
    terms->mean[j] = contents->standard.regressors[j].mean;
    terms->sd[j] = contents->standard.regressors[j].sd;
  }
}

/* Inputs have the table's units but where whitening has mixed them. */
static void name_inputs(struct terms *terms, const struct gpnn_index_contents *contents)
{
  const struct gpnn_standard *standard = &contents->standard;
  bool is_mixed = standard->method == GPNN_STANDARD_WHITEN;
  size_t j = 0;
  for (size_t f = 0; f < standard->n_in && !is_mixed; f++) {
    double weight = standard->weight == NULL ? 1 : standard->weight[f];
    if (weight == 0) continue;
    gpnn_schema_feature_name(&contents->schema, f, terms->text[j]);
    terms->mean[j] = standard->mean == NULL ? 0 : standard->mean[f];
    terms->sd[j++] = 1 / weight;
  }
  for (; is_mixed && j < terms->n; j++) {
    gpnn_index_group_name(contents, contents->group[j], terms->text[j]);
    terms->sd[j] = 1;
  }
}

enum gpnn_status gpnn_regress_describe(struct gpnn_params *params,
                                       const struct gpnn_index_contents *contents,
                                       struct gpnn_error *err)
{
  struct terms terms = {0};
  if (params->mean == GPNN_MEAN_ZERO) return GPNN_OK;
  if (!terms_alloc(&terms, params->n_coefficients - 1)) {
    terms_release(&terms);
    return gpnn_fail_memory(err, "for the terms of the mean");
  }
  if (params->mean == GPNN_MEAN_REGRESSORS) name_regressors(&terms, contents);
  if (params->mean == GPNN_MEAN_LINEAR) name_inputs(&terms, contents);
  terms.names[0] = "constant";
  for (size_t j = 0; j < terms.n; j++) terms.names[j + 1] = terms.text[j];
  const struct gpnn_regress_units units = {.y_mean = contents->standard.y_mean,
                                           .y_sd = contents->standard.y_sd,
                                           .mean = terms.mean,
                                           .sd = terms.sd};
  enum gpnn_status status =
      gpnn_regress_comment(params, &units, terms.names, contents->schema.target.name, err);
  terms_release(&terms);
  return status;
}
