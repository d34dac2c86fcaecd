/* The lines of parameters that say how they were estimated. */

#include <unistd.h>

#include "kernel/parameters.h"
#include "unit.h"

#define BASE "kernel\texp\nlengthscale\t0.5\nkernelscale\t0.9\nnoise\t0.1\nneighbours\t64\n"

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

/* Reads BASE and these lines. */
static enum gpnn_status read_lines(const struct place *place, const char *lines,
                                   struct gpnn_parameters *params, struct gpnn_error *error)
{
  FILE *file = fopen(place->path, "wb");
  assert_non_null(file);
  assert_true(fprintf(file, "%s%s", BASE, lines) > 0);
  assert_int_equal(fclose(file), 0);
  return gpnn_parameters_read_one(params, place->path, error);
}

/* What is written for these lines. */
static void rewrite(const struct place *place, const char *lines, char *text, size_t size)
{
  struct gpnn_parameters params = {0};
  struct gpnn_output *output = NULL;
  static const char begin[] = "# gpnn parameters 1\n" BASE;
  char all[1000];
  assert_ok(read_lines(place, lines, &params, &err));
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_parameters_write(&params, 1, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  gpnn_parameters_release(&params);
  FILE *file = fopen(place->path, "rb");
  assert_non_null(file);
  all[fread(all, 1, sizeof all - 1, file)] = '\0';
  fclose(file);
  assert_memory_equal(all, begin, strlen(begin));
  snprintf(text, size, "%s", all + strlen(begin));
}

static void lines_read_back_as_they_were_written(void **state)
{
  static const char *const texts[] = {
      "fit-rows\t140\nfit-seed\t18446744073709551615\nfit-objective\tloo\t32\t1500\nfit-thin\t0\n"
      "fit-options\tlearnt-rotation\tshared-lengthscales\tshared-ratio\tfixed-lengthscale\t"
      "fixed-kernelscale\tfixed-noise\n",
      "fit-rows\t300\nfit-seed\t0\nfit-objective\tblock\t10\t300\n",
      "fit-rows\t20\nfit-seed\t3\nfit-objective\tmll-k\t16\t9\nfit-thin\t0.05\n",
      "fit-rows\t1\nfit-seed\t3\nfit-objective\tvecchia\t1\t1000000\nfit-options\tfixed-noise\n",
      "fit-rows\t8000\n",
      "",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char back[1000];
    rewrite(*state, texts[i], back, sizeof back);
    assert_string_equal(back, texts[i]);
  }
}

static void the_lines_mean_what_they_say(void **state)
{
  struct gpnn_parameters params = {0};
  const struct gpnn_estimation *estimation = &params.provenance.estimation;
  assert_ok(read_lines(*state,
                       "fit-options  fixed-noise   shared-ratio \r\nfit-objective loo 32 1500\n"
                       "fit-seed 7\nfit-thin 0.1\n",
                       &params, &err));
  assert_int_equal(estimation->objective, GPNN_OBJECTIVE_LOO);
  assert_int_equal(estimation->k, 32);
  assert_int_equal(estimation->steps, 1500);
  assert_int_equal(estimation->n_blocks, 0);
  assert_int_equal(estimation->seed, 7);
  assert_true(estimation->has_thin && estimation->thin == 0.1);
  assert_true(estimation->fixed_noise && estimation->shared_ratio);
  assert_false(estimation->fixed_lengthscale || estimation->learnt_rotation);
  gpnn_parameters_release(&params);
  assert_ok(read_lines(*state, "fit-objective block 4 200\n", &params, &err));
  assert_int_equal(estimation->n_blocks, 4);
  assert_int_equal(estimation->block_size, 200);
  assert_false(estimation->has_thin);
  gpnn_parameters_release(&params);
}

static void bad_values_are_refused(void **state)
{
  static const struct {
    const char *lines, *wanted;
  } refusals[] = {
      {"fit-seed -1\n", "x.par:6: fit-seed: not a whole number from 0 to 18446744073709551615"},
      {"fit-seed 1 2\n", "fit-seed: more than one value"},
      {"fit-objective none 1 1\n", "\"none\" is not one of block, loo, mll-k, vecchia"},
      {"fit-objective lo 1 1\n", "\"lo\" is not one of"},
      {"fit-objective loo\n", "fit-objective: not a whole number from 1 to 1000000: \"\""},
      {"fit-objective loo 0 1\n", "fit-objective: not a whole number from 1 to 1000000: \"0\""},
      {"fit-objective loo 8 1e3\n", "not a whole number from 1 to 1000000: \"1e3\""},
      {"fit-objective block 10 1000001\n", "not a whole number from 1 to 1000000"},
      {"fit-objective block 10 300 7\n", "fit-objective: more than two numbers"},
      {"fit-thin -0.1\n", "fit-thin: not a non-negative number: \"-0.1\""},
      {"fit-thin x\n", "fit-thin: not a non-negative number"},
      {"fit-options fixed-noise fast\n", "fit-options: unknown: \"fast\""},
      {"fit-options\n", "fit-options: has no value"},
      {"fit-seed 1\nfit-seed 1\n", "fit-seed"},
  };
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    struct gpnn_parameters params = {0};
    assert_fails(read_lines(*state, refusals[i].lines, &params, &err), GPNN_EDATA,
                 refusals[i].wanted);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_read_back_as_they_were_written),
      cmocka_unit_test(the_lines_mean_what_they_say),
      cmocka_unit_test(bad_values_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
