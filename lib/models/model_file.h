/*
 * model_file: writing a model that predicts without training rows as a file of its own
 * (gpnn-model(5)), which gpnn_index_open() of dataset/index/index.h opens.
 *
 * Calling sequence: estimate the models of some targets of an index, each of which adds its arrays
 * to one state under the name of its target; gpnn_model_file_write().
 */
#ifndef GPNN_MODELS_MODEL_FILE_H
#define GPNN_MODELS_MODEL_FILE_H

#include <stddef.h>

#include "base/status.h"
#include "container/state.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/*
 * Writes the models of 'n' >= 1 targets of 'dataset', all rows of an index, to 'path', whole or not
 * at all.  'params' (n) name the targets, or none if there is one, which is then the first; their
 * families find what they need in 'arrays'.  The rows that the dataset holds out are predicted with
 * 'threads', and their truths and latent predictions are added to 'arrays', as are the other arrays
 * of dataset/stored.h; so a state serves one call.  'watch' as for gpnn_index_write().
 *
 * GPNN_EMISMATCH: the dataset is no index of rows, has no such target, or the parameters do not fit
 * it; GPNN_EFORMAT: an array is missing or not as its family needs it; further outcomes: those of
 * gpnn_model_new(), gpnn_model_predict(), gpnn_parameters_write() and gpnn_index_write().
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_model_file_write(const char *path, const struct gpnn_dataset *dataset, size_t n,
                      const struct gpnn_parameters *params, struct gpnn_state *arrays, int threads,
                      const char *volatile *watch, struct gpnn_error *err);

#endif
