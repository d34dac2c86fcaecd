/* The file of a model of own rows and answers predicts as its weights and root do. */
#include <sys/stat.h>

#include "cotrain/absorb.h"
#include "dataset/stored.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models/inducing/inducing.h"
#include "models/model.h"
#include "models/model_file.h"
#include "random.h"

enum { N = 40, D = 2, C = 12, Q = 6, M = N + Q };

static double lengthscale[D] = {0.9, 1.3};

struct file {
  struct fixture f;
  struct gpnn_parameters own;
  struct gpnn_fusion fusion;
  double *asked, *answers;
  char path[240];
};

static void begin(struct file *file)
{
  double covariance[Q * Q] = {0};
  struct gpnn_state *arrays = NULL;
  fixture_new(&file->f, N, D, C, 1);
  file->asked = normal_rows(Q, D, 5);
  file->answers = normal_rows(Q, 1, 6);
  file->own = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = D,
                                       .covariance.lengthscale = lengthscale,
                                       .covariance.kernelscale = 0.8,
                                       .covariance.noise = 0.15};
  for (size_t i = 0; i < Q; i++) covariance[i * (Q + 1)] = 0.3;
  const struct gpnn_fusion_answers answers = {
      .n = Q, .x = file->asked, .mean = file->answers, .covariance = covariance};
  file->fusion = (struct gpnn_fusion){0};
  assert_ok(gpnn_fusion_new(&file->fusion, file->f.data, &file->own, &answers, GPNN_ABSORB_FULL,
                            GPNN_FUSION_JOINT, &err));
  const struct gpnn_inducing_arrays model = {.m = file->fusion.m,
                                             .d = D,
                                             .rank = file->fusion.rank,
                                             .points = file->fusion.points,
                                             .weights = file->fusion.weights,
                                             .root = file->fusion.root};
  file->own.family = GPNN_FAMILY_AUGMENTED;
  snprintf(file->path, sizeof file->path, "%s/gpnn-fusion.%ld.gpm", unit_temporary(),
           (long)getpid());
  assert_ok(gpnn_state_new(&arrays, file->f.data->fingerprint, &err));
  assert_ok(gpnn_inducing_keep(&model, "y", arrays, &err));
  assert_ok(gpnn_model_file_write(file->path, file->f.data, 1, &file->own, arrays, 1, NULL, &err));
  gpnn_state_free(arrays);
}

static void end(struct file *file)
{
  gpnn_fusion_release(&file->fusion);
  fixture_free(&file->f);
  free(file->asked);
  free(file->answers);
  unlink(file->path);
}

static double correlation(const double *a, const double *b)
{
  double r = sqrt(3) * hypot((a[0] - b[0]) / lengthscale[0], (a[1] - b[1]) / lengthscale[1]);
  return (1 + r) * exp(-r);
}

/* The covariance of the latent function at two rows, and the mean at the first. */
static double by_formula(const struct gpnn_fusion *f, const double *x, const double *other,
                         double *mean)
{
  double a[M], b[M], covariance = 0.8 * correlation(x, other);
  *mean = 0;
  for (size_t j = 0; j < M; j++) {
    a[j] = 0.8 * correlation(x, f->points + j * D);
    b[j] = 0.8 * correlation(other, f->points + j * D);
    *mean += a[j] * f->weights[j];
  }
  for (size_t r = 0; r < f->rank; r++) {
    double with_a = 0, with_b = 0;
    for (size_t j = 0; j < M; j++) {
      with_a += f->root[r * M + j] * a[j];
      with_b += f->root[r * M + j] * b[j];
    }
    covariance -= with_a * with_b;
  }
  return covariance;
}

static void files_predict_as_their_weights_and_root(void **state)
{
  const struct gpnn_model_options options = {.threads = 1};
  struct file file;
  struct gpnn_index *index = NULL;
  struct gpnn_parameters *params = NULL;
  struct gpnn_channel channel;
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  double mean[C], variance[C], ones[C], covariance[C * C];
  size_t n;
  bool other;
  (void)state;
  begin(&file);
  assert_ok(gpnn_index_open(&index, file.path, true, &err));
  const struct gpnn_dataset *data = gpnn_index_dataset(index);
  assert_ok(gpnn_parameters_read_text(&params, &n, "model", data->stored->text,
                                      data->stored->length, &err));
  assert_int_equal(params->family, GPNN_FAMILY_AUGMENTED);
  assert_ok(gpnn_channels_find(data, 1, params, &channel, &other, &err));
  assert_ok(gpnn_model_new(&model, 1, &channel, &options, &err));
  const struct gpnn_query query = {.n = C, .x = file.f.cx};
  const struct gpnn_latent latent = {.mean = mean, .variance = variance};
  for (size_t i = 0; i < C; i++) ones[i] = 1;
  const struct gpnn_errors errors = {.process = ones, .mean = ones};
  assert_ok(gpnn_model_predict(model, &query, &latent, &counts, &err));
  assert_ok(gpnn_model_joint(model, 0, &query, &errors, covariance, &err));
  for (size_t i = 0; i < C; i++)
    for (size_t j = 0; j < C; j++) {
      double wanted_mean,
          wanted = by_formula(&file.fusion, file.f.cx + i * D, file.f.cx + j * D, &wanted_mean);
      assert_near(covariance[i * C + j], wanted, 1e-10);
      assert_near(mean[i], wanted_mean, 1e-11);
      if (i == j) assert_near(variance[i], wanted, 1e-6);
    }
  gpnn_model_free(model);
  gpnn_parameters_free(params, n);
  gpnn_index_close(index);
  end(&file);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_predict_as_their_weights_and_root)};
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
