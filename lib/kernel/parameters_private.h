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

/* What the text says about one factor of a grid, in lines that begin with its name and a dot. */
enum gpnn_factor_field {
  GPNN_FACTOR_KERNEL,
  GPNN_FACTOR_INPUTS,
  GPNN_FACTOR_LENGTHSCALE, /* from here on numbers */
  GPNN_FACTOR_PERIOD,
  GPNN_FACTOR_NUGGET,
  GPNN_FACTOR_LOADINGS,
  GPNN_FACTOR_OWN,
  GPNN_FACTOR_NOISE,
  GPNN_FACTOR_FIELDS
};

/* The lines of one factor as they were read, in any order; at the end of the block they become a
 * factor. */
struct gpnn_factor_lines {
  char *name;                          /* owned */
  size_t line[GPNN_FACTOR_FIELDS];     /* where each was; 0: nowhere */
  char *word[GPNN_FACTOR_LENGTHSCALE]; /* owned */
  double *list[GPNN_FACTOR_FIELDS];    /* owned */
  size_t n[GPNN_FACTOR_FIELDS];        /* of each list */
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
  bool calibration_alone; /* the text has no other lines than those that calibrate */
  /* Of the last block: */
  struct gpnn_parameters *params;       /* in 'blocks', or among the members of its last */
  bool seen[GPNN_PARAMETERS_MAX_LINES]; /* which lines of the table were read */
  size_t n_seen, n_comments;
  size_t n_covariance; /* numbers in the lower triangle of mean.covariance */
  size_t n_factors;    /* of the grid that the block is about; 0: it is about rows */
  struct gpnn_factor_lines factor[GPNN_GRID_FACTORS];
};

enum gpnn_parameters_kind {
  GPNN_PARAMETERS_OTHER, /* functions read and write it */
  GPNN_PARAMETERS_NUMBERS,
  GPNN_PARAMETERS_COUNT,
  GPNN_PARAMETERS_LIST, /* numbers, as many as there are */
  GPNN_PARAMETERS_WORD, /* one of several */
};

/* Which numbers a line may have. */
enum gpnn_parameters_range {
  GPNN_PARAMETERS_ANY,
  GPNN_PARAMETERS_NON_NEGATIVE,
  GPNN_PARAMETERS_POSITIVE
};

/* A line of the format.  Offsets are in struct gpnn_parameters. */
struct gpnn_parameters_line {
  const char *name;
  enum gpnn_parameters_kind kind;
  bool required, shared;            /* shared: only the target has it, not its further members */
  bool of_rows;                     /* the parameters of a grid do not have it */
  bool calibrates;                  /* a calibration alone may have it, and nothing else */
  enum gpnn_parameters_range range; /* of NUMBERS and LIST */
  uint64_t least, most;             /* of COUNT */
  size_t value;             /* offset of a double, or of 'count' of them; a uint64_t; an enumeration
                               or a bool; or a pointer to doubles, whose number is at 'length' */
  size_t length, count;     /* count: of NUMBERS, and of words */
  size_t size;              /* of a WORD, in bytes */
  const char *const *words; /* by the value they stand for; NULL: no word does */
  const char *of;           /* what NUMBERS are, for a message; may be NULL */
  size_t flag;              /* offset of a bool that says that there is a value; 0: none does */
  /* When to write a line; NULL: always if it is required or has a flag, or else if it is not 0. */
  bool (*is_written)(const struct gpnn_parameters *params);
  /* Checks the values just read; NULL: nothing to check. */
  enum gpnn_status (*check)(struct gpnn_parameters_reader *reader,
                            const struct gpnn_parameters_line *line);
  bool many; /* OTHER: 'read' gets all words, not one */
  enum gpnn_status (*read)(struct gpnn_parameters_reader *reader, struct gpnn_span values);
  enum gpnn_status (*write)(const struct gpnn_parameters *params, struct gpnn_output *output,
                            struct gpnn_error *err);
};

/* Line 'i' of the format in the order of writing, or NULL past the last.  Lines that name a target
 * are not among them. */
const struct gpnn_parameters_line *gpnn_parameters_line_at(size_t i);

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

/* The same at the end of a target of a calibration alone. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_complete_calibration(struct gpnn_parameters_reader *reader);

/* GPNN_EDATA with "stream:line: " and the sentence. */
GPNN_PRINTF(2, 3)
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_refuse(struct gpnn_parameters_reader *reader,
                                                        const char *format, ...);

/* The same about the last block as a whole: "stream: " and which block, if there are several. */
GPNN_PRINTF(2, 3)
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_refuse_block(struct gpnn_parameters_reader *reader,
                                                              const char *format, ...);

/* The same for where effects lie. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_take_effects(struct gpnn_parameters *params,
                                                              const struct gpnn_state *state,
                                                              const char *name,
                                                              struct gpnn_error *err);

/* Copies the learnt omega of parameters, if it has any, from the state that they came with; 'name'
 * is that of the stream.  GPNN_EFORMAT: they are not there, or not finite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_take_omega(struct gpnn_parameters *params,
                                                            const struct gpnn_state *state,
                                                            const char *name,
                                                            struct gpnn_error *err);

/* ---- parameters_grid.c: the lines of the factors of a grid ----------------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_factors(struct gpnn_parameters_reader *reader,
                                                              struct gpnn_span values);
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_read_factor_mean(struct gpnn_parameters_reader *reader, struct gpnn_span word);

/* Reads the line called 'name', which has a dot in it, of one factor. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_read_factor_line(struct gpnn_parameters_reader *reader, struct gpnn_span name,
                                 struct gpnn_span values);

/* Makes factors of what was read, at the end of a block, and forgets the lines. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_complete_factors(struct gpnn_parameters_reader *reader);
void gpnn_parameters_forget_factors(struct gpnn_parameters_reader *reader);

/* Writes the names of the factors and all lines of each. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write_factors(const struct gpnn_parameters *params,
                                                               struct gpnn_output *output,
                                                               struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_write_factor_mean(const struct gpnn_parameters *params, struct gpnn_output *output,
                                  struct gpnn_error *err);

/* ---- parameters_factor.c: the numbers of a factor -------------------------------------------- */

/* The name of a field, behind the dot. */
const char *gpnn_factor_field_name(enum gpnn_factor_field field);

/* The field called so, or GPNN_FACTOR_FIELDS. */
enum gpnn_factor_field gpnn_factor_field_by_name(struct gpnn_span name);

/* Number 'i' of a field of factor 'a', in the order of the text; NULL: there are not so many. */
double *gpnn_factor_field_number(const struct gpnn_grid_process *grid, size_t a,
                                 enum gpnn_factor_field field, size_t i);
size_t gpnn_factor_field_count(const struct gpnn_grid_process *grid, size_t a,
                               enum gpnn_factor_field field);

/* What is wrong with a number of the field, as "not a positive number"; NULL: nothing, and
 * '*value' is it. */
const char *gpnn_factor_field_read(enum gpnn_factor_field field, struct gpnn_span word,
                                   double *value);

/* ---- text --------------------------------------------------------------------------------- */

bool gpnn_parameters_is_word(struct gpnn_span word, const char *text);

/* Takes the next word off 'rest'; an empty one if there is none. */
struct gpnn_span gpnn_parameters_next_word(struct gpnn_span *rest);

#endif
