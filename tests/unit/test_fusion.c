/* Models of own rows and another's answers, against the textbook in long double: joint matrices of
 * own rows, asked rows and rows to be predicted, inverted by elimination. */
#include "cotrain/absorb.h"

#include "dense.h"
#include "linalg/blas_threads.h"
#include "random.h"
#include "unit.h"

/* Own rows, asked rows, rows to be predicted; all of them. */
enum { N = 9, Q = 5, S = 4, ALL = N + Q + S, D = 2 };

/* Of the asking model. */
static double lengthscale[D] = {0.9, 1.6};
static const uint32_t group[D] = {0, 1};
static const double kernelscale = 1.2, noise = 0.05;

/* Of the answering model, which sees one other number of each row. */
static const double other_lengthscale = 0.7, other_scale = 0.8, other_noise = 0.1;

struct world {
  double *x, *y; /* ALL by D; N */
  double mean[Q], covariance[Q * Q], prior[Q * Q], privacy[Q * Q];
  double row_noise[N];
  struct gpnn_dataset view;
  struct gpnn_parameters params;
  struct gpnn_fusion_answers answers;
};

static double own(const double *a, const double *b)
{
  return kernelscale * (double)dense_kernel("matern52", D, a, b, D, lengthscale);
}

/* The other model has 7 rows of its own. */
static void answer(struct world *w)
{
  enum { B = 7 };
  double *x = normal_rows(B + Q, 1, 11), *y = normal_rows(B, 1, 12);
  for (size_t i = 0; i < Q; i++) {
    long double k[B * B], weights[B], unused[B] = {0};
    double c[B];
    for (size_t j = 0; j < Q; j++) {
      for (size_t a = 0; a < B; a++) {
        for (size_t b = 0; b < B; b++)
          k[a * B + b] = other_scale * dense_kernel("rbf", 1, x + a, x + b, 1, &other_lengthscale) +
                         (a == b ? other_noise : 0);
        weights[a] = other_scale * dense_kernel("rbf", 1, x + a, x + B + i, 1, &other_lengthscale);
        c[a] =
            other_scale * (double)dense_kernel("rbf", 1, x + a, x + B + j, 1, &other_lengthscale);
      }
      dense_solve(B, k, weights, unused);
      w->prior[i * Q + j] =
          other_scale * (double)dense_kernel("rbf", 1, x + B + i, x + B + j, 1, &other_lengthscale);
      w->covariance[i * Q + j] = w->prior[i * Q + j] + (i == j ? other_noise : 0);
      w->mean[i] = 0;
      for (size_t a = 0; a < B; a++) {
        w->covariance[i * Q + j] -= (double)weights[a] * c[a];
        w->mean[i] += (double)weights[a] * y[a];
      }
    }
  }
  free(x);
  free(y);
}

static void begin(struct world *w)
{
  *w = (struct world){.x = normal_rows(ALL, D, 1), .y = normal_rows(N, 1, 2)};
  for (size_t i = 0; i < N; i++) w->row_noise[i] = 0.01 * (double)i;
  answer(w);
  for (size_t i = 0; i < Q; i++)
    for (size_t j = 0; j < Q; j++) w->privacy[i * Q + j] = (i == j ? 0.2 : 0.05);
  w->view = (struct gpnn_dataset){
      .n = N, .d = D, .n_groups = D, .group = group, .x = w->x, .y = w->y, .noise = w->row_noise};
  w->params.covariance = (struct gpnn_covariance){.kernel = gpnn_kernel_by_name("matern52"),
                                                  .n_lengthscales = D,
                                                  .lengthscale = lengthscale,
                                                  .kernelscale = kernelscale,
                                                  .noise = noise};
  w->answers = (struct gpnn_fusion_answers){
      .n = Q, .x = w->x + N * D, .mean = w->mean, .covariance = w->covariance, .prior = w->prior};
}

static void end(struct world *w)
{
  free(w->x);
  free(w->y);
}

/* ---- by the textbook ---------------------------------------------------------------------- */

typedef long double matrix[ALL * ALL];

static void invert(size_t n, const long double *a, long double *inverse)
{
  matrix copy;
  for (size_t j = 0; j < n; j++) {
    long double unit[ALL] = {0}, unused[ALL] = {0};
    unit[j] = 1;
    memcpy(copy, a, n * n * sizeof *copy);
    dense_solve(n, copy, unit, unused);
    for (size_t i = 0; i < n; i++) inverse[i * n + j] = unit[i];
  }
}

/* Of own rows, asked rows and rows to be predicted, with 'jitter' on the diagonal. */
static void fill_own(const struct world *w, double jitter, long double *k)
{
  for (size_t i = 0; i < ALL; i++)
    for (size_t j = 0; j < ALL; j++)
      k[i * ALL + j] =
          kernelscale * dense_kernel("matern52", D, w->x + i * D, w->x + j * D, D, lengthscale) +
          (i == j ? jitter : 0);
}

/* The inverse of the sum of the precisions of 'k' and, at the asked rows, of 'r' (Q by Q). */
static void add_precision(long double *k, const long double *r)
{
  matrix sum, other;
  invert(ALL, k, sum);
  invert(Q, r, other);
  for (size_t i = 0; i < Q; i++)
    for (size_t j = 0; j < Q; j++) sum[(N + i) * ALL + N + j] += other[i * Q + j];
  invert(ALL, sum, k);
}

/* What observations of own and asked rows say of row N + Q + s, whose covariances are 'k', those of
 * observations 'k' and 'd' (N + Q squared). */
static void condition(const struct world *w, const long double *k, const long double *d, size_t s,
                      double *mean, double *variance)
{
  enum { A = N + Q };
  long double a[A * A], y[A], c[A], m = 0, v = k[(A + s) * (ALL + 1)];
  for (size_t i = 0; i < A; i++) {
    for (size_t j = 0; j < A; j++) a[i * A + j] = k[i * ALL + j] + d[i * A + j];
    y[i] = i < N ? w->y[i] : w->mean[i - N];
    c[i] = k[(A + s) * ALL + i];
  }
  dense_solve(A, a, y, c);
  for (size_t i = 0; i < A; i++) {
    m += k[(A + s) * ALL + i] * y[i];
    v -= k[(A + s) * ALL + i] * c[i];
  }
  *mean = (double)m;
  *variance = (double)v;
}

/* The noise of observations: that of own rows, 'asked' of asked ones, and of these 'share' of the
 * covariances and variances of the errors, and of those of privacy. */
static void fill_noise(const struct world *w, double own_noise, double asked, double joint,
                       double marginal, bool is_private, long double *d)
{
  enum { A = N + Q };
  memset(d, 0, A * A * sizeof *d);
  for (size_t i = 0; i < A; i++) d[i * (A + 1)] = i < N ? own_noise + w->row_noise[i] : asked;
  for (size_t i = 0; i < Q; i++)
    for (size_t j = 0; j < Q; j++)
      d[(N + i) * A + N + j] += (i == j ? marginal : joint) *
                                (is_private ? w->covariance[i * Q + j] + w->privacy[i * Q + j]
                                            : w->covariance[i * Q + j]);
}

/* ---- the model ---------------------------------------------------------------------------- */

static void predict(const struct gpnn_fusion *f, const double *x, double *mean, double *variance)
{
  double less = 0, k[64];
  assert_true(f->m <= 64 && f->rank <= f->m);
  *mean = 0;
  for (size_t i = 0; i < f->m; i++) {
    k[i] = own(f->points + i * D, x);
    *mean += k[i] * f->weights[i];
  }
  for (size_t r = 0; r < f->rank; r++) {
    double sum = 0;
    for (size_t i = 0; i < f->m; i++) sum += f->root[r * f->m + i] * k[i];
    less += sum * sum;
  }
  *variance = kernelscale - less;
}

static struct gpnn_fusion made(const struct world *w, enum gpnn_absorb_rule rule,
                               enum gpnn_fusion_uncertainty uncertainty)
{
  struct gpnn_fusion f = {0};
  assert_ok(gpnn_fusion_new(&f, &w->view, &w->params, &w->answers, rule, uncertainty, &err));
  return f;
}

/* Compares with the textbook, whose variances have 'extra' besides those of the function. */
static void assert_predicts(const struct world *w, const struct gpnn_fusion *f,
                            const long double *k, const long double *d, double extra,
                            double tolerance)
{
  for (size_t s = 0; s < S; s++) {
    double mean, variance, wanted, wanted_variance;
    predict(f, w->x + (N + Q + s) * D, &mean, &variance);
    condition(w, k, d, s, &wanted, &wanted_variance);
    assert_near(mean, wanted, tolerance);
    assert_near(variance + extra, wanted_variance, tolerance);
  }
}

/* ---- each rule ---------------------------------------------------------------------------- */

static void full_is_the_process_with_noise_of_its_own(void **state)
{
  struct world w;
  matrix k, d;
  (void)state;
  begin(&w);
  fill_own(&w, 0, k);
  for (int is_private = 0; is_private < 2; is_private++) {
    w.answers.privacy = is_private ? w.privacy : NULL;
    for (int u = GPNN_FUSION_JOINT; u <= GPNN_FUSION_MARGINAL; u++) {
      struct gpnn_fusion f = made(&w, GPNN_ABSORB_FULL, (enum gpnn_fusion_uncertainty)u);
      fill_noise(&w, noise, noise, u == GPNN_FUSION_JOINT, 1, is_private, d);
      assert_predicts(&w, &f, k, d, 0, 1e-9);
      assert_int_equal(f.n_negative, 0);
      gpnn_fusion_release(&f);
    }
  }
  end(&w);
}

/* As it was published, the hybrid has the noise first: all that the other view says is overridden.
 */
static void the_published_hybrid_is_noise_alone(void **state)
{
  struct world w;
  struct gpnn_fusion f;
  matrix k, d;
  long double r[Q * Q];
  (void)state;
  begin(&w);
  memset(w.row_noise, 0, sizeof w.row_noise);
  f = made(&w, GPNN_ABSORB_FULL, GPNN_FUSION_NONE);
  fill_own(&w, 0, k);
  fill_noise(&w, noise, noise, 0, 0, false, d);
  assert_predicts(&w, &f, k, d, 0, 1e-9);
  fill_own(&w, noise, k);
  for (size_t i = 0; i < Q * Q; i++) r[i] = (long double)w.prior[i] + w.covariance[i];
  add_precision(k, r);
  memset(d, 0, sizeof d);
  assert_predicts(&w, &f, k, d, noise, 1e-8);
  gpnn_fusion_release(&f);
  end(&w);
}

static void hybrid_adds_precisions(void **state)
{
  const double jitter = 1e-8;
  struct world w;
  (void)state;
  begin(&w);
  for (int u = GPNN_FUSION_JOINT; u <= GPNN_FUSION_NONE; u++)
    for (int is_private = 0; is_private < 2; is_private++) {
      long double r[Q * Q];
      matrix k, d;
      w.answers.privacy = is_private ? w.privacy : NULL;
      struct gpnn_fusion f = made(&w, GPNN_ABSORB_HYBRID, (enum gpnn_fusion_uncertainty)u);
      for (size_t i = 0; i < Q * Q; i++) {
        bool is_variance = i % (Q + 1) == 0, counts = u == GPNN_FUSION_JOINT || is_variance;
        r[i] = (long double)w.prior[i];
        if (counts && u != GPNN_FUSION_NONE) r[i] += w.covariance[i];
        if (counts && is_private) r[i] += w.privacy[i];
      }
      fill_own(&w, jitter, k);
      add_precision(k, r);
      fill_noise(&w, noise, noise, 0, 0, false, d);
      assert_predicts(&w, &f, k, d, 0, 1e-6);
      gpnn_fusion_release(&f);
    }
  end(&w);
}

static void blocky_adds_two_predictions(void **state)
{
  struct world w;
  (void)state;
  begin(&w);
  struct gpnn_fusion f = made(&w, GPNN_ABSORB_BLOCKY, GPNN_FUSION_JOINT);
  for (size_t s = 0; s < S; s++) {
    const double *x = w.x + (N + Q + s) * D;
    long double a[N * N], b[Q * Q], y[N], m[Q], c[N], e[Q], mean = 0, variance = kernelscale;
    double got, got_variance;
    for (size_t i = 0; i < N; i++) {
      for (size_t j = 0; j < N; j++)
        a[i * N + j] = own(w.x + i * D, w.x + j * D) + (i == j ? noise + w.row_noise[i] : 0);
      y[i] = w.y[i];
      c[i] = own(w.x + i * D, x);
    }
    for (size_t i = 0; i < Q; i++) {
      for (size_t j = 0; j < Q; j++) b[i * Q + j] = w.prior[i * Q + j] + w.covariance[i * Q + j];
      m[i] = w.mean[i];
      e[i] = own(w.x + (N + i) * D, x);
    }
    dense_solve(N, a, y, c);
    dense_solve(Q, b, m, e);
    for (size_t i = 0; i < N; i++) {
      mean += own(w.x + i * D, x) * y[i];
      variance -= own(w.x + i * D, x) * c[i];
    }
    for (size_t i = 0; i < Q; i++) {
      mean += own(w.x + (N + i) * D, x) * m[i];
      variance -= own(w.x + (N + i) * D, x) * e[i];
    }
    predict(&f, x, &got, &got_variance);
    assert_near(got, (double)mean, 1e-10);
    assert_near(got_variance, (double)variance, 1e-10);
  }
  gpnn_fusion_release(&f);
  end(&w);
}

/* Where both blocks know much, their sum is twice the truth, with a variance that cannot be. */
static void blocky_counts_twice(void **state)
{
  struct world w;
  size_t n_negative = 0;
  (void)state;
  begin(&w);
  memset(w.row_noise, 0, sizeof w.row_noise);
  w.answers.x = w.x;
  for (size_t i = 0; i < Q; i++) w.mean[i] = w.y[i];
  for (size_t i = 0; i < Q * Q; i++) {
    w.prior[i] = own(w.x + i / Q * D, w.x + i % Q * D);
    w.covariance[i] = i % (Q + 1) == 0 ? 1e-3 : 0;
  }
  w.params.covariance.noise = 1e-3;
  struct gpnn_fusion f = made(&w, GPNN_ABSORB_BLOCKY, GPNN_FUSION_JOINT);
  for (size_t i = 0; i < N; i++) {
    double mean, variance;
    predict(&f, w.x + i * D, &mean, &variance);
    if (i < Q) assert_near(mean, 2 * w.y[i], 0.05);
    n_negative += variance < 0;
  }
  for (size_t i = 0; i < Q; i++) {
    double mean, variance;
    predict(&f, w.x + i * D, &mean, &variance);
    n_negative += variance < 0;
  }
  assert_true(n_negative >= 2 * Q);
  assert_int_equal(f.n_negative, n_negative);
  gpnn_fusion_release(&f);
  end(&w);
}

/* ---- all rules ---------------------------------------------------------------------------- */

/* Without answers all rules give the model of the own rows. */
static void nothing_said_changes_nothing(void **state)
{
  struct world w;
  (void)state;
  begin(&w);
  w.answers.n = 0;
  struct gpnn_fusion alone = made(&w, GPNN_ABSORB_FULL, GPNN_FUSION_JOINT);
  for (int rule = GPNN_ABSORB_FULL; rule <= GPNN_ABSORB_BLOCKY; rule++) {
    struct gpnn_fusion f = made(&w, (enum gpnn_absorb_rule)rule, GPNN_FUSION_JOINT);
    assert_int_equal(f.m, N);
    assert_memory_equal(f.weights, alone.weights, N * sizeof *f.weights);
    assert_memory_equal(f.root, alone.root, N * N * sizeof *f.root);
    gpnn_fusion_release(&f);
  }
  gpnn_fusion_release(&alone);
  end(&w);
}

/* The score is that of models made without each row in turn. */
static void the_score_leaves_each_own_row_out(void **state)
{
  const double log_2_pi = 1.8378770664093454836;
  struct world w;
  (void)state;
  begin(&w);
  for (int rule = GPNN_ABSORB_FULL; rule <= GPNN_ABSORB_BLOCKY; rule++) {
    struct world less = w;
    double sum = 0;
    struct gpnn_fusion all = made(&less, (enum gpnn_absorb_rule)rule, GPNN_FUSION_JOINT);
    for (size_t i = 0; i < N; i++) {
      double x[N * D], y[N], noises[N], mean, variance;
      for (size_t j = 0, to = 0; j < N; j++) {
        if (j == i) continue;
        memcpy(x + to * D, w.x + j * D, D * sizeof *x);
        y[to] = w.y[j];
        noises[to++] = w.row_noise[j];
      }
      less.view.n = N - 1;
      less.view.x = x;
      less.view.y = y;
      less.view.noise = noises;
      struct gpnn_fusion f = made(&less, (enum gpnn_absorb_rule)rule, GPNN_FUSION_JOINT);
      predict(&f, w.x + i * D, &mean, &variance);
      variance = fmax(variance, 1e-10 * kernelscale) + noise + w.row_noise[i];
      sum += 0.5 * (log_2_pi + log(variance) + (w.y[i] - mean) * (w.y[i] - mean) / variance);
      gpnn_fusion_release(&f);
    }
    assert_near(all.score, sum / N, 1e-9 * fmax(1, fabs(sum)));
    gpnn_fusion_release(&all);
  }
  end(&w);
}

/* An asked row may be an own one, or asked twice, and the kernel may be as smooth as can be. */
static void copies_do_no_harm(void **state)
{
  struct world w;
  (void)state;
  begin(&w);
  memcpy(w.x + N * D, w.x, D * sizeof *w.x);
  memcpy(w.x + (N + 1) * D, w.x + (N + 2) * D, D * sizeof *w.x);
  w.params.covariance.kernel = gpnn_kernel_by_name("rbf");
  for (int rule = GPNN_ABSORB_FULL; rule <= GPNN_ABSORB_BLOCKY; rule++) {
    struct gpnn_fusion f = made(&w, (enum gpnn_absorb_rule)rule, GPNN_FUSION_JOINT);
    assert_true(isfinite(f.score));
    gpnn_fusion_release(&f);
  }
  end(&w);
}

/* ---- bad input ---------------------------------------------------------------------------- */

static void refuses(struct world *w, enum gpnn_absorb_rule rule, enum gpnn_status status,
                    const char *text)
{
  struct gpnn_fusion f = {0};
  assert_fails(
      gpnn_fusion_new(&f, &w->view, &w->params, &w->answers, rule, GPNN_FUSION_JOINT, &err), status,
      text);
  assert_null(f.root);
}

static void refuses_what_it_cannot_have(void **state)
{
  struct world w;
  (void)state;
  begin(&w);
  w.view.n = GPNN_FUSION_MOST - Q + 1;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EINVAL,
          "4996 training rows and 5 asked ones: a dense model takes 5000 at most, together");
  w.view.n = N;
  w.params.mean.kind = GPNN_MEAN_LINEAR;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EMISMATCH, "a mean function");
  w.params.mean.kind = GPNN_MEAN_ZERO;
  w.params.covariance.n_rotation = D * D;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EMISMATCH, "a rotation of inputs");
  w.params.covariance.n_rotation = 0;
  w.params.sight = (unsigned char[]){GPNN_SIGHT_SCORE, GPNN_SIGHT_VALUE};
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EMISMATCH, "inputs that are seen by their scores");
  w.params.sight = NULL;
  w.params.transform.kind = GPNN_TRANSFORM_LOG;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EMISMATCH, "a transform of the target");
  w.params.transform.kind = GPNN_TRANSFORM_NONE;
  w.params.family = GPNN_FAMILY_DIAG;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EMISMATCH, "a model without training rows");
  w.params.family = GPNN_FAMILY_NONE;
  w.params.likelihood = GPNN_LIKELIHOOD_POISSON;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EMISMATCH, "a target of counts");
  end(&w);
}

static void refuses_answers_that_cannot_be(void **state)
{
  struct world w;
  (void)state;
  begin(&w);
  w.mean[2] = NAN;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EDATA, "an answer is not finite");
  w.mean[2] = 0;
  w.covariance[0] = -1;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EDATA,
          "the covariance of the answers is not positive definite");
  w.covariance[0] = INFINITY;
  refuses(&w, GPNN_ABSORB_FULL, GPNN_EDATA, "the covariance of the answers is not finite");
  w.covariance[0] = 1;
  const double kept = w.prior[1];
  w.prior[1] = w.prior[Q] = 7;
  refuses(&w, GPNN_ABSORB_HYBRID, GPNN_EDATA,
          "the prior covariance of the answers is not positive definite");
  w.prior[1] = w.prior[Q] = kept;
  end(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(full_is_the_process_with_noise_of_its_own),
      cmocka_unit_test(the_published_hybrid_is_noise_alone),
      cmocka_unit_test(hybrid_adds_precisions),
      cmocka_unit_test(blocky_adds_two_predictions),
      cmocka_unit_test(blocky_counts_twice),
      cmocka_unit_test(nothing_said_changes_nothing),
      cmocka_unit_test(the_score_leaves_each_own_row_out),
      cmocka_unit_test(copies_do_no_harm),
      cmocka_unit_test(refuses_what_it_cannot_have),
      cmocka_unit_test(refuses_answers_that_cannot_be),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
