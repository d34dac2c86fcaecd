/* Which candidates for classes predict better together, and from how many neighbours. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "estimate/choose_private.h"
#include "estimate/labels_choose_private.h"

/* What is averaged: the members, with number 'count' of neighbours (GPNN_LABEL_COUNTS: each with
 * its best). */
struct mixture {
  size_t n;
  const struct gpnn_label_trial *trial[GPNN_CHOOSE_MEMBERS];
  size_t count;
};

/* The number of neighbours of member 'k' under a choice of it. */
static size_t count_of(const struct mixture *mixture, size_t k)
{
  return mixture->count == GPNN_LABEL_COUNTS ? mixture->trial[k]->best : mixture->count;
}

/* The probability that member 'k' gives to the class of row 'i'. */
static double probability(const struct gpnn_label_choice *c, const struct mixture *mixture,
                          size_t k, size_t i)
{
  const struct gpnn_label_trial *trial = mixture->trial[k];
  return exp(-trial->loss[count_of(mixture, k) * c->n + i]);
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
    loss[i] = p > 0 ? -log(p) : INFINITY;
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

/* The first choice of numbers whose score is about that of the best: the same number for all, or
 * each with its own. */
static size_t choose_count(const struct gpnn_label_choice *c, struct mixture *mixture, double *loss,
                           double *nll)
{
  const double most = 0.003; /* of the score to give up for speed, however uncertain */
  size_t best = 0, i = 0, n_counts = c->n_counts + (mixture->n > 1 ? 1 : 0);
  for (size_t k = 0; k < n_counts; k++) {
    mixture->count = k < c->n_counts ? k : GPNN_LABEL_COUNTS;
    nll[k] = score(c, mixture, loss + k * c->n);
    if (nll[k] < nll[best]) best = k;
  }
  for (; i < best; i++) {
    double standard_error, worse = gpnn_choice_mean_difference(c->n, loss + i * c->n,
                                                               loss + best * c->n, &standard_error);
    if (worse <= fmin(standard_error, most * nll[best])) break;
  }
  mixture->count = i < c->n_counts ? i : GPNN_LABEL_COUNTS;
  return i;
}

enum gpnn_status gpnn_label_choice_neighbours(struct gpnn_label_choice *c,
                                              struct gpnn_candidate *fewest, struct gpnn_error *err)
{
  struct gpnn_label_stack *stack = &c->stack;
  struct mixture mixture = {.n = stack->n};
  double *loss = gpnn_alloc(c->n, GPNN_LABEL_COUNTS + 1, sizeof *loss),
         nll[GPNN_LABEL_COUNTS + 1] = {0};
  if (loss == NULL) return gpnn_fail_memory(err, "for a stack");
  for (size_t k = 0; k < stack->n; k++) mixture.trial[k] = stack->trial[k];
  stack->nll = nll[choose_count(c, &mixture, loss, nll)];
  find_weights(c, &mixture, 0, 1, stack->weight);
  for (size_t k = 0; k < stack->n; k++)
    stack->trial[k]->params.neighbours = c->counts[count_of(&mixture, k)];
  *fewest = stack->trial[0]->candidate;
  fewest->neighbours = stack->trial[0]->params.neighbours;
  fewest->nll = stack->trial[0]->nll[count_of(&mixture, 0)];
  fewest->error = stack->trial[0]->error[count_of(&mixture, 0)];
  free(loss);
  return GPNN_OK;
}
