#include "cmd/simulate/law.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

const struct cli_word simulate_law_words[] = {{"normal", GPNN_INPUTS_NORMAL},
                                              {"disk", GPNN_INPUTS_DISK},
                                              {"cube", GPNN_INPUTS_CUBE},
                                              CLI_END_OF_WORDS};

const struct cli_word simulate_function_words[] = {
    {"oakley", 0}, {"waves", 0}, {"zero", 0}, CLI_END_OF_WORDS};

bool simulate_find_function(const struct cli *cli, const char *name,
                            const struct gpnn_function **function)
{
  *function = name == NULL ? NULL : gpnn_function_by_name(name);
  if (name == NULL || *function != NULL) return true;
  char shown[GPNN_MASK_BYTES], list[256] = "";
  const struct gpnn_function *one;
  for (size_t i = 0, at = 0; (one = gpnn_function_at(i)) != NULL && at < sizeof list; i++)
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i > 0 ? ", " : "", one->name);
  return cli_refuse(cli, "option --function: none of %s: \"%s\"", list,
                    gpnn_mask(shown, name, strlen(name)));
}

static bool check_function(const struct cli *cli, const struct gpnn_function *function, size_t d)
{
  if (function == NULL || gpnn_function_takes(function, d)) return true;
  bool is_fixed = function->d > 0;
  return cli_refuse(cli, "the function %s has %s%zu inputs, not %zu", function->name,
                    is_fixed ? "" : "a multiple of ", is_fixed ? function->d : function->multiple,
                    d);
}

bool simulate_set_inputs(const struct cli *cli, const struct simulate_inputs *given,
                         const struct gpnn_function *function, size_t usual,
                         struct gpnn_inputs *inputs)
{
  inputs->law = given->law;
  size_t own = function != NULL ? function->d : 0;
  inputs->d = given->dimension > 0              ? given->dimension
              : inputs->law == GPNN_INPUTS_DISK ? 2
              : own > 0                         ? own
                                                : usual;
  bool shrinks = inputs->law == GPNN_INPUTS_NORMAL && own == 0;
  inputs->scale = given->scale > 0 ? given->scale : shrinks ? 1 / sqrt((double)inputs->d) : 1;
  return check_function(cli, function, inputs->d);
}

struct gpnn_assumed_model simulate_default_parameters(void)
{
  return (struct gpnn_assumed_model){
      .covariance = gpnn_covariance_isotropic(gpnn_kernel_by_name("rbf"), 0, 1, 0.9, 0.1)};
}

bool simulate_find_parameter(size_t n, const char *text, enum gpnn_risk_parameter *parameter,
                             const char **value)
{
  size_t length = strcspn(text, "=");
  if (text[length] == '\0') return false;
  for (size_t p = 0; p < n; p++) {
    const char *name = gpnn_risk_parameter_name((enum gpnn_risk_parameter)p);
    if (strlen(name) != length || memcmp(name, text, length) != 0) continue;
    *parameter = (enum gpnn_risk_parameter)p;
    *value = text + length + 1;
    return true;
  }
  return false;
}

const char *simulate_parameters(size_t n)
{
  return n > GPNN_RISK_COEFFICIENT ? "lengthscale, kernelscale, noise or coefficient"
                                   : "lengthscale, kernelscale or noise";
}

bool simulate_set_parameter(const struct cli *cli, const char *option, const char *text, size_t n,
                            bool is_truth, struct gpnn_assumed_model *of)
{
  struct gpnn_covariance *c = &of->covariance;
  enum gpnn_risk_parameter parameter;
  const char *value;
  double number;
  char shown[GPNN_MASK_BYTES];
  if (strncmp(text, "kernel=", 7) == 0) {
    if (gpnn_kernel_parse(text + 7, &c->kernel, &c->smoothness)) return true;
  } else if (simulate_find_parameter(n, text, &parameter, &value) &&
             gpnn_number_read(value, strlen(value), &number) == GPNN_NUMBER_OK &&
             (gpnn_risk_parameter_allows(parameter, number) ||
              (is_truth && parameter == GPNN_RISK_NOISE && number == 0))) {
    *gpnn_risk_parameter_value(of, parameter) = number;
    return true;
  }
  return cli_refuse(
      cli,
      "option --%s: kernel=rbf, exp, matern32, matern52 or matern:NU (up to 100), or %s = a "
      "number it can have, not \"%s\"",
      option, simulate_parameters(n), gpnn_mask(shown, text, strlen(text)));
}

bool simulate_check_delimiter(const struct cli *cli, char delimiter)
{
  if (!isalnum((unsigned char)delimiter) && strchr("+-._", delimiter) == NULL) return true;
  return cli_refuse(cli, "option --delimiter: '%c' is part of numbers or names", delimiter);
}
