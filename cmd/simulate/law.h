/*
 * simulate_law: the laws that the modes of gpnn-simulate draw rows from, as given on the command
 * line: inputs, function, parameters.  What is wrong is said; then the mode ends with status 2.
 */
#ifndef GPNN_CMD_SIMULATE_LAW_H
#define GPNN_CMD_SIMULATE_LAW_H

#include "cmd/common/cli.h"
#include "simulate/function.h"
#include "simulate/neighbours.h"
#include "simulate/risk.h"

/* What was said of the law of inputs; of what is 0 here, nothing. */
struct simulate_inputs {
  enum gpnn_inputs_law law;
  size_t dimension;
  double scale;
};

extern const struct cli_word simulate_law_words[];

/* Finds the function called 'name'; none if that is NULL. */
bool simulate_find_function(const struct cli *cli, const char *name,
                            const struct gpnn_function **function);

/*
 * Fills what was not said: as many inputs as the disk or the function (which may be NULL) has, else
 * 'usual'; scale 1, but 1 / sqrt(d) for normal inputs, which keeps distances alike in any number
 * of them, unless the function has a number of its own, for which it is standardised.
 */
bool simulate_set_inputs(const struct cli *cli, const struct simulate_inputs *given,
                         const struct gpnn_function *function, size_t usual,
                         struct gpnn_inputs *inputs);

/* The parameters of truth and assumption where the command line says nothing. */
struct gpnn_assumed_model simulate_default_parameters(void);

/* The parameter, one of the first 'n', that 'text' names up to an equals sign; its value begins at
 * '*value'. */
bool simulate_find_parameter(size_t n, const char *text, enum gpnn_risk_parameter *parameter,
                             const char **value);

/* The names of the first 'n' parameters, all or all but the coefficient, as a phrase. */
const char *simulate_parameters(size_t n);

/* Sets the kernel or one of the first 'n' parameters as 'text' says, NAME=VALUE, an item of
 * 'option'.  A truth may have no noise. */
bool simulate_set_parameter(const struct cli *cli, const char *option, const char *text, size_t n,
                            bool is_truth, struct gpnn_assumed_model *of);

/* Whether fields can be told apart that the character stands between. */
bool simulate_check_delimiter(const struct cli *cli, char delimiter);

#endif
