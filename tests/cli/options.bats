#!/usr/bin/env bats
# Options across all tools: a name means one thing, and names of an earlier release still work.

load helper

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  make_table 150 >train.tsv
  make_table 10 2 >test.tsv
  gpnn-index -m 10 --calibration-rows 20 -o t.gpi train.tsv
  printf 'kernel\texp\nlengthscale\t1\nkernelscale\t1\nnoise\t0.1\nneighbours\t10\n' >t.par
}

# The options of all tools and modes, a line each: tool, tab, letter or "-", tab, name, tab, argument.
all_options() {
  local tool
  for tool in calibrate eval fit index info plot predict split 'simulate limits' 'simulate risk' \
    'simulate data' 'simulate advise'; do
    # shellcheck disable=SC2086 # a tool and its mode
    gpnn-$tool --help | awk -v tool="$tool" -v OFS='\t' '
      /^  (-.,|   ) --[a-z]/ {
        letter = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : "-"
        match($0, /--[a-z-]+/)
        name = substr($0, RSTART + 2, RLENGTH - 2)
        rest = substr($0, RSTART + RLENGTH)
        argument = match(rest, /^( |\[=)[^ ]+/) ? substr(rest, RSTART, RLENGTH) : ""
        print tool, letter, name, argument
      }'
  done
}

# A name that several tools share with different arguments has to be one of these, where the
# argument differs but not what it says: a number or a list of them, one column or several.
@test "an option of several tools takes the same argument in each" {
  assert_equal "$(all_options | cut -f 3- | sort -u | cut -f 1 | uniq -d | paste -sd ' ')" \
    'interval rows size skip-bad truth'
}

@test "a letter stands for one option, and -y for the target or the truth" {
  assert_equal "$(all_options | awk -F '\t' '$2 != "-" { print $2, $3 }' | sort -u |
    awk '{ n[$1]++; of[$1] = of[$1] " " $2 } END { for (l in n) if (n[l] > 1) print l of[l] }')" \
    'y target truth'
}

@test "no tool lists an option twice" {
  assert_equal "$(all_options | cut -f 1,3 | sort | uniq -d)" ''
}

# old_name NOTE NEW... -- OLD...: both commands write the same, and the old one says NOTE.
old_name() {
  local note=$1 new=() status=0
  shift
  while [[ $1 != -- ]]; do new+=("$1"); shift; done
  shift
  "${new[@]}" >new.txt 2>new.err
  "$@" >old.txt 2>old.err || status=$?
  assert_equal "$status" 0
  cmp new.txt old.txt || return
  assert_equal "$(diff new.err old.err)" "$(printf '%s\n' '0a1' "> $1: $note")" || return
  "$@" -q >old.txt 2>old.err || return
  [[ ! -s old.err ]]
}

@test "option names of an earlier release work, with a note that -q silences" {
  cd "$BATS_FILE_TMPDIR"
  fit=(gpnn-fit -m 10 --ard no --rotate none t.gpi)
  old_name '-k is now --kernel' "${fit[@]}" --effort fast --kernel exp -- "${fit[@]}" --effort fast -k exp
  old_name '--mean is now --mean-function' "${fit[@]}" --effort fast --kernel exp --mean-function linear \
    -- "${fit[@]}" --effort fast --kernel exp --mean linear
  old_name '--metric is now --lengthscales' "${fit[@]}" --effort fast --kernel exp --lengthscales own \
    -- "${fit[@]}" --effort fast --kernel exp --metric own
  fit+=(--kernel exp --objective loo --rows 50 --tune steps=4)
  old_name '--k is now --objective-neighbours' "${fit[@]}" --objective-neighbours 5 -- "${fit[@]}" --k 5
  old_name '--batch is now --tune batch=VALUE' "${fit[@]}" --tune batch=7 -- "${fit[@]}" --batch 7
  old_name '--refresh is now --tune refresh=VALUE' "${fit[@]}" --tune refresh=2 -- "${fit[@]}" --refresh 2
  old_name '--steps is now --tune steps=VALUE' "${fit[@]}" --tune steps=3 -- "${fit[@]}" --steps 3
  old_name '--by is now --adjust' gpnn-calibrate --adjust noise t.gpi -p t.par \
    -- gpnn-calibrate --by noise t.gpi -p t.par
  data=(gpnn-simulate data --dimension 2)
  old_name '--rows is now --size' "${data[@]}" --size 9 -- "${data[@]}" --rows 9
  old_name '--inputs is now --input-law' "${data[@]}" -n 9 --input-law disk -- "${data[@]}" -n 9 --inputs disk
  old_name '--truth is now --noiseless' "${data[@]}" -n 9 --noiseless -- "${data[@]}" -n 9 --truth
  limits=(gpnn-simulate limits --test 5 -m 3)
  old_name '--rows is now --size' "${limits[@]}" --size 9 -- "${limits[@]}" --rows 9
  old_name '--inputs is now --input-law' "${limits[@]}" -n 9 --input-law disk -- "${limits[@]}" -n 9 --inputs disk
}

@test "an abbreviation that an old and a new option name share means that option" {
  cd "$BATS_FILE_TMPDIR"
  fit=(gpnn-fit -m 10 --ard no --rotate none --effort fast --kernel exp t.gpi)
  "${fit[@]}" --mean-function linear >mean.par
  for name in --mea --mean-f; do "${fit[@]}" "$name" linear | cmp mean.par -; done
  gpnn-simulate data -n 9 --input-law disk >disk.tsv
  for name in --i --input --input-l; do gpnn-simulate data -n 9 "$name" disk | cmp disk.tsv -; done
  old_name '--inputs is now --input-law' gpnn-simulate data -n 9 --input-law disk \
    -- gpnn-simulate data -n 9 --inputs=disk
  assert_fails 2 'more than one option begins so: "--block"' gpnn-fit --block 3 t.gpi
  assert_fails 2 'option --adjust: its value is missing' gpnn-calibrate t.gpi -p t.par --by
  assert_fails 2 'option --adjust: factor or noise, not "x"' gpnn-calibrate t.gpi -p t.par --by x
}

@test "option names of an earlier release are not listed, but their values are checked" {
  assert_equal "$(all_options | grep -cP '^(fit\t.\t(metric|mean|k|steps|batch|refresh|blocks|block-size)|calibrate\t.\tby)\t')" 0
  assert_fails 2 'option --lengthscales: shared, ratio or own, not "all"' gpnn-fit --metric all t.gpi
  assert_fails 2 'option --kernel: its value is missing' gpnn-fit t.gpi -k
  assert_fails 2 'option --steps: not a whole number' gpnn-fit --steps x t.gpi
}

@test "--tune and --fix accept the settings that they list" {
  cd "$BATS_FILE_TMPDIR"
  block=(gpnn-fit -m 10 --kernel exp --ard no --rotate none --objective block t.gpi)
  "${block[@]}" --tune blocks=3 --tune block-size=20 >tune.par
  grep -q '3 blocks of 20' tune.par
  "${block[@]}" --blocks 3 --block-size 20 2>err.txt | cmp tune.par
  [[ ! -s err.txt ]]
  assert_fails 2 'option --tune: NAME=VALUE, where NAME is blocks, block-size, steps, batch, refresh or prior, not "pace=1"' \
    gpnn-fit --tune pace=1 t.gpi
  assert_fails 2 'option --tune: NAME=VALUE, .*, not "steps"' gpnn-fit --tune steps t.gpi
  assert_fails 2 'option --tune steps: not a whole number from 1 to 1e.06: "0"' gpnn-fit --tune steps=0 t.gpi
  assert_fails 2 'option --fix: NAME=VALUE, where NAME is lengthscale, kernelscale, noise, link-slope, link-evidence, link-floor, link-spread or dispersion, not "nu=1"' \
    gpnn-fit --fix nu=1 t.gpi
  assert_fails 2 'option --fix noise: not a number from .*: "-1"' gpnn-fit --fix noise=-1 t.gpi
}

@test "a choice lists its words, and --help shows defaults whatever else is given" {
  assert_fails 2 'option --units: original or standard, not "metres"' gpnn-predict --units metres t.gpi -p t.par
  assert_fails 2 'option --progress: auto, always or never, not "soon"' gpnn-eval --progress soon x
  assert_fails 2 'option --units: its value is empty' gpnn-predict --units= t.gpi -p t.par
  gpnn-predict --units standard --help | grep -q -- '--units .*original or standard (original)'
}
