/*
 * One row's prediction.  All members of a family have covariances in proportion,
 * kernelscale (C + ratio I), so C + ratio I = L L' is factored, and with v = L^-1 c and
 * u = L^-1 (y_N - T_N b) the mean is t*'b + v'u and the latent variance kernelscale (1 - v'v).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "models/cholesky.h"
#include "models/localgp_parts.h"

/* One row's solve under way. */
struct solve {
  const struct gpnn_localgp_task *task;
  const struct gpnn_localgp *gp; /* any member: what all of them share */
  struct gpnn_localgp_scratch *scratch;
  size_t i, m, stride;   /* the point; neighbours of it; room for them in a column */
  const double *x;       /* the point as the kernel sees it */
  const int64_t *chosen; /* m: the neighbours */
};

/* ---- scratch ------------------------------------------------------------------------------ */

static size_t padded(size_t m)
{
  enum { LANES = 8 };
  return (m + LANES - 1) / LANES * LANES;
}

/* Terms of the mean that take part in the solve: those of uncertain coefficients. */
static size_t n_uncertain(const struct gpnn_localgp *gp)
{
  return gp->params->covariance == NULL ? 0 : gp->params->n_coefficients;
}

/* Members from 'first' on that are of its family. */
static size_t family_size(const struct gpnn_localgp_task *task, size_t first)
{
  size_t end = first + 1;
  while (end < task->n_members &&
         gpnn_localgp_same_family(task->members[first].gp, task->members[end].gp))
    end++;
  return end - first;
}

bool gpnn_localgp_scratch_new(struct gpnn_localgp_scratch *s, const struct gpnn_localgp_task *task)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
  size_t m = gp->neighbours, d = gp->data->d, n_rhs = 1, p = 0;
  bool many = task->n_families > 1;
  for (size_t t = 0; t < task->n_members; t++) {
    const struct gpnn_localgp *member = task->members[t].gp;
    n_rhs += 1 + n_uncertain(member);
    if (member->params->n_coefficients > p) p = member->params->n_coefficients;
  }
  s->columns = gpnn_alloc(d, padded(m), sizeof *s->columns);
  s->point = gpnn_alloc(d, 1, sizeof *s->point);
  s->cross = gpnn_alloc(m, 1, sizeof *s->cross);
  if (many) s->correlation = gpnn_alloc(m, m, sizeof *s->correlation);
  s->k = gpnn_alloc(m, m, sizeof *s->k);
  s->ratio = gpnn_alloc(m, 1, sizeof *s->ratio);
  s->rhs = gpnn_alloc(n_rhs, m, sizeof *s->rhs);
  s->terms = gpnn_alloc(p, 1, sizeof *s->terms);
  s->counts = gpnn_alloc(task->n_members, 1, sizeof *s->counts);
  return s->columns && s->point && s->cross && (!many || s->correlation) && s->k && s->ratio &&
         s->rhs && s->terms && s->counts;
}

void gpnn_localgp_scratch_release(struct gpnn_localgp_scratch *s)
{
  free(s->columns);
  free(s->point);
  free(s->cross);
  free(s->correlation);
  free(s->k);
  free(s->ratio);
  free(s->rhs);
  free(s->terms);
  free(s->counts);
}

/* ---- correlations ------------------------------------------------------------------------- */

/* Whether training row 'row' may be a neighbour of point 'i'. */
static bool is_allowed(const struct gpnn_points *points, size_t i, int64_t row)
{
  return row >= 0 && (points->self == NULL || points->self[i] != row);
}

/*
 * Copies up to m of the candidate rows that the point may have as neighbours, scaled; sets
 * solve->m to their number.  'candidates' keeps the rows copied.
 */
static void gather(struct solve *solve, size_t n_candidates, int64_t *candidates)
{
  const struct gpnn_localgp_metric *metric = solve->gp->metric;
  double *columns = solve->scratch->columns;
  size_t d = solve->gp->data->d, m = 0;
  for (size_t c = 0; c < n_candidates && m < solve->m; c++)
    if (is_allowed(solve->task->points, solve->i, candidates[c])) candidates[m++] = candidates[c];
  for (size_t a = 0; a < m; a++) {
    const double *x = gpnn_localgp_turn(solve->gp, solve->gp->data->x + (size_t)candidates[a] * d,
                                        solve->scratch->point);
    for (size_t j = 0; j < d; j++) columns[j * solve->stride + a] = x[j] * metric->inverse[j];
  }
  solve->m = m;
  solve->chosen = candidates;
}

/* Writes the correlations of neighbour 'a' with itself and those after it. */
static void correlate_neighbour(const struct solve *solve, size_t a, double *correlation)
{
  const struct gpnn_params *params = solve->gp->params;
  const double *columns = solve->scratch->columns;
  double *point = solve->scratch->point;
  size_t d = solve->gp->data->d;
  for (size_t j = 0; j < d; j++) point[j] = columns[j * solve->stride + a];
  gpnn_kernel_distances(solve->m - a, d, solve->stride, columns + a, point, correlation);
  params->kernel->correlation(params->smoothness, solve->m - a, correlation);
}

/* Writes the correlations of the point with the neighbours. */
static void correlate_point(const struct solve *solve)
{
  const struct gpnn_localgp *gp = solve->gp;
  size_t d = gp->data->d;
  double *point = solve->scratch->point, *cross = solve->scratch->cross;
  for (size_t j = 0; j < d; j++) point[j] = solve->x[j] * gp->metric->inverse[j];
  gpnn_kernel_distances(solve->m, d, solve->stride, solve->scratch->columns, point, cross);
  gp->params->kernel->correlation(gp->params->smoothness, solve->m, cross);
}

/* Writes what all families need. */
static void correlate(const struct solve *solve)
{
  double *correlation = solve->scratch->correlation;
  correlate_point(solve);
  for (size_t a = 0; correlation != NULL && a < solve->m; a++)
    correlate_neighbour(solve, a, correlation + a * solve->m + a);
}

/* Writes the lower triangle of C + ratio I. */
static void fill_covariance(void *context, double *k)
{
  const struct solve *solve = context;
  const double *correlation = solve->scratch->correlation;
  size_t m = solve->m;
  for (size_t a = 0; a < m; a++) {
    size_t at = a * m + a;
    if (correlation == NULL)
      correlate_neighbour(solve, a, k + at);
    else
      memcpy(k + at, correlation + at, (m - a) * sizeof *k);
    k[at] += solve->scratch->ratio[a];
  }
}

/* ---- right-hand sides --------------------------------------------------------------------- */

static double mean_of_row(const struct gpnn_localgp *gp, size_t row)
{
  const struct gpnn_index_contents *data = gp->data;
  size_t p = data->n_regressors;
  return gpnn_mean_value(gp->params->mean, gp->params->coefficients, data->d,
                         data->x + row * data->d, p, p == 0 ? NULL : data->regressors + row * p);
}

/* Writes the terms of neighbour 'a', training row 'row', of every uncertain coefficient. */
static void fill_terms(const struct solve *solve, const struct gpnn_localgp *gp, size_t a,
                       size_t row, double *rhs)
{
  const struct gpnn_index_contents *data = gp->data;
  double *terms = solve->scratch->terms;
  size_t p = data->n_regressors, n_terms = n_uncertain(gp);
  if (n_terms == 0) return;
  gpnn_mean_terms(gp->params->mean, data->d, data->x + row * data->d, p,
                  p == 0 ? NULL : data->regressors + row * p, terms);
  for (size_t t = 0; t < n_terms; t++) rhs[t * solve->m + a] = terms[t];
}

/* Writes the right-hand sides of 'gp', and returns where the next begin. */
static double *fill_member(const struct solve *solve, const struct gpnn_localgp *gp, double *rhs)
{
  for (size_t a = 0; a < solve->m; a++) {
    size_t row = (size_t)solve->chosen[a];
    rhs[a] = gp->data->y[row] - mean_of_row(gp, row);
    fill_terms(solve, gp, a, row, rhs + solve->m);
  }
  return rhs + (1 + n_uncertain(gp)) * solve->m;
}

/* Writes the noise that a family has in proportion to its kernel scale, from that of 'gp'. */
static void fill_ratio(const struct solve *solve, const struct gpnn_localgp *gp)
{
  const double *noise = gp->data->noise;
  for (size_t a = 0; a < solve->m; a++) {
    double known = noise == NULL ? 0 : noise[solve->chosen[a]];
    solve->scratch->ratio[a] = (gp->params->noise + known) / gp->params->kernelscale;
  }
}

/* ---- results ------------------------------------------------------------------------------ */

/*
 * q'Vq, q = t* - (L^-1 T)'v over the first 'm' neighbours: what the uncertainty of the
 * coefficients adds to the variance.  'solved' has L^-1 T.
 */
static double uncertainty_of_mean(const struct solve *solve, const struct gpnn_localgp *gp,
                                  const double *solved, size_t m)
{
  const struct gpnn_params *params = gp->params;
  const struct gpnn_points *points = solve->task->points;
  size_t n_terms = n_uncertain(gp), p = gp->data->n_regressors, i = solve->i;
  double *q = solve->scratch->terms, sum = 0;
  const double *v = solve->scratch->rhs;
  if (n_terms == 0) return 0;
  gpnn_mean_terms(params->mean, gp->data->d, points->x + i * gp->data->d, p,
                  p == 0 ? NULL : points->regressors + i * p, q);
  for (size_t t = 0; t < n_terms; t++) q[t] -= cblas_ddot((int)m, v, 1, solved + t * solve->m, 1);
  for (size_t t = 0; t < n_terms; t++)
    sum += q[t] * cblas_ddot((int)n_terms, params->covariance + t * n_terms, 1, q, 1);
  return sum;
}

/* Mean and latent variance of one member for every number of neighbours asked for; 'solved' are
 * its right-hand sides, solved. */
static enum gpnn_status finish_member(const struct solve *solve,
                                      const struct gpnn_localgp_member *member,
                                      const double *solved, struct gpnn_localgp_counts *counts,
                                      struct gpnn_error *err)
{
  const struct gpnn_localgp *gp = member->gp;
  const struct gpnn_localgp_task *task = solve->task;
  const struct gpnn_points *points = task->points;
  const struct gpnn_prediction *to = member->prediction;
  const double *v = solve->scratch->rhs;
  size_t p = gp->data->n_regressors, i = solve->i, done = 0;
  double mean =
      gpnn_mean_value(gp->params->mean, gp->params->coefficients, gp->data->d,
                      points->x + i * gp->data->d, p, p == 0 ? NULL : points->regressors + i * p);
  double unexplained = 1;
  for (size_t k = 0; k < task->n_numbers; k++) {
    size_t m = task->numbers[k] < solve->m ? task->numbers[k] : solve->m;
    mean += cblas_ddot((int)(m - done), v + done, 1, solved + done, 1);
    unexplained -= cblas_ddot((int)(m - done), v + done, 1, v + done, 1);
    done = m;
    double latent = gp->params->kernelscale * unexplained +
                    uncertainty_of_mean(solve, gp, solved + solve->m, m);
    if (!isfinite(mean) || !isfinite(latent))
      return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is not finite");
    if (to->mean != NULL) to->mean[k * points->n + i] = mean;
    if (to->latent != NULL) to->latent[k * points->n + i] = latent > 0 ? latent : 0;
    counts->n_clamped += latent < 0 && k + 1 == task->n_numbers;
  }
  return GPNN_OK;
}

/* Distance of the point to its nearest neighbour; infinite if it has none. */
static double nearest_distance(const struct solve *solve)
{
  const struct gpnn_localgp_metric *metric = solve->gp->metric;
  size_t d = solve->gp->data->d;
  double r2 = 0;
  if (solve->m == 0) return INFINITY;
  const double *x = gpnn_localgp_turn(solve->gp, solve->gp->data->x + (size_t)solve->chosen[0] * d,
                                      solve->scratch->point);
  for (size_t j = 0; j < d; j++) {
    double difference = solve->x[j] - x[j];
    r2 += difference * difference * metric->inverse[j] * metric->inverse[j];
  }
  return sqrt(r2);
}

/* ---- one row ------------------------------------------------------------------------------ */

/* Predicts the members of one family, 'n' from 'first' on. */
static enum gpnn_status solve_family(struct solve *solve, size_t first, size_t n,
                                     struct gpnn_error *err)
{
  const struct gpnn_localgp_member *members = solve->task->members + first;
  struct gpnn_localgp_scratch *scratch = solve->scratch;
  size_t m = solve->m;
  double jitter, *rhs = scratch->rhs + m;
  fill_ratio(solve, members[0].gp);
  fill_covariance(solve, scratch->k);
  enum gpnn_status status =
      gpnn_cholesky_factor(m, scratch->k, 1, fill_covariance, solve, &jitter, err);
  if (status != GPNN_OK) return status;
  memcpy(scratch->rhs, scratch->cross, m * sizeof *scratch->rhs);
  for (size_t t = 0; t < n; t++) rhs = fill_member(solve, members[t].gp, rhs);
  size_t n_rhs = m == 0 ? 0 : (size_t)(rhs - scratch->rhs) / m;
  gpnn_cholesky_forward(m, scratch->k, n_rhs, scratch->rhs);
  rhs = scratch->rhs + m;
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    const struct gpnn_localgp *gp = members[t].gp;
    struct gpnn_localgp_counts *counts = &scratch->counts[first + t];
    counts->n_jittered += jitter > 0;
    counts->max_jitter = fmax(counts->max_jitter, jitter * gp->params->kernelscale);
    status = finish_member(solve, &members[t], rhs, counts, err);
    rhs += (1 + n_uncertain(gp)) * m;
  }
  return status;
}

/* Notes the distance for those who ask; returns whether any asks for more. */
static bool note_nearest(const struct solve *solve)
{
  const struct gpnn_localgp_task *task = solve->task;
  double nearest = nearest_distance(solve);
  bool more = false;
  for (size_t t = 0; t < task->n_members; t++) {
    const struct gpnn_prediction *to = task->members[t].prediction;
    if (to->nearest != NULL) to->nearest[solve->i] = nearest;
    if (to->mean != NULL || to->latent != NULL) more = true;
  }
  return more;
}

enum gpnn_status gpnn_localgp_solve_row(const struct gpnn_localgp_task *task,
                                        struct gpnn_localgp_scratch *scratch, size_t i,
                                        const double *x, size_t n_candidates, int64_t *candidates,
                                        struct gpnn_error *err)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
  struct solve solve = {.task = task,
                        .gp = gp,
                        .scratch = scratch,
                        .i = i,
                        .m = gp->neighbours,
                        .stride = padded(gp->neighbours),
                        .x = x};
  gather(&solve, n_candidates, candidates);
  if (!note_nearest(&solve)) return GPNN_OK;
  correlate(&solve);
  enum gpnn_status status = GPNN_OK;
  for (size_t first = 0, n; first < task->n_members && status == GPNN_OK; first += n) {
    n = family_size(task, first);
    status = solve_family(&solve, first, n, err);
  }
  return status;
}
