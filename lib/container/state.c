#include "container/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* TEXT: the text.  LIST: for each array its length (64 bits), the lengths of its target and its
 * name (32 bits each), and these two.  DATA: the numbers of all arrays, one after another. */
static const struct gpnn_container_tag tags[] = {
    {"TEXT", true, 0}, {"LIST", true, 0}, {"DATA", true, 0}};
static const struct gpnn_container_format format = {GPNN_CONTAINER_STATE,
                                                    sizeof tags / sizeof *tags, tags};

enum { ENTRY_BYTES = 16 };

/* ---- building ----------------------------------------------------------------------------- */

enum gpnn_status gpnn_state_new(struct gpnn_state **state, uint64_t fingerprint,
                                struct gpnn_error *err)
{
  struct gpnn_state *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for a state");
  new->fingerprint = fingerprint;
  *state = new;
  return GPNN_OK;
}

static void array_release(struct gpnn_state_array *array)
{
  free(array->target);
  free(array->name);
  free(array->values);
}

/* Adds an array whose names need no NUL. */
static enum gpnn_status add(struct gpnn_state *state, const char *target, size_t target_length,
                            const char *name, size_t name_length, size_t n, const void *values,
                            struct gpnn_error *err)
{
  struct gpnn_state_array array = {.n = n};
  array.target = gpnn_copy_text(target, target_length);
  array.name = gpnn_copy_text(name, name_length);
  array.values = gpnn_alloc(n > 0 ? n : 1, 1, sizeof *array.values);
  if (array.target == NULL || array.name == NULL || array.values == NULL ||
      !gpnn_grow(&state->arrays, &state->capacity, state->n + 1, sizeof *state->arrays)) {
    array_release(&array);
    return gpnn_fail_memory(err, "for a state");
  }
  if (n > 0) memcpy(array.values, values, n * sizeof *array.values);
  state->arrays[state->n++] = array;
  return GPNN_OK;
}

enum gpnn_status gpnn_state_add(struct gpnn_state *state, const char *target, const char *name,
                                size_t n, const double *values, struct gpnn_error *err)
{
  return add(state, target, strlen(target), name, strlen(name), n, values, err);
}

const struct gpnn_state_array *gpnn_state_find(const struct gpnn_state *state, const char *target,
                                               const char *name)
{
  for (size_t i = 0; i < state->n; i++)
    if (strcmp(state->arrays[i].target, target) == 0 && strcmp(state->arrays[i].name, name) == 0)
      return &state->arrays[i];
  return NULL;
}

void gpnn_state_free(struct gpnn_state *state)
{
  if (state == NULL) return;
  for (size_t i = 0; i < state->n; i++) array_release(&state->arrays[i]);
  free(state->arrays);
  free(state);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* What the list has of an array. */
static size_t entry_length(const struct gpnn_state_array *array)
{
  return ENTRY_BYTES + strlen(array->target) + strlen(array->name);
}

static unsigned char *write_entry(unsigned char *at, const struct gpnn_state_array *array)
{
  size_t target = strlen(array->target), name = strlen(array->name);
  gpnn_store_u64(at, array->n);
  gpnn_store_u32(at + 8, (uint32_t)target);
  gpnn_store_u32(at + 12, (uint32_t)name);
  memcpy(at + ENTRY_BYTES, array->target, target);
  memcpy(at + ENTRY_BYTES + target, array->name, name);
  return at + ENTRY_BYTES + target + name;
}

enum gpnn_status gpnn_state_list(const struct gpnn_state *state, unsigned char **list,
                                 size_t *length, struct gpnn_error *err)
{
  size_t all = 0;
  for (size_t i = 0; i < state->n; i++) all += entry_length(&state->arrays[i]);
  unsigned char *bytes = malloc(all + 1), *end = bytes;
  if (bytes == NULL) return gpnn_fail_memory(err, "for a state");
  for (size_t i = 0; i < state->n; i++) end = write_entry(end, &state->arrays[i]);
  *list = bytes;
  *length = all;
  return GPNN_OK;
}

enum gpnn_status gpnn_state_pour(const struct gpnn_state *state, const char *text, size_t length,
                                 gpnn_container_sink *sink, void *context, struct gpnn_error *err)
{
  size_t list_length = 0, n = 0;
  for (size_t i = 0; i < state->n; i++) n += state->arrays[i].n;
  unsigned char *list = NULL;
  double *data = gpnn_alloc(n + 1, 1, sizeof *data);
  enum gpnn_status status = data != NULL ? gpnn_state_list(state, &list, &list_length, err)
                                         : gpnn_fail_memory(err, "for a state");
  for (size_t i = 0, at = 0; i < state->n && status == GPNN_OK; at += state->arrays[i++].n)
    memcpy(data + at, state->arrays[i].values, state->arrays[i].n * sizeof *data);
  const struct gpnn_container_part parts[] = {
      {"TEXT", text, length}, {"LIST", list, list_length}, {"DATA", data, n * sizeof *data}};
  if (status == GPNN_OK)
    status = gpnn_container_pour(&format, state->fingerprint, 3, parts, sink, context, err);
  free(list);
  free(data);
  return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct span {
  const unsigned char *at;
  size_t length;
};

static enum gpnn_status contradicts(const struct gpnn_container *container, struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: its arrays are not as it lists them",
                   gpnn_container_path(container));
}

/* The bytes of a section that must be there. */
static enum gpnn_status find(const struct gpnn_container *container, const char *tag,
                             struct span *span, struct gpnn_error *err)
{
  const struct gpnn_container_section *section = gpnn_container_find(container, tag);
  if (section == NULL)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s is missing",
                     gpnn_container_path(container), tag);
  *span = (struct span){gpnn_container_bytes(container, section), (size_t)section->length};
  return gpnn_container_check(container, section, err);
}

static bool has_nul(const unsigned char *bytes, size_t length)
{
  return length > 0 && memchr(bytes, '\0', length) != NULL;
}

/* Adds the next array of the list, which moves on, as does 'data'. */
static enum gpnn_status read_array(struct gpnn_state *state, const struct gpnn_container *container,
                                   struct span *list, struct span *data, struct gpnn_error *err)
{
  if (list->length < ENTRY_BYTES) return contradicts(container, err);
  uint64_t n = gpnn_load_u64(list->at), left = list->length - ENTRY_BYTES;
  uint64_t target = gpnn_load_u32(list->at + 8), name = gpnn_load_u32(list->at + 12);
  const unsigned char *names = list->at + ENTRY_BYTES;
  if (target + name > left || n > data->length / sizeof(double) ||
      has_nul(names, (size_t)(target + name)))
    return contradicts(container, err);
  enum gpnn_status status =
      add(state, (const char *)names, (size_t)target, (const char *)names + target, (size_t)name,
          (size_t)n, data->at, err);
  *list = (struct span){names + target + name, (size_t)(left - target - name)};
  *data = (struct span){data->at + n * sizeof(double), data->length - (size_t)n * sizeof(double)};
  return status;
}

static enum gpnn_status read_arrays(struct gpnn_state *state,
                                    const struct gpnn_container *container, struct gpnn_error *err)
{
  struct span list, data;
  enum gpnn_status status = find(container, "LIST", &list, err);
  if (status == GPNN_OK) status = find(container, "DATA", &data, err);
  if (status != GPNN_OK) return status;
  while (list.length > 0 && status == GPNN_OK)
    status = read_array(state, container, &list, &data, err);
  if (status == GPNN_OK && data.length > 0) status = contradicts(container, err);
  return status;
}

enum gpnn_status gpnn_state_of_container(struct gpnn_state **state,
                                         const struct gpnn_container *container,
                                         struct gpnn_error *err)
{
  struct gpnn_state *new = NULL;
  enum gpnn_status status = gpnn_state_new(&new, gpnn_container_fingerprint(container), err);
  if (status == GPNN_OK) status = read_arrays(new, container, err);
  if (status == GPNN_OK)
    *state = new;
  else
    gpnn_state_free(new);
  return status;
}

enum gpnn_status gpnn_state_read(struct gpnn_state **state, const char **text, size_t *text_length,
                                 const char *name, const void *bytes, size_t length,
                                 struct gpnn_error *err)
{
  struct gpnn_container *container = NULL;
  struct gpnn_state *new = NULL;
  struct span found = {0};
  enum gpnn_status status = gpnn_container_of_bytes(&container, name, bytes, length, &format, err);
  if (status == GPNN_OK) status = find(container, "TEXT", &found, err);
  if (status == GPNN_OK) status = gpnn_state_of_container(&new, container, err);
  gpnn_container_close(container);
  if (status != GPNN_OK) return status;
  *state = new;
  *text = (const char *)found.at;
  *text_length = found.length;
  return GPNN_OK;
}
