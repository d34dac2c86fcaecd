# shellcheck shell=bash disable=SC2034 # THREADS is for the benches
# What the benches share; each sources it.
#
# The machine's speed drifts, so figures are ratios of runs that alternate, medians of ROUNDS (3).
# Results go to standard output, and as NAME.tsv, with a plot NAME.svg if gnuplot is installed, to
# the directory 'bench' of GPNN_BUILD.  THREADS (2, or as many as there are processors) is the
# number of threads of either side.
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
results=${GPNN_BUILD:-$root/build}/bench
PATH=${GPNN_BUILD:-$root/build}/bin:$results:$PATH
rounds=${ROUNDS:-3}
threads=${THREADS:-$(($(nproc) < 2 ? 1 : 2))}
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '%s\n' "$*"; }

# calculate EXPRESSION [NAME=VALUE...]: the value that awk computes, to four digits.
calculate() {
  local expression=$1 settings=() setting
  shift
  for setting in "$@"; do settings+=(-v "$setting"); done
  awk "${settings[@]}" "BEGIN { printf \"%.4g\\n\", $expression }"
}

# Reads lines of numbers; prints the median of each column.
median() {
  awk '{ for (c = 1; c <= NF; c++) v[c, NR] = $c; if (NF > columns) columns = NF }
    END {
      for (c = 1; c <= columns; c++) {
        for (i = 2; i <= NR; i++)
          for (j = i; j > 1 && v[c, j - 1] + 0 > v[c, j] + 0; j--) {
            t = v[c, j]; v[c, j] = v[c, j - 1]; v[c, j - 1] = t
          }
        printf "%s%s", (c > 1 ? " " : ""), v[c, int((NR + 1) / 2)]
      }
      print ""
    }'
}

# medians COMMAND...: the medians of the numbers that COMMAND prints on one line, over all rounds.
medians() {
  local round
  for ((round = 0; round < rounds; round++)); do "$@"; done >"$work/rounds"
  median <"$work/rounds"
}

# timed TOOL ARGUMENT...: runs one of the tools without its output; prints its wall and processor
# seconds and its peak memory in MiB.
timed() {
  local tool=$1
  shift
  "$tool" -v "$@" 2>"$work/said" >/dev/null || { cat "$work/said" >&2; return 1; }
  sed -n 's/.*wall \([0-9.]*\) s, processor \([0-9.]*\) s, peak memory \([0-9.]*\) MiB.*/\1 \2 \3/p' \
    "$work/said"
}

# has_option TOOL OPTION: true if TOOL has it.
has_option() { "$1" --help | grep -qe "$2\b"; }

# rows_of TABLE
rows_of() { echo $(($(wc -l <"$1") - 1)); }

# enlarge TABLE ROWS: this many rows, from the first on, repeated as often as necessary.
enlarge() {
  local tables=() times=$((1 + $2 / $(rows_of "$1")))
  while ((times-- > 0)); do tables+=("$1"); done
  awk -v rows="$2" 'FNR == 1 && NR > 1 { next } NR > 1 && n++ == rows { exit } { print }' \
    "${tables[@]}"
}

# The tables train.tsv and test.tsv of protein in the work directory, seven to two.
protein() {
  gpnn-split -f 7:2 -o "$work/train.tsv" -o "$work/test.tsv" "$root/tests/data/protein.tsv.gz"
}

# generated ROWS SEED: the path of a table of eight inputs, made once.
generated() {
  local path=$results/rows-$1-$2.tsv
  if [[ ! $path -nt $results/generate ]]; then
    generate "$1" 8 "$2" >"$work/generated"
    mv "$work/generated" "$path"
  fi
  printf '%s\n' "$path"
}

# ---- tables of results ------------------------------------------------------------------------
# table NAME COLUMN...: begins one; row VALUE... adds to it; show prints it.
table() {
  current=$results/$1.tsv
  shift
  mkdir -p "$results"
  : >"$current"
  row "$@"
}

row() {
  local IFS=$'\t'
  printf '%s\n' "$*" >>"$current"
}

# The first column is aligned to the left, the others to the right.
show() {
  awk -F '\t' '{ for (c = 1; c <= NF; c++) {
        cell[NR, c] = $c
        if (length($c) > width[c]) width[c] = length($c)
      }
      columns = NF }
    END { for (r = 1; r <= NR; r++)
        for (c = 1; c <= columns; c++)
          printf "%" (c == 1 ? "-" : "") width[c] "s%s", cell[r, c], (c < columns ? "  " : "\n") }' \
    "$current"
  echo
}

# verdict VALUE TARGET: yes or no, TARGET being "<= 3", ">= 20" or "-".
verdict() {
  if [[ $2 == - ]]; then echo -; else awk "BEGIN { print (($1 $2) ? \"yes\" : \"no\") }"; fi
}

# plot NAME TABLE COMMAND...: NAME.svg by gnuplot's COMMANDs, in which TABLE.tsv is 'file'.
plot() {
  local name=$1 table=$2
  shift 2
  command -v gnuplot >/dev/null || { say "no $name.svg: gnuplot-nox is not installed"; return; }
  {
    say "set terminal svg size 720,480 background rgb 'white'; set output '$results/$name.svg'"
    say "set datafile separator tab; set datafile missing NaN; set key outside top; file = '$results/$table.tsv'"
    printf '%s\n' "$@"
  } >"$work/plot"
  gnuplot "$work/plot"
  say "plot: $results/$name.svg"
}
