#include "kernel/kernel_matern_private.h"

#include <math.h>
#include <stdbool.h>

#include "linalg/simd.h"

/*
 * K of the orders mu and mu + 1, |mu| <= 1/2, is found by the series of Temme (1975) where z <= 2,
 * elsewhere from its integral (gpnn-methods(7), equation 2.18); the recurrence, all of whose terms
 * are positive, goes up to nu.  Both take the same steps for every row, so that rows go side by
 * side.
 *
 * Scaled as t_j = 2 (z/2)^(mu+j) K_(mu+j)(z), nothing overflows, and with w = (z/2)^2
 *   c = t_j / Gamma(nu),  g = nu t_(j-1) / Gamma(nu)  at mu + j = nu.
 */
enum {
  BLOCK = 64,   /* rows at a time */
  N_SERIES = 14 /* terms: the last is under 1e-19 of the first */
};

/* What depends on nu alone. */
struct order {
  double nu, mu;                  /* nu = mu + steps, or -mu if that is 0 */
  size_t steps;                   /* from mu up to nu */
  double gamma1, gamma2;          /* Temme's: odd and even part of 1 / Gamma(1 + mu) */
  double gamma_plus, gamma_minus; /* Gamma(1 + mu), Gamma(1 - mu) */
  double reflection;              /* their product: pi mu / sin(pi mu) */
  double over_f[N_SERIES], over_p[N_SERIES], over_q[N_SERIES]; /* 1 / (k^2 - mu^2) and so on */
};

/* Rows that take the same way. */
struct part {
  size_t n;
  unsigned char at[BLOCK]; /* where in the block they are */
  double w[BLOCK];
  double t0[BLOCK], t1[BLOCK]; /* t_0 and t_1, then c and g, but for the factor 'decay' */
  double decay[BLOCK];
};

/* Coefficients of x^k in 1 / Gamma(1 + x) (Abramowitz and Stegun 6.1.34). */
static const double reciprocal_gamma[] = {1.0,
                                          0.5772156649015328606,
                                          -0.6558780715202538811,
                                          -0.04200263503409523553,
                                          0.1665386113822914895,
                                          -0.04219773455554433675,
                                          -0.009621971527876973562,
                                          0.007218943246663099542,
                                          -0.001165167591859065112,
                                          -0.0002152416741149509728,
                                          0.0001280502823881161862,
                                          -0.00002013485478078823866,
                                          -1.250493482142670657e-6,
                                          1.133027231981695882e-6,
                                          -2.056338416977607103e-7,
                                          6.116095104481415818e-9,
                                          5.00200764446922293e-9,
                                          -1.181274570487020145e-9,
                                          1.04342671169110051e-10,
                                          7.782263439905071254e-12};
enum { N_RECIPROCAL = sizeof reciprocal_gamma / sizeof *reciprocal_gamma };

static void order_init(struct order *order, double nu)
{
  size_t steps = (size_t)(nu + 0.5);
  double mu = steps == 0 ? -nu : nu - (double)steps, power = 1;
  *order = (struct order){.nu = nu, .mu = mu, .steps = steps};
  for (size_t k = 0; k < N_RECIPROCAL; k += 2, power *= mu * mu) {
    order->gamma2 += reciprocal_gamma[k] * power;
    order->gamma1 -= reciprocal_gamma[k + 1] * power;
  }
  order->gamma_plus = 1 / (order->gamma2 - mu * order->gamma1);
  order->gamma_minus = 1 / (order->gamma2 + mu * order->gamma1);
  order->reflection = order->gamma_plus * order->gamma_minus;
  for (size_t k = 1; k < N_SERIES; k++) {
    double i = (double)k;
    order->over_f[k] = 1 / ((i - mu) * (i + mu));
    order->over_p[k] = 1 / (i - mu);
    order->over_q[k] = 1 / (i + mu);
  }
}

/* sinh(s) / s given e^s and e^-s. */
static inline double sinh_ratio(double s, double up, double down)
{
  double s2 = s * s, series = 0;
  for (int k = 16; k > 0; k -= 2) series = (1 + series) * s2 * (1.0 / (k * (k + 1)));
  return s2 < 1 ? 1 + series : (up - down) / (2 * s);
}

/* z <= 2: Temme's series. */
GPNN_SIMD static void near_rows(const struct order *order, struct part *part)
{
  double f[BLOCK], p[BLOCK], q[BLOCK], power[BLOCK], down[BLOCK];
  double mu = order->mu;
  if (part->n == 0) return;
#pragma omp simd
  for (size_t i = 0; i < part->n; i++) {
    double l = -0.5 * log(part->w[i]), s = mu * l, up = exp(s);
    down[i] = 1 / up;
    f[i] = order->reflection *
           (order->gamma1 * 0.5 * (up + down[i]) + order->gamma2 * sinh_ratio(s, up, down[i]) * l);
    part->t0[i] = f[i];
    part->t1[i] = p[i] = 0.5 * order->gamma_plus * up;
    q[i] = 0.5 * order->gamma_minus * down[i];
    power[i] = 1;
  }
  for (size_t k = 1; k < N_SERIES; k++) {
    double m = (double)k, over_k = 1 / m;
    double over_f = order->over_f[k], over_p = order->over_p[k], over_q = order->over_q[k];
#pragma omp simd
    for (size_t i = 0; i < part->n; i++) {
      f[i] = (m * f[i] + p[i] + q[i]) * over_f;
      p[i] *= over_p;
      q[i] *= over_q;
      power[i] *= part->w[i] * over_k;
      part->t0[i] += power[i] * f[i];
      part->t1[i] += power[i] * (p[i] - m * f[i]);
    }
  }
#pragma omp simd
  for (size_t i = 0; i < part->n; i++) {
    part->t0[i] *= 2 * down[i];
    part->t1[i] *= 2 * down[i];
    part->decay[i] = 1;
  }
}

/*
 * z > 2: e^z K_a(z) = integral from 0 of exp(-2 z sinh^2(t/2)) cosh(a t), by the trapezoidal rule,
 * which on a function that decays like this converges faster than any power of its step.
 */
GPNN_SIMD static void far_rows(const struct order *order, struct part *part)
{
  enum { N_NODES = 16 };
  double z[BLOCK], h[BLOCK], e[BLOCK], e_step[BLOCK], a[BLOCK], a_step[BLOCK];
  double mu = order->mu;
  if (part->n == 0) return;
#pragma omp simd
  for (size_t i = 0; i < part->n; i++) {
    z[i] = 2 * sqrt(part->w[i]);
    h[i] = 0.62 / sqrt(z[i] + 4);
    e[i] = e_step[i] = exp(0.5 * h[i]);
    a[i] = a_step[i] = exp(mu * h[i]);
    part->t0[i] = part->t1[i] = 0.5;
  }
  for (size_t k = 1; k < N_NODES; k++) {
#pragma omp simd
    for (size_t i = 0; i < part->n; i++) {
      double over_e = 1 / e[i], over_a = 1 / a[i], twice_sinh = e[i] - over_e;
      double weight = 0.5 * exp(-0.5 * z[i] * twice_sinh * twice_sinh);
      part->t0[i] += weight * (a[i] + over_a);
      part->t1[i] += weight * (a[i] * e[i] * e[i] + over_a * over_e * over_e);
      e[i] *= e_step[i];
      a[i] *= a_step[i];
    }
  }
#pragma omp simd
  for (size_t i = 0; i < part->n; i++) {
    double scale = 2 * h[i] * exp(0.5 * mu * log(part->w[i]));
    part->t0[i] *= scale;
    part->t1[i] *= scale * 0.5 * z[i];
    part->decay[i] = exp(-z[i]);
  }
}

/* From t_0 and t_1 to c and g. */
GPNN_SIMD static void climb(const struct order *order, struct part *part)
{
  double nu = order->nu, mu = order->mu;
  double first = order->steps == 0 ? 1 / tgamma(nu) : nu / order->gamma_plus;
  double second = order->steps == 0 ? nu * first : first / (mu + 1);
  double *t0 = part->t0, *t1 = part->t1;
  if (order->steps == 0) { /* nu = -mu: c is of t_0, g of t_1 */
#pragma omp simd
    for (size_t i = 0; i < part->n; i++) {
      double power = exp(nu * log(part->w[i])), slope = second * power / part->w[i] * t1[i];
      t1[i] = first * power * t0[i];
      t0[i] = slope;
    }
    return;
  }
#pragma omp simd
  for (size_t i = 0; i < part->n; i++) {
    t0[i] *= first;
    t1[i] *= second;
  }
  /* Here t_j stands for nu t_j / Gamma(mu + j + 1), which stays of the size of c. */
  for (size_t j = 1; j < order->steps; j++) {
    double m = mu + (double)j, across = 1 / (m * (m + 1)), along = m / (m + 1);
#pragma omp simd
    for (size_t i = 0; i < part->n; i++) {
      double next = part->w[i] * across * t0[i] + along * t1[i];
      t0[i] = t1[i];
      t1[i] = next;
    }
  }
}

/* Deals the rows of a block out to those near and those far; 'r2' has n <= BLOCK of them. */
static void deal(double nu, size_t n, const double *r2, struct part *near, struct part *far)
{
  /* Under the least w only the smallest nu are not yet at 1; over the most, c is 0. */
  const double least = 1e-300, most = 250000;
  near->n = far->n = 0;
  for (size_t i = 0; i < n; i++) {
    double w = nu * r2[i] * 0.5;
    struct part *part = w <= 1 ? near : far; /* a NaN is far */
    part->at[part->n] = (unsigned char)i;
    part->w[part->n++] = w < least ? least : w > most ? most : w;
  }
}

/* Puts the results where their rows are; 'slope' may be NULL, and 'c' may be 'r2'. */
static void collect(double nu, const struct part *part, const double *r2, double *c, double *slope)
{
  for (size_t k = 0; k < part->n; k++) {
    size_t i = part->at[k];
    bool same = r2[i] == 0;
    double correlation = part->decay[k] * part->t1[k];
    if (slope != NULL) slope[i] = !same ? part->decay[k] * part->t0[k] : nu > 1 ? nu / (nu - 1) : 0;
    c[i] = same || correlation > 1 ? 1 : correlation;
  }
}

static void matern(double nu, size_t n, const double *r2, double *c, double *slope)
{
  struct order order;
  struct part near, far;
  order_init(&order, nu);
  for (size_t begin = 0; begin < n; begin += BLOCK) {
    deal(nu, n - begin < BLOCK ? n - begin : BLOCK, r2 + begin, &near, &far);
    near_rows(&order, &near);
    climb(&order, &near);
    far_rows(&order, &far);
    climb(&order, &far);
    collect(nu, &near, r2 + begin, c + begin, slope == NULL ? NULL : slope + begin);
    collect(nu, &far, r2 + begin, c + begin, slope == NULL ? NULL : slope + begin);
  }
}

void gpnn_kernel_matern(double smoothness, size_t n, double *r2)
{
  matern(smoothness, n, r2, r2, NULL);
}

void gpnn_kernel_matern_slope(double smoothness, size_t n, const double *r2, double *c,
                              double *slope)
{
  matern(smoothness, n, r2, c, slope);
}
