/* The order that texts of categories show. */
#include "profile/ordered.h"

#include <string.h>

#include "unit.h"

/* Asserts that texts with bars between them get the order of 'expected', or none if that is NULL.
 */
static void check(const char *given, const char *expected)
{
  char texts[GPNN_ORDERED_MOST + 1][GPNN_ORDERED_BYTES] = {""}, found[1024] = "";
  size_t n = 0;
  for (const char *s = given; s != NULL && n <= GPNN_ORDERED_MOST; n++) {
    const char *bar = strchr(s, '|');
    size_t length = bar == NULL ? strlen(s) : (size_t)(bar - s);
    memcpy(texts[n], s, length);
    s = bar == NULL ? NULL : bar + 1;
  }
  bool is = gpnn_ordered_find(n, texts);
  for (size_t i = 0; i < n && n <= GPNN_ORDERED_MOST; i++) {
    if (i > 0) strcat(found, "|");
    strcat(found, texts[i]);
  }
  assert_int_equal(is, expected != NULL);
  if (n <= GPNN_ORDERED_MOST) assert_string_equal(found, expected == NULL ? given : expected);
}

static void words_of_one_scale_have_its_order(void **state)
{
  (void)state;
  check("Very Good|Ideal|Fair|Good|Premium", "Fair|Good|Very Good|Premium|Ideal");
  check("Typical|Poor|Below_Average|Above_Average|Excellent",
        "Poor|Below_Average|Typical|Above_Average|Excellent");
  check("HIGH|low|Medium", "low|Medium|HIGH");
  check("XL|S|M|L", "S|M|L|XL");
  check("dec|Jan|MAY", "Jan|MAY|dec");
  check("Sunday|Monday|Friday", "Monday|Friday|Sunday");
  check("agree|strongly-disagree|neutral", "strongly-disagree|neutral|agree");
  check("always|never|sometimes", "never|sometimes|always");
}

static void ranges_of_numbers_have_the_order_of_these(void **state)
{
  (void)state;
  check("10-15|5-10|15+|< 5", "< 5|5-10|10-15|15+");
  check("18 to 24|65 or more|25 to 64|under 18", "under 18|18 to 24|25 to 64|65 or more");
  check("1-2 years|less than 1 year|more than 2 years",
        "less than 1 year|1-2 years|more than 2 years");
  check("100-1000|0|1-99", "0|1-99|100-1000");
  check("0.5-1|0-0.5|1-1.5", "0-0.5|0.5-1|1-1.5");
}

static void other_texts_have_none(void **state)
{
  (void)state;
  check("good|poor", NULL);            /* two have none that matters */
  check("good|poor|blue", NULL);       /* another word */
  check("average|typical|good", NULL); /* two of the same degree */
  check("red|green|blue", NULL);
  check("D|E|F", NULL);
  check("5|10|15", NULL);         /* numbers are used as they are */
  check("5-10|8-12|12-20", NULL); /* overlap */
  check("5-10 km|10-15 m|15-20 m", NULL);
  check("5-10|10-15|unknown", NULL);
  check("10-5|20-10|30-20", NULL);
  check("2010-11|2011-12|2012-13", NULL);
  check("1-2-3|4-5-6|7-8-9", NULL);
  check("5+|10+|15+", NULL);
  check("<5|<10|<15", NULL);
  check("||", NULL);
  check("-|+|<", NULL);
  check("1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|23|24|25-30", NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_of_one_scale_have_its_order),
      cmocka_unit_test(ranges_of_numbers_have_the_order_of_these),
      cmocka_unit_test(other_texts_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
