#include "cmd/tucker/trace.h"

#include "cmd/common/progress.h"

enum gpnn_status trace_open(struct trace *trace, const char *path, struct gpnn_error *err)
{
  return cli_open_output(path, &trace->output, err);
}

void trace_begin(struct trace *trace, const struct gpnn_dataset *view)
{
  trace->view = view;
  clock_gettime(CLOCK_MONOTONIC, &trace->start);
}

static double seconds_since(const struct timespec *start)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static void put_text(struct trace *trace, const char *text)
{
  if (trace->status == GPNN_OK)
    trace->status = gpnn_output_printf(trace->output, &trace->err, "%s", text);
}

static void put_number(struct trace *trace, double value)
{
  put_text(trace, "\t");
  if (trace->status == GPNN_OK)
    trace->status = gpnn_output_number(trace->output, value, &trace->err);
}

static void put_header(struct trace *trace, size_t p)
{
  if (trace->has_header) return;
  trace->has_header = true;
  put_text(trace, trace->names_targets ? "target\tstep" : "step");
  put_text(trace, "\tseconds\tbound\trmse");
  for (size_t l = 1; l <= p && trace->status == GPNN_OK; l++)
    trace->status = gpnn_output_printf(trace->output, &trace->err, "\tlengthscale_%zu", l);
  put_text(trace, "\tkernelscale\tnoise\tshrinkage\n");
}

static void put_row(struct trace *trace, const struct gpnn_tucker_progress *step)
{
  char shown[GPNN_MASK_BYTES];
  put_header(trace, step->p);
  if (trace->names_targets) {
    put_text(trace, gpnn_schema_column_name(&trace->view->schema.target, shown));
    put_text(trace, "\t");
  }
  if (trace->status == GPNN_OK)
    trace->status = gpnn_output_printf(trace->output, &trace->err, "%zu\t%.3f", step->sweep,
                                       seconds_since(&trace->start));
  put_number(trace, step->bound);
  put_number(trace, step->rmse);
  for (size_t l = 0; l < step->p; l++) put_number(trace, step->lengthscale[l]);
  put_number(trace, step->kernelscale);
  put_number(trace, step->noise);
  put_number(trace, step->shrinkage);
  put_text(trace, "\n");
  if (trace->status == GPNN_OK) trace->status = gpnn_output_flush(trace->output, &trace->err);
}

void trace_step(void *context, const struct gpnn_tucker_progress *progress)
{
  struct trace *trace = context;
  progress_update("sweeps", progress->sweep, trace->fit->n_sweeps);
  if (trace->output != NULL) put_row(trace, progress);
}

enum gpnn_status trace_close(struct trace *trace, enum gpnn_status status, struct gpnn_error *err)
{
  progress_erase();
  if (status == GPNN_OK && trace->status != GPNN_OK) {
    status = trace->status;
    *err = trace->err;
  }
  return cli_close_output(trace->output, status, err);
}
