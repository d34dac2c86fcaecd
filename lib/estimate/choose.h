/*
 * choose: the choice of kernel, of one lengthscale or many, of rotation and of neighbours.
 *
 * Each candidate is fitted (estimate/fit.h) and scored on training rows whose density no fit
 * has seen.  The score is the mean, over rows predicted from their neighbours and not from
 * themselves, of the negative log density plus the CRPS in units of that of the first candidate,
 * under the distribution that users will get, whose scale depends on the row as in the other rows
 * (likelihood/scale.h).  The lowest wins.  (Under a Gaussian likelihood the score is the negative
 * log density with the variance multiplied by the best factor for the other rows; and among all
 * whose score exceeds the lowest by no more than one standard error of the difference, the one with
 * the smallest error of its means wins.)  The best gets the smallest number of neighbours whose
 * score exceeds that of the best number by no more than one standard error, and by no more than
 * 0.01.  If the rows kept for scoring would have mattered to the fit, the fit finally continues on
 * all rows.
 *
 * A small dataset, up to GPNN_CHOOSE_EXACT rows, GPNN_CHOOSE_EXACT_COPIES with copies or
 * GPNN_CHOOSE_EXACT_GROUPS that have groups (GPNN_CHOOSE_EXACT_COPIES with thorough effort), has
 * candidates that need no approximation: kernels under ARD, fitted by the likelihood of all rows
 * together, and predicting from all rows, then scores of the inputs, and where these are better all
 * kernels with them. They replace the others, unless the rows suffice to learn a rotation, or have
 * groups or copies and are more than GPNN_CHOOSE_EXACT_GROUPS or the effort is thorough.  They are
 * not tried under a Gaussian likelihood, whose results stay as they were.
 *
 * Large datasets are sampled, so that the time taken does not grow with them: candidates are
 * compared in a small sample; the best continues in a larger one, where a smoother kernel is tried
 * as well, and where the final score and number of neighbours are determined.
 *
 * Several candidates together may predict better than the winner alone, as their errors differ.
 * With weights that suit one half of the validation rows, the winner and up to three others predict
 * the other half.  They become the members of a stack (models/stack/stack.h) if that lowers the
 * score by more than one standard error, and by 0.015 for each member added, since prediction takes
 * as many times as long as there are members; and if the error of the means is no larger
 * (gpnn-methods(7), equations 5.6 to 5.11).  With the least effort, a Gaussian likelihood, given
 * rows to predict, fewer than 50 validation rows or more than 16 targets there are none.
 *
 * Rows to predict that lie in gaps or beyond the training rows are unlike them: if such rows are
 * given, candidates are scored on training rows held out so as to resemble them.
 *
 * For a target that holds classes, under the objective of labels, the score is the mean of minus
 * the log probability of a row's class, given its neighbours among all other training rows.
 * Candidates are
 *   kernels     matern32, exp and rbf, with a lengthscale for every input; in large tables each
 *               goes on from the best before it, so that they share the work;
 *   scores      of the inputs, beside their values or in place of them, from the best kernel;
 *   one         lengthscale instead of many, if the rows are few for so many;
 *   longer      descents from the best, and unless the table is large from the best of another
 *               kernel as well, as long as the score falls;
 *   rotation    learnt from where these end (kernel/rotation.h), if there are rows enough to try;
 *   wider       the best of all with twice the neighbours in its objective, if it predicts better
 *               from more.
 * A descent that has fitted noise scores worse than the shorter one before it, which then wins.
 * Others become members of a stack with the best if their averaged probabilities lower the score by
 * 1 % or more for each.  Members get the fewest neighbours that score about as well as the best
 * number.  Finally, if the rows kept for scoring would have mattered to the fit, it is repeated
 * with all rows, or with more than a few thousand continued.  See gpnn-methods-classes(7), section
 * 13.  A class without rows among the others of the training rows, such as one of a single row, has
 * no evidence that could be left out; it keeps its share and its bias.  With one class in all,
 * every candidate is certain, and the first is taken.
 *
 * For numbers, how much is tried depends on the effort:
 *   fast      every kernel, with a lengthscale for every input and with one for all, by the
 *             objective of blocks alone;
 *   normal    by leave-one-out:
 *               kernels      with a lengthscale for every input, smoother ones as long as they
 *                            improve;
 *               scores       of the inputs, beside their values or in place of them;
 *               neighbours   more of them in the objective;
 *               one          lengthscale, for few inputs or where all have much the same;
 *               whitened     inputs, for longer if they come near the best;
 *               rotation     learnt from the best (kernel/rotation.h), and if it is better tried
 *                            with the next rougher kernel;
 *               longer       descent of the best;
 *   thorough  in addition, with four times the rows: all other kernels in the metric of the best;
 *             rotations of values, of scores and of both, learnt in full length, also from whitened
 *             inputs; the best with twice the neighbours.  All candidates may become members, which
 *             need to gain less.
 */
#ifndef GPNN_ESTIMATE_CHOOSE_H
#define GPNN_ESTIMATE_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "estimate/fit.h"
#include "kernel/parameters.h"
#include "models/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ARD is what all candidates have with up to GPNN_CHOOSE_ARD inputs and at least
 * GPNN_CHOOSE_ARD_ROWS rows for each lengthscale.  With fewer rows, down to 100, or more inputs, up
 * to GPNN_CHOOSE_ARD_SPARSE, a single candidate has it, as few of the inputs may matter.  A
 * rotation is tried with up to GPNN_CHOOSE_ROTATION inputs, and at least GPNN_CHOOSE_ROTATION_ROWS
 * for each number of it, for which two suffice where exact candidates are out of reach: it would
 * fit noise.
 */
enum {
  GPNN_CHOOSE_ROWS = 4096, /* at most so many score the candidates, half of them with more inputs
                              than the next, which make each row dear, */
  GPNN_CHOOSE_MANY_INPUTS = 128,
  GPNN_CHOOSE_LAST_ROWS = 1024, /* and of these the best two with all numbers of neighbours, of
                                   which the greatest is */
  GPNN_CHOOSE_NEIGHBOURS = 400,
  GPNN_CHOOSE_ARD = 96,
  GPNN_CHOOSE_ARD_SPARSE = 1024,
  GPNN_CHOOSE_ARD_ROWS = 10,
  GPNN_CHOOSE_ROTATION = 32,
  GPNN_CHOOSE_ROTATION_ROWS = 20,
  GPNN_CHOOSE_EXACT = 1500, /* exact candidates take time that grows as the cube of the rows, */
  GPNN_CHOOSE_EXACT_GROUPS = 400, /* and that for each row to leave out, where others go with it */
  GPNN_CHOOSE_EXACT_COPIES = 1000,
  /* What is usual for 'sample_rows', 'last_sample_rows' and 'members' of the options, the last with
   * thorough effort, where it is the most that can be asked for, and otherwise. */
  GPNN_CHOOSE_SAMPLE = 1 << 17,
  GPNN_CHOOSE_LAST_SAMPLE = 1 << 19,
  GPNN_CHOOSE_MEMBERS = 4,
  GPNN_CHOOSE_MOST_MEMBERS = 8,
  /* Of classes: ARD is not tried with more inputs, and candidates are scored on at most so many
   * rows. */
  GPNN_CHOOSE_LABELS_ARD = 256,
  GPNN_CHOOSE_LABELS_ROWS = 4000
};

/* Fits that suit labels, for the 'fit' of gpnn_choose_options. */
#define GPNN_CHOOSE_LABELS_FIT_INIT                                                          \
  {                                                                                          \
    .ard = true, .first = GPNN_OBJECTIVE_LABELS, .n_blocks = 1, .block_size = 2, .k = 32,    \
    .rows = 12800, .batch = 128, .steps = 300, .refresh = 100, .thin = -1, .neighbours = 32, \
    .prior_factor = 3, .seed = 1, .threads = 1                                               \
  }

enum gpnn_effort { GPNN_EFFORT_FAST = 0, GPNN_EFFORT_NORMAL = 1, GPNN_EFFORT_THOROUGH = 2 };

/* What the kernel sees of the inputs. */
enum gpnn_rotate {
  GPNN_ROTATE_NONE = 0,   /* the inputs themselves */
  GPNN_ROTATE_WHITEN = 1, /* their principal components, scaled to equal variances */
  GPNN_ROTATE_LEARN = 2,  /* directions found by the objective of neighbourhoods */
};

/* 'likelihood', 'objective', 'like' and 'last_sample_rows' concern numbers only. */
struct gpnn_choose_options {
  struct gpnn_fit_options fit;     /* used for everything that is not chosen; for the rotation see
                                      'rotate'.  The objective of labels as the first chooses for
                                      classes. */
  enum gpnn_likelihood likelihood; /* that candidates are scored by, and that parameters get */
  enum gpnn_rotate rotate;         /* used if the rotation is not chosen */
  bool kernel, ard, neighbours, k; /* true: choose it */
  bool rotation;
  bool scores;             /* true: choose how inputs that have scores are seen */
  bool objective;          /* true: the effort determines the objective */
  size_t sample_rows;      /* rows on which candidates are compared; 0: all */
  size_t last_sample_rows; /* rows on which the best continues, or on which everything is done if
                              there is nothing to choose; 0: all */
  enum gpnn_effort effort;
  size_t members;                /* the most candidates whose predictions may be averaged, up to
                                    GPNN_CHOOSE_MOST_MEMBERS; 1: only one is chosen */
  const struct gpnn_query *like; /* rows to predict, of which only the inputs are used: candidates
                                    are scored on held-out rows that resemble them
                                    (models/heldout.h); or NULL */
  double budget; /* what predicting a row may cost (gpnn_choose_cost()), however the number of
                    neighbours and the members are chosen; 0: anything.  The least that can be
                    chosen may cost more. */
  size_t n_rows; /* that a table to predict is taken to have, where their price is weighed against
                    the score; 0: as many as the dataset */
};

/* What it costs to predict a row of 'd' inputs from 'm' neighbours: about its microseconds on one
 * core, the search of a large table included (gpnn-methods(7), equation 5.13).  The same on every
 * machine, so that no result depends on how fast one is. */
double gpnn_choose_cost(size_t m, size_t d);

/* A candidate and its score. */
struct gpnn_candidate {
  const struct gpnn_kernel *kernel; /* NULL: none */
  double smoothness;
  bool ard;
  enum gpnn_rotate rotate;
  enum gpnn_sight sight; /* of inputs that have scores */
  enum gpnn_objective_kind objective;
  bool exact; /* fitted by one block of all rows, and predicts from all rows */
  size_t k;   /* neighbours in the objective; 0 under blocks */
  size_t neighbours;
  double score; /* mean over the validation rows, standardised units: the NLL plus the CRPS in units
                   of that of the first candidate; of a Gaussian likelihood or of labels the NLL;
                   NaN: failed */
  double standard_error; /* of the score */
  double nll, crps;      /* likewise; crps: NaN where it is not part of the score */
  double rmse;           /* of the means, standardised units */
  double error;          /* of labels: the share of rows whose class is not the most probable */
};

/* Called for each candidate once it is scored. */
typedef void gpnn_choose_listener(void *context, const struct gpnn_candidate *candidate);

struct gpnn_choose_report {
  struct gpnn_candidate chosen, runner_up; /* each with its best number of neighbours */
  struct gpnn_candidate fewest; /* the chosen candidate with the number of neighbours chosen; kernel
                                   NULL: the number was not chosen */
  size_t n_rows;                /* rows that candidates were scored on */
  struct gpnn_fit_report fit;   /* of the chosen candidate */
  struct gpnn_choose_stack {
    size_t n; /* members; 0: the chosen candidate stands alone */
    struct gpnn_candidate member[GPNN_CHOOSE_MOST_MEMBERS]; /* the chosen first */
    double weight[GPNN_CHOOSE_MOST_MEMBERS];
    size_t n_rows;          /* that the stack was scored on */
    double crps, nll, rmse; /* of rows that its weights do not come from */
  } stack;
};

/* The most candidates that gpnn_choose() passes to its listener, for the rows and targets of any
 * view of 'dataset'; 0 if there is nothing to choose.  It is often fewer, as what the first scores
 * rule out is not tried. */
size_t gpnn_choose_most(const struct gpnn_dataset *dataset,
                        const struct gpnn_choose_options *options);

/* The most rows that gpnn_choose() looks at: if a dataset has more distinct ones
 * (gpnn_sample_distinct()), those of them that gpnn_sample_draw() draws by the seed of the fit,
 * from which the result would be the same. 0: it looks at all. */
size_t gpnn_choose_rows(const struct gpnn_choose_options *options);

/*
 * Chooses and fits for 'n' > 0 targets of one dataset (each given by its view) that are to share a
 * metric (gpnn_fit()): one choice for all of them, by the mean of their scores.  'params' has n
 * entries, which must be zeroed; the caller releases them.  Up to a third of the rows is kept for
 * the score; below 96 rows, some of the rows fitted are used for it as well.  If there is nothing
 * to choose, all rows serve the fit, and no scale is estimated.  'listener' may be NULL.  A
 * target that holds classes is chosen for alone; of its candidates 'nll' is the score, and 'error'
 * the share of rows whose class is not the most probable one.
 *
 * Outcomes as for gpnn_fit(), and GPNN_EINVAL if the objective is that of labels and the target
 * holds no classes; the result does not depend on the number of threads.  A candidate whose
 * covariances are not positive definite is skipped.  Cost per candidate: a fit, GPNN_CHOOSE_ROWS
 * predictions from up to 64 neighbours each and, for the best two, GPNN_CHOOSE_LAST_ROWS from up to
 * GPNN_CHOOSE_NEIGHBOURS; for up to six (with thorough effort sixteen) that may be stacked, the
 * same once more with the number of neighbours chosen; unless its metric is that of the dataset's
 * search, a search over all rows is built as well.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_choose(size_t n, const struct gpnn_dataset *const targets[],
                                             const struct gpnn_choose_options *options,
                                             gpnn_choose_listener *listener, void *context,
                                             struct gpnn_parameters *params,
                                             struct gpnn_choose_report *report,
                                             struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
