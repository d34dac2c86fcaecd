/*
 * options: what limits and risk share, the modes of gpnn-simulate that score predictions by number
 * of rows: their options, what follows from these, and the lines they write.
 *
 * Calling sequence: SIMULATE_OPTIONS_INIT, SIMULATE_OPTIONS in the table of options,
 * simulate_options_resolve(), simulate_options_choose(), ..., simulate_options_release().
 */
#ifndef GPNN_CMD_SIMULATE_OPTIONS_H
#define GPNN_CMD_SIMULATE_OPTIONS_H

#include "cmd/common/cli.h"
#include "cmd/simulate/law.h"
#include "simulate/risk.h"

enum {
  SIMULATE_ROWS = 256,   /* most numbers of rows */
  SIMULATE_VALUES = 1000 /* most values of one --vary, of a grid in all */
};

/* The values that an assumed parameter takes in turn: n of them, equally spaced, ends included. */
struct simulate_range {
  enum gpnn_risk_parameter parameter;
  double from, to;
  uint64_t n;
};

/* Ranges whose values are combined in every way; the first varies fastest. */
struct simulate_grid {
  size_t n;
  struct simulate_range ranges[GPNN_RISK_N_PARAMETERS];
};

/* One choice of assumed parameters, with the name and value of the one that is varied, the first of
 * a grid; NULL: none. */
struct simulate_choice {
  const char *varied;
  double at;
  struct gpnn_assumed_model assumed;
};

enum simulate_neighbours_by { SIMULATE_BY_THEORY, SIMULATE_BY_SEARCH };
enum simulate_responses { SIMULATE_AVERAGED, SIMULATE_DRAWN };

/* The command line fills in the members above the line; simulate_options_resolve() the rest, except
 * for the choices. */
struct simulate_options {
  struct cli_list truths, assumptions, vary;
  const char *rows;
  enum simulate_neighbours_by neighbours_by;
  enum simulate_responses responses;
  const struct gpnn_function *function; /* the truth instead of a process; or NULL */
  struct simulate_inputs inputs;
  size_t neighbours, points, draws;
  bool debias, has_coefficient;
  char delimiter;
  /* ---- */
  size_t n_rows;
  uint64_t row[SIMULATE_ROWS]; /* rising */
  struct gpnn_assumed_model assumed;
  struct simulate_grid grids[CLI_LIST_ITEMS]; /* of each --vary */
  size_t n_choices;
  struct simulate_choice *choices; /* owned; at least one */
  struct gpnn_risk_options simulate;
  size_t n_told, n_to_tell; /* points simulated, and in all */
};

/* The defaults. */
#define SIMULATE_OPTIONS_INIT                                                                   \
  {                                                                                             \
    .rows = "1e4,1e5,1e6,1e7", .neighbours = 100, .points = 1000, .draws = 1, .delimiter = '\t' \
  }

extern const struct cli_word simulate_neighbours_words[], simulate_responses_words[];

/* The shared rows of the table of options of a mode, whose ARGUMENTS have them as 'options'. */
#define SIMULATE_OPTIONS                                                                           \
  CLI_TEXT('n', "size", options.rows, "LIST",                                                      \
           "training rows: N,... or A:B:COUNT (1e4,1e5,1e6,1e7)"),                                 \
      CLI_COUNT(0, "dimension", options.inputs.dimension, "D",                                     \
                "inputs (20, unless law or function fix it)", 1, 10000),                           \
      CLI_CHOICE(0, "input-law", options.inputs.law, "LAW", "of inputs", simulate_law_words),      \
      CLI_REAL(0, "scale", options.inputs.scale, "S", "sd, radius or half side (1/sqrt(D), or 1)", \
               1e-100, 1e100),                                                                     \
      CLI_COUNT('m', "neighbours", options.neighbours, "M", "neighbours of a prediction (100)", 1, \
                1e5),                                                                              \
      CLI_COUNT(0, "test", options.points, "N", "test points (1000)", 1, GPNN_RISK_MOST_POINTS),   \
      CLI_COUNT(0, "draws", options.draws, "K", "training sets, each for all test points (1)", 1,  \
                1e6),                                                                              \
      CLI_LIST('t', "true", options.truths, "NAME=VALUE", "a parameter of the truth"),             \
      CLI_LIST('a', "assume", options.assumptions, "NAME=VALUE",                                   \
               "an assumed parameter (the true one)"),                                             \
      CLI_LIST(0, "vary", options.vary, "NAME=A:B:N", "assume N values from A to B"),              \
      CLI_CHOICE(0, "neighbours-by", options.neighbours_by, "HOW", "", simulate_neighbours_words), \
      CLI_CHOICE(0, "responses", options.responses, "HOW", "", simulate_responses_words),          \
      CLI_FLAG(0, "debias", options.debias, "remove the bias that means have at many rows"),       \
      CLI_DELIMITER('d', "delimiter", options.delimiter, "C",                                      \
                    "field delimiter of the output (tab)")

/* Checks and converts what was given; false after a usage error. */
bool simulate_options_resolve(struct simulate_options *o, const struct cli *cli);

/* Lists the choices: those of --vary, or the one assumed. */
GPNN_MUST_CHECK enum gpnn_status simulate_options_choose(struct simulate_options *o,
                                                         struct gpnn_error *err);

void simulate_options_release(struct simulate_options *o);

/* Simulates row[i] rows with 'm' neighbours under o->simulate.assumed, and warns of jitter.
 * 'simulated' must be zeroed. */
GPNN_MUST_CHECK enum gpnn_status simulate_run(struct simulate_options *o, const struct cli *cli,
                                              size_t i, size_t m,
                                              struct gpnn_risk_result *simulated,
                                              struct gpnn_error *err);

/* Write a field of text, or 'n' of numbers (NA for NaN), each after a delimiter. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_text(const struct simulate_options *o,
                                                     struct gpnn_output *output, const char *text,
                                                     struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status simulate_write_numbers(const struct simulate_options *o,
                                                        struct gpnn_output *output, size_t n,
                                                        const double *numbers,
                                                        struct gpnn_error *err);

/* Writes the first fields of every line: rows and neighbours. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_size(const struct simulate_options *o,
                                                     struct gpnn_output *output, size_t i, size_t m,
                                                     struct gpnn_error *err);

/* Writes the name of the parameter that is varied, and its value. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_choice(const struct simulate_options *o,
                                                       struct gpnn_output *output,
                                                       const struct simulate_choice *choice,
                                                       struct gpnn_error *err);

/* Ends a line with the assumed parameters: lengthscale, kernelscale, noise and, in the risk mode,
 * coefficient. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_end(const struct simulate_options *o,
                                                    struct gpnn_output *output,
                                                    const struct simulate_choice *choice,
                                                    struct gpnn_error *err);

/* Writes a header of 'n' names, followed by those of simulate_write_end(). */
GPNN_MUST_CHECK enum gpnn_status simulate_write_header(const struct simulate_options *o,
                                                       struct gpnn_output *output, size_t n,
                                                       const char *const *names,
                                                       struct gpnn_error *err);

#endif
