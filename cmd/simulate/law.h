/*
 * law: where the modes of gpnn-simulate get their rows from, as the command line says: distribution
 * of the inputs, function, parameters.  Functions that return false have printed a usage error.
 */
#ifndef GPNN_CMD_SIMULATE_LAW_H
#define GPNN_CMD_SIMULATE_LAW_H

#include "cmd/common/cli.h"
#include "simulate/function.h"
#include "simulate/neighbours.h"
#include "simulate/risk.h"

/* What the command line says about the inputs; 0: nothing. */
struct simulate_inputs {
  enum gpnn_inputs_law law;
  size_t dimension;
  double scale;
};

extern const struct cli_word simulate_law_words[];

/* The names of functions, for completion only. */
extern const struct cli_word simulate_function_words[];

/* Finds the function called 'name'; sets NULL if 'name' is NULL. */
bool simulate_find_function(const struct cli *cli, const char *name,
                            const struct gpnn_function **function);

/*
 * Fills in what was not given.  The number of inputs is that of the disk or of the function (which
 * may be NULL), otherwise 'usual'.  The scale is 1; but for normal inputs 1 / sqrt(d), so that
 * distances are similar in any dimension, unless the function has a fixed number of inputs and is
 * standardised for scale 1.
 */
bool simulate_set_inputs(const struct cli *cli, const struct simulate_inputs *given,
                         const struct gpnn_function *function, size_t usual,
                         struct gpnn_inputs *inputs);

/* The actual and assumed parameters where the command line says nothing. */
struct gpnn_assumed_model simulate_default_parameters(void);

/* Finds the parameter, one of the first 'n', that 'text' names before its equals sign; '*value'
 * points behind the sign.  False, without a message, if there is none. */
bool simulate_find_parameter(size_t n, const char *text, enum gpnn_risk_parameter *parameter,
                             const char **value);

/* The names of the first 'n' parameters as a phrase; all, or all but the coefficient. */
const char *simulate_parameters(size_t n);

/* Sets the kernel or one of the first 'n' parameters from 'text', NAME=VALUE, an item of 'option'.
 * Only the actual model ('is_truth') may have no noise. */
bool simulate_set_parameter(const struct cli *cli, const char *option, const char *text, size_t n,
                            bool is_truth, struct gpnn_assumed_model *of);

/* False if 'delimiter' can be part of a number or a name. */
bool simulate_check_delimiter(const struct cli *cli, char delimiter);

#endif
