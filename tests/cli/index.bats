#!/usr/bin/env bats
# gpnn-index and gpnn-info: inputs that are points, and columns that are no inputs.

load helper

# A table over the globe and the hours: lat, lon, hour, two targets, a regressor, a variance.
make_globe() {
  awk -v rows="${1:-200}" -v first="${2:-0}" '
    function fraction(x) { return x - int(x) }
    BEGIN {
      OFS = "\t"
      print "lat", "lon", "hour", "load", "heat", "slope", "var"
      for (i = first + 1; i <= first + rows; i++) {
        lat = 180 * fraction(i * sqrt(2)) - 90
        lon = 360 * fraction(i * sqrt(3)) - 180
        hour = 24 * fraction(i * sqrt(5))
        slope = fraction(i * sqrt(7))
        load = sin(lat / 20) + cos(lon / 40) + sin(hour / 4) + slope
        printf "%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\n", lat, lon, hour, load, \
          10 * load * load, slope, fraction(i * sqrt(11)) / 100
      }
    }'
}

# Parameters with the lengthscales given.
make_params() {
  printf 'kernel\tmatern32\nlengthscale'
  printf '\t%s' "$@"
  printf '\nkernelscale\t1\nnoise\t0.01\nneighbours\t30\n'
}

# same_columns NAME... A B: columns of two tables agree within 1e-6.
same_columns() {
  local a=${*: -2:1} b=${*: -1} name
  for name in "${@:1:$#-2}"; do
    paste <(column "$name" "$a") <(column "$name" "$b") | awk '
      { d = $1 - $2; if (!($1 ~ /[0-9]/ && d < 1e-6 && d > -1e-6)) { print; bad = 1 } }
      END { exit bad || !NR }' >&2 || complain "column $name differs"
  done
}

@test "a place on the globe becomes three coordinates in km" {
  make_globe 200 | cut -f 1-4 >degrees.tsv
  make_globe 40 200 | cut -f 1-4 >later.tsv
  to_km() {
    awk -F '\t' -v OFS='\t' 'NR == 1 { print "x", "y", "z", "load"; next } {
      t = atan2(0, -1) / 180; r = 6371.0088
      printf "%.9f\t%.9f\t%.9f\t%s\n", r * cos($1 * t) * cos($2 * t), r * cos($1 * t) * sin($2 * t),
        r * sin($1 * t), $4 }' "$1"
  }
  to_km degrees.tsv >km.tsv
  to_km later.tsv >later-km.tsv
  make_params 3000 >p.par
  for how in none scale; do
    gpnn-index --standardise "$how" --drop hour --geo lat,lon -o globe.gpi degrees.tsv
    gpnn-predict globe.gpi -p p.par later.tsv >a.tsv
    gpnn-index --standardise none -o km.gpi km.tsv
    gpnn-predict km.gpi -p p.par later-km.tsv >b.tsv
    same_columns mean sd a.tsv b.tsv
  done
}

@test "an input with a period becomes a point on the unit circle" {
  make_globe 200 | cut -f 3,4 >hours.tsv
  make_globe 40 200 | cut -f 3,4 >later.tsv
  to_circle() {
    awk -F '\t' -v OFS='\t' 'NR == 1 { print "s", "c", "load"; next } {
      a = 2 * atan2(0, -1) * $1 / 24; printf "%.12f\t%.12f\t%s\n", sin(a), cos(a), $2 }' "$1"
  }
  to_circle hours.tsv >circle.tsv
  to_circle later.tsv >later-circle.tsv
  make_params 0.5 >p.par
  gpnn-index --standardise none --period hour=24 -o hours.gpi hours.tsv
  gpnn-index --standardise none -o circle.gpi circle.tsv
  gpnn-predict hours.gpi -p p.par later.tsv >a.tsv
  gpnn-predict circle.gpi -p p.par later-circle.tsv >b.tsv
  same_columns mean sd a.tsv b.tsv
}

@test "predictions repeat with the period and around the globe" {
  make_globe 200 | cut -f 1-4 >t.tsv
  gpnn-index --period hour=24 --geo lat,lon -o t.gpi t.tsv
  make_params 3000 0.5 >p.par
  printf 'lat\tlon\thour\n10\t20\t1.5\n-30\t-170\t23.75\n90\t0\t0\n' >here.tsv
  printf 'hour\tlon\tlat\n25.5\t380\t10\n-0.25\t190\t-30\n240\t360\t90\n' >there.tsv
  gpnn-predict t.gpi -p p.par here.tsv >a.tsv
  gpnn-predict t.gpi -p p.par there.tsv >b.tsv
  cmp a.tsv b.tsv
}

@test "the order of columns does not affect points" {
  make_globe 200 | cut -f 1-4 >t.tsv
  awk -F '\t' -v OFS='\t' '{ print $2, $4, $3, $1 }' t.tsv >mixed.tsv
  gpnn-index -y load -x hour,lat,lon --period hour=24 --geo lat,lon -o a.gpi t.tsv
  gpnn-index -y load -x hour,lat,lon --period 3=24 --geo 4,1 -o b.gpi mixed.tsv
  gpnn-info a.gpi | grep -vE '^(fingerprint|section)' >a
  gpnn-info b.gpi | grep -vE '^(fingerprint|section)' >b
  cmp a b
  make_params 0.5 3000 >p.par
  cmp <(gpnn-predict a.gpi -p p.par mixed.tsv) <(gpnn-predict a.gpi -p p.par t.tsv)
}

@test "gpnn-info names coordinates, groups, periods and columns that are not inputs" {
  make_globe >t.tsv
  gpnn-index -y load,heat --period hour=24 --geo lat,lon --regressors slope --row-noise var \
    -o t.gpi t.tsv
  gpnn-info --verify t.gpi >info
  assert_equal "$(grep -E '^(input|group|period)' info | cut -f 1,2 | tr '\t\n' ' ;')" \
    'inputs 5;input x(lat,lon);input y(lat,lon);input z(lat,lon);input sin(hour);input cos(hour);group lat,lon;group hour;period hour;'
  assert_equal "$(awk '$1 == "input" && $2 ~ /lat/ { print $4 }' info | sort -u)" 1
  assert_equal "$(awk '$1 == "input" && $2 ~ /hour/ { print $4 }' info | sort -u | wc -l)" 1
  assert_equal "$(value target info | tr '\n' ' ')" 'load heat '
  assert_equal "$(value row-noise info)" var
  mean=$(column slope t.tsv | awk '{ s += $1 } END { print s / NR }')
  assert_near "$(awk '$1 == "regressor" && $2 == "slope" { print $3 }' info)" "$mean" 0.02
  assert_equal "$(value verified info)" yes
}

@test "each of several targets has the same mean and sd as alone, and the first predicts the same" {
  make_globe >t.tsv
  gpnn-index -y load,heat -x lat,lon,hour -o both.gpi t.tsv
  gpnn-index -y load -x lat,lon,hour -o load.gpi t.tsv
  gpnn-index -y heat -x lat,lon,hour -o heat.gpi t.tsv
  assert_equal "$(gpnn-info both.gpi | grep '^target')" \
    "$(gpnn-info load.gpi | grep '^target'; gpnn-info heat.gpi | grep '^target')"
  make_params 0.5 >p.par
  cmp <(gpnn-predict both.gpi -p p.par t.tsv) <(gpnn-predict load.gpi -p p.par t.tsv)
}

@test "a mean and sd that were agreed on are those of predictions and parameters" {
  make_table 60 1 >t.tsv
  awk -F '\t' -v OFS='\t' -v CONVFMT=%.12g 'NR > 1 { $2 = 100 + 5 * $2 } 1' t.tsv >moved.tsv
  make_parameters matern32 0.5 1 0.1 20 >p.par
  gpnn-index -q --target-scale 0.25,2 -o t.gpi t.tsv
  gpnn-index -q --target-scale 101.25,10 -o moved.gpi moved.tsv
  # Far from all rows a prediction is the mean, and its variance that of the process and the noise.
  printf 'x1\n1e6\n' >far.tsv
  gpnn-predict -q -p p.par t.gpi far.tsv >far
  assert_equal "$(column mean far)" 0.25
  assert_near "$(column sd far)" 2.09761769634 1e-9
  gpnn-predict -q -p p.par t.gpi t.tsv | column mean >mean
  gpnn-predict -q -p p.par moved.gpi moved.tsv | column mean | awk -v OFMT=%.12g '{ print ($1 - 100) / 5 }' >moved
  paste mean moved | awk '{ if (($1 - $2)^2 > 1e-10) exit 1 }'
  for scale in 1 1,0 1,-1 1,2,3 a,1 ',' nan,1; do
    assert_fails 2 'MEAN,SD' gpnn-index --target-scale "$scale" -o x.gpi t.tsv
  done
  assert_fails 2 'given of 1 targets, where there are 2' gpnn-index -y 1,2 --target-scale 0,1 -o x.gpi <(awk -v OFS='\t' '{ print $0, NR }' t.tsv)
  assert_fails 2 'target-scale applies to a table' gpnn-index --metric p.par --target-scale 0,1 -o x.gpi t.gpi
}

@test "places not on the globe and negative variances are bad values" {
  make_globe 50 >t.tsv
  awk -F '\t' -v OFS='\t' 'NR == 9 { $1 = "90.5" } 1' t.tsv >lat.tsv
  awk -F '\t' -v OFS='\t' 'NR == 9 { $7 = "-0.1" } 1' t.tsv >var.tsv
  assert_fails 1 "lat.tsv:9: column 'lat': not a latitude from -90 to 90 degrees" \
    gpnn-index -y load -x lat,lon --geo lat,lon -o t.gpi lat.tsv
  assert_fails 1 "var.tsv:9: column 'var': a negative variance" \
    gpnn-index -y load -x lat,lon --row-noise var -o t.gpi var.tsv
  gpnn-index -y load -x lat,lon --geo lat,lon -o t.gpi t.tsv
  make_params 3000 >p.par
  gpnn-predict -q t.gpi -p p.par --skip-bad lat.tsv >out.tsv
  assert_equal "$(column mean out.tsv | sed -n 8p)" NA
  assert_equal "$(column mean out.tsv | grep -c NA)" 1
}

@test "contradictory roles are refused" {
  make_globe 50 >t.tsv
  while IFS='|' read -r options sentence; do
    # shellcheck disable=SC2086 # several options
    assert_fails 2 "$sentence" gpnn-index $options -o t.gpi t.tsv
  done <<'CASES'
--period day=24|no column 'day'
--period hour=0|period 'hour=0': a period is a number above 0
--period hour|period 'hour': not of the form COL=P
--period hour=24 --one-hot hour|column 'hour' is a category
--period hour=24 --period hour=12|column 'hour' has a period already
--period var=24|column 'var' is not an input
--geo lat|two columns, latitude and longitude, not 1
--geo lat,lon,hour|not 3
--geo lat,lon --period lon=360|column 'lon' has a period already
--geo lat,lon --standardise whiten|use --standardise scale
--period hour=24 --preset paper|use --standardise scale
-y load,load|'load' is given twice
-y load,heat -x lat,heat|column 'heat' is both target and input
--regressors var|column 'var' is both target and regressor
--row-noise var|column 'var' is the target
-y load --row-noise var -x lat,var|column 'var' is both row noise and input
-y load --regressors colour|no column 'colour'
CASES
  gpnn-index -y load -o t.gpi t.tsv
  make_params 1 >p.par
  assert_fails 2 'applies to a table' \
    gpnn-index --metric p.par --period hour=24 -o u.gpi t.gpi
  assert_fails 2 'applies to a table' \
    gpnn-index --metric p.par --regressors slope -o u.gpi t.gpi
}

@test "regressors that are constant or collinear are named" {
  make_globe 50 | awk -F '\t' -v OFS='\t' -v CONVFMT=%.12g '{ $8 = NR == 1 ? "one" : 1 }
    { $9 = NR == 1 ? "sum" : 2 * $1 - $3 + 5 } 1' >t.tsv
  assert_fails 1 "t.tsv: column 'one': does not vary" \
    gpnn-index -y load --regressors slope,one -o t.gpi t.tsv
  assert_fails 1 "t.tsv: column 'sum': is a linear combination of a constant and the regressors" \
    gpnn-index -y load --regressors lat,slope,hour,sum -o t.gpi t.tsv
  gpnn-index -y load --regressors lat,slope,sum -o t.gpi t.tsv
  assert_equal "$(gpnn-info t.gpi | awk '$1 == "regressor" { print $2 }' | tr '\n' ' ')" \
    'lat slope sum '
}

@test "by default a column with another role is not an input, and a regressor may be both" {
  make_globe 50 >t.tsv
  gpnn-index -y load --regressors slope --row-noise var -o t.gpi t.tsv
  assert_equal "$(gpnn-info t.gpi | awk '$1 == "input" { print $2 }' | tr '\n' ' ')" 'lat lon hour heat '
  gpnn-index -y load -x lat,slope --regressors slope -o t.gpi t.tsv
  assert_equal "$(gpnn-info t.gpi | awk '$1 == "input" { print $2 }' | tr '\n' ' ')" 'lat slope '
}

@test "--metric keeps the rest of the index, and uses a lengthscale per group" {
  make_globe >t.tsv
  gpnn-index -y load,heat --period hour=24 --geo lat,lon --regressors slope --row-noise var \
    -o t.gpi t.tsv
  make_params 2000 0.5 >p.par
  gpnn-index --metric p.par -o u.gpi t.gpi
  others='^(search|metric|section|asked)'
  cmp <(gpnn-info t.gpi | grep -vE "$others") <(gpnn-info u.gpi | grep -vE "$others")
  assert_equal "$(gpnn-info --verify u.gpi | value metric-lengthscale | tr '\n' ' ')" \
    '2000 2000 2000 0.5 0.5 '
  make_params 1 2 3 4 5 >wrong.par
  assert_fails 1 'p.par|wrong.par' gpnn-index --metric wrong.par -o v.gpi t.gpi
}

@test "a search of rotated rows is stored, shown and used, and equals one of rows rotated by hand" {
  make_globe 400 | cut -f 1-4 >t.tsv
  make_globe 40 400 | cut -f 1-4 >later.tsv
  mix() {
    awk -F '\t' -v OFS='\t' 'NR == 1 { print "p", "q", "r", "load"; next }
      { printf "%.12g\t%.12g\t%.12g\t%s\n", $1 - $2, $2 + 2 * $3, $3, $4 }' "$1"
  }
  { make_params 20 90 5; printf 'rotation\t1\t-1\t0\t0\t1\t2\t0\t0\t1\n'; } >r.par
  gpnn-index --standardise none -o t.gpi t.tsv
  gpnn-predict t.gpi -p r.par later.tsv >a.tsv
  for kind in tree flat ivf hnsw; do
    gpnn-index --metric r.par --search $kind --recall 1 -o u.gpi t.gpi
    gpnn-info --verify u.gpi >info
    assert_equal "$(value search info)" $kind
    assert_equal "$(grep '^metric-' info | tr '\t\n' ' ;')" \
      'metric-lengthscale 20;metric-lengthscale 90;metric-lengthscale 5;metric-direction 1 -1 0;metric-direction 0 1 2;metric-direction 0 0 1;'
    gpnn-predict u.gpi -p r.par later.tsv >$kind.tsv
  done
  cmp a.tsv tree.tsv
  cmp a.tsv flat.tsv
  mix t.tsv >mixed.tsv
  mix later.tsv >later-mixed.tsv
  gpnn-index --standardise none -o m.gpi mixed.tsv
  make_params 20 90 5 >p.par
  gpnn-predict m.gpi -p p.par later-mixed.tsv >c.tsv
  same_columns mean sd a.tsv c.tsv
}

@test "the metric of several targets is used if they agree, and refused otherwise" {
  make_globe >t.tsv
  gpnn-index -y load,heat -x lat,lon,hour -o t.gpi t.tsv
  two() { printf 'target\tload\n'; make_params "$1" 2 3; printf 'target\theat\n'; make_params "${@:2}"; }
  two 1 1 2 3 >same.par
  two 1 2 4 6 >scaled.par
  two 1 2 4 7 >differ.par
  for par in same scaled; do
    gpnn-index --metric $par.par -o u.gpi t.gpi
    assert_equal "$(gpnn-info u.gpi | value metric-lengthscale | tr '\n' ' ')" '1 2 3 '
    cmp <(gpnn-predict u.gpi -p $par.par t.tsv) <(gpnn-predict t.gpi -p $par.par t.tsv)
  done
  assert_fails 1 '^differ.par: its targets have different metrics' \
    gpnn-index --metric differ.par -o v.gpi t.gpi
}

@test "a damaged tree is detected by its checksum" {
  make_globe 500 >t.tsv
  gpnn-index -y load -x lat,lon,hour -o t.gpi t.tsv
  assert_equal "$(gpnn-info t.gpi | value search)" tree
  make_params 1 >p.par
  at=$(gpnn-info t.gpi | awk '$1 == "section" && $2 == "TREE" { print $3 }')
  printf 'x' | dd of=t.gpi bs=1 seek=$((at + 700)) conv=notrunc status=none
  assert_fails 1 't.gpi: damaged: the checksum of section TREE' gpnn-predict t.gpi -p p.par t.tsv
  assert_fails 1 't.gpi: damaged: the checksum of section TREE' gpnn-info --verify t.gpi
}

# spoil VALUE EVERY [COLUMN]: puts VALUE into one cell in EVERY of a column (the first).
spoil() {
  awk -F '\t' -v OFS='\t' -v value="$1" -v every="$2" -v at="${3:-1}" \
    'NR > 1 && NR % every == 5 { $at = value } { print }'
}

# rmse_of TABLE [OPTION...]: error on test.tsv of a quick fit to TABLE.
rmse_of() {
  gpnn-index -q -o r.gpi "$1" && gpnn-fit --effort fast "${@:2}" r.gpi >r.par &&
    gpnn-calibrate r.gpi <r.par >r.cal && gpnn-predict r.gpi -p r.cal test.tsv | gpnn-eval | value rmse
}

@test "wild cells in one input leave the other inputs useful" {
  make_table 800 2 >clean.tsv
  make_table 200 2 800 >test.tsv
  clean=$(rmse_of clean.tsv)
  for wild in -99999 -1e20 1e300; do
    spoil "$wild" 100 <clean.tsv >wild.tsv
    assert_near "$(rmse_of wild.tsv)" "$clean" 0.02
  done
  spoil 1e5 801 <clean.tsv >wild.tsv
  assert_near "$(rmse_of wild.tsv)" "$clean" 0.01
  assert_near "$(rmse_of wild.tsv --method conjugate)" "$(rmse_of clean.tsv --method conjugate)" 0.02
}

@test "wild targets are told, however many they are, and codes among them can be left out" {
  make_table 600 2 >clean.tsv
  awk -F '\t' -v OFS='\t' 'NR == 10 || NR == 99 || NR == 300 { $NF = 1e6 + NR } 1' clean.tsv >slips.tsv
  gpnn-index --calibration-rows 0 -o t.gpi slips.tsv 2>err.txt
  grep -qE "^gpnn-index: slips.tsv: target 'y': 3 cells, 1000[0-9]+ one of them, are far outside the rest .*: slips\?$" err.txt
  awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "z" : NR % 2 ? "NA" : NR == 100 ? -1e300 : $NF }' clean.tsv >one.tsv
  gpnn-index --calibration-rows 0 -y y,z -o t.gpi one.tsv 2>err.txt
  grep -q "target 'z': one cell is -1e+300, far outside the rest" err.txt
  awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 50 == 0 { $NF = -999 } 1' clean.tsv >codes.tsv
  gpnn-index --calibration-rows 0 -o t.gpi codes.tsv 2>err.txt
  grep -q "target 'y': 12 cells are -999, far outside .*: a code for" err.txt
  bash -c "$(sed -n 's/^    //p' err.txt)"
  assert_equal "$(gpnn-info t.gpi | value rows)" 588
  # Without its offset a code is no text of the table.
  awk -F '\t' -v OFS='\t' '{ o = NR == 1 ? "o" : NR % 4 ? 5 : 0; print o, $0 }' codes.tsv >offset.tsv
  run gpnn-index --offset o -o t.gpi offset.tsv
  [[ $output == *"'y' minus its offset: "[0-9]*" cells, -"* ]]
  [[ $output != *--na* ]]
}

@test "wild cells cause one warning per column, whose advice works as typed" {
  make_table 300 3 >clean.tsv
  spoil -99999.0 50 <clean.tsv | awk -F '\t' -v OFS='\t' 'NR == 20 { $2 = 1e5 } { print }' >wild.tsv
  gpnn-index --calibration-rows 0 -o t.gpi wild.tsv 2>err.txt
  assert_equal "$(warnings err.txt | sed 's/outside the rest ([^)]*)/outside/')" \
    "gpnn-index: wild.tsv: column 'x1': 6 cells are -99999, far outside: a code for \"missing\"? --na -99999 --skip-bad
gpnn-index: wild.tsv: column 'x2': one cell is 100000, far outside: a slip?
gpnn-index: wild.tsv: if so,
  try this:
    gpnn-index --calibration-rows 0 -o t.gpi --na -99999 --skip-bad wild.tsv"
  bash -c "$(sed -n 's/^    //p' err.txt)"
  assert_equal "$(gpnn-info t.gpi | value incomplete-rows)" 6
  assert_equal "$(gpnn-info t.gpi | grep '^limits' | cut -f 2)" x2
  awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 60 == 0 { $1 = 1e6 + NR } { print }' clean.tsv >slips.tsv
  gpnn-index --calibration-rows 0 -o t.gpi slips.tsv 2>err.txt
  grep -q "column 'x1': 5 cells, 1000[0-9]* one of them, are far outside" err.txt
  make_table 100 15 | awk -F '\t' -v OFS='\t' 'NR == 9 { for (j = 1; j <= 15; j++) $j = 1e9 } { print }' >wide.tsv
  gpnn-index --calibration-rows 0 -o t.gpi wide.tsv 2>err.txt
  assert_equal "$(grep -c 'one cell is 1000000000, far' err.txt)" 10
  grep -q '^gpnn-index: wide.tsv: 5 more columns have cells far outside' err.txt
}

@test "long tails are compressed where targets are classes, and nowhere under --preset paper and none" {
  awk -v OFS=, 'BEGIN { srand(5); print "x,y"; for (i = 0; i < 2000; i++) print exp(5 * rand() ^ 4), rand() < 0.5 ? "a" : "b" }' >long.csv
  gpnn-index -q -o t.gpi long.csv
  assert_equal "$(gpnn-info t.gpi | grep -c ^tails)" 1
  for how in '--tails keep' '--standardise none' '--preset paper'; do
    # shellcheck disable=SC2086 # an option and its value
    gpnn-index -q $how -o t.gpi long.csv
    assert_equal "$(gpnn-info t.gpi | grep -c ^tails)" 0
  done
  assert_fails 2 '--standardise none takes the inputs as they are, but --tails compress' \
    gpnn-index --standardise none --tails compress -o t.gpi long.csv
}

@test "tables without wild cells have no limits, and nor do --preset paper and none" {
  make_table 2000 2 | spoil -99999 100 >wild.tsv
  for how in '--preset paper' '--standardise none'; do
    # shellcheck disable=SC2086 # an option and its value
    gpnn-index $how -o t.gpi wild.tsv 2>err.txt
    assert_equal "$(warnings err.txt)" ''
    gpnn-info t.gpi >info
    [[ $(grep -c -e LIMS -e limits info) == 0 ]]
  done
  for table in bike poletele protein; do
    gpnn-index --search flat -m 10 --drop dteday -o t.gpi "$GPNN_ROOT/tests/data/$table.tsv.gz" 2>err.txt ||
      gpnn-index --search flat -m 10 -o t.gpi "$GPNN_ROOT/tests/data/$table.tsv.gz" 2>err.txt
    assert_equal "$(warnings err.txt | grep -v 'equal others')" ''
    gpnn-info t.gpi >info
    [[ $(grep -c -e LIMS -e limits info) == 0 ]]
  done
}

@test "a wild cell in a row to predict counts as the limit, and gives numbers" {
  make_table 500 2 | spoil -99999 100 >wild.tsv
  gpnn-index -q -o t.gpi wild.tsv
  gpnn-fit --effort fast t.gpi >t.par
  printf 'x1\tx2\n-99999\t.5\n-1e300\t.5\n-1.7e308\t.5\n1.7e308\t.5\n.5\t1e300\n' >test.tsv
  gpnn-predict t.gpi -p t.par test.tsv >p.tsv
  assert_equal "$(column mean p.tsv | head -n 3 | uniq | wc -l)" 1
  [[ $(grep -c -e nan -e inf p.tsv) == 0 ]]
  gpnn-index --metric t.par -o u.gpi t.gpi
  cmp <(gpnn-predict u.gpi -p t.par test.tsv) p.tsv
}

@test "categories that are numbers are compared as numbers, texts without the blanks around them" {
  awk 'BEGIN { srand(1); split("1 1.0 01 +1 2 2.00", code, " "); split("NEAR BAY; NEAR BAY;INLAND;INLAND ", place, ";")
    print "code,place,x,y"
    for (i = 0; i < 120; i++) { c = 1 + i % 6; p = 1 + i % 4; x = rand()
      printf "%s,%s,%.3f,%.3f\n", code[c], place[p], x, x + (c > 4) + 2 * (p > 2) } }' >mixed.csv
  awk -F , -v OFS=, 'NR > 1 { $1 += 0; gsub(/^ | $/, "", $2) } { print }' mixed.csv >plain.csv
  gpnn-index --one-hot code,place -o mixed.gpi mixed.csv
  gpnn-index --one-hot code,place -o plain.gpi plain.csv
  cmp mixed.gpi plain.gpi
  assert_equal "$(gpnn-info mixed.gpi | awk -F '\t' '$1 == "input" { print $2 }' | tr '\n' ';')" \
    'code=1;code=2;place=NEAR BAY;place=INLAND;x;'
  make_params 0.5 >p.par
  cmp <(gpnn-predict mixed.gpi -p p.par plain.csv) <(gpnn-predict plain.gpi -p p.par mixed.csv)
  printf 'code,place,x\n3,INLAND,0.5\n1,inland,0.5\n' >new.csv
  gpnn-predict mixed.gpi -p p.par new.csv 2>err.txt >new.tsv
  grep -q '2 ' err.txt # unseen
}

@test "lines that several threads read make the same index as records of one, and the same messages" {
  make_table 7000 3 0 , >plain.csv
  # Quotes, blank lines and line ends keep their batches from being read by lines, from the second on.
  awk -F , -v OFS=, 'NR % 2500 == 0 { $2 = "\"" $2 "\"" } { print } NR == 3500 { print "" }' plain.csv >quoted.csv
  sed 's/$/\r/' plain.csv >crlf.csv
  gpnn-index -q -j 1 -o plain.gpi plain.csv
  for j in 1 3; do
    for table in plain quoted crlf; do
      gpnn-index -q -j $j -o other.gpi $table.csv
      cmp other.gpi plain.gpi
      gpnn-index -q -j $j -o other.gpi - < <(cat $table.csv)
      cmp other.gpi plain.gpi
    done
  done
  awk -F , -v OFS=, 'NR == 4001 { $1 = "oops" } NR == 5001 { $0 = $0 ",1" } { print }' plain.csv >bad.csv
  sed '5001d; 4001d' plain.csv >good.csv
  gzip <plain.csv | head -c 60000 >cut.gz
  gpnn-index -q -j 1 -o good.gpi good.csv
  for j in 1 3; do
    ! gpnn-index -j $j -o other.gpi bad.csv 2>err.txt
    grep -q '"oops" (line 4001)' err.txt
    grep -q 'the first on line 5001' err.txt
    gpnn-index -j $j --skip-bad -o other.gpi bad.csv 2>err.txt
    grep -q 'not a number in 1 row, as "oops" (line 4001)' err.txt
    gpnn-info other.gpi | grep -q $'^skipped-rows\t2'
    cmp <(gpnn-info other.gpi | grep -E '^(input|target)') <(gpnn-info good.gpi | grep -E '^(input|target)')
    assert_fails 1 'cut.gz: the gzip data are truncated' gpnn-index -j $j -o other.gpi cut.gz
  done
}
