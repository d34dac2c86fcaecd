/*
 * The lines of the likelihood and its scale.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/parameters_private.h"

/* Squared scales are products of a factor and a power of e for each feature; with these bounds they
 * are finite whatever the row. */
static const double most_exponent = 100, largest_factor = 1e60;

static bool term_is_finite(const struct gpnn_scale_term *term)
{
  return fabs(term->coefficient * term->low) <= most_exponent &&
         fabs(term->coefficient * term->high) <= most_exponent;
}

enum gpnn_status gpnn_parameters_check_scale(struct gpnn_parameters_reader *reader)
{
  double factor = reader->params->scale.factor;
  if (factor <= largest_factor && factor >= 1 / largest_factor) return GPNN_OK;
  return gpnn_parameters_refuse(reader, "scale: not between %g and %g", 1 / largest_factor,
                                largest_factor);
}

static const char *const likelihoods[] = {"gaussian",    "student", "local",
                                          "categorical", "poisson", "negbin"};
enum { N_LIKELIHOODS = sizeof likelihoods / sizeof *likelihoods };

enum gpnn_status gpnn_parameters_read_likelihood(struct gpnn_parameters_reader *reader,
                                                 struct gpnn_span word)
{
  char text[GPNN_MASK_BYTES];
  gpnn_mask(text, word.at, word.length);
  for (int i = 0; i < N_LIKELIHOODS; i++)
    if (strcmp(text, likelihoods[i]) == 0) {
      reader->params->likelihood = (enum gpnn_likelihood)i;
      return GPNN_OK;
    }
  return gpnn_parameters_refuse(reader,
                                "likelihood: \"%s\" is not one of gaussian, student, local, "
                                "categorical, poisson, negbin",
                                text);
}

enum gpnn_status gpnn_parameters_write_likelihood(const struct gpnn_parameters *params,
                                                  struct gpnn_output *output,
                                                  struct gpnn_error *err)
{
  if (params->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) return GPNN_OK;
  return gpnn_output_printf(output, err, "likelihood\t%s\n", likelihoods[params->likelihood]);
}

enum gpnn_status gpnn_parameters_read_term(struct gpnn_parameters_reader *reader, const char *name,
                                           struct gpnn_span values, struct gpnn_scale_term *term)
{
  double *list = NULL;
  size_t n = 0;
  enum gpnn_status status = gpnn_parameters_read_list(reader, name, values, &list, &n);
  if (status == GPNN_OK && n != 3)
    status = gpnn_parameters_refuse(
        reader, "%s: %zu numbers, not 3: a coefficient and the range of its feature", name, n);
  if (status == GPNN_OK) *term = (struct gpnn_scale_term){list[0], list[1], list[2]};
  free(list);
  if (status == GPNN_OK && term->low > term->high)
    return gpnn_parameters_refuse(reader, "%s: the range ends before it begins", name);
  if (status == GPNN_OK && !term_is_finite(term))
    return gpnn_parameters_refuse(reader, "%s: scales would be larger than any number", name);
  return status;
}

enum gpnn_status gpnn_parameters_write_term(const char *name, const struct gpnn_scale_term *term,
                                            struct gpnn_output *output, struct gpnn_error *err)
{
  if (term->coefficient == 0) return GPNN_OK;
  return gpnn_parameters_write_list(
      name, 3, (const double[]){term->coefficient, term->low, term->high}, output, err);
}
