/*
 * Prediction of points that have the same neighbours.  All members of a family have covariances in
 * proportion, kernelscale (C + ratio I), so C + ratio I = L L' is factored, with the right-hand
 * sides as rows below it: the factorisation leaves v = L^-1 c and u = L^-1 (y_N - T_N b) there, and
 * the mean is t*'b + v'u and the latent variance kernelscale (1 - v'v).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "linalg/cholesky.h"
#include "linalg/panels.h"
#include "models/local/localgp_private.h"

/* One group's solve under way. */
struct solve {
  const struct gpnn_localgp_task *task;
  const struct gpnn_localgp *gp; /* any member: what all of them share */
  struct gpnn_localgp_scratch *scratch;
  const struct gpnn_localgp_group *group;
  size_t n, m, stride;   /* points; neighbours; room for both in a column */
  const int64_t *chosen; /* m: the neighbours */
  const struct gpnn_localgp_member *family;
  size_t n_family;
};

/* ---- scratch ------------------------------------------------------------------------------ */

/* Room in whole vectors for as many neighbours and points as a group may have. */
static size_t stride_for(const struct gpnn_localgp_task *task)
{
  enum { MOST_LANES = 8 };
  return (task->room + task->share + MOST_LANES - 1) / MOST_LANES * MOST_LANES;
}

/* Terms of the mean that take part in the solve: those of uncertain coefficients. */
static size_t n_uncertain(const struct gpnn_localgp *gp)
{
  return gp->params->mean.covariance == NULL ? 0 : gp->params->mean.n_coefficients;
}

/* Right-hand sides of 'n' members, without those of points. */
static size_t n_right(const struct gpnn_localgp_member *members, size_t n)
{
  size_t sum = 0;
  for (size_t t = 0; t < n; t++) sum += 1 + n_uncertain(members[t].gp);
  return sum;
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

/* A trapezoid of numbers of 'item_bytes', 'lanes' of them in a vector. */
static void *trapezoid_new(size_t n, size_t n_rows, size_t lanes, size_t item_bytes)
{
  return gpnn_alloc((n_rows + lanes - 1) / lanes, gpnn_panel_size(n, lanes), item_bytes);
}

static bool mixed_new(struct gpnn_localgp_mixed *mixed, size_t m, size_t n_rows, size_t lanes)
{
  size_t room = (m / lanes + 1) * lanes;
  mixed->k = trapezoid_new(m, n_rows, lanes, sizeof *mixed->k);
  mixed->x = gpnn_alloc(room, 1, sizeof *mixed->x);
  mixed->rest = gpnn_alloc(room, 1, sizeof *mixed->rest);
  mixed->step = gpnn_alloc(room, 1, sizeof *mixed->step);
  return mixed->k && mixed->x && mixed->rest && mixed->step;
}

static bool union_new(struct gpnn_localgp_union *joint, const struct gpnn_localgp_task *task)
{
  if (task->share == 1) return true; /* every point has its own neighbours */
  joint->mask = 1;
  while (joint->mask < 2 * task->room) joint->mask = 2 * joint->mask + 1;
  joint->row = gpnn_alloc(task->room, 1, sizeof *joint->row);
  joint->slot = gpnn_alloc(joint->mask + 1, 1, sizeof *joint->slot);
  joint->nearest = gpnn_alloc(task->share, 1, sizeof *joint->nearest);
  return joint->row && joint->slot && joint->nearest;
}

bool gpnn_localgp_scratch_new(struct gpnn_localgp_scratch *s, const struct gpnn_localgp_task *task)
{
  const struct gpnn_localgp *gp = task->members[0].gp;
  size_t m = task->room, n = task->share, d = gp->data->d, p = 0;
  size_t rights = n_right(task->members, task->n_members);
  bool many = task->n_families > 1, is_mixed = gp->precision == GPNN_PRECISION_MIXED;
  for (size_t t = 0; t < task->n_members; t++)
    p = p > n_uncertain(task->members[t].gp) ? p : n_uncertain(task->members[t].gp);
  s->set = gpnn_panels_best();
  size_t lanes = s->set->lanes;
  s->columns = gpnn_alloc(d, stride_for(task), sizeof *s->columns);
  s->point = gpnn_alloc(d, 1, sizeof *s->point);
  if (many) s->correlation = trapezoid_new(m, m + n, lanes, sizeof *s->correlation);
  s->k = trapezoid_new(m, m + n + rights, lanes, sizeof *s->k);
  s->ratio = gpnn_alloc(m, 1, sizeof *s->ratio);
  s->explained = gpnn_alloc(1 + rights, n, sizeof *s->explained);
  s->terms = gpnn_alloc(p, 1, sizeof *s->terms);
  s->counts = gpnn_alloc(task->n_members, 1, sizeof *s->counts);
  return s->columns && s->point && (!many || s->correlation) && s->k && s->ratio && s->explained &&
         s->terms && s->counts && union_new(&s->joint, task) &&
         (!is_mixed || mixed_new(&s->mixed, m, m + 1 + rights, 2 * lanes));
}

void gpnn_localgp_scratch_release(struct gpnn_localgp_scratch *s)
{
  free(s->columns);
  free(s->point);
  free(s->correlation);
  free(s->k);
  free(s->ratio);
  free(s->explained);
  free(s->terms);
  free(s->counts);
  free(s->mixed.k);
  free(s->mixed.x);
  free(s->mixed.rest);
  free(s->mixed.step);
  free(s->joint.row);
  free(s->joint.slot);
  free(s->joint.nearest);
}

/* ---- correlations ------------------------------------------------------------------------- */

/* Writes 'x', as the kernel sees it but for the scale, as number 'a' of scratch->columns. */
static void place(const struct solve *solve, size_t a, const double *x)
{
  const double *inverse = solve->gp->metric->inverse;
  double *columns = solve->scratch->columns + a;
  for (size_t j = 0; j < solve->gp->data->d; j++) columns[j * solve->stride] = x[j] * inverse[j];
}

/* Places the neighbours, and behind them the points. */
static void gather(const struct solve *solve)
{
  const struct gpnn_localgp *gp = solve->gp;
  for (size_t a = 0; a < solve->m; a++)
    place(solve, a,
          gpnn_localgp_turn(gp, gp->data->x + (size_t)solve->chosen[a] * gp->data->d,
                            solve->scratch->point));
  for (size_t g = 0; g < solve->n; g++)
    place(solve, solve->m + g, solve->group->x + g * gp->data->d);
}

/* Writes the correlations of the neighbours with one another and with the points. */
static void correlate(const struct solve *solve, double *trapezoid)
{
  const struct gpnn_parameters *params = solve->gp->params;
  const struct gpnn_localgp_scratch *scratch = solve->scratch;
  gpnn_kernel_fill_panels(params->covariance.kernel, params->covariance.smoothness, scratch->set,
                          solve->m, solve->m + solve->n, solve->gp->data->d, solve->stride,
                          scratch->columns, trapezoid);
}

/* Row 'i' of a trapezoid; its numbers are set->lanes apart. */
static double *row_of(const struct solve *solve, double *trapezoid, size_t i)
{
  return trapezoid + gpnn_panel_at(solve->m, solve->scratch->set->lanes, i, 0);
}

/* ---- right-hand sides --------------------------------------------------------------------- */

static double mean_of_row(const struct gpnn_localgp *gp, size_t row)
{
  const struct gpnn_dataset *data = gp->data;
  size_t p = data->n_regressors;
  return gpnn_mean_value(gp->params->mean.kind, gp->params->mean.coefficients, data->d,
                         data->x + row * data->d, p, p == 0 ? NULL : data->regressors + row * p);
}

/* Writes the neighbours' terms of every uncertain coefficient, to as many rows from 'to' on. */
static void fill_terms(const struct solve *solve, const struct gpnn_localgp *gp, size_t to,
                       double *k)
{
  const struct gpnn_dataset *data = gp->data;
  double *terms = solve->scratch->terms;
  size_t p = data->n_regressors, n_terms = n_uncertain(gp), lanes = solve->scratch->set->lanes;
  for (size_t a = 0; a < solve->m && n_terms > 0; a++) {
    size_t row = (size_t)solve->chosen[a];
    gpnn_mean_terms(gp->params->mean.kind, data->d, data->x + row * data->d, p,
                    p == 0 ? NULL : data->regressors + row * p, terms);
    for (size_t t = 0; t < n_terms; t++) row_of(solve, k, to + t)[a * lanes] = terms[t];
  }
}

/* Writes the right-hand sides of 'gp' from row 'to' on, and returns where the next begin. */
static size_t fill_member(const struct solve *solve, const struct gpnn_localgp *gp, size_t to,
                          double *k)
{
  double *right = row_of(solve, k, to);
  size_t lanes = solve->scratch->set->lanes;
  for (size_t a = 0; a < solve->m; a++) {
    size_t row = (size_t)solve->chosen[a];
    right[a * lanes] = gp->data->y[row] - mean_of_row(gp, row);
  }
  fill_terms(solve, gp, to + 1, k);
  return to + 1 + n_uncertain(gp);
}

/* Writes the noise that the family has in proportion to its kernel scale.  A row with more than
 * the largest of it says nothing any more, and its square is still finite. */
static void fill_ratio(const struct solve *solve)
{
  static const double largest = 1e300;
  const struct gpnn_localgp *gp = solve->family[0].gp;
  const double *noise = gp->data->noise;
  for (size_t a = 0; a < solve->m; a++) {
    double known = noise == NULL ? 0 : noise[solve->chosen[a]];
    solve->scratch->ratio[a] =
        fmin((gp->params->covariance.noise + known) / gp->params->covariance.kernelscale, largest);
  }
}

/* Writes the trapezoid of the family: C + ratio I and the right-hand sides. */
static void fill_family(void *context, double *k)
{
  const struct solve *solve = context;
  const struct gpnn_localgp_scratch *scratch = solve->scratch;
  size_t m = solve->m, lanes = scratch->set->lanes, to = m + solve->n;
  if (scratch->correlation == NULL)
    correlate(solve, k);
  else
    memcpy(k, scratch->correlation, gpnn_panel_room(m, to, lanes) * sizeof *k);
  for (size_t a = 0; a < m; a++) k[gpnn_panel_at(m, lanes, a, a)] += scratch->ratio[a];
  for (size_t t = 0; t < solve->n_family; t++) to = fill_member(solve, solve->family[t].gp, to, k);
}

/* ---- results ------------------------------------------------------------------------------ */

/*
 * q'Vq, q = t* - T'K^-1 k: what the uncertainty of the coefficients adds to the variance at point
 * 'i'.  'explained' has T'K^-1 k, its numbers 'stride' apart.
 */
static double uncertainty_of_mean(const struct solve *solve, const struct gpnn_localgp *gp,
                                  size_t i, const double *explained)
{
  const struct gpnn_parameters *params = gp->params;
  const struct gpnn_points *points = solve->task->points;
  size_t n_terms = n_uncertain(gp), p = gp->data->n_regressors;
  double *q = solve->scratch->terms, sum = 0;
  if (n_terms == 0) return 0;
  gpnn_mean_terms(params->mean.kind, gp->data->d, points->x + i * gp->data->d, p,
                  points->regressors == NULL ? NULL : points->regressors + i * p, q);
  for (size_t t = 0; t < n_terms; t++) q[t] -= explained[t * solve->n];
  for (size_t t = 0; t < n_terms; t++)
    sum += q[t] * cblas_ddot((int)n_terms, params->mean.covariance + t * n_terms, 1, q, 1);
  return sum;
}

/* Mean and latent variance of one member at point 'g' of the group for number 'k' of neighbours;
 * 'explained' is of its right-hand sides and the first point. */
static enum gpnn_status finish_member(const struct solve *solve,
                                      const struct gpnn_localgp_member *member, size_t k, size_t g,
                                      const double *explained, struct gpnn_localgp_counts *counts,
                                      struct gpnn_error *err)
{
  const struct gpnn_localgp *gp = member->gp;
  const struct gpnn_points *points = solve->task->points;
  const struct gpnn_prediction *to = member->prediction;
  size_t p = gp->data->n_regressors, i = solve->group->point[g], at = k * points->n + i;
  double mean = explained[g] +
                gpnn_mean_value(gp->params->mean.kind, gp->params->mean.coefficients, gp->data->d,
                                points->x + i * gp->data->d, p,
                                points->regressors == NULL ? NULL : points->regressors + i * p);
  double latent = gp->params->covariance.kernelscale * (1 - solve->scratch->explained[g]) +
                  uncertainty_of_mean(solve, gp, i, explained + solve->n + g);
  if (!isfinite(mean) || !isfinite(latent))
    return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is not finite");
  if (to->mean != NULL) to->mean[at] = mean;
  if (to->latent != NULL) to->latent[at] = latent > 0 ? latent : 0;
  counts->n_clamped += latent < 0 && k + 1 == solve->task->n_numbers;
  return GPNN_OK;
}

/* The same for the family and all points; 'counts' is of its first member. */
static enum gpnn_status finish_family(const struct solve *solve, size_t k,
                                      struct gpnn_localgp_counts *counts, struct gpnn_error *err)
{
  const double *explained = solve->scratch->explained + solve->n;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < solve->n_family && status == GPNN_OK; t++) {
    for (size_t g = 0; g < solve->n && status == GPNN_OK; g++)
      status = finish_member(solve, &solve->family[t], k, g, explained, &counts[t], err);
    explained += (1 + n_uncertain(solve->family[t].gp)) * solve->n;
  }
  return status;
}

/* sum of x_a y_a over [begin, end), numbers 'lanes' apart. */
static double product(size_t begin, size_t end, size_t lanes, const double *x, const double *y)
{
  double sum = 0;
  for (size_t a = begin; a < end; a++) sum += x[a * lanes] * y[a * lanes];
  return sum;
}

/* Adds to scratch->explained what neighbours [begin, end) explain. */
static void explain(const struct solve *solve, size_t begin, size_t end)
{
  const struct gpnn_localgp_scratch *scratch = solve->scratch;
  size_t n = solve->n, lanes = scratch->set->lanes;
  size_t rights = n_right(solve->family, solve->n_family);
  for (size_t g = 0; g < n; g++) {
    const double *v = row_of(solve, scratch->k, solve->m + g);
    scratch->explained[g] += product(begin, end, lanes, v, v);
    for (size_t t = 0; t < rights; t++)
      scratch->explained[(1 + t) * n + g] +=
          product(begin, end, lanes, v, row_of(solve, scratch->k, solve->m + n + t));
  }
}

/* Distance of point 'g' to its nearest neighbour; infinite if it has none. */
static double nearest_distance(const struct solve *solve, size_t g)
{
  double r2 = 0;
  if (solve->m == 0) return INFINITY;
  for (size_t j = 0; j < solve->gp->data->d; j++) {
    const double *column = solve->scratch->columns + j * solve->stride;
    double difference = column[solve->m + g] - column[solve->group->nearest[g]];
    r2 += difference * difference;
  }
  return sqrt(r2);
}

/* ---- one group ---------------------------------------------------------------------------- */

/* Predicts the family in double precision, whose trapezoid is in place. */
static enum gpnn_status solve_double(struct solve *solve, struct gpnn_localgp_counts *counts,
                                     struct gpnn_error *err)
{
  const struct gpnn_localgp_task *task = solve->task;
  struct gpnn_localgp_scratch *scratch = solve->scratch;
  size_t m = solve->m, n = solve->n, rights = n_right(solve->family, solve->n_family);
  double jitter;
  enum gpnn_status status = gpnn_cholesky_factor_panels(scratch->set, m, m + n + rights, scratch->k,
                                                        1, fill_family, solve, &jitter, err);
  if (status != GPNN_OK) return status;
  for (size_t t = 0; t < solve->n_family; t++)
    gpnn_jitter_note(&counts[t].jitter, jitter > 0 ? n : 0,
                     jitter * solve->family[t].gp->params->covariance.kernelscale);
  memset(scratch->explained, 0, (1 + rights) * n * sizeof *scratch->explained);
  for (size_t k = 0, done = 0; k < task->n_numbers && status == GPNN_OK; k++) {
    size_t wanted = task->share == 1 && task->numbers[k] < m ? task->numbers[k] : m;
    explain(solve, done, wanted);
    status = finish_family(solve, k, counts, err);
    done = wanted;
  }
  return status;
}

/* Predicts the family. */
static enum gpnn_status solve_family(struct solve *solve, struct gpnn_localgp_counts *counts,
                                     struct gpnn_error *err)
{
  struct gpnn_localgp_scratch *scratch = solve->scratch;
  size_t m = solve->m, rights = n_right(solve->family, solve->n_family);
  fill_ratio(solve);
  fill_family(solve, scratch->k);
  if (solve->gp->precision == GPNN_PRECISION_MIXED && solve->task->n_numbers == 1 &&
      solve->n == 1 && m > 0 &&
      gpnn_localgp_solve_mixed(scratch->set, &scratch->mixed, m, m + 1 + rights, scratch->k,
                               scratch->explained))
    return finish_family(solve, 0, counts, err);
  return solve_double(solve, counts, err);
}

/* Notes the distances for those who ask; returns whether any asks for more. */
static bool note_nearest(const struct solve *solve)
{
  const struct gpnn_localgp_task *task = solve->task;
  bool more = false;
  for (size_t t = 0; t < task->n_members; t++) {
    const struct gpnn_prediction *to = task->members[t].prediction;
    for (size_t g = 0; g < solve->n && to->nearest != NULL; g++)
      to->nearest[solve->group->point[g]] = nearest_distance(solve, g);
    if (to->mean != NULL || to->latent != NULL) more = true;
  }
  return more;
}

enum gpnn_status gpnn_localgp_solve(const struct gpnn_localgp_task *task,
                                    struct gpnn_localgp_scratch *scratch,
                                    const struct gpnn_localgp_group *group, struct gpnn_error *err)
{
  struct solve solve = {.task = task,
                        .gp = task->members[0].gp,
                        .scratch = scratch,
                        .group = group,
                        .n = group->n,
                        .m = group->m,
                        .stride = stride_for(task),
                        .chosen = group->neighbour};
  gather(&solve);
  if (!note_nearest(&solve)) return GPNN_OK;
  if (scratch->correlation != NULL) correlate(&solve, scratch->correlation);
  enum gpnn_status status = GPNN_OK;
  for (size_t first = 0; first < task->n_members && status == GPNN_OK; first += solve.n_family) {
    solve.family = task->members + first;
    solve.n_family = family_size(task, first);
    status = solve_family(&solve, &scratch->counts[first], err);
  }
  return status;
}
