/* Model files: what is written predicts as before, and what is damaged is refused. */
#include "models/model_file.h"

#include <sys/stat.h>

#include "assess/calibrate.h"
#include "dataset/stored.h"
#include "fixture.h"
#include "models/heldout.h"
#include "models/inducing/inducing.h"
#include "models/model.h"
#include "table/stream.h"

static struct gpnn_error failure;

enum { N = 60, D = 2, C = 25, M = 6 };

static double lengthscale[D] = {0.9, 1.3};

static struct gpnn_parameters parameters(void)
{
  return (struct gpnn_parameters){.family = GPNN_FAMILY_COLLAPSED,
                                  .covariance.kernel = gpnn_kernel_by_name("matern32"),
                                  .covariance.n_lengthscales = D,
                                  .covariance.lengthscale = lengthscale,
                                  .covariance.kernelscale = 0.8,
                                  .covariance.noise = 0.15,
                                  .likelihood = GPNN_LIKELIHOOD_GAUSSIAN,
                                  .provenance.fit_rows = N};
}

/* The first M rows as inducing points, with weights that are any numbers and a root that explains
 * but little of the variance. */
static void add_arrays(struct gpnn_state *arrays, const char *target, const double *z)
{
  double weights[M], root[2 * M];
  for (size_t j = 0; j < M; j++) weights[j] = 0.3 * (double)j - 0.7;
  for (size_t j = 0; j < 2 * M; j++) root[j] = 0.05 * (double)(j % 5) - 0.1;
  assert_ok(gpnn_state_add(arrays, target, GPNN_INDUCING_POINTS, M * D, z, &err));
  assert_ok(gpnn_state_add(arrays, target, GPNN_INDUCING_WEIGHTS, M, weights, &err));
  assert_ok(gpnn_state_add(arrays, target, GPNN_INDUCING_ROOT, 2 * M, root, &err));
}

struct file {
  struct fixture f;
  struct gpnn_parameters own;
  struct gpnn_state *arrays;
  char path[240];
};

static void begin(struct file *file)
{
  fixture_new(&file->f, N, D, C, 1);
  file->own = parameters();
  assert_ok(gpnn_state_new(&file->arrays, file->f.data->fingerprint, &err));
  snprintf(file->path, sizeof file->path, "%s/gpnn-model.%ld.gpm", unit_temporary(),
           (long)getpid());
}

static void write_file(struct file *file)
{
  begin(file);
  add_arrays(file->arrays, "y", file->f.x);
  assert_ok(
      gpnn_model_file_write(file->path, file->f.data, 1, &file->own, file->arrays, 2, NULL, &err));
}

static void end(struct file *file)
{
  gpnn_state_free(file->arrays);
  fixture_free(&file->f);
  unlink(file->path);
}

struct opened {
  struct gpnn_index *index;
  const struct gpnn_dataset *data;
  struct gpnn_parameters *params;
  size_t n;
  struct gpnn_channel channel;
  struct gpnn_model *model;
};

static void open_file(const struct file *file, struct opened *o)
{
  const struct gpnn_model_options options = {.threads = 1};
  bool other;
  assert_ok(gpnn_index_open(&o->index, file->path, true, &err));
  o->data = gpnn_index_dataset(o->index);
  assert_non_null(o->data->stored);
  assert_ok(gpnn_parameters_read_text(&o->params, &o->n, "model", o->data->stored->text,
                                      o->data->stored->length, &err));
  assert_int_equal(o->n, 1);
  assert_ok(gpnn_channels_find(o->data, 1, o->params, &o->channel, &other, &err));
  assert_ok(gpnn_model_new(&o->model, 1, &o->channel, &options, &err));
}

static void close_file(struct opened *o)
{
  gpnn_model_free(o->model);
  gpnn_parameters_free(o->params, o->n);
  gpnn_index_close(o->index);
}

struct out {
  double mean[C], variance[C], nearest[C], misfit[C];
};

static void predict(const struct gpnn_model *model, const struct gpnn_query *query, struct out *out)
{
  struct gpnn_counts counts = {0};
  const struct gpnn_latent latent = {
      .mean = out->mean, .variance = out->variance, .nearest = out->nearest, .misfit = out->misfit};
  assert_ok(gpnn_model_predict(model, query, &latent, &counts, &err));
}

/* k'w and kernelscale - |root k|^2 in plain loops. */
static void by_formula(const double *z, const double *x, double *mean, double *variance)
{
  double k[M];
  *mean = 0;
  *variance = 0.8;
  for (size_t j = 0; j < M; j++) {
    double r =
        sqrt(3) * hypot((x[0] - z[j * D]) / lengthscale[0], (x[1] - z[j * D + 1]) / lengthscale[1]);
    k[j] = 0.8 * (1 + r) * exp(-r);
    *mean += k[j] * (0.3 * (double)j - 0.7);
  }
  for (size_t i = 0; i < 2; i++) {
    double sum = 0;
    for (size_t j = 0; j < M; j++) sum += k[j] * (0.05 * (double)((i * M + j) % 5) - 0.1);
    *variance -= sum * sum;
  }
}

static void opened_files_predict_as_the_formula(void **state)
{
  (void)state;
  struct file file;
  struct opened o;
  struct out out = {0};
  double mean, variance;
  write_file(&file);
  open_file(&file, &o);
  predict(o.model, &(struct gpnn_query){.n = C, .x = file.f.cx}, &out);
  for (size_t i = 0; i < C; i++) {
    by_formula(file.f.x, file.f.cx + i * D, &mean, &variance);
    assert_near(out.mean[i], mean, 1e-12);
    assert_near(out.variance[i], variance, 2e-6);
    assert_true(out.misfit[i] == 1);
  }
  close_file(&o);
  end(&file);
}

static void files_know_what_they_stand_for(void **state)
{
  (void)state;
  struct file file;
  struct opened o;
  write_file(&file);
  open_file(&file, &o);
  assert_null(o.data->x);
  assert_null(o.data->y);
  assert_null(o.data->calibration_x);
  assert_int_equal(o.data->n, N);
  assert_int_equal(o.data->d, D);
  assert_int_equal(o.data->n_groups, D);
  assert_int_equal(o.data->n_calibration, C);
  assert_memory_equal(o.data->calibration_y, file.f.cy, C * sizeof(double));
  assert_true(o.data->scaling.y_mean == 3 && o.data->scaling.y_sd == 2);
  assert_string_equal(o.data->schema.target.name, "y");
  assert_true(o.data->fingerprint != file.f.data->fingerprint);
  assert_true(o.data->fingerprint >> 32 == file.f.data->fingerprint >> 32);
  struct gpnn_search *search = NULL;
  assert_int_equal(gpnn_dataset_search(o.data, &search, &failure), GPNN_EMISMATCH);
  close_file(&o);
  end(&file);
}

static void held_out_rows_need_no_inputs(void **state)
{
  (void)state;
  struct file file;
  struct opened o;
  struct out known = {0}, predicted = {0};
  write_file(&file);
  open_file(&file, &o);
  const struct gpnn_heldout heldout = gpnn_heldout_of_dataset(o.channel.dataset);
  assert_null(heldout.query.x);
  assert_int_equal(heldout.query.n, C);
  predict(o.model, &heldout.query, &known);
  predict(o.model, &(struct gpnn_query){.n = C, .x = file.f.cx}, &predicted);
  assert_memory_equal(&known, &predicted, sizeof known);
  close_file(&o);
  end(&file);
}

/* With other kernel scale, the mean stays and variances are multiplied. */
static void factors_multiply_variances(void **state)
{
  (void)state;
  struct file file;
  struct opened o;
  struct out before, after, known;
  struct gpnn_model *other = NULL;
  write_file(&file);
  open_file(&file, &o);
  struct gpnn_parameters changed = *o.params;
  changed.covariance.kernelscale *= 2.5;
  const struct gpnn_channel channel = {o.channel.dataset, &changed};
  const struct gpnn_heldout heldout = gpnn_heldout_of_dataset(o.channel.dataset);
  assert_ok(gpnn_model_with(o.model, &channel, &other, &err));
  predict(o.model, &(struct gpnn_query){.n = C, .x = file.f.cx}, &before);
  predict(other, &(struct gpnn_query){.n = C, .x = file.f.cx}, &after);
  predict(other, &heldout.query, &known);
  for (size_t i = 0; i < C; i++) {
    assert_true(after.mean[i] == before.mean[i] && known.mean[i] == before.mean[i]);
    assert_near(after.variance[i], 2.5 * before.variance[i], 1e-14);
    assert_true(known.variance[i] == after.variance[i]);
  }
  gpnn_model_free(other);
  close_file(&o);
  end(&file);
}

/* The factor of a Gaussian likelihood is the mean of z^2. */
static void factors_come_from_the_file_alone(void **state)
{
  (void)state;
  struct file file;
  struct opened o;
  struct out out = {0};
  struct gpnn_calibrate_report report = {0};
  double alpha = 0;
  write_file(&file);
  open_file(&file, &o);
  const struct gpnn_calibrate_options options = {
      .wanted = 1000, .given = gpnn_heldout_of_dataset(o.channel.dataset)};
  assert_ok(gpnn_calibrate(o.model, &options, &report, &err));
  predict(o.model, &(struct gpnn_query){.n = C, .x = file.f.cx}, &out);
  for (size_t i = 0; i < C; i++) {
    double error = file.f.cy[i] - out.mean[i];
    alpha += error * error / (out.variance[i] + 0.15) / C;
  }
  assert_near(report.alpha, alpha, 1e-12);
  assert_near(report.kernelscale, 0.8 * alpha, 1e-12);
  gpnn_calibrate_report_release(&report);
  close_file(&o);
  end(&file);
}

/* ---- damage ------------------------------------------------------------------------------- */

static char *read_all(const char *path, size_t *length)
{
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  char *bytes = malloc((size_t)st.st_size);
  FILE *in = fopen(path, "rb");
  assert_true(bytes != NULL && in != NULL);
  assert_int_equal(fread(bytes, 1, (size_t)st.st_size, in), (size_t)st.st_size);
  fclose(in);
  *length = (size_t)st.st_size;
  return bytes;
}

static void write_all(const char *path, const char *bytes, size_t length)
{
  FILE *out = fopen(path, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(bytes, 1, length, out), length);
  assert_int_equal(fclose(out), 0);
}

static void cut_files_are_refused(void **state)
{
  (void)state;
  struct file file;
  struct gpnn_index *index = NULL;
  size_t length;
  write_file(&file);
  char *bytes = read_all(file.path, &length);
  for (size_t cut = 0; cut < length; cut += cut < 200 ? 1 : 97) {
    write_all(file.path, bytes, cut);
    assert_true(gpnn_index_open(&index, file.path, false, &failure) != GPNN_OK);
    assert_null(index);
    assert_non_null(strstr(failure.text, file.path));
  }
  free(bytes);
  end(&file);
}

/* Only what is between sections may change without being noticed. */
static void flipped_bytes_are_noticed(void **state)
{
  (void)state;
  struct file file;
  struct opened o;
  struct out before = {0}, after = {0};
  size_t length, noticed = 0, n = 0;
  write_file(&file);
  open_file(&file, &o);
  predict(o.model, &(struct gpnn_query){.n = C, .x = file.f.cx}, &before);
  close_file(&o);
  char *bytes = read_all(file.path, &length);
  for (size_t at = 0; at < length; at += at < 2048 ? 5 : 11, n++) {
    struct gpnn_index *index = NULL;
    bytes[at] ^= 0x24;
    write_all(file.path, bytes, length);
    noticed += gpnn_index_open(&index, file.path, true, &failure) != GPNN_OK;
    gpnn_index_close(index);
    if (index != NULL) {
      open_file(&file, &o);
      predict(o.model, &(struct gpnn_query){.n = C, .x = file.f.cx}, &after);
      assert_memory_equal(&before, &after, sizeof before);
      close_file(&o);
    }
    bytes[at] ^= 0x24;
  }
  assert_true(noticed > n * 3 / 4);
  free(bytes);
  end(&file);
}

/* Writes a file as it is, with checksums that are right. */
static enum gpnn_status reopen(struct file *file)
{
  static const char text[] = "# gpnn parameters 1\n";
  const struct gpnn_stored stored = {
      .arrays = file->arrays, .text = text, .length = sizeof text - 1};
  struct gpnn_dataset dataset = *file->f.data;
  struct gpnn_index *index = NULL;
  dataset.stored = &stored;
  assert_ok(gpnn_index_write_stored(file->path, &dataset, NULL, &err));
  enum gpnn_status status = gpnn_index_open(&index, file->path, false, &failure);
  gpnn_index_close(index);
  return status;
}

static double *array_of(struct file *file, const char *name, size_t *n)
{
  for (size_t i = 0; i < file->arrays->n; i++)
    if (strcmp(file->arrays->arrays[i].name, name) == 0) {
      *n = file->arrays->arrays[i].n;
      return file->arrays->arrays[i].values;
    }
  fail_msg("no array %s", name);
  return NULL;
}

static void numbers_out_of_range_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *array;
    double value;
  } wrong[] = {{GPNN_STORED_VARIANCE, -1}, {GPNN_STORED_NEAREST, -1e-9},
               {GPNN_STORED_TRUTH, NAN},   {GPNN_INDUCING_WEIGHTS, INFINITY},
               {GPNN_STORED_ROWS, N + 1},  {GPNN_STORED_ROWS, 0},
               {GPNN_STORED_ROWS, 2.5},    {GPNN_INDUCING_ROOT, -INFINITY}};
  struct file file;
  size_t n = 0;
  write_file(&file);
  assert_ok(reopen(&file));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    double *values = array_of(&file, wrong[i].array, &n), before = values[n - 1];
    values[n - 1] = wrong[i].value;
    assert_int_equal(reopen(&file), GPNN_EFORMAT);
    assert_non_null(strstr(failure.text, "damaged"));
    values[n - 1] = before;
  }
  end(&file);
}

static void arrays_of_other_lengths_are_refused(void **state)
{
  (void)state;
  static const char *const names[] = {GPNN_STORED_MEAN, GPNN_STORED_VARIANCE, GPNN_STORED_NEAREST};
  struct file file;
  write_file(&file);
  for (size_t i = 0; i < file.arrays->n; i++)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
      struct gpnn_state_array *array = &file.arrays->arrays[i];
      if (strcmp(array->name, names[k]) != 0) continue;
      array->n--;
      assert_int_equal(reopen(&file), GPNN_EFORMAT);
      array->n++;
    }
  assert_ok(reopen(&file));
  end(&file);
}

static void families_lack_none_of_their_arrays(void **state)
{
  (void)state;
  struct file file;
  begin(&file);
  assert_int_equal(
      gpnn_model_file_write(file.path, file.f.data, 1, &file.own, file.arrays, 1, NULL, &failure),
      GPNN_EFORMAT);
  assert_int_equal(access(file.path, F_OK), -1);
  end(&file);
}

/* ---- parameters --------------------------------------------------------------------------- */

static void parameters_and_files_go_together(void **state)
{
  (void)state;
  struct file file;
  struct opened o;
  bool other;
  write_file(&file);
  open_file(&file, &o);
  assert_int_equal(gpnn_parameters_check(o.params, file.f.data, &other, &failure), GPNN_EMISMATCH);
  assert_non_null(strstr(failure.text, "model file"));
  o.params->family = GPNN_FAMILY_NONE;
  assert_int_equal(gpnn_parameters_check(o.params, o.data, &other, &failure), GPNN_EMISMATCH);
  assert_non_null(strstr(failure.text, "model file"));
  close_file(&o);
  end(&file);
}

static enum gpnn_status calibrate_with(struct gpnn_parameters *params, const char *text)
{
  char path[240];
  snprintf(path, sizeof path, "%s/gpnn-cal.%ld", unit_temporary(), (long)getpid());
  write_all(path, text, strlen(text));
  enum gpnn_status status = gpnn_parameters_read_calibration(params, 1, path, &failure);
  unlink(path);
  return status;
}

static void calibrations_replace_each_other(void **state)
{
  (void)state;
  struct gpnn_parameters params = parameters();
  assert_ok(calibrate_with(&params, "calibration 2\nconformal .9 1.5\nindex 0123456789abcdef\n"));
  assert_near(params.covariance.kernelscale, 1.6, 1e-15);
  assert_near(params.covariance.noise, 0.3, 1e-15);
  assert_int_equal(params.calibration.n_conformal, 1);
  assert_true(params.provenance.index == 0x0123456789abcdef);
  assert_ok(calibrate_with(&params, "likelihood local\nscale 0.9\nscale-share .1 -3 0\n"
                                    "degrees 12\ndistances 1 2 3 4\n"));
  assert_near(params.covariance.kernelscale, 0.8, 1e-15);
  assert_int_equal(params.likelihood, GPNN_LIKELIHOOD_LOCAL);
  assert_true(params.scale.factor == 0.9 && params.degrees == 12);
  assert_true(params.calibration.has_distance && !params.calibration.has_factor);
  free(params.calibration.conformal_level);
  free(params.calibration.conformal_width);
}

static void calibrations_hold_nothing_else(void **state)
{
  (void)state;
  static const struct {
    const char *text, *message;
  } wrong[] = {
      {"calibration 2\nkernel rbf\n", ":2: kernel: is not part of a calibration"},
      {"lengthscale 1\n", ":1: lengthscale: is not part"},
      {"scale 1\n", "needs likelihood"},
      {"member 2\n", "unknown name"},
      {"time.period 2\n", "unknown name"},
      {"# nothing\n", "no calibration"},
      {"", "empty"},
      {"calibration 2\ncalibration 2\n", "second time"},
      {"calibration 1e308\n", "outside the range"},
      {"target z\ncalibration 1\n", "no calibration of target"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct gpnn_parameters params = parameters();
    params.covariance.kernelscale = 1e10;
    assert_true(calibrate_with(&params, wrong[i].text) != GPNN_OK);
    if (strstr(failure.text, wrong[i].message) == NULL) fail_msg("%s", failure.text);
  }
}

static void calibrations_read_back(void **state)
{
  (void)state;
  struct gpnn_parameters params = parameters(), again = parameters();
  struct gpnn_output *memory = NULL;
  size_t length;
  char text[1000];
  params.likelihood = GPNN_LIKELIHOOD_LOCAL;
  params.scale.factor = 1.1;
  params.degrees = 7;
  assert_ok(gpnn_output_open_memory(&memory, &err));
  assert_ok(gpnn_parameters_write_calibration(&params, 1, memory, &err));
  const char *written = gpnn_output_memory(memory, &length);
  snprintf(text, sizeof text, "%.*s", (int)length, written);
  assert_null(strstr(text, "kernel"));
  assert_null(strstr(text, "family"));
  assert_ok(calibrate_with(&again, text));
  assert_true(again.scale.factor == 1.1 && again.degrees == 7);
  gpnn_output_abandon(memory);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(opened_files_predict_as_the_formula),
      cmocka_unit_test(files_know_what_they_stand_for),
      cmocka_unit_test(held_out_rows_need_no_inputs),
      cmocka_unit_test(factors_multiply_variances),
      cmocka_unit_test(factors_come_from_the_file_alone),
      cmocka_unit_test(cut_files_are_refused),
      cmocka_unit_test(flipped_bytes_are_noticed),
      cmocka_unit_test(numbers_out_of_range_are_refused),
      cmocka_unit_test(arrays_of_other_lengths_are_refused),
      cmocka_unit_test(families_lack_none_of_their_arrays),
      cmocka_unit_test(parameters_and_files_go_together),
      cmocka_unit_test(calibrations_replace_each_other),
      cmocka_unit_test(calibrations_hold_nothing_else),
      cmocka_unit_test(calibrations_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
