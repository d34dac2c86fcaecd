#!/usr/bin/env bats
# Tables of JSON Lines.
load helper

# to_json: a tab-separated table as JSON Lines: numbers as they are, other texts in quotes, and what is
# empty or NA as null.
to_json() {
  awk -F '\t' '
    NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
    {
      for (i = 1; i <= NF; i++) {
        value = $i
        if (value == "" || value == "NA") value = "null"
        else if (value !~ /^-?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?$/) { gsub(/["\\]/, "\\\\&", value); value = "\"" value "\"" }
        printf "%s\"%s\":%s", i == 1 ? "{" : ", ", name[i], value
      }
      print "}"
    }'
}

# make_both NAME ROWS FIRST: NAME.tsv, with a category, missing cells and an unneeded column, and
# NAME.jsonl, which is the same.
make_both() {
  make_table "$2" 2 "$3" | awk -F '\t' -v OFS='\t' '
    NR == 1 { print "x1", "x2", "kind", "note", "y"; next }
    { print NR % 9 ? $1 : "", $2, NR % 2 ? "in town" : "far", "n, " NR, $3 }' >"$1.tsv"
  to_json <"$1.tsv" >"$1.jsonl"
}

@test "each tool makes of JSON Lines what it makes of the same table as text" {
  make_both train 150 0
  make_both test 40 150
  for table in tsv jsonl; do
    gpnn-index -q --drop note --one-hot kind -y y -o $table.gpi train.$table
  done
  cmp tsv.gpi jsonl.gpi
  gpnn-index -q --drop note --one-hot kind -y y -o jsonl.gpi - <train.jsonl
  cmp tsv.gpi jsonl.gpi
  gzip -c train.jsonl | gpnn-index -q --drop note --one-hot kind -y y -o jsonl.gpi -
  cmp tsv.gpi jsonl.gpi
  make_parameters matern32 0.5 1 0.04 10 >t.par
  for table in tsv jsonl; do
    gpnn-predict tsv.gpi -p t.par test.$table >$table.out
    gpnn-predict --append --interval 0.9 tsv.gpi -p t.par test.$table >$table.more
    gpnn-predict --keep kind,note tsv.gpi -p t.par test.$table >$table.kept
    gpnn-calibrate -q --skip-bad --with test.$table -p t.par tsv.gpi >$table.cal
    gpnn-split -q -f 1:1 --by kind -o $table.a -o $table.b test.$table
    gpnn-split -q -k 3 -o "$table.%d" test.$table
  done
  for what in out more kept cal a b 1 2 3; do cmp tsv.$what jsonl.$what; done
  gpnn-predict -q --unbuffered tsv.gpi -p t.par - <test.jsonl | cmp - tsv.out
  to_json <tsv.out | gpnn-eval - | cmp - <(gpnn-eval tsv.out)
}

@test "gpnn learns and predicts from JSON Lines" {
  make_both train 150 0
  make_both test 40 150
  for table in tsv jsonl; do
    gpnn -q --effort fast -y y --drop note train.$table test.$table >$table.out
  done
  cmp tsv.out jsonl.out
}

@test "members may come in any order, lack, and be nested" {
  make_table 100 3 >t.tsv
  sed '1s/.*/a\tb.c\tb.d\ty/' t.tsv >flat.tsv
  awk -F '\t' 'NR > 1 {
    print NR % 2 ? "{\"y\":" $4 ",\"b\":{\"d\":" $3 ",\"c\":" $2 "},\"a\":" $1 "}" \
                 : "{\"a\":" $1 ",\"b\":{\"c\":" $2 ",\"d\":" $3 "},\"y\":" $4 "}" }' t.tsv >t.jsonl
  gpnn-index -q -y y -o flat.gpi flat.tsv
  gpnn-index -q -y y -o t.gpi t.jsonl
  cmp flat.gpi t.gpi
  make_parameters matern32 0.5 1 0.04 10 >t.par
  printf 'a\tb.c\tb.d\n0.5\tNA\tNA\nNA\t0.5\t1\n' >few.tsv
  printf '{"a":0.5,"b":{"d":null,"c":null}}\n{"b":{"c":0.5,"d":true}}\n' >few.jsonl
  gpnn-predict -q t.gpi -p t.par few.jsonl | cmp - <(gpnn-predict -q t.gpi -p t.par few.tsv)
  printf '{"a":0.5,"b":{"d":2,"c":1}}\n{"a":0.5,"b":null}\n' >few.jsonl
  printf 'a\tb.c\tb.d\n0.5\t1\t2\n0.5\t\t\n' >few.tsv
  gpnn-predict -q t.gpi -p t.par few.jsonl | cmp - <(gpnn-predict -q t.gpi -p t.par few.tsv)
}

@test "names and texts are Unicode, escaped or not" {
  make_table 60 2 >t.tsv
  sed '1s/.*/höhe\t幅 😀\ty/' t.tsv >named.tsv
  to_json <named.tsv >t.jsonl
  sed 's/ö/\\u00f6/; s/😀/\\ud83d\\uDE00/' t.jsonl >escaped.jsonl
  run ! grep -q '[ö😀]' escaped.jsonl
  for table in named.tsv t.jsonl escaped.jsonl; do
    gpnn-index -q -y y -x 'höhe,幅 😀' -o $table.gpi $table
    cmp named.tsv.gpi $table.gpi
  done
  printf '{"t":"a, \\"b\\"\\tc\\nd","é":1}\n{"t":"","é":2}\n' >t.jsonl
  gpnn-split -q --last 0.5 -o a.csv -o b.csv -d , t.jsonl
  assert_equal "$(cat a.csv b.csv)" $'t,é\n"a, ""b""\tc\nd",1\nt,é\n,2'
}

@test "blank lines, comments, CR and a last line without end do no harm" {
  make_table 60 2 >t.tsv
  gpnn-index -q -o t.gpi t.tsv
  to_json <t.tsv >t.jsonl
  { printf '\xef\xbb\xbf\n' && sed 's/$/\r/; 7i\\' t.jsonl | head -c -2; } >odd.jsonl
  gpnn-index -o odd.gpi odd.jsonl 2>err
  assert_equal "$(warnings err)" ''
  cmp t.gpi odd.gpi
  { echo '# log' && sed '3i# middle' t.jsonl; } >odd.jsonl
  gpnn-index -q --comment '#' -o odd.gpi odd.jsonl
  gpnn-index -q -o same.gpi --comment '#' t.tsv
  cmp same.gpi odd.gpi
  { echo start && cat t.jsonl; } >odd.jsonl
  gpnn-index -q --skip-lines 1 -o odd.gpi odd.jsonl # which remembers the line
  assert_equal "$(gpnn-info odd.gpi | value fingerprint)" "$(gpnn-info t.gpi | value fingerprint)"
}

@test "names that are numbers are names" {
  make_table 60 2 | sed '1s/.*/0\t1.5\t2/' >t.tsv
  to_json <t.tsv >t.jsonl
  gpnn-index -y 2 -o t.gpi t.jsonl 2>err
  run ! grep -e --no-header err
  gpnn-index -y 2 -o same.gpi t.tsv 2>err
  grep -q -e --no-header err
  cmp t.gpi same.gpi
}

@test "an index of a table without names takes JSON Lines by position" {
  make_model 60 20 5 10
  tail -n +2 train.tsv >bare.tsv
  gpnn-index -q --no-header --calibration-rows 5 -o bare.gpi bare.tsv
  to_json <test.tsv >test.jsonl
  cmp <(gpnn-predict -q bare.gpi -p t.par test.jsonl | tail -n +2) <(gpnn-predict -q t.gpi -p t.par test.tsv | tail -n +2)
}

@test "numbers have a decimal point whatever that of the training table is" {
  make_model 60 20 5 10
  tr . , <train.tsv >comma.tsv
  gpnn-index -q --decimal , --thousands --calibration-rows 5 -o comma.gpi comma.tsv
  to_json <test.tsv >test.jsonl
  gpnn-predict -q comma.gpi -p t.par test.jsonl | cmp - <(gpnn-predict -q t.gpi -p t.par test.tsv)
}

@test "a bad line is named with its column, and left out by --skip-bad" {
  make_table 60 2 >t.tsv
  to_json <t.tsv >t.jsonl
  local at='bad.jsonl:31: column' line
  declare -A bad=(
    ["$at 'x2': not JSON at byte 16: missing a comma"]='{"x1":1,"x2":2 "y":3}'
    ["$at 'x2': not JSON at byte 14: invalid value"]='{"x1":1,"x2":abc,"y":3}'
    ["$at 'x2': is an array, which is no value of a column"]='{"x1":1,"x2":[2],"y":3}'
    ["$at 'x2.a': is nested more than two deep"]='{"x1":1,"x2":{"a":{"b":{}}},"y":3}'
    ["$at 'x1': occurs twice in one object"]='{"x1":1,"x1":2,"y":3}'
    ["$at 'z': is not in the first object, which names the columns; give it there too, as null"]='{"x1":1,"x2":2,"z":3}'
    ["$at 'y': the line ends within its object: was the file cut off, or do objects take several lines"]='{"x1":1,"x2":2,"y":3'
    ["$at 'y': not a number: \"three\""]='{"x1":1,"x2":2,"y":"three"}'
    ['bad.jsonl:31: is not a JSON object, as each line of JSON Lines is']='1,2,3'
  )
  for line in "${!bad[@]}"; do
    { head -n 30 t.jsonl && echo "${bad[$line]}" && tail -n +31 t.jsonl; } >bad.jsonl
    assert_fails 1 "$line" gpnn-index -q -o bad.gpi bad.jsonl
  done
  { head -n 31 t.tsv && echo bad && tail -n +32 t.tsv; } >bad.tsv
  gpnn-index -q --skip-bad -o t.gpi bad.tsv
  gpnn-index -q --skip-bad -o bad.gpi bad.jsonl
  cmp t.gpi bad.gpi
  gpnn-index -q -o t.gpi t.tsv
  make_parameters matern32 0.5 1 0.04 10 >t.par
  assert_fails 1 "$at|bad.jsonl:31: is not" gpnn-predict t.gpi -p t.par bad.jsonl
  run --separate-stderr gpnn-predict --skip-bad t.gpi -p t.par bad.jsonl
  assert_equal "${#lines[@]}" 62
  [[ ${lines[31]} == *NA*NA* ]]
}

@test "a file that was cut off within an object is refused" {
  make_table 60 2 | to_json | head -c -10 >t.jsonl
  assert_fails 1 "t.jsonl:60: column '[a-z0-9]*': the line ends within its object: was the file cut off" gpnn-index -o t.gpi t.jsonl
  make_table 60 2 | to_json | gzip | head -c -20 >t.jsonl.gz
  assert_fails 1 'the gzip data are truncated' gpnn-index -o t.gpi t.jsonl.gz
}

@test "only an object with a name makes a table JSON Lines" {
  make_table 60 2 , | sed '1s/x1/{x1}/' >t.csv
  sed -i 's/\t/,/g' t.csv
  gpnn-index -q -o t.gpi t.csv
  gpnn-info t.gpi | grep -q '^input	{x1}'
  sed '1s/{x1}/{"x1"}/' t.csv >odd.csv
  assert_fails 1 "odd.csv:1: column 'x1': not JSON at byte 6: .*; a table whose first line begins with \{ and a quote is read as JSON Lines" \
    gpnn-index -o t.gpi odd.csv
  sed '1s/{x1}/"{""x1""}"/' t.csv >odd.csv
  gpnn-index -q -o t.gpi odd.csv
  gpnn-info t.gpi | grep -q '^input	{"x1"}'
  printf '{"":{}}\n' >odd.csv
  assert_fails 1 'odd.csv:1: the first object has no members, which name the columns' gpnn-index -o t.gpi odd.csv
}

@test "tables are wide, or have little" {
  make_table 12 500 >wide.tsv
  to_json <wide.tsv >wide.jsonl
  gpnn-index -q -o a.gpi wide.tsv
  gpnn-index -q -o b.gpi wide.jsonl
  cmp a.gpi b.gpi
  make_table 20 2 | to_json >small.jsonl
  gpnn-index -q -o a.gpi small.jsonl
  gpnn-index -q -o b.gpi <(make_table 20 2)
  cmp a.gpi b.gpi
}
