#!/usr/bin/env bats
# Tables in .npy files, in and out.

load helper

# npy TYPE SHAPE [BYTES...]: a .npy file whose numbers are these bytes, in hexadecimal.
npy() {
  local header length
  header=$(printf "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" "$1" "$2")
  length=$(((${#header} + 11 + 63) / 64 * 64 - 10))
  # shellcheck disable=SC2059 # the formats are bytes
  printf "\\x93NUMPY\\x01\\x00\\x$(printf '%02x' "$length")\\x00"
  printf '%-*s\n' $((length - 1)) "$header"
  shift 2
  # shellcheck disable=SC2059
  (($# == 0)) || printf "$(printf '\\x%s' "$@")"
}

# make_halves: a.npy and b.npy are the first and the last rows of a table, as are a.tsv and b.tsv.
make_halves() {
  make_table 160 2 >t.tsv
  gpnn-split --last 0.25 -o a.tsv -o b.tsv t.tsv
  gpnn-split --last 0.25 -o a.npy -o b.npy t.tsv
}

@test "each tool makes of a .npy file what it makes of the same numbers as text" {
  make_halves
  tail -n +2 a.tsv >a.bare
  gpnn-index -o text.gpi --no-header a.bare
  gpnn-index -o npy.gpi a.npy
  cmp text.gpi npy.gpi
  gpnn-index -o npy.gpi -y 3 -x 1-2 - <a.npy
  cmp text.gpi npy.gpi
  gzip -c a.npy | gpnn-index -o npy.gpi -
  cmp text.gpi npy.gpi
  make_parameters matern32 0.5 1 0.04 30 >t.par
  gpnn-predict --no-header text.gpi -p t.par <(tail -n +2 b.tsv) >text.out
  gpnn-predict npy.gpi -p t.par b.npy >npy.out
  cmp text.out npy.out
  gpnn-predict npy.gpi -p t.par --unbuffered - <b.npy | cmp - text.out
  gpnn-eval --no-header text.out >text.metrics
  gpnn-predict npy.gpi -p t.par b.npy -o pred.npy
  gpnn-eval pred.npy | cmp - text.metrics
}

@test "a .npy file for an index of named columns is read by position" {
  make_halves
  make_parameters matern32 0.5 1 0.04 30 >t.par
  gpnn-index -o t.gpi a.tsv
  gpnn-predict t.gpi -p t.par b.tsv | tail -n +2 >named.out
  gpnn-predict t.gpi -p t.par b.npy | cmp - named.out
  gpnn-split --last 0.5 -o first.npy -o last.npy <(cut -f 1-2 b.tsv)
  gpnn-predict t.gpi -p t.par first.npy | cmp - <(head -n 20 named.out | cut -f 2-)
}

@test "float32 is the double of the same value" {
  npy '<f4' '(2, 2)' cd cc cc 3d 00 00 80 3f 00 00 00 c0 00 00 c0 7f >t.npy
  gpnn-split --last 0.5 -o first.csv -o last.csv -d , t.npy
  assert_equal "$(cat first.csv last.csv)" $'0.10000000149011612,1\n-2,'
}

@test "a missing number is NaN in and NA out, a bad one names its row" {
  make_table 40 1 >t.tsv
  gpnn-index -o t.gpi t.tsv
  make_parameters matern32 0.5 1 0.04 9 >t.par
  npy '>f8' '(3, 1)' 3f e0 0 0 0 0 0 0 7f f8 0 0 0 0 0 0 7f f0 0 0 0 0 0 0 >x.npy
  assert_fails 1 "x.npy: row 3: column '1': not a finite number" gpnn-predict t.gpi -p t.par x.npy
  gpnn-index -q --missing drop -o t.gpi t.tsv
  assert_fails 1 "x.npy: row 2: column '1': missing value" gpnn-predict t.gpi -p t.par x.npy
  gpnn-predict -q --skip-bad t.gpi -p t.par x.npy >p.tsv
  assert_equal "$(tail -n 2 p.tsv)" $'NA\tNA\nNA\tNA'
  run --separate-stderr gpnn-predict --skip-bad t.gpi -p t.par x.npy -o p.npy
  # shellcheck disable=SC2154
  [[ $stderr == *"column '1': missing value in 1 row, as in row 2; column '1': not a finite number"* ]]
  gpnn-split --last 0.6 -o first.tsv -o last.tsv p.npy
  assert_equal "$(cat last.tsv)" $'\t\n\t'
}

@test "predictions in .npy are the columns of the text, in their order" {
  make_halves
  make_parameters matern32 0.5 1 0.04 30 >t.par
  gpnn-index -o t.gpi a.tsv
  local options
  for options in "" "--keep x1" "--append --interval 0.9,0.5" "--mean-only" "--samples 3" "--loo" "--group x1"; do
    local table=b.tsv
    [[ $options != --loo ]] || table=
    # shellcheck disable=SC2086 # lists of words
    gpnn-predict -q $options t.gpi -p t.par $table >p.tsv
    # shellcheck disable=SC2086
    gpnn-predict -q $options t.gpi -p t.par $table -o p.npy
    gpnn-split --last 0.5 -o first.npy -o last.npy p.npy
    gpnn-split --last 0.5 -o first-text.npy -o last-text.npy p.tsv
    cmp first.npy first-text.npy
    cmp last.npy last-text.npy
  done
}

@test "text is refused in a .npy file, which then is not there" {
  make_halves
  make_parameters matern32 0.5 1 0.04 30 >t.par
  gpnn-index -o t.gpi a.tsv
  awk -v OFS='\t' '{ print (NR == 1 ? "city" : "Ulm"), $0 }' b.tsv >c.tsv
  assert_fails 1 "a .npy file holds only numbers: c.tsv:2: column 'city': not a number: \"Ulm\"" \
    gpnn-predict --keep city t.gpi -p t.par c.tsv -o p.npy
  assert_fails 1 "a .npy file holds only numbers: c.tsv:2" gpnn-predict --skip-bad --keep city t.gpi -p t.par c.tsv -o p.npy
  assert_fails 1 "a .npy file holds only numbers: c.tsv:2" gpnn-split -f 1:1 -o p.npy -o q.npy c.tsv
  mkfifo p.npy
  cat p.npy >/dev/null &
  run -2 gpnn-predict t.gpi -p t.par b.tsv -o p.npy
  wait
  [[ $output == *"only a regular file can be a .npy file"* ]]
}

@test "numbers of a notation are copied as numbers" {
  printf 'a;b\n1.234,5;-\n-;7\n8;9\n-1;0\n' >t.csv
  gpnn-split --decimal , --thousands --na - --last 0.5 -o a.npy -o b.npy t.csv
  gpnn-split --last 0.5 -o a.csv -o b.csv -d , a.npy
  assert_equal "$(cat a.csv b.csv)" $'1234.5,\n,7'
}

@test "simulated data and splits are .npy files where their names say so" {
  gpnn-simulate data -n 50 -o t.npy
  gpnn-simulate data -n 50 --no-header -o bare.npy
  gpnn-simulate data -n 50 -o t.tsv
  cmp t.npy bare.npy
  gpnn-split -k 3 -o 'n%d.npy' t.npy
  gpnn-split -k 3 -o 't%d.npy' t.tsv
  gpnn-split -k 3 -o 's%d.npy' - <t.npy
  gpnn-split -k 3 -o 'x%d.tsv' t.npy
  gpnn-split -k 3 -o 'y%d.tsv' t.tsv
  for k in 1 2 3; do
    cmp n$k.npy t$k.npy
    cmp n$k.npy s$k.npy
    cmp x$k.tsv <(tail -n +2 y$k.tsv)
  done
}

@test "an array without rows gives predictions without rows" {
  make_table 40 1 >t.tsv
  gpnn-index -o t.gpi t.tsv
  make_parameters matern32 0.5 1 0.04 9 >t.par
  npy '<f8' '(0, 1)' >x.npy
  assert_equal "$(gpnn-predict t.gpi -p t.par x.npy)" ''
  gpnn-predict t.gpi -p t.par x.npy -o p.npy
  cmp p.npy <(npy '<f8' '(0, 2)')
}

@test "what is no table of numbers is refused with advice" {
  npy '<i8' '(2, 2)' >i.npy
  assert_fails 1 "i.npy: holds values of type '<i8'.*save np.ascontiguousarray\(x, dtype='<f8'\)" gpnn-index -o t.gpi i.npy
  npy '<f8' '(2, 2)' 00 00 >short.npy
  assert_fails 1 'short.npy: is truncated: it ends in row 1 of 2' gpnn-index -o t.gpi short.npy
  assert_fails 1 'short.npy is a table, not an index: make one with gpnn-index' gpnn-fit short.npy
  printf 'PAR1\x15\x04' >t.parquet
  assert_fails 1 't.parquet: is a Parquet file: pipe in the output of duckdb' gpnn-index -o t.gpi t.parquet
}

@test "NumPy reads what is written and is read where it writes" {
  /usr/bin/python3 -c 'import numpy' 2>/dev/null || skip 'NumPy is not installed'
  make_halves
  /usr/bin/python3 - <<'END'
import io
import numpy as np

written = np.load("a.npy")
text = np.loadtxt("a.tsv", skiprows=1)
assert written.dtype == np.dtype("<f8") and written.flags.c_contiguous
assert np.array_equal(written, text)
np.save("same.npy", text)
assert open("same.npy", "rb").read() == open("a.npy", "rb").read()
for version in (1, 0), (2, 0), (3, 0):
    for kind in "<f8", ">f8", "<f4", ">f4":
        with open(f"v{version[0]}{kind[0]}{kind[2]}.npy", "wb") as file:
            np.lib.format.write_array(file, text.astype(kind), version=version)
np.save("f.npy", np.asfortranarray(text))
END
  gpnn-index -o t.gpi a.npy
  for file in v?[\<\>]8.npy; do
    gpnn-index -o v.gpi "$file"
    cmp t.gpi v.gpi
  done
  gpnn-index -o t.gpi 'v1<4.npy'
  for file in v?[\<\>]4.npy; do
    gpnn-index -o v.gpi "$file"
    cmp t.gpi v.gpi
  done
  assert_fails 1 'f.npy: is stored column by column' gpnn-index -o v.gpi f.npy
}
