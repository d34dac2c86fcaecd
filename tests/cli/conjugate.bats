#!/usr/bin/env bats
# gpnn-fit --method conjugate.

load helper

# A map: 600 rows of x1, x2 and y, which also rises by 4 for each unit of the regressor z.
prepare() {
  make_table 700 2 | awk -F '\t' -v OFS='\t' '
    NR == 1 { print $1, $2, "z", $3; next }
    { z = (NR * 7919) % 101 / 10; print $1, $2, z, $3 + 4 * z }' >all.tsv
  head -n 601 all.tsv >train.tsv
  sed -n '1p; 602,$p' all.tsv >test.tsv
  gpnn-index --regressors z -x x1,x2 --calibration-rows 0 -o t.gpi train.tsv
}

@test "the conjugate method finds the coefficient and predicts with it" {
  prepare
  gpnn-fit --method conjugate --mean-function regressors t.gpi >t.par
  assert_equal "$(value neighbours t.par)" 15
  assert_equal "$(value kernel t.par)" exp
  # 2 * 2 of the prior and 600 rows, less two coefficients.
  assert_equal "$(value degrees t.par)" 602
  assert_equal "$(value fit-rows t.par)" 600
  awk '/^# coefficient z/ { exit !($4 > 3.95 && $4 < 4.05 && /standard error/) }' t.par
  gpnn-predict t.gpi -p t.par test.tsv | gpnn-eval >scores
  awk -v rmse="$(value rmse scores)" 'BEGIN { exit !(rmse < 0.2) }'
}

@test "the conjugate method uses folds, score, kernel, neighbours and the ratios of a start" {
  prepare
  printf 'kernel\tmatern32\nlengthscale\t0.2\t0.1\nkernelscale\t1\nnoise\t0.1\nneighbours\t9\n' >start
  gpnn-fit --method conjugate --start start --folds 3 --score crps t.gpi >t.par
  assert_equal "$(value kernel t.par)" matern32
  assert_equal "$(value neighbours t.par)" 9
  grep -q '^# fit: conjugate, 3 folds of 600 of 600 rows' t.par
  awk -F '\t' '$1 == "lengthscale" { exit !($2 / $3 > 1.9999 && $2 / $3 < 2.0001) }' t.par
  gpnn-fit --method conjugate --kernel matern52 -m 7 t.gpi >t.par
  assert_equal "$(value kernel t.par)" matern52
  assert_equal "$(value neighbours t.par)" 7
}

@test "the conjugate method prints the same for any number of threads" {
  prepare
  gpnn-fit --method conjugate --mean-function linear -j 1 t.gpi >one
  gpnn-fit --method conjugate --mean-function linear -j 3 t.gpi >three
  cmp one three
}

@test "options of the other method, and unknown methods, are refused" {
  prepare
  assert_fails 2 "option --objective" gpnn-fit --method conjugate --objective block t.gpi
  assert_fails 2 "option --fix" gpnn-fit --method conjugate --fix noise=1 t.gpi
  assert_fails 2 "option --ard" gpnn-fit --method conjugate --ard yes t.gpi
  assert_fails 2 "option --method" gpnn-fit --method other t.gpi
  assert_fails 2 "option --score" gpnn-fit --method conjugate --score nll t.gpi
  assert_fails 2 "folds" gpnn-fit --method conjugate --folds 1 t.gpi
}

@test "known noise of rows is refused under a conjugate prior" {
  prepare
  gpnn-index --row-noise z -x x1,x2 --calibration-rows 0 -o n.gpi train.tsv
  assert_fails 1 "known noise" gpnn-fit --method conjugate n.gpi
}
