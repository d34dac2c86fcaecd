#!/usr/bin/env bats
# Options across all tools: a name means one thing.

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

@test "an abbreviation means the one option that begins so" {
  cd "$BATS_FILE_TMPDIR"
  fit=(gpnn-fit -m 10 --ard no --rotate none --effort fast --kernel exp t.gpi)
  "${fit[@]}" --mean-function linear >mean.par
  for name in --mea --mean-f; do "${fit[@]}" "$name" linear | cmp mean.par -; done
  gpnn-simulate data -n 9 --input-law disk >disk.tsv
  for name in --i --input-l; do gpnn-simulate data -n 9 "$name=disk" | cmp disk.tsv -; done
  assert_fails 2 'more than one option begins so: "--o"' gpnn-fit --o 3 t.gpi
  assert_fails 2 'no such option: "--inputs"' gpnn-simulate data -n 9 --inputs=disk
  assert_fails 2 'no such option: "-k"' gpnn-fit -k exp t.gpi
  assert_fails 2 'option --adjust: its value is missing' gpnn-calibrate t.gpi -p t.par --adj
  assert_fails 2 'option --adjust: factor or noise, not "x"' gpnn-calibrate t.gpi -p t.par --adj x
}

@test "--tune and --fix accept the settings that they list" {
  cd "$BATS_FILE_TMPDIR"
  block=(gpnn-fit -m 10 --kernel exp --ard no --rotate none --objective block t.gpi)
  "${block[@]}" --tune blocks=3 --tune block-size=20 >tune.par
  grep -q '3 blocks of 20' tune.par
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

@test "an option that a run would ignore is refused" {
  cd "$BATS_FILE_TMPDIR"
  local option
  for option in '--tails compress' '--standardise none' '--whiten-eps 1' '--calibration-rows 5' '--classes' \
    '--skip-bad' '--by x1' '--auto' '--unique' '-y y' '-d ,' '--na ?' '--no-header' '--thousands'; do
    # shellcheck disable=SC2086 # an option and its value
    assert_fails 2 '--metric reads an index, but --.* applies to a table' \
      gpnn-index --metric t.par $option -o u.gpi t.gpi
  done
  gpnn-index --metric t.par --search flat --recall 0.9 -m 5 -o u.gpi t.gpi
  for option in --skip-bad '-d ,' '--decimal ,' '--comment #'; do
    # shellcheck disable=SC2086
    assert_fails 2 '--.* applies to the rows of a TABLE' gpnn-calibrate $option -p t.par t.gpi
    [[ $option != --skip-bad ]] || continue
    # shellcheck disable=SC2086
    assert_fails 2 'option --.*: applies to the rows of a TABLE' gpnn-fit $option t.gpi
  done
}
