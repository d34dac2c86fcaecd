#!/usr/bin/env bats
# gpnn-absorb: rows and models made of another owner's answers.

load helper

# Owners of x1 (a.tsv a.gpi) and x2 (b.tsv b.gpi), parameters p.par of both, a pool, and answers.
make_owners() {
  gpnn-simulate views -n 40 --mask x1 >a.tsv
  gpnn-simulate views -n 40 --mask x2 --first 1000 >b.tsv
  gpnn-simulate views -n 60 --first 10000 >pool.tsv
  for owner in a b; do
    gpnn-index -q -y y -x "x$([[ $owner == a ]] && echo 1 || echo 2)" --target-scale 0.1,1.5 --standardise none \
      --calibration-rows 0 -o $owner.gpi $owner.tsv
  done
  make_parameters rbf 1.5 0.5 0.1 100 >p.par
  gpnn-ask -p p.par --count 8 a.gpi pool.tsv >asked.tsv
  gpnn-answer -p p.par --ids asked.tsv --report full b.gpi pool.tsv >answers.tsv
}

absorb() { gpnn-absorb --answers answers.tsv "$@" a.gpi pool.tsv; }

# index_both RULE: an index of own rows and those made of answers.
index_both() {
  absorb --rule "$1" --own a.tsv >both.tsv
  gpnn-index -q -y y -x x1 --row-noise row_noise --target-scale 0.1,1.5 --standardise none --calibration-rows 0 -o both.gpi both.tsv
}

@test "rows have the pool's columns, the target and its noise, and follow own rows" {
  make_owners
  absorb --rule marginal >rows.tsv
  assert_equal "$(head -n 1 rows.tsv | tr '\t' ' ')" 'id y x1 x2 row_noise'
  paste <(column y rows.tsv) <(grep -v '^#' answers.tsv | column mean) <(column row_noise rows.tsv) \
    <(grep -v '^#' answers.tsv | column variance) | awk '{ if ($1 != $2 || $3 != $4) exit 1 }'
  absorb --rule marginal --own a.tsv >both.tsv
  assert_equal "$(wc -l <both.tsv)" 49
  assert_equal "$(tail -n 8 both.tsv)" "$(tail -n 8 rows.tsv)"
  assert_equal "$(sed -n 2,41p both.tsv | cut -f 5 | sort -u)" 0
  cut -f 1,2,3 a.tsv | sed '1s/$/\textra/; 2,$s/$/\tz/' >other.tsv
  absorb --rule none --own other.tsv >wide.tsv
  assert_equal "$(head -n 1 wide.tsv | tr '\t' ' ')" 'id y x1 extra row_noise'
  assert_equal "$(tail -n 1 wide.tsv | cut -f 4,5 | tr '\t' ' ')" 'NA 0'
}

@test "a model with marginal variances predicts as rows with these do" {
  make_owners
  index_both marginal
  gpnn-predict -q -p p.par both.gpi pool.tsv >rows.tsv
  absorb --rule full --uncertainty marginal -p p.par -o a.gpm
  gpnn-predict -q a.gpm pool.tsv >model.tsv
  paste <(column mean rows.tsv) <(column mean model.tsv) <(column sd rows.tsv) <(column sd model.tsv) |
    awk '{ d = $1 - $2; e = $3 - $4; if (d * d > 1e-16 || e * e > 1e-12) exit 1 }'
}

@test "a model without errors of answers predicts as rows without noise of their own do" {
  make_owners
  index_both none
  gpnn-predict -q -p p.par both.gpi pool.tsv | column mean >rows
  absorb --rule full --uncertainty none -p p.par -o a.gpm
  gpnn-predict -q a.gpm pool.tsv | column mean | paste rows - | awk '{ d = $1 - $2; if (d > 1e-8 || d < -1e-8) exit 1 }'
}

@test "answers that say nothing change nothing" {
  make_owners
  gpnn-predict -q -p p.par a.gpi pool.tsv >before.tsv
  awk 'BEGIN { FS = OFS = "\t" } /^#/ || $1 == "id" { print; next } { $2 = 0.1; $3 = $4; print }' answers.tsv >silent.tsv
  mv silent.tsv answers.tsv
  absorb --own a.tsv >both.tsv 2>told
  assert_equal "$(wc -l <both.tsv)" 41
  grep -q '8 of 8 answers are as uncertain' told
  gpnn-index -q -y y -x x1 --row-noise row_noise --target-scale 0.1,1.5 --standardise none --calibration-rows 0 -o both.gpi both.tsv
  gpnn-predict -q -p p.par both.gpi pool.tsv | diff - before.tsv
}

@test "every rule makes a model, which the other tools take" {
  make_owners
  for rule in full hybrid; do
    absorb --rule $rule -p p.par -o $rule.gpm
    gpnn-predict -q $rule.gpm pool.tsv | gpnn-eval -q >scores
    assert_below "$(value rmse scores)" 1
  done
  assert_equal "$(gpnn-info full.gpm | value family)" augmented
  absorb --rule blocky -p p.par -o blocky.gpm 2>told
  grep -q 'adds two predictions up' told
  sed 's/^\(1[0-9]*\)\t[^\t]*/\1\t50/' answers.tsv >wild.tsv
  mv wild.tsv answers.tsv
  absorb --rule full --uncertainty none --gate -p p.par -o gate.gpm 2>told
  grep -q 'answers are left out' told
}

@test "what does not belong together is refused" {
  make_owners
  assert_fails 2 'give the answers' gpnn-absorb a.gpi pool.tsv
  gpnn-index -q -y y -x x1 --target-scale 0,1 -o other.gpi a.tsv
  assert_fails 1 'answers.tsv: the answers are of a target that is standardised by the mean 0.1' \
    gpnn-absorb --answers answers.tsv other.gpi pool.tsv
  grep -v '^10000' pool.tsv | head -n 20 >part.tsv
  assert_fails 1 "part.tsv: column 'id': no row has the id" gpnn-absorb --answers answers.tsv a.gpi part.tsv
  assert_fails 1 'is not a table of answers' gpnn-absorb --answers pool.tsv a.gpi pool.tsv
  gpnn-answer -p p.par --ids asked.tsv --report none b.gpi pool.tsv >none.tsv
  assert_fails 1 'none.tsv: the answers have the report "none", but the rule needs "marginal"' \
    gpnn-absorb --answers none.tsv a.gpi pool.tsv
  assert_fails 1 'needs "full"' gpnn-absorb --answers none.tsv --rule hybrid -p p.par -o x.gpm a.gpi pool.tsv
  assert_fails 1 'needs "marginal"' gpnn-absorb --answers none.tsv --rule full --uncertainty marginal -p p.par -o x.gpm a.gpi pool.tsv
  assert_fails 2 'give the file to write the model to' gpnn-absorb --answers answers.tsv --rule full -p p.par a.gpi pool.tsv
  assert_fails 2 'option --gate' gpnn-absorb --answers answers.tsv --gate a.gpi pool.tsv
  assert_fails 2 'option --own' gpnn-absorb --answers answers.tsv --rule full --own a.tsv -p p.par -o x.gpm a.gpi pool.tsv
  assert_fails 2 'only one of' gpnn-absorb --answers - a.gpi
  cut -f 1,2,4 a.tsv >inputless.tsv
  assert_fails 1 'inputless.tsv' gpnn-absorb --answers answers.tsv --own inputless.tsv a.gpi pool.tsv
  assert_fails 2 'a.tsv' gpnn-absorb --answers answers.tsv --own a.tsv -o a.tsv a.gpi pool.tsv
  sed 's/^# target: y/# target: z/' answers.tsv >named.tsv
  gpnn-absorb --answers named.tsv a.gpi pool.tsv 2>&1 >rows.tsv | grep -q 'are about "z", which is taken for the target "y"'
  cut -f 1,3 a.tsv >without.tsv
  assert_fails 1 "without.tsv: has no column 'y', the target" gpnn-absorb --answers answers.tsv --own without.tsv a.gpi pool.tsv
  head -n 9 answers.tsv >short.tsv
  assert_fails 1 'rows or columns are missing' gpnn-absorb --answers short.tsv a.gpi pool.tsv
}

@test "answers that are far from anything the owners agreed on cause a warning" {
  make_owners
  absorb --rule marginal 2>err >rows.tsv
  [[ ! -s err ]]
  awk 'BEGIN { FS = OFS = "\t" } !/^#/ && ++n == 1 { for (i = 1; i <= NF; i++) if ($i == "mean") at = i }
    n > 1 { $at *= 1000 } 1' answers.tsv >large.tsv
  gpnn-absorb --answers large.tsv --rule marginal a.gpi pool.tsv 2>err >rows.tsv
  grep -q '^gpnn-absorb: large.tsv: 8 of 8 answers .*other units' err
  awk 'BEGIN { FS = OFS = "\t" } !/^#/ && ++n > 1 { $2 *= 1000; $3 *= 1e6; $4 *= 1e6 } 1' answers.tsv >large.tsv
  gpnn-absorb --answers large.tsv --rule marginal a.gpi pool.tsv 2>&1 >rows.tsv | grep -q '8 of 8 answers .*other units'
}
