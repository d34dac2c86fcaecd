/*
 * Command lines: every tool refuses what it does not understand with one message and status 2, and
 * goes on otherwise, to find here that no file opens and no directory is made.
 * The first line names the tool by a letter, a to k; each further line is an argument.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/scratch.h"
#include "dataset/index/index.h"
#include "fuzz.h"
#include "kernel/parameters.h"
#include "table/table.h"

enum { ARGUMENTS = 40, EXIT_WORK = 1, EXIT_USAGE = 2 };

int main_calibrate(int argc, char **argv);
int main_eval(int argc, char **argv);
int main_fit(int argc, char **argv);
int main_gpnn(int argc, char **argv);
int main_index(int argc, char **argv);
int main_info(int argc, char **argv);
int main_plot(int argc, char **argv);
int main_predict(int argc, char **argv);
int main_simulate(int argc, char **argv);
int main_split(int argc, char **argv);
int main_tucker(int argc, char **argv);

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} tools[] = {
    {"gpnn-calibrate", main_calibrate},
    {"gpnn-eval", main_eval},
    {"gpnn-fit", main_fit},
    {"gpnn-index", main_index},
    {"gpnn-info", main_info},
    {"gpnn-plot", main_plot},
    {"gpnn-predict", main_predict},
    {"gpnn-simulate", main_simulate},
    {"gpnn-split", main_split},
    {"gpnn", main_gpnn},
    {"gpnn-tucker", main_tucker},
};

/* ---- in place of the library's: the linker is told to --wrap them ---- */

enum gpnn_status __wrap_gpnn_table_open(struct gpnn_table **table, const char *path,
                                        const struct gpnn_table_options *options,
                                        struct gpnn_error *err);
enum gpnn_status __wrap_gpnn_index_open(struct gpnn_index **index, const char *path, bool verify,
                                        struct gpnn_error *err);
enum gpnn_status __wrap_gpnn_parameters_read_one(struct gpnn_parameters *params, const char *path,
                                                 struct gpnn_error *err);
enum gpnn_status __wrap_gpnn_parameters_read(struct gpnn_parameters **params, size_t *n,
                                             const char *path, struct gpnn_error *err);
enum gpnn_status __wrap_gpnn_atomic_file_create(struct gpnn_atomic_file *file, const char *target,
                                                struct gpnn_error *err);
enum gpnn_status __wrap_cli_open_output(const char *path, struct gpnn_output **output,
                                        struct gpnn_error *err);
enum gpnn_status __wrap_gpnn_scratch_create(struct gpnn_scratch *scratch, const char *parent,
                                            struct gpnn_error *err);
int __wrap_mkdir(const char *path, mode_t mode);

static enum gpnn_status refuse(const char *path, struct gpnn_error *err)
{
  FUZZ_EXPECT(path != NULL && path[0] != '\0');
  return gpnn_fail(err, GPNN_EIO, "no file opens here");
}

enum gpnn_status __wrap_gpnn_table_open(struct gpnn_table **table, const char *path,
                                        const struct gpnn_table_options *options,
                                        struct gpnn_error *err)
{
  (void)table;
  FUZZ_EXPECT(options->delimiter != '"' && options->delimiter != '\n');
  return refuse(path, err);
}

enum gpnn_status __wrap_gpnn_index_open(struct gpnn_index **index, const char *path, bool verify,
                                        struct gpnn_error *err)
{
  (void)index;
  (void)verify;
  return refuse(path, err);
}

enum gpnn_status __wrap_gpnn_parameters_read_one(struct gpnn_parameters *params, const char *path,
                                                 struct gpnn_error *err)
{
  (void)params;
  return refuse(path, err);
}

enum gpnn_status __wrap_gpnn_parameters_read(struct gpnn_parameters **params, size_t *n,
                                             const char *path, struct gpnn_error *err)
{
  (void)params;
  (void)n;
  return refuse(path, err);
}

enum gpnn_status __wrap_cli_open_output(const char *path, struct gpnn_output **output,
                                        struct gpnn_error *err)
{
  (void)output;
  return refuse(path, err);
}

enum gpnn_status __wrap_gpnn_atomic_file_create(struct gpnn_atomic_file *file, const char *target,
                                                struct gpnn_error *err)
{
  (void)file;
  return refuse(target, err);
}

enum gpnn_status __wrap_gpnn_scratch_create(struct gpnn_scratch *scratch, const char *parent,
                                            struct gpnn_error *err)
{
  (void)scratch;
  return refuse(parent, err);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
  (void)mode;
  FUZZ_EXPECT(path != NULL && path[0] != '\0');
  errno = EEXIST; /* so that it is not ours to remove */
  return -1;
}

/* ---- the harness ---- */

/* What a tool says, in memory. */
struct said {
  char *out, *err;
  size_t out_length, err_length;
};

static int run(size_t tool, int argc, char **argv, struct said *said)
{
  FILE *out = stdout, *err = stderr;
  stdout = open_memstream(&said->out, &said->out_length);
  stderr = open_memstream(&said->err, &said->err_length);
  FUZZ_EXPECT(stdout != NULL && stderr != NULL);
  int status = fuzz_tool(tools[tool].run, argc, argv);
  FILE *its_out = stdout, *its_err = stderr;
  stdout = out;
  stderr = err;
  fclose(its_out);
  fclose(its_err);
  return status;
}

/* Lines begin with the tool's name, but for the hint at --help, and show no byte that is not to be
 * shown. */
static void check_lines(const char *name, const struct said *said)
{
  size_t length = strlen(name);
  FUZZ_EXPECT(said->err_length > length && memcmp(said->err, name, length) == 0);
  FUZZ_EXPECT(said->err[said->err_length - 1] == '\n');
  for (char *line = strtok(said->err, "\n"); line != NULL; line = strtok(NULL, "\n"))
    fuzz_expect_shown(line);
}

static void check(const char *name, int status, const struct said *said)
{
  FUZZ_EXPECT(status == EXIT_SUCCESS || status == EXIT_WORK || status == EXIT_USAGE);
  /* --help and --version succeed, perhaps with a note on an option's new name. */
  FUZZ_EXPECT((said->out_length > 0) == (status == EXIT_SUCCESS));
  if (status != EXIT_SUCCESS || said->err_length > 0) check_lines(name, said);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  char *argv[ARGUMENTS + 2], name[32];
  int argc = 1;
  size_t tool = (size_t)(fuzz_byte(&bytes, &length) - 'a') % (sizeof tools / sizeof tools[0]);
  char *text = fuzz_text(bytes, length);
  struct said said = {0};
  snprintf(name, sizeof name, "%s", tools[tool].name);
  argv[0] = name;
  for (char *at = strchr(text, '\n'); at != NULL && argc <= ARGUMENTS; argc++) {
    *at++ = '\0';
    argv[argc] = at;
    at = strchr(at, '\n');
  }
  argv[argc] = NULL;
  int status = run(tool, argc, argv, &said);
  check(tools[tool].name, status, &said);
  free(said.out);
  free(said.err);
  free(text);
  return 0;
}
