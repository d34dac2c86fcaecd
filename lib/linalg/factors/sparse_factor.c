#include "linalg/factors/sparse_factor.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#include "base/memory.h"

/* CHOLMOD's matrices are by columns, so that the rows of R are the columns of its R'. */
struct gpnn_sparse_system {
  cholmod_common common;
  cholmod_sparse *a; /* the lower triangle of A, its columns ascending, with all of B's numbers */
  double *products;  /* those of R'R, where a has its own */
  cholmod_factor *l;
  double log_determinant;
  cholmod_dense *b, *x, *y, *e; /* for solutions */
};

/* What CHOLMOD's last call came to. */
static enum gpnn_status outcome(const struct gpnn_sparse_system *system, struct gpnn_error *err)
{
  switch (system->common.status) {
  case CHOLMOD_OK:
    return GPNN_OK;
  case CHOLMOD_OUT_OF_MEMORY:
  case CHOLMOD_TOO_LARGE:
    return gpnn_fail_memory(err, "for a sparse matrix");
  case CHOLMOD_NOT_POSDEF:
    return gpnn_fail(err, GPNN_ENUMERIC, "a sparse matrix is not positive definite");
  default:
    return gpnn_fail(err, GPNN_EEXTERNAL, "CHOLMOD failed with status %d", system->common.status);
  }
}

void gpnn_sparse_system_free(struct gpnn_sparse_system *system)
{
  if (system == NULL) return;
  cholmod_common *c = &system->common;
  cholmod_free_sparse(&system->a, c);
  cholmod_free_factor(&system->l, c);
  cholmod_free_dense(&system->b, c);
  cholmod_free_dense(&system->x, c);
  cholmod_free_dense(&system->y, c);
  cholmod_free_dense(&system->e, c);
  cholmod_finish(c);
  free(system->products);
  free(system);
}

/* ---- a new system ------------------------------------------------------------------------- */

static cholmod_sparse *transposed_rows(const struct gpnn_sparse_rows *rows, cholmod_common *c)
{
  size_t n_values = rows->start[rows->n];
  cholmod_sparse *r =
      cholmod_allocate_sparse(rows->n_columns, rows->n, n_values, 0, 1, 0, CHOLMOD_REAL, c);
  if (r == NULL) return NULL;
  int *start = r->p, *row = r->i;
  for (size_t i = 0; i <= rows->n; i++) start[i] = (int)rows->start[i];
  for (size_t p = 0; p < n_values; p++) row[p] = (int)rows->column[p];
  memcpy(r->x, rows->value, n_values * sizeof *rows->value);
  return r;
}

/* Zeros wherever B may have numbers. */
static cholmod_sparse *pattern_of_blocks(size_t n_columns, size_t n_groups,
                                         const struct gpnn_sparse_blocks *groups, cholmod_common *c)
{
  cholmod_sparse *b =
      cholmod_allocate_sparse(n_columns, n_columns, 2 * n_columns, 1, 1, -1, CHOLMOD_REAL, c);
  if (b == NULL) return NULL;
  int *start = b->p, *row = b->i, column = 0, p = 0;
  for (size_t g = 0; g < n_groups; g++)
    for (size_t k = 0; k < groups[g].n; k++)
      for (size_t first = 0; first < groups[g].width; first++) {
        start[column] = p;
        for (size_t second = first; second < groups[g].width; second++)
          row[p++] = column + (int)(second - first);
        column++;
      }
  start[column] = p;
  memset(b->x, 0, (size_t)p * sizeof(double));
  return b;
}

/* The lower triangle of R'R, with zeros where only B has numbers; NULL: CHOLMOD failed. */
static cholmod_sparse *matrix_of(const struct gpnn_sparse_rows *rows, size_t n_groups,
                                 const struct gpnn_sparse_blocks *groups, cholmod_common *c)
{
  double one[2] = {1, 0};
  cholmod_sparse *r = transposed_rows(rows, c);
  cholmod_sparse *both = r == NULL ? NULL : cholmod_aat(r, NULL, 0, 1, c);
  cholmod_free_sparse(&r, c);
  cholmod_sparse *lower = both == NULL ? NULL : cholmod_copy(both, -1, 1, c);
  cholmod_free_sparse(&both, c);
  cholmod_sparse *b =
      lower == NULL ? NULL : pattern_of_blocks(rows->n_columns, n_groups, groups, c);
  cholmod_sparse *a = b == NULL ? NULL : cholmod_add(lower, b, one, one, 1, 1, c);
  cholmod_free_sparse(&lower, c);
  cholmod_free_sparse(&b, c);
  return a;
}

/* Approximate minimum degree, with the columns of the largest group first.  'order' (n) is followed
 * by as much scratch memory. */
static bool order_largest_first(struct gpnn_sparse_system *system, size_t n_groups,
                                const struct gpnn_sparse_blocks *groups, int *order)
{
  size_t largest = 0, column = 0;
  int *turn = order + system->a->ncol;
  for (size_t g = 1; g < n_groups; g++)
    if (groups[g].n * groups[g].width > groups[largest].n * groups[largest].width) largest = g;
  for (size_t g = 0; g < n_groups; g++)
    for (size_t k = 0; k < groups[g].n * groups[g].width; k++) turn[column++] = g != largest;
  return cholmod_camd(system->a, NULL, 0, turn, order, &system->common);
}

/*
 * Finds the order and the pattern of the factor, whose numbers are not allocated yet.  The order in
 * which the largest group comes first is taken unless it doubles the non-zeros: if factors are
 * crossed its columns are short, and a dense block follows them, while in a free order long columns
 * begin early, which make forms thirty times as slow.  A postorder would mix them again.
 */
static enum gpnn_status analyse(struct gpnn_sparse_system *system, size_t n_groups,
                                const struct gpnn_sparse_blocks *groups, struct gpnn_error *err)
{
  cholmod_common *c = &system->common;
  int *order = gpnn_alloc(system->a->ncol, 2, sizeof *order);
  if (order == NULL) return gpnn_fail_memory(err, "for a sparse matrix");
  c->method[0].ordering = CHOLMOD_AMD;
  system->l = cholmod_analyze(system->a, c);
  double n_values = c->lnz;
  if (system->l != NULL && order_largest_first(system, n_groups, groups, order)) {
    c->method[0].ordering = CHOLMOD_GIVEN;
    c->postorder = false;
    cholmod_factor *given = cholmod_analyze_p(system->a, order, NULL, 0, c),
                   *free_order = system->l;
    if (given != NULL && c->lnz <= fmin(2 * n_values, GPNN_SPARSE_FACTOR_MOST)) {
      n_values = c->lnz;
      system->l = given;
      given = free_order;
    }
    cholmod_free_factor(&given, c);
  }
  free(order);
  if (n_values <= GPNN_SPARSE_FACTOR_MOST) return outcome(system, err);
  return gpnn_fail(err, GPNN_EDATA,
                   "its factor would have %.1f million non-zeros, and more than %.0f million take "
                   "too long",
                   n_values / 1e6, GPNN_SPARSE_FACTOR_MOST / 1e6);
}

static enum gpnn_status build(struct gpnn_sparse_system *system,
                              const struct gpnn_sparse_rows *rows, size_t n_groups,
                              const struct gpnn_sparse_blocks *groups, struct gpnn_error *err)
{
  cholmod_common *c = &system->common;
  c->print = 0;
  c->nmethods = 1;
  c->supernodal = CHOLMOD_AUTO; /* dense blocks where they pay */
  c->final_ll = true;
  if (rows->start[rows->n] > INT_MAX || rows->n_columns > INT_MAX / 2)
    return gpnn_fail(err, GPNN_EDATA, "a sparse matrix has more than 2^31 numbers");
  system->a = matrix_of(rows, n_groups, groups, c);
  if (system->a == NULL) return outcome(system, err);
  size_t n_values = (size_t)cholmod_nnz(system->a, c);
  system->products = gpnn_alloc(n_values, 1, sizeof *system->products);
  if (system->products == NULL) return gpnn_fail_memory(err, "for a sparse matrix");
  memcpy(system->products, system->a->x, n_values * sizeof *system->products);
  return analyse(system, n_groups, groups, err);
}

enum gpnn_status gpnn_sparse_system_new(const struct gpnn_sparse_rows *rows, size_t n_groups,
                                        const struct gpnn_sparse_blocks *groups,
                                        struct gpnn_sparse_system **to, struct gpnn_error *err)
{
  struct gpnn_sparse_system *system = gpnn_alloc(1, 1, sizeof *system);
  if (system == NULL) return gpnn_fail_memory(err, "for a sparse matrix");
  cholmod_start(&system->common);
  enum gpnn_status status = build(system, rows, n_groups, groups, err);
  if (status == GPNN_OK)
    *to = system;
  else
    gpnn_sparse_system_free(system);
  return status;
}

/* ---- factorisations ----------------------------------------------------------------------- */

/* The columns of L that are stored together, as a dense block by columns. */
struct supernode {
  size_t begin, end; /* columns */
  size_t n_rows;     /* with those of the columns themselves, which come first */
  const int *row;
  const double *value;
};

static size_t n_supernodes(const cholmod_factor *l)
{
  return l->is_super ? l->nsuper : l->n;
}

/* Where columns are stored one by one, each is one of them. */
static struct supernode supernode_at(const cholmod_factor *l, size_t s)
{
  const double *value = l->x;
  if (!l->is_super) {
    const int *start = l->p, *row = l->i, *n_rows = l->nz;
    return (struct supernode){s, s + 1, (size_t)n_rows[s], row + start[s], value + start[s]};
  }
  const int *column = l->super, *rows = l->pi, *values = l->px, *row = l->s;
  return (struct supernode){.begin = (size_t)column[s],
                            .end = (size_t)column[s + 1],
                            .n_rows = (size_t)(rows[s + 1] - rows[s]),
                            .row = row + rows[s],
                            .value = value + values[s]};
}

static double log_determinant(const cholmod_factor *l)
{
  double sum = 0;
  for (size_t s = 0; s < n_supernodes(l); s++) {
    struct supernode node = supernode_at(l, s);
    for (size_t j = 0; j < node.end - node.begin; j++) sum += log(node.value[j * node.n_rows + j]);
  }
  return 2 * sum;
}

/* A of its parts.  Column j begins with its diagonal, which a block of two columns goes on from. */
static void sum_parts(struct gpnn_sparse_system *system, const struct gpnn_sparse_blocks *groups)
{
  const int *start = system->a->p;
  double *value = system->a->x;
  size_t column = 0, n = system->a->ncol;
  memcpy(value, system->products, (size_t)start[n] * sizeof *value);
  for (const struct gpnn_sparse_blocks *group = groups; column < n; group++)
    for (size_t k = 0; k < group->n; k++) {
      double *first = value + start[column++];
      first[0] += group->value[0];
      if (group->width == 1) continue;
      first[1] += group->value[1];
      value[start[column++]] += group->value[2];
    }
}

enum gpnn_status gpnn_sparse_system_factorise(struct gpnn_sparse_system *system,
                                              const struct gpnn_sparse_blocks *groups,
                                              struct gpnn_error *err)
{
  sum_parts(system, groups);
  /* CHOLMOD asks OpenMP for four threads, which spin while they wait. */
  int before = omp_get_max_active_levels();
  omp_set_max_active_levels(0);
  cholmod_factorize(system->a, system->l, &system->common);
  omp_set_max_active_levels(before);
  enum gpnn_status status = outcome(system, err);
  if (status != GPNN_OK) return status;
  system->log_determinant = log_determinant(system->l);
  if (isfinite(system->log_determinant)) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC, "a sparse matrix is not finite");
}

double gpnn_sparse_system_log_determinant(const struct gpnn_sparse_system *system)
{
  return system->log_determinant;
}

enum gpnn_status gpnn_sparse_system_solve(struct gpnn_sparse_system *system, const double *b,
                                          double *x, struct gpnn_error *err)
{
  size_t n = system->a->ncol;
  cholmod_common *c = &system->common;
  if (system->b == NULL) system->b = cholmod_allocate_dense(n, 1, n, CHOLMOD_REAL, c);
  if (system->b == NULL) return outcome(system, err);
  memcpy(system->b->x, b, n * sizeof *b);
  if (!cholmod_solve2(CHOLMOD_A, system->l, system->b, NULL, &system->x, NULL, &system->y,
                      &system->e, c))
    return outcome(system, err);
  memcpy(x, system->x->x, n * sizeof *x);
  return GPNN_OK;
}

/* ---- the factor on its own ---------------------------------------------------------------- */

/*
 * Where the last block begins: as early as its triangle has at most twice the non-zeros of
 * its columns, '*n_before' being those of the columns before it.  Zeros among them cost less than
 * rows one by one: what uses the factor works with that block as a dense one.
 */
static size_t find_tail(const cholmod_factor *l, size_t *n_before)
{
  size_t tail = l->n, in_tail = 0, total = 0;
  for (size_t s = n_supernodes(l); s-- > 0;) {
    struct supernode node = supernode_at(l, s);
    size_t order = l->n - node.begin;
    for (size_t j = 0; j < node.end - node.begin; j++) total += node.n_rows - j;
    if (order * (order + 1) / 2 > 2 * total) continue;
    tail = node.begin;
    in_tail = total;
  }
  *n_before = total - in_tail;
  return tail;
}

static enum gpnn_status allocate(size_t n, size_t n_values, struct gpnn_sparse_factor *to,
                                 struct gpnn_error *err)
{
  struct gpnn_sparse_factor made = {.n = n};
  made.order = gpnn_alloc(n, 1, sizeof *made.order);
  made.start = gpnn_alloc(n + 1, 1, sizeof *made.start);
  made.row = gpnn_alloc(n_values, 1, sizeof *made.row);
  made.value = gpnn_alloc(n_values, 1, sizeof *made.value);
  if (made.order != NULL && made.start != NULL && made.row != NULL && made.value != NULL) {
    *to = made;
    return GPNN_OK;
  }
  gpnn_sparse_factor_release(&made);
  return gpnn_fail_memory(err, "for a sparse factor");
}

/* Column j of a supernode, from place 'p' on; if 'full', with all rows below.  Returns its end. */
static uint64_t copy_column(const struct supernode *node, size_t j, bool full,
                            struct gpnn_sparse_factor *to, uint64_t p)
{
  size_t first = node->begin + j;
  to->start[first] = p;
  for (size_t i = first; full && i < to->n; i++) {
    to->row[p + i - first] = (uint32_t)i;
    to->value[p + i - first] = 0;
  }
  for (size_t i = j; i < node->n_rows; i++) {
    size_t row = (size_t)node->row[i], at = full ? row - first : i - j;
    to->row[p + at] = (uint32_t)row;
    to->value[p + at] = node->value[j * node->n_rows + i];
  }
  return p + (full ? to->n - first : node->n_rows - j);
}

enum gpnn_status gpnn_sparse_system_factor(const struct gpnn_sparse_system *system,
                                           struct gpnn_sparse_factor *to, struct gpnn_error *err)
{
  const cholmod_factor *l = system->l;
  const int *permutation = l->Perm;
  size_t n_before, tail = find_tail(l, &n_before), order = l->n - tail;
  enum gpnn_status status = GPNN_OK;
  if (to->start == NULL) status = allocate(l->n, n_before + order * (order + 1) / 2, to, err);
  if (status != GPNN_OK) return status;
  free(to->inverse);
  to->inverse = NULL;
  for (size_t j = 0; j < l->n; j++) to->order[permutation[j]] = (uint32_t)j;
  uint64_t p = 0;
  for (size_t s = 0; s < n_supernodes(l); s++) {
    struct supernode node = supernode_at(l, s);
    for (size_t j = 0; j < node.end - node.begin; j++)
      p = copy_column(&node, j, node.begin >= tail, to, p);
  }
  to->start[l->n] = p;
  return GPNN_OK;
}
