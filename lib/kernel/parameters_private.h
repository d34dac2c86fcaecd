/*
 * parameters_private: what the reader and the writer of parameters share: the lines of the format,
 * each with its name, its values and where they belong, in the order in which they are written.
 *
 * A new line of the format is a new row of the table in parameters_lines.c.
 */
#ifndef GPNN_KERNEL_PARAMETERS_PRIVATE_H
#define GPNN_KERNEL_PARAMETERS_PRIVATE_H

#include "kernel/parameters.h"

#define GPNN_PARAMETERS_FIRST_LINE "# gpnn parameters"
enum { GPNN_PARAMETERS_VERSION = 1, GPNN_PARAMETERS_MAX_LINES = 64 };

/* Part of the text. */
struct gpnn_span {
  const char *at;
  size_t length;
};

/* The parameters read so far, in blocks of one target or one further member each, and the position
 * in the text. */
struct gpnn_parameters_reader {
  struct gpnn_parameters *blocks; /* owned: of the targets; the last is being read */
  size_t n_blocks, capacity;
  size_t member_capacity; /* of the last target's members */
  void *targets;          /* tree of the blocks' targets, to find one that comes twice */
  const char *name;       /* of the stream, for messages */
  size_t line;            /* number of the current line */
  struct gpnn_error *err;
  /* Of the last block: */
  struct gpnn_parameters *params;       /* in 'blocks', or among the members of its last */
  bool seen[GPNN_PARAMETERS_MAX_LINES]; /* which lines of the table were read */
  size_t n_seen, n_comments;
  size_t n_covariance; /* numbers in the lower triangle of mean.covariance */
};

/* A line of the format. */
struct gpnn_parameters_line;

/* Line 'i' of the format in the order of writing, or NULL past the last.  Lines that name a target
 * are not among them. */
const struct gpnn_parameters_line *gpnn_parameters_line_at(size_t i);

const char *gpnn_parameters_line_name(const struct gpnn_parameters_line *line);
bool gpnn_parameters_line_is_required(const struct gpnn_parameters_line *line);

/* Reads what follows the name of a line into the last block.  GPNN_EDATA: no value, too many, or a
 * bad one; the block is of a further member, and the line concerns the target as a whole. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_line_read(const struct gpnn_parameters_line *line,
                                                           struct gpnn_parameters_reader *reader,
                                                           struct gpnn_span values);

/* Writes a line, or nothing if 'params' have no value for it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_line_write(const struct gpnn_parameters_line *line,
                                                            const struct gpnn_parameters *params,
                                                            struct gpnn_output *output,
                                                            struct gpnn_error *err);

/* True if the last block is of a further member. */
bool gpnn_parameters_in_member(const struct gpnn_parameters_reader *reader);

/* Checks what is known only at the end of a block: that no required line is missing and that values
 * agree.  Expands the covariance of the mean's coefficients to the full matrix. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_complete(struct gpnn_parameters_reader *reader);

/* The same at the end of a target, once its last block is complete: the weights of its members sum
 * to 1, and all were made from one index. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_complete_target(struct gpnn_parameters_reader *reader);

/* GPNN_EDATA with "stream:line: " and the sentence. */
GPNN_PRINTF(2, 3)
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_refuse(struct gpnn_parameters_reader *reader,
                                                        const char *format, ...);

/* GPNN_EDATA: 'word' is not a whole number from 'least' to 'most'; 'name' is that of the line. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_whole(struct gpnn_parameters_reader *reader,
                                                            const char *name, struct gpnn_span word,
                                                            uint64_t least, uint64_t most,
                                                            uint64_t *value);

/* Appends all numbers of 'values' to '*list', which has '*n' and is owned by the caller even after
 * a failure. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_list(struct gpnn_parameters_reader *reader,
                                                           const char *name,
                                                           struct gpnn_span values, double **list,
                                                           size_t *n);

/* Writes a line of 'n' numbers. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write_list(const char *name, size_t n,
                                                            const double *values,
                                                            struct gpnn_output *output,
                                                            struct gpnn_error *err);

/* ---- parameters_scale.c: the lines of the likelihood and its scale -------------------------- */

GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_read_likelihood(struct gpnn_parameters_reader *reader, struct gpnn_span word);
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_write_likelihood(const struct gpnn_parameters *params, struct gpnn_output *output,
                                 struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_check_scale(struct gpnn_parameters_reader *reader);

/* Reads a coefficient and the range of its feature. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_term(struct gpnn_parameters_reader *reader,
                                                           const char *name,
                                                           struct gpnn_span values,
                                                           struct gpnn_scale_term *term);

/* Writes them, or nothing if the coefficient is 0. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write_term(const char *name,
                                                            const struct gpnn_scale_term *term,
                                                            struct gpnn_output *output,
                                                            struct gpnn_error *err);

/* ---- parameters_inference.c: the lines of the inference of classes --------------------------- */

GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_read_inference(struct gpnn_parameters_reader *reader, struct gpnn_span word);
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_write_inference(const struct gpnn_parameters *params, struct gpnn_output *output,
                                struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_omega(struct gpnn_parameters_reader *reader,
                                                            struct gpnn_span word);
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write_omega(const struct gpnn_parameters *params,
                                                             struct gpnn_output *output,
                                                             struct gpnn_error *err);

/* Copies the learnt omega of parameters, if it has any, from the state that they came with; 'name'
 * is that of the stream.  GPNN_EFORMAT: they are not there, or not finite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_take_omega(struct gpnn_parameters *params,
                                                            const struct gpnn_state *state,
                                                            const char *name,
                                                            struct gpnn_error *err);

/* ---- parameters_estimation.c: the lines of struct gpnn_estimation --------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_seed(struct gpnn_parameters_reader *reader,
                                                           struct gpnn_span word);
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_read_objective(struct gpnn_parameters_reader *reader, struct gpnn_span values);
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_thin(struct gpnn_parameters_reader *reader,
                                                           struct gpnn_span word);
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_options(struct gpnn_parameters_reader *reader,
                                                              struct gpnn_span values);

/* Each writes its line if the estimation is known and has something to say there. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write_seed(const struct gpnn_parameters *params,
                                                            struct gpnn_output *output,
                                                            struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_write_objective(const struct gpnn_parameters *params, struct gpnn_output *output,
                                struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write_thin(const struct gpnn_parameters *params,
                                                            struct gpnn_output *output,
                                                            struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write_options(const struct gpnn_parameters *params,
                                                               struct gpnn_output *output,
                                                               struct gpnn_error *err);

/* The line of the transform: parameters_transform.c. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_read_transform(struct gpnn_parameters_reader *reader, struct gpnn_span values);
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_write_transform(const struct gpnn_parameters *params, struct gpnn_output *output,
                                struct gpnn_error *err);

/* ---- text --------------------------------------------------------------------------------- */

bool gpnn_parameters_is_blank(char c);

/* Takes the next word off 'rest'; an empty one if there is none. */
struct gpnn_span gpnn_parameters_next_word(struct gpnn_span *rest);

#endif
