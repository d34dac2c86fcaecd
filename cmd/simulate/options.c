#include "cmd/simulate/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"

const struct cli_word simulate_neighbours_words[] = {
    {"theory", SIMULATE_BY_THEORY}, {"search", SIMULATE_BY_SEARCH}, CLI_END_OF_WORDS};
const struct cli_word simulate_responses_words[] = {
    {"averaged", SIMULATE_AVERAGED}, {"drawn", SIMULATE_DRAWN}, CLI_END_OF_WORDS};

/* ---- rows --------------------------------------------------------------------------------- */

/* Reads a whole number from 1 to GPNN_NEIGHBOURS_MOST, such as "1000" or "1e12". */
static bool read_count(const char *text, size_t length, uint64_t *count)
{
  double value;
  if (gpnn_number_read_u64(text, length, count))
    return *count >= 1 && *count <= GPNN_NEIGHBOURS_MOST;
  if (gpnn_number_read(text, length, &value) != GPNN_NUMBER_OK || value < 1 ||
      value > (double)GPNN_NEIGHBOURS_MOST || value != floor(value))
    return false;
  *count = (uint64_t)value;
  return true;
}

/* Reads N,N... */
static bool read_list(struct simulate_options *o)
{
  const char *item, *rest = o->rows;
  size_t length;
  while ((item = gpnn_list_next(&rest, &length)) != NULL) {
    if (o->n_rows == SIMULATE_ROWS || !read_count(item, length, &o->row[o->n_rows])) return false;
    o->n_rows++;
  }
  return true;
}

/* Reads A:B:COUNT, where 'colon' and 'second' are its colons. */
static bool read_range(struct simulate_options *o, const char *colon, const char *second)
{
  uint64_t from, to, count;
  if (!read_count(o->rows, (size_t)(colon - o->rows), &from) ||
      !read_count(colon + 1, (size_t)(second - colon - 1), &to) ||
      !gpnn_number_read_u64(second + 1, strlen(second + 1), &count) || count < 2 ||
      count > SIMULATE_ROWS)
    return false;
  double step = log((double)to / (double)from) / (double)(count - 1);
  for (uint64_t i = 0; i < count; i++) {
    double rounded = round((double)from * exp((double)i * step));
    uint64_t rows = i + 1 == count ? to : (uint64_t)rounded;
    bool is_repeated =
        o->n_rows > 0 && rows == o->row[o->n_rows - 1]; /* small numbers may round alike */
    if (!is_repeated) o->row[o->n_rows++] = rows;
  }
  return true;
}

static bool read_rows(struct simulate_options *o, const struct cli *cli)
{
  const char *colon = strchr(o->rows, ':');
  const char *second = colon == NULL ? NULL : strchr(colon + 1, ':');
  bool good = second != NULL ? read_range(o, colon, second) : read_list(o);
  for (size_t i = 1; i < o->n_rows && good; i++) good = o->row[i] > o->row[i - 1];
  return good || cli_refuse(cli,
                            "option --size: up to %d whole numbers from 1 to 1e18 that rise, as in "
                            "1e4,1e5, or A:B:COUNT of them",
                            SIMULATE_ROWS);
}

/* ---- parameters --------------------------------------------------------------------------- */

/* The coefficient of the trend, which only the risk mode has, is the last parameter. */
static size_t n_parameters(const struct simulate_options *o)
{
  return o->has_coefficient ? GPNN_RISK_N_PARAMETERS : GPNN_RISK_COEFFICIENT;
}

static bool set_parameters(struct simulate_options *o, const struct cli *cli)
{
  struct gpnn_assumed_model truth = simulate_default_parameters();
  for (size_t i = 0; i < o->truths.n; i++)
    if (!simulate_set_parameter(cli, "true", o->truths.items[i], n_parameters(o), true, &truth))
      return false;
  o->assumed = truth;
  for (size_t i = 0; i < o->assumptions.n; i++)
    if (!simulate_set_parameter(cli, "assume", o->assumptions.items[i], n_parameters(o), false,
                                &o->assumed))
      return false;
  o->simulate.actual = (struct gpnn_actual_model){o->function, truth.covariance, truth.coefficient};
  if (o->function != NULL) o->simulate.actual.covariance.kernelscale = 0;
  return true;
}

/* ---- choices ------------------------------------------------------------------------------ */

/* Reads NAME=A:B:N from 'length' bytes. */
static bool read_range_of(const struct simulate_options *o, const char *text, size_t length,
                          struct simulate_range *range)
{
  const char *value, *end = text + length;
  if (!simulate_find_parameter(n_parameters(o), text, &range->parameter, &value) || value > end)
    return false;
  const char *colon = memchr(value, ':', (size_t)(end - value));
  const char *second = colon == NULL ? NULL : memchr(colon + 1, ':', (size_t)(end - colon - 1));
  return second != NULL &&
         gpnn_number_read(value, (size_t)(colon - value), &range->from) == GPNN_NUMBER_OK &&
         gpnn_number_read(colon + 1, (size_t)(second - colon - 1), &range->to) == GPNN_NUMBER_OK &&
         gpnn_number_read_u64(second + 1, (size_t)(end - second - 1), &range->n) &&
         gpnn_risk_parameter_allows(range->parameter, range->from) &&
         gpnn_risk_parameter_allows(range->parameter, range->to) && range->n >= 2 &&
         range->n <= SIMULATE_VALUES && isfinite((range->to - range->from) * (double)range->n);
}

/* Reads RANGE[,RANGE...], each for another parameter. */
static bool read_grid(const struct simulate_options *o, const char *text,
                      struct simulate_grid *grid)
{
  const char *item, *rest = text;
  size_t length;
  uint64_t n_values = 1;
  while ((item = gpnn_list_next(&rest, &length)) != NULL) {
    if (grid->n == GPNN_RISK_N_PARAMETERS) return false;
    struct simulate_range *range = &grid->ranges[grid->n];
    if (!read_range_of(o, item, length, range)) return false;
    for (size_t i = 0; i < grid->n; i++)
      if (grid->ranges[i].parameter == range->parameter) return false;
    grid->n++;
    n_values *= range->n;
    if (n_values > SIMULATE_VALUES) return false;
  }
  return true;
}

static bool read_vary(struct simulate_options *o, const struct cli *cli)
{
  for (size_t v = 0; v < o->vary.n; v++) {
    char shown[GPNN_MASK_BYTES];
    const char *text = o->vary.items[v];
    if (read_grid(o, text, &o->grids[v])) continue;
    return cli_refuse(cli,
                      "option --vary: NAME=A:B:N, or several with commas between, NAME %s, A and B "
                      "values it can have, N from 2 on, %d values in all, not \"%s\"",
                      simulate_parameters(n_parameters(o)), SIMULATE_VALUES,
                      gpnn_mask(shown, text, strlen(text)));
  }
  return true;
}

static double value_of(const struct simulate_range *range, uint64_t i)
{
  if (i + 1 == range->n) return range->to; /* exactly, despite rounding */
  return range->from + (range->to - range->from) * (double)i / (double)(range->n - 1);
}

static void add_choices(struct simulate_options *o, const struct simulate_grid *grid)
{
  uint64_t n_values = 1;
  for (size_t r = 0; r < grid->n; r++) n_values *= grid->ranges[r].n;
  for (uint64_t i = 0; i < n_values; i++) {
    struct simulate_choice *choice = &o->choices[o->n_choices++];
    const struct simulate_range *first = &grid->ranges[0];
    *choice = (struct simulate_choice){gpnn_risk_parameter_name(first->parameter),
                                       value_of(first, i % first->n), o->assumed};
    uint64_t rest = i;
    for (size_t r = 0; r < grid->n; r++) {
      const struct simulate_range *range = &grid->ranges[r];
      *gpnn_risk_parameter_value(&choice->assumed, range->parameter) =
          value_of(range, rest % range->n);
      rest /= range->n;
    }
  }
}

enum gpnn_status simulate_options_choose(struct simulate_options *o, struct gpnn_error *err)
{
  o->choices = gpnn_alloc(o->vary.n + 1, SIMULATE_VALUES, sizeof *o->choices);
  if (o->choices == NULL) return gpnn_fail_memory(err, "for the values of --vary");
  for (size_t v = 0; v < o->vary.n; v++) add_choices(o, &o->grids[v]);
  if (o->vary.n == 0) o->choices[o->n_choices++] = (struct simulate_choice){NULL, NAN, o->assumed};
  return GPNN_OK;
}

/* ---- the rest ----------------------------------------------------------------------------- */

static void show_progress(void *context, size_t n)
{
  struct simulate_options *o = context;
  o->n_told += n;
  progress_update("points simulated", o->n_told, o->n_to_tell);
}

bool simulate_options_resolve(struct simulate_options *o, const struct cli *cli)
{
  struct gpnn_risk_options *s = &o->simulate;
  if (!simulate_check_delimiter(cli, o->delimiter) || !read_rows(o, cli) ||
      !simulate_set_inputs(cli, &o->inputs, o->function, 20, &s->inputs) ||
      !set_parameters(o, cli) || !read_vary(o, cli))
    return false;
  s->by_search = o->neighbours_by == SIMULATE_BY_SEARCH;
  s->drawn = o->responses == SIMULATE_DRAWN;
  if (s->inputs.law == GPNN_INPUTS_CUBE && !s->by_search)
    return cli_refuse(cli, "option --input-law: cube goes with --neighbours-by search");
  s->n_points = o->points;
  s->n_draws = o->draws;
  s->debias = o->debias;
  s->seed = cli->seed;
  s->threads = cli->threads;
  s->progress = show_progress;
  s->context = o;
  o->n_to_tell = o->n_rows * o->draws * (o->points + s->n_heldout);
  return true;
}

void simulate_options_release(struct simulate_options *o)
{
  free(o->choices);
}

enum gpnn_status simulate_run(struct simulate_options *o, const struct cli *cli, size_t i, size_t m,
                              struct gpnn_risk_result *simulated, struct gpnn_error *err)
{
  struct gpnn_risk_options *s = &o->simulate;
  if (o->row[i] < m)
    return gpnn_fail(err, GPNN_EINVAL, "option --size: %" PRIu64 " rows have no %zu neighbours",
                     o->row[i], m);
  s->n = o->row[i];
  s->m = m;
  enum gpnn_status status = gpnn_risk_simulate(simulated, s, err);
  if (status != GPNN_OK) return status;
  char text[CLI_ABOUT_BYTES];
  struct cli about = *cli;
  snprintf(text, sizeof text, "%" PRIu64 " rows", o->row[i]);
  about.about = text;
  report_jitter(&about, "points", &simulated->jitter);
  return GPNN_OK;
}

/* ---- lines -------------------------------------------------------------------------------- */

static enum gpnn_status write_delimiter(const struct simulate_options *o,
                                        struct gpnn_output *output, struct gpnn_error *err)
{
  return gpnn_output_write(output, &o->delimiter, 1, err);
}

enum gpnn_status simulate_write_text(const struct simulate_options *o, struct gpnn_output *output,
                                     const char *text, struct gpnn_error *err)
{
  enum gpnn_status status = write_delimiter(o, output, err);
  if (status != GPNN_OK) return status;
  return gpnn_table_write_field(output, o->delimiter, text, strlen(text), err);
}

enum gpnn_status simulate_write_numbers(const struct simulate_options *o,
                                        struct gpnn_output *output, size_t n, const double *numbers,
                                        struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    status = write_delimiter(o, output, err);
    if (status == GPNN_OK)
      status = gpnn_table_write_number(output, o->delimiter, numbers[i], "NA", err);
  }
  return status;
}

enum gpnn_status simulate_write_size(const struct simulate_options *o, struct gpnn_output *output,
                                     size_t i, size_t m, struct gpnn_error *err)
{
  return gpnn_output_printf(output, err, "%" PRIu64 "%c%zu", o->row[i], o->delimiter, m);
}

enum gpnn_status simulate_write_choice(const struct simulate_options *o, struct gpnn_output *output,
                                       const struct simulate_choice *choice, struct gpnn_error *err)
{
  enum gpnn_status status =
      simulate_write_text(o, output, choice->varied == NULL ? "-" : choice->varied, err);
  return status == GPNN_OK ? simulate_write_numbers(o, output, 1, &choice->at, err) : status;
}

enum gpnn_status simulate_write_end(const struct simulate_options *o, struct gpnn_output *output,
                                    const struct simulate_choice *choice, struct gpnn_error *err)
{
  struct gpnn_assumed_model assumed = choice->assumed;
  double values[GPNN_RISK_N_PARAMETERS];
  for (size_t p = 0; p < n_parameters(o); p++)
    values[p] = *gpnn_risk_parameter_value(&assumed, (enum gpnn_risk_parameter)p);
  enum gpnn_status status = simulate_write_numbers(o, output, n_parameters(o), values, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

enum gpnn_status simulate_write_header(const struct simulate_options *o, struct gpnn_output *output,
                                       size_t n, const char *const *column, struct gpnn_error *err)
{
  enum gpnn_status status =
      gpnn_table_write_field(output, o->delimiter, column[0], strlen(column[0]), err);
  for (size_t i = 1; i < n && status == GPNN_OK; i++)
    status = simulate_write_text(o, output, column[i], err);
  for (size_t p = 0; p < n_parameters(o) && status == GPNN_OK; p++)
    status =
        simulate_write_text(o, output, gpnn_risk_parameter_name((enum gpnn_risk_parameter)p), err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}
