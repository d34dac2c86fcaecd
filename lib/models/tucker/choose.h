/*
 * tucker_choose: lengthscales to begin with, by how well rows left out are predicted
 * (gpnn-methods(7), equation 17.47).
 *
 * Threads: those of the data share the rows; results do not depend on their number.
 */
#ifndef GPNN_MODELS_TUCKER_CHOOSE_H
#define GPNN_MODELS_TUCKER_CHOOSE_H

#include <stdint.h>

#include "base/status.h"
#include "models/tucker/rows.h"
#include "models/tucker/tucker.h"
#include "models/tucker/tune.h"

/*
 * Sets all of 'tucker' to where least squares should begin, as gpnn_tucker_begin() does, but with
 * the lengthscales, of some, that predict rows best: a fifth of at most 20000 random ones, after a
 * few sweeps for the others.  Lengthscales change only for a
 * clear gain.  With fewer than 50 rows nothing is compared.  Outcomes as
 * gpnn_tucker_begin() and gpnn_tucker_als_sweep().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_choose(struct gpnn_tucker *tucker,
                                                    const struct gpnn_tucker_data *data,
                                                    const struct gpnn_tucker_groups *groups,
                                                    uint64_t seed, struct gpnn_error *err);

#endif
