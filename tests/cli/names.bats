#!/usr/bin/env bats
# Columns without a name of their own.
load helper

# make_repeated ROWS [SEED]: columns x, (no name), x, y, x; y depends on the first three.
make_repeated() {
  awk -v n="$1" -v seed="${2-1}" 'BEGIN {
    srand(seed)
    print "x,,x,y,x"
    for (i = 0; i < n; i++) {
      a = rand(); b = rand(); c = rand()
      printf "%.4f,%.4f,%.4f,%.4f,%d\n", a, b, c, a + 2 * b - 3 * c, i
    }
  }'
}

@test "columns that share a name, or have none, work like columns with names" {
  make_repeated 200 >t.csv
  make_repeated 30 2 >later.csv
  sed '1s/.*/a,b,c,y,d/' t.csv >named.csv
  sed '1s/.*/a,b,c,y,d/' later.csv >named-later.csv
  make_parameters matern32 0.5 1 0.01 20 >p.par
  gpnn-index -y 4 --drop 5 -o t.gpi t.csv
  gpnn-index -y y -x 1-3 -o same.gpi t.csv
  cmp t.gpi same.gpi
  gpnn-index -y y --drop d -o named.gpi named.csv
  gpnn-predict t.gpi -p p.par later.csv >a.csv
  cmp a.csv <(gpnn-predict named.gpi -p p.par named-later.csv)
  assert_equal "$(head -n 1 a.csv)" y,mean,sd
  gpnn-info --verify t.gpi >info
  assert_equal "$(awk -F '\t' '$1 == "input" { print $2 }' info | tr '\n' ';')" \
    'x (column 1);column 2;x (column 3);'
  # In another order, the second x is still the second.
  awk -F , -v OFS=, '{ print $4, $1, $3, $5, $2 }' later.csv >moved.csv
  cmp a.csv <(gpnn-predict t.gpi -p p.par moved.csv)
}

@test "by default all columns but the last are inputs, whatever their names" {
  make_repeated 50 | cut -d , -f 1-4 >t.csv
  gpnn-index -o t.gpi t.csv
  assert_equal "$(gpnn-info t.gpi | value inputs)" 3
  assert_equal "$(gpnn-info t.gpi | value target)" y
}

@test "a target may share its name, or have none" {
  make_repeated 100 >t.csv
  make_parameters matern32 0.5 1 0.01 20 >p.par
  local y
  for y in 1 2 3; do
    gpnn-index -y $y --drop 5 -o t.gpi t.csv
    gpnn-fit --effort fast --kernel exp -m 16 t.gpi >t.par
    gpnn-calibrate -q t.gpi -p t.par >t.cal
    gpnn-predict t.gpi -p t.cal t.csv >p.csv
    gpnn-eval p.csv >scores
    assert_equal "$(value n scores)" 100
    cmp <(cut -d , -f 1 p.csv | sed 1d) <(awk -F , -v y=$y 'NR > 1 { print $y + 0 }' t.csv)
  done
}

@test "names that do not say which column are refused with the numbers that do" {
  make_repeated 20 >t.csv
  assert_fails 2 "^t.csv: 3 columns are named 'x': say which by number, 1, 3 or 5$" \
    gpnn-index -y x -o x.gpi t.csv
  assert_fails 2 "^t.csv: 3 columns are named 'x': say which by number, 1, 3 or 5$" \
    gpnn-index -y y --drop x -o x.gpi t.csv
  assert_fails 2 "^t.csv: column 3 \('x'\) cannot be one of several targets" \
    gpnn-index -y 1,3 -o x.gpi t.csv
  gpnn-index -q -y y --drop 5 -o t.gpi t.csv
  make_parameters matern32 0.5 1 0.01 10 >p.par
  sed '3s/^[^,]*/abc/; 5s/,[^,]*/,def/' t.csv >bad.csv
  assert_fails 1 "^bad.csv:3: column 1 \('x'\): not a number: \"abc\"$" gpnn-predict t.gpi -p p.par bad.csv
  sed -i 3d bad.csv
  assert_fails 1 "^bad.csv:4: column 2: not a number: \"def\"$" gpnn-predict t.gpi -p p.par bad.csv
  cut -d , -f 1,2 t.csv >few.csv
  assert_fails 1 "^few.csv: lacks 1 of 3 input columns: 'x' \(number 2 of 3\)$" \
    gpnn-predict t.gpi -p p.par few.csv
  paste -d , t.csv <(cut -d , -f 1 t.csv) >many.csv
  assert_fails 1 "^many.csv: 4 columns are named 'x', of which the training table had 3$" \
    gpnn-predict t.gpi -p p.par many.csv
}

@test "gpnn-predict and gpnn-split take the number of a column that shares its name" {
  make_repeated 60 >t.csv
  make_parameters matern32 0.5 1 0.01 20 >p.par
  gpnn-index -y y --drop 5 -o t.gpi t.csv
  gpnn-predict t.gpi -p p.par --keep 5,2 t.csv >kept.csv
  assert_equal "$(head -n 1 kept.csv)" x,,y,mean,sd
  cmp <(cut -d , -f 1,2 kept.csv) <(awk -F , -v OFS=, '{ print $5, $2 }' t.csv)
  gpnn-split --by 5 -f 1:1 -o a.csv -o b.csv t.csv
  assert_equal "$(cat a.csv b.csv | wc -l)" 62
  assert_fails 2 'say which by number, 1, 3 or 5$' gpnn-predict t.gpi -p p.par --keep x t.csv
}

@test "gpnn-eval takes the numbers of columns that share a name" {
  make_repeated 60 >t.csv
  make_parameters matern32 0.5 1 0.01 20 >p.par
  gpnn-index -y y --drop 5 -o t.gpi t.csv
  gpnn-predict t.gpi -p p.par t.csv >p.csv
  gpnn-eval p.csv >scores
  # Two columns called y, mean and sd: numbers say which, and sd is the one after the mean.
  paste -d , <(sed '1!s/$/9/' p.csv) p.csv >two.csv
  assert_fails 2 "^two.csv: 2 columns are named 'mean': say which by number, 2 or 5$" gpnn-eval two.csv
  cmp scores <(gpnn-eval --mean 5 two.csv)
  cmp scores <(gpnn-eval -y 4 --mean 5 --sd 6 two.csv)
  sed '1s/^y/x/; 1s/$/,x/; 1!s/$/,1/' p.csv >shared.csv
  cmp scores <(gpnn-eval shared.csv)
  cmp scores <(gpnn-eval -y 1 shared.csv)
  gpnn-eval --by 4 shared.csv >by.csv
  assert_fails 2 "2 columns are named 'x': say which by number, 1 or 4$" gpnn-eval -y x shared.csv
}

@test "a target that is called as predictions are is scored all the same" {
  for name in mean sd; do
    gpnn-simulate data --size 80 | sed "1s/y$/$name/" >$name.tsv
    gpnn-index -q -y $name --calibration-rows 0 -o t.gpi $name.tsv
    make_parameters rbf 1 0.9 0.1 30 >t.par
    gpnn-predict -q --loo -p t.par t.gpi >$name.out
    gpnn-eval -q $name.out >$name.scores
  done
  cmp mean.scores sd.scores
}
