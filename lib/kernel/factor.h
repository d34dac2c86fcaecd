/*
 * factor: one factor of a product kernel: the covariance between the levels of one thing that data
 * on a grid are indexed by, a site or a time or a task (gpnn-methods-grid(7), equations 16.1 to
 * 16.9).
 *
 * The covariance of two cells of a grid is
 *   kernelscale prod_a K_a(l_a, l'_a) + noise [same cell]
 * where K_a is the factor of thing a.  A factor has unit variance, but for a nugget and for tasks:
 *   K(l, l') = prod_t c_t(l, l') + nugget [same level]     or     F F' + diag(own)
 * with correlations c_t that are kernels of distance (kernel/kernel.h) or periodic.
 *
 * A level has coordinates, in the units of the dataset (dataset/grid/grid.h), which a factor may
 * replace by their ranks or their logarithms; or it is a task, which has none.
 *
 * Estimation moves a vector of coordinates: the logarithms of all positive numbers, in the order
 *   of each term in turn its lengthscales, then its period; the nugget; loadings (as they are), own
 * where those of value 0 (no nugget) are left out.
 */
#ifndef GPNN_KERNEL_FACTOR_H
#define GPNN_KERNEL_FACTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "kernel/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Terms of a product within a factor; factors of a grid. */
enum { GPNN_FACTOR_TERMS = 4, GPNN_GRID_FACTORS = 6 };

/* What a factor makes of the coordinates of levels. */
enum gpnn_factor_inputs {
  GPNN_FACTOR_RAW = 0,
  GPNN_FACTOR_RANKS = 1, /* each coordinate by its rank among the grid's levels, scaled to mean 0
                            and sd 1; ties share, and new levels are interpolated */
  GPNN_FACTOR_LOG = 2,   /* logarithms of positive coordinates */
};

/* One correlation of a product. */
struct gpnn_factor_term {
  const struct gpnn_kernel *kernel; /* of distance; NULL: exp(-2 sin^2(pi r / period) / l^2) of the
                                       distance r in the only coordinate */
  double smoothness;                /* of the general Matern kernel, otherwise 0 */
  size_t n_lengthscales;            /* 1, or one for each coordinate */
  double *lengthscale;              /* owned; > 0 */
  double period;                    /* > 0 where 'kernel' is NULL, in units of the coordinate */
};

/* A zeroed object is empty and may be released. */
struct gpnn_factor {
  char *name; /* owned: "site", "time", or what the user calls it */
  enum gpnn_factor_inputs inputs;
  size_t n_terms; /* 0: tasks */
  struct gpnn_factor_term term[GPNN_FACTOR_TERMS];
  double nugget;    /* >= 0: what each level has to itself, in units of the factor's variance */
  size_t n_tasks;   /* tasks: how many */
  size_t rank;      /* of their common covariance */
  double *loadings; /* owned; n_tasks by rank, row-major: F */
  double *own;      /* owned; n_tasks, > 0: the variance that each has to itself */
};

/* Deep copy into 'to', which must be zeroed and stays so after GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_factor_copy(struct gpnn_factor *to, const struct gpnn_factor *from, struct gpnn_error *err);
void gpnn_factor_release(struct gpnn_factor *factor);

/*
 * Reads a product as people write it, "rbf*periodic", "matern:1.2" or "icm" ("icm:R" for rank R;
 * default: full), for 'd' coordinates, or 'n_tasks' tasks under icm, into 'factor', whose terms are
 * replaced; 'ard' gives a term with several coordinates a lengthscale for each.  Lengthscales and
 * periods become 1, own 1, loadings the unit matrix's columns.  GPNN_EINVAL: an unknown kernel, too
 * many, periodic or icm with several coordinates, icm in a product.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_factor_parse(struct gpnn_factor *factor, const char *text,
                                                   size_t d, size_t n_tasks, bool ard,
                                                   struct gpnn_error *err);

/* Writes what gpnn_factor_parse() reads, cut to 'size' bytes with a NUL; returns 'text'. */
char *gpnn_factor_write(const struct gpnn_factor *factor, char *text, size_t size);

/*
 * Levels as the kernel sees them: 'x' is n by d, row-major, of any levels; 'levels' n_levels by d,
 * those of the grid, which ranks and the numbers of tasks refer to.  Writes n by d to 'prepared',
 * which may be 'x'; under tasks, the number of the level that is the same.
 *
 * A rank between those of two levels is interpolated linearly; beyond the last level it goes on
 * along the last step, but no farther than one rank.
 *
 * GPNN_EDATA: the logarithm of a number that is not positive, or a task that is none of the
 * factor's.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_factor_prepare(const struct gpnn_factor *factor, size_t d,
                                                     size_t n_levels, const double *levels,
                                                     size_t n, const double *x, double *prepared,
                                                     struct gpnn_error *err);

/*
 * Covariances between levels 'a' (n_a by d, prepared) and 'b' (n_b by d), to 'k', n_a by n_b,
 * row-major.  Under tasks a and b have one column, the number of the task.  The nugget is added
 * where 'same' says that a and b are the same list, on the diagonal; otherwise it is left out, so
 * that new levels do not share it.  'threads' share the rows; results do not depend on them.
 */
void gpnn_factor_matrix(const struct gpnn_factor *factor, size_t d, size_t n_a, const double *a,
                        size_t n_b, const double *b, bool same, int threads, double *k);

/* The variance of level 'x' (d, prepared): 1 plus the nugget, or that of a task. */
double gpnn_factor_variance(const struct gpnn_factor *factor, const double *x);

/* ---- estimation --------------------------------------------------------------------------- */

/* How many coordinates there are; to and from a vector of them. */
size_t gpnn_factor_n_coordinates(const struct gpnn_factor *factor);
void gpnn_factor_get_coordinates(const struct gpnn_factor *factor, double *coordinates);
void gpnn_factor_set_coordinates(struct gpnn_factor *factor, const double *coordinates);

/* The name of coordinate 'i' as the parameters' text has it without the factor's name,
 * "lengthscale" or "period", for messages, --guess and --fix. */
const char *gpnn_factor_coordinate_name(const struct gpnn_factor *factor, size_t i);

/*
 * Adds <dK/dc_i, gamma> to gradient[i] for each coordinate c_i.  'x' has n levels, prepared, and
 * 'gamma' is n by n, row-major, symmetric.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_factor_contract(const struct gpnn_factor *factor, size_t d,
                                                      size_t n, const double *x,
                                                      const double *gamma, int threads,
                                                      double *gradient, struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
