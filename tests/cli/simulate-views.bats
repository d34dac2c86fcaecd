#!/usr/bin/env bats
# gpnn-simulate views: objects that two parties see in different columns.

load helper

views() { gpnn-simulate views "$@"; }

@test "a row for each object, numbered in order" {
  views -n 5 >t.tsv
  assert_equal "$(head -n 1 t.tsv)" $'id\ty\tx1\tx2'
  assert_equal "$(column id t.tsv | tr '\n' ' ')" '0 1 2 3 4 '
  views -n 5 -d , | cmp - <(tr '\t' , <t.tsv)
  assert_equal "$(views | wc -l)" 1001
  views -n 1 --first 1e15 | column id | grep -qx 1000000000000000
}

@test "an id names the same object in every table of a seed" {
  views -n 40 >all.tsv
  views -n 15 --first 10 | cmp - <(sed -n '1p;12,26p' all.tsv)
  views -n 12 --mask x1 | sed 1d >masked.tsv
  assert_equal "$(sort all.tsv masked.tsv | uniq -d | wc -l)" 12
  views -n 40 --correlation 0.2 --dependent | column y | cmp - <(column y all.tsv)
  run ! cmp -s all.tsv <(views -n 40 -s 2)
}

@test "masks keep one half each, without gaps" {
  views -n 3000 >all.tsv
  awk -F '\t' 'NR == 1 || $3 > 0' all.tsv >first.tsv
  awk -F '\t' 'NR == 1 || $4 < 0' all.tsv >second.tsv
  views -n "$(column id first.tsv | wc -l)" --mask x1 | cmp - first.tsv
  views -n "$(column id second.tsv | wc -l)" --mask x2 | cmp - second.tsv
  views -n 3000 --mask none | cmp - all.tsv
}

@test "correlations and what one view explains are as they should be" {
  for how in '' --dependent; do
    # shellcheck disable=SC2086 # none or one
    views -n 100000 --correlation 0.75 $how | awk -F '\t' -v joint="${how:+1}" '
      NR > 1 { n++; a += $2 * $3; b += $2 * $4; c += $3 * $4; e += ($2 - 0.75 * $3)^2 }
      END {
        want = joint ? 1 : 0.5625
        exit !((a / n - 0.75)^2 < 0.016^2 && (b / n - 0.75)^2 < 0.016^2 && (c / n - want)^2 < 0.018^2 &&
          (sqrt(e / n) - 0.661)^2 < 0.007^2)
      }'
  done
}

@test "a file is whole or not there, and may be NumPy's" {
  views -n 30 -o t.tsv
  views -n 30 | cmp - t.tsv
  views -n 30 -o t.npy
  assert_equal "$(head -c 6 t.npy | tail -c 5)" NUMPY
  assert_fails 1 'x/t.tsv' gpnn-simulate views -o x/t.tsv
  views -n 1e15 | head -n 3 >few.tsv
  cmp few.tsv <(views -n 2)
}

@test "what cannot be made is refused" {
  assert_fails 2 'correlation' gpnn-simulate views --correlation 1.01
  assert_fails 2 'correlation' gpnn-simulate views --correlation nan
  assert_fails 2 'none, x1' gpnn-simulate views --mask x3
  assert_fails 2 'size' gpnn-simulate views -n 0
  assert_fails 2 'delimiter' gpnn-simulate views -d 1
}
