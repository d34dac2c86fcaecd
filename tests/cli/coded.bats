#!/usr/bin/env bats
# Categories of many levels, coded by the means of their targets.

load helper

# simulate LEVELS ROWS: train.tsv and test.tsv, whose y is the effect of a shop, a function of x and
# noise of sd 0.2, and new.tsv, of shops that training has not seen.
simulate() {
  awk -v levels="$1" -v rows="$2" '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
    function row(shop, effect, file,    x) { x = 4 * rand(); print x, shop, effect + sin(2 * x) + 0.2 * normal() >file }
    BEGIN {
      srand(3)
      OFS = "\t"
      for (f = 1; f <= split("train test new", name, " "); f++) print "x", "shop", "y" >name[f] ".tsv"
      for (l = 0; l < levels; l++) effect[l] = normal()
      for (i = 0; i < rows; i++) { l = int(levels * rand()); row("s" l, effect[l], "train.tsv") }
      for (i = 0; i < 300; i++) {
        l = int(levels * rand())
        row("s" l, effect[l], "test.tsv")
        row("t" i, normal(), "new.tsv")
      }
    }'
}

# mean_of COLUMN FILE
mean_of() {
  awk -F '\t' -v column="$1" 'NR == 1 { for (j = 1; j <= NF; j++) if ($j == column) k = j; next } { s += $k } END { print s / (NR - 1) }' "$2"
}

@test "a coded column tells what its levels are worth, and unseen levels are less certain" {
  simulate 300 3000
  gpnn-index -q --coded shop -o t.gpi train.tsv
  gpnn-info t.gpi | awk -F '\t' '$1 == "coded" && $2 == "shop" && $3 > 290 && $4 >= 0.5 { ok = 1 } END { exit !ok }'
  gpnn-info --verify t.gpi >/dev/null
  gpnn-fit -q --effort fast --kernel matern52 -m 40 t.gpi >t.par
  gpnn-predict -q t.gpi -p t.par test.tsv >test.out
  gpnn-predict t.gpi -p t.par new.tsv >new.out 2>log
  grep -q 'new.tsv: 300 values of categories were never seen in training' log
  awk -v rmse="$(gpnn-eval test.out | value rmse)" 'BEGIN { exit !(rmse < 0.4) }'
  awk -v seen="$(mean_of sd test.out)" -v new="$(mean_of sd new.out)" 'BEGIN { exit !(new > 2 * seen) }'
  awk -v cover="$(gpnn-eval new.out | value coverage95)" 'BEGIN { exit !(cover > 0.92 && cover < 0.98) }'
  gpnn-index -q --drop shop -o less.gpi train.tsv
  gpnn-fit -q --effort fast --kernel matern52 -m 40 less.gpi >less.par
  awk -v rmse="$(gpnn-predict -q less.gpi -p less.par test.tsv | gpnn-eval | value rmse)" 'BEGIN { exit !(rmse > 0.8) }'
}

@test "the same bytes for any number of threads" {
  simulate 300 3000
  gpnn-index -q -j 1 --coded shop -o 1.gpi train.tsv
  gpnn-index -q -j 3 --coded shop -o 3.gpi train.tsv
  cmp 1.gpi 3.gpi
  printf 'kernel\texp\nlengthscale\t2\nkernelscale\t1\nnoise\t0.05\n' >t.par
  for j in 1 3; do gpnn-predict -q -j "$j" 1.gpi -p t.par new.tsv >"$j.out"; done
  cmp 1.out 3.out
}

@test "a missing text is missing, also where a row is predicted" {
  simulate 30 600
  awk -F '\t' -v OFS='\t' 'NR % 9 == 3 { $2 = "" } 1' train.tsv >holes.tsv
  printf 'kernel\texp\nlengthscale\t2\nkernelscale\t1\nnoise\t0.05\n' >t.par
  gpnn-index -q --coded shop --calibration-rows 0 -o t.gpi holes.tsv
  assert_equal "$(gpnn-info t.gpi | grep -c $'^coded\tshop\t30\t')" 1
  printf 'x\tshop\n1\t\n1\ts1\n' >q.tsv
  gpnn-predict -q t.gpi -p t.par q.tsv | awk -F '\t' 'NR == 2 { none = $2 } NR == 3 { exit !($2 < none) }'
  assert_fails 1 '1 of 3 columns cannot be used' gpnn-index --missing drop --coded shop -o x.gpi holes.tsv
  gpnn-index -q --missing drop --skip-bad=all --coded shop --calibration-rows 0 -o drop.gpi holes.tsv
  gpnn-predict -q drop.gpi -p t.par new.tsv >out.tsv
  assert_equal "$(grep -c NA out.tsv || :)" 0
}

@test "a model without training rows codes as they did" {
  simulate 60 900
  gpnn-index -q --coded shop -o t.gpi train.tsv
  gpnn-sparse -q --inducing 30 -o t.gpm t.gpi
  rm t.gpi
  assert_equal "$(gpnn-info t.gpm | grep -c $'^coded\tshop\t60\t')" 1
  awk -v rmse="$(gpnn-predict -q t.gpm test.tsv | gpnn-eval | value rmse)" 'BEGIN { exit !(rmse < 0.6) }'
  gpnn-predict -q t.gpm new.tsv >new.out
  assert_equal "$(grep -c NA new.out || :)" 0
}

@test "gpnn codes a thousand levels without being asked" {
  simulate 1000 4000
  gpnn -q --effort fast train.tsv test.tsv >out.tsv 2>log
  awk -v rmse="$(gpnn-eval out.tsv | value rmse)" 'BEGIN { exit !(rmse < 0.6) }' || complain "$(gpnn-eval out.tsv)"
}

@test "--auto codes many texts, has few as they are, and drops those that are all different" {
  awk 'BEGIN { OFS = "\t"; print "few", "many", "id", "x", "y"; for (i = 0; i < 500; i++) print "f" i % 20, "m" i % 21, "i" i, i * 7 % 101, i % 13 }' >t.tsv
  gpnn-index --auto -o t.gpi t.tsv 2>log
  grep -q -- '--one-hot few$' log
  grep -q -- '--coded many$' log
  grep -q -- '--drop id$' log
  assert_equal "$(gpnn-info t.gpi | awk -F '\t' '$1 == "coded" { print $2, $3 }')" 'many 21'
  gpnn-index --auto -y few -x many,x -o t.gpi t.tsv 2>log
  grep -q -- '--one-hot many$' log || complain "$(cat log)" # of twenty classes
}

@test "a column has one encoding, and a target a mean" {
  simulate 30 300
  assert_fails 2 "column 'shop' is one-hot, so it cannot be coded" gpnn-index --one-hot shop --coded shop -o x.gpi train.tsv
  assert_fails 2 "column 'shop' is a category, so it can be neither periodic" gpnn-index --coded shop --period shop=3 -o x.gpi train.tsv
  assert_fails 2 "column 'shop' is a date, so it cannot be coded" gpnn-index --coded shop --date shop -o x.gpi train.tsv
  assert_fails 2 "column 'y' is not an input, so it cannot be coded" gpnn-index --coded y -o x.gpi train.tsv
  assert_fails 2 "a given mean and sd are to hide: use --one-hot or --drop" gpnn-index --coded shop --target-scale 0,1 -o x.gpi train.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = substr("abc", 1 + NR % 3, 1) } 1' train.tsv >classes.tsv
  assert_fails 2 "target 'y' has 3 classes.*: use --one-hot" gpnn-index --coded shop -o x.gpi classes.tsv
}

# graded ROWS SEED: rows whose y grows with a grade, an age group and x.
graded() {
  awk -v rows="$1" -v seed="$2" 'BEGIN {
    srand(seed)
    OFS = "\t"
    n = split("poor,fair,good,very good,excellent", grade, ",")
    m = split("< 18,18-39,40-64,65+", age, ",")
    print "grade", "age", "kind", "x", "y"
    for (i = 0; i < rows; i++) {
      g = 1 + int(n * rand()); a = 1 + int(m * rand()); x = rand()
      print grade[g], age[a], rand() < 0.5 ? "old" : "new", x, g + a ^ 2 / 2 + x + 0.1 * rand()
    }
  }'
}

@test "categories whose texts show an order become a number each" {
  graded 600 1 >train.tsv
  graded 200 2 >test.tsv
  gpnn-index --auto -o t.gpi train.tsv 2>log
  grep -F -- "--one-hot kind --ordered 'grade=poor < fair < good < very good < excellent' --ordered 'age=< 18 < 18-39 < 40-64 < 65+' train.tsv" log
  gpnn-index -q --one-hot kind --ordered 'grade=poor < fair < good < very good < excellent' \
    --ordered 'age=< 18 < 18-39 < 40-64 < 65+' -o same.gpi train.tsv
  cmp t.gpi same.gpi
  gpnn-info --verify t.gpi >info
  assert_equal "$(grep -c '^input' info)" 6
  grep -x $'ordered\tgrade\tpoor\tfair\tgood\tvery good\texcellent' info
  run ! grep '^coded' info
  gpnn-info --json t.gpi | tr -d ' \n' | grep -F '{"name":"age","levels":["<18","18-39","40-64","65+"]}'
  gpnn --effort fast train.tsv test.tsv 2>report.txt >out.tsv
  tr -s ' \n' ' ' <report.txt | grep -F 'grade (5 levels, in order), age (4 levels, in order), kind (2 levels), x'
  assert_below "$(gpnn-eval out.tsv | value rmse)" 0.2
}

@test "of an ordered category a text that is no level is bad in training, and missing later" {
  graded 600 1 >train.tsv
  order=(--drop 'age,kind' --ordered 'grade=poor < fair < good < very good < excellent')
  sed '5s/^[a-z ]*/superb/' train.tsv >odd.tsv
  assert_fails 1 "odd.tsv:5: column 'grade': not one of the levels that are ordered: .superb" gpnn-index "${order[@]}" -o t.gpi odd.tsv
  gpnn-index -q "${order[@]}" --skip-bad -o t.gpi odd.tsv
  assert_equal "$(gpnn-info t.gpi | value skipped-rows)" 1
  gpnn-index -q "${order[@]}" -o t.gpi train.tsv
  gpnn-fit -q --effort fast --kernel matern52 -m 40 -o t.par t.gpi
  printf 'grade\tx\ngood\t0.5\n  good \t0.5\nsuperb\t0.5\n\t0.5\n' >new.tsv
  gpnn-predict t.gpi -p t.par new.tsv >out.tsv 2>log
  grep -F 'new.tsv: 1 values of categories were never seen in training' log
  awk -F '\t' 'NR > 1 { m[NR] = $1; s[NR] = $2 } END { exit !(m[2] == m[3] && m[4] == m[5] && s[4] > 1.1 * s[2]) }' out.tsv ||
    complain "$(cat out.tsv)"
  graded 100 3 | sed '5s/^[a-z ]*/superb/' >added.tsv
  gpnn-index -q --add added.tsv -o more.gpi t.gpi
  gpnn-info --verify more.gpi | grep -q '^verified.yes'
  assert_equal "$(gpnn-info more.gpi | grep ^ordered)" "$(gpnn-info t.gpi | grep ^ordered)"
}

@test "orders that cannot be are refused" {
  graded 60 1 >t.tsv
  local command=(gpnn-index -q --drop 'age,kind' -o t.gpi t.tsv)
  assert_fails 2 'not of the form COL=A < B < C' "${command[@]}" --ordered 'grade=poor<fair'
  assert_fails 2 'not of the form COL=A < B < C' "${command[@]}" --ordered grade
  assert_fails 2 "no column 'rate'" "${command[@]}" --ordered 'rate=a < b'
  assert_fails 2 "column 'grade': level 'poor' is there twice" "${command[@]}" --ordered 'grade=poor < fair < poor '
  assert_fails 2 "column 'grade': level '' is empty" "${command[@]}" --ordered 'grade=poor <  < fair'
  assert_fails 2 "column 'y' is not an input alone, so it cannot be ordered" "${command[@]}" --ordered 'y=1 < 2'
  assert_fails 2 "column 'grade' is used otherwise already" "${command[@]}" --one-hot grade --ordered 'grade=poor < fair'
}

@test "an ordered category serves classes and models without training rows" {
  graded 600 1 | awk -F '\t' -v OFS='\t' '{ print $1, $2, $3, $4, NR == 1 ? "y" : $5 < 5 ? "low" : $5 < 9 ? "some" : "lots" }' >t.tsv
  gpnn-index -q --auto -o t.gpi t.tsv
  assert_equal "$(gpnn-info t.gpi | grep -c '^ordered')" 2
  gpnn-fit -q --effort fast -o t.par t.gpi
  gpnn-predict -q -p t.par t.gpi t.tsv | gpnn-eval -q | awk '$1 == "error" { exit !($2 < 0.2) }'
  graded 600 1 >u.tsv
  gpnn-index -q --auto -o u.gpi u.tsv
  gpnn-sparse -q --inducing 50 -o u.gpm u.gpi
  rm u.gpi
  assert_below "$(gpnn-predict -q u.gpm u.tsv | gpnn-eval -q | value rmse)" 0.4
}
