#include "cotrain/answers.h"

#include <stdlib.h>

#include "scratch.h"
#include "unit.h"

#define HEAD "# gpnn answers 1.0\n# target: y\n# centre: 1.5\n# scale: 2\n"

/* What is read of 'text', written again, is the same. */
static void assert_same_again(const char *text)
{
  struct gpnn_answers answers = {0};
  struct gpnn_output *output = NULL;
  size_t length;
  assert_ok(gpnn_answers_read(scratch_text("answers", text), &answers, &err));
  assert_ok(gpnn_output_open_memory(&output, &err));
  assert_ok(gpnn_answers_write(&answers, output, &err));
  const char *written = gpnn_output_memory(output, &length);
  assert_int_equal(length, strlen(text));
  assert_memory_equal(written, text, length);
  gpnn_output_abandon(output);
  gpnn_answers_release(&answers);
}

static void what_is_read_is_what_is_written(void **state)
{
  (void)state;
  assert_same_again(HEAD "# report: none\n# said: in words\nkey\tmean\tnoise_variance\n"
                         "a\t1\t0\n\"b\tc\"\t-2.5\t0.25\n\"#d\"\"\"\t1e-300\t0\n");
  assert_same_again(HEAD "# report: marginal\nid\tmean\tvariance\tprior_variance\tnoise_variance\n"
                         "7\t1\t0.5\t2\t0\n");
  assert_same_again(HEAD "# report: full\nid\tmean\tvariance\tprior_variance\tnoise_variance\t"
                         "cov_1\tcov_2\tkq_1\tkq_2\tnoise_1\tnoise_2\n"
                         "7\t1\t0.5\t2\t1\t0.5\t0.1\t1\t0.9\t1\t0.2\n"
                         "8\t2\t0.6\t2\t1\t0.1\t0.6\t0.9\t1\t0.2\t1\n");
  assert_same_again(HEAD "# report: full\nid\tmean\tvariance\tprior_variance\tnoise_variance\n");
}

static void columns_are_found_by_their_names(void **state)
{
  (void)state;
  struct gpnn_answers answers = {0};
  assert_ok(gpnn_answers_read(
      scratch_text("answers", HEAD "# report: marginal\r\nid,noise_variance,prior_variance,"
                                   "also,variance,mean\r\nx,0.1,4,text,3,-1\r\ny,0,5,,2,-2\r\n"),
      &answers, &err));
  assert_int_equal(answers.n, 2);
  assert_string_equal(answers.target, "y");
  assert_string_equal(answers.ids[1], "y");
  assert_true(answers.centre == 1.5 && answers.scale == 2);
  assert_true(answers.mean[1] == -2 && answers.variance[0] == 3);
  assert_true(answers.prior_variance[1] == 5 && answers.noise_variance[0] == 0.1);
  assert_null(answers.covariance);
  gpnn_answers_release(&answers);
}

static void assert_refused(const char *text, enum gpnn_status status, const char *message)
{
  struct gpnn_answers answers = {0};
  assert_fails(gpnn_answers_read(scratch_text("answers", text), &answers, &err), status, message);
  assert_null(answers.ids);
}

static void what_is_not_a_table_of_answers_is_refused(void **state)
{
  (void)state;
  assert_refused(
      "id\tmean\n", GPNN_EMISMATCH,
      "answers: is not a table of answers: its first line is not \"# gpnn answers ...\"");
  assert_refused("# gpnn answers 2.0\nid\tmean\n", GPNN_EVERSION,
                 "answers: answers of a version that this gpnn cannot read");
  assert_refused("# gpnn answers 1.0\n# target: y\n# centre: 0\nid\tmean\n", GPNN_EMISMATCH,
                 "answers: is not a table of answers, or has lost a comment: there is no line "
                 "\"# scale: ...\" before the header, or not as gpnn-answer writes it");
  assert_refused(HEAD "# report: none\nid\tmean\n", GPNN_EMISMATCH,
                 "answers: has no column 'noise_variance', which a report \"none\" has");
}

static void bad_numbers_and_ids_are_refused(void **state)
{
  (void)state;
  const char *head =
      HEAD "# report: marginal\nid\tmean\tvariance\tprior_variance\tnoise_variance\n";
  char text[400];
  static const struct {
    const char *rows, *message;
  } cases[] = {
      {"a\t1\t-0.5\t1\t0\n", "answers:7: column 'variance': a variance that is negative: \"-0.5\""},
      {"a\t1\t0.5\t0\t0\n",
       "answers:7: column 'prior_variance': a variance that is not positive: \"0\""},
      {"a\t1\t0.5\tinf\t0\n", "answers:7: column 'prior_variance': not a finite number: \"inf\""},
      {"a\tx\t0.5\t1\t0\n", "answers:7: column 'mean': not a number: \"x\""},
      {"\t1\t0.5\t1\t0\n", "answers:7: column 'id': missing value"},
      {"a\t1\t0.5\t1\t0\nb\t1\t0.5\t1\t0\na\t1\t0.5\t1\t0\n",
       "answers: two answers have the id \"a\""},
      {"a\t1\t0.5\t1\n", "answers:7: has 4 fields, the header has 5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(text, sizeof text, "%s%s", head, cases[i].rows);
    assert_refused(text, GPNN_EDATA, cases[i].message);
  }
}

static void matrices_are_whole_and_symmetric(void **state)
{
  (void)state;
  const char *head =
      HEAD "# report: "
           "full\nid\tmean\tvariance\tprior_variance\tnoise_variance\tcov_1\tcov_2\tkq_1\tkq_2\n";
  char text[400];
  snprintf(text, sizeof text, "%sa\t1\t1\t4\t0\t1\t2\t4\t1\nb\t1\t1\t4\t0\t3\t1\t1\t4\n", head);
  assert_refused(text, GPNN_EDATA,
                 "answers: the matrix of columns 'cov_...' is not symmetric: rows 1 and 2");
  snprintf(text, sizeof text, "%sa\t1\t1\t4\t0\t1\t2\t4\t1\n", head);
  assert_refused(text, GPNN_EDATA,
                 "answers: has 1 answers, but 2 columns 'cov_...': rows or columns are missing");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_read_is_what_is_written),
      cmocka_unit_test(columns_are_found_by_their_names),
      cmocka_unit_test(what_is_not_a_table_of_answers_is_refused),
      cmocka_unit_test(bad_numbers_and_ids_are_refused),
      cmocka_unit_test(matrices_are_whole_and_symmetric),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
