#!/usr/bin/env bats
# gpnn-plot: every kind of picture, the numbers in it, texts that gnuplot must not run, failures.
# shellcheck disable=SC2154 # 'stderr' comes from bats

load helper

# Predictions of 400 rows whose sds are right: y - mean is sd times a number of -2.5 ... 2.5.
predictions() {
  awk -v n="${1-400}" 'BEGIN {
    print "x\ty\tmean\tsd"
    for (i = 1; i <= n; i++) {
      x = (i * 0.6180339887) % 1; sd = 0.1 + x
      z = ((i * 0.7548776662) % 1 + (i * 0.5698402910) % 1 + (i * 0.3819660113) % 1 - 1.5) * 1.7
      printf "%.9f\t%.9f\t%.9f\t%.9f\n", x, 3 * x + z * sd, 3 * x, sd
    }
  }'
}

# A learning curve with the slopes of two models; where from, its --by column.
curves() {
  awk 'BEGIN {
    print "rows\tmodel\tvalue\tse"
    for (e = 2; e <= 12; e++) {
      printf "%.0f\ta\t%.12g\t%.12g\n", 10 ^ e, 3 * 10 ^ (-0.4 * e), 0.1 * 10 ^ (-0.4 * e)
      printf "%.0f\tb\t%.12g\t%.12g\n", 10 ^ e, 7 * 10 ^ (-0.25 * e) + (e < 5 ? 1 : 0), 0.01
    }
  }'
}

landscape() {
  printf 'rows\tneighbours\tvaried\tat\tmse\tmse_se\tnll\tnll_se\tcal\tcal_se\t'
  printf 'mse_limit\tnll_limit\tcal_limit\tmse_matched\tnll_matched\tcal_matched\n'
  awk 'BEGIN {
    OFS = "\t"
    for (n = 1000; n <= 1e6; n *= 10) for (k = 1; k <= 6; k++) {
      print n, 50, "noise", k / 10, 0.1 + k / n, 0.01, k - 3, 0.1, 1 / k, 0.01, 0.1, k - 3.1, 0.9 / k, 0.1, -2, 1
      print n, 50, "lengthscale", k, 0.1 + k / n, 0.01, k, 0.1, 1, 0.01, 0.1, k, 1, 0.1, -2, 1
    }
  }'
}

# gpnn-plot without gnuplot, or with another program in its place.
without_gnuplot() {
  mkdir -p bin
  ln -sf "$GPNN_BUILD/bin/gpnn-plot" bin/gpnn-plot
  PATH=$PWD/bin "$@"
}

with_gnuplot() {
  mkdir -p fake
  printf '#!/bin/sh\n%s\n' "$1" >fake/gnuplot
  chmod +x fake/gnuplot
  shift
  PATH=$PWD/fake:$PATH "$@"
}

# The rows of block NAME of a script.
block() {
  awk -v name="\$$1" '$1 == name && $2 == "<<" { inside = 1; next } /^END$/ { inside = 0 } inside' \
    "$2"
}

assert_svg() {
  [[ $(head -c 5 "$1") == '<?xml' ]] || complain "$1: no XML" || return
  assert_equal "$(grep -c '</svg>' "$1")" 1 || return
  assert_equal "$(grep -o '<g[ >]' "$1" | wc -l)" "$(grep -o '</g>' "$1" | wc -l)" || return
  run ! grep -qF ']]>' "$1" || return
  ! command -v xmllint >/dev/null || xmllint --noout "$1"
}

# ---- the kinds --------------------------------------------------------------------------------

@test "each kind of picture of real predictions is an SVG, and a PNG" {
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 11 == 0' >train.tsv
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 55 == 3' >test.tsv
  gpnn-index -y cnt -o b.gpi train.tsv
  gpnn-fit --effort fast --kernel exp -m 30 b.gpi >b.par
  gpnn-predict -p b.par --keep mnth,hr --interval 0.5,0.9 b.gpi test.tsv >p.tsv
  for kind in calibration pit predicted residuals band map; do
    gpnn-plot "$kind" p.tsv >"$kind.svg"
    assert_svg "$kind.svg"
    gpnn-plot "$kind" -o "$kind.png" p.tsv
    assert_equal "$(head -c 8 "$kind.png" | od -An -tx1)" ' 89 50 4e 47 0d 0a 1a 0a'
  done
}

@test "curve and landscape are pictures" {
  curves | gpnn-plot curve --by model >c.svg
  assert_svg c.svg
  landscape | gpnn-plot landscape --mark noise=0.3 >l.svg
  assert_svg l.svg
}

@test "the script by itself draws the same picture" {
  predictions >p.tsv
  for kind in calibration pit predicted residuals band map; do
    gpnn-plot "$kind" p.tsv >a.svg
    gpnn-plot "$kind" --script p.tsv | gnuplot >b.svg
    cmp a.svg b.svg
  done
}

@test "the same table gives the same script" {
  predictions >p.tsv
  for kind in calibration pit predicted residuals band map; do
    gpnn-plot "$kind" --script p.tsv >a.gp
    gpnn-plot "$kind" --script <p.tsv >b.gp
    cmp a.gp b.gp
  done
}

# ---- numbers ----------------------------------------------------------------------------------

@test "calibration: coverages are counted, and CAL agrees with gpnn-eval" {
  predictions >p.tsv
  gpnn-plot calibration --script p.tsv >c.gp
  # Half widths of 50 and 95 percent are 0.67448975 and 1.95996398.
  for level in '0.5 0.67448975' '0.95 1.95996398'; do
    counted=$(awk -v half="${level#* }" 'NR > 1 {
      z = ($2 - $3) / $4; n += (z < 0 ? -z : z) <= half } END { print n / (NR - 1) }' p.tsv)
    assert_equal "$(block observed c.gp | awk -v l="${level% *}" '$1 == l { print $2 }')" "$counted"
  done
  grep -q "'n = 400, CAL = $(gpnn-eval p.tsv | value cal | xargs printf %.4g)'" c.gp
}

@test "calibration: the band is binomial" {
  printf 'y,mean,sd\n0,0,1\n0,0,1\n' | gpnn-plot calibration --script >c.gp
  # Of two rows with probability 0.5, none is covered in 1 of 4 cases, both in 1 of 4.
  assert_equal "$(block band c.gp | awk '$1 == 0.5')" '0.5 0 1'
  # With 0.9: none 0.01, at most one 0.19.
  assert_equal "$(block band c.gp | awk '$1 == 0.9')" '0.9 0.5 1'
}

@test "calibration: intervals of the table are counted as given" {
  printf 'y,mean,sd,lower80,upper80\n0,0,1,-1,1\n5,0,1,-1,1\n1,0,1,0,2\n1,0,1,0,2\n' |
    gpnn-plot calibration --script >c.gp
  assert_equal "$(block given c.gp)" '0.8 0.75'
}

@test "pit: densities are the shares of gpnn-eval times the bins" {
  predictions >p.tsv
  gpnn-plot pit --bins 8 --script p.tsv >p.gp
  gpnn-eval --table pit --bins 8 p.tsv >pit.tsv
  assert_equal "$(block pit p.gp | awk '{ printf "%.6f\n", $2 }')" \
    "$(column share pit.tsv | awk '{ printf "%.6f\n", $1 * 8 }')"
}

@test "pit: Student's t is evaluated as such" {
  printf 'y,mean,sd,df\n1,0,1,3\n1,0,1,inf\n' >p.csv
  gpnn-plot pit --bins 100 --script p.csv >p.gp
  # Of sd 1 and 3 degrees of freedom, 1 is sqrt(3) scales: 0.909 below it; normal 0.841.
  assert_equal "$(block pit p.gp | awk '$2 > 0 { print $1 }' | paste -sd' ')" '0.845 0.905'
}

@test "predicted: few rows are drawn as points, many as counts" {
  predictions 4999 >p.tsv
  gpnn-plot predicted --script p.tsv >p.gp
  assert_equal "$(block points p.gp | wc -l)" 4999
  assert_equal "$(block points p.gp | awk '{ printf "%.9f %.9f\n", $1, $2 }')" \
    "$(awk 'NR > 1 { printf "%.9f %.9f\n", $3, $2 }' p.tsv)"
  predictions 40000 >p.tsv
  gpnn-plot predicted --script p.tsv >p.gp
  (($(block points p.gp | wc -l) <= 10000))
  assert_equal "$(block points p.gp | awk '{ n += $3 } END { print n }')" 40000
  gpnn-plot predicted p.tsv >p.svg
  assert_below "$(wc -c <p.svg)" 1500000
}

@test "residuals: gross errors are drawn at the edge and counted" {
  { predictions; printf '0.5\t1000\t1.5\t1\n0.5\t-1000\t1.5\t1\n'; } >p.tsv
  gpnn-plot residuals --script p.tsv >r.gp
  assert_equal "$(block points r.gp | awk '$2 == 8 || $2 == -8' | wc -l)" 2
  grep -q "n = 402, of which 2 beyond" r.gp
}

@test "residuals against a column: its numbers, of the rows that have one" {
  printf 'a\tk\ty\tmean\tsd\n1\tu\t3\t1\t2\nNA\tu\t9\t9\t1\n7\tv\t1\t4\t3\n' >p.tsv
  gpnn-plot residuals -x a --script p.tsv >r.gp 2>err.txt
  assert_equal "$(block points r.gp)" $'1 1\n7 -1'
  grep -q "set xlabel 'a'" r.gp
  grep -q 'n = 2' r.gp
  grep -q '1 .* left out' err.txt
  assert_fails 1 "p.tsv:2: column 'k': not a number: \"u\"" gpnn-plot residuals -x k p.tsv
  assert_fails 2 "no column 'b'" gpnn-plot residuals -x b p.tsv
}

@test "residuals: quantiles are taken over runs of rows" {
  awk 'BEGIN { print "y,mean,sd"; for (i = 0; i < 240; i++) print i + (i % 80 - 39.5) / 40 "," i ",1" }' |
    gpnn-plot residuals --script >r.gp
  assert_equal "$(block quantiles r.gp | wc -l)" 3
  block quantiles r.gp | while read -r x low middle high; do
    assert_near "$(awk -v x="$x" 'BEGIN { print (x - 39.5) % 80 }')" 0 1e-9
    assert_near "$low" -0.938 0.01
    assert_near "$middle" 0 1e-9
    assert_near "$high" 0.938 0.01
  done
}

@test "curve: the key shows slopes over the eight largest x" {
  curves | gpnn-plot curve --by model --theory -0.3 --script >c.gp
  grep -q "title 'a: slope −0.4, R² 1'" c.gp
  # The first three values of b have 1 too much, and do not count.
  grep -q "title 'b: slope −0.25, R² 1'" c.gp
  assert_equal "$(grep -c "theory: slope −0.3" c.gp)" 1
  assert_equal "$(block line1 c.gp | wc -l)" 11
  assert_equal "$(block line1 c.gp | awk 'NR == 1 { print $4 / $2 }')" 1.03333
}

@test "curve: a risk table is read as printed, including theoretical slopes" {
  printf 'rows\tquantity\tvalue\tse\tstone\n' >r.tsv
  printf '%s\n' '10	risk	1	NA	-0.5' '100	risk	0.1	0.01	-0.5' '1000	risk	0.01	0.01	-0.5' \
    '10	d	-2	0.1	NA' '100	d	-1	0.1	NA' >>r.tsv
  gpnn-plot curve --script r.tsv >r.gp 2>err.txt
  grep -q "title 'risk: slope −1, R² 1'" r.gp
  grep -q "title 'theory: slope −0.5'" r.gp
  grep -q '2 values are negative' err.txt
  assert_equal "$(block line2 r.gp | awk '{ print $2 }' | paste -sd' ')" '2 1'
}

@test "curve: R² is 1 only if the fit is exact, and missing for equal values" {
  printf 'rows,a,b\n1,1,0.3\n10,0.1001,0.30000000000000004\n100,0.01,0.3\n' |
    gpnn-plot curve -y a,b --script >c.gp
  grep -q "title 'a: slope −1, R² > 0.9999'" c.gp
  grep -q "title 'b: slope 0'" c.gp
}

@test "curve: more than 49 lines are refused, and very many points thinned" {
  awk 'BEGIN { print "rows,value,by"; for (i = 0; i < 50; i++) print "1,2," i }' >many.csv
  assert_fails 1 'many.csv:51: more than 49 lines' gpnn-plot curve --by by many.csv
  head -n 50 many.csv | gpnn-plot curve --by by >out.svg
  assert_svg out.svg
  awk 'BEGIN { print "rows,value"; for (i = 1; i <= 10000; i++) print i "," i * i }' >long.csv
  gpnn-plot curve -v --script long.csv >c.gp 2>err.txt
  assert_equal "$(block line1 c.gp | wc -l)" 2000
  grep -q 'drawing 1 point in 5 of the 10000 of line 1' err.txt
}

@test "calibration: the key moves away from intervals that are much too wide" {
  printf 'y,mean,sd\n0,0,1\n' | gpnn-plot calibration --script | grep -q 'set key bottom right'
  printf 'y,mean,sd\n5,0,1\n' | gpnn-plot calibration --script | grep -q 'set key top left'
}

@test "curve: several columns are drawn as separate lines, each with its errors" {
  printf 'rows,mse,mse_se,nll,nll_se\n1,1,0.5,2,0.1\n10,0.5,0.1,1,0.2\n' |
    gpnn-plot curve -y mse,nll --script >c.gp
  assert_equal "$(block line1 c.gp | head -n 1)" '1 1 0.5 1.5'
  assert_equal "$(block line2 c.gp | tail -n 1 | cut -d ' ' -f 4)" 1.2
}

@test "landscape: a panel for each metric and parameter, a line for each n, its limits" {
  landscape | gpnn-plot landscape --script --mark noise=0.3 --mark 7 >l.gp
  assert_equal "$(grep -c '^\$panel[0-9]_[0-9] <<' l.gp)" 6
  assert_equal "$(block panel2_0 l.gp | awk 'NF' | wc -l)" 24
  assert_equal "$(block panel2_0 l.gp | head -n 1)" '0.1 1 0.01 0.9 1'
  assert_equal "$(grep -c 'using 1:4 with lines' l.gp)" 6
  assert_equal "$(grep -c '^set arrow from first 7,' l.gp)" 6
  assert_equal "$(grep -c '^set arrow from first 0.3' l.gp)" 3
  grep -q "title 'n = 10⁶'" l.gp
  landscape | gpnn-plot landscape --script -y nll >l.gp
  assert_equal "$(grep -c '^\$panel[0-9]_[0-9] <<' l.gp)" 2
}

@test "error bars lie within the axes" {
  printf 'rows,value,se\n1,1,9\n10,1,1\n' | gpnn-plot curve --script >c.gp
  assert_below 10 "$(sed -n 's/^set yrange.*:\(.*\)]/\1/p' c.gp)"
  printf 'rows,varied,at,mse,mse_se\n1,p,1,1,1\n1,p,2,1.5,7\n' |
    gpnn-plot landscape -y mse --script >l.gp
  assert_below 8.5 "$(sed -n 's/^set yrange.*:\(.*\)]/\1/p' l.gp | head -n 1)"
}

@test "landscape: quantities of a risk table get panels" {
  printf 'rows\tquantity\tvaried\tat\tvalue\tse\n' >r.tsv
  printf '%s\n' '10	risk	noise	1	5	1' '10	d	noise	1	6	1' '10	risk	noise	2	7	1' >>r.tsv
  gpnn-plot landscape --script r.tsv >l.gp
  assert_equal "$(block panel0_0 l.gp | cut -d ' ' -f 1,2 | paste -sd, )" '1 5,2 7'
  gpnn-plot landscape --script -y d r.tsv >l.gp
  assert_equal "$(block panel0_0 l.gp | cut -d ' ' -f 1,2)" '1 6'
}

@test "band: intervals of 50 and 95 percent are drawn in the order of the input" {
  printf 'x,y,mean,sd\n2,5,4,1\n1,NA,3,2\n' | gpnn-plot band --script >b.gp
  assert_equal "$(block band b.gp | awk '{ printf "%s %s %.4f %.4f %.4f %.4f,", $1, $2, $3, $4, $5, $6 }')" \
    '1 3 1.6510 4.3490 -0.9199 6.9199,2 4 3.3255 4.6745 2.0400 5.9600,'
  assert_equal "$(block truth b.gp | paste -sd,)" '1 NaN,2 5'
}

@test "band: without truths and sd the intervals of the table are drawn" {
  printf 'x,mean,lower90,upper90\n2,4,3,6\n1,3,2,5\n' | gpnn-plot band --script >b.gp
  assert_equal "$(block band b.gp | head -n 1)" '1 3 2 5 NaN NaN'
  grep -q "'90 % interval'" b.gp
  run ! grep -q 'observed' b.gp
}

@test "map: a regular grid is filled, other places are points, or averaged if many" {
  awk 'BEGIN { print "a,b,mean,sd"; for (i = 0; i < 6; i++) for (j = 0; j < 4; j++)
    print i / 10 "," j "," i * j ",1" }' >grid.csv
  gpnn-plot map --script grid.csv >m.gp
  assert_equal "$(block map m.gp | wc -l)" 24
  grep -q '^half_x = 0.06$' m.gp
  predictions 30 | gpnn-plot map -x x,y --script >m.gp
  assert_equal "$(block map m.gp | wc -l)" 30
  run ! grep -q half_x m.gp
  predictions 20000 | gpnn-plot map -x x,y --script >m.gp
  assert_below "$(block map m.gp | wc -l)" 15000
}

@test "labels: names, units and the user's labels are shown" {
  predictions >p.tsv
  gpnn-plot predicted --unit K --title 'A title' --script p.tsv >p.gp
  grep -q "^set xlabel 'y, predicted (K)' noenhanced" p.gp
  grep -q "^set ylabel 'y, observed (K)' noenhanced" p.gp
  grep -q "^set label 1 'A title' " p.gp
  gpnn-plot predicted --unit K --xlabel 'own' --script p.tsv | grep -q "^set xlabel 'own' noenhanced"
}

@test "the size is as requested, in cm" {
  predictions >p.tsv
  gpnn-plot pit --width 12.7 --height 5.08 p.tsv >p.svg
  grep -q 'width="480" height="192"' p.svg
  gpnn-plot pit --width 12.7 --height 5.08 -o p.png p.tsv
  # Width and height stand behind the name of the first chunk.
  assert_equal "$(od -An -tu1 -j 16 -N 8 p.png | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }')" \
    '1500 600'
}

# ---- edges ------------------------------------------------------------------------------------

@test "one row, equal rows, huge and tiny numbers can be drawn" {
  printf 'y,mean,sd\n1,1,1\n' >one.csv
  printf 'y,mean,sd\n5,5,1\n5,5,1\n5,5,1\n' >equal.csv
  printf 'y,mean,sd\n1e300,-1e300,1e300\n-1e308,1e308,1e300\n1,2,1\n' >huge.csv
  printf 'y,mean,sd\n1e-300,-1e-300,1e-300\n2e-300,1e-300,1e-300\n' >tiny.csv
  for table in one equal huge tiny; do
    for kind in calibration pit predicted residuals 'band -x 1' 'map -x 1,2'; do
      # shellcheck disable=SC2086 # a kind and its options
      gpnn-plot $kind "$table.csv" >out.svg || complain "$kind $table"
      assert_svg out.svg
    done
  done
}

@test "curves of one point, of equal points or over hundreds of decades can be drawn" {
  printf 'rows,value\n10,1\n' | gpnn-plot curve >out.svg
  assert_svg out.svg
  printf 'rows,value\n10,1\n10,2\n' | gpnn-plot curve >out.svg
  assert_svg out.svg
  printf 'rows,value\n10,1\n20,1\n30,1\n' | gpnn-plot curve --script >c.gp
  grep -q "title 'value: slope 0'" c.gp
  printf 'rows,value\n1,1e-300\n1e18,1e300\n1e12,1\n' | gpnn-plot curve >out.svg
  assert_svg out.svg
  printf 'rows,value\n1e308,1e308\n' | gpnn-plot curve >out.svg
  assert_svg out.svg
}

@test "ranges and labels distinguish large numbers that differ in late digits" {
  awk 'BEGIN { print "x,y,mean,sd"
    for (i = 0; i < 50; i++) printf "%.0f,%.0f,%.0f,1\n", 17e11 + 10 * i, 1e12 + i % 7, 1e12 + i % 5 }' \
    >p.csv
  for kind in predicted residuals 'band -x x' 'map -x x,y'; do
    # shellcheck disable=SC2086 # a kind and its options
    gpnn-plot $kind p.csv >out.svg
    grep -q '>1[07]0000000[0-9]*<' out.svg || complain "$kind: no long label"
    # shellcheck disable=SC2086 # the same
    gpnn-plot $kind --script p.csv | gnuplot 2>&1 >/dev/null | run ! grep range
  done
}

@test "values that are all equal can be drawn" {
  printf 'x,y,mean,sd\n1,1,3,2\n1,1,3,2\n' >p.csv
  for kind in predicted residuals 'band -x x' 'map -x x,y'; do
    # shellcheck disable=SC2086 # a kind and its options
    gpnn-plot $kind --script p.csv | gnuplot 2>&1 >/dev/null | run ! grep range
  done
}

@test "rows without truth or prediction are left out and counted" {
  { predictions; printf '1\tNA\t2\t1\n1\t2\tNA\tNA\n'; } >p.tsv
  for kind in calibration pit predicted residuals; do
    gpnn-plot "$kind" --script p.tsv >p.gp 2>err.txt
    assert_equal "$(cat err.txt)" \
      'gpnn-plot: p.tsv: 2 rows without truth or prediction left out'
  done
  gpnn-plot pit -q --script p.tsv 2>&1 >p.gp | wc -c | grep -qx 0
  grep -q 'n = 400' p.gp
}

@test "values that curves cannot draw are left out and counted" {
  printf 'rows,value\n1,NA\n0,3\n5,0\n7,2\n8,1\n' | gpnn-plot curve --script >c.gp 2>err.txt
  grep -q '1 rows without a value left out' err.txt
  grep -q '2 values cannot be drawn on logarithmic axes' err.txt
  assert_equal "$(block line1 c.gp | wc -l)" 2
}

@test "columns are found by number without a header, and by name" {
  predictions | sed 1d | cut -f 2- >p.tsv
  gpnn-plot pit --no-header --script p.tsv | grep -q 'n = 400'
  predictions | sed '1s/.*/x\tt\tm\ts/' >q.tsv
  gpnn-plot pit -y t --mean m --sd s --script q.tsv | grep -q 'n = 400'
}

@test "having nothing to draw gives one message" {
  printf 'y,mean,sd\n' >none.csv
  printf 'y,mean,sd\nNA,NA,NA\n' >missing.csv
  for kind in calibration pit predicted residuals; do
    assert_fails 1 'none.csv: no row with a truth and a prediction' gpnn-plot "$kind" none.csv
    assert_fails 1 'no row with a truth and a prediction' gpnn-plot -q "$kind" missing.csv
  done
  assert_fails 1 'no row with an input and a prediction' gpnn-plot band none.csv
  assert_fails 1 'no row with inputs and a prediction' gpnn-plot map -x 1,2 none.csv
  printf 'rows,value\n' >none.csv
  assert_fails 1 'no row with a value' gpnn-plot curve none.csv
  landscape | head -n 1 >none.tsv
  assert_fails 1 'no row with a value to draw' gpnn-plot landscape none.tsv
}

@test "missing columns are named" {
  printf 'y,mean\n1,2\n' >p.csv
  assert_fails 2 "no column 'sd'" gpnn-plot calibration p.csv
  assert_fails 2 "no column 'sd'" gpnn-plot residuals p.csv
  assert_fails 2 "no column 'rows'" gpnn-plot curve p.csv
  assert_fails 2 "no column 'value'" gpnn-plot curve -x y p.csv
  assert_fails 1 "no column 'varied'" gpnn-plot landscape <(sed 's/y/rows/' p.csv)
  assert_fails 2 "no column 'zzz'" gpnn-plot pit -y zzz p.csv
  assert_fails 2 "a map has two" gpnn-plot map -x y p.csv
  printf 'a,mean_a,b,mean_b\n1,2,3,4\n' >two.csv
  assert_fails 2 'several targets' gpnn-plot predicted two.csv
  gpnn-plot predicted -y b --mean mean_b --script two.csv >two.gp
  assert_equal "$(block points two.gp)" '4 3'
}

@test "bad values are reported with line and column" {
  printf 'y,mean,sd\n1,2,1\n1,x,1\n' >p.csv
  assert_fails 1 "p.csv:3: column 'mean': not a number" gpnn-plot pit p.csv
  printf 'y,mean,sd\n1,2,1\n1,1,-1\n' >p.csv
  for kind in calibration residuals 'band -x 1'; do
    # shellcheck disable=SC2086 # a kind and its options
    assert_fails 1 'p.csv:3: ' gpnn-plot $kind p.csv
  done
}

@test "mistakes on the command line are refused" {
  predictions >p.tsv
  assert_fails 2 'no such kind: "pie"' gpnn-plot pie p.tsv
  assert_fails 2 'an operand is missing' gpnn-plot
  assert_fails 2 'bins does not apply to curve' gpnn-plot curve --bins 3 p.tsv
  assert_fails 2 'theory does not apply to pit' gpnn-plot pit --theory -1 p.tsv
  assert_fails 2 'option --format: auto, svg, png or pdf' gpnn-plot pit --format gif p.tsv
  assert_fails 2 'option --mark' gpnn-plot landscape --mark noise=x p.tsv
  assert_fails 2 'option --width' gpnn-plot pit --width 0 p.tsv
}

# ---- texts ------------------------------------------------------------------------------------

@test "no name makes gnuplot do anything, and every name is shown" {
  local names=("\`touch pwned\`" "'; system('touch pwned'); '" "';system(\"touch pwned\")#"
    "''; system('touch pwned')" ']]>' 'x]]>' '@macro' '%s %n' '$(touch pwned)' 'x\' '\' "'" '<b>&amp;' END)
  for name in "${names[@]}"; do
    { printf '"%s",mean,sd\n' "${name//\"/\"\"}"; printf '%s\n' 1,2,1 2,2,1 3,1,2; } >p.csv
    for kind in calibration predicted residuals 'band -x 1' 'map -x 1,2'; do
      # shellcheck disable=SC2086 # a kind and its options
      gpnn-plot $kind --title "$name" --unit "$name" -o out.svg p.csv 2>err.txt ||
        [[ $kind == calibration* && $(cat err.txt) == *'does not apply'* ]] ||
        complain "$kind $name: $(cat err.txt)"
    done
    assert_svg out.svg
    { printf 'rows,value,by\n'; printf '%s\n' "1,2,\"${name//\"/\"\"}\"" 2,1,b; } >c.csv
    gpnn-plot curve --by by -o out.svg c.csv
    assert_svg out.svg
    { printf 'rows,quantity,varied,at,value\n'
      printf '%s\n' "1,\"${name//\"/\"\"}\",\"${name//\"/\"\"}\",2,3" 1,b,c,3,4; } >l.csv
    gpnn-plot landscape -o out.svg l.csv
    assert_svg out.svg
  done
  [[ ! -e pwned ]] || complain 'a name was run'
}

@test "a table that a kind cannot draw gives a message saying what it draws" {
  printf 'y,mean,sd\n1,2,3\n2,3,1\n' >p.csv
  assert_fails 1 "no column 'rows'.*; landscape draws values against parameters, .*--vary" \
    gpnn-plot landscape p.csv
  assert_fails 2 "no column 'mean'.*; calibration draws predictions with their truths" \
    gpnn-plot calibration <(landscape)
  assert_fails 2 'not both inputs: say --inputs; map draws .* gpnn-predict --keep' gpnn-plot map p.csv
  gpnn-plot map -x y,mean --script p.csv | grep -q '^plot '
}

@test "an axis has labels, however near its ends, and a map's do not touch" {
  printf 'rows\trmse\n100\t0.31\n400\t0.307\n1600\t0.305\n' | gpnn-plot curve --script >near.gp
  grep '^set ytics' near.gp | grep -o "'0\.3[0-9]*'" >labels.txt
  (($(wc -l <labels.txt) >= 3))
  [[ -z $(sort labels.txt | uniq -d) ]]
  awk 'BEGIN { print "u,v,mean,sd"; for (i = 0; i < 900; i++) printf "%g,%g,1,1\n", int(i / 30) * 4 / 29 - 2, i % 30 * 4 / 29 - 2 }' |
    gpnn-plot map --script | grep -qx 'set xtics 1'
}

@test "a mark for an unknown panel is refused" {
  landscape >l.tsv
  assert_fails 2 '--mark names no parameter that is varied: "noize=0.3"' \
    gpnn-plot landscape --mark noise=1 --mark noize=0.3 l.tsv
}

@test "the format goes by the ending of the output's name, or by --format" {
  local file
  printf 'y,mean,sd\n1,2,3\n2,3,1\n' >p.csv
  mkdir -p a.b
  for file in p.svg p.SVG p a.b/p .svg; do
    gpnn-plot pit -o $file p.csv >out.txt 2>&1
    assert_svg $file
    [[ ! -s out.txt ]]
  done
  for file in p.pdf p.PDF; do
    gpnn-plot pit -o $file p.csv
    assert_equal "$(head -c 5 $file)" '%PDF-'
  done
  gpnn-plot pit --format pdf p.csv | cmp - p.pdf
  gpnn-plot pit --format pdf -o p.fig p.csv
  cmp p.fig p.pdf
  gpnn-plot pit --format png -o p.PNG p.csv
}

@test "unknown endings, and those that contradict other options, are refused" {
  printf 'y,mean,sd\n1,2,3\n2,3,1\n' >p.csv
  assert_fails 2 'p.tif: pictures end in .svg, .png or .pdf; or say --format' \
    gpnn-plot pit -o p.tif p.csv
  assert_fails 2 'p.svg: its ending contradicts --format png' \
    gpnn-plot pit --format png -o p.svg p.csv
  assert_fails 2 'p.pdf: --script writes a script, not a picture' \
    gpnn-plot pit --script -o p.pdf p.csv
  gpnn-plot pit --script --format pdf -o p.gp p.csv
  grep -q '^set terminal pdfcairo size 17cm,9cm ' p.gp
  assert_equal "$(echo p.*)" 'p.csv p.gp'
}

@test "a PDF says nothing of when it was made" {
  predictions >p.tsv
  gpnn-plot pit -o p.pdf p.tsv
  run ! grep -qa CreationDate p.pdf
  assert_equal "$(tail -n 1 p.pdf)" '%%EOF'
  ! command -v pdfinfo >/dev/null || pdfinfo p.pdf | grep -q '^Pages: *1$'
}

@test "pit: few rows have few bins" {
  local rows_bins
  for rows_bins in 3:4 24:4 60:12 99:19 100:20 400:20; do
    predictions "${rows_bins%:*}" | gpnn-plot pit --script >p.gp
    assert_equal "$(block pit p.gp | wc -l)" "${rows_bins#*:}"
  done
}

@test "pit: bars are drawn over the band" {
  predictions | gpnn-plot pit --script | grep -A 2 '^plot' >lines.txt
  grep -q filledcurves <(sed -n 1p lines.txt)
  grep -q 'boxes .*transparent .*border' <(sed -n 2p lines.txt)
}

@test "band: means that are no function of the input are drawn as points" {
  predictions >p.tsv
  gpnn-plot band --script p.tsv 2>err.txt | grep -q "with lines .* title 'mean'"
  [[ ! -s err.txt ]]
  # Another input: of two rows with the same x, and of rows with different x.
  printf 'x,mean,sd\n1,3,1\n1,4,1\n2,5,1\n' >same.csv
  awk 'BEGIN { print "x,mean,sd"; for (i = 0; i < 40; i++) print i "," (i * 0.618) % 1 ",1" }' >other.csv
  for table in same other; do
    gpnn-plot band --script $table.csv >b.gp 2>err.txt
    run ! grep -q 'with lines' b.gp
    run ! grep -q filledcurves b.gp
    grep -q "with points .* title 'mean'" b.gp
    grep -q "$table.csv: the means are no function of 'x', .*rows that differ in 'x' only" err.txt
  done
  gpnn-plot band -q --script same.csv 2>&1 >b.gp | wc -c | grep -qx 0
}

@test "map: panels name the target, and points are averages over the rows of a place" {
  printf 'a,b,t,mean,sd\n0,1,9,1,3\n5,2,9,7,1\n0,1,9,2,5\n3,7,9,0,1\n' >p.csv
  gpnn-plot map --unit K --script p.csv >m.gp
  assert_equal "$(block map m.gp | paste -sd,)" '0 1 1.5 4,3 7 0 1,5 2 7 1'
  grep -q "^set label 2 't, mean (K)' " m.gp
  grep -q "^set label 2 't, sd (K)' " m.gp
  gpnn-plot map -y b --script p.csv | grep -q "^set label 2 'b, mean' "
  # Without a truth, the column before the mean is an input.
  cut -d , -f 1,2,4- p.csv | gpnn-plot map --script | grep -q "^set label 2 'mean' "
}

@test "line ends, control characters and broken UTF-8 in names become question marks" {
  printf '"a\nset output ""pwned""\n\033[2J\377",mean,sd\n1,2,1\n2,2,1\n' >p.csv
  gpnn-plot predicted p.csv >out.svg
  assert_svg out.svg
  grep -qF 'a?set output "pwned"?' out.svg || grep -qF 'a?set output &quot;pwned&quot;?' out.svg
  [[ ! -e pwned ]]
  LC_ALL=C run ! grep -q $'[\033\377]' out.svg
}

# ---- gnuplot and the world --------------------------------------------------------------------

@test "without gnuplot a message names its package, and the script is still written" {
  predictions >p.tsv
  run -1 --separate-stderr without_gnuplot gpnn-plot pit -o out.svg p.tsv
  [[ $stderr == 'gpnn-plot: gnuplot is not installed: its Debian package is gnuplot-nox'* ]]
  [[ ! -e out.svg ]]
  without_gnuplot gpnn-plot pit --script -o out.gp p.tsv
  grep -q pit out.gp
}

@test "a failure of gnuplot is reported in one line and leaves no file" {
  predictions >p.tsv
  run -1 --separate-stderr with_gnuplot 'printf "\n\n  line 3:\n boom\n" >&2; exit 3' \
    gpnn-plot pit -o out.svg p.tsv
  assert_equal "$stderr" 'gpnn-plot: gnuplot failed with status 3: line 3: boom'
  run -1 --separate-stderr with_gnuplot 'kill -9 $$' gpnn-plot pit -o out.svg p.tsv
  assert_equal "$stderr" 'gpnn-plot: gnuplot was ended by a signal'
  run -1 --separate-stderr with_gnuplot 'exit 0' gpnn-plot pit -o out.svg p.tsv
  [[ $stderr == 'gpnn-plot: gnuplot failed'* ]]
  run -1 --separate-stderr with_gnuplot 'exec <&-; exit 1' gpnn-plot pit -o out.svg p.tsv
  [[ $stderr == 'gpnn-plot: gnuplot failed'* && ! -e out.svg ]]
}

@test "a gnuplot that warns still draws" {
  predictions >p.tsv
  with_gnuplot 'cat >/dev/null; echo careful >&2; echo picture' gpnn-plot pit p.tsv >out 2>err.txt
  assert_equal "$(cat out)" picture
  [[ ! -s err.txt ]]
}

@test "a full disk is reported, a closed pipe is not" {
  predictions >p.tsv
  run -1 --separate-stderr bash -c 'gpnn-plot pit p.tsv >/dev/full'
  assert_equal "$stderr" 'gpnn-plot: (stdout): cannot be written: No space left on device'
  run -0 bash -c 'gpnn-plot predicted p.tsv | true'
  [[ -z $output ]]
}

@test "a failure leaves an existing file alone" {
  predictions >p.tsv
  echo old >out.svg
  run -1 gpnn-plot pit -o out.svg missing.tsv
  run -1 with_gnuplot 'exit 1' gpnn-plot pit -o out.svg p.tsv
  assert_equal "$(cat out.svg)" old
}

# Whether a process is there, and has not ended.
is_running() {
  [[ -e /proc/$1/status ]] && ! grep -q '^State:.*zombie' "/proc/$1/status"
}

@test "a signal that ends the tool ends gnuplot" {
  predictions >p.tsv
  for signal in TERM INT HUP; do
    # Job control gives the tool its own group and the default action of SIGINT.
    # shellcheck disable=SC2016 # the script is gnuplot's
    run -0 with_gnuplot 'echo $$ >pid.new; mv pid.new pid; exec sleep 30' bash -c "set -m
      gpnn-plot pit -o out.svg p.tsv & while ! [[ -e pid ]]; do sleep 0.01; done
      kill -$signal \$!; wait \$!; echo \$? >status"
    assert_equal "$(<status)" $((128 + $(kill -l $signal)))
    for _ in {1..100}; do is_running "$(<pid)" && sleep 0.05 || break; done
    ! is_running "$(<pid)" || complain "gnuplot goes on after SIG$signal"
    rm pid status
    [[ ! -e out.svg ]]
  done
}

@test "calibration and pit draw the scores of the table" {
  awk 'BEGIN {
    print "y,mean,sd,logp,crps,pit"
    for (i = 0; i < 400; i++) printf "%d,0,1,-1,1,%g\n", i, (i + 0.5) / 800
  }' >low.csv
  gpnn-plot pit --script low.csv >pit.gp
  grep -q 'distance from uniform 0.5' pit.gp
  gpnn-plot calibration --script low.csv | grep -q '^0\.95 0\.9'
}

@test "calibration: counts from the right distribution are calibrated, however few" {
  awk 'BEGIN {
    srand(4)
    print "y,mean,sd,logp,crps,pit"
    for (i = 0; i < 2000; i++) {
      mean = 0.2 + 2 * rand()
      p = term = exp(-mean)
      below = 0
      u = rand()
      for (y = 0; u > below + term; y++) { below += term; term *= mean / (y + 1) }
      printf "%d,%.17g,%.17g,%.17g,0.3,%.17g\n", y, mean, sqrt(mean), log(term), below + term / 2
    }
  }' >counts.csv
  gpnn-plot calibration --script counts.csv >counts.gp
  sed -n '/^[$]observed <</,/^EOD/p' counts.gp >observed
  assert_equal "$(grep -c '^0' observed)" 20
  awk '/^0/ && ($2 - $1 > 0.02 || $1 - $2 > 0.02) { bad = 1 } END { exit bad }' observed || complain "$(<observed)"
  grep -q "title 'predictions'" counts.gp
}

@test "columns called otherwise are named: standard errors of a curve, degrees of freedom" {
  curves >c.tsv
  gpnn-plot curve --by model --script c.tsv >expected.gp
  sed '1s/se$/error/' c.tsv | gpnn-plot curve --by model --se error --script | cmp - expected.gp
  sed '1s/se$/error/' c.tsv | gpnn-plot curve --by model --script >without.gp
  run ! cmp -s without.gp expected.gp
  predictions | awk -v OFS='\t' '{ print $2, $3, $4, NR == 1 ? "df" : 4 }' >p.tsv
  gpnn-plot pit --script p.tsv >expected.gp
  sed '1s/df$/nu/' p.tsv | gpnn-plot pit --df nu --script | cmp - expected.gp
  sed '1s/df$/nu/' p.tsv | gpnn-plot pit --script >without.gp
  run ! cmp -s without.gp expected.gp
}
