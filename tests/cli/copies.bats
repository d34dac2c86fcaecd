#!/usr/bin/env bats
# Rows that are copies of each other, as after a bad join: what is left out is left out with them.

load helper

# noisy_table ROWS FIRST: two inputs, and a target of which much is noise.
noisy_table() {
  awk -v rows="$1" -v first="$2" '
    function fraction(x) { return x - int(x) }
    BEGIN {
      print "x1\tx2\ty"
      for (i = first; i < first + rows; i++) {
        x = fraction(i * sqrt(2)); z = fraction(i * sqrt(3))
        noise = fraction(24634.6345 * (2 + sin(12 * i))) - 0.5
        printf "%.6f\t%.6f\t%.6f\n", x, z, sin(5 * x) + z + 2.5 * noise
      }
    }'
}

# twice: a table, and its rows once more.
twice() {
  cat "$1"
  tail -n +2 "$1"
}

@test "what is expected of new rows does not depend on copies, and what of rows like these is told" {
  noisy_table 80 1 >once.tsv
  twice once.tsv >twice.tsv
  noisy_table 500 1000 >fresh.tsv
  for table in once twice; do
    gpnn -o $table.out --kernel exp $table.tsv fresh.tsv 2>$table.report
    gpnn -o $table.out --json --kernel exp $table.tsv fresh.tsv 2>$table.json
    tr ',{}' '\n\n\n' <$table.json | awk -F ': *' '/"r2"/ { print $2 }' >$table.r2
  done
  [[ $(tr -s '\n ' ' ' <twice.report) == *'160 of 160 rows equal others in inputs and target (80 are different)'*--unique* ]]
  [[ $(tr -s '\n ' ' ' <twice.report) == *'72 training rows are copies of others'* ]]
  assert_equal "$(wc -l <once.r2) $(wc -l <twice.r2)" '2 3'
  assert_near "$(sed -n 1p twice.r2)" "$(sed -n 1p once.r2)" 0.12
  assert_near "$(sed -n 1p twice.r2)" "$(sed -n 3p twice.r2)" 0.2
  assert_near "$(sed -n 3p twice.r2)" "$(sed -n 2p once.r2)" 0.05
  assert_below "$(sed -n 1p twice.r2)" "$(sed -n 2p twice.r2)"
}

@test "parameters are estimated and calibrated as if every copy were there once" {
  noisy_table 150 1 >once.tsv
  twice once.tsv >twice.tsv
  noisy_table 500 1000 >fresh.tsv
  for table in once twice; do
    gpnn-index -q --calibration-rows 0 -o $table.gpi $table.tsv
    gpnn-fit -q --effort fast $table.gpi >$table.fit
    gpnn-calibrate -q --loo $table.gpi -p $table.fit >$table.cal
  done
  for name in lengthscale kernelscale noise; do
    assert_near "$(value $name twice.fit)" "$(value $name once.fit)" 0.02
  done
  for table in once twice; do
    gpnn-predict -q -p $table.cal $table.gpi fresh.tsv | gpnn-eval >$table.scores
    assert_below 0.9 "$(value coverage95 $table.scores)"
  done
}

@test "copies are held out together, and an index says how many rows are different" {
  noisy_table 100 1 >once.tsv
  twice once.tsv >twice.tsv
  gpnn-index -q -o t.gpi twice.tsv
  gpnn-info --verify t.gpi >info
  assert_equal "$(value rows info) $(value calibration-rows info) $(value distinct-rows info)" '180 20 90'
  gpnn-index -q -o o.gpi once.tsv
  assert_equal "$(gpnn-info o.gpi | value distinct-rows)" ''
  assert_equal "$(gpnn-info --verify o.gpi | grep -c COPY || true)" 0
}

@test "gpnn-index --unique makes the index of the table without copies" {
  noisy_table 100 1 >once.tsv
  twice once.tsv >twice.tsv
  gpnn-index -q -o once.gpi once.tsv
  run gpnn-index --unique -o unique.gpi twice.tsv
  [ "$status" -eq 0 ]
  [[ $output == *'100 rows equal an earlier one and are left out: 100 remain'* ]]
  cmp once.gpi unique.gpi
  gpnn-index -q --unique -j 1 -o unique.gpi - <twice.tsv
  cmp once.gpi unique.gpi
}

@test "repeats that agree by chance are no copies" {
  awk 'BEGIN { srand(1); print "a\tb\ty"
    for (i = 0; i < 400; i++) {
      a = int(4 * rand()); print a "\t" int(3 * rand()) "\t" (rand() < 0.2 + 0.2 * a ? "yes" : "no")
    } }' >classes.tsv
  awk 'BEGIN { srand(2); print "a\tb\ty"
    for (i = 0; i < 400; i++) {
      a = int(4 * rand()); print a "\t" int(3 * rand()) "\t" a + int(6 * rand())
    } }' >counts.tsv
  # Inputs that say nearly all about a target of few values, so that repeats agree far more often than other rows.
  awk 'BEGIN { srand(3); print "a\tb\ty"
    for (i = 0; i < 3000; i++) { a = int(15 * rand()); b = int(12 * rand()); print a "\t" b "\t" 3 * a + 2 * b + (rand() < 0.1) } }' >levels.tsv
  # A rare event, which nearly no row has.
  awk 'BEGIN { srand(1); print "a\tb\ty"
    for (i = 0; i < 5000; i++) { a = int(4 * rand()); print a "\t" int(3 * rand()) "\t" (rand() < 0.0008 * (1 + a)) } }' >events.tsv
  awk 'NR > 1 { $3 = $3 ? "yes" : "no" } 1' OFS='\t' events.tsv >labels.tsv
  # A target of many whole numbers, of which repeats differ by a few.
  awk 'BEGIN { srand(4); print "a\tb\ty"
    for (i = 0; i < 6000; i++) { a = int(40 * rand()); b = int(40 * rand()); print a "\t" b "\t" 977 * a + 40009 * b + int(4 * (rand() + rand())) } }' >steps.tsv
  for table in classes counts levels events labels steps; do
    run gpnn-index -o t.gpi $table.tsv
    [ "$status" -eq 0 ]
    [[ $output != *'equal others'* ]]
  done
}

@test "a table of honest repeats has copies once its rows stand there twice" {
  awk 'BEGIN { srand(5); print "a\tb\ty"; for (i = 0; i < 400; i++) print int(5 * rand()) "\t" int(5 * rand()) "\t" rand() }' >once.tsv
  awk 'BEGIN { srand(6); print "a\tb\ty"; for (i = 0; i < 400; i++) { a = int(5 * rand()); print a "\t" int(5 * rand()) "\t" 5000 * a + int(900 * rand()) } }' >whole.tsv
  for table in once whole; do
    run gpnn-index -o t.gpi $table.tsv
    [[ $status -eq 0 && $output != *'equal others'* ]]
    twice $table.tsv >twice.tsv
    run gpnn-index -o t.gpi twice.tsv
    [[ $status -eq 0 && $output == *'800 of 800 rows equal others'* ]]
  done
}

@test "a few rows that contradict copies are left out with them" {
  noisy_table 400 1 >once.tsv
  twice once.tsv >twice.tsv
  # Of two pairs in four hundred the targets differ.
  awk -F '\t' -v OFS='\t' 'NR == 450 || NR == 500 { $3 += 5 } 1' twice.tsv >torn.tsv
  for table in twice torn; do
    gpnn-index -q -o $table.gpi $table.tsv
    gpnn-info $table.gpi | value distinct-rows >$table.distinct
    make_parameters exp 0.5 1 0.1 30 | sed 's/^noise.*/&\nlikelihood\tlocal/' >t.par
    gpnn-calibrate -q --loo $table.gpi <t.par >$table.cal
    grep '^distances' $table.cal | cut -f 2 >$table.median
  done
  assert_equal "$(cat twice.distinct)" 360
  cmp twice.distinct torn.distinct
  cmp twice.median torn.median
}

@test "copies that are added stay with those of the index, also where rows with the same inputs are no copies" {
  noisy_table 100 1 >once.tsv
  awk -F '\t' -v OFS='\t' 'NR == 50 { print; $3 += 5 } 1' once.tsv >base.tsv
  twice base.tsv >twice.tsv
  for seed in 1 2 3 4; do
    gpnn-index -q --seed $seed --calibration-rows 80 -o t.gpi twice.tsv
    gpnn-index -q --add twice.tsv -o grown.gpi t.gpi
    gpnn-info grown.gpi >info
    assert_equal "$(value rows info) $(value calibration-rows info) $(value distinct-rows info)" '244 160 61'
  done
}

@test "many rows at one place, and tables of a single row many times, are taken as they are" {
  { noisy_table 200 1; yes $'0.5\t0.5\t1' | head -n 5000; } >tie.tsv
  gpnn-index -q -o t.gpi tie.tsv
  assert_equal "$(gpnn-info t.gpi | value distinct-rows)" 101
  make_parameters exp 0.5 1 0.1 30 >t.par
  gpnn-calibrate -q --loo t.gpi -p t.par >t.cal
  { noisy_table 3 1; noisy_table 3 1 | tail -n +2; } >few.tsv
  gpnn-index -q --calibration-rows 0 -o few.gpi few.tsv
}

@test "rows are copies, too, if their inputs differ in digits beyond those that tell rows apart" {
  noisy_table 80 1 >once.tsv
  twice once.tsv >twice.tsv
  awk 'BEGIN { FS = OFS = "\t" } NR > 81 { $1 = sprintf("%.12f", $1 + 1e-10); $2 = sprintf("%.12f", $2 + 1e-10) } 1' \
    twice.tsv >digits.tsv
  for table in twice digits; do
    gpnn-index -q -o $table.gpi $table.tsv
    gpnn-info $table.gpi | value distinct-rows >$table.distinct
    gpnn-fit -q --kernel exp $table.gpi >$table.par
  done
  cmp twice.distinct digits.distinct
  assert_near "$(value noise digits.par)" "$(value noise twice.par)" 0.001
}

@test "rows that are left out with others are few, or not predicted from all others" {
  noisy_table 250 1 >once.tsv
  twice once.tsv >twice.tsv
  awk 'NR == 1 { print $0 "\tgroup"; next } { print $0 "\t" NR % 50 }' twice.tsv >groups.tsv
  gpnn-index -q --calibration-rows 0 -o small.gpi once.tsv
  gpnn-index -q --calibration-rows 0 -o copies.gpi twice.tsv
  { cat twice.tsv && noisy_table 600 2 | tail -n +2; } >more.tsv
  gpnn-index -q --calibration-rows 0 -o more.gpi more.tsv
  gpnn-index -q --calibration-rows 0 -y y --by group -o groups.gpi groups.tsv
  for index in small copies more groups; do gpnn-fit -v -o $index.par $index.gpi 2>$index.out; done
  grep -q 'tried .* by block  *250 neighbours' small.out
  grep -q 'tried .* by block  *250 neighbours' copies.out # of distinct rows, besides others
  grep -q 'tried .* by loo' copies.out
  for index in more groups; do
    grep -q 'tried .* neighbours' $index.out
    ! grep -q 'tried .* by block' $index.out || return
  done
}
