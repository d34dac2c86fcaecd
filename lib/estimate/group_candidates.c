#include "estimate/group_effects.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { FEWEST_LEVELS = 10, ROWS_A_LEVEL = 3, MOST_ROWS = 1 << 17 };

/* A row's value of an input, and its target. */
struct row {
  double value, y;
};

static int compare_rows(const void *a, const void *b)
{
  const struct row *x = a, *y = b;
  return (x->value > y->value) - (x->value < y->value);
}

/* What tells the rows of an input apart, from the smallest value to the largest. */
struct levels {
  double n_rows, n, n_squared; /* rows, levels, and the sum of their squared numbers of rows */
  double most;                 /* rows of a level */
  double sum, squares;         /* of targets */
  double between;              /* sum over levels of n_l times the squared mean */
  double steps, weights;       /* sums over neighbours of w and of w times the squared difference of
                                  their means, where s2 / w is the variance of that difference */
};

static void add_step(struct levels *levels, double n_before, double before, double n, double mean)
{
  double weight = n_before * n / (n_before + n);
  levels->weights += weight;
  levels->steps += weight * (mean - before) * (mean - before);
}

static struct levels summarise(size_t n, const struct row *rows)
{
  struct levels levels = {.n_rows = (double)n};
  double n_before = 0, before = 0;
  for (size_t i = 0, end; i < n; i = end) {
    double sum = 0;
    for (end = i; end < n && rows[end].value == rows[i].value; end++) {
      sum += rows[end].y;
      levels.squares += rows[end].y * rows[end].y;
    }
    double own = (double)(end - i), mean = sum / own;
    if (i > 0) add_step(&levels, n_before, before, own, mean);
    levels.n++;
    levels.n_squared += own * own;
    levels.most = fmax(levels.most, own);
    levels.sum += sum;
    levels.between += own * mean * mean;
    n_before = own;
    before = mean;
  }
  return levels;
}

/*
 * True if levels differ, and neighbours among them about as much as any two: half the mean squared
 * difference of neighbours, without what rows within levels explain, is then the variance between
 * levels.  Of a quantity on which targets depend smoothly it is far less.
 */
static bool are_names(const struct levels *l)
{
  static const double errors = 3, share = 0.5;
  /* An area that is often 0 has few rows of each other value. */
  if (l->n < FEWEST_LEVELS || l->n_rows - l->most < ROWS_A_LEVEL * (l->n - 1)) return false;
  double within = (l->squares - l->between) / (l->n_rows - l->n);
  double evenly = (l->n_rows - l->n_squared / l->n_rows) / (l->n - 1);
  double total = (l->between - l->sum * l->sum / l->n_rows) / (l->n - 1);
  double spread = (total - within) / evenly;
  double rough = (l->steps - within * (l->n - 1)) / (2 * l->weights);
  double error = within * sqrt(3 * (l->n - 1)) / (2 * l->weights);
  return rough > errors * error && rough > share * spread;
}

/* The value of an input in the table, or near it. */
static double restore(const struct gpnn_dataset *view, size_t j, double value)
{
  const struct gpnn_scaling *scaling = &view->scaling;
  size_t feature = view->coordinates[j].feature;
  return scaling->method == GPNN_SCALING_SCALE
             ? value / scaling->weight[feature] + scaling->mean[feature]
             : value;
}

/* Takes every 'stride'th row; false: some value is no whole number. */
static bool take_rows(const struct gpnn_dataset *view, size_t j, size_t stride, struct row *rows,
                      size_t *n)
{
  static const double rounding = 1e-6;
  *n = 0;
  for (size_t i = 0; i < view->n; i += stride) {
    double value = restore(view, j, view->x[i * view->d + j]), whole = nearbyint(value);
    if (!(fabs(value - whole) < rounding)) return false;
    rows[(*n)++] = (struct row){whole, view->y[i]};
  }
  return true;
}

enum gpnn_status gpnn_group_candidates(const struct gpnn_dataset *view, bool *are,
                                       struct gpnn_error *err)
{
  static const double useless = 1000; /* shrinkage of codes of levels that do not differ */
  const struct gpnn_schema *schema = &view->schema;
  for (size_t i = 0; i < schema->n_inputs; i++) are[i] = false;
  if (gpnn_dataset_n_classes(view) > 0 || view->coordinates == NULL) return GPNN_OK;
  size_t stride = (view->n - 1) / MOST_ROWS + 1, n;
  struct row *rows = gpnn_alloc(view->n / stride + 1, 1, sizeof *rows);
  if (rows == NULL) return gpnn_fail_memory(err, "for the groups");
  for (size_t j = 0; j < view->d; j++) {
    size_t i = view->coordinates[j].input;
    const struct gpnn_column *input = &schema->inputs[i];
    if (input->kind == GPNN_COLUMN_CODED)
      are[i] = input->shrinkage < useless && !gpnn_schema_is_ordered(input);
    if (input->kind != GPNN_COLUMN_NUMBER || input->date != NULL || view->coordinates[j].is_score ||
        !take_rows(view, j, stride, rows, &n))
      continue;
    qsort(rows, n, sizeof *rows, compare_rows);
    const struct levels levels = summarise(n, rows);
    are[i] = are_names(&levels);
  }
  free(rows);
  return GPNN_OK;
}
