#include "cmd/predict/columns.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "models/labels.h"
#include "table/npy.h"

/* ---- options ------------------------------------------------------------------------------ */

bool classes_resolve(const struct cli *cli, const struct predict_arguments *a)
{
  if (a->labels_only && a->top > 0)
    return cli_refuse(cli, "--labels-only writes no probabilities, which --top is about");
  return true;
}

/* The first target that does or does not hold classes; NULL: there is none. */
static const struct gpnn_dataset *find_target(const struct opened *opened, bool with_classes)
{
  for (size_t t = 0; t < opened->n; t++)
    if ((gpnn_dataset_n_classes(opened->channels[t].dataset) > 0) == with_classes)
      return opened->channels[t].dataset;
  return NULL;
}

/* GPNN_EINVAL: an option is given that is not for targets of the kind that there are. */
static enum gpnn_status check_options(const struct cli *cli, const struct predict_arguments *a,
                                      const struct opened *opened, struct gpnn_error *err)
{
  const struct gpnn_dataset *classes = find_target(opened, true);
  const struct gpnn_dataset *number = find_target(opened, false);
  char name[GPNN_MASK_BYTES];
  const char *option = NULL;
  if (classes == NULL) {
    option = cli_misplaced(cli, CLI_OF_CLASSES);
    if (option == NULL) return GPNN_OK;
    gpnn_schema_column_name(&number->schema.target, name);
    return gpnn_fail(err, GPNN_EINVAL, "--%s is about classes, and target '%s' is a number", option,
                     name);
  }
  gpnn_schema_column_name(&classes->schema.target, name);
  if (number == NULL) option = cli_misplaced(cli, CLI_OF_NUMBERS);
  if (option == NULL && a->samples > 0) option = "samples";
  if (option == NULL && a->group != NULL) option = "group";
  if (option == NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL, "--%s is about numbers, and target '%s' holds classes%s",
                   option, name, number == NULL ? "" : "; --targets leaves it out");
}

/* ---- costs -------------------------------------------------------------------------------- */

/* The class of a target whose name 'text' begins with, before an equals sign, the longest of
 * several; SIZE_MAX: there is none. */
static size_t find_class(const struct gpnn_dataset *dataset, const char *text, size_t *length)
{
  size_t found = SIZE_MAX, n = gpnn_dataset_n_classes(dataset), left = strlen(text);
  *length = 0;
  for (size_t c = 0; c < n; c++) {
    size_t size;
    const char *name = gpnn_dataset_class(dataset, c, &size);
    if (size < *length || size >= left || memcmp(name, text, size) != 0 || text[size] != '=')
      continue;
    found = c;
    *length = size;
  }
  return found;
}

/* Sets what the cost that 'text' begins with is of, in all targets that have such a class; returns
 * how long the name is, 0 if no target has one.  NAN as cost only looks. */
static size_t set_cost(struct classes *classes, const struct opened *opened, const char *text,
                       double cost)
{
  size_t length, longest = 0;
  for (size_t t = 0; t < opened->n; t++) {
    size_t c = find_class(opened->channels[t].dataset, text, &length);
    if (length > longest) longest = length;
    if (c != SIZE_MAX && !isnan(cost)) classes[t].cost[c] = cost;
  }
  return longest;
}

/* Reads one "NAME=C" of --cost from '*text' on, and moves that behind it. */
static enum gpnn_status read_cost(struct classes *classes, const struct opened *opened,
                                  const char **text, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  size_t name = set_cost(classes, opened, *text, NAN);
  double cost;
  if (name == 0)
    return gpnn_fail(err, GPNN_EINVAL, "--cost: \"%s\" begins with no name of a class and =",
                     gpnn_mask(shown, *text, strlen(*text)));
  const char *value = *text + name + 1;
  size_t length = strcspn(value, ",");
  if (gpnn_number_read(value, length, &cost) != GPNN_NUMBER_OK || !(cost > 0) || !isfinite(cost))
    return gpnn_fail(err, GPNN_EINVAL, "--cost: not a number above 0: \"%s\"",
                     gpnn_mask(shown, value, length));
  set_cost(classes, opened, *text, cost);
  *text = value + length + (value[length] == ',');
  return GPNN_OK;
}

static enum gpnn_status read_costs(struct classes *classes, const struct opened *opened,
                                   const char *text, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < opened->n; t++) {
    classes[t].cost = gpnn_alloc(classes[t].n, 1, sizeof *classes[t].cost);
    if (classes[t].cost == NULL) return gpnn_fail_memory(err, "for the costs");
    for (size_t c = 0; c < classes[t].n; c++) classes[t].cost[c] = 1;
  }
  do status = read_cost(classes, opened, &text, err);
  while (status == GPNN_OK && *text != '\0');
  return status;
}

/* ---- life --------------------------------------------------------------------------------- */

/* GPNN_EINVAL: the names of classes are no numbers, as a .npy file needs them. */
static enum gpnn_status check_npy(const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  char target[GPNN_MASK_BYTES], shown[GPNN_MASK_BYTES];
  double value;
  for (size_t c = 0; c < gpnn_dataset_n_classes(dataset); c++) {
    size_t length;
    const char *name = gpnn_dataset_class(dataset, c, &length);
    if (gpnn_number_read(name, length, &value) == GPNN_NUMBER_OK) continue;
    gpnn_schema_column_name(&dataset->schema.target, target);
    return gpnn_fail(err, GPNN_EINVAL,
                     "a .npy file holds only numbers, and target '%s' has the class \"%s\"", target,
                     gpnn_mask(shown, name, length));
  }
  return GPNN_OK;
}

/* Sets the classes of target 't'. */
static enum gpnn_status init_target(struct classes *classes, size_t t, const struct cli *cli,
                                    const struct predict_arguments *a, const struct opened *opened,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = opened->channels[t].dataset;
  struct classes *own = &classes[t];
  own->n = gpnn_dataset_n_classes(dataset);
  if (own->n == 0) return GPNN_OK;
  for (size_t k = 0; k < opened->n; k++) {
    size_t n = gpnn_dataset_n_classes(opened->channels[k].dataset);
    own->n_targets += n > 0;
    own->number += n > 0 && k < t;
    own->n_before += k < t ? n : 0;
  }
  own->labels_only = a->labels_only;
  own->is_top = a->top > 0;
  own->n_ranked = a->top < own->n ? a->top : own->n;
  if (own->n_ranked == 0) own->n_ranked = 1;
  own->rank = gpnn_alloc(own->n_ranked, 1, sizeof *own->rank);
  if (own->rank == NULL) return gpnn_fail_memory(err, "for the classes");
  return gpnn_npy_text_is_wanted(cli->output) ? check_npy(dataset, err) : GPNN_OK;
}

enum gpnn_status classes_init(struct classes *classes, const struct cli *cli,
                              const struct predict_arguments *a, const struct opened *opened,
                              struct gpnn_error *err)
{
  enum gpnn_status status = a->is_of_grids ? GPNN_OK : check_options(cli, a, opened, err);
  for (size_t t = 0; t < opened->n && status == GPNN_OK; t++)
    status = init_target(classes, t, cli, a, opened, err);
  if (status == GPNN_OK && a->cost != NULL) status = read_costs(classes, opened, a->cost, err);
  return status;
}

void classes_release(struct classes *classes)
{
  free(classes->cost);
  free(classes->rank);
  *classes = (struct classes){0};
}

/* ---- names -------------------------------------------------------------------------------- */

/* Writes "label" and "probability"; of the k-th most probable class, "label2" and so on. */
static enum gpnn_status write_rank_names(const struct classes *classes,
                                         const struct columns *columns, size_t k, struct sink *sink,
                                         struct gpnn_error *err)
{
  char label[32] = "label", probability[40] = "probability";
  if (k > 1) {
    snprintf(label, sizeof label, "label%zu", k);
    snprintf(probability, sizeof probability, "probability%zu", k);
  }
  enum gpnn_status status = columns_write_name(columns, sink, label, err);
  if (status == GPNN_OK && classes->is_top)
    status = columns_write_name(columns, sink, probability, err);
  return status;
}

/* Writes "p_NAME" for class 'c'. */
static enum gpnn_status write_class_name(const struct columns *columns, size_t c, struct sink *sink,
                                         struct gpnn_error *err)
{
  size_t length;
  const char *name = gpnn_dataset_class(columns->channel->dataset, c, &length);
  char *whole = malloc(length + 3);
  if (whole == NULL) return gpnn_fail_memory(err, "for the name of a column");
  snprintf(whole, length + 3, "p_%s", name);
  enum gpnn_status status = columns_write_name(columns, sink, whole, err);
  free(whole);
  return status;
}

/* True if each class has a column. */
static bool has_all(const struct classes *classes)
{
  return !classes->is_top && !classes->labels_only;
}

enum gpnn_status classes_write_names(const struct classes *classes, const struct columns *columns,
                                     struct sink *sink, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (columns->has_truth)
    status = sink_text(sink, columns->channel->dataset->schema.target.name, err);
  for (size_t k = 1; k <= classes->n_ranked && status == GPNN_OK; k++)
    status = write_rank_names(classes, columns, k, sink, err);
  for (size_t c = 0; c < classes->n && has_all(classes) && status == GPNN_OK; c++)
    status = write_class_name(columns, c, sink, err);
  if (status == GPNN_OK && classes->is_top && columns->has_truth)
    status = columns_write_name(columns, sink, "logp", err);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

static enum gpnn_status write_class(const struct columns *columns, size_t c, struct sink *sink,
                                    struct gpnn_error *err)
{
  size_t length;
  const char *name = gpnn_dataset_class(columns->channel->dataset, c, &length);
  return sink_bytes(sink, name, length, err);
}

/* Writes the truth: as the table has it, or of a training row, which has no text, its class. */
static enum gpnn_status write_truth(const struct classes *classes, const struct columns *columns,
                                    struct sink *sink, const struct batch *batch, size_t i,
                                    double truth, struct gpnn_error *err)
{
  size_t length;
  if (isnan(truth)) return sink_value(sink, truth, err);
  if (batch->truths.n == 0) return write_class(columns, (size_t)truth, sink, err);
  const char *text = texts_get(&batch->truths, i * classes->n_targets + classes->number, &length);
  return sink_bytes(sink, text, length, err);
}

/* The logarithm of the probability of the truth, as far as that is a number; NaN if there is none.
 */
static double log_probability(const struct classes *classes, const double *p, double truth)
{
  bool is_known = truth >= 0 && truth < (double)classes->n;
  return p == NULL || !is_known ? nan("") : log(fmax(p[(size_t)truth], DBL_TRUE_MIN));
}

/* Writes the classes ranked first, and with --top their probabilities; 'p' NULL: missing. */
static enum gpnn_status write_ranked(const struct classes *classes, const struct columns *columns,
                                     const double *p, struct sink *sink, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < classes->n_ranked && status == GPNN_OK; k++) {
    status = p == NULL ? sink_value(sink, nan(""), err)
                       : write_class(columns, classes->rank[k], sink, err);
    if (status == GPNN_OK && classes->is_top)
      status = sink_value(sink, p == NULL ? nan("") : p[classes->rank[k]], err);
  }
  return status;
}

enum gpnn_status classes_write_row(struct classes *classes, const struct columns *columns,
                                   struct sink *sink, const struct batch *batch, size_t t, size_t i,
                                   size_t good, struct gpnn_error *err)
{
  double truth = batch->truth[i * batch->shape.n_targets + t];
  const double *p = NULL;
  if (good != SIZE_MAX) p = batch->classes + classes->n_before * batch->n_good + good * classes->n;
  if (p != NULL && isnan(p[0])) p = NULL;
  if (p != NULL) gpnn_labels_rank(classes->n, p, classes->cost, classes->n_ranked, classes->rank);
  enum gpnn_status status = GPNN_OK;
  if (columns->has_truth) status = write_truth(classes, columns, sink, batch, i, truth, err);
  if (status == GPNN_OK) status = write_ranked(classes, columns, p, sink, err);
  for (size_t c = 0; c < classes->n && has_all(classes) && status == GPNN_OK; c++)
    status = sink_value(sink, p == NULL ? nan("") : p[c], err);
  if (status == GPNN_OK && classes->is_top && columns->has_truth)
    status = sink_value(sink, log_probability(classes, p, truth), err);
  return status;
}
