#!/usr/bin/env bats
# gpnn --report: a page for a browser, made of what the other tools say.

load helper

# A table of numbers, a category, counts and classes; about FIRST.
make_rows() {
  awk -v n="$1" -v first="$2" 'BEGIN {
    print "a,kind,n,class,y"
    for (i = first; i < first + n; i++) {
      a = (i * 0.618034) % 1; k = i % 3
      print a "," (k == 0 ? "red" : k == 1 ? "green" : "blue") "," int(3 + 4 * a + (i * 0.37) % 2) "," \
        (a > 0.6 ? "high" : "low") "," sin(6 * a) + k / 3 + ((i * 0.7548) % 1) / 10
    }
  }'
}

# Fails unless the page stands alone and is well made: nothing is loaded, nothing can run.
assert_page() {
  run ! grep -Eiq '<(script|img|iframe|object|link rel="[^i]|foreignObject)' "$1"
  run ! grep -Eq '(src|href)="?(https?:|//|file:)' "$1"
  run ! grep -Eq '@import|url\((https?:|//)' "$1"
  assert_below "$(wc -c <"$1")" 2000000
  grep -q '^</html>$' "$1"
  assert_equal "$(grep -o ' id="[^"]*"\| id='"'[^']*'" "$1" | sort | uniq -d)" ''
  assert_equal "$(grep -o '<table>' "$1" | wc -l)" "$(grep -o '</table>' "$1" | wc -l)"
  assert_equal "$(grep -o '<svg' "$1" | wc -l)" "$(grep -o 'role="img" aria-labelledby' "$1" | wc -l)"
}

@test "a page tells of the table, the model, scores, importance, effects, rows and commands" {
  command -v gnuplot >/dev/null || skip 'gnuplot is not installed'
  make_rows 120 1 >train.csv
  make_rows 40 121 >test.csv
  gpnn -q --effort fast --drop n,class --save m.gpm --report page.html train.csv test.csv >with.csv
  gpnn -q --effort fast --drop n,class train.csv test.csv | cmp - with.csv
  assert_page page.html
  for text in 'category (3 levels)' 'shift of the mean' '<dt>model</dt>' '<dt>expected</dt>' 'Importance of columns' \
    'not used</dt><dd>n, class' 'the 40 rows of test.csv' 'Effect of a on' 'Effect of kind on' 'Scores by kind' \
    'Errors in standard deviations along a' 'Predicted worst' 'Farthest from all training rows' 'this page' 'MiB' \
    'gpnn-explain importance m.gpm' 'm.gpm test.csv' '<caption>Intervals'; do
    grep -qF "$text" page.html || complain "no $text"
  done
  assert_equal "$(grep -o '<svg' page.html | wc -l)" 7
  # The worst row is the worst, and is predicted from the rows that gpnn-explain names.
  awk -F , 'NR > 1 { d = $1 - $2; print (d < 0 ? -d : d), NR - 1 }' with.csv | sort -rg | head -n 1 | cut -d ' ' -f 2 >worst
  grep -A 2 'Predicted worst' page.html | tail -n 1 | grep -q "<td class=\"n\">$(cat worst)<td"
  sed -n "1p;$(($(cat worst) + 1))p" test.csv | gpnn-explain rows --top 5 m.gpm - | awk '$2 == "row" { print "row " $4 ": " }' |
    while read -r text; do
      grep -A 2 'Predicted worst' page.html | grep -qF "$text" || complain "not from $text"
    done
  assert_equal "$(echo .[!.]* *)" '.[!.]* m.gpm page.html test.csv train.csv with.csv worst'
}

@test "what is not known of a table to predict is told of rows held out, or of training rows" {
  make_rows 30 1 >few.csv
  gpnn -q --effort fast -y y --drop n,class --report few.html few.csv
  assert_page few.html
  grep -q 'training rows, each predicted from the others' few.html
  grep -q 'gpnn-explain rows .*--loo' few.html
  make_rows 2100 1 >many.csv
  make_rows 30 3000 | cut -d , -f 1,2 >new.csv
  gpnn -q --effort fast --kernel exp -m 8 -x a,kind --report many.html many.csv new.csv >/dev/null
  assert_page many.html
  grep -q 'the 210 rows held out of training' many.html
  grep -q 'Farthest from all training rows, of the table to predict' many.html
}

@test "classes, counts and several targets" {
  make_rows 150 1 >train.csv
  make_rows 40 151 >test.csv
  gpnn -q --effort fast -y class --drop n,y --report c.html train.csv test.csv >/dev/null
  assert_page c.html
  grep -q '<caption>Each class' c.html
  grep -q 'Effects are those of targets that are numbers' c.html
  grep -q 'probability of other classes' c.html
  gpnn -q --effort fast -y n --likelihood poisson --drop class,y --report n.html train.csv test.csv >/dev/null
  assert_page n.html
  grep -q 'Poisson counts' n.html
  gpnn -q --effort fast -y y,class --drop n --report both.html train.csv test.csv >/dev/null
  assert_page both.html
  grep -q '<h2>Target y</h2>' both.html
  grep -q '<h2>Target class</h2>' both.html
}

@test "names and cells are shown, and never run" {
  make_rows 60 1 | cut -d , -f 1,2,5 |
    sed -e '1s/.*/"""><img onerror=alert(1)>",<script>alert(2)<\/script>,<b>y\&amp;/' -e 's/,red,/,<i>red<\/i>,/' >t.csv
  gpnn -q --effort fast --report page.html t.csv
  assert_page page.html
  grep -qF '&lt;script&gt;alert(2)&lt;/script&gt;' page.html
  grep -qF '&quot;&gt;&lt;img onerror=alert(1)&gt;' page.html
  grep -qF '&lt;i&gt;red&lt;/i&gt;' page.html
  run ! grep -qE '<(b|i)>' page.html
}

@test "scores of levels are tables, those that are cut say so, and dates are no levels" {
  awk 'BEGIN {
    print "level,day,x,y"
    for (i = 1; i <= 600; i++) { k = i % 40; x = (i * 0.618034) % 1; printf "l%d,2024-%02d-%02d,%.4f,%.4f\n", k, 1 + i % 12, 1 + i % 28, x, k + i % 12 + x }
  }' >t.csv
  head -n 401 t.csv >train.csv
  { head -n 1 t.csv && tail -n 200 t.csv; } >test.csv
  gpnn -q --effort fast --one-hot level --date day --report page.html train.csv test.csv >/dev/null
  assert_page page.html
  grep -A 1 '<caption>Scores by level' page.html | grep -q '<th scope="col">level<th scope="col">n<th scope="col">rmse'
  grep -q '10 further lines are not shown' page.html
  run ! grep -q 'Scores by day' page.html
  grep -q 'Effect of day on' page.html
  # Nothing tells where working files were.
  run ! grep -qE '/?[.]gpnn-tmp-[A-Za-z0-9]{6}/' page.html
}

@test "without gnuplot there are tables, and the page says why there are no pictures" {
  make_rows 60 1 >t.csv
  PATH=$GPNN_BUILD/bin gpnn -q --effort fast --drop n,class --report page.html t.csv
  assert_page page.html
  grep -q 'There are no pictures, as gnuplot is not installed' page.html
  run ! grep -q '<svg' page.html
  grep -q 'Share of rows by the probability' page.html
  grep -q 'Effect of a on' page.html
}

@test "tables from pipes, without a header, or with other delimiters" {
  make_rows 60 1 | cut -d , -f 1,5 | tr , ';' >t.csv
  gpnn -q --effort fast --save p.gpm --report pipe.html - <t.csv
  assert_page pipe.html
  grep -q 'What gpnn learnt from standard input' pipe.html
  sed 1d t.csv >body.csv
  gpnn -q --effort fast --no-header --report body.html body.csv body.csv >/dev/null
  assert_page body.html
  grep -q 'Columns have numbers' body.html
  grep -q 'Predicted worst' body.html
}

@test "more columns than can be looked at: those that go along with the target most" {
  awk 'BEGIN {
    for (j = 1; j <= 40; j++) printf "c%d,", j % 36 # four names are there twice
    print "y"
    for (i = 1; i <= 60; i++) { for (j = 1; j <= 40; j++) printf "%.4f,", v[j] = (i * (j + 0.618034) ^ 2) % 1; print v[7] }
  }' >t.csv
  gpnn -q --effort fast --report page.html t.csv
  grep -q 'the 30 that correlate most' page.html
  run ! grep -q 'is there twice' page.html
  grep -A 2 'Importance of columns' page.html | grep -q '<td>c7<'
  grep -q 'Effect of c7 on' page.html
}

@test "the page is written whole, and not over another file of the run" {
  make_rows 40 1 >t.csv
  assert_fails 2 '"t.csv" is an input' gpnn --report t.csv t.csv
  assert_fails 2 'report and --output are the same' gpnn --report o.csv -o ./o.csv t.csv t.csv
  assert_fails 2 '"m.gpm" is where the model will be kept' gpnn --report m.gpm --save m.gpm t.csv
  assert_fails 2 'needs the name of a file' gpnn --report - t.csv
  assert_fails 1 'no/page.html' gpnn --report no/page.html t.csv
  echo old >page.html
  run -2 gpnn -q -y z --report page.html t.csv
  assert_fails 2 '"t.gpm" is where the model will be kept' gpnn --report t.gpm t.csv
  assert_equal "$(cat page.html)" old
}

@test "a browser finds nothing to complain of, and asks for nothing" {
  local browser
  browser=$(command -v chromium || command -v chromium-browser) || skip 'chromium is not installed'
  make_rows 60 1 >t.csv
  gpnn -q --effort fast --drop n,class --report page.html t.csv
  for scheme in 0 1; do # dark, light
    HOME=$PWD timeout 60 "$browser" --headless --no-sandbox --disable-gpu --enable-logging=stderr --v=0 \
      --disable-background-networking --user-data-dir="$PWD/profile" --blink-settings=preferredColorScheme=$scheme \
      --log-net-log="$PWD/net.json" --dump-dom "file://$PWD/page.html" >dom.html 2>console.txt
    grep -q 'Predicted worst' dom.html
    run ! grep -q 'CONSOLE' console.txt
    # What the browser asks for by itself has no page as its origin.
    assert_equal "$(grep -o '"initiator":"[^"]*' net.json | grep -v 'not an origin')" ''
  done
}
