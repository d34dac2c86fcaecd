/*
 * labels_choose_private: shared by labels_choose.c, which decides what to try,
 * labels_choose_score.c, which scores it, and labels_choose_stack.c, which averages.
 */
#ifndef GPNN_ESTIMATE_LABELS_CHOOSE_PRIVATE_H
#define GPNN_ESTIMATE_LABELS_CHOOSE_PRIVATE_H

#include "estimate/labels_choose.h"

/* Numbers of neighbours to try; all candidates are compared with the first few, which are cheap. */
enum { GPNN_LABEL_COUNTS = 3, GPNN_LABEL_FIRST_COUNTS = 2 };

/* The stages of the descents that led to a trial, and the most trials. */
enum { GPNN_LABEL_STAGES = 8, GPNN_LABEL_TRIALS = 24 };

struct gpnn_label_stage {
  const struct gpnn_kernel *kernel;
  size_t k, steps;
  double rate;
  bool rotates; /* a rotation was learnt */
};

/* A fitted candidate and its scores. */
struct gpnn_label_trial {
  struct gpnn_parameters params; /* owned */
  struct gpnn_fit_report fit;
  struct gpnn_candidate candidate; /* with the best number of neighbours */
  size_t best;                     /* index of that number among those tried */
  double nll[GPNN_LABEL_COUNTS], error[GPNN_LABEL_COUNTS]; /* with each number */
  double *loss;        /* owned; GPNN_LABEL_COUNTS by the rows kept */
  bool is_passed_over; /* it can be a member but not the best */
  size_t n_stages;
  struct gpnn_label_stage stage[GPNN_LABEL_STAGES];
};

/* Trials whose probabilities are averaged: the best first, and their weights, of sum 1. */
struct gpnn_label_stack {
  size_t n; /* 1: the best alone */
  struct gpnn_label_trial *trial[GPNN_CHOOSE_MEMBERS];
  double weight[GPNN_CHOOSE_MEMBERS];
  double nll; /* of rows that its weights do not come from */
};

/* The state of a choice. */
struct gpnn_label_choice {
  const struct gpnn_dataset *dataset;
  const struct gpnn_choose_options *options;
  gpnn_choose_listener *listener;
  void *context;
  double *share; /* owned: of each class */
  size_t n;      /* rows that candidates are scored on */
  size_t n_kept; /* of them, those that are withheld from fits */
  int64_t *row;  /* owned; n */
  double *x;     /* owned; n by d: their inputs */
  size_t n_counts, counts[GPNN_LABEL_COUNTS];
  size_t n_trials;
  struct gpnn_label_trial trial[GPNN_LABEL_TRIALS];
  struct gpnn_label_stack stack; /* of some of them */
};

void gpnn_label_trial_release(struct gpnn_label_trial *trial);
void gpnn_label_choice_release(struct gpnn_label_choice *c);

/* The trial with the lowest score; NULL: there is none. */
struct gpnn_label_trial *gpnn_label_choice_best(struct gpnn_label_choice *c);

/* Draws the rows to score on, and sets the numbers of neighbours to try.  'c', otherwise zeroed,
 * has a dataset and options. */
GPNN_MUST_CHECK enum gpnn_status gpnn_label_choice_draw(struct gpnn_label_choice *c,
                                                        struct gpnn_error *err);

/* Number of rows for a fit: 'wanted', or all that are not withheld. */
size_t gpnn_label_choice_rows_left(const struct gpnn_label_choice *c, size_t wanted);

/* Scores a trial with the first 'n_counts' numbers of neighbours. */
GPNN_MUST_CHECK enum gpnn_status gpnn_label_choice_score(struct gpnn_label_choice *c,
                                                         struct gpnn_label_trial *trial,
                                                         size_t n_counts, struct gpnn_error *err);

/* Finds the trials that together predict the rows best: the best alone, unless others lower the
 * score enough (gpnn-methods(7), equations 13.13 and 13.14). */
GPNN_MUST_CHECK enum gpnn_status gpnn_label_choice_stack(struct gpnn_label_choice *c,
                                                         struct gpnn_error *err);

/* Gives the members the fewest neighbours that score about as well as the best number, and their
 * weights, and writes how they score to '*fewest'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_label_choice_neighbours(struct gpnn_label_choice *c,
                                                              struct gpnn_candidate *fewest,
                                                              struct gpnn_error *err);

#endif
