#!/usr/bin/env bats
# Model files in place of an index and its parameters.

load helper

# t.gpm, the model of t.gpi, of 300 rows of which 60 are held out, once for all tests.
setup_file() {
  command -v gpnn-sparse >/dev/null || return 0
  cd "$BATS_FILE_TMPDIR" || return
  make_model 300 40 60 20
  gpnn-sparse -q --inducing 12 -o t.gpm t.gpi
}

# A copy of t.gpm, and of what it was made of, with test.tsv.
prepare() {
  command -v gpnn-sparse >/dev/null || skip "needs gpnn-sparse"
  cp "$BATS_FILE_TMPDIR"/{train.tsv,test.tsv,t.gpi,t.par,t.gpm} .
}

@test "a model file predicts without parameters, and with its calibration" {
  prepare
  gpnn-predict -q t.gpm test.tsv >plain.tsv
  gpnn-calibrate -q t.gpm >t.cal
  gpnn-predict -q -p t.cal t.gpm test.tsv >calibrated.tsv
  [[ $(head -n 1 plain.tsv) == y$'\t'mean$'\t'sd* ]]
  assert_equal "$(column mean calibrated.tsv)" "$(column mean plain.tsv)"
  [[ $(column sd calibrated.tsv) != "$(column sd plain.tsv)" ]]
  gpnn-eval calibrated.tsv | value n >n
  assert_equal "$(<n)" 40
}

@test "a calibration goes from tool to tool through a pipe" {
  prepare
  gpnn-calibrate -q t.gpm >t.cal
  gpnn-predict -q -p t.cal t.gpm test.tsv >expected.tsv
  gpnn-calibrate -q t.gpm | gpnn-predict -q -p - t.gpm test.tsv >actual.tsv
  cmp actual.tsv expected.tsv
}

@test "a calibration alone has neither kernel nor noise" {
  prepare
  gpnn-calibrate -q --conformal 0.9 t.gpm >t.cal
  assert_equal "$(head -n 1 t.cal)" "# gpnn parameters 1"
  grep -q '^conformal' t.cal
  assert_equal "$(value index t.cal)" "$(gpnn-info t.gpm | value fingerprint)"
  run ! grep -E '^(kernel|lengthscale|kernelscale|noise|family|fit-)' t.cal
  { cat t.cal; printf 'noise\t0.1\n'; } >more.cal
  assert_fails 1 "is not part of a calibration" gpnn-predict -p more.cal t.gpm test.tsv
  assert_fails 1 "is not part of a calibration" gpnn-predict -p t.par t.gpm test.tsv
  assert_fails 1 "no calibration" gpnn-predict -p - t.gpm test.tsv <<<"# nothing"
}

@test "a factor multiplies variances alone" {
  command -v gpnn-sparse >/dev/null || skip "needs gpnn-sparse"
  make_model 300 40 60 20
  gpnn-sparse -q --likelihood gaussian --inducing 12 -o t.gpm t.gpi
  gpnn-predict -q t.gpm test.tsv >plain.tsv
  printf 'calibration\t4\n' | gpnn-predict -q -p - t.gpm test.tsv >four.tsv
  assert_equal "$(column mean four.tsv)" "$(column mean plain.tsv)"
  paste <(column sd plain.tsv) <(column sd four.tsv) |
    awk '{ r = $2 / $1 - 2 } r > 1e-9 || r < -1e-9 { exit 1 }'
}

@test "rows come in any batches and to any number of threads" {
  prepare
  gpnn-predict -q -j 1 t.gpm test.tsv >one.tsv
  gpnn-predict -q -j 3 --batch 7 t.gpm test.tsv >two.tsv
  gpnn-predict -q --unbuffered t.gpm - <test.tsv >three.tsv
  cmp one.tsv two.tsv
  cmp one.tsv three.tsv
  assert_equal "$(head -n 1 test.tsv | gpnn-predict -q t.gpm -)" "$(head -n 1 one.tsv)"
}

@test "predictions have the columns that were asked for" {
  prepare
  gpnn-predict -q --append --interval 0.9 t.gpm test.tsv >all.tsv
  assert_equal "$(cut -f 1-2 all.tsv)" "$(cut -f 1-2 test.tsv)"
  assert_equal "$(head -n 1 all.tsv)" $'x1\tx2\ty\tmean\tsd\tlower\tupper'
  gpnn-predict -q --mean-only t.gpm test.tsv | head -n 1 >names
  run ! grep -q sd names
  gpnn-predict -q --latent --units standard t.gpm test.tsv >latent.tsv
  gpnn-predict -q --max-distance 1e-6 --na '?' t.gpm test.tsv | column mean >far
  assert_equal "$(sort -u far)" '?'
}

@test "what needs training rows says so" {
  prepare
  assert_fails 1 "t.gpm is a model file, which has no training rows" gpnn-predict --loo t.gpm
  for option in --loo '--blocked 5' '--like test.tsv'; do
    # shellcheck disable=SC2086 # an option and its value
    assert_fails 1 "t.gpm is a model file, which has no training rows" gpnn-calibrate $option t.gpm
  done
  assert_fails 1 "calibrate without --adjust noise" gpnn-calibrate --adjust noise t.gpm
  assert_fails 1 "fit the index that it was made from" gpnn-fit t.gpm
  assert_fails 1 "fit the index that it was made from" gpnn-grid fit t.gpm
  assert_fails 1 "use gpnn-predict" gpnn-grid predict t.gpm test.tsv
  assert_fails 1 "it has no search to change" gpnn-index --metric t.par -o n.gpi t.gpm
  assert_fails 1 "the advice is about an index" gpnn-simulate advise -p t.par t.gpm
  for option in '-m 5' '--share 4' '--precision mixed' --debias; do
    # shellcheck disable=SC2086
    assert_fails 2 "is for an index: t.gpm has no neighbours" gpnn-predict $option t.gpm test.tsv
  done
}

@test "a model file where parameters belong, and the reverse" {
  prepare
  assert_fails 1 "give it in place of the index" gpnn-predict -p t.gpm t.gpi test.tsv
  assert_fails 1 "not an index: did you swap the operands" gpnn-predict -p t.gpm t.par test.tsv
  gpnn-calibrate -q t.gpm >t.cal
  assert_fails 1 "kernel is missing" gpnn-predict -p t.cal t.gpi test.tsv
  assert_fails 1 "did you swap the operands" gpnn-predict test.tsv t.gpm
}

@test "a calibration of another model is noticed" {
  prepare
  gpnn-calibrate -q t.gpm >t.cal
  gpnn-sparse -q --inducing 9 -o other.gpm t.gpi
  gpnn-predict -p t.cal other.gpm test.tsv 2>messages >/dev/null
  grep -q 't.cal: made from another model than other.gpm' messages
  make_table 200 3 | gpnn-index -q -o three.gpi -
  gpnn-sparse -q --inducing 9 -o three.gpm three.gpi
  make_table 20 3 >three.tsv
  assert_fails 1 "made from an index of other columns" gpnn-predict -p t.cal three.gpm three.tsv
}

@test "rows of a table calibrate where none were held out" {
  command -v gpnn-sparse >/dev/null || skip "needs gpnn-sparse"
  make_table 200 2 >train.tsv
  make_table 150 2 200 >more.tsv
  gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
  gpnn-sparse -q --inducing 9 -o t.gpm t.gpi
  assert_fails 1 "holds no calibration rows" gpnn-calibrate t.gpm
  gpnn-calibrate -q --with more.tsv t.gpm >t.cal
  grep -q 'from 150 given rows' t.cal
}

@test "gpnn-info shows what a model file holds" {
  prepare
  gpnn-info --verify t.gpm >facts
  assert_equal "$(value file facts)" "gpnn model"
  assert_equal "$(value inducing-points facts)" 12
  assert_equal "$(value held-out-rows facts)" 60
  assert_equal "$(value verified facts)" yes
  grep -q $'^array\theldout-mean\t60$' facts
  gpnn-info --json t.gpm | json | grep -q 'inducing-points'
}

@test "a cut or changed model file is refused" {
  prepare
  size=$(wc -c <t.gpm)
  for length in 0 1 7 8 23 24 63 64 500 2047 2048 2100 3000 $((size / 2)) $((size - 1)); do
    head -c "$length" t.gpm >cut.gpm
    run gpnn-predict cut.gpm test.tsv
    [[ $status == 1 && $output == *cut.gpm* ]] || complain "$length: $status $output"
  done
  for at in 3 9 21 30 40 70 200 1030 1100 $((size - 40)); do
    cp t.gpm flipped.gpm
    printf 'X' | dd of=flipped.gpm bs=1 seek="$at" conv=notrunc status=none
    run gpnn-info flipped.gpm
    [[ $status == 1 && $output == *flipped.gpm* ]] || complain "$at: $status $output"
  done
}

@test "several targets have their models in one file" {
  command -v gpnn-sparse >/dev/null || skip "needs gpnn-sparse"
  make_table 200 2 | awk -F '\t' -v OFS='\t' \
    'NR == 1 { print $0, "z" } NR > 1 { print $0, NR % 7 ? $1 * $2 : "NA" }' >train.tsv
  gpnn-index -q -y y,z -o t.gpi train.tsv
  gpnn-sparse -q --inducing 9 -o t.gpm t.gpi
  gpnn-calibrate -q t.gpm >t.cal
  assert_equal "$(grep -c '^target' t.cal)" 2
  gpnn-predict -q -p t.cal t.gpm train.tsv >both.tsv
  gpnn-predict -q -p t.cal --targets z t.gpm train.tsv >z.tsv
  assert_equal "$(column mean z.tsv)" "$(column mean_z both.tsv)"
  gpnn-info t.gpm | awk '$1 == "model-rows" { n[++k] = $2 } END { exit !(n[2] < n[1]) }'
  sed '/^target\tz/,$d' t.cal >y.cal
  assert_fails 1 "no calibration of target 'z'" gpnn-predict -p y.cal t.gpm train.tsv
}
