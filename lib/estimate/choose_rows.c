/* The rows that candidates are fitted to, and those that they are scored on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/sample.h"
#include "dataset/transformed.h"
#include "estimate/choose_private.h"

/* ---- samples ------------------------------------------------------------------------------ */

void gpnn_choice_release_rows(struct gpnn_choice_rows *sampled)
{
  gpnn_sample_free(sampled->sample);
  free(sampled->targets);
}

/* Sets the views: those of the sample, or of 'c' if there is none. */
static enum gpnn_status set_views(struct gpnn_choice_rows *rows, const struct gpnn_choice *c,
                                  struct gpnn_error *err)
{
  rows->targets = gpnn_alloc(c->n_targets, 1, sizeof(const struct gpnn_dataset *));
  if (rows->targets == NULL) return gpnn_fail_memory(err, "for a choice");
  for (size_t t = 0; t < c->n_targets; t++)
    rows->targets[t] = rows->sample == NULL
                           ? c->targets[t]
                           : gpnn_sample_target(rows->sample, c->targets[t]->target);
  return GPNN_OK;
}

enum gpnn_status gpnn_choice_take_distinct(struct gpnn_choice_rows *distinct,
                                           const struct gpnn_choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (gpnn_dataset_has_copies(c->dataset))
    status = gpnn_sample_distinct(&distinct->sample, c->dataset, err);
  return status == GPNN_OK ? set_views(distinct, c, err) : status;
}

enum gpnn_status gpnn_choice_draw_sample(struct gpnn_choice_rows *sampled,
                                         const struct gpnn_choice *c, size_t most,
                                         struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (most > 0 && c->dataset->n > most)
    status = gpnn_sample_draw(&sampled->sample, c->dataset, most, c->options->fit.seed, err);
  return status == GPNN_OK ? set_views(sampled, c, err) : status;
}

/* ---- how inputs are seen ------------------------------------------------------------------ */

void gpnn_choice_release_views(struct gpnn_choice *c)
{
  for (size_t s = 0; s <= GPNN_SIGHT_BOTH; s++) {
    free(c->views[s].x);
    gpnn_near_release(&c->views[s].fitted);
    gpnn_near_release(&c->views[s].validated);
    free(c->views[s].targets);
    gpnn_transformed_free(c->views[s].transformed);
    c->views[s] = (struct gpnn_choice_view){0};
  }
  c->x = NULL;
}

bool gpnn_choice_has_scores(const struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  /* What is rotated goes on in as many directions. */
  bool is_rotated = !options->rotation && options->rotate != GPNN_ROTATE_NONE;
  return options->scores && !is_rotated && c->dataset->scores != NULL &&
         c->dataset->scaling.sight == NULL && options->fit.mean != GPNN_MEAN_LINEAR &&
         options->like == NULL;
}

/* Makes the view of a sight from that of the values. */
static enum gpnn_status make_view(struct gpnn_choice *c, enum gpnn_sight sight,
                                  struct gpnn_error *err)
{
  const struct gpnn_dataset *const *targets = c->views[GPNN_SIGHT_VALUE].targets;
  struct gpnn_choice_view *view = &c->views[sight];
  unsigned char *list = gpnn_scores_list_sight(targets[0], sight);
  const struct gpnn_changes changes = {.sight = list};
  view->targets = gpnn_alloc(c->n_targets, 1, sizeof(const struct gpnn_dataset *));
  enum gpnn_status status =
      list == NULL || view->targets == NULL
          ? gpnn_fail_memory(err, "for a choice")
          : gpnn_transformed_new(&view->transformed, targets[0], &changes, err);
  free(list);
  for (size_t t = 0; t < c->n_targets && status == GPNN_OK; t++)
    view->targets[t] = c->n_targets == 1
                           ? gpnn_transformed_dataset(view->transformed)
                           : gpnn_transformed_target(view->transformed, targets[t]->target);
  if (status == GPNN_OK) return GPNN_OK;
  free(view->targets);
  view->targets = NULL;
  return status;
}

/* Takes the inputs of the validation rows of a view, once they are drawn. */
static enum gpnn_status take_inputs(struct gpnn_choice *c, struct gpnn_choice_view *view,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = view->targets[0];
  size_t d = dataset->d;
  if (c->self == NULL || view->x != NULL) return GPNN_OK;
  view->x = gpnn_alloc(c->n_drawn, d, sizeof *view->x);
  if (view->x == NULL) return gpnn_fail_memory(err, "for a choice");
  for (size_t i = 0; i < c->n_drawn; i++)
    memcpy(view->x + i * d, dataset->x + (size_t)c->self[i] * d, d * sizeof *view->x);
  return GPNN_OK;
}

enum gpnn_status gpnn_choice_see(struct gpnn_choice *c, enum gpnn_sight sight,
                                 struct gpnn_error *err)
{
  struct gpnn_choice_view *view = &c->views[sight];
  enum gpnn_status status = view->targets == NULL ? make_view(c, sight, err) : GPNN_OK;
  if (status == GPNN_OK) status = take_inputs(c, view, err);
  if (status != GPNN_OK) return status;
  c->targets = view->targets;
  c->dataset = view->targets[0];
  c->x = view->x;
  c->sight = sight;
  return GPNN_OK;
}

/* ---- neighbours --------------------------------------------------------------------------- */

enum gpnn_status gpnn_choice_find_near(struct gpnn_choice *c, size_t n,
                                       const struct gpnn_parameters *params, size_t wanted,
                                       double recall, const struct gpnn_near_lists **lists,
                                       struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d, k = wanted < dataset->n ? wanted : dataset->n;
  struct gpnn_search_options how = GPNN_SEARCH_OPTIONS_INIT;
  double *lengthscale = gpnn_alloc(d, 1, sizeof *lengthscale);
  if (lengthscale == NULL) return gpnn_fail_memory(err, "for a choice");
  gpnn_covariance_expand(&params->covariance, d, dataset->group, lengthscale);
  how.neighbours = k;
  how.recall = recall;
  how.lengthscale = lengthscale;
  how.rotation = params->covariance.rotation;
  how.seed = c->options->fit.seed;
  how.threads = c->options->fit.threads;
  how.brief = true;
  const struct gpnn_near_query query = {dataset->n, d, dataset->x, n, c->x, k, &how};
  enum gpnn_status status = gpnn_near_find(&c->views[c->sight].validated, &query, lists, err);
  free(lengthscale);
  return status;
}

bool gpnn_choice_brings_near(const struct gpnn_choice *c, const struct gpnn_parameters *params,
                             size_t m)
{
  const struct gpnn_covariance *covariance = &params->covariance;
  bool is_shared = covariance->n_lengthscales == 1 && covariance->rotation == NULL;
  return is_shared && c->dataset->row_group == NULL && m < c->dataset->n;
}

enum gpnn_status gpnn_choice_bring_near(struct gpnn_choice *c, const struct gpnn_parameters *params,
                                        size_t m, struct gpnn_query *query, struct gpnn_error *err)
{
  const struct gpnn_near_lists *lists;
  if (!gpnn_choice_brings_near(c, params, m)) return GPNN_OK;
  enum gpnn_status status = gpnn_choice_find_near(c, query->n, params, m + 1, 0.99, &lists, err);
  if (status != GPNN_OK) return status;
  query->candidates = lists->row;
  query->n_candidates = lists->k;
  return GPNN_OK;
}

enum gpnn_status gpnn_choice_use_rows(struct gpnn_choice *c,
                                      const struct gpnn_dataset *const *targets,
                                      struct gpnn_error *err)
{
  struct gpnn_choice_view *view = &c->views[GPNN_SIGHT_VALUE];
  gpnn_choice_release_views(c);
  view->targets = gpnn_alloc(c->n_targets, 1, sizeof(const struct gpnn_dataset *));
  if (view->targets == NULL) return gpnn_fail_memory(err, "for a choice");
  for (size_t t = 0; t < c->n_targets; t++) view->targets[t] = targets[t];
  return gpnn_choice_see(c, GPNN_SIGHT_VALUE, err);
}

enum gpnn_status gpnn_choice_lift(const struct gpnn_choice *c,
                                  const struct gpnn_choose_trial *trial, enum gpnn_sight sight,
                                  struct gpnn_parameters *starts, struct gpnn_error *err)
{
  const struct gpnn_dataset *seen = c->views[sight].targets[0];
  const struct gpnn_covariance *from = &trial->params->covariance;
  size_t g = SIZE_MAX, last = SIZE_MAX, n = seen->n_groups;
  for (size_t t = 0; t < c->n_targets; t++) {
    starts[t] = trial->params[t];
    starts[t].covariance.n_lengthscales = n;
    starts[t].covariance.lengthscale = gpnn_alloc(n, 1, sizeof(double));
    if (starts[t].covariance.lengthscale == NULL) return gpnn_fail_memory(err, "for a choice");
  }
  for (size_t j = 0; j < seen->d; j++) {
    const struct gpnn_coordinate *coordinate = &seen->coordinates[j];
    bool is_shared = coordinate->is_score && j > 0 && coordinate[-1].feature == coordinate->feature;
    bool shares =
        j + 1 < seen->d && coordinate[1].feature == coordinate->feature && coordinate[1].is_score;
    if (!is_shared && coordinate->group != last) g++;
    last = coordinate->group;
    double all = from->lengthscale[from->n_lengthscales == 1 ? 0 : g];
    for (size_t t = 0; t < c->n_targets; t++)
      starts[t].covariance.lengthscale[coordinate->group] =
          is_shared || shares ? all * sqrt(2) : all;
  }
  return GPNN_OK;
}

/* ---- validation rows ---------------------------------------------------------------------- */

size_t gpnn_choice_rows_left(const struct gpnn_choice *c, size_t wanted)
{
  size_t left = c->dataset->n - c->n_kept;
  return wanted < left ? wanted : left;
}

double gpnn_choose_cost(size_t m, size_t d)
{
  const double n = (double)m, inputs = (double)d;
  return 12 + 1.2 * inputs + 0.65 * n + n * n * inputs / 65e3 + n * n * n / 350e3;
}

bool gpnn_choice_affords(const struct gpnn_choice *c, size_t m, size_t n_members)
{
  double budget = c->options->budget;
  return budget == 0 || gpnn_choose_cost(m, c->dataset->d) * (double)n_members <= budget;
}

/* Takes all numbers below the number of rows, and the next larger one, as far as they are
 * affordable: one at least. */
static void set_counts(struct gpnn_choice *c)
{
  if (!c->options->neighbours) {
    c->counts[c->n_counts++] = c->options->fit.neighbours;
    return;
  }
  while (c->n_counts < c->head->n_counts) {
    if (c->n_counts > 0 && !gpnn_choice_affords(c, c->head->counts[c->n_counts], 1)) break;
    c->counts[c->n_counts] = c->head->counts[c->n_counts];
    if (c->counts[c->n_counts++] >= c->dataset->n) break;
  }
}

/* Few neighbours suffice to compare candidates on rows among the training rows, but not on rows in
 * gaps. */
size_t gpnn_choice_first_counts(const struct gpnn_choice *c)
{
  bool all = c->options->like != NULL || c->n_counts < c->head->n_first;
  return all ? c->n_counts : c->head->n_first;
}

/* A fit takes the first rows of a random order of all rows, so those at its end are new to it. */
enum gpnn_status gpnn_choice_draw_rows(struct gpnn_choice *c, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = c->dataset;
  struct gpnn_rng rng;
  set_counts(c);
  size_t end = c->head->count_rows(c), n = c->n;
  uint64_t *drawn = gpnn_alloc(end, 1, sizeof *drawn);
  c->self = gpnn_alloc(n, 1, sizeof *c->self);
  c->n_drawn = n;
  enum gpnn_status status = GPNN_OK;
  if (drawn == NULL || c->self == NULL) status = gpnn_fail_memory(err, "for a choice");
  gpnn_rng_init(&rng, c->options->fit.seed, GPNN_RNG_ESTIMATE);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, dataset->n, end, drawn, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) c->self[i] = (int64_t)drawn[end - n + i];
  free(drawn);
  if (status == GPNN_OK) status = gpnn_choice_see(c, GPNN_SIGHT_VALUE, err);
  return status == GPNN_OK ? c->head->make_room(c, err) : status;
}
