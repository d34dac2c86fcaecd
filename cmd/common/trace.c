#include "cmd/common/trace.h"

enum gpnn_status trace_open(struct trace *trace, const char *path, struct gpnn_error *err)
{
  return cli_open_output(path, &trace->output, err);
}

void trace_begin(struct trace *trace, const struct gpnn_dataset *view)
{
  trace->view = view;
  clock_gettime(CLOCK_MONOTONIC, &trace->start);
}

double trace_seconds(const struct trace *trace)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - trace->start.tv_sec) +
         1e-9 * (double)(now.tv_nsec - trace->start.tv_nsec);
}

bool trace_is_first(struct trace *trace)
{
  bool is_first = !trace->has_header;
  trace->has_header = true;
  return is_first;
}

void trace_text(struct trace *trace, const char *text)
{
  if (trace->status == GPNN_OK) trace->status = gpnn_output_text(trace->output, text, &trace->err);
}

void trace_lengthscale_names(struct trace *trace, size_t n)
{
  for (size_t l = 1; l <= n && trace->status == GPNN_OK; l++)
    trace->status = gpnn_output_printf(trace->output, &trace->err, "\tlengthscale_%zu", l);
}

void trace_target(struct trace *trace)
{
  char shown[GPNN_MASK_BYTES];
  if (!trace->names_targets) return;
  trace_text(trace, gpnn_schema_column_name(&trace->view->schema.target, shown));
  trace_text(trace, "\t");
}

enum gpnn_status trace_close(struct trace *trace, enum gpnn_status status, struct gpnn_error *err)
{
  if (status == GPNN_OK && trace->status != GPNN_OK) {
    status = trace->status;
    *err = trace->err;
  }
  return cli_close_output(trace->output, status, err);
}
