#!/usr/bin/env bats
# gpnn-split: every row goes to one part, unchanged.

load helper

@test "parts have the sizes requested and contain every row once, in order" {
  make_table 900 2 >t.tsv
  gpnn-split -f 7:2 -o a.tsv -o b.tsv t.tsv
  assert_equal "$(wc -l <a.tsv) $(wc -l <b.tsv)" '701 201'
  assert_equal "$(head -n 1 b.tsv)" $'x1\tx2\ty'
  tail -n +2 t.tsv | sort >all
  { tail -n +2 a.tsv; tail -n +2 b.tsv; } | sort | cmp all -
  grep -nFxf <(tail -n +2 a.tsv) t.tsv | cut -d : -f 1 >order
  sort -nc order
}

@test "files and pipes, plain or gzip, are split alike, and seeds matter" {
  make_table 300 2 >t.tsv
  gzip -k t.tsv
  gpnn-split -f 0.8:0.2 -o a.tsv -o b.tsv t.tsv
  gpnn-split -f 0.8:0.2 -o c.tsv -o d.tsv <t.tsv
  gpnn-split -f 0.8:0.2 -o e.tsv -o f.tsv t.tsv.gz
  gpnn-split -f 0.8:0.2 -o g.tsv -o h.tsv < <(cat t.tsv.gz)
  for f in c e g; do cmp a.tsv $f.tsv; done
  gpnn-split -s 2 -f 0.8:0.2 -o i.tsv -o j.tsv t.tsv
  run ! cmp -s a.tsv i.tsv
}

@test "folds partition the rows" {
  make_table 103 1 >t.tsv
  gpnn-split -k 4 -o 'fold%d.tsv' t.tsv
  assert_equal "$(wc -l fold?.tsv | awk '{ print $1 }' | tr '\n' ' ')" '27 27 27 26 107 '
}

@test "one part can be written to standard output" {
  make_table 90 1 >t.tsv
  gpnn-split -f 2:1 -o - -o b.tsv t.tsv | wc -l | grep -qx 61
}

@test "groups stay together" {
  awk 'BEGIN { print "site\tx\ty"; for (i = 0; i < 2000; i++) print "s" i % 200 "\t" i "\t" i % 7 }' >t.tsv
  gpnn-split --by site -f 1:1 -o a.tsv -o b.tsv t.tsv
  column site a.tsv | sort -u >a
  column site b.tsv | sort -u >b
  assert_equal "$(comm -12 a b)" ''
  assert_equal "$(cat a b | wc -l)" 200
}

@test "quoted fields with line ends keep their text" {
  printf 'name,y\r\n"a\nb",1\r\n"c ""d""",2\r\ne,3\r\nf,4\r\n' >t.csv
  gpnn-split -f 1:1 -o a.csv -o b.csv t.csv
  cat a.csv b.csv | grep -c . | grep -qx 7 # two headers, four rows, one of two lines
  cat a.csv b.csv | grep -qx '"c ""d""",2'
}

@test "a first row that looks like another kind of file is still a row" {
  for start in $'\x1f\x8b' $'\xef\xbb\xbf' '# gpnn parameters 1'; do
    printf 'a\tb\n%s\t1\ny\t2\nz\t3\n' "$start" >t.tsv
    gpnn-split -f 1:2 -o a -o b t.tsv
    gpnn-split -f 1:2 -o c -o d - <t.tsv
    cmp a c
    cmp b d
    assert_equal "$({ head -n 1 t.tsv; tail -qn +2 c d | LC_ALL=C sort; } | cksum)" \
      "$({ head -n 1 t.tsv; tail -n +2 t.tsv | LC_ALL=C sort; } | cksum)"
  done
}

@test "mistakes are reported" {
  make_table 20 1 >t.tsv
  assert_fails 2 'give either' gpnn-split t.tsv
  assert_fails 2 'need 2 outputs' gpnn-split -f 7:2 -o a.tsv t.tsv
  assert_fails 2 'positive numbers' gpnn-split -f 7:x -o a.tsv -o b.tsv t.tsv
  assert_fails 2 'one %d' gpnn-split -k 3 -o fold.tsv t.tsv
  assert_fails 1 'too few' gpnn-split -f 100:1 -o a.tsv -o b.tsv t.tsv
  assert_fails 2 "no column 'site'" gpnn-split --by site -f 1:1 -o a.tsv -o b.tsv t.tsv
  printf 'a,b\n1,2\n3\n' >ragged.csv
  assert_fails 1 'ragged.csv:3: has 1 field' gpnn-split -f 1:1 -o a.tsv -o b.tsv ragged.csv
}
