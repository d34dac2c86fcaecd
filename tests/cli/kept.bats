#!/usr/bin/env bats
# Outputs that were looked at once, number by number and line by line, and are kept: scripts of
# pictures, simulated scores, advice, synthetic tables (which a seed promises for good).
#
# tests/cli/kept/cases has a line each: the file with the output, then the messages; how near the
# numbers have to be, relative to their size; the command.  After a change that is wanted,
# 'GPNN_KEEP=1 tests/run cli/kept' writes the files anew, for you to look at.

load helper

# near TOLERANCE FILE WANTED: the same but for the numbers, which are as near as that.
near() {
  awk -v tolerance="$1" '
    function size(x) { return x < 0 ? -x : x }
    function is_number(text) { return text ~ /^[-+]?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?$/ }
    function differ() { print FILENAME ":" FNR ": is:\n" $0 "\nshould be:\n" wanted[FNR]; failed = 1; exit }
    { gsub(/\t/, " "); gsub(/[][,:=()]/, " & ") }
    NR == FNR { wanted[FNR] = $0; lines = FNR; next }
    {
      n = split(wanted[FNR], words, " ")
      if (FNR > lines || NF != n) differ()
      for (i = 1; i <= n; i++)
        if ($i "" != words[i] "" && !(is_number($i) && is_number(words[i]) &&
            size($i - words[i]) <= tolerance * size(words[i]) + 1e-12)) differ()
    }
    END {
      if (!failed && FNR != lines) { print FILENAME ": has " FNR " lines, not " lines; failed = 1 }
      exit failed
    }' "$3" "$2" >&2
}

# Runs the cases whose names match.
assert_kept() {
  local name tolerance command failed=0
  cp "$GPNN_ROOT"/tests/cli/kept/* .
  gpnn-index -q -o rows.gpi rows.tsv
  while read -r name tolerance command; do
    [[ $name =~ $1 ]] || continue
    eval "$command" >out 2>messages || complain "fails: $command" || return
    cat messages >>out
    if [[ -n ${GPNN_KEEP-} ]]; then cp out "$GPNN_ROOT/tests/cli/kept/$name"; fi
    near "$tolerance" out "$GPNN_ROOT/tests/cli/kept/$name" || { echo "$command" >&2; failed=1; }
  done <cases
  return $failed
}

@test "plot scripts equal the stored ones" {
  assert_kept '[.]gp$'
}

@test "simulated scores and risks equal the stored ones" {
  assert_kept '^(limits|risk)'
}

@test "scores of classes equal the stored ones" {
  assert_kept '^scores'
}

@test "synthetic tables equal the stored ones for the same seed" {
  assert_kept '^data'
}

@test "advice equals the stored one" {
  assert_kept '^advise'
}

# The screen of gpnn on a real table, with blanks before semicolons and without times.
bike_report() {
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 11 == 0' >train.tsv
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" | awk 'NR == 1 || NR % 55 == 3' >test.tsv
  gpnn -j 1 -y cnt --drop dteday --effort fast --kernel matern32 -m 30 --save bike.gpm \
    train.tsv test.tsv 2>&1 >/dev/null | sed 's/;/ ;/g; s/^\(time *\).*/\1.../'
}

@test "the report of gpnn equals the stored one" {
  assert_kept '^report'
}

# What a newcomer sees: help, a table that is not clean, mistakes.
newcomer_screens() {
  cp "$GPNN_ROOT/tests/data/messy/housing.csv" .
  local command
  while read -r command; do
    printf '$ %s\n' "$command"
    bash -c "$command" 2>&1 || printf '(status %s)\n' "$?"
  done <<'EOF'
gpnn --help
gpnn-index --help
gpnn-index -o house.gpi housing.csv
gpnn-index --auto -o house.gpi housing.csv
gpnn-index -y medianHouseValues -o house.gpi housing.csv
gpnn-index -y ocean_proximity -o house.gpi housing.csv
gpnn-predict house.gpi -p missing.par housing.csv
gpnn-predict -q house.gpi -p rows.par housing.csv | head -n 3
gpnn-eval housing.csv
gpnn-plot pit -o x.tif predictions.tsv
gpnn-index -o x.gpi missing.csv
gpnn missing.csv
EOF
}

@test "the screens that a newcomer sees equal the stored ones" {
  assert_kept '^screens'
}
