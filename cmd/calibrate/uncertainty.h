/* uncertainty: standard errors in words. */
#ifndef GPNN_CMD_CALIBRATE_UNCERTAINTY_H
#define GPNN_CMD_CALIBRATE_UNCERTAINTY_H

enum { UNCERTAINTY_BYTES = 32 };

/* Writes a standard error to 'text' and returns it: a number, or "not known" if it is infinite, as
 * that of a single row is. */
const char *uncertainty_describe(double standard_error, char text[UNCERTAINTY_BYTES]);

#endif
