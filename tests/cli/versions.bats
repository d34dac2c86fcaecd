#!/usr/bin/env bats
# Versions of the index format: what earlier programs wrote, and which version a file says it has.
load helper

old=$GPNN_ROOT/tests/data/index

# assert_same_table FILE EXPECTED: equal but for the last digits of numbers, which depend on the
# processor.
assert_same_table() {
  awk -F '\t' '
    NR == FNR { line[FNR] = $0; n = FNR; next }
    {
      if (split(line[FNR], wanted) != NF) exit 1
      for (i = 1; i <= NF; i++) {
        d = $i - wanted[i]
        if ($i != wanted[i] && (FNR == 1 || d > 1e-9 || d < -1e-9)) exit 1
      }
    }
    END { exit FNR != n }' "$2" "$1" || complain "$1 differs from $2:" "$(diff "$1" "$2")"
}

# stored_version INDEX: as its header has it.
stored_version() {
  od -A n -t u4 -j 8 -N 8 "$1" | awk '{ print $1 "." $2 }'
}

@test "indexes of all earlier versions verify and predict as before" {
  local version
  for version in 1.{0..9}; do
    [[ $(gpnn-info --verify "$old/$version.gpi" | value verified) == yes ]] || return
    gpnn-predict "$old/$version.gpi" -p "$old/$version.par" "$old/queries.tsv" >out.tsv 2>err.txt
    [[ ! -s err.txt ]] || complain "$version: $(cat err.txt)" || return
    assert_same_table out.tsv "$old/$version.tsv" || return
  done
}

@test "indexes of all earlier versions can be fitted, calibrated and given another metric" {
  local version
  for version in 1.{0..9}; do
    gpnn-fit -q --effort fast --kernel exp -m 8 "$old/$version.gpi" >"$version.fit"
    gpnn-calibrate -q "$old/$version.gpi" -p "$version.fit" >"$version.cal"
    gpnn-index -q --metric "$version.cal" -o new.gpi "$old/$version.gpi"
    gpnn-predict -q new.gpi -p "$version.cal" "$old/queries.tsv" >out.tsv
    (($(wc -l <out.tsv) == 13))
  done
}

@test "an index of version 1.10 has classes and an exposure" {
  gpnn-info --verify "$old/1.10.gpi" >info
  assert_equal "$(value verified info)" yes
  # But for the classes of a single row.
  assert_equal "$(grep -E '^(target|class|exposure)' info | awk -F '\t' '$3 != 1')" "$(printf '%b\n' \
    'target\tcolour' 'class\tblue\t18\t2' 'class\tgreen\t17\t3' 'class\tred\t19\t1' \
    'target\tsite' 'class\t4.000\t30\t6' 'exposure\tvariance')"
  # Rows have changed places, so that classes of one row keep it.
  grep -q $'^section\tEXCH\t' info
}

@test "an index has the lowest version whose readers know its sections" {
  gpnn-index -q -y y -x x,z --search flat -o plain.gpi "$old/train.tsv"
  assert_equal "$(stored_version plain.gpi)" 1.0
  gpnn-index -q -y y,w -x x,z --search flat -o targets.gpi "$old/train.tsv"
  assert_equal "$(stored_version targets.gpi)" 1.1
  gpnn-index -q -y y -x x,z --search tree -o tree.gpi "$old/train.tsv"
  assert_equal "$(stored_version tree.gpi)" 1.2
  gpnn-index -q --search flat --metric "$old/1.2.par" -o rotated.gpi plain.gpi
  assert_equal "$(stored_version rotated.gpi)" 1.2
  gpnn-index -q -y y -x x,level --search flat -o limits.gpi "$old/train.tsv"
  assert_equal "$(stored_version limits.gpi)" 1.3
  gpnn-index -q -y y -x x --offset z --search flat -o offset.gpi "$old/train.tsv"
  assert_equal "$(stored_version offset.gpi)" 1.5
  gpnn-index -q -y y -x x --by colour --search flat -o groups.gpi "$old/train.tsv"
  assert_equal "$(stored_version groups.gpi)" 1.6
  gpnn-index -q -y y -x x --thousands --search flat -o notation.gpi "$old/train.tsv"
  assert_equal "$(stored_version notation.gpi)" 1.7
  gpnn-index -q -y y -x x,sold --date 'sold=%d/%m/%Y %H:%M' --search flat -o date.gpi "$old/train.tsv"
  assert_equal "$(stored_version date.gpi)" 1.8
  gpnn-index -q -y y -x x,13 --search flat -o twin.gpi "$old/train.tsv"
  assert_equal "$(stored_version twin.gpi)" 1.8
  awk -F '\t' -v OFS='\t' 'NR == 2 { $11 = "" } 1' "$old/train.tsv" >gap.tsv
  gpnn-index -q -y y,w -x x,z --search flat -o gap.gpi gap.tsv
  assert_equal "$(stored_version gap.gpi)" 1.9
  gpnn-index -q -y y,x -x z --search flat -o full.gpi gap.tsv
  assert_equal "$(stored_version full.gpi)" 1.1
  gpnn-index -q -y colour -x x,z --search flat -o classes.gpi "$old/train.tsv"
  assert_equal "$(stored_version classes.gpi)" 1.10
  gpnn-index -q -y y -x x,z --exposure variance --search flat -o exposure.gpi "$old/train.tsv"
  assert_equal "$(stored_version exposure.gpi)" 1.10
  gpnn-index -q -y y,w -x site --search flat -o places.gpi "$old/train.tsv"
  assert_equal "$(stored_version places.gpi)" 1.4
}

@test "an index of a grid of an earlier program opens as it did" {
  gpnn-info --verify "$old/grid-1.0.gpi" | grep -vE '^(bytes|flops|break)' >info
  diff "$old/grid-1.0.info" info
}

@test "a binary file of another kind is refused by name" {
  # The header of a state, and of a kind that no program has yet: magic, version, byte order, kind,
  # zeros, and its checksum.
  header() { # KIND CHECKSUM
    printf '\x89GPI\r\n\x1a\0\1\0\0\0\0\0\0\0\4\3\2\1%b\0\0\0' "$1"
    head -c 36 /dev/zero
    printf '%b' "$2"
  }
  header '\3' '\xdc\xfa\xf8\xc4' >house.gps
  header '\4' '\x8b\x09\xc5\x3e' >house.new
  assert_fails 1 '^house.gps is a state file, not an index$' gpnn-fit house.gps
  assert_fails 1 '^house.gps: is a state file, not a table$' gpnn-index -o new.gpi house.gps
  assert_fails 1 '^house.gps is a state file, not an index: did you swap the operands\?$' \
    gpnn-predict house.gps -p "$old/1.0.par" "$old/1.0.gpi"
  assert_fails 1 '^house.new is a gpnn file of an unknown kind, not an index$' gpnn-sparse house.new -o new.gpm
  assert_fails 1 '^house.new is a gpnn file of an unknown kind, not parameters$' gpnn-info house.new
  assert_fails 1 '^house.new is a gpnn file of an unknown kind, not parameters$' \
    gpnn-predict "$old/1.0.gpi" -p house.new "$old/queries.tsv"
}
