#!/usr/bin/env bats
# Targets that are classes, and exposures of counts, in gpnn-index and gpnn-info.
load helper

# flowers ROWS: inputs x and z, and a class that depends on x.
flowers() {
  awk -v n="$1" 'BEGIN {
    OFS = ","
    print "x", "z", "species"
    for (i = 0; i < n; i++) print i * 37 % 101 / 10, i * 53 % 97, (i * 37 % 101 < 50 ? "setosa" : i % 2 ? "virginica" : "versicolor")
  }'
}

@test "a target of texts is one of classes, which are shown with their rows" {
  flowers 200 >t.csv
  gpnn-index -o t.gpi t.csv 2>err.txt
  assert_equal "$(<err.txt)" 'gpnn-index: t.csv: target species (3 classes), 2 inputs (x, z), 200 rows and 0 held out'
  gpnn-index --calibration-rows 20 -o t.gpi t.csv 2>err.txt
  assert_equal "$(<err.txt)" 'gpnn-index: t.csv: target species (3 classes), 2 inputs (x, z), 180 rows and 20 held out'
  gpnn-info --verify t.gpi >info
  assert_equal "$(value verified info)" yes
  assert_equal "$(awk '$1 == "class" { print $2 }' info | xargs)" 'setosa versicolor virginica'
  assert_equal "$(awk '$1 == "class" { rows += $3; held_out += $4 } END { print rows, held_out }' info)" '180 20'
  run ! grep -q '^target-mean' info
  # The order of rows does not change what a class is called.
  { head -n 1 t.csv && tail -n +2 t.csv | tac; } >back.csv
  gpnn-index -q -o back.gpi back.csv
  assert_equal "$(gpnn-info back.gpi | awk '$1 == "class" { print $2 }' | xargs)" 'setosa versicolor virginica'
}

@test "labels of any text survive, and gpnn-info --json shows them whole" {
  {
    echo 'x,label'
    for i in 1 2 3; do
      printf '%d,"a\ttab"\n%d,"a ""quote"", a comma"\n%d,"two\nlines"\n%d,été\n%d,%s\n' \
        "$i" "$i" "$i" "$i" "$i" "$(printf 'long %.0s' {1..30})"
    done
  } >t.csv
  gpnn-index -q --calibration-rows 1 -o t.gpi t.csv
  gpnn-info --json t.gpi >info.json
  grep -qF '"class": [{"name": "a\u0009tab", ' info.json
  grep -qF '{"name": "a \"quote\", a comma", ' info.json
  grep -qF '{"name": "two\u000alines", ' info.json
  grep -qF '{"name": "été", ' info.json
  grep -qF "\"$(printf 'long %.0s' {1..30} | sed 's/ $//')\"" info.json
  json info.json >/dev/null
  # In lines, one class is one line.
  assert_equal "$(gpnn-info t.gpi | grep -c '^class')" 5
  grep -q $'^class\ta?tab\t2\t1$' <(gpnn-info t.gpi)
}

@test "--classes makes classes of numbers, sorted by their value" {
  awk 'BEGIN { print "x,y"; for (i = 0; i < 90; i++) print i "," (i % 3 == 0 ? "10" : i % 3 == 1 ? "9" : (i % 2 ? "1.0" : "1")) }' >t.csv
  gpnn-index -q --classes -o t.gpi t.csv
  assert_equal "$(gpnn-info t.gpi | awk '$1 == "class" { print $2, $3 + $4 }' | xargs)" '1 30 9 30 10 30'
  assert_fails 1 "^t.csv: column 'x': all 90 labels are different: is it an id\?$" \
    gpnn-index --classes -y x -o u.gpi t.csv
}

@test "few different whole numbers get a hint, and stay numbers" {
  awk 'BEGIN { print "x,y,f,n"; for (i = 0; i < 60; i++) print i "," i % 3 "," i % 3 / 2 "," i % 11 }' >t.csv
  gpnn-index -x x -y y -o t.gpi t.csv 2>err.txt
  assert_equal "$(warnings err.txt)" \
    "gpnn-index: t.csv: target 'y' has only 3 different values: if they are classes, use --classes; if counts, --likelihood poisson or negbin when it is fitted"
  assert_equal "$(gpnn-info t.gpi | grep -c '^target-sd')" 1
  gpnn-index -q -x x -y y -o t.gpi t.csv 2>err.txt
  assert_equal "$(<err.txt)" ''
  for target in f n; do
    gpnn-index -x x -y $target -o t.gpi t.csv 2>err.txt
    assert_equal "$(warnings err.txt)" ''
  done
  gpnn-index -x x -y y --classes -o t.gpi t.csv 2>err.txt
  assert_equal "$(warnings err.txt)" ''
}

@test "one of several targets may be classes, and rows may lack some" {
  flowers 120 | awk -F , -v OFS=, 'NR == 1 { print $0, "size"; next } { print $1, $2, (NR % 7 ? $3 : ""), (NR % 5 ? NR : "NA") }' >t.csv
  gpnn-index -q -y species,size --skip-bad -o t.gpi t.csv
  gpnn-info --verify t.gpi >info
  assert_equal "$(value verified info)" yes
  assert_equal "$(grep -c '^class' info)" 3
  assert_equal "$(grep -c '^target-mean' info)" 1
  total=$(awk '$1 == "class" { n += $3 + $4 } END { print n }' info)
  assert_equal "$total" "$(awk -F , 'NR > 1 && $3 != ""' t.csv | wc -l)"
}

@test "another metric keeps classes, exposures and the fingerprint" {
  flowers 150 | awk -F , -v OFS=, 'NR == 1 { print $0, "hours"; next } { print $0, NR / 10 }' >t.csv
  gpnn-index -q -y species --exposure hours -o t.gpi t.csv
  {
    printf '%s\t%s\n' kernel matern32 kernelscale 1 noise 0.1 neighbours 10 likelihood categorical \
      link-slope 4 link-evidence 0.3 link-floor 0.02 link-spread 0.3
    printf 'lengthscale\t1\t3\nlink-bias\t0\t0\t0\n'
  } >t.par
  gpnn-index -q --metric t.par -o other.gpi t.gpi
  gpnn-info --verify other.gpi | grep -E '^(fingerprint|rows|target|class|exposure|input|verified)' >other
  gpnn-info --verify t.gpi | grep -E '^(fingerprint|rows|target|class|exposure|input|verified)' | diff - other
  gpnn-info other.gpi | grep -q '^metric-lengthscale'
}

@test "a column that looks like an id, or of one class, is refused" {
  awk 'BEGIN { print "x,id"; for (i = 0; i < 100000; i++) print i ",name" i }' >t.csv
  assert_fails 1 "^t.csv:1002: column 'id': has more than 1000 different labels: is it an id\?$" \
    gpnn-index -y id -o t.gpi t.csv
  for options in '' --skip-bad=all -q; do
    # shellcheck disable=SC2086
    assert_fails 1 'columns cannot be used as they are' \
      gpnn-index $options -o t.gpi t.csv || return
  done
  head -n 1001 t.csv | assert_fails 1 "column 'id': all 1000 labels are different: is it an id\?$" \
    gpnn-index -o t.gpi
  printf 'x,y\n1,a\n2,a\n3,a \n' >t.csv
  assert_fails 1 "^t.csv: column 'y': all rows are of class 'a'$" gpnn-index -o t.gpi t.csv
  # A thousand are not too many.
  awk 'BEGIN { print "x,y"; for (i = 0; i < 3000; i++) print i ",c" i % 1000 }' >t.csv
  gpnn-index -q -o t.gpi t.csv
  assert_equal "$(gpnn-info t.gpi | grep -c '^class')" 1000
}

@test "a last column that cannot be classes is no target, whoever chose it" {
  awk 'BEGIN { print "x,y,name"; for (i = 0; i < 60; i++) print i "," i * i ",n" i }' >t.csv
  assert_fails 1 'columns cannot be used as they are' gpnn-index -o t.gpi t.csv
  assert_fails 1 'columns cannot be used as they are' gpnn-index -q --auto -o t.gpi t.csv
  assert_fails 1 "^t.csv: column 'name': all 60 labels are different: is it an id\?$" gpnn-index -y name -o u.gpi t.csv
}

@test "classes some of which are numbers are advised to be asked for" {
  awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i "," (i < 25 ? i % 2 : i % 2 ? "a" : "b") }' >t.csv
  gpnn-index -o t.gpi t.csv 2>err.txt
  assert_equal "$(gpnn-info t.gpi | grep -c '^class')" 4
  # Among the rows of the beginning there are only numbers.
  awk 'BEGIN { print "x,y"; for (i = 0; i < 6000; i++) print i "," (i < 2500 ? i % 2 : i % 2 ? "a" : "b") }' >t.csv
  gpnn-index -o t.gpi t.csv 2>err.txt && false
  assert_equal "$(tail -n 1 err.txt)" '    gpnn-index -o t.gpi --classes t.csv'
  gpnn-index -q --auto -o t.gpi t.csv
  assert_equal "$(gpnn-info t.gpi | grep -c '^class')" 4
}

@test "labels that are missing are bad values" {
  flowers 40 | awk -F , -v OFS=, 'NR == 5 { $3 = "" } NR == 9 { $3 = "NA" } 1' >t.csv
  gpnn-index -o t.gpi t.csv 2>err.txt && false
  grep -q "missing in 2 rows (line 5)" err.txt || grep -q "t.csv:5: column 'species': missing value" err.txt
  gpnn-index -q --skip-bad -o t.gpi t.csv
  assert_equal "$(gpnn-info t.gpi | value skipped-rows)" 2
  assert_equal "$(gpnn-info t.gpi | grep -c '^class')" 3
}

@test "a class of one row is kept in training, and told" {
  { flowers 60 && echo 5,5,lonely; } >t.csv
  for seed in 1 2 3 4 5; do
    gpnn-index -s "$seed" --calibration-rows 30 -o t.gpi t.csv 2>err.txt
    assert_equal "$(warnings err.txt)" "gpnn-index: t.csv: column 'species': class 'lonely' has a single row"
    grep -q $'^class\tlonely\t1\t0$' <(gpnn-info t.gpi)
  done
  echo 6,6,single >>t.csv
  gpnn-index -o t.gpi t.csv 2>err.txt
  grep -q "column 'species': 2 of 5 classes have a single row, 'lonely' for one" err.txt
}

@test "a class that is held out with its group is told" {
  awk 'BEGIN { print "x,g,y"; for (i = 0; i < 100; i++) print i % 17 "," int(i / 10) "," (i < 90 ? "c" i % 2 : "c" int(i / 10)) }' >t.csv
  for seed in 1 2 3 4 5 6 7 8; do
    gpnn-index -s $seed --by g --calibration-rows 40 -o t.gpi t.csv 2>err.txt
    if grep -q $'^class\tc9\t0\t10$' <(gpnn-info t.gpi); then
      grep -q "column 'y': 1 of 3 classes have no training row, as their groups are held out, 'c9' for one" err.txt
      found=yes
    else
      assert_equal "$(warnings err.txt)" ''
    fi
  done
  [[ $found == yes ]]
}

@test "values that may be classes are numbers unless the user says otherwise" {
  awk 'BEGIN { print "x,y"; for (i = 0; i < 40; i++) print i "," i % 3 + 1 "-" i % 3 + 4 "-2020" }' >t.csv
  gpnn-index -y y -o t.gpi t.csv 2>err.txt && false
  grep -q "'y' is the target (-y) and has to be numbers or classes (--classes)" err.txt
  gpnn-index -q --classes -y y -o t.gpi t.csv
  assert_equal "$(gpnn-info t.gpi | grep -c '^class')" 3
}

@test "classes have neither offset nor noise, and exposures neither" {
  flowers 40 >t.csv
  assert_fails 2 "^t.csv: target 'species' holds classes, from which no offset can be subtracted$" \
    gpnn-index --offset z -o t.gpi t.csv
  assert_fails 2 "target 'species' holds classes, and the noise of rows is that of numbers$" \
    gpnn-index --row-noise z -o t.gpi t.csv
  assert_fails 2 "column 'x' is an exposure, which is that of counts: these have neither row noise nor offsets$" \
    gpnn-index -y z --drop species --exposure x --offset x -o t.gpi t.csv
  assert_fails 2 '--metric reads an index, but --classes applies to a table' \
    gpnn-index --metric t.par --classes -o t.gpi t.gpi
  assert_fails 2 '--metric reads an index, but --exposure applies to a table' \
    gpnn-index --metric t.par --exposure x -o t.gpi t.gpi
}

@test "exposures are above 0, and no inputs" {
  awk 'BEGIN { print "x,hours,n"; for (i = 1; i <= 40; i++) print i "," i / 4 "," i * 7 % 23 }' >t.csv
  gpnn-index -q --exposure hours -o t.gpi t.csv
  gpnn-info --verify t.gpi >info
  assert_equal "$(value exposure info) $(value inputs info) $(value verified info)" 'hours 1 yes'
  for bad in 0 -1 '' many; do
    awk -F , -v OFS=, -v bad="$bad" 'NR == 7 { $2 = bad } 1' t.csv >bad.csv
    gpnn-index --exposure hours -o bad.gpi bad.csv 2>err.txt && false
    grep -q "bad.csv:7: column 'hours': \|hours .*(line 7)" err.txt || complain "$(<err.txt)"
    gpnn-index -q --exposure hours --skip-bad -o bad.gpi bad.csv
    assert_equal "$(gpnn-info bad.gpi | value skipped-rows)" 1
  done
  awk -F , -v OFS=, 'NR == 7 { $2 = 0 } 1' t.csv >bad.csv
  assert_fails 1 "^bad.csv:7: column 'hours': an exposure that is not above 0: \"0\"$" \
    gpnn-index --exposure hours -o bad2.gpi bad.csv
}

@test "the same classes, whatever the number of threads, from a pipe, and compressed" {
  flowers 5000 >t.csv
  gpnn-index -q -j 1 -o 1.gpi t.csv
  gpnn-index -q -j 4 -o 4.gpi t.csv
  gpnn-index -q -o pipe.gpi < <(cat t.csv)
  gpnn-index -q -o gz.gpi <(gzip <t.csv)
  for other in 4 pipe gz; do cmp 1.gpi $other.gpi; done
}

@test "classes of a table without a header, with decimal commas and other notation" {
  flowers 50 | tail -n +2 >bare.csv
  gpnn-index -q --no-header -o t.gpi bare.csv
  assert_equal "$(gpnn-info t.gpi | value target) $(gpnn-info t.gpi | grep -c '^class')" '3 3'
  awk 'BEGIN { print "x;y"; for (i = 0; i < 40; i++) print i ",5;" (i % 2 ? "1,5" : "2") }' >t.csv
  gpnn-index -q --decimal , --classes -o t.gpi t.csv
  assert_equal "$(gpnn-info t.gpi | awk '$1 == "class" { print $2 }' | xargs)" '1.5 2'
}

@test "the report has the number of classes" {
  flowers 50 >t.csv
  gpnn-index --json -o t.gpi t.csv 2>report
  grep -qF '"classes": [3]' report
  gpnn-index --json -y z --drop species -o t.gpi t.csv 2>report
  run ! grep -q classes report
}
