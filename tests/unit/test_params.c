#include "unit.h"

#include <unistd.h>

#include "data/sections.h"
#include "models/params.h"

struct place {
  char dir[200], path[240];
};

static int set_up(void **state)
{
  struct place *place = calloc(1, sizeof *place);
  const char *tmp = getenv("TMPDIR");
  if (place == NULL) return -1;
  snprintf(place->dir, sizeof place->dir, "%s/gpnn-params-XXXXXX", tmp == NULL ? "/tmp" : tmp);
  if (mkdtemp(place->dir) == NULL) return -1;
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

static void put(const struct place *place, const char *bytes, size_t length)
{
  FILE *file = fopen(place->path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static enum gpnn_status read_text(const struct place *place, const char *text,
                                  struct gpnn_params *params, struct gpnn_error *err)
{
  put(place, text, strlen(text));
  return gpnn_params_read(params, place->path, err);
}

/* The text is refused, with 'wanted' in the sentence and nothing in the parameters. */
static void assert_refused(void **state, const char *text, enum gpnn_status status,
                           const char *wanted)
{
  struct gpnn_params params = {0};
  assert_fails(read_text(*state, text, &params, &err), status, wanted);
  assert_null(params.kernel);
  assert_null(params.lengthscale);
}

#define BASE "kernel\texp\nlengthscale\t0.5\nkernelscale\t0.9\nnoise\t0.1\n"

static void least_file_has_defaults(void **state)
{
  struct gpnn_params params = {0};
  assert_ok(read_text(*state, BASE, &params, &err));
  assert_ptr_equal(params.kernel, gpnn_kernel_by_name("exp"));
  assert_int_equal(params.n_lengthscales, 1);
  assert_true(params.lengthscale[0] == 0.5);
  assert_true(params.kernelscale == 0.9 && params.noise == 0.1);
  assert_int_equal(params.neighbours, 400);
  assert_false(params.has_calibration);
  assert_false(params.has_index);
  gpnn_params_release(&params);
}

static void hand_made_file_is_read(void **state)
{
  struct gpnn_params params = {0};
  assert_ok(read_text(*state,
                      "\xef\xbb\xbf# gpnn parameters 1\r\n\r\n  # a note\r\nnoise   0\r\n"
                      "neighbours 32\r\nlengthscale 1 2\t 3e-1 \r\nindex 9F0C2A7BE1D4407A\r\n"
                      "  kernelscale\t+2.5\r\ncalibration 1.072\r\nkernel matern12",
                      &params, &err));
  assert_ptr_equal(params.kernel, gpnn_kernel_by_name("exp"));
  assert_int_equal(params.n_lengthscales, 3);
  assert_true(params.lengthscale[2] == 0.3);
  assert_true(params.noise == 0 && params.kernelscale == 2.5);
  assert_int_equal(params.neighbours, 32);
  assert_true(params.has_calibration && params.calibration == 1.072);
  assert_true(params.has_index && params.index == 0x9f0c2a7be1d4407au);
  gpnn_params_release(&params);
}

static void written_parameters_read_back_exactly(void **state)
{
  struct place *place = *state;
  double lengthscale[] = {0.1, 1.0 / 3, 1e-300};
  struct gpnn_params params = {.kernel = gpnn_kernel_by_name("matern52"),
                               .n_lengthscales = 3,
                               .lengthscale = lengthscale,
                               .kernelscale = 2.0 / 3,
                               .noise = 4.9e-324,
                               .neighbours = 17,
                               .has_calibration = true,
                               .calibration = 1.1,
                               .has_index = true,
                               .index = 0x1234};
  struct gpnn_params back = {0};
  struct gpnn_output *output = NULL;
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_params_write(&params, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  assert_ok(gpnn_params_read(&back, place->path, &err));
  assert_ptr_equal(back.kernel, params.kernel);
  assert_int_equal(back.n_lengthscales, 3);
  assert_memory_equal(back.lengthscale, lengthscale, sizeof lengthscale);
  assert_true(back.kernelscale == params.kernelscale && back.noise == params.noise);
  assert_int_equal(back.neighbours, 17);
  assert_true(back.has_calibration && back.calibration == 1.1);
  assert_true(back.has_index && back.index == 0x1234);
  gpnn_params_release(&back);
}

static void written_text_is_the_documented_one(void **state)
{
  struct place *place = *state;
  char text[400] = "";
  struct gpnn_params params = {0};
  struct gpnn_output *output = NULL;
  assert_ok(read_text(place, BASE "index\t0000000000001234\n", &params, &err));
  assert_ok(gpnn_params_comment(&params, &err, "rows %d", 3000));
  assert_ok(gpnn_params_comment(&params, &err, "from a\nb"));
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_params_write(&params, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  gpnn_params_release(&params);
  FILE *file = fopen(place->path, "rb");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, "# gpnn parameters 1\n# rows 3000\n# from a b\n" BASE
                            "neighbours\t400\nindex\t0000000000001234\n");
  assert_ok(gpnn_params_read(&params, place->path, &err));
  assert_string_equal(params.comments, "# rows 3000\n# from a b\n");
  gpnn_params_release(&params);
}

static void later_version_is_refused(void **state)
{
  assert_refused(state, "# gpnn parameters 2\n" BASE, GPNN_EVERSION, "version 2");
  struct gpnn_params params = {0};
  /* Only as the first line, and only as a number of its own. */
  assert_ok(read_text(*state, "# mine\n# gpnn parameters 2\n" BASE, &params, &err));
  gpnn_params_release(&params);
  assert_ok(read_text(*state, "# gpnn parameters\n" BASE, &params, &err));
  gpnn_params_release(&params);
}

static void unknown_repeated_and_missing_names_are_refused(void **state)
{
  assert_refused(state, BASE "nois\t1\n", GPNN_EDATA, "x.par:5: unknown name \"nois\"");
  assert_refused(state, BASE "noise\t1\n", GPNN_EDATA, "x.par:5: noise: given a second time");
  assert_refused(state, "kernel rbf\nlengthscale 1\nnoise 1\n", GPNN_EDATA,
                 "x.par: kernelscale is missing");
  assert_refused(state, "# gpnn parameters 1\n", GPNN_EDATA, "kernel is missing");
}

static void values_out_of_range_are_refused(void **state)
{
  assert_refused(state, "kernel cubic\n", GPNN_EDATA,
                 "x.par:1: kernel: \"cubic\" is none of exp, matern32, matern52, rbf");
  assert_refused(state, "lengthscale 0\n", GPNN_EDATA, "lengthscale: not a positive number: \"0\"");
  assert_refused(state, "lengthscale 1 x\n", GPNN_EDATA, "lengthscale: not a positive number");
  assert_refused(state, "lengthscale\n", GPNN_EDATA, "lengthscale: has no value");
  assert_refused(state, "kernelscale -1\n", GPNN_EDATA, "kernelscale: not a positive number");
  assert_refused(state, "kernelscale nan\n", GPNN_EDATA, "kernelscale: not a positive number");
  assert_refused(state, "kernelscale 1 2\n", GPNN_EDATA, "kernelscale: more than one value");
  assert_refused(state, "noise -0.1\n", GPNN_EDATA, "noise: not a non-negative number");
  assert_refused(state, "noise inf\n", GPNN_EDATA, "noise: not a non-negative number");
  assert_refused(state, "neighbours 0\n", GPNN_EDATA, "neighbours: not a whole number from 1");
  assert_refused(state, "neighbours 1.5\n", GPNN_EDATA, "neighbours: not a whole number");
  assert_refused(state, "neighbours 99999999999\n", GPNN_EDATA, "neighbours: not a whole number");
  assert_refused(state, "calibration 0\n", GPNN_EDATA, "calibration: not a positive number");
  assert_refused(state, "index 123\n", GPNN_EDATA, "index: not a fingerprint of 16");
  assert_refused(state, "index 000000000000000g\n", GPNN_EDATA, "index: not a fingerprint");
}

static void other_kinds_of_file_are_told_as_such(void **state)
{
  struct place *place = *state;
  struct gpnn_params params = {0};
  assert_refused(state, "", GPNN_EDATA, "x.par: no parameters: empty input");
  assert_refused(state, "lat,lon,price\n1,2,3\n", GPNN_EDATA,
                 "x.par:1: unknown name \"lat,lon,price\": is this a table?");
  put(place, GPNN_SECTIONS_MAGIC "\0\1\2", GPNN_SECTIONS_MAGIC_BYTES + 3);
  assert_fails(gpnn_params_read(&params, place->path, &err), GPNN_EMISMATCH,
               "x.par is an index, not parameters: did you swap the operands?");
}

static void control_bytes_are_masked_in_messages(void **state)
{
  assert_refused(state, "ker\x1b[31m 1\n", GPNN_EDATA, "unknown name \"ker?[31m\"");
}

static void check_compares_columns_and_index(void **state)
{
  (void)state;
  double lengthscale[] = {1, 2};
  struct gpnn_params params = {.n_lengthscales = 2, .lengthscale = lengthscale};
  bool other = true;
  assert_ok(gpnn_params_check(&params, 2, 5, &other, &err));
  assert_false(other);
  params.has_index = true;
  params.index = 6;
  assert_ok(gpnn_params_check(&params, 2, 5, &other, &err));
  assert_true(other);
  assert_fails(gpnn_params_check(&params, 3, 6, &other, &err), GPNN_EMISMATCH,
               "2 lengthscales, the index has 3 inputs");
  params.n_lengthscales = 1;
  assert_ok(gpnn_params_check(&params, 3, 6, &other, &err));
  assert_false(other);
}

static void expand_repeats_a_single_lengthscale(void **state)
{
  (void)state;
  double lengthscale[] = {4, 5}, out[2];
  struct gpnn_params params = {.n_lengthscales = 2, .lengthscale = lengthscale};
  gpnn_params_expand(&params, 2, (const uint32_t[]){0, 1}, out);
  assert_true(out[0] == 4 && out[1] == 5);
  params.n_lengthscales = 1;
  gpnn_params_expand(&params, 2, (const uint32_t[]){0, 1}, out);
  assert_true(out[0] == 4 && out[1] == 4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(least_file_has_defaults),
      cmocka_unit_test(hand_made_file_is_read),
      cmocka_unit_test(written_parameters_read_back_exactly),
      cmocka_unit_test(written_text_is_the_documented_one),
      cmocka_unit_test(later_version_is_refused),
      cmocka_unit_test(unknown_repeated_and_missing_names_are_refused),
      cmocka_unit_test(values_out_of_range_are_refused),
      cmocka_unit_test(other_kinds_of_file_are_told_as_such),
      cmocka_unit_test(control_bytes_are_masked_in_messages),
      cmocka_unit_test(check_compares_columns_and_index),
      cmocka_unit_test(expand_repeats_a_single_lengthscale),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
