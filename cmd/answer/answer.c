#include "cmd/answer/answer.h"

#include <string.h>

#include "base/memory.h"
#include "cmd/answer/private.h"
#include "cmd/common/open.h"
#include "cmd/common/pool.h"
#include "cotrain/respond.h"

struct answering {
  const struct cli *cli;
  const struct answer_arguments *a;
  struct opened opened;
  struct gpnn_model *model;
  struct ids asked;
  struct pool pool; /* the rows that are asked about */
  struct gpnn_answers answers;
  struct private_answers hidden;
};

bool answer_resolve(const struct cli *cli, void *arguments)
{
  struct answer_arguments *a = arguments;
  if (a->id == NULL) a->id = "id";
  if (!private_resolve(cli, a)) return false;
  if (a->status || a->new_ledger != NULL) return true;
  if (a->params != NULL && a->public_params != NULL)
    return cli_refuse(cli, "--params and --hyper-from both name parameters: give one of them");
  if (a->public_params != NULL) a->params = a->public_params;
  if (!open_default_params(cli, &a->params)) return false;
  const char *const paths[] = {a->params, a->ids, cli_operand(cli, 1)};
  size_t n = 0;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    n += paths[i] != NULL && strcmp(paths[i], "-") == 0;
  return n <= 1 || cli_refuse(cli, "only one of parameters, pool and --ids can come from standard "
                                   "input");
}

static enum gpnn_status open_all(struct answering *r, struct gpnn_error *err)
{
  const struct cli *cli = r->cli;
  enum gpnn_status status =
      open_single(cli, r->a->params, r->a->target, "owners answer about rows, not about cells",
                  &r->opened, &r->model, err);
  if (status == GPNN_OK) status = gpnn_respond_check(r->model, err);
  if (status == GPNN_OK && r->a->ids != NULL)
    status = ids_read(cli, r->a->ids, r->a->id, &r->asked, err);
  if (status != GPNN_OK) return status;
  return pool_read(cli, r->opened.dataset, cli_operand(cli, 1), r->a->id,
                   r->a->ids == NULL ? NULL : &r->asked, false, &r->pool, err);
}

/* Says who answers, about what. */
static enum gpnn_status begin_answers(struct answering *r, struct gpnn_error *err)
{
  struct gpnn_answers *answers = &r->answers;
  const struct gpnn_dataset *view = gpnn_model_channel(r->model, 0)->dataset;
  const char *target = view->schema.target.name;
  answers->report = r->a->report;
  answers->n = r->pool.ids.n;
  answers->centre = view->scaling.y_mean;
  answers->scale = view->scaling.y_sd;
  answers->id_name = gpnn_copy_text(r->a->id, strlen(r->a->id));
  answers->target = gpnn_copy_text(target, strlen(target));
  enum gpnn_status status = gpnn_answers_allocate(answers, r->a->hides, err);
  for (size_t i = 0; i < answers->n && status == GPNN_OK; i++) {
    const char *id = r->pool.ids.text[i];
    answers->ids[i] = gpnn_copy_text(id, strlen(id));
    if (answers->ids[i] == NULL) status = gpnn_fail_memory(err, "for answers");
  }
  if (status == GPNN_OK && (answers->id_name == NULL || answers->target == NULL))
    status = gpnn_fail_memory(err, "for answers");
  return status;
}

static enum gpnn_status find_answers(struct answering *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (!r->a->hides) return gpnn_respond(r->model, r->model, r->pool.x, &r->answers, err);
  status = private_prepare(r->cli, r->a, r->model, r->pool.x, &r->answers, &r->hidden, err);
  if (status != GPNN_OK) return status;
  return gpnn_respond(r->hidden.clipped.model, r->hidden.clipped.blank, r->pool.x, &r->answers,
                      err);
}

/* What is charged to a ledger may be told; so the output is opened before. */
static enum gpnn_status write_answers(struct answering *r, struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  enum gpnn_status status = cli_open_output(r->cli->output, &output, err);
  if (status == GPNN_OK && r->a->hides)
    status = private_hide(r->cli, r->a, &r->answers, &r->hidden, err);
  if (status == GPNN_OK) status = gpnn_answers_write(&r->answers, output, err);
  return cli_close_output(output, status, err);
}

static void release(struct answering *r)
{
  private_release(&r->hidden);
  gpnn_answers_release(&r->answers);
  pool_release(&r->pool);
  ids_release(&r->asked);
  gpnn_model_free(r->model);
  open_release(&r->opened);
}

enum gpnn_status answer_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct answering r = {.cli = cli, .a = arguments};
  if (r.a->new_ledger != NULL) return private_new_ledger(r.a, err);
  if (r.a->status) return private_status(cli, r.a, err);
  enum gpnn_status status = open_all(&r, err);
  if (status == GPNN_OK) status = begin_answers(&r, err);
  if (status == GPNN_OK) status = find_answers(&r, err);
  if (status == GPNN_OK) status = write_answers(&r, err);
  release(&r);
  return status;
}
