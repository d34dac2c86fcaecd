/*
 * Predicts rows that have the same neighbours.  The covariances of a family's members are
 * proportional to each other, kernelscale (C + ratio I).  So C + ratio I = L L' is factored, with
 * the right-hand sides as rows below it, where the factorisation leaves v = L^-1 c and
 * u = L^-1 (y_N - T_N b).  Then the mean is t*'b + v'u, the variance is kernelscale (1 - v'v), and
 * the misfit is u'u / (kernelscale m).
 */
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "likelihood/atom.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/panels/panels.h"
#include "models/local/local_private.h"

/* The solve of one group. */
struct solve {
  const struct gpnn_local_task *task;
  const struct gpnn_local_channel *any; /* any member, for what all of them share */
  struct gpnn_local_scratch *scratch;
  const struct gpnn_local_group *group;
  size_t n, m, stride;   /* rows to predict; neighbours; space for both in a column */
  const int64_t *chosen; /* m: the neighbours */
  const struct gpnn_local_channel *family;
  size_t n_family;
};

/* ---- scratch ------------------------------------------------------------------------------ */

/* The most neighbours and rows to predict that a group may have, in whole vectors. */
size_t gpnn_local_stride(const struct gpnn_local_task *task)
{
  enum { MOST_LANES = 8 };
  return (task->most_neighbours + task->share + MOST_LANES - 1) / MOST_LANES * MOST_LANES;
}

size_t gpnn_local_uncertain(const struct gpnn_local_channel *channel)
{
  const struct gpnn_mean_function *mean = &channel->params->mean;
  return mean->covariance == NULL ? 0 : mean->n_coefficients;
}

/* Number of right-hand sides of 'n' members, not counting the rows to predict. */
static size_t n_right(const struct gpnn_local_channel *members, size_t n)
{
  size_t sum = 0;
  for (size_t t = 0; t < n; t++) sum += 1 + gpnn_local_uncertain(&members[t]);
  return sum;
}

/* Number of members, from 'first' on, in the same family. */
static size_t family_size(const struct gpnn_local_task *task, size_t first)
{
  size_t end = first + 1;
  while (end < task->n_members &&
         gpnn_local_same_family(&task->members[first], &task->members[end]))
    end++;
  return end - first;
}

/* How many vectors of 'lanes' numbers a trapezoid's rows take: the other factor of its size is
 * gpnn_panel_size(). */
static size_t n_vectors(size_t n_rows, size_t lanes)
{
  return (n_rows + lanes - 1) / lanes;
}

bool gpnn_local_scratch_new(struct gpnn_local_scratch *s, const struct gpnn_local_task *task)
{
  size_t m = task->most_neighbours, n = task->share, d = task->members[0].data->d, p = 0;
  size_t rights = n_right(task->members, task->n_members);
  bool many = task->n_families > 1, is_mixed = task->options->precision == GPNN_PRECISION_MIXED;
  for (size_t t = 0; t < task->n_members; t++)
    p = p > gpnn_local_uncertain(&task->members[t]) ? p : gpnn_local_uncertain(&task->members[t]);
  s->set = gpnn_panels_best();
  struct gpnn_local_mixed *mixed = &s->mixed;
  struct gpnn_local_union *joint = &s->joint;
  size_t lanes = s->set->lanes, panel = gpnn_panel_size(m, lanes);
  size_t mixed_lanes = 2 * lanes, mixed_size = (m / mixed_lanes + 1) * mixed_lanes;
  bool weighs = gpnn_local_wants_weights(task),
       shares = n > 1; /* or all have their own neighbours */
  joint->mask = 1;
  while (joint->mask < 2 * m) joint->mask = 2 * joint->mask + 1;
  s->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(s->columns, d, gpnn_local_stride(task)), GPNN_ARRAY(s->rotated, d, 1),
      GPNN_ARRAY_IF(many, s->correlation, n_vectors(m + n, lanes), panel),
      GPNN_ARRAY(s->k, n_vectors(m + n + rights, lanes), panel), GPNN_ARRAY(s->ratio, m, 1),
      GPNN_ARRAY(s->explained, 1 + rights, n), GPNN_ARRAY(s->misfit, task->n_members, 1),
      GPNN_ARRAY(s->terms, p, 1), GPNN_ARRAY(s->counts, task->n_members, 1),
      GPNN_ARRAY_IF(weighs, s->weight, m + lanes, 1), GPNN_ARRAY_IF(shares, joint->row, m, 1),
      GPNN_ARRAY_IF(shares, joint->slot, joint->mask + 1, 1),
      GPNN_ARRAY_IF(shares, joint->nearest, n, 1),
      GPNN_ARRAY_IF(is_mixed, mixed->k, n_vectors(m + 1 + rights, mixed_lanes),
                    gpnn_panel_size(m, mixed_lanes)),
      GPNN_ARRAY_IF(is_mixed, mixed->x, mixed_size, 1),
      GPNN_ARRAY_IF(is_mixed, mixed->residual, mixed_size, 1),
      GPNN_ARRAY_IF(is_mixed, mixed->step, mixed_size, 1));
  return s->arrays != NULL;
}

void gpnn_local_scratch_release(struct gpnn_local_scratch *s)
{
  gpnn_arrays_free(s->arrays);
}

/* ---- correlations ------------------------------------------------------------------------- */

/* Writes the rotated row 'x', divided by the lengthscales, as entry 'a' of scratch->columns. */
static void scale(const struct solve *solve, size_t a, const double *x)
{
  const double *inverse = solve->any->metric->inverse;
  double *columns = solve->scratch->columns + a;
  for (size_t j = 0; j < solve->any->data->d; j++) columns[j * solve->stride] = x[j] * inverse[j];
}

/* Writes the neighbours to the columns, followed by the rows to predict. */
static void gather(const struct solve *solve)
{
  enum { AHEAD = 16 };
  const struct gpnn_dataset *data = solve->any->data;
  for (size_t a = 0; a < solve->m; a++) __builtin_prefetch(data->y + solve->chosen[a]);
  for (size_t a = 0; a < solve->m; a++) {
    const double *next =
        data->x + (size_t)solve->chosen[a + AHEAD < solve->m ? a + AHEAD : a] * data->d;
    __builtin_prefetch(next);
    __builtin_prefetch(next + data->d - 1);
    scale(solve, a,
          gpnn_local_rotate(solve->any, data->x + (size_t)solve->chosen[a] * data->d,
                            solve->scratch->rotated));
  }
  for (size_t g = 0; g < solve->n; g++) scale(solve, solve->m + g, solve->group->x + g * data->d);
}

/* Writes the correlations of the neighbours with one another and with the rows to predict. */
static void correlate(const struct solve *solve, double *trapezoid)
{
  const struct gpnn_covariance *covariance = &solve->any->params->covariance;
  const struct gpnn_local_scratch *scratch = solve->scratch;
  gpnn_kernel_fill_panels(covariance->kernel, covariance->smoothness, scratch->set, solve->m,
                          solve->m + solve->n, solve->any->data->d, solve->stride, scratch->columns,
                          trapezoid);
}

/* Row 'i' of a trapezoid; its numbers are set->lanes apart. */
static double *row_of(const struct solve *solve, double *trapezoid, size_t i)
{
  return trapezoid + gpnn_panel_at(solve->m, solve->scratch->set->lanes, i, 0);
}

/* ---- right-hand sides --------------------------------------------------------------------- */

/* Writes the neighbours' terms for every uncertain coefficient, one row each from 'to' on. */
static void fill_terms(const struct solve *solve, const struct gpnn_local_channel *channel,
                       size_t to, double *k)
{
  const struct gpnn_dataset *data = channel->data;
  double *terms = solve->scratch->terms;
  size_t p = data->n_regressors, n_terms = gpnn_local_uncertain(channel),
         lanes = solve->scratch->set->lanes;
  for (size_t a = 0; a < solve->m && n_terms > 0; a++) {
    size_t row = (size_t)solve->chosen[a];
    gpnn_mean_terms(channel->params->mean.kind, data->d, data->x + row * data->d, p,
                    p == 0 ? NULL : data->regressors + row * p, terms);
    for (size_t t = 0; t < n_terms; t++) row_of(solve, k, to + t)[a * lanes] = terms[t];
  }
}

/* Writes the right-hand sides of 'member' from row 'to' on, and returns the row after them. */
static size_t fill_member(const struct solve *solve, const struct gpnn_local_channel *member,
                          size_t to, double *k)
{
  double *right = row_of(solve, k, to);
  size_t lanes = solve->scratch->set->lanes;
  for (size_t a = 0; a < solve->m; a++)
    right[a * lanes] =
        gpnn_channel_residual(member->data, member->params, (size_t)solve->chosen[a]);
  fill_terms(solve, member, to + 1, k);
  return to + 1 + gpnn_local_uncertain(member);
}

/* Writes the family's ratios of noise to kernel scale.  They are capped so that their squares stay
 * finite; a row with so much noise carries no information anyway. */
static void fill_ratio(const struct solve *solve)
{
  static const double largest = 1e300;
  const struct gpnn_local_channel *any = &solve->family[0];
  double kernelscale = any->params->covariance.kernelscale;
  double ratio = 0;
  for (size_t a = 0; a < solve->m; a++) {
    if (a == 0 || any->data->noise != NULL)
      ratio = gpnn_channel_noise(any->data, any->params, (size_t)solve->chosen[a]) / kernelscale;
    solve->scratch->ratio[a] = ratio < largest ? ratio : largest;
  }
}

/* Writes the family's trapezoid: C + ratio I and the right-hand sides. */
static void fill_family(void *context, double *k)
{
  const struct solve *solve = context;
  const struct gpnn_local_scratch *scratch = solve->scratch;
  size_t m = solve->m, lanes = scratch->set->lanes, to = m + solve->n;
  if (scratch->correlation == NULL)
    correlate(solve, k);
  else
    memcpy(k, scratch->correlation, gpnn_panel_room(m, to, lanes) * sizeof *k);
  for (size_t a = 0; a < m; a++) k[gpnn_panel_at(m, lanes, a, a)] += scratch->ratio[a];
  for (size_t t = 0; t < solve->n_family; t++) to = fill_member(solve, &solve->family[t], to, k);
}

/* ---- results ------------------------------------------------------------------------------ */

/* q'Vq with q = t* - T'K^-1 k: what the uncertainty of the coefficients adds to the variance; 'q'
 * is scratch. */
static double uncertainty_of_mean(const struct gpnn_query *query,
                                  const struct gpnn_local_channel *member,
                                  const struct gpnn_local_evidence *evidence, double *q)
{
  const struct gpnn_mean_function *mean = &member->params->mean;
  size_t n_terms = gpnn_local_uncertain(member), d = member->data->d;
  size_t p = member->data->n_regressors, i = evidence->row;
  double sum = 0;
  if (n_terms == 0) return 0;
  gpnn_mean_terms(mean->kind, d, query->x + i * d, p,
                  query->regressors == NULL ? NULL : query->regressors + i * p, q);
  for (size_t t = 0; t < n_terms; t++) q[t] -= evidence->terms[t * evidence->stride];
  for (size_t t = 0; t < n_terms; t++)
    sum += q[t] * cblas_ddot((int)n_terms, mean->covariance + t * n_terms, 1, q, 1);
  return sum;
}

enum gpnn_status gpnn_local_write(const struct gpnn_local_task *task,
                                  const struct gpnn_local_channel *member, size_t k,
                                  const struct gpnn_local_evidence *evidence, double *terms,
                                  struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_parameters *params = member->params;
  const struct gpnn_query *query = task->query;
  const struct gpnn_latent *to = task->latent;
  size_t d = member->data->d, p = member->data->n_regressors, i = evidence->row, m = evidence->m;
  size_t at = (member->number * task->n_numbers + k) * query->n + i;
  double kernelscale = params->covariance.kernelscale;
  double of_mean = uncertainty_of_mean(query, member, evidence, terms);
  double variance = kernelscale * (1 - evidence->explained) + of_mean;
  double mean = gpnn_local_bound(member, evidence, variance) +
                gpnn_mean_value(params->mean.kind, params->mean.coefficients, d, query->x + i * d,
                                p, query->regressors == NULL ? NULL : query->regressors + i * p);
  if (!isfinite(mean) || !isfinite(variance))
    return gpnn_fail(err, GPNN_ENUMERIC, "a prediction is not finite");
  if (to->mean != NULL) to->mean[at] = mean;
  if (to->variance != NULL) to->variance[at] = variance > 0 ? variance : 0;
  if (to->mean_variance != NULL) to->mean_variance[at] = of_mean;
  if (to->misfit != NULL) to->misfit[at] = m == 0 ? 1 : evidence->misfit / kernelscale / (double)m;
  counts->n_clamped += variance < 0 && k + 1 == task->n_numbers;
  return GPNN_OK;
}

/* Writes the family's predictions of all rows from the first 'm' neighbours, which is the 'k'-th
 * number of them; 'counts' starts at the first member. */
static enum gpnn_status finish_family(const struct solve *solve, size_t k, size_t m,
                                      struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_local_scratch *scratch = solve->scratch;
  const double *explained = scratch->explained + solve->n;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < solve->n_family && status == GPNN_OK; t++) {
    const struct gpnn_local_range range = gpnn_local_range_of(&solve->family[t], m, solve->chosen);
    for (size_t g = 0; g < solve->n && status == GPNN_OK; g++) {
      const struct gpnn_local_evidence evidence = {.row = solve->group->row[g],
                                                   .m = m,
                                                   .explained = scratch->explained[g],
                                                   .mean = explained[g],
                                                   .misfit = scratch->misfit[t],
                                                   .range = range,
                                                   .terms = explained + solve->n + g,
                                                   .stride = solve->n};
      status = gpnn_local_write(solve->task, &solve->family[t], k, &evidence, scratch->terms,
                                &counts[t], err);
    }
    explained += (1 + gpnn_local_uncertain(&solve->family[t])) * solve->n;
  }
  return status;
}

/* Sum of x_a y_a over [begin, end), with numbers 'lanes' apart. */
static double product(size_t begin, size_t end, size_t lanes, const double *x, const double *y)
{
  double sum = 0;
  for (size_t a = begin; a < end; a++) sum += x[a * lanes] * y[a * lanes];
  return sum;
}

/* Adds the contributions of neighbours [begin, end) to scratch->explained. */
static void explain(const struct solve *solve, size_t begin, size_t end)
{
  const struct gpnn_local_scratch *scratch = solve->scratch;
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

/* True if the misfit of a member is wanted, or may be for the bound of its mean. */
static bool needs_misfit(const struct solve *solve)
{
  bool needs = solve->task->latent->misfit != NULL;
  for (size_t t = 0; t < solve->n_family; t++)
    needs = needs || gpnn_local_is_bounded(&solve->family[t]);
  return needs;
}

/* Adds the contributions of neighbours [begin, end) to scratch->misfit. */
static void add_misfit(const struct solve *solve, size_t begin, size_t end)
{
  const struct gpnn_local_scratch *scratch = solve->scratch;
  size_t lanes = scratch->set->lanes, row = solve->m + solve->n;
  for (size_t t = 0; t < solve->n_family; t++) {
    const double *u = row_of(solve, scratch->k, row);
    scratch->misfit[t] += product(begin, end, lanes, u, u);
    row += 1 + gpnn_local_uncertain(&solve->family[t]);
  }
}

/* Distance from row 'g' to its nearest neighbour; infinite if there is none. */
static double nearest_distance(const struct solve *solve, size_t g)
{
  double r2 = 0;
  if (solve->m == 0) return INFINITY;
  for (size_t j = 0; j < solve->any->data->d; j++) {
    const double *column = solve->scratch->columns + j * solve->stride;
    double difference = column[solve->m + g] - column[solve->group->nearest[g]];
    r2 += difference * difference;
  }
  return sqrt(r2);
}

/* ---- one group ---------------------------------------------------------------------------- */

/* Finds the weights of the only row, whose trapezoid is factored, and uses them. */
static enum gpnn_status weigh(const struct solve *solve, struct gpnn_counts *counts,
                              struct gpnn_error *err)
{
  const struct gpnn_local_scratch *scratch = solve->scratch;
  size_t m = solve->m;
  explain(solve, 0, m);
  gpnn_local_backward(scratch->set, m, scratch->k, row_of(solve, scratch->k, m), scratch->weight);
  const struct gpnn_local_weighed weighed = {.row = solve->group->row[0],
                                             .m = m,
                                             .neighbour = solve->chosen,
                                             .weight = scratch->weight,
                                             .explained = scratch->explained[0]};
  return gpnn_local_use_weights(solve->task, &weighed, counts, err);
}

/* Predicts the family, whose trapezoid is filled, in double precision. */
static enum gpnn_status solve_double(struct solve *solve, struct gpnn_counts *counts,
                                     struct gpnn_error *err)
{
  const struct gpnn_local_task *task = solve->task;
  struct gpnn_local_scratch *scratch = solve->scratch;
  size_t m = solve->m, n = solve->n, rights = n_right(solve->family, solve->n_family);
  double jitter;
  enum gpnn_status status = gpnn_cholesky_factor_panels(scratch->set, m, m + n + rights, scratch->k,
                                                        1, fill_family, solve, &jitter, err);
  if (status != GPNN_OK) return status;
  for (size_t t = 0; t < solve->n_family; t++)
    gpnn_jitter_note(&counts[t].jitter, jitter > 0 ? n : 0,
                     jitter * solve->family[t].params->covariance.kernelscale);
  memset(scratch->explained, 0, (1 + rights) * n * sizeof *scratch->explained);
  memset(scratch->misfit, 0, solve->n_family * sizeof *scratch->misfit);
  if (gpnn_local_wants_weights(task)) return weigh(solve, counts, err);
  for (size_t k = 0, done = 0; k < task->n_numbers && status == GPNN_OK; k++) {
    size_t wanted = task->share == 1 && task->numbers[k] < m ? task->numbers[k] : m;
    explain(solve, done, wanted);
    if (needs_misfit(solve)) add_misfit(solve, done, wanted);
    status = finish_family(solve, k, wanted, counts, err);
    done = wanted;
  }
  return status;
}

/* Solves the family in single precision with refinement; false if that is not accurate enough.  A
 * misfit that only the bound of a mean may want is computed if that mean leaves its range. */
static bool solve_mixed(const struct solve *solve)
{
  const struct gpnn_local_scratch *scratch = solve->scratch;
  bool wants_misfit = solve->task->latent->misfit != NULL;
  size_t m = solve->m, rights = n_right(solve->family, solve->n_family), row = m + 1;
  if (!gpnn_local_solve_mixed(scratch->set, &scratch->mixed, m, m + 1 + rights, scratch->k,
                              scratch->explained))
    return false;
  for (size_t t = 0; t < solve->n_family; t++) {
    const struct gpnn_local_channel *member = &solve->family[t];
    bool leaves = gpnn_local_leaves(gpnn_local_range_of(member, m, solve->chosen),
                                    scratch->explained[row - m]);
    if ((wants_misfit || leaves) && !gpnn_local_mixed_square(scratch->set, &scratch->mixed, m, row,
                                                             scratch->k, &scratch->misfit[t]))
      return false;
    row += 1 + gpnn_local_uncertain(member);
  }
  return true;
}

static enum gpnn_status solve_family(struct solve *solve, struct gpnn_counts *counts,
                                     struct gpnn_error *err)
{
  const struct gpnn_local_task *task = solve->task;
  fill_ratio(solve);
  fill_family(solve, solve->scratch->k);
  if (task->options->precision == GPNN_PRECISION_MIXED && !gpnn_local_wants_weights(task) &&
      task->n_numbers == 1 && solve->n == 1 && solve->m > 0 && solve_mixed(solve))
    return finish_family(solve, 0, solve->m, counts, err);
  return solve_double(solve, counts, err);
}

/* Writes the nearest distances if they are wanted; returns true if anything else is wanted too. */
static bool note_nearest(const struct solve *solve)
{
  const struct gpnn_local_task *task = solve->task;
  const struct gpnn_latent *to = task->latent;
  for (size_t t = 0; t < task->n_members && to->nearest != NULL; t++) {
    double *nearest = to->nearest + task->members[t].number * task->query->n;
    for (size_t g = 0; g < solve->n; g++)
      nearest[solve->group->row[g]] = nearest_distance(solve, g);
  }
  return to->mean != NULL || to->variance != NULL || to->misfit != NULL ||
         gpnn_local_wants_weights(task);
}

/* Writes the share of the atom among the nearest neighbours, if that is wanted; a row that shares
 * neighbours with others has no nearest ones. */
static void note_share(const struct solve *solve)
{
  enum { NEAREST = 32 };
  const struct gpnn_local_task *task = solve->task;
  const struct gpnn_latent *to = task->latent;
  size_t m = solve->m < NEAREST ? solve->m : NEAREST;
  for (size_t t = 0; t < task->n_members && to->share != NULL; t++) {
    const struct gpnn_local_channel *member = &task->members[t];
    size_t k = 0;
    for (size_t a = 0; a < m; a++)
      k += gpnn_atom_is(to->atom[member->number], member->data->y[solve->chosen[a]]);
    to->share[member->number * task->query->n + solve->group->row[0]] = gpnn_atom_share(m, k);
  }
}

/* True if nothing is wanted of the weights but whose they are. */
static bool wants_neighbours_only(const struct gpnn_local_task *task)
{
  return task->weights != NULL && task->weights->weight == NULL && task->weights->variance == NULL;
}

enum gpnn_status gpnn_local_factor(const struct gpnn_local_task *task,
                                   struct gpnn_local_scratch *scratch, size_t m,
                                   const int64_t *neighbour, double *jitter, struct gpnn_error *err)
{
  const struct gpnn_local_group none = {.m = m};
  struct solve solve = {.task = task,
                        .any = task->members,
                        .scratch = scratch,
                        .group = &none,
                        .m = m,
                        .stride = gpnn_local_stride(task),
                        .chosen = neighbour,
                        .family = task->members,
                        .n_family = task->n_members};
  size_t n_rows = m + n_right(task->members, task->n_members);
  gather(&solve);
  fill_ratio(&solve);
  fill_family(&solve, scratch->k);
  enum gpnn_status status = gpnn_cholesky_factor_panels(scratch->set, m, n_rows, scratch->k, 1,
                                                        fill_family, &solve, jitter, err);
  if (status != GPNN_OK) return status;
  memset(scratch->misfit, 0, task->n_members * sizeof *scratch->misfit);
  add_misfit(&solve, 0, m);
  return GPNN_OK;
}

enum gpnn_status gpnn_local_solve(const struct gpnn_local_task *task,
                                  struct gpnn_local_scratch *scratch,
                                  const struct gpnn_local_group *group, struct gpnn_error *err)
{
  struct solve solve = {.task = task,
                        .any = &task->members[0],
                        .scratch = scratch,
                        .group = group,
                        .n = group->n,
                        .m = group->m,
                        .stride = gpnn_local_stride(task),
                        .chosen = group->neighbour};
  gather(&solve);
  note_share(&solve);
  if (!note_nearest(&solve)) return GPNN_OK;
  if (wants_neighbours_only(task)) {
    const struct gpnn_local_weighed weighed = {
        .row = group->row[0], .m = group->m, .neighbour = group->neighbour};
    return gpnn_local_use_weights(task, &weighed, &scratch->counts[0], err);
  }
  if (scratch->correlation != NULL) correlate(&solve, scratch->correlation);
  enum gpnn_status status = GPNN_OK;
  for (size_t first = 0; first < task->n_members && status == GPNN_OK; first += solve.n_family) {
    solve.family = task->members + first;
    solve.n_family = family_size(task, first);
    status = solve_family(&solve, &scratch->counts[first], err);
  }
  return status;
}
