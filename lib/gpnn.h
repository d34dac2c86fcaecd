/*
 * gpnn: Gaussian-process regression from nearest neighbours.
 *
 * A prediction at x comes from a Gaussian process over the m training rows nearest to x.  Its
 * parameters are estimated from a few thousand rows; a factor on its variances, found on rows held
 * out, makes them right on average.  The headers in the order of the work:
 *
 *   table/table.h, table/schema.h     read a table; say which of its columns is what
 *   dataset/training/training.h                standardise the training rows
 *   dataset/dataset.h                 what models are made from: such rows, and a search over them
 *   dataset/index/index.h                   keep a dataset in a file
 *   dataset/transformed.h             see a target through a transform
 *   estimate/choose.h                 choose a kernel and estimate its parameters
 *   estimate/choose_transform.h       choose the transform
 *   models/conjugate/conjugate.h      or do so for the conjugate model
 *   assess/calibrate.h                make the variances right on average
 *   likelihood/conformal.h            find intervals that hold for errors of any distribution
 *   kernel/parameters.h               write parameters as text, and read them
 *   models/model.h                    make a model of a dataset and parameters
 *   dataset/reader.h                  read the rows to predict
 *   models/predict.h                  predict the mean and standard deviation of each
 *   likelihood/distribution.h         or its whole distribution: quantiles, densities, scores
 *   models/labels.h                   or the probabilities of its classes
 *   models/joint.h                    draw several rows together, and predict their sum
 *   stats/scores/metrics.h                   measure how good the predictions are
 *
 * Include it as <gpnn/gpnn.h>, from C or C++ (some _INIT macros need C++20).  This header and those
 * that it includes are the interface of the library, and the only ones installed; the interface may
 * change until version 1.0.
 *
 * Conventions, the same in every header:
 *
 * Naming.  Functions are gpnn_module_verb, types struct gpnn_thing, constants GPNN_THING.
 *   _new and _free handle objects that only the library sees into, _init and _release (or a zeroed
 *   object and _release) those that the caller holds, _open and _close files, _read and _write
 *   streams.  Every _free accepts NULL, every _release a zeroed object.
 * Parameter order.  The object, inputs, in-out, outputs, scratch, and the error last.
 * Outcomes.  What can fail returns enum gpnn_status: GPNN_OK is 0, and GPNN_END means that a stream
 *   is exhausted.  'err' may be NULL; otherwise it receives one sentence to show.  Outputs are
 *   untouched on failure.  Broken preconditions are asserted, not reported.
 * Ownership.  Arguments are borrowed for the call, unless the comment says that they are copied,
 *   taken, or must outlive the object.  What a call allocates, the caller releases with the
 *   function that the comment names.
 * Arrays.  Matrices are row-major: 'x' is n rows by d columns.  n counts rows, d inputs and
 *   m neighbours; lengths in bytes end in _bytes.
 * Units.  The table's own units when reading tables and in predictions; in between, standardised
 *   units (dataset/scaling.h).  noise and kernelscale are variances, lengthscale is a length, sd is
 *   a standard deviation; logarithms are natural.
 * Numbers.  double throughout; what works in float internally says so.
 * Threads.  Distinct objects may be used at the same time, and an object that is passed as const
 *   may be shared by any number of such calls.  'threads' is the number of threads that work, at
 *   least 1, and no result depends on it; threads of the library sleep while they wait.  Call
 *   gpnn_blas_single_thread() once before anything else.
 * Randomness.  Every random choice derives from a seed that the caller gives.
 * Silence.  The library prints nothing, never exits, reads no environment variables, installs no
 *   signal handlers and keeps no state of its own.
 */
#ifndef GPNN_H
#define GPNN_H

#include "version.h" /* GPNN_VERSION: "major.minor.patch" */

#include "assess/calibrate.h"
#include "base/status.h"
#include "base/threads.h"
#include "dataset/dataset.h"
#include "dataset/index/index.h"
#include "dataset/reader.h"
#include "dataset/training/training.h"
#include "dataset/transformed.h"
#include "estimate/choose.h"
#include "estimate/choose_transform.h"
#include "kernel/parameters.h"
#include "likelihood/conformal.h"
#include "likelihood/distribution.h"
#include "linalg/blas_threads.h"
#include "models/conjugate/conjugate.h"
#include "models/joint.h"
#include "models/labels.h"
#include "models/model.h"
#include "models/predict.h"
#include "stats/scores/metrics.h"
#include "table/schema.h"
#include "table/table.h"

#endif
