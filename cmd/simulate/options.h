/*
 * simulate_options: what the modes of gpnn-simulate that judge predictions at many numbers of rows
 * share: options, what they come to, and the lines they write.
 *
 * Calling sequence: simulate_options_init(), simulate_options_rows() for the table of options,
 * cli_begin(), simulate_options_resolve(), simulate_options_choose(), ...,
 * simulate_options_release().
 */
#ifndef GPNN_CMD_SIMULATE_OPTIONS_H
#define GPNN_CMD_SIMULATE_OPTIONS_H

#include "cmd/common/cli.h"
#include "cmd/simulate/law.h"
#include "simulate/risk.h"

enum {
  SIMULATE_OPTIONS = 14, /* shared rows of the table */
  SIMULATE_ROWS = 256,   /* most numbers of rows */
  SIMULATE_VALUES = 1000 /* most values of one --vary, of a grid in all */
};

/* Values that an assumed parameter is given in turn: n, equally spaced, both ends among them. */
struct simulate_range {
  enum gpnn_simulate_parameter parameter;
  double from, to;
  uint64_t n;
};

/* Ranges whose values are combined, each with each of the others: the first runs fastest. */
struct simulate_grid {
  size_t n;
  struct simulate_range ranges[GPNN_SIMULATE_N_PARAMETERS];
};

/* One choice of assumed parameters, and which of them is varied, the first of a grid; NULL:
 * none. */
struct simulate_choice {
  const char *varied;
  double at;
  struct gpnn_assumed assumed;
};

/* A mode fills what is above the line before simulate_options_resolve(), which fills the rest but
 * for the choices. */
struct simulate_options {
  struct cli_list truths, assumptions, vary;
  const char *rows, *neighbours_by, *responses;
  const struct gpnn_function *function; /* the truth instead of a process; or NULL */
  struct simulate_inputs inputs;
  size_t neighbours, points, draws;
  bool debias, has_coefficient;
  char delimiter;
  /* ---- */
  size_t n_rows;
  uint64_t row[SIMULATE_ROWS]; /* rising */
  struct gpnn_assumed assumed;
  struct simulate_grid grids[CLI_LIST_ITEMS]; /* of each --vary */
  size_t n_choices;
  struct simulate_choice *choices; /* owned; at least one */
  struct gpnn_simulate_options simulate;
  size_t n_told, n_to_tell; /* points done, and in all */
};

/* Sets the defaults. */
void simulate_options_init(struct simulate_options *o);

/* Writes SIMULATE_OPTIONS rows. */
void simulate_options_rows(struct simulate_options *o, struct cli_option *rows);

/* Makes sense of what was given; says what is wrong, if anything is. */
bool simulate_options_resolve(struct simulate_options *o, const struct cli *cli);

/* Makes the choices: those that are varied, or the one that is assumed. */
GPNN_MUST_CHECK enum gpnn_status simulate_options_choose(struct simulate_options *o,
                                                         struct gpnn_error *err);

void simulate_options_release(struct simulate_options *o);

/* Simulates row[i] rows with 'm' neighbours, assuming what o->simulate.assumed says, and warns of
 * what was out of the ordinary.  'simulated' must be zeroed. */
GPNN_MUST_CHECK enum gpnn_status simulate_run(struct simulate_options *o, const struct cli *cli,
                                              size_t i, size_t m, struct gpnn_simulated *simulated,
                                              struct gpnn_error *err);

/* Writes a field of text; 'n' fields of numbers, NA where one is none: each behind a delimiter. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_text(const struct simulate_options *o,
                                                     struct gpnn_output *output, const char *text,
                                                     struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status simulate_write_numbers(const struct simulate_options *o,
                                                        struct gpnn_output *output, size_t n,
                                                        const double *numbers,
                                                        struct gpnn_error *err);

/* Writes the fields that every line begins with: rows and neighbours. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_size(const struct simulate_options *o,
                                                     struct gpnn_output *output, size_t i, size_t m,
                                                     struct gpnn_error *err);

/* Writes the fields that say what is varied, and its value. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_choice(const struct simulate_options *o,
                                                       struct gpnn_output *output,
                                                       const struct simulate_choice *choice,
                                                       struct gpnn_error *err);

/* Ends a line with all that is assumed: lengthscale, kernelscale, noise and, in risks,
 * coefficient. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_end(const struct simulate_options *o,
                                                    struct gpnn_output *output,
                                                    const struct simulate_choice *choice,
                                                    struct gpnn_error *err);

/* Writes a header of 'n' names. Those of simulate_write_end() follow by themselves. */
GPNN_MUST_CHECK enum gpnn_status simulate_write_header(const struct simulate_options *o,
                                                       struct gpnn_output *output, size_t n,
                                                       const char *const *names,
                                                       struct gpnn_error *err);

#endif
