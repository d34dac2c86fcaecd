/* The posterior of a grid: the golden case, engines against each other and against a formula
 * written out, moments of draws. */
#include "models/grid/posterior.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"
#include "models/grid/means.h"
#include "unit.h"

enum { MOST = 700, MOST_CELLS = 6000 };

/* A process and a grid of it, some cells observed. */
struct network {
  struct gpnn_grid grid;
  struct gpnn_grid_factor factor[GPNN_GRID_FACTORS];
  struct gpnn_parameters parameters;
  struct gpnn_factor process[GPNN_GRID_FACTORS];
  double x[GPNN_GRID_FACTORS][MOST];
  int64_t cell[MOST_CELLS];
  double y[MOST_CELLS];
  uint32_t counts[MOST_CELLS];
};

static void add_factor(struct network *w, const char *kernel, size_t n, size_t d)
{
  size_t a = w->grid.n_factors++;
  w->factor[a] =
      (struct gpnn_grid_factor){.name = "thing", .n = n, .n_columns = d, .d = d, .x = w->x[a]};
  w->grid.factor = w->factor;
  w->grid.cell = w->cell;
  w->grid.y = w->y;
  w->parameters.grid.n_factors = w->grid.n_factors;
  w->parameters.grid.factor = w->process;
  assert_ok(gpnn_factor_parse(&w->process[a], kernel, d, n, true, &err));
}

static void release(struct network *w)
{
  for (size_t a = 0; a < w->grid.n_factors; a++) gpnn_factor_release(&w->process[a]);
  free(w);
}

static struct network *make_golden(void)
{
  static const int64_t cells[] = {0, 1, 3, 4, 5, 6, 8, 9, 10};
  struct network *w = calloc(1, sizeof *w);
  assert_non_null(w);
  add_factor(w, "matern52", 4, 2);
  add_factor(w, "rbf", 3, 1);
  for (size_t i = 0; i < 4; i++) {
    w->x[0][2 * i] = sin(1 + (double)i);
    w->x[0][2 * i + 1] = cos(2 * (double)i);
  }
  for (size_t j = 0; j < 3; j++) w->x[1][j] = 0.5 * (double)j;
  w->process[0].term[0].lengthscale[0] = 0.7;
  w->process[0].term[0].lengthscale[1] = 1.1;
  w->process[1].term[0].lengthscale[0] = 0.6;
  w->parameters.covariance.kernelscale = 1.5;
  w->parameters.covariance.noise = 0.05;
  for (size_t i = 0; i < 9; i++) {
    w->cell[i] = cells[i];
    w->y[i] = cos(0.7 * (double)cells[i]) + 0.1 * (double)cells[i];
  }
  w->grid.n_cells = w->grid.n_observations = 9;
  return w;
}

static struct gpnn_grid_posterior_options options_of(enum gpnn_grid_engine engine)
{
  return (struct gpnn_grid_posterior_options){.engine = engine,
                                              .system.threads = 2,
                                              .tolerance = 1e-12,
                                              .most_iterations = 10000,
                                              .variance = GPNN_GRID_VARIANCE_EXACT,
                                              .draws = 64,
                                              .seed = 1};
}

static struct gpnn_grid_posterior *make(const struct network *w,
                                        const struct gpnn_grid_posterior_options *options)
{
  struct gpnn_grid_posterior *posterior = NULL;
  assert_ok(gpnn_grid_posterior_new(&posterior, &w->grid, NULL, &w->parameters, options, &err));
  return posterior;
}

/* Writes the levels of all cells. */
static size_t all_cells(const struct network *w, uint32_t *level)
{
  size_t cells = gpnn_grid_size(&w->grid), of_cell[GPNN_GRID_FACTORS];
  for (size_t i = 0; i < cells; i++) {
    gpnn_grid_levels(&w->grid, (int64_t)i, of_cell);
    for (size_t a = 0; a < w->grid.n_factors; a++)
      level[i * w->grid.n_factors + a] = (uint32_t)of_cell[a];
  }
  return cells;
}

/* ---- the golden case ---------------------------------------------------------------------- */

static void the_golden_case_is_met_to_all_digits(void **state)
{
  static const double mean[] = {0.9777980995,  0.8454767579,  0.4287038319, -0.2137649884,
                                -0.5080014550, -0.4059287852, 0.1284018465, 0.8670255995,
                                1.5039753379,  1.8531054391,  1.7355223826, 1.0182261624};
  static const double variance[] = {0.0465561494, 0.0465555681, 0.5584508244, 0.0455595791,
                                    0.0431337056, 0.0459050244, 0.0478312643, 0.2794298890,
                                    0.0478488016, 0.0469042989, 0.0469160610, 0.6191254534};
  (void)state;
  struct network *w = make_golden();
  static const enum gpnn_grid_engine engines[] = {GPNN_GRID_ENGINE_DENSE, GPNN_GRID_ENGINE_LATENT,
                                                  GPNN_GRID_ENGINE_AUTO};
  for (size_t e = 0; e < 3; e++) {
    struct gpnn_grid_posterior_options options = options_of(engines[e]);
    struct gpnn_grid_posterior *posterior = make(w, &options);
    uint32_t level[24];
    double m[12], v[12];
    struct gpnn_grid_places places = {.n = all_cells(w, level), .level = level};
    assert_ok(gpnn_grid_posterior_predict(posterior, &places, m, v, &err));
    for (size_t i = 0; i < 12; i++) {
      assert_near(m[i], mean[i], 5.1e-11);
      assert_near(v[i], variance[i], 5.1e-11);
    }
    gpnn_grid_posterior_free(posterior);
  }
  release(w);
}

/* ---- against a formula written out -------------------------------------------------------- */

enum { P = 6, Q = 5, NEW = 2, PLACES = (P + NEW) * (Q + NEW) };

/* A small grid with holes, repeated cells, a nugget, and two new levels of each factor. */
struct small {
  struct network *network;
  double site[2 * NEW], time[NEW];
  uint32_t level[2 * PLACES];
  struct gpnn_grid_places places;
};

static void observe_some(struct network *w, double missing, uint64_t seed)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  w->grid.n_cells = w->grid.n_observations = 0;
  for (size_t i = 0; i < gpnn_grid_size(&w->grid); i++) {
    if (gpnn_rng_uniform(&rng) < missing) continue;
    size_t n = w->grid.n_cells++;
    w->cell[n] = (int64_t)i;
    w->y[n] = gpnn_rng_normal(&rng);
    w->counts[n] = 1 + (uint32_t)gpnn_rng_below(&rng, 3);
    w->grid.n_observations += w->grid.counts == NULL ? 1 : w->counts[n];
  }
}

static struct small make_small(double missing)
{
  struct small s = {.network = calloc(1, sizeof *s.network)};
  struct network *w = s.network;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  assert_non_null(w);
  add_factor(w, "matern32", P, 2);
  add_factor(w, "rbf", Q, 1);
  for (size_t i = 0; i < (size_t)2 * P; i++) w->x[0][i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < (size_t)2 * NEW; i++) s.site[i] = gpnn_rng_normal(&rng);
  for (size_t j = 0; j < Q; j++) w->x[1][j] = (double)j;
  s.time[0] = 1.4;
  s.time[1] = 5.5;
  w->process[1].term[0].lengthscale[0] = 1.3;
  w->process[0].nugget = 0.2;
  w->parameters.covariance.kernelscale = 0.8;
  w->parameters.covariance.noise = 0.1;
  observe_some(w, missing, 9);
  for (uint32_t i = 0; i < PLACES; i++) {
    s.level[2 * i] = i / (Q + NEW);
    s.level[2 * i + 1] = i % (Q + NEW);
  }
  s.places = (struct gpnn_grid_places){.n = PLACES, .n_new = {NEW, NEW}};
  return s;
}

/* Of the copy that the caller has. */
static void point(struct small *s)
{
  s->places.level = s->level;
  s->places.x[0] = s->site;
  s->places.x[1] = s->time;
}

static const double *coordinates(const struct small *s, size_t a, size_t level)
{
  const struct gpnn_grid_factor *f = &s->network->factor[a];
  if (level < f->n) return f->x + level * f->d;
  return (a == 0 ? s->site : s->time) + (level - f->n) * f->d;
}

/* The covariance of the latent function at two places. */
static double covariance(const struct small *s, const uint32_t *a, const uint32_t *b)
{
  double k = s->network->parameters.covariance.kernelscale, r2 = 0;
  const double *u = coordinates(s, 0, a[0]), *v = coordinates(s, 0, b[0]);
  for (size_t j = 0; j < 2; j++) r2 += (u[j] - v[j]) * (u[j] - v[j]);
  double r = sqrt(3 * r2), t = coordinates(s, 1, a[1])[0] - coordinates(s, 1, b[1])[0];
  k *= (1 + r) * exp(-r) + (a[0] == b[0] ? s->network->process[0].nugget : 0);
  return k * exp(-t * t / (2 * 1.3 * 1.3));
}

/* Mean and covariance of all places by the textbook formula. */
static void write_out(const struct small *s, double *mean, double *posterior)
{
  const struct network *w = s->network;
  size_t n = w->grid.n_cells;
  double *a = gpnn_alloc(n, n, sizeof *a), *k = gpnn_alloc(n, PLACES + 1, sizeof *k), jitter;
  assert_true(a != NULL && k != NULL);
  for (size_t i = 0; i < n; i++) {
    uint32_t own[] = {(uint32_t)(w->cell[i] / Q), (uint32_t)(w->cell[i] % Q)};
    for (size_t j = 0; j < n; j++) {
      uint32_t other[] = {(uint32_t)(w->cell[j] / Q), (uint32_t)(w->cell[j] % Q)};
      a[j * n + i] = covariance(s, own, other);
    }
    a[i * n + i] += 0.1 / (w->grid.counts == NULL ? 1 : w->counts[i]);
    for (size_t j = 0; j < PLACES; j++) k[j * n + i] = covariance(s, own, s->level + 2 * j);
    k[PLACES * n + i] = w->y[i];
  }
  assert_ok(gpnn_cholesky_factor(n, a, NULL, 1, NULL, NULL, &jitter, &err));
  gpnn_cholesky_forward(n, a, PLACES + 1, k);
  for (size_t i = 0; i < PLACES; i++) {
    mean[i] = 0;
    for (size_t o = 0; o < n; o++) mean[i] += k[i * n + o] * k[PLACES * n + o];
    for (size_t j = 0; j < PLACES; j++) {
      posterior[i * PLACES + j] = covariance(s, s->level + 2 * i, s->level + 2 * j);
      for (size_t o = 0; o < n; o++) posterior[i * PLACES + j] -= k[i * n + o] * k[j * n + o];
    }
  }
  free(a);
  free(k);
}

static void check_engine(const struct small *s, enum gpnn_grid_engine engine)
{
  struct gpnn_grid_posterior_options options = options_of(engine);
  struct gpnn_grid_posterior *posterior = make(s->network, &options);
  static double covariances[PLACES * PLACES];
  double mean[PLACES], m[PLACES], v[PLACES];
  write_out(s, mean, covariances);
  assert_ok(gpnn_grid_posterior_predict(posterior, &s->places, m, v, &err));
  for (size_t i = 0; i < PLACES; i++) {
    assert_near(m[i], mean[i], 1e-9);
    assert_near(v[i], covariances[i * PLACES + i], 1e-9);
  }
  gpnn_grid_posterior_free(posterior);
}

static void engines_agree_at_old_and_new_levels(void **state)
{
  (void)state;
  for (int holes = 0; holes < 2; holes++) {
    for (int repeats = 0; repeats < 2; repeats++) {
      struct small s = make_small(holes ? 0.3 : 0);
      point(&s);
      s.network->grid.counts = repeats ? s.network->counts : NULL;
      check_engine(&s, GPNN_GRID_ENGINE_DENSE);
      check_engine(&s, GPNN_GRID_ENGINE_LATENT);
      if (!holes && !repeats) check_engine(&s, GPNN_GRID_ENGINE_COMPLETE);
      release(s.network);
    }
  }
}

static void variances_from_draws_come_near_the_exact_ones(void **state)
{
  (void)state;
  enum { DRAWS = 4000 };
  struct small s = make_small(0.3);
  point(&s);
  static double covariances[PLACES * PLACES];
  double mean[PLACES], m[PLACES], v[PLACES];
  write_out(&s, mean, covariances);
  for (int of_draws = 0; of_draws < 2; of_draws++) {
    struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
    options.variance = GPNN_GRID_VARIANCE_SAMPLES;
    options.draws = DRAWS;
    options.keep_draws = true;
    options.mean = of_draws ? GPNN_GRID_MEAN_SAMPLE : GPNN_GRID_MEAN_EXACT;
    struct gpnn_grid_posterior *posterior = make(s.network, &options);
    assert_ok(gpnn_grid_posterior_predict(posterior, &s.places, m, v, &err));
    for (size_t i = 0; i < PLACES; i++) {
      double exact = covariances[i * PLACES + i];
      assert_near(v[i], exact, 4.5 * sqrt(2. / DRAWS) * exact);
      assert_near(m[i], mean[i], of_draws ? 4.5 * sqrt(exact / DRAWS) : 1e-9);
    }
    gpnn_grid_posterior_free(posterior);
  }
  release(s.network);
}

/* All pairs of old and new levels: means and covariances within five standard errors, as the
 * largest of some 1600 seldom exceeds four. */
static void draws_have_the_moments_of_the_posterior(void **state)
{
  (void)state;
  enum { DRAWS = 100000 };
  struct small s = make_small(0.3);
  point(&s);
  static double covariances[PLACES * PLACES];
  double mean[PLACES];
  write_out(&s, mean, covariances);
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_DENSE);
  options.draws = DRAWS;
  options.keep_draws = true;
  struct gpnn_grid_posterior *posterior = make(s.network, &options);
  double *draws = gpnn_alloc(PLACES, DRAWS, sizeof *draws);
  assert_non_null(draws);
  assert_ok(gpnn_grid_posterior_draws(posterior, &s.places, 0, DRAWS, draws, &err));
  for (size_t i = 0; i < PLACES; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = 0, product = 0, own = covariances[i * PLACES + i],
             other = covariances[j * PLACES + j], both = covariances[i * PLACES + j];
      for (size_t d = 0; d < DRAWS; d++) {
        double off = draws[i * DRAWS + d] - mean[i];
        sum += off;
        product += off * (draws[j * DRAWS + d] - mean[j]);
      }
      assert_near(sum / DRAWS, 0, 5 * sqrt(own / DRAWS));
      assert_near(product / DRAWS, both, 5 * sqrt((own * other + both * both) / DRAWS));
    }
  }
  free(draws);
  gpnn_grid_posterior_free(posterior);
  release(s.network);
}

/* The covariance that the means of two places' times add. */
static double of_means(const struct small *s, const struct gpnn_grid_series *series, size_t i,
                       size_t j)
{
  double mean, variance, x = coordinates(s, 1, s->level[2 * i + 1])[0];
  if (s->level[2 * i + 1] != s->level[2 * j + 1] || s->level[2 * i + 1] < Q) return 0;
  gpnn_grid_series_predict(series, x, &mean, &variance);
  return variance;
}

/* All cells of a new time share the error of its mean, which counts in variances and in draws. */
static void means_of_new_times_are_uncertain(void **state)
{
  (void)state;
  enum { DRAWS = 20000 };
  struct small s = make_small(0.3);
  point(&s);
  static double covariances[PLACES * PLACES];
  double unused[PLACES], mean[PLACES], variance[PLACES];
  write_out(&s, unused, covariances);
  s.network->parameters.grid.mean_factor = 2;
  struct gpnn_grid_means means = {.factor = 0};
  assert_ok(gpnn_grid_means_make(&means, &s.network->grid, 2, s.network->y, &err));
  assert_ok(gpnn_grid_means_extend(&means, &s.network->grid, &err));
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_DENSE);
  options.draws = DRAWS;
  options.keep_draws = true;
  struct gpnn_grid_posterior *posterior = make(s.network, &options);
  double *draws = gpnn_alloc(PLACES, DRAWS, sizeof *draws);
  assert_non_null(draws);
  assert_ok(gpnn_grid_posterior_predict(posterior, &s.places, mean, variance, &err));
  assert_ok(gpnn_grid_posterior_draws(posterior, &s.places, 0, DRAWS, draws, &err));
  for (size_t i = 0; i < PLACES; i++) {
    double own = covariances[i * PLACES + i] + of_means(&s, &means.series, i, i);
    assert_near(variance[i], own, 1e-9);
    for (size_t j = i % (Q + NEW); j < i; j += Q + NEW) { /* other sites at the same time */
      double product = 0, both = covariances[i * PLACES + j] + of_means(&s, &means.series, i, j);
      for (size_t d = 0; d < DRAWS; d++)
        product += (draws[i * DRAWS + d] - mean[i]) * (draws[j * DRAWS + d] - mean[j]) / DRAWS;
      assert_near(product, both, 5 * sqrt((own * variance[j] + both * both) / DRAWS));
    }
  }
  free(draws);
  gpnn_grid_means_release(&means);
  gpnn_grid_posterior_free(posterior);
  release(s.network);
}

static void draws_do_not_depend_on_how_many_are_asked_for(void **state)
{
  (void)state;
  struct small s = make_small(0.3);
  point(&s);
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
  options.keep_draws = true;
  struct gpnn_grid_posterior *posterior = make(s.network, &options);
  options.system.threads = 1;
  struct gpnn_grid_posterior *other = make(s.network, &options);
  double all[PLACES * 6], some[PLACES * 2];
  assert_ok(gpnn_grid_posterior_draws(posterior, &s.places, 0, 6, all, &err));
  assert_ok(gpnn_grid_posterior_draws(other, &s.places, 3, 2, some, &err));
  for (size_t i = 0; i < PLACES; i++)
    for (size_t d = 0; d < 2; d++) assert_true(some[i * 2 + d] == all[i * 6 + 3 + d]);
  gpnn_grid_posterior_free(posterior);
  gpnn_grid_posterior_free(other);
  release(s.network);
}

/* All of 64 at a time, or 4: only what the solver leaves of the tolerance may differ. */
static void draws_do_not_depend_on_how_many_are_made_together(void **state)
{
  (void)state;
  struct small s = make_small(0.3);
  point(&s);
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
  options.keep_draws = true;
  options.tolerance = 1e-10;
  struct gpnn_grid_posterior *posterior = make(s.network, &options);
  options.block = 4;
  struct gpnn_grid_posterior *other = make(s.network, &options);
  double all[PLACES * 12], same[PLACES * 12];
  assert_ok(gpnn_grid_posterior_draws(posterior, &s.places, 0, 12, all, &err));
  assert_ok(gpnn_grid_posterior_draws(other, &s.places, 0, 12, same, &err));
  for (size_t i = 0; i < (size_t)12 * PLACES; i++) assert_near(all[i], same[i], 1e-6);
  gpnn_grid_posterior_free(posterior);
  gpnn_grid_posterior_free(other);
  release(s.network);
}

/* From a solve that is cut short, a variance is never below the exact one, and never rises. */
static void unfinished_variances_are_bounds(void **state)
{
  (void)state;
  struct small s = make_small(0.3);
  point(&s);
  static double covariances[PLACES * PLACES];
  double mean[PLACES], v[PLACES], before[PLACES];
  write_out(&s, mean, covariances);
  for (size_t i = 0; i < PLACES; i++) before[i] = INFINITY;
  for (size_t most = 1; most < 20; most++) {
    struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
    options.system.preconditioner = GPNN_GRID_PRECONDITION_NONE;
    options.most_iterations = most;
    options.accept = true;
    struct gpnn_grid_posterior *posterior = make(s.network, &options);
    assert_ok(gpnn_grid_posterior_predict(posterior, &s.places, NULL, v, &err));
    for (size_t i = 0; i < PLACES; i++) {
      assert_true(v[i] >= covariances[i * PLACES + i] - 1e-12);
      assert_true(v[i] <= before[i] + 1e-12);
      before[i] = v[i];
    }
    gpnn_grid_posterior_free(posterior);
  }
  release(s.network);
}

/* Mean and variance of few draws are theirs, the variance around their own mean. */
static void moments_of_draws_are_those_of_the_draws(void **state)
{
  enum { CELLS = 12, DRAWS = 4 };
  (void)state;
  struct network *w = make_golden();
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
  options.variance = GPNN_GRID_VARIANCE_SAMPLES;
  options.mean = GPNN_GRID_MEAN_SAMPLE;
  options.keep_draws = true;
  options.draws = DRAWS;
  struct gpnn_grid_posterior *posterior = make(w, &options);
  uint32_t level[2 * CELLS];
  double m[CELLS], v[CELLS], f[CELLS * DRAWS];
  struct gpnn_grid_places places = {.n = all_cells(w, level), .level = level};
  assert_ok(gpnn_grid_posterior_predict(posterior, &places, m, v, &err));
  assert_ok(gpnn_grid_posterior_draws(posterior, &places, 0, DRAWS, f, &err));
  for (size_t i = 0; i < CELLS; i++) {
    double mean = 0, square = 0;
    for (size_t c = 0; c < DRAWS; c++) mean += f[i * DRAWS + c] / DRAWS;
    for (size_t c = 0; c < DRAWS; c++) square += pow(f[i * DRAWS + c] - mean, 2);
    assert_near(m[i], mean, 1e-9);
    assert_near(v[i], square / (DRAWS - 1), 1e-9);
  }
  gpnn_grid_posterior_free(posterior);
  release(w);
}

enum { SITES = 60, TIMES = 40, ALL = SITES * TIMES };

static struct network *make_large(struct gpnn_rng *rng)
{
  struct network *w = calloc(1, sizeof *w);
  assert_non_null(w);
  add_factor(w, "matern32", SITES, 2);
  add_factor(w, "rbf", TIMES, 1);
  for (size_t i = 0; i < (size_t)2 * SITES; i++) w->x[0][i] = gpnn_rng_normal(rng);
  for (size_t j = 0; j < TIMES; j++) w->x[1][j] = 0.4 * (double)j;
  w->parameters.covariance.kernelscale = 1;
  w->parameters.covariance.noise = 0.05;
  return w;
}

/* A draw of the prior: of the posterior where two cells were observed with hardly any weight. */
static void draw_prior(struct network *w, const struct gpnn_grid_places *places, double *f)
{
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
  options.keep_draws = true;
  options.draws = 2;
  w->cell[0] = 0;
  w->cell[1] = 1;
  w->grid.n_cells = w->grid.n_observations = 2;
  w->parameters.covariance.noise = 1e9;
  struct gpnn_grid_posterior *posterior = make(w, &options);
  assert_ok(gpnn_grid_posterior_draws(posterior, places, 0, 1, f, &err));
  gpnn_grid_posterior_free(posterior);
  w->parameters.covariance.noise = 0.05;
}

/* Observes about 70 % of the cells with noise; 'left_out' says which are not. */
static void observe_truth(struct network *w, struct gpnn_rng *rng, double *truth, bool *left_out)
{
  w->grid.n_cells = 0;
  for (size_t i = 0; i < ALL; i++) {
    truth[i] += sqrt(0.05) * gpnn_rng_normal(rng);
    left_out[i] = gpnn_rng_uniform(rng) < 0.3;
    if (left_out[i]) continue;
    w->cell[w->grid.n_cells] = (int64_t)i;
    w->y[w->grid.n_cells++] = truth[i];
  }
  w->grid.n_observations = w->grid.n_cells;
}

/* Of observations of the model itself that are left out, the squared errors in units of the
 * predicted variances have a mean near 1, and 95 % are within the interval of that level. */
static void predictions_are_as_certain_as_they_say(void **state)
{
  (void)state;
  struct gpnn_rng rng;
  static double truth[ALL], mean[ALL], variance[ALL];
  static uint32_t level[2 * ALL];
  static bool left_out[ALL];
  double sum = 0, inside = 0, n = 0;
  gpnn_rng_init(&rng, 21, GPNN_RNG_TEST);
  struct network *w = make_large(&rng);
  struct gpnn_grid_places places = {.n = all_cells(w, level), .level = level};
  draw_prior(w, &places, truth);
  observe_truth(w, &rng, truth, left_out);
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
  options.tolerance = 0.01;
  options.variance = GPNN_GRID_VARIANCE_SAMPLES;
  options.seed = 3;
  struct gpnn_grid_posterior *posterior = make(w, &options);
  assert_ok(gpnn_grid_posterior_predict(posterior, &places, mean, variance, &err));
  for (size_t i = 0; i < ALL; i++) {
    if (!left_out[i]) continue;
    double z2 = (truth[i] - mean[i]) * (truth[i] - mean[i]) / (variance[i] + 0.05);
    sum += z2;
    inside += z2 < 1.96 * 1.96;
    n++;
  }
  assert_near(sum / n, 1, 0.1);
  assert_near(inside / n, 0.95, 0.02);
  gpnn_grid_posterior_free(posterior);
  release(w);
}

/* Equations start from solutions that were kept, and then need no iteration. */
static void kept_solutions_are_where_solving_starts(void **state)
{
  (void)state;
  struct small s = make_small(0.3);
  struct gpnn_state *kept = NULL;
  point(&s);
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
  options.keep_draws = true;
  options.tolerance = 1e-9;
  struct gpnn_grid_posterior *posterior = make(s.network, &options);
  assert_true(gpnn_grid_posterior_report(posterior).iterations > 0);
  assert_ok(gpnn_state_new(&kept, 77, &err));
  assert_ok(gpnn_grid_state_store(posterior, "y", kept, &err));
  gpnn_grid_state_find(kept, 78, "y", s.network->grid.n_cells, &options);
  assert_null(options.alpha);
  gpnn_grid_state_find(kept, 77, "y", s.network->grid.n_cells, &options);
  struct gpnn_grid_posterior *again = make(s.network, &options);
  assert_int_equal(gpnn_grid_posterior_report(again).iterations, 0);
  double draws[PLACES * 2], same[PLACES * 2];
  assert_ok(gpnn_grid_posterior_draws(posterior, &s.places, 60, 2, draws, &err));
  assert_ok(gpnn_grid_posterior_draws(again, &s.places, 60, 2, same, &err));
  for (size_t i = 0; i < (size_t)2 * PLACES; i++) assert_near(draws[i], same[i], 1e-7);
  gpnn_grid_posterior_free(posterior);
  gpnn_grid_posterior_free(again);
  gpnn_state_free(kept);
  release(s.network);
}

static void a_solve_without_convergence_names_its_residual(void **state)
{
  (void)state;
  struct small s = make_small(0.3);
  point(&s);
  struct gpnn_grid_posterior_options options = options_of(GPNN_GRID_ENGINE_LATENT);
  struct gpnn_grid_posterior *posterior = NULL;
  options.system.preconditioner = GPNN_GRID_PRECONDITION_NONE;
  options.most_iterations = 2;
  assert_fails(gpnn_grid_posterior_new(&posterior, &s.network->grid, NULL, &s.network->parameters,
                                       &options, &err),
               GPNN_ENUMERIC, "have not converged after");
  options.accept = true;
  posterior = make(s.network, &options);
  struct gpnn_grid_posterior_report report = gpnn_grid_posterior_report(posterior);
  assert_false(report.converged);
  assert_true(report.residual > 2e-12);
  gpnn_grid_posterior_free(posterior);
  release(s.network);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_golden_case_is_met_to_all_digits),
      cmocka_unit_test(engines_agree_at_old_and_new_levels),
      cmocka_unit_test(variances_from_draws_come_near_the_exact_ones),
      cmocka_unit_test(draws_have_the_moments_of_the_posterior),
      cmocka_unit_test(moments_of_draws_are_those_of_the_draws),
      cmocka_unit_test(means_of_new_times_are_uncertain),
      cmocka_unit_test(draws_do_not_depend_on_how_many_are_asked_for),
      cmocka_unit_test(draws_do_not_depend_on_how_many_are_made_together),
      cmocka_unit_test(unfinished_variances_are_bounds),
      cmocka_unit_test(predictions_are_as_certain_as_they_say),
      cmocka_unit_test(kept_solutions_are_where_solving_starts),
      cmocka_unit_test(a_solve_without_convergence_names_its_residual),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
