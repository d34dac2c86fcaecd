#include "unit.h"

#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "container/container.h"
#include "container/state.h"
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

static void put(const struct place *place, const char *bytes, size_t length)
{
  FILE *file = fopen(place->path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static enum gpnn_status read_text(const struct place *place, const char *text,
                                  struct gpnn_parameters *params, struct gpnn_error *err)
{
  put(place, text, strlen(text));
  return gpnn_parameters_read_one(params, place->path, err);
}

/* The text is refused, with 'wanted' in the sentence and nothing in the parameters. */
static void assert_refused(void **state, const char *text, enum gpnn_status status,
                           const char *wanted)
{
  struct gpnn_parameters params = {0};
  assert_fails(read_text(*state, text, &params, &err), status, wanted);
  assert_null(params.covariance.kernel);
  assert_null(params.covariance.lengthscale);
}

/* Texts that are GPNN_EDATA, each with a part of its message. */
struct refusal {
  const char *text, *wanted;
};

static void assert_all_refused(void **state, size_t n, const struct refusal *refusals)
{
  for (size_t i = 0; i < n; i++)
    assert_refused(state, refusals[i].text, GPNN_EDATA, refusals[i].wanted);
}

#define BASE "kernel\texp\nlengthscale\t0.5\nkernelscale\t0.9\nnoise\t0.1\n"

static void least_file_has_defaults(void **state)
{
  struct gpnn_parameters params = {0};
  assert_ok(read_text(*state, BASE, &params, &err));
  assert_ptr_equal(params.covariance.kernel, gpnn_kernel_by_name("exp"));
  assert_int_equal(params.covariance.n_lengthscales, 1);
  assert_true(params.covariance.lengthscale[0] == 0.5);
  assert_true(params.covariance.kernelscale == 0.9 && params.covariance.noise == 0.1);
  assert_int_equal(params.neighbours, 400);
  assert_false(params.calibration.has_factor);
  assert_false(params.provenance.has_index);
  gpnn_parameters_release(&params);
}

static void hand_made_file_is_read(void **state)
{
  struct gpnn_parameters params = {0};
  assert_ok(read_text(*state,
                      "\xef\xbb\xbf# gpnn parameters 1\r\n\r\n  # a note\r\nnoise   0\r\n"
                      "neighbours 32\r\nlengthscale 1 2\t 3e-1 \r\nindex 9F0C2A7BE1D4407A\r\n"
                      "  kernelscale\t+2.5\r\ncalibration 1.072\r\nkernel matern12",
                      &params, &err));
  assert_ptr_equal(params.covariance.kernel, gpnn_kernel_by_name("exp"));
  assert_int_equal(params.covariance.n_lengthscales, 3);
  assert_true(params.covariance.lengthscale[2] == 0.3);
  assert_true(params.covariance.noise == 0 && params.covariance.kernelscale == 2.5);
  assert_int_equal(params.neighbours, 32);
  assert_true(params.calibration.has_factor && params.calibration.factor == 1.072);
  assert_true(params.provenance.has_index && params.provenance.index == 0x9f0c2a7be1d4407au);
  assert_string_equal(params.provenance.comments, "# a note\n");
  gpnn_parameters_release(&params);
}

/* Whatever its length, no comment comes to be the line of the format. */
static void comments_are_cut_before_they_are_looked_at(void **state)
{
  enum { ZEROS = 484 };
  struct gpnn_parameters params = {0};
  char text[1000];
  snprintf(text, sizeof text, "#gpnn parameters %0*dx\n# a \t \r\n" BASE, ZEROS, 1);
  assert_ok(read_text(*state, text, &params, &err));
  assert_string_equal(params.provenance.comments, "# a\n");
  gpnn_parameters_release(&params);
  assert_ok(
      read_text(*state, "# a\rb\n#gpnn parameters\r2\n# gpnn\rparameters 2\n" BASE, &params, &err));
  assert_string_equal(params.provenance.comments, "# a b\n");
  gpnn_parameters_release(&params);
}

static void a_nul_byte_is_refused_on_any_line(void **state)
{
  static const char *const lines[] = {"# a\0b\n", "target a\0b\n", "kernel rbf\0b\n", "\0\0\0\0\n"};
  static const size_t lengths[] = {6, 11, 13, 5};
  struct place *place = *state;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    struct gpnn_parameters params = {0};
    put(place, lines[i], lengths[i]);
    assert_fails(gpnn_parameters_read_one(&params, place->path, &err), GPNN_EDATA,
                 "x.par:1: holds a NUL byte");
  }
}

static void written_parameters_read_back_exactly(void **state)
{
  struct place *place = *state;
  double lengthscale[] = {0.1, 1.0 / 3, 1e-300};
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("matern52"),
                                   .covariance.n_lengthscales = 3,
                                   .covariance.lengthscale = lengthscale,
                                   .covariance.kernelscale = 2.0 / 3,
                                   .covariance.noise = 4.9e-324,
                                   .neighbours = 17,
                                   .provenance.fit_rows = 8000,
                                   .calibration.has_factor = true,
                                   .calibration.factor = 1.1,
                                   .provenance.has_index = true,
                                   .provenance.index = 0x1234};
  struct gpnn_parameters back = {0};
  struct gpnn_output *output = NULL;
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_parameters_write(&params, 1, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  assert_ok(gpnn_parameters_read_one(&back, place->path, &err));
  assert_ptr_equal(back.covariance.kernel, params.covariance.kernel);
  assert_int_equal(back.covariance.n_lengthscales, 3);
  assert_memory_equal(back.covariance.lengthscale, lengthscale, sizeof lengthscale);
  assert_true(back.covariance.kernelscale == params.covariance.kernelscale &&
              back.covariance.noise == params.covariance.noise);
  assert_int_equal(back.neighbours, 17);
  assert_int_equal(back.provenance.fit_rows, 8000);
  assert_true(back.calibration.has_factor && back.calibration.factor == 1.1);
  assert_true(back.provenance.has_index && back.provenance.index == 0x1234);
  gpnn_parameters_release(&back);
}

static void written_text_is_the_documented_one(void **state)
{
  struct place *place = *state;
  char text[400] = "";
  struct gpnn_parameters params = {0};
  struct gpnn_output *output = NULL;
  assert_ok(read_text(place, BASE "index\t0000000000001234\n", &params, &err));
  assert_ok(gpnn_parameters_comment(&params, &err, "rows %d", 3000));
  assert_ok(gpnn_parameters_comment(&params, &err, "from a\nb"));
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_parameters_write(&params, 1, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  gpnn_parameters_release(&params);
  FILE *file = fopen(place->path, "rb");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, "# gpnn parameters 1\n# rows 3000\n# from a b\n" BASE
                            "neighbours\t400\nindex\t0000000000001234\n");
  assert_ok(gpnn_parameters_read_one(&params, place->path, &err));
  assert_string_equal(params.provenance.comments, "# rows 3000\n# from a b\n");
  gpnn_parameters_release(&params);
}

/* ---- every field, there and back ------------------------------------------------------------ */

/* A number of any size; of either sign where 'low' is negative, else above it. */
static double any_real(struct gpnn_rng *rng, double low)
{
  double size = exp(40 * gpnn_rng_uniform(rng) - 20) * (1 + gpnn_rng_uniform(rng));
  if (low < 0 && gpnn_rng_uniform(rng) < 0.5) return -size;
  return low < 0 ? size : low + size;
}

static double *any_list(struct gpnn_rng *rng, size_t n, double low)
{
  double *list = gpnn_alloc(n, 1, sizeof *list);
  assert_non_null(list);
  for (size_t i = 0; i < n; i++) list[i] = any_real(rng, low);
  return list;
}

static bool toss(struct gpnn_rng *rng)
{
  return gpnn_rng_uniform(rng) < 0.5;
}

static size_t any_count(struct gpnn_rng *rng, size_t most)
{
  return 1 + (size_t)((double)most * gpnn_rng_uniform(rng));
}

static void any_mean(struct gpnn_rng *rng, struct gpnn_parameters *params)
{
  params->mean.kind = (enum gpnn_mean)(any_count(rng, 4) - 1);
  if (params->mean.kind == GPNN_MEAN_ZERO) return;
  size_t p = params->mean.kind == GPNN_MEAN_CONSTANT ? 1 : any_count(rng, 6);
  params->mean.n_coefficients = p;
  params->mean.coefficients = any_list(rng, p, -1);
  if (toss(rng)) return;
  params->mean.covariance = any_list(rng, p * p, 0);
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j < i; j++) {
      double *v = params->mean.covariance, most = sqrt(v[i * p + i]) * sqrt(v[j * p + j]) / 6;
      v[i * p + j] = v[j * p + i] = most * (2 * gpnn_rng_uniform(rng) - 1);
    }
}

static void any_calibration(struct gpnn_rng *rng, struct gpnn_parameters *params)
{
  params->calibration.has_factor = toss(rng);
  if (params->calibration.has_factor) params->calibration.factor = any_real(rng, 0);
  if (toss(rng)) {
    size_t n = any_count(rng, 5);
    params->calibration.n_conformal = n;
    params->calibration.conformal_level = gpnn_alloc(n, 1, sizeof(double));
    params->calibration.conformal_width = any_list(rng, n, 0);
    for (size_t i = 0; i < n; i++)
      params->calibration.conformal_level[i] = ((double)i + gpnn_rng_uniform(rng)) / (double)n;
  }
  params->calibration.has_distance = toss(rng);
  for (size_t i = 0; params->calibration.has_distance && i < GPNN_N_DISTANCES; i++)
    params->calibration.distance[i] =
        any_real(rng, 0) + (i == 0 ? 0 : params->calibration.distance[i - 1]);
}

static void any_scale(struct gpnn_rng *rng, struct gpnn_parameters *params)
{
  params->likelihood = (enum gpnn_likelihood)(any_count(rng, 3) - 1);
  if (params->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) return;
  params->scale.factor = toss(rng) ? 0 : 1e-3 + gpnn_rng_uniform(rng);
  for (int j = 0; params->likelihood == GPNN_LIKELIHOOD_LOCAL && j < GPNN_SCALE_FEATURES; j++)
    if (toss(rng))
      params->scale.term[j] = (struct gpnn_scale_term){gpnn_rng_normal(rng), -gpnn_rng_uniform(rng),
                                                       gpnn_rng_uniform(rng)};
}

static void any_transform(struct gpnn_rng *rng, struct gpnn_transform *transform)
{
  enum { N = 40 };
  double y[N];
  for (size_t i = 0; i < N; i++) y[i] = any_real(rng, 0);
  enum gpnn_transform_kind kind = (enum gpnn_transform_kind)(any_count(rng, 6) - 1);
  if (kind != GPNN_TRANSFORM_NONE) assert_ok(gpnn_transform_fit(transform, kind, N, y, &err));
}

/* Without what only the first member of a target has. */
static struct gpnn_parameters any_member(struct gpnn_rng *rng)
{
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_at(any_count(rng, 5) - 1)};
  if (gpnn_kernel_needs_smoothness(params.covariance.kernel))
    params.covariance.smoothness = 100 * gpnn_rng_uniform(rng);
  params.covariance.n_lengthscales = any_count(rng, 4);
  params.covariance.lengthscale = any_list(rng, params.covariance.n_lengthscales, 0);
  params.covariance.kernelscale = any_real(rng, 0);
  params.covariance.noise = toss(rng) ? 0 : any_real(rng, 0);
  any_mean(rng, &params);
  params.neighbours = any_count(rng, 1000);
  params.provenance.fit_rows = any_count(rng, 3) - 1;
  for (size_t i = any_count(rng, 3); i > 1; i--)
    assert_ok(gpnn_parameters_comment(&params, &err, "comment %zu", i));
  return params;
}

static void add_members(struct gpnn_rng *rng, struct gpnn_parameters *params)
{
  size_t n = any_count(rng, 4);
  params->weight = n == 1 ? 1 : 1 / (double)n + 1e-4 * gpnn_rng_uniform(rng);
  params->n_members = n - 1;
  params->members = gpnn_alloc(n - 1, 1, sizeof *params->members);
  assert_non_null(params->members);
  for (size_t k = 0; k < n - 1; k++) {
    params->members[k] = any_member(rng);
    params->members[k].weight = 1 / (double)n;
    if (toss(rng)) params->members[k].provenance.has_index = params->provenance.has_index;
    if (params->members[k].provenance.has_index)
      params->members[k].provenance.index = params->provenance.index;
  }
}

static struct gpnn_parameters any_params(struct gpnn_rng *rng, const char *target)
{
  struct gpnn_parameters params = any_member(rng);
  if (target != NULL) params.target = gpnn_copy_text(target, strlen(target));
  any_scale(rng, &params);
  if (toss(rng)) params.degrees = any_real(rng, 2);
  any_transform(rng, &params.transform);
  any_calibration(rng, &params);
  params.provenance.has_index = toss(rng);
  if (params.provenance.has_index) params.provenance.index = gpnn_rng_next(rng);
  if (toss(rng)) add_members(rng, &params);
  return params;
}

static void assert_same_list(size_t n, const double *a, const double *b)
{
  assert_int_equal(a == NULL, b == NULL);
  if (a != NULL) assert_memory_equal(a, b, n * sizeof *a);
}

static void assert_same_text(const char *a, const char *b)
{
  assert_int_equal(a == NULL, b == NULL);
  if (a != NULL) assert_string_equal(a, b);
}

static void assert_same_member(const struct gpnn_parameters *a, const struct gpnn_parameters *b)
{
  size_t p = a->mean.n_coefficients;
  assert_same_text(a->target, b->target);
  assert_ptr_equal(a->covariance.kernel, b->covariance.kernel);
  assert_true(a->covariance.smoothness == b->covariance.smoothness);
  assert_int_equal(a->covariance.n_lengthscales, b->covariance.n_lengthscales);
  assert_same_list(a->covariance.n_lengthscales, a->covariance.lengthscale,
                   b->covariance.lengthscale);
  assert_true(a->covariance.kernelscale == b->covariance.kernelscale &&
              a->covariance.noise == b->covariance.noise);
  assert_true(a->mean.kind == b->mean.kind && a->degrees == b->degrees);
  assert_true(a->likelihood == b->likelihood && a->scale.factor == b->scale.factor);
  assert_memory_equal(a->scale.term, b->scale.term, sizeof a->scale.term);
  assert_int_equal(p, b->mean.n_coefficients);
  assert_same_list(p, a->mean.coefficients, b->mean.coefficients);
  assert_same_list(p * p, a->mean.covariance, b->mean.covariance);
  assert_memory_equal(&a->transform, &b->transform, sizeof a->transform);
  assert_int_equal(a->neighbours, b->neighbours);
  assert_int_equal(a->provenance.fit_rows, b->provenance.fit_rows);
  assert_true(a->calibration.has_factor == b->calibration.has_factor &&
              a->calibration.factor == b->calibration.factor);
  assert_int_equal(a->calibration.n_conformal, b->calibration.n_conformal);
  assert_same_list(a->calibration.n_conformal, a->calibration.conformal_level,
                   b->calibration.conformal_level);
  assert_same_list(a->calibration.n_conformal, a->calibration.conformal_width,
                   b->calibration.conformal_width);
  assert_true(a->calibration.has_distance == b->calibration.has_distance);
  assert_memory_equal(a->calibration.distance, b->calibration.distance,
                      sizeof a->calibration.distance);
  assert_true(a->provenance.has_index == b->provenance.has_index &&
              a->provenance.index == b->provenance.index);
  assert_same_text(a->provenance.comments, b->provenance.comments);
  assert_true(a->weight == b->weight);
}

static void assert_same(const struct gpnn_parameters *a, const struct gpnn_parameters *b)
{
  size_t n = gpnn_parameters_n_members(a);
  assert_int_equal(n, gpnn_parameters_n_members(b));
  for (size_t k = 0; k < n; k++)
    assert_same_member(gpnn_parameters_member(a, k), gpnn_parameters_member(b, k));
}

static void write_all(const struct place *place, const struct gpnn_parameters *params, size_t n)
{
  struct gpnn_output *output = NULL;
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_parameters_write(params, n, output, &err));
  assert_ok(gpnn_output_close(output, &err));
}

static void any_parameters_read_back_the_same(void **state)
{
  static const char *const targets[] = {"y", "sale price (1000 $)", "#\t\xc3\xa9", "kernel"};
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (int round = 0; round < 300; round++) {
    struct gpnn_parameters params[4], *back = NULL;
    size_t n = any_count(&rng, 4), n_back = 0;
    for (size_t i = 0; i < n; i++)
      params[i] = any_params(&rng, n == 1 && round % 2 == 0 ? NULL : targets[i]);
    write_all(*state, params, n);
    assert_ok(gpnn_parameters_read(&back, &n_back, ((struct place *)*state)->path, &err));
    assert_int_equal(n_back, n);
    for (size_t i = 0; i < n; i++) assert_same(&params[i], &back[i]);
    for (size_t i = 0; i < n; i++) gpnn_parameters_release(&params[i]);
    gpnn_parameters_free(back, n_back);
  }
}

static void all_optional_lines_are_the_documented_ones(void **state)
{
  static const char text[] = "# gpnn parameters 1\n# a note\ntarget\ty 1\nkernel\tmatern:1.2\n"
                             "lengthscale\t0.5\nkernelscale\t0.9\nnoise\t0.1\nmean\tlinear\n"
                             "coefficients\t-1\t2\ncovariance\t4\t-1\t9\ndegrees\t4.5\n"
                             "neighbours\t64\ncalibration\t1.1\n"
                             "conformal\t0.5\t0.7\t0.95\t2.1\ndistances\t0.1\t0.2\t0.2\t3\n"
                             "index\t0000000000000007\ntarget\tz\n# of z\nkernel\trbf\n"
                             "lengthscale\t1\nkernelscale\t1\nnoise\t0\nneighbours\t400\n";
  struct place *place = *state;
  struct gpnn_parameters *params = NULL;
  char back[sizeof text + 1] = "";
  size_t n = 0;
  put(place, text, strlen(text));
  assert_ok(gpnn_parameters_read(&params, &n, place->path, &err));
  assert_int_equal(n, 2);
  assert_string_equal(params[0].target, "y 1");
  assert_true(params[0].covariance.smoothness == 1.2 && params[0].degrees == 4.5);
  assert_true(params[0].mean.covariance[1] == -1 && params[0].mean.covariance[2] == -1);
  assert_true(params[0].mean.covariance[0] == 4 && params[0].mean.covariance[3] == 9);
  assert_true(params[0].calibration.conformal_level[1] == 0.95 &&
              params[0].calibration.conformal_width[1] == 2.1);
  assert_true(params[0].calibration.has_distance && params[0].calibration.distance[3] == 3);
  assert_string_equal(params[1].provenance.comments, "# of z\n");
  write_all(place, params, n);
  FILE *file = fopen(place->path, "rb");
  assert_non_null(file);
  back[fread(back, 1, sizeof back - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(back, text);
  gpnn_parameters_free(params, n);
}

#define MEMBER(k, weight) "member " k "\n" BASE "weight " weight "\n"

static void members_follow_their_target(void **state)
{
  static const char text[] =
      "target a\n" BASE "weight 0.25\nneighbours 7\ndegrees 5\nindex 00000000000000ff\n"
      "member 2\n# of the second\nkernel rbf\nlengthscale 1 2\nkernelscale 0.5\nnoise 0.3\n"
      "weight 0.5\nneighbours 9\nindex 00000000000000ff\n" MEMBER("3", "0.25") "target b\n" BASE;
  struct gpnn_parameters *params = NULL;
  const struct place *place = *state;
  size_t n = 0;
  put(place, text, strlen(text));
  assert_ok(gpnn_parameters_read(&params, &n, place->path, &err));
  assert_int_equal(n, 2);
  assert_int_equal(gpnn_parameters_n_members(&params[0]), 3);
  assert_int_equal(gpnn_parameters_n_members(&params[1]), 1);
  const struct gpnn_parameters *second = gpnn_parameters_member(&params[0], 1);
  assert_ptr_equal(gpnn_parameters_member(&params[0], 0), &params[0]);
  assert_string_equal(second->covariance.kernel->name, "rbf");
  assert_int_equal(second->covariance.n_lengthscales, 2);
  assert_int_equal(second->neighbours, 9);
  assert_string_equal(second->provenance.comments, "# of the second\n");
  assert_null(params[0].provenance.comments);
  assert_true(gpnn_parameters_weight(&params[0], 1) == 0.5);
  assert_true(gpnn_parameters_weight(&params[1], 0) == 1);
  assert_close(gpnn_parameters_noise(&params[0]), 0.25 * 0.1 + 0.5 * 0.3 + 0.25 * 0.1, 1e-15);
  assert_true(gpnn_parameters_noise(&params[1]) == 0.1);
  gpnn_parameters_free(params, n);
}

static void weights_of_three_digits_are_made_to_sum_to_one(void **state)
{
  struct gpnn_parameters params = {0};
  assert_ok(read_text(*state, BASE "weight 0.333\n" MEMBER("2", "0.333") MEMBER("3", "0.333"),
                      &params, &err));
  for (size_t k = 0; k < 3; k++) assert_close(gpnn_parameters_weight(&params, k), 1.0 / 3, 1e-15);
  gpnn_parameters_release(&params);
}

static void there_may_be_64_members(void **state)
{
  static char text[64 * 1024];
  struct gpnn_parameters params = {0};
  size_t at = (size_t)sprintf(text, BASE "weight 0.015625\n");
  for (int k = 2; k <= GPNN_MOST_MEMBERS; k++)
    at += (size_t)sprintf(text + at, "member %d\n" BASE "weight 0.015625\n", k);
  assert_ok(read_text(*state, text, &params, &err));
  assert_int_equal(gpnn_parameters_n_members(&params), 64);
  gpnn_parameters_release(&params);
  sprintf(text + at, "member 65\n" BASE);
  assert_refused(state, text, GPNN_EDATA, "member: more than 64");
}

static void members_that_do_not_go_together_are_refused(void **state)
{
  static const struct refusal refusals[] = {
      {BASE "weight 0.5\n" MEMBER("3", "0.5"), "x.par:6: member: expected 2, not \"3\""},
      {BASE "weight 0.5\n" MEMBER("2 2", "0.5"), "x.par:6: member: expected 2"},
      {BASE "weight 0.5\nmember\n", "x.par:6: member: expected 2, not \"\""},
      {"member 2\n" BASE, "kernel is missing"},
      {BASE MEMBER("2", "0.5"), "x.par: weight of member 1 is missing"},
      {BASE "weight 0.5\nmember 2\n" BASE, "x.par: member 2: weight is missing"},
      {"target t\n" BASE "weight 0.5\nmember 2\nkernel exp\n",
       "x.par: target \"t\", member 2: lengthscale is missing"},
      {BASE "weight 0.5\n" MEMBER("2", "0.4"), "the weights of 2 members sum to"},
      {BASE "weight 1.5\n" MEMBER("2", "-0.5"), "weight: not a positive number: \"-0.5\""},
      {BASE "weight 1\n" MEMBER("2", "0"), "weight: not a positive number: \"0\""},
      {BASE "weight 0.5\n", "the only member has 1"},
      {BASE "weight 0.5\n" MEMBER("2", "0.5") "calibration 2\n",
       "x.par:12: calibration: belongs to the target, above its further members"},
      {BASE "weight 0.5\n" MEMBER("2", "0.5") "target b\n" BASE, "target: must come before"},
      {BASE "weight 0.5\nindex 0123456789abcdef\n" MEMBER("2", "0.5") "index 0123456789abcdee\n",
       "x.par: member 2: made from index 0123456789abcdee, but member 1 from 0123456789abcdef: "
       "members must come from one index"},
      {BASE "weight 0.5\n" MEMBER("2", "0.5") "index 0123456789abcdee\n",
       "member 2: has an index, but member 1 has none"},
  };
  assert_all_refused(state, sizeof refusals / sizeof *refusals, refusals);
}

static void several_targets_are_refused_where_one_is_expected(void **state)
{
  assert_refused(state, "target a\n" BASE "target b\n" BASE "target c\n" BASE, GPNN_EMISMATCH,
                 "x.par: parameters of 3 targets: expected one");
}

static void each_target_keeps_a_hundred_comments(void **state)
{
  static char text[4000];
  struct place *place = *state;
  struct gpnn_parameters *params = NULL;
  size_t n = 0, length = 0;
  for (size_t block = 0; block < 2; block++) {
    length += (size_t)snprintf(text + length, sizeof text - length, "target t%zu\n" BASE, block);
    for (size_t i = 0; i < 60 + 60 * block; i++)
      length += (size_t)snprintf(text + length, sizeof text - length, "# c\n");
  }
  put(place, text, length);
  assert_ok(gpnn_parameters_read(&params, &n, place->path, &err));
  assert_int_equal(n, 2);
  assert_int_equal(strlen(params[0].provenance.comments), 60 * strlen("# c\n"));
  assert_int_equal(strlen(params[1].provenance.comments), 100 * strlen("# c\n"));
  gpnn_parameters_free(params, n);
}

static void blocks_that_are_not_whole_are_refused(void **state)
{
  static const struct refusal refusals[] = {
      {"target a\n" BASE "target a\n" BASE, "x.par:6: target: \"a\" is given a second time"},
      {BASE "target a\n" BASE, "x.par:5: target: must come before the other names"},
      {"target a\nkernel rbf\ntarget b\n" BASE, "x.par: target \"a\": lengthscale is missing"},
      {"target a\n" BASE "target b\nkernel rbf\n", "x.par: target \"b\": lengthscale is missing"},
      {"target a\n" BASE "target b\n" BASE "noise 1\n", "x.par:11: noise: given a second time"},
      {"target \t \r\n" BASE, "x.par:1: target: has no value"},
      {"target a\nx y\n", "is this a table?"},
  };
  assert_all_refused(state, sizeof refusals / sizeof refusals[0], refusals);
}

static void names_that_would_not_read_back_are_not_written(void **state)
{
  static const char *const names[] = {"", " a", "a ", "a\r", "\ta", "a\nb"};
  struct place *place = *state;
  struct gpnn_parameters params[2] = {{0}, {0}};
  struct gpnn_output *output = NULL;
  assert_ok(read_text(place, BASE, &params[0], &err));
  assert_ok(read_text(place, BASE, &params[1], &err));
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_fails(gpnn_parameters_write(params, 2, output, &err), GPNN_EINVAL, "need their names");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    params[0].target = gpnn_copy_text(names[i], strlen(names[i]));
    assert_fails(gpnn_parameters_write(params, 1, output, &err), GPNN_EDATA, "cannot hold");
    free(params[0].target);
  }
  params[0].target = gpnn_copy_text("y", 1);
  params[1].target = gpnn_copy_text("y", 1);
  assert_fails(gpnn_parameters_write(params, 2, output, &err), GPNN_EINVAL,
               "target \"y\": has parameters twice");
  gpnn_output_abandon(output);
  gpnn_parameters_release(&params[0]);
  gpnn_parameters_release(&params[1]);
}

static void values_that_do_not_go_together_are_refused(void **state)
{
  static const struct refusal refusals[] = {
      {BASE "coefficients 1\n", "coefficients: a mean of zero has none"},
      {BASE "mean zero\ncoefficients 1\n", "a mean of zero has none"},
      {BASE "family augmented\nrotation 1 0 0 1\n", "rotation: a family has none"},
      {BASE "family collapsed\nmean constant\ncoefficients 1\n", "mean: that of a family is zero"},
      {BASE "covariance 1\n", "covariance: given without coefficients"},
      {BASE "mean linear\n", "mean: linear without coefficients"},
      {BASE "mean constant\ncoefficients 1 2\n",
       "coefficients: 2 of them, a constant mean has one"},
      {BASE "mean linear\ncoefficients 1 2\ncovariance 1 2\n",
       "covariance: 2 numbers, the lower triangle of 2 coefficients has 3"},
      {BASE "mean linear\ncoefficients 1 2\ncovariance 1 2 -3\n",
       "covariance: a variance is negative"},
      {BASE "mean linear\ncoefficients 1 2\ncovariance 1 1.1 1\n",
       "covariance: some combination of the coefficients has a negative variance"},
      {BASE "mean linear\ncoefficients 1 2\ncovariance 0 1 1\n", "covariance: some combination"},
      {BASE "scale 2\n", "scale: needs likelihood student or local"},
      {BASE "likelihood student\nscale-misfit 1 -1 1\n", "which needs likelihood local"},
      {BASE "likelihood student\nscale-sum -1 1\n", "which needs likelihood local"},
  };
  assert_all_refused(state, sizeof refusals / sizeof refusals[0], refusals);
  assert_refused(state, BASE "mean linear\ncoefficients 1 2 3\ncovariance 1 .9 1 -.9 .9 1\n",
                 GPNN_EDATA, "covariance: some combination");
}

static void optional_values_out_of_range_are_refused(void **state)
{
  static const struct refusal refusals[] = {
      {"likelihood cauchy\n", "\"cauchy\" is not one of gaussian, student, local"},
      {"scale 0\n", "scale: not a positive number"},
      {"scale 1e99\n", "scale: not between 1e-60 and 1e+60"},
      {"scale-misfit 1 2\n", "scale-misfit: 2 numbers, not 3"},
      {"scale-mean 1 2 1\n", "scale-mean: the range ends before it begins"},
      {"scale-share 60 -2 1\n", "scale-share: scales would be larger than any number"},
      {"scale-sum 2 1\n", "scale-sum: the range ends before it begins"},
      {"scale-sum 0 501\n", "scale-sum: not between -500 and 500"},
      {"kernel matern\n",
       "\"matern\" is not one of exp, matern32, matern52, rbf, matern:NU, NU above 0 and up "
       "to 100"},
      {"kernel matern:0\n", "\"matern:0\" is not one of"},
      {"transform sqrt 0 1 1 2\n",
       "transform: \"sqrt\" is not one of log, asinh, boxcox, yeo-johnson, rank"},
      {"transform none\n", "transform: \"none\" is not one of"},
      {"transform log 0 1 2\n", "transform: log: it has too many or too few numbers"},
      {"transform log 0 0 1 2\n", "transform: log: its sd is not positive"},
      {"transform log 0 1 1 x\n", "transform: not a number: \"x\""},
      {"mean cubic\n", "mean: \"cubic\" is not one of zero, constant, linear, regressors"},
      {"coefficients 1 x\n", "coefficients: not a number: \"x\""},
      {"degrees 2\n", "degrees: not above 2"},
      {"degrees -3\n", "degrees: not a positive number"},
      {"conformal 0.5\n", "x.par:1: conformal: a level without a width"},
      {"conformal 0 1\n", "not between 0 and 1"},
      {"conformal 1 1\n", "not between 0 and 1"},
      {"conformal 0.5 1 0.5 2\n", "the levels are not in ascending order"},
      {"conformal 0.5 -1\n", "conformal: not a non-negative number"},
      {"distances 1 2 3\n", "distances: 3 numbers, not 4"},
      {"distances 1 2 3 4 5\n", "distances: 5 numbers, not 4"},
      {"distances 1 3 2 4\n", "distances: not in ascending order"},
      {"distances -1 3 2 4\n", "not a non-negative number"},
  };
  assert_all_refused(state, sizeof refusals / sizeof refusals[0], refusals);
}

/* Nine numbers, of every size and sign, come back as they were; what fits them is asked of the
 * index. */
static void inference_by_polya_gamma_reads_back_and_has_no_link(void **state)
{
  static const char text[] = "# gpnn parameters 1\n" BASE
                             "likelihood\tcategorical\ninference\tpolya-gamma\nomega\tlearnt\n"
                             "neighbours\t64\n";
  struct gpnn_parameters params = {0};
  struct gpnn_output *output = NULL;
  assert_ok(read_text(*state, text, &params, &err));
  assert_int_equal(params.inference, GPNN_INFERENCE_POLYA_GAMMA);
  assert_true(params.omega.is_learnt);
  assert_int_equal(params.omega.n, 0);
  assert_ok(gpnn_output_open_memory(&output, &err));
  assert_ok(gpnn_parameters_write(&params, 1, output, &err));
  size_t length;
  const char *written = gpnn_output_memory(output, &length);
  assert_int_equal(length, strlen(text));
  assert_memory_equal(written, text, length);
  gpnn_output_abandon(output);
  gpnn_parameters_release(&params);
#define CLASSES BASE "likelihood categorical\n"
  static const struct refusal refusals[] = {
      {CLASSES "inference bayes\n",
       "x.par:6: inference: \"bayes\" is not one of link, polya-gamma"},
      {CLASSES "inference polya-gamma\nomega free\n",
       "x.par:7: omega: \"free\" is not one of fixed, learnt"},
      {BASE "inference polya-gamma\n", "inference polya-gamma needs likelihood categorical"},
      {BASE "omega learnt\n", "omega: needs inference polya-gamma"},
      {CLASSES "inference polya-gamma\nlink-slope 4\n", "inference polya-gamma has no link"},
      {CLASSES "inference polya-gamma\nlink-bias 0 0\n", "inference polya-gamma has no link"},
      {CLASSES "inference polya-gamma\nmean constant\ncoefficients 1\n", "has a mean of zero"},
      {CLASSES "inference polya-gamma\nrotation 1\n", "has no rotation"},
      {CLASSES "inference link\n", "needs link-slope"},
  };
  assert_all_refused(state, sizeof refusals / sizeof refusals[0], refusals);
}

/* Writes 'params' and 'state' together to the file of a test. */
static void write_with_state(const struct place *place, const struct gpnn_parameters *params,
                             const struct gpnn_state *state)
{
  struct gpnn_output *output = NULL;
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_parameters_write_with_state(params, 1, state, output, &err));
  assert_ok(gpnn_output_close(output, &err));
}

static void learnt_omega_reads_back_from_a_state_that_has_it(void **state)
{
  double lengthscale = 0.5, log_median[6] = {-1.5, 0.25, -1e-3, -7, 2, 1.0 / 3};
  struct gpnn_parameters params = {.covariance = {.kernel = gpnn_kernel_by_name("matern52"),
                                                  .n_lengthscales = 1,
                                                  .lengthscale = &lengthscale,
                                                  .kernelscale = 2},
                                   .likelihood = GPNN_LIKELIHOOD_CATEGORICAL,
                                   .inference = GPNN_INFERENCE_POLYA_GAMMA,
                                   .omega = {true, 6, log_median},
                                   .neighbours = 8};
  for (int variant = 0; variant < 3; variant++) {
    struct gpnn_state *written = NULL, *found = NULL;
    struct gpnn_parameters *read = NULL;
    size_t n;
    if (variant == 2) log_median[3] = NAN;
    assert_ok(gpnn_state_new(&written, 1, &err));
    if (variant == 1)
      assert_ok(gpnn_state_add(written, "other", "array", 6, log_median, &err));
    else
      assert_ok(gpnn_parameters_store_omega(&params, written, &err));
    write_with_state(*state, &params, written);
    const char *path = ((struct place *)*state)->path;
    if (variant > 0) {
      assert_fails(gpnn_parameters_read_with_state(&read, &n, &found, path, &err), GPNN_EFORMAT,
                   "x.par: omega was learnt, but the file has no valid values");
    } else {
      assert_ok(gpnn_parameters_read_with_state(&read, &n, &found, path, &err));
      assert_int_equal(read->omega.n, 6);
      assert_memory_equal(read->omega.log_median, log_median, sizeof log_median);
      gpnn_state_free(found);
      gpnn_parameters_free(read, n);
    }
    gpnn_state_free(written);
  }
}

static void a_rotation_reads_back_and_has_to_fit(void **state)
{
  struct place *place = *state;
  double lengthscale[] = {1, 2, 3};
  double rotation[] = {1.0 / 3, -1e-300, 0, 2e17, -0.0, 5, 1e-5, 0.1, -7};
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("exp"),
                                   .covariance.n_rotation = 9,
                                   .covariance.rotation = rotation,
                                   .covariance.n_lengthscales = 3,
                                   .covariance.lengthscale = lengthscale,
                                   .covariance.kernelscale = 1,
                                   .covariance.noise = 0.1,
                                   .neighbours = 5};
  struct gpnn_parameters back = {0};
  struct gpnn_output *output = NULL;
  bool other;
  assert_ok(gpnn_output_open(&output, place->path, &err));
  assert_ok(gpnn_parameters_write(&params, 1, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  assert_ok(gpnn_parameters_read_one(&back, place->path, &err));
  assert_int_equal(back.covariance.n_rotation, 9);
  for (size_t i = 0; i < 9; i++) assert_true(back.covariance.rotation[i] == rotation[i]);
  const uint32_t group[] = {0, 1, 2}, point[] = {0, 0, 1};
  struct gpnn_dataset dataset = {.d = 3, .n_groups = 3, .group = group};
  assert_ok(gpnn_parameters_check(&back, &dataset, &other, &err));
  back.covariance.n_rotation = 4;
  assert_fails(gpnn_parameters_check(&back, &dataset, &other, &err), GPNN_EMISMATCH,
               "rotation has 4 numbers, which does not fit the 3 inputs");
  back.covariance.n_rotation = 9;
  back.covariance.n_lengthscales = 1;
  dataset.n_groups = 2;
  dataset.group = point;
  assert_fails(gpnn_parameters_check(&back, &dataset, &other, &err), GPNN_EMISMATCH,
               "rotation has 9 numbers, which does not fit the 3 inputs");
  gpnn_parameters_release(&back);
  static const struct refusal refusals[] = {
      {BASE "rotation 1 x\n", "x.par:5: rotation: not a number"},
      {BASE "rotation 1 nan\n", "x.par:5: rotation: not a number"},
      {BASE "rotation inf\n", "x.par:5: rotation: not a number"},
      {BASE "rotation\n", "rotation: has no value"},
      {BASE "rotation 1\nrotation 1\n", "rotation: given a second time"},
  };
  assert_all_refused(state, sizeof refusals / sizeof refusals[0], refusals);
}

static void later_version_is_refused(void **state)
{
  assert_refused(state, "# gpnn parameters 2\n" BASE, GPNN_EVERSION, "version 2");
  assert_refused(state, "# gpnn parameters 2.0\n" BASE, GPNN_EVERSION, "version 2.0");
  assert_refused(state, "# gpnn parameters 99999999999999999999999\n" BASE, GPNN_EVERSION,
                 "version 99999999999999999999999, this");
  struct gpnn_parameters params = {0};
  /* Only as the first line, and only as a number of its own. */
  assert_ok(read_text(*state, "# mine\n# gpnn parameters 2\n" BASE, &params, &err));
  gpnn_parameters_release(&params);
  assert_ok(read_text(*state, "# gpnn parameters\n" BASE, &params, &err));
  gpnn_parameters_release(&params);
}

static void unknown_repeated_and_missing_names_are_refused(void **state)
{
  static const struct refusal refusals[] = {
      {BASE "nois\t1\n", "x.par:5: unknown name \"nois\""},
      {BASE "noise\t1\n", "x.par:5: noise: given a second time"},
      {"kernel rbf\nlengthscale 1\nnoise 1\n", "x.par: kernelscale is missing"},
      {"# gpnn parameters 1\n", "kernel is missing"},
  };
  assert_all_refused(state, sizeof refusals / sizeof refusals[0], refusals);
}

static void values_out_of_range_are_refused(void **state)
{
  static const struct refusal refusals[] = {
      {"kernel cubic\n", "x.par:1: kernel: \"cubic\" is not one of exp, matern32, matern52, rbf"},
      {"lengthscale 0\n", "lengthscale: not a positive number: \"0\""},
      {"lengthscale 1 x\n", "lengthscale: not a positive number"},
      {"lengthscale\n", "lengthscale: has no value"},
      {"kernelscale -1\n", "kernelscale: not a positive number"},
      {"kernelscale nan\n", "kernelscale: not a positive number"},
      {"kernelscale 1 2\n", "kernelscale: more than one value"},
      {"noise -0.1\n", "noise: not a non-negative number"},
      {"noise inf\n", "noise: not a non-negative number"},
      {"fit-rows 0\n", "fit-rows: not a whole number from 1 to"},
      {"fit-rows 1e3\n", "fit-rows: not a whole number"},
      {"neighbours 0\n", "neighbours: not a whole number from 1"},
      {"neighbours 1.5\n", "neighbours: not a whole number"},
      {"neighbours 99999999999\n", "neighbours: not a whole number"},
      {"calibration 0\n", "calibration: not a positive number"},
      {"index 123\n", "index: not a fingerprint of 16"},
      {"index 000000000000000g\n", "index: not a fingerprint"},
  };
  assert_all_refused(state, sizeof refusals / sizeof refusals[0], refusals);
}

static void other_kinds_of_file_are_named(void **state)
{
  struct place *place = *state;
  struct gpnn_parameters params = {0};
  assert_refused(state, "", GPNN_EDATA, "x.par: is empty, not parameters");
  assert_refused(state, "lat,lon,price\n1,2,3\n", GPNN_EDATA,
                 "x.par:1: unknown name \"lat,lon,price\": is this a table?");
  char bytes[GPNN_CONTAINER_KIND_BYTES] = GPNN_CONTAINER_MAGIC;
  put(place, bytes, sizeof bytes);
  assert_fails(gpnn_parameters_read_one(&params, place->path, &err), GPNN_EMISMATCH,
               "x.par is an index, not parameters");
  bytes[20] = GPNN_CONTAINER_MODEL;
  put(place, bytes, sizeof bytes);
  assert_fails(gpnn_parameters_read_one(&params, place->path, &err), GPNN_EMISMATCH,
               "x.par is a model file, not parameters");
}

static void control_bytes_are_masked_in_messages(void **state)
{
  assert_refused(state, "ker\x1b[31m 1\n", GPNN_EDATA, "unknown name \"ker?[31m\"");
}

static void check_compares_columns_and_index(void **state)
{
  (void)state;
  double lengthscale[] = {1, 2};
  struct gpnn_parameters params = {.covariance.n_lengthscales = 2,
                                   .covariance.lengthscale = lengthscale};
  struct gpnn_dataset two = {.d = 3, .n_groups = 2, .fingerprint = 5};
  struct gpnn_dataset three = {.d = 3, .n_groups = 3, .fingerprint = 6};
  bool other = true;
  assert_ok(gpnn_parameters_check(&params, &two, &other, &err));
  assert_false(other);
  params.provenance.has_index = true;
  params.provenance.index = 6;
  assert_ok(gpnn_parameters_check(&params, &two, &other, &err));
  assert_false(other); /* of other rows that are scaled alike */
  assert_fails(gpnn_parameters_check(&params, &three, &other, &err), GPNN_EMISMATCH,
               "2 lengthscales, the index has 3 inputs");
  params.covariance.n_lengthscales = 1;
  assert_ok(gpnn_parameters_check(&params, &three, &other, &err));
  assert_false(other);
  three.fingerprint += (uint64_t)1 << 32;
  assert_fails(gpnn_parameters_check(&params, &three, &other, &err), GPNN_EMISMATCH,
               "an index of other columns");
}

static void check_compares_coefficients_with_the_terms_of_the_index(void **state)
{
  (void)state;
  struct gpnn_dataset dataset = {.d = 4, .n_groups = 4, .n_regressors = 2};
  struct gpnn_parameters params = {.covariance.n_lengthscales = 1};
  static const size_t right[] = {0, 1, 5, 3};
  bool other;
  for (int mean = GPNN_MEAN_ZERO; mean <= GPNN_MEAN_REGRESSORS; mean++)
    for (params.mean.n_coefficients = 0; params.mean.n_coefficients < 7;
         params.mean.n_coefficients++) {
      params.mean.kind = (enum gpnn_mean)mean;
      if (params.mean.n_coefficients == right[mean])
        assert_ok(gpnn_parameters_check(&params, &dataset, &other, &err));
      else
        assert_fails(gpnn_parameters_check(&params, &dataset, &other, &err), GPNN_EMISMATCH,
                     "coefficients, a ");
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(least_file_has_defaults),
      cmocka_unit_test(hand_made_file_is_read),
      cmocka_unit_test(written_parameters_read_back_exactly),
      cmocka_unit_test(written_text_is_the_documented_one),
      cmocka_unit_test(any_parameters_read_back_the_same),
      cmocka_unit_test(all_optional_lines_are_the_documented_ones),
      cmocka_unit_test(members_follow_their_target),
      cmocka_unit_test(weights_of_three_digits_are_made_to_sum_to_one),
      cmocka_unit_test(there_may_be_64_members),
      cmocka_unit_test(members_that_do_not_go_together_are_refused),
      cmocka_unit_test(several_targets_are_refused_where_one_is_expected),
      cmocka_unit_test(each_target_keeps_a_hundred_comments),
      cmocka_unit_test(comments_are_cut_before_they_are_looked_at),
      cmocka_unit_test(a_nul_byte_is_refused_on_any_line),
      cmocka_unit_test(blocks_that_are_not_whole_are_refused),
      cmocka_unit_test(names_that_would_not_read_back_are_not_written),
      cmocka_unit_test(values_that_do_not_go_together_are_refused),
      cmocka_unit_test(optional_values_out_of_range_are_refused),
      cmocka_unit_test(inference_by_polya_gamma_reads_back_and_has_no_link),
      cmocka_unit_test(learnt_omega_reads_back_from_a_state_that_has_it),
      cmocka_unit_test(a_rotation_reads_back_and_has_to_fit),
      cmocka_unit_test(later_version_is_refused),
      cmocka_unit_test(unknown_repeated_and_missing_names_are_refused),
      cmocka_unit_test(values_out_of_range_are_refused),
      cmocka_unit_test(other_kinds_of_file_are_named),
      cmocka_unit_test(control_bytes_are_masked_in_messages),
      cmocka_unit_test(check_compares_columns_and_index),
      cmocka_unit_test(check_compares_coefficients_with_the_terms_of_the_index),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
