#!/usr/bin/env bats
# Targets of which a large share are exactly one number: when that becomes an atom, and what is
# predicted then.

load helper

# make_rain ROWS SEED [SHIFT]: targets are 0 with a probability that depends on the inputs and falls
# with SHIFT, and otherwise positive.
make_rain() {
  awk -v n="$1" -v seed="$2" -v shift="${3-0}" '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
    BEGIN {
      srand(seed)
      print "a\tb\train"
      for (i = 0; i < n; i++) {
        a = rand(); b = rand(); u = 2 * sin(5 * a) + 1.5 * cos(4 * b) - shift
        dry = rand() < 1 / (1 + exp(-2 * u))
        wet = exp(0.8 * sin(3 * a + 2 * b) + 0.4 * normal())
        printf "%.6g\t%.6g\t%.6g\n", a, b, dry ? 0 : wet
      }
    }'
}

# make_rain_model [ROWS [SHIFT]]: train.tsv, its index t.gpi, parameters t.par; rows in test.tsv.
make_rain_model() {
  make_rain "${1-3000}" 1 "${2-0}" >train.tsv
  make_rain 2000 2 "${2-0}" >test.tsv
  gpnn-index -q --calibration-rows "$((${1-3000} / 4))" -o t.gpi train.tsv
  { make_parameters matern32 0.5 1 0.4 40 && printf 'likelihood\tlocal\n'; } >t.par
}

@test "an atom is found where it pays, lowers the CRPS, and can be switched off" {
  make_rain_model
  gpnn-calibrate -v t.gpi <t.par >t.cal 2>err.txt
  grep -q 'an atom at 0, where .* % of the targets are' err.txt
  grep -q '^# calibration: .* an atom at 0' t.cal
  assert_equal "$(value atom t.cal)" 0
  gpnn-calibrate --atom none t.gpi <t.par >none.cal
  run ! value atom none.cal
  for cal in t none; do gpnn-predict -p $cal.cal t.gpi test.tsv | gpnn-eval >$cal.txt; done
  assert_below "$(value crps t.txt)" "$(awk '$1 == "crps" { print 0.95 * $2 }' none.txt)"
  assert_below "$(value rmse t.txt)" "$(awk '$1 == "rmse" { print 1.05 * $2 }' none.txt)"
  gpnn-info t.cal | grep -q '^atom'
  gpnn-calibrate --atom none t.gpi <t.cal | grep -v '#' | diff - <(grep -v '#' none.cal)
}

@test "predictions have scores, and their coverage is at least the nominal one" {
  make_rain_model
  gpnn-calibrate t.gpi <t.par >t.cal
  gpnn-predict -p t.cal --interval 0.5,0.9 t.gpi test.tsv >out.tsv
  assert_equal "$(head -n 1 out.tsv)" \
    "$(printf 'rain\tmean\tsd\tlower50\tupper50\tlower90\tupper90\tlogp\tcrps\tpit\tpitstep')"
  inside=$(awk -F '\t' 'NR > 1 { n += $1 >= $6 && $1 <= $7 } END { print n / (NR - 1) }' out.tsv)
  assert_near "$inside" 0.94 0.05
  # Only zeros are at a step, which lies within 0 and 1, and logp is the logarithm of its height.
  awk -F '\t' 'NR > 1 {
      if (($1 == 0) != ($11 > 0)) exit 1
      if ($1 == 0 && (log($11) - $8) ^ 2 > 1e-12) exit 1
      if ($10 < $11 / 2 - 1e-9 || $10 > 1 - $11 / 2 + 1e-9) exit 1
    }' out.tsv
  # The middle of the step at 0 is at most one half of its height, and densities there at most 1.
  awk -F '\t' 'NR > 1 && $1 == 0 && ($8 > 0 || $10 > 0.6) { exit 1 }' out.tsv
  # The same in units of the standardised target.
  gpnn-predict -p t.cal --units standard t.gpi test.tsv | column pit >standard.txt
  column pit out.tsv | paste - standard.txt |
    awk '$1 - $2 > 1e-9 || $2 - $1 > 1e-9 { exit 1 }'
  gpnn-predict -p t.cal --mean-only t.gpi test.tsv | column mean | cmp - <(column mean out.tsv)
}

@test "PIT and coverage of predictions with an atom are right" {
  make_rain_model
  gpnn-calibrate t.gpi <t.par >t.cal
  gpnn-predict -p t.cal t.gpi test.tsv >out.tsv
  gpnn-eval --levels 0.5,0.9 out.tsv >eval.txt
  assert_near "$(value coverage50 eval.txt)" 0.5 0.05
  assert_near "$(value coverage90 eval.txt)" 0.9 0.03
  assert_below "$(value pit_distance eval.txt)" 0.05
  gpnn-eval --table reliability --levels 0.5,0.9 out.tsv | column observed >observed.txt
  for level in 50 90; do value "coverage$level" eval.txt; done | cmp - observed.txt
  # Neither the order of the rows nor the batch counts.
  { head -n 1 out.tsv && tail -n +2 out.tsv | sort -r; } | gpnn-eval --table pit >sorted.txt
  gpnn-eval --table pit out.tsv | cmp - sorted.txt
  # A probability has no unit, so that standardised predictions have the same NLL.
  gpnn-predict -p t.cal --units standard t.gpi test.tsv | gpnn-eval >standard.txt
  assert_near "$(gpnn-eval --index t.gpi out.tsv | value nll_standard)" \
    "$(value nll standard.txt)" 1e-6
}

@test "conformal intervals keep their promise with an atom" {
  make_rain_model
  gpnn-calibrate --conformal 0.8 t.gpi <t.par >t.cal
  gpnn-predict -p t.cal --interval 0.8 t.gpi test.tsv |
    awk -F '\t' 'NR > 1 { n += $1 >= $4 && $1 <= $5 } END { exit !(n / (NR - 1) > 0.77) }'
}

@test "draws are at the atom as often as expected" {
  make_rain_model
  gpnn-calibrate t.gpi <t.par >t.cal
  head -n 301 test.tsv >few.tsv
  gpnn-predict -p t.cal --samples 200 t.gpi few.tsv >draws.tsv
  awk -F '\t' 'NR > 1 { zeros += $1 == 0; for (i = NF - 199; i <= NF; i++) n += $i == 0 }
    END { d = zeros / (NR - 1) - n / (NR - 1) / 200; exit !(d < 0.08 && d > -0.08) }' draws.tsv
}

@test "predictions depend neither on batches nor on threads" {
  make_rain_model 1200
  gpnn-calibrate t.gpi <t.par >t.cal
  gpnn-calibrate -j 3 t.gpi <t.par | cmp - t.cal
  gpnn-predict -j 1 -p t.cal t.gpi test.tsv >one.tsv
  gpnn-predict -j 3 --batch 37 -p t.cal t.gpi test.tsv | cmp - one.tsv
  gpnn-predict --share 8 -p t.cal t.gpi test.tsv | cmp - one.tsv
}

@test "without enough equal targets nothing is different" {
  make_rain_model 1500 5
  gpnn-calibrate t.gpi <t.par >t.cal
  run ! value atom t.cal
  gpnn-calibrate --atom none t.gpi <t.par | cmp - t.cal
}

@test "few rows, and all rows equal but one, have no atom" {
  make_rain 20 1 >few.tsv
  gpnn-index -q --calibration-rows 0 -o few.gpi few.tsv
  { make_parameters matern32 0.5 1 0.4 10 && printf 'likelihood\tlocal\n'; } >few.par
  gpnn-calibrate -q --loo few.gpi <few.par >few.cal
  run ! value atom few.cal
  for events in 1 3; do
    awk -v OFS='\t' -v n=$events 'NR > 1 { $3 = NR % 100 == 7 && NR < 100 * n } 1' <(make_rain 400 1) >equal.tsv
    gpnn-index -q --calibration-rows 0 -o equal.gpi equal.tsv
    gpnn-calibrate -q --loo equal.gpi <few.par >equal.cal
    if ((events == 1)); then run ! value atom equal.cal; fi
  done
  assert_equal "$(value atom equal.cal)" 0
}

@test "an atom may be the largest target, and of two only the larger share counts" {
  make_rain 3000 1 | awk -v OFS='\t' 'NR > 1 { $3 = 12.3 - $3 } 1' >high.tsv
  gpnn-index -q --calibration-rows 700 -o high.gpi high.tsv
  { make_parameters matern32 0.5 1 0.4 40 && printf 'likelihood\tstudent\n'; } >t.par
  gpnn-calibrate -q high.gpi <t.par >high.cal
  assert_equal "$(value atom high.cal)" 12.3
  gpnn-predict -p high.cal --interval 0.9 high.gpi high.tsv |
    awk -F '\t' 'NR > 1 { n += $5 == 12.3 } END { exit !(n > 500) }'
  make_rain 3000 1 | awk -v OFS='\t' 'NR > 1 && $3 > 1.6 { $3 = 3 } 1' >two.tsv
  gpnn-index -q --calibration-rows 700 -o two.gpi two.tsv
  gpnn-calibrate -q two.gpi <t.par >two.cal
  assert_equal "$(value atom two.cal)" 0
}

@test "the line of an atom is checked" {
  make_rain_model 400
  make_parameters matern32 0.5 1 0.4 40 >g.par
  printf 'atom\t0\t0.5\t0\t1\t0\n' | cat g.par - >bad.par
  assert_fails 1 'atom: needs likelihood student or local' gpnn-predict -p bad.par t.gpi test.tsv
  printf 'atom\t0\t1.5\t0\t1\t0\n' | cat t.par - >bad.par
  assert_fails 1 'atom: a share that is not between 0 and 1' gpnn-predict -p bad.par t.gpi test.tsv
  printf 'atom\t0\t0.5\t0\n' | cat t.par - >bad.par
  assert_fails 1 'atom: 3 numbers, not 5' gpnn-predict -p bad.par t.gpi test.tsv
}

@test "sums of rows with an atom have the sum of the means" {
  make_rain_model 1200
  gpnn-calibrate t.gpi <t.par >t.cal
  awk -v OFS='\t' '{ print $0, NR == 1 ? "g" : NR % 5 }' test.tsv | head -n 101 >g.tsv
  gpnn-predict -p t.cal --group g t.gpi g.tsv >sums.tsv
  gpnn-predict -p t.cal --keep g t.gpi g.tsv |
    awk -F '\t' 'NR > 1 { s[$1] += $3 } END { for (g in s) printf "%s %.9g\n", g, s[g] }' | sort >a
  paste <(column g sums.tsv) <(column mean sums.tsv) |
    awk '{ printf "%s %.9g\n", $1, $2 }' | sort | diff a -
}

@test "combinations of predictions with an atom are those of their means and sds" {
  make_rain_model 1500
  gpnn-calibrate t.gpi <t.par >1.cal
  sed 's/^neighbours.*/neighbours\t12/' t.par | gpnn-calibrate -q t.gpi >2.cal
  for k in 1 2; do
    gpnn-predict -q -p $k.cal t.gpi test.tsv >$k.tsv
    head -n 1 $k.tsv | grep -q pitstep
    cut -f 1-3 $k.tsv >$k.bare
  done
  for rule in fuse poe gpoe rbcm grbcm weights stack; do
    gpnn-combine -q --rule $rule 1.tsv 2.tsv >$rule.tsv
    assert_equal "$(head -n 1 $rule.tsv)" $'rain\tmean\tsd'
    gpnn-combine -q --rule $rule 1.bare 2.bare | cmp - $rule.tsv
    [[ $rule == @(weights|stack) ]] || continue # the others are for other models
    assert_below "$(gpnn-eval -q $rule.tsv | value rmse)" \
      "$(gpnn-eval -q 1.tsv | awk '$1 == "rmse" { print 1.05 * $2 }')"
  done
  gpnn-combine -q --check 1.tsv 1.tsv 2.tsv | cut -f 2- >check.txt
  gpnn-combine -q --check 1.tsv 1.bare 2.bare | cut -f 2- | cmp - check.txt
}

# whole: truths that are whole numbers, six tenths of them 0, from the right distribution.
whole() {
  awk 'BEGIN {
    print "y,mean,sd,logp,crps,pit,pitstep"
    for (i = 0; i < 2000; i++) {
      u = (i + 0.5) / 2000
      if (u < 0.6) print "0,3,2," log(0.6) ",1,0.3,0.6"
      else print i ",3,2,-1,1," u ",0"
    }
  }'
}

@test "pictures of right predictions with an atom are of right ones, and not of counts" {
  whole >whole.csv
  gpnn-plot calibration --script whole.csv | sed -n '/^[$]observed <</,/^EOD/p' >observed
  assert_equal "$(grep -c '^0' observed)" 20
  awk '/^0/ && ($2 - $1 > 0.002 || $1 - $2 > 0.002) { bad = 1 } END { exit bad }' observed
  gpnn-plot pit --bins 10 --script whole.csv | sed -n '/^[$]pit <</,/^EOD/p' >bins
  awk '/^0/ && ($2 > 1.15 || $2 < 0.85) { bad = 1 } END { exit bad }' bins || complain "$(<bins)"
  gpnn-eval --table reliability whole.csv | awk -F , 'NR > 1 && ($1 - $2) ^ 2 > 4e-6 { exit 1 }'
}

@test "gpnn hands --atom on, and its NLL has no unit at the atom" {
  make_rain 2500 1 >train.tsv
  make_rain 1000 2 >test.tsv
  local fast=(--effort fast --kernel matern32 --ard no -m 40 --transform none)
  gpnn "${fast[@]}" --json --save kept.gpm train.tsv test.tsv >out.tsv 2>report.json
  assert_equal "$(value atom <(gpnn-info --unpack kept.gpm))" 0
  head -n 1 out.tsv | grep -q $'pit\tpitstep$'
  json report.json >report.txt
  gpnn-eval --levels 0.95 --index kept.gpm out.tsv >eval.txt
  assert_near "$(value targets.0.predicted.nll_standard report.txt)" \
    "$(value nll_standard eval.txt)" 1e-5
  assert_near "$(value targets.0.predicted.coverage95 report.txt)" \
    "$(value coverage95 eval.txt)" 1e-5
  gpnn "${fast[@]}" -q --atom none --save none.gpm train.tsv test.tsv >none.tsv
  run ! value atom <(gpnn-info --unpack none.gpm)
  run ! grep -q pitstep none.tsv
}
