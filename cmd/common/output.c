#include "cmd/common/output.h"

#include "base/atomic_file.h"

#include <assert.h>

#include "cmd/common/signals.h"

enum gpnn_status cli_open_output(const char *path, struct gpnn_output **output,
                                 struct gpnn_error *err)
{
  static const char *volatile unfinished[CLI_MAX_GUARDED / 2];
  static size_t n_unfinished;
  assert(n_unfinished < CLI_MAX_GUARDED / 2);
  const char *volatile *watch = &unfinished[n_unfinished++];
  cli_guard(watch);
  return gpnn_output_open_watched(output, path, watch, err);
}

enum gpnn_status cli_follow_name(struct gpnn_output *output, const char *path,
                                 const struct gpnn_npy_text_format *format, struct gpnn_error *err)
{
  return gpnn_npy_text_is_wanted(path) ? gpnn_output_as_npy(output, format, err) : GPNN_OK;
}

enum gpnn_status cli_close_output(struct gpnn_output *output, enum gpnn_status status,
                                  struct gpnn_error *err)
{
  if (output == NULL) return status;
  if (status == GPNN_OK) return gpnn_output_close(output, err);
  gpnn_output_abandon(output);
  return status;
}

enum gpnn_status cli_try_output(const char *path, const char *volatile *watch,
                                struct gpnn_error *err)
{
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  file.watch = watch;
  enum gpnn_status status = gpnn_atomic_file_create(&file, path, err);
  gpnn_atomic_file_abandon(&file);
  return status;
}
