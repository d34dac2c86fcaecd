#include "lattice.h"
#include "linalg/blas_threads.h"

/* Preconditioners and their ranks. */
static const struct {
  enum gpnn_grid_preconditioner kind;
  size_t rank;
  const char *name;
} kinds[] = {
    {GPNN_GRID_PRECONDITION_AUTO, 0, ""},
    {GPNN_GRID_PRECONDITION_NONE, 0, "none"},
    {GPNN_GRID_PRECONDITION_GRID, 0, "grid"},
    {GPNN_GRID_PRECONDITION_PIVOTED, 0, "pivoted"},
    {GPNN_GRID_PRECONDITION_PIVOTED, 7, "pivoted"},
    {GPNN_GRID_PRECONDITION_EIGEN, 0, "eigen"},
    {GPNN_GRID_PRECONDITION_EIGEN, 1, "eigen"},
    {GPNN_GRID_PRECONDITION_EIGEN, 40, "eigen"},
    {GPNN_GRID_PRECONDITION_EIGEN, 100000, "eigen"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void all_give_the_solution_of_lapack(void **state)
{
  (void)state;
  const double missing[] = {0, 0.3, 0.95};
  for (size_t k = 0; k < KINDS; k++) {
    const struct gpnn_grid_system_options options = {
        .preconditioner = kinds[k].kind, .rank = kinds[k].rank, .threads = 2};
    for (size_t m = 0; m < 3; m++) {
      struct lattice l = lattice_make(2, (size_t[]){23, 17}, missing[m], 0.2, 31 + m);
      lattice_check(&l, 3, &options);
      lattice_free(&l);
      l = lattice_make(3, (size_t[]){9, 5, 6}, missing[m], 0.2, 41 + m);
      lattice_check(&l, 2, &options);
      lattice_free(&l);
    }
  }
}

static void one_cell_or_one_level_is_enough(void **state)
{
  (void)state;
  const size_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}};
  for (size_t k = 0; k < KINDS; k++) {
    const struct gpnn_grid_system_options options = {
        .preconditioner = kinds[k].kind, .rank = kinds[k].rank, .threads = 1};
    for (size_t s = 0; s < 4; s++) {
      struct lattice l = lattice_make(2, sizes[s], s == 3 ? 1 : 0.2, 0.2, 60 + s);
      lattice_check(&l, 1, &options);
      lattice_free(&l);
    }
  }
}

/* Cells with equal noise, without the first 'holes' of a random order. */
static struct lattice with_holes(size_t holes)
{
  struct lattice l = lattice_make(2, (size_t[]){21, 19}, 0, 0.05, 71);
  struct gpnn_rng rng = seeded(9);
  for (size_t i = 0; i < l.n_cells; i++) l.noise[i] = 0.05;
  for (size_t h = 0; h < holes; h++) {
    size_t gone = (size_t)gpnn_rng_below(&rng, l.n_cells--);
    memmove(l.cell + gone, l.cell + gone + 1, (l.n_cells - gone) * sizeof *l.cell);
  }
  return l;
}

static void holes_bound_the_iterations_of_the_grid(void **state)
{
  (void)state;
  const struct gpnn_grid_system_options options = {.preconditioner = GPNN_GRID_PRECONDITION_GRID,
                                                   .threads = 2};
  for (size_t holes = 0; holes < 6; holes++) {
    struct lattice l = with_holes(holes);
    assert_true(lattice_check(&l, 2, &options) <= holes + 1);
    lattice_free(&l);
  }
}

/* With all eigenpairs the preconditioner is A itself. */
static void all_eigenpairs_leave_one_iteration(void **state)
{
  (void)state;
  const struct gpnn_grid_system_options options = {
      .preconditioner = GPNN_GRID_PRECONDITION_EIGEN, .rank = 400, .threads = 2};
  struct lattice l = lattice_make(2, (size_t[]){20, 20}, 0.4, 0.2, 73);
  assert_true(lattice_check(&l, 2, &options) <= 2);
  lattice_free(&l);
}

/* A kernel that is the unit matrix between levels of the first factor is all in the blocks. */
static void blocks_are_exact(void **state)
{
  (void)state;
  const struct gpnn_grid_system_options options = {
      .preconditioner = GPNN_GRID_PRECONDITION_EIGEN, .rank = 5, .threads = 2};
  struct lattice l = lattice_make(2, (size_t[]){20, 20}, 0.4, 0.2, 74);
  for (size_t i = 0; i < 400; i++) l.k[0][i] = i % 21 == 0 ? 2 : 0;
  assert_true(lattice_check(&l, 2, &options) <= 2);
  lattice_free(&l);
}

/* More eigenpairs need fewer iterations. */
static void rank_saves_iterations(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){40, 30}, 0.4, 0.01, 75);
  size_t before = 10000;
  for (size_t rank = 1; rank <= 1000; rank *= 10) {
    const struct gpnn_grid_system_options options = {
        .preconditioner = GPNN_GRID_PRECONDITION_EIGEN, .rank = rank, .threads = 2};
    size_t iterations = lattice_check(&l, 2, &options);
    assert_true(iterations < before);
    before = iterations;
  }
  lattice_free(&l);
}

static void little_memory_leaves_the_diagonal_of_blocks(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){23, 17}, 0.3, 0.2, 76);
  const struct gpnn_grid_system_options little = {.preconditioner = GPNN_GRID_PRECONDITION_EIGEN,
                                                  .rank = 30,
                                                  .memory = 4 * 23 * 17 * 8,
                                                  .threads = 2};
  struct gpnn_grid_system_options enough = little;
  enough.memory = 0;
  assert_true(lattice_check(&l, 2, &little) > lattice_check(&l, 2, &enough));
  lattice_free(&l);
}

static void names_and_ranks_are_told(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){6, 5}, 0.2, 0.2, 77);
  for (size_t k = 0; k < KINDS; k++) {
    const struct gpnn_grid_system_options options = {.preconditioner = kinds[k].kind,
                                                     .rank = kinds[k].rank};
    struct gpnn_grid_system *system = lattice_system(&l, &options);
    size_t rank = 99999;
    const char *name = gpnn_grid_system_preconditioner(system, &rank);
    if (*kinds[k].name != '\0') assert_string_equal(name, kinds[k].name);
    assert_true(rank <= 30);
    if (kinds[k].rank > 0) assert_true(rank == kinds[k].rank || rank >= 24);
    gpnn_grid_system_free(system);
  }
  lattice_free(&l);
}

/* What is chosen for a grid, with its rank in '*rank'. */
static const char *chosen(const struct lattice *l, struct gpnn_grid_system_options options,
                          size_t *rank)
{
  struct gpnn_grid_system *system = lattice_system(l, &options);
  const char *name = gpnn_grid_system_preconditioner(system, rank);
  gpnn_grid_system_free(system);
  return name;
}

static void the_choice_is_that_of_least_work(void **state)
{
  (void)state;
  size_t few, many, rank;
  struct lattice l = with_holes(0);
  assert_string_equal(chosen(&l, (struct gpnn_grid_system_options){0}, &rank), "grid");
  /* Where the noise is not the same for all, the inverse of the full grid is not exact. */
  l.noise[3] *= 2;
  assert_string_equal(chosen(&l, (struct gpnn_grid_system_options){0}, &rank), "eigen");
  /* So much noise that iterations are few. */
  for (size_t i = 0; i < l.n_cells; i++) l.noise[i] = 1e6;
  assert_string_equal(chosen(&l, (struct gpnn_grid_system_options){.columns = 1}, &rank), "none");
  lattice_free(&l);
  /* Preparation pays the more, the more there is to solve. */
  l = lattice_make(2, (size_t[]){90, 40}, 0.4, 1e-3, 78);
  chosen(&l, (struct gpnn_grid_system_options){.columns = 1}, &few);
  assert_string_equal(chosen(&l, (struct gpnn_grid_system_options){.columns = 1000}, &many),
                      "eigen");
  assert_true(many > few);
  /* A rank by a rank has to fit a quarter of the memory, or there is no room for eigenvectors. */
  chosen(&l, (struct gpnn_grid_system_options){.columns = 1000, .memory = 700000}, &few);
  assert_true(few < many && few * few * 8 <= 700000 / 4);
  assert_string_equal(chosen(&l, (struct gpnn_grid_system_options){.memory = 1000}, &rank), "none");
  lattice_free(&l);
}

/* |b - A x| / |b| in the worst column, with exact products. */
static double worst_residual(const struct gpnn_grid_system *system, const struct lattice *l,
                             size_t columns, const double *b, const double *x)
{
  double *ax = gpnn_alloc(l->cells, columns, sizeof *ax), worst = 0;
  assert_non_null(ax);
  assert_ok(gpnn_grid_system_multiply(system, columns, x, ax, &err));
  for (size_t c = 0; c < columns; c++) {
    double off = 0, all = 0;
    for (size_t i = 0; i < l->cells; i++) {
      size_t at = lattice_at(l, columns, c, i);
      off += (b[at] - ax[at]) * (b[at] - ax[at]);
      all += b[at] * b[at];
    }
    worst = fmax(worst, sqrt(off / all));
  }
  free(ax);
  return worst;
}

/* What they add to a residual is at most what is reported, and in a product without noise their
 * eigenvalue. */
static void negligible_eigenvectors_are_left_out_and_told(void **state)
{
  (void)state;
  enum { COLUMNS = 5 };
  const struct gpnn_grid_system_options options = {
      .preconditioner = GPNN_GRID_PRECONDITION_EIGEN, .rank = 20, .tolerance = 0.05, .threads = 2};
  const struct gpnn_cg_options cg = {.tolerance = 0.05, .most_iterations = 500, .threads = 2};
  struct lattice l = lattice_make(2, (size_t[]){200, 30}, 0.3, 5, 79);
  struct gpnn_grid_system *system = lattice_system(&l, &options);
  const struct gpnn_grid_preconditioner_state *made = system->preconditioner;
  assert_true(made->leading.rank > 0 && made->leading.rank < 200 * 30 / 2);
  double *b = lattice_vectors(&l, COLUMNS, 3), *x = lattice_vectors(&l, COLUMNS, 4);
  double *exact = lattice_vectors(&l, COLUMNS, 5), *y = lattice_vectors(&l, COLUMNS, 6);
  struct gpnn_cg_report report;
  assert_ok(gpnn_grid_system_solve(system, COLUMNS, b, x, &cg, &report, &err));
  double residual = worst_residual(system, &l, COLUMNS, b, x);
  assert_true(report.converged && residual <= report.residual && report.residual <= 0.15);
  assert_ok(gpnn_grid_system_spread(system, 0, COLUMNS, b, exact, &err));
  assert_ok(gpnn_grid_system_spread(system, 0.05, COLUMNS, b, y, &err));
  double off = 0, all = 0;
  for (size_t i = 0; i < l.cells * COLUMNS; i++) {
    off += (y[i] - exact[i]) * (y[i] - exact[i]);
    all += b[i] * b[i];
  }
  assert_true(off > 0 && sqrt(off / all) <= made->negligible);
  /* A tighter tolerance is met exactly. */
  assert_ok(gpnn_grid_system_spread(system, 0.02, COLUMNS, b, y, &err));
  assert_memory_equal(y, exact, l.cells * COLUMNS * sizeof *y);
  gpnn_grid_system_free(system);
  lattice_free(&l);
  free(b);
  free(x);
  free(y);
  free(exact);
}

/* Fails unless solutions are the same bytes with 1, 3 and 8 threads. */
static void check_threads(const struct lattice *l, struct gpnn_grid_system_options options)
{
  enum { M = 35 };
  size_t size = l->cells * M;
  double *b = lattice_vectors(l, M, 3), *first = NULL;
  for (size_t t = 0; t < 3; t++) {
    options.threads = (int[]){1, 3, 8}[t];
    struct gpnn_grid_system *system = lattice_system(l, &options);
    struct gpnn_cg_options cg = {.tolerance = 1e-3, .most_iterations = 500};
    struct gpnn_cg_report report;
    double *x = gpnn_alloc(size, 1, sizeof *x);
    assert_non_null(x);
    cg.threads = options.threads;
    assert_ok(gpnn_grid_system_solve(system, M, b, x, &cg, &report, &err));
    gpnn_grid_system_free(system);
    if (t > 0) {
      assert_memory_equal(x, first, size * sizeof *x);
      free(x);
    } else {
      first = x;
    }
  }
  free(b);
  free(first);
}

static void threads_do_not_change_solutions(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){151, 31}, 0.4, 0.2, 61);
  for (size_t k = 0; k < KINDS; k++) {
    const struct gpnn_grid_system_options options = {
        .preconditioner = kinds[k].kind, .rank = kinds[k].rank < 1000 ? kinds[k].rank : 300};
    check_threads(&l, options);
  }
  lattice_free(&l);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_give_the_solution_of_lapack),
      cmocka_unit_test(one_cell_or_one_level_is_enough),
      cmocka_unit_test(holes_bound_the_iterations_of_the_grid),
      cmocka_unit_test(all_eigenpairs_leave_one_iteration),
      cmocka_unit_test(blocks_are_exact),
      cmocka_unit_test(rank_saves_iterations),
      cmocka_unit_test(little_memory_leaves_the_diagonal_of_blocks),
      cmocka_unit_test(the_choice_is_that_of_least_work),
      cmocka_unit_test(negligible_eigenvectors_are_left_out_and_told),
      cmocka_unit_test(names_and_ranks_are_told),
      cmocka_unit_test(threads_do_not_change_solutions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
