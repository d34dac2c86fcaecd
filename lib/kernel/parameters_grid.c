/*
 * The lines of the factors of a grid.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "kernel/parameters_private.h"

static const char *const inputs[] = {"raw", "ranks", "log"};
enum { N_INPUTS = sizeof inputs / sizeof *inputs };

/* ---- reading ------------------------------------------------------------------------------ */

/* The factor called so, or n_factors. */
static size_t find_factor(const struct gpnn_parameters_reader *reader, struct gpnn_span name)
{
  size_t a = 0;
  while (a < reader->n_factors && !gpnn_parameters_is_word(name, reader->factor[a].name)) a++;
  return a;
}

static enum gpnn_status add_factor(struct gpnn_parameters_reader *reader, struct gpnn_span word)
{
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, word.at, word.length);
  if (reader->n_factors == GPNN_GRID_FACTORS)
    return gpnn_parameters_refuse(reader, "factors: more than %d", GPNN_GRID_FACTORS);
  if (find_factor(reader, word) < reader->n_factors)
    return gpnn_parameters_refuse(reader, "factors: two are called \"%s\"", shown);
  char *name = gpnn_copy_text(word.at, word.length);
  if (name == NULL) return gpnn_fail_memory(reader->err, "for the parameters");
  reader->factor[reader->n_factors++].name = name;
  if (gpnn_parameters_can_name_factor(name)) return GPNN_OK;
  return gpnn_parameters_refuse(reader, "factors: \"%s\": " GPNN_FACTOR_NAME_RULE, shown);
}

enum gpnn_status gpnn_parameters_read_factors(struct gpnn_parameters_reader *reader,
                                              struct gpnn_span values)
{
  enum gpnn_status status = GPNN_OK;
  for (;;) {
    struct gpnn_span word = gpnn_parameters_next_word(&values);
    if (word.length == 0) break;
    status = add_factor(reader, word);
    if (status != GPNN_OK) return status;
  }
  if (reader->n_factors == 1)
    return gpnn_parameters_refuse(reader, "factors: only one, a grid has two at least");
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_read_factor_mean(struct gpnn_parameters_reader *reader,
                                                  struct gpnn_span word)
{
  char shown[GPNN_MASK_BYTES];
  size_t a = find_factor(reader, word);
  if (reader->n_factors == 0)
    return gpnn_parameters_refuse(reader, "factor-mean: the line factors must come before it");
  if (a == reader->n_factors)
    return gpnn_parameters_refuse(reader, "factor-mean: \"%s\" is not a factor of the grid",
                                  gpnn_mask(shown, word.at, word.length));
  reader->params->grid.mean_factor = a + 1;
  return GPNN_OK;
}

static enum gpnn_status read_word(struct gpnn_parameters_reader *reader, const char *shown,
                                  struct gpnn_span values, char **word)
{
  struct gpnn_span first = gpnn_parameters_next_word(&values);
  if (gpnn_parameters_next_word(&values).length > 0)
    return gpnn_parameters_refuse(reader, "%s: more than one value", shown);
  *word = gpnn_copy_text(first.at, first.length);
  return *word == NULL ? gpnn_fail_memory(reader->err, "for the parameters") : GPNN_OK;
}

static enum gpnn_status read_numbers(struct gpnn_parameters_reader *reader, const char *shown,
                                     enum gpnn_factor_field field, struct gpnn_span values,
                                     double **list, size_t *n)
{
  char shown_word[GPNN_MASK_BYTES];
  size_t capacity = 0;
  for (;;) {
    struct gpnn_span word = gpnn_parameters_next_word(&values);
    if (word.length == 0) return GPNN_OK;
    if (!gpnn_grow(list, &capacity, *n + 1, sizeof **list))
      return gpnn_fail_memory(reader->err, "for the parameters");
    const char *wrong = gpnn_factor_field_read(field, word, &(*list)[*n]);
    if (wrong != NULL)
      return gpnn_parameters_refuse(reader, "%s: %s: \"%s\"", shown, wrong,
                                    gpnn_mask(shown_word, word.at, word.length));
    (*n)++;
  }
}

enum gpnn_status gpnn_parameters_read_factor_line(struct gpnn_parameters_reader *reader,
                                                  struct gpnn_span name, struct gpnn_span values)
{
  char shown[GPNN_MASK_BYTES];
  struct gpnn_span rest = values;
  const char *dot = memchr(name.at, '.', name.length);
  size_t before = (size_t)(dot - name.at);
  size_t a = find_factor(reader, (struct gpnn_span){name.at, before});
  enum gpnn_factor_field field =
      gpnn_factor_field_by_name((struct gpnn_span){dot + 1, name.length - before - 1});
  gpnn_mask(shown, name.at, name.length);
  if (reader->n_factors == 0)
    return gpnn_parameters_refuse(
        reader, "unknown name \"%s\": lines of a factor come below the line factors", shown);
  if (a == reader->n_factors || field == GPNN_FACTOR_FIELDS)
    return gpnn_parameters_refuse(reader, "unknown name \"%s\"", shown);
  struct gpnn_factor_lines *lines = &reader->factor[a];
  if (lines->line[field] > 0)
    return gpnn_parameters_refuse(reader, "%s: given a second time", shown);
  if (gpnn_parameters_next_word(&rest).length == 0)
    return gpnn_parameters_refuse(reader, "%s: has no value", shown);
  lines->line[field] = reader->line;
  return field < GPNN_FACTOR_LENGTHSCALE
             ? read_word(reader, shown, values, &lines->word[field])
             : read_numbers(reader, shown, field, values, &lines->list[field], &lines->n[field]);
}

void gpnn_parameters_forget_factors(struct gpnn_parameters_reader *reader)
{
  for (size_t a = 0; a < reader->n_factors; a++) {
    free(reader->factor[a].name);
    for (int f = 0; f < GPNN_FACTOR_LENGTHSCALE; f++) free(reader->factor[a].word[f]);
    for (int f = 0; f < GPNN_FACTOR_FIELDS; f++) free(reader->factor[a].list[f]);
  }
  memset(reader->factor, 0, sizeof reader->factor);
  reader->n_factors = 0;
}

/* ---- from lines to factors ---------------------------------------------------------------- */

/* How many kernels a product has. */
static size_t count_kernels(const char *kernel)
{
  size_t n = 1;
  for (; *kernel != '\0'; kernel++) n += *kernel == '*';
  return n;
}

/* True if tasks have as many loadings as "icm" or "icm:R" says, which bounds what is allocated. */
static bool has_loadings(const struct gpnn_factor_lines *lines)
{
  const char *kernel = lines->word[GPNN_FACTOR_KERNEL];
  uint64_t rank = lines->n[GPNN_FACTOR_OWN];
  size_t n;
  if (kernel[3] == ':' && !gpnn_number_read_u64(kernel + 4, strlen(kernel + 4), &rank)) return true;
  return rank <= lines->n[GPNN_FACTOR_OWN] &&
         gpnn_multiply(lines->n[GPNN_FACTOR_OWN], (size_t)rank, &n) &&
         n == lines->n[GPNN_FACTOR_LOADINGS];
}

/* Reads the kernel of a factor, whose other lines say how many numbers it has. */
static enum gpnn_status parse_kernel(struct gpnn_parameters_reader *reader,
                                     const struct gpnn_factor_lines *lines,
                                     struct gpnn_factor *factor)
{
  struct gpnn_error why = {0};
  const char *kernel = lines->word[GPNN_FACTOR_KERNEL];
  bool tasks = strcmp(kernel, "icm") == 0 || strncmp(kernel, "icm:", 4) == 0;
  size_t n_kernels = count_kernels(kernel), n = lines->n[GPNN_FACTOR_LENGTHSCALE];
  if (tasks && lines->line[GPNN_FACTOR_OWN] == 0)
    return gpnn_parameters_refuse_block(reader, "%s.own is missing", lines->name);
  reader->line = lines->line[GPNN_FACTOR_KERNEL];
  if (tasks && !has_loadings(lines))
    return gpnn_parameters_refuse(
        reader, "%s.kernel: %s with %zu numbers %s.own does not go with %zu %s.loadings",
        lines->name, kernel, lines->n[GPNN_FACTOR_OWN], lines->name, lines->n[GPNN_FACTOR_LOADINGS],
        lines->name);
  if (!tasks && (n == 0 || n % n_kernels != 0))
    return gpnn_parameters_refuse(reader,
                                  "%s.kernel: needs a line %s.lengthscale with one number for each "
                                  "kernel, or one for each of its columns",
                                  lines->name, lines->name);
  enum gpnn_status status = gpnn_factor_parse(factor, kernel, tasks ? 1 : n / n_kernels,
                                              lines->n[GPNN_FACTOR_OWN], true, &why);
  if (status == GPNN_ENOMEM) return gpnn_fail_memory(reader->err, "for the parameters");
  return status == GPNN_OK ? GPNN_OK
                           : gpnn_parameters_refuse(reader, "%s.kernel: %s", lines->name, why.text);
}

static enum gpnn_status parse_inputs(struct gpnn_parameters_reader *reader,
                                     const struct gpnn_factor_lines *lines,
                                     struct gpnn_factor *factor)
{
  char shown[GPNN_MASK_BYTES];
  const char *word = lines->word[GPNN_FACTOR_INPUTS];
  if (word == NULL) return GPNN_OK;
  reader->line = lines->line[GPNN_FACTOR_INPUTS];
  if (factor->n_terms == 0)
    return gpnn_parameters_refuse(reader, "%s.inputs: icm has none", lines->name);
  for (int i = 0; i < N_INPUTS; i++)
    if (strcmp(word, inputs[i]) == 0) {
      factor->inputs = (enum gpnn_factor_inputs)i;
      return GPNN_OK;
    }
  return gpnn_parameters_refuse(reader, "%s.inputs: \"%s\" is not one of raw, ranks, log",
                                lines->name, gpnn_mask(shown, word, strlen(word)));
}

/* Puts the numbers of a field where they belong; all must have a place, and all places, but for the
 * nugget, a number. */
static enum gpnn_status place_numbers(struct gpnn_parameters_reader *reader, size_t a,
                                      enum gpnn_factor_field field)
{
  struct gpnn_factor_lines *lines = &reader->factor[a];
  const struct gpnn_grid_process *grid = &reader->params->grid;
  size_t n = lines->n[field], wanted = gpnn_factor_field_count(grid, a, field);
  if (n == 0 && (wanted == 0 || field == GPNN_FACTOR_NUGGET)) return GPNN_OK;
  if (n == 0)
    return gpnn_parameters_refuse_block(reader, "%s.%s is missing", lines->name,
                                        gpnn_factor_field_name(field));
  reader->line = lines->line[field];
  if (n != wanted)
    return gpnn_parameters_refuse(reader, "%s.%s: %zu numbers, kernel %s has %zu", lines->name,
                                  gpnn_factor_field_name(field), n, lines->word[GPNN_FACTOR_KERNEL],
                                  wanted);
  for (size_t i = 0; i < n; i++)
    *gpnn_factor_field_number(grid, a, field, i) = lines->list[field][i];
  return GPNN_OK;
}

/* Takes the noise of each level, which only one factor may have. */
static enum gpnn_status take_noise(struct gpnn_parameters_reader *reader, size_t a)
{
  struct gpnn_factor_lines *lines = &reader->factor[a];
  struct gpnn_grid_process *grid = &reader->params->grid;
  if (lines->line[GPNN_FACTOR_NOISE] == 0) return GPNN_OK;
  reader->line = lines->line[GPNN_FACTOR_NOISE];
  if (grid->noise_factor > 0)
    return gpnn_parameters_refuse(reader, "%s.noise: the levels of %s have noise already",
                                  lines->name, grid->factor[grid->noise_factor - 1].name);
  grid->noise_factor = a + 1;
  grid->n_noise = lines->n[GPNN_FACTOR_NOISE];
  grid->noise = lines->list[GPNN_FACTOR_NOISE];
  lines->list[GPNN_FACTOR_NOISE] = NULL;
  return GPNN_OK;
}

static enum gpnn_status complete_factor(struct gpnn_parameters_reader *reader, size_t a)
{
  struct gpnn_factor_lines *lines = &reader->factor[a];
  struct gpnn_factor *factor = &reader->params->grid.factor[a];
  if (lines->word[GPNN_FACTOR_KERNEL] == NULL)
    return gpnn_parameters_refuse_block(reader, "%s.kernel is missing", lines->name);
  enum gpnn_status status = parse_kernel(reader, lines, factor);
  if (status == GPNN_OK) status = parse_inputs(reader, lines, factor);
  for (int f = GPNN_FACTOR_LENGTHSCALE; f < GPNN_FACTOR_NOISE && status == GPNN_OK; f++)
    status = place_numbers(reader, a, (enum gpnn_factor_field)f);
  if (status == GPNN_OK) status = take_noise(reader, a);
  factor->name = lines->name;
  lines->name = NULL;
  return status;
}

enum gpnn_status gpnn_parameters_complete_factors(struct gpnn_parameters_reader *reader)
{
  struct gpnn_grid_process *grid = &reader->params->grid;
  size_t line = reader->line;
  enum gpnn_status status = GPNN_OK;
  if (reader->n_factors == 0) return GPNN_OK;
  grid->factor = gpnn_alloc(reader->n_factors, 1, sizeof *grid->factor);
  if (grid->factor == NULL) return gpnn_fail_memory(reader->err, "for the parameters");
  grid->n_factors = reader->n_factors;
  reader->params->neighbours = 0;
  for (size_t a = 0; a < reader->n_factors && status == GPNN_OK; a++)
    status = complete_factor(reader, a);
  gpnn_parameters_forget_factors(reader);
  reader->line = line;
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static enum gpnn_status write_field(const struct gpnn_grid_process *grid, size_t a,
                                    enum gpnn_factor_field field, struct gpnn_output *output,
                                    struct gpnn_error *err)
{
  const double *number = gpnn_factor_field_number(grid, a, field, 0);
  if (number == NULL || (field == GPNN_FACTOR_NUGGET && *number == 0)) return GPNN_OK;
  enum gpnn_status status =
      gpnn_output_printf(output, err, "%s.%s", grid->factor[a].name, gpnn_factor_field_name(field));
  for (size_t i = 0; number != NULL && status == GPNN_OK;) {
    status = gpnn_output_text(output, "\t", err);
    if (status == GPNN_OK) status = gpnn_output_number(output, *number, err);
    number = gpnn_factor_field_number(grid, a, field, ++i);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_factor(const struct gpnn_grid_process *grid, size_t a,
                                     struct gpnn_output *output, struct gpnn_error *err)
{
  char kernel[GPNN_FACTOR_TERMS * GPNN_KERNEL_BYTES];
  const struct gpnn_factor *factor = &grid->factor[a];
  enum gpnn_status status = gpnn_output_printf(output, err, "%s.kernel\t%s\n", factor->name,
                                               gpnn_factor_write(factor, kernel, sizeof kernel));
  if (status == GPNN_OK && factor->n_terms > 0 && factor->inputs != GPNN_FACTOR_RAW)
    status =
        gpnn_output_printf(output, err, "%s.inputs\t%s\n", factor->name, inputs[factor->inputs]);
  for (int f = GPNN_FACTOR_LENGTHSCALE; f < GPNN_FACTOR_FIELDS && status == GPNN_OK; f++)
    status = write_field(grid, a, (enum gpnn_factor_field)f, output, err);
  return status;
}

enum gpnn_status gpnn_parameters_write_factors(const struct gpnn_parameters *params,
                                               struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_grid_process *grid = &params->grid;
  if (grid->n_factors == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_output_text(output, "factors", err);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++)
    status = gpnn_output_printf(output, err, "\t%s", grid->factor[a].name);
  if (status == GPNN_OK) status = gpnn_output_text(output, "\n", err);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++)
    status = write_factor(grid, a, output, err);
  return status;
}

enum gpnn_status gpnn_parameters_write_factor_mean(const struct gpnn_parameters *params,
                                                   struct gpnn_output *output,
                                                   struct gpnn_error *err)
{
  const struct gpnn_grid_process *grid = &params->grid;
  if (grid->mean_factor == 0) return GPNN_OK;
  return gpnn_output_printf(output, err, "factor-mean\t%s\n",
                            grid->factor[grid->mean_factor - 1].name);
}
