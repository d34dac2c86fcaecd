#include "unit.h"

#include <unistd.h>

#include "base/rng.h"
#include "dataset/grid/grid.h"
#include "kernel/parameters.h"

struct place {
  char dir[200], path[240];
};

static int set_up(void **state)
{
  struct place *place = calloc(1, sizeof *place);
  if (place == NULL || unit_make_folder(place->dir, sizeof place->dir) != 0) return -1;
  snprintf(place->path, sizeof place->path, "%s/x.par", place->dir);
  *state = place;
  return 0;
}

static int tear_down(void **state)
{
  struct place *place = *state;
  unlink(place->path);
  int failed = rmdir(place->dir);
  free(place);
  return failed;
}

static enum gpnn_status read_text(const struct place *place, const char *text,
                                  struct gpnn_parameters *params, struct gpnn_error *err)
{
  FILE *file = fopen(place->path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
  return gpnn_parameters_read_one(params, place->path, err);
}

static void write_text(const struct place *place, const struct gpnn_parameters *params)
{
  struct gpnn_output *output = NULL;
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_parameters_write(params, 1, output, &err));
  assert_ok(gpnn_output_close(output, &err));
}

static const char nordic[] = "# gpnn parameters 1\n"
                             "factors\tsite\ttime\n"
                             "site.kernel\tmatern32\n"
                             "site.inputs\tranks\n"
                             "site.lengthscale\t0.7\t1.1\n"
                             "site.nugget\t0.05\n"
                             "time.kernel\trbf*periodic\n"
                             "time.lengthscale\t90\t1.3\n"
                             "time.period\t365.25\n"
                             "factor-mean\ttime\n"
                             "kernelscale\t0.9\n"
                             "noise\t0.1\n";

static const char sensors[] = "# gpnn parameters 1\n"
                              "factors\tmachine\tsensor\n"
                              "machine.kernel\trbf\n"
                              "machine.inputs\tlog\n"
                              "machine.lengthscale\t2\n"
                              "sensor.kernel\ticm:2\n"
                              "sensor.loadings\t1\t-0.5\t0\t2\t0.25\t0\n"
                              "sensor.own\t0.1\t0.2\t0.3\n"
                              "sensor.noise\t0.01\t0.02\t0.03\n"
                              "kernelscale\t1\n"
                              "noise\t0.02\n";

/* The whole text of a file, cut to 'size'. */
static void read_back(const struct place *place, char *text, size_t size)
{
  FILE *file = fopen(place->path, "rb");
  assert_non_null(file);
  text[fread(text, 1, size - 1, file)] = '\0';
  fclose(file);
}

static void the_documented_text_is_what_it_says(void **state)
{
  struct gpnn_parameters params = {0};
  char text[2000];
  assert_ok(read_text(*state, nordic, &params, &err));
  const struct gpnn_factor *site = &params.grid.factor[0], *time = &params.grid.factor[1];
  assert_int_equal(params.grid.n_factors, 2);
  assert_int_equal(params.grid.mean_factor, 2);
  assert_int_equal(params.neighbours, 0);
  assert_null(params.covariance.kernel);
  assert_string_equal(site->name, "site");
  assert_int_equal(site->inputs, GPNN_FACTOR_RANKS);
  assert_int_equal(site->term[0].n_lengthscales, 2);
  assert_true(site->term[0].lengthscale[1] == 1.1 && site->nugget == 0.05);
  assert_int_equal(time->n_terms, 2);
  assert_true(time->term[0].lengthscale[0] == 90 && time->term[1].lengthscale[0] == 1.3);
  assert_null(time->term[1].kernel);
  assert_true(time->term[1].period == 365.25);
  write_text(*state, &params);
  read_back(*state, text, sizeof text);
  assert_string_equal(text, nordic);
  gpnn_parameters_release(&params);
}

static void tasks_and_their_noise_read_back(void **state)
{
  struct gpnn_parameters params = {0};
  char text[2000];
  assert_ok(read_text(*state, sensors, &params, &err));
  const struct gpnn_factor *sensor = &params.grid.factor[1];
  assert_int_equal(sensor->n_tasks, 3);
  assert_int_equal(sensor->rank, 2);
  assert_true(sensor->loadings[1] == -0.5 && sensor->own[2] == 0.3);
  assert_int_equal(params.grid.noise_factor, 2);
  assert_int_equal(params.grid.n_noise, 3);
  assert_true(params.grid.noise[2] == 0.03);
  write_text(*state, &params);
  read_back(*state, text, sizeof text);
  assert_string_equal(text, sensors);
  gpnn_parameters_release(&params);
}

/* Lines of factors may come in any order below their names. */
static void lines_of_factors_have_no_order(void **state)
{
  struct gpnn_parameters params = {0};
  char text[2000];
  assert_ok(read_text(*state,
                      "noise 0.1\nfactors site time\ntime.period 365.25\nfactor-mean time\n"
                      "time.lengthscale 90 1.3\nkernelscale 0.9\nsite.nugget 0.05\n"
                      "time.kernel rbf*periodic\ntime.inputs raw\nsite.lengthscale 0.7 1.1\n"
                      "site.inputs ranks\nsite.kernel matern32\n",
                      &params, &err));
  write_text(*state, &params);
  read_back(*state, text, sizeof text);
  assert_string_equal(text, nordic);
  gpnn_parameters_release(&params);
}

/* A positive number of any size between 1e-100 and 1e100, with all its digits. */
static double any_positive(struct gpnn_rng *rng)
{
  return exp(40 * gpnn_rng_normal(rng));
}

static void any_factor(struct gpnn_rng *rng, size_t a, struct gpnn_factor *factor)
{
  static const char *const kernels[] = {
      "rbf",      "matern:1.7*exp",           "icm", "periodic*matern52", "icm:2",
      "matern32", "periodic*periodic*rbf*exp"};
  const char *kernel = kernels[gpnn_rng_below(rng, sizeof kernels / sizeof *kernels)];
  size_t d = strstr(kernel, "periodic") != NULL || strstr(kernel, "icm") != NULL
                 ? 1
                 : 1 + gpnn_rng_below(rng, 4);
  char name[] = "a-_9";
  assert_ok(gpnn_factor_parse(factor, kernel, d, 2 + gpnn_rng_below(rng, 5), true, &err));
  name[0] = (char)('a' + a);
  factor->name = strdup(name);
  for (size_t t = 0; t < factor->n_terms; t++) {
    struct gpnn_factor_term *term = &factor->term[t];
    for (size_t j = 0; j < term->n_lengthscales; j++) term->lengthscale[j] = any_positive(rng);
    if (term->kernel == NULL) term->period = any_positive(rng);
  }
  uint64_t inputs = gpnn_rng_below(rng, 3);
  if (factor->n_terms > 0) factor->inputs = (enum gpnn_factor_inputs)inputs;
  if (factor->n_terms > 0 && gpnn_rng_below(rng, 2) > 0) factor->nugget = any_positive(rng);
  for (size_t i = 0; i < factor->n_tasks * factor->rank; i++)
    factor->loadings[i] = gpnn_rng_normal(rng);
  for (size_t i = 0; i < factor->n_tasks; i++) factor->own[i] = any_positive(rng);
}

static void any_grid(struct gpnn_rng *rng, struct gpnn_grid_process *grid)
{
  grid->n_factors = 2 + gpnn_rng_below(rng, GPNN_GRID_FACTORS - 1);
  grid->factor = calloc(grid->n_factors, sizeof *grid->factor);
  for (size_t a = 0; a < grid->n_factors; a++) any_factor(rng, a, &grid->factor[a]);
  grid->mean_factor = gpnn_rng_below(rng, grid->n_factors + 1);
  grid->noise_factor = gpnn_rng_below(rng, grid->n_factors + 1);
  if (grid->noise_factor == 0) return;
  grid->n_noise = 1 + gpnn_rng_below(rng, 9);
  grid->noise = calloc(grid->n_noise, sizeof *grid->noise);
  for (size_t i = 0; i < grid->n_noise; i++) grid->noise[i] = any_positive(rng);
}

static void assert_same_numbers(size_t n, const double *a, const double *b)
{
  if (n > 0) assert_memory_equal(a, b, n * sizeof *a);
}

static void assert_same_factor(const struct gpnn_factor *a, const struct gpnn_factor *b)
{
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->inputs, b->inputs);
  assert_int_equal(a->n_terms, b->n_terms);
  for (size_t t = 0; t < a->n_terms; t++) {
    assert_ptr_equal(a->term[t].kernel, b->term[t].kernel);
    assert_true(a->term[t].smoothness == b->term[t].smoothness);
    assert_int_equal(a->term[t].n_lengthscales, b->term[t].n_lengthscales);
    assert_same_numbers(a->term[t].n_lengthscales, a->term[t].lengthscale, b->term[t].lengthscale);
    assert_true(a->term[t].period == b->term[t].period);
  }
  assert_true(a->nugget == b->nugget);
  assert_int_equal(a->n_tasks, b->n_tasks);
  assert_int_equal(a->rank, b->rank);
  assert_same_numbers(a->n_tasks * a->rank, a->loadings, b->loadings);
  assert_same_numbers(a->n_tasks, a->own, b->own);
}

static void assert_same_grid(const struct gpnn_grid_process *a, const struct gpnn_grid_process *b)
{
  assert_int_equal(a->n_factors, b->n_factors);
  for (size_t i = 0; i < a->n_factors; i++) assert_same_factor(&a->factor[i], &b->factor[i]);
  assert_int_equal(a->mean_factor, b->mean_factor);
  assert_int_equal(a->noise_factor, b->noise_factor);
  assert_int_equal(a->n_noise, b->n_noise);
  assert_same_numbers(a->n_noise, a->noise, b->noise);
}

static void any_grid_reads_back_the_same(void **state)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (int i = 0; i < 200; i++) {
    struct gpnn_parameters params = {.covariance.kernelscale = any_positive(&rng),
                                     .covariance.noise = any_positive(&rng)};
    struct gpnn_parameters back = {0};
    struct gpnn_grid_process copy = {0};
    any_grid(&rng, &params.grid);
    write_text(*state, &params);
    assert_ok(gpnn_parameters_read_one(&back, ((struct place *)*state)->path, &err));
    assert_same_grid(&params.grid, &back.grid);
    assert_true(back.covariance.kernelscale == params.covariance.kernelscale);
    assert_ok(gpnn_parameters_grid_copy(&copy, &params.grid, &err));
    gpnn_parameters_release(&params);
    assert_same_grid(&copy, &back.grid);
    gpnn_parameters_grid_release(&copy);
    gpnn_parameters_release(&back);
  }
}

static void targets_on_one_grid_have_factors_each(void **state)
{
  struct gpnn_parameters *params = NULL;
  struct place *place = *state;
  size_t n = 0;
  FILE *file = fopen(place->path, "wb");
  assert_non_null(file);
  fprintf(file, "target a\n%starget b\n%s", nordic, sensors);
  fclose(file);
  assert_ok(gpnn_parameters_read(&params, &n, place->path, &err));
  assert_int_equal(n, 2);
  assert_string_equal(params[0].grid.factor[1].name, "time");
  assert_string_equal(params[1].grid.factor[1].name, "sensor");
  gpnn_parameters_free(params, n);
}

#define REST "kernelscale 1\nnoise 1\n"
#define SITE "site.kernel rbf\nsite.lengthscale 1\n"
#define TIME "time.kernel rbf\ntime.lengthscale 1\n"
#define BOTH "factors site time\n"

static void texts_that_are_not_whole_or_right_are_refused(void **state)
{
  static const struct {
    const char *text, *wanted;
  } refusals[] = {
      {"factors site\n" SITE REST, "x.par:1: factors: only one"},
      {"factors a b c d e f g\n", "x.par:1: factors: more than 6"},
      {"factors site site\n", "x.par:1: factors: two are called \"site\""},
      {"factors site t.x\n", "x.par:1: factors: \"t.x\": the name of a factor is"},
      {"factors site noise\n", "\"noise\": the name of a factor is"},
      {"factors site target\n", "\"target\": the name of a factor is"},
      {"factors site abcdefghijklmnopqrstuvwxyz1234567\n", "the name of a factor is"},
      {"factors\n", "x.par:1: factors: has no value"},
      {BOTH BOTH, "x.par:2: factors: given a second time"},
      {REST SITE BOTH, "x.par:3: unknown name \"site.kernel\": lines of a factor come below"},
      {BOTH "place.kernel rbf\n", "x.par:2: unknown name \"place.kernel\""},
      {BOTH "site.width 1\n", "x.par:2: unknown name \"site.width\""},
      {BOTH "site. 1\n", "x.par:2: unknown name \"site.\""},
      {BOTH SITE "site.kernel exp\n", "x.par:4: site.kernel: given a second time"},
      {BOTH "site.kernel\n", "x.par:2: site.kernel: has no value"},
      {BOTH "site.kernel rbf exp\n", "x.par:2: site.kernel: more than one value"},
      {BOTH TIME REST, "x.par: site.kernel is missing"},
      {BOTH "site.kernel rbf\n" TIME REST, "x.par:2: site.kernel: needs a line site.lengthscale"},
      {BOTH "site.kernel rbf*exp\nsite.lengthscale 1 2 3\n" TIME REST,
       "x.par:2: site.kernel: needs"},
      {BOTH "site.kernel wool\nsite.lengthscale 1\n" TIME REST,
       "x.par:2: site.kernel: \"wool\" is not a kernel"},
      {BOTH "site.kernel periodic\nsite.lengthscale 1 1\nsite.period 1\n" TIME REST,
       "x.par:2: site.kernel: periodic: needs a factor with one column"},
      {BOTH "site.kernel periodic\nsite.lengthscale 1\n" TIME REST,
       "x.par: site.period is missing"},
      {BOTH SITE "site.period 1\n" TIME REST, "x.par:4: site.period: 1 numbers, kernel rbf has 0"},
      {BOTH SITE "site.own 1\n" TIME REST, "x.par:4: site.own: 1 numbers, kernel rbf has 0"},
      {BOTH SITE "site.inputs flat\n" TIME REST,
       "x.par:4: site.inputs: \"flat\" is not one of raw"},
      {BOTH SITE "site.nugget 1 2\n" TIME REST, "x.par:4: site.nugget: 2 numbers"},
      {BOTH SITE "site.nugget -1\n", "x.par:4: site.nugget: not a non-negative number: \"-1\""},
      {BOTH "site.lengthscale 1 x\n", "x.par:2: site.lengthscale: not a positive number: \"x\""},
      {BOTH "site.period -365\n", "x.par:2: site.period: not a positive number: \"-365\""},
      {BOTH "site.lengthscale 1e-101\n", "not between 1e-100 and 1e100: \"1e-101\""},
      {BOTH "site.nugget 1e101\n", "not up to 1e100"},
      {BOTH "site.loadings 1e51\n", "not between -1e50 and 1e50"},
      {BOTH "site.loadings a\n", "site.loadings: not a number: \"a\""},
      {BOTH "site.noise 0\n", "site.noise: not a positive number: \"0\""},
      {BOTH "site.kernel icm\nsite.loadings 1\n" TIME REST, "x.par: site.own is missing"},
      {BOTH "site.kernel icm\nsite.own 1 1\nsite.loadings 1\n" TIME REST,
       "x.par:2: site.kernel: icm with 2 numbers site.own does not go with 1 site.loadings"},
      {BOTH "site.kernel icm:3\nsite.own 1 1\nsite.loadings 1 1 1 1 1 1\n" TIME REST,
       "x.par:2: site.kernel: icm:3 with 2 numbers site.own does not go with 6"},
      {BOTH "site.kernel icm:x\nsite.own 1 1\nsite.loadings 1 1\n" TIME REST, "the rank is not"},
      {BOTH "site.kernel icm\nsite.own 1\nsite.loadings 1\nsite.inputs raw\n" TIME REST,
       "x.par:5: site.inputs: icm has none"},
      {BOTH SITE "site.noise 1\n" TIME "time.noise 1\n" REST,
       "x.par:7: time.noise: the levels of site have noise already"},
      {BOTH SITE TIME "factor-mean day\n", "x.par:6: factor-mean: \"day\" is not a factor"},
      {"factor-mean time\n" BOTH, "x.par:1: factor-mean: the line factors must come before"},
      {BOTH SITE TIME "noise 1\n", "x.par: kernelscale is missing"},
      {BOTH SITE TIME REST "kernel rbf\n", "x.par: kernel: belongs to parameters of rows"},
      {BOTH SITE TIME REST "neighbours 4\n", "x.par: neighbours: belongs to parameters of rows"},
      {BOTH SITE TIME REST "mean zero\n", "x.par: mean: belongs to parameters of rows"},
      {BOTH SITE TIME REST "likelihood categorical\n",
       "likelihood of a grid is gaussian, student or local"},
      {BOTH SITE TIME REST "member 2\nkernel rbf\n", "is missing"},
      {BOTH SITE TIME REST "member 2\n" BOTH, "x.par:9: factors: belongs to the target"},
      {BOTH SITE TIME REST
       "member 2\nkernel rbf\nlengthscale 1\nkernelscale 1\nnoise 1\nweight 1\n",
       "a grid is not predicted by several members"},
      {"kernel rbf\nlengthscale 1\n" REST "site.kernel rbf\n", "unknown name \"site.kernel\""},
  };
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    struct gpnn_parameters params = {0};
    assert_fails(read_text(*state, refusals[i].text, &params, &err), GPNN_EDATA,
                 refusals[i].wanted);
    assert_int_equal(params.grid.n_factors, 0);
    assert_null(params.grid.factor);
  }
}

static void names_that_would_not_read_back_are_not_written(void **state)
{
  struct place *place = *state;
  struct gpnn_parameters params = {0};
  struct gpnn_output *output = NULL;
  assert_ok(read_text(place, nordic, &params, &err));
  free(params.grid.factor[1].name);
  params.grid.factor[1].name = strdup("day of year");
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_fails(gpnn_parameters_write(&params, 1, output, &err), GPNN_EDATA,
               "factor \"day of year\": the name of a factor is");
  gpnn_output_abandon(output);
  gpnn_parameters_release(&params);
}

/* ---- datasets ----------------------------------------------------------------------------- */

/* 'from' with 'old' replaced by 'new', read. */
static void read_changed(const struct place *place, const char *from, const char *old,
                         const char *new, struct gpnn_parameters *params)
{
  char text[2000];
  const char *at = strstr(from, old);
  assert_non_null(at);
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - from), from, new, at + strlen(old));
  assert_ok(read_text(place, text, params, &err));
}

static void assert_mismatch(const struct place *place, const struct gpnn_dataset *dataset,
                            const char *from, const char *old, const char *new, const char *wanted)
{
  struct gpnn_parameters params = {0};
  bool other = false;
  read_changed(place, from, old, new, &params);
  assert_fails(gpnn_parameters_check(&params, dataset, &other, &err), GPNN_EMISMATCH, wanted);
  gpnn_parameters_release(&params);
}

static void parameters_are_compared_with_the_grid(void **state)
{
  static const char *const labels[] = {"a", "b", "c"};
  const struct gpnn_grid_factor factors[] = {{.name = "site", .n = 5, .d = 2},
                                             {.name = "time", .n = 7, .d = 1}};
  const struct gpnn_grid_factor tasks[] = {{.name = "machine", .n = 4, .d = 1},
                                           {.name = "sensor", .n = 3, .d = 1, .labels = labels}};
  const struct gpnn_grid grid = {.n_factors = 2, .factor = factors};
  const struct gpnn_grid task_grid = {.n_factors = 2, .factor = tasks};
  const struct gpnn_dataset dataset = {.d = 3, .n_groups = 3, .grid = &grid};
  const struct gpnn_dataset task_dataset = {.d = 2, .n_groups = 2, .grid = &task_grid};
  const struct gpnn_dataset rows = {.d = 3, .n_groups = 3};
  struct gpnn_parameters params = {0};
  bool other = true;
  assert_ok(read_text(*state, nordic, &params, &err));
  assert_ok(gpnn_parameters_check(&params, &dataset, &other, &err));
  assert_false(other);
  assert_fails(gpnn_parameters_check(&params, &rows, &other, &err), GPNN_EMISMATCH,
               "the parameters are of a grid, expected those of rows");
  gpnn_parameters_release(&params);
  assert_ok(read_text(*state, sensors, &params, &err));
  assert_ok(gpnn_parameters_check(&params, &task_dataset, &other, &err));
  gpnn_parameters_release(&params);
  assert_mismatch(*state, &dataset, "kernel rbf\nlengthscale 1\n" REST, "1", "1",
                  "the parameters are of rows, but the index is a grid");
  assert_mismatch(*state, &dataset, BOTH SITE TIME REST, BOTH,
                  "factors site time b\nb.kernel exp\nb.lengthscale 1\n", "have 3 factors");
  assert_mismatch(*state, &dataset,
                  "factors site day\nday.kernel exp\nday.lengthscale 1\n" SITE REST, "d", "d",
                  "factor 2 of the parameters is day, that of the index time");
  assert_mismatch(*state, &dataset, nordic, "0.7\t1.1", "1\t1\t1",
                  "factor site have 3 lengthscales, the index has 2 columns");
  assert_mismatch(*state, &dataset, nordic,
                  "matern32\nsite.inputs\tranks\nsite.lengthscale\t0.7\t1.1",
                  "periodic\nsite.lengthscale 1\nsite.period 1", "factor site have a period");
  assert_mismatch(*state, &dataset, nordic, "factor-mean", "time.noise 1 2\nfactor-mean",
                  "the noise of 2 levels of factor time, the index has 7");
  assert_mismatch(*state, &dataset, BOTH "site.kernel icm\nsite.own 1 1 1 1 1\n" TIME REST, TIME,
                  TIME "site.loadings 1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1\n",
                  "factor site is icm, the index has 2 columns");
  assert_mismatch(*state, &task_dataset, sensors,
                  "icm:2\nsensor.loadings\t1\t-0.5\t0\t2\t0.25\t0\nsensor.own\t0.1\t0.2\t0.3",
                  "icm\nsensor.loadings\t1 0 0 1\nsensor.own 1 1", "of 2 tasks, the index has 3");
  assert_mismatch(*state, &task_dataset,
                  "factors machine sensor\nmachine.kernel rbf\n"
                  "machine.lengthscale 1\nsensor.kernel rbf\nsensor.lengthscale 1\n" REST,
                  "1", "1", "factor sensor has names in the index");
}

/* ---- numbers by name ------------------------------------------------------------------------ */

static void numbers_are_set_by_name(void **state)
{
  struct gpnn_parameters params = {0};
  struct gpnn_grid_numbers set;
  assert_ok(read_text(*state, nordic, &params, &err));
  const struct gpnn_factor *site = &params.grid.factor[0], *time = &params.grid.factor[1];
  assert_ok(gpnn_parameters_grid_set(&params, "time.period", "7", &set, &err));
  assert_true(time->term[1].period == 7);
  assert_true(set.factor == 1 && set.first == 0 && set.n == 1);
  assert_string_equal(set.name, "period");
  assert_ok(gpnn_parameters_grid_set(&params, "time.lengthscale", "3", &set, &err));
  assert_true(time->term[0].lengthscale[0] == 3 && time->term[1].lengthscale[0] == 3);
  assert_true(set.factor == 1 && set.first == 0 && set.n == 2);
  assert_ok(gpnn_parameters_grid_set(&params, "time.lengthscale:2", "5", &set, &err));
  assert_true(time->term[0].lengthscale[0] == 3 && time->term[1].lengthscale[0] == 5);
  assert_true(set.first == 1 && set.n == 1);
  assert_ok(gpnn_parameters_grid_set(&params, "site.lengthscale", "0.25,0.5", NULL, &err));
  assert_true(site->term[0].lengthscale[0] == 0.25 && site->term[0].lengthscale[1] == 0.5);
  assert_ok(gpnn_parameters_grid_set(&params, "site.nugget", "0", NULL, &err));
  assert_true(site->nugget == 0);
  assert_ok(gpnn_parameters_grid_set(&params, "kernelscale", "0.5", &set, &err));
  assert_true(params.covariance.kernelscale == 0.5 && set.factor == GPNN_GRID_FACTORS);
  assert_ok(gpnn_parameters_grid_set(&params, "noise", "0", &set, &err));
  assert_true(params.covariance.noise == 0);
  assert_string_equal(set.name, "noise");
  gpnn_parameters_release(&params);
  assert_ok(read_text(*state, sensors, &params, &err));
  assert_ok(gpnn_parameters_grid_set(&params, "sensor.loadings:4", "-3", NULL, &err));
  assert_true(params.grid.factor[1].loadings[3] == -3);
  assert_ok(gpnn_parameters_grid_set(&params, "sensor.own:1", "9", NULL, &err));
  assert_true(params.grid.factor[1].own[0] == 9);
  assert_ok(gpnn_parameters_grid_set(&params, "sensor.noise:3", "9", NULL, &err));
  assert_true(params.grid.noise[2] == 9);
  gpnn_parameters_release(&params);
}

static void numbers_that_there_are_not_or_cannot_be_are_refused(void **state)
{
  static const struct {
    const char *name, *value, *wanted;
  } refusals[] = {
      {"time.period", "-365", "time.period: not a positive number: \"-365\""},
      {"time.period", "0", "not a positive number"},
      {"time.period", "1e200", "not between 1e-100 and 1e100"},
      {"time.period", "", "not a positive number: \"\""},
      {"time.period", "1,", "not a positive number: \"\""},
      {"time.period", "1,2", "time.period: 2 values, expected 1"},
      {"time.period:2", "1", "\"time.period:2\": there are only 1"},
      {"time.period:0", "1", "behind the colon stands which number"},
      {"time.period:x", "1", "behind the colon stands which number"},
      {"site.lengthscale", "1,2,3", "3 values, expected 1 or 2"},
      {"site.lengthscale", "1,x", "not a positive number: \"x\""},
      {"site.period", "1", "factor site with kernel matern32 has no such number"},
      {"site.kernel", "rbf", "has no such number"},
      {"site.colour", "1", "has no such number"},
      {"time.noise", "1", "has no such number"},
      {"place.nugget", "1", "\"place.nugget\": the grid has no such factor"},
      {"site.nugget", "-1", "not a non-negative number"},
      {"period", "1", "\"period\" is not a parameter: expected kernelscale, noise"},
      {"kernelscale", "0", "kernelscale: not a positive number"},
      {"noise", "-1", "noise: not a non-negative number"},
  };
  struct gpnn_parameters params = {0};
  char text[2000];
  assert_ok(read_text(*state, nordic, &params, &err));
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    assert_fails(gpnn_parameters_grid_set(&params, refusals[i].name, refusals[i].value, NULL, &err),
                 GPNN_EINVAL, refusals[i].wanted);
  write_text(*state, &params);
  read_back(*state, text, sizeof text);
  assert_string_equal(text, nordic);
  gpnn_parameters_release(&params);
}

static void units_change_the_noise_of_levels(void **state)
{
  struct gpnn_parameters params = {0};
  assert_ok(read_text(*state, sensors, &params, &err));
  assert_ok(gpnn_parameters_change_units(&params, 0, 2, &err));
  assert_near(params.grid.noise[1], 0.08, 1e-15);
  assert_near(params.covariance.kernelscale, 4, 0);
  gpnn_parameters_release(&params);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_documented_text_is_what_it_says),
      cmocka_unit_test(tasks_and_their_noise_read_back),
      cmocka_unit_test(lines_of_factors_have_no_order),
      cmocka_unit_test(any_grid_reads_back_the_same),
      cmocka_unit_test(targets_on_one_grid_have_factors_each),
      cmocka_unit_test(texts_that_are_not_whole_or_right_are_refused),
      cmocka_unit_test(names_that_would_not_read_back_are_not_written),
      cmocka_unit_test(parameters_are_compared_with_the_grid),
      cmocka_unit_test(numbers_are_set_by_name),
      cmocka_unit_test(numbers_that_there_are_not_or_cannot_be_are_refused),
      cmocka_unit_test(units_change_the_noise_of_levels),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
