/*
 * places: the files of a run: a directory for what is unfinished, and where it goes in the end.
 *
 * Everything is made in a temporary directory, which no end of the program leaves behind, but for
 * SIGKILL.  If the model is to be kept, that directory is made where the model will be, as there is
 * room for it; otherwise in $TMPDIR or /tmp.
 */
#ifndef GPNN_CMD_GPNN_PLACES_H
#define GPNN_CMD_GPNN_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/scratch.h"
#include "base/status.h"
#include "cmd/common/open.h"

/* Owned paths; NULL: there is no such file. */
struct files {
  char *index, *fitted, *params, *model, *predictions;
  char *folds; /* what calibration estimates without each fold, if it does */
};

/* Where the table to predict begins, as gpnn-predict has to be told because the command line does
 * not say so. */
struct beginning {
  bool no_header;
  size_t skip_lines;
};

/* A zeroed object may be closed. */
struct places {
  const char *train, *test; /* borrowed; "-": standard input; 'test' NULL: there is none */
  struct beginning test_begins;
  bool looks_for_gaps; /* predictions are not wanted if 'test' lies in gaps between training rows */
  bool lies_in_gaps;   /* it does: the model is chosen, and calibrated, for rows like its */
  bool keeps;          /* the model is kept */
  struct {             /* owned; what a page is made from */
    char *rows, *predicted, *table;
  } page;
  struct gpnn_scratch scratch;
  struct files working; /* unfinished; without a model */
  struct files other;   /* those of another model, which is compared with it; no predictions, and
                           no folds, as it is compared in rows held out */
  const char *effects;  /* borrowed; groups that have effects in the working files, although the
                           command line does not say so (cmd/gpnn/effects.c); NULL: none */
  bool is_trial;        /* what the working files come to is only tried: quietly */
  struct files kept; /* the model, if it is kept or would be; and index and parameters as somebody
                        would call them who makes it step by step */
};

/*
 * Chooses names and makes the directory.  'save' (or NULL) is the file to keep the model in;
 * without it the model is kept in the working directory, under a name after 'train', if there is no
 * 'test'. 'output' is where predictions will go: the unfinished file gets the same ending; 'page'
 * is where the page will be, or NULL.
 *
 * GPNN_EINVAL: 'output' or 'page' is that of the model.  GPNN_EIO: the system refuses, or the model
 * would replace a file that is not one.  GPNN_ENOMEM.  The caller closes 'places', which must be
 * zeroed before, in any case.
 */
GPNN_MUST_CHECK enum gpnn_status places_open(struct places *places, const char *train,
                                             const char *test, const char *save, const char *output,
                                             const char *page, struct gpnn_error *err);

/* Writes the model that 'opened' is, if it is to be kept, with 'report', lines for people. Outcomes
 * as for pack_write(). */
GPNN_MUST_CHECK enum gpnn_status places_keep(const struct places *places,
                                             const struct opened *opened, const char *report,
                                             struct gpnn_error *err);

/* Removes what is unfinished. */
void places_close(struct places *places);

#endif
