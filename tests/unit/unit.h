/*
 * unit: what every unit test includes: cmocka with what it needs, and checks of its own.
 */
#ifndef GPNN_TESTS_UNIT_H
#define GPNN_TESTS_UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"

/* The folder for files that tests come and go with. */
static inline const char *unit_temporary(void)
{
  const char *folder = getenv("TMPDIR");
  return folder == NULL || *folder == '\0' ? "/tmp" : folder;
}

/* Makes a folder there, and writes its path; 0, or -1 as fixtures of groups have it. */
static inline int unit_make_folder(char *path, size_t size)
{
  snprintf(path, size, "%s/gpnn-test-XXXXXX", unit_temporary());
  return mkdtemp(path) == NULL ? -1 : 0;
}

/* |actual - expected| <= tolerance, with both values shown on failure. */
#define assert_near(actual, expected, tolerance)                                                \
  do {                                                                                          \
    double near_a_ = (actual), near_e_ = (expected), near_t_ = (tolerance);                     \
    if (!(fabs(near_a_ - near_e_) <= near_t_))                                                  \
      fail_msg("%s is %.17g, not %.17g (off by %.3g, allowed %.3g)", #actual, near_a_, near_e_, \
               near_a_ - near_e_, near_t_);                                                     \
  } while (0)

/* The same relative to the expected value. */
#define assert_close(actual, expected, relative)              \
  do {                                                        \
    double close_e_ = (expected);                             \
    assert_near(actual, close_e_, (relative)*fabs(close_e_)); \
  } while (0)

/* The call succeeds; its sentence is shown if it does not. */
#define assert_ok(call)                                                                         \
  do {                                                                                          \
    struct gpnn_error err = {0};                                                                \
    enum gpnn_status ok_status_ = (call);                                                       \
    if (ok_status_ != GPNN_OK) fail_msg("%s: status %d: %s", #call, (int)ok_status_, err.text); \
  } while (0)

/* The call fails with 'status' and a sentence that contains 'text'.  The call uses &err. */
#define assert_fails(call, wanted_status, wanted_text)                                  \
  do {                                                                                  \
    struct gpnn_error err = {0};                                                        \
    enum gpnn_status fails_status_ = (call);                                            \
    if (fails_status_ != (wanted_status) || strstr(err.text, (wanted_text)) == NULL)    \
      fail_msg("%s: status %d, not %d, or no \"%s\" in: %s", #call, (int)fails_status_, \
               (int)(wanted_status), (wanted_text), err.text);                          \
  } while (0)

#endif
