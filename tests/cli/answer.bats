#!/usr/bin/env bats
# gpnn-answer: what a model answers about rows that another owner asks about.

load helper

# An owner of column x2 in b.gpi with parameters b.par, a pool of 40 rows, and three asked.tsv.
make_answerer() {
  gpnn-simulate views --rows 60 --mask x2 >own.tsv
  gpnn-simulate views --rows 40 --first 10000 >pool.tsv
  gpnn-index -q -y y -x x2 --target-scale 0.5,2 -o b.gpi own.tsv
  make_parameters rbf 2 1 0.2 60 >b.par
  printf 'id\n10007\n10003\n10020\n' >asked.tsv
}

# table FILE: without its comments.
table() { grep -v '^#' "$1"; }

@test "answers are predictions of the rows asked about, in their order" {
  make_answerer
  gpnn-answer -p b.par --ids asked.tsv b.gpi pool.tsv >answers.tsv
  awk -F '\t' 'NR == FNR { at[$1] = $0; next } FNR == 1 { print at["id"]; next } { print at[$1] }' pool.tsv asked.tsv |
    gpnn-predict -q -p b.par --keep id b.gpi - >predicted.tsv
  assert_equal "$(table answers.tsv | cut -f 1,2)" "$(paste <(column id predicted.tsv) <(column mean predicted.tsv) |
    sed '1i id\tmean')"
  paste <(table answers.tsv | column variance) <(column sd predicted.tsv) |
    awk '{ d = $1 - $2 * $2; if (d > 1e-12 || d < -1e-12) exit 1 }'
  assert_equal "$(table answers.tsv | column prior_variance | sort -u)" 4.8
  assert_equal "$(table answers.tsv | column noise_variance | sort -u)" 0
  assert_equal "$(grep '^#' answers.tsv)" "$(printf '# gpnn answers 1.0\n# target: y\n# centre: 0.5\n# scale: 2\n# report: marginal')"
}

@test "variances are those that calibration leads to" {
  make_answerer
  gpnn-fit -q b.gpi | gpnn-calibrate -q b.gpi >c.par
  gpnn-answer -p c.par b.gpi pool.tsv >answers.tsv
  gpnn-predict -q -p c.par b.gpi pool.tsv >predicted.tsv
  paste <(table answers.tsv | column variance) <(column sd predicted.tsv) |
    awk '{ d = $1 / ($2 * $2) - 1; if (d > 1e-9 || d < -1e-9) exit 1 }'
}

@test "a report tells what it is to tell" {
  make_answerer
  names() { gpnn-answer -p b.par --ids asked.tsv --report "$1" b.gpi pool.tsv >"$1.tsv" && table "$1.tsv" | head -n 1 | tr '\t' ' '; }
  assert_equal "$(names none)" 'id mean noise_variance'
  assert_equal "$(names marginal)" 'id mean variance prior_variance noise_variance'
  assert_equal "$(names full)" 'id mean variance prior_variance noise_variance cov_1 cov_2 cov_3 kq_1 kq_2 kq_3'
  assert_equal "$(names message)" 'id shift noise_variance precision_1 precision_2 precision_3'
  assert_equal "$(table none.tsv | cut -f 1,2)" "$(table full.tsv | cut -f 1,2)"
  assert_equal "$(table marginal.tsv)" "$(table full.tsv | cut -f 1-5)"
  assert_equal "$(table full.tsv | column cov_2 | sed -n 1p)" "$(table full.tsv | column cov_1 | sed -n 2p)"
  gpnn-answer -p b.par -j 1 --ids - --report full b.gpi pool.tsv <asked.tsv | diff - full.tsv
}

@test "all rows are answered about if none are named, by a model file too" {
  make_answerer
  assert_equal "$(gpnn-answer -p b.par b.gpi pool.tsv | table - | wc -l)" 41
  gpnn-sparse -q --inducing 10 -o b.gpm b.gpi
  assert_equal "$(gpnn-answer --report full b.gpm pool.tsv | table - | wc -l)" 41
  head -n 1 asked.tsv >none.tsv
  assert_equal "$(gpnn-answer -p b.par --ids none.tsv --report full b.gpi pool.tsv | table - | wc -l)" 1
}

@test "what cannot be answered is refused" {
  make_answerer
  printf 'id\n10007\n7\n' >unknown.tsv
  assert_fails 1 "pool.tsv: column 'id': no row has the id \"7\", which is asked about" gpnn-answer -p b.par --ids unknown.tsv b.gpi pool.tsv
  printf 'id\n10007\n10003\n10007\n' >twice.tsv
  assert_fails 1 "twice.tsv: column 'id': two rows have the id \"10007\" .rows 1 and 3" gpnn-answer -p b.par --ids twice.tsv b.gpi pool.tsv
  sed 's/^10004/10003/' pool.tsv >double.tsv
  assert_fails 1 "double.tsv: column 'id': two rows have the id \"10003\"" gpnn-answer -p b.par --ids asked.tsv b.gpi double.tsv
  assert_fails 2 "no column 'key'" gpnn-answer -p b.par --id key b.gpi pool.tsv
  printf 'key\n10007\n' >other.tsv
  assert_fails 2 "other.tsv: no column 'id'" gpnn-answer -p b.par --ids other.tsv b.gpi pool.tsv
  awk 'BEGIN { FS = OFS = "\t" } $1 == 10003 { $4 = "NA" } { print }' pool.tsv >bad.tsv
  assert_fails 1 "bad.tsv:5: column 'x2': missing value" gpnn-answer -p b.par --ids asked.tsv b.gpi bad.tsv
  assert_fails 2 'only one of parameters, pool and --ids' gpnn-answer -p b.par --ids - b.gpi
  gpnn-sparse -q --inducing 10 -o b.gpm b.gpi
  assert_fails 1 'without training rows' gpnn-answer --report message --ids asked.tsv b.gpm pool.tsv
  awk 'BEGIN { FS = OFS = "\t" } { $2 = NR == 1 ? "y" : $2 > 0 ? "up" : "down"; print }' own.tsv >classes.tsv
  gpnn-index -q -y y -x x2 -o classes.gpi classes.tsv
  gpnn-fit -q --effort fast classes.gpi >classes.par
  assert_fails 1 'answers cannot be about a target of classes' gpnn-answer -p classes.par classes.gpi pool.tsv
  run bash -c "gpnn-answer -p b.par b.gpi pool.tsv >/dev/full"
  assert_equal "$status" 1
}
