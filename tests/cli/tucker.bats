#!/usr/bin/env bats
# gpnn-tucker, and what predicts with its models.

load helper

# Makes t.gpi of 400 rows, 80 of them held out, test.tsv with 60, and t.gpm with options.
prepare() {
  make_model 400 60 80 20
  gpnn-tucker -q --rank 3 --sweeps 6 "$@" -o t.gpm t.gpi
}

# rmse MODEL: of the rows of test.tsv, standardised.
rmse() {
  gpnn-predict -q --units standard "$1" test.tsv | gpnn-eval | value rmse
}

@test "a model predicts new rows, with intervals, after its calibration" {
  prepare
  gpnn-calibrate -q t.gpm >t.cal
  gpnn-predict -q -p t.cal --interval 0.9 t.gpm test.tsv >pred.tsv
  [[ $(head -n 1 pred.tsv) == y$'\t'mean$'\t'sd$'\t'*lower$'\t'upper ]]
  assert_below "$(rmse t.gpm)" 0.5
  gpnn-eval pred.tsv >scores
  assert_near "$(value cal scores)" 1 0.6
}

@test "the file says what it holds" {
  prepare --grid-size 8,6 --variance variational
  gpnn-info t.gpm >info
  grep -qx $'family\ttucker' info
  grep -qx $'grid-size\t8\t6' info
  grep -qx $'grid-points\t48' info
  grep -qx $'rank\t3\t3' info
  grep -qx $'variance\tvariational' info
  value bound info
  value covariance-shrinkage info
  assert_equal "$(value rows info)" "$(gpnn-info t.gpi | value rows)"
  gpnn-info --json t.gpm | json >info.json
}

@test "bytes depend neither on threads nor on batches" {
  prepare -j 1
  gpnn-tucker -q --rank 3 --sweeps 6 -j 3 -o other.gpm t.gpi
  cmp t.gpm other.gpm
  gpnn-predict -q -j 1 t.gpm test.tsv >one.tsv
  gpnn-predict -q -j 3 --batch 7 t.gpm test.tsv | cmp - one.tsv
  gpnn-predict -q --unbuffered t.gpm test.tsv | cmp - one.tsv
}

@test "every kind of mean, covariance, grid and kernel gives a model" {
  make_model 300 60 60 20
  for options in '--sweeps 3 --mean kron-sum --rank 4' '--sweeps 3 --tune covariance=prior' \
    '--sweeps 3 --grid quantile --tune margin=0' '--sweeps 3 --kernel matern52' \
    '--sweeps 3 --free noise,kernelscale' '--sweeps 3 --fix noise=0.05' \
    '--sweeps 3 --variance residual' '--sweeps 3 --likelihood gaussian'; do
    read -ra words <<<"$options"
    gpnn-tucker -q -j 1 "${words[@]}" -o "t.gpm" t.gpi || complain "$options"
    assert_below "$(rmse t.gpm)" 0.98 || complain "$options"
  done
}

@test "the variance of residuals is the same everywhere" {
  prepare --variance residual
  gpnn-predict -q t.gpm test.tsv | column sd | sort -u >sds
  assert_equal "$(wc -l <sds)" 1
  gpnn-info t.gpm | grep -qx $'variance\tresidual'
  assert_fails 2 'errors of rows go together' gpnn-predict -q --samples 2 t.gpm test.tsv
  prepare --variance variational
  gpnn-predict -q --samples 2 t.gpm test.tsv >samples.tsv
  [[ $(head -n 1 samples.tsv) == *sample1$'\t'sample2 ]]
}

@test "rows outside the grid are flagged" {
  prepare
  awk -F '\t' -v OFS='\t' 'NR == 3 { $1 = 1e6 } { print }' test.tsv >far.tsv
  gpnn-predict -q --flag-outside t.gpm far.tsv >pred.tsv
  assert_equal "$(head -n 1 pred.tsv | awk '{ print $NF }')" outside
  assert_equal "$(column outside pred.tsv | sed -n 2p)" 1
  assert_below "$(column outside pred.tsv | grep -c 1)" 12
  awk -F '\t' -v OFS='\t' 'NR == 3 { $1 = "NA" } { print }' test.tsv >bad.tsv
  gpnn-predict -q --skip-bad --flag-outside t.gpm bad.tsv | column outside >outside
  assert_equal "$(sed -n 2p outside)" NA
  gpnn-eval pred.tsv >scores
}

@test "only models with a grid have an outside" {
  make_model 100 20 20 10
  assert_fails 2 '--flag-outside is for a model of gpnn-tucker' \
    gpnn-predict --flag-outside -p t.par t.gpi test.tsv
  gpnn-tucker -q --sweeps 2 -o t.gpm t.gpi
  assert_fails 2 '--group writes no rows' gpnn-predict --flag-outside --group y t.gpm test.tsv
}

@test "the trace has a row for each sweep, and bounds that do not fall" {
  prepare --trace trace.tsv
  assert_equal "$(head -n 1 trace.tsv)" \
    step$'\t'seconds$'\t'bound$'\t'rmse$'\t'lengthscale_1$'\t'lengthscale_2$'\t'kernelscale$'\t'noise$'\t'shrinkage
  [[ $(sed 1d trace.tsv | wc -l) -le 6 ]]
  column bound trace.tsv | awk 'NR > 1 && $1 < last - 1e-6 * (last < 0 ? -last : last) { exit 1 } { last = $1 }'
  assert_fails 1 'nowhere/trace' gpnn-tucker -o other.gpm --trace nowhere/trace t.gpi
  [[ ! -e other.gpm ]]
  assert_fails 1 'nowhere' gpnn-tucker --sweeps 1000000 -o nowhere/t.gpm t.gpi
}

@test "several targets are modelled, or those that are named" {
  make_table 200 2 | awk -v OFS='\t' 'NR == 1 { print $0, "z"; next } { print $0, 3 * $1 - $2 }' >two.tsv
  gpnn-index -q -y y,z --calibration-rows 40 -o two.gpi two.tsv
  gpnn-tucker -q --sweeps 2 --trace trace.tsv -o two.gpm two.gpi
  assert_equal "$(cut -f 1 trace.tsv | sed 1d | sort -u | tr '\n' ' ')" 'y z '
  assert_equal "$(gpnn-predict -q --flag-outside two.gpm two.tsv | head -n 1 | tr '\t' ' ')" \
    "y mean_y sd_y outside_y z mean_z sd_z outside_z"
  gpnn-tucker -q --sweeps 2 --targets z -o z.gpm two.gpi
  gpnn-predict -q z.gpm two.tsv | column mean >z
  gpnn-predict -q --targets z two.gpm two.tsv | column mean | cmp - z
  assert_fails 2 "'x' is not one of the targets" gpnn-tucker --targets x -o x.gpm two.gpi
  assert_fails 2 "'y' is there twice" gpnn-tucker --targets y,y -o x.gpm two.gpi
}

@test "few rows are enough" {
  for n in 3 20; do
    make_table "$n" 2 >few.tsv
    gpnn-index -q --calibration-rows 0 -o few.gpi few.tsv
    gpnn-tucker -q -o few.gpm few.gpi
    assert_equal "$(gpnn-predict -q few.gpm few.tsv | wc -l)" $((n + 1))
  done
}

@test "a grid that does not suit the inputs is refused" {
  make_model 60 20 10 10
  assert_fails 2 'name it with -o' gpnn-tucker t.gpi
  assert_fails 2 "'1' is not a number of points" gpnn-tucker --grid-size 1 -o x.gpm t.gpi
  assert_fails 2 'rank: 5 is more than the 4 points' \
    gpnn-tucker --rank 5 --grid-size 4 -o x.gpm t.gpi
  assert_fails 2 'rank: 3 is more than the 2 points' \
    gpnn-tucker --rank 3,3 --grid-size 9,2 -o x.gpm t.gpi
  assert_fails 2 'grid-size: 3 numbers, but there are 2 inputs' \
    gpnn-tucker --grid-size 9,9,9 -o x.gpm t.gpi
  assert_fails 2 'a core of 90000 numbers, of which there can be 20000' \
    gpnn-tucker --rank 300 --grid-size 500 -o x.gpm t.gpi
  assert_fails 2 'there is one, the number of terms' \
    gpnn-tucker --mean kron-sum --rank 2,3 -o x.gpm t.gpi
  assert_fails 2 'rbf, exp, matern32 or matern52' gpnn-tucker --kernel matern:1.2 -o x.gpm t.gpi
  make_table 60 9 >nine.tsv
  gpnn-index -q -o nine.gpi nine.tsv
  assert_fails 1 '9 inputs, each a dimension of a grid that can have 8' \
    gpnn-tucker -o x.gpm nine.gpi
  [[ ! -e x.gpm ]]
}

@test "what is no index of numbers is refused" {
  prepare
  assert_fails 1 'model the index' gpnn-tucker -o x.gpm t.gpm
  awk -v OFS='\t' 'NR > 1 { $NF = NR % 3 ? "a" : "b" } { print }' train.tsv >classes.tsv
  gpnn-index -q -y y -o classes.gpi classes.tsv
  assert_fails 1 'holds classes, .* use gpnn-fit' gpnn-tucker -o x.gpm classes.gpi
  awk -v OFS='\t' 'NR == 1 { print $0, "time"; next } { $NF = NR % 5; print $0, 1 + NR % 3 }' \
    train.tsv >counts.tsv
  gpnn-index -q -y y --exposure time -o counts.gpi counts.tsv
  assert_fails 1 'a count with an exposure' gpnn-tucker -o x.gpm counts.gpi
  gpnn-simulate grid -q --sites 6 --times 10 -o grid.tsv
  gpnn-grid index -q --site x1,x2 --time t -o grid.gpi grid.tsv
  assert_fails 1 'gpnn-grid fit' gpnn-tucker -o x.gpm grid.gpi
}

@test "an input that does not vary is no dimension, wild cells are outside" {
  make_table 100 2 | awk -v OFS='\t' 'NR == 1 { print "c", $0; next } { print 7, $0 }' >c.tsv
  gpnn-index -q --calibration-rows 20 -o c.gpi c.tsv
  gpnn-tucker -q --sweeps 2 -o c.gpm c.gpi
  gpnn-info c.gpm | grep -qx $'grid-size\t10\t10'
  awk -v OFS='\t' 'NR > 1 { $2 = 1e300 } { print }' c.tsv >wild.tsv
  gpnn-predict -q --flag-outside c.gpm wild.tsv >pred.tsv
  assert_equal "$(column outside pred.tsv | sort -u)" 1
  run ! grep -iE 'nan|inf' pred.tsv
}

@test "the report of JSON has sizes, bound and variances" {
  make_model 100 20 20 10
  gpnn-tucker --json --sweeps 2 -o t.gpm t.gpi 2>report
  json report >values
  for name in target rows bound rmse covariance-shrinkage residual-variance variance jitter; do
    grep -qE "^fits\.[0-9]+\.$name|^fits\[[0-9]+\]\.$name|$name" values || complain "no $name"
  done
}
