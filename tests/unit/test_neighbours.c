#include "unit.h"

#include "base/compare.h"
#include "base/memory.h"
#include "simulate/neighbours.h"
#include "stats/distributions/chisquare.h"
#include "stats/distributions/normal.h"

static struct gpnn_neighbours *make(struct gpnn_neighbours_options options)
{
  struct gpnn_neighbours *neighbours = NULL;
  if (options.threads == 0) options.threads = 2;
  assert_ok(gpnn_neighbours_new(&neighbours, &options, &err));
  return neighbours;
}

/* The offsets of 'n_points' points, in a block that the caller frees. */
static double *find(struct gpnn_neighbours_options options, size_t n_points, const double *x)
{
  double *offsets = gpnn_alloc(n_points, options.m * options.inputs.d, sizeof *offsets);
  struct gpnn_neighbours *neighbours = make(options);
  assert_non_null(offsets);
  assert_ok(gpnn_neighbours_find(neighbours, 0, n_points, x, offsets, &err));
  gpnn_neighbours_free(neighbours);
  return offsets;
}

/* Points of the law, in a block that the caller frees. */
static double *draw_points(struct gpnn_inputs inputs, size_t n)
{
  double *x = gpnn_alloc(n, inputs.d, sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < n; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, 5, GPNN_RNG_TEST, i);
    gpnn_inputs_draw(&inputs, &rng, x + i * inputs.d);
  }
  return x;
}

static double length_of(size_t d, const double *x)
{
  double squares = 0;
  for (size_t j = 0; j < d; j++) squares += x[j] * x[j];
  return sqrt(squares);
}

/* ---- the law, against brute force ---- */

/* The probability of a two-sample Kolmogorov-Smirnov statistic as large, by its limiting law with
 * Stephens's correction.  Both samples are sorted. */
static double same_law(size_t n, double *a, size_t k, double *b)
{
  double largest = 0, sum = 0, sign = 2;
  qsort(a, n, sizeof *a, gpnn_compare_doubles);
  qsort(b, k, sizeof *b, gpnn_compare_doubles);
  for (size_t i = 0, j = 0; i < n && j < k;) {
    double value = fmin(a[i], b[j]);
    while (i < n && a[i] <= value) i++;
    while (j < k && b[j] <= value) j++;
    largest = fmax(largest, fabs((double)i / (double)n - (double)j / (double)k));
  }
  double root = sqrt((double)n * (double)k / (double)(n + k));
  double t = (root + 0.12 + 0.11 / root) * largest;
  if (t < 0.2) return 1;
  for (int l = 1; l < 100; l++, sign = -sign) sum += sign * exp(-2 * l * l * t * t);
  return sum;
}

enum { CLOUDS = 300, POINTS = 2000, RANKS = 3, MEASURES = 3, SETTINGS = 13 };

/* A point at 'distance' scales from the middle in a cloud of n rows. */
struct setting {
  struct gpnn_inputs inputs;
  uint64_t n;
  size_t m;
  double distance;
};

static const struct setting settings[SETTINGS] = {
    {{GPNN_INPUTS_NORMAL, 1, 1}, 500, 40, 0.8},     {{GPNN_INPUTS_NORMAL, 2, 1}, 1000, 50, 1.2},
    {{GPNN_INPUTS_NORMAL, 2, 3}, 800, 50, 0},       {{GPNN_INPUTS_NORMAL, 3, 1}, 30, 30, 0.5},
    {{GPNN_INPUTS_NORMAL, 4, 0.7}, 1000, 50, 2},    {{GPNN_INPUTS_NORMAL, 8, 1}, 1000, 50, 2.5},
    {{GPNN_INPUTS_NORMAL, 16, 0.25}, 800, 50, 4},   {{GPNN_INPUTS_NORMAL, 16, 1}, 400, 30, 0},
    {{GPNN_INPUTS_NORMAL, 5, 1}, 500, 20, 12},      {{GPNN_INPUTS_DISK, 2, 1}, 1000, 60, 0.3},
    {{GPNN_INPUTS_DISK, 2, 2}, 1000, 60, 0.97},     {{GPNN_INPUTS_DISK, 2, 1}, 50, 50, 0.6},
    {{GPNN_INPUTS_DISK, 2, 0.5}, 1000, 60, 0.9999},
};

/* What is measured of neighbours: samples by rank and measure. */
struct sample {
  size_t n;
  double *values[RANKS][MEASURES];
};

static void sample_init(struct sample *sample, size_t n)
{
  sample->n = n;
  for (size_t r = 0; r < RANKS; r++)
    for (size_t k = 0; k < MEASURES; k++) {
      sample->values[r][k] = gpnn_alloc(n, 1, sizeof(double));
      assert_non_null(sample->values[r][k]);
    }
}

static void sample_release(struct sample *sample)
{
  for (size_t r = 0; r < RANKS; r++)
    for (size_t k = 0; k < MEASURES; k++) free(sample->values[r][k]);
}

/* On the diagonal of the first two axes, or on the only one; settings take its ends in turns. */
static double side_of(const struct setting *setting)
{
  return (setting - settings) % 2 == 0 ? 1 : -1;
}

static void place_point(const struct setting *setting, double *x)
{
  size_t d = setting->inputs.d;
  double part =
      side_of(setting) * setting->distance * setting->inputs.scale / (d == 1 ? 1 : sqrt(2));
  for (size_t j = 0; j < d; j++) x[j] = j == 0 ? part : j == 1 ? -part : 0;
}

/* Distance, cosine with the way to the middle, and one coordinate across it, of the first, the
 * middle and the last of m neighbours. */
static void measure(const struct setting *setting, const double *offsets, size_t i,
                    struct sample *sample)
{
  size_t d = setting->inputs.d, ranks[RANKS] = {0, setting->m / 2, setting->m - 1};
  for (size_t r = 0; r < RANKS; r++) {
    const double *offset = offsets + ranks[r] * d;
    double distance = length_of(d, offset), second = d == 1 ? 0 : offset[1];
    double along = (second - offset[0]) / distance, across = (second + offset[0]) / distance;
    sample->values[r][0][i] = distance;
    sample->values[r][1][i] = side_of(setting) * along;
    sample->values[r][2][i] = d < 3 ? across : offset[d - 1] / distance;
  }
}

/* A row of the law, drawn in another way than the library does. */
static void draw_row(const struct gpnn_inputs *inputs, struct gpnn_rng *rng, double *row)
{
  if (inputs->law == GPNN_INPUTS_NORMAL) {
    for (size_t j = 0; j < inputs->d; j++) row[j] = inputs->scale * gpnn_rng_normal(rng);
    return;
  }
  do
    for (size_t j = 0; j < 2; j++) row[j] = inputs->scale * (2 * gpnn_rng_uniform(rng) - 1);
  while (length_of(2, row) > inputs->scale);
}

/* Offsets to all rows of a cloud, each after its distance, sorted. */
static void search_cloud(const struct setting *setting, const double *x, struct gpnn_rng *rng,
                         double *cloud)
{
  size_t d = setting->inputs.d;
  for (size_t i = 0; i < setting->n; i++) {
    double *row = cloud + i * (d + 1);
    draw_row(&setting->inputs, rng, row + 1);
    for (size_t j = 0; j < d; j++) row[1 + j] -= x[j];
    row[0] = length_of(d, row + 1);
  }
  qsort(cloud, setting->n, (d + 1) * sizeof *cloud, gpnn_compare_doubles);
}

static void sample_brute_force(const struct setting *setting, const double *x,
                               struct sample *sample)
{
  size_t d = setting->inputs.d, m = setting->m;
  double *cloud = gpnn_alloc(setting->n, d + 1, sizeof *cloud);
  double *offsets = gpnn_alloc(m, d, sizeof *offsets);
  struct gpnn_rng rng;
  assert_non_null(cloud);
  assert_non_null(offsets);
  gpnn_rng_init(&rng, (uint64_t)(setting - settings), GPNN_RNG_TEST);
  for (size_t i = 0; i < sample->n; i++) {
    search_cloud(setting, x, &rng, cloud);
    for (size_t k = 0; k < m; k++)
      memcpy(offsets + k * d, cloud + k * (d + 1) + 1, d * sizeof *offsets);
    measure(setting, offsets, i, sample);
  }
  free(cloud);
  free(offsets);
}

static void sample_theory(const struct setting *setting, const double *x, struct sample *sample)
{
  size_t d = setting->inputs.d, m = setting->m;
  struct gpnn_neighbours_options options = {
      .inputs = setting->inputs, .n = setting->n, .m = m, .seed = 11};
  double *points = gpnn_alloc(sample->n, d, sizeof *points);
  assert_non_null(points);
  for (size_t i = 0; i < sample->n; i++) memcpy(points + i * d, x, d * sizeof *x);
  double *offsets = find(options, sample->n, points);
  for (size_t i = 0; i < sample->n; i++) measure(setting, offsets + i * m * d, i, sample);
  free(offsets);
  free(points);
}

static void theory_has_the_law_of_brute_force(void **state)
{
  (void)state;
  for (size_t s = 0; s < SETTINGS; s++) {
    struct sample found = {0}, drawn = {0};
    double x[16];
    place_point(&settings[s], x);
    sample_init(&found, CLOUDS);
    sample_init(&drawn, POINTS);
    sample_brute_force(&settings[s], x, &found);
    sample_theory(&settings[s], x, &drawn);
    for (size_t r = 0; r < RANKS; r++)
      for (size_t k = 0; k < MEASURES; k++) {
        double p = same_law(found.n, found.values[r][k], drawn.n, drawn.values[r][k]);
        /* 0.001 shared out over all the tests */
        if (p < 0.001 / (SETTINGS * RANKS * MEASURES))
          fail_msg("setting %zu, rank %zu, measure %zu: p = %.2g", s, r, k, p);
      }
    sample_release(&found);
    sample_release(&drawn);
  }
}

/* On a line there are two rows at any distance, and their densities are the odds. */
static void sides_of_a_line_go_by_the_density(void **state)
{
  (void)state;
  enum { N = 1000, M = 30 };
  struct gpnn_neighbours_options options = {.inputs = {GPNN_INPUTS_NORMAL, 1, 2}, .n = M, .m = M};
  for (double place = -1.6; place < 2; place += 3.2) {
    double x[N], excess = 0, variance = 0;
    for (size_t i = 0; i < N; i++) x[i] = place;
    double *offsets = find(options, N, x);
    for (size_t i = 0; i < N * M; i++) {
      double here = gpnn_normal_density((place + offsets[i]) / 2);
      double there = gpnn_normal_density((place - offsets[i]) / 2);
      double up = (offsets[i] > 0 ? here : there) / (here + there);
      excess += (offsets[i] > 0) - up;
      variance += up * (1 - up);
    }
    assert_near(excess, 0, 4 * sqrt(variance));
    free(offsets);
  }
}

/* ---- far beyond what can be searched ---- */

/* The mean of (n + 1) F(r) / m over the m-th neighbours of many points: 1, within five standard
 * errors. */
static void assert_mean_one(size_t n_points, size_t m, double sum)
{
  assert_near(sum / (double)n_points, 1, 5 / sqrt((double)m * (double)n_points));
}

static void as_many_rows_are_within_r_as_the_law_says(void **state)
{
  (void)state;
  enum { N = 300, M = 40 };
  static const uint64_t ns[] = {100, 1000000, 1000000000000, GPNN_NEIGHBOURS_MOST};
  static const size_t ds[] = {1, 2, 5, 20, 300};
  for (size_t a = 0; a < sizeof ns / sizeof ns[0]; a++)
    for (size_t b = 0; b < sizeof ds / sizeof ds[0]; b++) {
      struct gpnn_inputs inputs = {GPNN_INPUTS_NORMAL, ds[b], 0.5};
      struct gpnn_neighbours_options options = {.inputs = inputs, .n = ns[a], .m = M, .seed = b};
      double *x = draw_points(inputs, N), *offsets = find(options, N, x), sum = 0;
      for (size_t i = 0; i < N; i++) {
        double r = length_of(ds[b], offsets + (i * M + M - 1) * ds[b]) / 0.5;
        double away = length_of(ds[b], x + i * ds[b]) / 0.5;
        sum += exp(gpnn_chisquare_log_cdf(r * r, ds[b], away * away)) * (double)(ns[a] + 1) / M;
      }
      assert_mean_one(N, M, sum);
      free(x);
      free(offsets);
    }
}

/* Near an edge that is all but straight at this distance. */
static double share_beside_line(double r, double gap)
{
  double angle = gap >= r ? M_PI : M_PI - acos(gap / r);
  double triangle = gap >= r ? 0 : gap * sqrt(r * r - gap * gap);
  return (r * r * angle + triangle) / M_PI;
}

static void lenses_at_the_edge_of_the_disk_keep_their_digits(void **state)
{
  (void)state;
  enum { N = 2000, M = 30 };
  static const double gaps[] = {0, 1e-10, 2e-9, 5e-9, 1e-3, 1};
  for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
    for (int axis = 0; axis < 2; axis++) {
      struct gpnn_neighbours_options options = {
          .inputs = {GPNN_INPUTS_DISK, 2, 3}, .n = GPNN_NEIGHBOURS_MOST, .m = M, .seed = g};
      double *x = gpnn_alloc(N, 2, sizeof *x), sum = 0, inside = 0;
      assert_non_null(x);
      for (size_t i = 0; i < N; i++) x[2 * i + (size_t)axis] = -3 * (1 - gaps[g]);
      double gap = (3 + x[axis]) / 3, *offsets = find(options, N, x);
      for (size_t i = 0; i < N; i++) {
        const double *last = offsets + 2 * (i * M + M - 1);
        sum += share_beside_line(length_of(2, last) / 3, gap) * 1e18 / M;
        for (size_t k = 0; k < M; k++)
          inside += offsets[2 * (i * M + k) + (size_t)axis] / 3 > -gap - 1e-15;
      }
      assert_mean_one(N, M, sum);
      assert_true(inside == N * M);
      free(x);
      free(offsets);
    }
}

static void assert_rising(size_t n_points, size_t m, size_t d, const double *offsets)
{
  for (size_t i = 0; i < n_points * m; i++) {
    double r = length_of(d, offsets + i * d);
    assert_true(isfinite(r) && r > 0);
    if (i % m > 0) assert_true(r >= length_of(d, offsets + (i - 1) * d) * (1 - 1e-14));
  }
}

static void distances_are_positive_and_rise_to_any_n(void **state)
{
  (void)state;
  enum { N = 40 };
  static const struct {
    struct gpnn_inputs inputs;
    uint64_t n;
    size_t m;
  } cases[] = {
      {{GPNN_INPUTS_NORMAL, 20, 0.5}, GPNN_NEIGHBOURS_MOST, 400},
      {{GPNN_INPUTS_NORMAL, 1, 1}, GPNN_NEIGHBOURS_MOST, 50},
      {{GPNN_INPUTS_NORMAL, 1500, 1}, GPNN_NEIGHBOURS_MOST, 10},
      {{GPNN_INPUTS_NORMAL, 6, 1e-9}, 1, 1},
      {{GPNN_INPUTS_NORMAL, 3, 1e9}, 5000, 5000},
      {{GPNN_INPUTS_NORMAL, 1, 1}, 5000, 5000},
      {{GPNN_INPUTS_DISK, 2, 1}, GPNN_NEIGHBOURS_MOST, 400},
      {{GPNN_INPUTS_DISK, 2, 7}, 5000, 5000},
      {{GPNN_INPUTS_DISK, 2, 1}, 1, 1},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    struct gpnn_neighbours_options options = {
        .inputs = cases[c].inputs, .n = cases[c].n, .m = cases[c].m, .seed = c};
    size_t d = cases[c].inputs.d;
    double *x = draw_points(cases[c].inputs, N), *offsets = find(options, N, x);
    assert_rising(N, cases[c].m, d, offsets);
    free(offsets);
    free(x);
  }
}

static void neighbours_in_a_disk_are_in_it(void **state)
{
  (void)state;
  enum { N = 100, M = 300 };
  struct gpnn_neighbours_options options = {.inputs = {GPNN_INPUTS_DISK, 2, 4}, .n = M, .m = M};
  double *x = draw_points(options.inputs, N), *offsets = find(options, N, x);
  for (size_t i = 0; i < N * M; i++) {
    double row[2] = {x[i / M * 2] + offsets[2 * i], x[i / M * 2 + 1] + offsets[2 * i + 1]};
    assert_true(length_of(2, row) <= 4 * (1 + 1e-12));
  }
  free(x);
  free(offsets);
}

/* A point outside a law's reach, too, has neighbours. */
static void points_far_from_every_row_have_neighbours(void **state)
{
  (void)state;
  enum { M = 50 };
  struct gpnn_neighbours_options options = {.inputs = {GPNN_INPUTS_DISK, 2, 1}, .n = 100, .m = M};
  double outside[2] = {1.5, 2}, *offsets = find(options, 1, outside);
  for (size_t k = 0; k < M; k++) {
    double row[2] = {outside[0] + offsets[2 * k], outside[1] + offsets[2 * k + 1]};
    assert_true(length_of(2, row) <= 1 + 1e-9);
  }
  free(offsets);
  options.inputs = (struct gpnn_inputs){GPNN_INPUTS_NORMAL, 2, 1};
  double far[2] = {-300, 400};
  offsets = find(options, 1, far);
  assert_rising(1, M, 2, offsets);
  for (size_t k = 0; k < M; k++) assert_near(length_of(2, offsets + 2 * k), 500, 8);
  free(offsets);
}

/* ---- what they may and may not depend on ---- */

static void offsets_scale_with_the_inputs(void **state)
{
  (void)state;
  enum { N = 30, M = 20, D = 7 };
  for (int law = GPNN_INPUTS_NORMAL; law <= GPNN_INPUTS_DISK; law++) {
    size_t d = law == GPNN_INPUTS_DISK ? 2 : D;
    struct gpnn_neighbours_options options = {
        .inputs = {(enum gpnn_inputs_law)law, d, 1}, .n = 1000000, .m = M};
    double *x = draw_points(options.inputs, N), *one = find(options, N, x);
    options.inputs.scale = 3e-7;
    for (size_t i = 0; i < N * d; i++) x[i] *= 3e-7;
    double *scaled = find(options, N, x);
    for (size_t i = 0; i < N * M; i++) {
      double r = length_of(d, one + i * d);
      for (size_t j = 0; j < d; j++)
        assert_near(scaled[i * d + j] / 3e-7, one[i * d + j], 1e-12 * r);
    }
    free(x);
    free(one);
    free(scaled);
  }
}

static void threads_and_batches_change_no_byte(void **state)
{
  (void)state;
  enum { N = 37, M = 9 };
  static const enum gpnn_inputs_law laws[] = {GPNN_INPUTS_NORMAL, GPNN_INPUTS_DISK,
                                              GPNN_INPUTS_NORMAL, GPNN_INPUTS_CUBE};
  for (int c = 0; c < 4; c++) {
    size_t d = laws[c] == GPNN_INPUTS_DISK ? 2 : 3;
    struct gpnn_neighbours_options options = {
        .inputs = {laws[c], d, 1}, .n = 700, .m = M, .by_search = c >= 2, .threads = 1};
    double *x = draw_points(options.inputs, N), *all = find(options, N, x);
    double *parts = gpnn_alloc(N, M * d, sizeof *parts);
    assert_non_null(parts);
    for (options.threads = 1; options.threads <= 3; options.threads++) {
      struct gpnn_neighbours *neighbours = make(options);
      memset(parts, 0, N * M * d * sizeof *parts);
      for (size_t from = 0; from < N; from += 10)
        assert_ok(gpnn_neighbours_find(neighbours, from, N - from < 10 ? N - from : 10,
                                       x + from * d, parts + from * M * d, &err));
      assert_memory_equal(parts, all, N * M * d * sizeof *parts);
      gpnn_neighbours_free(neighbours);
    }
    free(parts);
    free(all);
    free(x);
  }
}

static void seeds_draws_and_points_have_neighbours_of_their_own(void **state)
{
  (void)state;
  double x[4] = {0.1, 0.2, 0.1, 0.2};
  for (int by_search = 0; by_search < 2; by_search++) {
    struct gpnn_neighbours_options options = {
        .inputs = {GPNN_INPUTS_NORMAL, 2, 1}, .n = 100, .m = 1, .by_search = by_search == 1};
    double *first = find(options, 2, x);
    options.draw = 1;
    double *second = find(options, 2, x);
    options.draw = 0;
    options.seed = 1;
    double *third = find(options, 2, x);
    assert_true(first[0] != second[0] && first[0] != third[0] && second[0] != third[0]);
    /* two points at one place: a cloud has the same rows for both */
    assert_true((first[0] == first[2]) == (by_search == 1));
    free(first);
    free(second);
    free(third);
  }
}

/* All rows, whichever point asks, and then the nearest of them. */
static void search_finds_the_nearest_rows_of_one_cloud(void **state)
{
  (void)state;
  enum { ROWS = 400, FEW = 25, D = 2, N = 6 };
  for (int law = GPNN_INPUTS_NORMAL; law <= GPNN_INPUTS_CUBE; law++) {
    struct gpnn_neighbours_options options = {
        .inputs = {(enum gpnn_inputs_law)law, D, 2}, .n = ROWS, .m = ROWS, .by_search = true};
    double *x = draw_points(options.inputs, N), *all = find(options, N, x);
    options.m = FEW;
    double *few = find(options, N, x), rows[N][ROWS];
    for (size_t i = 0; i < N; i++) {
      assert_memory_equal(few + i * FEW * D, all + i * ROWS * D, FEW * D * sizeof *few);
      assert_rising(1, ROWS, D, all + i * ROWS * D);
      for (size_t k = 0; k < ROWS; k++) rows[i][k] = all[(i * ROWS + k) * D] + x[i * D];
      qsort(rows[i], ROWS, sizeof rows[i][0], gpnn_compare_doubles);
      for (size_t k = 0; k < ROWS; k++) {
        assert_near(rows[i][k], rows[0][k], 1e-14);
        assert_true(law == GPNN_INPUTS_NORMAL || fabs(rows[i][k]) <= 2);
      }
    }
    free(x);
    free(all);
    free(few);
  }
}

/* ---- input ---- */

static void impossible_requests_are_refused(void **state)
{
  (void)state;
  struct gpnn_neighbours *neighbours = NULL;
  const struct gpnn_neighbours_options good = {
      .inputs = {GPNN_INPUTS_NORMAL, 3, 1}, .n = 10, .m = 5, .threads = 1};
  struct gpnn_neighbours_options bad = good;
  bad.m = 11;
  assert_fails(gpnn_neighbours_new(&neighbours, &bad, &err), GPNN_EINVAL,
               "11 neighbours are more than the 10 training rows");
  bad = good;
  bad.n = 0;
  assert_fails(gpnn_neighbours_new(&neighbours, &bad, &err), GPNN_EINVAL,
               "not in 1 to 1000000000000000000");
  bad.n = GPNN_NEIGHBOURS_MOST + 1;
  assert_fails(gpnn_neighbours_new(&neighbours, &bad, &err), GPNN_EINVAL, "not in 1 to");
  bad = good;
  bad.inputs.law = GPNN_INPUTS_DISK;
  assert_fails(gpnn_neighbours_new(&neighbours, &bad, &err), GPNN_EINVAL,
               "a disk has 2 inputs, not 3");
  bad = good;
  bad.inputs.d = 0;
  assert_fails(gpnn_neighbours_new(&neighbours, &bad, &err), GPNN_EINVAL, "at least 1 input");
  bad = good;
  bad.inputs.scale = NAN;
  assert_fails(gpnn_neighbours_new(&neighbours, &bad, &err), GPNN_EINVAL, "scale of the inputs");
  bad = good;
  bad.inputs.law = GPNN_INPUTS_CUBE;
  assert_fails(gpnn_neighbours_new(&neighbours, &bad, &err), GPNN_EINVAL,
               "only be found by search");
  bad = good;
  bad.n = GPNN_NEIGHBOURS_MOST;
  bad.by_search = true;
  assert_fails(gpnn_neighbours_new(&neighbours, &bad, &err), GPNN_ENOMEM, "memory");
  assert_null(neighbours);
  gpnn_neighbours_free(neighbours);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(theory_has_the_law_of_brute_force),
      cmocka_unit_test(sides_of_a_line_go_by_the_density),
      cmocka_unit_test(as_many_rows_are_within_r_as_the_law_says),
      cmocka_unit_test(lenses_at_the_edge_of_the_disk_keep_their_digits),
      cmocka_unit_test(distances_are_positive_and_rise_to_any_n),
      cmocka_unit_test(neighbours_in_a_disk_are_in_it),
      cmocka_unit_test(points_far_from_every_row_have_neighbours),
      cmocka_unit_test(offsets_scale_with_the_inputs),
      cmocka_unit_test(threads_and_batches_change_no_byte),
      cmocka_unit_test(seeds_draws_and_points_have_neighbours_of_their_own),
      cmocka_unit_test(search_finds_the_nearest_rows_of_one_cloud),
      cmocka_unit_test(impossible_requests_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
