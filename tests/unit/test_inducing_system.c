#include "random.h"
#include "unit.h"

#include "dataset/stored.h"
#include "models/inducing/inducing.h"

enum { M = 5, D = 2 };

/* A channel of inducing points at random, with 'n' numbers rho (0: without the array). */
struct example {
  struct gpnn_state *arrays;
  struct gpnn_stored stored;
  struct gpnn_dataset dataset;
  struct gpnn_parameters parameters;
  struct gpnn_channel channel;
  char target[2];
  double z[M * D], rho[M + 1];
};

static void make(struct example *e, enum gpnn_family family, size_t n_points, size_t n_rho)
{
  *e = (struct example){.target = "y"};
  struct gpnn_rng rng = seeded(4);
  for (size_t i = 0; i < M * D; i++) e->z[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < M + 1; i++) e->rho[i] = gpnn_rng_normal(&rng);
  assert_ok(gpnn_state_new(&e->arrays, 0, &err));
  if (n_points > 0)
    assert_ok(gpnn_state_add(e->arrays, "y", GPNN_INDUCING_POINTS, n_points, e->z, &err));
  if (n_rho > 0) assert_ok(gpnn_state_add(e->arrays, "y", GPNN_INDUCING_RHO, n_rho, e->rho, &err));
  e->stored.arrays = e->arrays;
  e->dataset.d = D;
  e->dataset.stored = &e->stored;
  e->dataset.schema.target.name = e->target;
  e->parameters.family = family;
  e->parameters.covariance.noise = 0.3;
  e->channel = (struct gpnn_channel){&e->dataset, &e->parameters};
}

static void points_come_with_exp_rho_or_the_noise(void **state)
{
  (void)state;
  for (int family = GPNN_FAMILY_COLLAPSED; family <= GPNN_FAMILY_DIAG; family++) {
    struct example e;
    size_t m = 0;
    const double *z = NULL;
    double *diagonal = NULL;
    make(&e, (enum gpnn_family)family, M * D, M);
    assert_ok(gpnn_inducing_system(&e.channel, &m, &z, &diagonal, &err));
    assert_int_equal(m, M);
    assert_memory_equal(z, e.z, sizeof e.z);
    for (size_t i = 0; i < M; i++)
      assert_near(diagonal[i], family == GPNN_FAMILY_DIAG ? exp(e.rho[i]) : 0.3, 1e-15);
    free(diagonal);
    gpnn_state_free(e.arrays);
  }
}

static void refuses(enum gpnn_family family, size_t n_points, size_t n_rho, double rho,
                    enum gpnn_status wanted, const char *text)
{
  struct example e;
  size_t m = 7;
  const double *z = NULL;
  double *diagonal = NULL;
  make(&e, family, n_points, n_rho);
  if (rho != 0) e.arrays->arrays[e.arrays->n - 1].values[2] = rho;
  assert_fails(gpnn_inducing_system(&e.channel, &m, &z, &diagonal, &err), wanted, text);
  assert_true(m == 7 && z == NULL && diagonal == NULL);
  gpnn_state_free(e.arrays);
}

static void arrays_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  refuses(GPNN_FAMILY_TUCKER, M * D, M, 0, GPNN_EMISMATCH, "gpnn-sparse");
  refuses(GPNN_FAMILY_DIAG, 0, M, 0, GPNN_EFORMAT, "no valid array 'inducing'");
  refuses(GPNN_FAMILY_DIAG, M * D - 1, M, 0, GPNN_EFORMAT, "no valid array 'inducing'");
  refuses(GPNN_FAMILY_DIAG, M * D, 0, 0, GPNN_EFORMAT, "no valid array 'rho'");
  refuses(GPNN_FAMILY_DIAG, M * D, M - 1, 0, GPNN_EFORMAT, "no valid array 'rho'");
  refuses(GPNN_FAMILY_DIAG, M * D, M + 1, 0, GPNN_EFORMAT, "no valid array 'rho'");
  refuses(GPNN_FAMILY_DIAG, M * D, M, 1e6, GPNN_EFORMAT, "array 'rho'");
  refuses(GPNN_FAMILY_DIAG, M * D, M, -1e6, GPNN_EFORMAT, "array 'rho'");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_come_with_exp_rho_or_the_noise),
      cmocka_unit_test(arrays_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
