#include <sys/stat.h>

#include "sparse_rows.h"
#include "unit.h"

#include "linalg/blas_threads.h"

/* Fixed effects in all rows, then levels drawn at random for each of the groups after the first. */
struct design {
  size_t n, n_groups;
  struct gpnn_sparse_blocks group[4];
};

static const struct design designs[] = {
    {1, 1, {{1, 1, {2}}}},
    {20, 1, {{7, 1, {0.5}}}},
    {30, 2, {{0, 1, {1}}, {50, 1, {0.5}}}},
    {200, 2, {{4, 1, {1e-4}}, {60, 1, {0.5}}}},
    {300, 3, {{3, 1, {1e-4}}, {40, 2, {2, -0.5, 1}}, {25, 1, {3}}}},
    {3000, 4, {{3, 1, {1e-4}}, {120, 1, {0.7}}, {90, 2, {2, 0.9, 1}}, {70, 1, {0.1}}}},
};
enum { N_DESIGNS = sizeof designs / sizeof *designs };

static size_t width_of(const struct design *d)
{
  size_t q = 0;
  for (size_t g = 0; g < d->n_groups; g++) q += d->group[g].n * d->group[g].width;
  return q;
}

static struct built_rows rows_of(const struct design *d)
{
  struct gpnn_rng rng = seeded(3);
  struct built_rows r = rows_begin(d->n, width_of(d), d->group[0].n + 6);
  for (size_t i = 0; i < d->n; i++) {
    size_t first = 0;
    for (size_t g = d->n_groups; g-- > 1;) { /* not in order */
      first = 0;
      for (size_t k = 0; k < g; k++) first += d->group[k].n * d->group[k].width;
      first += gpnn_rng_below(&rng, d->group[g].n) * d->group[g].width;
      for (size_t k = 0; k < d->group[g].width; k++)
        rows_put(&r, first + k, k == 0 ? 1 : gpnn_rng_normal(&rng));
    }
    for (size_t j = 0; j < d->group[0].n; j++) rows_put(&r, j, gpnn_rng_normal(&rng));
    rows_end_row(&r);
  }
  return r;
}

/* A, all of it. */
static double *dense_of(const struct built_rows *r, const struct gpnn_sparse_blocks *groups)
{
  size_t q = r->q, column = 0;
  double *dense = rows_dense(r), *a = gpnn_alloc(q, q, sizeof *a);
  assert_non_null(a);
  for (size_t i = 0; i < r->n; i++)
    for (size_t p = r->start[i]; p < r->start[i + 1]; p++)
      for (size_t k = 0; k < q; k++) a[r->column[p] * q + k] += r->value[p] * dense[i * q + k];
  for (; column < q; groups++)
    for (size_t k = 0; k < groups->n; k++, column += groups->width) {
      a[column * q + column] += groups->value[0];
      if (groups->width == 1) continue;
      a[column * q + column + 1] += groups->value[1];
      a[(column + 1) * q + column] += groups->value[1];
      a[(column + 1) * q + column + 1] += groups->value[2];
    }
  free(dense);
  return a;
}

struct made {
  struct built_rows rows;
  struct gpnn_sparse_system *system;
  struct gpnn_sparse_factor factor; /* without an inverse */
  double *a, *inverse;              /* dense */
  double log_determinant;
};

static struct made make(const struct design *d)
{
  struct made m = {.rows = rows_of(d)};
  struct gpnn_sparse_rows view = rows_view(&m.rows);
  size_t q = m.rows.q;
  assert_ok(gpnn_sparse_system_new(&view, d->n_groups, d->group, &m.system, &err));
  assert_ok(gpnn_sparse_system_factorise(m.system, d->group, &err));
  assert_ok(gpnn_sparse_system_factor(m.system, &m.factor, &err));
  m.a = dense_of(&m.rows, d->group);
  m.inverse = gpnn_alloc(q, q, sizeof *m.inverse);
  assert_non_null(m.inverse);
  memcpy(m.inverse, m.a, q * q * sizeof *m.a);
  m.log_determinant = dense_invert(q, m.inverse);
  return m;
}

static void release(struct made *m)
{
  gpnn_sparse_system_free(m->system);
  gpnn_sparse_factor_release(&m->factor);
  rows_release(&m->rows);
  free(m->a);
  free(m->inverse);
}

static void determinants_and_solutions_are_those_of_the_dense_matrix(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_DESIGNS; k++) {
    struct made m = make(&designs[k]);
    size_t q = m.rows.q;
    double *b = normal_rows(q, 2, 5), *x = b + q;
    assert_near(gpnn_sparse_system_log_determinant(m.system), m.log_determinant,
                1e-11 * (double)q * (1 + fabs(m.log_determinant)));
    assert_ok(gpnn_sparse_system_solve(m.system, b, x, &err));
    for (size_t i = 0; i < q; i++) {
      double sum = 0;
      for (size_t j = 0; j < q; j++) sum += m.inverse[i * q + j] * b[j];
      assert_near(x[i], sum, 1e-9 * (1 + fabs(sum)));
    }
    free(b);
    release(&m);
  }
}

static void the_factor_is_that_of_the_matrix_in_its_order(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_DESIGNS; k++) {
    struct made m = make(&designs[k]);
    const struct gpnn_sparse_factor *f = &m.factor;
    size_t q = m.rows.q;
    double *product = gpnn_alloc(q, q, sizeof *product);
    assert_ok(gpnn_sparse_factor_check(f, &err));
    for (size_t j = 0; j < q; j++)
      for (uint64_t a = f->start[j]; a < f->start[j + 1]; a++)
        for (uint64_t b = f->start[j]; b < f->start[j + 1]; b++)
          product[f->row[a] * q + f->row[b]] += f->value[a] * f->value[b];
    for (size_t i = 0; i < q; i++)
      for (size_t j = 0; j < q; j++)
        assert_near(product[f->order[i] * q + f->order[j]], m.a[i * q + j],
                    1e-11 * (1 + fabs(m.a[i * q + j])));
    free(product);
    release(&m);
  }
}

static void a_factorisation_replaces_the_one_before(void **state)
{
  (void)state;
  struct design other = designs[4];
  other.group[1] = (struct gpnn_sparse_blocks){40, 2, {9, 0.1, 7}};
  struct made m = make(&designs[4]), fresh = make(&other);
  assert_ok(gpnn_sparse_factor_inverse(&m.factor, &err));
  assert_ok(gpnn_sparse_system_factorise(m.system, other.group, &err));
  assert_ok(gpnn_sparse_system_factor(m.system, &m.factor, &err));
  assert_null(m.factor.inverse);
  uint64_t n_values = fresh.factor.start[fresh.factor.n];
  assert_memory_equal(m.factor.value, fresh.factor.value, n_values * sizeof(double));
  assert_memory_equal(m.factor.row, fresh.factor.row, n_values * sizeof(uint32_t));
  assert_true(gpnn_sparse_system_log_determinant(m.system) ==
              gpnn_sparse_system_log_determinant(fresh.system));
  release(&m);
  release(&fresh);
}

/* ---- forms and the inverse ---- */

/* u' A^-1 u by the dense inverse. */
static double dense_form(const struct made *m, size_t k, const uint32_t *columns, const double *u)
{
  double sum = 0;
  for (size_t a = 0; a < k; a++)
    for (size_t b = 0; b < k; b++)
      sum += u[a] * u[b] * m->inverse[columns[a] * m->rows.q + columns[b]];
  return sum;
}

static void check_forms(const struct made *m)
{
  struct gpnn_rng rng = seeded(8);
  size_t n_scratch = gpnn_sparse_factor_scratch(&m->factor);
  double *scratch = gpnn_alloc(n_scratch, 1, sizeof *scratch), u[12];
  uint32_t columns[12];
  for (size_t trial = 0; trial < 200; trial++) {
    size_t k = trial % 13;
    for (size_t i = 0; i < k; i++) {
      columns[i] = (uint32_t)gpnn_rng_below(&rng, m->rows.q); /* some twice */
      u[i] = gpnn_rng_normal(&rng);
    }
    double expected = dense_form(m, k, columns, u);
    assert_near(gpnn_sparse_factor_form(&m->factor, k, columns, u, scratch), expected,
                1e-10 * (1e-3 + expected));
    for (size_t i = 0; i < m->rows.q; i++) assert_true(scratch[i] == 0);
  }
  free(scratch);
}

static void forms_are_those_of_the_dense_inverse(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_DESIGNS; k++) {
    struct made m = make(&designs[k]);
    check_forms(&m);
    assert_ok(gpnn_sparse_factor_inverse(&m.factor, &err));
    check_forms(&m);
    release(&m);
  }
}

static void the_inverse_is_known_for_columns_that_meet(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_DESIGNS; k++) {
    struct made m = make(&designs[k]);
    const struct built_rows *r = &m.rows;
    assert_ok(gpnn_sparse_factor_inverse(&m.factor, &err));
    assert_ok(gpnn_sparse_factor_check(&m.factor, &err));
    for (size_t i = 0; i < r->n; i++)
      for (size_t a = r->start[i]; a < r->start[i + 1]; a++)
        for (size_t b = r->start[i]; b < r->start[i + 1]; b++)
          assert_near(gpnn_sparse_factor_inverse_at(&m.factor, r->column[a], r->column[b]),
                      m.inverse[r->column[a] * r->q + r->column[b]], 1e-10);
    for (size_t j = 0; j < r->q; j++)
      assert_near(gpnn_sparse_factor_inverse_at(&m.factor, j, j), m.inverse[j * r->q + j], 1e-10);
    release(&m);
  }
}

static void what_is_not_in_the_pattern_is_nan(void **state)
{
  (void)state;
  size_t n_missing = 0;
  struct made m = make(&designs[3]);
  assert_ok(gpnn_sparse_factor_inverse(&m.factor, &err));
  for (size_t i = 0; i < m.rows.q; i++)
    for (size_t j = 0; j < m.rows.q; j++) {
      double found = gpnn_sparse_factor_inverse_at(&m.factor, i, j);
      if (isnan(found))
        n_missing++;
      else
        assert_near(found, m.inverse[i * m.rows.q + j], 1e-10);
    }
  assert_true(n_missing > 2000); /* of 60 * 59 pairs of levels, which never meet */
  release(&m);
}

/* ---- failures ---- */

static void a_matrix_that_is_not_positive_definite_is_refused(void **state)
{
  (void)state;
  const double bad[] = {-1e6, NAN, INFINITY};
  for (size_t k = 3; k < N_DESIGNS; k++)
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
      struct made m = make(&designs[k]);
      struct design worse = designs[k];
      worse.group[1].value[0] = bad[i];
      assert_fails(gpnn_sparse_system_factorise(m.system, worse.group, &err), GPNN_ENUMERIC,
                   "a sparse matrix is not ");
      assert_ok(gpnn_sparse_system_factorise(m.system, designs[k].group, &err));
      assert_near(gpnn_sparse_system_log_determinant(m.system), m.log_determinant, 1e-6);
      release(&m);
    }
}

static void a_factor_that_would_be_too_large_is_refused(void **state)
{
  (void)state;
  enum { LEVELS = 11000, ROWS = 60000 };
  struct gpnn_rng rng = seeded(6);
  struct gpnn_sparse_blocks groups[] = {{LEVELS, 1, {1}}, {LEVELS, 1, {1}}};
  struct built_rows r = rows_begin(ROWS, 2 * LEVELS, 2);
  struct gpnn_sparse_system *system = NULL;
  for (size_t i = 0; i < ROWS; i++) {
    rows_put(&r, gpnn_rng_below(&rng, LEVELS), 1);
    rows_put(&r, LEVELS + gpnn_rng_below(&rng, LEVELS), 1);
    rows_end_row(&r);
  }
  struct gpnn_sparse_rows view = rows_view(&r);
  assert_fails(gpnn_sparse_system_new(&view, 2, groups, &system, &err), GPNN_EDATA,
               "million non-zeros, and more than 20 million take too long");
  assert_null(system);
  rows_release(&r);
}

static void damaged_factors_are_found(void **state)
{
  (void)state;
  struct made m = make(&designs[4]);
  struct gpnn_sparse_factor *f = &m.factor;
  uint64_t last = f->start[f->n] - 1;
  uint32_t *const row[] = {&f->row[0], &f->row[1], &f->row[last], &f->order[2], &f->order[2]};
  const uint32_t damage[] = {1, 0, (uint32_t)f->n, (uint32_t)f->n, f->order[3]};
  double *const number[] = {&f->value[0], &f->value[0], &f->value[1], &f->value[last]};
  const double wild[] = {0, -1, NAN, INFINITY};
  assert_ok(gpnn_sparse_factor_check(f, &err));
  for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
    uint32_t before = *row[i];
    *row[i] = damage[i];
    assert_fails(gpnn_sparse_factor_check(f, &err), GPNN_EFORMAT, "damaged: not a sparse factor");
    *row[i] = before;
  }
  for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
    double before = *number[i];
    *number[i] = wild[i];
    assert_fails(gpnn_sparse_factor_check(f, &err), GPNN_EFORMAT, "damaged: not a sparse factor");
    *number[i] = before;
  }
  for (int i = 0; i < 2; i++) {
    f->start[1] = i == 0 ? f->start[0] : (uint64_t)1 << 60;
    assert_fails(gpnn_sparse_factor_check(f, &err), GPNN_EFORMAT, "damaged: not a sparse factor");
  }
  release(&m);
}

/* The number of threads that there are, or 0 where the system does not say. */
static size_t count_threads(void)
{
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 ? (size_t)tasks.st_nlink : 0;
}

/* CHOLMOD's own would spin while they wait. */
static void no_threads_are_started(void **state)
{
  (void)state;
  size_t before = count_threads();
  struct made m = make(&designs[5]);
  assert_int_equal(count_threads(), before);
  release(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_threads_are_started),
      cmocka_unit_test(determinants_and_solutions_are_those_of_the_dense_matrix),
      cmocka_unit_test(the_factor_is_that_of_the_matrix_in_its_order),
      cmocka_unit_test(a_factorisation_replaces_the_one_before),
      cmocka_unit_test(forms_are_those_of_the_dense_inverse),
      cmocka_unit_test(the_inverse_is_known_for_columns_that_meet),
      cmocka_unit_test(what_is_not_in_the_pattern_is_nan),
      cmocka_unit_test(a_matrix_that_is_not_positive_definite_is_refused),
      cmocka_unit_test(a_factor_that_would_be_too_large_is_refused),
      cmocka_unit_test(damaged_factors_are_found),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
