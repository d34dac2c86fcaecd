#include "cmd/gpnn/places.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/common/pack.h"
#include "cmd/common/signals.h"
#include "dataset/index/index.h"

/* What a signal handler removes: the directory comes after its files. */
enum {
  INDEX,
  FITTED,
  PARAMS,
  FOLDS,
  OTHER_INDEX,
  OTHER_FITTED,
  OTHER_PARAMS,
  PREDICTIONS,
  ROWS,
  PREDICTED,
  TABLE,
  SCRATCH,
  MODEL,
  UNFINISHED
};
static const char *volatile unfinished[UNFINISHED];

/* ---- names -------------------------------------------------------------------------------- */

/* Cuts 'ending' off the end of 'name', unless that is all of it. */
static void cut(char *name, const char *ending)
{
  size_t length = strlen(name), n = strlen(ending);
  if (length > n && strcmp(name + length - n, ending) == 0) name[length - n] = '\0';
}

/* The name of the file 'path' in its directory. */
static const char *file_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

/* The name of the model learnt from 'train', for the caller to free: "data/house.csv.gz" makes
 * "house". */
static char *model_name(const char *train)
{
  const char *base = file_of(train);
  if (strcmp(train, "-") == 0 || base[0] == '\0') base = "model";
  char *name = gpnn_copy_text(base, strlen(base));
  if (name == NULL) return NULL;
  cut(name, ".gz");
  char *dot = strrchr(name, '.');
  if (dot != NULL && dot != name) *dot = '\0';
  return name;
}

/* "DIRECTORY/NAMEENDING", without the directory if that is the working one and the name can stand
 * alone; NULL if there is no memory. */
static char *path_in(const char *directory, const char *name, const char *ending)
{
  bool alone = strcmp(directory, ".") == 0 && name[0] != '-';
  size_t length = strlen(directory) + strlen(name) + strlen(ending) + 2;
  char *path = malloc(length);
  if (path != NULL)
    snprintf(path, length, "%s%s%s%s", alone ? "" : directory, alone ? "" : "/", name, ending);
  return path;
}

/* The ending of the file 'path', with its dot, or "". */
static const char *ending_of(const char *path)
{
  const char *base = file_of(path);
  const char *dot = strrchr(base, '.');
  return dot == NULL || dot == base ? "" : dot;
}

static enum gpnn_status name_files(struct places *p, const char *name, const char *output,
                                   struct gpnn_error *err)
{
  const char *scratch = p->scratch.path;
  p->working = (struct files){.index = path_in(scratch, name, ".gpi"),
                              .fitted = path_in(scratch, name, ".fit"),
                              .params = path_in(scratch, name, ".par"),
                              .folds = path_in(scratch, name, ".folds"),
                              .predictions = path_in(scratch, "predictions", ending_of(output))};
  p->other = (struct files){.index = path_in(scratch, name, ".other.gpi"),
                            .fitted = path_in(scratch, name, ".other.fit"),
                            .params = path_in(scratch, name, ".other.par")};
  p->page.rows = path_in(scratch, "rows", ".tsv");
  p->page.predicted = path_in(scratch, "predicted", ".tsv");
  p->page.table = path_in(scratch, "table", ".tsv");
  const char *const all[] = {p->working.index,  p->working.fitted,      p->working.params,
                             p->working.folds,  p->other.index,         p->other.fitted,
                             p->other.params,   p->working.predictions, p->page.rows,
                             p->page.predicted, p->page.table};
  enum gpnn_status status = GPNN_OK;
  for (size_t i = INDEX; i <= TABLE; i++) {
    unfinished[i] = all[i];
    if (all[i] == NULL) status = gpnn_fail_memory(err, "for the names of files");
  }
  return status;
}

/* ---- where the model is kept -------------------------------------------------------------- */

/* GPNN_EIO: 'path' is there, but is not a model that gpnn keeps. */
static enum gpnn_status check_kind(const char *path, struct gpnn_error *err)
{
  struct stat st;
  if (stat(path, &st) != 0) return GPNN_OK;
  if (S_ISDIR(st.st_mode))
    return gpnn_fail(err, GPNN_EIO, "%s: is a directory: name a file to keep the model in", path);
  if (gpnn_index_has_parameters(path) && !gpnn_index_is_model(path)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EIO,
                   "%s: is there already, and not an index with parameters, so it is not replaced; "
                   "keep the model elsewhere with --save FILE",
                   path);
}

/* True if both names lead to the same file, or would, as they name the same place in a directory.
 */
static bool are_same(const char *a, const char *b)
{
  struct stat of_a, of_b;
  bool same = stat(a, &of_a) == 0 && stat(b, &of_b) == 0;
  if (same && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino) return true;
  char *copy_a = gpnn_copy_text(a, strlen(a)), *copy_b = gpnn_copy_text(b, strlen(b));
  same = copy_a != NULL && copy_b != NULL && strcmp(file_of(a), file_of(b)) == 0 &&
         stat(dirname(copy_a), &of_a) == 0 && stat(dirname(copy_b), &of_b) == 0 &&
         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
  free(copy_a);
  free(copy_b);
  return same;
}

/* GPNN_EINVAL: what 'option' names would be replaced by the model. */
static enum gpnn_status check_output(const struct places *p, const char *option, const char *output,
                                     struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  if (!p->keeps || output == NULL || strcmp(output, "-") == 0 || !are_same(output, p->kept.model))
    return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL, "option --%s: \"%s\" is where the model will be kept", option,
                   gpnn_mask(shown, output, strlen(output)));
}

/* "house.gpm", or whatever the file of the model is called, makes "house.gpi" and "house.par". */
static enum gpnn_status name_kept(struct places *p, const char *save, const char *name,
                                  struct gpnn_error *err)
{
  p->kept.model = save != NULL ? gpnn_copy_text(save, strlen(save)) : path_in(".", name, ".gpm");
  char *stem = p->kept.model == NULL ? NULL : gpnn_copy_text(p->kept.model, strlen(p->kept.model));
  if (stem != NULL) {
    cut(stem, ".gpm");
    p->kept.index = path_in(".", stem, ".gpi");
    p->kept.params = path_in(".", stem, ".par");
  }
  free(stem);
  if (p->kept.index == NULL || p->kept.params == NULL)
    return gpnn_fail_memory(err, "for the names of files");
  return p->keeps ? check_kind(p->kept.model, err) : GPNN_OK;
}

/* ---- from beginning to end ---------------------------------------------------------------- */

static const char *temporary_place(void)
{
  const char *place = getenv("TMPDIR");
  return place == NULL || place[0] == '\0' ? "/tmp" : place;
}

/* The directory of the model, where it is kept. */
static enum gpnn_status make_scratch(struct places *p, struct gpnn_error *err)
{
  for (size_t i = 0; i < UNFINISHED; i++) cli_guard(&unfinished[i]);
  p->scratch.watch = &unfinished[SCRATCH];
  if (!p->keeps) return gpnn_scratch_create(&p->scratch, temporary_place(), err);
  char *model = gpnn_copy_text(p->kept.model, strlen(p->kept.model));
  if (model == NULL) return gpnn_fail_memory(err, "for the names of files");
  const char *place = dirname(model);
  gpnn_scratch_sweep(place, file_of(p->kept.model));
  enum gpnn_status status = gpnn_scratch_create(&p->scratch, place, err);
  free(model);
  if (status != GPNN_EIO) return status;
  return gpnn_prefix(err, status, "the model cannot be kept here; choose a place with --save FILE");
}

enum gpnn_status places_open(struct places *places, const char *train, const char *test,
                             const char *save, const char *output, const char *page,
                             struct gpnn_error *err)
{
  char *name = model_name(train);
  if (name == NULL) return gpnn_fail_memory(err, "for the names of files");
  *places = (struct places){.train = train, .test = test, .keeps = save != NULL || test == NULL};
  enum gpnn_status status = name_kept(places, save, name, err);
  if (status == GPNN_OK) status = make_scratch(places, err);
  if (status == GPNN_OK) status = check_output(places, "output", output, err);
  if (status == GPNN_OK) status = check_output(places, "report", page, err);
  if (status == GPNN_OK) status = name_files(places, name, output, err);
  free(name);
  return status;
}

enum gpnn_status places_keep(const struct places *p, const struct opened *opened,
                             const char *report, struct gpnn_error *err)
{
  if (!p->keeps) return GPNN_OK;
  return pack_write(opened, true, report, p->kept.model, &unfinished[MODEL], err);
}

static void free_files(struct files *files)
{
  free(files->index);
  free(files->fitted);
  free(files->params);
  free(files->folds);
  free(files->model);
  free(files->predictions);
}

void places_close(struct places *p)
{
  for (size_t i = INDEX; i <= TABLE; i++) {
    if (unfinished[i] != NULL) (void)unlink(unfinished[i]); /* which takes no memory */
    unfinished[i] = NULL;
  }
  gpnn_scratch_remove(&p->scratch);
  free_files(&p->working);
  free_files(&p->other);
  free_files(&p->kept);
  free(p->page.rows);
  free(p->page.predicted);
  free(p->page.table);
  *p = (struct places){0};
}
