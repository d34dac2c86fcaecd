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
  awk -v cover="$(gpnn-eval new.out | value coverage95)" 'BEGIN { exit !(cover > 0.88) }'
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
