#!/usr/bin/env bats
# gpnn --update: a model that takes in the rows of each night.

load helper

# night SEED ROWS SLOPE: a table.
night() {
  awk -v s="$1" -v n="$2" -v b="$3" 'BEGIN {
    srand(s); OFS = "\t"; print "a", "b", "y"
    for (i = 0; i < n; i++) { u = rand(); v = rand(); print u, v, sin(6 * u) + v * b + 0.2 * (rand() + rand() - 1) } }'
}

# make_house: house.gpm of 2500 rows, quickly made.
make_house() {
  night 1 2500 1 >t.tsv
  gpnn-index -q -o t.gpi t.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.cal
  gpnn-index --pack t.cal -o house.gpm t.gpi
  night 2 200 1 >usual.tsv
  night 3 200 3 >other.tsv
}

@test "an update adds rows and calibrates, and estimates again where predictions were worse than by chance" {
  make_house
  cp house.gpm before.gpm
  gpnn --update house.gpm usual.tsv 2>err.txt
  grep -q '^gpnn-index: house.gpm: 200 rows added, 0 forgotten: 2430 rows and 270 held out; ' err.txt
  grep -q '^gpnn: house.gpm: NLL of 200 new rows .*, where .* was expected: not worse than by chance, so parameters stay and are calibrated$' err.txt
  gpnn-index -q --add usual.tsv -o step.gpm before.gpm
  gpnn-calibrate -q step.gpm | gpnn-index --pack - -o step.gpm step.gpm
  cmp step.gpm house.gpm
  gpnn --update house.gpm --effort fast other.tsv 2>err.txt
  grep -q '^gpnn: house.gpm: .*: worse than by chance, so parameters are estimated again$' err.txt
  assert_equal "$(gpnn-info house.gpm | value rows)" 2610
  gpnn-info --unpack house.gpm | grep -q '^fit-rows'
  (($(find . -name '.gpnn*' | wc -l) == 0))
}

@test "an update forgets old rows, and reports what it did as JSON" {
  make_house
  gpnn-index -q --forget 300 --add usual.tsv -o step.gpm house.gpm
  cp house.gpm other.gpm
  gpnn --update house.gpm --forget 300 --json usual.tsv 2>report.json
  (($(wc -l <report.json) == 1))
  awk -f "$GPNN_ROOT/tests/cli/json.awk" report.json >report.txt
  awk -F '\t' '$1 == "rows-before" { r = $2 == 2250 } $1 == "calibration-rows-before" { c = $2 == 250 }
    $1 == "scored-rows" { s = $2 == 200 } $1 == "estimated-again" { e = $2 == "false" }
    END { exit !(r && c && s && e) }' report.txt
  assert_equal "$(value rows report.txt)" "$(gpnn-info house.gpm | value rows)"
  assert_equal "$(gpnn-info house.gpm | value fingerprint)" "$(gpnn-info step.gpm | value fingerprint)"
  gpnn -q --update other.gpm --forget 'a<0.5' usual.tsv
  (($(gpnn-info other.gpm | awk '$1 == "rows" || $1 == "calibration-rows" { n += $2 } END { print n }') < 1600))
  cp house.gpm before.gpm
  run gpnn -q --update house.gpm --forget 'z<0.5' other.tsv
  [[ $status == 2 && $output == *"option --forget: no input 'z'"* ]]
  cmp house.gpm before.gpm
  assert_fails 2 'forget is for --update' gpnn --forget 3 t.tsv
  assert_fails 1 'none.gpm: cannot be opened: No such file' gpnn --update none.gpm t.tsv
}

@test "an update leaves out bad rows as it is told, and calibrates with the seed that it is given" {
  make_house
  awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 3 == 0 { $1 = "x" } { print }' usual.tsv >bad.tsv
  run gpnn -q --update house.gpm --skip-bad bad.tsv
  [[ $status == 1 && $output == *'67 of 200 rows are bad, too many to leave out without --skip-bad=all'* ]]
  gpnn-index -q --add bad.tsv --skip-bad=all --seed 7 -o step.gpm house.gpm
  gpnn-calibrate -q --seed 7 step.gpm | gpnn-index --pack - -o step.gpm step.gpm
  gpnn -q --update house.gpm --skip-bad=all --seed 7 bad.tsv
  cmp step.gpm house.gpm
}

@test "an update finds out by itself whether old rows mislead" {
  make_house
  night 4 400 3 | tail -n +2 >>t.tsv
  gpnn-index -q -o t.gpi t.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.cal
  gpnn-index --pack t.cal -o m.gpm t.gpi
  cp m.gpm usual.gpm && cp house.gpm wrong.gpm
  gpnn-index -q --forget 2538 --add other.tsv -o step.gpm m.gpm
  gpnn-fit -q --effort fast --start m.gpm -o step.par step.gpm
  gpnn-calibrate -q -p step.par step.gpm | gpnn-index --pack - -o step.gpm step.gpm
  gpnn --effort fast --update m.gpm --forget auto --json other.tsv 2>report.json
  awk -f "$GPNN_ROOT/tests/cli/json.awk" report.json >report.txt
  assert_equal "$(value forgotten-rows report.txt)" 2538
  value reason report.txt | grep -q ': the newest 362 of 2900 rows predict better, so the others are forgotten, and parameters are estimated again$'
  cmp step.gpm m.gpm
  # Not where the new rows are as usual, nor where their targets are wrong: then a vague model has higher densities.
  night 5 200 1.3 >usual.tsv
  gpnn --update usual.gpm --effort fast --forget auto --json usual.tsv 2>&1 | grep -q '"forgotten-rows": *0'
  night 6 200 1 | awk -v OFS='\t' 'NR > 1 { $3 *= 9 } 1' >wrong.tsv
  gpnn --update wrong.gpm --effort fast --forget auto --json wrong.tsv 2>&1 | grep -q '"estimated-again": *true.*"forgotten-rows": *0'
}

@test "an update keeps the likelihood that was chosen" {
  night 1 300 1 >t.tsv
  night 2 60 1 >new.tsv
  local likelihood
  for likelihood in gaussian student; do
    gpnn -q --effort fast --likelihood $likelihood --save m.gpm t.tsv
    gpnn-info m.gpm | awk '$1 == "likelihood"' >before
    gpnn --effort fast --update m.gpm new.tsv 2>err.txt
    grep -q 'parameters are estimated again, as few rows are held out' err.txt
    gpnn-info m.gpm | awk '$1 == "likelihood"' | cmp - before
    gpnn-info --unpack m.gpm | grep -q '^fit-rows'
  done
  night 3 60 1 >more.tsv
  gpnn -q --effort fast --update m.gpm --json more.tsv 2>report.json
  grep -q '"estimated-again": true' report.json
}

@test "parameters of several targets stay, classes among them" {
  night 1 300 1 | awk -v OFS='\t' '{ print $0, (NR == 1 ? "z" : $3 > 0.5 ? "yes" : "no") }' >t.tsv
  night 2 60 1 | awk -v OFS='\t' '{ print $0, (NR == 1 ? "z" : $3 > 0.5 ? "yes" : "no") }' >new.tsv
  night 3 90 5 | awk -v OFS='\t' '{ print $0, (NR == 1 ? "z" : $3 > 0.5 ? "no" : "yes") }' >other.tsv
  gpnn -q --effort fast -y y,z --save m.gpm t.tsv
  cp m.gpm first.gpm
  gpnn --update m.gpm new.tsv 2>err.txt
  grep -q '^gpnn: m.gpm: .*: not worse than by chance, so parameters stay and are calibrated$' err.txt
  gpnn --update m.gpm other.tsv 2>err.txt
  grep -q '^gpnn: m.gpm: .*: worse than by chance, but parameters of several targets stay and are calibrated: make the model anew$' err.txt
  assert_equal "$(gpnn-info m.gpm | awk '$1 == "rows" || $1 == "calibration-rows" { n += $2 } END { print n }')" 450
  # What is told is how the target was predicted that was predicted worst.
  night 3 90 1 | awk -v OFS='\t' '{ print $0, (NR == 1 ? "z" : $3 > 0.5 ? "no" : "yes") }' >z.tsv
  night 3 90 5 |
    awk -v OFS='\t' '{ print $0, (NR == 1 ? "z" : sin(6 * $1) + $2 > 0.5 ? "yes" : "no") }' >y.tsv
  cp first.gpm m.gpm
  gpnn --update m.gpm z.tsv 2>err.txt
  grep -q '^gpnn: m.gpm: error of 90 new rows .*: worse than by chance' err.txt
  cp first.gpm m.gpm
  gpnn --update m.gpm y.tsv 2>err.txt
  grep -q '^gpnn: m.gpm: NLL of 90 new rows .*: worse than by chance' err.txt
}

@test "an update that cannot be made leaves the model as it is" {
  make_house
  assert_fails 2 'takes one table' gpnn --update house.gpm t.tsv usual.tsv
  cp house.gpm before.gpm
  run gpnn -q --update house.gpm t.tsv
  [[ $status == 1 && $output == 'gpnn-index: t.tsv: 2250 of the first 2500 rows are training rows of the index already: was it added before?' ]]
  assert_fails 2 'is read twice, so it has to be a file' gpnn --update house.gpm - <usual.tsv
  assert_fails 2 'so --target does not apply' gpnn --update house.gpm -y y usual.tsv
  assert_fails 1 't.tsv: is not a model that gpnn keeps' gpnn --update t.tsv usual.tsv
  cut -f 1,2 usual.tsv >blind.tsv
  run gpnn -q --update house.gpm blind.tsv
  [[ $status == 1 && $output == "gpnn-index: blind.tsv: no column 'y', a target" ]]
  cmp house.gpm before.gpm
}

@test "updates at the same time wait for each other, and none is lost" {
  make_house
  local i
  for i in 1 2 3; do
    night 1$i 100 1 >night$i.tsv
    gpnn -q --update house.gpm night$i.tsv &
  done
  wait
  assert_equal "$(gpnn-info house.gpm | awk '$1 == "rows" || $1 == "calibration-rows" { n += $2 } END { print n }')" 2800
}

@test "an update that is killed leaves the old model or the new one" {
  make_house
  cp house.gpm old.gpm
  gpnn -q --update house.gpm usual.tsv
  cp house.gpm new.gpm
  local delay
  for delay in 0.01 0.03 0.06 0.1 0.15 0.2 0.3 0.4; do
    cp old.gpm house.gpm
    (exec setsid gpnn -q --update house.gpm usual.tsv) &
    sleep "$delay"
    kill -9 -- "-$!" 2>/dev/null || :
    wait || :
    cmp -s house.gpm old.gpm || cmp house.gpm new.gpm
    gpnn-predict -q house.gpm other.tsv >/dev/null
  done
  # What it left is swept away the night after.
  mkdir -p .gpnn-tmp-abcdef && touch .gpnn-tmp-abcdef/usual.gpi .house.gpm.gpnn-abcdef
  find . -name '.*gp*' -exec touch -d 'yesterday' {} +
  gpnn -q --update house.gpm other.tsv
  (($(find . -name '.*gp*' | wc -l) == 0))
}

# shops SEED ROWS FIRST LAST: rows of shops that differ, from one number to another.
shops() {
  awk -v s="$1" -v n="$2" -v a="$3" -v b="$4" 'BEGIN {
    srand(7); for (k = 0; k < 60; k++) e[k] = 4 * rand()
    srand(s); OFS = "\t"; print "shop", "x", "y"
    for (i = 0; i < n; i++) { k = int(a + (b - a) * rand()); x = rand(); print "s" k, x, e[k] + sin(6 * x) + 0.1 * rand() } }'
}

# by_hand MODEL TABLE OPTION...: MODEL.gpm is brought up to date with TABLE by the tools one by one, with options of gpnn-fit.
by_hand() {
  local model=$1 table=$2
  shift 2
  gpnn-index -q --add "$table" -o "$model.gpi" "$model.gpm"
  gpnn-fit -q --effort fast "$@" -o "$model.par" "$model.gpi"
  gpnn-calibrate -q -p "$model.par" "$model.gpi" | gpnn-index --pack - -o "$model.hand" "$model.gpi"
}

@test "an update estimates again what has numbers for each row: effects, counts, weights" {
  shops 1 500 0 30 >t.tsv
  shops 2 100 25 40 >new.tsv
  shops 3 100 0 40 >later.tsv
  gpnn -q --effort fast --group-effect shop --save m.gpm t.tsv
  by_hand m new.tsv
  gpnn --effort fast --update m.gpm new.tsv 2>err.txt
  grep -q '^gpnn-index: m.gpm: parameters are left out, as they have numbers for each row' err.txt
  grep -q '^gpnn: m.gpm: .*parameters are estimated again, as they have numbers for each row$' err.txt
  cmp m.gpm m.hand
  gpnn-predict m.gpm later.tsv 2>err.txt | gpnn-eval | awk '$1 == "rmse" { exit !($2 < 0.2) }'
  [[ ! -s err.txt ]]
  night 1 400 2 | awk -v OFS='\t' 'NR > 1 { $3 = int($3 + 2) } 1' >t.tsv
  night 2 60 2 | awk -v OFS='\t' 'NR > 1 { $3 = int($3 + 2) } 1' >new.tsv
  local options
  for options in --likelihood=poisson --likelihood=negbin '--likelihood=student --row-weights=yes'; do
    gpnn-index -q -o c.gpi t.tsv
    # shellcheck disable=SC2086
    gpnn-fit -q --effort fast $options -o c.par c.gpi
    gpnn-calibrate -q -p c.par c.gpi | gpnn-index --pack - -o c.gpm c.gpi
    # shellcheck disable=SC2086
    by_hand c new.tsv $options --start c.gpm
    gpnn -q --effort fast --update c.gpm new.tsv
    cmp c.gpm c.hand
  done
}

@test "an update keeps groups of rows together" {
  night 1 2500 1 | awk -v OFS='\t' '{ print $0, NR == 1 ? "g" : "g" NR % 300 }' >t.tsv
  night 2 200 1 | awk -v OFS='\t' '{ print $0, NR == 1 ? "g" : "g" NR % 350 }' >new.tsv
  gpnn-index -q -y y --by g -o t.gpi t.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.cal
  gpnn-index --pack t.cal -o m.gpm t.gpi
  gpnn-index -q --add new.tsv -o step.gpm m.gpm
  gpnn-calibrate -q step.gpm | gpnn-index --pack - -o step.gpm step.gpm
  gpnn -q --update m.gpm new.tsv
  cmp step.gpm m.gpm
}

@test "an update of a model that cannot take rows is refused before any work" {
  night 1 100 1 | awk -v OFS='\t' '{ print $0, NR == 1 ? "k" : "k" NR % 40 }' >t.tsv
  { cat t.tsv && tail -n 50 t.tsv; } >copies.tsv
  gpnn -q --effort fast -y y --coded k --save m.gpm copies.tsv
  run gpnn --update m.gpm t.tsv
  [[ $status == 1 && $output == 'gpnn: m.gpm: its rows have copies, which are not known by coded columns: make it anew' ]]
}
