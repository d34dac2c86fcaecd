#!/usr/bin/env bats
# gpnn-predict of targets that hold classes.

load helper
# shellcheck source=tests/cli/classes.bash
source "$GPNN_ROOT/tests/cli/classes.bash"

@test "rows get a label and the probability of each class" {
  prepare_classes
  gpnn-predict c.gpi -p c.par --keep x test.csv >p.csv
  assert_equal "$(head -n 1 p.csv)" 'x,where,label,p_in,p_mid,"p_out, side"'
  gpnn-predict c.gpi -p c.par <(sed 's/, side/ side/; s/"//g' test.csv) -q >plain.csv
  awk -F , 'NR > 1 {
    n++
    sum = $(NF - 2) + $(NF - 1) + $NF
    if (sum < 1 - 1e-12 || sum > 1 + 1e-12) exit 1
    right += $1 == ($2 == "\"out" ? "out side" : $2)
  }
  END { exit !(n == 60 && right > 45) }' plain.csv
}

@test "the label is the most probable class, and the truth stands as the table has it" {
  prepare_classes
  gpnn-predict c.gpi -p c.par --top 3 -o top.csv test.csv
  assert_equal "$(head -n 1 top.csv)" where,label,probability,label2,probability2,label3,probability3,logp
  gpnn-predict c.gpi -p c.par --top 9 test.csv | cmp - top.csv
  gpnn-predict c.gpi -p c.par --labels-only test.csv >labels.csv
  assert_equal "$(head -n 1 labels.csv)" where,label
  sed 's/"out, side"/outside/g' top.csv | awk -F , 'NR > 1 {
    if ($3 < $5 || $5 < $7) exit 1
    p = $1 == $2 ? $3 : $1 == $4 ? $5 : $7
    off = log(p) - $8
    if (off * off > 1e-20) exit 1
    print $1 "," $2
  }' >from-top.csv
  sed 's/"out, side"/outside/g; 1d' labels.csv | cmp - from-top.csv
  printf 'y,x,where\n0.1,0.2, in \n0,0,"a ""b"",\nc"\n1,1,\n' >odd.csv
  gpnn-predict c.gpi -p c.par --top 1 odd.csv 2>err.txt >p.csv
  grep -q ': 1 truth is of classes never seen in training$' err.txt
  assert_equal "$(sed 1d p.csv | sed 's/,in,0\.[0-9]*,/,in,P,/; s/-0\.[0-9]*$/L/' | head -n 3)" ' in ,in,P,L
"a ""b"",
c",in,P,NA'
  assert_equal "$(tail -n 1 p.csv | cut -d , -f 1,4)" NA,NA
}

@test "costs move labels, not probabilities" {
  prepare_classes
  gpnn-predict c.gpi -p c.par test.csv >plain.csv
  gpnn-predict c.gpi -p c.par --cost 'out, side=1e6,in=1e-3' test.csv >moved.csv
  [ "$(grep -c '^[^p]*,"out, side",0' moved.csv)" -eq 60 ]
  cmp <(sed 's/"out, side"/o/g' plain.csv | cut -d , -f 1,3-) \
    <(sed 's/"out, side"/o/g' moved.csv | cut -d , -f 1,3-)
  gpnn-predict c.gpi -p c.par --cost in=1,mid=1 test.csv | cmp - plain.csv
  gpnn-predict c.gpi -p c.par --cost mid=2 --top 2 test.csv | awk -F , '
    { gsub(/"out, side"/, "o") }
    NR > 1 && ($2 == "mid" ? 2 : 1) * $3 < ($4 == "mid" ? 2 : 1) * $5 { exit 1 }'
  assert_fails 2 '--cost: "outside=2" begins with no name of a class and =' \
    gpnn-predict c.gpi -p c.par --cost in=2,outside=2 test.csv
  assert_fails 2 '--cost: not a number above 0: "-1"' gpnn-predict c.gpi -p c.par --cost in=-1 test.csv
}

@test "neither threads, batches nor other rows change a byte" {
  prepare_classes
  gpnn-predict c.gpi -p c.par -j 1 test.csv >one.csv
  gpnn-predict c.gpi -p c.par -j 3 --batch 7 test.csv | cmp - one.csv
  gpnn-predict c.gpi -p c.par --unbuffered test.csv | cmp - one.csv
  { sed -n 1p test.csv && sed 1d test.csv | tail -n 20; } | gpnn-predict c.gpi -p c.par - | sed 1d >some.csv
  tail -n 20 one.csv | cmp - some.csv
  gpnn-predict c.gpi -p c.par --loo -j 1 >loo.tsv
  gpnn-predict c.gpi -p c.par --loo -j 4 --batch 11 | cmp - loo.tsv
  assert_equal "$(sed -n 1p loo.tsv)" "$(printf 'row\twhere\tlabel\tp_in\tp_mid\tp_out, side')"
}

@test "a row that cannot be predicted has NA for all of it" {
  prepare_classes
  printf 'x,y,where\n0,z,in\n0,0,in\nz,0,mid\n' >bad.csv
  gpnn-predict -q c.gpi -p c.par --skip-bad bad.csv >p.csv
  assert_equal "$(sed -n '2p;4p' p.csv)" "in,NA,NA,NA,NA
mid,NA,NA,NA,NA"
  gpnn-predict -q c.gpi -p c.par --skip-bad --top 2 bad.csv | sed -n 2p | grep -qx in,NA,NA,NA,NA,NA
  assert_fails 1 'bad.csv:2: column '\''y'\''' gpnn-predict c.gpi -p c.par bad.csv
  printf 'x,y,where\n0,0,in\n50,50,mid\n' >far.csv
  gpnn-predict -q c.gpi -p c.par --max-distance 2 far.csv | sed -n 3p | grep -qx mid,NA,NA,NA,NA
  gpnn-predict -q c.gpi -p c.par --max-distance 2 --beyond prior far.csv | sed -n 3p | awk -F , '{
    sum = exp(-0.3) + exp(-0.2) + exp(-0.5); off = $3 - exp(-0.3) / sum
    exit !($2 == "mid" && off * off < 1e-24) }'
}

@test "numbers and classes are predicted side by side" {
  class_table 300 | awk -F , -v OFS=, 'NR == 1 { print $0, "z"; next } { print $0, $1 + $2 }' >train.csv
  gpnn-index -q -y where,z -o m.gpi train.csv
  { printf 'target\twhere\n' && class_parameters 0 0 0 && printf 'target\tz\n' &&
      make_parameters matern32 1 1 0.01 20; } >m.par
  gpnn-predict -q m.gpi -p m.par --interval 0.9 --top 1 train.csv >both.csv
  assert_equal "$(head -n 1 both.csv)" \
    where,label_where,probability_where,logp_where,z,mean_z,sd_z,lower_z,upper_z
  gpnn-predict -q m.gpi -p m.par --targets z --interval 0.9 train.csv | cut -d , -f 2- >z.csv
  sed 's/"out, side"/o/g' both.csv | cut -d , -f 6- | sed 1d | cmp - <(sed 1d z.csv)
  gpnn-predict -q m.gpi -p m.par --targets where train.csv | head -n 1 |
    grep -qx 'where,label,p_in,p_mid,"p_out, side"'
  assert_fails 2 "--group is about numbers, and target 'where' holds classes; --targets leaves it out" \
    gpnn-predict m.gpi -p m.par --group x train.csv
  assert_fails 2 "--top is about classes, and target 'z' is a number" \
    gpnn-predict m.gpi -p m.par --targets z --top 2 train.csv
}

@test "what classes have none of is refused by name" {
  prepare_classes
  local option
  for option in --interval=0.9 --latent --debias --mean-only --units=standard --samples=2; do
    assert_fails 2 "${option%=*} is about numbers, and target 'where' holds classes" \
      gpnn-predict c.gpi -p c.par "$option" test.csv
  done
  assert_fails 2 '--labels-only writes no probabilities' \
    gpnn-predict c.gpi -p c.par --labels-only --top 2 test.csv
  assert_fails 2 'a .npy file holds only numbers, and target '\''where'\'' has the class "in"' \
    gpnn-predict c.gpi -p c.par -o p.npy test.csv
  make_parameters matern32 1 1 0.01 20 >number.par
  assert_fails 1 "the parameters are of numbers, but target 'where' of the index holds classes" \
    gpnn-predict c.gpi -p number.par test.csv
  class_parameters 0 0 >two.par
  assert_fails 1 "the parameters are of 2 classes, target 'where' of the index has 3" \
    gpnn-predict c.gpi -p two.par test.csv
  make_model 50 5 0 20
  assert_fails 1 "the parameters are of classes, but target 'y' of the index is a number" \
    gpnn-predict t.gpi -p c.par test.tsv
}

@test "classes that are numbers fit into a .npy file" {
  class_table 300 | sed 's/"out, side"/10/; s/in$/2/; s/mid$/-1/' >train.csv
  gpnn-index -q --classes -y where -o n.gpi train.csv
  class_parameters 0 0 0 >n.par
  assert_equal "$(gpnn-predict -q n.gpi -p n.par train.csv | head -n 1)" where,label,p_-1,p_2,p_10
  gpnn-predict -q n.gpi -p n.par train.csv -o p.npy
  [ "$(head -c 6 p.npy | tail -c 5)" = NUMPY ]
}

@test "few rows, one at a time, and readers that leave" {
  prepare_classes
  NEIGHBOURS=400 class_parameters 0 0 >few.par
  printf 'x,y,where\n0,0,a\n1,1,b\n2,2,a\n' >few.csv
  gpnn-index -q --calibration-rows 0 -y where -o few.gpi few.csv
  gpnn-predict -q few.gpi -p few.par few.csv | sed 1d | cut -d , -f 1,2 >found.csv
  assert_equal "$(cut -d , -f 2 found.csv | tr '\n' ' ')" 'a b a '
  assert_equal "$(gpnn-predict few.gpi -p few.par --loo | wc -l)" 4
  head -n 1 test.csv | gpnn-predict c.gpi -p c.par - | grep -c . | grep -qx 1
  assert_fails 1 'is empty' gpnn-predict c.gpi -p c.par /dev/null
  for _ in $(seq 300); do sed 1d test.csv; done | cat <(head -n 1 test.csv) - |
    gpnn-predict c.gpi -p c.par - | head -n 2 | wc -l | grep -qx 2
}
