#!/usr/bin/env bats
# gpnn-ask: which rows of a pool to ask another owner about.

load helper

# An owner of column x1 in a.gpi with parameters a.par, and a pool of 40 rows.
make_owner() {
  gpnn-simulate views -n 60 --mask x1 >own.tsv
  gpnn-simulate views -n 40 --first 10000 >pool.tsv
  gpnn-index -q -y y -x x1 --target-scale 0,1 -o a.gpi own.tsv
  make_parameters rbf 2 1 0.2 60 >a.par
}

@test "the rows of which the model is least certain are asked about, the least certain first" {
  make_owner
  gpnn-ask -p a.par --count 7 a.gpi pool.tsv >ids.tsv
  gpnn-predict -q -p a.par --keep id a.gpi pool.tsv |
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["sd"] "\t" $at["id"] }' |
    sort -k 1,1gr | cut -f 2 | head -n 7 >expected
  tail -n +2 ids.tsv | diff - expected
  assert_equal "$(head -n 1 ids.tsv)" id
}

@test "what was asked before is not asked again" {
  make_owner
  gpnn-ask -p a.par --count 40 a.gpi pool.tsv >all.tsv
  gpnn-ask -p a.par --count 5 a.gpi pool.tsv >first.tsv
  gpnn-ask -p a.par --count 5 --not first.tsv a.gpi pool.tsv >then.tsv
  tail -n +2 then.tsv | diff - <(sed -n 7,11p all.tsv)
  gpnn-ask -p a.par --count 5 --not - a.gpi pool.tsv <first.tsv | diff - then.tsv
  assert_equal "$(gpnn-ask -p a.par --not all.tsv a.gpi pool.tsv 2>told)" id
  assert_equal "$(cat told)" 'gpnn-ask: only 0 rows of the pool were left to ask about'
}

@test "greedy and random choices, any id column, any table" {
  make_owner
  gpnn-ask -p a.par --count 5 a.gpi pool.tsv | sort >variance
  gpnn-ask -p a.par --count 5 --strategy greedy a.gpi pool.tsv | sort >greedy
  run diff variance greedy
  assert_equal "$status" 1
  gpnn-ask -p a.par --count 5 --strategy random -s 3 a.gpi pool.tsv >random
  gpnn-ask -p a.par --count 5 --strategy random -s 3 -j 1 a.gpi pool.tsv | diff - random
  sed 's/\t/,/g; s/^id/the key/; s/$/\r/' pool.tsv | gzip >pool.csv.gz
  gpnn-ask -p a.par --count 5 --strategy greedy --id 'the key' a.gpi pool.csv.gz | tail -n +2 | sort |
    diff - <(grep -v id greedy)
  gpnn-ask -p a.par --count 5 --strategy greedy --id 1 a.gpi - <pool.tsv | tail -n +2 | sort |
    diff - <(grep -v id greedy)
}

@test "a model file asks as well" {
  make_owner
  gpnn-sparse -q --inducing 10 -o a.gpm a.gpi
  assert_equal "$(gpnn-ask --count 4 --strategy greedy a.gpm pool.tsv | wc -l)" 5
}

@test "what cannot be asked about is refused" {
  make_owner
  assert_fails 2 "no column 'key'" gpnn-ask -p a.par --id key a.gpi pool.tsv
  { cat pool.tsv && sed -n 3p pool.tsv; } >twice.tsv
  assert_fails 1 "twice.tsv: column 'id': two rows have the id \"10001\"" gpnn-ask -p a.par a.gpi twice.tsv
  sed '4s/^[^\t]*/NA/' pool.tsv >missing.tsv
  assert_fails 1 "missing.tsv:4: column 'id': missing value" gpnn-ask -p a.par a.gpi missing.tsv
  awk 'BEGIN { FS = OFS = "\t" } NR == 5 { $3 = "abc" } { print }' pool.tsv >word.tsv
  assert_fails 1 "word.tsv:5: column 'x1': not a number: \"abc\"" gpnn-ask -p a.par a.gpi word.tsv
  cut -f 1,2,4 pool.tsv >without.tsv
  assert_fails 1 'without.tsv' gpnn-ask -p a.par a.gpi without.tsv
  assert_fails 2 'only one of parameters, pool and --not' gpnn-ask -p - a.gpi -
  assert_fails 1 'swap' gpnn-ask -p a.par pool.tsv a.gpi
  head -n 1 pool.tsv >none.tsv
  run -0 gpnn-ask -q -p a.par a.gpi none.tsv
  assert_equal "$output" id
  run bash -c "gpnn-ask -p a.par a.gpi pool.tsv >/dev/full"
  assert_equal "$status" 1
}
