#!/usr/bin/env bats
# gpnn-answer: what a model answers about rows that another owner asks about.

load helper

# An owner of column x2 in b.gpi with parameters b.par, a pool of 40 rows, and three asked.tsv.
make_answerer() {
  gpnn-simulate views -n 60 --mask x2 >own.tsv
  gpnn-simulate views -n 40 --first 10000 >pool.tsv
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
  renew spare
  assert_fails 2 'has no training rows' gpnn-answer --ids asked.tsv --epsilon 1 --delta 1e-5 --clip -6,6 --ledger spare b.gpm pool.tsv
  awk 'BEGIN { FS = OFS = "\t" } { $2 = NR == 1 ? "y" : $2 > 0 ? "up" : "down"; print }' own.tsv >classes.tsv
  gpnn-index -q -y y -x x2 -o classes.gpi classes.tsv
  gpnn-fit -q --effort fast classes.gpi >classes.par
  assert_fails 1 'answers cannot be about a target of classes' gpnn-answer -p classes.par classes.gpi pool.tsv
  run bash -c "gpnn-answer -p b.par b.gpi pool.tsv >/dev/full"
  assert_equal "$status" 1
}

# Makes the file a ledger without releases.
renew() { rm -f "$1" && gpnn-answer --new-ledger "$1"; }

# Answers about asked.tsv with noise, charged to $ledger or else to a new one; further options.
hide() {
  [[ -n ${ledger-} ]] || renew spare
  gpnn-answer -p b.par --ids asked.tsv --epsilon 1 --delta 1e-5 --clip -6,6 --ledger "${ledger:-spare}" "$@" b.gpi pool.tsv
}

@test "answers with noise say what they promise, and what not" {
  make_answerer
  hide >first.tsv
  hide >second.tsv
  run diff first.tsv second.tsv
  assert_equal "$status" 1
  grep -Eq '^# ledger: release 1 [0-9a-f]{16}$' first.tsv
  table first.tsv | cut -f 1,3- | diff - <(table second.tsv | cut -f 1,3-)
  assert_equal "$(grep -c '^# epsilon: 1$' first.tsv)" 1
  assert_equal "$(sed -n '6,9p' first.tsv)" "$(printf '# mechanism: shaped\n# clip: -6 6\n# epsilon: 1\n# delta: 1e-05')"
  grep -q '^# protected: each single response' first.tsv
  grep -q '^# not protected: inputs and number of the rows; parameters, and whatever' first.tsv
  table first.tsv | column noise_variance | awk '$1 <= 0 { exit 1 }'
  gpnn-answer -p b.par --ids asked.tsv b.gpi pool.tsv | table - | cut -f 3,4 |
    diff - <(table first.tsv | cut -f 3,4)
  hide --report full | table - | head -n 1 | grep -q 'kq_3.noise_1.noise_2.noise_3$'
}

@test "a seed gives the same noise again, and is told of" {
  make_answerer
  renew seeded
  ledger=seeded hide --insecure-seed 7 >first.tsv 2>told
  grep -q '1 of 1 releases have noise of a seed, and are not private' told
  hide --insecure-seed 7 -j 1 | diff <(sed '/^# ledger/d' first.tsv) <(sed '/^# ledger/d')
  grep -q '^# insecure: ' first.tsv
  assert_equal "$(sed -n 3p seeded | cut -f 11)" insecure
  ledger=seeded hide -q >/dev/null
  gpnn-answer --ledger seeded --budget 9,1e-5 --status >status 2>told
  grep -q '1 of 2 releases have noise of a seed, and are not private' told
  assert_equal "$(value insecure status) $(value epsilon status) $(value epsilon_left status)" '1 inf 0'
  assert_fails 1 'not private, and no budget covers it' gpnn-answer -q -p b.par --epsilon 1 --delta 1e-5 --clip -6,6 \
    --ledger seeded --budget 9,1e-5 b.gpi pool.tsv
}

@test "responses are clipped before anything is answered" {
  make_answerer
  awk 'BEGIN { FS = OFS = "\t" } NR > 1 { $2 = $2 < -1 ? -1 : $2 > 0.5 ? 0.5 : $2 } { print }' own.tsv >clipped.tsv
  gpnn-index -q -y y -x x2 --target-scale 0.5,2 -o clipped.gpi clipped.tsv
  renew spare
  options=(-p b.par --ids asked.tsv --noise-factor 1e-9 --delta 1e-5 -q --ledger spare)
  gpnn-answer "${options[@]}" --clip -1,0.5 b.gpi pool.tsv >answers.tsv
  gpnn-answer -p b.par --ids asked.tsv clipped.gpi pool.tsv >expected.tsv
  paste <(table answers.tsv | column mean) <(table expected.tsv | column mean) |
    awk '{ d = $1 - $2; if (d > 1e-5 || d < -1e-5) exit 1 }'
}

@test "the factor of noise tells its epsilon" {
  make_answerer
  renew spare
  gpnn-answer -p b.par --ids asked.tsv --ledger spare --noise-factor 0.42 --mechanism path --delta 0.00625 --clip -6,6 b.gpi pool.tsv 2>told >answers.tsv
  grep -q '^gpnn-answer: noise of factor 0.42 promises epsilon = [0-9.]* at delta = 0.00625$' told
  epsilon=$(sed -n 's/^# epsilon: //p' answers.tsv)
  awk -v e="$epsilon" 'BEGIN { exit !(e > 1) }'
}

# The tool's whole output, on both streams, about the rows in the table $1; with the same noise.
told() {
  gpnn-index -q -y y -x x2 --target-scale 0.5,2 -o t.gpi "$1"
  gpnn-answer -p b.par --ids asked.tsv --epsilon 1 --delta 1e-5 --clip -6,6 --insecure-seed 7 "${@:2}" t.gpi pool.tsv >told.tsv 2>&1
  cat told.tsv
}

@test "nothing but the noised numbers follows a response" {
  make_answerer
  gpnn-fit -q b.gpi | gpnn-calibrate -q b.gpi >local.par
  gpnn-fit -q --members 2 b.gpi | gpnn-calibrate -q b.gpi >stack.par
  grep -q '^likelihood.local' local.par
  for parameters in local stack; do
    grep -v '^index' $parameters.par >b.par # of other rows, whose number is the same
    for report in none marginal full; do
      told own.tsv --report $report | awk -F '\t' -v OFS='\t' '!/^[#g]/ { $2 = "" } { print }' >before
      for change in 'NR == 2 { $2 = 1e6 }' 'NR == 30 { $2 = -3 }' 'NR > 1 { $2 = -$2 }'; do
        awk 'BEGIN { FS = OFS = "\t" } '"$change"' { print }' own.tsv >changed.tsv
        told changed.tsv --report $report | awk -F '\t' -v OFS='\t' '!/^[#g]/ { $2 = "" } { print }' | diff before -
      done
    done
  done
}

@test "what no noise covers is refused" {
  make_answerer
  gpnn-index -q -y y -x x2 -o plain.gpi own.tsv
  gpnn-answer -q --new-ledger ledger
  options=(--ids asked.tsv --epsilon 1 --delta 1e-5 --clip "-6,6" --ledger ledger)
  assert_fails 1 'gpnn-index --target-scale MEAN,SD' gpnn-answer -p b.par "${options[@]}" plain.gpi pool.tsv
  gpnn-fit -q --kernel rbf --row-weights yes -o weights.gps b.gpi
  assert_fails 1 'without --row-weights' gpnn-answer -p weights.gps "${options[@]}" b.gpi pool.tsv
  gpnn-sparse -q --inducing 10 -o b.gpm b.gpi
  assert_fails 2 'no training rows' gpnn-answer "${options[@]}" b.gpm pool.tsv
  { cat own.tsv; tail -n 20 own.tsv; } >copied.tsv
  gpnn-index -q -y y -x x2 --target-scale 0.5,2 --calibration-rows 10 -o copied.gpi copied.tsv
  refused() {
    assert_fails 1 'left out or held out for calibration follows from their responses' gpnn-answer -q -p b.par --epsilon 1 \
      --delta 1e-5 --clip "-6,6" --ledger ledger copied.gpi pool.tsv
  }
  refused
  awk 'BEGIN { FS = OFS = "\t" } NR > 61 { $2 += NR } { print }' copied.tsv >repeated.tsv # in inputs alone
  gpnn-index -q -y y -x x2 --target-scale 0.5,2 --calibration-rows 10 -o copied.gpi repeated.tsv
  refused
  gpnn-info --verify copied.gpi | grep -q FOLO
  gpnn-index -q -y y -x x2 --target-scale 0.5,2 --calibration-rows 0 --unique -o copied.gpi repeated.tsv
  refused
  make_parameters rbf 2 1 0.2 60 >metric.par
  gpnn-index -q --metric metric.par -o moved.gpi copied.gpi && mv moved.gpi copied.gpi
  refused
  gpnn-index -q -y y -x x2 --target-scale 0.5,2 --calibration-rows 0 -o copied.gpi copied.tsv
  gpnn-answer -q -p b.par --epsilon 1 --delta 1e-5 --clip "-6,6" --ledger ledger copied.gpi pool.tsv >/dev/null
}

@test "each of several targets has a mean and sd that were agreed on" {
  make_answerer
  awk -v OFS='\t' '{ print $0, NR == 1 ? "z" : 10 * $2 + NR % 3 }' own.tsv >two.tsv
  gpnn-index -q -y y,z -x x2 --target-scale 0.5,2 --target-scale 5,20 -o two.gpi two.tsv
  gpnn-fit -q two.gpi >two.par
  gpnn-answer -q --new-ledger ledger
  gpnn-answer -q -p two.par --targets z --ids asked.tsv --ledger ledger --epsilon 1 --delta 1e-5 --clip -60,60 two.gpi pool.tsv >answers.tsv
  assert_equal "$(sed -n '3,4p' answers.tsv)" "$(printf '# centre: 5\n# scale: 20')"
  assert_fails 2 'given of 1 targets, where there are 2' gpnn-index -y y,z -x x2 --target-scale 0,1 -o x.gpi two.tsv
}

@test "parameters of public rows are taken as such" {
  make_answerer
  hide 2>&1 >own.answers | grep -q 'give parameters of public rows, by --hyper-from'
  gpnn-answer -q --new-ledger new
  gpnn-answer --hyper-from b.par --ids asked.tsv --epsilon 1 --delta 1e-5 --clip -6,6 --ledger new b.gpi pool.tsv >answers.tsv 2>said
  assert_equal "$(grep -v 'releases so far' said)" ''
  grep -q '^# not protected: inputs and number of the rows; parameters, which are of public rows$' answers.tsv
  assert_fails 2 'both name parameters' gpnn-answer --hyper-from b.par -p b.par --epsilon 1 --delta 1e-5 --clip -6,6 --ledger new b.gpi pool.tsv
  assert_fails 2 'give --epsilon as well' gpnn-answer --hyper-from b.par b.gpi pool.tsv
}

@test "a ledger is charged before answers are told, and a budget kept" {
  make_answerer
  ledger=ledger
  renew ledger
  hide --budget 2,1e-5 >1.tsv 2>told
  grep -q 'releases so far: 1, together epsilon = 1 at delta = 1e-05' told
  hide -q --budget 2,1e-5 -o 2.tsv
  hide -q --budget 2,1e-5 -o 3.tsv
  cp ledger before
  options=(-q -p b.par --ids asked.tsv --epsilon 1 --delta 1e-5 --clip "-6,6" --ledger ledger)
  assert_fails 1 'the budget is spent: 3 releases' gpnn-answer "${options[@]}" --budget 2,1e-5 -o 4.tsv b.gpi pool.tsv
  [[ ! -e 4.tsv ]]
  assert_equal "$(hide --budget 2,1e-5 2>/dev/null || :)" ''
  cmp ledger before
  gpnn-answer --ledger ledger --budget 2,1e-5 --status >status
  assert_equal "$(cut -f 1 status | tr '\n' ' ')" 'releases mu_total delta epsilon mu_left epsilon_left '
  assert_equal "$(sed -n 's/releases.//p' status)" 3
  run bash -c "gpnn-answer -q -p b.par --epsilon 1 --delta 1e-5 --clip -6,6 --ledger ledger b.gpi pool.tsv >/dev/full"
  assert_equal "$status" 1
  assert_equal "$(gpnn-answer --ledger ledger --delta 1e-5 --status | sed -n 's/releases.//p')" 4
}

@test "a ledger is made once, on purpose" {
  make_answerer
  options=(-q -p b.par --ids asked.tsv --epsilon 1 --delta 1e-5 --clip "-6,6")
  assert_fails 1 'there is no ledger mistyped: make one by --new-ledger' gpnn-answer "${options[@]}" --ledger mistyped b.gpi pool.tsv
  [[ ! -e mistyped ]]
  assert_fails 1 'there is no ledger mistyped' gpnn-answer --ledger mistyped --delta 1e-5 --status
  gpnn-answer --new-ledger ledger
  assert_equal "$(gpnn-answer --ledger ledger --delta 1e-5 --status | head -n 1)" "$(printf 'releases\t0')"
  assert_fails 1 'ledger exists already' gpnn-answer --new-ledger ledger
  assert_fails 2 'and does nothing else' gpnn-answer --new-ledger l --ledger ledger
  assert_fails 2 'answers nothing' gpnn-answer --new-ledger l b.gpi
  [[ ! -e l ]]
}

@test "a ledger that was changed, cut or emptied is refused until it is repaired" {
  make_answerer
  renew ledger
  ledger=ledger
  hide -q -o 1.tsv
  cp ledger old
  hide -q -o 2.tsv
  assert_equal "$(sed -n 's/^# ledger: release //p' 1.tsv 2.tsv)" "$(sed '1,2d;$d' ledger | awk '{ print $1, $NF }')"
  assert_equal "$(sed -n 4p ledger | cut -f 12)" "$(head -n 4 ledger | head -c -17 | sha256sum | cut -c 1-16)"
  cp ledger whole
  options=(-q -p b.par --epsilon 1 --delta 1e-5 --clip "-6,6" --ledger ledger)
  refused() {
    assert_fails 1 "$1" gpnn-answer "${options[@]}" b.gpi pool.tsv
    assert_fails 1 'see REPAIR in gpnn-ledger' gpnn-answer --ledger ledger --delta 1e-5 --status
  }
  sed -i '3s/\t3\t/\t2\t/' ledger
  refused 'ledger:3: check is not that of what stands before it'
  sed 4d whole >ledger
  refused 'ledger:4: does not count the releases before it'
  head -n 3 whole >ledger
  refused 'ledger:4: the count of releases is missing'
  cp old ledger
  hide -q -o again.tsv # a copy that was put back shows to whoever has both answers
  run diff <(grep '^# ledger: release 2 ' 2.tsv) <(grep '^# ledger: release 2 ' again.tsv)
  assert_equal "$status" 1
  head -c -30 whole >ledger
  refused 'ledger:4: the last line has no end'
  { head -n 3 ledger && echo '# releases 1'; } >repaired && mv repaired ledger
  hide -q >/dev/null
  head -c 20 whole >ledger
  refused 'ledger: is empty or was cut short'
  : >ledger
  refused 'ledger: is empty or was cut short'
  cp whole ledger
  hide -q >/dev/null
}

@test "a delta that gives a row away is refused unless it is forced" {
  make_answerer
  renew ledger
  options=(-q -p b.par --ids asked.tsv --epsilon 1 --clip "-6,6" --ledger ledger)
  assert_fails 2 'a delta of 0.5 is kept by giving away one of 54 rows' gpnn-answer "${options[@]}" --delta 0.5 b.gpi pool.tsv
  assert_fails 2 'one of 54 rows: take one well below 0.019, or --force' gpnn-answer "${options[@]}" --delta 1e-5 --budget 3,0.02 b.gpi pool.tsv
  assert_equal "$(tail -n 1 ledger)" '# releases 0'
  gpnn-answer "${options[@]}" --delta 0.5 --force b.gpi pool.tsv | grep -q '^# delta: 0.5$'
}


@test "half of what noise needs is refused" {
  make_answerer
  refused() { assert_fails 2 "$1" gpnn-answer -p b.par --ids asked.tsv "${@:2}" b.gpi pool.tsv; }
  refused 'give their ledger by --ledger' --epsilon 1 --delta 1e-5 --clip -6,6
  refused 'needs --delta' --epsilon 1 --clip -6,6
  refused 'needs --clip' --epsilon 1 --delta 1e-5
  refused 'either by --epsilon or by --noise-factor' --mechanism shaped --delta 1e-5 --clip -6,6
  refused 'either by --epsilon or by --noise-factor' --epsilon 1 --noise-factor 1 --delta 1e-5 --clip -6,6
  refused "option --clip: the lowest and the highest response, LO,HI, not \"6,-6\"" --epsilon 1 --delta 1e-5 --clip 6,-6
  refused "option --budget: an epsilon above 0" --epsilon 1 --delta 1e-5 --clip -6,6 --ledger l --budget 2,1
  refused '\-\-ledger is for answers with noise' --ledger l
  refused 'epsilon' --epsilon 0 --delta 1e-5 --clip -6,6
  refused 'delta' --epsilon 1 --delta 1 --clip -6,6
  refused 'delta' --epsilon 1 --delta 1e-299 --clip -6,6
  refused "option --budget: an epsilon above 0" --epsilon 1 --delta 1e-5 --clip -6,6 --ledger l --budget 2,1e-299
  assert_fails 2 'an operand is missing' gpnn-answer -p b.par
  assert_fails 2 'give it by --ledger' gpnn-answer --status
  assert_fails 2 'give --delta or --budget' gpnn-answer --status --ledger l
  gpnn-sparse -q --inducing 10 -o b.gpm b.gpi
  assert_fails 2 'a model file has no training rows' gpnn-answer --ids asked.tsv --epsilon 1 --delta 1e-5 --clip -6,6 --ledger l b.gpm pool.tsv
}
