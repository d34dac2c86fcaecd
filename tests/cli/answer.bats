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
  assert_fails 1 "twice.tsv: column 'id': two rows have the id \"10007\"" gpnn-answer -p b.par --ids twice.tsv b.gpi pool.tsv
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

# Answers about asked.tsv with noise; further options.
hide() { gpnn-answer -p b.par --ids asked.tsv --epsilon 1 --delta 1e-5 --clip -6,6 "$@" b.gpi pool.tsv; }

@test "answers with noise say what they promise, and what not" {
  make_answerer
  hide >first.tsv
  hide >second.tsv
  run diff first.tsv second.tsv
  assert_equal "$status" 1
  table first.tsv | cut -f 1,3- | diff - <(table second.tsv | cut -f 1,3-)
  assert_equal "$(grep -c '^# epsilon: 1$' first.tsv)" 1
  assert_equal "$(sed -n '6,9p' first.tsv)" "$(printf '# mechanism: shaped\n# clip: -6 6\n# epsilon: 1\n# delta: 1e-05')"
  grep -q '^# protected: each single response' first.tsv
  grep -q '^# not protected: inputs and number of the rows; variances' first.tsv
  table first.tsv | column noise_variance | awk '$1 <= 0 { exit 1 }'
  gpnn-answer -p b.par --ids asked.tsv b.gpi pool.tsv | table - | cut -f 3,4 |
    diff - <(table first.tsv | cut -f 3,4)
  hide --report full | table - | head -n 1 | grep -q 'kq_3.noise_1.noise_2.noise_3$'
  hide --report message | table - | head -n 1 | grep -q 'precision_3.noise_1.noise_2.noise_3$'
}

@test "a seed gives the same noise again, and is told of" {
  make_answerer
  hide --insecure-seed 7 --ledger ledger >first.tsv
  hide --insecure-seed 7 -j 1 | diff - first.tsv
  grep -q '^# insecure: ' first.tsv
  assert_equal "$(sed -n 3p ledger | cut -f 11)" insecure
  assert_equal "$(gpnn-answer --ledger ledger --delta 1e-5 --status | grep insecure)" "$(printf 'insecure\t1')"
}

@test "responses are clipped before anything is answered" {
  make_answerer
  awk 'BEGIN { FS = OFS = "\t" } NR > 1 { $2 = $2 < -1 ? -1 : $2 > 0.5 ? 0.5 : $2 } { print }' own.tsv >clipped.tsv
  gpnn-index -q -y y -x x2 --target-scale 0.5,2 -o clipped.gpi clipped.tsv
  options=(-p b.par --ids asked.tsv --noise-factor 1e-9 --delta 1e-5 -q)
  gpnn-answer "${options[@]}" --clip -1,0.5 b.gpi pool.tsv >answers.tsv
  gpnn-answer -p b.par --ids asked.tsv clipped.gpi pool.tsv >expected.tsv
  paste <(table answers.tsv | column mean) <(table expected.tsv | column mean) |
    awk '{ d = $1 - $2; if (d > 1e-5 || d < -1e-5) exit 1 }'
  hide --clip -100,100 2>&1 >/dev/null | grep -q 'no response reaches the clip'
  hide --clip 0,0.01 2>&1 >/dev/null | grep -q '^gpnn-answer: [0-9]* of [0-9]* responses reach the clip'
}

@test "the factor of noise tells its epsilon" {
  make_answerer
  gpnn-answer -p b.par --ids asked.tsv --noise-factor 0.42 --mechanism path --delta 0.00625 --clip -6,6 b.gpi pool.tsv 2>told >answers.tsv
  grep -q '^gpnn-answer: noise of factor 0.42 promises epsilon = [0-9.]* at delta = 0.00625$' told
  epsilon=$(sed -n 's/^# epsilon: //p' answers.tsv)
  awk -v e="$epsilon" 'BEGIN { exit !(e > 1) }'
}

@test "a ledger is charged before answers are told, and a budget kept" {
  make_answerer
  hide --ledger ledger --budget 2,1e-5 >1.tsv 2>told
  grep -q 'releases so far: 1, together epsilon = 1 at delta = 1e-05' told
  hide -q --ledger ledger --budget 2,1e-5 -o 2.tsv
  hide -q --ledger ledger --budget 2,1e-5 -o 3.tsv
  cp ledger before
  options=(-q -p b.par --ids asked.tsv --epsilon 1 --delta 1e-5 --clip "-6,6" --ledger ledger)
  assert_fails 1 'the budget is spent: 3 releases' gpnn-answer "${options[@]}" --budget 2,1e-5 -o 4.tsv b.gpi pool.tsv
  [[ ! -e 4.tsv ]]
  assert_equal "$(hide --ledger ledger --budget 2,1e-5 2>/dev/null || :)" ''
  cmp ledger before
  gpnn-answer --ledger ledger --budget 2,1e-5 --status >status
  assert_equal "$(cut -f 1 status | tr '\n' ' ')" 'releases mu_total delta epsilon mu_left epsilon_left '
  assert_equal "$(sed -n 's/releases.//p' status)" 3
  run bash -c "gpnn-answer -q -p b.par --epsilon 1 --delta 1e-5 --clip -6,6 --ledger ledger b.gpi pool.tsv >/dev/full"
  assert_equal "$status" 1
  assert_equal "$(gpnn-answer --ledger ledger --delta 1e-5 --status | sed -n 's/releases.//p')" 4
  sed -i 's/shaped/path/; 4s/\t[^\t]*\t1e-05/\t2\t1e-05/; 3s/0.268/0.168/' ledger
  assert_fails 1 'ledger:3: mu_total does not follow' gpnn-answer "${options[@]}" b.gpi pool.tsv
  assert_fails 1 'cannot open the ledger none' gpnn-answer --ledger none --delta 1e-5 --status
}

@test "half of what noise needs is refused" {
  make_answerer
  refused() { assert_fails 2 "$1" gpnn-answer -p b.par --ids asked.tsv "${@:2}" b.gpi pool.tsv; }
  refused 'needs --delta' --epsilon 1 --clip -6,6
  refused 'needs --clip' --epsilon 1 --delta 1e-5
  refused 'either by --epsilon or by --noise-factor' --mechanism shaped --delta 1e-5 --clip -6,6
  refused 'either by --epsilon or by --noise-factor' --epsilon 1 --noise-factor 1 --delta 1e-5 --clip -6,6
  refused "option --clip: the lowest and the highest response, LO,HI, not \"6,-6\"" --epsilon 1 --delta 1e-5 --clip 6,-6
  refused "option --budget: an epsilon above 0" --epsilon 1 --delta 1e-5 --clip -6,6 --ledger l --budget 2,1
  refused '\-\-budget is kept by a ledger' --epsilon 1 --delta 1e-5 --clip -6,6 --budget 2,1e-5
  refused '\-\-ledger is for answers with noise' --ledger l
  refused 'epsilon' --epsilon 0 --delta 1e-5 --clip -6,6
  refused 'delta' --epsilon 1 --delta 1 --clip -6,6
  refused 'delta' --epsilon 1 --delta 1e-299 --clip -6,6
  refused "option --budget: an epsilon above 0" --epsilon 1 --delta 1e-5 --clip -6,6 --ledger l --budget 2,1e-299
  assert_fails 2 'an operand is missing' gpnn-answer -p b.par
  assert_fails 2 'give it by --ledger' gpnn-answer --status
  assert_fails 2 'give --delta or --budget' gpnn-answer --status --ledger l
  gpnn-sparse -q --inducing 10 -o b.gpm b.gpi
  assert_fails 2 'a model file has no training rows' gpnn-answer --ids asked.tsv --epsilon 1 --delta 1e-5 --clip -6,6 b.gpm pool.tsv
}
