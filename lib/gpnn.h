/*
 * gpnn: Gaussian-process regression from nearest neighbours.
 *
 * A prediction at x is made by a Gaussian process over the m training rows nearest to x; the
 * parameters come from a few thousand rows (phase 1), and one factor on the variances from a
 * held-out set (phase 2).  From a table to predictions:
 *
 *   table/table.h, table/columns.h        read rows; find the target and the inputs
 *   dataset/scaling.h, search/search.h      standardise; find the nearest rows
 *   dataset/index.h                        all of it in one file, mapped read-only
 *   kernel/kernel.h, kernel/parameters.h    covariance functions; parameters, read and written
 *   models/local/fit.h, assess/calibrate.h  phase 1 and phase 2
 *   likelihood/conformal.h                 intervals for errors of any distribution
 *   models/local/predict.h                   mean and standard deviation, row by row
 *   stats/metrics.h                   how good they are
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
 * Units.  A table's own units up to dataset/scaling.h and from models/local/predict.h on; between
 *   them standardised ones.  noise and kernelscale are variances, lengthscale is a length, sd
 *   a standard deviation; logarithms are natural.
 * Numbers.  double throughout; what works in float inside says so.
 * Threads.  Distinct objects may be used at once; an object that a call takes as const may be
 *   shared by any number of such calls.  'threads' counts the threads that work, at least 1, and no
 *   result depends on it; those that the library starts sleep while they wait.  Call
 *   gpnn_blas_single_thread() once before anything else.
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

#include "base/atomic_file.h"
#include "base/bytes.h"
#include "base/child.h"
#include "base/compare.h"
#include "base/mapping.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/out_of_memory.h"
#include "base/pipeline.h"
#include "base/rng.h"
#include "base/spool.h"
#include "base/status.h"
#include "base/threads.h"
#include "container/container.h"

#include "linalg/blas_threads.h"
#include "linalg/cholesky.h"
#include "linalg/jitter.h"
#include "linalg/optimize.h"

#include "stats/binomial.h"
#include "stats/chisquare.h"
#include "stats/coverage.h"
#include "stats/learning_curve.h"
#include "stats/metrics.h"
#include "stats/moments.h"
#include "stats/normal.h"
#include "stats/power_law.h"
#include "stats/row_source.h"
#include "stats/scatter.h"
#include "stats/student.h"
#include "stats/sum.h"

#include "table/columns.h"
#include "table/predictions.h"
#include "table/records.h"
#include "table/schema.h"
#include "table/skipped.h"
#include "table/split.h"
#include "table/stream.h"
#include "table/table.h"

#include "search/nearest.h"
#include "search/search.h"

#include "dataset/dataset.h"
#include "dataset/index.h"
#include "dataset/limits.h"
#include "dataset/reader.h"
#include "dataset/sample.h"
#include "dataset/scaling.h"
#include "dataset/training.h"

#include "kernel/coefficients.h"
#include "kernel/covariance.h"
#include "kernel/kernel.h"
#include "kernel/mean.h"
#include "kernel/parameters.h"
#include "kernel/rotation.h"

#include "vecchia/gls.h"
#include "vecchia/regress.h"
#include "vecchia/vecchia.h"
#include "vecchia/whiten.h"

#include "likelihood/conformal.h"

#include "simulate/function.h"
#include "simulate/inputs.h"
#include "simulate/kriging.h"
#include "simulate/neighbours.h"
#include "simulate/noise.h"
#include "simulate/process.h"
#include "simulate/risk.h"
#include "simulate/synthetic.h"
#include "simulate/theory.h"

#include "models/local/choose.h"
#include "models/local/distance.h"
#include "models/local/fit.h"
#include "models/local/heldout.h"
#include "models/local/known.h"
#include "models/local/localgp.h"
#include "models/local/neighbourhood.h"
#include "models/local/predict.h"

#include "models/conjugate/conjugate.h"

#include "assess/advise.h"
#include "assess/calibrate.h"

#endif
