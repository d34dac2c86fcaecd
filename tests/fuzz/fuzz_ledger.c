/* Ledgers: what is read is a total, and what is charged to it counts. */
#include <math.h>
#include <string.h>

#include "cotrain/ledger.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  const struct gpnn_ledger_line line = {
      .answers = 3, .mechanism = GPNN_MECHANISM_SHAPED, .sensitivity = 1, .tau = 2, .mu = 0.5};
  struct gpnn_error err = {0};
  struct gpnn_ledger_total total = {0}, more = {0}, again = {0};
  if (length > 1 << 16) return 0;
  const char *path = fuzz_file(0, bytes, length);
  enum gpnn_status status = gpnn_ledger_read(path, &total, &err);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    return 0;
  }
  FUZZ_EXPECT(isfinite(total.mu) && total.mu >= 0 && total.insecure <= total.releases);
  status = gpnn_ledger_charge(path, &line, INFINITY, &more, &err);
  FUZZ_EXPECT(status == GPNN_OK && more.releases == total.releases + 1);
  FUZZ_EXPECT(more.mu == hypot(total.mu, 0.5));
  FUZZ_EXPECT(gpnn_ledger_read(path, &again, &err) == GPNN_OK);
  FUZZ_EXPECT(again.releases == more.releases && again.mu == more.mu);
  FUZZ_EXPECT(strcmp(again.check, more.check) == 0);
  return 0;
}
