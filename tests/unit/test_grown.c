#include "dataset/training/grown.h"

#include <math.h>

#include "base/memory.h"
#include "dataset/missing.h"
#include "scratch.h"
#include "stats/moments.h"
#include "trained.h"

/* Writes rows 'from' to 'to' of a table in which all follows from the row's number. */
static char *text_of(size_t from, size_t to, bool lacks)
{
  char *text = malloc(200 * (to - from + 1));
  int length = sprintf(text, "x,w,c,a,b,r,v,o\n");
  for (size_t i = from; i < to; i++) {
    length += lacks && i % 7 == 3 ? sprintf(text + length, "%zu,,", i)
                                  : sprintf(text + length, "%zu,%zu,", i, i % 11);
    length += sprintf(text + length, "%s,%zu,",
                      i >= 300 && i % 4 == 0 ? "new"
                      : i % 2                ? "u"
                                             : "g",
                      3 * i + 7);
    length += i % 5 == 0 ? sprintf(text + length, ",") : sprintf(text + length, "%zu,", i * i);
    length += sprintf(text + length, "%zu,%g,%zu\n", i % 13, 0.5 * (double)i, i % 3);
  }
  return text;
}

static const struct gpnn_roles roles = {
    .target = "a,b", .inputs = "x,w,c", .one_hot = "c", .regressors = "r", .row_noise = "v"};

static enum gpnn_status add_rows(struct gpnn_grown *grown, const char *text, bool skip_bad,
                                 struct gpnn_error *why)
{
  struct gpnn_table *table = NULL;
  const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  assert_ok(gpnn_table_open(&table, scratch_text("more.csv", text), &options, &err));
  enum gpnn_status status = gpnn_grown_read(grown, table, skip_bad, why);
  gpnn_table_close(table);
  return status;
}

static enum gpnn_status add_text(struct gpnn_grown *grown, const char *text, struct gpnn_error *why)
{
  return add_rows(grown, text, false, why);
}

/* Adds rows 'from' to 'to' to 'old'. */
static void grow(struct gpnn_grown *grown, const struct gpnn_dataset *old, size_t from, size_t to,
                 bool lacks)
{
  char *text = text_of(from, to, lacks);
  assert_ok(gpnn_grown_begin(grown, old, scratch_path("new.gpi"), NULL, &err));
  assert_ok(add_text(grown, text, &err));
  assert_ok(gpnn_grown_finish(grown, &err));
  free(text);
}

/* ---- rows ---- */

/* Row 'number' of the table, as 'scaling' standardises it. */
static void check_row(const struct gpnn_dataset *c, size_t number, const double *x, double y,
                      double more, double r, double v, double v_of_more, bool is_filled)
{
  const struct gpnn_scaling *s = &c->scaling;
  double i = (double)number;
  bool is_new = number >= 300 && number % 4 == 0;
  double features[] = {i, (double)(number % 11), !is_new && number % 2 == 0, !is_new && number % 2};
  double z[4];
  gpnn_scaling_apply(s, features, z);
  assert_int_equal(c->d, 4);
  assert_near(x[0], z[0], 0);
  if (!is_filled) assert_near(x[1], z[1], 0);
  assert_near(x[2], z[2], 0);
  assert_near(x[3], z[3], 0);
  assert_near(y, (3 * i + 7 - s->y_mean) / s->y_sd, 1e-12);
  if (number % 5 == 0)
    assert_true(isnan(more));
  else
    assert_near(more, (i * i - s->more[0].mean) / s->more[0].sd, 1e-12);
  assert_near(r, ((double)(number % 13) - s->regressors[0].mean) / s->regressors[0].sd, 1e-12);
  assert_near(v, 0.5 * i / (s->y_sd * s->y_sd), 1e-12);
  assert_near(v_of_more, 0.5 * i / (s->more[0].sd * s->more[0].sd), 1e-12);
}

/* The rows numbered from 'first' on, in their order but for those held out, are those of the
 * table. */
static void check_rows(const struct gpnn_dataset *c, size_t first, bool lacks)
{
  uint64_t *held_out = NULL;
  size_t n = c->n, h = c->n_calibration, before = 0, bytes = gpnn_lacks_bytes(3);
  assert_ok(gpnn_training_held_out(c, &held_out, &err));
  for (size_t i = 0; i < n; i++) {
    while (before < h && held_out[before] == i + before) before++;
    size_t number = first + i + before;
    bool is_filled = lacks && number % 7 == 3;
    if (c->lacks != NULL) assert_int_equal(gpnn_lacks(c->lacks + i * bytes, 1), is_filled);
    check_row(c, number, c->x + 4 * i, c->y[i], c->more[i], c->regressors[i], c->noise[i],
              c->noise[n + i], is_filled);
    assert_true(isfinite(c->x[4 * i + 1]));
  }
  for (size_t i = 0; i < h; i++) {
    size_t number = first + (size_t)c->held_out[i];
    bool is_filled = lacks && number % 7 == 3;
    assert_int_equal(isnan(c->calibration_x[4 * i + 1]), is_filled);
    check_row(c, number, c->calibration_x + 4 * i, c->calibration_y[i], c->calibration_more[i],
              c->calibration_regressors[i], c->calibration_noise[i], c->calibration_noise[h + i],
              is_filled);
  }
  free(held_out);
}

static void grown_rows_are_those_of_both_tables_in_their_order(void **state)
{
  (void)state;
  for (int lacks = 0; lacks < 2; lacks++) {
    struct gpnn_training training = GPNN_TRAINING_INIT;
    struct gpnn_grown grown = GPNN_GROWN_INIT, twice = GPNN_GROWN_INIT;
    char *text = text_of(0, 200, lacks);
    train(&training, text, &roles, GPNN_SCALING_SCALE, 20);
    grow(&grown, &training.dataset, 200, 320, lacks);
    assert_int_equal(grown.n_added, 120);
    assert_int_equal(grown.n_unseen, 5);
    assert_int_equal(grown.dataset.n + grown.dataset.n_calibration, 320);
    assert_int_equal(grown.dataset.n_calibration, 32);
    assert_true((grown.dataset.lacks != NULL) == lacks);
    check_rows(&grown.dataset, 0, lacks);
    grow(&twice, &grown.dataset, 320, 321, lacks);
    check_rows(&twice.dataset, 0, lacks);
    gpnn_grown_release(&twice);
    gpnn_grown_release(&grown);
    gpnn_training_release(&training);
    free(text);
  }
}

/* What is lacking only in rows added is filled in too. */
static void rows_added_may_be_the_first_to_lack_inputs(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char *text = text_of(0, 200, false);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 20);
  grow(&grown, &training.dataset, 200, 290, true);
  size_t n = 0, bytes = gpnn_lacks_bytes(3);
  for (size_t i = 0; i < grown.dataset.n; i++) {
    n += gpnn_lacks(grown.dataset.lacks + i * bytes, 1);
    assert_true(isfinite(grown.dataset.x[4 * i + 1]));
  }
  for (size_t i = 0; i < grown.dataset.n_calibration; i++)
    n += isnan(grown.dataset.calibration_x[4 * i + 1]) ? 1 : 0;
  assert_int_equal(n, 12);
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
  free(text);
}

/* Rows that cannot be read are counted with those of the index. */
static void bad_rows_are_left_out_and_counted(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char *text = text_of(0, 200, false), *more = text_of(200, 260, false);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 20);
  training.dataset.n_skipped = 5;
  memcpy(strstr(more, "\n230,") + 1, "xyz", 3);
  memcpy(strstr(more, "\n240,") + 1, "xyz", 3);
  assert_ok(gpnn_grown_begin(&grown, &training.dataset, scratch_path("new.gpi"), NULL, &err));
  assert_ok(add_rows(&grown, more, true, &err));
  assert_ok(gpnn_grown_finish(&grown, &err));
  assert_int_equal(grown.skipped.n, 2);
  assert_int_equal(grown.n_added, 58);
  assert_int_equal(grown.dataset.n_skipped, 7);
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
  free(text);
  free(more);
}

/* A row is filled in by what all training rows say, the last as well as the first: of an input that
 * is 0 in the first half of them and 10 in the second, and has nothing to do with the other, by
 * about the mean. */
static void rows_added_are_filled_in_by_all_rows_of_the_index(void **state)
{
  (void)state;
  enum { OLD = 400 };
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char *text = malloc(20 * OLD);
  int length = sprintf(text, "u,w,y\n");
  for (size_t i = 0; i < OLD; i++)
    length +=
        sprintf(text + length, "%zu,%d,%zu\n", i * 7919 % 101, i < OLD / 2 ? 0 : 10, i * i % 17);
  const struct gpnn_roles usual = {.target = "y"};
  train(&training, text, &usual, GPNN_SCALING_SCALE, 0);
  assert_ok(gpnn_grown_begin(&grown, &training.dataset, scratch_path("new.gpi"), NULL, &err));
  assert_ok(add_text(&grown, "u,w,y\n300,,3\n", &err));
  assert_ok(gpnn_grown_finish(&grown, &err));
  const struct gpnn_scaling *s = &training.dataset.scaling;
  double w = grown.dataset.x[2 * OLD + 1] / s->weight[1] + s->mean[1];
  assert_near(w, 5, 1.5);
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
  free(text);
}

/* A position is missing if one of its two columns is, and then both are. */
static void a_position_lacks_both_its_columns(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char text[4000];
  int length = sprintf(text, "u,lat,lon,y\n");
  for (int i = 0; i < 60; i++)
    length += sprintf(text + length, "%d,%d,%d,%d\n", i * 37 % 61, 40 + i % 7, 5 + i % 11, i % 9);
  const char *const places[] = {"lat,lon"};
  const struct gpnn_roles located = {.target = "y", .locations = places, .n_locations = 1};
  train(&training, text, &located, GPNN_SCALING_SCALE, 0);
  assert_ok(gpnn_grown_begin(&grown, &training.dataset, scratch_path("new.gpi"), NULL, &err));
  assert_ok(add_text(&grown, "u,lat,lon,y\n3,,7,1\n70,41,,2\n71,41,7,2\n", &err));
  assert_ok(gpnn_grown_finish(&grown, &err));
  size_t bytes = gpnn_lacks_bytes(3);
  for (size_t i = 60; i < 63; i++)
    for (size_t input = 0; input < 3; input++)
      assert_int_equal(gpnn_lacks(grown.dataset.lacks + i * bytes, input), input > 0 && i < 62);
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
}

/* ---- levels ---- */

enum { KNOWN = 5, LEVELS = 8 };

/* Rows of a coded column, of which levels from KNOWN on come after row 200. */
static char *coded_text(size_t from, size_t to, double *y, size_t *level)
{
  char *text = malloc(60 * (to - from + 1));
  int length = sprintf(text, "k,x,y\n");
  for (size_t i = from; i < to; i++) {
    level[i] = (i * i + 3 * i / 7) % (i < 200 ? KNOWN : LEVELS);
    y[i] = (double)((7 * i) % 23) + 5 * (double)level[i];
    length += sprintf(text + length, "L%zu,%zu,%g\n", level[i], i, y[i]);
  }
  return text;
}

/* The code of 'level' after the rows before 'end' that were added: the mean of their targets times
 * n over n + lambda. */
static double code_by_hand(const struct gpnn_dataset *old, const double *y, const size_t *level,
                           size_t of, size_t end)
{
  double n = 0, sum = 0;
  for (size_t i = 200; i < end; i++) {
    if (level[i] != of) continue;
    n++;
    sum += (y[i] - old->scaling.y_mean) / old->scaling.y_sd;
  }
  return sum / (n + old->schema.inputs[0].shrinkage);
}

static void a_later_level_is_coded_by_the_rows_before(void **state)
{
  (void)state;
  enum { ALL = 300 };
  double y[ALL];
  size_t level[ALL], first[LEVELS], n_later = 0;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT, twice = GPNN_GROWN_INIT;
  char *text = coded_text(0, 200, y, level), *more = coded_text(200, 260, y, level),
       *yet = coded_text(260, ALL, y, level);
  const struct gpnn_roles coded = {.target = "y", .coded = "k"};
  train(&training, text, &coded, GPNN_SCALING_SCALE, 0);
  const struct gpnn_dataset *old = &training.dataset;
  assert_ok(gpnn_grown_begin(&grown, old, scratch_path("new.gpi"), NULL, &err));
  assert_ok(add_text(&grown, more, &err));
  assert_ok(gpnn_grown_finish(&grown, &err));
  assert_ok(gpnn_grown_begin(&twice, &grown.dataset, scratch_path("newer.gpi"), NULL, &err));
  assert_ok(add_text(&twice, yet, &err));
  assert_ok(gpnn_grown_finish(&twice, &err));
  const struct gpnn_dataset *rows = &twice.dataset;
  const struct gpnn_column *column = &rows->schema.inputs[0];
  for (size_t l = 0; l < LEVELS; l++) first[l] = ALL;
  for (size_t i = 200; i < ALL; i++) {
    double features[] = {0, (double)i}, z[2];
    size_t of = level[i];
    if (first[of] == ALL) first[of] = i;
    if (of < KNOWN) continue;
    features[0] = code_by_hand(old, y, level, of, i);
    gpnn_scaling_apply(&old->scaling, features, z);
    assert_near(rows->x[2 * i], z[0], 1e-12);
    assert_near(rows->x[2 * i + 1], z[1], 1e-12);
  }
  for (size_t l = KNOWN; l < LEVELS; l++) n_later += first[l] < ALL;
  assert_int_equal(n_later, 3);
  assert_int_equal(column->n_later, n_later);
  assert_int_equal(column->n_levels, KNOWN + n_later);
  assert_int_equal(grown.n_new_levels + twice.n_new_levels, n_later);
  assert_int_equal(twice.n_unseen, 0);
  assert_int_equal(old->schema.inputs[0].n_levels, KNOWN);
  for (size_t l = KNOWN; l < column->n_levels; l++)
    assert_near(column->codes[l],
                code_by_hand(old, y, level, (size_t)atoi(column->levels[l] + 1), ALL), 1e-12);
  gpnn_grown_release(&twice);
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
  free(text);
  free(more);
  free(yet);
}

/* Of two classes a code is about the share that the second has in the index. */
static void a_later_level_of_classes_is_coded_by_its_share(void **state)
{
  (void)state;
  enum { OLD = 200, MORE = 20 };
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char text[OLD * 20], more[MORE * 20];
  double share = 0;
  int length = sprintf(text, "k,x,y\n");
  for (int i = 0; i < OLD; i++)
    length +=
        sprintf(text + length, "L%d,%d,%s\n", i * i % 7, i * 37 % 211, i * 7 % 10 < 3 ? "b" : "a");
  length = sprintf(more, "k,x,y\n");
  for (int i = 0; i < MORE; i++)
    length += sprintf(more + length, "new,%d,%s\n", 300 + i, i % 2 ? "a" : "b");
  const struct gpnn_roles by_level = {.target = "y", .coded = "k"};
  train(&training, text, &by_level, GPNN_SCALING_SCALE, 0);
  const struct gpnn_dataset *old = &training.dataset;
  for (size_t i = 0; i < OLD; i++) share += old->y[i] / OLD;
  assert_near(fabs(share - 0.5), 0.2, 1e-12);
  assert_ok(gpnn_grown_begin(&grown, old, scratch_path("new.gpi"), NULL, &err));
  assert_ok(add_text(&grown, more, &err));
  assert_ok(gpnn_grown_finish(&grown, &err));
  const struct gpnn_column *column = &grown.dataset.schema.inputs[0];
  assert_int_equal(column->n_levels, old->schema.inputs[0].n_levels + 1);
  assert_near(column->codes[column->n_levels - 1],
              (MORE / 2 - MORE * share) / (MORE + column->shrinkage), 1e-12);
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
}

/* ---- forgetting ---- */

static void the_oldest_rows_are_forgotten(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = text_of(0, 200, true);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 20);
  for (int by_value = 0; by_value < 2; by_value++) {
    struct gpnn_grown grown = GPNN_GROWN_INIT;
    char *more = text_of(200, 300, true);
    assert_ok(gpnn_grown_begin(&grown, &training.dataset, scratch_path("new.gpi"), NULL, &err));
    if (by_value)
      assert_ok(gpnn_grown_forget_below(&grown, "x", 1, "50", &err));
    else
      gpnn_grown_forget_oldest(&grown, 50);
    assert_ok(add_text(&grown, more, &err));
    assert_ok(gpnn_grown_finish(&grown, &err));
    assert_int_equal(grown.n_forgotten, 50);
    assert_int_equal(grown.dataset.n + grown.dataset.n_calibration, 250);
    check_rows(&grown.dataset, 50, true);
    gpnn_grown_release(&grown);
    free(more);
  }
  gpnn_training_release(&training);
  free(text);
}

/* Wherever among the rows those end that came first, be it before a calibration row. */
static void any_number_of_oldest_rows_is_forgotten(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = text_of(0, 200, true);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 60);
  for (size_t n = 0; n < 50; n++) {
    struct gpnn_grown grown = GPNN_GROWN_INIT;
    assert_ok(gpnn_grown_begin(&grown, &training.dataset, scratch_path("new.gpi"), NULL, &err));
    gpnn_grown_forget_oldest(&grown, n);
    assert_ok(gpnn_grown_finish(&grown, &err));
    assert_int_equal(grown.n_forgotten, n);
    check_rows(&grown.dataset, n, true);
    gpnn_grown_release(&grown);
  }
  gpnn_training_release(&training);
  free(text);
}

static void what_cannot_be_forgotten_is_said(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char *text = text_of(0, 200, true);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 20);
  assert_ok(gpnn_grown_begin(&grown, &training.dataset, scratch_path("new.gpi"), NULL, &err));
  assert_fails(gpnn_grown_forget_below(&grown, "c", 1, "50", &err), GPNN_EINVAL, "no input 'c'");
  assert_fails(gpnn_grown_forget_below(&grown, "a", 1, "50", &err), GPNN_EINVAL, "no input 'a'");
  assert_fails(gpnn_grown_forget_below(&grown, "x", 1, "May", &err), GPNN_EINVAL, "not a number");
  gpnn_grown_forget_oldest(&grown, 199);
  assert_fails(gpnn_grown_finish(&grown, &err), GPNN_EDATA, "too few to train on");
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
  free(text);
}

/* ---- calibration rows ---- */

/* Over many seeds, each part of the rows has its share of calibration rows, and of the first few of
 * them. */
static void calibration_rows_stay_a_random_sample(void **state)
{
  (void)state;
  enum { SEEDS = 300, PARTS = 4, FIRST = 10 };
  double held[PARTS] = {0}, first[PARTS] = {0};
  char *texts[PARTS];
  for (size_t p = 0; p < PARTS; p++) texts[p] = text_of(100 * p, 100 * (p + 1), false);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct gpnn_training training = GPNN_TRAINING_INIT;
    struct gpnn_grown grown[PARTS];
    train(&training, texts[0], &roles, GPNN_SCALING_SCALE, 10);
    training.dataset.fingerprint = seed;
    const struct gpnn_dataset *old = &training.dataset;
    for (size_t p = 1; p < PARTS; p++, old = &grown[p - 1].dataset) {
      grown[p] = (struct gpnn_grown)GPNN_GROWN_INIT;
      assert_ok(gpnn_grown_begin(&grown[p], old, scratch_path("new.gpi"), NULL, &err));
      assert_ok(add_text(&grown[p], texts[p], &err));
      assert_ok(gpnn_grown_finish(&grown[p], &err));
      grown[p].dataset.fingerprint = seed * PARTS + p;
    }
    for (size_t i = 0; i < old->n_calibration; i++) {
      held[old->held_out[i] / 100]++;
      if (i < FIRST) first[old->held_out[i] / 100]++;
    }
    for (size_t p = PARTS - 1; p > 0; p--) gpnn_grown_release(&grown[p]);
    gpnn_training_release(&training);
  }
  for (size_t p = 0; p < PARTS; p++) { /* 10 of 40 are of each part */
    assert_near(held[p] / SEEDS, 10, 0.4);
    assert_near(first[p] / SEEDS, FIRST / (double)PARTS, 0.3);
  }
  for (size_t p = 0; p < PARTS; p++) free(texts[p]);
}

/* A tenth of 216 rows is held out: 22, of which those added have their share, 22 * 16 / 216, on
 * average. */
static void the_share_of_calibration_rows_is_rounded(void **state)
{
  (void)state;
  enum { SEEDS = 400 };
  double held = 0;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = text_of(0, 200, false), *more = text_of(200, 216, false);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 20);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct gpnn_grown grown = GPNN_GROWN_INIT;
    training.dataset.fingerprint = seed;
    assert_ok(gpnn_grown_begin(&grown, &training.dataset, scratch_path("new.gpi"), NULL, &err));
    assert_ok(add_text(&grown, more, &err));
    assert_ok(gpnn_grown_finish(&grown, &err));
    held += (double)grown.dataset.n_calibration / SEEDS;
    gpnn_grown_release(&grown);
  }
  assert_near(held, 20 + 22 * 16 / 216.0, 0.1);
  gpnn_training_release(&training);
  free(text);
  free(more);
}

/* Where most calibration rows are forgotten there are fewer than their share: none of the training
 * rows takes the place of one. */
static void no_training_row_is_held_out_later(void **state)
{
  (void)state;
  enum { HELD = 20, LEFT = 5 };
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char *text = text_of(0, 200, false), *more = text_of(200, 216, false);
  train(&training, text, &roles, GPNN_SCALING_SCALE, HELD);
  const struct gpnn_dataset *old = &training.dataset, *rows = &grown.dataset;
  assert_ok(gpnn_grown_begin(&grown, old, scratch_path("new.gpi"), NULL, &err));
  for (size_t j = LEFT; j < HELD; j++) grown.is_forgotten[old->n + j] = true;
  assert_ok(add_text(&grown, more, &err));
  assert_ok(gpnn_grown_finish(&grown, &err));
  assert_int_equal(grown.n_forgotten, HELD - LEFT);
  assert_in_range(rows->n_calibration, LEFT + 1, LEFT + 2); /* 20 * 16 / 201 are of those added */
  for (size_t i = 0; i < rows->n_calibration; i++) {
    bool is_known = rows->held_out[i] >= 200 - (HELD - LEFT); /* one of those added */
    for (size_t j = 0; j < LEFT; j++)
      is_known = is_known || rows->calibration_y[i] == old->calibration_y[j];
    assert_true(is_known);
  }
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
  free(text);
  free(more);
}

/* ---- what is noticed ---- */

static void a_table_that_was_added_before_is_refused(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char *text = text_of(0, 200, false);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 20);
  assert_ok(gpnn_grown_begin(&grown, &training.dataset, scratch_path("new.gpi"), NULL, &err));
  assert_fails(add_text(&grown, text, &err), GPNN_EDATA, "was it added before?");
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
  free(text);
}

static void drift_is_in_standard_deviations(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  char *text = text_of(0, 200, false);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 0);
  grow(&grown, &training.dataset, 200, 300, false);
  double shift = 150 / sqrt((200.0 * 200 - 1) / 12);
  assert_int_equal(grown.drift.coordinate, 0);
  assert_near(grown.drift.input, shift, 1e-9);
  assert_near(grown.drift.target, shift, 1e-9);
  assert_null(grown.dataset.held_out);
  gpnn_grown_release(&grown);
  gpnn_training_release(&training);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grown_rows_are_those_of_both_tables_in_their_order),
      cmocka_unit_test(rows_added_may_be_the_first_to_lack_inputs),
      cmocka_unit_test(bad_rows_are_left_out_and_counted),
      cmocka_unit_test(rows_added_are_filled_in_by_all_rows_of_the_index),
      cmocka_unit_test(a_position_lacks_both_its_columns),
      cmocka_unit_test(a_later_level_is_coded_by_the_rows_before),
      cmocka_unit_test(a_later_level_of_classes_is_coded_by_its_share),
      cmocka_unit_test(the_oldest_rows_are_forgotten),
      cmocka_unit_test(any_number_of_oldest_rows_is_forgotten),
      cmocka_unit_test(what_cannot_be_forgotten_is_said),
      cmocka_unit_test(calibration_rows_stay_a_random_sample),
      cmocka_unit_test(the_share_of_calibration_rows_is_rounded),
      cmocka_unit_test(no_training_row_is_held_out_later),
      cmocka_unit_test(a_table_that_was_added_before_is_refused),
      cmocka_unit_test(drift_is_in_standard_deviations),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
