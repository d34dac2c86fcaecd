#include "dataset/missing.h"

#include <limits.h>
#include <math.h>
#include <string.h>

size_t gpnn_lacks_bytes(size_t n_inputs)
{
  return (n_inputs + CHAR_BIT - 1) / CHAR_BIT;
}

void gpnn_lacks_note(unsigned char *bits, size_t i)
{
  bits[i / CHAR_BIT] |= (unsigned char)(1u << i % CHAR_BIT);
}

bool gpnn_lacks(const unsigned char *bits, size_t i)
{
  return (bits[i / CHAR_BIT] >> i % CHAR_BIT & 1) != 0;
}

bool gpnn_dataset_takes_missing(const struct gpnn_dataset *dataset)
{
  return !dataset->drops_missing && dataset->coordinates != NULL && dataset->x != NULL;
}

bool gpnn_row_is_incomplete(size_t d, const double *x)
{
  for (size_t j = 0; j < d; j++)
    if (isnan(x[j])) return true;
  return false;
}

bool gpnn_row_is_empty(size_t d, const double *x)
{
  for (size_t j = 0; j < d; j++)
    if (!isnan(x[j])) return false;
  return true;
}

/* What a training row lacks; NULL: nothing. */
static const unsigned char *lacks_of(const struct gpnn_dataset *dataset, size_t row)
{
  return dataset->lacks == NULL ? NULL
                                : dataset->lacks + row * gpnn_lacks_bytes(dataset->schema.n_inputs);
}

size_t gpnn_missing_rows(const struct gpnn_dataset *dataset, size_t i)
{
  size_t n = 0;
  for (size_t row = 0; row < dataset->n && dataset->lacks != NULL; row++)
    n += gpnn_lacks(lacks_of(dataset, row), i) ? 1 : 0;
  return n;
}

/* How many lacked any. */
static size_t count_incomplete(const struct gpnn_dataset *dataset)
{
  size_t bytes = gpnn_lacks_bytes(dataset->schema.n_inputs), n = 0;
  for (size_t row = 0; row < dataset->n && dataset->lacks != NULL; row++) {
    const unsigned char *lacks = lacks_of(dataset, row);
    bool any = false;
    for (size_t b = 0; b < bytes; b++) any = any || lacks[b] != 0;
    n += any ? 1 : 0;
  }
  return n;
}

struct gpnn_missing_count gpnn_missing_count(const struct gpnn_dataset *dataset)
{
  const struct gpnn_schema *schema = &dataset->schema;
  struct gpnn_missing_count count = {.n_rows = count_incomplete(dataset)};
  size_t n_columns = 0;
  for (size_t i = 0; i < schema->n_inputs; i++) {
    if (gpnn_schema_is_repeat(schema, i)) continue;
    size_t n = gpnn_missing_rows(dataset, i);
    n_columns++;
    count.n_cells += n;
    count.n_inputs += n > 0 ? 1 : 0;
  }
  count.share = (double)count.n_cells / ((double)dataset->n * (double)n_columns);
  return count;
}

void gpnn_missing_restore(const struct gpnn_dataset *dataset, size_t row, double *x)
{
  const unsigned char *lacks = lacks_of(dataset, row);
  memcpy(x, dataset->x + row * dataset->d, dataset->d * sizeof *x);
  for (size_t j = 0; j < dataset->d && lacks != NULL; j++)
    if (gpnn_lacks(lacks, dataset->coordinates[j].input)) x[j] = NAN;
}

/* ---- draws --------------------------------------------------------------------------------- */

/* A training row that may complete another. */
struct donor {
  double distance; /* squared, in what the other has */
  size_t row;
};

/* Every how many training rows one is looked at. */
static size_t spacing(const struct gpnn_dataset *dataset)
{
  enum { MOST = 8192, LEAST = 1024, MOST_NUMBERS = 1 << 20 };
  size_t rows = MOST_NUMBERS / dataset->d;
  if (rows > MOST) rows = MOST;
  if (rows < LEAST) rows = LEAST;
  return (dataset->n + rows - 1) / rows;
}

/* Input 'j''s share of a squared distance: none if 'x' lacks it. */
static double part(const double *x, const double *y, size_t j)
{
  double off = x[j] - y[j];
  return isnan(off) ? 0 : off * off;
}

/* The squared distance of a training row, which is not finished beyond 'most'. */
static double distance(const struct gpnn_dataset *dataset, const double *x, size_t row, double most)
{
  const double *y = dataset->x + row * dataset->d;
  double sum = 0;
  size_t j = 0;
  for (; j + 4 <= dataset->d && sum <= most; j += 4)
    sum += (part(x, y, j) + part(x, y, j + 1)) + (part(x, y, j + 2) + part(x, y, j + 3));
  for (; j < dataset->d && sum <= most; j++) sum += part(x, y, j);
  return sum;
}

/* Puts a row in its place among the nearest so far, of which there are '*n', up to 'most'. */
static void insert(struct donor *nearest, size_t *n, size_t most, struct donor donor)
{
  if (*n == most && !(donor.distance < nearest[most - 1].distance)) return;
  size_t at = *n < most ? (*n)++ : most - 1;
  for (; at > 0 && donor.distance < nearest[at - 1].distance; at--) nearest[at] = nearest[at - 1];
  nearest[at] = donor;
}

/* True of row 'but', if it is one, and of those that are left out with it. */
static bool is_left_out(const struct gpnn_dataset *dataset, size_t row, int64_t but)
{
  const uint32_t *group = dataset->row_group;
  if (but < 0) return false;
  return (int64_t)row == but || (group != NULL && group[row] == group[but]);
}

void gpnn_missing_draw(const struct gpnn_dataset *dataset, const double *x, int64_t but,
                       size_t n_draws, double *draws)
{
  struct donor nearest[GPNN_MISSING_DRAWS_MOST];
  size_t step = spacing(dataset), d = dataset->d, n = 0;
  for (size_t row = 0; row < dataset->n; row += step) {
    if (is_left_out(dataset, row, but)) continue;
    struct donor donor = {.row = row};
    donor.distance = distance(dataset, x, row, n == n_draws ? nearest[n - 1].distance : INFINITY);
    insert(nearest, &n, n_draws, donor);
  }
  for (size_t k = 0; k < n_draws; k++) {
    const double *donor = dataset->x + (n == 0 ? 0 : nearest[k % n].row) * d;
    for (size_t j = 0; j < d; j++) {
      double value = isnan(x[j]) ? donor[j] : x[j];
      draws[k * d + j] = isnan(value) ? 0 : value; /* only damaged training rows lack any */
    }
  }
}
