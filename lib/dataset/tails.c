#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dataset/steps_private.h"
#include "stats/row_source.h"

/* Of Laplace's distribution. */
static const double most_kurtosis = 6;

/* ---- kurtosis ------------------------------------------------------------------------------ */

/* Powers of the distances from the centre, in spreads, up to the fourth. */
enum { POWERS = 4 };

struct powers {
  size_t n_in, width;
  const struct gpnn_spread *columns;
  double *sum; /* n_in by POWERS */
};

static void add_powers(const void *state, size_t count, const double *rows, double *found)
{
  const struct powers *p = state;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < p->n_in; j++) {
      if (p->columns[j].spread == 0) continue;
      double from = (rows[i * p->width + j] / 2 - p->columns[j].centre) / p->columns[j].spread;
      double power = from;
      for (size_t k = 0; k < POWERS; k++, power *= from) found[j * POWERS + k] += power;
    }
}

static void fold_powers(void *state, const double *found)
{
  const struct powers *p = state;
  for (size_t i = 0; i < p->n_in * POWERS; i++) p->sum[i] += found[i];
}

/* True if a column of 'n' cells has a long tail, from the sums of its powers; so it has if these
 * overflow. */
static bool is_long(size_t n, const double *sum)
{
  double a = sum[0] / (double)n, b = sum[1] / (double)n, c = sum[2] / (double)n,
         d = sum[3] / (double)n;
  double variance = b - a * a, fourth = d - 4 * a * c + 6 * a * a * b - 3 * a * a * a * a;
  return !(fourth <= most_kurtosis * variance * variance);
}

/* ---- tails --------------------------------------------------------------------------------- */

static enum gpnn_status set_tails(struct gpnn_learnt *tails, size_t n, size_t n_in,
                                  const struct gpnn_spread *columns, const double *sum,
                                  struct gpnn_error *err)
{
  bool some = false;
  double *centre = gpnn_alloc(n_in, 2, sizeof *centre);
  if (centre == NULL) return gpnn_fail_memory(err, "for the tails of the inputs");
  double *spread = centre + n_in;
  for (size_t j = 0; j < n_in; j++) {
    bool has_tail = columns[j].spread > 0 && columns[j].has_levels && is_long(n, sum + j * POWERS);
    centre[j] = 2 * columns[j].centre;
    spread[j] = has_tail ? 2 * columns[j].spread : 0;
    some = some || has_tail;
  }
  if (some)
    *tails = (struct gpnn_learnt){.n_features = n_in, .n = 2 * n_in, .numbers = centre};
  else
    free(centre);
  return GPNN_OK;
}

enum gpnn_status gpnn_tails_learn(struct gpnn_learnt *tails, const struct gpnn_row_source *rows,
                                  size_t n_in, const struct gpnn_feature *features,
                                  struct gpnn_error *err)
{
  struct gpnn_spread *columns = gpnn_alloc(n_in, 1, sizeof *columns);
  struct powers powers = {n_in, rows->width, columns, gpnn_alloc(n_in, POWERS, sizeof(double))};
  const struct gpnn_row_reduction reduction = {add_powers,    fold_powers, &powers,
                                               n_in * POWERS, powers.sum,  n_in * POWERS};
  enum gpnn_status status = columns == NULL || powers.sum == NULL
                                ? gpnn_fail_memory(err, "for the tails of the inputs")
                                : gpnn_spread_learn(rows, n_in, features, columns, err);
  if (status == GPNN_OK) status = gpnn_row_source_reduce(rows, &reduction, err);
  if (status == GPNN_OK) status = set_tails(tails, rows->n, n_in, columns, powers.sum, err);
  free(columns);
  free(powers.sum);
  return status;
}

bool gpnn_tails_are_valid(const struct gpnn_learnt *tails)
{
  size_t n = tails->n_features;
  if (tails->n != 2 * n) return false;
  for (size_t j = 0; j < n; j++)
    if (!(tails->numbers[n + j] >= 0)) return false;
  return true;
}

bool gpnn_tails_has(const struct gpnn_learnt *tails, size_t j)
{
  return tails->numbers != NULL && tails->numbers[tails->n_features + j] > 0;
}

double gpnn_tails_compress(const struct gpnn_learnt *tails, size_t j, double value)
{
  if (!gpnn_tails_has(tails, j)) return value;
  double centre = tails->numbers[j], spread = tails->numbers[tails->n_features + j];
  return centre + spread * asinh((value - centre) / spread);
}

double gpnn_tails_expand(const struct gpnn_learnt *tails, size_t j, double value)
{
  if (!gpnn_tails_has(tails, j)) return value;
  double centre = tails->numbers[j], spread = tails->numbers[tails->n_features + j];
  return centre + spread * sinh((value - centre) / spread);
}
