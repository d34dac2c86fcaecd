/*
 * effects: what the targets of a group of rows have in common besides the process
 * (gpnn-methods(7), section 6).
 *
 *   y(x) = fixed part + sum over effects of the group's own number, or line + process + noise
 *
 * An effect has a group for each level of a column, or each combination of the levels of several,
 * and for each group a number, or an intercept and a slope in one input.  They are independent
 * between groups, with mean zero and variances that are estimated.  The fixed part is a constant
 * and, where that is wanted, linear in the inputs.
 *
 * All of these are the columns of one design: those of the fixed part first, then effect after
 * effect, group after group.  A row has a few numbers in it that are not zero.
 *
 * Threads: a design never changes and may be shared freely.
 */
#ifndef GPNN_KERNEL_EFFECTS_H
#define GPNN_KERNEL_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "linalg/factors/sparse_factor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the design ------------------------------------------------------------------------------ */

/* The groups of one effect. */
struct gpnn_effect_groups {
  size_t n, width;      /* groups, and the columns of each: 1, or 2 with slopes */
  size_t first;         /* column of the design of the first of them */
  size_t n_coordinates; /* what says which group a row is in: */
  size_t coordinates[GPNN_EFFECT_CROSSED]; /* these of its standardised inputs */
  bool has_slope;
  size_t slope; /* standardised input; SIZE_MAX: it does not vary, so that slopes are nothing */
  double *keys; /* owned; n, ascending, of crossed effects: which combinations they are.  NULL: the
                   groups are the levels of a column */
};

/* A zeroed object is empty and may be released. */
struct gpnn_effect_design {
  size_t n_fixed;   /* 1, or 1 + n_linear */
  size_t n_linear;  /* standardised inputs that the fixed part may be linear in */
  size_t *linear;   /* owned; n_linear: which */
  size_t n_columns; /* of the design */
  size_t n_numbers; /* of a row, at most */
  size_t n_effects;
  struct gpnn_effect_groups *groups; /* owned; n_effects, in the order of the schema */
};

/* True if the index that a dataset is of has effects. */
bool gpnn_dataset_has_effects(const struct gpnn_dataset *dataset);

/* Inputs in which the fixed part is linear, at most; with more it is a constant. */
enum { GPNN_EFFECTS_LINEAR = 64 };

/*
 * The design of a dataset whose index has effects, linear or not.  'keys' are those of all crossed
 * effects, one after the other, and 'n_keys' (n_effects) how many each has; NULL: those of the
 * combinations that training rows have.  'design' must be zeroed.
 * GPNN_EMISMATCH: an input that the effects need is none of the dataset's.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_effect_design_make(struct gpnn_effect_design *design,
                                                         const struct gpnn_dataset *dataset,
                                                         bool is_linear, const double *keys,
                                                         const uint64_t *n_keys,
                                                         struct gpnn_error *err);

void gpnn_effect_design_release(struct gpnn_effect_design *design);

/* Writes the numbers of a standardised row 'x' with their columns (n_numbers of each, ascending),
 * and returns how many there are.  A group that training has not seen has none. */
size_t gpnn_effect_design_row(const struct gpnn_effect_design *design, const double *x,
                              uint32_t *columns, double *values);

/* Writes the number of a group's level in each column of its effect, from 0.  False: the columns
 * have no such levels, as keys from outside may say. */
bool gpnn_effect_group_levels(const struct gpnn_effect_design *design,
                              const struct gpnn_schema *schema, size_t effect, size_t group,
                              size_t levels[GPNN_EFFECT_CROSSED]);

/* ---- what is estimated ----------------------------------------------------------------------- */

/* Where effects lie, given the training rows: mean and covariance unit A^-1 (n_columns of the
 * design), A by its factor. */
struct gpnn_effect_posterior {
  bool is_linear;
  size_t n_columns;
  double *mean; /* owned; standardised target */
  struct gpnn_sparse_factor factor;
  size_t n_effects, n_all_keys;
  uint64_t *n_keys; /* owned; n_effects: see gpnn_effect_design_make() */
  double *keys;     /* owned; n_all_keys */
};

/* The effects of a target.  A zeroed object has none and may be released. */
struct gpnn_effects {
  double unit; /* > 0: of the posterior's covariance, in standardised target squared */
  size_t n_variances;
  double *variance; /* owned; for each effect its variance in units of 'unit', or with slopes those
                       of intercept, of both together and of slope: standardised inputs */
  struct gpnn_effect_posterior *posterior; /* owned; NULL: text does not carry it */
};

/* How many variances the effects of an index have. */
size_t gpnn_effects_n_variances(const struct gpnn_schema *schema);

/* What a standardised number of an effect is in units of the target: an intercept, or a slope per
 * unit of its input, of which it is 0 if that does not vary. */
double gpnn_effects_unit(const struct gpnn_dataset *dataset, size_t effect, bool is_slope);

/* The design that the effects of a dataset's target were estimated with; it must be zeroed.
 * GPNN_EMISMATCH: there is no posterior, or it is that of another index.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_effect_design_of(struct gpnn_effect_design *design,
                                                       const struct gpnn_dataset *dataset,
                                                       const struct gpnn_effects *effects,
                                                       struct gpnn_error *err);

/* The variance, in units of effects->unit, of the effects that a row 'x' has no group of among the
 * 'n' columns that gpnn_effect_design_row() gave it, as training has not seen the group: that of
 * the effect, the larger the fewer groups it was estimated from (gpnn-methods(7), section 6). */
double gpnn_effects_unseen(const struct gpnn_effect_design *design,
                           const struct gpnn_effects *effects, const double *x, size_t n,
                           const uint32_t *columns);

/* Deep copy into 'to', which must be zeroed.  GPNN_ENOMEM: it can only be released. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_effects_copy(struct gpnn_effects *to, const struct gpnn_effects *from, struct gpnn_error *err);

void gpnn_effect_posterior_free(struct gpnn_effect_posterior *posterior);
void gpnn_effects_release(struct gpnn_effects *effects);

/* ---- one by one ------------------------------------------------------------------------------ */

/* What is known of a number that a group has. */
struct gpnn_effect_entry {
  size_t effect;                      /* of the schema */
  size_t levels[GPNN_EFFECT_CROSSED]; /* the group: the number of its level in each column */
  bool is_slope;
  size_t n_rows;       /* training rows of the group */
  double estimate, sd; /* in units of the target: an intercept's where the slope's input has its
                          mean, a slope's per unit of the input (where its tails are compressed: of
                          the input near its centre) */
};

/*
 * Lists the effects of a dataset's target, effect after effect, group after group, the intercept
 * before the slope; slopes in an input that does not vary are left out.  The caller frees
 * '*entries', '*n' of them.  GPNN_EMISMATCH as gpnn_effect_design_of(); GPNN_EFORMAT: groups are
 * combinations of levels that there are not; GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_effects_list(const struct gpnn_dataset *dataset,
                                                   const struct gpnn_effects *effects,
                                                   struct gpnn_effect_entry **entries, size_t *n,
                                                   struct gpnn_error *err);

/* ---- in a state ------------------------------------------------------------------------------ */

struct gpnn_state; /* container/state.h */

/* Adds the posterior to the state that goes with parameters of 'target' ("": the only one).
 * GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_effects_store(const struct gpnn_effects *effects,
                                                    const char *target, struct gpnn_state *state,
                                                    struct gpnn_error *err);

/* Copies the posterior of effects that have variances from the state; 'name' is that of the file.
 * GPNN_EFORMAT: it is not there, or is not one.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_effects_take(struct gpnn_effects *effects, const char *target,
                                                   const struct gpnn_state *state, const char *name,
                                                   struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
