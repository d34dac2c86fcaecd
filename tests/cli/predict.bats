#!/usr/bin/env bats
# gpnn-predict: columns, units, intervals, bad rows.
# shellcheck disable=SC2154 # 'stderr' comes from bats

load helper

# An index of two inputs with parameters, and a table to predict.
prepare() {
  make_model 400 20 0 30
}

header() {
  head -n 1 "$1"
}

@test "the output has the target, mean and sd, in the order of the rows" {
  prepare
  gpnn-predict t.gpi -p t.par test.tsv >out.tsv
  assert_equal "$(header out.tsv)" $'y\tmean\tsd'
  column y test.tsv | awk '{ print $1 + 0 }' >a
  column y out.tsv | awk '{ print $1 + 0 }' >b
  cmp a b
}

@test "the output has no target if the table has none" {
  prepare
  cut -f 1,2 test.tsv >inputs.tsv
  gpnn-predict t.gpi -p t.par inputs.tsv >out.tsv
  assert_equal "$(header out.tsv)" $'mean\tsd'
  assert_equal "$(wc -l <out.tsv)" 21
}

@test "--keep and --append carry columns along, quoted as they must be" {
  prepare
  awk -F '\t' -v OFS=, 'NR == 1 { print "name", $1, $2, "y"; next }
    { print "\"a,\"\"b\"\" " NR "\"", $1, $2, $3 }' test.tsv >test.csv
  gpnn-predict t.gpi -p t.par --keep name test.csv >out.csv
  assert_equal "$(header out.csv)" 'name,y,mean,sd'
  assert_equal "$(sed -n 2p out.csv | cut -c 1-14)" '"a,""b"" 2",3.'
  gpnn-predict t.gpi -p t.par --append test.csv >out.csv
  assert_equal "$(header out.csv)" 'name,x1,x2,y,mean,sd'
}

@test "intervals lie around the mean at the half-width of the normal distribution" {
  prepare
  gpnn-predict t.gpi -p t.par --interval 0.95 test.tsv >one.tsv
  assert_equal "$(header one.tsv)" $'y\tmean\tsd\tlower\tupper'
  gpnn-predict t.gpi -p t.par --interval 0.5,0.95 test.tsv >two.tsv
  assert_equal "$(header two.tsv)" $'y\tmean\tsd\tlower50\tupper50\tlower95\tupper95'
  awk -F '\t' 'NR > 1 {
      w = ($5 - $4) / 2 / $3; d = w - 1.959963984540054
      if (d > 1e-9 || d < -1e-9) exit 1
    }' one.tsv
  cut -f 6,7 two.tsv >a
  cut -f 4,5 one.tsv >b
  diff <(tail -n +2 a) <(tail -n +2 b)
}

@test "--latent leaves out the noise, --mean-only the sd" {
  prepare
  gpnn-predict t.gpi -p t.par --units standard test.tsv >with.tsv
  gpnn-predict t.gpi -p t.par --units standard --latent test.tsv >without.tsv
  paste <(column sd with.tsv) <(column sd without.tsv) |
    awk '{ d = $1 * $1 - $2 * $2 - 0.04; if (d > 1e-9 || d < -1e-9) exit 1 }'
  gpnn-predict t.gpi -p t.par --mean-only test.tsv >mean.tsv
  assert_equal "$(header mean.tsv)" $'y\tmean'
  gpnn-predict t.gpi -p t.par test.tsv | cut -f 1,2 | cmp - mean.tsv
}

@test "--units standard subtracts the training mean and divides by the training sd" {
  prepare
  gpnn-info t.gpi >info.txt
  gpnn-predict t.gpi -p t.par test.tsv >original.tsv
  gpnn-predict t.gpi -p t.par --units standard test.tsv >standard.tsv
  paste original.tsv standard.tsv | tail -n +2 |
    awk -F '\t' -v m="$(value target-mean info.txt)" -v s="$(value target-sd info.txt)" '
      function off(a, b) { return a - b > 1e-9 || b - a > 1e-9 }
      off(($1 - m) / s, $4) || off(($2 - m) / s, $5) || off($3 / s, $6) { exit 1 }'
}

@test "--debias multiplies the standardised mean by 1 + noise / (m kernelscale)" {
  prepare
  paste <(gpnn-predict t.gpi -p t.par --units standard test.tsv | column mean) \
    <(gpnn-predict t.gpi -p t.par --units standard --debias test.tsv | column mean) |
    awk '{ d = $1 * (1 + 0.04 / 30) - $2; if (d > 1e-9 || d < -1e-9) exit 1 }'
}

@test "a bad row stops the run and is reported, or is predicted NA" {
  prepare
  awk -F '\t' -v OFS='\t' 'NR == 5 { $2 = "oops" } NR == 8 { $1 = "-" } 1' test.tsv >bad.tsv
  assert_fails 1 "bad.tsv:5: column 'x2': not a number: \"oops\"" \
    gpnn-predict t.gpi -p t.par bad.tsv -o out.tsv
  gpnn-predict t.gpi -p t.par --skip-bad bad.tsv >out.tsv 2>err.txt
  grep -q '2 of 20 rows have no prediction' err.txt
  assert_equal "$(wc -l <out.tsv)" 21
  assert_equal "$(sed -n 5p out.tsv | cut -f 2,3)" $'NA\tNA'
  assert_equal "$(sed -n 8p out.tsv | cut -f 2,3)" $'NA\tNA'
  gpnn-predict t.gpi -p t.par test.tsv | sed '5d;8d' >a
  sed '5d;8d' out.tsv | cmp a -
}

@test "batches before a bad row are written with any number of threads" {
  prepare
  make_table 500 2 400 | awk -F '\t' -v OFS='\t' 'NR == 432 { $2 = "oops" } 1' >bad.tsv
  gpnn-predict t.gpi -p t.par <(head -n 401 bad.tsv) >whole.tsv
  for options in '-j 1 --batch 100' '-j 2 --batch 100' '-j 3 --batch 100' '-j 2 --batch 10'; do
    local status=0 rows=401
    [[ $options != *10 ]] || rows=431
    # shellcheck disable=SC2086 # options
    gpnn-predict $options t.gpi -p t.par bad.tsv >out.tsv 2>err.txt || status=$?
    assert_equal "$status" 1
    assert_equal "$(cat err.txt)" "gpnn-predict: bad.tsv:432: column 'x2': not a number: \"oops\""
    [[ $rows == 431 ]] || cmp whole.tsv out.tsv
    assert_equal "$(wc -l <out.tsv)" "$rows"
  done
}

@test "a pipe gets the answer to each batch before it must send the next" {
  prepare
  make_table 192 2 400 >three.tsv
  gpnn-predict t.gpi -p t.par three.tsv >whole.tsv
  for batch in 1 16 64; do
    mkfifo in out
    timeout 60 gpnn-predict -j 2 --batch "$batch" t.gpi -p t.par in >out &
    exec 8<out 7>in # as they are opened there
    head -n 1 three.tsv >&7
    for from in 2 66 130; do
      tail -n +"$from" three.tsv | head -n 64 >&7
      ((from > 2)) || head -n 1 whole.tsv >want
      ((from == 2)) || : >want
      tail -n +"$from" whole.tsv | head -n 64 >>want
      timeout 60 head -c "$(wc -c <want)" <&8 | cmp want -
    done
    exec 7>&-
    wait
    assert_equal "$(cat <&8)" ''
    exec 8<&-
    rm in out
  done
}

# converse TABLE OPTION...: writes the lines of TABLE one by one to a coprocess, each when the answer
# to the one before has come, and prints the answers.  The lines come in two pieces each.
converse() {
  local table=$1 line answer in out
  shift
  mkfifo questions answers
  timeout 60 gpnn-predict --unbuffered "$@" questions >answers 2>err.txt &
  exec {in}<answers {out}>questions # as they are opened there
  while IFS= read -r line; do
    printf '%s' "${line:0:4}" >&"$out"
    printf '%s\n' "${line:4}" >&"$out"
    IFS= read -r -t 60 -u "$in" answer || break
    printf '%s\n' "$answer"
  done <"$table"
  exec {out}>&-
  cat <&"$in"
  exec {in}<&-
  rm questions answers
  wait $!
}

@test "--unbuffered answers the header, and each of 50 rows before the next arrives" {
  prepare
  make_table 50 2 400 >rows.tsv
  gpnn-predict t.gpi -p t.par rows.tsv >whole.tsv
  for threads in 1 3; do
    converse rows.tsv -j $threads t.gpi -p t.par | cmp whole.tsv -
  done
  tail -n +2 rows.tsv >rows.raw
  gpnn-index --no-header --calibration-rows 0 -o raw.gpi <(tail -n +2 train.tsv)
  gpnn-predict --no-header raw.gpi -p t.par rows.raw >whole.tsv
  converse rows.raw --no-header raw.gpi -p t.par | cmp whole.tsv -
}

@test "--unbuffered wakes no idle thread" {
  [[ -r /proc/self/status ]] || skip 'needs /proc'
  prepare
  gpnn-index --search ivf --calibration-rows 0 -o lists.gpi train.tsv
  for index in t.gpi lists.gpi; do
    mkfifo in out
    gpnn-predict -j 4 --unbuffered $index -p t.par in >out &
    exec 8<out 7>in # as they are opened there
    for line in 1 2; do
      sed -n ${line}p test.tsv >&7
      IFS= read -r -t 60 -u 8 answer
    done
    assert_equal "$(awk '/^Threads:/ { print $2 }' "/proc/$!/status")" 1
    exec 7>&-
    wait
    exec 8<&-
    rm in out
  done
}

@test "--unbuffered changes no byte, whatever the other options" {
  prepare
  make_table 70 2 390 | awk -F '\t' -v OFS='\t' 'NR == 1 { $4 = "name" } NR == 9 { $2 = "oops" }
    NR > 1 { $4 = "\"a\tb" NR "\"" } NR == 20 { $1 = 50 } 1' >rows.tsv
  for options in '--skip-bad' '--skip-bad --append' '--skip-bad --interval 0.5,0.9 --keep name' \
    '--skip-bad --units standard --latent --debias' '--skip-bad --max-distance 1 --mean-only' \
    '--skip-bad --precision mixed -m 300' '--skip-bad -m 1000 --progress never --na none'; do
    # shellcheck disable=SC2086 # options
    gpnn-predict -q $options t.gpi -p t.par rows.tsv >whole.tsv
    for threads in 1 2; do
      # shellcheck disable=SC2086 # options
      gpnn-predict -q -j $threads --unbuffered $options t.gpi -p t.par <rows.tsv | cmp whole.tsv -
    done
  done
  gpnn-predict -q --skip-bad --unbuffered t.gpi -p t.par -o file.tsv rows.tsv
  gpnn-predict -q --skip-bad t.gpi -p t.par rows.tsv | cmp file.tsv -
}

@test "--unbuffered has answered every row before a bad one" {
  prepare
  awk -F '\t' -v OFS='\t' 'NR == 13 { $2 = "oops" } 1' test.tsv >bad.tsv
  gpnn-predict t.gpi -p t.par test.tsv | head -n 12 >want.tsv
  local status=0
  converse bad.tsv t.gpi -p t.par >got.tsv || status=$?
  assert_equal "$status" 1
  assert_equal "$(cat err.txt)" "gpnn-predict: questions:13: column 'x2': not a number: \"oops\""
  cmp want.tsv got.tsv
  printf 'x1\tx2\nx\t1\n' >bad.tsv # the very first row
  status=0
  gpnn-predict --unbuffered t.gpi -p t.par bad.tsv >got.tsv 2>err.txt || status=$?
  assert_equal "$status" 1
  assert_equal "$(cat got.tsv)" $'mean\tsd'
}

@test "--unbuffered answers rows that come as gzip members" {
  prepare
  gpnn-predict t.gpi -p t.par test.tsv >whole.tsv
  mkfifo in out
  timeout 60 gpnn-predict --unbuffered t.gpi -p t.par in >out &
  exec 8<out 7>in # as they are opened there
  while IFS= read -r row; do
    gzip <<<"$row" >&7
    IFS= read -r -t 60 -u 8 answer
    printf '%s\n' "$answer"
  done <test.tsv | cmp whole.tsv -
  exec 7>&-
  wait
  exec 8<&-
}

@test "--unbuffered excludes --batch and --share" {
  prepare
  assert_fails 2 'unbuffered takes rows one by one' gpnn-predict --unbuffered --batch 5 t.gpi -p t.par test.tsv
  assert_fails 2 'rules out --share' gpnn-predict --unbuffered --share 4 t.gpi -p t.par test.tsv
  gpnn-predict --unbuffered --share 1 t.gpi -p t.par test.tsv | cmp - <(gpnn-predict t.gpi -p t.par test.tsv)
}

@test "a missing target does not make a row bad" {
  prepare
  awk -F '\t' -v OFS='\t' 'NR == 3 { $3 = "NA" } NR == 4 { $3 = "" } 1' test.tsv >holes.tsv
  gpnn-predict t.gpi -p t.par holes.tsv >out.tsv
  assert_equal "$(sed -n '3,4p' out.tsv | cut -f 1)" $'NA\nNA'
  gpnn-predict t.gpi -p t.par test.tsv | cut -f 2,3 >a
  cut -f 2,3 out.tsv | cmp a -
}

@test "missing inputs are all named" {
  prepare
  cut -f 2,3 test.tsv >fewer.tsv
  assert_fails 1 "x1" gpnn-predict t.gpi -p t.par fewer.tsv
}

@test "without headers columns are found by position" {
  prepare
  tail -n +2 train.tsv >train.raw
  tail -n +2 test.tsv >test.raw
  gpnn-index --no-header --calibration-rows 0 -o raw.gpi train.raw
  gpnn-predict --no-header raw.gpi -p t.par test.raw >raw.tsv
  gpnn-predict t.gpi -p t.par test.tsv | tail -n +2 | cmp - raw.tsv
  gpnn-predict --no-header raw.gpi -p t.par <(cut -f 1,2 test.raw) >inputs.tsv
  cut -f 2,3 raw.tsv | cmp - inputs.tsv
  gpnn-eval --no-header raw.tsv >a
  gpnn-predict t.gpi -p t.par test.tsv | gpnn-eval | cmp a -
}

@test "categories are coded one-hot, and unseen levels are counted" {
  awk 'BEGIN {
    print "colour\tx\ty"
    split("red green blue", names, " ")
    for (i = 1; i <= 600; i++) {
      k = i % 3 + 1; x = (i * 0.618) % 1
      printf "%s\t%.5f\t%.5f\n", names[k], x, 5 * k + sin(6 * x)
    }
  }' >train.tsv
  gpnn-index --one-hot colour -o c.gpi train.tsv
  gpnn-info c.gpi | grep -q 'colour=red'
  printf 'colour\tx\nred\t0.5\nblue\t0.5\npink\t0.5\n' >test.tsv
  gpnn-fit --effort fast --kernel exp --ard yes -m 40 c.gpi | gpnn-predict c.gpi -p - test.tsv >out.tsv 2>err.txt
  grep -q '1 values* of categories .* never seen' err.txt
  assert_near "$(sed -n 2p out.tsv | cut -f 1)" 5.14 0.5 # red is 1: 5 + sin 3
  assert_near "$(sed -n 3p out.tsv | cut -f 1)" 15.14 0.5
}

@test "with fewer rows than neighbours all rows are used" {
  make_table 12 1 >train.tsv
  make_table 3 1 12 >test.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  make_parameters rbf 0.5 1 0.04 400 >t.par
  gpnn-predict t.gpi -p t.par test.tsv >all.tsv
  gpnn-predict t.gpi -p t.par -m 12 test.tsv | cmp all.tsv -
}

@test "a table without rows gives a header" {
  prepare
  head -n 1 test.tsv >empty.tsv
  gpnn-predict t.gpi -p t.par empty.tsv >out.tsv
  assert_equal "$(cat out.tsv)" $'y\tmean\tsd'
}

@test "rows beyond --max-distance get missing values or the prior" {
  prepare
  awk -F '\t' -v OFS='\t' 'NR % 5 == 0 { $1 += 50 } 1' test.tsv >far.tsv
  gpnn-predict t.gpi -p t.par --max-distance 1 --interval 0.9 far.tsv >na.tsv
  assert_equal "$(sed -n 5p na.tsv | cut -f 2-5)" $'NA\tNA\tNA\tNA'
  assert_equal "$(grep -c 'NA.NA.NA.NA' na.tsv)" 4
  gpnn-predict t.gpi -p t.par --max-distance 1 --beyond prior --units standard far.tsv >prior.tsv
  assert_near "$(sed -n 5p prior.tsv | cut -f 2)" 0 1e-12
  assert_near "$(sed -n 5p prior.tsv | cut -f 3)" 1.019803902718557 1e-12 # sqrt(1 + 0.04)
  gpnn-predict t.gpi -p t.par --interval 0.9 far.tsv | sed '5~5d' >a
  sed '5~5d' na.tsv | cmp a -
  assert_fails 2 'beyond needs --max-distance' gpnn-predict t.gpi -p t.par --beyond na test.tsv
  assert_fails 2 'na or prior' gpnn-predict t.gpi -p t.par --max-distance 1 --beyond x test.tsv
}

@test "degrees of freedom are written, and make intervals wider" {
  prepare
  { cat t.par && printf 'degrees\t4\n'; } >student.par
  gpnn-predict t.gpi -p student.par --interval 0.95 test.tsv >out.tsv
  assert_equal "$(header out.tsv)" $'y\tmean\tsd\tdf\tlower\tupper'
  # The 97.5 % quantile with 4 degrees is 2.776445105; the sd of the distribution sqrt 2.
  awk -F '\t' 'NR > 1 { d = ($6 - $5) / 2 / $3 - 2.776445105 / sqrt(2)
      if ($4 != 4 || d > 1e-8 || d < -1e-8) exit 1 }' out.tsv
  gpnn-predict t.gpi -p student.par --mean-only test.tsv >mean.tsv
  assert_equal "$(header mean.tsv)" $'y\tmean'
}

@test "the known noise of a row is added to its variance, if the table has it" {
  make_table 300 1 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "v" : 0.01 }' >train.tsv
  make_table 10 1 300 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "v" : NR / 10 }' >test.tsv
  gpnn-index -y y --row-noise v -o n.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 30 >n.par
  gpnn-predict n.gpi -p n.par test.tsv >with.tsv
  cut -f 1,2 test.tsv | gpnn-predict n.gpi -p n.par >without.tsv
  paste with.tsv without.tsv | awk -F '\t' 'NR > 1 { d = $3 * $3 - $6 * $6 - NR / 10
      if (d > 1e-9 || d < -1e-9) exit 1 }'
}

@test "each of several targets has its own group of columns, as if predicted alone" {
  make_table 400 2 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "u" : 2 * $1 - $3 }' >train.tsv
  make_table 20 2 400 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "u" : 2 * $1 - $3 }' >test.tsv
  gpnn-index -y y,u -o two.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 30 >one.par
  { printf 'target\ty\n' && cat one.par && printf 'target\tu\n' && cat one.par; } >two.par
  gpnn-calibrate two.gpi <two.par >two.cal
  gpnn-predict two.gpi -p two.cal --interval 0.5,0.9 test.tsv >two.tsv
  assert_equal "$(header two.tsv)" "$(printf '%s\t' y mean_y sd_y lower50_y upper50_y lower90_y \
    upper90_y u mean_u sd_u lower50_u upper50_u lower90_u)upper90_u"
  awk '/^target\tu/ { found = 1 } found || /^#/' two.cal >u.par
  gpnn-predict two.gpi -p u.par --interval 0.5,0.9 test.tsv | tail -n +2 >u.tsv
  cut -f 8-14 two.tsv | tail -n +2 | cmp - u.tsv
  gpnn-predict two.gpi -p two.cal --append test.tsv | head -n 1 | cut -f 1-4 >a
  assert_equal "$(cat a)" $'x1\tx2\ty\tmean_y'
  printf 'target\tw\n' | cat - one.par >w.par
  assert_fails 1 "the index has no target 'w'" gpnn-predict two.gpi -p w.par test.tsv
}

@test "no tool waits for parameters from a terminal" {
  script -qec true /dev/null </dev/null &>/dev/null || skip "needs a pseudo-terminal"
  prepare
  for command in 'gpnn-predict t.gpi test.tsv' 'gpnn-calibrate t.gpi' 'gpnn-simulate advise t.gpi'; do
    status=0
    timeout 20 script -qec "$command" /dev/null </dev/null >out.txt || status=$?
    assert_equal "$status" 2
    grep -q ': the parameters are missing: give them as -p FILE' out.txt
  done
  # From a terminal that is asked for they are read.
  timeout 20 script -qec 'stty -echo; gpnn-predict -q -p - -o typed.tsv t.gpi test.tsv' /dev/null <t.par >/dev/null
  gpnn-predict -q -p t.par t.gpi test.tsv | cmp - typed.tsv
}

@test "parameters are read from a pipe" {
  prepare
  gpnn-predict -q t.gpi test.tsv <t.par | cmp - <(gpnn-predict -q -p t.par t.gpi test.tsv)
}

@test "predictions do not need the true values" {
  prepare
  gpnn-predict -p t.par t.gpi test.tsv >want.tsv
  awk -F '\t' -v OFS='\t' 'NR == 3 { $3 = "?" } NR == 5 { $3 = "" } NR == 6 { $3 = "nan" } NR == 8 { $3 = "2,8" } 1' \
    test.tsv >truths.tsv
  for options in '' '-j 1' '--batch 2' '--unbuffered' '--skip-bad' '-d \t'; do
    # shellcheck disable=SC2086 # words of options
    gpnn-predict $options -p t.par t.gpi truths.tsv >out.tsv 2>err.txt
    cmp <(cut -f 2,3 out.tsv) <(cut -f 2,3 want.tsv)
    assert_equal "$(column y out.tsv | grep -n NA | tr '\n' ' ')" '2:NA 4:NA 5:NA 7:NA '
    assert_equal "$(<err.txt)" "gpnn-predict: truths.tsv: 3 truths cannot be read and count as missing: $(
    )column 'y': not a number in 2 rows, as \"?\" (line 3); column 'y': not a finite number in 1 row, as \"nan\" (line 6)"
  done
  run -0 --separate-stderr gpnn-eval out.tsv
  assert_equal "$(head -n 1 <<<"$output")" $'n\t16'
  [[ $stderr == 'gpnn-eval: out.tsv: 4 rows without truth or prediction left out' ]]
  # A reader that leaves is no reason to speak.
  gpnn-predict -p t.par t.gpi truths.tsv 2>/dev/null | head -n 1 >/dev/null
  # Of several targets each for itself.
  awk -F '\t' -v OFS='\t' '{ print $1, $2, $3, NR == 1 ? "z" : 2 * $3 }' train.tsv >two.tsv
  awk -F '\t' -v OFS='\t' '{ print $1, $2, $3, NR == 1 ? "z" : NR == 4 ? "?" : 1 }' truths.tsv >both.tsv
  gpnn-index -q --calibration-rows 0 -y y,z -o two.gpi two.tsv
  { printf 'target\ty\n' && cat t.par && printf 'target\tz\n' && cat t.par; } >two.par
  gpnn-predict -p two.par two.gpi both.tsv >out.tsv 2>err.txt
  assert_equal "$(column mean_y out.tsv | grep -c NA)" 0
  assert_equal "$(column z out.tsv | sed -n 3p)" NA
  assert_equal "$(column y out.tsv | sed -n 3p)" "$(column y test.tsv | sed -n 3p | awk '{ print $1 + 0 }')"
  grep -q ': 4 truths cannot be read' err.txt
}

@test "the noise of a row is needed if it is part of the sd" {
  prepare
  awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "v" : 0.01 }' train.tsv >noisy.tsv
  awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "v" : NR == 3 ? "?" : 0.01 }' test.tsv >bad.tsv
  gpnn-index -q --calibration-rows 0 -y y --row-noise v -o n.gpi noisy.tsv
  assert_fails 1 "^bad.tsv:3: column 'v': not a number" gpnn-predict -p t.par n.gpi bad.tsv
  for option in --latent --mean-only; do
    gpnn-predict $option -p t.par n.gpi bad.tsv | cmp - <(cut -f 1-3 bad.tsv | gpnn-predict $option -p t.par n.gpi)
  done
}

@test "--loo predicts the training rows, which it names by their place in the table" {
  make_table 60 2 | awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = int(100 * $3) / 1000 } { print }' \
    >train.tsv
  gpnn-index -q --calibration-rows 12 -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  gpnn-predict --loo -p t.par --interval 0.9 t.gpi >loo.tsv
  assert_equal "$(header loo.tsv)" $'row\ty\tmean\tsd\tlower\tupper\tlogp\tcrps\tpit'
  assert_equal "$(wc -l <loo.tsv)" 49
  # The rows are those of the table, in its order, with their targets to the last digit.
  awk -F '\t' 'NR == FNR { y[FNR - 1] = $3 + 0; next }
    FNR > 1 { if (!($1 in y) || $1 <= last || $2 + 0 != y[$1]) exit 1; last = $1 }' train.tsv loo.tsv
  ! grep -q NA loo.tsv
}

@test "--loo gives the same bytes for any number of threads and any batch" {
  prepare
  gpnn-predict --loo -p t.par --interval 0.5,0.9 -j 1 t.gpi >loo.tsv
  gpnn-predict --loo -p t.par --interval 0.5,0.9 -j 3 --batch 7 t.gpi | cmp - loo.tsv
  gpnn-predict --loo -p - --interval 0.5,0.9 t.gpi <t.par | cmp - loo.tsv
  gpnn-predict --loo -p t.par -d , --no-header t.gpi | head -n 1 | grep -q '^1,[^a-z]*$'
}

@test "--loo scores as gpnn-eval does from mean and sd" {
  prepare
  gpnn-predict --loo -p t.par t.gpi >loo.tsv
  gpnn-eval loo.tsv >all.txt
  cut -f 1-4 loo.tsv | gpnn-eval >few.txt
  for name in n rmse nll cal crps coverage50 coverage95 pit_distance; do
    assert_near "$(value $name all.txt)" "$(value $name few.txt)" 1e-9
  done
}

@test "--loo leaves out each row, which predictions of the same table do not" {
  make_table 30 2 >train.tsv
  gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
  make_parameters matern32 0.5 1 1e-6 200 >t.par
  gpnn-predict --loo -p t.par t.gpi | gpnn-eval >loo.txt
  gpnn-predict -p t.par t.gpi train.tsv | gpnn-eval >known.txt
  assert_below "$(value rmse known.txt)" 1e-4
  assert_below 0.05 "$(value rmse loo.txt)"
}

@test "--cross-fit predicts rows by parameters that have not seen them" {
  make_table 90 3 >few.tsv
  gpnn-index -q --calibration-rows 0 -o few.gpi few.tsv
  gpnn-fit -q --ard yes --kernel matern32 --rotate none --tune steps=60 -m 20 few.gpi >few.par
  gpnn-predict --loo --cross-fit -p few.par -j 1 few.gpi >cross.tsv
  gpnn-predict --loo --cross-fit -p few.par -j 3 --batch 7 few.gpi | cmp - cross.tsv
  gpnn-predict --loo -p few.par few.gpi >naive.tsv
  assert_equal "$(header cross.tsv)" "$(header naive.tsv)"
  diff <(column row cross.tsv) <(column row naive.tsv)
  assert_below "$(gpnn-eval naive.tsv | value cal)" "$(gpnn-eval cross.tsv | value cal)"
  assert_below "$(gpnn-eval naive.tsv | value nll)" "$(gpnn-eval cross.tsv | value nll)"
}

@test "--cross-fit needs --loo, and parameters that say how they were estimated" {
  prepare
  assert_fails 2 '--cross-fit needs --loo' gpnn-predict --cross-fit -p t.par t.gpi test.tsv
  assert_fails 1 'the parameters do not say how they were estimated' \
    gpnn-predict --loo --cross-fit -p t.par t.gpi
}

@test "--loo refuses what is for tables" {
  prepare
  assert_fails 2 '--loo predicts the rows of the index' gpnn-predict --loo -p t.par t.gpi test.tsv
  assert_fails 2 '--keep is for the rows of a table, not for --loo' \
    gpnn-predict --loo -p t.par --keep x1 t.gpi
  for option in '--share 4' '--group x1' '--unbuffered' '--decimal ,' '--comment #' '--skip-lines 1'; do
    # shellcheck disable=SC2086 # an option and its value
    assert_fails 2 "^${option%% *} is for the rows of a table" gpnn-predict --loo -p t.par $option t.gpi
  done
  gpnn-predict --loo -p t.par -d , --na '?' --no-header t.gpi >loo.csv # which say how it is written
}

@test "--loo writes all targets, and adds the known noise of the rows" {
  make_table 50 2 | awk -F '\t' -v OFS='\t' '
    NR == 1 { print $0, "z", "v"; next }
    { print $0, 2 * $3 + 1, NR / 100 }' >train.tsv
  gpnn-index -q -y y,z --row-noise v --calibration-rows 0 -o t.gpi train.tsv
  for target in y z; do
    printf 'target\t%s\n' $target
    make_parameters matern32 0.5 1 0.04 20
  done >two.par
  gpnn-predict --loo -p two.par t.gpi >loo.tsv
  assert_equal "$(header loo.tsv)" \
    "$(printf 'row y mean_y sd_y logp_y crps_y pit_y z mean_z sd_z logp_z crps_z pit_z' | tr ' ' '\t')"
  assert_equal "$(gpnn-eval loo.tsv | cut -f 1 | tr '\n' ' ')" 'target y z mean '
  gpnn-predict --loo --latent -p two.par t.gpi >latent.tsv
  assert_equal "$(header latent.tsv)" "$(printf 'row y mean_y sd_y z mean_z sd_z' | tr ' ' '\t')"
  # sd^2 - latent sd^2 is the noise shared by all rows, and that of the row.
  paste <(column row loo.tsv) <(column sd_y loo.tsv) <(column sd_y latent.tsv) | awk '
    { noise[$1] = $2 * $2 - $3 * $3 }
    END {
      for (i = 2; i <= 50; i++) {
        d = noise[i] - noise[i - 1] - 0.01
        if (d > 1e-9 || d < -1e-9) exit 1
      }
    }'
}

# of_training: what gpnn-predict says of training rows in the table on standard input, if anything.
of_training() {
  gpnn-predict -p t.par t.gpi 2>&1 >/dev/null | grep -oE '[0-9]+ of [0-9]+ rows .* training rows' || true
}

@test "training rows among those predicted are pointed out" {
  make_model 300 60 0 20
  assert_equal "$(of_training <train.tsv)" '300 of 300 rows are training rows'
  assert_equal "$(cut -f 1,2 train.tsv | of_training)" '300 of 300 rows have the inputs of training rows'
  assert_equal "$({ cat test.tsv; sed -n 2,21p train.tsv; } | of_training)" '20 of 80 rows are training rows'
  assert_equal "$(of_training <test.tsv)" ''
  # The same inputs with other targets are no training rows; nor are 4 rows, nor any under --loo.
  assert_equal "$(awk -F '\t' -v OFS='\t' 'NR > 1 { $3 += 1 } 1' train.tsv | of_training)" ''
  assert_equal "$(head -n 5 train.tsv | of_training)" ''
  gpnn-predict --loo -p t.par t.gpi 2>err >/dev/null
  [[ ! -s err ]]
  gpnn-predict -q -p t.par t.gpi train.tsv 2>err >/dev/null
  [[ ! -s err ]]
}

@test "rows of a few codes that training rows have too are not taken for these" {
  coded() {
    awk -v seed="$1" 'BEGIN {
      srand(seed); print "a\tb\ty"
      for (i = 0; i < 400; i++) print int(6 * rand()) "\t" int(8 * rand()) "\t" int(3 * rand())
    }'
  }
  coded 1 >train.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  make_parameters exp 1 1 0.1 20 >t.par
  assert_equal "$(coded 2 | of_training)" ''
  assert_equal "$(coded 2 | cut -f 1,2 | of_training)" ''
}

@test "--max-distance takes km on the globe, also across the date line and a pole" {
  { printf 'lat\tlon\tdepth\ty\n'; printf '%s\n' $'0\t179.5\t0\t1' $'89.5\t0\t500\t2' $'-45\t-60\t9\t3' \
    $'-46\t-60\t9\t5'; } >train.tsv
  gpnn-index -q --geo lat,lon --calibration-rows 0 -o t.gpi train.tsv
  { make_parameters exp 1000 1 0.1 4 | sed 's/^lengthscale.*/&\t1/'; } >t.par
  # One degree away, 111.2 km, over the date line and over the pole; and far from everything.
  printf 'lat\tlon\tdepth\n0\t-179.5\t900\n89.5\t180\t0\n30\t30\t0\n' >new.tsv
  for limit in 112km 112000m 1.12e2km; do
    gpnn-predict -p t.par --max-distance $limit t.gpi new.tsv >p.tsv
    assert_equal "$(column mean p.tsv | grep -n NA)" 3:NA
  done
  gpnn-predict -p t.par --max-distance 111km t.gpi new.tsv >p.tsv
  assert_equal "$(column mean p.tsv | grep -c NA)" 3
  gpnn-predict -p t.par --max-distance 112km --loo t.gpi >p.tsv
  assert_equal "$(column mean p.tsv | grep -n NA | paste -sd ' ')" '1:NA 2:NA'
  gpnn-predict -p t.par --max-distance 112km --beyond prior t.gpi new.tsv >p.tsv
  run ! grep -q NA p.tsv
  for wrong in 5miles 5mk 0km -1km km 5kmm ''; do
    assert_fails 2 'max-distance' gpnn-predict -p t.par --max-distance "$wrong" t.gpi new.tsv
  done
  make_model 40 5 0 10
  assert_fails 2 'no positions among its inputs' gpnn-predict -p t.par --max-distance 5km t.gpi test.tsv
}

@test "more rows without prediction than allowed are a failure, and no file is made" {
  make_table 100 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi >t.par
  head -n 11 train.tsv | awk -F '\t' -v OFS='\t' 'NR > 6 { $1 = "?" } { print }' >half.tsv
  gpnn-predict -q --skip-bad --fail-on-na 0.5 -p t.par t.gpi half.tsv >all.tsv
  assert_equal "$(wc -l <all.tsv)" 11
  assert_fails 1 'half.tsv: 5 of 10 rows have no prediction, and --fail-on-na allows 40 %' \
    gpnn-predict -q --skip-bad --fail-on-na 0.4 -p t.par -o p.tsv t.gpi half.tsv
  [[ ! -e p.tsv ]]
  run -1 --separate-stderr gpnn-predict -q --skip-bad --fail-on-na 0 -p t.par t.gpi half.tsv
  assert_equal "$output" "$(<all.tsv)"
  gpnn-predict -q --skip-bad --fail-on-na 0.5 --max-distance 1e-9 -p t.par t.gpi train.tsv >/dev/null # NA none
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 += 9 } { print }' train.tsv >far.tsv
  assert_fails 1 'far.tsv: 100 of 100 rows have no prediction' \
    gpnn-predict -q --fail-on-na 0.5 --max-distance 0.5 -p t.par t.gpi far.tsv
  gpnn-predict -q --fail-on-na 0.5 --max-distance 0.5 --beyond prior -p t.par t.gpi far.tsv >/dev/null
  head -n 1 train.tsv | gpnn-predict -q --fail-on-na 0 -p t.par t.gpi - >/dev/null
}

@test "more rows far from training rows than allowed are a failure of its own, and no file is made" {
  make_table 300 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.par
  awk -F '\t' -v OFS='\t' 'NR > 1 && NR <= 31 { $1 += 9 } NR <= 101' train.tsv >far.tsv
  gpnn-predict -q --fail-on-far 0.3 -p t.par t.gpi far.tsv >all.tsv
  assert_equal "$(wc -l <all.tsv)" 101
  assert_fails 3 'far.tsv: 30 of 100 rows lie farther from the training rows than 99.9 % of .* and --fail-on-far allows 29 %' \
    gpnn-predict -q --fail-on-far 0.29 -p t.par -o p.tsv t.gpi far.tsv
  [[ ! -e p.tsv ]]
  run -3 --separate-stderr gpnn-predict -q --fail-on-far 0 -p t.par t.gpi far.tsv
  assert_equal "$output" "$(<all.tsv)"
}

@test "no mean is farther from the training targets than a tenth of their range" {
  local data seed
  for data in bike poletele protein; do
    for seed in 1 2; do
      gzip -dc "$GPNN_ROOT/tests/data/$data.tsv.gz" | awk -v s=$seed 'NR == 1 || NR % 40 == s' >train.tsv
      gzip -dc "$GPNN_ROOT/tests/data/$data.tsv.gz" | awk -v s=$seed 'NR == 1 || NR % 11 == s + 2' >test.tsv
      gpnn-index -q --calibration-rows 0 -s $seed -o t.gpi train.tsv
      gpnn-fit -q --effort fast -s $seed -o t.par t.gpi
      gpnn-predict -q -p t.par -o p.tsv t.gpi test.tsv
      awk 'NR == FNR && FNR > 1 { if (FNR == 2 || $NF < low) low = $NF; if (FNR == 2 || $NF > high) high = $NF }
        NR == FNR || FNR == 1 { next }
        { n++ } $2 < low - (high - low) / 10 || $2 > high + (high - low) / 10 { print; bad = 1 }
        END { exit bad || n < 400 }' train.tsv p.tsv
    done
  done
  # A trend goes on; and so do parameters without a likelihood, whatever they say.
  awk 'BEGIN { print "x\ty"; for (i = 0; i < 200; i++) printf "%.4f\t%.4f\n", i / 200, 3 * i / 200 + 0.01 * sin(i * i) }' >train.tsv
  printf 'x\n5\n' >test.tsv
  gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
  gpnn-fit -q --mean-function linear -o t.par t.gpi
  assert_equal "$(gpnn-predict -q -p t.par t.gpi test.tsv | awk 'NR == 2 { print ($1 > 14.5 && $1 < 15.5) }')" 1
  printf 'x\n1.5\n' >test.tsv
  make_parameters rbf 2 100 1e-6 200 >t.par
  assert_equal "$(gpnn-predict -q -p t.par t.gpi test.tsv | awk 'NR == 2 { print ($1 > 3.3 || $1 < -0.3) }')" 1
  { cat t.par && printf 'likelihood\tstudent\nscale\t1\ndegrees\t5\n'; } >s.par
  assert_equal "$(gpnn-predict -q -p s.par t.gpi test.tsv | awk 'NR == 2 { print ($1 <= 3.3 && $1 >= -0.3) }')" 1
}

# resumed OPTION...: predicts as make_model() wants, going on where an earlier run ended.
resumed() {
  gpnn-predict -q --resume --batch 50 -p t.par -o out.tsv "$@" t.gpi test.tsv
}

@test "--resume goes on after the last whole batch" {
  make_model 100 1000 10 8
  sed -i '2,$s/$/\t"a\nb"/; 1s/$/\tnote/' test.tsv
  gpnn-predict -q -p t.par --append -o one.tsv t.gpi test.tsv
  ! (ulimit -f 24 && resumed --append) 2>err.txt || complain 'it went on'
  grep -qx 'gpnn-predict: out.tsv.part: cannot be written: File too large' err.txt
  [[ ! -e out.tsv ]] && (($(wc -l <out.tsv.rows) > 3))
  # What did not reach the disk whole is passed over.
  cp out.tsv.rows rows && cp out.tsv.part part
  printf '900 99999999\n' >>out.tsv.rows
  echo 'half a li' >>out.tsv.part
  resumed --append -v 2>err.txt
  grep -qE '^gpnn-predict: goes on after [0-9]+ rows of out.tsv.part$' err.txt
  cmp one.tsv out.tsv
  [[ ! -e out.tsv.part && ! -e out.tsv.rows ]]
  # From the first row, and where a run ended before its first batch.
  rm out.tsv && resumed --append && cmp one.tsv out.tsv
  rm out.tsv && : >out.tsv.rows && resumed --append && cmp one.tsv out.tsv
  head -n 1 rows >out.tsv.rows && resumed --append && cmp one.tsv out.tsv
}

@test "--resume refuses what is of other predictions, and leaves it" {
  make_model 100 1000 10 8
  refuse() {
    run -1 resumed "${@:2}"
    [[ $output == *"$1"* ]] || complain "$output"
    cmp part out.tsv.part && cmp rows out.tsv.rows
  }
  ! (ulimit -f 12 && resumed) 2>err.txt || complain 'it went on'
  cp out.tsv.rows rows && cp out.tsv.part part
  refuse 'out.tsv.rows: of other predictions' --latent
  sed -i 's/0\.5/0.4/' t.par && refuse 'out.tsv.rows: of other predictions'
  sed -i 's/0\.4/0.5/' t.par && cp test.tsv save.tsv
  echo >>test.tsv && refuse 'out.tsv.rows: of other predictions'
  touch -r save.tsv test.tsv
  rm out.tsv.rows
  run -1 resumed
  [[ $output == *'out.tsv.part: exists, but out.tsv.rows does not say what it is of: remove it'* ]]
  # Nor is what is no file of its own replaced.
  rm out.tsv.part && ln -s save.tsv out.tsv
  run -1 resumed
  [[ $output == *'out.tsv: is no regular file, which --resume could replace'* ]]
  [[ -L out.tsv && ! -e out.tsv.part && ! -e out.tsv.rows ]]
  for options in '-o -' '-o x.npy' '-o x.tsv --unbuffered' '-o x.tsv --samples 2'; do
    # shellcheck disable=SC2086
    run -2 gpnn-predict --resume -p t.par $options t.gpi test.tsv
  done
  run -2 gpnn-predict --resume -p t.par -o x.tsv t.gpi - <test.tsv
}
