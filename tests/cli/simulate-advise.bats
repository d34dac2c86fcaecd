#!/usr/bin/env bats
# gpnn-simulate advise: what it prints, of one target and of several, and what it refuses.

load helper

prepare() {
  make_table 1600 2 >train.tsv
  gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.02 16 >t.par
}

# Few test rows are enough for all that is not about their number.
advise() {
  gpnn-simulate advise --test 300 "$@"
}

@test "every value is present and within its interval" {
  prepare
  advise -p t.par t.gpi >out.tsv
  assert_equal "$(value rows out.tsv) $(value neighbours out.tsv) $(value test-rows out.tsv)" '1600 16 300'
  for name in rmse nll rmse-2n nll-2n rmse-10n nll-10n rmse-floor rmse-gain-rows nll-gain-rows \
    nll-gain-neighbours; do
    awk -F '\t' -v name="$name" '$1 == name { ok = NF == 4 && $3 <= $2 && $2 <= $4 } END { exit !ok }' \
      out.tsv || complain "$name: $(grep "^$name" out.tsv)"
  done
  for name in curve-exponent rmse-limit nll-limit best-parameters; do value $name out.tsv; done
  grep -qxE 'advice	(rows|neighbours|parameters|nothing)' out.tsv
  assert_equal "$(tail -n 1 out.tsv | cut -f 1)" verdict
}

@test "the verdict names what the advice is about" {
  prepare
  advise -p t.par -m 2 t.gpi >few.tsv
  assert_equal "$(value advice few.tsv)" neighbours
  value verdict few.tsv | grep -q '^more neighbours help most: with twice as many, RMSE -'
  sed 's/lengthscale.*/lengthscale\t0.1/' t.par | advise t.gpi >short.tsv
  assert_equal "$(value advice short.tsv)" parameters
  assert_equal "$(value best-parameters short.tsv)" 'lengthscale x 4'
  value verdict short.tsv | grep -qF "better parameters help most: with $(value best-parameters short.tsv), RMSE"
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = sin(NR * NR) } 1' train.tsv | gpnn-index -q -o noise.gpi -
  make_parameters exp 1 1e-6 1 64 |
    advise noise.gpi >noise.tsv
  assert_equal "$(value advice noise.tsv)" nothing
  value verdict noise.tsv | grep -q '^nothing tried helps'
}

@test "parameters that no small change improves are distinguished from optimal ones" {
  prepare
  sed 's/lengthscale.*/lengthscale\t1e-300/' t.par | advise t.gpi | value verdict >far.txt
  grep -q '^nothing tried helps.*hardly better than the mean .* gpnn-fit may' far.txt
  sed 's/lengthscale.*/lengthscale\t1e300/' t.par | advise t.gpi 2>same.txt >/dev/null
  grep -q '100 % of the test rows' same.txt
  # All that could be known is known: a plane without noise but for what is told.
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = $1 + 0.1 * sin(NR * NR) } 1' train.tsv | gpnn-index -q -o plane.gpi -
  make_parameters rbf 20 200 0.05 100 |
    advise plane.gpi | value verdict >best.txt
  run ! grep 'the mean of the target' best.txt
}

@test "parameters that cannot predict are skipped" {
  prepare
  # Ten times as much noise is more than there are numbers for.
  sed 's/noise.*/noise\t5e307/' t.par | advise --table parameters t.gpi >p.tsv
  assert_equal "$(cut -f 2 p.tsv | sed -n '8,$p' | paste -sd,)" \
    'noise / 3,noise x 3,kernel exp,kernel matern52,kernel rbf'
  assert_equal "$(cut -f 5 p.tsv | sort -u | wc -l)" 2 # all predict the mean; the header
}

@test "the limit is that of the noise, in the target's units" {
  prepare
  sd=$(gpnn-info t.gpi | value target-sd)
  limit=$(advise -p t.par --test 50 t.gpi | value rmse-limit)
  assert_near "$limit" "$(awk -v sd="$sd" 'BEGIN { print sd * sqrt(0.02 * (1 + 1 / 16)) }')" 1e-5
}

@test "units shift the NLL and scale the RMSE, but not the gains" {
  prepare
  sd=$(gpnn-info t.gpi | value target-sd)
  advise -p t.par t.gpi >original.tsv
  advise -p t.par --units standard t.gpi >standard.tsv
  for name in rmse-10n rmse-limit; do
    awk -v a="$(value $name original.tsv)" -v b="$(value $name standard.tsv)" -v sd="$sd" \
      'BEGIN { exit !((a / b / sd - 1) ^ 2 < 1e-20) }'
  done
  assert_near "$(value nll original.tsv)" \
    "$(awk -v b="$(value nll standard.tsv)" -v sd="$sd" 'BEGIN { printf "%.12g", b + log(sd) }')" 1e-9
  diff <(grep gain original.tsv) <(grep gain standard.tsv)
}

@test "the tables contain the measurements, and that of all combines the others" {
  prepare
  advise -p t.par t.gpi >values.tsv
  for table in curve neighbours parameters all; do
    advise -p t.par --table $table t.gpi >$table.tsv
    assert_equal "$(awk -F '\t' '{ print NF }' $table.tsv | sort -u)" 17
  done
  cmp all.tsv <(cat curve.tsv <(tail -n +2 neighbours.tsv) <(tail -n +2 parameters.tsv))
  assert_equal "$(column rows curve.tsv | paste -sd ' ')" '100 200 400 800 1600 3200 16000'
  assert_equal "$(column neighbours neighbours.tsv | paste -sd ' ')" '4 8 16 32'
  assert_equal "$(column measured curve.tsv | tail -n 2 | paste -sd ' ')" 'no no'
  assert_equal "$(column rmse curve.tsv | sed -n 5p)" "$(value rmse values.tsv)"
  assert_equal "$(column nll curve.tsv | tail -n 1)" "$(value nll-10n values.tsv)"
  assert_equal "$(column change parameters.tsv | sort -u | wc -l)" 12
}

@test "the same seed gives the same bytes on any number of threads" {
  prepare
  advise -p t.par --test 200 -j 1 t.gpi >one.tsv
  for j in 2 3; do advise -p t.par --test 200 -j $j t.gpi | cmp - one.tsv; done
  run ! cmp -s one.tsv <(advise -p t.par --test 200 -s 2 t.gpi)
  advise -p t.par --test 200 -o written.tsv t.gpi
  cmp one.tsv written.tsv
}

@test "another metric, known noise of rows and regressors work too" {
  make_table 900 2 | awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "v", "r"; next }
    { r = sin(NR); print $1, $2, $3 + 2 * r, NR % 2 ? 0.0001 : 0.1, r }' >train.tsv
  gpnn-index -q -y y -x x1,x2 --row-noise v --regressors r -o t.gpi train.tsv
  gpnn-fit -q --effort fast --kernel exp --ard yes -m 16 --mean-function regressors t.gpi >t.par
  assert_equal "$(grep -c '^lengthscale	.*	' t.par)" 1
  advise -q -p t.par --test 200 t.gpi >out.tsv
  assert_below "$(value rmse out.tsv)" 1
}

@test "each target of an index has a block of lines and a column in the table" {
  make_table 800 2 | awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "z"; next }
    { print $0, sin(7 * $2) + 0.01 * ((NR * 7919) % 10) }' >train.tsv
  gpnn-index -q -y y,z -o t.gpi train.tsv
  gpnn-fit -q --kernel matern32 --ard no --rotate none -m 10 --objective block t.gpi >t.par
  advise -q -p t.par --test 100 t.gpi >out.tsv
  assert_equal "$(grep '^target' out.tsv | cut -f 2 | paste -sd ' ')" 'y z'
  assert_equal "$(grep -c '^verdict' out.tsv)" 2
  advise -q -p t.par --test 100 --table curve t.gpi >curve.tsv
  assert_equal "$(column target curve.tsv | uniq -c | awk '{ print $1 $2 }' | paste -sd ' ')" '7y 7z'
  # A target is looked at as it is when it is the only one.
  awk '$1 == "target" { on = $2 == "z" } on' t.par | advise -q --test 100 t.gpi >z.tsv
  diff <(sed '1,/^target\tz/d' out.tsv) <(tail -n +2 z.tsv)
}

@test "rows at the same inputs cause a warning" {
  prepare
  advise -p t.par t.gpi 2>once.txt >/dev/null
  [[ ! -s once.txt ]]
  { cat train.tsv && tail -n +2 train.tsv | head -n 400 | awk -v OFS='\t' '{ $NF += NR % 7 / 10; print }'; } | gpnn-index -q --calibration-rows 0 -o twice.gpi -
  advise -p t.par twice.gpi 2>twice.txt >/dev/null
  grep -qE '(3[0-9]|4[0-9]) % of the test rows have the inputs of another' twice.txt
}

@test "what cannot be done is refused in one line" {
  prepare
  assert_fails 2 'an operand is missing' gpnn-simulate advise -p t.par
  assert_fails 2 'option --table: curve, neighbours, parameters or all' \
    gpnn-simulate advise -p t.par --table rows t.gpi
  assert_fails 2 'option --units: original or standard' \
    gpnn-simulate advise -p t.par --units miles t.gpi
  assert_fails 2 'test' gpnn-simulate advise -p t.par --test 3 t.gpi
  assert_fails 1 '1600 training rows are too few .* with 400 neighbours: that takes 1604' \
    gpnn-simulate advise -p t.par -m 400 t.gpi
  assert_fails 1 'make one with gpnn-index' gpnn-simulate advise -p t.par train.tsv
  assert_fails 1 '^/dev/null: is empty, not parameters' gpnn-simulate advise -p /dev/null t.gpi
  assert_fails 1 'too few' gpnn-simulate advise -p t.par -m 400 -o out.tsv t.gpi
  [[ ! -e out.tsv ]]
}
