/* Conditional densities of several rows at once, one in each vector lane. */
#include <math.h>

#include "estimate/neighbourhood_private.h"
#include "kernel/kernel.h"
#include "linalg/factors/cholesky.h"
#include "linalg/simd.h"
#include "models/model.h"
#include "stats/distributions/normal.h"

typedef gpnn_lanes_vector vector;

#define INLINE static inline __attribute__((always_inline))

/* Block sizes: columns of z in a product; rows and columns of the factor in an elimination. */
enum { COLUMNS = GPNN_LANES_COLUMNS, ROWS = 4, PAIR = 2 };

/* The start of row 'i' of the factor, which ends with the diagonal.  Rows k and k + 1 are the
 * right-hand sides, with k entries each. */
INLINE vector *factor_row(const struct gpnn_lanes *lanes, size_t i)
{
  return lanes->factor + i * (i + 1) / 2 - (i > lanes->k ? 1 : 0);
}

/* The index of the first pair of row 'i'. */
static size_t pair_row(size_t i)
{
  return i * (i - (i > 0)) / 2;
}

/* ---- covariances ---------------------------------------------------------------------- */

/* Computes z of neighbour 'a' from lanes->difference. */
GPNN_SIMD static void map_difference(const struct gpnn_lanes *lanes, size_t a)
{
  const vector *difference = lanes->difference;
  vector *z = lanes->z + a * lanes->padded;
  size_t d = lanes->data->d;
  for (size_t j = 0; j < d; j++) {
    if (lanes->map == NULL) {
      z[j] = difference[j] * lanes->inverse[j];
      continue;
    }
    const double *map = lanes->map + j * d;
    vector sum = difference[0] * map[0];
    for (size_t i = 1; i < d; i++) sum += difference[i] * map[i];
    z[j] = sum;
  }
}

/* Loads the neighbours' targets and noise. */
static void load_targets(struct gpnn_lanes *lanes, const int64_t *neighbour)
{
  size_t k = lanes->k;
  vector *targets = factor_row(lanes, k + 1);
  for (size_t l = 0; l < GPNN_LANES; l++)
    for (size_t a = 0; a < k; a++) {
      targets[a][l] =
          gpnn_channel_residual(lanes->data, lanes->params, (size_t)neighbour[l * k + a]);
      lanes->diagonal[a][l] =
          gpnn_channel_noise(lanes->data, lanes->params, (size_t)neighbour[l * k + a]);
    }
}

/* Loads the neighbours' inputs, relative to their rows, into lanes->z. */
static void load_inputs(struct gpnn_lanes *lanes, const int64_t *row, const int64_t *neighbour)
{
  size_t d = lanes->data->d, k = lanes->k;
  for (size_t a = 0; a < k; a++) {
    for (size_t l = 0; l < GPNN_LANES; l++) {
      size_t at = (size_t)neighbour[l * k + a];
      const double *x = lanes->data->x + at * d, *origin = lanes->data->x + (size_t)row[l] * d;
      for (size_t j = 0; j < d; j++) lanes->difference[j][l] = x[j] - origin[j];
    }
    map_difference(lanes, a);
  }
}

/* Squared distances between all pairs of neighbours, and from each to the row itself. */
GPNN_SIMD static void square_distances(struct gpnn_lanes *lanes)
{
  size_t padded = lanes->padded;
  vector *r2 = lanes->r2;
  for (size_t a = 0; a < lanes->k; a++) {
    const vector *z = lanes->z + a * padded;
    for (size_t b = 0; b < a; b++) {
      const vector *other = lanes->z + b * padded;
      vector sum = {0};
      for (size_t j = 0; j < padded; j++) sum += (z[j] - other[j]) * (z[j] - other[j]);
      *r2++ = sum;
    }
    vector sum = {0};
    for (size_t j = 0; j < padded; j++) sum += z[j] * z[j];
    lanes->cross2[a] = sum;
  }
}

/* The same from stored squared distances of the inputs, with a single lengthscale. */
static void scale_squares(struct gpnn_lanes *lanes, const double *squares)
{
  size_t k = lanes->k, n_pairs = pair_row(k);
  double factor = lanes->inverse[0] * lanes->inverse[0];
  for (size_t l = 0; l < GPNN_LANES; l++, squares += n_pairs + k) {
    for (size_t i = 0; i < n_pairs; i++) lanes->r2[i][l] = squares[i] * factor;
    for (size_t a = 0; a < k; a++) lanes->cross2[a][l] = squares[n_pairs + a] * factor;
  }
}

/* Correlations and their slopes. */
static void correlate(struct gpnn_lanes *lanes)
{
  const struct gpnn_parameters *params = lanes->params;
  size_t k = lanes->k;
  params->covariance.kernel->with_slope(params->covariance.smoothness, pair_row(k) * GPNN_LANES,
                                        (double *)lanes->r2, (double *)lanes->pair,
                                        (double *)lanes->slope);
  params->covariance.kernel->with_slope(params->covariance.smoothness, k * GPNN_LANES,
                                        (double *)lanes->cross2, (double *)lanes->cross,
                                        (double *)lanes->cross_slope);
}

/* Writes the neighbours' covariances to the factor, and those with the row to the first right-hand
 * side. */
GPNN_SIMD static void fill_covariance(struct gpnn_lanes *lanes)
{
  const vector *pair = lanes->pair;
  double scale = lanes->params->covariance.kernelscale;
  vector *to = lanes->factor, *cross = factor_row(lanes, lanes->k);
  for (size_t a = 0; a < lanes->k; a++) {
    for (size_t b = 0; b < a; b++) *to++ = *pair++ * scale;
    *to++ = lanes->diagonal[a] + scale;
    cross[a] = lanes->cross[a] * scale;
  }
}

/* ---- factorisation -------------------------------------------------------------------- */

INLINE void root(vector *v)
{
  for (size_t l = 0; l < GPNN_LANES; l++) (*v)[l] = sqrt((*v)[l]);
}

/* Computes entry j, and j + 1 if 'n_columns' is 2, of 'n' rows from 'i' on.  The earlier entries of
 * these rows, and rows j and j + 1 themselves, must be complete. */
INLINE void eliminate(struct gpnn_lanes *lanes, size_t i, size_t n, size_t j, size_t n_columns)
{
  const vector *done[PAIR] = {factor_row(lanes, j), factor_row(lanes, j + n_columns - 1)};
  vector *own[ROWS], sum[ROWS][PAIR];
#pragma GCC unroll 4
  for (size_t r = 0; r < n; r++) {
    own[r] = factor_row(lanes, i + r);
#pragma GCC unroll 2
    for (size_t c = 0; c < n_columns; c++) sum[r][c] = own[r][j + c];
  }
  for (size_t p = 0; p < j; p++)
#pragma GCC unroll 4
    for (size_t r = 0; r < n; r++)
#pragma GCC unroll 2
      for (size_t c = 0; c < n_columns; c++) sum[r][c] -= own[r][p] * done[c][p];
#pragma GCC unroll 4
  for (size_t r = 0; r < n; r++) {
    own[r][j] = sum[r][0] * lanes->inverse_diagonal[j];
    if (n_columns == PAIR)
      own[r][j + 1] =
          (sum[r][1] - own[r][j] * done[1][j]) * lanes->inverse_diagonal[j + n_columns - 1];
  }
}

/* Computes all entries before 'end' of 'n' rows from 'i' on. */
INLINE void eliminate_all(struct gpnn_lanes *lanes, size_t i, size_t n, size_t end)
{
  size_t j = 0;
  for (; j + PAIR <= end; j += PAIR) eliminate(lanes, i, n, j, PAIR);
  if (j < end) eliminate(lanes, i, n, j, 1);
}

INLINE void finish_row(struct gpnn_lanes *lanes, size_t i, size_t from)
{
  vector *own = factor_row(lanes, i), rest;
  for (size_t j = from; j < i; j++) eliminate(lanes, i, 1, j, 1);
  rest = own[i];
  for (size_t p = 0; p < i; p++) rest -= own[p] * own[p];
  root(&rest);
  own[i] = rest;
  lanes->inverse_diagonal[i] = 1 / rest;
}

/* Factors A = L L' row by row, and multiplies the right-hand sides, which are rows without a
 * diagonal, by L^-1.  If A is not positive definite, the diagonal contains NaN, or zero with an
 * infinite inverse. */
GPNN_SIMD static void factor(struct gpnn_lanes *lanes)
{
  size_t k = lanes->k, i = 0;
  for (; i + ROWS <= k; i += ROWS) {
    eliminate_all(lanes, i, ROWS, i);
    for (size_t r = 0; r < ROWS; r++) finish_row(lanes, i + r, i);
  }
  for (; i < k; i++) finish_row(lanes, i, 0);
  eliminate_all(lanes, k, 2, k);
}

/* The variance that the neighbours explain, and the mean predicted from them. */
struct moments {
  vector explained, mean;
};

GPNN_SIMD static void multiply(const struct gpnn_lanes *lanes, struct moments *moments)
{
  const vector *w = factor_row(lanes, lanes->k), *alpha = factor_row(lanes, lanes->k + 1);
  moments->explained = moments->mean = (vector){0};
  for (size_t a = 0; a < lanes->k; a++) {
    moments->explained += w[a] * w[a];
    moments->mean += w[a] * alpha[a];
  }
}

/* Multiplies both right-hand sides by L'^-1. */
GPNN_SIMD static void solve_backward(struct gpnn_lanes *lanes)
{
  size_t k = lanes->k;
  vector *w = factor_row(lanes, k), *alpha = factor_row(lanes, k + 1);
  for (size_t i = k; i-- > 0;) {
    const vector *own = factor_row(lanes, i);
    vector solved_w = w[i] * lanes->inverse_diagonal[i];
    vector solved_alpha = alpha[i] * lanes->inverse_diagonal[i];
    w[i] = solved_w;
    alpha[i] = solved_alpha;
    for (size_t p = 0; p < i; p++) {
      w[p] -= own[p] * solved_w;
      alpha[p] -= own[p] * solved_alpha;
    }
  }
}

/* Multiplies right-hand side 'side', a row of the factor, by L'^-1. */
GPNN_SIMD static void solve_one_backward(struct gpnn_lanes *lanes, size_t side)
{
  vector *w = factor_row(lanes, side);
  for (size_t i = lanes->k; i-- > 0;) {
    const vector *own = factor_row(lanes, i);
    vector solved = w[i] * lanes->inverse_diagonal[i];
    w[i] = solved;
    for (size_t p = 0; p < i; p++) w[p] -= own[p] * solved;
  }
}

/* Multiplies the second right-hand side by A^-1. */
GPNN_SIMD static void solve_second(struct gpnn_lanes *lanes)
{
  eliminate_all(lanes, lanes->k + 1, 1, lanes->k);
  solve_one_backward(lanes, lanes->k + 1);
}

/* ---- derivatives ---------------------------------------------------------------------- */

/* Derivatives of the log density by the mean and by the variance, of all lanes. */
struct slopes {
  vector by_mean, by_variance, explained;
};

/* Writes the weights of the squared differences, of pairs to lanes->pair (their row sums to
 * lanes->sum) and with the row itself to lanes->cross, and the derivatives that need no distances.
 */
GPNN_SIMD static void weigh(struct gpnn_lanes *lanes, const struct slopes *by)
{
  size_t k = lanes->k, n = lanes->params->covariance.n_lengthscales;
  const vector *w = factor_row(lanes, k), *alpha = factor_row(lanes, k + 1), *slope = lanes->slope;
  vector *weight = lanes->pair, wa = {0}, ww = {0}, kept = {0}, sum_w = {0};
  double scale = lanes->params->covariance.kernelscale, noise = lanes->params->covariance.noise;
  for (size_t a = 0; a < k; a++) {
    vector own = (by->by_variance * w[a] - 0.5 * by->by_mean * alpha[a]) * scale;
    vector other = by->by_mean * w[a] * (-0.5 * scale), total = {0};
    for (size_t b = 0; b < a; b++) {
      vector here = *slope++ * (own * w[b] + other * alpha[b]);
      *weight++ = here;
      total += here;
      lanes->sum[b] += here;
    }
    lanes->sum[a] = total;
    lanes->cross[a] =
        lanes->cross_slope[a] * scale * (by->by_mean * alpha[a] - 2 * by->by_variance * w[a]);
    wa += w[a] * alpha[a];
    ww += w[a] * w[a];
    kept += lanes->diagonal[a] * (by->by_mean * w[a] * alpha[a] - by->by_variance * w[a] * w[a]);
    sum_w += w[a];
  }
  lanes->gradient[n] = by->by_variance * (scale - by->explained) + kept;
  lanes->gradient[n + 1] = noise * (by->by_variance - by->by_mean * wa + by->by_variance * ww);
  lanes->gradient[n + 2] = by->by_mean * (1 - sum_w);
}

/* Computes COLUMNS columns, from j on, of T = (2 (D - W) + diag(c)) Z, with the weights of pairs as
 * a symmetric matrix W, its row sums D, and the weights c with the row itself.  Z'T is then the
 * weighted sum of products of differences. */
INLINE void weigh_columns(struct gpnn_lanes *lanes, size_t j)
{
  size_t k = lanes->k, padded = lanes->padded;
  for (size_t a = 0; a < k; a++) {
    const vector *z = lanes->z + j, *weight = lanes->pair + pair_row(a);
    vector sum[COLUMNS], own = lanes->sum[a] + 0.5 * lanes->cross[a];
#pragma GCC unroll 4
    for (size_t c = 0; c < COLUMNS; c++) sum[c] = own * z[a * padded + c];
    for (size_t b = 0; b < a; b++)
#pragma GCC unroll 4
      for (size_t c = 0; c < COLUMNS; c++) sum[c] -= weight[b] * z[b * padded + c];
    weight += a;
    for (size_t b = a + 1; b < k; weight += b++)
#pragma GCC unroll 4
      for (size_t c = 0; c < COLUMNS; c++) sum[c] -= weight[a] * z[b * padded + c];
#pragma GCC unroll 4
    for (size_t c = 0; c < COLUMNS; c++) lanes->t[a * padded + j + c] = 2 * sum[c];
  }
}

/* The derivative by element (j, i) of the map; without a map, i must be j. */
INLINE vector *map_element(const struct gpnn_lanes *lanes, size_t j, size_t i)
{
  return lanes->by_map + (lanes->with_map ? j * lanes->data->d + i : j);
}

/* Computes Z'T, or only its diagonal without a map. */
GPNN_SIMD static void square_weighted(struct gpnn_lanes *lanes)
{
  size_t d = lanes->data->d, padded = lanes->padded;
  for (size_t j = 0; j < padded; j += COLUMNS) weigh_columns(lanes, j);
  for (size_t j = 0; j < d; j++)
    for (size_t i = lanes->with_map ? 0 : j; i <= j; i++) {
      vector sum = {0};
      for (size_t a = 0; a < lanes->k; a++)
        sum += lanes->z[a * padded + j] * lanes->t[a * padded + i];
      *map_element(lanes, j, i) = *map_element(lanes, i, j) = sum;
    }
}

/* With a single lengthscale and no map, squared distances suffice. */
GPNN_SIMD static void sum_weighted(struct gpnn_lanes *lanes)
{
  size_t n_pairs = pair_row(lanes->k);
  vector pairs = {0}, cross = {0};
  for (size_t i = 0; i < n_pairs; i++) pairs += lanes->pair[i] * lanes->r2[i];
  for (size_t a = 0; a < lanes->k; a++) cross += lanes->cross[a] * lanes->cross2[a];
  lanes->gradient[0] = 2 * pairs + cross;
}

/* ---- results -------------------------------------------------------------------------- */

/* True if the pivots of lane 'l' are as large as gpnn_cholesky_factor() requires. */
static bool is_definite(const struct gpnn_lanes *lanes, size_t l)
{
  double rounding = gpnn_cholesky_rounding(lanes->k);
  bool definite = true;
  for (size_t a = 0; a < lanes->k; a++) {
    double inverse = lanes->inverse_diagonal[a][l];
    double whole = lanes->params->covariance.kernelscale + lanes->diagonal[a][l];
    definite &= inverse > 0 && inverse * inverse * rounding * whole < 1;
  }
  return definite;
}

/* Losses, squared errors, and the derivatives by mean and variance. */
static void measure(const struct gpnn_lanes *lanes, const int64_t *row,
                    const struct moments *moments, double *loss, double *z2, struct slopes *by)
{
  by->explained = moments->explained;
  for (size_t l = 0; l < GPNN_LANES; l++) {
    double total = lanes->params->covariance.kernelscale +
                   gpnn_channel_noise(lanes->data, lanes->params, (size_t)row[l]);
    double v = fmax(total - moments->explained[l], 1e-12 * total);
    double e = gpnn_channel_residual(lanes->data, lanes->params, (size_t)row[l]) - moments->mean[l];
    z2[l] = e * e / v;
    loss[l] = 0.5 * (log(v) + z2[l] + GPNN_LOG_TWO_PI);
    by->by_mean[l] = e / v;
    by->by_variance[l] = 0.5 * (z2[l] - 1) / v;
    if (!is_definite(lanes, l) || !isfinite(loss[l])) loss[l] = NAN;
  }
}

/* The derivatives by the lengthscales. */
static void sum_lengthscales(struct gpnn_lanes *lanes)
{
  size_t d = lanes->data->d, n = lanes->params->covariance.n_lengthscales;
  if (n == 1 && !lanes->with_map) {
    sum_weighted(lanes);
    return;
  }
  square_weighted(lanes);
  for (size_t j = 0; j < n; j++) lanes->gradient[j] = (vector){0};
  for (size_t j = 0; j < d; j++)
    lanes->gradient[n == 1 ? 0 : lanes->data->group[j]] += *map_element(lanes, j, j);
}

static void write_gradients(struct gpnn_lanes *lanes, double *gradients, size_t stride)
{
  size_t d = lanes->data->d, n = lanes->params->covariance.n_lengthscales;
  size_t before = n + 3 + (lanes->labels == NULL ? 0 : gpnn_labels_width(lanes->labels));
  sum_lengthscales(lanes);
  for (size_t l = 0; l < GPNN_LANES; l++) {
    double *to = gradients + l * stride;
    for (size_t j = 0; j < n + 3; j++) to[j] = lanes->gradient[j][l];
    for (size_t j = 0; lanes->with_map && j < d * d; j++) to[before + j] = lanes->by_map[j][l];
  }
}

/* Factors the covariances of the neighbours, and finds what they explain and predict. */
static void condition(struct gpnn_lanes *lanes, const int64_t *row, const int64_t *neighbour,
                      const double *squares, struct moments *moments)
{
  load_targets(lanes, neighbour);
  if (squares == NULL || lanes->map != NULL || lanes->params->covariance.n_lengthscales > 1) {
    load_inputs(lanes, row, neighbour);
    square_distances(lanes);
  } else {
    scale_squares(lanes, squares);
  }
  correlate(lanes);
  fill_covariance(lanes);
  factor(lanes);
  multiply(lanes, moments);
}

void gpnn_lanes_conditional(struct gpnn_lanes *lanes, const int64_t *row, const int64_t *neighbour,
                            const double *squares, double *loss, double *z2, double *gradients,
                            size_t stride)
{
  struct moments moments;
  struct slopes by;
  condition(lanes, row, neighbour, squares, &moments);
  measure(lanes, row, &moments, loss, z2, &by);
  if (gradients == NULL) return;
  solve_backward(lanes);
  weigh(lanes, &by);
  write_gradients(lanes, gradients, stride);
}

/* Losses of the rows' classes, the derivatives by their links and variances, and those by the
 * weights of neighbours as the second right-hand side. */
static void measure_labels(struct gpnn_lanes *lanes, const int64_t *row, const int64_t *neighbour,
                           double *loss, double *error, struct slopes *by, double *gradients,
                           size_t stride)
{
  struct gpnn_labels *labels = lanes->labels;
  size_t k = lanes->k, n = lanes->params->covariance.n_lengthscales;
  const double *y = lanes->data->y, total = lanes->params->covariance.kernelscale;
  const vector *w = factor_row(lanes, k);
  vector *by_w = factor_row(lanes, k + 1);
  for (size_t l = 0; l < GPNN_LANES; l++) {
    double v = fmax(total - by->explained[l], 1e-12 * total), by_variance = 0;
    for (size_t a = 0; a < k; a++) {
      labels->w[a] = w[a][l];
      labels->label[a] = (size_t)y[neighbour[l * k + a]];
    }
    size_t label = (size_t)y[row[l]];
    double *by_link = gradients == NULL ? NULL : gradients + l * stride + n + 3;
    loss[l] = gpnn_labels_loss(labels, label, k, v, by_link, &by_variance);
    error[l] = gpnn_labels_error(labels, label);
    if (!is_definite(lanes, l) || !isfinite(loss[l])) loss[l] = NAN;
    by->by_variance[l] = by_variance;
    for (size_t a = 0; gradients != NULL && a < k; a++) by_w[a][l] = labels->by_w[a];
  }
}

void gpnn_lanes_labels(struct gpnn_lanes *lanes, const int64_t *row, const int64_t *neighbour,
                       const double *squares, double *loss, double *error, double *gradients,
                       size_t stride)
{
  size_t k = lanes->k, noise = lanes->params->covariance.n_lengthscales + 1;
  struct moments moments;
  condition(lanes, row, neighbour, squares, &moments);
  struct slopes by = {.by_mean = (vector){0} + 1, .explained = moments.explained};
  solve_one_backward(lanes, k);
  measure_labels(lanes, row, neighbour, loss, error, &by, gradients, stride);
  if (gradients == NULL) return;
  solve_second(lanes);
  weigh(lanes, &by);
  lanes->gradient[noise] -= lanes->params->covariance.noise * by.by_variance;
  write_gradients(lanes, gradients, stride);
}
