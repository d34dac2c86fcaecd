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

@test "the last rows are those at the end of the table, from files and pipes" {
  make_table 103 2 >t.tsv
  gpnn-split --last 0.2 -o a.tsv -o b.tsv t.tsv
  head -n 83 t.tsv | cmp - a.tsv # 103 * 0.8 = 82.4 rows, and the header
  { head -n 1 t.tsv; tail -n 21 t.tsv; } | cmp - b.tsv
  gpnn-split --last 0.2 -o c.tsv -o - < <(gzip -c t.tsv) | cmp - b.tsv
  cmp a.tsv c.tsv
  gpnn-split -s 9 --no-header --last 0.5 -o a.tsv -o b.tsv <(tail -n +2 t.tsv)
  cat a.tsv b.tsv | cmp - <(tail -n +2 t.tsv)
  assert_equal "$(wc -l <b.tsv)" 51
}

@test "the last rows in the order of numbers, ties by row, keep the order of the table" {
  awk 'BEGIN { print "x,hour,y"; for (i = 0; i < 200; i++) print i "," (i * 37 % 20) - 10 ".50," i % 7 }' >t.csv
  for source in t.csv -; do
    gpnn-split --last 0.3 --order hour -o a.csv -o b.csv "$source" <t.csv
    awk 'NR > 1 { print NR "," $0 }' t.csv | sort -t , -k 3,3g -k 1,1n | tail -n 60 | sort -n |
      cut -d , -f 2- | { echo x,hour,y; cat; } | cmp - b.csv
    assert_equal "$(sort -u a.csv b.csv | wc -l)" 201
    tail -n +2 a.csv | cut -d , -f 1 | sort -nc
  done
}

@test "dates are ordered as text, with a warning where that would not order them" {
  printf 'date,y\n2024-03-01,1\n2023-12-31,2\n2024-02-29,3\n2024-11,4\n' >t.csv
  gpnn-split --last 0.5 --order date -o a.csv -o b.csv t.csv 2>message
  assert_equal "$(cat message)" ''
  assert_equal "$(tail -n +2 b.csv | tr '\n' ' ')" '2024-03-01,1 2024-11,4 '
  for bad in 1/3/2024 2024-3-01 2024-03-1x 20240301T06 w7; do
    sed "3s|^[^,]*|$bad|" t.csv >bad.csv
    gpnn-split --last 0.5 --order 1 -o a.csv -o b.csv bad.csv 2>message
    grep -q "^gpnn-split: bad.csv:3: column 'date' is sorted as text.*\"$bad\"" message
  done
  gpnn-split -q --last 0.5 --order date -o a.csv -o b.csv bad.csv 2>message
  assert_equal "$(cat message)" ''
}

@test "what cannot be cut by time is refused" {
  printf 'date,y\n1,1\n2,2\nNA,3\n,4\n2024-01-01,5\n' >t.csv
  local last='gpnn-split --order date -o a -o b --last'
  assert_fails 1 "t.csv:4: column 'date': missing value" $last 0.5 t.csv
  sed 4,5d t.csv >n.csv
  assert_fails 1 "n.csv:4: column 'date': not a number: \"2024-01-01\"" $last 0.5 n.csv
  printf 'date,y\n2024-01-01,5\nNA,3\n' >d.csv
  assert_fails 1 "d.csv:3: column 'date': missing value" $last 0.5 d.csv
  assert_fails 1 '2 rows are too few: part 2 would have none' gpnn-split --last 0.01 -o a -o b d.csv
  assert_fails 2 "no column 'day'" gpnn-split --last 0.5 --order day -o a -o b d.csv
  for f in 0 1; do assert_fails 2 'between 0 and 1' $last $f t.csv; done
  assert_fails 2 'from 0 to 1' $last 20 t.csv
  assert_fails 2 'either' gpnn-split --last 0.5 -f 1:1 -o a -o b t.csv
  assert_fails 2 'either' gpnn-split --last 0.5 -k 2 -o a%d t.csv
  assert_fails 2 'both sides' gpnn-split --last 0.5 --by y -o a -o b t.csv
  assert_fails 2 'needs 2 outputs' gpnn-split --last 0.5 -o a t.csv
  assert_fails 2 'needs --last' gpnn-split --order y -f 1:1 -o a -o b t.csv
  assert_fails 2 'same output' gpnn-split --last 0.5 -o a -o a t.csv
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
