#include "cotrain/release.h"

#include <math.h>

#include "base/secret.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"
#include "random.h"
#include "stats/distributions/normal.h"
#include "stats/privacy.h"
#include "unit.h"

enum { N = 30, Q = 5, WIDTH = 6, THRESHOLDS = 17 };

/* Answers of a process in one input: their dependence on the responses, and their prior. */
struct answering {
  size_t q;
  double parts[Q * N]; /* columns of q */
  double prior[Q * Q];
  double gram[N * N]; /* (K + noise)^-1 K (K + noise)^-1 */
};

static double kernel(double a, double b)
{
  return exp(-0.5 * (a - b) * (a - b));
}

static void refill(void *context, double *k)
{
  (void)context;
  (void)k;
  fail_msg("not positive definite");
}

static void begin(struct answering *a, double noise, size_t q)
{
  double *x = normal_rows(N, 1, 1), *asked = normal_rows(Q, 1, 2);
  double k[N * N], solved[N * N], jitter;
  a->q = q;
  for (size_t i = 0; i < N * N; i++)
    k[i] = kernel(x[i / N], x[i % N]) + (i / N == i % N ? noise : 0);
  assert_ok(gpnn_cholesky_factor(N, k, NULL, 1, refill, NULL, &jitter, &err));
  for (size_t i = 0; i < q; i++) {
    double row[N];
    for (size_t j = 0; j < N; j++) row[j] = kernel(asked[i], x[j]);
    gpnn_cholesky_solve(N, k, row);
    for (size_t j = 0; j < N; j++) a->parts[j * q + i] = row[j];
    for (size_t j = 0; j < q; j++) a->prior[i * q + j] = kernel(asked[i], asked[j]);
  }
  for (size_t i = 0; i < N; i++) { /* G K G = G - noise G G */
    for (size_t j = 0; j < N; j++) solved[i * N + j] = i == j;
    gpnn_cholesky_solve(N, k, solved + i * N);
  }
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      double sum = 0;
      for (size_t l = 0; l < N; l++) sum += solved[i * N + l] * solved[l * N + j];
      a->gram[i * N + j] = solved[i * N + j] - noise * sum;
    }
  free(x);
  free(asked);
}

static void shape(const struct answering *a, enum gpnn_mechanism mechanism,
                  struct gpnn_release *release)
{
  assert_ok(gpnn_release_shape(release, mechanism, a->q, N, a->parts,
                               mechanism == GPNN_MECHANISM_PATH ? a->prior : NULL, WIDTH, &err));
}

/* The answers' change, in standard deviations of noise of covariance M, if response j changes. */
static double change(const struct answering *a, const struct gpnn_release *release, size_t j)
{
  const size_t q = a->q;
  double m[Q * Q], moved[Q], solved[Q], sum = 0, jitter;
  memcpy(m, release->m, q * q * sizeof *m);
  assert_ok(gpnn_cholesky_factor(q, m, NULL, 1, refill, NULL, &jitter, &err));
  for (size_t i = 0; i < q; i++) {
    double before = 0, after = 0;
    for (size_t l = 0; l < N; l++) {
      const double y = l % 7 == 0 ? -3 : 1;
      before += a->parts[l * q + i] * (l == j ? -3 : y);
      after += a->parts[l * q + i] * (l == j ? 3 : y);
    }
    moved[i] = solved[i] = after - before;
  }
  gpnn_cholesky_solve(q, m, solved);
  for (size_t i = 0; i < q; i++) sum += moved[i] * solved[i];
  return sqrt(sum);
}

static void sensitivity_is_the_largest_change_that_a_response_makes(void **state)
{
  struct answering a;
  (void)state;
  begin(&a, 0.1, Q);
  for (enum gpnn_mechanism m = GPNN_MECHANISM_SHAPED; m < GPNN_MECHANISMS; m++) {
    struct gpnn_release release = {0};
    double largest = 0;
    shape(&a, m, &release);
    for (size_t j = 0; j < N; j++) largest = fmax(largest, change(&a, &release, j));
    assert_near(release.sensitivity, largest, 1e-9 * largest);
    gpnn_release_free(&release);
  }
}

/* Along a path, answers to finitely many questions tell no more than the whole function, which
 * tells no more than the noise of the responses lets it. */
static void a_path_hides_at_most_what_a_whole_function_has(void **state)
{
  const double noise = 0.1;
  struct answering a;
  struct gpnn_release release = {0};
  double function = 0;
  (void)state;
  begin(&a, noise, Q);
  shape(&a, GPNN_MECHANISM_PATH, &release);
  for (size_t j = 0; j < N; j++) function = fmax(function, sqrt(a.gram[j * N + j]));
  assert_true(release.sensitivity <= WIDTH * function * (1 + 1e-9));
  assert_true(function <= 1 / (2 * sqrt(noise)));
  gpnn_release_free(&release);
}

static void the_shape_holds_all_columns_and_is_the_smallest(void **state)
{
  struct answering a;
  double volume[GPNN_MECHANISMS];
  (void)state;
  begin(&a, 0.1, Q);
  for (enum gpnn_mechanism m = GPNN_MECHANISM_SHAPED; m < GPNN_MECHANISMS; m++) {
    struct gpnn_release release = {0};
    shape(&a, m, &release);
    const double reach = release.sensitivity / WIDTH;
    if (m == GPNN_MECHANISM_SHAPED) assert_true(reach * reach <= 1 + 1e-9);
    /* Of the ellipsoid with these axes that just holds the columns. */
    volume[m] = gpnn_cholesky_logdet(Q, release.factor) + 2 * Q * log(reach);
    gpnn_release_free(&release);
  }
  assert_true(volume[GPNN_MECHANISM_SHAPED] < volume[GPNN_MECHANISM_ISOTROPIC]);
  assert_true(volume[GPNN_MECHANISM_SHAPED] < volume[GPNN_MECHANISM_PATH]);
}

static void noise_has_the_covariance_that_is_told(void **state)
{
  enum { DRAWS = 200000 };
  struct answering a;
  struct gpnn_release release = {0};
  struct gpnn_secret secret;
  double sum[Q * Q] = {0};
  const double tau = 1.7;
  (void)state;
  begin(&a, 0.1, Q);
  shape(&a, GPNN_MECHANISM_SHAPED, &release);
  gpnn_secret_insecure(&secret, 3);
  for (size_t t = 0; t < DRAWS; t++) {
    double answers[Q] = {0};
    assert_ok(gpnn_release_draw(&release, tau, 0x1p-40, &secret, answers, &err));
    for (size_t i = 0; i < Q * Q; i++) sum[i] += answers[i / Q] * answers[i % Q] / DRAWS;
  }
  for (size_t i = 0; i < Q * Q; i++) {
    const double m = tau * tau * release.m[i];
    const double variances = pow(tau, 4) * release.m[i / Q * (Q + 1)] * release.m[i % Q * (Q + 1)];
    assert_near(sum[i], m, 4.5 * sqrt((variances + m * m) / DRAWS));
  }
  gpnn_release_free(&release);
}

/* One draw of noise of variance 1 from a stream of the same words, which are 'word'. */
static double draw_from(uint32_t word, double tau, double unit)
{
  double m = 1, answer = 0;
  const struct gpnn_release release = {.q = 1, .m = &m, .factor = &m, .sensitivity = 1};
  struct gpnn_secret secret = {.used = 0};
  for (size_t i = 0; i < 16; i++) secret.block[i] = i == 15 ? 1 : word;
  assert_ok(gpnn_release_draw(&release, tau, unit, &secret, &answer, &err));
  return answer;
}

static void noise_is_finite_at_the_ends_of_the_stream_and_reaches_far(void **state)
{
  (void)state;
  assert_true(fabs(draw_from(0xffffffff, 1, 0x1p-40)) < 1e-5);
  const double far = draw_from(0, 1, 0x1p-40); /* of probability about 2^-512 */
  assert_true(isfinite(far) && fabs(far) > 26 && fabs(far) < 27);
}

static void noise_is_rounded_to_a_part_of_itself(void **state)
{
  (void)state;
  for (double tau = 1; tau < 1e12; tau *= 1e3) {
    const double unit = fmax(0x1p-20, ldexp(1, ilogb(tau) - 20));
    const double drawn = draw_from(0x12345678, tau, 0x1p-20) / unit;
    assert_true(drawn != 0 && drawn == round(drawn) && fabs(drawn) < 0x1p24);
  }
}

/*
 * The best attack on one response, at an end of its range or the other, thresholds the statistic
 * A_j'M^-1 (answers).  Counts how often it takes each of two neighbours for the second, with each
 * threshold.
 */
static void attack(const struct answering *a, const struct gpnn_release *release, double tau,
                   size_t j, const double thresholds[THRESHOLDS], size_t draws,
                   double rates[THRESHOLDS][2])
{
  struct gpnn_secret secret;
  const size_t q = a->q;
  double direction[Q];
  memcpy(direction, a->parts + j * q, q * sizeof *direction);
  gpnn_cholesky_solve(q, release->factor, direction);
  gpnn_secret_insecure(&secret, 11 + j);
  for (size_t t = 0; t < 2 * draws; t++) {
    double answers[Q], told = 0;
    for (size_t i = 0; i < q; i++)
      answers[i] = a->parts[j * q + i] * (t % 2 == 0 ? -WIDTH / 2.0 : WIDTH / 2.0);
    assert_ok(gpnn_release_draw(release, tau, 0x1p-40, &secret, answers, &err));
    for (size_t i = 0; i < q; i++) told += direction[i] * answers[i];
    for (size_t k = 0; k < THRESHOLDS; k++)
      rates[k][t % 2] += (told > thresholds[k]) / (double)draws;
  }
}

/* Pairs of releases of neighbours: some, or as many as 'make audit' asks for. */
static size_t audit_pairs(void)
{
  const char *text = getenv("GPNN_AUDIT_PAIRS");
  return text == NULL ? 20000 : strtoul(text, NULL, 10);
}

/* How far, in standard errors, the best threshold beats the claim. */
static double beaten(const struct answering *a, const struct gpnn_release *release, double mu,
                     double claimed_mu, double epsilon)
{
  const double lost = epsilon / claimed_mu, tau = release->sensitivity / mu;
  const double delta = gpnn_normal_cdf(claimed_mu / 2 - lost) -
                       exp(epsilon) * gpnn_normal_cdf(-claimed_mu / 2 - lost);
  const size_t draws = audit_pairs();
  size_t worst = 0;
  double most = -INFINITY;
  for (size_t j = 0; j < N; j++)
    if (change(a, release, j) > change(a, release, worst)) worst = j;
  const double far = change(a, release, worst); /* between the means, times that of one */
  double thresholds[THRESHOLDS], rates[THRESHOLDS][2] = {{0}};
  for (size_t k = 0; k < THRESHOLDS; k++)
    thresholds[k] = (0.25 * (double)k - 1) * tau * far / WIDTH;
  attack(a, release, tau, worst, thresholds, draws, rates);
  for (size_t k = 0; k < THRESHOLDS; k++) {
    const double first = rates[k][0], second = rates[k][1];
    const double error =
        sqrt((second * (1 - second) + exp(2 * epsilon) * first * (1 - first)) / (double)draws +
             1.0 / (double)draws / (double)draws);
    most = fmax(most, (second - exp(epsilon) * first - delta) / error);
  }
  return most;
}

static void no_attack_beats_the_claim_and_less_noise_is_found_out(void **state)
{
  static const size_t sizes[] = {1, 2, Q};
  struct answering a;
  (void)state;
  for (size_t t = 0; t < 3; t++)
    for (enum gpnn_mechanism m = GPNN_MECHANISM_SHAPED; m < GPNN_MECHANISMS; m++) {
      struct gpnn_release release = {0};
      begin(&a, 0.1, sizes[t]);
      shape(&a, m, &release);
      assert_true(beaten(&a, &release, 1, 1, 0.5) < 4.5);
      assert_true(beaten(&a, &release, 1.4, 1, 0.5) > 4.5);
      gpnn_release_free(&release);
    }
}

static void what_depends_on_nothing_needs_no_noise(void **state)
{
  struct gpnn_release release = {0};
  const double zeros[6] = {0};
  struct gpnn_secret secret;
  double answers[2] = {0.3, -1};
  (void)state;
  for (enum gpnn_mechanism m = GPNN_MECHANISM_SHAPED; m < GPNN_MECHANISM_PATH; m++) {
    assert_ok(gpnn_release_shape(&release, m, 2, 3, zeros, NULL, 1, &err));
    assert_true(release.sensitivity == 0);
    gpnn_release_free(&release);
    assert_ok(gpnn_release_shape(&release, m, 0, 3, zeros, NULL, 1, &err));
    gpnn_release_free(&release);
    assert_ok(gpnn_release_shape(&release, m, 2, 0, zeros, NULL, 1, &err));
    assert_true(release.sensitivity == 0);
    gpnn_secret_insecure(&secret, 1);
    assert_ok(gpnn_release_draw(&release, 0, 0.25, &secret, answers, &err));
    assert_true(answers[0] == 0.25 && answers[1] == -1);
    gpnn_release_free(&release);
  }
}

static void what_is_not_finite_is_refused(void **state)
{
  struct gpnn_release release = {0};
  double parts[2] = {1, NAN}, indefinite[4] = {1, 2, 2, 1};
  (void)state;
  assert_fails(gpnn_release_shape(&release, GPNN_MECHANISM_SHAPED, 2, 1, parts, NULL, 1, &err),
               GPNN_EDATA, "not finite");
  parts[1] = 1;
  assert_fails(gpnn_release_shape(&release, GPNN_MECHANISM_NONE, 2, 1, parts, NULL, 1, &err),
               GPNN_EINVAL, "without noise");
  assert_fails(gpnn_release_shape(&release, GPNN_MECHANISM_SHAPED, 2, 1, parts, NULL, -1, &err),
               GPNN_EINVAL, "cannot change by -1");
  assert_fails(gpnn_release_shape(&release, GPNN_MECHANISM_PATH, 2, 1, parts, indefinite, 1, &err),
               GPNN_ENUMERIC, "");
  assert_null(release.m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sensitivity_is_the_largest_change_that_a_response_makes),
      cmocka_unit_test(a_path_hides_at_most_what_a_whole_function_has),
      cmocka_unit_test(the_shape_holds_all_columns_and_is_the_smallest),
      cmocka_unit_test(noise_has_the_covariance_that_is_told),
      cmocka_unit_test(noise_is_finite_at_the_ends_of_the_stream_and_reaches_far),
      cmocka_unit_test(noise_is_rounded_to_a_part_of_itself),
      cmocka_unit_test(no_attack_beats_the_claim_and_less_noise_is_found_out),
      cmocka_unit_test(what_depends_on_nothing_needs_no_noise),
      cmocka_unit_test(what_is_not_finite_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
