#!/usr/bin/env bats
# What users get wrong: every mistake has one sentence that names its place, and its exit status.

load helper

# One index under the metric of its parameters, so that no tool has to warn.
setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  make_table 300 2 >train.tsv
  make_table 20 2 300 >test.tsv
  printf '# gpnn parameters 1\nkernel\texp\nlengthscale\t0.8\nkernelscale\t1\nnoise\t0.05\nneighbours\t30\n' >t.par
  gpnn-index -o t.gpi train.tsv
}

fixture() {
  cp "$BATS_FILE_TMPDIR"/{train.tsv,test.tsv,t.par,t.gpi} .
}

# refuses STATUS PATTERN CONTENTS OPTION...: a table of CONTENTS (as printf takes them) is refused.
refuses() {
  local status=$1 pattern=$2
  # shellcheck disable=SC2059 # a table with its escapes
  printf "$3" >c.csv
  shift 3
  assert_fails "$status" "$pattern" gpnn-index "$@" -o x.gpi c.csv
}

# Predictions are numbers, standard deviations at least zero.
assert_sane() {
  column mean "$1" >mean.txt && column sd "$1" >sd.txt || return
  [[ -s mean.txt ]] || complain "no predictions in $1" || return
  ! grep -Ev '^-?[0-9.]+(e[-+]?[0-9]+)?$' mean.txt || complain "a bad mean in $1" || return
  ! grep -Ev '^[0-9.]+(e[-+]?[0-9]+)?$' sd.txt || complain "a bad sd in $1"
}

rows='1,2\n2,1\n3,4\n4,4\n5,7\n6,5\n7,8\n8,6\n9,9\n10,3\n'

@test "names that do not exist, or appear twice in the output, are reported" {
  make_table 30 2 | tail -n +2 >bare.tsv
  gpnn-index -q -o t.gpi bare.tsv 2>err.txt
  [[ ! -s err.txt ]]
  gpnn-index -o t.gpi bare.tsv 2>err.txt
  grep -q 'bare.tsv:1: only numbers, taken as names' err.txt
  gpnn-index --no-header -o t.gpi bare.tsv 2>err.txt
  run ! grep -q 'only numbers' err.txt
  make_table 30 2 | sed '1s/x2/mean/' >t.tsv
  gpnn-index -q -y y -o t.gpi t.tsv
  make_parameters exp 1 1 0.1 5 >t.par
  gpnn-predict --append -p t.par t.gpi t.tsv 2>&1 >out.tsv | grep -q "t.tsv: column 'mean' is kept and has the same name"
  gpnn-predict -p t.par t.gpi t.tsv 2>err.txt >out.tsv
  run ! grep -q 'same name' err.txt
}

@test "every operand of every tool may be a missing file or a directory" {
  fixture
  mkdir dir
  for f in none dir; do
    local why='No such file'
    [[ $f == none ]] || why='is a directory'
    assert_fails 1 "^$f: .*$why" gpnn-split -f 1:1 -o a -o b $f
    assert_fails 1 "^$f: .*$why" gpnn-index -o x.gpi $f
    assert_fails 1 "^$f: .*$why" gpnn-index --metric $f -o x.gpi t.gpi
    assert_fails 1 "^$f: .*$why" gpnn-index --metric t.par -o x.gpi $f
    assert_fails 1 "^$f: .*$why" gpnn-fit $f
    assert_fails 1 "^$f: .*$why" gpnn-fit --start $f t.gpi
    assert_fails 1 "^$f: .*$why" gpnn-calibrate $f -p t.par
    assert_fails 1 "^$f: .*$why" gpnn-calibrate t.gpi -p $f
    assert_fails 1 "^$f: .*$why" gpnn-calibrate t.gpi -p t.par --with $f
    assert_fails 1 "^$f: .*$why" gpnn-predict $f -p t.par test.tsv
    assert_fails 1 "^$f: .*$why" gpnn-predict t.gpi -p $f test.tsv
    assert_fails 1 "^$f: .*$why" gpnn-predict t.gpi -p t.par $f
    assert_fails 1 "^$f: .*$why" gpnn-eval $f
    assert_fails 1 "^$f: .*$why" gpnn-eval --index $f test.tsv
    assert_fails 1 "^$f: .*$why" gpnn-info $f
    assert_fails 1 "^$f: .*$why" gpnn-info --verify $f
  done
}

@test "empty files, plain and compressed, and headers without rows are refused" {
  fixture
  : >empty
  gzip -c empty >empty.gz
  head -n 1 train.tsv >header.tsv
  for f in empty empty.gz; do
    assert_fails 1 "^$f: is empty" gpnn-index -o x.gpi $f
    assert_fails 1 "^$f: is empty" gpnn-split -f 1:1 -o a -o b $f
    assert_fails 1 "^$f: is empty" gpnn-predict t.gpi -p t.par $f
    assert_fails 1 "^$f: is empty" gpnn-eval $f
    assert_fails 1 "^$f: is empty, not parameters" gpnn-predict t.gpi -p $f test.tsv
    assert_fails 1 "^$f: is empty" gpnn-calibrate t.gpi -p t.par --with $f
  done
  assert_fails 1 '^empty: is empty, not an index' gpnn-fit empty
  assert_fails 1 '^header.tsv: 0 rows are too few' gpnn-index -o x.gpi header.tsv
  assert_fails 1 '^header.tsv: 0 rows are too few' gpnn-split -f 1:1 -o a -o b header.tsv
  assert_fails 1 '^header.tsv: no rows to calibrate on' gpnn-calibrate t.gpi -p t.par --with header.tsv
}

@test "swapped operands are recognised" {
  fixture
  for f in test.tsv t.par; do
    local what="$f is a table, not an index" advice=': make one with gpnn-index'
    [[ $f == test.tsv ]] || what="$f is a parameters file, not an index" advice=
    assert_fails 1 "^$what: did you swap the operands\?$" gpnn-predict $f -p t.par t.gpi
    assert_fails 1 "^$what: did you swap the operands\?$" gpnn-calibrate $f -p t.gpi
    assert_fails 1 "^$what: did you swap the operands\?$" gpnn-index --metric t.gpi -o x.gpi $f
    assert_fails 1 "^$what$advice$" gpnn-predict $f -p t.par test.tsv
    assert_fails 1 "^$what$advice$" gpnn-predict $f -p t.par <test.tsv
    assert_fails 1 "^$what$advice$" gpnn-fit $f
    assert_fails 1 "^$what$advice$" gpnn-calibrate $f -p t.par
    assert_fails 1 "^$what$advice$" gpnn-eval --index $f test.tsv
    assert_fails 1 "^$what$advice$" gpnn-index --metric t.par -o x.gpi $f
    assert_fails 1 "^$what$advice$" gpnn-info --verify $f
  done
  gzip -c test.tsv >test.tsv.gz
  assert_fails 1 '^test.tsv.gz is a table, not an index: make one with gpnn-index$' gpnn-fit test.tsv.gz
  for f in t.gpi t.par; do
    local what="$f: is an index, not a table"
    [[ $f == t.gpi ]] || what="$f: is a parameters file, not a table"
    assert_fails 1 "^$what$" gpnn-index -o x.gpi $f
    assert_fails 1 "^$what$" gpnn-split -f 1:1 -o a -o b $f
    assert_fails 1 "^$what$" gpnn-predict t.gpi -p t.par $f
    assert_fails 1 "^$what$" gpnn-calibrate t.gpi -p t.par --with $f
    assert_fails 1 "^$what$" gpnn-eval $f
  done
  assert_fails 1 '^t.gpi is an index, not parameters$' gpnn-predict t.gpi -p t.gpi test.tsv
  assert_fails 1 '^missing.gpi: cannot be opened: No such file or directory$' gpnn-predict missing.gpi -p t.par t.gpi
  : >empty
  assert_fails 1 '^empty: is empty, not an index$' gpnn-calibrate empty -p t.gpi
  assert_fails 1 '^t.gpi is an index, not parameters' gpnn-fit --start t.gpi t.gpi
  assert_fails 1 '^test.tsv:1: unknown name "x1": is this a table' gpnn-calibrate t.gpi -p test.tsv
  assert_fails 1 '^test.tsv:1: unknown name "x1": is this a table' gpnn-info test.tsv
}

@test "bad records are reported with line, column and reason" {
  refuses 1 '^c.csv:3: has 1 field, the header has 2' 'a,y\n1,2\n3\n4,5\n'
  refuses 1 '^c.csv:3: has 3 fields, the header has 2' 'a,y\n1,2\n3,4,5\n'
  refuses 1 "^c.csv:3: column 'a': not a number: \"x\"" 'a,y\n1,2\nx,4\n'
  refuses 1 "^c.csv:3: column 'a': not a finite number: \"nan\"" 'a,y\n1,2\nnan,4\n'
  refuses 1 "^c.csv:3: column 'y': not a finite number: \"-inf\"" 'a,y\n1,2\n3,-inf\n'
  refuses 1 "^c.csv:3: column 'y': not a finite number: \"1e999\"" 'a,y\n1,2\n3,1e999\n'
  refuses 1 "^c.csv:4: column 'y': missing value" 'a,y\n1,2\n\n3,\n'
  refuses 1 "^c.csv:3: column 'y': missing value" 'a,y\n1,2\n3,NA\n'
  refuses 1 "^c.csv:3: column 'y': missing value" 'a,y\n1,2\n3,-9\n' --na -9
  refuses 1 "^c.csv:2: a quote opened here is never closed" 'a,y\n1,"2\n3,4\n'
  refuses 1 "^c.csv:2: field 2: text after the closing quote" 'a,y\n1,"2"x\n3,4\n'
  refuses 1 "^c.csv:2: has a NUL byte" 'a,y\n1,2\0\n3,4\n'
  refuses 1 "^c.csv:3: column 'a': not a number: \"\?\[31m\"" 'a,y\r\n1,2\r\n\033[31m,4\r\n'
  refuses 1 "^c.csv:1: column '[12]': not a number: \"[ay]\"" 'a,y\n1,2\n' --no-header
  refuses 1 "^c.csv:4: column 'a b': not a number: \"x\"" '"a b","y\nz"\n1,2\nx,4\n'
}

@test "tables that cannot be learnt from are refused" {
  refuses 1 '^c.csv: the target does not vary' 'a,y\n1,2\n2,2\n'
  refuses 1 '^c.csv: no input varies' 'a,y\n1,2\n1,3\n'
  refuses 1 '^c.csv: 1 rows are too few' 'a,y\n1,2'
  refuses 1 '^c.csv: 10 rows are too few to train on and to hold out' "a,y\n$rows" --calibration-rows 9
  refuses 1 '^c.csv: 10 rows are too few to train on and to hold out' "a,y\n$rows" --preset paper
  refuses 2 '^c.csv: has one column' 'y\n1\n2\n'
  refuses 2 '^c.csv: has one column.*delimiter' "a,y\n$rows" -d ';'
}

@test "columns that are missing, duplicated or in two roles are refused" {
  refuses 2 "^c.csv: 2 columns are named 'a': say which by number, 1 or 2$" \
    'a,a,y\n1,2,3\n2,3,4\n' -x a
  refuses 2 "^c.csv: no column 'z': there are 2 columns" "a,y\n$rows" -y z
  refuses 2 "^c.csv: no column '3'" "a,y\n$rows" -y 3
  refuses 2 "^c.csv: no column '0'" "a,y\n$rows" -y 0
  refuses 2 "^c.csv: column 'a' is given twice" "a,y\n$rows" -x a,a
  refuses 2 "^c.csv: column 'y' is both target and input" "a,y\n$rows" -x a,y
  refuses 2 "^c.csv: no input is left" "a,y\n$rows" --drop a
  refuses 2 "^c.csv: column 'y' is the target and cannot be dropped" "a,y\n$rows" --drop y
  refuses 2 "^c.csv: column 'y' is not an input, so it cannot be one-hot" "a,y\n$rows" --one-hot y
  refuses 2 "^c.csv: no column '1-99999999999'" "a,y\n$rows" -x 1-99999999999
  refuses 2 "no column '\?\[31mx{55}\.\.\.'" "a,y\n$rows" -y $'\e[31m'"$(printf 'x%.0s' {1..5000})"
  fixture
  assert_fails 2 "^test.tsv: no column 'q'" gpnn-predict t.gpi -p t.par --keep q test.tsv
  assert_fails 2 "^test.tsv: column 'x1' is given twice" gpnn-predict t.gpi -p t.par --keep x1,x1 test.tsv
  assert_fails 2 "^test.tsv: no column 'q'" gpnn-split --by q -f 1:1 -o a -o b test.tsv
  gpnn-predict -q t.gpi -p t.par test.tsv >pred.tsv
  for option in -y --mean --sd --by; do
    assert_fails 2 "^pred.tsv: no column 'q'" gpnn-eval $option q pred.tsv
  done
  cut -f 1,3 test.tsv >fewer.tsv
  assert_fails 1 "^fewer.tsv: lacks 1 of 2 input columns: 'x2'" gpnn-predict t.gpi -p t.par fewer.tsv
  cut -f 1,2 test.tsv >no-y.tsv
  assert_fails 1 "^no-y.tsv: no column 'y', the target" gpnn-calibrate t.gpi -p t.par --with no-y.tsv
}

@test "an empty value of an option is refused" {
  fixture
  for option in -y -x --drop --one-hot --preset --standardise --search --metric; do
    assert_fails 2 'its value is empty' gpnn-index $option '' -o x.gpi train.tsv
  done
  for option in -p --interval --units --keep -o; do
    assert_fails 2 'its value is empty' gpnn-predict $option '' t.gpi test.tsv -p t.par
  done
  for option in -y --mean --sd --by --levels --index; do
    assert_fails 2 'its value is empty' gpnn-eval $option '' test.tsv
  done
  assert_fails 2 'its value is empty' gpnn-split -f '' -o a -o b test.tsv
  assert_fails 2 'its value is empty' gpnn-split -f 1:1 -o a -o '' test.tsv
  assert_fails 2 'its value is empty' gpnn-fit --fix '' t.gpi
  assert_fails 2 'its value is empty' gpnn-calibrate --with '' -p t.par t.gpi
  assert_fails 2 'option --delimiter: one character' gpnn-index -d '' -o x.gpi train.tsv
  assert_fails 2 'an operand is empty' gpnn-info ''
  gpnn-index --na '' -o x.gpi train.tsv # no text but the empty field is missing
}

@test "option values out of range are refused" {
  fixture
  local o
  for o in '-j 0' '-j -1' '-j 1e9' '-j 1.5' '-j x' '-m 0' '-m 1e7' '-m nan' '-s -1' '-s 1e3' \
    '-s 99999999999999999999' '--recall 0' '--recall 2' '--whiten-eps -1' '--whiten-eps nan' \
    '--calibration-rows -1' '--search x' '--standardise x' '--preset x' '--progress x' '-d ab' \
    '--nope' '-Z' '--s flat'; do
    # shellcheck disable=SC2086 # an option and its value
    assert_fails 2 . gpnn-index $o -o x.gpi train.tsv
  done
  for o in '--preset x' '--kernel x' '--ard x' '--objective x' '--optimizer x' '--tune blocks=0' \
    '--tune block-size=1' '--tune block-size=1e5' '-m 0' '--fix noise' '--fix noise=' '--fix noise=0' \
    '--fix noise=-1' '--fix noise=nan' '--fix x=1' '--preset paper --ard yes' \
    '--start t.par --objective block --optimizer adam'; do
    # shellcheck disable=SC2086
    assert_fails 2 . gpnn-fit $o t.gpi
  done
  for o in '--loo --with test.tsv' '-c 0' '-c x' '-m 0' '-j 0'; do
    # shellcheck disable=SC2086
    assert_fails 2 . gpnn-calibrate $o -p t.par t.gpi
  done
  for o in '--interval 0' '--interval 1' '--interval nan' '--interval 0.9,' '--interval ,0.9' \
    '--units x' '-m 0' '--batch 0' '--batch 1e8' '--mean-only --interval 0.9' '--keep x1 --append'; do
    # shellcheck disable=SC2086
    assert_fails 2 . gpnn-predict $o -p t.par t.gpi test.tsv
  done
  for o in '--levels 0' '--levels 1' '--levels 0.5,' '--levels x'; do
    # shellcheck disable=SC2086
    assert_fails 2 . gpnn-eval $o test.tsv
  done
  for o in '-f 1' '-f 1:0' '-f 1:-1' '-f 1:nan' '-f 1:1:' '-f 1::1' '-k 1' '-k 1e9' '-f 1:1 -k 2'; do
    # shellcheck disable=SC2086
    assert_fails 2 . gpnn-split $o -o a -o b test.tsv
  done
  assert_fails 2 'one %d' gpnn-split -k 2 -o a%d%d test.tsv
  assert_fails 2 'same output: "a"' gpnn-split -f 1:1 -o a -o a test.tsv
  assert_fails 2 'same output: "-"' gpnn-split -f 1:1 -o - -o - test.tsv
  ln -s "$PWD" here
  ln -s test.tsv link
  assert_fails 2 'same output: "here/a"' gpnn-split -f 1:1 -o ./a -o here/a test.tsv
  assert_fails 2 'same output: "link"' gpnn-split -f 1:1 -o test.tsv -o link test.tsv
  gpnn-split -f 1:1 -o ./- -o - test.tsv >rest.tsv
  [[ -s ./- && -s rest.tsv ]]
  assert_fails 2 'one operand too many: "extra"' gpnn-index -o x.gpi train.tsv extra
  assert_fails 2 'an operand is missing' gpnn-fit
  assert_fails 2 'name it with -o FILE' gpnn-index train.tsv
  assert_fails 2 'cannot both be standard input' gpnn-predict t.gpi
}

# par LINE...: the parameters of these lines.
par() {
  printf '%b\n' "$@" >c.par
}

@test "invalid parameters are refused" {
  fixture
  local k='kernel\texp' l='lengthscale\t1' s='kernelscale\t1' n='noise\t1'
  check() {
    assert_fails 1 "$1" gpnn-predict t.gpi -p c.par test.tsv
    assert_fails 1 "$1" gpnn-info c.par
  }
  par "$k" "$l" "$s" && check '^c.par: noise is missing'
  par "$k" "$l" "$s" "$n" 'nugget\t1' && check '^c.par:5: unknown name "nugget"'
  par "$k" "$l" "$s" "$n" "$n" && check '^c.par:5: noise: given a second time'
  for v in -1 nan inf 1e999 x; do
    par "$k" "$l" "$s" "noise\t$v" && check "^c.par:4: noise: not a non-negative number: \"$v\""
    par "$k" "lengthscale\t$v" && check "^c.par:2: lengthscale: not a positive number: \"$v\""
  done
  par "$k" 'lengthscale\t0' && check '^c.par:2: lengthscale: not a positive number: "0"'
  par "$k" 'lengthscale\t1e-320' && check '^c.par:2: lengthscale: too small to divide by'
  par "$k" 'lengthscale' && check '^c.par:2: lengthscale: has no value'
  par "$k" "$l" "$s" 'noise\t1\t2' && check '^c.par:4: noise: more than one value'
  par "$k" "$l" 'kernelscale\t1e308' 'noise\t1e308' && check '^c.par: kernelscale and noise are too large'
  par 'kernel\t\e[31m' && check '^c.par:1: kernel: "\?\[31m" is not one of'
  par "$k" "$l" "$s" "$n" 'neighbours\t0' && check '^c.par:5: neighbours: not a whole number'
  par "$k" "$l" "$s" "$n" 'neighbours\t1e30' && check '^c.par:5: neighbours: not a whole number'
  par "$k" "$l" "$s" "$n" 'index\tzz' && check '^c.par:5: index: not a fingerprint'
  par "$k" "$l" "$s" "$n" 'calibration\t-1' && check '^c.par:5: calibration: not a positive'
  par '# gpnn parameters 2' "$k" "$l" "$s" "$n" && check '^c.par: parameters of format version 2'
  par "$(printf 'x%.0s' {1..5000})" && check '^c.par:1: unknown name "x{60}\.\.\.": is this a table'
}

@test "parameters of an index of other columns or scaling are refused" {
  fixture
  gpnn-index -s 9 -o other.gpi train.tsv
  { cat t.par; printf 'index\t%s\n' "$(gpnn-info other.gpi | value fingerprint)"; } >other.par
  assert_fails 1 '^other.par: the parameters were made from an index of other columns, or of other scaling' \
    gpnn-predict t.gpi -p other.par test.tsv
  sed '1s/x1/z1/' train.tsv >renamed.tsv
  gpnn-index -o renamed.gpi renamed.tsv
  assert_fails 1 '^other.par: the parameters were made from an index of other columns' \
    gpnn-calibrate renamed.gpi -p other.par
  sed 's/0\.8/1\t2\t3/' t.par >wide.par
  assert_fails 1 '^wide.par: the parameters have 3 lengthscales, the index has 2 inputs' \
    gpnn-predict t.gpi -p wide.par test.tsv
}

@test "corrupt and truncated gzip files are refused" {
  gzip -c "$BATS_FILE_TMPDIR/train.tsv" >t.gz
  head -c 1000 t.gz >cut.gz
  { head -c 1000 t.gz; printf 'XXXXXXXX'; tail -c +1009 t.gz; } >bad.gz
  { cat t.gz; echo trailing; } >tail.gz
  assert_fails 1 '^cut.gz.*truncated' gpnn-index -o x.gpi cut.gz
  assert_fails 1 '^bad.gz' gpnn-index -o x.gpi bad.gz
  assert_fails 1 '^bad.gz' gpnn-split -f 1:1 -o a -o b bad.gz
  assert_fails 1 '^tail.gz.*corrupt' gpnn-index -o x.gpi tail.gz
  assert_fails 1 '^\(stdin\).*truncated' gpnn-index --skip-bad -o x.gpi <cut.gz
}

@test "--skip-bad must be repeated to leave out many rows" {
  fixture
  awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 4 == 0 { $3 = "\"" int(NR / 4) ",810\"" } 1' train.tsv >much.tsv
  local why="much.tsv: 75 of 300 rows are bad, too many to leave out without --skip-bad=all: column 'y': not a number"
  assert_fails 1 "^$why in 75 rows, as \"1,810\" \(line 4\)$" gpnn-index --skip-bad -o x.gpi much.tsv
  assert_fails 1 '^.stdin.: 75 of 300 rows are bad' gpnn-index --skip-bad -j 1 -o x.gpi < <(sed 's/$/\r/' much.tsv)
  assert_fails 1 "^$why" gpnn-calibrate --skip-bad --with much.tsv -p t.par t.gpi
  gpnn-index --skip-bad=all -o x.gpi much.tsv 2>err.txt
  [[ $(<err.txt) == "gpnn-index: much.tsv: 75 of 300 rows left out: column 'y': not a number in 75 rows"* ]]
  assert_equal "$(gpnn-info x.gpi | value skipped-rows)" 75
  gpnn-calibrate -q --skip-bad=all --with much.tsv -p t.par t.gpi | grep -q 'from 225 given rows'
  # A fifth is left out, one more is not; and so in gzip.
  { head -n 81 train.tsv && for _ in {1..20}; do echo x; done; } >fifth.tsv
  gpnn-index -q --skip-bad -o x.gpi fifth.tsv
  { cat fifth.tsv && echo x; } | gzip >more.tsv.gz
  assert_fails 1 'more.tsv.gz: 21 of 101 rows are bad.*: malformed in 21 rows, as in line 82$' \
    gpnn-index -q --skip-bad -o x.gpi more.tsv.gz
  assert_fails 2 'option --skip-bad: alone, or --skip-bad=all, not "most"' gpnn-index --skip-bad=most -o x.gpi train.tsv
  assert_fails 2 'option --skip-bad: takes no value' gpnn-predict --skip-bad=all -p t.par t.gpi test.tsv
}

@test "--skip-bad leaves bad rows out and counts them" {
  fixture
  { cat train.tsv; printf '1\tx\t1\n1\n1\t2\tnan\n1\t\t3\n1\t2\t3\t4\n'; } >bad.tsv
  gpnn-index --skip-bad -o x.gpi bad.tsv 2>err.txt
  assert_equal "$(warnings err.txt | head -n 1)" "gpnn-index: bad.tsv: 4 of 305 rows left out: malformed in 2 rows, as in line 303;$(
    ) column 'x2': not a number in 1 row, as \"x\" (line 302); column 'y': not a finite number in 1 row, as \"nan\" (line 304)"
  assert_equal "$(gpnn-info x.gpi | value skipped-rows)" 4
  gpnn-predict --skip-bad --append t.gpi -p t.par bad.tsv >out.tsv 2>err.txt
  [[ $(head -n 1 err.txt) == 'gpnn-predict: bad.tsv: 3 of 305 rows have no prediction: malformed in 2 rows, '* ]]
  [[ $(sed -n 2p err.txt) == "gpnn-predict: bad.tsv: 1 truth cannot be read and counts as missing: column 'y': not a"* ]]
  [[ $(sed -n 3p err.txt) == 'gpnn-predict: bad.tsv: 270 of 301 rows are training rows: '* ]]
  assert_equal "$(wc -l <err.txt)" 3
  assert_equal "$(wc -l <out.tsv)" 306
  assert_equal "$(tail -n 4 out.tsv | head -n 1)" $'NA\tNA\tNA\tNA\tNA'
  # What marks the missing is quoted where it must be.
  gpnn-predict -q --skip-bad --na $'n\t"a' t.gpi -p t.par bad.tsv | tail -n 1 >last
  assert_equal "$(cat last)" $'"n\t""a"\t"n\t""a"\t"n\t""a"'
  gpnn-calibrate -q --skip-bad --with bad.tsv -p t.par t.gpi | grep -q 'from 300 given rows'
  printf 'a,y\n1,x\ny,2\n' >none.csv
  assert_fails 1 'none.csv: 2 of 2 rows are bad' gpnn-index -q --skip-bad -o x.gpi none.csv
  assert_fails 1 'none.csv: 0 rows are too few' gpnn-index -q --skip-bad=all -o x.gpi none.csv
}

@test "line ends, quotes, blanks and unusual names are read correctly" {
  printf '"a ""b"" c","tab\tx","line\nend",größe,"",y\r\n' >t.csv
  awk 'BEGIN { for (i = 1; i <= 40; i++) printf "%d,\"%g\", %g ,%g,%g,%g\r\n", i, i * 7 % 11, i * 5 % 13, i % 3, i * 3 % 7, sin(i) }' >>t.csv
  printf '41,1,2,3,4,0.5' >>t.csv # no end of line
  gpnn-index --calibration-rows 0 -o t.gpi t.csv
  gpnn-info t.gpi >info.txt
  assert_equal "$(value rows info.txt)" 41
  assert_equal "$(value inputs info.txt)" 5
  grep -q $'^input\tline?end\t' info.txt
  grep -q $'^input\tgröße\t' info.txt
  gpnn-fit --effort fast t.gpi >t.par
  gpnn-predict -q --append t.gpi -p t.par <(cat t.csv) >out.csv
  gpnn-predict -q t.gpi -p t.par out.csv >again.csv # what was carried reads back
  cut -d , -f 1-3 again.csv >a
  gpnn-predict -q t.gpi -p t.par t.csv | cmp again.csv -
  assert_fails 2 "column 'größe' is given twice" gpnn-index -x größe,4-5 -y y -o u.gpi t.csv
  gpnn-index -x größe,5 -y y -o u.gpi t.csv
}

@test "file names may contain blanks, line ends, dashes and control characters" {
  fixture
  for name in 'a b' $'n\nl' -dash $'e\e[31mx'; do
    cp train.tsv "./$name.tsv"
    gpnn-index -o "$name.gpi" -- "$name.tsv"
    gpnn-fit --tune steps=5 -- "$name.gpi" >"./$name.par"
    gpnn-info --verify -- "$name.gpi" | grep -qx $'verified\tyes'
    gpnn-predict -q -p "./$name.par" -- "$name.gpi" "$name.tsv" >out.tsv
    assert_sane out.tsv
    echo junk >>"./$name.tsv"
    shown=$(printf %s "$name" | tr '\n\033' '??')
    assert_fails 1 "${shown//[\[\?]/.}.tsv:302: has 1 field" gpnn-index -o x.gpi -- "$name.tsv"
  done
  run ! grep -q $'\e' < <(gpnn-index -o x.gpi $'e\e[31mx.tsv' 2>&1)
  run ! grep -q $'\e' < <(gpnn-fit $'no\e[31mx.tsv' 2>&1)
  long=$(printf 'x%.0s' {1..3000})
  assert_fails 1 'xx\.\.\.: File name too long' gpnn-index -o x.gpi "$long"
  assert_fails 1 'xx\.\.\.: File name too long' gpnn-index -o "$long" train.tsv
}

@test "wide tables, long lines and long fields just work" {
  awk 'BEGIN {
    for (j = 1; j <= 5000; j++) printf "c%d,", j
    print "y"
    for (i = 1; i <= 60; i++) {
      for (j = 1; j <= 5000; j++) printf "%d,", (i * (j % 100 + 1) * 7) % 101
      print (i * 31) % 17
    }
  }' >wide.csv
  gpnn-index -o w.gpi wide.csv
  assert_equal "$(gpnn-info w.gpi | value inputs)" 5000
  printf 'kernel\texp\nlengthscale\t1\nkernelscale\t1\nnoise\t0.1\n' >w.par
  gpnn-predict w.gpi -p w.par wide.csv >out.csv
  tr , '\t' <out.csv >out.tsv
  assert_sane out.tsv
  # Ten megabytes in one field.
  { printf 'name,a,y\n'; head -c 10000000 /dev/zero | tr '\0' x; printf ',1,2\n,3,4\n,5,7\n'; } >long.csv
  gpnn-index --drop name -o l.gpi long.csv
  gpnn-predict -q --keep name l.gpi -p w.par long.csv | wc -c >bytes
  assert_below 10000000 "$(cat bytes)"
  assert_fails 1 "^long.csv:2: column 'name': not a number: \"x{60}" gpnn-index -o x.gpi long.csv
  printf '1,2,3\n4,5,6\n7,8,9\n' | cat - <(sed '1d; 3,$d' long.csv) >one.csv
  assert_fails 1 "^one.csv:4: column '1': not a number: \"x{60}\.\.\.\"" \
    gpnn-index --no-header -o x.gpi one.csv
}

@test "the smallest tables, and tables with more columns than rows, work" {
  printf 'kernel\tmatern32\nlengthscale\t1\nkernelscale\t1\nnoise\t0.1\n' >t.par
  for n in 2 3; do
    for d in 1 5; do
      make_table $n $d >train.tsv
      for how in scale whiten none; do
        gpnn-index --standardise $how -o t.gpi train.tsv 2>/dev/null
        gpnn-predict -q t.gpi -p t.par train.tsv >out.tsv
        assert_sane out.tsv
        gpnn-fit --tune steps=20 t.gpi >fit.par
        gpnn-predict -q t.gpi -p fit.par train.tsv >out.tsv
        assert_sane out.tsv
        gpnn-calibrate -q --loo t.gpi -p t.par >cal.par
      done
    done
  done
}

@test "more neighbours than rows, batches of one row and more threads than rows work" {
  fixture
  gpnn-predict t.gpi -p t.par -m 270 test.tsv >all.tsv
  for m in 2000 1000000; do
    gpnn-predict t.gpi -p t.par -m $m test.tsv | cmp all.tsv -
    gpnn-index -m $m -o x.gpi train.tsv
  done
  gpnn-predict t.gpi -p t.par test.tsv >some.tsv
  gpnn-predict -j 64 --batch 1 t.gpi -p t.par test.tsv | cmp some.tsv -
  gpnn-predict --batch 1e6 t.gpi -p t.par test.tsv | cmp some.tsv -
  gpnn-fit --effort fast --tune block-size=20000 --tune blocks=1000000 t.gpi >/dev/null
  gpnn-calibrate -q -m 1000000 t.gpi -p t.par >/dev/null
}

@test "identical rows without noise work" {
  awk -v OFS='\t' 'BEGIN {
    print "a\tb\ty"
    for (i = 0; i < 5000; i++) print 1, 2, i % 7
    for (i = 0; i < 50; i++) print i, i * 3 % 11, i % 5
  }' >dup.tsv
  head -n 3 dup.tsv >few.tsv
  tail -n 3 dup.tsv >>few.tsv
  gpnn-index -o d.gpi dup.tsv
  for noise in 0 1e-320 1e-300 1e-15 1; do
    for kernel in exp rbf matern32 matern52; do
      printf 'kernel\t%s\nlengthscale\t1\nkernelscale\t1\nnoise\t%s\nneighbours\t50\n' $kernel $noise >d.par
      gpnn-predict -q d.gpi -p d.par few.tsv >out.tsv
      assert_sane out.tsv
      gpnn-predict -q --latent d.gpi -p d.par few.tsv >out.tsv
      assert_sane out.tsv
    done
  done
  gpnn-fit --effort fast --tune steps=20 --rows 500 d.gpi >fit.par
  gpnn-predict -q d.gpi -p fit.par few.tsv >out.tsv
  assert_sane out.tsv
}

@test "parameters near the limits of a double work" {
  fixture
  for kernel in exp rbf matern32 matern52; do
    for l in 1e-300 1e-150 1e150 1e300; do
      for s in 1e-300 1 1e300; do
        printf 'kernel\t%s\nlengthscale\t%s\nkernelscale\t%s\nnoise\t0.1\nneighbours\t20\n' $kernel $l $s >x.par
        gpnn-predict -q t.gpi -p x.par test.tsv >out.tsv
        assert_sane out.tsv || complain "$kernel $l $s"
      done
    done
  done
  printf 'kernel\texp\nlengthscale\t1e-300\t1e300\nkernelscale\t1\nnoise\t0\nneighbours\t20\n' >x.par
  gpnn-predict -q t.gpi -p x.par test.tsv >out.tsv
  assert_sane out.tsv
}

@test "numbers near the limits of a double work" {
  make_parameters exp 1 1 0.1 20 >t.par
  for power in 150 -150 300 -300 -308 -320; do
    for at in 1 3; do
      make_table 60 2 | awk -F '\t' -v OFS='\t' -v p=$power -v at=$at \
        'NR > 1 { $at = $at "e" p } 1' >t.tsv
      for how in scale whiten none; do
        rm -f t.gpi
        status=0
        gpnn-index --standardise $how -o t.gpi t.tsv 2>err.txt || status=$?
        if ((status != 0)); then # refused with a reason
          [[ $status == 1 && $(wc -l <err.txt) == 1 && ! -e t.gpi ]]
          continue
        fi
        gpnn-info --verify t.gpi >/dev/null
        gpnn-predict -q t.gpi -p t.par t.tsv >out.tsv 2>err.txt || status=$?
        if ((status != 0)); then
          [[ $status == 1 && $(wc -l <err.txt) == 1 ]] || complain "$power $at $how" "$(cat err.txt)"
        else
          assert_sane out.tsv || complain "1e$power in column $at, $how"
        fi
      done
    done
  done
  # What is said of errors too large for a number is missing.
  printf 'y,mean,sd\n1e308,-1e308,1\n1,1,1\n1e308,-1e308,1\n' | gpnn-eval >out.txt
  assert_equal "$(value rmse out.txt) $(value nll out.txt) $(value crps out.txt)" 'NA NA NA'
}

@test "categories may have one level, unseen levels or a thousand levels, one of them missing" {
  local table='BEGIN { print "c,a,y"; for (i = 0; i < n; i++) print "l" i % k "," i % 17 "," i % 5 }'
  make_parameters exp 1 1 0.1 20 >t.par
  awk -v n=50 -v k=1 "$table" >one.csv
  gpnn-index --one-hot c -o one.gpi one.csv 2>err.txt
  grep -qx 'gpnn-index: one.csv: 1 of 2 inputs do not vary and are dropped' err.txt
  printf 'c,a\nl0,1\nother,2\n' | gpnn-predict one.gpi -p t.par - 2>err.txt | tr , '\t' >out.tsv
  assert_sane out.tsv
  grep -q '1 values of categories' err.txt
  sed '5,20s/^l0//' one.csv >hole.csv
  assert_fails 1 'hole.csv: 1 of 3 columns cannot be used' gpnn-index --missing drop --one-hot c -o x.gpi hole.csv
  gpnn-index -q --one-hot c -o x.gpi hole.csv
  assert_equal "$(gpnn-info x.gpi | value inputs)" 3
  awk -v n=1100 -v k=1000 "$table" >many.csv
  gpnn-index -q --search flat --one-hot c -o many.gpi many.csv
  awk -v n=1100 -v k=1001 "$table" >more.csv
  assert_fails 1 "^more.csv:1002: column 'c': has more than 1000 levels" gpnn-index --one-hot c -o x.gpi more.csv
}

@test "what cannot be scored is reported with its line" {
  check() {
    # shellcheck disable=SC2059 # a table with its escapes
    printf "$2" >c.csv
    assert_fails 1 "$1" gpnn-eval c.csv
  }
  check '^c.csv:2: a standard deviation is not a positive number' 'y,mean,sd\n1,2,0\n'
  check "^c.csv:2: column 'sd': missing value" 'y,mean,sd\n1,2,NA\n'
  check "^c.csv:2: column 'mean': not a number: \"x\"" 'y,mean,sd\n1,x,1\n'
  check "^c.csv:3: has 2 fields" 'y,mean,sd\n1,2,3\n1,2\n'
  printf 'y,mean,sd\nNA,2,1\n' >c.csv
  assert_fails 1 'no row with a truth' gpnn-eval -q c.csv
  assert_fails 2 "^\(stdin\): no column '2'" gpnn-eval --no-header < <(echo 1)
}

@test "tables without headers have all the training columns or only the inputs" {
  fixture
  tail -n +2 train.tsv >raw.tsv
  gpnn-index --no-header -o raw.gpi raw.tsv
  assert_fails 1 '^\(stdin\): ' gpnn-predict --no-header raw.gpi -p t.par - < <(printf '1\n2\n')
  assert_fails 1 '^\(stdin\): ' gpnn-predict --no-header raw.gpi -p t.par - < <(printf '1\t2\t3\t4\n')
  assert_fails 2 "no column 'x1': there are 3 columns" gpnn-index --no-header -y x1 -o x.gpi raw.tsv
  gpnn-split --no-header -f 1:1 -o a -o b raw.tsv
  assert_equal "$(cat a b | wc -l)" 300
}

@test "a target value far outside all others causes a warning" {
  fixture
  sed '2s/[^\t]*$/1e5/' train.tsv >slip.tsv
  gpnn-index --calibration-rows 0 -o x.gpi slip.tsv 2>err.txt
  grep -q "target 'y': one cell is 100000, far outside the rest .*: a slip?" err.txt
  gpnn-index -o x.gpi train.tsv 2>err.txt
  assert_equal "$(warnings err.txt)" ''
}

@test "values near the limits of numbers are accepted, or refused with their column" {
  fixture
  refuses 1 "^c.csv: column 'a': its values are too far apart" \
    'a,y\n-1.7e308,1\n1.7e308,2\n3,4\n5,7\n'
  refuses 1 "^c.csv: column 'y': its values are too far apart" \
    'a,y\n1,-1.7e308\n2,1.7e308\n3,4\n5,7\n'
  refuses 1 "^c.csv: column 'b': its values are too large for whitening" \
    'a,b,y\n1,1.7e308,2\n2,5,6\n3,4,4\n5,6,7\n' --standardise whiten
  for wild in 1.7e308 -1.7e308; do
    sed "5s/^[^\t]*/$wild/" train.tsv >wild.tsv
    gpnn-index --calibration-rows 0 -o x.gpi wild.tsv 2>err.txt
    grep -q "column 'x1': one cell is ${wild/e/e+}, far outside the rest" err.txt
    gpnn-info --verify x.gpi >info
    gpnn-fit --effort fast x.gpi >x.par
    gpnn-predict x.gpi -p x.par test.tsv >p.tsv
    assert_sane p.tsv
  done
}

@test "a file that may have been cut off is warned of, and so is one without rows" {
  make_table 60 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi >t.par
  head -c -3 train.tsv >torn.tsv
  torn='the last line has no end: was the file cut off?'
  gpnn-index -o torn.gpi torn.tsv 2>err
  assert_equal "$(grep -c "^gpnn-index: torn.tsv: $torn" err)" 1
  head -c -3 train.tsv | gpnn-predict -p t.par t.gpi - 2>err >p.tsv
  grep -qx "gpnn-predict: (stdin): $torn" err
  gzip -c torn.tsv | gpnn-split -f 1:1 -o a.tsv -o b.tsv - 2>err
  grep -qx "gpnn-split: (stdin): $torn" err
  head -c -1 p.tsv | gpnn-eval - 2>err >/dev/null
  grep -qx "gpnn-eval: (stdin): $torn" err
  gpnn-predict -q -p t.par t.gpi torn.tsv 2>err >/dev/null
  [[ ! -s err ]]
  head -n 1 train.tsv | gpnn-predict -p t.par t.gpi - 2>err >p.tsv
  grep -qx 'gpnn-predict: (stdin): has no rows' err
  assert_equal "$(wc -l <p.tsv)" 1
}

@test "what accounts write for negative numbers is read, and its signs are not stripped" {
  printf 'x,y\n1,(2)\n2,"(4,896)"\n3,5-\n' >accounts.csv
  for i in {4..30}; do echo "$i,$((i % 5))"; done >>accounts.csv
  gpnn-index -q --thousands --calibration-rows 0 -o accounts.gpi accounts.csv
  sed 's/(2)/-2/; s/"(4,896)"/-4896/; s/5-/-5/' accounts.csv | gpnn-index -q --thousands --calibration-rows 0 -o plain.gpi -
  assert_equal "$(gpnn-info accounts.gpi | value fingerprint)" "$(gpnn-info plain.gpi | value fingerprint)"
  assert_fails 2 'must not be signs' gpnn-index --strip '(,)' -o x.gpi accounts.csv
  gpnn-index --auto -o auto.gpi accounts.csv 2>err
  grep -q 'gpnn-index -o auto.gpi --thousands accounts.csv' err
}

@test "an input that gives the target away is pointed out, and classes in two spellings" {
  make_table 100 2 | awk -F '\t' -v OFS='\t' '{ print NR == 1 ? "cents" : 100 * $3, $0 }' >cents.tsv
  gpnn-index -o c.gpi cents.tsv 2>err
  grep -q "^gpnn-index: cents.tsv: input 'cents' is the target in other units" err
  gpnn --force --effort fast cents.tsv 2>err
  tr -s ' \n' ' ' <err | grep -q 'hardly any error: does an input tell the target, or the row?'
  gpnn-index -x x1,x2 -o c.gpi cents.tsv 2>err
  run ! grep -q 'other units' err
  { echo x,c && for i in {1..30}; do echo "$i,yes" && echo "$i,YES " && echo "$i,no"; done; } >answers.csv
  gpnn-index -o a.gpi answers.csv 2>err
  grep -qE "column 'c': '(yes|YES)' and '(yes|YES)' are two classes: one in two spellings\\?" err
  { echo x,n && for i in {1..60}; do echo "$i,$((i % 4))"; done; } >counts.csv
  gpnn-index -o n.gpi counts.csv 2>err
  grep -q 'if they are classes, use --classes; if counts, --likelihood poisson or negbin when it is fitted' err
}

@test "levels of an input in two spellings are told, and blanks around them are none" {
  awk 'BEGIN { srand(1); print "kind,shop,y"
    for (i = 0; i < 60; i++) print (i % 3 ? "red" : i % 2 ? " blue" : "blue ") ",s" i % 10 "," rand() }' >c.csv
  gpnn-index -y y --one-hot kind --group-effect shop -o c.gpi c.csv 2>err
  run ! grep spellings err
  sed '9s/,s/,S/; 10s/red/RED/' c.csv >d.csv
  gpnn-index -y y --one-hot kind --group-effect shop -o d.gpi d.csv 2>err
  grep -F "column 'kind': 'red' and 'RED' are two levels: one in two spellings?" err
  grep -qE "column 'shop': '[sS][0-9]' and '[sS][0-9]' are two levels" err
  run ! grep 'like that' err
  sed '12s/red/Red/; 14s/blue/BLUE/' d.csv >e.csv
  gpnn-index -y y --one-hot kind --group-effect shop -o e.gpi e.csv 2>err
  grep -E "column 'kind': .* are two levels: one in two spellings\? \(2 more are like that\)" err
}

@test "a table without any value is refused, and no column of it proposed for a target" {
  make_table 60 2 | awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = $2 = $3 = "" } 1' >void.tsv
  run -1 gpnn void.tsv
  grep -E '^  y +60  no values at all' <<<"$output"
  run ! grep 'could be a target' <<<"$output"
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = NR } 1' void.tsv >inputs.tsv
  assert_fails 1 'no input varies' gpnn-index -o v.gpi inputs.tsv
}

@test "more levels than a category has are those of an id" {
  ! nm "$GPNN_BUILD/bin/gpnn-index" | grep -q __asan_init || skip 'sanitizers copy an array whenever it grows'
  awk 'BEGIN { print "id,x,y"; for (i = 0; i <= 100000; i++) print "l" i "," i % 7 "," i % 5 }' >ids.csv
  head -n 1002 ids.csv | assert_fails 1 "column 'id': has more than 1000 levels: is it a category?" gpnn-index -y y --one-hot id -o x.gpi -
  for option in --coded --group-effect; do
    assert_fails 1 "ids.csv:100002: column 'id': has more than 100000 levels: is it an id?" gpnn-index -y y $option id -o x.gpi ids.csv
  done
}

@test "a column may be missing in training alone" {
  make_table 60 2 >test.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = "NA" } 1' test.tsv >train.tsv
  gpnn-index -v -o t.gpi train.tsv 2>err
  grep -q '1 of 2 inputs do not vary and are dropped' err
  grep -q "dropped: column 'x1'" err
  gpnn-fit -q t.gpi | gpnn-predict -q t.gpi test.tsv >predicted.tsv
  run ! grep -q NA predicted.tsv
}

@test "files in UTF-32 and JSON are known for what they are" {
  make_table 20 2 | iconv -f UTF-8 -t UTF-32 >wide.tsv
  assert_fails 1 'wide.tsv: is in UTF-32: iconv -f UTF-32 -t UTF-8 makes it UTF-8' gpnn-index -o x.gpi wide.tsv
  make_table 20 2 | iconv -f UTF-8 -t UTF-16 >wide.tsv
  assert_fails 1 'wide.tsv: is in UTF-16' gpnn-index -o x.gpi wide.tsv
  for text in '[{"x": 1, "y": 2}, {"x": 2, "y": 3}]' $'[\n  {"x": 1, "y": 2},\n  {"x": 2, "y": 3}\n]' $'{\n  "x": [1, 2], "y": [2, 3]\n}'; do
    printf '%s\n' "$text" >rows.json
    assert_fails 1 'rows.json: is JSON: pipe in the output of python3' gpnn-index -o x.gpi rows.json
  done
}
