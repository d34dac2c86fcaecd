#!/usr/bin/env bats
# Formats of binary files: kept files of every kind open, and predict as the program did that wrote them.
#
# After a change that is wanted, 'GPNN_KEEP=1 tests/run cli/versions' writes them anew.
load helper

kept=$GPNN_ROOT/tests/data/formats

# assert_same_table FILE EXPECTED: equal but for the last digits of numbers, which depend on the
# processor and the compiler's options, most of all where a variance is a small difference.
assert_same_table() {
  awk -F '\t' '
    NR == FNR { line[FNR] = $0; n = FNR; next }
    {
      if (split(line[FNR], wanted) != NF) exit 1
      for (i = 1; i <= NF; i++) {
        d = $i - wanted[i]
        if ($i != wanted[i] && (FNR == 1 || d > 1e-7 || d < -1e-7)) exit 1
      }
    }
    END { exit FNR != n }' "$2" "$1" || complain "$1 differs from $2:" "$(diff "$1" "$2")"
}

# make_files: an index with most of the sections that there are, a grid index with its state, and a model.
make_files() {
  local columns=x,hour,lat,lon,sold,colour dates='sold=%d/%m/%Y %H:%M'
  local options=(-q --one-hot colour --period 'hour=24,sold=year' --geo 'lat,lon' --date "$dates" --strip '$' --calibration-rows 9)
  awk -F '\t' -v OFS='\t' 'NR % 10 == 3 { $11 = "" } 1' "$kept/train.tsv" >gaps.tsv
  gpnn-index "${options[@]}" -y y,w -x "$columns,level" --regressors z --row-noise variance --offset 13,14 --by site \
    --search tree -o index.gpi gaps.tsv
  gpnn-fit -q --effort fast -o index.par index.gpi
  { cat "$kept/train.tsv" && tail -n 30 "$kept/train.tsv" | awk -F '\t' -v OFS='\t' '{ $10 += 1 } 1'; } >twice.tsv
  gpnn-grid index -q -y y --time hour --factor colour=colour --factor site=site,sold --date "$dates" --na NA,. \
    -o grid.gpi twice.tsv
  gpnn-grid fit -q -o grid.gps grid.gpi
  gpnn-index "${options[@]}" -y y,w -x "$columns" -o rows.gpi gaps.tsv
  gpnn-sparse -q --inducing 8 -o model.gpm rows.gpi
}

# predict_from FOLDER: what the files there predict, in index.tsv, grid.tsv and model.tsv.
predict_from() {
  gpnn-predict "$1/index.gpi" -p "$1/index.par" "$kept/queries.tsv" >index.tsv
  gpnn-grid predict --variance exact "$1/grid.gpi" -p "$1/grid.gps" "$kept/queries.tsv" >grid.tsv
  gpnn-predict "$1/model.gpm" "$kept/queries.tsv" >model.tsv
}

@test "kept files of every kind verify and predict as before" {
  local file
  if [[ -n ${GPNN_KEEP-} ]]; then
    make_files && predict_from . && cp index.* grid.* model.* "$kept"
  fi
  predict_from "$kept" 2>err.txt
  [[ ! -s err.txt ]] || complain "$(cat err.txt)" || return
  for file in index.gpi grid.gpi model.gpm; do
    [[ $(gpnn-info --verify "$kept/$file" | value verified) == yes ]] || return
    assert_same_table "${file%.*}.tsv" "$kept/${file%.*}.tsv" || return
  done
}

@test "every section that there is can be written, verified and written again" {
  local file tags
  make_files
  { cat "$kept/train.tsv" && sed 1d "$kept/train.tsv"; } | awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = exp(exp(2 * $1)) } 1' >copies.tsv
  gpnn-index -q -y y -x x,z --tails compress --search tree -o copies.gpi copies.tsv
  gpnn-index -q -y y -x x,z --target-scale 1,2 -o following.gpi copies.tsv
  gpnn-index -q -y y -x x,z --id site -o named.gpi "$kept/train.tsv"
  gpnn-index -q -y y -x site --search tree -o places.gpi "$kept/train.tsv"
  gpnn-index -q -y y -x x,z --search ivf -o lists.gpi "$kept/train.tsv"
  printf 'kernel\tmatern52\nrotation\t0.8\t0.6\t-0.6\t0.8\nlengthscale\t1\t1.5\nkernelscale\t1\nnoise\t0.05\n' >turned.par
  gpnn-index -q --metric turned.par -o turned.gpi lists.gpi
  printf 'kernel\texp\ninput-scores\tboth\tonly\nlengthscale\t1\t1.5\t2\nkernelscale\t1\nnoise\t0.05\n' >seen.par
  gpnn-index -q --metric seen.par -o seen.gpi lists.gpi
  awk -F '\t' -v OFS='\t' 'NR > 30 { $6 = "shade " NR } 1' "$kept/train.tsv" >shades.tsv
  gpnn-index -q -y colour -x x,z,level --calibration-rows 9 --exposure variance -o classes.gpi shades.tsv
  gpnn-index -q -y y -x x,site --coded site -o coded.gpi "$kept/train.tsv"
  awk -F '\t' -v OFS='\t' 'NR == 1 || NR % 3 == 0 { if (NR > 1) { $1 += 5; $8 = "later" } print }' "$kept/train.tsv" >later.tsv
  gpnn-index -q --add later.tsv -o later.gpi coded.gpi
  awk -F '\t' -v OFS='\t' 'NR % 7 == 3 { $1 = "" } 1' "$kept/train.tsv" >holes.tsv
  gpnn-index -q -y y -x x,z -o holes.gpi holes.tsv
  gpnn-index -q -y y -x x,z --missing drop --skip-bad -o dropped.gpi holes.tsv
  printf 'kernel\texp\nlengthscale\t2\nkernelscale\t1\nnoise\t0.05\n' >wide.par
  gpnn-index -q -y y -x x,z --group-effect 'site(x)' -o grouped.gpi "$kept/train.tsv"
  for file in index coded later grouped holes dropped copies following places lists; do gpnn-index -q --metric wide.par -o "$file-again.gpi" "$file.gpi"; done
  gpnn-calibrate -q index.gpi -p index.par | gpnn-index --pack - --skip-bad -o packed.gpi index.gpi
  gpnn-index --pack grid.gps -o packed-grid.gpi grid.gpi
  gpnn -q --effort fast -y y -x x,z --save whole.gpi "$kept/train.tsv"
  for file in *.gpi *.gpm; do
    assert_equal "$(gpnn-info --verify "$file" | value verified)" yes || return
  done
  for file in *.gpi *.gpm; do gpnn-info "$file"; done | awk -F '\t' '$1 == "section" { print $2 }' | sort -u >written
  tags='s/^ *[{](CRITICAL|SPARE)[(]"([A-Z]{4})".*/\2/p'
  sed -nE "$tags" "$GPNN_ROOT/lib/dataset/index/sections.c" | sort >known
  diff known written
  cat "$GPNN_ROOT"/man/gpnn-{index,model}.5 | grep -oE '^([.]SS )?[A-Z]{4}|^[.]SS LIST, DATA' | grep -oE '[A-Z]{4}' | sort -u | comm -23 known - >undescribed
  [[ ! -s undescribed ]] || complain "$(cat undescribed)"
}

@test "a kept index can be fitted, calibrated and given another metric" {
  gpnn-fit -q --effort fast --kernel exp -m 8 "$kept/index.gpi" >new.fit
  gpnn-calibrate -q "$kept/index.gpi" -p new.fit >new.cal
  gpnn-index -q --metric new.cal -o new.gpi "$kept/index.gpi"
  # The kept file has the fingerprint of files before its halves were those of now.
  gpnn-predict -q "$kept/index.gpi" -p new.cal "$kept/queries.tsv" >was.tsv
  sed -i '/^index/d' new.cal
  gpnn-predict -q new.gpi -p new.cal "$kept/queries.tsv" >out.tsv
  cmp out.tsv was.tsv
  (($(wc -l <out.tsv) == 13))
}

@test "files of every kind have format 1.0" {
  local file
  make_files
  for file in index.gpi grid.gpi grid.gps model.gpm "$kept"/*.gp?; do
    assert_equal "$(od -A n -t u4 -j 8 -N 8 "$file" | awk '{ print $1 "." $2 }')" 1.0
  done
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
    gpnn-predict house.gps -p "$kept/index.par" "$kept/index.gpi"
  assert_fails 1 '^house.new is a gpnn file of an unknown kind, not an index$' gpnn-sparse house.new -o new.gpm
  assert_fails 1 '^house.new is a gpnn file of an unknown kind, not parameters$' gpnn-info house.new
  assert_fails 1 '^house.new is a gpnn file of an unknown kind, not parameters$' \
    gpnn-predict "$kept/index.gpi" -p house.new "$kept/queries.tsv"
}
