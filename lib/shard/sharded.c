#include "shard/sharded.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shard/sharded_private.h"
#include "table/stream.h"

enum { MOST_TASKS = 64 };

enum kind { DISMISS, MAKE, PREDICT, RELEASE };

/* What rank 0, or one of several peers, asks for; what comes with it follows. */
struct order {
  enum kind kind;
  size_t task;
  size_t neighbours, draws;      /* of MAKE */
  enum gpnn_precision precision; /* of MAKE */
  size_t length;                 /* of MAKE: bytes of text */
  size_t n_regressors;           /* of PREDICT, as are the following */
  unsigned wanted;
  double atom;
};

struct gpnn_server {
  struct gpnn_shard *shard; /* borrowed */
  int threads;
  struct gpnn_peers *peers;                 /* borrowed; NULL: rank 0 leads */
  struct order *board;                      /* owned; of peers: what each asks for */
  bool has_left;                            /* all peers have predicted their rows */
  struct gpnn_shard_task tasks[MOST_TASKS]; /* those without parameters are free */
  struct gpnn_sharded_counts counts;
};

enum gpnn_status gpnn_server_new(struct gpnn_server **server, struct gpnn_shard *shard, int threads,
                                 struct gpnn_peers *peers, struct gpnn_error *err)
{
  struct gpnn_server *new = calloc(1, sizeof *new);
  if (new != NULL && peers != NULL) new->board = calloc(shard->comm->size, sizeof *new->board);
  if (new == NULL || (peers != NULL && new->board == NULL)) {
    free(new);
    return gpnn_fail_memory(err, "for shards");
  }
  new->shard = shard;
  new->threads = threads;
  new->peers = peers;
  *server = new;
  return GPNN_OK;
}

void gpnn_server_free(struct gpnn_server *server)
{
  for (size_t i = 0; server != NULL && i < MOST_TASKS; i++)
    gpnn_shard_task_release(&server->tasks[i]);
  if (server != NULL) free(server->board);
  free(server);
}

struct gpnn_sharded_counts gpnn_sharded_counts(const struct gpnn_server *server)
{
  return server->counts;
}

/* ---- orders, as all ranks carry them out ------------------------------------------------------
 */

/* Makes room for 'n' bytes on every rank, or on none. */
static enum gpnn_status receive(struct gpnn_comm *comm, const void *given, size_t n, void **bytes,
                                struct gpnn_error *err)
{
  *bytes = malloc(n > 0 ? n : 1);
  enum gpnn_status status = *bytes == NULL ? gpnn_fail_memory(err, "for an order") : GPNN_OK;
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK && given != NULL) memcpy(*bytes, given, n);
  if (status == GPNN_OK) gpnn_comm_broadcast(comm, 0, *bytes, n);
  return status;
}

/* 'text' is NULL except on rank 0. */
static enum gpnn_status make(struct gpnn_server *server, const struct order *order,
                             const char *text, struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.neighbours = order->neighbours,
                                             .precision = order->precision,
                                             .draws = order->draws,
                                             .threads = server->threads};
  void *bytes = NULL;
  enum gpnn_status status = receive(server->shard->comm, text, order->length, &bytes, err);
  if (status == GPNN_OK)
    status = gpnn_shard_task_init(&server->tasks[order->task], server->shard, bytes, order->length,
                                  &options, err);
  free(bytes);
  return status;
}

/* 'query', 'latent' and 'p' are those of this rank's rows, of which there may be none. */
static enum gpnn_status predict(struct gpnn_server *server, const struct order *order,
                                const struct gpnn_query *query, struct gpnn_latent *latent,
                                double *p, struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_shard_batch batch = {.n = query->n,
                                         .x = query->x,
                                         .regressors = query->regressors,
                                         .n_regressors = order->n_regressors,
                                         .wanted = order->wanted,
                                         .p = p,
                                         .atom = order->atom};
  return gpnn_shard_predict(&server->tasks[order->task], &batch, latent, counts, &server->counts,
                            err);
}

void gpnn_sharded_serve(struct gpnn_server *server)
{
  struct order order = {.kind = MAKE};
  while (order.kind != DISMISS) {
    struct gpnn_error err; /* rank 0 has it too */
    struct gpnn_query none = {.n = 0};
    struct gpnn_latent latent = {.mean = NULL};
    struct gpnn_counts counts = {.n_rows = 0};
    enum gpnn_status status = GPNN_OK;
    gpnn_comm_broadcast(server->shard->comm, 0, &order, sizeof order);
    if (order.kind == MAKE) status = make(server, &order, NULL, &err);
    if (order.kind == PREDICT)
      status = predict(server, &order, &none, &latent, NULL, &counts, &err);
    if (order.kind == RELEASE) gpnn_shard_task_release(&server->tasks[order.task]);
    (void)status;
  }
}

void gpnn_server_dismiss(struct gpnn_server *server)
{
  struct order order = {.kind = DISMISS};
  gpnn_comm_broadcast(server->shard->comm, 0, &order, sizeof order);
}

/* ---- peers --------------------------------------------------------------------------------- */

/* Keeps what all ranks have failed with. */
static enum gpnn_status note(struct gpnn_server *server, enum gpnn_status status,
                             const struct gpnn_error *err)
{
  if (status != GPNN_OK) server->peers->failure = *err;
  return status;
}

/* Learns what peers ask for, unless one of them fails: that of the first who asks to predict, or
 * nothing. */
static enum gpnn_status meet(struct gpnn_server *server, enum gpnn_status status,
                             const struct order *own, struct order *wanted, struct gpnn_error *err)
{
  struct gpnn_comm *comm = server->shard->comm;
  status = gpnn_peers_agree(server->peers, status, err);
  if (status != GPNN_OK) return status;
  gpnn_comm_share(comm, own, sizeof *own, server->board);
  *wanted = *own;
  for (size_t r = 0; r < comm->size && wanted->kind != PREDICT; r++) *wanted = server->board[r];
  return GPNN_OK;
}

enum gpnn_status gpnn_server_leave(struct gpnn_server *server, enum gpnn_status status,
                                   struct gpnn_error *err)
{
  const struct order none = {.kind = DISMISS};
  struct order wanted = {.kind = PREDICT};
  if (server->has_left) return gpnn_peers_agree(server->peers, status, err);
  while (wanted.kind == PREDICT) {
    const struct gpnn_query no_rows = {.n = 0};
    struct gpnn_latent latent = {.mean = NULL};
    struct gpnn_counts counts = {.n_rows = 0};
    status = meet(server, status, &none, &wanted, err);
    if (status == GPNN_OK && wanted.kind == PREDICT)
      status = note(server, predict(server, &wanted, &no_rows, &latent, NULL, &counts, err), err);
    if (status != GPNN_OK) return status;
  }
  server->has_left = true;
  return GPNN_OK;
}

/* ---- the model ------------------------------------------------------------------------------ */

struct sharded {
  struct gpnn_server *server;
  size_t task;
};

/* Predicts by all ranks, and by peers what others of them have as well. */
static enum gpnn_status ask(struct gpnn_server *server, const struct order *order,
                            const struct gpnn_query *query, struct gpnn_latent *latent, double *p,
                            struct gpnn_counts *counts, struct gpnn_error *err)
{
  struct order wanted = *order;
  if (server->peers == NULL) {
    gpnn_comm_broadcast(server->shard->comm, 0, &wanted, sizeof wanted);
    return predict(server, &wanted, query, latent, p, counts, err);
  }
  enum gpnn_status status = meet(server, GPNN_OK, order, &wanted, err);
  if (status != GPNN_OK) return status;
  return note(server, predict(server, &wanted, query, latent, p, counts, err), err);
}

/* Predicts the arrays of 'latent', and probabilities unless 'p' is NULL. */
static enum gpnn_status predict_rows(const struct sharded *sharded, const struct gpnn_query *query,
                                     const struct gpnn_latent *latent, double *p,
                                     struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = sharded->server->tasks[sharded->task].channel.dataset;
  struct gpnn_latent to = *latent;
  double **arrays[GPNN_SHARD_ARRAYS];
  struct order order = {.kind = PREDICT,
                        .task = sharded->task,
                        .n_regressors = query->regressors == NULL ? 0 : data->n_regressors,
                        .wanted = p == NULL ? 0 : GPNN_SHARD_CLASSES,
                        .atom = latent->atom == NULL ? 0 : *latent->atom};
  if (query->self != NULL || query->group != NULL || query->candidates != NULL)
    return gpnn_fail(err, GPNN_EINVAL, "shards cannot leave training rows out");
  gpnn_shard_latent_arrays(&to, arrays);
  for (unsigned a = 0; a < GPNN_SHARD_ARRAYS; a++)
    if (*arrays[a] != NULL) order.wanted |= 1U << a;
  if (query->n == 0) return GPNN_OK;
  return ask(sharded->server, &order, query, &to, p, counts, err);
}

static enum gpnn_status sharded_predict(const void *state, const struct gpnn_query *query,
                                        const struct gpnn_latent *latent,
                                        struct gpnn_counts *counts, struct gpnn_error *err)
{
  return predict_rows(state, query, latent, NULL, counts, err);
}

/* What is predicted from no training row, this rank knows by itself. */
static enum gpnn_status sharded_classify(const void *state, size_t channel,
                                         const struct gpnn_query *query, double *p, double *nearest,
                                         struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct sharded *sharded = state;
  const struct gpnn_latent latent = {.nearest = nearest};
  bool has_none = query->candidates != NULL && query->n == 1 && query->candidates[0] < 0;
  (void)channel; /* there is one */
  if (!has_none) return predict_rows(sharded, query, &latent, p, counts, err);
  return gpnn_shard_classify_none(&sharded->server->tasks[sharded->task], query, p, nearest, counts,
                                  err);
}

static size_t sharded_neighbours(const void *state, size_t channel)
{
  const struct sharded *sharded = state;
  (void)channel;
  return sharded->server->tasks[sharded->task].metrics[0].neighbours;
}

static void sharded_free(void *state)
{
  struct sharded *sharded = state;
  if (sharded == NULL) return;
  struct order order = {.kind = RELEASE, .task = sharded->task};
  if (sharded->server->peers == NULL) { /* or else others may still need it */
    gpnn_comm_broadcast(sharded->server->shard->comm, 0, &order, sizeof order);
    gpnn_shard_task_release(&sharded->server->tasks[sharded->task]);
  }
  free(sharded);
}

/* Makes a model by all ranks, which peers do at the same time. */
static enum gpnn_status begin_make(struct gpnn_server *server, struct order *order,
                                   const char *text, struct gpnn_error *err)
{
  if (server->peers == NULL) {
    gpnn_comm_broadcast(server->shard->comm, 0, order, sizeof *order);
    return make(server, order, text, err);
  }
  enum gpnn_status status = gpnn_peers_agree(server->peers, GPNN_OK, err);
  return status == GPNN_OK ? note(server, make(server, order, text, err), err) : status;
}

/* Lets all ranks make the model of these parameters. */
static enum gpnn_status order_make(struct gpnn_server *server, const struct gpnn_channel *channel,
                                   const struct gpnn_model_options *options, size_t *task,
                                   struct gpnn_error *err)
{
  struct gpnn_output *memory = NULL;
  struct order order = {.kind = MAKE,
                        .neighbours = options->neighbours,
                        .draws = options->draws,
                        .precision = options->precision};
  while (order.task < MOST_TASKS && server->tasks[order.task].parameters != NULL) order.task++;
  if (order.task == MOST_TASKS) return gpnn_fail_memory(err, "for another model of shards");
  enum gpnn_status status = gpnn_output_open_memory(&memory, err);
  if (status == GPNN_OK) status = gpnn_parameters_write(channel->parameters, 1, memory, err);
  if (status == GPNN_OK) {
    const char *text = gpnn_output_memory(memory, &order.length);
    if (text == NULL)
      status = gpnn_fail_memory(err, "for the parameters");
    else
      status = begin_make(server, &order, text, err);
  }
  gpnn_output_abandon(memory);
  *task = order.task;
  return status;
}

static enum gpnn_status make_state(struct gpnn_server *server, size_t n,
                                   const struct gpnn_channel *channels,
                                   const struct gpnn_model_options *options,
                                   struct sharded **sharded, struct gpnn_error *err)
{
  size_t task = 0;
  if (n != 1) return gpnn_fail(err, GPNN_EINVAL, "shards have one target");
  if (options->share > 1)
    return gpnn_fail(err, GPNN_EINVAL, "rows of shards cannot share a factorisation");
  if (channels[0].dataset->observed != NULL)
    return gpnn_fail(err, GPNN_EINVAL, "shards cannot have weights of rows");
  enum gpnn_status status = order_make(server, channels, options, &task, err);
  if (status != GPNN_OK) return status;
  *sharded = malloc(sizeof **sharded);
  if (*sharded == NULL) return gpnn_fail_memory(err, "for a model of shards");
  **sharded = (struct sharded){server, task};
  return GPNN_OK;
}

/* The model is made anew, which finds the searches again where the metric is that of the shards. */
static enum gpnn_status sharded_with(const void *state, const struct gpnn_channel *channels,
                                     void **other, struct gpnn_error *err)
{
  const struct sharded *sharded = state;
  struct sharded *made = NULL;
  const struct gpnn_model_options options = sharded->server->tasks[sharded->task].options;
  enum gpnn_status status = make_state(sharded->server, 1, channels, &options, &made, err);
  if (status == GPNN_OK) *other = made;
  return status;
}

static const struct gpnn_model_ops sharded_ops = {.with = sharded_with,
                                                  .predict = sharded_predict,
                                                  .classify = sharded_classify,
                                                  .neighbours = sharded_neighbours,
                                                  .free = sharded_free};

enum gpnn_status gpnn_sharded_new(struct gpnn_model **model, struct gpnn_server *server, size_t n,
                                  const struct gpnn_channel *channels,
                                  const struct gpnn_model_options *options, struct gpnn_error *err)
{
  struct sharded *sharded = NULL;
  enum gpnn_status status = make_state(server, n, channels, options, &sharded, err);
  return status == GPNN_OK
             ? gpnn_model_wrap(model, "sharded", &sharded_ops, sharded, n, channels, options, err)
             : status;
}
