/* Which candidates for classes predict better together, and from how many neighbours. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "models/local/choose_private.h"
#include "models/local/labels_choose_private.h"

/* What is averaged: the members, with number 'count' of neighbours (GPNN_LABEL_COUNTS: each with
 * its best). */
struct mixture {
  size_t n;
  const struct gpnn_label_trial *trial[GPNN_CHOOSE_MEMBERS];
  size_t count;
};

/* The probability that member 'k' gives to the class of row 'i'. */
static double probability(const struct gpnn_label_choice *c, const struct mixture *mixture,
                          size_t k, size_t i)
{
  const struct gpnn_label_trial *trial = mixture->trial[k];
  size_t count = mixture->count == GPNN_LABEL_COUNTS ? trial->best : mixture->count;
  return exp(-trial->loss[count * c->n + i]);
}

/* The weights under which every 'step'-th row from 'first' on is the most probable, by expectation
 * and maximisation (equation 13.13). */
static void find_weights(const struct gpnn_label_choice *c, const struct mixture *mixture,
                         size_t first, size_t step, double *weight)
{
  enum { ROUNDS = 30 };
  size_t n = mixture->n;
  for (size_t k = 0; k < n; k++) weight[k] = 1 / (double)n;
  for (size_t round = 0; round < ROUNDS && n > 1; round++) {
    double sum[GPNN_CHOOSE_MEMBERS] = {0}, p[GPNN_CHOOSE_MEMBERS], rows = 0;
    for (size_t i = first; i < c->n; i += step) {
      double whole = 0;
      for (size_t k = 0; k < n; k++) whole += p[k] = weight[k] * probability(c, mixture, k, i);
      for (size_t k = 0; whole > 0 && k < n; k++) sum[k] += p[k] / whole;
      rows += whole > 0;
    }
    for (size_t k = 0; rows > 0 && k < n; k++) weight[k] = sum[k] / rows;
  }
}

/* Writes the loss of every second row from 'first' on under 'weight'. */
static void find_losses(const struct gpnn_label_choice *c, const struct mixture *mixture,
                        const double *weight, size_t first, double *loss)
{
  for (size_t i = first; i < c->n; i += 2) {
    double p = 0;
    for (size_t k = 0; k < mixture->n; k++) p += weight[k] * probability(c, mixture, k, i);
    loss[i] = -log(p);
  }
}

/* The mean loss of all rows, each under the weights that suit the other half of them. */
static double score(const struct gpnn_label_choice *c, const struct mixture *mixture, double *loss)
{
  double weight[GPNN_CHOOSE_MEMBERS], standard_error;
  for (size_t half = 0; half < 2; half++) {
    find_weights(c, mixture, 1 - half, 2, weight);
    find_losses(c, mixture, weight, half, loss);
  }
  return gpnn_choice_mean_difference(c->n, loss, NULL, &standard_error);
}

static bool is_member(const struct mixture *mixture, const struct gpnn_label_trial *trial)
{
  for (size_t k = 0; k < mixture->n; k++)
    if (mixture->trial[k] == trial) return true;
  return false;
}

/* Adds the trial that lowers the score most, if that is worth its time. */
static bool add_member(struct gpnn_label_choice *c, struct mixture *mixture, double *nll,
                       double *loss)
{
  const double enough = 0.99;
  struct mixture wider = *mixture;
  struct gpnn_label_trial *best = NULL;
  double lowest = enough * *nll;
  wider.n++;
  for (size_t i = 0; i < c->n_trials; i++) {
    if (is_member(mixture, &c->trial[i])) continue;
    wider.trial[mixture->n] = &c->trial[i];
    double own = score(c, &wider, loss);
    if (!(own < lowest)) continue;
    lowest = own;
    best = &c->trial[i];
  }
  if (best == NULL) return false;
  *nll = lowest;
  mixture->trial[mixture->n++] = best;
  c->stack.trial[c->stack.n++] = best;
  return true;
}

enum gpnn_status gpnn_label_choice_stack(struct gpnn_label_choice *c, struct gpnn_error *err)
{
  enum { FEWEST = 50 };
  struct gpnn_label_stack *stack = &c->stack;
  struct mixture mixture = {.n = 1, .count = GPNN_LABEL_COUNTS};
  double *loss = gpnn_alloc(c->n, 1, sizeof *loss);
  if (loss == NULL) return gpnn_fail_memory(err, "for a stack");
  stack->n = 1;
  stack->weight[0] = 1;
  mixture.trial[0] = stack->trial[0] = gpnn_label_choice_best(c);
  stack->nll = stack->trial[0]->candidate.nll;
  while (c->n >= FEWEST && c->options->effort != GPNN_EFFORT_FAST &&
         stack->n < c->options->members && add_member(c, &mixture, &stack->nll, loss)) {
  }
  free(loss);
  return GPNN_OK;
}

enum gpnn_status gpnn_label_choice_neighbours(struct gpnn_label_choice *c,
                                              struct gpnn_candidate *fewest, struct gpnn_error *err)
{
  const double most = 0.003; /* of the score to give up for speed, however uncertain */
  struct gpnn_label_stack *stack = &c->stack;
  struct mixture mixture = {.n = stack->n};
  double *loss = gpnn_alloc(c->n, GPNN_LABEL_COUNTS, sizeof *loss), nll[GPNN_LABEL_COUNTS];
  size_t best = 0, i = 0;
  if (loss == NULL) return gpnn_fail_memory(err, "for a stack");
  for (size_t k = 0; k < stack->n; k++) mixture.trial[k] = stack->trial[k];
  for (mixture.count = 0; mixture.count < c->n_counts; mixture.count++) {
    nll[mixture.count] = score(c, &mixture, loss + mixture.count * c->n);
    if (nll[mixture.count] < nll[best]) best = mixture.count;
  }
  for (; i < best; i++) {
    double standard_error, worse = gpnn_choice_mean_difference(c->n, loss + i * c->n,
                                                               loss + best * c->n, &standard_error);
    if (worse <= fmin(standard_error, most * nll[best])) break;
  }
  mixture.count = i;
  find_weights(c, &mixture, 0, 1, stack->weight);
  stack->nll = nll[i];
  for (size_t k = 0; k < stack->n; k++) stack->trial[k]->params.neighbours = c->counts[i];
  *fewest = stack->trial[0]->candidate;
  fewest->neighbours = c->counts[i];
  fewest->nll = stack->trial[0]->nll[i];
  fewest->error = stack->trial[0]->error[i];
  free(loss);
  return GPNN_OK;
}
