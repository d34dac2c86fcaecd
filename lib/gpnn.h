/*
 * gpnn: Gaussian-process regression from nearest neighbours.
 *
 * A prediction at x is made by a Gaussian process over the m training rows nearest to x; the
 * parameters come from a few thousand rows (phase 1), and one factor on the variances from a
 * held-out set (phase 2).  From a table to predictions:
 *
 *   data/table.h, data/columns.h        read rows; find the target and the inputs
 *   data/standard.h, data/search.h      standardise; find the nearest rows
 *   data/index.h                        all of it in one file, mapped read-only
 *   models/kernel.h, models/params.h    covariance functions; parameters, read and written
 *   methods/fit.h, methods/calibrate.h  phase 1 and phase 2
 *   methods/conformal.h                 intervals for errors of any distribution
 *   methods/predict.h                   mean and standard deviation, row by row
 *   methods/metrics.h                   how good they are
 *
 * Conventions, the same in every header:
 *
 * Naming.  Functions are gpnn_module_verb, types struct gpnn_thing, constants GPNN_THING.
 *   _new and _free handle objects only the library sees into, _init and _release (or a zeroed
 *   object and _release) those the caller holds, _open and _close files, _read and _write
 *   streams.  Every _free accepts NULL, every _release a zeroed object.
 * Parameter order.  The object, inputs, in-out, outputs, scratch, and the error last.
 * Outcomes.  What can fail returns enum gpnn_status: GPNN_OK is 0, GPNN_END means that a
 *   stream is exhausted.  'err' may be NULL; else it receives one sentence to show.  Outputs
 *   are untouched on failure.  Broken preconditions are asserted, not reported.
 * Ownership.  Arguments are borrowed for the call, unless the comment says that they are
 *   copied, taken, or must outlive the object.  What a call allocates, the caller releases
 *   with the function that the comment names.
 * Arrays.  Matrices are row-major: 'x' is n rows by d columns.  n counts rows, d inputs and
 *   m neighbours; lengths in bytes end in _bytes.
 * Units.  A table's own units up to data/standard.h and from methods/predict.h on; between
 *   them standardised ones.  noise and kernelscale are variances, lengthscale is a length, sd
 *   a standard deviation; logarithms are natural.
 * Numbers.  double throughout; what works in float inside says so.
 * Threads.  Distinct objects may be used at once; an object that a call takes as const may be
 *   shared by any number of such calls.  'threads' counts the threads that work, at least 1, and no
 *   result depends on it; those that the library starts sleep while they wait.  Call
 *   gpnn_threads_single_blas() once before anything else.
 * Randomness.  Every random choice derives from a seed that the caller gives.
 * Silence.  The library prints nothing, never exits, reads no environment variable, sets no
 *   signal handler and keeps no state of its own.
 *
 * From C++, include it inside extern "C".  The interface may change until version 1.0.
 */
#ifndef GPNN_H
#define GPNN_H

/* GPNN_VERSION, "major.minor.patch". */
#include "version.h"

#include "base/binomial.h"
#include "base/bytes.h"
#include "base/child.h"
#include "base/chisquare.h"
#include "base/exhausted.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/noise.h"
#include "base/normal.h"
#include "base/number.h"
#include "base/pages.h"
#include "base/rng.h"
#include "base/spool.h"
#include "base/stages.h"
#include "base/status.h"
#include "base/student.h"
#include "base/sum.h"
#include "base/threads.h"

#include "data/columns.h"
#include "data/index.h"
#include "data/limits.h"
#include "data/moments.h"
#include "data/near.h"
#include "data/passes.h"
#include "data/predictions.h"
#include "data/records.h"
#include "data/rows.h"
#include "data/schema.h"
#include "data/search.h"
#include "data/sections.h"
#include "data/skipped.h"
#include "data/split.h"
#include "data/standard.h"
#include "data/stream.h"
#include "data/table.h"
#include "data/training.h"

#include "models/cholesky.h"
#include "models/function.h"
#include "models/kernel.h"
#include "models/localgp.h"
#include "models/mean.h"
#include "models/params.h"
#include "models/process.h"
#include "models/rotation.h"
#include "models/vecchia.h"
#include "models/weights.h"
#include "models/whiten.h"

#include "methods/advise.h"
#include "methods/calibrate.h"
#include "methods/choose.h"
#include "methods/conformal.h"
#include "methods/conjugate.h"
#include "methods/curve.h"
#include "methods/distance.h"
#include "methods/fit.h"
#include "methods/intervals.h"
#include "methods/known.h"
#include "methods/leftout.h"
#include "methods/metrics.h"
#include "methods/neighbourhood.h"
#include "methods/optimize.h"
#include "methods/predict.h"
#include "methods/regress.h"
#include "methods/scatter.h"
#include "methods/simulate.h"
#include "methods/slope.h"
#include "methods/synthetic.h"

#endif
