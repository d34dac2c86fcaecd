#!/usr/bin/env bats
# Ids of rows (gpnn-index --id): kept beside the rows, and shown where these are named.

load helper

# make_named: train.tsv, more.tsv and test.tsv, whose first column, "who is it", has ids; t.par.
make_named() {
  make_table 260 2 | awk -F '\t' -v OFS='\t' '{ print NR == 1 ? "who is it" : "no. " NR - 1, $0 }' >all.tsv
  head -n 201 all.tsv >train.tsv
  { head -n 1 all.tsv && sed -n '202,241p' all.tsv; } >more.tsv
  { head -n 1 all.tsv && sed -n '242,261p' all.tsv; } | cut -f 2- >test.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
}

# ids_are_those_of INDEX [FIRST]: each source has the id of its row in all.tsv, FIRST - 1 rows further on, and its target.
ids_are_those_of() {
  gpnn-explain rows -q -p t.par "$1" test.tsv >rows.tsv
  awk -F '\t' -v first="${2-1}" '
    FNR == 1 { for (i = 1; i <= NF; i++) at[FILENAME, $i] = i; next }
    NR == FNR { target[$at[FILENAME, "who is it"]] = $at[FILENAME, "y"]; next }
    $2 == "row" {
      n++
      id = $at[FILENAME, "id"]
      d = target[id] - $at[FILENAME, "target"]
      if (id != "no. " $at[FILENAME, "training"] + first - 1 || !(id in target) || d * d > 1e-20) bad = 1
    }
    $2 != "row" && $at[FILENAME, "id"] != "NA" { bad = 1 }
    END { exit bad || n < 100 }' all.tsv rows.tsv
}

@test "ids name the rows behind a prediction, and change nothing else" {
  make_named
  gpnn-index -q --id 'who is it' -o id.gpi train.tsv
  gpnn-index -q --drop 'who is it' -o no.gpi train.tsv
  assert_equal "$(gpnn-info id.gpi | value id) $(gpnn-info --verify id.gpi | value verified)" 'who is it yes'
  assert_equal "$(gpnn-info id.gpi | value fingerprint)" "$(gpnn-info no.gpi | value fingerprint)"
  gpnn-predict -p t.par id.gpi test.tsv | cmp - <(gpnn-predict -p t.par no.gpi test.tsv)
  ids_are_those_of id.gpi
  cut -f 1-4,6- rows.tsv | cmp - <(gpnn-explain rows -q -p t.par no.gpi test.tsv)
  gpnn-explain rows -q --json --top 1 -p t.par id.gpi test.tsv | grep -q '"training": [0-9]*, "id": "no. [0-9]*"'
  gpnn-explain rows -q --loo -p t.par id.gpi | sed -n 1p | cut -f 4,5 | cmp - <(printf 'training\tid\n')
  gpnn-index -q -j 3 --id 1 -o again.gpi train.tsv
  cmp again.gpi id.gpi
}

@test "ids stay with their rows: packed, under another metric, grown and forgotten" {
  make_named
  gpnn-index -q --id 'who is it' -o id.gpi train.tsv
  gpnn-index -q --metric t.par -o metric.gpi id.gpi
  ids_are_those_of metric.gpi
  gpnn-index -q --pack t.par -o packed.gpi id.gpi
  gpnn-index -q --add more.tsv -o grown.gpi packed.gpi
  assert_equal "$(gpnn-info --verify grown.gpi | value verified)" yes
  ids_are_those_of grown.gpi
  gpnn-index -q --forget 50 -o less.gpi grown.gpi
  ids_are_those_of less.gpi 51
  gpnn-index -q --forget 50 --add more.tsv -o both.gpi id.gpi
  ids_are_those_of both.gpi 51
  assert_fails 1 "^test.tsv: no column 'who is it', the ids of rows" gpnn-index --add test.tsv -o x.gpi id.gpi
  awk -F '\t' -v OFS='\t' 'NR == 5 { $1 = "" } 1' more.tsv >lacks.tsv
  assert_fails 1 "^lacks.tsv:5: column 'who is it': missing value" gpnn-index --add lacks.tsv -o x.gpi id.gpi
  gpnn-index -q --add lacks.tsv --skip-bad -o x.gpi id.gpi
  assert_equal "$(gpnn-info --verify x.gpi | value verified)" yes
  # What sits beside an index without ids.
  gpnn-index -q --drop 'who is it' -o no.gpi train.tsv
  gpnn-index -q --add more.tsv -o no.gpi no.gpi
  assert_equal "$(gpnn-info no.gpi | value id)" ''
}

@test "rows that are left out take their ids along" {
  make_named
  { cat train.tsv && sed -n '2,40p' train.tsv; } | awk -F '\t' -v OFS='\t' 'NR % 9 == 4 { $2 = "?" } 1' >odd.tsv
  gpnn-index -q --id 'who is it' --unique --skip-bad -o odd.gpi odd.tsv
  gpnn-explain rows -q -p t.par odd.gpi test.tsv | awk -F '\t' '$2 == "row" { print $5 "\t" $8 }' | sort -u >found
  awk -F '\t' 'NR > 1 { print $1 "\t" $4 }' train.tsv | sort >there
  assert_equal "$(join -t $'\t' found there | awk -F '\t' '{ d = $2 - $3 } d * d > 1e-20' | wc -l)" 0
  assert_equal "$(join -t $'\t' found there | wc -l)" "$(wc -l <found)"
}

@test "ids of rows of several targets, in JSON Lines, of any text" {
  make_named
  awk -F '\t' 'NR == 1 { next }
    { printf "{\"key\": %s, \"x1\": %s, \"x2\": %s, \"y\": %s, \"z\": %s}\n", NR % 2 ? "\"<b>\\\"\\t" NR "\"" : "1234567890123456" 1000 + NR, $2, $3,
        $4, NR % 3 ? "null" : $2 }' train.tsv >t.jsonl
  gpnn-index -q -y y,z --id key -o two.gpi t.jsonl
  gpnn-explain rows -q --targets z --top 3 -p <(printf 'target\tz\n' | cat - t.par) two.gpi test.tsv >rows.tsv
  # Numbers are texts as they are written, and rows those that have the target.
  awk -F '\t' '$2 == "row" && $4 % 3 != 2 { bad = 1 } END { exit bad }' rows.tsv
  cut -f 5 rows.tsv | grep -qE '^1234567890123456[0-9]+$'
  cut -f 5 rows.tsv | grep -q '<b>'
}

@test "the page names rows by their ids" {
  make_named
  gpnn -q --effort fast --id 'who is it' --report page.html train.tsv more.tsv >p.tsv
  grep -q '<th scope="col">who is it' page.html
  grep -q '<td class="from">no. [0-9]*: ' page.html
  grep -q '<td>no. 2[0-4][0-9]' page.html
}

@test "what cannot be an id is refused" {
  make_named
  assert_fails 2 "column 'y' has another role, so rows cannot be known by it" gpnn-index --id y -o t.gpi train.tsv
  assert_fails 2 "column 'x1' is both id and input" gpnn-index --id x1 -x x1,x2 -o t.gpi train.tsv
  assert_fails 2 "no column 'name'" gpnn-index --id name -o t.gpi train.tsv
  assert_fails 2 'keeps all that an index was made with, so --id does not apply' gpnn-index --add more.tsv --id 1 -o x.gpi t.gpi
  awk -F '\t' -v OFS='\t' 'NR == 7 { $1 = "" } 1' train.tsv >lacks.tsv
  assert_fails 1 "^lacks.tsv:7: column 'who is it': missing value" gpnn-index --id 1 -o t.gpi lacks.tsv
  gpnn-index -q --id 1 --by 1 -o both.gpi train.tsv
  assert_equal "$(gpnn-info both.gpi | value id) $(gpnn-info both.gpi | value by)" 'who is it who is it'
}
