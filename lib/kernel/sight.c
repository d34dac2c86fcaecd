#include "kernel/sight.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

static enum gpnn_status fail_memory(struct gpnn_error *err)
{
  return gpnn_fail_memory(err, "for the parameters");
}

static enum gpnn_status set(struct gpnn_parameters *params, size_t d, const unsigned char *sight,
                            struct gpnn_error *err)
{
  unsigned char *copy = gpnn_alloc(d, 1, sizeof *copy);
  if (copy == NULL) return fail_memory(err);
  memcpy(copy, sight, d);
  free(params->sight);
  params->sight = copy;
  params->n_sight = d;
  return GPNN_OK;
}

enum gpnn_status gpnn_sight_record(struct gpnn_parameters *params,
                                   const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  const unsigned char *sight = dataset->scaling.sight;
  return sight == NULL ? GPNN_OK : set(params, dataset->scaling.n_out, sight, err);
}

/* ---- coordinates ---------------------------------------------------------------------------- */

/*
 * What a process sees, in the order of its coordinates, compared with what all see.  'group' is as
 * for lengthscales, of which the coordinates of a point share one.
 */
struct places {
  size_t d, n_groups;         /* as all see them */
  size_t *own, *own_group;    /* d, n_groups: where the process has it; SIZE_MAX: nowhere */
  size_t n_own, n_own_groups; /* as the process sees them */
};

static unsigned char sight_at(const unsigned char *sight, size_t j)
{
  return sight == NULL ? GPNN_SIGHT_VALUE : sight[j];
}

/* Adds what is seen of input 'j' that is 'what'. */
static void add_place(struct places *p, size_t j, const uint32_t *group, unsigned char own,
                      unsigned char all, unsigned char what)
{
  bool is_first = what == GPNN_SIGHT_SCORE || j == 0 || group[j] != group[j - 1];
  if ((all & what) == 0) return;
  bool has = (own & what) != 0;
  if (is_first) p->own_group[p->n_groups++] = has ? p->n_own_groups++ : SIZE_MAX;
  p->own[p->d++] = has ? p->n_own++ : SIZE_MAX;
}

static enum gpnn_status find_places(struct places *p, const struct gpnn_dataset *dataset,
                                    const unsigned char *own, const unsigned char *all,
                                    struct gpnn_error *err)
{
  p->own = gpnn_alloc(dataset->d, 2, sizeof *p->own);
  p->own_group = gpnn_alloc(dataset->d, 2, sizeof *p->own_group);
  if (p->own == NULL || p->own_group == NULL) return fail_memory(err);
  for (size_t j = 0; j < dataset->d; j++) {
    add_place(p, j, dataset->group, sight_at(own, j), all[j], GPNN_SIGHT_VALUE);
    add_place(p, j, dataset->group, sight_at(own, j), all[j], GPNN_SIGHT_SCORE);
  }
  return GPNN_OK;
}

static void release_places(struct places *p)
{
  free(p->own);
  free(p->own_group);
}

/* ---- what parameters have of each ------------------------------------------------------------ */

static enum gpnn_status lift_lengthscales(struct gpnn_covariance *covariance,
                                          const struct places *p, struct gpnn_error *err)
{
  bool is_one = covariance->n_lengthscales == 1;
  if (!is_one && covariance->n_lengthscales != p->n_own_groups) return GPNN_OK; /* a misfit */
  double *lifted = gpnn_alloc(p->n_groups, 1, sizeof *lifted);
  if (lifted == NULL) return fail_memory(err);
  for (size_t g = 0; g < p->n_groups; g++)
    lifted[g] = p->own_group[g] == SIZE_MAX ? GPNN_SIGHT_UNSEEN
                                            : covariance->lengthscale[is_one ? 0 : p->own_group[g]];
  free(covariance->lengthscale);
  covariance->lengthscale = lifted;
  covariance->n_lengthscales = p->n_groups;
  return GPNN_OK;
}

/* A matrix of 'before' terms and what the process sees, made one of what all see: elsewhere it is
 * 'diagonal' times the unit matrix. */
static enum gpnn_status lift_matrix(double **matrix, const struct places *p, size_t before,
                                    double diagonal, struct gpnn_error *err)
{
  size_t own = before + p->n_own, all = before + p->d;
  double *lifted = gpnn_alloc(all, all, sizeof *lifted);
  if (lifted == NULL) return fail_memory(err);
  for (size_t i = 0; i < all; i++)
    for (size_t j = 0; j < all; j++) {
      size_t from = i < before ? i : p->own[i - before], to = j < before ? j : p->own[j - before];
      if (i >= before && from != SIZE_MAX) from += before;
      if (j >= before && to != SIZE_MAX) to += before;
      bool has = from != SIZE_MAX && to != SIZE_MAX;
      lifted[i * all + j] = has ? (*matrix)[from * own + to] : i == j ? diagonal : 0;
    }
  free(*matrix);
  *matrix = lifted;
  return GPNN_OK;
}

/* A linear mean has a coefficient of 0, known exactly, for what the process does not see. */
static enum gpnn_status lift_mean(struct gpnn_mean_function *mean, const struct places *p,
                                  struct gpnn_error *err)
{
  size_t n = 1 + p->d;
  if (mean->kind != GPNN_MEAN_LINEAR || mean->n_coefficients != 1 + p->n_own) return GPNN_OK;
  double *lifted = gpnn_alloc(n, 1, sizeof *lifted);
  if (lifted == NULL) return fail_memory(err);
  lifted[0] = mean->coefficients[0];
  for (size_t j = 0; j < p->d; j++)
    lifted[1 + j] = p->own[j] == SIZE_MAX ? 0 : mean->coefficients[1 + p->own[j]];
  free(mean->coefficients);
  mean->coefficients = lifted;
  mean->n_coefficients = n;
  return mean->covariance == NULL ? GPNN_OK : lift_matrix(&mean->covariance, p, 1, 0, err);
}

/* Lets a process see what all see. */
static enum gpnn_status lift(struct gpnn_parameters *params, const struct gpnn_dataset *dataset,
                             const unsigned char *all, struct gpnn_error *err)
{
  struct gpnn_covariance *covariance = &params->covariance;
  struct places p = {0};
  bool is_same = true;
  for (size_t j = 0; j < dataset->d; j++) is_same = is_same && sight_at(params->sight, j) == all[j];
  if (is_same) return GPNN_OK;
  enum gpnn_status status = find_places(&p, dataset, params->sight, all, err);
  if (status == GPNN_OK) status = lift_lengthscales(covariance, &p, err);
  if (status == GPNN_OK && covariance->n_rotation == p.n_own * p.n_own &&
      covariance->n_rotation > 0) {
    status = lift_matrix(&covariance->rotation, &p, 0, 1, err);
    if (status == GPNN_OK) covariance->n_rotation = p.d * p.d;
  }
  if (status == GPNN_OK) status = lift_mean(&params->mean, &p, err);
  release_places(&p);
  return status == GPNN_OK ? set(params, dataset->d, all, err) : status;
}

/* What sees all inputs by value need not say so. */
static void forget(struct gpnn_parameters *params)
{
  free(params->sight);
  params->sight = NULL;
  params->n_sight = 0;
}

/* ---- agreeing ------------------------------------------------------------------------------- */

static enum gpnn_status refuse(const struct gpnn_dataset *dataset, size_t j, struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  size_t group = dataset->group == NULL ? j : dataset->group[j];
  return gpnn_fail(err, GPNN_EMISMATCH, "input-scores: the index has no scores of '%s'",
                   gpnn_dataset_group_name(dataset, NULL, group, name));
}

/* Adds what one process sees to 'all'. */
static enum gpnn_status add(const struct gpnn_parameters *params,
                            const struct gpnn_dataset *dataset, unsigned char *all,
                            struct gpnn_error *err)
{
  if (params->sight != NULL && params->n_sight != dataset->d)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "input-scores: the parameters have %zu inputs, the index has %zu",
                     params->n_sight, dataset->d);
  for (size_t j = 0; j < dataset->d; j++) {
    unsigned char sight = sight_at(params->sight, j);
    all[j] |= sight;
    if ((sight & GPNN_SIGHT_SCORE) == 0) continue;
    if (dataset->scores == NULL || !gpnn_scores_has(dataset->scores, j))
      return refuse(dataset, j, err);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_sight_agree(size_t n, struct gpnn_parameters *params,
                                  const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  bool any = false;
  for (size_t t = 0; t < n; t++) {
    any = any || params[t].sight != NULL;
    for (size_t k = 0; k < params[t].n_members; k++)
      any = any || params[t].members[k].sight != NULL;
  }
  if (!any) return GPNN_OK;
  unsigned char *all = gpnn_alloc(dataset->d, 1, sizeof *all);
  if (all == NULL) return fail_memory(err);
  enum gpnn_status status = GPNN_OK;
  memset(all, 0, dataset->d);
  for (size_t t = 0; t < n; t++)
    for (size_t k = 0; k < gpnn_parameters_n_members(&params[t]) && status == GPNN_OK; k++)
      status = add(gpnn_parameters_member(&params[t], k), dataset, all, err);
  bool is_special = gpnn_sight_is_special(dataset->d, all);
  for (size_t t = 0; t < n; t++)
    for (size_t k = 0; k < gpnn_parameters_n_members(&params[t]) && status == GPNN_OK; k++) {
      struct gpnn_parameters *of = k == 0 ? &params[t] : &params[t].members[k - 1];
      if (is_special)
        status = lift(of, dataset, all, err);
      else
        forget(of);
    }
  free(all);
  return status;
}
