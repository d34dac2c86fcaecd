#include "explain/columns.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The input that stands for the column of input 'i': the first from the same column, or the
 * latitude of a longitude. */
static size_t first_of(const struct gpnn_schema *schema, size_t i)
{
  if (schema->inputs[i].kind == GPNN_COLUMN_LONGITUDE) return schema->inputs[i].partner;
  while (gpnn_schema_is_repeat(schema, i)) i--;
  return i;
}

static void name_input(const struct gpnn_schema *schema, size_t input, char name[GPNN_MASK_BYTES])
{
  const struct gpnn_column *column = &schema->inputs[input];
  char first[GPNN_MASK_BYTES], second[GPNN_MASK_BYTES];
  gpnn_schema_column_name(column, first);
  if (column->kind != GPNN_COLUMN_LATITUDE) {
    memcpy(name, first, GPNN_MASK_BYTES);
    return;
  }
  gpnn_schema_column_name(&schema->inputs[column->partner], second);
  snprintf(name, GPNN_MASK_BYTES, "%.*s,%.*s", GPNN_MASK_BYTES / 2 - 1, first,
           GPNN_MASK_BYTES / 2 - 1, second);
}

/* Lists the standardised inputs of a column from 'at' on. */
static size_t *list_coordinates(struct gpnn_explain_column *column,
                                const struct gpnn_dataset *dataset, size_t *at)
{
  column->coordinate = at;
  for (size_t j = 0; j < dataset->d; j++)
    if (first_of(&dataset->schema, dataset->coordinates[j].input) == column->input) *at++ = j;
  column->n = (size_t)(at - column->coordinate);
  return at;
}

static void add_inputs(struct gpnn_explain_columns *columns, const struct gpnn_dataset *dataset)
{
  const struct gpnn_schema *schema = &dataset->schema;
  size_t *at = columns->coordinates;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    if (first_of(schema, i) != i) continue;
    struct gpnn_explain_column *column = &columns->of[columns->n++];
    *column = (struct gpnn_explain_column){.input = i, .regressor = SIZE_MAX};
    name_input(schema, i, column->name);
    at = list_coordinates(column, dataset, at);
  }
}

static void add_regressors(struct gpnn_explain_columns *columns, const struct gpnn_dataset *dataset)
{
  const struct gpnn_schema *schema = &dataset->schema;
  size_t n_inputs = columns->n;
  for (size_t r = 0; r < schema->n_regressors; r++) {
    size_t k = 0;
    while (k < n_inputs &&
           schema->inputs[columns->of[k].input].position != schema->regressors[r].position)
      k++;
    struct gpnn_explain_column *column = &columns->of[k < n_inputs ? k : columns->n];
    if (k == n_inputs) {
      *column = (struct gpnn_explain_column){.input = SIZE_MAX};
      gpnn_schema_column_name(&schema->regressors[r], column->name);
      columns->n++;
    }
    column->regressor = r;
  }
}

enum gpnn_status gpnn_explain_columns_find(struct gpnn_explain_columns *columns,
                                           const struct gpnn_dataset *dataset, bool with_regressors,
                                           struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &dataset->schema;
  if (dataset->coordinates == NULL)
    return gpnn_fail(err, GPNN_EDATA,
                     "whitening has mixed the columns, so that nothing can be said of one of them: "
                     "make the index without --standardise whiten");
  struct gpnn_explain_columns found = {
      .of = gpnn_alloc(schema->n_inputs + schema->n_regressors, 1, sizeof *found.of),
      .coordinates = gpnn_alloc(dataset->d, 1, sizeof *found.coordinates)};
  if (found.of == NULL || found.coordinates == NULL) {
    gpnn_explain_columns_release(&found);
    return gpnn_fail_memory(err, "for the columns");
  }
  add_inputs(&found, dataset);
  if (with_regressors) add_regressors(&found, dataset);
  *columns = found;
  return GPNN_OK;
}

static bool is_called(const struct gpnn_column *column, const char *name, size_t length)
{
  return strlen(column->name) == length && memcmp(column->name, name, length) == 0;
}

size_t gpnn_explain_columns_named(const struct gpnn_explain_columns *columns,
                                  const struct gpnn_dataset *dataset, const char *name,
                                  size_t length)
{
  const struct gpnn_schema *schema = &dataset->schema;
  for (size_t k = 0; k < columns->n; k++) {
    const struct gpnn_explain_column *own = &columns->of[k];
    const struct gpnn_column *column =
        own->input == SIZE_MAX ? &schema->regressors[own->regressor] : &schema->inputs[own->input];
    if (is_called(column, name, length)) return k;
    if (own->input != SIZE_MAX && column->kind == GPNN_COLUMN_LATITUDE &&
        is_called(&schema->inputs[column->partner], name, length))
      return k;
  }
  return SIZE_MAX;
}

/* Sums over the rows, about their means; of each class, where the target holds classes. */
struct shares {
  size_t n_classes;
  size_t *rows; /* n_classes: how many there are */
  double *sums; /* n_classes: of an input */
};

/* The share of the variance of standardised input 'j' that goes along with the target. */
static double share_of(const struct gpnn_dataset *dataset, size_t j, const struct shares *shares)
{
  size_t n = dataset->n;
  double mean = 0, y_mean = 0, squares = 0, y_squares = 0, products = 0, between = 0;
  for (size_t i = 0; i < n; i++) {
    mean += dataset->x[i * dataset->d + j] / (double)n;
    y_mean += dataset->y[i] / (double)n;
  }
  for (size_t c = 0; c < shares->n_classes; c++) shares->sums[c] = 0;
  for (size_t i = 0; i < n; i++) {
    double x = dataset->x[i * dataset->d + j] - mean, y = dataset->y[i] - y_mean;
    squares += x * x;
    y_squares += y * y;
    products += x * y;
    if (shares->n_classes > 0) shares->sums[(size_t)dataset->y[i]] += x;
  }
  for (size_t c = 0; c < shares->n_classes; c++)
    if (shares->rows[c] > 0) between += shares->sums[c] * shares->sums[c] / (double)shares->rows[c];
  if (!(squares > 0) || !(y_squares > 0)) return 0;
  return shares->n_classes > 0 ? between / squares : products * products / (squares * y_squares);
}

enum gpnn_status gpnn_explain_columns_share(const struct gpnn_explain_columns *columns,
                                            const struct gpnn_dataset *dataset, double *share,
                                            struct gpnn_error *err)
{
  size_t n = gpnn_dataset_n_classes(dataset);
  struct shares shares = {n, gpnn_alloc(n, 1, sizeof(size_t)), gpnn_alloc(n, 1, sizeof(double))};
  bool enough = shares.rows != NULL && shares.sums != NULL;
  if (enough && n > 0) gpnn_dataset_count_classes(dataset, shares.rows);
  for (size_t k = 0; k < columns->n && enough; k++) {
    share[k] = 0;
    for (size_t c = 0; c < columns->of[k].n; c++) {
      double of_input = share_of(dataset, columns->of[k].coordinate[c], &shares);
      if (of_input > share[k]) share[k] = of_input;
    }
  }
  free(shares.rows);
  free(shares.sums);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the columns");
}

void gpnn_explain_columns_release(struct gpnn_explain_columns *columns)
{
  free(columns->of);
  free(columns->coordinates);
  *columns = (struct gpnn_explain_columns){0};
}
