/*
 * ledger: what the releases about the same responses have cost their privacy so far
 * (gpnn-ledger(5)).
 *
 * A ledger is a text file that only grows, and that is made once.  Each release is a line with a
 * checksum of all before it, and the last line counts them, against accidents: its owner can write
 * these, too.  Whoever is about to release something charges it first: the line is on the disk
 * before anything is told, so that a release that was interrupted counts, and one that does not
 * count was never told.  A lock on the file makes those who charge it at the same time wait for
 * each other.
 *
 * Threads: no shared state.
 *
 * Source: Dong, Roth and Su (2022), corollary 3: mu_total^2 is the sum of the squares of mu.
 */
#ifndef GPNN_COTRAIN_LEDGER_H
#define GPNN_COTRAIN_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cotrain/release.h"

/* A line, but for the number of the release, the time and the total, which charging finds. */
struct gpnn_ledger_line {
  size_t answers;
  enum gpnn_mechanism mechanism;
  double sensitivity, tau, mu; /* mu = sensitivity / tau */
  double epsilon, delta;       /* what this release promises by itself */
  bool is_insecure;            /* the noise can be computed by others */
};

enum { GPNN_LEDGER_CHECK_BYTES = 17 };

struct gpnn_ledger_total {
  size_t releases, insecure;
  double mu; /* holds only if no release is insecure */
  /* 16 digits, of the last release: the beginning of the SHA-256 of all that stands before them in
   * the file; "": there is none. */
  char check[GPNN_LEDGER_CHECK_BYTES];
};

/* Makes an empty ledger.  GPNN_EIO: there is a file of that name, or it cannot be written. */
GPNN_MUST_CHECK enum gpnn_status gpnn_ledger_new(const char *path, struct gpnn_error *err);

/*
 * Reads the ledger 'path'.  GPNN_EIO: there is none, or it is no regular file.  GPNN_EFORMAT: it is
 * no ledger; or it is empty, its last line has no end or does not count the releases, or
 * lines were changed or taken away: numbers, totals or checks do not follow from each other.  That
 * an older copy was put back does not show in the file alone; 'check' of the last release shows it
 * to whoever has seen a later one.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_ledger_read(const char *path, struct gpnn_ledger_total *total,
                                                  struct gpnn_error *err);

/*
 * Adds a line to the ledger and flushes it to disk; '*total' is what there is with it.  GPNN_EDATA:
 * the total would be more than 'most_mu' (INFINITY: no limit) by more than rounding, or there is a
 * limit and some noise is insecure; nothing was added.  GPNN_EIO: besides, it cannot be written or
 * flushed; then the line may count or not, but nothing may be released.  Otherwise as
 * gpnn_ledger_read().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_ledger_charge(const char *path,
                                                    const struct gpnn_ledger_line *line,
                                                    double most_mu, struct gpnn_ledger_total *total,
                                                    struct gpnn_error *err);

#endif
