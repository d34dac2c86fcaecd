#include "cmd/common/pack.h"

#include <string.h>

#include "table/stream.h"

enum gpnn_status pack_write(const struct opened *opened, bool skips_bad, const char *report,
                            const char *path, const char *volatile *watch, struct gpnn_error *err)
{
  struct gpnn_reading reading = gpnn_index_dataset(opened->index)->reading;
  struct gpnn_output *memory = NULL;
  struct gpnn_packed packed = {.report = report,
                               .report_length = report == NULL ? 0 : strlen(report)};
  reading.skips_bad = reading.skips_bad || skips_bad;
  enum gpnn_status status = gpnn_output_open_memory(&memory, err);
  if (status == GPNN_OK)
    status =
        gpnn_parameters_write_with_state(opened->parameters, opened->n, opened->state, memory, err);
  if (status == GPNN_OK) {
    packed.parameters = gpnn_output_memory(memory, &packed.parameters_length);
    status = packed.parameters == NULL
                 ? gpnn_fail_memory(err, "for the parameters")
                 : gpnn_index_pack(path, opened->index, &reading, &packed, watch, err);
  }
  gpnn_output_abandon(memory);
  return status;
}
