#!/usr/bin/env bats
# gpnn-grid predict: holes, all cells, rows of tables, and what it refuses.
# shellcheck disable=SC2154 # 'stderr' comes from bats

load helper

lines() { printf '%b\n' "$@"; }

# A network of 12 stations and 20 days with holes: g.gpi and g.par.
setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  PATH=${GPNN_BUILD:-$BATS_TEST_DIRNAME/../../build}/bin:$PATH
  awk 'BEGIN {
    srand(4)
    print "lat\tday\ttemp\tlon"
    for (s = 0; s < 12; s++)
      for (t = 0; t < 20; t++)
        if (rand() > 0.3)
          printf "%.2f\t%d\t%.3f\t%.2f\n", 50 + s * 0.37 % 2, t, 9 + 5 * sin(t / 3 + s / 5) + rand(), 8 + s * 0.61 % 3
  }' >long.tsv
  gpnn-grid index -q -y temp --site lat,lon --time day -o g.gpi long.tsv
  printf '%b\n' 'factors\tsite\ttime' 'site.kernel\tmatern32' 'site.lengthscale\t1.5\t2' \
    'time.kernel\trbf' 'time.lengthscale\t3' 'factor-mean\ttime' 'kernelscale\t0.8' 'noise\t0.02' >g.par
}

use() { cp "$BATS_FILE_TMPDIR"/* .; }

predict() { gpnn-grid predict -p g.par g.gpi "$@"; }

# The first two files, as tables of numbers in columns $3 and on, differ by at most $4.
assert_close() {
  paste "$1" "$2" | awk -F '\t' -v n="$3" -v most="$4" '
    NR > 1 {
      for (i = n; i <= NF / 2; i++) {
        d = $i - $(i + NF / 2)
        if (d < -most || d > most) { print NR ": " $0 >"/dev/stderr"; bad = 1 }
      }
    }
    END { exit bad || NR < 2 }'
}

@test "the holes come in the order of sites and days, and are those of all cells" {
  use
  predict --complete >holes.tsv
  assert_equal "$(head -n 1 holes.tsv)" $'lat\tlon\tday\tmean\tsd'
  assert_equal "$(($(wc -l <holes.tsv) + $(wc -l <long.tsv) - 2))" 240
  predict --complete=all >all.tsv
  assert_equal "$(head -n 1 all.tsv)" $'lat\tlon\tday\ttemp\tmean\tsd'
  awk -F '\t' -v OFS='\t' 'NR == 1 || $4 == "NA" { print $1, $2, $3, $5, $6 }' all.tsv | cmp - holes.tsv
  awk -F '\t' 'NR > 1 { print $1 "|" $2 }' all.tsv | uniq | cmp - \
    <(awk -F '\t' 'NR > 1 { print $1 + 0 "|" $4 + 0 }' long.tsv | awk '!seen[$0]++')
  awk -F '\t' 'NR > 1 && $4 != "NA" { print $1, $2, $3, $4 + 0 }' all.tsv | cmp - \
    <(awk -F '\t' 'NR > 1 { print $1 + 0, $4 + 0, $2, $3 + 0 }' long.tsv)
  gpnn-eval -q all.tsv >scores.txt
  awk -v r2="$(value r2 scores.txt)" 'BEGIN { exit r2 < 0.9 }'
}

@test "the rows of a table have the same predictions, by gpnn-predict too" {
  use
  predict --complete=all >all.tsv
  cut -f 4-6 all.tsv >wanted.tsv
  predict all.tsv >rows.tsv
  cmp rows.tsv wanted.tsv
  gpnn-predict -p g.par g.gpi all.tsv >rows.tsv
  cmp rows.tsv wanted.tsv
  predict --batch 7 -j 1 all.tsv >rows.tsv
  cmp rows.tsv wanted.tsv
}

@test "the engines agree, also at new sites and times" {
  use
  lines 'day\tlat\tlon' '3\t50\t8' '3.5\t50\t8' '3\t50.2\t9.1' '3.5\t50.2\t9.1' '25\t50.2\t9.1' >new.tsv
  predict --append --engine dense new.tsv >dense.tsv
  predict --append --engine latent --variance exact --tol 1e-11 new.tsv >latent.tsv
  assert_close dense.tsv latent.tsv 4 1e-6
  # The tolerance that does for means is none for variances as small as the noise.
  sed 's/^noise.*/noise 1e-4/' g.par >quiet.par
  gpnn-grid predict -q g.gpi -p quiet.par --engine dense new.tsv >dense-quiet.tsv
  gpnn-grid predict -q g.gpi -p quiet.par --engine latent --precond none --variance exact new.tsv >latent-quiet.tsv
  assert_close dense-quiet.tsv latent-quiet.tsv 2 1e-3
  predict --append --engine latent --draws 4000 --tol 1e-8 new.tsv >draws.tsv
  assert_close dense.tsv draws.tsv 4 0.1
  for precond in eigen pivoted grid none; do
    predict --append --engine latent --variance exact --tol 1e-11 --precond $precond new.tsv >other.tsv
    assert_close dense.tsv other.tsv 4 1e-6
  done
}

@test "a grid without holes has an engine of its own" {
  use
  predict --complete=all | awk -F '\t' -v OFS='\t' '
    NR == 1 { print "lat", "lon", "day", "temp"; next }
    { print $1, $2, $3, $4 == "NA" ? $5 : $4 }' >full.tsv
  gpnn-grid index -q -y temp --site lat,lon --time day -o g.gpi full.tsv
  predict -v --complete=all >auto.tsv 2>err.txt
  grep -q 'engine complete' err.txt
  assert_equal "$(predict --complete | wc -l)" 1
  predict --engine dense --complete=all >dense.tsv
  assert_close auto.tsv dense.tsv 4 1e-8
}

@test "same bytes for any number of threads and rows in a batch" {
  use
  lines 'day\tlat\tlon' '3\t50\t8' '3.5\t50\t8' '3\t50.2\t9.1' '3.5\t50.2\t9.1' '25\t50.2\t9.1' >new.tsv
  options=(--engine latent --interval 0.9 --append new.tsv)
  predict -j 1 "${options[@]}" >one.tsv
  for j in 2 5; do predict -j $j --batch $j "${options[@]}" | cmp - one.tsv; done
  predict -j 1 --samples 3 "${options[@]}" >one.tsv
  assert_equal "$(head -n 1 one.tsv)" \
    $'day\tlat\tlon\tmean\tsd\tlower\tupper\tsample1\tsample2\tsample3'
  predict -j 3 --samples 3 "${options[@]}" | cmp - one.tsv
  [[ $(predict --seed 2 --samples 3 "${options[@]}") != "$(cat one.tsv)" ]]
}

@test "draws at the default tolerance are close to those of the exact solution" {
  use
  for precond in auto none; do
    options=(--latent --engine latent --variance exact --precond "$precond" --samples 50 --complete)
    predict "${options[@]}" >default.tsv
    predict --tol 1e-10 "${options[@]}" >exact.tsv
    paste default.tsv exact.tsv | awk -F '\t' '
      NR > 1 {
        for (i = 6; i <= NF / 2; i++) {
          off = ($i - $(i + NF / 2)) / $5
          sum += off * off
          n++
          if (off > 0.2 || off < -0.2) { print NR, i, off; exit bad = 1 }
        }
      }
      END { print sqrt(sum / n); exit bad || NR < 50 || NF != 110 || sum > n * 0.03 ^ 2 }'
  done
}

@test "draws of neighbouring times are alike, and have the mean and sd of their columns" {
  use
  lines 'day\tlat\tlon' '19.5\t50.2\t9.1' '19.6\t50.2\t9.1' >new.tsv
  predict --latent --samples 2000 --tol 1e-8 new.tsv >draws.tsv
  awk -F '\t' 'NR > 1 {
    for (i = 3; i <= NF; i++) { sum[NR] += $i - $1; sq[NR] += ($i - $1) ^ 2; off[NR, i] = $i - $1 }
    n = NF - 2
    if (sum[NR] / n > 4 * $2 / sqrt(n) || sum[NR] / n < -4 * $2 / sqrt(n)) exit bad = 1
    if (sq[NR] / n > 1.2 * $2 ^ 2 || sq[NR] / n < 0.8 * $2 ^ 2) exit bad = 1
  }
  END {
    for (i = 3; i < n + 3; i++) both += off[2, i] * off[3, i]
    exit bad || both < 0.95 * sqrt(sq[2] * sq[3])
  }' draws.tsv
}

# Four years of 60 days at five stations, whose mean goes with the season, and the fifth year.
@test "days after the last follow the season, and are less certain" {
  awk -v OFS='\t' '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
    BEGIN {
      srand(2); print "lat", "lon", "day", "temp"; print "lat", "lon", "day", "temp" >"later.tsv"
      for (t = 0; t < 300; t++) {
        e = 0.7 * e + 0.7 * normal()
        for (s = 0; s < 5; s++) {
          y = 4 * sin(0.1047198 * t) + e + 0.5 * normal()
          if (t < 240) print 50 + s, s * s, t, y; else print 50 + s, s * s, t, y >"later.tsv"
        }
      }
    }' | gpnn-grid index -q -y temp --site lat,lon --time day -o g.gpi -
  lines 'factors\tsite\ttime' 'site.kernel\texp' 'site.lengthscale\t.1\t.1' 'time.kernel\texp' \
    'time.lengthscale\t0.2' 'factor-mean\ttime' 'kernelscale\t0.01' 'noise\t0.02' >g.par
  predict later.tsv >later.txt
  gpnn-eval later.txt >scores.txt
  assert_below 0.75 "$(value r2 scores.txt)"
  assert_below 0.9 "$(value coverage95 scores.txt)"
  awk -F '\t' 'NR == 2 { first = $3 } END { exit !($3 > 1.15 * first) }' later.txt
}

@test "what is left out, and what the options add" {
  use
  assert_equal "$(predict --variance none --complete | head -n 1)" $'lat\tlon\tday\tmean'
  predict --complete >plain.tsv
  predict --mean sample --variance samples --draws 500 --complete >sample.tsv
  assert_close plain.tsv sample.tsv 4 0.2
  predict --units standard --complete | column sd >standard.txt
  paste standard.txt <(column sd plain.tsv) | awk '{ r = $2 / $1; if (NR > 1 && (r - q > 1e-9 || q - r > 1e-9)) exit 1; q = r }'
  predict --latent --complete | column sd | paste - <(column sd plain.tsv) | awk '$1 >= $2 { exit 1 }'
  predict -d , --no-header --complete | head -n 1 | grep -qE '^[0-9.]+,[0-9.]+,[0-9]+,[0-9.-]+,[0-9.]+$'
}

@test "names and tasks" {
  lines 'st\tsensor\tv' 'a\tt\t1' 'a\tu\t2.5' 'b\tt\t3' 'b\tu\t1' 'c\tt\t4' 'd\tu\t2' 'c\tv\t3' >n.tsv
  gpnn-grid index -q --site st --factor sensor=sensor -o g.gpi n.tsv
  lines 'factors\tsite\tsensor' 'site.kernel\ticm:1' 'site.loadings\t1\t1\t.5\t1' \
    'site.own\t.1\t.1\t.1\t.1' 'sensor.kernel\ticm:1' 'sensor.loadings\t1\t.2\t.3' \
    'sensor.own\t.1\t.1\t.1' 'kernelscale\t1' 'noise\t0.1' >g.par
  assert_equal "$(predict --complete | cut -f 1,2 | tr '\t\n' ', ')" 'st,sensor a,v b,v c,u d,t d,v '
  lines 'sensor\tst' 't\tz' 'u\tc' >q.tsv
  run --separate-stderr -1 predict q.tsv
  [[ $stderr == "gpnn-grid: q.tsv:2: column 'st': not one of the names that the index has: \"z\"" ]]
  assert_equal "$(predict -q --skip-bad q.tsv | sed -n 2p)" $'NA\tNA'
}

@test "a transformed target comes back, with scores of truths that are not of the grid" {
  use
  lines "$(cat g.par)" 'transform\tlog\t2.2\t0.4\t3\t20' >t.par
  gpnn-grid predict -p t.par g.gpi --complete=all >all.tsv
  assert_equal "$(head -n 1 all.tsv)" $'lat\tlon\tday\ttemp\tmean\tsd'
  cut -f 1-4 all.tsv >rows.tsv
  gpnn-grid predict -p t.par g.gpi rows.tsv >scored.tsv
  assert_equal "$(head -n 1 scored.tsv)" $'temp\tmean\tsd\tlogp\tcrps\tpit'
  gpnn-eval -q scored.tsv >scores.txt
  awk -v r2="$(value r2 scores.txt)" 'BEGIN { exit r2 < 0.9 }'
}

@test "what cannot be is refused" {
  use
  refused() {
    local status=$1 text=$2
    shift 2
    run --separate-stderr "-$status" gpnn-grid predict "$@"
    [[ $stderr == *"$text"* ]] || complain "$stderr"
    assert_equal "$output" ''
  }
  make_table 30 2 >rows.tsv
  gpnn-index -q -o rows.gpi rows.tsv
  make_parameters matern32 0.5 1 0.04 5 >rows.par
  refused 1 'is an index of rows' -p rows.par rows.gpi rows.tsv
  refused 1 'parameters of rows, but g.gpi is a grid index' -p rows.par g.gpi --complete
  refused 1 'parameters of a grid, but rows.gpi is an index of rows' -p g.par rows.gpi rows.tsv
  refused 1 "lacks 3 of 3 input columns" -p g.par g.gpi rows.tsv
  refused 2 'the grid has holes' -p g.par g.gpi --complete --engine complete
  refused 2 'give it or a table' -p g.par g.gpi --complete long.tsv
  refused 2 'not for --complete' -p g.par g.gpi --complete --append
  refused 2 'computes no sd' -p g.par g.gpi --complete --variance none --interval 0.9
  refused 2 'complete' -p g.par g.gpi --complete=some
  refused 1 'the worst residual is' -p g.par g.gpi --complete --engine latent --precond none --max-iter 1
  run --separate-stderr -0 predict --complete --engine latent --precond none --max-iter 1 --accept
  [[ $stderr == *'accepted without convergence'* ]]
  run --separate-stderr -2 gpnn-predict -p g.par g.gpi long.tsv --max-distance 2
  [[ $stderr == *'is a grid'* ]]
}

@test "a reader that has seen enough ends it quietly" {
  use
  { predict --complete=all --samples 50 2>err.txt || echo $? >status.txt; } | head -n 1 >first.txt
  [[ ! -e status.txt || $(<status.txt) == 141 ]]
  assert_equal "$(wc -l <first.txt)" 1
  [[ ! -s err.txt ]]
}

@test "coordinates of the cells are those of the table, as text" {
  use
  awk 'BEGIN {
    srand(7)
    print "lon\tlat\tday\ty"
    for (s = 0; s < 30; s++) {
      site = sprintf("%.15g\t%.6f", 400 * rand() - 200, 90 * rand() + 0.1234561)
      for (t = 0; t < 4; t++) if (s != t) print site "\t" t "\t" s % 5 + t
    }
  }' >table.tsv
  gpnn-grid index -q -y y --site lon,lat --time day -o g.gpi table.tsv
  predict --complete=all | tail -n +2 | cut -f 1,2 | sort -u >cells.txt
  tail -n +2 table.tsv | cut -f 1,2 | sort -u >sites.txt
  awk 'BEGIN { FS = OFS = "\t" } { print $1, $2 + 0 "" }' CONVFMT=%.15g sites.txt | sort -u | cmp - cells.txt
}

@test "a grid of far more cells than observations is told, and completed only if that is asked for" {
  awk 'BEGIN { print "place\tday\ty"; for (i = 0; i < 1100; i++) printf "%.13f\t%d\t%.3f\n", i % 11 + 1e-9 * i, i, sin(i) }' >alone.tsv
  gpnn-grid index -o alone.gpi --site place --time day alone.tsv 2>err
  grep -q 'alone.tsv: 1100 observations are of 1100 levels of site, so that nearly each has its own: round' err
  printf '%b\n' 'factors\tsite\ttime' 'site.kernel\trbf' 'site.lengthscale\t1' 'time.kernel\trbf' \
    'time.lengthscale\t1' 'kernelscale\t1' 'noise\t1' >alone.par
  assert_fails 2 'alone.gpi: the grid has 1210000 cells, and 1100 observed: .*--max-cells 1210000' \
    gpnn-grid predict -p alone.par --complete alone.gpi
  use
  run -2 predict --complete --max-cells 239
  [[ $output == *'g.gpi: the grid has 240 cells'* ]]
  predict --complete --max-cells 240 >holes.tsv
  [[ -s holes.tsv ]]
}
