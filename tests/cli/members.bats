#!/usr/bin/env bats
# Parameters of several members, whose predictions are averaged.

load helper

# prepare: train.tsv, t.gpi and test.tsv; the parameters of two models, a.par and b.par, and of both
# together, ab.par, with weights 0.7 and 0.3.
prepare() {
  make_model 400 60 100 12
  sed 's/^noise.*/noise\t0.09/' t.par >a.par
  make_parameters exp 0.8 1.5 0.02 20 >b.par
  {
    cat a.par
    printf 'likelihood\tlocal\nweight\t0.7\nmember\t2\n'
    cat b.par
    printf 'weight\t0.3\n'
  } >ab.par
}

@test "means are the weighted means of the members', and standard deviations larger where they disagree" {
  prepare
  for name in a b ab; do
    gpnn-predict --latent --units standard -p $name.par t.gpi test.tsv >$name.tsv
  done
  sed -i '/^likelihood/d' ab.par
  gpnn-predict --latent --units standard -p ab.par t.gpi test.tsv >ab.tsv
  paste a.tsv b.tsv ab.tsv | awk -F '\t' '
    NR > 1 {
      mean = 0.7 * $2 + 0.3 * $5
      variance = 0.7 * ($3 ^ 2 + ($2 - mean) ^ 2) + 0.3 * ($6 ^ 2 + ($5 - mean) ^ 2)
      if (($8 - mean) ^ 2 > 1e-20 || ($9 - sqrt(variance)) ^ 2 > 1e-20) { print; bad = 1 }
    }
    END { exit bad || NR != 61 }'
}

@test "one member of weight 1 predicts as without the weight" {
  prepare
  gpnn-predict -p a.par t.gpi test.tsv >a.tsv
  { cat a.par; printf 'weight\t1\n'; } >one.par
  gpnn-predict -p one.par t.gpi test.tsv >one.tsv
  cmp a.tsv one.tsv
  gpnn-info one.par | grep -qx $'weight\t1'
}

@test "the scale of several members is calibrated, and every tool passes them on" {
  prepare
  gpnn-info ab.par >info.par
  gpnn-info info.par | cmp - info.par
  gpnn-calibrate -q t.gpi <ab.par >ab.cal
  assert_equal "$(grep -c '^member' ab.cal)" 1
  assert_equal "$(grep -c '^scale	' ab.cal)" 1
  sed '1,/^member/d' ab.cal | grep '^scale' && complain 'a member has a scale of its own'
  assert_equal "$(grep -v '^[#sd]' ab.cal)" "$(grep -v '^[#sd]' info.par)"
  gpnn-calibrate -q -m 7 t.gpi <ab.par >seven.cal
  assert_equal "$(grep '^neighbours' seven.cal)" $'neighbours\t7\nneighbours\t7'
  gpnn-predict -p ab.cal t.gpi test.tsv >one.tsv
  gpnn-predict -j 3 --batch 7 -p ab.cal t.gpi test.tsv | cmp - one.tsv
  gpnn-eval one.tsv >scores.tsv
}

@test "what is not possible with several members is refused or said" {
  prepare
  assert_fails 2 'the bias cannot be removed from the predictions of several members' \
    gpnn-predict --debias -p ab.par t.gpi test.tsv
  sed '/^likelihood/d' ab.par >gaussian.par
  assert_fails 1 'calibrated by their scale, which takes likelihood student or local' \
    gpnn-calibrate -p gaussian.par t.gpi
  gpnn-simulate advise -p ab.par t.gpi 2>err.txt >advice.tsv
  grep -q 'the advice is about the first of the 2 members' err.txt
  sed 's/^noise.*/noise\t0.09/; /^weight/,$d' ab.par >first.par
  gpnn-simulate advise -q -p first.par t.gpi | cmp - advice.tsv
}

@test "members of other indexes are refused" {
  prepare
  sed $'/^weight/a index\t0123456789abcdef' ab.par >x.par
  sed -i $'$s/.*/index\t0123456789abcdee/' x.par
  assert_fails 1 '^x.par: member 2: made from index 0123456789abcdee, but member 1 from 0123456789abcdef' \
    gpnn-predict -p x.par t.gpi test.tsv
  { cat ab.par; printf 'calibration\t2\n'; } >x.par
  assert_fails 1 '^x.par:15: calibration: belongs to the target' gpnn-info x.par
  sed 's/^lengthscale\t0.8/lengthscale\t1\t2\t3/' ab.par >x.par
  assert_fails 1 '^x.par: member 2 of the parameters: the parameters have 3 lengthscales' \
    gpnn-predict -p x.par t.gpi test.tsv
}

@test "candidates are stacked where that pays, and --members 1 gives the best alone" {
  gzip -dc "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 4 == 0' >train.tsv
  gpnn-index -q -y cnt --calibration-rows 100 -o t.gpi train.tsv
  local quick=(--rotate none --input-scores none -m 32 --tune steps=200)
  gpnn-fit "${quick[@]}" t.gpi >stack.par
  gpnn-fit -j 3 "${quick[@]}" t.gpi | cmp - stack.par
  gpnn-fit "${quick[@]}" --members 1 t.gpi >one.par
  assert_equal "$(grep -c '^weight' one.par)" 0
  n=$(grep -c '^weight' stack.par)
  [[ $n -ge 2 ]] || complain 'nothing is stacked'
  assert_equal "$(grep -c '^member' stack.par)" $((n - 1))
  grep -q "^# $n members: NLL .* prediction takes $n times as long" stack.par
  awk '$1 == "weight" { sum += $2 } END { exit !(sum > 0.999999 && sum < 1.000001) }' stack.par
  assert_equal "$(grep '^index' stack.par | sort | uniq -c | awk '{ print $1 }')" "$n"
  # The first member is what is chosen alone.
  assert_equal "$(sed '/^member/,$d' stack.par | grep '^lengthscale')" "$(grep '^lengthscale' one.par)"
  gpnn-calibrate -q t.gpi <stack.par | gpnn-predict -q -p - t.gpi train.tsv | gpnn-eval >scores.tsv
  # Calibrated on the rows of the fit, each predicted by parameters that have not seen it.
  gpnn-index -q -y cnt --calibration-rows 0 -o all.gpi train.tsv
  sed '/^index/d' stack.par | gpnn-calibrate -q --loo -c 200 all.gpi >loo.cal
  assert_equal "$(grep '^weight' loo.cal)" "$(grep '^weight' stack.par)"
  grep -q '^scale' loo.cal
  for o in '--likelihood gaussian' '--effort fast --kernel exp'; do
    # shellcheck disable=SC2086 # options and their values
    gpnn-fit "${quick[@]}" $o t.gpi >x.par
    assert_equal "$(grep -c '^member' x.par)" 0
  done
  assert_fails 2 '^option --members' gpnn-fit --members 0 t.gpi
  assert_fails 2 '^option --members' gpnn-fit --members 9 t.gpi
  assert_fails 2 '^option --members: applies to --method local only' \
    gpnn-fit --method conjugate --members 2 t.gpi
}
