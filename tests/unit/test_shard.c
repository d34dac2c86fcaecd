#include <sys/stat.h>

#include "base/rng.h"
#include "dataset/sample.h"
#include "kernel/parameters.h"
#include "models/model.h"
#include "ranks.h"
#include "scratch.h"
#include "shard/gather.h"
#include "shard/sharded.h"
#include "trained.h"

enum { N = 400, N_NEW = 50 };

/* A table of rows, some of them several times, and noise. */
static char *make_table(void)
{
  struct gpnn_rng rng;
  char *text = malloc(1 << 16);
  int at = sprintf(text, "a\tb\tc\ty\n");
  gpnn_rng_init(&rng, 2, GPNN_RNG_TEST);
  for (int i = 0; i < N; i++) {
    double x[3];
    for (size_t j = 0; j < 3; j++) x[j] = floor((j == 2 ? 3 : 40) * gpnn_rng_uniform(&rng));
    at += sprintf(text + at, "%g\t%g\t%g\t%.6f\n", x[0], x[1], x[2],
                  sin(x[0] / 5) + cos(x[1] / 7) + x[2] + 0.1 * gpnn_rng_normal(&rng));
  }
  return text;
}

static const struct gpnn_roles plain = {.target = "y"};

struct run {
  struct gpnn_index *index; /* of one machine */
  const struct gpnn_dataset *dataset;
  const char *folder;
  const char *parameters;
  double x[N_NEW * 3], mean[N_NEW], variance[N_NEW], misfit[N_NEW], nearest[N_NEW];
  double asked; /* ranks a row */
  struct gpnn_error told[RANKS_MOST];
  enum gpnn_status status[RANKS_MOST];
};

static void deal(struct gpnn_comm *comm, void *context)
{
  struct run *run = context;
  const struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  size_t r = comm->rank;
  run->status[r] = gpnn_shard_deal(comm, run->folder, r == 0 ? run->dataset : NULL, NULL, &options,
                                   NULL, &run->told[r]);
}

static enum gpnn_status predict_by(const struct gpnn_model *model, struct run *run,
                                   struct gpnn_error *err)
{
  const struct gpnn_query query = {.n = N_NEW, .x = run->x};
  const struct gpnn_latent latent = {
      .mean = run->mean, .variance = run->variance, .misfit = run->misfit, .nearest = run->nearest};
  struct gpnn_counts counts = {0};
  return gpnn_model_predict(model, &query, &latent, &counts, err);
}

/* Predicts run->x by the model of 'dataset', or by that of all ranks if there is a 'server'. */
static enum gpnn_status predict(struct run *run, const struct gpnn_dataset *dataset,
                                struct gpnn_server *server, struct gpnn_error *err)
{
  struct gpnn_parameters *parameters = NULL;
  struct gpnn_channel channel;
  struct gpnn_model *model = NULL;
  const struct gpnn_model_options options = {.threads = 1};
  size_t n = 0;
  bool other;
  enum gpnn_status status = gpnn_parameters_read_text(&parameters, &n, "text", run->parameters,
                                                      strlen(run->parameters), err);
  if (status == GPNN_OK) status = gpnn_channels_find(dataset, 1, parameters, &channel, &other, err);
  if (status == GPNN_OK)
    status = server != NULL ? gpnn_sharded_new(&model, server, 1, &channel, &options, err)
                            : gpnn_model_new(&model, 1, &channel, &options, err);
  if (status == GPNN_OK) status = predict_by(model, run, err);
  gpnn_model_free(model);
  gpnn_parameters_free(parameters, n);
  return status;
}

static void predict_shards(struct gpnn_comm *comm, void *context)
{
  struct run *run = context;
  struct gpnn_shard shard = {.comm = NULL};
  struct gpnn_server *server = NULL;
  struct gpnn_error *err = &run->told[comm->rank];
  enum gpnn_status status = gpnn_shard_open(&shard, comm, run->folder, err);
  if (status == GPNN_OK) status = gpnn_server_new(&server, &shard, 1, NULL, err);
  if (status == GPNN_OK && comm->rank > 0) gpnn_sharded_serve(server);
  if (status == GPNN_OK && comm->rank == 0) {
    status = predict(run, shard.dataset, server, err);
    const struct gpnn_sharded_counts counts = gpnn_sharded_counts(server);
    run->asked = (double)counts.n_asked / (double)counts.n_rows;
    gpnn_server_dismiss(server);
  }
  run->status[comm->rank] = status;
  gpnn_server_free(server);
  gpnn_shard_close(&shard);
}

/* Makes the index of one machine, with an exact search. */
static struct gpnn_index *make_index(const struct gpnn_roles *roles)
{
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  struct gpnn_index *index = NULL;
  char *text = make_table();
  options.recall = 1;
  train(&training, text, roles, GPNN_SCALING_SCALE, 20);
  assert_ok(gpnn_index_make(scratch_path("one.gpi"), &training.dataset, NULL, &options, NULL,
                            &search, &err));
  gpnn_search_free(search);
  assert_ok(gpnn_index_open(&index, scratch_path("one.gpi"), false, &err));
  gpnn_training_release(&training);
  free(text);
  return index;
}

static void run_init(struct run *run, size_t size, const struct gpnn_roles *roles)
{
  static char folder[64];
  struct gpnn_rng rng;
  snprintf(folder, sizeof folder, "house%zu", size);
  *run = (struct run){.index = make_index(roles), .folder = strdup(scratch_path(folder))};
  run->dataset = gpnn_index_dataset(run->index);
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t i = 0; i < N_NEW * 3; i++) run->x[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < run->dataset->d * 5; i++) run->x[i] = run->dataset->x[i];
}

static void run_release(struct run *run, size_t size)
{
  static const char *const kinds[] = {"gpi", "rows"};
  for (size_t r = 0; r < size; r++)
    for (size_t k = 0; k < 2; k++) {
      char *path = gpnn_shard_path(run->folder, r, kinds[k]);
      unlink(path);
      free(path);
    }
  static const char *const common[] = {"manifest", "sample.gpi"};
  for (size_t k = 0; k < 2; k++) {
    char *path = gpnn_shard_path(run->folder, GPNN_SHARD_COMMON, common[k]);
    unlink(path);
    free(path);
  }
  rmdir(run->folder);
  free((char *)(uintptr_t)run->folder);
  gpnn_index_close(run->index);
  unlink(scratch_path("one.gpi"));
}

static bool is_same(const double *shard, size_t i, const double *all, size_t number, size_t width)
{
  if (shard == NULL || all == NULL) return false;
  return memcmp(shard + i * width, all + number * width, width * sizeof *shard) == 0;
}

/* Mismatch: a row of the shard is not the one of its number. */
static void compare_rows(struct gpnn_comm *comm, void *context)
{
  struct run *run = context;
  const struct gpnn_dataset *all = run->dataset;
  struct gpnn_shard shard = {.comm = NULL};
  size_t r = comm->rank;
  run->status[r] = gpnn_shard_open(&shard, comm, run->folder, &run->told[r]);
  if (run->status[r] != GPNN_OK) return;
  for (size_t i = 0; i < shard.dataset->n; i++) {
    const struct gpnn_dataset *own = shard.dataset;
    size_t number = (size_t)shard.number[i];
    if (!is_same(own->x, i, all->x, number, all->d) || !is_same(own->y, i, all->y, number, 1) ||
        !is_same(own->regressors, i, all->regressors, number, all->n_regressors) ||
        !is_same(own->noise, i, all->noise, number, 1) ||
        !is_same(own->offset, i, all->offset, number, 1))
      run->status[r] = GPNN_EMISMATCH;
  }
  gpnn_shard_close(&shard);
}

static void rows_are_dealt_with_all_that_belongs_to_them(void **state)
{
  (void)state;
  enum { RANKS = 3 };
  const struct gpnn_roles roles = {
      .target = "y", .inputs = "a", .regressors = "a", .row_noise = "b", .offsets = "c"};
  struct run run;
  run_init(&run, RANKS, &roles);
  ranks_run(RANKS, deal, &run);
  for (size_t r = 0; r < RANKS; r++) assert_int_equal(run.status[r], GPNN_OK);
  ranks_run(RANKS, compare_rows, &run);
  for (size_t r = 0; r < RANKS; r++) assert_int_equal(run.status[r], GPNN_OK);
  run_release(&run, RANKS);
}

/* Rows that rank 0 is sent, as on one machine they would be sampled. */
struct gather_run {
  struct run run;
  uint64_t most;
  const struct gpnn_dataset *wanted; /* n_row_groups: whether they have sets */
};

/* Mismatch: they are others. */
static void compare_gathered(struct gpnn_comm *comm, void *context)
{
  struct gather_run *gather = context;
  struct run *run = &gather->run;
  struct gpnn_gathered *gathered = NULL;
  struct gpnn_shard shard = {.comm = NULL};
  const struct gpnn_dataset *all = gather->wanted;
  size_t r = comm->rank;
  run->status[r] = gpnn_shard_open(&shard, comm, run->folder, &run->told[r]);
  if (run->status[r] != GPNN_OK) return;
  run->status[r] = gpnn_gather(&gathered, &shard, gather->most, 7, &run->told[r]);
  const struct gpnn_dataset *own = gathered == NULL ? NULL : gpnn_gathered_dataset(gathered);
  if (r == 0 && own != NULL) {
    bool is_equal =
        own->n == all->n && is_same(own->x, 0, all->x, 0, all->n * all->d) &&
        is_same(own->y, 0, all->y, 0, all->n) && own->n_row_groups == all->n_row_groups &&
        own->fingerprint == all->fingerprint &&
        (own->row_group == NULL || memcmp(own->row_group, all->row_group, all->n * 4) == 0);
    if (!is_equal) run->status[r] = GPNN_EMISMATCH;
  }
  gpnn_gathered_free(gathered);
  gpnn_shard_close(&shard);
}

static void rows_to_estimate_from_are_those_of_one_machine(void **state)
{
  (void)state;
  for (size_t size = 1; size <= 4; size += 3)
    for (size_t has_copies = 0; has_copies < 2; has_copies++) {
      struct gather_run gather = {.most = 0};
      struct run *run = &gather.run;
      struct gpnn_sample *distinct = NULL, *drawn = NULL;
      uint32_t sets[N];
      run_init(run, size, &plain);
      struct gpnn_dataset dataset = *run->dataset;
      for (size_t i = 0; i < dataset.n; i++) sets[i] = (uint32_t)(i % 7 == 5 ? i - 5 : i) / 2;
      dataset.n_row_groups = has_copies ? dataset.n / 2 + 1 : 0;
      dataset.row_group = has_copies ? sets : NULL;
      dataset.source = NULL;
      assert_ok(gpnn_index_fingerprint(&dataset, NULL, &dataset.fingerprint, &err));
      run->dataset = gather.wanted = &dataset;
      ranks_run(size, deal, run);
      for (size_t r = 0; r < size; r++) assert_int_equal(run->status[r], GPNN_OK);
      ranks_run(size, compare_gathered, &gather);
      for (size_t r = 0; r < size; r++) assert_int_equal(run->status[r], GPNN_OK);
      if (has_copies) assert_ok(gpnn_sample_distinct(&distinct, &dataset, &err));
      gather.most = 50;
      assert_ok(gpnn_sample_draw(&drawn, has_copies ? gpnn_sample_target(distinct, 0) : &dataset,
                                 50, 7, &err));
      gather.wanted = gpnn_sample_target(drawn, 0);
      ranks_run(size, compare_gathered, &gather);
      for (size_t r = 0; r < size; r++) assert_int_equal(run->status[r], GPNN_OK);
      gpnn_sample_free(drawn);
      gpnn_sample_free(distinct);
      run_release(run, size);
    }
}

static void predictions_do_not_depend_on_ranks(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "kernel\tmatern32\nlengthscale\t0.5\nkernelscale\t1\nnoise\t0.01\nneighbours\t12\n",
      "kernel\texp\nlengthscale\t0.5\t0.2\t2\nkernelscale\t1\nnoise\t0.001\nneighbours\t12\n"
      "likelihood\tstudent\nscale\t1\ndegrees\t5\n",
      "kernel\trbf\nlengthscale\t1\nkernelscale\t1\nnoise\t0.01\nneighbours\t1000\n"
      "likelihood\tstudent\nscale\t1\ndegrees\t5\n",
  };
  for (size_t size = 1; size <= 4; size++) {
    struct run run, alone;
    run_init(&run, size, &plain);
    ranks_run(size, deal, &run);
    for (size_t r = 0; r < size; r++) assert_int_equal(run.status[r], GPNN_OK);
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
      run.parameters = texts[t];
      alone = run;
      assert_ok(predict(&alone, run.dataset, NULL, &err));
      ranks_run(size, predict_shards, &run);
      if (run.status[0] != GPNN_OK) fail_msg("%s", run.told[0].text);
      assert_memory_equal(run.mean, alone.mean, sizeof run.mean);
      assert_memory_equal(run.variance, alone.variance, sizeof run.variance);
      assert_memory_equal(run.misfit, alone.misfit, sizeof run.misfit);
      assert_memory_equal(run.nearest, alone.nearest, sizeof run.nearest);
      assert_true(run.asked >= 1 && run.asked <= (double)size);
    }
    run_release(&run, size);
  }
}

/* Ranks that are peers. */
struct peers_run {
  struct run run;
  size_t fails; /* this rank does, after its first batch; RANKS_MOST: none */
};

/* Predicts rows of run->x, one more a rank than of the rank before, in batches of two. */
static enum gpnn_status predict_own(struct run *run, size_t rank, size_t fails,
                                    const struct gpnn_model *model, struct gpnn_error *err)
{
  struct gpnn_counts counts = {0};
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0, n; i <= rank && status == GPNN_OK; i += n) {
    size_t first = rank * (rank + 1) / 2 + i;
    n = rank + 1 - i < 2 ? 1 : 2;
    const struct gpnn_query query = {.n = n, .x = run->x + 3 * first};
    const struct gpnn_latent latent = {.mean = run->mean + first,
                                       .variance = run->variance + first,
                                       .misfit = run->misfit + first,
                                       .nearest = run->nearest + first};
    status = gpnn_model_predict(model, &query, &latent, &counts, err);
    if (rank == fails) return gpnn_fail(err, GPNN_EDATA, "row %zu is bad", first);
  }
  return status;
}

static void predict_as_peer(struct gpnn_comm *comm, void *context)
{
  struct peers_run *peers = context;
  struct run *run = &peers->run;
  struct gpnn_shard shard = {.comm = NULL};
  struct gpnn_server *server = NULL;
  struct gpnn_model *model = NULL;
  struct gpnn_parameters *parameters = NULL;
  struct gpnn_channel channel;
  struct gpnn_peers all;
  const struct gpnn_model_options options = {.threads = 1};
  struct gpnn_error *err = &run->told[comm->rank];
  size_t n = 0;
  bool other;
  gpnn_comm_peers(comm, &all);
  enum gpnn_status status = gpnn_shard_open(&shard, comm, run->folder, err);
  if (status == GPNN_OK) status = gpnn_server_new(&server, &shard, 1, &all, err);
  if (status == GPNN_OK)
    status = gpnn_parameters_read_text(&parameters, &n, "text", run->parameters,
                                       strlen(run->parameters), err);
  if (status == GPNN_OK)
    status = gpnn_channels_find(shard.dataset, 1, parameters, &channel, &other, err);
  if (status == GPNN_OK) status = gpnn_sharded_new(&model, server, 1, &channel, &options, err);
  if (status == GPNN_OK) status = predict_own(run, comm->rank, peers->fails, model, err);
  gpnn_model_free(model);
  status = gpnn_server_leave(server, status, err);
  if (comm->rank == 0) run->asked = (double)gpnn_sharded_counts(server).n_rows;
  run->status[comm->rank] = status;
  gpnn_parameters_free(parameters, n);
  gpnn_server_free(server);
  gpnn_shard_close(&shard);
}

static void peers_predict_rows_of_their_own(void **state)
{
  (void)state;
  enum { RANKS = 4 };
  const size_t n = RANKS * (RANKS + 1) / 2;
  struct peers_run peers;
  struct run alone, *run = &peers.run;
  run_init(run, RANKS, &plain);
  run->parameters = "kernel\texp\nlengthscale\t0.5\nkernelscale\t1\nnoise\t0.001\nneighbours\t12\n";
  ranks_run(RANKS, deal, run);
  alone = *run;
  assert_ok(predict(&alone, run->dataset, NULL, &err));
  peers.fails = RANKS_MOST;
  ranks_run(RANKS, predict_as_peer, &peers);
  for (size_t r = 0; r < RANKS; r++) assert_int_equal(run->status[r], GPNN_OK);
  assert_memory_equal(run->mean, alone.mean, n * sizeof *run->mean);
  assert_memory_equal(run->variance, alone.variance, n * sizeof *run->variance);
  assert_memory_equal(run->nearest, alone.nearest, n * sizeof *run->nearest);
  assert_true(run->asked == (double)n);
  for (peers.fails = 0; peers.fails < RANKS; peers.fails++) {
    char text[64];
    snprintf(text, sizeof text, "rank %zu on ", peers.fails);
    ranks_run(RANKS, predict_as_peer, &peers);
    for (size_t r = 0; r < RANKS; r++) {
      assert_int_equal(run->status[r], GPNN_EDATA);
      assert_true((strstr(run->told[r].text, text) == NULL) == (r == peers.fails));
      assert_non_null(strstr(run->told[r].text, " is bad"));
    }
  }
  run_release(run, RANKS);
}

/* Where neighbours lead far beyond themselves, a mean is bounded by the targets of all rows, though
 * few of these are neighbours of rows that are asked about alone. */
static void the_bound_is_that_of_the_rows_of_all_ranks(void **state)
{
  (void)state;
  enum { RANKS = 3, PLACES = 60 };
  struct run run, alone;
  size_t n_above = 0;
  double most = -INFINITY;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 4, GPNN_RNG_TEST);
  run_init(&run, RANKS, &plain);
  for (size_t i = 0; i < run.dataset->n; i++) most = fmax(most, run.dataset->y[i]);
  run.parameters = "kernel\trbf\nlengthscale\t3\nkernelscale\t100\nnoise\t1e-5\nneighbours\t12\n"
                   "likelihood\tstudent\nscale\t1\ndegrees\t5\n";
  ranks_run(RANKS, deal, &run);
  for (size_t place = 0; place < PLACES; place++) {
    double x[3] = {0};
    for (size_t j = 0; j < 3; j++) x[j] = 2 * gpnn_rng_normal(&rng);
    for (size_t i = 0; i < 3 * N_NEW; i++) run.x[i] = x[i % 3];
    alone = run;
    assert_ok(predict(&alone, run.dataset, NULL, &err));
    ranks_run(RANKS, predict_shards, &run);
    assert_int_equal(run.status[0], GPNN_OK);
    assert_memory_equal(run.mean, alone.mean, sizeof run.mean);
    n_above += run.mean[0] > most;
  }
  assert_true(n_above > 0);
  run_release(&run, RANKS);
}

static void what_shards_cannot_have_is_refused_on_all_ranks(void **state)
{
  (void)state;
  struct run run;
  struct stat st;
  run_init(&run, 3, &plain);
  struct gpnn_dataset dataset = *run.dataset;
  dataset.n_more = 1;
  run.dataset = &dataset;
  ranks_run(3, deal, &run);
  for (size_t r = 0; r < 3; r++) {
    assert_int_equal(run.status[r], GPNN_EINVAL);
    assert_non_null(strstr(run.told[r].text, "several targets"));
  }
  assert_int_equal(stat(run.folder, &st), -1);
  run_release(&run, 3);
}

static void shards_of_another_number_of_ranks_are_refused(void **state)
{
  (void)state;
  struct run run;
  run_init(&run, 2, &plain);
  ranks_run(2, deal, &run);
  ranks_run(3, predict_shards, &run);
  for (size_t r = 0; r < 3; r++) {
    assert_int_equal(run.status[r], GPNN_EMISMATCH);
    assert_non_null(strstr(run.told[r].text, "use mpirun -n 2"));
  }
  run_release(&run, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_dealt_with_all_that_belongs_to_them),
      cmocka_unit_test(rows_to_estimate_from_are_those_of_one_machine),
      cmocka_unit_test(predictions_do_not_depend_on_ranks),
      cmocka_unit_test(peers_predict_rows_of_their_own),
      cmocka_unit_test(the_bound_is_that_of_the_rows_of_all_ranks),
      cmocka_unit_test(what_shards_cannot_have_is_refused_on_all_ranks),
      cmocka_unit_test(shards_of_another_number_of_ranks_are_refused),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
