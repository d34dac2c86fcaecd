#!/usr/bin/env bats
# gpnn-plot: pictures of predictions of classes.

load helper

# Predictions of 'k' classes, called c1, c2 ..., for 'n' rows.
classes() {
  awk -v k="$1" -v n="${2-500}" 'BEGIN {
    srand(6); OFS = "\t"; head = "kind\tlabel"
    for (c = 1; c <= k; c++) head = head "\tp_c" c
    print head
    for (i = 0; i < n; i++) {
      s = 0; for (c = 1; c <= k; c++) s += p[c] = exp(6 * rand())
      u = s * rand(); truth = 0; do u -= p[++truth]; while (u > 0 && truth < k)
      top = 1; row = ""
      for (c = 1; c <= k; c++) { if (p[c] > p[top]) top = c; row = row "\t" p[c] / s }
      print "c" truth, "c" top row
    }
  }'
}

# The rows of block NAME of a script.
block() {
  awk -v name="\$$1" '$1 == name && $2 == "<<" { inside = 1; next } /^END$/ { inside = 0 } inside' \
    "$2"
}

@test "each kind is an SVG, a PNG and a PDF, for few classes and for many" {
  for k in 2 5 40; do
    classes $k >t.tsv
    for kind in reliability confusion roc; do
      gpnn-plot $kind -o $k.svg t.tsv
      grep -q '</svg>' $k.svg
      gpnn-plot $kind --width 8 --height 7 -o $k.png t.tsv
      [[ $(head -c 4 $k.png) == *PNG ]]
      gpnn-plot $kind --title Kinds -o $k.pdf t.tsv
      [[ $(head -c 5 $k.pdf) == %PDF- ]]
    done
  done
}

@test "reliability: the points are the bins of gpnn-eval, in binomial boxes" {
  classes 3 >t.tsv
  gpnn-plot reliability --script t.tsv >r.gp
  gpnn-eval --table reliability t.tsv | awk 'NR > 1 && $3 > 0 { print $1, $2, $4, $5 }' >bins
  block bins r.gp | cut -d ' ' -f 1-4 | cmp - bins
  assert_near "$(block bins r.gp | awk '{ s += $7 } END { printf "%.12f", s }')" 1 1e-9
  # the box is about two standard errors wide to either side
  gpnn-eval --table reliability t.tsv | awk 'NR > 1 && $3 > 20 { print $6 }' >se
  block bins r.gp | awk '$7 > 0.04 { print ($6 - $5) / 3.92 }' | paste - se |
    awk '{ if ($1 > 1.3 * $2 || $1 < 0.7 * $2) exit 1 }'
  assert_equal "$(grep -o 'ECE = [^,]*' r.gp)" \
    "$(gpnn-eval t.tsv | awk '$1 == "ece" { printf "ECE = %.2g", $2 }')"
}

@test "confusion: the cells are those of gpnn-eval, and rows of a truth sum to 1" {
  classes 4 >t.tsv
  gpnn-plot confusion --script t.tsv >c.gp
  gpnn-eval --table confusion t.tsv | awk 'NR > 1 && $3 > 0 { print substr($2, 2) - 1, substr($1, 2) - 1, $3 }' >cells
  block cells c.gp | cut -d ' ' -f 1-3 | cmp - cells
  block cells c.gp | awk '{ s[$2] += $4 } END { for (i in s) if (s[i] < 0.999999 || s[i] > 1.000001) exit 1 }'
  grep -q "with labels" c.gp
  classes 30 | gpnn-plot confusion --script >many.gp
  ! grep -q "with labels" many.gp || false
  cut -f 1,2 t.tsv | gpnn-plot confusion --script | block cells - | cmp - <(block cells c.gp)
}

@test "roc: a curve for each class, or of two for the second, with the areas of gpnn-eval" {
  classes 3 >t.tsv
  gpnn-plot roc --script t.tsv >r.gp
  assert_equal "$(block class2 r.gp | sed -n '1p;$p' | paste -sd ' ')" '0 0 1 1'
  gpnn-eval --table classes t.tsv | awk 'NR > 1 { printf "%s, AUC %.3f\n", $1, $6 }' >wanted
  grep -o 'c[0-9], AUC [0-9.]*' r.gp | cmp - wanted
  gpnn-eval --table roc t.tsv | awk '$1 == "c2" { print $3, $4 }' | cmp - <(block class2 r.gp)
  classes 2 | gpnn-plot roc --script >two.gp
  assert_equal "$(grep -c AUC two.gp) $(grep -o "title 'c., AUC" two.gp)" "2 title 'c2, AUC"
  # of many classes the worst is named
  classes 20 >t.tsv
  gpnn-plot roc --script t.tsv >r.gp
  assert_equal "$(grep -o "'c[0-9]*, AUC" r.gp)" \
    "'$(gpnn-eval --table classes t.tsv | tail -n +2 | sort -g -k 6 | head -n 1 | cut -f 1), AUC"
}

@test "names of classes are cut, and make gnuplot do nothing" {
  printf 'y\tlabel\t"p_a\tb"\t"p_it'"'"'s `touch x`"\tp_Wörtersammlungen\n' >t.tsv
  printf '"a\tb"\t"a\tb"\t0.8\t0.1\t0.1\nWörtersammlungen\t"it'"'"'s `touch x`"\t0.1\t0.5\t0.4\n' >>t.tsv
  for kind in reliability confusion roc; do
    gpnn-plot $kind -o out.svg t.tsv
  done
  [[ ! -e x ]]
  gpnn-plot confusion --script t.tsv >c.gp
  grep -q "'Wörtersammlung…'" c.gp
  grep -q "'a?b'" c.gp
}

@test "rows that cannot be drawn are left out and counted" {
  { classes 3; printf 'c9\tc1\t0.5\t0.3\t0.2\nc1\t\t0.5\t0.3\t0.2\n'; } >t.tsv
  gpnn-plot roc --script t.tsv >r.gp 2>err.txt
  grep -q 't.tsv: 1 rows without truth or prediction left out' err.txt
  grep -q 't.tsv: 1 rows of a class without a column p_NAME left out' err.txt
  grep -q 'n = 500' r.gp
}

@test "what cannot be drawn is said" {
  classes 3 >t.tsv
  cut -f 1,2 t.tsv >labels.tsv
  assert_fails 2 "labels.tsv: no columns p_NAME .*roc draws predictions of classes" gpnn-plot roc labels.tsv
  assert_fails 2 "labels.tsv: no columns p_NAME" gpnn-plot reliability labels.tsv
  assert_fails 2 "predictions of classes, whose pictures are reliability" gpnn-plot calibration t.tsv
  printf 'y\tmean\tsd\n1\t2\t1\n' >n.tsv
  assert_fails 2 "no column 'label': the predictions are numbers" gpnn-plot confusion n.tsv
  printf 'y\tlabel\tp_a\na\ta\t1\n' >one.tsv
  assert_fails 1 'all rows are of one class: there is no curve' gpnn-plot roc one.tsv
  gpnn-plot reliability -o one.svg one.tsv
  gpnn-plot confusion -o one.svg one.tsv
  printf 'y\tlabel\tp_a\n' >none.tsv
  assert_fails 1 'no row with a truth' gpnn-plot confusion none.tsv
  printf 'y\tlabel\tp_a\nb\ta\t1\n' >unseen.tsv
  assert_fails 1 'no row is of a class that has a column p_NAME' gpnn-plot roc unseen.tsv
  printf 'y\tlabel\tp_a\nb\ta\t2\n' >bad.tsv
  assert_fails 1 'bad.tsv:2: a probability is not between 0 and 1' gpnn-plot confusion bad.tsv
  assert_fails 2 '--sd does not apply to confusion' gpnn-plot confusion --sd x t.tsv
  printf 'a\tlabel_a\tb\tlabel_b\nx\tx\ty\ty\n' >two.tsv
  assert_fails 2 'predictions of several targets' gpnn-plot confusion two.tsv
}
