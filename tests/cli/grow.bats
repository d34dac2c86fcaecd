#!/usr/bin/env bats
# An index that grows: rows are added and forgotten, and parameters stay what they are.

load helper

# make_parts: first.tsv and more.tsv, two parts of all.tsv; t.par.
make_parts() {
  make_table 300 2 >all.tsv
  head -n 201 all.tsv >first.tsv
  { head -n 1 all.tsv && tail -n +202 all.tsv; } >more.tsv
  make_table 30 2 300 >test.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
}

# Scaling that does not depend on rows.
fixed=(-q --standardise none "--target-scale=1,2")

@test "with the same scaling an index that grows is one made anew" {
  make_parts
  gpnn-index "${fixed[@]}" --calibration-rows 0 -o first.gpi first.tsv
  gpnn-index "${fixed[@]}" --calibration-rows 0 -o all.gpi all.tsv
  gpnn-index -q --add more.tsv -o grown.gpi first.gpi
  assert_equal "$(gpnn-info grown.gpi | value fingerprint)" "$(gpnn-info all.gpi | value fingerprint)"
  assert_equal "$(gpnn-info --verify grown.gpi | value verified)" yes
  gpnn-predict -p t.par grown.gpi test.tsv | cmp - <(gpnn-predict -p t.par all.gpi test.tsv)
  gpnn-index -q --forget 100 -o last.gpi grown.gpi
  { head -n 1 all.tsv && tail -n +102 all.tsv; } | gpnn-index "${fixed[@]}" --calibration-rows 0 -o rest.gpi -
  assert_equal "$(gpnn-info last.gpi | value fingerprint)" "$(gpnn-info rest.gpi | value fingerprint)"
}

@test "with the same calibration rows predictions are those of an index made anew" {
  make_parts
  gpnn-index "${fixed[@]}" -o first.gpi first.tsv
  gpnn-index -q --add more.tsv -o grown.gpi first.gpi
  assert_equal "$(gpnn-info grown.gpi | value calibration-rows)" 30
  gpnn-predict --loo -p t.par grown.gpi >loo.tsv
  # The column row says which rows of both tables train.
  awk -F '\t' 'NR == FNR { trains[$1 + 1] = 1; next } FNR == 1 || trains[FNR]' <(tail -n +2 loo.tsv) all.tsv >trained.tsv
  (($(wc -l <trained.tsv) == 271))
  gpnn-index "${fixed[@]}" --calibration-rows 0 -o trained.gpi trained.tsv
  gpnn-predict -p t.par grown.gpi test.tsv | cmp - <(gpnn-predict -p t.par trained.gpi test.tsv)
  gpnn-index -q --add more.tsv -j 1 -o again.gpi first.gpi
  cmp again.gpi grown.gpi
}

@test "parameters stay usable, in a model too, and what belongs to rows does not" {
  make_parts
  gpnn-index -q -o first.gpi first.tsv
  gpnn-fit -q --effort fast first.gpi | gpnn-calibrate -q first.gpi >first.cal
  gpnn-index --pack first.cal -o house.gpm first.gpi
  gpnn-index -q --add more.tsv -o grown.gpi first.gpi
  gpnn-predict -p first.cal grown.gpi test.tsv >p.tsv 2>err.txt
  [[ ! -s err.txt ]]
  gpnn-index -q --add more.tsv -o house.gpm house.gpm
  gpnn-predict house.gpm test.tsv 2>&1 | cmp - p.tsv
  gpnn-info --unpack house.gpm | cmp - first.cal
  gpnn-fit -q --start first.cal grown.gpi >grown.fit
  assert_equal "$(value index grown.fit)" "$(gpnn-info grown.gpi | value fingerprint)"
  gpnn-index -q -o anew.gpi all.tsv
  assert_fails 1 'index of other columns, or of other scaling' gpnn-predict -p first.cal anew.gpi test.tsv
  { head -n 1 first.tsv && awk 'NR > 1 { $3 = int(NR % 4 + $1); print }' OFS='\t' first.tsv; } >counts.tsv
  gpnn-index -q -o counts.gpi counts.tsv
  gpnn-fit -q --effort fast --likelihood poisson -o counts.par counts.gpi
  gpnn-index --pack counts.par -o counts.gpm counts.gpi
  awk 'NR == 1 || $3 = int(NR % 5)' OFS='\t' more.tsv >later.tsv
  assert_fails 1 'counts.gpm: its parameters have numbers for each of its rows' gpnn-index --add later.tsv -o counts.gpm counts.gpm
  gpnn-index --add later.tsv -o bare.gpi counts.gpm 2>&1 | grep -q 'counts.gpm: parameters are left out, as they have numbers for each row'
  gpnn-index -q --add later.tsv -o later.gpi counts.gpi
  cmp later.gpi bare.gpi
  assert_fails 1 'pseudo-targets are those of another index' gpnn-predict -p counts.par later.gpi test.tsv
}

@test "what is told: rows, drift, levels that are new, and rows that are there already" {
  make_parts
  awk 'NR == 1 { print "k\t" $0; next } { print (NR % 3 ? "u" : "g") "\t" $0 }' first.tsv >a.tsv
  awk 'NR == 1 { print "k\t" $0; next } { print (NR % 10 ? "u" : "new") "\t" $1 + 0.5 "\t" $2 "\t" $3 }' more.tsv >b.tsv
  gpnn-index -q --one-hot k -o a.gpi a.tsv
  gpnn-index --add b.tsv -o b.gpi a.gpi 2>err.txt
  grep -q "^gpnn-index: a.gpi: 100 rows added, 0 forgotten: 270 rows and 30 held out; means have moved by .* sd in the target, and most, by +1.*, in input 'x1'$" err.txt
  grep -q '^gpnn-index: b.tsv: 10 of 100 rows have levels that training has not seen, which share the place of all unknown ones' err.txt
  (($(wc -l <err.txt) == 2))
  gpnn-index -q --json --add b.tsv -o b.gpi a.gpi 2>b.json
  assert_equal "$(json b.json | sed -n 's/^added-rows\t//p')" 100
  assert_fails 1 'b.tsv: [0-9]* of the first 100 rows are training rows of the index already: was it added before' \
    gpnn-index --add b.tsv -o c.gpi b.gpi
  { cat b.tsv && tail -n 20 a.tsv; } >some.tsv
  gpnn-index --add some.tsv -o some.gpi a.gpi 2>&1 | grep -q 'some.tsv: .* are training rows of the index already$'
}

@test "dates and numbers are forgotten by value" {
  awk 'BEGIN { srand(1); print "day\tx\ty"; for (i = 0; i < 120; i++) printf "2024-%02d-%02d\t%.4f\t%.4f\n", i / 28 + 1, i % 28 + 1, rand(), rand() + i / 60 }' >t.tsv
  gpnn-index -q --date day -o t.gpi t.tsv
  gpnn-index --forget 'day<2024-03-01' -o late.gpi t.gpi 2>&1 | grep -q ' 56 forgotten: '
  gpnn-index --forget 'x<0.5' -o high.gpi t.gpi 2>&1 | grep -q " $(awk 'NR > 1 && $2 < 0.5' t.tsv | wc -l) forgotten: "
  assert_fails 2 'option --forget: "yesterday" is not a date' gpnn-index --forget 'day<yesterday' -o x.gpi t.gpi
  assert_fails 2 "option --forget: no input 'y' that is a number" gpnn-index --forget 'y<1' -o x.gpi t.gpi
  assert_fails 2 'option --forget: a number of rows, or COL<VALUE, not "some"' gpnn-index --forget some -o x.gpi t.gpi
  assert_fails 1 'too few to train on' gpnn-index --forget 119 -o x.gpi t.gpi
}

@test "tables that do not fit are refused, and the index stays" {
  make_parts
  gpnn-index -q -o t.gpi first.tsv
  cut -f 1,3 more.tsv >narrow.tsv
  assert_fails 1 "narrow.tsv: lacks 1 of 2 input columns: 'x2'" gpnn-index --add narrow.tsv -o t.gpi t.gpi
  cut -f 1,2 more.tsv >blind.tsv
  assert_fails 1 "blind.tsv: no column 'y', a target" gpnn-index --add blind.tsv -o t.gpi t.gpi
  head -n 1 more.tsv >none.tsv
  assert_fails 1 'none.tsv: no rows to add' gpnn-index --add none.tsv -o t.gpi t.gpi
  sed '5s/[.]/,/' more.tsv >comma.tsv
  assert_fails 1 'comma.tsv:5: column .*not a number' gpnn-index --add comma.tsv -o t.gpi t.gpi
  gpnn-index --skip-bad --add comma.tsv -o s.gpi t.gpi 2>&1 | grep -q 'comma.tsv: 1 of 100 rows left out'
  { cat more.tsv && printf '0.5\t0.2'; } >torn.tsv
  assert_fails 1 'torn.tsv:[0-9]*: ' gpnn-index --add torn.tsv -o t.gpi t.gpi
  head -c -3 more.tsv >torn.tsv
  gpnn-index -q --add torn.tsv -o s.gpi t.gpi
  gpnn-index --add torn.tsv -o s.gpi t.gpi 2>&1 | grep -q 'the last line has no end'
  assert_fails 1 'first.tsv is a table, not an index' gpnn-index --add more.tsv -o x.gpi first.tsv
  assert_fails 2 'does not apply' gpnn-index --add more.tsv -y y -o x.gpi t.gpi
  assert_fails 2 'applies to a table' gpnn-index --forget 3 --decimal , -o x.gpi t.gpi
  assert_fails 2 'keeps the metric' gpnn-index --add more.tsv --metric t.par -o x.gpi t.gpi
}

# make_shops FROM TO ROWS SEED: rows of shops numbered so, which differ.
make_shops() {
  awk -v a="$1" -v b="$2" -v n="$3" -v s="$4" 'BEGIN {
    srand(7); for (k = 0; k < 100; k++) e[k] = 4 * rand()
    srand(s); OFS = "\t"; print "shop", "x", "y"
    for (i = 0; i < n; i++) { k = int(a + (b - a) * rand()); x = rand(); print "s" k, x, e[k] + sin(6 * x) + 0.1 * rand() } }'
}

@test "coded columns and groups with effects get levels that are new" {
  make_shops 0 40 2000 1 >old.tsv
  make_shops 30 50 600 2 >more.tsv
  make_shops 40 50 200 3 >test.tsv
  gpnn-index -q --coded shop -o old.gpi old.tsv
  gpnn-fit -q --effort fast old.gpi | gpnn-calibrate -q old.gpi >old.cal
  gpnn-index --json --add more.tsv -o new.gpi old.gpi 2>new.json
  grep -q '"new-levels": *10,' new.json
  grep -q '"unseen-level-rows": *0,' new.json
  assert_equal "$(gpnn-info --verify new.gpi | value verified)" yes
  gpnn-predict -p old.cal new.gpi test.tsv 2>err.txt | gpnn-eval >new.txt
  [[ ! -s err.txt ]]
  gpnn-predict -q -p old.cal old.gpi test.tsv | gpnn-eval >old.txt
  awk '$1 == "rmse" { r[FILENAME] = $2 } END { exit !(r["new.txt"] < 0.25 && r["old.txt"] > 3 * r["new.txt"]) }' old.txt new.txt
  # What came later is kept when more comes, and in what is made of the index.
  gpnn-index -q --forget 100 -o newer.gpi new.gpi
  gpnn-predict -p old.cal newer.gpi test.tsv 2>err.txt >/dev/null
  gpnn-index -q --metric old.cal -o metric.gpi newer.gpi
  gpnn-predict -p old.cal metric.gpi test.tsv 2>>err.txt >/dev/null
  gpnn-sparse -q --inducing 8 -o sparse.gpm new.gpi
  gpnn-predict sparse.gpm test.tsv 2>>err.txt >/dev/null
  [[ ! -s err.txt ]]
  gpnn-index -q --coded shop --missing drop --standardise whiten -o w.gpi old.tsv
  gpnn-index -q --json --add more.tsv -o w.gpi w.gpi 2>&1 | grep -q '"new-levels": *10,'
  awk 'NR == 1 || NR % 2 { print; next } { print $1 "\tbad\t" $3 }' OFS='\t' more.tsv | sed 's/^s4.\tbad/sx&/' >bad.tsv
  gpnn-index -q --json --skip-bad=all --add bad.tsv -o new.gpi old.gpi 2>&1 | grep -q '"new-levels": *10,'
  gpnn-index -q --group-effect shop -o effect.gpi old.tsv
  gpnn-index -q --add more.tsv -o effect.gpi effect.gpi
  gpnn-fit -q --effort fast -o effect.par effect.gpi
  gpnn-predict -p effect.par effect.gpi test.tsv 2>err.txt | gpnn-eval | awk '$1 == "rmse" { exit !($2 < 0.1) }'
  [[ ! -s err.txt ]]
  gpnn-info --effects effect.par effect.gpi | grep -q '^shop.s49'
}

# copied FILE: tells of the rows of FILE, of which the numbers in held.txt are held out, how many sets of equal rows are divided.
copied() {
  awk 'NR == FNR { held[$1]; next } FNR > 1 { n[$0]++; h[$0] += FNR - 1 in held }
    END { for (k in n) bad += h[k] > 0 && h[k] < n[k]; print bad + 0 }' held.txt "$1"
}

@test "copies stay together, in both parts and across them" {
  make_parts
  { cat first.tsv && tail -n +2 first.tsv | head -n 120; } >old.tsv
  { cat more.tsv && tail -n 30 more.tsv && tail -n 40 first.tsv; } >new.tsv
  { cat old.tsv && tail -n +2 new.tsv; } >both.tsv
  gpnn-index "${fixed[@]}" -o old.gpi old.tsv
  gpnn-index -q --add new.tsv -o grown.gpi old.gpi
  assert_equal "$(gpnn-info --verify grown.gpi | value verified)" yes
  gpnn-predict --loo -p t.par grown.gpi >loo.tsv
  seq 490 | grep -vxF -f <(cut -f 1 loo.tsv) >held.txt
  (($(wc -l <held.txt) >= 45 && $(wc -l <held.txt) <= 53))
  assert_equal "$(copied both.tsv)" 0
  awk -F '\t' 'NR == FNR { trains[$1 + 1] = 1; next } FNR == 1 || trains[FNR]' <(tail -n +2 loo.tsv) both.tsv >trained.tsv
  gpnn-index "${fixed[@]}" --calibration-rows 0 -o trained.gpi trained.tsv
  gpnn-predict -p t.par grown.gpi test.tsv | cmp - <(gpnn-predict -p t.par trained.gpi test.tsv)
  gpnn-predict --loo -p t.par trained.gpi | cut -f 2- | cmp - <(cut -f 2- loo.tsv)
  gpnn-index -q --forget 200 -o late.gpi grown.gpi
  assert_equal "$(gpnn-info --verify late.gpi | value verified)" yes
  gpnn-predict --loo -p t.par late.gpi >loo.tsv
  seq 290 | grep -vxF -f <(cut -f 1 loo.tsv) >held.txt
  { head -n 1 both.tsv && tail -n 290 both.tsv; } >left.tsv
  assert_equal "$(copied left.tsv)" 0
}

# by_column FILE: tells of the rows of FILE, as above, how many groups by the last column are divided.
by_column() {
  awk -F '\t' 'NR == FNR { held[$1]; next } FNR > 1 { n[$NF]++; h[$NF] += FNR - 1 in held }
    END { for (k in n) bad += h[k] > 0 && h[k] < n[k]; print bad + 0 }' held.txt "$1"
}

@test "groups of rows stay together, old ones and new ones" {
  make_parts
  awk 'NR == 1 { print $0 "\tg"; next } { print $0 "\tg" NR % 40 }' first.tsv >old.tsv
  awk 'NR == 1 { print "g\t" $0; next } { print (NR % 3 ? "g" NR % 40 : "h" NR % 20) "\t" $0 }' more.tsv >new.tsv
  { cat old.tsv && tail -n +2 new.tsv | awk -F '\t' -v OFS='\t' '{ print $2, $3, $4, $1 }'; } >both.tsv
  gpnn-index "${fixed[@]}" -y y --by g -o old.gpi old.tsv
  gpnn-fit -q --effort fast -o old.par old.gpi
  gpnn-index -q --add new.tsv -o grown.gpi old.gpi
  assert_equal "$(gpnn-info --verify grown.gpi | value verified)" yes
  gpnn-predict -p old.par grown.gpi test.tsv 2>err.txt >/dev/null
  [[ ! -s err.txt ]]
  gpnn-predict --loo -p t.par grown.gpi >loo.tsv
  seq 300 | grep -vxF -f <(cut -f 1 loo.tsv) >held.txt
  (($(wc -l <held.txt) >= 20 && $(wc -l <held.txt) <= 45))
  assert_equal "$(by_column both.tsv)" 0
  awk -F '\t' 'NR == FNR { trains[$1 + 1] = 1; next } FNR == 1 || trains[FNR]' <(tail -n +2 loo.tsv) both.tsv >trained.tsv
  gpnn-index "${fixed[@]}" -y y --by g --calibration-rows 0 -o trained.gpi trained.tsv
  gpnn-predict -p t.par grown.gpi test.tsv | cmp - <(gpnn-predict -p t.par trained.gpi test.tsv)
  gpnn-predict --loo -p t.par trained.gpi | cut -f 2- | cmp - <(cut -f 2- loo.tsv)
  # It goes on to grow, and to forget.
  make_table 60 2 700 | awk 'NR == 1 { print $0 "\tg"; next } { print $0 "\tg" NR % 50 }' >later.tsv
  gpnn-index -q --forget 150 --add later.tsv -o later.gpi grown.gpi
  assert_equal "$(gpnn-info --verify later.gpi | value verified)" yes
  { head -n 1 both.tsv && tail -n 150 both.tsv && tail -n +2 later.tsv; } >left.tsv
  gpnn-predict --loo -p t.par later.gpi >loo.tsv
  seq 210 | grep -vxF -f <(cut -f 1 loo.tsv) >held.txt
  assert_equal "$(by_column left.tsv)" 0
  cut -f 2- new.tsv >bare.tsv
  assert_fails 1 "bare.tsv: lacks 1 of 1 group column: 'g'" gpnn-index --add bare.tsv -o x.gpi old.gpi
  sed '4s/^[^\t]*//' new.tsv >empty.tsv
  assert_fails 1 "empty.tsv:4: column 'g': missing value" gpnn-index --add empty.tsv -o x.gpi old.gpi
}

@test "an index that cannot grow says why" {
  make_parts
  cp "$GPNN_ROOT/tests/data/formats/index.gpi" early.gpi
  assert_fails 1 'early.gpi: it does not say which groups its rows are of [(]--by[)]: make it anew' gpnn-index --add more.tsv -o x.gpi early.gpi
  { cat first.tsv && tail -n 100 first.tsv; } | awk '{ print $0 "\t" (NR == 1 ? "k" : "k" int(100 * $1)) }' >coded.tsv
  gpnn-index -q -y y --coded k -o coded.gpi coded.tsv
  assert_fails 1 'coded.gpi: its rows have copies, which are not known by coded columns' gpnn-index --add coded.tsv -o x.gpi coded.gpi
  gpnn-index -q -o t.gpi first.tsv
  gpnn-sparse -q --inducing 8 -o s.gpm t.gpi
  assert_fails 1 's.gpm: a model file has no training rows' gpnn-index --add more.tsv -o x.gpi s.gpm
  awk 'NR == 1 { print "a\tb\tk"; next } { print $1 "\t" $2 "\t" (NR % 3 ? "in" : "out") }' first.tsv >c.tsv
  awk 'NR == 1 { print "a\tb\tk"; next } { print $1 "\t" $2 "\t" (NR == 9 ? "else" : "in") }' more.tsv >d.tsv
  gpnn-index -q -o c.gpi c.tsv
  assert_fails 1 "d.tsv:9: column 'k': a class that the index does not have: \"else\"" gpnn-index --add d.tsv -o x.gpi c.gpi
}

@test "a search under another metric and seen by scores stays" {
  make_parts
  sed 's/^lengthscale.*/input-scores\tonly\tboth\nlengthscale\t0.2\t3\t1/' t.par >ard.par
  gpnn-index -q -o t.gpi first.tsv
  gpnn-index -q --metric ard.par -o t.gpi t.gpi
  gpnn-index -q --add more.tsv -o grown.gpi t.gpi
  assert_equal "$(gpnn-info grown.gpi | value metric)" "$(gpnn-info t.gpi | value metric)"
  gpnn-predict -p ard.par grown.gpi test.tsv >p.tsv
  assert_equal "$(wc -l <p.tsv)" 31
}
