#!/usr/bin/env bats
# The report on a table that cannot be used as it is, and the command that it ends with.

load helper

# report OPTION...: what gpnn-index says of t.csv, in report.txt, and the command, in typed.sh.
report() {
  local status=0
  gpnn-index "$@" -o t.gpi t.csv 2>report.txt || status=$?
  assert_equal "status $status" "status 1"
  sed -n 's/^    \(gpnn-index .*\)/\1/p' report.txt >typed.sh
  [[ ! -e t.gpi ]] || complain "there is an index"
}

# Rows of an awk expression of i, after a header: make HEADER ROWS EXPRESSION.
make() {
  awk -v header="$1" -v rows="$2" "BEGIN { OFS = \",\"; print header; for (i = 1; i <= rows; i++) print $3 }" >t.csv
}

@test "all columns that are no numbers are in one report, with count, example, line and option" {
  make id,city,sold,area,price 100 \
    '"u" i, (i % 3 ? "Bath" : "York"), i % 28 + 1 "/" i % 12 + 1 "/2020", i == 7 ? "n/a" : i, "\"" i ",000.5\""'
  report
  assert_equal "$(sed 's/  */ /g; s/ $//' report.txt)" 'gpnn-index: t.csv: 5 of 5 columns cannot be used as they are:
 column bad cells looks like option
 id 100 texts, all different, "u1" (line 2) --drop id
 city 100 2 different texts, "Bath" (line 2) --one-hot city
 sold 100 dates, "2/2/2020" (line 2) --date sold=%d/%m/%Y
 area 1 "n/a" for missing (line 8) --na n/a
 price 100 numbers, "1,000.5" (line 2) --thousands
 '"'"'sold'"'"' is a trend; what repeats is said by, say, --period sold=year,sold=week
 try this:
 gpnn-index -o t.gpi --drop id --one-hot city --date sold=%d/%m/%Y --thousands --na n/a t.csv'
  bash -c "$(<typed.sh)"
  assert_equal "$(gpnn-info t.gpi | value skipped-rows)" 0
}

@test "a single bad cell keeps its own message, and the command leaves its row out" {
  make a,b,y 50 'i, i * i, i == 20 ? "oops" : i'
  report
  assert_equal "$(head -n 1 report.txt)" "gpnn-index: t.csv:21: column 'y': not a number: \"oops\""
  assert_equal "$(<typed.sh)" 'gpnn-index -o t.gpi --skip-bad t.csv'
  make a,b,y 50 'i, i * i (i == 20 ? "" : "," i)'
  report
  assert_equal "$(head -n 1 report.txt)" 'gpnn-index: t.csv:21: has 2 fields, the header has 3'
  assert_equal "$(<typed.sh)" 'gpnn-index -o t.gpi --skip-bad t.csv'
}

@test "the command has the options that were given, and words for any shell" {
  make "the id,it's,c=d,a,y" 60 '"u" i, (i % 2 ? "l" : "r"), 1 + i % 28 ".01.2020", i, "$" i'
  mv t.csv 'a b.csv'
  gpnn-index -qm 30 --inp 1-4 --drop a -o t.gpi 'a b.csv' 2>report.txt || :
  assert_equal "$(tail -n 1 report.txt)" \
    "    gpnn-index -q -m 30 -x 1-4 -o t.gpi --drop 'a,the id' --one-hot 'it'\\''s' --date 3=%d.%m.%Y --strip '\$' 'a b.csv'"
  bash -c "$(tail -n 1 report.txt)"
  assert_equal "$(gpnn-info t.gpi | value inputs)" 3
}

@test "what the user asked for is never changed" {
  make a,b,y,z 50 'i, (i % 2 ? "l" : "r"), "text " i, i'
  report -y y
  grep -q "'y' is the target (-y) and has to be numbers or classes" report.txt
  grep -q 'columns that could be a target: a, z$' report.txt
  assert_equal "$(<typed.sh)" ''
  assert_fails 1 'columns cannot be used' gpnn-index --auto -y y -o t.gpi t.csv
  report -y z --regressors y
  grep -q "'y' is no input and has to be numbers" report.txt
  assert_equal "$(<typed.sh)" ''
}

@test "no other column becomes the target in place of one that cannot be" {
  make a,b,price,name 50 'i, i * i, i * 3, "n" i'
  report
  grep -q "'name' is the target (-y) and has to be numbers or classes: choose another by -y$" report.txt
  grep -q 'columns that could be a target: a, b, price$' report.txt
  assert_equal "$(<typed.sh)" ''
  for quiet in '' -q; do
    # shellcheck disable=SC2086
    run gpnn $quiet t.csv
    assert_equal "$status" 1
    grep -q 'choose another by -y' <<<"$output"
    [[ ! -e t.gpi ]]
  done
  gpnn-index -q --auto -y price -o t.gpi t.csv
}

@test "what cannot be decided is said" {
  make when,a,y 40 'i % 12 + 1 "/" i % 9 + 1 "/2020", "\"" i % 900 + 1 ",125\"", i'
  report
  grep -q "'when' is read as %d/%m/%Y, but could also be %m/%d/%Y: no day is above 12" report.txt
  grep -q 'the comma in these numbers is taken to group thousands; if that is wrong, use --decimal ,' report.txt
  sed -i 's/,/;/; s/",*\([0-9]*,125\)",/\1;/; 1s/,/;/' t.csv
  report
  grep -q 'the comma in these numbers is taken for the decimal mark' report.txt
  bash -c "$(<typed.sh)"
}

@test "more than a fifth of the rows go only with --skip-bad=all, and columns before half of them" {
  make a,b,y 100 'i, (i % 10 < 3 ? "" : i), i'
  report --missing drop
  assert_equal "$(<typed.sh)" 'gpnn-index --missing drop -o t.gpi --skip-bad=all t.csv'
  grep -q '30 of 100 rows lack a value: more than a fifth' report.txt
  bash -c "$(<typed.sh)"
  make a,b,c,y 100 'i, (i % 10 < 3 ? "" : i), (i % 10 >= 4 && i % 10 < 8 ? "" : i), i'
  rm t.gpi
  report --missing drop
  assert_equal "$(<typed.sh)" 'gpnn-index --missing drop -o t.gpi --drop c --skip-bad=all t.csv'
  make a,b,y 100 'i, (i % 10 < 6 ? "" : i), i'
  report --missing drop
  assert_equal "$(<typed.sh)" 'gpnn-index --missing drop -o t.gpi --drop b t.csv'
}

@test "a wide table gets a short report and a short command" {
  awk 'BEGIN {
    for (j = 1; j <= 3000; j++) printf "c%d,", j; print "y"
    for (i = 1; i <= 30; i++) { for (j = 1; j <= 3000; j++) printf j % 1000 < 900 ? "t%d," : "%d,", i; print i }
  }' >t.csv
  report
  grep -q '^gpnn-index: t.csv: 2700 of 3001 columns cannot' report.txt
  grep -q '  and 2670 more columns$' report.txt
  assert_equal "$(<typed.sh)" 'gpnn-index -o t.gpi --drop 1-899,1000-1899,2000-2899,c3000 t.csv'
  bash -c "$(<typed.sh)"
}

@test "few rows are enough for advice, and too few get the plain message" {
  make a,b,y 20 'i, (i % 2 ? "l" : "r"), i'
  report
  bash -c "$(<typed.sh)"
  rm t.gpi
  make a,b,y 3 'i, "t" i, i'
  report
  assert_equal "$(<typed.sh)" 'gpnn-index -o t.gpi --drop b t.csv'
  make a,y 2 'i, "t" i'
  report
  assert_equal "$(wc -l <report.txt)" 1
}

@test "a table that cannot be read to its end gets the message about its first bad row alone" {
  make a,b,y 50 'i, "t" i, i'
  printf '7,"never closed,1\n' >>t.csv
  report
  assert_equal "$(<report.txt)" "gpnn-index: t.csv:2: column 'b': not a number: \"t1\""
}

@test "every run says what it predicts from what, unless it is to be quiet" {
  make_table 300 3 >t.tsv
  gpnn-index -o t.gpi t.tsv 2>err.txt
  assert_equal "$(<err.txt)" 'gpnn-index: t.tsv: target y, 3 inputs (x1, x2, x3), 270 rows and 30 held out'
  gpnn-index -q -o t.gpi t.tsv 2>err.txt
  assert_equal "$(<err.txt)" ''
}
