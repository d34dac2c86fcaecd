#include "models/stack/stack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/heldout.h"
#include "models/mixture.h"

/* The members of one rank: the first of all channels, the second, and so on.  Channels with fewer
 * members than the rank have none in it. */
struct rank {
  struct gpnn_model *model;           /* owned; made from an earlier rank's if 'shares' */
  size_t n;                           /* channels of the stack that have a member in it */
  struct gpnn_channel *channels;      /* owned; of these, in the order of the stack's */
  struct gpnn_parameters *parameters; /* owned: theirs, without further members; what they own
                                         belongs to the channels' */
};

struct stack {
  size_t n;                            /* channels */
  const struct gpnn_channel *channels; /* n; borrowed, as are the options */
  const struct gpnn_model_options *options;
  size_t n_ranks;
  struct rank *ranks; /* owned; n_ranks */
};

/* Which of the channels of rank 'r' is channel 'c' of the stack, which has a member in it. */
static size_t place_of(const struct stack *stack, size_t c, size_t r)
{
  size_t place = 0;
  for (size_t b = 0; b < c; b++)
    place += gpnn_parameters_n_members(stack->channels[b].parameters) > r;
  return place;
}

/* ---- life --------------------------------------------------------------------------------- */

static void stack_free(void *state)
{
  struct stack *stack = state;
  if (stack == NULL) return;
  for (size_t r = stack->n_ranks; r-- > 0;) { /* models made from others go first */
    gpnn_model_free(stack->ranks[r].model);
    free(stack->ranks[r].channels);
    free(stack->ranks[r].parameters);
  }
  free(stack->ranks);
  free(stack);
}

/* Sets the channels of rank 'r'. */
static bool rank_init(struct rank *rank, const struct stack *stack, size_t r)
{
  rank->channels = gpnn_alloc(stack->n, 1, sizeof *rank->channels);
  rank->parameters = gpnn_alloc(stack->n, 1, sizeof *rank->parameters);
  if (rank->channels == NULL || rank->parameters == NULL) return false;
  for (size_t c = 0; c < stack->n; c++) {
    const struct gpnn_channel *channel = &stack->channels[c];
    if (r >= gpnn_parameters_n_members(channel->parameters)) continue;
    struct gpnn_parameters *own = &rank->parameters[rank->n];
    *own = gpnn_parameters_alone(channel->parameters, r);
    rank->channels[rank->n++] = (struct gpnn_channel){channel->dataset, own};
  }
  return true;
}

/* A stack whose ranks have no models yet; NULL: not enough memory. */
static struct stack *stack_alloc(size_t n, const struct gpnn_channel *channels,
                                 const struct gpnn_model_options *options)
{
  struct stack *stack = calloc(1, sizeof *stack);
  if (stack == NULL) return NULL;
  *stack = (struct stack){.n = n, .channels = channels, .options = options};
  for (size_t c = 0; c < n; c++) {
    size_t members = gpnn_parameters_n_members(channels[c].parameters);
    if (members > stack->n_ranks) stack->n_ranks = members;
  }
  stack->ranks = calloc(stack->n_ranks, sizeof *stack->ranks);
  bool enough = stack->ranks != NULL;
  if (!enough) stack->n_ranks = 0;
  for (size_t r = 0; r < stack->n_ranks && enough; r++)
    enough = rank_init(&stack->ranks[r], stack, r);
  if (enough) return stack;
  stack_free(stack);
  return NULL;
}

static enum gpnn_status finish(struct stack *stack, enum gpnn_status status, void **state)
{
  if (status == GPNN_OK)
    *state = stack;
  else
    stack_free(stack);
  return status;
}

static bool same_numbers(size_t n, const double *a, size_t n_b, const double *b)
{
  return n == n_b && (n == 0 || memcmp(a, b, n * sizeof *a) == 0);
}

static bool same_metric(const struct rank *a, const struct rank *b)
{
  if (a->n != b->n) return false;
  for (size_t c = 0; c < a->n; c++) {
    const struct gpnn_covariance *p = &a->parameters[c].covariance;
    const struct gpnn_covariance *q = &b->parameters[c].covariance;
    if (!same_numbers(p->n_rotation, p->rotation, q->n_rotation, q->rotation) ||
        !same_numbers(p->n_lengthscales, p->lengthscale, q->n_lengthscales, q->lengthscale))
      return false;
  }
  return true;
}

/* Makes the model of rank 'r' from that of an earlier one with its metric, or anew. */
static enum gpnn_status make_rank(struct stack *stack, size_t r, struct gpnn_error *err)
{
  struct rank *rank = &stack->ranks[r];
  for (size_t e = 0; e < r; e++)
    if (same_metric(&stack->ranks[e], rank))
      return gpnn_model_with(stack->ranks[e].model, rank->channels, &rank->model, err);
  return gpnn_model_new(&rank->model, rank->n, rank->channels, stack->options, err);
}

static enum gpnn_status stack_make(void **state, size_t n, const struct gpnn_channel *channels,
                                   const struct gpnn_model_options *options, struct gpnn_error *err)
{
  struct stack *stack = stack_alloc(n, channels, options);
  if (stack == NULL) return gpnn_fail_memory(err, "for a stack");
  enum gpnn_status status = GPNN_OK;
  for (size_t r = 0; r < stack->n_ranks && status == GPNN_OK; r++)
    status = make_rank(stack, r, err);
  return finish(stack, status, state);
}

static enum gpnn_status stack_with(const void *state, const struct gpnn_channel *channels,
                                   void **other, struct gpnn_error *err)
{
  const struct stack *from = state;
  struct stack *stack = stack_alloc(from->n, channels, from->options);
  if (stack == NULL) return gpnn_fail_memory(err, "for a stack");
  enum gpnn_status status = GPNN_OK;
  if (stack->n_ranks != from->n_ranks)
    status = gpnn_fail(err, GPNN_EINVAL, "a stack of %zu members cannot become one of %zu",
                       from->n_ranks, stack->n_ranks);
  for (size_t r = 0; r < stack->n_ranks && status == GPNN_OK; r++)
    status = gpnn_model_with(from->ranks[r].model, stack->ranks[r].channels, &stack->ranks[r].model,
                             err);
  return finish(stack, status, other);
}

/* ---- predictions -------------------------------------------------------------------------- */

/* What to predict. */
struct request {
  const struct gpnn_query *query;
  size_t n_numbers; /* of neighbours: 0: each member from its own */
  const size_t *numbers;
  size_t n; /* results for each channel: a row for each number of neighbours */
  const struct gpnn_latent *latent;
  struct gpnn_counts *counts;
};

/* What the members of a rank predict. */
struct part {
  double *values;             /* owned: the arrays of 'latent', and its atoms */
  struct gpnn_latent latent;  /* of all channels of the rank */
  struct gpnn_counts *counts; /* owned; one for each of them */
};

static void parts_free(size_t n, struct part *parts)
{
  for (size_t r = 0; r < n && parts != NULL; r++) {
    free(parts[r].values);
    free(parts[r].counts);
  }
  free(parts);
}

/* Makes room for what is wanted of 'n_channels'; the means are needed for the variance as well. */
static bool part_init(struct part *part, size_t n_channels, const struct request *request)
{
  enum { ARRAYS = 7 };
  const struct gpnn_latent *wanted = request->latent;
  size_t size;
  if (!gpnn_multiply(n_channels, request->n, &size)) return false;
  part->values = gpnn_alloc(size, ARRAYS, sizeof *part->values);
  part->counts = calloc(n_channels, sizeof *part->counts);
  if (part->values == NULL || part->counts == NULL) return false;
  part->latent = (struct gpnn_latent){
      .mean = part->values,
      .variance = wanted->variance == NULL ? NULL : part->values + size,
      .misfit = wanted->misfit == NULL ? NULL : part->values + 2 * size,
      .nearest = wanted->nearest == NULL ? NULL : part->values + 3 * size,
      .mean_variance = wanted->mean_variance == NULL ? NULL : part->values + 4 * size,
      .share = wanted->share == NULL ? NULL : part->values + 5 * size,
      .atom = wanted->share == NULL ? NULL : part->values + 6 * size};
  return true;
}

/* Copies the atoms of the channels of rank 'r' that are wanted. */
static void set_atoms(const struct stack *stack, size_t r, const struct request *request,
                      const struct part *part)
{
  double *to = part->values + 6 * stack->ranks[r].n * request->n;
  for (size_t c = 0; c < stack->n && request->latent->share != NULL; c++)
    if (r < gpnn_parameters_n_members(stack->channels[c].parameters))
      *to++ = request->latent->atom[c];
}

static enum gpnn_status predict_rank(const struct stack *stack, size_t r,
                                     const struct request *request, struct part *part,
                                     struct gpnn_error *err)
{
  const struct rank *rank = &stack->ranks[r];
  if (!part_init(part, rank->n, request)) return gpnn_fail_memory(err, "for predictions");
  set_atoms(stack, r, request, part);
  if (request->n_numbers == 0)
    return gpnn_model_predict(rank->model, request->query, &part->latent, part->counts, err);
  return gpnn_model_predict_each(rank->model, request->query, request->n_numbers, request->numbers,
                                 &part->latent, part->counts, err);
}

static double *behind(double *array, size_t n)
{
  return array == NULL ? NULL : array + n;
}

/* The results of channel 'c'. */
static struct gpnn_latent of_channel(const struct gpnn_latent *latent, size_t n, size_t c)
{
  return (struct gpnn_latent){.mean = behind(latent->mean, c * n),
                              .variance = behind(latent->variance, c * n),
                              .mean_variance = behind(latent->mean_variance, c * n),
                              .misfit = behind(latent->misfit, c * n),
                              .share = behind(latent->share, c * n),
                              .nearest = behind(latent->nearest, c * n)};
}

static void add_counts(struct gpnn_counts *to, const struct gpnn_counts *from)
{
  to->n_clamped += from->n_clamped;
  gpnn_jitter_note(&to->jitter, from->jitter.n, from->jitter.most);
}

/* Combines what the members of channel 'c' predicted; 'weight' and 'members' have room for all
 * ranks.  Distances to the nearest row are the same for all numbers of neighbours. */
static void combine(const struct stack *stack, const struct part *parts, size_t c,
                    const struct request *request, double *weight, struct gpnn_latent *members)
{
  const struct gpnn_parameters *params = stack->channels[c].parameters;
  size_t n_members = gpnn_parameters_n_members(params), n = request->n;
  for (size_t r = 0; r < n_members; r++) {
    size_t place = place_of(stack, c, r);
    weight[r] = gpnn_parameters_weight(params, r);
    members[r] = of_channel(&parts[r].latent, n, place);
    add_counts(&request->counts[c], &parts[r].counts[place]);
  }
  struct gpnn_latent to = of_channel(request->latent, n, c), nearest = {.nearest = to.nearest};
  to.nearest = NULL;
  gpnn_mixture_combine(n_members, weight, members, n, &to);
  gpnn_mixture_combine(n_members, weight, members, request->query->n, &nearest);
}

/* Members far apart may have a variance that is no number. */
static enum gpnn_status check_finite(size_t n, const struct gpnn_latent *latent,
                                     struct gpnn_error *err)
{
  for (size_t i = 0; i < n; i++)
    if ((latent->mean != NULL && !isfinite(latent->mean[i])) ||
        (latent->variance != NULL && !isfinite(latent->variance[i])))
      return gpnn_fail(err, GPNN_ENUMERIC, "the members of a stack predict too different numbers");
  return GPNN_OK;
}

static enum gpnn_status combine_all(const struct stack *stack, const struct part *parts,
                                    const struct request *request, struct gpnn_error *err)
{
  double *weight = gpnn_alloc(stack->n_ranks, 1, sizeof *weight);
  struct gpnn_latent *members = gpnn_alloc(stack->n_ranks, 1, sizeof *members);
  bool enough = weight != NULL && members != NULL;
  for (size_t c = 0; c < stack->n && enough; c++)
    combine(stack, parts, c, request, weight, members);
  free(weight);
  free(members);
  if (!enough) return gpnn_fail_memory(err, "for predictions");
  return check_finite(stack->n * request->n, request->latent, err);
}

static enum gpnn_status predict(const struct stack *stack, const struct request *request,
                                struct gpnn_error *err)
{
  if (request->n == 0) return GPNN_OK;
  struct part *parts = calloc(stack->n_ranks, sizeof *parts);
  enum gpnn_status status = parts != NULL ? GPNN_OK : gpnn_fail_memory(err, "for predictions");
  for (size_t r = 0; r < stack->n_ranks && status == GPNN_OK; r++)
    status = predict_rank(stack, r, request, &parts[r], err);
  if (status == GPNN_OK) status = combine_all(stack, parts, request, err);
  parts_free(stack->n_ranks, parts);
  return status;
}

static enum gpnn_status stack_predict(const void *state, const struct gpnn_query *query,
                                      const struct gpnn_latent *latent, struct gpnn_counts *counts,
                                      struct gpnn_error *err)
{
  const struct request request = {
      .query = query, .n = query->n, .latent = latent, .counts = counts};
  return predict(state, &request, err);
}

static enum gpnn_status stack_predict_each(const void *state, const struct gpnn_query *query,
                                           size_t n_numbers, const size_t *numbers,
                                           const struct gpnn_latent *latent,
                                           struct gpnn_counts *counts, struct gpnn_error *err)
{
  struct request request = {.query = query,
                            .n_numbers = n_numbers,
                            .numbers = numbers,
                            .latent = latent,
                            .counts = counts};
  if (!gpnn_multiply(query->n, n_numbers, &request.n))
    return gpnn_fail_memory(err, "for predictions");
  return predict(state, &request, err);
}

/* ---- several rows together ---------------------------------------------------------------- */

/* Adds what a member contributes to the covariances: its 'own', and that of its difference from the
 * stack's mean. */
static void add_member(const struct gpnn_errors *errors, size_t n, double weight,
                       const double *difference, const double *own, double *covariance)
{
  double total = 0;
  for (size_t i = 0; i < n; i++) total += errors->process[i] * difference[i];
  if (errors->total) *covariance += weight * (*own + total * total);
  for (size_t a = 0; a < n * n && !errors->total; a++) {
    size_t i = a / n, j = a % n;
    double off = errors->process[i] * difference[i] * errors->process[j] * difference[j];
    covariance[a] += weight * (own[a] + off);
  }
}

/* Subtracts from the means of a channel's members, in 'parts', their mean. */
static void subtract_mean(const struct stack *stack, size_t c, size_t n, struct part *parts)
{
  const struct gpnn_parameters *params = stack->channels[c].parameters;
  size_t n_members = gpnn_parameters_n_members(params);
  for (size_t i = 0; i < n; i++) {
    double mean = 0;
    for (size_t r = 0; r < n_members; r++)
      mean +=
          gpnn_parameters_weight(params, r) * parts[r].latent.mean[place_of(stack, c, r) * n + i];
    for (size_t r = 0; r < n_members; r++)
      parts[r].latent.mean[place_of(stack, c, r) * n + i] -= mean;
  }
}

static enum gpnn_status stack_joint(const void *state, size_t c, const struct gpnn_query *query,
                                    const struct gpnn_errors *errors, double *covariance,
                                    struct gpnn_error *err)
{
  const struct stack *stack = state;
  const struct gpnn_parameters *params = stack->channels[c].parameters;
  const struct gpnn_latent means_only = {0};
  const struct request request = {.query = query, .n = query->n, .latent = &means_only};
  size_t n = query->n, n_members = gpnn_parameters_n_members(params), side = errors->total ? 1 : n;
  if (n == 0) return GPNN_OK;
  struct part *parts = calloc(n_members, sizeof *parts);
  double *own = gpnn_alloc(side, side, sizeof *own);
  enum gpnn_status status =
      parts != NULL && own != NULL ? GPNN_OK : gpnn_fail_memory(err, "for joint predictions");
  for (size_t r = 0; r < n_members && status == GPNN_OK; r++)
    status = predict_rank(stack, r, &request, &parts[r], err);
  if (status == GPNN_OK) subtract_mean(stack, c, n, parts);
  memset(covariance, 0, side * side * sizeof *covariance);
  for (size_t r = 0; r < n_members && status == GPNN_OK; r++) {
    size_t place = place_of(stack, c, r);
    status = gpnn_model_joint(stack->ranks[r].model, place, query, errors, own, err);
    if (status == GPNN_OK)
      add_member(errors, n, gpnn_parameters_weight(params, r), parts[r].latent.mean + place * n,
                 own, covariance);
  }
  free(own);
  parts_free(n_members, parts);
  return status;
}

/* ---- weights ------------------------------------------------------------------------------ */

static size_t stack_n_weights(const void *state, size_t c)
{
  const struct stack *stack = state;
  size_t total = 0;
  for (size_t r = 0; r < gpnn_parameters_n_members(stack->channels[c].parameters); r++)
    total += gpnn_model_n_weights(stack->ranks[r].model, place_of(stack, c, r));
  return total;
}

/* What a member predicts rows from, for free(): m neighbours and weights each, and two numbers. */
static bool member_weights(size_t n, size_t m, struct gpnn_weights *own)
{
  own->neighbour = gpnn_alloc(n, m, sizeof *own->neighbour);
  own->weight = gpnn_alloc(n, m, sizeof *own->weight);
  own->variance = gpnn_alloc(n, 1, sizeof *own->variance);
  own->nearest = gpnn_alloc(n, 1, sizeof *own->nearest);
  return own->neighbour && own->weight && own->variance && own->nearest;
}

static void free_weights(struct gpnn_weights *own)
{
  free(own->neighbour);
  free(own->weight);
  free(own->variance);
  free(own->nearest);
}

/* Adds what a member of this weight has, 'm' numbers a row, after the first 'used[i]' of row i, of
 * which there is room for 'width'. */
static void add_weights(size_t n, size_t m, const struct gpnn_weights *own, double weight,
                        size_t width, size_t *used, const struct gpnn_weights *to)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t k = i * m; k < (i + 1) * m && own->neighbour[k] >= 0; k++) {
      const size_t at = i * width + used[i]++;
      if (to->neighbour != NULL) to->neighbour[at] = own->neighbour[k];
      if (to->weight != NULL) to->weight[at] = weight * own->weight[k];
    }
    if (to->variance != NULL) to->variance[i] += weight * own->variance[i];
    if (to->nearest != NULL) to->nearest[i] += weight * own->nearest[i];
  }
}

static void clear_weights(size_t n, size_t width, const struct gpnn_weights *to)
{
  for (size_t i = 0; i < n * width; i++) {
    if (to->neighbour != NULL) to->neighbour[i] = -1;
    if (to->weight != NULL) to->weight[i] = 0;
  }
  for (size_t i = 0; i < n; i++) {
    if (to->variance != NULL) to->variance[i] = 0;
    if (to->nearest != NULL) to->nearest[i] = 0;
  }
}

static enum gpnn_status stack_weights(const void *state, size_t c, const struct gpnn_query *query,
                                      const struct gpnn_weights *to, struct gpnn_counts *counts,
                                      struct gpnn_error *err)
{
  const struct stack *stack = state;
  const struct gpnn_parameters *params = stack->channels[c].parameters;
  const size_t n = query->n, width = stack_n_weights(state, c);
  size_t *used = gpnn_alloc(n, 1, sizeof *used);
  enum gpnn_status status = used != NULL ? GPNN_OK : gpnn_fail_memory(err, "for weights");
  clear_weights(n, width, to);
  for (size_t r = 0; r < gpnn_parameters_n_members(params) && status == GPNN_OK; r++) {
    const struct gpnn_model *model = stack->ranks[r].model;
    const size_t place = place_of(stack, c, r), m = gpnn_model_n_weights(model, place);
    struct gpnn_weights own;
    struct gpnn_counts seen = {0};
    status = member_weights(n, m, &own) ? gpnn_model_weights(model, place, query, &own, &seen, err)
                                        : gpnn_fail_memory(err, "for weights");
    if (status == GPNN_OK)
      add_weights(n, m, &own, gpnn_parameters_weight(params, r), width, used, to);
    if (status == GPNN_OK) add_counts(counts, &seen);
    free_weights(&own);
  }
  free(used);
  return status;
}

/* ---- classes ------------------------------------------------------------------------------- */

static void add_weighted(size_t n, double weight, const double *from, double *to)
{
  for (size_t i = 0; i < n; i++) to[i] += weight * from[i];
}

/* Adds what the member of a channel in rank 'r' predicts; 'own' has room for that. */
static enum gpnn_status add_classes(const struct stack *stack, size_t channel, size_t r,
                                    const struct gpnn_query *query, size_t size, double *own,
                                    double *p, double *nearest, struct gpnn_counts *counts,
                                    struct gpnn_error *err)
{
  double weight = gpnn_parameters_weight(stack->channels[channel].parameters, r);
  double *own_nearest = nearest == NULL ? NULL : own + size;
  enum gpnn_status status = gpnn_model_classify(stack->ranks[r].model, place_of(stack, channel, r),
                                                query, own, own_nearest, counts, err);
  if (status != GPNN_OK) return status;
  add_weighted(size, weight, own, p);
  if (nearest != NULL) add_weighted(query->n, weight, own_nearest, nearest);
  return GPNN_OK;
}

/* Averages the probabilities of the members of a channel by weight (gpnn-methods-classes(7),
 * equation 13.15). */
static enum gpnn_status stack_classify(const void *state, size_t channel,
                                       const struct gpnn_query *query, double *p, double *nearest,
                                       struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct stack *stack = state;
  const struct gpnn_parameters *parameters = stack->channels[channel].parameters;
  size_t size, n = query->n, room;
  size_t n_classes = gpnn_dataset_n_classes(stack->channels[channel].dataset);
  enum gpnn_status status = GPNN_OK;
  if (!gpnn_multiply(n, n_classes, &size) || !gpnn_multiply(n, 1 + n_classes, &room))
    return gpnn_fail_memory(err, "for predictions");
  double *own = gpnn_alloc(room, 1, sizeof *own);
  if (own == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < size; i++) p[i] = 0;
  for (size_t i = 0; i < n && nearest != NULL; i++) nearest[i] = 0;
  for (size_t r = 0; r < gpnn_parameters_n_members(parameters) && status == GPNN_OK; r++)
    status = add_classes(stack, channel, r, query, size, own, p, nearest, counts, err);
  free(own);
  return status;
}

/* ---- properties --------------------------------------------------------------------------- */

/* The rank whose member of the first channel has the most neighbours. */
static const struct rank *widest(const struct stack *stack)
{
  const struct rank *widest = &stack->ranks[0];
  for (size_t r = 1; r < gpnn_parameters_n_members(stack->channels[0].parameters); r++)
    if (gpnn_model_neighbours(stack->ranks[r].model, 0) > gpnn_model_neighbours(widest->model, 0))
      widest = &stack->ranks[r];
  return widest;
}

static enum gpnn_status stack_hold_out(const void *state,
                                       const struct gpnn_holdout_options *options,
                                       struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  return gpnn_model_hold_out(widest(state)->model, options, heldout, err);
}

/* The most that any member has. */
static size_t stack_neighbours(const void *state, size_t channel)
{
  const struct stack *stack = state;
  size_t most = 0;
  for (size_t r = 0; r < gpnn_parameters_n_members(stack->channels[channel].parameters); r++) {
    size_t m = gpnn_model_neighbours(stack->ranks[r].model, place_of(stack, channel, r));
    if (m > most) most = m;
  }
  return most;
}

static bool stack_rebuilt_search(const void *state)
{
  const struct stack *stack = state;
  for (size_t r = 0; r < stack->n_ranks; r++)
    if (gpnn_model_rebuilt_search(stack->ranks[r].model)) return true;
  return false;
}

const struct gpnn_model_ops gpnn_stack_ops = {.make = stack_make,
                                              .with = stack_with,
                                              .predict = stack_predict,
                                              .predict_each = stack_predict_each,
                                              .hold_out = stack_hold_out,
                                              .joint = stack_joint,
                                              .weights = stack_weights,
                                              .classify = stack_classify,
                                              .neighbours = stack_neighbours,
                                              .n_weights = stack_n_weights,
                                              .rebuilt_search = stack_rebuilt_search,
                                              .free = stack_free};
