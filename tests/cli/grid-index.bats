#!/usr/bin/env bats
# gpnn-grid index: the tables that it takes and refuses, and how other tools answer to its index.
# shellcheck disable=SC2154 # 'stderr' comes from bats

load helper

index() {
  gpnn-grid index -q -o g.gpi "$@"
}

factors() {
  gpnn-info --verify "${1-g.gpi}" | grep '^factor'
}

# A long table of real observations, with its columns in an order of their own.
make_long() {
  zcat "$GPNN_ROOT/tests/data/pm10.tsv.gz" | awk -F '\t' -v OFS='\t' '
    NR == 1 { split($0, day); print "pm10", "other", "day", "lat", "lon"; next }
    NR < 20 { for (i = 3; i <= NF; i++) if ($i != "NA") print $i, "x", day[i], $2, $1 }'
}

@test "long and wide tables of the same observations make the same index" {
  make_long >long.tsv
  zcat "$GPNN_ROOT/tests/data/pm10.tsv.gz" | head -n 19 >wide.tsv
  gpnn-grid index -o long.gpi -y pm10 --site lon,lat --time day --date day long.tsv 2>err.txt
  gpnn-grid index -q -o wide.gpi --wide -y pm10 --site lon,lat --time day wide.tsv
  cmp <(gpnn-info long.gpi | grep -vE '^(fingerprint|section)') \
    <(gpnn-info wide.gpi | grep -vE '^(fingerprint|section)')
  assert_equal "$(factors long.gpi)" "$(printf '%b\n' 'factor\tsite\t18\t0\tnumbers\tlon\tlat' \
    'factor\ttime\t365\t0\tnumbers\tday')"
  assert_equal "$(cat err.txt)" \
    "gpnn-grid: long.tsv: 18 levels of site x 365 of time: $(($(wc -l <long.tsv) - 1)) of 6570 cells observed, $(
      awk 'END { printf "%.1f", 100 * (1 - (NR - 1) / 6570) }' long.tsv) % missing"
}

@test "tables in any notation, compressed or from a pipe, make the same index" {
  make_long | head -n 2000 >long.tsv
  options=(-y pm10 --site 'lon,lat' --time day --date day)
  index "${options[@]}" long.tsv
  mv g.gpi plain.gpi
  gzip -c long.tsv | index "${options[@]}"
  cmp g.gpi plain.gpi
  tr '\t' ',' <long.tsv | index "${options[@]}"
  cmp g.gpi plain.gpi
  { echo '# a comment'; sed 's/^\([0-9.]*\)\t/$\1\t/' long.tsv; } |
    index "${options[@]}" --strip '$' --comment '#'
  cmp <(gpnn-info g.gpi | grep -E '^(cells|target|factor)') \
    <(gpnn-info plain.gpi | grep -E '^(cells|target|factor)')
  tail -n +2 long.tsv | index --no-header -y 1 --site 5,4 --time 3 --date 3
  assert_equal "$(factors | cut -f 1-5)" "$(factors plain.gpi | cut -f 1-5)"
  awk -F '\t' -v OFS='\t' 'NR > 1 { split($3, d, "-"); $3 = d[3] "." d[2] "." d[1] } 1' long.tsv |
    index "${options[@]:0:6}" --date 'day=%d.%m.%Y'
  cmp <(gpnn-info g.gpi | grep -vE '^(date|fingerprint|section)') \
    <(gpnn-info plain.gpi | grep -vE '^(date|fingerprint|section)')
}

@test "rows in another order make a grid of the same cells" {
  make_long >long.tsv
  index -y pm10 --site lon,lat --time day --date day long.tsv
  gpnn-info g.gpi | grep -E '^(cells|missing|target|input|factor)' >sorted
  { head -n 1 long.tsv; tail -n +2 long.tsv | sort -k1,1; } |
    index -y pm10 --site lon,lat --time day --date day
  gpnn-info g.gpi | grep -E '^(cells|missing|target|input|factor)' >shuffled
  diff <(cut -c 1-24 sorted) <(cut -c 1-24 shuffled)
}

@test "cells observed several times are averaged, and levels may have no observation" {
  printf '%s\n' s,t,y a,1,1 a,2,2 b,1,4 a,1,3 c,3,NA >t.csv
  run --separate-stderr gpnn-grid index -o g.gpi --site s --time t t.csv
  assert_equal "$stderr" "gpnn-grid: t.csv: 3 levels of site (names) x 3 of time: 3 of 9 cells observed, 66.7 % missing
gpnn-grid: t.csv: 4 observations are of 3 cells: those of the same cell are averaged
gpnn-grid: t.csv: 1 of 3 levels of site have no observation at all
gpnn-grid: t.csv: 1 of 3 levels of time have no observation at all"
  gpnn-info g.gpi >info
  assert_equal "$(value observations info) $(value repeated-cells info)" '4 1'
  # 1 and 3 around 2, one degree of freedom; the variance of 1 2 4 3 is 1.25.
  assert_equal "$(value within-variance info)" 1.6
}

@test "a wild observation is pointed out" {
  make_long | awk -F '\t' -v OFS='\t' 'NR == 700 { $1 = 1e300 } 1' >long.tsv
  run --separate-stderr gpnn-grid index -o g.gpi -y pm10 --site lon,lat --time day --date day long.tsv
  grep -qF "long.tsv: one observation, 1e+300, has 100 % of the target's variance: a slip?" <<<"$stderr"
  gpnn-info --verify g.gpi | grep -q '^verified'
}

@test "three factors, names, and names that are numbers" {
  printf '%s\n' m,s,t,y 1,heat,0.5,3 1,noise,0.5,1 2,heat,1.5,4 2,noise,1.5,2 >t.csv
  index --factor machine=m --factor sensor=s --time t t.csv
  assert_equal "$(factors)" "$(printf '%b\n' 'factor\ttime\t2\t0\tnumbers\tt' \
    'factor\tmachine\t2\t0\tnumbers\tm' 'factor\tsensor\t2\t0\tnames\ts')"
  index --factor machine=m --factor sensor=s --time t --names m t.csv
  factors | grep -qx $'factor\tmachine\t2\t0\tnames\tm'
  printf '%s\n' id,j1,j2,j3 7,1,2,3 8,2,3,5 >w.csv
  index --wide --site id --time joint --names id,joint w.csv
  assert_equal "$(factors)" "$(printf '%b\n' 'factor\tsite\t2\t0\tnames\tid' \
    'factor\ttime\t3\t0\tnames\tjoint')"
}

@test "columns of a wide table are chosen or dropped" {
  printf '%s\n' id,note,t1,t2,t5 1,x,2,3,4 2,y,3,4,9 >w.csv
  assert_fails 1 "w.csv:2: column 'note': not a number: \"x\"" gpnn-grid index -q -o g.gpi --wide --site id w.csv
  index --wide --site id --drop note w.csv
  factors | grep -qx $'factor\ttime\t3\t0\tnumbers\ttime'
  index --wide --site id --times t1,t5 w.csv
  factors | grep -qx $'factor\ttime\t2\t0\tnumbers\ttime'
}

@test "bad rows end the run with their place, or are left out and counted" {
  printf '%s\n' s,t,y 1,1,1 1,2,x 2,1,3 2,2,5 ,1,4 2,2 >t.csv
  assert_fails 1 "t.csv:3: column 'y': not a number: \"x\"" gpnn-grid index -q -o g.gpi --site s --time t t.csv
  assert_fails 1 '3 of 6 rows are bad' gpnn-grid index -q -o g.gpi --site s --time t --skip-bad t.csv
  gpnn-grid index -o g.gpi --site s --time t --skip-bad=all t.csv 2>err.txt
  grep -q '3 of 6 rows left out' err.txt
  assert_equal "$(gpnn-info g.gpi | value skipped-rows)" 3
}

@test "tables that are no grid are refused" {
  printf '%s\n' s,t,y 1,1,1 1,2,2 >one.csv
  assert_fails 1 'one.csv: has one site only' gpnn-grid index -q -o g.gpi --site s --time t one.csv
  assert_fails 1 'one.csv: has one time only' gpnn-grid index -q -o g.gpi --site t --time s one.csv
  printf '%s\n' s,t,y 1,1,2 1,2,2 2,1,2 >constant.csv
  assert_fails 1 "the target 'y' is constant" gpnn-grid index -q -o g.gpi --site s --time t constant.csv
  : >empty.csv
  assert_fails 1 'empty.csv: is empty' gpnn-grid index -q -o g.gpi --site s --time t empty.csv
  echo s,t,y >header.csv
  assert_fails 1 'header.csv: has no rows' gpnn-grid index -q -o g.gpi --site s --time t header.csv
  echo s >column.csv
  assert_fails 2 'has one column' gpnn-grid index -q -o g.gpi --site s --time s column.csv
  [[ ! -e g.gpi ]]
}

@test "the command line says what the grid is made of, once" {
  printf '%s\n' s,t,y 1,1,1 1,2,2 2,1,4 >t.csv
  assert_fails 2 'name it with -o FILE' gpnn-grid index --site s --time t t.csv
  assert_fails 2 'say what the grid is made of' gpnn-grid index -q -o g.gpi --site s t.csv
  assert_fails 2 "column 's' is given twice" gpnn-grid index -q -o g.gpi --site s --time s t.csv
  assert_fails 2 "column 'y' is both target and input" gpnn-grid index -q -o g.gpi --site s,y --time t t.csv
  assert_fails 2 "two factors are called 'site'" gpnn-grid index -q -o g.gpi --site s --factor site=t t.csv
  assert_fails 2 'not of the form NAME=LIST' gpnn-grid index -q -o g.gpi --site s --factor t t.csv
  assert_fails 2 'the name of a factor is a letter' gpnn-grid index -q -o g.gpi --site s --factor 1a=t t.csv
  # Lines of parameters begin with the names, which must not be mistaken for other lines.
  for name in noise target kernelscale abcdefghijklmnopqrstuvwxyzabcdefg; do
    assert_fails 2 'not that of another parameter' gpnn-grid index -q -o g.gpi --site s --factor $name=t t.csv
  done
  assert_fails 2 'a grid has at most 6 factors' gpnn-grid index -q -o g.gpi --site 1 --time 2 --factor a=3 --factor b=4 \
    --factor c=5 --factor d=6 --factor e=7 t.csv
  assert_fails 2 '--wide needs --site' gpnn-grid index -q -o g.gpi --wide t.csv
  assert_fails 2 '--wide has two factors' gpnn-grid index -q -o g.gpi --wide --site s --factor a=t t.csv
  assert_fails 2 'leave out --date' gpnn-grid index -q -o g.gpi --wide --site s --date t t.csv
  assert_fails 2 '--times is for wide tables' gpnn-grid index -q -o g.gpi --site s --time t --times y t.csv
  assert_fails 2 "column 's' is one of the site" gpnn-grid index -q -o g.gpi --wide --site s --time s t.csv
  assert_fails 2 'a grid needs two times' gpnn-grid index -q -o g.gpi --wide --site s,t t.csv
  assert_fails 2 "column 'y' cannot be names: it belongs to no factor" gpnn-grid index -q -o g.gpi --site s --time t --names y t.csv
  assert_fails 2 t.csv gpnn-grid index --site s --time t -o t.csv t.csv
}

@test "the report as JSON" {
  printf '%s\n' s,t,y 1,1,1 1,2,2 2,1,4 2,3,NA >t.csv
  index --json --site s --time t t.csv 2>report
  json report >flat
  assert_equal "$(value cells flat) $(value observations flat)" '3 3'
  assert_equal "$(awk -F '\t' '$1 ~ /^factors.*levels$/ { print $2 }' flat | xargs)" '2 3'
}

@test "tools for rows say which tool is for grids" {
  printf '%s\n' s,t,y 1,1,1 1,2,2 2,1,4 >t.csv
  index --site s --time t t.csv
  make_model 60 5 5 10
  assert_fails 1 'g.gpi is a grid index: use gpnn-grid fit' gpnn-fit g.gpi
  assert_fails 1 't.par: parameters of rows, but g.gpi is a grid index: use gpnn-grid fit' \
    gpnn-predict g.gpi -p t.par test.tsv
  assert_fails 1 'parameters of rows' gpnn-predict g.gpi -p t.par --loo
  assert_fails 1 'parameters of rows' gpnn-calibrate g.gpi -p t.par
  assert_fails 1 'parameters of rows' gpnn-simulate advise -p t.par g.gpi
  assert_fails 1 'parameters of rows' gpnn-index --metric t.par -o new.gpi g.gpi
  assert_fails 1 'g.gpi: is a grid index, not a table' gpnn-index -o new.gpi g.gpi
}

@test "a damaged grid index is refused" {
  printf '%s\n' s,t,y a,1,1 a,2,2 b,1,4 b,1,3 >t.csv
  index --site s --time t t.csv
  size=$(stat -c %s g.gpi)
  for length in 0 10 63 64 2047 2048 2100 $((size - 1)); do
    head -c "$length" g.gpi >cut.gpi
    assert_fails 1 cut.gpi gpnn-info --verify cut.gpi
  done
  for ((at = 0; at < size; at += 23)); do
    cp g.gpi bad.gpi
    printf '\xa5' | dd of=bad.gpi bs=1 seek="$at" conv=notrunc status=none
    cmp -s g.gpi bad.gpi && continue
    run gpnn-info --verify bad.gpi
    [[ $status -eq 1 || $status -eq 0 ]] || complain "byte $at: status $status"
    # Padding is checked too, so that every byte counts.
    [[ $status -eq 1 ]] || complain "byte $at: not noticed"
  done
}

@test "an observation that is no number is noticed before anything is predicted" {
  printf '%s\n' s,t,y 1,1,1 1,2,2 2,1,4 2,2,3 >t.csv
  index --site s --time t t.csv
  at=$(gpnn-info g.gpi | awk '$1 == "section" && $2 == "YVAL" {print $3}')
  printf '\0\0\0\0\0\0\370\177' | dd of=g.gpi bs=1 seek="$at" conv=notrunc status=none
  assert_fails 1 'damaged: its cells are not those of a grid' gpnn-info g.gpi
}

@test "dates as ISO 8601 has them are times without being named" {
  printf 'site\tday\ty\n' >days.tsv
  for i in 1 2 3 4; do for d in 02 01 05 09; do printf '%s\t2020-01-%s\t%s\n' $i $d $((i * 10#$d)); done; done >>days.tsv
  gpnn-grid index -q --site site --time day -o days.gpi days.tsv
  gpnn-grid index -q --site site --time day --date day -o asked.gpi days.tsv
  cmp days.gpi asked.gpi
  gpnn-grid index -q --site site --time day --names day -o names.gpi days.tsv
  run ! cmp -s days.gpi names.gpi
  echo $'5\tlater\t3' >>days.tsv
  assert_fails 1 "column 'day': not a date" gpnn-grid index --site site --time day -o x.gpi days.tsv
}

@test "times that are no times are refused by the name of their column" {
  printf 'lat\tlon\tday\ty\n50\t8\t1\t3\n51\t9\t2\t4\n52\t8\t1e300\t4\n' >wild.tsv
  assert_fails 1 "wild.tsv: column 'day': its values are too large" \
    gpnn-grid index -o wild.gpi --site lat,lon --time day wild.tsv
  [[ ! -e wild.gpi ]]
}
