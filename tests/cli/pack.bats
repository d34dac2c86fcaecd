#!/usr/bin/env bats
# A model as one file: an index with its parameters, which every tool takes alone and which is replaced at once.

load helper

# pack_model: the files of make_model 200 30 20 10, and t.gpm of them.
pack_model() {
  make_model 200 30 20 10
  gpnn-calibrate -q t.gpi <t.par >t.cal
  gpnn-index --pack t.cal -o t.gpm t.gpi
}

# ---- what it is --------------------------------------------------------------------------------

@test "a model is its index with parameters at the end, and gives them back" {
  pack_model
  assert_equal "$(gpnn-info t.gpm | value file)" 'gpnn index with parameters'
  assert_equal "$(gpnn-info t.gpm | value fingerprint)" "$(gpnn-info t.gpi | value fingerprint)"
  assert_equal "$(gpnn-info --verify t.gpm | value verified)" yes
  gpnn-info --unpack t.gpm | cmp - t.cal
  gpnn-info --unpack -o out.cal t.gpm
  cmp out.cal t.cal
  gpnn-info t.gpm | sed -n '/^# gpnn parameters/,$p' | cmp - t.cal
  cmp <(tail -c +2049 t.gpi) <(tail -c +2049 t.gpm | head -c $(($(stat -c %s t.gpi) - 2048)))
  gpnn-info --json t.gpm >t.json
  assert_equal "$(json t.json | value parameters.kernel)" matern32
  gpnn-info --json t.cal >cal.json
  diff <(json t.json | sed -n 's/^parameters[.]//p') <(json cal.json | grep -v '^file')
}

@test "parameters are replaced, and a model may replace itself" {
  pack_model
  gpnn-index --pack t.par -o again.gpm t.gpm
  gpnn-index --pack t.par -o fresh.gpm t.gpi
  cmp again.gpm fresh.gpm
  gpnn-index --pack - -o again.gpm again.gpm <t.cal
  cmp again.gpm t.gpm
  gpnn-calibrate -q again.gpm | gpnn-index --pack - -o again.gpm again.gpm
  gpnn-info --unpack again.gpm | cmp - <(gpnn-calibrate -q t.gpi <t.cal)
}

@test "the state of parameters is packed with them" {
  awk 'BEGIN { print "site\tt\ty"; for (s = 0; s < 6; s++) for (t = 0; t < 12; t++) printf "%d\t%d\t%.3f\n", s, t, sin(s + t / 3) + s * t % 7 / 50 }' >grid.tsv
  gpnn-grid index -q --site site --time t -o g.gpi grid.tsv
  gpnn-grid fit -q --seed 3 -o g.par g.gpi
  gpnn-index --pack g.par -o g.gpm g.gpi
  assert_equal "$(gpnn-info g.gpm | value file)" 'gpnn grid index with parameters'
  gpnn-grid predict g.gpm grid.tsv | cmp - <(gpnn-grid predict -p g.par g.gpi grid.tsv)
  gpnn-predict g.gpm grid.tsv | cmp - <(gpnn-predict -p g.par g.gpi grid.tsv)
  gpnn-info --unpack g.gpm | cmp - g.par
  awk 'NR == 1 { print "a,b,c"; next } { print $1 / 40 % 1 "," $2 / 50 % 1 "," ($3 > 0.6 ? "in" : "out") }' grid.tsv >class.csv
  gpnn-index -q --calibration-rows 0 -o c.gpi class.csv
  gpnn-fit -q --inference polya-gamma -o c.par c.gpi
  gpnn-index --pack c.par -o c.gpm c.gpi
  gpnn-predict c.gpm class.csv 2>/dev/null | cmp - <(gpnn-predict -p c.par c.gpi class.csv 2>/dev/null)
  gpnn-info --unpack c.gpm | cmp - c.par
}

# ---- every tool takes it -----------------------------------------------------------------------

@test "every tool that takes an index and parameters takes a model alone" {
  pack_model
  awk 'NR == 1 { print "id\t" $0; next } { print NR "\t" $0 }' test.tsv >pool.tsv
  local line command
  while read -r line; do
    command=${line//MODEL/-p t.cal t.gpi}
    bash -c "$command" >two.out 2>two.err || complain "$command:" "$(<two.err)" || return
    command=${line//MODEL/t.gpm}
    bash -c "$command" >one.out 2>one.err </dev/null || complain "$command:" "$(<one.err)" || return
    cmp one.out two.out || complain "$command" || return
    diff one.err <(sed 's/t[.]gpi/t.gpm/g' two.err) || complain "$command" || return
  done <<'EOF'
gpnn-predict MODEL test.tsv
gpnn-predict MODEL - < test.tsv
gpnn-predict --loo MODEL
gpnn-predict --interval 0.9 --samples 2 -m 5 MODEL test.tsv
gpnn-predict --loo MODEL | gpnn-eval --index t.gpm
gpnn-predict --loo MODEL | gpnn-plot calibration --script -
gpnn-calibrate -q MODEL
gpnn-calibrate --loo MODEL
gpnn-calibrate --with test.tsv MODEL
gpnn-simulate advise MODEL
gpnn-ask --count 3 MODEL pool.tsv
gpnn-answer MODEL pool.tsv
gpnn-linear logdet --rows 50 MODEL
EOF
  gpnn-fit -q --effort fast t.gpm | cmp - <(gpnn-fit -q --effort fast t.gpi)
  gpnn-sparse -q --inducing 8 -o a.gpm t.gpm
  gpnn-sparse -q --inducing 8 -o b.gpm t.gpi
  cmp a.gpm b.gpm
}

@test "parameters that are given are used in place of those inside" {
  pack_model
  make_parameters exp 0.3 1 0.1 5 >other.par
  gpnn-predict -p other.par t.gpm test.tsv | cmp - <(gpnn-predict -p other.par t.gpi test.tsv)
  gpnn-predict -p - t.gpm test.tsv <other.par | cmp - <(gpnn-predict -p other.par t.gpi test.tsv)
}

@test "a model may be given for its parameters" {
  pack_model
  gpnn-predict -p t.gpm t.gpi test.tsv | cmp - <(gpnn-predict t.gpm test.tsv)
  gpnn-fit -q --effort fast --kernel exp --start t.gpm t.gpi | cmp - <(gpnn-fit -q --effort fast --kernel exp --start t.cal t.gpi)
  gpnn-index --pack t.gpm -o again.gpm t.gpi
  cmp again.gpm t.gpm
}

@test "a search under another metric keeps the parameters" {
  pack_model
  sed 's/^lengthscale.*/lengthscale\t0.2\t3/' t.par >ard.par
  gpnn-index --pack ard.par -o ard.gpm t.gpi
  gpnn-predict ard.gpm test.tsv >p.tsv
  gpnn-index -q --metric ard.gpm -o ard.gpm ard.gpm
  assert_equal "$(gpnn-info ard.gpm | value metric)" lengthscales
  gpnn-info --unpack ard.gpm | cmp - <(gpnn-info ard.par)
  gpnn-predict ard.gpm test.tsv | cmp - p.tsv
}

# ---- what is remembered ------------------------------------------------------------------------

@test "how tables are written need not be said again" {
  make_table 150 2 >train.tsv
  make_table 30 2 150 >test.tsv
  gpnn-index -q -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 10 | gpnn-index --pack - -o t.gpm t.gpi
  gpnn-predict t.gpm test.tsv | tail -n +2 | cut -f 2- >p.tsv
  comma() { tr '\t.' ':,' | awk '{ print } NR == 9 { print "# between" } NR == 20 { print "-:-:1" }'; }
  comma <train.tsv | sed 1d >train.txt
  comma <test.tsv | sed 1d >test.txt
  gpnn-index -q -d : --decimal , --na - --comment '#' --no-header --missing drop --skip-bad -y 3 -o t.gpi train.txt
  make_parameters matern32 0.5 1 0.04 10 | gpnn-index --pack - -o t.gpm t.gpi
  gpnn-predict t.gpm test.txt >out.txt 2>err.txt
  assert_equal "$(grep -c NA out.txt)" 1
  assert_equal "$(wc -l <err.txt)" 1
  grep -q 'test.txt: 1 of 31 rows have no prediction' err.txt
  grep -v NA out.txt | cut -d : -f 2- | awk -F : 'NR == FNR { m[NR] = $1; next } { split($0, w, "\t"); d = m[FNR] - w[1]; if (d > 0.05 || d < -0.05) exit 1 }' - p.tsv
  gpnn-predict t.gpm - <test.txt 2>/dev/null | cmp - out.txt
  # What the command line says holds, and so do the beginnings of the table itself.
  gpnn-predict -q -d , --decimal . t.gpm <(tr ':,' ',.' <test.txt) | tr , : | cmp - out.txt
  gpnn-predict -q t.gpm <(printf 'a:b:c\n' && cat test.txt) | tail -n +2 | cmp - out.txt
  gpnn-predict -q t.gpm <(tr : '\t' <test.txt) | tr '\t' : | cmp - out.txt
}

@test "how many lines come before a table need not be said again" {
  make_table 120 2 >train.tsv
  make_table 12 2 200 >test.tsv
  { printf 'export of x1\nmade today\n\n' && cat train.tsv; } >late.tsv
  { printf 'export of x1\nmade later\n\n' && cat test.tsv; } >later.tsv
  gpnn-index -q --skip-lines 3 -o late.gpi late.tsv
  gpnn-fit -q --effort fast late.gpi | gpnn-index --pack - -o late.gpm late.gpi
  gpnn-predict -q late.gpm later.tsv >p.tsv
  (($(wc -l <p.tsv) == 13))
  gpnn-predict -q late.gpm test.tsv | cmp - p.tsv # it begins earlier
  gpnn-predict -q late.gpm <later.tsv | cmp - p.tsv
  assert_fails 1 'does the table begin on line 4' gpnn-predict -q --skip-lines 0 late.gpm later.tsv
  gpnn-index -q --add later.tsv -o more.gpm late.gpm
  assert_equal "$(gpnn-info --verify more.gpm | value verified)" yes
  gpnn-predict -q more.gpm later.tsv >/dev/null
  gpnn -q --effort fast late.tsv test.tsv >p.tsv
  (($(wc -l <p.tsv) == 13))
  gpnn -q --effort fast late.tsv later.tsv | cmp - p.tsv
  tail -n +2 train.tsv >bare.tsv
  { echo 7 && cat bare.tsv; } >bare.late
  gpnn-index -q --no-header --skip-lines 1 -o bare.gpi bare.late
  gpnn-fit -q --effort fast bare.gpi | gpnn-index --pack - -o bare.gpm bare.gpi
  (($(gpnn-predict -q bare.gpm bare.late | wc -l) == 120))
}

@test "bad rows are NA if a model says so, but not most of them" {
  pack_model
  sed '3s/^[^\t]*/?/' test.tsv >bad.tsv
  assert_fails 1 "bad.tsv:3: column 'x1': not a number" gpnn-predict -o p.tsv t.gpm bad.tsv
  gpnn-index --pack t.cal --skip-bad -o t.gpm t.gpi
  gpnn-predict t.gpm bad.tsv 2>err.txt | grep -c NA
  grep -q 'bad.tsv: 1 of 30 rows have no prediction' err.txt
  sed '3,20s/^[^\t]*/?/' test.tsv >bad.tsv
  assert_fails 1 'bad.tsv: 18 of 30 rows have no prediction, and --fail-on-na allows 50 %' gpnn-predict -q -o p.tsv t.gpm bad.tsv
  gpnn-predict -q --fail-on-na 0.7 t.gpm bad.tsv >/dev/null
  gpnn-predict -q --skip-bad t.gpm bad.tsv >/dev/null
  gpnn-index --pack t.par -o t.gpm t.gpm # still
  gpnn-predict -q --fail-on-na 0.7 t.gpm bad.tsv >/dev/null
}

# ---- refusals ----------------------------------------------------------------------------------

@test "only what belongs together is packed" {
  pack_model
  head -n 150 train.tsv | gpnn-index -q -o other.gpi -
  gpnn-fit -q --effort fast t.gpi >t.fit
  assert_fails 1 't.fit: .*index of other columns, or of other scaling' gpnn-index --pack t.fit -o x.gpm other.gpi
  cut -f 1,3 train.tsv | gpnn-index -q -o narrow.gpi -
  assert_fails 1 't.fit: ' gpnn-index --pack t.fit -o x.gpm narrow.gpi
  gpnn-sparse -q --inducing 8 -o s.gpm t.gpi
  assert_fails 1 's.gpm is a model file.*: it has parameters of its own already' gpnn-index --pack t.fit -o x.gpm s.gpm
  assert_fails 1 'train.tsv is a table, not an index' gpnn-index --pack t.fit -o x.gpm train.tsv
  assert_fails 1 't.gpi is an index, not parameters' gpnn-index --pack t.gpi -o x.gpm t.gpi
  assert_fails 2 '"t.fit" is an input' gpnn-index --pack t.fit -o t.fit t.gpi
  assert_fails 2 '--pack leaves the search as it is, but --recall applies to it' gpnn-index --pack t.fit --recall 1 -o x.gpm t.gpi
  assert_fails 2 '--pack reads an index, but --target applies to a table' gpnn-index --pack t.fit -y y -o x.gpm t.gpi
  assert_fails 2 '--pack reads an index: name it' gpnn-index --pack t.fit -o x.gpm
  assert_fails 2 '--metric reads an index: name it' gpnn-index --metric t.fit -o x.gpi
  assert_fails 2 '--metric keeps the parameters' gpnn-index --pack t.fit --metric t.fit -o x.gpm t.gpi
  assert_fails 2 '--metric reads an index, but --skip-bad applies to a table' gpnn-index --metric t.fit --skip-bad -o x.gpm t.gpi
  assert_fails 1 't.gpi: has no parameters that were packed with it' gpnn-info --unpack t.gpi
  assert_fails 2 '--unpack prints parameters as they are' gpnn-info --unpack --json t.gpm
}

@test "damaged and truncated models are refused" {
  pack_model
  local size at
  size=$(stat -c %s t.gpm)
  for at in 10 64 2047 2100 $((size - 30)) $((size - 1)); do
    head -c "$at" t.gpm >cut.gpm
    assert_fails 1 'cut.gpm: truncated|is empty' gpnn-predict -o p.tsv cut.gpm test.tsv
  done
  for at in $((size - 30)) $((size - 1)); do
    cp t.gpm bad.gpm
    printf '\1' | dd of=bad.gpm bs=1 seek="$at" conv=notrunc status=none
    assert_fails 1 'bad.gpm: damaged: the checksum of section PARA is wrong' gpnn-predict -o p.tsv bad.gpm test.tsv
    assert_fails 1 'bad.gpm: damaged: the checksum of section PARA is wrong' gpnn-info bad.gpm
  done
}

# ---- replaced at once --------------------------------------------------------------------------

# read_loop NUMBER: predicts until there is a file 'stop'; counts runs that are from neither model.
read_loop() {
  local n=0 bad=0
  until [[ -e stop && n -ge 250 ]]; do
    n=$((n + 1))
    gpnn-predict -q -j 1 now.gpm test.tsv >"out$1" 2>"err$1" || bad=$((bad + 1))
    cmp -s "out$1" a.out || cmp -s "out$1" b.out || bad=$((bad + 1))
  done
  echo "$n $bad" >"count$1"
}

@test "readers of a model that is replaced get the one or the other, whole" {
  make_table 300 2 >train.tsv
  make_table 20 2 400 >test.tsv
  local i name
  for name in a b; do
    [[ $name == a ]] || make_table 310 2 50 >train.tsv
    gpnn-index -q -s 1 -o $name.gpi train.tsv
    gpnn-fit -q --effort fast --kernel exp -m 10 $name.gpi >$name.par
    gpnn-index --pack $name.par -o $name.gpm $name.gpi
    gpnn-predict -q -j 1 $name.gpm test.tsv >$name.out
  done
  run ! cmp -s a.out b.out
  cp a.gpm now.gpm
  for i in 1 2 3 4; do read_loop "$i" & done
  for ((i = 0; i < 25; i++)); do
    gpnn-index --pack b.par -o now.gpm b.gpi
    gpnn-index --pack a.par -o now.gpm a.gpi
  done
  touch stop
  wait
  awk '{ n += $1; bad += $2 } END { exit !(n >= 1000 && bad == 0) }' count? || complain "$(cat count? err?)"
  assert_equal "$(find . -name '.*' -type f | wc -l)" 0
}

@test "a kill leaves the old model or the new one" {
  pack_model
  cp t.gpm old.gpm
  gpnn-index --pack t.par -o new.gpm t.gpi
  local i
  for ((i = 0; i < 20; i++)); do
    cp old.gpm t.gpm
    timeout -s KILL "0.00$((i % 10))" gpnn-index --pack t.par -o t.gpm t.gpm || :
    cmp -s t.gpm old.gpm || cmp -s t.gpm new.gpm || complain "after $i" || return
    rm -f .t.gpm.*
  done
}

@test "what cannot be written leaves the old model" {
  pack_model
  cp t.gpm old.gpm
  [[ $(ulimit -f) == unlimited ]] || skip 'files are limited already'
  (
    trap '' XFSZ
    ulimit -f 4
    assert_fails 1 't.gpm: cannot be written: File too large' gpnn-index --pack t.par -o t.gpm t.gpm
  )
  cmp t.gpm old.gpm
}
