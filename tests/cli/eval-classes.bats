#!/usr/bin/env bats
# gpnn-eval on predictions of classes: metrics, tables, names of any kind, what cannot be scored.

load helper

# Predictions of 'n' rows of classes a, b and c, drawn from their probabilities.
classes() {
  awk -v n="${1-600}" 'BEGIN {
    srand(5); OFS = "\t"; print "g", "kind", "label", "p_a", "p_b", "p_c"
    for (i = 0; i < n; i++) {
      a = exp(3 * rand()); b = exp(3 * rand()); c = exp(3 * rand()); s = a + b + c
      a = int(1000 * a / s) / 1000; b = int(1000 * b / s) / 1000; c = 1 - a - b; u = rand()
      print i % 3, (u < a ? "a" : u < a + b ? "b" : "c"), \
        (a >= b && a >= c ? "a" : b >= c ? "b" : "c"), a, b, c
    }
  }'
}

# The same scores of such a table, by awk: areas as shares of pairs.
scores_by_awk() {
  awk -F '\t' '
    function size(x) { return x < 0 ? -x : x }
    NR == 1 { next }
    {
      n++; truth[n] = $2; split("a b c", name, " ")
      wrong += $2 != $3; top = 0
      for (k = 1; k <= 3; k++) {
        p[n, name[k]] = $(3 + k); if ($(3 + k) > top) top = $(3 + k)
        d = $(3 + k) - (name[k] == $2); brier += d * d
      }
      nll -= log(p[n, $2])
      bin = int(15 * top); if (bin == 15 * top) bin-- # closed above
      gap[bin] += top - ($2 == $3)
    }
    END {
      for (b in gap) ece += size(gap[b])
      for (k = 1; k <= 3; k++) {
        won = pairs = 0
        for (i = 1; i <= n; i++) if (truth[i] == name[k]) for (j = 1; j <= n; j++)
          if (truth[j] != name[k]) {
            pairs++; d = p[i, name[k]] - p[j, name[k]]; won += d > 0 ? 1 : d == 0 ? 0.5 : 0
          }
        auc += won / pairs / 3
      }
      printf "error\t%.15g\nnll\t%.15g\nbrier\t%.15g\nece\t%.15g\nauc\t%.15g\n",
        wrong / n, nll / n, brier / n, ece / n, auc
    }' "$1"
}

pets() {
  printf 'kind,label,p_cat,p_dog\ncat,cat,0.9,0.1\ndog,dog,0.2,0.8\ncat,dog,0.4,0.6\ndog,dog,0.3,0.7\n'
}

@test "scores of classes agree with those computed another way" {
  classes >t.tsv
  scores_by_awk t.tsv >wanted.txt
  gpnn-eval t.tsv >out.txt
  assert_equal "$(head -n 8 out.txt | cut -f 1 | paste -sd ' ')" \
    'n error nll brier ece ece_chance auc unseen'
  for name in error nll brier ece auc; do
    assert_near "$(value $name out.txt)" "$(value $name wanted.txt)" 1e-12
  done
  assert_below "$(value ece out.txt)" "$(awk '$1 == "ece_chance" { print 1.5 * $2 }' out.txt)"
  assert_equal "$(value n_b out.txt)" "$(awk '$2 == "b"' t.tsv | wc -l)"
  assert_near "$(value recall_b out.txt)" "$(awk '$2 == "b" { n++; r += $3 == "b" } END { print r / n }' t.tsv)" 1e-5
  assert_near "$(value precision_c out.txt)" \
    "$(awk '$3 == "c" { n++; r += $2 == "c" } END { print r / n }' t.tsv)" 1e-5
}

@test "JSON has the same values, and an object of classes" {
  pets >t.csv
  gpnn-eval t.csv >out.txt
  gpnn-eval --json t.csv >out.json
  json out.json >members
  for name in n error nll brier ece ece_chance auc unseen; do
    assert_equal "$(value $name members)" "$(value $name out.txt)"
  done
  grep -qF '"classes": {"cat": {"n": 2, "precision": 1, "recall": 0.5}, "dog": {"n": 2, ' out.json
}

@test "probabilities that are too sure have more calibration error than chance gives" {
  classes 2000 | awk -F '\t' -v OFS='\t' 'NR > 1 {
    s = $4 ^ 3 + $5 ^ 3 + $6 ^ 3; $4 = $4 ^ 3 / s; $5 = $5 ^ 3 / s; $6 = $6 ^ 3 / s } 1' >t.tsv
  gpnn-eval t.tsv >out.txt
  assert_below "$(awk '$1 == "ece_chance" { print 5 * $2 }' out.txt)" "$(value ece out.txt)"
}

@test "tables of labels, of confusion, of bins and of curves" {
  pets >t.csv
  gpnn-eval --table classes t.csv |
    diff - <(printf 'class,n,labelled,precision,recall,auc\ncat,2,1,1,0.5,1\ndog,2,3,0.6666666666666666,1,1\n')
  gpnn-eval --table confusion t.csv |
    diff - <(printf 'truth,label,n\ncat,cat,1\ncat,dog,1\ndog,cat,0\ndog,dog,2\n')
  gpnn-eval --table roc t.csv | # of the second of two
    diff - <(printf 'class,threshold,fpr,tpr\ndog,NA,0,0\ndog,0.8,0,0.5\ndog,0.7,0,1\ndog,0.6,0.5,1\ndog,0.1,1,1\n')
  gpnn-eval --table reliability t.csv >out.csv
  assert_equal "$(head -n 1 out.csv) $(wc -l <out.csv)" 'from,to,n,predicted,observed,se 16'
  assert_equal "$(sed -n 10p out.csv)" '0.5333333333333333,0.6,1,0.6,0,0.4898979485566356'
  gpnn-eval --table confusion --json t.csv |
    grep -q '^{"confusion": \[{"truth": "cat", "label": "cat", "n": 1}, '
  classes >t.tsv
  assert_equal "$(gpnn-eval --table roc t.tsv | cut -f 1 | uniq | paste -sd ' ')" 'class a b c'
}

@test "groups have rows of their own, and sum to the whole" {
  classes >t.tsv
  gpnn-eval t.tsv >all.txt
  gpnn-eval --by g t.tsv >by.tsv
  assert_equal "$(head -n 1 by.tsv)" $'g\tn\terror\tnll\tbrier\tece\tece_chance\tauc\tunseen'
  assert_near "$(awk 'NR > 1 { s += $2 * $4 / 600 } END { printf "%.15g", s }' by.tsv)" \
    "$(value nll all.txt)" 1e-12
  awk -F '\t' 'NR == 1 || $1 == 1' t.tsv | gpnn-eval | sed -n 1,8p | cut -f 2 | paste -s >one.txt
  awk -F '\t' '$1 == 1' by.tsv | cut -f 2- | cmp - one.txt
  gpnn-eval --by g --json t.tsv | grep -q '"groups": \[{"by": "0", "n": 200, .*"classes": {"a": {'
  gpnn-eval --by g --table confusion t.tsv >by.tsv
  assert_equal "$(head -n 1 by.tsv) $(wc -l <by.tsv)" $'g\ttruth\tlabel\tn 28'
}

@test "the order of rows and of columns does not matter" {
  classes >t.tsv
  gpnn-eval t.tsv >a.txt
  { head -n 1 t.tsv; tail -n +2 t.tsv | sort -k 2; } | gpnn-eval >b.txt
  awk -F '\t' -v OFS='\t' '{ print $2, $3, $6, $4, $5 }' t.tsv | gpnn-eval >c.txt
  for file in b.txt c.txt; do
    assert_equal "$(cut -f 1 $file)" "$(cut -f 1 a.txt)"
    while IFS=$'\t' read -r name wanted; do
      assert_near "$(value "$name" $file)" "$wanted" 1e-12
    done <a.txt
  done
}

@test "names of classes may be anything" {
  printf 'y\tlabel\t"p_a\tb"\t"p_say ""no"""\t"p_two\nlines"\n' >t.tsv
  printf '"a\tb"\t"a\tb"\t0.8\t0.1\t0.1\n"say ""no"""\t"two\nlines"\t0.1\t0.3\t0.6\n' >>t.tsv
  gpnn-eval t.tsv >out.tsv
  grep -qFx $'"n_a\tb"\t1' out.tsv
  grep -qF $'"recall_say ""no"""\t0' out.tsv
  gpnn-eval --json t.tsv | grep -qF '"classes": {"a\u0009b": {"n": 1, "precision": 1, "recall": 1}, "say \"no\"": {'
  assert_equal "$(gpnn-eval --table confusion t.tsv | wc -l)" 16 # 10 records, in which one name has two lines six times
  gpnn-eval --json t.tsv | json - >members
}

@test "names that are numbers are the same class if they are the same number" {
  printf 'y,label,p_0,p_1\n0.0,0,0.9,0.1\n1,1.0,0.2,0.8\n01,0,0.6,0.4\n' >t.csv
  gpnn-eval t.csv >out.txt 2>err.txt
  assert_equal "$(value unseen out.txt) $(value n_1 out.txt)$(cat err.txt)" '0 2'
  assert_near "$(value error out.txt)" 0.3333333333333333 1e-15
  # ascending by value, whatever the columns' order
  printf 'y,label\n10,9\n9,9\nb,b\n' | gpnn-eval --table classes | cut -d , -f 1 |
    diff - <(printf 'class\n9\n10\nb\n')
}

@test "classes that have no probability count as wrong, with a warning" {
  { pets; printf 'fox,dog,0.5,0.5\n'; } >t.csv
  pets | gpnn-eval >known.txt
  gpnn-eval t.csv >out.txt 2>err.txt
  assert_equal "$(value n out.txt) $(value unseen out.txt) $(value error out.txt)" '5 1 0.4'
  for name in nll brier ece auc; do
    assert_equal "$(value $name out.txt)" "$(value $name known.txt)"
  done
  assert_equal "$(value recall_fox out.txt) $(value precision_fox out.txt)" '0 NA'
  grep -q '1 rows are of a class without a column p_NAME' err.txt
}

@test "labels alone, and the most probable classes alone" {
  pets | cut -d , -f 1,2 | gpnn-eval >out.txt
  assert_equal "$(cut -f 1 out.txt | paste -sd ' ')" \
    'n error n_cat precision_cat recall_cat n_dog precision_dog recall_dog'
  printf 'kind,label,probability,label2,probability2,logp\n' >top.csv
  printf 'a,a,0.5,b,0.3,%s\nc,b,0.6,a,0.3,%s\n' -0.6931471805599453 -2.302585092994046 >>top.csv
  gpnn-eval top.csv >out.txt
  assert_equal "$(head -n 5 out.txt | cut -f 1 | paste -sd ' ')" 'n error nll ece ece_chance'
  assert_near "$(value nll out.txt)" 1.4978661367769956 1e-12
  assert_near "$(value ece out.txt)" 0.55 1e-12
  assert_equal "$(gpnn-eval --table reliability top.csv | awk -F , '$3 > 0' | wc -l)" 3
}

@test "costs move labels; probabilities are judged as before" {
  pets >a.csv
  sed 's/,dog,/,cat,/' a.csv >b.csv
  gpnn-eval a.csv >a.txt
  gpnn-eval b.csv >b.txt
  assert_equal "$(value error b.txt)" 0.5
  for name in nll brier ece auc; do
    assert_equal "$(value $name b.txt)" "$(value $name a.txt)"
  done
}

@test "several targets, of classes and of numbers" {
  printf 'a,label_a,p_u_a,p_v_a,b,mean_b,sd_b,c,label_c\nu,u,0.9,0.1,1,2,1,x,x\nv,u,0.6,0.4,3,3,1,y,x\n' >t.csv
  gpnn-eval t.csv >out.csv
  assert_equal "$(cut -d , -f 1 out.csv | paste -sd ' ')" 'target a b c mean'
  assert_equal "$(head -n 1 out.csv | cut -d , -f 1-10)" \
    'target,n,error,nll,brier,ece,ece_chance,auc,unseen,rmse'
  assert_equal "$(awk -F , '$1 == "c" { print $2, $3, $4, $10 }' out.csv)" '2 0.5 NA NA'
  assert_equal "$(awk -F , '$1 == "b" { print $2, $3, $9 }' out.csv)" '2 NA NA'
  assert_equal "$(awk -F , '$1 == "mean" { print $2, $3, $9 }' out.csv)" '2 0.5 0'
  assert_equal "$(awk -F , '{ print NF }' out.csv | sort -u | wc -l)" 1
  # each as if it were alone
  cut -d , -f 1-4 t.csv | sed '1s/_a//g' | gpnn-eval | sed -n 1,8p | cut -f 2 | paste -sd , >a.txt
  sed -n 's/^a,//p' out.csv | cut -d , -f 1-8 | cmp - a.txt
  gpnn-eval --json t.csv | json - >members
  cut -d , -f 1-4,8,9 t.csv | gpnn-eval --table confusion >out.csv
  assert_equal "$(head -n 2 out.csv | paste -sd ' ') $(wc -l <out.csv)" \
    'target,truth,label,n a,u,u,1 9'
}

@test "rows without truth or prediction are left out" {
  { pets; printf ',dog,0.5,0.5\ncat,NA,NA,NA\ncat,cat,,1\n'; } >t.csv
  gpnn-eval t.csv >out.txt 2>err.txt
  pets | gpnn-eval | cmp - out.txt
  grep -q '3 rows without truth or prediction left out' err.txt
}

@test "one row, one class, and no row" {
  printf 'y,label,p_a\na,a,1\n' >t.csv
  gpnn-eval t.csv >out.txt
  assert_equal "$(cut -f 2 out.txt | paste -sd ' ')" '1 0 0 0 0 0 NA 0 1 1 1'
  gpnn-eval --table roc t.csv | diff - <(echo class,threshold,fpr,tpr) # there is no curve
  gpnn-eval --table roc --json t.csv | diff - <(echo '{"roc": []}')
  printf 'y,label,p_a\n' >t.csv
  assert_fails 1 't.csv: no row with a truth and a prediction' gpnn-eval t.csv
  : >empty.csv
  assert_fails 1 'empty.csv' gpnn-eval empty.csv
}

@test "probabilities that cannot be, and ones that are doubtful" {
  printf 'y,label,p_a,p_b\na,a,1.5,-0.5\n' >t.csv
  assert_fails 1 't.csv:2: a probability is not between 0 and 1 but 1.5' gpnn-eval t.csv
  printf 'y,label,p_a,p_b\na,a,x,1\n' >t.csv
  assert_fails 1 "t.csv:2: column 'p_a': not a number" gpnn-eval t.csv
  printf 'y,label,p_a,p_b\na,a,0.7,0.7\nb,a,1,0\n' >t.csv
  gpnn-eval t.csv >out.txt 2>err.txt
  grep -q '^gpnn-eval: t.csv: the probabilities of 1 rows do not sum to 1$' err.txt
  grep -q '1 rows give their class a probability of 0, in nll taken as 1e-300' err.txt
  assert_near "$(value nll out.txt)" "$(awk 'BEGIN { printf "%.12f", (300 * log(10) - log(.7)) / 2 }')" 1e-9
  gpnn-eval -q t.csv 2>&1 | cmp - out.txt
  printf 'y,label,p_1,p_1.0\n1,1,1,0\n' >t.csv
  assert_fails 1 "column 'p_1' and column 'p_1.0' have probabilities of the same class" gpnn-eval t.csv
  printf 'y,label,probability,logp\na,a,1,0.5\n' >t.csv
  assert_fails 1 't.csv:2: logp is above 0' gpnn-eval t.csv
  { echo y,label; seq 2000 | sed 's/$/,1/'; } >t.csv
  assert_fails 1 "t.csv:1002: column 'y': has more than 1000 different values" gpnn-eval t.csv
}

@test "what is missing, and what does not suit, is said" {
  pets >t.csv
  printf 'label,p_a\na,1\n' >bare.csv
  assert_fails 2 "bare.csv: no column before 'label' holds the truth" gpnn-eval bare.csv
  printf 'y,p_a,p_b\na,1,0\n' >bare.csv
  assert_fails 2 "no column 'mean': .*; predictions of classes have a column 'label'" gpnn-eval bare.csv
  assert_fails 2 "no column 'animal'" gpnn-eval -y animal t.csv
  assert_fails 2 't.csv: --table pit is for numbers' gpnn-eval --table pit t.csv
  assert_fails 2 't.csv: --levels is for numbers' gpnn-eval --levels 0.5 t.csv
  assert_fails 2 't.csv: --interval is for numbers' gpnn-eval --interval 0.5 t.csv
  cut -d , -f 1,2 t.csv >labels.csv
  assert_fails 2 'this --table needs probabilities' gpnn-eval --table roc labels.csv
  assert_fails 2 'this --table needs probabilities' gpnn-eval --table reliability labels.csv
  printf 'y,mean,sd\n1,2,1\n' >n.csv
  assert_fails 2 'n.csv: this --table is for classes' gpnn-eval --table confusion n.csv
  printf 'a,label_a,b,mean_b,sd_b\nu,u,1,2,1\n' >both.csv
  assert_fails 2 'predictions of numbers and of classes' gpnn-eval --table reliability both.csv
}

@test "a column called label or p_NAME does not make classes of numbers" {
  printf 'label,p_x,y,mean,sd\nq,0.5,1,2,1\nr,0.5,3,3,1\n' >t.csv
  gpnn-eval t.csv >out.txt
  cut -d , -f 3- t.csv | gpnn-eval | cmp - out.txt
  printf 'y,mean,sd,label\n1,2,1,q\n' | gpnn-eval | grep -q '^rmse	1$'
  # and a mean that was carried along does not make numbers of classes
  pets | sed '1s/^/mean,/;1!s/^/7,/' | gpnn-eval >out.txt
  pets | gpnn-eval | cmp - out.txt
  # a target may be called label
  pets | sed '1s/kind/label/' | gpnn-eval | cmp - out.txt
}

@test "the PIT of counts is uniform if their probabilities are right" {
  # Poisson counts of mean m: logp, and the probability of smaller counts plus half its own
  awk 'BEGIN {
    srand(8); OFS = "\t"; print "y", "mean", "sd", "logp", "pit"
    for (i = 0; i < 4000; i++) {
      m = 0.5 + 8 * rand(); u = rand(); p = exp(-m); below = 0
      for (k = 0; u > below + p && k < 100; k++) { below += p; p *= m / (k + 1) }
      print k, m, sqrt(m), log(p), below + p / 2
    }
  }' >t.tsv
  gpnn-eval t.tsv >out.txt
  assert_below "$(value pit_distance out.txt)" 0.025
  assert_near "$(value coverage80 out.txt)" 0.8 0.03
  # as if they were continuous, they are not
  cut -f 1-3 t.tsv | gpnn-eval >normal.txt
  assert_below 0.03 "$(value pit_distance normal.txt)"
}
