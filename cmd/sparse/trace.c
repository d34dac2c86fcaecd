#include "cmd/sparse/trace.h"

#include "cmd/common/output.h"

enum gpnn_status sparse_trace_open(struct sparse_trace *trace, const char *path,
                                   struct gpnn_error *err)
{
  return cli_open_output(path, &trace->output, err);
}

void sparse_trace_begin(struct sparse_trace *trace, const struct gpnn_dataset *view)
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

/* Targets of an index share its inputs, so that the names of columns are those of all. */
static enum gpnn_status write_names(struct sparse_trace *trace, size_t n_lengthscales)
{
  enum gpnn_status status =
      gpnn_output_printf(trace->output, &trace->err,
                         "%siteration\tseconds\tcg_steps_mean\tcg_steps_max\textra_steps\t"
                         "max_weight\trmse_batch\tbound",
                         trace->names_targets ? "target\t" : "");
  for (size_t l = 0; l < n_lengthscales && status == GPNN_OK; l++)
    status = gpnn_output_printf(trace->output, &trace->err, "\tlengthscale_%zu", l + 1);
  return status == GPNN_OK
             ? gpnn_output_text(trace->output, "\tkernelscale\tnoise\tmin_s\n", &trace->err)
             : status;
}

static enum gpnn_status write_step(struct sparse_trace *trace, const struct gpnn_diag_record *r)
{
  char name[GPNN_MASK_BYTES];
  enum gpnn_status status = GPNN_OK;
  if (trace->names_targets)
    status = gpnn_output_printf(trace->output, &trace->err, "%s\t",
                                gpnn_schema_column_name(&trace->view->schema.target, name));
  if (status == GPNN_OK)
    status =
        gpnn_output_printf(trace->output, &trace->err, "%zu\t%.3f\t%g\t%zu\t%zu\t%g\t%.6g\t%.8g",
                           r->iteration, seconds_since(&trace->start), r->steps_mean, r->steps_most,
                           r->extra, r->most_weight, r->rmse_batch, r->bound);
  for (size_t l = 0; l < r->n_lengthscales && status == GPNN_OK; l++)
    status = gpnn_output_printf(trace->output, &trace->err, "\t%.6g", r->lengthscale[l]);
  return status == GPNN_OK ? gpnn_output_printf(trace->output, &trace->err, "\t%.6g\t%.6g\t%.6g\n",
                                                r->kernelscale, r->noise, r->least_s)
                           : status;
}

void sparse_trace_step(void *context, const struct gpnn_diag_record *step)
{
  struct sparse_trace *trace = context;
  if (trace->output == NULL) return;
  if (trace->status == GPNN_OK && !trace->has_header) {
    trace->has_header = true;
    trace->status = write_names(trace, step->n_lengthscales);
  }
  if (trace->status == GPNN_OK) trace->status = write_step(trace, step);
}

enum gpnn_status sparse_trace_close(struct sparse_trace *trace, enum gpnn_status status,
                                    struct gpnn_error *err)
{
  if (status == GPNN_OK && trace->status != GPNN_OK) {
    status = trace->status;
    *err = trace->err;
  }
  return cli_close_output(trace->output, status, err);
}
