/*
 * The calibration of an atom: the probability that a row is at it, and the scale of rows that are
 * not.  It is used if it lowers the CRPS of rows that neither was estimated from.
 */
#include <math.h>
#include <stdlib.h>

#include "assess/calibrate_private.h"
#include "base/memory.h"
#include "likelihood/atom.h"
#include "likelihood/distribution.h"
#include "likelihood/head.h"
#include "stats/distributions/student.h"
#include "stats/scores/difference.h"

enum { FOLDS = 5, FEWEST = 30 }; /* rows at the atom */

/* ---- some of the rows --------------------------------------------------------------------- */

/* Copies of some rows, in one array. */
struct some {
  double *values; /* owned */
  struct gpnn_scale_rows rows;
};

static const double *copy(const struct gpnn_scale_rows *all, const double *from, const bool *skip,
                          double **to)
{
  double *begin = *to;
  if (from == NULL) return NULL;
  for (size_t i = 0; i < all->n; i++)
    if (!skip[i]) *(*to)++ = from[i];
  return begin;
}

static enum gpnn_status some_init(struct some *some, const struct gpnn_scale_rows *all,
                                  const bool *skip, struct gpnn_error *err)
{
  enum { ARRAYS = 8 };
  double *to = some->values = gpnn_alloc(all->n, ARRAYS, sizeof *some->values);
  if (to == NULL) return gpnn_fail_memory(err, "for calibration");
  some->rows = (struct gpnn_scale_rows){.noise = all->noise, .cluster_rows = 1};
  for (size_t i = 0; i < all->n; i++) some->rows.n += !skip[i];
  some->rows.y = copy(all, all->y, skip, &to);
  some->rows.mean = copy(all, all->mean, skip, &to);
  some->rows.variance = copy(all, all->variance, skip, &to);
  some->rows.mean_variance = copy(all, all->mean_variance, skip, &to);
  some->rows.misfit = copy(all, all->misfit, skip, &to);
  some->rows.nearest = copy(all, all->nearest, skip, &to);
  some->rows.known_noise = copy(all, all->known_noise, skip, &to);
  some->rows.own_noise = copy(all, all->own_noise, skip, &to);
  return GPNN_OK;
}

/* Estimates the law of the rows that are not skipped. */
static enum gpnn_status fit(const struct gpnn_calibrate_atom_rows *a, const bool *skip,
                            struct gpnn_scale_law *law, double *of_log, struct gpnn_error *err)
{
  struct some some = {0};
  enum gpnn_status status = some_init(&some, a->rows, skip, err);
  if (status == GPNN_OK) status = gpnn_scale_fit(&some.rows, a->params->likelihood, true, law, err);
  if (status == GPNN_OK && of_log != NULL)
    status = gpnn_scale_standard_error(&some.rows, law, of_log, err);
  free(some.values);
  return status;
}

/* ---- predictions of rows ------------------------------------------------------------------ */

double gpnn_calibrate_sd(const struct gpnn_scale_rows *rows, const struct gpnn_parameters *given,
                         const struct gpnn_scale_law *law, size_t i)
{
  struct gpnn_parameters params = *given;
  params.scale = law->scale;
  params.degrees = law->degrees;
  params.covariance.noise =
      rows->own_noise == NULL ? gpnn_parameters_noise(given) : rows->own_noise[i];
  params.n_members = 0;                    /* the noise is now that of all members */
  params.calibration.has_distance = false; /* an earlier calibration says nothing of this law */
  const struct gpnn_head head = gpnn_head_of(&params);
  const struct gpnn_latent_row row = {.mean = rows->mean[i],
                                      .variance = rows->variance[i],
                                      .mean_variance = rows->mean_variance[i],
                                      .misfit = rows->misfit[i],
                                      .nearest = rows->nearest[i]};
  double known = rows->known_noise == NULL ? 0 : rows->known_noise[i];
  return sqrt(gpnn_head_observe(&head, &row, known).variance);
}

/* The distribution of row 'i' under a law, and an atom unless that is NULL. */
static struct gpnn_distribution distribution_of(const struct gpnn_calibrate_atom_rows *a, size_t i,
                                                const struct gpnn_scale_law *law,
                                                const struct gpnn_atom *atom)
{
  struct gpnn_distribution d = {.location = a->rows->mean[i],
                                .sd = gpnn_calibrate_sd(a->rows, a->params, law, i),
                                .degrees = law->degrees > 0 ? law->degrees : INFINITY};
  if (atom != NULL)
    d.atom = (struct gpnn_distribution_atom){a->at, GPNN_ATOM_WITHIN,
                                             gpnn_atom_probability(atom, a->share[i])};
  return d;
}

/* The least half-width, in standard deviations of Student's t, of an interval between quantiles of
 * opposite probabilities that contains the target of row 'i'. */
static double half_width(const struct gpnn_calibrate_atom_rows *a, size_t i,
                         const struct gpnn_scale_law *law, const struct gpnn_atom *atom)
{
  static const double least = 1e-300;
  const struct gpnn_distribution d = distribution_of(a, i, law, atom);
  double degrees = d.degrees, y = a->rows->y[i], middle = gpnn_distribution_cdf(&d, y);
  double half = gpnn_atom_is(a->at, y) ? d.atom.probability / 2 : 0;
  double tail = fmax(fmin(fmin(middle, 1 - middle) + half, 0.5), least);
  return -gpnn_student_quantile(tail, degrees) * gpnn_student_unit_scale(degrees);
}

/* ---- with the atom ------------------------------------------------------------------------ */

/* What is estimated for an atom: its numbers, the location of other numbers at each row, and the
 * law of these. */
struct mixture {
  struct gpnn_atom atom;
  double *mean; /* owned */
  struct gpnn_scale_rows rows;
  struct gpnn_calibrate_atom_rows of; /* 'rows' and 'atom', otherwise as given */
  struct gpnn_scale_law law;
};

/* Estimates all but the power from the rows that are not in 'skip' (NULL: none), which has room for
 * a second list; free(mixture->mean) in any case. */
static enum gpnn_status fit_mixture(const struct gpnn_calibrate_atom_rows *a, double power,
                                    const bool *skip, bool *or_at, struct mixture *m,
                                    double *of_log, struct gpnn_error *err)
{
  size_t n = a->rows->n;
  *m = (struct mixture){.atom = *a->atom, .rows = *a->rows, .of = *a};
  m->mean = gpnn_alloc(n, 1, sizeof *m->mean);
  if (m->mean == NULL) return gpnn_fail_memory(err, "for calibration");
  gpnn_atom_fit(n, a->share, a->is_at, skip, &m->atom);
  m->atom.power = power;
  for (size_t i = 0; i < n; i++) {
    double p = gpnn_atom_probability(&m->atom, a->share[i]);
    m->mean[i] = gpnn_atom_location(&m->atom, a->at, a->rows->mean[i], p);
    or_at[i] = a->is_at[i] || (skip != NULL && skip[i]);
  }
  m->rows.mean = m->mean;
  m->of.rows = &m->rows;
  return fit(&m->of, or_at, &m->law, of_log, err);
}

/* ---- whether it is worthwhile ------------------------------------------------------------- */

/* The powers to choose from. */
static const double powers[] = {0, 0.5, 1};
enum { POWERS = sizeof powers / sizeof *powers };

/* Adds to 'gain' (POWERS lists of a number each row) by how much the atom lowers the CRPS of the
 * rows of fold 'f', which nothing is estimated from; 'skip' has room for two lists of all rows. */
static enum gpnn_status compare(const struct gpnn_calibrate_atom_rows *a, size_t f, bool *skip,
                                double *gain, struct gpnn_error *err)
{
  size_t n = a->rows->n, begin = f * n / FOLDS, end = (f + 1) * n / FOLDS;
  struct gpnn_scale_law without;
  for (size_t i = 0; i < n; i++) skip[i] = i >= begin && i < end;
  enum gpnn_status status = fit(a, skip, &without, NULL, err);
  for (size_t k = 0; k < POWERS && status == GPNN_OK; k++) {
    struct mixture m;
    status = fit_mixture(a, powers[k], skip, skip + n, &m, NULL, err);
    for (size_t i = begin; i < end && status == GPNN_OK; i++) {
      const struct gpnn_distribution plain = distribution_of(a, i, &without, NULL);
      const struct gpnn_distribution mixed = distribution_of(&m.of, i, &m.law, &m.atom);
      gain[k * n + i] = gpnn_distribution_crps(&plain, a->rows->y[i]) -
                        gpnn_distribution_crps(&mixed, a->rows->y[i]);
    }
    free(m.mean);
  }
  return status;
}

/* True if the mean of 'n' gains, less that of others (NULL: 0), is above one standard error of it.
 */
static bool pays(size_t n, const double *gain, const double *others)
{
  double standard_error;
  return gpnn_mean_difference(n, gain, others, &standard_error) > standard_error;
}

/* The last power, which leaves means as they are, unless another one pays. */
static size_t best_of(size_t n, const double *gain)
{
  size_t best = POWERS - 1;
  for (size_t k = POWERS - 1; k-- > 0;)
    if (pays(n, gain + k * n, gain + best * n)) best = k;
  return best;
}

/* True if enough rows are at the atom, and the rows outside any fold include one that is not: a law
 * of the others may come from as few as that, because it has a prior, and because what matters most
 * where they are rare is how often they are, which all rows tell. */
static bool has_enough(const struct gpnn_calibrate_atom_rows *a)
{
  size_t n = a->rows->n, others = 0, most_of_fold = 0;
  for (size_t f = 0; f < FOLDS; f++) {
    size_t of_fold = 0;
    for (size_t i = f * n / FOLDS; i < (f + 1) * n / FOLDS; i++) of_fold += !a->is_at[i];
    if (of_fold > most_of_fold) most_of_fold = of_fold;
    others += of_fold;
  }
  return n - others >= FEWEST && others > most_of_fold;
}

/* ---- the calibration ---------------------------------------------------------------------- */

static enum gpnn_status adopt(const struct gpnn_calibrate_atom_rows *a, double power, bool *or_at,
                              struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  struct mixture m;
  double of_log = INFINITY;
  enum gpnn_status status = fit_mixture(a, power, NULL, or_at, &m, &of_log, err);
  if (status == GPNN_OK) {
    result->atom = m.atom;
    result->law = m.law;
    result->alpha = m.law.scale.factor;
    result->standard_error = of_log * result->alpha;
    for (size_t i = 0; i < a->rows->n; i++)
      result->z[i] = half_width(&m.of, i, &m.law, &result->atom);
  }
  free(m.mean);
  return status;
}

enum gpnn_status gpnn_calibrate_atom(const struct gpnn_calibrate_atom_rows *rows,
                                     struct gpnn_calibrate_report *result, struct gpnn_error *err)
{
  size_t n = rows->rows->n;
  if (!has_enough(rows)) return GPNN_OK;
  bool *skip = gpnn_alloc(n, 2, sizeof *skip);
  double *gain = gpnn_alloc(n, POWERS, sizeof *gain);
  enum gpnn_status status =
      skip == NULL || gain == NULL ? gpnn_fail_memory(err, "for calibration") : GPNN_OK;
  for (size_t f = 0; f < FOLDS && status == GPNN_OK; f++)
    status = compare(rows, f, skip, gain, err);
  if (status == GPNN_OK) {
    size_t best = best_of(n, gain);
    if (pays(n, gain + best * n, NULL)) status = adopt(rows, powers[best], skip, result, err);
  }
  free(skip);
  free(gain);
  return status;
}
