#!/usr/bin/env bats
# --json: what tools report, as one object that a strict reader takes, with the numbers of the text.

load helper

prepare() {
  make_table 300 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
}

# member PATH [FILE]: a value of the object in a file.
member() {
  json "${2-report.json}" | value "$1"
}

@test "the object of an index has the lines that gpnn-info prints" {
  make_table 300 3 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "z" : $1 - $2, NR % 7 }' |
    sed '1s/[^\t]*$/by/' >train.tsv
  gpnn-index -q -y y,z --period x1=3 --regressors x3 -x x1,x2 --by by -o t.gpi train.tsv
  gpnn-info t.gpi >lines
  gpnn-info --json t.gpi >report.json
  for name in file fingerprint rows calibration-rows skipped-rows inputs seed standardise by by-groups \
    search search-recall-asked search-recall search-recall-neighbours metric asked-search whiten-eps; do
    assert_equal "$name $(member $name)" "$name $(value $name lines)"
  done
  assert_equal "$(json report.json | grep -c '^targets\.[01]\.target-sd')" 2
  assert_equal "$(member targets.1.target-mean)" "$(value target-mean lines | tail -n 1)"
  assert_equal "$(member input.1.mean)" "$(awk '$1 == "input"' lines | sed -n 2p | cut -f 3)"
  assert_equal "$(member period.0.period)" 3
  assert_equal "$(member regressor.0.sd)" "$(awk '$1 == "regressor" { print $4 }' lines)"
  assert_equal "$(json report.json | grep -c '^section\..*\.tag')" "$(grep -c ^section lines)"
}

@test "the object of parameters has their lines" {
  prepare
  gpnn-fit -q --effort fast --members 3 --kernel auto t.gpi | gpnn-calibrate -q t.gpi >t.par
  gpnn-info t.par >lines
  gpnn-info --json t.par >report.json
  assert_equal "$(member file)" 'gpnn parameters'
  for name in kernel kernelscale noise scale degrees neighbours index fit-seed; do
    assert_equal "$name $(member $name)" "$name $(value $name lines)"
  done
  assert_equal "$(member lengthscale.0)" "$(value lengthscale lines | head -n 1)"
  printf 'kernel\trbf\nlengthscale\t2\nkernelscale\t1\nnoise\t0\nindex\t0000000000000012\n' |
    gpnn-info --json >report.json
  assert_equal "$(member lengthscale.0)" 2
  grep -qF '"index": "0000000000000012"' report.json
  printf '%s\n' 'kernel	exp' 'lengthscale	2' 'kernelscale	1' 'noise	0' 'weight	0.75' 'member	2' \
    'kernel	rbf' 'lengthscale	3	4' 'kernelscale	1' 'noise	0' 'weight	0.25' | gpnn-info --json >report.json
  assert_equal "$(member members.0.kernel) $(member members.0.lengthscale.1) $(member weight)" 'rbf 4 0.75'
}

@test "gpnn-index reports rows left out, by reason and column" {
  { printf 'a"\x01\tb\ty\n'; make_table 60 2 | sed 1d; printf '1\t?\t2\n1\tx\t2\n1\nz\t1\t1\n'; } >t.tsv
  gpnn-index --json --skip-bad -o t.gpi t.tsv 2>report.json >out
  [ ! -s out ]
  assert_equal "$(member tool)" gpnn-index
  assert_equal "$(member rows) $(member calibration-rows) $(member skipped-rows)" '54 6 4'
  assert_equal "$(member skipped.0.column) $(member skipped.0.rows) $(member skipped.0.line)" 'b 2 62'
  assert_equal "$(member skipped.0.example)" '?'
  assert_equal "$(member skipped.2.column) $(member skipped.2.reason)" 'null malformed'
  assert_equal "$(member skipped.1.column)" 'a\"\u0001'
  assert_equal "$(member targets.0) $(member inputs)" 'y 2'
  member warnings.0 | grep -q '^t.tsv: 4 of 64 rows left out'
  assert_equal "$(member search)" "$(gpnn-info t.gpi | value search)"
}

@test "gpnn-fit reports what it tried and chose, as its notes and comments do" {
  prepare
  gpnn-fit -v --effort fast -s 3 t.gpi >t.par 2>notes
  gpnn-fit --json -v --effort fast -s 3 t.gpi >again.par 2>report.json
  cmp t.par again.par
  assert_equal "$(json report.json | grep -c '^fits\.0\.tried\.[0-9]*\.name')" "$(grep -c ' tried ' notes)"
  assert_equal "$(member fits.0.targets.0)" y
  assert_equal "$(member rows)" 270
  grep -qF "# chosen: $(member fits.0.chosen.name), NLL $(printf %.4f "$(member fits.0.chosen.nll)")" t.par
  grep -qF "# runner-up: $(member fits.0.runner-up.name)," t.par
  assert_equal "$(member fits.0.neighbours)" "$(gpnn-info t.par | value neighbours)"
  assert_equal "$(json report.json | grep -c '^fits\.0\.members\.[0-9]*\.weight')" \
    "$(($(grep -c '^member' t.par) + ($(grep -c '^member' t.par) > 0)))"
  member processor-seconds
}

@test "gpnn-calibrate reports the calibration that its comment has" {
  prepare
  make_parameters matern32 0.5 1 0.04 30 >t.par
  gpnn-calibrate --json t.gpi <t.par 2>report.json >t.cal
  assert_near "$(member targets.0.factor)" "$(gpnn-info t.cal | value calibration)" 1e-12
  assert_equal "$(member targets.0.on) $(member targets.0.rows)" 'held-out 30'
  assert_equal "$(member targets.0.applied)" true
  member warnings.0 | grep -q '^the factor .*from 30 rows'
  gpnn-calibrate -q --json t.gpi <t.par 2>&1 >t.cal | grep -qF '"warnings": []'
}

@test "a failure is a message, and no report" {
  printf 'y,x\n1,2\n3,x\n' >bad.csv
  assert_fails 1 "^bad.csv:3: column 'x'" gpnn-index --json -o t.gpi bad.csv
  assert_fails 1 'No such file' gpnn-fit --json none.gpi
  assert_fails 2 'no such option' gpnn-fit --json --none t.gpi
}

@test "warnings that precede a failure are printed, not lost" {
  { echo x,y; seq 30 | sed 's/.*/&,&/'; echo 5,z; } >t.csv
  run -1 gpnn-index --json --skip-bad --calibration-rows 40 -o t.gpi t.csv
  assert_equal "${#lines[@]}" 2
  [[ ${lines[0]} == 'gpnn-index: t.csv: 1 of 31 rows left out'* ]]
}

@test "the advice is one object, for one target, several, and a table" {
  make_table 200 2 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "z" : $1 + $2 }' >train.tsv
  gpnn-index -q --calibration-rows 0 -y y,z -o t.gpi train.tsv
  make_parameters matern32 1 1 0.04 10 >one.par
  { echo $'target\ty'; cat one.par; echo $'target\tz'; cat one.par; } >two.par
  gpnn-index -q --calibration-rows 0 -x x1,x2 -y y -o one.gpi train.tsv
  gpnn-simulate advise --test 50 -p one.par one.gpi >lines
  gpnn-simulate advise --test 50 --json -p one.par one.gpi >report.json
  assert_equal "$(member rmse.value)" "$(value rmse lines)"
  assert_equal "$(member nll-10n.high)" "$(awk '$1 == "nll-10n" { print $4 }' lines)"
  assert_equal "$(member verdict)" "$(value verdict lines)"
  gpnn-simulate advise --test 50 --json -p two.par t.gpi >report.json
  assert_equal "$(member targets.0.target) $(member targets.1.target)" 'y z'
  gpnn-simulate advise --test 50 --table curve -p two.par t.gpi >table.tsv
  gpnn-simulate advise --test 50 --table curve --json -p two.par t.gpi >report.json
  assert_equal "$(json report.json | grep -c '\.change')" "$(($(wc -l <table.tsv) - 1))"
  assert_equal "$(member table.2.rmse.low)" "$(column rmse_low table.tsv | sed -n 3p)"
}
