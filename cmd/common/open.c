#include "cmd/common/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/memory.h"
#include "cmd/common/signals.h"
#include "container/state.h"
#include "dataset/stored.h"
#include "dataset/transformed.h"
#include "kernel/sight.h"

bool open_default_params(const struct cli *cli, const char **params_path)
{
  if (*params_path != NULL || gpnn_index_has_parameters(cli_operand(cli, 0))) return true;
  *params_path = "-";
  if (!isatty(STDIN_FILENO)) return true;
  return cli_refuse(cli, "the parameters are missing: give them as -p FILE");
}

enum gpnn_status open_check_order(const char *path, const char *other, struct gpnn_error *err)
{
  if (gpnn_index_recognise(path) || !gpnn_index_recognise(other)) return GPNN_OK;
  const char *look = gpnn_index_look(path);
  if (look == NULL) return GPNN_OK; /* not there, for instance: who opens it can say */
  return gpnn_fail(err, GPNN_EMISMATCH, "%s is %s, not an index: did you swap the operands?", path,
                   look);
}

static const char *name_of(const char *path)
{
  if (path == NULL) return "parameters of the model";
  return strcmp(path, "-") == 0 ? "(stdin)" : path;
}

/* ---- targets that are wanted -------------------------------------------------------------- */

/* The name of the target that parameters are of. */
static const char *target_name(const struct opened *opened, const struct gpnn_parameters *params)
{
  return params->target != NULL ? params->target
                                : gpnn_dataset_target(opened->dataset, 0)->schema.target.name;
}

/* Says which targets there are. */
static enum gpnn_status refuse_target(const struct opened *opened, const char *name, size_t length,
                                      const char *what, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES], names[sizeof err->text / 2] = "";
  size_t used = 0;
  for (size_t t = 0; t < opened->n && used < sizeof names; t++) {
    const char *other = target_name(opened, &opened->parameters[t]);
    char one[GPNN_MASK_BYTES];
    used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", t == 0 ? "" : ", ",
                             gpnn_mask(one, other, strlen(other)));
  }
  return gpnn_fail(err, GPNN_EINVAL, "option --targets: '%s' %s; there are parameters of %s",
                   gpnn_mask(shown, name, length), what, names);
}

/* Moves the parameters of the target that is called 'name' to place 'to', from a later one. */
static enum gpnn_status choose_target(struct opened *opened, size_t to, const char *name,
                                      size_t length, struct gpnn_error *err)
{
  for (size_t t = 0; t < opened->n; t++) {
    const char *own = target_name(opened, &opened->parameters[t]);
    if (strlen(own) != length || memcmp(own, name, length) != 0) continue;
    if (t < to) return refuse_target(opened, name, length, "is there twice", err);
    struct gpnn_parameters chosen = opened->parameters[t];
    opened->parameters[t] = opened->parameters[to];
    opened->parameters[to] = chosen;
    return GPNN_OK;
  }
  return refuse_target(opened, name, length, "is not one of the targets", err);
}

/* Keeps the parameters of the targets that are wanted, in the order of their names. */
static enum gpnn_status choose_targets(struct opened *opened, struct gpnn_error *err)
{
  const char *name, *rest = opened->targets;
  size_t n = 0, length;
  if (rest == NULL) return GPNN_OK;
  while ((name = gpnn_list_next(&rest, &length)) != NULL) {
    enum gpnn_status status = choose_target(opened, n++, name, length, err);
    if (status != GPNN_OK) return status;
  }
  while (opened->n > n) gpnn_parameters_release(&opened->parameters[--opened->n]);
  return GPNN_OK;
}

/* ---- opening ------------------------------------------------------------------------------ */

enum gpnn_status open_refuse_grid(const struct gpnn_index *index, const char *advice,
                                  struct gpnn_error *err)
{
  if (gpnn_index_dataset(index)->grid == NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH, "%s is a grid index: %s", gpnn_index_path(index), advice);
}

enum gpnn_status open_refuse_model(const struct gpnn_index *index, const char *advice,
                                   struct gpnn_error *err)
{
  if (gpnn_index_dataset(index)->stored == NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH, "%s is a model file, which has no training rows: %s",
                   gpnn_index_path(index), advice);
}

/* Parameters of rows are about other inputs than those of a grid, even where their numbers agree.
 */
static enum gpnn_status check_kind(const struct opened *opened, struct gpnn_error *err)
{
  bool is_grid = opened->dataset->grid != NULL;
  for (size_t t = 0; t < opened->n; t++) {
    if ((opened->parameters[t].grid.n_factors > 0) == is_grid) continue;
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: parameters of %s, but %s is %s",
                     name_of(opened->parameters_path), is_grid ? "rows" : "a grid",
                     gpnn_index_path(opened->index),
                     is_grid ? "a grid index: use gpnn-grid fit" : "an index of rows");
  }
  return GPNN_OK;
}

/* Transforms the targets whose parameters say so. */
static enum gpnn_status transform_targets(struct opened *opened, struct gpnn_error *err)
{
  if (opened->maker != NULL && opened->state != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: has numbers for each training row, as counts, effects of groups and "
                     "weights of rows need, which shards cannot have yet",
                     name_of(opened->parameters_path));
  enum gpnn_status status = gpnn_sight_agree(opened->n, opened->parameters, opened->dataset, err);
  if (status == GPNN_OK)
    status = gpnn_channels_transform(opened->dataset, opened->n, opened->parameters, opened->state,
                                     &opened->transformed, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%s", name_of(opened->parameters_path));
  if (opened->transformed != NULL) opened->dataset = gpnn_transformed_dataset(opened->transformed);
  return GPNN_OK;
}

/* Finds the channels, and warns of a calibration of another model file. */
static enum gpnn_status find_channels(const struct cli *cli, struct opened *opened,
                                      struct gpnn_error *err)
{
  const char *name = name_of(opened->parameters_path);
  bool other_model = false;
  opened->channels = gpnn_alloc(opened->n, 1, sizeof *opened->channels);
  if (opened->channels == NULL) return gpnn_fail_memory(err, "for the targets");
  enum gpnn_status status = gpnn_channels_find(opened->dataset, opened->n, opened->parameters,
                                               opened->channels, &other_model, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%s", name);
  if (other_model)
    cli_warn(cli, "%s: made from another model than %s", name, gpnn_index_path(opened->index));
  return GPNN_OK;
}

/* The parameters of a model file, to which a calibration from outside is added.  What they say of
 * their estimation concerns the index that it was made from. */
static enum gpnn_status read_own(struct opened *opened, struct gpnn_error *err)
{
  const struct gpnn_stored *stored = opened->dataset->stored;
  enum gpnn_status status =
      gpnn_parameters_read_text(&opened->parameters, &opened->n, gpnn_index_path(opened->index),
                                stored->text, stored->length, err);
  for (size_t t = 0; t < opened->n && status == GPNN_OK; t++) {
    struct gpnn_provenance *provenance = &opened->parameters[t].provenance;
    free(provenance->comments);
    *provenance = (struct gpnn_provenance){
        .fit_rows = provenance->fit_rows, .has_index = true, .index = opened->dataset->fingerprint};
  }
  if (status != GPNN_OK || opened->parameters_path == NULL) return status;
  return gpnn_parameters_read_calibration(opened->parameters, opened->n, opened->parameters_path,
                                          err);
}

/* The parameters that were packed with the index. */
static enum gpnn_status read_packed(struct opened *opened, struct gpnn_error *err)
{
  const struct gpnn_packed *packed = &opened->dataset->packed;
  const char *path = gpnn_index_path(opened->index);
  if (packed->parameters == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: has no parameters: give them as -p FILE", path);
  return gpnn_parameters_read_bytes(&opened->parameters, &opened->n, &opened->state, path,
                                    packed->parameters, packed->parameters_length, err);
}

/* Reads the parameters, which may be in a file of their own. */
static enum gpnn_status read_parameters(struct opened *opened, struct gpnn_error *err)
{
  const char *path = opened->parameters_path;
  if (opened->dataset->stored != NULL) return read_own(opened, err);
  if (path == NULL) return read_packed(opened, err);
  if (gpnn_index_is_model(path))
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s is a model file, not parameters: it predicts by itself, so give it in "
                     "place of the index",
                     path);
  return gpnn_parameters_read_with_state(&opened->parameters, &opened->n, &opened->state, path,
                                         err);
}

enum gpnn_status open_files(const struct cli *cli, const char *path, const char *parameters_path,
                            bool verify, struct opened *opened, struct gpnn_error *err)
{
  opened->parameters_path = parameters_path;
  enum gpnn_status status = GPNN_OK;
  if (parameters_path != NULL) status = open_check_order(path, parameters_path, err);
  if (status == GPNN_OK) status = gpnn_index_open(&opened->index, path, verify, err);
  if (status == GPNN_OK) opened->dataset = gpnn_index_dataset(opened->index);
  if (status == GPNN_OK && opened->without_model != NULL)
    status = open_refuse_model(opened->index, opened->without_model, err);
  if (status == GPNN_OK) status = read_parameters(opened, err);
  if (status == GPNN_OK) status = check_kind(opened, err);
  if (status == GPNN_OK) status = choose_targets(opened, err);
  if (status == GPNN_OK) status = transform_targets(opened, err);
  return status == GPNN_OK ? find_channels(cli, opened, err) : status;
}

enum gpnn_status open_model(const struct cli *cli, const struct opened *opened, size_t first,
                            size_t n, const struct gpnn_model_options *options,
                            struct gpnn_model **model, struct gpnn_error *err)
{
  const char *path = opened->parameters_path, *index_path = gpnn_index_path(opened->index);
  if (opened->dataset->stored != NULL && options->neighbours > 0)
    return gpnn_fail(err, GPNN_EINVAL, "-m is for an index: %s has no neighbours to predict from",
                     index_path);
  const struct gpnn_channel *channels = opened->channels + first;
  const struct open_maker *maker = opened->maker;
  enum gpnn_status status = maker != NULL ? maker->make(maker, model, n, channels, options, err)
                                          : gpnn_model_new(model, n, channels, options, err);
  if (status != GPNN_OK || !gpnn_model_rebuilt_search(*model)) return status;
  if (cli_is_step()) return GPNN_OK; /* nobody has these files yet, or ever */
  if (opened->parameters[first].n_members > 0)
    cli_warn(cli,
             "searches are rebuilt in memory for the metrics of the members of these parameters");
  else
    cli_warn(cli,
             "the search is rebuilt in memory for the metric of these parameters; to save the "
             "time: gpnn-index --metric %s -o NEW.gpi %s",
             path == NULL             ? index_path
             : strcmp(path, "-") == 0 ? "PARAMS"
                                      : path,
             index_path);
  return status;
}

enum gpnn_status open_table(const struct cli *cli, const struct gpnn_dataset *dataset,
                            const char *path, struct gpnn_table **table, struct gpnn_error *err)
{
  struct gpnn_table_options options = cli->table;
  options.usual_delimiter = dataset->reading.delimiter;
  if (options.skip_lines == 0 && cli_text_given(cli, "skip-lines") == NULL) {
    options.skip_lines = dataset->reading.skip_lines;
    options.usual = &dataset->schema;
  }
  options.may_lack_header = !dataset->schema.has_header;
  gpnn_notation_complete(&options.notation, &dataset->schema.notation);
  return gpnn_table_open(table, path, &options, err);
}

enum gpnn_status open_single(const struct cli *cli, const char *parameters_path, const char *target,
                             const char *advice, struct opened *opened, struct gpnn_model **model,
                             struct gpnn_error *err)
{
  const struct gpnn_model_options options = {
      .threads = cli->threads, .share = opened->share, .draws = opened->draws};
  const char *path = cli_operand(cli, 0);
  opened->targets = target;
  enum gpnn_status status = open_check_order(path, cli_operand(cli, 1), err);
  if (status == GPNN_OK) status = open_files(cli, path, parameters_path, false, opened, err);
  if (status == GPNN_OK) status = open_refuse_grid(opened->index, advice, err);
  if (status == GPNN_OK && opened->n > 1)
    status = gpnn_fail(err, GPNN_EINVAL, "%s has %zu targets: choose one of them by --targets",
                       path, opened->n);
  return status == GPNN_OK ? open_model(cli, opened, 0, 1, &options, model, err) : status;
}

void open_release(struct opened *opened)
{
  free(opened->channels);
  gpnn_transformed_free(opened->transformed);
  gpnn_state_free(opened->state);
  gpnn_parameters_free(opened->parameters, opened->n);
  gpnn_index_close(opened->index);
  *opened = (struct opened){0};
}
