#!/usr/bin/env bats
# gpnn-calibrate: where rows come from, what is changed, conformal widths, distances.

load helper

prepare() {
  make_model 900 200 200 20
}

# A table whose rows have a gap in the middle of x1, and in gap.tsv what is missing there.
prepare_gap() {
  make_table 2500 2 | awk -F '\t' 'NR == 1 { print >"gap.tsv" }
    NR > 1 && $1 > 0.35 && $1 < 0.65 { print >"gap.tsv"; next } 1' >train.tsv
  gpnn-index --calibration-rows 300 -o t.gpi train.tsv
  make_parameters exp 0.2 1 0.04 20 >t.par
}

@test "the factor multiplies kernel scale and noise, noise alone keeps the kernel scale" {
  prepare
  gpnn-calibrate t.gpi <t.par >factor.par
  gpnn-calibrate --adjust factor t.gpi <t.par | cmp factor.par -
  factor=$(value calibration factor.par)
  assert_near "$(value kernelscale factor.par)" "$factor" 1e-12
  gpnn-calibrate --adjust noise t.gpi <t.par >noise.par
  assert_equal "$(value kernelscale noise.par)" 1
  [[ $(value noise noise.par) != 0.04 ]]
  run ! value calibration noise.par
  # Calibrated by noise, the mean of z^2 is one: there is no factor left to find.
  gpnn-calibrate t.gpi <noise.par >again.par
  assert_near "$(value calibration again.par)" 1 1e-6
}

@test "if no noise is small enough, the factor is used and a warning says so" {
  prepare
  sed 's/kernelscale.*/kernelscale\t1e6/; s/lengthscale.*/lengthscale\t0.01/' t.par >wide.par
  gpnn-calibrate --adjust noise t.gpi <wide.par >noise.par 2>err.txt
  grep -q 'no noise variance calibrates the predictions' err.txt
  gpnn-calibrate t.gpi <wide.par >factor.par
  diff <(grep -v '#' noise.par) <(grep -v '#' factor.par)
}

@test "conformal widths are stored, and gpnn-predict uses them only for their levels" {
  prepare
  gpnn-calibrate --conformal 0.9,0.5 t.gpi <t.par >c.par
  gpnn-predict -v t.gpi -p c.par --interval 0.9,0.8 test.tsv >out.tsv 2>err.txt
  grep -q 'interval of 0.9: .* conformal' err.txt
  grep -q 'interval of 0.8: .* Gaussian' err.txt
  gpnn-predict t.gpi -p c.par --interval 0.9 test.tsv |
    awk -F '\t' 'NR > 1 { w = ($5 - $4) / 2 / $3
        if (NR > 2 && (w - last > 1e-9 || last - w > 1e-9)) exit 1; last = w }'
  gpnn-predict -v --latent t.gpi -p c.par --interval 0.9 test.tsv 2>&1 >/dev/null | grep -q Gaussian
  gpnn-calibrate t.gpi <c.par >forgotten.par
  run ! grep -q "^conformal" forgotten.par
}

@test "conformal widths are the errors of the promised ranks among the calibration rows" {
  prepare
  gpnn-calibrate --with test.tsv --conformal 0.9,0.5 t.gpi <t.par >c.par
  gpnn-predict t.gpi -p c.par test.tsv |
    awk -F '\t' 'NR > 1 { z = ($1 - $2) / $3; printf "%.15g\n", z < 0 ? -z : z }' | sort -g >z.txt
  # Of 200 rows: 201 * 0.5 and 201 * 0.9, rounded up.
  assert_near "$(grep '^conformal' c.par | cut -f 3)" "$(sed -n 101p z.txt)" 1e-9
  assert_near "$(grep '^conformal' c.par | cut -f 5)" "$(sed -n 181p z.txt)" 1e-9
}

@test "a conformal width of zero is a width" {
  prepare
  { grep -v '^conformal' t.par && printf 'conformal\t0.5\t0\n'; } >zero.par
  gpnn-predict -v --interval 0.5 -p zero.par t.gpi test.tsv >out.tsv 2>err.txt
  grep -q 'interval of 0.5: .* conformal' err.txt
  awk 'NR > 1 && ($4 != $2 || $5 != $2) { exit 1 }' out.tsv
}

@test "too few rows for a conformal interval are refused with the number needed" {
  prepare
  assert_fails 1 'interval of 0.999 needs at least 999 calibration rows; there are 200' \
    gpnn-calibrate --conformal 0.5,0.999 t.gpi -p t.par
  assert_fails 2 'probabilities between 0 and 1' gpnn-calibrate --conformal 1 t.gpi -p t.par
}

@test "--like calibrates predictions in a gap better than held-out rows do" {
  prepare_gap
  gpnn-calibrate t.gpi <t.par >held.par
  cut -f 1,2 gap.tsv >inputs.tsv
  gpnn-calibrate --like inputs.tsv -c 500 t.gpi <t.par >like.par
  grep -q 'from 500 distant training rows' like.par
  for f in held like; do
    gpnn-predict -q t.gpi -p $f.par gap.tsv | gpnn-eval | value cal >$f.cal
  done
  awk -v held="$(cat held.cal)" -v like="$(cat like.cal)" '
    function off(x) { return x > 1 ? x : 1 / x }
    BEGIN { exit !(off(like) < off(held) && off(held) > 1.2) }' || complain "$(cat held.cal like.cal)"
}

@test "clusters are left out whole and predicted from outside" {
  prepare_gap
  gpnn-calibrate --blocked 30 -c 500 t.gpi <t.par >blocked.par
  grep -q 'from 510 clustered training rows' blocked.par
  gpnn-calibrate --blocked 60 t.gpi <t.par | grep -q 'from 1200 clustered training rows'
  gpnn-calibrate --blocked 1 -c 700 t.gpi <t.par >one.par
  # Rows of larger clusters lie farther from what they are predicted from.
  awk -F '\t' '$1 == "distances" { median[FILENAME] = $2 }
    END { exit !(median["blocked.par"] > 1.5 * median["one.par"]) }' blocked.par one.par
}

@test "--like with rows like the training rows gives about the factor of held-out rows" {
  prepare
  # A kernel this rough, with little noise: the factor depends much on the distance.
  sed 's/matern32/exp/; s/^noise.*/noise\t0.001/' t.par >rough.par
  a=$(gpnn-calibrate --loo t.gpi <rough.par | value calibration)
  b=$(gpnn-calibrate --like test.tsv t.gpi <rough.par | value calibration)
  # Three standard errors of the difference: those of 700 rows and of 200 are .012 and .025.
  assert_near "$b" "$a" 0.083
}

@test "sources of rows exclude each other, and --skip-bad needs a TABLE" {
  prepare
  assert_fails 2 'exclude each other' gpnn-calibrate --loo --blocked 5 t.gpi -p t.par
  assert_fails 2 'exclude each other' gpnn-calibrate --with test.tsv --like test.tsv t.gpi -p t.par
  assert_fails 2 'skip-bad applies to' gpnn-calibrate --blocked 5 --skip-bad t.gpi -p t.par
  assert_fails 2 'cannot both be standard input' gpnn-calibrate --like - t.gpi
  assert_fails 2 'factor or noise' gpnn-calibrate --adjust both t.gpi -p t.par
  assert_fails 1 'leaves none of the 700 training rows' gpnn-calibrate --blocked 700 t.gpi -p t.par
}

@test "distances are stored by calibration, and rows beyond them cause one warning" {
  prepare
  gpnn-calibrate t.gpi <t.par >c.par
  grep -q '^distances' c.par
  gpnn-predict t.gpi -p c.par test.tsv >out.tsv 2>err.txt
  [[ ! -s err.txt ]]
  awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 4 == 0 { $1 += 3 } 1' test.tsv >far.tsv
  gpnn-predict t.gpi -p c.par --batch 16 far.tsv >out.tsv 2>err.txt
  assert_equal "$(grep -c 'lie farther' err.txt)" 1
  grep -q '25 % of 200 rows lie farther from the training rows than 99.9 %' err.txt
  gpnn-predict -q t.gpi -p c.par far.tsv 2>err.txt | cmp - out.tsv
  [[ ! -s err.txt ]]
  gpnn-predict t.gpi -p t.par far.tsv 2>err.txt | cut -f 2 >/dev/null
  ! grep 'lie farther' err.txt || return
  gpnn-predict -v t.gpi -p c.par test.tsv 2>&1 >/dev/null | grep -q '% of the rows lie farther'
  # Calibrated on rows as far, there is nothing to warn of.
  awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 4 == 0 { $1 += 0.3 } 1' test.tsv >near.tsv
  gpnn-predict t.gpi -p c.par near.tsv 2>&1 >/dev/null | grep -q 'lie farther'
  gpnn-calibrate -q --like near.tsv t.gpi <t.par >like.par
  gpnn-predict t.gpi -p like.par near.tsv 2>err.txt >/dev/null
  [[ ! -s err.txt ]]
}

# prepare_few CALIBRATION-ROWS LIKELIHOOD: a fit of few rows with many numbers, and one that does not
# tell what it used.
prepare_few() {
  make_table 90 3 >few.tsv
  make_table 50 3 90 >other.tsv
  gpnn-index -q --calibration-rows "$1" -o few.gpi few.tsv
  gpnn-fit -q -j 1 --likelihood "$2" --ard yes --kernel matern32 --rotate none --tune steps=60 -m 20 \
    few.gpi >few.par
  grep -v '^fit-' few.par >silent.par
}

@test "held-out rows replace rows that were used for the fit" {
  prepare_few 30 gaussian
  assert_equal "$(value fit-rows few.par)" 60
  gpnn-calibrate --loo few.gpi <few.par >loo.cal 2>err.txt
  grep -q 'the fit used 60 of the 60 training rows.*calibrated on the 30 held-out rows' err.txt
  grep -q 'from 30 rows, has a standard error of .*; hold more out (gpnn-index --calibration-rows)$' err.txt
  gpnn-calibrate -q few.gpi <few.par | cmp - loo.cal
  grep -q '^# calibration: factor .* from 30 held-out rows$' loo.cal
  assert_equal "$(value fit-rows loo.cal)" 60
  # Parameters that say nothing are calibrated as asked.
  gpnn-calibrate -q --loo few.gpi <silent.par | grep -q 'from 60 left-out training rows$'
  # So are those of a few of the rows, and those of other rows.
  sed 's/^fit-rows.*/fit-rows\t6/' few.par | gpnn-calibrate -q --loo few.gpi | grep -q 'left-out training rows$'
  sed 's/^\(index\t.*\)........$/\100000000/' few.par | gpnn-calibrate -q --loo few.gpi | grep -q 'left-out training rows$'
}

@test "without other rows than those of the fit, nothing is called calibrated" {
  prepare_few 0 gaussian
  for rows in --loo '--blocked 3' '--like other.tsv'; do
    # shellcheck disable=SC2086 # options
    gpnn-calibrate $rows few.gpi <few.par >few.cal 2>err.txt
    grep -q 'not calibrated: the fit used 90 of the 90 training rows.*--calibration-rows.*--with TABLE' err.txt
    grep -q '^# not calibrated: factor .*, standard error not known, from .*; the fit used 90 of 90$' few.cal
    run ! grep -q '^# calibration:' few.cal
    # shellcheck disable=SC2086 # options
    assert_fails 1 'conformal intervals need rows that were not used for the fit' \
      gpnn-calibrate $rows --conformal 0.5 few.gpi -p few.par
  done
  # Variances that are too large for these rows may be so for others, or not: they stay.
  awk -F '\t' -v OFS='\t' '$1 == "kernelscale" || $1 == "noise" { $2 *= 100 } 1' few.par >large.par
  gpnn-calibrate -q --loo few.gpi <large.par >large.cal
  assert_equal "$(value kernelscale large.cal)" "$(value kernelscale large.par)"
  run ! value calibration large.cal
  gpnn-calibrate --with other.tsv few.gpi <few.par | grep -q 'from 50 given rows$'
  # Those that are too small for these rows are so for others; by what, the comment says.
  awk -F '\t' -v OFS='\t' '$1 == "kernelscale" || $1 == "noise" { $2 /= 100 } 1' few.par >small.par
  gpnn-calibrate -q --loo few.gpi <small.par | grep -q '^# not calibrated: factor .*, or more, standard'
  gpnn-calibrate -q --loo --adjust noise few.gpi <small.par >noise.cal
  assert_equal "$(value kernelscale noise.cal)" "$(value kernelscale small.par)"
  grep -q '^# not calibrated: noise alone, instead of a factor .*, or more, standard' noise.cal
}

@test "a scale is found on training rows that the parameters have not seen" {
  prepare_few 0 local
  gpnn-calibrate --loo few.gpi <few.par >cross.cal 2>err.txt
  grep -q '^# calibration: scale .* from 90 cross-fitted training rows$' cross.cal
  run ! grep -q -e 'not calibrated' -e circular err.txt
  # Predicted by parameters that have seen them, the same rows look better than they are.
  gpnn-calibrate -q --loo few.gpi <silent.par >naive.cal
  grep -q ' from 90 left-out training rows$' naive.cal
  for f in cross naive; do
    gpnn-predict -q few.gpi -p $f.cal other.tsv | gpnn-eval | value cal >$f.score
  done
  awk -v cross="$(cat cross.score)" -v naive="$(cat naive.score)" \
    'BEGIN { exit !(cross < naive) }' || complain "$(cat cross.score naive.score)"
  for j in 1 3; do gpnn-calibrate -q -j $j --loo few.gpi <few.par | cmp - cross.cal; done
  # Parameters that say how they were estimated keep saying so.
  diff <(grep '^fit-' few.par) <(grep '^fit-' cross.cal)
  assert_equal "$(value kernelscale cross.cal)" "$(value kernelscale few.par)"
}

@test "rows of a cross-fit are counted, drawn by the seed, and good for conformal intervals" {
  prepare_few 0 local
  gpnn-calibrate -q --loo -c 40 few.gpi <few.par >forty.cal
  grep -q 'from 40 cross-fitted training rows$' forty.cal
  gpnn-calibrate -q --loo -c auto few.gpi <few.par | grep -q 'from 90 cross-fitted training rows$'
  gpnn-calibrate -q --loo -c 40 -s 2 few.gpi <few.par >other.cal
  run ! cmp -s forty.cal other.cal
  gpnn-calibrate -q --loo --conformal 0.9 few.gpi <few.par | grep -q '^conformal'
  # Nothing of the kind is possible with clusters and distant rows.
  for rows in '--blocked 3' '--like other.tsv'; do
    # shellcheck disable=SC2086 # options
    gpnn-calibrate $rows few.gpi <few.par 2>&1 >few.cal | grep -q 'not calibrated: the fit used 90 of the 90'
    assert_equal "$(value scale few.cal)" "$(value scale few.par)"
  done
}

@test "where too few rows are held out, training rows are cross-fitted instead" {
  prepare_few 30 local
  gpnn-calibrate few.gpi <few.par >few.cal
  grep -q 'from 60 cross-fitted training rows$' few.cal
  gpnn-calibrate --loo few.gpi <few.par | cmp - few.cal
  # Parameters that do not say how they were estimated, or were estimated from other rows, cannot be.
  gpnn-calibrate -q few.gpi <silent.par | grep -q 'from 30 held-out rows$'
  sed 's/^\(index\t.*\)........$/\100000000/' few.par | gpnn-calibrate -q few.gpi | grep -q 'from 30 held-out rows$'
  # A few of the rows make no parameters: the others are as good as new.
  sed 's/^fit-rows.*/fit-rows\t6/' few.par | gpnn-calibrate -q few.gpi | grep -q 'from 60 left-out training rows$'
  # No rows need be held out at all.
  prepare_few 0 local
  gpnn-calibrate few.gpi <few.par | grep -q 'from 90 cross-fitted training rows$'
}

@test "many held-out rows are used, few training rows are not" {
  make_table 2300 2 >many.tsv
  gpnn-index --calibration-rows 220 -o many.gpi many.tsv
  gpnn-fit -q --rotate none --kernel exp --tune steps=20 -m 16 many.gpi >many.par
  gpnn-calibrate -q many.gpi <many.par | grep -q 'from 220 held-out rows$'
  head -n 61 many.tsv >few.tsv
  gpnn-index -q --calibration-rows 40 -o few.gpi few.tsv
  gpnn-fit -q --rotate none --kernel exp --tune steps=20 -m 16 few.gpi >few.par
  gpnn-calibrate -q few.gpi <few.par | grep -q 'from 40 held-out rows$'
}

@test "targets that share lengthscales share a cross-fit" {
  make_table 80 2 | awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "z"; next } { print $0, $3 + cos(3 * $1) }' >two.tsv
  gpnn-index -q -y y,z --calibration-rows 0 -o two.gpi two.tsv
  for share in shared ratio own; do
    gpnn-fit -q --lengthscales $share --rotate none --kernel matern32 --tune steps=40 -m 16 two.gpi >two.par
    gpnn-calibrate -q two.gpi <two.par >two.cal
    assert_equal "$(grep -c 'from 80 cross-fitted training rows$' two.cal)" 2
    # The order of the targets does not matter, and apart they differ only if they share something.
    { sed -n '1,/^target\tz/p' two.par | sed '$d'; } >y.par
    gpnn-calibrate -q two.gpi <y.par >y.cal
    if [[ $share == own ]]; then
      diff <(grep '^scale' y.cal) <(grep '^scale' two.cal | head -n "$(grep -c '^scale' y.cal)")
    else
      grep -q '^fit-options.*shared-lengthscales' two.par
      run ! diff <(grep '^scale' y.cal) <(grep '^scale' two.cal | head -n "$(grep -c '^scale' y.cal)")
    fi
  done
}

@test "a handful of rows can be cross-fitted, or is not and says so" {
  for n in 2 3 4 7; do
    make_table $n 2 >tiny.tsv
    gpnn-index -q --calibration-rows 0 -o tiny.gpi tiny.tsv
    gpnn-fit -q --kernel exp -m 5 tiny.gpi >tiny.par
    gpnn-calibrate --loo tiny.gpi <tiny.par >tiny.cal 2>err.txt
    if ((n == 2)); then
      grep -q 'not calibrated: the fit used 2 of the 2' err.txt
    else
      grep -q "from $n cross-fitted training rows\$" tiny.cal
    fi
    gpnn-predict -q tiny.gpi -p tiny.cal tiny.tsv >out.tsv
    assert_equal "$(wc -l <out.tsv)" $((n + 1))
  done
}

@test "what cannot be estimated without some rows falls back on those held out" {
  # A column that only one row makes differ from the constant term of the mean.
  make_table 60 1 | awk -F '\t' -v OFS='\t' 'NR == 1 { print "flag", $0; next } { print NR == 20, $0 }' >flag.tsv
  for held in 0 10; do
    gpnn-index -q -s 3 --calibration-rows $held -x x1 --regressors flag -o flag.gpi flag.tsv
    gpnn-fit -q --mean-function regressors --rotate none --kernel exp --tune steps=20 -m 16 flag.gpi >flag.par
    if ((held == 0)); then
      assert_fails 1 'without 12 of the 60 training rows: ' gpnn-calibrate flag.gpi -p flag.par
    else
      gpnn-calibrate flag.gpi <flag.par >flag.cal 2>err.txt
      grep -q 'without 10 of the 50 training rows: .*; calibrated on the 10 held-out rows instead' err.txt
      grep -q 'from 10 held-out rows$' flag.cal
    fi
  done
}

@test "a row that would put variances out of range is refused" {
  prepare
  sed 's/^noise.*/noise\t1e-4/; s/^kernelscale.*/kernelscale\t100/' t.par >low.par
  sed -n '1p; 2p' train.tsv | awk -F '\t' -v OFS='\t' 'NR == 2 { $3 = "9e152" } 1' >wild.tsv
  sed -n '2,9p' test.tsv >>wild.tsv
  for by in factor noise; do
    assert_fails 1 'is the target of a calibration row wrong' \
      gpnn-calibrate -q --adjust $by --with wild.tsv t.gpi -p low.par
  done
}

@test "known noise of rows is kept out of the factor" {
  make_table 700 1 | awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "v"; next }
    { print $0, NR % 2 ? 0.0001 : 0.001 }' >train.tsv
  gpnn-index -y y --row-noise v --calibration-rows 150 -o n.gpi train.tsv
  make_parameters matern32 0.5 1 0.4 20 >n.par
  gpnn-calibrate n.gpi <n.par >c.par
  factor=$(value calibration c.par)
  assert_near "$(value kernelscale c.par)" "$factor" 1e-9
  gpnn-calibrate n.gpi <c.par >again.par
  assert_near "$(value calibration again.par)" "$factor" 1e-6
}

@test "a factor from a single row is said to be one" {
  gpnn-simulate data --size 60 >t.tsv
  gpnn-index -q --calibration-rows 1 -o t.gpi t.tsv
  make_parameters rbf 1 0.9 0.1 30 >t.par
  gpnn-calibrate -p t.par t.gpi 2>err >/dev/null
  grep -q 'is that of a single row' err || complain "$(cat err)"
}

@test "a standard error that a single row does not have is not known" {
  gpnn-simulate data --size 60 >t.tsv
  awk -F '\t' -v OFS='\t' '{ $NF = NR == 1 ? "class" : NR % 3 ? "a" : "b" } 1' t.tsv >classes.tsv
  for table in t classes; do
    gpnn-index -q --calibration-rows 1 -o $table.gpi $table.tsv
    gpnn-fit -q --effort fast --kernel rbf --ard no -o $table.par $table.gpi
  done
  make_parameters rbf 1 0.9 0.1 30 >gaussian.par
  gpnn-sparse -q --kernel rbf --inducing 20 -o t.gpm t.gpi
  gpnn-index -q --classes --inputs x1 -y class --calibration-rows 1 -o omega.gpi classes.tsv
  gpnn-fit -q --inference polya-gamma -m 5 --tune steps=2 -o omega.par omega.gpi
  gpnn-calibrate -v t.gpm >scale 2>scale.err
  gpnn-calibrate -v -p gaussian.par t.gpi >factor 2>factor.err
  gpnn-calibrate -v -p omega.par omega.gpi >temperature 2>temperature.err
  for what in scale factor temperature; do
    grep -qE '^# calibration: .*, from 1 held-out rows?$' $what
    run ! grep -wE 'inf|nan' $what $what.err
  done
  grep -q 'standard error of the scale not known' scale
  grep -q 'standard error not known' factor
}
