#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "linalg/panels/panels.h"
#include "linalg/simd.h"

/* ---- the Matern correlation of any smoothness ---------------------------------------------- */

/*
 *   c(r) = 2^(1-nu) / Gamma(nu) z^nu K_nu(z),  z = sqrt(2 nu) r
 * and its slope, as kernel.h defines it, g(r) = 2 nu 2^(1-nu) / Gamma(nu) z^(nu-1) K_(nu-1)(z).
 * Both are within 1e-13, relative, down to 1e-200; somewhere below that they become 0.
 *
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

static void matern_value(double smoothness, size_t n, double *r2)
{
  matern(smoothness, n, r2, r2, NULL);
}

static void matern_slope(double smoothness, size_t n, const double *r2, double *c, double *slope)
{
  matern(smoothness, n, r2, c, slope);
}

/* ---- the table --------------------------------------------------------------------------- */

/*
 * sqrt(factor r^2), capped where exp(-s) has long been zero, so that polynomial times exp(-s) does
 * not become infinity times zero.  A NaN stays one.
 */
static inline double scaled_root(double factor, double r2)
{
  double s = sqrt(factor * r2);
  return s > 1000 ? 1000 : s;
}

GPNN_SIMD static void rbf_slope(double smoothness, size_t n, const double *restrict r2,
                                double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) c[i] = slope[i] = exp(-0.5 * r2[i]);
}

GPNN_SIMD static void exponential_slope(double smoothness, size_t n, const double *restrict r2,
                                        double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double r = sqrt(r2[i]), e = exp(-r);
    c[i] = e;
    slope[i] = e / (r == 0 ? INFINITY : r); /* 0 at r = 0 */
  }
}

GPNN_SIMD static void matern32_slope(double smoothness, size_t n, const double *restrict r2,
                                     double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double s = scaled_root(3, r2[i]), e = exp(-s);
    c[i] = (1 + s) * e;
    slope[i] = 3 * e;
  }
}

GPNN_SIMD static void matern52_slope(double smoothness, size_t n, const double *restrict r2,
                                     double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double s = scaled_root(5, r2[i]), e = exp(-s);
    c[i] = (1 + s + s * s * (1.0 / 3)) * e;
    slope[i] = (5.0 / 3) * (1 + s) * e;
  }
}

/* A kernel, and how c(r) alone is computed: by panels if they have a form for it, otherwise by a
 * function. */
struct row {
  struct gpnn_kernel kernel;
  enum gpnn_panel_form form; /* GPNN_PANEL_DISTANCE: they have none */
  void (*correlation)(double smoothness, size_t n, double *r2); /* then replaces r^2 by c(r) */
};

/* In the order of their smoothness; those that are given one come last. */
static const struct row rows[] = {
    {{"exp", 0.5, exponential_slope}, GPNN_PANEL_EXP, NULL},
    {{"matern32", 1.5, matern32_slope}, GPNN_PANEL_MATERN32, NULL},
    {{"matern52", 2.5, matern52_slope}, GPNN_PANEL_MATERN52, NULL},
    {{"rbf", INFINITY, rbf_slope}, GPNN_PANEL_RBF, NULL},
    {{"matern", 0, matern_slope}, GPNN_PANEL_DISTANCE, matern_value},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static const struct row *row_of(const struct gpnn_kernel *kernel)
{
  const struct row *row = rows;
  while (&row->kernel != kernel) row++; /* every kernel is in the table */
  return row;
}

const struct gpnn_kernel *gpnn_kernel_by_name(const char *name)
{
  if (strcmp(name, "matern12") == 0) name = "exp";
  for (size_t i = 0; i < N_ROWS; i++)
    if (strcmp(rows[i].kernel.name, name) == 0) return &rows[i].kernel;
  return NULL;
}

const struct gpnn_kernel *gpnn_kernel_at(size_t i)
{
  return i < N_ROWS ? &rows[i].kernel : NULL;
}

const struct gpnn_kernel *gpnn_kernel_next(const struct gpnn_kernel *kernel, int by)
{
  ptrdiff_t at = row_of(kernel) - rows + by;
  if (at < 0 || at >= N_ROWS) return NULL;
  const struct gpnn_kernel *next = &rows[at].kernel;
  bool is_given = gpnn_kernel_needs_smoothness(kernel) || gpnn_kernel_needs_smoothness(next);
  return is_given ? NULL : next;
}

void gpnn_kernel_correlate(const struct gpnn_kernel *kernel, double smoothness, size_t n,
                           double *r2)
{
  const struct row *row = row_of(kernel);
  if (row->form == GPNN_PANEL_DISTANCE)
    row->correlation(smoothness, n, r2);
  else
    gpnn_panels_best()->correlate(row->form, n, r2);
}

bool gpnn_kernel_needs_smoothness(const struct gpnn_kernel *kernel)
{
  return kernel->smoothness == 0;
}

bool gpnn_kernel_parse(const char *text, const struct gpnn_kernel **kernel, double *smoothness)
{
  char name[GPNN_KERNEL_BYTES] = "";
  const char *colon = strchr(text, ':');
  size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
  double nu = 0;
  if (length >= sizeof name) return false;
  memcpy(name, text, length);
  const struct gpnn_kernel *found = gpnn_kernel_by_name(name);
  if (found == NULL || gpnn_kernel_needs_smoothness(found) != (colon != NULL)) return false;
  if (colon != NULL && (gpnn_number_read(colon + 1, strlen(colon + 1), &nu) != GPNN_NUMBER_OK ||
                        !(nu > 0) || nu > GPNN_KERNEL_SMOOTHEST))
    return false;
  *kernel = found;
  *smoothness = nu;
  return true;
}

void gpnn_kernel_write(const struct gpnn_kernel *kernel, double smoothness,
                       char text[GPNN_KERNEL_BYTES])
{
  char number[GPNN_NUMBER_BYTES] = "";
  bool needed = gpnn_kernel_needs_smoothness(kernel);
  if (needed) gpnn_number_write(number, smoothness);
  snprintf(text, GPNN_KERNEL_BYTES, "%s%s%s", kernel->name, needed ? ":" : "", number);
}

/*
 * Without a floor, fits of exp to blocks of random rows often end without noise: the process is
 * rough enough to explain everything at the distances that the blocks see.  Rows alike in all
 * inputs but not in the target are then predicted with next to no variance, and a single one of
 * them outweighs all others in a calibration factor.  On the public data sets tried, noise held
 * at 3e-3 to 1e-2 predicted as well or better wherever a free fit had gone below.  Processes
 * without a derivative are taken to be like exp in this.
 */
double gpnn_kernel_least_noise(const struct gpnn_kernel *kernel, double smoothness)
{
  double nu = gpnn_kernel_needs_smoothness(kernel) ? smoothness : kernel->smoothness;
  return nu < 1 ? 3e-3 : 1e-6;
}

GPNN_SIMD void gpnn_kernel_distances(size_t n, size_t d, size_t stride, const double *columns,
                                     const double *point, double *r2)
{
  for (size_t i = 0; i < n; i++) r2[i] = 0;
  for (size_t j = 0; j < d; j++) {
    const double *column = columns + j * stride;
    double here = point[j];
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
      double difference = column[i] - here;
      r2[i] += difference * difference;
    }
  }
}

GPNN_SIMD double gpnn_kernel_weighted_squares(size_t n, const double *weight, const double *x,
                                              double here)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) sum += weight[i] * (x[i] - here) * (x[i] - here);
  return sum;
}

void gpnn_kernel_fill_panels(const struct gpnn_kernel *kernel, double smoothness,
                             const struct gpnn_panel_set *set, size_t n, size_t n_rows, size_t d,
                             size_t stride, const double *columns, double *a)
{
  const struct row *row = row_of(kernel);
  size_t lanes = set->lanes, panel = gpnn_panel_size(n, lanes);
  set->fill(row->form, n, n_rows, d, stride, columns, a);
  if (row->form != GPNN_PANEL_DISTANCE) return;
  for (size_t i = 0; i < n_rows; i += lanes, a += panel) {
    row->correlation(smoothness, (i + lanes < n ? i + lanes : n) * lanes, a);
    /* Unused lanes must be finite, which distances need not be. */
    if (i + lanes > n) memset(a + n * lanes, 0, (panel - n * lanes) * sizeof *a);
  }
}
