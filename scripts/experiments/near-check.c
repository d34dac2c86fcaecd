/*
 * near-check: neighbours drawn by theory against neighbours found in clouds.
 *
 *   near-check [SEEDS [N...]]                    (20 10000 100000 1000000)
 *
 * For normal inputs in 2, 4, 8 and 16 dimensions and for the disk, for each N and seed: clouds of N
 * rows, each searched for the 50 nearest rows of one point of the same distribution, so that points
 * are independent; and 1000 points whose neighbours are drawn.  Two-sample Kolmogorov-Smirnov tests
 * compare, for the 1st, 25th and 50th neighbour, the distances (for normal inputs as log N F(r),
 * which removes the effect of the point's place) and the cosines of the directions with that to the
 * middle.
 *
 * Prints a line for each distribution and N: p-values of all seeds pooled, and how many of the
 * single seeds' are below 0.001.  Then, for each measure, a one-sample test of the seeds' p-values
 * against the uniform distribution; how many of all of them are below 0.001, beside the number
 * expected by chance; and the smallest pooled p-value times their number (Bonferroni).  Uses as
 * many threads as there are processors.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas_threads.h"
#include "simulate/neighbours.h"
#include "stats/distributions/chisquare.h"

enum { M = 50, RANKS = 3, MEASURES = 2 * RANKS, DRAWN = 1000, MOST_CLOUDS = 100, SETTINGS = 5 };

static const struct gpnn_inputs laws[SETTINGS] = {
    {GPNN_INPUTS_NORMAL, 2, 1},  {GPNN_INPUTS_NORMAL, 4, 1}, {GPNN_INPUTS_NORMAL, 8, 1},
    {GPNN_INPUTS_NORMAL, 16, 1}, {GPNN_INPUTS_DISK, 2, 1},
};

/* Values of each measure for 'n' points, with room for 'capacity'. */
struct sample {
  size_t n, capacity;
  double *values[MEASURES];
};

/* The p-values so far. */
struct verdict {
  size_t n, n_low, n_pooled;
  double *p; /* of the seeds' own tests, those of one seed together */
  double least_pooled;
};

static void die(const char *what)
{
  fprintf(stderr, "near-check: %s\n", what);
  exit(1);
}

static void sample_init(struct sample *sample, size_t capacity)
{
  *sample = (struct sample){.capacity = capacity};
  for (size_t k = 0; k < MEASURES; k++) {
    sample->values[k] = gpnn_alloc(capacity, 1, sizeof *sample->values[k]);
    if (sample->values[k] == NULL) die("out of memory");
  }
}

static void sample_release(struct sample *sample)
{
  for (size_t k = 0; k < MEASURES; k++) free(sample->values[k]);
}

static int compare(const void *a, const void *b)
{
  const double *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

/* The limiting law of Kolmogorov's statistic, with Stephens's correction; 'root' is that of the
 * effective number. */
static double kolmogorov(double root, double largest)
{
  double t = (root + 0.12 + 0.11 / root) * largest, sum = 0, sign = 2;
  if (t < 0.2) return 1;
  for (int l = 1; l < 100; l++, sign = -sign) sum += sign * exp(-2 * l * l * t * t);
  return fmax(sum, 0);
}

static double same_law(size_t n, double *a, size_t k, double *b)
{
  double largest = 0;
  qsort(a, n, sizeof *a, compare);
  qsort(b, k, sizeof *b, compare);
  for (size_t i = 0, j = 0; i < n && j < k;) {
    double value = fmin(a[i], b[j]);
    while (i < n && a[i] <= value) i++;
    while (j < k && b[j] <= value) j++;
    largest = fmax(largest, fabs((double)i / (double)n - (double)j / (double)k));
  }
  return kolmogorov(sqrt((double)n * (double)k / (double)(n + k)), largest);
}

/* The tests of one seed are not independent, but those of one measure are: all its p-values against
 * a uniform law. */
static double is_uniform(const struct verdict *verdict, size_t measure, double *room)
{
  size_t n = verdict->n / MEASURES;
  double largest = 0;
  for (size_t i = 0; i < n; i++) room[i] = verdict->p[i * MEASURES + measure];
  qsort(room, n, sizeof *room, compare);
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, room[i] - (double)i / (double)n);
    largest = fmax(largest, (double)(i + 1) / (double)n - room[i]);
  }
  return kolmogorov(sqrt((double)n), largest);
}

/* Appends what is measured of one point's neighbours. */
static void measure(const struct gpnn_inputs *inputs, uint64_t n, const double *x,
                    const double *offsets, struct sample *sample)
{
  static const size_t ranks[RANKS] = {0, M / 2 - 1, M - 1};
  size_t d = inputs->d;
  for (size_t r = 0; r < RANKS; r++) {
    double squares = 0, along = 0, away = 0;
    for (size_t j = 0; j < d; j++) {
      double offset = offsets[ranks[r] * d + j];
      squares += offset * offset;
      along -= offset * x[j];
      away += x[j] * x[j];
    }
    bool is_normal = inputs->law == GPNN_INPUTS_NORMAL;
    double share = is_normal ? gpnn_chisquare_log_cdf(squares, d, away) : log(squares);
    sample->values[r][sample->n] = share + log((double)n);
    sample->values[RANKS + r][sample->n] = along / sqrt(squares * away);
  }
  sample->n++;
}

/* Neighbours of 'n_points' points, numbered from 'first', of training set 'draw'. */
static void add(struct gpnn_neighbours_options options, uint64_t first, size_t n_points,
                struct sample *sample)
{
  size_t d = options.inputs.d;
  struct gpnn_neighbours *near = NULL;
  struct gpnn_error err = {0};
  double *x = gpnn_alloc(n_points, d, sizeof *x);
  double *offsets = gpnn_alloc(n_points, M * d, sizeof *offsets);
  if (x == NULL || offsets == NULL) die("out of memory");
  for (size_t i = 0; i < n_points; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, options.seed, GPNN_RNG_POINT, first + i);
    gpnn_inputs_draw(&options.inputs, &rng, x + i * d);
  }
  if (gpnn_neighbours_new(&near, &options, &err) != GPNN_OK ||
      gpnn_neighbours_find(near, first, n_points, x, offsets, &err) != GPNN_OK)
    die(err.text);
  for (size_t i = 0; i < n_points; i++)
    measure(&options.inputs, options.n, x + i * d, offsets + i * M * d, sample);
  gpnn_neighbours_free(near);
  free(offsets);
  free(x);
}

/* Copies, as testing sorts. */
static void append(struct sample *to, const struct sample *from)
{
  for (size_t k = 0; k < MEASURES; k++)
    memcpy(to->values[k] + to->n, from->values[k], from->n * sizeof *to->values[k]);
  to->n += from->n;
}

/* One seed's clouds and draws, which are added to those of all. */
static void take_seed(struct gpnn_neighbours_options options, size_t n_clouds,
                      struct sample *all_found, struct sample *all_drawn, struct verdict *verdict)
{
  struct sample found, drawn;
  sample_init(&found, n_clouds);
  sample_init(&drawn, DRAWN);
  options.by_search = true;
  for (options.draw = 0; options.draw < n_clouds; options.draw++)
    add(options, options.draw, 1, &found);
  options.by_search = false;
  add(options, MOST_CLOUDS, DRAWN, &drawn);
  append(all_found, &found);
  append(all_drawn, &drawn);
  for (size_t k = 0; k < MEASURES; k++) {
    double p = same_law(found.n, found.values[k], drawn.n, drawn.values[k]);
    verdict->p[verdict->n++] = p;
    verdict->n_low += p < 0.001;
  }
  sample_release(&found);
  sample_release(&drawn);
}

static void take_setting(const struct gpnn_inputs *inputs, uint64_t n, size_t n_seeds,
                         struct verdict *verdict)
{
  size_t wanted = (size_t)(3000000 / n), before = verdict->n_low;
  size_t n_clouds = wanted < 10 ? 10 : wanted > MOST_CLOUDS ? MOST_CLOUDS : wanted;
  struct sample found, drawn;
  sample_init(&found, n_seeds * n_clouds);
  sample_init(&drawn, n_seeds * DRAWN);
  for (size_t seed = 1; seed <= n_seeds; seed++)
    take_seed(
        (struct gpnn_neighbours_options){
            .inputs = *inputs, .n = n, .m = M, .seed = seed, .threads = gpnn_threads_available()},
        n_clouds, &found, &drawn, verdict);
  printf("%-6s %3zu %9llu %7zu", inputs->law == GPNN_INPUTS_DISK ? "disk" : "normal", inputs->d,
         (unsigned long long)n, found.n);
  for (size_t k = 0; k < MEASURES; k++) {
    double p = same_law(found.n, found.values[k], drawn.n, drawn.values[k]);
    verdict->n_pooled++;
    verdict->least_pooled = fmin(verdict->least_pooled, p);
    printf(" %8.4f", p);
  }
  printf(" %5zu of %zu\n", verdict->n_low - before, n_seeds * MEASURES);
  fflush(stdout);
  sample_release(&found);
  sample_release(&drawn);
}

static void conclude(const struct verdict *verdict)
{
  double *room = gpnn_alloc(verdict->n, 1, sizeof *room);
  if (room == NULL) die("out of memory");
  printf("%-28s", "seeds' p, if uniform: p =");
  for (size_t k = 0; k < MEASURES; k++) printf(" %8.4f", is_uniform(verdict, k, room));
  printf("\np < 0.001 in %zu of %zu tests of one seed; by chance %.1f\n", verdict->n_low,
         verdict->n, 0.001 * (double)verdict->n);
  printf("least p of the %zu pooled tests, times their number: %.4f\n", verdict->n_pooled,
         fmin(1, verdict->least_pooled * (double)verdict->n_pooled));
  free(room);
}

int main(int argc, char **argv)
{
  static const uint64_t sizes[] = {10000, 100000, 1000000};
  size_t n_seeds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20,
         n_sizes = argc > 2 ? (size_t)argc - 2 : 3;
  struct verdict verdict = {.least_pooled = 1};
  gpnn_blas_single_thread();
  verdict.p = gpnn_alloc(n_sizes * SETTINGS * MEASURES, n_seeds, sizeof *verdict.p);
  if (verdict.p == NULL) die("out of memory");
  printf("%-6s %3s %9s %7s %8s %8s %8s %8s %8s %8s  %s\n", "law", "d", "n", "clouds", "r 1", "r 25",
         "r 50", "cos 1", "cos 25", "cos 50", "seeds' p < 0.001");
  for (size_t s = 0; s < n_sizes; s++)
    for (size_t l = 0; l < SETTINGS; l++) {
      uint64_t n = argc > 2 ? strtoull(argv[2 + s], NULL, 10) : sizes[s];
      if (n < M) die("too few rows");
      take_setting(&laws[l], n, n_seeds, &verdict);
    }
  conclude(&verdict);
  free(verdict.p);
  return 0;
}
