/*
 * params_text: what the reader and the writer of parameters agree upon.
 */
#ifndef GPNN_KERNEL_PARAMETERS_PRIVATE_H
#define GPNN_KERNEL_PARAMETERS_PRIVATE_H

#define GPNN_PARAMETERS_FIRST_LINE "# gpnn parameters"
enum { GPNN_PARAMETERS_VERSION = 1 };

#endif
