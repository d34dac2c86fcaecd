/*
 * Predicts from all training rows.  Where every row is predicted from all of them, all predictions
 * need the same factor, C + ratio I = L L'.  It is computed when the model is made, with
 * u = L^-1 (y - T b); a prediction then takes a forward substitution instead of a factorisation, or
 * two if the row is a training row to be left out: gpnn-methods(7), equations 3.24 to 3.26.  A row
 * may leave out a training row that is elsewhere, as one does that lacked inputs
 * (models/missing.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/kernel.h"
#include "likelihood/atom.h"
#include "linalg/arrays.h"
#include "models/local/local_private.h"

/* Rows that are solved together, on which no result depends; training rows nearest to a row whose
 * errors make its misfit. */
enum { ROWS = 24, NEAR = GPNN_LOCAL_NEAR };

/* The channels of a family and the factor of all training rows. */
struct gpnn_local_dense {
  struct gpnn_model_options options;
  struct gpnn_local_task task; /* the family, and nothing to predict */
  struct gpnn_local_scratch solved;
  double jitter;   /* in units of the kernel scale */
  double *inverse; /* owned; (C + ratio I)^-1, in panels */
  double *alpha;   /* owned; members by n: that times the targets minus the mean function */
};

/* ---- life --------------------------------------------------------------------------------- */

void gpnn_local_dense_free(struct gpnn_local_dense *dense)
{
  if (dense == NULL) return;
  gpnn_local_scratch_release(&dense->solved);
  free(dense->inverse);
  free(dense->alpha);
  free(dense);
}

static enum gpnn_status factor(struct gpnn_local_dense *dense, struct gpnn_error *err)
{
  size_t n = dense->task.most_neighbours;
  int64_t *all = gpnn_alloc(n, 1, sizeof *all);
  if (all == NULL) return gpnn_fail_memory(err, "for the covariance of all training rows");
  for (size_t i = 0; i < n; i++) all[i] = (int64_t)i;
  enum gpnn_status status =
      gpnn_local_factor(&dense->task, &dense->solved, n, all, &dense->jitter, err);
  free(all);
  return status;
}

/* Element (i, j) of the inverse. */
static double inverse_at(const struct gpnn_local_dense *dense, size_t i, size_t j)
{
  size_t n = dense->task.most_neighbours, lanes = dense->solved.set->lanes;
  return dense->inverse[i > j ? gpnn_panel_at(n, lanes, i, j) : gpnn_panel_at(n, lanes, j, i)];
}

/* Writes K^-1 (y - T b) of member 't', in units of the kernel scale. */
static void set_alpha(const struct gpnn_local_dense *dense, size_t t)
{
  const struct gpnn_local_channel *member = &dense->task.members[t];
  size_t n = dense->task.most_neighbours;
  for (size_t j = 0; j < n; j++) {
    double r = gpnn_channel_residual(member->data, member->params, j);
    for (size_t i = 0; i < n; i++) dense->alpha[t * n + i] += r * inverse_at(dense, i, j);
  }
}

static enum gpnn_status invert(struct gpnn_local_dense *dense, struct gpnn_error *err)
{
  const struct gpnn_panel_set *set = dense->solved.set;
  size_t n = dense->task.most_neighbours, room = gpnn_panel_room(n, n, set->lanes);
  double *work = gpnn_alloc(room, 1, sizeof *work);
  dense->inverse = gpnn_alloc(room, 1, sizeof *dense->inverse);
  dense->alpha = gpnn_alloc(dense->task.n_members, n, sizeof *dense->alpha);
  bool enough = work != NULL && dense->inverse != NULL && dense->alpha != NULL;
  if (enough) {
    memcpy(dense->inverse, dense->solved.k, room * sizeof *work);
    set->invert(n, dense->inverse, work);
    for (size_t t = 0; t < dense->task.n_members; t++) set_alpha(dense, t);
  }
  free(work);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the covariance of all training rows");
}

enum gpnn_status gpnn_local_dense_new(struct gpnn_local_dense **dense, size_t n_family,
                                      const struct gpnn_local_channel *family,
                                      struct gpnn_error *err)
{
  struct gpnn_local_dense *own = calloc(1, sizeof *own);
  if (own == NULL) return gpnn_fail_memory(err, "for the covariance of all training rows");
  own->options = (struct gpnn_model_options){.precision = GPNN_PRECISION_DOUBLE, .threads = 1};
  own->task = (struct gpnn_local_task){.options = &own->options,
                                       .n_members = n_family,
                                       .n_families = 1,
                                       .members = family,
                                       .share = 1,
                                       .most_neighbours = family->data->n};
  enum gpnn_status status = gpnn_local_scratch_new(&own->solved, &own->task)
                                ? factor(own, err)
                                : gpnn_fail_memory(err, "for the covariance of all training rows");
  if (status == GPNN_OK) status = invert(own, err);
  if (status == GPNN_OK)
    *dense = own;
  else
    gpnn_local_dense_free(own);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* A training row near a row. */
struct near {
  double r2;
  size_t row; /* SIZE_MAX: there is none */
};

/* What one thread needs. */
struct scratch {
  double *right;     /* trapezoid of 2 ROWS rows, see load() */
  double *point;     /* d: one row, rotated and scaled */
  double *vector;    /* n: its squared distances to all training rows, then its correlations */
  double *terms;     /* of the mean: two rows of them */
  struct near *near; /* ROWS by NEAR: nearest first */
  double *weight; /* n, and room for a whole panel, and the rows that they are of; NULL: weights */
  int64_t *neighbour;         /* are not wanted */
  struct gpnn_counts *counts; /* one per member */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Rows being predicted. */
struct prediction {
  const struct gpnn_local_dense *dense;
  const struct gpnn_local_task *task; /* whose members include the family */
  struct scratch *scratch;            /* one per thread */
  size_t n, lanes; /* training rows, and how far apart the numbers of a row are */
  size_t
      n_members; /* whose predictions are wanted: the family or, of weights, the task's only one */
  const struct gpnn_local_channel *members;
};

static bool scratch_new(struct scratch *scratch, const struct gpnn_local_dense *dense,
                        const struct gpnn_local_task *task)
{
  bool weighs = gpnn_local_wants_weights(task);
  size_t lanes = dense->solved.set->lanes, n = dense->task.most_neighbours, p = 0;
  const struct gpnn_local_channel *members = dense->task.members;
  for (size_t t = 0; t < dense->task.n_members; t++)
    p = p > gpnn_local_uncertain(&members[t]) ? p : gpnn_local_uncertain(&members[t]);
  scratch->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(scratch->right, 2 * ROWS / lanes + 1, gpnn_panel_size(n, lanes)),
      GPNN_ARRAY(scratch->point, members->data->d, 1), GPNN_ARRAY(scratch->vector, n, 1),
      GPNN_ARRAY(scratch->terms, 2, p), GPNN_ARRAY(scratch->near, ROWS, NEAR),
      GPNN_ARRAY(scratch->counts, dense->task.n_members, 1),
      GPNN_ARRAY_IF(weighs, scratch->weight, n + lanes, 1),
      GPNN_ARRAY_IF(weighs, scratch->neighbour, n, 1));
  return scratch->arrays != NULL;
}

/* The training row that row 'i' of the query is, or -1. */
static int64_t self_of(const struct prediction *p, size_t i)
{
  return p->task->query->self == NULL ? -1 : p->task->query->self[i];
}

/* The same, if row 'i' is where that training row is; otherwise -1. */
static int64_t place_of(const struct prediction *p, size_t i)
{
  const struct gpnn_dataset *data = p->dense->task.members->data;
  size_t bytes = data->d * sizeof *data->x;
  int64_t self = self_of(p, i);
  if (self < 0) return -1;
  bool is_there =
      memcmp(p->task->query->x + i * data->d, data->x + (size_t)self * data->d, bytes) == 0;
  return is_there ? self : -1;
}

/* Row 'i' of a trapezoid with a column for each training row. */
static double *row_of(const struct prediction *p, double *trapezoid, size_t i)
{
  return trapezoid + gpnn_panel_at(p->n, p->lanes, i, 0);
}

/* Writes the squared distances of row 'i' of the query from all training rows to the scratch. */
static void measure(const struct prediction *p, const struct scratch *scratch, size_t i)
{
  const struct gpnn_local_channel *any = p->dense->task.members;
  size_t d = any->data->d;
  const double *x = gpnn_local_rotate(any, p->task->query->x + i * d, scratch->point);
  for (size_t j = 0; j < d; j++) scratch->point[j] = x[j] * any->metric->inverse[j];
  gpnn_kernel_distances(p->n, d, gpnn_local_stride(&p->dense->task), p->dense->solved.columns,
                        scratch->point, scratch->vector);
}

/* Writes the share of the atom among the nearest training rows, if that is wanted. */
static void note_share(const struct prediction *p, const struct scratch *scratch, size_t i,
                       size_t g)
{
  const struct gpnn_latent *to = p->task->latent;
  const struct near *near = scratch->near + g * NEAR;
  for (size_t t = 0; t < p->n_members && to->share != NULL; t++) {
    const struct gpnn_local_channel *member = &p->members[t];
    size_t m = 0, k = 0;
    for (; m < NEAR && near[m].row != SIZE_MAX; m++)
      k += gpnn_atom_is(to->atom[member->number], member->data->y[near[m].row]);
    to->share[member->number * p->task->query->n + i] = gpnn_atom_share(m, k);
  }
}

/* Finds the training rows nearest to row 'i' of the query, the 'g'-th of its group, except itself.
 */
static void find_near(const struct prediction *p, const struct scratch *scratch, size_t i, size_t g)
{
  int64_t self = self_of(p, i);
  struct near *near = scratch->near + g * NEAR;
  for (size_t k = 0; k < NEAR; k++) near[k] = (struct near){INFINITY, SIZE_MAX};
  for (size_t a = 0; a < p->n; a++) {
    double r2 = scratch->vector[a];
    if (!(r2 < near[NEAR - 1].r2) || (int64_t)a == self) continue;
    size_t k = NEAR - 1;
    for (; k > 0 && near[k - 1].r2 > r2; k--) near[k] = near[k - 1];
    near[k] = (struct near){r2, a};
  }
}

/* Writes the distance from the nearest training row, if that is wanted. */
static void note_nearest(const struct prediction *p, const struct scratch *scratch, size_t i,
                         size_t g)
{
  const struct gpnn_latent *to = p->task->latent;
  for (size_t t = 0; t < p->n_members && to->nearest != NULL; t++)
    to->nearest[p->members[t].number * p->task->query->n + i] = sqrt(scratch->near[g * NEAR].r2);
}

/*
 * Writes the right-hand sides of row 'i' of the query, the 'g'-th of its group: to row 'g' its
 * correlations c with all training rows; or, if training row s is left out, the s-th unit vector,
 * and c to row ROWS + g.
 */
static void load(const struct prediction *p, const struct scratch *scratch, size_t i, size_t g)
{
  const struct gpnn_covariance *covariance = &p->dense->task.members->params->covariance;
  int64_t self = self_of(p, i);
  double *right = row_of(p, scratch->right, g);
  measure(p, scratch, i);
  find_near(p, scratch, i, g);
  note_nearest(p, scratch, i, g);
  note_share(p, scratch, i, g);
  gpnn_kernel_correlate(covariance->kernel, covariance->smoothness, p->n, scratch->vector);
  if (self >= 0) {
    for (size_t a = 0; a < p->n; a++) right[a * p->lanes] = 0;
    right[(size_t)self * p->lanes] = 1;
    right = row_of(p, scratch->right, ROWS + g);
  }
  for (size_t a = 0; a < p->n; a++) right[a * p->lanes] = scratch->vector[a];
}

/* ---- results ------------------------------------------------------------------------------ */

static double product(const struct prediction *p, const double *x, const double *y)
{
  double sum = 0;
  for (size_t a = 0; a < p->n; a++) sum += x[a * p->lanes] * y[a * p->lanes];
  return sum;
}

/*
 * Leaves training row s out of the solution for row 'g' of its group, which is elsewhere: with
 * v = L^-1 e_s and w = L^-1 c, that of the others is w - (v'w / v'v) v, whatever c says of s.
 */
static void leave_out(const struct prediction *p, const struct scratch *scratch, size_t g)
{
  double *v = row_of(p, scratch->right, g);
  const double *w = row_of(p, scratch->right, ROWS + g);
  double by = product(p, v, w) / product(p, v, v);
  for (size_t a = 0; a < p->n; a++) v[a * p->lanes] = w[a * p->lanes] - by * v[a * p->lanes];
}

/* Writes to 'terms' those of training row 's'. */
static void terms_of(const struct gpnn_local_channel *member, size_t s, double *terms)
{
  const struct gpnn_dataset *data = member->data;
  size_t p = data->n_regressors;
  gpnn_mean_terms(member->params->mean.kind, data->d, data->x + s * data->d, p,
                  p == 0 ? NULL : data->regressors + s * p, terms);
}

/*
 * What the training rows tell 'member' about row 'g' of the group.  For right-hand sides b of the
 * training rows, of which 'row' is the first of the member's, and u = L^-1 b:
 *   c'K^-1 b = v'u with v = L^-1 c, or what leave_out() made of it, for any row;
 *   b_s - v'u / v'v with v = L^-1 e_s is the prediction of b_s from the others for training row s,
 *   to which they leave the share v'w / v'v of its variance, w = L^-1 c.
 */
static void gather(const struct prediction *p, const struct scratch *scratch,
                   const struct gpnn_local_channel *member, size_t row, size_t g,
                   struct gpnn_local_evidence *evidence)
{
  double *solved = p->dense->solved.k, *terms = scratch->terms;
  const double *v = row_of(p, scratch->right, g), *w = row_of(p, scratch->right, ROWS + g);
  int64_t self = place_of(p, evidence->row);
  size_t s = self < 0 ? 0 : (size_t)self, n_terms = gpnn_local_uncertain(member);
  double vv = product(p, v, v), vu = product(p, v, row_of(p, solved, row));
  double by = self < 0 ? 1 : -1 / vv;
  if (self >= 0 && n_terms > 0) terms_of(member, s, terms);
  for (size_t t = 0; t < n_terms; t++)
    terms[t] = (self < 0 ? 0 : terms[t]) + by * product(p, v, row_of(p, solved, row + 1 + t));
  evidence->m = p->n - (self_of(p, evidence->row) >= 0);
  evidence->explained = self < 0 ? vv : 1 - product(p, v, w) / vv;
  evidence->mean =
      (self < 0 ? 0 : gpnn_channel_residual(member->data, member->params, s)) + by * vu;
  evidence->terms = terms;
  evidence->stride = 1;
}

/*
 * The misfit of row 'i' of the query, the 'g'-th of its group, for member 't', in units of the
 * kernel scale: the mean over the nearest training rows of their squared errors, each predicted
 * from all others, in units of the variance.  Equal to r'K^-1 r / n over all rows, it would say
 * nothing about this row.  If the row is training row s, s is left out of all of this, because its
 * own error would otherwise show in those of its neighbours, which that of a new row cannot.
 */
static double misfit_near(const struct prediction *p, const struct scratch *scratch, size_t t,
                          size_t i, size_t g)
{
  const struct near *near = scratch->near + g * NEAR;
  const double *alpha = p->dense->alpha + t * p->n;
  int64_t self = self_of(p, i);
  size_t n = 0, s = self < 0 ? 0 : (size_t)self;
  double sum = 0, at_s = inverse_at(p->dense, s, s);
  for (; n < NEAR && near[n].row != SIZE_MAX; n++) {
    size_t j = near[n].row;
    double both = self < 0 ? 0 : inverse_at(p->dense, s, j);
    double own = inverse_at(p->dense, j, j) - both * both / at_s;
    double a = alpha[j] - both * alpha[s] / at_s;
    if (own > 0) sum += a * a / own;
  }
  return n == 0 ? 1 : sum / (double)n;
}

/* The range of the training rows nearest to the 'g'-th row of its group. */
static struct gpnn_local_range range_near(const struct scratch *scratch,
                                          const struct gpnn_local_channel *member, size_t g)
{
  const struct near *near = scratch->near + g * NEAR;
  int64_t row[NEAR];
  size_t n = 0;
  for (; n < NEAR && near[n].row != SIZE_MAX; n++) row[n] = (int64_t)near[n].row;
  return gpnn_local_range_of(member, n, row);
}

/* Writes the predictions of row 'i' of the query, the 'g'-th of its group, for all members. */
static enum gpnn_status finish(const struct prediction *p, const struct scratch *scratch, size_t i,
                               size_t g, struct gpnn_error *err)
{
  const struct gpnn_local_dense *dense = p->dense;
  enum gpnn_status status = GPNN_OK;
  size_t row = p->n;
  for (size_t t = 0; t < dense->task.n_members && status == GPNN_OK; t++) {
    const struct gpnn_local_channel *member = &dense->task.members[t];
    struct gpnn_local_evidence evidence = {.row = i};
    gather(p, scratch, member, row, g, &evidence);
    evidence.range = range_near(scratch, member, g);
    if (p->task->latent->misfit != NULL || gpnn_local_leaves(evidence.range, evidence.mean))
      evidence.misfit = misfit_near(p, scratch, t, i, g) * (double)evidence.m;
    status =
        gpnn_local_write(p->task, member, 0, &evidence,
                         scratch->terms + gpnn_local_uncertain(member), &scratch->counts[t], err);
    row += 1 + gpnn_local_uncertain(member);
  }
  return status;
}

/* Finds the weights of row 'i' of the query, the 'g'-th of its group, and uses them.  With z = K^-1
 * e_s, the others predict training row s with weights -z_a / z_s. */
static enum gpnn_status weigh(const struct prediction *p, const struct scratch *scratch, size_t i,
                              size_t g, struct gpnn_error *err)
{
  const struct gpnn_local_scratch *solved = &p->dense->solved;
  const double *v = row_of(p, scratch->right, g), *w = row_of(p, scratch->right, ROWS + g);
  int64_t self = self_of(p, i), place = place_of(p, i);
  double *z = scratch->weight, vv = product(p, v, v), by = 1;
  size_t m = 0;
  gpnn_local_backward(solved->set, p->n, solved->k, v, z);
  if (place >= 0) by = -1 / z[place];
  for (size_t a = 0; a < p->n; a++) {
    if ((int64_t)a == self) continue;
    scratch->neighbour[m] = (int64_t)a;
    z[m++] = by * z[a];
  }
  const struct gpnn_local_weighed weighed = {.row = i,
                                             .m = m,
                                             .neighbour = scratch->neighbour,
                                             .weight = z,
                                             .explained =
                                                 place < 0 ? vv : 1 - product(p, v, w) / vv};
  return gpnn_local_use_weights(p->task, &weighed, &scratch->counts[0], err);
}

/* ---- all rows ----------------------------------------------------------------------------- */

static enum gpnn_status predict_group(void *context, size_t thread, size_t group,
                                      struct gpnn_error *err)
{
  const struct prediction *p = context;
  const struct gpnn_local_scratch *solved = &p->dense->solved;
  const struct gpnn_latent *to = p->task->latent;
  const struct scratch *scratch = &p->scratch[thread];
  size_t begin = group * ROWS, end = begin + ROWS;
  bool leaves_out = p->task->query->self != NULL;
  enum gpnn_status status = GPNN_OK;
  if (end > p->task->query->n) end = p->task->query->n;
  for (size_t i = begin; i < end; i++) load(p, scratch, i, i - begin);
  bool weighs = gpnn_local_wants_weights(p->task);
  if (!weighs && to->mean == NULL && to->variance == NULL && to->misfit == NULL) return GPNN_OK;
  solved->set->solve(p->n, leaves_out ? 2 * ROWS : end - begin, solved->k, scratch->right);
  for (size_t i = begin; i < end; i++)
    if (self_of(p, i) >= 0 && place_of(p, i) < 0) leave_out(p, scratch, i - begin);
  for (size_t i = begin; i < end && status == GPNN_OK; i++)
    status = weighs ? weigh(p, scratch, i, i - begin, err) : finish(p, scratch, i, i - begin, err);
  return status;
}

static void add_counts(const struct prediction *p, const struct scratch *scratch)
{
  for (size_t t = 0; t < p->n_members; t++)
    p->task->counts[p->members[t].number].n_clamped += scratch->counts[t].n_clamped;
}

static void note_jitter(const struct prediction *p)
{
  double jitter = p->dense->jitter;
  for (size_t t = 0; t < p->n_members; t++)
    gpnn_jitter_note(&p->task->counts[p->members[t].number].jitter,
                     jitter > 0 ? p->task->query->n : 0,
                     jitter * p->members[t].params->covariance.kernelscale);
}

enum gpnn_status gpnn_local_dense_predict(const struct gpnn_local_dense *dense,
                                          const struct gpnn_local_task *task,
                                          struct gpnn_error *err)
{
  size_t n_groups = (task->query->n + ROWS - 1) / ROWS;
  int threads = gpnn_threads_for(task->options->threads, n_groups);
  struct prediction p = {.dense = dense,
                         .task = task,
                         .n = dense->task.most_neighbours,
                         .lanes = dense->solved.set->lanes,
                         .n_members = dense->task.n_members,
                         .members = dense->task.members};
  if (gpnn_local_wants_weights(task)) {
    p.n_members = task->n_members;
    p.members = task->members;
  }
  p.scratch = calloc((size_t)threads, sizeof *p.scratch);
  bool enough = p.scratch != NULL;
  for (int t = 0; enough && t < threads; t++) enough = scratch_new(&p.scratch[t], dense, task);
  enum gpnn_status status = enough ? gpnn_threads_try(threads, n_groups, 1, predict_group, &p, err)
                                   : gpnn_fail_memory(err, "for predictions");
  if (enough) note_jitter(&p);
  for (int t = 0; p.scratch != NULL && t < threads; t++) {
    if (enough) add_counts(&p, &p.scratch[t]);
    gpnn_arrays_free(p.scratch[t].arrays);
  }
  free(p.scratch);
  return status;
}
