#!/usr/bin/env bats
# gpnn-simulate limits and risk: scores and risks of simulated predictions.

load helper

# Quick ones: few inputs, neighbours and points.
limits() {
  gpnn-simulate limits --dimension 2 -m 20 --test 100 "$@"
}

risk() {
  gpnn-simulate risk --input-law disk -m 20 --test 100 "$@"
}

# ---- limits -----------------------------------------------------------------------------------

@test "limits: each number of rows and each value has a line" {
  limits -n 100,1e6,1e18 >t.tsv
  head -n 1 t.tsv | tr '\t' ' ' >header
  assert_equal "$(cat header)" "rows neighbours varied at mse mse_se nll nll_se cal cal_se \
mse_limit nll_limit cal_limit mse_matched nll_matched cal_matched lengthscale kernelscale noise"
  assert_equal "$(cut -f 1-4 t.tsv | tail -n +2 | tr '\t\n' ' ;')" \
    '100 20 - NA;1000000 20 - NA;1000000000000000000 20 - NA;'
  limits -n 1e4,1e5 --vary noise=0.1:0.4:3 --vary lengthscale=2:1:2 >t.tsv
  assert_equal "$(cut -f 1,3,4 t.tsv | tail -n +2 | tr '\t\n' ' ;')" \
    "10000 noise 0.1;10000 noise 0.25;10000 noise 0.4;10000 lengthscale 2;10000 lengthscale 1;\
100000 noise 0.1;100000 noise 0.25;100000 noise 0.4;100000 lengthscale 2;100000 lengthscale 1;"
}

@test "limits: parameters joined by commas are combined, others are varied one by one" {
  limits -n 1e4 --vary noise=0.1:0.3:2,lengthscale=1:2:2 --vary kernelscale=1:2:2 >grid
  assert_equal "$(cut -f 3,4 grid | tail -n +2 | tr '\t\n' ' ;')" \
    'noise 0.1;noise 0.3;noise 0.1;noise 0.3;kernelscale 1;kernelscale 2;'
  assert_equal "$(paste <(column lengthscale grid) <(column kernelscale grid) \
    <(column noise grid) | tr '\t\n' ' ;')" \
    '1 0.9 0.1;1 0.9 0.3;2 0.9 0.1;2 0.9 0.3;1 1 0.1;1 2 0.1;'
  limits -n 1e4 -a noise=0.3 -a lengthscale=2 >one
  assert_equal "$(sed -n 5p grid | cut -f 5-)" "$(sed -n 2p one | cut -f 5-)"
  for wrong in 'noise=0.1:0.3:2,' noise=1:2:2,noise=1:2:2 noise=1:2:40,lengthscale=1:2:40; do
    assert_fails 2 'option --vary: NAME=A:B:N, or several' gpnn-simulate limits --vary $wrong
  done
}

@test "rows: a range skips numbers that rounding repeats" {
  assert_equal "$(gpnn-simulate limits -n 1:8:12 -m 1 --test 2 | cut -f 1 | tr '\n' ' ')" \
    'rows 1 2 3 4 5 7 8 '
}

@test "limits: the limits agree with their formulas, and scores tend to them" {
  limits -n 1e15 -a noise=0.2 -a kernel=exp -a lengthscale=3 >t.tsv
  assert_near "$(column mse_limit t.tsv)" 0.105 1e-12
  assert_near "$(column cal_limit t.tsv)" 0.5 1e-12
  assert_near "$(column nll_limit t.tsv)" \
    "$(awk 'BEGIN { print (log(0.2 * 1.05) + 0.5 + log(8 * atan2(1, 1))) / 2 }')" 1e-5
  for score in mse nll cal; do
    assert_near "$(column $score t.tsv)" "$(column ${score}_limit t.tsv)" 0.0025
  done
}

@test "limits: matched scores are the limits under the true parameters" {
  limits -n 1000 -a lengthscale=2 -a noise=0.3 >wrong
  limits -n 1000 >right
  for score in mse nll cal; do
    assert_equal "$(column ${score}_matched wrong)" "$(column ${score}_limit right)"
  done
  assert_equal "$(column cal_matched wrong)" 1
}

@test "limits: the true parameters are the best, and their variances are right" {
  limits -n 1000 --vary lengthscale=0.5:1.5:3 --vary noise=0.05:0.15:3 >t.tsv
  limits -n 1000 >right
  awk -v mse="$(column mse right)" -v nll="$(column nll right)" \
    'NR > 1 && ($5 < mse - 1e-15 || $7 < nll - 1e-15) { exit 1 }' t.tsv
  assert_near "$(column cal right)" 1 1e-10
}

@test "limits: drawn responses have the same mean as averaged ones" {
  limits -n 1e4 --test 2000 -a noise=0.3 >averaged
  limits -n 1e4 --test 2000 -a noise=0.3 --responses drawn >drawn
  for score in mse nll cal; do
    assert_near "$(column $score drawn)" "$(column $score averaged)" \
      "$(column ${score}_se drawn | awk '{ print 4 * $1 }')"
    assert_below "$(column ${score}_se averaged)" "$(column ${score}_se drawn)"
  done
}

@test "limits: theory and search agree" {
  limits -n 2000 --test 400 --draws 3 >theory
  limits -n 2000 --test 400 --draws 3 --neighbours-by search >search
  assert_near "$(column mse theory)" "$(column mse search)" \
    "$(column mse_se search | awk '{ print 5 * $1 }')"
  run ! cmp -s theory search
}

# ---- risk -------------------------------------------------------------------------------------

@test "risk: each number of rows, value and quantity has a line" {
  risk -n 1e4,1e5 >t.tsv
  assert_equal "$(head -n 1 t.tsv | tr '\t' ' ')" \
    'rows neighbours quantity varied at value se slope r2 stone '\
'lengthscale kernelscale noise coefficient'
  assert_equal "$(cut -f 3,8-10 t.tsv | tail -n +2 | tr '\t\n' ' ;')" \
    'risk NA NA NA;risk NA NA NA;'
  risk -n 1e4 --derivatives --calibrate 50 --vary noise=0.1:0.2:2 >t.tsv
  assert_equal "$(column quantity t.tsv | sort | uniq -c | awk '{ print $1 }' | sort -u)" 2
  assert_equal "$(column quantity t.tsv | head -n 10 | tr '\n' ' ')" \
    "risk d_lengthscale d_kernelscale d_noise d_coefficient nll cal nll_after cal_after factor "
}

@test "risk: schedule, slope and Stone's exponent are printed" {
  risk -n 1e4:1e8:9 --schedule 1 -m 100 -t kernel=matern32 >t.tsv
  assert_equal "$(column neighbours t.tsv | tr '\n' ' ')" '1 2 4 6 10 18 32 57 100 '
  assert_equal "$(column stone t.tsv | sort -u)" -0.5
  assert_equal "$(column slope t.tsv | grep -c NA)" 2
  # The last slope is of the eight largest, and that is what is written.
  tail -n 8 t.tsv | awk -F '\t' '
    { x = log($1); y = log($6); n++; sx += x; sy += y; xx += x * x; xy += x * y }
    END { print (n * xy - sx * sy) / (n * xx - sx * sx) }' >slope
  assert_near "$(column slope t.tsv | tail -n 1)" "$(cat slope)" 1e-4
}

@test "risk: risk is mse minus noise, and derivatives agree with differences" {
  common=(-n 1e4 -t noise=0.1)
  risk "${common[@]}" -a noise=0.2 >r.tsv
  gpnn-simulate limits --input-law disk -m 20 --test 100 "${common[@]}" -a noise=0.2 >l.tsv
  assert_near "$(column value r.tsv)" "$(column mse l.tsv | awk '{ printf "%.12g", $1 - 0.1 }')" 1e-11
  risk "${common[@]}" --vary noise=0.199:0.201:2 >two.tsv
  risk "${common[@]}" -a noise=0.2 --derivatives --step 0.02 >d.tsv
  assert_near "$(awk '$3 == "d_noise" { print $6 }' d.tsv)" \
    "$(column value two.tsv | awk 'NR == 1 { a = $1 } END { printf "%.12g", ($1 - a) / 0.002 }')" 1e-5
}

@test "risk: calibration by the factor makes the mean of z squared 1" {
  risk -n 1e6 -a noise=0.4 --calibrate 200 >t.tsv
  assert_near "$(awk '$3 == "cal_after" { print $6 }' t.tsv)" 1 0.01
  assert_near "$(awk '$3 == "factor" { print $6 }' t.tsv)" 0.25 0.01
  assert_below "$(awk '$3 == "nll_after" { print $6 }' t.tsv)" \
    "$(awk '$3 == "nll" { print $6 }' t.tsv)"
}

@test "risk: known functions can be simulated" {
  gpnn-simulate risk --function waves --dimension 2 -n 1e4,1e6,1e8 --test 100 -m 20 >t.tsv
  assert_below "$(column value t.tsv | tail -n 1)" "$(column value t.tsv | head -n 1)"
  gpnn-simulate risk --function zero --dimension 2 -n 1e15 --test 50 -m 20 >t.tsv
  # zero is predicted by the noise alone: noise / m, but for the bias
  assert_near "$(column value t.tsv)" 0.005 0.0001
  # whose inputs have the scale that it is standardised for, as in tables of it
  gpnn-simulate risk --function oakley -n 1e4 --test 50 -m 20 >t.tsv
  gpnn-simulate risk --function oakley --scale 1 -n 1e4 --test 50 -m 20 | cmp - t.tsv
  assert_fails 2 'the function waves has a multiple of 2 inputs, not 3' gpnn-simulate risk --function waves --dimension 3
  assert_fails 2 'none of .*waves.*"bumps"' gpnn-simulate risk --function bumps
}

@test "risk: a correctly assumed trend does not contribute" {
  risk -n 1e4 >none.tsv
  risk -n 1e4 -t coefficient=2 >right.tsv
  risk -n 1e4 -t coefficient=2 -a coefficient=0 >wrong.tsv
  assert_near "$(column value right.tsv)" "$(column value none.tsv)" 1e-12
  assert_below "$(column value none.tsv)" "$(column value wrong.tsv)"
}

# ---- both -------------------------------------------------------------------------------------

@test "the same seed gives the same bytes with any number of threads, another seed does not" {
  for how in 'theory averaged' 'search drawn'; do
    read -r by responses <<<"$how"
    common=(-n '1e3,2e3' --draws 2 --neighbours-by "$by" --responses "$responses")
    limits "${common[@]}" -j 1 >one
    limits "${common[@]}" -j 3 | cmp one -
    risk "${common[@]}" --calibrate 10 -j 1 >one
    risk "${common[@]}" --calibrate 10 -j 2 | cmp one -
    risk "${common[@]}" --calibrate 10 -s 2 >other
    run ! cmp -s one other
  done
}

@test "rows are a list or a range" {
  assert_equal "$(limits -n 20,1e3,1000000000000000001 2>&1 | grep -c 'option --size')" 1
  limits -n 1778:1e6:12 | column rows | tr '\n' ' ' >rows
  grep -qx '1778 .* 1000000 ' rows
  assert_equal "$(wc -w <rows)" 12
}

@test "the delimiter can be chosen, and the output is complete or absent" {
  limits -n 1e4 -d , -o t.csv
  assert_equal "$(head -n 1 t.csv | tr , '\n' | wc -l)" 19
  rm t.csv
  assert_fails 2 '10 rows have no 20 neighbours' gpnn-simulate limits -n 10,1e4 -m 20 -o t.csv
  [[ ! -e t.csv ]]
  assert_fails 1 'no/t.tsv' gpnn-simulate limits -o no/t.tsv
}

@test "too few rows are reported before anything is written" {
  run -2 --separate-stderr gpnn-simulate risk -n 10,1e4 -m 20
  assert_equal "$output" ''
}

@test "kernels of any smoothness, debiasing and other distributions work" {
  limits -n 1e4 -t kernel=matern:0.75 -a kernel=matern32 | column mse
  limits -n 1e15 --debias -a noise=2 -a kernelscale=0.5 >t.tsv
  assert_near "$(column mse t.tsv)" 0.105 1e-5
  risk -n 1e3 --input-law cube --dimension 3 --neighbours-by search | column value
  risk -n 1e3 --scale 0.7071 | column value
}

@test "results that are not finite are reported, not printed" {
  assert_fails 1 'prediction is not finite: scales' gpnn-simulate risk -n 100 --dimension 2 -m 5 \
    --scale 1e100 -t coefficient=1 -a coefficient=2
  assert_fails 1 'prediction is not finite: scales' gpnn-simulate limits -n 1e18 --dimension 1 -m 1 \
    --test 10 -a noise=1e-320
  # Squares of distances may be: nothing is known so far away.
  limits -n 100 --scale 1e100 -t lengthscale=1e-100 -t kernel=matern:0.3 >t.tsv
  assert_equal "$(column mse t.tsv)" 1
}

@test "jitter is reported, also for drawn targets" {
  limits -n 1e18 -t noise=0 -a noise=0.1 --responses drawn 2>drawn.txt >t.tsv
  grep -q ': 1000000000000000000 rows: 100 of the points had a covariance that is not positive definite' drawn.txt
  limits -n 1e18 -t noise=0 -a noise=0.1 2>averaged.txt >t.tsv
  [[ ! -s averaged.txt ]]
}

@test "varied values end at the limit given" {
  limits -n 100 --test 1 --vary lengthscale=1.88:0.11:5 | column at >values
  assert_equal "$(sed -n 5p values)" 0.11
  assert_fails 2 'option --vary: ' gpnn-simulate limits --vary lengthscale=1:1.7e308:3
}

@test "mistakes are reported" {
  simulate=(gpnn-simulate limits)
  assert_fails 2 'option --size: up to 256 whole' "${simulate[@]}" -n 1e5,1e4
  assert_fails 2 'option --size: ' "${simulate[@]}" -n 1.5
  assert_fails 2 'option --size: ' "${simulate[@]}" -n 2e18
  assert_fails 2 'option --size: ' "${simulate[@]}" -n 1e3:1e4
  assert_fails 2 'option --size: ' "${simulate[@]}" -n 1:3:10
  assert_fails 2 'option --size: ' "${simulate[@]}" -n 1e3,
  assert_fails 2 'option --input-law: normal, disk or cube' "${simulate[@]}" --input-law ball
  assert_fails 2 'option --true: .*"noise=-1"' "${simulate[@]}" -t noise=-1
  assert_fails 2 'option --true: kernel=rbf, exp, .*"kernel=cubic"' "${simulate[@]}" -t kernel=cubic
  assert_fails 2 'option --assume: .*"noise=0"' "${simulate[@]}" -a noise=0
  assert_fails 2 'option --assume: .*"coefficient=1"' "${simulate[@]}" -a coefficient=1
  assert_fails 2 'option --assume: .*"lengthscale"' "${simulate[@]}" -a lengthscale
  assert_fails 2 'option --assume: .*"lengthscale=inf"' "${simulate[@]}" -a lengthscale=inf
  assert_fails 2 'option --vary: .*"noise=0:1:5"' "${simulate[@]}" --vary noise=0:1:5
  assert_fails 2 'option --vary: .*"noise=1:2:1"' "${simulate[@]}" --vary noise=1:2:1
  assert_fails 2 'option --vary: .*"kernel=1:2:3"' "${simulate[@]}" --vary kernel=1:2:3
  assert_fails 2 'option --vary: ' "${simulate[@]}" --vary noise
  assert_fails 2 'option --neighbours-by: theory or search' "${simulate[@]}" --neighbours-by luck
  assert_fails 2 'option --responses: averaged or drawn' "${simulate[@]}" --responses both
  assert_fails 2 'option --neighbours: not a whole' "${simulate[@]}" -m 0
  for delimiter in 5 e N x - . _; do
    assert_fails 2 'part of numbers or names' "${simulate[@]}" -d "$delimiter"
  done
  assert_fails 2 '' "${simulate[@]}" --input-law disk --dimension 3
  assert_fails 2 'cube goes with --neighbours-by search' "${simulate[@]}" --input-law cube
  assert_fails 2 'one operand too many' "${simulate[@]}" table.tsv
  assert_fails 2 'option --step is for --derivatives' gpnn-simulate risk --step 0.1
  assert_fails 2 'noise is not positive' gpnn-simulate risk -a noise=0.01 --derivatives
}

@test "a mode is required and must be known" {
  assert_fails 2 'no such mode: "limit"; MODE is limits, risk, data, grid, views or advise' gpnn-simulate limit
  assert_fails 2 'no such mode: "advice"' gpnn-simulate advice -p t.par t.gpi
  assert_fails 2 'no such mode: "l\?m"' gpnn-simulate $'l\em' -n 100
  assert_fails 2 'operand is missing' gpnn-simulate
  gpnn-simulate --help | grep -q 'limits '
  gpnn-simulate limits --help | grep -q '^usage: gpnn-simulate limits'
}
