/* Models of own rows and another's answers, against the textbook in long double: joint matrices of
 * own rows, asked rows and rows to be predicted, inverted by elimination. */
#include "cotrain/fusion.h"

#include "cotrain/message.h"
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
  double mean[Q], covariance[Q * Q], prior[Q * Q], noises[Q], privacy[Q * Q];
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
    w->noises[i] = other_noise;
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
  w->answers = (struct gpnn_fusion_answers){.n = Q,
                                            .x = w->x + N * D,
                                            .mean = w->mean,
                                            .covariance = w->covariance,
                                            .prior = w->prior,
                                            .noise = w->noises};
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

static struct gpnn_fusion made(const struct world *w, enum gpnn_fusion_rule rule,
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
      struct gpnn_fusion f = made(&w, GPNN_FUSION_FULL, (enum gpnn_fusion_uncertainty)u);
      fill_noise(&w, noise, noise, u == GPNN_FUSION_JOINT, 1, is_private, d);
      assert_predicts(&w, &f, k, d, 0, 1e-9);
      assert_int_equal(f.n_negative, 0);
      gpnn_fusion_release(&f);
    }
  }
  end(&w);
}

static void hybrid_literal_is_noise_alone(void **state)
{
  struct world w;
  struct gpnn_fusion f;
  matrix k, d;
  long double r[Q * Q];
  (void)state;
  begin(&w);
  memset(w.row_noise, 0, sizeof w.row_noise);
  f = made(&w, GPNN_FUSION_HYBRID_LITERAL, GPNN_FUSION_JOINT);
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
      struct gpnn_fusion f = made(&w, GPNN_FUSION_HYBRID, (enum gpnn_fusion_uncertainty)u);
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

static void yu_shares_the_noise_between_view_and_observation(void **state)
{
  struct world w;
  (void)state;
  begin(&w);
  for (int is_private = 0; is_private < 2; is_private++) {
    long double r[Q * Q];
    matrix k, d;
    w.answers.privacy = is_private ? w.privacy : NULL;
    struct gpnn_fusion f = made(&w, GPNN_FUSION_YU, GPNN_FUSION_JOINT);
    for (size_t i = 0; i < Q * Q; i++)
      r[i] = (long double)w.prior[i] + (i % (Q + 1) == 0 ? other_noise / 2 : 0);
    fill_own(&w, noise / 2, k);
    add_precision(k, r);
    fill_noise(&w, noise / 2, noise / 2, 0, 0, false, d);
    for (size_t i = 0; i < Q && is_private; i++) d[(N + i) * (N + Q + 1)] += w.privacy[i * (Q + 1)];
    assert_predicts(&w, &f, k, d, noise / 2, 1e-9);
    gpnn_fusion_release(&f);
  }
  end(&w);
}

static void blocky_adds_two_predictions(void **state)
{
  struct world w;
  (void)state;
  begin(&w);
  struct gpnn_fusion f = made(&w, GPNN_FUSION_BLOCKY, GPNN_FUSION_JOINT);
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
  struct gpnn_fusion f = made(&w, GPNN_FUSION_BLOCKY, GPNN_FUSION_JOINT);
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

/* ---- the committee machine ---------------------------------------------------------------- */

enum { B = 6, ASKED = B + 2 };

/* Another owner's rows, seen through the same inputs, and the message about them and two more. */
struct committee {
  double *x, *y;
  double shift[ASKED], precision[ASKED * ASKED], parts[ASKED * B];
  struct gpnn_dataset view;
};

static void send(struct committee *c, const struct world *w)
{
  *c = (struct committee){.x = normal_rows(ASKED, D, 21), .y = normal_rows(B, 1, 22)};
  c->view = w->view;
  c->view.n = B;
  c->view.x = c->x;
  c->view.y = c->y;
  assert_ok(gpnn_fusion_message(&c->view, &w->params, ASKED, c->x, c->shift, c->precision, c->parts,
                                &err));
}

static void a_message_about_all_rows_is_worth_them(void **state)
{
  struct world w;
  struct committee c;
  (void)state;
  begin(&w);
  memset(w.row_noise, 0, sizeof w.row_noise);
  send(&c, &w);
  w.answers = (struct gpnn_fusion_answers){
      .n = ASKED, .x = c.x, .shift = c.shift, .precision = c.precision};
  struct gpnn_fusion f = made(&w, GPNN_FUSION_BCM, GPNN_FUSION_JOINT);
  double x[(N + B) * D], y[N + B];
  memcpy(x, w.x, N * D * sizeof *x);
  memcpy(x + N * D, c.x, B * D * sizeof *x);
  memcpy(y, w.y, N * sizeof *y);
  memcpy(y + N, c.y, B * sizeof *y);
  for (size_t s = 0; s < S; s++) {
    double mean, variance, wanted, wanted_variance;
    const double *at = w.x + (N + Q + s) * D;
    predict(&f, at, &mean, &variance);
    dense_predict("matern52", N + B, D, x, y, at, D, lengthscale, kernelscale, noise, &wanted,
                  &wanted_variance);
    assert_near(mean, wanted, 1e-6);
    assert_near(variance, wanted_variance, 1e-6);
  }
  gpnn_fusion_release(&f);
  free(c.x);
  free(c.y);
  end(&w);
}

/* Own rows and h = J f + e, e with covariance J + M, are jointly normal. */
static void a_private_message_is_an_observation(void **state)
{
  enum { A = N + ASKED };
  struct world w;
  struct committee c;
  double privacy[ASKED * ASKED];
  (void)state;
  begin(&w);
  send(&c, &w);
  for (size_t i = 0; i < ASKED * ASKED; i++) privacy[i] = i % (ASKED + 1) == 0 ? 2 : 0.5;
  w.answers = (struct gpnn_fusion_answers){
      .n = ASKED, .x = c.x, .shift = c.shift, .precision = c.precision, .privacy = privacy};
  struct gpnn_fusion f = made(&w, GPNN_FUSION_BCM, GPNN_FUSION_JOINT);
  for (size_t s = 0; s < S; s++) {
    const double *at = w.x + (N + Q + s) * D;
    long double a[A * A], y[A], k[A] = {0}, b[A], wanted = 0, wanted_variance = kernelscale;
    double mean, variance, rows[A * D], map[A * A] = {0};
    memcpy(rows, w.x, N * D * sizeof *rows);
    memcpy(rows + N * D, c.x, ASKED * D * sizeof *rows);
    for (size_t i = 0; i < N; i++) map[i * (A + 1)] = 1;
    for (size_t i = 0; i < ASKED; i++)
      for (size_t j = 0; j < ASKED; j++) map[(N + i) * A + N + j] = c.precision[i * ASKED + j];
    for (size_t i = 0; i < A; i++) {
      for (size_t j = 0; j < A; j++) {
        a[i * A + j] = 0;
        for (size_t p = 0; p < A; p++)
          for (size_t q = 0; q < A; q++)
            if (map[i * A + p] != 0 && map[j * A + q] != 0)
              a[i * A + j] +=
                  (long double)map[i * A + p] * own(rows + p * D, rows + q * D) * map[j * A + q];
        if (i == j && i < N) a[i * A + j] += noise + w.row_noise[i];
        if (i >= N && j >= N)
          a[i * A + j] += c.precision[(i - N) * ASKED + j - N] + privacy[(i - N) * ASKED + j - N];
      }
      y[i] = i < N ? w.y[i] : c.shift[i - N];
      for (size_t p = 0; p < A; p++) k[i] += (long double)map[i * A + p] * own(rows + p * D, at);
      b[i] = k[i];
    }
    dense_solve(A, a, y, b);
    for (size_t i = 0; i < A; i++) {
      wanted += k[i] * y[i];
      wanted_variance -= k[i] * b[i];
    }
    predict(&f, at, &mean, &variance);
    assert_near(mean, (double)wanted, 1e-8);
    assert_near(variance, (double)wanted_variance, 1e-8);
  }
  gpnn_fusion_release(&f);
  free(c.x);
  free(c.y);
  end(&w);
}

/* J = C^-1 - K^-1 and h = C^-1 m, of which h is linear in y. */
static void a_message_is_what_the_posterior_says_beyond_the_prior(void **state)
{
  struct world w;
  long double k[Q * Q], covariance[Q * Q], inverse[Q * Q], prior[Q * Q], mean[Q] = {0};
  double shift[Q], precision[Q * Q], parts[Q * N];
  (void)state;
  begin(&w);
  const double *asked = w.x + N * D;
  assert_ok(gpnn_fusion_message(&w.view, &w.params, Q, asked, shift, precision, parts, &err));
  for (size_t i = 0; i < Q; i++)
    for (size_t j = 0; j < Q; j++) {
      long double a[N * N], y[N], c[N];
      for (size_t s = 0; s < N; s++) {
        for (size_t t = 0; t < N; t++)
          a[s * N + t] = own(w.x + s * D, w.x + t * D) + (s == t ? noise + w.row_noise[s] : 0);
        y[s] = w.y[s];
        c[s] = own(w.x + s * D, asked + j * D);
      }
      dense_solve(N, a, y, c);
      k[i * Q + j] = covariance[i * Q + j] = own(asked + i * D, asked + j * D);
      mean[i] = 0;
      for (size_t s = 0; s < N; s++) {
        mean[i] += own(w.x + s * D, asked + i * D) * y[s];
        covariance[i * Q + j] -= own(w.x + s * D, asked + i * D) * c[s];
      }
    }
  invert(Q, covariance, inverse);
  invert(Q, k, prior);
  for (size_t i = 0; i < Q; i++) {
    long double h = 0, linear = 0;
    for (size_t j = 0; j < Q; j++) {
      assert_near(precision[i * Q + j], (double)(inverse[i * Q + j] - prior[i * Q + j]), 1e-8);
      h += inverse[i * Q + j] * mean[j];
    }
    for (size_t s = 0; s < N; s++) linear += parts[s * Q + i] * w.y[s];
    assert_near(shift[i], (double)h, 1e-8);
    assert_near(shift[i], (double)linear, 1e-10);
  }
  end(&w);
}

/* ---- all rules ---------------------------------------------------------------------------- */

/* Answers that know nothing leave predictions as they are, as does their absence. */
static void nothing_said_changes_nothing(void **state)
{
  struct world w;
  double shift[Q] = {0}, precision[Q * Q] = {0};
  (void)state;
  begin(&w);
  w.answers.n = 0;
  struct gpnn_fusion alone = made(&w, GPNN_FUSION_FULL, GPNN_FUSION_JOINT);
  for (int rule = GPNN_FUSION_FULL; rule <= GPNN_FUSION_YU; rule++) {
    struct gpnn_fusion f = made(&w, (enum gpnn_fusion_rule)rule, GPNN_FUSION_JOINT);
    assert_int_equal(f.m, N);
    assert_memory_equal(f.weights, alone.weights, N * sizeof *f.weights);
    assert_memory_equal(f.root, alone.root, N * N * sizeof *f.root);
    gpnn_fusion_release(&f);
  }
  w.answers.n = Q;
  w.answers.shift = shift;
  w.answers.precision = precision;
  struct gpnn_fusion f = made(&w, GPNN_FUSION_BCM, GPNN_FUSION_JOINT);
  assert_int_equal(f.rank, N);
  for (size_t i = 0; i < N + Q; i++) assert_near(f.weights[i], i < N ? alone.weights[i] : 0, 1e-12);
  for (size_t s = 0; s < S; s++) {
    double mean, variance, wanted, wanted_variance;
    predict(&f, w.x + (N + Q + s) * D, &mean, &variance);
    predict(&alone, w.x + (N + Q + s) * D, &wanted, &wanted_variance);
    assert_near(mean, wanted, 1e-12);
    assert_near(variance, wanted_variance, 1e-12);
  }
  assert_near(f.score, alone.score, 1e-12);
  gpnn_fusion_release(&f);
  gpnn_fusion_release(&alone);
  end(&w);
}

/* The score is that of models made without each row in turn. */
static void the_score_leaves_each_own_row_out(void **state)
{
  const double log_2_pi = 1.8378770664093454836;
  struct world w;
  struct committee c;
  (void)state;
  begin(&w);
  send(&c, &w);
  for (int rule = GPNN_FUSION_FULL; rule <= GPNN_FUSION_YU; rule++) {
    struct world less = w;
    double sum = 0;
    if (rule == GPNN_FUSION_BCM)
      less.answers = (struct gpnn_fusion_answers){
          .n = ASKED, .x = c.x, .shift = c.shift, .precision = c.precision};
    struct gpnn_fusion all = made(&less, (enum gpnn_fusion_rule)rule, GPNN_FUSION_JOINT);
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
      struct gpnn_fusion f = made(&less, (enum gpnn_fusion_rule)rule, GPNN_FUSION_JOINT);
      predict(&f, w.x + i * D, &mean, &variance);
      variance = fmax(variance, 1e-10 * kernelscale) + noise + w.row_noise[i];
      sum += 0.5 * (log_2_pi + log(variance) + (w.y[i] - mean) * (w.y[i] - mean) / variance);
      gpnn_fusion_release(&f);
    }
    assert_near(all.score, sum / N, 1e-9 * fmax(1, fabs(sum)));
    gpnn_fusion_release(&all);
  }
  free(c.x);
  free(c.y);
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
  for (int rule = GPNN_FUSION_FULL; rule <= GPNN_FUSION_YU; rule++) {
    if (rule == GPNN_FUSION_BCM) continue;
    struct gpnn_fusion f = made(&w, (enum gpnn_fusion_rule)rule, GPNN_FUSION_JOINT);
    assert_true(isfinite(f.score));
    gpnn_fusion_release(&f);
  }
  end(&w);
}

/* ---- bad input ---------------------------------------------------------------------------- */

static void refuses(struct world *w, enum gpnn_fusion_rule rule, enum gpnn_status status,
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
  refuses(&w, GPNN_FUSION_FULL, GPNN_EINVAL,
          "4996 training rows and 5 asked ones: a dense model takes 5000 at most, together");
  w.view.n = N;
  w.params.mean.kind = GPNN_MEAN_LINEAR;
  refuses(&w, GPNN_FUSION_FULL, GPNN_EMISMATCH, "a mean function");
  w.params.mean.kind = GPNN_MEAN_ZERO;
  w.params.covariance.n_rotation = D * D;
  refuses(&w, GPNN_FUSION_FULL, GPNN_EMISMATCH, "a rotation of inputs");
  w.params.covariance.n_rotation = 0;
  w.params.transform.kind = GPNN_TRANSFORM_LOG;
  refuses(&w, GPNN_FUSION_FULL, GPNN_EMISMATCH, "a transform of the target");
  w.params.transform.kind = GPNN_TRANSFORM_NONE;
  w.params.family = GPNN_FAMILY_DIAG;
  refuses(&w, GPNN_FUSION_FULL, GPNN_EMISMATCH, "a model without training rows");
  w.params.family = GPNN_FAMILY_NONE;
  w.params.likelihood = GPNN_LIKELIHOOD_POISSON;
  refuses(&w, GPNN_FUSION_FULL, GPNN_EMISMATCH, "a target of counts");
  end(&w);
}

static void refuses_answers_that_cannot_be(void **state)
{
  struct world w;
  double shift[Q] = {0}, precision[Q * Q] = {0};
  (void)state;
  begin(&w);
  w.answers.shift = shift;
  w.answers.precision = precision;
  w.mean[2] = NAN;
  refuses(&w, GPNN_FUSION_FULL, GPNN_EDATA, "an answer is not finite");
  w.mean[2] = 0;
  w.covariance[0] = -1;
  refuses(&w, GPNN_FUSION_FULL, GPNN_EDATA,
          "the covariance of the answers is not positive definite");
  w.covariance[0] = INFINITY;
  refuses(&w, GPNN_FUSION_FULL, GPNN_EDATA, "the covariance of the answers is not finite");
  w.covariance[0] = 1;
  const double kept = w.prior[1];
  w.prior[1] = w.prior[Q] = 7;
  refuses(&w, GPNN_FUSION_HYBRID, GPNN_EDATA,
          "the prior covariance of the answers is not positive definite");
  w.prior[1] = w.prior[Q] = kept;
  w.noises[1] = -1;
  refuses(&w, GPNN_FUSION_YU, GPNN_EDATA, "the noise variance of an answer is negative");
  w.noises[1] = 0;
  precision[0] = 1;
  precision[Q + 1] = -1;
  refuses(&w, GPNN_FUSION_BCM, GPNN_EDATA,
          "the precision of the message is not positive semidefinite");
  end(&w);
}

static void each_rule_says_what_it_needs(void **state)
{
  (void)state;
  struct gpnn_fusion_needs full = gpnn_fusion_needs(GPNN_FUSION_FULL, GPNN_FUSION_JOINT);
  assert_true(full.mean && full.covariance && !full.prior && !full.noise && !full.message);
  struct gpnn_fusion_needs none = gpnn_fusion_needs(GPNN_FUSION_HYBRID, GPNN_FUSION_NONE);
  assert_true(none.mean && !none.covariance && none.prior && !none.noise && !none.message);
  struct gpnn_fusion_needs literal =
      gpnn_fusion_needs(GPNN_FUSION_HYBRID_LITERAL, GPNN_FUSION_JOINT);
  assert_true(literal.mean && !literal.covariance && !literal.prior && !literal.message);
  struct gpnn_fusion_needs yu = gpnn_fusion_needs(GPNN_FUSION_YU, GPNN_FUSION_JOINT);
  assert_true(yu.mean && !yu.covariance && yu.prior && yu.noise && !yu.message);
  struct gpnn_fusion_needs bcm = gpnn_fusion_needs(GPNN_FUSION_BCM, GPNN_FUSION_JOINT);
  assert_true(!bcm.mean && !bcm.covariance && !bcm.prior && bcm.message);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(full_is_the_process_with_noise_of_its_own),
      cmocka_unit_test(hybrid_literal_is_noise_alone),
      cmocka_unit_test(hybrid_adds_precisions),
      cmocka_unit_test(yu_shares_the_noise_between_view_and_observation),
      cmocka_unit_test(blocky_adds_two_predictions),
      cmocka_unit_test(blocky_counts_twice),
      cmocka_unit_test(a_message_about_all_rows_is_worth_them),
      cmocka_unit_test(a_private_message_is_an_observation),
      cmocka_unit_test(a_message_is_what_the_posterior_says_beyond_the_prior),
      cmocka_unit_test(nothing_said_changes_nothing),
      cmocka_unit_test(the_score_leaves_each_own_row_out),
      cmocka_unit_test(copies_do_no_harm),
      cmocka_unit_test(refuses_what_it_cannot_have),
      cmocka_unit_test(refuses_answers_that_cannot_be),
      cmocka_unit_test(each_rule_says_what_it_needs),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
