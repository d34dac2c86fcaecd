#!/usr/bin/env bats
# gpnn-simulate grid: synthetic observations of sites at times.

load helper

grid() { gpnn-simulate grid "$@"; }

@test "a line for each cell that was observed" {
  grid --sites 7 --times 5 --missing 0 >all.tsv
  assert_equal "$(head -n 1 all.tsv)" $'x1\tx2\tt\ty'
  assert_equal "$(wc -l <all.tsv)" 36
  assert_equal "$(column t all.tsv | sort -n | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ')" '70 71 72 73 74 '
  grid --sites 7 --times 5 --missing 0.5 >some.tsv
  assert_equal "$(sort all.tsv some.tsv | uniq -d | wc -l)" "$(wc -l <some.tsv)"
  assert_equal "$(grid --sites 7 --times 5 --missing 1 | wc -l)" 1
}

@test "the wide table has the same cells" {
  options=(--sites 9 --times 4 --dimension 1 --missing 0.4)
  grid "${options[@]}" >long.tsv
  grid "${options[@]}" --wide >wide.tsv
  assert_equal "$(head -n 1 wide.tsv)" $'x1\tt0\tt1\tt2\tt3'
  awk -v OFS='\t' 'NR == 1 { print "x1", "t", "y"; next }
    { for (j = 2; j <= NF; j++) if ($j != "NA") print $1, j - 2, $j }' wide.tsv | cmp - long.tsv
}

@test "the process itself is known at all cells" {
  options=(--sites 9 --times 4 --missing 0.4)
  grid "${options[@]}" -d , --noiseless >truth.csv
  assert_equal "$(head -n 1 truth.csv)" x1,x2,t,f,y
  assert_equal "$(wc -l <truth.csv)" 37
  grid "${options[@]}" -d , >observed.csv
  awk -F , '$5 != "NA" { print $1 "," $2 "," $3 "," $5 }' truth.csv | cmp - observed.csv
  grid "${options[@]}" -d , -t noise=0 --noiseless | awk -F , 'NR > 1 && $5 != "NA" && $4 != $5' >different
  [[ ! -s different ]]
}

@test "same seed, same bytes, for any number of threads" {
  for j in 1 2 3; do grid -j $j --sites 300 --times 140 >$j.tsv; done
  cmp 1.tsv 2.tsv
  cmp 1.tsv 3.tsv
  grid -s 2 --sites 300 --times 140 >other.tsv
  run ! cmp -s 1.tsv other.tsv
}

@test "parameters change the process as they say" {
  grid --sites 400 --times 30 --noiseless -t kernelscale=4 -t time.lengthscale=1e9 >still.tsv
  awk 'NR > 1 { s[$1] += $4; q[$1] += $4 * $4; n[$1]++ }
    END { for (i in s) { v = q[i] / n[i] - (s[i] / n[i])^2; if (v > 1e-6) exit 1 } }' still.tsv
  grid --sites 50 --times 400 --noiseless -t kernelscale=4 -t site.lengthscale=1e-3 \
    -t time.lengthscale=1e-3 | awk 'NR > 1 { q += $4 * $4 } END { print q / (NR - 1) }' >square
  assert_near "$(cat square)" 4 0.15
}

@test "what cannot be made is refused" {
  assert_fails 2 'site.lengthscale' gpnn-simulate grid -t lengthscale=2
  assert_fails 2 'site.lengthscale' gpnn-simulate grid -t site.noise=2
  assert_fails 2 'option --true' gpnn-simulate grid -t site.kernel=cubic
  assert_fails 2 'option --true' gpnn-simulate grid -t time.lengthscale=0
  assert_fails 2 'noiseless does not go with --wide' gpnn-simulate grid --wide --noiseless
  assert_fails 2 'missing' gpnn-simulate grid --missing 1.5
  assert_fails 2 'sites' gpnn-simulate grid --sites 0
  assert_fails 1 'not finite' gpnn-simulate grid -t time.lengthscale=1e-320
}
